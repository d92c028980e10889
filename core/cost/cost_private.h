/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/cost_private.h - what cost.c, which keeps the rows, and those who fill them
 * share. Others use cost.h.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/cost/ask.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/device/kind.h"
#include "core/worker/workers.h"

struct orr_model;
struct orr_worker_class;
struct orr_models;

#define NIMPL STARPU_MAXIMPLEMENTATIONS

/* The key of a row. Besides codelet and footprint that is whatever of the
 * codelet the row depends on: programs make codelets on their stacks, where
 * another one may follow at the same address. */
struct key {
    const struct starpu_codelet *cl;
    const struct starpu_perfmodel *perfmodel;
    uint32_t footprint;
    uint64_t signature; /* functions, where, can_execute */
    uint64_t detail;    /* of a regression: size, or hash of parameters */
    uint64_t misfits;   /* bit k: class k lacks the memory for the data */
};

/* So many bytes of a codelet, from its beginning, are all that its signature is made
 * of, and some more: while they are as they were, the signature is. */
#define SHAPE_SIZE ORR_CODELET_ABOUT_FUNCTIONS

/* What a codelet looked like when its row was made. */
struct shape {
    struct shape *next; /* [lock] */
    unsigned char bytes[SHAPE_SIZE];
};

struct row {
    struct orr_cost_row pub; /* first: the public part */
    struct key key;
    const struct shape *shape;    /* [const] lent by the table */
    bool counted; /* what was assumed of it knows which figures it overruled */
    struct row *next;             /* [lock] in order of creation */
    struct orr_model *model;      /* [const] lent by rt->estimates->models, or NULL */
    double *parameters;           /* [const] owned; of a multiple regression */
    char *called;                 /* [const] owned; pub.called, or NULL */
    struct orr_noise_source *noise; /* owned; classes × NIMPL, by noise_source.c;
                                     * NULL: nothing has been asked */
    double lengths[]; /* classes × NIMPL, as many errors, then the bytes of
                       * `able` and of `origin` */
};

struct slots;
struct complaint;

struct orr_costs_table {
    struct orr_runtime *runtime;
    struct orr_assumptions assumptions; /* [const] but for marks */
    struct orr_models *home; /* [const] owned; of this host, for ratios; NULL */
    struct orr_lock lock;               /* rank ORR_RANK_RUNTIME */
    _Atomic(struct slots *) slots; /* [lock] for writing; release, acquire */
    struct row *first, *last;      /* [lock] */
    struct shape *shapes;          /* [lock] owned, all different */
    size_t nrows;                  /* [lock] */
    bool defaults;       /* [const] codelets without model have the one of their name …
                          */
    bool calibrates;     /* [const] … even if nothing was measured yet: now it is */
    uint64_t calibrated; /* [const] classes that get all tasks which they can
                          * execute, ORRERY_CALIBRATE_ON */
    size_t least; /* [const] the smallest memory of a device, bytes */
    struct complaint *complaints; /* [lock] broken models already named */
    struct orr_recal_budget recal;
};

/* --- cost.c --- */

/* Whether nothing was said of the model yet: it counts as said now. */
bool orr_costs_is_news(struct orr_costs_table *table, const char *symbol);

/* --- default_model.c --- */

/* The default model of a codelet that has none: it is there if something was measured,
 * or is now. NULL: there is none. Kernels that a simulation executes need no time. */
struct orr_model *orr_row_default_model(struct orr_costs_table *table,
                                        const struct row *row);

/* A simulation lets no worker execute a kernel of unknown length if another can: on
 * the machine itself it would be measured there, and the run be another one. Said once
 * of a model. */
void orr_row_tell_unknown(struct orr_costs_table *table, const struct row *row);

/* Simulated, of several implementations of a codelet without model those are taken whose
 * time is known, if any is: nothing says of the others that they are ever run. */
void orr_row_drop_unknown(const struct orr_runtime *rt, struct row *row);

/* Codelets that share a name share its default model: what is measured of both is one
 * time. Said once. */
void orr_row_tell_shared_name(struct orr_costs_table *table,
                              const struct row *row);

/* Programs that are built for simulation alone have kernels `(void *)1', which nothing
 * can call: ends the run where one would be. */
void orr_row_check_kernels(const struct orr_costs_table *table,
                           const struct row *row);

/* --- shape.c --- */

/* What the codelet looks like, lent by the table; NULL without memory. Its bytes are
 * compared, the unused ones between its fields, too: those of one that stays are the
 * same. */
const struct shape *orr_shape_of(struct orr_costs_table *table,
                                 const struct starpu_codelet *cl);

/* When no row is left. */
void orr_shapes_free(struct orr_costs_table *table);

/* --- noise_source.c --- */

/* Frees what noise knows of the row. */
void orr_row_free_noise(const struct orr_runtime *rt, struct row *row);

/* --- lengths.c --- */

/* Whether the model is one of the regression types. */
static inline bool orr_row_regresses(const struct starpu_perfmodel *perfmodel)
{
    return perfmodel && perfmodel->type >= STARPU_REGRESSION_BASED;
}

/* Asks the model for all lengths anew, for classes that can run it only: on the
 * real machine an unknown time starts a calibration. */
void orr_row_refresh(const struct orr_runtime *rt, struct row *row,
                     struct starpu_task *task);

/* Asks the application's cost functions for the task. The row is shared by the
 * tasks of a codelet, so that on the real machine two pushes at once may see each
 * other's lengths: both are estimates. */
void orr_row_ask(const struct orr_runtime *rt, struct row *row,
                 struct starpu_task *task);

/* How long the task takes on the class, which may be one that is not among the
 * runtime's; calls cost functions. */
struct orr_length orr_row_length(const struct orr_runtime *rt,
                                     const struct row *row,
                                     struct starpu_task *task,
                                     const struct orr_worker_class *class,
                                     unsigned impl);

/* Bits of the implementations that the class can run. Simulated, an architecture
 * that the models know can run the codelet: a program need not be built for the
 * devices it is simulated on. */
unsigned orr_row_able(const struct orr_runtime *rt, const struct row *row,
                      struct starpu_task *task, unsigned class_id);

/* The codelet's name, beside its model's symbol; NULL: it has the latter only. */
static inline const char *orr_row_name(const struct row *row)
{
    return row->pub.name || row->pub.symbol ? row->pub.name : row->pub.called;
}

/* Whether the codelet says of no model where its times are: those of its name are. */
static inline bool orr_perfmodel_is_none(const struct starpu_perfmodel *model)
{
    return !model || (!model->symbol && !orr_model_asks(model));
}

/* "CUDA 1, implementation 0" */
void orr_row_name_pair(const struct orr_runtime *rt, unsigned class_id,
                       unsigned impl, char *text, size_t size);
