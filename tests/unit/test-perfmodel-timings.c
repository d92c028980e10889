/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-timings.c - real series of kernel timings, which
 * are not part of the project: the files CSV in timings/ of $ORRERY_SHARED with
 * the columns size, run, µs. From one half of each series the median of the
 * other is predicted. Prints what was found; skipped without files.
 */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust.h"
#include "perfmodel/robust_private.h"
#include "tests/unit/perfmodel_util.h"

enum { LONGEST = 2000, MOST_SERIES = 256, MOST_FILES = 16 };

struct series {
    char file[64];
    unsigned size, n;
    double us[LONGEST];
};

static struct series *all; /* of the present test */
static unsigned nseries;

static void read_file(const char *folder, const char *name)
{
    char path[1024], line[256];
    struct series *s = NULL;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        unsigned size;
        double us;

        if (sscanf(line, "%u,%*u,%lf", &size, &us) != 2)
            continue; /* the heading */
        if (!s || s->size != size) {
            ck_assert_uint_lt(nseries, MOST_SERIES);
            s = &all[nseries++];
            snprintf(s->file, sizeof(s->file), "%.60s", name);
            s->size = size;
        }
        ck_assert_uint_lt(s->n, LONGEST);
        s->us[s->n++] = us;
    }
    fclose(f);
}

static int is_csv(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0;
}

/* Reads all series there are. */
static void set_up(void)
{
    struct dirent **entries = NULL;
    const char *folder = suite_shared("timings");
    int n = folder ? scandir(folder, &entries, is_csv, alphasort) : 0;

    all = calloc(MOST_SERIES, sizeof(*all));
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < n; i++) {
        if (i < MOST_FILES)
            read_file(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void tear_down(void)
{
    free(all);
    nseries = 0;
}

static double quantile(const double *values, unsigned n, double q)
{
    double sorted[LONGEST];

    memcpy(sorted, values, n * sizeof(*values));
    orr_sort(sorted, n);
    return orr_quantile(sorted, n, q);
}

/* Readings of "the spread of the halves". */
enum { OF_FROM, IQR_OF_FROM, OF_WIDER, OF_MEDIANS, NSPREADS };
static const char *const spreads[] = {
    "central 95 % of the half that predicts",
    "quartiles of the half that predicts",
    "central 95 % of the wider half",
    "distance of the halves' medians",
};

/* One series: its halves in the order requested, relative to the median of the
 * first. */
struct outcome {
    bool covered;
    double width, spread[NSPREADS];
};

/* Where the median of the next m samples lies. */
static struct orr_interval next_median(const double *samples, unsigned n,
                                       unsigned m)
{
    struct orr_summary summary;

    ck_assert_int_eq(orr_intervals(samples, n, m, 0.95, &summary), 0);
    return summary.next;
}

static struct outcome predict(const struct series *s, bool backwards)
{
    unsigned first = s->n / 2;
    const double *from = backwards ? s->us + first : s->us;
    const double *to = backwards ? s->us : s->us + first;
    unsigned n = backwards ? s->n - first : first, m = s->n - n;
    double median = quantile(from, n, 0.5), truth = quantile(to, m, 0.5);
    struct orr_interval next = next_median(from, n, m);
    struct outcome o = {.covered = next.lo <= truth && truth <= next.hi,
                        .width = (next.hi - next.lo) / median};
    double other = quantile(to, m, 0.975) - quantile(to, m, 0.025);

    o.spread[OF_FROM] = quantile(from, n, 0.975) - quantile(from, n, 0.025);
    o.spread[IQR_OF_FROM] = quantile(from, n, 0.75) - quantile(from, n, 0.25);
    o.spread[OF_WIDER] = fmax(o.spread[OF_FROM], other);
    o.spread[OF_MEDIANS] = fabs(truth - median);
    for (int i = 0; i < NSPREADS; i++)
        o.spread[i] /= median;
    printf("# %-20s %5u %-4s %9.2f … %9.2f holds %9.2f: %s, width %.4f, "
           "spread %.4f\n",
           s->file, s->size, backwards ? "back" : "on", next.lo, next.hi, truth,
           o.covered ? "yes" : "NO ", o.width, o.spread[OF_FROM]);
    return o;
}

/* Forwards, and backwards: the later half for the earlier one. */
START_TEST(half_a_series_predicts_the_median_of_the_other)
{
    double widths[MOST_SERIES], spread[NSPREADS][MOST_SERIES];
    unsigned covered = 0, narrow[NSPREADS] = {0};

    if (nseries == 0)
        SKIP_TEST("no timings/*.csv in ORRERY_SHARED");
    for (unsigned i = 0; i < nseries; i++) {
        struct outcome o = predict(&all[i], _i == 1);

        covered += o.covered;
        widths[i] = o.width;
        for (int k = 0; k < NSPREADS; k++) {
            spread[k][i] = o.spread[k];
            narrow[k] += o.width <= 3 * o.spread[k] * (1 + 1e-9);
        }
    }
    printf("# %u of %u covered; width %.4f (median over the series)\n", covered,
           nseries, quantile(widths, nseries, 0.5));
    for (int k = 0; k < NSPREADS; k++)
        printf("# spread: %s: %.4f (median); at most three times wider in %u\n",
               spreads[k], quantile(spread[k], nseries, 0.5), narrow[k]);
    fflush(stdout);
    ck_assert_uint_ge(24 * covered, 20 * nseries);
    ck_assert_uint_eq(narrow[OF_FROM], nseries);
}
END_TEST

START_TEST(what_is_set_aside_are_few_samples)
{
    unsigned two = 0;

    if (nseries == 0)
        SKIP_TEST("no timings/*.csv in ORRERY_SHARED");
    for (unsigned i = 0; i < nseries; i++) {
        const struct series *s = &all[i];
        struct orr_summary sum;

        ck_assert_int_eq(orr_summarise(s->us, s->n, &sum), 0);
        ck_assert_uint_le(sum.nlow + sum.nhigh, s->n / 10);
        two += sum.nregimes == 2;
        printf("# %-20s %5u: median %9.2f, %.2f … %.2f; %u + %u outliers, "
               "lag 1 %.2f, ",
               s->file, s->size, sum.quantiles[ORR_Q50], sum.median_ci.lo,
               sum.median_ci.hi, sum.nlow, sum.nhigh, sum.autocorrelation);
        for (unsigned k = 0; k < sum.nregimes; k++)
            printf("%s%.2f (%.0f %%)", k ? " and " : "", sum.regimes[k].median,
                   100 * sum.regimes[k].share);
        printf("\n");
    }
    printf("# %u of %u have two regimes\n", two, nseries);
    fflush(stdout);
}
END_TEST

SUITE_MAIN(perfmodel_timings)
{
    Suite *suite = suite_create("perfmodel-timings");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, half_a_series_predicts_the_median_of_the_other, 0,
                        2);
    tcase_add_test(tc, what_is_set_aside_are_few_samples);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
