/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/cl.h - OpenCL 1.2 as this driver uses it: the entry
 * points, which are looked up when a machine is opened, and the constants of
 * the specification, under names of our own. So the driver is the same whether
 * or not there was a header of OpenCL when the library was built.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu_opencl.h>

#include "core/base/error.h"

enum {
    OPENCL_SUCCESS = 0,
    OPENCL_DEVICE_NOT_FOUND = -1,
    OPENCL_DEVICE_NOT_AVAILABLE = -2,
    OPENCL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    OPENCL_OUT_OF_RESOURCES = -5,
    OPENCL_OUT_OF_HOST_MEMORY = -6,
    OPENCL_INVALID_VALUE = -30,
    OPENCL_INVALID_DEVICE = -33,
    OPENCL_INVALID_MEM_OBJECT = -38,
    OPENCL_INVALID_PROGRAM = -44,
    OPENCL_INVALID_BUFFER_SIZE = -61,
    OPENCL_PLATFORM_NOT_FOUND = -1001,

    OPENCL_COMPLETE = 0, /* of an event; below 0, it has failed */

    OPENCL_DEVICE_TYPE_CPU = 1 << 1,
    OPENCL_DEVICE_TYPE_GPU = 1 << 2,
    OPENCL_DEVICE_TYPE_ACCELERATOR = 1 << 3,

    OPENCL_QUEUE_PROFILING = 1 << 1,
    OPENCL_MEM_READ_WRITE = 1 << 0,
    OPENCL_MEM_ALLOC_HOST_PTR = 1 << 4,
    OPENCL_MAP_READ = 1 << 0,
    OPENCL_MAP_WRITE = 1 << 1,

    OPENCL_PLATFORM_VERSION = 0x0901,
    OPENCL_PLATFORM_NAME = 0x0902,
    OPENCL_DEVICE_TYPE = 0x1000,
    OPENCL_DEVICE_VENDOR_ID = 0x1001,
    OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* bits */
    OPENCL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
    OPENCL_DEVICE_NAME = 0x102b,
    OPENCL_DRIVER_VERSION = 0x102d,
    OPENCL_DEVICE_VERSION = 0x102f,       /* "OpenCL 1.2 …" */
    OPENCL_DEVICE_PCI_KHR = 0x410f,       /* domain, bus, device, function */
    OPENCL_DEVICE_PCI_BUS_NV = 0x4008,    /* a number each */
    OPENCL_DEVICE_PCI_SLOT_NV = 0x4009,   /* device * 8 + function */
    OPENCL_DEVICE_PCI_DOMAIN_NV = 0x400a, /* not in old drivers */
    OPENCL_DEVICE_TOPOLOGY_AMD = 0x4037,  /* struct below */
    OPENCL_CONTEXT_PLATFORM = 0x1084,
    OPENCL_PARTITION_EQUALLY = 0x1086, /* compute units of each part */
    OPENCL_PARTITION_BY_DOMAIN = 0x1088,
    OPENCL_DOMAIN_NUMA = 1 << 0,
    OPENCL_PROGRAM_BINARY_SIZES = 0x1165,
    OPENCL_PROGRAM_BINARIES = 0x1166,
    OPENCL_PROGRAM_BUILD_LOG = 0x1183,
    OPENCL_PROFILING_COMMAND_END = 0x1283, /* ns of the device's clock */
};

/* AMD's cl_device_topology_amd, of PCI. */
enum { OPENCL_TOPOLOGY_PCI_AMD = 1 };
struct opencl_topology_amd {
    uint32_t type;
    char unused[17];
    unsigned char bus, device, function;
};

/* Names without their prefix, results, parameters. */
#define OPENCL_FUNCTIONS(X)                                                    \
    X(GetPlatformIDs, cl_int, (uint32_t, cl_platform_id *, uint32_t *))        \
    X(GetPlatformInfo, cl_int,                                                 \
      (cl_platform_id, uint32_t, size_t, void *, size_t *))                    \
    X(GetDeviceIDs, cl_int,                                                    \
      (cl_platform_id, uint64_t, uint32_t, cl_device_id *, uint32_t *))        \
    X(GetDeviceInfo, cl_int,                                                   \
      (cl_device_id, uint32_t, size_t, void *, size_t *))                      \
    X(CreateSubDevices, cl_int,                                                \
      (cl_device_id, const intptr_t *, uint32_t, cl_device_id *, uint32_t *))  \
    X(ReleaseDevice, cl_int, (cl_device_id))                                   \
    X(CreateContext, cl_context,                                               \
      (const intptr_t *, uint32_t, const cl_device_id *,                       \
       void (*)(const char *, const void *, size_t, void *), void *,           \
       cl_int *))                                                              \
    X(ReleaseContext, cl_int, (cl_context))                                    \
    X(CreateCommandQueue, cl_command_queue,                                    \
      (cl_context, cl_device_id, uint64_t, cl_int *))                          \
    X(ReleaseCommandQueue, cl_int, (cl_command_queue))                         \
    X(Flush, cl_int, (cl_command_queue))                                       \
    X(Finish, cl_int, (cl_command_queue))                                      \
    X(CreateBuffer, cl_mem, (cl_context, uint64_t, size_t, void *, cl_int *))  \
    X(ReleaseMemObject, cl_int, (cl_mem))                                      \
    X(EnqueueReadBuffer, cl_int,                                               \
      (cl_command_queue, cl_mem, uint32_t, size_t, size_t, void *, uint32_t,   \
       const cl_event *, cl_event *))                                          \
    X(EnqueueWriteBuffer, cl_int,                                              \
      (cl_command_queue, cl_mem, uint32_t, size_t, size_t, const void *,       \
       uint32_t, const cl_event *, cl_event *))                                \
    X(EnqueueCopyBuffer, cl_int,                                               \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, uint32_t,     \
       const cl_event *, cl_event *))                                          \
    X(EnqueueReadBufferRect, cl_int,                                           \
      (cl_command_queue, cl_mem, uint32_t, const size_t *, const size_t *,     \
       const size_t *, size_t, size_t, size_t, size_t, void *, uint32_t,       \
       const cl_event *, cl_event *))                                          \
    X(EnqueueWriteBufferRect, cl_int,                                          \
      (cl_command_queue, cl_mem, uint32_t, const size_t *, const size_t *,     \
       const size_t *, size_t, size_t, size_t, size_t, const void *, uint32_t, \
       const cl_event *, cl_event *))                                          \
    X(EnqueueCopyBufferRect, cl_int,                                           \
      (cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *,       \
       const size_t *, size_t, size_t, size_t, size_t, uint32_t,               \
       const cl_event *, cl_event *))                                          \
    X(EnqueueMapBuffer, void *,                                                \
      (cl_command_queue, cl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t, \
       const cl_event *, cl_event *, cl_int *))                                \
    X(EnqueueUnmapMemObject, cl_int,                                           \
      (cl_command_queue, cl_mem, void *, uint32_t, const cl_event *,           \
       cl_event *))                                                            \
    X(EnqueueMarkerWithWaitList, cl_int,                                       \
      (cl_command_queue, uint32_t, const cl_event *, cl_event *))              \
    X(EnqueueBarrierWithWaitList, cl_int,                                      \
      (cl_command_queue, uint32_t, const cl_event *, cl_event *))              \
    X(WaitForEvents, cl_int, (uint32_t, const cl_event *))                     \
    X(SetEventCallback, cl_int,                                                \
      (cl_event, int32_t, void (*)(cl_event, int32_t, void *), void *))        \
    X(GetEventProfilingInfo, cl_int,                                           \
      (cl_event, uint32_t, size_t, void *, size_t *))                          \
    X(CreateUserEvent, cl_event, (cl_context, cl_int *))                       \
    X(SetUserEventStatus, cl_int, (cl_event, int32_t))                         \
    X(RetainEvent, cl_int, (cl_event))                                         \
    X(ReleaseEvent, cl_int, (cl_event))                                        \
    X(CreateProgramWithSource, cl_program,                                     \
      (cl_context, uint32_t, const char **, const size_t *, cl_int *))         \
    X(CreateProgramWithBinary, cl_program,                                     \
      (cl_context, uint32_t, const cl_device_id *, const size_t *,             \
       const unsigned char **, int32_t *, cl_int *))                           \
    X(BuildProgram, cl_int,                                                    \
      (cl_program, uint32_t, const cl_device_id *, const char *,               \
       void (*)(cl_program, void *), void *))                                  \
    X(GetProgramInfo, cl_int,                                                  \
      (cl_program, uint32_t, size_t, void *, size_t *))                        \
    X(GetProgramBuildInfo, cl_int,                                             \
      (cl_program, cl_device_id, uint32_t, size_t, void *, size_t *))          \
    X(ReleaseProgram, cl_int, (cl_program))                                    \
    X(CreateKernel, cl_kernel, (cl_program, const char *, cl_int *))           \
    X(SetKernelArg, cl_int, (cl_kernel, uint32_t, size_t, const void *))       \
    X(ReleaseKernel, cl_int, (cl_kernel))                                      \
    X(EnqueueNDRangeKernel, cl_int,                                            \
      (cl_command_queue, cl_kernel, uint32_t, const size_t *, const size_t *,  \
       const size_t *, uint32_t, const cl_event *, cl_event *))

struct opencl_api {
    void *library; /* owned */
#define OPENCL_FUNCTION(name, result, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(OPENCL_FUNCTION)
#undef OPENCL_FUNCTION
};

/* Opens the loader. 0, -ENOENT when there is none, -EINVAL with a message when
 * it lacks a function. opencl_api_close() ends it. */
int opencl_api_open(struct opencl_api *ret, struct orr_error *err);
void opencl_api_close(struct opencl_api *api);

/* Whether there may be devices that are not processors, as far as the files say
 * that lead to vendors' libraries: they are in the folder `vendors`, NULL for
 * the usual one. Opens no library. PoCL's drives processors, and costs a
 * program more to open than many programs take. */
bool opencl_may_have_devices(const char *vendors);

/* The code in words, "Invalid kernel name". */
const char *opencl_error(cl_int code);

/* What core is told: -ENOMEM, -ENODEV or -EIO; 0 for success. */
int opencl_errno(cl_int code);

/* The same of an operation that was begun: -ENODEV or -EIO; 0 for success. */
int opencl_failure(cl_int code);
