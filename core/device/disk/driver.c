/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/driver.c - the driver of disks: see disk.h. Each disk has a
 * context of its own, which begins one copy of a datum after the other by the
 * disk's functions; they may block. With functions that do not (async_read …) it
 * goes on to the next copy meanwhile. It posts their ends, as callbacks of devices
 * do.
 */
#include "core/device/disk/disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/race.h"
#include "core/base/wait.h"
#include "core/device/disk/requests.h"
#include "core/device/open.h"

/* The measurement when a disk is added: a write and a read of so many bytes for
 * the bandwidth, of one page for the latency. */
enum { PROBE_BYTES = 4 << 20, PROBE_PAGE = 4096 };

/* Requests under way at once, and how much goes from disk to disk in one piece. */
enum { MOST_REQUESTS = 16, PIECE = 1 << 20 };

/* The list of raw copies of a datum's copy, which the disk's context makes. */
struct orr_queue {
    struct disk_requests requests; /* [context] */
    struct orr_copy *copy;         /* [context] the present one */
};

struct disk {
    const struct starpu_disk_ops *ops; /* lent */
    void *base;                        /* what plug returned */
    unsigned node;
    struct orr_context *context;
    struct disks *driver;
    struct orr_queue queue;
    pthread_mutex_t lock;
    struct orr_copy *first, *last; /* [lock] by machine_link[0] */
    bool stop;                     /* [lock] */
    char name[32];
};

struct disks {
    struct orr_driver head; /* first */
    unsigned ndisks;
    struct disk disks[ORR_MAX_DISKS];
};

static struct disks *disks_of(struct orr_driver *driver)
{
    return (struct disks *)driver;
}

/* The disk that is the node; NULL: none is. */
static struct disk *disk_of(struct disks *driver, unsigned node)
{
    for (unsigned i = 0; i < driver->ndisks; i++)
        if (driver->disks[i].node == node)
            return &driver->disks[i];
    return NULL;
}

/* -- memory -- */

static int disk_alloc(struct orr_driver *driver, unsigned node, size_t size,
                      uintptr_t *ret)
{
    struct disk *disk = disk_of(disks_of(driver), node);
    void *object = disk->ops->alloc(disk->base, size);

    *ret = (uintptr_t)object;
    return object ? 0 : -ENOMEM;
}

static void disk_free(struct orr_driver *driver, unsigned node,
                      uintptr_t address, size_t size)
{
    struct disk *disk = disk_of(disks_of(driver), node);

    disk->ops->free(disk->base, (void *)address, size);
}

static int disk_object_open(struct orr_driver *driver, unsigned node, void *pos,
                            size_t size, uintptr_t *ret)
{
    struct disk *disk = disk_of(disks_of(driver), node);
    void *object = disk->ops->open && disk->ops->close
                       ? disk->ops->open(disk->base, pos, size)
                       : NULL; /* it has no names */

    *ret = (uintptr_t)object;
    return object ? 0 : -ENOENT;
}

static void disk_object_close(struct orr_driver *driver, unsigned node,
                              uintptr_t object, size_t size)
{
    struct disk *disk = disk_of(disks_of(driver), node);

    disk->ops->close(disk->base, (void *)object, size);
}

/* -- bytes -- */

/* Whether a function that moved bytes says that it moved all. */
static bool moved_all(int rc, size_t size)
{
    return rc == 0 || (rc > 0 && (size_t)rc == size);
}

static int say_failed(const struct disk *disk, bool reads, size_t size,
                      size_t offset, int rc)
{
    orr_log_warning("%s: %s %zu bytes at %zu failed: %s", disk->name,
                    reads ? "reading" : "writing", size, offset,
                    rc < 0 && rc > -4096 ? strerror(-rc)
                                         : "not all of them were moved");
    return -EIO;
}

static int disk_object_write(struct orr_driver *driver, unsigned node,
                             uintptr_t object, void *bytes, size_t size)
{
    struct disk *disk = disk_of(disks_of(driver), node);
    int rc = disk->ops->full_write
                 ? disk->ops->full_write(disk->base, (void *)object, bytes, size)
                 : -ENOSYS;

    return moved_all(rc, size) ? 0 : say_failed(disk, false, size, 0, rc);
}

static int disk_object_read(struct orr_driver *driver, unsigned node,
                            uintptr_t object, void **ret_bytes,
                            size_t *ret_size, unsigned dst_node)
{
    struct disk *disk = disk_of(disks_of(driver), node);
    int rc = disk->ops->full_read
                 ? disk->ops->full_read(disk->base, (void *)object, ret_bytes,
                                        ret_size, dst_node)
                 : -ENOSYS;

    return moved_all(rc, *ret_size) ? 0 : say_failed(disk, true, 0, 0, rc);
}

/* Both ends of a raw copy; NULL: main memory. */
struct ends {
    struct disk *src, *dst;
};

static const struct starpu_disk_ops *ops_of(const struct ends *ends)
{
    return (ends->dst ? ends->dst : ends->src)->ops;
}

/* Begins it, if the disk has the function for that, and returns what leads to its
 * end; NULL: it is not begun. */
static void *disk_begin_request(const struct ends *ends,
                                const struct orr_raw_copy *raw)
{
    const struct starpu_disk_ops *ops = ops_of(ends);
    off_t from = (off_t)raw->src_offset, to = (off_t)raw->dst_offset;

    if (!disk_requests_are_possible(ops))
        return NULL;
    if (ends->src && ends->dst)
        return ops->copy && ops == ends->src->ops
                   ? ops->copy(ends->src->base, (void *)raw->src, from,
                               ends->dst->base, (void *)raw->dst, to, raw->size)
                   : NULL;
    if (ends->src)
        return ops->async_read
                   ? ops->async_read(ends->src->base, (void *)raw->src,
                                     (char *)raw->dst + to, from, raw->size)
                   : NULL;
    return ops->async_write
               ? ops->async_write(ends->dst->base, (void *)raw->dst,
                                  (char *)raw->src + from, to, raw->size)
               : NULL;
}

static int read_now(const struct disk *disk, uintptr_t object, void *to,
                    size_t offset, size_t size)
{
    int rc =
        disk->ops->read(disk->base, (void *)object, to, (off_t)offset, size);

    return moved_all(rc, size) ? 0 : say_failed(disk, true, size, offset, rc);
}

static int write_now(const struct disk *disk, uintptr_t object,
                     const void *from, size_t offset, size_t size)
{
    int rc;

    orr_race_begin();
    rc =
        disk->ops->write(disk->base, (void *)object, from, (off_t)offset, size);
    orr_race_end();
    return moved_all(rc, size) ? 0 : say_failed(disk, false, size, offset, rc);
}

/* Piece by piece: main memory may be full. */
static int copy_between(const struct ends *ends, const struct orr_raw_copy *raw)
{
    size_t most = raw->size < PIECE ? raw->size : PIECE;
    void *bytes;
    int rc = 0;

    if (posix_memalign(&bytes, PROBE_PAGE, most) != 0)
        return -EIO;
    for (size_t at = 0; at < raw->size && rc == 0; at += most) {
        size_t size = raw->size - at < most ? raw->size - at : most;

        rc = read_now(ends->src, raw->src, bytes, raw->src_offset + at, size);
        if (rc == 0)
            rc = write_now(ends->dst, raw->dst, bytes, raw->dst_offset + at,
                           size);
    }
    free(bytes);
    return rc;
}

static int disk_raw_copy(struct orr_driver *driver,
                         const struct orr_raw_copy *raw,
                         struct orr_async *async)
{
    const struct ends ends = {disk_of(disks_of(driver), raw->src_node),
                              disk_of(disks_of(driver), raw->dst_node)};
    void *channel = disk_begin_request(&ends, raw);

    if (channel && async && async->queue) {
        disk_requests_add(&async->queue->requests, channel, async->queue->copy);
        return -EAGAIN;
    }
    if (channel) {
        disk_request_end(ops_of(&ends), channel);
        return 0;
    }
    if (ends.src && ends.dst)
        return copy_between(&ends, raw);
    if (ends.src)
        return read_now(ends.src, raw->src, (char *)raw->dst + raw->dst_offset,
                        raw->src_offset, raw->size);
    return write_now(ends.dst, raw->dst,
                     (const char *)raw->src + raw->src_offset, raw->dst_offset,
                     raw->size);
}

/* -- data -- */

static struct orr_copy *disk_take_copy(struct disk *disk, bool *stop)
{
    struct orr_copy *copy;

    pthread_mutex_lock(&disk->lock);
    copy = disk->first;
    if (copy)
        disk->first = copy->machine_link[0];
    if (!disk->first)
        disk->last = NULL;
    *stop = disk->stop;
    pthread_mutex_unlock(&disk->lock);
    return copy;
}

/* Requests of the copy that went under way before a failure are waited for, too. */
static void disk_perform_copy(struct disk *disk, struct orr_copy *copy)
{
    int rc;

    disk->queue.copy = copy;
    copy->machine_link[1] = NULL;
    rc = copy->perform(copy, &copy->async);
    if (rc && rc != -EAGAIN)
        copy->async.error = rc;
    if (!copy->machine_link[1])
        orr_copy_post(copy);
}

static void disk_serve(void *arg)
{
    static const struct orr_awaited awaited = {.noun = "work for the disk"};
    struct disk *disk = arg;
    struct disk_requests *requests = &disk->queue.requests;
    bool stop = false;

    for (;;) {
        struct orr_copy *copy =
            requests->n < MOST_REQUESTS ? disk_take_copy(disk, &stop) : NULL;

        if (copy) {
            disk_perform_copy(disk, copy);
        } else if (requests->n > 0) {
            disk_requests_serve(requests);
        } else if (stop) {
            break;
        } else {
            orr_context_park(&awaited, ORR_FOREVER);
        }
    }
    orr_context_end();
}

static void disk_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    struct disk *disk = disk_of(disks_of(driver), copy->dst);

    if (!disk)
        disk = disk_of(disks_of(driver), copy->src);
    copy->async = (struct orr_async){.driver = driver, .queue = &disk->queue};
    copy->machine_link[0] = NULL;
    pthread_mutex_lock(&disk->lock);
    if (disk->last)
        disk->last->machine_link[0] = copy;
    else
        disk->first = copy;
    disk->last = copy;
    pthread_mutex_unlock(&disk->lock);
    orr_context_wake(disk->context);
}

/* -- one more disk -- */

static void disk_stop(struct disk *disk)
{
    struct orr_exec *exec = disk->driver->head.machine->exec;

    pthread_mutex_lock(&disk->lock);
    disk->stop = true;
    pthread_mutex_unlock(&disk->lock);
    orr_context_wake(disk->context);
    exec->ops->join(exec, disk->context);
    pthread_mutex_destroy(&disk->lock);
}

/* µs for writing and for reading so many bytes of an object; false: a failure. */
static bool probe(const struct disk *disk, void *object, char *bytes,
                  size_t size, double ret[2])
{
    struct orr_exec *exec = disk->driver->head.machine->exec;
    double start = orr_exec_now(exec), written;

    if (!moved_all(disk->ops->write(disk->base, object, bytes, 0, size), size))
        return false;
    written = orr_exec_now(exec);
    if (!moved_all(disk->ops->read(disk->base, object, bytes, 0, size), size))
        return false;
    ret[0] = written - start;
    ret[1] = orr_exec_now(exec) - written;
    return true;
}

/* Bytes per µs and µs, for writing and for reading. */
struct speed {
    double bandwidth[2], latency[2];
};

static bool disk_measure_speed(const struct disk *disk, struct speed *ret)
{
    void *object = disk->ops->alloc(disk->base, PROBE_BYTES), *bytes = NULL;
    double all[2];
    bool done = false;

    if (object && posix_memalign(&bytes, PROBE_PAGE, PROBE_BYTES) == 0) {
        memset(bytes, 1, PROBE_BYTES);
        done = probe(disk, object, bytes, PROBE_BYTES, all) &&
               probe(disk, object, bytes, PROBE_PAGE, ret->latency);
    }
    for (unsigned i = 0; done && i < 2; i++) {
        double us = all[i] - ret->latency[i];

        ret->bandwidth[i] = PROBE_BYTES / (us > 1 ? us : 1);
    }
    free(bytes);
    if (object)
        disk->ops->free(disk->base, object, PROBE_BYTES);
    return done;
}

static void fill_node(struct orr_machine *machine, const struct disk *disk,
                      const struct orr_disk_options *options,
                      const struct speed *speed)
{
    struct orr_node_desc *node = &machine->nodes[disk->node];

    *node = (struct orr_node_desc){
        .kind = STARPU_DISK_RAM,
        .devid = (int)(disk - disk->driver->disks),
        .capacity = options->size < 0 ? 0 : (size_t)options->size,
        .stores = true,
        .handles = true,
        .driver = &disk->driver->head,
    };
    snprintf(node->name, sizeof(node->name), "%s", disk->name);
    for (unsigned i = 0; i < disk->node; i++)
        if (orr_node_is_main(&machine->nodes[i])) {
            orr_machine_set_link(machine, i, disk->node, speed->bandwidth[0],
                                 speed->latency[0]);
            orr_machine_set_link(machine, disk->node, i, speed->bandwidth[1],
                                 speed->latency[1]);
        }
}

/* What is read from one is written to the other. */
static void link_disks(struct orr_machine *machine, const struct disk *src,
                       const struct disk *dst)
{
    size_t out = orr_machine_pair(machine, src->node, 0);
    size_t in = orr_machine_pair(machine, 0, dst->node);

    orr_machine_set_link(
        machine, src->node, dst->node,
        1 / (1 / machine->bandwidth[out] + 1 / machine->bandwidth[in]),
        machine->latency[out] + machine->latency[in]);
}

static int disk_start(struct disk *disk)
{
    struct orr_exec *exec = disk->driver->head.machine->exec;
    struct orr_context init = {.name = disk->name};

    pthread_mutex_init(&disk->lock, NULL);
    disk_requests_init(&disk->queue.requests, disk->ops);
    return exec->ops->spawn(exec, &init, -1, disk_serve, disk, &disk->context);
}

static struct disks *find_driver(const struct orr_machine *machine);

int orr_disks_add(struct orr_machine *machine,
                  const struct orr_disk_options *options, struct orr_error *err)
{
    struct disks *driver = find_driver(machine);
    struct disk *disk = &driver->disks[driver->ndisks];
    struct speed speed;
    bool works;
    int rc;

    *disk = (struct disk){
        .ops = options->ops, .driver = driver, .node = machine->nnodes};
    snprintf(disk->name, sizeof(disk->name), "Disk %u", driver->ndisks);
    disk->base = disk->ops->plug(options->parameter, options->size);
    if (!disk->base)
        return orr_fail(err, -ENOENT, "the disk cannot be opened");
    works = (!disk->ops->bandwidth ||
             disk->ops->bandwidth(disk->node, disk->base)) &&
            disk_measure_speed(disk, &speed);
    rc = works ? disk_start(disk)
               : orr_fail(err, -ENOENT,
                          "%d bytes could not be written to the disk and read "
                          "from it again",
                          PROBE_BYTES);
    if (rc < 0) {
        disk->ops->unplug(disk->base);
        return rc;
    }
    fill_node(machine, disk, options, &speed);
    for (unsigned i = 0; i < driver->ndisks; i++) {
        link_disks(machine, &driver->disks[i], disk);
        link_disks(machine, disk, &driver->disks[i]);
    }
    driver->ndisks++;
    return 0;
}

/* -- the driver -- */

static void disks_close(struct orr_driver *driver)
{
    struct disks *disks = disks_of(driver);

    for (unsigned i = 0; i < disks->ndisks; i++) {
        disk_stop(&disks->disks[i]);
        disks->disks[i].ops->unplug(disks->disks[i].base);
    }
    free(disks);
}

static const struct orr_driver_ops disk_ops = {
    .name = "disk",
    .close = disks_close,
    .alloc = disk_alloc,
    .free = disk_free,
    .object_open = disk_object_open,
    .object_close = disk_object_close,
    .object_write = disk_object_write,
    .object_read = disk_object_read,
    .copy_start = disk_copy_start,
    .raw_copy = disk_raw_copy,
};

static struct disks *find_driver(const struct orr_machine *machine)
{
    for (unsigned i = 0; i < machine->ndrivers; i++)
        if (machine->drivers[i]->ops == &disk_ops)
            return disks_of(machine->drivers[i]);
    return NULL; /* not reached: it is always there */
}

ORR_DRIVER_OPEN(disk);
int orr_driver_disk_open(const struct orr_machine_options *options,
                         struct orr_machine *machine, struct orr_driver **ret,
                         struct orr_error *err)
{
    struct disks *driver = calloc(1, sizeof(*driver));

    (void)options;
    (void)err;
    if (!driver)
        return -ENOMEM;
    driver->head.ops = &disk_ops;
    driver->head.machine = machine;
    machine->spare_nodes += ORR_MAX_DISKS;
    *ret = &driver->head;
    return 0;
}
