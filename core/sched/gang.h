/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/gang.h - the workers that execute one task together. Each of them, a
 * member, gets an alias of the task: a job without data that names the gang, and a copy
 * of the task for the hooks of policies. A member that pops its alias has joined, and
 * waits in its loop for the other members only. When all have joined the first member
 * does with the task what any worker does: fetches its data, runs its kernel, ends it.
 * The others run their share meanwhile (STARPU_SPMD), or lend their processors
 * (STARPU_FORKJOIN). The first member is the last to leave.
 *
 * A gang's stages, set by the member or event beside each arrow:
 *
 *   FORMING -last to join-> FORMED -first-> FETCHING -first, data there->
 *   RUNNING -last kernel to end-> OVER
 *
 * No deadlock. Gangs are ordered by priority, then number. A member of one that is
 * forming gives its alias back to its list when there is one of a gang that comes
 * before (or anything of higher priority), and a list has aliases in that order.
 * Of the gangs that are not formed take the first one: each of its aliases is in a
 * list of, or was taken by, a worker that executes something that ends, or waits
 * in a gang that comes later and gives that up. So it is formed. Nothing is
 * fetched before, hence one that is forming holds no memory that others wait for.
 * A worker whose gang is formed takes no other job: it is not put aside for want
 * of memory. What a policy of the application keeps in queues of its own is
 * its own affair.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/exec/runtime.h"

struct orr_combined;
struct orr_job;

enum orr_gang_stage {
    ORR_GANG_FORMING,
    ORR_GANG_FORMED,
    ORR_GANG_FETCHING,
    ORR_GANG_RUNNING,
    ORR_GANG_OVER,
};

struct orr_gang_place {
    struct orr_job *alias;     /* [const] once pushed; owned */
    struct orr_worker *worker; /* [lock] the member that has joined, or NULL */
    bool given_back;           /* [lock] the alias was popped before */
    bool begun;                /* [owner] the member knows that they run */
};

/* [lock]: the runtime's gangs_lock. */
struct orr_gang {
    struct orr_job *job; /* [const] what they execute */
    uint64_t number;     /* [const] in the order of making */
    unsigned size;       /* [const] */
    int combined;        /* [const] number of their combined worker, -1: none */
    bool all_run;        /* [const] the kernel is run by each, not by the first */
    struct orr_list
        queue; /* [lock] core/sched/recruit.h: while it waits for members, … */
    unsigned ngiven;     /* [lock] … aliases that were given to such … */
    unsigned node;       /* [lock] … of this memory node, once there is one */
    size_t memory;       /* [const] bytes that it takes there */
    unsigned nmade;      /* [const] once pushed; aliases there are */
    unsigned njoined;    /* [lock] */
    atomic_uint stage;   /* enum orr_gang_stage */
    unsigned nrunning;   /* [lock] kernels that have not ended */
    atomic_uint nstaying; /* members that have not left */
    double end;           /* [lock] µs, of the last kernel */
    struct orr_gang_place places[]; /* size of them */
};

/* --- making one; any context, no lock held --- */

/* An alias is about to be put into the worker's list. */
typedef void (*orr_gang_told_t)(struct orr_job *alias,
                                struct orr_worker *worker, void *arg);

/* What a gang is to be; zero is the default. */
struct orr_gang_request {
    unsigned size;
    const int *members;                  /* worker numbers, for orr_gang_push */
    const struct orr_combined *combined; /* whose members they are, or NULL */
    bool each_alone; /* to the kernel it looks as if it had one processor */
    bool
        joins; /* workers join by themselves, whatever the codelet's type is: the
                      * first runs the kernel, the others lend their processors */
    orr_gang_told_t told; /* called for each alias, or NULL */
    void *arg;
};

/* Makes a gang, without aliases yet, for a job that is ready and has none. NULL without
 * memory. */
struct orr_gang *orr_gang_new(struct orr_runtime *rt, struct orr_job *job,
                              const struct orr_gang_request *request);

/* The next alias of at most `size`: its task is for a policy, which may push it to any
 * worker; the worker that runs it frees it. NULL without memory, or when all were
 * made. */
struct orr_job *orr_gang_alias(struct orr_gang *gang);

/* Takes the gang, none of whose aliases was pushed, apart. */
void orr_gang_unmake(struct orr_gang *gang);

/* Makes a gang of the request's members, in this order, and puts its aliases in
 * their lists at once; the job, whose implementation is set, belongs to them then.
 * Errors: -ENOMEM. */
int orr_gang_push(struct orr_runtime *rt, struct orr_job *job,
                  const struct orr_gang_request *request);

/* The same with the members of a combined worker. */
int orr_gang_push_combined(struct orr_runtime *rt, struct orr_job *job,
                           const struct orr_combined *combined,
                           orr_gang_told_t told, void *arg);

/* Whether the alias goes before `other`, of equal priority, in a worker's list, though
 * it comes later. */
bool orr_gang_goes_before(const struct orr_job *alias,
                          const struct orr_job *other);

/* --- its members, in their worker's context, no lock held --- */

/* The worker has popped the alias. */
void orr_gang_join(struct orr_runtime *rt, struct orr_worker *worker,
                   struct orr_job *alias);

/* What a member has to do. */
enum orr_gang_turn {
    ORR_GANG_WAITS,   /* nothing */
    ORR_GANG_GOES_ON, /* to look again: it has left, or has done something */
    ORR_GANG_FETCHES, /* it is the first: to fetch the data of the gang's job */
    ORR_GANG_RUNS,    /* to run its share, then orr_gang_ended */
    ORR_GANG_ENDS,    /* to finish the job, then orr_gang_free */
};
enum orr_gang_turn orr_gang_turn(struct orr_runtime *rt,
                                 struct orr_worker *worker);

/* The first member starts the kernel: its data are there. */
void orr_gang_start(struct orr_runtime *rt, struct orr_gang *gang);

/* To be called when a member's kernel has ended. */
void orr_gang_ended(struct orr_runtime *rt, struct orr_gang *gang, double end);

/* Frees the gang, when all members have left it. */
void orr_gang_free(struct orr_gang *gang);

/* The alias of the worker, which is a member; its rank. */
struct orr_job *orr_gang_alias_of(struct orr_gang *gang,
                                  const struct orr_worker *worker);
unsigned orr_gang_rank(const struct orr_gang *gang,
                       const struct orr_worker *worker);

/* Whether the members' processors are in use. */
static inline bool orr_gang_runs(const struct orr_gang *gang)
{
    return atomic_load_explicit(&gang->stage, memory_order_acquire) >=
           ORR_GANG_RUNNING;
}

/* The calling thread, that of the first member, may use the processors of all. Where
 * that cannot be done it stays on its own. */
void orr_gang_bind_all(struct orr_runtime *rt, const struct orr_gang *gang);
/* The worker's own again. */
void orr_gang_bind_one(struct orr_runtime *rt, struct orr_worker *worker);
