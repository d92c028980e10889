/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/core_rates_kept.c - where the rates of a core are kept, see
 * core_rates.h. One thread. */
#include "tools/perfmodel/core_rates.h"

#include "core/device/bus/store.h"
#include "platforms/desc_build.h"
#include "platforms/present.h"
#include "platforms/rates.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int main_host_set(struct orr_machine_desc *desc, const char *prop,
                         const char *text)
{
    int host = orr_machine_desc_host(desc, "MAIN");

    if (host < 0)
        host = orr_machine_desc_add_host(desc, "MAIN", 1);
    return host < 0 ? host
                    : orr_props_set(&desc->hosts[host].props,
                                    &desc->hosts[host].nprops, prop, text);
}

static int main_host_set_rate(struct orr_machine_desc *desc, enum orr_rate rate,
                              double per_us, const char *unit)
{
    char text[40];

    snprintf(text, sizeof(text), "%.9g%s", per_us / 1e3, unit);
    return main_host_set(desc, orr_rate_prop(rate), text);
}

int core_rates_describe(struct orr_machine_desc *desc,
                        const struct core_rates *rates)
{
    char spread[40], date[32];
    time_t now = time(NULL);
    struct tm tm;
    int rc = main_host_set_rate(desc, ORR_RATE_FP32, rates->flops, "Gf");

    if (rc == 0)
        rc = main_host_set_rate(desc, ORR_RATE_FP64, rates->flops64, "Gf");
    if (rc == 0)
        rc = main_host_set_rate(desc, ORR_RATE_MEMORY, rates->bytes, "GBps");
    snprintf(spread, sizeof(spread), "%.3g", rates->spread);
    if (rc == 0)
        rc = main_host_set(desc, CORE_RATES_SPREAD, spread);
    if (!gmtime_r(&now, &tm) ||
        !strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm))
        snprintf(date, sizeof(date), "at an unknown date");
    return rc < 0 ? rc : main_host_set(desc, CORE_RATES_DATE, date);
}

int core_rates_copy(struct orr_machine_desc *to,
                    const struct orr_machine_desc *from)
{
    const char *const props[] = {
        orr_rate_prop(ORR_RATE_FP32), orr_rate_prop(ORR_RATE_FP64),
        orr_rate_prop(ORR_RATE_MEMORY), CORE_RATES_SPREAD, CORE_RATES_DATE};
    int host = orr_machine_desc_host(from, "MAIN"), rc = 0;

    for (size_t i = 0; rc == 0 && host >= 0 && i < 5; i++) {
        const char *text = orr_host_desc_prop(&from->hosts[host], props[i]);

        if (text)
            rc = main_host_set(to, props[i], text);
    }
    return rc;
}

int core_rates_keep(const char *const *dirs, const char *host,
                    const struct core_rates *rates, struct orr_error *err)
{
    struct orr_machine_desc *desc = NULL;
    char *stem = NULL, *path = NULL;
    int lock = -1, rc = orr_bus_store_find(dirs, host, &stem);

    if (rc == 0 && !(path = tool_format("%s.machine.xml", stem)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = orr_bus_store_lock(stem, &lock, err);
    if (rc == 0)
        rc = orr_machine_desc_present(dirs, host, &desc, NULL, err);
    if (rc == 0)
        rc = orr_desc_set_text(&desc->host, host);
    if (rc == 0)
        rc = core_rates_describe(desc, rates);
    if (rc == 0)
        rc = orr_machine_desc_write_alone(desc, path, err);
    if (lock >= 0)
        orr_bus_store_unlock(lock);
    orr_machine_desc_free(desc);
    free(path);
    free(stem);
    return rc;
}
