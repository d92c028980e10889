/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/assume.c - see assume.h; assume_read.c reads them. */
#include "core/cost/assume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void orr_assumptions_done(struct orr_assumptions *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        free(a->all[i].name);
        free(a->all[i].text);
    }
    free(a->all);
    *a = (struct orr_assumptions){0};
}

static bool is_named(const struct orr_assumption *a, const char *name,
                     const char *symbol)
{
    return (name && !strcmp(a->name, name)) ||
           (symbol && !strcmp(a->name, symbol));
}

bool orr_assumptions_any(const struct orr_assumptions *a, const char *name,
                         const char *symbol)
{
    for (unsigned i = 0; i < a->n; i++)
        if (is_named(&a->all[i], name, symbol))
            return true;
    return false;
}

/* How much the part says about the device; -1: it is about others. */
static int precision(const struct orr_assumed_arch *arch, int type, int devid)
{
    if (arch->type < 0)
        return 0;
    if (arch->type != type || (arch->devid >= 0 && arch->devid != devid))
        return -1;
    return arch->devid < 0 ? 1 : 2;
}

struct orr_assumption *orr_assumptions_find(const struct orr_assumptions *a,
                                            const char *name,
                                            const char *symbol, int type,
                                            int devid)
{
    struct orr_assumption *found = NULL;
    int best = -1;

    for (unsigned i = a->n; i-- > 0;) {
        int precise = precision(&a->all[i].arch, type, devid);

        if (precise <= best || !is_named(&a->all[i], name, symbol))
            continue;
        best = precise;
        found = &a->all[i];
    }
    return found;
}

double orr_assumption_us(const struct orr_assumption *assumption, double n,
                         double other_us)
{
    double us = 0;

    switch (assumption->law) {
    case ORR_ASSUMED_RATIO:
        return other_us * assumption->factor;
    case ORR_ASSUMED_ROOFLINE:
        if (!(n > 0))
            return NAN;
        return fmax(assumption->flops_per_byte * n / assumption->flops,
                    n / assumption->bytes);
    case ORR_ASSUMED_SUM:
        break;
    }
    for (unsigned i = 0; i < assumption->nterms; i++) {
        double exponent = assumption->terms[i].exponent;

        if (exponent > 0 && !(n > 0))
            return NAN;
        us += assumption->terms[i].us * (exponent > 0 ? pow(n, exponent) : 1);
    }
    return us;
}
