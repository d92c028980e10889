/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/files.c - disks that are directories. All objects are in one
 * file, which has no name any more once it is open, so that nothing is left behind
 * however the program ends; extents.c says where. What was there before is opened
 * by name. Three ways to read and write; the functions of struct starpu_disk_ops,
 * which say what failed as a negative errno. Any thread, for different objects.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <starpu.h>

#include "core/base/log.h"
#include "core/device/disk/disk.h"
#include "core/device/disk/extents.h"
#include "core/device/leftovers.h"

/* A file, open for each of the ways. */
struct file {
    int fd;
    int direct;  /* the same past the cache, -1: the file system has no such */
    FILE *stdio; /* owns fd */
};

struct directory {
    char *path;
    struct orr_leftover made; /* owned; its `least` is 0: all was there */
    struct file file;
    struct extents extents;
    atomic_bool said_full; /* since an object had room last */
};

struct object {
    struct file *file; /* the directory's, or … */
    struct file own;   /* … one that was there before */
    off_t start;
    size_t size;
    size_t used; /* bytes that directory_full_write has put there */
};

/* Moves bytes of a file; 0 or a negative errno. */
typedef int (*move_t)(const struct file *file, bool writes, void *bytes,
                      off_t offset, size_t size);

/* -- files -- */

static void file_close(struct file *file)
{
    if (file->stdio)
        fclose(file->stdio);
    else if (file->fd >= 0)
        close(file->fd);
    if (file->direct >= 0)
        close(file->direct);
}

/* Takes `fd`. 0 or a negative errno. */
static int file_open(struct file *file, int fd, const char *path)
{
    *file = (struct file){.fd = fd, .direct = -1};
    if (fd < 0)
        return -errno;
    file->direct = open(path, O_RDWR | O_CLOEXEC | O_DIRECT);
    file->stdio = fdopen(fd, "r+");
    return file->stdio ? 0 : -errno;
}

/* -- directories -- */

_Static_assert((int)ORR_MAX_LEFTOVERS >= (int)ORR_MAX_DISKS,
               "a place for each");

/* Makes the directory and those above it; *ret_least is the length of the path of the
 * first that was not there, 0 if all were. 0 or a negative errno. */
static int make_directories(const char *path, size_t *ret_least)
{
    char *part = strdup(path);
    size_t n = part ? strlen(part) : 0;
    int rc = part ? 0 : -ENOMEM;

    *ret_least = 0;
    for (size_t i = 1; rc == 0 && i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) == 0 && !*ret_least)
            *ret_least = i;
        else if (errno != EEXIST && errno != EISDIR)
            rc = -errno;
        part[i] = path[i];
    }
    free(part);
    return rc;
}

/* The file of all objects. */
static int make_file(struct directory *directory)
{
    char *path;
    int rc;

    if (asprintf(&path, "%s/orrery-XXXXXX", directory->path) < 0)
        return -ENOMEM;
    rc = file_open(&directory->file, mkostemp(path, O_CLOEXEC), path);
    if (directory->file.fd >= 0)
        (void)unlink(path);
    free(path);
    return rc;
}

static void directory_free(struct directory *directory)
{
    file_close(&directory->file);
    extents_done(&directory->extents);
    if (directory->made.least && !orr_leftover_remove(&directory->made))
        return;
    free(directory->path);
    free(directory->made.path);
    free(directory);
}

static void *directory_plug(void *parameter, starpu_ssize_t size)
{
    struct directory *directory = calloc(1, sizeof(*directory));
    const char *path = parameter;
    int rc = -ENOMEM;

    (void)size; /* the library counts */
    if (!path)
        orr_log_error("a disk that is a directory needs its path: give it to "
                      "starpu_disk_register as the parameter");
    if (!path || !directory) {
        free(directory);
        return NULL;
    }
    directory->file = (struct file){.fd = -1, .direct = -1};
    extents_init(&directory->extents, (size_t)sysconf(_SC_PAGESIZE));
    directory->path = strdup(path);
    directory->made.path = strdup(path);
    if (directory->path && directory->made.path)
        rc = make_directories(path, &directory->made.least);
    if (directory->made.least)
        orr_leftover_add(&directory->made);
    if (rc == 0)
        rc = make_file(directory);
    if (rc == 0)
        return directory;
    orr_log_error("the directory \"%s\" cannot be a disk: %s", path,
                  strerror(-rc));
    directory_free(directory);
    return NULL;
}

static void directory_unplug(void *base)
{
    directory_free(base);
}

/* -- objects -- */

/* The blocks are taken now: a disk that is full says so before anything was
 * written. */
static int file_reserve_blocks(int fd, off_t start, size_t size)
{
    struct stat status;

    if (fallocate(fd, 0, start, (off_t)size) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -errno;
    if (fstat(fd, &status) == 0 && status.st_size >= start + (off_t)size)
        return 0;
    return ftruncate(fd, start + (off_t)size) == 0 ? 0 : -errno;
}

/* The blocks are the file system's again, if it can do that. */
static void directory_free_extent(struct directory *directory,
                                  const struct object *object)
{
    size_t size = extents_round(&directory->extents, object->size);

    (void)fallocate(directory->file.fd,
                    FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, object->start,
                    (off_t)size);
    extents_give(&directory->extents, object->start, object->size);
}

/* Gives the object its place. */
static int directory_allocate_extent(struct directory *directory,
                                     struct object *object)
{
    size_t size = extents_round(&directory->extents, object->size);
    int rc;

    object->start = extents_take(&directory->extents, object->size);
    rc = file_reserve_blocks(directory->file.fd, object->start, size);
    if (rc < 0)
        extents_give(&directory->extents, object->start, object->size);
    return rc;
}

static void *directory_alloc_object(void *base, size_t size)
{
    struct directory *directory = base;
    struct object *object = calloc(1, sizeof(*object));
    int rc = -ENOMEM;

    if (object) {
        object->file = &directory->file;
        object->size = size;
        rc = directory_allocate_extent(directory, object);
    }
    if (rc == 0) {
        atomic_store(&directory->said_full, false);
        return object;
    }
    /* It is asked again whenever something might leave. */
    if (!atomic_exchange(&directory->said_full, true))
        orr_log_warning("disk \"%s\" has no room for %zu bytes: %s",
                        directory->path, size, strerror(-rc));
    free(object);
    return NULL;
}

static void directory_free_object(void *base, void *obj, size_t size)
{
    (void)size;
    directory_free_extent(base, obj);
    free(obj);
}

static void *directory_open_object(void *base, void *pos, size_t size)
{
    const struct directory *directory = base;
    struct object *object = calloc(1, sizeof(*object));
    struct stat status;
    char *path = NULL;
    int rc = -ENOMEM;

    if (object && asprintf(&path, "%s/%s", directory->path,
                           (const char *)pos) >= 0) {
        rc = file_open(&object->own, open(path, O_RDWR | O_CLOEXEC), path);
        object->file = &object->own;
        object->size = object->used = size;
        if (rc == 0 && (fstat(object->own.fd, &status) != 0 ||
                        (size_t)status.st_size < size))
            rc = -ENOENT;
        if (rc < 0)
            file_close(&object->own);
        free(path);
    }
    if (rc == 0)
        return object;
    free(object);
    return NULL;
}

static void close_object(void *base, void *obj, size_t size)
{
    struct object *object = obj;

    (void)base;
    (void)size;
    file_close(&object->own);
    free(object);
}

/* -- all of an object -- */

static int directory_full_read(move_t move, const struct object *object,
                               void **ptr, size_t *size, unsigned dst_node)
{
    int rc;

    *size = object->used;
    *ptr = (void *)starpu_malloc_on_node_flags(dst_node, *size, 0);
    if (!*ptr)
        return -ENOMEM;
    rc = move(object->file, false, *ptr, object->start, *size);
    if (rc < 0)
        starpu_free_on_node_flags(dst_node, (uintptr_t)*ptr, *size, 0);
    return rc;
}

/* The object may have to grow; one that was there before is a file of its own. */
static int directory_grow_object(struct directory *directory,
                                 struct object *object, size_t size)
{
    struct object larger = *object;
    int rc;

    if (object->file != &directory->file)
        return ftruncate(object->own.fd, (off_t)size) == 0 ? 0 : -errno;
    if (size <= object->size)
        return 0;
    larger.size = size;
    rc = directory_allocate_extent(directory, &larger);
    if (rc < 0)
        return rc;
    directory_free_extent(directory, object);
    *object = larger;
    return 0;
}

static int directory_full_write(move_t move, struct directory *directory,
                                struct object *object, void *ptr, size_t size)
{
    int rc = directory_grow_object(directory, object, size);

    if (rc == 0)
        rc = move(object->file, true, ptr, object->start, size);
    object->used = rc == 0 ? size : 0;
    return rc;
}

/* -- three ways to move bytes -- */

static int move_stdio(const struct file *file, bool writes, void *bytes,
                      off_t offset, size_t size)
{
    FILE *stdio = file->stdio;
    size_t moved = 0;
    int rc = 0;

    flockfile(stdio);
    errno = 0;
    if (fseeko(stdio, offset, SEEK_SET) == 0)
        moved = writes ? fwrite(bytes, 1, size, stdio)
                       : fread(bytes, 1, size, stdio);
    if (moved != size || (writes && fflush(stdio) != 0))
        rc = errno ? -errno : -EIO;
    clearerr(stdio);
    funlockfile(stdio);
    return rc;
}

static int move_with(int fd, bool writes, char *bytes, off_t offset,
                     size_t size)
{
    while (size > 0) {
        ssize_t n = writes ? pwrite(fd, bytes, size, offset)
                           : pread(fd, bytes, size, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        bytes += n;
        offset += n;
        size -= (size_t)n;
    }
    return 0;
}

static int move_unistd(const struct file *file, bool writes, void *bytes,
                       off_t offset, size_t size)
{
    return move_with(file->fd, writes, bytes, offset, size);
}

/* Bytes that are no whole pages go through the system's cache, which is
 * coherent with the other way. */
static int move_unistd_o_direct(const struct file *file, bool writes,
                                void *bytes, off_t offset, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool whole = ((uintptr_t)bytes | (uintptr_t)offset | size) % page == 0;

    return move_with(whole && file->direct >= 0 ? file->direct : file->fd,
                     writes, bytes, offset, size);
}

/* The functions of one way, and their table. */
#define WAY(way)                                                               \
    static int read_##way(void *base, void *obj, void *buf, off_t offset,      \
                          size_t size)                                         \
    {                                                                          \
        const struct object *object = obj;                                     \
                                                                               \
        (void)base;                                                            \
        return move_##way(object->file, false, buf, object->start + offset,    \
                          size);                                               \
    }                                                                          \
    static int write_##way(void *base, void *obj, const void *buf,             \
                           off_t offset, size_t size)                          \
    {                                                                          \
        const struct object *object = obj;                                     \
                                                                               \
        (void)base;                                                            \
        return move_##way(object->file, true, (void *)(uintptr_t)buf,          \
                          object->start + offset, size);                       \
    }                                                                          \
    static int full_read_##way(void *base, void *obj, void **ptr,              \
                               size_t *size, unsigned dst_node)                \
    {                                                                          \
        (void)base;                                                            \
        return directory_full_read(move_##way, obj, ptr, size, dst_node);      \
    }                                                                          \
    static int full_write_##way(void *base, void *obj, void *ptr, size_t size) \
    {                                                                          \
        return directory_full_write(move_##way, base, obj, ptr, size);         \
    }                                                                          \
    struct starpu_disk_ops starpu_disk_##way##_ops = {                         \
        .plug = directory_plug,                                                \
        .unplug = directory_unplug,                                            \
        .alloc = directory_alloc_object,                                       \
        .free = directory_free_object,                                         \
        .open = directory_open_object,                                         \
        .close = close_object,                                                 \
        .read = read_##way,                                                    \
        .write = write_##way,                                                  \
        .full_read = full_read_##way,                                          \
        .full_write = full_write_##way,                                        \
    }

WAY(stdio);
WAY(unistd);
WAY(unistd_o_direct);
