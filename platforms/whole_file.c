/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/whole_file.c - see whole_file.h. No state. */
#include "platforms/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/place.h"

static int fail_errno(struct orr_error *err, int code, const char *path,
                      const char *what)
{
    return orr_fail(err, code, "%s: %s: %s", path, what, strerror(-code));
}

/* Reads until the end, also of files that grow meanwhile. */
static int read_until_end(int fd, size_t limit, char **ret_text,
                          size_t *ret_size)
{
    size_t size = 0, room = 16384;
    char *text = malloc(room + 1), *larger;
    ssize_t n;

    while (text) {
        n = read(fd, text + size, room - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            goto fail;
        if (n == 0)
            break;
        size += (size_t)n;
        if (size > limit) {
            errno = EFBIG;
            goto fail;
        }
        if (size < room)
            continue;
        room *= 2;
        larger = realloc(text, room + 1);
        if (!larger) {
            errno = ENOMEM;
            goto fail;
        }
        text = larger;
    }
    if (!text)
        return -ENOMEM;
    text[size] = '\0';
    *ret_text = text;
    *ret_size = size;
    return 0;
fail:;
    int code = -errno;

    free(text);
    return code;
}

int orr_file_read(const char *path, size_t limit, char **ret_text,
                  size_t *ret_size, struct orr_error *err)
{
    struct stat status;
    int fd, rc = 0;

    /* Not blocking, so that a pipe of that name cannot block. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_errno(err, -errno, path, "cannot be opened");
    if (fstat(fd, &status) < 0)
        rc = fail_errno(err, -errno, path, "cannot be read");
    else if (!S_ISREG(status.st_mode))
        rc = orr_fail(err, -EINVAL, "%s: not a regular file", path);
    if (rc)
        goto close_fd;
    rc = read_until_end(fd, limit, ret_text, ret_size);
    if (rc == -EFBIG)
        orr_fail(err, rc,
                 "%s: larger than %zu bytes, more than any machine "
                 "needs",
                 path, limit);
    else if (rc)
        fail_errno(err, rc, path, "cannot be read");
close_fd:
    close(fd);
    return rc;
}

/* Opens a new file beside `path` under an unused name. Returns its descriptor
 * and the name (owned) or a negative errno. Not mkstemp: the file gets the
 * permissions that open would have given to `path`. */
static int open_temporary(const char *path, char **ret_temporary)
{
    size_t room = strlen(path) + 48;
    char *temporary = malloc(room);
    int fd = -1;

    if (!temporary)
        return -ENOMEM;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(temporary, room, "%s.new-%ld-%u", path, (long)getpid(),
                 attempt);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0) {
        fd = -errno;
        free(temporary);
        return fd;
    }
    *ret_temporary = temporary;
    return fd;
}

static void remove_temporary(struct orr_new_file *file)
{
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
}

int orr_new_file_begin(struct orr_new_file *file, const char *path,
                       struct orr_error *err)
{
    bool is_fixed = orr_place_is_fixed(path);
    struct orr_new_file made = {.path = is_fixed ? strdup(path)
                                                 : orr_place_of(path)};
    int fd = -1, rc = -ENOMEM;

    if (!made.path)
        goto fail;
    if (is_fixed) {
        made.out = orr_place_open(path);
    } else {
        rc = fd = open_temporary(made.path, &made.temporary);
        if (fd < 0)
            goto free_path;
        made.out = fdopen(fd, "w");
    }
    if (made.out) {
        *file = made;
        return 0;
    }
    rc = -errno;
    if (made.temporary)
        close(fd);
    remove_temporary(&made);
free_path:
    free(made.path);
fail:
    return fail_errno(err, rc, path, "cannot be written");
}

/* The rename itself must survive a crash: the folder is written too. Some file
 * systems cannot do that, which is no reason to fail. */
static void sync_folder(const char *path)
{
    char *folder = strdup(path), *slash;
    int fd;

    if (!folder)
        return;
    slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

int orr_new_file_commit(struct orr_new_file *file, struct orr_error *err)
{
    int rc = 0;

    if (ferror(file->out) || fflush(file->out) != 0 ||
        (file->temporary && fsync(fileno(file->out)) < 0)) /* no device can */
        rc = errno ? -errno : -EIO;
    if (fclose(file->out) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && file->temporary && rename(file->temporary, file->path) < 0)
        rc = -errno;
    if (rc) {
        fail_errno(err, rc, file->path, "cannot be written");
        remove_temporary(file);
    } else {
        if (file->temporary)
            sync_folder(file->path);
        free(file->temporary);
    }
    free(file->path);
    return rc;
}

void orr_new_file_abandon(struct orr_new_file *file)
{
    fclose(file->out);
    remove_temporary(file);
    free(file->path);
}
