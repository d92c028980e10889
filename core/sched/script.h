/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/script.h - policies in a script: the two tables of functions by which the
 * runtime and an interpreter call each other. script.c is the policy, the module
 * "python" the interpreter (core/sched/python/), which knows no more of the runtime
 * than this.
 *
 * Contexts that share one thread call a script one after the other, on a stack of
 * any of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

struct orr_job;
struct orr_sched;
struct orr_sched_ops;
struct orr_script; /* the module's */

struct orr_script_worker {
    char name[64];
    const char *kind; /* "CPU", "CUDA" … */
    unsigned node;    /* its memory */
};

struct orr_script_task {
    uint64_t id;
    const char *name; /* lent */
    int priority;
    unsigned naccesses;
};

struct orr_script_access {
    uint64_t data; /* number of what is accessed */
    uint64_t bytes;
    bool reads, writes;
    uint64_t valid, coming; /* bit n: memory node n has, or gets, the value */
};

struct orr_script_range {
    int min, max;
};

/* What a script may ask. µs and bytes. Jobs are those that were pushed and have not
 * ended. */
struct orr_script_host {
    struct orr_sched *sched;
    unsigned nworkers, nnodes;
    const struct orr_script_worker *workers; /* lent */
    unsigned seed; /* of the script's random numbers */
    double (*now)(struct orr_sched *sched);
    bool (*is_idle)(struct orr_sched *sched, unsigned worker);
    void (*describe)(struct orr_job *job, struct orr_script_task *ret);
    void (*look_at)(const struct orr_job *job, unsigned i,
                    struct orr_script_access *ret);
    bool (*can_run)(struct orr_sched *sched, struct orr_job *job,
                    unsigned worker);
    /* NaN: not known. */
    double (*length)(struct orr_sched *sched, struct orr_job *job,
                     unsigned worker);
    double (*transfer)(struct orr_sched *sched, const struct orr_job *job,
                       unsigned worker);
    uint64_t (*missing)(struct orr_sched *sched, const struct orr_job *job,
                        unsigned worker);
    void (*prefetch)(struct orr_sched *sched, struct orr_job *job,
                     unsigned worker);
    double (*copy)(struct orr_sched *sched, unsigned from, unsigned to,
                   uint64_t bytes);
};

/* Which workers a push wakes, unless it names one by its number. */
enum { ORR_SCRIPT_WAKE_ALL = -1, ORR_SCRIPT_WAKE_ONE = -2 };

/* The module's table. Errors: -EINVAL when the script failed: its traceback is on
 * standard error, and the message says what happened, and in which line. */
struct orr_script_ops {
    /* Runs the file; `host` is lent until close. *range, the priorities that tasks may
     * have, is left alone if the script does not say. Also -ENOENT, -ENOMEM. */
    int (*open)(const char *path, const struct orr_script_host *host,
                struct orr_script_range *range, struct orr_script **ret,
                struct orr_error *err);
    void (*close)(struct orr_script *script);
    int (*push)(struct orr_script *script, struct orr_job *job, int *ret_wake,
                struct orr_error *err);
    /* *ret: a job that was pushed and not popped, or NULL. */
    int (*pop)(struct orr_script *script, unsigned worker, struct orr_job **ret,
               struct orr_error *err);
    int (*started)(struct orr_script *script, struct orr_job *job,
                   unsigned worker, struct orr_error *err);
    /* The job is known no more. */
    int (*ended)(struct orr_script *script, struct orr_job *job,
                 unsigned worker, struct orr_error *err);
};

/* Whether a policy's name is that of a script: it ends in .py. */
bool orr_script_is_one(const char *name);

/* A policy's table, for the script `path`: it is read when the policy starts. Owned by
 * the caller, for orr_script_free. Errors: -ENOMEM. */
int orr_script_new(const char *path, const struct orr_sched_ops **ret,
                   struct orr_error *err);

/* Other tables, and NULL, are left alone. */
void orr_script_free(const struct orr_sched_ops *ops);
