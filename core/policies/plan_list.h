/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/plan_list.h - HEFT on a graph of tasks: upward ranks, then each task into
 * the earliest gap of the worker on which it ends first. H. Topcuoglu, S. Hariri,
 * M. Wu, "Performance-effective and low-complexity task scheduling for heterogeneous
 * computing", IEEE TPDS 13(3), 2002. Dates and lengths in µs. No threads, no runtime:
 * the caller says what things take.
 *
 * Where we differ: a rank counts what a task takes where it is fastest; with the mean
 * over all workers, as the paper has it, one GPU beside many cores makes every rank one
 * of cores (Zhao, Sakellariou, "An experimental investigation into the rank function of
 * the heterogeneous earliest finish time scheduling algorithm", 2003, compare such
 * choices): Cholesky took up to 40 % longer. A copy is not of an edge but of a datum,
 * which stays where it was brought until it is written, so that a later task that needs
 * it there has it; it begins when the task is ready, as prefetches do, and copies from
 * and to one memory come one after the other. Tasks that have begun have their place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/observe/graph_ahead.h"

/* No worker. */
#define ORR_PLAN_NONE UINT32_MAX

/* What a worker is to do, in the order of time; gaps are between. */
struct orr_plan_line {
    struct orr_span {
        double start, end;
    } * spans; /* owned */
    uint32_t n;
};

/* The earliest start, not before `from`, of a gap of that length. */
double orr_plan_line_find(const struct orr_plan_line *line, double from,
                          double length);
/* Takes that gap. Errors: -ENOMEM. */
int orr_plan_line_add(struct orr_plan_line *line, double start, double length);
void orr_plan_line_done(struct orr_plan_line *line);

/* A datum that tasks use; in the order of ranks each reader comes before the next
 * writer. */
struct orr_plan_datum {
    uint64_t bytes;
    double *
        there; /* per memory node: since when it has the value, INFINITY: it has
                    * not; lent, as the plan goes on */
};

struct orr_plan_use {
    uint32_t datum;
    bool reads, writes;
};

/* A task that is to be planned; or one that only passes dependencies on (no duration is
 * finite); or one that has its place already. */
struct orr_plan_task {
    const double *length; /* per class, INFINITY: unable; NULL: all; lent */
    const struct orr_plan_use *uses; /* lent */
    uint32_t nuses;
    uint32_t only;   /* the one worker that may have it, ORR_PLAN_NONE: any */
    bool placed;     /* worker, node and end are given */
    uint32_t node;   /* placed: the memory where it leaves what it writes; its worker
                      * may take nothing any more */
    uint32_t worker; /* ORR_PLAN_NONE: none */
    double start, end;
    double rank; /* result */
};

struct orr_plan {
    const struct orr_graph_ahead *graph;
    struct orr_plan_task *tasks; /* one per node of the graph */
    struct orr_plan_datum *data; /* those of the tasks' uses */
    unsigned nworkers, nclasses, nnodes;
    const uint32_t *class_of; /* per worker; ORR_PLAN_NONE: takes nothing */
    const uint32_t
        *class_size;         /* how many workers it has that take something */
    const uint32_t *node_of; /* per class: its memory */
    struct orr_plan_line
        *lines; /* per worker; what they have to do comes first */
    struct orr_plan_line
        *links;  /* two per memory node: copies to it, from it */
    double from; /* now */
    /* µs that a copy takes between memory nodes. */
    double (*copy)(void *arg, unsigned from, unsigned to, uint64_t bytes);
    void *arg;
};

/* Fills in worker, start, end and rank of all tasks, and the lines. Errors: -ENOMEM;
 * then part of it. */
int orr_plan_make(struct orr_plan *plan);

/* One task more, that waits for nothing; its data are there at there[class]. Errors:
 * -ENOMEM. */
int orr_plan_place(const struct orr_plan *plan, struct orr_plan_task *task,
                   const double *there);
