/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/lend.c - see lend.h. What a task has of a datum, for those inside of it,
 * is a scope (core/job/nest.h): an order of its own. An access from inside that
 * the task's own covers enters the scope instead of the handle's order, and claims
 * nothing: outside of the scope the task itself excludes others. It is granted when
 * it is next in the scope and the task waits.
 *
 * Before the task goes on it takes its data back: it acquires each that was used in its
 * turn, in its own mode, which waits for all that was submitted before, and lets it go,
 * until none is used any more; then nothing is granted. So no kernel runs beside the
 * one whose data it uses, and what the task finds does not depend on which was faster.
 * (It holds none of its data while it waits for another: jobs that come may use
 * several.) What was not granted before the task ends enters the handle's order where
 * it was submitted.
 *
 * An acquisition by the task itself is its way of taking the datum back.
 */
#include "core/data/lend.h"

#include "core/data/data.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/plan.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/nest.h"

/* --- the order of a scope --- */

/* In a scope commuting writers keep their order; a task that has acquired what it
 * writes itself reads beside no other job; and a task that takes the whole back waits
 * for switches, also for those of readers. */
static enum orr_access_group scope_group(const struct orr_scope *scope,
                                         const struct orr_access *access)
{
    if (orr_job_is_switch(access->job) ||
        (access->own && scope->mode & STARPU_W))
        return ORR_GROUP_ALONE;
    return orr_access_group(access) == ORR_GROUP_READ ? ORR_GROUP_READ
                                                      : ORR_GROUP_ALONE;
}

/* The scope's handle is locked, which callers know by other names. */
static void scope_note_granted(struct orr_scope *scope,
                               const struct orr_access *access) ORR_UNCHECKED
{
    if (access->own)
        return;
    scope->used = true;
    if (!scope->paused)
        orr_access_pause_write_locked(scope->handle, scope->access);
    scope->paused = true;
}

/* Whether the access is an acquisition or message by the task whose data the scope
 * lends. */
static bool is_own(const struct orr_scope *scope,
                   const struct orr_access *access)
{
    return ORR_JOB_HOLDS(access->job) &&
           orr_self->job == scope->access->job;
}

static struct orr_scope *find_scope(struct orr_handle *handle,
                                    const struct orr_access *access,
                                    uint16_t *ret_depth)
{
    const struct orr_job *job = access->job;

    if (!orr_job_is_switch(job))
        return orr_nest_enter(handle->runtime, orr_job_around(job), handle,
                              access->mode, ret_depth);
    return orr_job_own(job)->scope
               ? orr_nest_switch(handle->runtime, orr_job_around(job), handle,
                                 orr_job_own(job)->scope, ret_depth)
               : NULL;
}

static void scope_enter_locked(struct orr_scope *scope,
                               struct orr_access *access, uint16_t depth)
{
    access->scoped = depth;
    access->lent = 1;
    access->own = is_own(scope, access);
    scope->nown += access->own;
    if (orr_turns_enter(&scope->turns, access, scope_group(scope, access)))
        scope_note_granted(scope, access);
}

bool orr_lend_enter_locked(struct orr_handle *handle, struct orr_access *access,
                           bool *ret_waits)
{
    const struct orr_nest *around = orr_job_around(access->job);
    struct orr_scope *scope;
    uint16_t depth = 0;

    if (!around || !around->lends)
        return false;
    scope = find_scope(handle, access, &depth);
    if (!scope)
        return false;
    scope_enter_locked(scope, access, depth);
    *ret_waits = !access->granted;
    return true;
}

bool orr_lend_try_locked(struct orr_handle *handle, struct orr_access *access,
                         bool *ret_can)
{
    uint16_t depth = 0;
    struct orr_scope *scope = find_scope(handle, access, &depth);
    bool closed;

    if (!scope)
        return false;
    *ret_can = is_own(scope, access) && orr_turns_empty(&scope->turns);
    if (!*ret_can) {
        orr_nest_leave(handle->runtime, scope);
        return true;
    }
    /* The task itself need not wait until its scope is open, so it enters a closed one
     * too. */
    closed = scope->turns.closed;
    scope->turns.closed = false;
    scope_enter_locked(scope, access, depth);
    scope->turns.closed = closed;
    return true;
}

/* The accesses that are granted now, as a chain; also beside others: an access that has
 * come here out of a scope that is over waits among them. */
static struct orr_access *scope_grant_locked(struct orr_scope *scope)
{
    struct orr_access *chain = orr_turns_grant(&scope->turns);

    for (const struct orr_access *access = chain; access; access = access->next)
        scope_note_granted(scope, access);
    return chain;
}

struct orr_access *orr_lend_leave_locked(struct orr_handle *handle,
                                         struct orr_access *access)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_scope *scope =
        orr_nest_entered(rt, orr_job_around(access->job), handle,
                         access->scoped);
    struct orr_access *granted;

    orr_list_remove(&access->link);
    access->scoped = 0;
    scope->nown -= access->own;
    granted = scope_grant_locked(scope);
    orr_nest_leave(rt, scope);
    return granted;
}

/* --- the task ends --- */

static bool access_was_submitted_before(const struct orr_access *a,
                                        const struct orr_access *b)
{
    return a->job->id < b->job->id;
}

/* Out of a scope that is over: into the next one around it, or into the handle's
 * order. Returns false if it need not wait there. */
static bool move_locked(struct orr_handle *handle, struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    uint16_t depth = 0;
    struct orr_scope *outer = find_scope(handle, access, &depth);

    access->own = 0; /* it was that of the task which ends */
    if (outer) {
        orr_turns_insert(&outer->turns, access, scope_group(outer, access),
                         access_was_submitted_before);
        access->scoped = depth;
        return true;
    }
    access->scoped = access->lent = 0;
    if (!access->wants_order || access->mode & STARPU_COMMUTE)
        orr_handle_require_claims_locked(handle);
    if (!access->wants_order)
        return false;
    orr_turns_insert(&handle->turns, access, orr_access_group(access),
                     access_was_submitted_before);
    access->ordered = 1;
    return true;
}

struct orr_access *orr_lend_end_locked(struct orr_handle *handle,
                                       struct orr_access *access)
{
    struct orr_scope *scope =
        &orr_job_inner(access->job)->scopes[access->index];
    struct orr_access *free = NULL, **end = &free, *left;

    if (!scope->access)
        return NULL;
    scope->access = NULL;
    while ((left = orr_turns_first(&scope->turns)) != NULL) {
        orr_list_remove(&left->link);
        if (move_locked(handle, left))
            continue;
        *end = left;
        end = &left->next;
    }
    *end = NULL;
    return free;
}

const struct orr_job *orr_lend_find_user(struct orr_runtime *rt,
                                         const struct orr_job *job,
                                         struct orr_handle *handle)
{
    const struct orr_job *user = NULL;
    const struct orr_scope *scope;

    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].handle == handle)
            return job;
    orr_lock(&handle->lock);
    scope = orr_nest_scope(rt, orr_job_around(job), handle);
    if (scope)
        user = scope->access->job;
    orr_unlock(&handle->lock);
    return user;
}

/* --- the task waits, and goes on --- */

static void lend(struct orr_runtime *rt, struct orr_scope *scope)
{
    struct orr_access *granted, *next;

    orr_lock(&scope->handle->lock);
    scope->turns.closed = false;
    granted = scope_grant_locked(scope);
    orr_unlock(&scope->handle->lock);
    for (; granted; granted = next) {
        next = granted->next;
        orr_job_release(rt, granted->job);
    }
}

void orr_lend_begin(struct orr_runtime *rt, struct orr_nest *nest)
{
    for (unsigned i = 0; i < nest->nscopes; i++)
        if (nest->scopes[i].handle)
            lend(rt, &nest->scopes[i]);
}

/* Whether other jobs may have the datum, or their value of it is on another node; what
 * the task has acquired itself does not count. */
static bool is_away_locked(const struct orr_scope *scope)
{
    return scope->used && scope->nown == 0 &&
           atomic_load_explicit(&scope->npieces, memory_order_acquire) == 0;
}

static bool is_away(struct orr_scope *scope)
{
    bool away;

    orr_lock(&scope->handle->lock);
    away = is_away_locked(scope);
    orr_unlock(&scope->handle->lock);
    return away;
}

/* In its turn the task has the datum as it had it before. It lets the datum go at once:
 * jobs that come may need others, too. */
static void bring_back(struct orr_runtime *rt, struct orr_scope *scope)
{
    enum starpu_data_access_mode mode =
        scope->mode & STARPU_W ? STARPU_RW : STARPU_R;
    int node = scope->access->node;

    if (orr_data_bring(rt, ORR_ACQUIRE_OWN, scope->handle, node, mode) != 0)
        orr_runtime_fail(rt);
    orr_lock(&scope->handle->lock);
    scope->used = false;
    orr_unlock(&scope->handle->lock);
    orr_data_release(rt, scope->handle, node);
}

/* A datum that the task has acquired itself need not be taken back, unless others read
 * it, or parts of it, at the same time. */
static void look_at_own_locked(struct orr_runtime *rt, struct orr_scope *scope)
{
    uint64_t node = UINT64_C(1) << scope->access->node;

    if (scope->nown == 0 || !(scope->handle->valid & node) ||
        orr_inner_plans_used(rt, scope))
        return;
    orr_turns_foreach (access, &scope->turns)
        if (access->granted && !access->own)
            return;
    scope->used = false;
}

/* Nothing is granted any more, unless something was since. */
static bool try_close(struct orr_runtime *rt, struct orr_nest *nest)
{
    for (unsigned i = 0; i < nest->nscopes; i++) {
        struct orr_scope *scope = &nest->scopes[i];
        bool away;

        if (!scope->handle)
            continue;
        orr_lock(&scope->handle->lock);
        look_at_own_locked(rt, scope);
        away = is_away_locked(scope);
        scope->turns.closed = !away;
        orr_unlock(&scope->handle->lock);
        if (!away)
            continue;
        orr_lend_begin(rt, nest);
        return false;
    }
    return true;
}

static void resume_write(struct orr_runtime *rt, struct orr_scope *scope)
{
    bool paused;

    orr_lock(&scope->handle->lock);
    paused = scope->paused && !scope->used;
    scope->paused &= !paused;
    orr_unlock(&scope->handle->lock);
    if (paused)
        orr_access_resume_write(rt, scope->access);
}

void orr_lend_end(struct orr_runtime *rt, struct orr_nest *nest)
{
    nest->takes_back = true;
    do
        for (unsigned i = 0; i < nest->nscopes; i++)
            if (nest->scopes[i].handle && is_away(&nest->scopes[i]))
                bring_back(rt, &nest->scopes[i]);
    while (!try_close(rt, nest));
    nest->takes_back = false;
    for (unsigned i = 0; i < nest->nscopes; i++)
        if (nest->scopes[i].handle)
            resume_write(rt, &nest->scopes[i]);
}

static bool is_used(const struct orr_nest *nest)
{
    bool used = false;

    for (unsigned i = 0; i < nest->nscopes; i++)
        used |= nest->scopes[i].used;
    return used;
}

void orr_lend_finish(struct orr_runtime *rt, struct orr_nest *nest)
{
    if (nest->nscopes == 0)
        return;
    while (is_used(nest) || !orr_inner_plans_close(rt, nest)) {
        orr_inner_plans_end(rt, nest);
        orr_lend_begin(rt, nest);
        orr_lend_end(rt, nest);
    }
}

/* --- parts of what a task has --- */

static struct orr_scope *scope_of_own(const struct orr_job *task,
                                      const struct orr_handle *handle)
{
    struct orr_nest *nest = orr_job_inner(task);

    for (unsigned i = 0; nest && i < nest->nscopes; i++)
        if (nest->scopes[i].handle == handle)
            return &nest->scopes[i];
    return NULL;
}

void orr_lend_acquire(struct orr_job *acquisition)
{
    const struct orr_plan *plan =
        orr_handle_plan(acquisition->accesses[0].handle);
    struct orr_scope *scope = NULL;

    for (; orr_job_around(acquisition) && plan && !scope;
         plan = orr_handle_plan(plan->whole))
        scope = scope_of_own(orr_self->job, plan->whole);
    orr_job_own(acquisition)->scope = scope;
    if (scope)
        atomic_fetch_add(&scope->npieces, 1);
}

void orr_lend_release(const struct orr_job *acquisition)
{
    if (orr_job_own(acquisition)->scope)
        atomic_fetch_sub(&orr_job_own(acquisition)->scope->npieces, 1);
}
