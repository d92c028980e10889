/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mult.c - C = A·B, a task per block of C, on processors and OpenCL devices.
 * The kernels are as simple as can be: what is shown is how data in pieces come
 * to them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

#include "options.h"

static const char usage[] =
    "usage: mult [-size N] [-nblocks B] [-check]\n"
    "Multiplies two N by N matrices (480), C in B by B blocks (4).\n"
    "  -check       compare with the product on one processor\n";

/* -- processors -- */

/* A matrix of n columns; each column's elements are neighbours, columns ld
 * apart. */
struct view {
    float *at;
    unsigned rows, columns;
    size_t ld;
};

static struct view view_of(void *buffer)
{
    return (struct view){
        (float *)STARPU_MATRIX_GET_PTR(buffer), STARPU_MATRIX_GET_NX(buffer),
        STARPU_MATRIX_GET_NY(buffer), STARPU_MATRIX_GET_LD(buffer)};
}

static void multiply(const struct view *a, const struct view *b,
                     const struct view *c)
{
    for (unsigned j = 0; j < c->columns; j++)
        for (unsigned i = 0; i < c->rows; i++) {
            float sum = 0;

            for (unsigned k = 0; k < a->columns; k++)
                sum += a->at[i + k * a->ld] * b->at[k + j * b->ld];
            c->at[i + j * c->ld] = sum;
        }
}

static void mult(void *buffers[], void *arg)
{
    struct view a = view_of(buffers[0]), b = view_of(buffers[1]);
    struct view c = view_of(buffers[2]);

    (void)arg;
    multiply(&a, &b, &c);
}

/* -- OpenCL devices -- */

#if defined(STARPU_USE_OPENCL) && !defined(NO_OPENCL)
static struct starpu_opencl_program program;

/* Each buffer comes with the offset in bytes of the block in it. */
static const char source[] =
    "#define AT(x, offset) ((__global float *)((__global char *)x + offset))\n"
    "__kernel void mult(__global void *a, ulong a_offset, uint a_ld,\n"
    "                   __global void *b, ulong b_offset, uint b_ld,\n"
    "                   __global void *c, ulong c_offset, uint c_ld, uint n)\n"
    "{\n"
    "    uint i = get_global_id(0), j = get_global_id(1);\n"
    "    float sum = 0;\n"
    "    for (uint k = 0; k < n; k++)\n"
    "        sum += AT(a, a_offset)[i + k * a_ld] *\n"
    "               AT(b, b_offset)[k + j * b_ld];\n"
    "    AT(c, c_offset)[i + j * c_ld] = sum;\n"
    "}\n";

static void mult_opencl(void *buffers[], void *arg)
{
    size_t items[] = {STARPU_MATRIX_GET_NX(buffers[2]),
                      STARPU_MATRIX_GET_NY(buffers[2])};
    cl_uint n = STARPU_MATRIX_GET_NY(buffers[0]);
    cl_mem memory[3];
    cl_ulong offset[3];
    cl_uint ld[3];
    cl_kernel kernel;
    cl_command_queue queue;
    cl_int error;

    (void)arg;
    for (int i = 0; i < 3; i++) {
        memory[i] = (cl_mem)STARPU_MATRIX_GET_DEV_HANDLE(buffers[i]);
        offset[i] = STARPU_MATRIX_GET_OFFSET(buffers[i]);
        ld[i] = STARPU_MATRIX_GET_LD(buffers[i]);
    }
    error = starpu_opencl_load_kernel(
        &kernel, &queue, &program, "mult",
        starpu_worker_get_devid(starpu_worker_get_id()));
    if (error == CL_SUCCESS)
        starpu_opencl_set_kernel_args(
            &error, &kernel, sizeof(cl_mem), &memory[0], sizeof(cl_ulong),
            &offset[0], sizeof(cl_uint), &ld[0], sizeof(cl_mem), &memory[1],
            sizeof(cl_ulong), &offset[1], sizeof(cl_uint), &ld[1],
            sizeof(cl_mem), &memory[2], sizeof(cl_ulong), &offset[2],
            sizeof(cl_uint), &ld[2], sizeof(n), &n, 0);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, items, NULL, 0,
                                       NULL, NULL);
    if (error != CL_SUCCESS)
        STARPU_OPENCL_REPORT_ERROR(error);
    starpu_opencl_release_kernel(kernel);
}
#    define OPENCL_FUNCTION mult_opencl
#    define LOAD_OPENCL()                                                      \
        starpu_opencl_load_opencl_from_string(source, &program, NULL)
#    define UNLOAD_OPENCL() starpu_opencl_unload_opencl(&program)
#else
#    define OPENCL_FUNCTION NULL
#    define LOAD_OPENCL()   0
#    define UNLOAD_OPENCL() (void)0
#endif

/* For CUDA devices it is in cuda/mult.cu, which nvcc compiles. */
#ifdef WITH_CUDA
void mult_cuda(void *buffers[], void *arg);
#endif

/* -- tasks -- */

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "mult"};

static struct starpu_codelet codelet = {
    .cpu_funcs = {mult},
    .opencl_funcs = {OPENCL_FUNCTION},
    .opencl_flags = {STARPU_OPENCL_ASYNC}, /* it does not wait for its kernel */
#ifdef WITH_CUDA
    .cuda_funcs = {mult_cuda},
    .cuda_flags = {STARPU_CUDA_ASYNC},
#endif
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_W},
    .model = &model,
    .name = "mult",
};

/* Simulated kernels mostly compute nothing: then the matrices have no values, and
 * take no memory. */
static int has_values(void)
{
    return !orrery_is_simulated() || orrery_runs_kernels();
}

static float *new_matrix(unsigned n, unsigned factor, starpu_data_handle_t *ret)
{
    size_t nvalues = has_values() ? (size_t)n * n : 0;
    float *matrix = malloc((size_t)n * n * sizeof(*matrix));

    if (!matrix) {
        fprintf(stderr, "mult: no memory for matrices of order %u\n", n);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < nvalues; i++)
        matrix[i] = (float)(i * factor % 17) / 16;
    starpu_matrix_data_register(ret, STARPU_MAIN_RAM, (uintptr_t)matrix, n, n,
                                n, sizeof(*matrix));
    return matrix;
}

/* A is cut in rows of blocks, B in columns, C in both. */
static int run(starpu_data_handle_t a, starpu_data_handle_t b,
               starpu_data_handle_t c, unsigned nblocks)
{
    struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block,
                                      .nchildren = nblocks};
    struct starpu_data_filter columns = {
        .filter_func = starpu_matrix_filter_vertical_block,
        .nchildren = nblocks};
    int result = 0;

    starpu_data_partition(a, &rows);
    starpu_data_partition(b, &columns);
    starpu_data_map_filters(c, 2, &columns, &rows);
    for (unsigned j = 0; j < nblocks && result == 0; j++)
        for (unsigned i = 0; i < nblocks && result == 0; i++)
            result = starpu_task_insert(
                &codelet, STARPU_R, starpu_data_get_sub_data(a, 1, i), STARPU_R,
                starpu_data_get_sub_data(b, 1, j), STARPU_W,
                starpu_data_get_sub_data(c, 2, j, i), 0);
    starpu_task_wait_for_all();
    starpu_data_unpartition(c, STARPU_MAIN_RAM);
    starpu_data_unpartition(b, STARPU_MAIN_RAM);
    starpu_data_unpartition(a, STARPU_MAIN_RAM);
    return result;
}

static int check(float *a, float *b, float *c, unsigned n)
{
    float *expected = malloc((size_t)n * n * sizeof(*expected));
    struct view of_a = {a, n, n, n}, of_b = {b, n, n, n};
    struct view of_expected = {expected, n, n, n};
    float worst = 0;

    if (!expected)
        return -1;
    multiply(&of_a, &of_b, &of_expected);
    for (size_t i = 0; i < (size_t)n * n; i++)
        worst = fmaxf(worst, fabsf(c[i] - expected[i]) / (float)n);
    free(expected);
    printf("# largest difference / N = %.1e: %s\n", (double)worst,
           worst < 1e-5f ? "right" : "WRONG");
    return worst < 1e-5f ? 0 : -1;
}

int main(int argc, char **argv)
{
    unsigned size = 480, nblocks = 4, wants_check = 0;
    const struct option options[] = {{"-size", &size, 0},
                                     {"-nblocks", &nblocks, 0},
                                     {"-check", &wants_check, 1},
                                     {NULL, NULL, 0}};
    starpu_data_handle_t handles[3];
    float *matrices[3];
    double start;
    int result;

    options_read(argc, argv, options, usage);
    if (starpu_init(NULL) != 0 || LOAD_OPENCL() != 0) {
        fprintf(stderr, "mult: the runtime does not start\n");
        return EXIT_FAILURE;
    }
    for (unsigned i = 0; i < 3; i++)
        matrices[i] = new_matrix(size, i + 3, &handles[i]);
    start = starpu_timing_now();
    result = run(handles[0], handles[1], handles[2], nblocks);
    printf("# size\tms\n%u\t%.3f\n", size, (starpu_timing_now() - start) / 1e3);
    for (int i = 0; i < 3; i++)
        starpu_data_unregister(handles[i]);
    if (result != 0)
        fprintf(stderr, "mult: no worker can run its tasks\n");
    else if (wants_check && has_values())
        result = check(matrices[0], matrices[1], matrices[2], size);
    for (int i = 0; i < 3; i++)
        free(matrices[i]);
    UNLOAD_OPENCL();
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
