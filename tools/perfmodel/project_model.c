/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/project_model.c - see project_model.h. One thread. */
#include "tools/perfmodel/project_model.h"
#include "perfmodel/project.h"
#include "tools/common/json.h"
#include "tools/perfmodel/core_rates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* --- rates --- */

static bool rates_are_complete(const struct orr_rates *rates)
{
    return rates->flops > 0 && rates->bytes > 0;
}

/* Rates of a core of this machine that are not known are measured, once. */
static void complete_here(struct projecting *p, struct orr_rates *rates)
{
    struct orr_rates *given = &p->from_given.of[ORR_DEVICE_CPU];
    struct core_rates core;

    if (!p->is_here || !core_rates_measure(&core))
        return;
    if (!(rates->flops > 0))
        rates->flops = p->from_given.is_double ? core.flops64 : core.flops;
    if (!(rates->bytes > 0))
        rates->bytes = core.bytes;
    *given = *rates;
    printf("a core of %s: %.3g GFlop/s, %.3g GB/s, measured now (--from-peak, "
           "--from-bandwidth)\n",
           p->source.host, rates->flops / 1e3, rates->bytes / 1e3);
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

/* What became of the rows of a device. */
struct projected {
    double off_by; /* the furthest */
    unsigned nlimited;
};

static int project_row(const struct orr_model_row *row,
                       const struct orr_rates *from, const struct orr_rates *to,
                       enum orr_pair pair, struct orr_model_impl *impl,
                       struct projected *ret)
{
    struct orr_projection here = {.us = row->mean,
                                  .off_by = 2 * orr_model_row_error(row)};
    struct orr_projection there =
        orr_project_device(here, row->flops, (double)row->size, from, to, pair);
    struct orr_model_row made = *row;

    made.origin = ORR_ORIGIN_UNKNOWN; /* as of all that is projected */
    if (!(row->mean > 0) || row->n == 0 || !(there.us > 0))
        return 0;
    made.mean = there.us;
    made.dev = there.us * there.off_by / 2; /* ranged: twice is the range */
    made.n = perfmodel_minimum();
    made.sum = made.mean * made.n;
    made.sum2 = made.n * (made.mean * made.mean + made.dev * made.dev);
    ret->off_by = fmax(ret->off_by, there.off_by);
    ret->nlimited += there.limited;
    return orr_model_impl_add_row(impl, &made);
}

static int project_impls(const struct orr_model_comb *source,
                         const struct orr_rates *from,
                         const struct orr_rates *to, enum orr_pair pair,
                         const struct orr_device *device,
                         struct orr_model_file *file, struct projected *ret)
{
    struct orr_model_comb *comb;
    int rc = orr_model_file_add_comb(file, device, 1, &comb);
    unsigned nimpls = pair == ORR_PAIR_MIXED ? 1 : source->nimpls;

    for (unsigned i = 0; rc == 0 && i < nimpls; i++) {
        struct orr_model_impl *impl;

        rc = orr_model_comb_get_impl(comb, i, &impl);
        for (unsigned r = 0; rc == 0 && r < source->impls[i].nrows; r++)
            rc = project_row(&source->impls[i].rows[r], from, to, pair, impl,
                             ret);
    }
    return rc;
}

/* What was made for a device, and from which. Errors: -ENOMEM. */
static int projecting_add_row(struct projecting *p, const char *symbol,
                              const struct orr_device *device,
                              const struct orr_model_comb *source,
                              double off_by)
{
    char arch[PERFMODEL_TEXT], from[PERFMODEL_TEXT];
    unsigned n = source->impls[0].nrows;

    perfmodel_arch_text(device, 1, arch);
    perfmodel_arch_text(source->devices, 1, from);
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
    table_add(&p->table, "%.0f %%", 100 * off_by);
    return 0;
}

/* Projects from the models of a device of its type, else from those of a
 * core. */
static int project_device(struct projecting *p, const char *symbol,
                          const struct orr_model_file *from,
                          const struct orr_device *device,
                          struct orr_model_file *to)
{
    const struct orr_model_comb *source = comb_of(from, device->type);
    enum orr_pair pair = !source                          ? ORR_PAIR_MIXED
                         : device->type == ORR_DEVICE_CPU ? ORR_PAIR_CORES
                                                          : ORR_PAIR_DEVICES;
    struct orr_rates here, there;
    struct projected projected = {0};
    int rc;

    if (!source)
        source = comb_of(from, ORR_DEVICE_CPU);
    if (!source || p->leave_out[device->type])
        return 0;
    here = project_rates_of(&p->from_given, p->from_desc, &source->devices[0]);
    if (source->devices[0].type == ORR_DEVICE_CPU && !rates_are_complete(&here))
        complete_here(p, &here);
    there = project_rates_of(&p->given, p->desc, device);
    p->from_missing[source->devices[0].type] |= !rates_are_complete(&here);
    p->missing[device->type] |= !rates_are_complete(&there);
    if (!rates_are_complete(&here) || !rates_are_complete(&there))
        return 0;
    rc = project_impls(source, &here, &there, pair, device, to, &projected);
    if (rc < 0)
        return rc;
    if (projecting_add_row(p, symbol, device, source, projected.off_by) < 0)
        return -ENOMEM;
    p->nlimited += projected.nlimited;
    p->nmixed += pair == ORR_PAIR_MIXED;
    p->nrows += source->impls[0].nrows;
    return 0;
}

int project_model(struct projecting *p, const char *symbol,
                  const struct orr_model_file *from, struct orr_model_file *to)
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
