/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/units.c - see units.h. No state. */
#include "platforms/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"

struct unit {
    const char *name;
    double factor;
    bool prefixed; /* SI prefixes may stand before it */
    bool binary;   /* and those of powers of two */
};

/* The units that SimGrid 3.32 takes; it refuses kflops and KBps. Sizes, which
 * it does not have, like bandwidths. */
static const struct unit speeds[] = {
    {"f", 1, true, false},
    {"flops", 1, false, false},
    {NULL, 0, false, false},
};

static const struct unit bandwidths[] = {
    {"Bps", 1, true, true},
    {"bps", 0.125, true, true},
    {NULL, 0, false, false},
};

static const struct unit times[] = {
    {"s", 1, false, false},      {"ms", 1e-3, false, false},
    {"us", 1e-6, false, false},  {"ns", 1e-9, false, false},
    {"ps", 1e-12, false, false}, {"m", 60, false, false},
    {"min", 60, false, false},   {"h", 3600, false, false},
    {"d", 86400, false, false},  {"w", 604800, false, false},
    {NULL, 0, false, false},
};

static const struct unit sizes[] = {
    {"B", 1, true, true},
    {NULL, 0, false, false},
};

static const struct unit powers[] = {
    {"W", 1, true, false},
    {"mW", 1e-3, false, false},
    {NULL, 0, false, false},
};

static const struct {
    const struct unit *units;
    const char *unknown;
} quantities[] = {
    [ORR_QUANTITY_SPEED] = {speeds,
                            "has an unknown unit: write f, kf, Mf, Gf or Tf"},
    [ORR_QUANTITY_BANDWIDTH] = {bandwidths,
                                "has an unknown unit: write Bps, kBps, MBps, "
                                "GBps, KiBps, MiBps, GiBps, or bits as Gbps"},
    [ORR_QUANTITY_TIME] = {times, "has an unknown unit: write ns, us, ms or s"},
    [ORR_QUANTITY_SIZE] = {sizes,
                           "has an unknown unit: write B, MiB, GiB or GB"},
    [ORR_QUANTITY_POWER] = {powers, "has an unknown unit: write mW, W, kW or MW"},
};

/* The factor of a prefix of `length` characters, 0 when there is no such. */
static double prefix_factor(const char *prefix, size_t length, bool binary)
{
    static const char letters[] = "kMGTPEZY";
    static const char binary_letters[] = "KMGTPEZY";
    const char *at;

    if (length == 0)
        return 1;
    if (length == 1) {
        at = strchr(letters, prefix[0]);
        return at ? pow(1000, (double)(at - letters + 1)) : 0;
    }
    if (length != 2 || prefix[1] != 'i' || !binary)
        return 0;
    at = strchr(binary_letters, prefix[0]);
    return at ? pow(1024, (double)(at - binary_letters + 1)) : 0;
}

static double unit_factor(const struct unit *units, const char *text)
{
    size_t length = strlen(text);

    for (const struct unit *u = units; u->name; u++) {
        size_t tail = strlen(u->name);
        double factor;

        if (length < tail || strcmp(text + length - tail, u->name) != 0)
            continue;
        if (length > tail && !u->prefixed)
            continue;
        factor = prefix_factor(text, length - tail, u->binary);
        if (factor > 0)
            return factor * u->factor;
    }
    return 0;
}

/* The number at the start of `text`; *ret_end is what follows. strtod alone
 * would also take blanks, "inf", "nan" and hexadecimal numbers. */
static const char *leading_number(const char *text, double *ret_value,
                                  const char **ret_end)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    double value;

    if (!*text)
        return "is empty: write a number";
    if (!strchr("0123456789.", *digits) || !*digits ||
        (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')))
        return "is not a decimal number";
    value = orr_strtod(text, &end);
    if (end == text)
        return "is not a decimal number";
    if (!isfinite(value))
        return "is too large";
    *ret_value = value;
    *ret_end = end;
    return NULL;
}

const char *orr_quantity_parse(enum orr_quantity quantity, const char *text,
                               double *ret_value)
{
    const char *unit, *wrong;
    double value, factor = 1;

    wrong = leading_number(text, &value, &unit);
    if (wrong)
        return wrong;
    if (*unit)
        factor = unit_factor(quantities[quantity].units, unit);
    if (factor <= 0)
        return strchr(unit, ',') ? "is a list: one value is expected"
                                 : quantities[quantity].unknown;
    if (!isfinite(value * factor))
        return "is too large";
    *ret_value = value * factor;
    return NULL;
}

const char *orr_number_parse(const char *text, double *ret_value)
{
    const char *end, *wrong;
    double value;

    wrong = leading_number(text, &value, &end);
    if (wrong)
        return wrong;
    if (*end)
        return "is not a decimal number";
    *ret_value = value;
    return NULL;
}

void orr_number_print(double value, char text[ORR_NUMBER_MAX])
{
    for (int digits = 15; digits <= 17; digits++) {
        orr_snprintf(text, ORR_NUMBER_MAX, "%.*g", digits, value);
        if (orr_strtod(text, NULL) == value)
            return;
    }
}
