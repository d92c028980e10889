/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/hdf5_module.c - disks that are files of HDF5's: the module
 * orrery/hdf5.so. See hdf5.h. A dataset that is made here has no link in the file, so
 * that its space is free again when it is closed.
 */
#include "core/device/disk/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "core/base/module.h"

struct orr_hdf5_file {
    hid_t file;
    char *made; /* path of what is removed, or NULL; owned */
    bool gone;  /* it was, at once; else at the end */
};

struct orr_hdf5_dataset {
    hid_t dataset, type;
    size_t element; /* bytes */
};

const struct orr_module *orr_module_entry(void);

/* -- files -- */

/* <folder>/orrery-<random>.h5, for free(). */
static char *path_inside(const char *folder)
{
    char *path;
    int fd;

    if (asprintf(&path, "%s/orrery-XXXXXX.h5", folder) < 0)
        return NULL;
    fd = mkstemps(path, 3);
    if (fd < 0) {
        free(path);
        return NULL;
    }
    close(fd);
    return path;
}

/* Its messages tell programmers what HDF5 did; each thread has its own setting. */
static void be_silent(void)
{
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static int hdf5_open_file(const char *path, struct orr_hdf5_file **ret,
                          struct orr_error *err)
{
    struct orr_hdf5_file *file = malloc(sizeof(*file));
    struct stat status;
    bool there = stat(path, &status) == 0;

    if (!file)
        return orr_fail(err, -ENOMEM, "out of memory");
    file->made = NULL;
    if (there && S_ISDIR(status.st_mode))
        file->made = path_inside(path);
    else if (!there)
        file->made = strdup(path);
    be_silent();
    if (file->made)
        file->file =
            H5Fcreate(file->made, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    else
        file->file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file->made && there) /* not an error: a run may end early */
        (void)unlink(file->made);
    if (file->file >= 0) {
        file->gone = there;
        *ret = file;
        return 0;
    }
    free(file->made);
    free(file);
    return orr_fail(err, -ENOENT,
                    "%s cannot be opened, or made, as a file of HDF5's", path);
}

static void close_file(struct orr_hdf5_file *file)
{
    be_silent();
    (void)H5Fclose(file->file);
    if (file->made && !file->gone)
        (void)unlink(file->made);
    free(file->made);
    free(file);
}

/* -- datasets -- */

/* Takes both. */
static struct orr_hdf5_dataset *new_dataset(hid_t dataset, hid_t type)
{
    struct orr_hdf5_dataset *made = dataset >= 0 ? malloc(sizeof(*made)) : NULL;

    if (made) {
        *made = (struct orr_hdf5_dataset){dataset, type, H5Tget_size(type)};
        return made;
    }
    if (dataset >= 0)
        (void)H5Dclose(dataset);
    if (type >= 0)
        (void)H5Tclose(type);
    return NULL;
}

/* The blocks of the file system are taken now, as other disks do (files.c): one that is
 * full says so before anything was written. 0 or a negative errno. */
static int hdf5_reserve_blocks(struct orr_hdf5_file *file, hid_t dataset,
                               size_t size)
{
    haddr_t start = H5Dget_offset(dataset);
    void *handle = NULL;

    if (start == HADDR_UNDEF ||
        H5Fget_vfd_handle(file->file, H5P_DEFAULT, &handle) < 0 || !handle)
        return 0; /* not in one piece, or in no plain file */
    if (fallocate(*(int *)handle, 0, (off_t)start, (off_t)size) == 0)
        return 0;
    return errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? -errno : 0;
}

/* Its space is reserved at once, and not filled. */
static struct orr_hdf5_dataset *hdf5_make_dataset(struct orr_hdf5_file *file,
                                                  size_t size)
{
    const hsize_t length = size ? size : 1;
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    int rc = -EIO;

    be_silent();
    if (space >= 0 && how >= 0 &&
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0)
        dataset = H5Dcreate_anon(file->file, H5T_NATIVE_UCHAR, space, how,
                                 H5P_DEFAULT);
    if (space >= 0)
        (void)H5Sclose(space);
    if (how >= 0)
        (void)H5Pclose(how);
    if (dataset >= 0)
        rc = hdf5_reserve_blocks(file, dataset, size);
    if (rc < 0) {
        if (dataset >= 0)
            (void)H5Dclose(dataset);
        errno = -rc;
        return NULL;
    }
    errno = ENOMEM;
    return new_dataset(dataset, H5Tcopy(H5T_NATIVE_UCHAR));
}

static struct orr_hdf5_dataset *hdf5_find_dataset(struct orr_hdf5_file *file,
                                                  const char *name, size_t size)
{
    hid_t dataset, space, type;
    hssize_t n;
    bool row;

    be_silent();
    dataset = H5Dopen2(file->file, name, H5P_DEFAULT);
    space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    n = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    row = space >= 0 && H5Sget_simple_extent_ndims(space) == 1;
    if (space >= 0)
        (void)H5Sclose(space);
    if (row && type >= 0 && n >= 0 && (size_t)n * H5Tget_size(type) >= size)
        return new_dataset(dataset, type);
    if (type >= 0)
        (void)H5Tclose(type);
    if (dataset >= 0)
        (void)H5Dclose(dataset);
    return NULL;
}

static void hdf5_close_dataset(struct orr_hdf5_dataset *dataset)
{
    (void)H5Dclose(dataset->dataset);
    (void)H5Tclose(dataset->type);
    free(dataset);
}

/* -- bytes -- */

static int hdf5_move_bytes(struct orr_hdf5_dataset *dataset, void *to,
                           const void *from, off_t offset, size_t size)
{
    const hsize_t start = (hsize_t)offset / dataset->element;
    const hsize_t n = size / dataset->element;
    hid_t in_file, in_memory;
    herr_t rc = -1;

    if ((size_t)offset % dataset->element || size % dataset->element)
        return -EINVAL;
    be_silent();
    in_file = H5Dget_space(dataset->dataset);
    in_memory = H5Screate_simple(1, &n, NULL);
    if (in_file >= 0 && in_memory >= 0)
        rc = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, NULL, &n,
                                 NULL);
    if (rc >= 0 && from)
        rc = H5Dwrite(dataset->dataset, dataset->type, in_memory, in_file,
                      H5P_DEFAULT, from);
    else if (rc >= 0)
        rc = H5Dread(dataset->dataset, dataset->type, in_memory, in_file,
                     H5P_DEFAULT, to);
    if (in_file >= 0)
        (void)H5Sclose(in_file);
    if (in_memory >= 0)
        (void)H5Sclose(in_memory);
    return rc < 0 ? -EIO : 0;
}

static int read_bytes(struct orr_hdf5_dataset *dataset, void *bytes,
                      off_t offset, size_t size)
{
    return hdf5_move_bytes(dataset, bytes, NULL, offset, size);
}

static int write_bytes(struct orr_hdf5_dataset *dataset, const void *bytes,
                       off_t offset, size_t size)
{
    return hdf5_move_bytes(dataset, NULL, bytes, offset, size);
}

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_hdf5_ops ops = {
        .open = hdf5_open_file,
        .close = close_file,
        .make = hdf5_make_dataset,
        .find = hdf5_find_dataset,
        .release = hdf5_close_dataset,
        .read = read_bytes,
        .write = write_bytes,
    };
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "hdf5",
        .table = &ops,
        .stamp = orr_module_stamp,
    };

    return &module;
}
