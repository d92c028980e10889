/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * examples/opencl/mandelbrot.c - an image in bands of rows, each a buffer and a kernel of its
 * own, in a queue out of order. -scheduler NAME makes the policy one of the context's: with
 * such a context the queue has no device, and the policy chooses one for each band.
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

enum { BANDS = 16, MOST = 256 };

static const char source[] =
    "__kernel void mandelbrot(__global float *image, int width, int height, int first)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    float cr = 3.0f * x / width - 2.0f, ci = 2.0f * (y + first) / height - 1.0f;\n"
    "    float r = 0.0f, i = 0.0f;\n"
    "    int n = 0;\n"
    "    for (int step = 0; step < 256; step++) {\n"
    "        float next = r * r - i * i + cr;\n"
    "        i = 2.0f * r * i + ci;\n"
    "        r = next;\n"
    "        if (r * r + i * i > 4.0f) { r = 4.0f; i = 0.0f; cr = 0.0f; ci = 0.0f; }\n"
    "        else n++;\n"
    "    }\n"
    "    image[y * width + x] = n;\n"
    "}\n";

static float count(float cr, float ci)
{
    float r = 0, i = 0;
    int n = 0;

    for (int step = 0; step < MOST; step++) {
        float next = r * r - i * i + cr;

        i = 2.0f * r * i + ci;
        r = next;
        if (r * r + i * i > 4.0f) {
            r = 4.0f;
            i = cr = ci = 0;
        } else {
            n++;
        }
    }
    return (float)n;
}

/* Points at the rim may differ by rounding: so many of a thousand may. */
static int judge(const struct setup *setup, const float *image, int side)
{
    long differ = 0;

    if (!setup->check) {
        puts("mandelbrot: done");
        return 0;
    }
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            differ += image[y * side + x] != count(3.0f * (float)x / (float)side - 2.0f,
                                                   2.0f * (float)y / (float)side - 1.0f);
    printf("mandelbrot: %s, %ld points of %d differ\n",
           differ * 100 <= (long)side * side ? "right" : "WRONG", differ, side * side);
    return differ * 100 <= (long)side * side ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct setup setup;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem bands[BANDS];
    float *image;
    size_t bytes;
    int side, rows, result;
    cl_int error;

    open_setup(&setup, argc, argv, 256, source);
    side = (int)setup.size / BANDS * BANDS;
    rows = side / BANDS;
    bytes = (size_t)side * (size_t)rows * sizeof(float);
    image = calloc((size_t)side * (size_t)side, sizeof(*image));
    queue = clCreateCommandQueue(setup.context, setup.scheduler ? NULL : setup.devices[0],
                                 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    CHECK(error);
    kernel = kernel_of(&setup, "mandelbrot");
    for (int b = 0; b < BANDS; b++) {
        const size_t global[2] = {(size_t)side, (size_t)rows};
        int first = b * rows;
        cl_event done;

        bands[b] = buffer_of(&setup, bytes, NULL);
        ARGUMENT(kernel, 0, bands[b]);
        ARGUMENT(kernel, 1, side);
        ARGUMENT(kernel, 2, side);
        ARGUMENT(kernel, 3, first);
        CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, &done));
        CHECK(clEnqueueReadBuffer(queue, bands[b], CL_FALSE, 0, bytes, image + first * side, 1,
                                  &done, NULL));
        CHECK(clReleaseEvent(done));
    }
    CHECK(clFinish(queue));
    result = judge(&setup, image, side);
    for (int b = 0; b < BANDS; b++)
        clReleaseMemObject(bands[b]);
    clReleaseKernel(kernel);
    clReleaseCommandQueue(queue);
    close_setup(&setup);
    free(image);
    return result;
}
