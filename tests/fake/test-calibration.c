/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fake/test-calibration.c - how programs measure unknown lengths, replace
 * wrong ones, and what it costs them when none is wrong. Times are virtual;
 * normal kernels take 190 µs ± 3 %.
 */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake-run.h"
#include "tests/suite.h"

static const double normal_us = 190, spike_us = 70e3;

/* What the functions below use. */
static unsigned long nspikes; /* runs that take 70 ms */
static double slowness;

static double spiky(unsigned worker, unsigned impl, unsigned long nth)
{
    (void)impl;
    return worker == 0 && nth < nspikes ? spike_us
                                        : normal_us * fake_noise(0.03);
}

static double slow_first(unsigned worker, unsigned impl, unsigned long nth)
{
    (void)impl;
    (void)nth;
    return (worker == 0 ? slowness : 1) * normal_us * fake_noise(0.03);
}

static double run(const struct fake_options *options, unsigned long n,
                  unsigned long w)
{
    double us;

    fake_start(options);
    us = fake_waves(n, w);
    fake_stop();
    return us;
}

/* The least time for waves of w on two workers that take a and b per task. */
static double least(unsigned long n, unsigned long w, double a, double b)
{
    double best = INFINITY;

    for (unsigned long i = 0; i <= w; i++)
        best = fmin(best, fmax((double)i * a, (double)(w - i) * b));
    return best * (double)(n / w);
}

/* --- wrong lengths --- */

static const struct {
    const char *machine;
    unsigned long before; /* tasks of the run that feeds wrong measures */
} damaged[] = {
    {"fake", 40}, {"fake", 2000}, {"asynchronous", 40}, {"asynchronous", 2000}};

START_TEST(a_file_that_is_wrong_about_one_device_is_corrected)
{
    struct fake_options options = {.sched = "dmda",
                                   .machine = damaged[_i].machine,
                                   .ncuda = 2,
                                   .calibrate = 1,
                                   .duration = spiky};
    double us, best;

    nspikes = ULONG_MAX;
    run(&options, damaged[_i].before, 16);
    nspikes = 0;
    options.calibrate = 0;
    us = run(&options, 10000, 16);
    best = least(10000, 16, normal_us, normal_us);
    printf("# file of %4lu tasks, %s: ratio %.4f\n", damaged[_i].before,
           damaged[_i].machine, us / best);
    ck_assert_double_le(us / best, 1.03);
    us = run(&options, 1000, 16); /* what was measured has been saved */
    ck_assert_double_le(us / least(1000, 16, normal_us, normal_us), 1.03);
}
END_TEST

START_TEST(spikes_that_were_accepted_are_seen_to_have_ended)
{
    struct fake_options options = {
        .sched = "dmda", .ncuda = 2, .duration = spiky};
    double us;
    unsigned long before;

    nspikes = 40; /* 32 are run at once, the others are recalibrations */
    fake_start(&options);
    us = fake_waves(200000, 16);
    before = fake_tally.n[0];
    printf("# 40 spikes: of 200,000 tasks in %.1f s, %lu on device 0\n",
           us / 1e6, before);
    fake_waves(16000, 16);
    fake_stop();
    ck_assert_uint_ge(fake_tally.n[0] - before, 7900);
}
END_TEST

/* A CPU that is slow at first, and then as fast as the device. */
static double late_cpu(unsigned worker, unsigned impl, unsigned long nth)
{
    (void)impl;
    return (worker == 1 && nth < 14 ? 20 : 1) * normal_us * fake_noise(0.03);
}

START_TEST(a_length_not_measured_for_long_is_recalibrated)
{
    struct fake_options options = {
        .sched = "dmda", .ncuda = 1, .ncpu = 1, .duration = late_cpu};

    fake_start(&options);
    fake_waves(60000, 4);
    fake_stop();
    printf("# stale: %lu of 60,000 tasks on the CPU\n", fake_tally.n[1]);
    ck_assert_uint_ge(fake_tally.n[1], 15000);
}
END_TEST

/* --- right lengths --- */

static const struct {
    double slowness;
    unsigned long n, w;
} honest[] = {{1, 20000, 16},   {2.5, 20000, 16}, {3.5, 20000, 16},
              {3.5, 20000, 64}, {10, 50000, 16},  {30, 100000, 16}};

START_TEST(recalibrations_of_a_slow_device_cost_little)
{
    struct fake_options options = {
        .sched = "dmda", .ncuda = 2, .calibrate = 1, .duration = slow_first};
    unsigned long n = honest[_i].n, w = honest[_i].w;
    double best = least(n, w, honest[_i].slowness * normal_us, normal_us);
    double first, second;

    slowness = honest[_i].slowness;
    first = run(&options, n, w);
    second = run(&options, n, w);
    printf("# %4g times as slow, W %2lu: first run ratio %.4f, second %.4f\n",
           slowness, w, first / best, second / best);
    ck_assert_double_le(first / best, 1.04);
    ck_assert_double_le(second / best, 1.02);
}
END_TEST

static double cpu_and_gpu(unsigned worker, unsigned impl, unsigned long nth)
{
    (void)impl;
    (void)nth;
    return (worker == 0 ? 1 : 20) * normal_us * fake_noise(0.03);
}

START_TEST(a_first_run_on_a_gpu_and_cpus_finds_their_lengths_out)
{
    const unsigned long waves[] = {16, 256, 4096};
    unsigned long w = waves[_i];
    struct fake_options options = {
        .sched = "dmda", .ncuda = 1, .ncpu = 4, .duration = cpu_and_gpu};
    double us = run(&options, 8192, w);
    /* Four CPUs are as good as one that is four times as fast. */
    double best = 8192 / (1 / normal_us + 4 / (20 * normal_us));

    printf("# GPU and CPUs, W %4lu: %.1f ms, at the best %.1f ms\n", w,
           us / 1e3, best / 1e3);
    /* Three rounds of CPU kernels give it eleven measures. */
    if (w > 16) /* else a wave is shorter than a CPU kernel */
        ck_assert_double_le(us, 1.08 * best + 4 * 20 * normal_us);
}
END_TEST

/* --- architectures and implementations --- */

static double by_implementation(unsigned worker, unsigned impl,
                                unsigned long nth)
{
    (void)nth;
    return (worker < 2 ? 1 : 4) * (impl ? 1 : 3) * normal_us * fake_noise(0.03);
}

static const char *const policies[] = {"dmda",  "dmdas", "dmdasd", "dm",
                                       "eager", "prio",  "lws",    "random"};

START_TEST(all_architectures_and_implementations_get_their_measures)
{
    struct fake_options options = {.sched = policies[_i],
                                   .ncuda = 2,
                                   .ncpu = 2,
                                   .calibrate = 1,
                                   .duration = by_implementation};

    fake_codelet.cpu_funcs[1] = fake_codelet.cuda_funcs[1] = fake_kernel_1;
    run(&options, 2000, 100);
    for (unsigned i = 0; i < 2; i++) {
        /* One warms up, ten count. */
        ck_assert_uint_ge(fake_tally.impls[0][i], 11);
        ck_assert_uint_ge(fake_tally.impls[1][i], 11);
        ck_assert_uint_ge(fake_tally.impls[2][i] + fake_tally.impls[3][i], 11);
    }
    /* Then the better one is taken, except by recalibrations. */
    for (unsigned w = 0; w < 4; w++)
        ck_assert_uint_le(fake_tally.impls[w][0], 40);
}
END_TEST

START_TEST(calibration_wastes_no_worker)
{
    /* 96 tasks are enough for 11 of each of 6 pairs; no worker is idle. */
    struct fake_options options = {.sched = "dmda",
                                   .ncuda = 2,
                                   .ncpu = 2,
                                   .calibrate = 1,
                                   .duration = by_implementation};
    double us, busy = 0;

    fake_codelet.cpu_funcs[1] = fake_codelet.cuda_funcs[1] = fake_kernel_1;
    us = run(&options, 96, 96);
    for (unsigned w = 0; w < 4; w++)
        busy += fake_tally.us[w];
    printf("# 96 tasks to calibrate: workers busy %.0f %%\n",
           100 * busy / us / 4);
    ck_assert_double_ge(busy / us / 4, 0.85);
}
END_TEST

SUITE_MAIN(calibration)
{
    Suite *suite = suite_create("calibration");
    TCase *tc = tcase_create("all");

    setvbuf(stdout, NULL, _IOLBF, 0);
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, fake_directory, fake_directory_remove);
    tcase_add_loop_test(tc, a_file_that_is_wrong_about_one_device_is_corrected,
                        0, 4);
    tcase_add_test(tc, spikes_that_were_accepted_are_seen_to_have_ended);
    tcase_add_test(tc, a_length_not_measured_for_long_is_recalibrated);
    tcase_add_loop_test(tc, recalibrations_of_a_slow_device_cost_little, 0, 6);
    tcase_add_loop_test(
        tc, a_first_run_on_a_gpu_and_cpus_finds_their_lengths_out, 0, 3);
    tcase_add_loop_test(
        tc, all_architectures_and_implementations_get_their_measures, 0, 8);
    tcase_add_test(tc, calibration_wastes_no_worker);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
