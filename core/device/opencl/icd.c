/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/opencl/icd.c - see icd.h: the extension cl_khr_icd, as a loader uses it. */
#include "core/device/opencl/icd.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ICD_VENDORS "/etc/OpenCL/vendors"

typedef void *(*get_function_t)(const char *name);
typedef int32_t (*get_platforms_t)(uint32_t n, void **ret, uint32_t *ret_n);

static unsigned library_platforms(const char *path, void **ret, unsigned room)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    get_function_t get_function = NULL;
    get_platforms_t get_platforms = NULL;
    void *found = library ? dlsym(library, "clGetExtensionFunctionAddress") : NULL;
    uint32_t n = 0;

    if (!found)
        return 0;
    memcpy(&get_function, &found, sizeof(found));
    found = get_function("clIcdGetPlatformIDsKHR");
    if (!found)
        return 0;
    memcpy(&get_platforms, &found, sizeof(found));
    if (get_platforms(room, ret, &n) != 0)
        return 0;
    return n < room ? n : room;
}

/* The first line of the file is the library's name. */
static unsigned file_platforms(const char *path, void **ret, unsigned room)
{
    char line[1024] = "";
    FILE *file = fopen(path, "re");

    if (!file)
        return 0;
    if (!fgets(line, sizeof(line), file))
        line[0] = 0;
    fclose(file);
    line[strcspn(line, "\r\n")] = 0;
    return line[0] ? library_platforms(line, ret, room) : 0;
}

static int icd_is_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && strcmp(entry->d_name + n - 4, ".icd") == 0;
}

unsigned orr_icd_platforms(const char *vendors, void **ret, unsigned room)
{
    const char *folder = vendors ? vendors : ICD_VENDORS;
    size_t length = strlen(folder);
    struct dirent **files;
    unsigned found = 0;
    int n = scandir(folder, &files, icd_is_file, alphasort);

    if (n < 0)
        return length > 4 && strcmp(folder + length - 4, ".icd") == 0
                   ? file_platforms(folder, ret, room)
                   : library_platforms(folder, ret, room);
    for (int i = 0; i < n; i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
        if (found < room)
            found += file_platforms(path, ret + found, room - found);
        free(files[i]);
    }
    free(files);
    return found;
}
