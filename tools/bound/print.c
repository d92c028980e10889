/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/bound/print.c - the text output of `orrery bound`. One thread. */
#include "tools/bound/bound.h"

#include "tools/common/edits.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

static void print_machine(const struct bounds *b)
{
    const char *machine = b->graph->machine;

    if (!machine && b->report.json)
        machine = b->report.machine;
    printf("machine     %s (%s%s%s)\n",
           machine && *machine ? machine : "without name",
           b->graph->simulated ? "simulated" : "real",
           b->report.json && b->report.provenance ? ", figures " : "",
           b->report.json && b->report.provenance ? b->report.provenance : "");
    if (b->report.json) {
        edits_print(b->report.json, "what if     ");
        if (b->report.assumed)
            printf("assumed     %s\n", b->report.assumed);
    }
    printf("workers    ");
    for (unsigned c = 0; c < b->in->nclasses; c++)
        printf("%s %s", c ? "," : "", b->in->classes[c].name);
    printf("\n");
}

static void print_tasks(const struct bounds *b)
{
    unsigned types = 0;

    for (unsigned k = 0; k < b->in->ntypes; k++)
        types += b->in->types[k].ntasks > 0;
    printf("tasks       %u of %u type%s, %u dependenc%s\n", b->in->ntasks,
           types, plural(types), b->in->nedges,
           b->in->nedges == 1 ? "y" : "ies");
}

static int print_note(const char *note, void *arg)
{
    (void)arg;
    printf("note        %s\n", note);
    return 0;
}

static void print_exported(const struct bounds *b, const char *path,
                           const char *reader)
{
    if (path && strcmp(path, "-") != 0)
        printf("exported    %s: %s, for %s\n", path,
               orr_bound_method_name(bounds_exported(b->options->wanted)),
               reader);
}

/* What limits a bound, why there is none, or both. */
static void add_reason(struct table *table, const struct orr_bound_result *r)
{
    const char *limit = r->limit ? r->limit : "", *why = r->why ? r->why : "";
    const char *outcome = "";

    if (r->outcome != ORR_BOUND_OPTIMAL)
        outcome = r->outcome == ORR_BOUND_TIME_LIMIT
                      ? "time limit"
                      : bounds_outcome_name(r->outcome);
    table_add(table, "%s%s%s%s%s", limit, *limit && *outcome ? "; " : "",
              outcome, *why ? ": " : "", why);
}

static void add_row(struct table *table, const struct bounds *b,
                    enum orr_bound_method method)
{
    const struct orr_bound_result *r = &b->results[method];

    table_add(table, "%s", orr_bound_method_name(method));
    if (isfinite(r->ms))
        table_add(table, "%.3f", r->ms);
    else
        table_add(table, "-");
    table_add(table, "%s",
              !isfinite(r->ms)              ? "-"
              : bounds_is_proved(b, method) ? "yes"
                                            : "no");
    table_add(table, "%.3f", r->seconds);
    table_add(table, "%s", orr_bound_method_ignores(method));
    add_reason(table, r);
}

static void print_distance(const struct bounds *b)
{
    enum orr_bound_method best = bounds_best(b);
    double distance = bounds_distance(b);

    if (!isnan(b->makespan_ms))
        printf("scheduled %.3f ms", b->makespan_ms);
    else
        printf("no schedule to compare");
    if (best == ORR_BOUND_NMETHODS)
        printf("; no bound to compare with\n");
    else if (isnan(distance))
        printf("; best bound %.3f ms (%s)\n", b->results[best].ms,
               orr_bound_method_name(best));
    else
        printf(", %.1f %% %s the best bound (%s)\n", 100 * fabs(distance),
               distance < 0 ? "below" : "above", orr_bound_method_name(best));
}

int bounds_print(const struct bounds *b)
{
    static const struct table_column columns[] = {
        {"bound", false}, {"ms", true},       {"proved", false},
        {"s", true},      {"ignores", false}, {"limited by, or why not", false},
    };
    struct table table = {0};

    putchar('\n');
    print_machine(b);
    print_tasks(b);
    if (bounds_notes(b, print_note, NULL) < 0) {
        tool_error("out of memory");
        return -1;
    }
    print_exported(b, b->options->lp, "glpsol --lp and cbc");
    print_exported(b, b->options->lp_solve, "lp_solve");
    print_exported(b, b->options->mps,
                   "glpsol --freemps, cbc and lp_solve -fmps");
    putchar('\n');
    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        if (b->options->wanted[m])
            add_row(&table, b, m);
    if (table_end(&table, columns, sizeof(columns) / sizeof(*columns)) < 0) {
        tool_error("out of memory");
        return -1;
    }
    putchar('\n');
    print_distance(b);
    return 0;
}
