/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/ranks_private.h - the tasks of all ranks as one graph: ranks.c has it and its dates,
 * ranks_traffic.c what has to pass between nodes. One thread.
 */
#pragma once

#include "bound/one_machine.h"
#include "bound/ranks.h"

/* A message as an edge between tasks of all ranks. */
struct ranks_edge {
    unsigned from, to; /* tasks */
    double ms;         /* that it takes at least */
    bool counts;       /* it is sent after the program's first submission */
};

struct ranks_work {
    const struct orr_bound_ranks *problem;
    struct orr_bound_ranks_result *result;
    struct orr_error *err;
    /* All owned. */
    unsigned *first;      /* by rank: the number of its first task among all, and behind the last */
    unsigned *rank_of;    /* by task */
    unsigned **producer;  /* by rank: producers.h */
    struct ranks_edge *edges; /* by message */
    unsigned *in, *out;       /* CSR by task: the messages that reach, and leave it … */
    unsigned *first_in, *first_out;
    unsigned *first_later, *later; /* … the tasks of its rank that depend on it */
    unsigned *order;   /* tasks, each after what it waits for */
    double *ms;        /* by task: the least that it takes */
    double *head;      /* … it starts no earlier, ms from the first submission */
    double *tail;      /* … after its end there is that much at least */
    bool *is_task;     /* … and no node that stands for something else */
    bool *needed;      /* … it, or something after it, is one */
    bool *rooted;      /* … it, or something before it, is one */
};

static inline const struct orr_graph_task *ranks_task(const struct ranks_work *w, unsigned t)
{
    unsigned rank = w->rank_of[t];

    return &w->problem->graphs[rank]->tasks[t - w->first[rank]];
}

static inline unsigned ranks_node(const struct ranks_work *w, unsigned task)
{
    return w->problem->node[w->rank_of[task]];
}

/* Fills in the result's traffic. Errors: -ENOMEM. */
int orr_bound_ranks_traffic(struct ranks_work *w);
