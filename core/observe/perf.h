/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/perf.h - performance counters, an observer of tasks (tell.h) while
 * counting is on: one lock is taken then for each task and stage. Listeners are called
 * without it, each target's by one context at a time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>


struct orr_job;
struct orr_runtime;
struct orr_worker;

/* Places in a target's values, by scope. */
enum {
    ORR_PERF_SUBMITTED = 0, /* global, codelet */
    ORR_PERF_PEAK_SUBMITTED = 1,
    ORR_PERF_PEAK_READY = 2,
    ORR_PERF_CODELET_EXECUTED = 3,
    ORR_PERF_CODELET_TIME = 4,
    ORR_PERF_WORKER_EXECUTED = 0,
    ORR_PERF_WORKER_TIME = 1,
    ORR_PERF_NVALUES = 5
};

union orr_perf_value {
    int64_t number;
    double real;
};

struct starpu_perf_counter_set {
    enum starpu_perf_counter_scope scope;
    unsigned enabled; /* bit per counter of the scope */
};

struct starpu_perf_counter_listener {
    struct starpu_perf_counter_set *set; /* borrowed */
    void (*callback)(struct starpu_perf_counter_listener *,
                     struct starpu_perf_counter_sample *, void *);
    void *user_arg;
};

struct starpu_perf_counter_sample {
    const struct starpu_perf_counter_listener *listener;
    union orr_perf_value values[ORR_PERF_NVALUES];
};

/* What is counted for the program, a worker, or a codelet. */
struct orr_context;

/* A call of a listener that has not returned, on its stack. */
struct orr_perf_call {
    struct orr_perf_call *next;
    const struct orr_context *context;
    bool tells; /* the listener is called; else the target is only kept */
};

struct orr_perf_target {
    struct starpu_perf_counter_listener *listener; /* [lock] or NULL */
    struct orr_perf_call *calls;                   /* [lock] */
    bool ends; /* [lock] the last call frees it: it was taken out in one */
    union orr_perf_value values[ORR_PERF_NVALUES]; /* [lock] */
    int64_t blocked, ready;                        /* [lock] at the moment */
};

/* Errors: -ENOMEM. With `on` counting is on from the beginning. */
int orr_perf_new(struct orr_runtime *rt, bool on);
void orr_perf_free(struct orr_runtime *rt);

/* Starts or stops counting, which is on if it was started more often. */
void orr_perf_switch(struct orr_runtime *rt, bool start);

/* --- listeners --- */

/* False if there is one already; -- NULL: false if there is none. */
bool orr_perf_listen(struct orr_runtime *rt, struct orr_perf_target *target,
                     struct starpu_perf_counter_listener *listener);
struct orr_perf_target *orr_perf_global(struct orr_runtime *rt);
struct orr_perf_target *orr_perf_of_worker(struct orr_runtime *rt,
                                           unsigned worker);
/* Made, or freed, with its listener: as orr_perf_listen. Ends the program without
 * memory. */
bool orr_perf_listen_codelet(struct orr_runtime *rt, struct starpu_codelet *cl,
                             struct starpu_perf_counter_listener *listener);
