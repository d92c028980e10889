/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/trace/paje_read.c - see paje_read.h. One thread. */
#include "tools/trace/paje_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 20

/* Makes room for one more element in an array that doubles. */
static int grow(void *array, size_t n, size_t size)
{
    void **pointer = array;
    void *larger;

    if (n & (n - 1) && n > 0)
        return 0;
    larger = realloc(*pointer, (n ? 2 * n : 1) * size);
    if (!larger)
        return -ENOMEM;
    *pointer = larger;
    return 0;
}

/* Cuts a line at its tabs and takes the quotes off. */
static int split(char *line, char **fields)
{
    int n = 0;

    line[strcspn(line, "\n")] = '\0';
    while (line && n < MAX_FIELDS) {
        char *next = strchr(line, '\t');
        size_t length;

        if (next)
            *next++ = '\0';
        length = strlen(line);
        if (length >= 2 && line[0] == '"' && line[length - 1] == '"') {
            line[length - 1] = '\0';
            line++;
        }
        fields[n++] = line;
        line = next;
    }
    return n;
}

static int add_row(struct paje_chart *chart, const char *alias,
                   const char *name)
{
    struct paje_row *row;

    if (grow(&chart->rows, chart->nrows, sizeof(*chart->rows)) < 0)
        return -ENOMEM;
    row = &chart->rows[chart->nrows++];
    *row = (struct paje_row){strdup(alias), strdup(name), -1};
    return row->alias && row->name ? 0 : -ENOMEM;
}

static struct paje_row *find_row(struct paje_chart *chart, const char *alias)
{
    for (size_t r = 0; r < chart->nrows; r++)
        if (!strcmp(chart->rows[r].alias, alias))
            return &chart->rows[r];
    return NULL;
}

static int find_kernel(struct paje_chart *chart, const char *name, size_t *ret)
{
    size_t k = 0;

    while (k < chart->nkernels && strcmp(chart->kernels[k], name) != 0)
        k++;
    if (k == chart->nkernels) {
        if (grow(&chart->kernels, k, sizeof(*chart->kernels)) < 0)
            return -ENOMEM;
        chart->kernels[k] = strdup(name);
        if (!chart->kernels[k])
            return -ENOMEM;
        chart->nkernels++;
    }
    *ret = k;
    return 0;
}

static void close_box(struct paje_chart *chart, struct paje_row *row,
                      double time)
{
    if (row->open >= 0)
        chart->boxes[row->open].end = time;
    row->open = -1;
}

static int open_box(struct paje_chart *chart, struct paje_row *row, double time,
                    const char *name)
{
    struct paje_box box = {
        .row = (size_t)(row - chart->rows), .start = time, .end = time};

    if (find_kernel(chart, name, &box.kernel) < 0 ||
        grow(&chart->boxes, chart->nboxes, sizeof(*chart->boxes)) < 0)
        return -ENOMEM;
    row->open = (long)chart->nboxes;
    chart->boxes[chart->nboxes++] = box;
    return 0;
}

/* The events of these traces have fixed numbers (FIRST_EVENT and more), but for
 * the schedules of starpu_lp2paje, which use smaller ones: where a definition
 * says that such a number creates a container or sets a state, it is read as
 * that.
 */
enum { FIRST_EVENT = 7, CONTAINER = 7, NO_TASK = 10, TASK = 20 };

static void take_definition(char *line, int *meanings)
{
    char *fields[MAX_FIELDS];
    int n = split(line, fields), event = n == 3 ? atoi(fields[2]) : 0;

    if (event < 1 || event >= FIRST_EVENT)
        return;
    if (!strcmp(fields[1], "PajeCreateContainer"))
        meanings[event] = CONTAINER;
    else if (!strcmp(fields[1], "PajeSetState"))
        meanings[event] = TASK;
}

/* One line of data, whose time goes to *last. -EINVAL when it lacks fields. */
static int take_line(struct paje_chart *chart, char *line, const int *meanings,
                     double *last)
{
    char *fields[MAX_FIELDS];
    int n = split(line, fields), event = atoi(fields[0]);
    const char *state = "WS";
    struct paje_row *row;
    double time;

    if (event < FIRST_EVENT) {
        event = event > 0 ? meanings[event] : 0;
        state = "S";
    }
    if (event < FIRST_EVENT)
        return 0;
    if (n < 4)
        return -EINVAL;
    time = strtod(fields[1], NULL);
    *last = time;
    if (event == CONTAINER && n >= 6 && !strcmp(fields[3], "W"))
        return add_row(chart, fields[2], fields[5]);
    if ((event != NO_TASK && event != TASK) || n < 5 ||
        strcmp(fields[3], state) != 0)
        return 0;
    if (state[0] == 'S' && !strcmp(fields[4], "F"))
        event = NO_TASK;
    row = find_row(chart, fields[2]);
    if (!row)
        return -EINVAL;
    close_box(chart, row, time);
    return event == TASK ? open_box(chart, row, time, fields[4]) : 0;
}

static void set_extent(struct paje_chart *chart)
{
    if (chart->nboxes > 0)
        chart->start = chart->boxes[0].start;
    for (size_t b = 0; b < chart->nboxes; b++) {
        const struct paje_box *box = &chart->boxes[b];

        chart->start = box->start < chart->start ? box->start : chart->start;
        chart->end = box->end > chart->end ? box->end : chart->end;
    }
}

int paje_chart_read(const char *path, struct paje_chart *ret,
                    struct orr_error *err)
{
    struct paje_chart chart = {0};
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    double last = 0;
    int result = 0, number = 0, meanings[FIRST_EVENT] = {0};

    if (!file)
        return orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    while (result == 0 && getline(&line, &size, file) >= 0) {
        number++;
        if (line[0] != '%' && line[0] != '#' && line[0] != '\n')
            result = take_line(&chart, line, meanings, &last);
        else if (!strncmp(line, "%EventDef\t", 10))
            take_definition(line, meanings);
    }
    if (result == 0 && ferror(file))
        result = -EIO;
    free(line);
    fclose(file);
    if (result < 0) {
        paje_chart_done(&chart);
        return orr_fail(err, result, "%s:%d: %s", path, number,
                        result == -EINVAL ? "not a line of a Pajé file"
                                          : strerror(-result));
    }
    for (size_t r = 0; r < chart.nrows; r++)
        close_box(&chart, &chart.rows[r], last);
    set_extent(&chart);
    *ret = chart;
    return 0;
}

void paje_chart_done(struct paje_chart *chart)
{
    for (size_t r = 0; r < chart->nrows; r++) {
        free(chart->rows[r].alias);
        free(chart->rows[r].name);
    }
    for (size_t k = 0; k < chart->nkernels; k++)
        free(chart->kernels[k]);
    free(chart->rows);
    free(chart->kernels);
    free(chart->boxes);
    *chart = (struct paje_chart){0};
}
