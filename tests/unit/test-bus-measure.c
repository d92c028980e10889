/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bus-measure.c - measuring the links of a simulated machine
 * gives what its description says, alone and under contention; of this
 * machine's main memory, that values are there. One OS thread when simulated.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/bus/bus.h"
#include "core/device/bus/launch.h"
#include "core/device/driver.h"
#include "core/device/memory_machine.h"
#include "core/device/threads.h"
#include "tests/suite.h"
#include "tests/unit/sim-machine.h"

static struct orr_bus_measures measures;
static struct orr_error err;

static void measure(struct orr_machine *machine, struct orr_bus_options options)
{
    options.blocks = options.blocks ? options.blocks : 2;
    options.budget_us = options.budget_us > 0 ? options.budget_us : 1e5;
    ck_assert_msg(orr_bus_measure(machine, &options, &measures, &err) == 0,
                  "%s", err.text);
}

static const struct orr_bus_link *link_of(unsigned src, unsigned dst)
{
    const struct orr_bus_link *link =
        orr_bus_measures_find(&measures, src, dst, false);

    ck_assert_ptr_nonnull(link);
    return link;
}

static void check_near(double value, double expected)
{
    ck_assert_msg(fabs(value - expected) <= 1e-3 * expected, "%g is not %g",
                  value, expected);
}

static void finish(struct orr_machine *machine)
{
    orr_bus_measures_done(&measures);
    machine->ops->close(machine);
}

START_TEST(a_simulated_machine_has_the_parameters_of_its_description)
{
    const struct sim_spec spec = {
        .ncuda = 2, .bandwidth = 5e9, .latency = 1e-5, .peer = true};
    struct orr_machine *machine = sim_machine_open(&spec);

    measure(machine, (struct orr_bus_options){.all_sizes = true});
    ck_assert_uint_eq(measures.nnodes, 3);
    ck_assert_uint_eq(measures.nlinks, 6);
    for (unsigned l = 0; l < measures.nlinks; l++) {
        const struct orr_bus_link *link = &measures.links[l];

        check_near(link->bandwidth.median, 5000);
        check_near(link->latency.median, 10 + 1 / 5000.);
        ck_assert_uint_ge(link->bandwidth.n, 6);
        ck_assert(link->bandwidth.spread < 1e-3);
        ck_assert_uint_eq(link->points[0].size, 1);
        ck_assert_uint_eq(link->points[link->npoints - 1].size, 32 << 20);
        for (unsigned p = 1; p < link->npoints; p++)
            ck_assert_uint_gt(link->points[p].size, link->points[p - 1].size);
    }
    finish(machine);
}
END_TEST

static const struct orr_bus_group *group_of(enum orr_bus_group_kind kind)
{
    for (unsigned c = 0; c < measures.ngroups; c++)
        if (measures.groups[c].kind == kind)
            return &measures.groups[c];
    ck_abort_msg("no group of kind %d", (int)kind);
    return NULL;
}

START_TEST(contention_shows_in_groups_only)
{
    /* Each link carries 5 GB/s, the bus that all share 8 GB/s. */
    const struct sim_spec spec = {
        .ncuda = 2, .bandwidth = 5e9, .latency = 1e-6, .bus = 8e9};
    struct orr_machine *machine = sim_machine_open(&spec);
    const struct orr_bus_group *both, *all, *to, *from;

    measure(machine, (struct orr_bus_options){.groups = true});
    check_near(link_of(0, 1)->bandwidth.median, 5000);
    both = group_of(ORR_BUS_BIDIRECTIONAL);
    ck_assert_uint_eq(both->n, 2);
    check_near(both->members[0].median, 4000);
    check_near(both->members[1].median, 4000);
    all = group_of(ORR_BUS_ALL);
    ck_assert_uint_eq(all->n, 4);
    check_near(all->total, 8000);
    to = group_of(ORR_BUS_TO_ALL);
    from = group_of(ORR_BUS_FROM_ALL);
    ck_assert_uint_eq(to->n, 2);
    ck_assert_uint_eq(from->n, 2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(measures.links[to->links[i]].src, 0);
        ck_assert_uint_eq(measures.links[from->links[i]].dst, 0);
        check_near(to->members[i].median, 4000);
        check_near(from->members[i].median, 4000);
    }
    finish(machine);
}
END_TEST

START_TEST(free_links_are_as_fast_in_groups)
{
    const struct sim_spec spec = {
        .ncuda = 1, .bandwidth = 5e9, .latency = 1e-6};
    struct orr_machine *machine = sim_machine_open(&spec);

    measure(machine, (struct orr_bus_options){.groups = true});
    ck_assert_uint_eq(measures.ngroups, 1);
    check_near(group_of(ORR_BUS_BIDIRECTIONAL)->total, 10000);
    finish(machine);
}
END_TEST

START_TEST(pairs_without_a_link_go_over_main_memory)
{
    const struct sim_spec spec = {
        .ncuda = 2, .bandwidth = 4e9, .latency = 1e-5};
    struct orr_machine *machine = sim_machine_open(&spec);
    double bandwidth[9], latency[9];

    measure(machine, (struct orr_bus_options){0});
    ck_assert_ptr_null(orr_bus_measures_find(&measures, 1, 2, false));
    orr_bus_matrices(machine, &measures, bandwidth, latency);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(bandwidth[i * 4] == 0);
        ck_assert(latency[i * 4] == 0);
    }
    check_near(bandwidth[1], 4000);
    check_near(latency[3], 10);
    check_near(bandwidth[5], 2000);
    check_near(latency[7], 20);
    finish(machine);
}
END_TEST

/* --- pinned memory: as a device would offer it --- */

static unsigned npinned;

static int pinned_alloc(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret)
{
    ck_assert_uint_eq(node, 0);
    npinned++;
    return driver->ops->alloc(driver, node, size, ret);
}

static void pinned_free(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size)
{
    npinned--;
    driver->ops->free(driver, node, address, size);
}

START_TEST(pinned_memory_is_measured_where_it_is_offered)
{
    const struct sim_spec spec = {
        .ncuda = 2, .bandwidth = 5e9, .latency = 1e-6, .peer = true};
    struct orr_machine *machine = sim_machine_open(&spec);
    struct orr_driver *driver = machine->drivers[0];
    struct orr_driver_ops ops = *driver->ops;
    const struct orr_driver_ops *own = driver->ops;
    double bandwidth[9], latency[9];

    ops.pinned_alloc = pinned_alloc;
    ops.pinned_free = pinned_free;
    driver->ops = &ops;
    measure(machine, (struct orr_bus_options){.groups = true});
    ck_assert_uint_eq(npinned, 0);
    /* Four pairs with main memory, twice, and the peers. */
    ck_assert_uint_eq(measures.nlinks, 10);
    ck_assert_ptr_nonnull(orr_bus_measures_find(&measures, 0, 1, true));
    ck_assert_ptr_null(orr_bus_measures_find(&measures, 1, 2, true));
    /* The pinned copy's bandwidth is the pair's, and the one in the group. */
    for (unsigned l = 0; l < measures.nlinks; l++)
        if (measures.links[l].pinned)
            measures.links[l].bandwidth.median = 7;
    orr_bus_matrices(machine, &measures, bandwidth, latency);
    ck_assert(bandwidth[1] == 7);
    check_near(bandwidth[5], 5000);
    ck_assert_uint_eq(group_of(ORR_BUS_ALL)->n, 6);
    ck_assert_uint_eq(group_of(ORR_BUS_TO_ALL)->n, 2);
    check_near(group_of(ORR_BUS_TO_ALL)->total, 10000);
    driver->ops = own;
    finish(machine);
}
END_TEST

/* --- handing over work --- */

static unsigned device_worker(const struct orr_machine *machine)
{
    unsigned w = 0;

    while (machine->workers[w].type != STARPU_CUDA_WORKER)
        w++;
    return w;
}

START_TEST(a_simulated_device_costs_what_its_description_says)
{
    const struct sim_spec spec = {.ncuda = 1, .bandwidth = 5e9, .costs = true};
    struct orr_machine *machine = sim_machine_open(&spec);
    double us[ORR_LAUNCH_COSTS];

    machine->costs.kernel_latency = 30;
    ck_assert_int_eq(orr_launch_sample(machine, device_worker(machine), us), 0);
    check_near(us[ORR_LAUNCH_LATENCY], 30);
    /* Its blocks of 1 MiB are carved from one of 32, which is kept. */
    check_near(us[ORR_LAUNCH_ALLOC] * 8, machine->costs.device_alloc);
    ck_assert(us[ORR_LAUNCH_FREE] == 0);
    /* There it delays the copy, not who starts it. */
    ck_assert(us[ORR_LAUNCH_COPY] == 0);
    ck_assert(us[ORR_LAUNCH_FIRST_USE] == 0);
    ck_assert(isnan(us[ORR_LAUNCH_PINNED]));
    ck_assert(isnan(us[ORR_LAUNCH_EVENT]));
    orr_self->debt = 0;
    machine->ops->close(machine);
}
END_TEST

static unsigned nblocks;

/* Two blocks, and no more. */
static int scarce_alloc(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret)
{
    (void)driver;
    (void)node;
    *ret = size;
    return nblocks < 2 ? nblocks++, 0 : -ENOMEM;
}

static void scarce_free(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size)
{
    (void)driver;
    (void)node;
    ck_assert_uint_eq(address, size);
    nblocks--;
}

START_TEST(what_a_device_refuses_is_an_error)
{
    const struct sim_spec spec = {.ncuda = 1, .bandwidth = 5e9};
    struct orr_machine *machine = sim_machine_open(&spec);
    struct orr_driver *driver = machine->drivers[0];
    struct orr_driver_ops ops = *driver->ops;
    const struct orr_driver_ops *own = driver->ops;
    double us[ORR_LAUNCH_COSTS];

    ops.alloc = scarce_alloc;
    ops.free = scarce_free;
    driver->ops = &ops;
    ck_assert_int_eq(orr_launch_sample(machine, device_worker(machine), us),
                     -ENOMEM);
    ck_assert_uint_eq(nblocks, 0);
    driver->ops = own;
    machine->ops->close(machine);
}
END_TEST

/* --- this machine --- */

START_TEST(main_memory_is_measured_within_its_nodes)
{
    struct orr_exec *exec;
    struct orr_machine *machine;
    const struct orr_bus_link *link;

    ck_assert_int_eq(orr_threads_new(NULL, &exec), 0);
    ck_assert_msg(orr_memory_machine_open(exec, NULL, &machine, &err) == 0,
                  "%s", err.text);
    measure(machine, (struct orr_bus_options){.within = true,
                                              .groups = true,
                                              .largest = 1 << 20,
                                              .budget_us = 2e4});
    ck_assert_uint_eq(measures.nlinks, machine->nnodes * machine->nnodes);
    link = link_of(0, 0);
    ck_assert(link->bandwidth.median > 0 && link->latency.median > 0);
    ck_assert_uint_eq(link->points[1].size, 1 << 20);
    finish(machine);
    orr_threads_free(exec);
}
END_TEST

START_TEST(synthetic_nodes_are_measured_in_both_directions)
{
    struct orr_exec *exec;
    struct orr_machine *machine;

    setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
    ck_assert_int_eq(orr_threads_new(NULL, &exec), 0);
    ck_assert_msg(orr_memory_machine_open(exec, NULL, &machine, &err) == 0,
                  "%s", err.text);
    ck_assert_uint_eq(machine->nnodes, 2);
    ck_assert_str_eq(machine->nodes[1].name, "NUMA 1");
    measure(machine, (struct orr_bus_options){
                         .groups = true, .largest = 1 << 20, .budget_us = 2e4});
    ck_assert_uint_eq(measures.nlinks, 2);
    ck_assert(link_of(0, 1)->bandwidth.median > 0);
    ck_assert(link_of(1, 0)->bandwidth.median > 0);
    ck_assert_uint_eq(measures.ngroups, 1);
    ck_assert(group_of(ORR_BUS_BIDIRECTIONAL)->total > 0);
    finish(machine);
    orr_threads_free(exec);
}
END_TEST

SUITE_MAIN(bus_measure)
{
    Suite *suite = suite_create("bus-measure");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase,
                   a_simulated_machine_has_the_parameters_of_its_description);
    tcase_add_test(tcase, contention_shows_in_groups_only);
    tcase_add_test(tcase, free_links_are_as_fast_in_groups);
    tcase_add_test(tcase, pairs_without_a_link_go_over_main_memory);
    tcase_add_test(tcase, pinned_memory_is_measured_where_it_is_offered);
    tcase_add_test(tcase, a_simulated_device_costs_what_its_description_says);
    tcase_add_test(tcase, what_a_device_refuses_is_an_error);
    tcase_add_test(tcase, main_memory_is_measured_within_its_nodes);
    tcase_add_test(tcase, synthetic_nodes_are_measured_in_both_directions);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}
