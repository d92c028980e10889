/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/debugger.h - modules that are observers, by which a command looks at a run:
 * "debug" stops a simulated one (ORRERY_DEBUGGER, `orrery debug`), "watch" shows how far a
 * run is (ORRERY_WATCH, `orrery watch`). And where the program's own debugger stops any run:
 * the breakpoints of tools/gdb.
 */
#pragma once

#include "core/base/error.h"

struct orr_observer;
struct orr_runtime;
struct orr_told;

/* The table of such a module. */
struct orr_debugger_ops {
    /* Begins to talk by the descriptor. Returns the observer, which is told of all kinds
     * of events that it has functions for; NULL: it does not look at this run. The
     * debugger blocks until it is told how far to go. */
    const struct orr_observer *(*open)(struct orr_runtime *rt, int fd);
};

/* Does nothing, and is called for each event of the kinds that orr_debugger_native wants:
 * none, but where a debugger that is attached to the process has set its bits in
 * rt->observers.want. */
void orr_debugger_event(struct orr_runtime *rt, const struct orr_told *told);

/* Does nothing, and is called where a debugger may do that: a run opens. */
void orr_debugger_opened(struct orr_runtime *rt);

/* The observer whose functions that one is. */
extern const struct orr_observer orr_debugger_native;

/* Registers that, and the modules that are asked for. When there is a machine, before
 * workers begin.
 * Errors, with a message: -EINVAL; those of orr_module_open. */
int orr_debugger_observe(struct orr_runtime *rt, struct orr_error *err);
