/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-numa.c - a memory node per NUMA node (STARPU_USE_NUMA), on
 * topologies that hwloc makes up and on a simulated machine: where workers
 * compute, how fast links are, that data move and come back right, limits,
 * nodes without workers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

enum { N = 64 };

static void open_synthetic(const char *synthetic)
{
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    setenv("STARPU_USE_NUMA", "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    unsetenv("STARPU_NCPU");
    ck_assert_int_eq(starpu_init(NULL), 0);
}

#define TWO_NODES "pack:2 [numa] core:2 pu:2"

/* -- what there is -- */

/* shows starpu_memory_node_get_devid */
START_TEST(each_worker_computes_in_the_node_of_its_core)
{
    static const unsigned nodes[] = {0, 0, 1, 1};
    char name[32];

    open_synthetic(TWO_NODES);
    ck_assert_uint_eq(starpu_worker_get_count(), 4);
    for (unsigned w = 0; w < 4; w++)
        ck_assert_uint_eq(starpu_worker_get_memory_node(w), nodes[w]);
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), 2);
    ck_assert_uint_eq(starpu_memory_nodes_get_numa_count(), 2);
    for (unsigned node = 0; node < 2; node++) {
        ck_assert_int_eq(starpu_node_get_kind(node), STARPU_CPU_RAM);
        ck_assert_int_eq(starpu_memory_node_get_devid(node), (int)node);
    }
    starpu_memory_node_get_name(1, name, sizeof(name));
    ck_assert_str_eq(name, "NUMA 1");
    starpu_shutdown();
}
END_TEST

START_TEST(by_default_main_memory_is_one_node)
{
    setenv("HWLOC_SYNTHETIC", TWO_NODES, 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_worker_get_count(), 4);
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), 1);
    ck_assert_int_eq(starpu_memory_get_total(0), -1);
    ck_assert_int_eq(starpu_memory_nodes_numa_id_to_devid(1), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(nodes_have_the_systems_numbers)
{
    open_synthetic("pack:3 [numa(indexes=4,0,2)] core:1 pu:1");
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), 3);
    ck_assert_int_eq(starpu_memory_nodes_numa_devid_to_id(0), 4);
    ck_assert_int_eq(starpu_memory_nodes_numa_devid_to_id(2), 2);
    ck_assert_int_eq(starpu_memory_nodes_numa_devid_to_id(3), -1);
    ck_assert_int_eq(starpu_memory_nodes_numa_id_to_devid(0), 1);
    ck_assert_int_eq(starpu_memory_nodes_numa_id_to_devid(1), -1);
    starpu_shutdown();
}
END_TEST

START_TEST(each_node_may_hold_as_much_as_it_has)
{
    open_synthetic("pack:2 [numa(memory=64MiB)] core:1 pu:1");
    ck_assert_int_eq(starpu_memory_get_total(1), 64 << 20);
    ck_assert_int_eq(starpu_memory_get_total_all_nodes(), 128 << 20);
    starpu_shutdown();
}
END_TEST

static const struct {
    const char *variable, *value;
    long mib[2];
} limits[] = {
    {"STARPU_LIMIT_CPU_NUMA_MEM", "10", {10, 10}},
    {"STARPU_LIMIT_CPU_NUMA_1_MEM", "7", {1024, 7}},
    {"STARPU_LIMIT_CPU_MEM", "30", {15, 15}},
};

START_TEST(limits_hold_for_each_node)
{
    setenv(limits[_i].variable, limits[_i].value, 1);
    open_synthetic("pack:2 [numa(memory=1GiB)] core:1 pu:1");
    for (unsigned node = 0; node < 2; node++)
        ck_assert_int_eq(starpu_memory_get_total(node),
                         limits[_i].mib[node] << 20);
    starpu_shutdown();
}
END_TEST

/* -- the speed of links -- */

static void remove_folder(const char *folder)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Speeds that are not kept, or not known, have a message that says why. */
static void open_calibrated(void)
{
    FILE *file = tmpfile();
    char text[4096] = "";

    ck_assert_ptr_nonnull(file);
    fflush(stderr);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    setenv("HWLOC_SYNTHETIC", TWO_NODES, 1);
    setenv("STARPU_USE_NUMA", "1", 1);
    unsetenv("STARPU_SILENT");
    ck_assert_int_eq(starpu_init(NULL), 0);
    rewind(file);
    (void)!fread(text, 1, sizeof(text) - 1, file);
    ck_assert_msg(!strstr(text, "bus bandwidths"), "%s", text);
    fclose(file);
}

START_TEST(links_have_the_parameters_of_the_calibration)
{
    char folder[] = "/tmp/orrery-numa-XXXXXX", path[128];
    double bandwidth, latency;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("STARPU_PERF_MODEL_DIR", folder, 1);
    setenv("STARPU_HOSTNAME", "here", 1);
    open_calibrated();
    bandwidth = starpu_transfer_bandwidth(0, 1);
    latency = starpu_transfer_latency(0, 1);
    ck_assert(bandwidth > 0 && bandwidth < 1e9);
    ck_assert(latency >= 0 && latency < 1e6);
    ck_assert(starpu_transfer_predict(0, 1, 1 << 20) >= (1 << 20) / bandwidth);
    starpu_shutdown();
    /* Kept, not measured again. */
    open_calibrated();
    ck_assert_double_eq_tol(starpu_transfer_bandwidth(0, 1), bandwidth,
                            1e-5 * bandwidth);
    starpu_shutdown();
    /* Cut by a full disk or by a process that was killed: measured again. */
    snprintf(path, sizeof(path), "%s/bus/here.bandwidth", folder);
    ck_assert_int_eq(truncate(path, 0), 0);
    open_calibrated();
    ck_assert(starpu_transfer_bandwidth(0, 1) > 0);
    starpu_shutdown();
    remove_folder(folder);
}
END_TEST

/* -- simulated -- */

static void open_catalogue(const char *numa)
{
    setenv("ORRERY_MACHINE", "r940xa-4", 1);
    setenv("STARPU_USE_NUMA", numa, 1);
    setenv("STARPU_SILENT", "1", 1);
    unsetenv("STARPU_NCPU");
    ck_assert_int_eq(starpu_init(NULL), 0);
}

START_TEST(a_simulated_machine_has_its_nodes_too)
{
    unsigned workers[4] = {0, 0, 0, 0};

    open_catalogue("1");
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), 8);
    ck_assert_uint_eq(starpu_memory_nodes_get_numa_count(), 4);
    for (unsigned w = 0; w < starpu_cpu_worker_get_count(); w++)
        workers[starpu_worker_get_memory_node(w)]++;
    for (unsigned node = 0; node < 4; node++)
        ck_assert_uint_eq(workers[node], 27); /* and one drives the device */
    for (unsigned to = 1; to < 4; to++)
        ck_assert_double_eq_tol(starpu_transfer_bandwidth(0, to), 16640, 1e-6);
    ck_assert_double_eq_tol(starpu_transfer_bandwidth(1, 5), 12288, 1e-6);
    starpu_shutdown();
}
END_TEST

/* The bus of each of 4 devices counts as shared by all of them, in both
 * directions at once: main memories are no devices. */
START_TEST(copies_to_devices_are_predicted_alike_for_all_numbers_of_nodes)
{
    const double size = 1e6, shared = 2 * 4 * size;

    open_catalogue("1");
    for (unsigned device = 4; device < 8; device++)
        for (unsigned node = 0; node < 4; node++)
            ck_assert_double_eq_tol(
                starpu_transfer_predict(node, device, (size_t)size),
                starpu_transfer_latency(node, device) +
                    shared / starpu_transfer_bandwidth(node, device),
                1e-6);
    starpu_shutdown();
}
END_TEST

START_TEST(a_simulated_machine_has_one_main_memory_by_default)
{
    open_catalogue("0");
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), 5);
    ck_assert_uint_eq(starpu_memory_nodes_get_numa_count(), 1);
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), 108);
    starpu_shutdown();
}
END_TEST

/* -- data -- */

/* v = v * 3 + 1; records where its datum was. */
static void step(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] = v[i] * 3 + 1;
    if (arg)
        *(uint64_t **)arg = v;
}

static void add(void *buffers[], void *arg)
{
    uint64_t *to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const uint64_t *from = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

static struct starpu_codelet cl_step = {
    .cpu_funcs = {step}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet cl_add = {
    .cpu_funcs = {add}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};

static void insert_step(starpu_data_handle_t handle, int worker, uint64_t **at)
{
    ck_assert_int_eq(starpu_task_insert(&cl_step, STARPU_RW, handle,
                                        STARPU_CL_ARGS_NFREE, at, sizeof(at),
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
}

static unsigned long long carried(int src, int dst)
{
    struct starpu_profiling_bus_info info;
    int bus = starpu_bus_get_id(src, dst);

    ck_assert_int_ge(bus, 0);
    ck_assert_int_eq(starpu_bus_get_profiling_info(bus, &info), 0);
    return info.transferred_bytes;
}

START_TEST(a_datum_moves_to_the_node_of_its_task_and_home)
{
    uint64_t v[N] = {0}, *at[2] = {NULL, NULL};
    starpu_data_handle_t handle;

    open_synthetic(TWO_NODES);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, N,
                                sizeof(*v));
    insert_step(handle, 0, &at[0]);
    insert_step(handle, 3, &at[1]);
    starpu_task_wait_for_all();
    ck_assert_ptr_eq(at[0], v);
    ck_assert_ptr_ne(at[1], v);
    ck_assert_uint_eq((uintptr_t)at[1] % 64, 0);
    ck_assert_uint_eq(carried(0, 1), sizeof(v));
    starpu_data_unregister(handle);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(v[i], 4);
    ck_assert_uint_eq(carried(1, 0), sizeof(v));
    starpu_shutdown();
}
END_TEST

START_TEST(simulated_data_move_too)
{
    uint64_t v[N] = {0}, *at[2] = {NULL, NULL};
    starpu_data_handle_t handle;

    setenv("ORRERY_SIM_KERNELS", "run", 1);
    setenv("ORRERY_ASSUME", "kernel[k] = 50us", 1);
    cl_step.name = "k";
    open_catalogue("1");
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, N,
                                sizeof(*v));
    insert_step(handle, 0, &at[0]);
    insert_step(handle, 107, &at[1]);
    starpu_task_wait_for_all();
    ck_assert_ptr_eq(at[0], v);
    ck_assert_ptr_ne(at[1], v);
    ck_assert_uint_eq(carried(0, 3), sizeof(v));
    starpu_data_unregister(handle);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(v[i], 4);
    ck_assert_uint_eq(carried(3, 0), sizeof(v));
    starpu_shutdown();
}
END_TEST

START_TEST(data_at_home_on_another_node_come_back_there)
{
    uint64_t v[N] = {0};
    starpu_data_handle_t handle;

    open_synthetic(TWO_NODES);
    starpu_vector_data_register(&handle, 1, (uintptr_t)v, N, sizeof(*v));
    insert_step(handle, 0, NULL);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_ptr_eq((void *)starpu_vector_get_local_ptr(handle), v);
    ck_assert_uint_eq(v[N - 1], 1);
    v[0] = 10;
    starpu_data_release(handle);
    insert_step(handle, 1, NULL);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(v[0], 31);
    ck_assert_uint_eq(v[1], 4);
    starpu_shutdown();
}
END_TEST

START_TEST(parts_are_where_their_whole_is_at_home)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    uint64_t v[N] = {0};
    starpu_data_handle_t handle, half;

    open_synthetic(TWO_NODES);
    starpu_vector_data_register(&handle, _i, (uintptr_t)v, N, sizeof(*v));
    insert_step(handle, 0, NULL);
    starpu_data_partition(handle, &halves);
    half = starpu_data_get_sub_data(handle, 1, 1);
    insert_step(half, 0, NULL);
    insert_step(half, 3, NULL);
    ck_assert_int_eq(starpu_data_acquire(half, STARPU_R), 0);
    ck_assert_uint_eq(v[N - 1], 13);
    starpu_data_release(half);
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(v[0], 1);
    ck_assert_uint_eq(v[N - 1], 13);
    starpu_shutdown();
}
END_TEST

START_TEST(nodes_without_workers_hold_data_too)
{
    uint64_t v[N] = {0};
    starpu_data_handle_t handle, none;
    uint64_t *at = NULL;

    setenv("STARPU_WORKERS_CPUID", "1", 1);
    open_synthetic("pack:3 [numa] core:1 pu:1");
    ck_assert_uint_eq(starpu_worker_get_count(), 1);
    ck_assert_uint_eq(starpu_worker_get_memory_node(0), 1);
    starpu_vector_data_register(&handle, 2, (uintptr_t)v, N, sizeof(*v));
    ck_assert_int_eq(starpu_data_acquire_on_node(handle, 0, STARPU_RW), 0);
    starpu_data_release_on_node(handle, 0);
    insert_step(handle, 0, &at);
    ck_assert_int_eq(starpu_data_prefetch_on_node(handle, 0, 0), 0);
    starpu_data_unregister(handle);
    ck_assert_ptr_ne(at, v);
    ck_assert_uint_eq(v[5], 1);
    starpu_vector_data_register(&none, -1, 0, N, sizeof(*v));
    ck_assert_int_eq(starpu_data_acquire_on_node(none, 2, STARPU_W), 0);
    starpu_data_release_on_node(none, 2);
    starpu_data_unregister(none);
    starpu_shutdown();
}
END_TEST

/* 48 data of 256 KiB, 6 MiB of them foreign to each node, which keeps 1 MiB:
 * values that were written there are written back and fetched again. */
START_TEST(what_does_not_fit_in_a_node_is_evicted)
{
    enum { DATA = 48, LONG = 32768, ROUNDS = 3 };
    static uint64_t v[DATA][LONG];
    starpu_data_handle_t handle[DATA];

    setenv("STARPU_LIMIT_CPU_NUMA_MEM", "1", 1);
    open_synthetic(TWO_NODES);
    for (int d = 0; d < DATA; d++)
        starpu_vector_data_register(&handle[d], d % 2, (uintptr_t)v[d], LONG,
                                    sizeof(**v));
    for (int r = 0; r < ROUNDS; r++)
        for (int d = 0; d < DATA; d++)
            insert_step(handle[d], (d + r) % 4, NULL);
    starpu_task_wait_for_all();
    /* The two workers may have gone beyond, by what they needed. */
    for (unsigned node = 0; node < 2; node++)
        ck_assert_uint_le(starpu_memory_get_used(node), 2 << 20);
    for (int d = 0; d < DATA; d++) {
        starpu_data_unregister(handle[d]);
        for (int i = 0; i < LONG; i++)
            ck_assert_uint_eq(v[d][i], 13);
    }
    for (unsigned node = 0; node < 2; node++)
        ck_assert_uint_eq(starpu_memory_get_used(node), 0);
    starpu_shutdown();
}
END_TEST

/* Each worker holds a part of what does not fit, and waits for the rest. */
START_TEST(tasks_that_together_do_not_fit_run_all_the_same)
{
    enum { LONG = 100000, TASKS = 40 };
    starpu_data_handle_t handle[4];
    uint64_t *v = calloc(4 * LONG, sizeof(*v));

    ck_assert_ptr_nonnull(v);
    setenv("STARPU_LIMIT_CPU_NUMA_MEM", "1", 1);
    open_synthetic(TWO_NODES);
    for (unsigned d = 0; d < 4; d++)
        starpu_vector_data_register(&handle[d], STARPU_MAIN_RAM,
                                    (uintptr_t)(v + d * LONG), LONG,
                                    sizeof(*v));
    insert_step(handle[0], 0, NULL);
    for (int t = 0; t < TASKS; t++)
        ck_assert_int_eq(starpu_task_insert(
                             &cl_add, STARPU_RW, handle[1 + t % 3], STARPU_R,
                             handle[0], STARPU_EXECUTE_ON_WORKER, 2 + t % 2, 0),
                         0);
    for (unsigned d = 0; d < 4; d++)
        starpu_data_unregister(handle[d]);
    ck_assert_uint_eq(v[LONG] + v[2 * LONG] + v[3 * LONG], TASKS);
    free(v);
    starpu_shutdown();
}
END_TEST

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* The oracle is the same program on plain arrays, in order. */
START_TEST(random_programs_compute_what_they_do_in_order)
{
    static const char *const policies[] = {"lws", "eager", "dmda", "dmdas"};
    enum { DATA = 12, LONGEST = 20000 };
    static uint64_t v[DATA][LONGEST];
    uint64_t expected[DATA] = {0}, state = 77 + (uint64_t)_i;
    /* The second half of the runs has more data than the nodes keep. */
    bool tight = _i >= 4;
    unsigned n = tight ? LONGEST : N, ntasks = tight ? 300 : 1500;
    starpu_data_handle_t handle[DATA];

    setenv("STARPU_SCHED", policies[_i % 4], 1);
    if (tight)
        setenv("STARPU_LIMIT_CPU_NUMA_MEM", "1", 1);
    open_synthetic("pack:3 [numa] core:1 pu:1");
    for (int d = 0; d < DATA; d++)
        starpu_vector_data_register(&handle[d], d % 3, (uintptr_t)v[d], n,
                                    sizeof(uint64_t));
    for (unsigned t = 0; t < ntasks; t++) {
        unsigned a = (unsigned)(draw(&state) % DATA);
        unsigned b = (a + 1 + (unsigned)(draw(&state) % (DATA - 1))) % DATA;

        switch (draw(&state) % 8) {
        case 0:
            (void)starpu_data_prefetch_on_node(handle[a], b % 3, 1);
            break;
        case 1:
            ck_assert_int_eq(
                starpu_data_acquire_on_node(handle[a], b % 3, STARPU_R), 0);
            ck_assert_uint_eq(
                *(uint64_t *)starpu_data_handle_to_pointer(handle[a], b % 3),
                expected[a]);
            starpu_data_release_on_node(handle[a], b % 3);
            break;
        case 2:
            starpu_data_wont_use(handle[a]);
            break;
        case 3:
        case 4:
            insert_step(handle[a], (int)(b % 3), NULL);
            expected[a] = expected[a] * 3 + 1;
            break;
        default:
            ck_assert_int_eq(starpu_task_insert(&cl_add, STARPU_RW, handle[a],
                                                STARPU_R, handle[b], 0),
                             0);
            expected[a] += expected[b];
        }
    }
    for (int d = 0; d < DATA; d++) {
        starpu_data_unregister(handle[d]);
        for (unsigned i = 0; i < n; i++)
            if (v[d][i] != expected[d])
                ck_abort_msg("datum %d, element %u", d, i);
    }
    starpu_shutdown();
}
END_TEST

/* -- where binding fails -- */

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* A topology that claims to be this machine's, whose second NUMA node is not
 * there. */
START_TEST(memory_that_cannot_be_bound_is_reported_once)
{
    enum { DATA = 4, LONG = 20000 };
    static uint64_t v[DATA][LONG];
    starpu_data_handle_t handle[DATA];
    char text[4096] = "";
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    fflush(stderr);
    ck_assert_int_ge(dup2(fileno(file), 2), 0);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    setenv("HWLOC_SYNTHETIC", "pack:2 [numa(indexes=0,63)] core:1 pu:1", 1);
    setenv("STARPU_WORKERS_GETBIND", "0", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    setenv("STARPU_USE_NUMA", "1", 1);
    unsetenv("STARPU_SILENT");
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_worker_get_count(), 2);
    for (int d = 0; d < DATA; d++)
        starpu_vector_data_register(&handle[d], 0, (uintptr_t)v[d], LONG,
                                    sizeof(**v));
    for (int d = 0; d < DATA; d++)
        insert_step(handle[d], 1, NULL);
    for (int d = 0; d < DATA; d++) {
        starpu_data_unregister(handle[d]);
        ck_assert_uint_eq(v[d][LONG - 1], 1);
    }
    starpu_shutdown();
    rewind(file);
    (void)!fread(text, 1, sizeof(text) - 1, file);
    ck_assert_uint_eq(count(text, "cannot be bound to NUMA"), 1);
    fclose(file);
}
END_TEST

static Suite *numa_suite(void)
{
    Suite *suite = suite_create("numa");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, each_worker_computes_in_the_node_of_its_core);
    tcase_add_test(tc, by_default_main_memory_is_one_node);
    tcase_add_test(tc, nodes_have_the_systems_numbers);
    tcase_add_test(tc, each_node_may_hold_as_much_as_it_has);
    tcase_add_loop_test(tc, limits_hold_for_each_node, 0,
                        (int)(sizeof(limits) / sizeof(*limits)));
    tcase_add_test(tc, links_have_the_parameters_of_the_calibration);
    tcase_add_test(tc, a_simulated_machine_has_its_nodes_too);
    tcase_add_test(
        tc, copies_to_devices_are_predicted_alike_for_all_numbers_of_nodes);
    tcase_add_test(tc, a_simulated_machine_has_one_main_memory_by_default);
    tcase_add_test(tc, simulated_data_move_too);
    tcase_add_test(tc, a_datum_moves_to_the_node_of_its_task_and_home);
    tcase_add_test(tc, data_at_home_on_another_node_come_back_there);
    tcase_add_loop_test(tc, parts_are_where_their_whole_is_at_home, 0, 2);
    tcase_add_test(tc, nodes_without_workers_hold_data_too);
    tcase_add_test(tc, what_does_not_fit_in_a_node_is_evicted);
    tcase_add_test(tc, tasks_that_together_do_not_fit_run_all_the_same);
    tcase_add_loop_test(tc, random_programs_compute_what_they_do_in_order, 0,
                        8);
    tcase_add_test(tc, memory_that_cannot_be_bound_is_reported_once);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(numa)
{
    return suite_main(numa_suite());
}
