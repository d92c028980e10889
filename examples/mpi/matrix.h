/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * matrix.h - a square matrix of floats in square tiles that belong to the ranks of
 * MPI_COMM_WORLD in turn: of a grid of P by Q ranks, tile (i,j) is that of the rank in row
 * i mod P and column j mod Q (two-dimensional, block-cyclic). So each rank has a part of
 * every region of the matrix, and what a tile's row and column need lies on few ranks.
 *
 * Or a file says whose they are: two numbers, rows and columns of a pattern, then the rank of
 * each of its places, row by row. The pattern is repeated over all tiles.
 *
 * Every rank has a handle of each tile, and memory for those that it owns. All functions
 * are called by all ranks.
 */
#pragma once

#include <stdbool.h>

#include <starpu_mpi.h>

struct matrix {
    unsigned order;   /* rows, and columns; a multiple of nblocks */
    unsigned nblocks; /* tiles per side */
    unsigned p, q;    /* the grid; p 0: as square as the number of ranks lets it be */
    unsigned rows, columns; /* of the pattern of a file … */
    int *pattern;           /* … row by row; NULL: the grid counts */
    bool lower;       /* there are no tiles above the diagonal */
    bool real_data;   /* tiles have values: kernels really run */
    starpu_data_handle_t *handles; /* tile (i,j) at i + j * nblocks */
    float **tiles;                 /* the memory of those that this rank owns */
};

/* Takes "-owners FILE" out of the command line, if it is there, and reads the file. 0; -1 after
 * a message. */
int matrix_take_owners(struct matrix *matrix, int *argc, char **argv);
/* Registers the tiles; order, nblocks, p and lower are set. 0; -1 after a message: p does
 * not divide the number of ranks, the file names one that there is not, or memory is short. matrix_done follows in both cases. */
int matrix_register(struct matrix *matrix);
/* Inserts a task per tile, of a codelet that writes it and gets the values int i, j,
 * order, and waits until all ranks have filled theirs. 0, or not 0 after a message. */
int matrix_fill(const struct matrix *matrix, struct starpu_codelet *codelet);
/* Collects all tiles on rank 0, which gets the matrix, stored by columns, to be freed by
 * it; others get NULL. Ends the program where memory is short. */
float *matrix_collect(const struct matrix *matrix);
/* Unregisters the tiles and frees their memory. */
void matrix_done(struct matrix *matrix);

static inline starpu_data_handle_t tile(const struct matrix *matrix, unsigned i,
                                        unsigned j)
{
    return matrix->handles[i + (size_t)j * matrix->nblocks];
}
