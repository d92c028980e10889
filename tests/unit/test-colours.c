/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-colours.c - what tools/common/colours.h promises of pictures that are
 * printed in grey, by the lightness of its colours (CIE L*, 0 to 100). One thread.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "tools/common/colours.h"

/* Of a part of a colour in sRGB. */
static double linear(double part)
{
    double x = part / 255.0;

    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

/* On white, with that opacity. */
static double lightness_seen(const char *colour, double opacity)
{
    const double weights[] = {0.0722, 0.7152, 0.2126}; /* blue, green, red */
    char *end;
    unsigned rgb = (unsigned)strtoul(colour + 1, &end, 16);
    double y = 0;

    ck_assert(*colour == '#' && end == colour + 7 && !*end);
    for (unsigned i = 0; i < 3; i++)
        y += weights[i] *
             linear(opacity * (rgb >> 8 * i & 255) + (1 - opacity) * 255);
    return y > 216 / 24389.0 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

static double lightness(const char *colour)
{
    return lightness_seen(colour, 1);
}

static double apart(size_t j, size_t k)
{
    return fabs(lightness(plot_colour(j)) - lightness(plot_colour(k)));
}

START_TEST(every_two_series_differ_in_grey)
{
    for (size_t j = 0; j < PLOT_SERIES; j++)
        for (size_t k = 0; k < j; k++) {
            ck_assert_msg(apart(j, k) > 7, "%zu and %zu: %g", j, k,
                          apart(j, k));
            ck_assert_str_ne(plot_dash(j), plot_dash(k));
        }
}
END_TEST

START_TEST(neighbours_differ_twice_as_much)
{
    for (size_t k = 1; k < PLOT_SERIES; k++)
        ck_assert_msg(apart(k - 1, k) > 14, "%zu: %g", k, apart(k - 1, k));
    for (size_t j = 0; j < 4; j++)
        for (size_t k = 0; k < j; k++)
            ck_assert_double_gt(apart(j, k), 14);
}
END_TEST

START_TEST(series_are_seen_on_white)
{
    for (size_t k = 0; k < PLOT_SERIES; k++)
        ck_assert_double_lt(lightness(plot_colour(k)), 80);
}
END_TEST

START_TEST(sorts_of_areas_differ_in_grey_where_white_shines_through)
{
    double darker = 0;

    for (size_t k = 0; k <= PLOT_SORTS; k++) {
        double light = k < PLOT_SORTS
                           ? lightness_seen(plot_sort(k), PLOT_SORT_OPACITY)
                           : 100; /* where nothing is */

        ck_assert_msg(light - darker > 8, "%zu: %g after %g", k, light, darker);
        darker = light;
    }
}
END_TEST

START_TEST(series_of_one_colour_are_filled_otherwise)
{
    for (size_t k = 0; k < 3 * PLOT_SERIES; k++) {
        ck_assert_str_eq(plot_colour(k), plot_colour(k + PLOT_SERIES));
        ck_assert_str_ne(plot_fill(k), plot_fill(k + PLOT_SERIES));
    }
}
END_TEST

START_TEST(shades_darken_in_even_steps)
{
    double step = lightness(plot_shade(0)) - lightness(plot_shade(1));

    ck_assert_double_gt(step, 12);
    for (size_t k = 1; k < PLOT_SHADES; k++)
        ck_assert_double_eq_tol(
            lightness(plot_shade(k - 1)) - lightness(plot_shade(k)), step, 1);
    /* Black letters on it have a contrast of 4.5, which a reader needs. */
    ck_assert_double_gt(lightness(plot_shade(PLOT_SHADES - 1)), 50);
}
END_TEST

SUITE_MAIN(colours)
{
    Suite *suite = suite_create("colours");
    TCase *tcase = tcase_create("colours");

    tcase_add_test(tcase,
                   sorts_of_areas_differ_in_grey_where_white_shines_through);
    tcase_add_test(tcase, every_two_series_differ_in_grey);
    tcase_add_test(tcase, neighbours_differ_twice_as_much);
    tcase_add_test(tcase, series_are_seen_on_white);
    tcase_add_test(tcase, series_of_one_colour_are_filled_otherwise);
    tcase_add_test(tcase, shades_darken_in_even_steps);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
