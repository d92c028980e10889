/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/policies.h - the tables of the built-in policies, but for the dm family
 * (dm.h). Only the list of them and tests need these.
 */
#pragma once

#include "core/sched/sched.h"

extern const struct orr_sched_ops orr_sched_eager;
extern const struct orr_sched_ops orr_sched_prio;
extern const struct orr_sched_ops orr_sched_random;
extern const struct orr_sched_ops orr_sched_lws;
extern const struct orr_sched_ops orr_sched_ws;
extern const struct orr_sched_ops orr_sched_pheft;
extern const struct orr_sched_ops orr_sched_peager;
extern const struct orr_sched_ops orr_sched_heteroprio;
extern const struct orr_sched_ops orr_sched_graph_test;
extern const struct orr_sched_ops orr_sched_memaware;
extern const struct orr_sched_ops orr_sched_plan_heft;
