/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/show_json.c - `orrery perfmodel show --json`. */
#include "tools/common/json.h"
#include "tools/perfmodel/estimates.h"
#include "tools/perfmodel/json.h"
#include "tools/perfmodel/show.h"

#include <errno.h>
#include <math.h>

#define REAL(value) perfmodel_json_real(value)

static json_t *interval_json(struct orr_interval interval)
{
    return json_pack("[o, o]", REAL(interval.lo), REAL(interval.hi));
}

static json_t *regimes_json(const struct orr_summary *summary)
{
    json_t *list = json_array();

    for (unsigned i = 0; list && i < summary->nregimes; i++)
        if (json_array_append_new(
                list, json_pack("{s:o, s:o}", "median",
                                REAL(summary->regimes[i].median), "share",
                                REAL(summary->regimes[i].share))) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *robust_json(const struct perfmodel_known *known)
{
    const struct orr_side_entry *side = known->side;
    const struct orr_summary *summary = &known->summary;

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:s, s:[o, o, o, o, o], s:o, "
        "s:o, s:o, s:o}",
        "estimate", REAL(side->estimate), "seen",
        perfmodel_json_count(side->nseen), "outliers",
        perfmodel_json_count(side->noutliers), "preempted",
        perfmodel_json_count(side->npreempted), "first_runs",
        perfmodel_json_count(side->nfirst), "first_run",
        REAL(side->nfirst ? side->first_sum / side->nfirst : (double)NAN),
        "last_time", (json_int_t)side->last_time, "interval",
        interval_json(known->interval), "interval_from",
        known->from_blocks   ? "blocks"
        : known->independent ? "row"
                             : "recent",
        "quantiles", REAL(summary->quantiles[ORR_Q05]),
        REAL(summary->quantiles[ORR_Q25]), REAL(summary->quantiles[ORR_Q50]),
        REAL(summary->quantiles[ORR_Q75]), REAL(summary->quantiles[ORR_Q95]),
        "recent", perfmodel_json_count(summary->n), "autocorrelation",
        REAL(summary->autocorrelation), "regimes", regimes_json(summary),
        "next_median", interval_json(summary->next));
}

static json_t *entry_json(const struct perfmodel_view *view,
                          const struct orr_model_comb *comb, unsigned i,
                          const struct orr_model_row *row)
{
    struct perfmodel_known known;
    json_t *json;

    if (perfmodel_know(view->data->side, comb, i, row, &known) < 0)
        return NULL;
    json = perfmodel_json_row(row);
    if (json_object_set_new(json, "estimate", REAL(known.estimate)) < 0 ||
        json_object_set_new(json, "gflops",
                            REAL(perfmodel_gflops(row, known.estimate))) < 0 ||
        json_object_set_new(json, "stale", json_boolean(known.stale)) < 0 ||
        (known.unknown && json_object_set_new(json, "unknown",
                                              json_string(known.unknown)) < 0) ||
        json_object_set_new(json, "origin",
                            json_string(orr_origin_name(perfmodel_row_origin(
                                row, view->origin, known.side)))) < 0 ||
        json_object_set_new(json, "robust",
                            known.side ? robust_json(&known) : json_null()) <
            0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *regression_json(bool there,
                               const struct orr_power_regression *regression)
{
    if (!there)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:b}", "a",
        REAL(regression->a), "b", REAL(regression->b), "c", REAL(regression->c),
        "minx", REAL(regression->minx), "maxx", REAL(regression->maxx), "error",
        REAL(regression->error), "sizes", (int)regression->npoints, "outliers",
        (int)regression->noutliers, "converged", regression->converged);
}

static json_t *view_impl_json(const struct perfmodel_view *view,
                              const struct orr_model_comb *comb, unsigned i)
{
    const struct orr_model_impl *impl = &comb->impls[i];
    struct perfmodel_regressions regressions;
    json_t *entries;

    if (perfmodel_regressions(view->data, comb, i, &regressions) < 0)
        return NULL;
    entries = json_array();
    for (unsigned r = 0; entries && r < impl->nrows; r++)
        if (json_array_append_new(
                entries, entry_json(view, comb, i, &impl->rows[r])) < 0) {
            json_decref(entries);
            return NULL;
        }
    return json_pack(
        "{s:o, s:o, s:{s:o, s:o, s:{s:i, s:o, s:o}}}", "entries", entries,
        "regression", perfmodel_json_fit(&impl->fit), "fits", "power",
        regression_json(regressions.has_power, &regressions.power), "offset",
        regression_json(regressions.has_offset, &regressions.offset),
        "interpolation", "inner_sizes", (int)regressions.ninner, "mean_error",
        REAL(regressions.inner_mean), "worst_error",
        REAL(regressions.inner_worst));
}

static json_t *view_comb_json(const struct perfmodel_view *view,
                              const struct orr_model_comb *comb)
{
    json_t *impls = json_array();
    char arch[PERFMODEL_TEXT];

    for (unsigned i = 0; impls && i < comb->nimpls; i++)
        if (json_array_append_new(impls, view_impl_json(view, comb, i)) < 0) {
            json_decref(impls);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:o}", "architecture",
                     perfmodel_arch_text(comb->devices, comb->ndevices, arch),
                     "devices", perfmodel_json_devices(comb), "implementations",
                     impls);
}

int perfmodel_show_json(const struct perfmodel_view *view)
{
    const struct orr_model_file *file = view->data->file;
    json_t *combs = json_array(), *all;
    int rc = combs ? 0 : -ENOMEM;

    for (unsigned c = 0; rc == 0 && c < file->ncombs; c++)
        if (perfmodel_arch_wanted(view->arch, file->combs[c].devices,
                                  file->combs[c].ndevices) &&
            json_array_append_new(combs,
                                  view_comb_json(view, &file->combs[c])) < 0)
            rc = -ENOMEM;
    if (rc < 0) {
        json_decref(combs);
        return rc;
    }
    all =
        json_pack("{s:o, s:o, s:o, s:s, s:s, s:b, s:o}", "symbol", tool_json_text(view->symbol),
                  "host", tool_json_text(view->host), "path", tool_json_text(view->path),
                  "side_file", perfmodel_side_text(view->data->state), "origin",
                  orr_origin_name(view->origin), "ranged", (int)file->ranged,
                  "combinations", combs);
    return tool_json_print(all);
}
