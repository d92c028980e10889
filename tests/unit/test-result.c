/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-result.c - core/base/result.h and spool.h: files that are whole or not
 * there. One thread.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/result.h"
#include "core/base/spool.h"
#include "tests/suite.h"

static char folder[] = "/tmp/orrery-result-XXXXXX";
static char path[64];

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
}

/* Fails where the tests left something else. */
static void teardown(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void has(const char *text)
{
    char line[64] = "";
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    (void)!fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    ck_assert_str_eq(line, text);
}

static FILE *new_spool(const char *text)
{
    FILE *spool;

    ck_assert_int_eq(orr_spool_open(path, &spool), 0);
    fputs(text, spool);
    return spool;
}

START_TEST(a_spool_is_added_from_a_place_on)
{
    FILE *spool = new_spool("0123456789");
    struct orr_result result;

    ck_assert_int_eq(orr_result_open(path, &result), 0);
    fputs("<", result.file);
    ck_assert_int_eq(orr_spool_append(spool, 7, result.file), 0);
    fputs(">", result.file);
    ck_assert_int_eq(orr_result_close(&result, 0), 0);
    fclose(spool);
    has("<789>");
}
END_TEST

/* With the rights that the file would have had. */
START_TEST(a_spool_becomes_the_file)
{
    FILE *spool = new_spool("spool");
    struct orr_result result;
    struct stat st;
    mode_t mask = umask(027);
    int rc;

    ck_assert_int_eq(orr_result_open(path, &result), 0);
    umask(mask);
    rc = orr_result_adopt(&result, spool);
    if (rc) /* a file system that gives no names to files without one */
        ck_assert_int_eq(orr_spool_append(spool, 0, result.file), 0);
    fclose(spool);
    fputs(" and more", result.file);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(orr_result_close(&result, 0), 0);
    has("spool and more");
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(what_fails_leaves_the_file_of_before)
{
    FILE *spool, *before = fopen(path, "w");
    struct orr_result result;

    ck_assert_ptr_nonnull(before);
    fputs("before", before);
    fclose(before);
    spool = new_spool("spool");
    ck_assert_int_eq(orr_result_open(path, &result), 0);
    (void)orr_result_adopt(&result, spool);
    fclose(spool);
    ck_assert_int_eq(orr_result_close(&result, -ENOSPC), -ENOSPC);
    has("before");
}
END_TEST

/* As of two runs in this process, which take other names when they know their ranks. */
START_TEST(two_of_one_name_are_two_files)
{
    struct orr_result one, other;
    char elsewhere[80];

    snprintf(elsewhere, sizeof(elsewhere), "%s.1", path);
    ck_assert_int_eq(orr_result_open(path, &one), 0);
    ck_assert_int_eq(orr_result_open(path, &other), 0);
    fputs("one", one.file);
    fputs("other", other.file);
    ck_assert_int_eq(orr_result_rename(&other, elsewhere), 0);
    ck_assert_int_eq(orr_result_close(&one, 0), 0);
    ck_assert_int_eq(orr_result_close(&other, 0), 0);
    has("one");
    ck_assert_int_eq(rename(elsewhere, path), 0);
    has("other");
}
END_TEST

START_TEST(a_device_adopts_nothing)
{
    FILE *spool = new_spool("spool");
    struct orr_result result;

    ck_assert_int_eq(orr_result_open("/dev/null", &result), 0);
    ck_assert_int_eq(orr_result_adopt(&result, spool), -EINVAL);
    fputs("still there", result.file);
    ck_assert_int_eq(orr_result_close(&result, 0), 0);
    fclose(spool);
}
END_TEST

SUITE_MAIN(result)
{
    Suite *suite = suite_create("result");
    TCase *tests = tcase_create("result");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_spool_is_added_from_a_place_on);
    tcase_add_test(tests, a_spool_becomes_the_file);
    tcase_add_test(tests, what_fails_leaves_the_file_of_before);
    tcase_add_test(tests, two_of_one_name_are_two_files);
    tcase_add_test(tests, a_device_adopts_nothing);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
