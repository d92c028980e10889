/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_expert.h - functions of the application, or of a library above this
 * one, that idle workers call. Any thread, between starpu_init() and
 * starpu_shutdown().
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All workers look for work once more. */
void starpu_wake_all_blocked_workers(void);

/* `func` is called by each worker that is about to sleep, with `arg`; it must
 * not block. While one of these functions returns 0, the worker looks and calls
 * again after some microseconds instead of sleeping. There are 16 places: the
 * number of one, or -1. A function may still be running, or be called once
 * more, when deregister returns. */
int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg);
/* Removes the function with that number. */
void starpu_progression_hook_deregister(int hook_id);

/* The same, called whenever a worker finds nothing to do; the result does not
 * matter, and the worker looks again every few microseconds. */
int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg);
/* Removes the function with that number, as starpu_progression_hook_deregister. */
void starpu_idle_hook_deregister(int hook_id);

#ifdef __cplusplus
}
#endif
