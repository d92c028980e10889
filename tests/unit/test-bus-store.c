/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bus-store.c - StarPU's bus files as we write them: read again
 * by us, by the readers of platforms/, and by a reader with StarPU's rules. One
 * thread.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu_config.h>

#include "core/device/bus/store.h"
#include "platforms/bus_files.h"
#include "platforms/machine_desc.h"
#include "tests/suite.h"

static char folder[] = "/tmp/orrery-bus-XXXXXX", stem[64];
static struct orr_bus_tables tables;
static struct orr_error err;

/* Two nodes of main memory, two CUDA devices, an OpenCL device. */
static const struct orr_bus_counts counts = {
    .ncpus = 6,
    .nodes = {[ORR_BUS_NUMA] = 2, [ORR_BUS_CUDA] = 2, [ORR_BUS_OPENCL] = 1}};

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(stem, sizeof(stem), "%s/bus/here", folder);
    ck_assert_int_eq(orr_bus_tables_init(&tables, &counts), 0);
    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < 5; j++)
            if (i != j) {
                tables.bandwidth[i * 5 + j] = 1000 + 100 * i + 10 * j + 0.125;
                tables.latency[i * 5 + j] = 1 + i + j / 8.;
            }
    /* There is no route between GPU and OpenCL device. */
    tables.bandwidth[2 * 5 + 4] = tables.latency[2 * 5 + 4] = (double)NAN;
    for (unsigned i = 2; i < 5; i++) {
        snprintf(tables.devices[i].model, 64, "Toy & <%u>", i);
        tables.devices[i].bytes = 4096ULL << 20;
        tables.devices[i].peer = true;
    }
}

static void teardown(void)
{
    char command[96];

    orr_bus_tables_done(&tables);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_all(void)
{
    int lock;

    ck_assert_msg(orr_bus_store_lock(stem, &lock, &err) == 0, "%s", err.text);
    ck_assert_msg(orr_bus_store_write(stem, &tables, &err) == 0, "%s",
                  err.text);
    orr_bus_store_unlock(lock);
}

static char *content(const char *suffix)
{
    static char text[1 << 18];
    char path[96];
    FILE *f;

    snprintf(path, sizeof(path), "%s%s", stem, suffix);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void put(const char *suffix, const char *text)
{
    char path[96];
    FILE *f;

    snprintf(path, sizeof(path), "%s%s", stem, suffix);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

static void check_same(double a, double b)
{
    ck_assert_msg((isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fabs(b),
                  "%g is not %g", a, b);
}

START_TEST(what_is_written_is_read_again)
{
    struct orr_bus_counts read;
    struct orr_bus_tables again;

    write_all();
    ck_assert_int_eq(orr_bus_store_counts(stem, &read, &err), 0);
    ck_assert(orr_bus_counts_equal(&read, &counts));
    ck_assert_int_eq(orr_bus_tables_init(&again, &counts), 0);
    ck_assert_msg(orr_bus_store_read(stem, &again, &err) == 0, "%s", err.text);
    for (unsigned i = 0; i < 25; i++) {
        check_same(again.bandwidth[i], tables.bandwidth[i]);
        check_same(again.latency[i], tables.latency[i]);
    }
    orr_bus_tables_done(&again);
}
END_TEST

/* StarPU 1.4's rules: comments and blank lines may precede a row; a value is
 * followed at once by a tab or a newline; the last value of a row and the last
 * row are lost. Returns 0 for a file it rejects. */
static int read_as_starpu(const char *at,
                          double matrix[STARPU_MAXNODES][STARPU_MAXNODES])
{
    for (int row = 0; row < STARPU_MAXNODES; row++) {
        int column = 0;

        while (*at == '\n' || *at == '#')
            at += strcspn(at, "\n") + 1;
        for (;;) {
            char *end;
            double value = strtod(at, &end);

            if (end == at || (*end != '\t' && *end != '\n'))
                return 0;
            at = end + 1;
            if (*end == '\n')
                break;
            if (column < STARPU_MAXNODES)
                matrix[row][column] = value;
            column++;
        }
        for (; column < STARPU_MAXNODES; column++)
            matrix[row][column] = (double)NAN;
    }
    for (int column = 0; column < STARPU_MAXNODES; column++)
        matrix[STARPU_MAXNODES - 1][column] = (double)NAN;
    return *at == '\0';
}

START_TEST(starpu_reads_the_same_values)
{
    static double matrix[STARPU_MAXNODES][STARPU_MAXNODES];

    write_all();
    for (int latency = 0; latency < 2; latency++) {
        const double *ours = latency ? tables.latency : tables.bandwidth;

        ck_assert(read_as_starpu(content(latency ? ".latency" : ".bandwidth"),
                                 matrix));
        for (int i = 0; i < STARPU_MAXNODES; i++)
            for (int j = 0; j < STARPU_MAXNODES; j++)
                check_same(matrix[i][j],
                           i < 5 && j < 5 ? ours[i * 5 + j] : (double)NAN);
    }
}
END_TEST

START_TEST(matrices_have_the_shape_of_starpus)
{
    static const char beginning[] =
        "# to NUMA 0\tto NUMA 1\tto CUDA 0\tto CUDA 1\tto OpenCL 0\n"
        "0.000000e+00\t1.010125e+03\t";
    const char *text;
    unsigned lines = 0, tabs = 0;

    write_all();
    text = content(".bandwidth");
    ck_assert_int_eq(strncmp(text, beginning, strlen(beginning)), 0);
    for (; *text; text++) {
        lines += *text == '\n';
        tabs += *text == '\t';
    }
    ck_assert_uint_eq(lines, 1 + STARPU_MAXNODES);
    ck_assert_uint_eq(tabs, 4 + STARPU_MAXNODES * (STARPU_MAXNODES - 1));
}
END_TEST

START_TEST(affinity_lists_the_nearest_memory_first)
{
    /* Device 2 is nearer to node 1 already; make the last nearer to 0. */
    tables.bandwidth[0 * 5 + 4] = tables.bandwidth[4 * 5 + 0] = 9000;
    write_all();
    ck_assert_str_eq(content(".affinity"), "# GPU\tNUMA0\tNUMA1\t\n"
                                           "0\t1\t0\t\n"
                                           "1\t1\t0\t\n"
                                           "0\t0\t1\t\n");
}
END_TEST

START_TEST(the_counts_come_in_starpus_order)
{
    unsigned values[9];
    char *at;

    write_all();
    at = content(".config");
    for (int i = 0; i < 9; i++) {
        while (*at == '#' || *at == '\n')
            at += strcspn(at, "\n") + 1;
        values[i] = (unsigned)strtoul(at, &at, 10);
        at += strcspn(at, "\n");
    }
    ck_assert_int_eq(
        memcmp(values, (unsigned[]){6, 2, 2, 1, 0, 0, 0, 0, 0}, sizeof(values)),
        0);
}
END_TEST

START_TEST(both_platform_files_are_the_same_machine)
{
    static const char *const files[] = {".platform.xml", ".platform.v4.xml"};

    write_all();
    for (int f = 0; f < 2; f++) {
        struct orr_machine_desc *desc;
        char path[96];
        int cuda;

        snprintf(path, sizeof(path), "%s%s", stem, files[f]);
        ck_assert_msg(orr_machine_desc_read(path, &desc, &err) == 0, "%s",
                      err.text);
        ck_assert_str_eq(desc->name, "here");
        ck_assert_uint_eq(desc->ncpu, 6);
        ck_assert_uint_eq(desc->ncuda, 2);
        ck_assert_uint_eq(desc->nopencl, 1);
        ck_assert(desc->bus_measured);
        /* RAM is node 0: 1020.125 to the first GPU, 1023.125 between GPUs. */
        check_same(desc->bandwidth[1], 1020.125);
        check_same(desc->latency[1], 1.25);
        cuda = orr_machine_desc_host(desc, "CUDA1");
        ck_assert_int_ge(cuda, 0);
        ck_assert_str_eq(orr_host_desc_prop(&desc->hosts[cuda], "model"),
                         "Toy & <3>");
        ck_assert_str_eq(orr_host_desc_prop(&desc->hosts[cuda], "memsize"),
                         "4294967296");
        for (unsigned r = 0; r < desc->nroutes; r++)
            ck_assert_uint_eq(desc->routes[r].nhops, 2);
        ck_assert_uint_eq(desc->nroutes, 8);
        /* The routes and the matrices agree. */
        ck_assert_int_eq(orr_bus_derive(desc), 0);
        check_same(desc->bandwidth[1], 1020.125);
        check_same(desc->latency[1], 1.25);
        orr_machine_desc_free(desc);
    }
}
END_TEST

START_TEST(a_machine_without_devices_has_no_links)
{
    const struct orr_bus_counts few = {.ncpus = 2, .nodes = {1}};
    struct orr_machine_desc *desc;
    char path[96];

    orr_bus_tables_done(&tables);
    ck_assert_int_eq(orr_bus_tables_init(&tables, &few), 0);
    write_all();
    ck_assert_str_eq(content(".affinity"), "# GPU\tNUMA0\t\n");
    snprintf(path, sizeof(path), "%s.platform.v4.xml", stem);
    ck_assert_msg(orr_machine_desc_read(path, &desc, &err) == 0, "%s",
                  err.text);
    ck_assert_uint_eq(desc->ncpu, 2);
    ck_assert_uint_eq(desc->nlinks, 0);
    orr_machine_desc_free(desc);
}
END_TEST

static const struct {
    const char *suffix, *text, *says;
} broken[] = {
    {".config", "# x\n2\nmany\n", "here.config:3: a number of devices"},
    {".config", "2 -1\n", "here.config:1: a number of devices"},
    {".bandwidth", "0\t1 \t2\n", "here.bandwidth:1: a number, followed"},
    {".bandwidth", "# a\n0\t1\t1\t1\t1\n0\tx\n", "here.bandwidth:3: a number"},
    {".latency", "0\t-1\n", "here.latency:1: a negative value"},
    {".latency", "0\t1", "here.latency:1: a number, followed"},
    {".latency", "", "here.latency:1: the file ends before"},
    {".bandwidth", "0\t1\t2\t3\t4\n# next\n1\t0\t2\t3\t4\n", "here.bandwidth:4: the file ends"},
    {".bandwidth", "0\t1\t2\t3\n", "here.bandwidth:1: the line ends before"},
};

START_TEST(a_broken_file_is_named_with_its_line)
{
    struct orr_bus_counts read = {.ncpus = 77};
    int rc;

    write_all();
    put(broken[_i].suffix, broken[_i].text);
    if (strcmp(broken[_i].suffix, ".config") == 0)
        rc = orr_bus_store_counts(stem, &read, &err);
    else
        rc = orr_bus_store_read(stem, &tables, &err);
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert_msg(strstr(err.text, broken[_i].says), "%s", err.text);
    ck_assert_uint_eq(read.ncpus, 77);
    check_same(tables.bandwidth[1], 1010.125);
}
END_TEST

START_TEST(values_may_be_unknown_and_spare_ones_are_ignored)
{
    write_all();
    put(".bandwidth", "# to\n\n0\t5\t6\t7\t8\tnan\tnan\n# next\n3\t0\tnan\t1\t1\n"
                      "1\t1\t0\t1\t1\n1\t1\t1\t0\t1\nnan\t1\t1\t1\t0\n9\n");
    ck_assert_msg(orr_bus_store_read(stem, &tables, &err) == 0, "%s", err.text);
    check_same(tables.bandwidth[4], 8);
    check_same(tables.bandwidth[5], 3);
    ck_assert(isnan(tables.bandwidth[7]));
    ck_assert(isnan(tables.bandwidth[20]));
    ck_assert(tables.bandwidth[24] == 0);
}
END_TEST

START_TEST(what_there_is_not_is_no_error_of_its_own)
{
    struct orr_bus_counts read;

    ck_assert_int_eq(orr_bus_store_counts(stem, &read, &err), -ENOENT);
    ck_assert_int_eq(orr_bus_store_read(stem, &tables, &err), -ENOENT);
    ck_assert_str_eq(err.text, "");
    write_all();
    put(".config", ""); /* a process was killed */
    ck_assert_int_eq(orr_bus_store_counts(stem, &read, &err), -ENOENT);
}
END_TEST

START_TEST(the_first_directory_that_has_files_counts)
{
    char first[64], *found;
    const char *dirs[] = {first, folder, NULL};

    snprintf(first, sizeof(first), "%s/first", folder);
    ck_assert_int_eq(orr_bus_store_find(dirs, "here", &found), 0);
    ck_assert_int_eq(strncmp(found, first, strlen(first)), 0);
    free(found);
    write_all();
    ck_assert_int_eq(orr_bus_store_find(dirs, "here", &found), 0);
    ck_assert_str_eq(found, stem);
    free(found);
}
END_TEST

START_TEST(more_nodes_than_the_files_have_room_for_are_refused)
{
    const struct orr_bus_counts many = {.nodes = {STARPU_MAXNODES}};
    struct orr_bus_tables none;

    ck_assert_int_eq(orr_bus_tables_init(&none, &many), -E2BIG);
}
END_TEST

SUITE_MAIN(bus_store)
{
    Suite *suite = suite_create("bus-store");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_is_written_is_read_again);
    tcase_add_test(tcase, starpu_reads_the_same_values);
    tcase_add_test(tcase, matrices_have_the_shape_of_starpus);
    tcase_add_test(tcase, affinity_lists_the_nearest_memory_first);
    tcase_add_test(tcase, the_counts_come_in_starpus_order);
    tcase_add_test(tcase, both_platform_files_are_the_same_machine);
    tcase_add_test(tcase, a_machine_without_devices_has_no_links);
    tcase_add_loop_test(tcase, a_broken_file_is_named_with_its_line, 0,
                        (int)(sizeof(broken) / sizeof(*broken)));
    tcase_add_test(tcase,
                   values_may_be_unknown_and_spare_ones_are_ignored);
    tcase_add_test(tcase, what_there_is_not_is_no_error_of_its_own);
    tcase_add_test(tcase, the_first_directory_that_has_files_counts);
    tcase_add_test(tcase, more_nodes_than_the_files_have_room_for_are_refused);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
