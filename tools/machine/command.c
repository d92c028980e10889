/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/command.c - `orrery machine`: known machines, their parts, and
 * a simulated copy of this one. One thread.
 */
#include "tools/common/json.h"
#include "tools/common/modules.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "core/base/words.h"
#include "tools/machine/cluster.h"
#include "tools/machine/doctor.h"
#include "tools/machine/machine.h"

#include "perfmodel/sampling.h"
#include "platforms/desc_build.h"
#include "platforms/machine_desc.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine list [--json]\n"
    "       orrery machine show [NAME] [--set EDIT] [--json | --svg [FILE]]\n"
    "       orrery machine check [NAME] [--json]\n"
    "       orrery machine diff A [B] [--set EDIT] [--json]\n"
    "       orrery machine new NAME [--cpu MODEL --cores N ...] [-o FILE]\n"
    "       orrery machine new cluster NAME --nodes NODES [--network NETWORK]\n"
    "       orrery machine new hosts NAME --cores N --storage RATE [--hosts N]\n"
    "       orrery machine export NAME [--set EDIT] [-o FILE.orrery]\n"
    "       orrery machine import FILE.orrery | --hwloc FILE.xml [--name N]\n"
    "       orrery machine copy FILE.xml [-m NAME] [--set EDIT]\n"
    "       orrery machine doctor [NAME | -m NAME] [--set EDIT] [--json]\n"
    "Machines that programs can be simulated on. `list` names them, `show` describes\n"
    "or draws one, `check` holds derived figures against measured ones, `diff`\n"
    "compares two, `new` makes one from a few answers, `export`\n"
    "packs one with its models into a file and `import` unpacks it, or reads the\n"
    "output of hwloc and nvidia-smi. `copy` writes a description\n"
    "of this machine, to be calibrated by real runs and simulated with -m FILE.xml,\n"
    "`doctor` checks the bandwidths and latencies of a machine.\n"
    "      --json  as JSON\n"
    "Each has a --help of its own.\n"
    "Exit codes: 0; 1 when something failed, machines differ or the doctor found an\n"
    "error; 2 for a wrong command line.\n"
    "example: orrery machine copy here.xml && orrery run -m here.xml -- ./cholesky\n";

/* State while machines are visited. */
struct listing {
    const char *const *sampling_dirs;
    struct table table;
    json_t *json; /* NULL: a table is wanted */
};

#define NCOLUMNS 7

static int listing_add_machine(struct listing *listing,
                               const struct orr_machine_entry *entry,
                               const struct orr_machine_desc *desc,
                               const char *problem)
{
    struct table *table = &listing->table;
    const char *about =
        desc ? orr_props_find(desc->props, desc->nprops, "description") : NULL;
    const char *licence =
        desc ? orr_props_find(desc->props, desc->nprops, ORR_PROP_LICENCE)
             : NULL;

    table_add(table, "%s", entry->name);
    if (desc) {
        table_add(table, "%u", desc->ncpu);
        table_add(table, "%u", desc->ncuda);
        table_add(table, "%u", desc->nopencl);
        table_add(table, "%s", desc->provenance ? desc->provenance : "unknown");
        table_add(table, "%s", licence ? licence : "-");
    } else {
        for (int c = 0; c < 3; c++)
            table_add(table, "-");
        table_add(table, "broken");
        table_add(table, "-");
    }
    table_add(table, "%s", problem ? problem : about ? about : entry->path);
    return table->failed ? -ENOMEM : 0;
}

static int list_json(struct listing *listing,
                     const struct orr_machine_entry *entry,
                     const struct orr_machine_desc *desc, const char *problem)
{
    json_t *row = json_pack(
        "{s:o, s:o, s:b}", "name", tool_json_text(entry->name), "path",
        tool_json_text(entry->path), "catalogue", entry->catalogue);

    if (desc)
        json_object_update_new(
            row,
            json_pack(
                "{s:i, s:i, s:i, s:s?, s:s?, s:s?, s:s?}", "cpu",
                (int)desc->ncpu, "cuda", (int)desc->ncuda, "opencl",
                (int)desc->nopencl, "provenance", desc->provenance,
                "description",
                orr_props_find(desc->props, desc->nprops, "description"),
                "origin",
                orr_props_find(desc->props, desc->nprops, ORR_PROP_ORIGIN),
                "licence",
                orr_props_find(desc->props, desc->nprops, ORR_PROP_LICENCE)));
    else
        json_object_set_new(row, "error", tool_json_text(problem));
    return json_array_append_new(listing->json, row) < 0 ? -ENOMEM : 0;
}

static int list_visit(const struct orr_machine_entry *entry, void *arg)
{
    struct listing *listing = arg;
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};
    int result =
        orr_machine_desc_load(entry->path, listing->sampling_dirs, &desc, &err);
    const char *problem = result < 0 ? err.text : NULL;

    result = listing->json ? list_json(listing, entry, desc, problem)
                           : listing_add_machine(listing, entry, desc, problem);
    orr_machine_desc_free(desc);
    return result;
}

static int list_machines(const char *const *sampling_dirs, bool json)
{
    static const struct table_column columns[NCOLUMNS] = {
        {"machine", false},
        {"CPUs", true},
        {"CUDA", true},
        {"OpenCL", true},
        {"figures", false},
        {"licence", false},
        {"description or file", false}};
    struct listing listing = {.sampling_dirs = sampling_dirs,
                              .json = json ? json_array() : NULL};
    int result = orr_machine_desc_list(sampling_dirs, list_visit, &listing);

    if (result == 0 && !json)
        result = table_end(&listing.table, columns, NCOLUMNS);
    if (result == 0)
        result = machine_cluster_list(sampling_dirs, listing.json);
    if (result == 0 && json)
        result = tool_json_print(json_incref(listing.json));
    if (result != 0)
        tool_error("machine list: %s", strerror(-result));
    table_done(&listing.table);
    json_decref(listing.json);
    return result == 0 ? TOOL_OK : TOOL_FAILED;
}

static const char list_help[] =
    "usage: orrery machine list [--json]\n"
    "Names the machines, and clusters of them, that programs can be simulated on, and\n"
    "describes each in a line.\n"
    "      --json                 as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine list\n";

static int machine_list(int argc, char **argv, const char *const *sampling_dirs,
                        bool json)
{
    const struct tool_option options[] = {{0, "json", NULL, &json}, {0}};
    int first = tool_parse(argc, argv, options, list_help);
    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first < argc)
        return tool_fail(TOOL_USAGE,
                         "machine list: %s is one operand too many; orrery "
                         "machine show describes one machine",
                         argv[first]);
    return list_machines(sampling_dirs, json);
}

/* They read their own options. */
static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv, const char *const *sampling_dirs,
               bool json);
} verbs[] = {
    {"check", machine_check},   {"copy", machine_copy},
    {"diff", machine_diff},     {"doctor", machine_doctor},
    {"export", machine_export}, {"import", machine_import},
    {"list", machine_list},     {"new", machine_new},
    {"show", machine_show},     {NULL, NULL},
};

static const char *verb_name_at(const void *list, size_t i)
{
    return ((const struct verb *)list)[i].name;
}

const char *machine_verb(size_t i)
{
    return verbs[i].name;
}

static int machine_verb_run(int argc, char **argv,
                            const char *const *sampling_dirs, bool json)
{
    const char *near;

    for (size_t i = 0; argc >= 1 && verbs[i].name; i++)
        if (!strcmp(argv[0], verbs[i].name)) {
            char name[32]; /* in messages */

            snprintf(name, sizeof(name), "machine %s", verbs[i].name);
            argv[0] = name;
            return verbs[i].run(argc, argv, sampling_dirs, json);
        }
    if (argc >= 1 && !strcmp(argv[argc - 1], "--help")) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    near = argc >= 1 ? orr_words_nearest(argv[0], verbs, verb_name_at) : NULL;
    tool_error("machine: list, show, check, diff, new, export, import, copy or "
               "doctor%s%s%s%s%s; see orrery machine --help",
               argc >= 1 ? ", not " : "", argc >= 1 ? argv[0] : "",
               near ? ": did you mean " : "", near ? near : "",
               near ? "?" : "");
    return TOOL_USAGE;
}

int cmd_machine(int argc, char **argv)
{
    bool json = false;
    const struct tool_option options[] = {{0, "json", NULL, &json}, {0}};
    struct orr_sampling *sampling;
    int first = tool_parse(argc, argv, options, help), result;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    /* Options may follow the operands as well. */
    while (argc > first && !strcmp(argv[argc - 1], "--json")) {
        json = true;
        argc--;
    }
    if (orr_sampling_from_env(orr_getenv, NULL, &sampling) < 0) {
        tool_error("out of memory");
        return TOOL_FAILED;
    }
    tool_find_modules("packed"); /* for packed machines */
    result = machine_verb_run(argc - first, argv + first,
                              orr_sampling_dirs(sampling), json);
    orr_sampling_free(sampling);
    return result;
}
