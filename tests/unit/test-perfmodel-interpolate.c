/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-interpolate.c - interpolation on real kernels:
 * medians of the shared raw timings at six sizes, each interior one estimated
 * from the other five. One thread.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/curve.h"
#include "perfmodel_util.h"

enum { SIZES = 6, RUNS = 1001 };

static const char *const series[] = {"V100-dgemm", "V100-dtrsm",
                                     "skylake-dgemm", "skylake-dtrsm"};

#define NSERIES (sizeof(series) / sizeof(series[0]))

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Reads "size,run,time…" lines into medians by size, as good as they come in
 * order. Returns the number of sizes. */
static unsigned read_medians(FILE *f, struct orr_point points[SIZES])
{
    static double times[SIZES][RUNS];
    unsigned counts[SIZES] = {0}, n = 0, i;
    double size, time;
    char line[256];

    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f)); /* names */
    while (fgets(line, sizeof(line), f)) {
        ck_assert_int_eq(sscanf(line, "%lf,%*u,%lf", &size, &time), 2);
        for (i = 0; i < n && points[i].x != size; i++)
            ;
        if (i == n) {
            ck_assert_uint_lt(n, SIZES);
            points[n++] = (struct orr_point){.x = size};
        }
        ck_assert_uint_lt(counts[i], RUNS);
        times[i][counts[i]++] = time;
    }
    for (i = 0; i < n; i++) {
        qsort(times[i], counts[i], sizeof(double), compare);
        points[i].y = times[i][counts[i] / 2];
        points[i].n = counts[i];
    }
    return n;
}

static FILE *open_series(const char *name)
{
    char below[100];
    const char *path;

    snprintf(below, sizeof(below), "timings/%s.csv", name);
    path = suite_shared(below);
    return path ? fopen(path, "r") : NULL;
}

/* Estimates interior sizes from the others; adds up the errors. */
static void leave_out(const char *name, const struct orr_point *points,
                      double *sum, double *worst)
{
    for (unsigned i = 1; i + 1 < SIZES; i++) {
        struct orr_point others[SIZES - 1];
        struct orr_estimate estimate;
        double error;

        memcpy(others, points, i * sizeof(*points));
        memcpy(others + i, points + i + 1, (SIZES - 1 - i) * sizeof(*points));
        estimate = orr_interpolate(others, SIZES - 1, points[i].x);
        error = estimate.value / points[i].y - 1;
        printf("# %-13s %5g: %8.1f, estimated %8.1f: %+5.1f %%, expected %4.1f "
               "%%\n",
               name, points[i].x, points[i].y, estimate.value, 100 * error,
               100 * estimate.error);
        *sum += fabs(error);
        *worst = fmax(*worst, fabs(error));
    }
}

START_TEST(interior_sizes_of_real_kernels_are_estimated_from_the_others)
{
    double sum = 0, worst = 0;

    for (unsigned k = 0; k < NSERIES; k++) {
        struct orr_point points[SIZES];
        FILE *f = open_series(series[k]);

        if (!f)
            SKIP_TEST("no timings/%s.csv in ORRERY_SHARED", series[k]);
        ck_assert_uint_eq(read_medians(f, points), SIZES);
        fclose(f);
        leave_out(series[k], points, &sum, &worst);
    }
    sum /= NSERIES * (SIZES - 2);
    printf("# %.1f %% on average, %.1f %% at worst\n", 100 * sum, 100 * worst);
    ck_assert_double_le(sum, 0.11);
    ck_assert_double_le(worst, 0.35);
}
END_TEST

SUITE_MAIN(perfmodel_interpolate)
{
    Suite *suite = suite_create("perfmodel-interpolate");
    TCase *tc = tcase_create("timings");

    tcase_add_test(
        tc, interior_sizes_of_real_kernels_are_estimated_from_the_others);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
