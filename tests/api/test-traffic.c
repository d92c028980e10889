/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-traffic.c - statistics of data and memory: what was copied and
 * evicted, and what came back, for which tasks; what the environment has printed
 * at the end. The GPU has room for ROOM of the NDATA matrices that tasks read in
 * turn, so that the oldest rule of eviction throws out what is needed next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"
#include "silence.h"

enum { MIB = 1 << 20, ROOM = 4, NDATA = 20, NX = 512 };

static uint32_t memory[NDATA][MIB / sizeof(uint32_t)];
static starpu_data_handle_t data[NDATA];

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static double length(struct starpu_task *task, unsigned implementation)
{
    (void)task, (void)implementation;
    return 10;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
                                        .cost_function = length};
static struct starpu_codelet cl_gemm = {.cuda_funcs = {do_nothing},
                                        .cpu_funcs = {do_nothing},
                                        .where = STARPU_CUDA,
                                        .nbuffers = 1,
                                        .modes = {STARPU_R},
                                        .model = &model,
                                        .name = "gemm"};
static struct starpu_codelet cl_syrk = {.cuda_funcs = {do_nothing},
                                        .cpu_funcs = {do_nothing},
                                        .where = STARPU_CUDA,
                                        .nbuffers = 1,
                                        .modes = {STARPU_R},
                                        .model = &model,
                                        .name = "syrk"};
static struct starpu_codelet cl_write = {.cpu_funcs = {do_nothing},
                                         .nbuffers = 1,
                                         .modes = {STARPU_W},
                                         .model = &model,
                                         .name = "write"};

static void open_full(int machine)
{
    setenv("STARPU_LIMIT_CUDA_MEM", "4", 1);
    setenv("STARPU_NCUDA", "1", 1);
    setenv("ORRERY_EVICTION", "lru", 1);
    machine_open(machine);
    for (int i = 0; i < NDATA; i++) {
        starpu_matrix_data_register(&data[i], 0, (uintptr_t)memory[i], NX, NX,
                                    NX, sizeof(uint32_t));
        starpu_data_set_name(data[i], "A");
        starpu_data_set_coordinates(data[i], 2, i, 7);
    }
}

static void run(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
    ck_assert_int_eq(starpu_task_insert(cl, cl->modes[0], handle, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

static void read_all(struct starpu_codelet *cl)
{
    for (int i = 0; i < NDATA; i++)
        run(cl, data[i]);
}

static void close_all(void)
{
    for (int i = 0; i < NDATA; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
}

static const char *statistics(void)
{
    silence_begin();
    starpu_data_display_memory_stats();
    return silence_end();
}

static void expect(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "there is no \"%s\"", part);
}

static void expect_none(const char *text, const char *part)
{
    ck_assert_msg(!strstr(text, part), "there is \"%s\"", part);
}

/* starpu_data_display_memory_stats: each datum, and what is wasted */
START_TEST(data_that_come_back_are_counted)
{
    const char *text;

    open_full(_i);
    read_all(&cl_gemm);
    text = statistics();
    expect(text, "20 data are registered\n");
    expect(text, "A(0,7), 1048576 bytes: memory on NUMA 0; value on NUMA 0; "
                 "copied 1 times, evicted 1 times, came back 0 times\n");
    expect(text, "A(19,7), 1048576 bytes: memory on NUMA 0, CUDA 0; value on "
                 "NUMA 0, CUDA 0; copied 1 times\n");
    expect(text, "CUDA 0: 4194304 bytes used, at most 4194304 of 4194304, 4 "
                 "allocations, 16 of kept memory, 0 bytes kept\n");
    expect(text, "16 evictions; 0 copies, 0.0 MiB, brought back");
    read_all(&cl_gemm);
    text = statistics();
    expect(text, "copied 2 times, evicted 2 times, came back 1 times\n");
    expect(text, "36 evictions; 20 copies, 20.0 MiB, brought back");
    close_all();
}
END_TEST

/* A copy of what has been written since would have been needed all the same. */
START_TEST(new_values_do_not_come_back)
{
    const char *text;

    open_full(_i);
    read_all(&cl_gemm);
    run(&cl_write, data[0]);
    run(&cl_gemm, data[0]);
    text = statistics();
    expect(text, "A(0,7), 1048576 bytes: memory on NUMA 0, CUDA 0; value on "
                 "NUMA 0, CUDA 0; copied 2 times, evicted 1 times, came back 0 "
                 "times\n");
    expect(text, " 0 copies, 0.0 MiB, brought back");
    close_all();
}
END_TEST

static void read_file(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n;

    ck_assert_ptr_nonnull(f);
    n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
    unlink(path);
}

/* The list has what each kind of task wanted, of data that have ended, too. */
START_TEST(the_report_names_data_and_tasks)
{
    static char path[] = "/tmp/orrery-returns-XXXXXX", text[1 << 16];

    close(mkstemp(path));
    setenv("ORRERY_REPORT", path, 1);
    open_full(_i);
    read_all(&cl_gemm);
    read_all(&cl_gemm);
    run(&cl_syrk, data[0]);
    run(&cl_gemm, data[1]);
    run(&cl_gemm, data[1]); /* it has not come back once more */
    starpu_data_unregister(data[1]);
    starpu_shutdown();
    read_file(path, text, sizeof(text));
    expect(text, "\"returns\": {\"count\": 22, \"bytes\": 23068672, \"most\": [");
    expect(text, "\"data\": \"A(1,7)\", \"task\": \"gemm\", \"count\": 2, "
                 "\"bytes\": 2097152}");
    expect(text, "\"data\": \"A(0,7)\", \"task\": \"syrk\", \"count\": 1, "
                 "\"bytes\": 1048576}");
    expect(text, "\"data\": \"A(0,7)\", \"task\": \"gemm\", \"count\": 1, ");
    expect(text, "\"A(14,7)\""); /* 16 of them, the first ones */
    expect_none(text, "\"A(15,7)\"");
}
END_TEST

START_TEST(without_evictions_the_report_says_nothing)
{
    static char path[] = "/tmp/orrery-returns-XXXXXX", text[1 << 16];

    close(mkstemp(path));
    setenv("ORRERY_REPORT", path, 1);
    machine_open(_i);
    starpu_shutdown();
    read_file(path, text, sizeof(text));
    expect(text, "\"evictions\": 0");
    expect_none(text, "returns");
}
END_TEST

static const char *end(void)
{
    silence_begin();
    close_all();
    return silence_end();
}

START_TEST(the_environment_requests_hits_and_misses)
{
    const char *text;

    setenv("STARPU_ENABLE_STATS", "0", 1); /* that it is set is enough */
    open_full(_i);
    run(&cl_gemm, data[0]);
    run(&cl_gemm, data[0]);
    run(&cl_gemm, data[0]);
    run(&cl_gemm, data[1]);
    text = end();
    expect(text, "Data cache stats:\n");
    expect(text, "CUDA 0: 2 hits (50.00 %), 2 misses (50.00 %), 2 "
                 "allocations, 0 of kept memory\n");
}
END_TEST

START_TEST(which_can_be_silenced)
{
    setenv("STARPU_ENABLE_STATS", "1", 1);
    setenv("STARPU_STATS", "0", 1);
    open_full(_i);
    expect_none(end(), "stats");
}
END_TEST

START_TEST(the_environment_requests_peaks)
{
    const char *text;

    setenv("STARPU_MAX_MEMORY_USE", "1", 1);
    open_full(_i);
    read_all(&cl_gemm);
    for (int i = 0; i < NDATA; i++)
        starpu_data_unregister(data[i]);
    silence_begin();
    starpu_shutdown();
    text = silence_end();
    expect(text, "Memory use at its peak:\n\t20 data registered\n");
    expect(text, "\tCUDA 0: 4194304 bytes\n");
}
END_TEST

START_TEST(the_environment_requests_memory_at_the_end)
{
    const char *text;

    setenv("STARPU_MEMORY_STATS", "1", 1);
    machine_open(_i);
    starpu_vector_data_register(&data[0], -1, 0, 100, 4);
    starpu_data_set_name(data[0], "kept");
    silence_begin();
    starpu_shutdown();
    text = silence_end();
    expect(text, "Memory stats:\n");
    expect(text, "1 data are registered\n\tkept, 400 bytes: memory on no node; "
                 "value on no node; copied 0 times\n");
}
END_TEST

START_TEST(nothing_is_printed_unasked)
{
    machine_open(_i);
    silence_begin();
    starpu_shutdown();
    expect_none(silence_end(), "stats");
}
END_TEST

/* Pieces of partitioned data go by the name of the whole. */
START_TEST(pieces_have_names)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_matrix_filter_block, .nchildren = 2};

    open_full(_i);
    starpu_data_partition(data[0], &halves);
    expect(statistics(), "A(0,7)[1], 524288 bytes: ");
    starpu_data_set_coordinates(starpu_data_get_child(data[0], 1), 1, 9);
    expect(statistics(), "A(9), 524288 bytes: ");
    starpu_data_unpartition(data[0], 0);
    close_all();
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("traffic");
    TCase *gpu = tcase_create("gpu"), *any = tcase_create("any");

    tcase_set_timeout(gpu, 60);
    tcase_set_timeout(any, 60);
    tcase_add_loop_test(gpu, data_that_come_back_are_counted, FIRST_SIMULATED,
                        NMACHINES);
    tcase_add_loop_test(gpu, new_values_do_not_come_back, FIRST_SIMULATED,
                        NMACHINES);
    tcase_add_loop_test(gpu, the_report_names_data_and_tasks, FIRST_SIMULATED,
                        NMACHINES);
    tcase_add_loop_test(gpu, the_environment_requests_hits_and_misses,
                        FIRST_SIMULATED, NMACHINES);
    tcase_add_loop_test(gpu, the_environment_requests_peaks, FIRST_SIMULATED,
                        NMACHINES);
    tcase_add_loop_test(any, without_evictions_the_report_says_nothing, 0,
                        NMACHINES);
    tcase_add_loop_test(any, which_can_be_silenced, 0, NMACHINES);
    tcase_add_loop_test(any, the_environment_requests_memory_at_the_end, 0,
                        NMACHINES);
    tcase_add_loop_test(any, nothing_is_printed_unasked, 0, NMACHINES);
    tcase_add_loop_test(any, pieces_have_names, 0, NMACHINES);
    suite_add_tcase(suite, gpu);
    suite_add_tcase(suite, any);
    return suite;
}

SUITE_MAIN(traffic)
{
    return suite_main(suite());
}
