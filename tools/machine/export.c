/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/export.c - `orrery machine export`: a machine with all that was
 * measured of it in one file (platforms/packed.h). One thread.
 */
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "platforms/packed.h"
#include "platforms/places.h"
#include "platforms/whole_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery machine export [NAME | -m NAME] [--set EDIT] [-o FILE] [--json]\n"
    "Packs a machine, without NAME this one as `orrery calibrate` left it, into one\n"
    "file: its description with links, memories and runtime costs, its measured\n"
    "bandwidths and latencies, and the kernel models of its host, with the samples\n"
    "kept beside them. `orrery machine import` unpacks it elsewhere; orrery run\n"
    "-m FILE.orrery simulates it as it is.\n" EDITS_HELP
    "  -m, --machine NAME         the machine\n"
    "  -o, --output FILE          default: NAME.orrery; -: standard output\n"
    "      --json                 report as JSON what was packed\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine export mirage -o mirage.orrery\n";

struct export
{
    struct orr_packed *packed;
    unsigned nmodels, nsides;
};

static int add_text(struct export *export, const char *name, const char *text,
                    size_t size)
{
    struct orr_error err = {""};
    int rc = orr_packed_add(export->packed, name, text, size, &err);

    if (rc < 0)
        tool_error("machine export: %s", err.text);
    return rc;
}

/* Adds the file `path` as it is; `name` is taken. */
static int export_add_file(struct export *export, char *name, const char *path)
{
    struct orr_error err = {""};
    char *text = NULL;
    size_t size = 0;
    int rc = -ENOMEM;

    if (!name)
        tool_error("out of memory");
    else if ((rc = orr_file_read(path, ORR_PACKED_MAX_BYTES, &text, &size,
                                 &err)) < 0)
        tool_error("%s", err.text);
    else
        rc = add_text(export, name, text, size);
    free(text);
    free(name);
    return rc;
}

/* A broken model is not exported: it is reported here, not at the import. */
static int export_add_model(const struct perfmodel_item *item, void *arg)
{
    struct export *export = arg;
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    char *side = NULL;
    int rc = orr_model_file_read(item->path, &file, &err);

    orr_model_file_free(file);
    if (rc < 0) {
        tool_error("%s", err.text[0] ? err.text : "out of memory");
        return rc;
    }
    rc = export_add_file(export,
                         tool_format(ORR_SAMPLING_CODELETS "/%s", item->name),
                         item->path);
    if (rc < 0)
        return rc;
    export->nmodels++;
    if (orr_side_path(item->path, &side) < 0)
        return 0; /* models are in another folder layout */
    if (access(side, F_OK) == 0) {
        rc = export_add_file(
            export, tool_format("codelets/45.orrery/%s", item->name), side);
        export->nsides++;
    }
    free(side);
    return rc;
}

static int add_matrices(struct export *export,
                        const struct orr_machine_desc *desc)
{
    char *text = NULL;
    size_t size = 0;
    int rc;

    if (!desc->bus_measured)
        return 0;
    rc = machine_matrix_text(desc, desc->bandwidth, &text, &size);
    if (rc < 0)
        return rc;
    rc = add_text(export, "platform.bandwidth", text, size);
    free(text);
    if (rc == 0)
        rc = machine_matrix_text(desc, desc->latency, &text, &size);
    if (rc < 0)
        return rc;
    rc = add_text(export, "platform.latency", text, size);
    free(text);
    return rc;
}

/* Files of StarPU that a simulation does not read, but StarPU may. */
static int export_add_starpu_files(struct export *export,
                                   const struct orr_machine_desc *desc)
{
    static const char *const kinds[] = {"affinity", "config"};
    char *stem = desc->path ? orr_platform_stem(desc->path) : NULL;
    int rc = 0;

    for (size_t i = 0; stem && i < 2 && rc == 0; i++) {
        char *path = tool_format("%s.%s", stem, kinds[i]);

        if (path && access(path, F_OK) == 0)
            rc = export_add_file(export, tool_format("platform.%s", kinds[i]),
                                 path);
        free(path);
    }
    free(stem);
    return rc;
}

static int export_pack(struct export *export,
                       const struct orr_machine_desc *desc)
{
    struct orr_error err = {""};
    char *xml = NULL;
    size_t size = 0;
    int rc = orr_packed_new(desc->name, &export->packed, &err);

    if (rc < 0) {
        tool_error("machine export: %s", err.text);
        return rc;
    }
    rc = machine_xml_text(desc, desc->name, &xml, &size);
    if (rc < 0)
        return rc;
    rc = add_text(export, "platform.xml", xml, size);
    free(xml);
    if (rc == 0)
        rc = add_matrices(export, desc);
    if (rc == 0)
        rc = export_add_starpu_files(export, desc);
    return rc == 0 ? machine_models_each(desc, export_add_model, export) : rc;
}

static void export_report(const struct export *export, const char *path,
                          size_t size, bool json)
{
    json_t *root;

    if (!json) {
        printf("%s: machine %s, %u models, %s, %.1f KiB\n", path,
               export->packed->name, export->nmodels,
               orr_packed_find(export->packed, "platform.bandwidth")
                   ? "measured bus"
                   : "bus parameters from the routes",
               (double)size / 1024);
        return;
    }
    root = json_pack("{s:o, s:s, s:i, s:i, s:I, s:[]}", "file",
                     tool_json_text(path), "machine", export->packed->name,
                     "models", (int)export->nmodels, "side_files",
                     (int)export->nsides, "bytes", (json_int_t)size, "files");
    for (unsigned i = 0; root && i < export->packed->nfiles; i++)
        json_array_append_new(json_object_get(root, "files"),
                              json_string(export->packed->files[i].name));
    if (tool_json_print(root) < 0)
        tool_error("machine export: out of memory");
}

static int export_desc(const struct orr_machine_desc *desc, const char *path,
                       bool json)
{
    struct export export = {0};
    struct orr_error err = {""};
    char *own = NULL, *bytes = NULL;
    size_t size = 0;
    int rc = export_pack(&export, desc);

    if (rc == 0 && !path) {
        own = tool_format("%s" ORR_PACKED_SUFFIX, desc->name);
        path = own;
        if (!own) {
            tool_error("out of memory");
            rc = -ENOMEM;
        }
    }
    if (rc == 0) {
        rc = orr_packed_format(export.packed, &bytes, &size, &err);
        if (rc < 0)
            tool_error("%s", err.text);
        else
            rc = tool_write_file(path, bytes, size);
    }
    if (rc == 0 && strcmp(path, "-") != 0)
        export_report(&export, path, size, json);
    free(own);
    free(bytes);
    orr_packed_free(export.packed);
    return rc;
}

/* What is wrong with the operands, or NULL. */
static const char *wrong_operands(int noperands, const char *machine,
                                  const char *path)
{
    if (noperands > (machine ? 0 : 1))
        return "one NAME or -m NAME; orrery machine list shows those there are";
    if (path && strcmp(path, "-") != 0 && !orr_packed_is_name(path))
        return "-o: the name of a packed machine ends with " ORR_PACKED_SUFFIX;
    return NULL;
}

int machine_export(int argc, char **argv, const char *const *sampling_dirs,
                   bool json)
{
    const char *path = NULL, *edits = NULL, *machine = NULL, *wrong;
    const struct tool_option options[] = {{'m', "machine", &machine, NULL},
                                          {TOOL_JOINED, "set", &edits, NULL},
                                          {'o', "output", &path, NULL},
                                          {0, "json", NULL, &json},
                                          {0}};
    struct orr_machine_desc *desc;
    int noperands, code, rc;

    rc = tool_parse_operands(argc, argv, options, help, &noperands);
    wrong = rc > 0 ? wrong_operands(noperands, machine, path) : NULL;
    if (wrong)
        tool_error("machine export: %s", wrong);
    if (rc <= 0 || wrong) {
        code = rc == 0 ? TOOL_OK : TOOL_USAGE;
    } else {
        rc = machine_open(noperands ? argv[1] : machine, edits, sampling_dirs,
                          &desc, NULL);
        if (rc == 0) {
            rc = export_desc(desc, path, json);
            orr_machine_desc_free(desc);
        }
        code = rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
    }
    free((char *)(uintptr_t)edits);
    return code;
}
