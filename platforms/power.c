/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/power.c - see power.h. No state. */
#include "platforms/power.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platforms/desc_build.h"
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

/* --- powers in words --- */

static int fail_powers(struct orr_error *err, const char *word)
{
    return orr_fail(
        err, -EINVAL,
        "ORRERY_POWERS: \"%.60s\": a host with powers is expected, such as "
        "MAIN idle=350W busy=9W; CUDA0 idle=60W busy=350W copy=15W",
        word);
}

/* "idle=60W". */
static int set_power(struct orr_host_desc *host, const char *word,
                     struct orr_error *err)
{
    static const char *const names[ORR_NPOWERS] = {"idle", "busy", "copy"};

    for (int power = 0; power < ORR_NPOWERS; power++) {
        size_t n = strlen(names[power]);
        const char *prop = orr_power_prop((enum orr_power)power);

        if (strncmp(word, names[power], n) || word[n] != '=' ||
            !is_known(host, prop))
            continue;
        if (power_of(word + n + 1) < 0)
            break;
        return orr_props_set(&host->props, &host->nprops, prop, word + n + 1);
    }
    return fail_powers(err, word);
}

/* "CUDA0 idle=60W busy=350W", which is taken apart. */
static int set_host_powers(struct orr_machine_desc *desc, char *text,
                           struct orr_error *err)
{
    char *rest = NULL, *word = strtok_r(text, " ", &rest);
    int host = word ? orr_machine_desc_host(desc, word) : -1, rc = 0;

    if (!word)
        return 0;
    if (host < 0)
        return fail_powers(err, word);
    while (!rc && (word = strtok_r(NULL, " ", &rest)))
        rc = set_power(&desc->hosts[host], word, err);
    return rc;
}

int orr_machine_desc_set_powers(struct orr_machine_desc *desc,
                                const char *words, struct orr_error *err)
{
    char *copy = strdup(words), *rest = NULL;
    int rc = copy ? 0 : -ENOMEM;

    for (char *text = copy ? strtok_r(copy, ";", &rest) : NULL; !rc && text;
         text = strtok_r(NULL, ";", &rest))
        rc = set_host_powers(desc, text, err);
    free(copy);
    return rc == -ENOMEM ? orr_fail(err, rc, "out of memory") : rc;
}
