/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-opencl.c - the table of the OpenCL driver, on two devices of
 * PoCL's: what queues wait for, strided copies, what fails. A gate, a user
 * event before the first copy, keeps it from happening until the test says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "core/base/exec.h"
#include "core/device/driver.h"
#include "core/device/opencl/opencl.h"
#include "core/exec/runtime.h"

#include "../suite.h"
#include "driver-table.h"

enum { BYTES = TABLE_BYTES, FIRST_NODE = TABLE_FIRST_NODE };

static struct orr_machine *machine;
static struct opencl *driver;

static void open_machine(void)
{
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    machine = orr_self->runtime->machine;
    driver = orr_opencl_of(machine);
    ck_assert_ptr_nonnull(driver);
    table_use(machine, &driver->head);
}

/* -- queues -- */

static cl_event gate;

static void close_gate(struct orr_queue *queue)
{
    cl_int error;

    gate = driver->cl.CreateUserEvent(queue->device->context, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_int_eq(
        driver->cl.EnqueueBarrierWithWaitList(queue->queue, 1, &gate, NULL), 0);
}

static void open_gate(void)
{
    ck_assert_int_eq(driver->cl.SetUserEventStatus(gate, OPENCL_COMPLETE), 0);
    driver->cl.ReleaseEvent(gate);
}

/* Bytes go into one buffer; what reads another buffer waits for them: on the
 * same device or the other one, said before or after the event is recorded. */
START_TEST(a_queue_waits_for_an_event)
{
    open_machine();
    table_wait_for_event(FIRST_NODE + (unsigned)_i % 2, _i / 2, close_gate,
                         open_gate);
    starpu_shutdown();
}
END_TEST

/* The driver's table of OpenCL is written over: a callback lasts. */
static atomic_bool released;
static bool recording; /* [main] */
static cl_int (*release_event)(cl_event);

static cl_int release_late(cl_event event)
{
    cl_int error;

    if (orr_self) { /* no callback, or at once: what is to be waited for has been */
        if (recording)
            atomic_store(&released, true);
        return release_event(event);
    }
    usleep(50000);
    error = release_event(event);
    atomic_store(&released, true);
    return error;
}

/* A queue that is finished may still call back, who needs the driver for that. */
START_TEST(callbacks_return_before_the_driver_closes)
{
    struct orr_event event = {0};

    open_machine();
    release_event = driver->cl.ReleaseEvent;
    driver->cl.ReleaseEvent = release_late;
    recording = true;
    driver->head.ops->record(table_queue(FIRST_NODE, ORR_QUEUE_PEER), &event);
    recording = false;
    while (!atomic_load(&event.happened))
        usleep(1000);
    starpu_shutdown();
    ck_assert(atomic_load(&released));
}
END_TEST

/* -- bytes -- */

/* On one device, and between two. */
START_TEST(strided_copies_are_the_hosts)
{
    open_machine();
    table_copy_strided(_i % TABLE_SHAPES,
                       FIRST_NODE + (unsigned)(_i / TABLE_SHAPES));
    starpu_shutdown();
}
END_TEST

/* -- pinned memory -- */

/* It is used, and freed, after the machine was closed, too. */
START_TEST(pinned_memory_is_copied_from_and_outlives_the_driver)
{
    char *from, *to, *left, seen[BYTES];
    uintptr_t memory;

    open_machine();
    ck_assert_int_eq(starpu_malloc((void **)&from, BYTES), 0);
    ck_assert_int_eq(starpu_malloc((void **)&to, BYTES), 0);
    ck_assert_int_eq(starpu_malloc((void **)&left, BYTES), 0);
    ck_assert_uint_eq(atomic_load(&driver->npinned), 3);
    ck_assert_uint_eq((uintptr_t)from % 64, 0);
    memset(from, 5, BYTES);
    memset(to, 0, BYTES);
    memset(left, 6, BYTES);
    memory = table_alloc(FIRST_NODE + 1);
    ck_assert_int_eq(
        orr_machine_raw_copy(machine,
                             &(struct orr_raw_copy){.src = (uintptr_t)from,
                                                    .dst = memory,
                                                    .dst_node = FIRST_NODE + 1,
                                                    .size = BYTES},
                             NULL),
        0);
    ck_assert_int_eq(
        orr_machine_raw_copy(machine,
                             &(struct orr_raw_copy){.src = memory,
                                                    .src_node = FIRST_NODE + 1,
                                                    .dst = (uintptr_t)to,
                                                    .size = BYTES},
                             NULL),
        0);
    ck_assert_mem_eq(to, from, BYTES);
    orr_machine_free(machine, FIRST_NODE + 1, memory, BYTES);
    ck_assert_int_eq(starpu_free_noflag(from, BYTES), 0);
    ck_assert_int_eq(starpu_free_noflag(to, BYTES), 0);
    ck_assert_uint_eq(atomic_load(&driver->npinned), 1);
    starpu_shutdown();
    memset(seen, 6, BYTES);
    ck_assert_mem_eq(left, seen, BYTES);
    ck_assert_int_eq(starpu_free_noflag(left, BYTES), 0);
}
END_TEST

/* -- failures -- */

START_TEST(what_does_not_fit_is_enomem)
{
    uintptr_t memory;

    open_machine();
    ck_assert_int_eq(
        orr_machine_alloc(machine, FIRST_NODE, (size_t)1 << 60, &memory),
        -ENOMEM);
    starpu_shutdown();
}
END_TEST

START_TEST(a_copy_beyond_the_buffer_is_eio)
{
    open_machine();
    table_copy_beyond();
    starpu_shutdown();
}
END_TEST

/* The driver's table of OpenCL is written over: an end that is called back has
 * failed, nfailing times. */
static int nfailing;
static cl_int failing_with = OPENCL_OUT_OF_RESOURCES;
static cl_int (*set_callback)(cl_event, int32_t,
                              void (*)(cl_event, int32_t, void *), void *);

struct callback {
    void (*function)(cl_event, int32_t, void *);
    void *arg;
};

static void call_failed(cl_event event, int32_t status, void *arg)
{
    struct callback callback = *(struct callback *)arg;

    (void)status;
    free(arg);
    callback.function(event, failing_with, callback.arg);
}

static cl_int set_failing(cl_event event, int32_t when,
                          void (*function)(cl_event, int32_t, void *),
                          void *arg)
{
    struct callback *callback;

    if (nfailing-- <= 0)
        return set_callback(event, when, function, arg);
    callback = malloc(sizeof(*callback));
    *callback = (struct callback){function, arg};
    return set_callback(event, when, call_failed, callback);
}

static void fail_ends(int n)
{
    nfailing = n;
    set_callback = driver->cl.SetEventCallback;
    driver->cl.SetEventCallback = set_failing;
}

START_TEST(a_queue_that_failed_says_so)
{
    open_machine();
    fail_ends(1);
    driver->head.ops->notify(table_queue(FIRST_NODE, ORR_QUEUE_PEER),
                             &table_post);
    ck_assert(table_arrives(30000));
    ck_assert_int_eq(table_error, -EIO);
    starpu_shutdown();
}
END_TEST

static cl_int no_marker(cl_command_queue queue, uint32_t n,
                        const cl_event *events, cl_event *ret)
{
    (void)queue;
    (void)n;
    (void)events;
    (void)ret;
    return OPENCL_OUT_OF_HOST_MEMORY;
}

/* Where no end can be asked for, it is waited for. */
START_TEST(an_end_that_cannot_be_asked_for_is_waited_for)
{
    char from[BYTES], to[BYTES] = {0};
    uintptr_t memory;

    open_machine();
    memset(from, 7, BYTES);
    memory = table_alloc(FIRST_NODE);
    driver->cl.EnqueueMarkerWithWaitList = no_marker;
    table_put(table_queue(FIRST_NODE, ORR_QUEUE_IN),
              &(struct orr_raw_copy){.src = (uintptr_t)from,
                                     .dst = memory,
                                     .dst_node = FIRST_NODE,
                                     .size = BYTES});
    driver->head.ops->notify(table_queue(FIRST_NODE, ORR_QUEUE_IN),
                             &table_post);
    ck_assert(table_arrives(1));
    ck_assert_int_eq(
        orr_machine_raw_copy(machine,
                             &(struct orr_raw_copy){.src = memory,
                                                    .src_node = FIRST_NODE,
                                                    .dst = (uintptr_t)to,
                                                    .size = BYTES},
                             NULL),
        0);
    ck_assert_mem_eq(to, from, BYTES);
    orr_machine_free(machine, FIRST_NODE, memory, BYTES);
    starpu_shutdown();
}
END_TEST

/* A task whose kernel reads and writes its datum, without waiting. */
static void add_one(void *buffers[], void *arg)
{
    cl_mem v = (cl_mem)STARPU_VARIABLE_GET_DEV_HANDLE(buffers[0]);
    cl_command_queue queue;
    int value;

    (void)arg;
    starpu_opencl_get_current_queue(&queue);
    driver->cl.EnqueueReadBuffer(queue, v, true, 0, sizeof(value), &value, 0,
                                 NULL, NULL);
    value++;
    driver->cl.EnqueueWriteBuffer(queue, v, true, 0, sizeof(value), &value, 0,
                                  NULL, NULL);
}

static struct starpu_codelet cl_add_one = {
    .opencl_funcs = {add_one},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "add_one",
};

static void set(void *buffers[], void *arg)
{
    cl_mem v = (cl_mem)STARPU_VARIABLE_GET_DEV_HANDLE(buffers[0]);
    cl_command_queue queue;
    int value = 7;

    (void)arg;
    starpu_opencl_get_current_queue(&queue);
    driver->cl.EnqueueWriteBuffer(queue, v, true, 0, sizeof(value), &value, 0,
                                  NULL, NULL);
}

static struct starpu_codelet cl_set = {
    .opencl_funcs = {set},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "set",
};

/* The end of the copy in fails first: it is made again. */
START_TEST(a_copy_that_failed_is_made_again)
{
    int value = 6;
    starpu_data_handle_t handle;

    open_machine();
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    fail_ends(2);
    ck_assert_int_eq(starpu_task_insert(&cl_add_one, STARPU_RW, handle, 0), 0);
    starpu_data_unregister(handle);
    ck_assert_int_lt(nfailing, 0);
    ck_assert_int_eq(value, 7);
    starpu_shutdown();
}
END_TEST

static int values(void)
{
    starpu_data_handle_t handle;
    int value = 0;

    starpu_variable_data_register(&handle, -1, 0, sizeof(int));
    ck_assert_int_eq(starpu_task_insert(&cl_set, STARPU_W, handle, 0), 0);
    starpu_data_acquire(handle, STARPU_R);
    value = *(int *)starpu_data_get_local_ptr(handle);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    return value;
}

/* Written, not copied: the first end is the kernel's. It is done by the other
 * device; if the first one is gone, so is all that follows. */
START_TEST(a_kernel_that_failed_is_done_by_the_other_device)
{
    open_machine();
    if (_i)
        failing_with = OPENCL_DEVICE_NOT_AVAILABLE;
    fail_ends(1);
    ck_assert_int_eq(values(), 7);
    ck_assert_int_le(nfailing, 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(values(), 7);
    starpu_shutdown();
}
END_TEST

/* What it was changing was nowhere else. */
START_TEST(a_kernel_that_changed_the_only_value_ends_the_run)
{
    starpu_data_handle_t handle;

    open_machine();
    starpu_variable_data_register(&handle, -1, 0, sizeof(int));
    ck_assert_int_eq(starpu_task_insert(&cl_set, STARPU_W, handle,
                                        STARPU_EXECUTE_ON_WORKER, 0, 0),
                     0);
    starpu_task_wait_for_all();
    fail_ends(1);
    starpu_task_insert(&cl_add_one, STARPU_RW, handle, STARPU_EXECUTE_ON_WORKER,
                       0, 0);
    starpu_task_wait_for_all();
    _exit(0);
}
END_TEST

START_TEST(codes_are_errors_of_drivers)
{
    ck_assert_int_eq(opencl_errno(OPENCL_SUCCESS), 0);
    ck_assert_int_eq(opencl_errno(OPENCL_OUT_OF_RESOURCES), -ENOMEM);
    ck_assert_int_eq(opencl_errno(OPENCL_MEM_OBJECT_ALLOCATION_FAILURE),
                     -ENOMEM);
    ck_assert_int_eq(opencl_errno(OPENCL_DEVICE_NOT_AVAILABLE), -ENODEV);
    ck_assert_int_eq(opencl_errno(OPENCL_INVALID_VALUE), -EIO);
    ck_assert_int_eq(opencl_failure(OPENCL_SUCCESS), 0);
    ck_assert_int_eq(opencl_failure(OPENCL_OUT_OF_RESOURCES), -EIO);
    ck_assert_int_eq(opencl_failure(OPENCL_DEVICE_NOT_AVAILABLE), -ENODEV);
}
END_TEST

/* -- whether to look -- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(vendors_of_devices_are_told_from_pocl)
{
    char folder[] = "/tmp/orrery-vendors-XXXXXX", command[64];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(!opencl_may_have_devices(folder));
    write_file(folder, "pocl.icd", "/usr/lib/libpocl.so.2.10.0\n");
    write_file(folder, "README", "libsome.so\n");
    ck_assert(!opencl_may_have_devices(folder));
    write_file(folder, "some.icd", "libsome.so.1\n");
    ck_assert(opencl_may_have_devices(folder));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert(opencl_may_have_devices("libsome.so.1"));
    ck_assert(!opencl_may_have_devices("/usr/lib/libpocl.so.2"));
    ck_assert(!opencl_may_have_devices("/absent/folder"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl-driver");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 90);
    tcase_add_loop_test(tc, a_queue_waits_for_an_event, 0, 4);
    tcase_add_test(tc, callbacks_return_before_the_driver_closes);
    tcase_add_loop_test(tc, strided_copies_are_the_hosts, 0, 2 * TABLE_SHAPES);
    tcase_add_test(tc, pinned_memory_is_copied_from_and_outlives_the_driver);
    tcase_add_test(tc, what_does_not_fit_is_enomem);
    tcase_add_test(tc, a_copy_beyond_the_buffer_is_eio);
    tcase_add_test(tc, a_queue_that_failed_says_so);
    tcase_add_test(tc, an_end_that_cannot_be_asked_for_is_waited_for);
    tcase_add_test(tc, a_copy_that_failed_is_made_again);
    tcase_add_loop_test(tc, a_kernel_that_failed_is_done_by_the_other_device, 0,
                        2);
    tcase_add_exit_test(tc, a_kernel_that_changed_the_only_value_ends_the_run,
                        EXIT_FAILURE);
    tcase_add_test(tc, codes_are_errors_of_drivers);
    tcase_add_test(tc, vendors_of_devices_are_told_from_pocl);
    return suite_main(suite);
}
