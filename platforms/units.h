/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/units.h - values with units as in platform files, and back. Any
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum orr_quantity {
    ORR_QUANTITY_SPEED,     /* f; prefixes k … Y; flops without */
    ORR_QUANTITY_BANDWIDTH, /* Bps, bps; prefixes k … Y, Ki … Yi */
    ORR_QUANTITY_TIME,      /* ps ns us ms s m (or min) h d w */
    ORR_QUANTITY_SIZE,      /* B; prefixes k … Y, Ki … Yi */
    ORR_QUANTITY_POWER,     /* W; prefixes m, k … Y */
};

/* Reads "12.5GBps". A value without a unit counts as flop/s, bytes per second,
 * seconds, bytes or watts. *ret_value in these units. Returns NULL or, leaving
 * *ret_value alone, a message (static). */
const char *orr_quantity_parse(enum orr_quantity quantity, const char *text,
                               double *ret_value);

/* Reads a finite decimal number, nothing before or behind it. Result as
 * above. */
const char *orr_number_parse(const char *text, double *ret_value);

#define ORR_NUMBER_MAX 32

/* Writes the shortest decimal text that reads as exactly `value`. */
void orr_number_print(double value, char text[ORR_NUMBER_MAX]);
