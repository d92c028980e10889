/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/buffers.h - collecting the handles of a task one by one: room for
 * them, and modes that are set in the codelet or must agree with it. One thread
 * per task.
 */
#pragma once

#include <starpu_task.h>

struct orr_buffers {
    const char *call;          /* named in messages */
    struct starpu_codelet *cl; /* may be NULL: then no handle fits */
    struct starpu_task *task;
    int n;         /* handles given so far */
    int allocated; /* length of the task's dyn_ arrays, 0 = none */
};

/* Starts a task's handles. Borrows all. */
void orr_buffers_init(struct orr_buffers *b, const char *call,
                      struct starpu_codelet *cl, struct starpu_task *task);

/* Adds one handle with its mode; STARPU_NONE adds nothing. Handles beyond the
 * codelet's number are only counted. -EINVAL after a message: no handle, or
 * another mode than the codelet's; -ENOMEM. */
int orr_buffers_add(struct orr_buffers *b, int mode,
                    starpu_data_handle_t handle);

/* Add several: with the codelet's modes, or each with its own. */
int orr_buffers_add_array(struct orr_buffers *b, int n,
                          starpu_data_handle_t *handles);
int orr_buffers_add_descrs(struct orr_buffers *b, int n,
                           const struct starpu_data_descr *descrs);

/* Checks the number of handles: 0, or -EINVAL after a message. */
int orr_buffers_finish(struct orr_buffers *b);
