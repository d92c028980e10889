/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/heteroprio.c - heteroprio: buckets, and a worker's walk through them.
 * One lock; a worker takes few tasks out, looks without it whether it can run them
 * (can_execute is a user's function), and puts back what it cannot.
 */
#include "core/sched/heteroprio.h"

#include <errno.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/sched/heteroprio_score.h"
#include "core/sched/policies.h"
#include "core/sched/toolbox.h"

/* The first architecture, which has the processors: buckets of which it is the base
 * are open to all, as in StarPU. */
enum { OPEN_BASE = 0 };

static unsigned arch_of(const struct orr_worker *worker)
{
    return worker->desc->type;
}

unsigned orr_hp_nworkers(const struct orr_sched *sched, unsigned arch)
{
    const struct orr_runtime *rt = sched->runtime;
    unsigned n = 0;

    for (unsigned w = 0; w < rt->nworkers; w++)
        n += arch_of(&rt->workers[w]) == arch &&
             atomic_load(&sched->of_worker[w].member);
    return n;
}

/* --- settings --- */

/* Which architectures come to each bucket. */
static void find_archs(struct orr_heteroprio *hp)
{
    for (unsigned b = 0; b < ORR_HP_BUCKETS; b++)
        hp->buckets[b].archs = 0;
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        for (unsigned i = 0; i < hp->archs[a].n; i++)
            hp->buckets[hp->archs[a].order[i]].archs |= 1U << a;
}

/* The order of an architecture that was not set is that of the buckets. */
static void set_default(struct orr_sched *sched)
{
    struct orr_heteroprio *hp = sched->data;

    hp->configured = true;
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        for (unsigned b = 0; b < ORR_HP_BUCKETS; b++) {
            hp->archs[a].n = ORR_HP_BUCKETS;
            hp->archs[a].order[b] = b;
        }
    find_archs(hp);
}

static const char *check(unsigned arch, unsigned bucket)
{
    if (arch >= STARPU_NARCH)
        return "there is no such architecture";
    return bucket < ORR_HP_BUCKETS ? NULL : "buckets are numbered from 0 to 99";
}

const char *orr_heteroprio_set_count(struct orr_sched *sched, unsigned arch,
                                     unsigned n)
{
    struct orr_heteroprio *hp = sched->data;
    const char *trouble = check(arch, 0);

    if (trouble || n > ORR_HP_BUCKETS)
        return trouble ? trouble : "there are 100 buckets at most";
    orr_lock(&hp->lock);
    hp->configured = true;
    hp->archs[arch].n = n;
    find_archs(hp);
    orr_unlock(&hp->lock);
    return NULL;
}

const char *orr_heteroprio_set_place(struct orr_sched *sched, unsigned arch,
                                     unsigned place, unsigned bucket)
{
    struct orr_heteroprio *hp = sched->data;
    const char *trouble = check(arch, bucket);

    if (trouble || place >= hp->archs[arch].n)
        return trouble ? trouble
                       : "the architecture has fewer places: set their number "
                         "first, with starpu_heteroprio_set_nb_prios";
    orr_lock(&hp->lock);
    hp->archs[arch].order[place] = bucket;
    find_archs(hp);
    orr_unlock(&hp->lock);
    return NULL;
}

const char *orr_heteroprio_set_slow(struct orr_sched *sched, unsigned arch,
                                    unsigned bucket, double factor)
{
    struct orr_heteroprio *hp = sched->data;
    const char *trouble = check(arch, bucket);

    if (trouble || !(factor >= 0))
        return trouble ? trouble : "the factor is not from 0 on";
    orr_lock(&hp->lock);
    hp->buckets[bucket].slow[arch] = factor;
    orr_unlock(&hp->lock);
    return NULL;
}

const char *orr_heteroprio_set_base(struct orr_sched *sched, unsigned arch,
                                    unsigned bucket)
{
    struct orr_heteroprio *hp = sched->data;
    const char *trouble = orr_heteroprio_set_slow(sched, arch, bucket, 0);

    if (trouble)
        return trouble;
    orr_lock(&hp->lock);
    hp->buckets[bucket].base = arch;
    orr_unlock(&hp->lock);
    return NULL;
}

/* --- pushing --- */

/* In which a task is whose priority is no bucket: the nearest. */
static struct orr_hp_bucket *by_priority(struct orr_heteroprio *hp,
                                         int priority)
{
    int last = ORR_HP_BUCKETS - 1;

    return &hp->buckets[priority < 0 ? 0 : priority > last ? last : priority];
}

/* Architectures that have the bucket and can run the job. */
static unsigned takers(const struct orr_runtime *rt, const struct orr_job *job,
                       const struct orr_hp_bucket *bucket)
{
    unsigned archs = 0;

    for (unsigned w = 0; w < rt->nworkers; w++)
        if (job->able_classes >> rt->workers[w].class_id & 1)
            archs |= 1U << arch_of(&rt->workers[w]);
    return archs & bucket->archs;
}

static void count_waiting(struct orr_heteroprio *hp,
                          const struct orr_hp_bucket *bucket, int change)
{
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (bucket->archs >> a & 1)
            hp->archs[a].nwaiting += (unsigned)change;
}

static void put(struct orr_heteroprio *hp, struct orr_hp_bucket *bucket,
                struct orr_job *job)
{
    orr_list_prepend(&bucket->jobs, &job->queue);
    bucket->njobs++;
    count_waiting(hp, bucket, 1);
}

/* Who waits for the job cannot end before it: they are looked at without lock. */
struct successors {
    struct orr_job *jobs[64];
    unsigned n;
};

static void add_successor(struct orr_job *job, void *arg)
{
    struct successors *found = arg;

    if (found->n < sizeof(found->jobs) / sizeof(found->jobs[0]))
        found->jobs[found->n++] = job;
}

static int heteroprio_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_heteroprio *hp = sched->data;
    struct successors found = {.n = 0};
    struct orr_hp_bucket *bucket;
    uint64_t able_classes;
    bool all;

    orr_sched_note_able(rt, job);
    able_classes = job->able_classes;
    all = job->differ;
    if (hp->automatic)
        orr_job_each_successor(job, add_successor, &found);
    orr_lock(&hp->lock);
    if (!hp->automatic && !hp->configured)
        set_default(sched);
    bucket = hp->automatic ? orr_hp_bucket_of(sched, job)
                           : by_priority(hp, job->priority);
    if (!takers(rt, job, bucket)) {
        orr_unlock(&hp->lock);
        return -ENODEV;
    }
    all |= bucket->base != OPEN_BASE;
    if (hp->automatic)
        orr_hp_note_push(sched, bucket, found.jobs, found.n);
    put(hp, bucket, job);
    orr_unlock(&hp->lock);
    orr_sched_wake_able(sched, able_classes, all);
    return 0;
}

/* --- popping --- */

/* Whether the architecture may take tasks of the bucket: others do not wait for the
 * fastest one if there is enough for it, or if it does not take the job. */
static bool may_take(const struct orr_sched *sched,
                     const struct orr_hp_bucket *bucket,
                     const struct orr_job *job, unsigned arch)
{
    unsigned base = bucket->base;

    if (base == OPEN_BASE || base == arch ||
        !(takers(sched->runtime, job, bucket) >> base & 1))
        return true;
    return bucket->njobs >= bucket->slow[arch] * orr_hp_nworkers(sched, base);
}

struct taken {
    struct orr_job *jobs[ORR_HP_PREFETCH];
    struct orr_hp_bucket *from[ORR_HP_PREFETCH];
    unsigned n;
};

static void take_from(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                      struct orr_worker *worker, unsigned most,
                      struct taken *taken)
{
    while (taken->n < most && bucket->njobs) {
        struct orr_job *job = orr_job_of_link(bucket->jobs.next);

        bool ask;

        if (!orr_job_maybe_able(sched->runtime, job, job->costs, worker->id,
                                &ask) ||
            !may_take(sched, bucket, job, arch_of(worker)))
            return;
        orr_list_remove(&job->queue);
        bucket->njobs--;
        count_waiting(sched->data, bucket, -1);
        taken->jobs[taken->n] = job;
        taken->from[taken->n++] = bucket;
    }
}

/* Of the buckets in the order of the worker's architecture. A bucket whose newest
 * task the worker cannot run is left to the others. */
static void take(struct orr_sched *sched, struct orr_worker *worker,
                 struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_arch *arch = &hp->archs[arch_of(worker)];
    unsigned most = arch->nwaiting < orr_hp_nworkers(sched, arch_of(worker))
                        ? 1
                        : ORR_HP_PREFETCH;
    unsigned own = hp->own[worker->id].njobs;

    taken->n = 0;
    most = own < most ? most - own : 0;
    for (unsigned i = 0; i < arch->n && taken->n < most; i++)
        take_from(sched, &hp->buckets[arch->order[i]], worker, most, taken);
}

/* False if the worker cannot run the job after all. */
static bool accept(struct orr_runtime *rt, struct orr_worker *worker,
                   struct orr_job *job)
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);
    unsigned bits = orr_job_able(rt, job, row, worker->id);

    if (!bits)
        return false;
    job->implementation =
        orr_recal_pick(row->recal, row, worker->class_id, bits);
    orr_job_prefetch(rt, job, worker->desc->node, ORR_PREFETCH);
    return true;
}

/* Puts back what the worker cannot run, the other tasks into its own queue.
 * Returns the classes of those who have missed something. */
static uint64_t keep(struct orr_heteroprio *hp, struct orr_hp_own *own,
                     const struct taken *taken, const bool *able)
{
    uint64_t wake = 0;

    hp->nlooked_at -= taken->n;
    for (unsigned i = 0; i < taken->n; i++) {
        struct orr_job *job = taken->jobs[i];

        if (able[i]) {
            orr_list_prepend(&own->jobs, &job->queue);
            own->njobs++;
            continue;
        }
        put(hp, taken->from[i], job);
        if (hp->missed)
            wake |= job->able_classes;
    }
    if (hp->nlooked_at == 0)
        hp->missed = false;
    return wake;
}

static void refill(struct orr_sched *sched, struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    bool able[ORR_HP_PREFETCH] = {false};
    struct taken taken;
    uint64_t classes;

    orr_lock(&hp->lock);
    take(sched, worker, &taken);
    hp->nlooked_at += taken.n;
    orr_unlock(&hp->lock);
    if (taken.n == 0)
        return;
    for (unsigned i = 0; i < taken.n; i++)
        able[i] = accept(sched->runtime, worker, taken.jobs[i]);
    orr_lock(&hp->lock);
    classes = keep(hp, &hp->own[worker->id], &taken, able);
    orr_unlock(&hp->lock);
    if (classes)
        orr_sched_wake_able(sched, classes, true);
}

/* Whether the worker may have what was chosen for another one. */
static bool may_steal(const struct orr_worker *thief, const struct orr_job *job)
{
    return !job->differ &&
           job->costs->able[thief->class_id] >> job->implementation & 1;
}

/* The newest of its own, else of those of the next worker of its architecture. */
static struct orr_job *take_own(struct orr_sched *sched,
                                const struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_runtime *rt = sched->runtime;

    for (unsigned i = 0; i < rt->nworkers; i++) {
        unsigned w = (worker->id + i) % rt->nworkers;
        struct orr_hp_own *own = &hp->own[w];
        struct orr_job *job;

        if (!own->njobs || arch_of(&rt->workers[w]) != arch_of(worker))
            continue;
        job = orr_job_of_link(own->jobs.next);
        if (i > 0 && !may_steal(worker, job))
            continue;
        orr_list_remove(&job->queue);
        own->njobs--;
        if (i > 0)
            orr_runtime_trace_steal(rt, worker->id, w, job->id);
        return job;
    }
    hp->missed |= hp->nlooked_at > 0;
    return NULL;
}

static struct orr_job *heteroprio_pop(struct orr_sched *sched,
                                      struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_job *job;

    refill(sched, worker);
    orr_lock(&hp->lock);
    job = take_own(sched, worker);
    orr_unlock(&hp->lock);
    return job;
}

/* --- measuring --- */

static void heteroprio_pre_exec(struct orr_sched *sched, struct orr_job *job,
                                struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;

    (void)job;
    orr_lock(&hp->lock);
    hp->own[worker->id].began = orr_exec_now(sched->runtime->exec);
    orr_unlock(&hp->lock);
}

static void heteroprio_post_exec(struct orr_sched *sched, struct orr_job *job,
                                 struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    double now = orr_exec_now(sched->runtime->exec);

    if (!hp->automatic)
        return;
    orr_lock(&hp->lock);
    orr_hp_note_end(sched, job, arch_of(worker),
                    now - hp->own[worker->id].began);
    hp->own[worker->id].began = now; /* of the next one that it has already */
    orr_unlock(&hp->lock);
}

/* --- beginning and end --- */

static int heteroprio_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_config *config = &rt->config;
    struct orr_heteroprio *hp =
        calloc(1, sizeof(*hp) + rt->nworkers * sizeof(hp->own[0]));
    int interval = orr_config_int(config, ORR_CFG_HETEROPRIO_INTERVAL);
    const char *score = orr_config_string(config, ORR_CFG_HETEROPRIO_ORDERING);

    if (!hp)
        return orr_fail(err, -ENOMEM, "heteroprio: out of memory");
    if (!orr_hp_score_find(score, &hp->score)) {
        free(hp);
        return orr_fail(err, -EINVAL,
                        "STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY=%s is "
                        "no score: a number from 0 to 27 or a name of "
                        "starpu_heteroprio.h",
                        score);
    }
    orr_lock_init(&hp->lock, ORR_RANK_SCHED);
    hp->automatic = orr_config_bool(config, ORR_CFG_HETEROPRIO_AUTO);
    hp->by_codelet = orr_config_int(config, ORR_CFG_HETEROPRIO_GROUPING) == 1;
    hp->interval = interval > 0 ? (unsigned)interval : 1;
    hp->began = orr_exec_now(rt->exec);
    for (unsigned b = 0; b < ORR_HP_BUCKETS; b++)
        orr_list_init(&hp->buckets[b].jobs);
    for (unsigned w = 0; w < rt->nworkers; w++)
        orr_list_init(&hp->own[w].jobs);
    sched->data = hp;
    return 0;
}

static void heteroprio_deinit(struct orr_sched *sched)
{
    free(sched->data);
}

bool orr_heteroprio_is(const struct orr_sched *sched)
{
    return sched->ops == &orr_sched_heteroprio;
}

const struct orr_sched_ops orr_sched_heteroprio = {
    .name = "heteroprio",
    .help = "buckets of tasks, in an order of their own for each architecture",
    .most_priority = ORR_HP_BUCKETS - 1,
    .prefetches = true,
    .init = heteroprio_init,
    .deinit = heteroprio_deinit,
    .push = heteroprio_push,
    .pop = heteroprio_pop,
    .pre_exec = heteroprio_pre_exec,
    .post_exec = heteroprio_post_exec,
};
