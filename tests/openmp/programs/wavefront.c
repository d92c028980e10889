/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wavefront.c - loops whose iterations wait for others: a grid of which each point needs the
 * one above and the one to the left, and a chain downwards. */
#include "program.h"

enum { MOST = 64 };

static double grid[MOST + 1][MOST + 1], chain[MOST + 1];

static double spin(long n)
{
    unsigned seed = (unsigned)n;
    double sum = 0;

    for (long i = 0; i < 20000; i++)
        sum += chance(&seed) % 3;
    return sum / 20000;
}

/* In a region, or without one, where nothing has to wait. */
static void loops(int n)
{
#pragma omp for ordered(2) schedule(static, 1)
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            grid[i][j] =
                (grid[i - 1][j] + grid[i][j - 1]) / 2 + spin(i * n + j);
#pragma omp ordered depend(source)
        }
#pragma omp for ordered(1) schedule(dynamic, 1)
    for (int i = n; i > 0; i--) {
        double own = spin(i);

#pragma omp ordered depend(sink : i + 1)
        chain[i - 1] = chain[i] / 2 + own;
#pragma omp ordered depend(source)
    }
}

int main(int argc, char **argv)
{
    int n = (int)argument(argc, argv, 1, 10);
    double value;

    if (n > MOST)
        n = MOST;
#pragma omp parallel
    loops(n);
    value = grid[n][n] + chain[0];
    memset(grid, 0, sizeof(grid));
    memset(chain, 0, sizeof(chain));
    loops(n);
    return answer("wavefront", value, grid[n][n] + chain[0]);
}
