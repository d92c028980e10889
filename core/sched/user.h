/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/user.h - a policy that the application wrote, as a table of operations.
 */
#pragma once

#include "core/sched/sched.h"

/* A table around a user's policy, owned by the caller, which frees it with
 * orr_sched_user_free. The policy is borrowed. Errors: -ENOMEM; -EINVAL with a
 * message when push_task is missing. */
int orr_sched_user_new(struct starpu_sched_policy *policy,
                       const struct orr_sched_ops **ret, struct orr_error *err);
/* Returns whether the table was such a one. */
bool orr_sched_user_free(const struct orr_sched_ops *ops);
