/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/doacross.c - see doacross.h. */
#include "openmp/doacross.h"

#include <stdlib.h>

enum { WORD = 64 };

/* What a thread keeps of it: freed at its end. */
struct openmp_doacross {
    struct orr_openmp_shared *shared;
    uint64_t *over; /* of all threads: a bit for each iteration */
    unsigned ndims;
    uint64_t counts[OPENMP_MOST_DIMS];
};

void openmp_doacross_begin(unsigned ndims, const uint64_t *counts)
{
    struct openmp_kept *kept = openmp_kept();
    struct openmp_doacross *loop = openmp_allocate(sizeof(*loop));
    uint64_t n = 1;
    void *memory;

    if (ndims > OPENMP_MOST_DIMS)
        openmp_refuse("a loop with ordered(n)", "has more than 32 loops");
    loop->ndims = ndims;
    for (unsigned i = 0; i < ndims; i++) {
        loop->counts[i] = counts[i];
        if (__builtin_mul_overflow(n, counts[i], &n))
            openmp_refuse("a loop with ordered(n)", "has more than 2^64 iterations");
    }
    loop->shared = orr_openmp_share((n / WORD + 1) * sizeof(*loop->over), &memory);
    loop->over = memory;
    kept->doacross = loop;
}

static struct openmp_doacross *this_loop(void)
{
    struct openmp_doacross *loop = openmp_kept()->doacross;

    if (!loop)
        openmp_refuse("ordered depend", "is not in a loop with ordered(n)");
    return loop;
}

/* Its number among all; false: there is no such iteration. */
static bool number_of(const struct openmp_doacross *loop, const uint64_t *at,
                      uint64_t *ret_number)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < loop->ndims; i++) {
        if (at[i] >= loop->counts[i])
            return false;
        number = number * loop->counts[i] + at[i];
    }
    *ret_number = number;
    return true;
}

static bool is_over(void *memory, const void *arg)
{
    const uint64_t *over = memory, *number = arg;

    return over[*number / WORD] >> *number % WORD & 1;
}

static void set_over(void *memory, const void *arg)
{
    uint64_t *over = memory;
    const uint64_t *number = arg;

    over[*number / WORD] |= UINT64_C(1) << *number % WORD;
}

void openmp_doacross_post(const uint64_t *at)
{
    struct openmp_doacross *loop = this_loop();
    uint64_t number;

    if (number_of(loop, at, &number))
        orr_openmp_change(loop->shared, set_over, loop->over, &number);
}

void openmp_doacross_wait(const uint64_t *at)
{
    struct openmp_doacross *loop = this_loop();
    uint64_t number;

    if (number_of(loop, at, &number))
        orr_openmp_wait_until(loop->shared, is_over, loop->over, &number);
}

unsigned openmp_doacross_dims(void)
{
    return this_loop()->ndims;
}

void openmp_doacross_end(void)
{
    struct openmp_kept *kept = openmp_kept();

    if (!kept->doacross)
        return;
    orr_openmp_leave(kept->doacross->shared);
    free(kept->doacross);
    kept->doacross = NULL;
}
