/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/backprop.c - a layer of a neural network learns: sums in local memory, then the
 * weights change. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void forward(__global const float *input, __global const float *weights,\n"
    "                      __global float *hidden, __local float *part, int n)\n"
    "{\n"
    "    int h = get_group_id(0), l = get_local_id(0);\n"
    "    float sum = 0.0f;\n"
    "    for (int i = l; i < n; i += get_local_size(0))\n"
    "        sum += input[i] * weights[h * n + i];\n"
    "    part[l] = sum;\n"
    "    for (int n2 = get_local_size(0) / 2; n2 > 0; n2 /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (l < n2) part[l] += part[l + n2];\n"
    "    }\n"
    "    if (l == 0) hidden[h] = 1.0f / (1.0f + exp(-part[0]));\n"
    "}\n"
    "__kernel void adjust(__global const float *input, __global const float *delta,\n"
    "                     __global float *weights, int n, float rate)\n"
    "{\n"
    "    int i = get_global_id(0), h = get_global_id(1);\n"
    "    weights[h * n + i] += rate * delta[h] * input[i];\n"
    "}\n";

enum { HIDDEN = 16, GROUP = 16 };

static void learn(const float *input, float *weights, float *hidden, const float *target, int n,
                  float rate)
{
    for (int h = 0; h < HIDDEN; h++) {
        float sum = 0;

        for (int i = 0; i < n; i++)
            sum += input[i] * weights[h * n + i];
        hidden[h] = 1 / (1 + expf(-sum));
        for (int i = 0; i < n; i++)
            weights[h * n + i] +=
                rate * (target[h] - hidden[h]) * hidden[h] * (1 - hidden[h]) * input[i];
    }
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *input, *weights, *got, hidden[HIDDEN] = {0}, target[HIDDEN], delta[HIDDEN];
    cl_mem inputs, all, outputs, deltas;
    cl_kernel forward, adjust;
    const float rate = 0.3f;
    unsigned state = 8;
    size_t bytes;
    int n, result;

    open_setup(&setup, argc, argv, 4096, source);
    n = (int)setup.size;
    bytes = setup.size * sizeof(float);
    input = malloc(bytes);
    weights = malloc(HIDDEN * bytes);
    got = calloc(HIDDEN, bytes);
    for (int i = 0; i < n; i++)
        input[i] = random_number(&state);
    for (int i = 0; i < n * HIDDEN; i++)
        weights[i] = (random_number(&state) - 0.5f) / (float)n;
    for (int h = 0; h < HIDDEN; h++)
        target[h] = random_number(&state);
    inputs = buffer_of(&setup, bytes, input);
    all = buffer_of(&setup, HIDDEN * bytes, weights);
    outputs = buffer_of(&setup, sizeof(hidden), NULL);
    deltas = buffer_of(&setup, sizeof(delta), NULL);
    forward = kernel_of(&setup, "forward");
    ARGUMENT(forward, 0, inputs);
    ARGUMENT(forward, 1, all);
    ARGUMENT(forward, 2, outputs);
    CHECK(clSetKernelArg(forward, 3, GROUP * sizeof(float), NULL));
    ARGUMENT(forward, 4, n);
    launch(&setup, forward, HIDDEN * GROUP, 0, GROUP);
    read_back(&setup, outputs, sizeof(hidden), hidden);
    for (int h = 0; h < HIDDEN; h++)
        delta[h] = (target[h] - hidden[h]) * hidden[h] * (1 - hidden[h]);
    write_to(&setup, deltas, sizeof(delta), delta);
    adjust = kernel_of(&setup, "adjust");
    ARGUMENT(adjust, 0, inputs);
    ARGUMENT(adjust, 1, deltas);
    ARGUMENT(adjust, 2, all);
    ARGUMENT(adjust, 3, n);
    ARGUMENT(adjust, 4, rate);
    launch(&setup, adjust, setup.size, HIDDEN, 0);
    read_back(&setup, all, HIDDEN * bytes, got);
    learn(input, weights, hidden, target, n, rate);
    result = compare(&setup, "backprop", got, weights, HIDDEN * setup.size, 1e-4f);
    clReleaseKernel(forward);
    clReleaseKernel(adjust);
    clReleaseMemObject(inputs);
    clReleaseMemObject(all);
    clReleaseMemObject(outputs);
    clReleaseMemObject(deltas);
    close_setup(&setup);
    free(input);
    free(weights);
    free(got);
    return result;
}
