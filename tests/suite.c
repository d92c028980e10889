/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/suite.c - see suite.h.
 *
 * Check has no skipped tests; in its TAP they passed. All that a suite prints
 * therefore goes through a process that looks for the line which suite_skip has
 * left: Check prints a test's result after the test has ended, so the next line
 * with a result is that of this test.
 */
#include "suite.h"

#include "build_paths.h"

#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "# SKIP "

/* Check ends a test after four seconds, which is a matter of time on a machine that has
 * other things to do. A minute tells a hang as well. */
__attribute__((constructor)) static void wait_longer(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
}

enum { LAST = 4 };

void suite_mark(const char *file, int line)
{
    static _Thread_local struct {
        const char *file;
        int line;
    } last[LAST];
    static _Thread_local unsigned n;

    for (unsigned i = 0; i < LAST; i++)
        if (last[i].line == line && last[i].file == file)
            return;
    last[n].file = file;
    last[n].line = line;
    n = (n + 1) % LAST;
    (_mark_point)(file, line); /* Check's */
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Passes lines on; the result that follows a mark gets its text. */
static void mark_results(FILE *in, FILE *out)
{
    char line[4096], why[sizeof(line)] = "";

    while (fgets(line, sizeof(line), in)) {
        if (begins(line, MARK)) {
            strcpy(why, line + strlen(MARK));
            why[strcspn(why, "\n")] = '\0';
            continue;
        }
        if (*why && begins(line, "ok ")) {
            char *passed = strstr(line, ": Passed");

            line[passed ? (size_t)(passed - line) : strcspn(line, "\n")] = '\0';
            fprintf(out, "%s # SKIP %s\n", line, why);
        } else {
            fputs(line, out);
        }
        if (begins(line, "ok ") || begins(line, "not ok "))
            *why = '\0';
        fflush(out);
    }
}

/* Makes standard output lead to another process; returns that, and what
 * standard output was. */
static pid_t begin_marking(int *ret_output)
{
    int ends[2];
    pid_t pid;

    fflush(stdout);
    *ret_output = dup(STDOUT_FILENO);
    if (*ret_output < 0 || pipe(ends) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        close(ends[1]);
        mark_results(fdopen(ends[0], "r"), stdout);
        _exit(0);
    }
    close(ends[0]);
    if (pid > 0)
        dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    /* Lines of Check and of its children must not overtake each other. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    return pid;
}

static bool end_marking(pid_t pid, int output)
{
    int status = -1;

    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    close(output);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

int suite_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed, output;
    pid_t pid = begin_marking(&output);

    if (pid < 0) {
        perror("the results cannot be printed");
        srunner_free(runner);
        return 1;
    }
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return !end_marking(pid, output) || failed != 0;
}

void suite_skip(const char *format, ...)
{
    va_list args;

    /* At the beginning of a line, whatever was printed before. */
    printf("\n" MARK);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

const char *suite_shared(const char *below)
{
    static char path[PATH_MAX];
    const char *folder = getenv("ORRERY_SHARED");

    if (!folder || !*folder)
        folder = ORR_SOURCE_ROOT "/../shared";
    if (snprintf(path, sizeof(path), "%s/%s", folder, below) >=
        (int)sizeof(path))
        return NULL;
    return access(path, R_OK) == 0 ? path : NULL;
}

/* A locale of nothing but a decimal comma, named by LOCPATH. */
static bool make_locale(void)
{
    static const char definition[] = "LC_NUMERIC\\ndecimal_point \",\"\\n"
                                     "thousands_sep \".\"\\ngrouping 3;3\\n"
                                     "END LC_NUMERIC\\n";
    char folder[] = "/tmp/orrery-locale-XXXXXX", command[300];
    bool made;

    if (!mkdtemp(folder))
        return false;
    /* It warns of all that is not defined, and works. */
    snprintf(command, sizeof(command),
             "cd %s && printf '%s' >source && "
             "localedef -c -i source ./comma >/dev/null 2>&1",
             folder, definition);
    (void)!system(command);
    setenv("LOCPATH", folder, 1);
    made = setlocale(LC_ALL, "comma") && *localeconv()->decimal_point == ',';
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    (void)!system(command);
    return made;
}

int suite_comma_locale(void)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8") ||
        make_locale())
        return 0;
    suite_skip("no locale with a decimal comma, nor localedef to make one");
    return -1;
}
