/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/trace/paje_read.c - see paje_read.h. One thread. */
#include "tools/trace/paje_read.h"

#include "core/base/grow.h"
#include "tools/trace/aliases.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 20

/* The events of these traces have fixed numbers (FIRST_EVENT and more), but for
 * the schedules of starpu_lp2paje, which use smaller ones: where a definition
 * says that such a number creates a container or sets a state, it is read as
 * that.
 */
enum {
    VALUE = 6,
    FIRST_EVENT = 7,
    CONTAINER = 7,
    NO_TASK = 10,
    VARIABLE = 13,
    COPY_STARTS = 18,
    COPY_ENDS = 19,
    TASK = 20,
    COPY_STARTS_LONG = 24
};

static const struct {
    const char *alias, *name;
} kinds[PAJE_COPY_KINDS] = {{"F", "Fetch"},
                            {"TF", "TaskPrefetch"},
                            {"PF", "Prefetch"},
                            {"IF", "IdleFetch"}};

const char *paje_copy_kind(unsigned kind)
{
    return kinds[kind].name;
}

/* A file that is being read. */
struct reader {
    struct paje_chart chart;
    int meanings[FIRST_EVENT];
    struct aliases rows;    /* of workers */
    struct aliases threads; /* of threads: the nodes they lie in */
    struct aliases nodes;   /* of memory nodes and their managers */
    struct aliases kernels;
    struct aliases copies; /* keys of those under way */
    double last;           /* ms, of the last event */
};

/* Cuts a line at its tabs and takes the quotes off. */
static int paje_split_line(char *line, char **fields)
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

/* Whether the field is a number, and no other text. */
static bool paje_field_is_number(const char *field, double *ret)
{
    char *end;

    *ret = strtod(field, &end);
    return end != field && *end == '\0' && isfinite(*ret);
}

/* --- containers --- */

static int paje_add_row(struct reader *reader, const char *alias,
                        const char *parent, const char *name)
{
    struct paje_chart *chart = &reader->chart;
    struct paje_row *row = orr_array_add(chart->rows, chart->nrows);

    if (!row)
        return -ENOMEM;
    *row = (struct paje_row){strdup(name),
                             aliases_find(&reader->threads, parent), -1};
    if (!row->name)
        return -ENOMEM;
    return aliases_set(&reader->rows, alias, chart->nrows - 1);
}

static int paje_add_node(struct reader *reader, const char *alias,
                         const char *name)
{
    struct paje_chart *chart = &reader->chart;
    struct paje_node *node = orr_array_add(chart->nodes, chart->nnodes);

    if (!node)
        return -ENOMEM;
    node->name = strdup(name);
    if (!node->name)
        return -ENOMEM;
    return aliases_set(&reader->nodes, alias, chart->nnodes - 1);
}

static int add_container(struct reader *reader, char **fields)
{
    const char *alias = fields[2], *type = fields[3], *parent = fields[4];
    size_t node = aliases_find(&reader->nodes, parent);

    if (!strcmp(type, "W"))
        return paje_add_row(reader, alias, parent, fields[5]);
    if (!strcmp(type, "Mn"))
        return paje_add_node(reader, alias, fields[5]);
    if (!strcmp(type, "T") && node != ALIAS_UNKNOWN)
        return aliases_set(&reader->threads, alias, node);
    if (!strcmp(type, "Mm") && node != ALIAS_UNKNOWN)
        return aliases_set(&reader->nodes, alias, node);
    return 0;
}

/* --- kernels --- */

/* The kernel with that alias, which is its name until a value is defined. */
static int find_kernel(struct reader *reader, const char *alias, size_t *ret)
{
    struct paje_chart *chart = &reader->chart;
    size_t k = aliases_find(&reader->kernels, alias);
    struct paje_kernel *added;

    if (k == ALIAS_UNKNOWN) {
        k = chart->nkernels;
        added = orr_array_add(chart->kernels, chart->nkernels);
        if (!added)
            return -ENOMEM;
        added->name = strdup(alias);
        if (!added->name)
            return -ENOMEM;
        if (aliases_set(&reader->kernels, alias, k) < 0)
            return -ENOMEM;
    }
    *ret = k;
    return 0;
}

/* A value of workers' states, maybe a kernel that will be executed. */
static int paje_add_state_value(struct reader *reader, char **fields)
{
    struct paje_kernel *kernel;
    double part[3];
    char *name;
    size_t k;

    if (find_kernel(reader, fields[1], &k) < 0)
        return -ENOMEM;
    kernel = &reader->chart.kernels[k];
    name = strdup(fields[3]);
    if (!name)
        return -ENOMEM;
    free(kernel->name);
    kernel->name = name;
    if (sscanf(fields[4], "%lf %lf %lf", &part[0], &part[1], &part[2]) != 3)
        return 0;
    for (unsigned i = 0; i < 3; i++)
        part[i] = part[i] > 0 ? (part[i] < 1 ? part[i] : 1) : 0;
    snprintf(kernel->colour, sizeof(kernel->colour), "#%02x%02x%02x",
             (unsigned)(part[0] * 255 + 0.5) & 255,
             (unsigned)(part[1] * 255 + 0.5) & 255,
             (unsigned)(part[2] * 255 + 0.5) & 255);
    return 0;
}

/* --- what happens --- */

static void close_box(struct paje_chart *chart, struct paje_row *row,
                      double time)
{
    if (row->open >= 0)
        chart->boxes[row->open].end = fmax(chart->boxes[row->open].start, time);
    row->open = -1;
}

static int open_box(struct reader *reader, size_t row, double time,
                    const char *alias)
{
    struct paje_chart *chart = &reader->chart;
    struct paje_box box = {.row = row, .start = time, .end = time}, *added;

    if (find_kernel(reader, alias, &box.kernel) < 0)
        return -ENOMEM;
    added = orr_array_add(chart->boxes, chart->nboxes);
    if (!added)
        return -ENOMEM;
    *added = box;
    chart->rows[row].open = (long)chart->nboxes - 1;
    return 0;
}

static int paje_read_state(struct reader *reader, int event, char **fields,
                           double time)
{
    size_t row = aliases_find(&reader->rows, fields[2]);

    if (row == ALIAS_UNKNOWN)
        return -EINVAL;
    close_box(&reader->chart, &reader->chart.rows[row], time);
    return event == TASK ? open_box(reader, row, time, fields[4]) : 0;
}

static int paje_start_copy(struct reader *reader, char **fields, double time)
{
    struct paje_chart *chart = &reader->chart;
    struct paje_copy copy = {.src = aliases_find(&reader->nodes, fields[5]),
                             .dst = PAJE_NONE,
                             .start = time}, *added;

    while (copy.kind < PAJE_COPY_KINDS &&
           strcmp(kinds[copy.kind].alias, fields[2]) != 0)
        copy.kind++;
    if (copy.kind == PAJE_COPY_KINDS || copy.src == ALIAS_UNKNOWN)
        return 0; /* another link, such as MPI's */
    if (!paje_field_is_number(fields[4], &copy.bytes))
        return -EINVAL;
    added = orr_array_add(chart->copies, chart->ncopies);
    if (!added)
        return -ENOMEM;
    *added = copy;
    return aliases_set(&reader->copies, fields[6], chart->ncopies - 1);
}

static void end_copy(struct reader *reader, char **fields, double time)
{
    size_t at = aliases_find(&reader->copies, fields[6]);

    if (at == ALIAS_UNKNOWN)
        return;
    reader->chart.copies[at].end = fmax(reader->chart.copies[at].start, time);
    reader->chart.copies[at].dst = aliases_find(&reader->nodes, fields[5]);
}

static int add_point(struct reader *reader, char **fields, double time)
{
    size_t at = aliases_find(&reader->nodes, fields[2]);
    struct paje_node *node;
    struct paje_point *point;
    double value;

    if (strcmp(fields[3], "use") != 0 || at == ALIAS_UNKNOWN)
        return 0;
    if (!paje_field_is_number(fields[4], &value))
        return -EINVAL;
    node = &reader->chart.nodes[at];
    point = orr_array_add(node->points, node->npoints);
    if (!point)
        return -ENOMEM;
    *point = (struct paje_point){time, value};
    if (value > node->peak)
        node->peak = value;
    return 0;
}

/* --- lines --- */

static void take_definition(struct reader *reader, char *line)
{
    char *fields[MAX_FIELDS];
    int n = paje_split_line(line, fields), event = n == 3 ? atoi(fields[2]) : 0;

    if (event < 1 || event >= FIRST_EVENT)
        return;
    if (!strcmp(fields[1], "PajeCreateContainer"))
        reader->meanings[event] = CONTAINER;
    else if (!strcmp(fields[1], "PajeSetState"))
        reader->meanings[event] = TASK;
    else if (event == VALUE && !strcmp(fields[1], "PajeDefineEntityValue"))
        reader->meanings[event] = VALUE;
}

/* One line of data. -EINVAL when it lacks fields. */
static int paje_read_line(struct reader *reader, char *line)
{
    char *fields[MAX_FIELDS];
    int n = paje_split_line(line, fields), event = atoi(fields[0]);
    const char *state = "WS";
    double time;

    if (event < FIRST_EVENT) {
        event = event > 0 ? reader->meanings[event] : 0;
        state = "S";
    }
    if (event == VALUE)
        return n >= 5 && !strcmp(fields[2], "WS")
                   ? paje_add_state_value(reader, fields)
                   : 0;
    if (event < FIRST_EVENT)
        return 0;
    if (n < 4 || !paje_field_is_number(fields[1], &time))
        return -EINVAL;
    reader->last = time;
    switch (event) {
    case CONTAINER:
        return n >= 6 ? add_container(reader, fields) : 0;
    case NO_TASK:
    case TASK:
        if (n < 5 || strcmp(fields[3], state) != 0)
            return 0;
        if (state[0] == 'S' && !strcmp(fields[4], "F"))
            event = NO_TASK;
        return paje_read_state(reader, event, fields, time);
    case VARIABLE:
        return n >= 5 ? add_point(reader, fields, time) : 0;
    case COPY_STARTS:
    case COPY_STARTS_LONG:
        return n >= 7 ? paje_start_copy(reader, fields, time) : 0;
    case COPY_ENDS:
        if (n >= 7)
            end_copy(reader, fields, time);
        return 0;
    default:
        return 0;
    }
}

/* --- the whole --- */

/* Copies that a run did not end are left out. */
static void drop_open_copies(struct paje_chart *chart)
{
    size_t n = 0;

    for (size_t c = 0; c < chart->ncopies; c++)
        if (chart->copies[c].dst < chart->nnodes)
            chart->copies[n++] = chart->copies[c];
    chart->ncopies = n;
}

static void chart_extend_span(struct paje_chart *chart, bool *begun,
                              double start, double end)
{
    if (!*begun || start < chart->start)
        chart->start = start;
    if (!*begun || end > chart->end)
        chart->end = end;
    *begun = true;
}

static void set_extent(struct paje_chart *chart)
{
    bool begun = false;

    for (size_t b = 0; b < chart->nboxes; b++)
        chart_extend_span(chart, &begun, chart->boxes[b].start,
                          chart->boxes[b].end);
    for (size_t c = 0; c < chart->ncopies; c++)
        chart_extend_span(chart, &begun, chart->copies[c].start,
                          chart->copies[c].end);
}

/* The first worker in a node, PAJE_NONE. */
static size_t first_worker_of_node(const struct paje_chart *chart, size_t node)
{
    size_t r = 0;

    while (r < chart->nrows && chart->rows[r].node != node)
        r++;
    return r < chart->nrows ? r : PAJE_NONE;
}

/* "CUDA0_0" computes in "CUDA0"; where CPUs do is main memory, which comes
 * before the memories of devices and has several nodes if NUMA nodes were used.
 * The file does not say what a node without workers is. */
static int chart_name_nodes(struct paje_chart *chart)
{
    size_t nram = 0;

    for (size_t n = 0; n < chart->nnodes; n++) {
        size_t r = first_worker_of_node(chart, n);

        if (r != PAJE_NONE && !strncmp(chart->rows[r].name, "CPU", 3))
            nram = n + 1;
    }
    for (size_t n = 0; n < chart->nnodes; n++) {
        size_t r = first_worker_of_node(chart, n);
        const char *worker = r == PAJE_NONE ? "" : chart->rows[r].name;
        char name[64];

        if (n == 0 && nram <= 1)
            snprintf(name, sizeof(name), "RAM");
        else if (n < nram)
            snprintf(name, sizeof(name), "NUMA %zu", n);
        else if (*worker)
            snprintf(name, sizeof(name), "%.*s",
                     (int)(strchr(worker, '_') ? strcspn(worker, "_")
                                               : sizeof(name) - 1),
                     worker);
        else
            continue;
        free(chart->nodes[n].name);
        chart->nodes[n].name = strdup(name);
        if (!chart->nodes[n].name)
            return -ENOMEM;
    }
    return 0;
}

static void reader_done(struct reader *reader)
{
    aliases_done(&reader->rows);
    aliases_done(&reader->threads);
    aliases_done(&reader->nodes);
    aliases_done(&reader->kernels);
    aliases_done(&reader->copies);
}

/* *ret_number: the line at fault. */
static int paje_read_lines(struct reader *reader, FILE *file, int *ret_number)
{
    char *line = NULL;
    size_t size = 0;
    int result = 0;

    *ret_number = 0;
    while (result == 0 && getline(&line, &size, file) >= 0) {
        ++*ret_number;
        if (line[0] != '%' && line[0] != '#' && line[0] != '\n')
            result = paje_read_line(reader, line);
        else if (!strncmp(line, "%EventDef\t", 10))
            take_definition(reader, line);
    }
    if (result == 0 && ferror(file))
        result = -EIO;
    free(line);
    return result;
}

int paje_chart_parse(FILE *file, const char *name, struct paje_chart *ret,
                     struct orr_error *err)
{
    struct reader reader = {0};
    struct paje_chart *chart = &reader.chart;
    int number, result = paje_read_lines(&reader, file, &number);

    for (size_t r = 0; r < chart->nrows; r++)
        close_box(chart, &chart->rows[r], reader.last);
    drop_open_copies(chart);
    set_extent(chart);
    if (result == 0)
        result = chart_name_nodes(chart);
    reader_done(&reader);
    if (result < 0) {
        paje_chart_done(chart);
        return orr_fail(err, result, "%s:%d: %s", name, number,
                        result == -EINVAL ? "not a line of a Pajé file"
                                          : strerror(-result));
    }
    *ret = *chart;
    return 0;
}

int paje_chart_read(const char *path, struct paje_chart *ret,
                    struct orr_error *err)
{
    FILE *file = fopen(path, "re");
    int result;

    if (!file)
        return orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    result = paje_chart_parse(file, path, ret, err);
    fclose(file);
    return result;
}

void paje_chart_done(struct paje_chart *chart)
{
    for (size_t r = 0; r < chart->nrows; r++)
        free(chart->rows[r].name);
    for (size_t k = 0; k < chart->nkernels; k++)
        free(chart->kernels[k].name);
    for (size_t n = 0; n < chart->nnodes; n++) {
        free(chart->nodes[n].name);
        free(chart->nodes[n].points);
    }
    free(chart->rows);
    free(chart->kernels);
    free(chart->boxes);
    free(chart->nodes);
    free(chart->copies);
    *chart = (struct paje_chart){0};
}
