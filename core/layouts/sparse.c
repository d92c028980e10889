/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/layouts/sparse.c - see sparse.h. */
#include "core/layouts/sparse.h"

#include <errno.h>
#include <string.h>

#include <starpu_util.h>

#include "core/base/log.h"
#include "core/base/race.h"

static size_t arrays_sum_bytes(const struct orr_arrays *arrays)
{
    return arrays->bytes[0] + arrays->bytes[1] + arrays->bytes[2];
}

void orr_arrays_expect_room(uint32_t n, size_t elements, size_t elemsize)
{
    size_t bytes;

    STARPU_ASSERT_MSG_ALWAYS(
        !__builtin_mul_overflow(elements, elemsize, &bytes) &&
            !__builtin_mul_overflow(bytes, n, &bytes) &&
            bytes <= PTRDIFF_MAX / 2,
        "starpu_data_register: %u values of %zu elements of %zu bytes are more "
        "than any memory has",
        n, elements, elemsize);
}

void orr_arrays_free(const struct orr_arrays *arrays, unsigned node)
{
    for (int i = 0; i < 3; i++)
        if (arrays->at[i] && arrays->bytes[i])
            starpu_free_on_node(node, arrays->at[i], arrays->bytes[i]);
}

starpu_ssize_t orr_arrays_allocate(struct orr_arrays *arrays, unsigned node)
{
    memset(arrays->at, 0, sizeof(arrays->at));
    for (int i = 0; i < 3; i++) {
        if (!arrays->bytes[i])
            continue;
        arrays->at[i] = starpu_malloc_on_node(node, arrays->bytes[i]);
        if (!arrays->at[i]) {
            orr_arrays_free(arrays, node);
            return -ENOMEM;
        }
    }
    return (starpu_ssize_t)arrays_sum_bytes(arrays);
}

int orr_arrays_copy(const struct orr_arrays *src, unsigned src_node,
                    const struct orr_arrays *dst, unsigned dst_node,
                    void *async_data)
{
    int result = 0;

    for (int i = 0; i < 3; i++) {
        bool repeats = i == 1 && dst->bounds;
        int err = 0;

        if (repeats)
            orr_race_repeat_begin();
        if (src->bytes[i])
            err = starpu_interface_copy(src->at[i], 0, src_node, dst->at[i], 0,
                                        dst_node, src->bytes[i], async_data);
        if (repeats)
            orr_race_repeat_end();
        if (err)
            result = err;
    }
    return result;
}

int orr_arrays_pack(const struct orr_arrays *arrays, unsigned node, void **ptr,
                    starpu_ssize_t *count)
{
    uintptr_t to;
    size_t offset = 0;

    *count = (starpu_ssize_t)arrays_sum_bytes(arrays);
    if (!ptr)
        return 0;
    to = starpu_malloc_on_node_flags(node, arrays_sum_bytes(arrays), 0);
    if (!to)
        return -ENOMEM;
    *ptr = (void *)to;
    for (int i = 0; i < 3; i++) {
        if (arrays->bytes[i])
            (void)starpu_interface_copy(arrays->at[i], 0, node, to, offset,
                                        node, arrays->bytes[i], NULL);
        offset += arrays->bytes[i];
    }
    return 0;
}

int orr_arrays_peek(const struct orr_arrays *arrays, unsigned node,
                    const void *ptr, size_t count)
{
    size_t offset = 0;

    if (count != arrays_sum_bytes(arrays)) {
        orr_log_error("starpu_data_unpack: got %zu bytes for data of %zu: pack "
                      "it from a handle of the same shape",
                      count, arrays_sum_bytes(arrays));
        return -EINVAL;
    }
    for (int i = 0; i < 3; i++) {
        if (arrays->bytes[i])
            (void)starpu_interface_copy((uintptr_t)ptr, offset, node,
                                        arrays->at[i], 0, node,
                                        arrays->bytes[i], NULL);
        offset += arrays->bytes[i];
    }
    return 0;
}
