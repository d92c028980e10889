/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/perf_counter.c - the counters of starpu_perf_monitoring.h. Any thread;
 * a wrong argument ends the program.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/api/perf_names.h"
#include "core/observe/perf.h"
#include "core/worker/workers.h"

static const struct orr_perf_table *const table = &orr_perf_counters;

void starpu_perf_counter_collection_start(void)
{
    orr_perf_switch(ORR_API_RUNTIME(), true);
}

void starpu_perf_counter_collection_stop(void)
{
    orr_perf_switch(ORR_API_RUNTIME(), false);
}

/* -- which there are -- */

int starpu_perf_counter_scope_name_to_id(const char *name)
{
    return orr_perf_scope_of(table, name);
}

const char *
starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope)
{
    return orr_perf_scope_name(table, (int)scope);
}

int starpu_perf_counter_type_name_to_id(const char *name)
{
    return orr_perf_type_of(name);
}

const char *
starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type)
{
    return orr_perf_type_name((int)type);
}

int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope)
{
    return orr_perf_count(table, orr_api_perf_scope(__func__, table, scope));
}

int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope, int nth)
{
    return orr_perf_id(orr_api_perf_scope(__func__, table, scope), nth);
}

int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope,
                                   const char *name)
{
    return orr_perf_find(table, orr_api_perf_scope(__func__, table, scope),
                         name);
}

const char *starpu_perf_counter_id_to_name(int id)
{
    const struct orr_perf_entry *entry = orr_perf_at(table, id);

    return entry ? entry->name : NULL;
}

int starpu_perf_counter_get_type_id(int id)
{
    return orr_api_perf_entry(__func__, table, id)->type;
}

const char *starpu_perf_counter_get_help_string(int id)
{
    return orr_api_perf_entry(__func__, table, id)->help;
}

void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope)
{
    orr_perf_list(table, orr_api_perf_scope(__func__, table, scope), stdout);
}

void starpu_perf_counter_list_all_avail(void)
{
    orr_api_perf_list_all(table);
}

/* -- sets and listeners -- */

struct starpu_perf_counter_set *
starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope)
{
    struct starpu_perf_counter_set *set = calloc(1, sizeof(*set));

    (void)orr_api_perf_scope(__func__, table, scope);
    if (!set)
        orr_api_perf_refuse(__func__, "out of memory");
    set->scope = scope;
    return set;
}

void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set)
{
    free(set);
}

/* The bit of a counter of the set's scope. */
static unsigned bit_of(const char *call,
                       const struct starpu_perf_counter_set *set, int id)
{
    const struct orr_perf_entry *entry = orr_api_perf_entry(call, table, id);

    if (entry->scope != (int)set->scope)
        orr_api_perf_refuse(call, "the counter is of another scope than the "
                                  "set");
    return 1U << entry->place;
}

void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set,
                                       int id)
{
    set->enabled |= bit_of(__func__, set, id);
}

void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set,
                                        int id)
{
    set->enabled &= ~bit_of(__func__, set, id);
}

struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
    struct starpu_perf_counter_set *set,
    void (*callback)(struct starpu_perf_counter_listener *listener,
                     struct starpu_perf_counter_sample *sample, void *context),
    void *user_arg)
{
    struct starpu_perf_counter_listener *listener = malloc(sizeof(*listener));

    if (!set || !callback)
        orr_api_perf_refuse(__func__, set ? "the callback is NULL"
                                          : "the set is NULL: make one with "
                                            "starpu_perf_counter_set_alloc");
    if (!listener)
        orr_api_perf_refuse(__func__, "out of memory");
    *listener = (struct starpu_perf_counter_listener){set, callback, user_arg};
    return listener;
}

void starpu_perf_counter_listener_exit(
    struct starpu_perf_counter_listener *listener)
{
    free(listener);
}

/* -- which listener is told of what -- */

static void check_scope(const char *call,
                        const struct starpu_perf_counter_listener *listener,
                        enum starpu_perf_counter_scope scope)
{
    if (!listener)
        orr_api_perf_refuse(call,
                            "the listener is NULL: make one with "
                            "starpu_perf_counter_listener_init");
    if (listener->set->scope != scope)
        orr_api_perf_refuse(call, "the listener's set is of another scope");
}

static void listen(const char *call, struct orr_perf_target *target,
                   struct starpu_perf_counter_listener *listener)
{
    if (!orr_perf_listen(orr_runtime_need(call), target, listener))
        orr_api_perf_refuse(call, listener ? "there is a listener already"
                                           : "there is no listener");
}

void starpu_perf_counter_set_global_listener(
    struct starpu_perf_counter_listener *listener)
{
    check_scope(__func__, listener, starpu_perf_counter_scope_global);
    listen(__func__, orr_perf_global(ORR_API_RUNTIME()), listener);
}

void starpu_perf_counter_unset_global_listener(void)
{
    listen(__func__, orr_perf_global(ORR_API_RUNTIME()), NULL);
}

static struct orr_perf_target *worker_perf_target(const char *call,
                                                  unsigned workerid)
{
    return orr_perf_of_worker(orr_runtime_need(call),
                              orr_api_worker(call, (long)workerid)->id);
}

void starpu_perf_counter_set_per_worker_listener(
    unsigned workerid, struct starpu_perf_counter_listener *listener)
{
    check_scope(__func__, listener, starpu_perf_counter_scope_per_worker);
    listen(__func__, worker_perf_target(__func__, workerid), listener);
}

void starpu_perf_counter_unset_per_worker_listener(unsigned workerid)
{
    listen(__func__, worker_perf_target(__func__, workerid), NULL);
}

void starpu_perf_counter_set_all_per_worker_listeners(
    struct starpu_perf_counter_listener *listener)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    check_scope(__func__, listener, starpu_perf_counter_scope_per_worker);
    for (unsigned w = 0; w < rt->workers->n; w++)
        listen(__func__, worker_perf_target(__func__, w), listener);
}

void starpu_perf_counter_unset_all_per_worker_listeners(void)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (unsigned w = 0; w < rt->workers->n; w++)
        listen(__func__, worker_perf_target(__func__, w), NULL);
}

void starpu_perf_counter_set_per_codelet_listener(
    struct starpu_codelet *cl, struct starpu_perf_counter_listener *listener)
{
    check_scope(__func__, listener, starpu_perf_counter_scope_per_codelet);
    if (!orr_perf_listen_codelet(ORR_API_RUNTIME(), cl, listener))
        orr_api_perf_refuse(__func__, "there is a listener already");
}

void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl)
{
    if (!orr_perf_listen_codelet(ORR_API_RUNTIME(), cl, NULL))
        orr_api_perf_refuse(__func__, "there is no listener");
}

/* -- values -- */

static const union orr_perf_value *
value_of(const char *call, const struct starpu_perf_counter_sample *sample,
         int id, int type)
{
    const struct starpu_perf_counter_set *set = sample->listener->set;
    unsigned bit = bit_of(call, set, id);
    const struct orr_perf_entry *entry = orr_perf_at(table, id);

    if (!(set->enabled & bit))
        orr_api_perf_refuse(call, "the counter is not enabled in the set");
    if (entry->type != type)
        orr_api_perf_refuse(call, "the counter is of another type: "
                                  "starpu_perf_counter_get_type_id");
    return &sample->values[entry->place];
}

int32_t starpu_perf_counter_sample_get_int32_value(
    struct starpu_perf_counter_sample *sample, const int counter_id)
{
    return (int32_t)value_of(__func__, sample, counter_id, ORR_PERF_INT32)
        ->number;
}

int64_t starpu_perf_counter_sample_get_int64_value(
    struct starpu_perf_counter_sample *sample, const int counter_id)
{
    return value_of(__func__, sample, counter_id, ORR_PERF_INT64)->number;
}

float starpu_perf_counter_sample_get_float_value(
    struct starpu_perf_counter_sample *sample, const int counter_id)
{
    return (float)value_of(__func__, sample, counter_id, ORR_PERF_FLOAT)->real;
}

double starpu_perf_counter_sample_get_double_value(
    struct starpu_perf_counter_sample *sample, const int counter_id)
{
    return value_of(__func__, sample, counter_id, ORR_PERF_DOUBLE)->real;
}
