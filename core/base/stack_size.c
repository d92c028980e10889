/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/stack_size.c - see stack_size.h. */
#include "core/base/stack_size.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *orr_stack_size_read(const char *text, size_t *ret)
{
    static const char units[] = "bkmg", blanks[] = " \t\n";
    const char *unit = units + 1, *rest = text + strspn(text, blanks);
    char *end = NULL;
    long long value = 0;

    errno = 0;
    if (isdigit((unsigned char)*rest))
        value = strtoll(rest, &end, 10);
    if (value < 1 || errno)
        return "it is no number above 0";
    rest = end + strspn(end, blanks);
    if (*rest) {
        unit = strchr(units, tolower((unsigned char)*rest));
        rest++;
        rest += strspn(rest, blanks);
    }
    if (!unit || *rest || value > LLONG_MAX >> 10 * (unit - units))
        return "give a number and perhaps B, K, M or G";
    *ret = (size_t)value << 10 * (unit - units);
    return NULL;
}
