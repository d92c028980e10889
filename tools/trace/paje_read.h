/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/paje_read.h - what a Gantt chart needs of a Pajé file: rows and the
 * kernels that were executed on them, copies between memory nodes, memory that
 * was used on these. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

struct paje_row {
    char *name;  /* "CPU0" */
    size_t node; /* index of its memory, PAJE_NONE where there are no nodes */
    long open;   /* the box that has no end yet, -1 */
};

/* Tasks of one name and colour. */
struct paje_kernel {
    char *name;
    char colour[8]; /* "#rrggbb", "" where the file gives none */
};

struct paje_box {
    size_t row;
    size_t kernel;     /* index in kernels */
    double start, end; /* ms */
};

enum { PAJE_COPY_KINDS = 4 };

struct paje_copy {
    size_t src, dst; /* indices of nodes */
    unsigned kind;   /* 0 to PAJE_COPY_KINDS - 1 */
    double bytes;
    double start, end; /* ms */
};

/* Megabytes used from `time` on, until the next point. */
struct paje_point {
    double time, value;
};

struct paje_node {
    char *name; /* "RAM", "NUMA 1", "CUDA0" */
    struct paje_point *points;
    size_t npoints;
    double peak;
};

#define PAJE_NONE ((size_t)-1)

struct paje_chart {
    struct paje_row *rows;
    size_t nrows;
    struct paje_kernel *kernels; /* in order of appearance */
    size_t nkernels;
    struct paje_box *boxes;
    size_t nboxes;
    struct paje_node *nodes;
    size_t nnodes;
    struct paje_copy *copies; /* in order of their starts */
    size_t ncopies;
    double start, end; /* ms, of the first and of the last box or copy */
};

/* What a kind of copies is called. */
const char *paje_copy_kind(unsigned kind);

/* Reads workers, the tasks they executed, copies and curves `use` (events 6, 7,
 * 10, 13, 18, 19, 20 and 24). *ret is ended with paje_chart_done. Errors:
 * -ENOMEM, those of the system, -EINVAL with file:line. */
int paje_chart_read(const char *path, struct paje_chart *ret,
                    struct orr_error *err);

/* The same of an open file, which has that name in messages. */
int paje_chart_parse(FILE *file, const char *name, struct paje_chart *ret,
                     struct orr_error *err);
void paje_chart_done(struct paje_chart *chart);
