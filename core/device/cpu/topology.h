/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/topology.h - the processors that this process may use, and
 * which of them workers take. No state; called while a machine is opened.
 */
#pragma once

#include "core/base/error.h"

/* One logical processor. */
struct orr_cpu {
    int number;    /* the kernel's, for binding */
    unsigned rank; /* 0 for the first processor of its core, then 1, … */
};

struct orr_cpus {
    unsigned n;
    struct orr_cpu *cpus; /* owned, in the order of the topology */
    unsigned ncores;      /* of the machine, also those we may not use */
    unsigned nmemories;   /* nodes of main memory, at least 1 */
};

/* Finds the processors, through hwloc if the build has it. `synthetic`, unless
 * NULL, describes a made-up machine in hwloc's words ("core:4 pu:2"), for
 * tests. Errors: -ENOMEM, -ENODEV with words. The caller ends *ret with
 * orr_cpus_done. */
int orr_cpus_find(const char *synthetic, struct orr_cpus *ret,
                  struct orr_error *err);

/* The same as the kernel tells it, which knows nothing of cores here. */
int orr_cpus_from_affinity(struct orr_cpus *ret, struct orr_error *err);

void orr_cpus_done(struct orr_cpus *cpus);

/* Which processors workers take, in order, and how many workers there are
 * unless somebody says otherwise. */
struct orr_cpu_choice {
    unsigned n, usual;
    int *numbers; /* owned, the kernel's; free() it */
};

/* Chooses. `list` NULL: the first processor of each core, then the second
 * ones, and so on; as many workers as cores. Else a list of positions in the
 * topology, "0 2 4-7" or "4-"; as many workers as it names. Errors: -ENOMEM,
 * -EINVAL with words for a list that is broken or names what is not there. */
int orr_cpus_choose(const struct orr_cpus *cpus, const char *list,
                    struct orr_cpu_choice *ret, struct orr_error *err);
