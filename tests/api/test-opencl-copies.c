/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/test-opencl-copies.c - OpenCL buffers, copies, interfaces with OpenCL's own methods. */
#include "opencl.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

/* -- memory and copies -- */

START_TEST(buffers_are_of_their_device)
{
    cl_mem memory;
    cl_context context, of_memory;
    cl_mem_flags flags;
    size_t size;

    open_runtime();
    ck_assert_int_eq(
        starpu_opencl_allocate_memory(1, &memory, 4096, CL_MEM_READ_ONLY),
        CL_SUCCESS);
    starpu_opencl_get_context(1, &context);
    clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, NULL);
    clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof(flags), &flags, NULL);
    clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(of_memory), &of_memory,
                       NULL);
    ck_assert_uint_eq(size, 4096);
    ck_assert_uint_eq(flags & CL_MEM_READ_ONLY, CL_MEM_READ_ONLY);
    ck_assert_ptr_eq(of_memory, context);
    clReleaseMemObject(memory);
    ck_assert_int_ne(starpu_opencl_allocate_memory(0, &memory, (size_t)1 << 60,
                                                   CL_MEM_READ_WRITE),
                     CL_SUCCESS);
    ck_assert_int_eq(
        starpu_opencl_allocate_memory(NDEVICES, &memory, 16, CL_MEM_READ_WRITE),
        CL_INVALID_DEVICE);
    starpu_shutdown();
}
END_TEST

/* With an event, that is waited for; without, the bytes are there. */
static void arrived(cl_event *event, int result)
{
    ck_assert_int_eq(result, event ? -EAGAIN : 0);
    if (!event)
        return;
    ck_assert_int_eq(clWaitForEvents(1, event), CL_SUCCESS);
    clReleaseEvent(*event);
}

START_TEST(bytes_go_to_devices_and_back)
{
    enum { SIZE = 256, SKIP = 32 };
    char out[SIZE], back[SIZE] = {0};
    cl_mem first, second, other;
    cl_event made, *event = _i ? &made : NULL;
    unsigned node, far;
    int result = 99;

    open_runtime();
    node = node_of(0);
    far = node_of(1);
    for (int i = 0; i < SIZE; i++)
        out[i] = (char)i;
    starpu_opencl_allocate_memory(0, &first, SIZE + SKIP, CL_MEM_READ_WRITE);
    starpu_opencl_allocate_memory(0, &second, SIZE, CL_MEM_READ_WRITE);
    starpu_opencl_allocate_memory(1, &other, SIZE, CL_MEM_READ_WRITE);

    ck_assert_int_eq(starpu_opencl_copy_ram_to_opencl(out, STARPU_MAIN_RAM,
                                                      first, node, SIZE, SKIP,
                                                      event, &result),
                     CL_SUCCESS);
    arrived(event, result);
    ck_assert_int_eq(
        starpu_opencl_copy_opencl_to_opencl(first, node, SKIP + 1, second, node,
                                            0, SIZE - 1, event, &result),
        CL_SUCCESS);
    arrived(event, result);
    /* Between devices, by way of main memory. */
    ck_assert_int_eq(starpu_opencl_copy_opencl_to_opencl(second, node, 0, other,
                                                         far, 0, SIZE - 1,
                                                         event, &result),
                     CL_SUCCESS);
    arrived(event, result);
    ck_assert_int_eq(starpu_opencl_copy_opencl_to_ram(other, far, back,
                                                      STARPU_MAIN_RAM, SIZE - 2,
                                                      1, event, &result),
                     CL_SUCCESS);
    arrived(event, result);
    ck_assert_int_eq(memcmp(back, out + 2, SIZE - 2), 0);

    /* `ret` may be left out; what cannot be is an error. */
    ck_assert_int_eq(starpu_opencl_copy_opencl_to_ram(first, node, back,
                                                      STARPU_MAIN_RAM, SIZE,
                                                      SKIP, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_int_eq(memcmp(back, out, SIZE), 0);
    ck_assert_int_ne(starpu_opencl_copy_opencl_to_ram(first, node, back,
                                                      STARPU_MAIN_RAM, SIZE,
                                                      SKIP + 1, NULL, NULL),
                     CL_SUCCESS);
    clReleaseMemObject(first);
    clReleaseMemObject(second);
    clReleaseMemObject(other);
    starpu_shutdown();
}
END_TEST

START_TEST(the_nodes_choose_the_copy)
{
    int out[4] = {1, 2, 3, 4}, back[4] = {0};
    cl_mem a, b;
    cl_event event;
    unsigned node;

    open_runtime();
    node = node_of(1);
    starpu_opencl_allocate_memory(1, &a, sizeof(out), CL_MEM_READ_WRITE);
    starpu_opencl_allocate_memory(1, &b, sizeof(out), CL_MEM_READ_WRITE);
    ck_assert_int_eq(
        starpu_opencl_copy_async_sync((uintptr_t)out, 4, STARPU_MAIN_RAM,
                                      (uintptr_t)a, 0, node, 12, NULL),
        0);
    ck_assert_int_eq(starpu_opencl_copy_async_sync((uintptr_t)a, 4, node,
                                                   (uintptr_t)b, 0, node, 8,
                                                   &event),
                     -EAGAIN);
    arrived(&event, -EAGAIN);
    ck_assert_int_eq(starpu_opencl_copy_async_sync((uintptr_t)b, 0, node,
                                                   (uintptr_t)back, 4,
                                                   STARPU_MAIN_RAM, 8, &event),
                     -EAGAIN);
    arrived(&event, -EAGAIN);
    ck_assert_int_eq(back[0], 0);
    ck_assert_int_eq(back[1], 3);
    ck_assert_int_eq(back[2], 4);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    starpu_shutdown();
}
END_TEST

START_TEST(a_copy_between_no_devices_ends_the_program)
{
    int a = 1, b;

    open_runtime();
    starpu_opencl_copy_async_sync((uintptr_t)&a, 0, STARPU_MAIN_RAM,
                                  (uintptr_t)&b, 0, STARPU_MAIN_RAM, 4, NULL);
}
END_TEST

/* -- an interface of the application, with OpenCL's own methods -- */

struct number {
    uintptr_t at;
};

static int ncalls[3], nasync;

static int to_opencl(void *src, unsigned src_node, void *dst, unsigned dst_node,
                     cl_event *event)
{
    int ret;

    ncalls[0]++;
    starpu_opencl_copy_ram_to_opencl((void *)((struct number *)src)->at,
                                     src_node,
                                     (cl_mem)((struct number *)dst)->at,
                                     dst_node, sizeof(int64_t), 0, event, &ret);
    return ret;
}

static int to_ram(void *src, unsigned src_node, void *dst, unsigned dst_node,
                  cl_event *event)
{
    int ret;

    ncalls[1]++;
    starpu_opencl_copy_opencl_to_ram((cl_mem)((struct number *)src)->at,
                                     src_node,
                                     (void *)((struct number *)dst)->at,
                                     dst_node, sizeof(int64_t), 0, event, &ret);
    return ret;
}

static int any(void *src, unsigned src_node, void *dst, unsigned dst_node,
               void *async)
{
    ncalls[2]++;
    nasync += async != NULL;
    return starpu_interface_copy(((struct number *)src)->at, 0, src_node,
                                 ((struct number *)dst)->at, 0, dst_node,
                                 sizeof(int64_t), async);
}

static void register_number(starpu_data_handle_t handle, int home, void *given)
{
    for (unsigned n = 0; n < STARPU_MAXNODES; n++) {
        struct number *number = starpu_data_get_interface_on_node(handle, n);

        *number = *(struct number *)given;
        if ((int)n != home)
            number->at = 0;
    }
}

static starpu_ssize_t allocate(void *interface, unsigned node)
{
    struct number *number = interface;

    number->at = starpu_malloc_on_node(node, sizeof(int64_t));
    return number->at ? (starpu_ssize_t)sizeof(int64_t) : -ENOMEM;
}

static void release(void *interface, unsigned node)
{
    starpu_free_on_node(node, ((struct number *)interface)->at,
                        sizeof(int64_t));
}

static size_t size_of(starpu_data_handle_t handle)
{
    (void)handle;
    return sizeof(int64_t);
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    (void)handle;
    return 1;
}

static struct starpu_data_copy_methods methods = {
    .ram_to_opencl_async = to_opencl,
    .opencl_to_ram_async = to_ram,
    .any_to_any = any,
};

static char number_name[] = "number";
static struct starpu_data_interface_ops number_ops = {
    .register_data_handle = register_number,
    .allocate_data_on_node = allocate,
    .free_data_on_node = release,
    .copy_methods = &methods,
    .get_size = size_of,
    .footprint = footprint,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct number),
    .name = number_name,
};

static void scale_number(void *buffers[], void *arg)
{
    struct starpu_vector_interface vector = {
        .dev_handle = ((struct number *)buffers[0])->at,
        .nx = 1,
        .elemsize = sizeof(int64_t)};
    void *one = &vector;

    (void)arg;
    start_scale(&one);
}

static struct starpu_codelet cl_number = {
    .opencl_funcs = {scale_number},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

/* A number goes to and fro four times. */
static void move_number(void)
{
    int64_t value = 1;
    struct number given = {(uintptr_t)&value};
    starpu_data_handle_t handle;

    load();
    number_ops.interfaceid = starpu_data_interface_get_next_id();
    starpu_data_register(&handle, STARPU_MAIN_RAM, &given, &number_ops);
    for (int i = 0; i < 4; i++)
        insert(&cl_number, handle, worker_of(i % NDEVICES));
    starpu_data_unregister(handle);
    ck_assert_int_eq(value, 121); /* 1, 4, 13, 40, 121 */
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}

START_TEST(methods_of_an_interface_are_called)
{
    open_runtime();
    move_number();
    ck_assert_int_eq(ncalls[0], 4);
    ck_assert_int_eq(ncalls[1], 4);
    ck_assert_int_eq(ncalls[2], 0);
}
END_TEST

/* For all devices, for those of OpenCL, or by starpu_conf. */
START_TEST(copies_are_made_at_once_on_request)
{
    struct starpu_conf conf;

    if (_i < 2)
        setenv(_i ? "STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY"
                  : "STARPU_DISABLE_ASYNCHRONOUS_COPY",
               "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_OPENCL_PROGRAM_DIR", KERNELS, 1);
    starpu_conf_init(&conf);
    conf.ncpus = 1;
    if (_i == 2)
        conf.disable_asynchronous_opencl_copy = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_int_eq(starpu_asynchronous_copy_disabled(), _i == 0);
    ck_assert_int_eq(starpu_asynchronous_opencl_copy_disabled(), _i != 0);
    move_number();
    ck_assert_int_eq(ncalls[0] + ncalls[1], 0);
    ck_assert_int_eq(ncalls[2], 8);
    ck_assert_int_eq(nasync, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl-copies");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, buffers_are_of_their_device);
    tcase_add_loop_test(tc, bytes_go_to_devices_and_back, 0, 2);
    tcase_add_test(tc, the_nodes_choose_the_copy);
    tcase_add_test_raise_signal(tc, a_copy_between_no_devices_ends_the_program,
                                SIGABRT);
    tcase_add_test(tc, methods_of_an_interface_are_called);
    tcase_add_loop_test(tc, copies_are_made_at_once_on_request, 0, 3);
    return suite_main(suite);
}
