#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""OpenMP programs on our runtime beside the compilers' own, in turns. A process repeats one
region of some milliseconds and tells the least time: on a machine that others use that is the
one in which both threads had their processors. A line per program and compiler: the least of
all processes, and the median of the ratios of the pairs, which has the load of the machine in
it.

usage: bench-openmp-run.py OPENMP.SO [ROUNDS]

Goal: not slower than the better of libgomp and libomp.
"""
import os
import statistics
import subprocess
import sys
import tempfile

MODULE = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9

# Fibonacci numbers down to a cut-off, and without one; the LU factors of a sparse matrix of
# blocks.
# Then how often.
PROGRAMS = {
    "fib-cut": ("fib", "27", "12", "100"),
    "fib": ("fib", "18", "2", "200"),
    "sparselu": ("sparselu", "14", "32", "60"),
    "sparselu-small": ("sparselu", "20", "16", "60"),
}
FIB = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int least;
static long serial(int n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }
static long fib(int n)
{
    long a, b;
    if (n < least)
        return serial(n);
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    long right, sum = 0;
    double best = 1e9;
    least = atoi(argv[2]);
    right = serial(n);
#pragma omp parallel
    { }
    for (int repeat = atoi(argv[3]); repeat > 0; repeat--) {
        double begin = omp_get_wtime(), seconds;
#pragma omp parallel
#pragma omp single
        sum = fib(n);
        seconds = omp_get_wtime() - begin;
        best = seconds < best ? seconds : best;
        if (sum != right)
            return 1;
    }
    printf("%.9f\n", best);
    return argc < 4;
}
"""
SPARSELU = r"""
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int n, b;
static double **blocks;
#define BLOCK(i, j) blocks[(i) * n + (j)]
static void factor(double *d)
{
    for (int k = 0; k < b; k++)
        for (int i = k + 1; i < b; i++) {
            d[i * b + k] /= d[k * b + k];
            for (int j = k + 1; j < b; j++)
                d[i * b + j] -= d[i * b + k] * d[k * b + j];
        }
}
static void right(const double *d, double *r)
{
    for (int k = 0; k < b; k++)
        for (int i = k + 1; i < b; i++)
            for (int j = 0; j < b; j++)
                r[i * b + j] -= d[i * b + k] * r[k * b + j];
}
static void below(const double *d, double *r)
{
    for (int i = 0; i < b; i++)
        for (int k = 0; k < b; k++) {
            r[i * b + k] /= d[k * b + k];
            for (int j = k + 1; j < b; j++)
                r[i * b + j] -= r[i * b + k] * d[k * b + j];
        }
}
static void update(const double *l, const double *u, double *c)
{
    for (int i = 0; i < b; i++)
        for (int k = 0; k < b; k++)
            for (int j = 0; j < b; j++)
                c[i * b + j] -= l[i * b + k] * u[k * b + j];
}
static void block_new(int i, int j)
{
    BLOCK(i, j) = calloc((size_t)(b * b), sizeof(double));
    for (int k = 0; k < b * b; k++)
        BLOCK(i, j)[k] = (i * 7 + j * 3 + k) % 10 / 10. +
                         (i == j && k % (b + 1) == 0 ? 10. * n * b : 0);
}
static void blocks_new(void)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            free(BLOCK(i, j));
            BLOCK(i, j) = NULL;
            if (i == j || (i + j) % 3 == 0 || abs(i - j) == 1)
                block_new(i, j);
        }
}
static void lu(void)
{
    for (int k = 0; k < n; k++) {
        factor(BLOCK(k, k));
        for (int j = k + 1; j < n; j++)
            if (BLOCK(k, j))
#pragma omp task untied firstprivate(k, j)
                right(BLOCK(k, k), BLOCK(k, j));
        for (int i = k + 1; i < n; i++)
            if (BLOCK(i, k))
#pragma omp task untied firstprivate(k, i)
                below(BLOCK(k, k), BLOCK(i, k));
#pragma omp taskwait
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; BLOCK(i, k) && j < n; j++)
                if (BLOCK(k, j)) {
                    if (!BLOCK(i, j))
                        BLOCK(i, j) = calloc((size_t)(b * b), sizeof(double));
#pragma omp task untied firstprivate(k, i, j)
                    update(BLOCK(i, k), BLOCK(k, j), BLOCK(i, j));
                }
#pragma omp taskwait
    }
}
int main(int argc, char **argv)
{
    double best = 1e9, sum = 0;
    n = atoi(argv[1]);
    b = atoi(argv[2]);
    blocks = calloc((size_t)(n * n), sizeof(*blocks));
#pragma omp parallel
    { }
    for (int repeat = atoi(argv[3]); repeat > 0; repeat--) {
        double begin, seconds;
        blocks_new();
        begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
        lu();
        seconds = omp_get_wtime() - begin;
        best = seconds < best ? seconds : best;
    }
    printf("%.9f\n", best);
    for (int k = 0; k < n * n; k++)
        sum += blocks[k] ? blocks[k][0] : 0;
    return !isfinite(sum) || argc < 4;
}
"""


def build(folder):
    """{(program, compiler): path}."""
    there = {}
    for name, source in (("fib", FIB), ("sparselu", SPARSELU)):
        path = os.path.join(folder, name + ".c")
        with open(path, "w", encoding="ascii") as file:
            file.write(source)
        for compiler in "gcc", "clang":
            program = os.path.join(folder, f"{name}-{compiler}")
            try:
                subprocess.run([compiler, "-O2", "-fopenmp", path, "-o", program, "-lm"],
                               check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            there[name, compiler] = program
    return there


def seconds(words, **settings):
    done = subprocess.run(words, env=dict(os.environ, OMP_NUM_THREADS="2", **settings),
                          check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def main():
    if not os.path.exists(MODULE):
        sys.exit(f"{MODULE} is not there: build/openmp.so")
    with tempfile.TemporaryDirectory(prefix="orrery-bench-") as folder:
        there = build(folder)
        for name, (program, *arguments) in PROGRAMS.items():
            for compiler in "gcc", "clang":
                if (program, compiler) not in there:
                    continue
                words = [there[program, compiler], *arguments]
                pairs = [(seconds(words), seconds(words, LD_PRELOAD=MODULE))
                         for _ in range(ROUNDS)]
                print(f"bench openmp-run program={name} compiler={compiler} "
                      f"own_ms={1e3 * min(p[0] for p in pairs):.3f} "
                      f"value={1e3 * min(p[1] for p in pairs):.3f} unit=ms "
                      f"ratio={min(p[1] for p in pairs) / min(p[0] for p in pairs):.3f} "
                      f"ratio_of_pairs={statistics.median(b / a for a, b in pairs):.3f}")


main()
