/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/means.h - what kernels took on each kind of workers, from where their tasks
 * ran. One thread.
 */
#pragma once

#include "import/flow.h"

/* The number of the kind + 1 (enum orr_record_kind) of a worker called so, "CUDA1_0",
 * "0_CPU3"; 0: not known, or NULL. */
unsigned means_kind(const char *worker);

/* Gives all tasks the mean times of their kernel and footprint, per kind. Tasks of which
 * the kind is not known count as of processors. Errors, with a message: -ENOMEM. */
int means_take(struct flow *flow);
