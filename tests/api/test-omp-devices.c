/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-devices.c - explicit tasks of OpenMP with functions for devices,
 * and tasks that nobody but a device can run: on simulated GPUs, and, compiled with
 * functions for them, on others.
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "omp.h"

enum { NDATA = 5, LENGTH = 100, NTASKS = 60 };

#if defined(LENT_TO_OPENCL)
#    define DEVICE STARPU_OPENCL
#elif defined(KIND_HIP)
#    define DEVICE STARPU_HIP
#else
#    define DEVICE STARPU_CUDA
#endif

static atomic_int ndevice, nelsewhere, ndone;

static void count(void)
{
    int worker = starpu_worker_get_id();

    ck_assert_int_ge(worker, 0);
    if (starpu_worker_get_type(worker) == STARPU_CPU_WORKER)
        nelsewhere++;
    else
        ndevice++;
}

/* The order of the tasks shows in every element. */
static void scale_and_add(void *buffers[], void *arg)
{
    unsigned *v = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);

    count();
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] = 3 * v[i] + (unsigned)(uintptr_t)arg;
}

static struct starpu_codelet on_device = {
    .cpu_funcs = {scale_and_add},
    .cuda_funcs = {scale_and_add},
    .where = DEVICE,
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static struct starpu_codelet anywhere = {
    .cpu_funcs = {scale_and_add},
    .cuda_funcs = {scale_and_add},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static void no_data(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    count();
    ndone++;
}

static struct starpu_codelet nothing_on_device = {
    .cpu_funcs = {no_data},
    .cuda_funcs = {no_data},
    .where = DEVICE,
    .name = "k",
};

static struct starpu_codelet nothing_anywhere = {
    .cpu_funcs = {no_data},
    .cuda_funcs = {no_data},
    .name = "k",
};

static struct starpu_omp_task_region_attr
task_of(const struct starpu_codelet *cl)
{
    struct starpu_omp_task_region_attr attr = omp_task(NULL, NULL);

    attr.cl = *cl;
    return attr;
}

/* Whether there is a device, which says whether tests can be. */
static bool open_with_devices(int machine)
{
    ndevice = nelsewhere = ndone = 0;
    omp_open(machine);
    if (starpu_worker_get_count() > starpu_cpu_worker_get_count())
        return true;
    ck_assert(!machine_simulated(machine));
    starpu_omp_shutdown();
    return false;
}

/* --- tasks with data --- */

struct row {
    const struct starpu_codelet *cl;
    unsigned v[NDATA][LENGTH];
    bool deferred;
};

static void submit_rows(void *buffers[], void *arg)
{
    struct row *row = arg;
    struct starpu_omp_task_region_attr attr = task_of(row->cl);

    (void)buffers;
    if (!starpu_omp_single_inline())
        return;
    attr.if_clause = row->deferred;
    for (int d = 0; d < NDATA; d++) {
        starpu_data_handle_t handle;

        starpu_vector_data_register(&handle, STARPU_MAIN_RAM,
                                    (uintptr_t)row->v[d], LENGTH,
                                    sizeof(unsigned));
        starpu_omp_handle_register(handle);
    }
    for (unsigned i = 0; i < NTASKS; i++) {
        starpu_data_handle_t handle = starpu_omp_data_lookup(row->v[i % NDATA]);

        attr.handles = &handle;
        attr.cl_arg = (void *)(uintptr_t)i;
        starpu_omp_task_region(&attr);
        if (!row->deferred)
            ck_assert_int_eq(ndevice + nelsewhere, (int)i + 1);
    }
    starpu_omp_taskwait();
    ck_assert_int_eq(ndevice + nelsewhere, NTASKS);
}

static void check_row(const struct row *row)
{
    unsigned expected[NDATA] = {0};

    for (unsigned i = 0; i < NTASKS; i++)
        expected[i % NDATA] = 3 * expected[i % NDATA] + i;
    for (int d = 0; d < NDATA; d++)
        for (int i = 0; i < LENGTH; i++)
            ck_assert_uint_eq(row->v[d][i], expected[d]);
}

static void run_rows(int machine, const struct starpu_codelet *cl,
                     bool deferred)
{
    for (int t = 0; t < NTHREADS; t++) {
        struct row row = {.cl = cl, .deferred = deferred};

        if (!open_with_devices(machine))
            return;
        omp_parallel(omp_threads[t], submit_rows, &row);
        check_row(&row); /* the region's end has brought them home */
        if (cl->where == DEVICE)
            ck_assert_int_eq(ndevice, NTASKS);
        starpu_omp_shutdown();
    }
}

START_TEST(devices_execute_tasks_in_order)
{
    run_rows(_i, &on_device, true);
}
END_TEST

START_TEST(who_does_not_defer_waits_for_the_device)
{
    run_rows(_i, &on_device, false);
}
END_TEST

START_TEST(processors_and_devices_share_tasks_with_data)
{
    run_rows(_i, &anywhere, true);
}
END_TEST

/* --- tasks without --- */

enum { NQUICK = 1000 };

static void submit_many(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr attr = task_of(arg);

    (void)buffers;
    for (int i = 0; i < NQUICK; i++)
        starpu_omp_task_region(&attr);
}

/* However short and many they are, none is executed by who meets it. */
START_TEST(what_is_for_devices_alone_runs_there)
{
    for (int t = 0; t < NTHREADS; t++) {
        if (!open_with_devices(_i))
            return;
        omp_parallel(omp_threads[t], submit_many, &nothing_on_device);
        ck_assert_int_eq(ndone, NQUICK * omp_threads[t]);
        ck_assert_int_eq(ndevice, NQUICK * omp_threads[t]);
        starpu_omp_shutdown();
    }
}
END_TEST

START_TEST(what_is_for_all_is_executed_once_by_somebody)
{
    for (int t = 0; t < NTHREADS; t++) {
        if (!open_with_devices(_i))
            return;
        omp_parallel(omp_threads[t], submit_many, &nothing_anywhere);
        ck_assert_int_eq(ndone, NQUICK * omp_threads[t]);
        starpu_omp_shutdown();
    }
}
END_TEST

/* --- tasks of final ones --- */

static void final_one(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr attr = task_of(&nothing_on_device);

    (void)buffers;
    (void)arg;
    ck_assert(starpu_omp_in_final());
    for (int i = 1; i <= 3; i++) {
        starpu_omp_task_region(&attr);
        ck_assert_int_eq(ndevice, i);
    }
}

static void submit_final(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr attr = omp_task(final_one, arg);

    (void)buffers;
    attr.final_clause = 1;
    if (starpu_omp_single_inline())
        starpu_omp_task_region(&attr);
}

/* It waits for the device, which no call of a function can replace. */
START_TEST(a_final_task_may_have_one_of_a_device)
{
    if (!open_with_devices(_i))
        return;
    omp_parallel(2, submit_final, NULL);
    ck_assert_int_eq(ndevice, 3);
    starpu_omp_shutdown();
}
END_TEST

SUITE_MAIN(omp_devices)
{
    Suite *suite = suite_create("OpenMP's tasks on devices");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 120);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(devices_execute_tasks_in_order);
    EACH(who_does_not_defer_waits_for_the_device);
    EACH(processors_and_devices_share_tasks_with_data);
    EACH(what_is_for_devices_alone_runs_there);
    EACH(what_is_for_all_is_executed_once_by_somebody);
    EACH(a_final_task_may_have_one_of_a_device);
    return suite_main(suite);
}
