/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests of what simulated history models answer for sizes without a row, and of
 * the names of origins. One thread.
 */
#include <math.h>

#include "perfmodel/model.h"
#include "perfmodel/origin.h"
#include "tests/unit/perfmodel_util.h"

static char dir[64];
static struct orr_sampling *sampling;
static struct orr_models *models;

static const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};

static void models_open(bool simulated)
{
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = ORR_HOMOGENEOUS_DEFAULT,
                                         .calibrate = simulated ? 0 : 1,
                                         .simulated = simulated};
    unsigned comb;

    ck_assert_int_eq(orr_models_new(&options, &models), 0);
    ck_assert_int_eq(orr_combs_get(orr_models_combs(models), &cpu, 1, &comb),
                     0);
}

static void set_up(void)
{
    struct orr_sampling_options options = {.perf_model_dir = dir};

    tmp_make(dir);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(orr_sampling_new(&options, &sampling), 0);
    models_open(false);
}

static void tear_down(void)
{
    orr_models_free(models);
    orr_sampling_free(sampling);
    tmp_remove(dir);
}

static struct orr_model *model_get(void)
{
    struct orr_error err = {""};
    struct orr_model *model =
        orr_models_get(models, "kernel", ORR_MODEL_HISTORY, &err);

    ck_assert_msg(model != NULL, "%s", err.text);
    return model;
}

/* Measures of a row, alternately 1 % above and below. The first is a warm-up. */
static void feed(uint32_t footprint, uint64_t size, double us)
{
    for (int i = 0; i < 21; i++) {
        struct orr_measure m = {.footprint = footprint,
                                .size = size,
                                .duration = us * (i % 2 ? 1.01 : 0.99)};

        ck_assert_int_eq(orr_model_measure(model_get(), &m), 0);
    }
}

static void simulate(void)
{
    ck_assert_int_eq(orr_models_save(models, NULL, NULL), 0);
    orr_models_free(models);
    models_open(true);
}

static struct orr_answer ask(uint32_t footprint, uint64_t size)
{
    struct orr_question q = {.footprint = footprint, .size = size};
    struct orr_answer answer;

    orr_model_answer(model_get(), &q, &answer);
    return answer;
}

/* 10 µs and a product of matrices of so many bytes. */
static double product(double size)
{
    return 10 + 1e-6 * pow(size, 1.5);
}

static void feed_products(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        feed(i + 1, UINT64_C(10000) << 2 * i,
             product((double)(UINT64_C(10000) << 2 * i)));
}

START_TEST(between_sizes_the_answer_is_near_and_its_error_known)
{
    struct orr_answer answer;

    feed_products(5);
    simulate();
    for (uint64_t size = 15000; size < 2500000; size = size * 5 / 3) {
        answer = ask(99, size);
        ck_assert_int_gt(answer.source, ORR_ANSWER_EXACT);
        ck_assert_double_eq_tol(answer.value / product((double)size), 1, 0.05);
        ck_assert(answer.error > 0 && answer.error < 0.2);
    }
}
END_TEST

START_TEST(a_row_is_what_it_was)
{
    struct orr_answer answer;

    feed_products(5);
    simulate();
    answer = ask(2, 40000);
    ck_assert_int_eq(answer.source, ORR_ANSWER_EXACT);
    ck_assert_double_eq_tol(answer.value, product(40000), 1e-3);
    /* Histories go by footprints: the size need not be that of the row. */
    ck_assert_int_eq(ask(2, 50000).source, ORR_ANSWER_EXACT);
}
END_TEST

START_TEST(two_sizes_bound_what_lies_between_them)
{
    struct orr_answer answer;

    feed_products(2);
    simulate();
    answer = ask(99, 20000);
    ck_assert_int_eq(answer.source, ORR_ANSWER_INTERPOLATED);
    ck_assert_double_eq_tol(answer.value, sqrt(product(10000) * product(40000)),
                            0.1);
    ck_assert(fabs(product(20000) / answer.value - 1) <
              ORR_ANSWER_OFF_BY(answer.error));
    ck_assert(answer.error < 0.5);
}
END_TEST

START_TEST(what_has_no_known_error_is_no_answer)
{
    feed_products(5);
    simulate();
    ck_assert(isnan(ask(99, 0).value));
    ck_assert(isnan(ask(99, 7000).value));
    ck_assert(isnan(ask(99, 4000000).value));
}
END_TEST

START_TEST(one_size_is_no_model_of_others)
{
    feed_products(1);
    simulate();
    ck_assert(isnan(ask(99, 10001).value));
    ck_assert(isnan(ask(99, 10000).value)); /* another layout of that size */
}
END_TEST

START_TEST(layouts_of_one_size_that_differ_make_others_uncertain)
{
    double alike, different;

    feed_products(5);
    simulate();
    alike = ask(99, 160000).error;
    tear_down();
    set_up();
    feed_products(5);
    feed(77, 160000, 1.5 * product(160000));
    simulate();
    different = ask(99, 160000).error;
    ck_assert(alike < 0.1);
    ck_assert(different > 0.2);
}
END_TEST

START_TEST(a_real_machine_measures_instead)
{
    feed_products(5);
    ck_assert(isnan(ask(99, 20000).value));
}
END_TEST

START_TEST(origins_have_one_name_each)
{
    for (int i = 0; i < ORR_NORIGINS; i++) {
        const char *name = orr_origin_name((enum orr_origin)i);

        ck_assert_ptr_nonnull(name);
        ck_assert_int_eq((int)orr_origin_find(name), i);
    }
    ck_assert_str_eq(orr_origin_name(ORR_NORIGINS), "unknown");
    ck_assert_int_eq(orr_origin_find("Derived from what was published"),
                     ORR_ORIGIN_DERIVED);
    ck_assert_int_eq(orr_origin_find("derivedly"), ORR_ORIGIN_UNKNOWN);
    ck_assert_int_eq(orr_origin_find(NULL), ORR_ORIGIN_UNKNOWN);
}
END_TEST

/* A file of one row, 100 µs with deviation 15, below `head`. */
static void write_model(const char *head)
{
    char path[128], text[1024];
    const char *parts[] = {"codelets", "codelets/45"};

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
        (void)mkdir(path, 0700);
    }
    snprintf(path, sizeof(path), "%s/codelets/45/kernel.host", dir);
    snprintf(text, sizeof(text),
             "%s45\n1\n1\n0\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\n"
             "nan nan nan\n0\n00000001 1000 0 100 15 1000 102250 10\n",
             head);
    text_write(path, text);
}

START_TEST(the_head_of_a_file_says_where_its_rows_come_from)
{
    static const struct {
        const char *head;
        enum orr_origin origin;
        double off_by;
    } cases[] = {
        {"", ORR_ORIGIN_MEASURED, NAN},
        {"####\n# Performance Model Version\n", ORR_ORIGIN_MEASURED, NAN},
        {"# origin: derived\n", ORR_ORIGIN_DERIVED, NAN},
        {"##\n# origin: derived ranged\n#\n", ORR_ORIGIN_DERIVED, 0.3},
        {"###\n# Derived from published figures,\n# not measured.\n",
         ORR_ORIGIN_DERIVED, NAN},
        {"# origin: imported\n", ORR_ORIGIN_IMPORTED, NAN},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double off_by;

        write_model(cases[i].head);
        simulate();
        ck_assert_int_eq(orr_model_origin(model_get(), 0, 0, 1, &off_by),
                         cases[i].origin);
        ck_assert(isnan(cases[i].off_by) ? isnan(off_by)
                                         : fabs(off_by - 0.3) < 1e-9);
        ck_assert_int_eq(orr_model_origin(model_get(), 0, 0, 2, &off_by),
                         ORR_ORIGIN_UNKNOWN);
        orr_models_free(models);
        models_open(false);
    }
}
END_TEST

START_TEST(measures_keep_the_mark_and_are_not_marked_themselves)
{
    double off_by;
    char path[128], *text;

    write_model("# origin: derived ranged\n");
    feed(5, 4000, 50);
    simulate();
    ck_assert_int_eq(orr_model_origin(model_get(), 0, 0, 1, &off_by),
                     ORR_ORIGIN_DERIVED);
    ck_assert_int_eq(orr_model_origin(model_get(), 0, 0, 5, &off_by),
                     ORR_ORIGIN_MEASURED);
    ck_assert(isnan(off_by));
    snprintf(path, sizeof(path), "%s/codelets/45/kernel.host", dir);
    text = text_read(path);
    ck_assert(text && strstr(text, "# origin: derived ranged\n"));
    free(text);
}
END_TEST

/* How often `word` is in `text`. */
static unsigned occurrences(const char *text, const char *word)
{
    unsigned n = 0;

    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

START_TEST(rows_that_are_dropped_are_told_once_and_summed_up)
{
    FILE *usual = stderr;
    char *said = NULL;
    size_t size;

    unsetenv("STARPU_SILENT");
    stderr = open_memstream(&said, &size);
    ck_assert_ptr_nonnull(stderr);
    for (unsigned i = 0; i < 12; i++) { /* each second one drops the first */
        struct orr_measure m = {
            .footprint = 1, .size = 64, .duration = i % 2 ? 99 : 10};

        ck_assert_int_eq(orr_model_measure(model_get(), &m), 0);
    }
    orr_models_free(models);
    models = NULL;
    fclose(stderr);
    stderr = usual;
    ck_assert_msg(occurrences(said, "too many measures") == 1, "%s", said);
    ck_assert_msg(occurrences(said, " times in this run") == 1, "%s", said);
    free(said);
}
END_TEST

SUITE_MAIN(perfmodel_between)
{
    Suite *suite = suite_create("perfmodel-between");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, between_sizes_the_answer_is_near_and_its_error_known);
    tcase_add_test(tc, a_row_is_what_it_was);
    tcase_add_test(tc, two_sizes_bound_what_lies_between_them);
    tcase_add_test(tc, what_has_no_known_error_is_no_answer);
    tcase_add_test(tc, one_size_is_no_model_of_others);
    tcase_add_test(tc, layouts_of_one_size_that_differ_make_others_uncertain);
    tcase_add_test(tc, a_real_machine_measures_instead);
    tcase_add_test(tc, origins_have_one_name_each);
    tcase_add_test(tc, the_head_of_a_file_says_where_its_rows_come_from);
    tcase_add_test(tc, measures_keep_the_mark_and_are_not_marked_themselves);
    tcase_add_test(tc, rows_that_are_dropped_are_told_once_and_summed_up);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
