/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/heteroprio.c - heteroprio: buckets, and a worker's walk through them.
 * One lock; a worker takes few tasks out, looks without it whether it can run them
 * (can_execute is a user's function), and puts back what it cannot.
 */
#include "core/policies/heteroprio.h"

#include <errno.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/policies/heteroprio_score.h"
#include "core/policies/policies.h"
#include "core/sched/toolbox.h"
#include "core/task/end.h"
#include "core/worker/workers.h"

/* Buckets of which processors are the base are open to all, as in StarPU. */
enum { OPEN_BASE = ORR_HP_PROCESSORS };

unsigned orr_hp_nworkers(const struct orr_sched *sched, unsigned arch)
{
    const struct orr_runtime *rt = sched->runtime;
    struct orr_heteroprio *hp = sched->data;
    unsigned now = atomic_load(&sched->nmemberships);

    if (hp->counted == now)
        return hp->archs[arch].nmembers;
    hp->counted = now;
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        hp->archs[a].nmembers = 0;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (atomic_load(&sched->of_worker[w].member))
            hp->archs[orr_hp_arch_of(&rt->workers->at[w])].nmembers++;
    return hp->archs[arch].nmembers;
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
    hp->locality.stale = true;
}

/* The order of an architecture that was not set is that of the buckets. */
static void heteroprio_set_default_order(struct orr_sched *sched)
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

static const char *heteroprio_check_bucket(unsigned arch, unsigned bucket)
{
    if (arch >= STARPU_NARCH)
        return "there is no such architecture";
    return bucket < ORR_HP_BUCKETS ? NULL : "buckets are numbered from 0 to 99";
}

const char *orr_heteroprio_set_count(struct orr_sched *sched, unsigned arch,
                                     unsigned n)
{
    struct orr_heteroprio *hp = sched->data;
    const char *trouble = heteroprio_check_bucket(arch, 0);

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
    const char *trouble = heteroprio_check_bucket(arch, bucket);

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
    const char *trouble = heteroprio_check_bucket(arch, bucket);

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

/* The bucket of a task whose priority is no bucket: the nearest one. */
static struct orr_hp_bucket *by_priority(struct orr_heteroprio *hp,
                                         int priority)
{
    int last = ORR_HP_BUCKETS - 1;

    return &hp->buckets[priority < 0 ? 0 : priority > last ? last : priority];
}

/* That of all workers of a class. */
static unsigned arch_of_class(const struct orr_runtime *rt, unsigned class_id)
{
    return orr_hp_arch_of(
        &rt->workers->at[rt->workers->classes[class_id].members[0]]);
}

/* Architectures that have the bucket and can run the job. */
static unsigned bucket_taker_archs(const struct orr_runtime *rt,
                                   const struct orr_job *job,
                                   const struct orr_hp_bucket *bucket)
{
    unsigned archs = 0;

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (job->able_classes >> k & 1)
            archs |= 1U << arch_of_class(rt, k);
    return archs & bucket->archs;
}

/* Worker classes of these. */
static uint64_t classes_of_takers(const struct orr_runtime *rt,
                                  const struct orr_job *job,
                                  const struct orr_hp_bucket *bucket)
{
    uint64_t classes = 0;

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (bucket->archs >> arch_of_class(rt, k) & 1)
            classes |= UINT64_C(1) << k;
    return classes & job->able_classes;
}

/* Memory nodes of these. */
static uint64_t nodes_of_takers(const struct orr_sched *sched,
                                const struct orr_job *job,
                                const struct orr_hp_bucket *bucket)
{
    const struct orr_runtime *rt = sched->runtime;
    uint64_t nodes = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (job->able_classes >> rt->workers->at[w].class_id & 1 &&
            bucket->archs >> orr_hp_arch_of(&rt->workers->at[w]) & 1 &&
            atomic_load(&sched->of_worker[w].member))
            nodes |= UINT64_C(1) << rt->workers->at[w].desc->node;
    return nodes;
}

static void count_waiting(struct orr_heteroprio *hp,
                          const struct orr_hp_bucket *bucket, int change)
{
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (bucket->archs >> a & 1)
            hp->archs[a].nwaiting += (unsigned)change;
}

static void bucket_put_job(struct orr_heteroprio *hp,
                           struct orr_hp_bucket *bucket, unsigned group,
                           struct orr_job *job)
{
    orr_list_prepend(&bucket->jobs[group], &job->queue);
    bucket->njobs++;
    count_waiting(hp, bucket, 1);
}

/* The jobs that wait for this one cannot end before it, so they are read without a
 * lock. */
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

/* Notes which classes can run the job, and takes the lock; the note is true as long as
 * the lock is held. can_execute is called without the lock. */
static void note_able_and_lock(struct orr_heteroprio *hp,
                               struct orr_runtime *rt, struct orr_job *job)
    ORR_ACQUIRES(hp->lock)
{
    unsigned nrefreshed;

    orr_lock(&hp->lock);
    do {
        nrefreshed = hp->nrefreshed;
        orr_unlock(&hp->lock);
        orr_sched_note_able(rt, job);
        orr_lock(&hp->lock);
    } while (hp->nrefreshed != nrefreshed);
}

static int heteroprio_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_heteroprio *hp = sched->data;
    struct successors found = {.n = 0};
    double suits[STARPU_MAXNODES];
    struct orr_hp_bucket *bucket;
    bool all, ordered = false;
    uint64_t able_classes;
    unsigned group = 0;

    if (hp->automatic && !hp->frozen)
        orr_job_each_successor(job, add_successor, &found);
    orr_hp_weigh(sched, job, suits);
    note_able_and_lock(hp, rt, job);
    all = job->differ;
    if (!hp->automatic && !hp->configured)
        heteroprio_set_default_order(sched);
    bucket = hp->automatic ? orr_hp_bucket_of(sched, job)
                           : by_priority(hp, job->priority);
    if (!bucket_taker_archs(rt, job, bucket)) {
        orr_unlock(&hp->lock);
        return -ENODEV;
    }
    able_classes = classes_of_takers(rt, job, bucket);
    all |= bucket->base != OPEN_BASE;
    if (hp->automatic)
        ordered = orr_hp_note_push(sched, bucket, found.jobs, found.n);
    if (atomic_load_explicit(&hp->locality.on, memory_order_relaxed))
        group = orr_hp_choose_group(sched, nodes_of_takers(sched, job, bucket),
                                    suits);
    bucket_put_job(hp, bucket, group, job);
    orr_unlock(&hp->lock);
    if (ordered && (hp->tells_order || hp->tells_data))
        orr_hp_tell(sched);
    orr_sched_wake_able(sched, able_classes, all);
    return 0;
}

/* --- popping --- */

/* Whether the architecture may take tasks of the bucket. One that is not the fastest
 * may if the bucket has enough for the fastest one, or if that cannot run the job. */
static bool arch_may_take_bucket(const struct orr_sched *sched,
                                 const struct orr_hp_bucket *bucket,
                                 const struct orr_job *job, unsigned arch)
{
    unsigned base = bucket->base;

    if (base == OPEN_BASE || base == arch ||
        !(bucket_taker_archs(sched->runtime, job, bucket) >> base & 1))
        return true;
    return bucket->njobs >= bucket->slow[arch] * orr_hp_nworkers(sched, base);
}

struct taken {
    struct orr_job *jobs[ORR_HP_PREFETCH];
    struct orr_hp_bucket *from[ORR_HP_PREFETCH];
    unsigned group[ORR_HP_PREFETCH];
    unsigned n, most;
    /* Bits of groups: can_execute has refused the task in front, the list is left to
     * others. */
    uint16_t left[ORR_HP_BUCKETS];
    bool missed;   /* a worker found nothing while one of them was looked at */
    uint64_t wake; /* classes of the workers that could run the job in front */
};

_Static_assert(ORR_HP_GROUPS <= 16, "a bit each");

static void take_from(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                      unsigned group, struct orr_worker *worker,
                      struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;
    unsigned left = taken->left[bucket - hp->buckets] >> group & 1;
    struct orr_list *jobs = &bucket->jobs[group];

    while (taken->n < taken->most && !orr_list_empty(jobs)) {
        struct orr_job *job = orr_job_of_link(jobs->next);
        bool ask;

        if (left ||
            !orr_job_maybe_able(sched->runtime, job, job->costs, worker->id,
                                &ask) ||
            !arch_may_take_bucket(sched, bucket, job, orr_hp_arch_of(worker))) {
            hp->passed |= UINT64_C(1) << worker->class_id;
            return;
        }
        orr_list_remove(&job->queue);
        bucket->njobs--;
        count_waiting(hp, bucket, -1);
        taken->jobs[taken->n] = job;
        taken->from[taken->n] = bucket;
        taken->group[taken->n++] = group;
    }
}

/* The classes that could run the task that is now in front. Their workers may have
 * passed the bucket by because of the task that was in front before. Classes that leave
 * the bucket to a faster architecture are not among them. */
static uint64_t front_classes(const struct orr_sched *sched,
                              const struct orr_hp_bucket *bucket,
                              unsigned group)
{
    const struct orr_runtime *rt = sched->runtime;
    const struct orr_job *job;
    uint64_t classes;

    if (orr_list_empty(&bucket->jobs[group]))
        return 0;
    job = orr_job_of_link(bucket->jobs[group].next);
    classes = classes_of_takers(rt, job, bucket);
    if (bucket->base == OPEN_BASE ||
        !(bucket_taker_archs(rt, job, bucket) >> bucket->base & 1))
        return classes;
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (arch_of_class(rt, k) != bucket->base)
            classes &= ~(UINT64_C(1) << k);
    return classes;
}

/* A job that was in front has gone for good, so workers that passed the bucket by are
 * to be woken for the jobs behind it. Not before: while the job might be put back,
 * workers that all refuse it would wake each other for ever. Jobs that other workers
 * have in hand are in no list, so a worker that passed the bucket by has missed them. */
static void note_front(struct orr_sched *sched, struct taken *taken, unsigned i)
{
    struct orr_heteroprio *hp = sched->data;

    if (hp->passed)
        taken->wake |= hp->passed & front_classes(sched, taken->from[i],
                                                  taken->group[i]);
    hp->passed &= ~taken->wake;
    hp->missed |= hp->passed && hp->nlooked_at > taken->n - i;
}

/* Takes from the buckets at some positions of the order, of the groups from the
 * nearest on. */
static void take_near(struct orr_sched *sched, struct orr_worker *worker,
                      unsigned first, unsigned last, unsigned nearest,
                      unsigned farthest, struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;
    const struct orr_hp_locality *l = &hp->locality;
    const unsigned *order = hp->archs[orr_hp_arch_of(worker)].order;
    const struct orr_hp_group *own = &l->groups[l->of_node[worker->desc->node]];

    for (unsigned i = first; i < last && taken->n < taken->most &&
                             hp->archs[orr_hp_arch_of(worker)].nwaiting;
         i++)
        for (unsigned g = nearest; g < farthest; g++)
            take_from(sched, &hp->buckets[order[i]], own->nearest[g], worker,
                      taken);
}

/* Goes through the order of buckets step by step: the lists of the own group, then
 * those of near groups, at last those of the others. */
static void take_by_group(struct orr_sched *sched, struct orr_worker *worker,
                          struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;
    const struct orr_hp_locality *l = &hp->locality;
    const struct orr_hp_arch *arch = &hp->archs[orr_hp_arch_of(worker)];
    unsigned own = l->of_node[worker->desc->node];
    unsigned near = l->near[orr_hp_arch_of(worker)],
             step = l->step[orr_hp_arch_of(worker)];
    unsigned last;

    if (near > l->n - 1)
        near = l->n - 1;
    if (step == 0 || step > arch->n)
        step = arch->n;
    orr_hp_sort_groups(sched);
    for (unsigned first = 0; first < arch->n && taken->n < taken->most &&
                             arch->nwaiting;
         first = last) {
        last = arch->n - first < step ? arch->n : first + step;
        for (unsigned i = first; i < last; i++)
            take_from(sched, &hp->buckets[arch->order[i]], own, worker, taken);
        take_near(sched, worker, first, last, 0, near, taken);
    }
    take_near(sched, worker, 0, arch->n, near, l->n - 1, taken);
}

/* Takes tasks of the buckets in the order of the worker's architecture. A
 * bucket whose newest task the worker cannot run is left to the others. */
static void heteroprio_take_tasks(struct orr_sched *sched,
                                  struct orr_worker *worker,
                                  struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_arch *arch = &hp->archs[orr_hp_arch_of(worker)];
    unsigned most =
        arch->nwaiting < orr_hp_nworkers(sched, orr_hp_arch_of(worker))
            ? 1
            : ORR_HP_PREFETCH;
    unsigned own = hp->own[worker->id].njobs;

    taken->n = 0;
    taken->most = own < most ? most - own : 0;
    if (hp->locality.n > 1) {
        take_by_group(sched, worker, taken);
        return;
    }
    for (unsigned i = 0;
         i < arch->n && taken->n < taken->most && arch->nwaiting; i++)
        take_from(sched, &hp->buckets[arch->order[i]], 0, worker, taken);
}

/* False if the worker cannot run the job after all. */
static bool heteroprio_accept_job(struct orr_runtime *rt,
                                  struct orr_worker *worker,
                                  struct orr_job *job)
{
    const struct orr_cost_row *row = orr_job_row(rt, job);
    unsigned bits = orr_job_able(rt, job, row, worker->id);

    if (!bits)
        return false;
    job->implementation =
        orr_recal_pick(row->recal, row, worker->class_id, bits);
    orr_job_prefetch(rt, job, worker->desc->node, ORR_PREFETCH);
    return true;
}

/* Puts back a task that the worker cannot run; the worker passes the bucket by then.
 * `kept`: the worker has kept a task that was in front of this one, so workers that
 * passed the bucket by may want this one. */
static void heteroprio_put_back(struct orr_heteroprio *hp,
                                const struct orr_worker *worker,
                                struct taken *taken, unsigned i, bool kept)
    ORR_ACQUIRES(hp->lock)
{
    const struct orr_runtime *rt = worker->runtime;
    struct orr_job *job = taken->jobs[i];
    unsigned group;

    note_able_and_lock(hp, worker->runtime, job);
    group = hp->locality.n > 1 ? taken->group[i] : 0;
    bucket_put_job(hp, taken->from[i], group, job);
    taken->left[taken->from[i] - hp->buckets] |= (uint16_t)(1 << group);
    if (kept)
        taken->wake |= hp->passed & classes_of_takers(rt, job, taken->from[i]);
    hp->passed &= ~taken->wake;
    hp->passed |= UINT64_C(1) << worker->class_id;
    taken->missed |= hp->missed;
}

static void heteroprio_keep_own(struct orr_heteroprio *hp,
                                const struct orr_worker *worker,
                                struct orr_job *job) ORR_ACQUIRES(hp->lock)
{
    orr_lock(&hp->lock);
    orr_list_append(&hp->own[worker->id].jobs, &job->queue);
    hp->own[worker->id].njobs++;
    hp->archs[orr_hp_arch_of(worker)].nown++;
}

/* False: there are none. */
static bool take_some(struct orr_sched *sched, struct orr_worker *worker,
                      struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;

    orr_lock(&hp->lock);
    heteroprio_take_tasks(sched, worker, taken);
    /* A task that another worker has in hand may be for this one. */
    hp->missed |= taken->n == 0 && hp->nlooked_at > 0;
    hp->nlooked_at += taken->n;
    orr_unlock(&hp->lock);
    return taken->n > 0;
}

/* Returns whether the worker has refused a task, which was put back into its bucket. */
static bool refill_once(struct orr_sched *sched, struct orr_worker *worker,
                        struct taken *taken)
{
    struct orr_heteroprio *hp = sched->data;
    unsigned nkept = 0;

    if (!take_some(sched, worker, taken))
        return false;
    taken->missed = false;
    taken->wake = 0;
    for (unsigned i = 0; i < taken->n; i++) {
        if (heteroprio_accept_job(sched->runtime, worker, taken->jobs[i])) {
            heteroprio_keep_own(hp, worker, taken->jobs[i]);
            note_front(sched, taken, i);
            nkept++;
        } else {
            heteroprio_put_back(hp, worker, taken, i, nkept > 0);
        }
        if (--hp->nlooked_at == 0)
            hp->missed = false;
        orr_unlock(&hp->lock);
    }
    if (taken->missed)
        orr_sched_wake_members(sched);
    else if (taken->wake)
        orr_sched_wake_able(sched, taken->wake, true);
    return nkept < taken->n;
}

/* A worker that refuses a task looks at the next buckets. It gives up each bucket once
 * at most, so this ends. */
static void heteroprio_refill_own(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    struct taken taken = {.left = {0}};

    while (refill_once(sched, worker, &taken))
        ;
}

/* Whether the worker may have what was chosen for another one. */
static bool may_steal(const struct orr_worker *thief, const struct orr_job *job)
{
    return !job->differ &&
           job->costs->able[thief->class_id] >> job->implementation & 1;
}

/* Takes the oldest, that is the best, of the tasks that the worker has taken
 * out, else of those of the next worker of its architecture. */
static struct orr_job *heteroprio_take_own(struct orr_sched *sched,
                                           const struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_runtime *rt = sched->runtime;
    struct orr_hp_arch *arch = &hp->archs[orr_hp_arch_of(worker)];

    for (unsigned i = 0; arch->nown && i < rt->workers->n; i++) {
        unsigned w = (worker->id + i) % rt->workers->n;
        struct orr_hp_own *own = &hp->own[w];
        struct orr_job *job;

        if (!own->njobs ||
            orr_hp_arch_of(&rt->workers->at[w]) != orr_hp_arch_of(worker))
            continue;
        job = orr_job_of_link(own->jobs.next);
        if (i > 0 && !may_steal(worker, job))
            continue;
        orr_list_remove(&job->queue);
        own->njobs--;
        arch->nown--;
        if (i > 0)
            ORR_TELL(rt, ORR_TOLD_STOLEN, .stolen.thief = worker->id,
                     .stolen.victim = w, .stolen.job = job->id);
        return job;
    }
    return NULL;
}

static struct orr_job *heteroprio_pop(struct orr_sched *sched,
                                      struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_job *job;

    heteroprio_refill_own(sched, worker);
    orr_lock(&hp->lock);
    job = heteroprio_take_own(sched, worker);
    orr_unlock(&hp->lock);
    return job;
}

/* Tasks may have been left to an architecture whose workers are gone. */
static void refresh_list(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                         unsigned group)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_list jobs, *link;

    orr_list_init(&jobs);
    orr_lock(&hp->lock);
    hp->nrefreshed++;
    while ((link = orr_list_pop(&bucket->jobs[group]))) {
        bucket->njobs--;
        count_waiting(hp, bucket, -1);
        orr_list_prepend(&jobs, link);
    }
    orr_unlock(&hp->lock);
    while ((link = orr_list_pop(&jobs))) {
        note_able_and_lock(hp, sched->runtime, orr_job_of_link(link));
        if (hp->automatic) /* the workers that can run it now look at the bucket */
            (void)orr_hp_bucket_of(sched, orr_job_of_link(link));
        bucket_put_job(hp, bucket, group, orr_job_of_link(link));
        orr_unlock(&hp->lock);
    }
}

static void heteroprio_refresh(struct orr_sched *sched)
{
    struct orr_heteroprio *hp = sched->data;

    for (unsigned b = 0; b < ORR_HP_BUCKETS; b++)
        for (unsigned g = 0; g < ORR_HP_GROUPS; g++)
            refresh_list(sched, &hp->buckets[b], g);
}

/* --- measuring --- */

static void heteroprio_pre_exec(struct orr_sched *sched, struct orr_job *job,
                                struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;

    (void)job;
    orr_lock(&hp->lock);
    /* A device has the next one while it executes the one before. */
    if (hp->own[worker->id].nrunning++ == 0)
        hp->own[worker->id].began = orr_exec_now(sched->runtime->exec);
    orr_unlock(&hp->lock);
}

static void heteroprio_post_exec(struct orr_sched *sched, struct orr_job *job,
                                 struct orr_worker *worker)
{
    struct orr_heteroprio *hp = sched->data;
    double now = orr_exec_now(sched->runtime->exec);

    orr_lock(&hp->lock);
    if (hp->automatic && !hp->frozen)
        orr_hp_note_end(sched, job, orr_hp_arch_of(worker),
                        now - hp->own[worker->id].began);
    hp->own[worker->id].began = now;
    hp->own[worker->id].nrunning -= hp->own[worker->id].nrunning > 0;
    orr_unlock(&hp->lock);
}

/* --- beginning and end --- */

static int heteroprio_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_config *config = &rt->config;
    struct orr_heteroprio *hp =
        calloc(1, sizeof(*hp) + rt->workers->n * sizeof(hp->own[0]));
    int interval = orr_config_int(config, ORR_CFG_HETEROPRIO_INTERVAL);
    const char *score = orr_config_string(config, ORR_CFG_HETEROPRIO_ORDERING);
    int rc;

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
    sched->data = hp;
    hp->automatic = orr_config_bool(config, ORR_CFG_HETEROPRIO_AUTO);
    hp->by_codelet = orr_config_int(config, ORR_CFG_HETEROPRIO_GROUPING) == 1;
    hp->interval = interval > 0 ? (unsigned)interval : 1;
    hp->began = orr_exec_now(rt->exec);
    hp->frozen = orr_config_bool(config, ORR_CFG_HETEROPRIO_FREEZE);
    hp->tells_order = orr_config_bool(config, ORR_CFG_HETEROPRIO_PRINT_ORDER);
    hp->tells_data = orr_config_bool(config, ORR_CFG_HETEROPRIO_PRINT_DATA);
    for (unsigned b = 0; b < ORR_HP_BUCKETS; b++)
        for (unsigned g = 0; g < ORR_HP_GROUPS; g++)
            orr_list_init(&hp->buckets[b].jobs[g]);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        orr_list_init(&hp->own[w].jobs);
        hp->present |= 2U << orr_hp_arch_of(&rt->workers->at[w]);
    }
    rc = orr_hp_locality_init(sched, err);
    if (!rc && hp->automatic)
        rc = orr_hp_read(sched);
    if (rc) {
        free(hp);
        sched->data = NULL;
    }
    return rc;
}

static void heteroprio_deinit(struct orr_sched *sched)
{
    struct orr_heteroprio *hp = sched->data;

    if (hp->automatic && !hp->frozen && hp->npushed)
        orr_hp_write(sched);
    free(hp);
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
    .refresh = heteroprio_refresh,
    .pre_exec = heteroprio_pre_exec,
    .post_exec = heteroprio_post_exec,
};
