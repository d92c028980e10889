/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/watchdog.h - detects an application that waits outside virtual time, e.g.
 * in a raw pthread_cond_wait, where the simulation can never wake it. An OS
 * thread of its own that checks periodically; it only prints.
 */
#pragma once

#include "sim/exec.h"

struct orr_watchdog;

/* Watches the calling OS thread, which runs `exec`. After ORRERY_SIM_WATCHDOG
 * seconds of real time (20) of such waiting it prints a warning, once per
 * wait. *ret is NULL when the variable is 0 or the thread cannot be had.
 * Errors: -EINVAL for a bad variable. */
int orr_watchdog_start(const struct orr_sim_exec *exec,
                       struct orr_watchdog **ret, struct orr_error *err);

/* Ends it without waiting for long; `exec` may be freed then. Works in the
 * child of a fork too, where the thread does not exist. Accepts NULL. */
void orr_watchdog_stop(struct orr_watchdog *watchdog);
