/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/store_parse.c - the reader of version-45 model files. No threads,
 * no files: text in, plain data or a message with file and line out.
 *
 * It is a little more patient than the grammar: blanks and comments may stand
 * wherever a number may begin, except inside a row. It is stricter in that
 * nothing may follow the last comb: such text would be lost when the file is
 * written again.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "core/base/number.h"
#include "perfmodel/store.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>


#define TOKEN_MAX 64 /* longer ones are no numbers */

struct reader {
    const char *name;
    const char *at, *end;
    unsigned line;
    struct orr_error *err;
};

#define REMEDY                                                                 \
    "The file is left as it is: repair it, or remove it and calibrate again "  \
    "(STARPU_CALIBRATE=1)."

static bool is_model_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Goes to the next character that is neither blank nor in a comment. */
static void skip_blanks_and_comments(struct reader *r)
{
    while (r->at < r->end) {
        if (*r->at == '#') {
            const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));

            r->at = stop ? stop : r->end;
        } else if (*r->at == '\n') {
            r->line++;
            r->at++;
        } else if (is_model_blank(*r->at)) {
            r->at++;
        } else {
            return;
        }
    }
}

/* The length of the token at r->at. */
static size_t token_length(const struct reader *r)
{
    const char *stop = r->at;

    while (stop < r->end && !is_model_blank(*stop) && *stop != '\n' &&
           *stop != '#')
        stop++;
    return (size_t)(stop - r->at);
}

/* Copies the token at r->at, cut to what fits, with its odd bytes replaced so
 * that it can be shown. */
static void token_show(const struct reader *r, char show[TOKEN_MAX])
{
    size_t length = token_length(r);

    if (length >= TOKEN_MAX)
        length = TOKEN_MAX - 1;
    for (size_t i = 0; i < length; i++)
        show[i] = r->at[i] > ' ' && r->at[i] < 127 ? r->at[i] : '?';
    show[length] = '\0';
}

static int model_expected(const struct reader *r, const char *what)
{
    char show[TOKEN_MAX];

    if (r->at == r->end)
        return orr_fail(r->err, -EINVAL,
                        "%s:%u: the file ends where %s should be. " REMEDY,
                        r->name, r->line, what);
    token_show(r, show);
    return orr_fail(r->err, -EINVAL,
                    "%s:%u: expected %s, found \"%s\". " REMEDY, r->name,
                    r->line, what, show);
}

/* Copies the token at r->at without moving; false when it cannot be a number.
 */
static bool token_copy(const struct reader *r, char token[TOKEN_MAX])
{
    size_t length = token_length(r);

    if (length == 0 || length >= TOKEN_MAX)
        return false;
    memcpy(token, r->at, length);
    token[length] = '\0';
    return strlen(token) == length;
}

/* The three below read the token at r->at, and step over it on success. */

static int model_read_real(struct reader *r, const char *what, double *ret)
{
    char token[TOKEN_MAX], *stop = NULL;
    double value = 0;

    if (token_copy(r, token))
        value = orr_strtod(token, &stop);
    if (!stop || *stop)
        return model_expected(r, what);
    r->at += strlen(token);
    *ret = value;
    return 0;
}

static int model_read_count(struct reader *r, const char *what, int base,
                            uint64_t most, uint64_t *ret)
{
    char token[TOKEN_MAX], *stop = NULL;
    unsigned long long value = 0;

    errno = 0;
    if (token_copy(r, token) && token[0] != '-')
        value = strtoull(token, &stop, base);
    if (!stop || *stop || errno || value > most)
        return model_expected(r, what);
    r->at += strlen(token);
    *ret = value;
    return 0;
}

static int model_read_int(struct reader *r, const char *what, int *ret)
{
    uint64_t value;
    int rc;

    skip_blanks_and_comments(r);
    rc = model_read_count(r, what, 10, INT_MAX, &value);
    if (!rc)
        *ret = (int)value;
    return rc;
}

static int read_unsigned(struct reader *r, const char *what, unsigned *ret)
{
    uint64_t value;
    int rc;

    skip_blanks_and_comments(r);
    rc = model_read_count(r, what, 10, UINT_MAX, &value);
    if (!rc)
        *ret = (unsigned)value;
    return rc;
}

static int read_size(struct reader *r, const char *what, uint64_t *ret)
{
    skip_blanks_and_comments(r);
    return model_read_count(r, what, 10, UINT64_MAX, ret);
}

static int model_read_value(struct reader *r, const char *what, double *ret)
{
    skip_blanks_and_comments(r);
    return model_read_real(r, what, ret);
}

/* Blanks within a row; comments end it. */
static void model_skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_model_blank(*r->at))
        r->at++;
}

/* How many fields there are from r->at to the end of its line. */
static unsigned row_fields(const struct reader *r)
{
    struct reader ahead = *r;
    unsigned n = 0;

    for (model_skip_blanks(&ahead); token_length(&ahead) > 0;
         model_skip_blanks(&ahead)) {
        ahead.at += token_length(&ahead);
        n++;
    }
    return n;
}

/* Reads a field of a row that must not be negative; NaN is not. */
static int read_measure(struct reader *r, const char *what, double *ret)
{
    struct reader before;
    int rc;

    model_skip_blanks(r);
    before = *r;
    rc = model_read_real(r, what, ret);
    if (!rc && *ret < 0)
        return model_expected(&before, what);
    return rc;
}

static int read_row_fields(struct reader *r, bool has_flops,
                           struct orr_model_row *row)
{
    struct {
        const char *what;
        double *value;
    } reals[] = {
        {"the flops of a row, not negative", &row->flops},
        {"the mean of a row, not negative", &row->mean},
        {"the standard deviation of a row, not negative", &row->dev},
        {"the sum of a row, not negative", &row->sum},
        {"the sum of squares of a row, not negative", &row->sum2},
    };
    uint64_t value;
    int rc;

    rc = model_read_count(r, "a footprint of hex digits", 16, UINT32_MAX,
                          &value);
    if (rc)
        return rc;
    row->hash = (uint32_t)value;
    model_skip_blanks(r);
    rc = model_read_count(r, "the size of a row", 10, UINT64_MAX, &row->size);
    for (unsigned i = has_flops ? 0 : 1; !rc && i < 5; i++)
        rc = read_measure(r, reals[i].what, reals[i].value);
    if (rc)
        return rc;
    model_skip_blanks(r);
    rc = model_read_count(r, "the number of samples of a row", 10, UINT32_MAX,
                          &value);
    row->n = (uint32_t)value;
    return rc;
}

/* A row ends with its line: without that, its last number may be half of one,
 * and a row without flops the better part of one with. */
static int read_row_end(struct reader *r)
{
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));

    if (stop)
        return 0;
    return orr_fail(r->err, -EINVAL,
                    "%s:%u: the file ends within a row. " REMEDY, r->name,
                    r->line);
}

/* Whether a comment is "# origin: measured", maybe with "ranged" behind it. */
static bool read_formal_origin(const char *line, enum orr_origin *ret,
                               bool *ret_ranged)
{
    static const char key[] = "origin:";

    line += strspn(line, "# \t");
    if (strncmp(line, key, sizeof(key) - 1) != 0)
        return false;
    line += sizeof(key) - 1;
    line += strspn(line, " \t");
    *ret = orr_origin_find(line);
    line += strcspn(line, " \t\r\n");
    line += strspn(line, " \t");
    *ret_ranged = *ret != ORR_ORIGIN_UNKNOWN && !strncmp(line, "ranged", 6);
    return true;
}

/* The comments on lines of their own before a row: a text that ends within one has no
 * row behind it. */
static void read_row_origin(const struct reader *r, struct orr_model_row *row)
{
    /* What is left of the line of the row before. */
    const char *at = memchr(r->at, '\n', (size_t)(r->end - r->at));

    while (at && ++at < r->end &&
           (*at == '#' || *at == '\n' || is_model_blank(*at))) {
        const char *stop = memchr(at, '\n', (size_t)(r->end - at));

        if (stop && *at == '#')
            (void)read_formal_origin(at, &row->origin, &row->ranged);
        at = stop;
    }
}

static int model_read_row(struct reader *r, struct orr_model_impl *impl)
{
    struct orr_model_row row = {0};
    unsigned fields;
    int rc;

    read_row_origin(r, &row);
    skip_blanks_and_comments(r);
    if (r->at == r->end)
        return model_expected(r, "a row");
    fields = row_fields(r);
    /* Files without flops, from before that column was added, have 7. */
    if (fields != 7 && fields != 8)
        return orr_fail(r->err, -EINVAL,
                        "%s:%u: a row has 8 fields (hash size flops mean dev "
                        "sum sum2 n), this one %u. " REMEDY,
                        r->name, r->line, fields);
    rc = read_row_end(r);
    if (!rc)
        rc = read_row_fields(r, fields == 8, &row);
    if (!rc)
        rc = orr_model_impl_add_row(impl, &row);
    return rc;
}

static int read_coefficients(struct reader *r, struct orr_model_fit *fit)
{
    unsigned count = 0;
    int rc = read_unsigned(r, "the number of coefficients", &count);

    if (rc || count == 0)
        return rc;
    /* Each takes two characters at least, so that a wrong count cannot cause an
     * allocation of more than a few times the file. */
    if (count > (size_t)(r->end - r->at) / 2)
        return orr_fail(
            r->err, -EINVAL,
            "%s:%u: the file is too short for %u coefficients. " REMEDY,
            r->name, r->line, count);
    fit->coeff = malloc(count * sizeof(*fit->coeff));
    if (!fit->coeff)
        return -ENOMEM;
    while (!rc && fit->ncoeff < count) {
        rc = model_read_value(r, "a coefficient", &fit->coeff[fit->ncoeff]);
        fit->ncoeff += !rc;
    }
    return rc;
}

static int read_fit(struct reader *r, struct orr_model_fit *fit)
{
    double *sums[] = {&fit->sumlnx,    &fit->sumlnx2, &fit->sumlny,
                      &fit->sumlnxlny, &fit->alpha,   &fit->beta};
    double *abc[] = {&fit->a, &fit->b, &fit->c};
    int rc = 0;

    for (unsigned i = 0; !rc && i < 6; i++)
        rc = model_read_value(r, "a value of the regression alpha*x^beta",
                              sums[i]);
    if (!rc)
        rc = read_unsigned(r, "the regression's number of samples", &fit->n);
    if (!rc)
        rc = read_size(r, "the regression's smallest size", &fit->minx);
    if (!rc)
        rc = read_size(r, "the regression's largest size", &fit->maxx);
    for (unsigned i = 0; !rc && i < 3; i++)
        rc = model_read_value(r, "a value of the regression a*x^b+c", abc[i]);
    return rc ? rc : read_coefficients(r, fit);
}

static int read_impl(struct reader *r, struct orr_model_impl *impl)
{
    unsigned nrows = 0;
    int rc = read_unsigned(r, "the number of entries", &nrows);

    if (!rc)
        rc = read_fit(r, &impl->fit);
    for (unsigned i = 0; !rc && i < nrows; i++)
        rc = model_read_row(r, impl);
    return rc;
}

static int read_device(struct reader *r, struct orr_device *device)
{
    int rc = model_read_int(r, "a device type", &device->type);

    if (!rc)
        rc = model_read_int(r, "a device number", &device->devid);
    if (!rc)
        rc = model_read_int(r, "a number of cores", &device->ncores);
    return rc;
}

static int read_devices(struct reader *r, struct orr_device **ret,
                        unsigned *ret_count)
{
    struct orr_device *devices;
    unsigned count = 0;
    int rc = read_unsigned(r, "the number of devices", &count);

    if (rc)
        return rc;
    /* Three numbers each, with separators: six characters. */
    if (count == 0 || count > (size_t)(r->end - r->at) / 6 + 1)
        return orr_fail(
            r->err, -EINVAL,
            "%s:%u: a combination cannot have %u devices here. " REMEDY,
            r->name, r->line, count);
    devices = malloc(count * sizeof(*devices));
    if (!devices)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < count; i++)
        rc = read_device(r, &devices[i]);
    if (rc) {
        free(devices);
        return rc;
    }
    *ret = devices;
    *ret_count = count;
    return 0;
}

static int read_comb(struct reader *r, struct orr_model_file *file)
{
    struct orr_device *devices = NULL;
    struct orr_model_comb *comb = NULL;
    unsigned ndevices = 0, nimpls = 0;
    int rc = read_devices(r, &devices, &ndevices);

    if (rc)
        return rc;
    rc = orr_model_file_add_comb(file, devices, ndevices, &comb);
    free(devices);
    if (!rc)
        rc = read_unsigned(r, "the number of implementations", &nimpls);
    for (unsigned i = 0; !rc && i < nimpls; i++) {
        struct orr_model_impl *impl;

        rc = orr_model_comb_get_impl(comb, i, &impl);
        if (!rc)
            rc = read_impl(r, impl);
    }
    return rc;
}

/* A comment that says where the rows come from. */
static void read_origin(const char *line, struct orr_model_file *file)
{
    if (file->origin != ORR_ORIGIN_UNKNOWN ||
        read_formal_origin(line, &file->origin, &file->ranged))
        return;
    line += strspn(line, "# \t");
    if (isalpha((unsigned char)*line))
        file->origin = orr_origin_find(line);
}

/* The comments before everything else. The text ends with a NUL or a number. */
static void read_origins(const struct reader *r, struct orr_model_file *file)
{
    const char *at = r->at;

    while (at < r->end && (*at == '#' || *at == '\n' || is_model_blank(*at))) {
        const char *stop = memchr(at, '\n', (size_t)(r->end - at));

        if (!stop)
            return;
        if (*at == '#')
            read_origin(at, file);
        at = stop + 1;
    }
}

static int model_read_file(struct reader *r, struct orr_model_file *file)
{
    unsigned version = 0, ncombs = 0;
    int rc;

    read_origins(r, file);
    rc = read_unsigned(r, "the version number 45", &version);
    if (rc)
        return rc;
    if (version != ORR_MODEL_VERSION)
        return orr_fail(
            r->err, -EINVAL,
            "%s:%u: version %u of model files, only %d is known. " REMEDY,
            r->name, r->line, version, ORR_MODEL_VERSION);
    rc = read_unsigned(r, "the number of combinations", &ncombs);
    for (unsigned i = 0; !rc && i < ncombs; i++)
        rc = read_comb(r, file);
    if (rc)
        return rc;
    skip_blanks_and_comments(r);
    return r->at == r->end ? 0 : model_expected(r, "the end of the file");
}

int orr_model_file_parse(const char *name, const char *text, size_t size,
                         struct orr_model_file **ret, struct orr_error *err)
{
    struct reader r = {name, text, text + size, 1, err};
    struct orr_model_file *file = NULL;
    int rc;

    skip_blanks_and_comments(&r);
    if (r.at == r.end)
        return orr_fail(err, -ENODATA,
                        "%s:%u: the model file is empty and counts as absent.",
                        name, r.line);
    r.at = text;
    r.line = 1;
    rc = orr_model_file_new(&file);
    if (!rc)
        rc = model_read_file(&r, file);
    if (rc) {
        orr_model_file_free(file);
        if (rc == -ENOMEM)
            orr_fail(err, rc, "%s: not enough memory to read it.", name);
        return rc;
    }
    *ret = file;
    return 0;
}
