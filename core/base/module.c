/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/module.c - see module.h. No state of its own: the dynamic linker
 * knows which are open, and opening twice gives the same object. Any thread.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* dladdr */
#endif
#include "core/base/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int orr_module_own_directory(char *ret)
{
    /* Any address of our own will do. */
    static const char anchor = 0;
    struct link_map *object = NULL;
    const char *path;
    char *slash;
    Dl_info info;

    if (!dladdr1(&anchor, &info, (void **)&object, RTLD_DL_LINKMAP) || !object)
        return -ENOENT;
    /* The program's own name is empty, and its argv[0] may be no path. */
    path = *object->l_name ? object->l_name : "/proc/self/exe";
    if (!realpath(path, ret))
        return -ENOENT;
    slash = strrchr(ret, '/');
    slash[slash == ret] = '\0';
    return 0;
}

/* Writes directory/folder/name.so; returns whether that is a readable file. */
static int try_place(const char *directory, const char *folder,
                     const char *name, char ret[PATH_MAX])
{
    int n = snprintf(ret, PATH_MAX, "%s/%s%s.so", directory, folder, name);

    return n < PATH_MAX && access(ret, R_OK) == 0 ? 0 : -ENOENT;
}

static int find_module(const char *name, char ret[PATH_MAX])
{
    const char *given = getenv("ORRERY_MODULE_DIR");
    char own[PATH_MAX];

    if (given && *given && try_place(given, "", name, ret) == 0)
        return 0;
    if (orr_module_own_directory(own) < 0)
        return -ENOENT;
    if (try_place(own, "orrery/", name, ret) == 0)
        return 0;
    /* The build tree has the library and its modules in one folder. */
    return try_place(own, "", name, ret);
}

/* The module's description, if it is the one that is wanted. */
static int module_read_entry(void *object, const char *path,
                             const struct orr_module_wanted *wanted,
                             const struct orr_module **ret,
                             struct orr_error *err)
{
    void *symbol = dlsym(object, ORR_MODULE_ENTRY);
    const struct orr_module *module;
    orr_module_entry_fn entry;

    if (!symbol)
        return orr_fail(err, -EINVAL, "%s is no module of Orrery", path);
    /* POSIX guarantees that a function pointer fits; ISO C has no cast for
     * it. */
    memcpy(&entry, &symbol, sizeof(entry));
    module = entry();
    if (module->abi != ORR_MODULE_ABI ||
        strcmp(module->name, wanted->name) != 0)
        return orr_fail(
            err, -EINVAL,
            "%s is module \"%s\" version %u, not \"%s\" version %u: %s", path,
            module->name, module->abi, wanted->name, ORR_MODULE_ABI,
            wanted->if_other);
    if (strcmp(module->stamp, wanted->stamp) != 0)
        return orr_fail(err, -EINVAL,
                        "%s is of another build than this library (%s, not "
                        "%s): %s",
                        path, module->stamp, wanted->stamp, wanted->if_other);
    *ret = module;
    return 0;
}

int orr_module_open_at(const char *path, const struct orr_module_wanted *wanted,
                       const void **ret, struct orr_error *err)
{
    const struct orr_module *module = NULL;
    void *object;
    int rc;

    /*
     * A module binds its own symbols now (it is linked so). What is behind it
     * does so as it is called: of the network simulator that Debian's SimGrid
     * is linked with, almost nothing is. That saves a simulated run an eighth
     * of the instructions of a small one.
     */
    object = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!object)
        return orr_fail(err, -EINVAL, "cannot open module %s: %s; %s", path,
                        dlerror(), wanted->if_closed);
    rc = module_read_entry(object, path, wanted, &module, err);
    if (rc < 0) {
        dlclose(object);
        return rc;
    }
    *ret = module->table;
    return 0;
}

int orr_module_open(const char *name, const void **ret, struct orr_error *err)
{
    char path[PATH_MAX], build_it[80];
    const struct orr_module_wanted wanted = {
        .name = name,
        .stamp = orr_module_stamp,
        .if_closed = build_it,
        .if_other =
            "build everything (`ninja` without a target) or install both "
            "anew; ORRERY_MODULE_DIR, if set, names the folder of this "
            "build",
    };

    if (!strcmp(name, "watch")) /* of all builds */
        snprintf(build_it, sizeof(build_it), "install Orrery anew");
    else
        snprintf(build_it, sizeof(build_it), "build it with meson option -D%.40s=enabled",
                 strcmp(name, "debug") ? name : "sim"); /* it comes with that */
    if (find_module(name, path) < 0)
        return orr_fail(err, -ENOENT,
                        "module %s.so is neither in ORRERY_MODULE_DIR nor "
                        "beside the library; %s, or set ORRERY_MODULE_DIR",
                        name, build_it);
    return orr_module_open_at(path, &wanted, ret, err);
}
