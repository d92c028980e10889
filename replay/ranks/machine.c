/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/machine.c - see machine.h. */
#include "replay/ranks/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/remote.h"
#include "replay/ranks/ranks.h"

/* One node for each rank, and the usual network. */
static int find_alike(const char *machine, unsigned n, struct orr_cluster_ranks **ret,
                      struct orr_error *err)
{
    char line[512];
    int length = snprintf(line, sizeof(line), "%u*\"%s\"", n, machine);

    if (length < 0 || (size_t)length >= sizeof(line))
        return orr_fail(err, -EINVAL, "the machine %.100s…: so long a name", machine);
    return orr_remote_read_cluster(line, ret, err);
}

/* Errors: after a message. */
static int find_cluster(unsigned n, struct orr_cluster_ranks **ret)
{
    const char *name = getenv("ORRERY_MACHINE");
    struct orr_error err = {""};
    int rc = -EINVAL;

    if (!name || !*name) {
        orr_log_error("the records of %u ranks have no kernels that could run on this machine: "
                      "name a cluster to be simulated, with -m or ORRERY_MACHINE, such as "
                      "'%u*h100-pcie-4 + ib 200Gb/s'",
                      n, n);
        return rc;
    }
    rc = orr_remote_read_cluster(name, ret, &err);
    if (rc > 0)
        rc = find_alike(name, n, ret, &err);
    if (rc) {
        orr_log_error("%s", err.text);
        return rc < 0 ? rc : -EINVAL;
    }
    if ((*ret)->n >= n)
        return 0;
    orr_log_error("%u ranks were recorded, and %s has room for %u: give it more nodes, or "
                  "ranks-per-node=",
                  n, name, (*ret)->n);
    orr_remote_forget_cluster(*ret);
    return -EINVAL;
}

int ranks_play_on_machine(const char *path, unsigned n, const struct orr_player_host *host)
{
    struct orr_cluster_ranks *cluster;
    int rc = find_cluster(n, &cluster);

    if (rc)
        return rc;
    rc = ranks_play(path, n, cluster, host);
    orr_remote_forget_cluster(cluster);
    return rc;
}
