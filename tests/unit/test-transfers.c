/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-transfers.c - simulated transfers end when SimGrid alone, fed
 * with the written platform file, ends them: on our own network, and on SimGrid as
 * our network. Random transfers on machines of
 * the catalogue, of real bus folders and by chance run on our simulator, which
 * queues them; a program that shares no code with us (replay-transfers.cpp)
 * starts each when ours did.
 *
 *   test-transfers [all]    with "all", 10,000 machines by chance, not 60
 */
#include "core/device/open.h"
#include "platforms/desc_build.h"
#include "sim/machine.h"
#include "tests/suite.h"
#include "tests/unit/platform_texts.h"
#include "tests/unit/random_machine.h"
#include "tests/unit/sim-machine.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NCOPIES = 40 };

struct transfer {
    struct orr_copy copy; /* first */
    double asked, start, end;
    struct orr_context *waiter;
};

static struct transfer transfers[NCOPIES];
static struct orr_machine *machine;
static char folder[64];
static const char *network; /* NULL: our own */
static struct orr_error err;

/* ---- help ---- */

static void make_folder(void)
{
    snprintf(folder, sizeof(folder), "/tmp/orrery-transfers-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    network = NULL;
    unsetenv("ORRERY_PLATFORM_DIR");
    err.text[0] = '\0';
}

static void remove_folder(void)
{
    char command[128];

    if (machine)
        machine->ops->close(machine);
    machine = NULL;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double draw_value(uint64_t *state, double low, double high)
{
    return low * pow(high / low, (double)(next(state) >> 11) * 0x1p-53);
}

/* ---- on our simulator ---- */

static void note_end(struct orr_copy *copy)
{
    struct transfer *t = (struct transfer *)copy;

    t->end = machine->exec->ops->now(machine->exec);
    machine->exec->ops->wake(machine->exec, t->waiter);
}

static void hand_over(struct transfer *t, unsigned src, unsigned dst,
                      size_t size)
{
    *t = (struct transfer){
        .copy = {.src = src, .dst = dst, .size = size, .done = note_end},
        .asked = machine->exec->ops->now(machine->exec),
        .end = (double)NAN,
        .waiter = orr_self,
    };
    orr_machine_copy_start(machine, &t->copy);
    orr_self->debt = 0; /* what handing over costs is not the question here */
}

/* Two nodes between which the machine copies at once. */
static void choose_ends(uint64_t *state, unsigned *src, unsigned *dst)
{
    unsigned n = machine->nnodes;

    do {
        *src = (unsigned)(next(state) % n);
        *dst = (unsigned)(next(state) % n);
    } while (!machine->direct[*src * n + *dst]);
}

static void wait_for_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        while (isnan(transfers[i].end))
            machine->exec->ops->park(machine->exec, ORR_FOREVER);
}

static void run_random_transfers(uint64_t state)
{
    for (unsigned i = 0; i < NCOPIES; i++) {
        unsigned src, dst;

        choose_ends(&state, &src, &dst);
        hand_over(&transfers[i], src, dst, (size_t)draw_value(&state, 1, 3e8));
        if (next(&state) % 3 && i + 1 < NCOPIES)
            machine->exec->ops->sleep(machine->exec,
                                      draw_value(&state, 0.1, 1e4));
    }
    wait_for_all(NCOPIES);
}

/* 0 for each node of main memory: to copies with devices they are one. */
static unsigned device_of(unsigned node)
{
    return machine->nodes[node].kind == STARPU_CPU_RAM ? 0 : node;
}

/* Which transfers wait for which: one at a time for an ordered pair of nodes,
 * and a copy between devices excludes what arrives at either. Copies within
 * main memory wait for none. */
static bool conflict(const struct orr_copy *old, const struct orr_copy *new)
{
    unsigned a = device_of(old->src), b = device_of(old->dst);
    unsigned c = device_of(new->src), d = device_of(new->dst);
    bool old_peer = a && b, new_peer = c && d;

    if (a == c && b == d)
        return a || b;
    if (new_peer && a == d && b == c)
        return true;
    if (new_peer && (b == c || b == d))
        return true;
    return old_peer && (d == a || d == b);
}

/* When each begins, by the rules alone; a simulator that kept others would
 * end its transfers at other dates than the replay. */
static void find_starts(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        transfers[i].start = transfers[i].asked;
        for (unsigned k = 0; k < i; k++)
            if (conflict(&transfers[k].copy, &transfers[i].copy))
                transfers[i].start = fmax(transfers[i].start, transfers[k].end);
    }
}

/* ---- on SimGrid alone ---- */

static void print_end(FILE *out, unsigned node)
{
    const struct orr_node_desc *desc = &machine->nodes[node];

    if (desc->kind == STARPU_CPU_RAM && machine->nnodes > 1 &&
        machine->nodes[1].kind == STARPU_CPU_RAM)
        fprintf(out, " RAM%d", desc->devid);
    else if (node == 0)
        fputs(" RAM", out);
    else
        fprintf(out, " %s%d", desc->kind == STARPU_CUDA_RAM ? "CUDA" : "OpenCL",
                desc->devid);
}

static void print_transfers(unsigned n)
{
    FILE *out = fopen(in_folder("transfers"), "w");

    ck_assert_ptr_nonnull(out);
    for (unsigned i = 0; i < n; i++) {
        fprintf(out, "%.17g", transfers[i].start);
        print_end(out, transfers[i].copy.src);
        print_end(out, transfers[i].copy.dst);
        fprintf(out, " %zu\n", transfers[i].copy.size);
    }
    ck_assert_int_eq(fclose(out), 0);
}

/* SimGrid makes its stacks, of 8 MB, with malloc, which meson lets fill them all. */
static int replay(const char *platform)
{
    char command[1024];

    snprintf(command, sizeof(command),
             "MALLOC_PERTURB_=0 '%s' '%s' --log=root.thres:error "
             "<'%s/transfers' >'%s/ends' "
             "2>'%s/words'",
             REPLAY, platform, folder, folder, folder);
    return system(command);
}

/* Each transfer ends in the replay when it ended here: to 1e-6 of how long it
 * took, or 2 ns. SimGrid takes some 1e-5 bytes for nothing at each look, which is
 * more of one with few. */
static void compare_ends(const char *name, unsigned n)
{
    FILE *in = fopen(in_folder("ends"), "r");

    ck_assert_ptr_nonnull(in);
    for (unsigned i = 0; i < n; i++) {
        const struct transfer *t = &transfers[i];
        double expected, allowed;

        ck_assert_msg(fscanf(in, "%lf", &expected) == 1, "%s: no end", name);
        allowed = (1e-6 + 1e-4 / (double)t->copy.size) * (expected - t->start);
        allowed = fmax(allowed, 2e-3);
        ck_assert_msg(fabs(t->end - expected) <= allowed,
                      "%s: transfer %u, %zu bytes from node %u to %u, started "
                      "at %.6f, ended at %.6f, SimGrid says %.6f",
                      name, i, t->copy.size, t->copy.src, t->copy.dst, t->start,
                      t->end, expected);
    }
    fclose(in);
}

static void compare_with_simgrid(const struct orr_machine_desc *desc,
                                 unsigned n)
{
    char *path = in_folder("m.platform.xml");

    find_starts(n);
    print_transfers(n);
    ck_assert_msg(orr_machine_desc_write(desc, path, &err) == 0, "%s",
                  err.text);
    ck_assert_msg(replay(path) == 0, "%s: the replay fails", desc->name);
    compare_ends(desc->name, n);
}

/* ---- machines ---- */

static bool numa; /* a memory node per NUMA node, where there are several */

static bool open_machine(const struct orr_machine_desc *desc)
{
    struct orr_machine_options options = sim_options();
    int rc;

    options.numa = numa;
    options.network = network;
    rc = orr_sim_open_desc(desc, &options, &machine, &err);
    ck_assert_msg(rc == 0 || rc == -ENODEV, "%s", err.text);
    return rc == 0;
}

static void close_machine(void)
{
    machine->ops->close(machine);
    machine = NULL;
}

/* Several patterns, each on a machine opened anew. */
static void check_machine(const struct orr_machine_desc *desc, uint64_t seed,
                          unsigned npatterns)
{
    for (unsigned i = 0; i < npatterns; i++) {
        if (!open_machine(desc))
            return; /* neither a CPU nor a device */
        if (machine->nnodes > 1) {
            run_random_transfers(seed + i);
            compare_with_simgrid(desc, NCOPIES);
        }
        close_machine();
    }
}

/* The same machine, written and read. */
static void check_round_trip(const struct orr_machine_desc *desc)
{
    struct orr_machine_desc *again = NULL;
    char *path = in_folder("again.platform.xml");
    const char *difference;

    ck_assert_msg(orr_machine_desc_write(desc, path, &err) == 0, "%s",
                  err.text);
    ck_assert_msg(orr_machine_desc_read(path, &again, &err) == 0, "%s",
                  err.text);
    difference = machines_differ(desc, again);
    ck_assert_msg(!difference, "%s: %s", desc->name, difference);
    orr_machine_desc_free(again);
}

START_TEST(transfers_on_links_by_chance_are_simgrids)
{
    struct orr_machine_desc *desc = random_machine((uint64_t)_i);

    network = _i % 4 ? NULL : "simgrid";
    check_round_trip(desc);
    check_machine(desc, (uint64_t)_i, 1);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(transfers_on_machines_as_they_are_built_are_simgrids)
{
    struct orr_machine_desc *desc = random_node((uint64_t)_i);

    network = _i % 4 ? NULL : "simgrid";
    check_round_trip(desc);
    check_machine(desc, (uint64_t)_i, 1);
    orr_machine_desc_free(desc);
}
END_TEST

static int check_entry(const struct orr_machine_entry *entry, void *arg)
{
    struct orr_machine_desc *desc = NULL;

    ck_assert_msg(orr_machine_desc_read(entry->path, &desc, &err) == 0, "%s",
                  err.text);
    check_machine(desc, 1, 3);
    if (desc->nnuma > 1) {
        numa = true;
        check_machine(desc, 2, 3);
        numa = false;
    }
    orr_machine_desc_free(desc);
    ++*(unsigned *)arg;
    return 0;
}

START_TEST(transfers_on_machines_of_the_catalogue_are_simgrids)
{
    unsigned machines = 0;

    network = _i ? NULL : "simgrid";
    ck_assert_int_eq(orr_machine_desc_list(NULL, check_entry, &machines), 0);
    ck_assert_uint_ge(machines, 15);
}
END_TEST

START_TEST(transfers_on_real_bus_folders_are_simgrids)
{
    static const char *const names[] = {
        "mirage.platform.v4.xml", "mirage.platform.xml",
        "attila.platform.v4.xml", "attila.platform.xml"};
    struct orr_machine_desc *desc = NULL;
    const char *shared = suite_shared("sampling/bus");
    char path[PATH_MAX + 64];

    network = _i ? NULL : "simgrid";
    if (!shared)
        SKIP_TEST("no sampling/bus in ORRERY_SHARED");
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", shared, names[i]);
        ck_assert_msg(orr_machine_desc_read(path, &desc, &err) == 0, "%s",
                      err.text);
        check_machine(desc, i, 5);
        orr_machine_desc_free(desc);
    }
}
END_TEST

/* ---- directions ---- */

#define DIRECTIONS(version, power, zone, unit, policy, up, down)               \
    "<?xml version='1.0'?>\n"                                                  \
    "<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"           \
    "<platform version='" version "'><" zone " id='A' routing='Full'>"         \
    "<host id='MAIN' " power "='1" unit "'/>"                                  \
    "<host id='CPU0' " power "='1" unit "'/>"                                  \
    "<host id='CUDA0' " power "='1" unit "'/>"                                 \
    "<host id='RAM' " power "='1" unit "'/>"                                   \
    "<link id='l' bandwidth='1000000000' latency='0' "                         \
    "sharing_policy='" policy "'/>"                                            \
    "<route src='RAM' dst='CUDA0' symmetrical='NO'>"                           \
    "<link_ctn id='l'" down "/></route>"                                       \
    "<route src='CUDA0' dst='RAM' symmetrical='NO'>"                           \
    "<link_ctn id='l'" up "/></route>"                                         \
    "</" zone "></platform>"
#define V41(policy, up, down)                                                  \
    DIRECTIONS("4.1", "speed", "zone", "f", policy, up, down)
#define V3(policy, up, down)                                                   \
    DIRECTIONS("3", "power", "AS", "", policy, up, down)
#define UP   " direction='UP'"
#define DOWN " direction='DOWN'"

/* A megabyte takes 1000 us alone. */
static const struct {
    const char *policy, *text;
    double end;
    bool simgrid_reads; /* the file itself, not only what we write */
} directions[] = {
    {"SHARED", V41("SHARED", "", ""), 2000, true},
    {"SPLITDUPLEX", V41("SPLITDUPLEX", UP, DOWN), 1000, true},
    {"FULLDUPLEX", V41("FULLDUPLEX", UP, DOWN), 1000, false},
    {"FATPIPE", V41("FATPIPE", "", ""), 1000, true},
    {"SHARED, version 3", V3("SHARED", "", ""), 2000, false},
    {"FULLDUPLEX, version 3", V3("FULLDUPLEX", UP, DOWN), 1000, false},
};

START_TEST(directions_share_a_link_according_to_its_policy)
{
    struct orr_machine_desc *desc = NULL;
    const char *text = directions[_i].text;
    FILE *out = fopen(in_folder("itself.xml"), "w");

    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_msg(
        orr_machine_desc_parse("x.xml", text, strlen(text), &desc, &err) == 0,
        "%s", err.text);
    ck_assert(open_machine(desc));
    hand_over(&transfers[0], 0, 1, 1000000);
    hand_over(&transfers[1], 1, 0, 1000000);
    wait_for_all(2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_msg(fabs(transfers[i].end - directions[_i].end) < 2e-3,
                      "%s: at %.6f, not %.6f", directions[_i].policy,
                      transfers[i].end, directions[_i].end);
    compare_with_simgrid(desc, 2);
    if (directions[_i].simgrid_reads)
        ck_assert_int_eq(replay(in_folder("itself.xml")), 0);
    orr_machine_desc_free(desc);
}
END_TEST

/* SimGrid alone lets the second pass its PCIe link at the rate of Host for as
 * long as the first lasts, see make_hops in sim/simgrid_platform.cpp. */
START_TEST(transfers_that_begin_together_keep_to_their_own_links)
{
    struct orr_machine_desc *desc = NULL;
    const char *text = ZONE GPU GPU_ROUTE END;

    ck_assert_int_eq(
        orr_machine_desc_parse("x.xml", text, strlen(text), &desc, &err), 0);
    ck_assert(open_machine(desc));
    hand_over(&transfers[0], 1, 0, 4000);
    hand_over(&transfers[1], 0, 1, 4000000);
    wait_for_all(2);
    ck_assert_double_eq_tol(transfers[0].end, 2 + 1, 2e-3);
    ck_assert_double_eq_tol(transfers[1].end, 2 + 1000, 2e-3);
    compare_with_simgrid(desc, 2);
    orr_machine_desc_free(desc);
}
END_TEST

START_TEST(version_3_is_refused_by_simgrid_and_read_by_us)
{
    const char *text = V3("SHARED", "", "");
    struct orr_machine_desc *desc = NULL;
    FILE *out = fopen(in_folder("old.platform.xml"), "w");

    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
    print_transfers(0);
    ck_assert_int_ne(replay(in_folder("old.platform.xml")), 0);
    ck_assert_int_eq(
        orr_machine_desc_read(in_folder("old.platform.xml"), &desc, &err), 0);
    ck_assert_int_eq(
        orr_machine_desc_write(desc, in_folder("new.platform.xml"), &err), 0);
    ck_assert_int_eq(replay(in_folder("new.platform.xml")), 0);
    orr_machine_desc_free(desc);
}
END_TEST

SUITE_MAIN(transfers)
{
    int n = argc > 1 && strcmp(argv[1], "all") == 0 ? 10000 : 60;
    Suite *suite = suite_create("transfers");
    TCase *tests = tcase_create("transfers");

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, transfers_on_links_by_chance_are_simgrids, 0,
                        n / 2);
    tcase_add_loop_test(
        tests, transfers_on_machines_as_they_are_built_are_simgrids, 0, n / 2);
    tcase_add_loop_test(
        tests, transfers_on_machines_of_the_catalogue_are_simgrids, 0, 2);
    tcase_add_loop_test(tests, transfers_on_real_bus_folders_are_simgrids, 0,
                        2);
    tcase_add_loop_test(tests, directions_share_a_link_according_to_its_policy,
                        0, (int)(sizeof(directions) / sizeof(directions[0])));
    tcase_add_test(tests,
                   transfers_that_begin_together_keep_to_their_own_links);
    tcase_add_test(tests, version_3_is_refused_by_simgrid_and_read_by_us);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}
