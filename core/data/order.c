/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/order.c - sequential consistency per handle: a reader waits for
 * the last writer, a writer for all readers since, or for the last writer
 * when nobody read. Neighbours that commute, or contribute to a reduction, do not
 * wait for each other; that only one commuting writer at a time has the handle is
 * a matter of claims (claim.c).
 *
 * A handle's accesses stand in one list in the order of submission, from then
 * until their jobs end. Its first accesses that may go together (one writer,
 * or readers up to the next writer) are granted; an access that is not granted
 * holds its job back by one. When the last granted access leaves, the next
 * ones are granted. Nothing is allocated: the links are part of the jobs, so
 * that a submission that has begun cannot fail.
 *
 * All accesses of a job enter their lists while the locks of all its handles
 * are held, which are taken in the order of the handles' numbers: of two jobs
 * that several threads submit at once, one comes first on all handles that
 * both use, and none ever waits for the other both ways.
 */
#include "core/data/handle.h"
#include "core/data/reduction.h"
#include "core/observe/graph_record.h"
#include "core/runtime.h"
#include "core/task/job.h"

static struct orr_access *access_of(struct orr_list *link)
{
    return orr_container(link, struct orr_access, link);
}

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
static struct orr_access *merge(struct orr_access *a, struct orr_access *b,
                                bool (*before)(const struct orr_access *,
                                               const struct orr_access *))
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
    return merge(sorted(job, from, middle), sorted(job, middle, to), by_handle);
}

struct orr_access *orr_job_sort_accesses(struct orr_job *job)
{
    struct orr_access *chain = sorted(job, 0, job->naccesses);

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
    return chain;
}

/* --- entering the order --- */

/* Whether the order lets both be under way at once. */
static bool compatible(const struct orr_access *a, const struct orr_access *b)
{
    return orr_access_group(a) == orr_access_group(b) &&
           orr_access_group(a) != ORR_GROUP_ALONE;
}

/* Whether an access that comes last would be granted at once. If the last one
 * of the list is granted, so are all before it. */
static bool is_next_locked(const struct orr_handle *handle,
                           const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_access *last;

    if (orr_list_empty(&handle->order))
        return true;
    last = access_of(handle->order.prev);
    return last->granted && compatible(last, access);
}

static void enter_locked(struct orr_handle *handle, struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    access->granted = is_next_locked(handle, access);
    access->ordered = 1;
    orr_list_append(&handle->order, &access->link);
    if (!access->granted)
        atomic_fetch_add_explicit(&access->job->waiting, 1,
                                  memory_order_relaxed);
}

/* In the order of the buffers. All handles locked. */
static void record(struct orr_runtime *rt, const struct orr_job *job)
{
    struct orr_graph_record *graph = orr_runtime_graph(rt);

    for (unsigned i = 0; graph && i < job->naccesses; i++)
        if (job->accesses[i].ordered)
            orr_graph_record_access(graph, &job->accesses[i]);
}

/* Unchecked: clang cannot follow a chain of locks. */
void orr_job_order(struct orr_runtime *rt, struct orr_job *job,
                   struct orr_access *chain) ORR_UNCHECKED
{
    for (struct orr_access *a = chain; a; a = a->next) {
        if (a == chain)
            orr_lock(&a->handle->lock);
        else
            orr_lock_next(&a->handle->lock);
    }
    for (struct orr_access *a = chain; a; a = a->next) {
        a->handle->nusers++;
        if (a->mode & STARPU_SCRATCH || a->lent)
            continue;
        if (a->mode & (STARPU_W | STARPU_REDUX))
            orr_handle_note_beginning(a->handle);
        if (!a->wants_order || a->mode & (STARPU_COMMUTE | STARPU_REDUX))
            orr_handle_mix_locked(a->handle);
        if (a->wants_order)
            enter_locked(a->handle, a);
    }
    record(rt, job);
    /* Once it is unlocked, whoever grants the access links it anew. */
    for (struct orr_access *a = chain, *next; a; a = next) {
        next = a->next;
        orr_unlock(&a->handle->lock);
    }
}

/* Whether all that use the handle in its order have tried to. */
static bool only_tried_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    orr_list_foreach (link, &handle->order)
        if (!access_of(link)->tried)
            return false;
    return true;
}

/* Whether the access reads a value that the init codelet is still to make. */
static bool is_beginning_locked(const struct orr_handle *handle,
                                const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    return access->mode & STARPU_R && !handle->valid && handle->reduction &&
           handle->reduction->init;
}

bool orr_job_try_order(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_access *access = &job->accesses[0];
    struct orr_handle *handle = access->handle;
    bool can;

    access->tried = 1;
    orr_lock(&handle->lock);
    if (!access->wants_order || access->mode & STARPU_COMMUTE)
        orr_handle_mix_locked(handle);
    can = !is_beginning_locked(handle, access) &&
          (!access->wants_order ||
           (only_tried_locked(handle) && is_next_locked(handle, access)));
    can = can && orr_access_try_claim_locked(handle, access);
    if (can) {
        handle->nusers++;
        if (access->wants_order)
            enter_locked(handle, access);
        record(rt, job);
    }
    orr_unlock(&handle->lock);
    return can;
}

bool orr_handle_will_be_written_locked(const struct orr_handle *handle)
{
    orr_list_foreach (link, &handle->order)
        if (access_of(link)->mode & (STARPU_W | STARPU_REDUX))
            return true;
    return orr_handle_has_partials_locked(handle);
}

bool orr_handle_will_be_written(struct orr_handle *handle)
{
    bool result;

    orr_lock(&handle->lock);
    result = orr_handle_will_be_written_locked(handle);
    orr_unlock(&handle->lock);
    return result;
}

/* --- leaving it --- */

/* The accesses that are granted now that the head of the list has changed, as
 * a chain in their order. */
static struct orr_access *grant_locked(struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    struct orr_access *chain = NULL, **end = &chain, *first;

    if (orr_list_empty(&handle->order))
        return NULL;
    first = access_of(handle->order.next);
    if (first->granted)
        return NULL;
    orr_list_foreach (link, &handle->order) {
        struct orr_access *access = access_of(link);

        if (access != first && !compatible(first, access))
            break;
        access->granted = 1;
        *end = access;
        end = &access->next;
    }
    *end = NULL;
    return chain;
}

static void leave(struct orr_access *access, struct orr_released *released)
{
    struct orr_handle *handle = access->handle;
    struct orr_access *granted = NULL;
    bool serve;

    orr_lock(&handle->lock);
    if (access->ordered) {
        orr_list_remove(&access->link);
        access->ordered = 0;
        granted = grant_locked(handle);
    }
    serve = orr_access_give_back_locked(handle, access);
    orr_unlock(&handle->lock);
    released->granted = merge(released->granted, granted, by_job);
    if (serve)
        orr_handle_serve(handle, &released->claimed);
    orr_handle_leave(handle);
}

void orr_job_leave_order(struct orr_job *job, struct orr_released *ret)
{
    ret->granted = NULL;
    orr_list_init(&ret->claimed);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (!job->accesses[i].duplicate)
            leave(&job->accesses[i], ret);
}
