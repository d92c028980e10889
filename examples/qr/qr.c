/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * qr.c - tiled QR factorisation, a column of tiles eliminated from top to bottom
 * (Buttari, Langou, Kurzak, Dongarra, A class of parallel tiled linear algebra
 * algorithms for multicore architectures, 2009). One program for every machine: run
 * it as it is, or name a simulated machine with ORRERY_MACHINE or `orrery run -m`.
 */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../options.h"
#include "../tiles.h"

static const char usage[] =
    "usage: qr [-size N] [-nblocks B] [-check] [-no-prio]\n"
    "Factorises a random N by N matrix in B by B tiles and prints the time "
    "taken.\n"
    "  -size N      order of the matrix, a multiple of B (9600)\n"
    "  -nblocks B   tiles per side (10)\n"
    "  -check       compare Q times R with the matrix\n"
    "  -no-prio     give all tasks the same priority\n"
    "example: orrery run -s dmdas -- qr -size 9600 -nblocks 10\n";

struct problem {
    struct tiles tiles;
    struct tiles t; /* the factors T */
    starpu_data_handle_t work;
    unsigned check, no_priorities;
    double b; /* order of a tile */
};

/* The nearer to the end of the longest path, the lower. */
static int priority(const struct problem *p, unsigned behind)
{
    return p->no_priorities ? STARPU_DEFAULT_PRIO
                            : (int)(3 * p->tiles.nblocks) - (int)behind;
}

static void submit_geqrt(const struct problem *p, unsigned k)
{
    struct starpu_task *task =
        tiles_task(&cl_geqrt, 4.0 / 3 * p->b * p->b * p->b, priority(p, 3 * k));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = tile(&p->t, k, k);
    task->handles[2] = p->work;
    tiles_submit(task);
}

/* All of a row are as urgent: the first tpqrt overwrites the R beside the V that
 * they read, and waits for them. */
static void submit_ormqr(const struct problem *p, unsigned k, unsigned j)
{
    struct starpu_task *task =
        tiles_task(&cl_ormqr, 2 * p->b * p->b * p->b, priority(p, 3 * k));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = tile(&p->t, k, k);
    task->handles[2] = tile(&p->tiles, k, j);
    task->handles[3] = p->work;
    tiles_submit(task);
}

static void submit_tpqrt(const struct problem *p, unsigned k, unsigned i)
{
    struct starpu_task *task =
        tiles_task(&cl_tpqrt, 2 * p->b * p->b * p->b, priority(p, 2 * k + i));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = tile(&p->tiles, i, k);
    task->handles[2] = tile(&p->t, i, k);
    task->handles[3] = p->work;
    tiles_submit(task);
}

static void submit_tpmqrt(const struct problem *p, unsigned k, unsigned i,
                          unsigned j)
{
    struct starpu_task *task =
        tiles_task(&cl_tpmqrt, 4 * p->b * p->b * p->b, priority(p, k + i + j));

    task->handles[0] = tile(&p->tiles, i, k);
    task->handles[1] = tile(&p->t, i, k);
    task->handles[2] = tile(&p->tiles, k, j);
    task->handles[3] = tile(&p->tiles, i, j);
    task->handles[4] = p->work;
    tiles_submit(task);
}

/* Row k is R's and column k is V's from now on. */
static void leave_step(const struct problem *p, unsigned k)
{
    starpu_data_wont_use(tile(&p->tiles, k, k));
    starpu_data_wont_use(tile(&p->t, k, k));
    for (unsigned i = k + 1; i < p->tiles.nblocks; i++) {
        starpu_data_wont_use(tile(&p->tiles, k, i));
        starpu_data_wont_use(tile(&p->tiles, i, k));
        starpu_data_wont_use(tile(&p->t, i, k));
    }
}

/* Submits the whole factorisation; the runtime finds the dependencies. */
static void factorise(const struct problem *p)
{
    unsigned n = p->tiles.nblocks;

    for (unsigned k = 0; k < n; k++) {
        submit_geqrt(p, k);
        for (unsigned j = k + 1; j < n; j++)
            submit_ormqr(p, k, j);
        for (unsigned i = k + 1; i < n; i++) {
            submit_tpqrt(p, k, i);
            for (unsigned j = k + 1; j < n; j++)
                submit_tpmqrt(p, k, i, j);
        }
        leave_step(p, k);
    }
}

static void print_result(unsigned order, double us)
{
    double n = order;

    printf("# size\tms\tGFlop/s\n%u\t%.3f\t%.1f\n", order, us / 1000,
           4.0 / 3 * n * n * n / us / 1000);
    fflush(stdout);
}

/* 0 when the factors are right, or cannot be known. */
static int check(const struct problem *p)
{
    double residual;

    if (!p->tiles.real_data) {
        printf("# check skipped: simulated kernels compute nothing, "
               "ORRERY_SIM_KERNELS=run runs them\n");
        return 0;
    }
    residual = kernels_residual(p->tiles.matrix, p->t.matrix, p->tiles.order,
                                p->tiles.order / p->tiles.nblocks);
    printf("# |A - Q*R| / |A| = %.2e: %s\n", residual,
           residual < 1e-5 ? "right" : "WRONG");
    return residual < 1e-5 ? 0 : -1;
}

/* Registers what the tasks work on. 0, or -1 with a message. */
static int prepare(struct problem *p)
{
    unsigned b = p->tiles.order / p->tiles.nblocks, inner = kernels_inner(b);

    p->t.order = p->tiles.order;
    p->t.nblocks = p->tiles.nblocks;
    p->t.rows = inner * p->tiles.nblocks;
    if (tiles_register(&p->tiles) < 0 || tiles_register(&p->t) < 0) {
        fprintf(stderr,
                "qr: no memory for a matrix of order %u; "
                "-size takes a smaller one\n",
                p->tiles.order);
        return -1;
    }
    /* Scratch: each worker has its own, made where it runs. */
    starpu_matrix_data_register(&p->work, -1, 0, inner, inner, b,
                                sizeof(float));
    return 0;
}

static int run(struct problem *p)
{
    double start;

    if (prepare(p) < 0)
        return -1;
    if (p->tiles.real_data && tiles_fill(&p->tiles, &cl_init, false) != 0)
        return -1;
    start = starpu_timing_now();
    factorise(p);
    starpu_task_wait_for_all();
    print_result(p->tiles.order, starpu_timing_now() - start);
    starpu_data_unregister(p->work);
    tiles_unregister(&p->t);
    tiles_unregister(&p->tiles);
    return p->check ? check(p) : 0;
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
                "qr: %u blocks do not divide the size %u; take a "
                "multiple of them\n",
                p.tiles.nblocks, p.tiles.order);
        return 2;
    }
    p.b = p.tiles.order / p.tiles.nblocks;
    kernels_single_thread();
    result = starpu_init(NULL);
    if (result != 0) {
        fprintf(stderr, "qr: the runtime does not start: %s\n",
                strerror(-result));
        return EXIT_FAILURE;
    }
    result = run(&p);
    tiles_done(&p.t);
    tiles_done(&p.tiles);
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
