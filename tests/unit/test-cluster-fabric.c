/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-fabric.c - the line that describes a network: what it means, and
 * what is said of one that means nothing.
 */
#include "sim/cluster/interconnect.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct orr_fabric fabric;
static struct orr_error err;

static void parse(const char *text)
{
    err.text[0] = '\0';
    ck_assert_msg(orr_fabric_parse(text, &fabric, &err) == 0, "%s", err.text);
}

START_TEST(a_bandwidth_alone_is_a_crossbar_with_one_nic_per_node)
{
    parse("200Gb/s");
    ck_assert_int_eq(fabric.kind, ORR_TOPOLOGY_CROSSBAR);
    ck_assert_uint_eq(fabric.nics, 1);
    ck_assert_double_eq(fabric.bandwidth, 25000);
    ck_assert(!fabric.half_duplex);
}
END_TEST

START_TEST(words_come_in_any_order)
{
    static const char *const texts[] = {
        "ib 2x200Gb/s fat-tree:32,2:1 levels=3 latency=900ns hop=0.2us",
        "  hop=0.2us latency=900ns\tlevels=3 fat-tree:32,2:1 2x25GB/s ib "};

    for (int i = 0; i < 2; i++) {
        parse(texts[i]);
        ck_assert_int_eq(fabric.kind, ORR_TOPOLOGY_FAT_TREE);
        ck_assert_uint_eq(fabric.nics, 2);
        ck_assert_double_eq(fabric.bandwidth, 25000);
        ck_assert_double_eq_tol(fabric.latency_us, 0.9, 1e-12);
        ck_assert_double_eq_tol(fabric.hop_us, 0.2, 1e-12);
        ck_assert_uint_eq(fabric.fat_tree.radix, 32);
        ck_assert_uint_eq(fabric.fat_tree.down, 2);
        ck_assert_uint_eq(fabric.fat_tree.up, 1);
        ck_assert_uint_eq(fabric.fat_tree.levels, 3);
    }
}
END_TEST

START_TEST(devices_send_where_that_is_said)
{
    parse("100Gb/s");
    ck_assert(!fabric.gpudirect);
    parse("gpudirect 100Gb/s");
    ck_assert(fabric.gpudirect);
}
END_TEST

START_TEST(messages_take_of_processors_what_is_said)
{
    parse("100Gb/s");
    ck_assert_double_eq(fabric.send_us, 0);
    ck_assert_double_eq(fabric.match_us, 0);
    ck_assert_double_eq(fabric.look_us, 0);
    parse("100Gb/s look=20us match=300ns send=0.5us");
    ck_assert_double_eq(fabric.look_us, 20);
    ck_assert_double_eq_tol(fabric.send_us, 0.5, 1e-12);
    ck_assert_double_eq_tol(fabric.match_us, 0.3, 1e-12);
}
END_TEST

START_TEST(speeds_depend_on_sizes)
{
    parse("100Gb/s");
    ck_assert(isinf(orr_fabric_speed(&fabric.speeds, 1)));
    parse("100Gb/s bandwidth=8KiB:2GB/s,64KiB:8GB/s copy=5GB/s");
    ck_assert_uint_eq(fabric.speeds.n, 2);
    ck_assert_double_eq(fabric.copy, 5000);
    ck_assert_double_eq(orr_fabric_speed(&fabric.speeds, 1), 2000);
    ck_assert_double_eq(orr_fabric_speed(&fabric.speeds, 8192), 2000);
    /* 4.096 us and 8.192 us: half of the way is 6.144 us. */
    ck_assert_double_eq_tol(orr_fabric_speed(&fabric.speeds, 36864), 6000, 1e-9);
    ck_assert_double_eq(orr_fabric_speed(&fabric.speeds, 1e9), 8000);
    parse("100Gb/s bandwidth=3GB/s");
    ck_assert_double_eq(orr_fabric_speed(&fabric.speeds, 1), 3000);
    ck_assert_double_eq(orr_fabric_speed(&fabric.speeds, 1e9), 3000);
}
END_TEST

START_TEST(a_node_has_messages_of_its_own)
{
    parse("100Gb/s eager=1KiB");
    ck_assert(!fabric.node.takes_time);
    parse("100Gb/s eager=1KiB node-latency=300ns");
    ck_assert(fabric.node.takes_time);
    ck_assert_double_eq_tol(fabric.node.latency_us, 0.3, 1e-12);
    ck_assert_double_eq(fabric.node.eager, 1024);
    parse("100Gb/s node-eager=2KiB node-bandwidth=1KiB:1GB/s node-total=20GB/s node-send=1us "
          "node-match=2us node-copy=4GB/s");
    ck_assert(fabric.node.takes_time);
    ck_assert_double_eq(fabric.node.eager, 2048);
    ck_assert_double_eq(fabric.node.total, 20000);
    ck_assert_double_eq_tol(fabric.node.send_us, 1, 1e-12);
    ck_assert_double_eq_tol(fabric.node.match_us, 2, 1e-12);
    ck_assert_double_eq(fabric.node.copy, 4000);
    ck_assert_double_eq(fabric.node.speeds.at[0].bandwidth, 1000);
    ck_assert_double_eq(fabric.copy, 0);
}
END_TEST

START_TEST(a_technology_gives_latencies)
{
    double ib;

    parse("ib 100Gb/s");
    ib = fabric.latency_us;
    parse("ethernet 100Gb/s");
    ck_assert_double_gt(fabric.latency_us, ib);
    parse("slingshot 200Gb/s latency=0");
    ck_assert_double_eq(fabric.latency_us, 0);
    ck_assert_double_gt(fabric.hop_us, 0);
}
END_TEST

START_TEST(each_topology_has_its_sizes)
{
    parse("100Gb/s dragonfly g=8 a=4 p=2 h=3 half-duplex");
    ck_assert_int_eq(fabric.kind, ORR_TOPOLOGY_DRAGONFLY);
    ck_assert_uint_eq(fabric.dragonfly.g, 8);
    ck_assert_uint_eq(fabric.dragonfly.a, 4);
    ck_assert_uint_eq(fabric.dragonfly.p, 2);
    ck_assert_uint_eq(fabric.dragonfly.h, 3);
    ck_assert(fabric.half_duplex);
    parse("torus:4x4x2 100Gb/s eager=32KiB");
    ck_assert_int_eq(fabric.kind, ORR_TOPOLOGY_TORUS);
    ck_assert_uint_eq(fabric.torus.ndims, 3);
    ck_assert_uint_eq(fabric.torus.dims[0], 4);
    ck_assert_uint_eq(fabric.torus.dims[2], 2);
    ck_assert_double_eq(fabric.eager, 32768);
    parse("fat-tree 100Gb/s");
    ck_assert_uint_eq(fabric.fat_tree.down, fabric.fat_tree.up);
    ck_assert_uint_gt(fabric.fat_tree.radix, 2);
}
END_TEST

START_TEST(numbers_are_read_whatever_the_locale)
{
    if (suite_comma_locale() < 0)
        return;
    parse("ib 12.5GB/s");
    ck_assert_double_eq(fabric.bandwidth, 12500);
}
END_TEST

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* What the message has of: the word, and the remedy. */
static const struct {
    const char *text, *word, *remedy;
} wrong[] = {
    {"", "no bandwidth", "200Gb/s"},
    {"ib fat-tree", "no bandwidth", "2x200Gb/s"},
    {"1Gb/s bandwidth=", "\"bandwidth=\"", "8KiB:2GB/s,64KiB:8GB/s"},
    {"1Gb/s bandwidth=8KiB", "\"bandwidth=8KiB\"", "8KiB:2GB/s,64KiB:8GB/s"},
    {"1Gb/s bandwidth=8:1GB/s,x:1GB/s", "\"bandwidth=8:1GB/s,x:1GB/s\"", "8KiB:2GB/s"},
    {"1Gb/s bandwidth=2kB:1GB/s,1kB:1GB/s", "do not grow", "smallest first"},
    {"1Gb/s bandwidth=0B:1GB/s", "do not grow", "1B or more"},
    {"1Gb/s node-bandwidth=1kB:1GB/s,2kB:3GB/s", "takes less time", "less bandwidth"},
    {"1Gb/s bandwidth=1B:1GB/s,2B:1GB/s,3B:1GB/s,4B:1GB/s,5B:1GB/s,6B:1GB/s,7B:1GB/s,"
     "8B:1GB/s,9B:1GB/s", "too many sizes", "up to 8"},
    {"1Gb/s node-copy=fast", "\"node-copy=fast\"", "GB/s"},
    {"1Gb/s node-latncy=1us", "\"node-latncy=1us\"", "node-latency"},
    {"ib 200", "\"200\"", "Gb/s"},
    {"ib 200Gbps", "\"200Gbps\"", "Gb/s"},
    {"ib 200Gq/s", "\"200Gq/s\"", "Gb/s"},
    {"ib 0Gb/s", "\"0Gb/s\"", "1kB/s"},
    {"ib 0x200Gb/s", "\"0x200Gb/s\"", "Gb/s"},
    {"ib 2x 200Gb/s", "\"2x\"", "Gb/s"},
    {"200Gb/s 100Gb/s", "\"100Gb/s\"", "give one"},
    {"ib ethernet 1Gb/s", "\"ethernet\"", "give one"},
    {"200Gb/s fat-treee", "\"fat-treee\"", "did you mean fat-tree?"},
    {"200Gb/s latncy=1us", "\"latncy=1us\"", "did you mean latency?"},
    {"200Gb/s Infiniband-HDR", "\"Infiniband-HDR\"", "write ib"},
    {"200Gb/s fat-tree:x", "\"fat-tree:x\"", "fat-tree:32,2:1"},
    {"200Gb/s fat-tree:32,2", "\"fat-tree:32,2\"", "fat-tree:32,2:1"},
    {"200Gb/s fat-tree:32,2:1,", "\"fat-tree:32,2:1,\"", "DOWN:UP"},
    {"200Gb/s fat-tree:4,4:1", "\"fat-tree:4,4:1\"", "more ports"},
    {"200Gb/s fat-tree crossbar", "\"crossbar\"", "give one"},
    {"200Gb/s crossbar:4", "\"crossbar:4\"", "write"},
    {"200Gb/s torus", "\"torus\"", "torus:4x4x2"},
    {"200Gb/s torus:4x", "\"torus:4x\"", "torus:4x4x2"},
    {"200Gb/s torus:2x2x2x2x2x2x2", "torus:2x", "up to six"},
    {"200Gb/s dragonfly", "dragonfly", "g=8"},
    {"200Gb/s dragonfly g=0", "\"g=0\"", "from 1"},
    {"200Gb/s dragonfly g=8 g=9", "\"g=9\"", "once"},
    {"200Gb/s g=8", "g=", "write dragonfly"},
    {"200Gb/s crossbar levels=2", "levels=", "write fat-tree"},
    {"200Gb/s latency=1", "\"latency=1\"", "write ns, us"},
    {"200Gb/s latency=-1us", "\"latency=-1us\"", "write a number"},
    {"200Gb/s hop=", "\"hop=\"", "write a number"},
    {"200Gb/s eager=big", "\"eager=big\"", "KiB"},
    {"200Gb/s = 3", "\"=\"", "write ib"},
    {"200Gb/s latency", "\"latency\"", "latency"},
    {"200Gb/s " A64 A64 A64 A64,
     "aaaa", "too long"},
};

START_TEST(a_wrong_word_is_named_and_what_to_write)
{
    struct orr_fabric untouched;

    memset(&fabric, 7, sizeof(fabric));
    untouched = fabric;
    err.text[0] = '\0';
    ck_assert_int_eq(orr_fabric_parse(wrong[_i].text, &fabric, &err), -EINVAL);
    ck_assert_msg(strstr(err.text, wrong[_i].word) &&
                      strstr(err.text, wrong[_i].remedy),
                  "\"%s\": %s", wrong[_i].text, err.text);
    ck_assert_mem_eq(&fabric, &untouched, sizeof(fabric));
}
END_TEST

static const struct {
    const char *text;
    unsigned nnodes;
    const char *remedy;
} small[] = {
    {"1Gb/s fat-tree:4 levels=2", 9, "more ports, or more levels"},
    {"1Gb/s fat-tree:2", 3, "more ports"},
    {"1Gb/s torus:3x3", 10, "larger dimensions"},
    {"1Gb/s torus:65535x65535x9", 10, "smaller dimensions"},
    {"1Gb/s dragonfly g=2 a=2 p=2", 9, "greater g="},
    {"1Gb/s dragonfly g=9 a=2 p=1 h=3", 9, "h=4"},
    {"1Gb/s fat-tree:4 levels=13", 9, "up to 12"},
    {"1Gb/s fat-tree:60000 levels=9", 9, "fewer levels"},
    {"65535x1Gb/s", 65535, "NICs each"},
    {"1Gb/s", 0, "0 nodes"},
};

START_TEST(a_network_that_is_too_small_says_what_to_give)
{
    struct orr_interconnect *net = NULL;

    parse(small[_i].text);
    ck_assert_int_eq(
        orr_interconnect_new(&fabric, small[_i].nnodes, &net, &err), -EINVAL);
    ck_assert_msg(strstr(err.text, small[_i].remedy), "\"%s\": %s",
                  small[_i].text, err.text);
    ck_assert_ptr_null(net);
}
END_TEST

static const struct {
    const char *text, *words, *expected;
} replaced[] = {
    {"ib 200Gb/s", "latency=2us", "ib 200Gb/s latency=2us"},
    {"ib latency=1us  200Gb/s", "latency=2us", "ib 200Gb/s latency=2us"},
    {"ib 2x200Gb/s eager=8KiB", " 400Gb/s", "ib eager=8KiB 400Gb/s"},
    {"ib 1Gb/s fat-tree:8 levels=2", "dragonfly g=8", "ib 1Gb/s dragonfly g=8"},
    {"1Gb/s dragonfly g=4 a=2", "g=8", "1Gb/s dragonfly a=2 g=8"},
    {"1Gb/s latency=1us hop=2us ib", "slingshot", "1Gb/s slingshot"},
    {"1Gb/s half-duplex", "full-duplex", "1Gb/s full-duplex"},
    {"1Gb/s", "hop=1us nonsense", "1Gb/s hop=1us nonsense"},
    {"1Gb/s", "", "1Gb/s "},
};

START_TEST(words_take_the_place_of_those_that_say_the_same)
{
    char *text = orr_fabric_replace(replaced[_i].text, replaced[_i].words);

    ck_assert_str_eq(text, replaced[_i].expected);
    free(text);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

SUITE_MAIN(cluster_fabric)
{
    Suite *suite = suite_create("cluster-fabric");
    TCase *tests = tcase_create("cluster-fabric");

    tcase_add_test(tests,
                   a_bandwidth_alone_is_a_crossbar_with_one_nic_per_node);
    tcase_add_test(tests, words_come_in_any_order);
    tcase_add_test(tests, devices_send_where_that_is_said);
    tcase_add_test(tests, messages_take_of_processors_what_is_said);
    tcase_add_test(tests, speeds_depend_on_sizes);
    tcase_add_test(tests, a_node_has_messages_of_its_own);
    tcase_add_test(tests, a_technology_gives_latencies);
    tcase_add_test(tests, each_topology_has_its_sizes);
    tcase_add_test(tests, numbers_are_read_whatever_the_locale);
    tcase_add_loop_test(tests, a_wrong_word_is_named_and_what_to_write, 0,
                        COUNT(wrong));
    tcase_add_loop_test(tests, a_network_that_is_too_small_says_what_to_give, 0,
                        COUNT(small));
    tcase_add_loop_test(tests, words_take_the_place_of_those_that_say_the_same,
                        0, COUNT(replaced));
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
