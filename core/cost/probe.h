/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/probe.h - which figures of a cost row are to be found out, or to be
 * looked at again. Beside each row whose figures are measured, on a machine
 * that measures; any context.
 *
 * A pair (worker class, implementation) of a row is
 *
 * - on trial while it has no figure, or while its figure is suspicious: more
 *   than ORR_PROBE_SUSPICIOUS times that of the fastest sibling device, and not
 *   yet confirmed by ORR_PROBE_TRIALS runs. Whoever schedules treats it as
 *   unknown: idle workers run it, one task at a time.
 * - doubted while its figure is suspicious but confirmed. It is run again by
 *   one task, a probe, with a gap that starts at its own length and doubles up
 *   to 1 / ORR_PROBE_SHARE lengths. A probe that comes back faster than the
 *   figure puts the pair on trial again.
 * - stale when it has not been run for ORR_PROBE_STALE times its length (and a
 *   second) while its model is being measured. It gets a probe too, and the
 *   next one at once if that comes back faster.
 *
 * There is one probe under way per pair, and all of a run together (with what
 * trials after a contradiction take) may cost ORR_PROBE_SHARE of the time that
 * has passed, beside one that they may start with. So a figure that has become
 * wrong is found out, and a right one costs little.
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
 * neighbouring generations differ by a factor of 2 or so; what spoils a figure
 * (initialisation, a lock, a throttled clock) by far more. What is spoilt by
 * less than 3 is found when it is stale. */
#define ORR_PROBE_SUSPICIOUS  3.0
#define ORR_PROBE_TRIALS      32u
/* Of these are left after a contradiction. The estimate of a model needs five
 * good measures to come back from a wrong level (perfmodel). */
#define ORR_PROBE_RETRIALS    8u
/* A measure that is faster than the figure by more than this contradicts it:
 * the usual STARPU_HISTORY_MAX_ERROR. */
#define ORR_PROBE_CONTRADICTS 1.5
#define ORR_PROBE_STALE       200.0 /* lengths */
#define ORR_PROBE_STALE_US    1e6
#define ORR_PROBE_SHARE       0.02

/* What all probes of a run may cost. */
struct orr_probe_budget {
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME; guards all probes */
    double start;         /* [const] µs, when the run began */
    double spent;         /* [lock] µs, by which probes took longer than the
                           * same tasks where they would have run fastest */
};

void orr_probe_budget_init(struct orr_probe_budget *budget, double now);

struct orr_probe_pair {
    _Atomic uint32_t runs;  /* measures of the figure, those of files too;
                             * fewer when it was contradicted */
    _Atomic uint32_t begun; /* trials that were started, and measures before */
    _Atomic double last;    /* µs, when it was last measured */
    atomic_bool out;        /* a probe is under way */
    bool hurry;             /* [lock] the last probe contradicted the figure */
    double charged;         /* [lock] µs, what it was thought to cost */
    double gap, due;        /* [lock] µs, of the next probe if doubted */
};

struct orr_probes {
    const struct orr_runtime *runtime; /* [const] */
    struct orr_probe_budget *budget;   /* [const] borrowed */
    /* No probe is due before: -INFINITY asks to look, INFINITY never. */
    _Atomic double look_at;
    atomic_bool measured;  /* the model is fed */
    atomic_bool any_trial; /* some bit of `trial` is set */
    /* Per class, bit per implementation. */
    _Atomic uint8_t *trial;        /* on trial */
    _Atomic uint8_t *suspicious;   /* on trial or doubted */
    struct orr_probe_pair pairs[]; /* class × STARPU_MAXIMPLEMENTATIONS */
};

/* Errors: -ENOMEM. Nothing is on trial until refreshed. Owned by the caller,
 * freed with free(). */
int orr_probes_new(const struct orr_runtime *rt,
                   struct orr_probe_budget *budget, struct orr_probes **ret);

/* A figure stands on n measures of earlier runs. Before the row is shared. */
void orr_probes_begin_with(struct orr_probes *probes, unsigned class_id,
                           unsigned impl, uint32_t n);

/* The row's figures, or whether its model is fed, may have changed. Returns
 * whether a figure is suspicious and on trial, and which is the first. Takes
 * the budget's lock. */
bool orr_probes_refresh(struct orr_probes *probes,
                        const struct orr_cost_row *row, bool measured,
                        unsigned *ret_class, unsigned *ret_impl);

/* A task of the row has ended after `us` on a worker of the class, or failed
 * (NaN). Returns whether that contradicts a suspicious figure, which then goes
 * on trial. Takes the budget's lock if anything is suspicious or a probe. */
bool orr_probes_measured(struct orr_probes *probes,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double us, double now);

/* Finds the pair whose probe is due longest, among `able` (bits per class), and
 * says that its probe is under way; else sets look_at. Nothing of `able` is on
 * trial. Takes the budget's lock. */
bool orr_probes_take(struct orr_probes *probes, const struct orr_cost_row *row,
                     const uint8_t *able, double now, unsigned *ret_class,
                     unsigned *ret_impl);

/* The task that was to be the probe takes another way. */
void orr_probes_give_back(struct orr_probes *probes, unsigned class_id,
                          unsigned impl);

/* The implementation among `bits` (not 0) that was tried least, the lowest one
 * of several. */
unsigned orr_probes_least_tried(const struct orr_probes *probes,
                                unsigned class_id, unsigned bits);

/* The implementation among `bits` (not 0) that a worker of the class takes when
 * nothing else decides: while the model is being measured the least tried one
 * on trial, if there is, and counts it as tried; else the fastest. The first
 * one otherwise. `probes` may be NULL. */
static inline uint8_t orr_probes_pick(struct orr_probes *probes,
                                      const struct orr_cost_row *row,
                                      unsigned class_id, unsigned bits);

/* Whether a probe may be due: one load and a comparison for rows whose figures
 * are settled. */
static inline bool orr_probes_look(const struct orr_probes *probes, double now)
{
    return probes &&
           now >= atomic_load_explicit(&probes->look_at, memory_order_relaxed);
}

/* What orr_probes_pick does when there is something to decide. */
uint8_t orr_probes_pick_measured(struct orr_probes *probes,
                                 const struct orr_cost_row *row,
                                 unsigned class_id, unsigned bits);

static inline uint8_t orr_probes_pick(struct orr_probes *probes,
                                      const struct orr_cost_row *row,
                                      unsigned class_id, unsigned bits)
{
    /* Mostly there is one, or nothing is measured. */
    if (!(bits & (bits - 1)) || !probes ||
        !atomic_load_explicit(&probes->measured, memory_order_relaxed))
        return (uint8_t)__builtin_ctz(bits);
    return orr_probes_pick_measured(probes, row, class_id, bits);
}

/* Implementations on trial, as bits. */
static inline unsigned orr_probes_trials(const struct orr_probes *probes,
                                         unsigned class_id)
{
    return probes ? atomic_load_explicit(&probes->trial[class_id],
                                         memory_order_relaxed)
                  : 0;
}

/* Whether there are any. */
static inline bool orr_probes_any_trial(const struct orr_probes *probes)
{
    return probes &&
           atomic_load_explicit(&probes->any_trial, memory_order_relaxed);
}

/* Whether orr_probes_measured would do nothing: the model is not fed, nothing
 * about the pair is to be found out. */
static inline bool orr_probes_settled(const struct orr_probes *probes,
                                      unsigned class_id, unsigned impl)
{
    const struct orr_probe_pair *pair =
        &probes->pairs[class_id * STARPU_MAXIMPLEMENTATIONS + impl];

    return !atomic_load_explicit(&probes->measured, memory_order_relaxed) &&
           !atomic_load_explicit(&pair->out, memory_order_relaxed) &&
           !(atomic_load_explicit(&probes->suspicious[class_id],
                                  memory_order_relaxed) >>
                 impl &
             1);
}

/* A worker of the class is going to try the implementation. */
static inline void orr_probes_try(struct orr_probes *probes, unsigned class_id,
                                  unsigned impl)
{
    atomic_fetch_add_explicit(
        &probes->pairs[class_id * STARPU_MAXIMPLEMENTATIONS + impl].begun, 1,
        memory_order_relaxed);
}
