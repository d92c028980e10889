/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-edit.c - what-if edits: their messages, what they refuse,
 * which links they select, what becomes of bus parameters; edited machines can
 * be written and read. Traces are compared in tests/golden/test-edits.py. */
#include "platforms/edit.h"

#include "platforms/desc_build.h"
#include "platforms/draw.h"
#include "platforms/speeds.h"

#include "tests/suite.h"
#include "tests/unit/platform_texts.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct orr_machine_desc *desc;
static struct orr_error err;

/* Two CUDA devices; a pair link between them; the first's own link has a name
 * with brackets; the second's OpenCL face; a disk. */
static const char machine[] = ZONE HOSTS
    "<host id='CPU0' speed='1f'/><host id='CPU1' speed='1f'/>"
    "<host id='CPU2' speed='1f'/><host id='CPU3' speed='1f'/>"
    "<host id='CUDA0' speed='1f'><prop id='memsize' value='4294967296'/></host>"
    "<host id='CUDA1' speed='1f'><prop id='memsize' value='4294967296'/></host>"
    "<host id='OpenCL0' speed='1f'/><host id='DISK0' speed='1f'/>"
    "<link id='Host' bandwidth='8GBps' latency='0s'/>"
    "<link id='PCI[0] of CUDA0' bandwidth='4GBps' latency='2us' "
    "sharing_policy='SPLITDUPLEX'/>"
    "<link id='slot 1' bandwidth='2GBps' latency='4us'/>"
    "<link id='pair' bandwidth='1GBps' latency='8us'/>"
    "<link id='spare' bandwidth='1GBps' latency='8us'/>"
    "<link id='sata' bandwidth='500MBps' latency='100us'/>"
    "<route src='RAM' dst='CUDA0'><link_ctn id='Host'/>"
    "<link_ctn id='PCI[0] of CUDA0' direction='DOWN'/></route>"
    "<route src='RAM' dst='CUDA1'><link_ctn id='Host'/>"
    "<link_ctn id='slot 1'/></route>"
    "<route src='RAM' dst='OpenCL0'><link_ctn id='Host'/>"
    "<link_ctn id='PCI[0] of CUDA0' direction='DOWN'/></route>"
    "<route src='CUDA0' dst='CUDA1'><link_ctn id='pair'/>"
    "<link_ctn id='Host'/></route>"
    "<route src='RAM' dst='DISK0'><link_ctn id='sata'/></route>" END;

static void set_up(void)
{
    ck_assert_msg(orr_machine_desc_parse("toy.xml", machine, strlen(machine),
                                         &desc, &err) == 0,
                  "%s", err.text);
}

static void tear_down(void)
{
    orr_machine_desc_free(desc);
    desc = NULL;
}

static void edit(const char *text)
{
    ck_assert_msg(orr_machine_desc_edit(desc, text, &err) == 0, "%s: %s", text,
                  err.text);
}

static const struct orr_link_desc *link_of(const char *id)
{
    for (unsigned l = 0; l < desc->nlinks; l++)
        if (strcmp(desc->links[l].id, id) == 0)
            return &desc->links[l];
    ck_abort_msg("no link %s", id);
    return NULL;
}

static const struct orr_host_desc *host_of(const char *id)
{
    int host = orr_machine_desc_host(desc, id);

    ck_assert_msg(host >= 0, "no host %s", id);
    return &desc->hosts[host];
}

/* ---- refusals ---- */

static const struct {
    const char *edit, *message[3];
} refusals[] = {
    {"count = 3", {"column 1", "unknown name \"count\"", "cuda"}},
    {"cdua.count = 3", {"unknown name \"cdua\": the names are cuda"}},
    {"= 3", {"column 1", "a name is expected"}},
    {"cost[pull] = 1us", {"column 6", "no cost \"pull\": they are submit, "}},
    {"cost.submit = 1us", {"column 5", "no property: write cost[submit]"}},
    {"cost[submit] = 1", {"has no unit: write ns, us"}},
    {"cost[submit] *= 1us", {"takes a factor"}},
    {"cost[submit] -= 2us", {"the result would be -1e-06, from 1e-06"}},
    {"cuda = 3", {"column 5", "a dot and a property", "cuda.count"}},
    {"cuda3.memory = 1GB", {"column 5", "in brackets, as in cuda[3]"}},
    {"cuda.cuont = 3", {"column 6", "\"cuont\": it has count, memory, speed"}},
    {"cpu.memory = 3GB", {"cpu has no \"memory\"", "count, speed"}},
    {"cuda.count == 3", {"\"= 3\" is not a decimal number"}},
    {"cuda.count=-3", {"column 12", "\"-3\" is negative"}},
    {"cuda.count 3", {"an operator is expected"}},
    {"cuda.count =", {"column 13", "a value is expected"}},
    {"cuda.count = ;", {"column 13", "a value is expected"}},
    {"cuda.count = x", {"column 14", "\"x\" is not a decimal number"}},
    {"cuda.count = 3 4", {"\"3 4\" is not a decimal number"}},
    {"cuda.count = -1", {"\"-1\" is negative"}},
    {"cuda.count = 1.5", {"\"1.5\" is no count"}},
    {"cuda.count *= 1.75", {"3.5, which is no count"}},
    {"cuda.count -= 3", {"the result would be -1, from 2"}},
    {"cuda.count = 1e5", {"100000, and a machine can have 255"}},
    {"cuda.count = 1e99", {"no count"}},
    {"cuda.count = nan", {"not a decimal number"}},
    {"cuda.count = 0x10", {"not a decimal number"}},
    {"cpu.count = 100000", {"100000, and a machine can have"}},
    {"cuda[0].count = 3", {"column 6", "leave the brackets out"}},
    {"cuda[2].speed = 2", {"column 6", "no CUDA2: they are CUDA0 to CUDA1"}},
    {"cuda[0-7].speed = 2", {"no CUDA7"}},
    {"cuda[1-0].speed = 2", {"a range goes upwards"}},
    {"cuda[].speed = 2", {"a number is expected"}},
    {"cuda[0.speed = 2", {"column 7", "\"]\" is expected"}},
    {"cuda[99999999999].speed = 2", {"too large"}},
    {"cuda[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0].speed = 2", {"at most 16"}},
    {"bus[0].latency = 1us", {"bus has no numbers"}},
    {"ram[0].memory = 1GiB", {"column 5", "one node here: there is no RAM0"}},
    {"ram.memory = 4", {"\"4\" has no unit"}},
    {"cuda.memory = 16", {"no unit: write B"}},
    {"cuda.memory = 16GiBps", {"write B"}},
    {"cuda.memory = 16Gb", {"not in bytes"}},
    {"cuda.memory = 0", {"\"0\" is 0"}},
    {"cuda.memory = 1MiB", {"between 2 MiB"}},
    {"cuda.memory = 1e30GB", {"between 2 MiB"}},
    {"cuda.memory *= 2GB", {"takes a factor"}},
    {"opencl.memory *= 2", {"the memory of OpenCL0 is not stated"}},
    {"cuda.speed = 0", {"\"0\" is 0"}},
    {"cuda.speed /= 0", {"\"0\" is 0"}},
    {"cuda.speed -= 1", {"the result would be 0"}},
    {"cuda.speed *= 1e308", {"the speed would be 1e+308: from a millionth"}},
    {"kernel[gemm] = 1e-300", {"the speed would be 1e-300"}},
    {"kernel[gemm].time *= 1e7", {"the speed would be 1e-07"}},
    {"cuda.memory *= 1e308", {"the result would be inf"}},
    {"pcie.bandwidth = 12", {"no unit: write MBps"}},
    {"pcie.bandwidth = 12GB", {"unknown unit"}},
    {"pcie.bandwidth = 10 GB/s", {"blank before its unit", "write 10GB/s"}},
    {"pcie.bandwidth = 10 GBps", {"blank before its unit", "write 10GBps"}},
    {"cuda.memory = 4  GiB", {"blank before its unit", "write 4GiB"}},
    {"pcie.latency = 5 us", {"blank before its unit", "write 5us"}},
    {"pcie.bandwidth = 10gbps", {"write 10GBps"}},
    {"pcie.bandwidth = 10GBPS", {"write 10GBps"}},
    {"pcie.bandwidth = 10gb/s", {"write 10GBps"}},
    {"cuda.memory = 4gb", {"write 4GB"}},
    {"pcie.latency = 5US", {"write 5us"}},
    {"pcie.latency = 5GBps", {"is a bandwidth", "write ns, us, ms or s"}},
    {"pcie.bandwidth = 5us", {"is a time", "MBps, GBps"}},
    {"kernel[gemm].time = 5us",
     {"is a time", "1.25 for 1.25 times as long", "--assume"}},
    {"kernel[gemm].time = 5 us", {"is a time", "1.25 for 1.25 times"}},
    {"kernel[gemm] = 5us", {"is a time", "2 for twice as fast"}},
    {"pcie.bandwidth *= 2GBps", {"takes a factor", "2 for twice"}},
    {"pcie.bandwidth -= 3GBps", {"the result would be -1e+09"}},
    {"bus.latency = 1", {"no unit: write ns"}},
    {"ram.bandwidth = 9GBps", {"no one bandwidth", "pcie.bandwidth"}},
    {"bus.latency = -1us", {"negative"}},
    {"bus.latency -= 1us", {"the result would be -1e-06"}},
    {"link.latency = 1us", {"followed by a name in brackets"}},
    {"link[Hots].latency = 1us", {"column 6", "the links are \"Host\""}},
    {"link[\"PCI[0]\"].latency = 1us", {"are \"PCI[0] of CUDA0\""}},
    {"link[PCI[0]].latency = 1us", {"write names with brackets"}},
    {"link[\"Host].latency = 1us", {"has no end"}},
    {"link[\"a\\b\"].latency = 1us", {"behind \"\\\""}},
    {"link[\"\"].latency = 1us", {"a name is expected"}},
    {"kernel = 2", {"as in kernel[gemm]"}},
    {"kernel[] = 2", {"a name is expected"}},
    {"kernel[a].count = 2", {"kernel has no \"count\": it has speed, time"}},
    {"kernel[a] on gpu = 2", {"unknown name \"gpu\"", "cuda"}},
    {"kernel[a] on cuda[5] = 2", {"no CUDA5"}},
    {"kernel[a] on pcie = 2", {"unknown name \"pcie\""}},
    {"nvlink = 1", {"neither on nor off"}},
    {"nvlink *= on", {"switched with \"=\""}},
    {"cuda.count = 3; cuda.cont = 4", {"edit 2, \"cuda.cont = 4\""}},
};

START_TEST(wrong_edits_are_refused_with_their_place)
{
    ck_assert_int_eq(orr_machine_desc_edit(desc, refusals[_i].edit, &err),
                     -22 /* EINVAL */);
    for (unsigned k = 0; k < 3 && refusals[_i].message[k]; k++)
        ck_assert_msg(strstr(err.text, refusals[_i].message[k]) != NULL,
                      "%s\nlacks: %s\nin:    %s", refusals[_i].edit,
                      refusals[_i].message[k], err.text);
}
END_TEST

START_TEST(nothing_is_applied_when_one_cannot_be_read)
{
    ck_assert_int_lt(
        orr_machine_desc_edit(desc, "cuda.count = 5; pcie.x = 1", &err), 0);
    ck_assert_uint_eq(desc->ncuda, 2);
    ck_assert_uint_eq(desc->nedits, 0);
}
END_TEST

START_TEST(edits_have_limits)
{
    char *text = calloc(1, 70000);

    memset(text, ' ', 69999);
    ck_assert_int_lt(orr_machine_desc_edit(desc, text, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "65536"));
    *text = '\0';
    for (unsigned i = 0; i < 257; i++)
        strcat(text, "cpu.speed = 2;");
    ck_assert_int_lt(orr_machine_desc_edit(desc, text, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "more than 256"));
    free(text);
}
END_TEST

/* ---- echoes ---- */

static const struct {
    const char *edit;
    bool effect;
    const char *message;
    unsigned devices, links, routes;
} echoes[] = {
    {"cuda.count = 3", true, "2 -> 3 CUDA devices: CUDA2 like CUDA0, with", 2,
     3, 6},
    {"cuda.count = 2", false, "no effect: already so", 0, 0, 0},
    {"cuda.speed *= 1", false, "no effect: already so", 2, 0, 0},
    {"cuda.speed *= 2", true, "\"CUDA0\" 1 -> 2, \"CUDA1\" 1 -> 2", 2, 0, 0},
    {"CUDA[1].Memory = 8GiB", true, "\"CUDA1\" 4 GiB -> 8 GiB", 1, 0, 0},
    {"opencl.speed *= 2", false, "no effect: CUDA drives", 1, 0, 0},
    {"cpu.count += 2", true, "2 -> 4 CPU workers, beside 2 cores", 2, 0, 0},
    {"kernel[gemm] on cuda *= 0.5", true,
     "contains gemm run at 0.5 times the speed of their models (2 times as "
     "long) on 2 devices",
     2, 0, 0},
    {"kernel[gemm].time *= 4", true, "0.25 times the speed", 7, 0, 0},
    {"kernel[gemm] *= 1", false, "no effect", 7, 0, 0},
    {"pcie.bandwidth *= 2", true, "3 links on 8 routes: \"PCI[0] of CUDA0\" 4 ",
     0, 3, 8},
    {"pcie[1].bandwidth *= 2", true, "2 links", 0, 2, 4},
    {"pcie.bandwidth = 64GBps", true,
     "; main memory's \"Host\", 8 GB/s, limits them: membus.bandwidth", 0, 3,
     8},
    {"peer.latency = 1us", true, "1 link on 2 routes", 0, 1, 2},
    {"ram.bandwidth /= 2", true, "4 links on 10 routes", 0, 4, 10},
    {"membus.bandwidth = 9GB/s", true, "1 link on 8 routes", 0, 1, 8},
    {"bus.latency += 1us", true, "5 links on 10 routes", 0, 5, 10},
    {"bus.bandwidth = 9GBps", true, "5 links on 10 routes", 0, 5, 10},
    {"ram.memory = 4GiB", false, "main memory is one node here", 0, 0, 0},
    {"disk.bandwidth *= 2", true, "1 link on 2 routes", 0, 1, 2},
    {"nvlink.bandwidth *= 2", false, "no effect: this machine has no route", 0,
     0, 0},
    {"link[\"spare\"].latency = 1us", false, "no effect: no route passes it", 0,
     1, 0},
    {"link[\"PCI[0] of CUDA0\"].latency = 1us", true, "1 link on 4 routes", 0,
     1, 4},
    {"nvlink = off", false, "no effect: already so", 0, 0, 0},
    {"nvlink = on", true, "2 routes between CUDA devices go over NVLink", 2, 2,
     2},
};

START_TEST(every_edit_reports_its_changes)
{
    const struct orr_edit_echo *echo;
    char *json;

    edit(echoes[_i].edit);
    ck_assert_uint_eq(desc->nedits, 1);
    echo = &desc->edits[0];
    ck_assert_str_eq(echo->edit, echoes[_i].edit);
    ck_assert_int_eq(echo->effect, echoes[_i].effect);
    ck_assert_msg(strstr(echo->text, echoes[_i].message) != NULL, "%s: %s",
                  echo->edit, echo->text);
    ck_assert_uint_eq(echo->ndevices, echoes[_i].devices);
    ck_assert_uint_eq(echo->nlinks, echoes[_i].links);
    ck_assert_uint_eq(echo->nroutes, echoes[_i].routes);
    json = orr_edit_echo_json(echo);
    ck_assert_ptr_nonnull(strstr(json, "\"echo\": "));
    free(json);
}
END_TEST

START_TEST(a_machine_without_devices_is_reported)
{
    static const char text[] = ZONE HOSTS "<host id='CPU0' speed='1f'/>" END;

    tear_down();
    ck_assert_int_eq(
        orr_machine_desc_parse("x.xml", text, strlen(text), &desc, &err), 0);
    edit("cuda.memory = 16GiB; kernel[a] on opencl = 2; nvlink = on");
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(!desc->edits[i].effect);
        ck_assert_ptr_nonnull(strstr(desc->edits[i].text, "no effect"));
    }
    ck_assert_int_lt(orr_machine_desc_edit(desc, "cuda.count = 1", &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "no CUDA that could be copied"));
}
END_TEST

/* ---- counts ---- */

static unsigned cpu_workers(void)
{
    unsigned drivers =
        desc->ncuda > desc->nopencl ? desc->ncuda : desc->nopencl;

    return desc->ncpu > drivers ? desc->ncpu - drivers : 0;
}

static const struct {
    const char *edit;
    unsigned ncuda, nopencl, workers;
} counts[] = {
    {"cuda.count = 3", 3, 1, 2},
    {"cuda.count=9", 9, 1, 2},
    {"cuda.count-=1", 1, 1, 2},
    {"cuda.count = 0", 0, 0, 2},
    {"cuda.count  *=32", 64, 1, 2},
    {"opencl.count = 5", 2, 5, 2},
    {"opencl.count = 0", 2, 0, 2},
    {"cpu.count = 0", 2, 1, 0},
    {"cpu.count = 64", 2, 1, 64},
    {"cpu.count = 1; cuda.count = 4", 4, 1, 1},
    {"cuda.count = 4; cpu.count = 1", 4, 1, 1},
    {"cpu.count = 0; cuda.count = 5", 5, 1, 0},
    {"cuda.count = 7; cuda.count = 2", 2, 1, 2},
};

START_TEST(devices_never_eat_cpu_workers)
{
    edit(counts[_i].edit);
    ck_assert_uint_eq(desc->ncuda, counts[_i].ncuda);
    ck_assert_uint_eq(desc->nopencl, counts[_i].nopencl);
    ck_assert_uint_eq(cpu_workers(), counts[_i].workers);
    ck_assert_uint_eq(desc->nnodes, 1 + desc->ncuda + desc->nopencl);
}
END_TEST

START_TEST(a_new_device_has_links_routes_memory_and_models_of_its_like)
{
    unsigned hosts[4];

    edit("cuda[0].memory = 2GiB; cuda[1].speed = 3; cuda.count = 4");
    ck_assert_str_eq(orr_host_desc_prop(host_of("CUDA2"), "memsize"),
                     "2147483648");
    ck_assert_double_eq(orr_host_desc_speed(host_of("CUDA3")), 3);
    ck_assert_int_eq(orr_host_desc_models_of(host_of("CUDA3"), "CUDA"), 1);
    ck_assert_int_eq(orr_host_desc_models_of(host_of("CUDA1"), "CUDA"), -1);
    ck_assert_double_eq(link_of("PCI[0] of CUDA2")->bandwidth, 4e9);
    ck_assert_double_eq(link_of("slot 1 of CUDA3")->latency, 4e-6);
    for (unsigned k = 0; k < 4; k++) {
        char id[16];

        snprintf(id, sizeof(id), "CUDA%u", k);
        hosts[k] = (unsigned)orr_machine_desc_host(desc, id);
    }
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = 0; b < 4; b++)
            ck_assert_int_eq(
                orr_machine_desc_route(desc, hosts[a], hosts[b]) >= 0, a != b);
    /* Both directions between two devices use one link; other pairs another. */
    link_of("pair of CUDA2-CUDA3");
    link_of("pair of CUDA2-CUDA1");
    link_of("pair of CUDA0-CUDA2");
}
END_TEST

START_TEST(copies_of_copies_use_the_models_of_the_first)
{
    edit("cuda.count = 1; cuda.count = 2; cuda.count = 4");
    ck_assert_int_eq(orr_host_desc_models_of(host_of("CUDA3"), "CUDA"), 0);
}
END_TEST

START_TEST(a_device_that_goes_takes_its_links_along)
{
    unsigned before = desc->nlinks;

    edit("cuda.count = 1");
    /* slot 1 and the pair's; what nothing used stays. */
    ck_assert_uint_eq(desc->nlinks, before - 2);
    link_of("spare");
    ck_assert_double_eq(link_of("sata")->bandwidth, 5e8);
}
END_TEST

/* ---- bus parameters ---- */

#define AT(i, j) ((size_t)(i)*desc->nnodes + (j))

/* A measured value that the routes do not yield. */
static void measure(void)
{
    for (unsigned i = 0; i < desc->nnodes; i++)
        for (unsigned j = 0; j < desc->nnodes; j++)
            if (i != j) {
                desc->bandwidth[AT(i, j)] = 1000 + 10 * i + j;
                desc->latency[AT(i, j)] = 20 + i + 0.1 * j;
            }
    desc->bus_measured = true;
}

START_TEST(parameters_from_routes_follow_them)
{
    edit("link[\"slot 1\"].bandwidth *= 2; link[\"Host\"].latency = 1us");
    ck_assert_double_eq_tol(desc->bandwidth[AT(0, 2)], 4000, 1e-9);
    ck_assert_double_eq_tol(desc->latency[AT(0, 2)], 5, 1e-9);
    ck_assert(!desc->bus_measured);
}
END_TEST

START_TEST(measured_parameters_are_scaled_as_the_routes_are)
{
    measure();
    edit("link[\"slot 1\"].bandwidth *= 8; link[\"slot 1\"].latency *= 3");
    ck_assert(desc->bus_measured);
    /* 2 GB/s become 8, since Host now limits. */
    ck_assert_double_eq_tol(desc->bandwidth[AT(0, 2)], 4 * 1002, 1e-9);
    ck_assert_double_eq_tol(desc->latency[AT(0, 2)], 3 * 20.2, 1e-9);
    ck_assert_double_eq(desc->bandwidth[AT(0, 1)], 1001);
    ck_assert_double_eq(desc->latency[AT(1, 2)], 21.2);
}
END_TEST

START_TEST(a_link_that_does_not_limit_changes_no_bandwidth)
{
    measure();
    edit("link[\"Host\"].bandwidth *= 2");
    for (unsigned i = 0; i < desc->nnodes; i++)
        for (unsigned j = 0; j < desc->nnodes; j++)
            if (i != j)
                ck_assert_double_eq(desc->bandwidth[AT(i, j)],
                                    1000 + 10 * i + j);
}
END_TEST

START_TEST(new_devices_have_the_measured_rows_of_their_like)
{
    measure();
    edit("cuda.count = 4");
    ck_assert_double_eq(desc->bandwidth[AT(0, 4)], 1002);
    ck_assert_double_eq(desc->bandwidth[AT(3, 0)], 1010);
    ck_assert_double_eq(desc->latency[AT(3, 4)], 21.2);
    ck_assert_double_eq(desc->bandwidth[AT(3, 5)], 1013); /* to OpenCL0 */
    /* From a device to its copy nothing was measured: the route's. */
    ck_assert_double_eq_tol(desc->bandwidth[AT(1, 3)], 1000, 1e-9);
}
END_TEST

/* What edits leave of a measured machine; NULL: all of it. */
static const struct {
    const char *edit, *not_measured;
} nets[] = {
    {"pcie.bandwidth *= 2", "pcie.bandwidth (set)"},
    {"link[\"slot 1\"].bandwidth = 3GBps", "link[\"slot 1\"].bandwidth (set)"},
    {"pcie.latency=1us", "pcie.latency (set)"},
    {"cost[push] = 3us", "cost[push] (set)"},
    {"cost *= 2", "cost (set)"},
    {"cuda.count = 3", "cuda.count (set)"},
    {"cuda[1].memory = 8GiB", "cuda[1].memory (set)"},
    {"cuda.speed *= 2", "cuda.speed (set)"},
    {"kernel[gemm] on cuda = 2", "kernel[gemm] on cuda (set)"},
    {"pcie.bandwidth *= 2; cost[push] = 3us; pcie.bandwidth *= 2",
     "pcie.bandwidth (set), cost[push] (set)"},
    /* Not of what nothing passes, nor of what is as it was. */
    {"link[spare].bandwidth *= 2", NULL},
    {"pcie.bandwidth *= 1", NULL},
    {"link[\"slot 1\"].bandwidth = 2GBps", NULL},
    {"cost[push] = 1us", NULL},
    {"cuda[0].memory = 4GiB", NULL},
    {"cuda.count = 2", NULL},
    {"cuda.speed *= 1; kernel[gemm] *= 1", NULL},
    {"pcie.bandwidth *= 2; pcie.bandwidth /= 2", NULL},
    {"bus.bandwidth *= 4; pcie.bandwidth /= 4; membus.bandwidth /= 4; "
     "disk.bandwidth /= 4; peer.bandwidth *= 1", NULL},
    {"kernel[gemm] = 2; kernel[gemm] /= 2; cost[fetch] = 2us; cost[fetch] = 1us", NULL},
    {"pcie.bandwidth *= 2; cost[push] = 3us; pcie.bandwidth /= 2",
     "cost[push] (set)"},
};

START_TEST(a_measured_machine_stays_so_but_for_the_figures_that_were_set)
{
    const char *expected = nets[_i].not_measured;
    char *text;

    orr_desc_set_text(&desc->provenance, "measured");
    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        *orr_machine_desc_cost(desc, i) = orr_cost_fields[i].usual;
    ck_assert_int_eq(orr_machine_desc_not_measured(desc, &text), 0);
    ck_assert_ptr_null(text);
    edit(nets[_i].edit);
    ck_assert_str_eq(desc->provenance, "measured");
    ck_assert_int_eq(orr_machine_desc_not_measured(desc, &text), 0);
    ck_assert_msg(!text == !expected && (!text || !strcmp(text, expected)),
                  "%s: %s", nets[_i].edit, text ? text : "all is measured");
    ck_assert_int_eq(orr_edits_print_net(desc, "", NULL), expected != NULL);
    free(text);
}
END_TEST

static double drawn(const char *figure)
{
    for (unsigned i = 0; i < desc->ndrawn; i++)
        if (strcmp(desc->drawn[i].figure, figure) == 0)
            return desc->drawn[i].factor;
    return (double)NAN;
}

START_TEST(draws_change_the_figures_that_are_not_measured_and_buses_follow)
{
    double half;

    orr_desc_set_text(&desc->provenance, "derived");
    desc->cost_push = 2;
    edit("link[\"slot 1\"].bandwidth /= 2; link[pair].bandwidth = 3GBps; cost[fetch] *= 2");
    ck_assert_int_eq(orr_machine_desc_draw(desc, 0, &err), 0);
    ck_assert_uint_eq(desc->ndrawn, 0);
    ck_assert_int_eq(orr_machine_desc_draw(desc, 7, &err), 0);
    /* One that was scaled is the figure that it was. */
    half = drawn("pcie bandwidth 2 GB/s");
    ck_assert(half > 0 && fabs(half - 1) > 1e-6);
    ck_assert_double_eq_tol(link_of("slot 1")->bandwidth, half * 1e9, 1);
    ck_assert_double_eq_tol(desc->bandwidth[AT(0, 2)], half * 1e3, 1e-3);
    ck_assert_double_eq_tol(link_of("Host")->bandwidth,
                            drawn("membus bandwidth 8 GB/s") * 8e9, 1);
    ck_assert_double_eq_tol(link_of("slot 1")->latency,
                            drawn("pcie latency 4 us") * 4e-6, 1e-12);
    /* Given: one by the user, one by the description. */
    ck_assert_double_eq(link_of("pair")->bandwidth, 3e9);
    ck_assert_double_eq(desc->cost_push, 2);
    ck_assert_double_eq_tol(desc->cost_fetch, 2 * drawn("cost fetch 1 us"), 1e-9);
    ck_assert_double_eq_tol(desc->cost_submit, drawn("cost submit 1 us"), 1e-9);
}
END_TEST

/* ---- files ---- */

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    ck_assert_ptr_nonnull(file);
    fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static void write_to(const char *path)
{
    ck_assert_msg(orr_machine_desc_write(desc, path, &err) == 0, "%s",
                  err.text);
}

START_TEST(an_edited_machine_can_be_written_and_read)
{
    char folder[] = "/tmp/orrery-edit-XXXXXX", first[64], second[64], *a, *b;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(first, sizeof(first), "%s/a.xml", folder);
    snprintf(second, sizeof(second), "%s/b.xml", folder);
    edit("cuda.count = 5; cpu.speed = 0.1; kernel[\"a]\\\"<\"] on cuda = 3; "
         "kernel[*gemm] /= 3; bus.latency += 1us; nvlink = on");
    write_to(first);
    tear_down();
    ck_assert_msg(orr_machine_desc_read(first, &desc, &err) == 0, "%s",
                  err.text);
    write_to(second);
    a = text_of(first);
    b = text_of(second);
    /* orrery-host: the models' name is not the file's. */
    ck_assert_str_eq(a, b);
    ck_assert_ptr_nonnull(strstr(a, "orrery-kernel-speed[*gemm]"));
    ck_assert_double_eq(orr_host_desc_speed(host_of("CPU3")), 0.1);
    free(a);
    free(b);
    unlink(first);
    unlink(second);
    rmdir(folder);
}
END_TEST

/* ---- values that are there already ---- */

static char *machine_text(const struct orr_machine_desc *machine_desc)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    orr_machine_desc_print_xml(machine_desc, "m", out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* An edit that does not apply to the machine is refused, and changes nothing. */
static __attribute__((format(printf, 3, 4))) void
check_changes_nothing(const char *path, const char *before, const char *format,
                      ...)
{
    struct orr_machine_desc *edited;
    char text[512], *after;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ck_assert_int_eq(orr_machine_desc_read(path, &edited, &err), 0);
    if (orr_machine_desc_edit(edited, text, &err) == 0) {
        after = machine_text(edited);
        ck_assert_msg(!edited->edits[0].effect, "%s: %s has an effect: %s", path,
                      text, edited->edits[0].text);
        ck_assert_msg(strcmp(before, after) == 0, "%s: %s changes the file",
                      path, text);
        free(after);
    } else {
        ck_assert_msg(strstr(text, "count") || strstr(text, "memory") ||
                          strstr(text, "kernel") || strstr(text, " = "),
                      "%s: %s: %s", path, text, err.text);
    }
    orr_machine_desc_free(edited);
}

/* The value of all links of a class, if they have one. */
static void check_class(const char *path, const char *before, const char *class,
                        bool latency)
{
    const char *prop = latency ? "latency" : "bandwidth";
    struct orr_machine_desc *edited;
    const struct orr_edit_echo *echo;
    char text[64];
    bool same = true;

    check_changes_nothing(path, before, "%s.%s *= 1", class, prop);
    snprintf(text, sizeof(text), "%s.%s /= 1", class, prop);
    ck_assert_int_eq(orr_machine_desc_read(path, &edited, &err), 0);
    ck_assert_int_eq(orr_machine_desc_edit(edited, text, &err), 0);
    echo = &edited->edits[0];
    for (unsigned l = 1; l < echo->nlinks; l++)
        same &= !(echo->links[l].before < echo->links[0].before ||
                  echo->links[l].before > echo->links[0].before);
    if (echo->nlinks && same)
        check_changes_nothing(path, before, "%s.%s = %.10g%s", class, prop,
                              echo->links[0].before * (latency ? 1e6 : 1e-6),
                              latency ? "us" : "MBps");
    orr_machine_desc_free(edited);
}

static void check_links(const char *path, const char *before,
                        const struct orr_machine_desc *known)
{
    for (unsigned l = 0; l < known->nlinks; l++) {
        const struct orr_link_desc *link = &known->links[l];

        check_changes_nothing(path, before,
                              "link[\"%s\"].bandwidth = %.10gMBps", link->id,
                              link->bandwidth * 1e-6);
        check_changes_nothing(path, before, "link[\"%s\"].latency = %.10gus",
                              link->id, link->latency * 1e6);
    }
}

static int check_machine(const struct orr_machine_entry *entry, void *arg)
{
    static const char *const classes[] = {"pcie",   "nvlink", "peer", "ram",
                                          "membus", "disk",   "bus"};
    static const char *const others[] = {
        "cuda.count *= 1",   "cpu.count += 0",     "opencl.count *= 1",
        "cuda.memory *= 1",  "ram.memory *= 1",    "cuda.speed = 1",
        "cpu.speed /= 1",    "opencl.speed *= 1",  "kernel[gemm] = 1",
        "kernel[*].time = 1", "kernel[potrf] on cuda *= 1", "cost *= 1",
    };
    struct orr_machine_desc *known;
    char *before;

    ck_assert_int_eq(orr_machine_desc_read(entry->path, &known, &err), 0);
    before = machine_text(known);
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        check_class(entry->path, before, classes[i], false);
        check_class(entry->path, before, classes[i], true);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        check_changes_nothing(entry->path, before, "%s", others[i]);
    for (unsigned c = 0; c < ORR_NCOSTS; c++)
        check_changes_nothing(entry->path, before, "cost[%s] = %.10gus",
                              orr_cost_fields[c].name, orr_cost_fields[c].usual);
    check_changes_nothing(entry->path, before, "cpu.count = %u",
                          known->ncpu - known->ncuda);
    check_changes_nothing(entry->path, before, "cuda.count = %u", known->ncuda);
    check_links(entry->path, before, known);
    free(before);
    orr_machine_desc_free(known);
    ++*(unsigned *)arg;
    return 0;
}

START_TEST(a_value_set_to_itself_changes_nothing)
{
    unsigned nmachines = 0;

    ck_assert_int_eq(orr_machine_desc_list(NULL, check_machine, &nmachines), 0);
    ck_assert_uint_ge(nmachines, 16);
}
END_TEST

START_TEST(a_faster_bus_to_devices_leaves_main_memory_alone)
{
    double host;

    tear_down();
    ck_assert_int_eq(orr_machine_desc_load("hgx-h100-8", NULL, &desc, &err), 0);
    host = link_of("Host")->bandwidth;
    edit("pcie.bandwidth = 64GBps");
    ck_assert_double_eq(link_of("PCIe-CUDA3")->bandwidth, 64e9);
    ck_assert_double_eq(link_of("Host")->bandwidth, host);
    ck_assert_double_eq(link_of("UPI-0-1")->bandwidth, 102.4e9);
}
END_TEST

static const struct {
    const char *prop, *message;
} wrong_props[] = {
    {"<prop id='orrery-speed' value='0'/>", "a number above 0"},
    {"<prop id='orrery-speed' value='fast'/>", "a number above 0"},
    {"<prop id='orrery-speed' value='nan'/>", "a number above 0"},
    {"<prop id='orrery-kernel-speed' value='2'/>", "in brackets"},
    {"<prop id='orrery-kernel-speed[]' value='2'/>", "in brackets"},
    {"<prop id='orrery-kernel-speed[a]' value='-2'/>", "a number above 0"},
    {"<prop id='orrery-models-of' value='CUDA0'/>", "of the same type"},
    {"<prop id='orrery-models-of' value='CPUx'/>", "of the same type"},
};

START_TEST(costs_of_the_runtime_are_values)
{
    edit("cost[submit] = 3us; cost[device-free] *= 2; cost[push] += 500ns");
    ck_assert_double_eq_tol(desc->cost_submit, 3, 1e-9);
    ck_assert_double_eq_tol(desc->cost_device_free, 1500, 1e-9);
    ck_assert_double_eq_tol(desc->cost_push, 1.5, 1e-9);
    ck_assert(isnan(desc->cost_fetch));
    ck_assert(desc->edits[2].effect);
    ck_assert_str_eq(desc->edits[2].text, "\"push\" 1 us -> 1.5 us");
    edit("cost /= 2");
    ck_assert_double_eq_tol(desc->cost_submit, 1.5, 1e-9);
    ck_assert_double_eq_tol(desc->cost_fetch, 0.5, 1e-9);
    edit("cost = 0us");
    ck_assert_double_eq(desc->cost_progress, 0);
    edit("cost[fetch] = 0us");
    ck_assert(!desc->edits[5].effect);
}
END_TEST

START_TEST(wrong_speeds_are_refused)
{
    char text[1024];

    tear_down();
    snprintf(text, sizeof(text),
             ZONE HOSTS "<host id='CPU0' speed='1f'>%s</host>" END,
             wrong_props[_i].prop);
    ck_assert_int_lt(
        orr_machine_desc_parse("x.xml", text, strlen(text), &desc, &err), 0);
    ck_assert_msg(strstr(err.text, wrong_props[_i].message) != NULL, "%s",
                  err.text);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

SUITE_MAIN(edit)
{
    Suite *suite = suite_create("edit");
    TCase *tc = tcase_create("edit");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_value_set_to_itself_changes_nothing);
    tcase_add_test(tc, a_faster_bus_to_devices_leaves_main_memory_alone);
    tcase_add_loop_test(tc, wrong_edits_are_refused_with_their_place, 0,
                        COUNT(refusals));
    tcase_add_test(tc, nothing_is_applied_when_one_cannot_be_read);
    tcase_add_test(tc, edits_have_limits);
    tcase_add_loop_test(tc, every_edit_reports_its_changes, 0, COUNT(echoes));
    tcase_add_test(tc, a_machine_without_devices_is_reported);
    tcase_add_loop_test(tc, devices_never_eat_cpu_workers, 0, COUNT(counts));
    tcase_add_test(tc,
                   a_new_device_has_links_routes_memory_and_models_of_its_like);
    tcase_add_test(tc, copies_of_copies_use_the_models_of_the_first);
    tcase_add_test(tc, a_device_that_goes_takes_its_links_along);
    tcase_add_test(tc, parameters_from_routes_follow_them);
    tcase_add_test(tc, measured_parameters_are_scaled_as_the_routes_are);
    tcase_add_test(tc, a_link_that_does_not_limit_changes_no_bandwidth);
    tcase_add_test(tc, new_devices_have_the_measured_rows_of_their_like);
    tcase_add_loop_test(
        tc, a_measured_machine_stays_so_but_for_the_figures_that_were_set, 0,
        COUNT(nets));
    tcase_add_test(
        tc, draws_change_the_figures_that_are_not_measured_and_buses_follow);
    tcase_add_test(tc, an_edited_machine_can_be_written_and_read);
    tcase_add_test(tc, costs_of_the_runtime_are_values);
    tcase_add_loop_test(tc, wrong_speeds_are_refused, 0, COUNT(wrong_props));
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
