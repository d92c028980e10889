/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/answers.h - questions about a run that stands, and their answers: a line of JSON,
 * {"answer": [ITEM, …]}, where each item has a sentence, "text", beside what that is made
 * of; or {"error": "…"}. Reads only. One thread.
 *
 *   event              the event where it stands
 *   where              that, what the application does, what each worker does
 *   tasks              those that are not over: state=STATE name=NAME max=N
 *   task task=N        one of them: its data, what it waits for, what waits for it
 *   ready              the ready ones, in the order of priority and age
 *   workers            what each does, has done, and is expected to have before it
 *   data               all data; data=NAME: its copies, who has it, who is next
 *   nodes              the memory nodes; node=NAME: what is there, in the order in which
 *                      it would leave
 *   why task=N         what it waits for, along the chain
 *   idle worker=NAME   why the worker has nothing to do
 *   ranks              of a program of several ranks, what each does
 *   application        what the application does, or waits for
 *   choice task=N      what each worker would take for it, as policies estimate it; where the
 *                      task is about to be given to its policy, what that compares
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct debug_event;
struct orr_handle;
struct orr_job;
struct orr_runtime;
struct orr_worker;

/* Writes the answer, without a line end. `rt`: NULL: there is no such rank. */
void debug_answer(struct orr_runtime *rt, const struct debug_event *event, char *const *words,
                  FILE *to);

/* --- shared by those who answer --- */

struct debug_answer {
    struct orr_runtime *rt;
    const struct debug_event *event;
    char *const *words; /* behind the question */
    FILE *to;
    unsigned n; /* items so far */
    bool names_rank; /* sentences begin with that of the run */
};

/* Of the runs that are open, module.c: that of the rank. NULL: there is none. */
struct orr_runtime *debug_run_of_rank(int rank);

/* The word's value, NULL: it is not there. */
const char *debug_word(const struct debug_answer *answer, const char *key);

/* An item: begun, its members, then the sentence, which ends it. */
void debug_item(struct debug_answer *answer);
void debug_number(struct debug_answer *answer, const char *key, double value);
void debug_name(struct debug_answer *answer, const char *key, const char *value);
void debug_text(struct debug_answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Where the job's task was submitted, as members of the item. */
void debug_source(struct debug_answer *answer, const struct orr_job *job);

/* In the place of all items. */
void debug_no_answer(struct debug_answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Short texts, by value. */
struct debug_words {
    char text[300];
};
struct debug_words debug_job_words(const struct orr_job *job); /* "gemm #12" */
struct debug_words debug_date_words(double us);                /* "3.5 ms" */
/* "executes gemm #12 since 3 ms", "has nothing to do" */
struct debug_words debug_worker_words(const struct orr_runtime *rt,
                                      const struct orr_worker *worker);
/* "RAM, CUDA 0", of a mask of nodes. */
struct debug_words debug_nodes_words(const struct orr_runtime *rt, uint64_t nodes);
/* "reads and writes", "adds to" */
const char *debug_mode_words(unsigned mode);
const char *debug_state_word(const struct orr_job *job);

/* NULL: there is none. */
const struct orr_job *debug_find_task(const struct orr_runtime *rt, uint64_t number);
const struct orr_worker *debug_find_worker(const struct orr_runtime *rt, const char *name);
const struct orr_handle *debug_find_data(const struct orr_runtime *rt, const char *name);

/* Items, one a sentence (why.c, memory.c). */
void debug_why_task(struct debug_answer *answer, const struct orr_job *job);
void debug_why_idle(struct debug_answer *answer, const struct orr_worker *worker);
void debug_say_application(struct debug_answer *answer);
struct debug_words debug_application_words(const struct orr_runtime *rt);
void debug_list_data(struct debug_answer *answer);
void debug_list_nodes(struct debug_answer *answer);
