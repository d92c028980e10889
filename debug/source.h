/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/source.h - where in the program tasks were submitted (core/observe/sources.h), for
 * answers and breakpoints. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct orr_job;
struct orr_runtime;

/* Whether the job's task was submitted in that line, "FILE:LINE". Files that both are there
 * are the same if they are one; else their names are compared, without folders. */
bool debug_source_is_line(const struct orr_runtime *rt, const struct orr_job *job,
                          const char *line);

/* ,"source":"FILE:LINE"; nothing where it is not known. */
void debug_source_write(const struct orr_runtime *rt, const struct orr_job *job, FILE *to);
