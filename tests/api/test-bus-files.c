/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-bus-files.c - bus files at starpu_init: made where there are
 * none, kept, made anew when requested or when they are another machine's;
 * never in simulation, and never a reason to fail.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machines.h"

static const char *const suffixes[] = {".affinity",     ".latency",
                                       ".bandwidth",    ".config",
                                       ".platform.xml", ".platform.v4.xml"};

enum { NFILES = sizeof(suffixes) / sizeof(*suffixes) };

static char folder[] = "/tmp/orrery-bus-XXXXXX";

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("STARPU_HOSTNAME", "here", 1);
}

static void teardown(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static char *path_of(const char *suffix)
{
    static char path[96];

    snprintf(path, sizeof(path), "%s/bus/here%s", folder, suffix);
    return path;
}

/* 0 without the file; else what distinguishes a file from one put in its
 * place. */
static ino_t inode(const char *suffix)
{
    struct stat st;

    return stat(path_of(suffix), &st) == 0 ? st.st_ino : 0;
}

static void choose(int machine)
{
    machine_choose(machine);
    setenv("STARPU_PERF_MODEL_DIR", folder, 1);
}

static void start(struct starpu_conf *conf)
{
    ck_assert_int_eq(starpu_init(conf), 0);
}

static void start_and_stop(struct starpu_conf *conf)
{
    start(conf);
    starpu_shutdown();
}

static void check_files(bool there)
{
    for (int i = 0; i < NFILES; i++)
        ck_assert_msg((inode(suffixes[i]) != 0) == there, "here%s %s",
                      suffixes[i], there ? "is missing" : "was made");
}

START_TEST(the_first_start_makes_them_and_no_simulation)
{
    choose(_i);
    start_and_stop(NULL);
    check_files(!machine_simulated(_i));
}
END_TEST

START_TEST(later_starts_leave_them_alone)
{
    ino_t before[NFILES];

    choose(0);
    start_and_stop(NULL);
    for (int i = 0; i < NFILES; i++)
        before[i] = inode(suffixes[i]);
    start_and_stop(NULL);
    for (int i = 0; i < NFILES; i++)
        ck_assert(inode(suffixes[i]) == before[i]);
}
END_TEST

/* An old file is distinguished from a new one by its content. */
static void damage(const char *suffix, const char *text)
{
    FILE *f = fopen(path_of(suffix), "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static bool is_damaged(const char *suffix)
{
    char text[16] = "";
    FILE *f = fopen(path_of(suffix), "r");

    ck_assert_ptr_nonnull(f);
    ck_assert(fgets(text, sizeof(text), f));
    fclose(f);
    return strncmp(text, "# old", 5) == 0;
}

static void make_then_damage(void)
{
    choose(0);
    start_and_stop(NULL);
    damage(".affinity", "# old\n");
    ck_assert(is_damaged(".affinity"));
}

START_TEST(the_environment_or_the_configuration_requests_new_ones)
{
    struct starpu_conf conf;

    make_then_damage();
    if (_i == 0)
        setenv("STARPU_BUS_CALIBRATE", "1", 1);
    ck_assert_int_eq(starpu_conf_init(&conf), 0);
    ck_assert_int_eq(conf.bus_calibrate, _i == 0);
    conf.bus_calibrate = 1;
    start_and_stop(&conf);
    ck_assert(!is_damaged(".affinity"));
}
END_TEST

static const struct {
    const char *suffix, *text; /* NULL: the file is removed */
} others[] = {
    {".config", "9999 # processors\n1\n"},
    {".config", "# nothing\n"},
    {".config", "two\n"},
    {".platform.xml", NULL},
    {".platform.v4.xml", NULL},
    {".bandwidth", NULL},
    {".config", NULL},
};

START_TEST(files_of_another_machine_or_half_of_them_are_made_anew)
{
    make_then_damage();
    if (others[_i].text)
        damage(others[_i].suffix, others[_i].text);
    else
        ck_assert_int_eq(unlink(path_of(others[_i].suffix)), 0);
    start_and_stop(NULL);
    check_files(true);
    ck_assert(!is_damaged(".affinity"));
}
END_TEST

START_TEST(a_place_that_cannot_be_written_is_no_reason_to_fail)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/file", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    choose(0);
    setenv("STARPU_PERF_MODEL_DIR", path, 1);
    start(NULL);
    ck_assert_uint_gt(starpu_worker_get_count(), 0);
    starpu_shutdown();
}
END_TEST

/* hwloc makes up the machine; its memory is this one's. */
START_TEST(several_memory_nodes_are_measured_in_both_directions)
{
    double value[2][2];
    FILE *f;

    choose(0);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
    start_and_stop(NULL);
    check_files(true);
    f = fopen(path_of(".bandwidth"), "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "# to NUMA 0\tto NUMA 1\n"), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fscanf(f, "%lf %lf", &value[i][0], &value[i][1]), 2);
        ck_assert_int_eq(fscanf(f, "%*[^\n]\n"), 0);
        ck_assert(value[i][i] == 0);
        ck_assert(isfinite(value[i][1 - i]) && value[i][1 - i] > 0);
    }
    fclose(f);
}
END_TEST

START_TEST(the_parameters_of_the_files_are_those_of_the_machine)
{
    choose(0);
    start(NULL);
    ck_assert(starpu_transfer_bandwidth(0, 0) == 0);
    ck_assert(starpu_transfer_latency(0, 0) == 0);
    ck_assert(starpu_transfer_predict(0, 0, 1000) == 0);
    starpu_shutdown();
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("bus-files");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, the_first_start_makes_them_and_no_simulation, 0,
                        NMACHINES);
    tcase_add_test(tcase, later_starts_leave_them_alone);
    tcase_add_loop_test(
        tcase, the_environment_or_the_configuration_requests_new_ones, 0, 2);
    tcase_add_loop_test(tcase,
                        files_of_another_machine_or_half_of_them_are_made_anew,
                        0, (int)(sizeof(others) / sizeof(*others)));
    tcase_add_test(tcase, a_place_that_cannot_be_written_is_no_reason_to_fail);
    tcase_add_test(tcase, several_memory_nodes_are_measured_in_both_directions);
    tcase_add_test(tcase, the_parameters_of_the_files_are_those_of_the_machine);
    suite_add_tcase(suite, tcase);
    return suite;
}

SUITE_MAIN(bus_files)
{
    return suite_main(suite());
}
