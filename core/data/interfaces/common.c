/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/common.c - memory and packing for the dense kinds of
 * data.
 */
#include "core/data/interfaces/common.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"

starpu_ssize_t orr_place_allocate(struct orr_place place, unsigned node,
                                  size_t bytes)
{
    uintptr_t addr = 0;

    if (bytes) {
        addr = starpu_malloc_on_node(node, bytes);
        if (!addr)
            return -ENOMEM;
    }
    orr_place_set(place, addr);
    return (starpu_ssize_t)bytes;
}

void orr_place_free(struct orr_place place, unsigned node, size_t bytes)
{
    if (*place.dev_handle && bytes)
        starpu_free_on_node(node, *place.dev_handle, bytes);
    orr_place_set(place, 0);
}

void orr_place_set(struct orr_place place, uintptr_t ptr)
{
    *place.ptr = ptr;
    *place.dev_handle = ptr;
    *place.offset = 0;
}

static size_t runs_bytes(const struct orr_runs *runs)
{
    return runs->run * runs->n1 * runs->n2;
}

static char *run_at(const struct orr_runs *runs, size_t i1, size_t i2)
{
    return runs->base + i1 * runs->ld1 + i2 * runs->ld2;
}

int orr_runs_pack(const struct orr_runs *runs, unsigned node, void **ptr,
                  starpu_ssize_t *count)
{
    char *to;

    *count = (starpu_ssize_t)runs_bytes(runs);
    if (!ptr)
        return 0;
    if (!*count) {
        *ptr = NULL;
        return 0;
    }
    to = (char *)starpu_malloc_on_node(node, runs_bytes(runs));
    if (!to)
        return -ENOMEM;
    *ptr = to;
    for (size_t i2 = 0; i2 < runs->n2; i2++)
        for (size_t i1 = 0; i1 < runs->n1; i1++, to += runs->run)
            memcpy(to, run_at(runs, i1, i2), runs->run);
    return 0;
}

int orr_runs_peek(const struct orr_runs *runs, const void *packed, size_t count)
{
    const char *from = packed;

    if (count != runs_bytes(runs)) {
        orr_log_error("starpu_data_unpack: got %zu bytes for data of %zu: pack "
                      "it from a handle of the same size",
                      count, runs_bytes(runs));
        return -EINVAL;
    }
    for (size_t i2 = 0; i2 < runs->n2; i2++)
        for (size_t i1 = 0; i1 < runs->n1; i1++, from += runs->run)
            memcpy(run_at(runs, i1, i2), from, runs->run);
    return 0;
}

int orr_runs_unpack(const struct orr_runs *runs, unsigned node, void *packed,
                    size_t count)
{
    int err = orr_runs_peek(runs, packed, count);

    if (!err && packed)
        starpu_free_on_node(node, (uintptr_t)packed, count);
    return err;
}
