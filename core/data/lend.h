/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/lend.h - the data of a task that waits inside of its kernel, lent to
 * the tasks that it has submitted, and to those that these have.
 */
#pragma once

#include <stdbool.h>

#include "core/base/lock.h"
#include "core/data/handle.h"

struct orr_access;
struct orr_nest;
struct orr_runtime;
struct orr_scope;

/* The access, of a job inside of a task, enters the order of what a task around it
 * has and may lend. Returns false if none has: it belongs into the handle's order.
 * *ret_waits: whether its job has to wait. */
bool orr_lend_enter_locked(struct orr_handle *handle, struct orr_access *access,
                           bool *ret_waits) ORR_REQUIRES(handle->lock);

/* The same for an acquisition that does not wait: it enters, *ret_can, if it is the
 * task's own and nobody is there. */
bool orr_lend_try_locked(struct orr_handle *handle, struct orr_access *access,
                         bool *ret_can) ORR_REQUIRES(handle->lock);

/* One that is scoped leaves. Returns those that are granted now, as a chain. */
struct orr_access *orr_lend_leave_locked(struct orr_handle *handle,
                                         struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* The access of a task that has a nest leaves its handle's order, out of which it
 * is: who was not granted enters that. Returns those that need not wait there. */
struct orr_access *orr_lend_end_locked(struct orr_handle *handle,
                                       struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* Who has the datum of the task and those around it; NULL: none of them. */
const struct orr_job *orr_lend_find_user(struct orr_runtime *rt,
                                         const struct orr_job *job,
                                         struct orr_handle *handle);

/* The nest's task waits from now on; it does not any more, which may take until
 * others have ended. In its context. */
void orr_lend_begin(struct orr_runtime *rt, struct orr_nest *nest);
void orr_lend_end(struct orr_runtime *rt, struct orr_nest *nest);

/* The kernel is about to end: what was lent comes back before. */
void orr_lend_finish(struct orr_runtime *rt, struct orr_nest *nest);

/* A task acquires data; it has released them. While it has a part of a planned
 * partition of what it was given, that is not taken back as a whole. */
void orr_lend_acquire(struct orr_job *acquisition);
void orr_lend_release(const struct orr_job *acquisition);
