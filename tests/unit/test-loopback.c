/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-loopback.c - the loopback driver on a virtual clock: what its
 * queues do at the same time is an exact schedule (on-clock.c). And mailboxes, and
 * options that test-loopback-faults.py has no program for.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/device/driver.h"
#include "core/device/mailbox.h"
#include "core/exec/runtime.h"
#include "pipeline.h"
#include "tests/loopback/loopback.h"
#include "tests/loopback/use.h"
#include "tests/suite.h"

static void open_machine(const char *loopback)
{
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.sched_policy = &pipeline_policy;
    loopback_use(loopback);
    setenv("STARPU_NCPU", "0", 1);
    unsetenv("STARPU_SCHED");
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* --- the schedule of a pipeline --- */

enum { BYTES = 1000 };

static void open_device(unsigned copy_us, unsigned pipeline)
{
    char options[80];

    snprintf(options, sizeof(options),
             "1 kernel=100 copy=%u bandwidth=100 pipeline=%u", copy_us,
             pipeline);
    open_machine(options);
}

static void run(void *buffers[], void *arg)
{
    int i;

    starpu_codelet_unpack_args(arg, &i);
    pipeline_run(i, (char *)STARPU_VECTOR_GET_PTR(buffers[0]));
}

static struct starpu_codelet cl = {
    .cpu_funcs = {run},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static const struct pipeline_device device = {open_device, &cl};

/* --- queues and events --- */

struct arrival {
    struct orr_post post;
    double at;
    bool came;
};

static void note_arrival(struct orr_post *post)
{
    struct arrival *arrival = (struct arrival *)post;

    arrival->at = starpu_timing_now();
    arrival->came = true;
}

static struct orr_context *waiter;

static void wake_waiter(struct orr_mailbox *mailbox)
{
    (void)mailbox;
    waiter->exec->ops->wake(waiter->exec, waiter);
}

/* 1000 bytes to the device take 20 us, which the copy back waits for although it
 * is in another queue, and the host does nothing meanwhile. */
START_TEST(a_queue_waits_for_an_event_of_another_without_the_host)
{
    char from[BYTES], to[BYTES] = {0};
    struct orr_mailbox mailbox = {.wake = wake_waiter};
    struct arrival arrival = {
        .post = {.mailbox = &mailbox, .arrived = note_arrival}};
    struct orr_event event = {.happened = false};
    struct orr_machine *machine;
    const struct orr_driver_ops *ops;
    struct orr_queue *in, *out;
    struct orr_raw_copy there, back;
    struct orr_async async_in = {0}, async_out = {0};
    uintptr_t memory;
    double start;

    open_machine("1 copy=10 bandwidth=100");
    memset(from, 7, sizeof(from));
    machine = orr_self->runtime->machine;
    waiter = orr_self;
    ops = machine->nodes[1].driver->ops;
    ck_assert_int_eq(orr_machine_alloc(machine, 1, BYTES, &memory), 0);
    in = ops->queue(machine->nodes[1].driver, 1, ORR_QUEUE_IN);
    out = ops->queue(machine->nodes[1].driver, 1, ORR_QUEUE_OUT);
    async_in = (struct orr_async){machine->nodes[1].driver, in, 0, false};
    async_out = (struct orr_async){machine->nodes[1].driver, out, 0, false};
    there = (struct orr_raw_copy){
        .src = (uintptr_t)from, .dst = memory, .dst_node = 1, .size = BYTES};
    back = (struct orr_raw_copy){
        .src = memory, .dst = (uintptr_t)to, .src_node = 1, .size = BYTES};
    start = starpu_timing_now();
    ops->wait(out, &event);
    ck_assert_int_eq(orr_machine_raw_copy(machine, &back, &async_out), -EAGAIN);
    ops->notify(out, &arrival.post);
    ck_assert_int_eq(orr_machine_raw_copy(machine, &there, &async_in), -EAGAIN);
    ops->record(in, &event);
    while (!arrival.came)
        if (!orr_mailbox_serve(&mailbox))
            orr_self->exec->ops->park(orr_self->exec, ORR_FOREVER);
    ck_assert_double_eq_tol(arrival.at - start, 40, 1e-6);
    ck_assert_mem_eq(to, from, BYTES);
    orr_machine_free(machine, 1, memory, BYTES);
    starpu_shutdown();
}
END_TEST

/* Levels that the device does not make as one are made one by one. */
START_TEST(strided_copies_reach_the_device_and_come_back)
{
    char from[64], to[64];
    struct orr_raw_copy raw = {
        .src = (uintptr_t)from,
        .src_offset = 1,
        .dst_node = 1,
        .size = 3,
        .levels = 3,
        .n = {2, 2, 2},
        .src_step = {4, 9, 20},
        .dst_step = {5, 10, 21},
    };
    struct orr_machine *machine;
    uintptr_t memory;

    open_machine("1 copy=0");
    for (int i = 0; i < 64; i++)
        from[i] = (char)i;
    memset(to, 99, sizeof(to));
    machine = orr_self->runtime->machine;
    ck_assert_int_eq(orr_machine_alloc(machine, 1, 64, &memory), 0);
    raw.dst = memory;
    ck_assert_int_eq(orr_machine_raw_copy(machine, &raw, NULL), 0);
    raw.src = memory;
    raw.dst = (uintptr_t)to;
    raw.src_offset = 0;
    raw.dst_offset = 1;
    raw.src_node = 1;
    raw.dst_node = 0;
    memcpy(raw.src_step, raw.dst_step, sizeof(raw.src_step));
    memcpy(raw.dst_step, (size_t[]){4, 9, 20}, sizeof(raw.dst_step));
    ck_assert_int_eq(orr_machine_raw_copy(machine, &raw, NULL), 0);
    for (int i = 0; i < 64; i++) {
        bool copied = false;

        for (int run = 0; run < 8; run++) {
            int at = 1 + (run & 1) * 4 + (run >> 1 & 1) * 9 + (run >> 2) * 20;

            copied |= i >= at && i < at + 3;
        }
        ck_assert_int_eq(to[i], copied ? i : 99);
    }
    orr_machine_free(machine, 1, memory, 64);
    starpu_shutdown();
}
END_TEST

/* --- mailboxes --- */

static unsigned order[3], narrived;

struct letter {
    struct orr_post post;
    unsigned number;
};

static void note_order(struct orr_post *post)
{
    order[narrived++] = ((struct letter *)post)->number;
}

static unsigned nwakes;

static void count_wake(struct orr_mailbox *mailbox)
{
    ck_assert(orr_mailbox_has(mailbox));
    nwakes++;
}

START_TEST(posts_arrive_in_order_from_threads_that_are_no_context)
{
    struct orr_mailbox mailbox = {.wake = count_wake};
    struct letter letters[3];

    orr_self = NULL;
    ck_assert(!orr_mailbox_serve(&mailbox));
    for (unsigned i = 0; i < 3; i++) {
        letters[i] = (struct letter){
            .post = {.mailbox = &mailbox, .arrived = note_order}, .number = i};
        orr_post(&letters[i].post);
    }
    ck_assert_uint_eq(nwakes, 3);
    ck_assert(orr_mailbox_serve(&mailbox));
    ck_assert_uint_eq(narrived, 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(order[i], i);
    ck_assert(!orr_mailbox_serve(&mailbox));
    ck_assert_uint_eq(mailbox.nposting, 0);
}
END_TEST

/* --- pinned memory --- */

START_TEST(pinned_memory_is_the_drivers)
{
    static char memory[100];

    open_machine("2");
    ck_assert_int_eq(starpu_memory_pin(memory, sizeof(memory)), 0);
    ck_assert_int_eq(starpu_memory_pin(memory, sizeof(memory)), -1);
    ck_assert_int_eq(starpu_memory_unpin(memory, 99), -1);
    ck_assert_int_eq(starpu_memory_unpin(memory, sizeof(memory)), 0);
    ck_assert_int_eq(starpu_memory_unpin(memory, sizeof(memory)), -1);
    /* What is forgotten is the driver's to free. */
    ck_assert_int_eq(starpu_memory_pin(memory, sizeof(memory)), 0);
    starpu_shutdown();
}
END_TEST

static unsigned count_pins(void)
{
    const struct orr_machine *machine = orr_self->runtime->machine;
    const struct loopback *driver =
        (const struct loopback *)machine->nodes[1].driver;
    unsigned n = 0;

    for (const struct loopback_pin *pin = driver->pins.first; pin;
         pin = pin->next)
        n++;
    return n;
}

START_TEST(memory_of_the_application_is_pinned)
{
    void *pinned, *other, *later;

    open_machine("2");
    ck_assert_int_eq(starpu_malloc(&pinned, 100), 0);
    ck_assert_uint_eq(count_pins(), 1);
    ck_assert_int_eq(starpu_malloc_flags(&other, 100, 0), 0);
    ck_assert_uint_eq(count_pins(), 1);
    ck_assert_int_eq(starpu_malloc(&later, 100), 0);
    ck_assert_int_eq(starpu_free_noflag(pinned, 100), 0);
    ck_assert_int_eq(starpu_free_flags(other, 100, 0), 0);
    ck_assert_uint_eq(count_pins(), 1);
    /* What is still there is used and freed after the end, or in another run. */
    starpu_shutdown();
    memset(later, 1, 100);
    open_machine("1");
    ck_assert_int_eq(starpu_free(later), 0);
    ck_assert_uint_eq(count_pins(), 0);
    starpu_shutdown();
}
END_TEST

/* Of data that have no home, and by the functions for nodes. */
START_TEST(blocks_of_main_memory_are_pinned)
{
    starpu_data_handle_t handle;
    uintptr_t block;

    open_machine("1");
    block = starpu_malloc_on_node(STARPU_MAIN_RAM, 100);
    ck_assert_uint_eq(count_pins(), 1);
    starpu_free_on_node(STARPU_MAIN_RAM, block, 100);
    block = starpu_malloc_on_node_flags(STARPU_MAIN_RAM, 100, 0);
    ck_assert_uint_eq(count_pins(), 0);
    starpu_free_on_node_flags(STARPU_MAIN_RAM, block, 100, 0);
    starpu_vector_data_register(&handle, -1, 0, 100, 1);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
    ck_assert_uint_eq(count_pins(), 1);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    /* It is kept for data to come. */
    ck_assert_uint_eq(count_pins(), 1);
    starpu_vector_data_register(&handle, -1, 0, 100, 1);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
    ck_assert_uint_eq(count_pins(), 1);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(what_cannot_or_shall_not_be_pinned_is_ordinary_memory)
{
    void *memory;

    open_machine("1 fault=pin@1+");
    ck_assert_int_eq(starpu_malloc(&memory, 100), 0);
    ck_assert_uint_eq(count_pins(), 0);
    ck_assert_int_eq(starpu_free_noflag(memory, 100), 0);
    starpu_shutdown();
    setenv("STARPU_DISABLE_PINNING", "1", 1);
    open_machine("1");
    ck_assert_int_eq(starpu_malloc(&memory, 100), 0);
    ck_assert_uint_eq(count_pins(), 0);
    ck_assert_int_eq(starpu_free_noflag(memory, 100), 0);
    starpu_shutdown();
    unsetenv("STARPU_DISABLE_PINNING");
}
END_TEST

/* --- a driver without queues --- */

static bool performed, done;

static int perform(struct orr_copy *copy, struct orr_async *async)
{
    (void)copy;
    ck_assert_ptr_null(async);
    ck_assert(!performed);
    performed = true;
    return -EIO;
}

static void end_copy(struct orr_copy *copy)
{
    ck_assert(performed && !done);
    ck_assert_int_eq(copy->async.error, -EIO);
    done = true;
}

START_TEST(a_driver_without_queues_copies_at_once)
{
    const struct orr_driver_ops ops = {.name = "plain",
                                       .copy_start = orr_driver_copy_start};
    struct orr_node_desc nodes[] = {{.kind = STARPU_CPU_RAM},
                                    {.kind = STARPU_MAX_FPGA_RAM}};
    struct orr_machine machine = {.nodes = nodes, .nnodes = 2};
    struct orr_driver driver = {&ops, &machine};
    struct orr_copy copy = {
        .src = 0, .dst = 1, .size = 1, .perform = perform, .done = end_copy};

    nodes[1].driver = &driver;
    orr_machine_copy_start(&machine, &copy);
    ck_assert(done);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loopback");
    TCase *tc = tcase_create("all");

    pipeline_add_tests(tc, &device);
    tcase_add_test(tc, a_queue_waits_for_an_event_of_another_without_the_host);
    tcase_add_test(tc, strided_copies_reach_the_device_and_come_back);
    tcase_add_test(tc, posts_arrive_in_order_from_threads_that_are_no_context);
    tcase_add_test(tc, pinned_memory_is_the_drivers);
    tcase_add_test(tc, memory_of_the_application_is_pinned);
    tcase_add_test(tc, blocks_of_main_memory_are_pinned);
    tcase_add_test(tc, what_cannot_or_shall_not_be_pinned_is_ordinary_memory);
    tcase_add_test(tc, a_driver_without_queues_copies_at_once);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
