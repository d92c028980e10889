/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/debugger.h - a debugger that stops a simulated run and looks at it: the
 * module "debug", an observer, which `orrery debug` talks with (ORRERY_DEBUGGER).
 */
#pragma once

#include "core/base/error.h"

struct orr_observer;
struct orr_runtime;

/* The module's table. */
struct orr_debugger_ops {
    /* Begins to talk over the socket, once in a process. Returns the observer, which is
     * told of all kinds of events that it has functions for; NULL: the debugger looks at
     * another program. Blocks until it is told how far to go. */
    const struct orr_observer *(*open)(int fd);
};

/* Registers it where it is asked for. When there is a machine, before workers begin.
 * Errors, with a message: -EINVAL; those of orr_module_open. */
int orr_debugger_observe(struct orr_runtime *rt, struct orr_error *err);
