/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-multiformat.c - data with a form per sort of device, on each
 * machine: points as an array of structures on processors, as a structure of
 * arrays on GPUs.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

enum { N = 100 };

struct point {
    int x, y;
};

static int nto_cuda, nto_cpu, wrong;

static void count(int *what)
{
    __atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

/* On a GPU: all x, then all y. */
static void to_cuda(void *buffers[], void *arg)
{
    const struct point *points = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
    int *arrays = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
    unsigned n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

    (void)arg;
    count(&nto_cuda);
    for (unsigned i = 0; i < n; i++) {
        arrays[i] = points[i].x;
        arrays[n + i] = points[i].y;
    }
}

static void to_cpu(void *buffers[], void *arg)
{
    struct point *points = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
    const int *arrays = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
    unsigned n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

    (void)arg;
    count(&nto_cpu);
    for (unsigned i = 0; i < n; i++) {
        points[i].x = arrays[i];
        points[i].y = arrays[n + i];
    }
}

static struct starpu_codelet cl_to_cuda = {
    .cpu_funcs = {to_cuda},
    .cuda_funcs = {to_cuda},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "to_cuda",
};
static struct starpu_codelet cl_to_cpu = {
    .cpu_funcs = {to_cpu},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "to_cpu",
};
static struct starpu_multiformat_data_interface_ops ops = {
    .cpu_elemsize = sizeof(struct point),
    .cuda_elemsize = 2 * sizeof(int),
    .cpu_to_cuda_cl = &cl_to_cuda,
    .cuda_to_cpu_cl = &cl_to_cpu,
};

/* Simulated, the same function is executed on processors and GPUs. */
static int on_cuda(void)
{
    return starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CUDA_WORKER;
}

static void visit(void *buffer, int add, const int *expected)
{
    struct point *points = STARPU_MULTIFORMAT_GET_CPU_PTR(buffer);
    int *arrays = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffer);

    for (int i = 0; i < N; i++) {
        int *x = on_cuda() ? &arrays[i] : &points[i].x;
        int *y = on_cuda() ? &arrays[N + i] : &points[i].y;

        if (expected && (*x != i + *expected || *y != -i - *expected))
            count(&wrong);
        *x += add;
        *y -= add;
    }
}

static void increase(void *buffers[], void *arg)
{
    visit(buffers[0], 1, arg);
}

static void look(void *buffers[], void *arg)
{
    visit(buffers[0], 0, arg);
}

static void overwrite(void *buffers[], void *arg)
{
    struct point *points = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
    int *arrays = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);

    (void)arg;
    for (int i = 0; i < N; i++) {
        *(on_cuda() ? &arrays[i] : &points[i].x) = i;
        *(on_cuda() ? &arrays[N + i] : &points[i].y) = -i;
    }
}

static struct starpu_codelet cl_increase = {
    .cpu_funcs = {increase},
    .cuda_funcs = {increase},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};
static struct starpu_codelet cl_look = {
    .cpu_funcs = {look},
    .cuda_funcs = {look},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

static struct point points[N];
static int steps[1000];

static starpu_data_handle_t open_points(int machine, int home)
{
    starpu_data_handle_t h;

    for (int i = 0; i < N; i++)
        points[i] = (struct point){i, -i};
    for (int i = 0; i < 1000; i++)
        steps[i] = i;
    machine_open(machine);
    starpu_multiformat_data_register(&h, home, points, N, &ops);
    return h;
}

static void check_points(int by)
{
    ck_assert_int_eq(wrong, 0);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(points[i].x, i + by);
        ck_assert_int_eq(points[i].y, -i - by);
    }
}

static void insert(struct starpu_codelet *cl, starpu_data_handle_t h, int step,
                   uint32_t where)
{
    ck_assert_int_eq(starpu_task_insert(cl, (int)cl->modes[0], h,
                                        STARPU_CL_ARGS_NFREE, &steps[step],
                                        sizeof(int), STARPU_EXECUTE_WHERE,
                                        (unsigned long long)where, 0),
                     0);
}

/* shows starpu_multiformat_data_register */
START_TEST(each_kernel_gets_its_form)
{
    starpu_data_handle_t h = open_points(_i, STARPU_MAIN_RAM);
    unsigned seed = 7;
    int step = 0;

    for (int i = 0; i < 200; i++) {
        uint32_t where = STARPU_CPU;

        seed = seed * 1103515245 + 12345;
        if (machine_simulated(_i) && seed >> 16 & 1)
            where = STARPU_CUDA;
        if (seed >> 17 & 1)
            insert(&cl_increase, h, step++, where);
        else
            insert(&cl_look, h, step, where);
        if (i % 50 == 25) {
            ck_assert_int_eq(starpu_data_acquire(h, STARPU_RW), 0);
            check_points(step++);
            for (int k = 0; k < N; k++) {
                points[k].x++;
                points[k].y--;
            }
            starpu_data_release(h);
        }
    }
    starpu_data_unregister(h);
    starpu_shutdown();
    check_points(step);
    ck_assert((nto_cuda > 0) == machine_simulated(_i));
    ck_assert((nto_cpu > 0) == machine_simulated(_i));
}
END_TEST

/* Once per copy: readers after the first find the form they want. */
START_TEST(a_copy_is_converted_once)
{
    starpu_data_handle_t h = open_points(_i, STARPU_MAIN_RAM);
    uint32_t gpu = machine_simulated(_i) ? STARPU_CUDA : STARPU_CPU;

    insert(&cl_increase, h, 0, gpu);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nto_cuda, machine_simulated(_i));
    for (int i = 0; i < 10; i++)
        insert(&cl_increase, h, 1 + i, STARPU_CPU);
    for (int i = 0; i < 10; i++)
        insert(&cl_look, h, 11, STARPU_CPU);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nto_cuda, machine_simulated(_i));
    ck_assert_int_eq(nto_cpu, machine_simulated(_i));
    starpu_data_unregister(h);
    starpu_shutdown();
    check_points(11);
    ck_assert_int_eq(nto_cpu, machine_simulated(_i));
}
END_TEST

/* What is overwritten is not converted; data without a home begin so. */
START_TEST(what_is_written_whole_is_not_converted)
{
    struct starpu_codelet cl_write = cl_increase;
    starpu_data_handle_t h = open_points(_i, -1);

    cl_write.cpu_funcs[0] = overwrite;
    cl_write.cuda_funcs[0] = overwrite;
    cl_write.modes[0] = STARPU_W;
    insert(&cl_write, h, 0, STARPU_CPU);
    if (machine_simulated(_i))
        insert(&cl_write, h, 0, STARPU_CUDA);
    insert(&cl_write, h, 0, STARPU_CPU);
    insert(&cl_look, h, 0, STARPU_CPU);
    starpu_data_unregister(h);
    starpu_shutdown();
    ck_assert_int_eq(nto_cuda + nto_cpu, 0);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* Virtual µs of a kernel on a GPU, one there again, one on a processor, and of the
 * application that reads then what a GPU has made. */
static double measure_simulated(int machine, const char *kernels,
                                const char *assume)
{
    starpu_data_handle_t h;
    double us;

    machine_choose(FIRST_SIMULATED + machine);
    setenv("ORRERY_SIM_KERNELS", kernels, 1);
    setenv("ORRERY_ASSUME", assume, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, points, N, &ops);
    us = starpu_timing_now();
    insert(&cl_increase, h, 0, STARPU_CUDA);
    insert(&cl_look, h, 1, STARPU_CUDA);
    insert(&cl_increase, h, 1, STARPU_CPU);
    starpu_task_wait_for_all();
    insert(&cl_increase, h, 2, STARPU_CUDA);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_R), 0);
    starpu_usleep(1);
    us = starpu_timing_now() - us;
    starpu_data_release(h);
    starpu_data_unregister(h);
    starpu_shutdown();
    return us;
}

/* Twice to a GPU's form, and back: by a processor, for the application. */
START_TEST(simulated_conversions_take_their_time)
{
    static const char *const kernels[] = {"run", "skip"};

    for (int i = 0; i < 1000; i++)
        steps[i] = i;
    for (int k = 0; k < 2; k++) {
        double without, with;

        without = measure_simulated(_i, kernels[k], "kernel[k] = 50us");
        with = measure_simulated(_i, kernels[k],
                                 "kernel[k] = 50us; kernel[to_cuda] = 100us; "
                                 "kernel[to_cpu] = 1000us");
        ck_assert_double_eq_tol(with - without, 2200, 1e-3);
    }
}
END_TEST

START_TEST(sizes_are_those_of_the_forms)
{
    starpu_data_handle_t h = open_points(_i, STARPU_MAIN_RAM), half;
    struct starpu_task *task = starpu_task_create();

    /* As StarPU names rows of models. */
    starpu_multiformat_data_register(&half, STARPU_MAIN_RAM, points, 50, &ops);
    task->cl = &cl_look;
    task->handles[0] = half;
    ck_assert_uint_eq(starpu_task_data_footprint(task), 0xfc220af3);
    starpu_task_destroy(task);
    starpu_data_unregister(half);
    ck_assert_uint_eq(starpu_data_get_size(h), N * sizeof(struct point));
    ck_assert_uint_eq(starpu_data_get_alloc_size(h),
                      N * (sizeof(struct point) + 2 * sizeof(int)));
    ck_assert_int_eq(starpu_data_get_interface_id(h),
                     STARPU_MULTIFORMAT_INTERFACE_ID);
    ck_assert_ptr_eq(starpu_data_handle_to_pointer(h, STARPU_MAIN_RAM), points);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* As the processors have them, whoever wrote last; what is unpacked is converted for
 * the next GPU. */
START_TEST(the_form_of_processors_is_packed)
{
    starpu_data_handle_t h = open_points(_i, STARPU_MAIN_RAM);
    starpu_ssize_t n;
    struct point *packed;

    for (int i = 0; i < 4; i++)
        insert(&cl_increase, h, i, STARPU_CPU | STARPU_CUDA);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_RW), 0);
    ck_assert_int_eq(starpu_data_pack(h, NULL, &n), 0);
    ck_assert_uint_eq((size_t)n, sizeof(points));
    ck_assert_int_eq(starpu_data_pack(h, (void **)&packed, &n), 0);
    ck_assert_uint_eq((size_t)n, sizeof(points));
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(packed[i].x, i + 4);
        ck_assert_int_eq(packed[i].y, -i - 4);
        packed[i].x += 3;
        packed[i].y -= 3;
    }
    ck_assert_int_eq(starpu_data_peek(h, packed, (size_t)n - 1), -EINVAL);
    ck_assert_int_eq(starpu_data_unpack(h, packed, (size_t)n), 0);
    starpu_data_release(h);
    for (int i = 0; i < 4; i++)
        insert(&cl_look, h, 7, STARPU_CPU | STARPU_CUDA);
    starpu_task_wait_for_all();
    ck_assert_int_eq(wrong, 0);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

/* Who serves the disk is no worker, and asks for the form all the same. */
START_TEST(data_go_to_disks_and_come_back)
{
    char directory[] = "/tmp/orrery-multiformat-XXXXXX";
    starpu_data_handle_t none = open_points(_i, STARPU_MAIN_RAM), h;
    int node;

    starpu_data_unregister(none);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    node = starpu_disk_register(&starpu_disk_unistd_ops, directory,
                                STARPU_DISK_SIZE_MIN);
    ck_assert_int_ge(node, 1);
    /* Data know the disks that there are when they are registered. */
    starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, points, N, &ops);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(starpu_data_acquire_on_node(h, node, STARPU_R), 0);
        starpu_data_release_on_node(h, node);
        insert(&cl_increase, h, i, STARPU_CPU | STARPU_CUDA);
    }
    starpu_data_unregister(h);
    check_points(3);
    starpu_shutdown();
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

SUITE_MAIN(multiformat)
{
    Suite *suite = suite_create("multiformat");
    TCase *tc = tcase_create("multiformat");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, simulated_conversions_take_their_time, 0,
                        NMACHINES - FIRST_SIMULATED);
    tcase_add_loop_test(tc, each_kernel_gets_its_form, 0, NMACHINES);
    tcase_add_loop_test(tc, a_copy_is_converted_once, 0, NMACHINES);
    tcase_add_loop_test(tc, what_is_written_whole_is_not_converted, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, sizes_are_those_of_the_forms, 0, NMACHINES);
    tcase_add_loop_test(tc, the_form_of_processors_is_packed, 0, NMACHINES);
    tcase_add_loop_test(tc, data_go_to_disks_and_come_back, 0, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
