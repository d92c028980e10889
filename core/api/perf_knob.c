/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/perf_knob.c - the knobs of starpu_perf_steering.h. Any thread; a wrong
 * argument ends the program.
 */
#include <limits.h>
#include <math.h>

#include "core/api/api.h"
#include "core/api/perf_names.h"
#include "core/cost/estimates.h"
#include "core/data/lost.h"
#include "core/ends.h"
#include "core/observe/views.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"

static const struct orr_perf_table *const table = &orr_perf_knobs;

/* -- which there are -- */

int starpu_perf_knob_scope_name_to_id(const char *name)
{
    return orr_perf_scope_of(table, name);
}

const char *starpu_perf_knob_scope_id_to_name(enum starpu_perf_knob_scope scope)
{
    return orr_perf_scope_name(table, (int)scope);
}

int starpu_perf_knob_type_name_to_id(const char *name)
{
    return orr_perf_type_of(name);
}

const char *starpu_perf_knob_type_id_to_name(enum starpu_perf_knob_type type)
{
    return orr_perf_type_name((int)type);
}

int starpu_perf_knob_nb(enum starpu_perf_knob_scope scope)
{
    return orr_perf_count(table, orr_api_perf_scope(__func__, table, scope));
}

int starpu_perf_knob_nth_to_id(enum starpu_perf_knob_scope scope, int nth)
{
    return orr_perf_id(orr_api_perf_scope(__func__, table, scope), nth);
}

int starpu_perf_knob_name_to_id(enum starpu_perf_knob_scope scope,
                                const char *name)
{
    return orr_perf_find(table, orr_api_perf_scope(__func__, table, scope),
                         name);
}

const char *starpu_perf_knob_id_to_name(int id)
{
    const struct orr_perf_entry *entry = orr_perf_at(table, id);

    return entry ? entry->name : NULL;
}

int starpu_perf_knob_get_type_id(int id)
{
    return orr_api_perf_entry(__func__, table, id)->type;
}

const char *starpu_perf_knob_get_help_string(int id)
{
    return orr_api_perf_entry(__func__, table, id)->help;
}

void starpu_perf_knob_list_avail(enum starpu_perf_knob_scope scope)
{
    orr_perf_list(table, orr_api_perf_scope(__func__, table, scope), stdout);
}

void starpu_perf_knob_list_all_avail(void)
{
    orr_api_perf_list_all(table);
}

/* -- each of them: the present value, if `set` is NULL, else *set is to be it -- */

static double calibrate(const char *call, struct orr_runtime *rt,
                        const double *set)
{
    if (set && *set != 0 && *set != 1 && *set != 2)
        orr_api_perf_refuse(call, "calibration is 0, 1 or 2");
    if (set)
        orr_models_set_calibrate(rt->estimates->models, (int)*set);
    return orr_models_calibrate(rt->estimates->models);
}

static double catch_signals(const char *call, struct orr_runtime *rt,
                            const double *set)
{
    if (set && *set != 0 && *set != 1)
        orr_api_perf_refuse(call, "signals are caught (1) or not (0)");
    if (set)
        orr_ends_catch(rt, *set > 0);
    return orr_ends_catches();
}

static double bind(const char *call, struct orr_worker *worker,
                   const double *set)
{
    struct orr_exec *exec = worker->runtime->exec;
    int cpu = set ? (int)*set : 0;
    int number = set ? starpu_cpu_os_index(cpu) : -1;

    if (set && (cpu < 0 ||
                exec->ops->bind(exec, worker->context, &number, 1) != 0))
        orr_api_perf_refuse(call, "the worker cannot be bound to that "
                                  "processor");
    if (set) {
        atomic_store(&worker->bound_cpu, number);
        atomic_store(&worker->bound, cpu);
    }
    cpu = atomic_load(&worker->bound);
    return cpu >= 0 ? cpu : starpu_worker_get_bindid((int)worker->id);
}

static double enable(const char *call, struct orr_worker *worker,
                     const double *set)
{
    struct orr_knobs *knobs = &worker->runtime->workers->knobs;
    bool changed;

    if (set && *set != 0 && *set != 1)
        orr_api_perf_refuse(call, "a worker is enabled (1) or not (0)");
    if (set && *set != 0 &&
        orr_node_is_lost(worker->runtime, worker->desc->node))
        return 0; /* for good */
    if (!set)
        return !atomic_load(&worker->disabled);
    atomic_fetch_add(&knobs->begun, 1);
    changed = atomic_exchange(&worker->disabled, *set == 0) != (*set == 0);
    if (changed)
        atomic_fetch_add(&knobs->ndisabled, *set == 0 ? 1 : -1U);
    atomic_fetch_add(&knobs->over, 1);
    if (changed && *set != 0) { /* for tasks that policies have kept meanwhile */
        orr_sched_enabled(worker->runtime);
        orr_worker_wake(worker);
    }
    return !atomic_load(&worker->disabled);
}

/* Without caps priorities are as they were given; the range of the first
 * context's policy is shown. */
static double cap(const char *call, struct orr_runtime *rt, bool most,
                  const double *set)
{
    struct orr_knobs *knobs = &rt->workers->knobs;
    const struct orr_sched *sched = rt->sched_ctxs->at[0];
    int least_now = sched->min_priority, most_now = sched->max_priority;

    if (atomic_load(&knobs->capped)) {
        least_now = atomic_load(&knobs->least);
        most_now = atomic_load(&knobs->most);
    }
    if (!set)
        return most ? most_now : least_now;
    if (most)
        most_now = (int)*set;
    else
        least_now = (int)*set;
    if (least_now > most_now)
        orr_api_perf_refuse(call, "the least priority would be larger than the "
                                  "largest");
    atomic_store(&knobs->least, least_now);
    atomic_store(&knobs->most, most_now);
    atomic_store(&knobs->capped, true);
    return *set;
}

/* Weights are those of all contexts whose policies weigh. Where there is none they are
 * what such a policy would begin with. */
static double weigh(const char *call, struct orr_runtime *rt,
                    enum orr_weight weight, const double *set)
{
    static const enum orr_config_id variables[] = {
        [ORR_WEIGHT_ALPHA] = ORR_CFG_SCHED_ALPHA,
        [ORR_WEIGHT_BETA] = ORR_CFG_SCHED_BETA,
        [ORR_WEIGHT_GAMMA] = ORR_CFG_SCHED_GAMMA,
        [ORR_WEIGHT_IDLE_POWER] = ORR_CFG_IDLE_POWER,
    };
    double value = 0;
    bool any = false;

    if (set && !isnormal(*set))
        orr_api_perf_refuse(call, "a weight is a finite number other than 0");
    for (unsigned c = STARPU_NMAX_SCHED_CTXS; c-- > 0;) {
        struct orr_sched *sched = rt->sched_ctxs->at[c];

        if (!sched || !sched->ops->weigh)
            continue;
        value = sched->ops->weigh(sched, weight, set);
        any = true;
    }
    if (any)
        return value;
    if (set)
        orr_log_warning("%s has no effect: only dm and its kin weigh", call);
    return orr_config_double(&rt->config, variables[weight]);
}

/* -- access -- */

static const struct orr_perf_entry *check(const char *call, int id, int scope,
                                          int type)
{
    const struct orr_perf_entry *entry = orr_api_perf_entry(call, table, id);

    if (entry->scope != scope)
        orr_api_perf_refuse(call, "the knob is of another scope");
    if (entry->type != type)
        orr_api_perf_refuse(call, "the knob is of another type: "
                                  "starpu_perf_knob_get_type_id");
    return entry;
}

static void note_setting(struct orr_runtime *rt, const double *set)
{
    if (set)
        ORR_RECORD_NOTE(rt,
                        "performance knobs, which replays leave as they are");
}

static double global(const char *call, int id, int type, const double *set)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    const struct orr_perf_entry *entry =
        check(call, id, starpu_perf_knob_scope_global, type);

    note_setting(rt, set);
    return entry->place == 0 ? calibrate(call, rt, set)
                             : catch_signals(call, rt, set);
}

static double of_worker(const char *call, int id, unsigned workerid, int type,
                        const double *set)
{
    struct orr_worker *worker = orr_api_worker(call, (long)workerid);
    const struct orr_perf_entry *entry =
        check(call, id, starpu_perf_knob_scope_per_worker, type);

    note_setting(worker->runtime, set);
    return entry->place == 0 ? bind(call, worker, set)
                             : enable(call, worker, set);
}

static double of_policy(const char *call, int id, const char *policy, int type,
                        const double *set)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    const struct orr_perf_entry *entry =
        check(call, id, starpu_perf_knob_scope_per_scheduler, type);

    (void)policy; /* there is one */
    note_setting(rt, set);
    if (entry->place < 2)
        return cap(call, rt, entry->place == 0, set);
    return weigh(call, rt, (enum orr_weight)(entry->place - 2), set);
}

/* All knobs have one of two types, but there is a function for each. */
#define ACCESS(name, type, kind)                                               \
    type starpu_perf_knob_get_global_##name##_value(const int knob_id)         \
    {                                                                          \
        ORR_QUESTION();                                                        \
        return (type)global(__func__, knob_id, kind, NULL);                    \
    }                                                                          \
    void starpu_perf_knob_set_global_##name##_value(const int knob_id,         \
                                                    type new_value)            \
    {                                                                          \
        double value = (double)new_value;                                      \
        (void)global(__func__, knob_id, kind, &value);                         \
    }                                                                          \
    type starpu_perf_knob_get_per_worker_##name##_value(const int knob_id,     \
                                                        unsigned workerid)     \
    {                                                                          \
        ORR_QUESTION();                                                        \
        return (type)of_worker(__func__, knob_id, workerid, kind, NULL);       \
    }                                                                          \
    void starpu_perf_knob_set_per_worker_##name##_value(                       \
        const int knob_id, unsigned workerid, type new_value)                  \
    {                                                                          \
        double value = (double)new_value;                                      \
        (void)of_worker(__func__, knob_id, workerid, kind, &value);            \
    }                                                                          \
    type starpu_perf_knob_get_per_scheduler_##name##_value(                    \
        const int knob_id, const char *sched_policy_name)                      \
    {                                                                          \
        ORR_QUESTION();                                                        \
        return (type)of_policy(__func__, knob_id, sched_policy_name, kind,     \
                               NULL);                                          \
    }                                                                          \
    void starpu_perf_knob_set_per_scheduler_##name##_value(                    \
        const int knob_id, const char *sched_policy_name, type new_value)      \
    {                                                                          \
        double value = (double)new_value;                                      \
        (void)of_policy(__func__, knob_id, sched_policy_name, kind, &value);   \
    }

ACCESS(int32, int32_t, ORR_PERF_INT32)
ACCESS(int64, int64_t, ORR_PERF_INT64)
ACCESS(float, float, ORR_PERF_FLOAT)
ACCESS(double, double, ORR_PERF_DOUBLE)
