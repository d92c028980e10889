/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.c - the programs with OpenMP's directives: see programs.h. */
#include "programs.h"

void begin(void)
{
}

void end(void)
{
}

double dot(int threads, int n, const double *x, const double *y)
{
    double sum = 0;

#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

void jacobi(int threads, int nblocks, int nsweeps, long *x, long *y)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int sweep = 0; sweep < nsweeps; sweep++) {
        long *from = sweep % 2 ? y : x, *to = sweep % 2 ? x : y;

        for (int b = 0; b < nblocks; b++) {
            long *own = from + b * BLOCK;
            long *left = b > 0 ? own - BLOCK : own;
            long *right = b + 1 < nblocks ? own + BLOCK : own;
            long *result = to + b * BLOCK;

#pragma omp task depend(in : left[0], own[0], right[0]) depend(out : result[0])
            sweep_block(left == own ? 0 : left, own, right == own ? 0 : right,
                        result);
        }
    }
    if (nsweeps % 2)
        for (int i = 0; i < nblocks * BLOCK; i++)
            x[i] = y[i];
}

static long fib(int n)
{
    long a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

long fibonacci(int threads, int n)
{
    long result = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
    result = fib(n);
    return result;
}

struct board {
    int columns[16];
};

static void place(struct board board, int n, int row, long *count)
{
    if (row == n) {
#pragma omp atomic
        ++*count;
        return;
    }
    for (int column = 0; column < n; column++) {
        if (!is_safe(board.columns, row, column))
            continue;
        board.columns[row] = column;
#pragma omp task final(row > 2) firstprivate(board)
        place(board, n, row + 1, count);
    }
}

long queens(int threads, int n)
{
    long count = 0;
    struct board board = {{0}};

#pragma omp parallel num_threads(threads)
#pragma omp single
    place(board, n, 0, &count);
    return count;
}

void lu(int threads, int nb, double (*a)[SIDE][SIDE])
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int k = 0; k < nb; k++) {
        double(*diagonal)[SIDE] = a[k * nb + k];

#pragma omp task depend(inout : diagonal[0])
        factor_diagonal(diagonal);
        for (int i = k + 1; i < nb; i++) {
            double(*row)[SIDE] = a[k * nb + i], (*column)[SIDE] = a[i * nb + k];

#pragma omp task depend(in : diagonal[0]) depend(inout : row[0])
            solve_row(diagonal, row);
#pragma omp task depend(in : diagonal[0]) depend(inout : column[0])
            solve_column(diagonal, column);
        }
        for (int i = k + 1; i < nb; i++)
            for (int j = k + 1; j < nb; j++) {
                double(*column)[SIDE] = a[i * nb + k];
                double(*row)[SIDE] = a[k * nb + j];
                double(*inner)[SIDE] = a[i * nb + j];

#pragma omp task depend(in : column[0], row[0]) depend(inout : inner[0])
                update_block(column, row, inner);
            }
    }
}

unsigned long pipeline(int threads, int n)
{
    unsigned long digest = 0;

#pragma omp parallel for num_threads(threads) ordered schedule(dynamic, 2)
    for (int i = 0; i < n; i++) {
        unsigned long item = make_item(i);

#pragma omp ordered
        digest = digest * 31 + item;
    }
    return digest;
}
