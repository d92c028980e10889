/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/row.h - what a cost row holds; cost.h finds and makes them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "perfmodel/origin.h"

struct orr_recal;

/* How much time of a worker's kernels comes from where: figures.h. */
struct orr_figures {
    double us[ORR_NORIGINS]; /* time of kernels whose length has that origin */
    /* The most that one of these may be off, relative; 0: not known of any. */
    double off_by[ORR_NORIGINS];
};

/* A length with what is known about it. */
struct orr_length {
    double us, error; /* NaN: not known */
    enum orr_origin origin;
};

struct orr_cost_row {
    struct starpu_codelet *cl;
    /* [const] Its own copies, which stay when the application frees the codelet: of its
     * name, and of the symbol of its model; NULL: it has none. */
    char *name, *symbol;
    const char *called; /* what the codelet is called that has neither a name nor
                         * a model: orr_codelet_called, ORR_UNNAMED_CODELET */
    uint32_t footprint;
    uint32_t version;      /* of the model when the lengths were read … */
    const _Atomic uint32_t *news; /* [const] … and now */
    bool per_task;         /* cost functions: called again for every task */
    bool assumed; /* ORRERY_ASSUME has a time for what no model knows */
    bool defaulted; /* the codelet has no model: its times are in the default one of its
                     * name */
    bool per_worker;       /* can_execute must be called for each worker */
    /* Simulated, for what is told of the run: */
    uint32_t unnamed;      /* bits of `where' of which a task has named no worker */
    uint32_t narrowed;     /* bits of `where' that a task has excluded by its own */
    uint64_t refused, agreed; /* bit k: can_execute has said so of class k */
    uint64_t able_classes; /* bit k: some implementation exists for class k */
    uint64_t too_small;    /* bit k: none, since the data do not fit its memory;
                         * those of a footprint that do have another row */
    /* able[k]: bit i: implementation i exists for class k. */
    uint8_t *able;
    /* length[k * STARPU_MAXIMPLEMENTATIONS + i]: µs on class k, NaN: not
     * calibrated, 0: the codelet has no model. */
    double *length;
    /* In the same places: how far the length may be off, relative, NaN: not
     * known or of measures; enum orr_origin. */
    double *error;
    uint8_t *origin;
    /* What has to be measured; NULL where nothing is. */
    struct orr_recal *recal;
};

/* The first function of a codelet by its name, as cpu_funcs_name says, else the
 * symbols of the program; for the caller to free(). NULL: not known. Looks through a
 * file: not for each task. */
char *orr_codelet_called(const struct starpu_codelet *cl);

/* What tables and messages call the kernels of the row. */
static inline const char *orr_cost_symbol(const struct orr_cost_row *row)
{
    if (row->symbol)
        return row->symbol;
    return row->name ? row->name : row->called;
}

/* Whether its times lie in a model: its own, or the default one of its name. */
static inline bool orr_cost_has_model(const struct orr_cost_row *row)
{
    return row->defaulted || row->symbol;
}

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

static inline double orr_cost_error(const struct orr_cost_row *row,
                                    unsigned class_id, unsigned impl)
{
    double error;

    __atomic_load(&row->error[class_id * STARPU_MAXIMPLEMENTATIONS + impl],
                  &error, __ATOMIC_RELAXED);
    return error;
}

static inline enum orr_origin orr_cost_origin(const struct orr_cost_row *row,
                                              unsigned class_id, unsigned impl)
{
    return (enum orr_origin)__atomic_load_n(
        &row->origin[class_id * STARPU_MAXIMPLEMENTATIONS + impl],
        __ATOMIC_RELAXED);
}

/* Whether `us`, a length of the row, says how long the kernel takes: a time of 0
 * is one that the user has given. */
static inline bool orr_cost_is_known(const struct orr_cost_row *row,
                                     unsigned class_id, unsigned impl,
                                     double us)
{
    return us > 0 || (us == 0 && orr_cost_origin(row, class_id, impl) ==
                                     ORR_ORIGIN_ASSUMED);
}
