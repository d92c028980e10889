/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/opencl/api.c - what a program may ask of OpenCL 1.2, as claims in TAP. Kernels are
 * executed: on a real machine, or simulated with ORRERY_SIM_KERNELS=run. "order" as an
 * argument: the claims of SOCL_ORDER=data alone.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims.h"

enum { N = 1024 };

static const char source[] =
    "typedef struct { char tag; float y; } pair;\n"
    "__kernel void pick(__global float *a, pair p) { a[get_global_id(0)] = p.y; }\n"
    "float half_of(float x) { return x / 2.0f; }\n"
    "__kernel void scale(__global float *a, float by) { a[get_global_id(0)] *= by; }\n"
    "__kernel void halve(__global float *a) { size_t i = get_global_id(0);\n"
    "    a[i] = half_of(a[i]); }\n"
    "__kernel void add(__global const float *a, __global float *b)\n"
    "{ size_t i = get_global_id(0); b[i] += a[i]; }\n"
    "__kernel void reverse(__global float *a, __local float *t)\n"
    "{ int l = get_local_id(0), n = get_local_size(0), g = get_group_id(0) * n;\n"
    "  t[l] = a[g + l]; barrier(CLK_LOCAL_MEM_FENCE); a[g + l] = t[n - 1 - l]; }\n"
    "__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
    "void fixed(__global float *a) { a[get_global_id(0)] += VALUE; }\n"
    "__kernel void optional(__global float *a, __global float *b)\n"
    "{ a[get_global_id(0)] = b ? 1.0f : 2.0f; }\n"
    "__kernel void where(__global int *a) { a[get_global_id(0)] = get_global_id(0); }\n";

static cl_platform_id platform;
static cl_device_id devices[64];
static cl_uint ndevices;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

/* -- helpers -- */

static cl_mem buffer(float first)
{
    float values[N];
    cl_int error;
    cl_mem mem;

    for (int i = 0; i < N; i++)
        values[i] = first + (float)i;
    mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(values),
                         values, &error);
    must(error, "clCreateBuffer");
    return mem;
}

static float value_at(cl_mem mem, size_t i)
{
    float value = -1;

    MUST(clEnqueueReadBuffer(queue, mem, CL_TRUE, i * sizeof(value), sizeof(value), &value, 0,
                             NULL, NULL));
    return value;
}

static cl_kernel kernel(const char *name)
{
    cl_int error;
    cl_kernel one = clCreateKernel(program, name, &error);

    must(error, name);
    return one;
}

static cl_int run(cl_command_queue to, cl_kernel which, cl_mem a, cl_uint n,
                  const cl_event *waits, cl_event *event)
{
    const size_t global = N;

    MUST(clSetKernelArg(which, 0, sizeof(a), &a));
    return clEnqueueNDRangeKernel(to, which, 1, NULL, &global, NULL, n, waits, event);
}

static void scale(cl_command_queue to, cl_mem a, float by, cl_uint n, const cl_event *waits,
                  cl_event *event)
{
    cl_kernel which = kernel("scale");

    MUST(clSetKernelArg(which, 1, sizeof(by), &by));
    MUST(run(to, which, a, n, waits, event));
    MUST(clReleaseKernel(which));
}

static cl_int status_of(cl_event event)
{
    cl_int status = -100;

    MUST(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                        NULL));
    return status;
}

/* -- claims -- */

static void open_all(void)
{
    cl_int error;

    MUST(clGetPlatformIDs(1, &platform, NULL));
    MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, devices, &ndevices));
    context = clCreateContext(NULL, ndevices, devices, NULL, NULL, &error);
    must(error, "clCreateContext");
    queue = clCreateCommandQueue(context, devices[0], CL_QUEUE_PROFILING_ENABLE, &error);
    must(error, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, (const char *[]){source}, NULL, &error);
    must(error, "clCreateProgramWithSource");
    MUST(clBuildProgram(program, 0, NULL, "-DVALUE=3", NULL, NULL));
}

static void test_queries(void)
{
    char name[256] = "";
    cl_uint n = 0;
    size_t size = 0;

    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL);
    claim(strcmp(name, "SOCL Platform") == 0, "the platform is ours");
    claim(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 3, name, NULL) == CL_INVALID_VALUE,
          "an answer that does not fit is CL_INVALID_VALUE");
    claim(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 0, NULL, &n) == CL_DEVICE_NOT_FOUND,
          "a type without devices is CL_DEVICE_NOT_FOUND");
    claim(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size) == CL_SUCCESS &&
              size == ndevices * sizeof(cl_device_id),
          "a context has its devices");
    claim(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(name), name, NULL) ==
                  CL_SUCCESS &&
              strstr(name, "scale") && !strstr(name, "half_of"),
          "a program has the names of its kernels");
}

static void test_arguments(void)
{
    cl_kernel add = kernel("add"), optional = kernel("optional"), reverse = kernel("reverse");
    cl_kernel pick = kernel("pick");
    const struct {
        char tag;
        float y;
    } pair = {0, 6};
    cl_mem a = buffer(0), b = buffer(1);
    char text[64] = "";
    cl_kernel_arg_address_qualifier space = 0;
    const size_t global = N, local = 16;

    claim(clSetKernelArg(add, 2, sizeof(a), &a) == CL_INVALID_ARG_INDEX, "an index too many");
    claim(clSetKernelArg(add, 0, 4, &a) == CL_INVALID_ARG_SIZE, "a buffer of the wrong size");
    claim(run(queue, add, a, 0, NULL, NULL) == CL_INVALID_KERNEL_ARGS,
          "an argument that was not set");
    MUST(clSetKernelArg(add, 1, sizeof(b), &b));
    MUST(run(queue, add, a, 0, NULL, NULL));
    claim(value_at(b, 5) == 11, "a kernel reads one buffer and writes another");
    MUST(clGetKernelArgInfo(add, 0, CL_KERNEL_ARG_NAME, sizeof(text), text, NULL));
    claim(strcmp(text, "a") == 0, "arguments have names");
    MUST(clGetKernelArgInfo(add, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof(text), text, NULL));
    claim(strcmp(text, "float*") == 0, "… and types");
    MUST(clGetKernelArgInfo(reverse, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(space), &space,
                            NULL));
    claim(space == CL_KERNEL_ARG_ADDRESS_LOCAL, "… and address spaces");
    MUST(clSetKernelArg(optional, 1, sizeof(b), NULL));
    MUST(run(queue, optional, a, 0, NULL, NULL));
    claim(value_at(a, 7) == 2, "a null pointer is an argument");
    claim(clSetKernelArg(reverse, 1, 64, text) == CL_INVALID_ARG_VALUE,
          "local memory has no value");
    MUST(clSetKernelArg(reverse, 0, sizeof(b), &b));
    MUST(clSetKernelArg(reverse, 1, local * sizeof(float), NULL));
    MUST(clEnqueueNDRangeKernel(queue, reverse, 1, NULL, &global, &local, 0, NULL, NULL));
    claim(value_at(b, 0) == 31, "a kernel has local memory");
    MUST(clSetKernelArg(pick, 1, sizeof(pair), &pair));
    MUST(run(queue, pick, a, 0, NULL, NULL));
    claim(value_at(a, 9) == 6, "a structure is an argument");
    MUST(clReleaseKernel(pick));
    MUST(clReleaseKernel(add));
    MUST(clReleaseKernel(optional));
    MUST(clReleaseKernel(reverse));
    MUST(clReleaseMemObject(a));
    MUST(clReleaseMemObject(b));
}

static void test_ranges(void)
{
    cl_kernel fixed = kernel("fixed"), where = kernel("where");
    const size_t global = N, eight = 8, seven = 7, offset = 100, few = 10, none = 0;
    cl_mem a = buffer(0);
    int got[N] = {0};

    MUST(clSetKernelArg(fixed, 0, sizeof(a), &a));
    claim(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &global, &seven, 0, NULL, NULL) ==
              CL_INVALID_WORK_GROUP_SIZE,
          "a group that does not divide the range");
    MUST(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &global, &eight, 0, NULL, NULL));
    claim(value_at(a, 2) == 5, "a required group, and a macro of the build");
    claim(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &none, NULL, 0, NULL, NULL) ==
              CL_INVALID_GLOBAL_WORK_SIZE,
          "an empty range");
    MUST(clSetKernelArg(where, 0, sizeof(a), &a));
    MUST(clEnqueueNDRangeKernel(queue, where, 1, &offset, &few, NULL, 0, NULL, NULL));
    MUST(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    claim(got[100] == 100 && got[109] == 109 && got[110] != 110, "a range with an offset");
    MUST(clReleaseKernel(fixed));
    MUST(clReleaseKernel(where));
    MUST(clReleaseMemObject(a));
}

static void test_copies(void)
{
    cl_mem a = buffer(0), b = buffer(1000);
    const float five = 5;
    const size_t to[3] = {8, 1, 0}, from[3] = {0, 0, 0}, region[3] = {16, 4, 2};
    float got[64];

    MUST(clEnqueueCopyBuffer(queue, a, b, 0, 400, 40, 0, NULL, NULL));
    claim(value_at(b, 100) == 0 && value_at(b, 109) == 9 && value_at(b, 110) == 1110,
          "a part of a buffer is copied");
    claim(clEnqueueCopyBuffer(queue, a, a, 0, 20, 40, 0, NULL, NULL) == CL_MEM_COPY_OVERLAP,
          "a copy onto itself");
    MUST(clEnqueueCopyBuffer(queue, a, a, 0, 40, 40, 0, NULL, NULL));
    claim(value_at(a, 19) == 9, "… and one within a buffer");
    MUST(clEnqueueFillBuffer(queue, b, &five, sizeof(five), 8, 16, 0, NULL, NULL));
    claim(value_at(b, 1) == 1001 && value_at(b, 2) == 5 && value_at(b, 5) == 5 &&
              value_at(b, 6) == 1006,
          "a buffer is filled");
    claim(clEnqueueFillBuffer(queue, b, &five, 3, 0, 12, 0, NULL, NULL) == CL_INVALID_VALUE,
          "a pattern of three bytes is none");
    MUST(clReleaseMemObject(a));
    a = buffer(0);
    /* Two slices of four rows with four values each, in rows of 16 bytes and slices of 64. */
    MUST(clEnqueueReadBufferRect(queue, a, CL_TRUE, to, from, region, 64, 512, 16, 64, got, 0,
                                 NULL, NULL));
    claim(got[0] == 18 && got[4] == 34 && got[16] == 146, "a box is read");
    MUST(clEnqueueCopyBufferRect(queue, a, b, to, from, region, 64, 512, 0, 0, 0, NULL, NULL));
    claim(value_at(b, 0) == 18 && value_at(b, 31) == 197, "a box is copied");
    for (int i = 0; i < 32; i++)
        got[i] = (float)-i;
    MUST(clEnqueueWriteBufferRect(queue, b, CL_TRUE, to, from, region, 64, 512, 16, 64, got, 0,
                                  NULL, NULL));
    claim(value_at(b, 18) == 0 && value_at(b, 35) == -5 && value_at(b, 146) == -16,
          "a box is written");
    claim(clEnqueueReadBuffer(queue, a, CL_TRUE, N * 4 - 4, 8, got, 0, NULL, NULL) ==
              CL_INVALID_VALUE,
          "a read beyond the end");
    MUST(clReleaseMemObject(a));
    MUST(clReleaseMemObject(b));
}

static void test_parts(void)
{
    const cl_buffer_region region = {1024, 1024}, wrong = {4, 8};
    cl_mem whole = buffer(0), part;
    cl_int error;

    part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    must(error, "clCreateSubBuffer");
    claim(value_at(part, 3) == 259, "a part of a buffer has its bytes");
    {
        cl_kernel halve = kernel("halve");
        const size_t global = 256;

        MUST(clSetKernelArg(halve, 0, sizeof(part), &part));
        MUST(clEnqueueNDRangeKernel(queue, halve, 1, NULL, &global, NULL, 0, NULL, NULL));
        MUST(clReleaseKernel(halve));
    }
    claim(value_at(whole, 256) == 128 && value_at(whole, 255) == 255 &&
              value_at(whole, 512) == 512,
          "a kernel changes a part, and nothing beside it");
    clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &wrong, &error);
    claim(error == CL_MISALIGNED_SUB_BUFFER_OFFSET, "a part that is not aligned");
    clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    claim(error == CL_INVALID_MEM_OBJECT, "a part of a part");
    MUST(clReleaseMemObject(whole));
    claim(value_at(part, 3) == 129.5f, "a part outlives the whole");
    MUST(clReleaseMemObject(part));
}

static void test_maps(void)
{
    float own[N];
    cl_mem a = buffer(0), mine;
    cl_uint mapped = 0;
    float *at, *other;
    cl_int error;

    at = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 64, 0, NULL, NULL,
                            &error);
    must(error, "clEnqueueMapBuffer");
    other = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 64, 64, 0, NULL, NULL, &error);
    must(error, "clEnqueueMapBuffer");
    MUST(clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof(mapped), &mapped, NULL));
    claim(at[5] == 5 && other == at + 16 && mapped == 2, "two regions are mapped");
    at[5] = 50;
    other[0] = 160;
    MUST(clEnqueueUnmapMemObject(queue, a, at, 0, NULL, NULL));
    MUST(clEnqueueUnmapMemObject(queue, a, other, 0, NULL, NULL));
    scale(queue, a, 2, 0, NULL, NULL);
    claim(value_at(a, 5) == 100 && value_at(a, 16) == 320, "what was written there counts");
    claim(clEnqueueUnmapMemObject(queue, a, at, 0, NULL, NULL) == CL_INVALID_VALUE,
          "what is not mapped cannot be unmapped");
    for (int i = 0; i < N; i++)
        own[i] = 1;
    mine = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(own), own, &error);
    must(error, "clCreateBuffer");
    scale(queue, mine, 3, 0, NULL, NULL);
    at = clEnqueueMapBuffer(queue, mine, CL_TRUE, CL_MAP_READ, 0, sizeof(own), 0, NULL, NULL,
                            &error);
    claim(at == own && own[9] == 3, "memory of the program's is mapped where it is");
    MUST(clEnqueueUnmapMemObject(queue, mine, at, 0, NULL, NULL));
    MUST(clFinish(queue));
    MUST(clReleaseMemObject(mine));
    MUST(clReleaseMemObject(a));
}

/* -- events -- */

static void CL_CALLBACK note(cl_event event, cl_int status, void *data)
{
    (void)event;
    *(cl_int *)data = status;
}

static void test_events(void)
{
    cl_mem a = buffer(1);
    cl_int error, seen = 77;
    cl_event user = clCreateUserEvent(context, &error), first, second;
    cl_command_queue other = clCreateCommandQueue(
        context, devices[ndevices - 1], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    cl_ulong begin = 1, end = 0;

    scale(other, a, 2, 1, &user, &first);
    scale(queue, a, 5, 1, &first, &second);
    MUST(clSetEventCallback(second, CL_COMPLETE, note, &seen));
    MUST(clFlush(queue));
    claim(status_of(second) > CL_COMPLETE && seen == 77, "commands wait for a user event");
    MUST(clSetUserEventStatus(user, CL_COMPLETE));
    MUST(clWaitForEvents(1, &second));
    MUST(clFinish(queue));
    claim(status_of(first) == CL_COMPLETE && value_at(a, 0) == 10,
          "… and for those of another queue");
    claim(seen == CL_COMPLETE, "a callback is called at the end");
    claim(clSetUserEventStatus(user, CL_COMPLETE) == CL_INVALID_OPERATION,
          "a user event ends once");
    claim(clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_START, sizeof(begin), &begin,
                                  NULL) == CL_SUCCESS &&
              clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_END, sizeof(end), &end,
                                      NULL) == CL_SUCCESS &&
              end >= begin,
          "events have times");
    claim(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL) ==
              CL_PROFILING_INFO_NOT_AVAILABLE,
          "… those of queues that ask for it");
    MUST(clReleaseEvent(user));
    MUST(clReleaseEvent(first));
    MUST(clReleaseEvent(second));
    MUST(clReleaseCommandQueue(other));
    MUST(clReleaseMemObject(a));
}

static void test_failed_waits(void)
{
    cl_mem a = buffer(1);
    cl_int error;
    cl_event user = clCreateUserEvent(context, &error), event;

    scale(queue, a, 2, 1, &user, &event);
    MUST(clSetUserEventStatus(user, -5));
    claim(clWaitForEvents(1, &event) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
              status_of(event) < 0,
          "what waits for something that has failed fails");
    claim(value_at(a, 3) == 4, "… and does nothing");
    MUST(clReleaseEvent(user));
    MUST(clReleaseEvent(event));
    MUST(clReleaseMemObject(a));
}

static void test_markers(void)
{
    cl_int error;
    cl_command_queue loose = clCreateCommandQueue(
        context, devices[0], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    cl_event user = clCreateUserEvent(context, &error), marker, barrier, last;
    cl_mem a = buffer(1), b = buffer(1);

    scale(loose, a, 2, 1, &user, NULL);
    MUST(clEnqueueMarkerWithWaitList(loose, 0, NULL, &marker));
    MUST(clEnqueueBarrierWithWaitList(loose, 0, NULL, &barrier));
    scale(loose, b, 3, 0, NULL, &last);
    claim(status_of(marker) > CL_COMPLETE && status_of(barrier) > CL_COMPLETE &&
              status_of(last) > CL_COMPLETE,
          "markers wait for what is before, and barriers hold back what is behind");
    MUST(clSetUserEventStatus(user, CL_COMPLETE));
    MUST(clFinish(loose));
    claim(status_of(marker) == CL_COMPLETE && status_of(last) == CL_COMPLETE &&
              value_at(b, 0) == 3,
          "… until that has ended");
    MUST(clReleaseEvent(user));
    MUST(clReleaseEvent(marker));
    MUST(clReleaseEvent(barrier));
    MUST(clReleaseEvent(last));
    MUST(clReleaseMemObject(a));
    MUST(clReleaseMemObject(b));
    MUST(clReleaseCommandQueue(loose));
}

/* So many that none may be in the stack of another one. */
static void test_chain(void)
{
    enum { MANY = 20000 };
    cl_int error;
    cl_event user = clCreateUserEvent(context, &error), last = NULL;

    MUST(clEnqueueMarkerWithWaitList(queue, 1, &user, NULL));
    for (int i = 0; i < MANY; i++)
        MUST(clEnqueueMarkerWithWaitList(queue, 0, NULL, i + 1 < MANY ? NULL : &last));
    MUST(clSetUserEventStatus(user, CL_COMPLETE));
    MUST(clFinish(queue));
    claim(status_of(last) == CL_COMPLETE, "20000 commands in a row end at once");
    MUST(clReleaseEvent(user));
    MUST(clReleaseEvent(last));
}

/* -- functions of the host -- */

struct native {
    float *at;
    float by;
};

static void CL_CALLBACK multiply(void *arg)
{
    struct native *native = arg;

    for (int i = 0; i < N; i++)
        native->at[i] *= native->by;
}

static void test_native(void)
{
    cl_mem a = buffer(1);
    struct native native = {NULL, 4};
    const void *place = &native.at;

    scale(queue, a, 2, 0, NULL, NULL);
    MUST(clEnqueueNativeKernel(queue, multiply, &native, sizeof(native), 1, &a, &place, 0, NULL,
                               NULL));
    claim(value_at(a, 1) == 16, "a function of the host has a buffer's bytes");
    MUST(clReleaseMemObject(a));
}

/* -- programs -- */

static void test_build_errors(void)
{
    const char *wrong = "__kernel void f(__global float *a) { a[0] = ; \n";
    char log[4096] = "";
    cl_build_status status = 0;
    cl_int error;
    cl_program bad = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);

    claim(clBuildProgram(bad, 0, NULL, NULL, NULL, NULL) == CL_BUILD_PROGRAM_FAILURE,
          "a program that does not compile says so");
    MUST(clGetProgramBuildInfo(bad, devices[0], CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    MUST(clGetProgramBuildInfo(bad, devices[0], CL_PROGRAM_BUILD_STATUS, sizeof(status), &status,
                               NULL));
    claim(log[0] && status == CL_BUILD_ERROR, "… and why");
    clCreateKernel(bad, "f", &error);
    claim(error == CL_INVALID_PROGRAM_EXECUTABLE, "… and has no kernels");
    clCreateKernel(program, "g", &error);
    claim(error == CL_INVALID_KERNEL_NAME, "a kernel that there is not");
    MUST(clReleaseProgram(bad));
}

static void check_double(cl_program from, const char *what)
{
    cl_int error;
    cl_kernel twice = clCreateKernel(from, "twice", &error);
    cl_mem a = buffer(1);

    if (error == CL_SUCCESS)
        error = run(queue, twice, a, 0, NULL, NULL);
    claim(error == CL_SUCCESS && value_at(a, 2) == 6, what);
    if (twice)
        clReleaseKernel(twice);
    MUST(clReleaseMemObject(a));
}

static void test_binaries(void)
{
    const char *text = "__kernel void twice(__global float *a) { a[get_global_id(0)] *= 2.0f; }";
    size_t sizes[64] = {0};
    unsigned char *bytes[64] = {NULL};
    const unsigned char *same[64];
    cl_int error;
    cl_program first = clCreateProgramWithSource(context, 1, &text, NULL, &error), second;

    MUST(clBuildProgram(first, 0, NULL, NULL, NULL, NULL));
    MUST(clGetProgramInfo(first, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL));
    for (cl_uint i = 0; i < ndevices; i++)
        bytes[i] = malloc(sizes[i] + 1);
    MUST(clGetProgramInfo(first, CL_PROGRAM_BINARIES, sizeof(bytes), bytes, NULL));
    for (cl_uint i = 0; i < ndevices; i++)
        same[i] = bytes[i];
    second =
        clCreateProgramWithBinary(context, ndevices, devices, sizes, same, NULL, &error);
    must(error, "clCreateProgramWithBinary");
    MUST(clBuildProgram(second, 0, NULL, NULL, NULL, NULL));
    check_double(second, "a program is made of its binaries");
    for (cl_uint i = 0; i < ndevices; i++)
        free(bytes[i]);
    MUST(clReleaseProgram(first));
    MUST(clReleaseProgram(second));
}

static void test_linking(void)
{
    const char *head = "float by(void);\n", *name = "by.h";
    const char *text = "#include \"by.h\"\n__kernel void twice(__global float *a)\n"
                       "{ a[get_global_id(0)] *= by(); }\n";
    const char *other = "float by(void) { return 2.0f; }\n";
    cl_program parts[2], header, all;
    cl_int error;

    header = clCreateProgramWithSource(context, 1, &head, NULL, &error);
    parts[0] = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    parts[1] = clCreateProgramWithSource(context, 1, &other, NULL, &error);
    MUST(clCompileProgram(parts[0], 0, NULL, NULL, 1, &header, &name, NULL, NULL));
    MUST(clCompileProgram(parts[1], 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    all = clLinkProgram(context, 0, NULL, NULL, 2, parts, NULL, NULL, &error);
    must(error, "clLinkProgram");
    check_double(all, "programs are compiled one by one, with headers, and linked");
    MUST(clReleaseProgram(header));
    MUST(clReleaseProgram(parts[0]));
    MUST(clReleaseProgram(parts[1]));
    MUST(clReleaseProgram(all));
}

static void test_all_kernels(void)
{
    cl_kernel all[16];
    cl_uint n = 0;
    char name[64];

    claim(clCreateKernelsInProgram(program, 0, NULL, &n) == CL_SUCCESS && n == 8,
          "a program says how many kernels it has");
    MUST(clCreateKernelsInProgram(program, 16, all, NULL));
    MUST(clGetKernelInfo(all[0], CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL));
    claim(name[0] != 0, "all of them are made at once");
    for (cl_uint i = 0; i < n; i++)
        MUST(clReleaseKernel(all[i]));
}

/* -- what there is not -- */

static void test_refusals(void)
{
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4,
                                .image_height = 4};
    cl_uint n = 7;
    cl_int error = 0;

    claim(!clCreateImage(context, 0, &format, &desc, NULL, &error) &&
              error == CL_INVALID_OPERATION,
          "images are refused");
    claim(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n) ==
                  CL_SUCCESS &&
              n == 0,
          "… and no format is supported");
    claim(!clSVMAlloc(context, 0, 64, 0), "shared virtual memory is refused");
    error = 0;
    claim(!clCreatePipe(context, 0, 4, 4, NULL, &error) && error != CL_SUCCESS,
          "pipes are refused");
    error = 0;
    claim(!clCreateProgramWithIL(context, "x", 1, &error) && error != CL_SUCCESS,
          "programs in an intermediate language are refused");
    claim(clCreateSubDevices(devices[0], (cl_device_partition_property[]){0}, 0, NULL, &n) !=
              CL_SUCCESS,
          "devices have no parts");
    clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &error);
    claim(error == CL_INVALID_VALUE, "flags that contradict each other");
    clCreateBuffer(context, 0, 0, NULL, &error);
    claim(error == CL_INVALID_BUFFER_SIZE, "a buffer of no bytes");
    clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, NULL, &error);
    claim(error == CL_INVALID_HOST_PTR, "a copy of nothing");
    clCreateContext((cl_context_properties[]){0xFF01, (cl_context_properties) "nobody", 0},
                    ndevices, devices, NULL, NULL, &error);
    claim(error == CL_INVALID_PROPERTY, "a policy that there is not");
    clCreateContext((cl_context_properties[]){CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                              CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                              0},
                    ndevices, devices, NULL, NULL, &error);
    claim(error == CL_INVALID_PROPERTY, "a property that is given twice");
    claim(clEnqueueMigrateMemObjects(queue, 1, NULL, 0, 0, NULL, NULL) == CL_INVALID_VALUE,
          "no buffers to be moved");
}

static void test_scheduler(void)
{
    const cl_context_properties properties[] = {0xFF01, (cl_context_properties) "eager", 0xFF02,
                                                (cl_context_properties) "mine", 0};
    cl_int error;
    cl_context before = context;
    cl_command_queue first = queue;
    cl_program built = program;
    cl_mem a;

    context = clCreateContext(properties, ndevices, devices, NULL, NULL, &error);
    must(error, "clCreateContext");
    queue = clCreateCommandQueue(context, NULL, 0, &error);
    must(error, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, (const char *[]){source}, NULL, &error);
    MUST(clBuildProgram(program, 0, NULL, "-DVALUE=3", NULL, NULL));
    a = buffer(1);
    scale(queue, a, 2, 0, NULL, NULL);
    claim(value_at(a, 1) == 4, "a context with a policy, and a queue without a device");
    MUST(clReleaseMemObject(a));
    MUST(clReleaseProgram(program));
    MUST(clReleaseCommandQueue(queue));
    MUST(clReleaseContext(context));
    context = before;
    queue = first;
    program = built;
}

/* SOCL_ORDER=data: only what uses the same buffers is in order. */
static void test_order_by_data(void)
{
    cl_int error;
    cl_event user = clCreateUserEvent(context, &error), held, behind, free_one;
    cl_mem a = buffer(1), b = buffer(1);

    scale(queue, a, 2, 1, &user, &held);
    scale(queue, a, 3, 0, NULL, &behind);
    scale(queue, b, 5, 0, NULL, &free_one);
    MUST(clWaitForEvents(1, &free_one));
    claim(status_of(held) > CL_COMPLETE && status_of(behind) > CL_COMPLETE,
          "another buffer's command does not wait, in a queue in order");
    MUST(clSetUserEventStatus(user, CL_COMPLETE));
    MUST(clFinish(queue));
    claim(value_at(a, 0) == 6 && value_at(b, 0) == 5, "the same buffer's are in order");
    MUST(clReleaseEvent(user));
    MUST(clReleaseEvent(held));
    MUST(clReleaseEvent(behind));
    MUST(clReleaseEvent(free_one));
    MUST(clReleaseMemObject(a));
    MUST(clReleaseMemObject(b));
}

static void CL_CALLBACK gone(cl_mem mem, void *data)
{
    (void)mem;
    *(bool *)data = true;
}

static void test_ends(void)
{
    static bool seen; /* the last reference may be a command's, for a moment */
    cl_mem a = buffer(1);
    cl_int error;

    MUST(clSetMemObjectDestructorCallback(a, gone, &seen));
    scale(queue, a, 2, 0, NULL, NULL);
    MUST(clReleaseMemObject(a));
    MUST(clFinish(queue));
    claim(seen, "a buffer ends when its last command has ended");
    claim(clReleaseEvent(NULL) == CL_INVALID_EVENT, "nothing is no event");
    a = buffer(1);
    must(clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &error)
             ? error
             : CL_MAP_FAILURE,
         "clEnqueueMapBuffer");
    claim(clReleaseMemObject(a) == CL_SUCCESS, "a buffer may end that is mapped still");
}

static void test_all(void)
{
    test_queries();
    test_arguments();
    test_ranges();
    test_copies();
    test_parts();
    test_maps();
    test_events();
    test_failed_waits();
    test_markers();
    test_chain();
    test_native();
    test_build_errors();
    test_binaries();
    test_linking();
    test_all_kernels();
    test_refusals();
    test_scheduler();
    test_ends();
}

int main(int argc, char **argv)
{
    (void)argv;
    open_all();
    if (argc > 1)
        test_order_by_data();
    else
        test_all();
    MUST(clReleaseProgram(program));
    MUST(clReleaseCommandQueue(queue));
    MUST(clReleaseContext(context));
    printf("1..%u\n", count);
    return failed != 0;
}
