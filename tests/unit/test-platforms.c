/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-platforms.c - machine descriptions: reading,
 * writing, finding, discovering. Refusing is in test-platforms-refusals.c. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "platforms/machine_desc.h"

#include "core/device/cpu/topology.h"
#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/discover.h"
#include "platforms/rates.h"
#include "platforms/text.h"
#include "platforms/units.h"
#include "tests/suite.h"
#include "tests/unit/platform_texts.h"
#include "tests/unit/random_machine.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- help ---- */

static char folder[64];
static struct orr_error err;

static void make_folder(void)
{
    snprintf(folder, sizeof(folder), "/tmp/orrery-platforms-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    unsetenv("ORRERY_PLATFORM_DIR");
    err.text[0] = '\0';
}

static void remove_folder(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static char *in_folder(const char *name)
{
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const char *text)
{
    char command[300];
    FILE *out;

    snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"",
             in_folder(name));
    ck_assert_int_eq(system(command), 0);
    out = fopen(in_folder(name), "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

static int parse(const char *text, struct orr_machine_desc **ret)
{
    return orr_machine_desc_parse("x.xml", text, strlen(text), ret, &err);
}

static struct orr_machine_desc *parsed(const char *text)
{
    struct orr_machine_desc *desc = NULL;

    ck_assert_msg(parse(text, &desc) == 0, "%s", err.text);
    return desc;
}

/* ---- reading ---- */

START_TEST(values_are_read_with_their_units)
{
    static const struct {
        enum orr_quantity quantity;
        const char *text;
        double value;
    } rows[] = {
        {ORR_QUANTITY_SPEED, "1f", 1},
        {ORR_QUANTITY_SPEED, "2000000000f", 2e9},
        {ORR_QUANTITY_SPEED, "1e+09f", 1e9},
        {ORR_QUANTITY_SPEED, "1.5kf", 1.5e3},
        {ORR_QUANTITY_SPEED, "1.5Mf", 1.5e6},
        {ORR_QUANTITY_SPEED, ".5Gf", .5e9},
        {ORR_QUANTITY_SPEED, "3Tf", 3e12},
        {ORR_QUANTITY_SPEED, "3e9flops", 3e9},
        {ORR_QUANTITY_SPEED, "1Ef", 1e18},
        {ORR_QUANTITY_SPEED, "7", 7},
        {ORR_QUANTITY_BANDWIDTH, "1Bps", 1},
        {ORR_QUANTITY_BANDWIDTH, "1kBps", 1e3},
        {ORR_QUANTITY_BANDWIDTH, "1MBps", 1e6},
        {ORR_QUANTITY_BANDWIDTH, "1GBps", 1e9},
        {ORR_QUANTITY_BANDWIDTH, "1TBps", 1e12},
        {ORR_QUANTITY_BANDWIDTH, "1KiBps", 1024},
        {ORR_QUANTITY_BANDWIDTH, "1MiBps", 1048576},
        {ORR_QUANTITY_BANDWIDTH, "1GiBps", 1073741824},
        {ORR_QUANTITY_BANDWIDTH, "1TiBps", 1099511627776},
        {ORR_QUANTITY_BANDWIDTH, "1YBps", 1e24},
        {ORR_QUANTITY_BANDWIDTH, "8Gbps", 1e9},
        {ORR_QUANTITY_BANDWIDTH, "8Kibps", 1024},
        {ORR_QUANTITY_BANDWIDTH, "6526732233.112210Bps", 6526732233.112210},
        {ORR_QUANTITY_TIME, "0.000010s", 0.000010},
        {ORR_QUANTITY_TIME, "1ms", 1e-3},
        {ORR_QUANTITY_TIME, "1us", 1e-6},
        {ORR_QUANTITY_TIME, "1ns", 1e-9},
        {ORR_QUANTITY_TIME, "1ps", 1e-12},
        {ORR_QUANTITY_TIME, "2m", 120},
        {ORR_QUANTITY_TIME, "0", 0},
        {ORR_QUANTITY_TIME, "1h", 3600},
        {ORR_QUANTITY_TIME, "15min", 900},
        {ORR_QUANTITY_TIME, "2m", 120},
        {ORR_QUANTITY_SIZE, "1024", 1024},
        {ORR_QUANTITY_SIZE, "16GiB", 17179869184},
        {ORR_QUANTITY_SIZE, "16GB", 16e9},
        {ORR_QUANTITY_SIZE, "1.5KiB", 1536},
        {ORR_QUANTITY_SIZE, "7B", 7},
        {ORR_QUANTITY_POWER, "350", 350},
        {ORR_QUANTITY_POWER, "350W", 350},
        {ORR_QUANTITY_POWER, "0.35kW", 350},
        {ORR_QUANTITY_POWER, "1.5MW", 1.5e6},
        {ORR_QUANTITY_POWER, "900mW", 0.9},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        double value = -1;

        ck_assert_ptr_null(
            orr_quantity_parse(rows[i].quantity, rows[i].text, &value));
        ck_assert_msg(value == rows[i].value, "%s: %.17g", rows[i].text, value);
    }
}
END_TEST

START_TEST(a_printed_number_reads_as_the_same_number)
{
    static const double values[] = {0,
                                    1,
                                    0.1,
                                    1e-5,
                                    2e9,
                                    1.0 / 3,
                                    5e-324,
                                    1.7976931348623157e308,
                                    9.5367431640625e-7};
    char text[ORR_NUMBER_MAX];

    for (size_t i = 0; i < COUNT(values); i++) {
        orr_number_print(values[i], text);
        ck_assert_msg(strtod(text, NULL) == values[i], "%s", text);
    }
    orr_number_print(0.1, text);
    ck_assert_str_eq(text, "0.1");
}
END_TEST

START_TEST(a_symmetrical_route_leads_back_in_reverse)
{
    struct orr_machine_desc *desc = parsed(ZONE GPU GPU_ROUTE END);
    const struct orr_route_desc *there = &desc->routes[0];
    const struct orr_route_desc *back = &desc->routes[1];

    ck_assert_uint_eq(desc->nroutes, 2);
    ck_assert_uint_eq(there->src, back->dst);
    ck_assert_uint_eq(there->dst, back->src);
    ck_assert_uint_eq(back->nhops, 2);
    ck_assert_uint_eq(back->hops[0].link, 1);
    ck_assert_int_eq(there->hops[1].direction, ORR_HOP_DOWN);
    ck_assert_int_eq(back->hops[0].direction, ORR_HOP_UP);
    ck_assert_uint_eq(back->hops[1].link, 0);
    ck_assert_int_eq(back->hops[1].direction, ORR_HOP_NONE);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(a_half_of_a_split_link_may_be_named)
{
    struct orr_machine_desc *desc =
        parsed(ZONE GPU "<route src='RAM' dst='CUDA0' symmetrical='NO'>"
                        "<link_ctn id='pci_DOWN'/></route>"
                        "<route src='CUDA0' dst='RAM' symmetrical='NO'>"
                        "<link_ctn id='pci_UP'/></route>" END);

    ck_assert_uint_eq(desc->routes[0].hops[0].link, 1);
    ck_assert_int_eq(desc->routes[0].hops[0].direction, ORR_HOP_DOWN);
    ck_assert_int_eq(desc->routes[1].hops[0].direction, ORR_HOP_UP);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(version_3_is_read_with_its_old_names)
{
    struct orr_machine_desc *desc = parsed(
        "<!DOCTYPE platform SYSTEM "
        "'http://simgrid.gforge.inria.fr/simgrid.dtd'>"
        "<platform version='3'><config id='General'>"
        "<prop id='network/TCP_gamma' value='-1'></prop></config>"
        "<AS id='AS0' routing='Full'><host id='MAIN' power='1'/>"
        "<host id='RAM' power='2000000000' availability='1.0' state='ON'/>"
        "<link id='l' bandwidth='5000000' latency='0.5' "
        "sharing_policy='FULLDUPLEX'/>"
        "</AS></platform>");

    ck_assert_str_eq(desc->config[0].id, "network/TCP-gamma");
    ck_assert(desc->hosts[1].speed == 2e9);
    ck_assert(desc->links[0].bandwidth == 5e6);
    ck_assert(desc->links[0].latency == 0.5);
    ck_assert_int_eq(desc->links[0].sharing, ORR_LINK_SPLITDUPLEX);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(memory_with_a_unit_becomes_bytes)
{
    struct orr_machine_desc *desc =
        parsed(ZONE HOSTS "<host id='DISK0' speed='1f'>"
                          "<prop id='memsize' value='16GiB'/></host>" END);

    ck_assert_str_eq(orr_host_desc_prop(&desc->hosts[2], "memsize"),
                     "17179869184");
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(options_that_are_missing_are_those_of_the_fluid_model)
{
    static const char *const expected[][2] = {
        {"network/crosstraffic", "yes"}, {"network/TCP-gamma", "-1"},
        {"network/latency-factor", "1"}, {"network/bandwidth-factor", "1"},
        {"network/weight-S", "0.0"},     {"network/optim", "Full"},
    };
    struct orr_machine_desc *desc = parsed(
        HEAD "<config><prop id='network/crosstraffic' value='yes'/></config>"
             "<zone id='A' routing='Full'>" HOSTS END);

    ck_assert_uint_eq(desc->nconfig, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        ck_assert_str_eq(desc->config[i].id, expected[i][0]);
        ck_assert_str_eq(desc->config[i].value, expected[i][1]);
    }
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(a_zone_that_only_wraps_another_is_looked_through)
{
    struct orr_machine_desc *desc = parsed(
        HEAD
        "<zone id='world' routing='None'><zone id='AS0' routing='Full'>" GPU
            GPU_ROUTE "</zone>" END);

    ck_assert_uint_eq(desc->ncuda, 1);
    ck_assert_uint_eq(desc->ncpu, 1);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(properties_of_main_become_fields)
{
    struct orr_machine_desc *desc =
        parsed(ZONE "<host id='MAIN' speed='1f'>"
                    "<prop id='orrery-provenance' value='derived'/>"
                    "<prop id='orrery-host' value='here'/>"
                    "<prop id='orrery-cost-kernel-queue' value='2.5'/>"
                    "<prop id='model' value='a &lt;b&gt; &amp; &#233;'/></host>"
                    "<host id='RAM' speed='1f'/>" END);

    ck_assert_str_eq(desc->name, "x");
    ck_assert_str_eq(desc->provenance, "derived");
    ck_assert_str_eq(desc->host, "here");
    ck_assert(desc->cost_kernel_queue == 2.5);
    ck_assert(isnan(desc->cost_submit));
    ck_assert_uint_eq(desc->hosts[0].nprops, 1);
    ck_assert_str_eq(orr_host_desc_prop(&desc->hosts[0], "model"),
                     "a <b> & \xc3\xa9");
    ck_assert_ptr_null(orr_host_desc_prop(&desc->hosts[0], "memsize"));
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(a_host_states_its_rates)
{
    struct orr_machine_desc *desc = parsed(
        ZONE
        "<host id='MAIN' speed='1f'>"
        "<prop id='orrery-provenance' value='partly measured'/>"
        "<prop id='orrery-peak-fp32' value='76.8Gf'/>"
        "<prop id='orrery-peak-fp64' value='38.4Gf'/></host>"
        "<host id='CPU0' speed='1f'/><host id='CPU1' speed='1f'>"
        "<prop id='orrery-peak-fp32' value='100Gf'/></host>"
        "<host id='RAM' speed='1f'/><host id='DISK0' speed='1f'>"
        "<prop id='orrery-memory-bandwidth' value='1555GBps'/></host>" END);

    ck_assert_str_eq(desc->provenance, "partly measured");
    ck_assert(orr_machine_desc_rate_of(desc, "CPU0", ORR_RATE_FP32) == 76.8e9);
    ck_assert(orr_machine_desc_rate_of(desc, "CPU1", ORR_RATE_FP32) == 100e9);
    ck_assert(orr_machine_desc_rate_of(desc, "CPU1", ORR_RATE_FP64) == 38.4e9);
    ck_assert(isnan(orr_machine_desc_rate_of(desc, "CPU0", ORR_RATE_MEMORY)));
    ck_assert(
        isnan(orr_machine_desc_rate_of(desc, "CPU0", ORR_RATE_FP64_TENSOR)));
    ck_assert(isnan(orr_machine_desc_rate_of(desc, "CUDA0", ORR_RATE_FP32)));
    ck_assert(isnan(orr_machine_desc_rate_of(desc, "RAM", ORR_RATE_FP32)));
    ck_assert(orr_machine_desc_rate_of(desc, "DISK0", ORR_RATE_MEMORY) ==
              1555e9);
    orr_machine_desc_free(desc);
}
END_TEST

/* ---- bus parameters ---- */

START_TEST(parameters_come_from_the_routes)
{
    struct orr_machine_desc *desc =
        parsed(ZONE GPU "<host id='CUDA1' speed='1f'/>" GPU_ROUTE
                        "<route src='RAM' dst='CUDA1'><link_ctn id='Host'/>"
                        "<link_ctn id='Host'/></route>" END);
    /* CUDA0 and CUDA1 have no route: slownesses add. */
    double through = 1 / (1 / 4000.0 + 1 / 5000.0);

    ck_assert_uint_eq(desc->nnodes, 3);
    ck_assert(!desc->bus_measured);
    ck_assert_double_eq_tol(desc->bandwidth[0 * 3 + 1], 4000, 1e-9);
    ck_assert_double_eq_tol(desc->latency[0 * 3 + 1], 2, 1e-9);
    /* A shared link passed twice gives half. */
    ck_assert_double_eq_tol(desc->bandwidth[0 * 3 + 2], 5000, 1e-9);
    ck_assert_double_eq_tol(desc->bandwidth[1 * 3 + 2], through, 1e-9);
    ck_assert_double_eq_tol(desc->latency[1 * 3 + 2], 2, 1e-9);
    ck_assert(desc->bandwidth[0] == 0 && desc->latency[4] == 0);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(bus_files_beside_the_platform_replace_the_routes)
{
    struct orr_machine_desc *desc = NULL;

    put_file("bus/m.platform.xml", ZONE GPU GPU_ROUTE END);
    put_file("bus/m.bandwidth", "# to 0\t\tto 1\n\n0\t100.5\tnan\n# x\n"
                                "2e2\t0\tnan\t\nnan\tnan\tnan\n");
    put_file("bus/m.latency", "0\t7\n8\t0\n");
    ck_assert_int_eq(
        orr_machine_desc_read(in_folder("bus/m.platform.xml"), &desc, &err), 0);
    ck_assert(desc->bus_measured);
    ck_assert(desc->bandwidth[1] == 100.5 && desc->bandwidth[2] == 200);
    ck_assert(desc->latency[1] == 7 && desc->latency[2] == 8);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(columns_are_found_by_the_names_in_the_comment)
{
    static const char text[] =
        "# to NUMA 0\tto NUMA 1\tto CUDA 0\tto CUDA 1\t\n"
        "0\t1\t2\t3\n4\t0\t5\t6\n7\t8\t0\t9\n10\t11\t12\t0\n";
    struct orr_machine_desc *desc = parsed(ZONE GPU GPU_ROUTE END);
    double matrix[4];

    ck_assert_int_eq(
        orr_bus_matrix_parse(desc, "b", text, strlen(text), matrix, &err), 0);
    ck_assert(matrix[0] == 0 && matrix[1] == 2);
    ck_assert(matrix[2] == 7 && matrix[3] == 0);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(missing_bus_parameters_are_unknown)
{
    struct orr_machine_desc *desc = parsed(ZONE GPU GPU_ROUTE END);
    double matrix[4];

    ck_assert_int_eq(orr_bus_matrix_parse(desc, "b", "1\n", 2, matrix, &err),
                     0);
    ck_assert(matrix[0] == 1 && isnan(matrix[1]));
    ck_assert(isnan(matrix[2]) && isnan(matrix[3]));
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(a_broken_bus_file_is_refused_by_line)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"1\t2\n3\tx\n", "b:2:"},
        {"# c\n\n1 \t2\n", "b:3:"}, /* a blank behind a value */
        {"1\t2\n3\t", "b:2:"},
        {"1\t2\n3\t4", "inside a row"},
        {"1\t-2\n", "negative"},
        {"1\t2\r\n", "b:1:"},
        {"1\t1e999\n", "b:1:"},
    };
    struct orr_machine_desc *desc = parsed(ZONE GPU GPU_ROUTE END);
    double matrix[4] = {42, 42, 42, 42};

    for (size_t i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(orr_bus_matrix_parse(desc, "b", rows[i].text,
                                              strlen(rows[i].text), matrix,
                                              &err),
                         -EINVAL);
        ck_assert_msg(strstr(err.text, rows[i].expected), "%s", err.text);
        ck_assert(matrix[0] == 42);
    }
    orr_machine_desc_free(desc);
}
END_TEST

/* ---- writing ---- */

/* Reads, writes, reads again: nothing is lost. */
static void check_identity(const struct orr_machine_desc *desc)
{
    struct orr_machine_desc *again = NULL;
    char *path = in_folder("again.platform.xml");
    const char *difference;

    unlink(in_folder("again.bandwidth"));
    unlink(in_folder("again.latency"));
    ck_assert_msg(orr_machine_desc_write(desc, path, &err) == 0, "%s",
                  err.text);
    ck_assert_msg(orr_machine_desc_read(path, &again, &err) == 0, "%s",
                  err.text);
    difference = machines_differ(desc, again);
    ck_assert_msg(!difference, "%s: %s", desc->name, difference);
    orr_machine_desc_free(again);
}

START_TEST(what_is_written_reads_the_same)
{
    struct orr_machine_desc *desc = random_machine((uint64_t)_i);

    check_identity(desc);
    orr_machine_desc_free(desc);
}
END_TEST

static int check_entry(const struct orr_machine_entry *entry, void *arg)
{
    struct orr_machine_desc *desc = NULL;

    ck_assert_msg(orr_machine_desc_read(entry->path, &desc, &err) == 0, "%s",
                  err.text);
    ck_assert_str_eq(desc->name, entry->name);
    check_identity(desc);
    orr_machine_desc_free(desc);
    ++*(unsigned *)arg;
    return 0;
}

START_TEST(the_catalogue_survives_reading_and_writing)
{
    unsigned machines = 0;

    ck_assert_int_eq(orr_machine_desc_list(NULL, check_entry, &machines), 0);
    ck_assert_uint_ge(machines, 8);
}
END_TEST

START_TEST(machines_of_the_catalogue_have_their_models_and_are_marked_derived)
{
    struct orr_machine_desc *desc = NULL;

    ck_assert_int_eq(orr_machine_desc_load("hgx-h100-8", NULL, &desc, &err), 0);
    ck_assert_str_eq(desc->provenance, "derived");
    ck_assert_str_eq(desc->host, "hgx-h100-8");
    ck_assert_ptr_nonnull(desc->sampling_dir);
    ck_assert_uint_eq(desc->ncuda, 8);
    ck_assert(desc->bandwidth[1 * 9 + 2] > 5 * desc->bandwidth[0 * 9 + 1]);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(real_bus_folders_survive_reading_and_writing)
{
    static const char *const names[] = {
        "mirage.platform.v4.xml", "mirage.platform.xml",
        "attila.platform.v4.xml", "attila.platform.xml"};
    struct orr_machine_desc *desc = NULL, *older = NULL;
    const char *shared = suite_shared("sampling/bus");
    char path[PATH_MAX + 64];

    if (!shared)
        SKIP_TEST("no sampling/bus in ORRERY_SHARED");
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", shared, names[i]);
        ck_assert_msg(orr_machine_desc_read(path, &desc, &err) == 0, "%s",
                      err.text);
        ck_assert_uint_eq(desc->ncpu, 12);
        ck_assert_uint_eq(desc->ncuda, 3);
        ck_assert_uint_eq(desc->nopencl, 3);
        ck_assert(desc->bus_measured);
        ck_assert(desc->bandwidth[1] > 6000 && desc->latency[1] > 9);
        ck_assert(!isnan(desc->bandwidth[7 * 7 - 2]));
        ck_assert_ptr_nonnull(desc->sampling_dir);
        check_identity(desc);
        if (i % 2) /* versions 3 and 4 agree */
            ck_assert_ptr_null(machines_differ(older, desc));
        orr_machine_desc_free(older);
        older = desc;
    }
    orr_machine_desc_free(older);
}
END_TEST

START_TEST(what_cannot_be_read_again_is_not_written)
{
    struct orr_machine_desc *desc = parsed(ZONE GPU GPU_ROUTE END);
    char *path = in_folder("m.xml");

    put_file("m.xml", "before");
    desc->links[0].bandwidth = (double)NAN;
    ck_assert_int_eq(orr_machine_desc_write(desc, path, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "<link> \"Host\""));
    desc->links[0].bandwidth = 1;
    ck_assert_int_eq(orr_props_set(&desc->hosts[0].props,
                                   &desc->hosts[0].nprops, "model", "\x01"),
                     0);
    ck_assert_int_eq(orr_machine_desc_write(desc, path, &err), -EINVAL);
    ck_assert_int_eq(
        orr_machine_desc_read(path, &(struct orr_machine_desc *){NULL}, &err),
        -EINVAL); /* still "before" */
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(a_failed_write_names_the_file_and_leaves_nothing)
{
    struct orr_machine_desc *desc = parsed(ZONE GPU GPU_ROUTE END);

    ck_assert_int_eq(
        orr_machine_desc_write(desc, in_folder("none/m.xml"), &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "none/m.xml"));
    put_file("m.bandwidth", "0\n");
    ck_assert_int_eq(orr_machine_desc_write(desc, in_folder("m.xml"), &err),
                     -EEXIST);
    ck_assert_int_ne(access(in_folder("m.xml"), F_OK), 0);
    orr_machine_desc_free(desc);
}
END_TEST

/* ---- finding ---- */

static const char *file_of(const char *name, const char *const *dirs)
{
    static char text[300];
    struct orr_machine_desc *desc = NULL;

    if (orr_machine_desc_load(name, dirs, &desc, &err))
        return "";
    snprintf(text, sizeof(text), "%s%s", desc->path,
             desc->sampling_dir ? " with models" : "");
    orr_machine_desc_free(desc);
    return text;
}

static const char *expected_file(const char *name, bool models)
{
    static char text[300];

    snprintf(text, sizeof(text), "%s%s", in_folder(name),
             models ? " with models" : "");
    return text;
}

START_TEST(names_are_resolved_in_order)
{
    const char *dirs[] = {in_folder("s1"), in_folder("s2"), NULL};
    char first[256], second[256];

    snprintf(first, sizeof(first), "%s", dirs[0]);
    snprintf(second, sizeof(second), "%s", dirs[1]);
    dirs[0] = first;
    dirs[1] = second;
    setenv("ORRERY_PLATFORM_DIR", in_folder("cat"), 1);
    put_file("s2/bus/m.platform.xml", ZONE HOSTS END);
    put_file("s2/codelets/45/x.m", "");
    mkdir(in_folder("cat"), 0777);
    ck_assert_str_eq(file_of("m", dirs),
                     expected_file("s2/bus/m.platform.xml", false));
    put_file("s2/bus/m.platform.v4.xml", ZONE HOSTS END);
    ck_assert_str_eq(file_of("m", dirs),
                     expected_file("s2/bus/m.platform.v4.xml", false));
    put_file("s1/bus/m.platform.xml", ZONE HOSTS END);
    ck_assert_str_eq(file_of("m", dirs),
                     expected_file("s1/bus/m.platform.xml", false));
    put_file("cat/m/platform.xml", ZONE HOSTS END);
    ck_assert_str_eq(file_of("m", dirs),
                     expected_file("cat/m/platform.xml", false));
    put_file("cat/m/codelets/45/x.m", "");
    ck_assert_str_eq(file_of("m", dirs),
                     expected_file("cat/m/platform.xml", true));
    put_file("m/platform.xml", ZONE HOSTS END);
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_str_eq(file_of("m", dirs), "./m/platform.xml");
    ck_assert_int_eq(chdir("/"), 0);
    /* A path is a path, whatever else there is. */
    ck_assert_str_eq(file_of(in_folder("s2/bus/m.platform.xml"), dirs),
                     expected_file("s2/bus/m.platform.xml", true));
    ck_assert_str_eq(file_of(in_folder("cat/m"), dirs),
                     expected_file("cat/m/platform.xml", true));
}
END_TEST

static int join_names(const struct orr_machine_entry *entry, void *arg)
{
    char *text = arg;

    snprintf(text + strlen(text), 200 - strlen(text), "%s%s ",
             entry->catalogue ? "*" : "", entry->name);
    return 0;
}

START_TEST(the_list_is_sorted_and_without_hidden_machines)
{
    const char *dirs[] = {folder, NULL};
    char text[200] = "";

    setenv("ORRERY_PLATFORM_DIR", in_folder("cat"), 1);
    put_file("cat/z/platform.xml", "");
    put_file("cat/b/platform.xml", "");
    put_file("cat/nothing/else.xml", "");
    put_file("bus/z.platform.xml", "");
    put_file("bus/a.platform.xml", "");
    put_file("bus/a.platform.v4.xml", "");
    put_file("bus/a.bandwidth", "");
    ck_assert_int_eq(orr_machine_desc_list(dirs, join_names, text), 0);
    ck_assert_str_eq(text, "*b *z a ");
}
END_TEST

START_TEST(an_unknown_name_lists_the_known_ones)
{
    const char *dirs[] = {folder, NULL};
    struct orr_machine_desc *desc = NULL;

    setenv("ORRERY_PLATFORM_DIR", in_folder("cat"), 1);
    put_file("cat/b/platform.xml", "");
    put_file("bus/a.platform.xml", "");
    ck_assert_int_eq(orr_machine_desc_load("m", dirs, &desc, &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "unknown machine \"m\""));
    ck_assert_ptr_nonnull(strstr(err.text, "\"m\": known are b, a;"));
    put_file("cat/h100-pcie-4/platform.xml", "");
    ck_assert_int_eq(orr_machine_desc_load("h100_pice-4", dirs, &desc, &err),
                     -ENOENT);
    ck_assert_ptr_nonnull(
        strstr(err.text, "\"h100_pice-4\" (is \"h100-pcie-4\" meant?): "));
    ck_assert_int_eq(orr_machine_desc_load("", dirs, &desc, &err), -ENOENT);
    ck_assert_int_eq(orr_machine_desc_load("/no/m.xml", dirs, &desc, &err),
                     -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "/no/m.xml"));
    setenv("ORRERY_PLATFORM_DIR", "/no/catalogue", 1);
    ck_assert_int_eq(orr_machine_desc_load("m", NULL, &desc, &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "/no/catalogue"));
}
END_TEST

/* ---- this machine, and messages ---- */

START_TEST(this_machine_becomes_a_description)
{
    struct orr_machine_desc *desc = NULL;

    ck_assert_msg(orr_machine_desc_discover(&desc, &err) == 0, "%s", err.text);
    ck_assert_uint_ge(desc->ncpu, 1);
    ck_assert_str_eq(desc->provenance, "measured");
    ck_assert_str_eq(desc->name, desc->host);
    check_identity(desc);
    orr_machine_desc_free(desc);
}
END_TEST

/* What a real run takes by default. */
static unsigned usual_workers(void)
{
    struct orr_cpus cpus;
    struct orr_cpu_choice choice;
    struct orr_cpu_request request = {.avoid = -1};

    ck_assert_int_eq(orr_cpus_find(NULL, &cpus, &err), 0);
    ck_assert_int_eq(orr_cpus_choose(&cpus, &request, &choice, &err), 0);
    orr_cpus_done(&cpus);
    free(choice.cpus);
    return choice.usual;
}

static unsigned described_cpus(void)
{
    struct orr_machine_desc *desc = NULL;
    unsigned ncpu;

    ck_assert_msg(orr_machine_desc_discover(&desc, &err) == 0, "%s", err.text);
    ncpu = desc->ncpu;
    orr_machine_desc_free(desc);
    return ncpu;
}

START_TEST(the_copy_of_this_machine_has_the_workers_of_a_real_run)
{
    cpu_set_t before, one;
    int cpu = 0;

    ck_assert_uint_eq(described_cpus(), usual_workers());
    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    ck_assert_uint_eq(described_cpus(), 1);
    ck_assert_uint_eq(usual_workers(), 1);
    sched_setaffinity(0, sizeof(before), &before);
}
END_TEST

START_TEST(text_and_json_show_the_machine)
{
    struct orr_machine_desc *desc = random_machine(7);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *root;

    orr_machine_desc_print(desc, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "random\n"));
    ck_assert_ptr_nonnull(strstr(text, "CPUs"));
    free(text);
    ck_assert_int_eq(orr_machine_desc_to_json(desc, &root), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "cpus")),
                     desc->ncpu);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "links")),
                      desc->nlinks);
    json_decref(root);
    orr_machine_desc_free(desc);
}
END_TEST

static void add_reading(TCase *tests)
{
    tcase_add_test(tests, values_are_read_with_their_units);
    tcase_add_test(tests, a_printed_number_reads_as_the_same_number);
    tcase_add_test(tests, a_symmetrical_route_leads_back_in_reverse);
    tcase_add_test(tests, a_half_of_a_split_link_may_be_named);
    tcase_add_test(tests, version_3_is_read_with_its_old_names);
    tcase_add_test(tests, memory_with_a_unit_becomes_bytes);
    tcase_add_test(tests,
                   options_that_are_missing_are_those_of_the_fluid_model);
    tcase_add_test(tests, a_zone_that_only_wraps_another_is_looked_through);
    tcase_add_test(tests, properties_of_main_become_fields);
    tcase_add_test(tests, a_host_states_its_rates);
    tcase_add_test(tests, parameters_come_from_the_routes);
    tcase_add_test(tests, bus_files_beside_the_platform_replace_the_routes);
    tcase_add_test(tests, columns_are_found_by_the_names_in_the_comment);
    tcase_add_test(tests, missing_bus_parameters_are_unknown);
    tcase_add_test(tests, a_broken_bus_file_is_refused_by_line);
}

static void add_others(TCase *tests)
{
    tcase_add_loop_test(tests, what_is_written_reads_the_same, 0, 300);
    tcase_add_test(tests, the_catalogue_survives_reading_and_writing);
    tcase_add_test(
        tests,
        machines_of_the_catalogue_have_their_models_and_are_marked_derived);
    tcase_add_test(tests, real_bus_folders_survive_reading_and_writing);
    tcase_add_test(tests, what_cannot_be_read_again_is_not_written);
    tcase_add_test(tests, a_failed_write_names_the_file_and_leaves_nothing);
    tcase_add_test(tests, names_are_resolved_in_order);
    tcase_add_test(tests, the_list_is_sorted_and_without_hidden_machines);
    tcase_add_test(tests, an_unknown_name_lists_the_known_ones);
    tcase_add_test(tests, this_machine_becomes_a_description);
    tcase_add_test(tests,
                   the_copy_of_this_machine_has_the_workers_of_a_real_run);
    tcase_add_test(tests, text_and_json_show_the_machine);
}

SUITE_MAIN(platforms)
{
    Suite *suite = suite_create("platforms");
    TCase *tests = tcase_create("platforms");

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    add_reading(tests);
    add_others(tests);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
