/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/liar.c - a solver module that claims bounds no schedule reaches, to
 * see that simulated runs are checked against them.
 */
#include "bound/solver.h"
#include "core/base/module.h"

static int compute(const struct orr_bound_instance *instance,
                   enum orr_bound_method method,
                   const struct orr_bound_options *options,
                   struct orr_bound_result *ret)
{
    (void)instance;
    (void)options;
    *ret = (struct orr_bound_result){.method = method, .ms = 1e9};
    return 0;
}

static const struct orr_bound_solver table = {.compute = compute};

const struct orr_module *orr_module_entry(void);

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "bound",
        .table = &table,
        .stamp = orr_module_stamp,
    };

    return &module;
}
