/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/source.h - where in the program tasks were submitted: the file and line that it
 * gave (starpu_task_submit_line, STARPU_TASK_FILE), else the address of its call, for
 * `orrery debug` to look up. One thread.
 */
#pragma once

#include <stdio.h>

struct orr_job;
struct orr_runtime;

/* The job's task is submitted now, by the calls on this stack. */
void debug_source_note(const struct orr_runtime *rt, const struct orr_job *job);

/* Members of JSON, each with a comma before it: "source", or "object" and "offset"; none
 * where it is not known. */
void debug_source_write(const struct orr_job *job, FILE *to);
