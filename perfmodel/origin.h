/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/origin.h - where a figure comes from. The one list of origins: all
 * tables, files and pictures take the names from here.
 */
#pragma once

#include <stdbool.h>

/* The order is that of tables. */
enum orr_origin {
    ORR_ORIGIN_UNKNOWN,      /* nothing says it */
    ORR_ORIGIN_MEASURED,     /* here: by measures of this very size */
    ORR_ORIGIN_IMPORTED,     /* in a file that came from elsewhere */
    ORR_ORIGIN_INTERPOLATED, /* between sizes that are in the model */
    ORR_ORIGIN_DERIVED,      /* computed from published or other figures */
    ORR_ORIGIN_ASSUMED,      /* the user has given it */
    ORR_ORIGIN_FUNCTION,     /* a cost function of the application */
    ORR_NORIGINS
};

/* "measured"; "unknown" also for a value that is none of these. */
const char *orr_origin_name(enum orr_origin origin);

/* Whether the figure is from measures, here or elsewhere. */
static inline bool orr_origin_is_measured(enum orr_origin origin)
{
    return origin == ORR_ORIGIN_MEASURED || origin == ORR_ORIGIN_IMPORTED;
}

/* The origin of that name, in letters of either case, which ends with the text
 * or a character that is no letter; ORR_ORIGIN_UNKNOWN: none. */
enum orr_origin orr_origin_find(const char *text);
