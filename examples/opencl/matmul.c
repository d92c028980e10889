/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * examples/opencl/matmul.c - a product of matrices, in bands of rows, dealt out to a queue of
 * each device.
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

enum { BANDS = 8 };

static const char source[] =
    "__kernel void product(__global const float *a, __global const float *b,\n"
    "                      __global float *c, int n)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    float sum = 0.0f;\n"
    "    for (int k = 0; k < n; k++)\n"
    "        sum += a[y * n + k] * b[k * n + x];\n"
    "    c[y * n + x] = sum;\n"
    "}\n";

static void multiply(const float *a, const float *b, float *c, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;

            for (int k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }
}

int main(int argc, char **argv)
{
    struct setup setup;
    cl_command_queue queues[64];
    cl_kernel kernel;
    cl_mem as[BANDS], cs[BANDS], b;
    float *x, *y, *got, *wanted;
    unsigned state = 7;
    size_t n, band;
    int side, result;
    cl_int error;

    open_setup(&setup, argc, argv, 128, source);
    side = (int)setup.size / BANDS * BANDS;
    n = (size_t)side * (size_t)side;
    band = n / BANDS;
    x = malloc(n * sizeof(*x));
    y = malloc(n * sizeof(*y));
    got = calloc(n, sizeof(*got));
    wanted = malloc(n * sizeof(*wanted));
    for (size_t i = 0; i < n; i++) {
        x[i] = random_number(&state);
        y[i] = random_number(&state);
    }
    for (cl_uint i = 0; i < setup.n; i++) {
        queues[i] = clCreateCommandQueue(setup.context, setup.devices[i], 0, &error);
        CHECK(error);
    }
    b = buffer_of(&setup, n * sizeof(*y), y);
    kernel = kernel_of(&setup, "product");
    ARGUMENT(kernel, 1, b);
    ARGUMENT(kernel, 3, side);
    for (unsigned i = 0; i < BANDS; i++) {
        const size_t global[2] = {(size_t)side, (size_t)side / BANDS};
        cl_command_queue queue = queues[i % setup.n];

        as[i] = buffer_of(&setup, band * sizeof(*x), x + i * band);
        cs[i] = buffer_of(&setup, band * sizeof(*got), NULL);
        ARGUMENT(kernel, 0, as[i]);
        ARGUMENT(kernel, 2, cs[i]);
        CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
        CHECK(clEnqueueReadBuffer(queue, cs[i], CL_FALSE, 0, band * sizeof(*got),
                                  got + i * band, 0, NULL, NULL));
    }
    for (cl_uint i = 0; i < setup.n; i++)
        CHECK(clFinish(queues[i]));
    if (setup.check)
        multiply(x, y, wanted, side);
    result = compare(&setup, "matmul", got, wanted, n, 1e-4f);
    for (unsigned i = 0; i < BANDS; i++) {
        clReleaseMemObject(as[i]);
        clReleaseMemObject(cs[i]);
    }
    for (cl_uint i = 0; i < setup.n; i++)
        clReleaseCommandQueue(queues[i]);
    clReleaseMemObject(b);
    clReleaseKernel(kernel);
    close_setup(&setup);
    free(x);
    free(y);
    free(got);
    free(wanted);
    return result;
}
