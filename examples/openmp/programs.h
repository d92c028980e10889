/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * programs.h - small programs that are there twice: with OpenMP's directives
 * (source.c) and as a compiler translates these to starpu_omp_* (translated.c).
 * main.c calls them and prints their results, which are whole numbers. `threads` is
 * how many a parallel region gets.
 */
#pragma once

/* -- before and after everything -- */
void begin(void);
void end(void);

/* x · y of two vectors of length n: a loop and a reduction. */
double dot(int threads, int n, const double *x, const double *y);

/* Sweeps of a stencil over nblocks blocks of BLOCK numbers: tasks that depend on a
 * block and its neighbours. The result is in x. */
enum { BLOCK = 16 };
void jacobi(int threads, int nblocks, int nsweeps, long *x, long *y);

/* The n-th Fibonacci number: tasks that wait for their tasks. */
long fibonacci(int threads, int n);

/* How many ways there are to put n queens on a board: tasks and an atomic sum. */
long queens(int threads, int n);

/* Factors a matrix of nb x nb blocks of SIDE x SIDE in place, without pivoting:
 * tasks that depend on blocks. */
enum { SIDE = 4 };
void lu(int threads, int nb, double (*a)[SIDE][SIDE]);

/* A digest of n items that are made at once and written in order: an ordered
 * loop. */
unsigned long pipeline(int threads, int n);

/* -- what both use: no directives -- */
void sweep_block(const long *left, const long *own, const long *right,
                 long *result);
void factor_diagonal(double (*a)[SIDE]);
void solve_row(double (*diagonal)[SIDE], double (*a)[SIDE]);
void solve_column(double (*diagonal)[SIDE], double (*a)[SIDE]);
void update_block(double (*column)[SIDE], double (*row)[SIDE],
                  double (*a)[SIDE]);
int is_safe(const int *board, int row, int column);
unsigned long make_item(int i);
