/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* examples/opencl/common.c - see common.h. */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_call(cl_int error, const char *call, const char *file, int line)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s: error %d\n", file, line, call, error);
    exit(1);
}

static void read_options(struct setup *setup, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-check") == 0)
            setup->check = true;
        else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            setup->size = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-scheduler") == 0 && i + 1 < argc)
            setup->scheduler = argv[++i];
        else {
            fprintf(stderr, "usage: %s [-n NUMBER] [-check] [-scheduler NAME]\n", argv[0]);
            exit(2);
        }
    }
}

static void print_log(const struct setup *setup)
{
    char log[4096] = "";

    clGetProgramBuildInfo(setup->program, setup->devices[0], CL_PROGRAM_BUILD_LOG, sizeof(log),
                          log, NULL);
    fputs(log, stderr);
}

void open_setup(struct setup *ret, int argc, char **argv, unsigned size, const char *source)
{
    /* Other implementations do not know this property, and are not asked for it. */
    cl_context_properties properties[] = {0xFF01, 0, 0};
    cl_int error;

    *ret = (struct setup){.size = size};
    read_options(ret, argc, argv);
    properties[1] = (cl_context_properties)ret->scheduler;
    CHECK(clGetPlatformIDs(1, &ret->platform, NULL));
    CHECK(clGetDeviceIDs(ret->platform, CL_DEVICE_TYPE_ALL, 64, ret->devices, &ret->n));
    ret->context = clCreateContext(ret->scheduler ? properties : NULL, ret->n, ret->devices,
                                   NULL, NULL, &error);
    CHECK(error);
    ret->queue = clCreateCommandQueue(ret->context, ret->devices[0], CL_QUEUE_PROFILING_ENABLE,
                                      &error);
    CHECK(error);
    ret->program = clCreateProgramWithSource(ret->context, 1, &source, NULL, &error);
    CHECK(error);
    error = clBuildProgram(ret->program, 0, NULL, "", NULL, NULL);
    if (error != CL_SUCCESS)
        print_log(ret);
    CHECK(error);
}

void close_setup(struct setup *setup)
{
    clReleaseProgram(setup->program);
    clReleaseCommandQueue(setup->queue);
    clReleaseContext(setup->context);
}

cl_kernel kernel_of(const struct setup *setup, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(setup->program, name, &error);

    CHECK(error);
    return kernel;
}

cl_mem buffer_of(const struct setup *setup, size_t bytes, const void *host)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(setup->context, CL_MEM_READ_WRITE, bytes, NULL, &error);

    CHECK(error);
    if (host)
        write_to(setup, mem, bytes, host);
    return mem;
}

void read_back(const struct setup *setup, cl_mem mem, size_t bytes, void *to)
{
    CHECK(clEnqueueReadBuffer(setup->queue, mem, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

void write_to(const struct setup *setup, cl_mem mem, size_t bytes, const void *from)
{
    CHECK(clEnqueueWriteBuffer(setup->queue, mem, CL_TRUE, 0, bytes, from, 0, NULL, NULL));
}

void launch(const struct setup *setup, cl_kernel kernel, size_t x, size_t y, size_t local)
{
    const size_t global[2] = {x, y}, group[2] = {local, local};

    CHECK(clEnqueueNDRangeKernel(setup->queue, kernel, y ? 2 : 1, NULL, global,
                                 local ? group : NULL, 0, NULL, NULL));
}

float random_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 24);
}

int compare(const struct setup *setup, const char *name, const float *got, const float *wanted,
            size_t n, float tolerance)
{
    float worst = 0;

    if (!setup->check) {
        printf("%s: done\n", name);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        float off = fabsf(got[i] - wanted[i]) / fmaxf(1, fabsf(wanted[i]));

        if (!(off <= worst))
            worst = off;
    }
    printf("%s: %s, off by at most %g\n", name, worst <= tolerance ? "right" : "WRONG",
           (double)worst);
    return worst <= tolerance ? 0 : 1;
}
