/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/store_file.c - model files on disk: locked, read, replaced in one
 * step. Any thread: locks belong to open file descriptions, so that threads
 * of one process exclude each other as well.
 *
 * Two locks guard an update. Our own, on the file LOCK_NAME of the directory,
 * is held from before the file is looked at until it has been replaced, and
 * excludes other Orrery processes. StarPU's, an fcntl lock on the file's inode,
 * excludes a StarPU that writes the file in place; since another process may
 * replace the file while we wait for it, the name is looked up again after
 * locking. Not prevented: a StarPU that had opened the file and waited while we
 * replaced it writes into a file that has no name any more.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfmodel/disk.h"

#define LOCK_NAME ".orrery-lock"
#define TRIES_MAX 16

static int parse_fd(int fd, const char *path, struct orr_model_file **ret,
                    struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    int rc = orr_disk_read(fd, path, &text, &size, err);

    if (rc)
        return rc;
    rc = orr_model_file_parse(path, text, size, ret, err);
    free(text);
    return rc;
}

int orr_model_file_read(const char *path, struct orr_model_file **ret,
                        struct orr_error *err)
{
    int fd, rc = orr_disk_open(path, O_RDONLY, &fd, err);

    if (rc)
        return rc;
    rc = orr_disk_lock(fd, F_RDLCK);
    if (rc)
        orr_fail(err, rc, "%s: cannot be locked: %s.", path, strerror(-rc));
    else
        rc = parse_fd(fd, path, ret, err);
    close(fd);
    return rc;
}

/* Makes a path of a directory and a name: "dir/before+name+after". */
static char *path_join(const char *dir, const char *before, const char *name,
                       const char *after)
{
    char *path;

    if (asprintf(&path, "%s/%s%s%s", dir, before, name, after) < 0)
        return NULL;
    return path;
}

/* One update under way. */
struct update {
    char *path;       /* owned; symbolic links followed */
    char *dir;        /* owned */
    const char *name; /* within path */
    char *temporary;  /* owned; beside path, so that rename stays atomic */
    int lock;         /* our own lock's descriptor, -1 without */
    int fd;           /* the file as it was, locked, -1 when there is none */
    mode_t mode;      /* what the new file gets */
};

static int update_paths(struct update *u, const char *path,
                        struct orr_error *err)
{
    const char *slash;

    u->path = realpath(path, NULL);
    if (!u->path)
        u->path = strdup(path);
    if (!u->path)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", path);
    slash = strrchr(u->path, '/');
    u->name = slash ? slash + 1 : u->path;
    if (!slash)
        u->dir = strdup(".");
    else
        u->dir =
            strndup(u->path, slash > u->path ? (size_t)(slash - u->path) : 1);
    if (u->dir)
        u->temporary = path_join(u->dir, ".", u->name, ".orrery-new");
    if (!u->temporary)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", path);
    return 0;
}

static int update_lock(struct update *u, struct orr_error *err)
{
    char *path = path_join(u->dir, "", LOCK_NAME, "");
    int rc = 0;

    if (!path)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", u->path);
    u->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (u->lock < 0)
        rc = orr_disk_fail(err, "the lock file cannot be opened", path);
    else
        rc = orr_disk_lock(u->lock, F_WRLCK);
    if (rc && u->lock >= 0)
        orr_fail(err, rc, "%s: cannot be locked: %s.", path, strerror(-rc));
    free(path);
    return rc;
}

/* Opens the file and takes StarPU's lock on it; u->fd stays -1 when there is
 * no such file. */
static int update_open(struct update *u, struct orr_error *err)
{
    struct stat held, named;

    for (;;) {
        int rc = orr_disk_open(u->path, O_RDWR, &u->fd, err);

        if (rc == -ENOENT)
            return 0;
        if (rc)
            return rc;
        rc = orr_disk_lock(u->fd, F_WRLCK);
        if (rc)
            return orr_fail(err, rc, "%s: cannot be locked: %s.", u->path,
                            strerror(-rc));
        if (fstat(u->fd, &held))
            return orr_disk_fail(err, "cannot be examined", u->path);
        if (stat(u->path, &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev) {
            u->mode = held.st_mode & 07777;
            return 0;
        }
        close(u->fd); /* it was replaced while we waited */
        u->fd = -1;
    }
}

/* Gives the temporary file its name. -EEXIST, without a message, when there was
 * no file before and another process has made one since. */
static int update_rename(struct update *u, struct orr_error *err)
{
    if (u->fd < 0) {
        if (link(u->temporary, u->path) == 0)
            unlink(u->temporary);
        else if (errno == EEXIST)
            return -EEXIST;
        else if (rename(u->temporary, u->path)) /* no links here */
            return orr_disk_fail(err, "cannot be made", u->path);
    } else if (rename(u->temporary, u->path)) {
        return orr_disk_fail(err, "cannot be replaced", u->path);
    }
    orr_disk_sync_directory(u->dir);
    return 0;
}

/* What the file holds now, an empty one when there is none. */
static int update_current(const struct update *u, struct orr_model_file **ret,
                          struct orr_error *err)
{
    int rc = -ENODATA;

    if (u->fd >= 0)
        rc = parse_fd(u->fd, u->path, ret, err);
    if (rc != -ENODATA)
        return rc;
    rc = orr_model_file_new(ret);
    return rc ? orr_fail(err, rc, "%s: out of memory.", u->path) : 0;
}

/* The new contents as text, and as a reader will see them. */
static int update_text(const struct update *u, orr_model_edit_fn edit,
                       void *arg, char **ret_text, size_t *ret_size,
                       struct orr_model_file **ret, struct orr_error *err)
{
    struct orr_model_file *file = NULL;
    int rc = update_current(u, &file, err);

    if (!rc)
        rc = edit(file, arg, err);
    if (!rc && orr_model_file_format(file, ret_text, ret_size))
        rc = orr_fail(err, -ENOMEM, "%s: out of memory.", u->path);
    orr_model_file_free(file);
    if (rc)
        return rc;
    return orr_model_file_parse(u->path, *ret_text, *ret_size, ret, err);
}

static int update_once(struct update *u, orr_model_edit_fn edit, void *arg,
                       struct orr_model_file **ret, struct orr_error *err)
{
    struct orr_model_file *file = NULL;
    char *text = NULL;
    size_t size = 0;
    int rc = update_open(u, err);

    if (!rc)
        rc = update_text(u, edit, arg, &text, &size, &file, err);
    if (!rc)
        rc = orr_disk_write(u->temporary, text, size, u->mode, err);
    if (!rc) {
        rc = update_rename(u, err);
        if (rc)
            unlink(u->temporary);
    }
    free(text);
    if (rc)
        orr_model_file_free(file);
    else
        *ret = file;
    return rc;
}

static void update_done(struct update *u)
{
    if (u->fd >= 0)
        close(u->fd);
    if (u->lock >= 0)
        close(u->lock);
    free(u->temporary);
    free(u->dir);
    free(u->path);
}

int orr_model_file_update(const char *path, orr_model_edit_fn edit, void *arg,
                          struct orr_model_file **ret, struct orr_error *err)
{
    struct update u = {.lock = -1, .fd = -1};
    struct orr_model_file *file = NULL;
    int rc = update_paths(&u, path, err);

    if (!rc)
        rc = orr_directory_make(u.dir, err);
    if (!rc)
        rc = update_lock(&u, err);
    if (!rc)
        rc = -EEXIST;
    /* A file may appear where none was; a link to nowhere always does. */
    for (unsigned i = 0; rc == -EEXIST && i < TRIES_MAX; i++)
        rc = update_once(&u, edit, arg, &file, err);
    if (rc == -EEXIST)
        orr_fail(err, rc,
                 "%s: cannot be made: the name is taken by something that "
                 "cannot be opened. Remove it.",
                 u.path);
    update_done(&u);
    if (rc)
        return rc;
    if (ret)
        *ret = file;
    else
        orr_model_file_free(file);
    return 0;
}
