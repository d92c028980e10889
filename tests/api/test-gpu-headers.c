/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-gpu-headers.c - a program compiled where a vendor's headers are, as far
 * as tests/standin/toolkit has them, on the stand-in: properties of devices, for which
 * the application links the vendor's runtime library. Here that is this file.
 */
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <orrery.h>
#include <starpu.h>

#include "../suite.h"
#include "on-gpu.h"

#ifdef KIND_HIP
#    ifndef STARPU_USE_HIP
#        error "STARPU_USE_HIP is not defined"
#    endif
typedef struct hipDeviceProp_t properties_t;
typedef hipError_t error_t_;
#    define ON_PROPERTIES starpu_hip_get_device_properties
#    define ON_ASK        hipGetDeviceProperties
#    define ON_MEMORY     "hipDeviceTotalMem"
/* shows starpu_hip_get_device_properties */
#else
#    ifndef STARPU_USE_CUDA
#        error "STARPU_USE_CUDA is not defined"
#    endif
typedef struct cudaDeviceProp properties_t;
typedef cudaError_t error_t_;
#    define ON_PROPERTIES starpu_cuda_get_device_properties
#    define ON_ASK        cudaGetDeviceProperties
#    define ON_MEMORY     "cuDeviceTotalMem_v2"
/* shows starpu_cuda_get_device_properties */
#endif

/* -- the vendor's runtime library -- */

static int nasked;

error_t_ ON_ASK(properties_t *ret, int device)
{
    typedef int (*memory_t)(size_t *, int);

    ON_FUNCTION(memory_t, memory, ON_MEMORY);
    nasked++;
    memset(ret, 0, sizeof(*ret));
    snprintf(ret->name, sizeof(ret->name), "board %d", device);
    ret->major = 7;
    ret->multiProcessorCount = 20 + device;
    return (error_t_)memory(&ret->totalGlobalMem, device);
}

/* -- tests -- */

static unsigned worker_of(int devid)
{
    int worker = starpu_worker_get_by_devid(ON_WORKER, devid);

    ck_assert_int_ge(worker, 0);
    return (unsigned)worker;
}

static void open_runtime(void)
{
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

START_TEST(a_worker_has_the_properties_of_its_device)
{
    const properties_t *found;

    setenv("GPU_STANDIN", "devices=2 mib=64", 1);
    setenv("STARPU_NWORKER_PER_" ON_KIND, "2", 1);
    open_runtime();
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        int devid = starpu_worker_get_devid((int)w);

        found = ON_PROPERTIES(w);
        if (starpu_worker_get_type((int)w) != ON_WORKER) {
            ck_assert_ptr_null(found);
            continue;
        }
        ck_assert_int_eq(found->multiProcessorCount, 20 + devid);
        ck_assert_int_eq(found->major, 7);
        ck_assert_str_eq(found->name, devid ? "board 1" : "board 0");
        ck_assert_uint_eq(
            found->totalGlobalMem,
            (size_t)starpu_memory_get_total(starpu_worker_get_memory_node(w)));
    }
    ck_assert_int_eq(nasked, 2);
    starpu_shutdown();
}
END_TEST

/* The memory is that of the present run. */
START_TEST(properties_have_the_limit_of_memory)
{
    setenv("GPU_STANDIN", "devices=2 mib=64", 1);
    for (int mib = 8; mib <= 16; mib += 8) {
        setenv("STARPU_LIMIT_" ON_KIND "_MEM", mib == 8 ? "8" : "16", 1);
        open_runtime();
        ck_assert_uint_eq(ON_PROPERTIES(worker_of(1))->totalGlobalMem,
                          (size_t)mib << 20);
        starpu_shutdown();
    }
}
END_TEST

static int is_new_enough(unsigned worker, struct starpu_task *task,
                         unsigned implementation)
{
    const properties_t *found = ON_PROPERTIES(worker);

    (void)task;
    (void)implementation;
    return found && found->major >= 7;
}

static int nrun;

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    __atomic_add_fetch(&nrun, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {count},
    .on_funcs = {count},
    .can_execute = is_new_enough,
    .name = "k",
};

/* What can_execute is for, on all threads at once. */
START_TEST(kernels_are_chosen_by_properties)
{
    setenv("GPU_STANDIN", "devices=2", 1);
    open_runtime();
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nrun, 20);
    starpu_shutdown();
}
END_TEST

#ifndef KIND_HIP
/* No library of the vendor's is asked. */
START_TEST(simulated_devices_have_properties)
{
    const properties_t *found;

    setenv("ORRERY_MACHINE", TEST_MACHINE, 1);
    setenv("ORRERY_ASSUME", "kernel[k] = 50us", 1);
    open_runtime();
    ck_assert(orrery_is_simulated());
    found = ON_PROPERTIES(worker_of(0));
    ck_assert_ptr_nonnull(strstr(found->name, "CUDA 0"));
    ck_assert_uint_eq(found->totalGlobalMem,
                      (size_t)starpu_memory_get_total(
                          starpu_worker_get_memory_node(worker_of(0))));
    ck_assert_int_eq(nasked, 0);
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, (int)worker_of(0), 0),
        0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_shutdown();
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("gpu-headers");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_worker_has_the_properties_of_its_device);
    tcase_add_test(tc, properties_have_the_limit_of_memory);
    tcase_add_test(tc, kernels_are_chosen_by_properties);
#ifndef KIND_HIP
    tcase_add_test(tc, simulated_devices_have_properties);
#endif
    return suite_main(suite);
}
