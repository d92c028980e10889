/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/test-opencl-kernels.c - OpenCL kernels on data, programs, binaries, arguments. */
#include "opencl.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"

/* -- programs and kernels -- */

static void scale(void *buffers[], void *arg)
{
    cl_command_queue queue;

    (void)arg;
    start_scale(buffers);
    starpu_opencl_get_current_queue(&queue);
    clFinish(queue);
}

static void scale_async(void *buffers[], void *arg)
{
    (void)arg;
    start_scale(buffers);
}

static void scale_cpu(void *buffers[], void *arg)
{
    int64_t *v = (int64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] = 3 * v[i] + 1;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "test_opencl_scale"};

/* A codelet that waits for its kernel, and one that does not. */
static struct starpu_codelet cl_scale[2] = {
    {
        .cpu_funcs = {scale_cpu},
        .opencl_funcs = {scale},
        .nbuffers = 1,
        .modes = {STARPU_RW},
    },
    {
        .cpu_funcs = {scale_cpu},
        .opencl_funcs = {scale_async},
        .opencl_flags = {STARPU_OPENCL_ASYNC},
        .nbuffers = 1,
        .modes = {STARPU_RW},
        .model = &model,
    },
};

/* Runs rounds of tasks on pieces of a vector, on all workers in turn, and
 * compares. */
static void scale_and_compare(struct starpu_codelet *cl)
{
    enum { PIECES = 7, ROUNDS = 6 };
    static int64_t v[LENGTH], expected[LENGTH];
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};
    int nworkers = (int)starpu_worker_get_count();
    starpu_data_handle_t handle;

    for (int i = 0; i < LENGTH; i++)
        v[i] = expected[i] = i;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, LENGTH,
                                sizeof(*v));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LENGTH; i++)
            expected[i] = 3 * (3 * expected[i] + 1) + 1;
        insert(cl, handle, worker_of(round % NDEVICES));
        starpu_data_partition(handle, &pieces);
        for (int p = 0; p < PIECES; p++)
            insert(cl, starpu_data_get_sub_data(handle, 1, p),
                   (round + p) % nworkers);
        starpu_data_unpartition(handle, node_of(round % NDEVICES));
    }
    starpu_data_unregister(handle);
    ck_assert_int_eq(memcmp(v, expected, sizeof(v)), 0);
}

START_TEST(kernels_compute_on_pieces_of_buffers)
{
    open_runtime();
    load();
    scale_and_compare(&cl_scale[_i]);
    ck_assert_int_eq(starpu_opencl_unload_opencl(&program), 0);
    starpu_shutdown();
}
END_TEST

/* The values of a sparse matrix, which has no offset for its parts. */
static void scale_sparse(void *buffers[], void *arg)
{
    const struct starpu_csr_interface *matrix = buffers[0];
    struct starpu_vector_interface vector = {.dev_handle = matrix->nzval,
                                             .nx = matrix->nnz,
                                             .elemsize = sizeof(int64_t)};
    void *one = &vector;

    (void)arg;
    start_scale(&one);
}

static struct starpu_codelet cl_sparse = {
    .opencl_funcs = {scale_sparse},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

START_TEST(parts_of_sparse_matrices_are_apart)
{
    enum { ROWS = 8 };
    int64_t values[ROWS] = {0};
    uint32_t columns[ROWS], rows[ROWS + 1];
    struct starpu_data_filter blocks = {
        .filter_func = starpu_csr_filter_vertical_block, .nchildren = 3};
    starpu_data_handle_t handle;

    open_runtime();
    load();
    for (uint32_t i = 0; i <= ROWS; i++)
        columns[i % ROWS] = rows[i] = i;
    columns[0] = 0;
    starpu_csr_data_register(&handle, STARPU_MAIN_RAM, ROWS, ROWS,
                             (uintptr_t)values, columns, rows, 0,
                             sizeof(values[0]));
    insert(&cl_sparse, handle, worker_of(0));
    starpu_data_partition(handle, &blocks);
    for (int round = 0; round < 2; round++)
        for (int p = 0; p < 3; p++)
            insert(&cl_sparse, starpu_data_get_sub_data(handle, 1, p),
                   worker_of((p + round) % NDEVICES));
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    insert(&cl_sparse, handle, worker_of(1));
    starpu_data_unregister(handle);
    for (int i = 0; i < ROWS; i++)
        ck_assert_int_eq(values[i], 40); /* 0, 1, 4, 13, 40 */
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

START_TEST(data_larger_than_a_device_are_evicted)
{
    enum { NDATA = 12, LONG = 1 << 16 }; /* 512 KiB each */
    static int64_t v[NDATA][LONG];
    starpu_data_handle_t handles[NDATA];

    setenv("STARPU_LIMIT_OPENCL_MEM", "2", 1);
    open_runtime();
    load();
    for (int d = 0; d < NDATA; d++)
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)v[d], LONG, sizeof(v[d][0]));
    for (int round = 0; round < 4; round++)
        for (int d = 0; d < NDATA; d++)
            insert(&cl_scale[1], handles[d], worker_of((round + d) % NDEVICES));
    for (int d = 0; d < NDATA; d++) {
        starpu_data_unregister(handles[d]);
        for (int i = 0; i < LONG; i++)
            ck_assert_int_eq(v[d][i], 40); /* 0, 1, 4, 13, 40 */
    }
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

/* Both codelets' tasks have times, and the model has those of kernels. */
START_TEST(event_times_feed_the_model)
{
    enum { TASKS = 30 };
    int64_t v[LENGTH] = {0};
    struct starpu_task *tasks[TASKS];
    starpu_data_handle_t handle;
    double expected;

    setenv("STARPU_CALIBRATE", "2", 1);
    setenv("STARPU_PROFILING", "1", 1);
    open_runtime();
    load();
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, LENGTH,
                                sizeof(*v));
    for (int t = 0; t < TASKS; t++) {
        tasks[t] = starpu_task_create();
        tasks[t]->cl = &cl_scale[1];
        tasks[t]->handles[0] = handle;
        tasks[t]->execute_on_a_specific_worker = 1;
        tasks[t]->workerid = (unsigned)worker_of(1);
        tasks[t]->destroy = 0;
        ck_assert_int_eq(starpu_task_submit(tasks[t]), 0);
    }
    starpu_task_wait_for_all();
    for (int t = 0; t < TASKS; t++) {
        struct starpu_profiling_task_info *info = tasks[t]->profiling_info;
        double us =
            starpu_timing_timespec_delay_us(&info->start_time, &info->end_time);

        ck_assert_double_ge(us, 0);
        ck_assert_double_le(us, 10e6);
    }
    expected = starpu_task_expected_length(
        tasks[0], starpu_worker_get_perf_archtype(worker_of(1), 0), 0);
    ck_assert(expected >= 0); /* and not NaN: unknown */
    for (int t = 0; t < TASKS; t++)
        starpu_task_destroy(tasks[t]);
    starpu_data_unregister(handle);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

START_TEST(sources_are_found_where_they_may_be)
{
    char file[1024], folder[1024], text[16384];
    char *path, *dir, *source, *name;

    open_runtime();
    starpu_opencl_load_program_source("scale.cl", file, folder, text);
    ck_assert_str_eq(file, KERNELS "/scale.cl");
    ck_assert_str_eq(folder, KERNELS "/");
    ck_assert_ptr_nonnull(strstr(text, "__kernel void scale"));
    starpu_opencl_load_program_source_malloc(KERNELS "/factor.h", &path, &dir,
                                             &source);
    ck_assert_str_eq(path, KERNELS "/factor.h");
    ck_assert_str_eq(dir, KERNELS "/");
    ck_assert_ptr_nonnull(strstr(source, "#define FACTOR 3\n"));
    free(path);
    free(dir);
    free(source);
    /* In the present folder, there is no folder to name. */
    name = getcwd(NULL, 0);
    ck_assert_int_eq(chdir(KERNELS), 0);
    starpu_opencl_load_program_source_malloc("scale.cl", &path, &dir, &source);
    ck_assert_str_eq(path, "scale.cl");
    ck_assert_str_eq(dir, "");
    free(path);
    free(dir);
    free(source);
    ck_assert_int_eq(chdir(name), 0);
    free(name);
    starpu_shutdown();
}
END_TEST

START_TEST(a_source_that_is_nowhere_ends_the_program)
{
    char *path, *dir, *source;

    open_runtime();
    starpu_opencl_load_program_source_malloc("absent.cl", &path, &dir, &source);
}
END_TEST

START_TEST(what_does_not_compile_is_1)
{
    struct starpu_opencl_program broken;

    open_runtime();
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_string(
            "__kernel void k(__global int *v) { v[0] = w; }", &broken, NULL),
        1);
    /* MORE is not defined. */
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_file("scale.cl", &broken, NULL), 1);
    ck_assert_int_eq(starpu_opencl_compile_opencl_from_string(
                         "not a program", "broken.cl", NULL),
                     1);
    ck_assert_int_eq(starpu_opencl_compile_opencl_from_file("scale.cl", NULL),
                     1);
    starpu_shutdown();
}
END_TEST

static const char one_kernel[] =
    "__kernel void set(__global int *v, int to) { v[get_global_id(0)] = to; }";

/* Runs `set` of the program on a device and reads what it has written. */
static int run_set(struct starpu_opencl_program *from, int devid, int to)
{
    cl_kernel kernel;
    cl_command_queue queue;
    cl_mem memory;
    size_t items = 1;
    int value = -1;
    cl_int error = 0;

    ck_assert_int_eq(starpu_opencl_allocate_memory(
                         devid, &memory, sizeof(value), CL_MEM_READ_WRITE),
                     CL_SUCCESS);
    ck_assert_int_eq(
        starpu_opencl_load_kernel(&kernel, &queue, from, "set", devid),
        CL_SUCCESS);
    ck_assert_int_eq(starpu_opencl_set_kernel_args(&error, &kernel,
                                                   sizeof(memory), &memory,
                                                   sizeof(to), &to, 0),
                     2);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(value), &value, 0,
                        NULL, NULL);
    starpu_opencl_release_kernel(kernel);
    clReleaseMemObject(memory);
    return value;
}

START_TEST(a_program_is_made_for_each_device)
{
    open_runtime();
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_string(one_kernel, &program, "-w"), 0);
    for (int i = 0; i < NDEVICES; i++)
        ck_assert_int_eq(run_set(&program, i, 40 + i), 40 + i);
    for (int i = NDEVICES; i < STARPU_MAXOPENCLDEVS; i++)
        ck_assert_ptr_null(program.programs[i]);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

START_TEST(unloading_releases_the_programs)
{
    cl_uint count = 0;

    open_runtime();
    starpu_opencl_load_opencl_from_string(one_kernel, &program, NULL);
    clRetainProgram(program.programs[1]);
    ck_assert_int_eq(starpu_opencl_unload_opencl(&program), 0);
    clGetProgramInfo(program.programs[1], CL_PROGRAM_REFERENCE_COUNT,
                     sizeof(count), &count, NULL);
    ck_assert_uint_eq(count, 1);
    clReleaseProgram(program.programs[1]);
    starpu_shutdown();
}
END_TEST

/* The file of a device's binary, in the home that the test has made. */
static const char *kept(const char *home, const char *base, int devid)
{
    static char path[4096];
    cl_device_id device;
    cl_uint vendor;

    starpu_opencl_get_device(devid, &device);
    clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL);
    snprintf(path, sizeof(path),
             "%s/.starpu/opencl/%s.cpu.vendor_id_%d_device_id_%d", home, base,
             (int)vendor, devid);
    return path;
}

START_TEST(binaries_are_kept_and_read)
{
    char home[] = "/tmp/orrery-opencl-XXXXXX", command[64];

    ck_assert_ptr_nonnull(mkdtemp(home));
    setenv("STARPU_HOME", home, 1);
    open_runtime();
    ck_assert_int_eq(starpu_opencl_compile_opencl_from_string(
                         one_kernel, "folder/set.cl", NULL),
                     0);
    for (int i = 0; i < NDEVICES; i++)
        ck_assert_int_eq(access(kept(home, "set", i), R_OK), 0);
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("set.cl", &program), 0);
    for (int i = 0; i < NDEVICES; i++)
        ck_assert_int_eq(run_set(&program, i, 50 + i), 50 + i);
    starpu_opencl_unload_opencl(&program);

    ck_assert_int_eq(
        starpu_opencl_compile_opencl_from_file("scale.cl", "-DMORE=1"), 0);
    ck_assert_int_eq(access(kept(home, "scale", 1), R_OK), 0);
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("scale", &program), 0);
    scale_and_compare(&cl_scale[1]);
    starpu_opencl_unload_opencl(&program);

    ck_assert_int_eq(starpu_opencl_load_binary_opencl("never", &program), 1);
    starpu_shutdown();
    snprintf(command, sizeof(command), "rm -r %s", home);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Writes `text` to the file that says who made the binary; NULL: there is none. */
static void made_by(const char *binary, const char *text)
{
    char path[5000];
    FILE *file;

    snprintf(path, sizeof(path), "%s.made-by", binary);
    ck_assert_int_eq(unlink(path), 0);
    if (!text)
        return;
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* Names of files have a vendor and a number only: both are the same when a driver was
 * updated, or where platforms come in another order. Some platforms take what another
 * one made for what they made themselves. */
START_TEST(a_binary_of_another_driver_is_refused)
{
    char home[] = "/tmp/orrery-opencl-XXXXXX", command[64];

    ck_assert_ptr_nonnull(mkdtemp(home));
    setenv("STARPU_HOME", home, 1);
    open_runtime();
    ck_assert_int_eq(
        starpu_opencl_compile_opencl_from_string(one_kernel, "set.cl", NULL),
        0);
    made_by(kept(home, "set", 1), "another driver\n");
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("set", &program), 1);
    ck_assert_ptr_nonnull(program.programs[0]);
    ck_assert_ptr_null(program.programs[1]);
    starpu_opencl_unload_opencl(&program);
    /* Another runtime writes no such file. */
    made_by(kept(home, "set", 1), NULL);
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("set", &program), 0);
    ck_assert_int_eq(run_set(&program, 1, 7), 7);
    starpu_opencl_unload_opencl(&program);
    ck_assert_int_eq(
        starpu_opencl_compile_opencl_from_string(one_kernel, "set.cl", NULL),
        0);
    made_by(kept(home, "set", 0), "");
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("set", &program), 1);
    starpu_opencl_unload_opencl(&program);
    ck_assert_int_eq(
        starpu_opencl_compile_opencl_from_string(one_kernel, "set.cl", NULL),
        0);
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("set", &program), 0);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
    snprintf(command, sizeof(command), "rm -r %s", home);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_kernel_needs_a_program)
{
    struct starpu_opencl_program none = {{NULL}};
    cl_kernel kernel;
    cl_command_queue queue = NULL, expected;

    open_runtime();
    ck_assert_int_eq(starpu_opencl_load_kernel(&kernel, &queue, &none, "k", 1),
                     CL_INVALID_PROGRAM);
    starpu_opencl_get_queue(1, &expected);
    ck_assert_ptr_eq(queue, expected);
    ck_assert_int_eq(
        starpu_opencl_load_kernel(&kernel, &queue, &none, "k", NDEVICES),
        CL_INVALID_PROGRAM);
    starpu_shutdown();
}
END_TEST

START_TEST(a_kernel_that_the_program_lacks_ends_the_run)
{
    cl_kernel kernel;
    cl_command_queue queue;

    open_runtime();
    starpu_opencl_load_opencl_from_string(one_kernel, &program, NULL);
    starpu_opencl_load_kernel(&kernel, &queue, &program, "unset", 0);
}
END_TEST

START_TEST(arguments_are_set_up_to_the_first_that_is_wrong)
{
    cl_kernel kernel;
    cl_command_queue queue;
    cl_int error = 77;
    cl_mem memory;
    cl_uint count;
    int to = 1;

    open_runtime();
    starpu_opencl_load_opencl_from_string(one_kernel, &program, NULL);
    starpu_opencl_allocate_memory(0, &memory, 4, CL_MEM_READ_WRITE);
    starpu_opencl_load_kernel(&kernel, &queue, &program, "set", 0);
    ck_assert_int_eq(starpu_opencl_set_kernel_args(&error, &kernel, 0), 0);
    ck_assert_int_eq(starpu_opencl_set_kernel_args(&error, &kernel,
                                                   sizeof(memory), &memory, 0),
                     1);
    ck_assert_int_eq(error, 77);
    ck_assert_int_eq(
        starpu_opencl_set_kernel_args(&error, &kernel, sizeof(memory), &memory,
                                      sizeof(to), &to, sizeof(to), &to, 0),
        2);
    ck_assert_int_eq(error, CL_INVALID_ARG_INDEX);
    clRetainKernel(kernel);
    ck_assert_int_eq(starpu_opencl_release_kernel(kernel), CL_SUCCESS);
    clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(count), &count,
                    NULL);
    ck_assert_uint_eq(count, 1);
    clReleaseKernel(kernel);
    clReleaseMemObject(memory);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
}
END_TEST

/* -- reductions -- */

static void set_zero(void *buffers[], void *arg)
{
    cl_mem v = (cl_mem)STARPU_VARIABLE_GET_DEV_HANDLE(buffers[0]);
    cl_command_queue queue;
    cl_int error;
    int64_t *at;

    (void)arg;
    starpu_opencl_get_current_queue(&queue);
    at = clEnqueueMapBuffer(queue, v, CL_TRUE, CL_MAP_WRITE,
                            STARPU_VARIABLE_GET_OFFSET(buffers[0]), sizeof(*at),
                            0, NULL, NULL, &error);
    *at = 0;
    clEnqueueUnmapMemObject(queue, v, at, 0, NULL, NULL);
}

static void add(void *buffers[], int64_t more, bool other)
{
    cl_mem v = (cl_mem)STARPU_VARIABLE_GET_DEV_HANDLE(buffers[0]);
    cl_command_queue queue;
    int64_t value;

    starpu_opencl_get_current_queue(&queue);
    if (other)
        clEnqueueReadBuffer(queue,
                            (cl_mem)STARPU_VARIABLE_GET_DEV_HANDLE(buffers[1]),
                            CL_TRUE, 0, sizeof(more), &more, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, v, CL_TRUE, 0, sizeof(value), &value, 0, NULL,
                        NULL);
    value += more;
    clEnqueueWriteBuffer(queue, v, CL_TRUE, 0, sizeof(value), &value, 0, NULL,
                         NULL);
}

static void add_one(void *buffers[], void *arg)
{
    (void)arg;
    add(buffers, 1, false);
}

static void add_up(void *buffers[], void *arg)
{
    (void)arg;
    add(buffers, 0, true);
}

static struct starpu_codelet cl_zero = {
    .opencl_funcs = {set_zero}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet cl_add_up = {
    .opencl_funcs = {add_up},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R}};
static struct starpu_codelet cl_add_one = {
    .opencl_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_REDUX}};

START_TEST(devices_contribute_to_reductions)
{
    int64_t sum = 100;
    starpu_data_handle_t handle;

    open_runtime();
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
                                  sizeof(sum));
    starpu_data_set_reduction_methods(handle, &cl_add_up, &cl_zero);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_add_one, STARPU_REDUX, handle,
                                            STARPU_EXECUTE_ON_WORKER,
                                            worker_of(i % NDEVICES), 0),
                         0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(sum, 120);
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl-kernels");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, kernels_compute_on_pieces_of_buffers, 0, 2);
    tcase_add_test(tc, parts_of_sparse_matrices_are_apart);
    tcase_add_test(tc, data_larger_than_a_device_are_evicted);
    tcase_add_test(tc, event_times_feed_the_model);
    tcase_add_test(tc, sources_are_found_where_they_may_be);
    tcase_add_test_raise_signal(tc, a_source_that_is_nowhere_ends_the_program,
                                SIGABRT);
    tcase_add_test(tc, what_does_not_compile_is_1);
    tcase_add_test(tc, a_program_is_made_for_each_device);
    tcase_add_test(tc, unloading_releases_the_programs);
    tcase_add_test(tc, binaries_are_kept_and_read);
    tcase_add_test(tc, a_binary_of_another_driver_is_refused);
    tcase_add_test(tc, a_kernel_needs_a_program);
    tcase_add_test_raise_signal(
        tc, a_kernel_that_the_program_lacks_ends_the_run, SIGABRT);
    tcase_add_test(tc, arguments_are_set_up_to_the_first_that_is_wrong);
    tcase_add_test(tc, devices_contribute_to_reductions);
    return suite_main(suite);
}
