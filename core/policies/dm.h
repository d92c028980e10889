/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm.h - the inside of the dm family: dm.c keeps the queues and
 * expected times, dm_evaluate.c asks about a job, dm_choose.c decides.
 *
 * Decisions are made one after the other: [lock] is the policy's, which a job takes
 * once. What a worker is loaded with belongs to the worker: [worker lock] is its own,
 * which may be taken with the other one held.
 */
#pragma once

#include "core/cost/cost.h"
#include "core/policies/dm_load.h"
#include "core/sched/queue.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

/* A cost row has one bit per class. */
#define ORR_DM_MAXCLASSES 64

struct orr_dm_variant {
    struct orr_sched_ops ops; /* first: sched->ops is the variant */
    bool transfers;           /* counts transfers (and energy) */
    bool sorted;              /* queues by priority */
    bool ready;               /* pops the job whose data are most ready */
    bool sorted_decision;     /* counts only what is served before the job */
    bool cautious;            /* lengths are a quantile, not the mean */
};

extern const struct orr_dm_variant orr_sched_dm;
extern const struct orr_dm_variant orr_sched_dmda;
extern const struct orr_dm_variant orr_sched_dmdap;
extern const struct orr_dm_variant orr_sched_dmdar;
extern const struct orr_dm_variant orr_sched_dmdas;
extern const struct orr_dm_variant orr_sched_dmdasd;
extern const struct orr_dm_variant orr_sched_robust;

/* A worker's queue. Expected times in µs, under StarPU's names. */
struct orr_dm_worker {
    struct orr_lock lock;     /* rank ORR_RANK_WORKER */
    struct orr_prioq jobs;    /* [worker lock] */
    unsigned pipeline_ntasks; /* [worker lock] pushed, not ended */
    double exp_start;         /* [worker lock] when the queued jobs can start */
    double exp_len;           /* [worker lock] how long they take */
    double pipeline_len;      /* [worker lock] what popped jobs still take */
    double *ahead; /* [worker lock] per normalised priority the duration of the jobs
                    * with at least that; NULL if priorities are unknown */
    unsigned class_id, place; /* [const] its place among the class's members */
    /* [worker] the calibration run under way, or NULL */
    _Atomic(const struct orr_job *) calibrating;
    char pad[64]; /* the next one is another processor's */
};

struct orr_dm {
    const struct orr_dm_variant *variant;  /* [const] */
    struct orr_runtime *runtime;           /* [const] */
    const struct orr_members *members;     /* [const] which workers take tasks */
    double alpha, beta, gamma, idle_power; /* [lock] */
    double quantile;                       /* [const] of cautious ones */
    bool prefetch;                         /* [const] */
    int npriorities;                       /* [const] 0: unknown */
    int min_priority, max_priority;        /* [const] */
    struct orr_lock lock;                  /* rank ORR_RANK_SCHED */
    struct orr_dm_worker *workers;         /* owned */
    struct orr_dm_load *loads;             /* [lock] per class, owned … */
    /* … as the workers were when the bits were last taken from here: a bit for each
     * worker whose expected times have changed since. */
    _Atomic uint64_t changed[ORR_WORKER_WORDS];
    struct orr_queue undecided;            /* dm_calibrate.c */
    double *ends; /* [lock] room for the scan, per worker and implementation */
};

/* What a push finds out about its job before it takes the lock. */
struct orr_dm_offer {
    struct orr_job *job;
    const struct orr_cost_row *row;
    bool uniform;      /* all classes are */
    bool unknown;      /* some able pair has no length */
    bool uncalibrated; /* some able pair is (cost/recalibrate.h) */
    bool uniform_class[ORR_DM_MAXCLASSES];
    uint8_t able[ORR_DM_MAXCLASSES]; /* implementations */
    double transfer[ORR_DM_MAXCLASSES];
    bool has_lengths; /* of the job's bundle, or quantiles: else the next is not
                       * filled */
    double length[ORR_DM_MAXCLASSES][STARPU_MAXIMPLEMENTATIONS]; /* µs */
    bool has_energy; /* else the next is not filled */
    double energy[ORR_DM_MAXCLASSES][STARPU_MAXIMPLEMENTATIONS]; /* J */
    uint8_t able_worker[STARPU_NMAXWORKERS]; /* of classes not uniform */
};

struct orr_dm_choice {
    unsigned worker, impl;
    double length, transfer; /* µs; 0 when chosen without knowing */
    bool recalibrates;       /* the job is a recalibration run */
};

/* Fills the offer; calls can_execute and cost functions. No lock held. Returns
 * -ENODEV when no worker can run the job. */
int orr_dm_evaluate(struct orr_dm *dm, struct orr_job *job,
                    struct orr_dm_offer *ret);

/* How long the job itself takes, for the decision and the worker's load. */
double orr_dm_own_length(const struct orr_dm *dm,
                         const struct orr_dm_offer *offer, unsigned class_id,
                         unsigned impl);

/* Decides. The lock is held; `now` has not gone back. */
struct orr_dm_choice
orr_dm_choose(struct orr_dm *dm, const struct orr_dm_offer *offer, double now);

/* The same by walking over all workers, whatever the case; unless a length is
 * unknown. */
struct orr_dm_choice orr_dm_choose_scan(struct orr_dm *dm,
                                        const struct orr_dm_offer *offer,
                                        double now);

/* The same among the workers of a class, for one implementation. Returns false
 * when none of them can run it. */
bool orr_dm_choose_in_class(struct orr_dm *dm, const struct orr_dm_offer *offer,
                            unsigned class_id, unsigned impl, double now,
                            struct orr_dm_choice *ret);

/* The family's `compare`, orr_sched_ops. No lock held. */
void orr_dm_compare(struct orr_sched *sched, struct orr_job *job, struct orr_expected ret[]);

/* --- dm_calibrate.c; no lock held --- */

/* Queues the job until a worker takes it, and wakes workers that may. The job may be
 * gone on return. Errors: -ENOMEM. */
int orr_dm_defer(struct orr_dm *dm, const struct orr_dm_offer *offer);

/* The first such job that the worker should take, NULL if there is none; its
 * implementation is set. Its durations may be known by now. */
struct orr_job *orr_dm_take_undecided(struct orr_dm *dm,
                                      struct orr_worker *worker);

/* The worker runs a job that was kept. Notes whether that is a calibration
 * run. */
void orr_dm_begin_calibration(struct orr_dm *dm, struct orr_job *job,
                              struct orr_worker *worker);

/* A kernel has ended, so that others may want the first job kept. */
void orr_dm_look_for_takers(struct orr_dm *dm);

/* A priority's index in `ahead`. */
unsigned orr_dm_normalised(const struct orr_dm *dm, int priority);
