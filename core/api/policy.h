/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/policy.h - the built-in policies as structures of the interface. */
#pragma once

#include <stdbool.h>

#include <starpu_scheduler.h>

/* Whether the structure is one of starpu_sched_get_predefined_policies, which have a
 * name and a description only. NULL is none. */
bool orr_policy_is_name(const struct starpu_sched_policy *policy);
