/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reductions.c - sums over tasks: of a taskloop, and of all that is in a taskgroup. */
#include "program.h"

enum { TASKS = 8 };

static double term(long i)
{
    double sum = 0;

    for (int k = 1; k < 400; k++)
        sum += 1. / (double)(i + k);
    return sum;
}

static double sum_of(long from, long to)
{
    double sum = 0;

    for (long i = from; i < to; i++)
        sum += term(i);
    return sum;
}

int main(int argc, char **argv)
{
    long n = argument(argc, argv, 1, 10000);
    double loop = 0, group = 0, most = 0;

#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop reduction(+ : loop) reduction(max : most) grainsize(500)
        for (long i = 0; i < n; i++) {
            double value = term(i);

            loop += value;
            most = value > most ? value : most;
        }
#pragma omp taskgroup task_reduction(+ : group)
        {
            for (long t = 0; t < TASKS / 2; t++)
#pragma omp task in_reduction(+ : group) firstprivate(t)
                group += sum_of(t * n / TASKS, (t + 1) * n / TASKS);
#pragma omp taskloop in_reduction(+ : group) num_tasks(4)
            for (long t = TASKS / 2; t < TASKS; t++)
                group += sum_of(t * n / TASKS, (t + 1) * n / TASKS);
        }
    }
    return answer("reductions", loop + group + most,
                  2 * sum_of(0, n) + term(0));
}
