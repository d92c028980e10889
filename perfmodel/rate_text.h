/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/rate_text.h - rates of devices as users write them: the one reader of
 * "19.5 TFlop/s" and "1555 GB/s", for assumptions and for projected models. No
 * state.
 */
#pragma once

#include <stdbool.h>

enum orr_rate_of {
    ORR_RATE_OF_FLOPS, /* Flop/s, in letters of either case, or SimGrid's f */
    ORR_RATE_OF_BYTES, /* B/s, in letters of either case, or SimGrid's Bps, bps */
};

/* How to write one, for messages: "19.5 TFlop/s" and "1555 GB/s". */
const char *orr_rate_example(enum orr_rate_of of);

/* Reads a number above 0 and its unit, with blanks before either and a prefix k to
 * P (bytes also Ki to Pi), and puts *text behind it. *ret_per_us: flop or bytes per
 * µs. False, leaving both alone, when there is none. */
bool orr_rate_take(enum orr_rate_of of, const char **text, double *ret_per_us);
