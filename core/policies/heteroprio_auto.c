/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/heteroprio_auto.c - heteroprio's automatic mode: what is known of the
 * tasks of a bucket, and the order of buckets that follows. The caller has the lock.
 *
 * Times are normalised: divided by the mean, over the tasks that were pushed, of
 * the time on the fastest architecture. The score of a bucket on an architecture
 * is high where the others are slower, and where what it releases (URT) will keep
 * the workers busy; it is lower if the others lack work more than this one does.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cost/cost.h"
#include "core/policies/heteroprio.h"
#include "core/policies/heteroprio_score.h"
#include "core/worker/workers.h"

/* µs that a task is assumed to take: before anything was measured, and on an
 * architecture that cannot run it. */
static const double assumed = 1e3, unable = 1e8;

static void mean_add(struct orr_hp_mean *mean, double value)
{
    const unsigned window = 256;

    if (mean->n < window)
        mean->n++;
    mean->value += (value - mean->value) / mean->n;
}

/* --- buckets --- */

/* The architectures that have workers in the context which can run the job, as bits. */
static unsigned able_archs(const struct orr_sched *sched,
                           const struct orr_job *job)
{
    const struct orr_runtime *rt = sched->runtime;
    unsigned archs = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (job->able_classes >> rt->workers->at[w].class_id & 1)
            archs |= 1U << orr_hp_arch_of(&rt->workers->at[w]);
    return archs;
}

static const char *bucket_name_of_job(const struct orr_heteroprio *hp,
                                      const struct orr_job *job)
{
    const char *name =
        hp->by_codelet ? job->task->cl->name : orr_cost_symbol(job->costs);

    return name ? name : "NO_NAME";
}

/* The architectures for which the job's codelet has an implementation and which the
 * task does not exclude, whether or not the context has such workers. */
static uint32_t where_of(const struct orr_sched *sched,
                         const struct orr_job *job)
{
    const struct orr_runtime *rt = sched->runtime;
    uint32_t where = 0;

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (job->costs->able[k] && orr_job_where_allows(rt, job, job->costs, k))
            where |= 2U << rt->workers->classes[k].type;
    return where;
}

static struct orr_hp_bucket *bucket_find(struct orr_sched *sched,
                                         const struct orr_job *job)
{
    struct orr_heteroprio *hp = sched->data;
    const char *name;
    uint32_t where;

    if (!job->costs) /* it has no kernel */
        return NULL;
    name = bucket_name_of_job(hp, job);
    where = where_of(sched, job);
    for (unsigned b = 0; b < hp->nbuckets; b++) {
        struct orr_hp_figures *known = &hp->buckets[b].known;

        if (known->where == where &&
            strncmp(known->name, name, ORR_HP_NAME) == 0)
            return &hp->buckets[b];
    }
    return NULL;
}

static void arch_add_bucket(struct orr_heteroprio *hp,
                            struct orr_hp_bucket *bucket, unsigned arch)
{
    struct orr_hp_arch *a = &hp->archs[arch];

    a->order[a->n++] = (unsigned)(bucket - hp->buckets);
    hp->locality.stale = true;
    bucket->archs |= 1U << arch;
    a->nwaiting += bucket->njobs;
}

/* When all have a name, further tasks share the last one. */
struct orr_hp_bucket *orr_hp_bucket_of(struct orr_sched *sched,
                                       struct orr_job *job)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_bucket *bucket = bucket_find(sched, job);
    unsigned archs = able_archs(sched, job);

    if (!bucket && hp->nbuckets < ORR_HP_BUCKETS) {
        bucket = &hp->buckets[hp->nbuckets++];
        strncpy(bucket->known.name, bucket_name_of_job(hp, job), ORR_HP_NAME);
        bucket->known.where = where_of(sched, job);
    }
    if (!bucket)
        bucket = &hp->buckets[ORR_HP_BUCKETS - 1];
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (archs >> a & 1 && !(bucket->archs >> a & 1))
            arch_add_bucket(hp, bucket, a);
    return bucket;
}

/* --- figures --- */

double orr_hp_time_on(const struct orr_hp_bucket *bucket, unsigned arch)
{
    if (!(bucket->archs >> arch & 1))
        return unable;
    return bucket->known.time[arch].n ? bucket->known.time[arch].value
                                      : assumed;
}

unsigned orr_hp_fastest(const struct orr_hp_bucket *bucket)
{
    unsigned best = 0;

    for (unsigned a = 1; a < STARPU_NARCH; a++)
        if (orr_hp_time_on(bucket, a) < orr_hp_time_on(bucket, best))
            best = a;
    return best;
}

/* The time by which the others are divided. */
static double typical_time(const struct orr_heteroprio *hp)
{
    double sum = 0, n = 0;

    for (unsigned b = 0; b < hp->nbuckets; b++) {
        const struct orr_hp_bucket *bucket = &hp->buckets[b];

        if (!bucket->archs) /* of earlier runs only */
            continue;
        sum += bucket->known.npushed *
               orr_hp_time_on(bucket, orr_hp_fastest(bucket));
        n += bucket->known.npushed;
    }
    return n > 0 && sum > 0 ? sum / n : assumed;
}

/* Which part of the bucket's tasks the architecture has run. */
static double bucket_share_of_arch(const struct orr_hp_bucket *bucket,
                                   unsigned arch)
{
    double n = 0;

    for (unsigned a = 0; a < STARPU_NARCH; a++)
        n += bucket->known.nexecuted[a];
    return n > 0 ? bucket->known.nexecuted[arch] / n : 0;
}

static double busy_fraction(const struct orr_sched *sched, unsigned arch)
{
    const struct orr_heteroprio *hp = sched->data;
    double us = hp->frozen ? 0 : orr_exec_now(sched->runtime->exec) - hp->began;
    double all = us * orr_hp_nworkers(sched, arch) + hp->archs[arch].before;

    return all > 0 && hp->archs[arch].busy < all ? hp->archs[arch].busy / all
                                                 : all > 0;
}

void orr_hp_note_end(struct orr_sched *sched, struct orr_job *job,
                     unsigned arch, double us)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_bucket *bucket = bucket_find(sched, job);

    hp->archs[arch].busy += us;
    if (!bucket)
        return;
    mean_add(&bucket->known.time[arch], us);
    bucket->known.nexecuted[arch]++;
}

/* --- the order --- */

/* The slowest architecture but this one; STARPU_NARCH: there is none. */
static unsigned slowest_other(const struct orr_hp_bucket *bucket, unsigned arch)
{
    unsigned worst = STARPU_NARCH;

    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (a != arch && bucket->archs >> a & 1 &&
            (worst == STARPU_NARCH ||
             orr_hp_time_on(bucket, a) > orr_hp_time_on(bucket, worst)))
            worst = a;
    return worst;
}

static double mean_or(const struct orr_hp_mean *mean, double otherwise)
{
    return mean->n ? mean->value : otherwise;
}

static double bucket_score(const struct orr_sched *sched,
                           const struct orr_hp_bucket *bucket, unsigned arch,
                           double typical)
{
    const double nobody = 1e15, first = 99999999, unknown = 1000;
    const unsigned few = 16;
    const struct orr_heteroprio *hp = sched->data;
    const struct orr_hp_figures *known = &bucket->known;
    unsigned other = slowest_other(bucket, arch);
    struct orr_hp_inputs in = {
        .own = orr_hp_time_on(bucket, arch) / typical,
        .other = nobody / typical,
        .nod = mean_or(&known->nod, 1),
        .best_released = mean_or(&known->best_released, unknown),
        .need = 1 - busy_fraction(sched, arch),
        .share = bucket_share_of_arch(bucket, arch),
    };
    double result;

    in.urt = mean_or(&known->released[arch], unknown) * in.need;
    if (other != STARPU_NARCH) {
        in.other = orr_hp_time_on(bucket, other) / typical;
        in.other_share = bucket_share_of_arch(bucket, other);
        in.other_need = 1 - in.other_share;
        in.urt += mean_or(&known->released[other], unknown) * in.other_need;
    }
    result = orr_hp_score(&sched->runtime->config, hp->score, &in);
    return known->time[arch].n < few ? result + first : result;
}

/* Insertion sort: buckets are few, equals stay as they were. Whether anything was
 * moved. */
static bool arch_sort_buckets(struct orr_hp_arch *arch, const double *scores)
{
    bool moved = false;

    for (unsigned i = 1; i < arch->n; i++) {
        unsigned bucket = arch->order[i], at = i;

        for (; at > 0 && scores[arch->order[at - 1]] < scores[bucket]; at--)
            arch->order[at] = arch->order[at - 1];
        arch->order[at] = bucket;
        moved |= at != i;
    }
    return moved;
}

static void heteroprio_order_buckets(struct orr_sched *sched)
{
    struct orr_heteroprio *hp = sched->data;
    double scores[ORR_HP_BUCKETS], typical = typical_time(hp);

    for (unsigned b = 0; b < hp->nbuckets; b++) {
        struct orr_hp_bucket *bucket = &hp->buckets[b];

        bucket->base = orr_hp_fastest(bucket);
        for (unsigned a = 0; a < STARPU_NARCH; a++)
            bucket->slow[a] = orr_hp_time_on(bucket, a) /
                              orr_hp_time_on(bucket, bucket->base);
    }
    for (unsigned a = 0; a < STARPU_NARCH; a++) {
        hp->archs[a].nworkers = orr_hp_nworkers(sched, a);
        for (unsigned i = 0; i < hp->archs[a].n; i++) {
            unsigned b = hp->archs[a].order[i];

            scores[b] = bucket_score(sched, &hp->buckets[b], a, typical);
        }
        hp->locality.stale |= arch_sort_buckets(&hp->archs[a], scores);
    }
}

/* A successor that waits for n tasks counts 1/n. */
static void note_released(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                          struct orr_job *const *successors, unsigned n)
{
    struct orr_heteroprio *hp = sched->data;
    double sums[STARPU_NARCH] = {0}, typical = n ? typical_time(hp) : 1;
    double nod = 0, best = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct orr_hp_bucket *next = bucket_find(sched, successors[i]);
        int waiting = atomic_load(&successors[i]->waiting);
        double part = 1.0 / (waiting > 1 ? waiting : 1);

        nod += part;
        if (!next)
            continue;
        best += part * orr_hp_time_on(next, orr_hp_fastest(next)) / typical;
        for (unsigned a = 0; a < STARPU_NARCH; a++)
            sums[a] += part * bucket_share_of_arch(next, a) *
                       orr_hp_time_on(next, a) / typical;
    }
    mean_add(&bucket->known.nod, nod);
    mean_add(&bucket->known.best_released, best);
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        mean_add(&bucket->known.released[a], sums[a]);
}

bool orr_hp_note_push(struct orr_sched *sched, struct orr_hp_bucket *bucket,
                      struct orr_job *const *successors, unsigned n)
{
    struct orr_heteroprio *hp = sched->data;

    if (!hp->frozen)
        note_released(sched, bucket, successors, n);
    if (!hp->frozen)
        bucket->known.npushed++;
    if (hp->npushed++ % hp->interval)
        return false;
    heteroprio_order_buckets(sched);
    return true;
}
