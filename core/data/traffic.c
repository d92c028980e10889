/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/traffic.c - see traffic.h. Counted under the handle's lock; read by any
 * thread, while others count. */
#include "core/data/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"

static unsigned traffic_get(const atomic_uint *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

/* Adds 1. One writer at a time; other threads may read. */
static void traffic_count(atomic_uint *n)
{
    atomic_store_explicit(n, traffic_get(n) + 1, memory_order_relaxed);
}

static uint64_t came_back(const struct orr_handle *handle)
{
    return atomic_load_explicit(&handle->traffic.back, memory_order_relaxed);
}

static void set_back(struct orr_handle *handle, uint64_t nodes)
{
    atomic_store_explicit(&handle->traffic.back, nodes, memory_order_relaxed);
}

void orr_traffic_evict(struct orr_handle *handle, unsigned node)
{
    traffic_count(&handle->traffic.nevictions);
    handle->traffic.gone |= handle->valid & orr_bit(node);
    set_back(handle, came_back(handle) & ~orr_bit(node));
}

void orr_traffic_arrive(struct orr_handle *handle, unsigned node)
{
    struct orr_runtime *rt = handle->runtime;

    traffic_count(&handle->traffic.narrivals);
    if (!(handle->traffic.gone & orr_bit(node)))
        return;
    handle->traffic.gone &= ~orr_bit(node);
    set_back(handle, came_back(handle) | orr_bit(node));
    traffic_count(&handle->traffic.nreturns);
    atomic_fetch_add_explicit(&rt->nodes->nreturns, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&rt->nodes->returned_bytes, handle->size,
                              memory_order_relaxed);
}

void orr_traffic_fill(struct orr_node *node, size_t used)
{
    size_t most = atomic_load_explicit(&node->most_used, memory_order_relaxed);

    while (used > most && !atomic_compare_exchange_weak_explicit(
                              &node->most_used, &most, used,
                              memory_order_relaxed, memory_order_relaxed))
        ;
}

/* --- for whom --- */

static struct orr_return *traffic_first_return(const struct orr_handle *handle)
{
    return atomic_load_explicit(&handle->traffic.returns, memory_order_acquire);
}

static struct orr_return *traffic_find_return(const struct orr_handle *handle,
                                              const char *kind)
{
    struct orr_return *of = traffic_first_return(handle);

    while (of && strncmp(of->kind, kind, ORR_KIND_NAME - 1) != 0)
        of = of->next;
    return of;
}

/* NULL without memory: it is counted in the sum only. */
static struct orr_return *new_return(const char *kind)
{
    struct orr_return *of = calloc(1, sizeof(*of));

    if (of)
        strncpy(of->kind, kind, ORR_KIND_NAME - 1);
    return of;
}

/* Returns `fresh` if it was not needed, to be freed. */
static struct orr_return *add_locked(struct orr_handle *handle,
                                     const char *kind, struct orr_return *fresh)
    ORR_REQUIRES(handle->lock)
{
    struct orr_return *of = traffic_find_return(handle, kind);

    if (!of && fresh) {
        of = fresh;
        fresh = NULL;
        of->next = traffic_first_return(handle);
        atomic_store_explicit(&handle->traffic.returns, of,
                              memory_order_release);
    }
    if (of)
        traffic_count(&of->count);
    return fresh;
}

/* Private data are counted as what they are private data of. */
static void traffic_note_use(const struct orr_access *access, unsigned node)
{
    struct orr_handle *handle = access->handle,
                      *datum = orr_access_datum(access);
    const char *kind = access->job->task ? orr_job_name(access->job)
                                         : "the application";
    struct orr_return *fresh =
        traffic_find_return(handle, kind) ? NULL : new_return(kind);
    bool first;

    orr_lock(&datum->lock);
    first = came_back(datum) & orr_bit(node);
    set_back(datum, came_back(datum) & ~orr_bit(node));
    orr_unlock(&datum->lock);
    orr_lock(&handle->lock);
    if (first)
        fresh = add_locked(handle, kind, fresh);
    orr_unlock(&handle->lock);
    free(fresh);
}

void orr_traffic_use(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (access->pinned &&
            came_back(orr_access_datum(access)) & orr_bit(access->node))
            traffic_note_use(access, access->node);
    }
}

/* --- hits and misses --- */

void orr_traffic_count_hits(struct orr_runtime *rt, const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        struct orr_node *node;

        if (access->alias || access->elsewhere || access->at == ORR_NO_PLACE ||
            !(job->asked & orr_bit(access->at)) || !(access->mode & STARPU_R))
            continue;
        node = &rt->nodes->at[access->at];
        atomic_fetch_add_explicit(access->handle->valid & orr_bit(access->at)
                                      ? &node->nhits
                                      : &node->nmisses,
                                  1, memory_order_relaxed);
    }
}

/* --- those that came back most --- */

/* Whether `a` stands before `b`. */
static bool returned_precedes(const struct orr_returned *a,
                              const struct orr_returned *b)
{
    size_t more = a->size * a->count, less = b->size * b->count;

    if (more != less)
        return more > less;
    return a->id != b->id ? a->id < b->id : strcmp(a->kind, b->kind) < 0;
}

/* Puts it in its place; the last one falls out of a full list. */
static void returned_list_insert(struct orr_returned_list *list,
                                 const struct orr_returned *item)
{
    unsigned i = list->n;

    if (i < ORR_MOST_RETURNED)
        list->n++;
    else if (!returned_precedes(item, &list->all[--i]))
        return;
    for (; i > 0 && returned_precedes(item, &list->all[i - 1]); i--)
        list->all[i] = list->all[i - 1];
    list->all[i] = *item;
}

static void insert_all(struct orr_returned_list *list,
                       const struct orr_handle *handle)
{
    struct orr_returned item = {.id = handle->id, .size = handle->size};

    if (!traffic_first_return(handle))
        return;
    item.label = orr_handle_label(handle);
    for (struct orr_return *of = traffic_first_return(handle); of;
         of = of->next) {
        memcpy(item.kind, of->kind, sizeof(item.kind));
        item.count = traffic_get(&of->count);
        returned_list_insert(list, &item);
    }
}

static void free_all(struct orr_handle *handle)
{
    struct orr_return *of = traffic_first_return(handle);

    while (of) {
        struct orr_return *next = of->next;

        free(of);
        of = next;
    }
}

void orr_traffic_end(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_returned_list *fresh;

    if (!traffic_first_return(handle))
        return;
    fresh = rt->nodes->returned ? NULL : calloc(1, sizeof(*fresh));
    orr_lock(&rt->lock);
    if (!rt->nodes->returned) {
        rt->nodes->returned = fresh;
        fresh = NULL;
    }
    if (rt->nodes->returned)
        insert_all(rt->nodes->returned, handle);
    orr_unlock(&rt->lock);
    free(fresh);
    free_all(handle);
}

void orr_traffic_returned(struct orr_runtime *rt,
                          struct orr_returned_list *ret)
{
    bool locked = orr_trylock(&rt->lock);

    *ret = rt->nodes->returned ? *rt->nodes->returned : (struct orr_returned_list){0};
    if (!locked)
        return;
    orr_list_foreach (link, &rt->data->handles)
        insert_all(ret, orr_container(link, struct orr_handle, all));
    orr_unlock(&rt->lock);
}
