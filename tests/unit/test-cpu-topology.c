/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cpu-topology.c - core/device/cpu: which processors workers
 * take, on synthetic machines and on this one; the real machine that comes of
 * it. One thread.
 */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "core/device/cpu/memory.h"
#include "core/device/cpu/topology.h"
#include "core/device/open.h"
#include "core/device/pinned.h"
#include "tests/loopback/loopback.h"
#include "tests/loopback/use.h"
#include "tests/suite.h"

/* Tests run in the root of the source tree. */
#define TEST_TOPOLOGY "tests/unit/two-packages.hwloc.xml"

static struct orr_cpus cpus;
static struct orr_cpu_choice choice;
static struct orr_error err;

static void find(const char *synthetic)
{
    ck_assert_int_eq(orr_cpus_find(synthetic, &cpus, &err), 0);
}

static void teardown(void)
{
    orr_cpus_done(&cpus);
    free(choice.cpus);
    choice.cpus = NULL;
}

static void choose(const char *list)
{
    struct orr_cpu_request request = {.cpus = list, .avoid = -1};

    ck_assert_msg(orr_cpus_choose(&cpus, &request, &choice, &err) == 0, "%s",
                  err.text);
}

static void check_numbers(const int *numbers, unsigned n)
{
    ck_assert_uint_eq(choice.n, n);
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(choice.cpus[i].number, numbers[i]);
}

START_TEST(cores_come_before_their_second_processors)
{
    find("core:3 pu:2");
    choose(NULL);
    check_numbers((int[]){0, 2, 4, 1, 3, 5}, 6);
    ck_assert_uint_eq(choice.usual, 3);
}
END_TEST

START_TEST(packages_are_filled_in_order)
{
    find("package:2 core:2 pu:1");
    choose(NULL);
    check_numbers((int[]){0, 1, 2, 3}, 4);
    ck_assert_uint_eq(choice.usual, 4);
}
END_TEST

static const struct {
    const char *list;
    unsigned n;
    int numbers[8];
} lists[] = {
    {"0 2 4-7", 6, {0, 2, 4, 5, 6, 7}},
    {"3", 1, {3}},
    {"5-", 3, {5, 6, 7}},
    {" 1,0 ,, 3-4 ", 4, {1, 0, 3, 4}},
    {"2 2", 2, {2, 2}},
    {"6-6", 1, {6}},
};

START_TEST(lists_and_ranges_are_taken_as_written)
{
    find("core:8 pu:1");
    choose(lists[_i].list);
    check_numbers(lists[_i].numbers, lists[_i].n);
    ck_assert_uint_eq(choice.usual, lists[_i].n);
}
END_TEST

static const char *const broken[] = {
    "",    "  ",  "x",   "1 x", "-1",  "8",
    "0-8", "5-2", "1.5", "0x1", "2--", "99999999999999999999"};

START_TEST(broken_lists_are_refused_with_a_message)
{
    struct orr_cpu_request request = {.cpus = broken[_i], .avoid = -1};

    find("core:8 pu:1");
    ck_assert_int_eq(orr_cpus_choose(&cpus, &request, &choice, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "processor"));
    ck_assert_ptr_null(choice.cpus);
}
END_TEST

START_TEST(an_impossible_synthetic_machine_is_refused)
{
    ck_assert_int_eq(orr_cpus_find("core:x", &cpus, &err), -ENODEV);
    ck_assert_ptr_nonnull(strstr(err.text, "core:x"));
}
END_TEST

/* Whether the calling thread may run on the processor. */
static bool may_use(int number)
{
    cpu_set_t set;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    return CPU_ISSET(number, &set);
}

START_TEST(this_machine_has_only_processors_that_we_may_use)
{
    find(NULL);
    ck_assert_uint_ge(cpus.n, 1);
    for (unsigned i = 0; i < cpus.n; i++)
        ck_assert(may_use(cpus.cpus[i].number));
}
END_TEST

START_TEST(an_inherited_affinity_is_respected)
{
    cpu_set_t set;
    int only;

    find(NULL);
    only = cpus.cpus[cpus.n - 1].number;
    orr_cpus_done(&cpus);
    CPU_ZERO(&set);
    CPU_SET(only, &set);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
    find(NULL);
    ck_assert_uint_eq(cpus.n, 1);
    ck_assert_int_eq(cpus.cpus[0].number, only);
}
END_TEST

static void choose_by(struct orr_cpu_request request)
{
    ck_assert_msg(orr_cpus_choose(&cpus, &request, &choice, &err) == 0, "%s",
                  err.text);
}

static struct orr_machine_options all(void)
{
    return (struct orr_machine_options){.ncpu = -1,
                                        .ncuda = -1,
                                        .nopencl = -1,
                                        .bind = true,
                                        .main_cpuid = -1,
                                        .main_coreid = -1};
}

/* The calling thread may use the second core only; the number of its processor, -1: there
 * is none. */
static int allow_second_core(void)
{
    cpu_set_t set;

    find(NULL);
    if (cpus.nall < 2 || cpus.n < 2 || cpus.cpus[1].core != 1)
        return -1;
    CPU_ZERO(&set);
    CPU_SET(cpus.cpus[1].number, &set);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
    return cpus.cpus[1].number;
}

static const struct orr_cpu_request lists_in_a_mask[] = {
    {.cpus = "1", .avoid = -1},     {.cpus = "0-", .avoid = -1},
    {.cpus = "1-1 1", .avoid = -1}, {.cores = "1", .avoid = -1},
    {.cores = "0-", .avoid = -1},
};

/* Numbers are the machine's. */
START_TEST(lists_hold_within_a_mask)
{
    if (allow_second_core() < 0)
        SKIP_TEST("this machine has no second core");
    orr_cpus_done(&cpus);
    find(NULL);
    ck_assert_uint_eq(cpus.n, 1);
    choose_by(lists_in_a_mask[_i]);
    for (unsigned i = 0; i < choice.n; i++)
        ck_assert_uint_eq(choice.cpus[i].position, 1);
}
END_TEST

static const struct orr_cpu_request lists_beyond_a_mask[] = {
    {.cpus = "0", .avoid = -1},    {.cpus = "1 0", .avoid = -1},
    {.cpus = "0-1", .avoid = -1},  {.cores = "0", .avoid = -1},
    {.cores = "1,0", .avoid = -1},
};

START_TEST(what_a_mask_forbids_is_refused)
{
    if (allow_second_core() < 0)
        SKIP_TEST("this machine has no second core");
    orr_cpus_done(&cpus);
    find(NULL);
    ck_assert_int_eq(
        orr_cpus_choose(&cpus, &lists_beyond_a_mask[_i], &choice, &err),
        -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, " 0, which is not among those"));
    ck_assert_ptr_nonnull(strstr(err.text, "choose from 1,"));
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_WORKERS_GETBIND=0"));
}
END_TEST

START_TEST(main_and_bindids_are_numbered_by_the_machine)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    unsigned bindid[] = {1};
    int second;

    second = allow_second_core();
    if (second < 0)
        SKIP_TEST("this machine has no second core");
    options.workers_bindid = bindid;
    options.ncpu = 1;
    options.main_cpuid = 1;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_int_eq(machine->workers[0].cpu, second);
    ck_assert_int_eq(machine->main_cpu, second + 1);
    machine->ops->close(machine);
    bindid[0] = 0;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), -EINVAL);
    ck_assert_ptr_nonnull(
        strstr(err.text, "workers_bindid[0] names processor 0, which"));
    bindid[0] = 1;
    options.main_cpuid = 0;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), -EINVAL);
    ck_assert_ptr_nonnull(
        strstr(err.text, "STARPU_MAIN_THREAD_CPUID names processor 0"));
    options.main_cpuid = -1;
    options.main_coreid = 0;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), -EINVAL);
    ck_assert_ptr_nonnull(
        strstr(err.text, "STARPU_MAIN_THREAD_COREID names core 0"));
    options.ignore_affinity = true;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    machine->ops->close(machine);
}
END_TEST

START_TEST(the_kernel_names_the_same_processors)
{
    struct orr_cpus plain;

    find(NULL);
    ck_assert_int_eq(orr_cpus_from_affinity(&plain, &err), 0);
    ck_assert_uint_eq(plain.n, cpus.n);
    orr_cpus_done(&plain);
}
END_TEST

START_TEST(cores_are_listed_by_their_first_processor)
{
    find("core:4 pu:2");
    choose_by((struct orr_cpu_request){.cores = "3 0-1", .avoid = -1});
    check_numbers((int[]){6, 0, 2}, 3);
}
END_TEST

START_TEST(a_core_that_is_not_there_is_refused)
{
    struct orr_cpu_request request = {.cores = "4", .avoid = -1};

    find("core:4 pu:2");
    ck_assert_int_eq(orr_cpus_choose(&cpus, &request, &choice, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "core 4"));
}
END_TEST

START_TEST(several_workers_share_a_core_if_requested)
{
    find("core:2 pu:4");
    choose_by((struct orr_cpu_request){.per_core = 2, .avoid = -1});
    check_numbers((int[]){0, 1, 4, 5, 2, 6, 3, 7}, 8);
    ck_assert_uint_eq(choice.usual, 4);
}
END_TEST

START_TEST(a_core_that_is_someone_elses_is_avoided)
{
    find("core:3 pu:2");
    choose_by((struct orr_cpu_request){.avoid = 1});
    check_numbers((int[]){0, 4, 1, 5}, 4);
    ck_assert_uint_eq(choice.usual, 2);
}
END_TEST

START_TEST(the_only_core_cannot_be_avoided)
{
    struct orr_cpu_request request = {.avoid = 0};

    find("core:1 pu:2");
    ck_assert_int_eq(orr_cpus_choose(&cpus, &request, &choice, &err), -ENODEV);
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_MAIN_THREAD_BIND"));
}
END_TEST

START_TEST(processors_know_their_numa_node)
{
    static const unsigned nodes[] = {0, 0, 1, 1, 2, 2};

    find("pack:3 [numa] core:1 pu:2");
    ck_assert_uint_eq(cpus.n, 6);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(cpus.cpus[i].node, nodes[i]);
}
END_TEST

START_TEST(a_topology_is_read_from_a_file)
{
    struct orr_topology_input input = {.xml = TEST_TOPOLOGY};
    struct orr_topology *topology;
    const struct orr_memory *memories;

    ck_assert_int_eq(orr_topology_open(&input, &topology, &err), 0);
    ck_assert(!orr_topology_is_here(topology));
    ck_assert_uint_eq(orr_topology_memories(topology, &memories), 2);
    ck_assert_uint_eq(memories[1].size, (size_t)4 << 30);
    ck_assert_int_eq(orr_topology_cpus(topology, &cpus, &err), 0);
    ck_assert_uint_eq(cpus.n, 3); /* the container forbids the fourth */
    orr_topology_close(topology);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_refused)
{
    struct orr_topology_input input = {.xml = "/no/such/file.xml"};
    struct orr_topology *topology;

    ck_assert_int_lt(orr_topology_open(&input, &topology, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "/no/such/file.xml"));
}
END_TEST

/* -- the real machine -- */

static void open_and_close(const struct orr_machine_options *options,
                           unsigned nworkers)
{
    struct orr_machine *machine;

    ck_assert_msg(orr_real_machine_open(options, &machine, &err) == 0, "%s",
                  err.text);
    ck_assert_uint_eq(machine->nworkers, nworkers);
    ck_assert_uint_eq(machine->nnodes, 1);
    ck_assert_ptr_nonnull(orr_self);
    machine->ops->close(machine);
    ck_assert_ptr_null(orr_self);
}

START_TEST(there_are_as_many_workers_as_requested)
{
    struct orr_machine_options options = all();

    options.ncpu = 5;
    open_and_close(&options, 5);
}
END_TEST

START_TEST(by_default_there_is_a_worker_per_core)
{
    struct orr_machine_options options = all();

    find(NULL);
    choose(NULL);
    open_and_close(&options, choice.usual);
}
END_TEST

START_TEST(no_worker_is_an_error_with_a_message)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine = NULL;

    options.ncpu = 0;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), -ENODEV);
    ck_assert_ptr_null(machine);
    ck_assert_ptr_null(orr_self);
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_NCPU"));
}
END_TEST

START_TEST(all_processors_reserved_is_an_error)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;

    options.reserve_ncpu = 100000;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), -ENODEV);
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_RESERVE_NCPU"));
}
END_TEST

START_TEST(the_host_name_has_no_domain_unless_it_was_given)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;

    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_ptr_null(strchr(machine->host, '.'));
    machine->ops->close(machine);
    options.host = "some.where";
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_str_eq(machine->host, "some.where");
    machine->ops->close(machine);
}
END_TEST

static unsigned count_mine(void)
{
    cpu_set_t set;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    return (unsigned)CPU_COUNT(&set);
}

START_TEST(main_is_bound_while_the_machine_is_open)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    unsigned before = count_mine();

    find(NULL);
    options.main_cpuid = (int)cpus.n - 1;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_uint_eq(count_mine(), 1);
    ck_assert(may_use(cpus.cpus[cpus.n - 1].number));
    machine->ops->close(machine);
    ck_assert_uint_eq(count_mine(), before);
}
END_TEST

START_TEST(a_core_is_left_to_main)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;

    setenv("HWLOC_SYNTHETIC", "core:4 pu:2", 1);
    setenv("STARPU_SILENT", "1", 1);
    options.main_bind = true;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_uint_eq(machine->nworkers, 3);
    ck_assert_int_eq(machine->workers[0].cpu, -1); /* not this machine's */
    machine->ops->close(machine);
}
END_TEST

/* The first processors of eight cores, then their second ones. */
#define INTERLEAVED "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15"

static const struct {
    const char *synthetic, *cpuid;
    unsigned n, worker;
    unsigned order[16];
} neighbourhoods[] = {
    /* The core's other processor, the cache's, the package's, the machine's. */
    {"pack:2 [numa] l3:2 core:2 pu:2",
     INTERLEAVED,
     16,
     0,
     {0, 8, 1, 9, 2, 3, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15}},
    {"pack:2 [numa] l3:2 core:2 pu:2",
     INTERLEAVED,
     16,
     13,
     {13, 5, 4, 12, 14, 15, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11}},
    /* NUMA nodes within a package. */
    {"pack:2 group:2 [numa] core:2 pu:1", NULL, 8, 2, {2, 3, 0, 1, 4, 5, 6, 7}},
    /* All alike: from the worker's own number on. */
    {"core:4 pu:1", NULL, 4, 2, {2, 3, 0, 1}},
};

START_TEST(workers_know_who_is_near)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    unsigned n = neighbourhoods[_i].n;

    setenv("HWLOC_SYNTHETIC", neighbourhoods[_i].synthetic, 1);
    setenv("STARPU_SILENT", "1", 1);
    options.bind = true;
    options.workers_cpuid = neighbourhoods[_i].cpuid;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_uint_eq(machine->nworkers, n);
    for (unsigned i = 0; i < n; i++)
        ck_assert_uint_eq(
            machine->neighbours[neighbourhoods[_i].worker * n + i],
            neighbourhoods[_i].order[i]);
    machine->ops->close(machine);
}
END_TEST

START_TEST(workers_that_are_not_bound_have_no_neighbours)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;

    setenv("HWLOC_SYNTHETIC", "core:4 pu:2", 1);
    setenv("STARPU_SILENT", "1", 1);
    options.bind = false;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_ptr_null(machine->neighbours);
    machine->ops->close(machine);
}
END_TEST

START_TEST(a_processor_for_main_that_is_not_there_is_refused)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;

    options.main_coreid = 100000;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_MAIN_THREAD_COREID"));
}
END_TEST

START_TEST(the_inherited_affinity_may_be_ignored)
{
    struct orr_machine_options options = all();
    cpu_set_t set;
    unsigned n;

    find(NULL);
    n = cpus.n;
    CPU_ZERO(&set);
    CPU_SET(cpus.cpus[0].number, &set);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
    open_and_close(&options, 1);
    options.ignore_affinity = true;
    options.workers_cpuid = "0-";
    open_and_close(&options, n);
}
END_TEST

START_TEST(blocks_lie_on_nodes_whatever_their_size)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 3000000};
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    uintptr_t address[2][5];

    setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:1 pu:1", 1);
    setenv("STARPU_SILENT", "1", 1);
    options.numa = true;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_uint_eq(machine->nnodes, 2);
    for (unsigned node = 0; node < 2; node++)
        for (unsigned i = 0; i < 5; i++) {
            ck_assert_int_eq(
                orr_machine_alloc(machine, node, sizes[i], &address[node][i]),
                0);
            ck_assert_uint_eq(address[node][i] % 64, 0);
            memset((void *)address[node][i], 7, sizes[i]);
        }
    for (unsigned node = 0; node < 2; node++)
        for (unsigned i = 0; i < 5; i++)
            orr_machine_free(machine, node, address[node][i], sizes[i]);
    ck_assert_int_eq(
        orr_machine_alloc(machine, 1, SIZE_MAX - 10, &address[0][0]), -ENOMEM);
    machine->ops->close(machine);
}
END_TEST

static void count_run(struct orr_kernel *kernel)
{
    ++*(int *)kernel->machine_link[0];
}

START_TEST(a_kernel_is_run_and_timed)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    int runs = 0;
    struct orr_kernel kernel = {.run = count_run, .machine_link = {&runs}};

    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_int_eq(orr_machine_kernel_start(machine, &kernel), 1);
    ck_assert_int_eq(runs, 1);
    ck_assert_double_ge(kernel.end, kernel.start);
    machine->ops->close(machine);
}
END_TEST

/* Data that come and go while main memory is limited: the process must not grow with
 * each of them. What posix_memalign gives and takes back is a little too short for the
 * next block. */
START_TEST(blocks_that_come_and_go_take_no_more_than_was_there_at_once)
{
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 33)
    SKIP_TEST("this C library does not tell what its heap takes");
#else
    enum { NBLOCKS = 16, BYTES = 1 << 20, NSMALL = 512 };
    struct orr_memories memories = {0};
    uintptr_t blocks[NBLOCKS] = {0};
    void *small[NSMALL];
    uint64_t random = 1;
    size_t before = mallinfo2().arena + mallinfo2().hblkhd, now;

    for (unsigned i = 0; i < NSMALL * 4; i++) {
        uintptr_t *block = &blocks[orr_splitmix(&random) % NBLOCKS];

        orr_memories_free(&memories, *block);
        ck_assert_int_eq(orr_memories_alloc(&memories, 0, BYTES, block), 0);
        if (i % 4 == 0)
            small[i / 4] = malloc(48 + orr_splitmix(&random) % 64);
    }
    now = mallinfo2().arena + mallinfo2().hblkhd;
    ck_assert_uint_le(now - before, (size_t)(NBLOCKS + 4) * BYTES);
    for (unsigned b = 0; b < NBLOCKS; b++)
        orr_memories_free(&memories, blocks[b]);
    for (unsigned s = 0; s < NSMALL; s++)
        free(small[s]);
#endif
}
END_TEST

START_TEST(memory_is_aligned_and_writable)
{
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    uintptr_t address;

    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_int_eq(orr_machine_alloc(machine, 0, 1000, &address), 0);
    ck_assert_uint_eq(address % 64, 0);
    memset((void *)address, 1, 1000);
    orr_machine_free(machine, 0, address, 1000);
    machine->ops->close(machine);
}
END_TEST

static unsigned pins_of(const struct orr_machine *machine)
{
    const struct loopback *loopback =
        (const struct loopback *)machine->nodes[2].driver;
    unsigned n = 0;

    for (const struct loopback_pin *pin = loopback->pins.first; pin;
         pin = pin->next)
        n++;
    return n;
}

/* Allocates and frees on that node; how many pins the block has. */
static unsigned pins_of_a_block(struct orr_machine *machine, unsigned node,
                                size_t size)
{
    uintptr_t address;
    unsigned n;

    ck_assert_int_eq(orr_machine_alloc_pinned(machine, node, size, &address),
                     0);
    memset((void *)address, 1, size);
    n = pins_of(machine);
    orr_machine_free_any(machine, node, address, size);
    ck_assert_uint_eq(pins_of(machine), 0);
    return n;
}

/* Large blocks have pages of their own. What an application has may outlive the
 * machine, and is the driver's. */
START_TEST(blocks_on_several_nodes_are_pinned_there)
{
    struct orr_pinned pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct orr_machine_options options = all();
    struct orr_machine *machine;
    char drivers[PATH_MAX + 200];
    uintptr_t ours;

    setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
    options.numa = true;
    loopback_drivers("1", drivers, sizeof(drivers));
    options.drivers = drivers;
    options.pinned = &pinned;
    ck_assert_int_eq(orr_real_machine_open(&options, &machine, &err), 0);
    ck_assert_uint_eq(machine->nnodes, 3);
    for (unsigned node = 0; node < 2; node++) {
        ck_assert_uint_eq(pins_of_a_block(machine, node, 1 << 20), 1);
        ck_assert_uint_eq(pins_of_a_block(machine, node, 1000), 0);
    }
    ck_assert_int_eq(orr_pinned_alloc(machine, 0, 1000, 1, &ours), 0);
    ck_assert_uint_eq(pins_of(machine), 1);
    machine->ops->close(machine);
    memset((void *)ours, 1, 1000);
    ck_assert(orr_pinned_free(&pinned, ours));
    unsetenv("HWLOC_SYNTHETIC");
}
END_TEST

/* What needs hwloc, mostly machines that it makes up. */
static TCase *synthetic_cases(void)
{
    TCase *tc = tcase_create("synthetic");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, blocks_on_several_nodes_are_pinned_there);
    tcase_add_test(tc, cores_come_before_their_second_processors);
    tcase_add_test(tc, packages_are_filled_in_order);
    tcase_add_loop_test(tc, lists_and_ranges_are_taken_as_written, 0,
                        (int)(sizeof(lists) / sizeof(lists[0])));
    tcase_add_loop_test(tc, broken_lists_are_refused_with_a_message, 0,
                        (int)(sizeof(broken) / sizeof(broken[0])));
    tcase_add_test(tc, an_impossible_synthetic_machine_is_refused);
    tcase_add_test(tc, cores_are_listed_by_their_first_processor);
    tcase_add_test(tc, a_core_that_is_not_there_is_refused);
    tcase_add_test(tc, several_workers_share_a_core_if_requested);
    tcase_add_test(tc, a_core_that_is_someone_elses_is_avoided);
    tcase_add_test(tc, the_only_core_cannot_be_avoided);
    tcase_add_test(tc, processors_know_their_numa_node);
    tcase_add_test(tc, a_topology_is_read_from_a_file);
    tcase_add_test(tc, a_core_is_left_to_main);
    tcase_add_loop_test(tc, workers_know_who_is_near, 0,
                        sizeof(neighbourhoods) / sizeof(*neighbourhoods));
    tcase_add_test(tc, workers_that_are_not_bound_have_no_neighbours);
    tcase_add_test(tc, the_inherited_affinity_may_be_ignored);
    tcase_add_test(tc, a_file_that_is_not_there_is_refused);
    tcase_add_test(tc, blocks_lie_on_nodes_whatever_their_size);
    return tc;
}

static TCase *here(void)
{
    TCase *tc = tcase_create("here");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, this_machine_has_only_processors_that_we_may_use);
    tcase_add_test(tc, an_inherited_affinity_is_respected);
    tcase_add_loop_test(tc, lists_hold_within_a_mask, 0,
                        sizeof(lists_in_a_mask) / sizeof(*lists_in_a_mask));
    tcase_add_loop_test(tc, what_a_mask_forbids_is_refused, 0,
                        sizeof(lists_beyond_a_mask) /
                            sizeof(*lists_beyond_a_mask));
    tcase_add_test(tc, main_and_bindids_are_numbered_by_the_machine);
    tcase_add_test(tc, the_kernel_names_the_same_processors);
    tcase_add_test(tc, main_is_bound_while_the_machine_is_open);
    tcase_add_test(tc, a_processor_for_main_that_is_not_there_is_refused);
    tcase_add_test(tc, there_are_as_many_workers_as_requested);
    tcase_add_test(tc, by_default_there_is_a_worker_per_core);
    tcase_add_test(tc, no_worker_is_an_error_with_a_message);
    tcase_add_test(tc, all_processors_reserved_is_an_error);
    tcase_add_test(tc, the_host_name_has_no_domain_unless_it_was_given);
    tcase_add_test(tc, a_kernel_is_run_and_timed);
    tcase_add_test(tc,
                   blocks_that_come_and_go_take_no_more_than_was_there_at_once);
    tcase_add_test(tc, memory_is_aligned_and_writable);
    return tc;
}

static Suite *topology_suite(void)
{
    Suite *suite = suite_create("cpu-topology");

    if (orr_cpus_find("core:1 pu:1", &cpus, &err) == 0)
        suite_add_tcase(suite, synthetic_cases());
    else
        printf("# skipped: machines that hwloc makes up: %s\n", err.text);
    orr_cpus_done(&cpus);
    suite_add_tcase(suite, here());
    return suite;
}

SUITE_MAIN(cpu_topology)
{
    return suite_main(topology_suite());
}
