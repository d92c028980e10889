/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-cluster-edit.c - what-if edits of clusters: of the network, of some nodes
 * and of all; what they say, what they refuse. */
#include "platforms/cluster.h"
#include "platforms/edit.h"
#include "platforms/machine_desc.h"
#include "tests/suite.h"
#include "tests/unit/platform_texts.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static struct orr_cluster_desc cluster;
static struct orr_error err;

static int edit(const char *line, const char *edits)
{
    orr_cluster_free(&cluster);
    err.text[0] = '\0';
    ck_assert_msg(orr_cluster_read(line, &cluster, &err) == 0, "%s", err.text);
    return orr_cluster_edit(&cluster, edits, &err);
}

static void teardown(void)
{
    orr_cluster_free(&cluster);
}

static const struct {
    const char *before, *edits, *after, *echo;
} networks[] = {
    {"ib 200Gb/s", "network.latency = 2us", "ib 200Gb/s latency=2us",
     "ib 200Gb/s -> ib 200Gb/s latency=2us"},
    {"ib 200Gb/s", "network.latency *= 2", "ib 200Gb/s latency=2us", "-> ib"},
    {"ib 200Gb/s", "network.latency = 0", "ib 200Gb/s latency=0us", "->"},
    {"ib 1Gb/s latency=3us", "network.latency -= 500ns",
     "ib 1Gb/s latency=2.5us", "->"},
    {"ib 200Gb/s", "network.hop += 70ns", "ib 200Gb/s hop=0.2us", "->"},
    {"ib 2x200Gb/s fat-tree", "network.bandwidth = 400Gb/s",
     "ib fat-tree 2x400Gb/s", "->"},
    {"2x25GB/s", "network.bandwidth /= 2", "2x100Gb/s", "->"},
    {"200Gb/s", "NIC.count = 4", "4x200Gb/s", "->"},
    {"4x200Gb/s", "nic.count /= 4", "200Gb/s", "->"},
    {"ib 200Gb/s fat-tree:32", "network = dragonfly g=2",
     "ib 200Gb/s dragonfly g=2", "->"},
    {"ib 200Gb/s", "network = slingshot 400Gb/s", "slingshot 400Gb/s", "->"},
    {"ib 200Gb/s", "network = ranks-per-node=2", "ib 200Gb/s",
     "-> ib 200Gb/s ranks-per-node=2"},
    {"ib 200Gb/s", "network = 200Gb/s", "ib 200Gb/s", "no effect: already so"},
};

START_TEST(an_edit_of_the_network_changes_its_words)
{
    char line[128];

    snprintf(line, sizeof(line), "4*a + %s", networks[_i].before);
    ck_assert_msg(edit(line, networks[_i].edits) == 0, "%s", err.text);
    ck_assert_str_eq(cluster.network, networks[_i].after);
    ck_assert_uint_eq(cluster.nedits, 1);
    ck_assert_str_eq(cluster.edits[0].edit, networks[_i].edits);
    ck_assert_msg(strstr(cluster.edits[0].text, networks[_i].echo), "%s",
                  cluster.edits[0].text);
    ck_assert_int_eq(cluster.edits[0].effect,
                     !strstr(cluster.edits[0].text, "no effect"));
}
END_TEST

START_TEST(edits_apply_one_after_the_other)
{
    ck_assert_int_eq(edit("4*a + ib 200Gb/s", "nic.count = 2; nic.count *= 3\n"
                                              "network.bandwidth *= 0.5"),
                     0);
    ck_assert_str_eq(cluster.network, "ib 6x100Gb/s");
    ck_assert_uint_eq(cluster.fabric.nics, 6);
}
END_TEST

START_TEST(a_node_alone_has_no_use_for_its_network)
{
    ck_assert_int_eq(edit("1*a + ib 200Gb/s", "network.latency *= 2"), 0);
    ck_assert_ptr_nonnull(strstr(cluster.edits[0].text, "no effect: one node"));
}
END_TEST

START_TEST(an_edit_of_a_machine_is_of_all_nodes)
{
    ck_assert_int_eq(edit("4*a + 2*b", "cuda.count = 2; cpu.speed = 2"), 0);
    ck_assert_uint_eq(cluster.ngroups, 2);
    ck_assert_str_eq(cluster.groups[0].edits, "cuda.count = 2; cpu.speed = 2");
    ck_assert_str_eq(cluster.groups[1].edits, "cuda.count = 2; cpu.speed = 2");
    ck_assert_uint_eq(cluster.nedits, 0);
}
END_TEST

static const struct {
    const char *line, *edits, *groups; /* n*machine[edits] … */
} nodes[] = {
    {"16*a", "node[3].cuda.count = 2", "3*a[] 1*a[cuda.count = 2] 12*a[]"},
    {"4*a", "node[0].cpu.count=1", "1*a[cpu.count=1] 3*a[]"},
    {"4*a", "node[3].cpu.count=1", "3*a[] 1*a[cpu.count=1]"},
    {"4*a", "node[0-3].cpu.count=1", "4*a[cpu.count=1]"},
    {"2*a + 2*b", "node[1-2].cuda[0].memory = 1GiB",
     "1*a[] 1*a[cuda[0].memory = 1GiB] 1*b[cuda[0].memory = 1GiB] 1*b[]"},
    {"4*a", "node[0,2].nvlink = on",
     "1*a[nvlink = on] 1*a[] 1*a[nvlink = on] "
     "1*a[]"},
    {"4*a", "node[1-2,2-3].cpu.count=1",
     "1*a[] 1*a[cpu.count=1] "
     "1*a[cpu.count=1] 1*a[cpu.count=1]"},
    {"2*a", "cpu.speed = 2; node[1].cpu.speed *= 2",
     "1*a[cpu.speed = 2] 1*a[cpu.speed = 2; cpu.speed *= 2]"},
};

START_TEST(an_edit_of_some_nodes_splits_their_groups)
{
    char text[256] = "";

    ck_assert_msg(edit(nodes[_i].line, nodes[_i].edits) == 0, "%s", err.text);
    for (unsigned i = 0; i < cluster.ngroups; i++) {
        const struct orr_cluster_group *group = &cluster.groups[i];
        size_t length = strlen(text);

        snprintf(text + length, sizeof(text) - length, "%s%u*%s[%s]",
                 i ? " " : "", group->n, group->machine,
                 group->edits ? group->edits : "");
    }
    ck_assert_str_eq(text, nodes[_i].groups);
}
END_TEST

static const struct {
    const char *edits, *expected[2];
} refused[] = {
    {"node[4].cpu.count = 1", {"there is no node 4", "0 to 3"}},
    {"node[1-9].cpu.count = 1", {"there is no node 9", "0 to 3"}},
    {"node.cpu.count = 1", {"column 5", "node[3].cuda.count"}},
    {"node[1] = 1", {"column 8", "a dot"}},
    {"node[1].node[2].cpu.count = 1", {"unknown name \"node\"", "cpu"}},
    {"node[1].network.latency = 1us", {"unknown name \"network\"", "cpu"}},
    {"node[1].cpu.memory = 1GB", {"cpu has no \"memory\"", "count"}},
    {"network[1].latency = 1us", {"network has no numbers", ""}},
    {"network.count = 1", {"network has no \"count\"", "latency"}},
    {"network *= 2", {"\"=\"", "network.bandwidth"}},
    {"network =", {"words of a network are expected", "dragonfly g=8"}},
    {"network = dragonfly", {"column 11", "number of groups"}},
    {"network = nonsense", {"\"nonsense\" is unknown", "fat-tree"}},
    {"network.latency = 1", {"has no unit", "us"}},
    {"network.latency -= 2us", {"the result would be", "column"}},
    {"network.latency = 2000s", {"is no latency", ""}},
    {"network.bandwidth = 1Bps", {"is no bandwidth of a network", ""}},
    {"network.hop = 1GBps", {"not a latency", "us"}},
    {"nic.count = 0", {"the result would be 0", ""}},
    {"nic.count /= 2", {"0.5 NICs", "whole number"}},
    {"nic.count = 65536", {"65536 NICs", "65535"}},
    {"nic = 2", {"as in nic.count", ""}},
    {"nic.latency = 2us", {"nic has no \"latency\"", "count"}},
    {"netwrok.latency = 2us", {"unknown name", "names are network"}},
};

START_TEST(a_wrong_edit_is_refused_and_why)
{
    ck_assert_int_eq(edit("4*a + ib 200Gb/s", refused[_i].edits), -EINVAL);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(strstr(err.text, refused[_i].expected[i]), "%s: %s",
                      refused[_i].edits, err.text);
}
END_TEST

START_TEST(a_machine_has_no_network)
{
    static const char text[] = ZONE HOSTS END;
    static const char *const edits[] = {"network.latency = 1us",
                                        "nic.count = 2", "network = ib 1Gb/s",
                                        "node[0].cpu.speed = 2"};
    struct orr_machine_desc *desc;

    for (int i = 0; i < COUNT(edits); i++) {
        ck_assert_int_eq(
            orr_machine_desc_parse("x.xml", text, strlen(text), &desc, &err),
            0);
        ck_assert_int_eq(orr_machine_desc_edit(desc, edits[i], &err), -EINVAL);
        ck_assert_msg(strstr(err.text, "of a cluster, and this is one machine"),
                      "%s", err.text);
        orr_machine_desc_free(desc);
    }
}
END_TEST

SUITE_MAIN(cluster_edit)
{
    Suite *suite = suite_create("cluster-edit");
    TCase *tests = tcase_create("cluster-edit");

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_loop_test(tests, an_edit_of_the_network_changes_its_words, 0,
                        COUNT(networks));
    tcase_add_test(tests, edits_apply_one_after_the_other);
    tcase_add_test(tests, a_node_alone_has_no_use_for_its_network);
    tcase_add_test(tests, an_edit_of_a_machine_is_of_all_nodes);
    tcase_add_loop_test(tests, an_edit_of_some_nodes_splits_their_groups, 0,
                        COUNT(nodes));
    tcase_add_loop_test(tests, a_wrong_edit_is_refused_and_why, 0,
                        COUNT(refused));
    tcase_add_test(tests, a_machine_has_no_network);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
