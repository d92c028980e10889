/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/schedule.h - files of schedules: which worker executes each task, in
 * which order. Lines, of which # begins a comment:
 *
 *     orrery schedule 1          the first line
 *     policy NAME                all else is left to that policy; or, per task
 *     TASK WORKER KERNEL         in the order in which a worker takes its own
 *
 * TASK is the task's number in the order of submission, from 1, of those that have
 * a codelet; WORKER the worker's number; KERNEL the name of its model, else of its
 * codelet. No threads.
 */
#pragma once

#include <stdint.h>

#include "core/base/error.h"

struct orr_schedule_task {
    uint32_t place; /* in the order of the file, from 1; 0: not in it */
    uint32_t worker;
    char *kernel; /* owned */
};

struct orr_schedule {
    char *policy;                    /* owned, or NULL */
    struct orr_schedule_task *tasks; /* owned, by number - 1 */
    uint32_t ntasks;                 /* the greatest number */
};

/* Errors, with a message that names file and line: -ENOENT and others of fopen,
 * -EINVAL, -ENOMEM. */
int orr_schedule_read(const char *file, struct orr_schedule *ret,
                      struct orr_error *err);
void orr_schedule_done(struct orr_schedule *schedule);
