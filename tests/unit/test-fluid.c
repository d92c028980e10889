/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-fluid.c - our network against dates that follow from its rules
 * by hand, on the fluid model and on SimGrid where that was built. test-transfers.c
 * compares both with SimGrid on thousands of machines.
 */
#include "platforms/desc_build.h"
#include "sim/fluid.h"
#include "sim/network_open.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENDS = 8, MAX_TRANSFERS = 64 };

static const char *const choices[] = {
    "fluid",
#ifdef HAVE_SIMGRID
    "simgrid",
#endif
};

static struct orr_machine_desc *desc;
static struct orr_network *network;
static struct orr_error err;
static unsigned ends[MAX_ENDS], nends;
static double ended[MAX_TRANSFERS]; /* dates, by cookie */
static unsigned order[MAX_TRANSFERS], nended;

/* ---- a machine of its parts ---- */

static unsigned must(int index)
{
    ck_assert_int_ge(index, 0);
    return (unsigned)index;
}

static void begin(void)
{
    ck_assert_int_eq(orr_machine_desc_new("parts", &desc), 0);
    nends = nended = 0;
    network = NULL;
    err.text[0] = '\0';
}

static void finish(void)
{
    if (network)
        network->ops->free(network);
    orr_machine_desc_free(desc);
}

static unsigned add_end(void)
{
    static const char *const names[MAX_ENDS] = {"RAM",   "CUDA0", "CUDA1",
                                                "CUDA2", "CUDA3", "CUDA4",
                                                "CUDA5", "CUDA6"};

    ends[nends] = must(orr_machine_desc_add_host(desc, names[nends], 1e9));
    return nends++;
}

/* Bytes per µs and µs. */
static unsigned add_link(double bandwidth, double latency,
                         enum orr_link_sharing sharing)
{
    char id[32];

    snprintf(id, sizeof(id), "l%u", desc->nlinks);
    return must(orr_machine_desc_add_link(desc, id, bandwidth * 1e6,
                                          latency * 1e-6, sharing));
}

static void add_hop(unsigned route, unsigned link, enum orr_hop_direction way)
{
    must(orr_route_desc_add_hop(&desc->routes[route], link, way));
}

static unsigned add_route(unsigned src, unsigned dst, unsigned link)
{
    unsigned route =
        must(orr_machine_desc_add_route(desc, ends[src], ends[dst]));

    add_hop(route, link, ORR_HOP_NONE);
    return route;
}

static void set(const char *id, const char *value)
{
    ck_assert_int_ge(
        orr_props_set(&desc->config, &desc->nconfig, id, value), 0);
}

static void open_network(int choice)
{
    ck_assert_msg(orr_network_open(desc, choices[choice], ends, nends, &network,
                                   &err) == 0,
                  "%s", err.text);
}

/* ---- transfers ---- */

static unsigned char cookies[MAX_TRANSFERS];

static void start(unsigned number, unsigned src, unsigned dst, size_t bytes,
                  double date)
{
    ck_assert_msg(network->ops->start(network, src, dst, bytes,
                                      &cookies[number], date, &err) == 0,
                  "%s", err.text);
}

static void take_ended(double date)
{
    void *cookie;

    while ((cookie = network->ops->take_ended(network))) {
        unsigned number = (unsigned)((unsigned char *)cookie - cookies);

        order[nended++] = number;
        ended[number] = date;
    }
}

/* All events before `date`. */
static void run_until(double date)
{
    double next;

    while ((next = network->ops->next_us(network)) < date) {
        network->ops->advance(network);
        take_ended(next);
    }
}

static void check_end(unsigned number, double expected)
{
    ck_assert_msg(fabs(ended[number] - expected) < 2e-3,
                  "transfer %u ends at %.9f, not %.9f", number, ended[number],
                  expected);
}

START_TEST(one_takes_its_latency_and_its_size_by_the_least_bandwidth)
{
    unsigned route;

    add_end(), add_end();
    route = add_route(0, 1, add_link(200, 3, ORR_LINK_SHARED));
    add_hop(route, add_link(100, 4, ORR_LINK_SHARED), ORR_HOP_NONE);
    open_network(_i);
    ck_assert(isinf(network->ops->next_us(network)));
    start(0, 0, 1, 5000, 10);
    ck_assert_double_eq(network->ops->next_us(network), 17);
    run_until(INFINITY);
    check_end(0, 10 + 7 + 50);
    ck_assert_ptr_null(network->ops->take_ended(network));
}
END_TEST

START_TEST(two_share_a_link_while_both_are_there)
{
    add_end(), add_end();
    add_route(0, 1, add_link(100, 0, ORR_LINK_SHARED));
    open_network(_i);
    start(0, 0, 1, 1000, 0);
    run_until(4);
    start(1, 0, 1, 1000, 4); /* 600 of the first are left, for 12 µs */
    run_until(INFINITY);
    check_end(0, 16);
    check_end(1, 20);
}
END_TEST

START_TEST(the_shares_are_as_one_over_the_latencies)
{
    unsigned bus, slow;

    add_end(), add_end(), add_end();
    bus = add_link(100, 0, ORR_LINK_SHARED);
    add_hop(add_route(0, 1, bus), add_link(1000, 10, ORR_LINK_SHARED),
            ORR_HOP_NONE);
    slow = add_link(1000, 30, ORR_LINK_SHARED);
    add_hop(add_route(0, 2, bus), slow, ORR_HOP_NONE);
    open_network(_i);
    start(1, 0, 2, 9000, 0);
    run_until(20);
    start(0, 0, 1, 9000, 20);
    run_until(INFINITY);
    /* 75 and 25 bytes per µs from 30 on; at 150 there are 6000 left of the other. */
    check_end(0, 150);
    check_end(1, 210);
}
END_TEST

START_TEST(what_one_cannot_use_the_others_get)
{
    unsigned bus;

    add_end(), add_end(), add_end(), add_end();
    bus = add_link(90, 0, ORR_LINK_SHARED);
    add_hop(add_route(0, 1, bus), add_link(10, 0, ORR_LINK_SHARED),
            ORR_HOP_NONE);
    add_route(0, 2, bus);
    add_route(0, 3, bus);
    open_network(_i);
    start(0, 0, 1, 1000, 0);
    start(1, 0, 2, 4000, 0);
    start(2, 0, 3, 4000, 0);
    run_until(INFINITY);
    check_end(0, 100);
    check_end(1, 100);
    check_end(2, 100);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(order[i], i);
}
END_TEST

START_TEST(a_fat_pipe_gives_all_of_it_to_each)
{
    add_end(), add_end();
    add_route(0, 1, add_link(100, 0, ORR_LINK_FATPIPE));
    open_network(_i);
    start(0, 0, 1, 1000, 0);
    start(1, 0, 1, 2000, 0);
    run_until(INFINITY);
    check_end(0, 10);
    check_end(1, 20);
}
END_TEST

START_TEST(a_split_link_is_two_and_a_link_passed_twice_counts_twice)
{
    unsigned split, twice, route;

    add_end(), add_end();
    split = add_link(100, 0, ORR_LINK_SPLITDUPLEX);
    twice = add_link(50, 0, ORR_LINK_SHARED);
    route = must(orr_machine_desc_add_route(desc, ends[0], ends[1]));
    add_hop(route, split, ORR_HOP_UP);
    route = must(orr_machine_desc_add_route(desc, ends[1], ends[0]));
    add_hop(route, split, ORR_HOP_DOWN);
    add_hop(route, twice, ORR_HOP_NONE);
    add_hop(route, twice, ORR_HOP_NONE);
    open_network(_i);
    start(0, 0, 1, 1000, 0);
    start(1, 1, 0, 1000, 0);
    run_until(INFINITY);
    check_end(0, 10);
    check_end(1, 40);
}
END_TEST

START_TEST(elsewhere_nothing_changes)
{
    double before;

    add_end(), add_end(), add_end();
    add_route(0, 1, add_link(7, 0.3, ORR_LINK_SHARED));
    add_route(0, 2, add_link(3, 0.1, ORR_LINK_SHARED));
    open_network(_i);
    start(0, 0, 1, 1000, 0);
    run_until(1);
    before = network->ops->next_us(network);
    for (unsigned i = 1; i < 20; i++)
        start(i, 0, 2, i, 1);
    run_until(before);
    ck_assert_double_eq(network->ops->next_us(network), before);
    run_until(INFINITY);
    check_end(0, 0.3 + 1000 / 7.0);
    ck_assert_uint_eq(nended, 20);
}
END_TEST

/* A nanosecond between ends is none, or the one that stays would be given all of
 * the link for it. */
START_TEST(ends_within_a_nanosecond_are_one)
{
    add_end(), add_end();
    add_route(0, 1, add_link(1e4, 0, ORR_LINK_FATPIPE));
    open_network(_i);
    start(0, 0, 1, 100004, 0); /* 10.0004 µs */
    start(1, 0, 1, 100000, 0);
    ck_assert_double_eq(network->ops->next_us(network), 10);
    network->ops->advance(network);
    take_ended(10);
    ck_assert_uint_eq(nended, 2);
    ck_assert_uint_eq(order[0], 0); /* in order of their starts */
}
END_TEST

START_TEST(factors_hold_for_all_links)
{
    add_end(), add_end();
    add_route(0, 1, add_link(100, 5, ORR_LINK_SHARED));
    set("network/latency-factor", "2");
    set("network/bandwidth-factor", "0.5");
    open_network(_i);
    start(0, 0, 1, 1000, 0);
    run_until(INFINITY);
    check_end(0, 10 + 20);
}
END_TEST

START_TEST(a_pair_without_a_route_is_named)
{
    add_end(), add_end();
    add_route(0, 1, add_link(100, 5, ORR_LINK_SHARED));
    open_network(0);
    ck_assert_int_eq(
        network->ops->start(network, 1, 0, 1, cookies, 0, &err), -EIO);
    ck_assert_str_eq(err.text, "no route from node 1 to node 0");
    ck_assert(isinf(network->ops->next_us(network)));
}
END_TEST

/* Many at once on a chain of links, each with its own share, and none is lost. */
START_TEST(sixty_flows_on_a_chain_end)
{
    double least = 0;

    for (unsigned i = 0; i < MAX_ENDS; i++)
        add_end();
    for (unsigned i = 0; i + 1 < MAX_ENDS; i++)
        add_link(10 + i, 0.5 * i, ORR_LINK_SHARED);
    for (unsigned i = 0; i < MAX_ENDS; i++)
        for (unsigned k = i + 1; k < MAX_ENDS; k++) {
            unsigned route = add_route(i, k, i);

            for (unsigned l = i + 1; l < k; l++)
                add_hop(route, l, ORR_HOP_NONE);
        }
    open_network(_i);
    for (unsigned i = 0; i < 60; i++) {
        unsigned src = i % (MAX_ENDS - 1);
        unsigned dst = src + 1 + i / 7 % (MAX_ENDS - 1 - src);

        start(i, src, dst, 1000 + i, i);
        run_until(i + 1);
    }
    run_until(INFINITY);
    ck_assert_uint_eq(nended, 60);
    for (unsigned i = 0; i < 60; i++)
        least = fmax(least, ended[i]);
    /* No link passes more than it can: the first has 9 flows of 1000 bytes. */
    ck_assert_double_ge(least, 9 * 1000 / 10.0);
}
END_TEST

/* ---- which network ---- */

START_TEST(an_option_that_only_simgrid_has_is_not_ignored)
{
    static const struct {
        const char *id, *value, *lacks;
    } cases[] = {{"network/TCP-gamma", "4194304", "TCP-gamma"},
                 {"network/TCP_gamma", "-1", NULL},
                 {"network/weight-S", "20537", "weight-S"},
                 {"network/weight_S", "0.0", NULL},
                 {"network/crosstraffic", "yes", "crosstraffic"},
                 {"network/crosstraffic", "off", NULL}};
    const char *lacks;
    int rc;

    add_end(), add_end();
    add_route(0, 1, add_link(100, 5, ORR_LINK_SHARED));
    set(cases[_i].id, cases[_i].value);
    lacks = orr_fluid_lacks(desc);
    ck_assert(!lacks == !cases[_i].lacks);
    rc = orr_network_open(desc, "fluid", ends, nends, &network, &err);
    ck_assert_int_eq(rc, lacks ? -EINVAL : 0);
    if (!lacks)
        return;
    ck_assert_str_eq(lacks, cases[_i].lacks);
    ck_assert_msg(strstr(err.text, lacks) && strstr(err.text, "simgrid"), "%s",
                  err.text);
#ifdef HAVE_SIMGRID
    ck_assert_msg(
        orr_network_open(desc, NULL, ends, nends, &network, &err) == 0, "%s",
        err.text);
#endif
}
END_TEST

SUITE_MAIN(fluid)
{
    Suite *suite = suite_create("fluid");
    TCase *tests = tcase_create("dates");
    int n = sizeof(choices) / sizeof(*choices);

    tcase_add_checked_fixture(tests, begin, finish);
    tcase_add_loop_test(
        tests, one_takes_its_latency_and_its_size_by_the_least_bandwidth, 0, n);
    tcase_add_loop_test(tests, two_share_a_link_while_both_are_there, 0, n);
    tcase_add_loop_test(tests, the_shares_are_as_one_over_the_latencies, 0, n);
    tcase_add_loop_test(tests, what_one_cannot_use_the_others_get, 0, n);
    tcase_add_loop_test(tests, a_fat_pipe_gives_all_of_it_to_each, 0, n);
    tcase_add_loop_test(
        tests, a_split_link_is_two_and_a_link_passed_twice_counts_twice, 0, n);
    tcase_add_loop_test(tests, elsewhere_nothing_changes, 0, n);
    tcase_add_loop_test(tests, ends_within_a_nanosecond_are_one, 0, n);
    tcase_add_loop_test(tests, factors_hold_for_all_links, 0, n);
    tcase_add_test(tests, a_pair_without_a_route_is_named);
    tcase_add_loop_test(tests, sixty_flows_on_a_chain_end, 0, n);
    tcase_add_loop_test(tests, an_option_that_only_simgrid_has_is_not_ignored,
                        0, 6);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
