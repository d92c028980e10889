/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/toolbox.c - jobs ordered by priority, and waking workers.
 * The caller of the orr_prioq functions holds the queue's lock.
 */
#include "core/sched/toolbox.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/power.h"
#include "core/data/handle.h"
#include "core/job/ahead.h"
#include "core/sched/sched.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"

/* --- jobs by priority --- */

void orr_prioq_done(struct orr_prioq *q)
{
    for (unsigned i = 0; i < q->nmade; i++) {
        free(q->slots[i].level->digests);
        free(q->slots[i].level);
    }
    free(q->slots);
    *q = (struct orr_prioq){.digests = q->digests};
}

/* The number of slots whose rank is below: where it is or belongs. */
static unsigned prioq_find_slot(const struct orr_prioq *q, long long rank)
{
    unsigned low = 0, high = q->nslots;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (q->slots[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Ensures that there is a spare level behind the last slot in use. */
static int prioq_make_spare(struct orr_prioq *q)
{
    struct orr_prioq_level *level;
    struct orr_prioq_slot *slot;

    if (q->nslots < q->nmade)
        return 0;
    level = calloc(1, sizeof(*level));
    slot = level ? orr_array_add(q->slots, q->nmade) : NULL;
    if (!slot) {
        free(level);
        return -ENOMEM;
    }
    orr_list_init(&level->jobs);
    slot->level = level;
    return 0;
}

/* There is a spare level. */
static void insert_slot(struct orr_prioq *q, unsigned at, long long rank,
                        int priority)
{
    struct orr_prioq_level *level = q->slots[q->nslots].level;

    memmove(&q->slots[at + 1], &q->slots[at],
            (q->nslots - at) * sizeof(*q->slots));
    q->slots[at] = (struct orr_prioq_slot){rank, priority, level};
    q->nslots++;
}

static void remove_slot(struct orr_prioq *q, unsigned at)
{
    struct orr_prioq_level *level = q->slots[at].level;

    q->nslots--;
    memmove(&q->slots[at], &q->slots[at + 1],
            (q->nslots - at) * sizeof(*q->slots));
    q->slots[q->nslots] = (struct orr_prioq_slot){.level = level};
}

/* Behind the last one. Where the first half is free, all move there. */
static int make_digest_room(struct orr_prioq_level *level)
{
    size_t end = (size_t)level->first + level->njobs;

    if (end == level->room && 2 * (size_t)level->first > level->room) {
        memcpy(level->digests, &level->digests[level->first],
               level->njobs * sizeof(*level->digests));
        level->first = 0;
        end = level->njobs;
    }
    return orr_grow(&level->digests, &level->room, end + 1,
                    sizeof(*level->digests));
}

/* The shorter part of those before and behind it moves. */
static void remove_digest(struct orr_prioq_level *level, unsigned at)
{
    struct orr_prioq_digest *first = &level->digests[level->first];
    unsigned behind = level->njobs - at - 1;

    if (at < behind) {
        memmove(first + 1, first, at * sizeof(*first));
        level->first++;
    } else {
        memmove(first + at, first + at + 1, behind * sizeof(*first));
    }
}

/* Whether it counts for how ready its job is. */
static bool access_counts(const struct orr_access *access)
{
    return !access->duplicate &&
           !(access->mode & (STARPU_SCRATCH | STARPU_REDUX));
}

/* No sum of counts of changes. */
#define CHANGED UINT64_MAX

static inline void digest_fill(struct orr_prioq_digest *digest,
                               struct orr_job *job)
{
    static const struct orr_handle none; /* unchanged, and nothing lacks it */
    unsigned n = 0, reads = 0;

    for (unsigned i = 0; i < job->naccesses && n <= ORR_DIGESTED; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (!access_counts(access))
            continue;
        if (n < ORR_DIGESTED)
            digest->handles[n] = access->handle;
        reads |= (access->mode & STARPU_R ? 1u : 0u) << n;
        n++;
    }
    for (unsigned i = n; i < ORR_DIGESTED; i++)
        digest->handles[i] = n ? digest->handles[0] : &none;
    digest->job = job;
    digest->priority = job->priority;
    digest->n = (uint8_t)n;
    digest->reads = (uint8_t)reads;
    digest->changes = CHANGED;
}

int orr_prioq_push(struct orr_prioq *q, struct orr_job *job, int priority)
{
    long long rank = orr_prioq_rank(job, priority);
    unsigned at = q->nslots && q->slots[q->nslots - 1].rank == rank
                      ? q->nslots - 1 /* mostly it is one of the best */
                      : prioq_find_slot(q, rank);
    bool is_new = at == q->nslots || q->slots[at].rank != rank;
    struct orr_prioq_level *level;
    int err = is_new ? prioq_make_spare(q) : 0;

    if (err)
        return err;
    level = q->slots[is_new ? q->nslots : at].level;
    if (q->digests && (err = make_digest_room(level)) != 0)
        return err;
    if (is_new)
        insert_slot(q, at, rank, priority);
    if (q->digests)
        digest_fill(&level->digests[level->first + level->njobs], job);
    orr_list_append(&level->jobs, &job->queue);
    level->njobs++;
    q->njobs++;
    return 0;
}

static void take_at(struct orr_prioq *q, unsigned slot, struct orr_job *job,
                    unsigned at)
{
    struct orr_prioq_level *level = q->slots[slot].level;

    orr_list_remove(&job->queue);
    if (q->digests && level->njobs > 1)
        remove_digest(level, at);
    q->njobs--;
    level->njobs--;
    if (level->njobs == 0) {
        level->first = 0;
        remove_slot(q, slot);
    }
}

void orr_prioq_take(struct orr_prioq *q, unsigned slot, struct orr_job *job)
{
    const struct orr_prioq_level *level;
    unsigned at = 0;

    assert(slot < q->nslots);
    level = q->slots[slot].level;
    while (q->digests && level->digests[level->first + at].job != job)
        at++;
    take_at(q, slot, job, at);
}

struct orr_job *orr_prioq_pop(struct orr_prioq *q)
{
    struct orr_job *job;

    if (orr_prioq_empty(q))
        return NULL;
    job = orr_job_of_link(q->slots[q->nslots - 1].level->jobs.next);
    orr_prioq_take(q, q->nslots - 1, job);
    return job;
}

unsigned orr_prioq_ahead(const struct orr_prioq *q, int priority)
{
    unsigned n = 0;

    orr_prioq_foreach_slot(slot, q)
    {
        if (q->slots[slot].priority < priority)
            break;
        n += q->slots[slot].level->njobs;
    }
    return n;
}

/* --- the most ready job --- */

/* What the node, `bit`, lacks of one datum: mostly nothing, since where it is valid it
 * has memory. */
static inline void add_missing(struct orr_missing *m,
                               const struct orr_handle *handle, bool reads,
                               uint64_t bit)
{
    memory_order relaxed = memory_order_relaxed;

    if (atomic_load_explicit(&handle->valid, relaxed) & bit)
        return;
    if (!(atomic_load_explicit(&handle->allocated, relaxed) & bit))
        m->allocated += handle->size;
    if (!reads)
        return;
    m->ndata++;
    m->value += handle->size;
    if (!(atomic_load_explicit(&handle->loading, relaxed) & bit))
        m->loading += handle->size;
}

struct orr_missing orr_job_missing(const struct orr_job *job, unsigned node,
                                   uint64_t most)
{
    struct orr_missing m = {0, 0, 0, 0};

    for (unsigned i = 0; i < job->naccesses && m.value <= most; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (access_counts(access))
            add_missing(&m, access->handle, access->mode & STARPU_R,
                        UINT64_C(1) << node);
    }
    return m;
}

/* Where nothing has changed its data need no look. */
static inline uint64_t digest_changes(const struct orr_prioq_digest *digest)
{
    uint64_t sum = 0;

#pragma GCC unroll 3
    for (unsigned k = 0; k < ORR_DIGESTED; k++)
        sum += atomic_load_explicit(&digest->handles[k]->changes,
                                    memory_order_acquire);
    return sum;
}

static void digest_look(struct orr_prioq_digest *digest, unsigned node,
                        uint64_t changes)
{
    struct orr_missing m = {0, 0, 0, 0};
    unsigned reads = digest->reads;

    digest->changes = changes;
    if (digest->n > ORR_DIGESTED) {
        digest->changes = CHANGED; /* others may */
        m = orr_job_missing(digest->job, node, UINT64_MAX);
    } else {
        for (unsigned i = 0; i < digest->n; i++, reads >>= 1)
            add_missing(&m, digest->handles[i], reads & 1,
                        UINT64_C(1) << node);
    }
    digest->missing = m;
}

/* Data are anywhere: the state of those that are looked at a little later is
 * fetched meanwhile. (gcc drops calls of functions that do nothing else: it must be
 * inlined.) */
__attribute__((always_inline)) static inline void
fetch_digest(const struct orr_prioq_digest *digest)
{
#pragma GCC unroll 3
    for (unsigned k = 0; k < ORR_DIGESTED; k++)
        __builtin_prefetch(&digest->handles[k]->allocated);
}

static void level_choose_node(struct orr_prioq_level *level, unsigned node)
{
    if (level->node == node)
        return;
    level->node = node;
    for (unsigned i = 0; i < level->njobs; i++)
        level->digests[level->first + i].changes = CHANGED;
}

static struct orr_prioq_digest *find_readiest(struct orr_prioq_level *level,
                                              unsigned node)
{
    enum { AHEAD = 4 };
    struct orr_prioq_digest *digest = &level->digests[level->first],
                            *end = digest + level->njobs,
                            *last = level->njobs > AHEAD ? end - AHEAD : digest,
                            *best = NULL;
    struct orr_missing least = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};
    int priority = digest->priority;

    for (; digest < end; digest++) {
        uint64_t changes;

        if (digest < last)
            fetch_digest(digest + AHEAD);
        if (digest->priority < priority)
            continue;
        changes = digest_changes(digest);
        if (changes != digest->changes)
            digest_look(digest, node, changes);
        if (!orr_missing_is_less(&digest->missing, &least))
            continue;
        best = digest;
        least = digest->missing;
        if (least.value == 0 && least.allocated == 0)
            break;
    }
    return best;
}

/* Its worker asks for the job's data next. */
__attribute__((always_inline)) static inline void
look_at_taken(const struct orr_prioq_digest *digest, unsigned node)
{
    orr_ahead_job_and_accesses(digest->job);
#pragma GCC unroll 3
    for (unsigned k = 0; k < ORR_DIGESTED; k++)
        __builtin_prefetch(&digest->handles[k]->replicates[node], 1);
}

struct orr_job *orr_prioq_pop_ready(struct orr_prioq *q, unsigned node)
{
    struct orr_prioq_level *level;
    const struct orr_prioq_digest *best;
    struct orr_job *job;

    if (orr_prioq_empty(q))
        return NULL;
    /* Only the last slot is looked at: the others hold worse priorities. */
    level = q->slots[q->nslots - 1].level;
    best = &level->digests[level->first];
    if (level->njobs > 1) {
        level_choose_node(level, node);
        best = find_readiest(level, node);
    }
    job = best->job;
    look_at_taken(best, node);
    take_at(q, q->nslots - 1, job,
            (unsigned)(best - &level->digests[level->first]));
    orr_ahead_task(job->task, job->plain);
    return job;
}

/* --- waking --- */

/* Of several callers one wakes the worker. The caller may be the worker itself, in its
 * last look before it sleeps, when it leaves something to workers that sleep: then it
 * looks once more. */
static bool sched_wake_worker(struct orr_worker *worker)
{
    if (!orr_worker_rouse(worker))
        return false;
    if (worker->context == orr_self)
        worker->again = true;
    else
        orr_worker_wake(worker);
    return true;
}

bool orr_sched_wake(struct orr_worker *worker)
{
    orr_sched_after_queueing(worker->runtime);
    return sched_wake_worker(worker);
}

/* A worker of a device waits for the device, not for the policy: it looks at
 * both, so that no push needs to wake it. It is parked meanwhile. Only workers
 * that sleep for want of a task are woken one at a time, and none of them if a
 * device has room for it. (Waking workers of devices like the others, the last of
 * all, gives eager and prio makespans 30 % above what StarPU predicts on machines
 * with GPUs; waking one of the others as well gives prio up to 22 % more and
 * heteroprio 15 % less.) */
static bool worker_watches_device(const struct orr_worker *worker)
{
    return worker->desc->async;
}

/* Whether one of the class can run the job now. */
static bool some_able(struct orr_runtime *rt, struct orr_job *job,
                      const struct orr_cost_row *row, unsigned class_id)
{
    const struct orr_worker_class *class = &rt->workers->classes[class_id];

    for (unsigned i = 0; i < class->nworkers; i++)
        if (orr_job_able(rt, job, row, class->members[i]))
            return true;
    return false;
}

/* A class all of whose workers are refused does not count as able, so that others do
 * not leave the job to it. If no worker is left one may come, or can_execute may answer
 * otherwise. */
void orr_sched_note_able(struct orr_runtime *rt, struct orr_job *job)
{
    const struct orr_cost_row *row = orr_job_row(rt, job);
    uint64_t able = 0, differ = 0;

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        bool uniform;

        if (orr_job_able_class(rt, job, row, k, &uniform))
            able |= UINT64_C(1) << k;
        else if (!uniform)
            differ |= UINT64_C(1) << k;
        if (!uniform && some_able(rt, job, row, k))
            able |= UINT64_C(1) << k;
    }
    if (!able && orr_members_all(&rt->workers->members[job->sched_ctx]))
        able = differ;
    job->able_classes = able;
    job->differ = differ != 0;
}

/* A disabled worker finds nothing; prio would wake it for a job that it cannot take
 * over and over. */
static bool worker_may_take(uint64_t able_classes,
                            const struct orr_worker *worker)
{
    return able_classes >> worker->class_id & 1 &&
           !(orr_some_disabled(worker->runtime) &&
             atomic_load_explicit(&worker->disabled, memory_order_relaxed));
}

/* Walks the workers that sleep, lowest number first, but those in `out`: `w` is
 * the next one. */
#define FOREACH_SLEEPER(rt, members, w)                                        \
    for (unsigned w##_word = 0; w##_word < ((rt)->workers->n + 63) / 64;       \
         w##_word++)                                                           \
        for (uint64_t w##_bits =                                               \
                 atomic_load(&(rt)->workers->asleep[w##_word]) &               \
                 ~orr_members_out((members), w##_word);                        \
             w##_bits; w##_bits &= w##_bits - 1)                               \
            for (struct orr_worker *w =                                        \
                     &(rt)->workers->at[64 * w##_word +                        \
                                        (unsigned)__builtin_ctzll(w##_bits)];  \
                 w; w = NULL)

void orr_sched_wake_able(struct orr_sched *sched, uint64_t able_classes,
                         bool differ)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_members *members = &rt->workers->members[sched->id];
    bool woken = false;

    orr_sched_after_queueing(rt);
    FOREACH_SLEEPER(rt, members, worker)
    {
        if (worker_watches_device(worker) &&
            worker_may_take(able_classes, worker))
            woken |= sched_wake_worker(worker) && !differ;
    }
    FOREACH_SLEEPER(rt, members, worker)
    {
        if (!woken && !worker_watches_device(worker) &&
            worker_may_take(able_classes, worker))
            woken = sched_wake_worker(worker) && !differ;
    }
}

void orr_sched_wake_sleepers(struct orr_sched *sched)
{
    struct orr_runtime *rt = sched->runtime;

    FOREACH_SLEEPER(rt, &rt->workers->members[sched->id], worker)
    {
        sched_wake_worker(worker);
    }
}

void orr_sched_wake_members(struct orr_sched *sched)
{
    orr_sched_after_queueing(sched->runtime);
    orr_sched_wake_sleepers(sched);
}

void orr_sched_wake_all(struct orr_runtime *rt)
{
    static const struct orr_members everybody;

    orr_sched_after_queueing(rt);
    FOREACH_SLEEPER(rt, &everybody, worker)
    {
        sched_wake_worker(worker);
    }
}

/* --- settings --- */

double orr_sched_weight(const struct orr_runtime *rt, enum orr_config_id id,
                        double otherwise)
{
    double value = orr_config_double(&rt->config, id);

    if (isfinite(value))
        return value;
    orr_log_warning("%s is no finite number: taken as %g", orr_config_name(id),
                    otherwise);
    return otherwise;
}

double orr_sched_idle_power(const struct orr_runtime *rt)
{
    double stated = orr_cost_idle_power(rt);

    return isfinite(stated) ? stated
                            : orr_sched_weight(rt, ORR_CFG_IDLE_POWER, 0);
}

void orr_sched_transfer_times(struct orr_runtime *rt, const struct orr_job *job,
                              uint64_t nodes, double *us)
{
    const double very_long = 1e15;

    orr_job_transfer_times(rt, job, nodes, us);
    for (; nodes; nodes &= nodes - 1) {
        double *one = &us[__builtin_ctzll(nodes)];

        *one = !(*one > 0) ? 0 : *one < very_long ? *one : very_long;
    }
}

double orr_sched_transfer_time(struct orr_runtime *rt,
                               const struct orr_job *job, unsigned node)
{
    double us[STARPU_MAXNODES];

    orr_sched_transfer_times(rt, job, UINT64_C(1) << node, us);
    return us[node];
}
