/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/print_json.c - `orrery validate --json`. One thread. */
#include "tools/validate/print.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>

static json_t *spread_json(struct validate_spread spread)
{
    return json_pack(
        "{s:o, s:o, s:o}", "median", tool_json_number(spread.median), "min",
        tool_json_number(spread.min), "max", tool_json_number(spread.max));
}

/* null without a second level. */
static json_t *levels_json(const struct validate_kernel *kernel)
{
    if (!kernel->two_levels)
        return NULL;
    return json_pack("{s:f, s:f, s:f}", "usual_us", kernel->levels.usual,
                     "other_us", kernel->levels.other, "share",
                     kernel->levels.share);
}

static json_t *kernel_json(const struct validation *v, size_t k)
{
    const struct validate_kernel *kernel = &v->kernels[k];
    const struct drift_item *item = &v->items[k];
    char footprint[16];
    json_t *times = json_array();

    snprintf(footprint, sizeof(footprint), "%08x", kernel->kernel.footprint);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        json_array_append_new(times, tool_json_number(kernel->times[rep]));
    return json_pack(
        "{s:s, s:s, s:i, s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:b, s:b, s:o?, s:s}",
        "name", kernel->kernel.name, "arch", kernel->kernel.arch,
        "implementation", (int)kernel->kernel.implementation, "footprint",
        footprint, "size", kernel->kernel.size, "predicted_us",
        tool_json_number(kernel->predicted), "origin",
        orr_origin_name(kernel->origin), "measured_us",
        spread_json(kernel->measured), "repetitions_us", times, "error",
        tool_json_number(kernel->error), "drift",
        tool_json_number(expm1(item->excess)), "noise",
        tool_json_number(item->noise), "alarm_from",
        tool_json_number(expm1(item->threshold)), "drifted", (int)item->drifted,
        "mixed", (int)kernel->mixed, "levels", levels_json(kernel), "verdict",
        drift_verdict_name(kernel->verdict, false));
}

static json_t *link_json(const struct validate_link *link)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "from", link->from,
                     "to", link->to, "measured_count", link->measured_count,
                     "predicted_count", link->predicted_count,
                     "measured_us_per_mib", spread_json(link->measured),
                     "predicted_us_per_mib", spread_json(link->predicted),
                     "error", tool_json_number(link->error));
}

static json_t *end_json(const struct validate_end *end)
{
    return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:s, s:o, s:s}", "size",
                     end->size, "predicted_us", spread_json(end->predicted),
                     "measured_us", spread_json(end->measured), "error",
                     tool_json_number(end->error), "disturbance",
                     tool_json_number(end->disturbance), "compared",
                     end->modelled ? "modelled tasks" : "makespan",
                     "alarm_from", tool_json_number(expm1(end->threshold)),
                     "verdict", validate_end_verdict(end, false));
}

static json_t *type_json(const struct drift_type *type)
{
    return json_pack("{s:s, s:i, s:o, s:b}", "kind", type->name, "kernels",
                     (int)type->nkernels, "slower",
                     tool_json_number(expm1(type->shift)), "shifted",
                     (int)type->shifted);
}

static json_t *prediction_json(struct validate_error error)
{
    return json_pack("{s:o, s:o}", "median", tool_json_number(error.median),
                     "worst", tool_json_number(error.worst));
}

static json_t *predictions_json(const struct validate_predictions *p)
{
    return json_pack("{s:o, s:o, s:o, s:i}", "simulator",
                     prediction_json(p->simulator), "models",
                     prediction_json(p->models), "machine",
                     prediction_json(p->machine), "runs", (int)p->n);
}

/* Of all together: "fits" only if all that was checked does. */
static const char *whole_verdict(const struct validation *v)
{
    if (v->drift.ndrifted)
        return "drift";
    if (v->verdicts[DRIFT_LEVELS])
        return drift_verdict_name(DRIFT_LEVELS, false);
    if (v->noff)
        return "off";
    if (validation_unclear(v))
        return drift_verdict_name(DRIFT_CANNOT_TELL, false);
    if (v->verdicts[DRIFT_SHIFTED] || v->verdicts[DRIFT_DISTURBED])
        return v->verdicts[DRIFT_SHIFTED] ? "shifted" : "disturbed";
    return v->drift.nchecked && !isnan(v->median_error) ? "fits"
                                                        : "not checked";
}

int validation_print_json(const struct validation *v)
{
    const struct report *real = &validation_run(v, 0, 0, false)->report;
    json_t *kernels = json_array(), *links = json_array();
    json_t *ends = json_array(), *types = json_array(), *json;

    for (size_t k = 0; k < v->nkernels; k++)
        json_array_append_new(kernels, kernel_json(v, k));
    for (size_t l = 0; l < v->nlinks; l++)
        json_array_append_new(links, link_json(&v->links[l]));
    for (unsigned s = 0; s < v->nsizes; s++)
        json_array_append_new(ends, end_json(&v->ends[s]));
    for (unsigned k = 0; k < v->drift.ntypes; k++)
        json_array_append_new(types, type_json(&v->drift.types[k]));
    json = json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:b, "
                     "s:o, s:o}",
                     "machine", real->machine, "scheduler", real->scheduler,
                     "ranks", v->options->nranks ? (int)v->options->nranks : 1,
                     "repetitions", (int)v->nreps, "kernels", kernels, "links",
                     links, "ends", ends, "median_error",
                     tool_json_number(v->median_error), "machine_shift", types,
                     "drift", v->drift.ndrifted > 0, "verdict",
                     whole_verdict(v), "interrupted", v->stopped != 0,
                     "predictions", predictions_json(&v->predictions), "quiet",
                     quiet_json(&v->quiet));
    if (json && json_array_size(kernels) != v->nkernels) {
        json_decref(json);
        json = NULL;
    }
    if (tool_json_print(json) == 0)
        return 0;
    tool_error("out of memory");
    return -1;
}
