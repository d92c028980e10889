/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/machine.h - the simulated machine as a whole. One OS thread.
 */
#pragma once

#include "core/base/module.h"
#include "core/device/open.h"
#include "core/device/simulated.h"
#include "platforms/machine_desc.h"
#include "sim/disks.h"
#include "sim/exec.h"
#include "sim/memory.h"
#include "sim/network.h"
#include "sim/streams.h"
#include "sim/transfers.h"
#include "sim/watchdog.h"

struct orr_inside;

struct orr_sim_machine {
    struct orr_machine machine; /* first */
    struct orr_driver driver;   /* of all its devices, whatever their kind */
    struct orr_driver *drivers[1];
    struct orr_sim_exec *exec;   /* owned by the machine that was opened first */
    bool owns_exec;
    struct orr_sim_user user;    /* of it: this machine */
    struct orr_stacks *stacks;   /* NULL: contexts are fibers */
    struct orr_network *network; /* NULL: transfers take no time */
    struct orr_inside *inside;   /* NULL: no network between nodes passes its links */
    struct orr_transfers *transfers;
    struct orr_streams *streams;
    struct orr_streaming *streaming; /* NULL: main memory has no bandwidth */
    struct orr_sim_memory *memories; /* one per node, that of node 0 unused */
    /* Bytes of this machine's own memory that data take while kernels are run,
     * and from how many on a message says so; SIZE_MAX: no more. */
    size_t held, says_from;
    struct orr_sim_disks disks;
    struct orr_watchdog *watchdog;   /* NULL: switched off */
};

/* As orr_machine_open_fn, for a description in memory, which is only read
 * during the call. */
int orr_sim_open_desc(const struct orr_machine_desc *desc,
                      const struct orr_machine_options *options,
                      struct orr_machine **ret, struct orr_error *err);

/* The table of the module, and the one symbol that it exports. */
extern const struct orr_sim_ops orr_sim_ops;
__attribute__((visibility("default"))) const struct orr_module *
orr_module_entry(void);
