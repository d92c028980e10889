/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/result.h - files that appear whole or not at all. Until then they have no name
 * where the file system can do that, so that nothing is left of a process that is killed;
 * else one that no other process has. A device or a pipe, such as /dev/stdout, is written to
 * and never replaced. One thread per file.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct orr_result {
    FILE *file;      /* write here; errors are found at the close */
    char *path;      /* owned */
    char *temporary; /* owned: its name until then, beside `path`; NULL: it has none */
    bool fixed;      /* a device: it stays where it is */
    bool durable;    /* may be set: it is on the disk when it has its name */
};

/* *ret is ended by orr_result_close. Errors: -ENOMEM, those of the system. */
int orr_result_open(const char *path, struct orr_result *ret);

/* The file is the spool (spool.h) as it is, in the place of what was written; what comes
 * next goes behind it. Errors: those of the system, after which all is as before: a
 * device, or a file system that gives no name to a file without one. */
int orr_result_adopt(struct orr_result *result, FILE *spool);

/* The file is going to take the name `path` instead, in the same folder; not if it is a
 * device. Errors: -ENOMEM, and it keeps the other one. */
int orr_result_rename(struct orr_result *result, const char *path);

/* With `rc` 0 the file takes its name if all of it was written, else it is
 * removed. Returns `rc` or what went wrong. */
int orr_result_close(struct orr_result *result, int rc);

/* A durable file of these bytes. */
int orr_result_write(const char *path, const void *bytes, size_t size);
