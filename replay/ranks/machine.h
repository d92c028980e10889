/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/machine.h - on which nodes the ranks of records are played. One thread. */
#pragma once

#include "replay/ranks/ranks.h"

struct orr_cluster_nodes;

struct ranks_machine_owner {
    struct orr_cluster_nodes *cluster;
    const char **machines;
    unsigned *nodes;
};

/* What ORRERY_MACHINE says for n ranks: a cluster, or a machine, of which there are as many
 * then. Errors: -ENOMEM; -EINVAL after a message. *owner is ended with ranks_machine_done in
 * any case, after *ret was used. */
int ranks_machine_find(unsigned n, struct ranks_machine *ret,
                       struct ranks_machine_owner *owner);
void ranks_machine_done(struct ranks_machine_owner *owner);
