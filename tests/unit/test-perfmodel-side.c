/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests of perfmodel/side.h: the text in both directions, refusals by line, and
 * which row an entry belongs to. One thread.
 */
#include <errno.h>
#include <math.h>

#include "perfmodel/side.h"
#include "perfmodel_util.h"

static const struct orr_device cpu = {0, 0, 1};
static const struct orr_device pair[2] = {{1, 2, 1}, {0, 0, 1}};

static struct orr_side *sample(void)
{
    struct orr_side *side = orr_side_new();
    struct orr_side_entry *e;

    ck_assert_ptr_nonnull(side);
    e = orr_side_append(side, &cpu, 1, 1, 0xcafe);
    ck_assert_ptr_nonnull(e);
    e->row_n = 12;
    e->row_sum = 1234.5;
    e->estimate = 101.25;
    e->nseen = 40;
    e->noutliers = 3;
    e->nfirst = 2;
    e->first_sum = 7000;
    e->last_time = 1700000000;
    e->nrecent = 3;
    e->recent = malloc(3 * sizeof(double));
    e->set_aside = malloc(3 * sizeof(bool));
    for (int i = 0; i < 3; i++) {
        e->recent[i] = 100 + i;
        e->set_aside[i] = i == 1;
    }
    e->blocksize = 4;
    e->nblocks = 2;
    e->blocks = malloc(2 * sizeof(double));
    e->blocks[0] = 99.5;
    e->blocks[1] = 1.0 / 3;
    e->tail_n = 1;
    e->tail_sum = 98;
    ck_assert_ptr_nonnull(orr_side_append(side, pair, 2, 0, 1));
    return side;
}

static struct orr_side *reread(const struct orr_side *side,
                               enum orr_side_part part)
{
    struct orr_error err = {""};
    struct orr_side *again = NULL;
    size_t size;
    char *text;

    ck_assert_int_eq(orr_side_format(side, &text, &size), 0);
    ck_assert_msg(orr_side_parse("side", text, size, part, &again, &err) == 0,
                  "%s", err.text);
    free(text);
    return again;
}

START_TEST(what_is_written_is_read)
{
    struct orr_side *side = sample();
    struct orr_side *again = reread(side, ORR_SIDE_SAMPLES);
    const struct orr_side_entry *e = &again->entries[0];

    ck_assert_uint_eq(again->nentries, 2);
    ck_assert_uint_eq(e->impl, 1);
    ck_assert_uint_eq(e->hash, 0xcafe);
    ck_assert_uint_eq(e->row_n, 12);
    ck_assert_double_eq(e->row_sum, 1234.5);
    ck_assert_double_eq(e->estimate, 101.25);
    ck_assert_uint_eq(e->nseen, 40);
    ck_assert_uint_eq(e->noutliers, 3);
    ck_assert_uint_eq(e->nfirst, 2);
    ck_assert_double_eq(e->first_sum, 7000);
    ck_assert_int_eq(e->last_time, 1700000000);
    ck_assert_uint_eq(e->nrecent, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(e->recent[i], 100 + i);
        ck_assert(e->set_aside[i] == (i == 1));
    }
    ck_assert_uint_eq(e->blocksize, 4);
    ck_assert_uint_eq(e->nblocks, 2);
    ck_assert_double_eq_tol(e->blocks[1], 1.0 / 3, 1e-9);
    ck_assert_double_eq(e->tail_n, 1);
    ck_assert_double_eq(e->tail_sum, 98);
    ck_assert_uint_eq(again->entries[1].ndevices, 2);
    ck_assert_int_eq(again->entries[1].devices[0].devid, 2);
    orr_side_free(side);
    orr_side_free(again);
}
END_TEST

START_TEST(preempted_measures_are_counted)
{
    struct orr_side *side = sample();
    struct orr_side *again;

    side->entries[0].npreempted = 3;
    again = reread(side, ORR_SIDE_ESTIMATES);
    ck_assert_uint_eq(again->entries[0].npreempted, 3);
    ck_assert_double_eq(again->entries[0].low, side->entries[0].low);
    ck_assert_uint_eq(again->entries[1].npreempted, 0);
    orr_side_free(side);
    orr_side_free(again);
}
END_TEST

START_TEST(a_row_is_known_by_its_side_entry_then_by_its_mean)
{
    struct orr_model_row row = {.n = 12, .mean = 100, .sum = 1200};
    struct orr_side_entry entry = {
        .estimate = 90, .nseen = 60, .noutliers = 20, .row_n = 12};
    uint32_t n;

    ck_assert_double_eq(orr_row_estimate(&row, NULL, &n), 100);
    ck_assert_uint_eq(n, 12);
    ck_assert_double_eq(orr_row_estimate(&row, &entry, &n), 90);
    ck_assert_uint_eq(n, 40);
    /* As many outliers as samples have emptied the row. */
    row.n = 0;
    row.mean = row.sum = 0;
    ck_assert_double_eq(orr_row_estimate(&row, &entry, &n), 90);
    ck_assert_uint_eq(n, 40);
    /* It has had its first run only. */
    entry = (struct orr_side_entry){.nfirst = 1};
    ck_assert(isnan(orr_row_estimate(&row, &entry, &n)) && n == 0);
    ck_assert(isnan(orr_row_estimate(&row, NULL, &n)) && n == 0);
}
END_TEST

START_TEST(estimates_are_read_without_samples)
{
    struct orr_side *side = sample();
    struct orr_side *again = reread(side, ORR_SIDE_ESTIMATES);

    ck_assert_double_eq(again->entries[0].estimate, 101.25);
    ck_assert_uint_eq(again->entries[0].nrecent, 0);
    ck_assert_ptr_null(again->entries[0].blocks);
    orr_side_free(side);
    orr_side_free(again);
}
END_TEST

START_TEST(an_entry_belongs_to_the_row_it_names)
{
    struct orr_side *side = sample();
    struct orr_model_row row = {.hash = 0xcafe, .n = 12, .sum = 1234.5001};
    bool stale;

    ck_assert_ptr_eq(orr_side_find(side, &cpu, 1, 1, &row, &stale),
                     &side->entries[0]);
    ck_assert(!stale);
    row.n = 13;
    ck_assert_ptr_null(orr_side_find(side, &cpu, 1, 1, &row, &stale));
    ck_assert(stale);
    row.n = 12;
    row.sum = 1235;
    ck_assert_ptr_null(orr_side_find(side, &cpu, 1, 1, &row, &stale));
    ck_assert(stale);
    ck_assert_ptr_null(orr_side_find(side, &cpu, 1, 0, &row, &stale));
    ck_assert(!stale);
    orr_side_free(side);
}
END_TEST

#define HEAD "orrery-side 1\n"
#define LINE "entry 0/0/1 0 cafe 12 1200 100 12 0 1 50 1\n"

static const struct {
    const char *text, *message;
} broken[] = {
    {"", ":0: expected `orrery-side'"},
    {"nonsense\n", ":1: expected `orrery-side'"},
    {"orrery-side 4\nsamples\n", ":1: expected version 1 to 3"},
    {HEAD, ":2: expected a line `samples'"},
    {HEAD LINE, "expected a line `samples'"},
    {HEAD "entry 0/0 0 cafe 12 1200 100 12 0 1 50 1\nsamples\n",
     ":2: expected a device"},
    {HEAD "entry 0/0/1 0 xyz 12 1200 100 12 0 1 50 1\nsamples\n",
     ":2: expected a footprint"},
    {HEAD "entry 0/0/1 0 cafe 12 nan 100 12 0 1 50 1\nsamples\n",
     ":2: expected the sum"},
    {HEAD "entry 0/0/1 0 cafe -12 1 100 12 0 1 50 1\nsamples\n",
     ":2: expected the samples"},
    {HEAD "entry 0/0/1 0 cafe 12 1200 100 12 0 1 50 1 9\nsamples\n",
     ":2: expected the higher of two levels"},
    {HEAD "entry 0/0/1 0 cafe 12 1200 100 12 0 1 50 1 9 8\nsamples\n",
     ":2: expected the lower of two levels, then the higher"},
    {HEAD "entry 0/0/1 0 cafe 12 1200 100 12 0 1 50 1 8 9 10\nsamples\n",
     ":2: expected the end of the line"},
    {HEAD "entry 0/0/1 0 cafe 12 1200 100 12 0 1 50\nsamples\n",
     ":2: expected the time"},
    {HEAD LINE "samples\nrecent 1 0\n", ":4: expected the number of an entry"},
    {HEAD LINE "samples\nrecent 0 2 5\n", ":4: expected as many samples"},
    {HEAD LINE "samples\nrecent 0 500 5\n", ":4: expected at most 128"},
    {HEAD LINE "samples\nrecent 0 1 -5\n", ":4: expected as many samples"},
    {HEAD LINE "samples\nrecent 0 1 5\nrecent 0 1 5\n", ":5: expected the rec"},
    {HEAD LINE "samples\nblocks 0 0 1 0 0 5\n", ":4: expected the blocks"},
    {HEAD LINE "samples\nentry\n", ":4: expected a line `recent'"},
    {HEAD LINE "samples\n\n# so\nwrong\n", ":6: expected a line `recent'"},
};

START_TEST(broken_text_is_refused_by_line)
{
    struct orr_error err = {""};
    struct orr_side *side = NULL;
    const char *text = broken[_i].text;

    ck_assert_int_eq(orr_side_parse("side", text, strlen(text),
                                    ORR_SIDE_SAMPLES, &side, &err),
                     -EINVAL);
    ck_assert_msg(strstr(err.text, broken[_i].message) != NULL, "%s", err.text);
    ck_assert_ptr_null(side);
}
END_TEST

START_TEST(the_path_lies_beside_the_models)
{
    char *path;

    ck_assert_int_eq(orr_side_path("/a/codelets/45/gemm.host", &path), 0);
    ck_assert_str_eq(path, "/a/codelets/45.orrery/gemm.host");
    free(path);
    ck_assert_int_eq(orr_side_path("codelets/45/gemm.host", &path), 0);
    ck_assert_str_eq(path, "codelets/45.orrery/gemm.host");
    free(path);
    ck_assert_int_eq(orr_side_path("/a/codelets/44/gemm.host", &path), -EINVAL);
    ck_assert_int_eq(orr_side_path("gemm.host", &path), -EINVAL);
}
END_TEST

START_TEST(files_are_written_whole_and_read_in_part)
{
    struct orr_side *side = sample(), *again = NULL;
    struct orr_error err = {""};
    char dir[64], path[128];

    tmp_make(dir);
    snprintf(path, sizeof(path), "%s/deep/gemm.host", dir);
    ck_assert_int_eq(orr_side_read(path, ORR_SIDE_ESTIMATES, &again, &err),
                     -ENOENT);
    ck_assert_msg(orr_side_write(path, side, &err) == 0, "%s", err.text);
    ck_assert_int_eq(orr_side_read(path, ORR_SIDE_ESTIMATES, &again, &err), 0);
    ck_assert_uint_eq(again->nentries, 2);
    ck_assert_ptr_null(again->entries[0].recent);
    orr_side_free(again);
    ck_assert_int_eq(orr_side_read(path, ORR_SIDE_SAMPLES, &again, &err), 0);
    ck_assert_uint_eq(again->entries[0].nrecent, 3);
    orr_side_free(again);
    orr_side_free(side);
    tmp_remove(dir);
}
END_TEST

START_TEST(removing_an_entry_leaves_the_others_in_order)
{
    struct orr_side *side = sample();

    for (unsigned i = 0; i < 20; i++)
        ck_assert_ptr_nonnull(orr_side_append(side, &cpu, 1, 0, i));
    orr_side_remove(side, 0);
    orr_side_remove(side, 20);
    ck_assert_uint_eq(side->nentries, 20);
    ck_assert_uint_eq(side->entries[0].ndevices, 2);
    ck_assert_uint_eq(side->entries[19].hash, 18);
    ck_assert_ptr_null(orr_side_get(side, &cpu, 1, 1, 0xcafe));
    orr_side_free(side);
}
END_TEST

SUITE_MAIN(perfmodel_side)
{
    Suite *suite = suite_create("perfmodel-side");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, what_is_written_is_read);
    tcase_add_test(tc, preempted_measures_are_counted);
    tcase_add_test(tc, a_row_is_known_by_its_side_entry_then_by_its_mean);
    tcase_add_test(tc, estimates_are_read_without_samples);
    tcase_add_test(tc, an_entry_belongs_to_the_row_it_names);
    tcase_add_loop_test(tc, broken_text_is_refused_by_line, 0,
                        (int)(sizeof(broken) / sizeof(broken[0])));
    tcase_add_test(tc, the_path_lies_beside_the_models);
    tcase_add_test(tc, files_are_written_whole_and_read_in_part);
    tcase_add_test(tc, removing_an_entry_leaves_the_others_in_order);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
