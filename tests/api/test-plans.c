/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-plans.c - planned partitions: the whole and parts of several
 * plans, at two levels, in random turns, compared with the same done one after the
 * other; explicit switches; acquisitions, prefetches, threads; little memory.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../rng.h"
#include "machines.h"

enum { N = 12, PARTS = 3, INNER = 2 };

/* What a task does with each element of a part: x becomes 3 x + add. Before, they
 * add up to `sum`, weighted by their places in the part. */
struct step {
    uint32_t sum, add;
};

static uint32_t weigh(const uint32_t *x, uint32_t nx, uint32_t ny, uint32_t ld)
{
    uint32_t sum = 0;

    for (uint32_t j = 0; j < ny; j++)
        for (uint32_t i = 0; i < nx; i++)
            sum = sum * 31 + x[j * ld + i];
    return sum;
}

static void advance(uint32_t *x, uint32_t nx, uint32_t ny, uint32_t ld,
                    uint32_t add)
{
    for (uint32_t j = 0; j < ny; j++)
        for (uint32_t i = 0; i < nx; i++)
            x[j * ld + i] = 3 * x[j * ld + i] + add;
}

static void read_part(void *buffers[], void *arg)
{
    const struct step *step = arg;

    ck_assert_uint_eq(weigh((uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]),
                            STARPU_MATRIX_GET_NX(buffers[0]),
                            STARPU_MATRIX_GET_NY(buffers[0]),
                            STARPU_MATRIX_GET_LD(buffers[0])),
                      step->sum);
}

static void write_part(void *buffers[], void *arg)
{
    const struct step *step = arg;

    read_part(buffers, arg);
    advance((uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]),
            STARPU_MATRIX_GET_NX(buffers[0]), STARPU_MATRIX_GET_NY(buffers[0]),
            STARPU_MATRIX_GET_LD(buffers[0]), step->add);
}

static struct starpu_codelet reads = {.cpu_funcs = {read_part},
                                      .cuda_funcs = {read_part},
                                      .nbuffers = 1,
                                      .modes = {STARPU_R},
                                      .name = "k"};
static struct starpu_codelet writes = {.cpu_funcs = {write_part},
                                       .cuda_funcs = {write_part},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};

/* A matrix, cut into columns (of which each is cut again) and into rows. */
struct matrix {
    starpu_data_handle_t whole, columns[PARTS], inner[PARTS][INNER],
        rows[PARTS];
    uint32_t x[N * N];        /* registered */
    uint32_t expected[N * N]; /* what has been submitted makes */
};

static struct starpu_data_filter by_column = {
    .filter_func = starpu_matrix_filter_vertical_block, .nchildren = PARTS};
static struct starpu_data_filter by_inner = {
    .filter_func = starpu_matrix_filter_block, .nchildren = INNER};
static struct starpu_data_filter by_row = {
    .filter_func = starpu_matrix_filter_block, .nchildren = PARTS};

static void make_matrix(struct matrix *m, int home)
{
    for (uint32_t i = 0; i < N * N; i++)
        m->x[i] = m->expected[i] = i;
    starpu_matrix_data_register(&m->whole, home, (uintptr_t)m->x, N, N, N,
                                sizeof(*m->x));
    starpu_data_partition_plan(m->whole, &by_column, m->columns);
    starpu_data_partition_plan(m->whole, &by_row, m->rows);
    for (int i = 0; i < PARTS; i++)
        starpu_data_partition_plan(m->columns[i], &by_inner, m->inner[i]);
}

static void clean_matrix(struct matrix *m)
{
    for (int i = 0; i < PARTS; i++)
        starpu_data_partition_clean(m->columns[i], INNER, m->inner[i]);
    starpu_data_partition_clean(m->whole, PARTS, m->columns);
    starpu_data_partition_clean_node(m->whole, PARTS, m->rows, 0);
}

/* Part number `which` of 13: the whole, columns, rows, parts of columns. */
enum { NPARTS = 1 + 2 * PARTS + PARTS * INNER };

static starpu_data_handle_t part_of(struct matrix *m, unsigned which,
                                    uint32_t **ret_at, uint32_t *ret_nx,
                                    uint32_t *ret_ny)
{
    unsigned i = (which - 1) % PARTS, k;

    *ret_at = m->expected;
    *ret_nx = *ret_ny = N;
    if (which == 0)
        return m->whole;
    if (which <= PARTS) {
        *ret_at += N * (N / PARTS) * i;
        *ret_ny = N / PARTS;
        return m->columns[i];
    }
    if (which <= 2 * PARTS) {
        *ret_at += N / PARTS * i;
        *ret_nx = N / PARTS;
        return m->rows[i];
    }
    k = (which - 1 - 2 * PARTS) / PARTS;
    *ret_at += N * (N / PARTS) * i + N / INNER * k;
    *ret_nx = N / INNER;
    *ret_ny = N / PARTS;
    return m->inner[i][k];
}

/* Submits a task on a part, for any worker. */
static void use_part(struct matrix *m, unsigned which, bool write, uint32_t add,
                     int worker)
{
    uint32_t *at, nx, ny;
    starpu_data_handle_t handle = part_of(m, which, &at, &nx, &ny);
    struct step *step = malloc(sizeof(*step));

    *step = (struct step){weigh(at, nx, ny, N), add};
    if (write)
        advance(at, nx, ny, N, add);
    ck_assert_int_eq(starpu_task_insert(write ? &writes : &reads,
                                        write ? STARPU_RW : STARPU_R, handle,
                                        STARPU_CL_ARGS, step, sizeof(*step),
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
}

/* The same by the application itself. */
static void acquire_part(struct matrix *m, unsigned which, bool write)
{
    uint32_t *at, nx, ny;
    starpu_data_handle_t handle = part_of(m, which, &at, &nx, &ny);
    void *buffers[1];
    struct step step = {weigh(at, nx, ny, N), 5};

    ck_assert_int_eq(starpu_data_acquire(handle, write ? STARPU_RW : STARPU_R),
                     0);
    buffers[0] = starpu_data_get_interface_on_node(handle, 0);
    if (write) {
        write_part(buffers, &step);
        advance(at, nx, ny, N, 5);
    } else {
        read_part(buffers, &step);
    }
    starpu_data_release(handle);
}

/* The application gives data without a home their first value. */
static void acquire_first(struct matrix *m)
{
    ck_assert_int_eq(starpu_data_acquire(m->whole, STARPU_W), 0);
    memcpy(starpu_data_get_local_ptr(m->whole), m->expected,
           sizeof(m->expected));
    starpu_data_release(m->whole);
}

static unsigned below(uint64_t *rng, unsigned n)
{
    return (unsigned)(rng_next(rng) % n);
}

static void take_turns(struct matrix *m, uint64_t seed, int steps)
{
    uint64_t rng = rng_of(seed);

    for (int i = 0; i < steps; i++) {
        unsigned which = below(&rng, NPARTS);
        unsigned what = below(&rng, 16);
        uint32_t *at, nx, ny;
        int worker = (int)below(&rng, (unsigned)starpu_worker_get_count());

        if (what == 0)
            acquire_part(m, which, below(&rng, 2));
        else if (what == 1)
            starpu_data_prefetch_on_node(
                part_of(m, which, &at, &nx, &ny),
                starpu_worker_get_memory_node((unsigned)worker), 1);
        else if (what == 2)
            starpu_data_wont_use(part_of(m, which, &at, &nx, &ny));
        else
            use_part(m, which, what < 9, (uint32_t)i, worker);
    }
}

START_TEST(whole_and_parts_take_turns)
{
    static struct matrix m;

    machine_choose(_i);
    if (_i % 2)
        setenv("STARPU_LIMIT_CUDA_MEM", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        make_matrix(&m, STARPU_MAIN_RAM);
        take_turns(&m, seed * 1000 + (unsigned)_i, 120);
        clean_matrix(&m);
        starpu_data_unregister(m.whole);
        ck_assert_mem_eq(m.x, m.expected, sizeof(m.x));
    }
    starpu_shutdown();
}
END_TEST

static void fill(void *buffers[], void *arg)
{
    uint32_t *x = (uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]);

    (void)arg;
    for (uint32_t i = 0; i < N * N; i++)
        x[i] = i;
}

static struct starpu_codelet fills = {.cpu_funcs = {fill},
                                      .cuda_funcs = {fill},
                                      .nbuffers = 1,
                                      .modes = {STARPU_W},
                                      .name = "k"};

/* Without a home the memory is the library's. */
START_TEST(data_without_a_home_are_planned)
{
    static struct matrix m;

    machine_open(_i);
    make_matrix(&m, -1);
    ck_assert_int_eq(starpu_task_insert(&fills, STARPU_W, m.whole, 0), 0);
    take_turns(&m, 77, 100);
    clean_matrix(&m);
    ck_assert_int_eq(starpu_data_acquire(m.whole, STARPU_R), 0);
    ck_assert_mem_eq((void *)starpu_matrix_get_local_ptr(m.whole), m.expected,
                     sizeof(m.expected));
    starpu_data_release(m.whole);
    starpu_data_unregister(m.whole);
    starpu_shutdown();
}
END_TEST

static int callbacks;

static void count_callback(void *arg)
{
    callbacks += *(int *)arg;
}

START_TEST(switches_are_said_explicitly)
{
    static struct matrix m;
    int one = 1;

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    ck_assert_int_eq(starpu_data_get_nb_children(m.whole), 0);
    use_part(&m, 0, true, 1, 0);
    starpu_data_partition_submit(m.whole, PARTS, m.columns);
    starpu_data_partition_submit_sequential_consistency(m.columns[1], INNER,
                                                        m.inner[1], 1);
    use_part(&m, 1, true, 2, 1);
    use_part(&m, 2 * PARTS + 2, true, 3, 0);
    starpu_data_unpartition_submit(m.columns[1], INNER, m.inner[1], -1);
    use_part(&m, 2, true, 4, 1);
    starpu_data_partition_readonly_downgrade_submit(m.whole, PARTS, m.columns);
    use_part(&m, 0, false, 0, 0);
    use_part(&m, 3, false, 0, 1);
    starpu_data_partition_readonly_submit(m.whole, PARTS, m.rows);
    use_part(&m, PARTS + 2, false, 0, 1);
    starpu_data_unpartition_submit_sequential_consistency(m.whole, PARTS,
                                                          m.rows, 0, 1);
    starpu_data_partition_readwrite_upgrade_submit(m.whole, PARTS, m.columns);
    use_part(&m, 3, true, 5, 0);
    starpu_data_unpartition_readonly_submit(m.whole, PARTS, m.columns, 0);
    use_part(&m, 0, false, 0, 1);
    use_part(&m, 3, false, 0, 0);
    starpu_data_unpartition_submit_sequential_consistency_cb(
        m.whole, PARTS, m.columns, -1, 1, count_callback, &one);
    use_part(&m, 0, true, 6, 0);
    starpu_data_partition_readonly_submit_sequential_consistency(m.whole, PARTS,
                                                                 m.rows, 1);
    use_part(&m, PARTS + 1, false, 0, 0);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    ck_assert_mem_eq(m.x, m.expected, sizeof(m.x));
    ck_assert_int_eq(callbacks, 1);
    starpu_shutdown();
}
END_TEST

/* Parts whose own parts are written have their values in these. */
START_TEST(parts_of_parts_are_read_after_a_downgrade)
{
    static struct matrix m;

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    use_part(&m, 2 * PARTS + 2, true, 3, 1);
    starpu_data_partition_readonly_downgrade_submit(m.whole, PARTS, m.columns);
    use_part(&m, 0, false, 0, 0);
    use_part(&m, 2, false, 0, 1);
    use_part(&m, 2 * PARTS + 2, false, 0, 1);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    ck_assert_mem_eq(m.x, m.expected, sizeof(m.x));
    starpu_shutdown();
}
END_TEST

/* -- on devices parts are in the memory of the whole -- */

/* Bytes that were copied from node to node since the last call. */
static long long moved(void)
{
    long long bytes = 0;

    starpu_task_wait_for_all();
    for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
        struct starpu_profiling_bus_info info;

        ck_assert_int_eq(starpu_bus_get_profiling_info(bus, &info), 0);
        bytes += info.transferred_bytes;
    }
    return bytes;
}

/* Whole, columns, rows and parts of columns are written in turns by one GPU. */
START_TEST(parts_are_in_place_on_a_device)
{
    static struct matrix m;
    int gpu = 2;
    unsigned node;
    long long nhops; /* between the GPU and worker 0 */

    setenv("STARPU_PREFETCH", "0", 1);
    machine_open(FIRST_SIMULATED);
    while (starpu_worker_get_type(gpu) != STARPU_CUDA_WORKER)
        gpu++;
    node = starpu_worker_get_memory_node((unsigned)gpu);
    nhops = starpu_worker_get_memory_node(0) == STARPU_MAIN_RAM ? 1 : 2;
    make_matrix(&m, _i ? -1 : STARPU_MAIN_RAM);
    if (_i)
        acquire_first(&m);
    use_part(&m, 0, true, 1, gpu);
    (void)moved();
    for (unsigned round = 0; round < 3; round++)
        for (unsigned which = 0; which < NPARTS; which++)
            use_part(&m, which, true, which, gpu);
    use_part(&m, 0, false, 0, gpu);
    ck_assert_int_eq(moved(), 0);
    ck_assert_uint_eq(starpu_memory_get_used(node), sizeof(m.x));
    /* What one of them has elsewhere comes back to its place there. */
    use_part(&m, 2, true, 7, 0);
    ck_assert_int_eq(moved(), nhops * (long long)sizeof(m.x) / PARTS);
    use_part(&m, 2, false, 0, gpu);
    ck_assert_int_eq(moved(), nhops * (long long)sizeof(m.x) / PARTS);
    use_part(&m, 0, true, 8, gpu);
    use_part(&m, PARTS + 1, true, 9, gpu);
    ck_assert_int_eq(moved(), 0);
    acquire_part(&m, 0, false);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    starpu_shutdown();
}
END_TEST

/* -- … also of other interfaces than matrices -- */

static void raise_ndim(void *buffers[], void *arg)
{
    const struct starpu_ndim_interface *d = buffers[0];
    size_t n = 1;

    (void)arg;
    for (size_t k = 0; k < d->ndim; k++)
        n *= d->nn[k];
    for (size_t i = 0; i < n; i++) {
        size_t at = 0, left = i;

        for (size_t k = 0; k < d->ndim; k++) {
            at += left % d->nn[k] * d->ldn[k];
            left /= d->nn[k];
        }
        ((uint32_t *)d->ptr)[at]++;
    }
}

static void raise_csr(void *buffers[], void *arg)
{
    uint32_t *x = (uint32_t *)STARPU_CSR_GET_NZVAL(buffers[0]);
    const uint32_t *row = STARPU_CSR_GET_ROWPTR(buffers[0]);
    uint32_t first = STARPU_CSR_GET_FIRSTENTRY(buffers[0]);

    (void)arg;
    for (uint32_t r = 0; r < STARPU_CSR_GET_NROW(buffers[0]); r++)
        for (uint32_t i = row[r] - first; i < row[r + 1] - first; i++)
            x[i] += STARPU_CSR_GET_COLIND(buffers[0])[i];
}

static void raise_bcsr(void *buffers[], void *arg)
{
    uint32_t *x = (uint32_t *)STARPU_BCSR_GET_NZVAL(buffers[0]);
    const uint32_t *row = STARPU_BCSR_GET_ROWPTR(buffers[0]);
    uint32_t first = STARPU_BCSR_GET_FIRSTENTRY(buffers[0]), r = 0;
    uint32_t size = STARPU_BCSR_GET_R(buffers[0]) * STARPU_BCSR_GET_C(buffers[0]);

    (void)arg;
    for (; r < STARPU_BCSR_GET_NROW(buffers[0]); r++)
        for (uint32_t i = (row[r] - first) * size;
             i < (row[r + 1] - first) * size; i++)
            x[i] += STARPU_BCSR_GET_COLIND(buffers[0])[i / size];
}

static void raise_vector(void *buffers[], void *arg)
{
    uint32_t *x = (uint32_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        x[i]++;
}

#define RAISE(function)                                                        \
    {                                                                          \
        .cpu_funcs = {function}, .cuda_funcs = {function}, .nbuffers = 1,      \
        .modes = {STARPU_RW}, .name = "k",                                     \
    }

static struct starpu_codelet cl_raise_ndim = RAISE(raise_ndim),
                             cl_raise_vector = RAISE(raise_vector),
                             cl_raise_csr = RAISE(raise_csr),
                             cl_raise_bcsr = RAISE(raise_bcsr);

enum { MOST = 4, ROUNDS = 3, ENTRIES = 7, WIDTH = 2 };

/* Whole and parts take turns on a GPU, which moves nothing; then each part is
 * raised once more on a processor, and the whole on the GPU. */
static void expect_in_place(struct starpu_codelet *cl,
                            starpu_data_handle_t whole,
                            struct starpu_data_filter *filter, size_t size)
{
    starpu_data_handle_t parts[MOST];
    int gpu = (int)starpu_worker_get_count() - 1;
    unsigned node = starpu_worker_get_memory_node((unsigned)gpu);
    unsigned n = filter->nchildren;

    starpu_data_partition_plan(whole, filter, parts);
    starpu_task_insert(cl, STARPU_RW, whole, STARPU_EXECUTE_ON_WORKER, gpu, 0);
    (void)moved();
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < n; i++)
            starpu_task_insert(cl, STARPU_RW, parts[i],
                               STARPU_EXECUTE_ON_WORKER, gpu, 0);
        starpu_task_insert(cl, STARPU_RW, whole, STARPU_EXECUTE_ON_WORKER, gpu,
                           0);
    }
    ck_assert_int_eq(moved(), 0);
    ck_assert_uint_eq(starpu_memory_get_used(node), size);
    for (unsigned i = 0; i < n; i++)
        starpu_task_insert(cl, STARPU_RW, parts[i], STARPU_EXECUTE_ON_WORKER, 0,
                           0);
    starpu_task_insert(cl, STARPU_RW, whole, STARPU_EXECUTE_ON_WORKER, gpu, 0);
    starpu_data_partition_clean(whole, (int)n, parts);
    starpu_data_unregister(whole);
}

/* How often each element was raised. */
enum { TIMES = 1 + 2 * ROUNDS + 2 };

static void open_gpus(void)
{
    setenv("STARPU_PREFETCH", "0", 1);
    machine_open(FIRST_SIMULATED);
}

/* Registered with gaps, cut along each dimension, into data of as many. */
START_TEST(parts_of_any_number_of_dimensions_are_in_place)
{
    static uint32_t x[2048];
    uint32_t nn[] = {3, 4, 2, 5, 2}, ldn[] = {1, 4, 17, 35, 180};
    size_t ndim = (size_t)_i % 5 + 1, n = 1;
    struct starpu_data_filter filter = {.filter_func = starpu_ndim_filter_block,
                                        .filter_arg = (unsigned)_i / 5,
                                        .nchildren = 2};
    starpu_data_handle_t whole;

    if (filter.filter_arg >= ndim)
        return;
    for (size_t k = 0; k < ndim; k++)
        n *= nn[k];
    open_gpus();
    memset(x, 0, sizeof(x));
    starpu_ndim_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, ldn, nn,
                              ndim, sizeof(*x));
    expect_in_place(&cl_raise_ndim, whole, &filter, n * sizeof(*x));
    for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++) {
        bool inside = true;

        for (size_t k = ndim, left = i; k-- > 0; left %= ldn[k])
            inside &= left / ldn[k] < nn[k];
        ck_assert_uint_eq(x[i], inside ? TIMES : 0);
    }
    starpu_shutdown();
}
END_TEST

/* Each index of the first or of the last dimension is a part. */
START_TEST(indices_of_a_dimension_are_in_place)
{
    static uint32_t x[3 * 4 * 3];
    uint32_t nn[] = {3, 4, 3}, ldn[] = {1, 3, 12};
    struct starpu_data_filter filter = {
        .filter_func = starpu_ndim_filter_pick_ndim,
        .filter_arg = _i ? 2 : 0,
        .nchildren = 3};
    starpu_data_handle_t whole;

    open_gpus();
    memset(x, 0, sizeof(x));
    starpu_ndim_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, ldn, nn, 3,
                              sizeof(*x));
    expect_in_place(&cl_raise_ndim, whole, &filter, sizeof(x));
    for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++)
        ck_assert_uint_eq(x[i], TIMES);
    starpu_shutdown();
}
END_TEST

START_TEST(parts_by_rows_are_in_place)
{
    static uint32_t x[ENTRIES * WIDTH * WIDTH];
    static uint32_t colind[ENTRIES] = {1, 2, 3, 4, 5, 6, 7};
    static uint32_t rowptr[] = {0, 2, 2, 3, 6, 7};
    unsigned nrow = 5, size = _i ? WIDTH * WIDTH : 1;
    struct starpu_data_filter filter = {
        .filter_func = _i ? starpu_bcsr_filter_vertical_block
                          : starpu_csr_filter_vertical_block,
        .nchildren = MOST};
    starpu_data_handle_t whole;

    open_gpus();
    memset(x, 0, sizeof(x));
    if (_i)
        starpu_bcsr_data_register(&whole, STARPU_MAIN_RAM, ENTRIES, nrow,
                                  (uintptr_t)x, colind, rowptr, 0, WIDTH, WIDTH,
                                  sizeof(*x));
    else
        starpu_csr_data_register(&whole, STARPU_MAIN_RAM, ENTRIES, nrow,
                                 (uintptr_t)x, colind, rowptr, 0, sizeof(*x));
    expect_in_place(_i ? &cl_raise_bcsr : &cl_raise_csr, whole, &filter,
                    ENTRIES * (size * sizeof(*x) + sizeof(*colind)) +
                        sizeof(rowptr));
    for (unsigned i = 0; i < ENTRIES * size; i++)
        ck_assert_uint_eq(x[i], TIMES * colind[i / size]);
    starpu_shutdown();
}
END_TEST

/* Parts that are used in its place are meant, and one of them alone. */
START_TEST(what_is_not_wanted_any_more_may_be_in_parts)
{
    static struct matrix m;
    int gpu;

    machine_open(FIRST_SIMULATED);
    gpu = (int)starpu_worker_get_count() - 1;
    make_matrix(&m, STARPU_MAIN_RAM);
    for (unsigned i = 0; i < PARTS; i++)
        use_part(&m, 1 + i, true, 1, gpu);
    starpu_data_wont_use(_i ? m.columns[1] : m.whole);
    starpu_task_wait_for_all();
    starpu_usleep(1000);
    for (unsigned i = 0; i < PARTS; i++)
        ck_assert_int_eq(starpu_data_is_on_node(m.columns[i], 0),
                         _i == 0 || i == 1);
    acquire_part(&m, 0, false);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    starpu_shutdown();
}
END_TEST

/* Parts of every second column: no range of these. */
static void every_second_column(void *father, void *child,
                                struct starpu_data_filter *f, unsigned id,
                                unsigned n)
{
    const struct starpu_matrix_interface *whole = father;
    struct starpu_matrix_interface *part = child;

    (void)f;
    *part = *whole;
    part->ny = whole->ny / n;
    part->ld = whole->ld * n;
    part->allocsize = (size_t)part->nx * part->ny * part->elemsize;
    if (!whole->dev_handle)
        return;
    part->ptr += id * (size_t)whole->ld * whole->elemsize;
    part->offset += id * (size_t)whole->ld * whole->elemsize;
}

static void raise_by_one(void *buffers[], void *arg)
{
    uint32_t *x = (uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]);

    (void)arg;
    for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
        for (uint32_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
            x[j * STARPU_MATRIX_GET_LD(buffers[0]) + i]++;
}

/* An interface of the application: what its filter does is known where the whole has
 * memory when it is planned. */
START_TEST(
    parts_of_the_applications_interfaces_are_in_place_where_the_whole_was)
{
    static uint32_t x[N];
    static struct starpu_data_interface_ops own;
    struct starpu_vector_interface vector = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = (uintptr_t)x,
        .dev_handle = (uintptr_t)x,
        .nx = N,
        .elemsize = sizeof(*x),
        .allocsize = sizeof(x),
    };
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t whole;

    own = starpu_interface_vector_ops;
    own.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
    open_gpus();
    memset(x, 0, sizeof(x));
    starpu_data_register(&whole, STARPU_MAIN_RAM, &vector, &own);
    ck_assert_int_eq(
        starpu_data_fetch_on_node(
            whole, starpu_worker_get_memory_node(starpu_worker_get_count() - 1),
            0),
        0);
    expect_in_place(&cl_raise_vector, whole, &filter, sizeof(x));
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(x[i], TIMES);
    starpu_shutdown();
}
END_TEST

START_TEST(parts_that_are_no_ranges_are_copied)
{
    static uint32_t x[N * N];
    static struct starpu_codelet cl = {.cpu_funcs = {raise_by_one},
                                       .cuda_funcs = {raise_by_one},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};
    struct starpu_data_filter filter = {.filter_func = every_second_column,
                                        .nchildren = 2};
    starpu_data_handle_t whole, parts[2];

    machine_open(_i);
    memset(x, 0, sizeof(x));
    starpu_matrix_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, N, N, N,
                                sizeof(*x));
    starpu_data_partition_plan(whole, &filter, parts);
    for (int round = 0; round < 4; round++) {
        int worker = (int)starpu_worker_get_count() - 1 - round / 2;

        starpu_task_insert(&cl, STARPU_RW, whole, STARPU_EXECUTE_ON_WORKER,
                           worker, 0);
        for (int i = 0; i < 2; i++)
            starpu_task_insert(&cl, STARPU_RW, parts[i],
                               STARPU_EXECUTE_ON_WORKER, worker, 0);
    }
    starpu_data_partition_clean(whole, 2, parts);
    starpu_data_unregister(whole);
    for (int i = 0; i < N * N; i++)
        ck_assert_uint_eq(x[i], 8);
    starpu_shutdown();
}
END_TEST

/* Without a switch, as the mode says, or the codelet. */
static void read_unplanned(struct matrix *m, struct starpu_codelet *cl)
{
    struct step *step = malloc(sizeof(*step));

    *step = (struct step){weigh(m->expected, N, N, N), 0};
    ck_assert_int_eq(starpu_task_insert(cl, (int)cl->modes[0], m->whole,
                                        STARPU_CL_ARGS, step, sizeof(*step), 0),
                     0);
}

/* Who says that the switches take no place in the order of the whole keeps its
 * value, which is read without a switch. */
START_TEST(switches_without_order_keep_the_whole)
{
    static struct starpu_codelet by_mode = {.cpu_funcs = {read_part},
                                            .cuda_funcs = {read_part},
                                            .nbuffers = 1,
                                            .modes = {STARPU_R | STARPU_NOPLAN},
                                            .name = "k"};
    static struct starpu_codelet by_flag = {.cpu_funcs = {read_part},
                                            .cuda_funcs = {read_part},
                                            .nbuffers = 1,
                                            .modes = {STARPU_R},
                                            .flags = STARPU_CODELET_NOPLANS,
                                            .name = "k"};
    static struct matrix m;

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    starpu_data_partition_submit_sequential_consistency(m.whole, PARTS, m.rows,
                                                        0);
    for (unsigned i = 1; i <= PARTS; i++)
        use_part(&m, PARTS + i, false, 0, 0);
    read_unplanned(&m, &by_mode);
    read_unplanned(&m, &by_flag);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_data_unpartition_submit(m.whole, PARTS, m.rows, 0);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    ck_assert_mem_eq(m.x, m.expected, sizeof(m.x));
    starpu_shutdown();
}
END_TEST

/* An attempt submits the switch, so that one of the next succeeds. */
START_TEST(attempts_to_acquire_switch)
{
    static struct matrix m;
    int attempts = 1;

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    use_part(&m, 1, true, 9, 0);
    while (starpu_data_acquire_try(m.whole, STARPU_R) != 0) {
        attempts++;
        starpu_usleep(100);
    }
    ck_assert_int_gt(attempts, 1);
    ck_assert_mem_eq(m.x, m.expected, sizeof(m.x));
    starpu_data_release(m.whole);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    starpu_shutdown();
}
END_TEST

static void set_7(void *buffers[], void *arg)
{
    uint32_t *x = (uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]);

    (void)arg;
    for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
        for (uint32_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
            x[j * STARPU_MATRIX_GET_LD(buffers[0]) + i] = 7;
}

static struct starpu_codelet sets = {.cpu_funcs = {set_7},
                                     .cuda_funcs = {set_7},
                                     .nbuffers = 1,
                                     .modes = {STARPU_W},
                                     .name = "k"};

/* A value that was dropped does not come back by a switch. */
START_TEST(parts_are_written_after_the_whole_was_invalidated)
{
    static struct matrix m;

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    use_part(&m, 1, true, 9, 0);
    starpu_data_invalidate_submit(m.whole);
    for (int i = 0; i < PARTS; i++)
        ck_assert_int_eq(starpu_task_insert(&sets, STARPU_W, m.rows[i], 0), 0);
    starpu_data_invalidate_submit(m.rows[1]);
    ck_assert_int_eq(starpu_task_insert(&sets, STARPU_W, m.rows[1], 0), 0);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    for (int i = 0; i < N * N; i++)
        ck_assert_uint_eq(m.x[i], 7);
    starpu_shutdown();
}
END_TEST

static void set_1(void *buffers[], void *arg)
{
    set_7(buffers, arg);
    for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
        for (uint32_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
            ((uint32_t *)STARPU_MATRIX_GET_PTR(
                buffers[0]))[j * STARPU_MATRIX_GET_LD(buffers[0]) + i] = 1;
}

static void expect_7(void *buffers[], void *arg)
{
    (void)arg;
    ck_assert_uint_eq(*(uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]), 7);
}

/* The init codelet makes a value where whole and parts have none, only there. */
/* shows starpu_data_invalidate_submit */
START_TEST(parts_begin_with_the_value_of_the_whole)
{
    static struct starpu_codelet begins = {.cpu_funcs = {set_1},
                                           .cuda_funcs = {set_1},
                                           .nbuffers = 1,
                                           .modes = {STARPU_W},
                                           .name = "k"};
    static struct starpu_codelet checks = {.cpu_funcs = {expect_7},
                                           .cuda_funcs = {expect_7},
                                           .nbuffers = 1,
                                           .modes = {STARPU_R},
                                           .name = "k"};
    starpu_data_handle_t whole, rows[PARTS];

    machine_open(_i);
    starpu_matrix_data_register(&whole, -1, 0, N, N, N, sizeof(uint32_t));
    starpu_data_set_reduction_methods(whole, NULL, &begins);
    starpu_data_partition_plan(whole, &by_row, rows);
    ck_assert_int_eq(starpu_task_insert(&sets, STARPU_W, whole, 0), 0);
    ck_assert_int_eq(starpu_task_insert(&checks, STARPU_R, rows[0], 0), 0);
    starpu_data_invalidate_submit(whole);
    ck_assert_int_eq(starpu_data_acquire(rows[1], STARPU_R), 0);
    ck_assert_uint_eq(*(uint32_t *)starpu_matrix_get_local_ptr(rows[1]), 1);
    starpu_data_release(rows[1]);
    for (int i = 0; i < PARTS; i++)
        ck_assert_int_eq(starpu_task_insert(&sets, STARPU_W, rows[i], 0), 0);
    ck_assert_int_eq(starpu_task_insert(&checks, STARPU_R, whole, 0), 0);
    starpu_data_partition_clean(whole, PARTS, rows);
    starpu_data_unregister(whole);
    starpu_shutdown();
}
END_TEST

static void add_1(void *buffers[], void *arg)
{
    (void)arg;
    for (uint32_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
        for (uint32_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
            ((uint32_t *)STARPU_MATRIX_GET_PTR(
                buffers[0]))[j * STARPU_MATRIX_GET_LD(buffers[0]) + i]++;
}

static struct starpu_codelet begins_with_1 = {.cpu_funcs = {set_1},
                                              .cuda_funcs = {set_1},
                                              .nbuffers = 1,
                                              .modes = {STARPU_W},
                                              .name = "k"},
                             adds_1 = {.cpu_funcs = {add_1},
                                       .cuda_funcs = {add_1},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"},
                             wants_7 = {.cpu_funcs = {expect_7},
                                      .cuda_funcs = {expect_7},
                                      .nbuffers = 1,
                                      .modes = {STARPU_R},
                                      .name = "k"};

/* Part i of the whole has values[i]. */
static void expect_rows(starpu_data_handle_t whole, const uint32_t *values)
{
    const uint32_t *x;

    ck_assert_int_eq(starpu_data_acquire(whole, STARPU_R), 0);
    x = (const uint32_t *)starpu_matrix_get_local_ptr(whole);
    for (int i = 0; i < N * N; i++)
        ck_assert_uint_eq(x[i], values[i % N * PARTS / N]);
    starpu_data_release(whole);
}

/* Some parts of a whole without a value are used, then the whole: the init codelet
 * makes each part's first value, however the parts were made and asked for. */
/* shows starpu_data_partition_submit, starpu_data_partition_readonly_submit,
 * starpu_data_acquire */
START_TEST(parts_that_nobody_wrote_have_first_values)
{
    enum { AUTOMATIC, SUBMITTED, READERS, ACQUIRED, WRITTEN, INVALID, SYNC, NWAYS };

    machine_open(_i);
    for (int way = 0; way < NWAYS; way++) {
        uint32_t expected[PARTS];
        starpu_data_handle_t whole, rows[PARTS];

        for (int i = 0; i < PARTS; i++)
            expected[i] = 1;
        starpu_matrix_data_register(&whole, -1, 0, N, N, N, sizeof(uint32_t));
        starpu_data_set_reduction_methods(whole, NULL, &begins_with_1);
        if (way != SYNC)
            starpu_data_partition_plan(whole, &by_row, rows);
        if (way == AUTOMATIC) {
            ck_assert_int_eq(
                starpu_task_insert(&adds_1, STARPU_RW, rows[1], 0), 0);
            expected[1] = 2;
        } else if (way == SUBMITTED) {
            starpu_data_partition_submit(whole, PARTS, rows);
            ck_assert_int_eq(
                starpu_task_insert(&adds_1, STARPU_RW, rows[0], 0), 0);
            ck_assert_int_eq(
                starpu_task_insert(&adds_1, STARPU_RW, rows[0], 0), 0);
            starpu_data_unpartition_submit(whole, PARTS, rows, -1);
            expected[0] = 3;
        } else if (way == READERS) {
            starpu_data_partition_readonly_submit(whole, PARTS, rows);
            ck_assert_int_eq(starpu_data_acquire(rows[1], STARPU_R), 0);
            ck_assert_uint_eq(*(uint32_t *)starpu_matrix_get_local_ptr(rows[1]),
                              1);
            starpu_data_release(rows[1]);
            starpu_data_unpartition_submit(whole, PARTS, rows, -1);
        } else if (way == ACQUIRED) {
            ck_assert_int_eq(starpu_data_acquire(rows[1], STARPU_RW), 0);
            ck_assert_uint_eq(*(uint32_t *)starpu_matrix_get_local_ptr(rows[1]),
                              1);
            starpu_data_release(rows[1]);
        } else if (way == WRITTEN) {
            ck_assert_int_eq(starpu_task_insert(&sets, STARPU_W, rows[0], 0),
                             0);
            ck_assert_int_eq(starpu_task_insert(&wants_7, STARPU_R, rows[0], 0),
                             0);
            expected[0] = 7;
        } else if (way == INVALID) {
            ck_assert_int_eq(starpu_task_insert(&sets, STARPU_W, whole, 0), 0);
            starpu_data_invalidate_submit(rows[1]);
            for (int i = 0; i < PARTS; i++)
                expected[i] = i == 1 ? 1 : 7;
        } else {
            starpu_data_partition(whole, &by_row);
            ck_assert_int_eq(
                starpu_task_insert(&adds_1, STARPU_RW,
                                   starpu_data_get_sub_data(whole, 1, 1), 0),
                0);
            starpu_data_unpartition(whole, STARPU_MAIN_RAM);
            expected[1] = 2;
        }
        ck_assert_int_eq(starpu_task_insert(&adds_1, STARPU_RW, whole, 0), 0);
        for (int i = 0; i < PARTS; i++)
            expected[i]++;
        expect_rows(whole, expected);
        if (way != SYNC)
            starpu_data_partition_clean(whole, PARTS, rows);
        starpu_data_unregister(whole);
    }
    starpu_shutdown();
}
END_TEST

static void *submit_many(void *arg)
{
    struct matrix *m = arg;

    for (unsigned i = 0; i < 300; i++) {
        uint32_t *at, nx, ny;
        starpu_data_handle_t handle = part_of(m, i * 7 % NPARTS, &at, &nx, &ny);
        static struct starpu_codelet adds = {.cpu_funcs = {set_7},
                                             .cuda_funcs = {set_7},
                                             .nbuffers = 1,
                                             .modes = {STARPU_RW},
                                             .name = "k"};

        ck_assert_int_eq(starpu_task_insert(&adds, STARPU_RW, handle, 0), 0);
    }
    return NULL;
}

START_TEST(threads_share_plans)
{
    static struct matrix m;
    starpu_pthread_t threads[3];

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(
            starpu_pthread_create(&threads[i], NULL, submit_many, &m), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_pthread_join(threads[i], NULL), 0);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    for (int i = 0; i < N * N; i++)
        ck_assert_uint_eq(m.x[i], 7);
    starpu_shutdown();
}
END_TEST

/* Reads of several slicings and of the whole go together in one task. */
static void sum_parts(void *buffers[], void *arg)
{
    const uint32_t *whole = (uint32_t *)STARPU_MATRIX_GET_PTR(buffers[0]);
    const uint32_t *column = (uint32_t *)STARPU_MATRIX_GET_PTR(buffers[1]);
    const uint32_t *row = (uint32_t *)STARPU_MATRIX_GET_PTR(buffers[2]);

    (void)arg;
    ck_assert_uint_eq(whole[0], 3 * 0 + 2);
    ck_assert_uint_eq(column[0], whole[0]);
    ck_assert_uint_eq(row[0], whole[0]);
}

START_TEST(one_task_reads_whole_and_parts)
{
    static struct starpu_codelet sums = {
        .cpu_funcs = {sum_parts},
        .cuda_funcs = {sum_parts},
        .nbuffers = 3,
        .modes = {STARPU_R, STARPU_R, STARPU_R},
        .name = "k"};
    static struct matrix m;

    machine_open(_i);
    make_matrix(&m, STARPU_MAIN_RAM);
    use_part(&m, 1, true, 2, 0);
    for (int w = 0; w < (int)starpu_worker_get_count(); w++)
        ck_assert_int_eq(starpu_task_insert(&sums, STARPU_R, m.whole, STARPU_R,
                                            m.columns[0], STARPU_R, m.rows[0],
                                            STARPU_EXECUTE_ON_WORKER, w, 0),
                         0);
    clean_matrix(&m);
    starpu_data_unregister(m.whole);
    ck_assert_mem_eq(m.x, m.expected, sizeof(m.x));
    starpu_shutdown();
}
END_TEST

/* Calls that do not fit what was submitted, one each; the program ends. */
enum { NMISUSES = 10 };

START_TEST(calls_that_do_not_fit_end_the_program)
{
    static struct starpu_codelet both = {.cpu_funcs = {sum_parts},
                                         .nbuffers = 2,
                                         .modes = {STARPU_RW, STARPU_R},
                                         .name = "k"};
    static struct matrix m;

    machine_open(0);
    make_matrix(&m, STARPU_MAIN_RAM);
    switch (_i) {
    case 0: /* not partitioned so */
        starpu_data_unpartition_submit(m.whole, PARTS, m.rows, 0);
        break;
    case 1: /* partitioned otherwise */
        starpu_data_partition_submit(m.whole, PARTS, m.rows);
        starpu_data_partition_submit(m.whole, PARTS, m.columns);
        break;
    case 2: /* the children of another plan */
        starpu_data_partition_submit(m.columns[0], PARTS, m.rows);
        break;
    case 3: /* not all of them */
        starpu_data_partition_submit(m.whole, PARTS - 1, m.rows);
        break;
    case 4: /* to be cleaned first */
        starpu_data_unregister(m.whole);
        break;
    case 5: /* the plan's */
        starpu_data_unregister(m.rows[0]);
        break;
    case 6: /* written, not read */
        starpu_data_partition_submit(m.whole, PARTS, m.rows);
        starpu_data_partition_readwrite_upgrade_submit(m.whole, PARTS, m.rows);
        break;
    case 7: /* a part and the whole */
        starpu_task_insert(&both, STARPU_RW, m.whole, STARPU_R, m.rows[0], 0);
        break;
    case 8: /* planned, so not in the blocking way */
        starpu_data_partition(m.whole, &by_row);
        break;
    case 9: /* plans of children come first */
        starpu_data_partition_clean(m.whole, PARTS, m.columns);
        break;
    }
}
END_TEST

/* Main memory is full of what the application holds: to wait for some would be for
 * ever. */
START_TEST(planning_waits_for_no_memory)
{
    enum { LENGTH = 1 << 18 }; /* all of it */
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t held, whole, parts[2];

    setenv("STARPU_LIMIT_CPU_MEM", "1", 1);
    machine_open(_i);
    starpu_vector_data_register(&held, -1, 0, LENGTH, sizeof(uint32_t));
    starpu_vector_data_register(&whole, -1, 0, LENGTH, sizeof(uint32_t));
    ck_assert_int_eq(starpu_data_acquire(held, STARPU_W), 0);
    starpu_data_partition_plan(whole, &halves, parts);
    starpu_data_release(held);
    for (unsigned p = 0; p < 2; p++) {
        ck_assert_int_eq(starpu_data_acquire(parts[p], STARPU_W), 0);
        *(uint32_t *)starpu_data_get_local_ptr(parts[p]) = 5 + p;
        starpu_data_release(parts[p]);
    }
    ck_assert_int_eq(starpu_data_acquire(whole, STARPU_R), 0);
    ck_assert_uint_eq(((uint32_t *)starpu_data_get_local_ptr(whole))[0], 5);
    ck_assert_uint_eq(
        ((uint32_t *)starpu_data_get_local_ptr(whole))[LENGTH / 2], 6);
    starpu_data_release(whole);
    starpu_data_partition_clean(whole, 2, parts);
    starpu_data_unregister(whole);
    starpu_data_unregister(held);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(plans)
{
    Suite *suite = suite_create("plans");
    TCase *each = tcase_create("on each machine");
    TCase *misuse = tcase_create("misuse");

    tcase_set_timeout(each, 120);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, misuse);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(whole_and_parts_take_turns);
    EACH(data_without_a_home_are_planned);
    EACH(switches_are_said_explicitly);
    EACH(parts_of_parts_are_read_after_a_downgrade);
    EACH(parts_that_are_no_ranges_are_copied);
    tcase_add_loop_test(each, what_is_not_wanted_any_more_may_be_in_parts, 0,
                        2);
    EACH(planning_waits_for_no_memory);
    tcase_add_loop_test(each, parts_are_in_place_on_a_device, 0, 2);
    tcase_add_loop_test(each, parts_of_any_number_of_dimensions_are_in_place, 0,
                        25);
    tcase_add_loop_test(each, indices_of_a_dimension_are_in_place, 0, 2);
    tcase_add_loop_test(each, parts_by_rows_are_in_place, 0, 2);
    tcase_add_test(
        each,
        parts_of_the_applications_interfaces_are_in_place_where_the_whole_was);
    EACH(switches_without_order_keep_the_whole);
    EACH(attempts_to_acquire_switch);
    EACH(parts_are_written_after_the_whole_was_invalidated);
    EACH(parts_begin_with_the_value_of_the_whole);
    EACH(parts_that_nobody_wrote_have_first_values);
    EACH(threads_share_plans);
    EACH(one_task_reads_whole_and_parts);
    tcase_add_loop_test_raise_signal(
        misuse, calls_that_do_not_fit_end_the_program, 6, 0, NMISUSES);
    return suite_main(suite);
}
