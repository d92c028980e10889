/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/row.h - what a cost row holds; cost.h finds and makes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

struct orr_recal;

struct orr_cost_row {
    struct starpu_codelet *cl;
    uint32_t footprint;
    uint32_t version;      /* of the model when the lengths were read */
    bool per_task;         /* cost functions: called again for every task */
    bool assumed;          /* lengths come from ORRERY_ASSUME, 0 is meant */
    bool per_worker;       /* can_execute must be called for each worker */
    uint64_t able_classes; /* bit k: some implementation exists for class k */
    uint64_t too_small;    /* bit k: none, since the data do not fit its memory;
                         * those of a footprint that do have another row */
    /* able[k]: bit i: implementation i exists for class k. */
    uint8_t *able;
    /* length[k * STARPU_MAXIMPLEMENTATIONS + i]: µs on class k, NaN: not
     * calibrated, 0: the codelet has no model. */
    double *length;
    /* What has to be measured; NULL where nothing is. */
    struct orr_recal *recal;
};

/* µs that implementation `impl` of the job takes on a worker of the class. */
static inline double orr_cost_length(const struct orr_cost_row *row,
                                     unsigned class_id, unsigned impl)
{
    double us;

    /* Another worker may be refreshing the row; either length will do. */
    __atomic_load(&row->length[class_id * STARPU_MAXIMPLEMENTATIONS + impl],
                  &us, __ATOMIC_RELAXED);
    return us;
}
