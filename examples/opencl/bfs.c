/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/bfs.c - how far the nodes of a graph are from the first one, level by level,
 * until none is new. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void level(__global const int *first, __global const int *next,\n"
    "                    __global float *far, __global int *changed, float now)\n"
    "{\n"
    "    int node = get_global_id(0);\n"
    "    if (far[node] == now)\n"
    "        for (int e = first[node]; e < first[node + 1]; e++)\n"
    "            if (far[next[e]] < 0.0f) {\n"
    "                far[next[e]] = now + 1.0f;\n"
    "                *changed = 1;\n"
    "            }\n"
    "}\n";

enum { DEGREE = 4 };

static void search(const int *first, const int *next, float *far, int n)
{
    bool changed = true;

    for (float now = 0; changed; now++) {
        changed = false;
        for (int node = 0; node < n; node++)
            for (int e = first[node]; far[node] == now && e < first[node + 1]; e++)
                if (far[next[e]] < 0) {
                    far[next[e]] = now + 1;
                    changed = true;
                }
    }
}

int main(int argc, char **argv)
{
    struct setup setup;
    int *first, *next, changed = 1, n, result;
    float *far, *got;
    cl_mem firsts, nexts, fars, changes;
    cl_kernel kernel;
    unsigned state = 9;

    open_setup(&setup, argc, argv, 20000, source);
    n = (int)setup.size;
    first = malloc((setup.size + 1) * sizeof(*first));
    next = malloc(setup.size * DEGREE * sizeof(*next));
    far = malloc(setup.size * sizeof(*far));
    got = calloc(setup.size, sizeof(*got));
    for (int i = 0; i <= n; i++)
        first[i] = i * DEGREE;
    for (int i = 0; i < n * DEGREE; i++)
        next[i] = (int)(random_number(&state) * (float)n) % n;
    for (int i = 0; i < n; i++)
        far[i] = i ? -1 : 0;
    firsts = buffer_of(&setup, (setup.size + 1) * sizeof(*first), first);
    nexts = buffer_of(&setup, setup.size * DEGREE * sizeof(*next), next);
    fars = buffer_of(&setup, setup.size * sizeof(*far), far);
    changes = buffer_of(&setup, sizeof(changed), NULL);
    kernel = kernel_of(&setup, "level");
    ARGUMENT(kernel, 0, firsts);
    ARGUMENT(kernel, 1, nexts);
    ARGUMENT(kernel, 2, fars);
    ARGUMENT(kernel, 3, changes);
    for (float now = 0; changed; now++) {
        changed = 0;
        write_to(&setup, changes, sizeof(changed), &changed);
        ARGUMENT(kernel, 4, now);
        launch(&setup, kernel, setup.size, 0, 0);
        read_back(&setup, changes, sizeof(changed), &changed);
    }
    read_back(&setup, fars, setup.size * sizeof(*got), got);
    search(first, next, far, n);
    result = compare(&setup, "bfs", got, far, setup.size, 0);
    clReleaseKernel(kernel);
    clReleaseMemObject(firsts);
    clReleaseMemObject(nexts);
    clReleaseMemObject(fars);
    clReleaseMemObject(changes);
    close_setup(&setup);
    free(first);
    free(next);
    free(far);
    free(got);
    return result;
}
