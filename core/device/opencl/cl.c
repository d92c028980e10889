/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/opencl/cl.c - see cl.h: finding OpenCL, and its codes. */
#include "core/device/opencl/cl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADER  "libOpenCL.so.1"
#define VENDORS "/etc/OpenCL/vendors"

/* -- the loader -- */

int opencl_api_open(struct opencl_api *ret, struct orr_error *err)
{
    /* Vendors' libraries have threads and handlers that outlive us. */
    void *library = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    static const char *const names[] = {
#define OPENCL_NAME(name, result, parameters) "cl" #name,
        OPENCL_FUNCTIONS(OPENCL_NAME)
#undef OPENCL_NAME
    };
    void *found[sizeof(names) / sizeof(names[0])];
    unsigned i = 0;

    if (!library)
        return -ENOENT;
    for (; i < sizeof(names) / sizeof(names[0]); i++) {
        found[i] = dlsym(library, names[i]);
        if (found[i])
            continue;
        dlclose(library);
        return orr_fail(err, -EINVAL, LOADER " has no %s: OpenCL 1.2 is needed",
                        names[i]);
    }
    i = 0;
#define OPENCL_STORE(name, result, parameters)                                 \
    memcpy(&ret->name, &found[i++], sizeof(ret->name));
    OPENCL_FUNCTIONS(OPENCL_STORE)
#undef OPENCL_STORE
    ret->library = library;
    return 0;
}

void opencl_api_close(struct opencl_api *api)
{
    if (api->library)
        dlclose(api->library);
    api->library = NULL;
}

/* -- vendors -- */

/* "libpocl.so.2.10.0" and the like; a file that cannot be read may be any. */
static bool is_for_processors(const char *folder, const char *name)
{
    char path[1024], line[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (!fgets(line, sizeof(line), file))
        line[0] = 0;
    fclose(file);
    return strstr(line, "libpocl") != NULL;
}

bool opencl_may_have_devices(const char *vendors)
{
    const char *folder = vendors ? vendors : VENDORS;
    DIR *files = opendir(folder);
    const struct dirent *file;
    bool may = false;

    /* The variable may also name one library, which the linker finds. */
    if (!files)
        return vendors && !strstr(vendors, "pocl") &&
               (!strchr(vendors, '/') || access(vendors, R_OK) == 0);
    while (!may && (file = readdir(files))) {
        const char *end = strrchr(file->d_name, '.');

        may = end && strcmp(end, ".icd") == 0 &&
              !is_for_processors(folder, file->d_name);
    }
    closedir(files);
    return may;
}

/* -- codes -- */

static const struct {
    cl_int code;
    const char *words;
} errors[] = {
    {0, "Success"},
    {-1, "Device not found"},
    {-2, "Device not available"},
    {-3, "Compiler not available"},
    {-4, "Memory object allocation failure"},
    {-5, "Out of resources"},
    {-6, "Out of host memory"},
    {-7, "Profiling info not available"},
    {-8, "Memory copy overlap"},
    {-9, "Image format mismatch"},
    {-10, "Image format not supported"},
    {-11, "Build program failure"},
    {-12, "Map failure"},
    {-30, "Invalid value"},
    {-31, "Invalid device type"},
    {-32, "Invalid platform"},
    {-33, "Invalid device"},
    {-34, "Invalid context"},
    {-35, "Invalid queue properties"},
    {-36, "Invalid command queue"},
    {-37, "Invalid host pointer"},
    {-38, "Invalid memory object"},
    {-39, "Invalid image format descriptor"},
    {-40, "Invalid image size"},
    {-41, "Invalid sampler"},
    {-42, "Invalid binary"},
    {-43, "Invalid build options"},
    {-44, "Invalid program"},
    {-45, "Invalid program executable"},
    {-46, "Invalid kernel name"},
    {-47, "Invalid kernel definition"},
    {-48, "Invalid kernel"},
    {-49, "Invalid argument index"},
    {-50, "Invalid argument value"},
    {-51, "Invalid argument size"},
    {-52, "Invalid kernel arguments"},
    {-53, "Invalid work dimension"},
    {-54, "Invalid work group size"},
    {-55, "Invalid work item size"},
    {-56, "Invalid global offset"},
    {-57, "Invalid event wait list"},
    {-58, "Invalid event"},
    {-59, "Invalid operation"},
    {-60, "Invalid GL object"},
    {-61, "Invalid buffer size"},
    {-62, "Invalid MIP level"},
    {-1001, "Platform not found"},
};

const char *opencl_error(cl_int code)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].code == code)
            return errors[i].words;
    return "unknown OpenCL error";
}

int opencl_errno(cl_int code)
{
    switch (code) {
    case OPENCL_SUCCESS:
        return 0;
    case OPENCL_MEM_OBJECT_ALLOCATION_FAILURE:
    case OPENCL_OUT_OF_RESOURCES:
    case OPENCL_OUT_OF_HOST_MEMORY:
    case OPENCL_INVALID_BUFFER_SIZE:
        return -ENOMEM;
    case OPENCL_DEVICE_NOT_AVAILABLE:
        return -ENODEV;
    default:
        return -EIO;
    }
}

int opencl_failure(cl_int code)
{
    int error = opencl_errno(code);

    return error && error != -ENODEV ? -EIO : error;
}
