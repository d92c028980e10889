/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-interconnect.c - routes by rule are paths through a network as it
 * could be built. Where a port comes behind another one in some route, a switch must lie
 * between; so all routes together tell which ports meet in a switch, and those switches
 * are counted, and their ports, beside what the description says.
 */
#include "sim/cluster/interconnect.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct orr_interconnect *net;
static struct orr_error err;
static unsigned *route, *before;
static unsigned nnodes, longest, nports;

static void open_topology(const char *text, unsigned n)
{
    struct orr_fabric fabric;

    ck_assert_msg(orr_fabric_parse(text, &fabric, &err) == 0, "%s", err.text);
    ck_assert_msg(orr_interconnect_new(&fabric, n, &net, &err) == 0, "%s",
                  err.text);
    nnodes = n;
    longest = orr_interconnect_longest(net);
    nports = orr_interconnect_nports(net);
    route = malloc(longest * sizeof(*route));
    before = malloc(longest * sizeof(*before));
}

static void close_topology(void)
{
    orr_interconnect_free(net);
    free(route);
    free(before);
    net = NULL;
}

/* ---- switches, as the routes have them ---- */

/* The ends of ports in sets that meet: 2 × port is where it begins, + 1 where it
 * ends. */
static unsigned *set;

static unsigned find(unsigned end)
{
    while (set[end] != end)
        end = set[end] = set[set[end]];
    return end;
}

/* Whether the two were apart. */
static bool meet(unsigned a, unsigned b)
{
    a = find(a);
    b = find(b);
    set[a] = b;
    return a != b;
}

/* Both directions of a link end where the other one begins. */
static void add_links(void)
{
    set = malloc(2 * nports * sizeof(*set));
    for (unsigned i = 0; i < 2 * nports; i++)
        set[i] = i;
    for (unsigned port = 0; port < nports; port += 2) {
        meet(2 * port, 2 * (port + 1) + 1);
        meet(2 * port + 1, 2 * (port + 1));
    }
}

static void add_route(unsigned src, unsigned dst, unsigned nic, char *used)
{
    unsigned n = orr_interconnect_route(net, src, dst, nic, route);

    ck_assert_uint_ge(n, 2);
    ck_assert_uint_le(n, longest);
    for (unsigned i = 0; i < n; i++) {
        ck_assert_uint_lt(route[i], nports);
        for (unsigned k = 0; k < i; k++)
            ck_assert_uint_ne(route[i], route[k]);
        used[route[i]] = 1;
        if (i > 0)
            meet(2 * route[i - 1] + 1, 2 * route[i]);
    }
}

/* Counts the sets of ends that are met, and the most links that meet in one. */
static void count_switches(const char *used, unsigned *ret_n,
                           unsigned *ret_most)
{
    unsigned *members = calloc(2 * nports, sizeof(*members));

    for (unsigned port = 0; port < nports; port += 2)
        if (used[port] || used[port + 1]) {
            members[find(2 * port)]++;
            members[find(2 * port + 1)]++;
        }
    *ret_n = *ret_most = 0;
    for (unsigned i = 0; i < 2 * nports; i++) {
        *ret_n += members[i] > 1;
        if (members[i] > *ret_most)
            *ret_most = members[i];
    }
    free(members);
}

/* As many switches as are used, and the links of the busiest. Messages of different NICs
 * may never meet: each of their halves of a switch counts. */
static const struct {
    const char *text;
    unsigned nnodes, nswitches, most;
} networks[] = {
    {"1Gb/s", 16, 1, 16},
    {"1Gb/s fat-tree:16", 16, 1, 16},
    {"1Gb/s fat-tree:4", 8, 4 + 2, 4},
    {"1Gb/s fat-tree:4", 16, 8 + 8 + 4, 4},
    {"1Gb/s fat-tree:4 levels=4", 32, 16 + 16 + 16 + 8, 4},
    {"1Gb/s fat-tree:6,2:1", 24, 6 + 2, 6},
    {"1Gb/s fat-tree:12,3:1", 36, 4 + 3, 12},
    {"2x1Gb/s fat-tree:8,1:1", 16, 2 * 8 + 4, 8},
    {"1Gb/s fat-tree:32,2:1", 64, 4 + 10, 30},
    {"1Gb/s dragonfly g=9 a=4 p=2 h=2", 72, 36, 2 + 3 + 2},
    {"1Gb/s dragonfly g=3 a=4 p=2 h=2", 24, 12, 2 + 3 + 2},
    {"1Gb/s dragonfly g=1 a=5 p=3", 15, 5, 3 + 4},
    {"1Gb/s dragonfly g=5", 40, 20, 2 + 3 + 2},
    {"1Gb/s torus:5x3", 15, 15, 1 + 4},
    {"1Gb/s torus:3x3x4", 36, 36, 1 + 6},
    {"2x1Gb/s torus:5", 5, 5, 2 + 2},
};

START_TEST(routes_are_paths_through_switches_that_could_be_built)
{
    unsigned nswitches, most;
    char *used;

    open_topology(networks[_i].text, networks[_i].nnodes);
    add_links();
    used = calloc(nports, 1);
    for (unsigned src = 0; src < nnodes; src++)
        for (unsigned dst = 0; dst < nnodes; dst++)
            for (unsigned nic = 0; nic < 2; nic++)
                if (src != dst)
                    add_route(src, dst, nic, used);
    count_switches(used, &nswitches, &most);
    ck_assert_msg(
        nswitches == networks[_i].nswitches && most == networks[_i].most,
        "%s: %u switches with up to %u links, not %u and %u", networks[_i].text,
        nswitches, most, networks[_i].nswitches, networks[_i].most);
    free(used);
    free(set);
    close_topology();
}
END_TEST

START_TEST(a_half_duplex_link_is_one_port_of_both_directions)
{
    unsigned full;

    open_topology("1Gb/s fat-tree:4", 16);
    full = nports;
    close_topology();
    open_topology("1Gb/s fat-tree:4 half-duplex", 16);
    ck_assert_uint_eq(2 * nports, full);
    orr_interconnect_route(net, 3, 5, 0, before);
    orr_interconnect_route(net, 5, 3, 0, route);
    ck_assert_uint_eq(before[0], route[5]);
    ck_assert_uint_eq(before[5], route[0]);
    close_topology();
}
END_TEST

/* ---- what the rules are for ---- */

static unsigned length(unsigned src, unsigned dst)
{
    return orr_interconnect_route(net, src, dst, ORR_ANY_NIC, route);
}

START_TEST(a_message_goes_up_a_fat_tree_no_further_than_it_must)
{
    open_topology("1Gb/s fat-tree:4", 16);
    ck_assert_uint_eq(length(0, 1), 2);
    ck_assert_uint_eq(length(0, 2), 4);
    ck_assert_uint_eq(length(0, 4), 6);
    ck_assert_uint_eq(length(15, 0), 6);
    close_topology();
}
END_TEST

START_TEST(a_shift_of_all_nodes_shares_no_link_of_a_full_fat_tree)
{
    char *used;

    open_topology("1Gb/s fat-tree:8", 128);
    used = malloc(nports);
    for (unsigned shift = 1; shift < nnodes; shift++) {
        memset(used, 0, nports);
        for (unsigned src = 0; src < nnodes; src++) {
            unsigned n = length(src, (src + shift) % nnodes);

            for (unsigned i = 0; i < n; i++)
                ck_assert_int_eq(used[route[i]]++, 0);
        }
    }
    free(used);
    close_topology();
}
END_TEST

static unsigned around(unsigned a, unsigned b, unsigned size)
{
    unsigned up = (b + size - a) % size;

    return up < size - up ? up : size - up;
}

START_TEST(a_torus_is_passed_by_the_shorter_way_round)
{
    open_topology("1Gb/s torus:5x4", 20);
    for (unsigned src = 0; src < 20; src++)
        for (unsigned dst = 0; dst < 20; dst++)
            if (src != dst)
                ck_assert_uint_eq(length(src, dst),
                                  2 + around(src % 5, dst % 5, 5) +
                                      around(src / 5, dst / 5, 4));
    close_topology();
}
END_TEST

START_TEST(groups_of_a_dragonfly_have_parallel_links_that_destinations_share)
{
    unsigned distinct = 0;
    char *used;

    open_topology("1Gb/s dragonfly g=3 a=4 p=2 h=2", 24);
    used = calloc(nports, 1);
    for (unsigned dst = 8; dst < 16; dst++) { /* to the next group */
        unsigned n = length(0, dst);

        for (unsigned i = 1; i + 1 < n; i++)
            distinct += !used[route[i]]++;
    }
    /* 4 parallel links, on 4 routers: 3 links to those, 3 on either side. */
    ck_assert_uint_ge(distinct, 4 + 3);
    free(used);
    close_topology();
}
END_TEST

START_TEST(any_nic_is_one_of_the_nodes_and_all_are_used)
{
    unsigned seen = 0;

    open_topology("4x1Gb/s", 8);
    for (unsigned dst = 1; dst < 8; dst++) {
        ck_assert_uint_eq(length(0, dst), 2);
        ck_assert_uint_lt(route[0], 8);
        ck_assert_uint_eq(route[1] / 8, dst);
        seen |= 1U << route[0] / 2;
    }
    ck_assert_uint_eq(seen, 15);
    orr_interconnect_route(net, 2, 5, 3, route);
    ck_assert_uint_eq(route[0], 2 * (2 * 4 + 3));
    ck_assert_uint_eq(route[1], 2 * (5 * 4 + 3) + 1);
    close_topology();
}
END_TEST

static const struct {
    const char *text;
    unsigned nnodes, nlevels;
    uint64_t switches, links; /* of the first level */
    unsigned ports;
    double bisection;
} shapes[] = {
    {"1Gb/s", 7, 1, 1, 0, 7, 3.5},
    {"2x1Gb/s", 8, 1, 1, 0, 16, 8},
    {"1Gb/s fat-tree:8", 8, 1, 1, 0, 8, 4},
    {"1Gb/s fat-tree:8", 16, 2, 4, 16, 8, 8},
    /* 18 ports: 12 down, 6 up. */
    {"1Gb/s fat-tree:18,2:1", 48, 2, 4, 24, 18, 12},
    /* A single leaf, whose ends need no links up. */
    {"1Gb/s fat-tree:18,2:1 levels=2", 12, 2, 1, 6, 18, 6},
    /* Three pairs of groups, each of 2 × 1 / 2 links, and a pair in each group. */
    {"1Gb/s dragonfly g=3 a=2 p=2 h=1", 12, 1, 6, 6, 4, 2},
    {"1Gb/s dragonfly g=4 a=3 p=1 h=1", 3, 1, 12, 18, 4, 1.5},
    {"1Gb/s torus:4x2", 8, 1, 8, 16, 5, 4},
    {"1Gb/s torus:8", 8, 1, 8, 8, 3, 2},
    {"1Gb/s torus:2", 2, 1, 2, 2, 3, 1},
    {"1Gb/s torus:1", 1, 1, 1, 1, 3, 0.5},
};

START_TEST(switches_links_and_bisection_are_those_of_the_topology)
{
    struct orr_interconnect_shape shape;

    open_topology(shapes[_i].text, shapes[_i].nnodes);
    orr_interconnect_describe(net, &shape);
    ck_assert_uint_eq(shape.nlevels, shapes[_i].nlevels);
    ck_assert_uint_eq(shape.switches[0], shapes[_i].switches);
    ck_assert_uint_eq(shape.links[0], shapes[_i].links);
    ck_assert_uint_eq(shape.ports, shapes[_i].ports);
    ck_assert_double_eq(shape.bisection, shapes[_i].bisection);
    close_topology();
}
END_TEST

START_TEST(each_further_switch_adds_its_latency)
{
    open_topology("1Gb/s fat-tree:4 latency=2us hop=300ns", 16);
    ck_assert_double_eq_tol(orr_interconnect_latency(net, length(0, 1)), 2,
                            1e-9);
    ck_assert_double_eq_tol(orr_interconnect_latency(net, length(0, 2)), 2.6,
                            1e-9);
    ck_assert_double_eq_tol(orr_interconnect_latency(net, length(0, 9)), 3.2,
                            1e-9);
    close_topology();
}
END_TEST

/* -- parts of the nodes -- */

/* Calls `use` with each route into the part, or with all others. */
static void for_routes(const unsigned *part, unsigned which, bool into, unsigned nics,
                       void (*use)(unsigned n))
{
    for (unsigned src = 0; src < nnodes; src++)
        for (unsigned dst = 0; dst < nnodes; dst++)
            for (unsigned nic = 0; nic < nics && src != dst; nic++)
                if ((part[src] != which && part[dst] == which) == into)
                    use(orr_interconnect_route(net, src, dst, nic, route));
}

static char *others; /* by port: a route that does not lead into the part uses it */
static char *last;   /* by port: the last one of a route into the part that no other uses */

static void mark_others(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        others[route[i]] = 1;
}

static void mark_last(unsigned n)
{
    while (n > 0 && others[route[n - 1]])
        n--;
    ck_assert_uint_gt(n, 0);
    last[route[n - 1]] = 1;
}

/* Ports of which each route into the part has one. */
static unsigned count_entries(const unsigned *part, unsigned which, unsigned nics)
{
    unsigned count = 0;

    others = calloc(nports, 1);
    last = calloc(nports, 1);
    for_routes(part, which, false, nics, mark_others);
    for_routes(part, which, true, nics, mark_last);
    for (unsigned port = 0; port < nports; port++)
        count += last[port];
    free(others);
    free(last);
    return count;
}

static const unsigned ndivisions[] = {0, 0, 1, 2, 3, 1, 1, 1, 1, 1, 1, 0, 1, 2, 3, 1};

START_TEST(what_enters_a_part_passes_one_of_its_links)
{
    struct orr_interconnect_division division;
    unsigned part[100], nics = networks[_i].text[1] == 'x' ? 2 : 1, k = 0;

    open_topology(networks[_i].text, networks[_i].nnodes);
    for (; orr_interconnect_divide(net, k, part, &division); k++)
        for (unsigned which = 0; which < division.nparts; which++)
            ck_assert_double_le(count_entries(part, which, nics), division.links);
    ck_assert_uint_eq(k, ndivisions[_i]);
    close_topology();
}
END_TEST

START_TEST(links_of_parts_are_as_many_as_were_built)
{
    static const struct {
        const char *text;
        unsigned nnodes, nparts;
        double links;
    } built[] = {{"1Gb/s fat-tree:32,2:1", 64, 4, 10},
                 {"1Gb/s dragonfly g=3 a=4 p=2 h=2", 24, 3, 8},
                 {"1Gb/s torus:5x3", 15, 2, 6},
                 {"1Gb/s torus:2x3", 6, 2, 3},
                 {"1Gb/s torus:2x3 half-duplex", 6, 2, 6}};

    for (unsigned i = 0; i < sizeof(built) / sizeof(*built); i++) {
        struct orr_interconnect_division division;
        unsigned part[100];

        open_topology(built[i].text, built[i].nnodes);
        ck_assert(orr_interconnect_divide(net, 0, part, &division));
        ck_assert_uint_eq(division.nparts, built[i].nparts);
        ck_assert_double_eq(division.links, built[i].links);
        close_topology();
    }
}
END_TEST

SUITE_MAIN(cluster_interconnect)
{
    Suite *suite = suite_create("cluster-interconnect");
    TCase *tests = tcase_create("cluster-interconnect");

    tcase_add_loop_test(tests,
                        routes_are_paths_through_switches_that_could_be_built,
                        0, (int)(sizeof(networks) / sizeof(networks[0])));
    tcase_add_test(tests, a_half_duplex_link_is_one_port_of_both_directions);
    tcase_add_test(tests, a_message_goes_up_a_fat_tree_no_further_than_it_must);
    tcase_add_test(tests,
                   a_shift_of_all_nodes_shares_no_link_of_a_full_fat_tree);
    tcase_add_test(tests, a_torus_is_passed_by_the_shorter_way_round);
    tcase_add_test(
        tests,
        groups_of_a_dragonfly_have_parallel_links_that_destinations_share);
    tcase_add_test(tests, any_nic_is_one_of_the_nodes_and_all_are_used);
    tcase_add_loop_test(tests,
                        switches_links_and_bisection_are_those_of_the_topology,
                        0, (int)(sizeof(shapes) / sizeof(shapes[0])));
    tcase_add_test(tests, each_further_switch_adds_its_latency);
    tcase_add_loop_test(tests, what_enters_a_part_passes_one_of_its_links, 0,
                        (int)(sizeof(networks) / sizeof(networks[0])));
    tcase_add_test(tests, links_of_parts_are_as_many_as_were_built);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
