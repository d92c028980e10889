/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-history.c - models fed, evaluated, saved and
 * loaded. Some tests use threads, some fork.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/model.h"
#include "perfmodel/side.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tests/unit/perfmodel_util.h"

static char dir[64], path[96];
static char side_path[128];
static struct orr_sampling *sampling;

static const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};
static const struct orr_device cuda1 = {ORR_DEVICE_CUDA, 1, 1};

static void set_up(void)
{
    struct orr_sampling_options options = {.perf_model_dir = dir};

    tmp_make(dir);
    snprintf(path, sizeof(path), "%s/codelets/45/kernel.host", dir);
    snprintf(side_path, sizeof(side_path), "%s/codelets/45.orrery/kernel.host",
             dir);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(orr_sampling_new(&options, &sampling), 0);
}

static void tear_down(void)
{
    orr_sampling_free(sampling);
    tmp_remove(dir);
}

/* Models of the host "host" with the comb 0, a CPU, and 1, a GPU. */
static struct orr_models *models_new(int calibrate, bool simulated)
{
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = ORR_HOMOGENEOUS_DEFAULT,
                                         .calibrate = calibrate,
                                         .simulated = simulated};
    struct orr_models *models;
    unsigned comb;

    ck_assert_int_eq(orr_models_new(&options, &models), 0);
    ck_assert_int_eq(orr_combs_get(orr_models_combs(models), &cpu, 1, &comb),
                     0);
    ck_assert_uint_eq(comb, 0);
    ck_assert_int_eq(orr_combs_get(orr_models_combs(models), &cuda1, 1, &comb),
                     0);
    ck_assert_uint_eq(comb, 1);
    return models;
}

static struct orr_model *model_get(struct orr_models *models)
{
    struct orr_error err = {""};
    struct orr_model *model =
        orr_models_get(models, "kernel", ORR_MODEL_HISTORY, &err);

    ck_assert_msg(model != NULL, "%s", err.text);
    return model;
}

static void measure(struct orr_model *model, unsigned comb, double duration,
                    unsigned times)
{
    struct orr_measure m = {
        .comb = comb, .footprint = 0xf00, .size = 64, .duration = duration};

    for (unsigned i = 0; i < times; i++)
        ck_assert_int_eq(orr_model_measure(model, &m), 0);
}

static struct orr_model_row row_get(struct orr_model *model, unsigned comb)
{
    struct orr_model_row row = {0};
    const struct orr_entry *entry = orr_model_find(model, comb, 0, 0xf00);

    ck_assert_ptr_nonnull(entry);
    orr_entry_read(entry, &row);
    return row;
}

/* Durations fed in turn, ended by 0, and what the row then holds. */
static const struct {
    const char *claim;
    double durations[16];
    unsigned n;
    double mean;
} rules[] = {
    {"the first measure is discarded", {9999}, 0, 0},
    {"the second counts", {9999, 10}, 1, 10},
    {"means are means", {1, 10, 12, 14}, 3, 12},
    {"50 % more is no outlier", {1, 10, 15}, 2, 12.5},
    {"a little more is", {1, 10, 10, 15.1}, 2, 10},
    {"50 % faster is no outlier", {1, 15, 10}, 2, 12.5},
    {"a little faster is", {1, 15, 15, 9.9}, 2, 15},
    {"as many outliers as samples empty the row", {1, 10, 99}, 0, 0},
    {"fewer do not", {1, 10, 10, 10, 99, 99}, 3, 10},
    {"good samples do not make up for outliers",
     {1, 10, 10, 99, 10, 99, 99},
     0,
     0},
    {"after emptying the next measure counts", {1, 10, 99, 99}, 1, 99},
    {"outliers are counted anew then", {1, 10, 99, 99, 99, 10}, 2, 99},
};

START_TEST(measures_join_the_row_by_the_rules)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    struct orr_model_row row;

    for (const double *d = rules[_i].durations; *d > 0; d++)
        measure(model, 0, *d, 1);
    row = row_get(model, 0);
    ck_assert_msg(row.n == rules[_i].n, "%s: n is %u", rules[_i].claim, row.n);
    ck_assert_msg(row.mean == rules[_i].mean, "%s: the mean is %g",
                  rules[_i].claim, row.mean);
    ck_assert_uint_eq(row.size, 64);
    orr_models_free(models);
}
END_TEST

START_TEST(sums_deviation_and_weights_are_kept)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    struct orr_measure m = {.footprint = 0xf00, .duration = 14, .weight = 3};
    struct orr_model_row row;

    measure(model, 0, 1, 1);
    measure(model, 0, 10, 1);
    ck_assert_int_eq(orr_model_measure(model, &m), 0);
    row = row_get(model, 0);
    ck_assert_uint_eq(row.n, 4);
    ck_assert_double_eq(row.sum, 52);
    ck_assert_double_eq(row.sum2, 100 + 3 * 196);
    ck_assert_double_eq(row.mean, 13);
    ck_assert_double_eq_tol(row.dev, sqrt(3), 1e-12);
    orr_models_free(models);
}
END_TEST

START_TEST(regression_models_count_the_first_measure)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model =
        orr_models_get(models, "kernel", ORR_MODEL_REGRESSION, NULL);

    measure(model, 0, 10, 1);
    ck_assert_uint_eq(row_get(model, 0).n, 1);
    orr_models_free(models);
}
END_TEST

START_TEST(flops_that_differ_become_unknown)
{
    static const struct {
        double first, then;
        double expected;
    } cases[] = {{0, 0, 0},       {0, 7, 7},           {7, 0, 7},
                 {1e6, 1e6, 1e6}, {1e6, 1000001, 1e6}, {1e6, 1000100, NAN}};
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct orr_measure m = {
            .footprint = i, .duration = 5, .flops = cases[i].first};
        struct orr_model_row row;

        ck_assert_int_eq(orr_model_measure(model, &m), 0);
        m.flops = cases[i].then;
        ck_assert_int_eq(orr_model_measure(model, &m), 0);
        orr_entry_read(orr_model_find(model, 0, 0, i), &row);
        if (isnan(cases[i].expected))
            ck_assert(isnan(row.flops));
        else
            ck_assert_double_eq(row.flops, cases[i].expected);
    }
    orr_models_free(models);
}
END_TEST

START_TEST(impossible_measures_are_refused)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    struct orr_measure m = {.footprint = 1, .duration = -1};

    ck_assert_int_eq(orr_model_measure(model, &m), -EINVAL);
    m.duration = NAN;
    ck_assert_int_eq(orr_model_measure(model, &m), -EINVAL);
    m.duration = 1;
    m.impl = ORR_MODEL_MAXIMPL;
    ck_assert_int_eq(orr_model_measure(model, &m), -EINVAL);
    ck_assert_ptr_null(orr_model_find(model, 0, 0, 1));
    orr_models_free(models);
}
END_TEST

START_TEST(ten_samples_make_an_estimate_on_the_real_machine)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    const _Atomic uint32_t *version = orr_model_version_at(model);
    uint32_t before = *version;

    measure(model, 0, 5, 10); /* the first is a warm-up */
    ck_assert(isnan(orr_model_expected(model, 0, 0, 0xf00)));
    ck_assert_uint_eq(*version, before);
    measure(model, 0, 5, 1);
    ck_assert_double_eq(orr_model_expected(model, 0, 0, 0xf00), 5);
    ck_assert_uint_eq(*version, before + 1);
    ck_assert(isnan(orr_model_expected(model, 1, 0, 0xf00)));
    ck_assert(isnan(orr_model_expected(model, 0, 1, 0xf00)));
    ck_assert(isnan(orr_model_expected(model, 0, 0, 0xf01)));
    orr_models_free(models);
}
END_TEST

START_TEST(version_grows_when_an_estimate_moves_by_more_than_1_percent)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    const _Atomic uint32_t *version = orr_model_version_at(model);
    uint32_t before;

    measure(model, 0, 100, 11);
    before = *version;
    measure(model, 0, 101, 5);
    ck_assert_uint_eq(*version, before);
    measure(model, 0, 140, 1);
    ck_assert_uint_eq(*version, before + 1);
    /* The row is emptied by StarPU's rule, the estimate stays. */
    measure(model, 0, 1000, 20);
    ck_assert_double_eq_tol(orr_model_expected(model, 0, 0, 0xf00), 103, 1);
    ck_assert_uint_eq(*version, before + 1);
    measure(model, 0, 1000, 20);
    ck_assert_double_eq_tol(orr_model_expected(model, 0, 0, 0xf00), 1000, 1);
    ck_assert_uint_eq(*version, before + 2);
    orr_models_free(models);
}
END_TEST

START_TEST(missing_estimates_start_measuring_on_the_real_machine_only)
{
    struct orr_models *models = models_new(0, false);
    struct orr_model *model = model_get(models);

    measure(model, 0, 5, 3);
    ck_assert(!orr_model_benchmarking(model));
    ck_assert_ptr_null(orr_model_find(model, 0, 0, 0xf00));
    ck_assert(isnan(orr_model_expected(model, 0, 0, 0xf00)));
    ck_assert(orr_model_benchmarking(model));
    ck_assert_int_eq(orr_models_calibrate(models), 1);
    orr_models_free(models);

    models = models_new(1, true);
    model = model_get(models);
    ck_assert(isnan(orr_model_expected(model, 0, 0, 0xf00)));
    ck_assert(!orr_model_benchmarking(model));
    measure(model, 0, 5, 20);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    ck_assert_int_ne(access(path, F_OK), 0);
    orr_models_free(models);
}
END_TEST

/* Feeds `times` measures in a run of its own, and saves. */
static void run_and_save(int calibrate, double duration, unsigned times)
{
    struct orr_models *models = models_new(calibrate, false);

    measure(model_get(models), 1, duration, times);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);
}

static struct orr_model_row row_saved(void)
{
    struct orr_models *models = models_new(0, true);
    struct orr_model_row row = row_get(model_get(models), 1);

    orr_models_free(models);
    return row;
}

START_TEST(what_was_saved_is_loaded_and_continued)
{
    struct orr_models *models;
    struct orr_model *model;

    run_and_save(1, 1. / 3, 4);
    ck_assert_uint_eq(row_saved().n, 3);
    ck_assert_double_eq_tol(row_saved().mean, 1. / 3, 1e-7);
    run_and_save(1, 1. / 3, 4); /* no warm-up: the row is known */
    ck_assert_uint_eq(row_saved().n, 7);

    /* Simulated, few samples do; on the real machine they do not. */
    models = models_new(0, true);
    model = model_get(models);
    ck_assert_double_eq_tol(orr_model_expected(model, 1, 0, 0xf00), 1. / 3,
                            1e-7);
    ck_assert_str_eq(orr_model_path(model), path);
    orr_models_free(models);
    models = models_new(0, false);
    ck_assert(isnan(orr_model_expected(model_get(models), 1, 0, 0xf00)));
    orr_models_free(models);
}
END_TEST

/* The values of the side file's only entry. */
static struct orr_side_entry side_saved(void)
{
    struct orr_error err = {""};
    struct orr_side_entry entry;
    struct orr_side *side;

    ck_assert_msg(orr_side_read(side_path, ORR_SIDE_SAMPLES, &side, &err) == 0,
                  "%s", err.text);
    ck_assert_uint_eq(side->nentries, 1);
    entry = side->entries[0];
    orr_side_free(side);
    return entry;
}

static double simulated_estimate(void)
{
    struct orr_models *models = models_new(0, true);
    double us = orr_model_expected(model_get(models), 1, 0, 0xf00);

    orr_models_free(models);
    return us;
}

START_TEST(predictions_follow_from_the_samples)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);

    measure(model, 1, 70000, 13);
    ck_assert_double_eq(orr_model_expected(model, 1, 0, 0xf00), 70000);
    measure(model, 1, 190, 5);
    ck_assert_double_eq(orr_model_expected(model, 1, 0, 0xf00), 190);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);
    /* StarPU's row is still what the spikes made it. */
    ck_assert_double_eq(row_saved().mean, 70000);
    ck_assert_double_eq(simulated_estimate(), 190);
    ck_assert_uint_eq(side_saved().noutliers, 12);
    ck_assert_uint_eq(side_saved().nfirst, 1);
    ck_assert_double_eq(side_saved().first_sum, 70000);
}
END_TEST

/* The first process loads and initializes; the others tell what a process takes. */
START_TEST(what_each_process_runs_once_is_measured_from_the_second_on)
{
    run_and_save(1, 80, 1);
    for (int process = 0; process < 12; process++)
        run_and_save(1, 5, 1);
    ck_assert_uint_eq(row_saved().n, 12);
    ck_assert_double_eq(simulated_estimate(), 5);
    ck_assert_uint_eq(side_saved().nseen, 12);
    ck_assert_uint_eq(side_saved().nfirst, 13);
}
END_TEST

/* Once it runs more often than it is started, what first runs took is a warm-up again. */
START_TEST(first_runs_are_warm_ups_where_others_come)
{
    run_and_save(1, 80, 1);
    run_and_save(1, 5, 4);
    run_and_save(1, 5, 4);
    ck_assert_uint_eq(side_saved().nseen, 7);
    ck_assert_uint_eq(side_saved().nfirst, 3);
}
END_TEST

/* More samples than one run can outvote, then a kernel of twice the length. */
START_TEST(a_level_that_the_row_refuses_is_saved_beside_it)
{
    run_and_save(1, 100, 101);
    run_and_save(1, 200, 60);
    ck_assert_uint_eq(row_saved().n, 100);
    ck_assert_double_eq(row_saved().mean, 100);
    ck_assert_double_eq(simulated_estimate(), 200);
    ck_assert_uint_eq(side_saved().nseen, 100 + 59);
    ck_assert_uint_eq(side_saved().row_n, 100);
}
END_TEST

START_TEST(a_side_entry_of_another_row_is_ignored)
{
    char *text;

    run_and_save(1, 100, 40);
    text = text_read(side_path);
    run_and_save(1, 100, 2); /* the row goes on, the side file stays behind */
    text_write(side_path, text);
    free(text);
    ck_assert_double_eq(simulated_estimate(), 100);
    /* It is made anew with what is measured next. */
    run_and_save(1, 110, 12);
    ck_assert_uint_eq(side_saved().nseen, 11);
    ck_assert_uint_eq(side_saved().row_n, row_saved().n);
}
END_TEST

START_TEST(a_broken_side_file_is_left_alone_and_costs_nothing_else)
{
    char *text;

    run_and_save(1, 100, 40);
    text_write(side_path, "orrery-side 1\nentry what\n");
    ck_assert_double_eq(simulated_estimate(), 100);
    run_and_save(1, 100, 12);
    ck_assert_uint_eq(row_saved().n, 39 + 12);
    text = text_read(side_path);
    ck_assert_str_eq(text, "orrery-side 1\nentry what\n");
    free(text);
    remove(side_path);
    run_and_save(1, 100, 12);
    ck_assert_uint_eq(side_saved().nseen, 11);
}
END_TEST

START_TEST(calibration_from_scratch_drops_the_samples_as_well)
{
    run_and_save(1, 100, 40);
    run_and_save(2, 200, 21);
    ck_assert_uint_eq(row_saved().n, 20);
    ck_assert_double_eq(simulated_estimate(), 200);
    ck_assert_uint_eq(side_saved().nseen, 20);
}
END_TEST

START_TEST(a_side_file_that_cannot_be_written_loses_no_measures)
{
    char folder[96];

    snprintf(folder, sizeof(folder), "%s/codelets", dir);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    snprintf(folder, sizeof(folder), "%s/codelets/45.orrery", dir);
    text_write(folder, "in the way");
    run_and_save(1, 100, 40);
    ck_assert_uint_eq(row_saved().n, 39);
    ck_assert_double_eq(simulated_estimate(), 100);
}
END_TEST

START_TEST(a_warm_up_alone_is_a_row_without_samples)
{
    run_and_save(1, 5, 1);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_uint_eq(row_saved().n, 0);
    ck_assert(isnan(simulated_estimate()));
}
END_TEST

START_TEST(an_emptied_row_replaces_the_file_s)
{
    run_and_save(1, 5, 4);
    run_and_save(1, 50, 3);
    ck_assert_uint_eq(row_saved().n, 0);
    run_and_save(1, 50, 3);
    ck_assert_uint_eq(row_saved().n, 3);
    ck_assert_double_eq(row_saved().mean, 50);
}
END_TEST

START_TEST(calibrate_2_starts_anew)
{
    run_and_save(1, 5, 4);
    run_and_save(2, 50, 3);
    ck_assert_uint_eq(row_saved().n, 2);
    ck_assert_double_eq(row_saved().mean, 50);
}
END_TEST

START_TEST(nothing_is_written_when_nothing_was_measured)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model;

    model = model_get(models);
    ck_assert_int_eq(orr_model_save(model, NULL), 0);
    measure(model, 0, 5, 3);
    ck_assert_int_eq(orr_model_save(model, NULL), 1);
    ck_assert_int_eq(orr_model_save(model, NULL), 0);
    measure(model, 0, 5, 1);
    ck_assert_int_eq(orr_model_save(model, NULL), 1);
    ck_assert_uint_eq(row_get(model, 0).n, 3);
    orr_models_free(models);
}
END_TEST

static void count_report(const char *symbol, const struct orr_error *err,
                         void *arg)
{
    ck_assert_str_eq(symbol, "kernel");
    ck_assert_ptr_nonnull(strstr(err->text, "kernel.host:1:"));
    ++*(unsigned *)arg;
}

START_TEST(a_broken_file_is_refused_each_time_and_never_overwritten)
{
    struct orr_models *models;
    struct orr_error err;
    unsigned reports = 0;
    char *text;

    run_and_save(1, 5, 4);
    text_write(path, "44\n");
    models = models_new(1, false);
    for (unsigned i = 0; i < 2; i++) {
        err.text[0] = '\0';
        ck_assert_ptr_null(
            orr_models_get(models, "kernel", ORR_MODEL_HISTORY, &err));
        ck_assert_ptr_nonnull(strstr(err.text, "kernel.host:1:"));
    }
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);

    /* It breaks while we run. */
    ck_assert_int_eq(remove(path), 0);
    models = models_new(1, false);
    measure(model_get(models), 0, 5, 3);
    text_write(path, "44\n");
    ck_assert_int_eq(orr_models_save(models, count_report, &reports), -EINVAL);
    ck_assert_uint_eq(reports, 1);
    orr_models_free(models);
    text = text_read(path);
    ck_assert_str_eq(text, "44\n");
    free(text);
    ck_assert_int_eq(remove(path), 0);
}
END_TEST

START_TEST(an_empty_file_counts_as_absent)
{
    run_and_save(1, 5, 4);
    text_write(path, "");
    run_and_save(1, 5, 4);
    ck_assert_uint_eq(row_saved().n, 3);
}
END_TEST

START_TEST(two_runs_at_once_lose_nothing)
{
    int ready[2], go[2], status;
    pid_t child;
    char byte;

    run_and_save(1, 5, 11);
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(go), 0);
    child = fork();
    if (child == 0) {
        struct orr_models *models = models_new(1, false);
        struct orr_model *model = model_get(models);

        if (write(ready[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(1);
        measure(model, 1, 6, 20);
        _exit(orr_models_save(models, NULL, NULL) ? 1 : 0);
    }
    /* Both have loaded the file before either saves. */
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);

    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(write(go[1], "x", 1), 1);
    measure(model, 1, 7, 30);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    orr_models_free(models);
    ck_assert_uint_eq(row_saved().n, 10 + 20 + 30);
    ck_assert_double_eq(row_saved().sum, 50 + 120 + 210);
    /* Of each run the first measure is no sample. */
    ck_assert_uint_eq(side_saved().nseen, 10 + 19 + 29);
    ck_assert_double_eq_tol(side_saved().estimate,
                            (10 * 5 + 19 * 6 + 29 * 7) / 58.0, 1e-6);
}
END_TEST

START_TEST(separate_devices_of_a_homogeneous_type_share_estimates)
{
    static const char text[] = "45\n2\n"
                               "1\n1\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"
                               "nan nan nan\n0\nf00 8 0 5 0 100 500 20\n"
                               "1\n1\n1\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"
                               "nan nan nan\n0\nf01 8 0 6 0 120 720 20\n";
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = 1U << ORR_DEVICE_CUDA};
    struct orr_models *models;
    struct orr_model *model;
    unsigned comb;

    run_and_save(1, 5, 2);
    text_write(path, text);
    ck_assert_int_eq(orr_models_new(&options, &models), 0);
    ck_assert_int_eq(orr_combs_get(orr_models_combs(models), &cuda1, 1, &comb),
                     0);
    model = model_get(models);
    ck_assert_double_eq(orr_model_expected(model, comb, 0, 0xf00), 5);
    ck_assert_double_eq(orr_model_expected(model, comb, 0, 0xf01), 6);
    orr_models_free(models);
}
END_TEST

static int count_entry(unsigned comb, unsigned impl,
                       const struct orr_model_row *row, void *arg)
{
    unsigned *count = arg;

    ck_assert_uint_eq(row->hash, *count);
    ck_assert_uint_eq(comb, *count % 2);
    ck_assert_uint_eq(impl, *count % 4);
    ++*count;
    return 0;
}

START_TEST(a_thousand_entries_are_found_and_enumerated_in_order)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    unsigned count = 0;

    for (unsigned i = 0; i < 1000; i++) {
        struct orr_measure m = {
            .comb = i % 2, .impl = i % 4, .footprint = i, .duration = i};

        ck_assert_int_eq(orr_model_measure(model, &m), 0);
    }
    for (unsigned i = 0; i < 1000; i++)
        ck_assert_ptr_nonnull(orr_model_find(model, i % 2, i % 4, i));
    ck_assert_int_eq(orr_model_each(model, count_entry, &count), 0);
    ck_assert_uint_eq(count, 1000);
    orr_models_free(models);
}
END_TEST

enum { NTHREADS = 4, NMEASURES = 20000, NFOOTPRINTS = 50 };

/* Each thread measures all footprints in turn and checks what it reads. */
static void *hammer(void *arg)
{
    struct orr_model *model = arg;

    for (unsigned i = 0; i < NMEASURES; i++) {
        struct orr_measure m = {.footprint = i % NFOOTPRINTS, .duration = 3};
        double expected;

        if (orr_model_measure(model, &m))
            return arg;
        expected = orr_model_expected(model, 0, 0, i % NFOOTPRINTS);
        if (!isnan(expected) && expected != 3)
            return arg;
    }
    return NULL;
}

START_TEST(threads_feed_and_read_a_model_without_losing_any)
{
    struct orr_models *models = models_new(1, false);
    struct orr_model *model = model_get(models);
    pthread_t threads[NTHREADS];
    unsigned total = 0;

    for (unsigned i = 0; i < NTHREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, model), 0);
    for (unsigned i = 0; i < 20; i++) /* saving goes on beside them */
        ck_assert_int_ge(orr_model_save(model, NULL), 0);
    for (unsigned i = 0; i < NTHREADS; i++) {
        void *failed;

        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    for (unsigned i = 0; i < NFOOTPRINTS; i++) {
        struct orr_model_row row;

        orr_entry_read(orr_model_find(model, 0, 0, i), &row);
        total += row.n;
    }
    ck_assert_uint_eq(total, NTHREADS * NMEASURES - NFOOTPRINTS);
    orr_models_free(models);
}
END_TEST

/* The sums of all rows of all files, and whether each is predicted. */
static int check_prediction(unsigned comb, unsigned impl,
                            const struct orr_model_row *row, void *arg)
{
    double expected = orr_model_expected(arg, comb, impl, row->hash);

    ck_assert(row->n == 0 ? isnan(expected) : expected == row->mean);
    return 0;
}

static int check_shared_model(const char *file, const char *name, bool shadowed,
                              void *arg)
{
    struct orr_model *model =
        orr_models_get(arg, name, ORR_MODEL_HISTORY, NULL);
    struct orr_model_file *text;

    (void)shadowed;
    ck_assert_ptr_nonnull(model);
    ck_assert_str_eq(orr_model_path(model), file);
    ck_assert_int_eq(orr_model_each(model, check_prediction, model), 0);
    ck_assert_int_eq(orr_model_file_read(file, &text, NULL), 0);
    for (unsigned i = 0; i < text->ncombs; i++) {
        const struct orr_model_comb *c = &text->combs[i];
        unsigned comb;

        ck_assert_int_eq(orr_combs_get(orr_models_combs(arg), c->devices,
                                       c->ndevices, &comb),
                         0);
        for (unsigned j = 0; j < c->nimpls; j++)
            for (unsigned k = 0; k < c->impls[j].nrows; k++)
                ck_assert_double_eq(
                    orr_model_expected(model, comb, j,
                                       c->impls[j].rows[k].hash),
                    c->impls[j].rows[k].mean);
    }
    orr_model_file_free(text);
    return 0;
}

START_TEST(shared_models_predict_the_mean_of_each_row)
{
    struct orr_sampling_options where = {0};
    struct orr_models_options options = {.host = "mirage", .simulated = true};
    struct orr_models *models;
    struct orr_sampling *shared;
    const char *folder = suite_shared("sampling");

    if (!folder)
        SKIP_TEST("no sampling in ORRERY_SHARED");
    where.perf_model_dir = folder;
    where.configured_dir = folder;
    ck_assert_int_eq(orr_sampling_new(&where, &shared), 0);
    options.sampling = shared;
    ck_assert_int_eq(orr_models_new(&options, &models), 0);
    ck_assert_int_eq(orr_sampling_each(shared, ORR_SAMPLING_CODELETS,
                                       check_shared_model, models),
                     0);
    orr_models_free(models);
    orr_sampling_free(shared);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

SUITE_MAIN(perfmodel_history)
{
    Suite *suite = suite_create("perfmodel-history");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, measures_join_the_row_by_the_rules, 0,
                        COUNT(rules));
    tcase_add_test(tc, sums_deviation_and_weights_are_kept);
    tcase_add_test(tc, regression_models_count_the_first_measure);
    tcase_add_test(tc, flops_that_differ_become_unknown);
    tcase_add_test(tc, impossible_measures_are_refused);
    tcase_add_test(tc, ten_samples_make_an_estimate_on_the_real_machine);
    tcase_add_test(tc,
                   version_grows_when_an_estimate_moves_by_more_than_1_percent);
    tcase_add_test(tc,
                   missing_estimates_start_measuring_on_the_real_machine_only);
    tcase_add_test(tc, what_was_saved_is_loaded_and_continued);
    tcase_add_test(tc, predictions_follow_from_the_samples);
    tcase_add_test(tc, a_level_that_the_row_refuses_is_saved_beside_it);
    tcase_add_test(tc, a_side_entry_of_another_row_is_ignored);
    tcase_add_test(tc, a_broken_side_file_is_left_alone_and_costs_nothing_else);
    tcase_add_test(tc, calibration_from_scratch_drops_the_samples_as_well);
    tcase_add_test(tc, a_side_file_that_cannot_be_written_loses_no_measures);
    tcase_add_test(tc, a_warm_up_alone_is_a_row_without_samples);
    tcase_add_test(tc,
                   what_each_process_runs_once_is_measured_from_the_second_on);
    tcase_add_test(tc, first_runs_are_warm_ups_where_others_come);
    tcase_add_test(tc, an_emptied_row_replaces_the_file_s);
    tcase_add_test(tc, calibrate_2_starts_anew);
    tcase_add_test(tc, nothing_is_written_when_nothing_was_measured);
    tcase_add_test(tc,
                   a_broken_file_is_refused_each_time_and_never_overwritten);
    tcase_add_test(tc, an_empty_file_counts_as_absent);
    tcase_add_test(tc, two_runs_at_once_lose_nothing);
    tcase_add_test(tc, separate_devices_of_a_homogeneous_type_share_estimates);
    tcase_add_test(tc, a_thousand_entries_are_found_and_enumerated_in_order);
    tcase_add_test(tc, threads_feed_and_read_a_model_without_losing_any);
    tcase_add_test(tc, shared_models_predict_the_mean_of_each_row);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
