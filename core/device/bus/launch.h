/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/launch.h - what it costs a processor to hand work to a device: memory,
 * kernels, copies, events, measured through the machine's own table of operations.
 * Not what the work itself takes. One context at a time, which blocks.
 */
#pragma once

#include "core/device/machine.h"

enum orr_launch_cost {
    ORR_LAUNCH_ALLOC,     /* 1 MiB of the device's memory … */
    ORR_LAUNCH_FREE,      /* … given back */
    ORR_LAUNCH_PINNED,    /* main memory pinned for it, per MiB */
    ORR_LAUNCH_FIRST_USE, /* what a copy into new memory takes more, per MiB */
    ORR_LAUNCH_KERNEL,    /* an asynchronous kernel, with a post at its end */
    ORR_LAUNCH_LATENCY, /* from the end of one until the device begins the next, which is
                           * handed over when the post of the first has come */
    ORR_LAUNCH_COPY, /* a copy to the device, likewise */
    ORR_LAUNCH_EVENT, /* an event recorded in a queue and waited for in another */
    ORR_LAUNCH_COSTS
};

/* A sample of each in µs, the mean of several; NaN for what the driver of the
 * worker, which is a device's, does not have. Errors: -ENOMEM, -EIO, -ENODEV. */
int orr_launch_sample(struct orr_machine *machine, unsigned worker,
                      double ret[ORR_LAUNCH_COSTS]);
