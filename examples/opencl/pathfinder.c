/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/pathfinder.c - the cheapest way through a grid, row by row. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void row(__global const float *wall, __global const float *before,\n"
    "                  __global float *after, int n, int y)\n"
    "{\n"
    "    int x = get_global_id(0);\n"
    "    float best = before[x];\n"
    "    if (x > 0) best = fmin(best, before[x - 1]);\n"
    "    if (x < n - 1) best = fmin(best, before[x + 1]);\n"
    "    after[x] = wall[y * n + x] + best;\n"
    "}\n";

enum { ROWS = 20 };

static void find_path(const float *wall, float *cost, float *next, int n)
{
    memcpy(cost, wall, (size_t)n * sizeof(*cost));
    for (int y = 1; y < ROWS; y++) {
        for (int x = 0; x < n; x++) {
            float best = cost[x];

            if (x > 0)
                best = fminf(best, cost[x - 1]);
            if (x < n - 1)
                best = fminf(best, cost[x + 1]);
            next[x] = wall[y * n + x] + best;
        }
        memcpy(cost, next, (size_t)n * sizeof(*cost));
    }
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *wall, *got, *wanted, *room;
    cl_mem walls, costs[2];
    cl_kernel row;
    unsigned state = 1;
    size_t bytes;
    int n, result;

    open_setup(&setup, argc, argv, 10000, source);
    n = (int)setup.size;
    bytes = setup.size * sizeof(float);
    wall = malloc(ROWS * bytes);
    got = calloc(1, bytes);
    wanted = malloc(bytes);
    room = malloc(bytes);
    for (int i = 0; i < ROWS * n; i++)
        wall[i] = floorf(10 * random_number(&state));
    walls = buffer_of(&setup, ROWS * bytes, wall);
    costs[0] = buffer_of(&setup, bytes, wall);
    costs[1] = buffer_of(&setup, bytes, NULL);
    row = kernel_of(&setup, "row");
    ARGUMENT(row, 0, walls);
    ARGUMENT(row, 3, n);
    for (int y = 1; y < ROWS; y++) {
        ARGUMENT(row, 1, costs[(y - 1) % 2]);
        ARGUMENT(row, 2, costs[y % 2]);
        ARGUMENT(row, 4, y);
        launch(&setup, row, setup.size, 0, 0);
    }
    read_back(&setup, costs[(ROWS - 1) % 2], bytes, got);
    find_path(wall, wanted, room, n);
    result = compare(&setup, "pathfinder", got, wanted, setup.size, 0);
    clReleaseKernel(row);
    clReleaseMemObject(walls);
    clReleaseMemObject(costs[0]);
    clReleaseMemObject(costs[1]);
    close_setup(&setup);
    free(wall);
    free(got);
    free(wanted);
    free(room);
    return result;
}
