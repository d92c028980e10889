/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/node.c - memory nodes: which contexts start their requests, and which
 * blocks could leave.
 */
#include "core/data/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/bus.h"
#include "core/data/eviction.h"
#include "core/data/nodes.h"
#include "core/device/pinned.h"
#include "core/exec/runtime.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"

/* The worker to wake: one that has nothing to do, one that waits for data, or the
 * first. A worker that falls asleep says so before it looks at `nqueued` for the last
 * time, so that it sees what was queued, or is seen here. */
static struct orr_worker *pick_progress_worker(struct orr_runtime *rt,
                                               const struct orr_node *node)
{
    struct orr_worker *waits = NULL, *first = NULL;
    /* A single main memory has none for its requests. */
    unsigned w = node->progress_worker < rt->workers->n ? node->progress_worker
                                                        : 0;

    for (; w < rt->workers->n; w++) {
        struct orr_worker *worker = &rt->workers->at[w];

        if (worker->desc->node != node->id)
            continue;
        if (orr_worker_is_asleep(worker))
            return worker;
        if (!first)
            first = worker;
        if (!waits &&
            atomic_load_explicit(&worker->state, memory_order_relaxed) ==
                ORR_WORKER_FETCHING)
            waits = worker;
    }
    return waits ? waits : first;
}

/* Workers of threads that the application runs itself come by when these like. */
struct orr_mailbox *orr_nodes_find_mailbox(struct orr_runtime *rt)
{
    const struct orr_worker *found = NULL;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];

        if (orr_worker_is_asleep(worker) && !worker->driven)
            return &rt->nodes->at[worker->desc->node].mailbox;
        if (!found || (found->driven && !worker->driven))
            found = worker;
    }
    return &rt->nodes->at[found->desc->node].mailbox;
}

/* From any thread, one that is no context too. */
static void wake_for_post(struct orr_mailbox *mailbox)
{
    struct orr_node *node = orr_container(mailbox, struct orr_node, mailbox);

    struct orr_runtime *rt = node->runtime;
    struct orr_context *stopper;

    orr_worker_wake(pick_progress_worker(rt, node));
    /* Pairs with orr_nodes_serve_posts: the context that stops the workers sees the
     * post, or is seen here. */
    atomic_thread_fence(memory_order_seq_cst);
    stopper = atomic_load_explicit(&rt->workers->stopper, memory_order_relaxed);
    if (stopper)
        orr_context_wake(stopper);
}

/* The workers that start the requests of the node: those that compute there. */
static void set_progress(struct orr_runtime *rt, struct orr_node *node)
{
    unsigned first = rt->workers->n, n = 0;

    for (unsigned w = rt->workers->n; w-- > 0;)
        if (rt->machine->workers[w].node == node->id) {
            first = w;
            n++;
        }
    node->progress_worker = first;
    node->nprogress = n;
}

static void init_cache(const struct orr_machine *machine,
                       struct orr_node *node)
{
    const struct orr_node_desc *desc = &machine->nodes[node->id];

    node->cache.used = orr_node_is_main(desc) ? orr_pinner_of(machine) != NULL
                                              : !desc->stores;
    orr_list_init(&node->cache.aged);
    for (unsigned i = 0; i < ORR_CACHE_LISTS; i++)
        orr_list_init(&node->cache.alike[i]);
}

static int node_init(struct orr_runtime *rt, struct orr_node *node, unsigned id)
{
    unsigned row = rt->machine->row;

    node->id = id;
    node->runtime = rt;
    init_cache(rt->machine, node);
    node->mailbox.wake = wake_for_post;
    node->capacity = rt->machine->nodes[id].capacity;
    node->malloc_flags = STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT;
    node->progress_worker = rt->workers->n;
    /* A single main memory needs none: those of devices start its transfers. */
    if (id != 0 || rt->nodes->nram > 1)
        set_progress(rt, node);
    orr_lock_init(&node->lock, ORR_RANK_NODE);
    orr_list_init(&node->admission.jobs);
    orr_list_init(&node->all);
    for (unsigned list = 0; list < ORR_BLOCK_LISTS; list++)
        orr_list_init(&node->blocks[list]);
    for (unsigned level = 0; level < ORR_FETCH_LEVELS; level++)
        orr_list_init(&node->queues[level]);
    node->inflight = calloc(row * 2, sizeof(*node->inflight));
    node->routes = calloc(row, sizeof(*node->routes));
    if (rt->nodes->eviction->sorts_prefetches) {
        node->prefetches = calloc(row * 2, sizeof(*node->prefetches));
        if (!node->prefetches)
            return -ENOMEM;
    }
    return node->inflight && node->routes ? 0 : -ENOMEM;
}

int orr_nodes_new(struct orr_runtime *rt)
{
    rt->nodes->at = calloc(rt->machine->row, sizeof(*rt->nodes->at));
    if (!rt->nodes->at)
        return -ENOMEM;
    orr_list_init(&rt->nodes->copied);
    for (unsigned id = 0; id < rt->nodes->n; id++)
        if (node_init(rt, &rt->nodes->at[id], id) != 0)
            return -ENOMEM;
    orr_nodes_estimate(rt);
    return 0;
}

/* Main memory, whose requests devices start as long as there are no others, needs
 * workers for those to and from the disk. */
int orr_nodes_add(struct orr_runtime *rt)
{
    unsigned id = rt->nodes->n;
    int err = node_init(rt, &rt->nodes->at[id], id);

    if (err)
        return err;
    if (rt->nodes->at[0].nprogress == 0)
        set_progress(rt, &rt->nodes->at[0]);
    orr_buses_add(rt, id);
    rt->nodes->n = id + 1;
    orr_nodes_estimate(rt);
    return 0;
}

bool orr_nodes_serve_posts(struct orr_runtime *rt)
{
    bool any = false;

    atomic_thread_fence(memory_order_seq_cst);
    for (unsigned id = 0; id < rt->nodes->n; id++)
        any |= orr_mailbox_serve(&rt->nodes->at[id].mailbox);
    return any;
}

void orr_nodes_await_posts(struct orr_runtime *rt)
{
    for (unsigned id = 0; id < rt->nodes->n; id++)
        orr_mailbox_await(&rt->nodes->at[id].mailbox);
}

void orr_nodes_free(struct orr_runtime *rt)
{
    for (unsigned id = 0; rt->nodes->at && id < rt->nodes->n; id++) {
        free(rt->nodes->at[id].inflight);
        free(rt->nodes->at[id].routes);
        free(rt->nodes->at[id].prefetches);
    }
    free(rt->nodes->at);
    rt->nodes->at = NULL;
    free(rt->nodes->brought);
    rt->nodes->brought = NULL;
}

bool orr_node_gives_at_once(const struct orr_runtime *rt, unsigned node)
{
    return node < rt->nodes->nram || rt->nodes->at[node].nprogress == 0;
}

void orr_node_kick(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    if (node->progress_worker < rt->workers->n &&
        (atomic_load(&node->nqueued) ||
         atomic_load(&node->admission.nwaiting) || rt->nodes->tidies))
        orr_worker_wake(node->nprogress == 1
                            ? &rt->workers->at[node->progress_worker]
                            : pick_progress_worker(rt, node));
}

void orr_nodes_kick(struct orr_runtime *rt, uint64_t nodes)
{
    for (; nodes; nodes &= nodes - 1)
        orr_node_kick(rt, (unsigned)__builtin_ctzll(nodes));
}

/* --- what may be evicted --- */

/* The nodes with requests that wait for memory here: the caller, which takes them, has
 * them look. */
static inline uint64_t take_short(struct orr_node *node, enum orr_need need)
{
    _Atomic uint64_t *nodes = &node->short_of_memory[need];

    return atomic_load(nodes) ? atomic_exchange(nodes, 0) : 0;
}

inline uint64_t orr_node_take_short(struct orr_node *node)
{
    uint64_t needed = take_short(node, ORR_NEEDED);

    return needed | take_short(node, ORR_WISHED);
}

/* As orr_node_retry, but only jobs are, and requests for them. */
static inline void node_retry_jobs(struct orr_node *node,
                                   struct orr_deferred *deferred)
{
    orr_node_changed_for_jobs(node);
    deferred->kick |= take_short(node, ORR_NEEDED);
    orr_admit_retry_later(node->runtime, node->id, deferred);
}

static inline void node_retry(struct orr_node *node,
                              struct orr_deferred *deferred)
{
    orr_node_changed(node);
    deferred->kick |= orr_node_take_short(node);
    orr_admit_retry_later(node->runtime, node->id, deferred);
}

void orr_node_retry(struct orr_runtime *rt, unsigned id,
                    struct orr_deferred *deferred)
{
    node_retry(&rt->nodes->at[id], deferred);
}

/* Calls a function of the rule for the handle's block if that is not used. */
static void node_apply_rule(struct orr_handle *handle, unsigned id,
                            void (*change)(struct orr_node *,
                                           struct orr_block *))
    ORR_REQUIRES(handle->lock)
{
    struct orr_replicate *replicate = &handle->replicates[id];
    struct orr_node *node = &handle->runtime->nodes->at[id];

    if (!replicate->offered || !change)
        return;
    orr_lock(&node->lock);
    if (replicate->block->pins == 0)
        change(node, replicate->block);
    orr_unlock(&node->lock);
}

/* What is not important is the first to leave. Returns whether prefetches may take
 * the block. */
static bool node_file_block(struct orr_runtime *rt, struct orr_node *node,
                            const struct orr_handle *handle,
                            struct orr_block *block) ORR_REQUIRES(node->lock)
{
    bool needless = rt->nodes->eviction->file(node, block);

    if (!handle->unimportant || !rt->nodes->eviction->demote)
        return needless;
    rt->nodes->eviction->demote(node, block);
    return true;
}

void orr_node_offer(struct orr_handle *handle, unsigned id,
                    struct orr_deferred *deferred)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_node *node = &rt->nodes->at[id];
    struct orr_replicate *replicate = &handle->replicates[id];
    bool needless = true;

    orr_replicate_unreserve(handle, id, deferred);
    if (!replicate->block)
        return;
    if (!replicate->offered) {
        replicate->offered = true;
        orr_lock(&node->lock);
        if (--replicate->block->pins == 0)
            needless = node_file_block(rt, node, handle, replicate->block);
        orr_unlock(&node->lock);
    }
    if (needless)
        node_retry(node, deferred);
    else
        node_retry_jobs(node, deferred);
}

void orr_node_retain_offered(struct orr_handle *handle, unsigned id)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_node *node = &rt->nodes->at[id];
    struct orr_replicate *replicate = &handle->replicates[id];

    replicate->offered = false;
    orr_lock(&node->lock);
    if (replicate->block->pins++ == 0)
        rt->nodes->eviction->unfile(node, replicate->block);
    orr_unlock(&node->lock);
}

void orr_handle_pin_locked(struct orr_handle *handle, uint64_t nodes)
{
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);

        handle->replicates[node].refs++;
        orr_node_retain(handle, node);
    }
}

void orr_handle_unpin(struct orr_handle *handle, uint64_t nodes)
{
    struct orr_deferred deferred = {0};

    orr_lock(&handle->lock);
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);

        if (--handle->replicates[node].refs == 0)
            orr_node_offer(handle, node, &deferred);
    }
    orr_unlock(&handle->lock);
    orr_deferred_run(handle->runtime, &deferred);
}

void orr_node_touch_offered(struct orr_handle *handle, unsigned id)
{
    const struct orr_eviction *rule = handle->runtime->nodes->eviction;

    node_apply_rule(handle, id,
                    handle->unimportant ? rule->demote : rule->touch);
}

void orr_node_demote(struct orr_handle *handle, unsigned id,
                     struct orr_deferred *deferred)
{
    if (!handle->replicates[id].offered)
        return;
    node_apply_rule(handle, id, handle->runtime->nodes->eviction->demote);
    orr_node_retry(handle->runtime, id, deferred);
}

void orr_node_outdate(struct orr_handle *handle, unsigned id)
{
    orr_node_changed(&handle->runtime->nodes->at[id]);
    node_apply_rule(handle, id, handle->runtime->nodes->eviction->outdate);
}

void orr_node_reorder_some(struct orr_handle *handle, uint64_t nodes,
                           const struct orr_access *access)
{
    const struct orr_runtime *rt = handle->runtime;

    for (; nodes; nodes &= nodes - 1) {
        unsigned id = (unsigned)__builtin_ctzll(nodes);
        struct orr_node *node = &rt->nodes->at[id];
        const struct orr_replicate *replicate = &handle->replicates[id];

        if (!replicate->offered || !rt->nodes->eviction->reorder)
            continue;
        orr_lock(&node->lock);
        if (replicate->block->pins == 0)
            rt->nodes->eviction->reorder(node, replicate->block, access);
        orr_unlock(&node->lock);
    }
}

void orr_node_end_leaving(struct orr_handle *handle, unsigned id,
                          struct orr_deferred *deferred)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_block *block = handle->replicates[id].block;
    struct orr_node *node = &rt->nodes->at[id];
    unsigned left;

    if (!block || !atomic_load_explicit(&block->leaving, memory_order_relaxed))
        return;
    orr_lock(&node->lock);
    left = atomic_load_explicit(&block->leaving, memory_order_relaxed);
    if (left > 1)
        atomic_store_explicit(&block->leaving, left - 1, memory_order_relaxed);
    else
        rt->nodes->eviction->stay(node, block);
    orr_unlock(&node->lock);
    orr_node_retry(rt, id, deferred);
}

void orr_node_freed(struct orr_runtime *rt, unsigned node)
{
    orr_node_changed(&rt->nodes->at[node]);
    orr_nodes_kick(rt, orr_node_take_short(&rt->nodes->at[node]));
    orr_admit_retry(rt, node);
}
