/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vector_scal.c - a first program: multiplies a vector by a number, in pieces
 * that workers handle side by side. Start reading here.
 */
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

#define LENGTH 1000000
#define PIECES 8

/* The kernel. `buffers` holds the data of the task, `arg` its values. */
static void scale(void *buffers[], void *arg)
{
    float *x = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
    float factor;

    starpu_codelet_unpack_args(arg, &factor);
    for (unsigned i = 0; i < n; i++)
        x[i] *= factor;
}

/* The same for OpenCL devices, where the headers of OpenCL are found. `x` is
 * the buffer of the whole vector there, the piece begins `offset` bytes
 * behind. */
#if defined(STARPU_USE_OPENCL) && !defined(NO_OPENCL)
static struct starpu_opencl_program program;

static const char source[] =
    "__kernel void scale(__global char *x, ulong offset, float factor)\n"
    "{\n"
    "    ((__global float *)(x + offset))[get_global_id(0)] *= factor;\n"
    "}\n";

static void scale_opencl(void *buffers[], void *arg)
{
    cl_mem x = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
    cl_ulong offset = STARPU_VECTOR_GET_OFFSET(buffers[0]);
    size_t n = STARPU_VECTOR_GET_NX(buffers[0]);
    int device = starpu_worker_get_devid(starpu_worker_get_id());
    cl_command_queue queue;
    cl_kernel kernel;
    cl_int error;
    float factor;

    starpu_codelet_unpack_args(arg, &factor);
    error =
        starpu_opencl_load_kernel(&kernel, &queue, &program, "scale", device);
    if (error == CL_SUCCESS)
        starpu_opencl_set_kernel_args(&error, &kernel, sizeof(x), &x,
                                      sizeof(offset), &offset, sizeof(factor),
                                      &factor, 0);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0,
                                       NULL, NULL);
    if (error != CL_SUCCESS)
        STARPU_OPENCL_REPORT_ERROR(error);
    starpu_opencl_release_kernel(kernel);
}

static int load_opencl(void)
{
    return starpu_opencl_load_opencl_from_string(source, &program, NULL);
}
#else
#    define scale_opencl NULL
static int load_opencl(void)
{
    return 0;
}
#endif

/* For CUDA devices it is in cuda/vector_scal.cu, which nvcc compiles. */
#ifdef WITH_CUDA
void scale_cuda(void *buffers[], void *arg);
#endif

/* The kernel's times are measured while it runs, and kept on disk. */
static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "vector_scal"};

/* The description of the kernel. */
static struct starpu_codelet codelet = {
    .cpu_funcs = {scale},
    .opencl_funcs = {scale_opencl},
    .opencl_flags = {STARPU_OPENCL_ASYNC}, /* it does not wait for its kernel */
#ifdef WITH_CUDA
    .cuda_funcs = {scale_cuda},
    .cuda_flags = {STARPU_CUDA_ASYNC},
#endif
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "scale",
};

/* Submits a task per piece. Those of the second round wait for those of the
 * first implicitly, since they write the same pieces. */
static int submit(starpu_data_handle_t vector, float factor)
{
    for (unsigned round = 0; round < 2; round++)
        for (unsigned piece = 0; piece < PIECES; piece++) {
            int result = starpu_task_insert(
                &codelet, STARPU_RW, starpu_data_get_sub_data(vector, 1, piece),
                STARPU_VALUE, &factor, sizeof(factor), 0);

            if (result != 0)
                return result;
        }
    return 0;
}

int main(void)
{
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};
    starpu_data_handle_t vector;
    float *x = malloc(LENGTH * sizeof(*x));
    int result = x ? starpu_init(NULL) : -1;

    if (result != 0 || load_opencl() != 0) {
        fprintf(stderr, "vector_scal: the runtime does not start\n");
        free(x);
        return EXIT_FAILURE;
    }
    for (unsigned i = 0; i < LENGTH; i++)
        x[i] = 1.0f;
    starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)x, LENGTH,
                                sizeof(*x));
    starpu_data_partition(vector, &pieces);
    result = submit(vector, 1.5f);
    starpu_task_wait_for_all();

    /* Bring the pieces back to main memory before reading them. */
    starpu_data_unpartition(vector, STARPU_MAIN_RAM);
    starpu_data_unregister(vector);
    if (orrery_is_simulated() && !orrery_runs_kernels())
        puts("simulated: time passed, but no kernel ran");
    else
        printf("x[0] = %.2f (1 * 1.5 * 1.5 = 2.25)\n", (double)x[0]);
    starpu_shutdown();
    free(x);
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
