/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/driver_module.c - drivers of shared objects that ORRERY_DRIVERS names.
 * Main's. A module is loaded once in a process and stays, with its kind of device.
 */
#include "core/device/driver_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/open.h"

static const struct orr_module_wanted wanted = {
    .name = ORR_DRIVER_MODULE_NAME,
    .stamp = ORR_DRIVER_STAMP,
    .if_closed =
        "ORRERY_DRIVERS names shared objects, as the dynamic linker finds "
        "them",
    .if_other = "compile it anew with the headers of this library (pkg-config "
                "--cflags orrery-driver)",
};

/* A driver numbers its devices from 0. */
static bool kind_has_devices(const struct orr_machine *machine,
                             const struct orr_device_kind *kind)
{
    for (unsigned i = 0; i < machine->nnodes; i++)
        if (machine->nodes[i].kind == kind->memory)
            return true;
    return false;
}

static int driver_open(const struct orr_driver_module *module, const char *path,
                       const char *settings, struct orr_machine *machine,
                       struct orr_error *err)
{
    struct orr_driver *driver = NULL;
    int rc = orr_device_kind_add(module->kind, path, err), added;

    if (rc < 0)
        return rc;
    if (kind_has_devices(machine, module->kind))
        return orr_fail(
            err, -EEXIST,
            "ORRERY_DRIVERS names %s twice: give all its settings at "
            "once",
            path);
    if (err)
        err->text[0] = '\0';
    rc = module->open(settings, machine, &driver, err);
    added = orr_machine_add_driver(machine, driver);
    if (rc < 0 && rc != -ENOMEM && err && !err->text[0])
        return orr_fail(err, rc, "the driver of %s cannot be opened: %s", path,
                        strerror(-rc));
    return rc < 0 ? rc : added;
}

/* "FILE:SETTINGS" or "FILE", with blanks before it; nothing is allowed. */
static int module_open(char *entry, struct orr_machine *machine,
                       struct orr_error *err)
{
    char *path = entry + strspn(entry, " \t\n"), *settings = strchr(path, ':');
    const void *table;
    int rc;

    if (settings)
        *settings++ = '\0';
    if (!*path)
        return 0;
    rc = orr_module_open_at(path, &wanted, &table, err);
    return rc < 0 ? rc
                  : driver_open(table, path, settings ? settings : "", machine,
                                err);
}

int orr_driver_modules_open(const char *text, struct orr_machine *machine,
                            struct orr_error *err)
{
    char *all = strdup(text), *rest = all, *entry;
    int rc = all ? 0 : -ENOMEM;

    while (rc == 0 && (entry = strsep(&rest, ";")))
        rc = module_open(entry, machine, err);
    free(all);
    return rc;
}
