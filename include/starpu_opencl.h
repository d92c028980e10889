/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_opencl.h - OpenCL types that need no device header. This build has
 * no OpenCL backend (STARPU_USE_OPENCL is not defined), so no function is
 * declared.
 */
#pragma once

#include <starpu_config.h>

struct _cl_program;

/* One compiled program per OpenCL device. */
struct starpu_opencl_program {
    struct _cl_program *programs[STARPU_MAXOPENCLDEVS];
};
