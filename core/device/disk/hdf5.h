/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/hdf5.h - what the module orrery/hdf5.so does with a file of HDF5's.
 * One call at a time, for all files: the library need not be built for threads.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "core/base/error.h"

/* An open file, and one of its datasets, a row of elements. */
struct orr_hdf5_file;
struct orr_hdf5_dataset;

struct orr_hdf5_ops {
    /* Opens the file; makes it if there is none, or an anonymous one if the path is
     * a directory. Errors: -ENOENT with a message. */
    int (*open)(const char *path, struct orr_hdf5_file **ret,
                struct orr_error *err);
    /* Ends it, and removes what open has made. */
    void (*close)(struct orr_hdf5_file *file);
    /* A new dataset of bytes that has no name; NULL on failure, with errno. */
    struct orr_hdf5_dataset *(*make)(struct orr_hdf5_file *file, size_t size);
    /* The dataset of that name, if it has at least so many bytes; else NULL. */
    struct orr_hdf5_dataset *(*find)(struct orr_hdf5_file *file,
                                     const char *name, size_t size);
    /* Lets it go; one that was made is gone then. */
    void (*release)(struct orr_hdf5_dataset *dataset);
    /* Offset and size are whole elements. 0, -EINVAL, -EIO. */
    int (*read)(struct orr_hdf5_dataset *dataset, void *bytes, off_t offset,
                size_t size);
    int (*write)(struct orr_hdf5_dataset *dataset, const void *bytes,
                 off_t offset, size_t size);
};
