/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/ends.h - runs that end before starpu_shutdown. Simulations may end by
 * exit(), a signal, a deadlock or a mistake of the application: report and trace
 * so far are written all the same, and the process ends with the status that is
 * due. Of a real run, whose workers go on meanwhile, they leave trace and graph alone,
 * which may be written beside them; signals do where there is to be one, those of crashes
 * as well. What was made for the run alone is removed.
 */
#pragma once

#include <stdbool.h>

struct orr_runtime;

/* What is done in place of the end of the process, with the status that it would have
 * had (128 more than its number for a signal). On any stack of the run; must not return.
 */
typedef void (*orr_leave_fn)(void *arg, int status);

/* From now on such ends of the process concern this run, unless they concern another one
 * that is still open; of one simulation with several runs they concern all. exit() and
 * return from main keep their status. SIGINT, SIGTERM and SIGHUP (unless the application has
 * handlers of its own) kill the process, a deadlock of a simulation gives 3. Called by the
 * context that opened the run. */
void orr_ends_watch(struct orr_runtime *rt);

/* Whether signals save what the run has recorded, which they do at first; they are
 * caught where it has something to save: on the real machine a trace, a graph or a record. */
void orr_ends_catch(struct orr_runtime *rt, bool on);
bool orr_ends_catches(void);

/* Something was made that goes with the process, as directories of disks: signals are
 * caught, unless they are not to be. */
void orr_ends_note_made(const struct orr_runtime *rt);

/* The run is about to end: of a real one that is watched signals save nothing any more.
 * Does not return where one is doing so. */
void orr_ends_settle(struct orr_runtime *rt);

/* Undoes orr_ends_watch. */
void orr_ends_forget(struct orr_runtime *rt);

/* Runs that are opened from now on are left so: by a deadlock, a mistake of the
 * application that is found or aborts in the thread of the simulation, and
 * orr_ends_interrupt; signals are the application's. NULL: as before. Simulations
 * only. */
void orr_ends_leave(orr_leave_fn leave, void *arg);

/* Undoes orr_ends_watch for one that was left. */
void orr_ends_forget_left(struct orr_runtime *rt);

/* Ends such a run as soon as it comes to rest. Safe in signal handlers; without
 * one, nothing is done. */
void orr_ends_interrupt(void);

/* Ends the process with that status, its streams written out, or leaves the run. */
_Noreturn void orr_ends_exit(int status);

/* Ends the process with status 1 for a mistake that was already printed: at
 * once in a context of the run, else (a thread of the operating system that
 * the simulation does not know) as soon as the run comes to rest. With `how`, in
 * a context of a simulation: after the report has that word for its end. */
_Noreturn void orr_ends_fail(struct orr_runtime *rt, const char *how);
