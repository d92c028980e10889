/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/driver.c - the driver of GPUs: opening and closing. See gpu.h for the parts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/device/gpu/gpu.h"

/* -- devices of nodes and workers -- */

struct gpu_device *orr_gpu_on_node(struct gpu *driver, unsigned node)
{
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (driver->devices[i].used && driver->devices[i].node == node)
            return &driver->devices[i];
    return NULL;
}

struct gpu_device *orr_gpu_of_worker(struct gpu *driver, unsigned worker)
{
    return worker < driver->head.machine->nworkers
               ? orr_gpu_on_node(driver,
                                 driver->head.machine->workers[worker].node)
               : NULL;
}

struct gpu_worker *orr_gpu_worker(struct gpu *driver, unsigned worker)
{
    struct gpu_device *device = orr_gpu_of_worker(driver, worker);

    return device
               ? &device->workers[driver->head.machine->workers[worker].stream]
               : NULL;
}

int orr_gpu_report(struct gpu_device *device, const char *what, int code)
{
    const struct gpu *driver = device->driver;
    int error = gpu_errno(code);

    if (!code)
        return 0;
    if (error == -ENODEV)
        atomic_store_explicit(&device->lost, true, memory_order_relaxed);
    orr_log_warning("%s: %s on %s %d (%s) failed: %s (%d)",
                    driver->vendor->name, what, driver->vendor->display,
                    device->number, device->name, gpu_words(&driver->api, code),
                    code);
    return error;
}

/* -- closing -- */

static void gpu_close_device(struct gpu_device *device)
{
    struct gpu *driver = device->driver;
    intptr_t before;
    bool entered;

    if (device->context) {
        entered = driver->vendor->enter(device, &before) == 0;
        for (unsigned i = 0; device->workers && i < driver->per_device; i++)
            gpu_worker_done(device, &device->workers[i]);
        for (unsigned use = 0; use < ORR_QUEUE_USES; use++)
            gpu_queue_close(&device->queues[use]);
        if (device->byte)
            (void)driver->api.free(device->byte);
        if (entered)
            driver->vendor->leave(device, before);
    }
    free(device->workers);
}

/* Also for one that was only half opened. Contexts go when no device needs one any
 * more. */
void gpu_close(struct orr_driver *head)
{
    struct gpu *driver = (struct gpu *)head;

    for (unsigned i = 0; i < driver->ndevices; i++)
        gpu_close_device(&driver->devices[i]);
    gpu_marks_done(driver);
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (driver->devices[i].context)
            (void)driver->vendor->release(&driver->devices[i]);
    for (unsigned i = 0; i < sizeof(driver->handles) / sizeof(void **); i++)
        free(driver->handles[i]);
    gpu_api_close(&driver->api);
    pthread_mutex_destroy(&driver->events);
    free(driver);
}

struct gpu *orr_gpu_of(const struct orr_machine *machine,
                       const struct gpu_vendor *vendor)
{
    for (unsigned i = 0; i < machine->ndrivers; i++) {
        if (machine->drivers[i]->ops == vendor->ops)
            return (struct gpu *)machine->drivers[i];
    }
    return NULL;
}

/* -- opening -- */

static int open_streams(struct gpu_device *device)
{
    struct gpu *driver = device->driver;
    intptr_t before;
    int code = driver->vendor->enter(device, &before);

    if (code)
        return code;
    for (unsigned use = 0; !code && use < ORR_QUEUE_USES; use++)
        if (use != ORR_QUEUE_KERNELS)
            code = gpu_queue_open(&device->queues[use], device);
    for (unsigned i = 0; !code && i < driver->per_device; i++)
        code = gpu_queue_open(&device->workers[i].kernels, device);
    driver->vendor->leave(device, before);
    return code;
}

static int gpu_open_device(struct gpu_device *device, struct orr_error *err)
{
    struct gpu *driver = device->driver;
    int code;

    device->used = true;
    device->workers = calloc(driver->per_device, sizeof(*device->workers));
    if (!device->workers)
        return -ENOMEM;
    code = driver->vendor->retain(device);
    if (!code)
        code = open_streams(device);
    if (code)
        return orr_fail(err, -ENODEV,
                        "%s device %d (%s) cannot be opened: %s (%d); leave it "
                        "out with STARPU_WORKERS_%sID",
                        driver->vendor->display, device->number, device->name,
                        gpu_words(&driver->api, code), code,
                        driver->vendor->variable);
    return 0;
}

/* Figures that the bus files replace: schedulers want some. */
enum { BANDWIDTH = 10000, PEER_BANDWIDTH = 20000, LATENCY = 10 };

static void link_to_main(struct orr_machine *machine, unsigned node)
{
    for (unsigned other = 0; other < machine->nnodes; other++) {
        if (!orr_node_is_main(&machine->nodes[other]))
            continue;
        orr_machine_set_link(machine, node, other, BANDWIDTH, LATENCY);
        orr_machine_set_link(machine, other, node, BANDWIDTH, LATENCY);
    }
}

/* Opens the access of one device to the other's memory; refused copies go by
 * way of main memory. */
static void link_to_peer(struct gpu_device *device, struct gpu_device *peer)
{
    struct gpu *driver = device->driver;
    intptr_t before;
    int can = 0, code;

    if (driver->api.can_access(&can, device->id, peer->id) || !can ||
        driver->vendor->enter(device, &before))
        return;
    code = driver->vendor->open_peer(peer);
    driver->vendor->leave(device, before);
    if (code && code != GPU_PEER_ALREADY_OPEN) {
        orr_log_notice("%s: device %d does not access the memory of device "
                       "%d: %s (%d); what they exchange goes by way of main "
                       "memory",
                       driver->vendor->name, device->number, peer->number,
                       gpu_words(&driver->api, code), code);
        return;
    }
    orr_machine_set_link(driver->head.machine, peer->node, device->node,
                         PEER_BANDWIDTH, LATENCY);
}

/* That n devices take. */
static unsigned gpu_processors_needed(const struct orr_gpu_options *options,
                                      unsigned n)
{
    if (options->cpu_for_all)
        return n > 0;
    return options->cpu_per_worker ? n * options->per_device : n;
}

/* Whether a worker has that of the one before it. */
static bool is_beside(const struct orr_gpu_options *options, bool first_device,
                      unsigned stream)
{
    if (options->cpu_for_all)
        return !first_device || stream > 0;
    return stream > 0 && !options->cpu_per_worker;
}

static void gpu_describe_worker(struct gpu_device *device, unsigned worker,
                                unsigned stream, bool beside)
{
    struct orr_worker_desc *desc =
        &device->driver->head.machine->workers[worker];
    const struct gpu_vendor *vendor = device->driver->vendor;

    *desc = (struct orr_worker_desc){
        .type = vendor->type,
        .devid = device->number,
        .node = device->node,
        .stream = stream,
        .cpu = -1,
        .beside = beside,
        .pipeline = 2,
        .async = true,
        .speed = 1,
        .driver = &device->driver->head,
    };
    orr_snprintf(desc->name, sizeof(desc->name), "%s %d.%u (%.24s %.1f GiB%s%s)",
                 vendor->display, device->number, stream, device->name,
                 (double)device->memory / 0x1p30, device->bus[0] ? " " : "",
                 device->bus);
}

static void gpu_describe_device(struct gpu_device *device, unsigned node,
                                unsigned worker, bool first)
{
    struct gpu *driver = device->driver;
    struct orr_node_desc *memory = &driver->head.machine->nodes[node];

    device->node = node;
    *memory = (struct orr_node_desc){
        .kind = driver->vendor->memory,
        .devid = device->number,
        .capacity = device->memory / 10 * 9,
        .driver = &driver->head,
    };
    snprintf(memory->name, sizeof(memory->name), "%s %d",
             driver->vendor->display, device->number);
    snprintf(memory->bus, sizeof(memory->bus), "%s", device->bus);
    for (unsigned i = 0; i < driver->per_device; i++)
        gpu_describe_worker(device, worker + i, i,
                            is_beside(driver->options, first, i));
    link_to_main(driver->head.machine, node);
}

static void link_peers(struct gpu *driver, const unsigned *chosen, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            if (i != j)
                link_to_peer(&driver->devices[chosen[i]],
                             &driver->devices[chosen[j]]);
}

static int gpu_open_devices(struct gpu *driver, const unsigned *chosen,
                            unsigned n, bool leave_processors,
                            struct orr_error *err)
{
    struct orr_machine *machine = driver->head.machine;
    unsigned node, worker, per = driver->per_device;
    int rc = orr_machine_add_nodes(&driver->head, n, &node);

    if (rc < 0)
        return rc;
    if (leave_processors)
        orr_machine_spare_processors(machine,
                                     gpu_processors_needed(driver->options, n));
    rc = orr_machine_add_workers(&driver->head, n * per, &worker);
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        rc = gpu_open_device(&driver->devices[chosen[i]], err);
        if (rc == 0)
            gpu_describe_device(&driver->devices[chosen[i]], node + i,
                                worker + i * per, i == 0);
    }
    if (rc == 0 && driver->options->peers)
        link_peers(driver, chosen, n);
    return rc;
}

static bool is_asked_for(const struct orr_gpu_options *options)
{
    return options->n > 0 || options->ids || options->first || options->library;
}

/* Without the library the program goes on; if devices were asked for, a message
 * says why there are none. */
static int gpu_open_library(struct gpu *driver)
{
    const struct orr_gpu_options *options = driver->options;
    const char *display = driver->vendor->display;
    struct orr_error missing = {""};
    int rc = gpu_api_open(driver->vendor->library, options->library,
                          &driver->api, &missing);

    if (rc < 0 && is_asked_for(options))
        orr_log_warning("%s workers were requested, but %s", display,
                        missing.text);
    else if (rc < 0)
        orr_log_notice("there may be %s devices, but %s", display,
                       missing.text);
    return rc;
}

int gpu_open(const struct gpu_vendor *vendor,
             const struct orr_gpu_options *options, bool leave_processors,
             struct orr_machine *machine, struct orr_driver **ret,
             struct orr_error *err)
{
    unsigned chosen[STARPU_MAXCUDADEVS], n = 0;
    struct gpu *driver;
    int rc;

    if (options->n == 0 ||
        (!is_asked_for(options) && !gpu_may_have_devices(vendor->library)))
        return 0;
    driver = calloc(1, sizeof(*driver));
    if (!driver)
        return -ENOMEM;
    driver->head.ops = vendor->ops;
    driver->head.machine = machine;
    driver->vendor = vendor;
    driver->options = options;
    driver->per_device = options->per_device;
    pthread_mutex_init(&driver->events, NULL);
    *ret = &driver->head;
    if (options->cpu_twice)
        return orr_fail(
            err, -EINVAL,
            "STARPU_%s_THREAD_PER_WORKER=1 and "
            "STARPU_%s_THREAD_PER_DEV exclude each other: unset one",
            vendor->variable, vendor->variable);
    if (gpu_open_library(driver) < 0)
        return 0;
    rc = gpu_find(driver, chosen, &n, err);
    if (rc == 0 && n > 0)
        rc = gpu_open_devices(driver, chosen, n, leave_processors, err);
    driver->options = NULL;
    return rc;
}
