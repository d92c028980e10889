/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fake/test-spikes.c - two equal devices, whose kernel takes 190 µs ± 3 %
 * save the first k runs on device 0, which take 70 ms: what a library's
 * initialisation or a lock does. Tasks come in waves with a barrier after each.
 * The whole program must not take more than 5 % longer than the best schedule
 * that knows all this and runs the k spikes too.
 *
 * That schedule: the spikes are spread over the waves, j of them in a wave of
 * W tasks. While spikes are left, whatever runs on device 0 is one of them, so
 * that the wave takes max(j · 70 ms, (W − j) · d), with d the mean of the
 * normal durations drawn in the run; with the last spikes it takes
 * max(j · 70 ms, (j · 70 ms + (W − j) · d) / 2), the normal tasks being divided
 * perfectly, as if they were a fluid; without spikes W · d / 2. The least sum
 * is found by trying every split of the spikes that are left. No real schedule
 * can do better, so the printed ratios err on the safe side.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake-run.h"
#include "tests/suite.h"

static const double spike_us = 70e3, normal_us = 190;
static const unsigned spikes[] = {0, 1, 5, 10, 11, 12, 15, 20};
static const unsigned waves[] = {16, 64, 256, 1024};

enum { NSPIKES = 8, NWAVES = 4, MAXSPIKES = 64 };

static unsigned nspikes;

static double duration(unsigned worker, unsigned impl, unsigned long nth)
{
    (void)impl;
    return worker == 0 && nth < nspikes ? spike_us
                                        : normal_us * fake_noise(0.03);
}

/* --- the clairvoyant schedule --- */

/* µs that a wave of w takes longer for j spikes, the last ones or not. */
static double extra(unsigned j, double w, double d, bool last)
{
    double normal = (w - j) * d, all_spikes = j * spike_us;
    double rest = last ? (all_spikes + normal) / 2 : normal;

    return fmax(all_spikes, rest) - w * d / 2;
}

static double clairvoyant(unsigned long n, double w, unsigned k, double d)
{
    double least[MAXSPIKES + 1] = {0}; /* [i]: extra time for i spikes */

    for (unsigned i = 1; i <= k; i++) {
        least[i] = extra(i, w, d, true);
        /* A first wave takes j of them; those behind it the other i − j. */
        for (unsigned j = 1; j < i && j < w; j++)
            least[i] = fmin(least[i], extra(j, w, d, false) + least[i - j]);
    }
    return (double)n * d / 2 + least[k];
}

/* --- the acceptance --- */

static unsigned long ntasks(void)
{
    const char *text = getenv("ORRERY_SPIKES_TASKS");

    return text ? strtoul(text, NULL, 0) : 100000;
}

static double run(const char *machine, unsigned k, unsigned w, unsigned long n)
{
    struct fake_options options = {
        .sched = "dmda", .machine = machine, .ncuda = 2, .duration = duration};
    double us, best, normal;
    unsigned ran; /* spikes that happened */

    nspikes = k;
    fake_start(&options);
    us = fake_waves(n, w);
    fake_stop();
    ck_assert_uint_eq(fake_tally.n[0] + fake_tally.n[1], n);
    ran = fake_tally.n[0] < k ? (unsigned)fake_tally.n[0] : k;
    normal = fake_tally.us[0] + fake_tally.us[1] - ran * spike_us;
    best = clairvoyant(n, w, k, normal / (double)(n - ran));
    printf("# %-12s k %2u  W %4u  %8.1f ms, clairvoyant %8.1f ms, ratio %.4f, "
           "%2.0f %% on device 0\n",
           machine, k, w, us / 1e3, best / 1e3, us / best,
           100.0 * (double)fake_tally.n[0] / (double)n);
    fflush(stdout);
    return us / best;
}

START_TEST(spikes_cost_no_more_than_they_must)
{
    ck_assert_double_le(
        run("fake", spikes[_i / NWAVES], waves[_i % NWAVES], ntasks()), 1.05);
}
END_TEST

/* Other machines, with a fifth of the tasks, so that spikes weigh more. */
START_TEST(nor_on_devices_that_run_beside_their_workers)
{
    ck_assert_double_le(run("asynchronous", spikes[_i / NWAVES],
                            waves[_i % NWAVES], ntasks() / 5),
                        1.05);
}
END_TEST

START_TEST(nor_while_tasks_are_still_submitted)
{
    ck_assert_double_le(
        run("paced", spikes[_i / NWAVES], waves[_i % NWAVES], ntasks() / 5),
        1.05);
}
END_TEST

SUITE_MAIN(spikes)
{
    Suite *suite = suite_create("spikes");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, fake_directory, fake_directory_remove);
    tcase_add_loop_test(tc, spikes_cost_no_more_than_they_must, 0,
                        NSPIKES * NWAVES);
    tcase_add_loop_test(tc, nor_on_devices_that_run_beside_their_workers, 0,
                        NSPIKES * NWAVES);
    tcase_add_loop_test(tc, nor_while_tasks_are_still_submitted, 0,
                        NSPIKES * NWAVES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
