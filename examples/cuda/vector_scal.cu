/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vector_scal.cu - the kernel of vector_scal.c for CUDA devices. A codelet's function
 * is called by the device's worker; it puts kernels into that worker's stream, and
 * leaves it to the library to wait for them (STARPU_CUDA_ASYNC).
 */
#include <starpu.h>

static __global__ void scale(float *x, unsigned n, float factor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= factor;
}

extern "C" void scale_cuda(void *buffers[], void *arg)
{
    float *x = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]), threads = 256;
    cudaError_t error;
    float factor;

    starpu_codelet_unpack_args(arg, &factor);
    scale<<<(n + threads - 1) / threads, threads, 0,
            starpu_cuda_get_local_stream()>>>(x, n, factor);
    error = cudaGetLastError();
    if (error != cudaSuccess)
        STARPU_CUDA_REPORT_ERROR(error);
}
