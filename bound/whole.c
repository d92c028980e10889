/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/whole.c - see whole.h. A task that is executed as a whole in a variant is on a
 * path that has all of that variant's time: the longest path of best times before it, this,
 * and the longest after it. In a schedule shorter than L no task has a variant whose path
 * takes L. So with B(L), the bound of paths where these variants are not there, each
 * schedule takes at least min(L, B(L)). (Lenstra, Shmoys & Tardos 1990, "Approximation
 * algorithms for scheduling unrelated parallel machines", for machines without paths.)
 *
 * A longer L leaves more variants, so that B falls while L rises: the best L is where they
 * meet. It is looked for above what is known, in steps that double, until B is below L;
 * then near what is known by then, where it mostly is. Each step asks for a bound of
 * fractions, which costs hundredths of what the whole program's first relaxation does.
 */
#include "bound/whole.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/relaxed.h"

enum { MOST_STEPS = 24 };

#define FIRST_STEP 1e-3 /* of the bound that is known */
#define LAST_STEP  1e-4

/* The instance without the variants that are too long. Variants of a type are of the same
 * use to all of its tasks that have the same number of them, the shortest ones. */
struct trimmed {
    struct orr_bound_instance in; /* types, variants and type are owned, all else lent */
    const struct orr_bound_instance *plain;
    double *head, *tail;   /* owned, per task, ms */
    unsigned *order;       /* owned: variants, within a type the shortest first */
    unsigned *first_of;    /* owned, per type: place of its types by number of variants */
    unsigned *new_type;    /* owned, per place: number + 1, 0: not there */
    double most;           /* the longest of all paths with any variant, ms */
};

static void trimmed_done(struct trimmed *t)
{
    free(t->in.types);
    free(t->in.variants);
    free(t->in.type);
    free(t->head);
    free(t->tail);
    free(t->order);
    free(t->first_of);
    free(t->new_type);
}

static void find_paths(struct trimmed *t)
{
    const struct orr_bound_instance *in = t->plain;

    for (unsigned n = 0; n < in->ntasks; n++) {
        unsigned i = in->order[n];
        double end = t->head[i] + in->types[in->type[i]].best_ms;

        for (unsigned e = in->first_succ[i]; e < in->first_succ[i + 1]; e++)
            t->head[in->succs[e]] = fmax(t->head[in->succs[e]], end);
    }
    for (unsigned n = in->ntasks; n-- > 0;) {
        unsigned i = in->order[n];
        double tail = t->tail[i] + in->types[in->type[i]].best_ms;

        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1]; e++)
            t->tail[in->preds[e]] = fmax(t->tail[in->preds[e]], tail);
    }
}

/* There are few variants of a type. */
static void sort_variants(struct trimmed *t)
{
    const struct orr_bound_instance *in = t->plain;
    unsigned places = 0;

    for (unsigned k = 0; k < in->ntypes; k++) {
        const struct orr_bound_task_type *type = &in->types[k];
        unsigned *order = &t->order[type->first_variant];

        t->first_of[k] = places;
        places += type->nvariants + 1;
        for (unsigned w = 0; w < type->nvariants; w++) {
            unsigned at = w;

            for (; at > 0 && in->variants[order[at - 1]].ms >
                                 in->variants[type->first_variant + w].ms;
                 at--)
                order[at] = order[at - 1];
            order[at] = type->first_variant + w;
        }
    }
}

static int trimmed_init(struct trimmed *t, const struct orr_bound_instance *in)
{
    size_t places = (size_t)in->nvariants + in->ntypes, nvariants = 0;

    *t = (struct trimmed){.in = *in, .plain = in};
    for (unsigned k = 0; k < in->ntypes; k++)
        nvariants +=
            (size_t)in->types[k].nvariants * (in->types[k].nvariants + 1) / 2;
    t->in.types = orr_bound_array(places, sizeof(*t->in.types));
    t->in.variants = orr_bound_array(nvariants, sizeof(*t->in.variants));
    t->in.type = orr_bound_array(in->ntasks, sizeof(*t->in.type));
    t->head = orr_bound_array(in->ntasks, sizeof(*t->head));
    t->tail = orr_bound_array(in->ntasks, sizeof(*t->tail));
    t->order = orr_bound_array(in->nvariants, sizeof(*t->order));
    t->first_of = orr_bound_array(in->ntypes, sizeof(*t->first_of));
    t->new_type = orr_bound_array(places, sizeof(*t->new_type));
    if (!t->in.types || !t->in.variants || !t->in.type || !t->head || !t->tail ||
        !t->order || !t->first_of || !t->new_type)
        return -ENOMEM;
    find_paths(t);
    sort_variants(t);
    for (unsigned i = 0; i < in->ntasks; i++) {
        const struct orr_bound_task_type *type = &in->types[in->type[i]];
        unsigned last = t->order[type->first_variant + type->nvariants - 1];

        t->most = fmax(t->most, t->head[i] + in->variants[last].ms + t->tail[i]);
    }
    return 0;
}

/* That of the tasks of a type with so many of its variants. */
static unsigned trimmed_type(struct trimmed *t, unsigned k, unsigned nvariants)
{
    const struct orr_bound_task_type *type = &t->plain->types[k];
    unsigned *number = &t->new_type[t->first_of[k] + nvariants];

    if (!*number) {
        struct orr_bound_task_type *made = &t->in.types[t->in.ntypes++];

        *made = *type;
        made->ntasks = 0;
        made->first_variant = t->in.nvariants;
        made->nvariants = nvariants;
        for (unsigned w = 0; w < nvariants; w++)
            t->in.variants[t->in.nvariants++] =
                t->plain->variants[t->order[type->first_variant + w]];
        *number = t->in.ntypes;
    }
    return *number - 1;
}

/* Leaves the variants with which a path is shorter than `ms`. Returns false where a task
 * has none: no schedule is. */
static bool trim(struct trimmed *t, double ms)
{
    const struct orr_bound_instance *in = t->plain;

    memset(t->new_type, 0,
           ((size_t)in->nvariants + in->ntypes) * sizeof(*t->new_type));
    t->in.ntypes = t->in.nvariants = 0;
    for (unsigned i = 0; i < in->ntasks; i++) {
        const struct orr_bound_task_type *type = &in->types[in->type[i]];
        const unsigned *order = &t->order[type->first_variant];
        unsigned n = 0;

        /* Rounding must not leave one out. */
        while (n < type->nvariants &&
               t->head[i] + in->variants[order[n]].ms + t->tail[i] <
                   ms * (1 + 1e-12))
            n++;
        if (n == 0)
            return false;
        t->in.type[i] = trimmed_type(t, in->type[i], n);
        t->in.types[t->in.type[i]].ntasks++;
    }
    return true;
}

/* What is proved with L = ms; *ret_above: a longer L may prove more. */
static int whole_step(struct trimmed *t, double ms,
                      const struct orr_bound_options *options, double *lower,
                      bool *ret_above, struct orr_bound_result *ret)
{
    struct orr_bound_result result = {.ms = ms, .proved = true};
    double proved;
    int rc = 0;

    if (trim(t, ms))
        rc = orr_bound_compute(&t->in, ORR_BOUND_PATHS, options, &result);
    if (rc)
        return rc;
    proved = result.proved ? fmin(ms, result.ms) : 0;
    *ret_above = result.proved && result.ms >= ms;
    if (proved > *lower) {
        *lower = proved;
        orr_bound_note_step(ret, proved);
        if (result.limit)
            rc = orr_bound_limit(ret, "%s; whole tasks", result.limit);
    }
    orr_bound_result_done(&result);
    return rc;
}

int orr_bound_raise_whole(const struct orr_bound_instance *in,
                          const struct orr_bound_options *options, double *lower,
                          struct orr_bound_result *ret)
{
    double until = orr_bound_clock() + options->seconds, step = *lower * FIRST_STEP;
    double below = *lower, above = INFINITY; /* where the best L is */
    struct trimmed t;
    int rc = trimmed_init(&t, in);

    for (unsigned n = 0; rc == 0 && n < MOST_STEPS; n++) {
        double left = until - orr_bound_clock();
        struct orr_bound_options how = {.seconds = left,
                                        .tolerance = options->tolerance};
        double ms;
        bool longer = false;

        below = fmax(below, *lower);
        ms = isfinite(above) ? below + fmax((above - below) / 8, LAST_STEP * below)
                             : below + step;
        if (left <= 0 || !(step > 0) || below >= t.most ||
            above - below <= LAST_STEP * below * 1.01)
            break;
        rc = whole_step(&t, ms, &how, lower, &longer, ret);
        if (longer) {
            below = ms;
            step *= 2;
        } else {
            above = ms;
        }
    }
    trimmed_done(&t);
    return rc;
}
