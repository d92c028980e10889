/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/blas.c - vendors' libraries of algorithms, as far as their handles
 * go: a handle begins with its stream. */
#include <stdatomic.h>
#include <stdlib.h>

struct handle {
    void *stream;
};

static atomic_int nhandles;

int standin_handles(void);
int standin_handles(void)
{
    return atomic_load(&nhandles);
}

static int make(void **ret)
{
    *ret = calloc(1, sizeof(struct handle));
    atomic_fetch_add(&nhandles, *ret != NULL);
    return *ret ? 0 : 3;
}

static int end(void *handle)
{
    free(handle);
    atomic_fetch_sub(&nhandles, 1);
    return 0;
}

static int set_stream(void *handle, void *stream)
{
    ((struct handle *)handle)->stream = stream;
    return 0;
}

#define HANDLE(make_name, end_name)                                            \
    int make_name(void **ret);                                                 \
    int make_name(void **ret)                                                  \
    {                                                                          \
        return make(ret);                                                      \
    }                                                                          \
    int end_name(void *handle);                                                \
    int end_name(void *handle)                                                 \
    {                                                                          \
        return end(handle);                                                    \
    }
#define STREAM(name)                                                           \
    int name(void *handle, void *stream);                                      \
    int name(void *handle, void *stream)                                       \
    {                                                                          \
        return set_stream(handle, stream);                                     \
    }
HANDLE(cublasCreate_v2, cublasDestroy_v2)
STREAM(cublasSetStream_v2)
HANDLE(cublasLtCreate, cublasLtDestroy)
HANDLE(cusparseCreate, cusparseDestroy)
STREAM(cusparseSetStream)
HANDLE(cusolverDnCreate, cusolverDnDestroy)
STREAM(cusolverDnSetStream)
HANDLE(cusolverSpCreate, cusolverSpDestroy)
STREAM(cusolverSpSetStream)
HANDLE(cusolverRfCreate, cusolverRfDestroy)
HANDLE(hipblasCreate, hipblasDestroy)
STREAM(hipblasSetStream)

int cublasSetKernelStream(void *stream);
int cublasSetKernelStream(void *stream)
{
    return stream ? 0 : 7;
}
