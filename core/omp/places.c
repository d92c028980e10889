/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/places.c - see places.h. */
#include "core/omp/places.h"

#include "core/omp/wait.h"
#include "core/worker/worker.h"

enum { NOBODY, LOOKS };

bool orr_omp_place_give(struct orr_omp_place *place,
                        struct orr_omp_task *thread)
{
    uintptr_t expected = LOOKS;

    return atomic_compare_exchange_strong_explicit(
        &place->given, &expected, (uintptr_t)thread, memory_order_acq_rel,
        memory_order_relaxed);
}

bool orr_omp_place_is_wanted(struct orr_worker *worker)
{
    return atomic_load_explicit(&worker->nlocal, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&worker->woken, memory_order_relaxed) ||
           worker->resumable;
}

struct orr_omp_task *orr_omp_place_look(struct orr_omp_place *place)
{
    _Atomic(uintptr_t) *given = &place->given;
    struct orr_worker *worker = orr_self->worker;
    uintptr_t found = NOBODY;

    if (!atomic_compare_exchange_strong_explicit(
            given, &found, LOOKS, memory_order_relaxed, memory_order_relaxed))
        return NULL; /* a task of the worker that waits looks here already */
    for (unsigned n = 0; n < ORR_OMP_SPINS && !orr_omp_place_is_wanted(worker);
         n++) {
        if (atomic_load_explicit(given, memory_order_relaxed) != LOOKS)
            break;
        orr_exec_pause();
    }
    found = LOOKS;
    if (atomic_compare_exchange_strong_explicit(
            given, &found, NOBODY, memory_order_acquire, memory_order_acquire))
        return NULL;
    atomic_store_explicit(given, NOBODY, memory_order_relaxed);
    return (struct orr_omp_task *)found;
}
