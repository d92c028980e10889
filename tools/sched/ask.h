/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/ask.h - what the library says of its policies: describe-policies, a
 * program linked with it, is run and its line read. One thread.
 */
#pragma once

#include <jansson.h>

/* Its JSON: of policy `name` on `machine`, or of all policies with NULL for both.
 * Owned. Prints what went wrong; NULL then. */
json_t *ask_library(const char *name, const char *machine, const char *edits);
