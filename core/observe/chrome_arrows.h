/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/chrome_arrows.h - the arrows of a file in the Trace Event Format: from
 * what a task waited for, other tasks and copies, to the task. Those from tasks stand
 * behind the task that they lead to, so that they need not be kept. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/observe/chrome_events.h"
#include "core/observe/edges.h"

/* A task as it is in the file. */
struct orr_chrome_task {
    double start, end;
    unsigned tid;   /* 0: it is not there */
    uint8_t nleave; /* length of `leave`; 0: not made */
    char leave[19]; /* when arrows leave it, as text: most tasks have some */
};

/* A copy that a task waited for. */
struct orr_chrome_copy {
    uint64_t job;
    unsigned tid;
    double start, end;
};

/* An arrow between tasks whose begin was not there when its end was. */
struct orr_chrome_late {
    uint64_t from, to; /* jobs */
};

/* Zero with its events is one without slices. */
struct orr_chrome_arrows {
    struct orr_chrome_events *events; /* borrowed */
    struct orr_edges edges;           /* what tasks wait for */
    struct orr_chrome_task *tasks;    /* owned, by their jobs' numbers */
    size_t njobs;                     /* for so many there is room there */
    struct orr_chrome_copy *copies;   /* owned */
    size_t ncopies, room_copies;
    struct orr_chrome_late *late; /* owned */
    size_t nlate, room_late;
    unsigned long long n;
};

void orr_chrome_arrows_done(struct orr_chrome_arrows *arrows);

/* A task was written, from start to end: writes the arrows that lead to it. Errors:
 * -ENOMEM. */
int orr_chrome_arrows_add_task(struct orr_chrome_arrows *arrows, uint64_t job,
                               struct orr_chrome_task task);

/* The task will be read. */
void orr_chrome_arrows_fetch_ends(const struct orr_chrome_arrows *arrows,
                                  uint64_t job);

/* A copy was written, which an arrow may leave. Errors: -ENOMEM. */
int orr_chrome_arrows_add_copy(struct orr_chrome_arrows *arrows,
                               struct orr_chrome_copy copy);

/* All that is not written yet, when all tasks are. */
void orr_chrome_arrows_write_rest(struct orr_chrome_arrows *arrows);
