/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/explain/print.c - the explanation as text and as JSON. */
#include "core/base/grow.h"
#include "tools/explain/explain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json.h"
#include "tools/common/table.h"

enum { MAX_ROWS = 8, MAX_HELPFUL = 3, MAX_WORKERS = 16 };

/* Below this share a link, or what a change gains, is not worth a line. */
#define FULL 0.5
#define GAIN 0.005

static double explained_duration_ms(const struct explanation *e)
{
    return e->run->end - e->run->begin;
}

/* What the chain spent on one thing. */
struct share {
    char name[EXPLAIN_NAME_SIZE];
    double ms;
    size_t n;
};

void explain_name_link(const struct explain_link *link, char *name, size_t size)
{
    const struct explain_run *run = link->run;
    const struct orr_graph *graph = run->graph;
    const struct explain_task *task = &run->tasks[link->what];
    const struct explain_copy *copy = &run->copies[link->what];
    const char *worker, *kernel = "task";

    switch (link->type) {
    case EXPLAIN_RUNS:
        worker = graph->workers[task->worker].name;
        if (task->number < graph->ntasks)
            kernel = graph->types[graph->tasks[task->number].type].symbol;
        snprintf(name, size, "%s on %.*s", kernel,
                 (int)strcspn(worker, " 0123456789"), worker);
        break;
    case EXPLAIN_COPIES:
    case EXPLAIN_QUEUES:
        snprintf(name, size, "%s %s to %s", explain_type_name(link->type),
                 graph->nodes[copy->from].name, graph->nodes[copy->to].name);
        break;
    case EXPLAIN_COMES:
        snprintf(name, size, "%s of rank %u to rank %u", explain_type_name(link->type),
                 run->received[link->what].peer, run->rank);
        break;
    default:
        snprintf(name, size, "%s", explain_type_name(link->type));
    }
}

static int compare_shares(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    if (x->ms != y->ms)
        return x->ms < y->ms ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* The chain by what it was spent on; owned. NULL without memory. */
static struct share *shares_of(const struct explain_link *chain, size_t nchain,
                               size_t *ret_n)
{
    struct share *shares = NULL, *added;
    size_t n = 0;

    for (size_t i = 0; i < nchain; i++) {
        struct share one = {.ms = 0};
        size_t s = 0;

        explain_name_link(&chain[i], one.name, sizeof(one.name));
        while (s < n && strcmp(shares[s].name, one.name) != 0)
            s++;
        if (s == n) {
            added = orr_array_add(shares, n);
            if (!added) {
                free(shares);
                return NULL;
            }
            *added = one;
        }
        shares[s].ms += chain[i].end - chain[i].start;
        shares[s].n++;
    }
    if (n)
        qsort(shares, n, sizeof(*shares), compare_shares);
    *ret_n = n;
    return shares;
}

int explain_print_chain(const struct explain_link *chain, size_t nchain, double all_ms)
{
    struct report_unit unit = report_unit_of(1e3 * all_ms);
    const struct table_column columns[] = {
        {"on the critical path", false},
        {unit.name, true},
        {"share", true},
        {"times", true}};
    size_t n;
    struct share *shares = shares_of(chain, nchain, &n);
    struct table table = {0};

    if (!shares)
        return -ENOMEM;
    for (size_t s = 0; s < n && s < MAX_ROWS; s++) {
        table_add(&table, "%s", shares[s].name);
        table_add(&table, "%.3f", 1e3 * shares[s].ms / unit.us);
        table_add(&table, "%.1f %%", 100 * shares[s].ms / all_ms);
        table_add(&table, "%zu", shares[s].n);
    }
    free(shares);
    return table_end(&table, columns, 4);
}

/* Length of a worker's name without numbers ("CUDA"), or without what follows in
 * brackets. */
static int name_length(const char *name, bool kind)
{
    const char *bracket = strstr(name, " (");

    if (kind)
        return (int)strcspn(name, " 0123456789");
    return bracket ? (int)(bracket - name) : (int)strlen(name);
}

/* Few runs have kernels that wait, devices that allocate, or applications that do anything
 * but submit: of others there is no column. */
static bool cause_is_shown(const struct explanation *e, int cause)
{
    if (cause == EXPLAIN_KERNELS)
        return e->run->npieces > e->run->ntasks;
    if (cause != EXPLAIN_WAITING && cause != EXPLAIN_OWN &&
        cause != EXPLAIN_ALLOCATION && cause != EXPLAIN_MESSAGES &&
        cause != EXPLAIN_OTHERS)
        return true;
    for (unsigned w = 0; w < e->run->graph->nworkers; w++)
        if (e->idle[w].causes[cause] > 0)
            return true;
    return false;
}

/* Adds the row of workers first … last. */
static void add_idle(const struct explanation *e, struct table *table,
                     unsigned first, unsigned last)
{
    double scale = 1e3 / report_unit_of(1e3 * explained_duration_ms(e)).us;
    const char *name = e->run->graph->workers[first].name;
    struct explain_idle sum = {0};

    for (unsigned w = first; w <= last; w++) {
        sum.busy += e->idle[w].busy;
        sum.idle += e->idle[w].idle;
        for (int c = 0; c < EXPLAIN_NCAUSES; c++)
            sum.causes[c] += e->idle[w].causes[c];
    }
    if (first == last)
        table_add(table, "%.*s", name_length(name, false), name);
    else
        table_add(table, "%u x %.*s", last - first + 1, name_length(name, true),
                  name);
    table_add(table, "%.3f", scale * sum.busy);
    table_add(table, "%.3f", scale * sum.idle);
    for (int c = 0; c < EXPLAIN_NCAUSES; c++)
        if (cause_is_shown(e, c))
            table_add(table, "%.3f", scale * sum.causes[c]);
}

/* Many workers are shown as one row per kind. */
static int print_idle_workers(const struct explanation *e)
{
    const struct orr_graph *graph = e->run->graph;
    struct table_column columns[3 + EXPLAIN_NCAUSES] = {
        {"worker", false}, {"busy", true}, {"idle", true}};
    struct table table = {0};
    size_t ncolumns = 3;

    for (int c = 0; c < EXPLAIN_NCAUSES; c++)
        if (cause_is_shown(e, c))
            columns[ncolumns++] = (struct table_column){
                explain_cause_name((enum explain_cause)c), true};
    for (unsigned w = 0, last; w < graph->nworkers; w = last + 1) {
        const char *name = graph->workers[w].name;
        int length = name_length(name, true);

        last = w;
        while (graph->nworkers > MAX_WORKERS && last + 1 < graph->nworkers &&
               name_length(graph->workers[last + 1].name, true) == length &&
               !strncmp(name, graph->workers[last + 1].name, (size_t)length))
            last++;
        add_idle(e, &table, w, last);
    }
    printf("\ntime of workers, %s, idle by cause\n",
           report_unit_of(1e3 * explained_duration_ms(e)).name);
    return table_end(&table, columns, ncolumns);
}

/* Where the application was while it submitted nothing; shares below GAIN are not worth a
 * line. */
static void print_application(const struct explanation *e)
{
    const struct explain_application *app = &e->application;
    double least = GAIN * explained_duration_ms(e);
    double all = (double)(e->run->nsubmitted - 1) * app->submission_us / 1000;
    const char *gap = "\n";
    char time[REPORT_TIME_MAX];

    for (size_t i = 0; i < app->nwaits && i < MAX_ROWS; i++) {
        if (app->waits[i].ms < least)
            continue;
        printf("%sthe application waited in %s for %s (%zu time%s) before "
               "its last submission\n",
               gap, app->waits[i].call, report_time_text(1e3 * app->waits[i].ms, time),
               app->waits[i].n, app->waits[i].n == 1 ? "" : "s");
        gap = "";
    }
    if (app->own_ms >= least && app->nown) {
        printf("%sthe application did something else for %s (%zu time%s) "
               "between its submissions\n",
               gap, report_time_text(1e3 * app->own_ms, time), app->nown, app->nown == 1 ? "" : "s");
        gap = "";
    }
    if (all >= least)
        printf("%ssubmitting took %s per task (%zu tasks)\n", gap,
               report_time_text(app->submission_us, time), e->run->nsubmitted);
}

static void print_wrong(const struct explanation *e)
{
    char expected[REPORT_TIME_MAX], taken[REPORT_TIME_MAX];

    for (size_t i = 0; i < e->nwrong && i < MAX_ROWS; i++) {
        const struct report_kernel *kernel = e->wrong[i];

        printf(
            "%sthe model of %s on %s was wrong: %s expected, %s taken (median "
            "of %lld)\n",
            i ? "" : "\n", kernel->name, kernel->arch,
            report_time_text(kernel->predicted_us, expected),
            report_time_text(kernel->median_us, taken), (long long)kernel->count);
    }
}

static void print_misplaced(const struct explanation *e)
{
    char time[REPORT_TIME_MAX];

    for (size_t i = 0; i < e->nmisplaced && i < MAX_ROWS; i++) {
        const struct explain_misplaced *one = &e->misplaced[i];

        printf("%s%s: %zu task%s ran on %s (%s%s): %s more than on the "
               "fastest\n",
               i ? "" : "\n", one->kernel, one->ntasks,
               one->ntasks == 1 ? "" : "s",
               one->several ? "slower workers" : "a slower worker", one->worker,
               one->several ? ", others" : "",
               report_time_text(1e3 * one->lost, time));
    }
}

static bool keeps_busy(const struct explanation *e, unsigned worker)
{
    return e->run->graph->nworkers > 1 && e->alone[worker].ms > 0 &&
           e->alone[worker].ms >= FULL * explained_duration_ms(e);
}

static void print_alone(const struct explanation *e)
{
    const struct orr_graph *graph = e->run->graph;
    const char *gap = e->nmisplaced ? "" : "\n";

    for (unsigned w = 0; w < graph->nworkers; w++) {
        bool one = e->alone[w].ntasks == 1;

        if (!keeps_busy(e, w))
            continue;
        printf(
            "%sno other worker can run %zu task%s of %s, which take%s %.0f %% "
            "of the run\n",
            gap, e->alone[w].ntasks, one ? "" : "s", graph->workers[w].name,
            one ? "s" : "", 100 * e->alone[w].ms / explained_duration_ms(e));
        gap = "";
    }
}

static int print_waste(const struct explanation *e)
{
    const struct orr_graph *graph = e->run->graph;
    double again = explain_copied_again(e->run);
    char text[32];

    print_application(e);
    print_wrong(e);
    print_misplaced(e);
    print_alone(e);
    for (unsigned l = 0; l < graph->nlinks; l++)
        if (e->links[l] >= FULL)
            printf("link %s: %.0f %% of what it can carry\n",
                   graph->links[l].name, 100 * e->links[l]);
    if (again > 0)
        printf("%s were copied to memory that had had them before\n",
               report_bytes_text((json_int_t)again, text));
    return isnan(again) ? -ENOMEM : 0;
}

static void print_changes(const struct explanation *e)
{
    char time[REPORT_TIME_MAX];
    size_t shown = 0;

    if (!e->report) {
        puts(
            "\nOf a trace: with the program in its place changes are simulated "
            "as well.");
        return;
    }
    if (!e->report->simulated) {
        puts("\nA real run: with -m MACHINE changes are simulated as well.");
        return;
    }
    puts("\nwhat would help, simulated");
    for (size_t i = 0; i < e->changes.n; i++) {
        const struct explain_change *change = &e->changes.items[i];

        if (change->failed ||
            (!change->asked && (change->gain < GAIN ||
                                (shown >= MAX_HELPFUL && !change->ideal))))
            continue;
        printf("%6.1f %%  %s: %s", -100 * change->gain, change->what,
               report_time_text(change->launch.report.makespan_us, time));
        if (change->edits)
            printf("  (--set '%s')", change->launch.edits);
        else if (change->scheduler)
            printf("  (-s %s)", change->scheduler);
        else if (change->left_out)
            printf("  (its record without the %s, replayed)", change->left_out);
        else if (!strcmp(change->set, "ORRERY_DEVICES=all"))
            printf("  (--devices=all)");
        else
            printf("  (%s)", change->set);
        putchar('\n');
        shown++;
    }
    if (!shown)
        printf("nothing of %zu changes by %.1f %% or more\n", e->changes.n,
               100 * GAIN);
}

/* What the times rest on; the policy is told. */
static void print_explained_basis(const struct explanation *e)
{
    const struct orr_graph *graph = e->run->graph;

    if (e->report)
        report_print_basis(e->report);
    for (unsigned i = 0; !e->report && i < graph->nabout; i++)
        if (strcmp(graph->about[i].what, "scheduler") != 0)
            printf("%-11s %s\n", graph->about[i].what, graph->about[i].text);
}

int explain_print(const struct explanation *e)
{
    const char *machine = e->run->graph->machine;
    const char *policy = orr_graph_about(e->run->graph, "scheduler");
    char time[REPORT_TIME_MAX], energy[192];

    if (e->report) {
        machine = e->report->machine;
        policy = e->report->scheduler;
    }
    printf("\n%s, %s: %s\n", machine ? machine : "a machine",
           policy ? policy : "policy not known",
           report_time_text(1e3 * explained_duration_ms(e), time));
    print_explained_basis(e);
    if (e->report && *report_energy_text(e->report, energy, sizeof(energy)))
        printf("energy      %s\n", energy);
    putchar('\n');
    if (e->run->nleft)
        printf("the run ended early: %zu of %zu tasks had not run\n\n",
               e->run->nleft, e->run->nleft + e->run->ntasks);
    if (!(explained_duration_ms(e) > 0)) {
        puts("The run took no time: there is nothing to explain.");
        return 0;
    }
    if (explain_print_chain(e->chain, e->nchain, explained_duration_ms(e)) < 0 ||
        explain_print_lines(e->chain, e->nchain, explained_duration_ms(e)) < 0 ||
        print_idle_workers(e) < 0 || print_waste(e) < 0)
        return -ENOMEM;
    print_changes(e);
    return 0;
}

/* --- JSON --- */

json_t *explain_json_chain(const struct explain_link *chain, size_t n)
{
    json_t *list = json_array();
    char name[EXPLAIN_NAME_SIZE];

    for (size_t i = n; i-- > 0;) {
        const struct explain_link *link = &chain[i];
        const struct explain_run *run = link->run;
        json_t *one;

        explain_name_link(link, name, sizeof(name));
        one = json_pack(
            "{s:s, s:o, s:f, s:f}", "type", explain_type_name(link->type),
            "what", tool_json_text(name), "start_ms",
            link->start - run->begin, "end_ms", link->end - run->begin);
        if (one && link->type == EXPLAIN_RUNS)
            json_object_set_new(
                one, "job",
                json_integer((json_int_t)run->tasks[link->what].job));
        if (one && link->type == EXPLAIN_RUNS && run->tasks[link->what].source)
            json_object_set_new(one, "source", tool_json_text(run->tasks[link->what].source));
        if (one && run->ranks)
            json_object_set_new(one, "rank", json_integer(run->rank));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *json_idle(const struct explanation *e)
{
    json_t *list = json_array();

    for (unsigned w = 0; w < e->run->graph->nworkers; w++) {
        json_t *causes = json_object();

        for (int c = 0; c < EXPLAIN_NCAUSES; c++)
            if (c != EXPLAIN_MESSAGES && c != EXPLAIN_OTHERS)
                json_object_set_new(causes,
                                    explain_cause_name((enum explain_cause)c),
                                    json_real(e->idle[w].causes[c]));
        json_array_append_new(
            list, json_pack("{s:o, s:f, s:f, s:o}", "worker",
                            tool_json_text(e->run->graph->workers[w].name),
                            "busy_ms", e->idle[w].busy, "idle_ms",
                            e->idle[w].idle, "causes_ms", causes));
    }
    return list;
}

static json_t *json_waste(const struct explanation *e, json_t *links)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->nmisplaced; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:b, s:I, s:f}", "kernel",
                            tool_json_text(e->misplaced[i].kernel), "worker",
                            tool_json_text(e->misplaced[i].worker), "several",
                            e->misplaced[i].several, "tasks",
                            (json_int_t)e->misplaced[i].ntasks, "lost_ms",
                            e->misplaced[i].lost));
    for (unsigned l = 0; l < e->run->graph->nlinks; l++)
        json_array_append_new(
            links, json_pack("{s:o, s:f}", "link",
                             tool_json_text(e->run->graph->links[l].name),
                             "use", e->links[l]));
    return list;
}

static json_t *json_application(const struct explanation *e)
{
    const struct explain_application *app = &e->application;
    json_t *waits = json_array(), *all;

    for (size_t i = 0; i < app->nwaits; i++)
        json_array_append_new(waits,
                              json_pack("{s:o, s:I, s:f}", "call",
                                        tool_json_text(app->waits[i].call),
                                        "times", (json_int_t)app->waits[i].n,
                                        "ms", app->waits[i].ms));
    all = json_pack("{s:o, s:I, s:f, s:I}", "waits", waits, "other_times",
                    (json_int_t)app->nown, "other_ms", app->own_ms, "submitted",
                    (json_int_t)e->run->nsubmitted);
    if (all && !isnan(app->submission_us))
        json_object_set_new(all, "submission_us_per_task",
                            json_real(app->submission_us));
    return all;
}

static json_t *json_wrong(const struct explanation *e)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->nwrong; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:I, s:f, s:f}", "kernel",
                            tool_json_text(e->wrong[i]->name), "on",
                            tool_json_text(e->wrong[i]->arch), "tasks",
                            e->wrong[i]->count, "predicted_us",
                            e->wrong[i]->predicted_us, "median_us",
                            e->wrong[i]->median_us));
    return list;
}

static json_t *json_changes(const struct explanation *e)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->changes.n; i++) {
        const struct explain_change *change = &e->changes.items[i];
        json_t *one =
            json_pack("{s:o, s:b}", "change", tool_json_text(change->what),
                      "failed", change->failed);

        if (!change->failed) {
            json_object_set_new(
                one, "makespan_ms",
                json_real(change->launch.report.makespan_us / 1000));
            json_object_set_new(one, "gain_percent",
                                json_real(100 * change->gain));
        }
        if (change->edits)
            json_object_set_new(one, "edits",
                                tool_json_text(change->launch.edits));
        if (change->scheduler)
            json_object_set_new(one, "scheduler",
                                tool_json_text(change->scheduler));
        if (change->left_out)
            json_object_set_new(one, "left_out",
                                tool_json_text(change->left_out));
        if (change->set)
            json_object_set_new(one, "variable", tool_json_text(change->set));
        json_array_append_new(list, one);
    }
    return list;
}

/* What the graph of a trace says of its run. */
static json_t *json_traced(const struct explanation *e)
{
    const struct orr_graph *graph = e->run->graph;

    return json_pack("{s:o, s:s?, s:b}", "machine",
                     tool_json_text(graph->machine), "scheduler",
                     orr_graph_about(graph, "scheduler"), "simulated",
                     graph->simulated);
}

static json_t *json_alone(const struct explanation *e)
{
    json_t *list = json_array();

    for (unsigned w = 0; w < e->run->graph->nworkers; w++)
        if (keeps_busy(e, w))
            json_array_append_new(
                list, json_pack("{s:o, s:I, s:f}", "worker",
                                tool_json_text(e->run->graph->workers[w].name),
                                "tasks", (json_int_t)e->alone[w].ntasks,
                                "busy_ms", e->alone[w].ms));
    return list;
}

json_t *explain_json(const struct explanation *e)
{
    json_t *links;
    double again = explain_copied_again(e->run);

    if (isnan(again))
        return NULL;
    links = json_array();
    return json_pack(
        "{s:o, s:f, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "run", e->report ? report_json(e->report) : json_traced(e),
        "makespan_ms", explained_duration_ms(e), "tasks_left",
        (json_int_t)e->run->nleft, "longest_chain_ms", explain_longest(e->run),
        "critical_path", explain_json_chain(e->chain, e->nchain), "idle", json_idle(e), "application",
        json_application(e), "misplaced", json_waste(e, links), "alone",
        json_alone(e), "links", links, "wrong_models", json_wrong(e),
        "copied_again_bytes", json_real(again), "changes", json_changes(e));
}
