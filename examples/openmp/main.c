/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - runs the programs of programs.h and prints what they compute. usage:
 * [THREADS] */
#include <stdio.h>
#include <stdlib.h>

#include "programs.h"

enum { LENGTH = 10000, BLOCKS = 12, SWEEPS = 9, SIDES = 6 };

static void run_dot(int threads)
{
    static double x[LENGTH], y[LENGTH];

    for (int i = 0; i < LENGTH; i++) {
        x[i] = i % 101;
        y[i] = i % 89 - 44;
    }
    printf("dot %.0f\n", dot(threads, LENGTH, x, y));
}

static void run_jacobi(int threads)
{
    static long x[BLOCKS * BLOCK], y[BLOCKS * BLOCK];
    long sum = 0;

    for (int i = 0; i < BLOCKS * BLOCK; i++)
        x[i] = i * 7919 % 1009;
    jacobi(threads, BLOCKS, SWEEPS, x, y);
    for (int i = 0; i < BLOCKS * BLOCK; i++)
        sum = (sum * 33 + x[i]) % 1000000007;
    printf("jacobi %ld\n", sum);
}

/* The same operations on each block in the same order: equal to the last bit. */
static void run_lu(int threads)
{
    static double a[SIDES * SIDES][SIDE][SIDE];
    double sum = 0;

    for (int b = 0; b < SIDES * SIDES; b++)
        for (int i = 0; i < SIDE * SIDE; i++)
            a[b][i / SIDE][i % SIDE] =
                (b * 31 + i * 17) % 13 +
                (b % (SIDES + 1) == 0 && i % (SIDE + 1) == 0 ? 500 : 0);
    lu(threads, SIDES, a);
    for (int b = 0; b < SIDES * SIDES; b++)
        for (int i = 0; i < SIDE * SIDE; i++)
            sum = sum / 2 + a[b][i / SIDE][i % SIDE];
    printf("lu %.17g\n", sum);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;

    begin();
    run_dot(threads);
    run_jacobi(threads);
    printf("fibonacci %ld\n", fibonacci(threads, 12));
    printf("queens %ld\n", queens(threads, 6));
    run_lu(threads);
    printf("pipeline %lu\n", pipeline(threads, 200));
    end();
    return 0;
}
