/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-gpu-methods.c - interfaces of applications with methods for GPUs
 * (tests/standin), and none that copies from anywhere to anywhere: values go by those
 * that there are, by way of main memory if need be.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <starpu.h>

#include "../suite.h"
#include "gpu-graph.h"
#include "on-gpu.h"

enum { NTASKS = 12 };

/* -- the interface: GPU_LENGTH numbers -- */

struct numbers {
    uintptr_t address;
};

enum { BYTES = GPU_LENGTH * sizeof(uint64_t) };

static void register_numbers(starpu_data_handle_t handle, int home,
                             void *interface)
{
    for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
        struct numbers *there = starpu_data_get_interface_on_node(handle, node);

        there->address = (int)node == home
                             ? ((const struct numbers *)interface)->address
                             : 0;
    }
}

static starpu_ssize_t allocate(void *interface, unsigned node)
{
    struct numbers *numbers = interface;

    numbers->address = starpu_malloc_on_node(node, BYTES);
    return numbers->address ? (starpu_ssize_t)BYTES : -ENOMEM;
}

static void release(void *interface, unsigned node)
{
    struct numbers *numbers = interface;

    starpu_free_on_node(node, numbers->address, BYTES);
    numbers->address = 0;
}

static size_t get_size(starpu_data_handle_t handle)
{
    (void)handle;
    return BYTES;
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    return starpu_hash_crc32c_be(get_size(handle), 0);
}

static atomic_int nbetween_devices;

static int copy(void *src, unsigned src_node, void *dst, unsigned dst_node)
{
    return on_copy((void *)((struct numbers *)src)->address, src_node,
                   (void *)((struct numbers *)dst)->address, dst_node, BYTES,
                   NULL, 0);
}

static int copy_peer(void *src, unsigned src_node, void *dst, unsigned dst_node)
{
    atomic_fetch_add(&nbetween_devices, 1);
    return copy(src, src_node, dst, dst_node);
}

static int copy_async(void *src, unsigned src_node, void *dst,
                      unsigned dst_node, on_stream_t stream)
{
    int rc = on_copy((void *)((struct numbers *)src)->address, src_node,
                     (void *)((struct numbers *)dst)->address, dst_node, BYTES,
                     stream, 0);

    ck_assert_int_eq(rc, -EAGAIN);
    return rc;
}

static int copy_peer_async(void *src, unsigned src_node, void *dst,
                           unsigned dst_node, on_stream_t stream)
{
    atomic_fetch_add(&nbetween_devices, 1);
    return copy_async(src, src_node, dst, dst_node, stream);
}

/* Without the vendor's headers asynchronous methods have no type of their own. */
#define ASYNC(field, method)                                                   \
    .field =                                                                   \
        (__typeof__(((struct starpu_data_copy_methods *)0)->field))(void (*)(  \
            void))(method)

/* -- tasks -- */

static void compute(void *arg)
{
    gpu_compute(arg);
    free(arg);
}

static void put(void *buffers[], void *arg)
{
    struct gpu_step *step = calloc(1, sizeof(*step));

    (void)arg;
    ck_assert_ptr_nonnull(step);
    *step = (struct gpu_step){
        .to = on_bytes((void *)((struct numbers *)buffers[0])->address),
        .add = 1,
        .n = GPU_LENGTH,
    };
    ck_assert_int_eq(on_launch(compute, step), 0);
}

static void compute_on_cpu(void *buffers[], void *arg)
{
    (void)arg;
    gpu_compute(
        &(struct gpu_step){(uint64_t *)((struct numbers *)buffers[0])->address,
                           NULL, 1, GPU_LENGTH});
}

static struct starpu_codelet cl = {
    .cpu_funcs = {compute_on_cpu},
    .on_funcs = {put},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "numbers",
};

/* By each device twice, then by a processor. */
static void submit(starpu_data_handle_t handle)
{
    int workers[2], cpu;

    ck_assert_int_eq(starpu_worker_get_ids_by_type(ON_WORKER, workers, 2), 2);
    ck_assert_int_eq(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, &cpu, 1),
                     1);
    for (unsigned k = 0; k < NTASKS; k++) {
        struct starpu_task *task = starpu_task_build(&cl, STARPU_RW, handle, 0);

        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)(k % 5 == 4 ? cpu : workers[k % 2]);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
}

static void run(const struct starpu_data_copy_methods *methods)
{
    static uint64_t values[GPU_LENGTH], expected[GPU_LENGTH];
    static char name[] = "numbers";
    static struct starpu_data_interface_ops ops = {
        .register_data_handle = register_numbers,
        .allocate_data_on_node = allocate,
        .free_data_on_node = release,
        .get_size = get_size,
        .footprint = footprint,
        .interface_size = sizeof(struct numbers),
        .name = name,
    };
    struct numbers numbers = {(uintptr_t)values};
    starpu_data_handle_t handle;

    ops.copy_methods = methods;
    ops.interfaceid =
        (enum starpu_data_interface_id)starpu_data_interface_get_next_id();
    starpu_data_register(&handle, STARPU_MAIN_RAM, &numbers, &ops);
    submit(handle);
    starpu_data_unregister(handle);
    for (unsigned k = 0; k < NTASKS; k++)
        gpu_compute(&(struct gpu_step){expected, NULL, 1, GPU_LENGTH});
    ck_assert_mem_eq(values, expected, sizeof(values));
}

static void open_runtime(void)
{
    setenv("GPU_STANDIN", "devices=2", 1);
    setenv("STARPU_NCPU", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static const struct {
    struct starpu_data_copy_methods methods;
    bool between_devices;
} sets[] = {
    {{.to_on = copy, .from_on = copy}, false},
    {{ASYNC(to_on_async, copy_async), ASYNC(from_on_async, copy_async)}, false},
    {{.to_on = copy, ASYNC(from_on_async, copy_async)}, false},
    {{.to_on = copy, .from_on = copy, .on_to_on = copy_peer}, true},
    {{ASYNC(to_on_async, copy_async), ASYNC(from_on_async, copy_async),
      ASYNC(on_to_on_async, copy_peer_async)},
     true},
    {{.to_on = copy, .from_on = copy, ASYNC(on_to_on_async, copy_peer_async)},
     true},
};

START_TEST(values_go_by_the_methods_that_there_are)
{
    open_runtime();
    run(&sets[_i].methods);
    ck_assert_int_eq(atomic_load(&nbetween_devices) > 0,
                     sets[_i].between_devices);
    starpu_shutdown();
}
END_TEST

/* Where the driver waits for each copy, the last set has no peers' method. */
START_TEST(synchronous_copies_take_synchronous_methods)
{
    setenv(ON_SYNCHRONOUS, "1", 1);
    open_runtime();
    run(&sets[5].methods);
    ck_assert_int_eq(atomic_load(&nbetween_devices), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(asynchronous_methods_alone_are_refused_with_the_reason)
{
    int ends[2];
    char said[4096];
    ssize_t n;
    pid_t child;
    int status;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        setenv(ON_SYNCHRONOUS, "1", 1);
        (void)dup2(ends[1], STDERR_FILENO);
        open_runtime();
        run(&sets[1].methods);
        _exit(0);
    }
    close(ends[1]);
    n = read(ends[0], said, sizeof(said) - 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    said[n > 0 ? n : 0] = 0;
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_msg(strstr(said, "only an asynchronous method that copies from "
                               "memory node 0 (NUMA 0) to 1 (" ON_KIND " 0)"),
                  "%s", said);
}
END_TEST

SUITE_MAIN(gpu_methods)
{
    Suite *suite = suite_create("gpu-methods");
    TCase *tc = tcase_create("all");

    gpu_measure_links();
    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, values_go_by_the_methods_that_there_are, 0,
                        sizeof(sets) / sizeof(sets[0]));
    tcase_add_test(tc, synchronous_copies_take_synchronous_methods);
    tcase_add_test(tc, asynchronous_methods_alone_are_refused_with_the_reason);
    return suite_main(suite);
}
