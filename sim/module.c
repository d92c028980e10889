/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/module.c - what orrery/sim.so exports: one table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cluster_events.h"
#include "sim/described.h"
#include "sim/machine.h"

/* The models' host name: the requested one, else the description's. */
static int rename_host(const struct orr_machine_options *options,
                       struct orr_machine *machine)
{
    char *host;

    if (!options->host || !*options->host)
        return 0;
    host = strdup(options->host);
    if (!host)
        return -ENOMEM;
    free(machine->host);
    machine->host = host;
    return 0;
}

static int sim_open(const struct orr_machine_options *options,
                    struct orr_machine **ret, struct orr_error *err)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_machine *machine = NULL;
    int error;

    if (!options->name)
        return orr_fail(err, -EINVAL, "no machine to simulate was named");
    error = orr_described_find(options, &desc, err);
    if (error < 0)
        return error;
    error = orr_sim_open_desc(desc, options, &machine, err);
    orr_described_leave(desc);
    if (error < 0)
        return error;
    error = rename_host(options, machine);
    if (error < 0) {
        machine->ops->close(machine);
        return error;
    }
    *ret = machine;
    return 0;
}

static void sim_on_deadlock(struct orr_machine *machine,
                            orr_deadlock_fn handler,
                            struct orr_runtime *runtime)
{
    struct orr_sim_user *user = &((struct orr_sim_machine *)machine)->user;

    user->on_deadlock = handler;
    user->runtime = runtime;
}

static void sim_break_at(struct orr_machine *machine, double us,
                         orr_break_fn handler, struct orr_runtime *runtime)
{
    struct orr_sim_user *user = &((struct orr_sim_machine *)machine)->user;

    user->on_break = handler;
    user->runtime = runtime;
    orr_sim_exec_break_at(user, us);
}

const struct orr_sim_ops orr_sim_ops = {
    .open = sim_open,
    .on_deadlock = sim_on_deadlock,
    .break_at = sim_break_at,
    .cluster = &orr_sim_cluster_ops,
};

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "sim",
        .table = &orr_sim_ops,
        .stamp = orr_module_stamp,
    };

    return &module;
}
