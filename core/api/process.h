/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/process.h - what a process has once, whatever programs and runs are in it
 * (core/exec/program.h): memory that is freed after starpu_shutdown, and constants.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "core/device/pinned.h"

struct orr_folded;
struct orr_policy_names;

struct orr_process {
    /* Names of the built-in policies (policy.c); made once, never freed. */
    _Atomic(struct orr_policy_names *) policies;
    struct orr_pinned pinned; /* main memory that drivers have pinned */
    /* Allocations that map one file again and again (fold.c). */
    pthread_mutex_t fold_lock; /* guards the rest; held for a few maps */
    int fold_fd;               /* 0: none yet */
    size_t fold_size;          /* of the file, bytes */
    struct orr_folded *folded; /* owned */
};

/* The one of this process. Any thread. */
struct orr_process *orr_process(void);
