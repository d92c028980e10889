/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/memories.h - the nodes of main memory, as hwloc sees them:
 * who is near, and memory that lies there. One object per user; its functions
 * may be called by any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* A node of main memory. */
struct orr_memory {
    uint64_t bytes; /* 0: not known */
    unsigned ncpus; /* processors near it that this thread may use */
    int *cpus;      /* owned, the kernel's numbers */
};

struct orr_memories {
    unsigned n;              /* at least 1 */
    struct orr_memory *list; /* owned, in hwloc's logical order */
    void *topology;          /* hwloc's, or NULL in builds without */
};

/* Finds the nodes; HWLOC_SYNTHETIC and the like are honoured, nothing is bound
 * then. *ret is owned by the caller, who ends it with orr_memories_close().
 * Errors: -ENOMEM; -ENODEV with words. */
int orr_memories_open(struct orr_memories **ret, struct orr_error *err);
void orr_memories_close(struct orr_memories *memories);

/* Memory that will lie on node `node`, or anywhere if the system cannot bind.
 * Errors: -ENOMEM. */
int orr_memories_alloc(struct orr_memories *memories, unsigned node,
                       size_t size, uintptr_t *ret);
void orr_memories_free(struct orr_memories *memories, uintptr_t address,
                       size_t size);
