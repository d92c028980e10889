/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/rate_text.c - see rate_text.h. No state. */
#include "perfmodel/rate_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/number.h"

struct unit {
    const char *name;
    double factor;
    bool any_case;
};

/* The longer of two with the same beginning first. */
static const struct unit flops[] = {
    {"flop/s", 1, true}, {"flops", 1, true}, {"f", 1, false}, {NULL, 0, false}};
static const struct unit bytes[] = {{"B/s", 1, true},
                                    {"Bps", 1, false},
                                    {"bps", 0.125, false},
                                    {NULL, 0, false}};

const char *orr_rate_example(enum orr_rate_of of)
{
    return of == ORR_RATE_OF_FLOPS ? "19.5 TFlop/s" : "1555 GB/s";
}

/* The length of the prefix at `text` and its factor. */
static size_t take_prefix(const char *text, bool binary, double *factor)
{
    static const char letters[] = "KMGTP";
    const char *at =
        *text ? strchr(letters, toupper((unsigned char)*text)) : NULL;

    if (!at)
        return 0;
    if (binary && text[1] == 'i') {
        *factor = pow(1024, (double)(at - letters + 1));
        return 2;
    }
    *factor = pow(1000, (double)(at - letters + 1));
    return 1;
}

/* The length of one of the units at `text`, which no word goes on behind. */
static size_t take_name(const struct unit *units, const char *text,
                        double *factor)
{
    for (; units->name; units++) {
        size_t n = strlen(units->name);

        if ((units->any_case ? strncasecmp(text, units->name, n)
                             : strncmp(text, units->name, n)) == 0 &&
            !isalnum((unsigned char)text[n])) {
            *factor *= units->factor;
            return n;
        }
    }
    return 0;
}

/* The length of the unit at `text`, 0 without. */
static size_t rate_unit_length(enum orr_rate_of of, const char *text,
                               double *factor)
{
    const struct unit *units = of == ORR_RATE_OF_FLOPS ? flops : bytes;
    size_t prefix = take_prefix(text, of == ORR_RATE_OF_BYTES, factor);
    size_t name = take_name(units, text + prefix, factor);

    if (name)
        return prefix + name;
    *factor = 1;
    return prefix ? take_name(units, text, factor) : 0;
}

bool orr_rate_take(enum orr_rate_of of, const char **text, double *ret_per_us)
{
    const char *at = *text, *unit;
    double value, factor = 1;
    char *after;
    size_t n;

    while (isspace((unsigned char)*at))
        at++;
    if (!isdigit((unsigned char)*at) && *at != '.')
        return false;
    value = orr_strtod(at, &after);
    if (after == at)
        return false;
    for (unit = after; isspace((unsigned char)*unit);)
        unit++;
    n = rate_unit_length(of, unit, &factor);
    if (n == 0)
        return false;
    value *= factor / 1e6;
    if (!(value > 0) || !isfinite(value))
        return false;
    *text = unit + n;
    *ret_per_us = value;
    return true;
}
