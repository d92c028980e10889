/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/mistakes.h - programs that make one mistake each, in a process of its own,
 * on the real machine and a simulated one: how it ends, and that the message has
 * certain words. A test includes this once, behind
 *
 *     X(how, words of the message, statement)
 *
 * for each of them, which MISTAKES(X) is.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"

enum how { REFUSED, ABORTS, EXITS };

#define FUNCTION(how, words, statement) {how, words},
static const struct {
    enum how how;
    const char *words;
} mistakes[] = {MISTAKES(FUNCTION)};
#undef FUNCTION

enum { NMISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

static void make(int which)
{
    int i = 0;

#define CASE(how, words, statement)                                            \
    if (which == i++) {                                                        \
        statement;                                                             \
        return;                                                                \
    }
    MISTAKES(CASE)
#undef CASE
}

/* The status of a process that makes it, and what it says. */
static int make_apart(int which, int machine, char *text, size_t size)
{
    int pipes[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    ck_assert_int_eq(pipe(pipes), 0);
    pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 2);
        close(pipes[0]);
        close(pipes[1]);
        machine_choose(machine);
        if (starpu_init(NULL) != 0)
            _exit(10);
        make(which);
        _exit(0);
    }
    close(pipes[1]);
    while ((got = read(pipes[0], text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(pipes[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static bool ends_as(int status, enum how how)
{
    switch (how) {
    case REFUSED:
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    case ABORTS:
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    default: /* 3: a deadlock of the simulated machine */
        return WIFEXITED(status) &&
               (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 3);
    }
}

static void check_all(int machine)
{
    static char text[65536];

    for (int i = 0; i < NMISTAKES; i++) {
        int status = make_apart(i, machine, text, sizeof(text));

        ck_assert_msg(ends_as(status, mistakes[i].how),
                      "mistake %d (%s) ends with status 0x%x and says\n%s", i,
                      mistakes[i].words, (unsigned)status, text);
        ck_assert_msg(strstr(text, mistakes[i].words),
                      "mistake %d: no \"%s\" in\n%s", i, mistakes[i].words,
                      text);
    }
}

START_TEST(mistakes_are_named_on_the_real_machine)
{
    check_all(0);
}
END_TEST

START_TEST(mistakes_are_named_on_a_simulated_machine)
{
    if (NMACHINES > FIRST_SIMULATED)
        check_all(FIRST_SIMULATED);
}
END_TEST

static Suite *mistakes_suite(const char *name)
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, mistakes_are_named_on_the_real_machine);
    tcase_add_test(tc, mistakes_are_named_on_a_simulated_machine);
    suite_add_tcase(suite, tc);
    return suite;
}
