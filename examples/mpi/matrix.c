/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* matrix.c - see matrix.h. */
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

static unsigned tile_order(const struct matrix *matrix)
{
    return matrix->order / matrix->nblocks;
}

static size_t tile_bytes(const struct matrix *matrix)
{
    return (size_t)tile_order(matrix) * tile_order(matrix) * sizeof(float);
}

static int owner(const struct matrix *matrix, unsigned i, unsigned j)
{
    if (matrix->pattern)
        return matrix->pattern[i % matrix->rows * matrix->columns + j % matrix->columns];
    return (int)(i % matrix->p * matrix->q + j % matrix->q);
}

/* Reads the numbers behind the first two. */
static int read_pattern(struct matrix *matrix, FILE *file)
{
    size_t n = (size_t)matrix->rows * matrix->columns;

    matrix->pattern = n && n <= 1 << 24 ? calloc(n, sizeof(*matrix->pattern)) : NULL;
    for (size_t i = 0; matrix->pattern && i < n; i++)
        if (fscanf(file, "%d", &matrix->pattern[i]) != 1)
            return -1;
    return matrix->pattern ? 0 : -1;
}

int matrix_take_owners(struct matrix *matrix, int *argc, char **argv)
{
    int at = 1, result = -1;
    FILE *file;

    while (at + 1 < *argc && strcmp(argv[at], "-owners") != 0)
        at++;
    if (at + 1 >= *argc)
        return 0;
    file = fopen(argv[at + 1], "r");
    if (file && fscanf(file, "%u %u", &matrix->rows, &matrix->columns) == 2)
        result = read_pattern(matrix, file);
    if (result < 0)
        fprintf(stderr, "-owners %s: two numbers, rows and columns, and as many ranks are "
                        "wanted\n",
                argv[at + 1]);
    if (file)
        fclose(file);
    *argc -= 2;
    memmove(argv + at, argv + at + 2, ((size_t)*argc - (size_t)at + 1) * sizeof(*argv));
    return result;
}

/* Whether all ranks of the pattern are there. */
static int check_pattern(const struct matrix *matrix, int n)
{
    for (size_t i = 0; i < (size_t)matrix->rows * matrix->columns; i++)
        if (matrix->pattern[i] < 0 || matrix->pattern[i] >= n) {
            fprintf(stderr, "-owners: there is no rank %d of %d\n", matrix->pattern[i], n);
            return -1;
        }
    return 0;
}

static int choose_grid(struct matrix *matrix)
{
    unsigned n = (unsigned)starpu_mpi_world_size();

    if (matrix->pattern)
        return check_pattern(matrix, (int)n);
    if (matrix->p == 0)
        for (matrix->p = 1; (matrix->p + 1) * (matrix->p + 1) <= n; matrix->p++)
            ;
    else if (n % matrix->p != 0) {
        fprintf(stderr, "-p %u: a grid of so many rows cannot be made of %u ranks\n",
                matrix->p, n);
        return -1;
    }
    while (n % matrix->p != 0)
        matrix->p--;
    matrix->q = n / matrix->p;
    return 0;
}

static int register_tile(struct matrix *matrix, unsigned i, unsigned j)
{
    size_t at = i + (size_t)j * matrix->nblocks;
    unsigned order = tile_order(matrix);
    bool is_mine = owner(matrix, i, j) == starpu_mpi_world_rank();
    int home = is_mine ? STARPU_MAIN_RAM : -1;

    if (is_mine && starpu_malloc((void **)&matrix->tiles[at], tile_bytes(matrix)) != 0)
        return -1;
    starpu_matrix_data_register(&matrix->handles[at], home, (uintptr_t)matrix->tiles[at],
                                order, order, order, sizeof(float));
    starpu_mpi_data_register(matrix->handles[at], (starpu_mpi_tag_t)at,
                             owner(matrix, i, j));
    return 0;
}

int matrix_register(struct matrix *matrix)
{
    size_t n = (size_t)matrix->nblocks * matrix->nblocks;
    int result = 0;

    if (choose_grid(matrix) < 0)
        return -1;
    matrix->real_data = !orrery_is_simulated() || orrery_runs_kernels();
    matrix->handles = calloc(n, sizeof(*matrix->handles));
    matrix->tiles = calloc(n, sizeof(*matrix->tiles));
    if (!matrix->handles || !matrix->tiles)
        result = -1;
    for (unsigned j = 0; j < matrix->nblocks && result == 0; j++)
        for (unsigned i = matrix->lower ? j : 0; i < matrix->nblocks && result == 0; i++)
            result = register_tile(matrix, i, j);
    if (result != 0)
        fprintf(stderr, "no memory for a matrix of order %u; -size takes a smaller one\n",
                matrix->order);
    return result;
}

int matrix_fill(const struct matrix *matrix, struct starpu_codelet *codelet)
{
    int n = (int)matrix->nblocks, order = (int)matrix->order;

    for (int j = 0; j < n; j++)
        for (int i = matrix->lower ? j : 0; i < n; i++) {
            int result = starpu_mpi_task_insert(
                MPI_COMM_WORLD, codelet, STARPU_VALUE, &i, sizeof(i), STARPU_VALUE, &j,
                sizeof(j), STARPU_VALUE, &order, sizeof(order), STARPU_W,
                tile(matrix, (unsigned)i, (unsigned)j), 0);

            if (result != 0)
                return result;
        }
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    return starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void copy_tile(const struct matrix *matrix, unsigned i, unsigned j, float *whole)
{
    size_t order = tile_order(matrix);
    const float *from;

    starpu_data_acquire(tile(matrix, i, j), STARPU_R);
    from = (const float *)starpu_data_get_local_ptr(tile(matrix, i, j));
    for (size_t y = 0; y < order; y++)
        memcpy(&whole[i * order + (j * order + y) * matrix->order], &from[y * order],
               order * sizeof(float));
    starpu_data_release(tile(matrix, i, j));
}

float *matrix_collect(const struct matrix *matrix)
{
    bool collects = starpu_mpi_world_rank() == 0;
    float *whole = NULL;

    if (collects && !(whole = calloc((size_t)matrix->order * matrix->order,
                                     sizeof(*whole)))) {
        fprintf(stderr, "no memory on rank 0 for the whole matrix, which -check needs\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (unsigned j = 0; j < matrix->nblocks; j++)
        for (unsigned i = matrix->lower ? j : 0; i < matrix->nblocks; i++) {
            starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, tile(matrix, i, j), 0,
                                                 NULL, NULL);
            if (collects)
                copy_tile(matrix, i, j, whole);
            /* Rank 0 needs no room for the tile any more. */
            starpu_mpi_cache_flush(MPI_COMM_WORLD, tile(matrix, i, j));
        }
    return whole;
}

void matrix_done(struct matrix *matrix)
{
    size_t n = (size_t)matrix->nblocks * matrix->nblocks;

    for (size_t at = 0; at < n && matrix->handles && matrix->tiles; at++) {
        if (matrix->handles[at])
            starpu_data_unregister(matrix->handles[at]);
        if (matrix->tiles[at])
            starpu_free_noflag(matrix->tiles[at], tile_bytes(matrix));
    }
    free(matrix->handles);
    free(matrix->tiles);
    free(matrix->pattern);
}
