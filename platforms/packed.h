/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/packed.h - a machine in one file, NAME.orrery: its description, bus
 * parameters, kernel models and their side files, for use on other computers.
 * One thread per object.
 *
 * The file is a tar compressed by gzip. All is in one folder, NAME/: first
 * orrery-machine, whose only line is "orrery machine 1", 1 being the version of
 * this format; then, sorted, platform.xml, platform.bandwidth and .latency
 * (format of StarPU's bus files), .affinity and .config, codelets/45/ with
 * model files SYMBOL.HOST and codelets/45.orrery/ with their side files. The
 * same machine gives the same bytes. Unpacked by tar it is a folder that -m
 * takes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

#define ORR_PACKED_SUFFIX    ".orrery"
#define ORR_PACKED_MAX_FILES 4096
#define ORR_PACKED_MAX_BYTES ((size_t)256 << 20) /* all, unpacked */

struct orr_packed_file {
    char *name;  /* owned; within the machine's folder, "platform.xml" */
    char *bytes; /* owned; size of them and a 0 */
    size_t size;
};

struct orr_packed {
    char *name; /* owned; the machine's */
    struct orr_packed_file *files;
    unsigned nfiles;
};

/* An empty one, owned by the caller. Errors: -EINVAL for a name that cannot be
 * a folder's, -ENOMEM; with a message. */
int orr_packed_new(const char *name, struct orr_packed **ret,
                   struct orr_error *err);
void orr_packed_free(struct orr_packed *packed);

/* Adds a file, copying its bytes. Errors: -EINVAL for a name that has no place
 * in a machine, -EEXIST, -E2BIG over the limits, -ENOMEM; with a message. */
int orr_packed_add(struct orr_packed *packed, const char *name,
                   const char *bytes, size_t size, struct orr_error *err);

/* The file of that name, NULL without. Lent until an add. */
const struct orr_packed_file *orr_packed_find(const struct orr_packed *packed,
                                              const char *name);

/* Whether a file may be called so in a folder: not empty, not hidden, no slash
 * nor control character, not too long. */
bool orr_packed_leaf_ok(const char *leaf);

/* Whether `path` is called like a packed machine. */
bool orr_packed_is_name(const char *path);

/* Reads a packed machine whole. Nothing is written: names outside of the list
 * above, links, devices, files named twice and sizes over the limits are
 * refused. Errors: -EINVAL, -EFBIG, -ENOMEM, those of the system; with a
 * message. */
int orr_packed_read(const char *path, struct orr_packed **ret,
                    struct orr_error *err);

/* The same from memory; `path` is for messages. */
int orr_packed_parse(const char *path, const char *bytes, size_t size,
                     struct orr_packed **ret, struct orr_error *err);

/* The file's bytes, for the caller to free(). Errors: -ENOMEM, -EIO. */
int orr_packed_format(const struct orr_packed *packed, char **ret_bytes,
                      size_t *ret_size, struct orr_error *err);

/* Writes all files to `folder`, which must not exist and is made, whole or not
 * at all. Errors of the system, with a message. */
int orr_packed_unpack(const struct orr_packed *packed, const char *folder,
                      struct orr_error *err);

/* Unpacks the file `path` into the folder `cache`/packed/…, unless that has
 * been done before with the same bytes, and gives the machine's folder, for
 * the caller to free(). Errors as of reading and unpacking. */
int orr_packed_open(const char *path, const char *cache, char **ret_folder,
                    struct orr_error *err);

/* --- the module packed.so, which knows libarchive --- */

struct orr_tar_ops {
    int (*parse)(const char *path, const char *bytes, size_t size,
                 struct orr_packed **ret, struct orr_error *err);
    int (*format)(const struct orr_packed *packed, char **ret_bytes,
                  size_t *ret_size, struct orr_error *err);
};

/* The same for programs that link tar.c themselves, as fuzz-packed does. */
extern const struct orr_tar_ops orr_tar_ops;
