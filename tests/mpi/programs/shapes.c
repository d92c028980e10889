/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/shapes.c - data of each predefined interface go around: what is inside a
 * larger array comes into a dense one, and back.
 */
#include "ranks.h"

static int next(void)
{
    return (ranks_me + 1) % ranks_n;
}

static int before(void)
{
    return (ranks_me + ranks_n - 1) % ranks_n;
}

/* Sends `to` to the next rank and receives `from`; ends both. */
static void send_around(starpu_data_handle_t to, starpu_data_handle_t from)
{
    starpu_mpi_isend_detached(to, next(), 1, MPI_COMM_WORLD, NULL, NULL);
    starpu_mpi_recv(from, before(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    starpu_data_unregister(from);
    starpu_data_unregister(to);
}

/* --- dense ones: up to four dimensions of EDGE elements, PADDED apart --- */

enum { EDGE = 4, PADDED = 6, MOST = PADDED * PADDED * PADDED * PADDED };

static starpu_data_handle_t dense(int *memory, int dims, unsigned ld, int by_ndim)
{
    uintptr_t at = (uintptr_t)memory;
    uint32_t lds[4] = {1, ld, ld * ld, ld * ld * ld}, edges[4] = {EDGE, EDGE, EDGE, EDGE};
    starpu_data_handle_t handle;

    if (by_ndim)
        starpu_ndim_data_register(&handle, STARPU_MAIN_RAM, at, lds, edges, (size_t)dims,
                                  sizeof(int));
    else if (dims == 1)
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM, at, EDGE, sizeof(int));
    else if (dims == 2)
        starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, at, lds[1], EDGE, EDGE,
                                    sizeof(int));
    else if (dims == 3)
        starpu_block_data_register(&handle, STARPU_MAIN_RAM, at, lds[1], lds[2], EDGE, EDGE,
                                   EDGE, sizeof(int));
    else
        starpu_tensor_data_register(&handle, STARPU_MAIN_RAM, at, lds[1], lds[2], lds[3],
                                    EDGE, EDGE, EDGE, EDGE, sizeof(int));
    return handle;
}

/* Where an element is in an array of that leading dimension. */
static unsigned place(unsigned element, unsigned ld)
{
    unsigned at = 0, factor = 1;

    for (; element > 0; element /= EDGE, factor *= ld)
        at += element % EDGE * factor;
    return at;
}

static unsigned count(int dims)
{
    unsigned n = 1;

    while (dims-- > 0)
        n *= EDGE;
    return n;
}

/* From the inner part of a padded array to a dense one, or the reverse. */
static void go(int *from, unsigned from_ld, int *to, unsigned to_ld, int dims, int by_ndim)
{
    unsigned used = 0;

    for (unsigned i = 0; i < MOST; i++) {
        from[i] = (int)i + 10000 * ranks_me;
        to[i] = -7;
    }
    send_around(dense(from, dims, from_ld, by_ndim), dense(to, dims, to_ld, by_ndim));
    for (unsigned i = 0; i < count(dims); i++)
        if (to[place(i, to_ld)] != (int)place(i, from_ld) + 10000 * before()) {
            EXPECT_EQ(to[place(i, to_ld)], place(i, from_ld) + 10000 * before());
            break;
        }
    for (unsigned i = 0; i < MOST; i++)
        used += to[i] != -7;
    EXPECT_EQ(used, count(dims)); /* what lies between is as it was */
}

static void dense_shapes(int by_ndim, int pinned)
{
    int *from = NULL, *to = NULL;

    if (pinned) {
        starpu_malloc((void **)&from, MOST * sizeof(int));
        starpu_malloc((void **)&to, MOST * sizeof(int));
    } else {
        from = malloc(MOST * sizeof(int));
        to = malloc(MOST * sizeof(int));
    }
    for (int dims = 1; dims <= 4; dims++) {
        go(from, PADDED, to, EDGE, dims, by_ndim);
        go(from, EDGE, to, PADDED, dims, by_ndim);
    }
    if (pinned) {
        starpu_free_noflag(from, MOST * sizeof(int));
        starpu_free_noflag(to, MOST * sizeof(int));
    } else {
        free(from);
        free(to);
    }
}

static void of_each_interface(void)
{
    dense_shapes(0, 0);
}

static void pinned_memory(void)
{
    dense_shapes(0, 1);
}

static void ndim(void)
{
    dense_shapes(1, 0);
}

/* --- others --- */

static void void_data(void)
{
    starpu_data_handle_t to, from;

    starpu_void_data_register(&to);
    starpu_void_data_register(&from);
    send_around(to, from);
}

/* A matrix with 2 elements, or blocks, in each of 3 rows. */
enum { ROWS = 3, VALUES = 2 * ROWS, SIDE = 2 };

static void sparse(int interface)
{
    uint32_t columns[VALUES], rows[VALUES], starts[ROWS + 1] = {0, 2, 4, 6};
    int mine[VALUES * SIDE * SIDE], theirs[VALUES * SIDE * SIDE], n = VALUES;
    int *values[2] = {mine, theirs};
    starpu_data_handle_t handle[2];

    for (uint32_t i = 0; i < VALUES; i++) {
        columns[i] = i % 2;
        rows[i] = i / 2;
    }
    for (int i = 0; i < VALUES * SIDE * SIDE; i++) {
        mine[i] = 100 * ranks_me + i;
        theirs[i] = -1;
    }
    for (int i = 0; i < 2; i++) {
        uintptr_t at = (uintptr_t)values[i];

        if (interface == 0)
            starpu_csr_data_register(&handle[i], STARPU_MAIN_RAM, VALUES, ROWS, at, columns,
                                     starts, 0, sizeof(int));
        else if (interface == 1)
            starpu_coo_data_register(&handle[i], STARPU_MAIN_RAM, 2, ROWS, VALUES, columns,
                                     rows, at, sizeof(int));
        else
            starpu_bcsr_data_register(&handle[i], STARPU_MAIN_RAM, VALUES, ROWS, at,
                                      columns, starts, 0, SIDE, SIDE, sizeof(int));
    }
    if (interface == 2)
        n *= SIDE * SIDE;
    send_around(handle[0], handle[1]);
    for (int i = 0; i < n; i++)
        EXPECT_EQ(theirs[i], 100 * before() + i);
}

static void csr(void)
{
    sparse(0);
}

static void coo(void)
{
    sparse(1);
}

static void bcsr(void)
{
    sparse(2);
}

RANKS_MAIN({"vector, matrix, block, tensor", of_each_interface},
           {"… in memory of starpu_malloc", pinned_memory}, {"ndim", ndim},
           {"void", void_data}, {"csr", csr}, {"coo", coo}, {"bcsr", bcsr})
