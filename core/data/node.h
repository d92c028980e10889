/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/node.h - a memory node: what it holds, what it has asked for.
 *
 * Requests towards a node are started by its progress workers, those that
 * compute there; those from a device to main memory by the device's. Where main
 * memory is several nodes, any context that needs a copy between two may start
 * it. There are three queues: what tasks wait for, prefetches,
 * idle prefetches.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/heap.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/data/block.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/device/mailbox.h"
#include "core/exec/runtime.h"

#define ORR_FETCH_LEVELS 3

/* Bits of the number of a list of blocks that could be evicted, by age: lru.c.
 * Where all are alike they are in list 0. */
enum {
    ORR_BLOCK_DIRTY = 1,    /* has the only copy; may be out of date */
    ORR_BLOCK_PROMISED = 2, /* to jobs that are queued */
    ORR_BLOCK_LISTS = 4
};

enum { ORR_NEXTUSE_HEAPS = 6 };

/* A node's side of the admission of jobs to its memory (core/data/admit.c). Nodes
 * without a limit leave it all zero. */
struct orr_admission {
    _Atomic(struct orr_context *) server; /* reserves memory, NULL: none */
    uint64_t last;          /* [node lock] jobs that ever waited */
    struct orr_list jobs;   /* [node lock] that wait for memory, in the order
                              * in which they came … */
    struct orr_heap urgent; /* [node lock] … and by urgency */
    atomic_uint nwaiting;   /* their number, and that of jobs being tried */
    uint64_t tried;         /* [context that serves] memory.since of the job that was
                             * tried last, without success, … */
    unsigned changes;       /* … and the node's before that */
    atomic_uint calls;      /* whoever raises it from 0 serves the node, and
                              * looks again until it is 0 again */
    atomic_bool changed;    /* memory may have become free since the jobs were
                              * last looked at */
    atomic_bool starved;    /* only another job that runs, or the application,
                              * can free memory for those that wait */
    atomic_uint nadmitted;  /* tasks that run in its memory or are about to */
    atomic_uint nleaving;   /* requests that copy from there, but for those
                              * that wait for memory themselves */
};

/* What waits for memory: jobs, which may take all that is not used; prefetches, which
 * only take what no job will use. */
enum orr_need { ORR_NEEDED, ORR_WISHED, ORR_NNEEDS };

/* Room that could not be made: without changes it cannot be made again. */
struct orr_vain {
    unsigned changes; /* for its level, before that was tried */
    enum orr_fetch_level level;
    size_t size; /* bytes, 0: none was looked for */
};

enum { ORR_CACHE_LISTS = 64 };

/* Memory that is kept for blocks to come: cache.h. Only nodes where memory is
 * expensive to get have one: devices, and main memory that is pinned for them. */
struct orr_cache {
    bool used;            /* [const] */
    struct orr_list aged; /* [node lock] the blocks in it, the oldest first */
    /* [node lock] The same in lists by what they match, each with the last one that
     * came first. */
    struct orr_list alike[ORR_CACHE_LISTS];
    atomic_size_t bytes; /* in it */
};

/* How a value comes from another node, by what is estimated; changed by
 * orr_nodes_estimate, relaxed, since it is for estimates only. */
struct orr_route {
    _Atomic(double) slowness; /* µs per byte while all devices that share the link copy
                               * both ways at once, NaN: not known */
    double latency;           /* µs, NaN: not known */
    _Atomic uint64_t later;   /* this source and those from which none comes sooner */
    bool direct;              /* else through main memory */
};

struct orr_node {
    unsigned id;                 /* [const] */
    struct orr_lock lock;        /* rank ORR_RANK_NODE */
    struct orr_runtime *runtime; /* [const] */
    struct orr_mailbox mailbox;  /* ends of copies and kernels that its workers
                                  * have started */
    size_t capacity;             /* [const] bytes, 0: unlimited */
    /* For statistics: traffic.h. */
    atomic_size_t most_used;
    atomic_ullong nallocations, nreused, nhits, nmisses;
    atomic_size_t used;     /* bytes allocated through us, or reserved … */
    atomic_size_t reserved; /* … for blocks that are not made yet */
    atomic_size_t counted;  /* of `used`: by starpu_memory_allocate */
    atomic_uint npassed;    /* blocks that evictions passed over, since their
                             * handles were locked or they were held for a job
                             * that is tried */
    /* On nodes with a limit: counts changes of what memory could be made with, per enum
     * orr_need. */
    atomic_uint changes[ORR_NNEEDS];
    struct orr_vain vain; /* [lock] what found none last */
    struct orr_cache cache;
    struct orr_admission admission;
    /* [lock] requests this node's progress workers have to start, by level. */
    struct orr_list queues[ORR_FETCH_LEVELS];
    atomic_uint nqueued;
    struct orr_list all; /* [lock] blocks where somebody lives, in the order in
                          * which they came */
    unsigned looked;     /* [lock] `changes` when clean ones were counted */
    atomic_bool tidying; /* what is written back for the sake of
                          * rt->nodes->target_available has not left yet */
    struct orr_list blocks[ORR_BLOCK_LISTS]; /* [lock] oldest first */
    int64_t youngest, oldest;                /* [lock] ages given so far */
    struct orr_nextuse {                     /* nextuse.c */
        bool pressed; /* [lock] memory was short: victims and prefetches are in
                       * heaps, not in lists, from now on */
        struct orr_heap blocks[ORR_NEXTUSE_HEAPS]; /* [lock] */
        size_t leaving; /* [lock] bytes that are being written back so that
                         * they can be evicted */
        _Atomic uint64_t reached; /* largest number of a job that fetched its
                                   * data here */
    } nextuse;
    /* [lock] task prefetches while `sorted`, per (peer, direction), the soonest
     * needed first; [const] pointer, NULL where they never are. */
    struct orr_heap *prefetches;
    uint64_t prefetch_peers[2]; /* [lock] per direction: bits of the peers whose
                                 * heap is not empty */
    uint64_t nenqueued;         /* [lock] requests so far */
    bool sorted;                /* [lock] */
    atomic_uint progress_worker; /* first worker that starts the requests,
                                  * nworkers when none needs to */
    atomic_uint nprogress;       /* how many workers do */
    int malloc_flags;            /* [main] of starpu_malloc_on_node */
    unsigned *inflight; /* [lock] per (peer, direction): copies under way */
    /* Nodes whose progress workers have a request that waits for memory here, per
     * enum orr_need. */
    _Atomic uint64_t short_of_memory[ORR_NNEEDS];
    struct orr_route *routes; /* from each node to this one; owned */
};

int orr_nodes_new(struct orr_runtime *rt);

/* The machine's node after the last one, a disk, becomes one of the run: data that
 * are registered from now on may go there. Errors: -ENOMEM. Application. */
int orr_nodes_add(struct orr_runtime *rt);

/* Where a post comes to a worker soonest that is of no node in particular: to one that
 * sleeps, if any. Any thread. */
struct orr_mailbox *orr_nodes_find_mailbox(struct orr_runtime *rt);

/* Serves all mailboxes, in the place of workers that have ended; true if anything
 * was posted. */
bool orr_nodes_serve_posts(struct orr_runtime *rt);

/* Waits until no driver's thread is in a post any more. To be called when nothing is
 * under way. */
void orr_nodes_await_posts(struct orr_runtime *rt);

void orr_nodes_free(struct orr_runtime *rt);

/* Whether any context may make memory on the node, not only its progress workers: main
 * memory, and nodes without such workers. */
bool orr_node_gives_at_once(const struct orr_runtime *rt, unsigned node);

/* Counts bytes as used if the node has so many left. */
bool orr_node_take(struct orr_node *node, size_t size);

/* Reserves bytes that the node has left, or, with `exceed`, that it has not. */
bool orr_node_take_reserved(struct orr_node *node, size_t size, bool exceed);

/* Reserves bytes for a block, evicting what it must and can at once. Requests of
 * lower levels than ORR_FETCH leave what is free to jobs that wait. Errors:
 * -ENOMEM. No lock held. Does not block. */
int orr_node_reserve(struct orr_runtime *rt, struct orr_node *node, size_t size,
                     enum orr_fetch_level level);

/* Gives them back; the caller then has others look for memory. */
void orr_node_unreserve(struct orr_node *node, size_t size);

/* What the replicate has not needed of what was reserved for it is free. */
void orr_replicate_unreserve_some(struct orr_handle *handle, unsigned node,
                                  struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);
static inline void orr_replicate_unreserve(struct orr_handle *handle,
                                           unsigned node,
                                           struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    if (handle->replicates[node].reserved)
        orr_replicate_unreserve_some(handle, node, deferred);
}

/* Memory on a node, within its capacity: evicts if it must and can at once. If the
 * caller is a method of an interface, for a block, the block's reserved bytes are used.
 * Pinned, if that is wanted and the machine pins. Errors: -ENOMEM. Does not block. */
int orr_node_malloc(struct orr_runtime *rt, unsigned node, size_t size,
                    bool pinned, uintptr_t *ret);
void orr_node_free(struct orr_runtime *rt, unsigned node, uintptr_t address,
                   size_t size);

/* Counts such memory without allocating it: the memory itself is kept meanwhile
 * (cache.h). */
int orr_node_get(struct orr_runtime *rt, unsigned node, size_t size);
void orr_node_give(struct orr_runtime *rt, unsigned node, size_t size);

/* The handle's replicate on the node is no longer used (its references fell to
 * 0): its block may be evicted from now on. */
void orr_node_offer(struct orr_handle *handle, unsigned node,
                    struct orr_deferred *deferred) ORR_REQUIRES(handle->lock);

/* Makes the handle's block on the node, unless it is in use, the next one to leave. The
 * next use makes it a young one. */
void orr_node_demote(struct orr_handle *handle, unsigned node,
                     struct orr_deferred *deferred) ORR_REQUIRES(handle->lock);

/* A request has found the value there, or what its list depends on has changed: the
 * block becomes a young one, in the right list. */
void orr_node_touch_offered(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);
static inline void orr_node_touch(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock)
{
    if (handle->replicates[node].offered)
        orr_node_touch_offered(handle, node);
}

/* The value of the handle's block on the node was overwritten elsewhere. */
void orr_node_outdate(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* A copy from there has ended, which was to write the block back. If a job uses the
 * block, it does not leave. */
void orr_node_end_leaving(struct orr_handle *handle, unsigned node,
                          struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* The handle's next use on these nodes (bits) has changed, by the access of it: it may be
 * later now. */
void orr_node_reorder_some(struct orr_handle *handle, uint64_t nodes,
                           const struct orr_access *access)
    ORR_REQUIRES(handle->lock);
static inline void orr_node_reorder(struct orr_handle *handle, uint64_t nodes,
                                    const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    nodes &= atomic_load_explicit(&handle->runtime->nodes->pressed,
                                  memory_order_relaxed) &
             atomic_load_explicit(&handle->allocated, memory_order_relaxed);
    if (nodes)
        orr_node_reorder_some(handle, nodes, access);
}

/* What hindered requests and jobs from having memory on the node has changed: they are
 * tried once more. */
void orr_node_retry(struct orr_runtime *rt, unsigned node,
                    struct orr_deferred *deferred);

static inline enum orr_need orr_need_of(enum orr_fetch_level level)
{
    return level == ORR_FETCH ? ORR_NEEDED : ORR_WISHED;
}

/* Something may leave the node that could not before, or was freed there: requests and
 * jobs that found no memory may find some; or only jobs may. With what it changed. */
static inline void orr_node_changed_for_jobs(struct orr_node *node)
{
    if (node->capacity)
        atomic_fetch_add(&node->changes[ORR_NEEDED], 1);
}

static inline void orr_node_changed(struct orr_node *node)
{
    orr_node_changed_for_jobs(node);
    if (node->capacity)
        atomic_fetch_add(&node->changes[ORR_WISHED], 1);
}

/* Whether so many bytes have found no room and nothing has changed since. Less urgent
 * levels (with higher numbers) may do less to get room. */
static inline bool orr_node_is_vain(struct orr_node *node, size_t size,
                                    enum orr_fetch_level level)
    ORR_REQUIRES(node->lock)
{
    const struct orr_vain *vain = &node->vain;

    return vain->size == size && vain->level <= level &&
           vain->changes ==
               atomic_load(&node->changes[orr_need_of(vain->level)]);
}

/* Notes that the job of that number fetches its data on the node. */
static inline void orr_node_reach(struct orr_node *node, uint64_t job)
{
    if (job >
        atomic_load_explicit(&node->nextuse.reached, memory_order_relaxed))
        atomic_store_explicit(&node->nextuse.reached, job,
                              memory_order_relaxed);
}

/* Whether main memory is one node, without a limit, and all that there is. */
static inline bool orr_memory_is_flat(const struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->nodes->n, memory_order_relaxed) == 1 &&
           !rt->nodes->at[STARPU_MAIN_RAM].capacity;
}

/* Starts what a memory node's progress worker has to start; called by workers of
 * that node. Returns whether anything was started. */
bool orr_node_start(struct orr_runtime *rt, struct orr_node *node);
static inline bool orr_node_progress(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    /* Every worker looks here after every task. Pairs with enqueue, and with
     * those who come to wait for memory. */
    return (orr_mailbox_has(&node->mailbox) ||
            atomic_load(&node->admission.nwaiting) ||
            atomic_load(&node->nqueued) || rt->nodes->tidies) &&
           orr_node_start(rt, node);
}

/* The handle's replicate on the node is in use again, after orr_node_offer. */
void orr_node_retain_offered(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);
static inline void orr_node_retain(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock)
{
    if (handle->replicates[node].offered)
        orr_node_retain_offered(handle, node);
}

/* The handle's memory stays on those nodes, bits, until orr_handle_unpin. */
void orr_handle_pin_locked(struct orr_handle *handle, uint64_t nodes)
    ORR_REQUIRES(handle->lock);

/* Undoes that on some nodes. No lock held. */
void orr_handle_unpin(struct orr_handle *handle, uint64_t nodes);

/* Evicts until `size` more bytes are within the node's capacity, as far as that
 * can be done at once and requests of the level may; begins to write back what
 * has to be before. Errors: -ENOMEM. No lock held. Does not block. */
int orr_node_make_room(struct orr_runtime *rt, struct orr_node *node,
                       size_t size, enum orr_fetch_level level);

/* Evicts the handle's block on the node if none of its replicates is used and no value
 * is lost. Returns whether it did. No lock held. Does not block. */
bool orr_node_try_evict(struct orr_handle *handle, unsigned node);

/* Writes back as STARPU_MINIMUM_CLEAN_BUFFERS says, and makes room as
 * STARPU_MINIMUM_AVAILABLE_MEM does (core/data/reclaim.c). Returns whether anything
 * left. No lock held. Does not block. */
bool orr_node_tidy(struct orr_runtime *rt, unsigned node);

/* The nodes (bits) whose requests wait for memory of this one; the caller makes them
 * look for it. */
uint64_t orr_node_take_short(struct orr_node *node);

/* Memory became free on the node: as orr_node_retry, at once. No lock held. */
void orr_node_freed(struct orr_runtime *rt, unsigned node);

/* µs for `size` bytes from src to dst as schedulers estimate it; 0 when
 * unknown. */
double orr_transfer_predict(struct orr_runtime *rt, unsigned src, unsigned dst,
                            size_t size);

/* Makes the estimates anew: which devices share the links has changed. Any thread. */
void orr_nodes_estimate(struct orr_runtime *rt);

/* Something became free or unpinned on the node: a progress worker tries
 * again. */
void orr_node_kick(struct orr_runtime *rt, unsigned node);

/* orr_node_kick for each node whose bit is set. */
void orr_nodes_kick(struct orr_runtime *rt, uint64_t nodes);

/* Stops the program if the node is not as it must be. No lock held. */
void orr_node_check(struct orr_runtime *rt, struct orr_node *node);

/* --- admission of jobs (core/data/admit.c, holders.c) --- */

/* The job is to use its data on the node, which has a limit. Returns true when it may:
 * what it has there is held, and the memory that it lacks is reserved. Else it holds
 * nothing, and the context that finds memory for it goes on with it (orr_job_ask). No
 * lock held. Does not block. */
bool orr_admit(struct orr_runtime *rt, struct orr_job *job, unsigned node);

/* The job has given back what it had, and waits for it again, behind all others: not
 * before a task has ended, or relieve.c says so. It was put aside. No lock held. */
void orr_admit_behind(struct orr_runtime *rt, struct orr_job *job,
                      unsigned node);

/* Takes what was reserved for the access, which is `pinned` now; returns the
 * bytes that it does not need any more, for orr_node_unreserve. */
size_t orr_admit_take_locked(struct orr_handle *handle,
                             struct orr_access *access, unsigned node)
    ORR_REQUIRES(handle->lock);

/* The job has dropped its data. */
void orr_admit_leave(struct orr_runtime *rt, struct orr_job *job,
                     struct orr_deferred *deferred);

/* _suspend: the job's task waits inside of its kernel, and frees no memory before it goes
 * on. _resume: it goes on. */
void orr_admit_suspend(struct orr_runtime *rt, const struct orr_job *job);
void orr_admit_resume(struct orr_runtime *rt, const struct orr_job *job);

/* Whether the job, whose data its worker fetches, waits for memory that no admitted job
 * will free. Then the worker puts it aside and starts it anew when `resumed` is
 * called. */
bool orr_admit_put_aside(struct orr_runtime *rt, struct orr_job *job,
                         unsigned node);

/* Something has changed by which the node may have memory for a job that waits. A
 * caller that may serve the node looks at once; else a progress worker is woken, and
 * looks when it looks for requests. No lock held. May call acquisitions' callbacks;
 * does not block. */
void orr_admit_retry(struct orr_runtime *rt, unsigned node);

/* A worker is about to sleep. Where all do, jobs may make values that fill memory:
 * returns whether there are such jobs, for which it looks once more. No lock held. */
bool orr_admit_rests_barred(struct orr_runtime *rt);
static inline bool orr_admit_rests(struct orr_runtime *rt)
{
    return atomic_load(&rt->nodes->relief.barred) && orr_admit_rests_barred(rt);
}

/* The same for a caller that holds a lock: happens when *deferred is done. */
static inline void orr_admit_retry_later(struct orr_runtime *rt, unsigned node,
                                         struct orr_deferred *deferred)
{
    if (atomic_load(&rt->nodes->at[node].admission.nwaiting) ||
        atomic_load(&rt->nodes->relief.barred))
        deferred->admit |= UINT64_C(1) << node;
}

/* Called by progress workers: looks whether jobs that wait for the node's memory can go
 * on. Returns whether one could. No lock held. */
bool orr_admit_serve(struct orr_runtime *rt, unsigned node);

/* For core/data/relieve.c: a context that closes a node is alone to look at the jobs
 * that wait for its memory, in the order in which they came, or at the most urgent one;
 * false: there are none, or another context has closed it. Reopening it serves the jobs
 * that have come meanwhile. One that is turned away is broken (enum orr_broken), and
 * its worker's to give back. No lock held. */
bool orr_admit_close(struct orr_runtime *rt, unsigned node);
const struct orr_job *orr_admit_first(struct orr_runtime *rt, unsigned node);
struct orr_job *orr_admit_next(struct orr_runtime *rt, unsigned node,
                               const struct orr_job *job);
void orr_admit_turn_away(struct orr_runtime *rt, struct orr_job *job,
                         unsigned node);
/* Whether the job would fill memory with what it makes. */
bool orr_admit_is_barred(struct orr_runtime *rt, struct orr_job *job);
/* The job, which gave its memory back, waits as others do. */
void orr_admit_advance(struct orr_runtime *rt, struct orr_job *job,
                       unsigned node);
/* Returns whether a job got memory now: those that held it up may have ended since it was
 * tried. */
bool orr_admit_reopen(struct orr_runtime *rt, unsigned node);

/* When nothing goes on any more: a job that waits for memory goes to other workers,
 * on whose node its data are or could be, or a value to a node that has room. Returns
 * whether there was one, or a job got memory meanwhile, or a reduction is combined to give
 * some; if so, a worker is woken, but for the caller's. No lock held. Does not block.
 * (core/data/relieve.c) */
bool orr_memory_relieve(struct orr_runtime *rt);

/* Whether a job was helped so, and no task has ended since: prefetches would take the
 * room that was just made. Any context. */
bool orr_memory_is_relieved(struct orr_runtime *rt);

/* Says for each node on whose memory jobs wait which jobs these are, and what has the
 * memory. Returns whether there was any. When nothing goes on any more. */
bool orr_memory_explain(struct orr_runtime *rt);
