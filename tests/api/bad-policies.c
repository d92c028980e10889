/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/bad-policies.c - a shared object of policies that cannot be used: none
 * has a hook, one has another name than it is asked for. With ANOTHER_STARPU it
 * brings functions of a StarPU that is not the one of the program, with NO_ENTRY it
 * lacks the function that is asked.
 */
#include <string.h>

#include <starpu.h>

#ifdef ANOTHER_STARPU
int starpu_push_task_end(struct starpu_task *task)
{
    (void)task;
    return -1;
}
#endif

#ifndef NO_ENTRY
static struct starpu_sched_policy hollow = {.policy_name = "hollow"};
static struct starpu_sched_policy renamed = {.policy_name = "other"};

struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name)
{
    if (strcmp(name, "hollow") == 0)
        return &hollow;
    return strcmp(name, "renamed") == 0 ? &renamed : NULL;
}
#else
int no_entry;
#endif
