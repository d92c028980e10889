/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/input.c - see input.h. */
#include "tools/common/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/spool.h"
#include "tools/common/tool.h"

/* A negative errno if not all could be read, or written. */
static int copy_input(FILE *file)
{
    char bytes[1 << 14];
    ssize_t n;

    while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
        if (fwrite(bytes, 1, (size_t)n, file) < (size_t)n)
            return -errno;
    return n < 0 || fflush(file) != 0 ? -errno : 0;
}

/* Standard input becomes a file with what came there. */
static int keep_standard_input(void)
{
    const char *parent = getenv("TMPDIR");
    char *folder = tool_format("%s/", parent && *parent ? parent : "/tmp");
    FILE *file = NULL;
    int rc = folder ? orr_spool_open(folder, &file) : -ENOMEM;

    if (rc == 0)
        rc = copy_input(file);
    if (rc == 0 && dup2(fileno(file), STDIN_FILENO) < 0)
        rc = -errno;
    if (rc == 0 && lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
        rc = -errno;
    if (file)
        fclose(file);
    free(folder);
    return rc;
}

int input_take(const char *command, const char **word)
{
    static bool taken;
    int rc;

    if (!*word || strcmp(*word, "-") != 0)
        return TOOL_OK;
    if (taken)
        return tool_fail(TOOL_USAGE,
                         "%s: standard input is one file only: a second - is "
                         "too much",
                         command);
    taken = true;
    rc = keep_standard_input();
    if (rc)
        return tool_fail(TOOL_FAILED,
                         "%s: standard input cannot be kept: %s; TMPDIR names "
                         "another place",
                         command, strerror(-rc));
    *word = INPUT_NAME;
    return TOOL_OK;
}

int input_take_words(const char *command, int n, char **words)
{
    int code = TOOL_OK;

    for (int i = 0; i < n && code == TOOL_OK; i++) {
        const char *word = words[i];

        code = input_take(command, &word);
        words[i] = (char *)(uintptr_t)word;
    }
    return code;
}
