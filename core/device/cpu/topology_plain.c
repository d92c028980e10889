/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/topology_plain.c - topology.h for builds without hwloc. */
#include "core/device/cpu/topology.h"

#include <errno.h>

int orr_cpus_find(const char *synthetic, struct orr_cpus *ret,
                  struct orr_error *err)
{
    if (synthetic)
        return orr_fail(err, -ENODEV, "made-up machines need hwloc");
    return orr_cpus_from_affinity(ret, err);
}
