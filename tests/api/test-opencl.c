/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/test-opencl.c - starpu_opencl.h: the devices, errors. */
#include "opencl.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"

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
    setenv("STARPU_WORKERS_OPENCLID", "one", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
    setenv("STARPU_WORKERS_OPENCLID", "1 1", 1);
    open_runtime();
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 1);
    ck_assert_int_ge(worker_of(1), 0);
    starpu_shutdown();
}
END_TEST

static void scale_and_wait(void *buffers[], void *arg)
{
    cl_command_queue queue;

    (void)arg;
    start_scale(buffers);
    starpu_opencl_get_current_queue(&queue);
    clFinish(queue);
}

static struct starpu_codelet cl_scale = {
    .opencl_funcs = {scale_and_wait},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "scale",
};

/* A task on each of so many. */
static void run_on_all(unsigned n)
{
    int64_t values[LENGTH];
    starpu_data_handle_t handle;

    ck_assert_uint_eq(starpu_opencl_worker_get_count(), n);
    for (int i = 0; i < LENGTH; i++)
        values[i] = 0;
    load();
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                LENGTH, sizeof(values[0]));
    for (unsigned i = 0; i < n; i++)
        insert(&cl_scale, handle, worker_of((int)i));
    starpu_data_unregister(handle);
    for (int i = 0; i < LENGTH; i++)
        ck_assert_int_eq(values[i], n == 1 ? 1 : n == 2 ? 4 : 13);
    starpu_opencl_unload_opencl(&program);
}

/* Two processors in one device, which is cut or is not. */
START_TEST(devices_are_cut_into_parts)
{
    size_t whole;
    char name[64];

    setenv("POCL_DEVICES", "pthread", 1);
    setenv("POCL_MAX_PTHREAD_COUNT", "2", 1);
    open_runtime();
    run_on_all(1);
    whole = (size_t)starpu_memory_get_total(node_of(0));
    starpu_shutdown();
    setenv("ORRERY_OPENCL_PARTS", "1", 1);
    open_runtime();
    run_on_all(2);
    for (int i = 0; i < 2; i++) {
        starpu_worker_get_name(worker_of(i), name, sizeof(name));
        ck_assert_ptr_nonnull(
            strstr(name, i ? ", part 2 of 2)" : ", part 1 of 2)"));
        ck_assert_uint_le((size_t)starpu_memory_get_total(node_of(i)),
                          whole / 2 + 1);
    }
    starpu_shutdown();
    /* Two units are no two parts. */
    setenv("ORRERY_OPENCL_PARTS", "2", 1);
    open_runtime();
    run_on_all(1);
    starpu_shutdown();
    setenv("ORRERY_OPENCL_PARTS", "some", 1);
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

/* -- a device whose worker is a thread of the application's -- */

static pthread_t driver_thread;

static void scale_in_thread(void *buffers[], void *arg)
{
    (void)arg;
    driver_thread = pthread_self();
    start_scale(buffers);
}

static struct starpu_codelet cl_in_thread = {
    .opencl_funcs = {scale_in_thread},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

static void *drive(void *driver)
{
    ck_assert_int_eq(starpu_driver_run(driver), 0);
    return NULL;
}

/* It is named by its cl_device_id. */
START_TEST(an_application_drives_a_device)
{
    struct starpu_driver driver = {.type = STARPU_OPENCL_WORKER}, none = driver;
    struct starpu_conf conf;
    starpu_data_handle_t handle;
    int64_t values[LENGTH];
    pthread_t thread;

    open_runtime();
    starpu_opencl_get_device(1, &driver.id.opencl_id);
    starpu_shutdown();
    starpu_conf_init(&conf);
    conf.not_launched_drivers = &driver;
    conf.n_not_launched_drivers = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_int_eq(starpu_driver_run(&none), -EINVAL);
    load();
    for (int i = 0; i < LENGTH; i++)
        values[i] = i;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                LENGTH, sizeof(values[0]));
    insert(&cl_in_thread, handle, worker_of(1));
    ck_assert_int_eq(pthread_create(&thread, NULL, drive, &driver), 0);
    starpu_data_unregister(handle);
    ck_assert(pthread_equal(driver_thread, thread));
    for (int i = 0; i < LENGTH; i++)
        ck_assert_int_eq(values[i], 3 * i + 1);
    starpu_drivers_request_termination();
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(starpu_opencl_unload_opencl(&program), 0);
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
    tcase_add_test(tc, devices_are_cut_into_parts);
    tcase_add_test(tc, starpu_conf_chooses_devices);
    tcase_add_test(tc, devices_take_processors);
    tcase_add_test(tc, memory_of_devices_is_limited);
    tcase_add_test(tc, a_device_has_a_context_and_a_queue);
    tcase_add_test(tc, a_device_without_worker_has_no_context);
    tcase_add_test(tc, an_application_drives_a_device);
    tcase_add_test(tc, a_worker_has_its_own_context_and_queue);
    tcase_add_test(tc, codes_are_said_in_words);
    tcase_add_test(tc, errors_say_where_they_were);
    tcase_add_loop_test_raise_signal(tc, a_reported_error_stops, SIGABRT, 0, 3);
    tcase_add_test(tc, khronos_headers_measure_nothing);
    tcase_add_test(tc, without_devices_programs_are_left_alone);
    return suite_main(suite);
}
