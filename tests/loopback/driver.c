/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/driver.c - the loopback driver: see loopback.h. What it
 * is asked for it puts into a queue; nothing here waits, but copies that the
 * caller wants made at once.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/device/driver_module.h"
#include "tests/loopback/loopback.h"

static struct loopback *loopback_of(struct orr_driver *driver)
{
    return (struct loopback *)driver;
}

/* The device whose memory the node is; NULL: none of them. */
static struct loopback_device *device_of(struct loopback *driver, unsigned node)
{
    unsigned first = driver->devices[0].node;

    return node >= first && node - first < driver->options.devices
               ? &driver->devices[node - first]
               : NULL;
}

/* -- memory -- */

static int loopback_alloc(struct orr_driver *driver, unsigned node, size_t size,
                          uintptr_t *ret)
{
    struct loopback *l = loopback_of(driver);
    struct loopback_device *device = device_of(l, node);
    int rc = loopback_fault(l, device, LOOPBACK_ALLOC);

    if (rc)
        orr_log_warning("loopback: an allocation of %zu bytes on %s failed: "
                        "%s",
                        size, driver->machine->nodes[node].name,
                        rc == -ENODEV ? "the device is lost"
                                      : "the device is out of memory");
    return rc ? rc : loopback_memory_alloc(&device->memory, size, ret);
}

static void loopback_free(struct orr_driver *driver, unsigned node,
                          uintptr_t address, size_t size)
{
    (void)size;
    loopback_memory_free(&device_of(loopback_of(driver), node)->memory,
                         address);
}

/* -- bytes -- */

/* From the first byte to the last one. */
static size_t extent(const struct orr_raw_copy *raw, const size_t *step)
{
    size_t bytes = raw->size;

    for (unsigned i = 0; i < raw->levels; i++)
        bytes += (raw->n[i] - 1) * step[i];
    return bytes;
}

/* An address that is not of the memory that it is said to be of would be a fault
 * of core, or of an interface. */
static void check_end(struct loopback *driver, unsigned node, uintptr_t address,
                      size_t bytes)
{
    struct loopback_device *device = device_of(driver, node);
    bool holds = true;

    if (device)
        holds = loopback_memory_holds(&device->memory, address, bytes);
    for (unsigned i = 0; !device && i < driver->options.devices; i++)
        holds &= !loopback_memory_has(&driver->devices[i].memory, address);
    if (holds)
        return;
    orr_log_error("loopback: a copy of %zu bytes at %#zx is not within memory "
                  "of %s",
                  bytes, (size_t)address,
                  driver->head.machine->nodes[node].name);
    abort();
}

static void open_end(struct loopback_device *device, bool open)
{
    if (device && open)
        loopback_memory_open(&device->memory);
    else if (device)
        loopback_memory_close(&device->memory);
}

int loopback_copy_now(struct loopback *driver, const struct orr_raw_copy *raw)
{
    struct loopback_device *src = device_of(driver, raw->src_node);
    struct loopback_device *dst = device_of(driver, raw->dst_node);
    struct orr_raw_copy part = *raw;
    int rc = loopback_fault(driver, dst ? dst : src, LOOPBACK_COPY);

    check_end(driver, raw->src_node, raw->src + raw->src_offset,
              extent(raw, raw->src_step));
    check_end(driver, raw->dst_node, raw->dst + raw->dst_offset,
              extent(raw, raw->dst_step));
    if (rc == -EIO)
        part.size /= 2; /* a short copy */
    if (rc == -ENODEV)
        return rc;
    open_end(src, true);
    open_end(dst, true);
    orr_host_race_copy(&part);
    open_end(src, false);
    open_end(dst, false);
    return rc;
}

static int loopback_raw_copy(struct orr_driver *driver,
                             const struct orr_raw_copy *raw,
                             struct orr_async *async)
{
    const struct loopback_op op = {
        .kind = LOOPBACK_OP_COPY, .raw = *raw, .async = async};

    if (!async)
        return loopback_copy_now(loopback_of(driver), raw);
    return loopback_queue_put(async->queue, &op) ? -EAGAIN : -EIO;
}

/* -- queues -- */

static struct orr_queue *loopback_queue(struct orr_driver *driver,
                                        unsigned node, enum orr_queue_use use)
{
    return &device_of(loopback_of(driver), node)->queues[use];
}

/* Nothing that is under way would ever be noticed. */
static void put(struct orr_queue *queue, const struct loopback_op *op)
{
    if (loopback_queue_put(queue, op))
        return;
    orr_log_error("loopback: no memory for an operation of %s", queue->name);
    abort();
}

static void loopback_notify(struct orr_queue *queue, struct orr_post *post)
{
    put(queue, &(struct loopback_op){.kind = LOOPBACK_OP_POST, .post = post});
}

static void loopback_record(struct orr_queue *queue, struct orr_event *event)
{
    put(queue,
        &(struct loopback_op){.kind = LOOPBACK_OP_RECORD, .event = event});
}

static void loopback_wait(struct orr_queue *queue, struct orr_event *event)
{
    put(queue, &(struct loopback_op){.kind = LOOPBACK_OP_WAIT, .event = event});
}

/* -- kernels -- */

static int loopback_kernel_start(struct orr_driver *driver,
                                 struct orr_kernel *kernel)
{
    unsigned node = driver->machine->workers[kernel->worker].node;

    put(loopback_queue(driver, node, ORR_QUEUE_KERNELS),
        &(struct loopback_op){.kind = LOOPBACK_OP_RUN, .kernel = kernel});
    return 0;
}

/* -- opening -- */

/* Also for one that was only half opened. */
static void loopback_close(struct orr_driver *driver)
{
    struct loopback *l = loopback_of(driver);

    for (unsigned i = 0; i < l->nqueues; i++)
        loopback_queue_stop(
            &l->devices[i / ORR_QUEUE_USES].queues[i % ORR_QUEUE_USES]);
    for (unsigned i = 0; i < l->options.devices; i++)
        loopback_memory_done(&l->devices[i].memory);
    while (l->pins.first) {
        struct loopback_pin *next = l->pins.first->next;

        free(l->pins.first);
        l->pins.first = next;
    }
    pthread_mutex_destroy(&l->pins.lock);
    free(l);
}

static const struct orr_driver_ops loopback_ops = {
    .name = "loopback",
    .close = loopback_close,
    .alloc = loopback_alloc,
    .free = loopback_free,
    .pinned_alloc = loopback_pinned_alloc,
    .pinned_free = loopback_pinned_free,
    .pin = loopback_pin,
    .unpin = loopback_unpin,
    .copy_start = orr_driver_copy_start,
    .raw_copy = loopback_raw_copy,
    .copy_levels = 1,
    .kernel_start = loopback_kernel_start,
    .in_order = true,
    .queue = loopback_queue,
    .notify = loopback_notify,
    .record = loopback_record,
    .wait = loopback_wait,
};

/* What the queues take as their length, for schedulers. */
static void set_links(struct loopback *driver, unsigned node)
{
    const struct loopback_options *options = &driver->options;
    struct orr_machine *machine = driver->head.machine;
    double bandwidth = isfinite(options->bandwidth) ? options->bandwidth : 1e4;
    double latency = isnan(options->copy_us) ? 10 : options->copy_us;

    for (unsigned other = 0; other < machine->nnodes; other++) {
        bool peer = device_of(driver, other) != NULL;

        if (other == node || (peer ? !options->peers
                                   : !orr_node_is_main(&machine->nodes[other])))
            continue;
        orr_machine_set_link(machine, node, other, bandwidth, latency);
        orr_machine_set_link(machine, other, node, bandwidth, latency);
    }
}

static int add_device(struct loopback *driver, unsigned i, unsigned node,
                      unsigned worker)
{
    struct loopback_device *device = &driver->devices[i];
    struct orr_machine *machine = driver->head.machine;
    struct orr_node_desc *memory = &machine->nodes[node];
    struct orr_worker_desc *desc = &machine->workers[worker];
    int rc = loopback_memory_init(&device->memory, driver->options.memory);

    if (rc < 0)
        return rc;
    device->node = node;
    *memory = (struct orr_node_desc){
        .kind = loopback_kind.memory,
        .devid = (int)i,
        .capacity = driver->options.memory,
        .driver = &driver->head,
    };
    snprintf(memory->name, sizeof(memory->name), "Loopback %u", i);
    *desc = (struct orr_worker_desc){
        .type = loopback_kind.type,
        .devid = (int)i,
        .node = node,
        .cpu = -1,
        .pipeline = driver->options.pipeline,
        .async = true,
        .speed = 1,
        .driver = &driver->head,
    };
    snprintf(desc->name, sizeof(desc->name), "Loopback %u", i);
    for (unsigned use = 0; rc == 0 && use < ORR_QUEUE_USES; use++) {
        rc = loopback_queue_start(driver, device, use);
        driver->nqueues += rc == 0;
    }
    return rc;
}

static int add_devices(struct loopback *driver)
{
    unsigned n = driver->options.devices, node, worker;
    int rc = orr_machine_add_nodes(&driver->head, n, &node);

    if (rc == 0)
        rc = orr_machine_add_workers(&driver->head, n, &worker);
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = add_device(driver, i, node + i, worker + i);
    for (unsigned i = 0; rc == 0 && i < n; i++)
        set_links(driver, node + i);
    return rc;
}

static int loopback_open(const char *settings, struct orr_machine *machine,
                         struct orr_driver **ret, struct orr_error *err)
{
    struct loopback_options wanted;
    struct loopback *driver;
    int rc = loopback_options_read(settings, &wanted, err);

    if (rc < 0 || wanted.devices == 0)
        return rc;
    driver = calloc(1, sizeof(*driver) +
                           wanted.devices * sizeof(driver->devices[0]));
    if (!driver)
        return -ENOMEM;
    driver->head.ops = &loopback_ops;
    driver->head.machine = machine;
    driver->options = wanted;
    pthread_mutex_init(&driver->pins.lock, NULL);
    *ret = &driver->head;
    return add_devices(driver);
}

ORR_DRIVER_MODULE(loopback_kind, loopback_open)
