/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/suite.h - how programs of tests with Check begin, end and report: TAP, where a
 * test that lacks something is skipped, not passed. One thread.
 */
#pragma once

#include <check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a suite as TAP, and frees it; 0 iff all passed. */
int suite_main(Suite *suite);

struct suite_entry {
    const char *name;
    int (*run)(int argc, char **argv);
    struct suite_entry *next;
};

/* Before main; `entry` stays. */
void suite_add_entry(struct suite_entry *entry);

/* Stands for `int main(int argc, char **argv)` in test-NAME.c: many such files make one
 * program. Its first argument says which one runs (with - for _), and that one gets the
 * others; so does a link to the program that is called test-NAME. */
#define SUITE_MAIN(name)                                                       \
    static int suite_##name(int argc, char **argv);                            \
    __attribute__((constructor)) static void suite_add_##name(void)            \
    {                                                                          \
        static struct suite_entry entry = {#name, suite_##name, NULL};         \
        suite_add_entry(&entry);                                               \
    }                                                                          \
    static int suite_##name(int argc __attribute__((unused)),                  \
                            char **argv __attribute__((unused)))

/* From within a test: it is skipped (printf style: what is missing), unless it
 * fails. A helper may call it and go on. */
void suite_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and leaves the function, which is the test. */
#define SKIP_TEST(...)                                                         \
    do {                                                                       \
        suite_skip(__VA_ARGS__);                                               \
        return;                                                                \
    } while (0)

/* The path of `below` in the folder of data that are not part of the project,
 * ORRERY_SHARED or else shared/ beside the sources; NULL if it is not there. In
 * a buffer that the next call overwrites. */
const char *suite_shared(const char *below);

/* Sets a locale whose decimal mark is a comma, making one if none is installed,
 * for the rest of this process. Returns 0, or -1 and the test is skipped. */
int suite_comma_locale(void);

/* Check writes to a pipe at each assertion that holds, to know the last one before a
 * crash: a loop over 100,000 elements spends a second in that. Here it is told when
 * another one is reached than the thread's last few. */
void suite_mark(const char *file, int line);
#define _mark_point(file, line) suite_mark(file, line)

#ifdef __cplusplus
}
#endif
