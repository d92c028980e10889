/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/lud.c - a matrix becomes the product of two triangles, in place. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void column(__global float *a, int n, int k)\n"
    "{\n"
    "    int y = k + 1 + get_global_id(0);\n"
    "    a[y * n + k] /= a[k * n + k];\n"
    "}\n"
    "__kernel void rest(__global float *a, int n, int k)\n"
    "{\n"
    "    int x = k + 1 + get_global_id(0), y = k + 1 + get_global_id(1);\n"
    "    a[y * n + x] -= a[y * n + k] * a[k * n + x];\n"
    "}\n";

static void factorize(float *a, int n)
{
    for (int k = 0; k < n; k++)
        for (int y = k + 1; y < n; y++) {
            a[y * n + k] /= a[k * n + k];
            for (int x = k + 1; x < n; x++)
                a[y * n + x] -= a[y * n + k] * a[k * n + x];
        }
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *a, *got;
    cl_kernel column, rest;
    cl_mem matrix;
    unsigned state = 4;
    size_t cells;
    int n, result;

    open_setup(&setup, argc, argv, 64, source);
    n = (int)setup.size;
    cells = (size_t)n * (size_t)n;
    a = malloc(cells * sizeof(*a));
    got = calloc(cells, sizeof(*got));
    for (int i = 0; i < n * n; i++)
        a[i] = random_number(&state) + (i % (n + 1) == 0 ? (float)n : 0);
    matrix = buffer_of(&setup, cells * sizeof(*a), a);
    column = kernel_of(&setup, "column");
    rest = kernel_of(&setup, "rest");
    ARGUMENT(column, 0, matrix);
    ARGUMENT(column, 1, n);
    ARGUMENT(rest, 0, matrix);
    ARGUMENT(rest, 1, n);
    for (int k = 0; k < n - 1; k++) {
        size_t left = (size_t)(n - 1 - k);

        ARGUMENT(column, 2, k);
        ARGUMENT(rest, 2, k);
        launch(&setup, column, left, 0, 0);
        launch(&setup, rest, left, left, 0);
    }
    read_back(&setup, matrix, cells * sizeof(*a), got);
    if (setup.check)
        factorize(a, n);
    result = compare(&setup, "lud", got, a, cells, 1e-4f);
    clReleaseKernel(column);
    clReleaseKernel(rest);
    clReleaseMemObject(matrix);
    close_setup(&setup);
    free(a);
    free(got);
    return result;
}
