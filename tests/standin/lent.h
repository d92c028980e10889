/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/lent.h - compiled before a program of tests that has functions for
 * processors alone, as tests/api/lent.h is for OpenCL: each codelet gets one for
 * the stand-in's devices, which calls the first of the codelet's cpu_funcs with
 * the bytes of the device.
 */
#pragma once

#include <starpu.h>

void lent_to_gpu(void *buffers[], void *arg);

/* The init function of reductions, of which a program has one at a time; NULL: none
 * yet. */
extern void (*lent_init)(void *buffers[], void *arg);
#define LENT_TO_GPU 1

static inline void lent_reduction(starpu_data_handle_t handle,
                                  struct starpu_codelet *redux,
                                  struct starpu_codelet *init)
{
    if (init && init->cpu_funcs[0])
        lent_init = init->cpu_funcs[0];
    starpu_data_set_reduction_methods(handle, redux, init);
}
#define starpu_data_set_reduction_methods lent_reduction

/* What programs have for simulated CUDA devices goes where no device is. */
#ifdef KIND_HIP
#    define cpu_funcs hip_funcs = {lent_to_gpu}, .cpu_funcs
#else
#    define cpu_funcs  cuda_func = lent_to_gpu, .cpu_funcs
#    define cuda_funcs max_fpga_funcs
#endif
