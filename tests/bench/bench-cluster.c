/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-cluster.c - what a message costs in the network between nodes
 * (sim/cluster), exact and with an epsilon of 1 %, beside the solver of a node's own links
 * (sim/fluid) on the same messages: µs of processor time, and how far durations are off.
 *
 *   bench-cluster
 *   bench-cluster ring NODES MESSAGES BYTES    a ring of that many messages per node
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "platforms/desc_build.h"
#include "sim/cluster/interconnect.h"
#include "sim/cluster/messages.h"
#include "sim/fluid.h"
#include "tests/rng.h"

enum { MAX_MESSAGES = 100000 };

struct message {
    unsigned src, dst;
    size_t bytes;
    double start, end;
};

static struct message messages[MAX_MESSAGES];
static unsigned nmessages;
static struct orr_fabric fabric;
static struct orr_error err;

static void must(int rc)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "bench-cluster: %s\n", err.text);
    exit(1);
}

/* Starts all messages at their dates; µs of processor time for each. *ret_most: how many
 * were in flight at a time. */
static double run(struct orr_network *network, unsigned *ret_most)
{
    unsigned nstarted = 0, nended = 0;
    double since = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);

    *ret_most = 0;
    while (nended < nmessages) {
        double next = network->ops->next_us(network);
        struct message *m = &messages[nstarted];

        if (nstarted < nmessages && m->start < next) {
            must(network->ops->start(network, m->src, m->dst, m->bytes, m,
                                     m->start, &err));
            nstarted++;
            if (nstarted - nended > *ret_most)
                *ret_most = nstarted - nended;
            continue;
        }
        network->ops->advance(network);
        while ((m = network->ops->take_ended(network))) {
            m->end = next;
            nended++;
        }
    }
    return (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - since) / 1e3 / nmessages;
}

/* The messages come as fast as the NICs can carry `load` of. */
static void make_random(unsigned nnodes, double load, unsigned n)
{
    uint64_t state = rng_of(nnodes);

    nmessages = n;
    for (unsigned i = 0; i < n; i++) {
        unsigned src = (unsigned)(rng_next(&state) % nnodes);
        unsigned dst = (unsigned)(rng_next(&state) % (nnodes - 1));

        messages[i] = (struct message){
            .src = src,
            .dst = dst + (dst >= src),
            .bytes = (4 << 20) + rng_next(&state) % (8 << 20),
            .start = i * 8e6 / fabric.bandwidth / (nnodes * load),
        };
    }
}

static double run_here(unsigned nnodes, double epsilon, unsigned *ret_most,
                       double *ret_looks)
{
    struct orr_network *network;
    double us;

    must(orr_messages_new(&fabric, nnodes, epsilon, &network, &err));
    us = run(network, ret_most);
    *ret_looks = (double)orr_messages_looks(network) / nmessages;
    network->ops->free(network);
    return us;
}

/* ---- the solver of a node ---- */

static void add_route(struct orr_machine_desc *desc,
                      const struct orr_interconnect *net, unsigned src,
                      unsigned dst, const unsigned *ends)
{
    unsigned ports[64];
    unsigned n = orr_interconnect_route(net, src, dst, ORR_ANY_NIC, ports);
    int route;

    if (orr_machine_desc_route(desc, ends[src], ends[dst]) >= 0)
        return;
    route = orr_machine_desc_add_route(desc, ends[src], ends[dst]);
    must(route);
    for (unsigned k = 0; k < n; k++)
        must(orr_route_desc_add_hop(&desc->routes[route], ports[k],
                                    ORR_HOP_NONE));
}

static double run_fluid(unsigned nnodes)
{
    unsigned *ends = malloc(nnodes * sizeof(*ends)), most;
    struct orr_machine_desc *desc;
    struct orr_interconnect *net;
    struct orr_network *network;
    char id[32];
    double us;

    must(orr_machine_desc_new("cluster", &desc));
    must(orr_interconnect_new(&fabric, nnodes, &net, &err));
    for (unsigned i = 0; i < nnodes; i++) {
        snprintf(id, sizeof(id), "node%u", i);
        ends[i] = (unsigned)orr_machine_desc_add_host(desc, id, 1e9);
    }
    for (unsigned i = 0; i < orr_interconnect_nports(net); i++) {
        snprintf(id, sizeof(id), "port%u", i);
        must(orr_machine_desc_add_link(desc, id, fabric.bandwidth * 1e6, 0,
                                       ORR_LINK_SHARED));
    }
    for (unsigned i = 0; i < nmessages; i++)
        add_route(desc, net, messages[i].src, messages[i].dst, ends);
    must(orr_fluid_new(desc, ends, nnodes, &network, &err));
    us = run(network, &most);
    network->ops->free(network);
    orr_interconnect_free(net);
    orr_machine_desc_free(desc);
    free(ends);
    return us;
}

/* ---- both ---- */

static void take_durations(double *durations)
{
    for (unsigned i = 0; i < nmessages; i++)
        durations[i] = messages[i].end - messages[i].start;
}

/* The median and the ninth tenth of how far the durations are off, in percent. */
static void print_errors(const double *exact)
{
    static double errors[MAX_MESSAGES];
    double median;

    for (unsigned i = 0; i < nmessages; i++)
        errors[i] =
            100 * fabs((messages[i].end - messages[i].start) / exact[i] - 1);
    median = bench_median(errors, nmessages);
    printf(", off by %.2f %% (median) %.2f %% (90th)", median,
           errors[nmessages * 9 / 10]);
}

static void measure(const char *text, unsigned nnodes, double load, unsigned n,
                    bool beside_fluid)
{
    static double exact[MAX_MESSAGES];
    double us, us_exact, looks, looks_exact, fluid = (double)NAN;
    unsigned most;

    must(orr_fabric_parse(text, &fabric, &err));
    make_random(nnodes, load, n);
    if (beside_fluid)
        fluid = run_fluid(nnodes);
    us_exact = run_here(nnodes, 0, &most, &looks_exact);
    take_durations(exact);
    us = run_here(nnodes, 0.01, &most, &looks);
    printf(
        "bench cluster \"%s\" nodes=%u messages=%u inflight=%u exact %.2f us "
        "%.1f looks, 1%% %.2f us %.1f looks",
        text, nnodes, n, most, us_exact, looks_exact, us, looks);
    print_errors(exact);
    if (beside_fluid)
        printf(", fluid %.2f us, ratio %.3f", fluid, us / fluid);
    printf("\n");
}

/* Each node sends to its neighbour, the next message when the last one has ended. */
static void run_ring(unsigned nnodes, unsigned n, size_t bytes)
{
    struct orr_network *network;
    unsigned nended = 0;
    double since = bench_now_ns(CLOCK_PROCESS_CPUTIME_ID), now = 0;

    must(orr_fabric_parse("ib 100Gb/s fat-tree:32,2:1", &fabric, &err));
    must(orr_messages_new(&fabric, nnodes, 0.01, &network, &err));
    for (unsigned i = 0; i < nnodes; i++) {
        messages[i] = (struct message){.src = i, .dst = (i + 1) % nnodes};
        must(network->ops->start(network, i, messages[i].dst, bytes,
                                 &messages[i], 0, &err));
    }
    while (nended < nnodes * n) {
        struct message *m;

        now = network->ops->next_us(network);
        network->ops->advance(network);
        while ((m = network->ops->take_ended(network))) {
            nended++;
            if (++m->bytes < n) /* so many have ended */
                must(network->ops->start(network, m->src, m->dst, bytes, m, now,
                                         &err));
        }
    }
    network->ops->free(network);
    printf("bench cluster ring nodes=%u messages=%u bytes=%zu %.2f us per "
           "message, %.3f ms simulated\n",
           nnodes, n, bytes,
           (bench_now_ns(CLOCK_PROCESS_CPUTIME_ID) - since) / 1e3 /
               (nnodes * n),
           now / 1e3);
}

int main(int argc, char **argv)
{
    static const char crossbar[] = "200Gb/s latency=0";
    static const char tree[] = "200Gb/s fat-tree:32,2:1 latency=0 hop=0";

    if (argc == 5 && strcmp(argv[1], "ring") == 0) {
        run_ring((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]),
                 (size_t)atol(argv[4]));
        return 0;
    }
    measure(crossbar, 16, 0.6, 5000, true);
    measure(crossbar, 16, 0.85, 5000, true);
    measure(crossbar, 64, 0.6, 5000, true);
    measure(tree, 16, 0.6, 5000, true);
    measure(tree, 64, 0.6, 5000, true);
    measure(crossbar, 1000, 0.6, 3000, true);
    measure(crossbar, 1000, 0.6, 50000, false);
    measure(tree, 1000, 0.4, 50000, false);
    return 0;
}
