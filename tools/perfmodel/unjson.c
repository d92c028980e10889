/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/unjson.c - see json.h: from JSON to models. */
#include "tools/common/tool.h"
#include "tools/perfmodel/json.h"

#include "perfmodel/window.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is being read, for messages. */
struct in {
    const char *symbol;
    char arch[PERFMODEL_TEXT];
    char footprint[16];
    struct orr_error *err;
};

static int json_not(const struct in *in, const char *key, const char *what)
{
    return orr_fail(in->err, -EINVAL, "model %s%s%s%s%s: \"%s\" is not %s",
                    in->symbol, in->arch[0] ? ", " : "", in->arch,
                    in->footprint[0] ? ", footprint " : "", in->footprint, key,
                    what);
}

/* -- single values -- */

static int json_read_real(const struct in *in, const json_t *value,
                          const char *key, double *ret)
{
    const char *text = json_string_value(value);

    if (json_is_null(value))
        *ret = (double)NAN;
    else if (json_is_number(value))
        *ret = json_number_value(value);
    else if (text && (!strcmp(text, "inf") || !strcmp(text, "-inf")))
        *ret = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    else
        return json_not(in, key, "a number, null or \"inf\"");
    return 0;
}

static int get_real(const struct in *in, const json_t *json, const char *key,
                    double *ret)
{
    return json_read_real(in, json_object_get(json, key), key, ret);
}

static int get_count(const struct in *in, const json_t *json, const char *key,
                     uint64_t most, uint64_t *ret)
{
    const json_t *value = json_object_get(json, key);
    const char *text = json_string_value(value);
    char *end = NULL;
    uint64_t count;

    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        count = (uint64_t)json_integer_value(value);
    } else if (text && *text >= '0' && *text <= '9') {
        errno = 0;
        count = strtoull(text, &end, 10);
        if (*end || errno)
            return json_not(in, key, "a whole number");
    } else {
        return json_not(in, key, "a whole number of 0 or more");
    }
    if (count > most)
        return json_not(in, key, "as small as a model file needs it");
    *ret = count;
    return 0;
}

static int get_count32(const struct in *in, const json_t *json, const char *key,
                       uint32_t *ret)
{
    uint64_t value = 0;
    int rc = get_count(in, json, key, UINT32_MAX, &value);

    if (rc == 0)
        *ret = (uint32_t)value;
    return rc;
}

static int get_int(const struct in *in, const json_t *json, const char *key,
                   int *ret)
{
    const json_t *value = json_object_get(json, key);

    if (!json_is_integer(value) || json_integer_value(value) < INT_MIN ||
        json_integer_value(value) > INT_MAX)
        return json_not(in, key, "a whole number");
    *ret = (int)json_integer_value(value);
    return 0;
}

/* A list of numbers, owned by the caller; NULL when it is empty. */
static int get_reals(const struct in *in, const json_t *json, const char *key,
                     unsigned most, double **ret, unsigned *ret_n)
{
    const json_t *list = json_object_get(json, key);
    size_t n = json_array_size(list);
    double *values;
    int rc = 0;

    if (!json_is_array(list) || n > most)
        return json_not(in, key,
                        json_is_array(list) ? "a list that short" : "a list");
    if (n == 0) {
        *ret = NULL;
        *ret_n = 0;
        return 0;
    }
    values = malloc(n * sizeof(*values));
    if (!values)
        return -ENOMEM;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = json_read_real(in, json_array_get(list, i), key, &values[i]);
    if (rc < 0) {
        free(values);
        return rc;
    }
    *ret = values;
    *ret_n = (unsigned)n;
    return 0;
}

/* -- parts -- */

static int json_read_fit(const struct in *in, const json_t *json,
                         struct orr_model_fit *fit)
{
    const struct {
        const char *key;
        double *to;
    } fields[] = {{"sumlnx", &fit->sumlnx},
                  {"sumlnx2", &fit->sumlnx2},
                  {"sumlny", &fit->sumlny},
                  {"sumlnxlny", &fit->sumlnxlny},
                  {"alpha", &fit->alpha},
                  {"beta", &fit->beta},
                  {"a", &fit->a},
                  {"b", &fit->b},
                  {"c", &fit->c}};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(fields) / sizeof(*fields); i++)
        rc = get_real(in, json, fields[i].key, fields[i].to);
    if (rc == 0)
        rc = get_count32(in, json, "n", &fit->n);
    if (rc == 0)
        rc = get_count(in, json, "minx", UINT64_MAX, &fit->minx);
    if (rc == 0)
        rc = get_count(in, json, "maxx", UINT64_MAX, &fit->maxx);
    if (rc == 0)
        rc = get_reals(in, json, "coefficients", 1U << 16, &fit->coeff,
                       &fit->ncoeff);
    return rc;
}

static int read_set_aside(const struct in *in, const json_t *json,
                          struct orr_side_entry *side)
{
    const json_t *list = json_object_get(json, "set_aside");

    side->set_aside =
        calloc(side->nrecent ? side->nrecent : 1, sizeof(*side->set_aside));
    if (!side->set_aside)
        return -ENOMEM;
    if (!json_is_array(list))
        return json_not(in, "set_aside", "a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *index = json_array_get(list, i);

        if (!json_is_integer(index) || json_integer_value(index) < 0 ||
            json_integer_value(index) >= (json_int_t)side->nrecent)
            return json_not(in, "set_aside", "a list of indices of \"recent\"");
        side->set_aside[json_integer_value(index)] = true;
    }
    return 0;
}

static int json_read_side(const struct in *in, const json_t *json,
                          const struct orr_model_row *row,
                          struct orr_side_entry *side)
{
    uint64_t time = 0, size = 0;
    int rc = get_real(in, json, "estimate", &side->estimate);

    side->row_n = row->n;
    side->row_sum = row->sum;
    if (rc == 0)
        rc = get_count(in, json, "seen", UINT64_MAX / 2, &side->nseen);
    if (rc == 0)
        rc = get_count(in, json, "outliers", UINT64_MAX / 2, &side->noutliers);
    if (rc == 0 && json_object_get(json, "preempted")) /* older ones have none */
        rc = get_count(in, json, "preempted", UINT64_MAX / 2, &side->npreempted);
    if (rc == 0)
        rc = get_count32(in, json, "first_runs", &side->nfirst);
    if (rc == 0)
        rc = get_real(in, json, "first_sum", &side->first_sum);
    if (rc == 0)
        rc = get_count(in, json, "last_time", INT64_MAX, &time);
    if (rc == 0)
        rc = get_reals(in, json, "recent", ORR_WINDOW_SIZE, &side->recent,
                       &side->nrecent);
    if (rc == 0)
        rc = read_set_aside(in, json, side);
    if (rc == 0)
        rc = get_count(in, json, "block_size", UINT_MAX / 2, &size);
    if (rc == 0)
        rc = get_reals(in, json, "blocks", ORR_WINDOW_BLOCKS, &side->blocks,
                       &side->nblocks);
    if (rc == 0)
        rc = get_real(in, json, "tail_sum", &side->tail_sum);
    if (rc == 0)
        rc = get_real(in, json, "tail_n", &side->tail_n);
    side->last_time = (int64_t)time;
    side->blocksize = (unsigned)size;
    if (rc == 0)
        orr_window_find_levels(side, ORR_WINDOW_RATIO);
    return rc;
}

static int json_read_origin(const struct in *in, const json_t *json,
                            enum orr_origin *ret, bool *ret_ranged)
{
    const json_t *origin = json_object_get(json, "origin");

    if (origin && !json_is_string(origin))
        return json_not(in, "origin", "text");
    *ret = orr_origin_find(json_string_value(origin));
    *ret_ranged = json_is_true(json_object_get(json, "ranged"));
    return 0;
}

static int json_read_row(const struct in *in, const json_t *json,
                         struct orr_model_row *row)
{
    int rc = get_count(in, json, "size", UINT64_MAX, &row->size);

    if (rc == 0)
        rc = get_real(in, json, "flops", &row->flops);
    if (rc == 0)
        rc = get_real(in, json, "mean", &row->mean);
    if (rc == 0)
        rc = get_real(in, json, "deviation", &row->dev);
    if (rc == 0)
        rc = get_real(in, json, "sum", &row->sum);
    if (rc == 0)
        rc = get_real(in, json, "sum2", &row->sum2);
    if (rc == 0)
        rc = get_count32(in, json, "n", &row->n);
    if (rc == 0)
        rc = json_read_origin(in, json, &row->origin, &row->ranged);
    return rc;
}

/* An entry, and its side entry if there is one. */
static int json_read_entry(struct in *in, const json_t *json,
                           const struct orr_model_comb *comb, unsigned i,
                           struct perfmodel_data *data)
{
    const char *footprint =
        json_string_value(json_object_get(json, "footprint"));
    const json_t *side = json_object_get(json, "side");
    struct orr_model_row row = {0};
    struct orr_side_entry *entry;
    char *end = NULL;
    int rc;

    in->footprint[0] = '\0';
    if (!footprint || strlen(footprint) != 8)
        return json_not(in, "footprint", "text of eight hexadecimal digits");
    row.hash = (uint32_t)strtoul(footprint, &end, 16);
    if (*end)
        return json_not(in, "footprint", "text of eight hexadecimal digits");
    snprintf(in->footprint, sizeof(in->footprint), "%s", footprint);
    rc = json_read_row(in, json, &row);
    if (rc == 0)
        rc = orr_model_impl_add_row(&comb->impls[i], &row);
    if (rc < 0 || !side)
        return rc;
    entry =
        orr_side_append(data->side, comb->devices, comb->ndevices, i, row.hash);
    return entry ? json_read_side(in, side, &row, entry) : -ENOMEM;
}

static int json_read_impl(struct in *in, const json_t *json,
                          struct orr_model_comb *comb, unsigned i,
                          struct perfmodel_data *data)
{
    const json_t *entries = json_object_get(json, "entries");
    struct orr_model_impl *impl;
    int rc = orr_model_comb_get_impl(comb, i, &impl);

    if (rc == 0)
        rc = json_read_fit(in, json_object_get(json, "regression"), &impl->fit);
    if (rc == 0 && !json_is_array(entries))
        rc = json_not(in, "entries", "a list");
    for (size_t r = 0; rc == 0 && r < json_array_size(entries); r++)
        rc = json_read_entry(in, json_array_get(entries, r), comb, i, data);
    in->footprint[0] = '\0';
    return rc;
}

static int json_read_devices(const struct in *in, const json_t *list,
                             struct orr_device **ret, unsigned *ret_n)
{
    size_t n = json_array_size(list);
    struct orr_device *devices;
    int rc = 0;

    if (n == 0 || n > 64)
        return json_not(in, "devices", "a list of devices");
    devices = calloc(n, sizeof(*devices));
    if (!devices)
        return -ENOMEM;
    for (size_t d = 0; rc == 0 && d < n; d++) {
        const json_t *json = json_array_get(list, d);
        const char *type = json_string_value(json_object_get(json, "type"));

        if (type) {
            devices[d].type = orr_device_type_find(type);
            if (devices[d].type < 0)
                rc = json_not(in, "type", "a type of devices");
        } else {
            rc = get_int(in, json, "type", &devices[d].type);
        }
        if (rc == 0)
            rc = get_int(in, json, "id", &devices[d].devid);
        if (rc == 0)
            rc = get_int(in, json, "cores", &devices[d].ncores);
    }
    if (rc < 0) {
        free(devices);
        return rc;
    }
    *ret = devices;
    *ret_n = (unsigned)n;
    return 0;
}

static int json_read_comb(struct in *in, const json_t *json,
                          struct perfmodel_data *data)
{
    const json_t *impls = json_object_get(json, "implementations");
    struct orr_device *devices = NULL;
    struct orr_model_comb *comb = NULL;
    unsigned n = 0;
    int rc;

    in->arch[0] = '\0';
    rc = json_read_devices(in, json_object_get(json, "devices"), &devices, &n);
    if (rc < 0)
        return rc;
    perfmodel_arch_text(devices, n, in->arch);
    rc = orr_model_file_add_comb(data->file, devices, n, &comb);
    free(devices);
    if (rc == 0)
        rc = get_count32(in, json, "number", &comb->number);
    if (rc == 0 && !json_is_array(impls))
        rc = json_not(in, "implementations", "a list");
    for (size_t i = 0; rc == 0 && i < json_array_size(impls); i++)
        rc = json_read_impl(in, json_array_get(impls, i), comb, (unsigned)i,
                            data);
    return rc;
}

void perfmodel_named_done(struct perfmodel_named *named)
{
    free(named->symbol);
    free(named->host);
    perfmodel_unload(&named->data);
    *named = (struct perfmodel_named){0};
}

static int json_read_model(struct in *in, const json_t *json,
                           struct perfmodel_named *named)
{
    const char *host = json_string_value(json_object_get(json, "host"));
    const json_t *combs = json_object_get(json, "combinations");
    int rc = orr_model_file_new(&named->data.file);

    named->data.side = orr_side_new();
    named->symbol = strdup(in->symbol);
    named->host = strdup(host ? host : "");
    if (rc < 0 || !named->data.side || !named->symbol || !named->host)
        return -ENOMEM;
    if (!host)
        rc = json_not(in, "host", "text");
    if (rc == 0)
        rc = json_read_origin(in, json, &named->data.file->origin,
                              &named->data.file->ranged);
    if (rc == 0 && !json_is_array(combs))
        rc = json_not(in, "combinations", "a list");
    if (rc < 0)
        return rc;
    for (size_t c = 0; rc == 0 && c < json_array_size(combs); c++)
        rc = json_read_comb(in, json_array_get(combs, c), &named->data);
    return rc;
}

int perfmodel_from_json(const json_t *json, struct perfmodel_named *ret,
                        struct orr_error *err)
{
    const char *symbol = json_string_value(json_object_get(json, "symbol"));
    struct in in = {.symbol = symbol ? symbol : "?", .err = err};
    struct perfmodel_named named = {0};
    int rc = symbol ? json_read_model(&in, json, &named)
                    : json_not(&in, "symbol", "text");

    if (rc < 0) {
        perfmodel_named_done(&named);
        return rc == -ENOMEM ? orr_fail(err, rc, "out of memory") : rc;
    }
    *ret = named;
    return 0;
}
