/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/compute.c - instances, the module with the methods, and the
 * summary of the results. One thread.
 */
#include "tools/bound/apart.h"
#include "tools/bound/bound.h"

#include "bound/solver.h"
#include "core/base/module.h"
#include "tools/common/modules.h"
#include "tools/common/tool.h"
#include "tools/common/untrusted.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limit for all bounds together, where none is given: as much for each task as paths need
 * on a slow machine. What a minute gives is there by then, but for a ten thousandth:
 * tests/bench/bench-stages.py prints what each step gains. */
double bounds_usual_seconds(unsigned ntasks)
{
    return 0.85 + fmax(0, (double)ntasks - 2000) / 4000;
}

/* The cheap ones first: what they leave of their share goes to the others. */
static const enum orr_bound_method order[ORR_BOUND_NMETHODS] = {
    ORR_BOUND_CRITICAL_PATH, ORR_BOUND_AREA,         ORR_BOUND_PATHS,
    ORR_BOUND_PRECEDENCE,    ORR_BOUND_INTEGER_AREA, ORR_BOUND_MEMORY,
    ORR_BOUND_RUNTIME,       ORR_BOUND_EXACT,        ORR_BOUND_INTEGER,
    ORR_BOUND_TRANSFERS,
};

/* By how much a schedule may be below a bound by rounding. */
#define ROUNDING 1e-6

const char *bounds_key(enum orr_bound_method method)
{
    static const char *const keys[ORR_BOUND_NMETHODS] = {
        [ORR_BOUND_CRITICAL_PATH] = "critical-path",
        [ORR_BOUND_AREA] = "area",
        [ORR_BOUND_PATHS] = "paths",
        [ORR_BOUND_PRECEDENCE] = "precedence",
        [ORR_BOUND_TRANSFERS] = "transfers",
        [ORR_BOUND_RUNTIME] = "runtime",
        [ORR_BOUND_MEMORY] = "memory",
        [ORR_BOUND_INTEGER_AREA] = "integer-area",
        [ORR_BOUND_INTEGER] = "integer",
        [ORR_BOUND_EXACT] = "exact",
    };

    return keys[method];
}

const char *bounds_outcome_name(enum orr_bound_outcome outcome)
{
    static const char *const names[] = {
        [ORR_BOUND_OPTIMAL] = "optimal",
        [ORR_BOUND_TIME_LIMIT] = "time-limit",
        [ORR_BOUND_SKIPPED] = "skipped",
        [ORR_BOUND_INFEASIBLE] = "infeasible",
        [ORR_BOUND_UNBOUNDED] = "unbounded",
        [ORR_BOUND_SUSPICIOUS] = "suspicious",
    };

    return names[outcome];
}

/* Whether it matters in which memory a class computes. */
static bool knows_nodes(enum orr_bound_method method)
{
    return method == ORR_BOUND_TRANSFERS || method == ORR_BOUND_MEMORY;
}

int bounds_make_instances(struct bounds *b)
{
    struct orr_bound_instance_options options = {.optimism =
                                                     b->options->optimism,
                                                 .merge = b->options->merge,
                                                 .across_nodes = true};
    struct orr_error err = {""};
    int rc =
        orr_bound_instance_new(b->graph, &options, &b->in, &b->unknown, &err);

    options.across_nodes = false;
    if (!rc)
        rc = orr_bound_instance_new(b->graph, &options, &b->in_nodes, NULL,
                                    &err);
    if (rc) {
        tool_report(&err, rc);
        return -1;
    }
    return 0;
}

static void show_bound_progress(const struct bounds *b, unsigned done,
                                unsigned n, enum orr_bound_method method)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (done == n)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[Kbound %u of %u: %s, %u tasks …", done + 1, n,
                orr_bound_method_name(method), b->graph->ntasks);
}

/* Without the module every bound has that reason. */
static int result_skip(struct orr_bound_result *result,
                       enum orr_bound_method method, const char *why)
{
    *result = (struct orr_bound_result){.method = method,
                                        .outcome = ORR_BOUND_SKIPPED,
                                        .ms = NAN,
                                        .upper_ms = NAN,
                                        .why = strdup(why)};
    return result->why ? 0 : -ENOMEM;
}

/* Of the time until the date for a bound, of `left` that are still to be computed. Paths
 * come to nothing before they are exact, and most others are no better than they. */
static double share_of_time(enum orr_bound_method method, double until, unsigned left)
{
    double seconds = until - apart_clock();

    return fmax(0.01, method == ORR_BOUND_PATHS ? fmax(seconds / left, 0.4 * seconds)
                                                : seconds / left);
}

/* One bound, of `left` that are still to be computed until the date. */
static int compute_one_bound(struct bounds *b,
                             const struct orr_bound_solver *solver,
                             enum orr_bound_method method, const char *why,
                             double until, unsigned left)
{
    double seconds = share_of_time(method, until, left);
    struct apart_job job = {.solver = solver,
                            .in = knows_nodes(method) ? b->in_nodes : b->in,
                            .method = method,
                            .seconds = seconds,
                            .patience = b->options->seconds > 0 ? 0 : seconds / 2};

    if (apart_interrupted())
        return result_skip(&b->results[method], method, "interrupted");
    if (!solver)
        return result_skip(&b->results[method], method, why);
    return apart_compute(&job, &b->results[method]);
}

static int compute_all(struct bounds *b, const struct orr_bound_solver *solver,
                       const char *why,
                       void (*known)(const struct bounds *,
                                     enum orr_bound_method))
{
    double seconds = b->options->seconds > 0 ? b->options->seconds
                                             : bounds_usual_seconds(b->graph->ntasks);
    double until = apart_clock() + seconds;
    unsigned n = 0, done = 0;
    int rc = 0;

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        n += b->options->wanted[m];
    for (unsigned k = 0; !rc && k < ORR_BOUND_NMETHODS; k++) {
        enum orr_bound_method m = order[k];

        if (!b->options->wanted[m])
            continue;
        show_bound_progress(b, done, n, m);
        rc = compute_one_bound(b, solver, m, why, until, n - done++);
        show_bound_progress(b, n, n, 0);
        if (!rc && known)
            known(b, m);
    }
    return rc;
}

int bounds_compute(struct bounds *b,
                   void (*known)(const struct bounds *, enum orr_bound_method))
{
    struct orr_error err = {""};
    const void *table = NULL;
    int rc;

    tool_find_modules("bound");
    (void)orr_module_open("bound", &table, &err);
    fflush(stdout); /* the processes of bounds must not have it too */
    apart_begin();
    rc = compute_all(b, table, err.text, known);
    b->stopped = apart_end();
    if (rc) {
        tool_error("%s", rc == -ENOMEM ? "out of memory" : strerror(-rc));
        return -1;
    }
    return 0;
}

/* --- all of them together --- */

bool bounds_is_proved(const struct bounds *b, enum orr_bound_method method)
{
    return b->results[method].proved && b->unknown == 0;
}

enum orr_bound_method bounds_best(const struct bounds *b)
{
    enum orr_bound_method best = ORR_BOUND_NMETHODS;

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        if (b->options->wanted[m] && b->results[m].proved &&
            isfinite(b->results[m].ms) &&
            (best == ORR_BOUND_NMETHODS ||
             b->results[m].ms > b->results[best].ms))
            best = m;
    return best;
}

double bounds_distance(const struct bounds *b)
{
    enum orr_bound_method best = bounds_best(b);

    if (best == ORR_BOUND_NMETHODS || b->results[best].ms <= 0)
        return NAN;
    return b->makespan_ms / b->results[best].ms - 1;
}

struct report_unit bounds_unit(const struct bounds *b)
{
    double ms = b->makespan_ms;

    if (isnan(ms)) {
        ms = 0;
        for (unsigned k = 0; k < b->in->ntypes; k++)
            if (b->in->types[k].ntasks)
                ms += b->in->types[k].ntasks * b->in->types[k].best_ms;
        ms /= b->graph->nworkers;
    }
    return report_unit_of(1e3 * ms);
}

const char *bounds_figures(const struct bounds *b)
{
    if (b->graph && b->graph->figures)
        return b->graph->figures;
    return b->report.json ? b->report.provenance : NULL;
}

const char *bounds_scheduler(const struct bounds *b)
{
    if (b->report.json)
        return b->report.scheduler;
    return b->graph ? orr_graph_about(b->graph, "scheduler") : NULL;
}

char *bounds_caption(const struct bounds *b)
{
    const char *figures = bounds_figures(b);
    unsigned edits = 0;
    char times[256] = "";

    bounds_times(b, times, sizeof(times));
    for (unsigned i = 0; i < b->graph->nabout; i++)
        edits += strcmp(b->graph->about[i].what, "what if") == 0;
    return tool_format("figures of the machine: %s%s%s%s%s",
                       figures ? figures : "unknown", edits ? ", edited" : "",
                       *times ? "; times: " : "", times,
                       untrusted_any(b->report.json)
                           ? "; models not to be trusted"
                           : "");
}

/* Frees the text of one note after printing it. */
static int say_owned(char *message, int (*say)(const char *, void *), void *arg)
{
    int rc = message ? say(message, arg) : -ENOMEM;

    free(message);
    return rc;
}

static char *durations_note(const struct bounds *b)
{
    if (b->options->optimism > 0)
        return tool_format("durations are means less %g standard deviation%s",
                           b->options->optimism,
                           b->options->optimism == 1 ? "" : "s");
    return tool_format("durations are means%s",
                       b->graph->simulated ? "" : " of what was measured");
}

static char *below_note(const struct bounds *b)
{
    return tool_format(
        "the run was faster than its bound: its tasks took less than their "
        "%s%s",
        b->options->optimism > 0 ? "assumed times" : "means",
        b->graph->simulated ? ", which no simulation should give"
                            : "; --optimistic lowers them");
}

int bounds_notes(const struct bounds *b, int (*say)(const char *, void *),
                 void *arg)
{
    int rc = say_owned(durations_note(b), say, arg);

    if (!rc)
        rc = say_owned(tool_format("all bounds ignore %s", orr_bound_all_ignore()),
                       say, arg);
    if (!rc && bounds_figures(b) && strcmp(bounds_figures(b), "measured") != 0)
        rc = say_owned(tool_format("the machine's figures are %s: bounds are "
                                   "as good as they",
                                   bounds_figures(b)),
                       say, arg);
    if (!rc && b->left)
        rc = say_owned(tool_format("the run ended early, %u of %u tasks had not run: "
                                   "bounds are those of all, and its time is none to "
                                   "compare with",
                                   b->left, b->graph->ntasks),
                       say, arg);
    if (!rc && b->filled)
        rc = say_owned(tool_format("%u pair%s of kernel and worker without "
                                   "model: what this run's own tasks took",
                                   b->filled, b->filled == 1 ? "" : "s"),
                       say, arg);
    if (!rc && b->unknown)
        rc = say_owned(
            tool_format("%u pair%s of kernel and worker without known duration "
                        "%s left out; as a schedule might use %s, nothing is "
                        "called proved",
                        b->unknown, b->unknown == 1 ? "" : "s",
                        b->unknown == 1 ? "is" : "are",
                        b->unknown == 1 ? "it" : "them"),
            say, arg);
    if (!rc && (b->in->merged || b->in_nodes->merged))
        rc = say_owned(tool_format("devices that differ by at most %g %% are "
                                   "one class, of which the fastest counts",
                                   100 * b->options->merge),
                       say, arg);
    return rc;
}

int bounds_below_note(const struct bounds *b, int (*say)(const char *, void *),
                      void *arg)
{
    if (bounds_distance(b) < -ROUNDING)
        return say_owned(below_note(b), say, arg);
    return 0;
}
