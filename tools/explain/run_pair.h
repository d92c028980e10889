/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/run_pair.h - `orrery explain` of two runs. One thread.
 */
#pragma once

#include <stdbool.h>

#include "tools/common/launch.h"

/* Whether it is a file of a run: a trace, a record. */
bool explain_is_file(const char *path);

/* Whether the words, ended with NULL, are two such files. */
bool explain_are_two(char *const *words);

/* Whether its machine or policy is a list: two runs. */
bool explain_is_list(const struct launch *launch);

/* Says why the two runs differ: those of the files that are its argv, else of its
 * program with two machines or policies. Returns the exit code. */
int explain_two(const struct launch *base, const char *devices, bool json);
