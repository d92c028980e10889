/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/policies.h - the tables of the built-in policies and the wrapper
 * around a user's, but for the dm family (dm.h). Only builtin.c and tests need
 * them.
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
extern const struct orr_sched_ops orr_sched_static;
extern const struct orr_sched_ops orr_sched_memaware;
extern const struct orr_sched_ops orr_sched_plan_heft;
/* Of contexts without policy. */
extern const struct orr_sched_ops orr_sched_master;

/* A table around a user's policy, owned by the caller, which frees it with
 * orr_sched_user_free. The policy is borrowed. Errors: -ENOMEM; -EINVAL with a
 * message when push_task is missing. */
int orr_sched_user_new(struct starpu_sched_policy *policy,
                       const struct orr_sched_ops **ret, struct orr_error *err);
/* Returns whether the table was such a one. */
bool orr_sched_user_free(const struct orr_sched_ops *ops);
