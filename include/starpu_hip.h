/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_hip.h - HIP for codelets' hip_funcs, as starpu_cuda.h is CUDA. Where the
 * compiler finds HIP's header, it is included, and STARPU_USE_HIP is defined.
 */
#pragma once

#include <stddef.h>

#include <starpu_config.h>

#ifdef STARPU_USE_HIP
#    if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#        define __HIP_PLATFORM_AMD__ 1
#    endif
#    if !defined(__HIP_PLATFORM_HCC__) && defined(__HIP_PLATFORM_AMD__)
#        define __HIP_PLATFORM_HCC__ 1
#    endif
#    include <hip/hip_runtime_api.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* As HIP's own header defines them, or of the same size. */
typedef struct ihipStream_t *starpu_hipStream_t;
#ifdef STARPU_USE_HIP
typedef hipError_t starpu_hipError_t;
typedef hipMemcpyKind starpu_hipMemcpyKind_t;
#else
typedef int starpu_hipError_t;
typedef int starpu_hipMemcpyKind_t; /* 1: to a device, 2: from it, 3: among
                                     * devices */
#endif

/* The stream of the calling HIP worker; lent. Called elsewhere it ends the program
 * with a message. */
starpu_hipStream_t starpu_hip_get_local_stream(void);

/* Makes the device current in the calling thread, as hipSetDevice does; see
 * starpu_cuda_set_device. */
void starpu_hip_set_device(int devid);

/* As starpu_cuda_copy_async_sync, for HIP's devices. */
int starpu_hip_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
                               unsigned dst_node, size_t ssize,
                               starpu_hipStream_t stream,
                               starpu_hipMemcpyKind_t kind);
/* As starpu_cuda_copy2d_async_sync. */
int starpu_hip_copy2d_async_sync(void *src_ptr, unsigned src_node,
                                 void *dst_ptr, unsigned dst_node,
                                 size_t blocksize, size_t numblocks,
                                 size_t ld_src, size_t ld_dst,
                                 starpu_hipStream_t stream,
                                 starpu_hipMemcpyKind_t kind);
/* As starpu_cuda_copy3d_async_sync. */
int starpu_hip_copy3d_async_sync(void *src_ptr, unsigned src_node,
                                 void *dst_ptr, unsigned dst_node,
                                 size_t blocksize, size_t numblocks_1,
                                 size_t ld1_src, size_t ld1_dst,
                                 size_t numblocks_2, size_t ld2_src,
                                 size_t ld2_dst, starpu_hipStream_t stream,
                                 starpu_hipMemcpyKind_t kind);

/* Prints the error and ends the program. */
void starpu_hip_report_error(const char *func, const char *file, int line,
                             starpu_hipError_t status)
#ifdef __GNUC__
    __attribute__((noreturn))
#endif
    ;
#define STARPU_HIP_REPORT_ERROR(status)                                        \
    starpu_hip_report_error(__starpu_func__, __FILE__, __LINE__, status)

#ifdef __cplusplus
}
#endif

#ifdef STARPU_USE_HIP
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

/* The properties of a HIP worker's device: see starpu_cuda_get_device_properties. */
#    ifdef __GNUC__
__attribute__((unused))
#    endif
static inline const struct hipDeviceProp_t *
starpu_hip_get_device_properties(unsigned workerid)
{
    static starpu_pthread_mutex_t lock = STARPU_PTHREAD_MUTEX_INITIALIZER;
    static struct hipDeviceProp_t all[STARPU_MAXHIPDEVS];
    static int filled[STARPU_MAXHIPDEVS];
    int device = starpu_worker_get_devid((int)workerid);
    struct hipDeviceProp_t *found;
    starpu_ssize_t total;

    if (starpu_worker_get_type((int)workerid) != STARPU_HIP_WORKER ||
        device >= STARPU_MAXHIPDEVS)
        return NULL;
    found = &all[device];
    starpu_pthread_mutex_lock(&lock);
    if (orrery_is_simulated()) {
        starpu_worker_get_name((int)workerid, found->name, sizeof(found->name));
        found->major = 9999;
    } else if (!filled[device]) {
        hipError_t status = hipGetDeviceProperties(found, device);

        if (status != hipSuccess)
            STARPU_HIP_REPORT_ERROR(status);
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
