/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/reduction.c - see reduction.h: the methods of a handle, and how
 * many partials it has. Any context.
 */
#include "core/data/reduction.h"

#include <errno.h>
#include <stdlib.h>

#include "core/data/registry.h"
#include "core/exec/runtime.h"

/* Whether what is submitted now finds a value. */
static enum orr_beginning beginning_of(struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    if (orr_handle_plan(handle))
        return ORR_BEGINNING_INHERITED;
    return handle->home_node >= 0 || handle->valid || handle->nusers
               ? ORR_BEGINNING_MADE
               : ORR_BEGINNING_NONE;
}

static int set_reduction(struct orr_handle *handle,
                         const struct orr_reduction *reduction)
{
    struct orr_reduction *made = calloc(1, sizeof(*made));

    if (!made)
        return -ENOMEM;
    orr_lock(&handle->lock);
    if (!handle->reduction) {
        atomic_init(&made->beginning, (unsigned char)beginning_of(handle));
        handle->reduction = made;
        made = NULL;
    }
    handle->reduction->redux = reduction->redux;
    handle->reduction->init = reduction->init;
    handle->reduction->redux_arg = reduction->redux_arg;
    handle->reduction->init_arg = reduction->init_arg;
    orr_unlock(&handle->lock);
    free(made);
    return 0;
}

int orr_handle_set_reduction(struct orr_handle *handle,
                             struct starpu_codelet *redux, void *redux_arg,
                             struct starpu_codelet *init, void *init_arg)
{
    struct orr_reduction reduction = {.redux = redux,
                                      .init = init,
                                      .redux_arg = redux_arg,
                                      .init_arg = init_arg};
    int err = set_reduction(handle, &reduction);

    for (unsigned i = 0; !err && i < handle->nchildren; i++)
        err = orr_handle_set_reduction(handle->children[i], redux, redux_arg,
                                       init, init_arg);
    return err;
}

int orr_handle_inherit_reduction(struct orr_handle *child,
                                 const struct orr_handle *parent)
{
    return parent->reduction ? set_reduction(child, parent->reduction) : 0;
}

bool orr_handle_has_partials(struct orr_handle *handle)
{
    bool result;

    orr_lock(&handle->lock);
    result = orr_handle_has_partials_locked(handle);
    orr_unlock(&handle->lock);
    return result;
}

/* Handles that have partials. */
static void count_reduced(struct orr_handle *handle, int change)
{
    atomic_fetch_add_explicit(&handle->runtime->data->nreduced,
                              (unsigned)change, memory_order_relaxed);
}

void orr_handle_forget_partials_locked(struct orr_handle *handle)
{
    if (!orr_handle_has_partials_locked(handle))
        return;
    handle->reduction->npartials = 0;
    handle->reduction->hurried = false;
    count_reduced(handle, -1);
}

void orr_handle_count_partial(struct orr_handle *handle)
{
    orr_lock(&handle->lock);
    if (handle->reduction->npartials++ == 0)
        count_reduced(handle, 1);
    orr_unlock(&handle->lock);
}

void orr_handle_uncount_partial(struct orr_handle *handle)
{
    orr_lock(&handle->lock);
    if (--handle->reduction->npartials == 0)
        count_reduced(handle, -1);
    orr_unlock(&handle->lock);
}
