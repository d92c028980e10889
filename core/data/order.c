/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/order.c - the accesses of a job enter the turns of its handles (turns.h) and
 * leave them. That only one commuting writer at a time has a handle is a matter of
 * claims (claim.c).
 *
 * All accesses of a job enter their lists while the locks of all its handles
 * are held, which are taken in the order of the handles' numbers: of two jobs
 * that several threads submit at once, one comes first on all handles that
 * both use, and none ever waits for the other both ways.
 */
#include "core/data/lend.h"
#include "core/data/node.h"
#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/data/registry.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/ahead.h"
#include "core/job/job.h"
#include "core/job/nest.h"
#include "core/job/tasks.h"
#include "core/remote_ops.h"

/* So many accesses are sorted by insertion. */
enum { FEW = 8 };

/* Of a job with many data these are in no cache: those of the access after the next
 * ones are asked for in time. */
enum { AHEAD = 4 };

/* --- chains of accesses, linked by `next` --- */

/* Scratch comes last: it has nothing to do with the handle's value. */
static bool by_handle(const struct orr_access *a, const struct orr_access *b)
{
    if (a->handle != b->handle)
        return a->handle->id < b->handle->id;
    if ((a->mode ^ b->mode) & STARPU_SCRATCH)
        return b->mode & STARPU_SCRATCH;
    return a->index < b->index;
}

static bool by_job(const struct orr_access *a, const struct orr_access *b)
{
    return a->job->id < b->job->id;
}

/* Merges two chains that are sorted; of equals those of `a` come first. */
static struct orr_access *access_chains_merge(
    struct orr_access *a, struct orr_access *b,
    bool (*before)(const struct orr_access *, const struct orr_access *))
{
    struct orr_access *first, **end = &first;

    while (a && b) {
        struct orr_access **least = before(b, a) ? &b : &a;

        *end = *least;
        end = &(*least)->next;
        *least = *end;
    }
    *end = a ? a : b;
    return first;
}

/* The job's accesses from `from` to `to` - 1 as a chain by handle. */
static struct orr_access *sorted(struct orr_job *job, unsigned from,
                                 unsigned to)
{
    unsigned middle = from + (to - from) / 2;

    if (from == to)
        return NULL;
    if (to - from == 1) {
        job->accesses[from].next = NULL;
        return &job->accesses[from];
    }
    return access_chains_merge(sorted(job, from, middle),
                               sorted(job, middle, to), by_handle);
}

/* Parts of data come in the order of their numbers: one look at each is less than a
 * sort, for which many are in no cache. */
static bool are_sorted(const struct orr_job *job)
{
    for (unsigned i = 1; i < job->naccesses; i++)
        if (by_handle(&job->accesses[i], &job->accesses[i - 1]))
            return false;
    return true;
}

static struct orr_access *linked(struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        job->accesses[i].next =
            i + 1 < job->naccesses ? &job->accesses[i + 1] : NULL;
    return job->accesses;
}

/* As the sort above, by insertion, which is faster for a few accesses. */
static struct orr_access *sorted_few(struct orr_job *job)
{
    struct orr_access *chain = NULL;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i], **link = &chain;

        while (*link && by_handle(*link, access))
            link = &(*link)->next;
        access->next = *link;
        *link = access;
    }
    return chain;
}

/* Of neighbouring accesses with the same handle only the first one stays, and stands
 * for all. */
static void join_equals(struct orr_access *chain)
{
    for (struct orr_access *first = chain; first && first->next;) {
        struct orr_access *next = first->next;

        if (next->handle != first->handle) {
            first = next;
            continue;
        }
        /* Sorted anew for its claims, the job has neighbours that look. */
        if (!next->duplicate) {
            if (!(next->mode & STARPU_SCRATCH))
                first->mode |= next->mode;
            next->duplicate = 1;
        }
        first->next = next->next;
    }
}

struct orr_access *orr_job_sort_accesses(struct orr_job *job)
{
    struct orr_access *chain = job->naccesses <= FEW ? sorted_few(job)
                               : are_sorted(job)
                                   ? linked(job)
                                   : sorted(job, 0, job->naccesses);

    join_equals(chain);
    return chain;
}

/* --- entering the order --- */

/* Returns whether the job has to wait for the access. */
static bool use_locked(struct orr_handle *handle, struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    bool waits = false;

    handle->nusers++;
    if (access->mode & STARPU_SCRATCH)
        return false;
    if (access->lent) {
        if (access->job->task)
            orr_access_join_claim_locked(handle, access);
        return false;
    }
    if (access->mode & (STARPU_W | STARPU_REDUX)) { /* the value will change */
        /* A switch between parts and whole moves a value, but makes none. */
        if (handle->reduction && !orr_job_is_switch(access->job))
            orr_handle_note_beginning(handle);
        if (handle->duplicate)
            orr_duplicate_part(handle);
    }
    if (orr_job_rare(access->job) &&
        orr_lend_enter_locked(handle, access, &waits))
        return waits;
    if (!access->wants_order || access->mode & (STARPU_COMMUTE | STARPU_REDUX))
        orr_handle_require_claims_locked(handle);
    if (!access->wants_order)
        return false;
    access->ordered = 1;
    return !orr_turns_enter(&handle->turns, access, orr_access_group(access));
}

/* No handle is locked. */
static void __attribute__((noinline, cold))
tell_remote(struct orr_runtime *rt, const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (access->handle->remote && !access->duplicate &&
            access->mode & (STARPU_W | STARPU_REDUX))
            rt->remote->writer_submitted(access->handle);
    }
}

/* Each handle is locked before the access enters it, none is unlocked before all
 * are entered. Unchecked: clang cannot follow a chain of locks. */
void orr_job_enter_orders(struct orr_runtime *rt, struct orr_job *job,
                          struct orr_access *chain) ORR_UNCHECKED
{
    bool claims = false;
    int waits = 0;

    if (atomic_load_explicit(&rt->tasks->has_nests, memory_order_relaxed))
        orr_job_number(rt, job);
    for (struct orr_access *a = chain; a; a = a->next) {
        struct orr_handle *handle = a->handle;

        if (a == chain)
            orr_lock(&handle->lock);
        else
            orr_lock_next(&handle->lock);
        waits += use_locked(handle, a);
        claims |= atomic_load_explicit(&handle->turns.requires_claims,
                                       memory_order_relaxed);
    }
    if (waits)
        orr_job_wait_more(job, waits);
    else if (!claims)
        orr_job_pass(job);
    ORR_TELL(rt, ORR_TOLD_TASK_ORDERED, .job = job);
    /* Once it is unlocked, the context that grants the access links it anew. */
    for (struct orr_access *a = chain, *next; a; a = next) {
        next = a->next;
        orr_unlock(&a->handle->lock);
    }
    if (__builtin_expect(rt->remote != NULL, 0))
        tell_remote(rt, job);
}

/* Whether all that use the handle in its order have tried to. */
static bool only_tried_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    orr_turns_foreach (access, &handle->turns)
        if (!access->tried)
            return false;
    return true;
}

bool orr_job_try_order(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_access *access = &job->accesses[0];
    struct orr_handle *handle = access->handle;
    bool can = false;

    if (orr_job_concerns_plans(job) &&
        orr_plans_prepare(rt, handle, access->mode))
        return false;
    access->tried = 1;
    orr_lock(&handle->lock);
    if (orr_job_around(job) && orr_lend_try_locked(handle, access, &can)) {
        handle->nusers += can;
        orr_unlock(&handle->lock);
        return can;
    }
    if (!access->wants_order || access->mode & STARPU_COMMUTE)
        orr_handle_require_claims_locked(handle);
    can = !orr_access_lacks_value_locked(handle, access->mode) &&
          (!access->wants_order ||
           (only_tried_locked(handle) &&
            orr_turns_would_grant(&handle->turns, orr_access_group(access))));
    can = can && orr_access_try_claim_locked(handle, access);
    if (can) {
        handle->nusers++;
        if (access->mode & STARPU_W && handle->duplicate)
            orr_duplicate_part(handle);
        access->ordered = access->wants_order;
        if (access->wants_order)
            (void)orr_turns_enter(&handle->turns, access,
                                  orr_access_group(access));
        ORR_TELL(rt, ORR_TOLD_TASK_ORDERED, .job = job);
    }
    orr_unlock(&handle->lock);
    if (can && rt->remote)
        tell_remote(rt, job);
    return can;
}

bool orr_handle_will_be_written_locked(const struct orr_handle *handle)
{
    orr_turns_foreach (access, &handle->turns)
        if (access->mode & (STARPU_W | STARPU_REDUX))
            return true;
    return orr_handle_has_partials_locked(handle);
}

/* --- leaving it --- */

/* Sorted chains that are to become one: at[k] is merged of 2^k, where bit k of n is
 * set, as in a binary counter. So a job with many data costs n log n, in whatever order
 * the jobs that wait for them have come. */
struct chains {
    struct orr_access *at[17];
    unsigned n;
};

/* Adds a chain; among equal accesses those of chains added before come first. */
static inline void chains_add(struct chains *chains, struct orr_access *chain)
{
    unsigned k = 0;

    for (; chains->n >> k & 1; k++)
        chain = access_chains_merge(chains->at[k], chain, by_job);
    chains->at[k] = chain;
    chains->n++;
}

static inline struct orr_access *chains_join(const struct chains *chains)
{
    struct orr_access *all = NULL;

    if (chains->n == 1)
        return chains->at[0];
    for (unsigned k = 0; chains->n >> k; k++)
        if (chains->n >> k & 1)
            all = access_chains_merge(chains->at[k], all, by_job);
    return all;
}

/* The jobs that may go on when the access has left; their tasks will be read. */
static inline struct orr_access *
order_grant_next_locked(struct orr_handle *handle) ORR_REQUIRES(handle->lock)
{
    struct orr_access *granted = orr_turns_grant_next(&handle->turns);

    for (const struct orr_access *a = granted; a; a = a->next)
        orr_ahead_task(a->job->task, a->job->plain);
    return granted;
}

void orr_job_look_behind(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *next =
            orr_handle_waits_behind(job->accesses[i].handle, &job->accesses[i]);

        if (next)
            orr_ahead_job_and_accesses(next->job);
    }
}

void orr_job_look_at_next(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *next =
            orr_handle_waits_behind(job->accesses[i].handle, &job->accesses[i]);

        if (!next ||
            atomic_load_explicit(&next->job->waiting, memory_order_relaxed) > 1)
            continue;
        orr_ahead_task(next->job->task, next->job->plain);
        for (unsigned k = 0; k < next->job->naccesses; k++)
            orr_ahead_handle(next->job->accesses[k].handle);
    }
}

/* All steps that need the handle's lock; `lends`: the job may have lent the datum.
 * Returns whether the handle is still to be served and left, without the lock. */
static bool order_leave(struct orr_access *access, bool lends,
                        struct chains *chains, struct orr_deferred *deferred)
{
    struct orr_handle *handle = access->handle;
    struct orr_access *granted = NULL, *free = NULL;
    bool more;

    orr_lock(&handle->lock);
    if (access->pinned | access->writes)
        orr_access_drop_locked(handle, access, deferred);
    if (lends)
        free = orr_lend_end_locked(handle, access);
    if (access->ordered) {
        orr_list_remove(&access->link);
        access->ordered = 0;
        orr_node_reorder(handle, ~UINT64_C(0), access);
        granted = order_grant_next_locked(handle);
    } else if (access->scoped) {
        granted = orr_lend_leave_locked(handle, access);
    } else if (lends) { /* of which some may have come there */
        granted = order_grant_next_locked(handle);
    }
    more = orr_access_give_back_locked(handle, access) ||
           (handle->nusers == 1 &&
            (handle->doomed || orr_waiters_first(&handle->idle_waiters)));
    if (!more)
        handle->nusers--;
    orr_unlock(&handle->lock);
    if (granted)
        chains_add(chains, granted);
    if (free)
        chains_add(chains, free);
    return more;
}

void orr_access_share(struct orr_access *access, struct orr_released *ret)
{
    struct orr_handle *handle = access->handle;
    bool shares = false;

    ret->granted = NULL;
    orr_list_init(&ret->claimed);
    orr_lock(&handle->lock);
    orr_access_end_write_locked(handle, access);
    access->mode = STARPU_R;
    if (access->ordered) {
        orr_node_reorder(handle, ~UINT64_C(0), access);
        ret->granted = orr_turns_share(&handle->turns, access);
    }
    shares = orr_access_share_claim_locked(handle, access);
    orr_unlock(&handle->lock);
    if (shares)
        orr_handle_serve(handle, &ret->claimed);
}

/* Private data have locks of their own; a partial of a reduction is complete before the
 * handle is given back. */
static void drop_private(struct orr_access *access,
                         struct orr_deferred *deferred)
{
    struct orr_handle *datum = orr_access_datum(access);

    if (!access->pinned || !access->elsewhere)
        return;
    orr_lock(&datum->lock);
    orr_access_drop_locked(datum, access, deferred);
    orr_unlock(&datum->lock);
}

/* As order_leave(), but the access stays where it is in the order. */
static bool order_give_back(struct orr_access *access, struct chains *chains,
                            struct orr_deferred *deferred)
{
    struct orr_handle *handle = access->handle;
    struct orr_access *free = NULL;
    bool more;

    orr_lock(&handle->lock);
    orr_access_drop_locked(handle, access, deferred);
    if (orr_job_inner(access->job))
        free = orr_lend_end_locked(handle, access);
    access->returned = 1;
    more = orr_access_give_back_locked(handle, access);
    orr_unlock(&handle->lock);
    if (free)
        chains_add(chains, free);
    return more;
}

void orr_job_give_back(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_deferred deferred = {0};
    struct orr_released released;
    struct orr_access *more = NULL;
    struct chains chains;

    chains.n = 0;
    orr_list_init(&released.claimed);
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        drop_private(access, &deferred);
        if (access->duplicate || !order_give_back(access, &chains, &deferred))
            continue;
        access->next = more;
        more = access;
    }
    if (orr_job_admitted(job))
        orr_admit_leave(rt, job, &deferred);
    orr_deferred_run(rt, &deferred);
    released.granted = chains_join(&chains);
    for (; more; more = more->next)
        orr_handle_serve(more->handle, &released.claimed);
    orr_jobs_release(rt, NULL, &released);
}

void orr_job_leave_order(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_released *ret)
{
    struct orr_deferred deferred = {0};
    struct orr_access *more = NULL, **end = &more;
    struct chains chains;
    bool lends = orr_job_inner(job) != NULL;

    chains.n = 0;
    orr_list_init(&ret->claimed);
    if (atomic_load_explicit(&rt->data->writes_through, memory_order_relaxed))
        orr_job_write_through(rt, job);
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        if (i + AHEAD < job->naccesses) {
            const struct orr_handle *later = job->accesses[i + AHEAD].handle;

            __builtin_prefetch(later);
            __builtin_prefetch(later->replicates);
        }
        drop_private(access, &deferred);
        if (access->duplicate ||
            !order_leave(access, lends, &chains, &deferred))
            continue;
        *end = access;
        end = &access->next;
    }
    *end = NULL;
    ret->granted = chains_join(&chains);
    if (orr_job_admitted(job))
        orr_admit_leave(rt, job, &deferred);
    orr_deferred_run(rt, &deferred);
    for (; more; more = more->next) {
        orr_handle_serve(more->handle, &ret->claimed);
        orr_handle_leave(more->handle);
    }
}
