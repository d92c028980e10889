/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/network_open.c - see network_open.h. */
#include "sim/network_open.h"

#include <errno.h>
#include <string.h>

#include "core/base/c_locale.h"
#include "core/base/module.h"
#include "sim/exec.h"
#include "sim/fluid.h"
#include "sim/options.h"

static int open_simgrid_module(const struct orr_simgrid_ops **ret,
                               struct orr_error *err)
{
    const void *table;
    int rc = orr_module_open("simgrid", &table, err);

    if (rc == 0)
        *ret = table;
    return rc;
}

static int open_simgrid(const struct orr_machine_desc *desc,
                        const unsigned *endpoints, unsigned nendpoints,
                        struct orr_network **ret, struct orr_error *err)
{
    const struct orr_simgrid_ops *simgrid = NULL;
    struct orr_c_locale locale;
    int rc;

    if (orr_sim_exec_current())
        return orr_fail(err, -ENOTSUP,
                        "SimGrid moves the transfers of one machine only, and "
                        "another one is simulated in this process: give "
                        "ORRERY_SIM_NETWORK=fluid");
    rc = open_simgrid_module(&simgrid, err);
    if (rc < 0)
        return rc;
    locale = orr_c_locale_begin();
    rc = simgrid->make(desc, endpoints, nendpoints, ret, err);
    orr_c_locale_end(locale);
    return rc;
}

static int check_options(const struct orr_machine_desc *desc,
                         struct orr_error *err)
{
    static const char *const ids[] = {
        "network/TCP-gamma", "network/weight-S", "network/crosstraffic",
        "network/latency-factor", "network/bandwidth-factor"};

    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        if (isnan(orr_sim_option(desc, ids[i], 0)))
            return orr_fail(err, -EINVAL,
                            "the machine \"%s\" sets %s to what is no number",
                            desc->name ? desc->name : "?", ids[i]);
    return 0;
}

int orr_network_open(const struct orr_machine_desc *desc, const char *choice,
                     const unsigned *endpoints, unsigned nendpoints,
                     struct orr_network **ret, struct orr_error *err)
{
    const char *lacking;
    int rc = check_options(desc, err);

    if (rc < 0)
        return rc;
    lacking = orr_fluid_lacks(desc);
    if (!choice || !*choice)
        choice = lacking ? "simgrid" : "fluid";
    if (strcmp(choice, "simgrid") == 0)
        return open_simgrid(desc, endpoints, nendpoints, ret, err);
    if (lacking)
        return orr_fail(err, -EINVAL,
                        "the machine \"%s\" sets network/%s, which "
                        "ORRERY_SIM_NETWORK=fluid does not have: unset it, or "
                        "give simgrid",
                        desc->name ? desc->name : "?", lacking);
    return orr_fluid_new(desc, endpoints, nendpoints, ret, err);
}

bool orr_network_is_simgrids(const struct orr_machine_desc *desc, const char *choice)
{
    if (choice && *choice)
        return strcmp(choice, "simgrid") == 0;
    return orr_fluid_lacks(desc) != NULL;
}

int orr_stacks_open(const struct orr_machine_desc *desc, const char *choice,
                    const unsigned *endpoints, unsigned nendpoints,
                    size_t stack_size, struct orr_stacks **ret,
                    struct orr_error *err)
{
    const struct orr_simgrid_ops *simgrid = NULL;
    struct orr_c_locale locale;
    int rc;

    *ret = NULL;
    if (!choice || strcmp(choice, "actors") != 0)
        return 0;
    rc = open_simgrid_module(&simgrid, err);
    if (rc < 0)
        return rc;
    locale = orr_c_locale_begin();
    rc =
        simgrid->make_stacks(desc, endpoints, nendpoints, stack_size, ret, err);
    orr_c_locale_end(locale);
    return rc;
}
