/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/commands.c - see commands.h. */
#include "tools/debug/commands.h"

#include "tools/common/interrupt.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/debug/differ.h"
#include "tools/debug/line.h"
#include "tools/debug/source.h"
#include "tools/debug/words.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct words {
    char *const *at;
    size_t n;
    const char *rest; /* of the line, behind the first word */
};

static json_t *__attribute__((format(printf, 1, 2))) fail_with(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return json_pack("{so}", "error", tool_json_text(text));
}

/* A number behind the command, 1 without; 0 if it is none. */
static unsigned long count_of(const struct words *words)
{
    char *end;
    unsigned long n = words->n ? strtoul(words->at[0], &end, 10) : 1;

    return words->n && (*end || end == words->at[0]) ? 0 : n;
}

/* "#12" or "12"; 0: it is none. */
static unsigned long long task_of(const char *word)
{
    char *end;
    unsigned long long n = strtoull(word + (*word == '#'), &end, 10);

    return *end ? 0 : n;
}

static json_t *ask(struct session *session, const char *question, const char *key,
                   const char *value)
{
    char *words = key ? tool_format("%s\t%s=%s", question, key, value)
                      : tool_format("%s", question);
    json_t *answer = words ? session_ask(session, words) : fail_with("out of memory");

    free(words);
    return answer;
}

/* --- breakpoints --- */

static json_t *do_break(struct session *session, const struct words *words)
{
    struct orr_error err = {""};
    char *request = words_stop(words->at, words->n, &err);

    return request ? session_break(session, words->rest, request) : fail_with("%s", err.text);
}

static json_t *do_watch(struct session *session, const struct words *words)
{
    char *request, *text;
    json_t *answer, *result;

    if (words->n != 1)
        return fail_with("watch which datum? `info data' has their names");
    request = tool_format("stop\twatch=1\tdata=%s", words->at[0]);
    text = tool_format("watch %s", words->at[0]);
    result = request && text ? session_break(session, text, request) : fail_with("out of memory");
    free(text);
    answer = ask(session, "data", "data", words->at[0]);
    if (json_object_get(answer, "answer"))
        json_object_set(result, "answer", json_object_get(answer, "answer"));
    json_decref(answer);
    return result;
}

static json_t *do_delete(struct session *session, const struct words *words)
{
    unsigned long id = words->n ? count_of(words) : 0;

    if (words->n && !id)
        return fail_with("delete which breakpoint? `info breakpoints' has their numbers");
    if (!session_delete(session, (unsigned)id) && id)
        return fail_with("there is no breakpoint %lu", id);
    return json_object();
}

static json_t *list_stops(struct session *session)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < session->nstops; i++) {
        const struct session_stop *stop = &session->stops[i];
        char text[400];

        if (!stop->id)
            continue;
        snprintf(text, sizeof(text), "%u: %s, %u hit%s", stop->id, stop->text, stop->hits,
                 stop->hits == 1 ? "" : "s");
        json_array_append_new(
            list, json_pack("{sisisosi}", "breakpoint", (int)stop->id, "hits",
                            (int)stop->hits, "text", tool_json_text(text), "n",
                            (int)i));
    }
    if (!json_array_size(list))
        json_array_append_new(list, json_pack("{ss}", "text", "no breakpoints"));
    return json_pack("{so}", "answer", list);
}

static void put_copy(json_t *list, const struct program_snapshot *copy,
                     const char *more)
{
    char text[120];

    snprintf(text, sizeof(text), "a copy of the process stands at event %llu%s",
             (unsigned long long)copy->number, more);
    json_array_append_new(
        list,
        json_pack("{sIss}", "at", (json_int_t)copy->number, "text", text));
}

/* From which it can go on when it goes back. */
static json_t *list_copies(struct session *session)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < session->program.nsnapshots; i++)
        put_copy(list, &session->program.snapshots[i], "");
    if (session->program.near.fd >= 0)
        put_copy(list, &session->program.near, ", left there on the way back");
    if (!json_array_size(list))
        json_array_append_new(list, json_pack("{ss}", "text",
                                              "no copies: the process has several threads, and "
                                              "goes back by running again"));
    return json_pack("{so}", "answer", list);
}

/* --- forward and back --- */

static json_t *do_continue(struct session *session, const struct words *words)
{
    unsigned long n = count_of(words);
    json_t *result = NULL;

    if (!n)
        return fail_with("continue: how often? Write a number");
    do {
        json_decref(result);
        result = session_go(session, "x=", true, "end");
    } while (--n && json_object_get(result, "event"));
    return result;
}

static json_t *do_step(struct session *session, const struct words *words)
{
    unsigned long n = count_of(words);
    char goal[60];

    if (!n)
        return fail_with("step: how many events? Write a number");
    snprintf(goal, sizeof(goal), "limit=%llu", (unsigned long long)session->number + n);
    return session_go(session, goal, true, "step");
}

static json_t *do_next(struct session *session, const struct words *words)
{
    unsigned long n = count_of(words);
    char goal[60];
    json_t *result = NULL;

    if (!n)
        return fail_with("next: how many events? Write a number");
    snprintf(goal, sizeof(goal), "lane=%d\trank=%d", session_lane(session),
             session->rank);
    do {
        json_decref(result);
        result = session_go(session, goal, true, "step");
    } while (--n && json_object_get(result, "event"));
    return result;
}

static json_t *do_finish(struct session *session, const struct words *words)
{
    unsigned long long task =
        words->n ? task_of(words->at[0])
                 : (unsigned long long)json_number_value(json_object_get(session->now, "task"));
    char goal[60];

    if (!task)
        return fail_with("finish which task? Write its number");
    snprintf(goal, sizeof(goal), "end=%llu\trank=%d", task, session->rank);
    return session_go(session, goal, true, "end of the task");
}

static json_t *do_until(struct session *session, const struct words *words)
{
    double date = 0;
    char goal[60];

    if (words->n != 1 || words_date(words->at[0], &date) < 0)
        return fail_with("until which date? Write one such as 3.5ms");
    snprintf(goal, sizeof(goal), "date=%.17g", date);
    return session_go(session, goal, true, "date");
}

static json_t *do_goto(struct session *session, const struct words *words)
{
    unsigned long n = words->n == 1 ? count_of(words) : 0;

    return n ? session_goto(session, n, "goto") : fail_with("goto which event? Write its number");
}

static json_t *do_reverse_step(struct session *session, const struct words *words)
{
    unsigned long n = count_of(words);
    /* The last event is where a program that has ended stood. */
    uint64_t from = session->number + (session->program.fd < 0);

    if (!n)
        return fail_with("reverse-step: how many events? Write a number");
    return session_goto(session, from > n ? from - n : 1, "step");
}

static json_t *do_reverse_next(struct session *session, const struct words *words)
{
    char goal[60];

    if (words->n)
        return fail_with("reverse-next: nothing may follow");
    snprintf(goal, sizeof(goal), "lane=%d\trank=%d", session_lane(session),
             session->rank);
    return session_search_back(session, goal, false, "step");
}

static json_t *do_reverse_continue(struct session *session, const struct words *words)
{
    if (words->n)
        return fail_with("reverse-continue: nothing may follow");
    return session_search_back(session, "x=", true, "breakpoint");
}

/* --- questions --- */

static json_t *do_where(struct session *session, const struct words *words)
{
    (void)words;
    return ask(session, "where", NULL, NULL);
}

static json_t *do_why(struct session *session, const struct words *words)
{
    char number[40];
    unsigned long long task;

    if (words->n == 2 && !strcmp(words->at[0], "idle"))
        return ask(session, "idle", "worker", words->at[1]);
    task = words->n == 1 ? task_of(words->at[0]) : 0;
    if (!words->n)
        task = (unsigned long long)json_number_value(json_object_get(session->now, "task"));
    if (!task)
        return session->now
                   ? fail_with(
                         "why what? Write `why #TASK' or `why idle WORKER'")
                   : ask(session, "event", NULL, NULL);
    snprintf(number, sizeof(number), "%llu", task);
    return ask(session, "why", "task", number);
}

static json_t *do_choice(struct session *session, const struct words *words)
{
    char number[40];
    unsigned long long task =
        words->n ? task_of(words->at[0])
                 : (unsigned long long)json_number_value(json_object_get(session->now, "task"));

    if (!task)
        return session->now
                   ? fail_with("choice of which task? Write its number")
                   : ask(session, "event", NULL, NULL);
    snprintf(number, sizeof(number), "%llu", task);
    return ask(session, "choice", "task", number);
}

static json_t *info_tasks(struct session *session, const struct words *words)
{
    static const char *const states[] = {"new",      "blocked", "claiming", "ready",
                                         "fetching", "running", "waiting"};
    char *question = tool_format("tasks");
    json_t *answer;

    for (size_t i = 1; question && i < words->n; i++) {
        bool state = false;
        char *more;

        for (size_t k = 0; k < sizeof(states) / sizeof(*states); k++)
            state |= !strcmp(states[k], words->at[i]);
        more = tool_format("%s\t%s=%s", question, state ? "state" : "name", words->at[i]);
        free(question);
        question = more;
    }
    answer = question ? session_ask(session, question) : fail_with("out of memory");
    free(question);
    return answer;
}

static json_t *do_info(struct session *session, const struct words *words)
{
    const char *what = words->n ? words->at[0] : "";
    const char *which = words->n > 1 ? words->at[1] : NULL;
    char number[40];

    if (!strcmp(what, "breakpoints") || !strcmp(what, "b"))
        return list_stops(session);
    if (!strcmp(what, "copies"))
        return list_copies(session);
    if (!strcmp(what, "tasks"))
        return info_tasks(session, words);
    if (!strcmp(what, "task") && which && task_of(which)) {
        snprintf(number, sizeof(number), "%llu", task_of(which));
        return ask(session, "task", "task", number);
    }
    if (!strcmp(what, "ready") || !strcmp(what, "queues"))
        return ask(session, "ready", NULL, NULL);
    if (!strcmp(what, "workers"))
        return ask(session, "workers", NULL, NULL);
    if (!strcmp(what, "data"))
        return ask(session, "data", which ? "data" : NULL, which);
    if (!strcmp(what, "nodes") || !strcmp(what, "node"))
        return ask(session, "nodes", which ? "node" : NULL, which);
    if (!strcmp(what, "ranks"))
        return ask(session, "ranks", NULL, NULL);
    return fail_with(
        "info about what? breakpoints, tasks [STATE] [KERNEL], task #N, ready, "
        "workers, data [NAME], nodes, node NAME, ranks, copies");
}

/* Whose tasks, data and workers are meant from now on, until it stops elsewhere. */
static json_t *do_rank(struct session *session, const struct words *words)
{
    int before = session->rank;
    char *end = NULL;
    long rank = words->n == 1 ? strtol(words->at[0], &end, 10) : -1;
    json_t *answer;

    if (!words->n)
        return ask(session, "ranks", NULL, NULL);
    if (rank < 0 || !end || *end || end == words->at[0])
        return fail_with("rank which? Write its number; `info ranks' has them");
    if (before < 0)
        return fail_with(
            "the program has one rank, or has not called starpu_mpi_init yet");
    session->rank = (int)rank;
    answer = ask(session, "where", NULL, NULL);
    if (json_object_get(answer, "error"))
        session->rank = before;
    return answer;
}

static json_t *do_list(struct session *session, const struct words *words)
{
    (void)words;
    return session->now ? source_list(session->now)
                        : ask(session, "event", NULL, NULL);
}

static json_t *do_diff(struct session *session, const struct words *words)
{
    return words->n == 1 ? differ(session, words->at[0])
                         : fail_with("diff with which policy? Write its name");
}

static json_t *do_quit(struct session *session, const struct words *words)
{
    (void)session;
    (void)words;
    return json_pack("{sb}", "quit", 1);
}

static json_t *do_help(struct session *session, const struct words *words);

/* --- the table --- */

static const struct {
    const char *name, *brief;
    json_t *(*run)(struct session *session, const struct words *words);
    const char *arguments, *help;
} table[] = {
    {"break", "b", do_break,
     "[EVENT] [KERNEL] [#TASK] [data NAME] [on WORKER|NODE] "
     "[rank N] [if CONDITION] | FILE:LINE | at DATE",
     "stop there; without an event where the kernel starts"},
    {"watch", "w", do_watch, "DATUM",
     "stop where its value or its copies change"},
    {"delete", "d", do_delete, "[N]", "take the breakpoint away, or all"},
    {"continue", "c", do_continue, "[N]", "go on to the next breakpoint"},
    {"step", "s", do_step, "[N]", "go on to the next event"},
    {"next", "n", do_next, "[N]",
     "to the next event of this worker, or of the application"},
    {"finish", "fin", do_finish, "[#TASK]", "to the end of the task"},
    {"until", "u", do_until, "DATE",
     "to the first event at that virtual time or later"},
    {"goto", "g", do_goto, "N", "to the event of that number, forward or back"},
    {"reverse-step", "rs", do_reverse_step, "[N]", "back to the event before"},
    {"reverse-next", "rn", do_reverse_next, "",
     "back to the event before, of this worker"},
    {"reverse-continue", "rc", do_reverse_continue, "",
     "back to the breakpoint before"},
    {"where", "bt", do_where, "",
     "the event, the application, what each worker does"},
    {"why", "y", do_why, "[#TASK] | idle WORKER",
     "what it waits for, along the chain"},
    {"choice", "ch", do_choice, "[#TASK]",
     "how long it takes on each worker, and what lacks"},
    {"info", "i", do_info, "WHAT",
     "breakpoints, tasks [STATE] [KERNEL], task #N, ready, workers, data [NAME], nodes, node NAME, "
     "ranks, copies"},
    {"rank", "ra", do_rank, "[N]",
     "whose tasks, data and workers are meant; without N, what each "
     "does"},
    {"list", "l", do_list, "", "the source lines where the task was submitted"},
    {"diff", "di", do_diff, "POLICY",
     "the first decision that another policy takes otherwise"},
    {"help", "h", do_help, "", "this list"},
    {"quit", "q", do_quit, "", "end the program, and this"},
};

static json_t *do_help(struct session *session, const struct words *words)
{
    json_t *list = json_array();
    char text[400];

    (void)session;
    (void)words;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        snprintf(text, sizeof(text), "%s%s%s (%s): %s", table[i].name,
                 *table[i].arguments ? " " : "", table[i].arguments, table[i].brief,
                 table[i].help);
        json_array_append_new(list, json_pack("{ssss}", "command", table[i].name, "text", text));
    }
    return json_pack("{so}", "answer", list);
}

json_t *commands_do(struct session *session, const char *line)
{
    size_t n;
    char **all = words_split(line, &n);
    struct words words;
    json_t *result = NULL;

    if (!all)
        return fail_with("out of memory");
    if (!n || all[0][0] == '#') {
        free(all);
        return json_object();
    }
    line += strspn(line, " \t");
    words = (struct words){all + 1, n - 1, line + strcspn(line, " \t")};
    words.rest += strspn(words.rest, " \t");
    for (size_t i = 0; !result && i < sizeof(table) / sizeof(*table); i++)
        if (!strcmp(table[i].name, all[0]) || !strcmp(table[i].brief, all[0]))
            result = table[i].run(session, &words);
    if (!result)
        result = fail_with("%s is no command: `help' has them", all[0]);
    free(all);
    return result;
}

/* --- what is shown --- */

static void print_event(const json_t *result, FILE *to)
{
    unsigned stop = (unsigned)json_number_value(json_object_get(result, "stop"));

    if (stop)
        fprintf(to, "Breakpoint %u, ", stop);
    fprintf(to, "event %.0f at %.6g ms: %s\n",
            json_number_value(json_object_get(result, "event")),
            json_number_value(json_object_get(result, "date")) / 1e3,
            json_string_value(json_object_get(result, "text")));
    if (json_object_get(result, "source"))
        fprintf(to, "%s\n", json_string_value(json_object_get(result, "source")));
}

static void print_result(const json_t *result, FILE *to)
{
    const json_t *answer = json_object_get(result, "answer"), *item;
    const json_t *notes = json_object_get(result, "notes");
    size_t i;

    if (json_object_get(result, "error"))
        fprintf(to, "error: %s\n", json_string_value(json_object_get(result, "error")));
    if (json_object_get(result, "event"))
        print_event(result, to);
    json_array_foreach (notes, i, item)
        fprintf(to, "note: %s\n", json_string_value(item));
    if (json_object_get(result, "breakpoint"))
        fprintf(to, "Breakpoint %.0f: %s\n",
                json_number_value(json_object_get(result, "breakpoint")),
                json_string_value(json_object_get(result, "text")));
    if (json_object_get(result, "exited"))
        fprintf(to, "The program has ended with status %.0f. `reverse-continue' goes back, "
                    "`quit' ends.\n",
                json_number_value(json_object_get(result, "exited")));
    json_array_foreach (answer, i, item) {
        if (json_object_get(item, "event"))
            print_event(item, to);
        else
            fprintf(to, "%s\n", json_string_value(json_object_get(item, "text")));
    }
}

char *commands_text(const json_t *result)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    print_result(result, to);
    fclose(to);
    return text;
}

bool commands_show(const json_t *result, bool json)
{
    if (!json) {
        print_result(result, stdout);
    } else if (!json_object_get(result, "quit")) {
        json_dumpf(result, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
        putchar('\n');
    }
    fflush(stdout);
    return json_object_get(result, "error") != NULL;
}

/* --- scripts, and people --- */

int commands_script(struct session *session, FILE *from, bool json)
{
    char *line = NULL;
    size_t room = 0;
    bool failed = false, quit = false;

    while (!failed && !quit && getline(&line, &room, from) >= 0) {
        json_t *result;

        line[strcspn(line, "\n")] = '\0';
        result = commands_do(session, line);
        quit = json_object_get(result, "quit") != NULL;
        program_flush(&session->program);
        /* Who reads JSON sees the error, and goes on as he likes. */
        failed = commands_show(result, json) && !json;
        json_decref(result);
    }
    free(line);
    return failed ? TOOL_FAILED : TOOL_OK;
}

/* What the terminal's interrupt stops: a signal handler can reach nothing else. */
static const struct program *to_halt;

static void on_interrupt(int number)
{
    if (number == SIGINT && to_halt)
        program_halt(to_halt);
    else
        interrupt_end(number);
}

int commands_talk(struct session *session)
{
    interrupt_fn *before;
    char *line, *last = NULL;
    bool quit = false;

    to_halt = &session->program;
    before = interrupt_take(on_interrupt);
    while (!quit && (line = line_read("(orrery) "))) {
        json_t *result;

        if (*line || !last) {
            free(last);
            last = line;
        } else {
            free(line);
        }
        result = commands_do(session, last);
        quit = json_object_get(result, "quit") != NULL;
        program_flush(&session->program);
        commands_show(result, false);
        json_decref(result);
    }
    free(last);
    interrupt_take(before);
    to_halt = NULL;
    return TOOL_OK;
}
