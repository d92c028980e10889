/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * examples/opencl/common.h - what these programs share: plain OpenCL 1.2, nothing of
 * Orrery's. Every error ends the program with the call that has failed.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdbool.h>
#include <stddef.h>

struct setup {
    cl_platform_id platform;
    cl_device_id devices[64];
    cl_uint n;
    cl_context context;
    cl_command_queue queue; /* of the first device, in order */
    cl_program program;
    bool check;     /* -check: results are compared with those of the host */
    unsigned size;  /* -n NUMBER */
    const char *scheduler; /* -scheduler NAME: of the context, or NULL */
};

/* Reads the options, opens the first platform, and builds the source for all devices. */
void open_setup(struct setup *ret, int argc, char **argv, unsigned size, const char *source);
void close_setup(struct setup *setup);

cl_kernel kernel_of(const struct setup *setup, const char *name);
/* With `host` it has these values. */
cl_mem buffer_of(const struct setup *setup, size_t bytes, const void *host);
void read_back(const struct setup *setup, cl_mem mem, size_t bytes, void *to);
void write_to(const struct setup *setup, cl_mem mem, size_t bytes, const void *from);
/* One or two dimensions (y 0: one), in groups of `local` (0: as the device likes). */
void launch(const struct setup *setup, cl_kernel kernel, size_t x, size_t y, size_t local);

/* Numbers that are the same everywhere, from 0 to 1. */
float random_number(unsigned *state);

/* Compares, if the program is to check: prints the result, and returns main's. */
int compare(const struct setup *setup, const char *name, const float *got, const float *wanted,
            size_t n, float tolerance);

void check_call(cl_int error, const char *call, const char *file, int line);
#define CHECK(call) check_call(call, #call, __FILE__, __LINE__)
#define ARGUMENT(kernel, i, value) CHECK(clSetKernelArg(kernel, i, sizeof(value), &(value)))
