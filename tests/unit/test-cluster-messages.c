/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-messages.c - when messages arrive: dates that follow by hand, and
 * on random clusters those of the exact solver of a node's own links (sim/fluid.h), and
 * of SimGrid where that was built, for the same routes.
 */
#include "platforms/desc_build.h"
#include "sim/cluster/flows.h"
#include "sim/cluster/interconnect.h"
#include "sim/cluster/messages.h"
#include "sim/network_open.h"
#include "tests/rng.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 64, MAX_MESSAGES = MAX_NODES * MAX_NODES };

struct message {
    unsigned src, dst;
    size_t bytes;
    double start;
};

static struct message messages[MAX_MESSAGES];
static unsigned nmessages;
static double ended[MAX_MESSAGES]; /* NaN: not yet */
static struct orr_fabric fabric;
static struct orr_network *network;
static struct orr_error err;

static void parse(const char *text)
{
    ck_assert_msg(orr_fabric_parse(text, &fabric, &err) == 0, "%s", err.text);
}

static void open_network(const char *text, unsigned nnodes, double epsilon)
{
    parse(text);
    ck_assert_msg(orr_messages_new(&fabric, nnodes, epsilon, &network, &err) ==
                      0,
                  "%s", err.text);
    nmessages = 0;
}

static void close_network(void)
{
    network->ops->free(network);
    network = NULL;
}

static void take_ended(double date)
{
    struct message *message;

    while ((message = network->ops->take_ended(network))) {
        ck_assert(isnan(ended[message - messages]));
        ended[message - messages] = date;
    }
}

/* All events up to `date`, or before it. */
static void run_until(double date, bool before)
{
    double next;

    while ((next = network->ops->next_us(network)) < date ||
           (!before && next == date && isfinite(date))) {
        network->ops->advance(network);
        take_ended(next);
    }
}

static struct message *add(unsigned src, unsigned dst, size_t bytes,
                           double start)
{
    struct message *message = &messages[nmessages];

    *message = (struct message){src, dst, bytes, start};
    ended[nmessages++] = (double)NAN;
    return message;
}

static void start(struct message *message)
{
    ck_assert_msg(network->ops->start(network, message->src, message->dst,
                                      message->bytes, message, message->start,
                                      &err) == 0,
                  "%s", err.text);
}

static void send(unsigned src, unsigned dst, size_t bytes, double date)
{
    start(add(src, dst, bytes, date));
}

/* All that were added, in the order of their dates. */
static void run_all(void)
{
    for (unsigned i = 0; i < nmessages; i++)
        ended[i] = (double)NAN;
    for (unsigned i = 0; i < nmessages; i++) {
        if (i == 0 || messages[i].start > messages[i - 1].start)
            run_until(messages[i].start, false);
        start(&messages[i]);
    }
    run_until(INFINITY, true);
}

static void check_end(unsigned number, double expected)
{
    ck_assert_msg(fabs(ended[number] - expected) < 2e-3,
                  "message %u arrives at %.9f, not %.9f", number, ended[number],
                  expected);
}

/* ---- by hand: 1,000 bytes per µs ---- */

START_TEST(two_share_an_uplink_while_both_are_there)
{
    open_network("8Gb/s fat-tree:3,2:1 levels=2 latency=0 hop=0", 6, 0);
    send(0, 2, 1000, 0);
    send(1, 4, 2000, 0);
    run_until(INFINITY, true);
    check_end(0, 2);
    check_end(1, 3);
    close_network();
}
END_TEST

START_TEST(an_incast_of_eight_shares_one_nic)
{
    double now = 0;

    open_network("8Gb/s latency=0", 9, 0);
    for (unsigned i = 1; i <= 8; i++)
        send(i, 0, 1000 * i, 0);
    run_until(INFINITY, true);
    /* 9 - i of them have 1,000 bytes left from one end to the next. */
    for (unsigned i = 1; i <= 8; i++)
        check_end(i - 1, now += 9 - i);
    close_network();
}
END_TEST

START_TEST(a_broadcast_tree_of_64_takes_six_messages)
{
    static const char *const networks[] = {
        "8Gb/s latency=2us hop=0", "8Gb/s fat-tree:8 latency=2us hop=0"};

    open_network(networks[_i], 64, 0);
    for (unsigned step = 0; step < 6; step++) {
        double date = step * (2 + 5);

        for (unsigned i = 0; i < 1U << step; i++)
            send(i, i + (1U << step), 5000, date);
        run_until(date + 2 + 5.5, true);
    }
    for (unsigned i = 0; i < 63; i++) /* step s has 2^s of them */
        check_end(i, 7 * (1 + floor(log2(i + 1))));
    close_network();
}
END_TEST

/* 32 nodes of a leaf, 16 links up: each carries what 32 nodes send to two others. */
START_TEST(all_to_all_through_half_the_links_takes_twice_as_long)
{
    open_network("8Gb/s fat-tree:48,2:1 latency=0 hop=0", 64, _i ? 0.01 : 0);
    for (unsigned src = 0; src < 64; src++)
        for (unsigned dst = 0; dst < 64; dst++)
            if (src != dst)
                send(src, dst, 1000, 0);
    run_until(INFINITY, true);
    for (unsigned i = 0; i < nmessages; i++) {
        bool near = messages[i].src / 32 == messages[i].dst / 32;
        double expected = near ? 62 : 64;

        ck_assert_double_eq_tol(ended[i], expected, _i ? 0.64 : 2e-3);
    }
    close_network();
}
END_TEST

START_TEST(half_duplex_links_carry_one_direction_or_half_of_both)
{
    open_network(_i ? "8Gb/s latency=0 half-duplex" : "8Gb/s latency=0", 2, 0);
    send(0, 1, 1000, 0);
    send(1, 0, 1000, 0);
    run_until(INFINITY, true);
    check_end(0, _i ? 2 : 1);
    check_end(1, _i ? 2 : 1);
    close_network();
}
END_TEST

START_TEST(several_nics_carry_several_messages)
{
    open_network("2x8Gb/s latency=0", 4, 0);
    send(0, 1, 1000, 0); /* by rule, NIC 1 */
    send(0, 2, 1000, 0); /* and NIC 0 */
    send(0, 3, 1000, 0);
    run_until(INFINITY, true);
    check_end(0, 2);
    check_end(1, 1);
    check_end(2, 2);
    close_network();
}
END_TEST

START_TEST(latency_comes_first_and_long_messages_ask)
{
    open_network("8Gb/s latency=3us eager=1kB", 2, 0);
    send(0, 1, 1000, 10);
    run_until(INFINITY, true);
    check_end(0, 10 + 3 + 1);
    send(0, 1, 2000, 20);
    run_until(INFINITY, true);
    check_end(1, 20 + 3 * 3 + 2);
    close_network();
}
END_TEST

START_TEST(sizes_have_their_bandwidth)
{
    open_network("8Gb/s latency=3us eager=1MB bandwidth=500B:250MB/s,1500B:500MB/s,8kB:800MB/s",
                 3, 0);
    send(0, 1, 100, 0);
    run_until(INFINITY, true);
    check_end(0, 3 + 0.4);
    send(0, 1, 1000, 50); /* half of the way from 2 us to 3 us */
    run_until(INFINITY, true);
    check_end(1, 50 + 3 + 2.5);
    send(0, 1, 16000, 100);
    run_until(INFINITY, true);
    check_end(2, 100 + 3 + 20);
    /* What one may not have the others get. */
    send(0, 1, 80000, 200);
    send(0, 2, 100, 203);
    run_until(INFINITY, true);
    check_end(4, 206 + 0.4);
    check_end(3, 206.4 + (80000 - 3 * 800 - 0.4 * 750) / 800);
    close_network();
}
END_TEST

START_TEST(ranks_of_a_node_have_a_network_of_their_own)
{
    open_network("8Gb/s latency=3us node-latency=1us node-bandwidth=4GB/s node-total=6GB/s",
                 2, 0);
    send(0, 0, 4000, 0);
    run_until(INFINITY, true);
    check_end(0, 1 + 1);
    /* Two share what the node has, others do not. */
    send(0, 0, 60000, 10);
    send(0, 0, 60000, 10);
    send(1, 1, 60000, 10);
    run_until(INFINITY, true);
    check_end(1, 11 + 20);
    check_end(2, 11 + 20);
    check_end(3, 11 + 15);
    close_network();
    open_network("8Gb/s node-latency=2us", 1, 0);
    send(0, 0, 50000, 5);
    run_until(INFINITY, true);
    check_end(0, 5 + 2);
    close_network();
}
END_TEST

START_TEST(a_message_that_is_taken_out_leaves_its_links_to_others)
{
    struct orr_flow *flow, *latent;
    struct orr_cluster_message desc = {
        .src = 2, .dst = 0, .bytes = 5000, .cookie = &messages[8]};

    open_network("8Gb/s latency=0", 3, 0);
    send(1, 0, 5000, 0);
    ck_assert_int_eq(orr_messages_start(network, &desc, 0, &flow, &err), 0);
    run_until(4, true);
    orr_messages_cancel(network, flow, 4); /* of each 3,000 are left */
    run_until(INFINITY, true);
    check_end(0, 7);
    ck_assert(isinf(network->ops->next_us(network)));
    close_network();

    open_network("8Gb/s latency=9us", 3, 0);
    ck_assert_int_eq(orr_messages_start(network, &desc, 0, &latent, &err), 0);
    orr_messages_cancel(network, latent, 1);
    ck_assert(isinf(network->ops->next_us(network)));
    close_network();
}
END_TEST

/* Two NICs of 100 bytes per µs, and a link of 150 inside the node that both share. */
START_TEST(a_flow_passes_any_ports_that_its_owner_names)
{
    static const double capacities[] = {100, 100, 150};
    static const unsigned ports[][2] = {{0, 2}, {1, 2}};
    struct orr_flow_desc desc = {.bytes = 1500, .nports = 2};
    struct orr_flows *flows;

    ck_assert_int_eq(orr_flows_new(capacities, 3, 0, &flows), 0);
    for (unsigned i = 0; i < 2; i++) {
        desc.ports = ports[i];
        desc.cookie = &messages[i];
        ck_assert_int_eq(orr_flow_start(flows, &desc, 0, NULL), 0);
    }
    desc.limit = 25;
    desc.delay_us = 5;
    desc.cookie = &messages[2];
    ck_assert_int_eq(orr_flow_start(flows, &desc, 0, NULL), 0);
    ck_assert_double_eq(orr_flows_next_us(flows), 5);
    orr_flows_advance(flows);
    ck_assert_ptr_null(orr_flows_take_ended(flows));
    /* 1,125 are left of both, at 62.5 bytes per µs each. */
    ck_assert_double_eq_tol(orr_flows_next_us(flows), 5 + 18, 2e-3);
    orr_flows_advance(flows);
    ck_assert_ptr_eq(orr_flows_take_ended(flows), &messages[0]);
    ck_assert_ptr_eq(orr_flows_take_ended(flows), &messages[1]);
    ck_assert_double_eq_tol(orr_flows_next_us(flows), 5 + 60, 2e-3);
    orr_flows_free(flows);
}
END_TEST

/* Two flows have 50 bytes per µs each of a NIC; what is light has as much as one of them, and
 * leaves them what they have. */
START_TEST(a_light_flow_is_as_fast_as_others_and_slows_none_down)
{
    static const double capacities[] = {100, 1000};
    static const unsigned ports[] = {0, 1};
    struct orr_flow_desc desc = {.bytes = 1000, .nports = 2, .ports = ports};
    struct orr_flow *flow;
    struct orr_flows *flows;

    ck_assert_int_eq(orr_flows_new(capacities, 2, 0, &flows), 0);
    for (unsigned i = 0; i < 2; i++) {
        desc.cookie = &messages[i];
        ck_assert_int_eq(orr_flow_start(flows, &desc, 0, NULL), 0);
    }
    ck_assert_double_eq(orr_flows_next_us(flows), 20);
    desc = (struct orr_flow_desc){.bytes = 100,
                                  .nports = 2,
                                  .ports = ports,
                                  .delay_us = 5,
                                  .light = true,
                                  .cookie = &messages[2]};
    ck_assert_int_eq(orr_flow_start(flows, &desc, 1, NULL), 0);
    desc.limit = 10;
    ck_assert_int_eq(orr_flow_start(flows, &desc, 1, NULL), 0);
    ck_assert_int_eq(orr_flow_start(flows, &desc, 1, &flow), 0);
    orr_flow_cancel(flows, flow, 1);
    ck_assert_double_eq(orr_flows_next_us(flows), 1 + 5 + 2);
    orr_flows_advance(flows);
    ck_assert_ptr_eq(orr_flows_take_ended(flows), &messages[2]);
    ck_assert_double_eq(orr_flows_next_us(flows), 1 + 5 + 10);
    orr_flows_advance(flows);
    ck_assert_ptr_eq(orr_flows_take_ended(flows), &messages[2]);
    ck_assert_double_eq(orr_flows_next_us(flows), 20);
    orr_flows_advance(flows);
    ck_assert_ptr_eq(orr_flows_take_ended(flows), &messages[0]);
    ck_assert_ptr_eq(orr_flows_take_ended(flows), &messages[1]);
    ck_assert_ptr_null(orr_flows_take_ended(flows));
    /* Another one takes the place of those that have ended. */
    ck_assert_int_eq(orr_flow_start(flows, &desc, 20, NULL), 0);
    ck_assert_double_eq(orr_flows_next_us(flows), 20 + 5 + 10);
    orr_flows_free(flows);
}
END_TEST

START_TEST(messages_of_one_date_end_in_the_order_of_their_starts)
{
    struct message *before = NULL, *message;

    open_network("8Gb/s latency=0", 9, 0);
    for (unsigned i = 8; i >= 1; i--)
        send(0, i, 1000, 0);
    ck_assert_double_eq_tol(network->ops->next_us(network), 8, 2e-3);
    network->ops->advance(network);
    while ((message = network->ops->take_ended(network))) {
        ck_assert(message > before);
        before = message;
    }
    ck_assert_ptr_eq(before, &messages[7]);
    close_network();
}
END_TEST

START_TEST(nodes_that_there_are_not_are_refused)
{
    open_network("8Gb/s", 3, 0);
    ck_assert_int_eq(network->ops->start(network, 0, 3, 1, messages, 0, &err),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "network of 3 nodes"));
    ck_assert_int_eq(network->ops->start(network, 1, 1, 1, messages, 0, &err),
                     -EINVAL);
    ck_assert(isinf(network->ops->next_us(network)));
    close_network();
}
END_TEST

/* ---- random clusters beside other solvers ---- */

static const char *const random_networks[] = {
    "100Gb/s latency=0 hop=0",
    "100Gb/s fat-tree:8,3:1 latency=0 hop=0",
    "100Gb/s fat-tree:16,2:1 latency=0 hop=0",
    "2x100Gb/s fat-tree:6,2:1 latency=0 hop=0 half-duplex",
    "100Gb/s dragonfly g=6 a=4 p=3 h=2 latency=0 hop=0",
    "100Gb/s torus:4x4x4 latency=0 hop=0",
    "100Gb/s torus:8x8 latency=0 hop=0 half-duplex",
};

enum { NRANDOM = sizeof(random_networks) / sizeof(random_networks[0]) };

/* Messages of `least` to `most` bytes, several at a date now and then, for a number of
 * them to be in flight per node. */
static void add_random(unsigned nnodes, double load, double least, double most,
                       uint64_t *state)
{
    double gap = sqrt(least * most) / 12500 / (nnodes * load), date = 0;

    nmessages = 0;
    for (unsigned i = 0; i < 400; i++) {
        unsigned src = (unsigned)(rng_next(state) % nnodes);
        unsigned dst = (unsigned)(rng_next(state) % (nnodes - 1));
        double size = least * pow(most / least, rng_uniform(state));

        if (rng_next(state) % 8 == 0)
            dst = 0; /* busier than others */
        add(src, dst + (dst >= src), (size_t)size, date);
        if (rng_next(state) % 3)
            date += 2 * gap * rng_uniform(state);
    }
}

static unsigned must(int index)
{
    ck_assert_int_ge(index, 0);
    return (unsigned)index;
}

/* A machine with a link per port, and the routes that the messages take. */
static struct orr_machine_desc *describe(unsigned nnodes, unsigned *ends)
{
    struct orr_machine_desc *desc;
    struct orr_interconnect *net;
    unsigned *ports;
    char id[32];

    ck_assert_int_eq(orr_machine_desc_new("cluster", &desc), 0);
    ck_assert_int_eq(orr_interconnect_new(&fabric, nnodes, &net, &err), 0);
    ports = malloc(orr_interconnect_longest(net) * sizeof(*ports));
    for (unsigned i = 0; i < nnodes; i++) {
        snprintf(id, sizeof(id), "node%u", i);
        ends[i] = must(orr_machine_desc_add_host(desc, id, 1e9));
    }
    for (unsigned i = 0; i < orr_interconnect_nports(net); i++) {
        snprintf(id, sizeof(id), "port%u", i);
        must(orr_machine_desc_add_link(desc, id, fabric.bandwidth * 1e6, 0,
                                       ORR_LINK_SHARED));
    }
    for (unsigned i = 0; i < nmessages; i++) {
        unsigned src = messages[i].src, dst = messages[i].dst, n, route;

        if (orr_machine_desc_route(desc, ends[src], ends[dst]) >= 0)
            continue;
        route = must(orr_machine_desc_add_route(desc, ends[src], ends[dst]));
        n = orr_interconnect_route(net, src, dst, ORR_ANY_NIC, ports);
        for (unsigned k = 0; k < n; k++)
            must(orr_route_desc_add_hop(&desc->routes[route], ports[k],
                                        ORR_HOP_NONE));
    }
    must(orr_machine_desc_add_fluid_config(desc) + 1);
    free(ports);
    orr_interconnect_free(net);
    return desc;
}

/* The ends as the network `choice` of a machine has them. */
static void run_elsewhere(const char *choice, unsigned nnodes)
{
    unsigned ends[MAX_NODES];
    struct orr_machine_desc *desc = describe(nnodes, ends);

    ck_assert_msg(
        orr_network_open(desc, choice, ends, nnodes, &network, &err) == 0, "%s",
        err.text);
    run_all();
    close_network();
    orr_machine_desc_free(desc);
}

static void run_here(unsigned nnodes, double epsilon)
{
    ck_assert_msg(orr_messages_new(&fabric, nnodes, epsilon, &network, &err) ==
                      0,
                  "%s", err.text);
    run_all();
    close_network();
}

/* Another one for each number: the network, how many nodes, how busy they are, from little
 * to more than it can carry. */
static unsigned make_cluster(unsigned number)
{
    uint64_t state = rng_of(number);
    unsigned nnodes = 2 + (unsigned)(rng_next(&state) % (MAX_NODES - 1));

    parse(random_networks[number % NRANDOM]);
    fabric.eager = INFINITY;
    add_random(nnodes, 0.2 + 3 * rng_uniform(&state), 1e5, 1e7, &state);
    return nnodes;
}

/* The durations here over those elsewhere, less 1, of all messages. */
static void compare_durations(const double *elsewhere, double *ret)
{
    for (unsigned i = 0; i < nmessages; i++) {
        double here = ended[i] - messages[i].start;

        ret[i] = fabs(here / (elsewhere[i] - messages[i].start) - 1);
    }
}

static void check_exact(const char *choice, unsigned number)
{
    static double elsewhere[MAX_MESSAGES], error[MAX_MESSAGES];
    unsigned nnodes = make_cluster(number);

    run_elsewhere(choice, nnodes);
    memcpy(elsewhere, ended, sizeof(ended));
    run_here(nnodes, 0);
    compare_durations(elsewhere, error);
    for (unsigned i = 0; i < nmessages; i++)
        ck_assert_msg(error[i] < 1e-6 || fabs(ended[i] - elsewhere[i]) < 5e-3,
                      "%s, %u nodes: message %u from %u to %u, %zu bytes, "
                      "starts at %.6f and ends at %.6f, not %.6f",
                      random_networks[number % NRANDOM], nnodes, i,
                      messages[i].src, messages[i].dst, messages[i].bytes,
                      messages[i].start, ended[i], elsewhere[i]);
}

START_TEST(exact_durations_are_those_of_the_solver_of_a_node)
{
    check_exact("fluid", (unsigned)_i);
}
END_TEST

START_TEST(exact_durations_are_simgrids)
{
#ifdef HAVE_SIMGRID
    check_exact("simgrid", (unsigned)_i);
#else
    SKIP_TEST("built without SimGrid");
#endif
}
END_TEST

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

START_TEST(with_one_percent_durations_are_within_half_of_it)
{
    static double elsewhere[MAX_MESSAGES], all[40 * MAX_MESSAGES];
    unsigned n = 0;

    for (unsigned number = 0; number < 28; number++) {
        unsigned nnodes = make_cluster(number);

        run_here(nnodes, 0);
        memcpy(elsewhere, ended, sizeof(ended));
        run_here(nnodes, 0.01);
        compare_durations(elsewhere, all + n);
        n += nmessages;
    }
    qsort(all, n, sizeof(*all), compare);
    ck_assert_msg(all[n * 9 / 10] <= 0.005,
                  "a tenth of the durations are off by more than %.2f %% "
                  "(median %.2f %%, worst %.1f %%)",
                  100 * all[n * 9 / 10], 100 * all[n / 2], 100 * all[n - 1]);
}
END_TEST

/* Those of each date in another order, the dates in theirs. */
static void shuffle_dates(uint64_t *state, unsigned *from)
{
    for (unsigned i = 0; i < nmessages; i++)
        from[i] = i;
    for (unsigned i = 0, end; i < nmessages; i = end) {
        for (end = i;
             end < nmessages && messages[end].start == messages[i].start;)
            end++;
        for (unsigned k = end - i; k > 1; k--) {
            unsigned a = i + k - 1, b = i + (unsigned)(rng_next(state) % k);
            struct message message = messages[a];
            unsigned was = from[a];

            messages[a] = messages[b];
            messages[b] = message;
            from[a] = from[b];
            from[b] = was;
        }
    }
}

START_TEST(the_order_of_starts_at_a_date_decides_no_end)
{
    static double once[MAX_MESSAGES];
    static unsigned from[MAX_MESSAGES];
    uint64_t state = rng_of((uint64_t)_i);
    unsigned nnodes = make_cluster((unsigned)_i);
    double epsilon = _i % 2 ? 0.01 : 0;

    for (unsigned i = 0; i < nmessages; i++) /* more of them at one date */
        messages[i].start = messages[i - i % 8].start;
    run_here(nnodes, epsilon);
    memcpy(once, ended, sizeof(ended));
    shuffle_dates(&state, from);
    run_here(nnodes, epsilon);
    for (unsigned i = 0; i < nmessages; i++)
        ck_assert_double_eq(ended[i], once[from[i]]);
}
END_TEST

/* ---- storms ---- */

START_TEST(in_a_storm_each_message_arrives_or_was_taken_out)
{
    static struct orr_flow *flows[MAX_MESSAGES];
    uint64_t state = rng_of((uint64_t)_i + 500);
    unsigned ncancelled = 0, narrived = 0;
    double date = 0;

    open_network(random_networks[_i % NRANDOM], 48, _i % 2 ? 0.01 : 0);
    fabric.latency_us = 2;
    while (nmessages < 3000) {
        unsigned src = (unsigned)(rng_next(&state) % 48);
        unsigned dst = (src + 1 + (unsigned)(rng_next(&state) % 47)) % 48;
        struct message *m =
            add(src, dst, (size_t)(rng_next(&state) % 100000), date);
        struct orr_cluster_message desc = {.src = src,
                                           .dst = dst,
                                           .nic = ORR_ANY_NIC,
                                           .bytes = m->bytes,
                                           .cookie = m};
        unsigned age = (unsigned)(rng_next(&state) % 20);
        unsigned victim = age < nmessages ? nmessages - 1 - age : 0;

        ck_assert_int_eq(orr_messages_start(network, &desc, date,
                                            &flows[m - messages], &err),
                         0);
        if (rng_next(&state) % 2)
            date += rng_uniform(&state);
        run_until(date, false);
        if (rng_next(&state) % 3 == 0 && isnan(ended[victim])) {
            orr_messages_cancel(network, flows[victim], date);
            ended[victim] = -1;
            ncancelled++;
        }
    }
    run_until(INFINITY, true);
    for (unsigned i = 0; i < nmessages; i++) {
        ck_assert(!isnan(ended[i]));
        if (ended[i] < 0)
            continue;
        narrived++;
        ck_assert_double_ge(ended[i] + 2e-3,
                            messages[i].start +
                                (double)messages[i].bytes / fabric.bandwidth);
    }
    ck_assert_uint_eq(ncancelled + narrived, nmessages);
    ck_assert_uint_gt(ncancelled, 100);
    close_network();
}
END_TEST

/* ---- memory ---- */

static const char *const large[] = {
    "2x200Gb/s", "200Gb/s fat-tree:40", "200Gb/s fat-tree:32,2:1",
    "200Gb/s dragonfly g=8", "200Gb/s torus:32x32x16"};

START_TEST(memory_grows_with_nodes_and_not_with_pairs)
{
    for (unsigned nnodes = 1024; nnodes <= 16384; nnodes *= 4) {
        open_network(large[_i], nnodes, 0.01);
        for (unsigned i = 0; i < 1000; i++)
            send(i, (i + 500) % 1000, 1000, 0);
        run_until(INFINITY, true);
        /* A torus has all of its places. */
        ck_assert_uint_le(orr_messages_bytes(network) /
                              (strstr(large[_i], "torus") ? 16384 : nnodes),
                          1024);
        close_network();
    }
}
END_TEST

SUITE_MAIN(cluster_messages)
{
    Suite *suite = suite_create("cluster-messages");
    TCase *tests = tcase_create("cluster-messages");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, two_share_an_uplink_while_both_are_there);
    tcase_add_test(tests, an_incast_of_eight_shares_one_nic);
    tcase_add_loop_test(tests, a_broadcast_tree_of_64_takes_six_messages, 0, 2);
    tcase_add_loop_test(
        tests, all_to_all_through_half_the_links_takes_twice_as_long, 0, 2);
    tcase_add_loop_test(
        tests, half_duplex_links_carry_one_direction_or_half_of_both, 0, 2);
    tcase_add_test(tests, several_nics_carry_several_messages);
    tcase_add_test(tests, latency_comes_first_and_long_messages_ask);
    tcase_add_test(tests, sizes_have_their_bandwidth);
    tcase_add_test(tests, ranks_of_a_node_have_a_network_of_their_own);
    tcase_add_test(tests,
                   a_message_that_is_taken_out_leaves_its_links_to_others);
    tcase_add_test(tests, a_flow_passes_any_ports_that_its_owner_names);
    tcase_add_test(tests, a_light_flow_is_as_fast_as_others_and_slows_none_down);
    tcase_add_test(tests,
                   messages_of_one_date_end_in_the_order_of_their_starts);
    tcase_add_test(tests, nodes_that_there_are_not_are_refused);
    tcase_add_loop_test(
        tests, exact_durations_are_those_of_the_solver_of_a_node, 0, 28);
    tcase_add_loop_test(tests, exact_durations_are_simgrids, 0, 14);
    tcase_add_test(tests, with_one_percent_durations_are_within_half_of_it);
    tcase_add_loop_test(tests, the_order_of_starts_at_a_date_decides_no_end, 0,
                        14);
    tcase_add_loop_test(tests, in_a_storm_each_message_arrives_or_was_taken_out,
                        0, 14);
    tcase_add_loop_test(tests, memory_grows_with_nodes_and_not_with_pairs, 0,
                        5);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
