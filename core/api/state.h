/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/state.h - what only the public functions need of a runtime: views
 * of it in the interface's types, which applications and policies borrow.
 */
#pragma once

#include <starpu.h>

#include "core/base/lock.h"

/* An architecture as the interface shows it. */
struct orr_api_arch {
    struct orr_api_arch *next;
    unsigned comb;
    struct starpu_perfmodel_arch arch;
    struct starpu_perfmodel_device devices[];
};

/* Workers of which one may use the processors of all: sched_ctx_parallel.c. */
struct orr_api_booking {
    struct orr_api_booking *next;
    unsigned sched_ctx, n;
    int master; /* one of them */
    int ids[];
};

struct orr_api_energy;
struct orr_api_topology;

struct orr_api_state {
    struct orr_lock lock;                     /* rank ORR_RANK_RUNTIME */
    struct orr_api_arch *archs;               /* [lock] owned, never moved */
    struct orr_api_energy *energies;          /* [lock] owned, under way */
    struct orr_api_booking *bookings;         /* [lock] owned */
    void *policy_data; /* of "no scheduling context" */
    _Atomic(struct orr_api_topology *) topology; /* owned, or NULL (bind.c) */
    /* One per worker, for policies that lock their state of a worker. */
    starpu_pthread_mutex_t *mutexes; /* [const] */
    starpu_pthread_cond_t *conds;    /* [const] */
};

/* That of the present runtime, made at the first call. `call` is named when
 * there is no runtime or no memory, which ends the program. Lent until
 * starpu_shutdown. */
struct orr_api_state *orr_api_state(const char *call);

/* Gives up measurements that were never stopped; in energy.c. */
void orr_api_energy_free(struct orr_api_energy *first);

/* Ends what the functions about processors keep; in bind.c. NULL is allowed. */
void orr_api_topology_free(struct orr_api_topology *topology);

/* Frees it; the runtime has ended. */
void orr_api_state_drop(void);
