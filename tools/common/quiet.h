/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/quiet.h - how quiet this machine is now: what is measured while others use
 * it says little of it. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct quiet {
    double share; /* of a processor, which a thread that only computes gets */
    double load;  /* tasks that run or want to, the mean of a minute; NaN: not known */
    unsigned processors;
};

/* Takes some hundredths of a second. */
struct quiet quiet_measure(void);

/* Whether what is measured now is of the machine. */
bool quiet_is(const struct quiet *quiet);

/* One line on stdout. */
void quiet_print(const struct quiet *quiet);

/* Measures that and prints it, unless the output is JSON. */
void quiet_begin(bool json);

/* NULL without memory. */
json_t *quiet_json(const struct quiet *quiet);
