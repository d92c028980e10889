/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/private.c - see private.h. The table of a handle's private data is
 * made by whichever worker comes first; each worker has a place of its own in
 * it.
 */
#include "core/data/private.h"

#include <stdlib.h>

#include "core/data/data.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

static struct orr_handle **table_of(const struct orr_handle *handle)
{
    return atomic_load_explicit(&handle->privates, memory_order_acquire);
}

static size_t private_slot(const struct orr_handle *handle,
                           enum orr_private kind, unsigned worker)
{
    return (size_t)kind * handle->runtime->workers->n + worker;
}

/* NULL without memory. */
static struct orr_handle **make_table(struct orr_handle *handle)
{
    struct orr_handle **table = table_of(handle), **made;

    if (table)
        return table;
    made = calloc((size_t)ORR_PRIVATE_KINDS * handle->runtime->workers->n,
                  sizeof(struct orr_handle *));
    if (!made ||
        atomic_compare_exchange_strong(&handle->privates, &table, made))
        return made;
    free(made);
    return table;
}

struct orr_handle *orr_private_get(struct orr_handle *handle,
                                   enum orr_private kind, unsigned worker)
{
    struct orr_handle **table = make_table(handle), **place;
    unsigned node = handle->runtime->workers->at[worker].desc->node;

    if (!table)
        return NULL;
    place = &table[private_slot(handle, kind, worker)];
    if (!*place)
        (void)orr_handle_new_alike(handle, node, handle, place);
    return *place;
}

struct orr_handle *orr_private_find(const struct orr_handle *handle,
                                    enum orr_private kind, unsigned worker)
{
    struct orr_handle **table = table_of(handle);

    return table ? table[private_slot(handle, kind, worker)] : NULL;
}

void orr_privates_free(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_handle **table = table_of(handle);

    for (unsigned i = 0; table && i < ORR_PRIVATE_KINDS * rt->workers->n; i++)
        if (table[i])
            orr_data_unregister_submit(rt, table[i]);
    free(table);
}
