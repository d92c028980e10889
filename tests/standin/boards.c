/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/boards.c - a layer between the OpenCL loader and PoCL: devices are
 * GPUs on PCI buses, which PoCL's have not. BOARDS is the extension that tells it
 * (khr, nv or amd) and the buses of the devices, in the order in which they are
 * asked for: "nv 3a 3b". With NUMA_UNITS, each of so many compute units is a NUMA node
 * of its device, which PoCL's are not cut into. DEVICE_WORDS is the devices' name, and
 * stands behind their version. Those on the bus MUTE answer no question, and with
 * HIDDEN nothing is said of which there are. Of a test's one thread.
 */
#include <CL/cl_ext.h>
#include <CL/cl_layer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BOARDS = 8, BUS_NV = 0x4008, SLOT_NV = 0x4009, DOMAIN_NV = 0x400a };

static const struct _cl_icd_dispatch *target;
static struct _cl_icd_dispatch layer;
static cl_device_id boards[MAX_BOARDS];
static unsigned nboards, buses[MAX_BOARDS], nbuses;
static char extension[8];

/* Its bus; -1: it has none. */
static int bus_of(cl_device_id device)
{
    unsigned i = 0;

    while (i < nboards && boards[i] != device)
        i++;
    if (i == nboards && nboards < MAX_BOARDS)
        boards[nboards++] = device;
    return i < nbuses ? (int)buses[i] : -1;
}

static cl_int tell(size_t size, void *value, const void *told, size_t told_size)
{
    if (size < told_size)
        return CL_INVALID_VALUE;
    memcpy(value, told, told_size);
    return CL_SUCCESS;
}

/* All of them, or nothing. */
static cl_int tell_words(const char *words, cl_device_info what, size_t size,
                         void *value, size_t *ret_size)
{
    char text[1024];

    snprintf(text, sizeof(text), "%s%s",
             what == CL_DEVICE_VERSION ? "OpenCL 1.2 " : "", words);
    if (ret_size)
        *ret_size = strlen(text) + 1;
    return value ? tell(size, value, text, strlen(text) + 1) : CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id device,
                                          cl_device_info what, size_t size,
                                          void *value, size_t *ret_size)
{
    int bus = bus_of(device);
    cl_device_pci_bus_info_khr khr = {0, (cl_uint)bus, 0, 0};
    cl_device_topology_amd amd = {
        .pcie = {CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD, {0}, (cl_char)bus, 0, 0}};
    cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    cl_uint number = what == BUS_NV ? (cl_uint)bus : 0;
    const char *words = getenv("DEVICE_WORDS"), *mute = getenv("MUTE");

    if (mute && bus == (int)strtol(mute, NULL, 16))
        return CL_DEVICE_NOT_AVAILABLE;
    if (words && (what == CL_DEVICE_NAME || what == CL_DEVICE_VERSION))
        return tell_words(words, what, size, value, ret_size);
    if (bus >= 0 && what == CL_DEVICE_TYPE)
        return tell(size, value, &gpu, sizeof(gpu));
    if (bus >= 0 && what == CL_DEVICE_PCI_BUS_INFO_KHR &&
        strcmp(extension, "khr") == 0)
        return tell(size, value, &khr, sizeof(khr));
    if (bus >= 0 && what == CL_DEVICE_TOPOLOGY_AMD &&
        strcmp(extension, "amd") == 0)
        return tell(size, value, &amd, sizeof(amd));
    if (bus >= 0 && (what == BUS_NV || what == SLOT_NV || what == DOMAIN_NV) &&
        strcmp(extension, "nv") == 0)
        return tell(size, value, &number, sizeof(number));
    return target->clGetDeviceInfo(device, what, size, value, ret_size);
}

/* All that there are are GPUs. */
static cl_int CL_API_CALL get_device_ids(cl_platform_id platform,
                                         cl_device_type types, cl_uint n,
                                         cl_device_id *ret, cl_uint *ret_n)
{
    if (getenv("HIDDEN"))
        return CL_OUT_OF_HOST_MEMORY;
    if (nbuses && types & CL_DEVICE_TYPE_GPU)
        types |= CL_DEVICE_TYPE_CPU;
    return target->clGetDeviceIDs(platform, types, n, ret, ret_n);
}

/* PoCL cuts into equal parts only. */
static cl_int CL_API_CALL
create_sub_devices(cl_device_id device, const cl_device_partition_property *how,
                   cl_uint n, cl_device_id *ret, cl_uint *ret_n)
{
    const char *units = getenv("NUMA_UNITS");
    const cl_device_partition_property equally[] = {
        CL_DEVICE_PARTITION_EQUALLY, units ? strtol(units, NULL, 10) : 0, 0};

    if (units && how[0] == CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN &&
        how[1] == CL_DEVICE_AFFINITY_DOMAIN_NUMA && how[2] == 0)
        how = equally;
    return target->clCreateSubDevices(device, how, n, ret, ret_n);
}

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value,
                                  size_t *ret_size)
{
    cl_layer_api_version version = CL_LAYER_API_VERSION_100;

    if (ret_size)
        *ret_size = sizeof(version);
    if (what != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    return value ? tell(size, value, &version, sizeof(version)) : CL_SUCCESS;
}

cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *given,
                               cl_uint *ret_n, const cl_icd_dispatch **ret)
{
    char text[64] = "", *rest = text, *word;
    const char *words = getenv("BOARDS");

    snprintf(text, sizeof(text), "%s", words ? words : "");
    word = strsep(&rest, " ");
    snprintf(extension, sizeof(extension), "%s", word);
    while ((word = strsep(&rest, " ")) && nbuses < MAX_BOARDS)
        buses[nbuses++] = (unsigned)strtoul(word, NULL, 16);
    if (n < sizeof(layer) / sizeof(void *))
        return CL_INVALID_VALUE;
    target = given;
    layer.clGetDeviceInfo = get_device_info;
    layer.clGetDeviceIDs = get_device_ids;
    layer.clCreateSubDevices = create_sub_devices;
    *ret_n = sizeof(layer) / sizeof(void *);
    *ret = &layer;
    return CL_SUCCESS;
}
