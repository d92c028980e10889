/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/hdf5.c - starpu_disk_hdf5_ops: a disk that is a file of HDF5's, by
 * the module orrery/hdf5.so, which is opened with the first one. Any thread, one at
 * a time.
 */
#include "core/device/disk/hdf5.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/log.h"
#include "core/base/module.h"

struct disk {
    const struct orr_hdf5_ops *ops;
    struct orr_hdf5_file *file;
    char *path;            /* owned */
    atomic_bool said_full; /* that it has no room, since there was some */
};

struct object {
    struct orr_hdf5_dataset *dataset;
    size_t size;
    size_t used; /* bytes that hdf5_full_write has put there */
};

/* HDF5's own, of the whole process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hdf5_plug(void *parameter, starpu_ssize_t size)
{
    struct disk *disk = calloc(1, sizeof(*disk));
    struct orr_error err = {""};
    const void *table;
    int rc = -ENOMEM;

    (void)size; /* the library counts */
    if (!parameter)
        rc = orr_fail(&err, -EINVAL,
                      "it needs a path: give it to starpu_disk_register as the "
                      "parameter");
    else if (disk)
        disk->path = strdup(parameter);
    if (disk && disk->path)
        rc = orr_module_open("hdf5", &table, &err);
    if (rc == 0) {
        disk->ops = table;
        pthread_mutex_lock(&lock);
        rc = disk->ops->open(parameter, &disk->file, &err);
        pthread_mutex_unlock(&lock);
    }
    if (rc == 0)
        return disk;
    orr_log_error("a disk of HDF5's cannot be used: %s",
                  err.text[0] ? err.text : strerror(-rc));
    if (disk)
        free(disk->path);
    free(disk);
    return NULL;
}

static void hdf5_unplug(void *base)
{
    struct disk *disk = base;

    pthread_mutex_lock(&lock);
    disk->ops->close(disk->file);
    pthread_mutex_unlock(&lock);
    free(disk->path);
    free(disk);
}

/* -- objects -- */

static void hdf5_release_object(const struct disk *disk, struct object *object)
{
    pthread_mutex_lock(&lock);
    disk->ops->release(object->dataset);
    pthread_mutex_unlock(&lock);
    free(object);
}

/* Made, or found if it has a name; else why not, as errno. */
static struct object *new_object(const struct disk *disk, const char *name,
                                 size_t size, int *ret_code)
{
    struct object *object = calloc(1, sizeof(*object));

    if (!object)
        return NULL;
    object->size = size;
    object->used = name ? size : 0;
    pthread_mutex_lock(&lock);
    object->dataset = name ? disk->ops->find(disk->file, name, size)
                           : disk->ops->make(disk->file, size);
    *ret_code = errno;
    pthread_mutex_unlock(&lock);
    if (object->dataset)
        return object;
    free(object);
    return NULL;
}

/* As in files.c: it is called whenever something might leave. */
static void *hdf5_alloc_object(void *base, size_t size)
{
    struct disk *disk = base;
    int code = ENOMEM;
    void *object = new_object(disk, NULL, size, &code);

    if (object)
        atomic_store(&disk->said_full, false);
    else if (!atomic_exchange(&disk->said_full, true))
        orr_log_warning("disk \"%s\" has no room for %zu bytes: %s", disk->path,
                        size, strerror(code));
    return object;
}

static void *hdf5_open_object(void *base, void *pos, size_t size)
{
    int unused;

    return new_object(base, pos, size, &unused);
}

static void end_object(void *base, void *obj, size_t size)
{
    (void)size;
    hdf5_release_object(base, obj);
}

/* -- bytes -- */

static int read_object(void *base, void *obj, void *buf, off_t offset,
                       size_t size)
{
    const struct disk *disk = base;
    const struct object *object = obj;
    int rc;

    pthread_mutex_lock(&lock);
    rc = disk->ops->read(object->dataset, buf, offset, size);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int write_object(void *base, void *obj, const void *buf, off_t offset,
                        size_t size)
{
    const struct disk *disk = base;
    const struct object *object = obj;
    int rc;

    pthread_mutex_lock(&lock);
    rc = disk->ops->write(object->dataset, buf, offset, size);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int hdf5_full_read(void *base, void *obj, void **ptr, size_t *size,
                          unsigned dst_node)
{
    const struct object *object = obj;
    int rc;

    *size = object->used;
    *ptr = (void *)starpu_malloc_on_node_flags(dst_node, *size, 0);
    if (!*ptr)
        return -ENOMEM;
    rc = read_object(base, obj, *ptr, 0, *size);
    if (rc < 0)
        starpu_free_on_node_flags(dst_node, (uintptr_t)*ptr, *size, 0);
    return rc;
}

/* The object may have to grow. */
static int hdf5_full_write(void *base, void *obj, void *ptr, size_t size)
{
    struct object *object = obj, *larger;
    struct orr_hdf5_dataset *old = object->dataset;
    int rc;

    if (size > object->size) {
        larger = hdf5_alloc_object(base, size);
        if (!larger)
            return -ENOSPC;
        object->dataset = larger->dataset;
        object->size = size;
        larger->dataset = old;
        hdf5_release_object(base, larger);
    }
    rc = write_object(base, obj, ptr, 0, size);
    object->used = rc == 0 ? size : 0;
    return rc;
}

struct starpu_disk_ops starpu_disk_hdf5_ops = {
    .plug = hdf5_plug,
    .unplug = hdf5_unplug,
    .alloc = hdf5_alloc_object,
    .free = end_object,
    .open = hdf5_open_object,
    .close = end_object,
    .read = read_object,
    .write = write_object,
    .full_read = hdf5_full_read,
    .full_write = hdf5_full_write,
};
