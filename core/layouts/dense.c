/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/dense.c - copying and packing data of any number of
 * dimensions. Dimensions that follow each other without gaps are copied as
 * one: a tile of a matrix is one two-dimensional copy, a whole array one copy.
 */
#include "core/layouts/dense.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_util.h>

#include "core/base/log.h"

/* --- copying --- */

/* A copy between two layouts of one shape. */
struct walk {
    const struct orr_dense *shape;
    const uint32_t *src_ld, *dst_ld; /* NULL: no gaps */
    size_t src_step, dst_step;       /* along the first dimension */
    struct orr_dense_place src, dst;
    void *async_data;
    size_t run; /* bytes without gaps on either side */
};

/* Runs, or what is below, `n` times; the starts are so many bytes apart. */
struct level {
    const struct level *below; /* NULL: runs */
    size_t n, src_step, dst_step;
};

static int copy_level(const struct walk *walk, const struct level *level,
                      size_t src_offset, size_t dst_offset)
{
    int result = 0;

    if (!level)
        return starpu_interface_copy(walk->src.base, src_offset, walk->src.node,
                                     walk->dst.base, dst_offset, walk->dst.node,
                                     walk->run, walk->async_data);
    if (!level->below)
        return starpu_interface_copy2d(
            walk->src.base, src_offset, walk->src.node, walk->dst.base,
            dst_offset, walk->dst.node, walk->run, level->n, level->src_step,
            level->dst_step, walk->async_data);
    for (size_t i = 0; i < level->n; i++) {
        int err = copy_level(walk, level->below, src_offset, dst_offset);

        if (err)
            result = err;
        src_offset += level->src_step;
        dst_offset += level->dst_step;
    }
    return result;
}

/* Goes on from a dimension outwards, then copies. `level` describes the dimensions
 * inside, `bytes` is their size without gaps. A dimension that continues where the
 * level ends, in the source and in the destination, only makes the level longer; any
 * other dimension is a new level, on the stack of this call. */
static int copy_from(struct walk *walk, size_t dim, size_t bytes,
                     struct level *level)
{
    const struct orr_dense *shape = walk->shape;

    for (; dim < shape->ndim; dim++) {
        size_t n = shape->nn[dim], src = bytes, dst = bytes;

        if (dim == 0) {
            src = walk->src_step * shape->elemsize;
            dst = walk->dst_step * shape->elemsize;
        }
        if (dim && walk->src_ld)
            src = walk->src_ld[dim] * shape->elemsize;
        if (dim && walk->dst_ld)
            dst = walk->dst_ld[dim] * shape->elemsize;
        bytes *= n;
        if (n == 1)
            continue; /* makes no step, whatever its leading dimension says */
        if (!level && src == walk->run && dst == walk->run) {
            walk->run *= n;
        } else if (level && src == level->n * level->src_step &&
                   dst == level->n * level->dst_step) {
            level->n *= n;
        } else {
            struct level outer = {level, n, src, dst};

            return copy_from(walk, dim + 1, bytes, &outer);
        }
    }
    return copy_level(walk, level, walk->src.offset, walk->dst.offset);
}

static int dense_walk_copy(struct walk *walk)
{
    walk->run = walk->shape->elemsize;
    return copy_from(walk, 0, walk->run, NULL);
}

int orr_dense_copy(const struct orr_dense *src, struct orr_dense_place from,
                   const struct orr_dense *dst, struct orr_dense_place to,
                   void *async_data)
{
    struct walk walk = {
        .shape = src,
        .src_ld = src->ld,
        .dst_ld = dst->ld,
        .src_step = orr_dense_step(src, 0),
        .dst_step = orr_dense_step(dst, 0),
        .src = from,
        .dst = to,
        .async_data = async_data,
    };

    return dense_walk_copy(&walk);
}

/* --- sizes --- */

void orr_dense_expect_room(const struct orr_dense *dense, const char *word)
{
    size_t bytes = dense->elemsize;
    bool fits = true;

    for (size_t i = 0; i < dense->ndim && bytes; i++)
        fits &= !__builtin_mul_overflow(bytes, dense->nn[i], &bytes);
    STARPU_ASSERT_MSG_ALWAYS(fits && bytes <= PTRDIFF_MAX,
                             "starpu_data_register: a %s of so many elements "
                             "of %zu bytes is larger than any memory",
                             word, dense->elemsize);
}

/* --- packing --- */

int orr_dense_pack(const struct orr_dense *dense, uintptr_t ptr, unsigned node,
                   void **packed, starpu_ssize_t *count)
{
    size_t bytes = orr_dense_bytes(dense);
    uintptr_t buffer;
    struct walk walk;

    *count = (starpu_ssize_t)bytes;
    if (!packed)
        return 0;
    if (!bytes) {
        *packed = NULL;
        return 0;
    }
    buffer = starpu_malloc_on_node_flags(node, bytes, 0);
    if (!buffer)
        return -ENOMEM;
    *packed = (void *)buffer;
    walk = (struct walk){
        .shape = dense,
        .src_ld = dense->ld,
        .src_step = orr_dense_step(dense, 0),
        .dst_step = 1,
        .src = {ptr, 0, node},
        .dst = {buffer, 0, node},
    };
    return dense_walk_copy(&walk);
}

int orr_dense_peek(const struct orr_dense *dense, uintptr_t ptr, unsigned node,
                   const void *packed, size_t count)
{
    size_t bytes = orr_dense_bytes(dense);
    struct walk walk = {
        .shape = dense,
        .dst_ld = dense->ld,
        .src_step = 1,
        .dst_step = orr_dense_step(dense, 0),
        .src = {(uintptr_t)packed, 0, node},
        .dst = {ptr, 0, node},
    };

    if (count != bytes) {
        orr_log_error("starpu_data_unpack: got %zu bytes for data of %zu: pack "
                      "it from a handle of the same size",
                      count, bytes);
        return -EINVAL;
    }
    return bytes ? dense_walk_copy(&walk) : 0;
}

/* --- arrays --- */

static uint32_t *lengths_duplicate(const uint32_t *array, size_t n)
{
    uint32_t *copy = calloc(n ? n : 1, sizeof(*copy));

    STARPU_ASSERT_MSG_ALWAYS(copy,
                             "no memory for the %zu lengths of a data "
                             "handle",
                             n);
    if (n && array)
        memcpy(copy, array, n * sizeof(*copy));
    return copy;
}

void orr_dense_own(const struct orr_dense_kind *kind, void *data_interface,
                   bool keeps)
{
    char *at = data_interface;
    uint32_t **nn = (uint32_t **)(at + kind->nn);
    uint32_t **ld = (uint32_t **)(at + kind->ld);
    size_t ndim = *(size_t *)(at + kind->rank);

    *nn = lengths_duplicate(*nn, ndim);
    *ld = lengths_duplicate(keeps ? *ld : NULL, ndim);
    if (!keeps)
        orr_dense_close_ranks(kind, data_interface);
}

void orr_dense_forget(const struct orr_dense_kind *kind, void *data_interface)
{
    char *at = data_interface;

    *(uint32_t **)(at + kind->nn) = NULL;
    *(uint32_t **)(at + kind->ld) = NULL;
    *(size_t *)(at + kind->rank) = 0;
}

void orr_dense_disown(const struct orr_dense_kind *kind, void *data_interface)
{
    char *at = data_interface;

    free(*(uint32_t **)(at + kind->nn));
    free(*(uint32_t **)(at + kind->ld));
}

/* --- words --- */

void orr_dense_display(const struct orr_dense *dense, FILE *f)
{
    if (dense->ndim == 0)
        fprintf(f, "%zu\t", dense->elemsize);
    for (size_t i = 0; i < dense->ndim; i++)
        fprintf(f, "%u\t", dense->nn[i]);
}

starpu_ssize_t orr_dense_describe(const struct orr_dense *dense, char letter,
                                  char *buf, size_t size)
{
    size_t at = 0;

/* Appends, and counts also what does not fit. */
#define ADD(...)                                                               \
    (at += (size_t)snprintf(at < size ? buf + at : NULL,                       \
                            at < size ? size - at : 0, __VA_ARGS__))
    ADD("%c", letter);
    for (size_t i = 0; i < dense->ndim; i++)
        ADD("%ux", dense->nn[i]);
    ADD("%zu", dense->elemsize);
#undef ADD
    return (starpu_ssize_t)at;
}
