/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/versions.h - for each value the task that wrote it and those that read
 * it. Constant once made.
 */
#pragma once

#include <stdbool.h>

#include "bound/instance.h"

#define ORR_BOUND_NO_TASK UINT32_MAX

/* A value of a datum. Its readers are tasks that read it wherever a schedule
 * puts them; its producer is not among them. */
struct orr_bound_version {
    unsigned datum;
    unsigned producer; /* task; NO_TASK: the first value, in the home node */
    unsigned first_reader, nreaders;
};

struct orr_bound_versions {
    unsigned nversions, nreaders;
    struct orr_bound_version *versions; /* owned; those with readers */
    unsigned *readers;                  /* owned: tasks */
    /* Owned, per datum: the readers of its values are not known, because its
     * accesses are not ordered (commuting accesses, reductions), or its first
     * value comes from nowhere. It has no versions here. */
    bool *loose;
};

/* Follows each datum through its accesses, in order of submission; an order
 * that the instance's edges do not enforce is not assumed. Errors: -ENOMEM. */
int orr_bound_versions_init(struct orr_bound_versions *versions,
                            const struct orr_bound_instance *instance);
void orr_bound_versions_done(struct orr_bound_versions *versions);
