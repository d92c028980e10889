/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sparselu.c - LU of a matrix of blocks, some of which are empty: tasks with depend; blocks that
 * fill in are made by the producer. */
#include "program.h"

static int n, size;
static double **blocks;

static double **block(int i, int j)
{
    return &blocks[i * n + j];
}

static double *new_block(void)
{
    return calloc((size_t)(size * size), sizeof(double));
}

static void factor(double *a)
{
    for (int k = 0; k < size; k++)
        for (int i = k + 1; i < size; i++) {
            a[i * size + k] /= a[k * size + k];
            for (int j = k + 1; j < size; j++)
                a[i * size + j] -= a[i * size + k] * a[k * size + j];
        }
}

static void row(const double *d, double *a)
{
    for (int k = 0; k < size; k++)
        for (int i = k + 1; i < size; i++)
            for (int j = 0; j < size; j++)
                a[i * size + j] -= d[i * size + k] * a[k * size + j];
}

static void column(const double *d, double *a)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            a[i * size + k] /= d[k * size + k];
            for (int j = k + 1; j < size; j++)
                a[i * size + j] -= a[i * size + k] * d[k * size + j];
        }
}

static void update(const double *a, const double *b, double *c)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            for (int j = 0; j < size; j++)
                c[i * size + j] -= a[i * size + k] * b[k * size + j];
}

static void step(int k)
{
    double *d = *block(k, k);

#pragma omp task depend(inout : d[0]) priority(2)
    factor(d);
    for (int j = k + 1; j < n; j++) {
        double *a = *block(k, j);

        if (!a)
            continue;
#pragma omp task depend(in : d[0]) depend(inout : a[0]) priority(1)
        row(d, a);
    }
    for (int i = k + 1; i < n; i++) {
        double *a = *block(i, k);

        if (!a)
            continue;
#pragma omp task depend(in : d[0]) depend(inout : a[0]) priority(1)
        column(d, a);
        for (int j = k + 1; j < n; j++) {
            double *b = *block(k, j), *c;

            if (!b)
                continue;
            if (!*block(i, j))
                *block(i, j) = new_block();
            c = *block(i, j);
#pragma omp task depend(in : a[0], b[0]) depend(inout : c[0])
            update(a, b, c);
        }
    }
}

/* All together, to be compared. */
static double sum(void)
{
    double all = 0;

    for (int b = 0; b < n * n; b++)
        for (int i = 0; blocks[b] && i < size * size; i++)
            all += blocks[b][i] * (1 + i % 7);
    return all;
}

static void fill(void)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double **to = block(i, j);

            free(*to);
            *to = NULL;
            if (i != j && (i + 2 * j) % 3 == 0)
                continue;
            *to = new_block();
            for (int e = 0; e < size * size; e++)
                (*to)[e] = (i == j && e % (size + 1) == 0 ? 4. * n * size : 0) + 1. / (1 + e % 11);
        }
}

int main(int argc, char **argv)
{
    double right;

    n = (int)argument(argc, argv, 1, 8);
    size = (int)argument(argc, argv, 2, 48);
    blocks = calloc((size_t)(n * n), sizeof(*blocks));
    if (!blocks)
        return EXIT_FAILURE;
    fill();
    for (int k = 0; k < n; k++)
        step(k); /* outside of regions tasks are executed at once */
    right = sum();
    fill();
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < n; k++)
        step(k);
    return answer("sparselu", sum(), right);
}
