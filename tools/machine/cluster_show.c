/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/cluster_show.c - clusters as text and as JSON. One thread. */
#include "tools/machine/cluster.h"

#include "core/base/plural.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/machine/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- text ---- */

static void add_memory(struct table *table, double bytes)
{
    if (bytes > 0)
        table_add(table, "%.6g GiB", bytes / (1 << 30));
    else
        table_add(table, "-");
}

static void add_amounts(struct table *table, const char *nodes,
                        const struct orr_cluster_group *group,
                        const struct machine_amounts *amounts)
{
    const char *edits = group ? group->edits : NULL;

    table_add(table, "%s", nodes);
    table_add(table, "%.0f", amounts->cpus);
    table_add(table, "%.0f", amounts->cuda);
    table_add(table, "%.0f", amounts->opencl);
    add_memory(table, amounts->memory);
    add_memory(table, amounts->device_memory);
    table_add(table, "%s%s%s", group ? group->machine : "",
              edits ? ", what if " : "", edits ? edits : "");
}

static int print_nodes(const struct machine_cluster *cluster)
{
    static const struct table_column columns[] = {
        {"nodes", false},  {"CPUs", true},   {"CUDA", true},
        {"OpenCL", true},  {"memory", true}, {"of devices", true},
        {"each is", false}};
    struct machine_amounts total = machine_cluster_total(cluster);
    struct table table = {0};
    unsigned first = 0;
    char numbers[32];

    for (unsigned i = 0; i < cluster->desc.ngroups; i++) {
        const struct orr_cluster_group *group = &cluster->desc.groups[i];
        struct machine_amounts node =
            machine_cluster_amounts(cluster->machines[i]);

        snprintf(numbers, sizeof(numbers), group->n > 1 ? "%u-%u" : "%u", first,
                 first + group->n - 1);
        add_amounts(&table, numbers, group, &node);
        first += group->n;
    }
    add_amounts(&table, "all", NULL, &total);
    return table_end(&table, columns, sizeof(columns) / sizeof(*columns));
}

static void print_switches(const struct machine_cluster *cluster)
{
    const struct orr_interconnect_shape *shape = &cluster->shape;

    printf("  topology   %s", machine_topology_name(cluster->desc.fabric.kind));
    for (unsigned i = 0; i < shape->nlevels; i++) {
        unsigned long long n = shape->switches[i], links = shape->links[i];

        printf("%s%llu switch%s", i ? "; " : ": ", n, n == 1 ? "" : "es");
        if (shape->nlevels > 1)
            printf(" of level %u", i + 1);
        if (links)
            printf(", %llu link%s %s", links, orr_plural(links),
                   shape->nlevels > 1 ? "up" : "between them");
    }
    printf("; %u ports each\n", shape->ports);
}

static void print_latency(const struct machine_cluster *cluster)
{
    unsigned nearest = cluster->nearest, farthest = cluster->farthest;

    if (!farthest)
        return;
    printf("  latency    %.4g us through %u switch%s",
           machine_cluster_latency(cluster, nearest), nearest,
           nearest == 1 ? "" : "es");
    if (farthest > nearest)
        printf(" to %.4g us through %u",
               machine_cluster_latency(cluster, farthest), farthest);
    putchar('\n');
}

/* Of the longest messages; "no limit" without any. */
static const char *speed_text(const struct orr_fabric_speeds *speeds, char text[PICTURE_TEXT])
{
    return speeds->n ? picture_bandwidth(speeds->at[speeds->n - 1].bandwidth * 1e6, text)
                     : "no limit";
}

static void print_in_node(const struct orr_fabric_node *node)
{
    char speed[PICTURE_TEXT], all[PICTURE_TEXT];

    if (!node->takes_time) {
        puts("  in a node  messages between its ranks take no time");
        return;
    }
    printf("  in a node  %.4g us, %s", node->latency_us, speed_text(&node->speeds, speed));
    if (node->total > 0)
        printf(", %s together", picture_bandwidth(node->total * 1e6, all));
    printf("; more than %.6g bytes ask first\n", node->eager);
}

static void print_measured(const struct orr_cluster_measured *measured)
{
    if (measured->repetitions > 0)
        printf("  measured   between %.0f ranks on %.0f host%s, %.0f repetition%s, spread "
               "%.1f %%\n",
               measured->ranks, measured->hosts, orr_plural((size_t)measured->hosts),
               measured->repetitions, orr_plural((size_t)measured->repetitions),
               100 * measured->spread);
}

static void print_network(const struct machine_cluster *cluster)
{
    const struct orr_fabric *fabric = &cluster->desc.fabric;
    double rate = machine_cluster_link_rate(cluster);
    double over = machine_cluster_oversubscription(cluster);
    char each[PICTURE_TEXT], all[PICTURE_TEXT];

    printf("\nNetwork %s\n", cluster->desc.network);
    printf("  NICs       %u of each node, %s%s", fabric->nics,
           picture_bandwidth(rate, each),
           fabric->half_duplex ? ", both ways together" : " each way");
    if (fabric->nics > 1)
        printf(": %s of a node", picture_bandwidth(rate * fabric->nics, all));
    putchar('\n');
    print_switches(cluster);
    printf("  bisection  %s",
           picture_bandwidth(machine_cluster_bisection(cluster), all));
    if (over > 1)
        printf(", and half of the nodes could send %.3g times that", over);
    putchar('\n');
    print_latency(cluster);
    printf("  messages   of more than %.6g bytes ask the receiver first\n",
           fabric->eager);
    if (cluster->desc.ranks_per_node > 1)
        print_in_node(&fabric->node);
    print_measured(&cluster->desc.measured);
}

static int print_cluster(const struct machine_cluster *cluster)
{
    char *name = machine_cluster_name(cluster);
    char *line = orr_cluster_line(&cluster->desc);
    unsigned nranks = cluster->desc.nnodes * cluster->desc.ranks_per_node;
    int rc = name && line ? 0 : -ENOMEM;

    if (rc == 0) {
        puts(name);
        if (cluster->desc.description)
            printf("  description  %s\n", cluster->desc.description);
        if (cluster->desc.name)
            printf("  line         %s\n", line);
        printf("  nodes        %u, with %u rank%s: %u of each\n\n",
               cluster->desc.nnodes, nranks, orr_plural(nranks),
               cluster->desc.ranks_per_node);
        rc = print_nodes(cluster);
    }
    if (rc == 0)
        print_network(cluster);
    free(line);
    free(name);
    return rc;
}

/* ---- JSON ---- */

static json_t *amounts_object(const struct machine_amounts *amounts)
{
    return json_pack(
        "{s:I, s:I, s:I, s:o, s:o}", "cpu", (json_int_t)amounts->cpus, "cuda",
        (json_int_t)amounts->cuda, "opencl", (json_int_t)amounts->opencl,
        "memory",
        amounts->memory > 0 ? json_real(amounts->memory) : json_null(),
        "device_memory",
        amounts->device_memory > 0 ? json_real(amounts->device_memory)
                                   : json_null());
}

/* The array, NULL if there was no memory for one of its `n` rows. */
static json_t *complete_array(json_t *array, size_t n)
{
    if (json_array_size(array) == n)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *groups_array(const struct machine_cluster *cluster)
{
    json_t *array = json_array();
    unsigned first = 0;

    for (unsigned i = 0; i < cluster->desc.ngroups; i++) {
        struct machine_amounts node =
            machine_cluster_amounts(cluster->machines[i]);
        const struct orr_cluster_group *group = &cluster->desc.groups[i];

        json_array_append_new(
            array,
            json_pack("{s:i, s:i, s:o, s:o, s:o}", "first", (int)first, "count",
                      (int)group->n, "machine", tool_json_text(group->machine),
                      "edits", tool_json_text(group->edits), "each",
                      amounts_object(&node)));
        first += group->n;
    }
    return complete_array(array, cluster->desc.ngroups);
}

static json_t *levels_array(const struct orr_interconnect_shape *shape)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < shape->nlevels; i++)
        json_array_append_new(array,
                              json_pack("{s:I, s:I}", "switches",
                                        (json_int_t)shape->switches[i], "links",
                                        (json_int_t)shape->links[i]));
    return complete_array(array, shape->nlevels);
}

static json_t *latency_or_null(const struct machine_cluster *cluster,
                               unsigned nswitches)
{
    return nswitches ? json_real(machine_cluster_latency(cluster, nswitches))
                     : json_null();
}

static json_t *speeds_array(const struct orr_fabric_speeds *speeds)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < speeds->n; i++)
        json_array_append_new(array, json_pack("{s:f, s:f}", "bytes", speeds->at[i].bytes,
                                               "bytes_per_second",
                                               speeds->at[i].bandwidth * 1e6));
    return complete_array(array, speeds->n);
}

/* Messages between ranks of a node; null: they take no time. */
static json_t *in_node_object(const struct orr_fabric_node *node)
{
    if (!node->takes_time)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:o, s:o}", "latency_us", node->latency_us,
                     "send_us", node->send_us, "match_us", node->match_us, "eager_bytes",
                     node->eager, "together_bytes_per_second",
                     node->total > 0 ? json_real(node->total * 1e6) : json_null(), "speeds",
                     speeds_array(&node->speeds));
}

static json_t *measured_object(const struct orr_cluster_measured *measured)
{
    if (measured->repetitions <= 0)
        return json_null();
    return json_pack("{s:i, s:i, s:i, s:f, s:f, s:f, s:f}", "ranks", (int)measured->ranks,
                     "hosts", (int)measured->hosts, "repetitions",
                     (int)measured->repetitions, "spread", measured->spread, "asymmetry",
                     measured->asymmetry, "incast", measured->incast, "processor_share",
                     measured->share);
}

static json_t *network_object(const struct machine_cluster *cluster)
{
    const struct orr_fabric *fabric = &cluster->desc.fabric;

    return json_pack(
        "{s:s, s:s, s:i, s:f, s:b, s:i, s:o, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o}", "words",
        cluster->desc.network, "topology", machine_topology_name(fabric->kind),
        "nics_per_node", (int)fabric->nics, "nic_bytes_per_second",
        machine_cluster_link_rate(cluster), "half_duplex", fabric->half_duplex,
        "ports_per_switch", (int)cluster->shape.ports, "levels",
        levels_array(&cluster->shape), "bisection_bytes_per_second",
        machine_cluster_bisection(cluster), "oversubscription",
        machine_cluster_oversubscription(cluster), "shortest_latency_us",
        latency_or_null(cluster, cluster->nearest), "longest_latency_us",
        latency_or_null(cluster, cluster->farthest), "eager_bytes",
        fabric->eager, "speeds", speeds_array(&fabric->speeds), "in_node",
        in_node_object(&fabric->node), "measured", measured_object(&cluster->desc.measured));
}

static int print_cluster_json(const struct machine_cluster *cluster)
{
    struct machine_amounts total = machine_cluster_total(cluster);
    char *line = orr_cluster_line(&cluster->desc);
    json_t *root = json_pack(
        "{s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "name",
        tool_json_text(cluster->desc.name), "description",
        tool_json_text(cluster->desc.description), "line", tool_json_text(line),
        "nodes", (int)cluster->desc.nnodes, "ranks_per_node",
        (int)cluster->desc.ranks_per_node, "total", amounts_object(&total),
        "groups", groups_array(cluster), "network", network_object(cluster));

    free(line);
    return tool_json_print(root);
}

int machine_cluster_show(const struct machine_cluster *cluster, bool json)
{
    int rc = json ? print_cluster_json(cluster) : print_cluster(cluster);

    if (rc == -ENOMEM)
        tool_error("machine show: out of memory");
    return rc;
}
