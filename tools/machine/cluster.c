/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/cluster.c - see cluster.h: what a cluster amounts to. */
#include "tools/machine/cluster.h"

#include "tools/common/edits.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static int open_machine(struct machine_cluster *cluster, unsigned group,
                        const char *const *sampling_dirs)
{
    const struct orr_cluster_group *of = &cluster->desc.groups[group];
    struct orr_machine_desc **ret = &cluster->machines[group];
    struct orr_error err = {""};
    char nodes[48];
    int rc = orr_machine_desc_load(of->machine, sampling_dirs, ret, &err);

    if (rc < 0) {
        tool_report(&err, rc);
        return -1;
    }
    return edits_apply_nodes(*ret, of->edits,
                             machine_cluster_nodes(cluster, group, nodes));
}

static int open_machines(struct machine_cluster *cluster,
                         const char *const *sampling_dirs)
{
    unsigned n = cluster->desc.ngroups;
    int rc = 0;

    cluster->machines = calloc(n, sizeof(struct orr_machine_desc *));
    if (!cluster->machines) {
        tool_error("out of memory");
        return -1;
    }
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = open_machine(cluster, i, sampling_dirs);
    return rc;
}

/* Routes are many: of a large network some nodes stand for all. */
static int find_distances(struct machine_cluster *cluster)
{
    const unsigned enough = 1 << 22;
    unsigned n = cluster->desc.nnodes, step = 1 + n / (1 + enough / n);
    unsigned *ports =
        calloc(orr_interconnect_longest(cluster->net), sizeof(*ports));

    if (!ports)
        return -ENOMEM;
    for (unsigned src = 0; src < n; src += step)
        for (unsigned dst = 0; dst < n; dst++) {
            unsigned nswitches;

            if (dst == src)
                continue;
            nswitches =
                orr_interconnect_route(cluster->net, src, dst, 0, ports) - 1;
            if (nswitches > cluster->farthest)
                cluster->farthest = nswitches;
            if (!cluster->nearest || nswitches < cluster->nearest)
                cluster->nearest = nswitches;
        }
    free(ports);
    return 0;
}

static int open_network(struct machine_cluster *cluster)
{
    struct orr_error err = {""};
    int rc = orr_interconnect_new(&cluster->desc.fabric, cluster->desc.nnodes,
                                  &cluster->net, &err);

    if (rc == 0) {
        orr_interconnect_describe(cluster->net, &cluster->shape);
        rc = find_distances(cluster);
    }
    if (rc < 0)
        tool_report(&err, rc);
    return rc;
}

int machine_cluster_open(const char *name, const char *edits,
                         const char *const *sampling_dirs,
                         struct machine_cluster *ret)
{
    struct machine_cluster cluster = {0};
    struct orr_error err = {""};
    int rc = orr_cluster_load(name, sampling_dirs, &cluster.desc, &err);

    if (rc == 1)
        return 1;
    if (rc < 0) {
        tool_report(&err, rc);
        return -1;
    }
    rc = edits_apply_cluster(&cluster.desc, edits);
    if (rc == 0)
        rc = open_machines(&cluster, sampling_dirs);
    if (rc == 0)
        rc = open_network(&cluster);
    if (rc < 0)
        machine_cluster_close(&cluster);
    else
        *ret = cluster;
    return rc;
}

void machine_cluster_close(struct machine_cluster *cluster)
{
    for (unsigned i = 0; cluster->machines && i < cluster->desc.ngroups; i++)
        orr_machine_desc_free(cluster->machines[i]);
    free(cluster->machines);
    orr_interconnect_free(cluster->net);
    orr_cluster_free(&cluster->desc);
    *cluster = (struct machine_cluster){0};
}

/* ---- asking ---- */

char *machine_cluster_name(const struct machine_cluster *cluster)
{
    return cluster->desc.name ? strdup(cluster->desc.name)
                              : orr_cluster_line(&cluster->desc);
}

const char *machine_cluster_nodes(const struct machine_cluster *cluster,
                                  unsigned group, char text[48])
{
    const struct orr_cluster_group *groups = cluster->desc.groups;
    unsigned first = 0, last;

    for (unsigned i = 0; i < group; i++)
        first += groups[i].n;
    last = first + groups[group].n - 1;
    if (first == last)
        snprintf(text, 48, "node %u", first);
    else
        snprintf(text, 48, "nodes %u-%u", first, last);
    return text;
}

/* Main memory is stated as a whole, or of each NUMA node. */
struct machine_amounts
machine_cluster_amounts(const struct orr_machine_desc *node)
{
    struct machine_amounts ret = {
        .cpus = node->ncpu, .cuda = node->ncuda, .opencl = node->nopencl};
    double whole = 0, parts = 0;

    for (unsigned h = 0; h < node->nhosts; h++) {
        const struct orr_host_desc *host = &node->hosts[h];
        const char *text = orr_host_desc_prop(host, "memsize");
        double bytes = text ? strtod(text, NULL) : 0;

        if (strcmp(host->id, "RAM") == 0)
            whole = bytes;
        else if (orr_host_desc_number(host, "RAM") >= 0)
            parts += bytes;
        else if (orr_host_desc_number(host, "CUDA") >= 0 ||
                 orr_host_desc_number(host, "OpenCL") >= 0)
            ret.device_memory += bytes;
    }
    ret.memory = whole > 0 ? whole : parts;
    return ret;
}

struct machine_amounts
machine_cluster_total(const struct machine_cluster *cluster)
{
    struct machine_amounts sum = {0};

    for (unsigned i = 0; i < cluster->desc.ngroups; i++) {
        struct machine_amounts node =
            machine_cluster_amounts(cluster->machines[i]);
        double n = cluster->desc.groups[i].n;

        sum.cpus += n * node.cpus;
        sum.cuda += n * node.cuda;
        sum.opencl += n * node.opencl;
        sum.memory += n * node.memory;
        sum.device_memory += n * node.device_memory;
    }
    return sum;
}

double machine_cluster_latency(const struct machine_cluster *cluster,
                               unsigned nswitches)
{
    return orr_interconnect_latency(cluster->net, nswitches + 1);
}

double machine_cluster_link_rate(const struct machine_cluster *cluster)
{
    return cluster->desc.fabric.bandwidth * 1e6;
}

double machine_cluster_bisection(const struct machine_cluster *cluster)
{
    return cluster->shape.bisection * machine_cluster_link_rate(cluster);
}

double machine_cluster_oversubscription(const struct machine_cluster *cluster)
{
    double nics = (double)cluster->desc.nnodes * cluster->desc.fabric.nics;

    return fmax(1, nics / 2 / cluster->shape.bisection);
}

const char *machine_topology_name(enum orr_topology_kind kind)
{
    static const char *const names[] = {
        [ORR_TOPOLOGY_CROSSBAR] = "crossbar",
        [ORR_TOPOLOGY_FAT_TREE] = "fat tree",
        [ORR_TOPOLOGY_DRAGONFLY] = "dragonfly",
        [ORR_TOPOLOGY_TORUS] = "torus",
    };

    return names[kind];
}
