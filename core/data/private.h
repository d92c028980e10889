/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/private.h - a worker's own data: a handle of the same interface for each
 * worker that has used some handle as scratch memory, or contributed to its value. It
 * has no turns and no claims: only the worker's tasks use it, one after the other. For
 * the rest it is a handle like others, so that its memory is counted, waited for and
 * evicted as theirs is. Scratch never has a value and is thrown away; a partial has one
 * and is written back to main memory.
 */
#pragma once

#include "core/data/handle.h"

enum orr_private {
    ORR_PRIVATE_SCRATCH, /* STARPU_SCRATCH: what a task needs while it runs */
    ORR_PRIVATE_PARTIAL, /* STARPU_REDUX: the worker's part of a reduction */
    ORR_PRIVATE_KINDS,
};

/* The worker's own datum, made at the first use. Only in the worker's context:
 * calls the interface's methods. No lock held. NULL without memory. The handle
 * keeps it. */
struct orr_handle *orr_private_get(struct orr_handle *handle,
                                   enum orr_private kind, unsigned worker);

/* The same if it was made before, else NULL. Another context than the worker's holds
 * the handle's lock, so that the worker is not making it meanwhile. */
struct orr_handle *orr_private_find(const struct orr_handle *handle,
                                    enum orr_private kind, unsigned worker);

/* The handle is being freed: each of them is freed, too, by its last user if a
 * transfer uses it. Not in the machine's own context. No lock held. */
void orr_privates_free(struct orr_handle *handle);
