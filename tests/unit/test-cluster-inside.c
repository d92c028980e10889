/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cluster-inside.c - messages that pass the links inside of nodes beside the
 * copies there: dates that follow by hand. Units are bytes and µs.
 */
#include "sim/cluster/messages.h"
#include "sim/node_links.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* GPU and NIC are behind one PCIe switch, whose link to main memory has 1,000 bytes per µs in
 * each direction; theirs have 3,000, that of the NIC in both directions together. */
static const char machine[] =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
    "<platform version='4.1'>\n"
    "<zone id='node' routing='Full'>\n"
    "<host id='MAIN' speed='1f'/><host id='CPU0' speed='1f'/>\n"
    "<host id='RAM' speed='1f'/><host id='CUDA0' speed='1f'/>\n"
    "%s"
    "<link id='switch' bandwidth='1GBps' latency='0' sharing_policy='SPLITDUPLEX'/>\n"
    "<link id='gpu' bandwidth='3GBps' latency='5us' sharing_policy='SPLITDUPLEX'/>\n"
    "<link id='nic' bandwidth='3GBps' latency='7us'/>\n"
    "<route src='RAM' dst='CUDA0' symmetrical='NO'><link_ctn id='switch' direction='DOWN'/>"
    "<link_ctn id='gpu' direction='DOWN'/></route>\n"
    "<route src='CUDA0' dst='RAM' symmetrical='NO'><link_ctn id='gpu' direction='UP'/>"
    "<link_ctn id='switch' direction='UP'/></route>\n"
    "%s"
    "</zone></platform>\n";

static const char nic[] = "<host id='NIC0' speed='1f'/>\n";
static const char from_ram[] =
    "<route src='RAM' dst='NIC0' symmetrical='NO'><link_ctn id='switch' direction='DOWN'/>"
    "<link_ctn id='nic'/></route>\n";
static const char to_ram[] =
    "<route src='NIC0' dst='RAM' symmetrical='NO'><link_ctn id='nic'/>"
    "<link_ctn id='switch' direction='UP'/></route>\n";
static const char to_gpu[] =
    "<route src='NIC0' dst='CUDA0' symmetrical='NO'><link_ctn id='nic'/>"
    "<link_ctn id='gpu' direction='DOWN'/></route>\n"
    "<route src='CUDA0' dst='NIC0' symmetrical='NO'><link_ctn id='gpu' direction='UP'/>"
    "<link_ctn id='nic'/></route>\n";

enum { RAM, GPU, NNODES = 4, MAX_FLOWS = 16 };

static struct orr_error err;
static struct orr_network *network;
static struct orr_inside *inside;
static double ended[MAX_FLOWS]; /* NaN: not yet */
static unsigned nflows;
static int owner; /* of copies */

/* The links of the machine with these hosts and routes. */
static int make_inside(const char *hosts, const char *a, const char *b, const char *c)
{
    static char text[4096], routes[1024];
    struct orr_machine_desc *desc;
    unsigned endpoints[2];
    int rc;

    snprintf(routes, sizeof(routes), "%s%s%s", a, b, c);
    snprintf(text, sizeof(text), machine, hosts, routes);
    ck_assert_msg(orr_machine_desc_parse("node.xml", text, strlen(text), &desc, &err) == 0,
                  "%s", err.text);
    endpoints[RAM] = (unsigned)orr_machine_desc_host(desc, "RAM");
    endpoints[GPU] = (unsigned)orr_machine_desc_host(desc, "CUDA0");
    rc = orr_node_links_new(desc, endpoints, 2, &inside, &err);
    orr_machine_desc_free(desc);
    return rc;
}

/* Nodes with these links, the last one without. */
static void open_cluster(const char *text, const char *gpu_routes)
{
    struct orr_fabric fabric;

    ck_assert_msg(make_inside(nic, from_ram, to_ram, gpu_routes) == 0, "%s", err.text);
    ck_assert_int_eq(orr_fabric_parse(text, &fabric, &err), 0);
    ck_assert_int_eq(orr_messages_new(&fabric, NNODES, 0, &network, &err), 0);
    for (unsigned node = 0; node < NNODES - 1; node++)
        ck_assert_int_eq(orr_messages_attach(network, node, inside), 0);
    nflows = 0;
}

static void send_between(unsigned src, unsigned src_memory, unsigned dst,
                         unsigned dst_memory, size_t bytes)
{
    const struct orr_cluster_message message = {.src = src,
                                                .dst = dst,
                                                .src_memory = src_memory,
                                                .dst_memory = dst_memory,
                                                .bytes = bytes,
                                                .cookie = &ended[nflows]};

    ended[nflows++] = (double)NAN;
    ck_assert_int_eq(orr_messages_start(network, &message, 0, NULL, &err), 0);
}

static void send(unsigned src, unsigned dst, size_t bytes)
{
    send_between(src, RAM, dst, RAM, bytes);
}

static void copy(unsigned node, unsigned src, unsigned dst, size_t bytes)
{
    const struct orr_node_copy what = {.src = src,
                                       .dst = dst,
                                       .bytes = bytes,
                                       .cookie = &ended[nflows],
                                       .owner = &owner};

    ended[nflows++] = (double)NAN;
    ck_assert_int_eq(orr_messages_start_copy(network, node, &what, 0, &err), 0);
}

/* Until all have ended, which are messages up to number `ncopies` from behind. */
static void run(void)
{
    double *end, now;
    void *whose;

    while (isfinite(now = network->ops->next_us(network))) {
        network->ops->advance(network);
        while ((end = orr_messages_take_ended(network, &whose))) {
            ck_assert(whose == NULL || whose == &owner);
            *end = now;
        }
    }
    network->ops->free(network);
    orr_node_links_free(inside);
}

static void check_end(unsigned number, double expected)
{
    ck_assert_msg(fabs(ended[number] - expected) < 2e-3, "flow %u ends at %.9f, not %.9f",
                  number, ended[number], expected);
}

/* The network has 2,000 bytes per µs. */
START_TEST(a_message_is_as_fast_as_the_narrowest_of_all_links)
{
    open_cluster("16Gb/s latency=3us", "");
    send(0, 1, 5000);
    send(0, 3, 5000);
    run();
    check_end(0, 3 + 10); /* both leave through one switch */
    check_end(1, 3 + 10);
    open_cluster("4Gb/s latency=3us", "");
    send(0, 1, 5000);
    run();
    check_end(0, 3 + 10); /* the network's 500 */
}
END_TEST

START_TEST(a_message_and_a_copy_share_the_switch)
{
    open_cluster("16Gb/s latency=0", "");
    send(0, 1, 10000);
    copy(1, GPU, RAM, 2500);
    copy(1, RAM, GPU, 5000); /* the other direction */
    copy(0, GPU, RAM, 5000);
    run();
    check_end(1, 5 + 5);  /* behind its latency each has 500 */
    check_end(0, 12.5);   /* 5,000 alone, 2,500 of 5,000 beside it, the rest alone */
    check_end(2, 5 + 5);
    check_end(3, 5 + 5);
}
END_TEST

START_TEST(two_messages_share_a_nic)
{
    open_cluster("80Gb/s latency=0", "");
    send(0, 1, 1000);
    send(2, 1, 2000);
    run();
    check_end(0, 2); /* 500 each, of the switch at node 1 */
    check_end(1, 3);
}
END_TEST

/* Of 3,000 bytes per µs a message in each direction has half, where the switch lets it. */
START_TEST(directions_share_a_link_that_has_one_bandwidth)
{
    open_cluster("80Gb/s latency=0", to_gpu);
    send_between(0, GPU, 3, RAM, 3000);
    send_between(3, RAM, 0, GPU, 3000);
    run();
    check_end(0, 2);
    check_end(1, 2);
    open_cluster("8Gb/s latency=0 half-duplex", to_gpu);
    send_between(0, GPU, 3, RAM, 3000);
    send_between(3, RAM, 0, GPU, 3000);
    run();
    check_end(0, 6);
    check_end(1, 6);
}
END_TEST

START_TEST(a_message_from_a_device_passes_its_route_if_there_is_one)
{
    open_cluster("16Gb/s latency=0", to_gpu);
    send_between(0, GPU, 1, GPU, 4000);
    copy(0, RAM, GPU, 5000); /* the switch is its own */
    run();
    check_end(0, 2);
    check_end(1, 5 + 5);
    open_cluster("16Gb/s latency=0", "");
    send_between(0, GPU, 1, GPU, 4000);
    run();
    check_end(0, 4); /* from and to main memory */
}
END_TEST

START_TEST(a_node_that_has_left_passes_the_network_alone)
{
    open_cluster("16Gb/s latency=0", "");
    orr_messages_detach(network, 0);
    orr_messages_detach(network, 1);
    send(0, 1, 4000);
    run();
    check_end(0, 2);
}
END_TEST

START_TEST(nics_have_routes_from_and_to_main_memory)
{
    ck_assert_int_eq(make_inside("", "", "", ""), 0);
    ck_assert_ptr_null(inside);
    ck_assert_int_eq(make_inside(nic, from_ram, "", ""), -EINVAL);
    ck_assert_str_eq(err.text, "the machine's host NIC0 has no route to RAM: add it, or "
                               "take the host out");
    ck_assert_int_eq(make_inside(nic, to_ram, "", ""), -EINVAL);
    ck_assert_str_eq(err.text, "the machine's host NIC0 has no route from RAM: add it, or "
                               "take the host out");
}
END_TEST

SUITE_MAIN(cluster_inside)
{
    Suite *suite = suite_create("cluster-inside");
    TCase *tc = tcase_create("cluster-inside");

    tcase_add_test(tc, a_message_is_as_fast_as_the_narrowest_of_all_links);
    tcase_add_test(tc, a_message_and_a_copy_share_the_switch);
    tcase_add_test(tc, two_messages_share_a_nic);
    tcase_add_test(tc, directions_share_a_link_that_has_one_bandwidth);
    tcase_add_test(tc, a_message_from_a_device_passes_its_route_if_there_is_one);
    tcase_add_test(tc, a_node_that_has_left_passes_the_network_alone);
    tcase_add_test(tc, nics_have_routes_from_and_to_main_memory);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
