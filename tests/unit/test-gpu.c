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

#include <check.h>

#include "core/base/exec.h"
#include "core/device/driver.h"
#include "core/device/gpu/gpu.h"
#include "core/exec/runtime.h"

#include "../api/on-gpu.h"
#include "../suite.h"
#include "driver-table.h"

enum { BYTES = TABLE_BYTES, FIRST_NODE = TABLE_FIRST_NODE };

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
    table_use(machine, &driver->head);
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

static void open_gate(void)
{
    sem_post(&gate);
}

/* Bytes go into one buffer; what reads another buffer waits for them, on the same
 * device or the other one. */
START_TEST(a_queue_waits_for_an_event)
{
    open_machine("delay=50");
    table_wait_for_event(FIRST_NODE + (unsigned)_i, false, close_gate,
                         open_gate);
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
    memory = table_alloc(FIRST_NODE);
    in = table_queue(FIRST_NODE, ORR_QUEUE_IN);
    close_gate(&(struct orr_queue){.device = in->device, .stream = in->ends});
    driver->head.ops->notify(in, &table_post);
    table_put(in, &(struct orr_raw_copy){.src = (uintptr_t)bytes[0],
                                         .dst = memory,
                                         .dst_node = FIRST_NODE,
                                         .size = BYTES});
    driver->vendor->use(in->device);
    ck_assert_int_eq(driver->api.stream_synchronize(in->stream), 0);
    ck_assert(!table_arrives(5));
    open_gate();
    ck_assert(table_arrives(30000));
    orr_machine_free(machine, FIRST_NODE, memory, BYTES);
    starpu_shutdown();
}
END_TEST

START_TEST(to_wait_for_what_is_not_recorded_ends_the_program)
{
    struct orr_event event = {.happened = false};

    open_machine("");
    driver->head.ops->wait(table_queue(FIRST_NODE, ORR_QUEUE_IN), &event);
}
END_TEST

/* -- bytes -- */

/* On one device, and between two, one of which may be closed to the other. */
START_TEST(strided_copies_are_the_hosts)
{
    open_machine(_i / TABLE_SHAPES == 2 ? "peers=none" : "peers=all");
    table_copy_strided(_i % TABLE_SHAPES,
                       FIRST_NODE + (unsigned)(_i / TABLE_SHAPES > 0));
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
    open_machine("");
    table_copy_beyond();
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
    memory = table_alloc(FIRST_NODE);
    table_put(table_queue(FIRST_NODE, ORR_QUEUE_IN),
              &(struct orr_raw_copy){.src = (uintptr_t)bytes,
                                     .dst = memory,
                                     .dst_node = FIRST_NODE,
                                     .size = BYTES});
    driver->head.ops->notify(table_queue(FIRST_NODE, ORR_QUEUE_IN),
                             &table_post);
    ck_assert(table_arrives(30000));
    ck_assert_int_eq(table_error, lost ? -ENODEV : -EIO);
    table_narrived = 0;
    driver->head.ops->notify(table_queue(FIRST_NODE, ORR_QUEUE_OUT),
                             &table_post);
    ck_assert(table_arrives(30000));
    ck_assert_int_eq(table_error, lost ? -ENODEV : 0);
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
    tcase_add_loop_test(tc, strided_copies_are_the_hosts, 0, 3 * TABLE_SHAPES);
    tcase_add_loop_test(tc, peers_are_linked_where_they_are_open, 0, 4);
    tcase_add_test(tc, what_does_not_fit_is_enomem);
    tcase_add_test(tc, a_copy_beyond_the_block_is_eio);
    tcase_add_loop_test(tc, an_end_tells_what_has_failed, 0, 2);
    tcase_add_test(tc, codes_are_errors_of_drivers);
    tcase_add_test(tc, the_entry_that_a_library_lacks_is_named);
    tcase_add_loop_test(tc, a_library_that_is_too_old_is_no_device, 0, 2);
    return suite_main(suite);
}
