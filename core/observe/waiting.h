/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/waiting.h - which job waits for which one now, in sentences: for reports
 * of runs that stand still, and for debuggers. Reads only, takes no lock, and need not be
 * fast: nothing goes on meanwhile.
 */
#pragma once

#include <stdbool.h>

struct orr_context;
struct orr_job;
struct orr_runtime;

struct orr_sentence {
    char text[600];
};

struct orr_job_words {
    char text[200];
};

/* "task `gemm' (number 12)", "the acquisition of data `A'" … */
struct orr_job_words orr_waiting_name(const struct orr_job *job);

/* What follows "waits for"; of a context that waits. */
struct orr_job_words orr_waiting_awaited(const struct orr_context *context);

/* Whether the application has acquired data with that job, and has not released them. */
bool orr_waiting_is_acquired(const struct orr_job *job);

/* Whether the job, which no other one holds back, waits for something all the same; of
 * others it is said why they are not over: they were never submitted, or their data are
 * held outside of tasks. */
bool orr_waiting_itself(const struct orr_job *job);

/* Whether it has only its end before it: its kernel has run, or it has none. */
bool orr_waiting_has_run(const struct orr_job *job);

/* Calls waits(job, before, arg) for each job that waits for the end of `before`, or for
 * what that one has. */
void orr_waiting_behind(const struct orr_job *before,
                        void (*waits)(const struct orr_job *job,
                                      const struct orr_job *before, void *arg),
                        void *arg);

/* "JOB waits for BEFORE", and what is to be done if that does not end by itself. */
struct orr_sentence orr_waiting_for(const struct orr_job *job,
                                    const struct orr_job *before);

/* What a job waits for that no other job holds back; no text: for nothing that is known
 * here. */
struct orr_sentence orr_waiting_alone(const struct orr_runtime *rt,
                                      const struct orr_job *job);

/* Calls visit(job, arg) for each job that is not over. */
void orr_waiting_each(const struct orr_runtime *rt,
                      void (*visit)(struct orr_job *job, void *arg), void *arg);
