/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-bus.c - links between memory nodes, on each machine: their
 * numbers, what they carried, which devices share them, and the tables that
 * show them. The simulated machine is gpus.xml: 3 GPUs, of which 0 and 1 are
 * peers.
 */
#define STARPU_USE_DEPRECATED_API
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "machines.h"

#define BYTES 100000

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet reader = {
    .cpu_funcs = {nothing},
    .cuda_funcs = {nothing},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

/* Reads BYTES of main memory on the worker that computes in `node`. */
static void read_on(unsigned node, starpu_data_handle_t handle)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        if (starpu_worker_get_memory_node(w) == node) {
            ck_assert_int_eq(starpu_task_insert(&reader, STARPU_R, handle,
                                                STARPU_EXECUTE_ON_WORKER,
                                                (int)w, 0),
                             0);
            break;
        }
    starpu_task_wait_for_all();
}

static char bytes[BYTES];

static starpu_data_handle_t register_bytes(void)
{
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes,
                                  sizeof(bytes));
    return handle;
}

/* --- which there are --- */

START_TEST(every_direct_pair_has_a_number_and_no_other)
{
    int n = 0, nodes;

    machine_open(_i);
    nodes = (int)starpu_memory_nodes_get_count();
    for (int src = 0; src < nodes; src++)
        for (int dst = 0; dst < nodes; dst++) {
            int id = starpu_bus_get_id(src, dst);
            bool peers = src + dst == 3 && src * dst == 2;

            if (src == dst || (src && dst && !peers)) {
                ck_assert_int_eq(id, -1);
                continue;
            }
            ck_assert_int_eq(id, n++);
            ck_assert_int_eq(starpu_bus_get_src(id), src);
            ck_assert_int_eq(starpu_bus_get_dst(id), dst);
        }
    ck_assert_int_eq(starpu_bus_get_count(), n);
    ck_assert_int_eq(n, machine_simulated(_i) ? 8 : 0);
    ck_assert_int_eq(starpu_bus_get_id(-1, 0), -1);
    ck_assert_int_eq(starpu_bus_get_id(0, nodes), -1);
    starpu_shutdown();
}
END_TEST

START_TEST(a_number_that_there_is_not_is_an_error)
{
    static const int wrong[] = {-1, 8, 1000};

    machine_open(_i);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(starpu_bus_get_src(wrong[i]), -EINVAL);
        ck_assert_int_eq(starpu_bus_get_dst(wrong[i]), -EINVAL);
        ck_assert_int_eq(starpu_bus_get_direct(wrong[i]), -EINVAL);
        ck_assert_int_eq(starpu_bus_get_ngpus(wrong[i]), -EINVAL);
        ck_assert_int_eq(starpu_bus_get_profiling_info(wrong[i], NULL),
                         -EINVAL);
    }
    starpu_shutdown();
}
END_TEST

/* --- what they carried --- */

static double us_of(struct timespec t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

START_TEST(each_copy_is_counted_once_on_its_link)
{
    starpu_data_handle_t handle;

    machine_open(_i);
    handle = register_bytes();
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
        read_on(node, handle);
    for (int id = 0; id < starpu_bus_get_count(); id++) {
        struct starpu_bus_profiling_info info; /* the older name */
        int src = starpu_bus_get_src(id), dst = starpu_bus_get_dst(id);
        /* GPU 1 gets it from GPU 0 or from main memory, as is faster. */
        bool loose = src + dst == 3 || (src == 0 && dst == 2);

        ck_assert_int_eq(starpu_bus_get_profiling_info(id, &info), 0);
        ck_assert_int_eq(info.transferred_bytes, info.transfer_count * BYTES);
        if (!loose)
            ck_assert_int_eq(info.transfer_count, src == 0);
    }
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(asking_begins_a_new_period)
{
    struct starpu_profiling_bus_info first, second;
    starpu_data_handle_t handle;
    int id;

    machine_open(_i);
    id = starpu_bus_get_id(0, 3);
    if (!machine_simulated(_i)) {
        ck_assert_int_eq(id, -1);
        starpu_shutdown();
        return;
    }
    handle = register_bytes();
    read_on(3, handle);
    ck_assert_int_eq(starpu_bus_get_profiling_info(id, &first), 0);
    ck_assert_int_eq(first.transfer_count, 1);
    ck_assert(us_of(first.total_time) > BYTES / 5000); /* at 5 GB/s */
    starpu_usleep(1000);
    ck_assert_int_eq(starpu_bus_get_profiling_info(id, &second), 0);
    ck_assert_int_eq(second.transfer_count, 0);
    ck_assert_int_eq(second.transferred_bytes, 0);
    ck_assert(fabs(us_of(second.start_time) - us_of(first.start_time) -
                   us_of(first.total_time)) < 0.01);
    ck_assert(us_of(second.total_time) >= 1000);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* --- sharing --- */

static double predicted(double sharers)
{
    return starpu_transfer_latency(0, 3) +
           2 * sharers * BYTES / starpu_transfer_bandwidth(0, 3);
}

START_TEST(predictions_count_devices_that_share)
{
    static const struct {
        int direct, ngpus;
        double sharers;
    } cases[] = {{0, 0, 3}, {1, 0, 1}, {0, 1, 1},
                 {0, 2, 2}, {1, 2, 2}, {0, 0, 3}};
    int id;

    machine_open(_i);
    id = starpu_bus_get_id(0, 3);
    for (size_t c = 0; id >= 0 && c < sizeof(cases) / sizeof(*cases); c++) {
        starpu_bus_set_direct(id, cases[c].direct);
        starpu_bus_set_ngpus(id, cases[c].ngpus);
        ck_assert_int_eq(starpu_bus_get_direct(id), cases[c].direct);
        ck_assert_int_eq(starpu_bus_get_ngpus(id), (int)cases[c].sharers);
        ck_assert_double_eq_tol(starpu_transfer_predict(0, 3, BYTES),
                                predicted(cases[c].sharers), 1e-9);
        /* The opposite direction is another bus. */
        ck_assert_double_eq_tol(starpu_transfer_predict(3, 0, BYTES),
                                starpu_transfer_latency(3, 0) +
                                    6 * BYTES / starpu_transfer_bandwidth(3, 0),
                                1e-9);
    }
    ck_assert_int_eq(id >= 0, machine_simulated(_i));
    starpu_shutdown();
}
END_TEST

/* --- tables --- */

static char *printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    print(f);
    fclose(f);
    return text;
}

START_TEST(the_tables_have_the_shape_that_scripts_read)
{
    static const char real[] = "from/to\tNUMA 0\t\nNUMA 0\t0\t\n\n"
                               "NUMA 0\t0\t\n";
    static const char simulated[] =
        "from/to\tNUMA 0\tCUDA 0\tCUDA 1\tCUDA 2\t\n"
        "NUMA 0\t0\t10000\t10000\t5000\t\n"
        "CUDA 0\t10000\t0\t8000\t3333\t\n"
        "CUDA 1\t10000\t8000\t0\t3333\t\n"
        "CUDA 2\t5000\t3333\t3333\t0\t\n"
        "\n"
        "NUMA 0\t0\t10\t10\t10\t\n"
        "CUDA 0\t10\t0\t20\t20\t\n"
        "CUDA 1\t10\t20\t0\t20\t\n"
        "CUDA 2\t10\t20\t20\t0\t\n";
    char *text;

    machine_open(_i);
    text = printed(starpu_print_bus_bandwidth); /* the older name */
    ck_assert_str_eq(text, machine_simulated(_i) ? simulated : real);
    free(text);
    text = printed(starpu_bus_print_affinity);
    ck_assert_str_eq(text, machine_simulated(_i)
                               ? "# GPU\tNUMA0\t\n# CUDA\n0\t0\t\n1\t0\t\n"
                                 "2\t0\t\n"
                               : "# GPU\tNUMA0\t\n");
    free(text);
    starpu_shutdown();
}
END_TEST

static double predict_edited(int machine, const char *edits)
{
    double us;

    setenv("ORRERY_SET", edits, 1);
    machine_open(machine);
    us = starpu_transfer_predict(STARPU_MAIN_RAM, 1, BYTES);
    starpu_shutdown();
    return us;
}

/* As the edit of the same text, and before others. */
START_TEST(all_links_have_the_bandwidth_that_the_environment_says)
{
    int machine = FIRST_SIMULATED + _i;
    double slow = predict_edited(machine, "bus.bandwidth = 250MBps");
    double fast = predict_edited(machine, "bus.bandwidth = 500MBps");

    ck_assert_double_gt(slow, fast * 1.9);
    setenv("STARPU_LIMIT_BANDWIDTH", "250", 1);
    ck_assert_double_eq(predict_edited(machine, ""), slow);
    ck_assert_double_eq(predict_edited(machine, "bus.bandwidth *= 2"), fast);
}
END_TEST

START_TEST(the_names_of_the_files_are_three_lines)
{
    char folder[] = "/tmp/orrery-bus-XXXXXX", expected[256], command[64];
    char *text;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    machine_choose(_i);
    setenv("STARPU_PERF_MODEL_DIR", folder, 1);
    setenv("STARPU_HOSTNAME", "here", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    text = printed(starpu_bus_print_filenames);
    snprintf(expected, sizeof(expected),
             "bandwidth: %s/bus/here.bandwidth\n"
             " affinity: %s/bus/here.affinity\n"
             "  latency: %s/bus/here.latency\n",
             folder, folder, folder);
    ck_assert_str_eq(text, expected);
    free(text);
    starpu_shutdown();
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(the_environment_requests_a_summary_at_the_end)
{
    char path[] = "/tmp/orrery-bus-stats-XXXXXX", text[4096] = "";
    starpu_data_handle_t handle;
    int fd = mkstemp(path);
    FILE *f;

    ck_assert_int_ge(fd, 0);
    close(fd);
    setenv("STARPU_BUS_STATS", "1", 1);
    setenv("STARPU_BUS_STATS_FILE", path, 1);
    machine_open(_i);
    handle = register_bytes();
    read_on(starpu_memory_nodes_get_count() - 1, handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_gt((int)fread(text, 1, sizeof(text) - 1, f), 0);
    fclose(f);
    unlink(path);
    ck_assert_ptr_nonnull(strstr(text, "Data transfer stats:\n"));
    if (!machine_simulated(_i)) {
        ck_assert_ptr_nonnull(strstr(text, "Total transfers: 0.0000 GB\n"));
        return;
    }
    ck_assert_ptr_nonnull(strstr(text, "\tNUMA 0 -> CUDA 2\t0.1000 MB\t"));
    ck_assert_ptr_nonnull(strstr(text, "(transfers : 1 - avg 0.1000 MB)\n"));
    ck_assert_ptr_nonnull(strstr(text, "\tCUDA 2 -> NUMA 0\t0.0000 MB\t"));
    ck_assert_ptr_nonnull(strstr(text, "Total transfers: 0.0001 GB\n"));
}
END_TEST

START_TEST(an_earlier_summary_stays_where_there_is_no_room)
{
    char path[] = "/tmp/orrery-bus-stats-XXXXXX", text[64] = "";
    struct rlimit limit;
    int fd = mkstemp(path);

    ck_assert_int_eq(write(fd, "earlier", 7), 7);
    setenv("STARPU_BUS_STATS", "1", 1);
    setenv("STARPU_BUS_STATS_FILE", path, 1);
    machine_open(_i);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    starpu_shutdown();
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    close(fd);
    fd = open(path, O_RDONLY);
    unlink(path);
    ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 7);
    ck_assert_str_eq(text, "earlier");
    close(fd);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("bus");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, every_direct_pair_has_a_number_and_no_other, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, a_number_that_there_is_not_is_an_error, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, each_copy_is_counted_once_on_its_link, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, asking_begins_a_new_period, 0, NMACHINES);
    tcase_add_loop_test(tcase, predictions_count_devices_that_share, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, the_tables_have_the_shape_that_scripts_read, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, the_names_of_the_files_are_three_lines, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase,
                        all_links_have_the_bandwidth_that_the_environment_says,
                        0, NMACHINES - FIRST_SIMULATED);
    tcase_add_loop_test(tcase, the_environment_requests_a_summary_at_the_end, 0,
                        NMACHINES);
    tcase_add_loop_test(tcase, an_earlier_summary_stays_where_there_is_no_room,
                        FIRST_SIMULATED, FIRST_SIMULATED + 1);
    suite_add_tcase(suite, tcase);
    return suite;
}

SUITE_MAIN(bus)
{
    return suite_main(suite());
}
