/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/core_rates.h - what a core of this machine does at most: the rates
 * by which its figures are projected onto other machines. One thread.
 */
#pragma once

#include <stdbool.h>

struct core_rates {
    double flops,
        flops64;  /* per µs, vector units, single and double precision */
    double bytes; /* read and written per µs, beyond the private caches */
};

/* Measures them, the best of several tries, in some tenths of a second; false when
 * it cannot: without memory, or built without optimisation. */
bool core_rates_measure(struct core_rates *ret);
