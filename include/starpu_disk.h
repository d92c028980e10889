/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_disk.h - disks as memory nodes, where data go for which main memory has
 * no room (STARPU_LIMIT_CPU_MEM), and files that are data already.
 */
#pragma once

#include <sys/types.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that a disk of limited size must have at least. */
#define STARPU_DISK_SIZE_MIN (16 * 1024 * 1024)

/* How a disk is operated. `base` is what plug returned, `obj` one object on it, a
 * file mostly. Called by any thread, for different objects at once. */
struct starpu_disk_ops {
    /* Opens the disk that `parameter` names, of so many bytes (negative: no
     * limit); NULL on failure. */
    void *(*plug)(void *parameter, starpu_ssize_t size);
    void (*unplug)(void *base);
    /* 1 if the disk can be used, as memory node `node`, else 0; NULL: it can. Its
     * bandwidth is measured by the library. */
    int (*bandwidth)(unsigned node, void *base);
    /* A new object of so many bytes, NULL when there is no room; its end. */
    void *(*alloc)(void *base, size_t size);
    void (*free)(void *base, void *obj, size_t size);
    /* One that exists, named by `pos`, NULL if it does not; lets it go without
     * removing it. Both may be NULL: the disk has no names. */
    void *(*open)(void *base, void *pos, size_t size);
    void (*close)(void *base, void *obj, size_t size);
    /* Moves `size` bytes that begin `offset` bytes after the start of the object.
     * Return 0, or the bytes that were moved; less than all, or a negative
     * number, is a failure. */
    int (*read)(void *base, void *obj, void *buf, off_t offset, size_t size);
    int (*write)(void *base, void *obj, const void *buf, off_t offset,
                 size_t size);
    /* All of an object: to memory that is allocated for it with
     * starpu_malloc_on_node_flags on dst_node, and from it, whose length it then
     * has. 0 or a failure. For data that have no copy methods but pack_data. */
    int (*full_read)(void *base, void *obj, void **ptr, size_t *size,
                     unsigned dst_node);
    int (*full_write)(void *base, void *obj, void *ptr, size_t size);
    /* What follows may be NULL: each disk has a thread of the library, which reads
     * and writes while workers go on. With wait_request and free_request that
     * thread begins copies by async_read and async_write, and goes on to the next
     * one; they return what is given to the others then, or NULL for a copy that
     * is to be made by read or write. A request has no result: one that fails has
     * to end the program, or to be made again. test_request says whether it has
     * ended, 1 or 0; NULL: requests are waited for in their order. `copy` goes from
     * one disk to another one with the same operations; without, the library reads
     * and writes. async_full_read and async_full_write are not called. */
    void *(*async_write)(void *base, void *obj, void *buf, off_t offset,
                         size_t size);
    void *(*async_read)(void *base, void *obj, void *buf, off_t offset,
                        size_t size);
    void *(*async_full_read)(void *base, void *obj, void **ptr, size_t *size,
                             unsigned dst_node);
    void *(*async_full_write)(void *base, void *obj, void *ptr, size_t size);
    void *(*copy)(void *base_src, void *obj_src, off_t off_src, void *base_dst,
                  void *obj_dst, off_t off_dst, size_t size);
    void (*wait_request)(void *async_channel);
    int (*test_request)(void *async_channel);
    void (*free_request)(void *async_channel);
};

/* Disks that are directories: `parameter` is the path, which is created if there
 * is none, and then removed at the end; `pos` of starpu_disk_open is a file's
 * path inside it. Through stdio; through read and write; the same past the cache
 * of the system, where size, offset and address are multiples of a page. */
extern struct starpu_disk_ops starpu_disk_stdio_ops;
extern struct starpu_disk_ops starpu_disk_unistd_ops;
extern struct starpu_disk_ops starpu_disk_unistd_o_direct_ops;

/* A disk that is a file of HDF5's: `parameter` is its path, or that of a directory, in
 * which one is made; what is made is removed at the end. `pos` of starpu_disk_open is
 * the name of a dataset of one dimension, of which whole elements are read and
 * written. The module orrery/hdf5.so does it, where the library was built with HDF5;
 * else starpu_disk_register fails with a message. One copy at a time. */
extern struct starpu_disk_ops starpu_disk_hdf5_ops;

/* Without operations, since this library has no LevelDB (STARPU_HAVE_LEVELDB is not
 * defined): starpu_disk_register says so and returns -ENOENT. */
extern struct starpu_disk_ops starpu_disk_leveldb_ops;

/* The disk of STARPU_DISK_SWAP, -1 without. */
extern int starpu_disk_swap_node;

/* Makes a memory node of a disk of `size` bytes, negative for no limit, and
 * measures it; data that are registered afterwards may go there, and all that are
 * registered where STARPU_LIMIT_CPU_MEM or its kin are set. Returns the
 * node; -EINVAL with a message, -ENOENT when the disk cannot be opened or
 * written to (or, simulated, the machine has none any more), -ENOSPC when there
 * are too many. `func` is used until starpu_shutdown. Simulated, nothing is
 * opened: the disk is that of the machine, DISK0 first, as fast as it says. */
int starpu_disk_register(struct starpu_disk_ops *func, void *parameter,
                         starpu_ssize_t size);

/* An object of `size` bytes that is there already, to register data whose home
 * `node` is, with the object in the place of their address; NULL if it is not
 * there. To be closed when these have been unregistered. */
void *starpu_disk_open(unsigned node, void *pos, size_t size);
/* Lets an object of starpu_disk_open go, with the same node and size; what it holds
 * stays on the disk. */
void starpu_disk_close(unsigned node, void *obj, size_t size);

#ifdef __cplusplus
}
#endif
