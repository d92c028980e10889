/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/statistics.c - see statistics.h. */
#include "tools/common/statistics.h"

#include "perfmodel/distributions.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXACT 30 /* values of each sample */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The largest k so that the k-th of n values from below lies above the median with
 * a probability of at most half the level; 0: there is none. */
static size_t outer_rank(size_t n)
{
    double term = pow(0.5, (double)n), sum = term;
    size_t k = 0;

    while (sum <= STATISTICS_LEVEL / 2 && k < n) {
        k++;
        term *= (double)(n - k + 1) / (double)k;
        sum += term;
    }
    return k;
}

struct spread spread_of(double *values, size_t n)
{
    size_t k = outer_rank(n);

    if (n == 0)
        return (struct spread){(double)NAN, (double)NAN, (double)NAN};
    qsort(values, n, sizeof(*values), ascending);
    if (k > 0)
        k--;
    return (struct spread){(values[(n - 1) / 2] + values[n / 2]) / 2, values[k],
                           values[n - 1 - k]};
}

struct spread draws_of(double *values, size_t n)
{
    struct spread spread = spread_of(values, n);

    if (n == 0)
        return spread;
    spread.low = values[(size_t)(0.05 * (double)(n - 1))];
    spread.high = values[n - 1 - (size_t)(0.05 * (double)(n - 1))];
    return spread;
}

/* Twice the number of pairs with x < y, ties counting half; whether there were. */
static double twice_less(const double *x, size_t nx, const double *y, size_t ny)
{
    double twice = 0;

    for (size_t i = 0; i < nx; i++)
        for (size_t j = 0; j < ny; j++)
            twice += x[i] < y[j] ? 2 : x[i] == y[j];
    return twice;
}

double share_less(const double *x, size_t nx, const double *y, size_t ny)
{
    return nx && ny ? twice_less(x, nx, y, ny) / 2 / (double)nx / (double)ny
                    : (double)NAN;
}

/* Σ (t³ - t) over groups of t equal values of both. */
static double ties_of(const double *x, size_t nx, const double *y, size_t ny)
{
    double *all = malloc((nx + ny) * sizeof(*all)), sum = 0;

    if (!all)
        return (double)NAN;
    memcpy(all, x, nx * sizeof(*all));
    memcpy(all + nx, y, ny * sizeof(*all));
    qsort(all, nx + ny, sizeof(*all), ascending);
    for (size_t i = 0, next; i < nx + ny; i = next) {
        double t;

        for (next = i + 1; next < nx + ny && all[next] == all[i];)
            next++;
        t = (double)(next - i);
        sum += t * t * t - t;
    }
    free(all);
    return sum;
}

/* The probability of at most `u` pairs x < y among nx × ny, without ties: the
 * number of orders of the values with so many, by the recurrence of Mann and
 * Whitney. */
static double exact_below(size_t nx, size_t ny, size_t u)
{
    static const size_t most = MAX_EXACT * MAX_EXACT;
    /* share[j][k]: of the orders of i values x and j values y, those with k
     * pairs. */
    double share[MAX_EXACT + 1][MAX_EXACT * MAX_EXACT + 1] = {{0}};
    double sum = 0;

    for (size_t j = 0; j <= ny; j++)
        share[j][0] = 1;
    for (size_t i = 1; i <= nx; i++)
        for (size_t j = 1; j <= ny; j++)
            for (size_t k = most + 1; k-- > 0;) {
                /* The greatest is an x, with none above it, or a y, with i
                 * values x below. */
                double x = share[j][k] * (double)i,
                       y = k >= i ? share[j - 1][k - i] * (double)j : 0;

                share[j][k] = (x + y) / (double)(i + j);
            }
    for (size_t k = 0; k <= u; k++)
        sum += share[ny][k];
    return sum;
}

double rank_test(const double *x, size_t nx, const double *y, size_t ny)
{
    double twice = twice_less(x, nx, y, ny), pairs = (double)nx * (double)ny;
    double n = (double)(nx + ny), ties, variance, away;

    if (nx < STATISTICS_LEAST || ny < STATISTICS_LEAST)
        return 1;
    ties = ties_of(x, nx, y, ny);
    if (ties == 0 && nx <= MAX_EXACT && ny <= MAX_EXACT) {
        double less = fmin(twice, 2 * pairs - twice) / 2;

        return fmin(1, 2 * exact_below(nx, ny, (size_t)less));
    }
    variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
    away = fabs(twice / 2 - pairs / 2) - 0.5;
    if (!(variance > 0) || away <= 0)
        return 1;
    return fmin(1, 2 * orr_normal_below(-away / sqrt(variance)));
}
