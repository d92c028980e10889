/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/handles.h - handles by the address of their data: how tasks with depend
 * clauses find those that other tasks have used. Dependencies are between siblings:
 * the threads of a team have one table, and each explicit task has its own for what
 * it creates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <starpu.h>

#include "core/base/lock.h"

struct orr_omp_entry;

struct orr_omp_handles {
    struct orr_lock lock;           /* rank ORR_RANK_RUNTIME */
    size_t n, nbuckets;             /* [lock] */
    struct orr_omp_entry **buckets; /* [lock] newest first */
    struct orr_omp_entry *all;      /* [lock] newest first */
};

void orr_omp_handles_init(struct orr_omp_handles *handles);

/* Empties the table and frees it. No other thread uses it any more; the caller need not
 * be a context. */
void orr_omp_handles_done(struct orr_omp_handles *handles);

/* Enters a handle under an address. -ENOMEM: it is as before. */
int orr_omp_handles_add(struct orr_omp_handles *handles, const void *address,
                        starpu_data_handle_t handle);

/* The same, unless another thread has entered one meanwhile; `handle` is then that one, and
 * the caller's is not entered. */
int orr_omp_handles_add_first(struct orr_omp_handles *handles, const void *address,
                              starpu_data_handle_t *handle);

/* The one that was entered last under the address, or NULL. */
starpu_data_handle_t orr_omp_handles_find(struct orr_omp_handles *handles,
                                          const void *address);

/* Those who read a datum use it together, whether or not as a set (inoutset); but readers
 * and a set not with each other. */
enum orr_omp_sharing { ORR_OMP_ALONE, ORR_OMP_READS, ORR_OMP_IN_SET };

/* The same for a use of the data by a task that `creator` is about to create. `ret_parts`:
 * between it and those before it has to come a task that writes. */
starpu_data_handle_t orr_omp_handles_use(struct orr_omp_handles *handles,
                                         const void *address, enum orr_omp_sharing sharing,
                                         const void *creator, bool *ret_parts);

/* Takes the handle out, whatever its addresses; false: it is not there. */
bool orr_omp_handles_remove(struct orr_omp_handles *handles,
                            starpu_data_handle_t handle);

/* Unregisters all handles, in the order in which they were entered, and empties the
 * table, which no other thread uses. Waits for tasks that use the data. */
void orr_omp_handles_unregister(struct orr_omp_handles *handles);

/* How many entries there are. */
size_t orr_omp_handles_count(struct orr_omp_handles *handles);
