/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/gantt_rows.h - which rows a Gantt chart has: a row per worker that
 * computed, one for all that did not, one per pair of memory nodes with copies;
 * which kernels have a colour of their own. One thread.
 */
#pragma once

#include "tools/trace/paje_read.h"

/* More pairs of nodes, and more kernels, share a row or a colour. */
enum { GANTT_LINKS = 24, GANTT_KERNELS = 24 };

struct gantt_row {
    char *label; /* owned */
};

struct gantt_rows {
    struct gantt_row *rows; /* owned; from the top */
    size_t n;
    size_t nworkers; /* rows of workers; those of copies follow */
    size_t *worker;  /* owned: row of each worker, PAJE_NONE: folded */
    size_t *copy;    /* owned: row of each copy */
    size_t *kernel;  /* owned: series of each kernel, PAJE_NONE: never ran */
    char **series;   /* owned: their names; the last is that of the rest */
    const char **colours; /* owned list; lent by the chart, or constant */
    size_t nseries;
};

/* Errors: -ENOMEM. The caller ends *ret with gantt_rows_done; it borrows from
 * the chart. */
int gantt_rows_init(const struct paje_chart *chart, struct gantt_rows *ret);
void gantt_rows_done(struct gantt_rows *rows);
