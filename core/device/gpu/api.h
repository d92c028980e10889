/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/api.h - vendors' libraries as this driver uses them: entry
 * points of CUDA's driver interface and of HIP that have the same parameters,
 * under names of our own, with types of our own. Declarations and codes are
 * those of the vendors' public references. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Handles. Devices are numbers, addresses are uintptr_t, results are codes. */
typedef int gpu_device_t;
typedef void *gpu_context_t;
typedef void *gpu_stream_t;
typedef void *gpu_event_t;
typedef void (*gpu_callback_t)(gpu_stream_t stream, int code, void *arg);

enum {
    GPU_SUCCESS = 0,
    GPU_INVALID_VALUE = 1,
    GPU_OUT_OF_MEMORY = 2,
    GPU_NO_DEVICE = 100,
    GPU_NOT_READY = 600,
    GPU_PEER_ALREADY_OPEN = 704,
    GPU_ALREADY_PINNED = 712,

    GPU_STREAM_NON_BLOCKING = 1, /* towards the default stream */
    GPU_EVENT_DEFAULT = 0,
    GPU_EVENT_WITHOUT_TIME = 2,
    GPU_HOST_PORTABLE = 1, /* pinned for all contexts */
};

/* X(name, CUDA's name, HIP's name, parameters) */
#define GPU_FUNCTIONS(X)                                                       \
    X(init, "cuInit", "hipInit", (unsigned flags))                             \
    X(version, "cuDriverGetVersion", "hipDriverGetVersion", (int *))           \
    X(count, "cuDeviceGetCount", "hipGetDeviceCount", (int *))                 \
    X(device, "cuDeviceGet", "hipDeviceGet", (gpu_device_t *, int))            \
    X(name, "cuDeviceGetName", "hipDeviceGetName",                             \
      (char *, int, gpu_device_t))                                             \
    X(memory, "cuDeviceTotalMem_v2", "hipDeviceTotalMem",                      \
      (size_t *, gpu_device_t))                                                \
    X(bus, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId",                      \
      (char *, int, gpu_device_t))                                             \
    X(can_access, "cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer",           \
      (int *, gpu_device_t, gpu_device_t))                                     \
    X(alloc, "cuMemAlloc_v2", "hipMalloc", (uintptr_t *, size_t))              \
    X(free, "cuMemFree_v2", "hipFree", (uintptr_t))                            \
    X(host_register, "cuMemHostRegister_v2", "hipHostRegister",                \
      (void *, size_t, unsigned))                                              \
    X(host_unregister, "cuMemHostUnregister", "hipHostUnregister", (void *))   \
    X(stream_create, "cuStreamCreate", "hipStreamCreateWithFlags",             \
      (gpu_stream_t *, unsigned))                                              \
    X(stream_destroy, "cuStreamDestroy_v2", "hipStreamDestroy",                \
      (gpu_stream_t))                                                          \
    X(stream_synchronize, "cuStreamSynchronize", "hipStreamSynchronize",       \
      (gpu_stream_t))                                                          \
    X(stream_wait, "cuStreamWaitEvent", "hipStreamWaitEvent",                  \
      (gpu_stream_t, gpu_event_t, unsigned))                                   \
    X(stream_callback, "cuStreamAddCallback", "hipStreamAddCallback",          \
      (gpu_stream_t, gpu_callback_t, void *, unsigned))                        \
    X(event_create, "cuEventCreate", "hipEventCreateWithFlags",                \
      (gpu_event_t *, unsigned))                                               \
    X(event_destroy, "cuEventDestroy_v2", "hipEventDestroy", (gpu_event_t))    \
    X(event_record, "cuEventRecord", "hipEventRecord",                         \
      (gpu_event_t, gpu_stream_t))                                             \
    X(event_elapsed, "cuEventElapsedTime", "hipEventElapsedTime",              \
      (float *, gpu_event_t, gpu_event_t))                                     \
    X(to_device, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync",                 \
      (uintptr_t, const void *, size_t, gpu_stream_t))                         \
    X(to_host, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync",                   \
      (void *, uintptr_t, size_t, gpu_stream_t))                               \
    X(within, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync",                    \
      (uintptr_t, uintptr_t, size_t, gpu_stream_t))                            \
    X(fill, "cuMemsetD8Async", "hipMemsetD8Async",                             \
      (uintptr_t, unsigned char, size_t, gpu_stream_t))

/* Their numbers. */
enum gpu_entry {
#define GPU_ENTRY(name, cuda, hip, parameters) GPU_ENTRY_##name,
    GPU_FUNCTIONS(GPU_ENTRY)
#undef GPU_ENTRY
};

/* Entries of one vendor, by number: see its folder. */
enum { GPU_MAX_OWN = 12 };

struct gpu_api {
    void *handle; /* owned */
    const struct gpu_library *library;
#define GPU_FUNCTION(name, cuda, hip, parameters) int(*name) parameters;
    GPU_FUNCTIONS(GPU_FUNCTION)
#undef GPU_FUNCTION
    void (*own[GPU_MAX_OWN])(void);
};

/* Where a vendor's library is looked for. */
struct gpu_library {
    const char *title;          /* "CUDA driver" */
    const char *const *files;   /* file names, the best first, then NULL */
    const char *const *devices; /* files of a system with such devices, NULL */
    const char *const *names;   /* of GPU_FUNCTIONS, by enum gpu_entry */
    const char *const *own;     /* of the vendor's own entries */
    unsigned nown;              /* at most GPU_MAX_OWN */
    const char *needed;         /* "a driver of version 450 or later" */
    /* A code in words. */
    const char *(*words)(const struct gpu_api *api, int code);
};

/* Whether there may be devices, as far as files say; opens nothing. */
bool gpu_may_have_devices(const struct gpu_library *library);

/* Opens the library: the file `path`, NULL for the usual ones. 0; -ENOENT with a
 * message that says what was looked for; -EINVAL with one that names the entry
 * that it lacks. gpu_api_close() ends it. */
int gpu_api_open(const struct gpu_library *library, const char *path,
                 struct gpu_api *ret, struct orr_error *err);
void gpu_api_close(struct gpu_api *api);

/* The code in words, "out of memory". */
const char *gpu_words(const struct gpu_api *api, int code);

/* What core is told of an operation: -ENOMEM, -ENODEV or -EIO; 0 for success.
 * After most errors of kernels nothing works in the context any more: the device
 * is lost, as far as this process goes. */
int gpu_errno(int code);

/* The same of one that was begun, and so not for lack of memory. */
int gpu_failure(int code);
