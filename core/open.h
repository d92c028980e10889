/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/open.h - opening and closing a run. The application's main thread does
 * both.
 */
#pragma once

#include <starpu.h>

struct orr_pinned;
struct orr_runtime;

/* Runtimes that are started from now on give tasks stacks of so many bytes, or what
 * the system says where that is more. */
void orr_runtime_ask_stacks(size_t bytes);

/* Opens and starts everything. `conf` may be NULL; pinned memory is noted in
 * `pinned`, which outlives the run. 0, -ENODEV, -EINVAL. */
int orr_runtime_start(struct starpu_conf *conf, struct orr_pinned *pinned);

/* Waits for all tasks, ends the workers, saves models, writes the report and
 * the trace, closes the machine. */
void orr_runtime_stop(struct orr_runtime *rt);
