/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/rivals.h - what the programs of rivals.py share: the same graph of empty
 * tasks for every runtime. C and C++.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "empty_graph.h"

enum { ROUNDS_IN = 3 };

static inline double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* `program TASKS BUFFERS THREADS` prints µs per task, from the first submission until all
 * have ended: the least of a few, the first of which is not counted. */
static inline int rivals_main(int argc, char **argv,
                              void (*run)(int ntasks, int nbuffers, int nthreads))
{
    double best = 0;
    int ntasks, nbuffers, nthreads;

    if (argc != 4) {
        fprintf(stderr, "usage: %s TASKS BUFFERS THREADS\n", argv[0]);
        return 2;
    }
    ntasks = atoi(argv[1]);
    nbuffers = atoi(argv[2]);
    nthreads = atoi(argv[3]);
    for (int i = 0; i <= ROUNDS_IN; i++) {
        double begin = now_us(), us;

        run(ntasks, nbuffers, nthreads);
        us = (now_us() - begin) / ntasks;
        if (i == 1 || (i > 1 && us < best))
            best = us;
    }
    printf("%.4f\n", best);
    return 0;
}
