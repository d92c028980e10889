/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/admit.c - admission of jobs to the memory of a node. A job asks for
 * its data only when all bytes that it lacks there are reserved at once; else it
 * holds nothing and waits in the node's heap, by priority, then age. A job that
 * lacks nothing passes all that wait; others wait behind the first one, for which
 * blocks are evicted and written back.
 *
 * Where no admitted task runs on the node and nothing is leaving it, no memory will
 * come for the first job: what it needs is freed by other jobs, if at all. Or the job
 * itself has a piece of partitioned data in the block of the whole (sharing.c): then it
 * gives that up, and gets memory for the piece alone. Then the most urgent job that
 * fits is let through; if none does, the node is *starved*: its workers put aside the
 * jobs whose data they fetch and take others, one of which may need no memory, or free
 * some when it has ended. (A node is exceeded then, where main memory is several nodes:
 * may_exceed.)
 *
 * Why jobs cannot deadlock: a job holds memory only once it has all that it needs on
 * its node, so it waits for transfers only, and ends. A job whose codelet names several
 * nodes with limits (place.c) asks for one node after the other, by falling number, and
 * for the next one only when its data are on the ones before: devices come first, main
 * memory last. A job that holds memory of one such node and waits for another one waits
 * for a smaller number: there is no cycle. And when it holds main memory nothing has to
 * leave a device or pass through main memory for it any more. Copies to main memory
 * come from nodes where the source has its memory already. What must leave a node for
 * others goes from a device to main memory: to the application's own, which is there,
 * or to node 0. So does the first half of a transfer that goes through main memory.
 * These copies take no reserved bytes, and wait for memory of node 0 only, never for
 * that of a device. From main memory a value goes to a disk that has room, and from
 * there nowhere: no cycle. A value that was brought to a full main memory is not
 * evicted from there for the next one before the device has let go of it (struct
 * orr_request, moves).
 *
 * That needs main memory, or a disk, with room for what leaves the devices. Where main
 * memory is limited, no disk takes anything, and only copies fill all of it, a value
 * leaves it only when its datum ends: then jobs on several devices may each wait for a
 * value that is on another one, none of which can pass. Two things are done against
 * that.
 *
 * First, memory is not filled as long as anything else goes on: a job that makes values
 * without a home goes behind all others (it is *barred*) while these would leave less
 * room, in all nodes together, than the largest job so far has data. When nothing else
 * goes on, the first of these jobs, in order of submission, may nevertheless: of programs
 * whose tasks end data in about the order in which others begin, that is the one after
 * which most can end. So while such a program can go on at all there is mostly room to
 * bring the values of one job together, by moves like those of a puzzle: one place that
 * is free, of any node, is enough, if they have one size. Where main memory is several
 * nodes, which may be exceeded, no job is barred.
 *
 * Second, when nothing goes on (relieve.c), admitted jobs whose copies have not begun
 * give back all that they have and go behind others, which run meanwhile; each does so
 * once, until a task has ended or it is its turn to be helped. Then no job holds memory
 * that it cannot use, and one is given to workers where its data are, or find room. If
 * there are none, the program ends, and the message names what holds the memory.
 *
 * A task that waits inside of its kernel keeps its memory, like data that the
 * application has acquired, and does not count as running: what waits for memory is
 * let through as if it were not there, with what it leaves. Where that is too little
 * for the tasks that it waits for, nothing frees any more: the program ends, and the
 * message names it as one of the holders.
 *
 * One context at a time serves a node: the one that has raised `calls` from 0. Others
 * that come meanwhile raise it further, which makes the first one look once more. So
 * reservations are made one after the other, though no lock is held while memory is
 * evicted and freed. A context frees memory first, then looks at `nwaiting`; a job
 * counts there before it is tried: no wake is lost.
 */
#include "core/base/log.h"
#include "core/data/gather.h"
#include "core/data/label.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/reduction.h"
#include "core/data/request.h"
#include "core/data/traffic.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/worker/workers.h"

/* --- what a job has and lacks --- */

/* Whether there is memory for the replicate: its own, or some that is reserved
 * for it. */
static bool has_memory(const struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock)
{
    return handle->replicates[node].allocated ||
           handle->replicates[node].reserved;
}

/* A datum that has no value, and needs none, is brought nowhere. */
static bool needs_nothing(const struct orr_access *access)
{
    return access->optional &&
           !atomic_load_explicit(&orr_access_datum(access)->valid,
                                 memory_order_relaxed);
}

/* Whether the replicate lives in a block together with others. */
static bool replicate_is_shared(const struct orr_replicate *replicate)
{
    return replicate->block && orr_block_is_shared(replicate->block);
}

/* The job's data on the node are not evicted from now on; if the job is `apart`, this
 * does not hold for those in a block with other data. Their blocks stay in the lists of
 * blocks that could be evicted. Returns the bytes that the job lacks, or would lack
 * then. */
static size_t admission_hold(struct orr_job *job, unsigned node, bool apart)
{
    size_t lacks = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_replicate *replicate = orr_access_replicate(access, node);
        struct orr_handle *handle = orr_access_datum(access);

        if (!replicate)
            continue;
        orr_lock(&handle->lock);
        if (apart && replicate_is_shared(replicate)) {
            lacks += handle->size;
        } else if (has_memory(handle, node) || needs_nothing(access)) {
            replicate->refs++;
            replicate->held++;
            access->held = 1;
        } else {
            lacks += handle->size;
        }
        orr_unlock(&handle->lock);
    }
    return lacks;
}

static void admission_let_go(struct orr_runtime *rt, struct orr_job *job,
                             unsigned node)
{
    struct orr_deferred deferred = {0};

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = orr_access_datum(access);
        struct orr_replicate *replicate;

        if (!access->held)
            continue;
        access->held = 0;
        orr_lock(&handle->lock);
        replicate = &handle->replicates[node];
        replicate->held--;
        if (--replicate->refs == 0 &&
            (replicate->reserved || (replicate->block && !replicate->offered)))
            orr_node_offer(handle, node, &deferred);
        orr_unlock(&handle->lock);
    }
    orr_deferred_run(rt, &deferred);
}

size_t orr_admit_take_locked(struct orr_handle *handle,
                             struct orr_access *access, unsigned node)
{
    struct orr_replicate *replicate = &handle->replicates[node];

    if (access->held) {
        access->held = 0;
        replicate->held--;
        return 0;
    }
    if (has_memory(handle, node))
        return handle->size; /* it came there since */
    replicate->reserved = handle->size;
    orr_node_changed_for_jobs(&handle->runtime->nodes->at[node]);
    return 0;
}

/* --- whose turn it is --- */

static struct orr_job *memory_link_job(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_job_memory, link)->job;
}

static bool admission_is_more_urgent(const struct orr_job *a,
                                     const struct orr_job *b)
{
    if (orr_job_memory(a)->behind != orr_job_memory(b)->behind)
        return orr_job_memory(b)->behind;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->id != b->id)
        return a->id < b->id;
    return orr_job_memory(a)->since < orr_job_memory(b)->since;
}

static bool admission_precedes(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return admission_is_more_urgent(memory_link_job(a), memory_link_job(b));
}

static struct orr_job *admission_first(struct orr_node *node)
{
    struct orr_heap_link *first;

    orr_lock(&node->lock);
    first = node->admission.urgent.first;
    orr_unlock(&node->lock);
    return first ? memory_link_job(first) : NULL;
}

static void admission_insert(struct orr_node *node, struct orr_job *job,
                             bool behind)
{
    orr_lock(&node->lock);
    orr_job_memory(job)->behind = behind;
    job->data.wants_memory = 1;
    orr_job_memory(job)->since = ++node->admission.last;
    orr_list_append(&node->admission.jobs, &job->queue);
    orr_heap_insert(&node->admission.urgent, &orr_job_memory(job)->link,
                    admission_precedes);
    orr_unlock(&node->lock);
}

/* Only the context that serves the node does that. */
static void admission_remove(struct orr_node *node, struct orr_job *job)
{
    orr_lock(&node->lock);
    job->data.wants_memory = 0;
    orr_list_remove(&job->queue);
    orr_heap_remove(&node->admission.urgent, &orr_job_memory(job)->link,
                    admission_precedes);
    orr_unlock(&node->lock);
}

/* --- room for one more --- */

/* Whether no admitted task runs on the node, and no value is leaving it. */
static bool is_quiet(struct orr_node *node)
{
    return atomic_load(&node->admission.nadmitted) == 0 &&
           atomic_load(&node->admission.nleaving) == 0;
}

/* Bytes of values that the job makes and that have no place of their own: they fill
 * memory until their data end. */
static size_t new_values(const struct orr_job *job)
{
    size_t size = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *datum = orr_access_datum(access);

        if (access->mode & (STARPU_W | STARPU_REDUX) &&
            !(access->mode & STARPU_SCRATCH) && datum->home_node < 0 &&
            !access->duplicate && !atomic_load(&datum->valid))
            size += datum->size;
    }
    return size;
}

/* Bytes that the job uses. */
static size_t admission_job_size(const struct orr_job *job)
{
    size_t size = 0;

    for (unsigned i = 0; i < job->naccesses; i++)
        if (!job->accesses[i].duplicate)
            size += job->accesses[i].handle->size;
    return size;
}

/* Whether all nodes together have so much room; `exactly`: blocks whose values are
 * elsewhere as well leave it. */
static bool is_roomy(struct orr_runtime *rt, size_t size, bool exactly)
{
    for (unsigned id = 0; id < rt->nodes->n && size; id++) {
        struct orr_node *node = &rt->nodes->at[id];
        size_t used = atomic_load(&node->used), room;

        if (node->capacity == 0)
            return true;
        room = exactly                 ? orr_gather_room(node)
               : used < node->capacity ? node->capacity - used
                                       : 0;
        size -= room < size ? room : size;
    }
    return size == 0;
}

/* Whether a job waits on the node that goes before this one (NULL: before all): it makes
 * no values, or was submitted before. */
static bool has_earlier(struct orr_node *node, const struct orr_job *than)
{
    bool any = false;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->admission.jobs) {
        const struct orr_job *job = orr_container(link, struct orr_job, queue);

        any |= !new_values(job) || (than && job->id < than->id);
    }
    orr_unlock(&node->lock);
    return any;
}

/* Whether something may go on without the job, which makes values: others that wait for
 * memory; tasks that no worker has taken, that run, or have ended and whose successors
 * may come, or that have limited memory; or values that leave it. NULL: without all such
 * jobs. */
static bool is_anything_on(struct orr_runtime *rt, const struct orr_job *job)
{
    for (unsigned id = 0; id < rt->nodes->n; id++)
        if (!is_quiet(&rt->nodes->at[id]) ||
            has_earlier(&rt->nodes->at[id], job))
            return true;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (atomic_load_explicit(&rt->workers->at[w].state,
                                 memory_order_relaxed) == ORR_WORKER_EXECUTING)
            return true;
    return orr_count_ready(rt) > 0;
}

/* Whether what the job makes would leave too little room for one more job, whichever
 * that is, while others may go on that leave more, or make room; and the job is none
 * that may nevertheless (relieve.c). */
static bool fills_memory(struct orr_runtime *rt, const struct orr_job *job)
{
    size_t made;

    if (rt->nodes->at[STARPU_MAIN_RAM].capacity == 0 || rt->nodes->nram > 1 ||
        !job->task)
        return false; /* main memory is unlimited, or may be exceeded */
    made = new_values(job);
    if (!made || (orr_memory_is_relieved(rt) &&
                  job->id <= atomic_load(&rt->nodes->relief.may_fill)))
        return false;
    made += atomic_load(&rt->nodes->relief.largest);
    return !is_roomy(rt, made, false) && !is_roomy(rt, made, true) &&
           is_anything_on(rt, job);
}

static void admission_note_size(struct orr_runtime *rt, const struct orr_job *job)
{
    size_t size = admission_job_size(job);
    size_t largest = atomic_load(&rt->nodes->relief.largest);

    while (size > largest && !atomic_compare_exchange_weak(
                                 &rt->nodes->relief.largest, &largest, size))
        ;
}

/* Whether the job has to go behind others: it gave its memory back, and nothing is
 * known to have changed since; or memory would be full of what it makes. */
static bool is_barred(struct orr_runtime *rt, struct orr_node *node,
                      const struct orr_job *job)
{
    if (orr_job_memory(job)->gave_up && orr_memory_is_relieved(rt))
        return true;
    if (!fills_memory(rt, job))
        return false;
    atomic_fetch_or(&rt->nodes->relief.barred, UINT64_C(1) << node->id);
    return true;
}

bool orr_admit_is_barred(struct orr_runtime *rt, struct orr_job *job)
{
    return fills_memory(rt, job);
}

/* --- admission --- */

static void admit(struct orr_node *node, struct orr_job *job)
{
    orr_job_memory(job)->admitted |= UINT64_C(1) << node->id;
    if (!job->task)
        return;
    atomic_fetch_add(&node->admission.nadmitted, 1);
    if (atomic_load(&node->admission.starved))
        atomic_store(&node->admission.starved, false);
}

/* An admitted task has ended on these nodes, which would have freed memory there by
 * itself. */
static void count_off(struct orr_runtime *rt, uint64_t nodes,
                      struct orr_deferred *deferred)
{
    for (; nodes; nodes &= nodes - 1) {
        struct orr_node *node = &rt->nodes->at[__builtin_ctzll(nodes)];

        if (atomic_fetch_sub(&node->admission.nadmitted, 1) == 1)
            orr_admit_retry_later(rt, node->id, deferred);
    }
}

void orr_admit_leave(struct orr_runtime *rt, struct orr_job *job,
                     struct orr_deferred *deferred)
{
    uint64_t left = orr_job_admitted(job);

    if (left)
        orr_job_memory(job)->admitted = 0;
    if (job->task)
        count_off(rt, left, deferred);
}

void orr_admit_suspend(struct orr_runtime *rt, const struct orr_job *job)
{
    struct orr_deferred deferred = {0};

    count_off(rt, orr_job_admitted(job), &deferred);
    orr_deferred_run(rt, &deferred);
}

void orr_admit_resume(struct orr_runtime *rt, const struct orr_job *job)
{
    for (uint64_t left = orr_job_admitted(job); left; left &= left - 1)
        atomic_fetch_add(
            &rt->nodes->at[__builtin_ctzll(left)].admission.nadmitted, 1);
}

/* Whether the context may evict: a device's memory belongs to its workers. */
static bool may_make_room(const struct orr_runtime *rt,
                          const struct orr_node *node)
{
    const struct orr_worker *worker = orr_self->worker;

    return orr_node_gives_at_once(rt, node->id) ||
           orr_node_is_lost(rt, node->id) ||
           (worker && worker->desc->node == node->id);
}

/* Where main memory is several nodes, the limit of one says how much is kept there, not
 * how much there is: a job exceeds it where it would wait for other jobs, or for the
 * application. The memory of a lost device is not shared out any more. */
static bool may_exceed(const struct orr_runtime *rt, struct orr_node *node)
{
    if (orr_node_is_lost(rt, node->id))
        return true;
    return rt->nodes->nram > 1 && node->id < rt->nodes->nram && is_quiet(node);
}

/* The job holds what it has: reserves what it lacks, or lets go. */
static bool admission_reserve(struct orr_runtime *rt, struct orr_node *node,
                              struct orr_job *job, size_t lacks)
{
    bool done = lacks == 0;

    atomic_store(&node->admission.server, orr_self);
    if (!done && orr_node_is_lost(rt, node->id))
        ; /* nothing leaves it */
    else if (!done && may_make_room(rt, node))
        done = orr_node_reserve(rt, node, lacks, ORR_FETCH) == 0;
    else if (!done)
        done = orr_node_take_reserved(node, lacks, false);
    if (!done && may_exceed(rt, node))
        done = orr_node_take_reserved(node, lacks, true);
    atomic_store(&node->admission.server, NULL);
    orr_job_memory(job)->lacks = lacks;
    if (done)
        admit(node, job);
    else
        admission_let_go(rt, job, node->id);
    return done;
}

/* A job that waits goes on. */
static void let_through(struct orr_node *node, struct orr_job *job,
                        struct orr_list *admitted)
{
    admission_remove(node, job);
    atomic_fetch_sub(&node->admission.nwaiting, 1);
    orr_list_append(admitted, &job->queue);
}

/* Whether the job was tried without success, and nothing has changed since. */
static bool admission_would_fail(const struct orr_runtime *rt,
                                 struct orr_node *node,
                                 const struct orr_job *job)
{
    return node->admission.tried == orr_job_memory(job)->since &&
           node->admission.changes == atomic_load(&node->changes[ORR_NEEDED]) &&
           !may_exceed(rt, node);
}

/* A job that waits goes on if it can. */
static bool try(struct orr_runtime *rt, struct orr_node *node,
                struct orr_job *job, struct orr_list *admitted)
{
    unsigned changes = atomic_load(&node->changes[ORR_NEEDED]);

    if (is_barred(rt, node, job) || admission_would_fail(rt, node, job))
        return false;
    if (!admission_reserve(rt, node, job,
                           admission_hold(job, node->id, false))) {
        node->admission.tried = orr_job_memory(job)->since;
        node->admission.changes = changes;
        return false;
    }
    let_through(node, job, admitted);
    return true;
}

/* The same for a job that holds pieces in a block whose other replicates take the
 * memory that it lacks: the block may go. */
static bool try_apart(struct orr_runtime *rt, struct orr_node *node,
                      struct orr_job *job, struct orr_list *admitted)
{
    size_t before = orr_job_memory(job)->lacks,
           lacks = admission_hold(job, node->id, true);

    if (lacks == before || lacks > node->capacity) {
        admission_let_go(rt, job, node->id);
        return false;
    }
    if (!admission_reserve(rt, node, job, lacks)) {
        orr_job_memory(job)->lacks = before;
        return false;
    }
    let_through(node, job, admitted);
    return true;
}

/* The job that came after another one, or the first of all; NULL: none did. */
static struct orr_job *next_of(struct orr_node *node, const struct orr_job *job)
{
    struct orr_list *jobs = &node->admission.jobs;
    struct orr_list *link;

    orr_lock(&node->lock);
    link = job ? job->queue.next : jobs->next;
    orr_unlock(&node->lock);
    return link == jobs ? NULL : orr_container(link, struct orr_job, queue);
}

/* Bytes of the job's data that have memory on the node, and that have none. */
static void admission_measure_job(const struct orr_job *job, unsigned node,
                                  size_t *ret_has, size_t *ret_lacks)
{
    *ret_has = *ret_lacks = 0;
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        struct orr_handle *datum = orr_access_datum(access);
        bool has;

        if (!orr_access_replicate(access, node))
            continue;
        orr_lock(&datum->lock);
        has = has_memory(datum, node) || needs_nothing(access);
        orr_unlock(&datum->lock);
        *(has ? ret_has : ret_lacks) += datum->size;
    }
}

/* Lets the first of the other jobs through that fits. All that could be evicted was
 * evicted for the first one, but for what that one uses. */
static bool bypass(struct orr_runtime *rt, struct orr_node *node,
                   const struct orr_job *first, struct orr_list *admitted)
{
    size_t room, has, lacks, used = atomic_load(&node->used);

    admission_measure_job(first, node->id, &has, &lacks);
    room = (used < node->capacity ? node->capacity - used : 0) + has;
    for (struct orr_job *job = next_of(node, NULL); job;
         job = next_of(node, job)) {
        if (job == first)
            continue;
        admission_measure_job(job, node->id, &has, &lacks);
        if (lacks <= room && try(rt, node, job, admitted))
            return true;
    }
    return false;
}

/* Lets the first of the other jobs through for which there is memory. */
static bool try_others(struct orr_runtime *rt, struct orr_node *node,
                       const struct orr_job *first, struct orr_list *admitted)
{
    for (struct orr_job *job = next_of(node, NULL); job;
         job = next_of(node, job))
        if (job != first && try(rt, node, job, admitted))
            return true;
    return false;
}

/* Whether workers of other nodes have jobs that wait for memory of this one. */
static bool has_guests(struct orr_node *node)
{
    bool any = false;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->admission.jobs)
        any |= orr_container(link, struct orr_job, queue)->data.spread;
    orr_unlock(&node->lock);
    return any;
}

/* All workers that have such jobs look for others. */
static void starve(struct orr_runtime *rt, struct orr_node *node)
{
    bool all;

    if (atomic_exchange(&node->admission.starved, true))
        return;
    all = has_guests(node);
    if (orr_self->worker)
        orr_self->worker->again = true;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (all || rt->workers->at[w].desc->node == node->id)
            orr_worker_wake(&rt->workers->at[w]);
}

/* Lets jobs go on as far as there is memory; `tried` is the one that was tried just now
 * without success. Returns whether a worker of the node has to do that. */
static bool admission_serve(struct orr_runtime *rt, struct orr_node *node,
                            const struct orr_job *tried,
                            struct orr_list *admitted)
{
    struct orr_admission *a = &node->admission;
    bool changed = atomic_exchange(&a->changed, false);
    struct orr_job *job;

    while ((job = admission_first(node))) {
        if (!may_make_room(rt, node)) {
            atomic_store(&a->changed, true);
            return true;
        }
        if (is_barred(rt, node, job)) {
            if (try_others(rt, node, job, admitted))
                continue;
            starve(rt, node);
            return false;
        }
        if (tried && job != tried && !changed)
            return false; /* as before */
        if (job != tried && try(rt, node, job, admitted))
            continue;
        if (!is_quiet(node))
            return false;
        if (try_apart(rt, node, job, admitted))
            continue;
        if (!is_quiet(node))
            return false;
        if (changed && bypass(rt, node, job, admitted))
            continue;
        (void)orr_node_combine(rt, node->id);
        starve(rt, node);
        return false;
    }
    atomic_store(&a->starved, false);
    /* Prefetches had left it the memory. */
    orr_nodes_kick(rt, orr_node_take_short(node));
    return false;
}

/* Goes on with jobs that were admitted. Jobs that are admitted by that are left to the
 * call that runs already: so a chain of jobs needs no deep stack. */
static void admission_continue_jobs(struct orr_runtime *rt,
                                    struct orr_list *admitted)
{
    struct orr_list *link, *outer = orr_self->admitted;

    if (!outer)
        orr_self->admitted = admitted;
    while ((link = orr_list_pop(admitted))) {
        struct orr_job *job = orr_container(link, struct orr_job, queue);

        if (outer)
            orr_list_append(outer, link);
        else
            orr_job_ask(rt, job);
    }
    if (!outer)
        orr_self->admitted = NULL;
}

/* The context serves the node, for which there were `n` calls, until no call comes
 * meanwhile. A worker that is needed is woken only after that: before, it would call
 * repeatedly and find this context still there. Returns whether a job could go on. */
static bool serve_calls(struct orr_runtime *rt, struct orr_node *node,
                        unsigned n, const struct orr_job *tried)
{
    struct orr_list admitted;
    bool any, needs_worker = false;

    orr_list_init(&admitted);
    for (;;) {
        unsigned calls;

        if (atomic_load(&node->admission.nwaiting))
            needs_worker = admission_serve(rt, node, tried, &admitted);
        calls = atomic_fetch_sub(&node->admission.calls, n);
        if (calls == n)
            break;
        n = calls - n;
        tried = NULL;
    }
    if (needs_worker)
        orr_node_kick(rt, node->id);
    any = !orr_list_empty(&admitted);
    admission_continue_jobs(rt, &admitted);
    return any;
}

/* Has the node served, by the context or by the one that does so already. */
static bool admission_call(struct orr_runtime *rt, struct orr_node *node)
{
    return atomic_fetch_add(&node->admission.calls, 1) == 0 &&
           serve_calls(rt, node, 1, NULL);
}

bool orr_admit_serve(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    return atomic_load(&node->admission.nwaiting) && admission_call(rt, node);
}

/* There may be room for what jobs on other nodes make. */
static void retry_barred(struct orr_runtime *rt)
{
    uint64_t left = atomic_load(&rt->nodes->relief.barred);

    if (left)
        left = atomic_exchange(&rt->nodes->relief.barred, 0);
    for (; left; left &= left - 1)
        orr_admit_retry(rt, (unsigned)__builtin_ctzll(left));
}

bool orr_admit_rests_barred(struct orr_runtime *rt)
{
    unsigned long mark = orr_count_unfinished(rt) + 1;

    if (is_anything_on(rt, NULL))
        return false;
    if (atomic_exchange(&rt->nodes->relief.rested, mark) == mark)
        return false; /* no task has ended since that was done */
    retry_barred(rt);
    return true;
}

void orr_admit_retry(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];
    struct orr_worker *worker = orr_self->worker;

    retry_barred(rt);
    if (!atomic_load(&node->admission.nwaiting))
        return;
    atomic_store(&node->admission.changed, true);
    if (worker && worker->desc->node == id)
        worker->again = true; /* the job that it ends may not be over yet */
    else if (orr_node_gives_at_once(rt, id))
        (void)admission_call(rt, node);
    else
        orr_node_kick(rt, id);
}

/* --- jobs that come --- */

/* Whether the job is tried before those that wait. In a starved node none of
 * them fits. */
static bool comes_first(struct orr_node *node, const struct orr_job *job)
{
    const struct orr_job *first = admission_first(node);

    return !first || atomic_load(&node->admission.starved) ||
           orr_job_memory(first)->behind || job->priority > first->priority;
}

/* The largest of the job's data that are used on the node; there is one. */
static const struct orr_handle *largest_of(const struct orr_job *job,
                                           unsigned node)
{
    const struct orr_handle *largest = NULL;

    for (unsigned i = 0; i < job->naccesses; i++)
        if (orr_access_replicate(&job->accesses[i], node) &&
            (!largest || job->accesses[i].handle->size > largest->size))
            largest = job->accesses[i].handle;
    return largest;
}

_Noreturn static void fail_too_large(struct orr_runtime *rt,
                                     const struct orr_node *node,
                                     const struct orr_job *job, size_t lacks)
{
    const struct orr_handle *largest = largest_of(job, node->id);

    orr_log_error("%s%s%s needs %zu bytes on memory node %u (%s), whose limit "
                  "is %zu; %s alone: %zu bytes. Make its data smaller or raise "
                  "the limit",
                  job->task ? "task `" : "an acquisition",
                  job->task ? orr_job_name(job) : "", job->task ? "'" : "",
                  lacks, node->id, rt->machine->nodes[node->id].name,
                  node->capacity, orr_handle_label(largest).text,
                  largest->size);
    orr_runtime_fail(rt);
}

/* Of a node that has come while the program runs: a disk. */
_Noreturn static void fail_without_memory(struct orr_runtime *rt,
                                          const struct orr_job *job)
{
    orr_log_error("out of memory while task `%s' waits for memory",
                  orr_job_name(job));
    orr_runtime_fail(rt);
}

bool orr_admit(struct orr_runtime *rt, struct orr_job *job, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];
    struct orr_admission *a = &node->admission;
    size_t lacks = admission_hold(job, id, false);
    unsigned none = 0;
    bool done, barred;

    if (!orr_job_make_memory(job))
        fail_without_memory(rt, job);
    if (lacks == 0) {
        admit(node, job);
        return true;
    }
    admission_note_size(rt, job);
    if (lacks > node->capacity &&
        (rt->nodes->nram == 1 || id >= rt->nodes->nram))
        fail_too_large(rt, node, job, lacks);
    atomic_fetch_add(&a->nwaiting, 1);
    orr_job_memory(job)->gave_up = false;
    barred = is_barred(rt, node, job);
    if (!atomic_compare_exchange_strong(&a->calls, &none, 1)) {
        admission_let_go(rt, job, id);
        admission_insert(node, job, barred);
        orr_node_changed_for_jobs(node); /* the job that is tried could not have that */
        atomic_store(&a->changed, true);
        (void)admission_call(rt, node);
        return false;
    }
    done = !barred && comes_first(node, job);
    if (done)
        done = admission_reserve(rt, node, job, lacks);
    else
        admission_let_go(rt, job, id);
    if (done)
        atomic_fetch_sub(&a->nwaiting, 1);
    else
        admission_insert(node, job, barred);
    (void)serve_calls(rt, node, 1, job);
    return done;
}

/* --- jobs that go --- */

void orr_admit_behind(struct orr_runtime *rt, struct orr_job *job, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];
    size_t has;

    if (!orr_job_make_memory(job))
        fail_without_memory(rt, job);
    atomic_fetch_add(&node->admission.nwaiting, 1);
    admission_measure_job(job, id, &has, &orr_job_memory(job)->lacks);
    job->data.aside = 1;
    orr_job_memory(job)->gave_up = true;
    admission_insert(node, job, true);
    orr_node_changed_for_jobs(node); /* what it had is free */
    atomic_store(&node->admission.changed, true);
    (void)admission_call(rt, node);
}

void orr_admit_advance(struct orr_runtime *rt, struct orr_job *job, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    if (!orr_job_memory(job)->gave_up)
        return;
    orr_job_memory(job)->gave_up = false;
    admission_remove(node, job);
    admission_insert(node, job, false);
}

bool orr_admit_close(struct orr_runtime *rt, unsigned node)
{
    unsigned none = 0;

    return atomic_load(&rt->nodes->at[node].admission.nwaiting) &&
           atomic_compare_exchange_strong(&rt->nodes->at[node].admission.calls,
                                          &none, 1);
}

bool orr_admit_reopen(struct orr_runtime *rt, unsigned node)
{
    return serve_calls(rt, &rt->nodes->at[node], 1, NULL);
}

const struct orr_job *orr_admit_first(struct orr_runtime *rt, unsigned node)
{
    return admission_first(&rt->nodes->at[node]);
}

struct orr_job *orr_admit_next(struct orr_runtime *rt, unsigned node,
                               const struct orr_job *job)
{
    return next_of(&rt->nodes->at[node], job);
}

void orr_admit_turn_away(struct orr_runtime *rt, struct orr_job *job,
                         unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    admission_remove(node, job);
    atomic_fetch_sub(&node->admission.nwaiting, 1);
    job->left = 0;
    atomic_store_explicit(&job->data.broken, ORR_CROWDED_OUT,
                          memory_order_relaxed);
    orr_job_arrive(rt, job);
}

bool orr_admit_put_aside(struct orr_runtime *rt, struct orr_job *job,
                         unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];
    bool waits;

    if (!atomic_load_explicit(&node->admission.starved, memory_order_relaxed))
        return false;
    orr_lock(&node->lock);
    waits = job->data.wants_memory;
    job->data.aside |= waits;
    orr_unlock(&node->lock);
    return waits;
}
