/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/module.h - shared objects that are opened when they are needed:
 * orrery/sim.so, simgrid.so, packed.so, hdf5.so, bound.so, python.so and
 * watch.so, replay.so, and files that the user names: drivers. The code that opens them knows
 * their tables, never what stands behind them.
 */
#pragma once

#include "core/base/error.h"

#define ORR_MODULE_ABI   2
#define ORR_MODULE_ENTRY "orr_module_entry"

/* What a module exports through `const struct orr_module
 * *orr_module_entry(void)`. `table` is the module's table of operations: for
 * "sim" a struct orr_sim_ops (core/device/simulated.h), for "simgrid" a struct
 * orr_simgrid_ops (sim/network.h), for "packed" a struct
 * orr_tar_ops (platforms/packed.h), for "hdf5" a struct orr_hdf5_ops
 * (core/device/disk/hdf5.h), for "bound" a struct orr_bound_solver
 * (bound/solver.h), for "python" a
 * struct orr_script_ops (core/sched/script.h), for "replay" a struct orr_player_ops
 * (record/player.h), for "debug" and "watch" a struct orr_debugger_ops
 * (core/observe/debugger.h), for "driver" a struct orr_driver_module
 * (core/device/driver_module.h).
 * `stamp` is orr_module_stamp of the module's build; of a driver, ORR_DRIVER_STAMP. */
struct orr_module {
    unsigned abi; /* of this structure */
    const char *name;
    const void *table;
    const char *stamp;
};

typedef const struct orr_module *(*orr_module_entry_fn)(void);

/* The version and a hash of all headers that the modules share with the library
 * (module_stamp.py): what differs in it may disagree about its structures. Each
 * library, module and program has its own copy, as of this folder. */
extern const char orr_module_stamp[];

/* The folder of the object that this code is in: a library, a module, or the
 * program itself. PATH_MAX bytes. Errors: -ENOENT. */
int orr_module_own_directory(char *ret);

/* Opens the module `name` ("sim", "simgrid", "packed", "hdf5", "bound", "python",
 * "debug", "watch", "replay") and returns its table in *ret. It looks in ORRERY_MODULE_DIR, then in orrery/ beside the
 * object that this code is in (the library, or a module that opens another),
 * then beside it, as in the build tree. A module is never closed
 * again. Errors: -ENOENT with a message that names the option to build with;
 * -EINVAL with one that names the file, if it is no module or of another build. */
int orr_module_open(const char *name, const void **ret, struct orr_error *err);

/* What a module must be, and what the messages advise where it is not. */
struct orr_module_wanted {
    const char *name, *stamp;
    const char *if_closed; /* it cannot be opened */
    const char *if_other;  /* it is of another build */
};

/* The same of a file, as dlopen takes it. Errors: -EINVAL with a message that names
 * it. */
int orr_module_open_at(const char *path, const struct orr_module_wanted *wanted,
                       const void **ret, struct orr_error *err);
