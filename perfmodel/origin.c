/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/origin.c - see origin.h. No state. */
#include "perfmodel/origin.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const names[ORR_NORIGINS] = {
    [ORR_ORIGIN_UNKNOWN] = "unknown",
    [ORR_ORIGIN_MEASURED] = "measured",
    [ORR_ORIGIN_IMPORTED] = "imported",
    [ORR_ORIGIN_INTERPOLATED] = "interpolated",
    [ORR_ORIGIN_DERIVED] = "derived",
    [ORR_ORIGIN_ASSUMED] = "assumed",
    [ORR_ORIGIN_FUNCTION] = "function",
};

const char *orr_origin_name(enum orr_origin origin)
{
    return names[(unsigned)origin < ORR_NORIGINS ? origin : ORR_ORIGIN_UNKNOWN];
}

enum orr_origin orr_origin_find(const char *text)
{
    for (int i = 0; text && i < ORR_NORIGINS; i++) {
        size_t n = strlen(names[i]);

        if (!strncasecmp(text, names[i], n) && !isalpha((unsigned char)text[n]))
            return (enum orr_origin)i;
    }
    return ORR_ORIGIN_UNKNOWN;
}
