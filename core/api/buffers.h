/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/buffers.h - collecting the handles of a task one by one: room for
 * them, and modes that are set in the codelet or must agree with it. One thread
 * per task.
 */
#pragma once

#include <starpu_task.h>

/* At first call, codelet and task are set, the rest is 0. Borrows all. */
struct orr_buffers {
    const char *call;          /* named in messages */
    struct starpu_codelet *cl; /* may be NULL: then no handle fits */
    struct starpu_task *task;
    int n;         /* handles given so far */
    int allocated; /* length of the task's dyn_ arrays, 0 = none */
};

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

/* The mode that the codelet has for its buffer number n, for a list that names none; of
 * one that it has not, STARPU_R. -EINVAL, after a message: its mode is not set, or there
 * is no codelet. */
int orr_buffers_known_mode(const char *call, struct starpu_codelet *cl, int n);

/* Checks the number of handles when all are there: 0, or -EINVAL after a message. */
int orr_buffers_check_number(const struct orr_buffers *b);
static inline int orr_buffers_check(const struct orr_buffers *b)
{
    return b->cl && b->cl->nbuffers == b->n ? 0 : orr_buffers_check_number(b);
}
