/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_read.c - what a cluster is made of, for those who do not read descriptions. */
#include <errno.h>
#include <stdlib.h>

#include "platforms/cluster.h"
#include "sim/cluster_events.h"

struct read_cluster {
    struct orr_cluster_nodes nodes; /* first */
    struct orr_cluster_desc desc;
    const char **machines; /* owned; the names are the description's */
};

void orr_sim_cluster_forget(struct orr_cluster_nodes *nodes)
{
    struct read_cluster *cluster = (struct read_cluster *)nodes;

    orr_cluster_free(&cluster->desc);
    free(cluster->machines);
    free(cluster);
}

int orr_sim_cluster_read(const char *name, const char *const *sampling_dirs,
                         struct orr_cluster_nodes **ret, struct orr_error *err)
{
    struct read_cluster *cluster = calloc(1, sizeof(*cluster));
    struct orr_cluster_desc *desc;
    int rc;

    if (!cluster)
        return orr_fail(err, -ENOMEM, "out of memory");
    desc = &cluster->desc;
    rc = orr_cluster_load(name, sampling_dirs, desc, err);
    if (rc) {
        free(cluster);
        return rc;
    }
    cluster->machines = calloc(desc->nnodes, sizeof(*cluster->machines));
    if (!cluster->machines) {
        orr_sim_cluster_forget(&cluster->nodes);
        return orr_fail(err, -ENOMEM, "out of memory");
    }
    for (unsigned g = 0, node = 0; g < desc->ngroups; g++)
        for (unsigned i = 0; i < desc->groups[g].n; i++)
            cluster->machines[node++] = desc->groups[g].machine;
    cluster->nodes = (struct orr_cluster_nodes){
        .n = desc->nnodes,
        .ranks_per_node = desc->ranks_per_node,
        .machines = cluster->machines,
        .network = desc->network,
    };
    *ret = &cluster->nodes;
    return 0;
}
