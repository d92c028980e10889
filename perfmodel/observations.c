/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/observations.c - see observations.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/observations.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "perfmodel/disk.h"

void orr_observations_done(struct orr_observations *o)
{
    free(o->values);
    *o = (struct orr_observations){0};
}

/* Room for one more row. */
static int observations_reserve(struct orr_observations *o,
                                unsigned nparameters)
{
    if (o->n > 0 && o->nparameters != nparameters)
        return -EINVAL;
    o->nparameters = nparameters;
    return orr_grow(&o->values, &o->room,
                    (o->n + 1) * (1 + (size_t)nparameters), sizeof(*o->values));
}

int orr_observations_add(struct orr_observations *o, const double *parameters,
                         unsigned nparameters, double duration)
{
    double *row;
    int rc;

    if (o->n >= ORR_OBSERVATIONS_MAX)
        return 0;
    rc = observations_reserve(o, nparameters);
    if (rc)
        return rc;
    row = &o->values[o->n * (1 + (size_t)nparameters)];
    row[0] = duration;
    memcpy(row + 1, parameters, nparameters * sizeof(*row));
    o->n++;
    o->nfresh++;
    return 0;
}

/* --- reading --- */

/* Reads the numbers of one line into o. */
static int parse_row(const char *line, unsigned nparameters,
                     struct orr_observations *o)
{
    int rc = observations_reserve(o, nparameters);
    double *row;

    if (rc)
        return rc;
    row = &o->values[o->n * (1 + (size_t)nparameters)];
    for (unsigned i = 0; i <= nparameters; i++) {
        char *stop;

        row[i] = orr_strtod(line, &stop);
        if (stop == line || !isfinite(row[i]))
            return -EINVAL;
        line = stop;
        if (i < nparameters && *line++ != ',')
            return -EINVAL;
    }
    if (line[strspn(line, " \t\r")] != '\0')
        return -EINVAL;
    o->n++;
    return 0;
}

static int observations_parse(const char *path, char *text,
                              unsigned nparameters, struct orr_observations *o,
                              struct orr_error *err)
{
    unsigned number = 0;
    char *line;

    while ((line = strsep(&text, "\n"))) {
        int rc;

        if (++number == 1 || *line == '\0' || o->n >= ORR_OBSERVATIONS_MAX)
            continue; /* the first has the names */
        rc = parse_row(line, nparameters, o);
        if (rc == -EINVAL)
            return orr_fail(err, rc,
                            "%s:%u: expected a duration and %u parameters, "
                            "separated by commas. The file is not used; remove "
                            "it and measure again.",
                            path, number, nparameters);
        if (rc)
            return rc;
    }
    return 0;
}

int orr_observations_read(const char *path, unsigned nparameters,
                          struct orr_observations *o, struct orr_error *err)
{
    struct orr_observations read = {0};
    size_t size = 0, width = 1 + (size_t)nparameters;
    char *text = NULL;
    int fd, rc = orr_disk_open(path, O_RDONLY, &fd, err);

    if (rc)
        return rc;
    rc = orr_disk_read(fd, path, &text, &size, err);
    close(fd);
    if (rc)
        return rc;
    text[size] = '\0'; /* the reader leaves room for it */
    rc = observations_parse(path, text, nparameters, &read, err);
    free(text);
    for (unsigned i = 0; !rc && i < o->n; i++)
        rc = orr_observations_add(&read, &o->values[i * width + 1],
                                  o->nparameters, o->values[i * width]);
    if (rc) {
        orr_observations_done(&read);
        return rc == -ENOMEM ? orr_fail(err, rc, "%s: out of memory.", path)
                             : rc;
    }
    read.nfresh = o->nfresh;
    free(o->values);
    *o = read;
    return 0;
}

/* --- writing --- */

static void observations_print(FILE *f, const char *const *names,
                               const struct orr_observations *o)
{
    size_t width = 1 + (size_t)o->nparameters;

    fputs("Duration", f);
    for (unsigned i = 0; i < o->nparameters; i++)
        if (names && names[i] && names[i][0])
            fprintf(f, ", %s", names[i]);
        else
            fprintf(f, ", P%u", i);
    for (unsigned i = 0; i < o->n; i++) {
        orr_fprintf(f, "\n%f", o->values[i * width]);
        for (unsigned j = 1; j < width; j++)
            orr_fprintf(f, ", %f", o->values[i * width + j]);
    }
}

/* The text, for the caller to free(); NULL without memory. */
static char *observations_format(const char *const *names,
                                 const struct orr_observations *o,
                                 size_t *ret_size)
{
    char *text = NULL;
    bool failed;
    FILE *f;

    f = open_memstream(&text, ret_size);
    if (f) {
        observations_print(f, names, o);
        failed = ferror(f) != 0;
        if (fclose(f) || failed) {
            free(text);
            text = NULL;
        }
    }
    return text;
}

int orr_observations_write(const char *path, const char *const *names,
                           const struct orr_observations *o,
                           struct orr_error *err)
{
    size_t size = 0;
    char *text = observations_format(names, o, &size);
    int rc;

    if (!text)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", path);
    rc = orr_disk_replace(path, text, size, err);
    free(text);
    return rc;
}
