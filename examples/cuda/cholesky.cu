/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cholesky.cu - the kernels of cholesky/ for CUDA devices, by cuBLAS and cuSOLVER.
 * The library makes a handle of each per worker, with the worker's stream.
 */
#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>
#include <cusolverDn.h>
#include <orrery.h>
#include <starpu.h>
#include <starpu_cublas.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

extern "C" {
#include "../cholesky/kernels.h"
}

/* The tile of a buffer. */
struct tile {
    float *at;
    int rows, columns, ld;

    explicit tile(void *buffer)
        : at((float *)STARPU_MATRIX_GET_PTR(buffer)),
          rows((int)STARPU_MATRIX_GET_NX(buffer)),
          columns((int)STARPU_MATRIX_GET_NY(buffer)),
          ld((int)STARPU_MATRIX_GET_LD(buffer))
    {
    }
};

static const float one = 1, minus_one = -1;

static void check(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        STARPU_CUBLAS_REPORT_ERROR(status);
}

static void check(cusolverStatus_t status)
{
    if (status != CUSOLVER_STATUS_SUCCESS)
        STARPU_CUSOLVER_REPORT_ERROR((starpu_cusolverStatus_t)status);
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess)
        STARPU_CUDA_REPORT_ERROR(error);
}

/* What spotrf works in, of each worker, on its device: floats, and an int. */
static struct {
    float *floats;
    int nfloats, *info;
} works[STARPU_NMAXWORKERS];

/* It waits for its result, to look at it. */
static void potrf(void *buffers[], void *arg)
{
    tile a(buffers[0]);
    cusolverDnHandle_t handle = starpu_cusolverDn_get_local_handle();
    cudaStream_t stream = starpu_cuda_get_local_stream();
    auto &work = works[starpu_worker_get_id()];
    int n, info;

    (void)arg;
    check(cusolverDnSpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, a.rows,
                                      a.at, a.ld, &n));
    if (!work.info)
        check(cudaMalloc((void **)&work.info, sizeof(*work.info)));
    if (n > work.nfloats) {
        check(cudaFree(work.floats));
        check(cudaMalloc((void **)&work.floats, (size_t)n * sizeof(float)));
        work.nfloats = n;
    }
    check(cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, a.rows, a.at, a.ld,
                           work.floats, n, work.info));
    check(cudaMemcpyAsync(&info, work.info, sizeof(info),
                          cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    if (info != 0) {
        fprintf(stderr,
                "cholesky: the matrix is not positive definite "
                "(cusolverDnSpotrf says %d)\n",
                info);
        exit(EXIT_FAILURE);
    }
}

static void trsm(void *buffers[], void *arg)
{
    tile l(buffers[0]), a(buffers[1]);

    (void)arg;
    check(cublasStrsm(starpu_cublas_get_local_handle(), CUBLAS_SIDE_RIGHT,
                      CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
                      a.rows, a.columns, &one, l.at, l.ld, a.at, a.ld));
}

static void syrk(void *buffers[], void *arg)
{
    tile l(buffers[0]), a(buffers[1]);

    (void)arg;
    check(cublasSsyrk(starpu_cublas_get_local_handle(), CUBLAS_FILL_MODE_LOWER,
                      CUBLAS_OP_N, a.rows, l.columns, &minus_one, l.at, l.ld,
                      &one, a.at, a.ld));
}

static void gemm(void *buffers[], void *arg)
{
    tile l(buffers[0]), m(buffers[1]), a(buffers[2]);

    (void)arg;
    check(cublasSgemm(starpu_cublas_get_local_handle(), CUBLAS_OP_N,
                      CUBLAS_OP_T, a.rows, a.columns, l.columns, &minus_one,
                      l.at, l.ld, m.at, m.ld, &one, a.at, a.ld));
}

/* A simulated device needs no functions: its models say what it can run. */
static bool is_needed()
{
    return !orrery_is_simulated() && starpu_cuda_worker_get_count() > 0;
}

extern "C" void kernels_cuda_load(void)
{
    if (!is_needed())
        return;
    starpu_cublas_init();
    starpu_cusolver_init();
    cl_potrf.cuda_funcs[0] = potrf;
    cl_trsm.cuda_funcs[0] = trsm;
    cl_syrk.cuda_funcs[0] = syrk;
    cl_gemm.cuda_funcs[0] = gemm;
}

static void free_work(void *arg)
{
    auto &work = works[starpu_worker_get_id()];

    (void)arg;
    check(cudaFree(work.floats));
    check(cudaFree(work.info));
    work = {};
}

extern "C" void kernels_cuda_unload(void)
{
    if (!is_needed())
        return;
    starpu_execute_on_each_worker(free_work, NULL, STARPU_CUDA);
    starpu_cusolver_shutdown();
    starpu_cublas_shutdown();
}
