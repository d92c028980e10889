/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/limits.c - see limits.h. Any thread.
 */
#include "bound/limits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE  UINT32_MAX
#define STEPS 3 /* of a path that are named */

/* Types of one symbol count as one in texts. share: NaN where none takes any time. */
struct heaviest {
    const char *symbol;
    double share;
};

static struct heaviest find_heaviest(const struct orr_bound_instance *in,
                                     const double *ms_of_type)
{
    struct heaviest most = {"", -1};
    double all = 0;

    for (unsigned k = 0; k < in->ntypes; k++)
        all += ms_of_type[k];
    for (unsigned k = 0; k < in->ntypes; k++) {
        double sum = 0;

        /* The heaviest symbol has a type of at least its mean. */
        if (ms_of_type[k] * in->ntypes <= most.share)
            continue;
        for (unsigned l = 0; l < in->ntypes; l++)
            if (strcmp(in->types[l].symbol, in->types[k].symbol) == 0)
                sum += ms_of_type[l];
        if (sum > most.share)
            most = (struct heaviest){in->types[k].symbol, sum};
    }
    most.share = all > 0 ? most.share / all : (double)NAN;
    return most;
}

int orr_bound_limit_class(const struct orr_bound_instance *in, unsigned c,
                          const double *done, struct orr_bound_result *ret)
{
    double *ms = calloc(in->ntypes, sizeof(*ms));
    struct heaviest most;

    if (!ms)
        return -ENOMEM;
    for (unsigned k = 0; k < in->ntypes; k++)
        for (unsigned n = 0; n < in->types[k].nvariants; n++) {
            const struct orr_bound_variant *variant =
                &in->variants[in->types[k].first_variant + n];

            if (variant->class == c)
                ms[k] += done[in->types[k].first_variant + n] * variant->width *
                         variant->ms;
        }
    most = find_heaviest(in, ms);
    free(ms);
    if (isnan(most.share))
        return orr_bound_limit(ret, "%s: no task takes any time", in->classes[c].name);
    return orr_bound_limit(ret, "%s: %s is %.0f %% of %s time",
                           in->classes[c].name, most.symbol, 100 * most.share,
                           in->classes[c].size > 1 ? "their" : "its");
}

/* Fills `next`: the task that follows on the longest path from each one on.
 * Returns where the longest of all begins. */
static unsigned find_longest_path(const struct orr_bound_instance *in,
                                  const double *ms, double *length,
                                  unsigned *next)
{
    unsigned first = NONE;

    for (unsigned n = in->ntasks; n-- > 0;) {
        unsigned i = in->order[n];

        next[i] = NONE;
        for (unsigned e = in->first_succ[i]; e < in->first_succ[i + 1]; e++)
            if (next[i] == NONE || length[in->succs[e]] > length[next[i]])
                next[i] = in->succs[e];
        length[i] = ms[i] + (next[i] == NONE ? 0 : length[next[i]]);
        if (first == NONE || length[i] >= length[first])
            first = i;
    }
    return first;
}

/* "potrf → trsm → 3 gemm → …": runs of one type are counted. */
static void name_steps(const struct orr_bound_instance *in,
                       const unsigned *next, unsigned i, char *text,
                       size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned step = 0; i != NONE && used < size; step++) {
        const char *symbol = in->types[in->type[i]].symbol;
        const char *arrow = step ? " → " : "";
        unsigned times = 0;

        if (step == STEPS) {
            snprintf(text + used, size - used, " → …");
            return;
        }
        for (; i != NONE && strcmp(in->types[in->type[i]].symbol, symbol) == 0;
             i = next[i])
            times++;
        if (times > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%u %.40s",
                                     arrow, times, symbol);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%.40s", arrow,
                                     symbol);
    }
}

static int limit_describe_path(const struct orr_bound_instance *in,
                               const double *ms, const unsigned *next,
                               unsigned first, double *ms_of_type,
                               struct orr_bound_result *ret)
{
    struct heaviest most;
    unsigned ntasks = 0;
    char steps[60 * STEPS];

    for (unsigned i = first; i != NONE; i = next[i]) {
        ms_of_type[in->type[i]] += ms[i];
        ntasks++;
    }
    most = find_heaviest(in, ms_of_type);
    name_steps(in, next, first, steps, sizeof(steps));
    if (isnan(most.share))
        return orr_bound_limit(ret, "path of %u task%s: %s; none takes any time", ntasks,
                               ntasks == 1 ? "" : "s", steps);
    return orr_bound_limit(ret, "path of %u task%s: %s; %s is %.0f %% of it",
                           ntasks, ntasks == 1 ? "" : "s", steps, most.symbol,
                           100 * most.share);
}

int orr_bound_limit_path(const struct orr_bound_instance *in, const double *ms,
                         double *ret_ms, struct orr_bound_result *ret)
{
    double *length = calloc(in->ntasks, sizeof(*length));
    double *ms_of_type = calloc(in->ntypes, sizeof(*ms_of_type));
    unsigned *next = calloc(in->ntasks, sizeof(*next));
    unsigned first;
    int rc = -ENOMEM;

    if (length && ms_of_type && next) {
        first = find_longest_path(in, ms, length, next);
        if (ret_ms)
            *ret_ms = length[first];
        rc = limit_describe_path(in, ms, next, first, ms_of_type, ret);
    }
    free(length);
    free(ms_of_type);
    free(next);
    return rc;
}
