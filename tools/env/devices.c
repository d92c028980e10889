/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/env/devices.c - `orrery env --devices`: see env.h. */
#include "tools/env/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device/gpu/gpu.h"
#include "tools/common/json.h"

static const struct gpu_vendor *const vendors[] = {&orr_gpu_cuda, &orr_gpu_hip};

enum { NVENDORS = sizeof(vendors) / sizeof(vendors[0]) };

/* Which file is to be opened instead of the usual ones, or NULL. */
static const char *vendor_library_path(const struct gpu_vendor *vendor)
{
    char variable[32];
    const char *path;

    snprintf(variable, sizeof(variable), "ORRERY_%s_LIBRARY", vendor->variable);
    path = getenv(variable);
    return path && *path ? path : NULL;
}

/* The name of a refused call of the vendor's, and its error. */
static json_t *refusal(const struct gpu_api *api, enum gpu_entry call, int code)
{
    return json_sprintf("%s failed: %s (%d)", api->library->names[call],
                        gpu_words(api, code), code);
}

static json_t *device_json(const struct gpu_api *api, int number)
{
    char name[64] = "", bus[16] = "";
    size_t memory = 0;
    gpu_device_t id = 0;
    enum gpu_entry call = GPU_ENTRY_device;
    int code = api->device(&id, number);

    if (!code && (code = api->name(name, sizeof(name), id)))
        call = GPU_ENTRY_name;
    if (!code && (code = api->bus(bus, sizeof(bus), id)))
        call = GPU_ENTRY_bus;
    if (!code && (code = api->memory(&memory, id)))
        call = GPU_ENTRY_memory;
    if (code)
        return json_pack("{si so}", "number", number, "error",
                         refusal(api, call, code));
    return json_pack("{si so ss sI}", "number", number, "name",
                     tool_json_text(name), "bus", bus, "memory",
                     (json_int_t)memory);
}

/* What a library says that could be opened. */
static void ask_gpu_library(const struct gpu_api *api, json_t *object)
{
    json_t *devices = json_array();
    enum gpu_entry call = GPU_ENTRY_init;
    int version = 0, n = 0, code = api->init(0);

    if (!code && (code = api->count(&n)))
        call = GPU_ENTRY_count;
    if (api->version(&version) == 0)
        json_object_set_new(object, "version", json_integer(version));
    if (code)
        json_object_set_new(object, "error", refusal(api, call, code));
    for (int i = 0; !code && i < n; i++)
        json_array_append_new(devices, device_json(api, i));
    json_object_set_new(object, "devices", devices);
}

static json_t *vendor_json(const struct gpu_vendor *vendor)
{
    const struct gpu_library *library = vendor->library;
    json_t *files = json_array(), *object;
    struct orr_error err = {""};
    struct gpu_api api = {0};

    for (unsigned i = 0; library->devices[i]; i++)
        json_array_append_new(
            files, json_pack("{ss sb}", "file", library->devices[i], "present",
                             access(library->devices[i], F_OK) == 0));
    object =
        json_pack("{ss so}", "kind", vendor->display, "device_files", files);
    if (gpu_api_open(library, vendor_library_path(vendor), &api, &err) < 0) {
        json_object_set_new(object, "error", tool_json_text(err.text));
        return object;
    }
    ask_gpu_library(&api, object);
    gpu_api_close(&api);
    return object;
}

json_t *env_devices_json(void)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < NVENDORS; i++)
        json_array_append_new(all, vendor_json(vendors[i]));
    json_array_append_new(all, env_opencl_json(all));
    return all;
}

/* -- the same as text -- */

static void print_files(const json_t *files)
{
    const json_t *file;
    size_t i;

    printf("  device files ");
    json_array_foreach(files, i, file) printf(
        "%s%s (%s)", i ? ", " : "",
        json_string_value(json_object_get(file, "file")),
        json_is_true(json_object_get(file, "present")) ? "there" : "absent");
    putchar('\n');
}

static void print_devices(const json_t *vendor)
{
    const json_t *devices = json_object_get(vendor, "devices");
    const json_t *device;
    size_t i;

    json_array_foreach(devices, i, device)
    {
        const char *name = json_string_value(json_object_get(device, "name"));
        const char *error = json_string_value(json_object_get(device, "error"));
        const char *bus = json_string_value(json_object_get(device, "bus"));
        const char *same =
            json_string_value(json_object_get(device, "same_as"));

        if (error) {
            printf("  device %zu    %s\n", i, error);
            continue;
        }
        printf("  device %zu    %s, %.1f GiB%s%s", i, name ? name : "unknown",
               json_number_value(json_object_get(device, "memory")) / 0x1p30,
               bus && *bus ? ", " : "", bus ? bus : "");
        if (same)
            printf(", used as %s", same);
        putchar('\n');
    }
    if (json_is_array(devices) && json_array_size(devices) == 0)
        printf("  no device%s\n",
               json_object_get(vendor, "device_files")
                   ? ""
                   : " (STARPU_OPENCL_ON_CPUS=1 counts processors)");
}

static void print_vendor(const json_t *vendor)
{
    const json_t *version = json_object_get(vendor, "version");
    const char *error = json_string_value(json_object_get(vendor, "error"));

    puts(json_string_value(json_object_get(vendor, "kind")));
    if (json_object_get(vendor, "device_files"))
        print_files(json_object_get(vendor, "device_files"));
    if (version)
        printf("  library      version %d\n", (int)json_integer_value(version));
    if (error)
        printf("  %s\n", error);
    print_devices(vendor);
}

/* Of one vendor, or OpenCL. */
static void print_line(const json_t *vendor)
{
    const char *error = json_string_value(json_object_get(vendor, "error"));
    const json_t *devices = json_object_get(vendor, "devices"), *device;
    size_t i, wrong = 0, n = json_array_size(devices);

    json_array_foreach(devices, i, device) if (json_object_get(device, "error"))
        wrong++;
    printf("%s: ", json_string_value(json_object_get(vendor, "kind")));
    if (error)
        puts(error);
    else if (wrong)
        printf("%zu device%s, %zu of them with errors\n", n, n == 1 ? "" : "s",
               wrong);
    else
        printf("%zu device%s\n", n, n == 1 ? "" : "s");
}

int env_show_libraries(void)
{
    json_t *all = env_devices_json();
    const json_t *vendor;
    size_t i;

    if (!all)
        return -1;
    puts("\ndevices (orrery env --devices has more)");
    json_array_foreach(all, i, vendor) print_line(vendor);
    json_decref(all);
    return 0;
}

int env_show_devices(void)
{
    json_t *all = env_devices_json();
    const json_t *vendor;
    size_t i;

    if (!all)
        return -1;
    json_array_foreach(all, i, vendor) print_vendor(vendor);
    json_decref(all);
    return 0;
}
