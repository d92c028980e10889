/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fib.c - Fibonacci numbers by two tasks per call, down to a cut-off: nested taskwaits. */
#include "program.h"

static long serial(int n)
{
    return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

static long fib(int n, int least)
{
    long a, b;

    if (n <= least)
        return serial(n);
#pragma omp task shared(a) firstprivate(n)
    a = fib(n - 1, least);
#pragma omp task shared(b) firstprivate(n)
    b = fib(n - 2, least);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv)
{
    int n = (int)argument(argc, argv, 1, 29);
    long result = 0;

#pragma omp parallel
#pragma omp single
    result = fib(n, n - 9);
    return answer("fib", (double)result, (double)serial(n));
}
