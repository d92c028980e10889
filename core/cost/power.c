/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/power.c - see power.h. No state. */
#include "core/cost/power.h"

#include <math.h>
#include <string.h>

#include "core/base/config.h"
#include "core/device/machine.h"

static bool weighs_powers(const struct orr_runtime *rt)
{
    return rt->machine->npowers > 0 &&
           orr_config_is_set(&rt->config, ORR_CFG_SCHED_GAMMA);
}

bool orr_cost_weighs_energy(const struct orr_runtime *rt,
                            const struct starpu_codelet *cl)
{
    return cl && (cl->energy_model || weighs_powers(rt));
}

static bool is_power_of(const struct orr_kernel_power *power, const char *name)
{
    return name && !strcmp(power->kernel, name);
}

double orr_class_joules(const struct orr_worker_class *class,
                        const struct starpu_codelet *cl, double us)
{
    const struct orr_worker_powers *powers = class->powers;
    const char *symbol = cl->model ? cl->model->symbol : NULL;
    double watts = powers ? powers->busy : (double)NAN;

    for (unsigned i = 0; powers && i < powers->n; i++)
        if (is_power_of(&powers->items[i], symbol ? symbol : cl->name))
            watts = powers->items[i].watts;
    return us > 0 ? watts * class->ncores * us * 1e-6 : (double)NAN;
}

double orr_cost_idle_power(const struct orr_runtime *rt)
{
    bool stated = weighs_powers(rt) && rt->machine->idle_watts > 0 &&
                  !orr_config_is_set(&rt->config, ORR_CFG_IDLE_POWER);

    return stated ? rt->machine->idle_watts
                  : orr_config_double(&rt->config, ORR_CFG_IDLE_POWER);
}
