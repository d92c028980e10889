/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/executing.h - the tasks that a worker executes at a moment of a
 * trace: several where kernels wait and others are executed meanwhile. The one
 * that began or went on last is what it does. One thread.
 */
#pragma once

#include "core/observe/timeline.h"

struct orr_executing {
    struct orr_executed *tasks; /* by when they began or went on */
    unsigned n;
    unsigned nsuspended; /* of them */
};

void orr_executing_done(struct orr_executing *executing);

/* Takes the moment in, of a task or a suspension of that worker's. *ret_changed:
 * what the worker does is another task from then on, or none. Errors: -ENOMEM. */
int orr_executing_step(struct orr_executing *executing,
                       const struct orr_moment *moment, bool *ret_changed);

/* The task that the worker does; NULL: none, or all are suspended. */
const struct orr_trace_task *
orr_executing_current(const struct orr_executing *executing);
