/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/import.c - `orrery machine import`: puts a packed machine, or
 * one that hwloc and nvidia-smi describe, where -m finds it by its name. All of
 * a packed machine is read and checked before anything is written. One thread.
 */
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"
#include "tools/machine/plan.h"
#include "tools/machine/topology.h"

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/packed.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine import FILE.orrery [--name NAME] [--force] [--json]\n"
    "       orrery machine import --hwloc FILE.xml [--nvidia-topo FILE.txt]\n"
    "           [--gpu MODEL] [--pcie GEN] [--name NAME] [-o FILE] [--force] [--json]\n"
    "Unpacks what `orrery machine export` packed into the first sampling directory,\n"
    "after which NAME is a machine that -m knows; or makes a description from what\n"
    "`lstopo --of xml` wrote on a machine, and `nvidia-smi topo -m`, if there are\n"
    "GPUs. Speeds of links are then assumed (they are printed) and marked derived.\n"
    "      --name NAME         call it so (its models too), not by its own name\n"
    "      --force             replace files that are there\n"
    "      --hwloc FILE        processors, memories and devices\n"
    "      --nvidia-topo FILE  how the GPUs are connected\n"
    "      --gpu MODEL         what they are when hwloc does not know; for names see\n"
    "                          orrery machine new --help\n"
    "      --pcie GEN          3, 4 or 5; default: as hwloc reports the link, or 4\n"
    "  -o, --output FILE       the description goes to this platform file instead\n"
    "      --json              report as JSON what was made\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine import mirage.orrery --name theirs &&\n"
    "             orrery run -m theirs -- ./cholesky\n";

/* ---- reading a packed machine ---- */

struct import {
    const char *path; /* of the packed file */
    const struct orr_packed *packed;
    const char *name; /* its new name */
    const char *sampling_dir;
    char *old_host;                /* owned; that of the models in the file */
    struct orr_machine_desc *desc; /* owned */
    struct machine_files files;
    unsigned nmodels;
};

static int import_parse_matrix(struct import *import, const char *name,
                               double **ret)
{
    const struct orr_packed_file *file = orr_packed_find(import->packed, name);
    size_t n = import->desc->nnodes;
    struct orr_error err = {""};
    int rc;

    *ret = malloc((n * n + 1) * sizeof(**ret));
    if (!*ret) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    rc = orr_bus_matrix_parse(import->desc, name, file->bytes, file->size, *ret,
                              &err);
    if (rc == 0)
        return 0;
    tool_error("%s: %s", import->path, err.text);
    free(*ret);
    return rc;
}

static int parse_bus(struct import *import)
{
    double *bandwidth, *latency;
    int rc;

    if (!orr_packed_find(import->packed, "platform.bandwidth") ||
        !orr_packed_find(import->packed, "platform.latency"))
        return 0;
    rc = import_parse_matrix(import, "platform.bandwidth", &bandwidth);
    if (rc < 0)
        return rc;
    rc = import_parse_matrix(import, "platform.latency", &latency);
    if (rc < 0) {
        free(bandwidth);
        return rc;
    }
    free(import->desc->bandwidth);
    free(import->desc->latency);
    import->desc->bandwidth = bandwidth;
    import->desc->latency = latency;
    import->desc->bus_measured = true;
    return 0;
}

static int parse_desc(struct import *import)
{
    const struct orr_packed_file *file =
        orr_packed_find(import->packed, "platform.xml");
    char *path = tool_format("%s.xml", import->packed->name);
    struct orr_error err = {""};
    int rc = path ? orr_machine_desc_parse(path, file->bytes, file->size,
                                           &import->desc, &err)
                  : -ENOMEM;

    free(path);
    if (rc < 0) {
        tool_error("%s: %s", import->path,
                   err.text[0] ? err.text : "out of memory");
        return rc;
    }
    import->old_host = strdup(import->desc->host);
    if (!import->old_host) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    return parse_bus(import);
}

/* ---- its models ---- */

/* Whether the bytes are a model or side file that can be read. */
static int check_model(const struct import *import,
                       const struct orr_packed_file *file, bool is_side)
{
    struct orr_error err = {""};
    int rc;

    if (is_side) {
        struct orr_side *side = NULL;

        rc = orr_side_parse(file->name, file->bytes, file->size,
                            ORR_SIDE_SAMPLES, &side, &err);
        if (rc == 0)
            orr_side_free(side);
    } else {
        struct orr_model_file *model = NULL;

        rc = orr_model_file_parse(file->name, file->bytes, file->size, &model,
                                  &err);
        if (rc == 0)
            orr_model_file_free(model);
    }
    if (rc < 0)
        tool_error("%s: %s", import->path,
                   err.text[0] ? err.text : strerror(-rc));
    return rc;
}

/* Puts a model in its place, under the machine's new host name. A model of any
 * other host is an error. */
static int import_add_model(struct import *import,
                            const struct orr_packed_file *file,
                            const char *folder, const char *leaf)
{
    const char *dot = strchr(leaf, '.');
    bool is_side = strcmp(folder, ORR_SAMPLING_CODELETS) != 0;
    char *bytes;
    int rc;

    if (!dot || dot == leaf || strcmp(dot + 1, import->old_host) != 0) {
        tool_error("%s: refused: %s is not a model of host %s", import->path,
                   file->name, import->old_host);
        return -EINVAL;
    }
    rc = check_model(import, file, is_side);
    if (rc < 0)
        return rc;
    import->nmodels += !is_side;
    bytes = malloc(file->size + 1);
    if (bytes)
        memcpy(bytes, file->bytes, file->size + 1);
    return machine_files_add(&import->files,
                             tool_format("%s/%s/%.*s.%s", import->sampling_dir,
                                         folder, (int)(dot - leaf), leaf,
                                         import->desc->host),
                             bytes, file->size);
}

static int import_add_models(struct import *import)
{
    static const char *const folders[] = {ORR_SAMPLING_CODELETS,
                                          "codelets/45.orrery"};
    int rc = 0;

    for (unsigned i = 0; i < import->packed->nfiles && rc == 0; i++) {
        const struct orr_packed_file *file = &import->packed->files[i];

        for (size_t f = 0; f < 2 && rc == 0; f++) {
            size_t length = strlen(folders[f]);

            if (strncmp(file->name, folders[f], length) == 0 &&
                file->name[length] == '/')
                rc = import_add_model(import, file, folders[f],
                                      file->name + length + 1);
        }
    }
    return rc;
}

/* StarPU's own files lie beside the platform, under the host's name. */
static int import_add_starpu_files(struct import *import)
{
    static const char *const kinds[] = {"affinity", "config"};
    int rc = 0;

    for (size_t i = 0; i < 2 && rc == 0; i++) {
        char name[32];
        const struct orr_packed_file *file;

        snprintf(name, sizeof(name), "platform.%s", kinds[i]);
        file = orr_packed_find(import->packed, name);
        if (file)
            rc = machine_files_add(&import->files,
                                   tool_format("%s/" ORR_SAMPLING_BUS "/%s.%s",
                                               import->sampling_dir,
                                               import->name, kinds[i]),
                                   strndup(file->bytes, file->size),
                                   strnlen(file->bytes, file->size));
    }
    return rc;
}

/* ---- where it goes ---- */

struct hidden {
    const char *name, *path;
    char *by; /* owned */
};

static int find_hiding(const struct orr_machine_entry *entry, void *arg)
{
    struct hidden *hidden = arg;

    if (strcmp(entry->name, hidden->name) != 0)
        return 0;
    /* The machine goes to the first sampling directory. */
    if (!entry->catalogue || strcmp(entry->path, hidden->path) == 0)
        return 1;
    hidden->by = strdup(entry->path);
    return hidden->by ? 1 : -ENOMEM;
}

int machine_is_hidden(const char *name, const char *path,
                      const char *const *sampling_dirs)
{
    struct hidden hidden = {.name = name, .path = path};
    int rc = orr_machine_desc_list(sampling_dirs, find_hiding, &hidden);

    if (rc < 0) {
        tool_error("out of memory");
        return rc;
    }
    if (!hidden.by)
        return 0;
    tool_error("there is another machine %s, %s, which would be found "
               "instead: give this one a name of its own with --name",
               name, hidden.by);
    free(hidden.by);
    return -EEXIST;
}

static int import_choose_path(struct import *import,
                              const char *const *sampling_dirs, bool force)
{
    char *path, *models;
    int rc = machine_place(import->sampling_dir, import->name, &path, &models);

    if (rc < 0)
        return rc;
    rc = machine_is_hidden(import->name, path, sampling_dirs);
    if (rc == 0)
        rc = machine_files_add_named(&import->files, import->desc, path,
                                     import->name);
    if (rc == 0)
        rc = import_add_starpu_files(import);
    if (rc == 0)
        rc = import_add_models(import);
    if (rc == 0)
        rc = machine_files_write(&import->files, force);
    free(path);
    free(models);
    return rc;
}

static void import_report(const struct import *import, bool json)
{
    json_t *root;

    if (!json) {
        printf("%s: %u CPUs, %u CUDA and %u OpenCL devices, %u models of host "
               "%s, in %s\ntry: orrery run -m %s -- PROGRAM\n",
               import->name, import->desc->ncpu, import->desc->ncuda,
               import->desc->nopencl, import->nmodels, import->desc->host,
               import->sampling_dir, import->name);
        return;
    }
    root = json_pack("{s:s, s:s, s:s, s:i}", "machine", import->name,
                     "models_host", import->desc->host, "sampling_dir",
                     import->sampling_dir, "models", (int)import->nmodels);
    if (tool_json_print(machine_files_json(root, &import->files)) < 0)
        tool_error("machine import: out of memory");
}

/* A new name is also that of the models' host: two machines with the same host
 * would share their models. */
static int rename_machine(struct import *import, const char *name)
{
    struct orr_machine_desc *desc = import->desc;

    if (!name)
        return 0;
    if (orr_desc_set_text(&desc->name, name) == 0 &&
        orr_desc_set_text(&desc->host, name) == 0)
        return 0;
    tool_error("out of memory");
    return -ENOMEM;
}

static int import_packed(const char *path, const char *name,
                         const struct machine_destination *where)
{
    struct import import = {.path = path,
                            .sampling_dir = where->sampling_dirs[0]};
    struct orr_packed *packed = NULL;
    struct orr_error err = {""};
    int rc = orr_packed_read(path, &packed, &err);

    if (rc < 0) {
        tool_error("%s", err.text);
        return rc;
    }
    import.packed = packed;
    import.name = name ? name : packed->name;
    rc = parse_desc(&import);
    if (rc == 0)
        rc = rename_machine(&import, name);
    if (rc == 0)
        rc = import_choose_path(&import, where->sampling_dirs, where->force);
    if (rc == 0)
        import_report(&import, where->json);
    machine_files_done(&import.files);
    orr_machine_desc_free(import.desc);
    free(import.old_host);
    orr_packed_free(packed);
    return rc;
}

/* ---- the verb ---- */

static int import_topology(const struct machine_topology_options *options,
                           const struct machine_destination *where)
{
    struct machine_plan plan;
    int rc = machine_topology_read(options, &plan);

    if (rc < 0)
        return rc;
    rc = machine_plan_finish(&plan, where);
    machine_plan_done(&plan);
    return rc;
}

static int check_operands(int noperands, const char *path,
                          const struct machine_topology_options *topology,
                          const char *output)
{
    if (topology->hwloc ? noperands > 0 : noperands != 1)
        tool_error("machine import: one FILE.orrery, or --hwloc FILE.xml; see "
                   "orrery machine import --help");
    else if (!topology->hwloc &&
             (topology->nvidia || topology->gpu || topology->pcie || output))
        tool_error("machine import: --nvidia-topo, --gpu, --pcie and -o go "
                   "with --hwloc");
    else if (topology->name && !orr_packed_leaf_ok(topology->name))
        tool_error("machine import: --name %s: no slash and no leading dot",
                   topology->name);
    else if (!topology->hwloc && !orr_packed_is_name(path))
        tool_error(
            "machine import: %s: the name of a packed machine ends with " ORR_PACKED_SUFFIX
            "; a platform file needs no import: -m "
            "%s",
            path, path);
    else
        return 0;
    return -EINVAL;
}

int machine_import(int argc, char **argv, const char *const *sampling_dirs,
                   bool json)
{
    struct machine_topology_options topology = {0};
    struct machine_destination where = {.sampling_dirs = sampling_dirs,
                                        .json = json};
    const struct tool_option options[] = {
        {0, "json", NULL, &where.json},
        {0, "name", &topology.name, NULL},
        {0, "force", NULL, &where.force},
        {0, "hwloc", &topology.hwloc, NULL},
        {0, "nvidia-topo", &topology.nvidia, NULL},
        {0, "gpu", &topology.gpu, NULL},
        {0, "pcie", &topology.pcie, NULL},
        {'o', "output", &where.output, NULL},
        {0}};
    int noperands,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (check_operands(noperands, argv[1], &topology, where.output) < 0)
        return TOOL_USAGE;
    rc = topology.hwloc ? import_topology(&topology, &where)
                        : import_packed(argv[1], topology.name, &where);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}
