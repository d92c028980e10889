/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels_opencl.c - the four kernels on OpenCL devices: an item per element,
 * or per row where one element waits for another. Plain rather than fast. A
 * tile is a buffer, the offset in bytes where it begins there, and its leading
 * dimension.
 */
#include "kernels.h"

#if defined(STARPU_USE_OPENCL) && !defined(NO_OPENCL)

#    include <stdio.h>
#    include <stdlib.h>

#    include <orrery.h>

static struct starpu_opencl_program program;

#    define TILE(name)                                                         \
        "__global float *" name "_buffer, ulong " name "_offset, uint " name   \
        "_ld"
#    define USE(name)                                                          \
        "    __global float *" name " = (__global float *)\n"                  \
        "        ((__global char *)" name "_buffer + " name "_offset);\n"

static const char source[] =
    /* Columns in turn, by one group: the root of the diagonal, what is below it
     * divided by that, then its part in the columns to the right. */
    "__kernel void potrf(" TILE(
        "a") ", uint n)\n"
             "{\n" USE(
                 "a") "    uint me = get_local_id(0), step = get_local_size(0);\n"
                      "    for (uint k = 0; k < n; k++) {\n"
                      "        __global float *column = a + k * a_ld;\n"
                      "        if (me == 0) column[k] = sqrt(column[k]);\n"
                      "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
                      "        for (uint i = k + 1 + me; i < n; i += step)\n"
                      "            column[i] /= column[k];\n"
                      "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
                      "        for (uint j = k + 1 + me; j < n; j += step)\n"
                      "            for (uint i = j; i < n; i++)\n"
                      "                a[i + j * a_ld] -= column[i] * column[j];\n"
                      "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
                      "    }\n"
                      "}\n"
                      /* b becomes b times the inverse of the transpose of l; rows are
     * independent. */
                      "__kernel void trsm(" TILE("l") ", " TILE(
                          "b") ", uint n)\n"
                               "{\n" USE("l") USE(
                                   "b") "    uint i = get_global_id(0);\n"
                                        "    for (uint j = 0; j < n; j++) {\n"
                                        "        float sum = b[i + j * b_ld];\n"
                                        "        for (uint k = 0; k < j; k++)\n"
                                        "            sum -= b[i + k * b_ld] * l[j + k * l_ld];\n"
                                        "        b[i + j * b_ld] = sum / l[j + j * l_ld];\n"
                                        "    }\n"
                                        "}\n"
                                        "__kernel void syrk(" TILE("a") ", " TILE(
                                            "c") ", uint n)\n"
                                                 "{\n" USE("a") USE(
                                                     "c") "    uint i = get_global_id(0), j = get_global_id(1);\n"
                                                          "    float sum = 0;\n"
                                                          "    if (i < j) return;\n"
                                                          "    for (uint k = 0; k < n; k++)\n"
                                                          "        sum += a[i + k * a_ld] * a[j + k * a_ld];\n"
                                                          "    c[i + j * c_ld] -= sum;\n"
                                                          "}\n"
                                                          "__kernel void gemm(" TILE("a") ", " TILE("b") ", " TILE(
                                                              "c") ", uint n)\n"
                                                                   "{\n" USE(
                                                                       "a") USE("b")
                                                                       USE("c") "    uint i = get_global_id(0), j = get_global_id(1);\n"
                                                                                "    float sum = 0;\n"
                                                                                "    for (uint k = 0; k < n; k++)\n"
                                                                                "        sum += a[i + k * a_ld] * b[j + k * b_ld];\n"
                                                                                "    c[i + j * c_ld] -= sum;\n"
                                                                                "}\n";

static void check(cl_int error)
{
    if (error == CL_SUCCESS)
        return;
    STARPU_OPENCL_DISPLAY_ERROR(error);
    exit(EXIT_FAILURE);
}

/* What a tile is for a kernel. */
struct argument {
    cl_mem buffer;
    cl_ulong offset;
    cl_uint ld;
};

/* Puts a kernel of that name into the queue: its arguments are the tiles, and
 * n. */
static void start(const char *name, void *buffers[], unsigned nbuffers,
                  cl_uint n, cl_uint ndims, const size_t *items,
                  const size_t *group)
{
    int device = starpu_worker_get_devid(starpu_worker_get_id());
    cl_command_queue queue;
    cl_kernel kernel;
    cl_uint position = 0;

    check(starpu_opencl_load_kernel(&kernel, &queue, &program, name, device));
    for (unsigned i = 0; i < nbuffers; i++) {
        struct argument tile = {
            .buffer = (cl_mem)STARPU_MATRIX_GET_DEV_HANDLE(buffers[i]),
            .offset = STARPU_MATRIX_GET_OFFSET(buffers[i]),
            .ld = STARPU_MATRIX_GET_LD(buffers[i]),
        };

        check(clSetKernelArg(kernel, position++, sizeof(tile.buffer),
                             &tile.buffer));
        check(clSetKernelArg(kernel, position++, sizeof(tile.offset),
                             &tile.offset));
        check(clSetKernelArg(kernel, position++, sizeof(tile.ld), &tile.ld));
    }
    check(clSetKernelArg(kernel, position, sizeof(n), &n));
    check(clEnqueueNDRangeKernel(queue, kernel, ndims, NULL, items, group, 0,
                                 NULL, NULL));
    starpu_opencl_release_kernel(kernel);
}

static void potrf(void *buffers[], void *arg)
{
    int device = starpu_worker_get_devid(starpu_worker_get_id());
    size_t group = 64, most = 1;
    cl_device_id id;

    (void)arg;
    starpu_opencl_get_device(device, &id);
    check(clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most),
                          &most, NULL));
    if (group > most)
        group = most;
    start("potrf", buffers, 1, STARPU_MATRIX_GET_NX(buffers[0]), 1, &group,
          &group);
}

static void trsm(void *buffers[], void *arg)
{
    size_t rows = STARPU_MATRIX_GET_NX(buffers[1]);

    (void)arg;
    start("trsm", buffers, 2, STARPU_MATRIX_GET_NY(buffers[1]), 1, &rows, NULL);
}

static void syrk(void *buffers[], void *arg)
{
    const size_t items[] = {STARPU_MATRIX_GET_NX(buffers[1]),
                            STARPU_MATRIX_GET_NY(buffers[1])};

    (void)arg;
    start("syrk", buffers, 2, STARPU_MATRIX_GET_NY(buffers[0]), 2, items, NULL);
}

static void gemm(void *buffers[], void *arg)
{
    const size_t items[] = {STARPU_MATRIX_GET_NX(buffers[2]),
                            STARPU_MATRIX_GET_NY(buffers[2])};

    (void)arg;
    start("gemm", buffers, 3, STARPU_MATRIX_GET_NY(buffers[0]), 2, items, NULL);
}

static void add(struct starpu_codelet *codelet, starpu_opencl_func_t function)
{
    codelet->opencl_funcs[0] = function;
    codelet->opencl_flags[0] = STARPU_OPENCL_ASYNC;
}

/* A simulated device needs no functions: its models say what it can run. */
int kernels_load(void)
{
    if (orrery_is_simulated() || starpu_opencl_worker_get_count() == 0)
        return 0;
    add(&cl_potrf, potrf);
    add(&cl_trsm, trsm);
    add(&cl_syrk, syrk);
    add(&cl_gemm, gemm);
    return starpu_opencl_load_opencl_from_string(source, &program, NULL);
}

void kernels_unload(void)
{
    starpu_opencl_unload_opencl(&program);
}

#else

int kernels_load(void)
{
    return 0;
}

void kernels_unload(void)
{
}

#endif
