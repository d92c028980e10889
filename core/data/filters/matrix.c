/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/filters/matrix.c - cutting matrices: "block" along x (the length
 * of columns), "vertical block" along y (their number). A filter only fills
 * the child's interface; it runs once per child and memory node.
 */
#include <starpu_data_filters.h>

#include "core/data/filters/common.h"

static const struct starpu_matrix_interface *matrix(const char *call,
                                                    const void *father)
{
    const struct starpu_matrix_interface *m = father;

    orr_filter_expect(call, m->id, STARPU_MATRIX_INTERFACE_ID);
    return m;
}

/* Gives the child the two ranges of the parent. */
static void cut(const struct starpu_matrix_interface *father,
                struct starpu_matrix_interface *child, struct orr_cut x,
                struct orr_cut y)
{
    size_t first = x.start + (size_t)y.start * father->ld;

    *child = (struct starpu_matrix_interface){
        .id = STARPU_MATRIX_INTERFACE_ID,
        .nx = x.length,
        .ny = y.length,
        .ld = x.length,
        .elemsize = father->elemsize,
        .allocsize = (size_t)x.length * y.length * father->elemsize,
    };
    if (ORR_PLACE_CHILD(child, father, first * father->elemsize))
        child->ld = father->ld;
}

static void cut_x(const char *call, const void *father_interface, void *child,
                  unsigned id, unsigned nparts, uint32_t shadow)
{
    const struct starpu_matrix_interface *father =
        matrix(call, father_interface);
    struct orr_cut all = {0, father->ny};

    cut(father, child, orr_cut_block(call, father->nx, nparts, id, shadow),
        all);
}

static void cut_y(const char *call, const void *father_interface, void *child,
                  unsigned id, unsigned nparts, uint32_t shadow)
{
    const struct starpu_matrix_interface *father =
        matrix(call, father_interface);
    struct orr_cut all = {0, father->nx};

    cut(father, child, all,
        orr_cut_block(call, father->ny, nparts, id, shadow));
}

void starpu_matrix_filter_block(void *father_interface, void *child_interface,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned nparts)
{
    (void)f;
    cut_x("starpu_matrix_filter_block", father_interface, child_interface, id,
          nparts, 0);
}

void starpu_matrix_filter_block_shadow(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts)
{
    cut_x("starpu_matrix_filter_block_shadow", father_interface,
          child_interface, id, nparts, orr_filter_shadow(f));
}

void starpu_matrix_filter_vertical_block(void *father_interface,
                                         void *child_interface,
                                         struct starpu_data_filter *f,
                                         unsigned id, unsigned nparts)
{
    (void)f;
    cut_y("starpu_matrix_filter_vertical_block", father_interface,
          child_interface, id, nparts, 0);
}

void starpu_matrix_filter_vertical_block_shadow(void *father_interface,
                                                void *child_interface,
                                                struct starpu_data_filter *f,
                                                unsigned id, unsigned nparts)
{
    cut_y("starpu_matrix_filter_vertical_block_shadow", father_interface,
          child_interface, id, nparts, orr_filter_shadow(f));
}

void starpu_matrix_filter_pick_vector_y(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts)
{
    const char *call = "starpu_matrix_filter_pick_vector_y";
    const struct starpu_matrix_interface *father =
        matrix(call, father_interface);
    struct starpu_vector_interface *child = child_interface;
    size_t y = orr_filter_pick(call, f, father->ny, id);

    (void)nparts;
    *child = (struct starpu_vector_interface){
        .id = STARPU_VECTOR_INTERFACE_ID,
        .nx = father->nx,
        .elemsize = father->elemsize,
        .allocsize = father->nx * father->elemsize,
    };
    (void)ORR_PLACE_CHILD(child, father, y * father->ld * father->elemsize);
}

struct starpu_data_interface_ops *
starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *f,
                                           unsigned child)
{
    (void)f;
    (void)child;
    return &starpu_interface_vector_ops;
}
