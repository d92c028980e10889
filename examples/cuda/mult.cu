/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mult.cu - the kernel of mult.c for CUDA devices: a thread per element of C. */
#include <starpu.h>

static __global__ void mult(const float *a, unsigned a_ld, const float *b,
                            unsigned b_ld, float *c, unsigned c_ld,
                            unsigned rows, unsigned columns, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned j = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (i >= rows || j >= columns)
        return;
    for (unsigned k = 0; k < n; k++)
        sum += a[i + (size_t)k * a_ld] * b[k + (size_t)j * b_ld];
    c[i + (size_t)j * c_ld] = sum;
}

extern "C" void mult_cuda(void *buffers[], void *arg)
{
    const float *a = (const float *)STARPU_MATRIX_GET_PTR(buffers[0]);
    const float *b = (const float *)STARPU_MATRIX_GET_PTR(buffers[1]);
    float *c = (float *)STARPU_MATRIX_GET_PTR(buffers[2]);
    unsigned rows = STARPU_MATRIX_GET_NX(buffers[2]);
    unsigned columns = STARPU_MATRIX_GET_NY(buffers[2]);
    dim3 threads(16, 16), blocks((rows + 15) / 16, (columns + 15) / 16);
    cudaError_t error;

    (void)arg;
    mult<<<blocks, threads, 0, starpu_cuda_get_local_stream()>>>(
        a, STARPU_MATRIX_GET_LD(buffers[0]), b,
        STARPU_MATRIX_GET_LD(buffers[1]), c, STARPU_MATRIX_GET_LD(buffers[2]),
        rows, columns, STARPU_MATRIX_GET_NY(buffers[0]));
    error = cudaGetLastError();
    if (error != cudaSuccess)
        STARPU_CUDA_REPORT_ERROR(error);
}
