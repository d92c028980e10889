/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/bus/store.c - see store.h. No state. */
#include "core/device/bus/store.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu_config.h>

#include "core/base/number.h"
#include "perfmodel/disk.h"

/* ---- tables ---- */

unsigned orr_bus_counts_sum(const struct orr_bus_counts *counts)
{
    unsigned n = 0;

    for (int k = 0; k < ORR_BUS_NKINDS; k++)
        n += counts->nodes[k];
    return n;
}

bool orr_bus_counts_equal(const struct orr_bus_counts *a,
                          const struct orr_bus_counts *b)
{
    return a->ncpus == b->ncpus &&
           memcmp(a->nodes, b->nodes, sizeof(a->nodes)) == 0;
}

int orr_bus_tables_init(struct orr_bus_tables *tables,
                        const struct orr_bus_counts *counts)
{
    size_t n = orr_bus_counts_sum(counts);

    /* StarPU loses the last row and column. */
    if (n >= STARPU_MAXNODES)
        return -E2BIG;
    *tables = (struct orr_bus_tables){
        .counts = *counts,
        .n = (unsigned)n,
        .bandwidth = calloc(n * n + 1, sizeof(*tables->bandwidth)),
        .latency = calloc(n * n + 1, sizeof(*tables->latency)),
        .devices = calloc(n + 1, sizeof(*tables->devices)),
    };
    if (!tables->bandwidth || !tables->latency || !tables->devices) {
        orr_bus_tables_done(tables);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n * n; i++)
        if (i % (n + 1) != 0)
            tables->bandwidth[i] = tables->latency[i] = (double)NAN;
    return 0;
}

void orr_bus_tables_done(struct orr_bus_tables *tables)
{
    free(tables->bandwidth);
    free(tables->latency);
    free(tables->devices);
    *tables = (struct orr_bus_tables){0};
}

/* ---- places ---- */

static char *bus_file_path(const char *stem, const char *suffix)
{
    char *path;

    return asprintf(&path, "%s%s", stem, suffix) < 0 ? NULL : path;
}

int orr_bus_store_find(const char *const *dirs, const char *host, char **ret)
{
    char *stem;

    for (unsigned i = 0; dirs[i]; i++) {
        char *config;
        bool found;

        if (asprintf(&stem, "%s/bus/%s", dirs[i], host) < 0)
            return -ENOMEM;
        config = bus_file_path(stem, ".config");
        found = config && access(config, F_OK) == 0;
        free(config);
        if (found) {
            *ret = stem;
            return 0;
        }
        free(stem);
        if (!config)
            return -ENOMEM;
    }
    if (asprintf(&stem, "%s/bus/%s", dirs[0], host) < 0)
        return -ENOMEM;
    *ret = stem;
    return 0;
}

int orr_bus_store_lock(const char *stem, int *ret, struct orr_error *err)
{
    const char *slash = strrchr(stem, '/');
    char *dir = slash ? strndup(stem, (size_t)(slash - stem)) : strdup(".");
    char *path = NULL;
    int lock = -1, rc = -ENOMEM;

    if (dir)
        path = bus_file_path(dir, "/.orrery-lock");
    if (!path) {
        orr_fail(err, rc, "%s: out of memory.", stem);
        goto free_dir;
    }
    rc = orr_directory_make(dir, err);
    if (rc)
        goto free_dir;
    lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) {
        rc = orr_disk_fail(err, "the lock file cannot be opened", path);
        goto free_dir;
    }
    rc = orr_disk_lock(lock, F_WRLCK);
    if (rc) {
        close(lock);
        orr_fail(err, rc, "%s: cannot be locked: %s.", path, strerror(-rc));
    } else {
        *ret = lock;
    }
free_dir:
    free(path);
    free(dir);
    return rc;
}

void orr_bus_store_unlock(int lock)
{
    close(lock);
}

/* ---- reading ---- */

/* All of a file under StarPU's lock, as a string. */
static int bus_file_read(const char *path, char **ret, struct orr_error *err)
{
    size_t size;
    int fd, rc = orr_disk_open(path, O_RDONLY, &fd, err);

    if (rc)
        return rc;
    rc = orr_disk_lock(fd, F_RDLCK);
    if (rc)
        orr_fail(err, rc, "%s: cannot be locked: %s.", path, strerror(-rc));
    else
        rc = orr_disk_read(fd, path, ret, &size, err);
    if (rc == 0)
        (*ret)[size] = '\0'; /* there is room for it */
    close(fd);
    return rc;
}

/* A text that is read from line to line, comments passed over. */
struct reader {
    const char *path, *at;
    unsigned line;
};

static void skip_to_value(struct reader *r)
{
    for (;;) {
        while (isspace((unsigned char)*r->at))
            r->line += *r->at++ == '\n';
        if (*r->at != '#')
            return;
        r->at += strcspn(r->at, "\n");
    }
}

static int bus_file_wrong(const struct reader *r, const char *what,
                          struct orr_error *err)
{
    return orr_fail(err, -EINVAL, "%s:%u: %s.", r->path, r->line, what);
}

static int read_count(struct reader *r, unsigned *ret, struct orr_error *err)
{
    char *end;
    unsigned long value;

    skip_to_value(r);
    if (!*r->at)
        return -ENOENT;
    errno = 0;
    value = strtoul(r->at, &end, 10);
    if (end == r->at || *r->at == '-' || errno || value > 1u << 20)
        return bus_file_wrong(r, "a number of devices is expected", err);
    r->at = end;
    *ret = (unsigned)value;
    return 0;
}

/* Counts that are missing at the end are 0. */
static int parse_counts(struct reader *r, struct orr_bus_counts *ret,
                        struct orr_error *err)
{
    struct orr_bus_counts counts = {0};
    int rc = read_count(r, &counts.ncpus, err);

    if (rc == -ENOENT)
        return rc; /* empty: left by a process that was killed */
    for (int k = 0; k < ORR_BUS_NKINDS && rc == 0; k++)
        rc = read_count(r, &counts.nodes[k], err);
    if (rc < 0 && rc != -ENOENT)
        return rc;
    *ret = counts;
    return 0;
}

int orr_bus_store_counts(const char *stem, struct orr_bus_counts *ret,
                         struct orr_error *err)
{
    struct reader r = {.path = bus_file_path(stem, ".config"), .line = 1};
    char *text;
    int rc;

    if (!r.path)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", stem);
    rc = bus_file_read(r.path, &text, err);
    if (rc == 0) {
        r.at = text;
        rc = parse_counts(&r, ret, err);
        free(text);
    }
    free((char *)(uintptr_t)r.path);
    return rc;
}

static int bus_file_read_value(struct reader *r, double *ret,
                               struct orr_error *err)
{
    char *end;

    *ret = orr_strtod(r->at, &end);
    if (end == r->at || (*end != '\t' && *end != '\n'))
        return bus_file_wrong(
            r,
            "a number, followed at once by a tab or the end of the "
            "line, is expected",
            err);
    if (*ret < 0)
        return bus_file_wrong(r, "a negative value", err);
    r->at = end;
    return 0;
}

/* Columns beyond the nodes there are hold nothing of ours. */
static int read_row(struct reader *r, unsigned row, unsigned n, double *matrix,
                    struct orr_error *err)
{
    unsigned column;

    for (column = 0; *r->at && *r->at != '\n'; column++) {
        double value;
        int rc = bus_file_read_value(r, &value, err);

        if (rc)
            return rc;
        if (row < n && column < n && row != column)
            matrix[row * n + column] = value;
        r->at += *r->at == '\t';
    }
    if (row < n && column < n)
        return bus_file_wrong(r, "the line ends before the last memory node", err);
    return 0;
}

/* A file that was cut, by a full disk or a process that was killed, is wrong: without its last
 * lines speeds that were measured would be unknown. */
static int parse_matrix(struct reader *r, unsigned n, double *matrix,
                        struct orr_error *err)
{
    unsigned row;
    int rc = 0;

    skip_to_value(r);
    for (row = 0; *r->at && rc == 0; row++) {
        rc = read_row(r, row, n, matrix, err);
        skip_to_value(r);
    }
    if (rc == 0 && row < n)
        rc = bus_file_wrong(r, "the file ends before the last memory node", err);
    return rc;
}

static int read_matrix(const char *stem, const char *suffix, unsigned n,
                       double *matrix, struct orr_error *err)
{
    struct reader r = {.path = bus_file_path(stem, suffix), .line = 1};
    char *text;
    int rc;

    if (!r.path)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", stem);
    rc = bus_file_read(r.path, &text, err);
    if (rc == 0) {
        r.at = text;
        rc = parse_matrix(&r, n, matrix, err);
        free(text);
    }
    free((char *)(uintptr_t)r.path);
    return rc;
}

int orr_bus_store_read(const char *stem, struct orr_bus_tables *tables,
                       struct orr_error *err)
{
    struct orr_bus_tables fresh;
    int rc = orr_bus_tables_init(&fresh, &tables->counts);

    if (rc)
        return orr_fail(err, rc, "%s: %s.", stem, strerror(-rc));
    rc = read_matrix(stem, ".bandwidth", fresh.n, fresh.bandwidth, err);
    if (rc == 0)
        rc = read_matrix(stem, ".latency", fresh.n, fresh.latency, err);
    if (rc == 0) {
        size_t size = sizeof(double) * fresh.n * fresh.n;

        memcpy(tables->bandwidth, fresh.bandwidth, size);
        memcpy(tables->latency, fresh.latency, size);
    }
    orr_bus_tables_done(&fresh);
    return rc;
}

/* ---- writing ---- */

void orr_bus_print_matrix(FILE *out, const struct orr_bus_tables *tables,
                          const double *matrix)
{
    const char *before = "# ";

    for (int k = 0; k < ORR_BUS_NKINDS; k++)
        for (unsigned i = 0; i < tables->counts.nodes[k]; i++) {
            fprintf(out, "%sto %s %u", before, orr_bus_kinds[k].name, i);
            before = "\t";
        }
    fputc('\n', out);
    for (unsigned row = 0; row < STARPU_MAXNODES; row++)
        for (unsigned column = 0; column < STARPU_MAXNODES; column++) {
            bool known = row < tables->n && column < tables->n;
            double value =
                known ? matrix[row * tables->n + column] : (double)NAN;

            /* printf has a sign for NaN */
            if (isnan(value))
                fputs("nan", out);
            else
                orr_fprintf(out, "%e", value);
            fputc(column + 1 < STARPU_MAXNODES ? '\t' : '\n', out);
        }
}

/* The distance of a device from a node as the affinity file has it: the sum of
 * the squared times of a byte there and back; unknown ones are infinite. */
static double node_device_distance(const struct orr_bus_tables *tables,
                                   unsigned node, unsigned device)
{
    double there = 1 / tables->bandwidth[node * tables->n + device];
    double back = 1 / tables->bandwidth[device * tables->n + node];
    double sum = there * there + back * back;

    return isnan(sum) ? (double)INFINITY : sum;
}

static void print_near(FILE *out, const struct orr_bus_tables *tables,
                       unsigned device, unsigned number)
{
    unsigned nmemories = tables->counts.nodes[ORR_BUS_NUMA];
    bool seen[STARPU_MAXNODES] = {false};

    fprintf(out, "%u\t", number);
    for (unsigned k = 0; k < nmemories; k++) {
        unsigned best = nmemories;

        for (unsigned i = 0; i < nmemories; i++)
            if (!seen[i] && (best == nmemories ||
                             node_device_distance(tables, i, device) <
                                 node_device_distance(tables, best, device)))
                best = i;
        seen[best] = true;
        fprintf(out, "%u\t", best);
    }
    fputc('\n', out);
}

void orr_bus_print_affinity(FILE *out, const struct orr_bus_tables *tables)
{
    const struct orr_bus_counts *counts = &tables->counts;
    unsigned device = counts->nodes[ORR_BUS_NUMA];

    fputs("# GPU\t", out);
    for (unsigned i = 0; i < counts->nodes[ORR_BUS_NUMA]; i++)
        fprintf(out, "NUMA%u\t", i);
    fputc('\n', out);
    for (int k = ORR_BUS_NUMA + 1; k < ORR_BUS_NKINDS; k++)
        for (unsigned i = 0; i < counts->nodes[k]; i++)
            print_near(out, tables, device++, i);
}

void orr_bus_print_config(FILE *out, const struct orr_bus_counts *counts)
{
    fprintf(out, "# What the machine has\n%u # processors\n", counts->ncpus);
    for (int k = 0; k < ORR_BUS_NKINDS; k++)
        fprintf(out, "%u # %s\n", counts->nodes[k], orr_bus_kinds[k].words);
}

/* One of the files, by its place in the list. */
static void print_file(FILE *out, const struct orr_bus_tables *tables, int file)
{
    switch (file) {
    case 0:
        orr_bus_print_affinity(out, tables);
        break;
    case 1:
        orr_bus_print_matrix(out, tables, tables->latency);
        break;
    case 2:
        orr_bus_print_matrix(out, tables, tables->bandwidth);
        break;
    case 3:
        orr_bus_print_platform(out, tables, false);
        break;
    case 4:
        orr_bus_print_platform(out, tables, true);
        break;
    default:
        orr_bus_print_config(out, &tables->counts);
    }
}

static int bus_file_write(const char *stem, const char *suffix,
                          const struct orr_bus_tables *tables, int file,
                          struct orr_error *err)
{
    char *path = bus_file_path(stem, suffix), *text = NULL;
    size_t size = 0;
    FILE *out = path ? open_memstream(&text, &size) : NULL;
    int rc = -ENOMEM;

    if (out) {
        print_file(out, tables, file);
        rc = fclose(out) == 0 ? 0 : -ENOMEM;
    }
    if (rc < 0)
        orr_fail(err, rc, "%s%s: out of memory.", stem, suffix);
    else
        rc = orr_disk_replace(path, text, size, err);
    free(text);
    free(path);
    return rc;
}

int orr_bus_store_write(const char *stem, const struct orr_bus_tables *tables,
                        struct orr_error *err)
{
    static const char *const suffixes[] = {".affinity",        ".latency",
                                           ".bandwidth",       ".platform.xml",
                                           ".platform.v4.xml", ".config"};
    int rc = 0;

    for (int i = 0; i < 6 && rc == 0; i++)
        rc = bus_file_write(stem, suffixes[i], tables, i, err);
    return rc;
}
