/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/streams.h - kernels of simulated workers: those that the worker waits
 * for, and those that its device's stream executes one after the other. One
 * OS thread.
 */
#pragma once

#include "core/device/machine.h"
#include "sim/exec.h"
#include "sim/streaming.h"

struct orr_streams;

/* One stream per worker of `machine`, which is borrowed, as the engine's user is and
 * `streaming`, which may be NULL. Errors: -ENOMEM. */
int orr_streams_new(const struct orr_sim_user *user,
                    const struct orr_machine *machine,
                    struct orr_streaming *streaming,
                    struct orr_streams **ret);

void orr_streams_free(struct orr_streams *streams);

/* As orr_driver_ops.kernel_start. */
int orr_streams_start(struct orr_streams *streams, struct orr_kernel *kernel);
