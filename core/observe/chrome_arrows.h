/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/chrome_arrows.h - the arrows of a file in the Trace Event Format: from
 * what a task waited for, other tasks and copies, to the task. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/observe/chrome_events.h"

struct orr_graph;
struct orr_waits;

/* A task or a copy as it is in the file. */
struct orr_chrome_slice {
    uint64_t job; /* the task, or who waited for the copy */
    unsigned tid;
    uint8_t nleave; /* length of `leave`; 0: not made */
    char leave[19]; /* when arrows leave it, as text: most tasks have some */
    double start, end;
};

/* Zero with its events is one without slices. */
struct orr_chrome_arrows {
    struct orr_chrome_events *events; /* borrowed */
    struct orr_chrome_slice *tasks;   /* that were written */
    size_t ntasks, room_tasks;
    struct orr_chrome_slice *copies; /* that a task waited for */
    size_t ncopies, room_copies;
    uint32_t *of_job; /* by the job's number: its place among the tasks + 1 */
    size_t njobs;     /* for so many there is room there */
    bool repeats;     /* a job is there twice */
    uint32_t nwaits;  /* tasks whose arrows were written */
    unsigned long long n;
    /* What the line of an arrow's head begins with. */
    char target[ORR_DECIMAL_SIZE + 4 * ORR_OUT_LEAST];
    size_t ntarget;
};

void orr_chrome_arrows_done(struct orr_chrome_arrows *arrows);

/* A task or copy that was written, which arrows may leave. Errors: -ENOMEM. */
int orr_chrome_arrows_add_task(struct orr_chrome_arrows *arrows,
                               struct orr_chrome_slice slice);
int orr_chrome_arrows_add_copy(struct orr_chrome_arrows *arrows,
                               struct orr_chrome_slice slice);

/* Writes what is known of the tasks' arrows by now, in the order of the tasks: up to the
 * first one that has not begun, or all. Errors: -ESTALE where that is not possible, and
 * orr_chrome_arrows_write is to write them all. */
int orr_chrome_arrows_write_waits(struct orr_chrome_arrows *arrows,
                                  const struct orr_waits *waits, bool is_all);

/* All that the graph has, in the same order. NULL has none. */
void orr_chrome_arrows_write(struct orr_chrome_arrows *arrows,
                             const struct orr_graph *graph);

/* From copies to the tasks that waited for them. */
void orr_chrome_arrows_write_copies(struct orr_chrome_arrows *arrows);
