/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-variation.c - how the measures of a model vary, from what
 * a run has saved. One thread.
 */
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/perfmodel_util.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/variation.h"

enum { CPU, GPU, NCOMBS };

static char dir[64], path[160];
static struct orr_sampling *sampling;

static void set_up(void)
{
    struct orr_sampling_options options = {.perf_model_dir = dir};

    tmp_make(dir);
    snprintf(path, sizeof(path), "%s/codelets/45/kernel.host", dir);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(orr_sampling_new(&options, &sampling), 0);
}

static void tear_down(void)
{
    orr_sampling_free(sampling);
    tmp_remove(dir);
}

/* A set with its model `kernel`; a run that measures, or a simulated one. */
static struct orr_models *open_models(bool simulated, struct orr_model **ret)
{
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = ORR_HOMOGENEOUS_DEFAULT,
                                         .calibrate = !simulated,
                                         .simulated = simulated};
    struct orr_error err = {""};
    struct orr_models *models;

    ck_assert_int_eq(orr_models_new(&options, &models), 0);
    for (unsigned i = 0; i < NCOMBS; i++) {
        unsigned comb;

        ck_assert_int_eq(
            orr_combs_get(orr_models_combs(models),
                          &(struct orr_device){.type = i, .ncores = 1}, 1,
                          &comb),
            0);
        ck_assert_uint_eq(comb, i);
    }
    *ret = orr_models_get(models, "kernel", ORR_MODEL_HISTORY, &err);
    ck_assert_ptr_nonnull(*ret);
    return models;
}

/* A run measures the footprint n times: 100 µs with this deviation, each resembling
 * the one before by phi. */
static void measure(struct orr_model *model, uint32_t footprint, unsigned n,
                    double deviation, double phi)
{
    uint64_t state = footprint;
    double z = rng_normal(&state);

    for (unsigned i = 0; i < n; i++) {
        struct orr_measure m = {.comb = CPU,
                                .footprint = footprint,
                                .size = footprint,
                                .duration = 100 + deviation * z,
                                .weight = 1};

        ck_assert_int_eq(orr_model_measure(model, &m), 0);
        z = phi * z + sqrt(1 - phi * phi) * rng_normal(&state);
    }
}

static void run(void)
{
    struct orr_model *model;
    struct orr_models *models = open_models(false, &model);

    measure(model, 1, 120, 2, 0);
    measure(model, 2, 120, 2, 0.9);
    measure(model, 3, 12, 10, 0);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);
}

static struct orr_variation variation_of(struct orr_model *model, unsigned comb,
                                         uint32_t footprint)
{
    struct orr_variation variation;

    ck_assert_int_eq(orr_model_variation(model, comb, 0, footprint, &variation),
                     0);
    return variation;
}

START_TEST(samples_are_the_distribution)
{
    struct orr_model *model;
    struct orr_models *models;
    struct orr_variation variation;

    run();
    models = open_models(true, &model);
    variation = variation_of(model, CPU, 1);
    ck_assert_uint_gt(variation.n, 100);
    ck_assert_double_eq(variation.phi, 0);
    ck_assert_double_eq_tol(orr_variation_factor(&variation, 0), 1, 0.005);
    ck_assert_double_eq_tol(orr_variation_factor(&variation, 1), 1.02, 0.008);
    orr_variation_done(&variation);
    variation = variation_of(model, CPU, 2);
    ck_assert_double_gt(variation.phi, 0.7);
    orr_variation_done(&variation);
    orr_models_free(models);
}
END_TEST

START_TEST(without_samples_rows_have_their_deviation)
{
    struct orr_model *model;
    struct orr_models *models;
    struct orr_variation few, unknown, unmeasured;

    run();
    models = open_models(true, &model);
    few = variation_of(model, CPU, 3);
    ck_assert_uint_eq(few.n, 0);
    ck_assert(0.03 < few.deviation && few.deviation < 0.2);
    /* Another size varies as the median of those that were measured. */
    unknown = variation_of(model, CPU, 4);
    ck_assert_uint_eq(unknown.n, 0);
    ck_assert(0.01 < unknown.deviation && unknown.deviation < 0.03);
    unmeasured = variation_of(model, GPU, 1);
    ck_assert_double_eq(unmeasured.deviation, ORR_VARIATION_UNMEASURED);
    orr_models_free(models);
}
END_TEST

START_TEST(samples_of_rows_that_others_have_measured_do_not_count)
{
    static const char text[] = "45\n1\n"
                               "1\n0\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"
                               "nan nan nan\n0\n1 8 0 5 0.5 100 505 20\n";
    struct orr_model *model;
    struct orr_models *models;
    struct orr_variation variation;

    run();
    text_write(path, text);
    models = open_models(true, &model);
    variation = variation_of(model, CPU, 1);
    ck_assert_uint_eq(variation.n, 0);
    ck_assert_double_eq_tol(variation.deviation, 0.1, 1e-6);
    orr_models_free(models);
}
END_TEST

SUITE_MAIN(perfmodel_variation)
{
    Suite *suite = suite_create("perfmodel-variation");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, samples_are_the_distribution);
    tcase_add_test(all, without_samples_rows_have_their_deviation);
    tcase_add_test(all, samples_of_rows_that_others_have_measured_do_not_count);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}
