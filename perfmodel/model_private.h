/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/model_private.h - what model.c and model_disk.c share. Others use
 * model.h.
 */
#pragma once

#include "perfmodel/model.h"
#include "perfmodel/regression.h"

#include <pthread.h>
#include <stdatomic.h>

struct orr_models {
    pthread_mutex_t lock;
    struct orr_model *first;             /* [lock] owned, the newest first */
    const struct orr_sampling *sampling; /* [const] borrowed */
    char *host;                          /* [const] owned */
    struct orr_combs *combs;             /* [const] owned */
    unsigned homogeneous;                /* [const] */
    bool fixed;                          /* [const] none is measured or saved */
    bool simulated;                      /* [const] */
    struct orr_measure_rules rules;      /* [const] */
    atomic_int calibrate;                /* [atomic] */
};

struct orr_model {
    struct orr_models *models; /* [const] borrowed */
    struct orr_model *next;    /* [const] once in the list */
    char *symbol;              /* [const] owned */
    enum orr_origin origin;    /* [const] of the rows of its file … */
    bool ranged;               /* [const] … whose deviations are ranges */
    enum orr_model_kind kind;  /* [const] */
    bool is_default;           /* [const] orr_model_is_default */
    int status;                /* [const] 0, or why it could not be loaded */
    struct orr_error message;  /* [const] the message for it */
    pthread_mutex_t lock;      /* guards adding to history */
    struct orr_history history;
    struct orr_regression *regressions; /* [lock] owned; one for each comb and
                                         * implementation measured or read */
    struct orr_terms terms;             /* [lock] exponents owned; nparameters =
                                         * 0: not declared */
    char **names;                       /* [lock] owned; of the parameters */
    struct orr_side *samples;           /* [lock] owned; for variation.h, NULL:
                                         * not read, or there are none */
    bool samples_read;                  /* [lock] */
    atomic_bool benchmarking;           /* [atomic] only ever false to true */
    atomic_bool few_reported;           /* [atomic] the warning was given */
    atomic_uint wiped;                  /* [atomic] rows dropped in this run */
    _Atomic uint32_t version;           /* [atomic] orr_model_news */
    /* [saver] one at a time */
    char *path;                     /* owned; the file, NULL while none */
    struct orr_model_file *dropped; /* owned; what the file held when a
                                     * calibration from scratch began, and
                                     * still holds; NULL otherwise */
};

/* Cached estimates of the model are stale. */
void orr_model_news(struct orr_model *model);

/* Reads the model's file into a model that no other thread knows yet. Errors:
 * -ENOMEM; others with a message. */
int orr_model_load(struct orr_model *model, struct orr_error *err);

/* Warns once, and has the model measured from now on. */
void orr_model_start_benchmarking(struct orr_model *model);

/* The samples that make an entry usable here. */
uint32_t orr_model_least(const struct orr_model *model);

/* Whether twice the deviation of an entry's row is how far its mean may be off;
 * not of one that was measured since it was computed. */
bool orr_model_has_range(const struct orr_model *model,
                         const struct orr_entry *entry,
                         const struct orr_model_row *row);

/* --- answer.c --- */

/* A kept measure joins the regressions; `news`: it changed the estimate of its
 * row. */
void orr_model_regress(struct orr_model *model, const struct orr_measure *m,
                       bool news);

/* Keeps the measure with its parameters, whatever the row makes of it: tasks of one
 * footprint differ in them. */
void orr_model_observe(struct orr_model *model, const struct orr_measure *m);

/* The record of a comb and implementation, made when missing; NULL without
 * memory. Under the model's lock. */
struct orr_regression *orr_model_regression(struct orr_model *model,
                                            unsigned comb, unsigned impl);
/* Brings the regressions of the record up to date. Under the model's lock. */
void orr_model_fit(struct orr_model *model, struct orr_regression *r);
void orr_model_regressions_done(struct orr_model *model);

/* The regression, or the curve through the points, whichever has the smaller
 * error; of a history model that with an offset. Under the model's lock. */
struct orr_answer orr_model_curve(const struct orr_model *model,
                                  const struct orr_regression *r, double x);

/* --- between.c --- */

/* Simulated: a history model's estimate for a size without a row, from the rows
 * of other sizes. Under the model's lock, with `r` up to date. */
struct orr_answer orr_model_between(const struct orr_model *model,
                                    const struct orr_regression *r, double x);

/* Rows of one size are layouts of different times: `points` get the error that
 * another layout of that size has. Sorts them. */
void orr_points_widen(struct orr_point *points, unsigned n);

/* --- regression_disk.c --- */

/* Reads the observations of earlier runs, once, where they are of use: on a
 * machine that measures. Under the model's lock. */
void orr_model_read_observations(struct orr_model *model,
                                 struct orr_regression *r);

/* A save in steps, for one thread; each takes the model's lock. take: what was
 * measured since the last is to be saved; save: it joins `file`, and the
 * observations their files, once for a take; saved: `file` is on the disk;
 * untake: it is not. Errors: -ENOMEM. */
void orr_regressions_take(struct orr_model *model);
int orr_regressions_save(struct orr_model *model, struct orr_model_file *file);

/* Whether there are measures with parameters that no file has. */
bool orr_regressions_have_news(struct orr_model *model);
void orr_regressions_saved(struct orr_model *model,
                           const struct orr_model_file *file);
void orr_regressions_untake(struct orr_model *model);
