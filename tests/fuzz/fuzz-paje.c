/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-paje.c - libFuzzer target for the reader of Pajé files: no text
 * crashes it, what it accepts can be drawn, and errors name the text and a line. One
 * thread.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/trace/paje_read.h"

static void check_time(const struct paje_chart *chart, double start, double end)
{
    must(isfinite(start) && isfinite(end) && start <= end);
    must(chart->start <= start && end <= chart->end);
}

static void check_nodes(const struct paje_chart *chart)
{
    for (size_t r = 0; r < chart->nrows; r++) {
        const struct paje_row *row = &chart->rows[r];

        must(row->name && row->open == -1);
        must(row->node == PAJE_NONE || row->node < chart->nnodes);
    }
    for (size_t n = 0; n < chart->nnodes; n++) {
        const struct paje_node *node = &chart->nodes[n];

        must(node->name && isfinite(node->peak));
        for (size_t p = 0; p < node->npoints; p++)
            must(isfinite(node->points[p].time) &&
                 node->points[p].value <= node->peak);
    }
}

static void check(const struct paje_chart *chart)
{
    check_nodes(chart);
    for (size_t k = 0; k < chart->nkernels; k++)
        must(chart->kernels[k].name &&
             strnlen(chart->kernels[k].colour, 8) < 8);
    for (size_t b = 0; b < chart->nboxes; b++) {
        const struct paje_box *box = &chart->boxes[b];

        must(box->row < chart->nrows && box->kernel < chart->nkernels);
        check_time(chart, box->start, box->end);
    }
    for (size_t c = 0; c < chart->ncopies; c++) {
        const struct paje_copy *copy = &chart->copies[c];

        must(copy->src < chart->nnodes && copy->dst < chart->nnodes);
        must(copy->kind < PAJE_COPY_KINDS && paje_copy_kind(copy->kind));
        must(isfinite(copy->bytes));
        check_time(chart, copy->start, copy->end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct paje_chart chart;
    struct orr_error err = {""};
    FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r")
                   : fopen("/dev/null", "r");

    must(f != NULL);
    if (paje_chart_parse(f, "fuzz", &chart, &err) == 0) {
        check(&chart);
        paje_chart_done(&chart);
    } else {
        must(strncmp(err.text, "fuzz:", 5) == 0);
    }
    fclose(f);
    return 0;
}
