/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/bench/rivals-openmp.c - see rivals.h. For libgomp and libomp. */
#include "rivals.h"

static char datum[NDATA];

static void nothing(void)
{
    __asm__ volatile("");
}

static void submit(int ntasks, int nbuffers)
{
    for (int i = 0; i < ntasks; i++) {
        char *a = &datum[datum_of(i, 0)], *b = &datum[datum_of(i, 1)];
        char *c = &datum[datum_of(i, 2)], *d = &datum[datum_of(i, 3)];

        (void)a, (void)b, (void)c, (void)d;
        switch (nbuffers) {
        case 0:
#pragma omp task
            nothing();
            break;
        case 1:
#pragma omp task depend(inout : *a)
            nothing();
            break;
        case 2:
#pragma omp task depend(inout : *a, *b)
            nothing();
            break;
        case 4:
#pragma omp task depend(inout : *a, *b, *c, *d)
            nothing();
            break;
        default:
            exit(2);
        }
    }
}

static void run(int ntasks, int nbuffers, int nthreads)
{
#pragma omp parallel num_threads(nthreads)
#pragma omp single
    submit(ntasks, nbuffers);
}

int main(int argc, char **argv)
{
    return rivals_main(argc, argv, run);
}
