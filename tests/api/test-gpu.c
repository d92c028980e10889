/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-gpu.c - programs with kernels for GPUs, on the stand-ins of
 * tests/standin or on real ones, as CUDA and as HIP (KIND_…). Kernels are put into
 * the worker's stream, where they run some time later on a thread that is nobody's.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>
#include <orrery.h>
#include <starpu.h>
#include <starpu_cublasLt.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

#include "../suite.h"
#include "gpu-graph.h"
#include "on-gpu.h"

static void open_runtime(const char *standin, const char *ncpus)
{
    setenv("GPU_STANDIN", standin, 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", ncpus, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

/* The s-th worker of a device. */
static int worker_of(int devid, int s)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        if (starpu_worker_get_type((int)w) == ON_WORKER &&
            starpu_worker_get_devid((int)w) == devid && s-- == 0)
            return (int)w;
    ck_abort_msg("there is no worker %d of device %d", s, devid);
}

static unsigned node_of(int devid)
{
    return starpu_worker_get_memory_node((unsigned)worker_of(devid, 0));
}

/* By the names of on-gpu.h. */
/* shows starpu_cuda_copy_async_sync starpu_cuda_copy2d_async_sync
 * starpu_cuda_copy3d_async_sync starpu_cuda_get_local_stream starpu_cuda_set_device
 * starpu_hip_copy_async_sync starpu_hip_copy2d_async_sync
 * starpu_hip_copy3d_async_sync starpu_hip_get_local_stream starpu_hip_set_device */

/* -- random graphs -- */

/* So many graphs for each way to run them: GRAPHS in the environment. */
static uint64_t ngraphs(void)
{
    const char *text = getenv("GRAPHS");

    return text ? strtoul(text, NULL, 10) : 4;
}

static const struct {
    const char *standin, *ncpus, *name, *value;
} ways[] = {
    {"delay=200 seed=%d", "0", "STARPU_SCHED", "dmdas"},
    {"delay=200 seed=%d peers=none", "2", "STARPU_SCHED", "eager"},
    {"delay=50 seed=%d peers=refused", "1", "STARPU_SCHED", "lws"},
    {"delay=200 seed=%d", "0", "STARPU_NWORKER_PER_" ON_KIND, "3"},
    {"delay=200 seed=%d devices=3 mib=1", "0", "STARPU_" ON_KIND "_PIPELINE",
     "4"},
    {"delay=50 seed=%d", "1", "STARPU_" ON_KIND "_PIPELINE", "0"},
    {"delay=0 seed=%d", "1", "STARPU_DISABLE_ASYNCHRONOUS_" ON_KIND "_COPY",
     "1"},
};

enum { NWAYS = sizeof(ways) / sizeof(ways[0]) };

START_TEST(values_are_those_of_one_task_after_the_other)
{
    char standin[64];

    /* The format is a constant of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(standin, sizeof(standin), ways[_i].standin, _i + 1);
#pragma GCC diagnostic pop
    setenv(ways[_i].name, ways[_i].value, 1);
    open_runtime(standin, ways[_i].ncpus);
    for (uint64_t seed = 0; seed < ngraphs(); seed++)
        gpu_run_graph(seed * NWAYS + (uint64_t)_i);
    starpu_shutdown();
}
END_TEST

/* A call that fails once, at any time, changes no value. */
START_TEST(a_failure_changes_no_value)
{
    char standin[64];

    snprintf(standin, sizeof(standin), "delay=20 seed=%d fault=%s@%d", _i,
             _i % 2 ? "alloc" : "copy", 1 + _i / 2 * 3);
    open_runtime(standin, "1");
    gpu_run_graph((uint64_t)_i);
    starpu_shutdown();
}
END_TEST

/* Values that are in main memory, too, until a kernel has changed them. */
static void write_values(int n)
{
    starpu_data_handle_t handle;
    uint64_t values[GPU_LENGTH], expected[GPU_LENGTH], add = 5;

    for (int k = 0; k < n; k++) {
        memset(values, 0, sizeof(values));
        memset(expected, 0, sizeof(expected));
        gpu_compute(&(struct gpu_step){expected, NULL, add, GPU_LENGTH});
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                    GPU_LENGTH, sizeof(uint64_t));
        ck_assert_int_eq(starpu_task_insert(&gpu_scale, STARPU_RW, handle,
                                            STARPU_VALUE, &add, sizeof(add), 0),
                         0);
        starpu_data_unregister(handle);
        ck_assert_mem_eq(values, expected, sizeof(values));
    }
}

/* A kernel that fails is done by the other device; so is that of a device that is
 * lost with the copy before it, or with the kernel. */
START_TEST(what_failed_the_other_device_does)
{
    static const char *const faults[] = {"kernel@1", "kernel@3", "lost@1",
                                         "lost@2"};
    char standin[64];

    snprintf(standin, sizeof(standin), "delay=0 fault=%s", faults[_i]);
    open_runtime(standin, "0");
    write_values(6);
    starpu_shutdown();
}
END_TEST

/* -- limits -- */

static size_t most_of(unsigned device)
{
    ON_FUNCTION(standin_most_t, most, STANDIN_MOST);
    return most(device);
}

/* Vectors that a device cannot have at once take turns there, each with its value;
 * the device is never asked for more than its limit. */
START_TEST(memory_of_devices_is_limited)
{
    enum { N = 24, LENGTH = 20011, ROUNDS = 4, MIB = 1 << 20 };
    static uint64_t values[N][LENGTH], expected[N][LENGTH];
    static const size_t limits[] = {2 * MIB, 1 * MIB};
    starpu_data_handle_t handles[N];

    setenv("STARPU_LIMIT_" ON_KIND "_MEM", "2", 1);
    setenv("STARPU_LIMIT_" ON_KIND "_1_MEM", "1", 1);
    setenv("STARPU_SCHED", _i ? "dmda" : "eager", 1);
    open_runtime("delay=20", "1");
    for (int d = 0; d < 2; d++)
        ck_assert_int_eq(starpu_memory_get_total(node_of(d)),
                         (starpu_ssize_t)limits[d]);
    for (int k = 0; k < N; k++)
        starpu_vector_data_register(&handles[k], STARPU_MAIN_RAM,
                                    (uintptr_t)values[k], LENGTH,
                                    sizeof(uint64_t));
    for (uint64_t i = 0; i < ROUNDS * N; i++) {
        unsigned to = (unsigned)(i * 7 % N);

        gpu_compute(&(struct gpu_step){expected[to], NULL, i, LENGTH});
        ck_assert_int_eq(
            starpu_task_insert(&gpu_scale, STARPU_RW, handles[to], STARPU_VALUE,
                               &i, sizeof(i), STARPU_EXECUTE_ON_WORKER,
                               worker_of((int)(i / N + i) % 2, 0), 0),
            0);
    }
    for (int k = 0; k < N; k++)
        starpu_data_unregister(handles[k]);
    ck_assert_mem_eq(values, expected, sizeof(values));
    for (unsigned d = 0; d < 2; d++) {
        ck_assert_uint_gt(most_of(d), limits[d] / 2);
        ck_assert_uint_le(most_of(d), limits[d]);
    }
    starpu_shutdown();
}
END_TEST

/* -- workers -- */

START_TEST(workers_are_those_of_the_devices)
{
    char name[64], expected[64];

    if (_i == 0)
        setenv("STARPU_N" ON_KIND, "1", 1);
    if (_i == 1)
        setenv("STARPU_WORKERS_" ON_KIND "ID", "1 0", 1);
    if (_i == 2)
        setenv("STARPU_NWORKER_PER_" ON_KIND, "2", 1);
    open_runtime("mib=64", "1");
    ck_assert_uint_eq(ON_COUNT(), _i == 0 ? 1 : _i == 1 ? 2 : 4);
    for (int w = 1; w < 1 + (int)ON_COUNT(); w++) {
        int device = _i == 0 ? 0 : _i == 1 ? 2 - w : (w - 1) / 2;

        ck_assert_int_eq(starpu_worker_get_type(w), ON_WORKER);
        ck_assert_int_eq(starpu_worker_get_devid(w), device);
        starpu_worker_get_name(w, name, sizeof(name));
        snprintf(expected, sizeof(expected),
                 ON_KIND " %d.%d (Stand-in 0.1 GiB %02x:00.0)", device,
                 _i == 2 ? (w - 1) % 2 : 0, 0x3a + device);
        ck_assert_str_eq(name, expected);
        ck_assert_int_eq(starpu_worker_get_subworkerid(w),
                         _i == 2 ? (w - 1) % 2 : 0);
    }
    ck_assert_int_eq(starpu_worker_get_subworkerid(0), 0);
    ck_assert_uint_eq(starpu_memory_nodes_get_count(), _i == 0 ? 2 : 3);
    starpu_shutdown();
}
END_TEST

START_TEST(a_device_that_is_not_there_is_an_error)
{
    setenv("STARPU_WORKERS_" ON_KIND "ID", _i ? "0 x" : "99", 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("GPU_STANDIN", "", 1);
    ck_assert_int_lt(starpu_init(NULL), 0);
}
END_TEST

/* A list may be longer than there are devices, and repeat itself. */
START_TEST(a_device_that_is_named_twice_is_used_once)
{
    static const char *const lists[] = {"0 0", "1 0 1 0"};

    setenv("STARPU_WORKERS_" ON_KIND "ID", lists[_i], 1);
    if (_i)
        setenv("STARPU_N" ON_KIND, "2", 1);
    open_runtime("", "1");
    ck_assert_uint_eq(ON_COUNT(), _i == 0 ? 1 : 2);
    ck_assert_int_eq(starpu_worker_get_devid(1), _i);
    starpu_shutdown();
}
END_TEST

/* -- nothing is loaded -- */

static bool is_loaded(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    ck_assert_ptr_nonnull(maps);
    while (!found && fgets(line, sizeof(line), maps))
        found = strstr(line, name) != NULL;
    fclose(maps);
    return found;
}

/* Without devices that are asked for, and on a simulated machine, whatever the
 * environment says; handles of libraries are none then. */
START_TEST(no_library_is_opened_in_vain)
{
    if (_i == 0)
        setenv("STARPU_N" ON_KIND, "0", 1);
    if (_i == 1)
        setenv("ORRERY_MACHINE", TEST_MACHINE, 1);
    if (_i == 2)
        unsetenv(ON_LIBRARY);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(orrery_is_simulated(), _i == 1);
    starpu_cublas_init();
    starpu_cusolver_init();
    starpu_hipblas_init();
    ck_assert_ptr_null(starpu_cublas_get_local_handle());
    ck_assert_ptr_null(starpu_cusolverSp_get_local_handle());
    ck_assert_ptr_null(starpu_cusolverRf_get_local_handle());
    ck_assert_ptr_null(starpu_hipblas_get_local_handle());
    ck_assert_ptr_null(starpu_cuda_get_nvmldev(0));
    starpu_cusolver_shutdown();
    starpu_cublas_shutdown();
    ck_assert(!is_loaded("libstandin"));
    ck_assert(!is_loaded("libcuda"));
    ck_assert(!is_loaded("libamdhip64"));
    starpu_shutdown();
}
END_TEST

/* -- a device whose workers are a thread of the application's -- */

enum { STREAMS = 3 };

static pthread_t on_thread[STARPU_NMAXWORKERS];

static void note_thread(void *buffers[], void *arg)
{
    on_thread[starpu_worker_get_id()] = pthread_self();
    gpu_scale.on_funcs[0](buffers, arg);
}

static struct starpu_codelet cl_noted = {
    .on_funcs = {note_thread},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

/* The device 1, without threads. */
static struct starpu_driver open_driven(void)
{
    struct starpu_driver driver = {.type = ON_WORKER, .id.cuda_id = 1};
    struct starpu_conf conf;

    setenv("GPU_STANDIN", "delay=20 devices=2", 1);
    setenv("STARPU_NWORKER_PER_" ON_KIND, "3", 1);
    setenv("STARPU_SILENT", "1", 1);
    starpu_conf_init(&conf);
    conf.ncpus = 1;
    conf.not_launched_drivers = &driver;
    conf.n_not_launched_drivers = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    return driver;
}

static void *drive(void *driver)
{
    ck_assert_int_eq(starpu_driver_run(driver), 0);
    return NULL;
}

static atomic_bool driven_enough;

static void *drive_in_steps(void *driver)
{
    ck_assert_int_eq(starpu_driver_init(driver), 0);
    ck_assert_int_eq(starpu_driver_init(driver), -EBUSY);
    while (!atomic_load(&driven_enough))
        ck_assert_int_eq(starpu_driver_run_once(driver), 0);
    ck_assert_int_eq(starpu_driver_deinit(driver), 0);
    return NULL;
}

/* A driver is a device: its streams take turns in the thread, and depend on each
 * other. */
START_TEST(one_thread_drives_all_streams_of_a_device)
{
    struct starpu_driver driver = open_driven();
    uint64_t values[GPU_LENGTH] = {0}, expected[GPU_LENGTH] = {0}, add = 5;
    starpu_data_handle_t handle;
    pthread_t thread;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    for (int k = 0; k < 4 * STREAMS; k++) {
        gpu_compute(&(struct gpu_step){expected, NULL, add, GPU_LENGTH});
        ck_assert_int_eq(
            starpu_task_insert(&cl_noted, STARPU_RW, handle, STARPU_VALUE, &add,
                               sizeof(add), STARPU_EXECUTE_ON_WORKER,
                               worker_of(k % 5 == 4 ? 0 : 1, k % STREAMS), 0),
            0);
    }
    ck_assert_int_eq(
        pthread_create(&thread, NULL, _i ? drive_in_steps : drive, &driver), 0);
    starpu_data_unregister(handle);
    ck_assert_mem_eq(values, expected, sizeof(values));
    atomic_store(&driven_enough, true);
    starpu_drivers_request_termination();
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    for (int s = 0; s < STREAMS; s++)
        ck_assert(pthread_equal(on_thread[worker_of(1, s)], thread));
    starpu_shutdown();
}
END_TEST

/* -- who waits -- */

static void release(void *handle)
{
    starpu_data_release(handle);
}

/* All threads wait, and nobody is known who would wake them, but the device. */
START_TEST(a_copy_under_way_is_no_deadlock)
{
    uint64_t values[GPU_LENGTH] = {0}, add = 0;
    starpu_data_handle_t handle;

    open_runtime("delay=20000", "1");
    for (int i = 0; i < 10; i++) {
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                    GPU_LENGTH, sizeof(values[0]));
        ck_assert_int_eq(starpu_task_insert(&gpu_scale, STARPU_RW, handle,
                                            STARPU_VALUE, &add, sizeof(add), 0),
                         0);
        ck_assert_int_eq(
            starpu_data_acquire_cb(handle, STARPU_R, release, handle), 0);
        starpu_data_unregister(handle);
    }
    starpu_shutdown();
}
END_TEST

/* -- memory -- */

START_TEST(the_host_cannot_follow_a_device_address)
{
    uintptr_t address;

    open_runtime("", "1");
    address = starpu_malloc_on_node(node_of(0), 100);
    ck_assert_uint_ne(address, 0);
    signal(SIGSEGV, SIG_DFL); /* no sanitizer's */
    *(volatile char *)address = 1;
}
END_TEST

START_TEST(main_memory_is_pinned_once)
{
    static char bytes[100000];

    open_runtime("", "1");
    ck_assert_int_eq(starpu_memory_pin(bytes, sizeof(bytes)), 0);
    ck_assert_int_eq(starpu_memory_pin(bytes, sizeof(bytes)), -1);
    ck_assert_int_eq(starpu_memory_unpin(bytes, sizeof(bytes)), 0);
    ck_assert_int_eq(starpu_memory_unpin(bytes, sizeof(bytes)), -1);
    starpu_shutdown();
}
END_TEST

/* What starpu_malloc gives is pinned until it is freed, and lives longer than the
 * runtime. The stand-in refuses what is pinned. */
START_TEST(allocated_memory_is_pinned)
{
    void *large, *kept;

    if (_i)
        setenv("STARPU_DISABLE_PINNING", "1", 1);
    open_runtime("", "1");
    ck_assert_int_eq(starpu_malloc(&large, 100000), 0);
    ck_assert_int_eq(starpu_malloc(&kept, 100000), 0);
    ck_assert_int_eq(starpu_memory_pin(large, 100000), _i ? 0 : -1);
    if (_i)
        ck_assert_int_eq(starpu_memory_unpin(large, 100000), 0);
    starpu_free_noflag(large, 100000);
    starpu_shutdown();
    memset(kept, 1, 100000);
    starpu_free_noflag(kept, 100000);
}
END_TEST

static void compute_in_place(void *arg)
{
    gpu_compute(arg);
    free(arg);
}

static void put_in_place(void *buffers[], void *arg)
{
    struct gpu_step *step = calloc(1, sizeof(*step));
    void *managed;

    (void)buffers;
    starpu_codelet_unpack_args(arg, &managed);
    *step = (struct gpu_step){on_bytes(managed), NULL, 5, GPU_LENGTH};
    ck_assert_ptr_eq(step->to, managed);
    ck_assert_int_eq(on_launch(compute_in_place, step), 0);
}

static struct starpu_codelet cl_in_place = {
    .on_funcs = {put_in_place},
    .on_flags = {STARPU_CUDA_ASYNC},
    .name = "in_place",
};

/* What the application has made managed is main memory as any: values begin and end
 * there, and kernels get a device's copy of it. What kernels are told of by its
 * address they use in place. */
START_TEST(managed_memory_is_main_memory)
{
    uint64_t *values, expected[GPU_LENGTH], add = 5;
    starpu_data_handle_t handle;
    void *managed = NULL;

    open_runtime("delay=50", _i ? "1" : "0");
    ON_SET_DEVICE(0);
    ck_assert_int_eq(on_managed(&managed, sizeof(expected)), 0);
    values = managed;
    for (unsigned i = 0; i < GPU_LENGTH; i++)
        values[i] = expected[i] = i;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    for (int k = 0; k < 6; k++) {
        gpu_compute(&(struct gpu_step){expected, NULL, add, GPU_LENGTH});
        ck_assert_int_eq(starpu_task_insert(&gpu_scale, STARPU_RW, handle,
                                            STARPU_VALUE, &add, sizeof(add),
                                            STARPU_EXECUTE_ON_WORKER,
                                            worker_of(k % 2, 0), 0),
                         0);
    }
    starpu_data_unregister(handle);
    ck_assert_mem_eq(values, expected, sizeof(expected));
    ck_assert_int_eq(starpu_task_insert(&cl_in_place, STARPU_VALUE, &managed,
                                        sizeof(managed), 0),
                     0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    gpu_compute(&(struct gpu_step){expected, NULL, add, GPU_LENGTH});
    ck_assert_mem_eq(values, expected, sizeof(expected));
    ON_SET_DEVICE(0);
    ck_assert_int_eq(on_free(managed), 0);
    starpu_shutdown();
}
END_TEST

/* -- copies of the application's -- */

static char sent[64], got[64];
static int results[3];

/* In a kernel: into the second buffer's place and out again. */
static void copy_rows(void *buffers[], void *arg)
{
    char *there = (char *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned node =
        starpu_worker_get_memory_node((unsigned)starpu_worker_get_id());

    (void)arg;
    results[0] = on_copy(sent, STARPU_MAIN_RAM, there, node, 64, on_stream(),
                         (starpu_cudaMemcpyKind_t)1);
    results[1] = on_copy2d(there, node, got, STARPU_MAIN_RAM, 3, 4, 8, 16,
                           on_stream(), (starpu_cudaMemcpyKind_t)2);
    ck_assert_int_eq(on_synchronize(), 0);
    results[2] = on_copy3d(there, node, got + 3, STARPU_MAIN_RAM, 1, 2, 8, 16,
                           2, 32, 32, NULL, (starpu_cudaMemcpyKind_t)2);
}

static struct starpu_codelet cl_copy_rows = {
    .on_funcs = {copy_rows},
    .nbuffers = 1,
    .modes = {STARPU_W},
};

START_TEST(applications_copy_in_streams_and_at_once)
{
    starpu_data_handle_t handle;
    char expected[64] = {0};

    open_runtime("delay=20", "0");
    for (int i = 0; i < 64; i++)
        sent[i] = (char)(i + 1);
    memset(got, 0, sizeof(got));
    starpu_vector_data_register(&handle, -1, 0, 64, 1);
    ck_assert_int_eq(starpu_task_insert(&cl_copy_rows, STARPU_W, handle, 0), 0);
    starpu_data_unregister(handle);
    ck_assert_int_eq(results[0], -EAGAIN);
    ck_assert_int_eq(results[1], -EAGAIN);
    ck_assert_int_eq(results[2], 0);
    for (int y = 0; y < 4; y++)
        memcpy(expected + 16 * y, sent + 8 * y, 3);
    for (int i = 0; i < 4; i++)
        if (got[3 + 16 * (i % 2) + 32 * (i / 2)] ==
            sent[8 * (i % 2) + 32 * (i / 2)])
            got[3 + 16 * (i % 2) + 32 * (i / 2)] = 0;
    ck_assert_mem_eq(got, expected, 64);
    starpu_shutdown();
}
END_TEST

/* -- queues -- */

static void *queue_inside, *queue_by_number;

static void note_queues(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    queue_inside = on_stream();
    queue_by_number = orrery_worker_queue(starpu_worker_get_id());
}

static struct starpu_codelet cl_note_queues = {.on_funcs = {note_queues}};

/* What an order between them does is in tests/stf/queues.cpp. */
START_TEST(queues_have_workers_and_are_ordered)
{
    int cpu, first, second;
    void *one, *two;

    open_runtime("delay=20", "1");
    cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
    first = worker_of(0, 0);
    second = worker_of(1, 0);
    ck_assert_int_eq(starpu_task_insert(&cl_note_queues, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_ptr_nonnull(queue_inside);
    ck_assert_ptr_eq(queue_inside, queue_by_number);
    one = orrery_worker_queue(first);
    two = orrery_worker_queue(second);
    ck_assert_ptr_nonnull(one);
    ck_assert_ptr_ne(one, two);
    ck_assert_ptr_null(orrery_worker_queue(cpu));
    ck_assert_ptr_null(orrery_worker_queue(-1));
    ck_assert_ptr_null(orrery_worker_queue(1000));
    ck_assert_int_eq(orrery_queue_after(two, second, one, first), 0);
    ck_assert_int_eq(orrery_queue_after(two, second, NULL, cpu), -EINVAL);
    ck_assert_int_eq(orrery_queue_after(NULL, -1, one, first), -EINVAL);
    /* An event is recorded in a queue of its own device alone. */
    ck_assert_int_eq(orrery_queue_after(one, first, two, first), -EIO);
    starpu_shutdown();
}
END_TEST

/* -- what comes between kernels -- */

static atomic_bool has_epilogue_run, came_too_soon;

static void take_a_while(void *arg)
{
    (void)arg;
    usleep(20000);
}

static void put_long(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ck_assert_int_eq(on_launch(take_a_while, NULL), 0);
}

static void note_epilogue(void *arg)
{
    (void)arg;
    atomic_store(&has_epilogue_run, true);
}

static void put_behind(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_store(&came_too_soon, !atomic_load(&has_epilogue_run));
}

/* They are called before the tasks that depend on theirs can begin: none of these follows
 * it in the queue. */
START_TEST(epilogues_come_before_the_tasks_behind)
{
    static struct starpu_codelet first = {.on_funcs = {put_long},
                                          .on_flags = {STARPU_CUDA_ASYNC},
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW}},
                                 second = {.on_funcs = {put_behind},
                                           .on_flags = {STARPU_CUDA_ASYNC},
                                           .nbuffers = 1,
                                           .modes = {STARPU_R}};
    static uint64_t values[GPU_LENGTH];
    starpu_data_handle_t handle;
    int worker;

    open_runtime("", "0");
    worker = worker_of(0, 0);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    ck_assert_int_eq(starpu_task_insert(&first, STARPU_RW, handle,
                                        STARPU_EPILOGUE_CALLBACK, note_epilogue,
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
    ck_assert_int_eq(starpu_task_insert(&second, STARPU_R, handle,
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
    starpu_data_unregister(handle);
    ck_assert(has_epilogue_run);
    ck_assert(!came_too_soon);
    starpu_shutdown();
}
END_TEST

/* -- errors of the application's -- */

START_TEST(a_stream_is_a_workers_own)
{
    open_runtime("", "1");
    (void)on_stream();
}
END_TEST

START_TEST(another_device_cannot_be_made_current)
{
    open_runtime("", "1");
    ON_SET_DEVICE(0);
    ON_SET_DEVICE(2);
}
END_TEST

/* Each of them with a code of its own. */
START_TEST(an_error_is_reported_and_ends_the_program)
{
    open_runtime("", "1");
    switch (_i) {
    case 0:
        starpu_cuda_report_error("f", "file.c", 1, 2);
        break;
    case 1:
        starpu_hip_report_error("f", "file.c", 1, 2);
        break;
    case 2:
        starpu_cublas_report_error("f", "file.c", 1, 3);
        break;
    case 3:
        starpu_cusolver_report_error("f", "file.c", 1, 6);
        break;
    case 4:
        starpu_hipblas_report_error("f", "file.c", 1, 719);
        break;
    case 5:
        starpu_hipblas_report_status("f", "file.c", 1, 99);
        break;
    case 6:
        STARPU_CUDA_REPORT_ERROR(2);
        break;
    case 7:
        STARPU_HIP_REPORT_ERROR(2);
        break;
    case 8:
        STARPU_CUBLAS_REPORT_ERROR(3);
        break;
    case 9:
        STARPU_CUSOLVER_REPORT_ERROR(6);
        break;
    case 10:
        STARPU_HIPBLAS_REPORT_ERROR(719);
        break;
    default:
        STARPU_HIPBLAS_REPORT_STATUS(99);
    }
}
END_TEST

/* -- libraries -- */

static void *handles[STARPU_NMAXWORKERS];
static atomic_int nstrangers; /* handles that are on another stream */

/* The stand-in's handle begins with its stream. */
static void note_handle(void *arg)
{
    int id = starpu_worker_get_id();

    (void)arg;
#ifdef KIND_HIP
    handles[id] = starpu_hipblas_get_local_handle();
#else
    handles[id] = starpu_cublas_get_local_handle();
    nstrangers += *(void **)starpu_cusparse_get_local_handle() != on_stream();
    nstrangers += *(void **)starpu_cusolverDn_get_local_handle() != on_stream();
    nstrangers += *(void **)starpu_cublasLt_get_local_handle() != NULL;
    starpu_cublas_set_stream();
#endif
    nstrangers += *(void **)handles[id] != on_stream();
}

/* Of the one library that there is for HIP, and of CUDA's; how many there are. */
#ifdef KIND_HIP
static void *own_handle(void)
{
    return starpu_hipblas_get_local_handle();
}

static int make_handles(void)
{
    starpu_hipblas_init();
    starpu_hipblas_init(); /* what is there stays */
    return 1;
}

static void end_handles(void)
{
    starpu_hipblas_shutdown();
}
#else
static void *own_handle(void)
{
    return starpu_cublas_get_local_handle();
}

static int make_handles(void)
{
    starpu_cublas_init();
    starpu_cublasLt_init();
    starpu_cusparse_init();
    starpu_cusolver_init();
    return 6;
}

static void end_handles(void)
{
    starpu_cusolver_shutdown();
    starpu_cusparse_shutdown();
    starpu_cublasLt_shutdown();
    starpu_cublas_shutdown();
}
#endif

START_TEST(workers_have_handles_of_libraries)
{
    int (*count)(void);
    void *library = dlopen(BLAS_LIBRARY, RTLD_NOW | RTLD_GLOBAL), *symbol;

    ck_assert_ptr_nonnull(library);
    symbol = dlsym(library, "standin_handles");
    memcpy(&count, &symbol, sizeof(count));
    open_runtime("", "1");
    ck_assert_ptr_null(own_handle());
    ck_assert_int_eq(make_handles() * 3, count());
    starpu_execute_on_each_worker(note_handle, NULL, ON_WHERE);
    ck_assert_int_eq(nstrangers, 0);
    ck_assert_ptr_nonnull(own_handle());
    ck_assert_ptr_ne(handles[worker_of(0, 0)], handles[worker_of(1, 0)]);
    ck_assert_ptr_ne(handles[worker_of(0, 0)], own_handle());
    end_handles();
    ck_assert_int_eq(count(), 0);
    ck_assert_ptr_null(own_handle());
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(gpu)
{
    Suite *suite = suite_create("gpu");
    /* The second is for stand-ins alone (CK_EXCLUDE_TAGS). */
    TCase *tc = tcase_create("gpu"), *standins = tcase_create("standin");

    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, standins);
    tcase_set_timeout(tc, 600);
    tcase_set_timeout(standins, 600);
    tcase_set_tags(standins, "standin");
    tcase_add_loop_test(tc, values_are_those_of_one_task_after_the_other, 0,
                        NWAYS);
    tcase_add_loop_test(standins, a_failure_changes_no_value, 0, 12);
    tcase_add_loop_test(standins, what_failed_the_other_device_does, 0, 4);
    tcase_add_loop_test(standins, memory_of_devices_is_limited, 0, 2);
    tcase_add_loop_test(standins, workers_are_those_of_the_devices, 0, 3);
    tcase_add_loop_test(tc, a_device_that_is_not_there_is_an_error, 0, 2);
    tcase_add_loop_test(standins, a_device_that_is_named_twice_is_used_once, 0,
                        2);
    tcase_add_loop_test(tc, no_library_is_opened_in_vain, 0, 2);
    tcase_add_loop_test(standins, no_library_is_opened_in_vain, 2, 3);
    tcase_add_test_raise_signal(tc, the_host_cannot_follow_a_device_address,
                                SIGSEGV);
    tcase_add_loop_test(tc, one_thread_drives_all_streams_of_a_device, 0, 2);
    tcase_add_test(tc, a_copy_under_way_is_no_deadlock);
    tcase_add_test(tc, main_memory_is_pinned_once);
    tcase_add_loop_test(tc, allocated_memory_is_pinned, 0, 2);
    tcase_add_loop_test(standins, managed_memory_is_main_memory, 0, 2);
    tcase_add_test(tc, applications_copy_in_streams_and_at_once);
    tcase_add_test(tc, epilogues_come_before_the_tasks_behind);
    tcase_add_test_raise_signal(tc, a_stream_is_a_workers_own, SIGABRT);
    tcase_add_test_raise_signal(standins, another_device_cannot_be_made_current,
                                SIGABRT);
    tcase_add_loop_test_raise_signal(
        tc, an_error_is_reported_and_ends_the_program, SIGABRT, 0, 12);
    tcase_add_test(standins, workers_have_handles_of_libraries);
    tcase_add_test(standins, queues_have_workers_and_are_ordered);
    return suite_main(suite);
}
