/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/gpu.c - starpu_cuda.h and starpu_hip.h on the drivers of the running
 * machine. A simulated one has none, and nothing of a vendor's is opened for it.
 * Any thread, if it may block.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu_cusolver.h>
#include <starpu_hipblas.h>

#include "core/api/api.h"
#include "core/device/gpu/gpu.h"
#include "core/device/nvml.h"

/* The machine's driver; ends the program with a message if there is none. */
static struct gpu *gpu_driver_needed(const char *call,
                                     const struct gpu_vendor *vendor)
{
    struct gpu *driver = orr_gpu_of(orr_runtime_need(call)->machine, vendor);

    if (driver)
        return driver;
    orr_log_error("%s: this machine has no %s device in use: ask for the "
                  "number of its workers first",
                  call, vendor->display);
    abort();
}

/* -- streams -- */

static gpu_stream_t local_stream(const char *call,
                                 const struct gpu_vendor *vendor)
{
    struct gpu *driver = gpu_driver_needed(call, vendor);
    int id = starpu_worker_get_id();
    struct gpu_worker *worker =
        id < 0 ? NULL : orr_gpu_worker(driver, (unsigned)id);

    if (worker)
        return worker->kernels.stream;
    orr_log_error("%s may only be called by a %s worker, from a codelet's "
                  "function for it",
                  call, vendor->display);
    abort();
}

starpu_cudaStream_t starpu_cuda_get_local_stream(void)
{
    return local_stream(__func__, &orr_gpu_cuda);
}

starpu_hipStream_t starpu_hip_get_local_stream(void)
{
    return local_stream(__func__, &orr_gpu_hip);
}

/* The driver that has the worker, or NULL: it is of no GPU, or simulated. */
static struct gpu *driver_of_worker(const struct orr_machine *machine,
                                    int worker)
{
    static const struct gpu_vendor *const vendors[] = {&orr_gpu_cuda,
                                                       &orr_gpu_hip};

    for (unsigned i = 0; worker >= 0 && i < 2; i++) {
        struct gpu *driver = orr_gpu_of(machine, vendors[i]);

        if (driver && orr_gpu_of_worker(driver, (unsigned)worker))
            return driver;
    }
    return NULL;
}

void *orrery_worker_queue(int worker)
{
    ORR_QUESTION();
    struct gpu *driver =
        driver_of_worker(orr_runtime_need(__func__)->machine, worker);

    return driver ? orr_gpu_worker(driver, (unsigned)worker)->kernels.stream
                  : NULL;
}

int orrery_queue_after(void *later, int later_worker, void *earlier,
                       int earlier_worker)
{
    const struct orr_machine *machine = orr_runtime_need(__func__)->machine;
    struct gpu *driver = driver_of_worker(machine, later_worker);

    if (driver && driver == driver_of_worker(machine, earlier_worker))
        return orr_gpu_stream_after(
            orr_gpu_of_worker(driver, (unsigned)later_worker), later,
            orr_gpu_of_worker(driver, (unsigned)earlier_worker), earlier);
    orr_log_error("%s: workers %d and %d are not of GPUs of one vendor: ask "
                  "orrery_worker_queue() first, which is NULL for others",
                  __func__, later_worker, earlier_worker);
    return -EINVAL;
}

/* -- devices -- */

static void set_device(const char *call, const struct gpu_vendor *vendor,
                       int devid)
{
    struct gpu *driver = gpu_driver_needed(call, vendor);
    struct gpu_device *device = NULL;
    int code;

    if (devid >= 0 && (unsigned)devid < driver->ndevices)
        device = &driver->devices[devid];
    if (!device || !device->used) {
        orr_log_error("%s: there is no worker of %s device %d", call,
                      vendor->display, devid);
        abort();
    }
    code = vendor->use(device);
    if (!code)
        return;
    orr_log_error("%s: %s device %d: %s (%d)", call, vendor->display, devid,
                  gpu_words(&driver->api, code), code);
    abort();
}

void starpu_cuda_set_device(unsigned devid)
{
    set_device(__func__, &orr_gpu_cuda, devid > INT16_MAX ? -1 : (int)devid);
}

void starpu_hip_set_device(int devid)
{
    set_device(__func__, &orr_gpu_hip, devid);
}

struct nvmlDevice_st *starpu_cuda_get_nvmldev(unsigned devid)
{
    ORR_QUESTION();
    struct gpu *driver = orr_gpu_of(ORR_API_RUNTIME()->machine, &orr_gpu_cuda);

    return driver && devid < driver->ndevices
               ? orr_nvml_device(driver->devices[devid].bus)
               : NULL;
}

/* -- copies -- */

static int gpu_copy_bytes(const char *call, const struct gpu_vendor *vendor,
                          struct orr_raw_copy *raw, gpu_stream_t stream)
{
    struct gpu *driver = gpu_driver_needed(call, vendor);
    const struct orr_machine *machine = driver->head.machine;

    (void)orr_api_node(call, raw->src_node);
    (void)orr_api_node(call, raw->dst_node);
    if (orr_machine_copier(machine, raw->src_node, raw->dst_node) !=
        &driver->head) {
        orr_log_error("%s: neither memory node %u (%s) nor %u (%s) is a %s "
                      "device's",
                      call, raw->src_node, machine->nodes[raw->src_node].name,
                      raw->dst_node, machine->nodes[raw->dst_node].name,
                      vendor->display);
        abort();
    }
    if (raw->size == 0)
        return 0;
    for (unsigned i = 0; i < raw->levels; i++)
        if (raw->n[i] == 0)
            return 0;
    return orr_gpu_copy(driver, raw, stream);
}

static struct orr_raw_copy bytes(void *src, unsigned src_node, void *dst,
                                 unsigned dst_node, size_t size)
{
    return (struct orr_raw_copy){
        .src = (uintptr_t)src,
        .dst = (uintptr_t)dst,
        .src_node = src_node,
        .dst_node = dst_node,
        .size = size,
    };
}

static void repeat(struct orr_raw_copy *raw, size_t n, size_t src_step,
                   size_t dst_step)
{
    raw->n[raw->levels] = n;
    raw->src_step[raw->levels] = src_step;
    raw->dst_step[raw->levels] = dst_step;
    raw->levels++;
}

/* The calls of one vendor. */
#define COPIES(vendor, stream_type, kind_type)                                 \
    int starpu_##vendor##_copy_async_sync(                                     \
        void *src_ptr, unsigned src_node, void *dst_ptr, unsigned dst_node,    \
        size_t ssize, stream_type stream, kind_type kind)                      \
    {                                                                          \
        struct orr_raw_copy raw =                                              \
            bytes(src_ptr, src_node, dst_ptr, dst_node, ssize);                \
                                                                               \
        (void)kind;                                                            \
        return gpu_copy_bytes(__func__, &orr_gpu_##vendor, &raw, stream);      \
    }                                                                          \
                                                                               \
    int starpu_##vendor##_copy2d_async_sync(                                   \
        void *src_ptr, unsigned src_node, void *dst_ptr, unsigned dst_node,    \
        size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst,      \
        stream_type stream, kind_type kind)                                    \
    {                                                                          \
        struct orr_raw_copy raw =                                              \
            bytes(src_ptr, src_node, dst_ptr, dst_node, blocksize);            \
                                                                               \
        (void)kind;                                                            \
        repeat(&raw, numblocks, ld_src, ld_dst);                               \
        return gpu_copy_bytes(__func__, &orr_gpu_##vendor, &raw, stream);      \
    }                                                                          \
                                                                               \
    int starpu_##vendor##_copy3d_async_sync(                                   \
        void *src_ptr, unsigned src_node, void *dst_ptr, unsigned dst_node,    \
        size_t blocksize, size_t numblocks_1, size_t ld1_src, size_t ld1_dst,  \
        size_t numblocks_2, size_t ld2_src, size_t ld2_dst,                    \
        stream_type stream, kind_type kind)                                    \
    {                                                                          \
        struct orr_raw_copy raw =                                              \
            bytes(src_ptr, src_node, dst_ptr, dst_node, blocksize);            \
                                                                               \
        (void)kind;                                                            \
        repeat(&raw, numblocks_1, ld1_src, ld1_dst);                           \
        repeat(&raw, numblocks_2, ld2_src, ld2_dst);                           \
        return gpu_copy_bytes(__func__, &orr_gpu_##vendor, &raw, stream);      \
    }
COPIES(cuda, starpu_cudaStream_t, starpu_cudaMemcpyKind_t)
COPIES(hip, starpu_hipStream_t, starpu_hipMemcpyKind_t)
#undef COPIES

/* -- errors -- */

static _Noreturn void report(const char *call, const char *func,
                             const char *file, int line, int code,
                             const char *words)
{
    fprintf(stderr, "[starpu][%s] oops in %s (%s:%d)... %d: %s\n", call, func,
            file, line, code, words);
    abort();
}

/* The library's text for the code; "error" if the library is not open. */
static const char *gpu_error_text(const struct gpu_vendor *vendor, int code)
{
    struct orr_runtime *rt = orr_runtime_current("starpu_cuda_report_error");
    struct gpu *driver = rt ? orr_gpu_of(rt->machine, vendor) : NULL;

    return driver ? gpu_words(&driver->api, code) : "error";
}

void starpu_cuda_report_error(const char *func, const char *file, int line,
                              starpu_cudaError_t status)
{
    report(__func__, func, file, line, (int)status,
           gpu_error_text(&orr_gpu_cuda, (int)status));
}

void starpu_hip_report_error(const char *func, const char *file, int line,
                             starpu_hipError_t status)
{
    report(__func__, func, file, line, (int)status,
           gpu_error_text(&orr_gpu_hip, (int)status));
}

static const char *word(const char *const *words, unsigned n, int status)
{
    return status >= 0 && (unsigned)status < n && words[status]
               ? words[status]
               : "unknown error";
}

#define WORD(words, status)                                                    \
    word(words, sizeof(words) / sizeof(words[0]), (int)(status))

void starpu_cublas_report_error(const char *func, const char *file, int line,
                                int status)
{
    static const char *const words[] = {
        [0] = "success",
        [1] = "not initialized",
        [3] = "resource allocation failed",
        [7] = "invalid value",
        [8] = "architecture mismatch",
        [11] = "mapping error",
        [13] = "execution failed",
        [14] = "internal error",
        [15] = "not supported",
        [16] = "license error",
    };

    report(__func__, func, file, line, status, WORD(words, status));
}

void starpu_cusolver_report_error(const char *func, const char *file, int line,
                                  starpu_cusolverStatus_t status)
{
    static const char *const words[] = {
        "success",
        "not initialized",
        "resource allocation failed",
        "invalid value",
        "architecture mismatch",
        "mapping error",
        "execution failed",
        "internal error",
        "matrix type not supported",
        "not supported",
    };

    report(__func__, func, file, line, (int)status, WORD(words, status));
}

void starpu_hipblas_report_error(const char *func, const char *file, int line,
                                 starpu_hipError_t error)
{
    report(__func__, func, file, line, (int)error,
           gpu_error_text(&orr_gpu_hip, (int)error));
}

void starpu_hipblas_report_status(const char *func, const char *file, int line,
                                  starpu_hipblasStatus_t status)
{
    static const char *const words[] = {
        "HIPBLAS_STATUS_SUCCESS",        "HIPBLAS_STATUS_NOT_INITIALIZED",
        "HIPBLAS_STATUS_ALLOC_FAILED",   "HIPBLAS_STATUS_INVALID_VALUE",
        "HIPBLAS_STATUS_MAPPING_ERROR",  "HIPBLAS_STATUS_EXECUTION_FAILED",
        "HIPBLAS_STATUS_INTERNAL_ERROR", "HIPBLAS_STATUS_NOT_SUPPORTED",
        "HIPBLAS_STATUS_ARCH_MISMATCH",  "HIPBLAS_STATUS_HANDLE_IS_NULLPTR",
        "HIPBLAS_STATUS_INVALID_ENUM",   "HIPBLAS_STATUS_UNKNOWN",
    };

    report(__func__, func, file, line, (int)status, WORD(words, status));
}
