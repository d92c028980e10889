/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cuda.h - CUDA for codelets' cuda_funcs. All functions are there in any
 * build of the library, which opens NVIDIA's driver when it runs; where the
 * compiler finds the headers of CUDA's toolkit, they are included, and
 * STARPU_USE_CUDA is defined. Structures are the same either way.
 *
 * A codelet's function is called by a CUDA worker, with its device current, and
 * buffers in that device's memory. It puts kernels into the worker's stream and
 * waits for them, unless the codelet's cuda_flags say STARPU_CUDA_ASYNC. Streams
 * do not wait for CUDA's default stream.
 */
#pragma once

#include <stddef.h>

#include <starpu_config.h>

#ifdef STARPU_USE_CUDA
#    ifndef _ORR_LEAN
#        include <cuda.h>
#    endif
#    include <cuda_runtime.h>
#    include <cuda_runtime_api.h>
#    if defined(STARPU_HAVE_NVML_H) && !defined(_ORR_LEAN)
#        include <nvml.h>
#    endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* As CUDA's own headers define them, or of the same size. */
typedef struct CUstream_st *starpu_cudaStream_t;
struct nvmlDevice_st;
#ifdef STARPU_USE_CUDA
typedef cudaError_t starpu_cudaError_t;
typedef enum cudaMemcpyKind starpu_cudaMemcpyKind_t;
#else
typedef int starpu_cudaError_t;
typedef int starpu_cudaMemcpyKind_t; /* 1: to a device, 2: from it, 3: among
                                      * devices */
#endif

/* The stream of the calling CUDA worker; lent. Called elsewhere it ends the
 * program with a message. */
starpu_cudaStream_t starpu_cuda_get_local_stream(void);

/* Makes the device current in the calling thread, as cudaSetDevice does: `devid`
 * is CUDA's number of a device that has a worker. Else it ends the program with a
 * message. */
void starpu_cuda_set_device(unsigned devid);

/* The device as NVML knows it; NULL: it has none, or there is no NVML. */
struct nvmlDevice_st *starpu_cuda_get_nvmldev(unsigned devid);

/* Copies `ssize` bytes between the memory nodes, one of which at least is of a CUDA
 * device: in `stream` they are made later, and -EAGAIN is returned; if that is
 * NULL they have been made on return, with 0. -EIO and -ENODEV with a message.
 * `kind` is what the nodes say. */
int starpu_cuda_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
                                unsigned dst_node, size_t ssize,
                                starpu_cudaStream_t stream,
                                starpu_cudaMemcpyKind_t kind);
/* The same of `numblocks` blocks of `blocksize` bytes, which begin ld_src and ld_dst
 * bytes apart. */
int starpu_cuda_copy2d_async_sync(void *src_ptr, unsigned src_node,
                                  void *dst_ptr, unsigned dst_node,
                                  size_t blocksize, size_t numblocks,
                                  size_t ld_src, size_t ld_dst,
                                  starpu_cudaStream_t stream,
                                  starpu_cudaMemcpyKind_t kind);
/* The same of numblocks_2 of those, which begin ld2_src and ld2_dst bytes apart. */
int starpu_cuda_copy3d_async_sync(void *src_ptr, unsigned src_node,
                                  void *dst_ptr, unsigned dst_node,
                                  size_t blocksize, size_t numblocks_1,
                                  size_t ld1_src, size_t ld1_dst,
                                  size_t numblocks_2, size_t ld2_src,
                                  size_t ld2_dst, starpu_cudaStream_t stream,
                                  starpu_cudaMemcpyKind_t kind);

/* Prints the error and ends the program. */
void starpu_cuda_report_error(const char *func, const char *file, int line,
                              starpu_cudaError_t status)
#ifdef __GNUC__
    __attribute__((noreturn))
#endif
    ;
#define STARPU_CUDA_REPORT_ERROR(status)                                       \
    starpu_cuda_report_error(__starpu_func__, __FILE__, __LINE__, status)
/* Prints cuBLAS's status and ends the program. */
void starpu_cublas_report_error(const char *func, const char *file, int line,
                                int status)
#ifdef __GNUC__
    __attribute__((noreturn))
#endif
    ;
#define STARPU_CUBLAS_REPORT_ERROR(status)                                     \
    starpu_cublas_report_error(__starpu_func__, __FILE__, __LINE__,            \
                               (int)(status))

#ifdef __cplusplus
}
#endif

#ifdef STARPU_USE_CUDA
#    include <starpu_stdlib.h>
#    include <starpu_thread.h>
#    include <starpu_worker.h>

#    ifdef __cplusplus
extern "C" {
#    endif
int orrery_is_simulated(void);
#    ifdef __cplusplus
}
#    endif

/* The properties of a CUDA worker's device, with the memory that data may take; lent
 * until starpu_shutdown. They are those of the application's own version of CUDA's
 * runtime library, which it links. On a simulated machine, where no such device may
 * be: its name, that memory, and a version (major) that no kernel is too new for; all
 * else is 0. NULL: the worker is of another type. */
#    ifdef __GNUC__
__attribute__((unused))
#    endif
static inline const struct cudaDeviceProp *
starpu_cuda_get_device_properties(unsigned workerid)
{
    static starpu_pthread_mutex_t lock = STARPU_PTHREAD_MUTEX_INITIALIZER;
    static struct cudaDeviceProp all[STARPU_MAXCUDADEVS];
    static int filled[STARPU_MAXCUDADEVS];
    int device = starpu_worker_get_devid((int)workerid);
    struct cudaDeviceProp *found;
    starpu_ssize_t total;

    if (starpu_worker_get_type((int)workerid) != STARPU_CUDA_WORKER ||
        device >= STARPU_MAXCUDADEVS)
        return NULL;
    found = &all[device];
    starpu_pthread_mutex_lock(&lock);
    if (orrery_is_simulated()) {
        starpu_worker_get_name((int)workerid, found->name, sizeof(found->name));
        found->major = 9999;
    } else if (!filled[device]) {
        cudaError_t status = cudaGetDeviceProperties(found, device);

        if (status != cudaSuccess)
            STARPU_CUDA_REPORT_ERROR(status);
        filled[device] = 1;
    }
    /* Another run may have other limits. */
    total = starpu_memory_get_total(starpu_worker_get_memory_node(workerid));
    if (total >= 0 && found->totalGlobalMem != (size_t)total)
        found->totalGlobalMem = (size_t)total;
    starpu_pthread_mutex_unlock(&lock);
    return found;
}
#endif
