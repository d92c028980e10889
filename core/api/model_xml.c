/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/model_xml.c - writes a loaded model file as XML. One thread.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "core/api/api.h"
#include "core/api/model.h"
#include "core/base/number.h"
#include "core/base/shown.h"

/* The type in capitals, as StarPU writes it; "type9" for one without a name. */
static void print_device(const struct orr_device *device, FILE *out)
{
    const char *type = orr_device_type_name(device->type);

    fputs("    <device type=\"", out);
    for (; type && *type; type++)
        fputc(toupper((unsigned char)*type), out);
    if (!type)
        fprintf(out, "type%d", device->type);
    fprintf(out, "\" id=\"%d\"", device->devid);
    if (device->type == ORR_DEVICE_CPU)
        fprintf(out, " ncores=\"%d\"", device->ncores);
    fputs("/>\n", out);
}

static void print_entry(const struct orr_model_row *row, FILE *out)
{
    orr_fprintf(out,
                "      <entry footprint=\"%08x\" size=\"%" PRIu64
                "\" flops=\"%e\" mean=\"%e\" deviation=\"%e\" sum=\"%e\" "
                "sum2=\"%e\" nsample=\"%u\"/>\n",
                row->hash, row->size, row->flops, row->mean, row->dev, row->sum,
                row->sum2, row->n);
}

static void print_fits(const struct orr_model_fit *fit, FILE *out)
{
    if (!isnan(fit->alpha) && !isnan(fit->beta))
        orr_fprintf(out,
                    "      <l_regression sumlnx=\"%e\" sumlnx2=\"%e\" "
                    "sumlny=\"%e\" sumlnxlny=\"%e\" alpha=\"%e\" beta=\"%e\" "
                    "nsample=\"%u\" minx=\"%" PRIu64 "\" maxx=\"%" PRIu64 "\"/>\n",
                    fit->sumlnx, fit->sumlnx2, fit->sumlny, fit->sumlnxlny,
                    fit->alpha, fit->beta, fit->n, fit->minx, fit->maxx);
    if (!isnan(fit->a) && !isnan(fit->b) && !isnan(fit->c))
        orr_fprintf(out, "      <nl_regression a=\"%e\" b=\"%e\" c=\"%e\"/>\n",
                    fit->a, fit->b, fit->c);
}

/* Text within quotation marks. */
static void print_escaped(const char *text, FILE *out)
{
    size_t n;
    const char *shown;

    while ((shown = orr_shown_next(&text, &n), n > 0))
        switch (*shown) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fwrite(shown, 1, n, out);
        }
}

/* The parameters of term `term` (0: the constant) by name and exponent, when
 * the application has named them: files do not. */
static void print_parameters(const struct starpu_perfmodel *model,
                             unsigned term, FILE *out)
{
    if (term == 0 || term > model->ncombinations || !model->combinations)
        return;
    for (unsigned p = 0; p < model->nparameters; p++) {
        unsigned exponent = model->combinations[term - 1][p];

        if (exponent == 0 || !model->parameters_names)
            continue;
        fputs("          <parameter name=\"", out);
        print_escaped(model->parameters_names[p], out);
        fprintf(out, "\" exponent=\"%u\"/>\n", exponent);
    }
}

static void model_xml_polynomial(const struct starpu_perfmodel *model,
                                 const struct orr_model_fit *fit, FILE *out)
{
    fputs("      <ml_regression>\n", out);
    for (unsigned i = 0; i < fit->ncoeff; i++) {
        orr_fprintf(out, "        <monomial number=\"%u\" coefficient=\"%e\">\n", i,
                    fit->coeff[i]);
        print_parameters(model, i, out);
        fputs("        </monomial>\n", out);
    }
    fputs("      </ml_regression>\n", out);
}

static void print_comb(const struct starpu_perfmodel *model,
                       const struct orr_model_comb *comb, FILE *out)
{
    fputs("  <combination>\n", out);
    for (unsigned d = 0; d < comb->ndevices; d++)
        print_device(&comb->devices[d], out);
    for (unsigned i = 0; i < comb->nimpls; i++) {
        const struct orr_model_impl *impl = &comb->impls[i];

        fprintf(out, "    <implementation id=\"%u\">\n", i);
        for (unsigned r = 0; r < impl->nrows; r++)
            print_entry(&impl->rows[r], out);
        print_fits(&impl->fit, out);
        if (impl->fit.ncoeff > 0)
            model_xml_polynomial(model, &impl->fit, out);
        fputs("    </implementation>\n", out);
    }
    fputs("  </combination>\n", out);
}

void starpu_perfmodel_dump_xml(FILE *output, struct starpu_perfmodel *model)
{
    const struct orr_model_file *file = orr_api_model_file(__func__, model);

    if (!file)
        return;
    fprintf(output,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<perfmodel version=\"%d\">\n",
            ORR_MODEL_VERSION);
    for (unsigned c = 0; c < file->ncombs; c++)
        print_comb(model, &file->combs[c], output);
    fputs("</perfmodel>\n", output);
}
