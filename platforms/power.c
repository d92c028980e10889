/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/power.c - see power.h. No state. */
#include "platforms/power.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "platforms/units.h"

static const char prefix[] = "orrery-power-", of_kernel[] = "orrery-power-busy-";

const char *orr_power_prop(enum orr_power power)
{
    static const char *const props[ORR_NPOWERS] = {
        "orrery-power-idle", "orrery-power-busy", "orrery-power-copy"};

    return props[power];
}

/* -1: it is none. */
static double power_of(const char *text)
{
    double value;

    return orr_quantity_parse(ORR_QUANTITY_POWER, text, &value) || value < 0 ? -1 : value;
}

static double find_power(const struct orr_host_desc *host, const char *prop)
{
    const char *text = orr_host_desc_prop(host, prop);
    double value = text ? power_of(text) : -1;

    return value < 0 ? (double)NAN : value;
}

double orr_host_desc_power(const struct orr_host_desc *host, enum orr_power power)
{
    return find_power(host, orr_power_prop(power));
}

double orr_host_desc_kernel_power(const struct orr_host_desc *host, const char *kernel)
{
    char prop[256];
    int n = snprintf(prop, sizeof(prop), "%s%s", of_kernel, kernel);

    return n < 0 || (size_t)n >= sizeof(prop) ? (double)NAN : find_power(host, prop);
}

bool orr_machine_desc_has_power(const struct orr_machine_desc *desc)
{
    for (unsigned h = 0; h < desc->nhosts; h++)
        for (unsigned i = 0; i < desc->hosts[h].nprops; i++)
            if (!strncmp(desc->hosts[h].props[i].id, prefix, strlen(prefix)))
                return true;
    return false;
}

/* Whether a property of that name is one of these, of that host. */
static bool is_known(const struct orr_host_desc *host, const char *prop)
{
    bool device = orr_host_desc_number(host, "CUDA") >= 0 ||
                  orr_host_desc_number(host, "OpenCL") >= 0;
    bool main_host = !strcmp(host->id, "MAIN");

    if (!strcmp(prop, orr_power_prop(ORR_POWER_BUSY)) ||
        (!strncmp(prop, of_kernel, strlen(of_kernel)) && prop[strlen(of_kernel)]))
        return device || main_host;
    if (!strcmp(prop, orr_power_prop(ORR_POWER_IDLE)))
        return device || main_host;
    return !strcmp(prop, orr_power_prop(ORR_POWER_COPY)) && device;
}

const char *orr_host_desc_power_problem(const struct orr_host_desc *host, char *text, size_t size)
{
    for (unsigned i = 0; i < host->nprops; i++) {
        const struct orr_prop_desc *prop = &host->props[i];

        if (strncmp(prop->id, prefix, strlen(prefix)))
            continue;
        if (!is_known(host, prop->id))
            snprintf(text, size,
                     "property %.60s is not known here: MAIN and devices have orrery-power-idle, "
                     "these and CPUs orrery-power-busy and -busy-KERNEL, devices -copy",
                     prop->id);
        else if (power_of(prop->value) < 0)
            snprintf(text, size, "property %.60s is \"%.40s\": write a power, such as 350W",
                     prop->id, prop->value);
        else
            continue;
        return text;
    }
    return NULL;
}
