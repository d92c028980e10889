/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/host/cublas_v2.h - as much of cuBLAS as the examples need, by the
 * host's BLAS in the handle's stream (../blas.c: a handle begins with that).
 */
#pragma once

#include "cuda_runtime.h"

extern "C" {
#include <cblas.h>
}

typedef struct cublasContext *cublasHandle_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = CblasLower };
enum cublasSideMode_t { CUBLAS_SIDE_RIGHT = CblasRight };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = CblasNonUnit };
enum cublasOperation_t { CUBLAS_OP_N = CblasNoTrans, CUBLAS_OP_T = CblasTrans };

/* Keeps the library of ../blas.c linked, so that handles are its. */
extern "C" int standin_handles(void);
__attribute__((used)) static int (*const standin_blas)(void) = standin_handles;

template <typename Handle, typename Function>
static inline int standin_in_stream_of(Handle handle, Function function)
{
    return standin_put(*reinterpret_cast<void **>(handle), function);
}

static inline cublasStatus_t
cublasStrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t part,
            cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,
            const float *alpha, const float *a, int lda, float *b, int ldb)
{
    float factor = *alpha;

    return static_cast<cublasStatus_t>(standin_in_stream_of(handle, [=] {
        cblas_strsm(CblasColMajor, static_cast<CBLAS_SIDE>(side),
                    static_cast<CBLAS_UPLO>(part),
                    static_cast<CBLAS_TRANSPOSE>(op),
                    static_cast<CBLAS_DIAG>(diagonal), m, n, factor,
                    standin_argument(a), lda, standin_argument(b), ldb);
    }));
}

static inline cublasStatus_t
cublasSsyrk(cublasHandle_t handle, cublasFillMode_t part, cublasOperation_t op,
            int n, int k, const float *alpha, const float *a, int lda,
            const float *beta, float *c, int ldc)
{
    float factor = *alpha, old = *beta;

    return static_cast<cublasStatus_t>(standin_in_stream_of(handle, [=] {
        cblas_ssyrk(CblasColMajor, static_cast<CBLAS_UPLO>(part),
                    static_cast<CBLAS_TRANSPOSE>(op), n, k, factor,
                    standin_argument(a), lda, old, standin_argument(c), ldc);
    }));
}

static inline cublasStatus_t
cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a,
            cublasOperation_t op_b, int m, int n, int k, const float *alpha,
            const float *a, int lda, const float *b, int ldb, const float *beta,
            float *c, int ldc)
{
    float factor = *alpha, old = *beta;

    return static_cast<cublasStatus_t>(standin_in_stream_of(handle, [=] {
        cblas_sgemm(CblasColMajor, static_cast<CBLAS_TRANSPOSE>(op_a),
                    static_cast<CBLAS_TRANSPOSE>(op_b), m, n, k, factor,
                    standin_argument(a), lda, standin_argument(b), ldb, old,
                    standin_argument(c), ldc);
    }));
}
