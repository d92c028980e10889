/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-file.c - files of clusters: what they mean, where they are found,
 * and what is said of one that means nothing.
 */
#include "platforms/cluster.h"
#include "platforms/machine_desc.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* What follows CLUSTER is on line 4. */
#define HEAD "<?xml version='1.0'?>\n<platform version='4.1'>\n"
#define CLUSTER                                                                \
    HEAD "<zone id='c' routing='None'>"                                        \
         "<prop id='network' value='ib 2x200Gb/s fat-tree'/>\n"
#define GROUP(id, n, machine)                                                  \
    "<zone id='" id "' routing='None'><prop id='machine' value='" machine      \
    "'/><prop id='nodes' value='" n "'/></zone>\n"
#define END "</zone></platform>\n"

static struct orr_cluster_desc cluster;
static struct orr_error err;
static char folder[] = "/tmp/orrery-cluster-XXXXXX";
static char previous[4096];

static void setup(void)
{
    ck_assert_ptr_nonnull(getcwd(previous, sizeof(previous)));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
    char command[64];

    orr_cluster_free(&cluster);
    ck_assert_int_eq(chdir(previous), 0);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

static void parse(const char *path, const char *text)
{
    orr_cluster_free(&cluster);
    ck_assert_msg(orr_cluster_parse(path, text, strlen(text), &cluster, &err) ==
                      0,
                  "%s", err.text);
}

START_TEST(a_zone_is_nodes_that_are_alike)
{
    parse("frontier.cluster.xml",
          HEAD "<zone id='c' routing='None'>"
               "<prop id='description' value='a &lt;copy&gt;'/>"
               "<prop id='network' value='ib 100Gb/s ranks-per-node=2'/>" GROUP(
                   "a", "3", "hgx-h100-8") GROUP("b", "1", "epyc-64") END);
    ck_assert_str_eq(cluster.name, "frontier");
    ck_assert_str_eq(cluster.description, "a <copy>");
    ck_assert_str_eq(cluster.network, "ib 100Gb/s");
    ck_assert_uint_eq(cluster.ranks_per_node, 2);
    ck_assert_uint_eq(cluster.nnodes, 4);
    ck_assert_str_eq(orr_cluster_machine(&cluster, 2), "hgx-h100-8");
    ck_assert_str_eq(orr_cluster_machine(&cluster, 3), "epyc-64");
}
END_TEST

START_TEST(paths_are_relative_to_the_file)
{
    parse("/x/c.cluster.xml",
          CLUSTER GROUP("a", "1", "node.xml") GROUP("b", "1", "/y/n.xml")
              GROUP("c1", "1", "epyc-64") END);
    ck_assert_str_eq(cluster.groups[0].machine, "/x/node.xml");
    ck_assert_str_eq(cluster.groups[1].machine, "/y/n.xml");
    ck_assert_str_eq(cluster.groups[2].machine, "epyc-64");
}
END_TEST

START_TEST(what_is_printed_reads_as_the_same)
{
    struct orr_cluster_desc again = {0};
    char *text = NULL, *line, *same;
    size_t size;
    FILE *out;

    ck_assert_int_eq(
        orr_cluster_read("2*\"a & b.xml\" + 1*c + 100Gb/s ranks-per-node=3",
                         &cluster, &err),
        0);
    cluster.description = strdup("\"<'&\n>");
    out = open_memstream(&text, &size);
    orr_cluster_print_xml(&cluster, out);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_msg(
        orr_cluster_parse("x.cluster.xml", text, size, &again, &err) == 0,
        "%s: %s", err.text, text);
    line = orr_cluster_line(&cluster);
    same = orr_cluster_line(&again);
    ck_assert_str_eq(line, same);
    ck_assert_str_eq(again.description, cluster.description);
    free(same);
    free(line);
    free(text);
    orr_cluster_free(&again);
}
END_TEST

static int count_visits(const char *name, const char *path, void *arg)
{
    ck_assert_str_eq(name, "lab");
    ck_assert_str_eq(path, "one/bus/lab.cluster.xml");
    ++*(int *)arg;
    return 0;
}

START_TEST(names_are_resolved_in_order)
{
    static const char *const dirs[] = {"one", "two", "none", NULL};
    int visits = 0;

    ck_assert_int_eq(orr_cluster_load("lab", dirs, &cluster, &err), 1);
    ck_assert_int_eq(mkdir("one", 0700) | mkdir("one/bus", 0700) |
                         mkdir("two", 0700) | mkdir("two/bus", 0700),
                     0);
    write_text("two/bus/lab.cluster.xml", CLUSTER GROUP("a", "2", "x") END);
    ck_assert_int_eq(orr_cluster_load("lab", dirs, &cluster, &err), 0);
    ck_assert_uint_eq(cluster.nnodes, 2);
    orr_cluster_free(&cluster);
    write_text("one/bus/lab.cluster.xml", CLUSTER GROUP("a", "1", "x") END);
    ck_assert_int_eq(orr_cluster_load("lab", dirs, &cluster, &err), 0);
    ck_assert_uint_eq(cluster.nnodes, 1);
    ck_assert_int_eq(orr_cluster_list(dirs, count_visits, &visits), 0);
    ck_assert_int_eq(visits, 1);
    orr_cluster_free(&cluster);
    write_text("lab.cluster.xml", CLUSTER GROUP("a", "3", "x") END);
    ck_assert_int_eq(orr_cluster_load("lab", NULL, &cluster, &err), 0);
    ck_assert_uint_eq(cluster.nnodes, 3);
    orr_cluster_free(&cluster);
    ck_assert_int_eq(
        orr_cluster_load("./lab.cluster.xml", NULL, &cluster, &err), 0);
    ck_assert_str_eq(cluster.name, "lab");
}
END_TEST

START_TEST(a_line_is_loaded_as_well)
{
    ck_assert_int_eq(orr_cluster_load("4*a", NULL, &cluster, &err), 0);
    ck_assert_uint_eq(cluster.nnodes, 4);
    ck_assert_int_eq(orr_cluster_load("", NULL, &cluster, &err), 1);
    ck_assert_int_eq(orr_cluster_load("x.xml", NULL, &cluster, &err), 1);
    ck_assert_int_lt(orr_cluster_load("no.cluster.xml", NULL, NULL, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "no.cluster.xml"));
}
END_TEST

START_TEST(a_cluster_is_no_machine)
{
    struct orr_machine_desc *desc;

    ck_assert_int_eq(orr_machine_desc_load("4*a", NULL, &desc, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "\"4*a\" is a cluster"));
    ck_assert_int_eq(orr_machine_desc_load("a + ib 200Gb/s", NULL, &desc, &err),
                     -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "1*NAME"));
    ck_assert_int_eq(orr_machine_desc_load("x.cluster.xml", NULL, &desc, &err),
                     -EINVAL);
}
END_TEST

static const struct {
    const char *text, *expected[2];
} wrong[] = {
    {"", {"x.cluster.xml:1:", "empty"}},
    {"16*a", {"x.cluster.xml:1:", "this is no cluster"}},
    {HEAD "</platform>", {"x.cluster.xml:3:", "no zone"}},
    {CLUSTER END, {":4: <zone>:", "needs nodes"}},
    {HEAD "<zone id='c' routing='None'>" GROUP("a", "1", "x") END,
     {":4: <zone>:", "property network"}},
    {CLUSTER GROUP("a", "1", "x") GROUP("a", "1", "x") END,
     {":5: <zone>:", "second zone with the id \"a\""}},
    {CLUSTER GROUP("a", "1", "x") "</zone><zone id='d' routing='None'/>",
     {":5: <zone>:", "a second cluster"}},
    {CLUSTER "<zone id='d' routing='None'><zone id='e' routing='None'/>",
     {":4: <zone>:", "inside a group"}},
    {CLUSTER "<zone id='d' routing='Floyd'/>", {"Floyd", "\"None\""}},
    {CLUSTER "<zone id='d'/>", {":4: <zone>:", "routing is missing"}},
    {CLUSTER "<zone id='d' routing='None'/>" END,
     {":4: <zone>:", "property machine"}},
    {CLUSTER GROUP("a", "1", "") END, {":4: <prop>:", "not understood"}},
    {CLUSTER
     "<zone id='d' routing='None'><prop id='machine' value='a'/></zone>",
     {":4: <zone>:", "property nodes"}},
    {CLUSTER GROUP("a", "0", "x") END, {":4: <prop>: nodes=\"0\"", "from 1"}},
    {CLUSTER GROUP("a", "-1", "x") END, {"nodes=\"-1\"", "from 1"}},
    {CLUSTER GROUP("a", "1x", "x") END, {"nodes=\"1x\"", "from 1"}},
    {CLUSTER GROUP("a", "1048576", "x") GROUP("b", "1", "x") END,
     {":5: <zone>: more nodes", "1048576"}},
    {CLUSTER GROUP("a", "1", "x") "<prop id='description' value=''/>",
     {":5: <prop>:", "before"}},
    {CLUSTER "<prop id='network' value='100Gb/s'/>", {":4: <prop>:", "second"}},
    {CLUSTER "<zone id='a' routing='None'><prop id='machine' value='a'/>"
             "<prop id='machine' value='b'/>",
     {":4: <prop>:", "second"}},
    {CLUSTER "<zone id='a' routing='None'><prop id='nodes' value='1'/>"
             "<prop id='nodes' value='1'/>",
     {":4: <prop>:", "second"}},
    {CLUSTER "<prop id='nodes' value='1'/>", {":4: <prop>:", "not understood"}},
    {HEAD "<zone id='c' routing='None'><prop id='network' value='2*a'/>",
     {":3: <prop>:", "\"2*a\""}},
    {HEAD "<zone id='c' routing='None'>"
          "<prop id='network' value='1Gb/s ranks-per-node=0'/>",
     {":3: <prop>:", "ranks-per-node=0"}},
    {CLUSTER "<host id='MAIN' speed='1f'/>",
     {":4: <host>:", "a file of its own"}},
    {CLUSTER "<node/>", {":4: <node>: unknown", "zone and prop"}},
    {CLUSTER "<zone id='a' routing='None' n='4'/>",
     {"attribute n", "remove it"}},
    {CLUSTER "text", {":4:", "text between elements"}},
};

START_TEST(a_wrong_file_is_refused_with_its_line_and_what_to_write)
{
    struct orr_cluster_desc untouched = {0};

    err.text[0] = '\0';
    ck_assert_int_eq(orr_cluster_parse("x.cluster.xml", wrong[_i].text,
                                       strlen(wrong[_i].text), &untouched,
                                       &err),
                     -EINVAL);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(strstr(err.text, wrong[_i].expected[i]), "%d: %s", _i,
                      err.text);
    ck_assert_ptr_null(untouched.groups);
}
END_TEST

SUITE_MAIN(cluster_file)
{
    Suite *suite = suite_create("cluster-file");
    TCase *tests = tcase_create("cluster-file");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_zone_is_nodes_that_are_alike);
    tcase_add_test(tests, paths_are_relative_to_the_file);
    tcase_add_test(tests, what_is_printed_reads_as_the_same);
    tcase_add_test(tests, names_are_resolved_in_order);
    tcase_add_test(tests, a_line_is_loaded_as_well);
    tcase_add_test(tests, a_cluster_is_no_machine);
    tcase_add_loop_test(tests,
                        a_wrong_file_is_refused_with_its_line_and_what_to_write,
                        0, COUNT(wrong));
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
