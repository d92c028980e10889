/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/gomp.h - what the wrappers of libgomp's entries share. libgomp has no OMPT:
 * preloaded, our functions are found in the place of its own, say what happens, and
 * pass on. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/openmp/recorder.h"

/* real_NAME: the function behind our NAME, which is declared. */
#define GOMP_REAL(name)                                                                            \
    static __typeof__(&name) real_##name;                                                          \
    if (!real_##name)                                                                              \
    real_##name = (__typeof__(&name))orr_omp_next(#name)

/* Whether this front end records: not where libomp has these entries, which OMPT tells of. */
bool gomp_on(void);

static inline void gomp_wait_begin(enum orr_omp_wait wait)
{
    orr_omp_put(ORR_OMP_WAIT_BEGIN, 0, wait, 0, 0);
}

static inline void gomp_wait_end(enum orr_omp_wait wait)
{
    orr_omp_put(ORR_OMP_WAIT_END, 0, wait, 0, 0);
}

/* This thread runs that task, implicit or explicit, from now on; returns the one before. */
uint64_t gomp_enter(uint64_t task);

/* The steps of the loop that this thread has come to. */
void gomp_keep_step(long step);

/* A region of `fn` and `data`: what runs in their place is gomp_region_main with this.
 * It lives on the stack of who begins the region. */
struct gomp_region {
    void *first; /* of `data`: libgomp looks there for reductions */
    void (*fn)(void *);
    void *data;
    uint64_t number;
    bool loops; /* each thread begins with a loop, … */
    long step;  /* … of such steps */
};

void gomp_region_begin(struct gomp_region *region, void (*fn)(void *), void *data,
                       unsigned threads);
void gomp_region_main(void *region);
void gomp_region_end(const struct gomp_region *region);
