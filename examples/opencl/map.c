/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/map.c - the sum of two vectors that are filled, and read, in place. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "__kernel void add(__global const float *a, __global const float *b,\n"
    "                  __global float *sum)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    sum[i] = a[i] + b[i];\n"
    "}\n";

static float *map(const struct setup *setup, cl_mem mem, cl_map_flags flags)
{
    cl_int error;
    float *at = clEnqueueMapBuffer(setup->queue, mem, CL_TRUE, flags, 0,
                                   setup->size * sizeof(float), 0, NULL, NULL, &error);

    CHECK(error);
    return at;
}

static void fill(const struct setup *setup, cl_mem mem, float factor)
{
    float *at = map(setup, mem, CL_MAP_WRITE);

    for (unsigned i = 0; i < setup->size; i++)
        at[i] = factor * (float)i;
    CHECK(clEnqueueUnmapMemObject(setup->queue, mem, at, 0, NULL, NULL));
}

int main(int argc, char **argv)
{
    struct setup setup;
    cl_kernel add;
    cl_mem mems[3];
    float *wanted, *got;
    int result;

    open_setup(&setup, argc, argv, 1 << 16, source);
    add = kernel_of(&setup, "add");
    for (unsigned i = 0; i < 3; i++) {
        mems[i] = buffer_of(&setup, setup.size * sizeof(float), NULL);
        ARGUMENT(add, i, mems[i]);
    }
    fill(&setup, mems[0], 1);
    fill(&setup, mems[1], 2);
    launch(&setup, add, setup.size, 0, 0);
    wanted = malloc(setup.size * sizeof(*wanted));
    for (unsigned i = 0; i < setup.size; i++)
        wanted[i] = 3 * (float)i;
    got = map(&setup, mems[2], CL_MAP_READ);
    result = compare(&setup, "map", got, wanted, setup.size, 0);
    CHECK(clEnqueueUnmapMemObject(setup.queue, mems[2], got, 0, NULL, NULL));
    CHECK(clFinish(setup.queue));
    for (unsigned i = 0; i < 3; i++)
        clReleaseMemObject(mems[i]);
    clReleaseKernel(add);
    close_setup(&setup);
    free(wanted);
    return result;
}
