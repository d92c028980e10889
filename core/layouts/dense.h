/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/dense.h - data of any number of dimensions: what a
 * structure of a dense kind says about one copy, and what all kinds do with
 * it. No state; the caller has the right to use the structure.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu_data_interfaces.h>
#include <starpu_util.h>

/* The node that is meant where the caller names none: the worker's own, else that where
 * the application has the value. In core/data/handle.c. */
unsigned orr_local_node(starpu_data_handle_t handle);

/* " of A", the data whose parts a filter describes now in the caller's context, or
 * "". In core/data/partition.c. */
void orr_cut_label(char *text, size_t size);

/* The same as orr_local_node; ends the program, after a message, if the data have no
 * memory there. */
static inline unsigned orr_local_node_with_memory(starpu_data_handle_t handle)
{
    unsigned node = orr_local_node(handle);

    STARPU_ASSERT_MSG_ALWAYS(
        starpu_data_test_if_allocated_on_node(handle, node),
        "the data have no memory on node %u, of which the caller asks: acquire "
        "them there first",
        node);
    return node;
}

/* Describes a kind: where its structure has what, as offsets in bytes. The
 * lengths of the dimensions follow each other as uint32_t, the contiguous
 * dimension first; so do the leading dimensions, elements between neighbours
 * along each dimension but the first. All structures begin as that of a variable
 * does. */
struct orr_dense_kind {
    enum starpu_data_interface_id id;
    const char *word; /* what it is called in messages */
    char letter;      /* the same in descriptions, StarPU's */
    size_t ndim;
    /* Of kinds of any number of dimensions: where that number is, a size_t. The
     * lengths, and the leading dimensions of all dimensions, are then arrays
     * that the structure has pointers to. 0: `ndim` dimensions. */
    size_t rank;
    size_t nn;
    size_t ld;
    size_t elemsize;  /* a size_t */
    size_t allocsize; /* a size_t; 0: it has as much memory as data */
};

/* The shape of one copy; borrows from its structure. */
struct orr_dense {
    size_t ndim;
    const uint32_t *nn;
    const uint32_t *ld; /* one per dimension; or NULL */
    bool
        stepped; /* ld[0] exists: elements between neighbours along the first */
    size_t elemsize;
};

/* Reads a structure, but no leading dimension, so that lengths may be asked for while
 * another context makes memory. Inline, so that nothing is left of a constant kind. */
static inline struct orr_dense orr_dense_look(const struct orr_dense_kind *kind,
                                              const void *data_interface)
{
    const char *at = data_interface;
    struct orr_dense dense = {
        .ndim = kind->ndim,
        .elemsize = *(const size_t *)(at + kind->elemsize),
    };

    if (kind->rank) {
        dense.ndim = *(const size_t *)(at + kind->rank);
        dense.nn = *(uint32_t *const *)(at + kind->nn);
        dense.ld = *(uint32_t *const *)(at + kind->ld);
        dense.stepped = dense.ndim > 0;
    } else {
        dense.nn = (const uint32_t *)(at + kind->nn);
        dense.ld =
            kind->ndim > 1 ? (const uint32_t *)(at + kind->ld) - 1 : NULL;
    }
    return dense;
}

/* Elements between neighbours along a dimension. */
static inline size_t orr_dense_step(const struct orr_dense *dense, size_t dim)
{
    return dim || dense->stepped ? dense->ld[dim] : 1;
}

/* Bytes of data without gaps. */
static inline size_t orr_dense_bytes(const struct orr_dense *dense)
{
    size_t bytes = dense->elemsize;

    for (size_t i = 0; i < dense->ndim; i++)
        bytes *= dense->nn[i];
    return bytes;
}

/* Ends the program, with a message, if the data have more bytes than there are
 * addresses. */
void orr_dense_expect_room(const struct orr_dense *dense, const char *word);

/* Ends the program, with a message that names the call, if the data are of another
 * predefined interface. */
static inline void orr_interface_expect(const char *call,
                                        starpu_data_handle_t handle,
                                        enum starpu_data_interface_id wanted)
{
    enum starpu_data_interface_id is = starpu_data_get_interface_id(handle);

    STARPU_ASSERT_MSG_ALWAYS(is == wanted || is >= STARPU_MAX_INTERFACE_ID,
                             "%s: the data have interface %d, the call is for "
                             "interface %d only",
                             call, is, wanted);
}

/* Whether there are gaps nowhere. */
static inline bool orr_dense_is_packed(const struct orr_dense *dense)
{
    size_t elements = 1;

    if (orr_dense_step(dense, 0) != 1 && dense->nn[0] != 1)
        return false;
    for (size_t i = 1; i < dense->ndim; i++) {
        elements *= dense->nn[i - 1];
        if (dense->ld[i] != elements)
            return false;
    }
    return true;
}

/* Where a structure has its lengths, and its leading dimensions, one per
 * dimension; the first of these exists in kinds with arrays only. */
static inline uint32_t *orr_dense_nn(const struct orr_dense_kind *kind,
                                     void *data_interface)
{
    char *at = (char *)data_interface + kind->nn;

    return kind->rank ? *(uint32_t **)at : (uint32_t *)at;
}

static inline uint32_t *orr_dense_ld(const struct orr_dense_kind *kind,
                                     void *data_interface)
{
    char *at = (char *)data_interface + kind->ld;

    return kind->rank ? *(uint32_t **)at : (uint32_t *)at - 1;
}

/* Sets the leading dimensions to those of data without gaps. Of kinds with arrays
 * they are the handle's, which others may be looking at: those of a copy that had no
 * gaps before are not written. */
static inline void orr_dense_close_ranks(const struct orr_dense_kind *kind,
                                         void *data_interface)
{
    struct orr_dense dense = orr_dense_look(kind, data_interface);
    uint32_t *ld = orr_dense_ld(kind, data_interface), step = 1;

    for (size_t i = kind->rank ? 0 : 1; i < dense.ndim; i++) {
        step *= i ? dense.nn[i - 1] : 1;
        if (ld[i] != step)
            ld[i] = step;
    }
}

/* Gives a structure of a kind with arrays copies of them, from malloc; of those with
 * the leading dimensions only if it `keeps` them, else it has the ones of data without
 * gaps. Ends the program if there is no memory. */
void orr_dense_own(const struct orr_dense_kind *kind, void *data_interface,
                   bool keeps);

/* The structure has no such arrays from now on; nothing is freed. */
void orr_dense_forget(const struct orr_dense_kind *kind, void *data_interface);

/* Frees them. */
void orr_dense_disown(const struct orr_dense_kind *kind, void *data_interface);

/* Where a copy is: what a device calls the memory, or an address, and the
 * start inside it. */
struct orr_dense_place {
    uintptr_t base;
    size_t offset;
    unsigned node;
};

/* Copies what `src` describes, at least a byte, to where `dst` says, which may
 * have other leading dimensions: 0, or -EAGAIN when under way. */
int orr_dense_copy(const struct orr_dense *src, struct orr_dense_place from,
                   const struct orr_dense *dst, struct orr_dense_place to,
                   void *async_data);

/* starpu_data_interface_ops.pack_data of a copy at the address `ptr`: *count
 * bytes in a new buffer of the node, NULL for none; only the count if `packed`
 * is NULL. 0 or -ENOMEM. */
int orr_dense_pack(const struct orr_dense *dense, uintptr_t ptr, unsigned node,
                   void **packed, starpu_ssize_t *count);

/* .peek_data: 0, or -EINVAL after a message when the size does not match. */
int orr_dense_peek(const struct orr_dense *dense, uintptr_t ptr, unsigned node,
                   const void *packed, size_t count);

/* .display: each length, or the size of data without dimensions. */
void orr_dense_display(const struct orr_dense *dense, FILE *f);

/* .describe: the kind, each length, the size of an element: M10x20x8. */
starpu_ssize_t orr_dense_describe(const struct orr_dense *dense, char letter,
                                  char *buf, size_t size);
