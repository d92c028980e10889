/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/inference.c - see inference.h. */
#include "tools/common/inference.h"

#include "perfmodel/distributions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- pairs ---- */

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

    return (x > y) - (x < y);
}

/* The differences, sorted by size, and twice the rank of each, whole with ties. */
struct signed_ranks {
    double *d; /* owned */
    unsigned *twice;
    size_t n;
};

static void rank_sizes(struct signed_ranks *r)
{
    qsort(r->d, r->n, sizeof(*r->d), by_size);
    for (size_t i = 0, next; i < r->n; i = next) {
        for (next = i + 1; next < r->n && !(fabs(r->d[next]) > fabs(r->d[i]));)
            next++;
        for (size_t j = i; j < next; j++)
            r->twice[j] = (unsigned)(i + 1 + next);
    }
}

/* The share of the signs of all differences that are not 0 by which the sum of ranks is at most
 * `less`, or as much more than the middle: by counting how many signs give each sum. */
static double exact_chance(const struct signed_ranks *r, double middle, double away)
{
    size_t most = 0;
    double *share, chance = 0;

    for (size_t i = 0; i < r->n; i++)
        most += r->d[i] > 0 || r->d[i] < 0 ? r->twice[i] : 0;
    share = calloc(most + 1, sizeof(*share));
    if (!share)
        return (double)NAN;
    share[0] = 1;
    for (size_t i = 0; i < r->n; i++) {
        size_t rank = r->d[i] > 0 || r->d[i] < 0 ? r->twice[i] : 0;

        for (size_t sum = most + 1; rank && sum-- > 0;)
            share[sum] = (share[sum] + (sum >= rank ? share[sum - rank] : 0)) / 2;
    }
    for (size_t sum = 0; sum <= most; sum++)
        if (fabs((double)sum - middle) > away - 0.5)
            chance += share[sum];
    free(share);
    return fmin(1, chance);
}

/* The same by the normal distribution: each rank has its sign by chance. */
static double normal_chance(const struct signed_ranks *r, double away)
{
    double variance = 0;

    for (size_t i = 0; i < r->n; i++)
        if (r->d[i] > 0 || r->d[i] < 0)
            variance += (double)r->twice[i] * r->twice[i] / 4;
    return variance > 0 ? fmin(1, 2 * orr_normal_below(-away / sqrt(variance))) : 1;
}

/* The median of the means of each two, and of each with itself. */
static double hodges_lehmann(const double *d, size_t n)
{
    size_t most = n * (n + 1) / 2, at = 0;
    double *means = malloc((most ? most : 1) * sizeof(*means)), median;

    if (!means || n == 0) {
        free(means);
        return (double)NAN;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            means[at++] = (d[i] + d[j]) / 2;
    qsort(means, most, sizeof(*means), ascending);
    median = (means[(most - 1) / 2] + means[most / 2]) / 2;
    free(means);
    return median;
}

static void test_ranks(const struct signed_ranks *r, struct paired *p)
{
    double twice_plus = 0, twice_minus = 0, middle, away;

    for (size_t i = 0; i < r->n; i++) {
        if (r->d[i] > 0)
            twice_plus += r->twice[i];
        else if (r->d[i] < 0)
            twice_minus += r->twice[i];
    }
    middle = (twice_plus + twice_minus) / 2;
    away = fabs(twice_plus - middle);
    p->chance = away > 0 ? r->n <= INFERENCE_EXACT ? exact_chance(r, middle, away)
                                                   : normal_chance(r, away)
                         : 1;
    p->plus = twice_plus / 2;
    p->minus = twice_minus / 2;
    for (size_t i = 0; i < r->n; i++)
        if (!(r->d[i] > 0 || r->d[i] < 0)) {
            p->plus += r->twice[i] / 4.0;
            p->minus += r->twice[i] / 4.0;
        }
    p->biserial = p->plus + p->minus > 0 ? (p->plus - p->minus) / (p->plus + p->minus) : 0;
}

struct paired paired_test(const double *x, const double *y, size_t n)
{
    struct paired p = {.chance = (double)NAN, .ratio = (double)NAN};
    struct signed_ranks r = {.d = calloc(n + 1, sizeof(*r.d)),
                             .twice = calloc(n + 1, sizeof(*r.twice))};

    if (r.d && r.twice) {
        for (size_t i = 0; i < n; i++)
            if (x[i] > 0 && y[i] > 0)
                r.d[r.n++] = log(x[i] / y[i]);
        p.ratio = exp(hodges_lehmann(r.d, r.n));
        /* Logarithms of equal ratios differ by rounding; differences do not. */
        r.n = 0;
        for (size_t i = 0; i < n; i++)
            if (x[i] > 0 && y[i] > 0)
                r.d[r.n++] = x[i] - y[i];
        p.n = r.n;
        rank_sizes(&r);
        test_ranks(&r, &p);
    }
    free(r.d);
    free(r.twice);
    return p;
}

double paired_least_chance(size_t n)
{
    return n ? fmin(1, 2 * pow(0.5, (double)n)) : 1;
}

/* ---- several tests ---- */

static int by_pointed(const void *a, const void *b)
{
    return ascending(*(double *const *)a, *(double *const *)b);
}

int holm_correct(double *chances, size_t n)
{
    double **sorted = calloc(n + 1, sizeof(*sorted)), least = 0;
    size_t m = 0;

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!isnan(chances[i]))
            sorted[m++] = &chances[i];
    qsort(sorted, m, sizeof(double *), by_pointed);
    for (size_t i = 0; i < m; i++) {
        least = fmax(least, fmin(1, *sorted[i] * (double)(m - i)));
        *sorted[i] = least;
    }
    free(sorted);
    return 0;
}

/* ---- ranks over blocks ---- */

/* Adds the ranks of a block to those of its treatments; returns Σ (t³ - t) over groups of t
 * equal values. */
static double add_block_ranks(const double *values, size_t k, double *ranks)
{
    double ties = 0;

    for (size_t i = 0; i < k; i++) {
        size_t less = 0, equal = 0;

        for (size_t j = 0; j < k; j++) {
            less += values[j] < values[i];
            equal += !(values[j] < values[i]) && !(values[j] > values[i]);
        }
        ranks[i] += (double)less + ((double)equal + 1) / 2;
        ties += (double)(equal * equal) - 1; /* t values, each of which adds t² - 1 */
    }
    return ties;
}

int friedman_test(const double *values, size_t n, size_t k, double *ret_ranks,
                  struct friedman *ret)
{
    double blocks = (double)n, treatments = (double)k, ties = 0, sum = 0, most, scale;

    memset(ret_ranks, 0, k * sizeof(*ret_ranks));
    for (size_t b = 0; b < n; b++)
        ties += add_block_ranks(values + b * k, k, ret_ranks);
    for (size_t i = 0; i < k; i++) {
        ret_ranks[i] /= blocks;
        sum += (ret_ranks[i] - (treatments + 1) / 2) * (ret_ranks[i] - (treatments + 1) / 2);
    }
    *ret = (struct friedman){(double)NAN, (double)NAN, (double)NAN};
    if (n < 2 || k < 2)
        return 0;
    scale = 1 - ties / (blocks * treatments * (treatments * treatments - 1));
    if (!(scale > 0)) { /* all are equal */
        *ret = (struct friedman){0, 0, 1};
        return 0;
    }
    most = blocks * (treatments - 1);
    ret->square = 12 * blocks / (treatments * (treatments + 1)) * sum / scale;
    ret->f = ret->square < most * (1 - 1e-12)
                 ? (blocks - 1) * ret->square / (most - ret->square)
                 : (double)INFINITY;
    ret->chance =
        fisher_above(ret->f, treatments - 1, (treatments - 1) * (blocks - 1));
    return 0;
}

/* The continued fraction of the incomplete beta function (Abramowitz, Stegun 26.5.8), by
 * Lentz' method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 / fmax(tiny, 1 - (a + b) * x / (a + 1)), f = d;

    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = c * d;
        f *= step;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return f;
}

/* Of a beta variable at most x. */
static double beta_below(double a, double b, double x)
{
    double front;

    if (!(x > 0))
        return 0;
    if (!(x < 1))
        return 1;
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double fisher_above(double f, double freedom1, double freedom2)
{
    if (!(f > 0))
        return 1;
    if (isinf(f))
        return 0;
    return beta_below(freedom2 / 2, freedom1 / 2, freedom2 / (freedom2 + freedom1 * f));
}

double range_below(double q, size_t k)
{
    const int steps = 2000; /* even: Simpson's rule, from -8 to 8 */
    double h = 16.0 / steps, sum = 0;

    if (!(q > 0))
        return 0;
    for (int i = 0; i <= steps; i++) {
        double z = -8 + i * h, weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
        double within = orr_normal_below(z) - orr_normal_below(z - q);

        sum += weight * exp(-z * z / 2) * pow(within, (double)k - 1);
    }
    return fmin(1, (double)k * sum * h / 3 / sqrt(2 * M_PI));
}

double nemenyi_difference(double level, size_t n, size_t k)
{
    double low = 0, high = 20, treatments = (double)k;

    if (n == 0 || k < 2)
        return (double)NAN;
    for (int i = 0; i < 60; i++) {
        double q = (low + high) / 2;

        if (range_below(q, k) < 1 - level)
            low = q;
        else
            high = q;
    }
    return high / sqrt(2) * sqrt(treatments * (treatments + 1) / (6 * (double)n));
}

/* ---- ratios ---- */

double geometric_mean(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0))
            return (double)NAN;
        sum += log(values[i]);
    }
    return n ? exp(sum / (double)n) : (double)NAN;
}

double profile_share(const double *values, size_t n, size_t k, size_t treatment, double factor)
{
    size_t within = 0;

    for (size_t b = 0; b < n; b++) {
        double least = (double)INFINITY;

        for (size_t i = 0; i < k; i++)
            least = fmin(least, isnan(values[b * k + i]) ? (double)INFINITY : values[b * k + i]);
        within += values[b * k + treatment] <= factor * least;
    }
    return n ? (double)within / (double)n : (double)NAN;
}
