/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/builtin.c - the choice of a policy by name when the
 * runtime starts. One thread: the one that starts and ends it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/words.h"
#include "core/exec/runtime.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/library.h"
#include "core/sched/schedule.h"
#include "core/sched/script.h"
#include "core/sched/user.h"
#include "core/worker/workers.h"

/* What a shared object tells of its policies. */
static int print_library(const char *file, struct orr_error *err)
{
    struct starpu_sched_policy **list;
    int code = orr_sched_library_list(file, &list, err);

    if (code || !list)
        return code;
    fprintf(stderr, "Those of %s:\n", file);
    for (; *list; list++)
        fprintf(stderr, "  %-8s %s\n", (*list)->policy_name,
                (*list)->policy_description ? (*list)->policy_description : "");
    return 0;
}

static void print_builtin_policies(void)
{
    fprintf(stderr, "The scheduling policies, to be named by STARPU_SCHED:\n");
    for (unsigned i = 0; orr_sched_builtin[i]; i++)
        fprintf(stderr, "  %-31s %s\n", orr_sched_builtin[i]->name,
                orr_sched_builtin[i]->help);
    fprintf(stderr, "  %-31s %s\n", "static=FILE", orr_sched_static.help);
    fprintf(stderr, "  %-31s %s\n", "FILE.py",
            "simulated: a policy in Python (docs/PYTHON_POLICIES.md)");
}

static const char *name_at(const void *unused, size_t i)
{
    (void)unused;
    return orr_sched_builtin[i] ? orr_sched_builtin[i]->name : NULL;
}

/* StarPU warns and takes lws. Here it is an error: a comparison of policies
 * must not show results of another one under the requested name. */
static int fail_unknown(const char *name, struct orr_error *err)
{
    const char *near;
    char known[1024] = "";
    size_t n = 0;

    for (unsigned i = 0; orr_sched_builtin[i]; i++) {
        int len = snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
                           orr_sched_builtin[i]->name);

        if (len < 0 || (size_t)len >= sizeof(known) - n)
            break;
        n += (size_t)len;
    }
    near = orr_words_nearest(name, NULL, name_at);
    return orr_fail(err, -EINVAL,
                    "there is no scheduling policy `%s'%s%s%s; known are %s",
                    name, near ? " (is `" : "", near ? near : "",
                    near ? "' meant?)" : "", known);
}

static const struct orr_sched_ops *builtin_find(const char *name)
{
    for (unsigned i = 0; orr_sched_builtin[i]; i++)
        if (!strcmp(orr_sched_builtin[i]->name, name))
            return orr_sched_builtin[i];
    return NULL;
}

/* static=FILE; a file may leave all to another policy. */
static int choose_static(const char *file, const struct orr_sched_ops **ret,
                         struct orr_error *err)
{
    struct orr_schedule schedule;
    int rc = orr_schedule_read(file, &schedule, err);

    if (rc)
        return rc;
    *ret = schedule.policy ? builtin_find(schedule.policy) : &orr_sched_static;
    if (!*ret)
        rc = fail_unknown(schedule.policy, err);
    orr_schedule_done(&schedule);
    return rc;
}

static const char *argument_of(const char *name)
{
    static const char prefix[] = "static=";

    return name && !strncmp(name, prefix, strlen(prefix))
               ? name + strlen(prefix)
               : NULL;
}

static int builtin_choose(const struct orr_config *config, const char *name,
                          const struct orr_sched_ops **ret,
                          struct orr_error *err)
{
    *ret = builtin_find("lws");
    if (!name || !*name)
        return 0;
    if (!strcmp(name, "help")) {
        print_builtin_policies();
        return print_library(orr_config_string(config, ORR_CFG_SCHED_LIB), err);
    }
    if (argument_of(name))
        return choose_static(argument_of(name), ret, err);
    if (orr_script_is_one(name))
        return orr_script_new(name, ret, err);
    *ret = !strcmp(name, "static") ? &orr_sched_static : builtin_find(name);
    if (!*ret && !strncmp(name, "heft", 4))
        *ret = builtin_find("dmda");
    return *ret ? 0 : fail_unknown(name, err);
}

/* The range that the user set, else that of the policy. */
static void sched_set_priority_range(struct orr_sched *sched,
                                     const struct orr_sched_options *options)
{
    int min = options->min_priority, max = options->max_priority;
    bool has_min = options->min_given, has_max = options->max_given;

    if (has_min && has_max && min > max) {
        orr_log_warning("the least priority %d is more than the greatest %d: "
                        "both are ignored; see %s and %s, or the fields of "
                        "starpu_conf",
                        min, max, orr_config_name(ORR_CFG_MIN_PRIO),
                        orr_config_name(ORR_CFG_MAX_PRIO));
        has_min = has_max = false;
    }
    sched->min_given = has_min;
    sched->max_given = has_max;
    if (!has_min && !has_max && sched->ops->unbounded_priorities) {
        min = INT_MIN;
        max = INT_MAX;
        has_min = has_max = true;
    }
    if (!has_min && !has_max && sched->ops->most_priority) {
        max = sched->ops->most_priority;
        has_max = true;
    }
    if (!has_min)
        min = has_max && max < 0 ? max : 0;
    sched->min_priority = min;
    sched->max_priority = has_max ? max : min;
}

/* No worker is a member of the context that had the number before, if any. */
static struct orr_sched_worker *places_of(struct orr_runtime *rt, unsigned id)
{
    struct orr_sched_worker *places = rt->sched_ctxs->places[id];

    if (!places)
        rt->sched_ctxs->places[id] = places =
            calloc(rt->workers->n, sizeof(*places));
    for (unsigned w = 0; places && w < rt->workers->n; w++) {
        atomic_store(&places[w].priority, 0);
        atomic_store(&places[w].ntasks, 0);
        atomic_store(&places[w].shares, false);
    }
    return places;
}

/* A name is first looked for in the shared object that the user has named. */
static int find_in_library(const struct orr_config *config,
                           struct orr_sched_options *options,
                           struct orr_error *err)
{
    if (options->user || options->without_policy || !options->name ||
        !*options->name || !strcmp(options->name, "help"))
        return 0;
    return orr_sched_library_find(orr_config_string(config, ORR_CFG_SCHED_LIB),
                                  options->name, &options->user, err);
}

/* Frees a table of operations that was made for one scheduler. */
static void free_table(const struct orr_sched_ops *ops)
{
    if (!orr_sched_user_free(ops))
        orr_script_free(ops);
}

int orr_sched_new(struct orr_runtime *rt,
                  const struct orr_sched_options *chosen,
                  struct orr_sched **ret, struct orr_error *err)
{
    struct orr_sched_options resolved = *chosen, *options = &resolved;
    struct orr_sched *sched;
    int code = find_in_library(&rt->config, options, err);
    struct starpu_sched_policy *user = options->user;

    if (code)
        return code;
    sched = calloc(1, sizeof(*sched));
    if (!sched)
        return orr_fail(err, -ENOMEM, "out of memory for the scheduler");
    if (!user && !options->without_policy)
        code = builtin_choose(&rt->config, options->name, &sched->ops, err);
    if (code)
        goto free_sched;
    if (sched->ops && sched->ops->hooks)
        user = sched->ops->hooks;
    sched->runtime = rt;
    sched->id = options->id;
    sched->of_user = user != NULL;
    sched->has_policy = !options->without_policy;
    sched->tracked = options->id != 0 && !user;
    atomic_init(&sched->master, -1);
    orr_lock_init(&sched->lock, ORR_RANK_SCHED);
    orr_list_init(&sched->parked);
    sched->of_worker = places_of(rt, options->id);
    sched->said = orr_sched_said_new(
        user, orr_config_bool(&rt->config, ORR_CFG_WORKER_TREE));
    if (!sched->of_worker || !sched->said) {
        code = orr_fail(err, -ENOMEM, "out of memory for the scheduler");
        goto free_ops;
    }
    if (options->without_policy)
        sched->ops = &orr_sched_master;
    else if (user)
        code = orr_sched_user_new(&sched->said->policy, &sched->ops, err);
    if (code)
        goto free_ops;
    if (!user && !options->without_policy) {
        sched->said->policy.policy_name = sched->ops->name;
        sched->said->policy.policy_description = sched->ops->help;
    }
    sched_set_priority_range(sched, options);
    sched->argument = argument_of(options->name);
    code = sched->ops->init(sched, err);
    sched->argument = NULL;
    if (code)
        goto free_ops;
    *ret = sched;
    return 0;

free_ops:
    free_table(sched->ops);
free_sched:
    orr_sched_said_free(sched->said);
    free(sched);
    return code;
}

void orr_sched_deinit(struct orr_sched *sched)
{
    if (sched->ops->deinit)
        sched->ops->deinit(sched);
}

void orr_sched_free(struct orr_sched *sched)
{
    free_table(sched->ops);
    orr_sched_said_free(sched->said);
    free(sched);
}
