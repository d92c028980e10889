/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-opencl.c - what starpu_opencl.h has, on two devices that PoCL
 * makes of a processor each (on-opencl.sh).
 */
#define CL_TARGET_OPENCL_VERSION 120

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>
#include <starpu.h>

#include "../suite.h"

enum { NDEVICES = 2, LENGTH = 1000 };

static struct starpu_opencl_program program;

static void open_runtime(void)
{
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_OPENCL_PROGRAM_DIR", KERNELS, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

/* The worker of a device. */
static int worker_of(int devid)
{
    return starpu_worker_get_by_devid(STARPU_OPENCL_WORKER, devid);
}

static unsigned node_of(int devid)
{
    return starpu_worker_get_memory_node((unsigned)worker_of(devid));
}

/* -- the devices -- */

START_TEST(each_device_has_a_worker_and_a_memory_node)
{
    char name[64];

    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), NDEVICES);
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), 1);
    ck_assert_uint_eq(starpu_memory_nodes_get_count_by_kind(STARPU_OPENCL_RAM),
                      NDEVICES);
    for (int i = 0; i < NDEVICES; i++) {
        int worker = worker_of(i);

        ck_assert_int_ge(worker, 0);
        ck_assert_int_eq(starpu_worker_get_devid(worker), i);
        starpu_worker_get_name(worker, name, sizeof(name));
        ck_assert(strncmp(name, i ? "OpenCL 1 (" : "OpenCL 0 (", 10) == 0);
        ck_assert_ptr_nonnull(strstr(name, "GiB)"));
        ck_assert_int_eq(starpu_node_get_kind(node_of(i)), STARPU_OPENCL_RAM);
        ck_assert_int_eq(starpu_memory_node_get_devid(node_of(i)), i);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(processors_are_no_devices_unless_asked)
{
    unsetenv("STARPU_OPENCL_ON_CPUS");
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 0);
    starpu_shutdown();
    setenv("STARPU_OPENCL_ONLY_ON_CPUS", "1", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), NDEVICES);
    starpu_shutdown();
}
END_TEST

START_TEST(the_environment_chooses_devices)
{
    setenv("STARPU_NOPENCL", "1", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 1);
    ck_assert_int_ge(worker_of(0), 0);
    starpu_shutdown();
    setenv("STARPU_WORKERS_OPENCLID", "1 0", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 1);
    ck_assert_int_ge(worker_of(1), 0);
    starpu_shutdown();
    setenv("STARPU_NOPENCL", "0", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 0);
    starpu_shutdown();
    unsetenv("STARPU_NOPENCL");
    setenv("STARPU_WORKERS_OPENCLID", "0 2", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
    setenv("STARPU_WORKERS_OPENCLID", "0 0", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
    setenv("STARPU_WORKERS_OPENCLID", "one", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
}
END_TEST

START_TEST(starpu_conf_chooses_devices)
{
    struct starpu_conf conf;

    setenv("STARPU_SILENT", "1", 1);
    starpu_conf_init(&conf);
    conf.ncpus = 1;
    conf.nopencl = 1;
    conf.use_explicit_workers_opencl_gpuid = 1;
    conf.workers_opencl_gpuid[0] = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 1);
    ck_assert_int_ge(worker_of(1), 0);
    starpu_shutdown();
    conf.nopencl = 0;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 0);
    starpu_shutdown();
}
END_TEST

/* Without a number for them, processors are left to what drives devices. */
START_TEST(devices_take_processors)
{
    unsigned alone, beside;

    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NOPENCL", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    alone = starpu_cpu_worker_get_count();
    starpu_shutdown();
    setenv("STARPU_NOPENCL", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    beside = starpu_cpu_worker_get_count();
    starpu_shutdown();
    ck_assert_uint_eq(beside, alone > 1 ? alone - 1 : 1);
}
END_TEST

START_TEST(memory_of_devices_is_limited)
{
    setenv("STARPU_LIMIT_OPENCL_MEM", "64", 1);
    setenv("STARPU_LIMIT_OPENCL_1_MEM", "32", 1);
    open_runtime();
    ck_assert_int_eq(starpu_memory_get_total(node_of(0)), 64 << 20);
    ck_assert_int_eq(starpu_memory_get_total(node_of(1)), 32 << 20);
    starpu_shutdown();
}
END_TEST

START_TEST(a_device_has_a_context_and_a_queue)
{
    open_runtime();
    for (int i = 0; i < NDEVICES; i++) {
        cl_context context, of_queue;
        cl_device_id device, of_context, device_of_queue;
        cl_command_queue queue;
        cl_device_type type;

        starpu_opencl_get_context(i, &context);
        starpu_opencl_get_device(i, &device);
        starpu_opencl_get_queue(i, &queue);
        ck_assert_int_eq(clGetContextInfo(context, CL_CONTEXT_DEVICES,
                                          sizeof(of_context), &of_context,
                                          NULL),
                         CL_SUCCESS);
        ck_assert_ptr_eq(of_context, device);
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(of_queue),
                              &of_queue, NULL);
        clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device_of_queue),
                              &device_of_queue, NULL);
        ck_assert_ptr_eq(of_queue, context);
        ck_assert_ptr_eq(device_of_queue, device);
        ck_assert_int_eq(
            clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, NULL),
            CL_SUCCESS);
        ck_assert_uint_eq(type & CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CPU);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(a_device_without_worker_has_no_context)
{
    cl_context context = (cl_context)1;
    cl_device_id device = NULL;
    cl_command_queue queue = (cl_command_queue)1;

    setenv("STARPU_WORKERS_OPENCLID", "1", 1);
    open_runtime();
    starpu_opencl_get_context(0, &context);
    starpu_opencl_get_device(0, &device);
    starpu_opencl_get_queue(0, &queue);
    ck_assert_ptr_null(context);
    ck_assert_ptr_null(queue);
    ck_assert_ptr_nonnull(device);
    starpu_opencl_get_device(NDEVICES, &device);
    ck_assert_ptr_null(device);
    starpu_opencl_get_device(-1, &device);
    ck_assert_ptr_null(device);
    starpu_shutdown();
}
END_TEST

static int nright;

static void compare_current(void *arg)
{
    int devid = starpu_worker_get_devid(starpu_worker_get_id());
    cl_context context, mine;
    cl_command_queue queue, my_queue;

    (void)arg;
    starpu_opencl_get_context(devid, &context);
    starpu_opencl_get_queue(devid, &queue);
    starpu_opencl_get_current_context(&mine);
    starpu_opencl_get_current_queue(&my_queue);
    if (mine && mine == context && my_queue && my_queue == queue)
        __atomic_add_fetch(&nright, 1, __ATOMIC_RELAXED);
}

START_TEST(a_worker_has_its_own_context_and_queue)
{
    cl_context context = (cl_context)1;
    cl_command_queue queue = (cl_command_queue)1;

    open_runtime();
    starpu_execute_on_each_worker(compare_current, NULL, STARPU_OPENCL);
    ck_assert_int_eq(nright, NDEVICES);
    starpu_opencl_get_current_context(&context);
    starpu_opencl_get_current_queue(&queue);
    ck_assert_ptr_null(context);
    ck_assert_ptr_null(queue);
    starpu_shutdown();
}
END_TEST

/* -- programs and kernels -- */

static void load(void)
{
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_file("scale.cl", &program, "-DMORE=1"),
        0);
}

/* v = 3 v + 1 */
static void start_scale(void *buffers[])
{
    cl_mem v = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
    cl_ulong offset = STARPU_VECTOR_GET_OFFSET(buffers[0]);
    cl_uint n = STARPU_VECTOR_GET_NX(buffers[0]);
    size_t items = n;
    cl_kernel kernel;
    cl_command_queue queue;
    cl_int error;

    ck_assert_int_eq(starpu_opencl_load_kernel(
                         &kernel, &queue, &program, "scale",
                         starpu_worker_get_devid(starpu_worker_get_id())),
                     CL_SUCCESS);
    ck_assert_int_eq(starpu_opencl_set_kernel_args(&error, &kernel, sizeof(v),
                                                   &v, sizeof(offset), &offset,
                                                   sizeof(n), &n, 0),
                     3);
    ck_assert_int_eq(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items,
                                            NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_int_eq(starpu_opencl_release_kernel(kernel), CL_SUCCESS);
}

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

static void insert(struct starpu_codelet *cl, starpu_data_handle_t handle,
                   int worker)
{
    ck_assert_int_eq(starpu_task_insert(cl, STARPU_RW, handle,
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
}

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

static int ncalls[3];

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

START_TEST(methods_of_an_interface_are_called)
{
    int64_t value = 1;
    struct number given = {(uintptr_t)&value};
    starpu_data_handle_t handle;

    open_runtime();
    load();
    number_ops.interfaceid = starpu_data_interface_get_next_id();
    starpu_data_register(&handle, STARPU_MAIN_RAM, &given, &number_ops);
    for (int i = 0; i < 4; i++)
        insert(&cl_number, handle, worker_of(i % NDEVICES));
    starpu_data_unregister(handle);
    ck_assert_int_eq(value, 121); /* 1, 4, 13, 40, 121 */
    ck_assert_int_eq(ncalls[0], 4);
    ck_assert_int_eq(ncalls[1], 4);
    ck_assert_int_eq(ncalls[2], 0);
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

/* -- errors -- */

START_TEST(codes_are_said_in_words)
{
    static const struct {
        cl_int code;
        const char *words;
    } expected[] = {
        {CL_SUCCESS, "Success"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, "Memory object allocation failure"},
        {CL_INVALID_ARG_INDEX, "Invalid argument index"},
        {CL_INVALID_KERNEL_ARGS, "Invalid kernel arguments"},
        {CL_INVALID_WORK_GROUP_SIZE, "Invalid work group size"},
        {CL_PROFILING_INFO_NOT_AVAILABLE, "Profiling info not available"},
        {-1001, "Platform not found"},
        {-13, "unknown OpenCL error"},
        {1, "unknown OpenCL error"},
    };

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        ck_assert_str_eq(starpu_opencl_error_string(expected[i].code),
                         expected[i].words);
}
END_TEST

/* What is printed to stderr from here on. */
static FILE *catch_stderr(void)
{
    FILE *file = tmpfile();

    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    return file;
}

START_TEST(errors_say_where_they_were)
{
    FILE *file = catch_stderr();
    char text[1024];
    size_t n;

    setenv("STARPU_SILENT", "1", 1);
    starpu_opencl_display_error("f", "file.c", 7, NULL, CL_INVALID_KERNEL);
    starpu_opencl_display_error("f", "file.c", 8, "why", CL_SUCCESS);
    STARPU_OPENCL_DISPLAY_ERROR(CL_OUT_OF_RESOURCES);
    fflush(stderr);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = 0;
    ck_assert_ptr_nonnull(
        strstr(text, "[starpu][starpu_opencl_display_error] oops in f "
                     "(file.c:7) ((null)) ... <Invalid kernel> (-48) \n"));
    ck_assert_ptr_nonnull(
        strstr(text, "in f (file.c:8) (why) ... <Success> (0) \n"));
    ck_assert_ptr_nonnull(strstr(text, "test-opencl.c:"));
    ck_assert_ptr_nonnull(strstr(text, "<Out of resources> (-5) \n"));
}
END_TEST

/* Each form of a report. */
START_TEST(a_reported_error_stops)
{
    catch_stderr();
    if (_i == 0)
        starpu_opencl_report_error("f", "file.c", 1, "why", CL_INVALID_VALUE);
    else if (_i == 1)
        STARPU_OPENCL_REPORT_ERROR(CL_INVALID_VALUE);
    else
        STARPU_OPENCL_REPORT_ERROR_WITH_MSG("why", CL_INVALID_VALUE);
}
END_TEST

START_TEST(khronos_headers_measure_nothing)
{
    cl_command_queue queue;
    cl_event event;

    open_runtime();
    starpu_opencl_get_queue(0, &queue);
    clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
    clWaitForEvents(1, &event);
    ck_assert_int_eq(starpu_opencl_collect_stats(event), 0);
    clReleaseEvent(event);
    starpu_shutdown();
}
END_TEST

/* A simulated machine has no device, whatever it describes. */
START_TEST(without_devices_programs_are_left_alone)
{
    struct starpu_opencl_program untouched = {{(cl_program)1}};
    cl_context context = (cl_context)1;

    setenv("STARPU_NOPENCL", "0", 1);
    open_runtime();
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_string("nonsense", &untouched, NULL), 0);
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_file("absent.cl", &untouched, NULL), 0);
    ck_assert_int_eq(starpu_opencl_compile_opencl_from_file("absent.cl", NULL),
                     0);
    ck_assert_int_eq(starpu_opencl_load_binary_opencl("absent", &untouched), 0);
    ck_assert_int_eq(starpu_opencl_unload_opencl(&untouched), 0);
    ck_assert_ptr_eq(untouched.programs[0], (cl_program)1);
    starpu_opencl_get_context(0, &context);
    ck_assert_ptr_null(context);
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opencl");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, each_device_has_a_worker_and_a_memory_node);
    tcase_add_test(tc, processors_are_no_devices_unless_asked);
    tcase_add_test(tc, the_environment_chooses_devices);
    tcase_add_test(tc, starpu_conf_chooses_devices);
    tcase_add_test(tc, devices_take_processors);
    tcase_add_test(tc, memory_of_devices_is_limited);
    tcase_add_test(tc, a_device_has_a_context_and_a_queue);
    tcase_add_test(tc, a_device_without_worker_has_no_context);
    tcase_add_test(tc, a_worker_has_its_own_context_and_queue);
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
    tcase_add_test(tc, a_kernel_needs_a_program);
    tcase_add_test_raise_signal(
        tc, a_kernel_that_the_program_lacks_ends_the_run, SIGABRT);
    tcase_add_test(tc, arguments_are_set_up_to_the_first_that_is_wrong);
    tcase_add_test(tc, buffers_are_of_their_device);
    tcase_add_loop_test(tc, bytes_go_to_devices_and_back, 0, 2);
    tcase_add_test(tc, the_nodes_choose_the_copy);
    tcase_add_test_raise_signal(tc, a_copy_between_no_devices_ends_the_program,
                                SIGABRT);
    tcase_add_test(tc, methods_of_an_interface_are_called);
    tcase_add_test(tc, devices_contribute_to_reductions);
    tcase_add_test(tc, codes_are_said_in_words);
    tcase_add_test(tc, errors_say_where_they_were);
    tcase_add_loop_test_raise_signal(tc, a_reported_error_stops, SIGABRT, 0, 3);
    tcase_add_test(tc, khronos_headers_measure_nothing);
    tcase_add_test(tc, without_devices_programs_are_left_alone);
    return suite_main(suite);
}
