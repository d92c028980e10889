/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/project_model.c - see project_model.h. One thread. */
#include "tools/perfmodel/project_model.h"
#include "perfmodel/project.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/core_rates.h"
#include "tools/perfmodel/estimates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- rates --- */

static bool rates_are_complete(const struct orr_rates *rates)
{
    return rates->flops > 0 && rates->bytes > 0;
}

static void print_core(const struct projecting *p,
                       const struct orr_rates *rates, double spread,
                       const char *date)
{
    if (!p->json)
        printf("a core of %s: %.3g GFlop/s, %.3g GB/s, measured %s, spread "
               "%.0f %% (orrery calibrate runtime; --from-peak, "
               "--from-bandwidth)\n",
               p->source.host, rates->flops / 1e3, rates->bytes / 1e3, date,
               100 * spread);
}

/* Rates of a core of this machine that are not known are measured, once, and kept:
 * all machines are projected from one base. */
static void measure_core_here(struct projecting *p, struct orr_rates *rates)
{
    struct orr_error err = {"out of memory"};
    struct core_rates core;

    if (!p->is_here || !core_rates_measure(&core))
        return;
    if (core_rates_keep(orr_sampling_dirs(p->source.sampling), p->source.host,
                        &core, &err) < 0)
        tool_error("warning: the rates of a core are not kept: %s", err.text);
    if (!(rates->flops > 0))
        rates->flops = p->from_given.is_double ? core.flops64 : core.flops;
    if (!(rates->bytes > 0))
        rates->bytes = core.bytes;
    print_core(p, rates, core.spread, "now");
}

/* Says once which core times are projected from, if that was measured. */
static void note_core(struct projecting *p, struct orr_rates *rates)
{
    struct orr_rates *given = &p->from_given.of[ORR_DEVICE_CPU];
    int host = p->from_desc ? orr_machine_desc_host(p->from_desc, "MAIN") : -1;
    const char *date = NULL, *spread = NULL;

    if (p->core_is_known)
        return;
    p->core_is_known = true;
    if (host >= 0) {
        date = orr_host_desc_prop(&p->from_desc->hosts[host], CORE_RATES_DATE);
        spread =
            orr_host_desc_prop(&p->from_desc->hosts[host], CORE_RATES_SPREAD);
    }
    if (!rates_are_complete(rates))
        measure_core_here(p, rates);
    else if (date && spread && !(given->flops > 0 && given->bytes > 0))
        print_core(p, rates, atof(spread), date);
    *given = *rates;
}

/* --- one model --- */

/* The single device of the type that has rows, the first; NULL without. */
static const struct orr_model_comb *comb_of(const struct orr_model_file *file,
                                            int type)
{
    for (unsigned c = 0; c < file->ncombs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];

        if (comb->ndevices == 1 && comb->devices[0].type == type &&
            comb->devices[0].ncores == 1 && comb->nimpls > 0 &&
            comb->impls[0].nrows > 0)
            return comb;
    }
    return NULL;
}

/* From the rows of one device to those of another, and what became of them. */
struct projected {
    const struct perfmodel_data *data; /* of the source */
    const struct orr_model_comb *source;
    struct orr_rates from, to;
    enum orr_pair pair;
    double off_by; /* the furthest */
    unsigned n, nlimited;
    const char *unknown; /* why the first of the rows without a time has none */
};

/* From what simulations take for the row, and its interval. */
static int project_row(struct projected *ret, const struct orr_model_row *row,
                       unsigned i, struct orr_model_impl *impl)
{
    struct orr_model_row made = *row;
    struct orr_projection here, there;
    struct perfmodel_known known;
    int rc = perfmodel_know(ret->data->side, ret->source, i, row, &known);

    if (rc == 0 && !ret->unknown)
        ret->unknown = known.unknown;
    if (rc < 0 || !(known.estimate > 0))
        return rc;
    here.us = known.estimate;
    here.off_by = known.half_width > 0 ? known.half_width : 0;
    there = orr_project_device(here, row->flops, (double)row->size, &ret->from,
                               &ret->to, ret->pair);
    if (!(there.us > 0))
        return 0;
    made.origin = ORR_ORIGIN_UNKNOWN; /* as of all that is projected */
    made.mean = there.us;
    made.dev = there.us * there.off_by / 2; /* ranged: twice is the range */
    made.n = perfmodel_minimum();
    made.sum = made.mean * made.n;
    made.sum2 = made.n * (made.mean * made.mean + made.dev * made.dev);
    ret->off_by = fmax(ret->off_by, there.off_by);
    ret->nlimited += there.limited;
    ret->n++;
    return orr_model_impl_add_row(impl, &made);
}

static int project_impls(struct projected *ret, const struct orr_device *device,
                         struct orr_model_file *file)
{
    const struct orr_model_comb *source = ret->source;
    struct orr_model_comb *comb;
    int rc = orr_model_file_add_comb(file, device, 1, &comb);
    unsigned nimpls = ret->pair == ORR_PAIR_MIXED ? 1 : source->nimpls;

    for (unsigned i = 0; rc == 0 && i < nimpls; i++) {
        struct orr_model_impl *impl;

        rc = orr_model_comb_get_impl(comb, i, &impl);
        for (unsigned r = 0; rc == 0 && r < source->impls[i].nrows; r++)
            rc = project_row(ret, &source->impls[i].rows[r], i, impl);
    }
    return rc;
}

/* What was made for a device, and from which. Errors: -ENOMEM. */
static int projecting_add_row(struct projecting *p, const char *symbol,
                              const struct orr_device *device,
                              const struct projected *projected)
{
    char arch[PERFMODEL_TEXT], from[PERFMODEL_TEXT];
    double off_by = projected->n ? projected->off_by : (double)NAN;
    unsigned n = projected->n;

    if (n == 0 && projected->unknown)
        p->unknown = projected->unknown;
    perfmodel_arch_text(device, 1, arch);
    perfmodel_arch_text(projected->source->devices, 1, from);
    if (p->models)
        return json_array_append_new(
            p->models, json_pack("{s:o, s:s, s:s, s:i, s:o}", "model",
                                 tool_json_text(symbol), "architecture", arch,
                                 "from", from, "entries", (int)n, "off_by",
                                 tool_json_number(off_by)));
    table_add(&p->table, "%s", symbol);
    table_add(&p->table, "%s", arch);
    table_add(&p->table, "%s", from);
    table_add(&p->table, "%u", n);
    if (n == 0)
        table_add(&p->table, "not known: %s",
                  projected->unknown ? projected->unknown : "there is no row");
    else
        table_add(&p->table, "%.0f %%", 100 * off_by);
    return 0;
}

/* Projects from the models of a device of its type, else from those of a
 * core. */
static int project_device(struct projecting *p, const char *symbol,
                          const struct perfmodel_data *from,
                          const struct orr_device *device,
                          struct orr_model_file *to)
{
    const struct orr_model_comb *source = comb_of(from->file, device->type);
    enum orr_pair pair = !source                          ? ORR_PAIR_MIXED
                         : device->type == ORR_DEVICE_CPU ? ORR_PAIR_CORES
                                                          : ORR_PAIR_DEVICES;
    struct orr_rates here, there;
    struct projected projected = {.data = from, .pair = pair};
    int rc;

    if (!source)
        source = comb_of(from->file, ORR_DEVICE_CPU);
    if (!source || p->leave_out[device->type])
        return 0;
    here = project_rates_of(&p->from_given, p->from_desc, &source->devices[0]);
    if (source->devices[0].type == ORR_DEVICE_CPU)
        note_core(p, &here);
    there = project_rates_of(&p->given, p->desc, device);
    p->from_missing[source->devices[0].type] |= !rates_are_complete(&here);
    p->missing[device->type] |= !rates_are_complete(&there);
    if (!rates_are_complete(&here) || !rates_are_complete(&there))
        return 0;
    projected.source = source;
    projected.from = here;
    projected.to = there;
    rc = project_impls(&projected, device, to);
    if (rc < 0)
        return rc;
    if (projecting_add_row(p, symbol, device, &projected) < 0)
        return -ENOMEM;
    p->nlimited += projected.nlimited;
    p->nmixed += pair == ORR_PAIR_MIXED;
    p->nrows += projected.n;
    return 0;
}

int project_model(struct projecting *p, const char *symbol,
                  const struct perfmodel_data *from, struct orr_model_file *to)
{
    static const int types[] = {ORR_DEVICE_CUDA, ORR_DEVICE_OPENCL,
                                ORR_DEVICE_HIP};
    struct orr_device core = {ORR_DEVICE_CPU, 0, 1};
    int rc = project_device(p, symbol, from, &core, to);

    for (size_t t = 0; rc == 0 && t < 3; t++)
        for (int d = 0; rc == 0; d++) {
            struct orr_device device = {types[t], d, 1};
            char id[32];

            snprintf(id, sizeof(id), "%s%d", project_host_prefix(types[t]), d);
            if (orr_machine_desc_host(p->desc, id) < 0)
                break;
            rc = project_device(p, symbol, from, &device, to);
        }
    return rc;
}
