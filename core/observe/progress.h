/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/progress.h - ORRERY_PROGRESS: a line on standard error every so many
 * seconds that says how far the run has come. On a terminal one line that is
 * written over, and cleared at the end.
 */
#pragma once


struct orr_progress;
struct orr_runtime;

/* Begins, if the variable asks for it: rt->views->progress. Errors: -EAGAIN, -ENOMEM. */
int orr_progress_start(struct orr_runtime *rt);

/* Ends it, with a last line unless on a terminal. No effect without. */
void orr_progress_stop(struct orr_runtime *rt);

/* Clears the line on a terminal, until the next one comes: the application may print
 * something. */
void orr_progress_clear(struct orr_runtime *rt);

/* Ends it for a run that ends where it stands, with what is on the terminal left
 * there. Safe in signal handlers. */
void orr_progress_leave(struct orr_runtime *rt);
