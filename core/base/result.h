/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/result.h - files that a run leaves: whole or not at all. A device or
 * a pipe, such as /dev/stdout, is written to and never replaced. One thread per
 * file.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct orr_result {
    FILE *file;      /* write here */
    char *path;      /* owned */
    char *temporary; /* owned; beside `path`, NULL for a device */
};

/* *ret is ended by orr_result_close. Errors: -ENOMEM, those of the system. */
int orr_result_open(const char *path, struct orr_result *ret);

/* With `rc` 0 the file takes its name if all of it was written, else it is
 * removed. Returns `rc` or what went wrong. */
int orr_result_close(struct orr_result *result, int rc);
