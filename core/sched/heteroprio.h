/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/heteroprio.h - heteroprio: tasks in buckets, which the workers of each
 * architecture walk in an order of their own (Agullo, Bramas, Coulaud, Darve,
 * Messner, Takahashi, "Task-based FMM for heterogeneous architectures", 2016). The
 * automatic mode orders the buckets itself (Flint, Paillat, Bramas, "Automated
 * prioritizing heuristics for parallel task graph scheduling in heterogeneous
 * computing", 2022).
 */
#pragma once

#include <starpu.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/sched/sched.h"

enum { ORR_HP_BUCKETS = 100, ORR_HP_NAME = 32, ORR_HP_PREFETCH = 2 };

/* A mean of the last 256 values, or of all before that. */
struct orr_hp_mean {
    double value;
    unsigned n; /* up to 256 */
};

/* What automatic mode knows of the tasks of a bucket. */
struct orr_hp_figures {
    char name[ORR_HP_NAME + 1];            /* what it is the bucket of … */
    uint32_t where;                        /* … and of tasks for these */
    struct orr_hp_mean time[STARPU_NARCH]; /* µs of a kernel there */
    struct orr_hp_mean released[STARPU_NARCH]; /* URT: the normalised time of
                                                * successors that run there */
    struct orr_hp_mean nod;                    /* NOD: how many successors */
    struct orr_hp_mean best_released; /* their normalised time where that is
                                       * shortest */
    double nexecuted[STARPU_NARCH], npushed;
};

struct orr_hp_bucket {
    struct orr_list jobs; /* newest first */
    unsigned njobs;
    unsigned archs;              /* bits: they have it in their order */
    unsigned base;               /* the fastest architecture for it … */
    double slow[STARPU_NARCH];   /* … and how much slower the others are */
    struct orr_hp_figures known; /* automatic mode */
};

/* A worker's own tasks, newest first. */
struct orr_hp_own {
    struct orr_list jobs;
    unsigned njobs;
    double began; /* when its last kernel did */
};

struct orr_hp_arch {
    unsigned n;                     /* buckets in its order */
    unsigned order[ORR_HP_BUCKETS]; /* those to be looked at first, first */
    unsigned nwaiting;              /* tasks in them */
    double busy;                    /* µs of kernels, of all its workers */
};

struct orr_heteroprio {
    struct orr_lock lock; /* rank ORR_RANK_SCHED, of all that follows */
    bool automatic;       /* [const] */
    bool by_codelet;      /* [const] names are those of codelets */
    bool configured;      /* somebody has set an order */
    unsigned nlooked_at; /* tasks that workers have in hand, to see whether they
                           * can run them … */
    bool missed;         /* … and somebody has found nothing meanwhile */
    unsigned interval;   /* [const] pushes between two orderings */
    unsigned score;      /* [const] by which (heteroprio_score.h) */
    unsigned nbuckets;   /* automatic mode: those that have a name */
    unsigned long npushed;
    double began; /* of the policy */
    struct orr_hp_arch archs[STARPU_NARCH];
    struct orr_hp_bucket buckets[ORR_HP_BUCKETS];
    struct orr_hp_own own[]; /* of each worker */
};

/* --- settings of the application --- */

/* They return NULL, or what is wrong about them. */
const char *orr_heteroprio_set_count(struct orr_sched *sched, unsigned arch,
                                     unsigned n);
const char *orr_heteroprio_set_place(struct orr_sched *sched, unsigned arch,
                                     unsigned place, unsigned bucket);
const char *orr_heteroprio_set_base(struct orr_sched *sched, unsigned arch,
                                    unsigned bucket);
const char *orr_heteroprio_set_slow(struct orr_sched *sched, unsigned arch,
                                    unsigned bucket, double factor);

/* Whether the context has this policy. */
bool orr_heteroprio_is(const struct orr_sched *sched);

/* --- automatic mode (heteroprio_auto.c); with the lock --- */

/* Workers of the architecture that are in the context. */
unsigned orr_hp_nworkers(const struct orr_sched *sched, unsigned arch);

/* The bucket of the job, made when it is the first. */
struct orr_hp_bucket *orr_hp_bucket_of(struct orr_sched *sched,
                                       struct orr_job *job);

/* A job is pushed; after every `interval` of them the order is made anew.
 * `successors`: those that wait for it. */
void orr_hp_note_push(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                      struct orr_job *const *successors, unsigned n);

/* A kernel has ended. */
void orr_hp_note_end(struct orr_sched *sched, struct orr_job *job,
                     unsigned arch, double us);
