/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/simulated.h - the table that the module "sim" exports to core.
 */
#pragma once

#include "core/device/machine.h"

struct orr_cluster_ops;
struct orr_machine_options;

/* When no context can go on and no event is left, each run on the engine takes a step
 * before the first one takes the next. */
enum orr_deadlock_step {
    ORR_DEADLOCK_RELIEVES, /* returns true if it has woken a context: all is well */
    ORR_DEADLOCK_EXPLAINS, /* the application has a deadlock: says what waits */
    ORR_DEADLOCK_ENDS,     /* exits with 3 */
};

/* What core does then. Called from the machine's own stack; must not block. */
typedef bool (*orr_deadlock_fn)(struct orr_runtime *runtime,
                                enum orr_deadlock_step step);

/* What core does when virtual time comes to a date. Called once, on any stack, before
 * what happens at that date; must not block, and changes nothing. */
typedef void (*orr_break_fn)(struct orr_runtime *runtime);

struct orr_sim_ops {
    /* As orr_machine_open_fn. The calling thread becomes the main context and
     * goes on under simulation when open returns. */
    int (*open)(const struct orr_machine_options *options,
                struct orr_machine **ret, struct orr_error *err);
    void (*on_deadlock)(struct orr_machine *machine, orr_deadlock_fn handler,
                        struct orr_runtime *runtime);
    /* `us`: of the machine's clock. */
    void (*break_at)(struct orr_machine *machine, double us,
                     orr_break_fn handler, struct orr_runtime *runtime);
    /* The network between machines that share an engine: core/base/cluster.h. */
    const struct orr_cluster_ops *cluster;
};
