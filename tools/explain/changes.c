/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/changes.c - changes that the findings suggest, each simulated.
 * One is proposed only where the run shows a reason for it.
 */
#include "tools/explain/explain.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/devices.h"
#include "tools/common/tool.h"

enum { MAX_CHANGES = 40, AT_ONCE = 2 };

/* Shares of the makespan, or of a capacity, from which on a change is tried. */
#define SOME      0.01
#define MOST      0.8
#define SOME_BUSY 0.3
#define SLOWER    1.1 /* times as long as on its like */

struct proposals {
    const struct explain_run *run;
    const struct explain_idle *idle;
    const struct explain_link *chain; /* the critical path */
    size_t nchain;
    const struct launch *base;
    struct explain_changes *to;
    bool lost; /* no memory */
};

static struct explain_change *propose(struct proposals *p, char *what,
                                      char *edits)
{
    struct explain_change *change;

    if (!what || p->to->n == MAX_CHANGES) {
        p->lost |= !what;
        free(what);
        free(edits);
        return NULL;
    }
    change = &p->to->items[p->to->n++];
    *change = (struct explain_change){.what = what, .edits = edits};
    return change;
}

static double run_duration_ms(const struct explain_run *run)
{
    return run->end - run->begin;
}

/* ms that all workers lost for a cause. */
static double lost_for(const struct proposals *p, enum explain_cause cause)
{
    double sum = 0;

    for (unsigned w = 0; w < p->run->graph->nworkers; w++)
        sum += p->idle[w].causes[cause];
    return sum;
}

/* What the program itself keeps from devices. */
static void propose_all_devices(struct proposals *p)
{
    struct explain_change *change;
    struct devices_held held;

    if (devices_held(p->base->report.json, &held) < 0) {
        p->lost = true;
        return;
    }
    if (held.liftable && !held.all) {
        change = propose(p, tool_format("kernels on all devices where they have "
                                        "a time, whatever the program says"),
                         NULL);
        if (change) {
            change->set = "ORRERY_DEVICES=all";
            change->asked = true;
        }
    }
    devices_done(&held);
}

static void propose_links(struct proposals *p)
{
    double used = 0;

    for (size_t i = 0; i < p->run->ncopies; i++)
        used += p->run->copies[i].end - p->run->copies[i].start;
    if (used < SOME * run_duration_ms(p->run))
        return;
    propose(p, tool_format("links of twice the bandwidth"),
            tool_format("bus.bandwidth *= 2"));
    propose(p, tool_format("links of half the latency"),
            tool_format("bus.latency /= 2"));
}

static void propose_memory(struct proposals *p)
{
    if (p->base->report.evictions > 0)
        propose(p, tool_format("devices with twice the memory"),
                tool_format("cuda.memory *= 2"));
}

static void propose_allocation(struct proposals *p)
{
    if (lost_for(p, EXPLAIN_ALLOCATION) < SOME * run_duration_ms(p->run))
        return;
    propose(
        p,
        tool_format("device memory that is allocated and freed in no time, or "
                    "beforehand"),
        tool_format("cost[device-alloc] = 0us; cost[device-free] = 0us"));
}

static void propose_submission(struct proposals *p)
{
    struct explain_change *change;

    if (lost_for(p, EXPLAIN_SUBMISSION) < SOME * run_duration_ms(p->run))
        return;
    change = propose(p, tool_format("submission that takes no time"), NULL);
    if (change)
        change->set = "STARPU_SIMGRID_TASK_SUBMIT_COST=0";
}

/* Costs of one kind hide behind those of others: all of them together. */
static void propose_runtime(struct proposals *p)
{
    const struct orr_graph_costs *costs = &p->run->graph->costs;
    double main_ms = p->run->graph->ntasks * (costs->submit_ms + costs->push_ms);
    double idle = lost_for(p, EXPLAIN_SUBMISSION) +
                  lost_for(p, EXPLAIN_SCHEDULER) + lost_for(p, EXPLAIN_OVERHEAD);
    struct explain_change *change;

    if (fmax(main_ms, idle) < SOME * run_duration_ms(p->run))
        return;
    change = propose(p, tool_format("a runtime that takes no time for anything"),
                     tool_format("cost = 0us"));
    if (change)
        change->ideal = true;
}

/* The run without the waits of the application, and without what else it does, as replays
 * of what is left of its record. */
static void propose_prompter(struct proposals *p)
{
    struct explain_without *without = &p->to->without;
    double least = SOME * run_duration_ms(p->run);
    bool waits = lost_for(p, EXPLAIN_WAITING) >= least;
    bool own = lost_for(p, EXPLAIN_OWN) >= least;
    struct explain_change *change;

    if ((!waits && !own) ||
        !explain_without_make(p->base, without, &p->to->stopped))
        return;
    if (waits && without->can_wait_less) {
        change =
            propose(p,
                    tool_format("an application that does not wait between its "
                                "submissions"),
                    NULL);
        if (change) {
            change->left_out = "waits";
            change->argv[0] = without->unwaited;
        }
    }
    if (own) {
        change = propose(p,
                         tool_format("an application that does nothing else "
                                     "between its submissions"),
                         NULL);
        if (change) {
            change->left_out = "other work";
            change->argv[0] = without->prompt;
        }
    }
}

/* The worker that starts a copy to a device waits for it, so that no kernel
 * runs beside it. */
static void propose_asynchronous(struct proposals *p)
{
    static const struct {
        const char *name, *off;
    } variables[] = {{"STARPU_DISABLE_ASYNCHRONOUS_COPY",
                      "STARPU_DISABLE_ASYNCHRONOUS_COPY=0"},
                     {"STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY",
                      "STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY=0"}};

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *value = getenv(variables[i].name);
        struct explain_change *change;

        if (!value || atoi(value) == 0)
            continue;
        change =
            propose(p, tool_format("copies that run beside kernels"), NULL);
        if (change)
            change->set = variables[i].off;
    }
}

static bool has_priorities(const struct orr_graph *graph)
{
    for (unsigned t = 1; t < graph->ntasks; t++)
        if (graph->tasks[t].priority != graph->tasks[0].priority)
            return true;
    return false;
}

/* Policies that take the task with the highest priority first. */
static bool heeds_priorities(const char *policy)
{
    return !strcmp(policy, "dmdas") || !strcmp(policy, "dmdasd") ||
           !strcmp(policy, "prio") || !strcmp(policy, "pheft");
}

static void propose_policies(struct proposals *p)
{
    static const char *const policies[] = {"dmdas", "dmda", "dmdar", "lws"};
    const char *now = launch_policy(p->base);
    bool priorities = has_priorities(p->run->graph);

    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
        struct explain_change *change;
        const char *why = "";

        if (now && !strcmp(now, policies[i]))
            continue;
        if (now && priorities &&
            heeds_priorities(now) != heeds_priorities(policies[i]))
            why = heeds_priorities(now) ? ", which ignores the priorities"
                                        : ", which heeds the priorities";
        change =
            propose(p, tool_format("the policy %s%s", policies[i], why), NULL);
        if (change)
            change->scheduler = policies[i];
    }
}

/* "CUDA 1.0 (…)" is device 1; -1: no such device. */
static int cuda_device_number(const char *name)
{
    int device;

    return sscanf(name, "CUDA %d", &device) == 1 ? device : -1;
}

static void propose_devices(struct proposals *p)
{
    const struct orr_graph *graph = p->run->graph;
    int last = -1;

    for (unsigned w = 0; w < graph->nworkers; w++) {
        int device = cuda_device_number(graph->workers[w].name);
        double slower;

        if (device < 0 || device == last)
            continue;
        last = device;
        slower = explain_slower(p->run, w);
        if (slower > SLOWER)
            propose(p, tool_format("CUDA %d as fast as its like", device),
                    tool_format("cuda[%d].speed *= %.4g", device, slower));
    }
}

/* Whether the workers of devices, or of processors, were busy for a share of the time. */
static bool are_busy(const struct proposals *p, bool devices)
{
    const struct orr_graph *graph = p->run->graph;
    double busy = 0, all = 0;

    for (unsigned w = 0; w < graph->nworkers; w++)
        if ((cuda_device_number(graph->workers[w].name) >= 0) == devices) {
            busy += p->idle[w].busy;
            all += run_duration_ms(p->run);
        }
    return all > 0 && busy > SOME_BUSY * all;
}

static void propose_workers(struct proposals *p)
{
    const struct orr_graph *graph = p->run->graph;
    unsigned cpus = 0, cudas = 0;
    int last = -1;

    for (unsigned w = 0; w < graph->nworkers; w++) {
        int device = cuda_device_number(graph->workers[w].name);

        cpus += !strncmp(graph->workers[w].name, "CPU", 3);
        cudas += device >= 0 && device != last;
        last = device >= 0 ? device : last;
    }
    /* Half idle they may still hold up a phase: a simulation says whether more help. */
    if (cudas && are_busy(p, true))
        propose(p, tool_format("%u CUDA devices", 2 * cudas),
                tool_format("cuda.count = %u", 2 * cudas));
    if (cpus && are_busy(p, false))
        propose(p, tool_format("%u processors", 2 * cpus),
                tool_format("cpu.count = %u", 2 * cpus));
}

/* Whether an edit changes how long it took: not what is assumed. */
static bool can_be_edited(const struct orr_graph *graph,
                          const struct orr_graph_task *task)
{
    return task->worker != ORR_GRAPH_NOT_RUN &&
           strcmp(orr_graph_origin_of(graph, &graph->types[task->type],
                                      task->worker),
                  "assumed") != 0;
}

/* Whether tasks ran one after the other though several workers could run those of that
 * type: because of what they write in any order, or combine, which the graph does not
 * show. */
static bool one_at_a_time(const struct proposals *p,
                          const struct orr_graph_task_type *type)
{
    double busy = 0, none = 0, all = run_duration_ms(p->run);
    unsigned able = 0;

    for (unsigned w = 0; w < p->run->graph->nworkers; w++) {
        busy += p->idle[w].busy;
        if (isinf(type->mean_ms[w]))
            continue;
        able++;
        none += p->idle[w].causes[EXPLAIN_DEPENDENCIES];
    }
    return able > 1 && busy > MOST * all && busy < all / MOST &&
           none > MOST * (able - 1) * all;
}

/* The type of tasks that took most of the critical path; `time`: per type, zero at
 * first. */
static unsigned longest_type(const struct proposals *p, double *time)
{
    const struct orr_graph *graph = p->run->graph;
    unsigned best = 0;

    for (size_t i = 0; i < p->nchain; i++) {
        const struct explain_link *link = &p->chain[i];
        unsigned t = link->type == EXPLAIN_RUNS
                         ? p->run->tasks[link->what].number
                         : UINT_MAX;

        if (t != UINT_MAX && can_be_edited(graph, &graph->tasks[t]))
            time[graph->tasks[t].type] += link->end - link->start;
    }
    for (unsigned i = 1; i < graph->ntypes; i++)
        if (time[i] > time[best])
            best = i;
    return best;
}

/* The kernel that took most of the critical path, where a chain of dependencies is
 * about as long as the run, or tasks ran one at a time. */
static void propose_kernels(struct proposals *p)
{
    const struct orr_graph *graph = p->run->graph;
    double *time = calloc(graph->ntypes + 1, sizeof(*time));
    unsigned best = time ? longest_type(p, time) : 0;
    const char *symbol = graph->types[best].symbol;
    char *what = NULL;

    p->lost |= !time;
    if (!time || time[best] <= 0) {
        free(time);
        return;
    }
    free(time);
    if (explain_longest(p->run) > MOST * run_duration_ms(p->run))
        what = tool_format("a chain of tasks of half the length: kernel %s "
                           "twice as fast",
                           symbol);
    else if (one_at_a_time(p, &graph->types[best]))
        what = tool_format("kernel %s, of which one task runs at a time, twice "
                           "as fast",
                           symbol);
    else
        return;
    propose(p, what, tool_format("kernel[\"%s\"] *= 2", symbol));
}

static bool change_prepare(struct explain_change *change,
                           const struct launch *base, const char **more)
{
    char *edits = change->edits;

    if (change->edits && base->edits) {
        edits = tool_format("%s; %s", base->edits, change->edits);
        free(change->edits);
        change->edits = edits;
        if (!edits)
            return false;
    }
    more[0] = change->set ? change->set : "STARPU_SILENT=1";
    more[1] = NULL;
    change->launch = (struct launch){
        .machine = base->machine,
        .edits = edits ? edits : base->edits,
        .scheduler = change->scheduler ? change->scheduler : base->scheduler,
        .assume = base->assume,
        .more = more,
        .argv = change->left_out ? change->argv : base->argv,
        .quiet = true};
    return true;
}

static int compare_changes(const void *a, const void *b)
{
    const struct explain_change *x = a, *y = b;

    if (x->failed != y->failed)
        return x->failed ? 1 : -1;
    if (x->ideal != y->ideal)
        return x->ideal ? 1 : -1;
    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return strcmp(x->what, y->what);
}

/* Launches lie in one array while they run. */
static int simulate(struct explain_changes *changes, const struct launch *base)
{
    struct launch *launches = calloc(changes->n + 1, sizeof(*launches));
    const char *more[MAX_CHANGES][2];
    int rc = launches ? 0 : -1;

    for (size_t i = 0; i < changes->n && rc == 0; i++) {
        if (!change_prepare(&changes->items[i], base, more[i]))
            rc = -1;
        launches[i] = changes->items[i].launch;
    }
    if (rc)
        tool_error("out of memory");
    else if (changes->n)
        rc = launch_all(launches, changes->n, AT_ONCE, NULL, NULL);
    for (size_t i = 0; launches && i < changes->n; i++) {
        struct explain_change *change = &changes->items[i];

        change->launch = launches[i];
        change->launch.more = NULL;
        change->failed = rc != 0 || *change->launch.problem ||
                         launch_chose_policy(&change->launch);
        change->gain =
            1 - change->launch.report.makespan_us / base->report.makespan_us;
    }
    free(launches);
    return rc;
}

static void propose_all(struct proposals *p)
{
    propose_all_devices(p);
    propose_links(p);
    propose_memory(p);
    propose_allocation(p);
    propose_submission(p);
    propose_runtime(p);
    propose_prompter(p);
    propose_asynchronous(p);
    propose_policies(p);
    propose_devices(p);
    propose_workers(p);
    propose_kernels(p);
}

int explain_changes_try(const struct explain_run *run,
                        const struct explain_idle *idle,
                        const struct explain_link *chain, size_t nchain,
                        const struct launch *base, struct explain_changes *ret)
{
    struct explain_changes changes = {
        calloc(MAX_CHANGES, sizeof(struct explain_change)), 0, 0, {0}};
    struct proposals p = {run, idle, chain, nchain, base, &changes, false};
    int rc;

    if (!changes.items) {
        tool_error("out of memory");
        return -1;
    }
    /* Of a run that took no time nothing can be better. */
    if (run_duration_ms(run) > 0)
        propose_all(&p);
    rc = p.lost ? -1 : changes.stopped;
    if (rc == 0)
        rc = simulate(&changes, base);
    changes.stopped = rc > 0 ? rc : 0;
    if (rc == 0)
        qsort(changes.items, changes.n, sizeof(*changes.items),
              compare_changes);
    *ret = changes;
    return rc < 0 ? -1 : 0;
}

void explain_changes_done(struct explain_changes *changes)
{
    for (size_t i = 0; changes->items && i < changes->n; i++) {
        launch_done(&changes->items[i].launch);
        free(changes->items[i].what);
        free(changes->items[i].edits);
    }
    free(changes->items);
    explain_without_done(&changes->without);
}
