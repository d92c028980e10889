/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/heteroprio.h - heteroprio: tasks in buckets, which the workers of each
 * architecture walk in an order of their own (Agullo, Bramas, Coulaud, Darve,
 * Messner, Takahashi, "Task-based FMM for heterogeneous architectures", 2016). The
 * automatic mode orders the buckets itself (Flint, Paillat, Bramas, "Automated
 * prioritizing heuristics for parallel task graph scheduling in heterogeneous
 * computing", 2022). In locality mode a bucket has a list per group of workers that
 * share a memory (Bramas, "Impact study of data locality on task-based applications
 * through the Heteroprio scheduler", 2019).
 */
#pragma once

#include <stdatomic.h>
#include <stdio.h>

#include <starpu.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"

enum {
    ORR_HP_BUCKETS = 100,
    ORR_HP_GROUPS = 10,
    ORR_HP_NAME = 32,
    ORR_HP_PREFETCH = 2
};

/* By what a task's group is chosen, in locality mode. */
enum orr_hp_rule {
    ORR_HP_WORKER, /* that of the worker that pushes; of main, that of the first
                    * processor */
    ORR_HP_LCS,    /* the least time until the data are there */
    ORR_HP_LS_SDH,  /* the most bytes that are there */
    ORR_HP_LS_SDH2, /* … of what is written, their square */
    ORR_HP_LS_SDHB, /* the fewest that are not, what is written counting up to
                     * twice, the more the less of the data is written */
    ORR_HP_LC_SMWB, /* … what is written counting a thousand times for each datum
                     * that is */
    ORR_HP_NRULES
};

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
    struct orr_list jobs[ORR_HP_GROUPS]; /* newest first; without locality all
                                          * are in the first one */
    unsigned njobs;                      /* in all of them */
    unsigned archs;                      /* bits: they have it in their order */
    unsigned base;               /* the fastest architecture for it … */
    double slow[STARPU_NARCH];   /* … and how much slower the others are */
    struct orr_hp_figures known; /* automatic mode */
};

/* A worker's own tasks, newest first. */
struct orr_hp_own {
    struct orr_list jobs;
    unsigned njobs;
    double began; /* when the kernel that it executes did */
    unsigned nrunning; /* tasks that it has begun with */
};

struct orr_hp_arch {
    unsigned n;                     /* buckets in its order */
    unsigned order[ORR_HP_BUCKETS]; /* those to be looked at first, first */
    unsigned nwaiting;              /* tasks in them */
    unsigned nown;                  /* tasks that its workers have taken out */
    unsigned nworkers; /* in the context, when buckets were ordered */
    unsigned nmembers; /* in the context, when `counted` was so */
    double busy;       /* µs of kernels, of all its workers */
    double before;     /* µs of its workers in earlier runs */
};

/* Workers that share a memory. */
struct orr_hp_group {
    unsigned node;
    unsigned arch;                       /* of the first of them */
    unsigned nworkers;                   /* of the machine */
    unsigned nearest[ORR_HP_GROUPS - 1]; /* the others, the nearest first */
};

/* Locality mode. */
struct orr_hp_locality {
    atomic_bool on;        /* written under the lock */
    bool mapped;           /* the groups are those of memory nodes */
    bool stale;            /* `nearest` is of another order of buckets */
    enum orr_hp_rule rule; /* [const] */
    unsigned
        near[STARPU_NARCH]; /* [const] groups that are near for its workers */
    unsigned step[STARPU_NARCH]; /* [const] buckets that these look through in
                                  * their own group before; 0: all */
    unsigned n;                  /* 1: one for all workers */
    struct orr_hp_group groups[ORR_HP_GROUPS];
    unsigned of_node[STARPU_MAXNODES];
};

struct orr_heteroprio {
    struct orr_lock lock;         /* rank ORR_RANK_SCHED, of all that follows */
    bool automatic;               /* [const] */
    bool by_codelet;              /* [const] names are those of codelets */
    bool configured;              /* an order was set */
    bool frozen;                  /* [const] nothing is measured */
    bool tells_order, tells_data; /* [const] prints each order, and figures */
    uint32_t present;    /* [const] bits of `where` of the machine's workers */
    unsigned nlooked_at; /* tasks that workers have in hand, to see whether they
                           * can run them … */
    uint64_t passed; /* classes of the workers that have left a bucket for the task in
                      * front */
    bool missed;     /* … and a worker has found nothing meanwhile, or had before */
    unsigned nrefreshed;   /* how often the workers that take tasks have changed */
    unsigned counted; /* the context's memberships when workers were counted */
    unsigned interval;     /* [const] pushes between two orderings */
    unsigned score;        /* [const] by which (heteroprio_score.h) */
    unsigned nbuckets;     /* automatic mode: those that have a name */
    unsigned long npushed; /* in this run */
    double began;          /* of the policy */
    struct orr_hp_locality locality;
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

/* Turns locality on or off; what is queued stays. There is a group per memory node that
 * has workers; which groups are near depends on the order of buckets, also when that
 * changes later. */
void orr_heteroprio_set_locality(struct orr_sched *sched, bool on);
const char *orr_heteroprio_map_groups(struct orr_sched *sched);
/* A line per group. */
void orr_heteroprio_print_groups(struct orr_sched *sched, FILE *out);

/* Whether the context has this policy. */
bool orr_heteroprio_is(const struct orr_sched *sched);

/* --- automatic mode (heteroprio_auto.c); with the lock --- */

/* The first architecture, which has the processors. */
enum { ORR_HP_PROCESSORS = 0 };

/* Kinds of workers that StarPU has no name for execute functions for processors. */
static inline unsigned orr_hp_arch_of(const struct orr_worker *worker)
{
    unsigned type = (unsigned)worker->desc->type;

    return type < STARPU_NARCH ? type : ORR_HP_PROCESSORS;
}

/* Workers of the architecture that are in the context. */
unsigned orr_hp_nworkers(const struct orr_sched *sched, unsigned arch);

/* The bucket of the job, made when it is the first. */
struct orr_hp_bucket *orr_hp_bucket_of(struct orr_sched *sched,
                                       struct orr_job *job);

/* A job is pushed; after every `interval` of them the order is made anew: true.
 * `successors`: those that wait for it. */
bool orr_hp_note_push(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                      struct orr_job *const *successors, unsigned n);

/* A kernel has ended. */
void orr_hp_note_end(struct orr_sched *sched, struct orr_job *job,
                     unsigned arch, double us);

/* µs that the kernel of a bucket's tasks takes there; the architectures that are
 * fastest. */
double orr_hp_time_on(const struct orr_hp_bucket *bucket, unsigned arch);
unsigned orr_hp_fastest(const struct orr_hp_bucket *bucket);

/* --- what automatic mode keeps between runs (heteroprio_file.c) --- */

/* Called by init: reads what earlier runs have found out, if there is a file. Errors:
 * -ENOMEM; a file that cannot be read is ignored, with a message. */
int orr_hp_read(struct orr_sched *sched);
/* Whether the file has such figures; if not, there are none. */
bool orr_hp_read_figures(struct orr_heteroprio *hp, FILE *file);
/* Writes it; the end. */
void orr_hp_write(struct orr_sched *sched);
/* Writes order and figures as the user wants to see them, on stderr. Without the
 * lock. */
void orr_hp_tell(struct orr_sched *sched);

/* --- locality mode (heteroprio_groups.c) --- */

/* Reads the settings; init. Errors: -EINVAL, with a message. */
int orr_hp_locality_init(struct orr_sched *sched, struct orr_error *err);

/* How well each memory node suits the job, the larger the better. Without the
 * lock. */
void orr_hp_weigh(const struct orr_sched *sched, const struct orr_job *job,
                  double *suits);

/* The group for the job: of the nodes in `able` the one that suits best; if several do,
 * that of the worker that pushes, else the first. With the lock. */
unsigned orr_hp_choose_group(struct orr_sched *sched, uint64_t able,
                             const double *suits);

/* Sorts `nearest` where the order of buckets has changed. With the lock. */
void orr_hp_sort_groups(struct orr_sched *sched);
