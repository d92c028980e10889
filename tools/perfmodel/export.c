/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/export.c - `orrery perfmodel export`: models with their side
 * files as JSON (json.h) or CSV. One thread.
 */
#include "tools/common/printed.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/json.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel export --json|--csv [-m MACHINE] [--host HOST]\n"
    "                               [-o FILE] [SYMBOL...]\n"
    "Writes the models of a host, all or those named (patterns like 'chol_*' too),\n"
    "with what their side files know: samples, outliers, estimates.\n"
    "      --json             all of it; orrery perfmodel import reads it\n"
    "      --csv              a line per entry and per regression, for spreadsheets\n"
    "  -o, --output FILE      there instead of on standard output\n"
    "  -m, --machine MACHINE  the models of a machine, else this one's\n"
    "      --host HOST        the models of this host\n"
    "In CSV `architecture` is as in `list`, `recent` and `blocks` are numbers with\n"
    "blanks between, `!` behind outliers, NaN is empty. Times are µs (J in energy\n"
    "models), sizes bytes.\n"
    "Exit codes: 0; 1 when there is no such model or one is broken, nothing is\n"
    "written then; 2 for a wrong command line.\n"
    "example: orrery perfmodel export --json -o models.json 'chol_*'\n";

/* -- CSV -- */

static const char csv_title[] =
    "kind,symbol,host,architecture,implementation,footprint,size,flops,mean,"
    "deviation,sum,sum2,n,estimate,seen,outliers,first_runs,first_sum,"
    "last_time,recent,block_size,blocks,tail_sum,tail_n,sumlnx,sumlnx2,sumlny,"
    "sumlnxlny,alpha,beta,fit_n,minx,maxx,a,b,c,coefficients,origin\n";

/* Fields of a line: of entries 19, then 13 of regressions. */
#define CSV_ENTRY_FIELDS 19
#define CSV_FIT_FIELDS   13

/* The shortest of two forms that reads back as the same number. */
static void csv_real(FILE *out, double value)
{
    char text[40];

    if (isnan(value))
        return;
    snprintf(text, sizeof(text), "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof(text), "%.17g", value);
    fputs(text, out);
}

static void csv_head(FILE *out, const char *kind,
                     const struct perfmodel_item *item,
                     const struct orr_model_comb *comb, unsigned impl)
{
    char arch[PERFMODEL_TEXT];

    fprintf(out, "%s,", kind);
    printed_csv(out, item->symbol);
    fputc(',', out);
    printed_csv(out, item->host);
    fprintf(out, ",%s,%u",
            perfmodel_arch_text(comb->devices, comb->ndevices, arch), impl);
}

static void csv_side(FILE *out, const struct orr_side_entry *side)
{
    fputc(',', out);
    csv_real(out, side->estimate);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", side->nseen,
            side->noutliers, side->nfirst);
    csv_real(out, side->first_sum);
    fprintf(out, ",%" PRId64 ",", side->last_time);
    for (unsigned i = 0; i < side->nrecent; i++) {
        fputs(i ? " " : "", out);
        csv_real(out, side->recent[i]);
        fputs(side->set_aside[i] ? "!" : "", out);
    }
    fprintf(out, ",%u,", side->blocksize);
    for (unsigned i = 0; i < side->nblocks; i++) {
        fputs(i ? " " : "", out);
        csv_real(out, side->blocks[i]);
    }
    fputc(',', out);
    csv_real(out, side->tail_sum);
    fputc(',', out);
    csv_real(out, side->tail_n);
}

static void csv_commas(FILE *out, int n)
{
    while (n-- > 0)
        fputc(',', out);
}

static void csv_entry(FILE *out, const struct orr_model_row *row,
                      const struct orr_side_entry *side, enum orr_origin origin)
{
    const double reals[] = {row->flops, row->mean, row->dev, row->sum,
                            row->sum2};

    fprintf(out, ",%08" PRIx32 ",%" PRIu64, row->hash, row->size);
    for (size_t i = 0; i < sizeof(reals) / sizeof(*reals); i++) {
        fputc(',', out);
        csv_real(out, reals[i]);
    }
    fprintf(out, ",%" PRIu32, row->n);
    if (side)
        csv_side(out, side);
    else
        csv_commas(out, CSV_ENTRY_FIELDS - 8);
    csv_commas(out, CSV_FIT_FIELDS);
    fprintf(out, ",%s\n",
            orr_origin_name(perfmodel_row_origin(row, origin, side)));
}

static void csv_fit(FILE *out, const struct orr_model_fit *fit,
                    enum orr_origin origin)
{
    const double before[] = {fit->sumlnx,    fit->sumlnx2, fit->sumlny,
                             fit->sumlnxlny, fit->alpha,   fit->beta};
    const double after[] = {fit->a, fit->b, fit->c};

    csv_commas(out, CSV_ENTRY_FIELDS);
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
        fputc(',', out);
        csv_real(out, before[i]);
    }
    fprintf(out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64, fit->n, fit->minx,
            fit->maxx);
    for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++) {
        fputc(',', out);
        csv_real(out, after[i]);
    }
    fputc(',', out);
    for (unsigned i = 0; i < fit->ncoeff; i++) {
        fputs(i ? " " : "", out);
        csv_real(out, fit->coeff[i]);
    }
    fprintf(out, ",%s\n", orr_origin_name(origin));
}

static void csv_model(FILE *out, const struct perfmodel_item *item,
                      const struct perfmodel_data *data, enum orr_origin origin)
{
    for (unsigned c = 0; c < data->file->ncombs; c++) {
        const struct orr_model_comb *comb = &data->file->combs[c];

        for (unsigned i = 0; i < comb->nimpls; i++) {
            const struct orr_model_impl *impl = &comb->impls[i];

            for (unsigned r = 0; r < impl->nrows; r++) {
                csv_head(out, "entry", item, comb, i);
                csv_entry(
                    out, &impl->rows[r],
                    perfmodel_side_of(data, comb, i, &impl->rows[r], NULL),
                    origin);
            }
            if (!orr_model_fit_is_empty(&impl->fit)) {
                csv_head(out, "regression", item, comb, i);
                csv_fit(out, &impl->fit, origin);
            }
        }
    }
}

/* -- the files -- */

struct export
{
    const struct perfmodel_place *place;
    char **symbols; /* patterns, borrowed; none: all */
    int nsymbols;
    bool *matched; /* owned; one per pattern */
    json_t *list;  /* NULL: CSV */
    FILE *csv;     /* NULL: JSON */
};

/* A name matches as a symbol or with its host. */
static bool export_wants_model(struct export *export,
                               const struct perfmodel_item *item)
{
    bool any = export->nsymbols == 0;

    for (int i = 0; i < export->nsymbols; i++)
        if (fnmatch(export->symbols[i], item->symbol, 0) == 0 ||
            fnmatch(export->symbols[i], item->name, 0) == 0)
            any = export->matched[i] = true;
    return any;
}

static int export_visit_model(const struct perfmodel_item *item, void *arg)
{
    struct export *export = arg;
    struct perfmodel_data data;
    struct orr_error err = {""};
    enum orr_origin origin;
    int rc;

    if (item->shadowed || !export_wants_model(export, item))
        return 0;
    rc = perfmodel_load(item->path, &data, &err);
    if (rc == -ENODATA || rc == -ENOENT)
        return 0; /* empty counts as absent */
    if (rc < 0) {
        tool_report(&err, rc);
        return -ECANCELED;
    }
    if (data.state == PERFMODEL_SIDE_BROKEN)
        tool_error("warning: %s", data.problem.text);
    origin = perfmodel_origin(export->place, item->path, data.file);
    if (export->csv)
        csv_model(export->csv, item, &data, origin);
    else if (json_array_append_new(export->list,
                                   perfmodel_to_json(item->symbol, item->host,
                                                     origin, &data)) < 0)
        rc = -ENOMEM;
    perfmodel_unload(&data);
    return rc;
}

static int export_collect_models(struct export *export,
                                 const struct perfmodel_place *place)
{
    int rc;

    export->place = place;
    rc = perfmodel_each(place, place->host, export_visit_model, export);
    for (int i = 0; rc == 0 && i < export->nsymbols; i++)
        if (!export->matched[i]) {
            tool_error("there is no model %s of host %s; orrery perfmodel list "
                       "shows those there are, --host names another host",
                       export->symbols[i], place->host);
            return -ENOENT;
        }
    if (rc < 0 && rc != -ECANCELED)
        tool_error("perfmodel export: %s", strerror(-rc));
    return rc;
}

static int export_json(struct export *export,
                       const struct perfmodel_place *place, const char *output)
{
    json_t *all;
    char *text, *line;
    int rc;

    export->list = json_array();
    all = json_pack("{s:s, s:i, s:O?}", "format", PERFMODEL_FORMAT, "version",
                    PERFMODEL_FORMAT_VERSION, "models", export->list);
    rc = export_collect_models(export, place);
    text = rc == 0 && all ? json_dumps(all, JSON_INDENT(1)) : NULL;
    line = text ? tool_format("%s\n", text) : NULL;
    if (rc == 0 && !line) {
        tool_error("out of memory");
        rc = -ENOMEM;
    }
    if (rc == 0)
        rc = tool_write_file(output, line, strlen(line));
    free(line);
    free(text);
    json_decref(all);
    json_decref(export->list);
    return rc;
}

static int export_csv(struct export *export,
                      const struct perfmodel_place *place, const char *output)
{
    char *text = NULL;
    size_t size = 0;
    int rc;

    export->csv = open_memstream(&text, &size);
    if (!export->csv) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    fputs(csv_title, export->csv);
    rc = export_collect_models(export, place);
    if (fclose(export->csv) != 0 && rc == 0) {
        tool_error("out of memory");
        rc = -ENOMEM;
    }
    if (rc == 0)
        rc = tool_write_file(output, text, size);
    free(text);
    return rc;
}

int perfmodel_export(int argc, char **argv)
{
    struct perfmodel_choice choice = {NULL, NULL};
    const char *output = NULL;
    bool json = false, csv = false;
    const struct tool_option options[] = {
        {'m', "machine", &choice.machine, NULL},
        {0, "host", &choice.host, NULL},
        {'o', "output", &output, NULL},
        {0, "json", NULL, &json},
        {0, "csv", NULL, &csv},
        {0}};
    struct export export = {.symbols = argv + 1};
    struct perfmodel_place place;
    int rc = tool_parse_operands(argc, argv, options, help, &export.nsymbols);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (json == csv) {
        tool_error("perfmodel export: give --json or --csv");
        return TOOL_USAGE;
    }
    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    export.matched = calloc((size_t)argc, sizeof(*export.matched));
    if (!export.matched) {
        tool_error("out of memory");
        rc = -ENOMEM;
    } else {
        rc = (json ? export_json : export_csv)(&export, &place, output);
    }
    free(export.matched);
    perfmodel_close(&place);
    return rc < 0 ? TOOL_FAILED : TOOL_OK;
}
