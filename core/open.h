/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/open.h - opening and closing a run. The application's main thread does
 * both.
 */
#pragma once

#include <starpu.h>

#include "core/base/config.h"

struct orr_pinned;
struct orr_runtime;
struct orr_sampling;

/* Where calibrations are, by the settings; of a machine that has a directory of its own,
 * NULL: none, with that. The caller frees *ret. Errors: -ENOMEM. */
int orr_open_sampling(const struct orr_config *config, const char *machine_dir,
                      struct orr_sampling **ret);

/* Opens and starts everything. `conf` and `settings` (with a NULL text behind the
 * last) may be NULL; pinned memory is noted in `pinned`, which outlives the run. 0,
 * -ENODEV, -EINVAL. */
int orr_runtime_start(struct starpu_conf *conf,
                      const struct orr_setting *settings,
                      struct orr_pinned *pinned);

/* Forgets a simulated run that was left where it stood (orr_ends_leave), on the
 * stack that opened it: the machine is closed, what core made for the run stays
 * allocated. */
void orr_runtime_abandon(struct orr_runtime *rt);

/* Waits for all tasks, ends the workers, saves models, writes the report and
 * the trace, closes the machine. */
void orr_runtime_stop(struct orr_runtime *rt);
