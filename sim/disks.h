/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/disks.h - the disks of a description, DISK0 and those that follow: found
 * when the machine is opened, memory nodes when the application registers them.
 */
#pragma once

#include <stdbool.h>

#include "core/device/machine.h"
#include "platforms/machine_desc.h"

enum { ORR_SIM_MAX_DISKS = 4 };

/* To and from each node of main memory: bytes per µs, NaN without a route, and
 * µs. */
struct orr_sim_disk {
    struct orr_sim_disk_link {
        double bandwidth, latency;
    } to[STARPU_MAXNUMANODES], from[STARPU_MAXNUMANODES];
    bool has_objects; /* once it is a node: they can be opened … */
    char *directory;  /* … and are files there; owned, or NULL */
};

struct orr_sim_disks {
    struct orr_sim_disk at[ORR_SIM_MAX_DISKS];
    unsigned n;      /* that the machine has */
    unsigned nadded; /* that are nodes already */
};

/* Fills *ret, and appends the disks' hosts to the endpoints of the machine's
 * nodes, of which the first `nmain` are main memory. Errors: -ENOMEM. */
int orr_sim_disks_find(const struct orr_machine_desc *desc, unsigned nnodes,
                       unsigned nmain, unsigned **endpoints,
                       struct orr_sim_disks *ret);

/* orr_machine_ops.add_disk. */
int orr_sim_disks_add(struct orr_machine *machine, struct orr_sim_disks *disks,
                      const struct orr_disk_options *options,
                      struct orr_error *err);

/* Whether what the application names can be opened there, as on a real disk: the file
 * that this host has in its place, of that length at least; of others than directories
 * it is not known, and supposed. Says what is missing. */
bool orr_sim_disks_has(const struct orr_machine *machine,
                       const struct orr_sim_disks *disks, unsigned node,
                       const char *name, size_t size);

/* Frees what orr_sim_disks_add has kept. */
void orr_sim_disks_done(struct orr_sim_disks *disks);
