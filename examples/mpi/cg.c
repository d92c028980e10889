/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cg.c - conjugate gradients: solves A·x = b for a dense, symmetric, positive definite A in
 * blocks, on several ranks.
 *
 * A product A·p is a sum over blocks of a row, which several ranks own. Each task that has a
 * block adds to the part of the result: with STARPU_REDUX, tasks do so side by side, each
 * to a copy that began as zero, and starpu_mpi_redux_data adds the copies of all ranks in
 * the owner's. With STARPU_MPI_REDUX (-by-ranks) there is a copy per rank instead of one per
 * worker, and tasks of a rank take turns. Scalar products are sums over the ranks alike.
 *
 * Scalars are data, too: tasks read them where they need them, and nobody waits for a
 * value but at the end of an iteration, where all ranks look whether to go on.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] =
    "usage: mpirun -n RANKS cg [-size N] [-nblocks B] [-steps S] [-by-ranks] [-check]\n"
    "Solves a system of N equations (512) in B by B blocks (8), in S steps (100) at most.\n"
    "  -by-ranks   a partial sum per rank instead of one per worker\n"
    "  -check      compare with the solution, which is known\n";

static const double tolerance = 1e-10; /* of the residual, beside its first one */

/* --- the system --- */

static double element(unsigned i, unsigned j)
{
    return i == j ? 8 : 1 / (1 + fabs((double)i - (double)j));
}

static double solution(unsigned i)
{
    return 1 + i % 7;
}

/* --- kernels --- */

#define VECTOR(buffer) ((double *)STARPU_VECTOR_GET_PTR(buffer))
#define LENGTH(buffer) STARPU_VECTOR_GET_NX(buffer)
#define SCALAR(buffer) (*(double *)STARPU_VARIABLE_GET_PTR(buffer))

/* Block (i,j) of A. */
static void fill_block(void *buffers[], void *arg)
{
    double *block = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    unsigned n = STARPU_MATRIX_GET_NX(buffers[0]), i, j;

    starpu_codelet_unpack_args(arg, &i, &j);
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++)
            block[x + (size_t)y * n] = element(i * n + x, j * n + y);
}

/* Part i of b = A·solution, and of r = p = b, as x begins as 0. */
static void fill_parts(void *buffers[], void *arg)
{
    unsigned n = LENGTH(buffers[0]), i, order;

    starpu_codelet_unpack_args(arg, &i, &order);
    for (unsigned e = 0; e < n; e++) {
        double sum = 0;

        for (unsigned k = 0; k < order; k++)
            sum += element(i * n + e, k) * solution(k);
        VECTOR(buffers[0])[e] = VECTOR(buffers[1])[e] = sum;
        VECTOR(buffers[2])[e] = 0;
    }
}

static void zero_vector(void *buffers[], void *arg)
{
    (void)arg;
    memset(VECTOR(buffers[0]), 0, LENGTH(buffers[0]) * sizeof(double));
}

static void add_vector(void *buffers[], void *arg)
{
    (void)arg;
    for (unsigned e = 0; e < LENGTH(buffers[0]); e++)
        VECTOR(buffers[0])[e] += VECTOR(buffers[1])[e];
}

static void zero_scalar(void *buffers[], void *arg)
{
    (void)arg;
    SCALAR(buffers[0]) = 0;
}

static void add_scalar(void *buffers[], void *arg)
{
    (void)arg;
    SCALAR(buffers[0]) += SCALAR(buffers[1]);
}

/* q += block · p */
static void multiply(void *buffers[], void *arg)
{
    const double *block = (const double *)STARPU_MATRIX_GET_PTR(buffers[1]);
    unsigned n = LENGTH(buffers[0]);

    (void)arg;
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++)
            VECTOR(buffers[0])[x] += block[x + (size_t)y * n] * VECTOR(buffers[2])[y];
}

/* sum += u · v */
static void dot(void *buffers[], void *arg)
{
    (void)arg;
    for (unsigned e = 0; e < LENGTH(buffers[1]); e++)
        SCALAR(buffers[0]) += VECTOR(buffers[1])[e] * VECTOR(buffers[2])[e];
}

/* x += α·p, r −= α·q with α = rr / pq */
static void advance(void *buffers[], void *arg)
{
    double alpha = SCALAR(buffers[4]) / SCALAR(buffers[5]);

    (void)arg;
    for (unsigned e = 0; e < LENGTH(buffers[0]); e++) {
        VECTOR(buffers[0])[e] += alpha * VECTOR(buffers[2])[e];
        VECTOR(buffers[1])[e] -= alpha * VECTOR(buffers[3])[e];
    }
}

/* p = r + β·p with β = rr / rr before */
static void turn(void *buffers[], void *arg)
{
    double beta = SCALAR(buffers[2]) / SCALAR(buffers[3]);

    (void)arg;
    for (unsigned e = 0; e < LENGTH(buffers[0]); e++)
        VECTOR(buffers[0])[e] = VECTOR(buffers[1])[e] + beta * VECTOR(buffers[0])[e];
}

static void copy_scalar(void *buffers[], void *arg)
{
    (void)arg;
    SCALAR(buffers[0]) = SCALAR(buffers[1]);
}

/* Modes of accesses that tasks of a rank make one by one in any order. */
#define IN_TURNS (STARPU_RW | STARPU_COMMUTE)

static struct starpu_codelet cl_fill_block = {
    .cpu_funcs = {fill_block}, .nbuffers = 1, .modes = {STARPU_W}, .name = "fill_block"};
static struct starpu_codelet cl_fill_parts = {.cpu_funcs = {fill_parts},
                                              .nbuffers = 3,
                                              .modes = {STARPU_W, STARPU_W, STARPU_W},
                                              .name = "fill_parts"};
static struct starpu_codelet cl_zero_vector = {
    .cpu_funcs = {zero_vector}, .nbuffers = 1, .modes = {STARPU_W}, .name = "zero_vector"};
static struct starpu_codelet cl_add_vector = {.cpu_funcs = {add_vector},
                                              .nbuffers = 2,
                                              .modes = {IN_TURNS, STARPU_R},
                                              .name = "add_vector"};
static struct starpu_codelet cl_zero_scalar = {
    .cpu_funcs = {zero_scalar}, .nbuffers = 1, .modes = {STARPU_W}, .name = "zero_scalar"};
static struct starpu_codelet cl_add_scalar = {.cpu_funcs = {add_scalar},
                                              .nbuffers = 2,
                                              .modes = {IN_TURNS, STARPU_R},
                                              .name = "add_scalar"};
/* By workers, and by ranks. */
static struct starpu_codelet cl_multiply[2] = {
    {.cpu_funcs = {multiply},
     .nbuffers = 3,
     .modes = {STARPU_REDUX, STARPU_R, STARPU_R},
     .name = "multiply"},
    {.cpu_funcs = {multiply},
     .nbuffers = 3,
     .modes = {IN_TURNS, STARPU_R, STARPU_R},
     .name = "multiply"}};
static struct starpu_codelet cl_dot[2] = {{.cpu_funcs = {dot},
                                           .nbuffers = 3,
                                           .modes = {STARPU_REDUX, STARPU_R, STARPU_R},
                                           .name = "dot"},
                                          {.cpu_funcs = {dot},
                                           .nbuffers = 3,
                                           .modes = {IN_TURNS, STARPU_R, STARPU_R},
                                           .name = "dot"}};
static struct starpu_codelet cl_advance = {
    .cpu_funcs = {advance},
    .nbuffers = 6,
    .modes = {STARPU_RW, STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R},
    .name = "advance"};
static struct starpu_codelet cl_turn = {
    .cpu_funcs = {turn},
    .nbuffers = 4,
    .modes = {STARPU_RW, STARPU_R, STARPU_R, STARPU_R},
    .name = "turn"};
static struct starpu_codelet cl_copy_scalar = {.cpu_funcs = {copy_scalar},
                                               .nbuffers = 2,
                                               .modes = {STARPU_W, STARPU_R},
                                               .name = "copy_scalar"};

/* --- data: the run allocates them where they are written first --- */

enum { X, R, P, Q, VECTORS };

struct system {
    unsigned order, nblocks, by_ranks;
    starpu_data_handle_t *blocks;           /* (i,j) at i + j * nblocks */
    starpu_data_handle_t *parts[VECTORS];
    starpu_data_handle_t rr, pq, rr_before; /* of rank 0 */
};

static starpu_mpi_tag_t next_tag;

static int rank_of(unsigned i)
{
    return (int)(i % (unsigned)starpu_mpi_world_size());
}

static void make_scalar(starpu_data_handle_t *ret)
{
    starpu_variable_data_register(ret, -1, 0, sizeof(double));
    starpu_mpi_data_register(*ret, next_tag++, 0);
    starpu_data_set_reduction_methods(*ret, &cl_add_scalar, &cl_zero_scalar);
}

static starpu_data_handle_t *new_handles(size_t n)
{
    starpu_data_handle_t *handles = calloc(n, sizeof(*handles));

    if (handles)
        return handles;
    fprintf(stderr, "cg: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return NULL;
}

/* Blocks of a row belong to several ranks: the one after the last one's in each row. */
static void make_system(struct system *s)
{
    unsigned b = s->nblocks, n = s->order / b;

    s->blocks = new_handles((size_t)b * b);
    for (unsigned j = 0; j < b; j++)
        for (unsigned i = 0; i < b; i++) {
            starpu_data_handle_t *block = &s->blocks[i + (size_t)j * b];

            starpu_matrix_data_register(block, -1, 0, n, n, n, sizeof(double));
            starpu_mpi_data_register(*block, next_tag++, rank_of(i + j));
        }
    for (int v = 0; v < VECTORS; v++) {
        s->parts[v] = new_handles(b);
        for (unsigned i = 0; i < b; i++) {
            starpu_vector_data_register(&s->parts[v][i], -1, 0, n, sizeof(double));
            starpu_mpi_data_register(s->parts[v][i], next_tag++, rank_of(i));
            starpu_data_set_reduction_methods(s->parts[v][i], &cl_add_vector,
                                              &cl_zero_vector);
        }
    }
    make_scalar(&s->rr);
    make_scalar(&s->pq);
    make_scalar(&s->rr_before);
}

static void free_system(struct system *s)
{
    for (size_t i = 0; i < (size_t)s->nblocks * s->nblocks; i++)
        starpu_data_unregister(s->blocks[i]);
    free(s->blocks);
    for (int v = 0; v < VECTORS; v++) {
        for (unsigned i = 0; i < s->nblocks; i++)
            starpu_data_unregister(s->parts[v][i]);
        free(s->parts[v]);
    }
    starpu_data_unregister(s->rr);
    starpu_data_unregister(s->pq);
    starpu_data_unregister(s->rr_before);
}

/* --- the method --- */

static void must(int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "cg: no worker can run its tasks\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void insert_fill(const struct system *s)
{
    unsigned b = s->nblocks;

    for (unsigned j = 0; j < b; j++)
        for (unsigned i = 0; i < b; i++)
            must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_fill_block, STARPU_VALUE, &i,
                                        sizeof(i), STARPU_VALUE, &j, sizeof(j), STARPU_W,
                                        s->blocks[i + (size_t)j * b], 0));
    for (unsigned i = 0; i < b; i++)
        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_fill_parts, STARPU_VALUE, &i,
                                    sizeof(i), STARPU_VALUE, &s->order, sizeof(s->order),
                                    STARPU_W, s->parts[R][i], STARPU_W, s->parts[P][i],
                                    STARPU_W, s->parts[X][i], 0));
}

/* sum = u · v, each part where u's is */
static void insert_dot(const struct system *s, starpu_data_handle_t sum,
                       const starpu_data_handle_t *u, const starpu_data_handle_t *v)
{
    int mode = s->by_ranks ? (int)STARPU_MPI_REDUX : (int)STARPU_REDUX;

    must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_zero_scalar, STARPU_W, sum, 0));
    for (unsigned i = 0; i < s->nblocks; i++)
        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_dot[s->by_ranks], mode, sum,
                                    STARPU_R, u[i], STARPU_R, v[i],
                                    STARPU_EXECUTE_ON_DATA, u[i], 0));
    starpu_mpi_redux_data(MPI_COMM_WORLD, sum);
}

/* q = A · p, each product where the block is */
static void insert_product(const struct system *s)
{
    unsigned b = s->nblocks;
    int mode = s->by_ranks ? (int)STARPU_MPI_REDUX : (int)STARPU_REDUX;

    for (unsigned i = 0; i < b; i++) {
        starpu_data_handle_t q = s->parts[Q][i];

        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_zero_vector, STARPU_W, q, 0));
        for (unsigned j = 0; j < b; j++) {
            starpu_data_handle_t block = s->blocks[i + (size_t)j * b];

            must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_multiply[s->by_ranks], mode, q,
                                        STARPU_R, block, STARPU_R, s->parts[P][j],
                                        STARPU_EXECUTE_ON_DATA, block, 0));
        }
        starpu_mpi_redux_data(MPI_COMM_WORLD, q);
    }
}

static void insert_step(const struct system *s)
{
    insert_product(s);
    insert_dot(s, s->pq, s->parts[P], s->parts[Q]);
    for (unsigned i = 0; i < s->nblocks; i++)
        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_advance, STARPU_RW, s->parts[X][i],
                                    STARPU_RW, s->parts[R][i], STARPU_R, s->parts[P][i],
                                    STARPU_R, s->parts[Q][i], STARPU_R, s->rr, STARPU_R,
                                    s->pq, 0));
    must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_copy_scalar, STARPU_W, s->rr_before,
                                STARPU_R, s->rr, 0));
    insert_dot(s, s->rr, s->parts[R], s->parts[R]);
    for (unsigned i = 0; i < s->nblocks; i++)
        must(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_turn, STARPU_RW, s->parts[P][i],
                                    STARPU_R, s->parts[R][i], STARPU_R, s->rr, STARPU_R,
                                    s->rr_before, 0));
}

/* The value on every rank, which all wait for. */
static double value_of(starpu_data_handle_t scalar)
{
    double value;

    starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, scalar);
    starpu_data_acquire(scalar, STARPU_R);
    value = *(const double *)starpu_data_get_local_ptr(scalar);
    starpu_data_release(scalar);
    return value;
}

/* Whether this rank's parts of x are those of the solution. */
static int check(const struct system *s)
{
    unsigned n = s->order / s->nblocks;
    double worst = 0;

    for (unsigned i = 0; i < s->nblocks; i++) {
        const double *x;

        if (rank_of(i) != starpu_mpi_world_rank())
            continue;
        starpu_data_acquire(s->parts[X][i], STARPU_R);
        x = (const double *)starpu_data_get_local_ptr(s->parts[X][i]);
        for (unsigned e = 0; e < n; e++)
            worst = fmax(worst, fabs(x[e] - solution(i * n + e)));
        starpu_data_release(s->parts[X][i]);
    }
    if (worst < 1e-6)
        return 0;
    printf("# rank %d: largest difference = %.1e: WRONG\n", starpu_mpi_world_rank(), worst);
    return -1;
}

int main(int argc, char **argv)
{
    struct system s = {.order = 512, .nblocks = 8};
    unsigned steps = 100, wants_check = 0, done = 0;
    const struct option options[] = {{"-size", &s.order, 0},
                                     {"-nblocks", &s.nblocks, 0},
                                     {"-steps", &steps, 0},
                                     {"-by-ranks", &s.by_ranks, 1},
                                     {"-check", &wants_check, 1},
                                     {NULL, NULL, 0}};
    double start, first, rest;
    int result = 0;

    options_read(argc, argv, options, usage);
    if (s.order % s.nblocks != 0) {
        fprintf(stderr, "cg: -size must be a multiple of -nblocks\n");
        return 2;
    }
    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0) {
        fprintf(stderr, "cg: the runtime does not start\n");
        return EXIT_FAILURE;
    }
    make_system(&s);
    insert_fill(&s);
    insert_dot(&s, s.rr, s.parts[R], s.parts[R]);
    start = starpu_timing_now();
    first = rest = value_of(s.rr);
    /* Simulated without kernels there is no residual to look at. */
    for (; done < steps &&
           (!orrery_runs_kernels() || sqrt(rest / first) > tolerance);
         done++) {
        insert_step(&s);
        rest = value_of(s.rr);
    }
    if (starpu_mpi_world_rank() == 0)
        printf("# size\tsteps\tresidual\tms\n%u\t%u\t%.1e\t%.3f\n", s.order, done,
               sqrt(rest / first), (starpu_timing_now() - start) / 1e3);
    if (wants_check)
        result = check(&s);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    free_system(&s);
    starpu_mpi_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
