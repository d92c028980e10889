/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/waits.h - makes of a list of waits_log.h the tasks, and which tasks each
 * waits for, step by step while the list grows: the same as graph_make.c makes of a
 * whole record, as long as that is plain. Plain is a record in which what a task waits
 * for is known when it is submitted: no tags, nothing declared of tasks that come
 * later, no job without kernel that stands for so many others that the graph has it as
 * a task. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/observe/waits_log.h"

struct orr_waits_task {
    uint64_t id;        /* of the job */
    const char *symbol; /* lent by the list, or NULL */
    uint32_t first, n;  /* what it waits for, among `lists` */
    uint32_t worker;    /* UINT32_MAX: it has not run */
    double start, end;  /* µs */
    uint32_t colour;    /* 0xrrggbb, 0: none */
};

struct orr_waits {
    struct orr_chain_place place;
    const struct orr_waits_log *log; /* borrowed */
    struct orr_waits_task *tasks;    /* owned, in the order of their ids */
    uint32_t *lists;                 /* owned: places among `tasks` */
    uint32_t ntasks, nlists;
    size_t room_tasks, room_lists;
    uint32_t *
        marks; /* owned, per task: where it is in the list that is being made */
    struct orr_waits_node *nodes; /* owned: all jobs */
    uint32_t nnodes;
    size_t room_nodes;
    struct orr_waits_declared *declared; /* owned: for tasks to come */
    uint32_t ndeclared;
    size_t room_declared;
    struct orr_graph_turns *turns; /* owned, by the handle's number */
    size_t nturns;
    bool plain; /* so far */
};

/* Errors: -ENOMEM. */
int orr_waits_new(const struct orr_waits_log *log, struct orr_waits **ret);

/* Accepts NULL. */
void orr_waits_free(struct orr_waits *waits);

/* Reads on up to the present end of the list. Errors: -ESTALE, from then on: it is not
 * plain; -ENOMEM. */
int orr_waits_read(struct orr_waits *waits);
