/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/explain/differ_print.c - why two runs differ, as text and as JSON. */
#include "tools/explain/differ.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/json.h"
#include "tools/common/report.h"
#include "tools/common/table.h"

enum { MAX_KINDS = 8 };

static const char letters[DIFFER_SIDES] = {'A', 'B'};

static const struct trace_task *side_task(const struct difference *d, int side,
                                          size_t t)
{
    return &d->traces[side]->tasks[t];
}

static const char *side_worker_name(const struct difference *d, int side,
                                    unsigned worker)
{
    const struct trace *trace = d->traces[side];

    return worker < trace->nworkers ? trace->workers[worker].name : "none";
}

static double printed_time_since_start(const struct difference *d, int side,
                                       double time)
{
    return time - d->traces[side]->begin;
}

/* "task 12", or of several ranks "task 12 of rank 3". */
#define TASK_MAX 64
static const char *task_text(const struct difference *d, uint64_t job, char text[TASK_MAX])
{
    const struct differ_ranks *ranks = &d->ranks[DIFFER_A];
    unsigned rank = ranks->n;

    while (rank > 0 && job <= ranks->before[rank - 1])
        rank--;
    if (rank == 0)
        snprintf(text, TASK_MAX, "task %llu", (unsigned long long)job);
    else
        snprintf(text, TASK_MAX, "task %llu of rank %u",
                 (unsigned long long)(job - ranks->before[rank - 1]), rank - 1);
    return text;
}

/* --- text --- */

/* The unit of all of its times: that of the longer run. */
static struct report_unit difference_unit(const struct difference *d)
{
    return report_unit_of(1e3 * fmax(d->sums[0].length, d->sums[1].length));
}

/* A date, to what traces can tell apart. */
#define DATE_MAX 48
static const char *date_text(const struct difference *d, double ms, char text[DATE_MAX])
{
    struct report_unit unit = difference_unit(d);

    snprintf(text, DATE_MAX, "%.6f %s", 1e3 * ms / unit.us, unit.name);
    return text;
}

static void print_first_difference(const struct difference *d)
{
    const struct differ_first *first = &d->first;
    const struct trace_task *a, *b;
    char at[DATE_MAX], in_a[DATE_MAX], in_b[DATE_MAX], task[TASK_MAX];

    date_text(d, first->times[0], in_a);
    date_text(d, first->times[1], in_b);
    if (first->tasks[0] == DIFFER_NONE) {
        puts("\nno task that both runs have fares differently");
        return;
    }
    a = side_task(d, DIFFER_A, first->tasks[0]);
    b = side_task(d, DIFFER_B, first->tasks[1]);
    printf("\nfirst difference, at %s: %s (%s) ", date_text(d, first->at, at),
           task_text(d, a->job, task), a->name);
    if (first->stage == DIFFER_WORKER) {
        printf("went to %s in A, to %s in B\n",
               side_worker_name(d, DIFFER_A, a->worker),
               side_worker_name(d, DIFFER_B, b->worker));
        return;
    }
    if (first->stage == DIFFER_LENGTH) {
        printf("took %s in A, %s in B, on %s\n", in_a, in_b,
               side_worker_name(d, DIFFER_A, a->worker));
        return;
    }
    printf("%s at %s in A, at %s in B\n",
           first->stage == DIFFER_SUBMITTED ? "was submitted"
           : first->stage == DIFFER_READY   ? "was ready"
           : first->stage == DIFFER_TAKEN
               ? "was taken by the same worker"
               : "had its data and started, taken at the same time,",
           in_a, in_b);
}

/* Where and when the task ran here that the worker executed in the other
 * run. */
static void print_fate(const struct difference *d, int side, size_t t,
                       uint64_t job)
{
    const struct trace_task *task;
    char ready[DATE_MAX], start[DATE_MAX], name[TASK_MAX];

    if (t == DIFFER_NONE) {
        printf("  in %c %s is not there\n", letters[side], task_text(d, job, name));
        return;
    }
    task = side_task(d, side, t);
    printf("  in %c %s (%s) was ready at %s and ran on %s from %s\n",
           letters[side], task_text(d, task->job, name), task->name,
           date_text(d, printed_time_since_start(d, side, task->ready), ready),
           side_worker_name(d, side, task->worker),
           date_text(d, printed_time_since_start(d, side, task->start), start));
}

static void print_choice(const struct difference *d)
{
    const struct differ_choice *choice = &d->choice;
    const char *verb = " executed ";
    char at[DATE_MAX], task[TASK_MAX];

    if (!choice->found) {
        puts("each worker executed the same tasks in the same order");
        return;
    }
    printf("first choice that differs, at %s: %s", date_text(d, choice->at, at),
           choice->worker);
    for (int s = 0; s < DIFFER_SIDES; s++) {
        size_t t = choice->tasks[s][s];

        if (t == DIFFER_NONE)
            printf("%snothing more in %c", verb, letters[s]);
        else
            printf("%s%s (%s) in %c", verb, task_text(d, side_task(d, s, t)->job, task),
                   side_task(d, s, t)->name, letters[s]);
        verb = ", ";
    }
    putchar('\n');
    for (int s = 0; s < DIFFER_SIDES; s++)
        if (choice->tasks[s][s] != DIFFER_NONE)
            print_fate(d, 1 - s, choice->tasks[s][1 - s],
                       side_task(d, s, choice->tasks[s][s])->job);
    puts(choice->free
             ? "  both were ready in both runs: the policy chose differently"
             : "  not both were ready in both runs: what came before decided");
}

static void add_compared_row(struct table *table, const char *what, double a,
                             double b, int digits)
{
    table_add(table, "%s", what);
    table_add(table, "%.*f", digits, a);
    table_add(table, "%.*f", digits, b);
    if (a > 0)
        table_add(table, "%+.1f %%", 100 * (b - a) / a);
    else
        table_add(table, b > 0 ? "new" : "-");
}

/* Of milliseconds. */
static void add_compared_time(struct table *table, const char *what, double a, double b,
                              struct report_unit unit, bool named)
{
    char text[64];

    snprintf(text, sizeof(text), "%s%s%s", what, named ? ", " : "",
             named ? unit.name : "");
    add_compared_row(table, text, 1e3 * a / unit.us, 1e3 * b / unit.us, 3);
}

/* Behind "rank 3: ". */
static const char *without_rank(const struct difference *d, int side, const char *name)
{
    const char *end = d->ranks[side].n ? strstr(name, ": ") : NULL;

    return end ? end + 2 : name;
}

/* Workers of one kind: those whose names differ in numbers only. */
struct kind {
    char name[32];
    size_t ntasks[DIFFER_SIDES];
    double busy[DIFFER_SIDES];
};

static size_t find_kinds(const struct difference *d, struct kind *kinds)
{
    size_t n = 0;

    for (int s = 0; s < DIFFER_SIDES; s++)
        for (size_t t = 0; t < d->traces[s]->ntasks; t++) {
            const struct trace_task *task = side_task(d, s, t);
            const char *name = without_rank(d, s, side_worker_name(d, s, task->worker));
            size_t length = strcspn(name, " _0123456789"), k = 0;

            if (length > sizeof(kinds->name) - 1)
                length = sizeof(kinds->name) - 1;
            while (k < n && (strncmp(kinds[k].name, name, length) != 0 ||
                             kinds[k].name[length]))
                k++;
            if (k == n && n == MAX_KINDS)
                continue;
            if (k == n) {
                kinds[n] = (struct kind){.ntasks = {0}};
                memcpy(kinds[n++].name, name, length);
            }
            kinds[k].ntasks[s]++;
            kinds[k].busy[s] += task->end - task->start;
        }
    return n;
}

/* Of several ranks on either side. */
static void add_ranks(struct table *table, const struct difference *d, struct report_unit unit)
{
    const struct differ_ranks *a = &d->ranks[0], *b = &d->ranks[1];
    const struct rank_bounds none = {.ms = (double)NAN};
    const struct rank_bounds *x = a->bounds ? a->bounds : &none, *y = b->bounds ? b->bounds : &none;

    if (a->n != b->n)
        add_compared_row(table, "ranks", a->n, b->n, 0);
    if (a->n == 0 && b->n == 0)
        return;
    add_compared_row(table, "messages", (double)a->messages, (double)b->messages, 0);
    add_compared_row(table, "sent, MiB", a->bytes / 1048576, b->bytes / 1048576, 1);
    if (isnan(x->ms) || isnan(y->ms))
        return;
    add_compared_time(table, "bound of the distribution", x->ms, y->ms, unit, true);
    add_compared_time(table, "tasks of a rank at least", x->tasks_ms, y->tasks_ms, unit, true);
    add_compared_time(table, "NICs and links at least", rank_bounds_carried(x),
                      rank_bounds_carried(y), unit, true);
    add_compared_time(table, "critical path at least", x->path_ms, y->path_ms, unit, true);
}

static int print_sums(const struct difference *d)
{
    static const struct table_column columns[] = {
        {"what followed", false}, {"A", true}, {"B", true}, {"change", true}};
    static const char *const quarters[] = {"a quarter of the tasks had ended",
                                           "half of them", "three quarters", "all"};
    const struct differ_sums *a = &d->sums[0], *b = &d->sums[1];
    struct kind kinds[MAX_KINDS];
    size_t n = find_kinds(d, kinds);
    struct report_unit unit = difference_unit(d);
    struct table table = {0};
    char name[64];

    putchar('\n');
    for (int q = 0; q < 4; q++)
        add_compared_time(&table, quarters[q], a->quarters[q], b->quarters[q], unit,
                          q == 0);
    add_compared_time(&table, "last submission", a->last_submission,
                      b->last_submission, unit, true);
    add_compared_time(&table, "ready tasks waited", a->wait, b->wait, unit, true);
    for (size_t k = 0; k < n; k++) {
        snprintf(name, sizeof(name), "tasks on %.31s", kinds[k].name);
        add_compared_row(&table, name, (double)kinds[k].ntasks[0],
                         (double)kinds[k].ntasks[1], 0);
        add_compared_time(&table, "kernels there", kinds[k].busy[0], kinds[k].busy[1],
                          unit, true);
    }
    add_compared_row(&table, "copies", (double)a->ncopies, (double)b->ncopies,
                     0);
    add_compared_row(&table, "copied, MiB", a->copied / 1048576,
                     b->copied / 1048576, 1);
    add_ranks(&table, d, unit);
    return table_end(&table, columns, 4);
}

int differ_print(const struct difference *d)
{
    double a = d->sums[0].length, b = d->sums[1].length;
    char in_a[REPORT_TIME_MAX], in_b[REPORT_TIME_MAX];

    printf("A  %s: %s\nB  %s: %s", d->names[0], report_time_text(1e3 * a, in_a),
           d->names[1], report_time_text(1e3 * b, in_b));
    if (a > 0 && fabs(b - a) > 0)
        printf(", %.1f %% %s", 100 * fabs(b - a) / a,
               b > a ? "longer" : "shorter");
    putchar('\n');
    if (d->ranks[0].n != d->ranks[1].n) {
        puts("the runs have different numbers of ranks: what tasks of one are in the other is not\n"
             "known");
        return print_sums(d);
    }
    printf("%zu tasks are in both, %zu of them on another worker", d->nsame,
           d->moved);
    if (d->nsame < d->sums[0].ntasks || d->nsame < d->sums[1].ntasks)
        printf("; %zu only in A, %zu only in B", d->sums[0].ntasks - d->nsame,
               d->sums[1].ntasks - d->nsame);
    putchar('\n');
    print_first_difference(d);
    print_choice(d);
    return print_sums(d);
}

/* --- JSON --- */

static json_t *json_task(const struct difference *d, int side, size_t t)
{
    const struct trace_task *task;

    if (t == DIFFER_NONE)
        return json_null();
    task = side_task(d, side, t);
    return json_pack(
        "{s:I, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "job",
        (json_int_t)task->job, "name", tool_json_text(task->name), "worker",
        tool_json_text(side_worker_name(d, side, task->worker)), "submitted_ms",
        printed_time_since_start(d, side, task->submitted), "ready_ms",
        printed_time_since_start(d, side, task->ready), "taken_ms",
        printed_time_since_start(d, side, task->taken), "start_ms",
        printed_time_since_start(d, side, task->start), "end_ms",
        printed_time_since_start(d, side, task->end));
}

static json_t *json_first(const struct difference *d)
{
    const struct differ_first *first = &d->first;

    if (first->tasks[0] == DIFFER_NONE)
        return json_null();
    return json_pack("{s:f, s:s, s:o, s:o}", "at_ms", first->at, "what",
                     differ_stage_name(first->stage), "a",
                     json_task(d, DIFFER_A, first->tasks[0]), "b",
                     json_task(d, DIFFER_B, first->tasks[1]));
}

static json_t *json_choice(const struct difference *d)
{
    const struct differ_choice *choice = &d->choice;
    json_t *executed[DIFFER_SIDES];

    if (!choice->found)
        return json_null();
    for (int s = 0; s < DIFFER_SIDES; s++)
        executed[s] = json_pack(
            "{s:o, s:o}", "a", json_task(d, DIFFER_A, choice->tasks[s][0]), "b",
            json_task(d, DIFFER_B, choice->tasks[s][1]));
    return json_pack("{s:f, s:o, s:b, s:o, s:o}", "at_ms", choice->at, "worker",
                     tool_json_text(choice->worker), "both_ready", choice->free,
                     "executed_in_a", executed[0], "executed_in_b",
                     executed[1]);
}

static json_t *json_sums(const struct difference *d, int side)
{
    const struct differ_sums *sums = &d->sums[side];
    const struct differ_ranks *ranks = &d->ranks[side];

    return json_pack("{s:o, s:f, s:I, s:f, s:f, s:I, s:f, s:f, s:[ffff], s:i, s:I, s:f, s:O?}",
                     "run", tool_json_text(d->names[side]), "makespan_ms",
                     sums->length, "tasks", (json_int_t)sums->ntasks,
                     "kernels_ms", sums->busy, "ready_wait_ms", sums->wait,
                     "copies", (json_int_t)sums->ncopies, "copied_bytes",
                     sums->copied, "last_submission_ms", sums->last_submission,
                     "quarters_ms", sums->quarters[0], sums->quarters[1],
                     sums->quarters[2], sums->quarters[3], "ranks", (int)ranks->n, "messages",
                     (json_int_t)ranks->messages, "message_bytes", ranks->bytes, "bounds",
                     ranks->bounds ? ranks->bounds->json : NULL);
}

json_t *difference_json(const struct difference *d)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "a",
                     json_sums(d, DIFFER_A), "b", json_sums(d, DIFFER_B),
                     "tasks_in_both", (json_int_t)d->nsame, "moved",
                     (json_int_t)d->moved, "first_difference", json_first(d),
                     "first_choice", json_choice(d));
}
