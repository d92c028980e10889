/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/json.c - see json.h: from models to JSON. */
#include "tools/perfmodel/json.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

json_t *perfmodel_json_real(double value)
{
    if (isnan(value))
        return json_null();
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

json_t *perfmodel_json_count(uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return json_string(text);
}

static json_t *json_reals(const double *values, unsigned n)
{
    json_t *list = json_array();

    for (unsigned i = 0; list && i < n; i++)
        if (json_array_append_new(list, perfmodel_json_real(values[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *perfmodel_json_devices(const struct orr_model_comb *comb)
{
    json_t *list = json_array();

    for (unsigned d = 0; list && d < comb->ndevices; d++) {
        const struct orr_device *device = &comb->devices[d];
        const char *name = orr_device_type_name(device->type);

        if (json_array_append_new(
                list,
                json_pack("{s:o, s:i, s:i}", "type",
                          name ? json_string(name) : json_integer(device->type),
                          "id", device->devid, "cores", device->ncores)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *perfmodel_json_fit(const struct orr_model_fit *fit)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "sumlnx", perfmodel_json_real(fit->sumlnx), "sumlnx2",
        perfmodel_json_real(fit->sumlnx2), "sumlny",
        perfmodel_json_real(fit->sumlny), "sumlnxlny",
        perfmodel_json_real(fit->sumlnxlny), "alpha",
        perfmodel_json_real(fit->alpha), "beta", perfmodel_json_real(fit->beta),
        "n", perfmodel_json_count(fit->n), "minx",
        perfmodel_json_count(fit->minx), "maxx",
        perfmodel_json_count(fit->maxx), "a", perfmodel_json_real(fit->a), "b",
        perfmodel_json_real(fit->b), "c", perfmodel_json_real(fit->c),
        "coefficients", json_reals(fit->coeff, fit->ncoeff));
}

json_t *perfmodel_json_row(const struct orr_model_row *row)
{
    char footprint[16];

    snprintf(footprint, sizeof(footprint), "%08" PRIx32, row->hash);
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "footprint", footprint,
        "size", perfmodel_json_count(row->size), "flops",
        perfmodel_json_real(row->flops), "mean", perfmodel_json_real(row->mean),
        "deviation", perfmodel_json_real(row->dev), "sum",
        perfmodel_json_real(row->sum), "sum2", perfmodel_json_real(row->sum2),
        "n", perfmodel_json_count(row->n));
}

static json_t *json_indices(const bool *set, unsigned n)
{
    json_t *list = json_array();

    for (unsigned i = 0; list && i < n; i++)
        if (set[i] && json_array_append_new(list, json_integer(i)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *side_json(const struct orr_side_entry *side)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
        "estimate", perfmodel_json_real(side->estimate), "seen",
        perfmodel_json_count(side->nseen), "outliers",
        perfmodel_json_count(side->noutliers), "preempted",
        perfmodel_json_count(side->npreempted), "first_runs",
        perfmodel_json_count(side->nfirst), "first_sum",
        perfmodel_json_real(side->first_sum), "last_time",
        (json_int_t)side->last_time, "recent",
        json_reals(side->recent, side->nrecent), "set_aside",
        json_indices(side->set_aside, side->nrecent), "block_size",
        perfmodel_json_count(side->blocksize), "blocks",
        json_reals(side->blocks, side->nblocks), "tail_sum",
        perfmodel_json_real(side->tail_sum), "tail_n",
        perfmodel_json_real(side->tail_n));
}

/* Of a row that has its own. */
static int add_origin(json_t *json, const struct orr_model_row *row)
{
    if (row->origin == ORR_ORIGIN_UNKNOWN)
        return 0;
    if (json_object_set_new(json, "origin",
                            json_string(orr_origin_name(row->origin))) < 0)
        return -1;
    return row->ranged ? json_object_set_new(json, "ranged", json_true()) : 0;
}

void perfmodel_json_origins(json_t *json, const char *key,
                            const struct perfmodel_origins *origins)
{
    json_t *counts = json_object();

    for (int o = 0; o < ORR_NORIGINS; o++)
        if (origins->n[o] > 0)
            json_object_set_new(counts, orr_origin_name((enum orr_origin)o),
                                json_integer(origins->n[o]));
    json_object_set_new(
        json, key,
        json_string(orr_origin_name(perfmodel_origins_least(origins))));
    json_object_set_new(json, "origins", counts);
}

static json_t *export_impl_json(const struct perfmodel_data *data,
                                const struct orr_model_comb *comb, unsigned i)
{
    const struct orr_model_impl *impl = &comb->impls[i];
    json_t *entries = json_array();

    for (unsigned r = 0; entries && r < impl->nrows; r++) {
        const struct orr_side_entry *side =
            perfmodel_side_of(data, comb, i, &impl->rows[r], NULL);
        json_t *row = perfmodel_json_row(&impl->rows[r]);

        if (json_array_append_new(entries, row) < 0 ||
            add_origin(row, &impl->rows[r]) < 0 || (side && json_object_set_new(row, "side", side_json(side)) < 0)) {
            json_decref(entries);
            return NULL;
        }
    }
    return json_pack("{s:o, s:o}", "regression", perfmodel_json_fit(&impl->fit),
                     "entries", entries);
}

static json_t *export_comb_json(const struct perfmodel_data *data,
                                const struct orr_model_comb *comb)
{
    json_t *impls = json_array();

    for (unsigned i = 0; impls && i < comb->nimpls; i++)
        if (json_array_append_new(impls, export_impl_json(data, comb, i)) < 0) {
            json_decref(impls);
            return NULL;
        }
    return json_pack("{s:o, s:o, s:o}", "number",
                     perfmodel_json_count(comb->number), "devices",
                     perfmodel_json_devices(comb), "implementations", impls);
}

json_t *perfmodel_to_json(const char *symbol, const char *host,
                          enum orr_origin origin,
                          const struct perfmodel_data *data)
{
    json_t *combs = json_array();

    for (unsigned c = 0; combs && c < data->file->ncombs; c++)
        if (json_array_append_new(
                combs, export_comb_json(data, &data->file->combs[c])) < 0) {
            json_decref(combs);
            return NULL;
        }
    return json_pack("{s:o, s:o, s:s, s:b, s:o}", "symbol", tool_json_text(symbol), "host",
                     tool_json_text(host), "origin", orr_origin_name(origin), "ranged",
                     (int)data->file->ranged, "combinations", combs);
}
