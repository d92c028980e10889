/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/sources.h - where in the program tasks were submitted: the file and line that
 * it gave (starpu_task_submit_line, STARPU_TASK_FILE), else the first call on the stack that
 * is not the library's, which source_line.h looks up when it is shown. Written by those who
 * submit; any thread may read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct orr_job;
struct orr_runtime;
struct orr_sources;
struct starpu_task;

/* From now on it is noted where tasks are submitted; again: nothing changes. While the run
 * opens. Errors: -ENOMEM. */
int orr_sources_keep(struct orr_runtime *rt);

/* The same if ORRERY_SOURCE_LINES asks for it. */
int orr_sources_observe(struct orr_runtime *rt);

/* Accepts NULL. */
void orr_sources_free(struct orr_sources *sources);

/* "FILE:LINE" of the place where the calling context submits that task now, or (NULL)
 * any: as orr_sources_text, before it has a number. */
const char *orr_sources_here(struct orr_sources *sources,
                             const struct starpu_task *task);

/* "FILE:LINE" of the task with that number, lent as long as `sources` exists; NULL: it is
 * not known, or there are no sources (NULL). The first question about a place may start
 * another program, which takes real time. */
const char *orr_sources_text(const struct orr_sources *sources, uint64_t task);

/* Where a task was submitted, as it is known without looking anything up: the program has
 * said the file and the line, or (NULL) it is the call in front of that address. `place` is
 * the same of all that were submitted there, and exists as long as `sources`. */
struct orr_source_of_task {
    const void *place;
    const char *file;
    int line;
    uintptr_t call;
};

/* False: it is not known, or there are no sources (NULL). */
bool orr_sources_find(const struct orr_sources *sources, uint64_t task,
                      struct orr_source_of_task *ret);

/* What a line about the job begins with on a terminal: "FILE:LINE: "; "": not known. Where
 * nothing is noted, the program may still have said it. */
struct orr_source_words {
    char text[300];
};
struct orr_source_words orr_source_words(const struct orr_runtime *rt,
                                         const struct orr_job *job);
