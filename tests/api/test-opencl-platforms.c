/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-opencl-platforms.c - devices of two OpenCL platforms at once, which
 * share nothing: one of PoCL's and one of Oclgrind's (on-opencl.sh), in the order in
 * which the loader has them.
 */
#include "opencl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static cl_platform_id platform_of(int devid)
{
    cl_platform_id platform = NULL;
    cl_device_id device;

    starpu_opencl_get_device(devid, &device);
    ck_assert_int_eq(clGetDeviceInfo(device, CL_DEVICE_PLATFORM,
                                     sizeof(platform), &platform, NULL),
                     CL_SUCCESS);
    return platform;
}

static bool is_pocl(int devid)
{
    char name[128] = "";

    clGetPlatformInfo(platform_of(devid), CL_PLATFORM_NAME, sizeof(name), name,
                      NULL);
    return strstr(name, "Portable") != NULL;
}

/* -- which devices there are -- */

/* Its context and its queue, as a worker sees them. */
static void compare_current(void *arg)
{
    int devid = starpu_worker_get_devid(starpu_worker_get_id());
    cl_context context, mine;
    cl_command_queue queue, my_queue;

    starpu_opencl_get_context(devid, &context);
    starpu_opencl_get_queue(devid, &queue);
    starpu_opencl_get_current_context(&mine);
    starpu_opencl_get_current_queue(&my_queue);
    ((cl_context *)arg)[devid] =
        mine == context && my_queue == queue ? mine : NULL;
}

START_TEST(each_device_is_in_a_context_of_its_platform)
{
    cl_context seen[NDEVICES] = {NULL};

    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), NDEVICES);
    ck_assert_ptr_ne(platform_of(0), platform_of(1));
    starpu_execute_on_each_worker(compare_current, seen, STARPU_OPENCL);
    for (int i = 0; i < NDEVICES; i++) {
        intptr_t properties[8] = {0};
        cl_context context, of_queue;
        cl_device_id device, of_context;
        cl_command_queue queue;

        starpu_opencl_get_context(i, &context);
        starpu_opencl_get_device(i, &device);
        starpu_opencl_get_queue(i, &queue);
        ck_assert_ptr_eq(seen[i], context);
        clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(of_context),
                         &of_context, NULL);
        ck_assert_ptr_eq(of_context, device);
        clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof(properties),
                         properties, NULL);
        ck_assert_int_eq(properties[0], CL_CONTEXT_PLATFORM);
        ck_assert_int_eq(properties[1], (intptr_t)platform_of(i));
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(of_queue),
                              &of_queue, NULL);
        ck_assert_ptr_eq(of_queue, context);
    }
    starpu_shutdown();
}
END_TEST

/* Oclgrind's device says that it is a GPU, too. */
START_TEST(the_environment_chooses_among_all)
{
    int first, second;

    setenv("STARPU_WORKERS_OPENCLID", "1 0", 1);
    open_runtime();
    first = starpu_worker_get_by_type(STARPU_OPENCL_WORKER, 0);
    second = starpu_worker_get_by_type(STARPU_OPENCL_WORKER, 1);
    ck_assert_int_eq(starpu_worker_get_devid(first), 1);
    ck_assert_int_eq(starpu_worker_get_devid(second), 0);
    ck_assert_ptr_ne(platform_of(0), platform_of(1));
    starpu_shutdown();
    setenv("STARPU_NOPENCL", "1", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 1);
    ck_assert_int_ge(worker_of(1), 0);
    starpu_shutdown();
    unsetenv("STARPU_NOPENCL");
    setenv("STARPU_WORKERS_OPENCLID", "2", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
    unsetenv("STARPU_WORKERS_OPENCLID");
    unsetenv("STARPU_OPENCL_ON_CPUS");
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 1);
    ck_assert(!is_pocl(0));
    starpu_shutdown();
    setenv("STARPU_OPENCL_ONLY_ON_CPUS", "1", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), NDEVICES);
    starpu_shutdown();
}
END_TEST

/* -- data -- */

static void scale(void *buffers[], void *arg)
{
    (void)arg;
    start_scale(buffers);
}

static struct starpu_codelet cl_scale = {
    .opencl_funcs = {scale},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

/* Each row of a matrix's piece as a vector. */
static void scale_rows(void *buffers[], void *arg)
{
    size_t row = STARPU_MATRIX_GET_LD(buffers[0]) *
                 STARPU_MATRIX_GET_ELEMSIZE(buffers[0]);

    (void)arg;
    for (unsigned y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); y++) {
        struct starpu_vector_interface vector = {
            .dev_handle = STARPU_MATRIX_GET_DEV_HANDLE(buffers[0]),
            .offset = STARPU_MATRIX_GET_OFFSET(buffers[0]) + y * row,
            .nx = STARPU_MATRIX_GET_NX(buffers[0]),
            .elemsize = sizeof(int64_t),
        };
        void *one = &vector;

        start_scale(&one);
    }
}

static struct starpu_codelet cl_rows = {
    .opencl_funcs = {scale_rows},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

START_TEST(values_go_from_one_platform_to_the_other)
{
    enum { ROUNDS = 6 };
    int64_t values[LENGTH], expected[LENGTH];
    starpu_data_handle_t handle;

    open_runtime();
    load();
    for (int i = 0; i < LENGTH; i++)
        values[i] = expected[i] = i;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                LENGTH, sizeof(values[0]));
    for (int round = 0; round < ROUNDS; round++) {
        insert(&cl_scale, handle, worker_of(round % NDEVICES));
        for (int i = 0; i < LENGTH; i++)
            expected[i] = 3 * expected[i] + 1;
    }
    starpu_data_unregister(handle);
    ck_assert_mem_eq(values, expected, sizeof(values));
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

/* Strided, with padding that nobody touches; each piece on both in turn. */
START_TEST(pieces_of_a_matrix_are_on_both)
{
    enum { NX = 7, NY = 6, LD = 9, PARTS = 3, ROUNDS = 2 };
    int64_t values[NY][LD] = {{0}};
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_block, .nchildren = PARTS};
    starpu_data_handle_t handle;

    open_runtime();
    load();
    starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, LD,
                                NX, NY, sizeof(int64_t));
    for (int round = 0; round < ROUNDS; round++) {
        insert(&cl_rows, handle, worker_of(round % NDEVICES));
        starpu_data_partition(handle, &columns);
        for (int p = 0; p < PARTS; p++)
            insert(&cl_rows, starpu_data_get_sub_data(handle, 1, p),
                   worker_of((round + p) % NDEVICES));
        starpu_data_unpartition(handle, node_of(round % NDEVICES));
    }
    starpu_data_unregister(handle);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < LD; x++)
            ck_assert_int_eq(values[y][x], x < NX ? 40 : 0);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

/* A buffer of four values on each device; copies by the application's calls. */
START_TEST(applications_copy_between_platforms)
{
    int to[4] = {1, 2, 3, 4}, back[4] = {0};
    cl_mem memory[NDEVICES];
    cl_event event;
    int result;

    open_runtime();
    for (int i = 0; i < NDEVICES; i++)
        ck_assert_int_eq(starpu_opencl_allocate_memory(
                             i, &memory[i], sizeof(to), CL_MEM_READ_WRITE),
                         CL_SUCCESS);
    ck_assert_int_eq(
        starpu_opencl_copy_ram_to_opencl(to, STARPU_MAIN_RAM, memory[0],
                                         node_of(0), sizeof(to), 0, NULL, NULL),
        CL_SUCCESS);
    ck_assert_int_eq(starpu_opencl_copy_async_sync(
                         (uintptr_t)to, 0, STARPU_MAIN_RAM,
                         (uintptr_t)memory[1], 0, node_of(1), sizeof(to), NULL),
                     0);
    /* The middle two of the first one become the last two of the other. */
    ck_assert_int_eq(starpu_opencl_copy_opencl_to_opencl(
                         memory[0], node_of(0), sizeof(int), memory[1],
                         node_of(1), 2 * sizeof(int), 2 * sizeof(int), &event,
                         &result),
                     CL_SUCCESS);
    ck_assert_int_eq(result, -EAGAIN);
    ck_assert_int_eq(clWaitForEvents(1, &event), CL_SUCCESS);
    clReleaseEvent(event);
    ck_assert_int_eq(starpu_opencl_copy_opencl_to_ram(
                         memory[1], node_of(1), back, STARPU_MAIN_RAM,
                         sizeof(back), 0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_mem_eq(back, ((int[]){1, 2, 2, 3}), sizeof(back));
    for (int i = 0; i < NDEVICES; i++)
        clReleaseMemObject(memory[i]);
    starpu_shutdown();
}
END_TEST

/* A task on each of so many devices. */
static void run_on_all(unsigned n)
{
    int64_t values[LENGTH] = {0}, expected = 0;
    starpu_data_handle_t handle;

    load();
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                LENGTH, sizeof(values[0]));
    for (unsigned i = 0; i < n; i++) {
        insert(&cl_scale, handle, worker_of((int)i));
        expected = 3 * expected + 1;
    }
    starpu_data_unregister(handle);
    for (int i = 0; i < LENGTH; i++)
        ck_assert_int_eq(values[i], expected);
    starpu_opencl_unload_opencl(&program);
}

/* Oclgrind's device, of one unit, cannot be cut. */
START_TEST(parts_of_one_are_beside_another_one)
{
    unsigned nparts = 0;
    char name[64];

    setenv("POCL_MAX_PTHREAD_COUNT", "2", 1);
    setenv("ORRERY_OPENCL_PARTS", "1", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 3);
    for (int i = 0; i < 3; i++) {
        starpu_worker_get_name(worker_of(i), name, sizeof(name));
        ck_assert_int_eq(strstr(name, " of 2)") != NULL, is_pocl(i));
        nparts += is_pocl(i);
    }
    ck_assert_uint_eq(nparts, 2);
    run_on_all(3);
    starpu_shutdown();
}
END_TEST

/* -- binaries -- */

/* The file of a device's binary, for free(). */
static char *binary_of(const char *home, int devid)
{
    cl_device_id device;
    cl_device_type type;
    cl_uint vendor;
    char *path;

    starpu_opencl_get_device(devid, &device);
    clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL);
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    ck_assert_int_gt(
        asprintf(&path, "%s/.starpu/opencl/scale.%s.vendor_id_%d_device_id_%d",
                 home, type & CL_DEVICE_TYPE_GPU ? "gpu" : "cpu", (int)vendor,
                 devid),
        0);
    return path;
}

/* What one platform made for itself stands where the other one's was. */
static void put_in_place(const char *home, int from, int to)
{
    char *source = binary_of(home, from), *target = binary_of(home, to);
    char *command;

    ck_assert_int_gt(asprintf(&command, "cp %s %s && cp %s.made-by %s.made-by",
                              source, target, source, target),
                     0);
    ck_assert_int_eq(system(command), 0);
    free(source);
    free(target);
    free(command);
}

/* In the test's usual home, where the links are measured already. */
START_TEST(each_platform_has_binaries_of_its_own)
{
    const char *home = getenv("STARPU_HOME");
    int64_t values[LENGTH] = {0};
    starpu_data_handle_t handle;

    open_runtime();
    for (int other = 0; other < NDEVICES; other++) {
        ck_assert_int_eq(
            starpu_opencl_compile_opencl_from_file("scale.cl", "-DMORE=1"), 0);
        ck_assert_int_eq(starpu_opencl_load_binary_opencl("scale", &program),
                         0);
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                    LENGTH, sizeof(values[0]));
        for (int i = 0; i < NDEVICES; i++)
            insert(&cl_scale, handle, worker_of(i));
        starpu_data_unregister(handle);
        ck_assert_int_eq(values[LENGTH - 1], other ? 40 : 4);
        starpu_opencl_unload_opencl(&program);
        put_in_place(home, 1 - other, other);
        ck_assert_int_eq(starpu_opencl_load_binary_opencl("scale", &program),
                         1);
        ck_assert_ptr_null(program.programs[other]);
        starpu_opencl_unload_opencl(&program);
    }
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl-platforms");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    /* First, since it has most devices, whose links are measured once. */
    tcase_add_test(tc, parts_of_one_are_beside_another_one);
    tcase_add_test(tc, each_device_is_in_a_context_of_its_platform);
    tcase_add_test(tc, the_environment_chooses_among_all);
    tcase_add_test(tc, values_go_from_one_platform_to_the_other);
    tcase_add_test(tc, pieces_of_a_matrix_are_on_both);
    tcase_add_test(tc, applications_copy_between_platforms);
    tcase_add_test(tc, each_platform_has_binaries_of_its_own);
    return suite_main(suite);
}
