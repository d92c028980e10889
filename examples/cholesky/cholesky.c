/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cholesky.c - tiled Cholesky factorisation of a symmetric positive definite
 * matrix. One program for every machine: run it as it is, or name a simulated
 * machine with ORRERY_MACHINE or `orrery run -m`.
 */
#include "kernels.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tiles.h"

struct options {
    unsigned size;    /* order of the matrix */
    unsigned nblocks; /* tiles per side */
    bool check;
    bool priorities;
    bool warm;
};

struct problem {
    struct options options;
    struct tiles tiles;
    bool unbounded; /* the scheduler takes any priority */
    int max_priority;
};

static const char usage[] =
    "usage: cholesky [-size N] [-nblocks B] [-check] [-no-prio] [-warm]\n"
    "Factorises a random N by N matrix in B by B tiles and prints the time "
    "taken.\n"
    "  -size N      order of the matrix, a multiple of B (9600)\n"
    "  -nblocks B   tiles per side (10)\n"
    "  -check       compare L times its transpose with the matrix\n"
    "  -no-prio     give all tasks the same priority\n"
    "  -warm        run each kernel on each worker once before the time is "
    "taken\n"
    "example: orrery run -s dmdas -- cholesky -size 9600 -nblocks 10\n";

/* The priority of a task: its own value where the scheduler takes any, else the
 * highest one on the critical path and the default elsewhere. */
static int priority(const struct problem *problem, int own, bool critical)
{
    if (!problem->options.priorities)
        return STARPU_DEFAULT_PRIO;
    if (problem->unbounded)
        return own;
    return critical ? problem->max_priority : STARPU_DEFAULT_PRIO;
}

static void submit_potrf(const struct problem *problem, unsigned k, double b)
{
    int n = (int)problem->options.nblocks;
    struct starpu_task *task =
        tiles_task(&cl_potrf, b * b * b / 3 + b * b / 2 + b / 6,
                   priority(problem, 2 * n - 2 * (int)k, true));

    task->handles[0] = tile(&problem->tiles, k, k);
    tiles_submit(task);
}

static void submit_trsm(const struct problem *problem, unsigned k, unsigned m,
                        double b)
{
    int n = (int)problem->options.nblocks;
    struct starpu_task *task =
        tiles_task(&cl_trsm, b * b * b,
                   priority(problem, 2 * n - 2 * (int)k - (int)m, m == k + 1));

    task->handles[0] = tile(&problem->tiles, k, k);
    task->handles[1] = tile(&problem->tiles, m, k);
    tiles_submit(task);
}

static void submit_syrk(const struct problem *problem, unsigned k, unsigned n,
                        double b)
{
    int tiles = (int)problem->options.nblocks;
    struct starpu_task *task = tiles_task(
        &cl_syrk, b * b * (b + 1),
        priority(problem, 2 * tiles - 2 * (int)k - (int)n, n == k + 1));

    task->handles[0] = tile(&problem->tiles, n, k);
    task->handles[1] = tile(&problem->tiles, n, n);
    tiles_submit(task);
}

static void submit_gemm(const struct problem *problem, unsigned k, unsigned m,
                        unsigned n, double b)
{
    int tiles = (int)problem->options.nblocks;
    struct starpu_task *task = tiles_task(
        &cl_gemm, 2 * b * b * b,
        priority(problem, 2 * tiles - 2 * (int)k - (int)m - (int)n, false));

    task->handles[0] = tile(&problem->tiles, m, k);
    task->handles[1] = tile(&problem->tiles, n, k);
    task->handles[2] = tile(&problem->tiles, m, n);
    tiles_submit(task);
}

/* A codelet on one worker; without a model, as it is no measure. */
static void submit_warm(struct starpu_codelet cl, unsigned worker,
                        const starpu_data_handle_t *data)
{
    struct starpu_task *task = starpu_task_create();

    cl.model = NULL;
    cl.name = "warm-up";
    task->cl = &cl;
    memcpy(task->handles, data, (size_t)cl.nbuffers * sizeof(*data));
    task->execute_on_a_specific_worker = 1;
    task->workerid = worker;
    task->synchronous = 1;
    tiles_submit(task);
}

/* Devices load or compile a kernel, and libraries make their tables, when it runs
 * for the first time, on tiles of this order. On unit matrices. */
static void warm_up(unsigned order)
{
    starpu_data_handle_t data[3];
    float *tiles = calloc(3 * (size_t)order * order, sizeof(*tiles));

    for (size_t i = 0; tiles && i < 3 * (size_t)order; i++)
        tiles[i / order * order * order + i % order * (order + 1)] = 1;
    for (size_t i = 0; tiles && i < 3; i++)
        starpu_matrix_data_register(
            &data[i], STARPU_MAIN_RAM, (uintptr_t)(tiles + i * order * order),
            order, order, order, sizeof(*tiles));
    for (unsigned w = 0; tiles && w < starpu_worker_get_count(); w++) {
        submit_warm(cl_potrf, w, data);
        submit_warm(cl_trsm, w, data);
        submit_warm(cl_syrk, w, data);
        submit_warm(cl_gemm, w, data);
    }
    for (size_t i = 0; tiles && i < 3; i++)
        starpu_data_unregister(data[i]);
    free(tiles);
}

/* Submits the whole factorisation; the runtime finds the dependencies. */
static void factorise(const struct problem *problem)
{
    unsigned tiles = problem->options.nblocks;
    double b = problem->options.size / tiles;

    for (unsigned k = 0; k < tiles; k++) {
        submit_potrf(problem, k, b);
        for (unsigned m = k + 1; m < tiles; m++)
            submit_trsm(problem, k, m, b);
        starpu_data_wont_use(tile(&problem->tiles, k, k));
        for (unsigned n = k + 1; n < tiles; n++) {
            submit_syrk(problem, k, n, b);
            for (unsigned m = n + 1; m < tiles; m++)
                submit_gemm(problem, k, m, n, b);
            starpu_data_wont_use(tile(&problem->tiles, n, k));
        }
    }
}

static void print_result(const struct options *options, double us)
{
    double n = options->size;
    double flops = n * n * n / 3 + n * n / 2 + n / 6;

    printf("# size\tms\tGFlop/s\n%u\t%.3f\t%.1f\n", options->size, us / 1000,
           flops / us / 1000);
    fflush(stdout);
}

/* 0 when the factor is right, or cannot be known. */
static int check(const struct problem *problem)
{
    const struct options *options = &problem->options;
    double residual;

    if (!problem->tiles.real_data) {
        printf("# check skipped: simulated kernels compute nothing, "
               "ORRERY_SIM_KERNELS=run runs them\n");
        return 0;
    }
    residual = kernels_residual(problem->tiles.matrix, options->size,
                                options->size / options->nblocks);
    printf("# |A - L*L^T| / |A| = %.2e: %s\n", residual,
           residual < 1e-5 ? "right" : "WRONG");
    return residual < 1e-5 ? 0 : -1;
}

static int run(struct problem *problem)
{
    const struct options *options = &problem->options;
    double start;

    problem->tiles.order = options->size;
    problem->tiles.nblocks = options->nblocks;
    if (tiles_register(&problem->tiles) < 0) {
        fprintf(stderr,
                "cholesky: no memory for a matrix of order %u; "
                "-size takes a smaller one\n",
                options->size);
        return -1;
    }
    if (problem->tiles.real_data &&
        tiles_fill(&problem->tiles, &cl_init, true) != 0)
        return -1;
    if (options->warm && problem->tiles.real_data)
        warm_up(options->size / options->nblocks);
    start = starpu_timing_now();
    factorise(problem);
    starpu_task_wait_for_all();
    print_result(options, starpu_timing_now() - start);
    tiles_unregister(&problem->tiles);
    return options->check ? check(problem) : 0;
}

/* The number after an option, 0 when it is none. */
static unsigned number(const char *text)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;

    return text && *text && !*end && value > 0 && value <= 1 << 20
               ? (unsigned)value
               : 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    for (int a = 1; a < argc; a++) {
        if (!strcmp(argv[a], "-size"))
            options->size = number(a + 1 < argc ? argv[++a] : NULL);
        else if (!strcmp(argv[a], "-nblocks"))
            options->nblocks = number(a + 1 < argc ? argv[++a] : NULL);
        else if (!strcmp(argv[a], "-check"))
            options->check = true;
        else if (!strcmp(argv[a], "-no-prio"))
            options->priorities = false;
        else if (!strcmp(argv[a], "-warm"))
            options->warm = true;
        else {
            fprintf(stderr, "cholesky: unknown option %s\n%s", argv[a], usage);
            return -1;
        }
    }
    if (options->size && options->nblocks &&
        options->size % options->nblocks == 0)
        return 0;
    fprintf(stderr, "cholesky: -size and -nblocks take whole numbers from 1 "
                    "on, and the size must be a multiple of the blocks\n");
    return -1;
}

int main(int argc, char **argv)
{
    struct problem problem = {
        .options = {.size = 9600, .nblocks = 10, .priorities = true}};
    int result;

    for (int a = 1; a < argc; a++)
        if (!strcmp(argv[a], "-h") || !strcmp(argv[a], "--help")) {
            fputs(usage, stdout);
            return EXIT_SUCCESS;
        }
    if (parse(argc, argv, &problem.options) < 0)
        return 2;
    kernels_single_thread();
    result = starpu_init(NULL);
    if (result != 0) {
        fprintf(stderr, "cholesky: the runtime does not start: %s\n",
                strerror(-result));
        return EXIT_FAILURE;
    }
    if (kernels_load() != 0) {
        starpu_shutdown();
        return EXIT_FAILURE;
    }
#ifdef WITH_CUDA
    kernels_cuda_load();
#endif
    problem.max_priority = starpu_sched_get_max_priority();
    problem.unbounded = problem.max_priority == INT_MAX;
    result = run(&problem);
    tiles_done(&problem.tiles);
#ifdef WITH_CUDA
    kernels_cuda_unload();
#endif
    kernels_unload();
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
