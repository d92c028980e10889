/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/tar.c - packed machines as tar files compressed by gzip, through
 * libarchive: the module orrery/packed.so. packed.h has the format. No state;
 * one thread per file.
 */
#include "core/base/module.h"
#include "platforms/packed.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#define MARK      "orrery-machine"
#define MARK_TEXT "orrery machine 1\n"

const struct orr_module *orr_module_entry(void);

/* ---- reading ---- */

static int fail_archive(struct archive *archive, const char *path,
                        struct orr_error *err)
{
    const char *why = archive_error_string(archive);

    if (archive_errno(archive) == ENOMEM)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    return orr_fail(err, -EINVAL,
                    "%s: not a machine that `orrery machine export` packed, or "
                    "damaged: %s",
                    path, why ? why : "it cannot be read");
}

/* The bytes of the entry at hand; no more than its header announced is ever
 * allocated, and no more than the limit. */
static int tar_read_bytes(struct archive *archive, size_t size,
                          const char *path, char **ret, struct orr_error *err)
{
    char *bytes = malloc(size + 1);
    size_t have = 0;
    la_ssize_t n = 1;

    if (!bytes)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    while (have < size && n > 0) {
        n = archive_read_data(archive, bytes + have, size - have);
        if (n > 0)
            have += (size_t)n;
    }
    if (n < 0 || have < size) {
        free(bytes);
        return fail_archive(archive, path, err);
    }
    *ret = bytes;
    return 0;
}

/* The first entry is NAME/orrery-machine. */
static int read_mark(const char *path, const char *name, const char *bytes,
                     size_t size, struct orr_packed **ret,
                     struct orr_error *err)
{
    const char *slash = strchr(name, '/');
    char *folder;
    int rc;

    if (!slash || strcmp(slash + 1, MARK) != 0)
        return orr_fail(err, -EINVAL,
                        "%s: not a machine that `orrery machine export` "
                        "packed: it begins with \"%.80s\", not with " MARK,
                        path, name);
    if (size != strlen(MARK_TEXT) || memcmp(bytes, MARK_TEXT, size) != 0)
        return orr_fail(err, -EINVAL,
                        "%s: packed by another version of orrery: this one "
                        "reads format 1",
                        path);
    folder = strndup(name, (size_t)(slash - name));
    if (!folder)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    rc = orr_packed_new(folder, ret, err);
    free(folder);
    return rc;
}

static int take_entry(const char *path, const char *name, const char *bytes,
                      size_t size, struct orr_packed **packed,
                      struct orr_error *err)
{
    struct orr_error why = {""};
    size_t length;
    int rc;

    if (!*packed)
        return read_mark(path, name, bytes, size, packed, err);
    length = strlen((*packed)->name);
    if (strncmp(name, (*packed)->name, length) != 0 || name[length] != '/')
        return orr_fail(err, -EINVAL,
                        "%s: refused: \"%.100s\" is outside of the machine's "
                        "folder %s/",
                        path, name, (*packed)->name);
    rc = orr_packed_add(*packed, name + length + 1, bytes, size, &why);
    return rc < 0 ? orr_fail(err, rc, "%s: refused: %s", path, why.text) : 0;
}

static int tar_read_entry(struct archive *archive, struct archive_entry *entry,
                          const char *path, struct orr_packed **packed,
                          struct orr_error *err)
{
    const char *name = archive_entry_pathname(entry);
    la_int64_t size = archive_entry_size(entry);
    char *bytes = NULL;
    int rc;

    if (!name)
        return orr_fail(err, -EINVAL, "%s: refused: a name is not text", path);
    /* Folders are in every tar made by hand; they have no content. */
    if (archive_entry_filetype(entry) == AE_IFDIR)
        return 0;
    if (archive_entry_filetype(entry) != AE_IFREG ||
        archive_entry_hardlink(entry) || archive_entry_symlink(entry))
        return orr_fail(err, -EINVAL,
                        "%s: refused: \"%.100s\" is a link or a device, not a "
                        "file",
                        path, name);
    if (size < 0 || (uint64_t)size > ORR_PACKED_MAX_BYTES)
        return orr_fail(err, -E2BIG,
                        "%s: refused: \"%.100s\" is larger than %zu MiB", path,
                        name, ORR_PACKED_MAX_BYTES >> 20);
    rc = tar_read_bytes(archive, (size_t)size, path, &bytes, err);
    if (rc)
        return rc;
    rc = take_entry(path, name, bytes, (size_t)size, packed, err);
    free(bytes);
    return rc;
}

static int read_entries(struct archive *archive, const char *path,
                        struct orr_packed **packed, struct orr_error *err)
{
    struct archive_entry *entry;
    int rc = 0;

    while (rc == 0) {
        int got = archive_read_next_header(archive, &entry);

        if (got == ARCHIVE_EOF)
            break;
        rc = got == ARCHIVE_OK
                 ? tar_read_entry(archive, entry, path, packed, err)
                 : fail_archive(archive, path, err);
    }
    if (rc == 0 && (!*packed || !orr_packed_find(*packed, "platform.xml")))
        rc = orr_fail(err, -EINVAL,
                      "%s: there is no platform.xml in it: pack it again with "
                      "`orrery machine export`",
                      path);
    return rc;
}

static int tar_parse(const char *path, const char *bytes, size_t size,
                     struct orr_packed **ret, struct orr_error *err)
{
    struct archive *archive = archive_read_new();
    struct orr_packed *packed = NULL;
    int rc;

    if (!archive)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
        archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
        archive_read_open_memory(archive, bytes, size) != ARCHIVE_OK)
        rc = fail_archive(archive, path, err);
    else
        rc = read_entries(archive, path, &packed, err);
    archive_read_free(archive);
    if (rc)
        orr_packed_free(packed);
    else
        *ret = packed;
    return rc;
}

/* ---- writing ---- */

/* No owner and no date: the same machine, the same bytes. */
static int tar_write_file(struct archive *archive, const char *folder,
                          const char *name, const char *bytes, size_t size)
{
    struct archive_entry *entry = archive_entry_new();
    char path[512];
    int rc = -EIO;

    if (!entry)
        return -ENOMEM;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    archive_entry_set_pathname(entry, path);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 0, 0);
    /* ARCHIVE_WARN: a name that this locale cannot represent. */
    if (archive_write_header(archive, entry) >= ARCHIVE_WARN &&
        archive_write_data(archive, bytes, size) == (la_ssize_t)size)
        rc = 0;
    archive_entry_free(entry);
    return rc;
}

struct buffer {
    char *bytes;
    size_t size;
};

/* Called by libarchive with the data to write. */
static la_ssize_t tar_buffer_append(struct archive *archive, void *arg,
                                    const void *bytes, size_t size)
{
    struct buffer *buffer = arg;
    char *larger = realloc(buffer->bytes, buffer->size + size + 1);

    if (!larger) {
        archive_set_error(archive, ENOMEM, "out of memory");
        return -1;
    }
    buffer->bytes = larger;
    memcpy(larger + buffer->size, bytes, size);
    buffer->size += size;
    return (la_ssize_t)size;
}

static int tar_write_machine(struct archive *archive,
                             const struct orr_packed *packed,
                             struct buffer *buffer)
{
    int rc = 0;

    if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
        archive_write_add_filter_gzip(archive) != ARCHIVE_OK ||
        archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) !=
            ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK ||
        archive_write_open(archive, buffer, NULL, tar_buffer_append, NULL) !=
            ARCHIVE_OK)
        return archive_errno(archive) == ENOMEM ? -ENOMEM : -EIO;
    rc = tar_write_file(archive, packed->name, MARK, MARK_TEXT,
                        strlen(MARK_TEXT));
    for (unsigned i = 0; i < packed->nfiles && rc == 0; i++)
        rc = tar_write_file(archive, packed->name, packed->files[i].name,
                            packed->files[i].bytes, packed->files[i].size);
    if (rc == 0 && archive_write_close(archive) != ARCHIVE_OK)
        rc = archive_errno(archive) == ENOMEM ? -ENOMEM : -EIO;
    return rc;
}

static int tar_format(const struct orr_packed *packed, char **ret_bytes,
                      size_t *ret_size, struct orr_error *err)
{
    struct archive *archive = archive_write_new();
    struct buffer buffer = {NULL, 0};
    int rc = archive ? tar_write_machine(archive, packed, &buffer) : -ENOMEM;

    if (rc)
        orr_fail(err, rc, "%s: cannot be packed: %s", packed->name,
                 archive && archive_error_string(archive)
                     ? archive_error_string(archive)
                     : strerror(-rc));
    archive_write_free(archive); /* may write, too: into the buffer */
    if (rc) {
        free(buffer.bytes);
        return rc;
    }
    *ret_bytes = buffer.bytes;
    *ret_size = buffer.size;
    return 0;
}

/* ---- the module ---- */

const struct orr_tar_ops orr_tar_ops = {
    .parse = tar_parse,
    .format = tar_format,
};

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_module module = {ORR_MODULE_ABI, "packed",
                                             &orr_tar_ops, orr_module_stamp};

    return &module;
}
