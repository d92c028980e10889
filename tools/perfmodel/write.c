/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/write.c - see join.h: the result in its file. */
#include "tools/common/interrupt.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool perfmodel_can_write_to(const char *command, const char *directory)
{
    struct stat st;

    if (stat(directory, &st) < 0 || S_ISDIR(st.st_mode))
        return true;
    tool_error("%s: -o %s: this is no directory. Models are files in "
               "DIR/codelets/45, one for each kernel and host",
               command, directory);
    return false;
}

struct writing {
    const char *path, *side_path;
    const struct perfmodel_data *data;
    enum perfmodel_mode mode;
    struct perfmodel_report *report;
};

/* Frees what the file holds; the object itself stays. */
static int model_file_empty(struct orr_model_file *file)
{
    struct orr_model_file *trash, fresh;
    int rc = orr_model_file_new(&trash);

    if (rc < 0)
        return rc;
    fresh = *trash;
    *trash = *file;
    *file = fresh;
    orr_model_file_free(trash);
    return 0;
}

static int read_side_or_none(const struct writing *w, struct orr_side **ret)
{
    struct orr_error err = {""};
    int rc = orr_side_read(w->side_path, ORR_SIDE_SAMPLES, ret, &err);

    if (rc == 0 || rc == -ENOENT || rc == -ENOMEM)
        return rc == -ENOMEM ? rc : 0;
    tool_error("warning: %s", err.text);
    return 0;
}

static int write_side(const struct writing *w, const struct orr_side *side,
                      struct orr_error *err)
{
    if (side->nentries > 0)
        return orr_side_write(w->side_path, side, err);
    if (w->mode == PERFMODEL_REPLACE && unlink(w->side_path) < 0 &&
        errno != ENOENT)
        return orr_fail(err, -errno, "%s: cannot be removed: %s", w->side_path,
                        strerror(errno));
    return 0;
}

/* Runs under the locks of the model file. The side file is written first: until
 * the model file follows, it belongs to nothing and is ignored. */
static int write_edit_model(struct orr_model_file *file, void *arg,
                            struct orr_error *err)
{
    const struct writing *w = arg;
    struct perfmodel_data to = {.file = file};
    struct perfmodel_report report = {.name = w->report->name};
    int rc = 0;

    if (w->mode == PERFMODEL_NEW && file->ncombs > 0)
        return orr_fail(err, -EEXIST,
                        "%s: there is a model already; --force replaces it",
                        w->path);
    if (w->mode == PERFMODEL_JOIN)
        rc = read_side_or_none(w, &to.side);
    else
        rc = model_file_empty(file);
    if (rc < 0)
        return orr_fail(err, rc, "%s: out of memory", w->path);
    rc = perfmodel_join(&to, w->data, &report, err);
    if (rc == 0)
        rc = write_side(w, to.side, err);
    orr_side_free(to.side);
    *w->report = report;
    return rc;
}

int perfmodel_write(const char *path, const struct perfmodel_data *data,
                    enum perfmodel_mode mode, struct perfmodel_report *report,
                    struct orr_error *err)
{
    struct writing writing = {
        .path = path, .data = data, .mode = mode, .report = report};
    char *side = NULL;
    int rc = orr_side_path(path, &side);

    interrupt_says(PERFMODEL_INTERRUPTED);
    if (rc < 0)
        return orr_fail(err, rc, "%s: %s", path,
                        rc == -EINVAL ? "models are written to a codelets/45 "
                                        "directory"
                                      : strerror(-rc));
    writing.side_path = side;
    rc = orr_model_file_update(path, write_edit_model, &writing, NULL, err);
    free(side);
    return rc;
}
