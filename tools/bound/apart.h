/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/apart.h - a bound computed in a process of its own, which can be
 * ended at any moment. One thread.
 */
#pragma once

#include "bound/solver.h"

struct apart_job {
    const struct orr_bound_solver *solver;
    const struct orr_bound_instance *in;
    enum orr_bound_method method;
    double seconds; /* a little later it is ended */
    double patience; /* as in struct orr_bound_options */
};

/* Computes it; *ret is ended with orr_bound_result_done. No value, with the
 * reason, when its time is over or a signal came. Errors: -ENOMEM, those of
 * pipe and fork; then `ret` holds nothing. */
int apart_compute(const struct apart_job *job, struct orr_bound_result *ret);

/* Between the two what interrupts (interrupt.h) does not end the command. apart_end and
 * apart_interrupted return the signal that came, 0 without. */
void apart_begin(void);
int apart_end(void);
int apart_interrupted(void);

/* Seconds of CLOCK_MONOTONIC. */
double apart_clock(void);
