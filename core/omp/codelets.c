/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/codelets.c - the codelets of explicit tasks. Each execution of a task
 * construct brings its own, often on the stack, and the runtime keeps what it knows
 * of a codelet by its address: so equal ones are made one, which stays. There are as
 * many as a program has constructs. Any thread, no lock: entries are only added.
 */
#include <stdlib.h>
#include <string.h>

#include "core/omp/omp.h"

/* The application's fields are before the statistics and after them. */
static bool is_equal(const struct starpu_codelet *a,
                     const struct starpu_codelet *b)
{
    return memcmp(a, b, offsetof(struct starpu_codelet, per_worker_stats)) ==
               0 &&
           a->name == b->name && a->color == b->color && a->flags == b->flags &&
           a->callback_func == b->callback_func;
}

static unsigned codelet_bucket(const struct starpu_codelet *cl)
{
    uintptr_t key =
        (uintptr_t)orr_codelet_host_function(cl, 0) ^ (uintptr_t)cl->name;

    return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 32) % ORR_OMP_CODELETS;
}

static struct orr_omp_codelet *omp_codelet_find(struct orr_omp_codelet *entry,
                                                const struct starpu_codelet *cl)
{
    while (entry && !is_equal(&entry->given, cl))
        entry = entry->next;
    return entry;
}

/* Simulated, a body that no model describes is executed, since it may have
 * constructs in it, and takes the time for which it waits. */
static void run_if_no_model(struct starpu_codelet *cl)
{
    if (!cl->model && orr_codelet_is_for_host(cl))
        cl->flags |= STARPU_CODELET_SIMGRID_EXECUTE;
}

/* One function for processors, which each of them may run by itself, without
 * conditions. */
static bool is_plain(const struct starpu_codelet *cl)
{
    uint32_t functions = orr_codelet_all_functions(cl);

    return orr_codelet_is_for_host(cl) && !(functions & (functions - 1)) &&
           cl->where == 0 && !cl->model && !cl->energy_model &&
           !cl->can_execute && cl->type == STARPU_SEQ && !cl->callback_func &&
           !cl->dyn_modes && !cl->specific_nodes && cl->flags == 0 &&
           cl->nbuffers >= STARPU_VARIABLE_NBUFFERS;
}

static struct orr_omp_codelet *omp_codelet_make(const struct starpu_codelet *cl,
                                                orr_kernel_func_t body)
{
    struct orr_omp_codelet *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->given = entry->cl = *cl;
    entry->function = orr_codelet_host_function(cl, 0);
    entry->plain = is_plain(cl);
    if (entry->function)
        orr_codelet_set_host_function(&entry->cl, body);
    run_if_no_model(&entry->cl);
    return entry;
}

struct orr_omp_codelet *orr_omp_codelet(struct orr_omp *omp,
                                        const struct starpu_codelet *cl,
                                        orr_kernel_func_t body)
{
    _Atomic(struct orr_omp_codelet *) *bucket =
        &omp->codelets[codelet_bucket(cl)];
    struct orr_omp_codelet *first =
        atomic_load_explicit(bucket, memory_order_acquire);
    struct orr_omp_codelet *entry = omp_codelet_find(first, cl);

    if (!entry) { /* two threads may make it twice, which does no harm */
        entry = omp_codelet_make(cl, body);
        if (!entry)
            return NULL;
        entry->next = first;
        while (!atomic_compare_exchange_weak_explicit(
            bucket, &entry->next, entry, memory_order_release,
            memory_order_relaxed))
            ;
    }
    return entry;
}

/* A task that takes less is short: deferring one costs about twice that on each of two
 * processors. */
#define SHORT_US 0.5

/* The weight of a long task, which an interrupt may have made long: tasks of which one
 * in a hundred is long are deferred. After a few long tasks a codelet has to prove for
 * a long time that its tasks are short. */
enum { LONG = 128, MOST = 256, LEAST = -1000 };

/* Written only when the value changes, since all processors read it. An update that is
 * lost beside another one does no harm. */
void orr_omp_codelet_note_length(struct orr_omp_codelet *codelet, double us,
                                 unsigned ntasks)
{
    int n = atomic_load_explicit(&codelet->nshort, memory_order_relaxed);
    int next = us > SHORT_US * ntasks ? n - LONG : n + (int)ntasks;

    next = next > MOST ? MOST : next < LEAST ? LEAST : next;
    if (next != n)
        atomic_store_explicit(&codelet->nshort, next, memory_order_relaxed);
}

void orr_omp_codelets_free(struct orr_omp *omp)
{
    for (unsigned i = 0; i < ORR_OMP_CODELETS; i++) {
        struct orr_omp_codelet *entry = atomic_load(&omp->codelets[i]);

        while (entry) {
            struct orr_omp_codelet *next = entry->next;

            free(entry);
            entry = next;
        }
    }
}
