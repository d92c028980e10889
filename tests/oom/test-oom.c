/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/oom/test-oom.c - each allocation of a reader fails in turn: the call
 * returns an error, leaves its output alone and loses nothing that it had. One
 * thread.
 */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/device/bus/store.h"
#include "perfmodel/arch.h"
#include "perfmodel/curve.h"
#include "perfmodel/model.h"
#include "perfmodel/robust.h"
#include "perfmodel/sampling.h"
#include "perfmodel/side.h"
#include "platforms/doctor.h"
#include "platforms/edit.h"
#include "platforms/machine_desc.h"
#include "tests/oom/wrapped.h"
#include "tests/suite.h"
#include "tools/perfmodel/model_findings.h"
#include "tools/perfmodel/model_plot.h"

static int read_machine(void)
{
    static const char untouched;
    struct orr_machine_desc *desc = (void *)(uintptr_t)&untouched;
    struct orr_error err = {""};
    int code = orr_machine_desc_read(TEST_MACHINE, &desc, &err);

    if (code == 0) {
        orr_machine_desc_free(desc);
        return 0;
    }
    ck_assert_ptr_eq(desc, &untouched);
    ck_assert_str_ne(err.text, "");
    return code;
}

static int edit_machine(void)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};
    int code = orr_machine_desc_read(TEST_MACHINE, &desc, &err);
    char *json = NULL;

    if (code == 0)
        code = orr_machine_desc_edit(
            desc,
            "cuda.count = 3; cuda.count -= 1; kernel[gemm] on cuda *= 2; "
            "pcie.bandwidth *= 2; nvlink = on; nvlink = off; "
            "link[\"Host\"].latency = 1us; cuda.memory = 8GiB",
            &err);
    if (code)
        ck_assert_str_ne(err.text, "");
    for (unsigned i = 0; code == 0 && i < desc->nedits; i++) {
        json = orr_edit_echo_json(&desc->edits[i]);
        code = json ? 0 : -ENOMEM;
        free(json);
    }
    orr_machine_desc_free(desc);
    return code;
}

/* It has findings, which need memory too. */
static int examine_machine(void)
{
    struct orr_findings findings = {0};
    struct orr_error err = {""};
    int code = orr_doctor_examine_machine(TEST_MACHINE, NULL, &findings, &err);

    if (code == 0)
        ck_assert_uint_eq(findings.n, 1);
    else
        ck_assert_str_ne(err.text, "");
    orr_findings_done(&findings);
    return code;
}

static int read_config(void)
{
    struct orr_config config = {0};
    struct orr_error err = {""};
    int code = orr_config_read(&config, &err);

    if (code == 0)
        orr_config_done(&config);
    return code;
}

static int read_models(void)
{
    struct orr_sampling_options where = {.perf_model_dir = TEST_MODELS,
                                         .home = "/nonexistent"};
    struct orr_models_options options = {.host = "h100-pcie-4",
                                         .simulated = true};
    struct orr_sampling *sampling = NULL;
    struct orr_models *models = NULL;
    struct orr_error err = {""};
    int code = orr_sampling_new(&where, &sampling);

    options.sampling = sampling;
    if (code == 0)
        code = orr_models_new(&options, &models);
    if (code == 0 &&
        !orr_models_get(models, "chol_model_gemm", ORR_MODEL_HISTORY, &err))
        code = -1;
    if (models)
        orr_models_free(models);
    if (sampling)
        orr_sampling_free(sampling);
    return code;
}

static const char side_text[] =
    "orrery-side 1\n"
    "entry 0/0/1 0 cafe 12 1200 100 12 0 1 50 1\n"
    "samples\nrecent 0 2 5 6!\nblocks 0 2 2 1 5 6 7\n";

static int read_side(void)
{
    struct orr_side *side = NULL;
    struct orr_error err = {""};
    char *text = NULL;
    size_t size;
    int code = orr_side_parse("side", side_text, sizeof(side_text) - 1,
                              ORR_SIDE_SAMPLES, &side, &err);

    if (code == 0)
        code = orr_side_format(side, &text, &size);
    orr_side_free(side);
    free(text);
    return code;
}

/* Times at some sizes, which are no file but are fitted to the same rule. */
static const struct orr_point points[] = {{32, 9, 0, 1},
                                          {64, 10, 0, 1},
                                          {128, 20, 0, 1},
                                          {256, 90, 0, 1},
                                          {512, 600, 0, 1}};

static int fit_regressions(void)
{
    struct orr_power_regression regression = {.a = 42};
    int code = orr_fit_power(points, 5, &regression);

    if (code == 0)
        code = orr_fit_offset(points, 5, &regression);
    else
        ck_assert(regression.a == 42);
    return code;
}

static int interpolate(void)
{
    double value = orr_interpolate(points, 5, 100).value;

    return value > 0 ? 0 : -1;
}

static int fit_polynomial(void)
{
    const unsigned exponents[] = {1, 3};
    const struct orr_terms terms = {1, 2, exponents};
    struct orr_observation observations[5];
    struct orr_polynomial p = {.ncoeff = 42};
    int code;

    for (unsigned i = 0; i < 5; i++)
        observations[i] = (struct orr_observation){&points[i].x, points[i].y};
    code = orr_fit_polynomial(&terms, observations, 5, &p);
    if (code == 0)
        free(p.coeff);
    else
        ck_assert_uint_eq(p.ncoeff, 42);
    return code;
}

/* Two devices; the second has one row of three, and a mean that cannot be. */
static const char two_devices[] =
    "45\n2\n"
    "1\n1\n0\n1\n1\n2\n"
    "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
    "00000001\t100\t1e6\t50\t1\t2000\t100040\t40\n"
    "00000002\t400\t4e6\t9\t1\t36\t328\t4\n"
    "1\n1\n1\n1\n1\n1\n"
    "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
    "00000001\t100\t1e6\t0\t1\t2000\t100040\t40\n";

static int check_and_draw(void)
{
    const struct check_options options = {.confidence = 0.02, .minimum = 10};
    const struct model_plot_choice choice = {.host = "here", .gflops = true};
    struct check_model model = {.symbol = "kernel"};
    struct orr_model_file *file = NULL;
    struct check_result check_result;
    struct model_plot plot;
    int code = orr_model_file_parse("two", two_devices, sizeof(two_devices) - 1,
                                    &file, NULL);

    model.file = file;
    if (code == 0)
        code = check_models(&model, 1, &options, &check_result);
    if (code == 0) {
        ck_assert_uint_ge(check_result.findings.n, 3);
        check_result_done(&check_result);
        code = model_plot_build(&model, &choice, &plot);
        if (code == 0)
            model_plot_done(&plot);
    }
    orr_model_file_free(file);
    return code;
}

/* Two levels that come and go: every allocation there is. */
static int summarise(void)
{
    struct orr_summary summary = {.n = 77};
    double samples[200];
    int code;

    for (unsigned i = 0; i < 200; i++)
        samples[i] = (i / 40 % 2 ? 120 : 100) + 1e-3 * (i * 37 % 200);
    code = orr_summarise(samples, 200, &summary);
    ck_assert_uint_eq(summary.n, code == 0 ? 200 : 77);
    return code;
}

static int (*const readers[])(void) = {
    read_machine,    edit_machine, read_config, read_models, examine_machine,
    fit_regressions, interpolate,  read_side,   summarise,   check_and_draw,
    fit_polynomial,
};

static int run_with(int (*reader)(void), long allocations)
{
    int code;

    left = allocations;
    code = reader();
    left = -1;
    return code;
}

START_TEST(each_allocation_of_a_reader_may_fail)
{
    int (*reader)(void) = readers[_i];
    long n = 0;

    ck_assert_int_eq(reader(), 0);
    /* The second failure at the same place leaves the heap as the first did:
     * what the C library allocates once is not taken for a leak. */
    while (run_with(reader, n) != 0) {
        size_t before = mallinfo2().uordblks;

        ck_assert_int_ne(run_with(reader, n), 0);
        ck_assert_uint_eq(mallinfo2().uordblks, before);
        ck_assert_int_lt(++n, 100000);
    }
    ck_assert_int_gt(n, 0); /* something was refused at all */
    ck_assert_int_eq(reader(), 0);
}
END_TEST

/* --- saving --- */

static struct orr_models *open_models(const struct orr_sampling *sampling)
{
    struct orr_models_options options = {
        .sampling = sampling, .host = "host", .calibrate = 1};
    const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};
    struct orr_models *models;
    unsigned comb;

    ck_assert_int_eq(orr_models_new(&options, &models), 0);
    ck_assert_int_eq(orr_combs_get(orr_models_combs(models), &cpu, 1, &comb),
                     0);
    return models;
}

static struct orr_model *open_model(struct orr_models *models)
{
    struct orr_error err = {""};
    struct orr_model *model =
        orr_models_get(models, "kernel", ORR_MODEL_NL_REGRESSION, &err);

    ck_assert_msg(model != NULL, "%s", err.text);
    return model;
}

/* Measures, saves with the n-th allocation failing, and returns whether one
 * was refused at all. */
static bool save_with(const struct orr_sampling *sampling, long n)
{
    struct orr_models *models = open_models(sampling);
    struct orr_model *model = open_model(models);
    bool all;

    for (unsigned i = 0; i < 60; i++) {
        struct orr_measure m = {
            .footprint = i % 4, .size = 100 << i % 4, .duration = 50 << i % 4};

        left = i < 30 ? n % 8 : -1; /* windows may be missing as well */
        (void)orr_model_measure(model, &m);
    }
    left = n;
    (void)orr_models_save(models, NULL, NULL);
    all = left > 0;
    left = -1;
    orr_models_free(models);
    return !all;
}

START_TEST(each_allocation_of_a_save_may_fail)
{
    char dir[] = "/tmp/orrery-oom-XXXXXX", command[64];
    struct orr_sampling_options where = {.perf_model_dir = dir};
    struct orr_sampling *sampling;
    long n = 0;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(orr_sampling_new(&where, &sampling), 0);
    do {
        struct orr_models *models;

        ck_assert_int_lt(n, 100000);
        if (!save_with(sampling, n++))
            break;
        models = open_models(sampling); /* what is there is whole */
        (void)open_model(models);
        orr_models_free(models);
    } while (true);
    ck_assert_int_gt(n, 20);
    orr_sampling_free(sampling);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* --- bus files --- */

static int bus_files(const char *stem)
{
    const struct orr_bus_counts counts = {.ncpus = 2, .nodes = {2, 1}};
    struct orr_bus_tables tables;
    struct orr_error err = {""};
    int code = orr_bus_tables_init(&tables, &counts);

    if (code < 0)
        return code;
    code = orr_bus_store_write(stem, &tables, &err);
    if (code == 0)
        code = orr_bus_store_read(stem, &tables, &err);
    if (code < 0)
        ck_assert_str_ne(err.text, "");
    orr_bus_tables_done(&tables);
    return code;
}

START_TEST(each_allocation_of_bus_files_may_fail)
{
    char dir[] = "/tmp/orrery-oom-XXXXXX", stem[64], command[64];
    long n = 0;
    int code;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(stem, sizeof(stem), "%s/bus/here", dir);
    ck_assert_int_eq(bus_files(stem), 0);
    do {
        struct orr_bus_counts counts;

        left = n;
        code = bus_files(stem);
        left = -1;
        ck_assert_int_lt(n++, 1000);
        /* What was there is whole. */
        ck_assert_int_eq(orr_bus_store_counts(stem, &counts, NULL), 0);
        ck_assert_uint_eq(counts.ncpus, 2);
    } while (code != 0);
    ck_assert_int_gt(n, 10);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom");
    TCase *tc = tcase_create("readers");

    mallopt(M_MXFAST, 0); /* freed is freed, for mallinfo2 */
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, each_allocation_of_a_save_may_fail);
    tcase_add_test(tc, each_allocation_of_bus_files_may_fail);
    tcase_add_loop_test(tc, each_allocation_of_a_reader_may_fail, 0,
                        (int)(sizeof(readers) / sizeof(readers[0])));
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
