/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/abi-hip.c - as abi-cuda.c, with AMD's header. */
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#include <hip/hip_runtime_api.h>

#include <stddef.h>

#include "core/device/gpu/api.h"
#include "core/device/hip/copy.h"

#define SAME(field, ours)                                                      \
    _Static_assert(offsetof(struct hipMemcpy3DParms, field) ==                 \
                       offsetof(struct hip_copy, ours),                        \
                   #field)
SAME(srcArray, src.array);
SAME(srcPos, src.x);
SAME(srcPtr.ptr, src.address);
SAME(srcPtr.pitch, src.pitch);
SAME(srcPtr.ysize, src.height);
SAME(dstArray, dst.array);
SAME(dstPtr.ptr, dst.address);
SAME(dstPtr.pitch, dst.pitch);
SAME(dstPtr.ysize, dst.height);
SAME(extent.width, width);
SAME(extent.height, height);
SAME(extent.depth, depth);
SAME(kind, kind);

#define VALUE(theirs, ours)                                                    \
    _Static_assert((int)(theirs) == (int)(ours), #theirs)
VALUE(hipMemcpyHostToDevice, HOST_TO_DEVICE);
VALUE(hipMemcpyDeviceToHost, DEVICE_TO_HOST);
VALUE(hipMemcpyDeviceToDevice, DEVICE_TO_DEVICE);
VALUE(hipStreamNonBlocking, GPU_STREAM_NON_BLOCKING);
VALUE(hipEventDisableTiming, GPU_EVENT_WITHOUT_TIME);
VALUE(hipHostMallocPortable, GPU_HOST_PORTABLE);
VALUE(hipHostRegisterPortable, GPU_HOST_PORTABLE);
VALUE(hipErrorOutOfMemory, GPU_OUT_OF_MEMORY);
VALUE(hipErrorNoDevice, GPU_NO_DEVICE);
VALUE(hipErrorPeerAccessAlreadyEnabled, GPU_PEER_ALREADY_OPEN);
VALUE(hipErrorIllegalAddress, 700);
VALUE(hipErrorLaunchFailure, 719);

void *abi_hip(void);
void *abi_hip(void)
{
    hipError_t (*callback)(hipStream_t, hipStreamCallback_t, void *, unsigned) =
        hipStreamAddCallback;
    hipError_t (*peer)(void *, int, const void *, int, size_t, hipStream_t) =
        hipMemcpyPeerAsync;
    hipError_t (*copy)(const struct hipMemcpy3DParms *, hipStream_t) =
        hipMemcpy3DAsync;
    hipError_t (*fill)(hipDeviceptr_t, unsigned char, size_t, hipStream_t) =
        hipMemsetD8Async;
    hipError_t (*record)(hipEvent_t, hipStream_t) = hipEventRecord;
    hipError_t (*bus)(char *, int, int) = hipDeviceGetPCIBusId;
    hipError_t (*memory)(size_t *, hipDevice_t) = hipDeviceTotalMem;
    hipError_t (*can)(int *, int, int) = hipDeviceCanAccessPeer;
    hipError_t (*host)(void **, size_t, unsigned) = hipHostMalloc;
    hipError_t (*device)(hipDevice_t *, int) = hipDeviceGet;
    const char *(*words)(hipError_t) = hipGetErrorString;
    hipError_t (*open_peer)(int, unsigned) = hipDeviceEnablePeerAccess;
    hipError_t (*wait)(hipStream_t, hipEvent_t, unsigned) = hipStreamWaitEvent;
    void *all[] = {&callback, &peer, &copy,   &fill,  &record,    &bus, &memory,
                   &can,      &host, &device, &words, &open_peer, &wait};

    return all[0];
}
