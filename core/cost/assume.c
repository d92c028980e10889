/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/assume.c - see assume.h; assume_read.c reads them. */
#include "core/cost/assume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/speed.h"

static void assumption_done(struct orr_assumption *assumption)
{
    free(assumption->machine);
    free(assumption->name);
    free(assumption->text);
}

void orr_assumptions_done(struct orr_assumptions *a)
{
    for (unsigned i = 0; i < a->n; i++)
        assumption_done(&a->all[i]);
    free(a->all);
    *a = (struct orr_assumptions){0};
}

void orr_assumptions_set_machine(struct orr_assumptions *a, const char *machine)
{
    for (unsigned i = 0; i < a->n; i++)
        a->all[i].elsewhere =
            a->all[i].machine && strcmp(a->all[i].machine, machine) != 0;
}

void orr_overruled_add(struct orr_overruled *overruled, const void *row,
                       enum orr_origin origin, double us, double by_us)
{
    if (!overruled->n) {
        overruled->origin = origin;
        overruled->us = overruled->least_us = overruled->most_us = us;
        overruled->by_us = by_us;
    }
    overruled->least_us = fmin(overruled->least_us, us);
    overruled->most_us = fmax(overruled->most_us, us);
    overruled->n += overruled->last != row;
    overruled->last = row;
}

/* How well an assumption's name fits a kernel. */
enum fit { FIT_NONE, FIT_PATTERN, FIT_NAME };

static enum fit fit_one(const char *given, const char *name)
{
    if (!name)
        return FIT_NONE;
    if (!strcmp(given, name))
        return FIT_NAME;
    if (*given == '"')
        return orr_kernel_pattern_fits(given, name) ? FIT_NAME : FIT_NONE;
    if (strpbrk(given, "*?") && orr_kernel_pattern_fits(given, name))
        return FIT_PATTERN;
    return FIT_NONE;
}

/* The better of both names; a codelet with neither has that of the messages. */
static enum fit assumption_fit(const struct orr_assumption *a, const char *name,
                               const char *symbol)
{
    enum fit of_name =
        fit_one(a->name, !name && !symbol ? ORR_UNNAMED_CODELET : name);
    enum fit of_symbol = fit_one(a->name, symbol);

    return of_name > of_symbol ? of_name : of_symbol;
}

bool orr_assumptions_any(const struct orr_assumptions *a, const char *name,
                         const char *symbol)
{
    for (unsigned i = 0; i < a->n; i++)
        if (!a->all[i].elsewhere &&
            assumption_fit(&a->all[i], name, symbol) != FIT_NONE)
            return true;
    return false;
}

/* How specific the part is about the device; -1: it is about others. */
static int assumed_arch_precision(const struct orr_assumed_arch *arch, int type,
                                  int devid)
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
    enum fit best_fit = FIT_NONE;
    int best = -1;

    for (unsigned i = a->n; i-- > 0;) {
        int precise = assumed_arch_precision(&a->all[i].arch, type, devid);
        enum fit here =
            precise < 0 || a->all[i].elsewhere
                ? FIT_NONE
                : assumption_fit(&a->all[i], name, symbol);

        if (here < best_fit || here == FIT_NONE ||
            (here == best_fit && precise <= best))
            continue;
        best_fit = here;
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
