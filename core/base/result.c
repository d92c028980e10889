/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/result.c - see result.h. */
#include "core/base/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a rename would destroy, or cannot replace. */
static bool is_device(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int open_file(struct orr_result *result, const char *path)
{
    size_t size = strlen(path) + 32;

    result->path = strdup(path);
    if (!result->path)
        return -ENOMEM;
    if (!is_device(path)) {
        result->temporary = malloc(size);
        if (!result->temporary)
            return -ENOMEM;
        snprintf(result->temporary, size, "%s.%ld", path, (long)getpid());
    }
    result->file = fopen(result->temporary ? result->temporary : path, "we");
    return result->file ? 0 : -errno;
}

int orr_result_open(const char *path, struct orr_result *ret)
{
    struct orr_result result = {0};
    int rc = open_file(&result, path);

    if (rc) {
        free(result.temporary);
        free(result.path);
        return rc;
    }
    errno = 0; /* ferror does not say why */
    *ret = result;
    return 0;
}

int orr_result_close(struct orr_result *result, int rc)
{
    if (!rc && (fflush(result->file) != 0 || ferror(result->file)))
        rc = errno ? -errno : -EIO;
    if (fclose(result->file) != 0 && !rc)
        rc = -errno;
    if (!rc && result->temporary &&
        rename(result->temporary, result->path) != 0)
        rc = -errno;
    if (rc && result->temporary)
        unlink(result->temporary);
    free(result->temporary);
    free(result->path);
    return rc;
}
