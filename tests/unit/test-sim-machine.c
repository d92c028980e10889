/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sim-machine.c - the simulated machine: workers and nodes of
 * a description, exact dates of transfers and kernels, which transfers wait
 * for which, costs of memory.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/device/open.h"
#include "sim/machine.h"
#include "tests/suite.h"
#include "tests/unit/sim-machine.h"

static struct orr_machine *machine;
static struct orr_exec *exec;

static void open_spec(const struct sim_spec *spec)
{
    machine = sim_machine_open(spec);
    exec = machine->exec;
}

static void teardown(void)
{
    if (machine)
        machine->ops->close(machine);
    machine = NULL;
}

/* -- copies --------------------------------------------------------------- */

enum { MIB = 1000000 }; /* bytes that take 1000 µs at 1e9 bytes/s */

struct test_copy {
    struct orr_copy copy; /* first */
    double end;
    unsigned performed;
    struct orr_context *waiter;
    struct test_copy *then; /* started by done */
};

static int note_perform(struct orr_copy *copy, struct orr_async *async)
{
    (void)async;
    ((struct test_copy *)copy)->performed++;
    return 0;
}

static void note_end(struct orr_copy *copy)
{
    struct test_copy *t = (struct test_copy *)copy;

    ck_assert(isnan(t->end));
    t->end = exec->ops->now(exec);
    if (t->then)
        orr_machine_copy_start(machine, &t->then->copy);
    if (t->waiter)
        exec->ops->wake(exec, t->waiter);
}

static void init_copy(struct test_copy *t, unsigned src, unsigned dst,
                      size_t size)
{
    *t = (struct test_copy){
        .copy = {.src = src,
                 .dst = dst,
                 .size = size,
                 .perform = note_perform,
                 .done = note_end},
        .end = NAN,
        .waiter = orr_self,
    };
}

static void start(struct test_copy *t, unsigned src, unsigned dst, size_t size)
{
    init_copy(t, src, dst, size);
    orr_machine_copy_start(machine, &t->copy);
}

static void wait_for(struct test_copy *t)
{
    while (isnan(t->end))
        exec->ops->park(exec, ORR_FOREVER);
}

static void assert_date(double found, double expected)
{
    ck_assert_msg(fabs(found - expected) < 2e-3, "at %.6f µs instead of %.6f",
                  found, expected);
}

START_TEST(a_copy_takes_latency_plus_size_over_bandwidth)
{
    struct test_copy t;

    open_spec(
        &(struct sim_spec){.ncuda = 1, .bandwidth = 5e9, .latency = 1e-5});
    exec->ops->sleep(exec, 123.25);
    start(&t, 0, 1, 20 * MIB);
    ck_assert(isnan(t.end)); /* starting never switches */
    wait_for(&t);
    assert_date(t.end, 123.25 + 10 + 4000);
    ck_assert_uint_eq(t.performed, 0);
}
END_TEST

START_TEST(a_copy_without_latency_and_of_one_byte_end_too)
{
    struct test_copy t;

    open_spec(&(struct sim_spec){.ncuda = 1});
    start(&t, 0, 1, 5 * MIB);
    wait_for(&t);
    assert_date(t.end, 5000);
    start(&t, 1, 0, 1);
    wait_for(&t);
    assert_date(t.end, 5000.001);
}
END_TEST

START_TEST(copies_start_exactly_when_requested)
{
    struct test_copy t[2];

    open_spec(&(struct sim_spec){.ncuda = 2, .latency = 2e-5});
    start(&t[0], 0, 1, 10 * MIB);
    exec->ops->sleep(exec, 777.125);
    start(&t[1], 0, 2, MIB);
    wait_for(&t[1]);
    assert_date(t[1].end, 777.125 + 20 + 1000);
    wait_for(&t[0]);
    assert_date(t[0].end, 20 + 10000);
}
END_TEST

START_TEST(a_shared_bus_is_shared_and_given_back)
{
    struct test_copy t[2];

    /* Alone, each would run at its link's 1e9; the bus gives 1e9 to both. */
    open_spec(&(struct sim_spec){.ncuda = 2, .bus = 1e9});
    start(&t[0], 0, 1, 10 * MIB);
    start(&t[1], 0, 2, 4 * MIB);
    wait_for(&t[1]);
    assert_date(t[1].end, 8000); /* half the bus */
    wait_for(&t[0]);
    assert_date(t[0].end, 14000); /* 4 of 10 done at 8000, then alone */
}
END_TEST

START_TEST(a_third_copy_in_the_middle_changes_the_others_ends)
{
    struct test_copy t[3];

    open_spec(&(struct sim_spec){.ncuda = 3, .bus = 1e9});
    start(&t[0], 0, 1, 6 * MIB);
    exec->ops->sleep(exec, 2000); /* 2 of 6 done */
    start(&t[1], 0, 2, 1 * MIB);
    start(&t[2], 0, 3, 1 * MIB);
    wait_for(&t[1]); /* thirds: 1 takes 3000 */
    assert_date(t[1].end, 5000);
    wait_for(&t[2]);
    assert_date(t[2].end, 5000);
    wait_for(&t[0]); /* 3 of 6 done at 5000 */
    assert_date(t[0].end, 8000);
}
END_TEST

START_TEST(both_directions_of_a_device_overlap)
{
    struct test_copy t[2];

    open_spec(&(struct sim_spec){.ncuda = 1});
    start(&t[0], 0, 1, 3 * MIB);
    start(&t[1], 1, 0, 3 * MIB);
    wait_for(&t[0]);
    wait_for(&t[1]);
    assert_date(t[0].end, 3000);
    assert_date(t[1].end, 3000);
}
END_TEST

/* A list of copies handed over at date 0, all of 1000 µs, and when they end if
 * the conflict rules are kept. */
struct step {
    unsigned src, dst;
    double end;
};

struct scene {
    const char *what;
    struct step steps[6];
    unsigned n;
};

static const struct scene scenes[] = {
    {"one after the other per pair, in order",
     {{0, 1, 1000}, {0, 1, 2000}, {1, 0, 1000}, {1, 0, 2000}, {0, 1, 3000}},
     5},
    {"main memory serves devices side by side",
     {{0, 1, 1000}, {0, 2, 1000}, {0, 3, 1000}, {3, 0, 1000}, {2, 0, 1000}},
     5},
    {"the exact reverse of a peer copy waits", {{1, 2, 1000}, {2, 1, 2000}}, 2},
    {"a peer copy waits for what arrives at its destination",
     {{0, 2, 1000}, {1, 2, 2000}},
     2},
    {"a peer copy waits for what arrives at its source",
     {{0, 1, 1000}, {1, 2, 2000}},
     2},
    {"what arrives where a peer copy starts waits",
     {{1, 2, 1000}, {0, 1, 2000}},
     2},
    {"what arrives where a peer copy arrives waits",
     {{1, 2, 1000}, {0, 2, 2000}, {3, 2, 3000}},
     3},
    {"copies to main memory pass peer copies",
     {{1, 2, 1000}, {1, 0, 1000}, {2, 0, 1000}},
     3},
    {"peer copies from one device overlap", {{1, 2, 1000}, {1, 3, 1000}}, 2},
    {"a queued copy counts as much as a running one",
     /* 0>1, then 1>2 queued behind it, then 0>2 behind that. */
     {{0, 1, 1000}, {1, 2, 2000}, {0, 2, 3000}, {0, 3, 1000}},
     4},
    {"readers of a device overlap, the next arrival waits for all",
     {{1, 2, 1000}, {1, 3, 1000}, {0, 1, 2000}, {1, 2, 3000}, {0, 3, 2000}},
     5},
};

START_TEST(copies_wait_for_those_they_conflict_with)
{
    const struct scene *scene = &scenes[_i];
    struct test_copy t[6];

    open_spec(&(struct sim_spec){.ncuda = 3, .peer = true});
    for (unsigned i = 0; i < scene->n; i++)
        start(&t[i], scene->steps[i].src, scene->steps[i].dst, MIB);
    for (unsigned i = 0; i < scene->n; i++) {
        wait_for(&t[i]);
        ck_assert_msg(fabs(t[i].end - scene->steps[i].end) < 2e-3,
                      "%s: copy %u ends at %.3f, not %.3f", scene->what, i,
                      t[i].end, scene->steps[i].end);
    }
}
END_TEST

/* Random copies against the rules written as documented: each waits for all
 * earlier ones that it conflicts with. */
static bool conflict(const struct orr_copy *old, const struct orr_copy *new)
{
    bool old_peer = old->src && old->dst, new_peer = new->src &&new->dst;

    if (old->src == new->src && old->dst == new->dst)
        return true;
    if (new_peer && old->src == new->dst && old->dst == new->src)
        return true;
    if (new_peer && (old->dst == new->src || old->dst == new->dst))
        return true;
    return old_peer && (new->dst == old->src || new->dst == old->dst);
}

START_TEST(random_copies_follow_the_rules)
{
    enum { N = 300, NODES = 5 };
    static struct test_copy t[N];
    static double expected[N];
    unsigned seed = (unsigned)_i * 7919 + 1;

    open_spec(&(struct sim_spec){.ncuda = NODES - 1, .peer = true});
    for (unsigned i = 0; i < N; i++) {
        unsigned src, dst;
        double begin = 0;

        seed = seed * 1103515245 + 12345;
        src = (seed >> 16) % NODES;
        dst = (src + 1 + (seed >> 20) % (NODES - 1)) % NODES;
        start(&t[i], src, dst, (1 + (seed >> 24) % 4) * MIB);
        for (unsigned k = 0; k < i; k++)
            if (conflict(&t[k].copy, &t[i].copy))
                begin = fmax(begin, expected[k]);
        expected[i] = begin + (double)t[i].copy.size / 1000;
    }
    for (unsigned i = 0; i < N; i++) {
        wait_for(&t[i]);
        assert_date(t[i].end, expected[i]);
    }
}
END_TEST

START_TEST(handing_over_is_paid_by_the_caller_or_delays)
{
    struct test_copy first, second;

    open_spec(&(struct sim_spec){.ncuda = 1, .costs = true});
    init_copy(&second, 1, 0, MIB);
    init_copy(&first, 0, 1, MIB);
    first.then = &second;
    orr_self->debt = 0;
    orr_machine_copy_start(machine, &first.copy);
    ck_assert_double_eq(orr_self->debt, 10);
    wait_for(&second);
    assert_date(first.end, 1000);
    assert_date(second.end, 1000 + 10 + 1000);
    ck_assert_double_eq(orr_self->debt, 10);
}
END_TEST

START_TEST(transfers_may_cost_nothing)
{
    struct test_copy t[2];

    setenv("STARPU_SIMGRID_TRANSFER_COST", "0", 1);
    open_spec(&(struct sim_spec){.ncuda = 1, .latency = 1});
    start(&t[0], 0, 1, 50 * MIB);
    start(&t[1], 0, 1, 50 * MIB);
    ck_assert(isnan(t[0].end));
    wait_for(&t[1]);
    assert_date(t[0].end, 0);
    assert_date(t[1].end, 0);
    unsetenv("STARPU_SIMGRID_TRANSFER_COST");
}
END_TEST

START_TEST(bytes_move_when_kernels_run)
{
    struct orr_machine_desc *desc =
        sim_desc_new(&(struct sim_spec){.ncuda = 1});
    struct orr_machine_options options = sim_options();
    struct test_copy t;
    uintptr_t address;

    options.run_kernels = true;
    ck_assert_int_eq(orr_sim_open_desc(desc, &options, &machine, NULL), 0);
    sim_desc_free(desc);
    exec = machine->exec;
    start(&t, 0, 1, MIB);
    ck_assert_uint_eq(t.performed, 0);
    wait_for(&t);
    ck_assert_uint_eq(t.performed, 1);
    ck_assert_int_eq(orr_machine_alloc(machine, 1, 100, &address), 0);
    memset((void *)address, 1, 100);
    orr_machine_free(machine, 1, address, 100);
    ck_assert_int_eq(orr_machine_alloc(machine, 1, 8 << 20, &address), 0);
    memset((void *)address, 1, 8 << 20);
    orr_machine_free(machine, 1, address, 8 << 20);
}
END_TEST

START_TEST(a_machine_may_be_closed_with_copies_under_way)
{
    static struct test_copy t[3];

    open_spec(&(struct sim_spec){.ncuda = 2, .latency = 1e-3});
    start(&t[0], 0, 1, 50 * MIB);
    start(&t[1], 0, 1, 50 * MIB);
    exec->ops->sleep(exec, 100);
    start(&t[2], 0, 2, 50 * MIB);
    teardown();
    ck_assert(isnan(t[0].end));
}
END_TEST

static unsigned first_worker(enum starpu_worker_archtype type)
{
    unsigned i = 0;

    while (i < machine->nworkers && machine->workers[i].type != type)
        i++;
    ck_assert_uint_lt(i, machine->nworkers);
    return i;
}

/* -- kernels -------------------------------------------------------------- */

struct test_kernel {
    struct orr_kernel kernel; /* first */
    double end;
    int runs;
    struct orr_context *waiter;
};

static void note_run(struct orr_kernel *kernel)
{
    ck_assert_uint_gt(orr_self->frozen, 0);
    ((struct test_kernel *)kernel)->runs++;
}

static void note_kernel_end(struct orr_kernel *kernel)
{
    struct test_kernel *t = (struct test_kernel *)kernel;

    ck_assert(isnan(t->end));
    ck_assert_uint_gt(orr_self->frozen, 0);
    t->end = exec->ops->now(exec);
    exec->ops->wake(exec, t->waiter);
}

static struct test_kernel make_kernel(unsigned worker, bool async, double us)
{
    return (struct test_kernel){
        .kernel = {.worker = worker,
                   .async = async,
                   .duration = us,
                   .run = note_run,
                   .done = note_kernel_end},
        .end = NAN,
        .waiter = orr_self,
    };
}

START_TEST(a_synchronous_kernel_takes_the_workers_time)
{
    struct test_kernel k;

    open_spec(&(struct sim_spec){.ncuda = 1});
    k = make_kernel(first_worker(STARPU_CPU_WORKER), false, 250);
    exec->ops->sleep(exec, 100);
    ck_assert_int_eq(orr_machine_kernel_start(machine, &k.kernel), 1);
    ck_assert_double_eq(exec->ops->now(exec), 350);
    ck_assert_double_eq(k.kernel.start, 100);
    ck_assert_double_eq(k.kernel.end, 350);
    ck_assert_int_eq(k.runs, 0);
    ck_assert(isnan(k.end));
}
END_TEST

START_TEST(asynchronous_kernels_of_a_worker_follow_each_other)
{
    struct test_kernel k[4];
    unsigned gpu;

    open_spec(&(struct sim_spec){.ncuda = 2});
    gpu = first_worker(STARPU_CUDA_WORKER);
    k[0] = make_kernel(gpu, true, 100);
    k[1] = make_kernel(gpu, true, 50);
    k[2] = make_kernel(gpu + 1, true, 120);
    k[3] = make_kernel(gpu, true, 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(orr_machine_kernel_start(machine, &k[i].kernel), 0);
    ck_assert_double_eq(exec->ops->now(exec), 0);
    while (isnan(k[3].end))
        exec->ops->park(exec, ORR_FOREVER);
    ck_assert_double_eq(k[0].end, 100);
    ck_assert_double_eq(k[1].end, 150);
    ck_assert_double_eq(k[1].kernel.start, 100);
    ck_assert_double_eq(k[2].end, 120);
    ck_assert_double_eq(k[3].end, 150);
}
END_TEST

START_TEST(durations_have_the_speed_in_them_and_async_needs_a_device)
{
    struct test_kernel k;
    unsigned cpu;

    open_spec(&(struct sim_spec){.ncuda = 1});
    cpu = first_worker(STARPU_CPU_WORKER);
    k = make_kernel(cpu, true, 100);
    machine->workers[cpu].speed = 4;
    ck_assert_int_eq(orr_machine_kernel_start(machine, &k.kernel), 1);
    ck_assert_double_eq(exec->ops->now(exec), 100);
}
END_TEST

START_TEST(kernels_run_once_and_frozen_when_requested)
{
    struct test_kernel k;

    open_spec(&(struct sim_spec){.ncuda = 1});
    machine->runs_kernels = true;
    k = make_kernel(first_worker(STARPU_CUDA_WORKER), true, 100);
    ck_assert_int_eq(orr_machine_kernel_start(machine, &k.kernel), 0);
    ck_assert_int_eq(k.runs, 1);
    ck_assert_uint_eq(orr_self->frozen, 0);
    while (isnan(k.end))
        exec->ops->park(exec, ORR_FOREVER);
    ck_assert_int_eq(k.runs, 1);
}
END_TEST

/* -- memory --------------------------------------------------------------- */

static double debt_of_alloc(unsigned node, size_t size, uintptr_t *ret)
{
    orr_self->debt = 0;
    ck_assert_int_eq(orr_machine_alloc(machine, node, size, ret), 0);
    return orr_self->debt;
}

static double debt_of_free(unsigned node, uintptr_t address, size_t size)
{
    orr_self->debt = 0;
    orr_machine_free(machine, node, address, size);
    return orr_self->debt;
}

START_TEST(only_large_blocks_and_chunks_reach_the_driver)
{
    uintptr_t a, b, large;

    open_spec(&(struct sim_spec){.ncuda = 1, .costs = true});
    ck_assert_double_eq(debt_of_alloc(1, 7200000, &large), 175);
    ck_assert_double_eq(debt_of_alloc(1, 100, &a), 175); /* a chunk */
    ck_assert_double_eq(debt_of_alloc(1, 4 << 20, &b), 0);
    ck_assert(b >= a + 16384 || a >= b + (4 << 20));
    ck_assert_double_eq(debt_of_free(1, a, 100), 0);
    ck_assert_double_eq(debt_of_free(1, b, 4 << 20), 0);
    ck_assert_double_eq(debt_of_free(1, large, 7200000), 750);
}
END_TEST

START_TEST(a_chunk_holds_eight_blocks_of_4_mib_and_four_free_ones_are_kept)
{
    enum { N = 56 }; /* 7 chunks */
    uintptr_t blocks[N];
    double debt = 0;

    open_spec(&(struct sim_spec){.ncuda = 1, .costs = true});
    for (int i = 0; i < N; i++)
        ck_assert_double_eq(debt_of_alloc(1, 4 << 20, &blocks[i]),
                            i % 8 == 0 ? 175 : 0);
    for (int i = 0; i < N; i++)
        debt += debt_of_free(1, blocks[i], 4 << 20);
    ck_assert_double_eq(debt, 3 * 750);
    ck_assert_double_eq(debt_of_alloc(1, 4 << 20, &blocks[0]), 0);
}
END_TEST

START_TEST(blocks_never_overlap)
{
    enum { N = 400, UNIT = 16384 };
    static uintptr_t address[N];
    static size_t size[N];
    unsigned seed = 5, node = (unsigned)_i;

    open_spec(&(struct sim_spec){.ncuda = 1});
    for (int round = 0; round < 4000; round++) {
        int i;

        seed = seed * 1103515245 + 12345;
        i = (int)(seed >> 16) % N;
        if (address[i]) {
            orr_machine_free(machine, node, address[i], size[i]);
            address[i] = 0;
            continue;
        }
        size[i] = 1 + (seed >> 8) % (5 << 20);
        ck_assert_int_eq(orr_machine_alloc(machine, node, size[i], &address[i]),
                         0);
        for (int k = 0; k < N; k++)
            if (k != i && address[k])
                ck_assert(address[k] >= address[i] + size[i] ||
                          address[i] >= address[k] + size[k]);
    }
}
END_TEST

static long pages_touched(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* Thousands of ranks have such blocks; pages of what is small lie together then. */
START_TEST(main_memory_that_nobody_fills_takes_nothing)
{
    enum { N = 800 };
    static uintptr_t blocks[N];
    long before;

    open_spec(&(struct sim_spec){.ncuda = 1});
    before = pages_touched();
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(orr_machine_alloc(machine, 0, i % 2 ? 3 << 20 : 6 << 20, &blocks[i]), 0);
    ck_assert_int_lt(pages_touched() - before, N / 4);
    memset((void *)blocks[N - 1], 1, 3 << 20);
    for (int i = 0; i < N; i++)
        orr_machine_free(machine, 0, blocks[i], i % 2 ? 3 << 20 : 6 << 20);
}
END_TEST

START_TEST(what_the_application_has_of_main_memory_outlives_the_machine)
{
    uintptr_t kept;

    open_spec(&(struct sim_spec){.ncuda = 1});
    ck_assert_int_eq(orr_machine_alloc(machine, 0, 1 << 20, &kept), 0);
    teardown();
    memset((void *)kept, 1, 1 << 20);
    munmap((void *)kept, 32 << 20);
    open_spec(&(struct sim_spec){.ncuda = 1});
}
END_TEST

START_TEST(pinned_main_memory_costs_by_the_mib_if_cuda_is_there)
{
    uintptr_t a;

    open_spec(&(struct sim_spec){.ncuda = 1, .costs = true});
    ck_assert_double_eq(debt_of_alloc(0, 2 << 20, &a), 1300);
    memset((void *)a, 1, 2 << 20);
    ck_assert_double_eq(debt_of_free(0, a, 2 << 20), 0);
    teardown();
    open_spec(&(struct sim_spec){.costs = true});
    ck_assert_double_eq(debt_of_alloc(0, 2 << 20, &a), 0);
    orr_machine_free(machine, 0, a, 2 << 20);
}
END_TEST

START_TEST(costs_are_switched_by_variables)
{
    struct orr_machine_desc *desc;
    struct orr_machine_options options = sim_options();
    struct orr_error err = {.text = ""};

    setenv("STARPU_SIMGRID_TASK_SUBMIT_COST", "0", 1);
    setenv("STARPU_SIMGRID_CUDA_MALLOC_COST", "0", 1);
    open_spec(&(struct sim_spec){.ncuda = 1, .costs = true});
    ck_assert_double_eq(machine->costs.submit, 0);
    ck_assert_double_eq(machine->costs.push, 1);
    ck_assert_double_eq(machine->costs.fetch, 1);
    ck_assert_double_eq(machine->costs.device_alloc, 0);
    ck_assert_double_eq(machine->costs.device_free, 0);
    ck_assert_double_eq(machine->costs.pinned_alloc_per_mib, 0);
    ck_assert_double_eq(machine->costs.kernel_queue, 10);
    teardown();
    setenv("STARPU_SIMGRID_CUDA_QUEUE_COST", "few", 1);
    desc = sim_desc_new(&(struct sim_spec){.ncuda = 1});
    ck_assert_int_eq(orr_sim_open_desc(desc, &options, &machine, &err),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_SIMGRID_CUDA_QUEUE_COST"));
    sim_desc_free(desc);
    unsetenv("STARPU_SIMGRID_CUDA_QUEUE_COST");
    unsetenv("STARPU_SIMGRID_TASK_SUBMIT_COST");
    unsetenv("STARPU_SIMGRID_CUDA_MALLOC_COST");
}
END_TEST

/* -- descriptions --------------------------------------------------------- */

START_TEST(workers_and_nodes_are_those_of_the_description)
{
    unsigned cpu, gpu;

    open_spec(&(struct sim_spec){.ncpu = 12, .ncuda = 3, .peer = true});
    ck_assert_uint_eq(machine->nworkers, 12);
    ck_assert_uint_eq(machine->nnodes, 4);
    gpu = first_worker(STARPU_CUDA_WORKER);
    cpu = first_worker(STARPU_CPU_WORKER);
    ck_assert_str_eq(machine->workers[cpu].name, "CPU 0");
    ck_assert_str_eq(machine->workers[cpu + 8].name, "CPU 8");
    ck_assert_str_eq(machine->workers[gpu].name, "CUDA 0.0 (Toy GPU 3.6 GiB)");
    ck_assert_uint_eq(machine->workers[gpu + 2].node, 3);
    ck_assert(machine->workers[gpu].async && !machine->workers[cpu].async);
    ck_assert_str_eq(machine->nodes[0].name, "NUMA 0");
    ck_assert_str_eq(machine->nodes[2].name, "CUDA 1");
    ck_assert_uint_eq(machine->nodes[1].capacity, (size_t)3686 << 20);
    for (int i = 0; i < 16; i++)
        ck_assert(machine->direct[i] == (i / 4 != i % 4));
    ck_assert(isnan(machine->bandwidth[1]));
}
END_TEST

START_TEST(without_peer_copies_devices_meet_in_main_memory)
{
    open_spec(&(struct sim_spec){.ncuda = 2});
    ck_assert(machine->direct[0 * 3 + 1] && machine->direct[2 * 3 + 0]);
    ck_assert(!machine->direct[1 * 3 + 2] && !machine->direct[2 * 3 + 1]);
}
END_TEST

static int open_with(const struct orr_machine_options *options,
                     const struct sim_spec *spec, struct orr_error *err)
{
    struct orr_machine_desc *desc = sim_desc_new(spec);
    int ret = orr_sim_open_desc(desc, options, &machine, err);

    sim_desc_free(desc);
    return ret;
}

START_TEST(workers_are_limited_as_requested)
{
    struct orr_machine_options options = sim_options();
    struct sim_spec spec = {.ncpu = 6, .ncuda = 2};

    options.ncuda = 1;
    options.ncpu = 2;
    ck_assert_int_eq(open_with(&options, &spec, NULL), 0);
    ck_assert_uint_eq(machine->nworkers, 3);
    teardown();
    options.ncpu = -1;
    options.reserve_ncpu = 2;
    ck_assert_int_eq(open_with(&options, &spec, NULL), 0);
    ck_assert_uint_eq(machine->nworkers, 3 + 1);
    teardown();
    options.ncpu = 0;
    options.ncuda = 0;
    {
        struct orr_error err = {.text = ""};

        ck_assert_int_eq(open_with(&options, &spec, &err), -ENODEV);
        ck_assert_ptr_nonnull(strstr(err.text, "no worker"));
    }
    ck_assert_ptr_null(machine);
}
END_TEST

static void place_cpu(struct orr_machine_desc *desc, unsigned cpu,
                      const char *id, const char *value)
{
    char name[16];
    struct orr_host_desc *host;

    snprintf(name, sizeof(name), "CPU%u", cpu);
    host = &desc->hosts[orr_machine_desc_host(desc, name)];
    host->props =
        realloc(host->props, (host->nprops + 1) * sizeof(*host->props));
    host->props[host->nprops++] =
        (struct orr_prop_desc){strdup(id), strdup(value)};
}

/* Workers as worker `w` looks at them; devices, which drive none, are last. */
static void assert_order(unsigned w, const unsigned *wanted, unsigned n)
{
    ck_assert_ptr_nonnull(machine->neighbours);
    for (unsigned i = 0; i < n; i++)
        ck_assert_msg(machine->neighbours[w * machine->nworkers + i] ==
                          wanted[i],
                      "worker %u, place %u: %u", w, i,
                      machine->neighbours[w * machine->nworkers + i]);
}

START_TEST(a_description_that_places_cpus_says_who_is_near)
{
    /* Packages 0 0 0 1 1, caches 0 1 0 2 2. */
    static const char *const package[] = {"0", "0", "0", "1", "1"};
    static const char *const l3[] = {"0", "1", "0", "2", "2"};
    struct orr_machine_options options = sim_options();
    struct sim_spec spec = {.ncpu = 6, .ncuda = 1};
    struct orr_machine_desc *desc = sim_desc_new(&spec);

    for (unsigned i = 0; i < 5; i++) {
        place_cpu(desc, i, "package", package[i]);
        place_cpu(desc, i, "l3", l3[i]);
    }
    ck_assert_int_eq(orr_sim_open_desc(desc, &options, &machine, NULL), 0);
    ck_assert_uint_eq(machine->nworkers, 6);
    ck_assert_int_eq(machine->workers[0].type, STARPU_CPU_WORKER);
    assert_order(0, (unsigned[]){0, 2, 1, 3, 4, 5}, 6);
    assert_order(1, (unsigned[]){1, 2, 0, 3, 4, 5}, 6);
    assert_order(4, (unsigned[]){4, 3, 0, 1, 2, 5}, 6);
    teardown();

    /* Of a device alone nothing is to be said. */
    options.ncpu = 1;
    ck_assert_int_eq(orr_sim_open_desc(desc, &options, &machine, NULL), 0);
    ck_assert_ptr_null(machine->neighbours);
    teardown();
    sim_desc_free(desc);

    /* Nor of CPUs of which the description says nothing. */
    open_spec(&(struct sim_spec){.ncpu = 6});
    ck_assert_ptr_null(machine->neighbours);
}
END_TEST

START_TEST(a_missing_route_is_named)
{
    struct orr_machine_desc *desc =
        sim_desc_new(&(struct sim_spec){.ncuda = 1});
    struct orr_machine_options options = sim_options();
    struct orr_error err = {.text = ""};

    free(desc->routes[--desc->nroutes].hops);
    ck_assert_int_eq(orr_sim_open_desc(desc, &options, &machine, &err),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "no route from \"CUDA0\""));
    sim_desc_free(desc);
    ck_assert_ptr_null(machine);
    ck_assert_ptr_null(orr_self);
}
END_TEST

START_TEST(platform_options_are_checked)
{
    static const struct {
        const char *id, *value;
        int ret;
    } cases[] = {
        {"network/crosstraffic", "no", 0},
        {"network/TCP_gamma", "-1", 0},
        {"network/latency-factor", "2", 0},
        {"plugin", "anything", 0}, /* not ours, left alone */
        {"network/weight-S", "heavy", -EINVAL},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct orr_machine_desc *desc =
            sim_desc_new(&(struct sim_spec){.ncuda = 1, .latency = 1e-4});
        struct orr_machine_options options = sim_options();
        char id[64], value[64];
        struct orr_prop_desc prop = {id, value};
        struct orr_error err = {.text = ""};
        struct test_copy t;

        snprintf(id, sizeof(id), "%s", cases[i].id);
        snprintf(value, sizeof(value), "%s", cases[i].value);
        desc->config = &prop;
        desc->nconfig = 1;
        ck_assert_int_eq(orr_sim_open_desc(desc, &options, &machine, &err),
                         cases[i].ret);
        sim_desc_free(desc);
        if (cases[i].ret < 0) {
            ck_assert_ptr_nonnull(strstr(err.text, cases[i].id));
            continue;
        }
        exec = machine->exec;
        start(&t, 0, 1, MIB);
        wait_for(&t);
        /* An option holds for its machine only, not for the next. */
        assert_date(t.end, strstr(id, "latency") ? 1200 : 1100);
        teardown();
    }
}
END_TEST

static TCase *copies_case(void)
{
    TCase *tc = tcase_create("copies");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_copy_takes_latency_plus_size_over_bandwidth);
    tcase_add_test(tc, a_copy_without_latency_and_of_one_byte_end_too);
    tcase_add_test(tc, copies_start_exactly_when_requested);
    tcase_add_test(tc, a_shared_bus_is_shared_and_given_back);
    tcase_add_test(tc, a_third_copy_in_the_middle_changes_the_others_ends);
    tcase_add_test(tc, both_directions_of_a_device_overlap);
    tcase_add_loop_test(tc, copies_wait_for_those_they_conflict_with, 0,
                        (int)(sizeof(scenes) / sizeof(scenes[0])));
    tcase_add_loop_test(tc, random_copies_follow_the_rules, 0, 8);
    tcase_add_test(tc, handing_over_is_paid_by_the_caller_or_delays);
    tcase_add_test(tc, transfers_may_cost_nothing);
    tcase_add_test(tc, bytes_move_when_kernels_run);
    tcase_add_test(tc, a_machine_may_be_closed_with_copies_under_way);
    return tc;
}

static TCase *rest_case(void)
{
    TCase *tc = tcase_create("kernels, memory, descriptions");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_synchronous_kernel_takes_the_workers_time);
    tcase_add_test(tc, asynchronous_kernels_of_a_worker_follow_each_other);
    tcase_add_test(tc,
                   durations_have_the_speed_in_them_and_async_needs_a_device);
    tcase_add_test(tc, kernels_run_once_and_frozen_when_requested);
    tcase_add_test(tc, only_large_blocks_and_chunks_reach_the_driver);
    tcase_add_test(
        tc, a_chunk_holds_eight_blocks_of_4_mib_and_four_free_ones_are_kept);
    tcase_add_loop_test(tc, blocks_never_overlap, 0, 2);
    tcase_add_test(tc, main_memory_that_nobody_fills_takes_nothing);
    tcase_add_test(tc, what_the_application_has_of_main_memory_outlives_the_machine);
    tcase_add_test(tc, pinned_main_memory_costs_by_the_mib_if_cuda_is_there);
    tcase_add_test(tc, costs_are_switched_by_variables);
    tcase_add_test(tc, workers_and_nodes_are_those_of_the_description);
    tcase_add_test(tc, without_peer_copies_devices_meet_in_main_memory);
    tcase_add_test(tc, workers_are_limited_as_requested);
    tcase_add_test(tc, a_description_that_places_cpus_says_who_is_near);
    tcase_add_test(tc, a_missing_route_is_named);
    tcase_add_test(tc, platform_options_are_checked);
    return tc;
}

SUITE_MAIN(sim_machine)
{
    Suite *suite = suite_create("sim-machine");

    suite_add_tcase(suite, copies_case());
    suite_add_tcase(suite, rest_case());
    return suite_main(suite);
}
