/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stencil.cu - the kernel of stencil.c for CUDA devices: a thread per point. */
#include <starpu.h>

/* In the order of stencil.c. */
enum { BAND, ABOVE, BELOW, NEW_BAND, NEW_FIRST, NEW_LAST };

static __global__ void step(const float *band, const float *above,
                            const float *below, float *to, float *first,
                            float *last, unsigned n, unsigned rows)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    size_t at = x + (size_t)y * n;
    float value;

    if (x >= n || y >= rows)
        return;
    value = band[at];
    if (x > 0 && x + 1 < n)
        value = ((y > 0 ? band[at - n] : above[x]) +
                 (y + 1 < rows ? band[at + n] : below[x]) + band[at - 1] +
                 band[at + 1]) /
                4;
    to[at] = value;
    if (y == 0)
        first[x] = value;
    if (y + 1 == rows)
        last[x] = value;
}

static float *row(void *buffer)
{
    return (float *)STARPU_VECTOR_GET_PTR(buffer);
}

extern "C" void step_cuda(void *buffers[], void *arg)
{
    unsigned n = STARPU_MATRIX_GET_NX(buffers[BAND]);
    unsigned rows = STARPU_MATRIX_GET_NY(buffers[BAND]);
    dim3 threads(32, 8), blocks((n + 31) / 32, (rows + 7) / 8);
    cudaError_t error;

    (void)arg;
    step<<<blocks, threads, 0, starpu_cuda_get_local_stream()>>>(
        (const float *)STARPU_MATRIX_GET_PTR(buffers[BAND]),
        row(buffers[ABOVE]), row(buffers[BELOW]),
        (float *)STARPU_MATRIX_GET_PTR(buffers[NEW_BAND]),
        row(buffers[NEW_FIRST]), row(buffers[NEW_LAST]), n, rows);
    error = cudaGetLastError();
    if (error != cudaSuccess)
        STARPU_CUDA_REPORT_ERROR(error);
}
