/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/files.c - files of a machine that appear together, see
 * machine.h. One thread. */
#include "core/base/grow.h"
#include "core/base/result.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/places.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int machine_files_no_memory(void)
{
    tool_error("out of memory");
    return -ENOMEM;
}

/* `bytes` NULL: there must be no such file. Both are taken. */
static int machine_files_append(struct machine_files *files, char *path,
                                char *bytes, size_t size)
{
    struct machine_file *file =
        path ? orr_array_add(files->items, files->n) : NULL;

    if (!file) {
        free(path);
        free(bytes);
        return machine_files_no_memory();
    }
    *file = (struct machine_file){path, bytes, size};
    return 0;
}

int machine_files_add(struct machine_files *files, char *path, char *bytes,
                      size_t size)
{
    if (bytes)
        return machine_files_append(files, path, bytes, size);
    free(path);
    return machine_files_no_memory();
}

void machine_files_done(struct machine_files *files)
{
    for (unsigned i = 0; i < files->n; i++) {
        free(files->items[i].path);
        free(files->items[i].bytes);
    }
    free(files->items);
    *files = (struct machine_files){0};
}

json_t *machine_files_json(json_t *root, const struct machine_files *files)
{
    json_t *paths = json_array();
    int rc = root && paths ? 0 : -ENOMEM;

    for (unsigned i = 0; i < files->n && rc == 0; i++)
        if (files->items[i].bytes)
            rc = json_array_append_new(paths,
                                       tool_json_text(files->items[i].path));
    if (rc == 0)
        rc = json_object_set(root, "files", paths);
    json_decref(paths);
    if (rc == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- texts ---- */

int machine_xml_text(const struct orr_machine_desc *desc, const char *name,
                     char **ret_text, size_t *ret_size)
{
    FILE *out = open_memstream(ret_text, ret_size);

    if (!out)
        return machine_files_no_memory();
    orr_machine_desc_print_xml(desc, name, out);
    if (fclose(out) == 0)
        return 0;
    free(*ret_text);
    return machine_files_no_memory();
}

int machine_matrix_text(const struct orr_machine_desc *desc,
                        const double *matrix, char **ret_text, size_t *ret_size)
{
    FILE *out = open_memstream(ret_text, ret_size);

    if (!out)
        return machine_files_no_memory();
    orr_bus_matrix_print(desc, matrix, out);
    if (fclose(out) == 0)
        return 0;
    free(*ret_text);
    return machine_files_no_memory();
}

static int add_matrix(struct machine_files *files,
                      const struct orr_machine_desc *desc, const double *matrix,
                      char *path)
{
    char *text = NULL;
    size_t size = 0;

    if (!desc->bus_measured)
        return machine_files_append(files, path, NULL, 0);
    if (machine_matrix_text(desc, matrix, &text, &size) < 0) {
        free(path);
        return -ENOMEM;
    }
    return machine_files_add(files, path, text, size);
}

int machine_files_add_desc(struct machine_files *files,
                           const struct orr_machine_desc *desc,
                           const char *path, const char *name)
{
    struct orr_error err = {""};
    char *text = NULL, *stem;
    size_t size = 0;
    int rc = orr_machine_desc_check(desc, &err);

    if (rc < 0) {
        tool_error("%s", err.text);
        return rc;
    }
    stem = orr_platform_stem(path);
    if (!stem)
        return machine_files_no_memory();
    rc = machine_xml_text(desc, name, &text, &size);
    if (rc == 0)
        rc = machine_files_add(files, strdup(path), text, size);
    if (rc == 0)
        rc = add_matrix(files, desc, desc->bandwidth,
                        tool_format("%s.bandwidth", stem));
    if (rc == 0)
        rc = add_matrix(files, desc, desc->latency,
                        tool_format("%s.latency", stem));
    free(stem);
    return rc;
}

int machine_files_add_named(struct machine_files *files,
                            const struct orr_machine_desc *desc,
                            const char *path, const char *name)
{
    int rc = machine_files_add_desc(files, desc, path, name);
    char *text = NULL, *stem;
    size_t size = 0;

    if (rc < 0)
        return rc;
    stem = orr_platform_stem(path);
    if (!stem)
        return machine_files_no_memory();
    rc = machine_xml_text(desc, name, &text, &size);
    if (rc == 0)
        rc = machine_files_add(files, tool_format("%s.machine.xml", stem), text,
                               size);
    free(stem);
    return rc;
}

/* ---- writing ---- */

/* Makes the folders above a file. */
static int make_folders_above(const char *path)
{
    char *copy = strdup(path), *slash = copy;
    int rc = 0;

    if (!copy)
        return machine_files_no_memory();
    while (rc == 0 && (slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST) {
            rc = -errno;
            tool_error("%s: cannot be made: %s", copy, strerror(-rc));
        }
        *slash = '/';
    }
    free(copy);
    return rc;
}

static int machine_file_write(const struct machine_file *item)
{
    int rc;

    if (!item->bytes) {
        if (unlink(item->path) == 0 || errno == ENOENT)
            return 0;
        rc = -errno;
        tool_error("%s: cannot be removed: %s", item->path, strerror(-rc));
        return rc;
    }
    rc = make_folders_above(item->path);
    if (rc < 0)
        return rc;
    rc = orr_result_write(item->path, item->bytes, item->size);
    if (rc < 0)
        tool_error("%s: cannot be written: %s", item->path, strerror(-rc));
    return rc;
}

int machine_files_write(const struct machine_files *files, bool force)
{
    bool *was_there = calloc(files->n + (size_t)1, sizeof(*was_there));
    unsigned i;
    int rc = was_there ? 0 : machine_files_no_memory();

    for (i = 0; rc == 0 && i < files->n; i++) {
        was_there[i] = access(files->items[i].path, F_OK) == 0;
        if (!was_there[i] || force)
            continue;
        tool_error("%s is there already: nothing was written; choose another "
                   "name, or --force to replace it",
                   files->items[i].path);
        rc = -EEXIST;
    }
    for (i = 0; rc == 0 && i < files->n; i++)
        rc = machine_file_write(&files->items[i]);
    if (rc < 0 && rc != -EEXIST)
        while (i-- > 0)
            if (!was_there[i])
                unlink(files->items[i].path);
    free(was_there);
    return rc;
}

int machine_place(const char *sampling_dir, const char *name, char **ret_path,
                  char **ret_models)
{
    *ret_path = tool_format("%s/" ORR_SAMPLING_BUS "/%s.platform.v4.xml",
                            sampling_dir, name);
    *ret_models = tool_format("%s/" ORR_SAMPLING_CODELETS, sampling_dir);
    if (*ret_path && *ret_models)
        return 0;
    free(*ret_path);
    free(*ret_models);
    return machine_files_no_memory();
}
