/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/model.h - the performance models of one runtime: loaded when first
 * used, read by schedulers, fed by workers, saved at the end. Any thread,
 * unless a call says otherwise.
 *
 * Lookups take no lock. Measures hold one entry for some nanoseconds and
 * allocate only when a footprint is new to its architecture.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "perfmodel/arch.h"
#include "perfmodel/curve.h"
#include "perfmodel/history.h"
#include "perfmodel/origin.h"
#include "perfmodel/sampling.h"

#define ORR_MODEL_MAXIMPL 4 /* implementations per codelet and architecture */

/* Types of models in files. All keep history rows; orr_model_answer has what
 * else they estimate from. */
enum orr_model_kind {
    ORR_MODEL_HISTORY,
    ORR_MODEL_REGRESSION,
    ORR_MODEL_NL_REGRESSION,
    ORR_MODEL_MULTIPLE_REGRESSION,
};

struct orr_models;
struct orr_model;

struct orr_models_options {
    const struct orr_sampling *sampling; /* borrowed, until orr_models_free */
    const char *host;                    /* copied; part of the files' names */
    unsigned homogeneous; /* bit per device type (perfmodel/arch.h) */
    int calibrate;        /* STARPU_CALIBRATE: 0, 1, 2 */
    unsigned minimum;     /* STARPU_CALIBRATE_MINIMUM, 0: the usual 10 */
    double max_error;     /* STARPU_HISTORY_MAX_ERROR in %, 0: the usual 50 */
    bool simulated;       /* any row with a sample is used, nothing is measured
                           * or saved */
    bool fixed;           /* nothing is measured or saved */
};

/* Makes a set of models, owned by the caller. Reads nothing yet. Errors:
 * -ENOMEM. */
int orr_models_new(const struct orr_models_options *options,
                   struct orr_models **ret);

/* Frees all models; no thread uses them any more. Saves nothing. */
void orr_models_free(struct orr_models *models);

/* The registry of combs, to number the devices of workers. Lent. */
struct orr_combs *orr_models_combs(struct orr_models *models);

/* The model `symbol`, read from its file at the first call. Lent until
 * orr_models_free. NULL, with a message in `err`, when its file is broken (it
 * then stays as it is, and is not read again), when the symbol cannot name a
 * file, or when memory is out. A missing file makes an empty model; so does an
 * empty one, with a warning. The type of the first call counts. Takes the lock
 * of `models`, may block on the file's. */
struct orr_model *orr_models_get(struct orr_models *models, const char *symbol,
                                 enum orr_model_kind kind,
                                 struct orr_error *err);

/* The calibrate level: the option's, or 1 once some model is measured
 * anyway. */
int orr_models_calibrate(const struct orr_models *models);

/* Sets it, for models that are looked for from now on, and for what is saved. */
void orr_models_set_calibrate(struct orr_models *models, int level);

/* Where a number is that grows whenever an estimate of the model changes such that a
 * cached one is stale: an entry becomes usable or unusable, its mean moves by more than
 * 1 %, or rows were merged with a file. To be loaded with acquire before the estimates.
 * Lent until orr_models_free. */
const _Atomic uint32_t *orr_model_version_at(const struct orr_model *model);

/* What it was asked for by. Lent. */
const char *orr_model_symbol(const struct orr_model *model);

/* Whether it has neither a file nor a row. */
bool orr_model_is_empty(const struct orr_model *model);

/* The file that it was read from, NULL without one. Lent. */
const char *orr_model_path(const struct orr_model *model);

/* The entry of a footprint for implementation `impl` on comb `comb`, NULL
 * without; see perfmodel/history.h. No lock. Lent until orr_models_free. */
const struct orr_entry *orr_model_find(const struct orr_model *model,
                                       unsigned comb, unsigned impl,
                                       uint32_t footprint);

/* Where the row of a footprint comes from, UNKNOWN without one. *ret_off_by:
 * the relative error of its mean if the file states it; else NaN. As
 * orr_model_find. */
enum orr_origin orr_model_origin(const struct orr_model *model, unsigned comb,
                                 unsigned impl, uint32_t footprint,
                                 double *ret_off_by);

/* The origin that says least of an implementation's rows, of which an answer for
 * another size is made; UNKNOWN without rows. *ret_ranged: each of these that was
 * not measured says how far it may be off. Takes the model's lock. */
enum orr_origin orr_model_least_origin(struct orr_model *model, unsigned comb,
                                       unsigned impl, bool *ret_ranged);

/* Adds a row that was measured elsewhere, under its hash, unless there is one of that
 * footprint; nothing of it is saved. For simulations. Errors: -ENOMEM. */
int orr_model_teach(struct orr_model *model, unsigned comb, unsigned impl,
                    const struct orr_model_row *row);

/* A query to a model. */
struct orr_question {
    unsigned comb, impl;
    uint32_t footprint;
    uint64_t size;            /* x of regressions; 0: not known */
    double flops; /* x of default models whose rows have flops; 0: not known */
    const double *parameters; /* of multiple regressions; NULL: not known */
};

/* The source of an answer, the most reliable first. */
enum orr_answer_source {
    ORR_ANSWER_NONE,
    ORR_ANSWER_EXACT,        /* measures of this footprint */
    ORR_ANSWER_INTERPOLATED, /* between sizes that were measured */
    ORR_ANSWER_REGRESSION,   /* a regression, or a polynomial of parameters */
};

/* The relative error of an answer: nine of ten answers are within it. NaN: not
 * known. */
#define ORR_ANSWER_OFF_BY(error) (2 * (error))

struct orr_answer {
    double value; /* µs (J); NaN: none */
    double error; /* relative standard error, as far as it is known, else NaN:
                   * of a mean by its spread, of others by cross-validation */
    enum orr_answer_source source;
};

/* Answers from the history entry of the footprint if there is one with enough
 * samples (simulated: any). A simulated history model answers for other sizes
 * than those of its rows as well where the error is known (between.c); q->size
 * must then be given. Without an entry, models of types REGRESSION and
 * NL_REGRESSION interpolate between the sizes that were measured, or use their
 * regression within 0.9 … 1.1 of these; the regression comes first where its
 * cross-validated error is smaller, without the noise of the points. Where
 * samples of such a model and a regression that fits agree, the answer lies
 * between both, nearer to the more exact. Multiple regressions use their
 * polynomial first, since a footprint may stand for many parameters. On a real
 * machine the first missing answer of a model that is not being measured starts
 * that, with a warning. Takes the model's lock unless the answer is exact; any
 * thread. */
void orr_model_answer(struct orr_model *model, const struct orr_question *q,
                      struct orr_answer *ret);

/* The parameters of a multiple regression and how they are combined; copied at
 * the first call, later calls are ignored. `names` may be NULL. Errors:
 * -ENOMEM. */
int orr_model_set_terms(struct orr_model *model, const struct orr_terms *terms,
                        const char *const *names);

/* As orr_model_answer, from the history entry alone: µs, or NaN: there is no
 * entry, or it has less samples than the minimum (simulated: none). On a real
 * machine the first NaN of a model that is not being measured starts that, with
 * a warning. No lock, never 0 for lack of measures. */
double orr_model_expected(struct orr_model *model, unsigned comb, unsigned impl,
                          uint32_t footprint);

/* One call stands for `weight` samples of mean `duration`. */
struct orr_measure {
    unsigned comb, impl;
    uint32_t footprint;
    uint64_t size;            /* bytes, or the value of size_base */
    double flops;             /* of the task, 0: not given */
    double duration;          /* µs, or J in energy models */
    uint32_t weight;          /* 0 counts as 1 */
    bool given;     /* by the application, not by a run: it counts if the model is not
                     * being measured, too, and is a warm-up only if it is one */
    bool preempted; /* others had the processor meanwhile, which is not in it */
    const double *parameters; /* of a multiple regression, borrowed, or NULL */
};

/* Records a measure by StarPU's rules: the first of an entry is only a warm-up
 * (history models), outliers beyond the maximal error are counted, and as many
 * of them as there are samples empty the entry, with a warning. Does nothing
 * for a model that is not being measured, unless it is `given`. Errors: -EINVAL for a duration that
 * is negative or not finite or an impl beyond the last; -ENOMEM, the measure is
 * then lost. */
int orr_model_measure(struct orr_model *model, const struct orr_measure *m);

/* Whether measures are recorded: core need not take the time otherwise. */
bool orr_model_benchmarking(const struct orr_model *model);

/* From now on the model is measured, as with STARPU_CALIBRATE=1, and a warning
 * names it and the reason. Nothing happens if it is already, or if the machine
 * is simulated. */
void orr_model_begin_benchmarking(struct orr_model *model, const char *why);

/* Saves what was measured since the model was read or last saved, merged with
 * what its file holds now. Returns 1 when it was written, 0 when there was
 * nothing to write, else an error with a message; then nothing is lost in
 * memory and the file is as before. One thread at a time per model; measures
 * may go on. */
int orr_model_save(struct orr_model *model, struct orr_error *err);

/* Saves every model, unless the calibrate level is 0 or the machine simulated.
 * Calls report, unless NULL, for each that could not be saved, goes on with the
 * others, and returns the first error. */
int orr_models_save(struct orr_models *models,
                    void (*report)(const char *symbol,
                                   const struct orr_error *err, void *arg),
                    void *arg);

/* Calls visit for each entry, in the order in which they were read or made. A
 * result other than 0 stops it and is returned. */
int orr_model_each(struct orr_model *model,
                   int (*visit)(unsigned comb, unsigned impl,
                                const struct orr_model_row *row, void *arg),
                   void *arg);
