/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/driven.h - workers without a context of their own: threads of the
 * application drive them.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

#include "core/worker/worker.h"

/* The worker that the application names, or NULL. */
struct orr_worker *orr_worker_named(struct orr_runtime *rt,
                                    const struct starpu_driver *driver);

/* Those that `conf` names get no context when the workers are started. */
void orr_workers_leave_out(struct orr_runtime *rt,
                           const struct starpu_conf *conf);

/* The calling context is the worker, which it drives, from now on: -EBUSY if
 * another one drives it. Then it may let it look once (returns whether it found
 * anything to do) and give it up again; or let it work until the run ends or
 * orr_drivers_end was called, which gives it up. Blocks. */
int orr_worker_attach(struct orr_worker *worker);
bool orr_worker_drive_once(struct orr_worker *worker);
void orr_worker_drive(struct orr_worker *worker);
void orr_worker_detach(struct orr_worker *worker);

/* Those who drive workers return as soon as no task is submitted. */
void orr_drivers_end(struct orr_runtime *rt);
