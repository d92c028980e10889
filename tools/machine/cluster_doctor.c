/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/cluster_doctor.c - what is wrong with a cluster: with the machines of its
 * nodes, with its network, and with both together. One thread.
 */
#include "tools/machine/cluster.h"

#include "platforms/doctor.h"
#include "platforms/rates.h"
#include "tools/machine/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* What networks of today are within: from node to node through one switch, µs; bytes per
 * second of a NIC, 800 Gb/s and gigabit Ethernet; how many times more than can cross
 * between halves nodes may send before most programs notice. */
#define LATENCY_LEAST  0.3
#define LATENCY_MOST   200
#define NIC_MOST       100e9
#define NIC_LEAST      125e6
#define OVERSUBSCRIBED 4
/* Within a node: what memory and caches of today allow. */
#define NODE_LATENCY_LEAST 0.03
#define NODE_LATENCY_MOST  50
#define NODE_SPEED_MOST    500e9
#define NODE_SPEED_LEAST   100e6
/* Of figures that were measured: fewer repetitions than a median needs; half of the samples
 * apart by so much of it; directions that differ; several senders who do not share evenly; a
 * machine that was not quiet (tools/common/quiet.h). */
#define FEW_REPETITIONS 5
#define WIDE_SPREAD     0.25
#define ASYMMETRIC      0.25
#define POOR_INCAST     0.7
#define QUIET_SHARE     0.9

/* "nodes 0-7 (hgx-h100-8)" */
static const char *nodes_text(const struct machine_cluster *cluster,
                              unsigned group, char text[160])
{
    char nodes[48];

    snprintf(text, 160, "%s (%.100s)",
             machine_cluster_nodes(cluster, group, nodes),
             cluster->desc.groups[group].machine);
    return text;
}

/* ---- nodes ---- */

/* What the doctor of machines says, with the nodes that it is about. */
static int examine_machine(const struct machine_cluster *cluster,
                           unsigned group, struct orr_findings *findings,
                           struct orr_error *err)
{
    struct orr_findings found = {0};
    char nodes[160];
    int rc = orr_doctor_examine_desc(cluster->machines[group], &found, err);

    nodes_text(cluster, group, nodes);
    for (size_t i = 0; i < found.n; i++)
        orr_findings_add(findings, found.items[i].severity,
                         found.items[i].fault, NULL, found.items[i].remedy,
                         "%s: %s", nodes, found.items[i].text);
    orr_findings_done(&found);
    return rc;
}

static void examine_ranks(const struct machine_cluster *cluster, unsigned group,
                          struct orr_findings *findings)
{
    unsigned ncpu = cluster->machines[group]->ncpu;
    char nodes[160];

    if (ncpu < cluster->desc.ranks_per_node)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "ranks", NULL,
                         "give fewer with ranks-per-node=",
                         "%s: %u CPUs for %u ranks, whose threads share them in time",
                         nodes_text(cluster, group, nodes), ncpu,
                         cluster->desc.ranks_per_node);
}

/* A NIC is behind PCI Express, as devices are: it is no faster than the widest of
 * their links. */
static void examine_slot(const struct machine_cluster *cluster, unsigned group,
                         struct orr_findings *findings)
{
    const struct orr_machine_desc *node = cluster->machines[group];
    double nic = machine_cluster_link_rate(cluster), widest = 0;
    char nodes[160], rate[PICTURE_TEXT], slot[PICTURE_TEXT];

    for (unsigned i = 1; i < node->nnodes; i++)
        widest = fmax(widest, node->bandwidth[i] * 1e6);
    if (widest > 0 && nic > 1.05 * widest)
        orr_findings_add(
            findings, ORR_SEVERITY_WARNING, "nic-slot", NULL,
            "give more and slower NICs, such as 2x200Gb/s",
            "%s: a NIC of %s is faster than the link to any device, %s, and is "
            "behind PCI Express like these",
            nodes_text(cluster, group, nodes), picture_bandwidth(nic, rate),
            picture_bandwidth(widest, slot));
}

static void examine_memory(const struct machine_cluster *cluster,
                           unsigned group, struct orr_findings *findings)
{
    double memory = orr_machine_desc_rate_of(cluster->machines[group], "RAM",
                                             ORR_RATE_MEMORY);
    double nics =
        machine_cluster_link_rate(cluster) * cluster->desc.fabric.nics;
    char nodes[160], rate[PICTURE_TEXT], of_memory[PICTURE_TEXT];

    if (isfinite(memory) && nics > memory)
        orr_findings_add(
            findings, ORR_SEVERITY_WARNING, "nic-memory", NULL,
            "give fewer or slower NICs",
            "%s: all NICs together, %s, are faster than main memory, %s",
            nodes_text(cluster, group, nodes), picture_bandwidth(nics, rate),
            picture_bandwidth(memory, of_memory));
}

static int examine_nodes(const struct machine_cluster *cluster,
                         struct orr_findings *findings, struct orr_error *err)
{
    int rc = 0;

    for (unsigned i = 0; i < cluster->desc.ngroups && rc == 0; i++) {
        rc = examine_machine(cluster, i, findings, err);
        examine_ranks(cluster, i, findings);
        if (cluster->desc.nnodes == 1)
            continue; /* nothing is sent */
        examine_slot(cluster, i, findings);
        examine_memory(cluster, i, findings);
    }
    return rc;
}

/* ---- the network ---- */

static void examine_bandwidth(const struct machine_cluster *cluster,
                              struct orr_findings *findings)
{
    double nic = machine_cluster_link_rate(cluster);
    char rate[PICTURE_TEXT];

    if (nic > NIC_MOST)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "nic-fast", NULL,
                         "write Gb/s if bits were meant, or several NICs as "
                         "4x400Gb/s",
                         "a NIC of %s is faster than any there is, 100 GB/s",
                         picture_bandwidth(nic, rate));
    if (nic < NIC_LEAST)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "nic-slow", NULL,
                         "check the unit of the bandwidth",
                         "a NIC of %s is slower than gigabit Ethernet",
                         picture_bandwidth(nic, rate));
}

static void examine_latency(const struct orr_fabric *fabric,
                            struct orr_findings *findings)
{
    if (fabric->latency_us < LATENCY_LEAST)
        orr_findings_add(
            findings, ORR_SEVERITY_WARNING, "latency-short", NULL,
            "measure it between two processes, as half of a ping-pong",
            "a latency of %.4g us from node to node is shorter than that "
            "of any network, %.1f us",
            fabric->latency_us, LATENCY_LEAST);
    if (fabric->latency_us > LATENCY_MOST)
        orr_findings_add(
            findings, ORR_SEVERITY_WARNING, "latency-long", NULL,
            "check its unit, or measure it between two processes, as half "
            "of a ping-pong",
            "a latency of %.4g us from node to node is as long as that of "
            "networks between towns",
            fabric->latency_us);
    if (fabric->hop_us > fabric->latency_us)
        orr_findings_add(
            findings, ORR_SEVERITY_WARNING, "hop", NULL,
            "check latency= and hop=: the first is from node to node, with "
            "one switch between",
            "a further switch adds %.4g us, more than the whole way through "
            "one, %.4g us",
            fabric->hop_us, fabric->latency_us);
}

static void examine_bisection(const struct machine_cluster *cluster,
                              struct orr_findings *findings)
{
    double over = machine_cluster_oversubscription(cluster);

    if (over < 1.01)
        return;
    orr_findings_add(
        findings,
        over > OVERSUBSCRIBED ? ORR_SEVERITY_WARNING : ORR_SEVERITY_NOTE,
        "oversubscribed", NULL,
        "if it is not meant so, give more links: a fat tree of 1:1, greater "
        "h= or a= of a dragonfly, dimensions of a torus that are alike",
        "half of the nodes can send %.3g times what the network carries to "
        "the other half",
        over);
}

static void examine_places(const struct machine_cluster *cluster,
                           struct orr_findings *findings)
{
    unsigned long long nplaces = cluster->shape.switches[0];

    if (cluster->desc.fabric.kind == ORR_TOPOLOGY_TORUS &&
        nplaces > cluster->desc.nnodes)
        orr_findings_add(
            findings, ORR_SEVERITY_NOTE, "places", NULL,
            "give dimensions whose product is the number of nodes",
            "the torus has %llu places for %u nodes: the others have "
            "routers that only pass messages on",
            nplaces, cluster->desc.nnodes);
}

/* ---- messages within a node ---- */

static void examine_node_latency(const struct orr_fabric_node *node,
                                 struct orr_findings *findings)
{
    double us = node->latency_us + node->send_us + node->match_us;

    if (us < NODE_LATENCY_LEAST || us > NODE_LATENCY_MOST)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "node-latency", NULL,
                         "check node-latency=, node-send=, node-match= and their units, or "
                         "measure them (orrery calibrate network)",
                         "%.4g us from rank to rank of one node are %s",
                         us,
                         us < NODE_LATENCY_LEAST
                             ? "shorter than that of any memory"
                             : "longer than that of networks between nodes");
}

static void examine_speeds(const struct orr_fabric_node *node, struct orr_findings *findings)
{
    double fastest = 0, long_one = 0;
    char rate[PICTURE_TEXT];

    for (unsigned i = 0; i < node->speeds.n; i++)
        fastest = fmax(fastest, node->speeds.at[i].bandwidth * 1e6);
    if (node->speeds.n > 0)
        long_one = node->speeds.at[node->speeds.n - 1].bandwidth * 1e6;
    if (fastest > NODE_SPEED_MOST)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "node-fast", NULL,
                         "check node-bandwidth= and its unit",
                         "messages within a node of %s are faster than any memory",
                         picture_bandwidth(fastest, rate));
    if (node->speeds.n > 0 && long_one < NODE_SPEED_LEAST)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "node-slow", NULL,
                         "check node-bandwidth= and its unit; or measure with no more ranks "
                         "than cores, when the machine is quiet",
                         "long messages within a node of %s are slower than a network between "
                         "nodes",
                         picture_bandwidth(long_one, rate));
}

/* ---- how it was measured ---- */

static void examine_care(const struct orr_cluster_measured *m, struct orr_findings *findings)
{
    if (m->repetitions < FEW_REPETITIONS)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "measured-few", NULL,
                         "measure with more, orrery calibrate network -r 9",
                         "the network was measured in %.0f repetition%s: one that was "
                         "disturbed moves the median",
                         m->repetitions, m->repetitions == 1 ? "" : "s");
    if (m->spread > WIDE_SPREAD)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "measured-spread", NULL,
                         "measure again when the machine is quiet, or with more repetitions "
                         "(-r)",
                         "half of the samples of a figure are %.0f %% of their median apart",
                         100 * m->spread);
    if (m->share > 0 && m->share < QUIET_SHARE)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "measured-busy", NULL,
                         "measure again when the machine is quiet",
                         "the machine was busy when its network was measured: a thread got "
                         "%.0f %% of a processor",
                         100 * m->share);
}

static void examine_shares(const struct orr_cluster_measured *m, struct orr_findings *findings)
{
    if (m->asymmetry > ASYMMETRIC)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "asymmetric", NULL,
                         "measure again; if it stays, look at slots and drivers of the NICs, "
                         "and where the ranks are bound",
                         "one direction was %.0f %% faster than the other: simulations have "
                         "one bandwidth for both",
                         100 * m->asymmetry);
    if (m->incast > 0 && m->incast < POOR_INCAST)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "incast", NULL,
                         m->ranks > 2 * m->hosts
                             ? "measure with no more ranks than cores; simulations have "
                               "senders share what one gets"
                             : "simulations have senders share what one gets: expect more "
                               "time where many send to one",
                         "all ranks together sent %.0f %% of what one sends to the same "
                         "receiver",
                         100 * m->incast);
}

static void examine_measured(const struct machine_cluster *cluster,
                             struct orr_findings *findings)
{
    const struct orr_cluster_measured *m = &cluster->desc.measured;

    if (m->repetitions <= 0)
        return;
    examine_care(m, findings);
    examine_shares(m, findings);
    if (m->hosts == 1)
        orr_findings_add(findings,
                         cluster->desc.nnodes > 1 ? ORR_SEVERITY_WARNING : ORR_SEVERITY_NOTE,
                         "measured-one-host", NULL,
                         "for the network between nodes measure ranks on several: orrery "
                         "calibrate network -- mpirun -n 2 --host A,B",
                         "it was measured on one host only: of messages between nodes nothing "
                         "is known");
}

int machine_cluster_examine(const struct machine_cluster *cluster,
                            struct orr_findings *findings,
                            struct orr_error *err)
{
    int rc = examine_nodes(cluster, findings, err);

    if (cluster->desc.nnodes > 1) {
        examine_bandwidth(cluster, findings);
        examine_latency(&cluster->desc.fabric, findings);
        examine_bisection(cluster, findings);
        examine_places(cluster, findings);
    }
    if (cluster->desc.fabric.node.takes_time) {
        examine_node_latency(&cluster->desc.fabric.node, findings);
        examine_speeds(&cluster->desc.fabric.node, findings);
    }
    examine_measured(cluster, findings);
    orr_findings_worst_first(findings);
    return rc == 0 && findings->failed ? -ENOMEM : rc;
}
