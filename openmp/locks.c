/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/locks.c - see locks.h. */
#include "openmp/locks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* -- critical sections -- */

/* Made by the first thread that comes; it stays as long as the program. */
static starpu_omp_lock_t *critical_of(void **name)
{
    _Atomic(starpu_omp_lock_t *) *at = (_Atomic(starpu_omp_lock_t *) *)name;
    starpu_omp_lock_t *lock = atomic_load_explicit(at, memory_order_acquire);
    starpu_omp_lock_t *fresh;

    if (lock)
        return lock;
    fresh = openmp_allocate(sizeof(*fresh));
    starpu_omp_init_lock(fresh);
    if (atomic_compare_exchange_strong(at, &lock, fresh))
        return fresh;
    starpu_omp_destroy_lock(fresh); /* another thread was faster */
    free(fresh);
    return lock;
}

void openmp_critical_begin(void **name)
{
    starpu_omp_set_lock(critical_of(name));
}

void openmp_critical_end(void **name)
{
    starpu_omp_unset_lock(critical_of(name));
}

/* -- locks -- */

/* Blocks of locks, which never move: block k has FIRST << k of them. */
enum { FIRST = 64, NBLOCKS = 24 };

union any_lock {
    starpu_omp_lock_t simple;
    starpu_omp_nest_lock_t nested;
    uint32_t next_free;
};

static struct {
    pthread_mutex_t lock;
    _Atomic(union any_lock *) blocks[NBLOCKS];
    uint32_t nused;     /* [lock] numbers are 1 … nused */
    uint32_t first_free; /* [lock] 0: none */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where number `n` is, from 1 on. */
static union any_lock *lock_at(uint32_t n)
{
    uint32_t at = n - 1 + FIRST;
    unsigned block = 31 - (unsigned)__builtin_clz(at / FIRST);

    return &atomic_load_explicit(&table.blocks[block],
                                 memory_order_acquire)[at - ((uint32_t)FIRST << block)];
}

/* The block is made with its first lock. */
static uint32_t take_new_locked(void)
{
    uint32_t n = table.nused + 1, at = n - 1 + FIRST;
    unsigned block = 31 - (unsigned)__builtin_clz(at / FIRST);

    if (block >= NBLOCKS)
        openmp_refuse("omp_init_lock", "was called for more than 10^9 locks");
    if (!atomic_load(&table.blocks[block]))
        atomic_store(&table.blocks[block],
                     openmp_allocate(((size_t)FIRST << block) * sizeof(union any_lock)));
    return table.nused = n;
}

void openmp_lock_init(uint32_t *lock, bool nests)
{
    uint32_t n;

    openmp_enter("omp_init_lock");
    pthread_mutex_lock(&table.lock);
    n = table.first_free;
    if (n)
        table.first_free = lock_at(n)->next_free;
    else
        n = take_new_locked();
    pthread_mutex_unlock(&table.lock);
    if (nests)
        starpu_omp_init_nest_lock(&lock_at(n)->nested);
    else
        starpu_omp_init_lock(&lock_at(n)->simple);
    *lock = n;
}

static union any_lock *lock_of(const uint32_t *lock)
{
    if (*lock == 0 || *lock > table.nused)
        openmp_refuse("a lock", "was used that omp_init_lock has not made");
    return lock_at(*lock);
}

void openmp_lock_destroy(uint32_t *lock, bool nests)
{
    union any_lock *at = lock_of(lock);

    if (nests)
        starpu_omp_destroy_nest_lock(&at->nested);
    else
        starpu_omp_destroy_lock(&at->simple);
    pthread_mutex_lock(&table.lock);
    at->next_free = table.first_free;
    table.first_free = *lock;
    pthread_mutex_unlock(&table.lock);
    *lock = 0;
}

void openmp_lock_set(const uint32_t *lock, bool nests)
{
    openmp_enter("omp_set_lock");
    if (nests)
        starpu_omp_set_nest_lock(&lock_of(lock)->nested);
    else
        starpu_omp_set_lock(&lock_of(lock)->simple);
}

void openmp_lock_unset(const uint32_t *lock, bool nests)
{
    openmp_enter("omp_unset_lock");
    if (nests)
        starpu_omp_unset_nest_lock(&lock_of(lock)->nested);
    else
        starpu_omp_unset_lock(&lock_of(lock)->simple);
}

int openmp_lock_test(const uint32_t *lock, bool nests)
{
    openmp_enter("omp_test_lock");
    return nests ? starpu_omp_test_nest_lock(&lock_of(lock)->nested)
                 : starpu_omp_test_lock(&lock_of(lock)->simple);
}
