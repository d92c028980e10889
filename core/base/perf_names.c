/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/perf_names.c - see perf_names.h. */
#include "core/base/perf_names.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Scopes: 2 the program, 4 a worker, 6 a codelet. */
static const struct orr_perf_entry counters[] = {
    {2, ORR_PERF_INT64, 0, "starpu.task.g_total_submitted",
     "tasks that the application has submitted"},
    {2, ORR_PERF_INT64, 1, "starpu.task.g_peak_submitted",
     "most tasks at once that were submitted and not ready"},
    {2, ORR_PERF_INT64, 2, "starpu.task.g_peak_ready",
     "most tasks at once that were ready and not running"},
    {4, ORR_PERF_INT64, 0, "starpu.task.w_total_executed",
     "kernels that the worker has executed"},
    {4, ORR_PERF_DOUBLE, 1, "starpu.task.w_cumul_execution_time",
     "microseconds that they took"},
    {6, ORR_PERF_INT64, 0, "starpu.task.c_total_submitted",
     "tasks of the codelet that the application has submitted"},
    {6, ORR_PERF_INT64, 1, "starpu.task.c_peak_submitted",
     "most of them at once that were submitted and not ready"},
    {6, ORR_PERF_INT64, 2, "starpu.task.c_peak_ready",
     "most of them at once that were ready and not running"},
    {6, ORR_PERF_INT64, 3, "starpu.task.c_total_executed",
     "kernels of the codelet that were executed"},
    {6, ORR_PERF_DOUBLE, 4, "starpu.task.c_cumul_execution_time",
     "microseconds that they took"},
};

/* Scopes: 1 the program, 3 a worker, 5 the policy. */
static const struct orr_perf_entry knobs[] = {
    {1, ORR_PERF_INT32, 0, "starpu.global.g_calibrate_knob",
     "as STARPU_CALIBRATE: 0, 1 or 2"},
    {1, ORR_PERF_INT32, 1, "starpu.global.g_enable_catch_signal_knob",
     "1: what a run has recorded is saved when a signal ends it"},
    {3, ORR_PERF_INT32, 0, "starpu.worker.w_bind_to_pu_knob",
     "the processor to which the worker's thread is bound, by its number"},
    {3, ORR_PERF_INT32, 1, "starpu.worker.w_enable_worker_knob",
     "0: no more tasks are given to the worker"},
    {5, ORR_PERF_INT32, 0, "starpu.task.s_max_priority_cap_knob",
     "larger priorities are lowered to it when tasks are submitted"},
    {5, ORR_PERF_INT32, 1, "starpu.task.s_min_priority_cap_knob",
     "smaller priorities are raised to it"},
    {5, ORR_PERF_DOUBLE, 2, "starpu.dmda.s_alpha_knob",
     "as STARPU_SCHED_ALPHA"},
    {5, ORR_PERF_DOUBLE, 3, "starpu.dmda.s_beta_knob", "as STARPU_SCHED_BETA"},
    {5, ORR_PERF_DOUBLE, 4, "starpu.dmda.s_gamma_knob",
     "as STARPU_SCHED_GAMMA"},
    {5, ORR_PERF_DOUBLE, 5, "starpu.dmda.s_idle_power_knob",
     "as STARPU_IDLE_POWER"},
};

const struct orr_perf_table orr_perf_counters = {
    .what = "counter",
    .prefix = "starpu_perf_counter",
    .entries = counters,
    .n = LENGTH(counters),
    .scopes = {{2, "global"}, {4, "per_worker"}, {6, "per_codelet"}},
};

const struct orr_perf_table orr_perf_knobs = {
    .what = "knob",
    .prefix = "starpu_perf_knob",
    .entries = knobs,
    .n = LENGTH(knobs),
    .scopes = {{1, "global"}, {3, "per_worker"}, {5, "per_scheduler"}},
};

static const char *const types[] = {
    [ORR_PERF_INT32] = "int32",
    [ORR_PERF_INT64] = "int64",
    [ORR_PERF_FLOAT] = "float",
    [ORR_PERF_DOUBLE] = "double",
};

int orr_perf_scope_of(const struct orr_perf_table *table, const char *name)
{
    for (unsigned i = 0; i < LENGTH(table->scopes); i++)
        if (!strcmp(table->scopes[i].name, name))
            return table->scopes[i].id;
    return -1;
}

const char *orr_perf_scope_name(const struct orr_perf_table *table, int scope)
{
    for (unsigned i = 0; i < LENGTH(table->scopes); i++)
        if (table->scopes[i].id == scope)
            return table->scopes[i].name;
    return NULL;
}

int orr_perf_type_of(const char *name)
{
    for (int type = ORR_PERF_INT32; type <= ORR_PERF_DOUBLE; type++)
        if (!strcmp(types[type], name))
            return type;
    return -1;
}

const char *orr_perf_type_name(int type)
{
    return type >= ORR_PERF_INT32 && type <= ORR_PERF_DOUBLE ? types[type]
                                                             : NULL;
}

int orr_perf_count(const struct orr_perf_table *table, int scope)
{
    int n = 0;

    for (unsigned i = 0; i < table->n; i++)
        n += table->entries[i].scope == scope;
    return n;
}

const struct orr_perf_entry *orr_perf_at(const struct orr_perf_table *table,
                                         int id)
{
    for (unsigned i = 0; i < table->n; i++) {
        const struct orr_perf_entry *entry = &table->entries[i];

        if (orr_perf_id(entry->scope, entry->place) == id)
            return entry;
    }
    return NULL;
}

int orr_perf_find(const struct orr_perf_table *table, int scope,
                  const char *name)
{
    for (unsigned i = 0; i < table->n; i++) {
        const struct orr_perf_entry *entry = &table->entries[i];

        if (entry->scope == scope && !strcmp(entry->name, name))
            return orr_perf_id(scope, entry->place);
    }
    return -1;
}

void orr_perf_list(const struct orr_perf_table *table, int scope, FILE *out)
{
    for (unsigned i = 0; i < table->n; i++) {
        const struct orr_perf_entry *entry = &table->entries[i];

        if (entry->scope == scope)
            fprintf(out, "0x%08x:%s [%s] - %s\n",
                    (unsigned)orr_perf_id(scope, entry->place), entry->name,
                    types[entry->type], entry->help);
    }
}

static void print_table(const struct orr_perf_table *table, const char *title,
                        FILE *out)
{
    fprintf(out,
            "\n## %s\n\n| %s | scope | type | meaning |\n|---|---|---|---|\n",
            title, table->what);
    for (unsigned i = 0; i < table->n; i++) {
        const struct orr_perf_entry *entry = &table->entries[i];

        fprintf(out, "| `%s` | %s | %s | %s |\n", entry->name,
                orr_perf_scope_name(table, entry->scope), types[entry->type],
                entry->help);
    }
}

void orr_perf_print(FILE *out)
{
    print_table(&orr_perf_counters,
                "Performance counters (`starpu_perf_monitoring.h`)", out);
    print_table(&orr_perf_knobs, "Performance knobs (`starpu_perf_steering.h`)",
                out);
}
