/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/loop.h - the contexts of all workers, from their start to their end. Main.
 */
#pragma once

struct orr_runtime;

/* Starts all workers' contexts; returns 0 or a negative errno, then none is
 * left running. */
int orr_workers_start(struct orr_runtime *rt);

/* Asks all workers to end and joins them. Blocks. All tasks have ended. */
void orr_workers_stop(struct orr_runtime *rt);
