/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/foreign.h - files of other programs in the place of a program: StarPU's
 * tasks.rec, workflows, graphs (docs/IMPORT.md). One thread.
 */
#pragma once

#include <stdbool.h>

#include "import/options.h"

/* Whether the file has a format that can be imported. */
bool foreign_is_one(const char *path);

/* Whether the file says what ran where and when: a timeline (docs/IMPORT.md). */
bool foreign_is_timeline(const char *path);

/* Writes that as a trace in CSV, which appears whole or not at all. 0, or -1 with a message. */
int foreign_timeline(const char *path, const char *trace);

/* Writes what its kernels took as a file for `orrery perfmodel import`, likewise. */
int foreign_models(const char *path, const struct orr_import_options *how, const char *models);

/* Whether both command lines name the same file and options. */
bool foreign_is_same(char *const *a, char *const *b);

/* The command line that foreign_import takes: a file, "--static-workerid" if
 * `pinned`, and the schedule, if there is a second operand; ends with NULL. */
enum { FOREIGN_WORDS = 4 };
void foreign_words(char *const *operands, int n, bool pinned,
                   char *words[FOREIGN_WORDS]);

/* Makes the record of one file, read as `options` say (import/options.h), in the form that
 * the record's name says. Otherwise as foreign_import. */
int foreign_import_as(const char *path, const struct orr_import_options *options,
                      const char *record);

/* Makes the record of argv[0], with what follows it: --static-workerid, a sched.rec.
 * `how`: other options that hold for any file (import/options.h: kinds, replicas), or NULL.
 * The file appears whole or not at all. Returns 0, or -1 with a message. */
int foreign_import(char *const *argv, const struct orr_import_options *how, const char *record);
