/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/opencl/parts.c - parts of buffers on several devices, as claims in TAP: what devices
 * do at the same time in a simulation, and random commands on wholes, parts, and parts that
 * overlap, each after those that it has to wait for only, beside the same on an array.
 *
 * usage: parts [simulated] [SEEDS]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims.h"

enum { N = 4096, BUFFERS = 2, PARTS = 6, UNIT = 256, COMMANDS = 120, STEPS = 100000 };

static const char source[] =
    "__kernel void change(__global int *a, int by)\n"
    "{ size_t i = get_global_id(0); a[i] = 3 * a[i] + by; }\n"
    "__kernel void add(__global const int *a, __global int *b)\n"
    "{ size_t i = get_global_id(0); b[i] += a[i]; }\n"
    "__kernel void work(__global int *a, int steps)\n"
    "{ size_t i = get_global_id(0); int x = a[i];\n"
    "  for (int s = 0; s < steps; s++) x = 5 * x + 1;\n"
    "  a[i] = x; }\n";

static cl_device_id devices[64];
static cl_uint ndevices;
static cl_context context;
static cl_command_queue queues[64];
static cl_kernel change, add, work;

static cl_kernel kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel one = clCreateKernel(program, name, &error);

    must(error, name);
    return one;
}

static void open_all(void)
{
    cl_platform_id platform;
    cl_program program;
    cl_int error;

    MUST(clGetPlatformIDs(1, &platform, NULL));
    MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, devices, &ndevices));
    context = clCreateContext(NULL, ndevices, devices, NULL, NULL, &error);
    must(error, "clCreateContext");
    for (cl_uint i = 0; i < ndevices; i++) {
        queues[i] = clCreateCommandQueue(
            context, devices[i],
            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, &error);
        must(error, "clCreateCommandQueue");
    }
    program = clCreateProgramWithSource(context, 1, (const char *[]){source}, NULL, &error);
    must(error, "clCreateProgramWithSource");
    MUST(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    change = kernel(program, "change");
    add = kernel(program, "add");
    work = kernel(program, "work");
    MUST(clReleaseProgram(program));
}

static cl_mem whole_of(const int *values)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                N * sizeof(*values), (void *)(uintptr_t)values, &error);

    must(error, "clCreateBuffer");
    return mem;
}

static cl_mem part_of(cl_mem whole, size_t first, size_t n)
{
    const cl_buffer_region region = {first * sizeof(int), n * sizeof(int)};
    cl_int error;
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

    must(error, "clCreateSubBuffer");
    return part;
}

static cl_ulong time_of(cl_event event, cl_profiling_info what)
{
    cl_ulong ns = 0;

    MUST(clGetEventProfilingInfo(event, what, sizeof(ns), &ns, NULL));
    return ns;
}

/* -- at the same time -- */

static void test_same_time(void)
{
    const size_t each = N / 2;
    const cl_int steps = STEPS;
    cl_int *values = calloc(N, sizeof(*values));
    cl_mem whole, parts[2];
    cl_event events[2];
    cl_ulong begun, ended;
    cl_int wanted = 0;
    bool right = true;

    whole = whole_of(values);
    for (unsigned i = 0; i < 2; i++) {
        parts[i] = part_of(whole, i * each, each);
        MUST(clSetKernelArg(work, 0, sizeof(parts[i]), &parts[i]));
        MUST(clSetKernelArg(work, 1, sizeof(steps), &steps));
        MUST(clEnqueueNDRangeKernel(queues[i], work, 1, NULL, &each, NULL, 0, NULL, &events[i]));
    }
    MUST(clWaitForEvents(2, events));
    begun = time_of(events[1], CL_PROFILING_COMMAND_START);
    ended = time_of(events[0], CL_PROFILING_COMMAND_END);
    printf("# the second kernel begins %.0f us before the first one ends\n",
           ((double)ended - (double)begun) / 1e3);
    claim(begun < ended, "two devices write parts of a buffer at the same time");
    MUST(clEnqueueReadBuffer(queues[0], whole, CL_TRUE, 0, N * sizeof(*values), values, 0, NULL,
                             NULL));
    for (unsigned s = 0; s < STEPS; s++)
        wanted = (cl_int)(5u * (unsigned)wanted + 1u);
    for (unsigned i = 0; i < N; i++)
        right &= values[i] == wanted;
    claim(right, "the whole has what they have written");
    for (unsigned i = 0; i < 2; i++) {
        MUST(clReleaseMemObject(parts[i]));
        MUST(clReleaseEvent(events[i]));
    }
    MUST(clReleaseMemObject(whole));
    free(values);
}

/* -- random commands -- */

struct place {
    cl_mem mem;
    unsigned buffer, first, n; /* of items */
};

struct done {
    cl_event event;
    struct place at;
    bool writes;
};

static int values[BUFFERS][N];
static struct place wholes[BUFFERS], parts[BUFFERS * PARTS];
static struct done done[2 * COMMANDS];
static unsigned ndone;
static unsigned state;

static unsigned pick(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* Half of the parts overlap no other. */
static void new_part(unsigned slot)
{
    unsigned buffer = slot / PARTS, k = slot % PARTS;
    struct place *part = &parts[slot];

    part->buffer = buffer;
    if (k < PARTS / 2) {
        part->first = k * (N / 4);
        part->n = UNIT * (1 + pick(4));
    } else {
        part->first = UNIT * pick(8);
        part->n = UNIT * (1 + pick(8));
    }
    part->mem = part_of(wholes[buffer].mem, part->first, part->n);
}

/* Mostly parts that overlap no other: those that do send all of it back to the whole. */
static struct place any_place(unsigned rare)
{
    unsigned buffer = pick(BUFFERS);

    if (pick(rare) == 0)
        return wholes[buffer];
    return parts[buffer * PARTS + (pick(rare) == 0 ? pick(PARTS) : pick(PARTS / 2))];
}

static bool conflict(const struct done *before, const struct place *at, bool writes)
{
    return (writes || before->writes) && before->at.buffer == at->buffer &&
           before->at.first < at->first + at->n && at->first < before->at.first + before->at.n;
}

/* What the next command on these places has to wait for. */
static cl_uint waits_of(cl_event *ret, const struct place *written, const struct place *read)
{
    cl_uint n = 0;

    for (unsigned i = 0; i < ndone; i++)
        if ((written && conflict(&done[i], written, true)) ||
            (read && conflict(&done[i], read, false)))
            ret[n++] = done[i].event;
    return n;
}

static void note(cl_event event, struct place at, bool writes)
{
    done[ndone++] = (struct done){event, at, writes};
}

static void random_kernel(cl_command_queue queue, unsigned rare)
{
    struct place at = any_place(rare);
    cl_event waits[2 * COMMANDS], event;
    cl_int by = (cl_int)pick(100);
    cl_uint n = waits_of(waits, &at, NULL);
    const size_t items = at.n;
    int *to = &values[at.buffer][at.first];

    MUST(clSetKernelArg(change, 0, sizeof(at.mem), &at.mem));
    MUST(clSetKernelArg(change, 1, sizeof(by), &by));
    MUST(clEnqueueNDRangeKernel(queue, change, 1, NULL, &items, NULL, n, n ? waits : NULL,
                                &event));
    note(event, at, true);
    for (unsigned i = 0; i < at.n; i++)
        to[i] = (int)(3u * (unsigned)to[i] + (unsigned)by);
}

/* From one place to another, by a kernel or as a copy. */
static void random_pair(cl_command_queue queue, unsigned rare)
{
    struct place from = any_place(rare), to = any_place(rare);
    cl_event waits[2 * COMMANDS], event;
    const size_t items = from.n = to.n = from.n < to.n ? from.n : to.n;
    bool copies = pick(2);
    cl_uint n = waits_of(waits, &to, &from);

    if (from.buffer == to.buffer && from.first < to.first + to.n &&
        to.first < from.first + from.n)
        return;
    if (copies) {
        MUST(clEnqueueCopyBuffer(queue, from.mem, to.mem, 0, 0, items * sizeof(int), n,
                                 n ? waits : NULL, &event));
    } else {
        MUST(clSetKernelArg(add, 0, sizeof(from.mem), &from.mem));
        MUST(clSetKernelArg(add, 1, sizeof(to.mem), &to.mem));
        MUST(clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, n, n ? waits : NULL,
                                    &event));
    }
    MUST(clRetainEvent(event));
    note(event, from, false);
    note(event, to, true);
    for (unsigned i = 0; i < to.n; i++) {
        int before = copies ? 0 : values[to.buffer][to.first + i];

        values[to.buffer][to.first + i] =
            (int)((unsigned)before + (unsigned)values[from.buffer][from.first + i]);
    }
}

static void random_write(cl_command_queue queue, unsigned rare)
{
    struct place at = any_place(rare);
    unsigned first = pick(2) ? 0 : pick(at.n), n = 1 + pick(at.n - first);
    cl_event waits[2 * COMMANDS], event;
    cl_uint nwaits = waits_of(waits, &at, NULL);
    int fill = (int)pick(1000), *to = &values[at.buffer][at.first + first];

    if (pick(3) == 0) {
        MUST(clEnqueueFillBuffer(queue, at.mem, &fill, sizeof(fill), first * sizeof(int),
                                 n * sizeof(int), nwaits, nwaits ? waits : NULL, &event));
        for (unsigned i = 0; i < n; i++)
            to[i] = fill;
    } else {
        n = first == 0 && pick(2) ? at.n : n;
        for (unsigned i = 0; i < n; i++)
            to[i] = (int)pick(1000);
        MUST(clEnqueueWriteBuffer(queue, at.mem, CL_TRUE, first * sizeof(int), n * sizeof(int),
                                  to, nwaits, nwaits ? waits : NULL, &event));
    }
    note(event, at, true);
}

static bool random_read(cl_command_queue queue, unsigned rare)
{
    struct place at = any_place(rare);
    const int *wanted = &values[at.buffer][at.first];
    cl_event waits[2 * COMMANDS];
    cl_uint n = waits_of(waits, NULL, &at);
    size_t bytes = at.n * sizeof(int);
    static int got[N];
    const int *found = got;
    bool maps = pick(4) == 0;
    cl_int error;
    bool right;

    if (maps) {
        found = clEnqueueMapBuffer(queue, at.mem, CL_TRUE, CL_MAP_READ, 0, bytes, n,
                                   n ? waits : NULL, NULL, &error);
        must(error, "clEnqueueMapBuffer");
    } else {
        MUST(clEnqueueReadBuffer(queue, at.mem, CL_TRUE, 0, bytes, got, n, n ? waits : NULL,
                                 NULL));
    }
    right = memcmp(found, wanted, bytes) == 0;
    for (unsigned i = 0; !right && i < at.n; i++)
        if (found[i] != wanted[i]) {
            printf("# buffer %u, item %u of the part at %u: %d, not %d\n", at.buffer, i,
                   at.first, found[i], wanted[i]);
            break;
        }
    if (maps)
        MUST(clEnqueueUnmapMemObject(queue, at.mem, (void *)(uintptr_t)found, 0, NULL, NULL));
    return right;
}

static void renew_part(void)
{
    unsigned slot = pick(BUFFERS * PARTS);

    MUST(clReleaseMemObject(parts[slot].mem));
    new_part(slot);
}

static bool random_program(unsigned seed)
{
    bool right = true;
    unsigned rare;

    state = seed * 2654435761u + 1;
    rare = 2 + pick(30);
    for (unsigned b = 0; b < BUFFERS; b++) {
        for (unsigned i = 0; i < N; i++)
            values[b][i] = (int)pick(1000);
        wholes[b] = (struct place){whole_of(values[b]), b, 0, N};
        for (unsigned k = 0; k < PARTS; k++)
            new_part(b * PARTS + k);
    }
    for (unsigned i = 0; right && i < COMMANDS; i++) {
        cl_command_queue queue = queues[pick(ndevices)];

        switch (pick(8)) {
        case 0:
            right = random_read(queue, rare);
            break;
        case 1:
            random_write(queue, rare);
            break;
        case 2:
            renew_part();
            break;
        case 3:
        case 4:
            random_pair(queue, rare);
            break;
        default:
            random_kernel(queue, rare);
        }
    }
    for (unsigned i = 0; i < BUFFERS * PARTS; i++)
        MUST(clReleaseMemObject(parts[i].mem));
    for (unsigned b = 0; b < BUFFERS; b++) {
        cl_event waits[2 * COMMANDS];
        cl_uint n = waits_of(waits, NULL, &wholes[b]);
        static int got[N];

        MUST(clEnqueueReadBuffer(queues[0], wholes[b].mem, CL_TRUE, 0, sizeof(got), got, n,
                                 n ? waits : NULL, NULL));
        right &= memcmp(got, values[b], sizeof(got)) == 0;
        MUST(clReleaseMemObject(wholes[b].mem));
    }
    while (ndone > 0)
        MUST(clReleaseEvent(done[--ndone].event));
    if (!right)
        printf("# seed %u\n", seed);
    return right;
}

int main(int argc, char **argv)
{
    bool simulated = argc > 1 && strcmp(argv[1], "simulated") == 0;
    unsigned seeds = argc > 1 + simulated ? (unsigned)atoi(argv[1 + simulated]) : 20;
    bool right = true;

    open_all();
    if (ndevices < 2) {
        printf("1..0 # SKIP there is one device\n");
        return 0;
    }
    if (simulated)
        test_same_time();
    for (unsigned seed = 1; seed <= seeds; seed++)
        right &= random_program(seed);
    claim(right, "random commands on wholes and parts leave what they would one by one");
    MUST(clReleaseKernel(change));
    MUST(clReleaseKernel(add));
    MUST(clReleaseKernel(work));
    for (cl_uint i = 0; i < ndevices; i++)
        MUST(clReleaseCommandQueue(queues[i]));
    MUST(clReleaseContext(context));
    printf("1..%u\n", count);
    return failed != 0;
}
