/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/bound/print.c - the text output of `orrery bound`. One thread. */
#include "tools/bound/bound.h"

#include "core/base/plural.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The run that a file describes; times have a line of their own. */
static void print_about(const struct orr_graph *graph)
{
    for (unsigned i = 0; i < graph->nabout; i++)
        if (strcmp(graph->about[i].what, "times") != 0)
            printf("%-11s %s\n", graph->about[i].what, graph->about[i].text);
}

static void print_bound_machine(const struct bounds *b)
{
    const char *machine = b->graph->machine;
    char times[256] = "";

    if (!machine && b->report.json)
        machine = b->report.machine;
    printf("machine     %s (%s%s%s)\n",
           machine && *machine ? machine : "without name",
           b->graph->simulated ? "simulated" : "real",
           bounds_figures(b) ? ", figures " : "",
           bounds_figures(b) ? bounds_figures(b) : "");
    if (b->report.json) {
        report_print_basis(&b->report);
    } else {
        print_about(b->graph);
        bounds_times(b, times, sizeof(times));
        if (*times)
            printf("times       %s\n", times);
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
           types, orr_plural(types), b->in->nedges,
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

/* Widths of columns, before the rows are known. */
static int
method_column_width(const struct bounds *b, const char *title,
                    const char *(*text)(enum orr_bound_method method))
{
    int wide = (int)strlen(title);

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        if (b->options->wanted[m] && (int)strlen(text(m)) > wide)
            wide = (int)strlen(text(m));
    return wide;
}

static int name_width(const struct bounds *b)
{
    return method_column_width(b, "bound", orr_bound_method_name);
}

static int ignores_width(const struct bounds *b)
{
    return method_column_width(b, "ignores", orr_bound_method_ignores);
}

/* What limits a bound, why there is none, or both. */
static void print_reason(const struct orr_bound_result *r)
{
    const char *limit = r->limit ? r->limit : "", *why = r->why ? r->why : "";
    const char *outcome = "";

    if (r->outcome != ORR_BOUND_OPTIMAL)
        outcome = r->outcome == ORR_BOUND_TIME_LIMIT
                      ? "time limit"
                      : bounds_outcome_name(r->outcome);
    printf("%s%s%s%s%s\n", limit, *limit && *outcome ? "; " : "", outcome,
           *why ? ": " : "", why);
}

void bounds_print_row(const struct bounds *b, enum orr_bound_method method)
{
    const struct orr_bound_result *r = &b->results[method];
    bool known = isfinite(r->ms);

    printf("%-*s  ", name_width(b), orr_bound_method_name(method));
    if (known)
        printf("%12.3f", 1e3 * r->ms / bounds_unit(b).us);
    else
        printf("%12s", "-");
    printf("  %-6s  %7.3f  %-*s  ",
           !known                        ? "-"
           : bounds_is_proved(b, method) ? "yes"
                                         : "no",
           r->seconds, ignores_width(b), orr_bound_method_ignores(method));
    print_reason(r);
    fflush(stdout); /* the next one may take its time */
}

static void print_distance(const struct bounds *b)
{
    enum orr_bound_method best = bounds_best(b);
    double distance = bounds_distance(b);
    char time[REPORT_TIME_MAX];

    if (!isnan(b->makespan_ms))
        printf("scheduled %s", report_time_text(1e3 * b->makespan_ms, time));
    else
        printf("no schedule to compare");
    if (best == ORR_BOUND_NMETHODS)
        printf("; no bound to compare with\n");
    else if (isnan(distance))
        printf("; best bound %s (%s)\n",
               report_time_text(1e3 * b->results[best].ms, time),
               orr_bound_method_name(best));
    else
        printf(", %.1f %% %s the best bound (%s)\n", 100 * fabs(distance),
               distance < 0 ? "below" : "above", orr_bound_method_name(best));
}

int bounds_print_head(const struct bounds *b)
{
    putchar('\n');
    print_bound_machine(b);
    print_tasks(b);
    if (bounds_notes(b, print_note, NULL) < 0) {
        tool_error("out of memory");
        return -1;
    }
    print_exported(b, b->options->lp, "glpsol --lp and cbc");
    print_exported(b, b->options->lp_solve, "lp_solve");
    print_exported(b, b->options->mps,
                   "glpsol --freemps, cbc and lp_solve -fmps");
    printf("\n%-*s  %12s  proved  %7s  %-*s  limited by, or why not\n",
           name_width(b), "bound", bounds_unit(b).name, "took s", ignores_width(b),
           "ignores");
    return 0;
}

int bounds_print_end(const struct bounds *b)
{
    putchar('\n');
    if (bounds_below_note(b, print_note, NULL) < 0) {
        tool_error("out of memory");
        return -1;
    }
    print_distance(b);
    bounds_print_energy(b);
    if (b->stopped)
        puts("interrupted: bounds without a value were not computed");
    return 0;
}
