/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/bus_files.c - see bus_files.h. No state. */
#include "platforms/bus_files.h"

#include "core/base/result.h"
#include "platforms/units.h"
#include "platforms/whole_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_FILE   (16u << 20)
#define MAX_LABELS 4096

/* ---- from routes ---- */

static int desc_node_of_host(const struct orr_machine_desc *desc, unsigned host)
{
    int number;

    if (strcmp(desc->hosts[host].id, "RAM") == 0)
        return 0;
    number = orr_host_desc_number(&desc->hosts[host], "CUDA");
    if (number >= 0)
        return 1 + number;
    number = orr_host_desc_number(&desc->hosts[host], "OpenCL");
    return number >= 0 ? 1 + (int)desc->ncuda + number : -1;
}

/* `uses` has a 0 for each link, and so again afterwards. */
static void route_parameters(const struct orr_machine_desc *desc,
                             const struct orr_route_desc *route, unsigned *uses,
                             double *ret_bandwidth, double *ret_latency)
{
    double slowest = INFINITY, latency = 0;

    for (unsigned i = 0; i < route->nhops; i++) {
        const struct orr_link_desc *link = &desc->links[route->hops[i].link];
        unsigned n = ++uses[route->hops[i].link];
        double bandwidth = link->bandwidth;

        if (link->sharing == ORR_LINK_SHARED)
            bandwidth /= n;
        slowest = fmin(slowest, bandwidth);
        latency += link->latency;
    }
    for (unsigned i = 0; i < route->nhops; i++)
        uses[route->hops[i].link] = 0;
    *ret_bandwidth = slowest / 1e6;
    *ret_latency = latency * 1e6;
}

static void fill_through_ram(unsigned n, double *bandwidth, double *latency)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = 1; j < n; j++) {
            size_t at = (size_t)i * n + j, up = (size_t)i * n, down = j;

            if (i == j || !isnan(bandwidth[at]))
                continue;
            bandwidth[at] = 1 / (1 / bandwidth[up] + 1 / bandwidth[down]);
            latency[at] = latency[up] + latency[down];
        }
}

/* `place` has for each host its row and column, or -1. */
static void fill_from_routes(const struct orr_machine_desc *desc,
                             const int *place, size_t n, unsigned *uses,
                             double *bandwidth, double *latency)
{
    for (size_t i = 0; i < n * n; i++)
        bandwidth[i] = latency[i] = i % (n + 1) == 0 ? 0 : (double)NAN;
    for (unsigned i = 0; i < desc->nroutes; i++) {
        int src = place[desc->routes[i].src];
        int dst = place[desc->routes[i].dst];
        size_t at;

        if (src < 0 || dst < 0 || src == dst)
            continue;
        at = (size_t)src * n + (size_t)dst;
        route_parameters(desc, &desc->routes[i], uses, &bandwidth[at],
                         &latency[at]);
    }
}

int orr_bus_among(const struct orr_machine_desc *desc, const int *place,
                  unsigned n, double *bandwidth, double *latency)
{
    unsigned *uses = calloc(desc->nlinks + (size_t)1, sizeof(*uses));

    if (!uses)
        return -ENOMEM;
    fill_from_routes(desc, place, n, uses, bandwidth, latency);
    free(uses);
    return 0;
}

int orr_bus_of_route(const struct orr_machine_desc *desc, unsigned src,
                     unsigned dst, double *ret_bandwidth, double *ret_latency)
{
    int route = orr_machine_desc_route(desc, src, dst);
    unsigned *uses;

    if (route < 0)
        return -ENOENT;
    uses = calloc(desc->nlinks + (size_t)1, sizeof(*uses));
    if (!uses)
        return -ENOMEM;
    route_parameters(desc, &desc->routes[route], uses, ret_bandwidth,
                     ret_latency);
    free(uses);
    return 0;
}

int orr_bus_derive(struct orr_machine_desc *desc)
{
    unsigned n = 1 + desc->ncuda + desc->nopencl;
    double *bandwidth = calloc((size_t)n * n, sizeof(*bandwidth));
    double *latency = calloc((size_t)n * n, sizeof(*latency));
    int *place = calloc(desc->nhosts + (size_t)1, sizeof(*place));
    int rc = -ENOMEM;

    if (!bandwidth || !latency || !place)
        goto out;
    for (unsigned h = 0; h < desc->nhosts; h++)
        place[h] = desc_node_of_host(desc, h);
    rc = orr_bus_among(desc, place, n, bandwidth, latency);
    if (rc < 0)
        goto out;
    fill_through_ram(n, bandwidth, latency);
    free(desc->bandwidth);
    free(desc->latency);
    desc->nnodes = n;
    desc->bandwidth = bandwidth;
    desc->latency = latency;
    desc->bus_measured = false;
    bandwidth = latency = NULL;
out:
    free(bandwidth);
    free(latency);
    free(place);
    return rc;
}

/* ---- reading ---- */

struct matrix_reader {
    const struct orr_machine_desc *desc;
    const char *path;
    const char *at, *end; /* *end is 0 */
    unsigned line;
    struct orr_error *err;
    double *values; /* nnodes × nnodes */
    struct orr_bus_shape shape;
    /* Node of each column and row when a comment names them. */
    int *labels;
    unsigned nlabels;
};

static int matrix_bad(const struct matrix_reader *r, const char *reason)
{
    return orr_fail(r->err, -EINVAL,
                    "%s:%u: %s. Correct it, or remove the file and its "
                    "counterpart to use the bandwidths and latencies of the "
                    "platform's routes",
                    r->path, r->line, reason);
}

/* The node that "to CUDA 1" means, -1 for those we do not have. */
static int label_node(const struct orr_machine_desc *desc, const char *label)
{
    char kind[16];
    unsigned number;

    if (sscanf(label, "to %15s %u", kind, &number) != 2)
        return -1;
    if (strcmp(kind, "NUMA") == 0)
        return number == 0 ? 0 : -1;
    if (strcmp(kind, "CUDA") == 0 && number < desc->ncuda)
        return (int)(1 + number);
    if (strcmp(kind, "OpenCL") == 0 && number < desc->nopencl)
        return (int)(1 + desc->ncuda + number);
    return -1;
}

static int read_labels(struct matrix_reader *r, const char *from,
                       const char *to)
{
    char label[40];

    r->labels = calloc(MAX_LABELS, sizeof(*r->labels));
    if (!r->labels)
        return -ENOMEM;
    while (from < to && r->nlabels < MAX_LABELS) {
        const char *tab = memchr(from, '\t', (size_t)(to - from));
        size_t length = (size_t)((tab ? tab : to) - from);

        snprintf(label, sizeof(label), "%.*s", (int)(length < 39 ? length : 39),
                 from);
        if (length > 0)
            r->labels[r->nlabels++] = label_node(r->desc, label);
        from += length + 1;
    }
    return 0;
}

/* Passes comments and blank lines. Returns 1 at a row, 0 at the end. */
static int skip_to_row(struct matrix_reader *r)
{
    static const char names[] = "# to NUMA ";

    while (r->at < r->end) {
        const char *text = r->at + strspn(r->at, " \t\n");
        const char *eol;

        for (; r->at < text; r->at++)
            r->line += *r->at == '\n';
        if (*text != '#')
            break;
        eol = memchr(text, '\n', (size_t)(r->end - text));
        if (!eol)
            eol = r->end;
        if (!r->labels && strncmp(text, names, sizeof(names) - 1) == 0 &&
            read_labels(r, text + 2, eol))
            return -ENOMEM;
        r->at = eol;
    }
    return r->at < r->end;
}

static int matrix_read_value(struct matrix_reader *r, double *ret)
{
    char text[64];
    size_t length;

    r->at += strspn(r->at, " \t");
    length = strcspn(r->at, "\t\n");
    if (length == 0 || length >= sizeof(text))
        return matrix_bad(r, "a number is expected");
    if (r->at + length >= r->end)
        return matrix_bad(r, "the file ends inside a row");
    memcpy(text, r->at, length);
    text[length] = '\0';
    r->at += length;
    if (strcasecmp(text, "nan") == 0 || strcasecmp(text, "-nan") == 0) {
        *ret = (double)NAN;
        return 0;
    }
    if (orr_number_parse(text, ret))
        return matrix_bad(
            r, "a number, followed at once by a tab or the end of the "
               "line, is expected");
    return *ret < 0 ? matrix_bad(r, "a negative value") : 0;
}

static int matrix_node_at(const struct matrix_reader *r, unsigned index)
{
    if (r->labels)
        return index < r->nlabels ? r->labels[index] : -1;
    return index < r->desc->nnodes ? (int)index : -1;
}

static void note_value(struct orr_bus_shape *shape, unsigned row,
                       unsigned column, double value)
{
    if (row >= shape->all_rows)
        shape->all_rows = row + 1;
    if (column >= shape->all_columns)
        shape->all_columns = column + 1;
    if (isnan(value))
        return;
    if (row >= shape->rows)
        shape->rows = row + 1;
    if (column >= shape->columns)
        shape->columns = column + 1;
}

static int matrix_read_row(struct matrix_reader *r, unsigned row)
{
    int src = matrix_node_at(r, row);
    double value;

    for (unsigned column = 0;; column++) {
        int dst = matrix_node_at(r, column);
        int rc = matrix_read_value(r, &value);

        if (rc)
            return rc;
        if (src >= 0 && dst >= 0)
            r->values[(size_t)src * r->desc->nnodes + (size_t)dst] = value;
        note_value(&r->shape, row, column, value);
        if (*r->at == '\t')
            r->at++;
        if (*r->at == '\n') {
            r->at++;
            r->line++;
            return 0;
        }
    }
}

static int matrix_read_rows(struct matrix_reader *r)
{
    unsigned row = 0;
    int rc = 0;

    while (rc == 0) {
        rc = skip_to_row(r);
        if (rc <= 0)
            return rc;
        rc = matrix_read_row(r, row++);
    }
    return rc;
}

static int parse_bus_matrix(const struct orr_machine_desc *desc,
                            const char *path, const char *text, size_t size,
                            double *matrix, struct orr_bus_shape *shape,
                            struct orr_error *err)
{
    size_t n = (size_t)desc->nnodes * desc->nnodes;
    struct matrix_reader r = {.desc = desc,
                              .path = path,
                              .at = text,
                              .end = text + size,
                              .line = 1,
                              .err = err};
    int rc;

    if (memchr(text, '\0', size))
        return matrix_bad(&r, "not a text file");
    r.values = malloc(n * sizeof(*r.values));
    if (!r.values)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    for (size_t i = 0; i < n; i++)
        r.values[i] = (double)NAN;
    rc = matrix_read_rows(&r);
    *shape = r.shape;
    if (rc == 0)
        memcpy(matrix, r.values, n * sizeof(*matrix));
    else if (rc == -ENOMEM)
        orr_fail(err, rc, "%s: out of memory", path);
    free(r.labels);
    free(r.values);
    return rc;
}

int orr_bus_matrix_parse(const struct orr_machine_desc *desc, const char *path,
                         const char *text, size_t size, double *matrix,
                         struct orr_error *err)
{
    struct orr_bus_shape shape;

    return parse_bus_matrix(desc, path, text, size, matrix, &shape, err);
}

int orr_bus_matrix_shape(const char *path, const char *text, size_t size,
                         struct orr_bus_shape *ret, struct orr_error *err)
{
    const struct orr_machine_desc one_node = {.nnodes = 1};
    double ignored;
    struct orr_bus_shape shape;
    int rc =
        parse_bus_matrix(&one_node, path, text, size, &ignored, &shape, err);

    if (rc == 0)
        *ret = shape;
    return rc;
}

static int file_beside_stem(const char *stem, const char *suffix, char **ret)
{
    size_t room = strlen(stem) + strlen(suffix) + 1;
    char *path = malloc(room);

    if (!path)
        return -ENOMEM;
    snprintf(path, room, "%s%s", stem, suffix);
    *ret = path;
    return 0;
}

static int read_one(const struct orr_machine_desc *desc, const char *path,
                    double **ret, struct orr_error *err)
{
    double *matrix;
    char *text;
    size_t size;
    int rc = orr_file_read(path, MAX_FILE, &text, &size, err);

    if (rc)
        return rc;
    matrix = malloc((size_t)desc->nnodes * desc->nnodes * sizeof(*matrix));
    if (!matrix)
        rc = orr_fail(err, -ENOMEM, "%s: out of memory", path);
    else
        rc = orr_bus_matrix_parse(desc, path, text, size, matrix, err);
    free(text);
    if (rc)
        free(matrix);
    else
        *ret = matrix;
    return rc;
}

static int read_both(struct orr_machine_desc *desc, const char *bandwidth_path,
                     const char *latency_path, struct orr_error *err)
{
    double *bandwidth, *latency;
    int rc = read_one(desc, bandwidth_path, &bandwidth, err);

    if (rc)
        return rc;
    rc = read_one(desc, latency_path, &latency, err);
    if (rc) {
        free(bandwidth);
        return rc;
    }
    for (unsigned i = 0; i < desc->nnodes; i++) {
        bandwidth[(size_t)i * desc->nnodes + i] = 0;
        latency[(size_t)i * desc->nnodes + i] = 0;
    }
    free(desc->bandwidth);
    free(desc->latency);
    desc->bandwidth = bandwidth;
    desc->latency = latency;
    desc->bus_measured = true;
    return 0;
}

int orr_bus_read_beside(struct orr_machine_desc *desc, const char *stem,
                        struct orr_error *err)
{
    char *bandwidth = NULL, *latency = NULL;
    int rc = 0;

    if (file_beside_stem(stem, ".bandwidth", &bandwidth) ||
        file_beside_stem(stem, ".latency", &latency))
        rc = orr_fail(err, -ENOMEM, "%s: out of memory", stem);
    else if (access(bandwidth, F_OK) == 0 && access(latency, F_OK) == 0)
        rc = read_both(desc, bandwidth, latency, err);
    free(bandwidth);
    free(latency);
    return rc;
}

/* ---- writing ---- */

void orr_bus_matrix_print(const struct orr_machine_desc *desc,
                          const double *matrix, FILE *out)
{
    unsigned n = desc->nnodes;
    char number[ORR_NUMBER_MAX];

    fprintf(out, "# to NUMA 0");
    for (unsigned i = 0; i < desc->ncuda; i++)
        fprintf(out, "\tto CUDA %u", i);
    for (unsigned i = 0; i < desc->nopencl; i++)
        fprintf(out, "\tto OpenCL %u", i);
    /* One more column and row: StarPU takes the last ones for unknown. */
    for (unsigned i = 0; i <= n; i++)
        for (unsigned j = 0; j <= n; j++) {
            double value =
                i < n && j < n ? matrix[(size_t)i * n + j] : (double)NAN;

            orr_number_print(value, number);
            fprintf(out, "%c%s", j ? '\t' : '\n',
                    isnan(value) ? "nan" : number);
        }
    fputc('\n', out);
}

static int write_one(const struct orr_machine_desc *desc, const char *path,
                     const double *matrix, struct orr_error *err)
{
    struct orr_result file;
    int rc = orr_result_open(path, &file);

    if (rc == 0) {
        file.durable = true;
        orr_bus_matrix_print(desc, matrix, file.file);
        rc = orr_result_close(&file, 0);
    }
    return rc ? orr_fail(err, rc, "%s: cannot be written: %s", path, strerror(-rc)) : 0;
}

int orr_bus_write_beside(const struct orr_machine_desc *desc, const char *stem,
                         struct orr_error *err)
{
    char *bandwidth = NULL, *latency = NULL;
    int rc = 0;

    if (file_beside_stem(stem, ".bandwidth", &bandwidth) ||
        file_beside_stem(stem, ".latency", &latency))
        rc = orr_fail(err, -ENOMEM, "%s: out of memory", stem);
    else if (!desc->bus_measured &&
             (access(bandwidth, F_OK) == 0 || access(latency, F_OK) == 0))
        rc = orr_fail(err, -EEXIST,
                      "%s.bandwidth and .latency are of another machine: "
                      "remove them or write to another name",
                      stem);
    if (rc == 0 && desc->bus_measured)
        rc = write_one(desc, bandwidth, desc->bandwidth, err);
    if (rc == 0 && desc->bus_measured)
        rc = write_one(desc, latency, desc->latency, err);
    free(bandwidth);
    free(latency);
    return rc;
}
