/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/reduction.h - values that tasks contribute to side by side.
 *
 *   contributions -(another access claims the handle)-> combination -> value
 *
 * A phase begins with a contribution and ends with the combination. During it each
 * worker that contributes has a partial of its own (private.h), which the init codelet
 * has begun. A partial has a value from then on to the phase's end; in between it may
 * be written back to main memory like any other only copy. The handle's own value, if
 * it has one, stays as it is. Then the redux codelet adds all up, in tasks like others
 * (core/data/combine.c). The application's init codelet also makes the first value of
 * data that are read before they are written: in the turn of the reader
 * (first_value.c); for a reader without order when it claims the data, as a combination
 * of nothing (claim.c).
 */
#pragma once

#include "core/data/handle.h"

/* Whether some task will have written the handle before what is submitted now:
 * only then it can be read. */
enum orr_beginning {
    ORR_BEGINNING_NONE,
    ORR_BEGINNING_COMING, /* a thread is submitting the init codelet */
    ORR_BEGINNING_MADE,
    ORR_BEGINNING_INHERITED, /* of a part: as for the whole, plan.h */
};

/* What a handle has in addition if tasks contribute to it, or if a codelet makes its
 * value when it is first read. */
struct orr_reduction {
    struct starpu_codelet *redux; /* [main] borrowed; NULL: no contributions */
    struct starpu_codelet *init;  /* [main] borrowed; NULL: none either, and no
                                   * value before the first write */
    void *redux_arg;              /* [main] of the combining tasks */
    void *init_arg;               /* [main] of the init codelet's calls */
    atomic_uchar beginning;       /* enum orr_beginning */
    unsigned npartials;           /* [handle lock] workers that have contributed
                                   * in this phase */
    bool hurried; /* [handle lock] the memory of the partials is needed: the combination
                   * was asked for */
};

/* Sets the codelets of the handle, and of its pieces if it is partitioned.
 * Errors: -ENOMEM. */
int orr_handle_set_reduction(struct orr_handle *handle,
                             struct starpu_codelet *redux, void *redux_arg,
                             struct starpu_codelet *init, void *init_arg);

/* A piece of partitioned data is reduced as the whole is. Errors: -ENOMEM. */
int orr_handle_inherit_reduction(struct orr_handle *child,
                                 const struct orr_handle *parent);

/* --- contributions --- */

/* A worker has begun its partial: it is about to run its first contribution of
 * the phase, which gives the partial its value (core/loop/kernel.c). No lock
 * held. */
void orr_handle_count_partial(struct orr_handle *handle);
/* Takes that back: the partial was not made after all. */
void orr_handle_uncount_partial(struct orr_handle *handle);

/* There are none any more: they were combined, or the handle ends. */
void orr_handle_forget_partials_locked(struct orr_handle *handle)
    ORR_REQUIRES(handle->lock);

/* Whether contributions have not been combined yet. */
static inline bool
orr_handle_has_partials_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    return handle->reduction && handle->reduction->npartials > 0;
}

bool orr_handle_has_partials(struct orr_handle *handle);

/* --- combinations (core/data/combine.c) --- */

/* Combines the partials into the handle, which is claimed exclusively and in
 * use for that (claim.c has seen to both), and gives it back when that is done;
 * without partials and a value it gets its first one. `priority` is that of the
 * tasks. No lock held. Does not block. */
void orr_handle_combine(struct orr_handle *handle, int priority);

/* Jobs wait for the node's memory: combines the reductions that have partials there,
 * which leave then; those whose handles are locked just now are left out. Returns
 * whether there were any. No lock held. Does not block. */
bool orr_node_combine(struct orr_runtime *rt, unsigned node);

/* --- the first value (core/data/first_value.c) --- */

/* The handle has no value, and no access before the next one makes one. */
void orr_handle_forget_beginning(struct orr_handle *handle);

/* To be called when a write or a contribution enters the handle's order. */
static inline void orr_handle_note_beginning(struct orr_handle *handle)
{
    if (handle->reduction)
        atomic_store_explicit(&handle->reduction->beginning, ORR_BEGINNING_MADE,
                              memory_order_release);
}

/* Before the job, whose accesses are filled in, enters any order: submits the init
 * codelet for each datum that it reads in order and that no task will have written by
 * then. Errors: -ENOMEM, -ENODEV; then the job has no value to read. Does not block. */
int orr_job_begin_data(struct orr_runtime *rt, struct orr_job *job);

/* Whether the access reads a value that only the init codelet can make. */
static inline bool orr_access_lacks_value_locked(const struct orr_handle *handle,
                                                 uint32_t mode)
    ORR_REQUIRES(handle->lock)
{
    return mode & STARPU_R && !handle->valid && handle->reduction &&
           handle->reduction->init;
}

/* As orr_job_begin_data, for one handle whose value something else than a job is going
 * to read. */
int orr_handle_begin(struct orr_runtime *rt, struct orr_handle *handle);
