/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/srad.c - speckles go from an image: how much each point gives its neighbours,
 * then what it gets. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__kernel void spread(__global const float *image, __global float *share, int n, float q)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * n + x;\n"
    "    float own = image[i];\n"
    "    float up = image[max(y - 1, 0) * n + x] - own, left = image[y * n + max(x - 1, 0)] - own;\n"
    "    float down = image[min(y + 1, n - 1) * n + x] - own;\n"
    "    float right = image[y * n + min(x + 1, n - 1)] - own;\n"
    "    float slope = (up * up + down * down + left * left + right * right) / (own * own);\n"
    "    float sum = (up + down + left + right) / own;\n"
    "    float ratio = (0.5f * slope - sum * sum / 16.0f) / ((1.0f + 0.25f * sum) * (1.0f + 0.25f * sum));\n"
    "    share[i] = clamp(1.0f / (1.0f + (ratio - q) / (q * (1.0f + q))), 0.0f, 1.0f);\n"
    "}\n"
    "__kernel void gather(__global const float *image, __global const float *share,\n"
    "                     __global float *to, int n, float rate)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * n + x;\n"
    "    int south = min(y + 1, n - 1) * n + x, east = y * n + min(x + 1, n - 1);\n"
    "    float own = image[i];\n"
    "    float up = image[max(y - 1, 0) * n + x] - own, left = image[y * n + max(x - 1, 0)] - own;\n"
    "    float flow = share[south] * (image[south] - own) + share[i] * up +\n"
    "                 share[east] * (image[east] - own) + share[i] * left;\n"
    "    to[i] = own + 0.25f * rate * flow;\n"
    "}\n";

enum { STEPS = 4 };

static int low(int i)
{
    return i > 0 ? i - 1 : 0;
}

static int high(int i, int n)
{
    return i < n - 1 ? i + 1 : n - 1;
}

static void spread(const float *image, float *share, int n, float q)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float own = image[y * n + x];
            float up = image[low(y) * n + x] - own, left = image[y * n + low(x)] - own;
            float down = image[high(y, n) * n + x] - own, right = image[y * n + high(x, n)] - own;
            float slope = (up * up + down * down + left * left + right * right) / (own * own);
            float sum = (up + down + left + right) / own;
            float ratio = (0.5f * slope - sum * sum / 16) /
                          ((1 + 0.25f * sum) * (1 + 0.25f * sum));

            share[y * n + x] = fminf(fmaxf(1 / (1 + (ratio - q) / (q * (1 + q))), 0), 1);
        }
}

static void gather(const float *image, const float *share, float *to, int n, float rate)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int i = y * n + x, south = high(y, n) * n + x, east = y * n + high(x, n);
            float own = image[i];
            float flow = share[south] * (image[south] - own) +
                         share[i] * (image[low(y) * n + x] - own) +
                         share[east] * (image[east] - own) +
                         share[i] * (image[y * n + low(x)] - own);

            to[i] = own + 0.25f * rate * flow;
        }
}

int main(int argc, char **argv)
{
    struct setup setup;
    float *images[2], *share, *got;
    cl_mem mems[2], shares;
    cl_kernel first, second;
    const float q = 0.05f, rate = 0.5f;
    unsigned state = 6;
    size_t cells, bytes;
    int n, result;

    open_setup(&setup, argc, argv, 128, source);
    n = (int)setup.size;
    cells = (size_t)n * (size_t)n;
    bytes = cells * sizeof(float);
    for (int i = 0; i < 2; i++)
        images[i] = malloc(bytes);
    share = malloc(bytes);
    got = calloc(1, bytes);
    for (size_t i = 0; i < cells; i++)
        images[0][i] = 1 + random_number(&state);
    mems[0] = buffer_of(&setup, bytes, images[0]);
    mems[1] = buffer_of(&setup, bytes, NULL);
    shares = buffer_of(&setup, bytes, NULL);
    first = kernel_of(&setup, "spread");
    second = kernel_of(&setup, "gather");
    for (int s = 0; s < STEPS; s++) {
        ARGUMENT(first, 0, mems[s % 2]);
        ARGUMENT(first, 1, shares);
        ARGUMENT(first, 2, n);
        ARGUMENT(first, 3, q);
        ARGUMENT(second, 0, mems[s % 2]);
        ARGUMENT(second, 1, shares);
        ARGUMENT(second, 2, mems[(s + 1) % 2]);
        ARGUMENT(second, 3, n);
        ARGUMENT(second, 4, rate);
        launch(&setup, first, setup.size, setup.size, 0);
        launch(&setup, second, setup.size, setup.size, 0);
    }
    read_back(&setup, mems[STEPS % 2], bytes, got);
    for (int s = 0; setup.check && s < STEPS; s++) {
        spread(images[s % 2], share, n, q);
        gather(images[s % 2], share, images[(s + 1) % 2], n, rate);
    }
    result = compare(&setup, "srad", got, images[STEPS % 2], cells, 1e-4f);
    clReleaseKernel(first);
    clReleaseKernel(second);
    clReleaseMemObject(shares);
    for (int i = 0; i < 2; i++) {
        clReleaseMemObject(mems[i]);
        free(images[i]);
    }
    close_setup(&setup);
    free(share);
    free(got);
    return result;
}
