/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-data.c - data: coherency, order, eviction, partition, on each
 * machine. The oracle is the same program run in order on plain arrays.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

/* v = v * a + b, elementwise; a datum's history is in its value. */
struct affine {
    uint64_t a, b;
};

static void scale(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const struct affine *map = arg;

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] = v[i] * map->a + map->b;
}

static void add(void *buffers[], void *arg)
{
    uint64_t *to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const uint64_t *from = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

/* STARPU_VALUE packs arguments: unpack what insert_scale sent. */
static void scale_packed(void *buffers[], void *arg)
{
    struct affine map;

    starpu_codelet_unpack_args(arg, &map);
    scale(buffers, &map);
}

static struct starpu_codelet cl_scale = {
    .cpu_funcs = {scale_packed},
    .cuda_funcs = {scale_packed},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static struct starpu_codelet cl_add = {
    .cpu_funcs = {add},
    .cuda_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .name = "k",
};

static void insert_scale(starpu_data_handle_t handle, uint64_t a, uint64_t b)
{
    struct affine map = {a, b};

    ck_assert_int_eq(starpu_task_insert(&cl_scale, STARPU_VALUE, &map,
                                        sizeof(map), STARPU_RW, handle, 0),
                     0);
}

START_TEST(a_value_written_by_tasks_is_back_after_unregister)
{
    uint64_t v[64] = {0};
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, 64,
                                sizeof(*v));
    for (uint64_t i = 1; i <= 10; i++)
        insert_scale(handle, 3, i);
    starpu_data_unregister(handle);
    starpu_shutdown();
    for (int k = 0; k < 64; k++) {
        uint64_t expected = 0;

        for (uint64_t i = 1; i <= 10; i++)
            expected = expected * 3 + i;
        ck_assert_uint_eq(v[k], expected);
    }
}
END_TEST

#define NDATA 24
#define NX    64

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* Random tasks on random workers, checked against running them in order. */
START_TEST(random_graphs_give_the_sequential_result)
{
    static uint64_t v[NDATA][NX], expected[NDATA][NX];
    starpu_data_handle_t handle[NDATA];
    uint64_t seed = 12345 + (uint64_t)_i;

    machine_open(_i % NMACHINES);
    for (int d = 0; d < NDATA; d++) {
        for (int k = 0; k < NX; k++)
            v[d][k] = expected[d][k] = (uint64_t)(d * 1000 + k);
        starpu_vector_data_register(&handle[d], STARPU_MAIN_RAM,
                                    (uintptr_t)v[d], NX, sizeof(v[d][0]));
    }
    for (int t = 0; t < 1500; t++) {
        unsigned to = (unsigned)draw(&seed) % NDATA;
        unsigned from = (unsigned)draw(&seed) % NDATA;
        int worker = (int)(draw(&seed) % starpu_worker_get_count());

        if (draw(&seed) % 3)
            worker = -1;
        if (to == from) {
            uint64_t a = draw(&seed) % 7 + 1, b = draw(&seed) % 100;
            struct affine map = {a, b};

            starpu_task_insert(&cl_scale, STARPU_VALUE, &map, sizeof(map),
                               STARPU_RW, handle[to], STARPU_EXECUTE_ON_WORKER,
                               worker, 0);
            for (int k = 0; k < NX; k++)
                expected[to][k] = expected[to][k] * a + b;
        } else {
            starpu_task_insert(&cl_add, STARPU_RW, handle[to], STARPU_R,
                               handle[from], STARPU_EXECUTE_ON_WORKER, worker,
                               STARPU_PRIORITY, (int)(draw(&seed) % 5), 0);
            for (int k = 0; k < NX; k++)
                expected[to][k] += expected[from][k];
        }
        if (t % 97 == 0) {
            ck_assert_int_eq(starpu_data_acquire(handle[to], STARPU_R), 0);
            ck_assert_int_eq(memcmp(v[to], expected[to], sizeof(v[to])), 0);
            starpu_data_release(handle[to]);
        }
        if (t % 53 == 0)
            starpu_data_wont_use(handle[from]);
    }
    for (int d = 0; d < NDATA; d++)
        starpu_data_unregister(handle[d]);
    starpu_shutdown();
    for (int d = 0; d < NDATA; d++)
        ck_assert_int_eq(memcmp(v[d], expected[d], sizeof(v[d])), 0);
}
END_TEST

/* 40 data of 4 MiB on GPUs of 64 MiB. */
START_TEST(data_larger_than_a_gpu_are_evicted_and_come_back)
{
    enum { N = 40, LENGTH = 1 << 19 };
    starpu_data_handle_t handle[N];
    uint64_t *v[N];

    machine_open(_i);
    for (int d = 0; d < N; d++) {
        v[d] = calloc(LENGTH, sizeof(**v));
        starpu_vector_data_register(&handle[d], STARPU_MAIN_RAM,
                                    (uintptr_t)v[d], LENGTH, sizeof(**v));
    }
    for (int round = 0; round < 3; round++)
        for (int d = 0; d < N; d++) {
            struct affine map = {2, (uint64_t)d + 1};
            int gpu = machine_simulated(_i)
                          ? starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0)
                          : -1;

            starpu_task_insert(&cl_scale, STARPU_VALUE, &map, sizeof(map),
                               STARPU_RW, handle[d], STARPU_EXECUTE_ON_WORKER,
                               gpu, 0);
        }
    for (int d = 0; d < N; d++) {
        starpu_data_unregister(handle[d]);
        ck_assert_uint_eq(v[d][0], 7 * ((uint64_t)d + 1));
        ck_assert_uint_eq(v[d][LENGTH - 1], 7 * ((uint64_t)d + 1));
        free(v[d]);
    }
    starpu_shutdown();
}
END_TEST

/* shows starpu_matrix_filter_vertical_block */
START_TEST(a_matrix_cut_in_two_dimensions_is_whole_again)
{
    enum { N = 32, PARTS = 4 };
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_vertical_block, .nchildren = PARTS};
    struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
                                      .nchildren = PARTS};
    static uint64_t m[N][N];
    starpu_data_handle_t handle;

    machine_open(_i);
    for (int i = 0; i < N * N; i++)
        m[i / N][i % N] = (uint64_t)i;
    starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)m, N, N, N,
                                sizeof(m[0][0]));
    starpu_data_map_filters(handle, 2, &columns, &rows);
    ck_assert_int_eq(starpu_data_get_nb_children(handle), PARTS);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < PARTS; i++)
            for (int j = 0; j < PARTS; j++) {
                starpu_data_handle_t tile =
                    starpu_data_get_sub_data(handle, 2, i, j);
                extern struct starpu_codelet cl_tile;

                ck_assert_int_eq(
                    starpu_task_insert(&cl_tile, STARPU_RW, tile, 0), 0);
            }
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
    starpu_shutdown();
    for (int i = 0; i < N * N; i++)
        ck_assert_uint_eq(m[i / N][i % N], (uint64_t)i + 3);
}
END_TEST

static void increment_tile(void *buffers[], void *arg)
{
    uint64_t *m = (uint64_t *)STARPU_MATRIX_GET_PTR(buffers[0]);
    unsigned ld = STARPU_MATRIX_GET_LD(buffers[0]);

    (void)arg;
    for (unsigned y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); y++)
        for (unsigned x = 0; x < STARPU_MATRIX_GET_NX(buffers[0]); x++)
            m[y * ld + x]++;
}

struct starpu_codelet cl_tile = {
    .cpu_funcs = {increment_tile},
    .cuda_funcs = {increment_tile},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

/* Adds the number of the plane, with that of the block as its tens. */
static void add_to_tensor(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_TENSOR_GET_PTR(buffers[0]);
    void *i = buffers[0];

    (void)arg;
    for (unsigned t = 0; t < STARPU_TENSOR_GET_NT(i); t++)
        for (unsigned z = 0; z < STARPU_TENSOR_GET_NZ(i); z++)
            for (unsigned y = 0; y < STARPU_TENSOR_GET_NY(i); y++)
                for (unsigned x = 0; x < STARPU_TENSOR_GET_NX(i); x++)
                    v[x + y * STARPU_TENSOR_GET_LDY(i) +
                      z * STARPU_TENSOR_GET_LDZ(i) +
                      t * STARPU_TENSOR_GET_LDT(i)] += z + 10 * t;
}

START_TEST(a_tensor_with_gaps_travels_and_leaves_them_alone)
{
    enum { XS = 3, YS = 2, ZS = 4, TS = 2, LDY = 5, LDZ = 11, LDT = 50 };
    static struct starpu_codelet cl = {.cpu_funcs = {add_to_tensor},
                                       .cuda_funcs = {add_to_tensor},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};
    uint64_t v[TS * LDT];
    starpu_data_handle_t handle;

    machine_open(_i);
    for (uint64_t i = 0; i < TS * LDT; i++)
        v[i] = i;
    starpu_tensor_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, LDY,
                                LDZ, LDT, XS, YS, ZS, TS, sizeof(*v));
    for (int round = 0; round < 10; round++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handle, 0), 0);
    starpu_data_unregister(handle);
    starpu_shutdown();
    for (uint64_t i = 0; i < TS * LDT; i++) {
        uint64_t t = i / LDT, z = i % LDT / LDZ, y = i % LDT % LDZ / LDY,
                 x = i % LDT % LDZ % LDY;
        bool is_gap = x >= XS || y >= YS || z >= ZS;

        ck_assert_uint_eq(v[i], i + (is_gap ? 0 : 10 * (z + 10 * t)));
    }
}
END_TEST

/* What copy methods of an application's own interfaces call: 2 x 2 x 2 runs of
 * 3 bytes, in steps of 4, 9 and 20 on one side, of 3, 6 and 12 on the other. */
START_TEST(copies_of_each_number_of_dimensions_step_over_gaps)
{
    char wide[40], tight[26] = {0}, expected[26] = {0};
    uintptr_t from = (uintptr_t)wide, to = (uintptr_t)tight;
    size_t runs = (size_t)1 << _i;

    for (int i = 0; i < 40; i++)
        wide[i] = (char)i;
    for (size_t i = 0; i < runs; i++)
        for (size_t byte = 0; byte < 3; byte++)
            expected[1 + 3 * i + byte] =
                (char)(2 + (i & 1) * 4 + (i >> 1 & 1) * 9 + (i >> 2 & 1) * 20 +
                       byte);
    switch (_i) {
    case 0:
        starpu_interface_copy(from, 2, 0, to, 1, 0, 3, NULL);
        break;
    case 1:
        starpu_interface_copy2d(from, 2, 0, to, 1, 0, 3, 2, 4, 3, NULL);
        break;
    case 2:
        starpu_interface_copy3d(from, 2, 0, to, 1, 0, 3, 2, 4, 3, 2, 9, 6,
                                NULL);
        break;
    default:
        starpu_interface_copy4d(from, 2, 0, to, 1, 0, 3, 2, 4, 3, 2, 9, 6, 2,
                                20, 12, NULL);
    }
    ck_assert_mem_eq(tight, expected, sizeof(tight));
}
END_TEST

static void write_index(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 42;
}

START_TEST(data_without_a_home_live_where_tasks_write_them)
{
    static struct starpu_codelet cl = {.cpu_funcs = {write_index},
                                       .cuda_funcs = {write_index},
                                       .nbuffers = 1,
                                       .modes = {STARPU_W},
                                       .name = "k"};
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_variable_data_register(&handle, -1, 0, sizeof(int));
    starpu_task_insert(&cl, STARPU_W, handle, 0);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_int_eq(*(int *)starpu_data_get_local_ptr(handle), 42);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* The old value is still on its way there, or was to go there. */
START_TEST(a_writer_overtakes_no_copy_of_the_old_value)
{
    static struct starpu_codelet cl = {.cpu_funcs = {write_index},
                                       .cuda_funcs = {write_index},
                                       .nbuffers = 1,
                                       .modes = {STARPU_W},
                                       .name = "k"};
    static int big[1 << 18];
    starpu_data_handle_t handle;

    machine_open(_i);
    big[0] = 1;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)big,
                                  sizeof(big));
    starpu_data_prefetch_on_node(
        handle, starpu_worker_get_memory_node(starpu_worker_get_count() - 1),
        1);
    starpu_usleep(20);
    starpu_task_insert(&cl, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER,
                       (int)starpu_worker_get_count() - 1, 0);
    starpu_task_wait_for_all();
    starpu_data_wont_use(handle);
    starpu_usleep(20);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
    big[0] = 7;
    big[1] = 8;
    starpu_data_release(handle);
    starpu_usleep(100000);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_int_eq(big[0], 7);
    ck_assert_int_eq(big[1], 8);
    starpu_data_release(handle);
    big[0] = 1;
    starpu_task_insert(&cl, STARPU_W, handle, STARPU_EXECUTE_ON_WORKER,
                       (int)starpu_worker_get_count() - 1, 0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(big[0], 42);
    starpu_shutdown();
}
END_TEST

enum { MANY = 1000 };

struct many {
    starpu_data_handle_t handle;
    atomic_int acquired, refused; /* by whichever thread tells it */
};

/* Acquires the data again until they are MANY times. */
static void acquire_more(void *arg)
{
    struct many *many = arg;

    if (++many->acquired < MANY)
        many->refused += starpu_data_acquire_cb(many->handle, STARPU_R,
                                                acquire_more, many) != 0;
}

START_TEST(data_are_acquired_as_often_as_one_likes)
{
    uint64_t v[1] = {3};
    struct many many = {.acquired = 0};

    machine_open(_i);
    starpu_vector_data_register(&many.handle, STARPU_MAIN_RAM, (uintptr_t)v, 1,
                                sizeof(v[0]));
    insert_scale(many.handle, 2, 0);
    /* Asynchronous prefetches after a writer are acquisitions, too. */
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(
            starpu_data_prefetch_on_node(many.handle, STARPU_MAIN_RAM, 1), 0);
    ck_assert_int_eq(
        starpu_data_acquire_cb(many.handle, STARPU_R, acquire_more, &many), 0);
    ck_assert_int_eq(starpu_data_acquire(many.handle, STARPU_R), 0);
    while (many.acquired < MANY)
        starpu_usleep(10);
    ck_assert_int_eq(many.refused, 0);
    insert_scale(many.handle, 5, 0);
    for (int i = 0; i <= MANY; i++) {
        ck_assert_uint_eq(v[0], 6);
        starpu_data_release(many.handle);
    }
    starpu_data_unregister(many.handle);
    ck_assert_uint_eq(v[0], 30);
    starpu_shutdown();
}
END_TEST

static int seen;

static void release_it(void *arg)
{
    seen++;
    starpu_data_release((starpu_data_handle_t)arg);
}

START_TEST(acquire_cb_sees_the_value_of_earlier_tasks)
{
    uint64_t v[8] = {0};
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, 8,
                                sizeof(*v));
    insert_scale(handle, 1, 5);
    starpu_data_acquire_cb(handle, STARPU_RW, release_it, handle);
    insert_scale(handle, 2, 0);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    ck_assert_int_eq(seen, 1);
    ck_assert_uint_eq(v[3], 10);
}
END_TEST

static void use_scratch(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    uint64_t *scratch = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < 8; i++)
        scratch[i] = v[i] + 1;
    for (unsigned i = 0; i < 8; i++)
        v[i] = scratch[i];
}

START_TEST(scratch_buffers_belong_to_one_worker_each)
{
    static struct starpu_codelet cl = {.cpu_funcs = {use_scratch},
                                       .cuda_funcs = {use_scratch},
                                       .nbuffers = 2,
                                       .modes = {STARPU_RW, STARPU_SCRATCH},
                                       .name = "k"};
    uint64_t v[16][8] = {{0}};
    starpu_data_handle_t handle[16], scratch;

    machine_open(_i);
    starpu_vector_data_register(&scratch, -1, 0, 8, sizeof(**v));
    for (int d = 0; d < 16; d++)
        starpu_vector_data_register(&handle[d], STARPU_MAIN_RAM,
                                    (uintptr_t)v[d], 8, sizeof(**v));
    for (int round = 0; round < 20; round++)
        for (int d = 0; d < 16; d++)
            starpu_task_insert(&cl, STARPU_RW, handle[d], STARPU_SCRATCH,
                               scratch, 0);
    for (int d = 0; d < 16; d++)
        starpu_data_unregister(handle[d]);
    starpu_data_unregister(scratch);
    starpu_shutdown();
    for (int d = 0; d < 16; d++)
        ck_assert_uint_eq(v[d][7], 20);
}
END_TEST

static void look_at(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl_look = {.cpu_funcs = {look_at},
                                        .cuda_funcs = {look_at},
                                        .nbuffers = 1,
                                        .modes = {STARPU_R},
                                        .name = "k"};

/* All runs of these tests compare themselves with lower bounds. */
START_TEST(no_bound_counts_copies_that_were_made_before)
{
    static uint64_t v[1 << 17];
    starpu_data_handle_t handle;
    int gpus[3];

    machine_open(_i);
    ck_assert_int_eq(
        (int)starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, gpus, 3), 3);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v,
                                sizeof(v) / sizeof(*v), sizeof(*v));
    ck_assert_int_eq(
        starpu_data_fetch_on_node(
            handle, starpu_worker_get_memory_node((unsigned)gpus[0]), 0),
        0);
    ck_assert_int_eq(starpu_task_insert(&cl_look, STARPU_R, handle,
                                        STARPU_EXECUTE_ON_WORKER, gpus[0], 0),
                     0);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static int compare_addresses(const void *a, const void *b)
{
    const uintptr_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Memory that goes back to the system comes again page by page. */
START_TEST(memory_of_many_handles_is_used_again)
{
    enum { NHANDLES = 1000 };
    static starpu_data_handle_t handles[2][NHANDLES];
    static int x[NHANDLES];

    machine_open(_i);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < NHANDLES; i++) {
            starpu_variable_data_register(&handles[round][i], STARPU_MAIN_RAM,
                                          (uintptr_t)&x[i], sizeof(*x));
            ck_assert_uint_eq((uintptr_t)handles[round][i] % 64, 0);
        }
        for (int i = 0; i < NHANDLES; i++)
            starpu_data_unregister(handles[round][i]);
        qsort(handles[round], NHANDLES, sizeof(*handles[round]),
              compare_addresses);
    }
    ck_assert_mem_eq(handles[0], handles[1], sizeof(handles[0]));
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(data)
{
    Suite *suite = suite_create("api-data");
    TCase *tc = tcase_create("each machine");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, memory_of_many_handles_is_used_again, 0, NMACHINES);
    tcase_add_loop_test(tc, a_value_written_by_tasks_is_back_after_unregister,
                        0, NMACHINES);
    tcase_add_loop_test(tc, random_graphs_give_the_sequential_result, 0,
                        8 * NMACHINES);
    tcase_add_loop_test(tc, data_larger_than_a_gpu_are_evicted_and_come_back, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_matrix_cut_in_two_dimensions_is_whole_again, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_tensor_with_gaps_travels_and_leaves_them_alone, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, copies_of_each_number_of_dimensions_step_over_gaps,
                        0, 4);
    tcase_add_loop_test(tc, data_without_a_home_live_where_tasks_write_them, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, data_are_acquired_as_often_as_one_likes, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_writer_overtakes_no_copy_of_the_old_value, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, acquire_cb_sees_the_value_of_earlier_tasks, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, scratch_buffers_belong_to_one_worker_each, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, no_bound_counts_copies_that_were_made_before,
                        FIRST_SIMULATED, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
