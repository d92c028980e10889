/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-model-print.c - what the library writes of models for tools:
 * estimations per worker, XML, where raw measures are; on each machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machines.h"

/* A CPU core takes 9500 µs, the first CUDA device 95 µs. */
#define FIT "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
#define FILE_TEXT                                                              \
    "45\n2\n1\n0\n0\n1\n1\n1\n" FIT                                            \
    "617e5fe6 3686400 2.5e8 9500 125 114000 1.083188e9 12\n"                   \
    "1\n1\n0\n1\n1\n1\n" FIT "617e5fe6 3686400 2.5e8 95 1 1140 108312 12\n"

#define DIRECTORY "/tmp/orrery-test-models-XXXXXX"

static char directory[sizeof(DIRECTORY)], path[96], text[4096];

static void set_up(void)
{
    char part[96];
    FILE *file;

    strcpy(directory, DIRECTORY);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(part, sizeof(part), "%s/codelets", directory);
    ck_assert_int_eq(mkdir(part, 0700), 0);
    snprintf(part, sizeof(part), "%s/codelets/45", directory);
    ck_assert_int_eq(mkdir(part, 0700), 0);
    snprintf(path, sizeof(path), "%s/codelets/45/kernel.here", directory);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(FILE_TEXT, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    setenv("STARPU_PERF_MODEL_DIR", directory, 1);
    setenv("STARPU_HOSTNAME", "here", 1);
}

/* Opens machine i with our directory. */
static void start(int i)
{
    machine_choose(i);
    setenv("STARPU_PERF_MODEL_DIR", directory, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static void tear_down(void)
{
    char part[96];

    unlink(path);
    snprintf(part, sizeof(part), "%s/codelets/45", directory);
    rmdir(part);
    snprintf(part, sizeof(part), "%s/codelets", directory);
    rmdir(part);
    rmdir(directory);
}

/* What print_estimations writes of the footprint. */
static const char *estimations(struct starpu_perfmodel *model,
                               uint32_t footprint)
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(starpu_perfmodel_print_estimations(model, footprint, out),
                     0);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* One value per worker: by its architecture, or "inf" for an unknown
 * footprint. */
static void assert_estimations(const char *line, int known)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        enum starpu_worker_archtype type = starpu_worker_get_type((int)w);
        const char *word = "inf";
        size_t length;

        if (known && type == STARPU_CPU_WORKER)
            word = "9.500000e+03";
        if (known && type == STARPU_CUDA_WORKER &&
            starpu_worker_get_devid((int)w) == 0)
            word = "9.500000e+01";
        length = strlen(word);
        ck_assert_msg(!strncmp(line, word, length), "worker %u: %s", w, line);
        line += length;
        if (*line == ' ')
            line++;
    }
    ck_assert_str_eq(line, "");
}

START_TEST(each_worker_gets_the_mean_of_its_architecture)
{
    struct starpu_perfmodel loaded = {.type = STARPU_PERFMODEL_INVALID};
    struct starpu_perfmodel own = {.type = STARPU_HISTORY_BASED,
                                   .symbol = "kernel"};

    start(_i);
    ck_assert_int_eq(starpu_perfmodel_load_symbol("kernel", &loaded), 0);
    assert_estimations(estimations(&loaded, 0x617e5fe6), 1);
    assert_estimations(estimations(&loaded, 1), 0);
    assert_estimations(estimations(&own, 0x617e5fe6), 1);
    starpu_perfmodel_unload_model(&loaded);
    starpu_shutdown();
}
END_TEST

START_TEST(estimations_of_an_empty_model_are_refused)
{
    struct starpu_perfmodel model = {.type = STARPU_COMMON};

    start(_i);
    ck_assert_int_eq(starpu_perfmodel_print_estimations(&model, 1, stderr), 1);
    starpu_shutdown();
}
END_TEST

START_TEST(xml_names_parameters_when_the_application_does)
{
    static const char *names[] = {"rows & columns"};
    static unsigned exponents[] = {2}, *combinations[] = {exponents};
    struct starpu_perfmodel model = {.type = STARPU_MULTIPLE_REGRESSION_BASED,
                                     .nparameters = 1,
                                     .parameters_names = names,
                                     .ncombinations = 1,
                                     .combinations = combinations};
    FILE *file = fopen(path, "w"), *out = fmemopen(text, sizeof(text), "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(out);
    fputs("45\n1\n1\n0\n0\n1\n1\n0\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n"
          "2 1.5 2.5\n",
          file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(starpu_perfmodel_load_file(path, &model), 0);
    starpu_perfmodel_dump_xml(out, &model);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_nonnull(strstr(text, "coefficient=\"2.500000e+00\">\n"
                                       "          <parameter name=\"rows &amp; "
                                       "columns\" exponent=\"2\"/>"));
    starpu_perfmodel_unload_model(&model);
}
END_TEST

START_TEST(raw_measures_are_in_the_side_file)
{
    struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                     .symbol = "kernel"};
    struct starpu_perfmodel_device device = {STARPU_CPU_WORKER, 0, 1};
    struct starpu_perfmodel_arch arch = {1, &device};
    char expected[128];

    snprintf(expected, sizeof(expected), "%s/codelets/45.orrery/kernel.here",
             directory);
    starpu_perfmodel_debugfilepath(&model, &arch, text, sizeof(text), 0);
    ck_assert_str_eq(text, expected);
    model.symbol = "moon";
    starpu_perfmodel_debugfilepath(&model, &arch, text, sizeof(text), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

SUITE_MAIN(model_print)
{
    Suite *suite = suite_create("model-print");
    TCase *tc = tcase_create("machines"), *files = tcase_create("files");
    int n = NMACHINES;

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, each_worker_gets_the_mean_of_its_architecture, 0,
                        n);
    tcase_add_loop_test(tc, estimations_of_an_empty_model_are_refused, 0, n);
    suite_add_tcase(suite, tc);
    tcase_add_checked_fixture(files, set_up, tear_down);
    tcase_add_test(files, xml_names_parameters_when_the_application_does);
    tcase_add_test(files, raw_measures_are_in_the_side_file);
    suite_add_tcase(suite, files);
    return suite_main(suite);
}
