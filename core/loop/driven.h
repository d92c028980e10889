/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/driven.h - workers without a context of their own: threads of the
 * application drive them.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

#include "core/worker/worker.h"

/* The first worker of the device that the application names, or NULL. A driver is a
 * device: one thread is all its workers in turn. */
struct orr_worker *orr_worker_named(struct orr_runtime *rt,
                                    const struct starpu_driver *driver);

/* Workers of devices that `conf` leaves to the application get no context when the
 * workers are started. */
void orr_workers_leave_out(struct orr_runtime *rt,
                           const struct starpu_conf *conf);

/* The calling context is this worker and the others of its device, which it drives,
 * from now on: -EBUSY if another one does. Then it may let each of them look once
 * (returns whether one found anything to do) and give them up; or let them work until
 * the run ends or orr_drivers_end was called, and then give them up, which blocks.
 * `first` is what orr_worker_named says. */
int orr_worker_attach(struct orr_worker *first);
bool orr_worker_drive_once(struct orr_worker *first);
void orr_worker_drive(struct orr_worker *first);
void orr_worker_detach(struct orr_worker *first);

/* Threads that drive workers return as soon as no task is submitted. */
void orr_drivers_end(struct orr_runtime *rt);
