/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lu.c - tiled LU factorisation without pivoting. One program for every
 * machine: run it as it is, or name a simulated machine with ORRERY_MACHINE or
 * `orrery run -m`.
 */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../options.h"
#include "../tiles.h"

static const char usage[] =
    "usage: lu [-size N] [-nblocks B] [-check] [-no-prio]\n"
    "Factorises a random N by N matrix, which needs no pivots, in B by B tiles "
    "and prints\nthe time taken.\n"
    "  -size N      order of the matrix, a multiple of B (9600)\n"
    "  -nblocks B   tiles per side (10)\n"
    "  -check       compare L times U with the matrix\n"
    "  -no-prio     give all tasks the same priority\n"
    "example: orrery run -s dmdas -- lu -size 9600 -nblocks 10\n";

struct problem {
    struct tiles tiles;
    unsigned check, no_priorities;
    double b; /* order of a tile */
};

/* The nearer to the end of the longest path, the lower. */
static int priority(const struct problem *p, unsigned behind)
{
    return p->no_priorities ? STARPU_DEFAULT_PRIO
                            : (int)(3 * p->tiles.nblocks) - (int)behind;
}

static void submit_getrf(const struct problem *p, unsigned k)
{
    struct starpu_task *task =
        tiles_task(&cl_getrf, 2.0 / 3 * p->b * p->b * p->b, priority(p, 3 * k));

    task->handles[0] = tile(&p->tiles, k, k);
    tiles_submit(task);
}

/* Solves with tile (k,k) for tile (i,j) of its row or column. */
static void submit_trsm(const struct problem *p, struct starpu_codelet *codelet,
                        unsigned k, unsigned i, unsigned j)
{
    struct starpu_task *task =
        tiles_task(codelet, p->b * p->b * p->b, priority(p, k + i + j));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = tile(&p->tiles, i, j);
    tiles_submit(task);
}

static void submit_gemm(const struct problem *p, unsigned k, unsigned i,
                        unsigned j)
{
    struct starpu_task *task =
        tiles_task(&cl_gemm, 2 * p->b * p->b * p->b, priority(p, k + i + j));

    task->handles[0] = tile(&p->tiles, i, k);
    task->handles[1] = tile(&p->tiles, k, j);
    task->handles[2] = tile(&p->tiles, i, j);
    tiles_submit(task);
}

/* Submits the whole factorisation; the runtime finds the dependencies. */
static void factorise(const struct problem *p)
{
    unsigned n = p->tiles.nblocks;

    for (unsigned k = 0; k < n; k++) {
        submit_getrf(p, k);
        for (unsigned i = k + 1; i < n; i++) {
            submit_trsm(p, &cl_trsm_ll, k, k, i);
            submit_trsm(p, &cl_trsm_ru, k, i, k);
        }
        starpu_data_wont_use(tile(&p->tiles, k, k));
        for (unsigned i = k + 1; i < n; i++)
            for (unsigned j = k + 1; j < n; j++)
                submit_gemm(p, k, i, j);
        for (unsigned i = k + 1; i < n; i++) {
            starpu_data_wont_use(tile(&p->tiles, k, i));
            starpu_data_wont_use(tile(&p->tiles, i, k));
        }
    }
}

static void print_result(unsigned order, double us)
{
    double n = order;

    printf("# size\tms\tGFlop/s\n%u\t%.3f\t%.1f\n", order, us / 1000,
           2.0 / 3 * n * n * n / us / 1000);
    fflush(stdout);
}

/* 0 when the factors are right, or cannot be known. */
static int check(const struct tiles *tiles)
{
    double residual;

    if (!tiles->real_data) {
        printf("# check skipped: simulated kernels compute nothing, "
               "ORRERY_SIM_KERNELS=run runs them\n");
        return 0;
    }
    residual = kernels_residual(tiles->matrix, tiles->order,
                                tiles->order / tiles->nblocks);
    printf("# |A - L*U| / |A| = %.2e: %s\n", residual,
           residual < 1e-5 ? "right" : "WRONG");
    return residual < 1e-5 ? 0 : -1;
}

static int run(struct problem *p)
{
    double start;

    if (tiles_register(&p->tiles) < 0) {
        fprintf(stderr,
                "lu: no memory for a matrix of order %u; "
                "-size takes a smaller one\n",
                p->tiles.order);
        return -1;
    }
    if (p->tiles.real_data && tiles_fill(&p->tiles, &cl_init, false) != 0)
        return -1;
    start = starpu_timing_now();
    factorise(p);
    starpu_task_wait_for_all();
    print_result(p->tiles.order, starpu_timing_now() - start);
    tiles_unregister(&p->tiles);
    return p->check ? check(&p->tiles) : 0;
}

int main(int argc, char **argv)
{
    struct problem p = {.tiles = {.order = 9600, .nblocks = 10}};
    const struct option options[] = {{"-size", &p.tiles.order, 0},
                                     {"-nblocks", &p.tiles.nblocks, 0},
                                     {"-check", &p.check, 1},
                                     {"-no-prio", &p.no_priorities, 1},
                                     {NULL, NULL, 0}};
    int result;

    options_read(argc, argv, options, usage);
    if (p.tiles.order % p.tiles.nblocks != 0) {
        fprintf(stderr,
                "lu: %u blocks do not divide the size %u; take a "
                "multiple of them\n",
                p.tiles.nblocks, p.tiles.order);
        return 2;
    }
    p.b = p.tiles.order / p.tiles.nblocks;
    kernels_single_thread();
    result = starpu_init(NULL);
    if (result != 0) {
        fprintf(stderr, "lu: the runtime does not start: %s\n",
                strerror(-result));
        return EXIT_FAILURE;
    }
    result = run(&p);
    tiles_done(&p.tiles);
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
