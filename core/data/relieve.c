/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/relieve.c - a run that stands still for want of memory. Where main
 * memory is limited, no disk takes anything, and only copies fill all of it, jobs
 * on several devices may each wait for what another one has. Some may have been
 * admitted, and hold memory for values that cannot pass through main memory: these give
 * it back, and their workers put them aside and take others. Then none of them holds
 * anything (admit.c): one whose data are all on another node is taken from its
 * worker. Else one job is helped until it runs: what it lacks comes to a node that
 * could have all its data, and what is in the way there goes to one that has room,
 * which victims never do otherwise (gather.c). Else a value leaves any node that is
 * short of memory, or a job goes where there is room for what it lacks. Jobs that would
 * fill memory come after the others, one by one. The policy
 * pushes a job that was taken away again, and no worker but those of that node can
 * have it. Before all that reductions are combined whose parts take such memory, which
 * jobs that wait may have passed over while the datum was locked.
 *
 * Meanwhile prefetches get no memory, what leaves is elsewhere too or old (evict.c),
 * and write-backs that would only make room are dropped (progress.c): each of them
 * would take the room that was just made.
 *
 * What is looked at can be changed only by threads that the library does not know, and
 * is used for guesses only. Other jobs may take the memory before the job is there;
 * then it waits as it did before, and may be moved once more. While no task ends there
 * are only so many moves, and giving back is one: so this ends, with the message of holders.c, where there is
 * too little room to bring two values together (with one place left on devices that
 * reach each other through main memory only, say).
 */
#include "core/base/log.h"
#include "core/data/gather.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/reduction.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/worker/workers.h"

/* Where a job that waits could go. */
struct move {
    struct orr_job *job; /* NULL: there is none */
    unsigned from, to;
    size_t lacks; /* bytes that it had to get there */
};

static unsigned count_moves(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->nmoves : 0;
}

/* A job that has all its data there runs; of the others, those that were moved least
 * may. */
static bool is_better(const struct move *a, const struct move *b)
{
    if (!b->job || !a->lacks != !b->lacks)
        return !b->job || a->lacks == 0;
    if (count_moves(a->job) != count_moves(b->job))
        return count_moves(a->job) < count_moves(b->job);
    if (a->lacks != b->lacks)
        return a->lacks < b->lacks;
    return a->job->priority > b->job->priority ||
           (a->job->priority == b->job->priority && a->job->id < b->job->id);
}

/* Whether the job, which waits, could be given to another worker at all. */
static bool may_move(const struct orr_job *job)
{
    return job->task && job->type->may_avoid && !orr_job_gang(job) &&
           !job->data.spread && job->worker >= 0;
}

/* Values in memory. */
static unsigned count_blocks(struct orr_runtime *rt)
{
    unsigned n = 0;

    for (unsigned id = 0; id < rt->nodes->n; id++) {
        struct orr_node *node = &rt->nodes->at[id];

        orr_lock(&node->lock);
        orr_list_foreach (link, &node->all)
            n++;
        orr_unlock(&node->lock);
    }
    return n;
}

/* Whether there were not too many moves since a task has ended: at most as many as if
 * each job that waits, and one value for it, went to each node, and each value moved
 * once. */
static bool may_go_on(struct orr_runtime *rt, unsigned njobs)
{
    unsigned long left = orr_count_unfinished(rt);

    if (left != atomic_load(&rt->nodes->relief.left))
        rt->nodes->relief.nmoves = 0;
    atomic_store(&rt->nodes->relief.left, left);
    return rt->nodes->relief.nmoves++ <
           2 * (njobs + 1) * rt->nodes->n + count_blocks(rt);
}

static bool may_go_to(struct orr_runtime *rt, struct orr_job *job,
                      unsigned node)
{
    return job->type->may_avoid(rt, job, ~(UINT64_C(1) << node));
}

static void look_at(struct orr_runtime *rt, struct orr_job *job, unsigned from,
                    const size_t *room, struct move *best)
{
    for (unsigned node = 0; node < rt->nodes->n; node++) {
        struct move move = {job, from, node, orr_gather_lacks(job, node)};

        if (node != from && orr_gather_fits(job, node, room[node]) &&
            is_better(&move, best) && may_go_to(rt, job, node))
            *best = move;
    }
}

static void relief_say(struct orr_runtime *rt, const struct move *move)
{
    if (rt->nodes->relief.said)
        return;
    rt->nodes->relief.said = true;
    orr_log_warning("memory is full of values that have no other place: task "
                    "`%s' (number %llu) goes from %s to the workers of %s, "
                    "and others may follow. Raise the limits of memory, or "
                    "register a disk (STARPU_DISK_SWAP)",
                    orr_job_name(move->job), (unsigned long long)move->job->id,
                    rt->workers->at[move->job->worker].desc->name,
                    rt->machine->nodes[move->to].name);
}

static void carry_out(struct orr_runtime *rt, const struct move *move)
{
    struct orr_job *job = move->job;

    relief_say(rt, move);
    orr_job_avoid(rt, job, ~(UINT64_C(1) << move->to));
    orr_job_rare(job)->nmoves++;
    orr_admit_turn_away(rt, job, move->from);
}

/* What was found among jobs that wait. */
struct look {
    struct move best;
    uint64_t closed; /* nodes, bits, where jobs wait */
    uint64_t roomy;  /* those of which a job could have what it lacks */
    unsigned njobs;
};

/* Jobs look for memory once more: they may have passed over blocks that were in use
 * just then. */
static bool retry(struct orr_runtime *rt, uint64_t nodes)
{
    for (uint64_t left = nodes; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);

        orr_node_changed_for_jobs(&rt->nodes->at[node]);
        orr_admit_retry(rt, node);
    }
    return nodes != 0;
}

/* --- values --- */

/* Whether jobs, or copies for jobs, wait for memory of the node. */
static bool is_short(struct orr_node *node)
{
    return node->capacity && (atomic_load(&node->admission.nwaiting) ||
                              atomic_load(&node->short_of_memory[ORR_NEEDED]));
}

/* A value leaves a node whose memory is waited for, for one that has room. Returns
 * whether one does. */
static bool send_value(struct orr_runtime *rt, const size_t *room)
{
    bool done = false;

    for (unsigned id = 0; id < rt->nodes->n && !done; id++)
        done = is_short(&rt->nodes->at[id]) &&
               orr_gather_send_away(rt, id, orr_admit_first(rt, id), room,
                                    ORR_NO_NODE);
    return done;
}

/* Partials leave that were passed over because their handles were in use just then.
 * Returns whether any do. */
static bool combine_where_short(struct orr_runtime *rt)
{
    bool any = false;

    for (unsigned id = 0; id < rt->nodes->n; id++)
        any |= is_short(&rt->nodes->at[id]) && orr_node_combine(rt, id);
    return any;
}

static struct look look_for_move(struct orr_runtime *rt, const size_t *room)
{
    struct look look = {0};

    for (unsigned node = 0; node < rt->nodes->n; node++) {
        if (!orr_admit_close(rt, node))
            continue;
        look.closed |= UINT64_C(1) << node;
        for (struct orr_job *job = orr_admit_next(rt, node, NULL); job;
             job = orr_admit_next(rt, node, job)) {
            look.njobs++;
            if (orr_gather_fits(job, node, room[node]))
                look.roomy |= UINT64_C(1) << node;
            if (!may_move(job))
                continue;
            if (count_moves(job) > 0)
                orr_job_avoid(rt, job, 0); /* it may come back */
            look_at(rt, job, node, room, &look.best);
        }
    }
    return look;
}

/* --- one job --- */

/* A job that waits, and where all its data could be. */
struct target {
    struct move move;
    size_t cost; /* bytes that had to be brought there, or put out of the way */
};

static bool target_precedes(const struct target *a, const struct target *b)
{
    if (a->cost != b->cost)
        return a->cost < b->cost;
    if (a->move.job->id != b->move.job->id)
        return a->move.job->id < b->move.job->id;
    return a->move.to < b->move.to;
}

static size_t job_data_size(const struct orr_job *job)
{
    size_t size = 0;

    for (unsigned i = 0; i < job->naccesses; i++)
        if (!job->accesses[i].duplicate)
            size += job->accesses[i].handle->size;
    return size;
}

/* Whether the job could run there if nothing else were there. */
static bool could_run(struct orr_runtime *rt, const struct move *move)
{
    size_t capacity = rt->nodes->at[move->to].capacity;

    return (capacity == 0 || job_data_size(move->job) <= capacity) &&
           !orr_admit_is_barred(rt, move->job) &&
           (move->from == move->to ||
            (may_move(move->job) && may_go_to(rt, move->job, move->to)));
}

static struct target target_of(const struct move *move, const size_t *room)
{
    size_t there = room[move->to], lacks = move->lacks;

    return (struct target){*move, lacks + (lacks > there ? lacks - there : 0)};
}

/* Whether the job is the one that was helped last, there. */
static bool is_current(const struct orr_runtime *rt, const struct move *move)
{
    return rt->nodes->relief.job == move->job->id &&
           rt->nodes->relief.node == move->to;
}

/* The cheapest of those after one (NULL: of all) with ret->move.job; NULL there: that
 * was the last. With `current`, only the one that was helped last. */
static struct target next_target(struct orr_runtime *rt, uint64_t closed,
                                 const size_t *room, const struct target *after,
                                 bool current)
{
    struct target best = {0};

    for (uint64_t left = closed; left; left &= left - 1) {
        unsigned from = (unsigned)__builtin_ctzll(left);

        for (struct orr_job *job = orr_admit_next(rt, from, NULL); job;
             job = orr_admit_next(rt, from, job))
            for (unsigned to = 0; to < rt->nodes->n; to++) {
                struct move move = {job, from, to, orr_gather_lacks(job, to)};
                struct target target = target_of(&move, room);

                if ((!current || is_current(rt, &move)) &&
                    (!after || target_precedes(after, &target)) &&
                    (!best.move.job || target_precedes(&target, &best)) &&
                    could_run(rt, &move))
                    best = target;
            }
    }
    return best;
}

/* Brings one more value to where the job could go or, if they fit, moves the job
 * itself. */
static bool help(struct orr_runtime *rt, const struct move *move,
                 const size_t *room)
{
    rt->nodes->relief.job = move->job->id;
    rt->nodes->relief.node = move->to;
    if (!orr_gather_fits(move->job, move->to, room[move->to]) ||
        !orr_gather_may_come(move->job, move->to, room))
        return orr_gather_step(rt, move->job, move->to, room);
    if (move->from == move->to) {
        orr_admit_advance(rt, move->job, move->to);
        return retry(rt, UINT64_C(1) << move->to);
    }
    carry_out(rt, move);
    return true;
}

/* The one that was helped last is helped on, if it still waits. */
static bool help_one(struct orr_runtime *rt, uint64_t closed,
                     const size_t *room)
{
    struct target target = next_target(rt, closed, room, NULL, true);

    if (target.move.job && help(rt, &target.move, room))
        return true;
    target = next_target(rt, closed, room, NULL, false);
    while (target.move.job && !help(rt, &target.move, room))
        target = next_target(rt, closed, room, &target, false);
    return target.move.job != NULL;
}

/* --- jobs that have memory --- */

/* A job of a worker that has memory on a node with a limit, and waits for what the
 * request brings, or one behind it; it counts one more then. The handle is locked. */
static struct orr_job *stuck_behind(const struct orr_request *request)
{
    for (; request; request = request->next_hop)
        for (struct orr_access *access = request->waiters; access;
             access = *orr_access_waits(access)) {
            struct orr_job *job = access->job;

            if (!job->type->may_avoid || !orr_job_admitted(job) ||
                orr_job_gang(job))
                continue;
            atomic_fetch_add(&job->data.pending, 1);
            return job;
        }
    return NULL;
}

/* A job that waits for a copy that has not begun, or for memory that the device has
 * refused. Unchecked: clang cannot know whose lock that is. */
static struct orr_job *find_stuck_of(struct orr_node *node) ORR_UNCHECKED
{
    struct orr_job *job = NULL;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->queues[ORR_FETCH]) {
        const struct orr_request *request =
            orr_container(link, struct orr_request, link);
        struct orr_handle *handle = request->handle;

        if (!orr_trylock(&handle->lock))
            continue;
        if (!handle->replicates[request->dst].allocated)
            job = stuck_behind(request);
        orr_unlock(&handle->lock);
        if (job)
            break;
    }
    orr_unlock(&node->lock);
    return job;
}

static struct orr_job *find_stuck(struct orr_runtime *rt)
{
    struct orr_job *job = NULL;

    for (unsigned node = 0; node < rt->nodes->n && !job; node++)
        job = find_stuck_of(&rt->nodes->at[node]);
    return job;
}

/* The job, which counts one more, waits for nothing any more. Its worker does the rest. */
static void relief_give_up(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_deferred deferred = {0};
    int n = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = orr_access_datum(access);
        struct orr_request *dropped;
        bool left;

        if (!access->pinned)
            continue;
        orr_lock(&handle->lock);
        dropped = orr_request_leave_locked(handle, access, &left, &deferred);
        orr_unlock(&handle->lock);
        orr_requests_free_dropped(rt, dropped);
        n += left;
    }
    orr_deferred_run(rt, &deferred);
    atomic_store_explicit(&job->data.broken, ORR_GAVE_UP, memory_order_relaxed);
    atomic_fetch_sub_explicit(&job->data.pending, n, memory_order_release);
    orr_job_arrive(rt, job);
}

/* Jobs that have memory and cannot go on give it up. Returns whether there were any. */
static bool give_up_all(struct orr_runtime *rt)
{
    struct orr_job *job = find_stuck(rt);
    bool any = job != NULL;

    for (; job; job = find_stuck(rt))
        relief_give_up(rt, job);
    return any;
}

/* --- all --- */

/* A task has ended: what went behind others is tried as they are. */
static void advance_all(struct orr_runtime *rt, uint64_t closed)
{
    for (uint64_t left = closed; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);
        struct orr_job *job = orr_admit_next(rt, node, NULL), *next;

        for (; job; job = next) {
            next = orr_admit_next(rt, node, job);
            orr_admit_advance(rt, job, node);
        }
    }
}

/* The first job, in order of submission, of those that would fill memory, may. */
static bool let_fill(struct orr_runtime *rt, uint64_t closed)
{
    struct orr_job *first = NULL;
    unsigned at = 0;

    for (uint64_t left = closed; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);

        for (struct orr_job *job = orr_admit_next(rt, node, NULL); job;
             job = orr_admit_next(rt, node, job))
            if ((!first || job->id < first->id) &&
                orr_admit_is_barred(rt, job)) {
                first = job;
                at = node;
            }
    }
    if (!first)
        return false;
    atomic_store(&rt->nodes->relief.may_fill, first->id);
    return retry(rt, UINT64_C(1) << at);
}

/* What disturbs least comes first; what was tried without success comes last. */
static bool do_something(struct orr_runtime *rt, const struct look *look,
                         const size_t *room)
{
    const struct move *move = &look->best;
    bool first = rt->nodes->relief.nmoves == 1;

    if (first) {
        atomic_store(&rt->nodes->relief.may_fill, 0);
        advance_all(rt, look->closed);
    }
    if (give_up_all(rt))
        return true;
    if (first && retry(rt, look->roomy))
        return true;
    if (move->job && move->lacks == 0) {
        carry_out(rt, move);
        return true;
    }
    if (help_one(rt, look->closed, room) || let_fill(rt, look->closed) ||
        send_value(rt, room))
        return true;
    if (move->job)
        carry_out(rt, move);
    return move->job || (!first && retry(rt, look->roomy));
}

bool orr_memory_relieve(struct orr_runtime *rt)
{
    /* Data may have replicates for disks that are yet to come: no room there. */
    size_t room[STARPU_MAXNODES] = {0};
    struct look look;
    bool any = false, done;

    for (unsigned node = 0; node < rt->nodes->n; node++)
        any |= is_short(&rt->nodes->at[node]);
    if (!any)
        return false;
    if (combine_where_short(rt))
        return true;
    for (unsigned node = 0; node < rt->nodes->n; node++)
        room[node] = orr_gather_room(&rt->nodes->at[node]);
    look = look_for_move(rt, room);
    done = may_go_on(rt, look.njobs);
    if (done)
        atomic_store(&rt->nodes->relief.holds, true);
    done = done && do_something(rt, &look, room);
    for (; look.closed; look.closed &= look.closed - 1)
        done |= orr_admit_reopen(rt, (unsigned)__builtin_ctzll(look.closed));
    return done;
}

bool orr_memory_is_relieved(struct orr_runtime *rt)
{
    if (!atomic_load_explicit(&rt->nodes->relief.holds, memory_order_relaxed))
        return false;
    if (orr_count_unfinished(rt) == atomic_load(&rt->nodes->relief.left))
        return true;
    atomic_store(&rt->nodes->relief.holds, false);
    return false;
}
