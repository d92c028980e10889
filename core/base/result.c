/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/result.c - see result.h. */
#include "core/base/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/place.h"

/* Of its own, also where several runs of this process leave files of one name. */
static int open_temporary(struct orr_result *result)
{
    size_t size = strlen(result->path) + 48;

    result->temporary = malloc(size);
    if (!result->temporary)
        return -ENOMEM;
    for (unsigned i = 0; !result->file; i++) {
        snprintf(result->temporary, size, "%s.%ld", result->path, (long)getpid());
        if (i > 0)
            snprintf(result->temporary, size, "%s.%ld.%u", result->path, (long)getpid(), i);
        result->file = fopen(result->temporary, "wxe");
        if (!result->file && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static int result_open_file(struct orr_result *result, const char *path)
{
    result->path = orr_place_of(path);
    if (!result->path)
        return -ENOMEM;
    if (orr_place_is_fixed(path)) {
        result->file = orr_place_open(path);
        return result->file ? 0 : -errno;
    }
    return open_temporary(result);
}

int orr_result_open(const char *path, struct orr_result *ret)
{
    struct orr_result result = {0};
    int rc = result_open_file(&result, path);

    if (rc) {
        free(result.temporary);
        free(result.path);
        return rc;
    }
    errno = 0; /* ferror does not say why */
    *ret = result;
    return 0;
}

/* Gives the spool, whose file has no name, the one of the temporary file. */
static int name_spool(const struct orr_result *result, int spool)
{
    size_t size = strlen(result->temporary) + 2;
    char link[64], *name = malloc(size);
    struct stat st;
    int rc = 0;

    if (!name)
        return -ENOMEM;
    snprintf(name, size, "%s~", result->temporary);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", spool);
    if (fstat(fileno(result->file), &st) < 0 ||
        fchmod(spool, st.st_mode & 0777) < 0 ||
        linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0) {
        rc = -errno;
    } else if (rename(name, result->temporary) < 0) {
        rc = -errno;
        unlink(name);
    }
    free(name);
    return rc;
}

int orr_result_adopt(struct orr_result *result, FILE *spool)
{
    FILE *file;
    int fd, rc;

    if (!result->temporary)
        return -EINVAL;
    if (fflush(spool) != 0 || fseeko(spool, 0, SEEK_END) < 0)
        return -errno;
    fd = fcntl(fileno(spool), F_DUPFD_CLOEXEC, 0);
    file = fd < 0 ? NULL : fdopen(fd, "we");
    rc = file ? name_spool(result, fd) : -errno;
    if (rc) {
        if (file)
            fclose(file);
        else if (fd >= 0)
            close(fd);
        return rc;
    }
    fclose(result->file);
    result->file = file;
    return 0;
}

int orr_result_rename(struct orr_result *result, const char *path)
{
    char *place = result->temporary ? orr_place_of(path) : NULL;

    if (!place)
        return result->temporary ? -ENOMEM : 0;
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

int orr_result_close(struct orr_result *result, int rc)
{
    bool syncs = result->durable && result->temporary;

    if (!rc && (fflush(result->file) != 0 || ferror(result->file) ||
                (syncs && fsync(fileno(result->file)) < 0)))
        rc = errno ? -errno : -EIO;
    if (fclose(result->file) != 0 && !rc)
        rc = -errno;
    if (!rc && result->temporary &&
        rename(result->temporary, result->path) != 0)
        rc = -errno;
    if (rc && result->temporary)
        unlink(result->temporary);
    if (!rc && syncs)
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
