/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * qr.c - QR factorisation by tiles (Buttari, Langou, Kurzak and Dongarra, 2009), in
 * a flat tree: the tiles below the diagonal are taken in one after the other. One
 * program for every machine: run it as it is, or name a simulated machine with
 * ORRERY_MACHINE or `orrery run -m`.
 */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../options.h"
#include "../tiles.h"

static const char usage[] =
    "usage: qr [-size N] [-nblocks B] [-check] [-no-prio]\n"
    "Factorises a random N by N matrix in B by B tiles and prints the time taken.\n"
    "  -size N      order of the matrix, a multiple of B (3840)\n"
    "  -nblocks B   tiles per side (8)\n"
    "  -check       compare R'R with A'A\n"
    "  -no-prio     give all tasks the same priority\n"
    "example: orrery run -s dmdas -- qr -size 3840 -nblocks 8\n";

struct problem {
    struct tiles tiles;
    unsigned check, no_priorities;
    double b3;                 /* cube of the order of a tile */
    starpu_data_handle_t *t;   /* T(i,k) at i + k * nblocks, i >= k */
    starpu_data_handle_t work; /* scratch memory of the size of a tile */
};

/* The nearer to the end of the longest path, the lower. */
static int priority(const struct problem *p, unsigned behind)
{
    return p->no_priorities ? STARPU_DEFAULT_PRIO
                            : (int)(3 * p->tiles.nblocks) - (int)behind;
}

static starpu_data_handle_t t_of(const struct problem *p, unsigned i,
                                 unsigned k)
{
    return p->t[i + (size_t)k * p->tiles.nblocks];
}

static void submit_geqrt(const struct problem *p, unsigned k)
{
    struct starpu_task *task =
        tiles_task(&cl_geqrt, 5.0 / 3 * p->b3, priority(p, 3 * k));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = t_of(p, k, k);
    tiles_submit(task);
}

static void submit_ormqr(const struct problem *p, unsigned k, unsigned j)
{
    struct starpu_task *task =
        tiles_task(&cl_ormqr, 3 * p->b3, priority(p, 2 * k + j));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = t_of(p, k, k);
    task->handles[2] = tile(&p->tiles, k, j);
    task->handles[3] = p->work;
    tiles_submit(task);
}

static void submit_tsqrt(const struct problem *p, unsigned k, unsigned i)
{
    struct starpu_task *task =
        tiles_task(&cl_tsqrt, 3 * p->b3, priority(p, 2 * k + i));

    task->handles[0] = tile(&p->tiles, k, k);
    task->handles[1] = tile(&p->tiles, i, k);
    task->handles[2] = t_of(p, i, k);
    tiles_submit(task);
}

static void submit_tsmqr(const struct problem *p, unsigned k, unsigned i,
                         unsigned j)
{
    struct starpu_task *task =
        tiles_task(&cl_tsmqr, 5 * p->b3, priority(p, k + i + j));

    task->handles[0] = tile(&p->tiles, i, k);
    task->handles[1] = t_of(p, i, k);
    task->handles[2] = tile(&p->tiles, k, j);
    task->handles[3] = tile(&p->tiles, i, j);
    task->handles[4] = p->work;
    tiles_submit(task);
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
            submit_tsqrt(p, k, i);
            for (unsigned j = k + 1; j < n; j++)
                submit_tsmqr(p, k, i, j);
        }
    }
}

/* What is not in the matrix: no memory before it is written. 0, or -1 when memory
 * is short. */
static int register_more(struct problem *p)
{
    unsigned n = p->tiles.nblocks, b = p->tiles.order / n;

    p->t = calloc((size_t)n * n, sizeof(*p->t));
    if (!p->t)
        return -1;
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = k; i < n; i++)
            starpu_matrix_data_register(&p->t[i + (size_t)k * n], -1, 0, b, b,
                                        b, sizeof(float));
    starpu_matrix_data_register(&p->work, -1, 0, b, b, b, sizeof(float));
    return 0;
}

static void unregister_more(struct problem *p)
{
    unsigned n = p->tiles.nblocks;

    for (unsigned k = 0; k < n; k++)
        for (unsigned i = k; i < n; i++)
            starpu_data_unregister_no_coherency(t_of(p, i, k));
    starpu_data_unregister(p->work);
}

static void print_result(unsigned order, double us)
{
    double n = order;

    printf("# size\tms\tGFlop/s\n%u\t%.3f\t%.1f\n", order, us / 1000,
           4.0 / 3 * n * n * n / us / 1000);
    fflush(stdout);
}

/* 0 when R is right, or cannot be known. */
static int check(const struct tiles *tiles)
{
    double residual;

    if (!tiles->real_data) {
        printf("# check skipped: simulated kernels compute nothing, "
               "ORRERY_SIM_KERNELS=run runs them\n");
        return 0;
    }
    residual = kernels_residual(tiles->matrix, tiles->order);
    printf("# |A'A - R'R| / |A'A| = %.2e: %s\n", residual,
           residual < 1e-5 ? "right" : "WRONG");
    return residual < 1e-5 ? 0 : -1;
}

static int run(struct problem *p)
{
    double start;

    if (tiles_register(&p->tiles) < 0 || register_more(p) < 0) {
        fprintf(stderr,
                "qr: no memory for a matrix of order %u; "
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
    unregister_more(p);
    tiles_unregister(&p->tiles);
    return p->check ? check(&p->tiles) : 0;
}

int main(int argc, char **argv)
{
    struct problem p = {.tiles = {.order = 3840, .nblocks = 8}};
    const struct option options[] = {{"-size", &p.tiles.order, 0},
                                     {"-nblocks", &p.tiles.nblocks, 0},
                                     {"-check", &p.check, 1},
                                     {"-no-prio", &p.no_priorities, 1},
                                     {NULL, NULL, 0}};
    double b;
    int result;

    options_read(argc, argv, options, usage);
    if (p.tiles.order % p.tiles.nblocks != 0) {
        fprintf(stderr,
                "qr: %u blocks do not divide the size %u; take a "
                "multiple of them\n",
                p.tiles.nblocks, p.tiles.order);
        return 2;
    }
    b = p.tiles.order / p.tiles.nblocks;
    p.b3 = b * b * b;
    kernels_single_thread();
    result = starpu_init(NULL);
    if (result != 0) {
        fprintf(stderr, "qr: the runtime does not start: %s\n",
                strerror(-result));
        return EXIT_FAILURE;
    }
    result = run(&p);
    tiles_done(&p.tiles);
    free(p.t);
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
