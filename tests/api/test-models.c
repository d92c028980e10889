/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-models.c - performance models as applications declare them:
 * fed on the real machine with synthetic times, evaluated there and in a
 * simulation of it afterwards.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

#include "machines.h"

static char dir[64];

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_perfmodel model;
static struct starpu_codelet codelet = {
    .cpu_funcs = {nothing},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "k",
};

static struct starpu_task task; /* one that is never submitted */
static starpu_data_handle_t vector;

static void open_with_models(int machine, const char *calibrate)
{
    machine_choose(machine);
    setenv("STARPU_PERF_MODEL_DIR", dir, 1);
    setenv("STARPU_HOSTNAME", "testbox", 1);
    setenv("STARPU_CALIBRATE", calibrate, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

/* An empty folder for the models, and the real machine. */
static void set_up(void)
{
    strcpy(dir, "/tmp/orrery-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    model = (struct starpu_perfmodel){.symbol = "api_model"};
    open_with_models(0, "1");
}

static void tear_down(void)
{
    char command[80];

    snprintf(command, sizeof(command), "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* The task on a vector of n floats. */
static void use_vector(unsigned n)
{
    static float data[1 << 16];

    starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)data, n,
                                sizeof(float));
    starpu_task_init(&task);
    task.cl = &codelet;
    task.handles[0] = vector;
}

static void feed(unsigned n, double us)
{
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);

    use_vector(n);
    for (int i = 0; i < 12; i++)
        starpu_perfmodel_update_history(&model, &task, arch, 0, 0, us);
    starpu_data_unregister(vector);
}

static double ask(unsigned n)
{
    double us;

    use_vector(n);
    us = starpu_task_expected_length(&task,
                                     starpu_worker_get_perf_archtype(0, 0), 0);
    starpu_data_unregister(vector);
    return us;
}

/* Ends the run, which saves the models, and begins a simulated one. */
static void simulate(void)
{
    starpu_shutdown();
    open_with_models(3, "0");
    ck_assert(machine_simulated(3));
    ck_assert_int_eq(starpu_worker_get_type(0), STARPU_CPU_WORKER);
}

/* What policies see of a task that is not submitted. */
static double seen(unsigned n, unsigned nimpl)
{
    double us;

    use_vector(n);
    us = orrery_task_length(&task, 0, nimpl);
    starpu_data_unregister(vector);
    return us;
}

START_TEST(what_policies_see_of_a_task_may_be_asked_before)
{
    model.type = STARPU_HISTORY_BASED;
    feed(1000, 30);
    simulate();
    ck_assert_double_eq(seen(1000, 0), 30);
    ck_assert(isnan(seen(1000, 1))); /* there is no such implementation */
    codelet.model = NULL;
    ck_assert_double_eq(seen(500, 0), 50); /* assumed by machine_choose() */
    codelet.name = "not known";
    ck_assert(isnan(seen(500, 0)));
    starpu_shutdown();
}
END_TEST

START_TEST(a_history_predicts_what_it_was_fed_and_no_more)
{
    model.type = STARPU_HISTORY_BASED;
    feed(1000, 50);
    feed(4000, 200);
    ck_assert_double_eq(ask(1000), 50);
    ck_assert(isnan(ask(2000)));
    simulate();
    ck_assert_double_eq(ask(4000), 200);
    ck_assert(isnan(ask(2000)));
    starpu_shutdown();
}
END_TEST

static const enum starpu_perfmodel_type regressions[] = {
    STARPU_REGRESSION_BASED, STARPU_NL_REGRESSION_BASED};

START_TEST(regressions_answer_between_sizes)
{
    double c = regressions[_i] == STARPU_NL_REGRESSION_BASED ? 30 : 0;

    model.type = regressions[_i];
    for (unsigned n = 1000; n <= 32000; n *= 2)
        feed(n, c + 0.05 * n);
    ck_assert_double_eq_tol(ask(8000), c + 400, 1e-6);
    ck_assert_double_eq_tol(ask(6000), c + 300, 1);
    ck_assert_double_eq_tol(ask(34000), c + 1700, 5);
    ck_assert(isnan(ask(40000)));
    simulate();
    ck_assert_double_eq_tol(ask(6000), c + 300, 1);
    ck_assert(isnan(ask(40000)));
    starpu_shutdown();
}
END_TEST

static double rows, columns;

static void parameters(struct starpu_task *t, double *p)
{
    (void)t;
    p[0] = rows;
    p[1] = columns;
}

static const char *names[] = {"rows", "columns"};
static unsigned product[] = {1, 1}, column[] = {0, 1};
static unsigned *combinations[] = {product, column};

START_TEST(a_multiple_regression_answers_for_other_parameters)
{
    model.type = STARPU_MULTIPLE_REGRESSION_BASED;
    model.parameters = parameters;
    model.parameters_names = names;
    model.nparameters = 2;
    model.combinations = combinations;
    model.ncombinations = 2;
    for (rows = 10; rows <= 50; rows += 10)
        for (columns = 5; columns <= 25; columns += 10)
            feed(100, 20 + 0.5 * rows * columns + 3 * columns);
    rows = 33;
    columns = 17;
    ck_assert_double_eq_tol(ask(100), 20 + 0.5 * 33 * 17 + 3 * 17, 1);
    simulate();
    ck_assert_double_eq_tol(ask(100), 20 + 0.5 * 33 * 17 + 3 * 17, 1);
    starpu_shutdown();
}
END_TEST

/* A task without data. */
static void feed_alone(double us)
{
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);
    struct starpu_codelet alone = codelet;

    alone.nbuffers = 0;
    starpu_task_init(&task);
    task.cl = &alone;
    starpu_perfmodel_update_history(&model, &task, arch, 0, 0, us);
    task.cl = NULL;
}

/* The file that starpu_mlr_analysis reads. */
static unsigned count_measures(char header[80])
{
    char path[160], line[80];
    unsigned n = 0;
    FILE *file;

    snprintf(path, sizeof(path),
             "%s/codelets/tmp/api_model.testbox.cpu0_impl0.out", dir);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "there is no %s", path);
    ck_assert_ptr_nonnull(fgets(header, 80, file));
    while (fgets(line, sizeof(line), file))
        n++;
    fclose(file);
    return n;
}

/* Each row is measured anew, since one footprint has all lengths. */
START_TEST(measures_of_tasks_without_data_are_kept_to_find_combinations_by)
{
    char header[80];

    model.type = STARPU_MULTIPLE_REGRESSION_BASED;
    model.parameters = parameters;
    model.parameters_names = names;
    model.nparameters = 2;
    if (_i) {
        model.combinations = combinations;
        model.ncombinations = 2;
    }
    for (rows = 10; rows <= 50; rows += 10)
        for (columns = 5; columns <= 25; columns += 5)
            feed_alone(20 + 0.5 * rows * columns + 3 * columns);
    starpu_shutdown();
    ck_assert_uint_eq(count_measures(header), 25);
    ck_assert_str_eq(header, "Duration, rows, columns\n");
    open_with_models(3, "0");
    rows = 33;
    columns = 17;
    if (_i)
        ck_assert_double_eq_tol(ask(100), 20 + 0.5 * 33 * 17 + 3 * 17, 1);
    else
        ck_assert(isnan(ask(100)));
    starpu_shutdown();
}
END_TEST

static size_t of_model(struct starpu_task *t, unsigned nimpl)
{
    (void)t;
    (void)nimpl;
    return 1024;
}

static size_t of_cpus(struct starpu_task *t, struct starpu_perfmodel_arch *arch,
                      unsigned nimpl)
{
    (void)t;
    (void)nimpl;
    ck_assert_int_eq(arch->devices[0].type, STARPU_CPU_WORKER);
    return 4096;
}

START_TEST(a_size_base_of_devices_comes_before_the_model_s)
{
    struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);

    model.type = STARPU_HISTORY_BASED;
    model.size_base = of_model;
    use_vector(7);
    ck_assert_uint_eq(starpu_task_footprint(&model, &task, arch, 0),
                      0xbdc1dabc); /* CRC of a size_t of 1024 */
    starpu_perfmodel_set_per_devices_size_base(&model, 0, of_cpus,
                                               STARPU_CPU_WORKER, 0, 1, -1);
    ck_assert_uint_ne(starpu_task_footprint(&model, &task, arch, 0),
                      0xbdc1dabc);
    starpu_perfmodel_update_history_n(&model, &task, arch, 0, 0, 10, 20);
    starpu_perfmodel_update_history_n(&model, &task, arch, 0, 0, 10, 20);
    starpu_data_unregister(vector);
    starpu_shutdown();
    /* The size is in the file. */
    snprintf(dir + strlen(dir), 40, "/codelets/45/api_model.testbox");
    {
        char line[256];
        bool found = false;
        FILE *f = fopen(dir, "r");

        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof(line), f))
            found = found || strstr(line, "\t4096") != NULL;
        fclose(f);
        ck_assert(found);
    }
    *strstr(dir, "/codelets") = '\0';
    starpu_perfmodel_deinit(&model);
}
END_TEST

/* Of a loaded file, as programs that draw models read it; the file is that of a run in
 * which nothing was calibrated but what the application says counts. */
START_TEST(what_is_fed_is_kept_and_read_by_architecture)
{
    struct starpu_perfmodel loaded = {.type = STARPU_PERFMODEL_INVALID};
    const struct starpu_perfmodel_per_arch *cpu, *none;
    struct starpu_perfmodel_arch *arch;

    starpu_shutdown();
    open_with_models(0, "0");
    model.type = STARPU_NL_REGRESSION_BASED;
    arch = starpu_worker_get_perf_archtype(0, 0);
    for (unsigned n = 1000; n <= 16000; n *= 2) {
        use_vector(n);
        starpu_perfmodel_update_history_n(&model, &task, arch, 0, 0, n / 100.0,
                                          12);
        starpu_data_unregister(vector);
    }
    ck_assert_double_eq_tol(ask(4000), 40, 1e-6);
    starpu_shutdown();
    starpu_perfmodel_deinit(&model);

    ck_assert_int_eq(starpu_init(NULL), 0);
    arch = starpu_worker_get_perf_archtype(0, 0);
    ck_assert_int_eq(starpu_perfmodel_load_symbol("api_model", &loaded), 0);
    cpu = starpu_perfmodel_get_model_per_devices(&loaded, 0, STARPU_CPU_WORKER,
                                                 0, 1, -1);
    ck_assert_ptr_eq(cpu,
                     starpu_perfmodel_get_model_per_arch(&loaded, arch, 0));
    ck_assert_uint_eq(cpu->regression.nsample, 5 * 12);
    ck_assert_uint_eq(cpu->regression.valid, 1);
    ck_assert_double_eq_tol(cpu->regression.beta, 1, 1e-6);
    ck_assert_uint_eq(cpu->regression.minx, 4000);
    ck_assert_uint_eq(cpu->regression.maxx, 64000);
    {
        unsigned nrows = 0;
        double sum = 0;

        for (const struct starpu_perfmodel_history_list *list = cpu->list; list;
             list = list->next, nrows++) {
            ck_assert_uint_eq(list->entry->nsample, 12);
            ck_assert_double_eq_tol(list->entry->mean,
                                    (double)list->entry->size / 400, 1e-6);
            sum += list->entry->mean;
        }
        ck_assert_uint_eq(nrows, 5);
        ck_assert_double_eq_tol(sum, 310, 1e-6);
    }
    none = starpu_perfmodel_get_model_per_devices(&loaded, 1, STARPU_CPU_WORKER,
                                                  0, 1, -1);
    ck_assert_ptr_null(none->list);
    ck_assert_uint_eq(none->regression.valid, 0);
    starpu_perfmodel_unload_model(&loaded);
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_that_run_feed_their_regression)
{
    unsigned before = 0;

    model.type = STARPU_NL_REGRESSION_BASED;
    for (unsigned n = 1000; n <= 16000; n *= 2) {
        use_vector(n);
        /* Ten count; on a busy machine many are first runs or outliers. */
        for (int i = 0; i < 60; i++)
            ck_assert_int_eq(starpu_task_insert(&codelet, STARPU_RW, vector, 0),
                             0);
        starpu_task_wait_for_all();
        starpu_data_unregister(vector);
        before++;
    }
    ck_assert_uint_eq(before, 5);
    ck_assert_double_gt(ask(3000), 0);
    starpu_shutdown();
}
END_TEST

static double of_worker(struct starpu_task *t, unsigned worker, unsigned nimpl)
{
    (void)t;
    (void)nimpl;
    return 1e4 * (worker + 1.0);
}

/* Two processors of one class that differ according to the model. */
START_TEST(a_model_per_worker_distinguishes_equal_workers)
{
    double took;

    model.type = STARPU_PER_WORKER;
    model.worker_cost_function = of_worker;
    setenv("STARPU_NCUDA", "0", 1);
    simulate();
    ck_assert_int_eq(starpu_worker_get_type(1), STARPU_CPU_WORKER);
    use_vector(100);
    for (unsigned w = 0; w < 2; w++)
        ck_assert_double_eq(starpu_task_worker_expected_length(&task, w, 0, 0),
                            1e4 * (w + 1.0));
    for (unsigned w = 0; w < 2; w++) {
        took = -starpu_timing_now();
        ck_assert_int_eq(starpu_task_insert(&codelet, STARPU_RW, vector,
                                            STARPU_EXECUTE_ON_WORKER, (int)w,
                                            0),
                         0);
        starpu_task_wait_for_all();
        took += starpu_timing_now();
        ck_assert_double_ge(took, 1e4 * (w + 1.0));
        ck_assert_double_lt(took, 1e4 * (w + 1.5));
    }
    starpu_data_unregister(vector);
    starpu_shutdown();
}
END_TEST

/* The simulation of a task of n floats, and whether it says `what`. */
static bool simulation_says(const char *what, unsigned n)
{
    char path[80], text[4096];
    size_t length;
    FILE *file;

    snprintf(path, sizeof(path), "%s/said", dir);
    ck_assert_ptr_nonnull(freopen(path, "w", stderr));
    machine_choose(3);
    unsetenv("STARPU_SILENT");
    setenv("ORRERY_ASSUME", "", 1);
    setenv("STARPU_PERF_MODEL_DIR", dir, 1);
    setenv("STARPU_CALIBRATE", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    use_vector(n);
    ck_assert_int_eq(starpu_task_insert(&codelet, STARPU_RW, vector, 0), 0);
    starpu_task_wait_for_all();
    starpu_data_unregister(vector);
    starpu_shutdown();
    fflush(stderr);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    return strstr(text, what) != NULL;
}

/* On the machine itself a scheduler would measure it there. */
START_TEST(a_kernel_without_a_time_on_a_device_is_named)
{
    static const char unknown[] = "model `api_model': no time is known on CUDA";

    model.type = STARPU_HISTORY_BASED;
    feed(1000, 50);
    starpu_shutdown();
    setenv("STARPU_HOSTNAME", "testbox", 1);
    ck_assert(!simulation_says(unknown, 1000));
    codelet.cuda_funcs[0] = nothing;
    ck_assert(simulation_says(unknown, 1000));
    codelet.where = STARPU_CPU;
    ck_assert(!simulation_says(unknown, 1000));
}
END_TEST

static void run_freed(const char *name)
{
    struct starpu_codelet *own = malloc(sizeof(*own));
    struct starpu_perfmodel *times = malloc(sizeof(*times));
    char *symbol = strdup(name);

    *own = codelet;
    *times = (struct starpu_perfmodel){.symbol = symbol, .type = STARPU_HISTORY_BASED};
    own->model = times;
    own->name = symbol;
    ck_assert_int_eq(starpu_task_insert(own, STARPU_RW, vector, 0), 0);
    starpu_task_wait_for_all();
    starpu_perfmodel_unload_model(times);
    memset(symbol, 'x', strlen(symbol));
    memset((void *)times, 0x5a, sizeof(*times));
    memset((void *)own, 0x5a, sizeof(*own));
    free(symbol);
    free(times);
    free(own);
}

/* Where the next one may be. What the run says at its end is of codelets as they were. */
START_TEST(codelets_are_freed_when_their_tasks_have_ended)
{
    char path[80], text[1 << 16] = "";
    FILE *file;

    starpu_shutdown();
    machine_choose(3);
    snprintf(path, sizeof(path), "%s/report", dir);
    setenv("ORRERY_REPORT", path, 1);
    setenv("ORRERY_ASSUME", "kernel[one] = 50us; kernel[two] = 70us", 1);
    setenv("STARPU_PERF_MODEL_DIR", dir, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    use_vector(100);
    run_freed("one");
    run_freed("two");
    starpu_data_unregister(vector);
    starpu_shutdown();
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    ck_assert_msg(strstr(text, "\"one\"") && strstr(text, "\"two\""), "%s", text);
    ck_assert_msg(!strstr(text, "xxx"), "%s", text);
}
END_TEST

SUITE_MAIN(models)
{
    Suite *suite = suite_create("models");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_history_predicts_what_it_was_fed_and_no_more);
    tcase_add_test(tc, what_policies_see_of_a_task_may_be_asked_before);
    tcase_add_loop_test(tc, regressions_answer_between_sizes, 0, 2);
    tcase_add_test(tc, a_multiple_regression_answers_for_other_parameters);
    tcase_add_loop_test(
        tc, measures_of_tasks_without_data_are_kept_to_find_combinations_by, 0,
        2);
    tcase_add_test(tc, a_size_base_of_devices_comes_before_the_model_s);
    tcase_add_test(tc, what_is_fed_is_kept_and_read_by_architecture);
    tcase_add_test(tc, tasks_that_run_feed_their_regression);
    tcase_add_test(tc, a_model_per_worker_distinguishes_equal_workers);
    tcase_add_test(tc, a_kernel_without_a_time_on_a_device_is_named);
    tcase_add_test(tc, codelets_are_freed_when_their_tasks_have_ended);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
