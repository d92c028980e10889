/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/duplicate.c - copies of a value that are only read. All callers that ask
 * for one get the same handle until a write of the original is submitted: from then on
 * the copy has the value as it was, and the next caller makes another copy. A copy ends
 * when it was unregistered as often as it was given out.
 *
 * An original and its copy name each other: under the runtime's lock, which is
 * taken inside that of a handle.
 */
#include "core/data/handle.h"
#include "core/exec/runtime.h"

/* The original and its copy have nothing to do with each other any more. */
static void part_locked(struct orr_handle *original, struct orr_handle *copy)
{
    original->duplicate = NULL;
    copy->original = NULL;
}

void orr_duplicate_part(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    orr_lock(&rt->lock);
    if (handle->duplicate)
        part_locked(handle, handle->duplicate);
    if (handle->original)
        part_locked(handle->original, handle);
    orr_unlock(&rt->lock);
}

struct orr_handle *orr_duplicate_share(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_handle *copy;

    orr_lock(&rt->lock);
    copy = handle->is_duplicate ? handle : handle->duplicate;
    if (copy)
        copy->nshares++;
    orr_unlock(&rt->lock);
    return copy;
}

void orr_duplicate_join(struct orr_handle *original, struct orr_handle *copy)
{
    struct orr_runtime *rt = original->runtime;

    orr_lock(&rt->lock);
    copy->is_duplicate = true;
    if (!original->duplicate) {
        original->duplicate = copy;
        copy->original = original;
    }
    orr_unlock(&rt->lock);
}

bool orr_duplicate_give_back(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;
    bool was_shared;

    if (!handle->is_duplicate && !handle->duplicate)
        return false;
    orr_lock(&rt->lock);
    was_shared = handle->nshares > 0;
    handle->nshares -= was_shared;
    orr_unlock(&rt->lock);
    if (!was_shared)
        orr_duplicate_part(handle);
    return was_shared;
}
