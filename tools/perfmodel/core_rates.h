/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/core_rates.h - what a core of this machine does at most: the rates
 * by which its figures are projected onto other machines. One thread.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"
#include "platforms/machine_desc.h"

/* Properties of MAIN beside its rates: the relative spread of what was measured, and
 * when that was. */
#define CORE_RATES_SPREAD "orrery-rates-spread"
#define CORE_RATES_DATE   "orrery-rates-date"

struct core_rates {
    double flops,
        flops64;   /* per µs, vector units, single and double precision */
    double bytes;  /* read and written per µs, beyond the private caches */
    double spread; /* how far the median try is below the best, relative */
};

/* Measures them, the best of several tries by processor time, in some tenths of a
 * second; false without memory. */
bool core_rates_measure(struct core_rates *ret);

/* Puts them, with their spread and the date of today, into MAIN of the description;
 * puts those of another description there. Errors: -ENOMEM. */
int core_rates_describe(struct orr_machine_desc *desc,
                        const struct core_rates *rates);
int core_rates_copy(struct orr_machine_desc *to,
                    const struct orr_machine_desc *from);

/* The same in the description of this machine beside its bus files, which is made if
 * it is missing. `host`: whose. Errors have a message in *err, but -ENOMEM. */
int core_rates_keep(const char *const *dirs, const char *host,
                    const struct core_rates *rates, struct orr_error *err);
