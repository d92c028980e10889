/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/relieve.c - a run that stands still for want of memory. Where main
 * memory is limited, no disk takes anything, and only copies fill all of it, jobs
 * on several devices may each wait for what another one has. None of them holds
 * anything (admit.c): one whose data are all on another node is taken from its
 * worker. Else a value that is in the way goes to a node that has room, which
 * victims never do otherwise (evict.c). Else a job goes where there is room for what
 * it lacks. The policy pushes a job that was taken away again, and no worker but
 * those of that node can have it.
 *
 * What is looked at may change only by threads that the library does not know: it
 * is good for a guess. Others may take the memory before the job is there; then it
 * waits as it did before, and may be moved again. While no task ends there are only so
 * many moves: so this ends, with the message of holders.c, where prefetches take the
 * room again and again.
 */
#include "core/base/log.h"
#include "core/data/block.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/request.h"
#include "core/runtime.h"
#include "core/task/count.h"
#include "core/task/job.h"

/* Where a job that waits could go. */
struct move {
    struct orr_job *job; /* NULL: there is none */
    unsigned from, to;
    size_t lacks; /* bytes that it had to get there */
};

/* Whether somebody has a value there that is nowhere else, or uses it. */
static bool stays(const struct orr_block *block, unsigned node)
{
    bool found = block->pins > 0;

    orr_block_foreach(replicate, block)
    {
        found |= atomic_load(&replicate->handle->valid) == UINT64_C(1) << node;
    }
    return found;
}

/* Bytes of blocks that can leave the node as they are: values that are elsewhere, and
 * old ones. */
static size_t loose_on(struct orr_node *node)
{
    size_t loose = 0;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->all) {
        const struct orr_block *block =
            orr_container(link, struct orr_block, present);

        loose += stays(block, node->id) ? 0 : block->size;
    }
    orr_unlock(&node->lock);
    return loose;
}

/* Bytes of the node that a job could have. */
static size_t room_on(struct orr_node *node)
{
    size_t used = atomic_load(&node->used), loose;

    if (node->capacity == 0)
        return SIZE_MAX;
    loose = loose_on(node) + atomic_load(&node->cache.bytes);
    used -= loose < used ? loose : used;
    return used < node->capacity ? node->capacity - used : 0;
}

static bool has_value(const struct orr_handle *handle, unsigned node)
{
    return atomic_load(&handle->valid) >> node & 1;
}

/* Bytes that the job would need on the node for what has no value there. Those that
 * old values have are among what can leave. */
static size_t lacks_on(const struct orr_job *job, unsigned node)
{
    size_t lacks = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        bool is_private = access->mode & (STARPU_SCRATCH | STARPU_REDUX);

        if (!access->duplicate &&
            (is_private || !has_value(access->handle, node)))
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
            atomic_load(&handle->valid) != UINT64_C(1) << node)
            has += handle->size;
    }
    return has;
}

/* Who has all its data there runs; of the others, those who were moved least may. */
static bool is_better(const struct move *a, const struct move *b)
{
    if (!b->job || !a->lacks != !b->lacks)
        return !b->job || a->lacks == 0;
    if (a->job->nmoves != b->job->nmoves)
        return a->job->nmoves < b->job->nmoves;
    if (a->lacks != b->lacks)
        return a->lacks < b->lacks;
    return a->job->priority > b->job->priority ||
           (a->job->priority == b->job->priority && a->job->id < b->job->id);
}

/* Whether the job, which waits, could be given to another worker at all. */
static bool may_move(const struct orr_job *job)
{
    return job->task && job->type->may_avoid && !job->gang && !job->spread &&
           job->worker >= 0;
}

/* Whether there were not too many moves yet since a task has ended: each job that
 * waits, and a value for it, could have gone to each node. */
static bool may_go_on(struct orr_runtime *rt, unsigned njobs)
{
    unsigned long left = orr_count_unfinished(rt);

    if (left != rt->relief.left)
        rt->relief.nmoves = 0;
    rt->relief.left = left;
    return rt->relief.nmoves++ < 2 * (njobs + 1) * rt->nnodes;
}

static bool fits(const struct orr_job *job, unsigned node, const size_t *room)
{
    return lacks_on(job, node) + has_loose_on(job, node) <= room[node];
}

static void look_at(struct orr_runtime *rt, struct orr_job *job, unsigned from,
                    const size_t *room, struct move *best)
{
    for (unsigned node = 0; node < rt->nnodes; node++) {
        struct move move = {job, from, node, lacks_on(job, node)};

        if (node != from && fits(job, node, room) && is_better(&move, best) &&
            job->type->may_avoid(rt, job, ~(UINT64_C(1) << node)))
            *best = move;
    }
}

static void say(struct orr_runtime *rt, const struct move *move)
{
    if (rt->relief.said)
        return;
    rt->relief.said = true;
    orr_log_warning("memory is full of values that have no other place: task "
                    "`%s' (number %llu) goes from %s to the workers of %s, "
                    "and others may follow. Raise the limits of memory, or "
                    "register a disk (STARPU_DISK_SWAP)",
                    orr_job_name(move->job), (unsigned long long)move->job->id,
                    rt->workers[move->job->worker].desc->name,
                    rt->machine->nodes[move->to].name);
}

static void carry_out(struct orr_runtime *rt, const struct move *move)
{
    struct orr_job *job = move->job;

    say(rt, move);
    job->nmoves++;
    orr_job_avoid(rt, job, ~(UINT64_C(1) << move->to));
    orr_admit_turn_away(rt, job, move->from);
}

/* --- values --- */

static bool uses(const struct orr_job *job, const struct orr_handle *handle)
{
    for (unsigned i = 0; job && i < job->naccesses; i++)
        if (job->accesses[i].handle == handle)
            return true;
    return false;
}

/* Whether it is used there by nobody but a write-back that finds no memory. */
static bool is_unused(const struct orr_replicate *replicate) ORR_UNCHECKED
{
    const struct orr_handle *handle = replicate->handle;
    unsigned refs = replicate->refs;

    for (uint64_t left = handle->loading; left; left &= left - 1) {
        const struct orr_request *request =
            handle->replicates[__builtin_ctzll(left)].request;

        refs -= request && request->src == replicate->node && request->pinned &&
                request->starves && request->moves;
    }
    return refs == 0;
}

/* Another node to which the value can be copied as it is, and where nobody waits for
 * the room; ORR_NO_NODE: none. */
static unsigned find_room(struct orr_runtime *rt,
                          const struct orr_replicate *replicate,
                          const size_t *room)
{
    const struct orr_handle *handle = replicate->handle;
    unsigned best = ORR_NO_NODE;

    for (unsigned node = 0; node < handle->nnodes; node++)
        if (node != replicate->node && handle->size <= room[node] &&
            !handle->replicates[node].request &&
            !atomic_load(&rt->nodes[node].admission.nwaiting) &&
            orr_handle_reaches(handle, replicate->node, node) &&
            !orr_node_is_lost(rt, node) &&
            (best == ORR_NO_NODE || room[node] > room[best]))
            best = node;
    return best;
}

/* The block of which the only value can go elsewhere, with where, and its handle
 * locked; NULL: there is none. What the job uses stays. Unchecked: clang cannot know
 * which handle that is. */
static struct orr_block *find_block(struct orr_node *node,
                                    const struct orr_job *job,
                                    const size_t *room,
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
        if (atomic_load(&owner->handle->valid) == UINT64_C(1) << node->id &&
            is_unused(owner))
            *ret_to = find_room(node->runtime, owner, room);
        if (*ret_to != ORR_NO_NODE) {
            found = block;
            break;
        }
        orr_block_unlock(block);
    }
    orr_unlock(&node->lock);
    return found;
}

static bool send_any(struct orr_runtime *rt, struct orr_node *node,
                     const size_t *room,
                     struct orr_deferred *deferred) ORR_UNCHECKED
{
    unsigned to;
    struct orr_block *block =
        find_block(node, orr_admit_first(rt, node->id), room, &to);

    if (!block)
        return false;
    (void)orr_request_need(rt, block->owner->handle, to, true, ORR_FETCH, NULL,
                           deferred);
    orr_block_unlock(block);
    return true;
}

/* Whether jobs, or copies for jobs, wait for memory of the node. */
static bool is_short(struct orr_node *node)
{
    return node->capacity && (atomic_load(&node->admission.nwaiting) ||
                              atomic_load(&node->short_of_memory[ORR_NEEDED]));
}

/* A value leaves a node for which somebody waits, for one that has room. Returns
 * whether one does. */
static bool send_value(struct orr_runtime *rt, const size_t *room)
{
    struct orr_deferred deferred = {0};
    bool done = false;

    if (orr_deferred_prepare_n(rt, &deferred, ORR_SPARES) != 0)
        return false;
    for (unsigned id = 0; id < rt->nnodes && !done; id++)
        done = is_short(&rt->nodes[id]) &&
               send_any(rt, &rt->nodes[id], room, &deferred);
    orr_deferred_run(rt, &deferred);
    return done;
}

/* --- all --- */

/* What was found among jobs that wait. */
struct look {
    struct move best;
    uint64_t closed; /* nodes, bits, where jobs wait */
    uint64_t roomy;  /* those of which a job could have what it lacks */
    unsigned njobs;
};

static struct look look_for_move(struct orr_runtime *rt, const size_t *room)
{
    struct look look = {0};

    for (unsigned node = 0; node < rt->nnodes; node++) {
        if (!orr_admit_close(rt, node))
            continue;
        look.closed |= UINT64_C(1) << node;
        for (struct orr_job *job = orr_admit_next(rt, node, NULL); job;
             job = orr_admit_next(rt, node, job)) {
            look.njobs++;
            if (fits(job, node, room))
                look.roomy |= UINT64_C(1) << node;
            if (!may_move(job))
                continue;
            if (job->nmoves > 0)
                orr_job_avoid(rt, job, 0); /* it may come back */
            look_at(rt, job, node, room, &look.best);
        }
    }
    return look;
}

/* Jobs look for memory once more that could have it: they may have passed over what
 * was in use just then. */
static bool retry(struct orr_runtime *rt, uint64_t nodes)
{
    for (uint64_t left = nodes; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);

        orr_node_changed_for_jobs(&rt->nodes[node]);
        orr_admit_retry(rt, node);
    }
    return nodes != 0;
}

/* What disturbs least comes first; what was tried in vain comes last. */
static bool do_something(struct orr_runtime *rt, const struct look *look,
                         const size_t *room)
{
    const struct move *move = &look->best;
    bool first = rt->relief.nmoves == 1;

    if (first && retry(rt, look->roomy))
        return true;
    if (move->job && move->lacks == 0) {
        carry_out(rt, move);
        return true;
    }
    if (send_value(rt, room))
        return true;
    if (move->job)
        carry_out(rt, move);
    return move->job || (!first && retry(rt, look->roomy));
}

bool orr_memory_relieve(struct orr_runtime *rt)
{
    size_t room[STARPU_MAXNODES];
    struct look look;
    bool any = false, done;

    for (unsigned node = 0; node < rt->nnodes; node++)
        any |= is_short(&rt->nodes[node]);
    if (!any)
        return false;
    for (unsigned node = 0; node < rt->nnodes; node++)
        room[node] = room_on(&rt->nodes[node]);
    look = look_for_move(rt, room);
    done = may_go_on(rt, look.njobs) && do_something(rt, &look, room);
    for (; look.closed; look.closed &= look.closed - 1)
        orr_admit_reopen(rt, (unsigned)__builtin_ctzll(look.closed));
    return done;
}
