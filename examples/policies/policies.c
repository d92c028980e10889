/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policies.c - what makes a shared object of scheduling policies: the library asks
 * the one that STARPU_SCHED_LIB names for the policy that STARPU_SCHED names.
 */
#include <stddef.h>
#include <string.h>

#include "policies.h"

static struct starpu_sched_policy *const policies[] = {&earliest, &urgent};

enum { NPOLICIES = sizeof(policies) / sizeof(policies[0]) };

struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name)
{
    for (int i = 0; i < NPOLICIES; i++)
        if (strcmp(policies[i]->policy_name, name) == 0)
            return policies[i];
    return NULL;
}

struct starpu_sched_policy **starpu_get_sched_lib_policies(void)
{
    static struct starpu_sched_policy *list[NPOLICIES + 1];

    memcpy(list, policies, sizeof(policies));
    return list;
}
