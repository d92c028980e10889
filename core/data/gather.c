/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/gather.c - one more step towards all data of a job on one node,
 * when nothing else goes on (relieve.c) and only copies fill most of all
 * memory. A value for which the node has room is brought to it; else a value
 * that the job does not use is put on another node that has room. If values
 * have to pass through main memory and that is full, a value of main memory is
 * put elsewhere first.
 *
 * Each step brings a value of the job, or puts another one out of its way, and no
 * step undoes one: what is brought has no copy elsewhere then, so that it is not among
 * those that leave (evict.c), and what is put away comes back for no job before this
 * one has run. So with the same job and node there are at most as many steps as there
 * are values in memory.
 */
#include "core/data/gather.h"

#include "core/base/bits.h"
#include "core/data/block.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"

/* --- guesses --- */

/* Whether a replicate in the block has a value that is nowhere else, or is used. */
static bool block_stays(const struct orr_block *block)
{
    bool found = block->pins > 0;

    orr_block_foreach(replicate, block)
    {
        found |= atomic_load(&replicate->handle->valid) == orr_bit(block->node);
    }
    return found;
}

size_t orr_gather_room(struct orr_node *node)
{
    size_t used = atomic_load(&node->used), loose = 0;

    if (node->capacity == 0)
        return SIZE_MAX;
    orr_lock(&node->lock);
    orr_list_foreach (link, &node->all) {
        const struct orr_block *block =
            orr_container(link, struct orr_block, present);

        loose += block_stays(block) ? 0 : block->size;
    }
    orr_unlock(&node->lock);
    used -= loose < used ? loose : used;
    return used < node->capacity ? node->capacity - used : 0;
}

static bool has_value(const struct orr_handle *handle, unsigned node)
{
    return atomic_load(&handle->valid) & orr_bit(node);
}

static bool is_private(const struct orr_access *access)
{
    return access->mode & (STARPU_SCRATCH | STARPU_REDUX);
}

size_t orr_gather_lacks(const struct orr_job *job, unsigned node)
{
    size_t lacks = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (!access->duplicate &&
            (is_private(access) || !has_value(access->handle, node)))
            lacks += access->handle->size;
    }
    return lacks;
}

/* Bytes that the job has there, in memory that others could get. */
static size_t has_loose_on(const struct orr_job *job, unsigned node)
{
    size_t has = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;

        if (!access->duplicate && has_value(handle, node) &&
            atomic_load(&handle->valid) != orr_bit(node))
            has += handle->size;
    }
    return has;
}

bool orr_gather_fits(const struct orr_job *job, unsigned node, size_t room)
{
    return orr_gather_lacks(job, node) + has_loose_on(job, node) <= room;
}

static bool uses(const struct orr_job *job, const struct orr_handle *handle)
{
    for (unsigned i = 0; job && i < job->naccesses; i++)
        if (job->accesses[i].handle == handle)
            return true;
    return false;
}

/* --- values that go --- */

/* The node with most room, except `but`, to which the value can be copied as it is;
 * ORR_NO_NODE: none has enough. */
static unsigned gather_find_room(struct orr_runtime *rt,
                                 const struct orr_replicate *replicate,
                                 const size_t *room, unsigned but)
{
    const struct orr_handle *handle = replicate->handle;
    unsigned best = ORR_NO_NODE;

    for (unsigned node = 0; node < handle->nnodes; node++)
        if (node != replicate->node && node != but &&
            handle->size <= room[node] && !handle->replicates[node].request &&
            orr_handle_reaches(handle, replicate->node, node) &&
            !orr_node_is_lost(rt, node) &&
            (best == ORR_NO_NODE || room[node] > room[best]))
            best = node;
    return best;
}

/* A block whose value, the only one, can go to another node, which *to becomes; its
 * handle is locked. NULL: there is none. What the job uses stays. Unchecked: clang
 * cannot know which handle that is. */
static struct orr_block *find_block(struct orr_node *node,
                                    const struct orr_job *job,
                                    const size_t *room, unsigned but,
                                    unsigned *ret_to) ORR_UNCHECKED
{
    struct orr_block *found = NULL;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->all) {
        struct orr_block *block =
            orr_container(link, struct orr_block, present);
        const struct orr_replicate *owner = block->owner;

        if (!owner || uses(job, owner->handle) || orr_block_is_shared(block) ||
            !orr_block_trylock(block))
            continue;
        *ret_to = ORR_NO_NODE;
        if (!owner->handle->dying &&
            atomic_load(&owner->handle->valid) == orr_bit(node->id) &&
            orr_request_uses(owner->handle, node->id) == 0)
            *ret_to = gather_find_room(node->runtime, owner, room, but);
        if (*ret_to != ORR_NO_NODE) {
            found = block;
            break;
        }
        orr_block_unlock(block);
    }
    orr_unlock(&node->lock);
    return found;
}

/* Starts to move the value to the node. Its handle is locked. Returns whether it is
 * moved; the caller frees *ret_dropped later. */
static bool gather_move_locked(struct orr_runtime *rt,
                               struct orr_handle *handle, unsigned node,
                               struct orr_deferred *deferred,
                               struct orr_request **ret_dropped)
    ORR_REQUIRES(handle->lock)
{
    struct orr_request *request;
    int rc;

    *ret_dropped = orr_requests_cancel_locked(handle, deferred);
    rc = orr_request_need(rt, handle, node, true, ORR_FETCH, NULL, deferred);
    request = rc == 0 ? handle->replicates[node].request : NULL;
    if (!request)
        return false;
    request->relieves = true;
    if (request->state == ORR_REQUEST_WAITING && handle->replicates[0].request)
        handle->replicates[0].request->relieves = true;
    return true;
}

bool orr_gather_send_away(struct orr_runtime *rt, unsigned from,
                          const struct orr_job *job, const size_t *room,
                          unsigned but) ORR_UNCHECKED
{
    struct orr_deferred deferred = {0};
    struct orr_request *dropped = NULL;
    struct orr_block *block;
    unsigned to;
    bool done = false;

    if (orr_deferred_prepare(rt, &deferred) != 0)
        return false;
    block = find_block(&rt->nodes->at[from], job, room, but, &to);
    if (block) {
        done = gather_move_locked(rt, block->owner->handle, to, &deferred,
                                  &dropped);
        orr_block_unlock(block);
    }
    orr_requests_free_dropped(rt, dropped);
    orr_deferred_run(rt, &deferred);
    return done;
}

/* --- values that come --- */

/* Evicts the copies on other nodes of values that are on the node, so that no copy for
 * another job makes these leave. */
static void keep_there(const struct orr_job *job, unsigned node)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_handle *handle = job->accesses[i].handle;

        if (is_private(&job->accesses[i]) || !has_value(handle, node))
            continue;
        for (unsigned n = 0; n < handle->nnodes; n++)
            if (n != node && has_value(handle, n))
                (void)orr_node_try_evict(handle, n);
    }
}

static bool reaches(const struct orr_handle *handle, unsigned node)
{
    for (uint64_t left = atomic_load(&handle->valid); left; left &= left - 1)
        if (orr_handle_reaches(handle, (unsigned)__builtin_ctzll(left), node))
            return true;
    return false;
}

static bool gather_fetch(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node)
{
    struct orr_deferred deferred = {0};
    struct orr_request *dropped;
    bool done;

    if (orr_deferred_prepare(rt, &deferred) != 0)
        return false;
    orr_lock(&handle->lock);
    done = gather_move_locked(rt, handle, node, &deferred, &dropped);
    orr_unlock(&handle->lock);
    orr_requests_free_dropped(rt, dropped);
    orr_deferred_run(rt, &deferred);
    return done;
}

/* The value comes to the node, which has room for it, or will be able to pass through
 * main memory. */
static bool gather_bring(struct orr_runtime *rt, const struct orr_job *job,
                         struct orr_handle *handle, unsigned node,
                         const size_t *room)
{
    if (reaches(handle, node) || room[0] >= handle->size)
        return gather_fetch(rt, handle, node);
    return orr_gather_send_away(rt, 0, job, room, node);
}

static bool is_missing(const struct orr_access *access, unsigned node)
{
    return !access->duplicate && !is_private(access) &&
           access->mode & STARPU_R && !has_value(access->handle, node) &&
           atomic_load(&access->handle->valid);
}

bool orr_gather_may_come(const struct orr_job *job, unsigned node,
                         const size_t *room)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (is_missing(access, node) && access->handle->size > room[0] &&
            !reaches(access->handle, node))
            return false;
    }
    return true;
}

bool orr_gather_step(struct orr_runtime *rt, const struct orr_job *job,
                     unsigned node, const size_t *room)
{
    size_t has = has_loose_on(job, node);
    size_t left = room[node] > has ? room[node] - has : 0;

    keep_there(job, node);
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (is_missing(access, node) && access->handle->size <= left &&
            gather_bring(rt, job, access->handle, node, room))
            return true;
    }
    return orr_gather_send_away(rt, node, job, room, ORR_NO_NODE) ||
           (node != 0 && orr_gather_send_away(rt, 0, job, room, node));
}
