/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/result.c - see result.h. */
#include "core/base/result.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/place.h"
#include "core/base/spool.h"

/* A name beside `path` that nothing has, for free(); the nth try. */
static char *name_beside(const char *path, unsigned nth)
{
    size_t size = strlen(path) + 48;
    char *name = malloc(size);

    if (name && nth == 0)
        snprintf(name, size, "%s.%ld", path, (long)getpid());
    else if (name)
        snprintf(name, size, "%s.%ld.%u", path, (long)getpid(), nth);
    return name;
}

/* Where a file system has no files without a name. */
static int open_temporary(struct orr_result *result)
{
    for (unsigned i = 0; !result->file; i++) {
        result->temporary = name_beside(result->path, i);
        if (!result->temporary)
            return -ENOMEM;
        result->file = fopen(result->temporary, "wxe");
        if (result->file)
            break;
        free(result->temporary);
        result->temporary = NULL;
        if (errno != EEXIST)
            return -errno;
    }
    return 0;
}

/* What is never finished has no name then, also where the process is killed. */
static int open_unnamed(struct orr_result *result)
{
    const char *slash = strrchr(result->path, '/');
    char *folder = slash ? strndup(result->path, (size_t)(slash - result->path) + 1)
                         : strdup(".");
    int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;

    free(folder);
    result->file = fd < 0 ? NULL : fdopen(fd, "w+e");
    if (!result->file && fd >= 0)
        close(fd);
    return result->file ? 0 : -1;
}

/* Gives a file without a name a temporary one, `*ret`, for free(). */
static int name_file(const struct orr_result *result, int fd, char **ret)
{
    char link[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    for (unsigned i = 0;; i++) {
        char *name = name_beside(result->path, i);

        if (!name)
            return -ENOMEM;
        if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            *ret = name;
            return 0;
        }
        free(name);
        if (errno != EEXIST)
            return -errno;
    }
}

static int result_open_file(struct orr_result *result, const char *path)
{
    result->path = orr_place_of(path);
    if (!result->path)
        return -ENOMEM;
    result->fixed = orr_place_is_fixed(path);
    if (result->fixed) {
        result->file = orr_place_open(path);
        return result->file ? 0 : -errno;
    }
    return open_unnamed(result) == 0 ? 0 : open_temporary(result);
}

int orr_result_open(const char *path, struct orr_result *ret)
{
    struct orr_result result = {0};
    int rc = result_open_file(&result, path);

    if (rc) {
        free(result.path);
        return rc;
    }
    errno = 0; /* ferror does not say why */
    *ret = result;
    return 0;
}

/* The place of what was written is free. */
static void drop_temporary(struct orr_result *result)
{
    if (result->temporary)
        unlink(result->temporary);
    free(result->temporary);
    result->temporary = NULL;
}

int orr_result_adopt(struct orr_result *result, FILE *spool)
{
    struct stat st;
    char *name;
    FILE *file;
    int fd, rc;

    if (result->fixed)
        return -EINVAL;
    if (fflush(spool) != 0 || fseeko(spool, 0, SEEK_END) < 0 ||
        fstat(fileno(result->file), &st) < 0 ||
        fchmod(fileno(spool), st.st_mode & 0777) < 0)
        return -errno;
    fd = fcntl(fileno(spool), F_DUPFD_CLOEXEC, 0);
    file = fd < 0 ? NULL : fdopen(fd, "we");
    rc = file ? name_file(result, fd, &name) : -errno;
    if (rc) {
        if (file)
            fclose(file);
        else if (fd >= 0)
            close(fd);
        return rc;
    }
    fclose(result->file);
    result->file = file;
    drop_temporary(result);
    result->temporary = name;
    return 0;
}

/* For file systems that give files without a name none later, which are few. */
static int copy_to_temporary(struct orr_result *result)
{
    FILE *unnamed = result->file;
    int rc;

    result->file = NULL;
    rc = open_temporary(result);
    if (rc) {
        result->file = unnamed;
        return rc;
    }
    rc = orr_spool_append(unnamed, 0, result->file);
    fclose(unnamed);
    return rc;
}

int orr_result_rename(struct orr_result *result, const char *path)
{
    char *place = result->fixed ? NULL : orr_place_of(path);

    if (!place)
        return result->fixed ? 0 : -ENOMEM;
    free(result->path);
    result->path = place;
    return 0;
}

/* The rename itself must survive a crash: the folder is written too. Some file
 * systems cannot do that, which is no reason to fail. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    int fd = folder || !slash
                 ? open(folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* All of it has been written; also to the disk, where a full one may show only then. */
static int result_flush(struct orr_result *result)
{
    if (fflush(result->file) != 0 || ferror(result->file))
        return errno ? -errno : -EIO;
    if (!result->fixed && result->durable && fsync(fileno(result->file)) < 0)
        return -errno;
    return 0;
}

static int give_temporary_name(struct orr_result *result)
{
    int rc = name_file(result, fileno(result->file), &result->temporary);

    if (!rc || rc == -ENOMEM)
        return rc;
    rc = copy_to_temporary(result);
    return rc ? rc : result_flush(result);
}

/* Gives the file its name. Signals wait: one that ends the process would leave the temporary
 * name that it has in between. */
static int finish_file(struct orr_result *result, int rc)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!rc && !result->fixed && !result->temporary)
        rc = give_temporary_name(result);
    if (fclose(result->file) != 0 && !rc)
        rc = -errno;
    if (!rc && !result->fixed && rename(result->temporary, result->path) != 0)
        rc = -errno;
    if (rc)
        drop_temporary(result);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int orr_result_close(struct orr_result *result, int rc)
{
    rc = finish_file(result, rc ? rc : result_flush(result));
    if (!rc && !result->fixed && result->durable)
        sync_folder(result->path);
    free(result->temporary);
    free(result->path);
    return rc;
}

int orr_result_write(const char *path, const void *bytes, size_t size)
{
    struct orr_result result;
    int rc = orr_result_open(path, &result);

    if (rc)
        return rc;
    result.durable = true;
    (void)fwrite(bytes, 1, size, result.file); /* the close finds errors */
    return orr_result_close(&result, 0);
}
