/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-pieces.c - partitioned data on GPUs: pieces in place in the
 * memory of the whole, which then moves nowhere; what leaves a GPU that is full.
 * Simulated, the kernels run; each test with each rule of eviction. Last, on each
 * machine: tasks on pieces exclude each other where their order does not.
 */
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

#include "machines.h"

enum { MIB = 1 << 20, PARTS = 4, WORDS = MIB / 8, NRULES = 3 };

static const char *const rules[NRULES] = {"lru", "starpu", "nextuse"};

/* --- tasks --- */

static void fill(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] = i;
}

static void increment(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] += 1000;
}

/* Adds the elements of the second one to the first, as often as they come. */
static void add_cyclically(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const uint64_t *w = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);
    size_t n = STARPU_VECTOR_GET_NX(buffers[1]);

    (void)arg;
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] += w[i % n];
}

static void increment_tile(void *buffers[], void *arg)
{
    uint64_t *m = (uint64_t *)STARPU_MATRIX_GET_PTR(buffers[0]);
    unsigned ld = STARPU_MATRIX_GET_LD(buffers[0]);

    (void)arg;
    for (unsigned y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); y++)
        for (unsigned x = 0; x < STARPU_MATRIX_GET_NX(buffers[0]); x++)
            m[(size_t)y * ld + x] += 1000;
}

static void zero(void *buffers[], void *arg)
{
    (void)arg;
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(uint64_t));
}

#define BOTH(function) .cpu_funcs = {function}, .cuda_funcs = {function}
static struct starpu_codelet cl_fill = {BOTH(fill), .nbuffers = 1,
                                        .modes = {STARPU_W}, .name = "k"};
static struct starpu_codelet cl_increment = {BOTH(increment), .nbuffers = 1,
                                             .modes = {STARPU_RW}, .name = "k"};
static struct starpu_codelet cl_add = {BOTH(add_cyclically), .nbuffers = 2,
                                       .modes = {STARPU_RW, STARPU_R},
                                       .name = "k"};
static struct starpu_codelet cl_tile = {BOTH(increment_tile), .nbuffers = 1,
                                        .modes = {STARPU_RW}, .name = "k"};
static struct starpu_codelet cl_zero = {BOTH(zero), .nbuffers = 1,
                                        .modes = {STARPU_W}, .name = "k"};
static struct starpu_codelet cl_sum = {
    BOTH(add_cyclically), .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}, .name = "k"};
static struct starpu_codelet cl_contribute = {
    BOTH(increment), .nbuffers = 1, .modes = {STARPU_REDUX}, .name = "k"};

static int gpu(unsigned i)
{
    int workers[3];

    ck_assert_int_eq(
        (int)starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, workers, 3), 3);
    return workers[i];
}

static unsigned node_of(unsigned i)
{
    return starpu_worker_get_memory_node((unsigned)gpu(i));
}

static void run_on(int worker, struct starpu_codelet *cl,
                   starpu_data_handle_t handle)
{
    ck_assert_int_eq(starpu_task_insert(cl, cl->modes[0], handle,
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
}

static void add_on(int worker, starpu_data_handle_t to,
                   starpu_data_handle_t from)
{
    ck_assert_int_eq(starpu_task_insert(&cl_add, STARPU_RW, to, STARPU_R, from,
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
}

/* --- the machine --- */

/* GPUs have so many MiB, or, if 0, what the machine says. */
static void open_with(int rule, const char *mib)
{
    setenv("ORRERY_EVICTION", rules[rule], 1);
    setenv("STARPU_PREFETCH", "0", 1);
    if (mib)
        setenv("STARPU_LIMIT_CUDA_MEM", mib, 1);
    machine_open(FIRST_SIMULATED);
}

/* That were copied from node to node since the last call. */
static long long moved(void)
{
    long long bytes = 0;

    for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
        struct starpu_profiling_bus_info info;

        ck_assert_int_eq(starpu_bus_get_profiling_info(bus, &info), 0);
        bytes += info.transferred_bytes;
    }
    return bytes;
}

/* --- data --- */

static starpu_data_handle_t vector(uint64_t *memory, uint32_t n)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, memory ? STARPU_MAIN_RAM : -1,
                                (uintptr_t)memory, n, sizeof(uint64_t));
    return handle;
}

static void cut(starpu_data_handle_t handle, unsigned n)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = n};

    starpu_data_partition(handle, &filter);
}

static starpu_data_handle_t piece(starpu_data_handle_t handle, int i)
{
    return starpu_data_get_child(handle, (unsigned)i);
}

/* Element i of n is i + plus. */
static void check_vector(starpu_data_handle_t handle, uint64_t plus)
{
    const uint64_t *v;

    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    v = starpu_data_get_local_ptr(handle);
    for (size_t i = 0; i < starpu_vector_get_nx(handle); i++)
        if (v[i] != i + plus)
            ck_abort_msg("element %zu is %llu", i, (unsigned long long)v[i]);
    starpu_data_release(handle);
}

/* --- in place --- */

/* With a home and without. */
START_TEST(pieces_of_what_a_gpu_has_are_there_and_move_nowhere)
{
    static uint64_t memory[WORDS];

    open_with(_i / 2, NULL);
    starpu_data_handle_t h = vector(_i % 2 ? memory : NULL, WORDS);
    run_on(gpu(0), &cl_fill, h);
    starpu_task_wait_for_all();
    (void)moved();
    for (int round = 0; round < 3; round++) {
        cut(h, PARTS);
        for (int i = 0; i < PARTS; i++) {
            ck_assert_int_eq(starpu_data_is_on_node(piece(h, i), node_of(0)),
                             1);
            run_on(gpu(0), &cl_increment, piece(h, i));
        }
        starpu_data_unpartition(h, node_of(0));
        run_on(gpu(0), &cl_increment, h);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(moved(), 0);
    check_vector(h, 6000);
    ck_assert_int_eq(moved(), MIB);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* A piece moves if it is used elsewhere, and only it comes back. */
START_TEST(only_what_was_written_elsewhere_comes_back)
{
    open_with(_i, NULL);
    starpu_data_handle_t h = vector(NULL, WORDS);
    run_on(gpu(0), &cl_fill, h);
    starpu_task_wait_for_all();
    cut(h, PARTS);
    (void)moved();
    for (int i = 0; i < PARTS; i++)
        run_on(gpu(i == 2), &cl_increment, piece(h, i));
    starpu_task_wait_for_all();
    ck_assert_int_eq(moved(), MIB / PARTS);
    starpu_data_unpartition(h, node_of(0));
    ck_assert_int_eq(moved(), MIB / PARTS);
    ck_assert_int_eq(starpu_data_is_on_node(h, node_of(0)), 1);
    ck_assert_int_eq(starpu_data_is_on_node(h, node_of(1)), 0);
    check_vector(h, 1000);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* What was read only is where it was before, on all nodes. */
START_TEST(the_whole_is_where_all_pieces_are)
{
    static uint64_t memory[WORDS];

    open_with(_i, NULL);
    for (size_t i = 0; i < WORDS; i++)
        memory[i] = i;
    starpu_data_handle_t h = vector(memory, WORDS);
    for (unsigned g = 0; g < 3; g++)
        starpu_data_fetch_on_node(h, node_of(g), 0);
    (void)moved();
    cut(h, PARTS);
    run_on(gpu(1), &cl_increment, piece(h, 3));
    starpu_data_fetch_on_node(piece(h, 3), node_of(0), 0);
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    for (unsigned g = 0; g < 3; g++)
        ck_assert_int_eq(starpu_data_is_on_node(h, node_of(g)), g < 2);
    ck_assert_int_le(moved(), 3 * MIB / PARTS);
    for (size_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(memory[i], i + (i >= 3 * WORDS / 4 ? 1000 : 0));
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

enum { N = 64 };

static starpu_data_handle_t tile(starpu_data_handle_t handle, int i, int j)
{
    return starpu_data_get_sub_data(handle, 2, i, j);
}

/* Tiles of a matrix, cut twice: their columns are not side by side. */
START_TEST(pieces_of_pieces_are_in_place)
{
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_vertical_block, .nchildren = PARTS};
    struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
                                      .nchildren = PARTS};
    static uint64_t m[N * N];
    starpu_data_handle_t h;

    open_with(_i, NULL);
    for (uint64_t i = 0; i < N * N; i++)
        m[i] = i;
    starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)m, N, N, N,
                                sizeof(m[0]));
    run_on(gpu(0), &cl_tile, h);
    starpu_task_wait_for_all();
    (void)moved();
    starpu_data_map_filters(h, 2, &columns, &rows);
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; j < PARTS; j++)
            run_on(gpu(0), &cl_tile, tile(h, i, j));
    starpu_task_wait_for_all();
    ck_assert_int_eq(moved(), 0);
    for (int j = 0; j < PARTS; j++)
        run_on(gpu(2), &cl_tile, tile(h, 1, j));
    starpu_task_wait_for_all();
    (void)moved();
    starpu_data_unpartition(h, node_of(0));
    ck_assert_int_eq(moved(), 2 * (int)sizeof(m) / PARTS); /* by main memory */
    run_on(gpu(0), &cl_tile, h);
    starpu_data_unregister(h);
    for (uint64_t i = 0; i < N * N; i++)
        ck_assert_uint_eq(m[i],
                          i + 3000 + (i / N / (N / PARTS) == 1 ? 1000 : 0));
    starpu_shutdown();
}
END_TEST

/* Only the middle of it belongs to pieces. */
START_TEST(what_no_piece_covers_is_kept)
{
    uint32_t lengths[] = {WORDS / 8, WORDS / 4};
    struct starpu_data_filter some = {.filter_func = starpu_vector_filter_list,
                                      .nchildren = 2,
                                      .filter_arg_ptr = lengths};

    open_with(_i / 2, NULL);
    starpu_data_handle_t h = vector(NULL, WORDS);
    run_on(gpu(0), &cl_fill, h);
    starpu_data_partition(h, &some);
    run_on(gpu(0), &cl_increment, piece(h, 0));
    run_on(gpu(1), &cl_increment, piece(h, 1));
    /* GPU 1 never had the rest. */
    starpu_data_unpartition(h, _i % 2 ? node_of(1) : STARPU_MAIN_RAM);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_R), 0);
    for (size_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(((uint64_t *)starpu_data_get_local_ptr(h))[i],
                          i + (i < WORDS / 8 * 3 ? 1000 : 0));
    starpu_data_release(h);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* All that pieces cover is right on GPU 1, in the memory that the whole had there
 * before; the rest is not. */
START_TEST(what_no_piece_covers_may_be_out_of_date)
{
    uint32_t lengths[] = {WORDS / 8, WORDS / 4};
    struct starpu_data_filter some = {.filter_func = starpu_vector_filter_list,
                                      .nchildren = 2,
                                      .filter_arg_ptr = lengths};

    open_with(_i, NULL);
    starpu_data_handle_t h = vector(NULL, WORDS);
    run_on(gpu(1), &cl_zero, h);
    run_on(gpu(0), &cl_fill, h);
    starpu_data_partition(h, &some);
    for (int i = 0; i < 2; i++)
        run_on(gpu(1), &cl_increment, piece(h, i));
    starpu_data_unpartition(h, node_of(1));
    run_on(gpu(1), &cl_increment, h);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_R), 0);
    for (size_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(((uint64_t *)starpu_data_get_local_ptr(h))[i],
                          i + (i < WORDS / 8 * 3 ? 2000 : 1000));
    starpu_data_release(h);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* Parts with a border of their neighbours, which are read. */
START_TEST(pieces_may_overlap)
{
    struct starpu_data_filter overlapping = {
        .filter_func = starpu_vector_filter_block_shadow,
        .nchildren = PARTS,
        .filter_arg_ptr = (void *)(uintptr_t)1};
    enum { LENGTH = 4 * PARTS + 2 };

    open_with(_i, NULL);
    starpu_data_handle_t h = vector(NULL, LENGTH), sums[PARTS];
    run_on(gpu(0), &cl_fill, h);
    starpu_data_partition(h, &overlapping);
    for (int i = 0; i < PARTS; i++) {
        sums[i] = vector(NULL, 6);
        run_on(gpu((unsigned)i % 3), &cl_fill, sums[i]);
        add_on(gpu((unsigned)i % 3), sums[i], piece(h, i));
    }
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    check_vector(h, 0);
    for (int i = 0; i < PARTS; i++) {
        ck_assert_int_eq(starpu_data_acquire(sums[i], STARPU_R), 0);
        for (uint64_t k = 0; k < 6; k++)
            ck_assert_uint_eq(
                ((uint64_t *)starpu_data_get_local_ptr(sums[i]))[k],
                2 * k + 4 * (uint64_t)i);
        starpu_data_release(sums[i]);
        starpu_data_unregister(sums[i]);
    }
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* Without a node that is wanted nothing is moved where they are complete; else they
 * meet in main memory. */
START_TEST(pieces_are_joined_on_no_node_in_particular)
{
    open_with(_i, NULL);
    starpu_data_handle_t h = vector(NULL, WORDS);

    run_on(gpu(0), &cl_fill, h);
    cut(h, PARTS);
    for (int i = 0; i < PARTS; i++)
        run_on(gpu(0), &cl_increment, piece(h, i));
    starpu_task_wait_for_all();
    (void)moved();
    starpu_data_unpartition(h, (unsigned)-1);
    ck_assert_int_eq((int)moved(), 0);
    ck_assert_int_eq(starpu_data_is_on_node(h, node_of(0)), 1);
    ck_assert_int_eq(starpu_data_is_on_node(h, STARPU_MAIN_RAM), 0);
    cut(h, PARTS);
    for (int i = 0; i < PARTS; i++)
        run_on(gpu((unsigned)i % 3), &cl_increment, piece(h, i));
    starpu_data_unpartition(h, (unsigned)-1);
    ck_assert_int_eq(starpu_data_is_on_node(h, STARPU_MAIN_RAM), 1);
    check_vector(h, 2000);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* Data without a value get one by their pieces, wherever those are written. Their
 * init codelet does not make another one. */
START_TEST(pieces_make_the_first_value)
{
    open_with(_i, NULL);
    starpu_data_handle_t h = vector(NULL, WORDS);
    starpu_data_set_reduction_methods(h, &cl_sum, &cl_zero);
    cut(h, PARTS);
    for (int i = 0; i < PARTS; i++) {
        run_on(gpu((unsigned)i % 3), &cl_zero, piece(h, i));
        run_on(gpu((unsigned)i % 2), &cl_increment, piece(h, i));
    }
    starpu_data_unpartition(h, node_of(2));
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_R), 0);
    for (size_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(((uint64_t *)starpu_data_get_local_ptr(h))[i], 1000);
    starpu_data_release(h);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_contribute_to_pieces_in_place)
{
    open_with(_i, NULL);
    starpu_data_handle_t h = vector(NULL, WORDS);
    starpu_data_set_reduction_methods(h, &cl_sum, &cl_zero);
    run_on(gpu(0), &cl_fill, h);
    cut(h, PARTS);
    for (int i = 0; i < PARTS; i++)
        for (unsigned g = 0; g < 3; g++)
            run_on(gpu(g), &cl_contribute, piece(h, i));
    starpu_data_unpartition(h, node_of(0));
    check_vector(h, 3000);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* --- memory that is full --- */

/* GPUs have 4 MiB, of which h has 3, in pieces that were written there. */
static starpu_data_handle_t open_full(int rule)
{
    starpu_data_handle_t h;

    open_with(rule, "4");
    h = vector(NULL, 3 * WORDS);
    run_on(gpu(0), &cl_fill, h);
    cut(h, 3);
    for (int i = 0; i < 3; i++)
        run_on(gpu(0), &cl_increment, piece(h, i));
    starpu_task_wait_for_all();
    ck_assert_int_eq(starpu_data_is_on_node(piece(h, 2), node_of(0)), 1);
    return h;
}

static void close_full(starpu_data_handle_t h, uint64_t plus)
{
    starpu_data_unpartition(h, STARPU_MAIN_RAM);
    check_vector(h, plus);
    starpu_data_unregister(h);
    starpu_shutdown();
}

START_TEST(pieces_leave_a_gpu_together)
{
    starpu_data_handle_t h = open_full(_i), other = vector(NULL, 3 * WORDS);

    run_on(gpu(0), &cl_fill, other);
    starpu_task_wait_for_all();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_data_is_on_node(piece(h, i), node_of(0)), 0);
    ck_assert_int_eq(starpu_memory_get_used(node_of(0)), 3 * MIB);
    /* They come back one by one. */
    run_on(gpu(0), &cl_increment, piece(h, 1));
    starpu_task_wait_for_all();
    ck_assert_int_eq(starpu_memory_get_used(node_of(0)), 4 * MIB);
    check_vector(other, 0);
    starpu_data_unregister(other);
    run_on(gpu(0), &cl_increment, piece(h, 0));
    run_on(gpu(1), &cl_increment, piece(h, 2));
    close_full(h, 2000);
}
END_TEST

/* The task's piece and the other datum fit, the whole and that do not. */
START_TEST(a_task_does_not_wait_for_the_rest_of_what_it_uses)
{
    starpu_data_handle_t h = open_full(_i), other = vector(NULL, 5 * WORDS / 2);

    run_on(-1, &cl_zero, other);
    for (int i = 0; i < 3; i++)
        add_on(gpu(0), piece(h, i), other);
    starpu_data_unregister_submit(other);
    close_full(h, 1000);
}
END_TEST

/* Nothing is pinned for the whole before that task has ended. */
START_TEST(pieces_are_put_together_where_a_task_needs_the_room)
{
    starpu_data_handle_t h = open_full(_i), other = vector(NULL, 5 * WORDS / 2);

    run_on(-1, &cl_zero, other);
    add_on(gpu(0), piece(h, 0), other);
    starpu_data_unpartition(h, node_of(0));
    starpu_data_unregister(other);
    cut(h, 3);
    close_full(h, 1000);
}
END_TEST

/* The copy of an older value to main memory, from another GPU, still waits for its
 * turn when the new one is the only thing that could leave a GPU. */
START_TEST(a_value_is_written_back_after_an_older_one)
{
    static uint64_t memory[2 * WORDS];
    starpu_data_handle_t h, busy, other;

    open_with(_i, "4");
    h = vector(memory, 2 * WORDS);
    busy = vector(NULL, 2 * WORDS);
    other = vector(NULL, 3 * WORDS);
    run_on(gpu(1), &cl_fill, busy);
    starpu_data_fetch_on_node(busy, STARPU_MAIN_RAM, 1);
    run_on(gpu(1), &cl_fill, h);
    starpu_data_wont_use(h);
    run_on(gpu(0), &cl_fill, h);
    run_on(gpu(0), &cl_fill, other);
    check_vector(other, 0);
    check_vector(h, 0);
    starpu_data_unregister(busy);
    starpu_data_unregister(other);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* As often as there are pieces, and both ways. */
START_TEST(pieces_come_and_go_under_little_memory)
{
    starpu_data_handle_t h = open_full(_i), other = vector(NULL, 2 * WORDS);

    run_on(gpu(1), &cl_zero, other);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++) {
            cut(piece(h, i), 2);
            for (int j = 0; j < 2; j++)
                add_on(gpu((unsigned)round % 2), piece(piece(h, i), j), other);
        }
        run_on(gpu(0), &cl_increment, other);
        run_on(gpu(1), &cl_zero, other);
        starpu_data_unpartition(h, round % 2 ? node_of(0) : STARPU_MAIN_RAM);
        run_on(gpu((unsigned)round % 2), &cl_increment, h);
        cut(h, 3);
    }
    starpu_data_unregister(other);
    close_full(h, 5000);
}
END_TEST

/* A copy may go that is not the only one, not one that a sibling needs. */
START_TEST(one_piece_is_evicted_if_all_may_be)
{
    starpu_data_handle_t h = open_full(_i);

    ck_assert_int_eq(starpu_data_evict_from_node(piece(h, 0), node_of(0)), -1);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(starpu_data_acquire(piece(h, i), STARPU_R), 0);
        starpu_data_release(piece(h, i));
        ck_assert_int_eq(starpu_data_evict_from_node(piece(h, 0), node_of(0)),
                         i < 2 ? -1 : 0);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_data_is_on_node(piece(h, i), node_of(0)), 0);
    ck_assert_int_eq(starpu_memory_get_used(node_of(0)), 0);
    close_full(h, 1000);
}
END_TEST

/* Nothing is lost, or freed twice, when a run ends without joining them. */
START_TEST(data_may_stay_in_pieces)
{
    starpu_data_handle_t h = open_full(_i);

    cut(piece(h, 1), 5);
    starpu_shutdown();
}
END_TEST

/* --- exclusion --- */

enum { LEAVES = 6, ROUNDS = 60 };

static int inside[LEAVES]; /* writers */
static int faults;

static void enter(uint64_t leaf)
{
    if (__atomic_add_fetch(&inside[leaf], 1, __ATOMIC_SEQ_CST) != 1)
        __atomic_add_fetch(&faults, 1, __ATOMIC_SEQ_CST);
}

/* The first word of a piece says which it is, the second one counts. */
static void count_two(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    uint64_t *w = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    enter(v[0]);
    enter(w[0]);
    for (int i = 0; i < 4 && !orrery_is_simulated(); i++)
        sched_yield(); /* others may come */
    v[1]++;
    w[1]++;
    __atomic_sub_fetch(&inside[v[0]], 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&inside[w[0]], 1, __ATOMIC_SEQ_CST);
}

static void add_second(void *buffers[], void *arg)
{
    (void)arg;
    ((uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]))[1] +=
        ((const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]))[1];
}

static void count_one(void *buffers[], void *arg)
{
    (void)arg;
    ((uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]))[1]++;
}

static struct starpu_codelet cl_two = {
    BOTH(count_two), .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_RW | STARPU_COMMUTE},
    .name = "k"};
static struct starpu_codelet cl_two_unordered = {
    BOTH(count_two), .nbuffers = 2, .modes = {STARPU_RW, STARPU_RW},
    .name = "k"};
static struct starpu_codelet cl_part = {BOTH(count_one), .nbuffers = 1,
                                        .modes = {STARPU_REDUX}, .name = "k"};
static struct starpu_codelet cl_total = {
    BOTH(add_second), .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}, .name = "k"};

enum { COMMUTING, ARBITRATED, UNORDERED, CONTRIBUTING, NSORTS };

static void submit_pair(int sort, starpu_data_handle_t a,
                        starpu_data_handle_t b)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = sort == UNORDERED ? &cl_two_unordered : &cl_two;
    STARPU_TASK_SET_HANDLE(task, a, 0);
    STARPU_TASK_SET_HANDLE(task, b, 1);
    task->sequential_consistency = sort != UNORDERED;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void submit_round(int sort, starpu_data_handle_t *leaf, unsigned round)
{
    unsigned i = round % LEAVES, k = (round * 5 + 1) % LEAVES;

    if (i == k)
        k = (k + 1) % LEAVES;
    if (sort == CONTRIBUTING) {
        ck_assert_int_eq(starpu_task_insert(&cl_part, STARPU_REDUX, leaf[i], 0),
                         0);
        ck_assert_int_eq(starpu_task_insert(&cl_part, STARPU_REDUX, leaf[k], 0),
                         0);
    } else {
        submit_pair(sort, leaf[i], leaf[k]);
    }
}

/* Tasks name leaves of both branches of a vector that was cut twice, in whatever
 * order of numbers; ordered ones on a branch come before and behind. */
START_TEST(claims_on_pieces_of_pieces_exclude_each_other)
{
    int sort = _i % NSORTS;
    static uint64_t v[LEAVES * 8];
    starpu_data_handle_t h, leaf[LEAVES];
    starpu_arbiter_t arbiter = NULL;
    uint64_t total = 0;

    machine_open(_i / NSORTS);
    for (uint64_t i = 0; i < LEAVES; i++)
        v[8 * i] = i;
    h = vector(v, LEAVES * 8);
    starpu_data_set_reduction_methods(h, &cl_total, &cl_zero);
    if (sort == ARBITRATED)
        arbiter = starpu_arbiter_create();
    for (int round = 0; round < 3; round++) {
        cut(h, 2);
        for (int i = 0; i < 2; i++) {
            cut(piece(h, i), 3);
            for (int k = 0; k < 3; k++) {
                leaf[3 * i + k] = piece(piece(h, i), k);
                if (arbiter)
                    starpu_data_assign_arbiter(leaf[3 * i + k], arbiter);
            }
        }
        for (unsigned i = 0; i < ROUNDS; i++)
            submit_round(sort, leaf, i);
        starpu_data_unpartition(piece(h, 1), STARPU_MAIN_RAM);
        starpu_data_unpartition(h, STARPU_MAIN_RAM);
    }
    starpu_data_unregister(h);
    if (arbiter)
        starpu_arbiter_destroy(arbiter);
    starpu_shutdown();
    for (uint64_t i = 0; i < LEAVES; i++) {
        ck_assert_uint_eq(v[8 * i], i);
        total += v[8 * i + 1];
    }
    ck_assert_uint_eq(total, 3 * 2 * ROUNDS);
    ck_assert_int_eq(faults, 0);
}
END_TEST

static Suite *pieces_suite(void)
{
    Suite *s = suite_create("partitioned data");
    TCase *tc = tcase_create("in place");
    TCase *full = tcase_create("full");
    TCase *claims = tcase_create("claims");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, pieces_of_what_a_gpu_has_are_there_and_move_nowhere,
                        0, 2 * NRULES);
    tcase_add_loop_test(tc, only_what_was_written_elsewhere_comes_back, 0,
                        NRULES);
    tcase_add_loop_test(tc, the_whole_is_where_all_pieces_are, 0, NRULES);
    tcase_add_loop_test(tc, pieces_of_pieces_are_in_place, 0, NRULES);
    tcase_add_loop_test(tc, what_no_piece_covers_is_kept, 0, 2 * NRULES);
    tcase_add_loop_test(tc, what_no_piece_covers_may_be_out_of_date, 0, NRULES);
    tcase_add_loop_test(tc, pieces_may_overlap, 0, NRULES);
    tcase_add_loop_test(tc, pieces_are_joined_on_no_node_in_particular, 0,
                        NRULES);
    tcase_add_loop_test(tc, pieces_make_the_first_value, 0, NRULES);
    tcase_add_loop_test(tc, tasks_contribute_to_pieces_in_place, 0, NRULES);
    suite_add_tcase(s, tc);
    tcase_set_timeout(full, 60);
    tcase_add_loop_test(full, pieces_leave_a_gpu_together, 0, NRULES);
    tcase_add_loop_test(full, a_task_does_not_wait_for_the_rest_of_what_it_uses,
                        0, NRULES);
    tcase_add_loop_test(
        full, pieces_are_put_together_where_a_task_needs_the_room, 0, NRULES);
    tcase_add_loop_test(full, a_value_is_written_back_after_an_older_one, 0,
                        NRULES);
    tcase_add_loop_test(full, pieces_come_and_go_under_little_memory, 0,
                        NRULES);
    tcase_add_loop_test(full, one_piece_is_evicted_if_all_may_be, 0, NRULES);
    tcase_add_loop_test(full, data_may_stay_in_pieces, 0, NRULES);
    suite_add_tcase(s, full);
    tcase_set_timeout(claims, 60);
    tcase_add_loop_test(claims, claims_on_pieces_of_pieces_exclude_each_other,
                        0, NSORTS * NMACHINES);
    suite_add_tcase(s, claims);
    return s;
}

SUITE_MAIN(pieces)
{
    return suite_main(pieces_suite());
}
