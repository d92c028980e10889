/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/critical.c - critical sections, a lock per name, and what stands in for
 * atomic instructions that a processor does not have. */
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/omp/lock.h"
#include "core/omp/omp.h"

struct orr_omp_critical {
    struct orr_omp_critical *next;
    struct orr_omp_lock lock;
    char name[]; /* "": that of sections without name */
};

static struct orr_omp_critical *critical_find(struct orr_omp_critical *critical,
                                              const char *name)
{
    while (critical && strcmp(critical->name, name) != 0)
        critical = critical->next;
    return critical;
}

static struct orr_omp_critical *critical_make(const struct orr_omp *omp,
                                              const char *name)
{
    size_t length = strlen(name) + 1;
    struct orr_omp_critical *critical = malloc(sizeof(*critical) + length);

    if (!critical)
        orr_omp_no_memory("starpu_omp_critical");
    memcpy(critical->name, name, length);
    orr_omp_lock_init(&critical->lock, omp->env.looks, critical->name);
    return critical;
}

/* The lock of that name; the first thread that asks makes it. */
static struct orr_omp_lock *lock_named(struct orr_omp *omp, const char *name)
{
    struct orr_omp_critical *first = atomic_load(&omp->criticals);
    struct orr_omp_critical *found, *fresh = NULL;

    if (!name)
        name = "";
    while (!(found = critical_find(first, name))) {
        if (!fresh)
            fresh = critical_make(omp, name);
        fresh->next = first;
        if (atomic_compare_exchange_strong(&omp->criticals, &first, fresh))
            return &fresh->lock;
    }
    free(fresh); /* another thread was faster */
    return &found->lock;
}

void orr_omp_criticals_free(struct orr_omp *omp)
{
    struct orr_omp_critical *critical = atomic_load(&omp->criticals);

    while (critical) {
        struct orr_omp_critical *next = critical->next;

        free(critical);
        critical = next;
    }
}

void starpu_omp_critical_inline_begin(const char *name)
{
    struct orr_omp_lock *lock = lock_named(orr_omp_need(__func__), name);
    const void *self = orr_omp_lock_self();

    if (orr_omp_lock_owner(lock) == self) {
        orr_log_error("%s: the task is in the section `%s' already", __func__,
                      name ? name : "");
        abort();
    }
    orr_omp_lock_take(lock, self, __func__);
}

void starpu_omp_critical_inline_end(const char *name)
{
    struct orr_omp_lock *lock = lock_named(orr_omp_need(__func__), name);

    if (orr_omp_lock_owner(lock) != orr_omp_lock_self()) {
        orr_log_error("%s: the task is not in the section `%s'", __func__,
                      name ? name : "");
        abort();
    }
    orr_omp_lock_give(lock);
}

void starpu_omp_critical(void (*f)(void *arg), void *arg, const char *name)
{
    starpu_omp_critical_inline_begin(name);
    f(arg);
    starpu_omp_critical_inline_end(name);
}

void starpu_omp_atomic_fallback_inline_begin(void)
{
    struct orr_omp *omp = orr_omp_need(__func__);

    orr_omp_lock_take(&omp->atomic, orr_omp_lock_self(), __func__);
}

void starpu_omp_atomic_fallback_inline_end(void)
{
    orr_omp_lock_give(&orr_omp_need(__func__)->atomic);
}
