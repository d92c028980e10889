/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/options.h - how a file is read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_import_options {
    const char *schedule;  /* a sched.rec for a tasks.rec, or NULL */
    bool recorded_workers; /* tasks run on the workers where they ran */
    const char *kinds;     /* import/kinds.h, or NULL */
    const char *host;      /* of the log of an OpenMP program: whose times it has, or NULL */
    double grain_us;       /* … the shortest strand that is worth a task; 0: the usual one,
                            * below: any is */
    bool any_device;       /* queues of a timeline may go to any device */
    size_t replicas;       /* the graph so many times: import/replicas.h; 0 is once */
    size_t scale;          /* … so many times as wide; 0 is once */
    double exchange_bytes; /* … which replicas add up behind each iteration */
    bool binary;           /* the record is to have the compact form */
};
