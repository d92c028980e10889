/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/dip.c - Hartigan's dip: how far the distribution of samples is from
 * the nearest one with a single mode. J. A. Hartigan and P. M. Hartigan, "The
 * dip test of unimodality", Annals of Statistics 13 (1985). One thread.
 *
 * The nearest such distribution is convex below its mode and concave above.
 * Begin with all samples as the interval that holds the mode; below it runs the
 * greatest convex minorant of the distribution function, above it the least
 * concave majorant. As long as these two are further apart within the interval
 * than the distribution function is from them outside, narrow the interval to
 * where they are furthest apart.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/robust_private.h"

/* A convex or concave curve through some of the points (x[i], i). */
struct curve {
    unsigned *next;  /* from each point the next one on its curve, towards the
                      * end that curves begin at */
    unsigned *knots; /* those within the present interval, ascending */
    unsigned n;
};

struct dip {
    const double *x;
    unsigned n;
    struct curve below, above;
};

/* Height at x[i] of the line through points a and b. */
static double line_height(const double *x, unsigned a, unsigned b, unsigned i)
{
    if (x[b] == x[a])
        return a;
    return a + (x[i] - x[a]) * (b - a) / (x[b] - x[a]);
}

/* Whether point b is on no convex curve from a to c: above the line. */
static bool is_above(const double *x, unsigned a, unsigned b, unsigned c)
{
    return (x[c] - x[b]) * (b - a) >= (x[b] - x[a]) * (c - b);
}

static bool is_below(const double *x, unsigned a, unsigned b, unsigned c)
{
    return (x[c] - x[b]) * (b - a) <= (x[b] - x[a]) * (c - b);
}

/* For every i the points before it on the minorant of 0 … i, and those after it
 * on the majorant of i … n - 1. */
static void dip_make_hulls(struct dip *dip)
{
    const double *x = dip->x;
    unsigned *prev = dip->below.next, *next = dip->above.next;
    unsigned last = dip->n - 1;

    prev[0] = 0;
    for (unsigned i = 1; i <= last; i++) {
        prev[i] = i - 1;
        while (prev[i] != 0 && is_above(x, prev[prev[i]], prev[i], i))
            prev[i] = prev[prev[i]];
    }
    next[last] = last;
    for (unsigned i = last; i-- > 0;) {
        next[i] = i + 1;
        while (next[i] != last && is_below(x, i, next[i], next[next[i]]))
            next[i] = next[next[i]];
    }
}

static void dip_find_knots(struct dip *dip, unsigned low, unsigned high)
{
    struct curve *below = &dip->below, *above = &dip->above;

    below->n = 1;
    for (unsigned i = high; i > low; i = below->next[i])
        below->n++;
    for (unsigned i = high, k = below->n; k-- > 0; i = below->next[i])
        below->knots[k] = i;
    above->n = 0;
    for (unsigned i = low;; i = above->next[i]) {
        above->knots[above->n++] = i;
        if (i >= high)
            break;
    }
}

/* Where majorant and minorant are furthest apart: at a knot of one, above or
 * below a segment of the other. Narrows the interval, returns the distance. */
static double dip_widest_gap(const struct dip *dip, unsigned *low,
                             unsigned *high)
{
    const struct curve *below = &dip->below, *above = &dip->above;
    double most = 0;

    for (unsigned i = 0, k = 1; i < below->n; i++) {
        unsigned at = below->knots[i];
        double d;

        while (k + 1 < above->n && above->knots[k] < at)
            k++;
        d = line_height(dip->x, above->knots[k - 1], above->knots[k], at) - at +
            1;
        if (d > most) {
            most = d;
            *low = at;
            *high = above->knots[k];
        }
    }
    for (unsigned i = 0, k = 1; i < above->n; i++) {
        unsigned at = above->knots[i];
        double d;

        while (k + 1 < below->n && below->knots[k] < at)
            k++;
        d = at - line_height(dip->x, below->knots[k - 1], below->knots[k], at) +
            1;
        if (d > most) {
            most = d;
            *low = below->knots[k - 1];
            *high = at;
        }
    }
    return most;
}

/* How far the points from `low` to `high` are from a curve, on the side where
 * it is not a hull: sign 1 above the minorant, -1 below the majorant. */
static double curve_misfit(const struct dip *dip, const struct curve *curve,
                           unsigned low, unsigned high, int sign)
{
    double most = 0;

    for (unsigned k = 1; k < curve->n; k++) {
        unsigned a = curve->knots[k - 1], b = curve->knots[k];

        if (a < low || b > high)
            continue;
        for (unsigned i = a; i <= b; i++)
            most = fmax(most, sign * (i - line_height(dip->x, a, b, i)) + 1);
    }
    return most;
}

static double dip_compute(struct dip *dip)
{
    unsigned low = 0, high = dip->n - 1;
    double ret = 1;

    dip_make_hulls(dip);
    for (;;) {
        unsigned from = low, to = high;
        double apart;

        dip_find_knots(dip, low, high);
        apart = dip_widest_gap(dip, &from, &to);
        if (apart <= ret)
            break;
        ret = fmax(ret, curve_misfit(dip, &dip->below, low, from, 1));
        ret = fmax(ret, curve_misfit(dip, &dip->above, to, high, -1));
        if (from == low && to == high)
            break;
        low = from;
        high = to;
    }
    return ret / (2.0 * dip->n);
}

int orr_dip(const double *sorted, unsigned n, double *ret)
{
    struct dip dip = {.x = sorted, .n = n};
    unsigned *memory;

    if (n < 4 || sorted[0] == sorted[n - 1]) {
        *ret = n ? 0.5 / n : 0;
        return 0;
    }
    memory = malloc(4 * (size_t)n * sizeof(*memory));
    if (!memory)
        return -ENOMEM;
    dip.below = (struct curve){memory, memory + n, 0};
    dip.above =
        (struct curve){memory + 2 * (size_t)n, memory + 3 * (size_t)n, 0};
    *ret = dip_compute(&dip);
    free(memory);
    return 0;
}
