/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/gpu/api.c - see api.h: finding a vendor's library, and its codes. */
#include "core/device/gpu/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* -- the library -- */

bool gpu_may_have_devices(const struct gpu_library *library)
{
    for (unsigned i = 0; library->devices[i]; i++)
        if (access(library->devices[i], F_OK) == 0)
            return true;
    return false;
}

/* Vendors' libraries have threads and handlers that outlive us. */
static void *gpu_library_open(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static int not_found(const struct gpu_library *library, const char *path,
                     struct orr_error *err)
{
    const char *reason = dlerror();
    char files[160] = "";

    for (unsigned i = 0; !path && library->files[i]; i++)
        snprintf(files + strlen(files), sizeof(files) - strlen(files), "%s%s",
                 i ? ", " : "", library->files[i]);
    return orr_fail(
        err, -ENOENT, "there is no %s: %.160s was looked for (%.200s)",
        library->title, path ? path : files, reason ? reason : "not found");
}

static int gpu_library_find(void *handle, const struct gpu_library *library,
                            const char *name, const char *file,
                            void (**ret)(void), struct orr_error *err)
{
    void *symbol = dlsym(handle, name);

    if (!symbol)
        return orr_fail(err, -EINVAL, "%.160s has no %s: %s is needed", file,
                        name, library->needed);
    /* POSIX guarantees that a function pointer fits; ISO C has no cast. */
    memcpy(ret, &symbol, sizeof(symbol));
    return 0;
}

static int find_all(struct gpu_api *api, const char *file,
                    struct orr_error *err)
{
    const struct gpu_library *library = api->library;
    void (*found)(void) = NULL;
    unsigned i = 0;
    int rc = 0;

#define GPU_STORE(name, cuda, hip, parameters)                                 \
    if (rc == 0)                                                               \
        rc = gpu_library_find(api->handle, library, library->names[i++], file, \
                              &found, err);                                    \
    if (rc == 0)                                                               \
        memcpy(&api->name, &found, sizeof(found));
    GPU_FUNCTIONS(GPU_STORE)
#undef GPU_STORE
    for (i = 0; rc == 0 && i < library->nown; i++)
        rc = gpu_library_find(api->handle, library, library->own[i], file,
                              &api->own[i], err);
    return rc;
}

int gpu_api_open(const struct gpu_library *library, const char *path,
                 struct gpu_api *ret, struct orr_error *err)
{
    struct gpu_api api = {.library = library};
    const char *file = path;
    int rc;

    if (path)
        api.handle = gpu_library_open(path);
    for (unsigned i = 0; !path && !api.handle && library->files[i]; i++)
        api.handle = gpu_library_open(file = library->files[i]);
    if (!api.handle)
        return not_found(library, path, err);
    rc = find_all(&api, file, err);
    if (rc == 0)
        *ret = api;
    else
        dlclose(api.handle);
    return rc;
}

void gpu_api_close(struct gpu_api *api)
{
    if (api->handle)
        dlclose(api->handle);
    api->handle = NULL;
}

/* -- codes -- */

const char *gpu_words(const struct gpu_api *api, int code)
{
    const char *words = api->library->words(api, code);

    return words ? words : "unknown error";
}

/* Both vendors' codes: those after which a context, or the device, is of no use
 * to this process. */
static bool is_final(int code)
{
    static const short codes[] = {
        4,   /* deinitialised */
        46,  /* devices unavailable */
        100, /* no device */
        201, /* invalid context */
        214, /* ECC error that was not corrected */
        220, /* NVLink error that was not corrected */
        700, /* illegal address */
        702, /* launch timed out */
        709, /* context is destroyed */
        710, /* assertion in a kernel */
        714, /* hardware stack error */
        715, /* illegal instruction */
        716, /* misaligned address */
        717, /* invalid address space */
        718, /* invalid program counter */
        719, /* launch failed */
    };

    for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i] == code)
            return true;
    return false;
}

int gpu_errno(int code)
{
    if (code == GPU_SUCCESS)
        return 0;
    if (code == GPU_OUT_OF_MEMORY)
        return -ENOMEM;
    return is_final(code) ? -ENODEV : -EIO;
}

int gpu_failure(int code)
{
    int error = gpu_errno(code);

    return error == -ENOMEM ? -EIO : error;
}
