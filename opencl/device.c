/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/device.c - devices. Of a real machine each forwards questions to its own
 * implementation; of a simulated one the description answers, and the smallest values that
 * OpenCL 1.2 allows where it says nothing.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

/* -- which there are -- */

static bool is_of_type(const struct _cl_device_id *device, unsigned i, cl_device_type type)
{
    return type == CL_DEVICE_TYPE_ALL || (device->type & type) ||
           ((type & CL_DEVICE_TYPE_DEFAULT) && i == 0);
}

static cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type type, cl_uint room,
                                      cl_device_id *to, cl_uint *ret_n)
{
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
                                 CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                 CL_DEVICE_TYPE_CUSTOM;
    cl_uint n = 0;
    cl_int error;

    if (platform && platform != &socl_platform)
        return CL_INVALID_PLATFORM;
    if (type == 0 || (type != CL_DEVICE_TYPE_ALL && (type & ~known)))
        return CL_INVALID_DEVICE_TYPE;
    if ((room == 0 && to) || (!to && !ret_n))
        return CL_INVALID_VALUE;
    error = socl_start();
    if (error != CL_SUCCESS)
        return error;
    for (unsigned i = 0; i < socl.ndevices; i++) {
        if (!is_of_type(&socl.devices[i], i, type))
            continue;
        if (to && n < room)
            to[n] = &socl.devices[i];
        n++;
    }
    if (ret_n)
        *ret_n = n;
    return n ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

/* -- what they are -- */

/* Of a simulated device: what most GPUs have. Units are of 128 lanes with 1.5 GHz, as many as
 * make the peak that the description states: it says nothing of them. */
enum {
    GROUP_SIZE = 1024,
    LANES = 128,
    MHZ = 1500,
    ALIGN_BITS = 1024,
    LOCAL_BYTES = 48 << 10,
    CONSTANT_BYTES = 64 << 10,
    ARGUMENT_BYTES = 4096,
};

static cl_uint compute_units(cl_device_id device)
{
    double units = device->rates.flops32 / (2.0 * LANES * MHZ);

    return units >= 1 ? (cl_uint)llround(units) : 1;
}

static cl_ulong memory_of(cl_device_id device)
{
    starpu_ssize_t bytes = starpu_memory_get_total((unsigned)device->node);

    return bytes > 0 ? (cl_ulong)bytes : (cl_ulong)16 << 30;
}

static cl_int text_info(cl_device_id device, cl_device_info what, size_t size, void *to,
                        size_t *ret)
{
    switch (what) {
    case CL_DEVICE_NAME:
        return socl_answer_text(device->name, size, to, ret);
    case CL_DEVICE_VENDOR:
        return socl_answer_text("Orrery", size, to, ret);
    case CL_DEVICE_VERSION:
        return socl_answer_text("OpenCL 1.2 simulated", size, to, ret);
    case CL_DRIVER_VERSION:
        return socl_answer_text(ORR_VERSION, size, to, ret);
    case CL_DEVICE_PROFILE:
        return socl_answer_text("FULL_PROFILE", size, to, ret);
    case CL_DEVICE_OPENCL_C_VERSION:
        return socl_answer_text("OpenCL C 1.2 ", size, to, ret);
    case CL_DEVICE_EXTENSIONS:
        return socl_answer_text(
            device->rates.flops64 > 0 || device->rates.flops32 == 0
                ? "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
                  "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
                  "cl_khr_byte_addressable_store cl_khr_fp64"
                : "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
                  "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
                  "cl_khr_byte_addressable_store",
            size, to, ret);
    default: /* CL_DEVICE_BUILT_IN_KERNELS */
        return socl_answer_text("", size, to, ret);
    }
}

static cl_int size_info(cl_device_id device, cl_device_info what, size_t size, void *to,
                        size_t *ret)
{
    const size_t items[3] = {GROUP_SIZE, GROUP_SIZE, 64};

    (void)device;
    switch (what) {
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return socl_answer(items, sizeof(items), size, to, ret);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        SOCL_ANSWER(size_t, GROUP_SIZE);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        SOCL_ANSWER(size_t, ARGUMENT_BYTES);
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
        SOCL_ANSWER(size_t, 1 << 20);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        SOCL_ANSWER(size_t, 1);
    default: /* of images */
        SOCL_ANSWER(size_t, 0);
    }
}

static cl_int long_info(cl_device_id device, cl_device_info what, size_t size, void *to,
                        size_t *ret)
{
    const cl_device_fp_config all = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                    CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;

    switch (what) {
    case CL_DEVICE_TYPE:
        SOCL_ANSWER(cl_device_type, device->type);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        SOCL_ANSWER(cl_ulong, memory_of(device));
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        SOCL_ANSWER(cl_ulong, memory_of(device) / 4);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        SOCL_ANSWER(cl_ulong, LOCAL_BYTES);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
        SOCL_ANSWER(cl_ulong, CONSTANT_BYTES);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        SOCL_ANSWER(cl_ulong, 0);
    case CL_DEVICE_QUEUE_PROPERTIES:
        SOCL_ANSWER(cl_command_queue_properties,
                    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_EXECUTION_CAPABILITIES:
        SOCL_ANSWER(cl_device_exec_capabilities, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        SOCL_ANSWER(cl_device_fp_config, all);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        SOCL_ANSWER(cl_device_fp_config,
                    device->rates.flops64 > 0 || device->rates.flops32 == 0 ? all : 0);
    case CL_DEVICE_HALF_FP_CONFIG:
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
        SOCL_ANSWER(cl_ulong, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int object_info(cl_device_id device, cl_device_info what, size_t size, void *to,
                          size_t *ret)
{
    const cl_device_partition_property none = 0;

    (void)device;
    switch (what) {
    case CL_DEVICE_PLATFORM:
        SOCL_ANSWER(cl_platform_id, &socl_platform);
    case CL_DEVICE_PARENT_DEVICE:
        SOCL_ANSWER(cl_device_id, NULL);
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
        SOCL_ANSWER(cl_uint, 0);
    case CL_DEVICE_PARTITION_PROPERTIES:
        return socl_answer(&none, sizeof(none), size, to, ret);
    case CL_DEVICE_PARTITION_TYPE:
        return socl_answer(&none, 0, size, to, ret);
    case CL_DEVICE_IMAGE_SUPPORT:
        SOCL_ANSWER(cl_bool, CL_FALSE);
    case CL_DEVICE_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, 1);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int uint_info(cl_device_id device, cl_device_info what, size_t size, void *to,
                        size_t *ret)
{
    switch (what) {
    case CL_DEVICE_VENDOR_ID:
        SOCL_ANSWER(cl_uint, 0);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        SOCL_ANSWER(cl_uint, compute_units(device));
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        SOCL_ANSWER(cl_uint, 3);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        SOCL_ANSWER(cl_uint, MHZ);
    case CL_DEVICE_ADDRESS_BITS:
        SOCL_ANSWER(cl_uint, 64);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        SOCL_ANSWER(cl_uint, ALIGN_BITS);
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
        SOCL_ANSWER(cl_uint, ALIGN_BITS / 8);
    case CL_DEVICE_MAX_CONSTANT_ARGS:
        SOCL_ANSWER(cl_uint, 8);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        SOCL_ANSWER(cl_device_local_mem_type, CL_LOCAL);
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
        SOCL_ANSWER(cl_device_mem_cache_type, CL_NONE);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
        SOCL_ANSWER(cl_bool, CL_TRUE);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
    case CL_DEVICE_MAX_SAMPLERS:
        SOCL_ANSWER(cl_uint, 0);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
        SOCL_ANSWER(cl_uint, device->rates.flops64 > 0 || device->rates.flops32 == 0);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        SOCL_ANSWER(cl_uint, 1);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int simulated_info(cl_device_id device, cl_device_info what, size_t size, void *to,
                             size_t *ret)
{
    switch (what) {
    case CL_DEVICE_NAME:
    case CL_DEVICE_VENDOR:
    case CL_DEVICE_VERSION:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_PROFILE:
    case CL_DEVICE_OPENCL_C_VERSION:
    case CL_DEVICE_EXTENSIONS:
    case CL_DEVICE_BUILT_IN_KERNELS:
        return text_info(device, what, size, to, ret);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    case CL_DEVICE_MAX_PARAMETER_SIZE:
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
        return size_info(device, what, size, to, ret);
    default:
        break;
    }
    if (uint_info(device, what, SIZE_MAX, NULL, NULL) == CL_SUCCESS)
        return uint_info(device, what, size, to, ret);
    return long_info(device, what, size, to, ret);
}

/* What is ours also where another implementation answers. */
static bool is_own(cl_device_info what)
{
    switch (what) {
    case CL_DEVICE_PLATFORM:
    case CL_DEVICE_PARENT_DEVICE:
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE:
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_REFERENCE_COUNT:
        return true;
    default:
        return false;
    }
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size,
                                          void *to, size_t *ret)
{
    if (!socl_is(device))
        return CL_INVALID_DEVICE;
    if (is_own(what))
        return object_info(device, what, size, to, ret);
    switch (device->below ? what : 0) {
    case 0:
        return simulated_info(device, what, size, to, ret);
    case CL_DEVICE_QUEUE_PROPERTIES:
    case CL_DEVICE_EXECUTION_CAPABILITIES:
        return long_info(device, what, size, to, ret);
    case CL_DEVICE_VERSION:
        return socl_answer_text("OpenCL 1.2 SOCL", size, to, ret);
    case CL_DEVICE_OPENCL_C_VERSION:
        return socl_answer_text("OpenCL C 1.2 ", size, to, ret);
    default:
        return SOCL_BELOW(device->below)->clGetDeviceInfo(device->below, what, size, to, ret);
    }
}

/* Devices have no parts: ORRERY_OPENCL_PARTS makes some. */
static cl_int CL_API_CALL create_parts(cl_device_id device,
                                       const cl_device_partition_property *properties,
                                       cl_uint n, cl_device_id *to, cl_uint *ret_n)
{
    (void)properties;
    (void)n;
    (void)to;
    (void)ret_n;
    return socl_is(device) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

static cl_int CL_API_CALL keep_device(cl_device_id device)
{
    return socl_is(device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

void socl_fill_devices(cl_icd_dispatch *to)
{
    to->clGetDeviceIDs = get_devices;
    to->clGetDeviceInfo = get_device_info;
    to->clCreateSubDevices = create_parts;
    to->clRetainDevice = keep_device;
    to->clReleaseDevice = keep_device;
}
