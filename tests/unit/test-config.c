/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-config.c - core/base/config.h: how variables are read, what
 * is refused, and that docs/ENVIRONMENT.md is the table. One thread; each test
 * has its own process, and so its own environment.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build_paths.h"
#include "core/base/capped.h"
#include "core/base/config.h"
#include "tests/suite.h"

static struct orr_config config;
static struct orr_error err;

static void setup(void)
{
    for (int id = 0; id < ORR_CFG_COUNT; id++)
        unsetenv(orr_config_name(id));
    memset(&config, 0, sizeof(config));
    err.text[0] = '\0';
}

static void teardown(void)
{
    orr_config_done(&config);
}

static void read_it(void)
{
    ck_assert_int_eq(orr_config_read(&config, &err), 0);
}

START_TEST(unset_variables_have_their_defaults)
{
    read_it();
    ck_assert_int_eq(orr_config_int(&config, ORR_CFG_NCPU), -1);
    ck_assert_int_eq(orr_config_int(&config, ORR_CFG_CUDA_PIPELINE), 2);
    ck_assert_str_eq(orr_config_string(&config, ORR_CFG_SCHED), "lws");
    ck_assert_ptr_null(orr_config_string(&config, ORR_CFG_MACHINE));
    ck_assert_double_eq(orr_config_double(&config, ORR_CFG_SCHED_GAMMA), 1000);
    ck_assert(orr_config_bool(&config, ORR_CFG_PREFETCH));
    ck_assert(!orr_config_is_set(&config, ORR_CFG_PREFETCH));
}
END_TEST

static unsigned nvain;

static void count_vain(const char *name, const char *reason)
{
    ck_assert_str_eq(name, "STARPU_SUBALLOCATOR");
    ck_assert_uint_gt(strlen(reason), 10);
    nvain++;
}

START_TEST(what_is_set_in_vain_is_told)
{
    setenv("STARPU_SUBALLOCATOR", "1", 1);
    setenv("STARPU_ENABLE_MAP", "", 1);
    setenv("STARPU_FXT_TRACE", "0", 1); /* nothing was asked for */
    orr_config_each_vain(count_vain);
    ck_assert_uint_eq(nvain, 1);
}
END_TEST

/* A time to wait that is negative would count as none, or as one for ever. */
START_TEST(times_to_wait_are_not_negative)
{
    static const char *const names[] = {
        "STARPU_WATCHDOG_TIMEOUT", "STARPU_WATCHDOG_DELAY",
        "ORRERY_STALL_TIMEOUT",    "ORRERY_SIM_WATCHDOG",
        "ORRERY_PROGRESS",         "STARPU_EXP_LEN_THRESHOLD",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        setenv(names[i], "0.5", 1);
        read_it();
        orr_config_done(&config);
        setenv(names[i], "-3", 1);
        ck_assert_int_eq(orr_config_read(&config, &err), -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, names[i]));
        ck_assert_ptr_nonnull(strstr(err.text, "negative"));
        unsetenv(names[i]);
    }
}
END_TEST

/* Without samples there is no estimate. */
START_TEST(a_minimum_of_no_samples_is_one)
{
    setenv("STARPU_CALIBRATE_MINIMUM", "0", 1);
    read_it();
    ck_assert_int_eq(orr_config_int(&config, ORR_CFG_CALIBRATE_MINIMUM), 1);
}
END_TEST

START_TEST(set_variables_are_read)
{
    setenv("STARPU_NCPU", "3", 1);
    setenv("STARPU_SCHED", "dmda", 1);
    setenv("STARPU_SCHED_BETA", "2.5e1", 1);
    setenv("STARPU_PREFETCH", "0", 1);
    read_it();
    ck_assert_int_eq(orr_config_int(&config, ORR_CFG_NCPU), 3);
    ck_assert_str_eq(orr_config_string(&config, ORR_CFG_SCHED), "dmda");
    ck_assert_double_eq(orr_config_double(&config, ORR_CFG_SCHED_BETA), 25);
    ck_assert(!orr_config_bool(&config, ORR_CFG_PREFETCH));
    ck_assert(orr_config_is_set(&config, ORR_CFG_PREFETCH));
}
END_TEST

/* One that is refused was found as well. */
START_TEST(each_variable_is_found_in_the_environment)
{
    for (int id = 0; id < ORR_CFG_COUNT; id++) {
        setenv(orr_config_name(id), "1", 1);
        if (orr_config_read(&config, &err) == 0) {
            ck_assert_msg(orr_config_is_set(&config, id), "%s is not found",
                          orr_config_name(id));
            orr_config_done(&config);
        }
        unsetenv(orr_config_name(id));
    }
}
END_TEST

START_TEST(texts_are_copied)
{
    setenv("ORRERY_MACHINE", "mirage", 1);
    read_it();
    setenv("ORRERY_MACHINE", "other", 1);
    ck_assert_str_eq(orr_config_string(&config, ORR_CFG_MACHINE), "mirage");
}
END_TEST

START_TEST(a_variable_set_to_nothing_is_unset)
{
    setenv("STARPU_NCPU", "", 1);
    setenv("ORRERY_MACHINE", "", 1);
    read_it();
    ck_assert(!orr_config_is_set(&config, ORR_CFG_NCPU));
    ck_assert_ptr_null(orr_config_string(&config, ORR_CFG_MACHINE));
}
END_TEST

START_TEST(the_older_spelling_counts_when_the_newer_is_unset)
{
    setenv("STARPU_NCPUS", "5", 1);
    read_it();
    ck_assert_int_eq(orr_config_int(&config, ORR_CFG_NCPU), 5);
    orr_config_done(&config);
    setenv("STARPU_NCPU", "2", 1);
    read_it();
    ck_assert_int_eq(orr_config_int(&config, ORR_CFG_NCPU), 2);
}
END_TEST

START_TEST(a_device_has_its_own_limit_or_that_of_all)
{
    setenv("STARPU_LIMIT_CUDA_MEM", "100", 1);
    setenv("STARPU_LIMIT_CUDA_1_MEM", "7", 1);
    read_it();
    ck_assert_int_eq(orr_config_device_mib(&config, ORR_CFG_LIMIT_CUDA_MEM, 0),
                     100);
    ck_assert_int_eq(orr_config_device_mib(&config, ORR_CFG_LIMIT_CUDA_MEM, 1),
                     7);
    ck_assert_int_eq(orr_config_device_mib(&config, ORR_CFG_LIMIT_CUDA_MEM, 99),
                     100);
    ck_assert_int_eq(orr_config_device_mib(&config, ORR_CFG_LIMIT_CPU_MEM, 0),
                     -1);
}
END_TEST

static const struct {
    const char *name, *value;
} broken[] = {
    {"STARPU_NCPU", "three"},
    {"STARPU_NCPU", "3x"},
    {"STARPU_NCPU", "-1"},
    {"STARPU_NCPU", "99999999999"},
    {"STARPU_NCPU", "99999999999999999999999"},
    {"STARPU_CALIBRATE", "1 2"},
    {"STARPU_CALIBRATE", "7"},
    {"STARPU_PREFETCH", "yes"},
    {"STARPU_SCHED_ALPHA", "1,5"},
    {"STARPU_SCHED_ALPHA", "nan"},
    {"STARPU_LIMIT_CUDA_MEM", "1g"},
    {"STARPU_LIMIT_OPENCL_2_MEM", "-4"},
    {"ORRERY_SIM_KERNELS", "maybe"},
};

START_TEST(a_broken_value_is_refused_by_name_and_value)
{
    setenv(broken[_i].name, broken[_i].value, 1);
    ck_assert_int_eq(orr_config_read(&config, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, broken[_i].name));
    ck_assert_ptr_nonnull(strstr(err.text, broken[_i].value));
    ck_assert_int_eq(config.values[ORR_CFG_CUDA_PIPELINE].number, 0);
}
END_TEST

static const struct {
    const char *name;
    enum orr_config_id id;
    int most;
} capped[] = {
    {"STARPU_CUDA_PIPELINE", ORR_CFG_CUDA_PIPELINE, 4},
    {"STARPU_HIP_PIPELINE", ORR_CFG_HIP_PIPELINE, 4},
    {"STARPU_OPENCL_PIPELINE", ORR_CFG_OPENCL_PIPELINE, 4},
    {"STARPU_MINIMUM_AVAILABLE_MEM", ORR_CFG_MINIMUM_AVAILABLE_MEM, 100},
    {"STARPU_TARGET_AVAILABLE_MEM", ORR_CFG_TARGET_AVAILABLE_MEM, 100},
    {"STARPU_MINIMUM_CLEAN_BUFFERS", ORR_CFG_MINIMUM_CLEAN_BUFFERS, 100},
    {"STARPU_TARGET_CLEAN_BUFFERS", ORR_CFG_TARGET_CLEAN_BUFFERS, 100},
};

static const char *told;
static int told_asked, told_used;

static void take_capped(const char *name, int asked, int used)
{
    ck_assert_ptr_null(told);
    told = name;
    told_asked = asked;
    told_used = used;
}

START_TEST(a_value_above_the_most_is_the_most_which_is_told)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", capped[_i].most + 1);
    setenv(capped[_i].name, text, 1);
    read_it();
    ck_assert_int_eq(orr_config_int(&config, capped[_i].id), capped[_i].most);
    orr_config_each_capped(take_capped);
    ck_assert_str_eq(told, capped[_i].name);
    ck_assert_int_eq(told_asked, capped[_i].most + 1);
    ck_assert_int_eq(told_used, capped[_i].most);

    told = NULL;
    snprintf(text, sizeof(text), "%d", capped[_i].most);
    setenv(capped[_i].name, text, 1);
    orr_config_each_capped(take_capped);
    ck_assert_ptr_null(told);
}
END_TEST

START_TEST(numbers_are_read_as_in_c_in_any_locale)
{
    if (suite_comma_locale() < 0)
        return;
    setenv("STARPU_SCHED_ALPHA", "1.5", 1);
    read_it();
    ck_assert_double_eq(orr_config_double(&config, ORR_CFG_SCHED_ALPHA), 1.5);
}
END_TEST

START_TEST(every_variable_has_a_name_of_its_own)
{
    for (int a = 0; a < ORR_CFG_COUNT; a++)
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(orr_config_name(a), orr_config_name(b));
}
END_TEST

/* Compares two files from their beginnings. */
static bool same_text(FILE *a, FILE *b)
{
    int c;

    rewind(a);
    do {
        c = getc(a);
        if (c != getc(b))
            return false;
    } while (c != EOF);
    return true;
}

START_TEST(the_documentation_is_the_table)
{
    FILE *printed = tmpfile();
    FILE *kept = fopen(ORR_SOURCE_ROOT "/docs/ENVIRONMENT.md", "r");

    ck_assert_ptr_nonnull(printed);
    ck_assert_msg(kept != NULL, "docs/ENVIRONMENT.md cannot be read");
    orr_config_print(printed);
    ck_assert_msg(same_text(printed, kept),
                  "docs/ENVIRONMENT.md is old: run `ninja environment-doc`");
    fclose(kept);
    fclose(printed);
}
END_TEST

static Suite *config_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, unset_variables_have_their_defaults);
    tcase_add_test(tc, what_is_set_in_vain_is_told);
    tcase_add_test(tc, times_to_wait_are_not_negative);
    tcase_add_test(tc, a_minimum_of_no_samples_is_one);
    tcase_add_test(tc, set_variables_are_read);
    tcase_add_test(tc, each_variable_is_found_in_the_environment);
    tcase_add_test(tc, texts_are_copied);
    tcase_add_test(tc, a_variable_set_to_nothing_is_unset);
    tcase_add_test(tc, the_older_spelling_counts_when_the_newer_is_unset);
    tcase_add_test(tc, a_device_has_its_own_limit_or_that_of_all);
    tcase_add_loop_test(tc, a_broken_value_is_refused_by_name_and_value, 0,
                        (int)(sizeof(broken) / sizeof(broken[0])));
    tcase_add_loop_test(tc, a_value_above_the_most_is_the_most_which_is_told, 0,
                        sizeof(capped) / sizeof(capped[0]));
    tcase_add_test(tc, numbers_are_read_as_in_c_in_any_locale);
    tcase_add_test(tc, every_variable_has_a_name_of_its_own);
    tcase_add_test(tc, the_documentation_is_the_table);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(config)
{
    return suite_main(config_suite());
}
