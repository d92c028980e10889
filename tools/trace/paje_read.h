/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/paje_read.h - what a Gantt chart needs of a Pajé file: rows and the
 * kernels that were executed on them. One thread.
 */
#pragma once

#include <stddef.h>

#include "core/base/error.h"

struct paje_row {
    char *alias, *name; /* "w0", "CPU0" */
    long open;          /* the box that has no end yet, -1 */
};

struct paje_box {
    size_t row;
    size_t kernel;     /* index in kernels */
    double start, end; /* ms */
};

struct paje_chart {
    struct paje_row *rows;
    size_t nrows;
    char **kernels; /* in order of appearance */
    size_t nkernels;
    struct paje_box *boxes;
    size_t nboxes;
    double start, end; /* ms, of the first and of the last box */
};

/* Reads the workers and the tasks they executed (events 7 of type W, 20, 10).
 * *ret is ended with paje_chart_done. Errors: -ENOMEM, those of the system,
 * -EINVAL with file:line. */
int paje_chart_read(const char *path, struct paje_chart *ret,
                    struct orr_error *err);
void paje_chart_done(struct paje_chart *chart);
