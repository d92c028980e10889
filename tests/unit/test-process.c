/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-process.c - programs that commands run (tools/common/process.h).
 */
#include "tools/common/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/suite.h"

static bool ends_late;

/* A program's pipe is closed a moment before its end can be asked for: whoever looks
 * then, and finds that it runs, sees it end meanwhile. In this suite, of those of the
 * program, that moment is long. */
pid_t waitpid(pid_t pid, int *status, int options)
{
    pid_t found = wait4(pid, status, options, NULL);

    if (found == 0 && ends_late)
        sleep(1); /* or until its end interrupts that */
    return found;
}

static void count(void *arg, size_t which)
{
    (void)which;
    ++*(unsigned *)arg;
}

/* It has closed its output before, so that nothing but a signal tells of its end. */
START_TEST(a_program_that_ends_while_it_is_looked_at_has_ended)
{
    static char shell[] = "/bin/sh", option[] = "-c",
                script[] = "exec >&- 2>&-; sleep 0.05; exit 3";
    char *const words[] = {shell, option, script, NULL};
    struct process processes[3];
    unsigned nended = 0;

    memset(processes, 0, sizeof(processes));
    for (unsigned i = 0; i < 3; i++) {
        processes[i].argv = words;
        processes[i].quiet = true;
    }
    ck_assert_int_eq(process_run(processes, 3, (unsigned)_i, count, &nended),
                     0);
    ck_assert_uint_eq(nended, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(process_exit_code(&processes[i]), 3);
        process_done(&processes[i]);
    }
}
END_TEST

static Suite *process_suite(void)
{
    Suite *suite = suite_create("process");
    TCase *tc = tcase_create("all");

    tcase_add_loop_test(tc, a_program_that_ends_while_it_is_looked_at_has_ended,
                        1, 4);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(process)
{
    ends_late = true;
    return suite_main(process_suite());
}
