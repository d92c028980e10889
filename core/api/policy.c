/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/policy.c - which policies there are, which one is in use, and its
 * limits of priority. Any thread.
 */
#include "core/api/policy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/api/process.h"
#include "core/api/ctx.h"
#include "core/api/state.h"
#include "core/exec/program.h"
#include "core/observe/views.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"

struct orr_policy_names {
    struct starpu_sched_policy **list; /* NULL at the end */
    size_t n;
    struct starpu_sched_policy policies[];
};

static struct orr_policy_names *names_new(void)
{
    struct orr_policy_names *names;
    size_t n = 0;

    while (orr_sched_builtin[n])
        n++;
    names = calloc(1, sizeof(*names) + n * sizeof(names->policies[0]));
    if (!names)
        return NULL;
    names->list = calloc(n + 1, sizeof(*names->list));
    if (!names->list) {
        free(names);
        return NULL;
    }
    names->n = n;
    for (size_t i = 0; i < n; i++) {
        names->policies[i].policy_name = orr_sched_builtin[i]->name;
        names->policies[i].policy_description = orr_sched_builtin[i]->help;
        names->list[i] = &names->policies[i];
    }
    return names;
}

/* NULL without memory. */
static struct orr_policy_names *get_names(void)
{
    struct orr_process *process = orr_process();
    struct orr_policy_names *names = atomic_load(&process->policies), *fresh;

    if (names)
        return names;
    fresh = names_new();
    if (!fresh)
        return NULL;
    if (atomic_compare_exchange_strong(&process->policies, &names, fresh))
        return fresh;
    free(fresh->list);
    free(fresh);
    return names;
}

bool orr_policy_is_name(const struct starpu_sched_policy *policy)
{
    struct orr_policy_names *names = atomic_load(&orr_process()->policies);

    for (size_t i = 0; policy && names && i < names->n; i++)
        if (policy == &names->policies[i])
            return true;
    return false;
}

struct starpu_sched_policy **starpu_sched_get_predefined_policies(void)
{
    struct orr_policy_names *names = get_names();

    if (names)
        return names->list;
    orr_log_error("%s: out of memory", __func__);
    abort();
}

/* -- those in use -- */

struct starpu_sched_policy *starpu_sched_get_sched_policy(void)
{
    ORR_QUESTION();
    return starpu_sched_ctx_get_sched_policy(orr_api_current_ctx());
}

struct starpu_sched_policy *
starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id)
{
    return starpu_sched_ctx_get_sched_policy(sched_ctx_id);
}

struct starpu_sched_policy *
starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    struct starpu_sched_policy **list = starpu_sched_get_predefined_policies();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    const struct orr_sched *sched = sched_ctx_id < STARPU_NMAX_SCHED_CTXS
                                        ? rt->sched_ctxs->at[sched_ctx_id]
                                        : NULL;

    if (sched_ctx_id == 0 && orr_program()->user_policy)
        return orr_program()->user_policy;
    if (!sched || !sched->has_policy)
        return NULL;
    if (sched->of_user)
        return &sched->said->policy;
    for (; *list; list++)
        if (!strcmp((*list)->policy_name, sched->ops->name))
            return *list;
    /* A policy from a file is not among the predefined ones. */
    return &sched->said->policy;
}

/* Number STARPU_NMAX_SCHED_CTXS stands for no context, and has data as well. */
static void **policy_data(const char *call, unsigned sched_ctx_id)
{
    if (sched_ctx_id == STARPU_NMAX_SCHED_CTXS)
        return &orr_api_state(call)->policy_data;
    return &orr_api_sched(call, sched_ctx_id)->said->policy_data;
}

void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *data)
{
    *policy_data(__func__, sched_ctx_id) = data;
}

void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return *policy_data(__func__, sched_ctx_id);
}

/* -- priorities -- */

static int least_of(struct orr_runtime *rt, const struct orr_sched *sched)
{
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.sched = sched), RANGE, .value = 1);
    return orr_calls_widen(sched) ? INT_MIN : sched->min_priority;
}

static int most_of(struct orr_runtime *rt, const struct orr_sched *sched)
{
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.sched = sched), RANGE, .value = 2);
    return orr_calls_widen(sched) ? INT_MAX : sched->max_priority;
}

int starpu_sched_get_min_priority(void)
{
    ORR_QUESTION();
    ORR_API(rt, __func__);
    struct orr_sched *sched = orr_api_sched(__func__, orr_api_current_ctx());

    return least_of(rt, sched);
}

int starpu_sched_get_max_priority(void)
{
    ORR_QUESTION();
    ORR_API(rt, __func__);
    struct orr_sched *sched = orr_api_sched(__func__, orr_api_current_ctx());

    return most_of(rt, sched);
}

int starpu_sched_set_min_priority(int min_prio)
{
    return starpu_sched_ctx_set_min_priority(orr_api_current_ctx(), min_prio);
}

int starpu_sched_set_max_priority(int max_prio)
{
    return starpu_sched_ctx_set_max_priority(orr_api_current_ctx(), max_prio);
}

int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    ORR_API(rt, __func__);

    return least_of(rt, orr_api_sched(__func__, sched_ctx_id));
}

int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    ORR_API(rt, __func__);

    return most_of(rt, orr_api_sched(__func__, sched_ctx_id));
}

static void record_priorities(const struct orr_sched *sched)
{
    if (!sched->id)
        ORR_RECORD(sched->runtime, PRIORITIES, .least = sched->min_priority,
                   .most = sched->max_priority);
}

/* Limits that the user has set stay as they are. */
int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio)
{
    ORR_API(rt, __func__);
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    if (!sched->min_given)
        sched->min_priority = min_prio;
    record_priorities(sched);
    return 0;
}

int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio)
{
    ORR_API(rt, __func__);
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    if (!sched->max_given)
        sched->max_priority = max_prio;
    record_priorities(sched);
    return 0;
}

int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx_id)->min_given;
}

int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx_id)->max_given;
}
