/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/data.h - what the application does with data beside submitting
 * tasks: acquire, release, unregister, partition.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

#include "core/data/handle.h"

/* Whether `call` can use the handle: -EINVAL, with a message, if it is NULL or
 * partitioned. */
int orr_data_check(const struct orr_handle *handle, const char *call);

/* The public calls that acquire data, for messages. */
enum orr_acquire_call {
    ORR_ACQUIRE_OWN, /* the runtime's own */
    ORR_ACQUIRE,
    ORR_ACQUIRE_ON_NODE,
    ORR_ACQUIRE_TRY,
    ORR_ACQUIRE_ON_NODE_TRY,
    ORR_ACQUIRE_CB,
    ORR_ACQUIRE_ON_NODE_CB,
    ORR_ACQUIRE_CB_CONSISTENCY,
    ORR_ACQUIRE_ON_NODE_CB_CONSISTENCY,
    ORR_ACQUIRE_SYNC_JOBIDS,
    ORR_ACQUIRE_TO_COPY,
    ORR_ACQUIRE_FOR_TASK,
    ORR_ACQUIRE_FETCH, /* hints that wait are acquisitions, too */
    ORR_ACQUIRE_PREFETCH,
    ORR_ACQUIRE_PREFETCH_PRIO,
    ORR_ACQUIRE_IDLE_PREFETCH,
    ORR_ACQUIRE_IDLE_PREFETCH_PRIO,
    ORR_ACQUIRE_MESSAGE, /* core/data/message.h */
};

/* The name of the public call; "data acquisition" for the runtime's own ones. */
const char *orr_acquire_name(enum orr_acquire_call call);

/* Blocks until the earlier tasks that conflict are done and the value is on the node,
 * for reading and/or writing as `mode` says; node < 0: the value stays where it is.
 * -EDEADLK where blocking is refused, -EINVAL with a message. */
int orr_data_acquire(struct orr_runtime *rt, enum orr_acquire_call call,
                     struct orr_handle *handle, int node,
                     enum starpu_data_access_mode mode);

/* As orr_data_acquire, where the application does not look at the value: no warning
 * that a simulation did not compute it. */
int orr_data_bring(struct orr_runtime *rt, enum orr_acquire_call call,
                   struct orr_handle *handle, int node,
                   enum starpu_data_access_mode mode);

/* As orr_data_bring for reading; data that have no value then are brought nowhere. */
int orr_data_bring_if_any(struct orr_runtime *rt, struct orr_handle *handle,
                          int node);
/* As orr_data_bring for reading the whole or the parts of a planned partition, as the
 * plan stands now; it is not switched. */
int orr_data_bring_as_is(struct orr_runtime *rt, struct orr_handle *handle,
                         int node);

/* Brings the value to the node after the tasks submitted before that write it, without
 * waiting; data that have no value then are brought nowhere. -EINVAL with a message,
 * -ENOMEM. */
int orr_data_bring_later(struct orr_runtime *rt, struct orr_handle *handle,
                         int node);

/* Same as orr_data_acquire if no task or acquisition that was submitted before uses the handle, not
 * even to read, and none without order has it; else -EAGAIN. Waits for copies
 * only. Several that have succeeded may read at once. */
int orr_data_try_acquire(struct orr_runtime *rt, enum orr_acquire_call call,
                         struct orr_handle *handle, int node,
                         enum starpu_data_access_mode mode);

/* How an acquisition is made, and its number. */
struct orr_acquisition {
    enum orr_acquire_call call;
    void (*callback)(void *);
    void (*before)(void *arg, int *node, enum starpu_data_access_mode mode);
    void *arg;       /* of both functions; `before` may be NULL: see the public
                      * call */
    bool sequential; /* false: the order is left alone */
    bool numbered;   /* the caller wants … */
    long job;        /* result: … its number, -1 without order */
    int priority;
    /* bytes that the callback will copy: simulated, it comes when the application has
     * had the time for that; 0: none */
    size_t copied;
    size_t fresh; /* of these, into memory that nobody has used */
};

/* Does not wait: how->callback(arg) is called when the data are acquired; it, or any
 * later call, releases them. Borrows *how for the call. */
int orr_data_acquire_with(struct orr_runtime *rt, struct orr_handle *handle,
                          int node, enum starpu_data_access_mode mode,
                          struct orr_acquisition *how);

/* The acquisition on the node (as it was given) goes on with this mode. One for writing
 * that goes on for reading lets other readers start, writers wait. Errors, without a
 * message: -ENOENT, nothing is acquired there; -EACCES, it was acquired for reading and
 * is to be written. */
int orr_data_share(struct orr_runtime *rt, struct orr_handle *handle, int node,
                   enum starpu_data_access_mode mode);

/* Ends an acquisition on the node, as it was given; -ENOENT if there is none. */
int orr_data_release(struct orr_runtime *rt, struct orr_handle *handle,
                     int node);

/* Waits for the tasks that use the handle, brings the value home if
 * `coherent` and there is a home, and frees the handle. Blocks. */
void orr_data_unregister(struct orr_runtime *rt, struct orr_handle *handle,
                         bool coherent);

/* Same without waiting: it happens when the tasks are done. */
void orr_data_unregister_submit(struct orr_runtime *rt,
                                struct orr_handle *handle);

/* Forgets the value, and frees memory of the library's own unless that is kept: the
 * next access must be a write. Blocks / does not. */
void orr_data_invalidate(struct orr_runtime *rt, struct orr_handle *handle,
                         bool keeps_memory);
void orr_data_invalidate_submit(struct orr_runtime *rt,
                                struct orr_handle *handle, bool keeps_memory);

/* After the tasks submitted so far: writes the value back when the links are
 * idle and makes the replicates the first to be evicted. */
void orr_data_wont_use(struct orr_runtime *rt, struct orr_handle *handle);

/* Begins to combine what tasks that have ended contributed to the handle. Does
 * not block. */
void orr_data_combine(struct orr_runtime *rt, struct orr_handle *handle);

/* The same before tasks that were submitted already, as soon as none of them is
 * running. */
void orr_data_combine_early(struct orr_runtime *rt, struct orr_handle *handle);

/* Calls action(handle) once the tasks submitted so far that conflict with `mode` are
 * done, without fetching anything. Without memory it is never called: this is for what
 * may be left undone. Does not block. */
void orr_data_call_after(struct orr_runtime *rt, struct orr_handle *handle,
                         uint32_t mode, void (*action)(void *));

/* How many parts the filter makes of the handle. */
unsigned orr_filter_count(struct orr_handle *handle,
                          struct starpu_data_filter *filter);

/* The n parts, in an array that the caller owns, without memory or value; their
 * interfaces say where they lie in the memory that the handle has. NULL without
 * memory. */
struct orr_handle **orr_handle_children(struct orr_handle *handle,
                                        struct starpu_data_filter *filter,
                                        unsigned n);

/* Splits the handle; afterwards tasks use the children. Blocks. On an error the handle
 * is as before: -EINVAL with a message, -ENOMEM, -EDEADLK. */
int orr_data_partition(struct orr_runtime *rt, const char *call,
                       struct orr_handle *handle,
                       struct starpu_data_filter *filter);

/* Joins the children on the gathering node; by way of main memory where they cannot be
 * joined there. Blocks. */
void orr_data_unpartition(struct orr_runtime *rt, struct orr_handle *handle,
                          unsigned gathering_node);
