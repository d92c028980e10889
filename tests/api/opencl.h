/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/opencl.h - what the programs about OpenCL share: two devices that PoCL
 * makes of a processor each (on-opencl.sh), and a kernel that makes 3 x + 1 of
 * 64-bit integers.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120

#include <check.h>
#include <starpu.h>

enum { NDEVICES = 2, LENGTH = 1000 };

/* That of `load`, to be unloaded. */
extern struct starpu_opencl_program program;

/* starpu_init with one processor and these devices, or a failed check. */
void open_runtime(void);

/* The worker of a device, and its memory node. */
int worker_of(int devid);
unsigned node_of(int devid);

/* Compiles the kernel; starts it on the vector buffers[0] on the calling worker's
 * device. */
void load(void);
void start_scale(void *buffers[]);

/* A task of a codelet with one buffer, read and written, on that worker. */
void insert(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker);
