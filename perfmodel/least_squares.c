/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/least_squares.c - A = Q·R by Householder's reflections, of the columns the
 * longest one first (Businger & Golub, Numer. Math. 7, 1965), on columns of length 1.
 * Norms are computed anew for each step, which takes as long as the reflections and
 * loses no digits.
 */
#include "perfmodel/least_squares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is left of a column that is shorter depends on the columns before. */
#define LEAST_NORM 1e-10

static double norm_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Gives the column length 1; returns the former one, 0 for a column of zeros, NaN if
 * some number is not finite. */
static double scale_column(double *column, size_t rows)
{
    double most = 0, norm;

    for (size_t i = 0; i < rows; i++) {
        if (!isfinite(column[i]))
            return (double)NAN;
        most = fmax(most, fabs(column[i]));
    }
    if (most == 0)
        return 0;
    /* In two steps, since squares may leave the range of numbers. */
    for (size_t i = 0; i < rows; i++)
        column[i] /= most;
    norm = norm_of(column, rows);
    for (size_t i = 0; i < rows; i++)
        column[i] /= norm;
    return most * norm;
}

/* The mirror image of x; v stands on the mirror, `half` is half of the square of its
 * length. */
static void reflect_vector(const double *v, double half, double *x, size_t n)
{
    double dot = 0;

    for (size_t i = 0; i < n; i++)
        dot += v[i] * x[i];
    for (size_t i = 0; i < n; i++)
        x[i] -= dot / half * v[i];
}

/* Makes R of A and Qᵀ·b of b; order[k] is which column became number k. Returns the
 * rank. */
static unsigned factorise(double *a, size_t rows, unsigned columns, double *b,
                          unsigned *order)
{
    for (unsigned k = 0; k < columns; k++) {
        double longest = 0, *v = a + k * rows + k, first;
        unsigned at = k;

        for (unsigned j = k; j < columns; j++) {
            double norm = norm_of(a + j * rows + k, rows - k);

            if (norm > longest) {
                longest = norm;
                at = j;
            }
        }
        if (longest < LEAST_NORM)
            return k;
        for (size_t i = 0; i < rows && at != k; i++) {
            double moved = a[k * rows + i];

            a[k * rows + i] = a[at * rows + i];
            a[at * rows + i] = moved;
        }
        if (at != k) {
            unsigned moved = order[k];

            order[k] = order[at];
            order[at] = moved;
        }
        /* The sign by which nothing is cancelled. */
        first = v[0] > 0 ? -longest : longest;
        v[0] -= first;
        for (unsigned j = k + 1; j < columns; j++)
            reflect_vector(v, -first * v[0], a + j * rows + k, rows - k);
        reflect_vector(v, -first * v[0], b + k, rows - k);
        v[0] = first;
    }
    return columns;
}

int orr_least_squares(double *a, unsigned rows, unsigned columns, double *b,
                      unsigned *ret_rank)
{
    double *norms, *x;
    unsigned *order;
    int rc = 0;

    if (columns > rows || columns == 0)
        return -EDOM;
    norms = malloc(2 * columns * sizeof(*norms));
    order = malloc(columns * sizeof(*order));
    if (!norms || !order) {
        rc = -ENOMEM;
        goto done;
    }
    x = norms + columns;
    for (unsigned k = 0; k < columns && !rc; k++) {
        order[k] = k;
        norms[k] = scale_column(a + (size_t)k * rows, rows);
        rc = isfinite(norms[k]) ? 0 : -EDOM;
    }
    for (unsigned i = 0; i < rows && !rc; i++)
        rc = isfinite(b[i]) ? 0 : -EDOM;
    if (rc)
        goto done;
    *ret_rank = factorise(a, rows, columns, b, order);
    for (unsigned k = columns; *ret_rank == columns && k-- > 0;) {
        for (unsigned j = k + 1; j < columns; j++)
            b[k] -= a[(size_t)j * rows + k] * b[j];
        b[k] /= a[(size_t)k * rows + k];
        x[order[k]] = b[k] / norms[order[k]];
    }
    if (*ret_rank == columns)
        memcpy(b, x, columns * sizeof(*x));
done:
    free(norms);
    free(order);
    return rc;
}
