/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/import.h - graphs of tasks that other programs have written, as records
 * (docs/IMPORT.md). One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"
#include "import/options.h"

/* The format of the file, by its first bytes and its name: "tasks.rec", "DAX";
 * NULL: none that can be imported. A constant. */
const char *orr_import_format(const char *path);

/* Reads all of the file, and those beside it that belong to it, and writes a
 * record, in the compact form if `options` say so. Errors, with a message that names the place: -EINVAL, -ENOMEM, those of
 * the system. Whether `out` took everything is asked at its end (ferror). */
int orr_import(const char *path, const struct orr_import_options *options,
               FILE *out, struct orr_error *err);

/* Whether the file has what ran where and when, as timelines do. */
bool orr_import_is_timeline(const char *path);

/* Writes that as a trace in CSV (docs/TRACES.md). Errors as above. */
int orr_import_timeline(const char *path, FILE *out, struct orr_error *err);

/* Writes what kernels of devices took as a file for `orrery perfmodel import`, for as many
 * devices as the record of `options` needs. Errors as above. */
int orr_import_models(const char *path, const struct orr_import_options *options, FILE *out,
                      struct orr_error *err);
