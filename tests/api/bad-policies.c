/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/bad-policies.c - a shared object of policies that cannot be used: none
 * has a hook, one has another name than it is asked for; and of one that can, which
 * has no pop_task. With ANOTHER_STARPU it
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
static int push_to_first(struct starpu_task *task)
{
    return starpu_push_local_task(0, task, 1);
}

static struct starpu_sched_policy pushing = {.push_task = push_to_first,
                                             .policy_name = "pushing"};
static struct starpu_sched_policy renamed = {.policy_name = "other"};

struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name)
{
    if (strcmp(name, "hollow") == 0)
        return &hollow;
    if (strcmp(name, "pushing") == 0)
        return &pushing;
    return strcmp(name, "renamed") == 0 ? &renamed : NULL;
}
#else
int no_entry;
#endif
