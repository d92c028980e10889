/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tiles.h - a square matrix of floats, stored by columns, in square tiles: what
 * the factorisations have in common. `rows` makes it another rectangle in as many
 * tiles.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

struct tiles {
    unsigned order;   /* columns, a multiple of nblocks */
    unsigned nblocks; /* tiles per side */
    unsigned rows;    /* a multiple of nblocks; 0: as many as columns */
    bool real_data;   /* the matrix has values: kernels really run */
    float *matrix;
    starpu_data_handle_t whole;
    starpu_data_handle_t *handles; /* tile (i,j) at i + j * nblocks */
};

/* Registers the matrix as one piece and cuts it into tiles; `order` and `nblocks`
 * are set. 0, or -1 when memory is short; tiles_done follows in both cases. */
int tiles_register(struct tiles *tiles);
/* Puts the matrix together again, in main memory. */
void tiles_unregister(struct tiles *tiles);
/* Frees the memory. */
void tiles_done(struct tiles *tiles);

static inline starpu_data_handle_t tile(const struct tiles *tiles, unsigned i,
                                        unsigned j)
{
    return tiles->handles[i + (size_t)j * tiles->nblocks];
}

/* Element (i,j), below 1, of a matrix that looks random. */
float tiles_noise(unsigned i, unsigned j);

/* Fills the tiles of the lower half, or all of them, a task each of a codelet
 * that writes one buffer and gets the values int i, j, order. Waits for them.
 * 0, or not 0 with a message. */
int tiles_fill(const struct tiles *tiles, struct starpu_codelet *codelet,
               bool lower);

/* A task with its priority, to be given its handles; submits it. Both end the
 * program with a message when that is not possible. */
struct starpu_task *tiles_task(struct starpu_codelet *codelet, double flops,
                               int priority);
void tiles_submit(struct starpu_task *task);
