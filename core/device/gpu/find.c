/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/find.c - which GPUs there are, and which of them are used.
 * While a machine is opened, by main.
 */
#include <stdio.h>

#include "core/base/log.h"
#include "core/device/choice.h"
#include "core/device/gpu/gpu.h"

/* Says which call of the vendor's was refused, and what does not work without it. */
static void gpu_call_refused(const struct gpu *driver, enum gpu_entry call,
                             int code, const char *what)
{
    const struct gpu_api *api = &driver->api;

    orr_log_warning("%s: %s: %s failed: %s (%d)", driver->vendor->name, what,
                    api->library->names[call], gpu_words(api, code), code);
}

/* A code of the vendor's. */
static int gpu_add_device(struct gpu *driver, int number)
{
    const struct gpu_api *api = &driver->api;
    struct gpu_device *device = &driver->devices[driver->ndevices];
    enum gpu_entry call = GPU_ENTRY_device;
    char what[64];
    int code;

    *device = (struct gpu_device){.driver = driver, .number = number};
    code = api->device(&device->id, number);
    if (!code) {
        call = GPU_ENTRY_memory;
        code = api->memory(&device->memory, device->id);
    }
    if (code) {
        snprintf(what, sizeof(what),
                 "device %d and those after it are left out", number);
        gpu_call_refused(driver, call, code, what);
        return code;
    }
    if (api->name(device->name, sizeof(device->name), device->id))
        snprintf(device->name, sizeof(device->name), "%s",
                 driver->vendor->display);
    if (api->bus(device->bus, sizeof(device->bus), device->id))
        device->bus[0] = 0;
    orr_device_bus_shorten(device->bus);
    driver->ndevices++;
    return 0;
}

static void gpu_add_devices(struct gpu *driver)
{
    const struct gpu_vendor *vendor = driver->vendor;
    enum gpu_entry call = GPU_ENTRY_init;
    int n = 0, code = driver->api.init(0);

    if (!code) {
        call = GPU_ENTRY_count;
        code = driver->api.count(&n);
    }
    if (code && code != GPU_NO_DEVICE)
        gpu_call_refused(driver, call, code, "devices cannot be used");
    for (int i = 0; !code && i < n; i++) {
        if (driver->ndevices == STARPU_MAXCUDADEVS) {
            orr_log_notice("%s: only the first %d devices are used",
                           vendor->name, STARPU_MAXCUDADEVS);
            break;
        }
        code = gpu_add_device(driver, i);
    }
}

int gpu_find(struct gpu *driver, unsigned *chosen, unsigned *ret_n,
             struct orr_error *err)
{
    const struct orr_gpu_options *options = driver->options;
    char variable[32];
    struct orr_device_choice choice = {
        .kind = driver->vendor->display,
        .variable = variable,
        .ids = options->ids,
        .first = options->first,
        .wanted = options->n,
        .max = STARPU_MAXCUDADEVS,
        .hint = "",
    };

    snprintf(variable, sizeof(variable), "STARPU_WORKERS_%sID",
             driver->vendor->variable);
    gpu_add_devices(driver);
    choice.there = driver->ndevices;
    return orr_device_choose(&choice, chosen, ret_n, err);
}
