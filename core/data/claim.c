/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/claim.c - exclusion where the order of submission does not give
 * it. A job whose predecessors have ended claims its data before it is ready:
 * a handle is claimed by one writer, by any number of readers, or by any
 * number of contributions to a reduction; commuting writers are writers.
 *
 * Accesses that are ordered and do not commute exclude each other by their
 * order alone. So a job claims nothing unless one of its handles has had an
 * access that is not ordered, or commutes (`requires_claims`); if so it claims all of
 * them. When a handle first requires claims, jobs that passed without one and use it
 * are given theirs. Both sides write before they look: a job its claims.state, a
 * submission `requires_claims` of all data and of the handle; a job that is between
 * the two is waited for, which takes a few instructions.
 *
 * A job tries to claim all its data at once, with all these handles locked, in the
 * order of their numbers. If one is taken, it claims nothing and waits in that handle's
 * queue, by priority, then by the moment at which it first had to wait; when the handle
 * is given back it tries again. Of jobs that the same event leaves without predecessors
 * the most urgent one tries first. A job that was refused PATIENCE times, or passed so
 * often while it was the one that had waited there for the longest time, becomes a
 * keeper: it claims its handles one by one in the order of their numbers, keeps what it
 * has and waits where it must, in front of all jobs that are no keepers.
 *
 * Why this cannot deadlock: a job that holds claims is either ready, and then waits for
 * no other job's data, or a keeper, which waits for a handle with a higher number than
 * all that it holds. Along a chain of waiting keepers the numbers rise, so it ends at a
 * job that is ready. A job that still has predecessors holds nothing. Why no job
 * starves: none is let through while a more urgent one waits, so that readers that keep
 * coming do not hold up a writer; and each job comes to be the one that has waited for
 * the longest time, then a keeper, and as such is served first.
 *
 * A job that follows others in the queue of a device (core/sched/follow.h) passes before
 * its predecessors have ended, if none of its handles requires claims; it is given its
 * own beside theirs when one does.
 *
 * A job whose kernel has ended, and whose end waits for others, has given its claims
 * back: a job that is in no order may be what it waits for. A job that works on its
 * behalf (starpu_task_submit_nodeps) claims the data beside it, without waiting, and
 * ends by itself.
 *
 * A handle with contributions that were not combined yet is free for more of them only.
 * When it is another job's turn, it is claimed for their combination (combine.c), which
 * holds this handle alone, waits for no claim and ends by itself, like a ready job;
 * contributions that come meanwhile wait. The same is done for a reader that finds no
 * value where the init codelet could make one.
 *
 * The whole and its pieces, when data are partitioned, are never claimed at once: data
 * are cut when no job uses them any more, and tasks cannot name them until the last
 * user of a piece has ended. Where a plan cuts them (plan.c), they take turns by their
 * orders, which all jobs that use them enter: a switch, which goes together with no
 * other writer, stands between. So no claim says anything of a handle's parents.
 *
 * The context that gives a handle back serves the handle's queue until the handle is
 * taken or the queue empty. A job may join the queue of a free handle only while a
 * context serves it: no wake is lost.
 */
#include <string.h>

#include "core/data/handle.h"
#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/data/registry.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/follow.h"
#include "core/job/job.h"

enum { PATIENCE = 8 };

/* A handle whose partials are to be combined for a job of that priority; NULL: there is
 * none. */
struct combination {
    struct orr_handle *handle;
    int priority;
};

static enum orr_claim claim_of(const struct orr_access *access)
{
    if (access->mode & STARPU_REDUX)
        return ORR_CLAIM_REDUX;
    return access->mode & STARPU_W || access->mode & STARPU_COMMUTE
               ? ORR_CLAIM_EXCLUSIVE
               : ORR_CLAIM_SHARED;
}

/* Whether a combination has to come first: of contributions, or of none, so that
 * there is something to read. */
static bool awaits_sum_locked(const struct orr_handle *handle,
                              const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    if (!handle->reduction || access->mode & STARPU_REDUX)
        return false;
    return orr_handle_has_partials_locked(handle) ||
           (!access->optional &&
            orr_access_lacks_value_locked(handle, access->mode));
}

static bool is_free_locked(const struct orr_handle *handle,
                           const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    enum orr_claim claim = claim_of(access);

    if (awaits_sum_locked(handle, access))
        return false;
    return handle->claims.n == 0 ||
           (handle->claims.kind == claim && claim != ORR_CLAIM_EXCLUSIVE);
}

/* --- the queue of a handle --- */

static struct orr_job *claim_job(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_job, claim.link);
}

static bool is_keeper(const struct orr_job *job)
{
    return job->claims.refusals >= PATIENCE;
}

static bool claim_is_more_urgent(const struct orr_job *a,
                                 const struct orr_job *b)
{
    if (is_keeper(a) != is_keeper(b))
        return is_keeper(a);
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->claim.refused_at < b->claim.refused_at;
}

static bool claim_precedes(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return claim_is_more_urgent(claim_job(a), claim_job(b));
}

static void wait_here_locked(struct orr_handle *handle, struct orr_job *job,
                             struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    job->claim.refused_by = access;
    orr_list_append(&handle->claims.queue, &job->queue);
    orr_heap_insert(&handle->claims.urgent, &job->claim.link,
                    claim_precedes);
}

static struct orr_job *oldest_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    return orr_container(handle->claims.queue.next, struct orr_job, queue);
}

/* The job that is to be served next: the one that waits here for the longest time if it
 * has become a keeper, else the most urgent one. NULL if none waits. */
static struct orr_job *first_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    if (orr_list_empty(&handle->claims.queue))
        return NULL;
    if (is_keeper(oldest_locked(handle)))
        return oldest_locked(handle);
    return claim_job(handle->claims.urgent.first);
}

/* Another job gets the handle: that counts against the patience of the one that waits
 * for the longest time. */
static void pass_over_locked(struct orr_handle *handle,
                             const struct orr_job *taker)
    ORR_REQUIRES(handle->lock)
{
    struct orr_job *oldest;

    if (orr_list_empty(&handle->claims.queue))
        return;
    oldest = oldest_locked(handle);
    if (oldest != taker && !is_keeper(oldest))
        oldest->claims.refusals++;
}

static void take_locked(struct orr_handle *handle, struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    pass_over_locked(handle, access->job);
    handle->claims.kind = claim_of(access);
    handle->claims.n++;
    access->claimed = 1;
}

/* Whether a job that comes for the access now gets it: one that waits and is
 * more urgent goes first. */
static bool may_take_locked(const struct orr_handle *handle,
                            const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_job *first = first_locked(handle);

    return access->claimed ||
           (is_free_locked(handle, access) &&
            (!first || claim_is_more_urgent(access->job, first)));
}

/* --- contributions that have to be combined --- */

/* If the job that is to be served next waits for nothing but a combination, claims the
 * handle for that. The caller begins the combination when nothing is locked. */
static struct combination find_combination_locked(struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_job *first = first_locked(handle);

    if (!first || handle->claims.n > 0 ||
        !awaits_sum_locked(handle, first->claim.refused_by))
        return (struct combination){NULL, 0};
    /* Contributions, and what a switch moves, were noted when submitted; since then the
     * value that they make may have been invalidated. */
    if (!orr_job_is_switch(first) && !orr_handle_has_partials_locked(handle))
        orr_handle_note_beginning(handle);
    handle->claims.kind = ORR_CLAIM_EXCLUSIVE;
    handle->claims.n = 1;
    handle->nusers++;
    return (struct combination){handle, first->priority};
}

static void combination_begin(struct combination combination)
{
    if (combination.handle)
        orr_handle_combine(combination.handle, combination.priority);
}

/* --- claiming --- */

/* Scratch is private; what is lent was claimed by the job that lends it. */
static bool can_be_claimed(const struct orr_access *access)
{
    return !(access->mode & STARPU_SCRATCH) && !access->lent;
}

/* The first access of the chain that cannot be claimed, with the locks of the
 * handles up to its own held; NULL, with all of them held, if all can.
 * Unchecked, as is its caller: clang cannot follow a chain of locks. */
static struct orr_access *lock_all(struct orr_access *chain) ORR_UNCHECKED
{
    for (struct orr_access *a = chain; a; a = a->next) {
        if (a == chain)
            orr_lock(&a->handle->lock);
        else
            orr_lock_next(&a->handle->lock);
        if (can_be_claimed(a) && !may_take_locked(a->handle, a))
            return a;
    }
    return NULL;
}

static void pass(struct orr_job *job)
{
    atomic_store_explicit(&job->claims.state, ORR_CLAIM_PASSED,
                          memory_order_release);
}

/* The same of one that was a claimant: what it has of that has its end. */
static void pass_claimant(struct orr_job *job)
{
    memset(&job->claim, 0, sizeof(job->claim));
    pass(job);
}

/* Claims all data of the job, or nothing: then it waits, and may be ready and
 * gone already when this returns false. */
static bool claim_all(struct orr_job *job) ORR_UNCHECKED
{
    struct orr_access *chain = job->claim.all, *refuser, *next;
    struct combination combination = {NULL, 0};

    refuser = lock_all(chain);
    for (struct orr_access *a = chain; !refuser && a; a = a->next)
        if (can_be_claimed(a) && !a->claimed)
            take_locked(a->handle, a);
    if (refuser) {
        if (!is_keeper(job))
            job->claims.refusals++;
        wait_here_locked(refuser->handle, job, refuser);
        combination = find_combination_locked(refuser->handle);
    } else {
        pass_claimant(job);
    }
    /* Other contexts may serve the job as soon as the handle that refused it is
     * unlocked: that comes last, and from then on the job is theirs. */
    for (struct orr_access *a = chain; a != refuser; a = next) {
        next = a->next;
        orr_unlock(&a->handle->lock);
    }
    if (refuser)
        orr_unlock(&refuser->handle->lock);
    combination_begin(combination);
    return !refuser;
}

/* A keeper goes on claiming, one handle after the other. As above when this
 * returns false. */
static bool claim_on(struct orr_job *job, struct orr_access *from)
{
    for (struct orr_access *a = from; a; a = a->next) {
        struct orr_handle *handle = a->handle;
        struct combination combination = {NULL, 0};
        bool taken = true;

        if (!can_be_claimed(a) || a->claimed)
            continue;
        orr_lock(&handle->lock);
        if (may_take_locked(handle, a)) {
            take_locked(handle, a);
        } else {
            wait_here_locked(handle, job, a);
            combination = find_combination_locked(handle);
            taken = false;
        }
        orr_unlock(&handle->lock);
        combination_begin(combination);
        if (!taken)
            return false;
    }
    pass_claimant(job);
    return true;
}

static bool some_handle_requires_claims(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        if (can_be_claimed(&job->accesses[i]) &&
            atomic_load(&job->accesses[i].handle->turns.requires_claims))
            return true;
    return false;
}

bool orr_job_will_claim(const struct orr_job *job)
{
    return atomic_load_explicit(&job->claims.state, memory_order_relaxed) !=
               ORR_CLAIM_PASSED &&
           some_handle_requires_claims(job);
}

/* A submission that makes one of its handles require claims from now on finds that the
 * job has passed. */
void orr_job_pass(struct orr_job *job)
{
    if (atomic_load_explicit(&job->waiting, memory_order_relaxed) == 1)
        pass(job);
}

/* Whether the job may use its data; if not, it is a claimant now and orr_handle_serve
 * will return it. */
static bool decide_claims(struct orr_runtime *rt, struct orr_job *job)
{
    atomic_store(&job->claims.state, ORR_CLAIM_DECIDING);
    if (!atomic_load(&rt->data->requires_claims)) {
        pass(job);
        return true;
    }
    if (!some_handle_requires_claims(job)) {
        pass_claimant(job);
        return true;
    }
    atomic_store(&job->claims.state, ORR_CLAIM_CLAIMING);
    orr_job_set_state(job, ORR_JOB_CLAIMING);
    job->claim.refused_at = atomic_fetch_add_explicit(
        &rt->data->last_claim, 1, memory_order_relaxed);
    job->claim.all = orr_job_sort_accesses(job);
    return claim_all(job);
}

void orr_job_claim(struct orr_runtime *rt, struct orr_job *job)
{
    if (job->naccesses == 0 ||
        atomic_load_explicit(&job->claims.state, memory_order_relaxed) ==
            ORR_CLAIM_PASSED ||
        decide_claims(rt, job))
        job->type->ready(rt, job);
}

bool orr_access_try_claim_locked(struct orr_handle *handle,
                                 struct orr_access *access)
{
    if (atomic_load_explicit(&handle->turns.requires_claims,
                             memory_order_relaxed)) {
        if (!is_free_locked(handle, access) ||
            !orr_list_empty(&handle->claims.queue))
            return false;
        take_locked(handle, access);
    }
    pass(access->job);
    return true;
}

/* Claims the handle beside those that have it already, with which the job is ordered. */
static void take_beside_locked(struct orr_handle *handle,
                               struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    enum orr_claim claim = claim_of(access);

    if (handle->claims.n == 0)
        handle->claims.kind = claim;
    else if (handle->claims.kind != claim)
        handle->claims.kind = ORR_CLAIM_EXCLUSIVE;
    handle->claims.n++;
    access->claimed = 1;
}

void orr_access_join_claim_locked(struct orr_handle *handle,
                                  struct orr_access *access)
{
    orr_handle_require_claims_locked(handle);
    take_beside_locked(handle, access);
}

bool orr_job_pass_behind(struct orr_job *job)
{
    atomic_store(&job->claims.state, ORR_CLAIM_PASSED);
    if (!some_handle_requires_claims(job))
        return true;
    atomic_store(&job->claims.state, ORR_CLAIM_NONE);
    return false;
}

/* --- giving back --- */

/* Takes out of the handle's queue the job that may go on now; a keeper has the handle
 * then. NULL when none can go on. */
static struct orr_job *next_claimant(struct orr_handle *handle)
{
    struct combination combination = {NULL, 0};
    struct orr_job *job;

    orr_lock(&handle->lock);
    job = first_locked(handle);
    if (job && is_free_locked(handle, job->claim.refused_by)) {
        orr_list_remove(&job->queue);
        orr_heap_remove(&handle->claims.urgent, &job->claim.link,
                        claim_precedes);
        if (job->claims.is_keeper)
            take_locked(handle, job->claim.refused_by);
    } else {
        combination = find_combination_locked(handle);
        job = NULL;
    }
    orr_unlock(&handle->lock);
    combination_begin(combination);
    return job;
}

static bool claim_continue(struct orr_job *job)
{
    if (job->claims.is_keeper)
        return claim_on(job, job->claim.refused_by->next);
    if (!is_keeper(job))
        return claim_all(job);
    job->claims.is_keeper = 1;
    return claim_on(job, job->claim.all);
}

void orr_handle_serve(struct orr_handle *handle, struct orr_list *ready)
{
    struct orr_job *job;

    while ((job = next_claimant(handle)) != NULL)
        if (claim_continue(job))
            orr_list_append(ready, &job->queue);
}

bool orr_access_share_claim_locked(struct orr_handle *handle,
                                   struct orr_access *access)
{
    if (!access->claimed)
        return false;
    handle->claims.kind = ORR_CLAIM_SHARED;
    return !orr_list_empty(&handle->claims.queue);
}

/* --- the first access that is not ordered, or commutes --- */

/* Whether the job uses its data without having claimed them. */
static bool passed(const struct orr_job *job)
{
    unsigned char state;

    ORR_SPIN_WHILE((state = atomic_load(&job->claims.state)) ==
                   ORR_CLAIM_DECIDING);
    return state == ORR_CLAIM_PASSED;
}

void orr_handle_require_claims_locked(struct orr_handle *handle)
{
    if (atomic_load_explicit(&handle->turns.requires_claims,
                             memory_order_relaxed))
        return;
    atomic_store(&handle->runtime->data->requires_claims, true);
    atomic_store(&handle->turns.requires_claims, true);
    /* Those that follow others in a queue have not been granted their turn. */
    orr_turns_foreach (access, &handle->turns) {
        if (access->claimed || access->returned || !passed(access->job))
            continue;
        if (access->granted)
            take_locked(handle, access);
        else if (orr_job_follows(access->job))
            take_beside_locked(handle, access);
    }
}

bool orr_handle_is_claimed_locked(const struct orr_handle *handle,
                                  const struct orr_access *access)
{
    return !is_free_locked(handle, access);
}
