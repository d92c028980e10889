/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cuda/driver.c - NVIDIA's GPUs: what CUDA's driver interface has that
 * HIP does not, for core/device/gpu. Contexts are the devices' primary ones, which
 * CUDA's runtime library in the application uses, too: what it makes current with
 * cudaSetDevice is what is made current here.
 */
#include "core/device/cuda/copy.h"
#include "core/device/gpu/gpu.h"
#include "core/device/open.h"

/* -- the library -- */

static const char *const files[] = {"libcuda.so.1", NULL};

/* Linux; Windows' subsystem for it; Tegra. */
static const char *const device_files[] = {"/dev/nvidiactl", "/dev/dxg",
                                           "/dev/nvmap", NULL};

static const char *const names[] = {
#define CUDA_NAME(name, cuda, hip, parameters) cuda,
    GPU_FUNCTIONS(CUDA_NAME)
#undef CUDA_NAME
};

/* Entries of CUDA's own: X(number, name, parameters). */
#define CUDA_FUNCTIONS(X)                                                      \
    X(RETAIN, "cuDevicePrimaryCtxRetain", (gpu_context_t *, gpu_device_t))     \
    X(RELEASE, "cuDevicePrimaryCtxRelease_v2", (gpu_device_t))                 \
    X(SET, "cuCtxSetCurrent", (gpu_context_t))                                 \
    X(PUSH, "cuCtxPushCurrent_v2", (gpu_context_t))                            \
    X(POP, "cuCtxPopCurrent_v2", (gpu_context_t *))                            \
    X(OPEN_PEER, "cuCtxEnablePeerAccess", (gpu_context_t, unsigned))           \
    X(COPY_PEER, "cuMemcpyPeerAsync",                                          \
      (uintptr_t, gpu_context_t, uintptr_t, gpu_context_t, size_t,             \
       gpu_stream_t))                                                          \
    X(COPY_BOX, "cuMemcpy3DAsync_v2",                                          \
      (const struct cuda_copy *, gpu_stream_t))                                \
    X(COPY_BOX_PEER, "cuMemcpy3DPeerAsync",                                    \
      (const struct cuda_copy *, gpu_stream_t))                                \
    X(WORDS, "cuGetErrorString", (int, const char **))

#define CUDA_TYPE(number, name, parameters)                                    \
    typedef int(*cuda_##number) parameters;
CUDA_FUNCTIONS(CUDA_TYPE)
#undef CUDA_TYPE

enum {
#define CUDA_NUMBER(number, name, parameters) number,
    CUDA_FUNCTIONS(CUDA_NUMBER)
#undef CUDA_NUMBER
        NOWN
};

static const char *const own[] = {
#define CUDA_OWN(number, name, parameters) name,
    CUDA_FUNCTIONS(CUDA_OWN)
#undef CUDA_OWN
};

_Static_assert(sizeof(own) / sizeof(own[0]) <= GPU_MAX_OWN,
               "struct gpu_api has room");

#define CALL(api, number) ((cuda_##number)(api)->own[number])

static const char *cuda_error_words(const struct gpu_api *api, int code)
{
    const char *text = NULL;

    return CALL(api, WORDS)(code, &text) ? NULL : text;
}

static const struct gpu_library library = {
    .title = "library of NVIDIA's driver",
    .files = files,
    .devices = device_files,
    .names = names,
    .own = own,
    .nown = NOWN,
    .needed = "a driver of version 450 (CUDA 11) or later",
    .words = cuda_error_words,
};

/* -- contexts -- */

static int cuda_retain_context(struct gpu_device *device)
{
    return CALL(&device->driver->api, RETAIN)(&device->context, device->id);
}

static int cuda_release_context(struct gpu_device *device)
{
    return CALL(&device->driver->api, RELEASE)(device->id);
}

static int cuda_use_device(const struct gpu_device *device)
{
    return CALL(&device->driver->api, SET)(device->context);
}

static int cuda_push_context(const struct gpu_device *device,
                             intptr_t *ret_before)
{
    *ret_before = 0; /* on CUDA's own stack of contexts */
    return CALL(&device->driver->api, PUSH)(device->context);
}

static void cuda_pop_context(const struct gpu_device *device, intptr_t before)
{
    gpu_context_t ours;

    (void)before;
    (void)CALL(&device->driver->api, POP)(&ours);
}

static int cuda_open_peer(const struct gpu_device *peer)
{
    return CALL(&peer->driver->api, OPEN_PEER)(peer->context, 0);
}

/* -- copies -- */

static int cuda_copy_peer(const struct gpu_device *dst_device, uintptr_t dst,
                          const struct gpu_device *src_device, uintptr_t src,
                          size_t size, gpu_stream_t stream)
{
    return CALL(&dst_device->driver->api, COPY_PEER)(
        dst, dst_device->context, src, src_device->context, size, stream);
}

static struct cuda_copy_end cuda_end_of_box(const struct gpu_box_end *end,
                                            bool peer)
{
    return (struct cuda_copy_end){
        .memory = end->device ? MEMORY_DEVICE : MEMORY_HOST,
        .host = end->device ? 0 : end->address,
        .device = end->device ? end->address : 0,
        .context = peer ? end->device->context : NULL,
        .pitch = end->pitch,
        .height = end->slice,
    };
}

static int cuda_copy_box(struct gpu *driver, const struct gpu_box *box,
                         gpu_stream_t stream)
{
    bool peer = box->src.device && box->dst.device &&
                box->src.device != box->dst.device;
    const struct cuda_copy copy = {
        .src = cuda_end_of_box(&box->src, peer),
        .dst = cuda_end_of_box(&box->dst, peer),
        .width = box->width,
        .height = box->height,
        .depth = box->depth,
    };

    return peer ? CALL(&driver->api, COPY_BOX_PEER)(&copy, stream)
                : CALL(&driver->api, COPY_BOX)(&copy, stream);
}

/* -- the driver -- */

static const struct orr_driver_ops ops = GPU_DRIVER_OPS("cuda");

const struct gpu_vendor orr_gpu_cuda = {
    .name = "cuda",
    .display = "CUDA",
    .variable = "CUDA",
    .type = STARPU_CUDA_WORKER,
    .memory = STARPU_CUDA_RAM,
    .library = &library,
    .ops = &ops,
    .retain = cuda_retain_context,
    .release = cuda_release_context,
    .use = cuda_use_device,
    .enter = cuda_push_context,
    .leave = cuda_pop_context,
    .open_peer = cuda_open_peer,
    .copy_peer = cuda_copy_peer,
    .copy_box = cuda_copy_box,
};

ORR_DRIVER_OPEN(cuda);
int orr_driver_cuda_open(const struct orr_machine_options *options,
                         struct orr_machine *machine, struct orr_driver **ret,
                         struct orr_error *err)
{
    return gpu_open(&orr_gpu_cuda, &options->cuda, options->ncpu < 0, machine,
                    ret, err);
}
