/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/read.h - the lines of a record as calls, docs/RECORD.md. Strict: what a
 * newer version may have written is an error that names its line. Memory is that
 * of the longest line. One thread per reader.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"
#include "record/call.h"

struct orr_record_reader;

/* Errors: -ENOMEM, -EINVAL: it is no record, those of the system. */
int orr_record_open(const char *path, struct orr_record_reader **ret,
                    struct orr_error *err);

/* The next call, valid until the next one is asked for. Returns 1, 0 behind the
 * last, -EINVAL for a line that is wrong or missing, -ENOMEM. */
int orr_record_next(struct orr_record_reader *reader,
                    const struct orr_call **ret, struct orr_error *err);

/* "FILE:LINE", of the last call, for messages. */
const char *orr_record_where(struct orr_record_reader *reader);

void orr_record_close(struct orr_record_reader *reader);

/* How many ranks the program has of one of which the file is the record; 0: it is the record
 * of no rank. Reads its first lines. Errors: those of a reader. */
int orr_record_ranks(const char *path, struct orr_error *err);

/* Whether the file begins as records do, of any version. */
bool orr_record_is_one(const char *path);
