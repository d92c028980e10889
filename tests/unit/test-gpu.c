/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-gpu.c - the table of the GPU driver on two devices of the
 * stand-in (tests/standin): what queues wait for, strided copies, what fails. A
 * gate, a kernel before the first copy, keeps it from happening until the test
 * says so.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "core/base/exec.h"
#include "core/device/driver.h"
#include "core/device/gpu/gpu.h"
#include "core/device/mailbox.h"
#include "core/runtime.h"

#include "../api/on-gpu.h"
#include "../suite.h"

enum { BYTES = 64, FIRST_NODE = 1 };

static struct orr_machine *machine;
static struct gpu *driver;

static void open_machine(const char *standin)
{
    setenv("GPU_STANDIN", standin, 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    machine = orr_self->runtime->machine;
    driver = orr_gpu_of(machine, &ON_VENDOR);
    ck_assert_ptr_nonnull(driver);
}

static struct orr_queue *queue_of(unsigned node, enum orr_queue_use use)
{
    return driver->head.ops->queue(&driver->head, node, use);
}

static uintptr_t alloc(unsigned node)
{
    uintptr_t memory;

    ck_assert_int_eq(orr_machine_alloc(machine, node, BYTES, &memory), 0);
    return memory;
}

/* -- posts -- */

static void wake_nobody(struct orr_mailbox *mailbox)
{
    (void)mailbox;
}

static struct orr_mailbox mailbox = {.wake = wake_nobody};
static int narrived, failure;

static void arrive(struct orr_post *post)
{
    failure = post->error;
    narrived++;
}

static struct orr_post post = {.mailbox = &mailbox, .arrived = arrive};

static bool arrives(int tries)
{
    while (!narrived && tries-- > 0)
        if (!orr_mailbox_serve(&mailbox))
            usleep(1000);
    return narrived > 0;
}

/* -- queues -- */

static sem_t gate;

static void stay_at_gate(void *arg)
{
    (void)arg;
    sem_wait(&gate);
}

static void close_gate(struct orr_queue *queue)
{
    intptr_t before;

    ON_FUNCTION(standin_launch_t, launch, STANDIN_LAUNCH);
    sem_init(&gate, 0, 0);
    ck_assert_int_eq(driver->vendor->enter(queue->device, &before), 0);
    ck_assert_int_eq(launch(queue->stream, stay_at_gate, NULL), 0);
    driver->vendor->leave(queue->device, before);
}

static void put(struct orr_queue *queue, const struct orr_raw_copy *raw)
{
    struct orr_async async = {.driver = &driver->head, .queue = queue};

    ck_assert_int_eq(orr_machine_raw_copy(machine, raw, &async), -EAGAIN);
    ck_assert(async.used);
}

/* Bytes go into one buffer; what reads another buffer waits for them, on the same
 * device or the other one. */
START_TEST(a_queue_waits_for_an_event)
{
    const struct orr_driver_ops *ops;
    unsigned reader = FIRST_NODE + (unsigned)_i;
    char from[BYTES], to[BYTES];
    struct orr_event event = {.happened = false};
    struct orr_queue *in, *out;
    uintptr_t written, read;

    open_machine("delay=50");
    ops = driver->head.ops;
    memset(from, 7, BYTES);
    written = alloc(FIRST_NODE);
    read = reader == FIRST_NODE ? written : alloc(reader);
    in = queue_of(FIRST_NODE, ORR_QUEUE_IN);
    out = queue_of(reader, ORR_QUEUE_OUT);
    close_gate(in);
    put(in, &(struct orr_raw_copy){.src = (uintptr_t)from,
                                   .dst = written,
                                   .dst_node = FIRST_NODE,
                                   .size = BYTES});
    ops->record(in, &event);
    ops->wait(out, &event);
    put(out, &(struct orr_raw_copy){.src = read,
                                    .dst = (uintptr_t)to,
                                    .src_node = reader,
                                    .size = BYTES});
    ops->notify(out, &post);
    ck_assert(!arrives(20));
    ck_assert(!atomic_load(&event.happened));
    sem_post(&gate);
    ck_assert(arrives(30000));
    while (!atomic_load(&event.happened))
        usleep(1000);
    if (reader == FIRST_NODE)
        ck_assert_mem_eq(to, from, BYTES);
    /* Who waits for what has happened does not wait. */
    narrived = 0;
    ops->wait(out, &event);
    ops->notify(out, &post);
    ck_assert(arrives(30000));
    ck_assert_int_eq(failure, 0);
    orr_machine_free(machine, FIRST_NODE, written, BYTES);
    if (reader != FIRST_NODE)
        orr_machine_free(machine, reader, read, BYTES);
    starpu_shutdown();
}
END_TEST

/* What is in a queue goes on while the host has not noticed an end before it. */
START_TEST(an_end_does_not_hold_up_what_follows)
{
    static char bytes[2][BYTES];
    struct orr_queue *in;
    uintptr_t memory;

    open_machine("delay=0");
    memory = alloc(FIRST_NODE);
    in = queue_of(FIRST_NODE, ORR_QUEUE_IN);
    close_gate(&(struct orr_queue){.device = in->device, .stream = in->ends});
    driver->head.ops->notify(in, &post);
    put(in, &(struct orr_raw_copy){.src = (uintptr_t)bytes[0],
                                   .dst = memory,
                                   .dst_node = FIRST_NODE,
                                   .size = BYTES});
    driver->vendor->use(in->device);
    ck_assert_int_eq(driver->api.stream_synchronize(in->stream), 0);
    ck_assert(!arrives(5));
    sem_post(&gate);
    ck_assert(arrives(30000));
    orr_machine_free(machine, FIRST_NODE, memory, BYTES);
    starpu_shutdown();
}
END_TEST

START_TEST(to_wait_for_what_is_not_recorded_ends_the_program)
{
    struct orr_event event = {.happened = false};

    open_machine("");
    driver->head.ops->wait(queue_of(FIRST_NODE, ORR_QUEUE_IN), &event);
}
END_TEST

/* -- bytes -- */

/* The first is a box, in the second slices begin between rows, the third has a
 * level more than a box, in the fourth rows are of one byte. */
static const struct orr_raw_copy shapes[] = {
    {.size = 3,
     .levels = 2,
     .n = {2, 3},
     .src_step = {5, 15},
     .dst_step = {4, 8}},
    {.size = 3,
     .levels = 2,
     .n = {2, 3},
     .src_step = {5, 13},
     .dst_step = {3, 7}},
    {.size = 2,
     .levels = 3,
     .n = {2, 2, 2},
     .src_step = {3, 6, 25},
     .dst_step = {2, 5, 11}},
    {.size = 1, .levels = 1, .n = {9}, .src_step = {5}, .dst_step = {2}},
};

enum { NSHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void copy(uintptr_t src, unsigned src_node, uintptr_t dst,
                 unsigned dst_node, struct orr_raw_copy raw)
{
    raw.src = src;
    raw.src_node = src_node;
    raw.dst = dst;
    raw.dst_node = dst_node;
    ck_assert_int_eq(orr_machine_raw_copy(machine, &raw, NULL), 0);
}

/* In with strides, to a second buffer with them turned round, and out as it is:
 * the same as on the host. The second buffer is on the same device or the other
 * one, which may be closed to the first. */
START_TEST(strided_copies_are_the_hosts)
{
    const struct orr_raw_copy whole = {.size = BYTES};
    struct orr_raw_copy there = shapes[_i % NSHAPES], back = there;
    unsigned far = FIRST_NODE + (unsigned)(_i / NSHAPES > 0);
    char from[BYTES], between[BYTES] = {0}, expected[BYTES] = {0};
    char zeros[BYTES] = {0}, to[BYTES];
    uintptr_t first, second;

    open_machine(_i / NSHAPES == 2 ? "peers=none" : "peers=all");
    for (int i = 0; i < BYTES; i++)
        from[i] = (char)(i + 1);
    there.src_offset = 7;
    there.dst_offset = 2;
    memcpy(back.src_step, there.dst_step, sizeof(back.src_step));
    memcpy(back.dst_step, there.src_step, sizeof(back.dst_step));
    back.src_offset = 2;
    back.dst_offset = 7;
    first = alloc(FIRST_NODE);
    second = alloc(far);
    copy((uintptr_t)zeros, 0, first, FIRST_NODE, whole);
    copy((uintptr_t)zeros, 0, second, far, whole);
    copy((uintptr_t)from, 0, first, FIRST_NODE, there);
    copy(first, FIRST_NODE, second, far, back);
    copy(second, far, (uintptr_t)to, 0, whole);
    there.src = (uintptr_t)from;
    there.dst = back.src = (uintptr_t)between;
    back.dst = (uintptr_t)expected;
    orr_host_raw_copy(&there);
    orr_host_raw_copy(&back);
    ck_assert_mem_eq(to, expected, BYTES);
    /* And out with strides. */
    memset(to, 0, BYTES);
    copy(first, FIRST_NODE, (uintptr_t)to, 0, back);
    ck_assert_mem_eq(to, expected, BYTES);
    orr_machine_free(machine, FIRST_NODE, first, BYTES);
    orr_machine_free(machine, far, second, BYTES);
    starpu_shutdown();
}
END_TEST

START_TEST(peers_are_linked_where_they_are_open)
{
    static const char *const peers[] = {"peers=all", "peers=none",
                                        "peers=refused", "peers=all"};

    if (_i == 3)
        setenv("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", "0", 1);
    open_machine(peers[_i]);
    ck_assert_int_eq(
        machine->direct[orr_machine_pair(machine, FIRST_NODE, FIRST_NODE + 1)],
        _i == 0);
    ck_assert(machine->direct[orr_machine_pair(machine, 0, FIRST_NODE)]);
    ck_assert(machine->direct[orr_machine_pair(machine, FIRST_NODE, 0)]);
    starpu_shutdown();
}
END_TEST

/* -- failures -- */

START_TEST(what_does_not_fit_is_enomem)
{
    uintptr_t memory;

    open_machine("mib=8");
    ck_assert_int_eq(
        orr_machine_alloc(machine, FIRST_NODE, (size_t)16 << 20, &memory),
        -ENOMEM);
    starpu_shutdown();
}
END_TEST

START_TEST(a_copy_beyond_the_block_is_eio)
{
    char bytes[2 * BYTES] = {0};
    struct orr_async async;
    uintptr_t memory;

    open_machine("");
    memory = alloc(FIRST_NODE);
    async = (struct orr_async){.driver = &driver->head,
                               .queue = queue_of(FIRST_NODE, ORR_QUEUE_IN)};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            orr_machine_raw_copy(machine,
                                 &(struct orr_raw_copy){.src = (uintptr_t)bytes,
                                                        .dst = memory,
                                                        .dst_node = FIRST_NODE,
                                                        .size = 2 * BYTES},
                                 i ? &async : NULL),
            -EIO);
    ck_assert_int_eq(async.error, -EIO);
    orr_machine_free(machine, FIRST_NODE, memory, BYTES);
    starpu_shutdown();
}
END_TEST

/* A copy of which half arrives, and one after which the device is gone: the post
 * says so, and of what follows the caller is told at once. */
START_TEST(an_end_tells_what_has_failed)
{
    char bytes[BYTES] = {0};
    uintptr_t memory;
    bool lost = _i;

    open_machine(lost ? "fault=lost@1" : "fault=copy@1");
    memory = alloc(FIRST_NODE);
    put(queue_of(FIRST_NODE, ORR_QUEUE_IN),
        &(struct orr_raw_copy){.src = (uintptr_t)bytes,
                               .dst = memory,
                               .dst_node = FIRST_NODE,
                               .size = BYTES});
    driver->head.ops->notify(queue_of(FIRST_NODE, ORR_QUEUE_IN), &post);
    ck_assert(arrives(30000));
    ck_assert_int_eq(failure, lost ? -ENODEV : -EIO);
    narrived = 0;
    driver->head.ops->notify(queue_of(FIRST_NODE, ORR_QUEUE_OUT), &post);
    ck_assert(arrives(30000));
    ck_assert_int_eq(failure, lost ? -ENODEV : 0);
    ck_assert_int_eq(orr_machine_alloc(machine, FIRST_NODE, BYTES, &memory),
                     lost ? -ENODEV : 0);
    starpu_shutdown();
}
END_TEST

START_TEST(codes_are_errors_of_drivers)
{
    ck_assert_int_eq(gpu_errno(0), 0);
    ck_assert_int_eq(gpu_errno(2), -ENOMEM);
    ck_assert_int_eq(gpu_errno(700), -ENODEV);
    ck_assert_int_eq(gpu_errno(719), -ENODEV);
    ck_assert_int_eq(gpu_errno(1), -EIO);
    ck_assert_int_eq(gpu_failure(0), 0);
    ck_assert_int_eq(gpu_failure(2), -EIO);
    ck_assert_int_eq(gpu_failure(719), -ENODEV);
}
END_TEST

/* -- libraries -- */

START_TEST(the_entry_that_a_library_lacks_is_named)
{
    struct gpu_api api;
    struct orr_error err = {""};

    ck_assert_int_eq(gpu_api_open(ON_VENDOR.library, OLD_LIBRARY, &api, &err),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "DeviceGetPCIBusId"));
    ck_assert_ptr_nonnull(strstr(err.text, ON_VENDOR.library->needed));
    ck_assert_int_eq(
        gpu_api_open(ON_VENDOR.library, "/absent/file.so", &api, &err),
        -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "/absent/file.so"));
}
END_TEST

/* The program goes on without them. */
START_TEST(a_library_that_is_too_old_is_no_device)
{
    setenv(ON_LIBRARY, _i ? OLD_LIBRARY : "/absent/file.so", 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_worker_get_count(), 1);
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu-driver");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 90);
    tcase_add_loop_test(tc, a_queue_waits_for_an_event, 0, 2);
    tcase_add_test(tc, an_end_does_not_hold_up_what_follows);
    tcase_add_test_raise_signal(
        tc, to_wait_for_what_is_not_recorded_ends_the_program, SIGABRT);
    tcase_add_loop_test(tc, strided_copies_are_the_hosts, 0, 3 * NSHAPES);
    tcase_add_loop_test(tc, peers_are_linked_where_they_are_open, 0, 4);
    tcase_add_test(tc, what_does_not_fit_is_enomem);
    tcase_add_test(tc, a_copy_beyond_the_block_is_eio);
    tcase_add_loop_test(tc, an_end_tells_what_has_failed, 0, 2);
    tcase_add_test(tc, codes_are_errors_of_drivers);
    tcase_add_test(tc, the_entry_that_a_library_lacks_is_named);
    tcase_add_loop_test(tc, a_library_that_is_too_old_is_no_device, 0, 2);
    return suite_main(suite);
}
