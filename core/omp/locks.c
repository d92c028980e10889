/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/locks.c - OpenMP's simple and nestable locks. */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/omp/lock.h"
#include "core/omp/omp.h"

static struct orr_omp_lock *new_lock(const char *call)
{
    const struct orr_omp *omp = orr_omp_need(call);
    struct orr_omp_lock *lock = malloc(sizeof(*lock));

    if (!lock)
        orr_omp_no_memory(call);
    orr_omp_lock_init(lock, omp->env.looks, NULL);
    return lock;
}

/* The lock behind the public one. */
static struct orr_omp_lock *lock_of(void *internal, const char *call)
{
    (void)orr_omp_need(call);
    if (internal)
        return internal;
    orr_log_error("%s: the lock was not initialised, or was destroyed", call);
    abort();
}

static void omp_lock_destroy(void **internal, const char *call)
{
    struct orr_omp_lock *lock = lock_of(*internal, call);

    if (orr_omp_lock_owner(lock)) {
        orr_log_error("%s: somebody has the lock: it is to be unset first",
                      call);
        abort();
    }
    free(lock);
    *internal = NULL;
}

void starpu_omp_init_lock(starpu_omp_lock_t *lock)
{
    lock->internal = new_lock(__func__);
}

void starpu_omp_destroy_lock(starpu_omp_lock_t *lock)
{
    omp_lock_destroy(&lock->internal, __func__);
}

void starpu_omp_set_lock(starpu_omp_lock_t *lock)
{
    struct orr_omp_lock *inner = lock_of(lock->internal, __func__);

    orr_omp_lock_take(inner, orr_omp_lock_self(), __func__);
}

void starpu_omp_unset_lock(starpu_omp_lock_t *lock)
{
    struct orr_omp_lock *inner = lock_of(lock->internal, __func__);

    if (!orr_omp_lock_owner(inner)) {
        orr_log_error("%s: nobody has the lock", __func__);
        abort();
    }
    orr_omp_lock_give(inner);
}

int starpu_omp_test_lock(starpu_omp_lock_t *lock)
{
    struct orr_omp_lock *inner = lock_of(lock->internal, __func__);

    return orr_omp_lock_try(inner, orr_omp_lock_self());
}

void starpu_omp_init_nest_lock(starpu_omp_nest_lock_t *lock)
{
    lock->internal = new_lock(__func__);
}

void starpu_omp_destroy_nest_lock(starpu_omp_nest_lock_t *lock)
{
    omp_lock_destroy(&lock->internal, __func__);
}

void starpu_omp_set_nest_lock(starpu_omp_nest_lock_t *lock)
{
    struct orr_omp_lock *inner = lock_of(lock->internal, __func__);
    const void *self = orr_omp_lock_self();

    if (orr_omp_lock_owner(inner) != self)
        orr_omp_lock_take(inner, self, __func__);
    inner->depth++;
}

void starpu_omp_unset_nest_lock(starpu_omp_nest_lock_t *lock)
{
    struct orr_omp_lock *inner = lock_of(lock->internal, __func__);

    if (orr_omp_lock_owner(inner) != orr_omp_lock_self()) {
        orr_log_error("%s: another task has the lock, or none", __func__);
        abort();
    }
    if (--inner->depth == 0)
        orr_omp_lock_give(inner);
}

int starpu_omp_test_nest_lock(starpu_omp_nest_lock_t *lock)
{
    struct orr_omp_lock *inner = lock_of(lock->internal, __func__);
    const void *self = orr_omp_lock_self();

    if (orr_omp_lock_owner(inner) != self && !orr_omp_lock_try(inner, self))
        return 0;
    return (int)++inner->depth;
}
