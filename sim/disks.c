/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/disks.c - see disks.h. */
#include "sim/disks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/log.h"
#include "platforms/bus_files.h"

static int find_link(const struct orr_machine_desc *desc, unsigned src,
                     unsigned dst, struct orr_sim_disk_link *ret)
{
    ret->bandwidth = (double)NAN;
    if (orr_machine_desc_route(desc, src, dst) < 0)
        return 0;
    return orr_bus_of_route(desc, src, dst, &ret->bandwidth, &ret->latency);
}

int orr_sim_disks_find(const struct orr_machine_desc *desc, unsigned nnodes,
                       unsigned nmain, unsigned **endpoints,
                       struct orr_sim_disks *ret)
{
    unsigned *all =
        realloc(*endpoints, (nnodes + ORR_SIM_MAX_DISKS) * sizeof(*all));
    int error = 0;

    if (!all)
        return -ENOMEM;
    *endpoints = all;
    for (ret->n = 0; ret->n < ORR_SIM_MAX_DISKS && error == 0; ret->n++) {
        struct orr_sim_disk *disk = &ret->at[ret->n];
        char id[32];
        int host;

        snprintf(id, sizeof(id), "DISK%u", ret->n);
        host = orr_machine_desc_host(desc, id);
        if (host < 0)
            break;
        all[nnodes + ret->n] = (unsigned)host;
        for (unsigned i = 0; i < nmain && error == 0; i++) {
            error = find_link(desc, all[i], (unsigned)host, &disk->to[i]);
            if (error == 0)
                error = find_link(desc, (unsigned)host, all[i], &disk->from[i]);
        }
    }
    return error;
}

int orr_sim_disks_add(struct orr_machine *machine, struct orr_sim_disks *disks,
                      const struct orr_disk_options *options,
                      struct orr_error *err)
{
    struct orr_sim_disk *disk = &disks->at[disks->nadded];
    unsigned node = machine->nnodes;
    struct orr_node_desc *desc = &machine->nodes[node];

    if (disks->nadded == disks->n)
        return orr_fail(err, -ENOENT,
                        "machine \"%s\" has %u disk%s, this would be number "
                        "%u: add the host \"DISK%u\" to it, with routes to and "
                        "from main memory",
                        machine->name, disks->n, disks->n == 1 ? "" : "s",
                        disks->n + 1, disks->n);
    if (isnan(disk->to[0].bandwidth) || isnan(disk->from[0].bandwidth))
        return orr_fail(err, -ENOENT,
                        "machine \"%s\" lacks a route from main memory to "
                        "DISK%u, or back: add both to its description",
                        machine->name, disks->nadded);
    disk->has_objects = options->ops->open && options->ops->close;
    if (options->directory && !(disk->directory = strdup(options->directory)))
        return orr_fail(err, -ENOMEM, "out of memory");
    *desc = (struct orr_node_desc){
        .kind = STARPU_DISK_RAM,
        .devid = (int)disks->nadded,
        .capacity = options->size < 0 ? 0 : (size_t)options->size,
        .host_addressable = true,
        .stores = true,
        .driver = machine->nodes[0].driver,
    };
    snprintf(desc->name, sizeof(desc->name), "Disk %u", disks->nadded++);
    for (unsigned i = 0; i < node && orr_node_is_main(&machine->nodes[i]);
         i++) {
        const struct orr_sim_disk_link *to = &disk->to[i],
                                       *from = &disk->from[i];

        if (isnan(to->bandwidth) || isnan(from->bandwidth))
            continue;
        orr_machine_set_link(machine, i, node, to->bandwidth, to->latency);
        orr_machine_set_link(machine, node, i, from->bandwidth, from->latency);
    }
    return 0;
}

bool orr_sim_disks_has(const struct orr_machine *machine,
                       const struct orr_sim_disks *disks, unsigned node,
                       const char *name, size_t size)
{
    const struct orr_sim_disk *disk = &disks->at[machine->nodes[node].devid];
    struct stat status;
    char *path;
    bool there;

    if (!disk->has_objects || !disk->directory)
        return disk->has_objects;
    if (asprintf(&path, "%s/%s", disk->directory, name) < 0)
        return false;
    there = stat(path, &status) == 0 && (size_t)status.st_size >= size;
    if (!there)
        orr_log_notice("%s: there is no file %s of %zu bytes here, so none on "
                       "the simulated disk; one without contents is enough: "
                       "truncate -s %zu FILE",
                       machine->nodes[node].name, path, size, size);
    free(path);
    return there;
}

void orr_sim_disks_done(struct orr_sim_disks *disks)
{
    for (unsigned i = 0; i < disks->nadded; i++)
        free(disks->at[i].directory);
}
