/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-origin.c - measures replace figures that were
 * derived: they are never mixed in one mean, neither in memory nor in the file.
 */
#include "perfmodel/model.h"
#include "perfmodel/origin.h"
#include "perfmodel/side.h"
#include "perfmodel/store.h"

#include <errno.h>
#include <stdio.h>

#include "tests/unit/perfmodel_util.h"

static char dir[64], path[96];
static struct orr_sampling *sampling;

static const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};

/* A row of 20 times of 100 µs. */
static void set_up(void)
{
    struct orr_sampling_options options = {.perf_model_dir = dir};

    tmp_make(dir);
    snprintf(path, sizeof(path), "%s/codelets", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    strcat(path, "/45");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    strcat(path, "/kernel.host");
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(orr_sampling_new(&options, &sampling), 0);
}

static void tear_down(void)
{
    orr_sampling_free(sampling);
    tmp_remove(dir);
}

/* Comments of the file and of its row. */
static void write_model(const char *origin, const char *of_row)
{
    char text[512];

    snprintf(
        text, sizeof(text),
        "%s45\n1\n1\n0\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
        "%s00000f00 64 0 100 10 2000 202000 20\n",
        origin, of_row);
    text_write(path, text);
}

/* Models that are being calibrated, with the comb 0. */
static struct orr_model *open_model(struct orr_models **ret)
{
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = ORR_HOMOGENEOUS_DEFAULT,
                                         .calibrate = 1};
    struct orr_error err = {""};
    struct orr_model *model;
    unsigned comb;

    ck_assert_int_eq(orr_models_new(&options, ret), 0);
    ck_assert_int_eq(orr_combs_get(orr_models_combs(*ret), &cpu, 1, &comb), 0);
    model = orr_models_get(*ret, "kernel", ORR_MODEL_HISTORY, &err);
    ck_assert_msg(model != NULL, "%s", err.text);
    return model;
}

static void measure(struct orr_model *model, double us, unsigned times)
{
    struct orr_measure m = {
        .comb = 0, .footprint = 0xf00, .size = 64, .duration = us};

    for (unsigned i = 0; i < times; i++)
        ck_assert_int_eq(orr_model_measure(model, &m), 0);
}

static struct orr_model_row row_of(struct orr_model *model)
{
    struct orr_model_row row = {0};
    const struct orr_entry *entry = orr_model_find(model, 0, 0, 0xf00);

    ck_assert_ptr_nonnull(entry);
    orr_entry_read(entry, &row);
    return row;
}

static enum orr_origin origin_of(struct orr_model *model)
{
    double off_by;

    return orr_model_origin(model, 0, 0, 0xf00, &off_by);
}

static const struct {
    const char *line, *of_row;
    unsigned
        n; /* after four runs of 130 µs; where nothing was measured before, the
                 * first is a warm-up */
    double mean;
    enum orr_origin before, after;
} cases[] = {
    {"", "", 24, (2000 + 4 * 130) / 24., ORR_ORIGIN_MEASURED,
     ORR_ORIGIN_MEASURED},
    {"# origin: derived\n", "", 3, 130, ORR_ORIGIN_DERIVED,
     ORR_ORIGIN_MEASURED},
    {"# origin: derived ranged\n", "", 3, 130, ORR_ORIGIN_DERIVED,
     ORR_ORIGIN_MEASURED},
    {"# origin: derived ranged\n", "# origin: measured\n", 24,
     (2000 + 4 * 130) / 24., ORR_ORIGIN_MEASURED, ORR_ORIGIN_MEASURED},
    {"", "# origin: derived\n", 3, 130, ORR_ORIGIN_DERIVED,
     ORR_ORIGIN_MEASURED},
};

START_TEST(measures_replace_what_was_derived)
{
    struct orr_models *models;
    struct orr_model *model;
    struct orr_model_row row;

    write_model(cases[_i].line, cases[_i].of_row);
    model = open_model(&models);
    ck_assert_int_eq(origin_of(model), cases[_i].before);
    ck_assert_double_eq(orr_model_expected(model, 0, 0, 0xf00), 100);
    measure(model, 130, 4);
    row = row_of(model);
    ck_assert_uint_eq(row.n, cases[_i].n);
    ck_assert_double_eq_tol(row.mean, cases[_i].mean, 1e-9);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);

    /* The file has it so, and the next process goes on from there. */
    model = open_model(&models);
    row = row_of(model);
    ck_assert_uint_eq(row.n, cases[_i].n);
    ck_assert_double_eq_tol(row.mean, cases[_i].mean, 1e-3);
    ck_assert_int_eq(origin_of(model), cases[_i].after);
    measure(model, 130, 10);
    row = row_of(model);
    ck_assert_uint_eq(row.n, cases[_i].n + 10);
    orr_models_free(models);
}
END_TEST

/* What is estimated does not begin at the derived figure either: of a kernel that
 * is ten times as slow not one measure is an outlier. */
START_TEST(a_derived_figure_is_no_level_that_measures_leave)
{
    struct orr_models *models;
    struct orr_model *model;

    write_model("# origin: derived\n", "");
    model = open_model(&models);
    measure(model, 1000, 21);
    ck_assert_uint_eq(row_of(model).n, 20);
    ck_assert_double_eq_tol(orr_model_expected(model, 0, 0, 0xf00), 1000, 1e-6);
    orr_models_free(models);
}
END_TEST

/* A warm-up alone measures nothing: the derived figure stays. */
START_TEST(a_first_run_replaces_nothing)
{
    struct orr_models *models;
    struct orr_model *model;

    write_model("# origin: derived\n", "");
    model = open_model(&models);
    measure(model, 1000, 1);
    ck_assert_uint_eq(row_of(model).n, 20);
    ck_assert_double_eq(row_of(model).mean, 100);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);

    model = open_model(&models);
    ck_assert_int_eq(origin_of(model), ORR_ORIGIN_DERIVED);
    orr_models_free(models);
}
END_TEST

static void measure_at(struct orr_model *model, uint32_t hash, double us,
                       unsigned times)
{
    struct orr_measure m = {
        .comb = 0, .footprint = hash, .size = 64, .duration = us};

    for (unsigned i = 0; i < times; i++)
        ck_assert_int_eq(orr_model_measure(model, &m), 0);
}

/* Each row says where it comes from, whoever lost the side file. */
START_TEST(rows_of_one_file_keep_their_own_origins)
{
    struct orr_models *models;
    struct orr_model *model;
    char *text, *side;
    double off_by;

    write_model("# origin: derived ranged\n", "");
    model = open_model(&models);
    measure_at(model, 0xabc, 50, 4);
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);
    ck_assert_int_eq(orr_side_path(path, &side), 0);
    ck_assert_int_eq(unlink(side), 0);
    free(side);

    text = text_read(path);
    ck_assert_msg(strstr(text, "# origin: derived ranged\n") == text &&
                      strstr(text, "# origin: measured\n00000abc"),
                  "%s", text);
    free(text);
    model = open_model(&models);
    ck_assert_int_eq(origin_of(model), ORR_ORIGIN_DERIVED);
    ck_assert_int_eq(orr_model_origin(model, 0, 0, 0xabc, &off_by),
                     ORR_ORIGIN_MEASURED);
    ck_assert(isnan(off_by));
    ck_assert_int_eq(orr_model_origin(model, 0, 0, 0xf00, &off_by),
                     ORR_ORIGIN_DERIVED);
    ck_assert_double_eq_tol(off_by, 0.2, 1e-12);
    orr_models_free(models);
}
END_TEST

/* A comment says it of the row behind it, and only of that; one that stands
 * behind a row's fields says nothing. */
START_TEST(a_comment_is_about_the_row_behind_it)
{
    static const char text[] =
        "# origin: derived\n45\n1\n1\n0\n0\n1\n1\n5\n"
        "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
        "# origin: measured\n# other words\n\n"
        "00000001 64 0 100 10 2000 202000 20 # origin: imported\n"
        "00000002 64 0 100 10 2000 202000 20\n"
        "# origin: imported\n# origin: assumed ranged\n"
        "00000003 64 0 100 10 2000 202000 20\n"
        "# origin: nonsense\n"
        "00000004 64 0 100 10 2000 202000 20\n"
        "# measured\n"
        "00000005 64 0 100 10 2000 202000 20\n";
    static const enum orr_origin wanted[] = {
        ORR_ORIGIN_MEASURED, ORR_ORIGIN_DERIVED, ORR_ORIGIN_ASSUMED,
        ORR_ORIGIN_DERIVED, ORR_ORIGIN_DERIVED};
    struct orr_model_file *file, *again;
    struct orr_error err = {""};
    char *written;
    size_t size;

    ck_assert_int_eq(
        orr_model_file_parse("text", text, sizeof(text) - 1, &file, &err), 0);
    ck_assert_int_eq(orr_model_file_format(file, &written, &size), 0);
    ck_assert_int_eq(orr_model_file_parse("again", written, size, &again, &err),
                     0);
    for (unsigned i = 0; i < 5; i++) {
        const struct orr_model_row *row = &file->combs[0].impls[0].rows[i];
        const struct orr_model_row *same = &again->combs[0].impls[0].rows[i];

        ck_assert_int_eq(orr_model_row_origin(row, file->origin, false),
                         wanted[i]);
        ck_assert_int_eq(orr_model_row_origin(same, again->origin, false),
                         wanted[i]);
        ck_assert_int_eq(same->ranged, i == 2);
    }
    free(written);
    orr_model_file_free(file);
    orr_model_file_free(again);
}
END_TEST

SUITE_MAIN(perfmodel_origin)
{
    Suite *suite = suite_create("perfmodel-origin");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, measures_replace_what_was_derived, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tc, a_derived_figure_is_no_level_that_measures_leave);
    tcase_add_test(tc, a_first_run_replaces_nothing);
    tcase_add_test(tc, rows_of_one_file_keep_their_own_origins);
    tcase_add_test(tc, a_comment_is_about_the_row_behind_it);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
