/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/nest.h - a nest: what a task that submits others from its kernel is to
 * these. It is made with the first of them, and stays until they, and the tasks that
 * they submit, have ended.
 *
 * While its task waits inside of the kernel, the data that it has are lent to those
 * that were submitted in the nest or further inside: core/data/lend.c.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/job/turns.h"

struct orr_access;
struct orr_handle;
struct orr_runtime;

/* A datum that the nest's task has, or a part of a planned partition of one, for those
 * inside. Parts always lend: a switch, which needs the whole, comes before the jobs
 * that use parts. */
struct orr_scope {
    struct orr_handle *handle; /* [const] NULL: it is not lent */
    struct orr_scope *whole;   /* [const] of a part: whose task this is; else NULL */
    struct orr_access *access; /* [handle lock] the task's; NULL: it is over */
    uint16_t mode;             /* [const] the most that is lent */
    bool used;         /* [handle lock] an access was granted since the task had it */
    bool paused;       /* [handle lock] the task's writing is interrupted */
    unsigned nown;     /* [handle lock] acquisitions of the task itself … */
    atomic_uint npieces; /* … and of parts of planned partitions of the datum, and
                          * partitions that it has asked for */
    struct orr_turns turns; /* [handle lock] of accesses inside; closed while the task
                             * does not wait */
    struct orr_list plans; /* [plans lock, nests lock] of struct orr_inner_plan: what
                            * cuts it, or its parts, inside */
    unsigned nparts_used;  /* [nests lock] accesses in the orders of parts */
    bool closed;           /* [plans lock] its parts are used outside again */
};

struct orr_inner_part {
    struct orr_scope scope;
    uint64_t id; /* [const] of its handle, which may end before */
};

/* A planned partition as it is used inside of a task that has the whole, or data of
 * which the whole is a part. Outside of the task the whole counts as used meanwhile,
 * whatever was submitted since: core/data/plan_inner.c. */
struct orr_inner_plan {
    struct orr_list link;   /* [plans lock, nests lock] of its scope */
    struct orr_list twin;   /* [plans lock] of its plan, inside of other tasks */
    struct orr_plan *plan;  /* [plans lock] NULL: it was cleaned */
    int state;              /* [plans lock] enum orr_plan_state */
    bool used;              /* [plans lock, nests lock] its parts are, or it is
                             * about to change */
    bool asked;             /* [plans lock] the task itself has asked for its parts:
                             * it does not take the whole back before it says so */
    unsigned n;             /* [const] */
    struct orr_inner_part parts[];
};

struct orr_nest {
    atomic_uint refs;
    atomic_bool over;      /* its kernel has ended */
    bool lends;            /* [const] some scope is in it or in one around */
    bool counts;           /* [runtime's lock] its task waits for tasks by their
                            * number: core/job/count.h */
    uint8_t sched_ctx;     /* [const] the task's */
    uint16_t depth;        /* [const] nests around it, and it */
    bool takes_back;       /* [owner] its task gets its data back */
    struct orr_nest *up;   /* [rt->tasks->nests_lock] referenced: the nest in which its
                            * task was submitted, or the next one around that was not
                            * over; NULL: outside */
    unsigned nscopes;      /* [const] */
    struct orr_scope scopes[];
};

/* The nest around that of a task that was submitted in `around`, or outside (NULL): the
 * first one that is not over. Referenced. */
struct orr_nest *orr_nest_find_up(struct orr_runtime *rt,
                                  struct orr_nest *around);

void orr_nest_ref(struct orr_nest *nest);
/* Accepts NULL. */
void orr_nest_unref(struct orr_nest *nest);

/* The kernel of the nest's task has ended. */
void orr_nest_end(struct orr_nest *nest);

/* How many tasks of a scheduling context are around the nest, its own included, but
 * those that wait for tasks by their number. The runtime's lock is held. */
unsigned orr_nest_count_around(struct orr_runtime *rt,
                               const struct orr_nest *nest,
                               unsigned sched_ctx);

/* What the innermost task around has of the datum, the nest's own included; NULL:
 * none has it. With the handle's lock, which the result is for. */
struct orr_scope *orr_nest_scope(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle);

/* The innermost scope of the datum, or of it as a part, that lends as much as the
 * mode; NULL: none. An access enters it under the handle's lock, or lets it go by
 * orr_nest_leave. *ret_depth: the depth of its nest. */
struct orr_scope *orr_nest_enter(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle, uint32_t mode,
                                 uint16_t *ret_depth);

/* The same for a switch in the sequence of the scope `sequence`, which uses that scope
 * and parts of its data. */
struct orr_scope *orr_nest_switch(struct orr_runtime *rt, struct orr_nest *nest,
                                  const struct orr_handle *handle,
                                  const struct orr_scope *sequence,
                                  uint16_t *ret_depth);

/* The scope that an access has entered whose nest has that depth. */
struct orr_scope *orr_nest_entered(struct orr_runtime *rt,
                                   struct orr_nest *nest,
                                   const struct orr_handle *handle,
                                   uint16_t depth);

void orr_nest_leave(struct orr_runtime *rt, struct orr_scope *scope);
