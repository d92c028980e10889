/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-advise-value.c - choices between machines whose times are known in draws:
 * sums by hand, and worlds whose truth is hidden, in which what is said has to be right as often
 * as it says, and what is to be measured next has to shorten the way to a decision.
 */
#include "tests/rng.h"
#include "tests/suite.h"
#include "tools/advise/value.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t state;

START_TEST(shares_means_and_regret_are_those_of_the_draws)
{
    const double losses[] = {1, 4, 3, 2, /* */ 2, 2, 3, 5, /* */ NAN, 1, 1, 1};
    const struct choices choices = {3, 4, losses};

    ck_assert_double_eq_tol(choice_mean(&choices, 0), 2.5, 1e-12);
    ck_assert(isnan(choice_mean(&choices, 2)));
    ck_assert_uint_eq(choices_best(&choices), 0);
    /* 0 in draws 0 and 3, half of 2; the third has no mean, but is first where it is known. */
    ck_assert_double_eq_tol(choice_first_share(&(struct choices){2, 4, losses}, 0), 2.5 / 4,
                            1e-12);
    ck_assert_double_eq_tol(choice_first_share(&choices, 2), 3.0 / 4, 1e-12);
    ck_assert_double_eq_tol(choices_regret(&choices), 2.0 / 4, 1e-12);
}
END_TEST

START_TEST(without_candidates_nothing_is_chosen)
{
    const double losses[] = {NAN, NAN};
    const struct choices choices = {1, 2, losses};

    ck_assert_uint_eq(choices_best(&choices), 1);
    ck_assert(isnan(choices_regret(&choices)));
    ck_assert_double_eq(choices_figure_value(&choices, (double[]){0, 1}), 0);
}
END_TEST

/* --- worlds --- */

enum { FIGURES = 8, DRAWS = 60, CANDIDATES = 2 };

/* Times that depend on figures, each with a sensitivity of its own. */
struct world {
    double base[CANDIDATES], sensitivity[CANDIDATES][FIGURES];
    double truth[FIGURES];
    double figures[FIGURES][DRAWS];
    double losses[CANDIDATES * DRAWS];
};

static double time_of(const struct world *w, int c, const double *z)
{
    double sum = 0;

    for (int k = 0; k < FIGURES; k++)
        sum += w->sensitivity[c][k] * z[k];
    return w->base[c] * exp(sum);
}

/* The times in all draws; figures that were measured are as in truth. */
static struct choices draw_times(struct world *w)
{
    for (int d = 0; d < DRAWS; d++) {
        double z[FIGURES];

        for (int k = 0; k < FIGURES; k++)
            z[k] = w->figures[k][d];
        for (int c = 0; c < CANDIDATES; c++)
            w->losses[c * DRAWS + d] = time_of(w, c, z);
    }
    return (struct choices){CANDIDATES, DRAWS, w->losses};
}

/* Most figures matter little, a few much; the two machines are close. */
static void world_make(struct world *w, double apart)
{
    for (int c = 0; c < CANDIDATES; c++) {
        w->base[c] = 100 * (1 + apart * rng_uniform(&state));
        for (int k = 0; k < FIGURES; k++)
            w->sensitivity[c][k] = 0.4 * pow(rng_uniform(&state), 5);
    }
    for (int k = 0; k < FIGURES; k++) {
        w->truth[k] = rng_normal(&state);
        for (int d = 0; d < DRAWS; d++)
            w->figures[k][d] = rng_normal(&state);
    }
}

static void measure(struct world *w, int k)
{
    for (int d = 0; d < DRAWS; d++)
        w->figures[k][d] = w->truth[k];
}

START_TEST(a_figure_is_worth_what_knowing_it_takes_away)
{
    struct world w;
    struct choices choices;
    double value[3];

    world_make(&w, 0);
    for (int c = 0; c < CANDIDATES; c++)
        for (int k = 0; k < FIGURES; k++)
            w.sensitivity[c][k] = 0;
    w.base[0] = w.base[1] = 100;
    w.sensitivity[0][0] = 0.3; /* decides */
    w.sensitivity[0][1] = w.sensitivity[1][1] = 0.3; /* matters alike for both */
    choices = draw_times(&w);
    for (int k = 0; k < 3; k++)
        value[k] = choices_figure_value(&choices, w.figures[k]);
    ck_assert_double_gt(value[0], 0.8 * choices_regret(&choices));
    ck_assert_double_lt(value[1], 0.05 * choices_regret(&choices));
    ck_assert_double_eq(value[2], 0);
    /* The mean of max(0, X - 100) of a lognormal time is about 100 × 0.3 / sqrt(2 pi). */
    ck_assert_double_eq_tol(choices_regret(&choices), 12, 5);
}
END_TEST

START_TEST(elasticities_are_the_sensitivities)
{
    struct world w;
    struct choices choices;

    world_make(&w, 0);
    for (int k = 0; k < FIGURES; k++)
        w.sensitivity[0][k] = k == 2 ? 0.4 : 0;
    choices = draw_times(&w);
    ck_assert_double_eq_tol(choice_elasticity(&choices, 0, w.figures[2]), 0.4, 1e-9);
    ck_assert_double_eq(choice_elasticity(&choices, 0, w.figures[5]), 0);
}
END_TEST

/* Else a machine with many figures would be limited by some of them by chance. */
START_TEST(unrelated_figures_rarely_have_a_slope)
{
    struct world w;
    struct choices choices;
    unsigned n = 0;

    world_make(&w, 1);
    choices = draw_times(&w);
    for (int trial = 0; trial < 1000; trial++) {
        double figure[DRAWS];

        for (int d = 0; d < DRAWS; d++)
            figure[d] = rng_normal(&state);
        n += fabs(choice_elasticity(&choices, 0, figure)) > 0;
    }
    ck_assert_uint_le(n, 15);
}
END_TEST

START_TEST(what_is_said_with_90_percent_is_right_as_often)
{
    unsigned said = 0, right = 0;

    for (int trial = 0; trial < 3000; trial++) {
        struct world w;
        struct choices choices;
        size_t best;
        double share;

        world_make(&w, 1);
        choices = draw_times(&w);
        best = choices_best(&choices);
        share = choice_first_share(&choices, best);
        if (share < 0.85 || share > 0.95)
            continue;
        said++;
        right += time_of(&w, (int)best, w.truth) <= time_of(&w, 1 - (int)best, w.truth);
    }
    ck_assert_uint_gt(said, 200);
    ck_assert_double_gt((double)right / said, 0.85);
    ck_assert_double_lt((double)right / said, 0.95);
}
END_TEST

static int most_valuable(const struct world *w, const struct choices *choices)
{
    double most = -1;
    int best = 0;

    for (int k = 0; k < FIGURES; k++) {
        double value = choices_figure_value(choices, w->figures[k]);

        if (value > most) {
            most = value;
            best = k;
        }
    }
    return most > 0 ? best : -1;
}

/* How many figures are measured until one machine is first in 19 of 20 draws: by their value,
 * or in any order. */
static unsigned measures_to_decide(struct world *w, bool by_value)
{
    bool measured[FIGURES] = {false};
    unsigned n = 0;

    for (; n < FIGURES; n++) {
        struct choices choices = draw_times(w);
        int k = by_value ? most_valuable(w, &choices) : -1;

        if (choice_first_share(&choices, choices_best(&choices)) >= 0.95)
            break;
        while (k < 0 || measured[k])
            k = (int)(rng_next(&state) % FIGURES);
        measured[k] = true;
        measure(w, k);
    }
    return n;
}

START_TEST(measuring_what_is_worth_most_halves_the_way)
{
    unsigned by_value = 0, by_chance = 0;

    for (int trial = 0; trial < 400; trial++) {
        struct world w, same;

        world_make(&w, 0.4);
        same = w;
        by_value += measures_to_decide(&w, true);
        by_chance += measures_to_decide(&same, false);
    }
    ck_assert_uint_gt(by_chance, 400);
    ck_assert_uint_le(2 * by_value, by_chance);
}
END_TEST

static void set_up(void)
{
    state = 20261129;
}

SUITE_MAIN(advise_value)
{
    Suite *suite = suite_create("advise-value");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, set_up, NULL);
    tcase_add_test(all, shares_means_and_regret_are_those_of_the_draws);
    tcase_add_test(all, without_candidates_nothing_is_chosen);
    tcase_add_test(all, a_figure_is_worth_what_knowing_it_takes_away);
    tcase_add_test(all, elasticities_are_the_sensitivities);
    tcase_add_test(all, unrelated_figures_rarely_have_a_slope);
    tcase_add_test(all, what_is_said_with_90_percent_is_right_as_often);
    tcase_add_test(all, measuring_what_is_worth_most_halves_the_way);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}
