/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/filters/block.c - cutting three-dimensional blocks: "block" along
 * x, "vertical block" along y, "depth block" along z. A filter only fills the
 * child's interface; it runs once per child and memory node.
 */
#include <starpu_data_filters.h>

#include "core/data/filters/common.h"

enum { X, Y, Z };

static const struct starpu_block_interface *block(const char *call,
                                                  const void *father)
{
    const struct starpu_block_interface *b = father;

    orr_filter_expect(call, b->id, STARPU_BLOCK_INTERFACE_ID);
    return b;
}

/* Gives the child the part of one dimension and all of the others. */
static void cut(const char *call, const void *father_interface,
                void *child_interface, int along, unsigned id, unsigned nparts,
                uint32_t shadow)
{
    const struct starpu_block_interface *father = block(call, father_interface);
    struct starpu_block_interface *child = child_interface;
    struct orr_cut part[3] = {
        {0, father->nx}, {0, father->ny}, {0, father->nz}};
    size_t first;

    part[along] = orr_cut_block(call, part[along].length, nparts, id, shadow);
    first = part[X].start + (size_t)part[Y].start * father->ldy +
            (size_t)part[Z].start * father->ldz;
    *child = (struct starpu_block_interface){
        .id = STARPU_BLOCK_INTERFACE_ID,
        .nx = part[X].length,
        .ny = part[Y].length,
        .nz = part[Z].length,
        .ldy = part[X].length,
        .ldz = part[X].length * part[Y].length,
        .elemsize = father->elemsize,
    };
    if (ORR_PLACE_CHILD(child, father, first * father->elemsize)) {
        child->ldy = father->ldy;
        child->ldz = father->ldz;
    }
}

void starpu_block_filter_block(void *father_interface, void *child_interface,
                               struct starpu_data_filter *f, unsigned id,
                               unsigned nparts)
{
    (void)f;
    cut("starpu_block_filter_block", father_interface, child_interface, X, id,
        nparts, 0);
}

void starpu_block_filter_block_shadow(void *father_interface,
                                      void *child_interface,
                                      struct starpu_data_filter *f, unsigned id,
                                      unsigned nparts)
{
    cut("starpu_block_filter_block_shadow", father_interface, child_interface,
        X, id, nparts, orr_filter_shadow(f));
}

void starpu_block_filter_vertical_block(void *father_interface,
                                        void *child_interface,
                                        struct starpu_data_filter *f,
                                        unsigned id, unsigned nparts)
{
    (void)f;
    cut("starpu_block_filter_vertical_block", father_interface, child_interface,
        Y, id, nparts, 0);
}

void starpu_block_filter_vertical_block_shadow(void *father_interface,
                                               void *child_interface,
                                               struct starpu_data_filter *f,
                                               unsigned id, unsigned nparts)
{
    cut("starpu_block_filter_vertical_block_shadow", father_interface,
        child_interface, Y, id, nparts, orr_filter_shadow(f));
}

void starpu_block_filter_depth_block(void *father_interface,
                                     void *child_interface,
                                     struct starpu_data_filter *f, unsigned id,
                                     unsigned nparts)
{
    (void)f;
    cut("starpu_block_filter_depth_block", father_interface, child_interface, Z,
        id, nparts, 0);
}

void starpu_block_filter_depth_block_shadow(void *father_interface,
                                            void *child_interface,
                                            struct starpu_data_filter *f,
                                            unsigned id, unsigned nparts)
{
    cut("starpu_block_filter_depth_block_shadow", father_interface,
        child_interface, Z, id, nparts, orr_filter_shadow(f));
}

/* A plane of the block as a matrix of father->nx by ny. */
static void pick(const struct starpu_block_interface *father,
                 struct starpu_matrix_interface *child, uint32_t ny,
                 uint32_t ld, size_t first)
{
    *child = (struct starpu_matrix_interface){
        .id = STARPU_MATRIX_INTERFACE_ID,
        .nx = father->nx,
        .ny = ny,
        .ld = father->nx,
        .elemsize = father->elemsize,
        .allocsize = (size_t)father->nx * ny * father->elemsize,
    };
    if (ORR_PLACE_CHILD(child, father, first * father->elemsize))
        child->ld = ld;
}

void starpu_block_filter_pick_matrix_z(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts)
{
    const char *call = "starpu_block_filter_pick_matrix_z";
    const struct starpu_block_interface *father = block(call, father_interface);
    size_t z = orr_filter_pick(call, f, father->nz, id);

    (void)nparts;
    pick(father, child_interface, father->ny, father->ldy, z * father->ldz);
}

void starpu_block_filter_pick_matrix_y(void *father_interface,
                                       void *child_interface,
                                       struct starpu_data_filter *f,
                                       unsigned id, unsigned nparts)
{
    const char *call = "starpu_block_filter_pick_matrix_y";
    const struct starpu_block_interface *father = block(call, father_interface);
    size_t y = orr_filter_pick(call, f, father->ny, id);

    (void)nparts;
    pick(father, child_interface, father->nz, father->ldz, y * father->ldy);
}

struct starpu_data_interface_ops *
starpu_block_filter_pick_matrix_child_ops(struct starpu_data_filter *f,
                                          unsigned child)
{
    (void)f;
    (void)child;
    return &starpu_interface_matrix_ops;
}
