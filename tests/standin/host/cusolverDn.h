/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/host/cusolverDn.h - as cublas_v2.h, of cuSOLVER. The work space that
 * it asks for is only as large as a test can notice. */
#pragma once

#include "cublas_v2.h"

extern "C" void spotrf_(const char *part, const int *n, float *a,
                        const int *lda, int *info);

typedef struct cusolverDnContext *cusolverDnHandle_t;
enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS = 0 };

static inline cusolverStatus_t
cusolverDnSpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t part,
                            int n, float *a, int lda, int *ret)
{
    (void)handle;
    (void)part;
    (void)a;
    (void)lda;
    *ret = n;
    return CUSOLVER_STATUS_SUCCESS;
}

static inline cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t handle,
                                                cublasFillMode_t part, int n,
                                                float *a, int lda, float *work,
                                                int nwork, int *info)
{
    (void)part;
    return static_cast<cusolverStatus_t>(standin_in_stream_of(handle, [=] {
        float *space = standin_argument(work);

        for (int i = 0; i < nwork; i++)
            space[i] = 0;
        spotrf_("L", &n, standin_argument(a), &lda, standin_argument(info));
    }));
}
