/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/scale.c - kernel models for a machine without measurements:
 * those of the catalogue's nearest derived machine, times multiplied by the
 * ratio of two parts: of what the law says of them (law.h) where both devices
 * are in the parts' table and the kernel is one of its, since kernels that wait
 * for a chain of steps do not go with a peak; else of the published
 * single-precision peaks. The files name their source. One thread.
 */
#include "tools/common/tool.h"
#include "tools/machine/law.h"
#include "tools/machine/plan.h"

#include "platforms/rates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Devices do most of the work where there are any, so that a machine with
 * similar devices is nearer than one with similar cores. */
#define DEVICE_WEIGHT 4

struct scaling {
    const struct machine_plan *plan;
    const char *const *sampling_dirs;
    const char *host, *folder;
    struct machine_files *files;
    struct orr_machine_desc *nearest; /* owned */
    double distance;
    double core_flops, tflops;           /* of the nearest machine */
    const struct machine_device *device; /* its devices; NULL: not known */
    unsigned nmodels;
};

static const char *host_model_name(const struct orr_machine_desc *desc,
                                   const char *host)
{
    int h = orr_machine_desc_host(desc, host);

    return h < 0 ? NULL : orr_host_desc_prop(&desc->hosts[h], "model");
}

/* The ratio of two speeds, the larger over the smaller. */
static double speed_distance(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log(a / b)) : 10;
}

static int count_model(const struct perfmodel_item *item, void *arg)
{
    (void)item;
    (void)arg;
    return 1;
}

/* Keeps the machine if it has models and is nearer than the one before; else
 * frees it. */
static int scaling_offer_machine(struct scaling *s,
                                 struct orr_machine_desc *desc)
{
    const char *text = host_model_name(desc, "CUDA0");
    double distance, core, tflops;
    int rc = 0;

    core = orr_machine_desc_rate_of(desc, "CPU0", ORR_RATE_FP32);
    tflops = orr_machine_desc_rate_of(desc, "CUDA0", ORR_RATE_FP32) / 1e12;
    distance = speed_distance(core, s->plan->core_flops);
    if (s->plan->ndevices)
        distance +=
            DEVICE_WEIGHT * speed_distance(tflops, s->plan->devices[0].tflops);
    /* The measured ones know few sides of tiles, and not all kernels. */
    if (desc->provenance && strcmp(desc->provenance, "derived") == 0 &&
        core > 0 && (tflops > 0 || !s->plan->ndevices) &&
        (!s->nearest || distance < s->distance))
        rc = machine_models_each(desc, count_model, NULL);
    if (rc != 1) {
        orr_machine_desc_free(desc);
        return rc;
    }
    orr_machine_desc_free(s->nearest);
    s->nearest = desc;
    s->distance = distance;
    s->core_flops = core;
    s->tflops = tflops;
    s->device = text ? machine_device_find(text) : NULL;
    return 0;
}

static int scaling_visit_catalogue(const struct orr_machine_entry *entry,
                                   void *arg)
{
    struct scaling *s = arg;
    struct orr_machine_desc *desc;
    int rc;

    if (!entry->catalogue)
        return 0;
    rc = orr_machine_desc_load(entry->path, s->sampling_dirs, &desc, NULL);
    if (rc == -ENOMEM)
        return rc;
    return rc < 0 ? 0 : scaling_offer_machine(s, desc); /* broken: skipped */
}

/* How rows of a device are scaled. */
struct factor {
    double peaks; /* of all rows, but with both devices: */
    const struct machine_device *from, *to;
    enum machine_kernel kernel;
    bool is_double;
};

static double factor_of(const struct factor *factor, double flops)
{
    if (!factor->from || !factor->to || !(flops > 0))
        return factor->peaks;
    return machine_law_us(factor->to, factor->kernel, factor->is_double,
                          flops) /
           machine_law_us(factor->from, factor->kernel, factor->is_double,
                          flops);
}

static int copy_rows(const struct orr_model_comb *from,
                     const struct factor *scaling,
                     const struct orr_device *device,
                     struct orr_model_file *file)
{
    struct orr_model_comb *comb;
    int rc = orr_model_file_add_comb(file, device, 1, &comb);

    for (unsigned i = 0; rc == 0 && i < from->nimpls; i++) {
        struct orr_model_impl *impl;

        rc = orr_model_comb_get_impl(comb, i, &impl);
        for (unsigned r = 0; rc == 0 && r < from->impls[i].nrows; r++) {
            struct orr_model_row row = from->impls[i].rows[r];
            double factor = factor_of(scaling, row.flops);

            row.origin = ORR_ORIGIN_UNKNOWN; /* as of the whole machine */
            row.mean *= factor;
            row.dev *= factor;
            row.sum *= factor;
            row.sum2 *= factor * factor;
            rc = orr_model_impl_add_row(impl, &row);
        }
    }
    return rc;
}

static const struct orr_model_comb *
first_single_comb(const struct orr_model_file *file, int type)
{
    for (unsigned c = 0; c < file->ncombs; c++)
        if (file->combs[c].ndevices == 1 &&
            file->combs[c].devices[0].type == type &&
            file->combs[c].devices[0].ncores == 1)
            return &file->combs[c];
    return NULL;
}

static int scale_device(const struct scaling *s, const char *symbol,
                        const struct orr_model_comb *from, unsigned number,
                        struct orr_model_file *to)
{
    const struct machine_plan_device *planned = &s->plan->devices[number];
    const struct machine_device *known = machine_device_find(planned->model);
    struct orr_device device = from->devices[0];
    struct factor factor = {.peaks = s->tflops / planned->tflops};

    if (known && known->tflops == planned->tflops &&
        machine_law_kernel(symbol, &factor.kernel, &factor.is_double)) {
        factor.from = s->device;
        factor.to = known;
    }
    device.devid = (int)number;
    return copy_rows(from, &factor, &device, to);
}

static int scale_model_file(const struct scaling *s, const char *symbol,
                            const struct orr_model_file *from,
                            struct orr_model_file *to)
{
    const struct orr_model_comb *core = first_single_comb(from, ORR_DEVICE_CPU);
    const struct orr_model_comb *cuda =
        first_single_comb(from, ORR_DEVICE_CUDA);
    struct factor factor = {.peaks = s->core_flops / s->plan->core_flops};
    int rc = 0;

    if (core)
        rc = copy_rows(core, &factor, core->devices, to);
    for (unsigned i = 0; rc == 0 && cuda && i < s->plan->ndevices; i++)
        rc = scale_device(s, symbol, cuda, i, to);
    return rc;
}

/* The text of a model file, with a comment on its source. */
static char *derived_text(const struct scaling *s,
                          const struct orr_model_file *file)
{
    char *text, *marked;
    size_t size;

    if (orr_model_file_format(file, &text, &size) < 0)
        return NULL;
    marked = tool_format("# Derived, not measured: times of the catalogue's "
                         "machine %s, scaled by\n# published figures.\n%s",
                         s->nearest->name, text);
    free(text);
    return marked;
}

static int scale_model(const struct perfmodel_item *item, void *arg)
{
    struct scaling *s = arg;
    struct orr_model_file *from = NULL, *to = NULL;
    struct orr_error err = {""};
    char *text = NULL;
    int rc = orr_model_file_read(item->path, &from, &err);

    if (rc == 0)
        rc = orr_model_file_new(&to);
    if (rc == 0)
        rc = scale_model_file(s, item->symbol, from, to);
    if (rc < 0)
        tool_error("%s: %s", item->path,
                   err.text[0] ? err.text : strerror(-rc));
    else
        text = derived_text(s, to);
    if (rc == 0)
        rc = machine_files_add(
            s->files, tool_format("%s/%s.%s", s->folder, item->symbol, s->host),
            text, text ? strlen(text) : 0);
    s->nmodels += rc == 0;
    orr_model_file_free(from);
    orr_model_file_free(to);
    return rc;
}

int machine_scale_models(const struct machine_plan *plan, const char *host,
                         const char *folder, const char *const *sampling_dirs,
                         struct machine_files *files, char **ret_source)
{
    struct scaling s = {.plan = plan,
                        .sampling_dirs = sampling_dirs,
                        .host = host,
                        .folder = folder,
                        .files = files};
    bool known = plan->core_flops > 0;
    int rc;

    for (unsigned i = 0; i < plan->ndevices; i++)
        known &= plan->devices[i].tflops > 0;
    if (!known) {
        tool_error("models cannot be scaled: the peak of the %s is not known; "
                   "give its GHz, or --gpu-tflops",
                   plan->core_flops > 0 ? "devices" : "processor");
        return -EINVAL;
    }
    if (orr_machine_desc_list(sampling_dirs, scaling_visit_catalogue, &s) < 0) {
        tool_error("out of memory");
        orr_machine_desc_free(s.nearest);
        return -ENOMEM;
    }
    if (!s.nearest) {
        tool_error("models cannot be scaled: the catalogue has no machine "
                   "%s devices and with models",
                   plan->ndevices ? "with" : "without");
        return -ENOENT;
    }
    rc = machine_models_each(s.nearest, scale_model, &s);
    if (rc == 0) {
        *ret_source = strdup(s.nearest->name);
        if (!*ret_source) {
            tool_error("out of memory");
            rc = -ENOMEM;
        }
    }
    orr_machine_desc_free(s.nearest);
    return rc;
}
