/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-tally.c - the tally of kernels and copies, on a machine that
 * exists only as numbers of workers and nodes.
 */
#include "core/observe/tally.h"

#include "core/device/machine.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct orr_machine machine = {.nnodes = 3, .row = 3, .nworkers = 2};
static const struct orr_tally_kernel gemm = {.name = "gemm",
                                             .arch = "cpu0",
                                             .footprint = 0xabc,
                                             .size = 64,
                                             .model = "k",
                                             .modelled = true};
static struct orr_tally *tally;
static struct orr_tally_summary seen[200];
static struct orr_tally_link links[9];
static unsigned nseen, nlinks;

static void set_up(void)
{
    ck_assert_int_eq(orr_tally_new(&machine, &tally), 0);
    nseen = nlinks = 0;
}

static void tear_down(void)
{
    orr_tally_free(tally);
}

static void remember(const struct orr_tally_summary *summary, void *arg)
{
    (void)arg;
    ck_assert_uint_lt(nseen, 200);
    seen[nseen++] = *summary;
}

static void remember_link(const struct orr_tally_link *link, void *arg)
{
    (void)arg;
    links[nlinks++] = *link;
}

static void look(void)
{
    nseen = 0;
    ck_assert_int_eq(orr_tally_each_kernel(tally, remember, NULL), 0);
}

/* One kernel of `us` on a worker. */
static void record(unsigned worker, const void *key,
                   const struct orr_tally_kernel *kernel, double us)
{
    struct orr_tally_item *item =
        orr_tally_find(tally, worker, key, kernel->impl, kernel->ncores);

    if (!item)
        item = orr_tally_add(tally, worker, key, kernel);
    ck_assert_ptr_nonnull(item);
    orr_tally_kernel(tally, worker, item, 1000, 1000 + us, us / 2);
}

START_TEST(workers_of_one_architecture_are_joined)
{
    record(0, &gemm, &gemm, 10);
    record(1, &machine, &gemm, 30);
    record(1, &machine, &gemm, 20);
    look();
    ck_assert_uint_eq(nseen, 1);
    ck_assert_uint_eq(seen[0].count, 3);
    ck_assert_double_eq(seen[0].mean, 20);
    ck_assert_double_eq(seen[0].median, 20);
    ck_assert_double_eq(seen[0].predicted, 10);
    ck_assert_str_eq(seen[0].kernel.name, "gemm");
}
END_TEST

START_TEST(kernels_that_differ_are_listed_in_order)
{
    struct orr_tally_kernel other[4] = {gemm, gemm, gemm, gemm};

    other[0].footprint = 0xdef;
    other[1].impl = 1;
    other[2].name = "axpy";
    strcpy(other[3].arch, "cuda1");
    record(0, &gemm, &gemm, 1);
    for (unsigned i = 0; i < 4; i++)
        record(0, &other[i], &other[i], 1);
    look();
    ck_assert_uint_eq(nseen, 5);
    ck_assert_str_eq(seen[0].kernel.name, "axpy");
    ck_assert_uint_eq(seen[1].kernel.footprint, 0xabc);
    ck_assert_uint_eq(seen[2].kernel.footprint, 0xdef);
    ck_assert_uint_eq(seen[3].kernel.impl, 1);
    ck_assert_str_eq(seen[4].kernel.arch, "cuda1");
}
END_TEST

START_TEST(implementations_of_one_key_are_kept_apart)
{
    struct orr_tally_kernel second = gemm;

    second.impl = 1;
    record(0, &gemm, &gemm, 1);
    record(0, &gemm, &second, 2);
    record(0, &gemm, &gemm, 1);
    look();
    ck_assert_uint_eq(nseen, 2);
    ck_assert_uint_eq(seen[0].count, 2);
    ck_assert_uint_eq(seen[1].count, 1);
}
END_TEST

START_TEST(a_hundred_kernels_are_found_again)
{
    static struct orr_tally_kernel kernels[100];

    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 100; i++) {
            kernels[i] = gemm;
            kernels[i].footprint = i;
            record(0, &kernels[i], &kernels[i], i + 1);
        }
    look();
    ck_assert_uint_eq(nseen, 100);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_eq(seen[i].count, 3);
        ck_assert_double_eq(seen[i].median, i + 1);
    }
}
END_TEST

/* Durations 0 … n-1: every quantile is known. */
START_TEST(a_long_series_keeps_its_quantiles_and_its_exact_mean)
{
    unsigned n = 100000;

    for (unsigned i = 0; i < n; i++)
        record(0, &gemm, &gemm, i);
    look();
    ck_assert_uint_eq(seen[0].count, n);
    ck_assert_double_eq_tol(seen[0].mean, (n - 1) / 2.0, 1e-6 * n);
    ck_assert_double_eq_tol(seen[0].median, 0.5 * n, 0.001 * n);
    ck_assert_double_eq_tol(seen[0].p05, 0.05 * n, 0.001 * n);
    ck_assert_double_eq_tol(seen[0].p95, 0.95 * n, 0.001 * n);
}
END_TEST

/* 20,000 of one worker, thinned, weigh more than 4,000 of the other. */
START_TEST(thinned_series_keep_their_weight)
{
    for (unsigned i = 0; i < 20000; i++)
        record(0, &gemm, &gemm, 100);
    for (unsigned i = 0; i < 4000; i++)
        record(1, &gemm, &gemm, 500);
    look();
    ck_assert_double_eq(seen[0].p75, 100);
    ck_assert_double_eq(seen[0].p95, 500);
}
END_TEST

START_TEST(the_typical_time_leaves_spikes_out)
{
    for (unsigned i = 0; i < 88; i++)
        record(0, &gemm, &gemm, i % 2 ? 95 : 105);
    for (unsigned i = 0; i < 12; i++)
        record(0, &gemm, &gemm, 70000);
    look();
    ck_assert_double_eq(seen[0].typical, 100);
    ck_assert_double_gt(seen[0].mean, 8000);
}
END_TEST

START_TEST(outliers_are_said_to_have_a_level_or_none)
{
    for (unsigned i = 0; i < 100; i++)
        record(0, &gemm, &gemm, i % 5 ? 100 : i % 2 ? 340 : 350);
    look();
    ck_assert_double_eq_tol(seen[0].aside, 0.2, 1e-9);
    ck_assert_double_eq_tol(seen[0].other_share, 0.2, 1e-9);
    ck_assert_double_eq_tol(seen[0].other, 345, 5);
    for (unsigned i = 0; i < 20; i++)
        record(0, &gemm, &gemm, 1000);
    look();
    ck_assert_double_eq_tol(seen[0].aside, 40. / 120, 1e-9);
    ck_assert_double_eq_tol(seen[0].other_share, 20. / 120, 1e-9);
}
END_TEST

START_TEST(without_prediction_it_is_nan)
{
    struct orr_tally_item *item = orr_tally_add(tally, 0, &gemm, &gemm);

    orr_tally_kernel(tally, 0, item, 0, 5, NAN);
    orr_tally_kernel(tally, 0, item, 0, 5, 0);
    look();
    ck_assert(isnan(seen[0].predicted));
}
END_TEST

START_TEST(the_modelled_span_leaves_other_kernels_out)
{
    struct orr_tally_kernel init = {.name = "init", .arch = "cpu0"};
    struct orr_tally_item *item = orr_tally_add(tally, 0, &init, &init);

    ck_assert_double_eq(orr_tally_modelled_span(tally), 0);
    orr_tally_submit(tally, 400);
    orr_tally_submit(tally, 900);
    orr_tally_kernel(tally, 0, item, 5000, 9000, NAN);
    ck_assert_double_eq(orr_tally_modelled_span(tally), 0);
    record(1, &gemm, &gemm, 200);
    ck_assert_double_eq(orr_tally_modelled_span(tally), 800);
}
END_TEST

START_TEST(copies_are_summed_per_direction)
{
    struct orr_tally_link copy = {0, 2, 1, 1000, 10, 8, 7};

    orr_tally_copy(tally, &copy);
    copy.total = 12;
    orr_tally_copy(tally, &copy);
    copy.src = 2;
    copy.dst = 0;
    copy.predicted = NAN;
    orr_tally_copy(tally, &copy);
    orr_tally_each_link(tally, remember_link, NULL);
    ck_assert_uint_eq(nlinks, 2);
    ck_assert_uint_eq(links[0].dst, 2);
    ck_assert_uint_eq(links[0].count, 2);
    ck_assert_uint_eq(links[0].bytes, 2000);
    ck_assert_double_eq(links[0].total, 22);
    ck_assert_double_eq(links[0].predicted, 16);
    ck_assert(isnan(links[1].predicted));
}
END_TEST

SUITE_MAIN(tally)
{
    Suite *suite = suite_create("tally");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, workers_of_one_architecture_are_joined);
    tcase_add_test(tcase, kernels_that_differ_are_listed_in_order);
    tcase_add_test(tcase, implementations_of_one_key_are_kept_apart);
    tcase_add_test(tcase, a_hundred_kernels_are_found_again);
    tcase_add_test(tcase, a_long_series_keeps_its_quantiles_and_its_exact_mean);
    tcase_add_test(tcase, thinned_series_keep_their_weight);
    tcase_add_test(tcase, the_typical_time_leaves_spikes_out);
    tcase_add_test(tcase, outliers_are_said_to_have_a_level_or_none);
    tcase_add_test(tcase, without_prediction_it_is_nan);
    tcase_add_test(tcase, the_modelled_span_leaves_other_kernels_out);
    tcase_add_test(tcase, copies_are_summed_per_direction);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
