/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/cluster_new.c - `orrery machine new cluster`. One thread. */
#include "tools/machine/cluster.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "perfmodel/sampling.h"
#include "platforms/packed.h"
#include "platforms/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine new cluster NAME --nodes NODES [--network NETWORK]\n"
    "Describes a cluster in a file: nodes, each a machine, and the network between\n"
    "them, in the words of docs/CLUSTERS.md.\n"
    "      --nodes NODES          16*h100-pcie-4, or several with + between them\n"
    "      --network NETWORK      'ib 2x200Gb/s fat-tree:32,2:1';\n"
    "                             default: ib 200Gb/s, through one switch\n"
    "      --ranks-per-node N     ranks of a program on each node; default: 1\n"
    "      --description TEXT     shown by `orrery machine list`\n"
    "  -o, --output FILE          a file, NAME.cluster.xml; default: where -m finds\n"
    "                             NAME\n"
    "      --force                replace a file that is there\n"
    "      --json                 report as JSON what was made\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine new cluster lab --nodes '8*epyc-64' \\\n"
    "             --network 'ib 200Gb/s' && orrery machine show lab\n";

struct request {
    const char *nodes, *network, *ranks, *description, *output;
    bool force, json;
};

/* The cluster's line, from the options. Owned; NULL without memory. */
static char *request_line(const struct request *request)
{
    return tool_format("%s%s%s%s%s", request->nodes,
                       request->network || request->ranks ? " + " : "",
                       request->network ? request->network : "",
                       request->ranks ? " ranks-per-node=" : "",
                       request->ranks ? request->ranks : "");
}

/* Paths that hold wherever the file is. */
static void make_paths_absolute(struct orr_cluster_desc *desc)
{
    for (unsigned i = 0; i < desc->ngroups; i++) {
        char *path = orr_is_path(desc->groups[i].machine)
                         ? realpath(desc->groups[i].machine, NULL)
                         : NULL;

        if (!path)
            continue;
        free(desc->groups[i].machine);
        desc->groups[i].machine = path;
    }
}

static char *cluster_file_text(const struct orr_cluster_desc *desc,
                               size_t *ret_size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);

    if (!out)
        return NULL;
    orr_cluster_print_xml(desc, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* -EEXIST, printed, when the name is a machine's: it could not be shown any more. */
static int refuse_machine(const char *name, const char *const *sampling_dirs)
{
    struct orr_machine_desc *desc;

    if (orr_machine_desc_load(name, sampling_dirs, &desc, NULL) < 0)
        return 0;
    tool_error(
        "machine new: %s is the name of a machine, %s, which a cluster of that "
        "name would hide: choose another one",
        name, desc->path);
    orr_machine_desc_free(desc);
    return -EEXIST;
}

static int write_cluster(const struct machine_cluster *cluster,
                         const char *name, const struct request *request,
                         const char *const *sampling_dirs)
{
    struct machine_files files = {0};
    size_t size = 0;
    char *text = cluster_file_text(&cluster->desc, &size);
    char *path = request->output
                     ? strdup(request->output)
                     : tool_format("%s/" ORR_SAMPLING_BUS "/%s.cluster.xml",
                                   sampling_dirs[0], name);
    int rc = machine_files_add(&files, path, text, size);

    if (rc == 0)
        rc = machine_files_write(&files, request->force);
    if (rc == 0 && request->json)
        rc = tool_json_print(
            machine_files_json(json_pack("{s:s, s:i}", "cluster", name, "nodes",
                                         (int)cluster->desc.nnodes),
                               &files));
    else if (rc == 0)
        printf("%s: %u nodes, %s\n", files.items[0].path, cluster->desc.nnodes,
               cluster->desc.network);
    machine_files_done(&files);
    return rc;
}

static int make_cluster(const char *name, const struct request *request,
                        const char *const *sampling_dirs)
{
    struct machine_cluster cluster;
    char *line = request_line(request);
    int rc;

    if (!line) {
        tool_error("out of memory");
        return -1;
    }
    rc = machine_cluster_open(line, NULL, sampling_dirs, &cluster);
    if (rc == 1)
        tool_error(
            "machine new: --nodes %s: write how many, and what each is, such as "
            "16*h100-pcie-4",
            request->nodes);
    free(line);
    if (rc)
        return -1;
    make_paths_absolute(&cluster.desc);
    if (request->description &&
        !(cluster.desc.description = strdup(request->description)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = request->output ? 0 : refuse_machine(name, sampling_dirs);
    if (rc == 0)
        rc = write_cluster(&cluster, name, request, sampling_dirs);
    machine_cluster_close(&cluster);
    return rc;
}

static bool is_cluster_file(const char *path)
{
    static const char ending[] = ".cluster.xml";
    size_t length = strlen(path), tail = strlen(ending);

    return length > tail && strcmp(path + length - tail, ending) == 0;
}

int machine_new_cluster(int argc, char **argv, const char *const *sampling_dirs,
                        bool json)
{
    struct request request = {.json = json};
    const struct tool_option options[] = {
        {0, "nodes", &request.nodes, NULL},
        {0, "network", &request.network, NULL},
        {0, "ranks-per-node", &request.ranks, NULL},
        {0, "description", &request.description, NULL},
        {'o', "output", &request.output, NULL},
        {0, "force", NULL, &request.force},
        {0, "json", NULL, &request.json},
        {0}};
    int noperands,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands != 1 || !orr_packed_leaf_ok(argv[1]) || !request.nodes)
        return tool_fail(
            TOOL_USAGE,
            "machine new cluster: one NAME without slash or leading dot, "
            "and --nodes; see orrery machine new cluster --help");
    if (request.output && !is_cluster_file(request.output))
        return tool_fail(
            TOOL_USAGE,
            "machine new cluster: -o %s: the name of a cluster's file ends "
            "with .cluster.xml",
            request.output);
    rc = make_cluster(argv[1], &request, sampling_dirs);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}
