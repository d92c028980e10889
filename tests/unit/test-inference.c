/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-inference.c - paired tests, corrections, ranks over workloads and profiles,
 * held against what their papers have worked out, and against enumeration; SHA-256 against
 * the standard's examples.
 */
#include "tests/rng.h"
#include "tests/suite.h"
#include "tools/common/inference.h"
#include "tools/common/sha256.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006,
 * tables 2 and 6: areas under curves of four classifiers on 14 data sets. The two last ones of
 * the 13th are 0.975, rounded, and have the ranks 2 and 3. */
enum { SETS = 14, CLASSIFIERS = 4 };
static const double demsar[SETS][CLASSIFIERS] = {
    {0.763, 0.768, 0.771, 0.798}, {0.599, 0.591, 0.590, 0.569}, {0.954, 0.971, 0.968, 0.967},
    {0.628, 0.661, 0.654, 0.657}, {0.882, 0.888, 0.886, 0.898}, {0.936, 0.931, 0.916, 0.931},
    {0.661, 0.668, 0.609, 0.685}, {0.583, 0.583, 0.563, 0.625}, {0.775, 0.838, 0.866, 0.875},
    {1.000, 1.000, 1.000, 1.000}, {0.940, 0.962, 0.965, 0.962}, {0.619, 0.666, 0.614, 0.669},
    {0.972, 0.981, 0.9754, 0.9753}, {0.957, 0.978, 0.946, 0.970}};

START_TEST(ranks_are_those_of_the_paper)
{
    /* The largest area is the best there: rank 1 is the least of the negative ones. */
    static const double ranks_there[] = {3.143, 2.000, 2.893, 1.964};
    double values[SETS * CLASSIFIERS], ranks[CLASSIFIERS];
    struct friedman friedman;

    for (size_t i = 0; i < SETS * CLASSIFIERS; i++)
        values[i] = -demsar[i / CLASSIFIERS][i % CLASSIFIERS];
    ck_assert_int_eq(friedman_test(values, SETS, CLASSIFIERS, ranks, &friedman), 0);
    for (size_t k = 0; k < CLASSIFIERS; k++)
        ck_assert_double_eq_tol(ranks[k], ranks_there[k], 5e-4);
    /* The paper does without a correction for ties: 9.28. Its factor is
     * 1 - Σ(t³ - t) / (N (k³ - k)), here of three pairs of equal areas, and four equal ones. */
    ck_assert_double_eq_tol(friedman.square * (1 - (3 * 6 + 60) / (14.0 * 60)), 9.28, 5e-3);
    ck_assert_double_lt(friedman.chance, 0.05);
    ck_assert_double_gt(friedman.chance, 0.005);
}
END_TEST

START_TEST(f_of_friedman_is_that_of_the_paper)
{
    /* 3.1.2: chi square of 9.28 with 14 sets and 4 classifiers is F(3, 39) = 3.69, beyond the
     * critical value 2.85. */
    ck_assert_double_eq_tol(13 * 9.28 / (14 * 3 - 9.28), 3.69, 5e-3);
    ck_assert_double_eq_tol(fisher_above(2.85, 3, 39), 0.05, 5e-4);
    /* F(1, n) is the square of Student's t: 12.706 of one degree, 2.228 of ten. */
    ck_assert_double_eq_tol(fisher_above(12.7062 * 12.7062, 1, 1), 0.05, 1e-5);
    ck_assert_double_eq_tol(fisher_above(2.22814 * 2.22814, 1, 10), 0.05, 1e-5);
    /* F(2, n) has a closed form: (1 + 2f/n)^(-n/2). */
    ck_assert_double_eq_tol(fisher_above(3, 2, 20), pow(1 + 6.0 / 20, -10), 1e-12);
    ck_assert_double_eq(fisher_above(0, 2, 20), 1);
}
END_TEST

START_TEST(critical_differences_are_those_of_the_paper)
{
    /* Table 5: q of two-tailed Nemenyi tests, the studentized range over the root of 2. */
    static const double q05[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
    static const double q10[] = {1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920};

    for (size_t k = 2; k <= 10; k++) {
        double scale = sqrt((double)(k * (k + 1)) / 6);

        ck_assert_double_eq_tol(nemenyi_difference(0.05, 1, k) / scale, q05[k - 2], 1e-3);
        ck_assert_double_eq_tol(nemenyi_difference(0.10, 1, k) / scale, q10[k - 2], 1e-3);
    }
    /* 3.2.2: "the critical difference is 1.25" at 5 %, 1.12 at 10 %. */
    ck_assert_double_eq_tol(nemenyi_difference(0.05, 14, 4), 1.25, 5e-3);
    ck_assert_double_eq_tol(nemenyi_difference(0.10, 14, 4), 1.12, 5e-3);
    ck_assert(isnan(nemenyi_difference(0.05, 0, 4)));
}
END_TEST

START_TEST(signed_ranks_are_those_of_the_paper)
{
    double x[SETS], y[SETS];
    struct paired pair;

    for (size_t i = 0; i < SETS; i++) {
        x[i] = demsar[i][1]; /* C4.5+m */
        y[i] = demsar[i][0]; /* C4.5 */
    }
    pair = paired_test(x, y, SETS);
    /* Table 2: R+ = 93, R- = 12; with 14 sets a difference at 5 % is at most 21. */
    ck_assert_double_eq_tol(pair.plus, 93, 1e-9);
    ck_assert_double_eq_tol(pair.minus, 12, 1e-9);
    ck_assert_double_eq_tol(pair.biserial, (93 - 12) / 105.0, 1e-12);
    ck_assert_double_lt(pair.chance, 0.05);
    ck_assert_double_gt(pair.ratio, 1);
}
END_TEST

/* Of all signs of the differences, the share with a sum of ranks as far from the middle. */
static double enumerate_signs(const double *x, const double *y, unsigned n)
{
    double rank[16], sum = 0, all = 0, extreme = 0;

    for (unsigned i = 0; i < n; i++) {
        double less = 0, equal = 0, d = fabs(x[i] - y[i]);

        for (unsigned j = 0; j < n; j++) {
            less += fabs(x[j] - y[j]) < d;
            equal += !(fabs(x[j] - y[j]) < d) && !(fabs(x[j] - y[j]) > d);
        }
        rank[i] = d > 0 ? less + (equal + 1) / 2 : 0;
        all += rank[i];
        sum += x[i] > y[i] ? rank[i] : 0;
    }
    for (unsigned set = 0; set < 1u << n; set++) {
        double other = 0;

        for (unsigned i = 0; i < n; i++)
            other += set >> i & 1 ? rank[i] : 0;
        extreme += fabs(other - all / 2) > fabs(sum - all / 2) - 1e-9;
    }
    return extreme / (1u << n);
}

START_TEST(the_paired_test_is_the_enumeration_of_all_signs)
{
    for (int trial = 0; trial < 60; trial++) {
        unsigned n = 3 + rng_next(&state) % 9;
        double x[16], y[16];

        for (unsigned i = 0; i < n; i++) {
            x[i] = 100 + floor(8 * rng_normal(&state)) / 4; /* with ties, and equal ones */
            y[i] = 100 + floor(8 * rng_normal(&state)) / 4 + trial % 3;
        }
        ck_assert_double_eq_tol(paired_test(x, y, n).chance, enumerate_signs(x, y, n), 1e-12);
        ck_assert_double_eq_tol(paired_test(y, x, n).chance, paired_test(x, y, n).chance, 1e-12);
        ck_assert_double_eq_tol(paired_test(y, x, n).ratio * paired_test(x, y, n).ratio, 1, 1e-9);
    }
}
END_TEST

START_TEST(many_pairs_of_one_distribution_rarely_differ)
{
    enum { TRIALS = 2000, PAIRS = INFERENCE_EXACT + 10 };
    unsigned differ = 0;

    for (unsigned t = 0; t < TRIALS; t++) {
        double x[PAIRS], y[PAIRS];

        for (unsigned i = 0; i < PAIRS; i++) {
            x[i] = 100 + rng_normal(&state);
            y[i] = 100 + rng_normal(&state);
        }
        differ += paired_test(x, y, PAIRS).chance <= 0.05;
    }
    ck_assert_uint_ge(differ, TRIALS * 35 / 1000);
    ck_assert_uint_le(differ, TRIALS * 65 / 1000);
}
END_TEST

START_TEST(pairs_say_nothing_where_they_cannot)
{
    double x[] = {1, 2, 3, (double)NAN}, y[] = {1, 2, 3, 4}, z[] = {2, 4, 6, 8};

    ck_assert_uint_eq(paired_test(x, y, 4).n, 3);
    ck_assert_double_eq(paired_test(x, y, 4).chance, 1);
    ck_assert_double_eq(paired_test(x, y, 4).biserial, 0);
    ck_assert_double_eq_tol(paired_test(z, y, 4).ratio, 2, 1e-12);
    ck_assert_double_eq_tol(paired_test(z, y, 4).chance, paired_least_chance(4), 1e-12);
    ck_assert_double_eq(paired_least_chance(6), 0.03125);
    ck_assert_uint_eq(paired_test(x, y, 0).n, 0);
}
END_TEST

START_TEST(holm_corrects_as_by_hand)
{
    /* Three times the least, twice the next: that is not less than the one before it. */
    double chances[] = {0.04, 0.01, (double)NAN, 0.03}, one[] = {0.9, 0.8};

    ck_assert_int_eq(holm_correct(chances, 4), 0);
    ck_assert_double_eq_tol(chances[1], 0.03, 1e-12);
    ck_assert_double_eq_tol(chances[3], 0.06, 1e-12);
    ck_assert_double_eq_tol(chances[0], 0.06, 1e-12);
    ck_assert(isnan(chances[2]));
    ck_assert_int_eq(holm_correct(one, 2), 0);
    ck_assert_double_eq(one[0], 1);
    ck_assert_double_eq(one[1], 1);
}
END_TEST

START_TEST(holm_is_wrong_in_at_most_one_of_twenty_families)
{
    unsigned wrong = 0, families = 1000;

    for (unsigned f = 0; f < families; f++) {
        double chances[6], least = 1;

        for (unsigned t = 0; t < 6; t++) {
            double x[12], y[12];

            for (unsigned i = 0; i < 12; i++) {
                x[i] = 100 + rng_normal(&state);
                y[i] = 100 + rng_normal(&state);
            }
            chances[t] = paired_test(x, y, 12).chance;
        }
        ck_assert_int_eq(holm_correct(chances, 6), 0);
        for (unsigned t = 0; t < 6; t++)
            least = fmin(least, chances[t]);
        wrong += least <= 0.05;
    }
    ck_assert_uint_lt(wrong, 75);
}
END_TEST

START_TEST(ranks_agree_or_do_not)
{
    double agree[] = {1, 2, 3, 10, 20, 30, 5, 6, 7}, equal[] = {1, 1, 2, 2}, ranks[3];
    struct friedman friedman;

    ck_assert_int_eq(friedman_test(agree, 3, 3, ranks, &friedman), 0);
    ck_assert_double_eq_tol(friedman.square, 6, 1e-12); /* n (k - 1) */
    ck_assert(isinf(friedman.f));
    ck_assert_double_eq(friedman.chance, 0);
    ck_assert_int_eq(friedman_test(equal, 2, 2, ranks, &friedman), 0);
    ck_assert_double_eq(friedman.chance, 1);
    ck_assert_double_eq(ranks[0], 1.5);
    ck_assert_int_eq(friedman_test(agree, 1, 3, ranks, &friedman), 0);
    ck_assert(isnan(friedman.chance));
}
END_TEST

START_TEST(means_of_ratios_are_those_of_the_paper)
{
    /* Fleming, Wallace, "How not to lie with statistics", CACM 29, 1986, table 1: times of
     * five programs on the processors R and M, whose geometric mean relative to R is 0.86. */
    static const double r[] = {417, 83, 66, 39449, 772}, m[] = {244, 70, 153, 33527, 368};
    double ratios[5], negative[] = {1, 0};

    for (size_t i = 0; i < 5; i++)
        ratios[i] = m[i] / r[i];
    ck_assert_double_eq_tol(geometric_mean(ratios, 5), 0.86, 5e-3);
    ck_assert_double_eq_tol(geometric_mean(m, 5) / geometric_mean(r, 5),
                            geometric_mean(ratios, 5), 1e-12);
    ck_assert(isnan(geometric_mean(ratios, 0)));
    ck_assert(isnan(geometric_mean(negative, 2)));
}
END_TEST

START_TEST(profiles_count_as_by_hand)
{
    /* Ratios to the best: 1, 2, failed; 1.5, 1, 3; 1, 1, 4. */
    const double values[] = {10, 20, (double)NAN, 30, 20, 60, 5, 5, 20};

    ck_assert_double_eq_tol(profile_share(values, 3, 3, 0, 1), 2 / 3.0, 1e-12);
    ck_assert_double_eq_tol(profile_share(values, 3, 3, 0, 1.5), 1, 1e-12);
    ck_assert_double_eq_tol(profile_share(values, 3, 3, 1, 1), 2 / 3.0, 1e-12);
    ck_assert_double_eq_tol(profile_share(values, 3, 3, 2, 3), 1 / 3.0, 1e-12);
    ck_assert_double_eq_tol(profile_share(values, 3, 3, 2, 1e9), 2 / 3.0, 1e-12);
}
END_TEST

/* FIPS 180-4's examples of SHA-256, and a million letters. */
START_TEST(hashes_are_those_of_the_standard)
{
    static const struct {
        const char *text, *hash;
    } examples[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    struct sha256 hash;
    char text[SHA256_TEXT];

    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
        sha256_init(&hash);
        sha256_feed(&hash, examples[i].text, strlen(examples[i].text));
        sha256_end(&hash, text);
        ck_assert_str_eq(text, examples[i].hash);
    }
    sha256_init(&hash);
    for (size_t i = 0; i < 1000000 / 8; i++)
        sha256_feed(&hash, "aaaaaaaa", 8);
    sha256_end(&hash, text);
    ck_assert_str_eq(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
END_TEST

START_TEST(hashes_tell_texts_apart)
{
    char one[SHA256_TEXT], two[SHA256_TEXT];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_feed_text(&hash, "ab");
    sha256_feed_text(&hash, NULL);
    sha256_end(&hash, one);
    sha256_init(&hash);
    sha256_feed_text(&hash, "a");
    sha256_feed_text(&hash, "b");
    sha256_end(&hash, two);
    ck_assert_str_ne(one, two);
}
END_TEST

static void seed(void)
{
    state = 21;
}

SUITE_MAIN(inference)
{
    Suite *suite = suite_create("inference");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, seed, NULL);
    tcase_add_test(all, ranks_are_those_of_the_paper);
    tcase_add_test(all, f_of_friedman_is_that_of_the_paper);
    tcase_add_test(all, critical_differences_are_those_of_the_paper);
    tcase_add_test(all, signed_ranks_are_those_of_the_paper);
    tcase_add_test(all, the_paired_test_is_the_enumeration_of_all_signs);
    tcase_add_test(all, many_pairs_of_one_distribution_rarely_differ);
    tcase_add_test(all, pairs_say_nothing_where_they_cannot);
    tcase_add_test(all, holm_corrects_as_by_hand);
    tcase_add_test(all, holm_is_wrong_in_at_most_one_of_twenty_families);
    tcase_add_test(all, ranks_agree_or_do_not);
    tcase_add_test(all, means_of_ratios_are_those_of_the_paper);
    tcase_add_test(all, profiles_count_as_by_hand);
    tcase_add_test(all, hashes_are_those_of_the_standard);
    tcase_add_test(all, hashes_tell_texts_apart);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}
