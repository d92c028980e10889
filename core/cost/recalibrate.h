/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/recalibrate.h - which lengths of a cost row have to be measured, or
 * measured again. Beside each row whose lengths are measured, on a machine that
 * measures; any context.
 *
 * A pair (worker class, implementation) of a row is
 *
 * - uncalibrated while it has no length, or while its length is suspicious:
 *   more than ORR_RECAL_SUSPICIOUS times that of the fastest sibling device,
 *   and not yet confirmed by ORR_RECAL_RUNS runs. Schedulers treat it as
 *   unknown: idle workers run it, one task at a time (calibration runs).
 * - suspicious but confirmed. One task runs it again (a recalibration run),
 *   with a gap that starts at its own length and doubles up to
 *   1 / ORR_RECAL_SHARE lengths. If that run is faster than the length, the
 *   pair is uncalibrated again.
 * - stale when it has not been run for ORR_RECAL_STALE times its length (and a
 *   second) while its model is being measured. It gets a recalibration run too,
 *   and the next one at once if that one is faster.
 *
 * There is one recalibration run under way per pair, and all of a program run
 * together (with the calibration runs after a contradiction) may cost
 * ORR_RECAL_SHARE of the time that has passed, beside one that they may start
 * with. So a length that has become wrong is detected, and a right one costs
 * little.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/lock.h"

struct orr_cost_row;
struct orr_runtime;

/* Devices of one type in one machine are mostly of one model, and those of
 * neighbouring generations differ by a factor of 2 or so; what invalidates a
 * length (initialisation, a lock, a throttled clock) does so by far more. An
 * error of less than 3 is found when the length is stale. */
#define ORR_RECAL_SUSPICIOUS  3.0
#define ORR_RECAL_RUNS        32u
/* So many of these are left after a contradiction. The estimate of a model
 * needs five good measures to come back from a wrong level (perfmodel). */
#define ORR_RECAL_RERUNS      8u
/* A measure that is faster than the length by more than this contradicts it:
 * the usual STARPU_HISTORY_MAX_ERROR. */
#define ORR_RECAL_CONTRADICTS 1.5
#define ORR_RECAL_STALE       200.0 /* lengths */
#define ORR_RECAL_STALE_US    1e6
#define ORR_RECAL_SHARE       0.02

/* What all recalibration runs of a program run may cost. */
struct orr_recal_budget {
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME; of all rows */
    double start;         /* [const] µs, when the run began */
    double spent;         /* [lock] µs, by which these runs took longer than
                           * the same tasks on their fastest class */
};

void orr_recal_budget_init(struct orr_recal_budget *budget, double now);

struct orr_recal_pair {
    _Atomic uint32_t runs;  /* measures of the length, those of files too;
                             * fewer when it was contradicted */
    _Atomic uint32_t begun; /* calibration runs started, and measures before */
    _Atomic double last;    /* µs, when it was last measured */
    atomic_bool under_way;  /* a recalibration run is */
    bool hurry;             /* [lock] the last one contradicted the length */
    double charged;         /* [lock] µs, what it was thought to cost */
    double gap, due;        /* [lock] µs, of the next one if suspicious */
};

struct orr_recal {
    const struct orr_runtime *runtime; /* [const] */
    struct orr_recal_budget *budget;   /* [const] borrowed */
    /* No recalibration is due before: -INFINITY requests a look, INFINITY
     * never. */
    _Atomic double look_at;
    atomic_bool measured;         /* the model is fed */
    atomic_bool any_uncalibrated; /* some bit is set */
    /* Per class, bit per implementation. */
    _Atomic uint8_t *uncalibrated;
    _Atomic uint8_t *suspicious;   /* uncalibrated or confirmed */
    struct orr_recal_pair pairs[]; /* class × STARPU_MAXIMPLEMENTATIONS */
};

/* Errors: -ENOMEM. Nothing is uncalibrated until refreshed. Owned by the
 * caller, freed with free(). */
int orr_recal_new(const struct orr_runtime *rt, struct orr_recal_budget *budget,
                  struct orr_recal **ret);

/* A length is based on n measures of earlier runs. Before the row is shared. */
void orr_recal_begin_with(struct orr_recal *recal, unsigned class_id,
                          unsigned impl, uint32_t n);

/* The row's lengths, or whether its model is fed, may have changed. Returns
 * whether a length is suspicious and uncalibrated, and which is the first.
 * Takes the budget's lock. */
bool orr_recal_refresh(struct orr_recal *recal, const struct orr_cost_row *row,
                       bool measured, unsigned *ret_class, unsigned *ret_impl);

/* A task of the row has ended after `us` on a worker of the class, or failed
 * (NaN). Returns whether that contradicts a suspicious length, which then is
 * uncalibrated. Takes the budget's lock if the length is suspicious or the task
 * was a recalibration run. */
bool orr_recal_measured(struct orr_recal *recal, const struct orr_cost_row *row,
                        unsigned class_id, unsigned impl, double us,
                        double now);

/* Finds the pair whose recalibration is due longest, among `able` (bits per
 * class), and marks it as under way; else sets look_at. Nothing of `able` is
 * uncalibrated. Takes the budget's lock. */
bool orr_recal_take(struct orr_recal *recal, const struct orr_cost_row *row,
                    const uint8_t *able, double now, unsigned *ret_class,
                    unsigned *ret_impl);

/* The task that was to be the recalibration run runs elsewhere. */
void orr_recal_give_back(struct orr_recal *recal, unsigned class_id,
                         unsigned impl);

/* The implementation among `bits` (not 0) with fewest runs, the lowest one
 * of several. */
unsigned orr_recal_least_run(const struct orr_recal *recal, unsigned class_id,
                             unsigned bits);

/* The implementation among `bits` (not 0) that a worker of the class takes when
 * nothing else decides: while the model is being measured the uncalibrated
 * one with fewest runs, if there is, and counts it as begun; else the fastest.
 * The first one otherwise. `recal` may be NULL. */
static inline uint8_t orr_recal_pick(struct orr_recal *recal,
                                     const struct orr_cost_row *row,
                                     unsigned class_id, unsigned bits);

/* Whether a recalibration may be due: one load and a comparison for rows whose
 * lengths are settled. */
static inline bool orr_recal_maybe_due(const struct orr_recal *recal,
                                       double now)
{
    return recal &&
           now >= atomic_load_explicit(&recal->look_at, memory_order_relaxed);
}

/* What orr_recal_pick does when there is something to decide. */
uint8_t orr_recal_pick_measured(struct orr_recal *recal,
                                const struct orr_cost_row *row,
                                unsigned class_id, unsigned bits);

static inline uint8_t orr_recal_pick(struct orr_recal *recal,
                                     const struct orr_cost_row *row,
                                     unsigned class_id, unsigned bits)
{
    /* Mostly there is one, or nothing is measured. */
    if (!(bits & (bits - 1)) || !recal ||
        !atomic_load_explicit(&recal->measured, memory_order_relaxed))
        return (uint8_t)__builtin_ctz(bits);
    return orr_recal_pick_measured(recal, row, class_id, bits);
}

/* Uncalibrated implementations, as bits. */
static inline unsigned orr_recal_uncalibrated(const struct orr_recal *recal,
                                              unsigned class_id)
{
    return recal ? atomic_load_explicit(&recal->uncalibrated[class_id],
                                        memory_order_relaxed)
                 : 0;
}

/* Whether there are any. */
static inline bool orr_recal_any_uncalibrated(const struct orr_recal *recal)
{
    return recal &&
           atomic_load_explicit(&recal->any_uncalibrated, memory_order_relaxed);
}

/* Whether orr_recal_measured would do nothing: the model is not fed, nothing
 * about the pair has to be measured. */
static inline bool orr_recal_settled(const struct orr_recal *recal,
                                     unsigned class_id, unsigned impl)
{
    const struct orr_recal_pair *pair =
        &recal->pairs[class_id * STARPU_MAXIMPLEMENTATIONS + impl];

    return !atomic_load_explicit(&recal->measured, memory_order_relaxed) &&
           !atomic_load_explicit(&pair->under_way, memory_order_relaxed) &&
           !(atomic_load_explicit(&recal->suspicious[class_id],
                                  memory_order_relaxed) >>
                 impl &
             1);
}

/* A worker of the class starts a calibration run of the implementation. */
static inline void orr_recal_begin_run(struct orr_recal *recal,
                                       unsigned class_id, unsigned impl)
{
    atomic_fetch_add_explicit(
        &recal->pairs[class_id * STARPU_MAXIMPLEMENTATIONS + impl].begun, 1,
        memory_order_relaxed);
}
