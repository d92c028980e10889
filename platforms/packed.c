/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/packed.c - see packed.h: what a packed machine is. Its file is read
 * and written by tar.c, in a module: few simulations name a packed machine, and
 * all would pay for loading libarchive.
 */
#include "platforms/packed.h"

#include "core/base/grow.h"
#include "core/base/module.h"
#include "platforms/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- in memory ---- */

bool orr_packed_leaf_ok(const char *leaf)
{
    size_t length = strlen(leaf);

    if (length == 0 || length > 200 || leaf[0] == '.' || strchr(leaf, '/'))
        return false;
    for (; *leaf; leaf++)
        if ((unsigned char)*leaf < ' ' || *leaf == 127)
            return false;
    return true;
}

bool orr_packed_is_name(const char *path)
{
    size_t length = strlen(path), tail = strlen(ORR_PACKED_SUFFIX);

    return length > tail &&
           strcmp(path + length - tail, ORR_PACKED_SUFFIX) == 0;
}

/* All that a machine consists of; every other name is refused. */
static bool packed_name_is_known(const char *name)
{
    static const char *const files[] = {"platform.xml", "platform.bandwidth",
                                        "platform.latency", "platform.affinity",
                                        "platform.config"};
    static const char *const folders[] = {"codelets/45/",
                                          "codelets/45.orrery/"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (strcmp(name, files[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t length = strlen(folders[i]);

        if (strncmp(name, folders[i], length) == 0)
            return orr_packed_leaf_ok(name + length);
    }
    return false;
}

int orr_packed_new(const char *name, struct orr_packed **ret,
                   struct orr_error *err)
{
    struct orr_packed *packed;

    if (!orr_packed_leaf_ok(name))
        return orr_fail(err, -EINVAL,
                        "\"%.80s\" cannot name a machine: no slash, no "
                        "leading dot, at most 200 characters",
                        name);
    packed = calloc(1, sizeof(*packed));
    if (packed)
        packed->name = strdup(name);
    if (!packed || !packed->name) {
        free(packed);
        return orr_fail(err, -ENOMEM, "%s: out of memory", name);
    }
    *ret = packed;
    return 0;
}

void orr_packed_free(struct orr_packed *packed)
{
    if (!packed)
        return;
    for (unsigned i = 0; i < packed->nfiles; i++) {
        free(packed->files[i].name);
        free(packed->files[i].bytes);
    }
    free(packed->files);
    free(packed->name);
    free(packed);
}

const struct orr_packed_file *orr_packed_find(const struct orr_packed *packed,
                                              const char *name)
{
    for (unsigned i = 0; i < packed->nfiles; i++)
        if (strcmp(packed->files[i].name, name) == 0)
            return &packed->files[i];
    return NULL;
}

static size_t total_size(const struct orr_packed *packed)
{
    size_t total = 0;

    for (unsigned i = 0; i < packed->nfiles; i++)
        total += packed->files[i].size;
    return total;
}

/* Puts a file in its place by name; its texts are taken. */
static int packed_insert_file(struct orr_packed *packed,
                              struct orr_packed_file file)
{
    struct orr_packed_file *at = orr_array_add(packed->files, packed->nfiles);

    if (!at)
        return -ENOMEM;
    for (; at > packed->files && strcmp(at[-1].name, file.name) >= 0; at--)
        *at = at[-1];
    *at = file;
    return 0;
}

int orr_packed_add(struct orr_packed *packed, const char *name,
                   const char *bytes, size_t size, struct orr_error *err)
{
    struct orr_packed_file file = {.size = size};

    if (!packed_name_is_known(name))
        return orr_fail(err, -EINVAL,
                        "\"%.100s\" has no place in a packed machine", name);
    if (orr_packed_find(packed, name))
        return orr_fail(err, -EEXIST, "\"%.100s\" is there twice", name);
    if (packed->nfiles >= ORR_PACKED_MAX_FILES ||
        size > ORR_PACKED_MAX_BYTES - total_size(packed))
        return orr_fail(err, -E2BIG,
                        "more than %d files or %zu MiB: no machine needs as "
                        "much",
                        ORR_PACKED_MAX_FILES, ORR_PACKED_MAX_BYTES >> 20);
    file.name = strdup(name);
    file.bytes = malloc(size + 1);
    if (!file.name || !file.bytes)
        goto no_memory;
    if (size)
        memcpy(file.bytes, bytes, size);
    file.bytes[size] = '\0';
    if (packed_insert_file(packed, file) == 0)
        return 0;
no_memory:
    free(file.name);
    free(file.bytes);
    return orr_fail(err, -ENOMEM, "%s: out of memory", name);
}

/* ---- its file ---- */

/* `what` needs the module; `otherwise` is how to do without. */
static int open_packed_module(const char *what, const char *otherwise,
                              const struct orr_tar_ops **ret,
                              struct orr_error *err)
{
    struct orr_error why = {""};
    const void *table;
    int rc = orr_module_open("packed", &table, &why);

    if (rc)
        return orr_fail(err, rc, "%s: %s%s", what, why.text, otherwise);
    *ret = table;
    return 0;
}

int orr_packed_parse(const char *path, const char *bytes, size_t size,
                     struct orr_packed **ret, struct orr_error *err)
{
    const struct orr_tar_ops *ops;
    int rc =
        open_packed_module(path,
                           "; or unpack the file with `tar -xzf` and name the "
                           "folder",
                           &ops, err);

    return rc ? rc : ops->parse(path, bytes, size, ret, err);
}

int orr_packed_read(const char *path, struct orr_packed **ret,
                    struct orr_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    int rc = orr_file_read(path, ORR_PACKED_MAX_BYTES, &bytes, &size, err);

    if (rc)
        return rc;
    rc = orr_packed_parse(path, bytes, size, ret, err);
    free(bytes);
    return rc;
}

int orr_packed_format(const struct orr_packed *packed, char **ret_bytes,
                      size_t *ret_size, struct orr_error *err)
{
    const struct orr_tar_ops *ops;
    int rc = open_packed_module(packed->name, "", &ops, err);

    return rc ? rc : ops->format(packed, ret_bytes, ret_size, err);
}
