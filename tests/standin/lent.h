/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/lent.h - compiled before a program of tests that has functions for
 * processors alone, as tests/api/lent.h is for OpenCL: each codelet gets one for
 * GPUs, which calls the first of the codelet's cpu_funcs with the bytes of the
 * device. On a stand-in those are where it has them; on a GPU they are copied to
 * main memory, and what the function has changed is copied back.
 */
#pragma once

#include "../api/lent_views.h"

void lent_to_gpu(void *buffers[], void *arg);

#define LENT_TO_GPU 1

/* What programs have for simulated CUDA devices goes where no device is. */
#ifdef KIND_HIP
#    define cpu_funcs hip_funcs = {lent_to_gpu}, .cpu_funcs
#else
#    define cpu_funcs  cuda_func = lent_to_gpu, .cpu_funcs
#    define cuda_funcs max_fpga_funcs
#endif
