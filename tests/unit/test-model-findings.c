/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-model-findings.c - the checks of models, on models made here:
 * what counts as a fault and what does not, close to the thresholds.
 * test-perfmodel-check.py tests the whole command. One thread.
 */
#include "tools/perfmodel/model_findings.h"

#include <math.h>
#include <string.h>

#include "tests/unit/perfmodel_util.h"
#include "core/base/words.h"

static const struct check_options plain = {
    .confidence = 0.02,
    .minimum = 10,
    .homogeneous = 1U << ORR_DEVICE_CPU,
};

static struct orr_model_file *file, *second_file;

static void set_up(void)
{
    ck_assert_int_eq(orr_model_file_new(&file), 0);
    ck_assert_int_eq(orr_model_file_new(&second_file), 0);
}

static void tear_down(void)
{
    orr_model_file_free(file);
    orr_model_file_free(second_file);
}

/* A row of n equal samples but for a spread of 1 %. */
static struct orr_model_row row_of(uint32_t hash, uint64_t size, double mean,
                                   uint32_t n)
{
    double dev = 0.01 * mean;

    return (struct orr_model_row){.hash = hash,
                                  .size = size,
                                  .flops = 1e6,
                                  .mean = mean,
                                  .dev = dev,
                                  .sum = mean * n,
                                  .sum2 = (mean * mean + dev * dev) * n,
                                  .n = n};
}

static void add_row(struct orr_model_file *to, struct orr_device device,
                    struct orr_model_row row)
{
    struct orr_model_comb *comb = orr_model_file_find_comb(to, &device, 1, 0);
    struct orr_model_impl *impl;

    if (!comb)
        ck_assert_int_eq(orr_model_file_add_comb(to, &device, 1, &comb), 0);
    ck_assert_int_eq(orr_model_comb_get_impl(comb, 0, &impl), 0);
    ck_assert_int_eq(orr_model_impl_add_row(impl, &row), 0);
}

static struct orr_device cuda(int number)
{
    return (struct orr_device){ORR_DEVICE_CUDA, number, 1};
}

static struct orr_device cpu(int ncores)
{
    return (struct orr_device){ORR_DEVICE_CPU, 0, ncores};
}

static struct check_result checker(const struct check_options *options)
{
    const struct check_model models[] = {
        {.symbol = "first", .file = file},
        {.symbol = "second", .file = second_file}};
    struct check_result check_result;

    ck_assert_int_eq(check_models(models, second_file->ncombs ? 2 : 1, options,
                                  &check_result),
                     0);
    return check_result;
}

/* How many findings of a fault there are, on `arch` unless that is NULL. */
static unsigned count(const struct check_result *check_result,
                      const char *fault, const char *arch)
{
    unsigned n = 0;

    for (size_t i = 0; i < check_result->findings.n; i++) {
        const struct orr_finding *f = &check_result->findings.items[i];

        n += !strcmp(f->fault, fault) &&
             (!arch || (f->arch && !strcmp(f->arch, arch)));
    }
    return n;
}

/* Checks the file, and counts. */
static unsigned result_count(const struct check_options *options,
                             const char *fault, const char *arch)
{
    struct check_result check_result = checker(options);
    unsigned n = count(&check_result, fault, arch);

    check_result_done(&check_result);
    return n;
}

START_TEST(no_models_have_no_findings)
{
    struct check_result check_result;

    ck_assert_int_eq(check_models(NULL, 0, &plain, &check_result), 0);
    ck_assert_uint_eq(check_result.findings.n, 0);
    ck_assert_uint_eq(check_result.narchs, 0);
    check_result_done(&check_result);
}
END_TEST

static const struct {
    double ratio;
    const char *arch; /* that is named, NULL: none */
} siblings[] = {
    {1, NULL},
    {2.9, NULL},
    {3.1, "cuda1_impl0"},
    {300, "cuda1_impl0"},
    /* The faster of two counts: nothing makes a kernel run too fast. */
    {1 / 3.1, "cuda0_impl0"},
};

START_TEST(siblings_disagree_from_a_factor_of_three_on)
{
    add_row(file, cuda(0), row_of(1, 100, 50, 40));
    add_row(file, cuda(1), row_of(1, 100, 50 * siblings[_i].ratio, 40));
    ck_assert_uint_eq(result_count(&plain, "siblings-disagree", NULL),
                      siblings[_i].arch != NULL);
    if (siblings[_i].arch)
        ck_assert_uint_eq(
            result_count(&plain, "siblings-disagree", siblings[_i].arch), 1);
}
END_TEST

START_TEST(of_three_siblings_the_odd_one_is_named)
{
    add_row(file, cuda(0), row_of(1, 100, 50, 40));
    add_row(file, cuda(1), row_of(1, 100, 51, 40));
    add_row(file, cuda(2), row_of(1, 100, 5, 40));
    ck_assert_uint_eq(result_count(&plain, "siblings-disagree", NULL), 1);
    ck_assert_uint_eq(result_count(&plain, "siblings-disagree", "cuda2_impl0"),
                      1);
}
END_TEST

START_TEST(devices_that_always_differ_are_of_different_make)
{
    for (uint32_t h = 1; h <= 3; h++) {
        add_row(second_file, cuda(0), row_of(h, 100, 50, 40));
        add_row(second_file, cuda(1), row_of(h, 100, 400, 40));
    }
    add_row(file, cuda(0), row_of(1, 100, 10, 40));
    add_row(file, cuda(1), row_of(1, 100, 85, 40));
    ck_assert_uint_eq(result_count(&plain, "devices-differ", "cuda1_impl0"), 1);
    /* Nothing excuses the kernel that has three rows: the other has one. */
    ck_assert_uint_eq(result_count(&plain, "siblings-disagree", NULL), 3);
}
END_TEST

START_TEST(homogeneous_devices_share_what_was_measured)
{
    struct check_options options = plain;

    options.homogeneous |= 1U << ORR_DEVICE_CUDA;
    add_row(file, cuda(0), row_of(1, 100, 50, 40));
    add_row(file, cuda(1), row_of(2, 200, 100, 40));
    ck_assert_uint_eq(result_count(&plain, "missing-device", NULL), 2);
    ck_assert_uint_eq(result_count(&options, "missing-device", NULL), 0);
}
END_TEST

START_TEST(a_device_of_the_machine_without_any_model_is_missing)
{
    struct check_options options = plain;

    options.ndevices[ORR_DEVICE_CUDA] = 3;
    options.ndevices[ORR_DEVICE_OPENCL] = 3;
    add_row(file, cuda(0), row_of(1, 100, 50, 40));
    add_row(file, cuda(1), row_of(1, 100, 50, 40));
    ck_assert_uint_eq(result_count(&plain, "missing-device", NULL), 0);
    ck_assert_uint_eq(result_count(&options, "missing-device", "cuda2"), 1);
    options.like[ORR_DEVICE_CUDA] = 1 << 2;
    ck_assert_uint_eq(result_count(&options, "missing-device", NULL), 0);
    ck_assert_uint_eq(result_count(&options, "unused-type", "opencl"), 1);
}
END_TEST

START_TEST(combined_workers_are_no_siblings_of_a_core)
{
    add_row(file, cpu(1), row_of(1, 100, 100, 40));
    add_row(file, cpu(4), row_of(1, 100, 26, 40));
    ck_assert_uint_eq(result_count(&plain, "siblings-disagree", NULL), 0);
    ck_assert_uint_eq(result_count(&plain, "missing-device", NULL), 0);
}
END_TEST

START_TEST(a_peak_counts_cores)
{
    struct check_options options = plain;

    options.peak[ORR_DEVICE_CPU] = 10;
    add_row(file, cpu(1), row_of(1, 100, 50, 40)); /* 20 GFlop/s */
    add_row(file, cpu(4), row_of(1, 100, 30, 40)); /* 33 */
    ck_assert_uint_eq(result_count(&options, "above-peak", NULL), 1);
    ck_assert_uint_eq(result_count(&options, "above-peak", "cpu0_impl0"), 1);
}
END_TEST

START_TEST(the_minimum_is_the_callers)
{
    struct check_options options = plain;

    options.minimum = 40;
    add_row(file, cpu(1), row_of(1, 100, 50, 39));
    ck_assert_uint_eq(result_count(&plain, "few-samples", NULL), 0);
    ck_assert_uint_eq(result_count(&options, "few-samples", NULL), 1);
}
END_TEST

static const struct {
    double fall; /* what is left of the time at four times the size */
    enum orr_severity severity;
    unsigned found;
} falls[] = {{1.1, 0, 0},
             {0.75, 0, 0},
             {0.6, ORR_SEVERITY_WARNING, 1},
             {0.3, ORR_SEVERITY_ERROR, 1}};

START_TEST(a_time_that_falls_with_size_is_found)
{
    struct check_result check_result;

    add_row(file, cpu(1), row_of(1, 100, 50, 40));
    add_row(file, cpu(1), row_of(2, 400, 50 * falls[_i].fall, 40));
    file->combs[0].impls[0].rows[1].flops = 4e6;
    check_result = checker(&plain);
    ck_assert_uint_eq(count(&check_result, "falls-with-size", NULL),
                      falls[_i].found);
    ck_assert_uint_eq(check_result.findings.n, falls[_i].found);
    if (falls[_i].found)
        ck_assert_uint_eq(check_result.findings.items[0].severity,
                          falls[_i].severity);
    check_result_done(&check_result);
}
END_TEST

START_TEST(a_larger_size_with_less_work_may_be_faster)
{
    add_row(file, cpu(1), row_of(1, 100, 50, 40));
    add_row(file, cpu(1), row_of(2, 400, 10, 40));
    file->combs[0].impls[0].rows[1].flops = 1e5;
    ck_assert_uint_eq(result_count(&plain, "falls-with-size", NULL), 0);
}
END_TEST

START_TEST(intervals_are_students)
{
    double value, half;
    enum orr_origin origin;
    struct check_model model = {.symbol = "first", .file = file};

    /* t(9) = 2.262, Fisher & Yates: 2.262 · 1 % / √9 */
    add_row(file, cpu(1), row_of(1, 100, 50, 10));
    ck_assert_int_eq(check_value(&model, &file->combs[0], 0,
                                 &file->combs[0].impls[0].rows[0], &value,
                                 &half, &origin),
                     0);
    ck_assert_int_eq(origin, ORR_ORIGIN_MEASURED);
    ck_assert_double_eq_tol(value, 50, 1e-12);
    ck_assert_double_eq_tol(half, 0.01 * 2.262 / 3, 3e-5);
}
END_TEST

START_TEST(a_row_that_cannot_be_used_has_no_value)
{
    double value, half;
    enum orr_origin origin;
    struct check_model model = {.symbol = "first", .file = file};

    add_row(file, cpu(1), row_of(1, 100, 0, 10));
    ck_assert_int_eq(check_value(&model, &file->combs[0], 0,
                                 &file->combs[0].impls[0].rows[0], &value,
                                 &half, &origin),
                     0);
    ck_assert(isnan(value) && isnan(half));
}
END_TEST

START_TEST(errors_come_first_and_are_counted_where_they_belong)
{
    struct check_result check_result;

    add_row(file, cuda(0), row_of(1, 100, 50, 40));
    add_row(file, cuda(0), row_of(2, 400, 90, 4));
    add_row(file, cuda(1), row_of(1, 100, 50, 40));
    add_row(file, cpu(1), row_of(1, 100, 500, 40));
    check_result = checker(&plain);
    ck_assert_uint_eq(check_result.narchs, 3);
    ck_assert_uint_ge(check_result.findings.n, 3);
    for (size_t i = 1; i < check_result.findings.n; i++)
        ck_assert_uint_ge(check_result.findings.items[i - 1].severity,
                          check_result.findings.items[i].severity);
    ck_assert_uint_eq(check_result.archs[0].nerrors, 1); /* few samples */
    ck_assert_uint_eq(check_result.archs[1].nerrors, 1); /* a footprint lacks */
    ck_assert_uint_eq(check_result.archs[2].nwarnings, 1);
    ck_assert_uint_eq(check_result.archs[0].ncalibrated, 1);
    ck_assert_uint_eq(check_result.archs[0].least_n, 4);
    check_result_done(&check_result);
}
END_TEST

static const struct {
    const char *typed, *name;
    bool near;
} names[] = {
    {"gem", "gemm", true},
    {"GEMM", "gemm", true},
    {"gemmm", "gemm", true},
    {"chol_gemm", "chol_model_gemm", true},
    {"sgemm_gemm", "starpu_sgemm_gemm", true},
    {"chol_modle_gemm", "chol_model_gemm", true},
    {"potrf", "gemm", false},
    {"", "gemm", false},
    {"xy", "gemm", false},
};

START_TEST(near_names_are_found)
{
    ck_assert_msg(orr_words_near(names[_i].typed, names[_i].name) ==
                      names[_i].near,
                  "%s, %s", names[_i].typed, names[_i].name);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

SUITE_MAIN(model_findings)
{
    Suite *suite = suite_create("model-findings");
    TCase *tc = tcase_create("check");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, no_models_have_no_findings);
    tcase_add_loop_test(tc, siblings_disagree_from_a_factor_of_three_on, 0,
                        COUNT(siblings));
    tcase_add_test(tc, of_three_siblings_the_odd_one_is_named);
    tcase_add_test(tc, devices_that_always_differ_are_of_different_make);
    tcase_add_test(tc, homogeneous_devices_share_what_was_measured);
    tcase_add_test(tc, a_device_of_the_machine_without_any_model_is_missing);
    tcase_add_test(tc, combined_workers_are_no_siblings_of_a_core);
    tcase_add_test(tc, a_peak_counts_cores);
    tcase_add_test(tc, the_minimum_is_the_callers);
    tcase_add_loop_test(tc, a_time_that_falls_with_size_is_found, 0,
                        COUNT(falls));
    tcase_add_test(tc, a_larger_size_with_less_work_may_be_faster);
    tcase_add_test(tc, intervals_are_students);
    tcase_add_test(tc, a_row_that_cannot_be_used_has_no_value);
    tcase_add_test(tc, errors_come_first_and_are_counted_where_they_belong);
    tcase_add_loop_test(tc, near_names_are_found, 0, COUNT(names));
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
