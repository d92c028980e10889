/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/common.c - cutting lengths into parts, dense data into
 * children.
 */
#include "core/layouts/filters/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/number.h"

/* --- lengths --- */

struct orr_cut orr_cut_block(const char *call, uint32_t n, unsigned nparts,
                             unsigned id, uint32_t shadow)
{
    struct orr_cut cut;
    uint32_t inner = n - 2 * shadow, left;

    ORR_FILTER_EXPECT(n / 2 >= shadow && nparts && nparts <= inner, call,
                      "%u elements with a shadow of %u cannot be "
                      "cut into %u parts, use fewer",
                      n, shadow, nparts);
    ORR_FILTER_EXPECT(id < nparts, call, "there is no part %u of %u", id,
                      nparts);
    left = inner % nparts;
    cut.length = inner / nparts + (id < left) + 2 * shadow;
    cut.start = id * (inner / nparts) + (id < left ? id : left);
    return cut;
}

void starpu_filter_nparts_compute_chunk_size_and_offset(
    unsigned n, unsigned nparts, size_t elemsize, unsigned id,
    unsigned blocksize, unsigned *chunk_size, size_t *offset)
{
    struct orr_cut cut = orr_cut_block(
        "starpu_filter_nparts_compute_chunk_size_and_offset", n, nparts, id, 0);

    *chunk_size = cut.length;
    if (offset)
        *offset = (size_t)cut.start * blocksize * elemsize;
}

void orr_filter_fail(const char *name, const char *format, ...)
{
    char data[100], text[400];
    va_list args;

    orr_cut_label(data, sizeof(data));
    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    orr_log_error("%s%s: %s", name, data, text);
    abort();
}

void orr_filter_expect(const struct orr_filter_call *call,
                       enum starpu_data_interface_id wanted)
{
    enum starpu_data_interface_id is =
        *(const enum starpu_data_interface_id *)call->father;

    ORR_FILTER_EXPECT(is == wanted, call->name,
                      "the data has interface %d, the filter cuts "
                      "interface %d only",
                      is, wanted);
}

/* --- structures --- */

/* The fields with which the structures of all dense kinds begin. */
typedef struct starpu_variable_interface place_t;

static struct orr_dense look_at_father(const struct orr_filter_call *call,
                                       const struct orr_dense_kind *from)
{
    orr_filter_expect(call, from->id);
    return orr_dense_look(from, call->father);
}

/* Writes the child's address, so many elements behind the start of its parent, or none
 * when the parent has no memory. Returns whether the parent has memory. */
static bool place_child(const struct orr_filter_call *call,
                        const struct orr_dense *father, size_t elements)
{
    size_t bytes = elements * father->elemsize;
    const place_t *in = call->father;
    place_t *child = call->child;

    child->ptr = child->dev_handle = child->offset = 0;
    if (!in->dev_handle)
        return false;
    child->ptr = in->ptr ? in->ptr + bytes : 0;
    child->dev_handle = in->dev_handle;
    child->offset = in->offset + bytes;
    return true;
}

static void set_size(char *at, size_t field, size_t value)
{
    if (field)
        *(size_t *)(at + field) = value;
}

/* Writes what a structure has besides its lengths: the arrays for these are
 * made. */
static void begin_child(const struct orr_filter_call *call,
                        const struct orr_dense_kind *to, size_t elemsize,
                        size_t ndim)
{
    char *at = call->child;

    ((place_t *)call->child)->id = to->id;
    set_size(at, to->elemsize, elemsize);
    if (to->rank) {
        set_size(at, to->rank, ndim);
        orr_dense_own(to, at, false);
    }
    ORR_FILTER_EXPECT(to->rank || to->ndim == ndim, call->name,
                      "the parts have %zu dimensions, not those of "
                      "a %s",
                      ndim, to->word);
}

/* The child has a part of dimension `dim`, or, with `dropped`, one index of it and not
 * the dimension itself; of the other dimensions it has all. */
static void fill_child(const struct orr_filter_call *call,
                       const struct orr_dense_kind *from,
                       const struct orr_dense_kind *to, size_t dim,
                       struct orr_cut part, bool dropped)
{
    struct orr_dense father = look_at_father(call, from), child;
    size_t ndim = father.ndim - dropped;
    uint32_t *nn, *ld;
    bool placed;

    begin_child(call, to, father.elemsize, ndim);
    placed =
        place_child(call, &father, part.start * orr_dense_step(&father, dim));
    nn = orr_dense_nn(to, call->child);
    ld = orr_dense_ld(to, call->child);
    for (size_t i = 0; i < ndim; i++)
        nn[i] = i == dim && !dropped ? part.length
                                     : father.nn[i + (dropped && i >= dim)];
    orr_dense_close_ranks(to, call->child);
    for (size_t i = 0; placed && i < ndim; i++) {
        size_t step = orr_dense_step(&father, i + (dropped && i >= dim));

        if (i || to->rank)
            ld[i] = (uint32_t)step;
        else
            ORR_FILTER_EXPECT(
                step == 1 || nn[0] == 1, call->name,
                "neighbours along the first dimension of the parts are "
                "%zu elements apart, which a %s cannot say; use "
                "starpu_ndim_filter_pick_ndim",
                step, to->word);
    }
    child = orr_dense_look(to, call->child);
    set_size(call->child, to->allocsize, orr_dense_bytes(&child));
}

void orr_filter_cut(const struct orr_filter_call *call,
                    const struct orr_dense_kind *from,
                    const struct orr_dense_kind *to, size_t dim,
                    struct orr_cut part)
{
    fill_child(call, from, to, dim, part, false);
}

static void dense_cut_block(const struct orr_filter_call *call,
                            const struct orr_dense_kind *from,
                            const struct orr_dense_kind *to, size_t dim,
                            uint32_t shadow)
{
    struct orr_dense father = look_at_father(call, from);

    ORR_FILTER_EXPECT(dim < father.ndim, call->name,
                      "there is no dimension %zu, the data have "
                      "%zu; check filter_arg",
                      dim, father.ndim);
    orr_filter_cut(call, from, to, dim,
                   orr_cut_block(call->name, father.nn[dim], call->nparts,
                                 call->id, shadow));
}

void orr_filter_block(const struct orr_filter_call *call,
                      const struct orr_dense_kind *from,
                      const struct orr_dense_kind *to, size_t dim)
{
    dense_cut_block(call, from, to, dim, 0);
}

void orr_filter_block_shadow(const struct orr_filter_call *call,
                             const struct orr_dense_kind *from,
                             const struct orr_dense_kind *to, size_t dim)
{
    dense_cut_block(call, from, to, dim,
                    (uint32_t)(uintptr_t)call->f->filter_arg_ptr);
}

void orr_filter_pick(const struct orr_filter_call *call,
                     const struct orr_dense_kind *from,
                     const struct orr_dense_kind *to, size_t dim)
{
    struct orr_dense father = look_at_father(call, from);
    uintptr_t at = (uintptr_t)call->f->filter_arg_ptr + call->id;

    ORR_FILTER_EXPECT(dim < father.ndim, call->name,
                      "there is no dimension %zu, the data have "
                      "%zu; check filter_arg",
                      dim, father.ndim);
    ORR_FILTER_EXPECT(at < father.nn[dim], call->name,
                      "element %zu was requested, but there are "
                      "only %u; check nchildren and filter_arg_ptr",
                      (size_t)at, father.nn[dim]);
    fill_child(call, from, to, dim, (struct orr_cut){(uint32_t)at, 1}, true);
}

void orr_filter_pick_variable(const struct orr_filter_call *call,
                              const struct orr_dense_kind *from)
{
    static const struct orr_dense_kind variable = ORR_VARIABLE_KIND;
    struct orr_dense father = look_at_father(call, from);
    const uint32_t *index = call->f->filter_arg_ptr;
    size_t elements = 0;

    ORR_FILTER_EXPECT(index || !father.ndim, call->name,
                      "filter_arg_ptr is NULL, it has an index per "
                      "dimension");
    for (size_t i = 0; i < father.ndim; i++) {
        ORR_FILTER_EXPECT(index[i] < father.nn[i], call->name,
                          "element %u of dimension %zu was "
                          "requested, but there are only %u; check "
                          "filter_arg_ptr",
                          index[i], i, father.nn[i]);
        elements += index[i] * orr_dense_step(&father, i);
    }
    begin_child(call, &variable, father.elemsize, 0);
    (void)place_child(call, &father, elements);
}
