/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loops.c - regions without tasks: loops of all schedules, ordered ones, sections, single with
 * copyprivate, critical, and a region inside of another one. */
#include "program.h"

static long spin(long n)
{
    unsigned seed = (unsigned)n;
    long sum = 0;

    for (long i = 0; i < 1000 + n % 3; i++)
        sum += chance(&seed) % 3;
    return sum % 5;
}

/* All schedules, one after the other; `serial` without threads. */
static long loops(int n, int serial)
{
    long sum = 0, order = 0, wrong = 0;

#pragma omp parallel if (!serial) reduction(+ : sum)
    {
        long copied;

#pragma omp for schedule(static)
        for (int i = 0; i < n; i++)
            sum += spin(i);
#pragma omp for schedule(static, 3) nowait
        for (int i = 0; i < n; i++)
            sum += spin(i);
#pragma omp for schedule(dynamic, 4)
        for (int i = n; i > 0; i -= 2)
            sum += spin(i);
#pragma omp for schedule(guided)
        for (unsigned long long i = 0; i < (unsigned long long)n; i++)
            sum += spin((long)i);
#pragma omp for schedule(runtime)
        for (int i = 0; i < n; i++)
            sum += spin(i);
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < n; i++) {
            sum += spin(i);
#pragma omp ordered
            wrong += order++ != i;
        }
#pragma omp sections
        {
#pragma omp section
            sum += spin(1);
#pragma omp section
            sum += spin(2);
        }
#pragma omp single copyprivate(copied)
        copied = spin(4);
#pragma omp critical
        order += copied - spin(4);
#pragma omp barrier
    }
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += spin(i);
#pragma omp parallel sections reduction(+ : sum)
    {
#pragma omp section
        sum += spin(1);
#pragma omp section
        sum += spin(2);
    }
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for
        for (int i = 0; i < 2; i++) {
            long inside = 0;

#pragma omp parallel for reduction(+ : inside) schedule(dynamic)
            for (int j = 0; j < n; j++)
                inside += spin(j);
            sum += inside;
        }
    }
    return wrong ? -1 : sum;
}

int main(int argc, char **argv)
{
    int n = (int)argument(argc, argv, 1, 200);

    return answer("loops", (double)loops(n, 0), (double)loops(n, 1));
}
