/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/plot.c - `orrery perfmodel plot`: a picture of one kernel's
 * times over sizes. One thread.
 */
#include "tools/common/plot.h"
#include "tools/common/json.h"
#include "tools/common/near.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/json.h"
#include "tools/perfmodel/model_plot.h"
#include "tools/perfmodel/perfmodel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel plot SYMBOL [-o FILE.svg|.png] [-m MACHINE]\n"
    "                             [--host HOST] [--arch ARCH] [--gflops | --energy]\n"
    "                             [--linear | --log] [--json]\n"
    "Draws the times of a kernel over the size of its data: what was measured, with\n"
    "95 % intervals, and what is predicted between, with the expected error.\n"
    "  -o, --output FILE      SYMBOL.svg without; the suffix is the format\n"
    "  -m, --machine MACHINE  the model of a machine, else this one's\n"
    "      --host HOST        the model of this host\n"
    "      --arch ARCH        only cuda0, cpu0:4 (4 cores), or cuda for all of a type\n"
    "      --gflops           GFlop/s instead of times, where flops are known\n"
    "      --energy           the values are joules\n"
    "      --linear, --log    the axes; logarithmic without, but for GFlop/s\n"
    "      --json             print what was drawn as JSON\n"
    "Exit codes: 0; 1 when there is no such model or nothing to draw; 2 for a wrong\n"
    "command line.\n"
    "example: orrery perfmodel plot chol_model_gemm --host mirage -o gemm.png\n";

/* "mygemm.mirage" and "mygemm" are titled alike. */
static char *kernel_title(const char *symbol)
{
    return strndup(symbol, strcspn(symbol, "."));
}

static int draw_model_plot(const struct model_plot *model, const char *path)
{
    struct plot plot;

    if (plot_begin_paper(&plot, path, 820, 500) < 0)
        return -1;
    fputs("$data << EOD\n", plot.pipe);
    model_plot_write_data(model, plot.pipe);
    fputs("EOD\n", plot.pipe);
    model_plot_write_script(model, plot.pipe, "$data");
    return plot_end(&plot);
}

/* --- what was drawn as JSON --- */

static json_t *point_json(const struct model_plot_point *point, bool measured)
{
    json_t *json = json_pack("{s:f, s:o, s:o, s:o}", "size", point->x, "value",
                             perfmodel_json_real(point->y), "low",
                             perfmodel_json_real(point->lo), "high",
                             perfmodel_json_real(point->hi));

    if (json && measured) {
        json_object_set_new(json, "samples", json_real(point->n));
        json_object_set_new(json, "origin",
                            json_string(orr_origin_name(point->origin)));
    }
    return json;
}

static json_t *line_json(const struct model_plot_line *line, bool measured)
{
    json_t *list = json_array();

    for (unsigned i = 0; list && i < line->n; i++)
        if (json_array_append_new(list, point_json(&line->at[i], measured))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *series_json(const struct model_plot *plot)
{
    json_t *list = json_array();

    for (unsigned i = 0; list && i < plot->nseries; i++) {
        const struct model_plot_series *series = &plot->series[i];

        if (json_array_append_new(
                list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                                tool_json_text(series->label), "points",
                                line_json(&series->points, true), "computed",
                                line_json(&series->computed, true), "curve",
                                line_json(&series->curve, false), "formula",
                                line_json(&series->regression, false)))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int print_plot_json(const struct model_plot *plot, const char *symbol,
                           const char *path)
{
    return tool_json_print(json_pack(
        "{s:o, s:o, s:o, s:s, s:s, s:i, s:o}", "symbol", tool_json_text(symbol),
        "host", tool_json_text(plot->choice.host), "picture",
        tool_json_text(path), "size_unit", "B", "unit",
        plot->choice.gflops   ? "GFlop/s"
        : plot->choice.energy ? "J"
                              : "us",
        "left_out", (int)plot->nmissing, "series", series_json(plot)));
}

/* Reports why there is nothing to draw. */
static void report_empty(const struct model_plot *plot, const char *symbol)
{
    if (plot->nmissing)
        tool_error(
            "perfmodel plot: the flops of %s are not known; set the "
            "field flops of its tasks and measure, or leave --gflops out",
            symbol);
    else if (plot->choice.arch)
        tool_error("perfmodel plot: %s has no measures for %s; orrery "
                   "perfmodel check shows its architectures",
                   symbol, plot->choice.arch);
    else
        tool_error("perfmodel plot: %s has no measures yet; run a program with "
                   "STARPU_CALIBRATE=1",
                   symbol);
}

static int plot_file(const struct perfmodel_place *place,
                     const char *model_path, const char *symbol,
                     struct model_plot_choice *choice, const char *output,
                     bool json)
{
    struct perfmodel_data data;
    struct orr_error err = {""};
    struct check_model model;
    struct model_plot plot;
    int rc = perfmodel_load(model_path, &data, &err);

    if (rc < 0) {
        tool_report(&err, rc);
        return TOOL_FAILED;
    }
    model = (struct check_model){
        .symbol = symbol,
        .file = data.file,
        .side = data.side,
        .origin = perfmodel_origin(place, model_path, data.file)};
    rc = model_plot_build(&model, choice, &plot);
    if (rc < 0) {
        tool_error("out of memory");
    } else {
        if (plot.nseries == 0) {
            report_empty(&plot, symbol);
            rc = -1;
        } else {
            rc = draw_model_plot(&plot, output);
            if (rc == 0 && choice->energy)
                perfmodel_note_energy(symbol);
        }
        if (rc == 0 && plot.nmissing)
            tool_error("%u architecture%s left out: the flops are not known",
                       plot.nmissing, plot.nmissing == 1 ? " is" : "s are");
        if (rc == 0 && json && print_plot_json(&plot, symbol, output) < 0) {
            tool_error("out of memory");
            rc = -1;
        }
        model_plot_done(&plot);
    }
    perfmodel_unload(&data);
    if (rc == 0 && !json)
        printf("%s\n", output);
    return rc < 0 ? TOOL_FAILED : TOOL_OK;
}

static int plot_symbol(const char *symbol, const struct perfmodel_choice *where,
                       struct model_plot_choice *choice, const char *output,
                       bool json)
{
    struct perfmodel_place place;
    char *path = NULL, *title, *file;
    int result = TOOL_FAILED;

    if (perfmodel_open(where, &place) < 0)
        return TOOL_FAILED;
    choice->host = place.host;
    title = kernel_title(symbol);
    file = output ? strdup(output) : tool_format("%s.svg", symbol);
    if (!title || !file)
        tool_error("out of memory");
    else if (perfmodel_find(&place, symbol, &path) == 0) {
        result = plot_file(&place, path, title, choice, file, json);
    } else
        near_suggest(&place, symbol);
    free(path);
    free(title);
    free(file);
    perfmodel_close(&place);
    return result;
}

int perfmodel_plot(int argc, char **argv)
{
    struct perfmodel_choice where = {0};
    struct model_plot_choice choice = {0};
    const char *output = NULL;
    bool json = false;
    const struct tool_option options[] = {
        {'o', "output", &output, NULL},
        {'m', "machine", &where.machine, NULL},
        {0, "host", &where.host, NULL},
        {0, "arch", &choice.arch, NULL},
        {0, "gflops", NULL, &choice.gflops},
        {0, "energy", NULL, &choice.energy},
        {0, "linear", NULL, &choice.linear},
        {0, "log", NULL, &choice.logarithmic},
        {0, "json", NULL, &json},
        {0}};
    int noperands = 0;
    int rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands != 1)
        tool_error("perfmodel plot: %s; see orrery perfmodel plot --help",
                   noperands ? "one symbol at a time" : "which symbol?");
    else if (choice.linear && choice.logarithmic)
        tool_error("perfmodel plot: --log and --linear contradict each other");
    else if (choice.gflops && choice.energy)
        tool_error("perfmodel plot: --gflops needs times, not --energy");
    else {
        rc = plot_check_name("perfmodel plot: -o", output);
        return rc == TOOL_OK
                   ? plot_symbol(argv[1], &where, &choice, output, json)
                   : rc;
    }
    return TOOL_USAGE;
}
