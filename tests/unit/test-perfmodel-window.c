/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests of perfmodel/window.h: what a few wrong measures do to an estimate,
 * and how it comes back from a wrong level. One thread, seeded.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/window.h"
#include "tests/rng.h"
#include "tests/suite.h"

static struct orr_window w;
static uint64_t state;

static void set_up(void)
{
    orr_window_init(&w, 50);
    state = 7;
}

/* `n` measures around `level` with 3 % of noise. */
static void feed(double level, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        orr_window_add(&w, level * (1 + 0.03 * rng_normal(&state)), 1);
}

static void check_estimate(double expected, double tolerance)
{
    ck_assert_double_eq_tol(orr_window_estimate(&w) / expected, 1, tolerance);
}

START_TEST(an_empty_window_has_no_estimate)
{
    ck_assert(isnan(orr_window_estimate(&w)));
    ck_assert_double_eq(orr_window_weight(&w), 0);
}
END_TEST

START_TEST(the_estimate_is_the_mean)
{
    for (int i = 0; i < 100; i++)
        orr_window_add(&w, i % 2 ? 90 : 110, 1);
    check_estimate(100, 1e-12);
    ck_assert_double_eq(orr_window_weight(&w), 100);
    ck_assert_uint_eq(w.noutliers, 0);
}
END_TEST

/* After how many good measures the spikes come. */
static const unsigned befores[] = {10, 16, 30, 200};

START_TEST(a_dozen_spikes_in_a_row_move_nothing)
{
    double before;

    feed(190, befores[_i]);
    before = orr_window_estimate(&w);
    for (int i = 0; i < 12; i++)
        orr_window_add(&w, 70000, 1);
    if (befores[_i] >= 16)
        ck_assert_double_eq(orr_window_estimate(&w), before);
    feed(190, 20);
    check_estimate(190, 0.03);
    ck_assert_uint_eq(w.noutliers, 12);
}
END_TEST

static const unsigned firsts[] = {1, 2, 5, 9, 12, 15, 16, 20, 40, 200};

START_TEST(five_good_measures_correct_any_wrong_level)
{
    for (unsigned i = 0; i < firsts[_i]; i++)
        orr_window_add(&w, 70000, 1);
    check_estimate(70000, 1e-9);
    feed(190, 5);
    check_estimate(190, 0.05);
    feed(190, 200);
    check_estimate(190, 0.01);
    /* Those that are still in the ring are counted. */
    ck_assert_uint_eq(w.noutliers, firsts[_i] < 123 ? firsts[_i] : 123);
}
END_TEST

START_TEST(scattered_spikes_move_nothing)
{
    for (int i = 0; i < 2000; i++) {
        feed(190, 1);
        if (i % 5 == 0)
            orr_window_add(&w, 19000, 1);
    }
    check_estimate(190, 0.01);
    ck_assert_uint_eq(w.noutliers, 400);
}
END_TEST

START_TEST(a_new_level_that_lasts_is_accepted)
{
    feed(190, 300);
    feed(400, 23);
    check_estimate(190, 0.01);
    feed(400, 1);
    check_estimate(400, 0.03);
    feed(190, 5);
    check_estimate(190, 0.05);
}
END_TEST

START_TEST(two_levels_that_alternate_both_count)
{
    for (int i = 0; i < 300; i++) {
        feed(100, 1);
        feed(300, 1);
    }
    check_estimate(200, 0.06);
    ck_assert_double_eq_tol(w.low, 100, 5);
    ck_assert_double_eq_tol(w.high, 300, 15);
}
END_TEST

START_TEST(one_of_two_levels_that_ends_is_dropped)
{
    for (int i = 0; i < 300; i++) {
        feed(100, 1);
        feed(300, 1);
    }
    feed(100, 300);
    check_estimate(100, 0.05);
    ck_assert_double_eq(w.low, w.high);
}
END_TEST

/* One measure in `every` is on the higher level. */
static const struct {
    unsigned every;
    double higher;
} seldom[] = {{4, 7}, {4, 1.8}, {8, 7}, {8, 3}, {16, 5}};

static double mean_of_seldom(unsigned i)
{
    return (seldom[i].every - 1 + seldom[i].higher) / seldom[i].every;
}

START_TEST(a_higher_level_that_comes_again_and_again_counts)
{
    for (unsigned i = 0; i < 4000; i++)
        feed(100 * (i % seldom[_i].every ? 1 : seldom[_i].higher), 1);
    check_estimate(100 * mean_of_seldom(_i), 0.03);
    ck_assert_double_lt(w.low, w.high);
}
END_TEST

/* Every run is too short to see that; each starts from what the one before has
 * left. */
START_TEST(so_it_does_in_runs_that_save_in_turn)
{
    struct orr_side_entry entry = {0};

    for (unsigned run = 0; run < 60; run++) {
        orr_window_init(&w, 50);
        if (entry.estimate > 0)
            orr_window_begin_levels(&w, entry.estimate, run * 80, entry.low,
                                    entry.high);
        for (unsigned i = 0; i < 80; i++)
            feed(100 * ((run + i) % seldom[_i].every ? 1 : seldom[_i].higher),
                 1);
        ck_assert_int_eq(orr_window_save(&w, &entry), 0);
    }
    ck_assert_double_eq_tol(entry.estimate / (100 * mean_of_seldom(_i)), 1,
                            0.05);
    ck_assert_double_lt(entry.low, entry.high);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

START_TEST(a_disturbance_that_ends_moves_nothing)
{
    feed(100, 300);
    for (unsigned i = 0; i < 64; i++)
        feed(i % 3 ? 100 : 400, 1);
    feed(100, 1000);
    check_estimate(100, 0.01);
    ck_assert_double_eq(w.low, w.high);
}
END_TEST

/* A run of `n` measures around `level`, every `spike`-th four times as long, that
 * starts from the entry and is saved to it. */
static void run_and_save(struct orr_side_entry *entry, double level, unsigned n,
                         unsigned spike)
{
    orr_window_init(&w, 50);
    if (entry->estimate > 0)
        orr_window_begin_levels(&w, entry->estimate, 100, entry->low,
                                entry->high);
    for (unsigned i = 1; i <= n; i++)
        feed(level * (i % spike ? 1 : 4), 1);
    ck_assert_int_eq(orr_window_save(&w, entry), 0);
}

START_TEST(what_was_so_before_and_a_few_spikes_are_no_second_level)
{
    struct orr_side_entry entry = {0};

    run_and_save(&entry, 300, 200, 1000);
    run_and_save(&entry, 100, 64, 1000);
    run_and_save(&entry, 100, 40, 4);
    ck_assert_double_eq_tol(entry.estimate, 100, 5);
    ck_assert_double_eq(entry.low, 0);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

START_TEST(what_was_known_counts_until_it_is_contradicted)
{
    orr_window_begin_levels(&w, 200, 50, 0, 0);
    check_estimate(200, 1e-12);
    feed(190, 10);
    check_estimate(198.3, 0.01);
    orr_window_init(&w, 50);
    orr_window_begin_levels(&w, 70000, 12, 0, 0);
    feed(190, 5);
    check_estimate(190, 0.05);
}
END_TEST

START_TEST(blocks_cover_the_whole_series)
{
    struct orr_side_entry entry = {0};
    double sum = 0, n;

    feed(100, 10000);
    n = w.blocks.tail_n + (double)w.blocks.n * w.blocks.size;
    ck_assert_double_eq(n + (double)w.noutliers, 10000);
    ck_assert_uint_le(w.blocks.n, ORR_WINDOW_BLOCKS);
    ck_assert_uint_ge(w.blocks.n, ORR_WINDOW_BLOCKS / 2);
    for (unsigned i = 0; i < w.blocks.n; i++)
        sum += w.blocks.mean[i];
    ck_assert_double_eq_tol(sum / w.blocks.n, 100, 0.2);
    ck_assert_int_eq(orr_window_save(&w, &entry), 0);
    ck_assert_double_eq_tol(entry.estimate, 100, 0.2);
    ck_assert_uint_eq(entry.nrecent, ORR_WINDOW_SIZE);
    ck_assert_uint_eq(entry.nseen, 10000);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

/* Saves what is fresh, as after a run. */
static void save(struct orr_side_entry *entry)
{
    struct orr_window taken;

    orr_window_take(&w, &taken);
    ck_assert_int_eq(orr_window_save(&taken, entry), 0);
}

START_TEST(runs_that_save_in_turn_add_up)
{
    struct orr_side_entry entry = {0};
    double total;

    for (int run = 0; run < 50; run++) {
        orr_window_init(&w, 50);
        if (run > 0)
            orr_window_begin_levels(&w, entry.estimate, run * 30, 0, 0);
        orr_window_first(&w, 5000);
        feed(100, 20);
        save(&entry);
        feed(100, 10);
        save(&entry);
    }
    total = entry.tail_n + (double)entry.nblocks * entry.blocksize;
    ck_assert_double_eq(total, 1500);
    ck_assert_uint_eq(entry.nseen, 1500);
    ck_assert_uint_eq(entry.nfirst, 50);
    ck_assert_double_eq(entry.first_sum, 250000);
    ck_assert_double_eq_tol(entry.estimate, 100, 0.5);
    ck_assert_uint_eq(entry.nrecent, ORR_WINDOW_SIZE);
    for (unsigned i = 0; i < entry.nrecent; i++)
        ck_assert_double_eq_tol(entry.recent[i], 100, 20);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

START_TEST(what_could_not_be_saved_is_saved_later)
{
    struct orr_side_entry entry = {0};
    struct orr_window taken;

    feed(100, 50);
    orr_window_take(&w, &taken);
    feed(100, 30);
    orr_window_untake(&w, &taken);
    save(&entry);
    ck_assert_uint_eq(entry.nseen, 80);
    ck_assert_double_eq(entry.tail_n + (double)entry.nblocks * entry.blocksize,
                        80);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

START_TEST(a_restart_checks_what_the_file_has)
{
    struct orr_side_entry entry = {0};

    for (int i = 0; i < 15; i++)
        orr_window_add(&w, 70000, 1);
    save(&entry);
    ck_assert_double_eq(entry.estimate, 70000);
    feed(190, 30);
    save(&entry);
    ck_assert_double_eq_tol(entry.estimate, 190, 4);
    ck_assert_uint_eq(entry.nrecent, 45);
    for (int i = 0; i < 45; i++)
        ck_assert(entry.set_aside[i] == (i < 15));
    ck_assert_uint_eq(entry.noutliers, 15);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

static void entry_free(struct orr_side_entry *entry)
{
    free(entry->recent);
    free(entry->set_aside);
    free(entry->blocks);
}

static double samples_of(const struct orr_side_entry *entry)
{
    return entry->tail_n + (double)entry->nblocks * entry->blocksize;
}

START_TEST(a_long_series_counts_in_full_once_it_is_saved)
{
    struct orr_side_entry entry = {0};

    for (unsigned i = 0; i < 2000; i++)
        orr_window_add(&w, 100, 1);
    save(&entry);
    ck_assert_double_eq(samples_of(&entry), 2000);
    for (unsigned i = 0; i < 1000; i++)
        orr_window_add(&w, 130, 1);
    save(&entry);
    ck_assert_double_eq(samples_of(&entry), 3000);
    ck_assert_double_eq_tol(entry.estimate, 110, 1e-6);
    entry_free(&entry);
}
END_TEST

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double random_share(uint64_t *random)
{
    *random = *random * 6364136223846793005U + 1442695040888963407U;
    return (double)(*random >> 11) / 9007199254740992.0;
}

/* As other programs do that take the processor now and then: single samples, and bursts
 * of them, are ten to forty times as long. */
static void measure_disturbed(unsigned n, double share, uint64_t *random)
{
    double longer = 10 + 30 * random_share(random);
    unsigned burst = 0;

    for (unsigned i = 0; i < n; i++) {
        double us = 800 * (0.95 + 0.1 * random_share(random));

        if (burst == 0 && random_share(random) < share / 10)
            burst = (unsigned)(40 * random_share(random));
        if (burst > 0 || random_share(random) < 0.02)
            us *= longer * (0.8 + 0.4 * random_share(random));
        burst -= burst > 0;
        orr_window_add(&w, us, 1);
    }
}

START_TEST(a_saved_estimate_is_in_its_range_and_not_far_above_most_samples)
{
    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct orr_side_entry entry = {0};
        uint64_t random = seed * 7919U;
        double sorted[ORR_WINDOW_SIZE], lo, hi;

        for (unsigned run = 0; run < 1 + seed % 5; run++) {
            orr_window_init(&w, 50);
            if (entry.nseen >= 10)
                orr_window_begin_levels(
                    &w, entry.estimate,
                    (double)(entry.nseen - entry.noutliers), entry.low,
                    entry.high);
            measure_disturbed(5 + seed * 31 % 200, 0.25 * (seed % 10) / 10,
                              &random);
            save(&entry);
        }
        memcpy(sorted, entry.recent, entry.nrecent * sizeof(*sorted));
        qsort(sorted, entry.nrecent, sizeof(*sorted), compare_doubles);
        orr_window_range(&entry, &lo, &hi);
        ck_assert(lo <= entry.estimate && entry.estimate <= hi);
        ck_assert(entry.estimate <= 10 * sorted[(entry.nrecent - 1) / 2]);
        entry_free(&entry);
    }
}
END_TEST

START_TEST(what_is_far_above_now_and_then_is_no_second_level)
{
    struct orr_side_entry entry = {0};

    for (unsigned i = 0; i < 600; i++)
        orr_window_add(&w, i % 5 < 3 ? 800 : 20000, 1);
    ck_assert_double_eq_tol(orr_window_estimate(&w), 800, 1e-6);
    save(&entry);
    ck_assert_double_eq_tol(entry.estimate, 800, 1e-6);
    entry_free(&entry);
}
END_TEST

START_TEST(weights_count_in_full)
{
    struct orr_side_entry entry = {0};
    double total = 0, sum = 0;

    for (unsigned i = 0; i < 500; i++) {
        uint32_t weight = i < 16 ? 1 : 1 + i * 7919 % 1000;
        double us = 100 + i % 7;

        orr_window_add(&w, us, weight);
        total += weight;
        sum += us * weight;
    }
    save(&entry);
    ck_assert_double_eq_tol(samples_of(&entry), total, 1e-6 * total);
    ck_assert_double_eq_tol(entry.estimate, sum / total, 1e-6);
    entry_free(&entry);
}
END_TEST

START_TEST(outliers_are_never_fewer_than_none)
{
    struct orr_side_entry entry = {0}, other = {0};

    feed(100, 50);
    feed(300, 10);
    for (int i = 0; i < 12; i++) {
        feed(100, 1);
        feed(300, 1);
    }
    save(&entry); /* 22 are outliers there */
    ck_assert_uint_eq(entry.noutliers, 22);
    feed(100, 1);
    feed(300, 1);
    feed(100, 1);
    feed(300, 1); /* two levels now: none of them was one */
    save(&other); /* another process has removed the entry meanwhile */
    ck_assert_uint_le(other.noutliers, other.nseen);
    entry_free(&entry);
    entry_free(&other);
}
END_TEST

START_TEST(a_few_wrong_ones_in_the_file_are_set_aside_by_the_next_run)
{
    struct orr_side_entry entry = {0};

    for (int i = 0; i < 2; i++) /* no level to begin with */
        orr_window_add(&w, 70000, 1);
    save(&entry);
    orr_window_init(&w, 50);
    feed(190, 5000);
    save(&entry);
    ck_assert_double_eq_tol(entry.estimate, 190, 1);
    orr_window_init(&w, 50);
    feed(400, 30); /* and a level that has risen is accepted */
    save(&entry);
    ck_assert_double_eq_tol(entry.estimate, 400, 8);
    entry_free(&entry);
}
END_TEST

/* Levels of all sizes: microseconds and joules, however small. */
static const double scales[] = {1e-300, 1e-9, 1e-3, 1, 1e6, 1e300};

static double random_factor(unsigned *seed)
{
    double u;

    *seed = *seed * 1664525 + 1013904223;
    u = (*seed >> 8) / 16777216.0;
    return exp(8 * u); /* 1 to 3,000 */
}

START_TEST(no_dozen_spikes_move_an_estimate_of_sixteen_measures)
{
    double level = scales[_i % 6];
    unsigned seed = 500 + (unsigned)_i;
    uint64_t rng = seed;

    for (unsigned trial = 0; trial < 200; trial++) {
        unsigned good = 16 + trial % 100;
        double before;

        orr_window_init(&w, 50);
        if (trial % 3 == 1) /* it came back from a wrong level before */
            feed(level * (2 + random_factor(&seed)), 1 + trial % 40);
        for (unsigned i = 0; i < good; i++)
            orr_window_add(&w, level * (1 + 0.03 * rng_normal(&rng)),
                           1 + trial % 5);
        check_estimate(level, 0.05);
        before = orr_window_estimate(&w);
        for (unsigned i = 0; i < 12; i++)
            orr_window_add(&w, level * 1.8 * random_factor(&seed), 1);
        ck_assert_double_eq(orr_window_estimate(&w), before);
        feed(level, 1);
        check_estimate(level, 0.05);
    }
}
END_TEST

START_TEST(spikes_right_after_a_lower_level_move_nothing)
{
    feed(190, 100);
    feed(105, 5); /* a faster clock */
    check_estimate(105, 0.05);
    for (int i = 0; i < 12; i++)
        orr_window_add(&w, 70000, 1);
    check_estimate(105, 0.05);
}
END_TEST

START_TEST(five_good_measures_recover_from_any_series_above)
{
    double level = scales[_i % 6];
    unsigned seed = 900 + (unsigned)_i;

    for (unsigned trial = 0; trial < 300; trial++) {
        unsigned n = 1 + trial * 7919 % 300;

        orr_window_init(&w, 50);
        for (unsigned i = 0; i < n; i++)
            orr_window_add(&w, level * 1.8 * random_factor(&seed), 1);
        feed(level, 5);
        check_estimate(level, 0.05);
    }
}
END_TEST

/* Whatever the input, the sums agree with each other. */
START_TEST(any_series_leaves_consistent_sums)
{
    uint64_t rng = 100 + (unsigned)_i;

    for (int i = 0; i < 5000; i++) {
        double level;
        unsigned aside = 0;

        level = 10 * pow(4, rng_next(&rng) % 2 * (rng_next(&rng) % 16) / 4.0);
        orr_window_add(&w, level * (1 + 0.05 * rng_normal(&rng)), 1 + _i % 3);
        ck_assert(orr_window_estimate(&w) > 0);
        ck_assert(w.low <= w.high);
        ck_assert_double_ge(orr_window_estimate(&w), w.low / 1.6);
        ck_assert_double_le(orr_window_estimate(&w), w.high * 1.6);
        for (unsigned j = 0; j < w.nrecent; j++)
            aside += w.set_aside[j];
        ck_assert_uint_le(aside, w.nrecent);
        ck_assert_uint_le(w.noutliers, w.nseen);
        ck_assert_uint_ge(w.noutliers, aside);
    }
}
END_TEST

SUITE_MAIN(perfmodel_window)
{
    Suite *suite = suite_create("perfmodel-window");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, an_empty_window_has_no_estimate);
    tcase_add_test(tc, the_estimate_is_the_mean);
    tcase_add_loop_test(tc, a_dozen_spikes_in_a_row_move_nothing, 0, 4);
    tcase_add_loop_test(tc, five_good_measures_correct_any_wrong_level, 0, 10);
    tcase_add_test(tc, scattered_spikes_move_nothing);
    tcase_add_test(tc, a_new_level_that_lasts_is_accepted);
    tcase_add_test(tc, two_levels_that_alternate_both_count);
    tcase_add_test(tc, one_of_two_levels_that_ends_is_dropped);
    tcase_add_loop_test(tc, a_higher_level_that_comes_again_and_again_counts, 0,
                        sizeof(seldom) / sizeof(*seldom));
    tcase_add_loop_test(tc, so_it_does_in_runs_that_save_in_turn, 0,
                        sizeof(seldom) / sizeof(*seldom));
    tcase_add_test(tc, a_disturbance_that_ends_moves_nothing);
    tcase_add_test(tc, what_was_so_before_and_a_few_spikes_are_no_second_level);
    tcase_add_test(tc, what_was_known_counts_until_it_is_contradicted);
    tcase_add_test(tc, blocks_cover_the_whole_series);
    tcase_add_test(tc, runs_that_save_in_turn_add_up);
    tcase_add_test(tc, what_could_not_be_saved_is_saved_later);
    tcase_add_test(tc, a_restart_checks_what_the_file_has);
    tcase_add_test(tc, a_long_series_counts_in_full_once_it_is_saved);
    tcase_add_test(
        tc, a_saved_estimate_is_in_its_range_and_not_far_above_most_samples);
    tcase_add_test(tc, what_is_far_above_now_and_then_is_no_second_level);
    tcase_add_test(tc, weights_count_in_full);
    tcase_add_test(tc,
                   a_few_wrong_ones_in_the_file_are_set_aside_by_the_next_run);
    tcase_add_test(tc, outliers_are_never_fewer_than_none);
    tcase_add_loop_test(
        tc, no_dozen_spikes_move_an_estimate_of_sixteen_measures, 0, 6);
    tcase_add_test(tc, spikes_right_after_a_lower_level_move_nothing);
    tcase_add_loop_test(tc, five_good_measures_recover_from_any_series_above, 0,
                        6);
    tcase_add_loop_test(tc, any_series_leaves_consistent_sums, 0, 9);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
