/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/show.c - `orrery perfmodel show`: the content of one model.
 * One thread.
 */
#include "tools/perfmodel/show.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery perfmodel show SYMBOL [-m MACHINE] [--host HOST] [--arch ARCH]\n"
    "                             [--energy] [--json]\n"
    "Shows the model of a kernel: the measured times by architecture and size, robust\n"
    "statistics where a side file has samples, formulas, and their errors.\n"
    "  -m, --machine MACHINE  the model of a machine, else this one's\n"
    "      --host HOST        the model of this host\n"
    "      --arch ARCH        only cuda0, cpu0:4 (4 cores), or cuda for all of a type\n"
    "      --energy           the values are joules\n"
    "      --json             as JSON, with more digits\n"
    "Errors of formulas come from leaving each size out in turn. A formula holds\n"
    "between the smallest and the largest size; beyond them nothing is known.\n"
    "Exit codes: 0; 1 when there is no such model or architecture; 2 for a wrong\n"
    "command line.\n"
    "example: orrery perfmodel show chol_model_gemm --host mirage --arch cuda0\n";

static bool has_arch(const struct perfmodel_view *view)
{
    const struct orr_model_file *file = view->data->file;
    char text[PERFMODEL_TEXT];

    for (unsigned c = 0; c < file->ncombs; c++)
        if (perfmodel_arch_wanted(view->arch, file->combs[c].devices,
                                  file->combs[c].ndevices))
            return true;
    if (!view->arch)
        return true; /* there is nothing */
    fprintf(stderr, "orrery: the model %s has no architecture %s, but",
            view->symbol, view->arch);
    for (unsigned c = 0; c < file->ncombs; c++)
        fprintf(stderr, "%s %s", c ? "," : "",
                perfmodel_arch_text(file->combs[c].devices,
                                    file->combs[c].ndevices, text));
    fputs(file->ncombs ? "\n" : " none\n", stderr);
    return false;
}

static int show_data(struct perfmodel_view *view, bool json)
{
    int rc = -ENOENT;

    if (view->data->state == PERFMODEL_SIDE_BROKEN)
        tool_error("warning: %s", view->data->problem.text);
    if (has_arch(view))
        rc = json ? perfmodel_show_json(view) : perfmodel_show_text(view);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    return rc;
}

static int show_file(const struct perfmodel_place *place, const char *path,
                     const char *arch, bool energy, bool json)
{
    const char *name = strrchr(path, '/') + 1;
    const char *dot = strchr(name, '.');
    char *symbol = strndup(name, strcspn(name, "."));
    struct perfmodel_data data;
    struct perfmodel_view view = {.symbol = symbol,
                                  .host = dot ? dot + 1 : "",
                                  .path = path,
                                  .arch = arch,
                                  .energy = energy,
                                  .data = &data};
    struct orr_error err = {""};
    int rc = symbol ? perfmodel_load(path, &data, &err) : -ENOMEM;

    if (rc < 0) {
        if (rc == -ENODATA)
            tool_error("%s: the file is empty, which counts as no model; a run "
                       "with STARPU_CALIBRATE=1 fills it, orrery perfmodel "
                       "prune --empty removes it",
                       path);
        else
            tool_report(&err, rc);
    } else {
        if (energy)
            perfmodel_note_energy(symbol);
        view.origin = perfmodel_origin(place, path, data.file);
        rc = show_data(&view, json);
        perfmodel_unload(&data);
    }
    free(symbol);
    return rc;
}

int perfmodel_show(int argc, char **argv)
{
    struct perfmodel_choice choice = {NULL, NULL};
    const char *arch = NULL;
    bool json = false, energy = false;
    const struct tool_option options[] = {
        {'m', "machine", &choice.machine, NULL},
        {0, "host", &choice.host, NULL},
        {0, "arch", &arch, NULL},
        {0, "energy", NULL, &energy},
        {0, "json", NULL, &json},
        {0}};
    struct perfmodel_place place;
    char *path = NULL;
    int noperands = 0,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands != 1) {
        tool_error("perfmodel show: name one model; orrery perfmodel list "
                   "shows those there are");
        return TOOL_USAGE;
    }
    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    rc = perfmodel_find(&place, argv[1], &path);
    if (rc == 0)
        rc = show_file(&place, path, arch, energy, json);
    free(path);
    perfmodel_close(&place);
    return rc < 0 || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
}
