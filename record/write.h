/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/write.h - calls as lines of a record, docs/RECORD.md. One thread per
 * writer; the locale makes no difference.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "record/call.h"

/* All zero but `file` and `binary` at the beginning. */
struct orr_record_writer {
    FILE *file; /* borrowed */
    bool binary; /* the compact form: binary.h */
    char *line; /* owned: the line that is being made */
    size_t n, room;
    uint64_t ncalls; /* lines so far, but for the first */
    int error;       /* -ENOMEM, once; then nothing more is written */
};

/* Whether a file of that name is to have the compact form. */
bool orr_record_is_binary_name(const char *path);

/* The first line. */
void orr_record_begin(struct orr_record_writer *writer);

/* One line more. Whether the file took it is asked at its end (ferror). */
void orr_record_write(struct orr_record_writer *writer,
                      const struct orr_call *call);

/* The last line: `how` the run ended, NULL for starpu_shutdown. Without it readers
 * know that lines are missing. Frees what the writer owns and returns its error. */
int orr_record_end(struct orr_record_writer *writer, const char *how);
