/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/env/opencl.c - OpenCL's part of `orrery env --devices`: see env.h. */
#include "tools/env/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/choice.h"
#include "core/device/opencl/opencl.h"
#include "tools/common/json.h"

/* "CUDA 0", if that is where the address is; or NULL. */
static json_t *other_name(const json_t *all, const char *bus)
{
    const json_t *vendor, *device;
    size_t i, k;

    json_array_foreach(all, i, vendor)
    {
        json_array_foreach(json_object_get(vendor, "devices"), k, device)
        {
            const char *text =
                json_string_value(json_object_get(device, "bus"));
            char other[16] = "";

            snprintf(other, sizeof(other), "%s", text ? text : "");
            orr_device_bus_shorten(other);
            if (*bus && strcmp(bus, other) == 0)
                return json_sprintf(
                    "%s %zu",
                    json_string_value(json_object_get(vendor, "kind")), k);
        }
    }
    return NULL;
}

/* Numbered as in a run with this environment. */
static void opencl_read_devices(struct opencl *driver)
{
    struct orr_machine_options options = {0};
    struct orr_config config;
    struct orr_error err;

    if (orr_config_read(&config, &err) == 0) {
        orr_machine_options_devices(&options, &config);
        if (opencl_look(driver, &options, &err) < 0)
            fprintf(stderr, "orrery: error: %s\n", err.text);
        orr_config_done(&config);
    }
}

json_t *env_opencl_json(const json_t *all)
{
    struct opencl *driver = calloc(1, sizeof(*driver));
    json_t *object = json_pack("{ss}", "kind", "OpenCL"), *devices;
    struct orr_error err = {"there is no libOpenCL.so.1: install an OpenCL "
                            "loader"};

    if (!driver || opencl_api_open(&driver->cl, &err) < 0) {
        json_object_set_new(object, "error", tool_json_text(err.text));
        free(driver);
        return object;
    }
    opencl_read_devices(driver);
    devices = json_array();
    for (unsigned i = 0; i < driver->ndevices; i++) {
        const struct opencl_device *device = &driver->devices[i];

        json_array_append_new(
            devices, json_pack("{si so ss sI so*}", "number", (int)i, "name",
                               tool_json_text(device->name), "bus", device->bus,
                               "memory", (json_int_t)device->memory, "same_as",
                               other_name(all, device->bus)));
    }
    json_object_set_new(object, "devices", devices);
    opencl_forget(driver);
    opencl_api_close(&driver->cl);
    free(driver);
    return object;
}
