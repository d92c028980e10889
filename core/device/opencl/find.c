/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/find.c - which OpenCL devices there are, in the order of
 * their platforms, and which of them are used. While a machine is opened, by
 * main.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/device/choice.h"
#include "core/device/opencl/icd.h"
#include "core/device/opencl/opencl.h"

enum { MAX_PLATFORMS = 16 };

/* -- whether to look -- */

static bool on_processors(const struct orr_machine_options *options)
{
    return options->opencl_on_cpus || options->opencl_only_on_cpus;
}

bool opencl_is_wanted(const struct orr_machine_options *options)
{
    if (options->nopencl == 0)
        return false;
    if (options->nopencl > 0 || options->opencl_ids || options->opencl_gpuid ||
        on_processors(options))
        return true;
    return opencl_may_have_devices(options->opencl_below
                                       ? options->opencl_below
                                       : options->opencl_vendors);
}

/* -- what there is -- */

char *opencl_platform_text(const struct opencl *driver, cl_platform_id platform,
                           uint32_t what)
{
    size_t size = 0;
    char *text;

    if (driver->cl.GetPlatformInfo(platform, what, 0, NULL, &size))
        return NULL;
    text = calloc(1, size + 1);
    if (text &&
        driver->cl.GetPlatformInfo(platform, what, size, text, NULL) == 0)
        return text;
    free(text);
    return NULL;
}

char *opencl_device_text(const struct opencl_device *device, uint32_t what)
{
    const struct opencl_api *cl = &device->driver->cl;
    size_t size = 0;
    char *text;

    if (cl->GetDeviceInfo(device->id, what, 0, NULL, &size))
        return NULL;
    text = calloc(1, size + 1);
    if (text && cl->GetDeviceInfo(device->id, what, size, text, NULL) == 0)
        return text;
    free(text);
    return NULL;
}

/* False: the device does not know that; *ret is zero then. */
static bool device_info(const struct opencl_device *device, uint32_t what,
                        size_t size, void *ret)
{
    if (device->driver->cl.GetDeviceInfo(device->id, what, size, ret, NULL) ==
        0)
        return true;
    memset(ret, 0, size);
    return false;
}

/* A text of the device's, cut to the size: OpenCL itself gives all of it or
 * nothing. */
static void device_text(const struct opencl_device *device, uint32_t what,
                        size_t size, char *ret)
{
    char *text = opencl_device_text(device, what);

    snprintf(ret, size, "%s", text ? text : "");
    free(text);
}

/* Domain, bus, device and function, by the extension that its vendor has. */
static bool find_place(const struct opencl_device *device, uint32_t place[4])
{
    struct opencl_topology_amd amd;
    uint32_t slot;

    if (device_info(device, OPENCL_DEVICE_PCI_KHR, 4 * sizeof(*place), place))
        return true;
    if (device_info(device, OPENCL_DEVICE_PCI_BUS_NV, sizeof(slot),
                    &place[1]) &&
        device_info(device, OPENCL_DEVICE_PCI_SLOT_NV, sizeof(slot), &slot)) {
        device_info(device, OPENCL_DEVICE_PCI_DOMAIN_NV, sizeof(slot),
                    &place[0]);
        place[2] = slot / 8;
        place[3] = slot % 8;
        return true;
    }
    if (!device_info(device, OPENCL_DEVICE_TOPOLOGY_AMD, sizeof(amd), &amd) ||
        amd.type != OPENCL_TOPOLOGY_PCI_AMD)
        return false;
    memcpy(place, (uint32_t[]){0, amd.bus, amd.device, amd.function},
           4 * sizeof(*place));
    return true;
}

static void opencl_find_bus(struct opencl_device *device)
{
    uint32_t place[4];

    if (device->type & OPENCL_DEVICE_TYPE_CPU || !find_place(device, place))
        return;
    snprintf(device->bus, sizeof(device->bus), "%04x:%02x:%02x.%x",
             place[0] & 0xffffu, place[1] & 0xffu, place[2] & 0x1fu,
             place[3] & 7u);
    orr_device_bus_shorten(device->bus);
}

/* "OpenCL 1.2 …" or later. */
static bool is_new_enough(const struct opencl_device *device)
{
    char version[128];
    int major = 0, minor = 0;

    device_text(device, OPENCL_DEVICE_VERSION, sizeof(version), version);
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 &&
        (major > 1 || minor >= 2))
        return true;
    orr_log_notice("opencl: %s is left out: it has \"%s\", and OpenCL 1.2 is "
                   "needed",
                   device->name, version);
    return false;
}

/* Says which call was refused, and what does not work without it. */
static void opencl_call_refused(const char *what, const char *call, cl_int code)
{
    orr_log_warning("opencl: %s: %s failed: %s (%d)", what, call,
                    opencl_error(code), code);
}

/* Whether it tells what any does. */
static bool opencl_device_answers(const struct opencl_device *device)
{
    static const uint32_t questions[] = {OPENCL_DEVICE_TYPE,
                                         OPENCL_DEVICE_GLOBAL_MEM_SIZE};
    uint64_t answer;

    for (unsigned i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        cl_int code = device->driver->cl.GetDeviceInfo(
            device->id, questions[i], sizeof(answer), &answer, NULL);

        if (code) {
            opencl_call_refused("a device is left out", "clGetDeviceInfo",
                                code);
            return false;
        }
    }
    return true;
}

/* A device, or one of so many parts of a device: its memory is that of all. */
static void opencl_add_device(struct opencl *driver, cl_platform_id platform,
                              cl_device_id id, unsigned part, unsigned nparts)
{
    struct opencl_device *device = &driver->devices[driver->ndevices];
    uint64_t memory;
    uint32_t align;

    *device = (struct opencl_device){
        .driver = driver,
        .platform = platform,
        .id = id,
        .number = (int)driver->ndevices,
        .part = part,
        .nparts = nparts,
    };
    device_text(device, OPENCL_DEVICE_NAME, sizeof(device->name), device->name);
    device_info(device, OPENCL_DEVICE_TYPE, sizeof(device->type),
                &device->type);
    device_info(device, OPENCL_DEVICE_VENDOR_ID, sizeof(device->vendor),
                &device->vendor);
    device_info(device, OPENCL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory);
    device_info(device, OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(align),
                &align);
    device->memory = (size_t)memory / nparts;
    device->alignment = align / 8;
    opencl_find_bus(device);
    if (opencl_device_answers(device) && is_new_enough(device))
        driver->ndevices++;
    else if (nparts > 1)
        driver->cl.ReleaseDevice(id);
}

/* -- parts -- */

/* The properties by which OpenCL cuts devices into parts; none: not at all. */
static int read_parts(const char *text, intptr_t cut[3], struct orr_error *err)
{
    char *end;
    long units;

    memset(cut, 0, 3 * sizeof(*cut));
    if (!text || !*text)
        return 0;
    cut[0] = OPENCL_PARTITION_BY_DOMAIN;
    cut[1] = OPENCL_DOMAIN_NUMA;
    if (strcmp(text, "numa") == 0)
        return 0;
    units = strtol(text, &end, 10);
    if (end == text || *end || units < 1 || units > INT_MAX)
        return orr_fail(err, -EINVAL,
                        "ORRERY_OPENCL_PARTS=\"%.100s\": write a number of "
                        "compute units, or numa",
                        text);
    cut[0] = OPENCL_PARTITION_EQUALLY;
    cut[1] = units;
    return 0;
}

/* False: it is used as it is. */
static bool add_parts(struct opencl *driver, cl_platform_id platform,
                      cl_device_id id, const intptr_t *cut)
{
    cl_device_id parts[STARPU_MAXOPENCLDEVS];
    uint32_t n = 0, room = STARPU_MAXOPENCLDEVS - driver->ndevices;

    if (!cut[0] || driver->cl.CreateSubDevices(id, cut, 0, NULL, &n) || n < 2)
        return false;
    if (n > room) {
        orr_log_notice("opencl: a device would have %u parts, and only %d "
                       "devices are used: it stays whole",
                       n, STARPU_MAXOPENCLDEVS);
        return false;
    }
    if (driver->cl.CreateSubDevices(id, cut, n, parts, NULL))
        return false;
    for (uint32_t i = 0; i < n; i++)
        opencl_add_device(driver, platform, parts[i], i, n);
    return true;
}

void opencl_forget(struct opencl *driver)
{
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (driver->devices[i].nparts > 1)
            driver->cl.ReleaseDevice(driver->devices[i].id);
    driver->ndevices = 0;
}

/* -- platforms -- */

/* Another runtime's devices, which are those of other platforms. */
static bool is_runtime(const struct opencl *driver, cl_platform_id platform)
{
    char *name = opencl_platform_text(driver, platform, OPENCL_PLATFORM_NAME);
    bool is = name && strncmp(name, "SOCL", 4) == 0;

    free(name);
    return is;
}

static void add_platform(struct opencl *driver, cl_platform_id platform,
                         uint64_t types, const intptr_t *cut)
{
    cl_device_id ids[STARPU_MAXOPENCLDEVS];
    uint32_t n = 0;
    cl_int code;

    if (is_runtime(driver, platform))
        return;
    code =
        driver->cl.GetDeviceIDs(platform, types, STARPU_MAXOPENCLDEVS, ids, &n);
    if (code) {
        if (code != OPENCL_DEVICE_NOT_FOUND)
            opencl_call_refused("the devices of a platform are left out",
                                "clGetDeviceIDs", code);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (driver->ndevices == STARPU_MAXOPENCLDEVS ||
            i == STARPU_MAXOPENCLDEVS) {
            orr_log_notice("opencl: only the first %d devices are used",
                           STARPU_MAXOPENCLDEVS);
            return;
        }
        if (!add_parts(driver, platform, ids[i], cut))
            opencl_add_device(driver, platform, ids[i], 0, 1);
    }
}

/* -- which are used -- */

/* Whether another driver uses the same board. */
static bool opencl_board_is_used(const struct opencl_device *device)
{
    const struct orr_machine *machine = device->driver->head.machine;

    for (unsigned node = 0; device->bus[0] && node < machine->nnodes; node++)
        if (strcmp(machine->nodes[node].bus, device->bus) == 0)
            return true;
    return false;
}

static const char *hint_of(const struct orr_machine_options *options,
                           bool any_used)
{
    if (any_used)
        return " that CUDA and HIP do not use (STARPU_WORKERS_OPENCLID names "
               "theirs)";
    return on_processors(options)
               ? ""
               : " (STARPU_OPENCL_ON_CPUS=1 counts processors, too)";
}

static int opencl_choose_devices(const struct opencl *driver,
                                 const struct orr_machine_options *options,
                                 unsigned *chosen, unsigned *ret_n,
                                 struct orr_error *err)
{
    bool used[STARPU_MAXOPENCLDEVS] = {false}, any = false;
    struct orr_device_choice choice = {
        .kind = "OpenCL",
        .variable = "STARPU_WORKERS_OPENCLID",
        .ids = options->opencl_ids,
        .first = options->opencl_gpuid,
        .wanted = options->nopencl,
        .there = driver->ndevices,
        .max = STARPU_MAXOPENCLDEVS,
        .spared = used,
    };

    for (unsigned i = 0; i < driver->ndevices; i++) {
        used[i] = !options->opencl_doubles &&
                  opencl_board_is_used(&driver->devices[i]);
        any |= used[i];
    }
    choice.hint = hint_of(options, any);
    return orr_device_choose(&choice, chosen, ret_n, err);
}

/* The loader's, or those of the folder that the user names. */
static cl_int find_platforms(struct opencl *driver,
                             const struct orr_machine_options *options,
                             cl_platform_id *ret, uint32_t *ret_n)
{
    void *found[MAX_PLATFORMS];

    if (!options->opencl_below)
        return driver->cl.GetPlatformIDs(MAX_PLATFORMS, ret, ret_n);
    driver->past_loader = true;
    *ret_n = orr_icd_platforms(options->opencl_below, found, MAX_PLATFORMS);
    for (uint32_t i = 0; i < *ret_n; i++)
        ret[i] = found[i];
    return OPENCL_SUCCESS;
}

int opencl_look(struct opencl *driver,
                const struct orr_machine_options *options,
                struct orr_error *err)
{
    uint64_t types = OPENCL_DEVICE_TYPE_GPU | OPENCL_DEVICE_TYPE_ACCELERATOR;
    cl_platform_id platforms[MAX_PLATFORMS];
    intptr_t cut[3];
    uint32_t n = 0;
    cl_int code;
    int rc = read_parts(options->opencl_parts, cut, err);

    if (rc < 0)
        return rc;
    if (options->opencl_only_on_cpus)
        types = OPENCL_DEVICE_TYPE_CPU;
    else if (options->opencl_on_cpus)
        types |= OPENCL_DEVICE_TYPE_CPU;
    code = find_platforms(driver, options, platforms, &n);
    if (code)
        n = 0;
    if (code && code != OPENCL_PLATFORM_NOT_FOUND)
        opencl_call_refused("devices cannot be used", "clGetPlatformIDs", code);
    for (uint32_t i = 0; i < n && i < MAX_PLATFORMS; i++)
        add_platform(driver, platforms[i], types, cut);
    return 0;
}

int opencl_find(struct opencl *driver,
                const struct orr_machine_options *options, unsigned *chosen,
                unsigned *ret_n, struct orr_error *err)
{
    int rc = opencl_look(driver, options, err);

    return rc == 0 ? opencl_choose_devices(driver, options, chosen, ret_n, err)
                   : rc;
}
