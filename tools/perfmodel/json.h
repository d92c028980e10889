/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/json.h - models and their side files as JSON and back, number
 * for number. One thread.
 *
 * {"format": "orrery-perfmodels", "version": 1, "models": [
 *   {"symbol": "gemm", "host": "testbox", "origin": "measured", "ranged": false,
 *    "combinations": [
 *     {"number": 1, "devices": [{"type": "cuda", "id": 0, "cores": 1}],
 *      "implementations": [
 *        {"regression": {"sumlnx", "sumlnx2", "sumlny", "sumlnxlny", "alpha",
 *                        "beta", "n", "minx", "maxx", "a", "b", "c",
 *                        "coefficients": []},
 *         "entries": [
 *           {"footprint": "d46431bb", "size", "flops", "mean", "deviation",
 *            "sum", "sum2", "n",
 *            "side": {"estimate", "seen", "outliers", "first_runs",
 *                     "first_sum", "last_time", "recent": [],
 *                     "set_aside": [], "block_size", "blocks": [],
 *                     "tail_sum", "tail_n"}}]}]}]}]}
 *
 * Names as in perfmodel/store.h and perfmodel/side.h. Times are µs (J in energy
 * models), sizes bytes, last_time seconds since 1970. `set_aside` has the
 * indices of those of `recent` that were outliers when they came. `side` is
 * missing where there is no valid entry. NaN is null, infinity "inf"; a whole
 * number beyond 2^63 - 1 is text. `type` is a number when it has no name. A
 * `origin` is that of perfmodel/origin.h, missing in older files; an entry of a
 * derived model with a side entry is measured. A model whose symbol contains its host has "host": "".
 */
#pragma once

#include <jansson.h>

#include "tools/perfmodel/perfmodel.h"

#define PERFMODEL_FORMAT         "orrery-perfmodels"
#define PERFMODEL_FORMAT_VERSION 1

/* A model as an element of "models"; NULL without memory. */
json_t *perfmodel_to_json(const char *symbol, const char *host,
                          enum orr_origin origin,
                          const struct perfmodel_data *data);

/* Its parts, for outputs with more content: a new reference each, NULL without
 * memory. */
json_t *perfmodel_json_real(double value);
json_t *perfmodel_json_count(uint64_t value);
json_t *perfmodel_json_devices(const struct orr_model_comb *comb);
json_t *perfmodel_json_fit(const struct orr_model_fit *fit);
json_t *perfmodel_json_row(const struct orr_model_row *row);

/* Adds to an object the origin that says least, as `key`, and the numbers of rows
 * of each, as "origins". */
void perfmodel_json_origins(json_t *json, const char *key,
                            const struct perfmodel_origins *origins);

/* One model as it is to be written to a file. */
struct perfmodel_named {
    char *symbol, *host; /* owned */
    struct perfmodel_data data;
};

/* Reads an element of "models". *ret is ended with perfmodel_named_done.
 * Errors: -EINVAL, with a message that names the place; -ENOMEM. */
int perfmodel_from_json(const json_t *json, struct perfmodel_named *ret,
                        struct orr_error *err);
void perfmodel_named_done(struct perfmodel_named *named);
