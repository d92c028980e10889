/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/speed.h - how much faster than in its model a kernel is on a worker
 * class, as set for a simulated machine. Any thread.
 */
#pragma once

#include <starpu.h>

#include "core/worker/worker.h"

/* Divides durations of the codelet on the class: the class's speed and those of
 * its kernels that fit the codelet's name or the model's symbol. Either may be
 * NULL. 1 on a real machine. */
double orr_class_speed(const struct orr_worker_class *class,
                       const struct starpu_codelet *cl,
                       const struct starpu_perfmodel *perfmodel);

/* Whether a pattern of struct orr_kernel_speed fits a name, which may be
 * NULL. */
bool orr_kernel_pattern_fits(const char *pattern, const char *name);
