/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-loopback.c - the loopback driver on a virtual clock: what its
 * queues do at the same time is an exact schedule. The real machine's threads are
 * the simulator's contexts here (orr_threads_new is wrapped), all else is as in
 * any real run. And mailboxes, and options that test-loopback-faults.py has no
 * program for.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>

#include "core/device/driver.h"
#include "core/device/loopback/loopback.h"
#include "core/device/mailbox.h"
#include "core/device/threads.h"
#include "core/runtime.h"
#include "sim/exec.h"
#include "tests/suite.h"

/* --- the clock --- */

static struct orr_sim_exec *engine;

int __wrap_orr_threads_new(const struct orr_threads_options *options,
                           struct orr_exec **ret);
void __wrap_orr_threads_free(struct orr_exec *exec);

int __wrap_orr_threads_new(const struct orr_threads_options *options,
                           struct orr_exec **ret)
{
    int rc = orr_sim_exec_new(&engine);

    (void)options;
    if (rc == 0)
        *ret = &engine->head;
    return rc;
}

void __wrap_orr_threads_free(struct orr_exec *exec)
{
    (void)exec;
    orr_sim_exec_free(engine);
    engine = NULL;
}

/* --- a policy under which nothing is fetched before a worker has its task --- */

static struct starpu_task_list tasks;

static void init_tasks(unsigned context)
{
    (void)context;
    starpu_task_list_init(&tasks);
}

static int push(struct starpu_task *task)
{
    starpu_task_list_push_back(&tasks, task);
    starpu_push_task_end(task);
    return 0;
}

static struct starpu_task *pop(unsigned context)
{
    (void)context;
    return starpu_task_list_empty(&tasks) ? NULL
                                          : starpu_task_list_pop_front(&tasks);
}

static struct starpu_sched_policy policy = {
    .init_sched = init_tasks,
    .push_task = push,
    .pop_task = pop,
    .policy_name = "without",
    .policy_description = "without prefetches",
    .prefetches = 1, /* so it says */
};

static void open_machine(const char *loopback)
{
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.sched_policy = &policy;
    setenv("ORRERY_LOOPBACK", loopback, 1);
    setenv("STARPU_NCPU", "0", 1);
    unsetenv("STARPU_SCHED");
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* --- the schedule of a pipeline --- */

enum { N = 4, BYTES = 1000 };

static double ran[N];

static void note_time(void *buffers[], void *arg)
{
    int i;

    starpu_codelet_unpack_args(arg, &i);
    ran[i] = starpu_timing_now();
    ((char *)STARPU_VECTOR_GET_PTR(buffers[0]))[0]++;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {note_time},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

/* Tasks are submitted every `pause` us; came[i] is when the i-th result is back. */
static void run_submitting(const char *options, double pause, double *submitted,
                           double *came)
{
    static char v[N][BYTES];
    starpu_data_handle_t handle[N];
    double start;

    open_machine(options);
    start = starpu_timing_now();
    for (int i = 0; i < N; i++) {
        v[i][0] = 0;
        starpu_vector_data_register(&handle[i], STARPU_MAIN_RAM,
                                    (uintptr_t)v[i], BYTES, 1);
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handle[i],
                                            STARPU_VALUE, &i, sizeof(i), 0),
                         0);
        submitted[i] = starpu_timing_now() - start;
        if (pause > 0)
            orr_self->exec->ops->sleep(orr_self->exec, pause);
    }
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(starpu_data_acquire(handle[i], STARPU_R), 0);
        came[i] = starpu_timing_now() - start;
        ran[i] -= start;
        ck_assert_int_eq(v[i][0], 1);
        starpu_data_release(handle[i]);
    }
    for (int i = 0; i < N; i++)
        starpu_data_unregister(handle[i]);
    starpu_shutdown();
}

static void run_pipeline(const char *options, double *came)
{
    double submitted[N];

    run_submitting(options, 0, submitted, came);
    for (int i = 0; i < N; i++)
        ck_assert(submitted[i] == 0);
}

static void check_times(const double *times, const double *expected)
{
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabs(times[i] - expected[i]) < 1e-6,
                      "number %d at %.3f us, not %.3f", i, times[i],
                      expected[i]);
}

/* A copy takes 10 + 1000 / 100 us, a kernel 100. Its function is called in the
 * middle. The second task's data come while the first kernel runs, the third one's
 * when that has ended and made room in the pipeline, while the first result goes
 * back and the second kernel runs. */
START_TEST(copies_in_kernels_and_copies_out_overlap)
{
    static const double middles[N] = {70, 170, 270, 370};
    static const double back[N] = {140, 240, 340, 440};
    double came[N];

    run_pipeline("1 kernel=100 copy=10 bandwidth=100 pipeline=2", came);
    check_times(ran, middles);
    check_times(came, back);
}
END_TEST

/* With one task in flight the next one's data come when its kernel has ended. */
START_TEST(a_pipeline_of_one_overlaps_copies_out_only)
{
    static const double middles[N] = {70, 190, 310, 430};
    static const double back[N] = {140, 260, 380, 500};
    double came[N];

    run_pipeline("1 kernel=100 copy=10 bandwidth=100 pipeline=1", came);
    check_times(ran, middles);
    check_times(came, back);
}
END_TEST

/* Submission waits for nothing, and what is submitted while a kernel runs goes on
 * beside it: its data come at once if there is room in the pipeline, so that its
 * kernel begins when that one ends. */
START_TEST(tasks_are_submitted_while_others_run)
{
    static const double when[N] = {0, 50, 100, 150};
    static const double middles[N] = {70, 170, 270, 370};
    double submitted[N], came[N];
    char options[80];

    snprintf(options, sizeof(options),
             "1 kernel=100 copy=10 bandwidth=100 pipeline=%d", _i);
    run_submitting(options, 50, submitted, came);
    check_times(submitted, when);
    check_times(ran, middles);
}
END_TEST

/* Nothing runs when a task comes: a copy, and half of a kernel. */
START_TEST(a_task_that_comes_late_begins_at_once)
{
    static const double when[N] = {0, 300, 600, 900};
    static const double middles[N] = {70, 370, 670, 970};
    double submitted[N], came[N];
    char options[80];

    snprintf(options, sizeof(options),
             "1 kernel=100 copy=10 bandwidth=100 pipeline=%d", _i);
    run_submitting(options, 300, submitted, came);
    check_times(submitted, when);
    check_times(ran, middles);
}
END_TEST

/* Copies in, kernels and copies out of the same length: with room for two, each
 * queue begins with the next task when it ends with one, and a result comes every
 * 100 us; with room for one each task takes the first two together. */
START_TEST(the_slowest_queue_sets_the_pace)
{
    static const double pace[] = {0, 200, 100, 100, 100};
    double came[N];
    char options[80];

    snprintf(options, sizeof(options),
             "1 kernel=100 copy=90 bandwidth=100 pipeline=%d", _i);
    run_pipeline(options, came);
    ck_assert_double_eq_tol(came[0], 300, 1e-6);
    for (int i = 1; i < N; i++)
        ck_assert_double_eq_tol(came[i] - came[i - 1], pace[_i], 1e-6);
}
END_TEST

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
    ck_assert_uint_eq(count_pins(), 0);
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

int main(void)
{
    Suite *suite = suite_create("loopback");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, copies_in_kernels_and_copies_out_overlap);
    tcase_add_test(tc, a_pipeline_of_one_overlaps_copies_out_only);
    tcase_add_loop_test(tc, tasks_are_submitted_while_others_run, 2, 5);
    tcase_add_loop_test(tc, a_task_that_comes_late_begins_at_once, 1, 5);
    tcase_add_loop_test(tc, the_slowest_queue_sets_the_pace, 1, 5);
    tcase_add_test(tc, a_queue_waits_for_an_event_of_another_without_the_host);
    tcase_add_test(tc, strided_copies_reach_the_device_and_come_back);
    tcase_add_test(tc, posts_arrive_in_order_from_threads_that_are_no_context);
    tcase_add_test(tc, pinned_memory_is_the_drivers);
    tcase_add_test(tc, memory_of_the_application_is_pinned);
    tcase_add_test(tc, blocks_of_main_memory_are_pinned);
    tcase_add_test(tc, what_cannot_or_shall_not_be_pinned_is_ordinary_memory);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
