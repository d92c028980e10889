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

/* The access, of a job inside of a task, enters the scope of the datum that a task
 * around it has and may lend. Returns false if none has it: the access belongs into the
 * handle's order. *ret_waits: whether its job has to wait. */
bool orr_lend_enter_locked(struct orr_handle *handle, struct orr_access *access,
                           bool *ret_waits) ORR_REQUIRES(handle->lock);

/* The same for an acquisition that does not wait: it enters, and *ret_can is true, if
 * it is the task's own and no other access is there. */
bool orr_lend_try_locked(struct orr_handle *handle, struct orr_access *access,
                         bool *ret_can) ORR_REQUIRES(handle->lock);

/* An access that has entered a scope leaves it. Returns the accesses that are granted
 * now, as a chain. */
struct orr_access *orr_lend_leave_locked(struct orr_handle *handle,
                                         struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* The access of a task that has a nest leaves its handle's order, and its scope is
 * over: accesses that were not granted in the scope enter the next one around it, or
 * the handle's order. Returns those that need not wait there. */
struct orr_access *orr_lend_end_locked(struct orr_handle *handle,
                                       struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* Which of the task and those around it has the datum; NULL: none of them. */
const struct orr_job *orr_lend_find_user(struct orr_runtime *rt,
                                         const struct orr_job *job,
                                         struct orr_handle *handle);

/* _begin: the nest's task waits from now on. _end: it does not any more, which may take
 * until jobs inside have ended. In its context. */
void orr_lend_begin(struct orr_runtime *rt, struct orr_nest *nest);
void orr_lend_end(struct orr_runtime *rt, struct orr_nest *nest);

/* The kernel is about to end: what was lent comes back before. */
void orr_lend_finish(struct orr_runtime *rt, struct orr_nest *nest);

/* A task acquires data, or has released them. While it has acquired a part of a planned
 * partition of data that it was given, these are not taken back as a whole. */
void orr_lend_acquire(struct orr_job *acquisition);
void orr_lend_release(const struct orr_job *acquisition);
