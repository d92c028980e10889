/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* modes.c - what else tasks have: modes of depend, if(0), final, taskloop, groups inside of
 * each other, firstprivate data that need to be copied. */
#include "program.h"

static long total;

static void spin(long n)
{
    unsigned seed = (unsigned)n;

    for (long i = 0; i < 20000; i++)
        (void)chance(&seed);
#pragma omp atomic
    total += n + (seed == 0);
}

struct large {
    long value, more[40];
};

static void depends(void)
{
    static int x, y, z;

#pragma omp task depend(out : x)
    spin(1);
    for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : x) depend(mutexinoutset : y)
        spin(2);
    }
#pragma omp task depend(inout : x, y) depend(out : z)
    spin(3);
#pragma omp task if (0) depend(in : z)
    spin(4);
#pragma omp taskwait depend(in : x)
    spin(5);
#pragma omp taskwait
}

static void inside(int depth)
{
    spin(depth);
    if (depth == 0)
        return;
#pragma omp task
    inside(depth - 1);
#pragma omp taskgroup
    {
#pragma omp task
        inside(depth - 1);
    }
}

static void others(int n)
{
    struct large large = {7, {1, 2, 3}};

#pragma omp task firstprivate(large)
    spin(large.value + large.more[2]);
    large.value = 1000;
#pragma omp task if (0)
    spin(8);
#pragma omp task final(1)
    {
        spin(9);
#pragma omp task
        spin(10);
    }
#pragma omp taskloop grainsize(2)
    for (int i = 0; i < n; i++)
        spin(i);
#pragma omp taskloop num_tasks(3) nogroup
    for (unsigned long long i = 1; i < 20; i += 2)
        spin((long)i);
#pragma omp taskyield
#pragma omp taskwait
#pragma omp taskgroup
    inside(3);
}

int main(int argc, char **argv)
{
    int n = (int)argument(argc, argv, 1, 10);
    long sum = 1 + 6 + 3 + 4 + 5 + 10 + 8 + 9 + 10 + 100 + (long)n * (n - 1) / 2;

    for (int depth = 3, tasks = 1; depth >= 0; depth--, tasks *= 2)
        sum += tasks * depth;
#pragma omp parallel
#pragma omp single
    {
        depends();
        others(n);
    }
    return answer("modes", (double)total, (double)sum);
}
