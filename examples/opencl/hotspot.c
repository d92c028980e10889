/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/hotspot.c - the temperature of a chip, step by step. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void heat(__global const float *power, __global const float *from,\n"
    "                   __global float *to, int n)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * n + x;\n"
    "    float own = from[i];\n"
    "    float up = y > 0 ? from[i - n] : own, down = y < n - 1 ? from[i + n] : own;\n"
    "    float left = x > 0 ? from[i - 1] : own, right = x < n - 1 ? from[i + 1] : own;\n"
    "    to[i] = own + 0.1f * (power[i] + up + down + left + right - 4.0f * own);\n"
    "}\n";

enum { STEPS = 10 };

static void step(const float *power, const float *from, float *to, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int i = y * n + x;
            float own = from[i];
            float up = y > 0 ? from[i - n] : own, down = y < n - 1 ? from[i + n] : own;
            float left = x > 0 ? from[i - 1] : own, right = x < n - 1 ? from[i + 1] : own;

            to[i] = own + 0.1f * (power[i] + up + down + left + right - 4 * own);
        }
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *power, *heat[2], *got;
    cl_mem powers, heats[2];
    cl_kernel kernel;
    unsigned state = 2;
    size_t cells, bytes;
    int n, result;

    open_setup(&setup, argc, argv, 256, source);
    n = (int)setup.size;
    cells = (size_t)n * (size_t)n;
    bytes = cells * sizeof(float);
    power = malloc(bytes);
    heat[0] = malloc(bytes);
    heat[1] = malloc(bytes);
    got = calloc(1, bytes);
    for (size_t i = 0; i < cells; i++) {
        power[i] = random_number(&state);
        heat[0][i] = 300 + 20 * random_number(&state);
    }
    powers = buffer_of(&setup, bytes, power);
    heats[0] = buffer_of(&setup, bytes, heat[0]);
    heats[1] = buffer_of(&setup, bytes, NULL);
    kernel = kernel_of(&setup, "heat");
    ARGUMENT(kernel, 0, powers);
    ARGUMENT(kernel, 3, n);
    for (int s = 0; s < STEPS; s++) {
        ARGUMENT(kernel, 1, heats[s % 2]);
        ARGUMENT(kernel, 2, heats[(s + 1) % 2]);
        launch(&setup, kernel, setup.size, setup.size, 0);
    }
    read_back(&setup, heats[STEPS % 2], bytes, got);
    for (int s = 0; setup.check && s < STEPS; s++)
        step(power, heat[s % 2], heat[(s + 1) % 2], n);
    result = compare(&setup, "hotspot", got, heat[STEPS % 2], cells, 1e-5f);
    clReleaseKernel(kernel);
    clReleaseMemObject(powers);
    for (int i = 0; i < 2; i++) {
        clReleaseMemObject(heats[i]);
        free(heat[i]);
    }
    close_setup(&setup);
    free(power);
    free(got);
    return result;
}
