/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/hip/driver.c - AMD's GPUs: what HIP has that CUDA's driver interface
 * does not, for core/device/gpu. The current device is a number; its context is
 * not seen, and shared with the application's calls.
 */
#include "core/device/gpu/gpu.h"
#include "core/device/hip/copy.h"
#include "core/device/open.h"

/* -- the library -- */

static const char *const files[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                    "libamdhip64.so.5", "libamdhip64.so", NULL};

static const char *const device_files[] = {"/dev/kfd", NULL};

static const char *const names[] = {
#define HIP_NAME(name, cuda, hip, parameters) hip,
    GPU_FUNCTIONS(HIP_NAME)
#undef HIP_NAME
};

/* Entries of HIP's own: X(number, name, result, parameters). */
#define HIP_FUNCTIONS(X)                                                       \
    X(SET, "hipSetDevice", int, (int))                                         \
    X(GET, "hipGetDevice", int, (int *))                                       \
    X(OPEN_PEER, "hipDeviceEnablePeerAccess", int, (int, unsigned))            \
    X(COPY_PEER, "hipMemcpyPeerAsync", int,                                    \
      (uintptr_t, int, uintptr_t, int, size_t, gpu_stream_t))                  \
    X(COPY_BOX, "hipMemcpy3DAsync", int,                                       \
      (const struct hip_copy *, gpu_stream_t))                                 \
    X(WORDS, "hipGetErrorString", const char *, (int))

#define HIP_TYPE(number, name, result, parameters)                             \
    typedef result(*hip_##number) parameters;
HIP_FUNCTIONS(HIP_TYPE)
#undef HIP_TYPE

enum {
#define HIP_NUMBER(number, name, result, parameters) number,
    HIP_FUNCTIONS(HIP_NUMBER)
#undef HIP_NUMBER
        NOWN
};

static const char *const own[] = {
#define HIP_OWN(number, name, result, parameters) name,
    HIP_FUNCTIONS(HIP_OWN)
#undef HIP_OWN
};

_Static_assert(sizeof(own) / sizeof(own[0]) <= GPU_MAX_OWN,
               "struct gpu_api has room");

#define CALL(api, number) ((hip_##number)(api)->own[number])

static const char *hip_error_words(const struct gpu_api *api, int code)
{
    return CALL(api, WORDS)(code);
}

static const struct gpu_library library = {
    .title = "HIP library",
    .files = files,
    .devices = device_files,
    .names = names,
    .own = own,
    .nown = NOWN,
    .needed = "ROCm 5 or later",
    .words = hip_error_words,
};

/* -- the current device -- */

/* Its context is there as long as the process; that it is retained is all that is
 * noted. */
static int hip_retain_context(struct gpu_device *device)
{
    device->context = device;
    return GPU_SUCCESS;
}

static int hip_release_context(struct gpu_device *device)
{
    device->context = NULL;
    return GPU_SUCCESS;
}

static int hip_use_device(const struct gpu_device *device)
{
    return CALL(&device->driver->api, SET)(device->id);
}

static int hip_enter_device(const struct gpu_device *device,
                            intptr_t *ret_before)
{
    int before = 0, code = CALL(&device->driver->api, GET)(&before);

    *ret_before = before;
    return code ? code : hip_use_device(device);
}

static void hip_leave_device(const struct gpu_device *device, intptr_t before)
{
    (void)CALL(&device->driver->api, SET)((int)before);
}

static int hip_open_peer(const struct gpu_device *peer)
{
    return CALL(&peer->driver->api, OPEN_PEER)(peer->id, 0);
}

/* -- copies -- */

static int hip_copy_peer(const struct gpu_device *dst_device, uintptr_t dst,
                         const struct gpu_device *src_device, uintptr_t src,
                         size_t size, gpu_stream_t stream)
{
    return CALL(&dst_device->driver->api, COPY_PEER)(
        dst, dst_device->id, src, src_device->id, size, stream);
}

static struct hip_copy_end hip_end_of_box(const struct gpu_box_end *end,
                                          size_t width)
{
    return (struct hip_copy_end){
        .address = end->address,
        .pitch = end->pitch,
        .width = width,
        .height = end->slice,
    };
}

static int hip_copy_box(struct gpu *driver, const struct gpu_box *box,
                        gpu_stream_t stream)
{
    const struct hip_copy copy = {
        .src = hip_end_of_box(&box->src, box->width),
        .dst = hip_end_of_box(&box->dst, box->width),
        .width = box->width,
        .height = box->height,
        .depth = box->depth,
        .kind = !box->src.device   ? HOST_TO_DEVICE
                : !box->dst.device ? DEVICE_TO_HOST
                                   : DEVICE_TO_DEVICE,
    };

    return CALL(&driver->api, COPY_BOX)(&copy, stream);
}

/* -- the driver -- */

static const struct orr_driver_ops ops = GPU_DRIVER_OPS("hip");

const struct gpu_vendor orr_gpu_hip = {
    .name = "hip",
    .display = "HIP",
    .variable = "HIP",
    .type = STARPU_HIP_WORKER,
    .memory = STARPU_HIP_RAM,
    .library = &library,
    .ops = &ops,
    .retain = hip_retain_context,
    .release = hip_release_context,
    .use = hip_use_device,
    .enter = hip_enter_device,
    .leave = hip_leave_device,
    .open_peer = hip_open_peer,
    .copy_peer = hip_copy_peer,
    .copy_box = hip_copy_box,
};

ORR_DRIVER_OPEN(hip);
int orr_driver_hip_open(const struct orr_machine_options *options,
                        struct orr_machine *machine, struct orr_driver **ret,
                        struct orr_error *err)
{
    return gpu_open(&orr_gpu_hip, &options->hip, options->ncpu < 0, machine,
                    ret, err);
}
