/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/exact.c - the optimal schedule of a small graph. No state; any thread.
 */
#include "bound/exact.h"

#include <math.h>
#include <stdlib.h>

#include "bound/methods.h"
#include "bound/search.h"

/* A type with tasks that no class has workers enough for, or ntypes. */
static unsigned find_unable(const struct orr_bound_instance *in)
{
    unsigned k;

    for (k = 0; k < in->ntypes; k++) {
        const struct orr_bound_task_type *type = &in->types[k];
        bool able = type->ntasks == 0;

        for (unsigned w = 0; w < type->nvariants && !able; w++) {
            const struct orr_bound_variant *variant =
                &in->variants[type->first_variant + w];

            able = variant->width > 0 &&
                   variant->width <= in->classes[variant->class].size;
        }
        if (!able)
            break;
    }
    return k;
}

int orr_bound_check_able(const struct orr_bound_instance *in,
                         struct orr_bound_result *ret)
{
    unsigned k = find_unable(in);

    if (k == in->ntypes)
        return 0;
    return orr_bound_give_up(ret, ORR_BOUND_INFEASIBLE,
                             "no class has workers enough for a task of %s",
                             in->types[k].symbol);
}

int orr_bound_begin_with(const struct orr_bound_instance *in,
                         enum orr_bound_method method,
                         const struct orr_bound_options *options, double *lower,
                         struct orr_bound_result *ret)
{
    struct orr_bound_options less = *options;
    struct orr_bound_result quick;
    int rc;

    less.seconds /= 4;
    rc = orr_bound_compute(in, method, &less, &quick);
    if (rc)
        return rc;
    if (quick.proved && quick.ms > *lower) {
        *lower = quick.ms;
        orr_bound_note_step(ret, quick.ms);
        free(ret->limit);
        ret->limit = quick.limit;
        quick.limit = NULL;
    }
    orr_bound_result_done(&quick);
    return 0;
}

int orr_bound_search(const struct orr_bound_instance *in,
                     const struct orr_bound_options *options, bool no_edges,
                     struct orr_bound_result *ret)
{
    const struct orr_search_options how = {.no_edges = no_edges,
                                           .seconds = options->seconds};
    struct orr_search_result found;
    int rc = orr_search(in, &how, &found);

    if (rc)
        return rc;
    if (!isfinite(found.lower_ms))
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "durations are too long to be added up");
    if (!found.finished) {
        rc = orr_bound_begin_with(in,
                                  no_edges ? ORR_BOUND_AREA : ORR_BOUND_PATHS,
                                  options, &found.lower_ms, ret);
        if (rc == 0)
            rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT,
                                   "the search was not over after %lu steps",
                                   found.nodes);
    } else if (found.busy > 0) {
        rc = orr_bound_limit(ret, "%s, busy %.0f %% of the best schedule",
                             in->classes[found.busiest].name, 100 * found.busy);
    }
    ret->ms = found.lower_ms;
    ret->proved = true;
    if (isfinite(found.upper_ms))
        ret->upper_ms = found.upper_ms;
    return rc;
}

int orr_bound_exact(const struct orr_bound_instance *in,
                    const struct orr_bound_options *options,
                    struct orr_bound_result *ret)
{
    int rc = orr_bound_check_able(in, ret);

    if (rc || ret->outcome != ORR_BOUND_OPTIMAL)
        return rc;
    if (in->ntasks > ORR_SEARCH_MOST)
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "for at most %d tasks; there are %u",
                                 (int)ORR_SEARCH_MOST, in->ntasks);
    return orr_bound_search(in, options, /* no_edges= */ false, ret);
}
