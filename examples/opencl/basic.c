/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/basic.c - the sum of two vectors. */
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

int main(int argc, char **argv)
{
    struct setup setup;
    cl_kernel add;
    cl_mem a, b, sum;
    float *x, *y, *got;
    size_t bytes;
    int result;

    open_setup(&setup, argc, argv, 1 << 18, source);
    bytes = setup.size * sizeof(float);
    x = malloc(bytes);
    y = malloc(bytes);
    got = calloc(setup.size, sizeof(float));
    for (unsigned i = 0; i < setup.size; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    a = buffer_of(&setup, bytes, x);
    b = buffer_of(&setup, bytes, y);
    sum = buffer_of(&setup, bytes, NULL);
    add = kernel_of(&setup, "add");
    ARGUMENT(add, 0, a);
    ARGUMENT(add, 1, b);
    ARGUMENT(add, 2, sum);
    launch(&setup, add, setup.size, 0, 0);
    read_back(&setup, sum, bytes, got);
    for (unsigned i = 0; i < setup.size; i++)
        y[i] += x[i];
    result = compare(&setup, "basic", got, y, setup.size, 0);
    clReleaseKernel(add);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(sum);
    close_setup(&setup);
    free(x);
    free(y);
    free(got);
    return result;
}
