/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/process.h - what outlives runtimes: settings that may be made before
 * starpu_init, numbers that static data keep for the life of the process,
 * memory that is freed after starpu_shutdown. Everything else hangs off the
 * runtime.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/device/pinned.h"

struct orr_api_state;
struct orr_early;
struct orr_folded;
struct orr_policy_names;
struct orr_setting;
struct starpu_sched_policy;

struct orr_process {
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
    const struct orr_setting *settings; /* [main] … with these, or NULL */
    /* Names of the built-in policies (policy.c); made once, never freed. */
    _Atomic(struct orr_policy_names *) policies;
    /* What the API keeps for the present runtime (state.h). */
    _Atomic(struct orr_api_state *) state;
    struct orr_pinned pinned; /* main memory that drivers have pinned */
    /* Allocations that map one file again and again (fold.c). */
    pthread_mutex_t fold_lock; /* guards the rest; held for a few maps */
    int fold_fd;               /* 0: none yet */
    size_t fold_size;          /* of the file, bytes */
    struct orr_folded *folded; /* owned */
};

/* The one of this process. Any thread. */
struct orr_process *orr_process(void);
