/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/project.c - see project.h. Other sizes: the logarithm of the time over
 * that of the work is a line whose slope is known roughly, plus a random walk, plus
 * noise; the estimate is the best linear one (kriging: Cressie 1993, section 3.4),
 * its variance gives the range. Pure functions.
 */
#include "perfmodel/project.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/step.h"

/* Steps of less, a factor of three, are as often a bend or noise on the models in
 * the tests' data; those below two are within the ranges of most anyway. */
#define LEAST_STEP 1.1

/* The level is free. */
#define FREE 1e4

/* Standard deviations of a range: some nine of ten of the measured tasks of the tests'
 * data are within. */
#define WIDTH 1.52

/* Points whose surprises have this root mean square are as good as the priors
 * expect: longer tails than normal ones again. */
#define USUAL_SURPRISE 4.5

/* What accelerators have in common, within a factor of two or three. */

/* µs that an empty kernel takes. */
#define LAUNCH 4.0
/* µs for loading a value from memory, using it and storing the result: the shortest
 * chain of a kernel that does anything. */
#define LATENCY 1.0
/* Flop per µs of one lane that has work at each clock: a multiplication and an
 * addition at 1.5 GHz. */
#define LANE 3000.0
/* The items that keep a lane at work: each waits so many clocks for its last result. */
#define DEEP 4.0
/* Bytes of an item at least: data of so many bytes are one that can be worked on beside
 * others. */
#define ITEM 4.0
/* Times that a lane with one item takes as long as a core does. */
#define LANE_SLOWER 8.0

/* The time over the time at the roof, in logarithms: the slope, the
 * deviation of the slope, the deviation of the rest. To an accelerator of
 * twice the rates a task is half the work, and the less work the worse it
 * is used: METHODS.md. */
static const struct {
    double slope, slope_deviation, deviation;
} laws[] = {
    [ORR_PAIR_CORES] = {1, 0, 0.25},
    [ORR_PAIR_DEVICES] = {0.85, 0.1, 0.2},
    [ORR_PAIR_MIXED] = {1, 0, 0.7},
};

/* The prior of the line: its slope with deviation, the variance of the walk per
 * unit of ln work, the deviation of the noise. Chosen so that nine of ten of the tests'
 * data are within narrow ranges: METHODS.md. */
struct prior {
    double slope, deviation, walk, noise;
};

static struct prior prior_of(enum orr_work kind, bool is_core)
{
    static const struct prior core[] = {
        [ORR_WORK_FLOPS] = {0.95, 0.1, 0.0015, 0.01},
        [ORR_WORK_CORE] = {1, 0.1, 0.003, 0.03},
        [ORR_WORK_BYTES] = {1.1, 0.18, 0.003, 0.055},
    };
    /* The more work, the better a device is used. */
    static const struct prior device[] = {
        [ORR_WORK_FLOPS] = {0.75, 0.58, 0.022, 0.015},
        [ORR_WORK_CORE] = {0.55, 0.46, 0.06, 0.003},
        [ORR_WORK_BYTES] = {1.25, 0.07, 0.004, 0.13},
    };

    return is_core ? core[kind] : device[kind];
}

/* The covariance of two tasks at distances x and y from the first one in ln
 * work. */
static double covariance(const struct prior *prior, double x, double y)
{
    double walk = x * y > 0 ? fmin(fabs(x), fabs(y)) : 0;

    return FREE + prior->deviation * prior->deviation * x * y +
           prior->walk * walk;
}

/* Solves the symmetric positive definite system a·x = b in place of b; `a` is
 * lost. */
static void solve_positive_definite(double *a, double *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < i; j++) {
            for (unsigned k = 0; k < j; k++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
            a[i * n + i] -= a[i * n + j] * a[i * n + j];
        }
        a[i * n + i] = sqrt(a[i * n + i]);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (unsigned i = n; i-- > 0;) {
        for (unsigned k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

/* The mean and variance of ln time at distance `at`; `room` has n·n + 3n. */
static void krige(const struct orr_work_point *points, unsigned n,
                  const struct prior *prior, double at, double *room,
                  double *ret_mean, double *ret_variance)
{
    double *x = room + (size_t)n * n, *near = x + n, *weights = near + n;
    double noise = prior->noise * prior->noise;

    for (unsigned i = 0; i < n; i++)
        x[i] = log(points[i].work / points[0].work);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            room[i * n + j] = covariance(prior, x[i], x[j]);
        room[i * n + i] += noise + points[i].error * points[i].error;
        near[i] = weights[i] = covariance(prior, x[i], at);
    }
    solve_positive_definite(room, weights, n);
    *ret_mean = prior->slope * at;
    *ret_variance = covariance(prior, at, at) + noise;
    for (unsigned i = 0; i < n; i++) {
        *ret_mean += weights[i] * (log(points[i].us) - prior->slope * x[i]);
        *ret_variance -= weights[i] * near[i];
    }
}

/* --- how well the points follow each other --- */

static int work_point_compare(const void *a, const void *b)
{
    const struct orr_work_point *p = a, *q = b;

    return (p->work > q->work) - (p->work < q->work);
}

/* How many of its standard deviations the measured time of point i is from what the
 * others say of it. `others` has room for n. */
static double point_surprise(const struct orr_work_point *points, unsigned n,
                             unsigned i, const struct prior *prior,
                             struct orr_work_point *others, double *room)
{
    double mean, variance;

    memcpy(others, points, i * sizeof(*others));
    memcpy(others + i, points + i + 1, (n - 1 - i) * sizeof(*others));
    krige(others, n - 1, prior, log(points[i].work / others[0].work), room,
          &mean, &variance);
    variance += points[i].error * points[i].error;
    return fabs(log(points[i].us) - mean) / sqrt(fmax(variance, 1e-12));
}

/* The factor by which the range is wider where points nearby disagree with the
 * curve: the root mean square of their surprises, near ones counting more, 1
 * for as much as the prior expects. */
static double range_widening(const struct orr_work_point *points, unsigned n,
                             const struct prior *prior, double work,
                             double *room)
{
    struct orr_work_point *others;
    double sum = 0, weights = 0;

    if (n < 3)
        return 1;
    others = malloc(n * sizeof(*others));
    if (!others)
        return (double)NAN;
    for (unsigned i = 0; i < n; i++) {
        double away = fabs(log(points[i].work / work)) / M_LN2;
        double weight = 1 / ((1 + away) * (1 + away));
        double z = point_surprise(points, n, i, prior, others, room);

        sum += weight * z * z;
        weights += weight;
    }
    free(others);
    return fmax(1, sqrt(sum / weights) / USUAL_SURPRISE);
}

/* The range that a step between the points around leaves, in logarithms. */
static double step_beside(const struct orr_work_point *points, unsigned n,
                          double work, double value, double *room)
{
    unsigned m = 0;

    for (unsigned i = 0; i < n; i++) {
        if (m && points[i].work <= points[i - 1].work)
            continue;
        room[m] = log(points[i].work);
        room[n + m++] = log(points[i].us);
    }
    return orr_step_furthest(room, room + n, m, log(work), value,
                              LEAST_STEP);
}

int orr_project_size(const struct orr_work_point *points, unsigned n,
                     enum orr_work kind, bool is_core, double work,
                     struct orr_projection *ret)
{
    struct prior prior = prior_of(kind, is_core);
    double mean, variance, range, *room;
    struct orr_work_point *sorted;

    if (n == 0 || !(work > 0))
        return -EDOM;
    room = malloc(((size_t)n * n + 3 * (size_t)n) * sizeof(*room));
    sorted = malloc(n * sizeof(*sorted));
    if (!room || !sorted) {
        free(room);
        free(sorted);
        return -ENOMEM;
    }
    memcpy(sorted, points, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), work_point_compare);
    krige(sorted, n, &prior, log(work / sorted[0].work), room, &mean,
          &variance);
    range = WIDTH * sqrt(fmax(variance, 0)) *
            range_widening(sorted, n, &prior, work, room);
    range = fmax(range, step_beside(sorted, n, work, mean, room));
    free(sorted);
    free(room);
    *ret = (struct orr_projection){.us = exp(mean), .off_by = expm1(range)};
    if (!is_core && ret->us < LAUNCH + LATENCY) {
        ret->us = LAUNCH + LATENCY;
        ret->limited = true;
    }
    return isnan(range) ? -ENOMEM : 0;
}

/* --- devices --- */

/* µs at the roof. */
static double at_roof(double flops, double bytes, const struct orr_rates *rates)
{
    return fmax(flops / rates->flops, bytes / rates->bytes);
}

static double items_of(double bytes)
{
    return fmax(1, bytes / ITEM);
}

/* The share of an accelerator's peak that so many items can use. */
static double occupancy(double items, const struct orr_rates *rates)
{
    return fmin(1, items / (DEEP * rates->flops / LANE));
}

/* Faster than this a device cannot be, µs. */
static double at_limit(double flops, double bytes, const struct orr_rates *rates,
                       enum orr_pair pair)
{
    double known = flops > 0 && isfinite(flops) ? flops : 0;
    double roof;

    if (pair == ORR_PAIR_CORES)
        return at_roof(known, 0, rates);
    roof = at_roof(known / occupancy(items_of(bytes), rates), bytes, rates);
    return LAUNCH + fmax(roof, LATENCY);
}

struct orr_projection orr_project_device(struct orr_projection here,
                                         double flops, double bytes,
                                         const struct orr_rates *from,
                                         const struct orr_rates *to,
                                         enum orr_pair pair)
{
    struct orr_projection there = {(double)NAN, (double)NAN, false};
    double deviation = laws[pair].deviation;
    double own = log1p(here.off_by) / WIDTH, ratio, limit, lane;

    if (!(from->flops > 0) || !(to->flops > 0) || !(from->bytes > 0) ||
        !(to->bytes > 0))
        return there;
    if (flops > 0 && isfinite(flops)) {
        ratio = at_roof(flops, bytes, to) / at_roof(flops, bytes, from);
    } else { /* either roof, or between */
        double by_flops = from->flops / to->flops;
        double by_bytes = from->bytes / to->bytes;

        ratio = sqrt(by_flops * by_bytes);
        deviation = hypot(deviation, log(by_flops / by_bytes) / 2);
    }
    deviation = hypot(deviation, laws[pair].slope_deviation * log(ratio));
    there.us = here.us * pow(ratio, laws[pair].slope);
    if (pair == ORR_PAIR_MIXED) {
        lane = here.us * LANE_SLOWER / items_of(bytes);
        /* Bytes say roughly how many items there are, a few bytes nothing of it: a
         * random sequence may be drawn in parallel. */
        if (lane > there.us)
            deviation = hypot(deviation, log(lane / there.us) / 4);
        there.limited = lane > there.us;
        there.us = LAUNCH + fmax(there.us, lane);
    }
    limit = at_limit(flops, bytes, to, pair);
    there.limited = there.limited || there.us < limit;
    there.us = fmax(there.us, limit);
    there.off_by = expm1(WIDTH * hypot(deviation, own));
    return there;
}
