/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/lent.h - compiled before a program of tests that has functions for
 * processors alone: each codelet gets one for OpenCL devices, too, which maps
 * the buffers and calls the first of the codelet's cpu_funcs. So these programs
 * move all their data to real devices and back.
 */
#pragma once

#include <starpu.h>

void lent_to_opencl(void *buffers[], void *arg);

/* The init function of reductions, of which a program has one at a time; NULL: none
 * yet. */
extern void (*lent_init)(void *buffers[], void *arg);
#define LENT_TO_OPENCL 1

static inline void lent_reduction(starpu_data_handle_t handle,
                                  struct starpu_codelet *redux,
                                  struct starpu_codelet *init)
{
    if (init && init->cpu_funcs[0])
        lent_init = init->cpu_funcs[0];
    starpu_data_set_reduction_methods(handle, redux, init);
}
#define starpu_data_set_reduction_methods lent_reduction

#define cpu_funcs opencl_funcs = {lent_to_opencl}, .cpu_funcs
