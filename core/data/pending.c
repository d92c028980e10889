/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/pending.c - see pending.h. */
#include "core/data/pending.h"

#include "core/base/bits.h"
#include "core/data/eviction.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"

/* Copies under way per (progress node, peer, direction), by urgency, as in
 * StarPU. */
static const unsigned max_inflight[ORR_FETCH_LEVELS] = {5, 2, 1};

static struct orr_request *of_soon(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_request, soon);
}

static bool is_sooner(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return orr_use_is_sooner(of_soon(a)->use, of_soon(b)->use);
}

/* The node at the other end of the copy; 1: it comes from there. */
static unsigned peer_of(const struct orr_node *node,
                        const struct orr_request *request)
{
    return node->id == request->dst ? request->src : request->dst;
}

static unsigned direction_of(const struct orr_node *node,
                             const struct orr_request *request)
{
    return node->id == request->dst;
}

static unsigned link_of(const struct orr_node *node,
                        const struct orr_request *request)
{
    return peer_of(node, request) * 2 + direction_of(node, request);
}

static void pending_insert(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock)
{
    request->sorted = true;
    node->prefetch_peers[direction_of(node, request)] |=
        orr_bit(peer_of(node, request));
    orr_heap_insert(&node->prefetches[link_of(node, request)], &request->soon,
                    is_sooner);
}

static bool sorts(const struct orr_node *node,
                  const struct orr_request *request) ORR_REQUIRES(node->lock)
{
    return node->sorted && request->level == ORR_PREFETCH &&
           request->src != ORR_NO_NODE;
}

/* A number that sorts requests by priority, then by age. */
static uint64_t pending_order(const struct orr_request *request, uint64_t age)
{
    enum { MOST = 1 << 18, SHIFT = 44 };
    int priority = request->priority;

    priority = priority > MOST ? MOST : priority < -MOST ? -MOST : priority;
    return (uint64_t)(MOST - priority) << SHIFT | age;
}

/* Behind the last one whose priority is not lower: mostly all are equal. */
static void append_by_priority(struct orr_list *queue,
                               struct orr_request *request)
{
    struct orr_list *link = queue->prev;

    while (link != queue &&
           orr_container(link, struct orr_request, link)->priority <
               request->priority)
        link = link->prev;
    orr_list_prepend(link, &request->link);
}

void orr_pending_add(struct orr_node *node, struct orr_request *request)
{
    /* What needs no memory comes first, what no queued job needs last. */
    if (request->use.first == INT64_MIN || request->use.first == INT64_MAX)
        request->use.second = pending_order(request, ++node->nenqueued);
    if (sorts(node, request))
        pending_insert(node, request);
    else
        append_by_priority(&node->queues[request->level], request);
}

void orr_pending_put_back(struct orr_node *node, struct orr_request *request)
{
    if (sorts(node, request))
        pending_insert(node, request);
    else
        orr_list_prepend(&node->queues[request->level], &request->link);
}

bool orr_pending_has(const struct orr_request *request)
{
    return request->sorted || !orr_link_free(&request->link);
}

void orr_pending_remove(struct orr_node *node, struct orr_request *request)
{
    struct orr_heap *heap;

    if (!request->sorted) {
        orr_list_remove(&request->link);
        return;
    }
    heap = &node->prefetches[link_of(node, request)];
    orr_heap_remove(heap, &request->soon, is_sooner);
    request->sorted = false;
    if (!heap->first)
        node->prefetch_peers[direction_of(node, request)] &=
            ~orr_bit(peer_of(node, request));
}

void orr_pending_hasten(struct orr_node *node, struct orr_request *request,
                        struct orr_use use)
{
    bool sorted = request->sorted;

    if (!orr_use_is_sooner(use, request->use))
        return;
    if (sorted)
        orr_pending_remove(node, request);
    request->use = use;
    if (sorted)
        pending_insert(node, request);
}

bool orr_request_has_reserved(const struct orr_request *request)
{
    return atomic_load_explicit(
               &request->handle->replicates[request->dst].reserved,
               memory_order_relaxed) > 0;
}

/* Whether the request would need memory of its destination, and none is reserved for
 * it. Once it has memory, only its own end takes that away. A request that counts as
 * leaving is tried even so: if it finds no memory it does not count any more. */
static bool needs_memory(const struct orr_request *request,
                         const struct orr_full *full)
{
    return !atomic_load_explicit(&request->leaving, memory_order_relaxed) &&
           !(atomic_load_explicit(&request->handle->allocated,
                                  memory_order_relaxed) &
             orr_bit(request->dst)) &&
           (!orr_request_has_reserved(request) ||
            full->machines & orr_bit(request->dst));
}

/* Whether prefetches find no memory for so many bytes: free memory is kept for jobs
 * that wait, and there is nothing else that prefetches may take. */
static bool has_none_to_spare(const struct orr_node *node, size_t size)
    ORR_REQUIRES(node->lock)
{
    const struct orr_eviction *rule = node->runtime->nodes->eviction;

    return atomic_load(&node->admission.nwaiting) ||
           (rule->may_spare && !rule->may_spare(node, size));
}

/* Whether it was tried without success for as many bytes, and nothing has changed
 * since. A context that has made it more urgent queues it anew, and has it tried. */
static bool request_would_fail(struct orr_node *node,
                               const struct orr_request *request,
                               unsigned level) ORR_REQUIRES(node->lock)
{
    size_t size = request->starved;

    return size && request->dst == node->id &&
           (orr_node_is_vain(node, size, (enum orr_fetch_level)level) ||
            (level != ORR_FETCH && has_none_to_spare(node, size)));
}

/* The request is queued at that level. */
static bool lacks_memory(struct orr_node *node,
                         const struct orr_request *request, unsigned level,
                         struct orr_full *full) ORR_REQUIRES(node->lock)
{
    bool is_full = full->nodes & orr_bit(request->dst);
    bool vain = !is_full && request_would_fail(node, request, level);

    if (!(is_full || vain) || !needs_memory(request, full))
        return false;
    if (vain)
        full->vain[orr_need_of((enum orr_fetch_level)level)] = true;
    return true;
}

static struct orr_request *first_of_list(struct orr_node *node, unsigned level,
                                         struct orr_full *full)
    ORR_REQUIRES(node->lock)
{
    orr_list_foreach (link, &node->queues[level]) {
        struct orr_request *request =
            orr_container(link, struct orr_request, link);

        if (lacks_memory(node, request, level, full))
            continue;
        if (request->src == ORR_NO_NODE ||
            node->inflight[link_of(node, request)] < max_inflight[level])
            return request;
    }
    return NULL;
}

/* If the most urgent prefetch of a link lacks memory all others of the link wait behind
 * it: those that have memory come first. */
static struct orr_request *
first_of_heaps(struct orr_node *node, unsigned direction, struct orr_full *full)
    ORR_REQUIRES(node->lock)
{
    struct orr_request *best = NULL;

    for (uint64_t left = node->prefetch_peers[direction]; left;
         left &= left - 1) {
        unsigned link = (unsigned)__builtin_ctzll(left) * 2 + direction;
        struct orr_request *request = of_soon(node->prefetches[link].first);

        if (node->inflight[link] < max_inflight[ORR_PREFETCH] &&
            !lacks_memory(node, request, ORR_PREFETCH, full) &&
            (!best || orr_use_is_sooner(request->use, best->use)))
            best = request;
    }
    return best;
}

static struct orr_request *first_of_level(struct orr_node *node, unsigned level,
                                          struct orr_full *full)
    ORR_REQUIRES(node->lock)
{
    struct orr_request *request = first_of_list(node, level, full);

    for (unsigned way = 0; level == ORR_PREFETCH && !request && way < 2; way++)
        request = first_of_heaps(node, way, full);
    return request;
}

struct orr_request *orr_pending_take(struct orr_node *node, unsigned *level,
                                     struct orr_full *full)
{
    struct orr_request *request = NULL;

    while (!(request = first_of_level(node, *level, full)))
        if (++*level == ORR_FETCH_LEVELS)
            return NULL;
    orr_pending_remove(node, request);
    if (request->src != ORR_NO_NODE)
        node->inflight[link_of(node, request)]++;
    return request;
}

void orr_pending_sort(struct orr_node *node)
{
    struct orr_list *list = &node->queues[ORR_PREFETCH];
    struct orr_list *next;

    node->sorted = true;
    for (struct orr_list *link = list->next; link != list; link = next) {
        struct orr_request *request =
            orr_container(link, struct orr_request, link);

        next = link->next;
        if (!sorts(node, request))
            continue;
        orr_list_remove(link);
        pending_insert(node, request);
    }
}
