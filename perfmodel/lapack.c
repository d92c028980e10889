/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/lapack.c - least squares with LAPACK: the module orrery/fit.so.
 * Any thread: LAPACK has no state.
 *
 * Uses the Fortran interface, which the reference implementation and OpenBLAS
 * share. dgelsy (a QR factorisation with column pivoting that estimates the
 * condition as it goes; Quintana-Orti, Sun & Bischof, SIAM J. Sci. Comput. 19,
 * 1998) takes no strings, so that nothing depends on how the Fortran compiler
 * passes their lengths.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/module.h"
#include "perfmodel/fit.h"

/* Columns that are this close to linear dependence are treated as dependent. */
#define LEAST_CONDITION 1e-10

/* Rank and x of the least squares problem; see LAPACK's documentation. */
void dgelsy_(const int *m, const int *n, const int *nrhs, double *a,
             const int *lda, double *b, const int *ldb, int *jpvt,
             const double *rcond, int *rank, double *work, const int *lwork,
             int *info);

const struct orr_module *orr_module_entry(void);

/* Gives every column length 1. `ret` gets the former lengths. */
static int scale_columns(double *a, int rows, int columns, double *ret)
{
    for (int k = 0; k < columns; k++) {
        double *column = a + (size_t)k * (size_t)rows, most = 0, sum = 0;

        for (int i = 0; i < rows; i++) {
            if (!isfinite(column[i]))
                return -EDOM;
            most = fmax(most, fabs(column[i]));
        }
        /* A column of zeros stays, and is found by its rank. */
        ret[k] = most > 0 ? most : 1;
        for (int i = 0; i < rows; i++)
            sum += (column[i] / ret[k]) * (column[i] / ret[k]);
        ret[k] *= most > 0 ? sqrt(sum) : 1;
        for (int i = 0; i < rows; i++)
            column[i] /= ret[k];
    }
    return 0;
}

/* The size of the work space of dgelsy. */
static int work_size(int rows, int columns)
{
    const int one = 1, ask = -1;
    const double condition = LEAST_CONDITION;
    double a = 0, b = 0, size = 0;
    int pivot = 0, rank = 0, info = 0;

    dgelsy_(&rows, &columns, &one, &a, &rows, &b, &rows, &pivot, &condition,
            &rank, &size, &ask, &info);
    return info == 0 && size >= 1 && size < INT_MAX ? (int)size : -1;
}

static int dgelsy_solve(double *a, int rows, int columns, double *b,
                        double *work, int nwork, int *pivots, int *ret_rank)
{
    const int one = 1;
    const double condition = LEAST_CONDITION;
    int info = 0;

    dgelsy_(&rows, &columns, &one, a, &rows, b, &rows, pivots, &condition,
            ret_rank, work, &nwork, &info);
    return info == 0 ? 0 : -EDOM;
}

static int least_squares(double *a, unsigned rows, unsigned columns, double *b,
                         unsigned *ret_rank)
{
    int m = (int)rows, n = (int)columns, nwork, rank = 0, rc = -ENOMEM;
    double *work, *length;
    int *pivots;

    if (rows > INT_MAX || columns > rows || columns == 0)
        return -EDOM;
    for (unsigned i = 0; i < rows; i++)
        if (!isfinite(b[i]))
            return -EDOM;
    nwork = work_size(m, n);
    if (nwork < 0)
        return -EDOM;
    work = malloc((size_t)nwork * sizeof(*work));
    length = malloc(columns * sizeof(*length));
    pivots = calloc(columns, sizeof(*pivots));
    if (work && length && pivots) {
        rc = scale_columns(a, m, n, length);
        if (!rc)
            rc = dgelsy_solve(a, m, n, b, work, nwork, pivots, &rank);
    }
    if (!rc) {
        for (unsigned k = 0; k < columns; k++)
            b[k] /= length[k];
        *ret_rank = (unsigned)rank;
    }
    free(work);
    free(length);
    free(pivots);
    return rc;
}

static const struct orr_fit_solver solver = {
    .least_squares = least_squares,
};

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_module module = {ORR_MODULE_ABI, "fit", &solver,
                                             orr_module_stamp};

    return &module;
}
