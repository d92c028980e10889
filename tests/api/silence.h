/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/silence.h - what a call prints, for tests of messages. */
#pragma once

#include <check.h>
#include <stdio.h>
#include <unistd.h>

/* What the program printed on stderr since silence_begin(). */
static char printed[1 << 16];
static int real_stderr;
static FILE *catcher;

static void silence_begin(void)
{
    fflush(stderr);
    catcher = tmpfile();
    ck_assert_ptr_nonnull(catcher);
    real_stderr = dup(STDERR_FILENO);
    dup2(fileno(catcher), STDERR_FILENO);
}

static const char *silence_end(void)
{
    size_t n;

    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    rewind(catcher);
    n = fread(printed, 1, sizeof(printed) - 1, catcher);
    printed[n] = '\0';
    fclose(catcher);
    return printed;
}
