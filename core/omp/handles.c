/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/handles.c - see handles.h. A hash with chains. */
#include "core/omp/handles.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct orr_omp_entry {
    struct orr_omp_entry *next;  /* in its bucket */
    struct orr_omp_entry *older; /* of all */
    const void *address;
    starpu_data_handle_t handle;
    /* The last use, once one has been as a set: before, readers need no place in it. */
    const void *creator; /* [lock] NULL: none has */
    enum orr_omp_sharing sharing; /* [lock] */
};

enum { FIRST_BUCKETS = 32 };

void orr_omp_handles_init(struct orr_omp_handles *handles)
{
    *handles = (struct orr_omp_handles){.n = 0};
    orr_lock_init(&handles->lock, ORR_RANK_RUNTIME);
}

/* The entries, newest first; the table is empty then. No other thread uses it. */
static struct orr_omp_entry *take_all(struct orr_omp_handles *handles)
{
    struct orr_omp_entry *all = handles->all;

    free(handles->buckets);
    handles->all = NULL;
    handles->buckets = NULL;
    handles->n = handles->nbuckets = 0;
    return all;
}

void orr_omp_handles_done(struct orr_omp_handles *handles)
{
    struct orr_omp_entry *entry;

    if (!handles->buckets)
        return;
    entry = take_all(handles);
    while (entry) {
        struct orr_omp_entry *older = entry->older;

        free(entry);
        entry = older;
    }
}

static struct orr_omp_entry **
omp_handles_bucket(struct orr_omp_handles *handles, const void *address)
{
    uint64_t hash = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;

    return &handles->buckets[(hash >> 32) % handles->nbuckets];
}

static void link_locked(struct orr_omp_handles *handles,
                        struct orr_omp_entry *entry)
{
    struct orr_omp_entry **bucket = omp_handles_bucket(handles, entry->address);

    entry->next = *bucket;
    *bucket = entry;
}

/* Oldest first, so that the newest is the first in its bucket again. */
static struct orr_omp_entry *entries_reversed(struct orr_omp_entry *entry)
{
    struct orr_omp_entry *result = NULL;

    while (entry) {
        struct orr_omp_entry *older = entry->older;

        entry->older = result;
        result = entry;
        entry = older;
    }
    return result;
}

/* Moves all entries to the new buckets; returns the old ones, to be freed. */
static struct orr_omp_entry **rehash_locked(struct orr_omp_handles *handles,
                                            struct orr_omp_entry **buckets,
                                            size_t nbuckets)
{
    struct orr_omp_entry **old = handles->buckets;

    handles->buckets = buckets;
    handles->nbuckets = nbuckets;
    handles->all = entries_reversed(handles->all);
    for (struct orr_omp_entry *e = handles->all; e; e = e->older)
        link_locked(handles, e);
    handles->all = entries_reversed(handles->all);
    return old;
}

/* Makes room for one more. -ENOMEM only if there is no bucket at all. */
static int omp_handles_grow(struct orr_omp_handles *handles)
{
    struct orr_omp_entry **fresh, **old = NULL;
    size_t n, nbuckets;
    bool full;

    orr_lock(&handles->lock);
    nbuckets = handles->nbuckets;
    full = handles->n >= nbuckets;
    orr_unlock(&handles->lock);
    if (!full)
        return 0;
    n = nbuckets ? 2 * nbuckets : FIRST_BUCKETS;
    fresh = calloc(n, sizeof(struct orr_omp_entry *));
    if (!fresh)
        return nbuckets ? 0 : -ENOMEM;
    orr_lock(&handles->lock);
    if (handles->nbuckets < n) {
        old = rehash_locked(handles, fresh, n);
        fresh = NULL;
    }
    orr_unlock(&handles->lock);
    free(old);
    free(fresh); /* another thread was faster */
    return 0;
}

static struct orr_omp_entry *find_locked(struct orr_omp_handles *handles,
                                         const void *address)
{
    struct orr_omp_entry *entry = NULL;

    if (handles->n)
        entry = *omp_handles_bucket(handles, address);
    while (entry && entry->address != address)
        entry = entry->next;
    return entry;
}

static struct orr_omp_entry *entry_new(struct orr_omp_handles *handles,
                                       const void *address, starpu_data_handle_t handle)
{
    struct orr_omp_entry *entry = malloc(sizeof(*entry));

    if (!entry || omp_handles_grow(handles) != 0) {
        free(entry);
        return NULL;
    }
    *entry = (struct orr_omp_entry){.address = address, .handle = handle};
    return entry;
}

static void enter_locked(struct orr_omp_handles *handles, struct orr_omp_entry *entry)
{
    entry->older = handles->all;
    handles->all = entry;
    handles->n++;
    link_locked(handles, entry);
}

int orr_omp_handles_add(struct orr_omp_handles *handles, const void *address,
                        starpu_data_handle_t handle)
{
    struct orr_omp_entry *entry = entry_new(handles, address, handle);

    if (!entry)
        return -ENOMEM;
    orr_lock(&handles->lock);
    enter_locked(handles, entry);
    orr_unlock(&handles->lock);
    return 0;
}

int orr_omp_handles_add_first(struct orr_omp_handles *handles, const void *address,
                              starpu_data_handle_t *handle)
{
    struct orr_omp_entry *entry = entry_new(handles, address, *handle), *there;

    if (!entry)
        return -ENOMEM;
    orr_lock(&handles->lock);
    there = find_locked(handles, address);
    if (there)
        *handle = there->handle;
    else
        enter_locked(handles, entry);
    orr_unlock(&handles->lock);
    if (there)
        free(entry);
    return 0;
}

starpu_data_handle_t orr_omp_handles_find(struct orr_omp_handles *handles,
                                          const void *address)
{
    struct orr_omp_entry *entry;
    starpu_data_handle_t found;

    orr_lock(&handles->lock);
    entry = find_locked(handles, address);
    found = entry ? entry->handle : NULL;
    orr_unlock(&handles->lock);
    return found;
}

/* Where another one has created the last use, what there was of the caller's before that
 * is not known. */
static bool use_parts(struct orr_omp_entry *entry, enum orr_omp_sharing sharing,
                      const void *creator)
{
    bool first = !entry->creator, same = entry->creator == creator;
    enum orr_omp_sharing before = entry->sharing;

    if (first && sharing != ORR_OMP_IN_SET)
        return false;
    entry->creator = creator;
    entry->sharing = sharing;
    if (sharing == ORR_OMP_ALONE || (same && before == ORR_OMP_ALONE))
        return false;
    return !same || before != sharing;
}

starpu_data_handle_t orr_omp_handles_use(struct orr_omp_handles *handles,
                                         const void *address, enum orr_omp_sharing sharing,
                                         const void *creator, bool *ret_parts)
{
    struct orr_omp_entry *entry;
    starpu_data_handle_t found = NULL;

    orr_lock(&handles->lock);
    entry = find_locked(handles, address);
    if (entry) {
        found = entry->handle;
        *ret_parts = use_parts(entry, sharing, creator);
    }
    orr_unlock(&handles->lock);
    return found;
}

static void omp_handles_unlink_locked(struct orr_omp_handles *handles,
                                      const struct orr_omp_entry *entry)
{
    struct orr_omp_entry **link = omp_handles_bucket(handles, entry->address);

    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
}

bool orr_omp_handles_remove(struct orr_omp_handles *handles,
                            starpu_data_handle_t handle)
{
    struct orr_omp_entry **link = &handles->all, *removed = NULL;
    bool any;

    orr_lock(&handles->lock);
    while (*link) {
        struct orr_omp_entry *entry = *link;

        if (entry->handle != handle) {
            link = &entry->older;
            continue;
        }
        omp_handles_unlink_locked(handles, entry);
        *link = entry->older;
        entry->older = removed;
        removed = entry;
        handles->n--;
    }
    orr_unlock(&handles->lock);
    any = removed != NULL;
    while (removed) {
        struct orr_omp_entry *older = removed->older;

        free(removed);
        removed = older;
    }
    return any;
}

/* A handle may have several addresses: an entry each, one after the other. */
void orr_omp_handles_unregister(struct orr_omp_handles *handles)
{
    struct orr_omp_entry *entry = entries_reversed(take_all(handles));
    starpu_data_handle_t last = NULL;

    while (entry) {
        struct orr_omp_entry *older = entry->older;

        if (entry->handle != last)
            starpu_data_unregister(entry->handle);
        last = entry->handle;
        free(entry);
        entry = older;
    }
}

size_t orr_omp_handles_count(struct orr_omp_handles *handles)
{
    size_t n;

    orr_lock(&handles->lock);
    n = handles->n;
    orr_unlock(&handles->lock);
    return n;
}
