/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/explain/print_ranks.c - why ranks took that long, as text and as JSON. */
#include "tools/explain/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/json.h"
#include "tools/common/table.h"

enum { MOST_LINES = 10 };

static double length_ms(const struct ranks_explanation *e)
{
    return e->ranks->of[0].end - e->ranks->of[0].begin;
}

/* --- idle time --- */

/* Of all workers of the rank. */
static struct explain_idle sum_of(const struct ranks_explanation *e, unsigned rank)
{
    struct explain_idle sum = {0};

    for (unsigned w = 0; w < e->ranks->of[rank].graph->nworkers; w++) {
        sum.busy += e->idle[rank][w].busy;
        sum.idle += e->idle[rank][w].idle;
        for (int c = 0; c < EXPLAIN_NCAUSES; c++)
            sum.causes[c] += e->idle[rank][w].causes[c];
    }
    return sum;
}

/* Causes that no rank has are not told. */
static unsigned causes_shown(const struct ranks_explanation *e)
{
    unsigned shown = 0;

    for (unsigned r = 0; r < e->ranks->n; r++) {
        struct explain_idle sum = sum_of(e, r);

        for (int c = 0; c < EXPLAIN_NCAUSES; c++)
            shown |= (sum.causes[c] > 0) << c;
    }
    return shown;
}

static int print_idle(const struct ranks_explanation *e)
{
    struct report_unit unit = report_unit_of(1e3 * length_ms(e));
    struct table_column columns[4 + EXPLAIN_NCAUSES] = {
        {"rank", true}, {"workers", true}, {"busy", true}, {"idle", true}};
    struct table table = {0};
    unsigned shown = causes_shown(e);
    size_t ncolumns = 4;

    for (int c = 0; c < EXPLAIN_NCAUSES; c++)
        if (shown >> c & 1)
            columns[ncolumns++] =
                (struct table_column){explain_cause_name((enum explain_cause)c), true};
    for (unsigned r = 0; r < e->ranks->n; r++) {
        struct explain_idle sum = sum_of(e, r);

        table_add(&table, "%u", r);
        table_add(&table, "%u", e->ranks->of[r].graph->nworkers);
        table_add(&table, "%.3f", 1e3 * sum.busy / unit.us);
        table_add(&table, "%.3f", 1e3 * sum.idle / unit.us);
        for (int c = 0; c < EXPLAIN_NCAUSES; c++)
            if (shown >> c & 1)
                table_add(&table, "%.3f", 1e3 * sum.causes[c] / unit.us);
    }
    printf("\ntime of all workers of each rank, %s, idle by cause\n", unit.name);
    return table_end(&table, columns, ncolumns);
}

/* --- waits --- */

static void why_text(const struct explain_wait *wait, char *text, size_t size)
{
    switch (wait->why) {
    case EXPLAIN_PEER_COMPUTES:
        snprintf(text, size, "which was computing %s", wait->kernel);
        break;
    case EXPLAIN_PEER_WAITS:
        snprintf(text, size, "which itself waited for rank %u", wait->third);
        break;
    case EXPLAIN_PEER_SUBMITS:
        snprintf(text, size, "which had not submitted yet what it needs");
        break;
    case EXPLAIN_PEER_RUNTIME:
        snprintf(text, size, "whose runtime was between tasks");
        break;
    case EXPLAIN_UNDER_WAY:
        snprintf(text, size, "which had sent it: it was under way");
        break;
    default:
        snprintf(text, size, "for which it was not ready itself yet");
    }
}

static void print_waits(const struct ranks_explanation *e)
{
    char time[REPORT_TIME_MAX], why[EXPLAIN_NAME_SIZE];

    for (size_t i = 0; i < e->nwaits && i < MOST_LINES; i++) {
        const struct explain_wait *wait = &e->waits[i];

        why_text(wait, why, sizeof(why));
        printf("%srank %u waited %s for a message of rank %u, %s (%zu time%s)\n",
               i ? "" : "\n", wait->rank, report_time_text(1e3 * wait->ms, time),
               wait->peer, why, wait->n, wait->n == 1 ? "" : "s");
    }
    if (e->nwaits > MOST_LINES)
        printf("and %zu shorter wait%s (--json has %s)\n", e->nwaits - MOST_LINES,
               e->nwaits - MOST_LINES == 1 ? "" : "s",
               e->nwaits - MOST_LINES == 1 ? "it" : "them");
}

/* NULL: none is known. */
static const char *machine_name(const struct ranks_explanation *e)
{
    return e->machine ? e->machine : e->ranks->of[0].graph->machine;
}

int explain_ranks_print(const struct ranks_explanation *e)
{
    const struct orr_graph *graph = e->ranks->of[0].graph;
    const char *policy = orr_graph_about(graph, "scheduler");
    char time[REPORT_TIME_MAX];

    printf("\n%u ranks on %s, %s: %s\n", e->ranks->n,
           machine_name(e) ? machine_name(e) : "a machine",
           policy ? policy : "policy not known",
           report_time_text(1e3 * length_ms(e), time));
    putchar('\n');
    if (explain_print_chain(e->chain, e->nchain, length_ms(e)) < 0 || print_idle(e) < 0)
        return -ENOMEM;
    print_waits(e);
    if (e->bounds.json) {
        putchar('\n');
        rank_bounds_put(&e->bounds, length_ms(e), stdout);
    }
    return 0;
}

/* --- JSON --- */

static json_t *json_idle(const struct ranks_explanation *e)
{
    unsigned shown = causes_shown(e);
    json_t *list = json_array();

    for (unsigned r = 0; r < e->ranks->n; r++)
        for (unsigned w = 0; w < e->ranks->of[r].graph->nworkers; w++) {
            const struct explain_idle *idle = &e->idle[r][w];
            json_t *causes = json_object();

            for (int c = 0; c < EXPLAIN_NCAUSES; c++)
                if (shown >> c & 1)
                    json_object_set_new(causes, explain_cause_name((enum explain_cause)c),
                                        json_real(idle->causes[c]));
            json_array_append_new(
                list,
                json_pack("{s:i, s:o, s:f, s:f, s:o}", "rank", (int)r, "worker",
                          json_sprintf("rank %u: %s", r,
                                       e->ranks->of[r].graph->workers[w].name),
                          "busy_ms", idle->busy, "idle_ms", idle->idle, "causes_ms",
                          causes));
        }
    return list;
}

static json_t *json_waits(const struct ranks_explanation *e)
{
    static const char *const whys[EXPLAIN_NWHYS] = {
        [EXPLAIN_PEER_COMPUTES] = "computing", [EXPLAIN_PEER_WAITS] = "waiting",
        [EXPLAIN_PEER_SUBMITS] = "not submitted", [EXPLAIN_PEER_RUNTIME] = "runtime",
        [EXPLAIN_UNDER_WAY] = "under way",      [EXPLAIN_NOT_ASKED] = "receiver not ready",
    };
    json_t *list = json_array();

    for (size_t i = 0; i < e->nwaits; i++) {
        const struct explain_wait *wait = &e->waits[i];
        json_t *one = json_pack("{s:i, s:i, s:s, s:f, s:I}", "rank", (int)wait->rank,
                                "for_rank", (int)wait->peer, "why", whys[wait->why], "ms",
                                wait->ms, "times", (json_int_t)wait->n);

        if (one && wait->kernel)
            json_object_set_new(one, "kernel", tool_json_text(wait->kernel));
        if (one && wait->why == EXPLAIN_PEER_WAITS)
            json_object_set_new(one, "waits_for_rank", json_integer(wait->third));
        json_array_append_new(list, one);
    }
    return list;
}

json_t *explain_ranks_json(const struct ranks_explanation *e)
{
    const struct orr_graph *graph = e->ranks->of[0].graph;
    size_t left = 0;

    for (unsigned r = 0; r < e->ranks->n; r++)
        left += e->ranks->of[r].nleft;
    return json_pack("{s:{s:s?, s:s?, s:b}, s:i, s:f, s:I, s:o, s:o, s:o, s:O*}", "run", "machine",
                     machine_name(e), "scheduler", orr_graph_about(graph, "scheduler"),
                     "simulated", graph->simulated, "ranks", (int)e->ranks->n, "makespan_ms",
                     length_ms(e), "tasks_left", (json_int_t)left, "critical_path",
                     explain_json_chain(e->chain, e->nchain), "idle", json_idle(e), "waits",
                     json_waits(e), "bounds", e->bounds.json);
}
