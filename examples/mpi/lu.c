/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lu.c - the tiled LU factorisation without pivoting on several ranks, as cholesky.c: all
 * insert all tasks, owners of what is written execute them, copies of tiles that are final
 * are flushed. Here a tile is read by a row and a column of ranks of the grid.
 *
 * The kernels are those of ../lu.
 */
#include "../lu/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "../options.h"
#include "matrix.h"

static const char usage[] =
    "usage: mpirun -n RANKS lu [-size N] [-nblocks B] [-p P | -owners FILE] [-check]\n"
    "       [-no-prio]\n"
    "Factorises a random N by N matrix, which needs no pivots, in B by B tiles, which "
    "ranks own\nblock-cyclically.\n"
    "  -size N      order of the matrix, a multiple of B (1920)\n"
    "  -nblocks B   tiles per side (10)\n"
    "  -p P         rows of the grid of ranks (as square a grid as can be)\n"
    "  -owners FILE a pattern of owners instead: rows, columns, then ranks row by row\n"
    "  -check       compare L times U with the matrix, on rank 0\n"
    "  -no-prio     give all tasks the same priority\n";

static unsigned no_priorities;

/* The nearer to the end of the longest path, the lower. */
static int priority(const struct matrix *a, unsigned behind)
{
    return no_priorities ? STARPU_DEFAULT_PRIO : (int)(3 * a->nblocks) - (int)behind;
}

static int insert_trsm(const struct matrix *a, struct starpu_codelet *codelet, unsigned k,
                       unsigned i, unsigned j)
{
    return starpu_mpi_task_insert(MPI_COMM_WORLD, codelet, STARPU_PRIORITY,
                                  priority(a, k + i + j), STARPU_R, tile(a, k, k),
                                  STARPU_RW, tile(a, i, j), 0);
}

static int factorise(const struct matrix *a)
{
    unsigned n = a->nblocks;
    int failed = 0;

    for (unsigned k = 0; k < n; k++) {
        failed |= starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_getrf, STARPU_PRIORITY,
                                         priority(a, 3 * k), STARPU_RW, tile(a, k, k), 0);
        for (unsigned i = k + 1; i < n; i++) {
            failed |= insert_trsm(a, &cl_trsm_ll, k, k, i);
            failed |= insert_trsm(a, &cl_trsm_ru, k, i, k);
        }
        starpu_mpi_cache_flush(MPI_COMM_WORLD, tile(a, k, k));
        for (unsigned i = k + 1; i < n; i++)
            for (unsigned j = k + 1; j < n; j++)
                failed |= starpu_mpi_task_insert(
                    MPI_COMM_WORLD, &cl_gemm, STARPU_PRIORITY, priority(a, k + i + j),
                    STARPU_R, tile(a, i, k), STARPU_R, tile(a, k, j), STARPU_RW,
                    tile(a, i, j), 0);
        for (unsigned i = k + 1; i < n; i++) {
            starpu_mpi_cache_flush(MPI_COMM_WORLD, tile(a, k, i));
            starpu_mpi_cache_flush(MPI_COMM_WORLD, tile(a, i, k));
        }
    }
    return failed;
}

/* 0 when the factors are right, or not known here. */
static int check(const struct matrix *a)
{
    double residual = 0;
    float *whole;

    if (!a->real_data)
        return 0;
    whole = matrix_collect(a);
    if (!whole)
        return 0;
    residual = kernels_residual(whole, a->order, a->order / a->nblocks);
    free(whole);
    printf("# |A - L*U| / |A| = %.2e: %s\n", residual,
           residual < 1e-5 ? "right" : "WRONG");
    return residual < 1e-5 ? 0 : -1;
}

static int run(struct matrix *a, unsigned wants_check)
{
    double n = a->order, start;
    int result;

    if (matrix_register(a) != 0 || (a->real_data && matrix_fill(a, &cl_init) != 0))
        return -1;
    start = starpu_timing_now();
    result = factorise(a);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    start = starpu_timing_now() - start;
    if (starpu_mpi_world_rank() == 0)
        printf("# size\tgrid\tms\tGFlop/s\n%u\t%ux%u\t%.3f\t%.1f\n", a->order, a->p, a->q,
               start / 1000, 2.0 / 3 * n * n * n / start / 1000);
    return result == 0 && wants_check ? check(a) : result;
}

int main(int argc, char **argv)
{
    struct matrix a = {.order = 1920, .nblocks = 10};
    unsigned wants_check = 0;
    const struct option options[] = {{"-size", &a.order, 0},
                                     {"-nblocks", &a.nblocks, 0},
                                     {"-p", &a.p, 0},
                                     {"-check", &wants_check, 1},
                                     {"-no-prio", &no_priorities, 1},
                                     {NULL, NULL, 0}};
    int result;

    if (matrix_take_owners(&a, &argc, argv) != 0)
        return 2;
    options_read(argc, argv, options, usage);
    if (a.order % a.nblocks != 0) {
        fprintf(stderr, "lu: -size must be a multiple of -nblocks\n");
        return 2;
    }
    kernels_single_thread();
    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0) {
        fprintf(stderr, "lu: the runtime does not start\n");
        return EXIT_FAILURE;
    }
    result = run(&a, wants_check);
    matrix_done(&a);
    starpu_mpi_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
