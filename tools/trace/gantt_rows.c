/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/trace/gantt_rows.c - see gantt_rows.h. One thread. */
#include "tools/trace/gantt_rows.h"

#include "core/base/shown.h"
#include "core/base/plural.h"
#include "tools/common/plot.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LETTERS = 40, FEW_IDLE = 2 };

/* The amount of a worker, a kernel or a pair of nodes. */
struct amount {
    size_t index; /* which one */
    size_t n;
    double busy;  /* ms */
    double bytes; /* of a pair */
    double until; /* ms: what was counted ends here */
};

static double chart_span(const struct paje_chart *chart)
{
    return chart->end > chart->start ? chart->end - chart->start : 1.0;
}

static int gantt_rows_add(struct gantt_rows *rows, char *label)
{
    if (!label)
        return -ENOMEM;
    rows->rows[rows->n++].label = label;
    return 0;
}

/* --- workers --- */

static int add_workers(const struct paje_chart *chart, struct gantt_rows *rows)
{
    double *busy = calloc(chart->nrows + 1, sizeof(*busy));
    size_t *ran = calloc(chart->nrows + 1, sizeof(*ran)), nidle = 0;
    int result = busy && ran ? 0 : -ENOMEM;

    for (size_t b = 0; b < chart->nboxes && result == 0; b++) {
        const struct paje_box *box = &chart->boxes[b];

        busy[box->row] += box->end - box->start;
        ran[box->row]++;
    }
    for (size_t r = 0; r < chart->nrows && result == 0; r++)
        nidle += !ran[r];
    for (size_t r = 0; r < chart->nrows && result == 0; r++) {
        bool shown = ran[r] || nidle <= FEW_IDLE;

        rows->worker[r] = shown ? rows->n : PAJE_NONE;
        if (shown)
            result = gantt_rows_add(
                rows, tool_format("%s  %3.0f %%", chart->rows[r].name,
                                  100 * busy[r] / chart_span(chart)));
    }
    if (result == 0 && nidle > FEW_IDLE)
        result = gantt_rows_add(rows, tool_format("%zu idle workers", nidle));
    rows->nworkers = rows->n;
    free(busy);
    free(ran);
    return result;
}

/* --- copies --- */

static int more_bytes(const void *a, const void *b)
{
    const struct amount *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Copies come by their starts: what they cover together. */
static void amount_add_copy(struct amount *amount, const struct paje_copy *copy)
{
    double from = copy->start > amount->until ? copy->start : amount->until;

    amount->n++;
    amount->bytes += copy->bytes;
    if (copy->end > from) {
        amount->busy += copy->end - from;
        amount->until = copy->end;
    }
}

/* "35 kB" in the 16 bytes of `text`, which it returns. */
static const char *size_text(double bytes, char *text)
{
    if (bytes < 1e6)
        snprintf(text, 16, "%.0f kB", bytes / 1e3);
    else
        snprintf(text, 16, "%.0f MB", bytes / 1e6);
    return text;
}

static char *link_label(const struct paje_chart *chart,
                        const struct amount *pair)
{
    char text[16];

    return tool_format("%s \xe2\x86\x92 %s  %s  %3.0f %%",
                       chart->nodes[pair->index / chart->nnodes].name,
                       chart->nodes[pair->index % chart->nnodes].name,
                       size_text(pair->bytes, text),
                       100 * pair->busy / chart_span(chart));
}

static char *rest_label(const struct amount *pairs, size_t n)
{
    double bytes = 0;
    char text[16];

    for (size_t i = 0; i < n; i++)
        bytes += pairs[i].bytes;
    return tool_format("%zu other links  %s", n, size_text(bytes, text));
}

/* Rows for those pairs with most bytes, in the order of nodes, and one for the
 * rest. `pairs` has `n`, by bytes; `row_of` one per pair of nodes. */
static int add_links(const struct paje_chart *chart, struct gantt_rows *rows,
                     const struct amount *pairs, size_t n, size_t *row_of)
{
    size_t all = chart->nnodes * chart->nnodes;
    size_t kept = n > GANTT_LINKS ? GANTT_LINKS - 1 : n;
    int result = 0;

    for (size_t p = 0; p < all; p++)
        row_of[p] = PAJE_NONE;
    for (size_t i = 0; i < kept; i++)
        row_of[pairs[i].index] = i;
    for (size_t p = 0; p < all && result == 0; p++)
        if (row_of[p] != PAJE_NONE) {
            const struct amount *pair = &pairs[row_of[p]];

            row_of[p] = rows->n;
            result = gantt_rows_add(rows, link_label(chart, pair));
        }
    for (size_t i = kept; i < n; i++)
        row_of[pairs[i].index] = rows->n;
    if (result == 0 && kept < n)
        result = gantt_rows_add(rows, rest_label(&pairs[kept], n - kept));
    return result;
}

static int gantt_rows_add_copies(const struct paje_chart *chart,
                                 struct gantt_rows *rows)
{
    size_t all = chart->nnodes * chart->nnodes, n = 0;
    struct amount *pairs = calloc(all + 1, sizeof(*pairs));
    size_t *row_of = calloc(all + 1, sizeof(*row_of));
    int result = pairs && row_of ? 0 : -ENOMEM;

    for (size_t p = 0; p < all && result == 0; p++)
        pairs[p] = (struct amount){.index = p, .until = chart->start};
    for (size_t c = 0; c < chart->ncopies && result == 0; c++) {
        const struct paje_copy *copy = &chart->copies[c];

        amount_add_copy(&pairs[copy->src * chart->nnodes + copy->dst], copy);
    }
    for (size_t p = 0; p < all && result == 0; p++)
        if (pairs[p].n)
            pairs[n++] = pairs[p];
    if (result == 0) {
        qsort(pairs, n, sizeof(*pairs), more_bytes);
        result = add_links(chart, rows, pairs, n, row_of);
    }
    for (size_t c = 0; c < chart->ncopies && result == 0; c++)
        rows->copy[c] =
            row_of[chart->copies[c].src * chart->nnodes + chart->copies[c].dst];
    free(pairs);
    free(row_of);
    return result;
}

/* --- kernels --- */

static int more_busy(const void *a, const void *b)
{
    const struct amount *x = a, *y = b;

    if (x->busy != y->busy)
        return x->busy > y->busy ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The name, or its beginning. */
static char *shown_name(const char *name)
{
    char *text = malloc(4 * NAME_LETTERS + 4), *to = text;

    for (unsigned i = 0; text && i < NAME_LETTERS && *name; i++) {
        size_t length;
        const char *shown = orr_shown_next(&name, &length);

        to = mempcpy(to, shown, length);
    }
    if (text)
        strcpy(to, *name ? "\xe2\x80\xa6" : "");
    return text;
}

static int add_series(struct gantt_rows *rows, char *name, const char *colour)
{
    if (!name)
        return -ENOMEM;
    rows->series[rows->nseries] = name;
    rows->colours[rows->nseries++] = colour;
    return 0;
}

/* The kernels with most time have a series each, in the order of the file. */
static int add_kernels(const struct paje_chart *chart, struct gantt_rows *rows)
{
    struct amount *kernels = calloc(chart->nkernels + 1, sizeof(*kernels));
    size_t n = 0, kept;
    int result = kernels ? 0 : -ENOMEM;

    for (size_t k = 0; k < chart->nkernels && kernels; k++)
        kernels[k].index = k;
    for (size_t b = 0; b < chart->nboxes && kernels; b++) {
        kernels[chart->boxes[b].kernel].n++;
        kernels[chart->boxes[b].kernel].busy +=
            chart->boxes[b].end - chart->boxes[b].start;
    }
    for (size_t k = 0; k < chart->nkernels && kernels; k++) {
        rows->kernel[k] = PAJE_NONE;
        if (kernels[k].n)
            kernels[n++] = kernels[k];
    }
    if (kernels)
        qsort(kernels, n, sizeof(*kernels), more_busy);
    kept = n > GANTT_KERNELS ? GANTT_KERNELS - 1 : n;
    for (size_t i = 0; i < n && kernels; i++)
        rows->kernel[kernels[i].index] = i < kept ? i : kept;
    for (size_t k = 0; k < chart->nkernels && result == 0; k++) {
        const struct paje_kernel *kernel = &chart->kernels[k];
        size_t rank = rows->kernel[k]; /* by time, as pages of `orrery report' have colours */

        if (rank >= kept)
            continue;
        rows->kernel[k] = rows->nseries;
        result = add_series(rows, shown_name(kernel->name),
                            *kernel->colour ? kernel->colour : plot_colour(rank));
    }
    if (result == 0 && kept < n)
        result =
            add_series(rows, tool_format("%zu other%s", n - kept, orr_plural(n - kept)), "#b0b0b0");
    free(kernels);
    return result;
}

/* --- all --- */

int gantt_rows_init(const struct paje_chart *chart, struct gantt_rows *ret)
{
    struct gantt_rows rows = {
        .rows = calloc(chart->nrows + GANTT_LINKS + 2, sizeof(*rows.rows)),
        .worker = calloc(chart->nrows + 1, sizeof(*rows.worker)),
        .copy = calloc(chart->ncopies + 1, sizeof(*rows.copy)),
        .kernel = calloc(chart->nkernels + 1, sizeof(*rows.kernel)),
        .series = calloc(GANTT_KERNELS + 1, sizeof(char *)),
        .colours = calloc(GANTT_KERNELS + 1, sizeof(char *)),
    };
    int result = rows.rows && rows.worker && rows.copy && rows.kernel &&
                         rows.series && rows.colours
                     ? 0
                     : -ENOMEM;

    if (result == 0)
        result = add_workers(chart, &rows);
    if (result == 0)
        result = gantt_rows_add_copies(chart, &rows);
    if (result == 0)
        result = add_kernels(chart, &rows);
    if (result < 0)
        gantt_rows_done(&rows);
    else
        *ret = rows;
    return result;
}

void gantt_rows_done(struct gantt_rows *rows)
{
    for (size_t r = 0; r < rows->n; r++)
        free(rows->rows[r].label);
    for (size_t s = 0; s < rows->nseries; s++)
        free(rows->series[s]);
    free(rows->rows);
    free(rows->worker);
    free(rows->copy);
    free(rows->kernel);
    free(rows->series);
    free(rows->colours);
    *rows = (struct gantt_rows){0};
}
