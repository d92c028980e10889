/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/algebra.c - small computations by inserted tasks: products of distributed
 * vectors and matrices, on blocks with leading dimensions, parts by a filter of the program's.
 */
#include "ranks.h"

/* --- vectors of ints --- */

static void multiply_add(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(const int *)STARPU_VARIABLE_GET_PTR(buffers[1]) *
        *(const int *)STARPU_VARIABLE_GET_PTR(buffers[2]);
}

static struct starpu_codelet cl_multiply_add = {
    .cpu_funcs = {multiply_add}, .nbuffers = 3, .modes = {STARPU_RW, STARPU_R, STARPU_R}};

/* A scalar product; its terms belong to all ranks, and the sum to the last one. */
static void scalar_product(void)
{
    enum { N = 12 };
    int u[N], v[N], sum = 5, should = 5;
    starpu_data_handle_t u_handle[N], v_handle[N], target;

    target = ranks_shared_int(&sum, 1, ranks_n - 1);
    for (int i = 0; i < N; i++) {
        u[i] = i + 1;
        v[i] = 2 * i - 3;
        should += u[i] * v[i];
        u_handle[i] = ranks_shared_int(&u[i], 10 + i, i % ranks_n);
        v_handle[i] = ranks_shared_int(&v[i], 30 + i, i / 2 % ranks_n);
    }
    for (int i = 0; i < N; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_multiply_add, STARPU_RW, target,
                               STARPU_R, u_handle[i], STARPU_R, v_handle[i], 0);
    if (ranks_me == ranks_n - 1)
        EXPECT_EQ(ranks_value(target), should);
    starpu_data_unregister(target);
    for (int i = 0; i < N; i++) {
        starpu_data_unregister(u_handle[i]);
        starpu_data_unregister(v_handle[i]);
    }
}

/* y = A·x twice, each product where the element of A is, so that y comes and goes. */
static void matrix_vector(void)
{
    enum { N = 4, ROUNDS = 2 };
    int a[N][N], x[N], y[N], should[N];
    starpu_data_handle_t a_handle[N][N], x_handle[N], y_handle[N];

    for (int i = 0; i < N; i++) {
        x[i] = i - 1;
        y[i] = should[i] = i;
        x_handle[i] = ranks_shared_int(&x[i], i, i % ranks_n);
        y_handle[i] = ranks_shared_int(&y[i], N + i, (i + 1) % ranks_n);
        for (int j = 0; j < N; j++) {
            a[i][j] = i + 3 * j;
            a_handle[i][j] = ranks_shared_int(&a[i][j], 10 + i * N + j, (i + j) % ranks_n);
        }
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_multiply_add, STARPU_RW,
                                       y_handle[i], STARPU_R, a_handle[i][j], STARPU_R,
                                       x_handle[j], STARPU_EXECUTE_ON_DATA, a_handle[i][j],
                                       0);
                should[i] += a[i][j] * x[j];
            }
    for (int i = 0; i < N; i++) {
        if (starpu_mpi_data_get_rank(y_handle[i]) == ranks_me)
            EXPECT_EQ(ranks_value(y_handle[i]), should[i]);
        starpu_data_unregister(x_handle[i]);
        starpu_data_unregister(y_handle[i]);
        for (int j = 0; j < N; j++)
            starpu_data_unregister(a_handle[i][j]);
    }
}

/* --- matrices in blocks --- */

enum { BLOCK = 4, BLOCKS = 3, ORDER = BLOCK * BLOCKS };

struct matrix {
    int whole[ORDER * ORDER]; /* all elements, by columns; the rank's blocks are registered */
    starpu_data_handle_t blocks[BLOCKS][BLOCKS];
};

static void multiply_blocks(void *buffers[], void *arg)
{
    int *c = (int *)STARPU_MATRIX_GET_PTR(buffers[0]);
    const int *a = (const int *)STARPU_MATRIX_GET_PTR(buffers[1]);
    const int *b = (const int *)STARPU_MATRIX_GET_PTR(buffers[2]);
    unsigned ldc = STARPU_MATRIX_GET_LD(buffers[0]), lda = STARPU_MATRIX_GET_LD(buffers[1]),
             ldb = STARPU_MATRIX_GET_LD(buffers[2]);

    (void)arg;
    for (unsigned j = 0; j < BLOCK; j++)
        for (unsigned k = 0; k < BLOCK; k++)
            for (unsigned i = 0; i < BLOCK; i++)
                c[i + j * ldc] += a[i + k * lda] * b[k + j * ldb];
}

static struct starpu_codelet cl_multiply_blocks = {.cpu_funcs = {multiply_blocks},
                                                   .nbuffers = 3,
                                                   .modes = {STARPU_RW, STARPU_R, STARPU_R}};

/* Blocks belong to a grid of 2 columns of ranks; as parts of one array they have its leading
 * dimension, other ranks' copies their own. */
static void make_matrix(struct matrix *m, int factor, int tag)
{
    for (int i = 0; i < ORDER * ORDER; i++)
        m->whole[i] = factor * i % 11 - 5;
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++) {
            int owner = (2 * (i % (ranks_n / 2)) + j % 2) % ranks_n;
            uintptr_t at = (uintptr_t)&m->whole[i * BLOCK + j * BLOCK * ORDER];

            starpu_matrix_data_register(&m->blocks[i][j],
                                        owner == ranks_me ? STARPU_MAIN_RAM : -1,
                                        owner == ranks_me ? at : 0, ORDER, BLOCK, BLOCK,
                                        sizeof(int));
            starpu_mpi_data_register(m->blocks[i][j], tag + i * BLOCKS + j, owner);
        }
}

static void unregister_matrix(struct matrix *m)
{
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++)
            starpu_data_unregister(m->blocks[i][j]);
}

/* The elements of c that are this rank's, beside those of c0 + a·b. */
static void check_product(const struct matrix *c, const struct matrix *c0,
                          const struct matrix *a, const struct matrix *b, int owners[])
{
    for (int i = 0; i < ORDER; i++)
        for (int j = 0; j < ORDER; j++) {
            int sum = c0->whole[i + j * ORDER];

            if (owners[i / BLOCK * BLOCKS + j / BLOCK] != ranks_me)
                continue;
            for (int k = 0; k < ORDER; k++)
                sum += a->whole[i + k * ORDER] * b->whole[k + j * ORDER];
            if (c->whole[i + j * ORDER] != sum) {
                EXPECT_EQ(c->whole[i + j * ORDER], sum);
                return;
            }
        }
}

static void matrix_product(void)
{
    static struct matrix a, b, c, c0;
    int owners[BLOCKS * BLOCKS];

    make_matrix(&a, 1, 100);
    make_matrix(&b, 3, 200);
    make_matrix(&c, 7, 300);
    memcpy(c0.whole, c.whole, sizeof(c.whole));
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++) {
            owners[i * BLOCKS + j] = starpu_mpi_data_get_rank(c.blocks[i][j]);
            for (int k = 0; k < BLOCKS; k++)
                starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_multiply_blocks, STARPU_RW,
                                       c.blocks[i][j], STARPU_R, a.blocks[i][k], STARPU_R,
                                       b.blocks[k][j], 0);
        }
    starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
    unregister_matrix(&c);
    unregister_matrix(&a);
    unregister_matrix(&b);
    check_product(&c, &c0, &a, &b, owners);
}

/* --- a factorisation by messages --- */

enum { ROWS = 12 };

/* row i of U, behind its pivot's row: row -= row[k] / pivot[k] · pivot, and L's element
 * stays in the row. */
static void eliminate(void *buffers[], void *arg)
{
    double *row = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const double *pivot = (const double *)STARPU_VECTOR_GET_PTR(buffers[1]);
    int k;

    starpu_codelet_unpack_args(arg, &k);
    row[k] /= pivot[k];
    for (int j = k + 1; j < ROWS; j++)
        row[j] -= row[k] * pivot[j];
}

static struct starpu_codelet cl_eliminate = {.cpu_funcs = {eliminate},
                                             .nbuffers = 2,
                                             .modes = {STARPU_RW, STARPU_R},
                                             .name = "eliminate"};

static double element(int i, int j)
{
    return i == j ? 40 : 1 + (i * 5 + j * 3) % 7;
}

static void check_factors(double rows[ROWS][ROWS])
{
    double worst = 0;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double sum = i <= j ? rows[i][j] : 0, off;

            for (int k = 0; k < i && k <= j; k++)
                sum += rows[i][k] * rows[k][j];
            off = sum > element(i, j) ? sum - element(i, j) : element(i, j) - sum;
            worst = off > worst ? off : worst;
        }
    EXPECT(worst < 1e-9);
}

/* Rows are dealt out to ranks. Each inserts its own tasks only: a row that is final goes to
 * all others by messages with the row's number for a tag, in the order of rows. */
static void by_messages(void)
{
    static double rows[ROWS][ROWS];
    starpu_data_handle_t row[ROWS];

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++)
            rows[i][j] = i % ranks_n == ranks_me ? element(i, j) : 0;
        starpu_vector_data_register(&row[i], STARPU_MAIN_RAM, (uintptr_t)rows[i], ROWS,
                                    sizeof(double));
    }
    for (int k = 0; k < ROWS; k++) {
        for (int r = 0; r < ranks_n && k % ranks_n == ranks_me; r++)
            if (r != ranks_me)
                starpu_mpi_isend_detached_prio(row[k], r, k, ROWS - k, MPI_COMM_WORLD, NULL,
                                               NULL);
        if (k % ranks_n != ranks_me)
            starpu_mpi_irecv_detached(row[k], k % ranks_n, k, MPI_COMM_WORLD, NULL, NULL);
        for (int i = k + 1; i < ROWS; i++)
            if (i % ranks_n == ranks_me)
                starpu_task_insert(&cl_eliminate, STARPU_RW, row[i], STARPU_R, row[k],
                                   STARPU_VALUE, &k, sizeof(k), STARPU_PRIORITY, ROWS - k,
                                   0);
    }
    for (int i = 0; i < ROWS; i++)
        starpu_data_unregister(row[i]);
    check_factors(rows);
}

/* --- parts --- */

/* The first part has one element, each further one as many as all before it. */
static void doubling_parts(void *parent, void *child, struct starpu_data_filter *filter,
                           unsigned id, unsigned n)
{
    const struct starpu_vector_interface *whole = parent;
    struct starpu_vector_interface *part = child;
    unsigned first = id == 0 ? 0 : 1u << (id - 1), count = id == 0 ? 1 : first;

    (void)filter;
    (void)n;
    *part = *whole;
    part->nx = count;
    part->slice_base = whole->slice_base + first;
    part->allocsize = count * whole->elemsize;
    if (whole->dev_handle) {
        part->ptr = whole->ptr + first * whole->elemsize;
        part->offset = whole->offset + first * whole->elemsize;
    }
}

static void add_to_all(void *buffers[], void *arg)
{
    int *elements = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        elements[i] += 1 + ranks_me;
}

static struct starpu_codelet cl_add_to_all = {
    .cpu_funcs = {add_to_all}, .nbuffers = 1, .modes = {STARPU_RW}};

/* Rank 0's vector; others make tasks of its parts, which come back. */
static void parts(void)
{
    enum { PARTS = 5, N = 1 << (PARTS - 1) };
    int vector[N];
    starpu_data_handle_t whole;
    struct starpu_data_filter filter = {.filter_func = doubling_parts, .nchildren = PARTS};

    for (int i = 0; i < N; i++)
        vector[i] = 100 * i;
    starpu_vector_data_register(&whole, ranks_me == 0 ? STARPU_MAIN_RAM : -1,
                                ranks_me == 0 ? (uintptr_t)vector : 0, N, sizeof(int));
    starpu_mpi_data_register(whole, 400, 0);
    starpu_data_partition(whole, &filter);
    for (int i = 0; i < PARTS; i++) {
        starpu_data_handle_t part = starpu_data_get_sub_data(whole, 1, i);

        starpu_mpi_data_register(part, 401 + i, 0);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_add_to_all, STARPU_RW, part,
                               STARPU_EXECUTE_ON_NODE, i % ranks_n, 0);
    }
    starpu_data_unpartition(whole, STARPU_MAIN_RAM);
    starpu_data_unregister(whole);
    for (int i = 0; i < N && ranks_me == 0; i++) {
        int part = 0;

        while (i >= 1 << part)
            part++;
        EXPECT_EQ(vector[i], 100 * i + 1 + part % ranks_n);
    }
}

/* Rank 0's vector in planned parts: a task's use of one cuts it, that of the whole joins it. */
static void planned_parts(void)
{
    enum { PARTS = 4, N = 20, ROUNDS = 3 };
    int vector[N];
    starpu_data_handle_t whole, part[PARTS];
    struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
                                        .nchildren = PARTS};

    for (int i = 0; i < N; i++)
        vector[i] = 100 * i;
    starpu_vector_data_register(&whole, ranks_me == 0 ? STARPU_MAIN_RAM : -1,
                                ranks_me == 0 ? (uintptr_t)vector : 0, N, sizeof(int));
    starpu_mpi_data_register(whole, 410, 0);
    starpu_data_partition_plan(whole, &filter, part);
    for (int i = 0; i < PARTS; i++)
        starpu_mpi_data_register(part[i], 411 + i, 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PARTS; i++)
            starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_add_to_all, STARPU_RW, part[i],
                                   STARPU_EXECUTE_ON_NODE, i % ranks_n, 0);
        starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_add_to_all, STARPU_RW, whole,
                               STARPU_EXECUTE_ON_NODE, round % ranks_n, 0);
    }
    starpu_data_partition_clean(whole, PARTS, part);
    starpu_data_unregister(whole);
    for (int i = 0; i < N && ranks_me == 0; i++) {
        int sum = 100 * i;

        for (int round = 0; round < ROUNDS; round++)
            sum += 2 + i / (N / PARTS) % ranks_n + round % ranks_n;
        EXPECT_EQ(vector[i], sum);
    }
}

RANKS_MAIN({"a scalar product", scalar_product}, {"a matrix and a vector", matrix_vector},
           {"a product of matrices in blocks", matrix_product},
           {"LU by messages of the program's own", by_messages},
           {"parts by a filter of one's own", parts},
           {"parts of a plan", planned_parts})
