/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/state.c - see state.h. Called while the simulation stands still: takes
 * no locks, need not be fast.
 */
#include "core/observe/state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/nodes.h"
#include "core/device/simulated.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

#define MAX_LINES 40

struct state {
    struct orr_runtime *runtime;
    const struct orr_worker *worker; /* whose jobs are wanted */
    enum orr_job_state wanted;       /* … in this state */
    unsigned n;                      /* of these */
    double now;
};

/* --- jobs --- */

static const char *state_node_name(const struct orr_runtime *rt, unsigned node)
{
    return rt->machine->nodes[node].name;
}

/* Prints where the present value is, and where it is on its way to. */
static void say_where(const struct orr_runtime *rt,
                      const struct orr_handle *handle)
{
    uint64_t valid = atomic_load(&handle->valid);
    uint64_t loading = atomic_load(&handle->loading);

    for (unsigned n = 0; n < rt->nodes->n; n++)
        if (valid >> n & 1)
            fprintf(stderr, ", on %s", state_node_name(rt, n));
    for (unsigned n = 0; n < rt->nodes->n; n++)
        if (loading >> n & 1)
            fprintf(stderr, ", on its way to %s", state_node_name(rt, n));
}

/* The data that the job lacks on the node. */
static void say_missing(const struct orr_runtime *rt, const struct orr_job *job,
                        unsigned node)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_handle *handle = job->accesses[i].handle;

        if (!(job->accesses[i].mode & STARPU_R) ||
            atomic_load(&handle->valid) >> node & 1)
            continue;
        fprintf(stderr, "\n      lacks %s", orr_handle_label(handle).text);
        say_where(rt, handle);
    }
}

static void print_job(const struct orr_job *job)
{
    fprintf(stderr, "`%s' (number %llu)", orr_job_name(job),
            (unsigned long long)job->id);
}

static bool is_alive(const struct orr_job *job)
{
    return atomic_load(&job->refs) && job->task && job->id;
}

static void visit_workers_job(void *object, void *arg)
{
    const struct orr_job *job = object;
    struct state *state = arg;

    if (!is_alive(job) || orr_job_state(job) != state->wanted ||
        job->worker != (int)state->worker->id)
        return;
    fprintf(stderr, state->n++ ? "; " : " ");
    if (state->wanted == ORR_JOB_RUNNING) {
        fputs("executes ", stderr);
        print_job(job);
        if (job->kernel && job->kernel->start <= state->now)
            orr_fprintf(stderr, " since %.6f s", job->kernel->start / 1e6);
        else if (job->kernel)
            fputs(", which waits for the one before", stderr);
        return;
    }
    fputs(state->wanted == ORR_JOB_SUSPENDED ? "has stopped in "
                                             : "fetches for ",
          stderr);
    print_job(job);
    if (state->wanted == ORR_JOB_FETCHING)
        say_missing(state->runtime, job, state->worker->desc->node);
}

static void each_job(struct state *state, void (*visit)(void *, void *))
{
    struct orr_runtime *rt = state->runtime;

    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], visit, state);
}

/* --- workers --- */

static void say_worker(struct state *state, const struct orr_worker *worker)
{
    static const enum orr_job_state states[] = {
        ORR_JOB_RUNNING, ORR_JOB_SUSPENDED, ORR_JOB_FETCHING};

    fprintf(stderr, "  %s:", worker->desc->name);
    state->worker = worker;
    state->n = 0;
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        state->wanted = states[i];
        each_job(state, visit_workers_job);
    }
    if (!state->n)
        fputs(atomic_load(&worker->state) == ORR_WORKER_IDLE
                  ? " has nothing to do"
                  : " looks for a task",
              stderr);
    fputc('\n', stderr);
}

/* --- tasks that have not begun --- */

static void say_waiting(const struct orr_runtime *rt, const struct orr_job *job)
{
    unsigned n = 0;

    switch (orr_job_state(job)) {
    case ORR_JOB_BLOCKED:
        fprintf(stderr, " waits for what is before it (tasks, tags: %d)",
                atomic_load(&job->waiting));
        break;
    case ORR_JOB_CLAIMING:
        fputs(" waits for data that others have claimed", stderr);
        break;
    default:
        for (unsigned w = 0; w < rt->workers->n; w++)
            n += job->able_classes >> rt->workers->at[w].class_id & 1;
        fprintf(stderr, " is ready, priority %d", job->priority);
        if (job->data.wants_memory)
            fputs(", waits for memory", stderr);
        else if (job->worker >= 0)
            fprintf(stderr, ", waits for %s",
                    rt->workers->at[job->worker].desc->name);
        else if (n)
            fprintf(stderr, ", waits for one of %u workers", n);
        else
            fputs(", waits for a worker", stderr);
    }
}

static void visit_waiting(void *object, void *arg)
{
    const struct orr_job *job = object;
    struct state *state = arg;

    if (!is_alive(job) || orr_job_state(job) != state->wanted)
        return;
    if (state->n++ >= MAX_LINES)
        return;
    fprintf(stderr, "  %s", orr_source_words(state->runtime, job).text);
    print_job(job);
    say_waiting(state->runtime, job);
    fputc('\n', stderr);
}

void orr_state_print(struct orr_runtime *rt)
{
    static const enum orr_job_state states[] = {ORR_JOB_READY, ORR_JOB_CLAIMING,
                                                ORR_JOB_BLOCKED};
    struct state state = {.runtime = rt, .now = orr_exec_now(rt->exec)};

    fflush(stdout);
    orr_fprintf(stderr,
                "At %.6f s of virtual time %lu tasks have not ended, %lu are "
                "ready.\n",
                state.now / 1e6, orr_count_unfinished(rt), orr_count_ready(rt));
    for (unsigned w = 0; w < rt->workers->n; w++)
        say_worker(&state, &rt->workers->at[w]);
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        state.wanted = states[i];
        state.n = 0;
        each_job(&state, visit_waiting);
        if (state.n > MAX_LINES)
            fprintf(stderr, "  and %u more\n", state.n - MAX_LINES);
    }
}

/* --- the break --- */

/* Whether a debugger would get a signal. */
static bool is_traced(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[128];
    long tracer = 0;

    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "TracerPid:", 10))
            tracer = strtol(line + 10, NULL, 10);
    if (file)
        fclose(file);
    return tracer > 0;
}

static void on_break(struct orr_runtime *rt)
{
    rt->views->break_awaited = false;
    orr_state_print(rt);
    if (is_traced())
        raise(SIGTRAP);
}

/* "19.0s", "3ms", "250us", "250": µs; negative: it is none. */
static double read_date(const char *text)
{
    static const struct {
        const char *unit;
        double us;
    } units[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"", 1}};
    char *end;
    double value = orr_strtod(text, &end);

    end += strspn(end, " ");
    for (size_t i = 0; end != text && i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(end, units[i].unit) && value >= 0 && value < 1e15)
            return value * units[i].us;
    return -1;
}

int orr_state_arm(struct orr_runtime *rt, struct orr_error *err)
{
    const char *text = orr_config_string(&rt->config, ORR_CFG_BREAK_AT);
    double us = text ? read_date(text) : 0;

    if (!text)
        return 0;
    if (us < 0)
        return orr_fail(err, -EINVAL,
                        "ORRERY_BREAK_AT=%s (--break-at): write a time such as "
                        "19.0s, 250ms or 30us",
                        text);
    if (!rt->sim) {
        orr_log_warning(
            "ORRERY_BREAK_AT (--break-at) is for simulated machines: "
            "this one cannot stand still");
        return 0;
    }
    rt->views->break_awaited = true;
    rt->sim->break_at(rt->machine, orr_exec_now(rt->exec) + us, on_break, rt);
    return 0;
}

void orr_state_end(struct orr_runtime *rt)
{
    if (rt->views->break_awaited)
        orr_log_warning("ORRERY_BREAK_AT=%s (--break-at): the run ended before "
                        "that, at %.6f s of virtual time",
                        orr_config_string(&rt->config, ORR_CFG_BREAK_AT),
                        orr_exec_now(rt->exec) / 1e6);
    rt->views->break_awaited = false;
}
