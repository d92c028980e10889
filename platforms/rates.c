/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/rates.c - see rates.h. No state. */
#include "platforms/rates.h"

#include "platforms/units.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *prop;
    enum orr_quantity quantity;
    const char *example;
} rates[ORR_NRATES] = {
    [ORR_RATE_FP32] = {"orrery-peak-fp32", ORR_QUANTITY_SPEED, "19.5Tf"},
    [ORR_RATE_FP64] = {"orrery-peak-fp64", ORR_QUANTITY_SPEED, "9.7Tf"},
    [ORR_RATE_FP32_TENSOR] = {"orrery-peak-fp32-tensor", ORR_QUANTITY_SPEED,
                              "156Tf"},
    [ORR_RATE_FP64_TENSOR] = {"orrery-peak-fp64-tensor", ORR_QUANTITY_SPEED,
                              "19.5Tf"},
    [ORR_RATE_MEMORY] = {"orrery-memory-bandwidth", ORR_QUANTITY_BANDWIDTH,
                         "1555GBps"},
};

const char *orr_rate_prop(enum orr_rate rate)
{
    return rates[rate].prop;
}

/* NaN when the text is no such quantity above 0. */
static double read_rate(enum orr_rate rate, const char *text)
{
    double value;

    if (orr_quantity_parse(rates[rate].quantity, text, &value) ||
        !(value > 0) || !isfinite(value))
        return (double)NAN;
    return value;
}

double orr_machine_desc_rate(const struct orr_machine_desc *desc, unsigned host,
                             enum orr_rate rate)
{
    const struct orr_host_desc *at = &desc->hosts[host];
    const char *text = orr_host_desc_prop(at, rates[rate].prop);
    int main_host;

    if (!text && orr_host_desc_number(at, "CPU") >= 0) {
        main_host = orr_machine_desc_host(desc, "MAIN");
        if (main_host >= 0)
            text =
                orr_host_desc_prop(&desc->hosts[main_host], rates[rate].prop);
    }
    return text ? read_rate(rate, text) : (double)NAN;
}

double orr_machine_desc_rate_of(const struct orr_machine_desc *desc,
                                const char *host, enum orr_rate rate)
{
    int at = orr_machine_desc_host(desc, host);

    return at < 0 ? (double)NAN
                  : orr_machine_desc_rate(desc, (unsigned)at, rate);
}

const char *orr_host_desc_rates_problem(const struct orr_host_desc *host,
                                        char *text, size_t size)
{
    for (unsigned r = 0; r < ORR_NRATES; r++) {
        const char *value = orr_host_desc_prop(host, rates[r].prop);

        if (!value || !isnan(read_rate(r, value)))
            continue;
        snprintf(text, size,
                 "property %s is \"%.40s\": write a rate, such as %s",
                 rates[r].prop, value, rates[r].example);
        return text;
    }
    return NULL;
}
