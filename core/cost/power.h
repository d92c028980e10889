/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/power.h - what tasks cost in joules where no model of the application says it: by
 * the powers that a simulated machine states. Any thread.
 */
#pragma once

#include "core/exec/runtime.h"
#include "core/worker/worker.h"

/* Whether policies weigh what executing the codelet takes: it has a model of that, or the
 * machine states powers and the user has set a weight for energy (STARPU_SCHED_GAMMA), since
 * a machine that was given powers for its energy to be known keeps its schedules. */
bool orr_cost_weighs_energy(const struct orr_runtime *rt,
                            const struct starpu_codelet *cl);

/* J that the class draws more than when it is idle while it executes the codelet for so many
 * µs. NaN: its power, or the time, is not known. */
double orr_class_joules(const struct orr_worker_class *class,
                        const struct starpu_codelet *cl, double us);

/* W of the idle machine, for policies: what the user has set (STARPU_IDLE_POWER), else what a
 * machine states whose powers are weighed, else 0. */
double orr_cost_idle_power(const struct orr_runtime *rt);
