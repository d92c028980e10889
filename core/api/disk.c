/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/disk.c - starpu_disk.h. Application; registering, one at a time. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/api/api.h"
#include "core/data/node.h"
#include "core/device/driver.h"
#include "core/ends.h"

int starpu_disk_swap_node = -1;
struct starpu_disk_ops starpu_disk_leveldb_ops;

static const char *trouble_of(const struct starpu_disk_ops *func,
                              starpu_ssize_t size)
{
    if (!func)
        return "the operations are NULL: give it starpu_disk_unistd_ops, or "
               "your own";
    if (!func->plug || !func->unplug || !func->alloc || !func->free ||
        !func->read || !func->write)
        return "the operations lack one of plug, unplug, alloc, free, read and "
               "write";
    if (size >= 0 && size < STARPU_DISK_SIZE_MIN)
        return "the size is less than STARPU_DISK_SIZE_MIN: make it larger, or "
               "negative for no limit";
    return NULL;
}

static bool is_directory(const struct starpu_disk_ops *func)
{
    return func == &starpu_disk_stdio_ops || func == &starpu_disk_unistd_ops ||
           func == &starpu_disk_unistd_o_direct_ops;
}

int starpu_disk_register(struct starpu_disk_ops *func, void *parameter,
                         starpu_ssize_t size)
{
    ORR_API(rt, __func__);
    const struct orr_disk_options options = {
        func, parameter, size, is_directory(func) ? parameter : NULL};
    struct orr_machine *machine = rt->machine;
    const char *trouble = trouble_of(func, size);
    struct orr_error err = {""};
    int rc;

    if (func == &starpu_disk_leveldb_ops) {
        orr_log_error("%s: this library has no LevelDB: use "
                      "starpu_disk_unistd_ops, or, for values with names, "
                      "starpu_disk_hdf5_ops",
                      __func__);
        return -ENOENT;
    }
    if (trouble) {
        orr_log_error("%s: %s", __func__, trouble);
        return -EINVAL;
    }
    if (machine->spare_nodes > 0 && machine->nnodes == machine->row) {
        orr_log_error("%s: there are %u disks already, no more are possible",
                      __func__, machine->spare_nodes);
        return -ENOSPC;
    }
    ORR_RECORD_NOTE(rt, "disks, which replays have from STARPU_DISK_SWAP "
                        "alone");
    rc = machine->ops->add_disk(machine, &options, &err);
    orr_ends_note_made(rt);
    if (rc < 0) {
        orr_log_error("%s: %s", __func__, err.text);
        return rc;
    }
    rc = orr_nodes_add(rt);
    if (rc < 0) {
        orr_log_error("%s: out of memory", __func__);
        return rc;
    }
    return (int)machine->nnodes++;
}

/* -- the one of the environment -- */

static struct starpu_disk_ops *find_ops(const char *name)
{
    static const struct {
        const char *name;
        struct starpu_disk_ops *ops;
    } all[] = {
        {"stdio", &starpu_disk_stdio_ops},
        {"unistd", &starpu_disk_unistd_ops},
        {"unistd_o_direct", &starpu_disk_unistd_o_direct_ops},
        {"hdf5", &starpu_disk_hdf5_ops},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i].name) == 0)
            return all[i].ops;
    return NULL;
}

void orr_api_swap(struct orr_runtime *rt)
{
    const struct orr_config *config = &rt->config;
    const char *path = orr_config_string(config, ORR_CFG_DISK_SWAP);
    const char *backend = orr_config_string(config, ORR_CFG_DISK_SWAP_BACKEND);
    int mib = orr_config_int(config, ORR_CFG_DISK_SWAP_SIZE);
    struct starpu_disk_ops *ops;

    starpu_disk_swap_node = -1;
    if (!path)
        return;
    ops = find_ops(backend);
    if (ops)
        starpu_disk_swap_node = starpu_disk_register(
            ops, (void *)(uintptr_t)path,
            mib < 0 ? -1 : (starpu_ssize_t)mib << 20);
    else
        orr_log_warning("STARPU_DISK_SWAP_BACKEND=%.100s: the values are "
                        "`stdio', `unistd', `unistd_o_direct' and `hdf5'",
                        backend);
    if (starpu_disk_swap_node < 0) {
        starpu_disk_swap_node = -1;
        orr_log_warning("STARPU_DISK_SWAP=%.1000s: the run goes on without "
                        "that disk",
                        path);
    }
}

/* -- objects -- */

/* Ends the program unless it is a disk. */
static struct orr_driver *disk_driver_of_node(const char *call, unsigned node)
{
    const struct orr_node_desc *desc = orr_api_node(call, node);

    if (desc->driver->ops->object_open && desc->stores)
        return desc->driver;
    orr_log_error("%s: memory node %u (%s) is not a disk", call, node,
                  desc->name);
    abort();
}

void *starpu_disk_open(unsigned node, void *pos, size_t size)
{
    struct orr_driver *driver = disk_driver_of_node(__func__, node);
    uintptr_t object;
    int rc = driver->ops->object_open(driver, node, pos, size, &object);

    return rc < 0 ? NULL : (void *)object;
}

void starpu_disk_close(unsigned node, void *obj, size_t size)
{
    struct orr_driver *driver = disk_driver_of_node(__func__, node);

    driver->ops->object_close(driver, node, (uintptr_t)obj, size);
}
