/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/host.c - an implementation on this host (PoCL, say), which computes what kernels
 * of a simulation would: ORRERY_SIM_KERNELS=run. The simulation's thread; its threads are
 * its own.
 */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/opencl/icd.h"
#include "opencl/socl.h"

enum { MOST_PLATFORMS = 16 };

static bool open_device(cl_platform_id platform, struct socl_host *ret)
{
    const cl_icd_dispatch *below = SOCL_BELOW(platform);
    cl_int error = CL_SUCCESS;

    if (below == &socl_dispatch ||
        below->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &ret->device, NULL) != CL_SUCCESS)
        return false;
    ret->context = below->clCreateContext(NULL, 1, &ret->device, NULL, NULL, &error);
    if (error == CL_SUCCESS)
        ret->queue = below->clCreateCommandQueue(ret->context, ret->device, 0, &error);
    return error == CL_SUCCESS;
}

const struct socl_host *socl_host(void)
{
    void *platforms[MOST_PLATFORMS];
    unsigned n;

    if (socl.host.queue)
        return &socl.host;
    n = orr_icd_platforms(getenv("ORRERY_OPENCL_VENDORS"), platforms, MOST_PLATFORMS);
    for (unsigned i = 0; i < n; i++)
        if (open_device(platforms[i], &socl.host))
            return &socl.host;
    orr_log_error("OpenCL: ORRERY_SIM_KERNELS=run executes kernels on this host, and there is "
                  "no implementation that could: install pocl-opencl-icd, or name a folder of "
                  "vendors' files in ORRERY_OPENCL_VENDORS");
    return NULL;
}
