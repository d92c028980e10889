/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/has-opencl.c - status 0 if as many platforms as the argument says, or one,
 * make devices of processors. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
    cl_platform_id platforms[16];
    cl_uint n = 0, ndevices;
    int wanted = argc > 1 ? atoi(argv[1]) : 1;

    if (clGetPlatformIDs(16, platforms, &n))
        return 1;
    for (cl_uint i = 0; i < n && i < 16; i++)
        if (!clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 0, NULL,
                            &ndevices))
            wanted--;
    return wanted > 0;
}
