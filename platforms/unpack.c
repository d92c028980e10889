/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/unpack.c - packed machines become folders. No state; processes that
 * unpack the same file at once end with the same folder.
 */
#include "platforms/packed.h"

#include "platforms/places.h"
#include "platforms/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes a folder of ours: files, and folders at most three deep. */
static void remove_folder(const char *path, unsigned depth)
{
    DIR *dir = depth > 0 ? opendir(path) : NULL;
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        char *inside;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        inside = orr_path_join(path, entry->d_name, NULL);
        if (inside && unlink(inside) < 0)
            remove_folder(inside, depth - 1);
        free(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

/* Makes a folder and those above it. */
static int make_folders(const char *path)
{
    char *copy = strdup(path), *slash;
    int rc = 0;

    if (!copy)
        return -ENOMEM;
    for (slash = strchr(copy + 1, '/'); slash && rc == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            rc = -errno;
        *slash = '/';
    }
    if (rc == 0 && mkdir(copy, 0777) < 0 && errno != EEXIST)
        rc = -errno;
    free(copy);
    return rc;
}

static int write_new_file(const char *path, const char *bytes, size_t size,
                          struct orr_error *err)
{
    FILE *out = fopen(path, "wxe");
    int rc = 0;

    if (!out)
        rc = -errno;
    else if (fwrite(bytes, 1, size, out) != size)
        rc = -EIO;
    if (out && fclose(out) != 0 && rc == 0)
        rc = -errno;
    if (rc)
        orr_fail(err, rc, "%s: cannot be written: %s", path, strerror(-rc));
    return rc;
}

static int unpack_file(const struct orr_packed_file *file, const char *folder,
                       struct orr_error *err)
{
    char *path = orr_path_join(folder, file->name, NULL), *slash;
    int rc = path ? 0 : -ENOMEM;

    if (rc == 0) {
        slash = strrchr(path, '/');
        *slash = '\0';
        rc = make_folders(path);
        *slash = '/';
    }
    if (rc)
        orr_fail(err, rc, "%s/%s: cannot be made: %s", folder, file->name,
                 strerror(-rc));
    else
        rc = write_new_file(path, file->bytes, file->size, err);
    free(path);
    return rc;
}

int orr_packed_unpack(const struct orr_packed *packed, const char *folder,
                      struct orr_error *err)
{
    int rc = 0;

    if (mkdir(folder, 0777) < 0)
        return orr_fail(err, -errno, "%s: cannot be made: %s", folder,
                        strerror(errno));
    for (unsigned i = 0; i < packed->nfiles && rc == 0; i++)
        rc = unpack_file(&packed->files[i], folder, err);
    if (rc)
        remove_folder(folder, 4);
    return rc;
}

/* ---- those that are used in place ---- */

#define COPY "packed" ORR_PACKED_SUFFIX

/* FNV-1a (Fowler, Noll, Vo): only a name, the bytes are compared as well. */
static uint64_t packed_bytes_hash(const char *bytes, size_t size)
{
    uint64_t value = 0xcbf29ce484222325;

    for (size_t i = 0; i < size; i++)
        value = (value ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return value;
}

/* Whether `slot` was made from these bytes. */
static bool same_source(const char *slot, const char *bytes, size_t size)
{
    char *path = orr_path_join(slot, COPY, NULL), *there = NULL;
    size_t there_size;
    bool same;

    same = path &&
           orr_file_read(path, ORR_PACKED_MAX_BYTES, &there, &there_size,
                         NULL) == 0 &&
           there_size == size && memcmp(there, bytes, size) == 0;
    free(there);
    free(path);
    return same;
}

/* Fills a folder beside `slot` and gives it that name when it is whole. */
static int fill_slot(const struct orr_packed *packed, const char *slot,
                     const char *bytes, size_t size, struct orr_error *err)
{
    char beside[48];
    char *made = NULL, *machine = NULL, *copy = NULL;
    int rc = -ENOMEM;

    snprintf(beside, sizeof(beside), ".new-%ld", (long)getpid());
    if (asprintf(&made, "%s%s", slot, beside) < 0)
        made = NULL;
    if (made) {
        machine = orr_path_join(made, packed->name, NULL);
        copy = orr_path_join(made, COPY, NULL);
    }
    if (!made || !machine || !copy) {
        orr_fail(err, rc, "%s: out of memory", slot);
        goto done;
    }
    remove_folder(made, 5); /* of a process of that number that was killed */
    rc = make_folders(made);
    if (rc)
        orr_fail(err, rc, "%s: cannot be made: %s", made, strerror(-rc));
    else
        rc = orr_packed_unpack(packed, machine, err);
    if (rc == 0)
        rc = write_new_file(copy, bytes, size, err);
    /* Another process may have been faster, which is as good. */
    if (rc == 0 && rename(made, slot) < 0 && !same_source(slot, bytes, size))
        rc = orr_fail(err, -errno, "%s: cannot be made: %s", slot,
                      strerror(errno));
    remove_folder(made, 5); /* gone when it was renamed */
done:
    free(made);
    free(machine);
    free(copy);
    return rc;
}

static int open_slot(const struct orr_packed *packed, const char *cache,
                     const char *bytes, size_t size, char **ret_folder,
                     struct orr_error *err)
{
    char name[64];
    char *slot;
    int rc = 0;

    snprintf(name, sizeof(name), "%016" PRIx64 "-%zx",
             packed_bytes_hash(bytes, size), size);
    slot = orr_path_join(cache, "packed", name);
    if (!slot)
        return orr_fail(err, -ENOMEM, "%s: out of memory", packed->name);
    if (!same_source(slot, bytes, size))
        rc = fill_slot(packed, slot, bytes, size, err);
    if (rc == 0) {
        *ret_folder = orr_path_join(slot, packed->name, NULL);
        if (!*ret_folder)
            rc = orr_fail(err, -ENOMEM, "%s: out of memory", packed->name);
    }
    free(slot);
    return rc;
}

int orr_packed_open(const char *path, const char *cache, char **ret_folder,
                    struct orr_error *err)
{
    struct orr_packed *packed = NULL;
    char *bytes = NULL;
    size_t size = 0;
    int rc = orr_file_read(path, ORR_PACKED_MAX_BYTES, &bytes, &size, err);

    if (rc == 0)
        rc = orr_packed_parse(path, bytes, size, &packed, err);
    if (rc == 0)
        rc = open_slot(packed, cache, bytes, size, ret_folder, err);
    free(bytes);
    orr_packed_free(packed);
    return rc;
}
