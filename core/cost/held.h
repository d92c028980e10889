/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/held.h - what of a simulated machine a program holds back: devices that it
 * does not ask for, and kernels that it keeps from them; or would, but for
 * ORRERY_DEVICES=all. After the run, its thread.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

struct orr_job;
struct orr_runtime;
struct orr_cost_row;

enum orr_hold {
    ORR_HOLD_WHERE,      /* the codelet's `where' leaves the devices out */
    ORR_HOLD_FUNCTION,   /* it has no function for them, and no time of its own there */
    ORR_HOLD_TASK_WHERE, /* some tasks' own `where' leaves them out */
    ORR_HOLD_REFUSED,    /* can_execute has said no of all of them */
    ORR_HOLD_NAMED,      /* some tasks name their workers */
};

/* Kernels of a name, and devices of a type. */
struct orr_held {
    const char *kernel; /* lent */
    const struct orr_cost_row *row;
    uint32_t where; /* of the codelet */
    enum starpu_worker_archtype type;
    enum orr_hold why;
    bool timed; /* the kernel has a time there, so that ORRERY_DEVICES=all lets it
                 * run there; not of the last two */
    bool asked; /* … perhaps: it is the program's own function that would be asked */
};

/* Why the row's tasks do not run on such devices, in *ret; false: nothing says so. */
bool orr_row_held(const struct orr_runtime *rt, const struct orr_cost_row *row,
                  enum starpu_worker_archtype type, struct orr_held *ret);

/* How many of such devices there are for the program, and which it asks for, in *asked;
 * false: it does not say, or asks for all. */
bool orr_devices_held(const struct orr_runtime *rt, enum starpu_worker_archtype type,
                      unsigned *asked, unsigned *there);

/* "where", "function" … */
const char *orr_hold_name(enum orr_hold why);

/* Visits each reason of each kernel once. */
void orr_held_each(const struct orr_runtime *rt,
                   void (*visit)(const struct orr_held *, void *), void *arg);

/* A notice for a run without report of what ORRERY_DEVICES=all would lift. */
void orr_held_notice(const struct orr_runtime *rt);

/* Simulated, a codelet without functions can run where it has a time: says so of a job
 * that lacks both where it may run, and that no worker can run therefore. */
void orr_held_tell_unable(const struct orr_runtime *rt,
                          const struct orr_job *job);
