/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/source.h - where in the program tasks were submitted: the file and line that it
 * gave (starpu_task_submit_line, STARPU_TASK_FILE), else the address of its call, for
 * `orrery debug` to look up. One thread.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct orr_job;
struct orr_runtime;

/* The job's task is submitted now, by the calls on this stack. */
void debug_source_note(const struct orr_runtime *rt, const struct orr_job *job);

/* The address behind that call, 0: it is not known; whether it was noted last, and no task
 * before was submitted there. */
uintptr_t debug_source_call(const struct orr_job *job);
int debug_source_is_new(const struct orr_job *job);

/* Whether the program has said itself that the task was submitted in that line,
 * "FILE:LINE"; folders are not compared. */
int debug_source_is_line(const struct orr_job *job, const char *line);

/* Members of JSON, each with a comma before it: "source", or "object", "offset" and
 * "call", the address; none where it is not known. */
void debug_source_write(const struct orr_job *job, FILE *to);
