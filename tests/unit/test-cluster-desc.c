/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-desc.c - the line that describes a cluster: what it means, and
 * what is said of one that means nothing.
 */
#include "platforms/cluster.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static struct orr_cluster_desc cluster;
static struct orr_error err;

static void read_line(const char *text)
{
    orr_cluster_free(&cluster);
    err.text[0] = '\0';
    ck_assert_msg(orr_cluster_read(text, &cluster, &err) == 0, "%s", err.text);
}

static void teardown(void)
{
    orr_cluster_free(&cluster);
}

START_TEST(nodes_are_alike)
{
    read_line("16*h100-pcie-4 + ib 2x200Gb/s fat-tree");
    ck_assert_uint_eq(cluster.nnodes, 16);
    ck_assert_uint_eq(cluster.ngroups, 1);
    ck_assert_str_eq(cluster.groups[0].machine, "h100-pcie-4");
    ck_assert_str_eq(cluster.network, "ib 2x200Gb/s fat-tree");
    ck_assert_uint_eq(cluster.fabric.nics, 2);
    ck_assert_int_eq(cluster.fabric.kind, ORR_TOPOLOGY_FAT_TREE);
    ck_assert_uint_eq(cluster.ranks_per_node, 1);
}
END_TEST

START_TEST(nodes_are_numbered_through_the_groups)
{
    read_line(
        "8*hgx-h100-8 + 4*epyc-64 + 1*./own.xml + ib 8x400Gb/s fat-tree:32,2:1");
    ck_assert_uint_eq(cluster.nnodes, 13);
    ck_assert_str_eq(orr_cluster_machine(&cluster, 0), "hgx-h100-8");
    ck_assert_str_eq(orr_cluster_machine(&cluster, 7), "hgx-h100-8");
    ck_assert_str_eq(orr_cluster_machine(&cluster, 8), "epyc-64");
    ck_assert_str_eq(orr_cluster_machine(&cluster, 11), "epyc-64");
    ck_assert_str_eq(orr_cluster_machine(&cluster, 12), "./own.xml");
}
END_TEST

START_TEST(a_network_that_is_not_given_is_the_usual_one)
{
    read_line("4*epyc-64");
    ck_assert_str_eq(cluster.network, ORR_CLUSTER_NETWORK);
    ck_assert_double_eq(cluster.fabric.bandwidth, 25000);
    read_line("4*epyc-64 + ranks-per-node=2");
    ck_assert_str_eq(cluster.network, ORR_CLUSTER_NETWORK);
    ck_assert_uint_eq(cluster.ranks_per_node, 2);
}
END_TEST

START_TEST(ranks_per_node_stand_anywhere_in_the_network)
{
    read_line("2*a + ib  ranks-per-node=4 \t200Gb/s");
    ck_assert_uint_eq(cluster.ranks_per_node, 4);
    ck_assert_str_eq(cluster.network, "ib 200Gb/s");
}
END_TEST

START_TEST(blanks_around_signs_do_not_matter)
{
    read_line("\n 2 * a+1*b\t+  100Gb/s ");
    ck_assert_uint_eq(cluster.nnodes, 3);
    ck_assert_str_eq(cluster.groups[0].machine, "a");
    ck_assert_str_eq(cluster.groups[1].machine, "b");
    ck_assert_str_eq(cluster.network, "100Gb/s");
}
END_TEST

START_TEST(a_quoted_name_may_have_any_sign)
{
    read_line("2*\"/c++/my * nodes.xml\" + 100Gb/s");
    ck_assert_str_eq(cluster.groups[0].machine, "/c++/my * nodes.xml");
}
END_TEST

static const char *const lines[] = {
    "16*h100-pcie-4 + ib 2x200Gb/s fat-tree",
    "8*hgx-h100-8 + 4*epyc-64 + ib 8x400Gb/s fat-tree:32,2:1 ranks-per-node=8",
    "1*\"/c++/a.xml\" + 100Gb/s",
    "1*\" a\" + 100Gb/s",
};

START_TEST(what_is_written_reads_as_the_same)
{
    char *line;

    read_line(lines[_i]);
    line = orr_cluster_line(&cluster);
    ck_assert_str_eq(line, lines[_i]);
    free(line);
}
END_TEST

START_TEST(a_machine_is_no_cluster)
{
    static const char *const machines[] = {
        "",  "h100-pcie-4", "./8/x.xml", "2x200Gb/s",
        "*", "x*y",         "\"2*a\"",   "a + b"};

    for (int i = 0; i < COUNT(machines); i++)
        ck_assert_msg(!orr_cluster_is(machines[i]), "%s", machines[i]);
    for (int i = 0; i < COUNT(lines); i++)
        ck_assert(orr_cluster_is(lines[i]));
    ck_assert(orr_cluster_is("4*epyc-64"));
    ck_assert(orr_cluster_is("epyc-64 + 3 * epyc-64"));
}
END_TEST

static const struct {
    const char *text, *expected[2];
} wrong[] = {
    {"", {"nothing stands", "16*h100-pcie-4"}},
    {"ib 200Gb/s", {"\"ib 200Gb/s\" has no nodes", "16*h100-pcie-4"}},
    {"4*a +", {"nothing stands behind a +", "take the + away"}},
    {"4*a + + 200Gb/s", {"nothing stands before a +", ""}},
    {"0*a + 200Gb/s", {"\"0*a\" has no number of nodes", "before the *"}},
    {"-1*a", {"\"-1*a\" has no number of nodes", ""}},
    {"2x*a", {"\"2x*a\" has no number of nodes", ""}},
    {"4* + 200Gb/s", {"\"4*\" has no machine", "behind the *"}},
    {"4*\"\"", {"has no machine", ""}},
    {"4*a*b", {"\"4*a*b\"", "quotation marks"}},
    {"4*a\"b", {"quotation marks", ""}},
    {"1048577*a", {"1048577*a", "1048576"}},
    {"1048576*a + 1*b", {"1*b", "1048576"}},
    {"99999999999999999999*a", {"more nodes", "1048576"}},
    {"a + 4*b", {"\"a\" is not the last term", "1*NAME"}},
    {"4*a + ib 200Gb/s + 1*b", {"\"ib 200Gb/s\"", "behind all nodes"}},
    {"4*a + epyc-64", {"\"epyc-64\" is unknown", "1*epyc-64"}},
    {"4*a + ib", {"no bandwidth", "200Gb/s"}},
    {"4*a + ib 3 Gb/s", {"\"3\"", "Gb/s"}},
    {"4*a + ranks-per-node=2 ranks-per-node=2", {"a second time", "once"}},
    {"4*a + ranks-per-node=", {"\"ranks-per-node=\"", "from 1"}},
    {"4*a + ranks-per-node=0", {"ranks-per-node=0", "from 1"}},
    {"4*a + ranks-per-node=1025", {"ranks-per-node=1025", "1024"}},
};

START_TEST(a_wrong_term_is_named_and_what_to_write)
{
    struct orr_cluster_desc untouched = {0};

    err.text[0] = '\0';
    ck_assert_int_eq(orr_cluster_read(wrong[_i].text, &untouched, &err),
                     -EINVAL);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(strstr(err.text, wrong[_i].expected[i]), "\"%s\": %s",
                      wrong[_i].text, err.text);
    ck_assert_ptr_null(untouched.groups);
    ck_assert_int_eq(orr_cluster_read(wrong[_i].text, &untouched, NULL),
                     -EINVAL);
}
END_TEST

SUITE_MAIN(cluster_desc)
{
    Suite *suite = suite_create("cluster-desc");
    TCase *tests = tcase_create("cluster-desc");

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, nodes_are_alike);
    tcase_add_test(tests, nodes_are_numbered_through_the_groups);
    tcase_add_test(tests, a_network_that_is_not_given_is_the_usual_one);
    tcase_add_test(tests, ranks_per_node_stand_anywhere_in_the_network);
    tcase_add_test(tests, blanks_around_signs_do_not_matter);
    tcase_add_test(tests, a_quoted_name_may_have_any_sign);
    tcase_add_loop_test(tests, what_is_written_reads_as_the_same, 0,
                        COUNT(lines));
    tcase_add_test(tests, a_machine_is_no_cluster);
    tcase_add_loop_test(tests, a_wrong_term_is_named_and_what_to_write, 0,
                        COUNT(wrong));
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
