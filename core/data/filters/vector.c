/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/filters/vector.c - cutting vectors. A filter only fills the
 * child's interface; it runs once per child and memory node.
 */
#include <starpu_data_filters.h>

#include <starpu_util.h>

#include "core/data/filters/common.h"

static void cut(const char *call, const struct starpu_vector_interface *father,
                struct starpu_vector_interface *child, struct orr_cut part)
{
    STARPU_ASSERT_MSG_ALWAYS((uint64_t)part.start + part.length <= father->nx,
                             "%s: part of %u elements from %u on is outside "
                             "of the vector of %u",
                             call, part.length, part.start, father->nx);
    *child = (struct starpu_vector_interface){
        .id = STARPU_VECTOR_INTERFACE_ID,
        .nx = part.length,
        .elemsize = father->elemsize,
        .slice_base = father->slice_base + part.start,
        .allocsize = part.length * father->elemsize,
    };
    (void)ORR_PLACE_CHILD(child, father, part.start * father->elemsize);
}

static const struct starpu_vector_interface *vector(const char *call,
                                                    const void *father)
{
    const struct starpu_vector_interface *v = father;

    orr_filter_expect(call, v->id, STARPU_VECTOR_INTERFACE_ID);
    return v;
}

static void cut_block(const char *call, void *father_interface,
                      void *child_interface, unsigned id, unsigned nparts,
                      uint32_t shadow)
{
    const struct starpu_vector_interface *father =
        vector(call, father_interface);

    cut(call, father, child_interface,
        orr_cut_block(call, father->nx, nparts, id, shadow));
}

void starpu_vector_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts)
{
    (void)f;
    cut_block("starpu_vector_filter_block", father_interface, child_interface,
              id, nparts, 0);
}

void starpu_vector_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts)
{
    cut_block("starpu_vector_filter_block_shadow", father_interface,
              child_interface, id, nparts, orr_filter_shadow(f));
}

void starpu_vector_filter_list_long(void *father_interface,
                                    void *child_interface,
                                    struct starpu_data_filter *f, unsigned id,
                                    unsigned nparts)
{
    const char *call = "starpu_vector_filter_list_long";
    const long *lengths = f->filter_arg_ptr;
    struct orr_cut part = {0, (uint32_t)lengths[id]};

    (void)nparts;
    for (unsigned i = 0; i < id; i++)
        part.start += (uint32_t)lengths[i];
    cut(call, vector(call, father_interface), child_interface, part);
}

void starpu_vector_filter_list(void *father_interface, void *child_interface,
                               struct starpu_data_filter *f, unsigned id,
                               unsigned nparts)
{
    const char *call = "starpu_vector_filter_list";
    const uint32_t *lengths = f->filter_arg_ptr;
    struct orr_cut part = {0, lengths[id]};

    (void)nparts;
    for (unsigned i = 0; i < id; i++)
        part.start += lengths[i];
    cut(call, vector(call, father_interface), child_interface, part);
}

void starpu_vector_filter_divide_in_2(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts)
{
    const char *call = "starpu_vector_filter_divide_in_2";
    const struct starpu_vector_interface *father =
        vector(call, father_interface);
    struct orr_cut part = {0, f->filter_arg};

    (void)nparts;
    STARPU_ASSERT_MSG_ALWAYS(id < 2 && f->filter_arg < father->nx,
                             "%s: a vector of %u cannot be cut after %u "
                             "elements into two parts",
                             call, father->nx, f->filter_arg);
    if (id == 1) {
        part.start = f->filter_arg;
        part.length = father->nx - f->filter_arg;
    }
    cut(call, father, child_interface, part);
}

void starpu_vector_filter_pick_variable(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts)
{
    const char *call = "starpu_vector_filter_pick_variable";
    const struct starpu_vector_interface *father =
        vector(call, father_interface);
    struct starpu_variable_interface *child = child_interface;
    size_t at = orr_filter_pick(call, f, father->nx, id);

    (void)nparts;
    child->id = STARPU_VARIABLE_INTERFACE_ID;
    child->elemsize = father->elemsize;
    (void)ORR_PLACE_CHILD(child, father, at * father->elemsize);
}

struct starpu_data_interface_ops *
starpu_vector_filter_pick_variable_child_ops(struct starpu_data_filter *f,
                                             unsigned child)
{
    (void)f;
    (void)child;
    return &starpu_interface_variable_ops;
}
