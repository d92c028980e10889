/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/energy.h - the joules that a run has taken, as the models
 * estimate and the application adds. Any thread.
 */
#pragma once

struct orr_job;
struct orr_runtime;
struct orr_worker;

/* Adds joules. */
void orr_energy_use(struct orr_runtime *rt, double joules);

/* What was added, and what the idle machine takes (STARPU_IDLE_POWER) since
 * starpu_init. */
double orr_energy_used(struct orr_runtime *rt);

/* Adds the joules that the job, which has ended on the worker, is expected to have
 * taken, also to the profiles of both while profiling is on; unknown counts as 0. No
 * lock held; may call the application's code. */
void orr_energy_account(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job);
