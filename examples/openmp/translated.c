/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * translated.c - the programs of source.c as a compiler translates their directives:
 * a function for each region and each task, a structure for the variables that it
 * shares or copies, calls of starpu_omp_*.
 */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "programs.h"

/* A compiler makes these a constructor and a destructor. */
void begin(void)
{
    if (starpu_omp_init() != 0)
        exit(77);
}

void end(void)
{
    starpu_omp_shutdown();
}

/* -- what the compiler puts for each directive -- */

typedef void (*outlined_t)(void *buffers[], void *args);

/* #pragma omp parallel num_threads(threads) */
static void parallel(int threads, outlined_t body, void *args)
{
    struct starpu_omp_parallel_region_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = body;
    attr.cl.where = STARPU_CPU;
    attr.cl_arg = args;
    attr.if_clause = 1;
    attr.num_threads = threads;
    starpu_omp_parallel_region(&attr);
}

/* #pragma omp task; a copy of the arguments is the task's. */
struct dependence {
    void *address;
    enum starpu_data_access_mode mode;
    size_t size;
};

static starpu_data_handle_t handle_of(const struct dependence *depend)
{
    starpu_data_handle_t handle = starpu_omp_data_lookup(depend->address);

    if (!handle) {
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM,
                                    (uintptr_t)depend->address,
                                    (uint32_t)depend->size, 1);
        starpu_omp_handle_register(handle);
    }
    return handle;
}

static void task(outlined_t body, const void *args, size_t size, int is_final,
                 const struct dependence *depends, int n)
{
    struct starpu_omp_task_region_attr attr;
    starpu_data_handle_t handles[STARPU_NMAXBUFS];

    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = body;
    attr.cl.where = STARPU_CPU;
    attr.cl.nbuffers = n;
    for (int i = 0; i < n; i++) {
        handles[i] = handle_of(&depends[i]);
        attr.cl.modes[i] = depends[i].mode;
    }
    attr.handles = handles;
    attr.cl_arg_size = size;
    attr.cl_arg_free = 1;
    attr.cl_arg = malloc(size);
    if (!attr.cl_arg)
        abort();
    memcpy(attr.cl_arg, args, size);
    attr.if_clause = 1;
    attr.final_clause = is_final;
    attr.untied_clause = 1;
    starpu_omp_task_region(&attr);
}

/* -- dot: parallel for reduction -- */

struct dot {
    int n;
    const double *x, *y;
    double sum;
};

static void dot_region(void *buffers[], void *args)
{
    struct dot *shared = args;
    double sum = 0;
    unsigned long long begin, end;

    (void)buffers;
    if (starpu_omp_for_inline_first_alt(
            (unsigned)shared->n, 0, starpu_omp_sched_static, 0, &begin, &end))
        do
            for (unsigned long long i = begin; i < end; i++)
                sum += shared->x[i] * shared->y[i];
        while (starpu_omp_for_inline_next_alt(
            (unsigned)shared->n, 0, starpu_omp_sched_static, 0, &begin, &end));
    starpu_omp_critical_inline_begin("reduction");
    shared->sum += sum;
    starpu_omp_critical_inline_end("reduction");
    starpu_omp_barrier();
}

double dot(int threads, int n, const double *x, const double *y)
{
    struct dot shared = {n, x, y, 0};

    parallel(threads, dot_region, &shared);
    return shared.sum;
}

/* -- jacobi: single, task depend -- */

struct sweep {
    long *left, *own, *right, *result;
};

static void sweep_task(void *buffers[], void *args)
{
    struct sweep *s = args;

    (void)buffers;
    sweep_block(s->left == s->own ? NULL : s->left, s->own,
                s->right == s->own ? NULL : s->right, s->result);
}

struct jacobi {
    int nblocks, nsweeps;
    long *x, *y;
};

static void jacobi_single(void *args)
{
    struct jacobi *shared = args;

    for (int sweep = 0; sweep < shared->nsweeps; sweep++) {
        long *from = sweep % 2 ? shared->y : shared->x;
        long *to = sweep % 2 ? shared->x : shared->y;

        for (int b = 0; b < shared->nblocks; b++) {
            long *own = from + b * BLOCK;
            struct sweep s = {
                .left = b > 0 ? own - BLOCK : own,
                .own = own,
                .right = b + 1 < shared->nblocks ? own + BLOCK : own,
                .result = to + b * BLOCK,
            };
            size_t size = BLOCK * sizeof(long);
            struct dependence depends[] = {
                {s.left, STARPU_R, size},
                {s.own, STARPU_R, size},
                {s.right, STARPU_R, size},
                {s.result, STARPU_W, size},
            };

            task(sweep_task, &s, sizeof(s), 0, depends, 4);
        }
    }
}

static void jacobi_region(void *buffers[], void *args)
{
    (void)buffers;
    starpu_omp_single(jacobi_single, args, 0);
}

void jacobi(int threads, int nblocks, int nsweeps, long *x, long *y)
{
    struct jacobi shared = {nblocks, nsweeps, x, y};

    parallel(threads, jacobi_region, &shared);
    if (nsweeps % 2)
        memcpy(x, y, (size_t)(nblocks * BLOCK) * sizeof(*x));
}

/* -- fibonacci: task shared, taskwait -- */

struct fib {
    int n;
    long *result;
};

static long fib(int n);

static void fib_task(void *buffers[], void *args)
{
    struct fib *f = args;

    (void)buffers;
    *f->result = fib(f->n);
}

static long fib(int n)
{
    long a, b;

    if (n < 2)
        return n;
    task(fib_task, &(struct fib){n - 1, &a}, sizeof(struct fib), 0, NULL, 0);
    task(fib_task, &(struct fib){n - 2, &b}, sizeof(struct fib), 0, NULL, 0);
    starpu_omp_taskwait();
    return a + b;
}

static void fib_region(void *buffers[], void *args)
{
    (void)buffers;
    if (starpu_omp_single_inline())
        fib_task(buffers, args);
    starpu_omp_barrier();
}

long fibonacci(int threads, int n)
{
    long result = 0;

    parallel(threads, fib_region, &(struct fib){n, &result});
    return result;
}

/* -- queens: task final firstprivate, atomic -- */

struct board {
    int columns[16];
};

struct queens {
    struct board board;
    int n, row;
    long *count;
};

static void place(struct queens *q);

static void place_task(void *buffers[], void *args)
{
    (void)buffers;
    place(args);
}

static void place(struct queens *q)
{
    if (q->row == q->n) {
        starpu_omp_atomic_fallback_inline_begin();
        ++*q->count;
        starpu_omp_atomic_fallback_inline_end();
        return;
    }
    for (int column = 0; column < q->n; column++) {
        struct queens next = *q;

        if (!is_safe(q->board.columns, q->row, column))
            continue;
        next.board.columns[q->row] = column;
        next.row = q->row + 1;
        task(place_task, &next, sizeof(next), q->row > 2, NULL, 0);
    }
}

static void queens_single(void *args)
{
    place(args);
}

static void queens_region(void *buffers[], void *args)
{
    (void)buffers;
    starpu_omp_single(queens_single, args, 0);
}

long queens(int threads, int n)
{
    long count = 0;
    struct queens shared = {{{0}}, n, 0, &count};

    parallel(threads, queens_region, &shared);
    return count;
}

/* -- lu: task depend -- */

struct blocks {
    double (*a)[SIDE], (*b)[SIDE], (*c)[SIDE];
};

static void diagonal_task(void *buffers[], void *args)
{
    (void)buffers;
    factor_diagonal(((struct blocks *)args)->a);
}

static void row_task(void *buffers[], void *args)
{
    struct blocks *blocks = args;

    (void)buffers;
    solve_row(blocks->a, blocks->b);
}

static void column_task(void *buffers[], void *args)
{
    struct blocks *blocks = args;

    (void)buffers;
    solve_column(blocks->a, blocks->b);
}

static void update_task(void *buffers[], void *args)
{
    struct blocks *blocks = args;

    (void)buffers;
    update_block(blocks->a, blocks->b, blocks->c);
}

/* The last block is depend(inout), those before it are depend(in). */
static void block_task(outlined_t body, struct blocks blocks, int n)
{
    void *addresses[] = {blocks.a, blocks.b, blocks.c};
    struct dependence depends[3];

    for (int i = 0; i < n; i++)
        depends[i] =
            (struct dependence){addresses[i], i + 1 < n ? STARPU_R : STARPU_RW,
                                SIDE * SIDE * sizeof(double)};
    task(body, &blocks, sizeof(blocks), 0, depends, n);
}

struct lu {
    int nb;
    double (*a)[SIDE][SIDE];
};

static void lu_single(void *args)
{
    struct lu *shared = args;
    int nb = shared->nb;
    double(*a)[SIDE][SIDE] = shared->a;

    for (int k = 0; k < nb; k++) {
        double(*diagonal)[SIDE] = a[k * nb + k];

        block_task(diagonal_task, (struct blocks){diagonal, NULL, NULL}, 1);
        for (int i = k + 1; i < nb; i++) {
            block_task(row_task, (struct blocks){diagonal, a[k * nb + i], NULL},
                       2);
            block_task(column_task,
                       (struct blocks){diagonal, a[i * nb + k], NULL}, 2);
        }
        for (int i = k + 1; i < nb; i++)
            for (int j = k + 1; j < nb; j++)
                block_task(update_task,
                           (struct blocks){a[i * nb + k], a[k * nb + j],
                                           a[i * nb + j]},
                           3);
    }
}

static void lu_region(void *buffers[], void *args)
{
    (void)buffers;
    starpu_omp_single(lu_single, args, 0);
}

void lu(int threads, int nb, double (*a)[SIDE][SIDE])
{
    parallel(threads, lu_region, &(struct lu){nb, a});
}

/* -- pipeline: parallel for ordered schedule(dynamic, 2) -- */

struct pipeline {
    int n;
    unsigned long digest;
};

static void pipeline_region(void *buffers[], void *args)
{
    struct pipeline *shared = args;
    unsigned long long begin, end;

    (void)buffers;
    if (starpu_omp_for_inline_first_alt(
            (unsigned)shared->n, 2, starpu_omp_sched_dynamic, 1, &begin, &end))
        do
            for (unsigned long long i = begin; i < end; i++) {
                unsigned long item = make_item((int)i);

                starpu_omp_ordered_inline_begin();
                shared->digest = shared->digest * 31 + item;
                starpu_omp_ordered_inline_end();
            }
        while (starpu_omp_for_inline_next_alt(
            (unsigned)shared->n, 2, starpu_omp_sched_dynamic, 1, &begin, &end));
    starpu_omp_barrier();
}

unsigned long pipeline(int threads, int n)
{
    struct pipeline shared = {n, 0};

    parallel(threads, pipeline_region, &shared);
    return shared.digest;
}
