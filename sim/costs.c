/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/costs.c - see costs.h. */
#include "sim/costs.h"

#include "platforms/desc_build.h"
#include "platforms/rates.h"
#include "platforms/units.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* A cost of core's that the description may give, and its switch. */
struct cost {
    size_t in_desc, in_costs; /* offsets of doubles */
    const char *variable;
};

#define COST(name, variable)                                                   \
    {                                                                          \
        offsetof(struct orr_machine_desc, cost_##name),                        \
            offsetof(struct orr_costs, name), variable                         \
    }
#define SWITCH(name) "STARPU_SIMGRID_" name "_COST"

static const struct cost table[] = {
    COST(submit, SWITCH("TASK_SUBMIT")),
    COST(submit_per_buffer, SWITCH("TASK_SUBMIT")),
    COST(push, SWITCH("TASK_PUSH")),
    COST(fetch, SWITCH("FETCHING_INPUT")),
    COST(device_alloc, SWITCH("CUDA_MALLOC")),
    COST(device_free, SWITCH("CUDA_MALLOC")),
    COST(pinned_alloc_per_mib, SWITCH("CUDA_MALLOC")),
    COST(first_use_per_mib, SWITCH("TRANSFER")),
    COST(device_first_use_per_mib, SWITCH("TRANSFER")),
    COST(kernel_queue, SWITCH("CUDA_QUEUE")),
    COST(kernel_latency, SWITCH("CUDA_QUEUE")),
    COST(copy_queue, SWITCH("CUDA_QUEUE")),
    COST(progress, NULL), /* has no switch */
};

/* The description's value, or the usual one. */
static double cost_value(const struct orr_machine_desc *desc, size_t in_desc)
{
    unsigned i = 0;
    double given;

    while (orr_cost_fields[i].offset != in_desc)
        i++;
    given = orr_machine_desc_get_cost(desc, i);
    return isnan(given) ? orr_cost_fields[i].usual : given;
}

struct orr_sim_wake orr_sim_wake_cost(const struct orr_machine_desc *desc)
{
    double late =
        cost_value(desc, offsetof(struct orr_machine_desc, cost_wake));

    return (struct orr_sim_wake){
        .soon = desc->cost_wake_soon < late ? desc->cost_wake_soon : late,
        .late = late};
}

/* An integer switch of the environment, on by default. */
static int read_switch(const char *variable, bool *ret, struct orr_error *err)
{
    const char *value = getenv(variable);
    char *end;
    long number;

    if (!value || !*value) {
        *ret = true;
        return 0;
    }
    number = strtol(value, &end, 10);
    if (*end || number < 0)
        return orr_fail(err, -EINVAL, "%s=%s: must be 0 or 1", variable, value);
    *ret = number != 0;
    return 0;
}

int orr_sim_costs(const struct orr_machine_desc *desc, bool pinned,
                  struct orr_costs *ret, struct orr_error *err)
{
    struct orr_costs costs = {0};

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        const struct cost *c = &table[i];
        bool on = true;
        int error = c->variable ? read_switch(c->variable, &on, err) : 0;

        if (error < 0)
            return error;
        if (!on)
            continue;
        *(double *)(void *)((char *)&costs + c->in_costs) =
            cost_value(desc, c->in_desc);
    }
    if (!pinned)
        costs.pinned_alloc_per_mib = 0;
    *ret = costs;
    return 0;
}

int orr_sim_transfers_cost(bool *ret, struct orr_error *err)
{
    return read_switch("STARPU_SIMGRID_TRANSFER_COST", ret, err);
}

/* 0 if it states none. */
static double host_cost_number(const struct orr_host_desc *host,
                               const char *name)
{
    const char *text = orr_host_desc_prop(host, name);
    double value;

    return text && !orr_number_parse(text, &value) && value > 0 ? value : 0;
}

/* Copies of more than the caches hold, by one core of the machines at hand, go at 2.6
 * to 6.3 GB/s; the catalogue has the same 10 GB/s for what a core moves. Its slowest
 * device states 192 GB/s. */
struct orr_local_copy orr_sim_local_copy(const struct orr_machine_desc *desc,
                                         unsigned host, bool is_main)
{
    const struct orr_host_desc *memory = &desc->hosts[host];
    double measured = host_cost_number(memory, "orrery-copy-bandwidth");
    double rate = is_main
                      ? orr_machine_desc_rate_of(desc, "MAIN", ORR_RATE_MEMORY)
                      : orr_machine_desc_rate(desc, host, ORR_RATE_MEMORY);

    if (measured > 0)
        return (struct orr_local_copy){
            1e6 * host_cost_number(memory, "orrery-copy-latency"),
            1e6 / measured};
    if (isnan(rate))
        rate = is_main ? 10e9 : 200e9;
    return (struct orr_local_copy){0, 2 * 1e6 / rate};
}
