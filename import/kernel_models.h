/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/kernel_models.h - what kernels took, as performance models: a file for `orrery
 * perfmodel import`. One thread.
 */
#pragma once

#include <stdio.h>

#include "import/flow.h"

/* Writes a history for each kernel, with a row per footprint, of the tasks whose kind of
 * worker, footprint and time the file gives: how many there were, mean and deviation. There are rows
 * for `copies` times as many devices as tasks have run on, those behind the last one as the
 * first ones. Errors, with a message: -EINVAL: there are no such tasks; -ENOMEM. */
int flow_write_models(struct flow *flow, size_t copies, FILE *out);
