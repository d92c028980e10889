/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cholesky.c - a Cholesky factorization by tiles: tasks with depend, and nothing else. */
#include "program.h"

#include <math.h>

static int n, size; /* tiles, and elements of a side */
static double *tiles;

static double *tile(int i, int j)
{
    return tiles + (size_t)(i * n + j) * (size_t)(size * size);
}

static void potrf(double *a)
{
    for (int k = 0; k < size; k++) {
        a[k * size + k] = sqrt(a[k * size + k]);
        for (int i = k + 1; i < size; i++)
            a[i * size + k] /= a[k * size + k];
        for (int i = k + 1; i < size; i++)
            for (int j = k + 1; j <= i; j++)
                a[i * size + j] -= a[i * size + k] * a[j * size + k];
    }
}

static void trsm(const double *l, double *a)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            for (int j = 0; j < k; j++)
                a[i * size + k] -= a[i * size + j] * l[k * size + j];
            a[i * size + k] /= l[k * size + k];
        }
}

static void gemm(const double *a, const double *b, double *c)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            for (int k = 0; k < size; k++)
                c[i * size + j] -= a[i * size + k] * b[j * size + k];
}

static void factorize(void)
{
    for (int k = 0; k < n; k++) {
        double *d = tile(k, k);

#pragma omp task depend(inout : d[0]) priority(2)
        potrf(d);
        for (int i = k + 1; i < n; i++) {
            double *a = tile(i, k);

#pragma omp task depend(in : d[0]) depend(inout : a[0]) priority(1)
            trsm(d, a);
        }
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j <= i; j++) {
                double *a = tile(i, k), *b = tile(j, k), *c = tile(i, j);

#pragma omp task depend(in : a[0], b[0]) depend(inout : c[0])
                gemm(a, b, c);
            }
    }
}

static void fill(void)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int e = 0; e < size * size; e++)
                tile(i, j)[e] = (i == j && e % (size + 1) == 0 ? 2. * n * size : 0) +
                                1. / (1 + e / size + e % size);
}

/* Of the diagonal: the logarithm of the determinant. */
static double logarithm(void)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        for (int i = 0; i < size; i++)
            sum += log(tile(k, k)[i * size + i]);
    return sum;
}

int main(int argc, char **argv)
{
    double right;

    n = (int)argument(argc, argv, 1, 8);
    size = (int)argument(argc, argv, 2, 64);
    tiles = malloc((size_t)(n * n) * (size_t)(size * size) * sizeof(*tiles));
    if (!tiles)
        return EXIT_FAILURE;
    fill();
    factorize(); /* outside of regions tasks are executed at once */
    right = logarithm();
    fill();
#pragma omp parallel
#pragma omp single
    factorize();
    return answer("cholesky", logarithm(), right);
}
