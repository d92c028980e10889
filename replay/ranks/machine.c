/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/machine.c - see machine.h. */
#include "replay/ranks/machine.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/remote.h"
#include "perfmodel/sampling.h"

/* The cluster that the name means, 1: it means none. */
static int read_cluster(const char *name, struct orr_cluster_nodes **ret)
{
    const struct orr_cluster_ops *ops = orr_remote_cluster();
    struct orr_sampling *sampling = NULL;
    struct orr_error err = {"out of memory"};
    int rc;

    if (!ops)
        return -EINVAL;
    rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);
    if (rc == 0)
        rc = ops->read(name, orr_sampling_dirs(sampling), ret, &err);
    orr_sampling_free(sampling);
    return rc < 0 ? (orr_log_error("%s", err.text), rc) : rc;
}

/* The ranks of a node have its machine each. */
static void place(const struct orr_cluster_nodes *cluster, unsigned n, const char **machines,
                  unsigned *nodes, struct ranks_machine *ret)
{
    for (unsigned rank = 0; rank < n; rank++) {
        nodes[rank] = rank / cluster->ranks_per_node;
        machines[rank] = cluster->machines[nodes[rank]];
    }
    *ret = (struct ranks_machine){
        .machines = machines,
        .nodes = nodes,
        .nnodes = cluster->n,
        .network = cluster->network,
    };
}

/* One node for each rank: the usual network. */
static int place_alike(const char *machine, unsigned n, struct ranks_machine_owner *owner)
{
    char line[512];
    int length = snprintf(line, sizeof(line), "%u*\"%s\"", n, machine), rc;

    if (length < 0 || (size_t)length >= sizeof(line))
        return orr_log_error("the machine %s: so long a name", machine), -EINVAL;
    rc = read_cluster(line, &owner->cluster);
    return rc > 0 ? -EINVAL : rc;
}

int ranks_machine_find(unsigned n, struct ranks_machine *ret,
                       struct ranks_machine_owner *owner)
{
    const char *name = getenv("ORRERY_MACHINE");
    int rc;

    *owner = (struct ranks_machine_owner){0};
    if (!name || !*name)
        return orr_log_error("the records of %u ranks have no kernels that could run on this "
                             "machine: name a cluster to be simulated, with -m or "
                             "ORRERY_MACHINE, such as '%u*h100-pcie-4 + ib 200Gb/s'",
                             n, n),
               -EINVAL;
    rc = read_cluster(name, &owner->cluster);
    if (rc > 0)
        rc = place_alike(name, n, owner);
    if (rc < 0)
        return rc;
    if (n > owner->cluster->n * owner->cluster->ranks_per_node)
        return orr_log_error("%u ranks were recorded, and %s has %u nodes with %u each: give "
                             "it more nodes, or ranks-per-node=",
                             n, name, owner->cluster->n, owner->cluster->ranks_per_node),
               -EINVAL;
    owner->machines = calloc(n, sizeof(*owner->machines));
    owner->nodes = calloc(n, sizeof(*owner->nodes));
    if (!owner->machines || !owner->nodes)
        return -ENOMEM;
    place(owner->cluster, n, owner->machines, owner->nodes, ret);
    return 0;
}

void ranks_machine_done(struct ranks_machine_owner *owner)
{
    if (owner->cluster)
        orr_remote_cluster()->forget(owner->cluster);
    free(owner->machines);
    free(owner->nodes);
}
