/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/request.h - "this handle's value (or just memory) on that node".
 *
 *   WAITING -(hop before has ended)-> QUEUED -(progress worker)-> RUNNING -> gone
 *
 * A replicate has at most one request; what needs the same joins it. Made and changed
 * under the handle's lock; a request holds a reference on its destination and counts as
 * a user of the handle. On its source it holds one as well; a prefetch, which may be
 * queued for long, from when it runs on (with `lru` always): prefetches to full nodes
 * must not hold each other's sources. If its source is gone when it is to run, the
 * request is made anew for what still waits for it.
 */
#pragma once

#include "core/data/pending.h"

/* Brings the value to the replicate of `node` (reads), or gives it memory. A writer
 * also waits for a copy that is under way to its memory; a copy that has not started is
 * not made any more if the writer does not read it. Handle locked. Returns 1 when the
 * replicate has it, 0 when `access` (if not NULL) will be told by orr_job_arrive,
 * -ENODATA when there is no value, -EAGAIN when nothing was done for want of spare
 * requests: unlock, call orr_deferred_more, call this once more. Never allocates or
 * wakes a context itself. */
int orr_request_make(struct orr_runtime *rt, struct orr_handle *handle,
                     unsigned node, bool reads, enum orr_fetch_level level,
                     struct orr_access *access, struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* Whether the replicate has the value, or, if that is not read, memory. */
static inline bool orr_replicate_has(const struct orr_replicate *replicate,
                                     bool reads)
{
    return reads ? replicate->handle->valid >> replicate->node & 1
                 : replicate->allocated;
}

static inline int
orr_request_need(struct orr_runtime *rt, struct orr_handle *handle,
                 unsigned node, bool reads, enum orr_fetch_level level,
                 struct orr_access *access, struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_replicate *replicate = &handle->replicates[node];

    if (!orr_replicate_has(replicate, reads) ||
        (access && access->mode & STARPU_W && replicate->request))
        return orr_request_make(rt, handle, node, reads, level, access,
                                deferred);
    orr_node_touch(handle, node);
    return 1;
}

/* Whether the value can be copied from one node to the other in one step. */
bool orr_handle_reaches(const struct orr_handle *handle, unsigned src,
                        unsigned dst);

/* A transfer needs two requests where there is no direct way; the end of a request may
 * need these two, one for the hops behind it, and one more. */
enum { ORR_SPARES_PER_NEED = 2, ORR_SPARES = 4 };

/* The access, which has pinned the request's target, is told when the request has
 * ended; a copy that has not started is not made any more if nothing else wants it. The
 * request becomes as urgent as those that jobs wait for. */
void orr_request_await_locked(struct orr_handle *handle,
                              struct orr_request *request,
                              struct orr_access *access,
                              struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* Fetches spare requests, enough for any one call of orr_request_need, or until
 * there are n. No lock held. Errors: -ENOMEM. */
int orr_deferred_prepare(struct orr_runtime *rt, struct orr_deferred *deferred);
int orr_deferred_prepare_n(struct orr_runtime *rt,
                           struct orr_deferred *deferred, unsigned n);

/* Fetches one more: mostly one is enough. */
static inline int orr_deferred_more(struct orr_runtime *rt,
                                    struct orr_deferred *deferred)
{
    return orr_deferred_prepare_n(rt, deferred, deferred->nspare + 1);
}

/* Marks that the request, which is queued or runs, holds its source and can go on as
 * far as memory is concerned, so that its end may free memory; or that it cannot. */
void orr_request_leaves(struct orr_handle *handle, struct orr_request *request)
    ORR_REQUIRES(handle->lock);
void orr_request_stays(struct orr_handle *handle, struct orr_request *request,
                       struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* The request holds its source from now on, if that is there and requests of the level
 * hold theirs. */
void orr_request_pin_source(struct orr_handle *handle,
                            struct orr_request *request,
                            enum orr_fetch_level level)
    ORR_REQUIRES(handle->lock);

/* Performs the requests of deferred->now: memory that is given at once. No
 * lock held. */
void orr_requests_now(struct orr_runtime *rt, struct orr_deferred *deferred);

/* The request has brought what it was to bring, or that is of no use any more: what
 * waits for it is told, or waits for another one. Frees it. No lock held. */
void orr_request_finish(struct orr_request *request,
                        struct orr_deferred *deferred);

/* Drops requests that nothing needs. A context waits until the handle is not used, or
 * the handle is to be freed then: if only transfers use it that wait for memory, and
 * for no job, these are dropped. Or the value is on another node now: write-backs that
 * wait for memory are dropped. Returns them, for orr_requests_free_dropped; NULL:
 * none. */
struct orr_request *orr_requests_cancel_locked(struct orr_handle *handle,
                                               struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* The access does not wait any more; *ret_left says whether it did. What nothing else
 * needs and has not begun is dropped, and returned as by orr_requests_cancel_locked. */
struct orr_request *orr_request_leave_locked(struct orr_handle *handle,
                                             struct orr_access *access,
                                             bool *ret_left,
                                             struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* Frees the requests, a chain by next_hop, which use their handle no more. NULL
 * is allowed. No lock held. */
void orr_requests_free_dropped(struct orr_runtime *rt,
                               struct orr_request *request);

/* How many references on the replicate are left without those of requests that are to
 * copy it and have not started, or to move it: these requests can give theirs up. */
unsigned orr_request_uses(const struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* Detaches the request from its handle; the caller tells the waiters after
 * unlocking and frees it. */
void orr_request_detach_locked(struct orr_handle *handle,
                               struct orr_request *request,
                               struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* Says why the access cannot have its data, and ends the run: -ENODATA, -ENODEV
 * (they were on a device that is lost), -EIO (they cannot be brought to the node),
 * or -ENOMEM. No lock held. */
_Noreturn void orr_access_fail(struct orr_runtime *rt,
                               const struct orr_access *access, int err);

/* Stops the program if the request, which stands, is not as it must be. Its
 * handle is locked. */
void orr_request_check(const struct orr_request *request);
