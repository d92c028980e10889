/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_lp2paje.c - the program of that name: the schedule that lp_solve
 * found for what starpu_bound_print_lp has written with dependencies, as a Pajé
 * trace. One thread.
 */
#include "tools/starpu/program.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "starpu_lp2paje"

static const char help[] =
    "usage: lp_solve FILE.lp | " NAME " > FILE.paje\n"
    "Reads the output of lp_solve for a program that starpu_bound_print_lp has written\n"
    "after starpu_bound_start(1, ...), and writes the schedule as a Paje trace.\n"
    "  -h, --help     this text\n"
    "  -v, --version  the version\n"
    "Exit codes: 0; 1 when the input is no such solution; 2 for a wrong command\n"
    "line.\n"
    "example: lp_solve -timeout 60 bound.lp | " NAME " > bound.paje\n"
    "         orrery trace --help explains how to view traces\n";

enum { NO_WORKER = -1, MAX = 1 << 20 };

struct task {
    uint64_t id;
    double start, end;
    long worker;
};

struct solution {
    char *line; /* owned */
    size_t room;
    unsigned number;
    char name[64]; /* of the variable in the line that was read last */
    double value;
    unsigned ntasks, nworkers;
    struct task *tasks; /* owned */
};

/* --- lines --- */

static int solution_line_wrong(const struct solution *s, const char *what,
                               const char *remedy)
{
    return tool_fail(TOOL_FAILED, "<stdin>:%u: %s: %s", s->number, what,
                     remedy);
}

static const char from_start[] =
    "give all that `lp_solve -S3' prints, for a program that "
    "starpu_bound_print_lp wrote after starpu_bound_start(1, ...)";

/* The next line that is not blank; 0, or an exit code. */
static int solution_next_line(struct solution *s, const char *expected)
{
    ssize_t n;

    do {
        s->number++;
        n = getline(&s->line, &s->room, stdin);
        if (n < 0 || s->number > 100 * (unsigned)MAX)
            return tool_fail(TOOL_FAILED,
                             "<stdin>:%u: expected %s, found the end of the "
                             "input: %s",
                             s->number, expected, from_start);
        s->line[strcspn(s->line, "\r\n")] = '\0';
    } while (s->line[strspn(s->line, " \t")] == '\0');
    return TOOL_OK;
}

static bool line_begins(const struct solution *s, const char *prefix)
{
    return strncmp(s->line, prefix, strlen(prefix)) == 0;
}

/* A line of a variable: name, blanks, value. */
static int next_variable(struct solution *s, const char *expected)
{
    int code = solution_next_line(s, expected);
    size_t n, blanks;
    char *end;

    if (code)
        return code;
    n = strcspn(s->line, " \t");
    blanks = strspn(s->line + n, " \t");
    errno = 0;
    s->value = strtod(s->line + n + blanks, &end);
    if (n >= sizeof(s->name) || blanks == 0 || end == s->line + n + blanks ||
        end[strspn(end, " \t")] || !isfinite(s->value))
        return tool_fail(TOOL_FAILED,
                         "<stdin>:%u: expected %s, found \"%.60s\": %s",
                         s->number, expected, s->line, from_start);
    memcpy(s->name, s->line, n);
    s->name[n] = '\0';
    return TOOL_OK;
}

/* A variable of exactly that name. */
static int take_variable(struct solution *s, const char *name)
{
    int code = next_variable(s, name);

    if (!code && strcmp(s->name, name) != 0)
        return tool_fail(TOOL_FAILED, "<stdin>:%u: expected %s, found %s: %s",
                         s->number, name, s->name, from_start);
    return code;
}

static int solution_take_count(struct solution *s, const char *name,
                               unsigned *ret)
{
    int code = take_variable(s, name);

    if (code)
        return code;
    if (!(s->value >= 1 && s->value <= MAX) || s->value != rint(s->value))
        return tool_fail(TOOL_FAILED,
                         "<stdin>:%u: %s = %g: a number from 1 to %d should "
                         "be there; is this the answer to a program of "
                         "starpu_bound_print_lp?",
                         s->number, name, s->value, MAX);
    *ret = (unsigned)s->value;
    return TOOL_OK;
}

/* A decimal number and nothing else, at *text; moves *text behind it. */
static bool take_digits(const char **text, uint64_t *ret)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *ret = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* --- the solution --- */

static int solution_read_head(struct solution *s)
{
    int code;

    do {
        code = solution_next_line(s, "\"Value of objective function\"");
        if (code)
            return code;
        if (line_begins(s, "This problem is infeasible"))
            return solution_line_wrong(
                s, "lp_solve found no schedule",
                "a task may have no worker that can run it, or all "
                "take more than 100 s; record fewer tasks");
        if (line_begins(s, "This problem is unbounded") ||
            line_begins(s, "SUBOPTIMAL"))
            return solution_line_wrong(s, s->line,
                                       "the program is not complete, or "
                                       "lp_solve had no time (-timeout)");
    } while (!line_begins(s, "Value of objective function:"));
    code = solution_next_line(s, "\"Actual values of the variables:\"");
    if (!code && !line_begins(s, "Actual values of the variables:"))
        return solution_line_wrong(s, "no values of the variables follow",
                                   "call lp_solve with -S3 or -S4");
    return code;
}

/* c<id> or s<id>, one for each task. */
static int read_dates(struct solution *s, char letter, const char *expected)
{
    for (unsigned t = 0; t < s->ntasks; t++) {
        const char *rest = s->name + 1;
        uint64_t id;
        int code = next_variable(s, expected);

        if (code)
            return code;
        if (s->name[0] != letter || !take_digits(&rest, &id) || *rest)
            return tool_fail(TOOL_FAILED,
                             "<stdin>:%u: expected %s number %u of %u, found "
                             "%s: %s",
                             s->number, expected, t + 1, s->ntasks, s->name,
                             from_start);
        if (letter == 'c') {
            s->tasks[t] = (struct task){id, 0, s->value, NO_WORKER};
            continue;
        }
        if (s->tasks[t].id != id)
            return solution_line_wrong(
                s, "tasks start in another order than they end", from_start);
        s->tasks[t].start = s->value;
    }
    return TOOL_OK;
}

/* t<id>w<w>, workers in order; those that cannot run the task are missing. */
static int solution_read_workers(struct solution *s)
{
    unsigned t = 0;
    uint64_t next = 0; /* worker */

    for (;;) {
        const char *rest = s->name + 1;
        uint64_t id, w;
        int code = next_variable(s, "t<task>w<worker>");

        if (code)
            return code;
        if (s->name[0] != 't' || !take_digits(&rest, &id) || *rest++ != 'w' ||
            !take_digits(&rest, &w) || *rest)
            return solution_line_wrong(s, "no t<task>w<worker>", from_start);
        while (s->tasks[t].id != id) {
            if (s->tasks[t].worker == NO_WORKER || ++t == s->ntasks)
                return solution_line_wrong(
                    s,
                    "places of another task than the one that is "
                    "next",
                    from_start);
            next = 0;
        }
        if (w < next || w >= s->nworkers)
            return solution_line_wrong(s, "this worker is not next",
                                       from_start);
        next = w + 1;
        if (fabs(s->value - rint(s->value)) > 1e-3 || s->value > 1.5 ||
            s->value < -0.5)
            return solution_line_wrong(
                s, "neither 0 nor 1",
                "the \"bin\" lines of the program are missing: leave "
                "it as starpu_bound_print_lp wrote it");
        if (s->value > 0.5 && s->tasks[t].worker != NO_WORKER)
            return solution_line_wrong(s, "the task runs on two workers",
                                       from_start);
        if (s->value > 0.5)
            s->tasks[t].worker = (long)w;
        if (t + 1 == s->ntasks && s->tasks[t].worker != NO_WORKER) {
            int c = getc(stdin); /* places follow each other without a gap */

            if (c != EOF)
                ungetc(c, stdin);
            if (c != 't')
                return TOOL_OK;
        }
    }
}

static int read_solution(struct solution *s)
{
    int code = solution_read_head(s);

    if (!code)
        code = take_variable(s, "tmax");
    if (!code)
        code = solution_take_count(s, "nt", &s->ntasks);
    if (!code)
        code = solution_take_count(s, "nw", &s->nworkers);
    if (code)
        return code;
    s->tasks = calloc(s->ntasks, sizeof(*s->tasks));
    if (!s->tasks)
        return tool_fail(TOOL_FAILED, "out of memory");
    code = read_dates(s, 'c', "c<task>");
    if (!code)
        code = solution_read_workers(s);
    return code ? code : read_dates(s, 's', "s<task>");
}

/* --- the trace --- */

static const char header[] =
    "%EventDef\tPajeDefineContainerType\t1\n"
    "%\tAlias\tstring\n%\tType\tstring\n%\tName\tstring\n%EndEventDef\n"
    "%EventDef\tPajeDefineStateType\t2\n"
    "%\tAlias\tstring\n%\tType\tstring\n%\tName\tstring\n%EndEventDef\n"
    "%EventDef\tPajeDefineEntityValue\t3\n"
    "%\tAlias\tstring\n%\tType\tstring\n%\tName\tstring\n%\tColor\tcolor\n"
    "%EndEventDef\n"
    "%EventDef\tPajeCreateContainer\t4\n"
    "%\tTime\tdate\n%\tAlias\tstring\n%\tType\tstring\n%\tContainer\tstring\n"
    "%\tName\tstring\n%EndEventDef\n"
    "%EventDef\tPajeSetState\t5\n"
    "%\tTime\tdate\n%\tContainer\tstring\n%\tType\tstring\n%\tValue\tstring\n"
    "%EndEventDef\n"
    "%EventDef\tPajeDestroyContainer\t6\n"
    "%\tTime\tdate\n%\tName\tstring\n%\tType\tstring\n%EndEventDef\n"
    "1\tW\t0\tWorker\n"
    "2\tS\tW\t\"Worker State\"\n"
    "3\tF\tS\tIdle\t\"1.0 0.0 0.0\"\n";

static int by_start(const void *a, const void *b)
{
    const struct task *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Times of tasks on one worker; by then all are sorted by their start. */
static void write_worker(const struct solution *s, unsigned w)
{
    const struct task *last = NULL;

    for (unsigned t = 0; t < s->ntasks; t++) {
        const struct task *task = &s->tasks[t];

        if (task->worker != (long)w)
            continue;
        if (last && task->start < last->end - 1e-6)
            tool_error("tasks %" PRIu64 " and %" PRIu64 " overlap on worker %u "
                       "by %g ms: lp_solve was not exact, try -e 1e-9",
                       last->id, task->id, w, last->end - task->start);
        if (last && task->start > last->end)
            printf("5\t%.9f\tW%u\tS\tF\n", last->end, w);
        printf("5\t%.9f\tW%u\tS\tR%u\n", task->start, w, t);
        last = task;
    }
    if (last)
        printf("5\t%.9f\tW%u\tS\tF\n", last->end, w);
}

static void solution_write_paje(struct solution *s)
{
    double last = 0;

    qsort(s->tasks, s->ntasks, sizeof(*s->tasks), by_start);
    fputs(header, stdout);
    for (unsigned t = 0; t < s->ntasks; t++) {
        printf("3\tR%u\tS\t\"task %" PRIu64 "\"\t\"0.0 1.0 0.0\"\n", t,
               s->tasks[t].id);
        last = fmax(last, s->tasks[t].end);
    }
    for (unsigned w = 0; w < s->nworkers; w++)
        printf("4\t%.9f\tW%u\tW\t0\tW%u\n5\t%.9f\tW%u\tS\tF\n", 0.0, w, w, 0.0,
               w);
    for (unsigned w = 0; w < s->nworkers; w++)
        write_worker(s, w);
    for (unsigned w = 0; w < s->nworkers; w++)
        printf("6\t%.9f\tW%u\tW\n", last, w);
}

static int lp2paje_main(int argc, char **argv)
{
    struct solution s = {0};
    bool version = false;
    const struct tool_option options[] = {
        {.letter = 'v', .name = "version", .flag = &version},
        {.name = NULL},
    };
    int code, noperands;

    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &code);
    if (noperands < 0)
        return code;
    if (noperands > 0)
        return tool_fail(TOOL_USAGE,
                         "\"%s\" is too much: the solution is read from "
                         "standard input",
                         argv[1]);
    code = read_solution(&s);
    if (!code)
        solution_write_paje(&s);
    free(s.line);
    free(s.tasks);
    return code;
}

int main(int argc, char **argv)
{
    return tool_close(lp2paje_main(argc, argv));
}
