/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/nw.c - how two sequences are best aligned: a table, diagonal by diagonal. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void diagonal(__global const float *match, __global float *table, int n, int d,\n"
    "                       int first, float gap)\n"
    "{\n"
    "    int x = first + get_global_id(0), y = d - x, i = y * (n + 1) + x;\n"
    "    float best = table[i - n - 2] + match[(y - 1) * n + x - 1];\n"
    "    best = fmax(best, table[i - 1] - gap);\n"
    "    table[i] = fmax(best, table[i - n - 1] - gap);\n"
    "}\n";

static void align(const float *match, float *table, int n, float gap)
{
    for (int y = 1; y <= n; y++)
        for (int x = 1; x <= n; x++) {
            int i = y * (n + 1) + x;
            float best = table[i - n - 2] + match[(y - 1) * n + x - 1];

            best = fmaxf(best, table[i - 1] - gap);
            table[i] = fmaxf(best, table[i - n - 1] - gap);
        }
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *match, *table, *got;
    cl_kernel kernel;
    cl_mem matches, tables;
    const float gap = 2;
    unsigned state = 5;
    size_t cells, bytes;
    int n, result;

    open_setup(&setup, argc, argv, 96, source);
    n = (int)setup.size;
    cells = ((size_t)n + 1) * ((size_t)n + 1);
    bytes = cells * sizeof(float);
    match = malloc((size_t)n * (size_t)n * sizeof(*match));
    table = calloc(1, bytes);
    got = calloc(1, bytes);
    for (int i = 0; i < n * n; i++)
        match[i] = floorf(10 * random_number(&state)) - 5;
    for (int i = 0; i <= n; i++)
        table[i] = table[i * (n + 1)] = -gap * (float)i;
    matches = buffer_of(&setup, (size_t)n * (size_t)n * sizeof(*match), match);
    tables = buffer_of(&setup, bytes, table);
    kernel = kernel_of(&setup, "diagonal");
    ARGUMENT(kernel, 0, matches);
    ARGUMENT(kernel, 1, tables);
    ARGUMENT(kernel, 2, n);
    ARGUMENT(kernel, 5, gap);
    for (int d = 2; d <= 2 * n; d++) {
        int first = d > n ? d - n : 1, last = d > n ? n : d - 1;

        ARGUMENT(kernel, 3, d);
        ARGUMENT(kernel, 4, first);
        launch(&setup, kernel, (size_t)(last - first + 1), 0, 0);
    }
    read_back(&setup, tables, bytes, got);
    align(match, table, n, gap);
    result = compare(&setup, "nw", got, table, cells, 0);
    clReleaseKernel(kernel);
    clReleaseMemObject(matches);
    clReleaseMemObject(tables);
    close_setup(&setup);
    free(match);
    free(table);
    free(got);
    return result;
}
