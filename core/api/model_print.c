/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/model_print.c - writes the contents of a loaded model file as
 * starpu_perfmodel_display shows them. One thread.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/api/api.h"
#include "core/api/model.h"
#include "core/base/number.h"
#include "core/cost/ask.h"
#include "core/cost/estimates.h"
#include "core/worker/workers.h"

/* What is to be written. */
struct request {
    const struct starpu_perfmodel *model;
    const char *parameter;     /* NULL: all, else the name of one value */
    const uint32_t *footprint; /* NULL: all rows */
    FILE *out;
};

const struct orr_model_file *orr_api_model_file(const char *call,
                                                struct starpu_perfmodel *model)
{
    if (model->state && model->state->file)
        return model->state->file;
    orr_log_error("%s: no file was loaded; call starpu_perfmodel_load_symbol "
                  "first",
                  call);
    return NULL;
}

static bool row_wanted(const struct orr_model_row *row,
                       const struct request *request)
{
    return !request->footprint || row->hash == *request->footprint;
}

static void print_fit(const struct orr_model_fit *fit, FILE *out)
{
    if (fit->alpha == fit->alpha && fit->beta == fit->beta)
        orr_fprintf(out,
                    "\tRegression : #sample = %u\n\tLinear: y = alpha size ^ "
                    "beta\n\t\talpha = %e\n\t\tbeta = %e\n",
                    fit->n, fit->alpha, fit->beta);
    if (fit->a == fit->a && fit->b == fit->b && fit->c == fit->c)
        orr_fprintf(out,
                    "\tNon-Linear: y = a size ^b + c\n\t\ta = %e\n\t\tb = "
                    "%e\n\t\tc = %e\n",
                    fit->a, fit->b, fit->c);
}

static void model_print_polynomial(const struct orr_model_fit *fit, FILE *out)
{
    if (!fit->ncoeff)
        return;
    fprintf(out, "\tMultiple: y = sum of coeff times powers of parameters\n");
    for (unsigned i = 0; i < fit->ncoeff; i++)
        orr_fprintf(out, "\t\tcoeff[%u] = %e\n", i, fit->coeff[i]);
}

static void model_print_rows(const struct orr_model_impl *impl,
                             const struct request *request)
{
    if (!impl->nrows)
        return;
    fprintf(request->out,
            "# hash\t\tsize\t\tflops\t\tmean (us or J)\tstddev (us "
            "or J)\t\tn\n");
    for (unsigned i = 0; i < impl->nrows; i++) {
        const struct orr_model_row *row = &impl->rows[i];

        if (row_wanted(row, request))
            orr_fprintf(
                request->out, "%08x\t%-15" PRIu64 "\t%-15e\t%-15e\t%-15e\t%u\n",
                row->hash, row->size, row->flops, row->mean, row->dev, row->n);
    }
}

static bool print_one(const struct orr_model_impl *impl,
                      const struct request *request)
{
    const struct orr_model_fit *fit = &impl->fit;
    const struct {
        const char *name;
        double value;
    } fits[] = {{"a", fit->a},
                {"b", fit->b},
                {"c", fit->c},
                {"alpha", fit->alpha},
                {"beta", fit->beta}};
    bool mean = !strcmp(request->parameter, "mean");

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
        if (!strcmp(request->parameter, fits[i].name)) {
            orr_fprintf(request->out, "%e\n", fits[i].value);
            return true;
        }
    if (!strcmp(request->parameter, "path-file-debug")) {
        char *side = orr_api_model_side(request->model);

        fprintf(request->out, "%s\n", side ? side : "");
        free(side);
        return true;
    }
    if (!mean && strcmp(request->parameter, "stddev") != 0)
        return false;
    for (unsigned i = 0; i < impl->nrows; i++)
        if (row_wanted(&impl->rows[i], request))
            orr_fprintf(request->out, "%e\n",
                        mean ? impl->rows[i].mean : impl->rows[i].dev);
    return true;
}

/* False: there is no such parameter. */
static bool print_impl(const struct orr_model_comb *comb, unsigned impl,
                       const struct request *request)
{
    char name[ORR_ARCH_NAME_SIZE];

    if (request->parameter)
        return print_one(&comb->impls[impl], request);
    orr_arch_name(comb->devices, comb->ndevices, comb->number, impl, name);
    fprintf(request->out, "# performance model for %s\n", name);
    print_fit(&comb->impls[impl].fit, request->out);
    model_print_polynomial(&comb->impls[impl].fit, request->out);
    model_print_rows(&comb->impls[impl], request);
    fputc('\n', request->out);
    return true;
}

static void model_refuse_parameter(const char *call, const char *parameter)
{
    orr_log_error("%s: there is no parameter `%s'; known are a, b, c, alpha, "
                  "beta, mean, stddev, path-file-debug",
                  call, parameter);
}

void starpu_perfmodel_print(struct starpu_perfmodel *model,
                            struct starpu_perfmodel_arch *arch, unsigned nimpl,
                            char *parameter, uint32_t *footprint, FILE *output)
{
    ORR_QUESTION();
    const struct orr_model_file *file = orr_api_model_file(__func__, model);
    struct request request = {model, parameter, footprint, output};
    struct orr_device devices[ORR_API_MAXDEVICES];
    unsigned n = orr_api_devices(arch->devices, arch->ndevices, devices,
                                 ORR_API_MAXDEVICES);
    struct orr_model_comb *comb =
        file ? orr_model_file_find_comb(file, devices, n, 0) : NULL;

    if (comb && nimpl < comb->nimpls && !print_impl(comb, nimpl, &request))
        model_refuse_parameter(__func__, parameter);
}

/* -- one value per worker -- */

/* The mean of a footprint for implementation 0 on a comb, from the loaded file
 * or else the runtime's model; infinite when it is unknown. */
static double mean_of(const struct orr_runtime *rt,
                      const struct orr_model_file *file,
                      const struct orr_model *model, unsigned comb,
                      uint32_t footprint)
{
    const struct orr_comb *ours =
        orr_combs_at(orr_models_combs(rt->estimates->models), comb);
    const struct orr_model_comb *found;
    const struct orr_model_row *row = NULL;
    const struct orr_entry *entry;
    struct orr_model_row now;

    if (file) {
        found = orr_model_file_find_comb(file, ours->devices, ours->ndevices,
                                         rt->estimates->homogeneous);
        if (found && found->nimpls)
            row = orr_model_impl_find_row(&found->impls[0], footprint);
    } else {
        entry = orr_model_find(model, comb, 0, footprint);
        if (entry)
            orr_entry_read(entry, &now);
        row = entry ? &now : NULL;
    }
    return row && row->n > 0 ? row->mean : (double)INFINITY;
}

int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model,
                                       uint32_t footprint, FILE *output)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    const struct orr_model_file *file =
        model->state ? model->state->file : NULL;
    const struct orr_model *ours = file ? NULL : orr_cost_model(rt, model);

    if (!file && !ours) {
        orr_log_error("%s: the model has no measures: call "
                      "starpu_perfmodel_load_symbol first, or give it a type "
                      "and a symbol",
                      __func__);
        return 1;
    }
    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_fprintf(output, "%s%e", w ? " " : "",
                    mean_of(rt, file, ours,
                            rt->workers->classes[rt->workers->at[w].class_id].comb,
                            footprint));
    return 0;
}

/* -- all architectures -- */

/* Whether all of the text is that number. */
static bool is_number(const char *text, int number)
{
    char *end;
    long value = strtol(text, &end, 10);

    return *text && !*end && value == number;
}

/* Whether the comb is what `arch` names: "cpu", "cpu:2" (cores), "cuda",
 * "cuda1", "cuda_1". NULL names all. */
static bool comb_wanted(const struct orr_model_comb *comb, const char *arch)
{
    const struct orr_device *device = &comb->devices[0];
    const char *type = orr_device_type_name(device->type);
    size_t length = type ? strlen(type) : 0;

    if (!arch)
        return true;
    if (comb->ndevices != 1 || !type || strncasecmp(arch, type, length) != 0)
        return false;
    arch += length;
    if (*arch == '\0')
        return true;
    if (*arch == ':')
        return is_number(arch + 1, device->ncores);
    return is_number(arch + (*arch == '_'), device->devid);
}

int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch,
                               char *parameter, uint32_t *footprint,
                               FILE *output)
{
    ORR_QUESTION();
    const struct orr_model_file *file = orr_api_model_file(__func__, model);
    struct request request = {model, parameter, footprint, output};

    if (!file)
        return 1;
    for (unsigned c = 0; c < file->ncombs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];

        for (unsigned i = 0; comb_wanted(comb, arch) && i < comb->nimpls; i++)
            if (!print_impl(comb, i, &request)) {
                model_refuse_parameter(__func__, parameter);
                return 1;
            }
    }
    return 0;
}

int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model)
{
    const struct orr_model_file *file = orr_api_model_file(__func__, model);

    if (!file)
        return 1;
    for (unsigned c = 0; c < file->ncombs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];

        fprintf(output, "Comb %u: %u device%s\n", comb->number, comb->ndevices,
                comb->ndevices == 1 ? "" : "s");
        for (unsigned d = 0; d < comb->ndevices; d++) {
            const char *type = orr_device_type_name(comb->devices[d].type);

            fprintf(output, "\tDevice %u: type: %s - devid: %d - ncores: %d\n",
                    d, type ? type : "?", comb->devices[d].devid,
                    comb->devices[d].ncores);
        }
    }
    return 0;
}
