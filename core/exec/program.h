/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/exec/program.h - what a program has beside its runs: settings that may be made before
 * starpu_init, numbers that its static data keep. A process is one program, unless it
 * simulates several ranks: each of these is one.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_api_state;
struct orr_setting;
struct starpu_sched_policy;

/* A call that is kept until a run begins: core/api/early.h. */
struct orr_early {
    struct orr_early *next;
    void (*call)(uint64_t about, unsigned n, uint64_t *more);
    uint64_t about;
    unsigned n;
    uint64_t more[];
};

struct orr_program {
    pthread_mutex_t lock;      /* guards writing `users` and `ready` … */
    pthread_cond_t changed;    /* … whose changes `changed` signals; not held during a
                                * run */
    atomic_uint users;         /* starpu_init calls minus shutdowns; one while
                                * the first starts or the last stops */
    atomic_bool ready;         /* neither is under way */
    atomic_bool profiling;     /* as the application has set it: for runs to come, too */
    atomic_bool unordered;     /* default of data without sequential consistency, likewise */
    struct orr_early *early;   /* [lock] early.h */
    /* starpu_malloc_set_hooks: of the application, or NULL both. */
    _Atomic(int (*)(unsigned, void **, size_t, int)) malloc_hook;
    _Atomic(int (*)(unsigned, void *, size_t, int)) free_hook;
    atomic_size_t alignment;   /* of starpu_malloc, bytes; 0: the usual */
    atomic_int last_interface; /* of starpu_data_interface_get_next_id */
    struct starpu_sched_policy
        *user_policy; /* [main] of starpu_init, or NULL */
    atomic_bool replaying;              /* orrery_replay is at work … */
    _Atomic(pthread_t) replayer;        /* … on that thread … */
    const struct orr_setting *settings; /* [main] of its runs, before the environment's;
                                         * lent, or NULL */
    /* Of the layer above: core/remote.h. */
    _Atomic(void *) kept;
    void (*free_kept)(void *kept);
    int rank;    /* [const] its number, of a rank; messages name it */
    void *place; /* [const] what orr_remote_place (core/remote.h) answers, or NULL */
    /* What the API keeps for the present runtime (state.h). */
    _Atomic(struct orr_api_state *) state;
};

/* That of the caller: of the rank that its context belongs to, else of the process. */
struct orr_program *orr_program(void);

/* That of a rank, to which contexts may belong (orr_self->program); NULL without memory. It
 * is freed when none does. */
struct orr_program *orr_program_new(int rank, const struct orr_setting *settings,
                                    void *place);
void orr_program_free(struct orr_program *program);
