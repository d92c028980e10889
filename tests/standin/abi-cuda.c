/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/abi-cuda.c - compiled where NVIDIA's header is: what the driver
 * declares by itself is what that says. The functions are assigned with the types
 * of their parameters, so that one which has changed does not compile.
 */
#include <cuda.h>

#include <stddef.h>

#include "core/device/cuda/copy.h"

#define SAME(theirs, field, ours)                                              \
    _Static_assert(                                                            \
        offsetof(theirs, field) == offsetof(struct cuda_copy, ours), #field)
#define COPY(theirs)                                                           \
    SAME(theirs, srcXInBytes, src.x);                                          \
    SAME(theirs, srcY, src.y);                                                 \
    SAME(theirs, srcZ, src.z);                                                 \
    SAME(theirs, srcLOD, src.level);                                           \
    SAME(theirs, srcMemoryType, src.memory);                                   \
    SAME(theirs, srcHost, src.host);                                           \
    SAME(theirs, srcDevice, src.device);                                       \
    SAME(theirs, srcArray, src.array);                                         \
    SAME(theirs, srcPitch, src.pitch);                                         \
    SAME(theirs, srcHeight, src.height);                                       \
    SAME(theirs, dstXInBytes, dst.x);                                          \
    SAME(theirs, dstMemoryType, dst.memory);                                   \
    SAME(theirs, dstHost, dst.host);                                           \
    SAME(theirs, dstDevice, dst.device);                                       \
    SAME(theirs, dstPitch, dst.pitch);                                         \
    SAME(theirs, dstHeight, dst.height);                                       \
    SAME(theirs, WidthInBytes, width);                                         \
    SAME(theirs, Height, height);                                              \
    SAME(theirs, Depth, depth);                                                \
    _Static_assert(sizeof(theirs) == sizeof(struct cuda_copy), #theirs)
COPY(CUDA_MEMCPY3D);
COPY(CUDA_MEMCPY3D_PEER);
SAME(CUDA_MEMCPY3D_PEER, srcContext, src.context);
SAME(CUDA_MEMCPY3D_PEER, dstContext, dst.context);

#define VALUE(theirs, ours)                                                    \
    _Static_assert((int)(theirs) == (int)(ours), #theirs)
VALUE(CU_MEMORYTYPE_HOST, MEMORY_HOST);
VALUE(CU_MEMORYTYPE_DEVICE, MEMORY_DEVICE);
VALUE(CU_STREAM_NON_BLOCKING, GPU_STREAM_NON_BLOCKING);
VALUE(CU_EVENT_DEFAULT, GPU_EVENT_DEFAULT);
VALUE(CU_EVENT_DISABLE_TIMING, GPU_EVENT_WITHOUT_TIME);
VALUE(CU_MEMHOSTALLOC_PORTABLE, GPU_HOST_PORTABLE);
VALUE(CU_MEMHOSTREGISTER_PORTABLE, GPU_HOST_PORTABLE);
VALUE(CUDA_ERROR_INVALID_VALUE, GPU_INVALID_VALUE);
VALUE(CUDA_ERROR_OUT_OF_MEMORY, GPU_OUT_OF_MEMORY);
VALUE(CUDA_ERROR_NO_DEVICE, GPU_NO_DEVICE);
VALUE(CUDA_ERROR_NOT_READY, GPU_NOT_READY);
VALUE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, GPU_PEER_ALREADY_OPEN);
_Static_assert(sizeof(CUdeviceptr) == sizeof(uintptr_t), "addresses");
_Static_assert(sizeof(CUdevice) == sizeof(gpu_device_t), "devices");

void *abi_cuda(void);
void *abi_cuda(void)
{
    CUresult (*alloc)(CUdeviceptr *, size_t) = cuMemAlloc;
    CUresult (*callback)(CUstream, CUstreamCallback, void *, unsigned) =
        cuStreamAddCallback;
    CUresult (*peer)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t,
                     CUstream) = cuMemcpyPeerAsync;
    CUresult (*record)(CUevent, CUstream) = cuEventRecord;
    CUresult (*elapsed)(float *, CUevent, CUevent) = cuEventElapsedTime;
    CUresult (*open_peer)(CUcontext, unsigned) = cuCtxEnablePeerAccess;
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t, CUstream) =
        cuMemsetD8Async;
    CUresult (*retain)(CUcontext *, CUdevice) = cuDevicePrimaryCtxRetain;
    CUresult (*host)(void **, size_t, unsigned) = cuMemHostAlloc;
    CUresult (*can)(int *, CUdevice, CUdevice) = cuDeviceCanAccessPeer;
    CUresult (*wait)(CUstream, CUevent, unsigned) = cuStreamWaitEvent;
    CUresult (*bus)(char *, int, CUdevice) = cuDeviceGetPCIBusId;
    CUresult (*words)(CUresult, const char **) = cuGetErrorString;
    CUresult (*memory)(size_t *, CUdevice) = cuDeviceTotalMem;
    void *all[] = {&alloc,     &callback, &peer,   &record, &elapsed,
                   &open_peer, &fill,     &retain, &host,   &can,
                   &wait,      &bus,      &words,  &memory};

    return all[0];
}
