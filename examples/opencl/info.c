/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/info.c - which platforms and devices there are. */
#include "common.h"

#include <stdio.h>

static void print_device(cl_device_id device)
{
    char name[256];
    cl_uint units;
    cl_ulong bytes;

    CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL));
    CHECK(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, NULL));
    printf("  %s: %u compute units, %.1f GiB\n", name, units, (double)bytes / (1 << 30));
}

int main(void)
{
    cl_platform_id platforms[16];
    cl_uint n;

    CHECK(clGetPlatformIDs(16, platforms, &n));
    for (cl_uint i = 0; i < n; i++) {
        cl_device_id devices[64];
        char name[256], vendor[256];
        cl_uint ndevices = 0;

        CHECK(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL));
        CHECK(clGetPlatformInfo(platforms[i], CL_PLATFORM_VENDOR, sizeof(vendor), vendor, NULL));
        printf("%s of %s\n", name, vendor);
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 64, devices, &ndevices);
        for (cl_uint k = 0; k < ndevices; k++)
            print_device(devices[k]);
    }
    return 0;
}
