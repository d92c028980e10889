/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* program_invocation_short_name */
#endif
/*
 * tests/api/test-heteroprio-file.c - what heteroprio's automatic mode keeps between
 * runs, and prints.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu_heteroprio.h>

#include "machines.h"
#include "silence.h"

/* Fewer than score as not measured: 16 each. */
enum { NEACH = 100, NFEW = 12 };

static char folder[] = "/tmp/heteroprio-XXXXXX", file[100];
static struct starpu_perfmodel model_slow = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "slow"};
static struct starpu_perfmodel model_fast = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "fast"};
static atomic_int nran, on_cpus[2];

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_fetch_add(&nran, 1);
    if (starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER)
        atomic_fetch_add(&on_cpus[(intptr_t)arg], 1);
}

static struct starpu_codelet codelets[] = {
    {.cpu_funcs = {count}, .cuda_funcs = {count}, .model = &model_slow},
    {.cpu_funcs = {count}, .cuda_funcs = {count}, .model = &model_fast},
};

static void prepare(int machine)
{
    machine_choose(machine);
    setenv("STARPU_SCHED", "heteroprio", 1);
    if (machine_simulated(machine))
        setenv("ORRERY_ASSUME",
               "slow on cpu = 1ms; slow on cuda = 50us; fast = 50us", 1);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/figures", folder);
    setenv("STARPU_HETEROPRIO_DATA_FILE", file, 1);
}

static void clean(void)
{
    remove(file);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void run(int n)
{
    atomic_store(&nran, 0);
    atomic_store(&on_cpus[0], 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_pause();
    for (int i = 0; i < 2 * n; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &codelets[i % 2];
        task->cl_arg = (void *)(intptr_t)(i % 2);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), 2 * n);
}

static const char *contents(void)
{
    static char text[10000];
    FILE *in = fopen(file, "r");
    size_t n;

    if (!in)
        return NULL;
    n = fread(text, 1, sizeof(text) - 1, in);
    fclose(in);
    text[n] = '\0';
    return text;
}

/* Without the file, processors take some of the tasks that are slow there. */
START_TEST(a_run_knows_what_an_earlier_one_has_measured)
{
    int without;

    prepare(FIRST_SIMULATED);
    run(NFEW);
    without = atomic_load(&on_cpus[0]);
    ck_assert_int_gt(without, 0);
    remove(file);
    run(NEACH);
    run(NFEW);
    ck_assert_int_eq(atomic_load(&on_cpus[0]), 0);
    clean();
}
END_TEST

START_TEST(the_file_has_a_part_per_codelet)
{
    double busy, unused;
    const char *text;

    prepare(_i);
    run(NEACH);
    text = contents();
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(strncmp(text, _i < FIRST_SIMULATED ? "1 0\n" : "2 0 1\n",
                             _i < FIRST_SIMULATED ? 4 : 6),
                     0);
    ck_assert_int_eq(sscanf(strchr(text, '\n'), "%lf %lf", &busy, &unused), 2);
    ck_assert_double_gt(busy, 0);
    ck_assert_double_gt(unused, 0);
    ck_assert_ptr_nonnull(
        strstr(text, _i < FIRST_SIMULATED ? "\nslow 1\n" : "\nslow 1 1\n"));
    ck_assert_ptr_nonnull(
        strstr(text, _i < FIRST_SIMULATED ? "\nfast 1\n" : "\nfast 1 1\n"));
    if (_i >= FIRST_SIMULATED)
        ck_assert_ptr_nonnull(strstr(text, " 1000.000000 "));
    clean();
}
END_TEST

/* Two codelets with one model: a part of the model's name, or one of each. */
START_TEST(a_bucket_has_the_name_of_a_model_or_of_a_codelet)
{
    static const char *const strategies[] = {"0", "1"};
    const char *text;

    codelets[0].name = "one";
    codelets[1].name = "two";
    codelets[1].model = &model_slow;
    prepare(FIRST_SIMULATED);
    setenv("STARPU_HETEROPRIO_CODELET_GROUPING_STRATEGY", strategies[_i], 1);
    run(NEACH);
    text = contents();
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(strstr(text, "\nslow 1 1\n") != NULL, _i == 0);
    ck_assert_int_eq(strstr(text, "\none 1 1\n") != NULL, _i == 1);
    ck_assert_int_eq(strstr(text, "\ntwo 1 1\n") != NULL, _i == 1);
    clean();
}
END_TEST

/* Figures of comments, of a codelet whose name has blanks, of devices that there are
 * not here. */
static const char figures[] = "# made by hand\n"
                              "3 0 1 2\n"
                              " 10.0 20.0 30.0 40.0 0 0\n"
                              "slow 1 1 0\n"
                              "0 0 0 0.5 200 100 0 0 50 100\n"
                              "0 1000 100 0.1\n"
                              "0 50 100 0.9\n"
                              "#####\n"
                              "a b 0 0 1\n"
                              "0 0 0 0.5 200 100 0 0 50 100\n"
                              "0 50 100 1\n"
                              "#####\n"
                              "fast 1 1 0\n"
                              "1.5 100 100 0.5 200 100 0 0 50 100\n"
                              "2.5 50 100 0.5\n"
                              "2.5 50 100 0.5\n"
                              "#####\n";

static void put(const char *text, size_t n)
{
    FILE *out = fopen(file, "w");

    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, n, out), n);
    fclose(out);
}

START_TEST(frozen_figures_are_used_and_kept)
{
    prepare(FIRST_SIMULATED);
    put(figures, strlen(figures));
    setenv("STARPU_AUTOHETEROPRIO_FREEZE_GATHERING", "1", 1);
    run(NFEW);
    ck_assert_int_eq(atomic_load(&on_cpus[0]), 0);
    ck_assert_str_eq(contents(), figures);
    clean();
}
END_TEST

/* Cut anywhere, each line is missed, or the run knows less. */
START_TEST(a_cut_file_is_said_and_replaced)
{
    size_t n = strlen(figures);

    prepare(FIRST_SIMULATED);
    unsetenv("STARPU_SILENT");
    for (size_t cut = (size_t)_i; cut < n; cut += 37) {
        put(figures, cut);
        silence_begin();
        run(2);
        silence_end();
        ck_assert_int_eq(strncmp(contents(), "2 0 1\n", 6), 0);
    }
    put("2 0 x\n", 6);
    silence_begin();
    run(2);
    ck_assert_ptr_nonnull(strstr(silence_end(), "not in the format"));
    clean();
}
END_TEST

/* A simulation is the same again. */
START_TEST(simulations_keep_nothing_by_default)
{
    char path[200];

    prepare(FIRST_SIMULATED);
    unsetenv("STARPU_HETEROPRIO_DATA_FILE");
    setenv("STARPU_PERF_MODEL_DIR", folder, 1);
    run(NFEW);
    snprintf(path, sizeof(path), "%s/heteroprio", folder);
    ck_assert_int_ne(access(path, F_OK), 0);
    setenv("STARPU_HETEROPRIO_DATA_DIR", folder, 1);
    run(NFEW);
    snprintf(file, sizeof(file), "%s/%s.data", folder,
             program_invocation_short_name);
    ck_assert_ptr_nonnull(contents());
    clean();
}
END_TEST

START_TEST(real_runs_keep_them_where_models_are)
{
    char path[200];

    prepare(0);
    unsetenv("STARPU_HETEROPRIO_DATA_FILE");
    setenv("STARPU_PERF_MODEL_DIR", folder, 1);
    run(NFEW);
    snprintf(file, sizeof(file), "%s/heteroprio/%s.data", folder,
             program_invocation_short_name);
    ck_assert_ptr_nonnull(contents());
    remove(file);
    snprintf(path, sizeof(path), "rm -r %s", folder);
    ck_assert_int_eq(system(path), 0);
}
END_TEST

START_TEST(orders_and_figures_are_printed)
{
    const char *said;

    prepare(FIRST_SIMULATED);
    run(NEACH); /* tasks are pushed before any is measured */
    setenv("STARPU_AUTOHETEROPRIO_PRINT_AFTER_ORDERING", "1", 1);
    silence_begin();
    run(NEACH);
    said = silence_end();
    ck_assert_ptr_nonnull(strstr(said, "order for CUDA: slow fast\n"));
    ck_assert_ptr_nonnull(strstr(said, "order for CPU: "));
    ck_assert_ptr_null(strstr(said, "#####"));
    setenv("STARPU_AUTOHETEROPRIO_PRINT_DATA_ON_UPDATE", "1", 1);
    silence_begin();
    run(NEACH);
    said = silence_end();
    ck_assert_ptr_nonnull(strstr(said, "\nslow 1 1\n"));
    clean();
}
END_TEST

SUITE_MAIN(heteroprio_file)
{
    Suite *suite = suite_create("heteroprio-file");
    TCase *each = tcase_create("on each machine");
    TCase *simulated = tcase_create("simulated");

    suite_add_tcase(suite, each);
    suite_add_tcase(suite, simulated);
    tcase_add_loop_test(each, the_file_has_a_part_per_codelet, 0,
                        FIRST_SIMULATED + 1);
    tcase_add_test(each, real_runs_keep_them_where_models_are);
    if (NMACHINES > FIRST_SIMULATED) {
        tcase_add_test(simulated, a_run_knows_what_an_earlier_one_has_measured);
        tcase_add_test(simulated, frozen_figures_are_used_and_kept);
        tcase_add_loop_test(simulated, a_cut_file_is_said_and_replaced, 0, 5);
        tcase_add_test(simulated, simulations_keep_nothing_by_default);
        tcase_add_test(simulated, orders_and_figures_are_printed);
        tcase_add_loop_test(
            simulated, a_bucket_has_the_name_of_a_model_or_of_a_codelet, 0, 2);
    }
    return suite_main(suite);
}
