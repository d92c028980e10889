/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * examples/opencl/split.c - one kernel over parts of its range, one for each device: what it
 * reads and what it writes are parts of two buffers. Each part has a queue of its device's;
 * what they have written is read as a whole.
 */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "__kernel void settle(__global const float *from, __global float *to, int steps)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    float x = from[i];\n"
    "    for (int s = 0; s < steps; s++)\n"
    "        x = 0.5f * (x + from[i] / x);\n"
    "    to[i] = x;\n"
    "}\n";

static const cl_int steps = 10000;

struct part {
    cl_command_queue queue;
    cl_mem from, to;
    size_t first, n; /* items */
};

/* Devices want parts to begin where their memory is aligned: 1024 items are more than any
 * asks for. */
static cl_mem sub_buffer(cl_mem whole, cl_mem_flags flags, const struct part *part)
{
    cl_buffer_region region = {part->first * sizeof(float), part->n * sizeof(float)};
    cl_int error;
    cl_mem mem = clCreateSubBuffer(whole, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

    CHECK(error);
    return mem;
}

static struct part part_new(const struct setup *setup, unsigned i, cl_mem from, cl_mem to)
{
    size_t each = setup->size / setup->n / 1024 * 1024;
    struct part part = {.first = i * each, .n = each};
    cl_int error;

    if (i == setup->n - 1)
        part.n = setup->size - part.first;
    part.from = sub_buffer(from, CL_MEM_READ_ONLY, &part);
    part.to = sub_buffer(to, CL_MEM_WRITE_ONLY, &part);
    part.queue = clCreateCommandQueue(setup->context, setup->devices[i], 0, &error);
    CHECK(error);
    return part;
}

static void part_start(const struct part *part, cl_kernel kernel)
{
    ARGUMENT(kernel, 0, part->from);
    ARGUMENT(kernel, 1, part->to);
    ARGUMENT(kernel, 2, steps);
    CHECK(clEnqueueNDRangeKernel(part->queue, kernel, 1, NULL, &part->n, NULL, 0, NULL, NULL));
    CHECK(clFlush(part->queue));
}

static void part_end(const struct part *part)
{
    clReleaseMemObject(part->from);
    clReleaseMemObject(part->to);
    clReleaseCommandQueue(part->queue);
}

int main(int argc, char **argv)
{
    struct part parts[64];
    struct setup setup;
    cl_kernel settle;
    cl_mem whole, settled;
    float *from, *got;
    int result;

    open_setup(&setup, argc, argv, 1 << 14, source);
    if (setup.size < 1024 * setup.n) {
        fprintf(stderr, "split: -n %u: give %u or more\n", setup.size, 1024 * setup.n);
        return 2;
    }
    from = malloc(setup.size * sizeof(float));
    got = calloc(setup.size, sizeof(float));
    for (unsigned i = 0; i < setup.size; i++)
        from[i] = 1 + (float)(i % 1000);
    whole = buffer_of(&setup, setup.size * sizeof(float), from);
    settled = buffer_of(&setup, setup.size * sizeof(float), NULL);
    settle = kernel_of(&setup, "settle");
    for (unsigned i = 0; i < setup.n; i++)
        parts[i] = part_new(&setup, i, whole, settled);
    for (unsigned i = 0; i < setup.n; i++)
        part_start(&parts[i], settle);
    for (unsigned i = 0; i < setup.n; i++)
        CHECK(clFinish(parts[i].queue));
    read_back(&setup, settled, setup.size * sizeof(float), got);
    for (unsigned i = 0; i < setup.n; i++)
        part_end(&parts[i]);
    for (unsigned i = 0; i < setup.size; i++)
        from[i] = sqrtf(from[i]);
    result = compare(&setup, "split", got, from, setup.size, 1e-5f);
    clReleaseKernel(settle);
    clReleaseMemObject(whole);
    clReleaseMemObject(settled);
    close_setup(&setup);
    free(from);
    free(got);
    return result;
}
