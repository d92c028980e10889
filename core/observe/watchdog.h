/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/watchdog.h - STARPU_WATCHDOG_TIMEOUT: a thread that says so when no task
 * has ended for a while, in real time on all machines, although some are submitted or
 * main waits in a call. It is no context: it reads counters, and what main waits for.
 */
#pragma once


struct orr_runtime;
struct orr_watchdog_tasks;

/* Starts it if a time was set: rt->views->watchdog. Errors: -EAGAIN, -ENOMEM. */
int orr_watchdog_tasks_start(struct orr_runtime *rt);

/* Ends it. No effect without. */
void orr_watchdog_tasks_stop(struct orr_runtime *rt);

/* To be called instead of the message, by the thread, once per period; before or
 * after the start. NULL: the message. */
void orr_watchdog_tasks_hook(void (*hook)(void *), void *arg);
