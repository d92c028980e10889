/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/nextuse.c - eviction by next use, ORRERY_EVICTION=nextuse.
 *
 * What is known of the next use of a block that is not used now:
 *
 *   queued  a job that the policy queued for the node was promised it; of
 *           several the soonest counts: by priority where the policy pops by
 *           priority, then in the order in which they were pushed
 *   far     a job that was submitted will use it, by the handle's order, and
 *           may come to this node: the job's number; under a policy that takes
 *           jobs by what is there (follows_memory), how long it was not used
 *   dead    neither; or its value is going to be overwritten elsewhere
 *
 * each of them clean or dirty (the only copy). Of the dead the oldest leaves
 * first, of the others the one that is needed latest; who needs memory for a
 * job that waits takes dead clean blocks, else dead dirty ones, else the far one
 * with the largest distance from the jobs that the node has reached, per cost,
 * else the queued one that is needed latest. Prefetches take dead ones only.
 *
 * Each of the six classes is a heap. Keys are corrected when they are looked at:
 * a block's place in the heaps is wrong only in that it would leave too early,
 * since whatever makes it leave earlier than before (a promise withdrawn, an
 * access that has ended or went to another node, a value overwritten) moves it
 * at once. What is at the top is checked and moved, if need be; nothing is
 * scanned. Until the node's memory is short for the first time its blocks are in
 * no heap, but have their age, since runs with memory enough should not pay for all
 * that.
 */
#include <errno.h>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/data/evict.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/workers.h"

/* Heaps; + DIRTY: blocks with the only copy. */
enum { DEAD = 0, FAR = 2, QUEUED = 4, DIRTY = 1 };

/* What a copy costs, relative to dropping a block: it must be written back, and the job
 * that needs the memory waits for that. Where age is compared, what was written lately
 * mostly waits for the next task that writes it. */
enum { WRITE_BACK_COST = 6, WRITE_BACK_COST_BY_AGE = 12 };

/* So many accesses of a handle are looked at for one that may come to a node. */
enum { LOOK_AHEAD = 16 };

/* So many victims are passed over because their handles are locked. */
enum { MAX_BUSY = 8 };

/* --- promises --- */

static struct orr_use use_of_promise(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_promise, link)->use;
}

/* What comes first in the order of jobs: the priority, if the policy pops by it. */
static int64_t nextuse_first_key(const struct orr_job *job)
{
    return orr_self->runtime->nodes->pops_by_priority ? -(int64_t)job->priority
                                                      : 0;
}

static struct orr_use use_by_access(const struct orr_access *access)
{
    return (struct orr_use){nextuse_first_key(access->job),
                            orr_job_memory(access->job)->pushed};
}

static bool promise_is_sooner(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return orr_use_is_sooner(use_of_promise(a), use_of_promise(b));
}

static bool is_promised(const struct orr_access *access, unsigned node)
{
    return access->promised && access->node == node;
}

/* From now on all promises of the replicate are in its heap, but those of accesses
 * without order, which are not found; only the choice of victims depends on them. */
static void sort_promises(struct orr_replicate *replicate) ORR_UNCHECKED
{
    if (replicate->sorts)
        return;
    replicate->sorts = true;
    replicate->promises.first = NULL;
    orr_turns_foreach (access, &replicate->handle->turns) {
        struct orr_promise *promise = orr_access_promise(access);

        if (is_promised(access, replicate->node) && promise)
            orr_heap_insert(&replicate->promises, &promise->link,
                            promise_is_sooner);
        else if (!access->granted)
            return; /* it is not ready, nor is any job behind it */
    }
}

static bool soonest_promise(const struct orr_replicate *replicate,
                            struct orr_use *ret)
{
    if (!replicate->promises.first)
        return false;
    *ret = use_of_promise(replicate->promises.first);
    return true;
}

static bool is_pressed(const struct orr_runtime *rt, unsigned node)
{
    return atomic_load_explicit(&rt->nodes->pressed, memory_order_relaxed) &
           orr_bit(node);
}

struct orr_use orr_use_of_prefetch(struct orr_replicate *replicate)
{
    struct orr_use use;

    if (replicate->allocated)
        return (struct orr_use){INT64_MIN, 0};
    if (is_pressed(replicate->handle->runtime, replicate->node))
        sort_promises(replicate);
    if (!soonest_promise(replicate, &use))
        use = (struct orr_use){INT64_MAX, 0};
    return use;
}

/* In runs with memory enough there is one promise in the heap, that of the first job
 * that wants the value. */
static void insert_promise(struct orr_replicate *replicate,
                           struct orr_access *access)
{
    struct orr_heap_link *first = replicate->promises.first;
    struct orr_promise *promise = orr_access_promise(access);

    if (!promise)
        return;
    promise->use = use_by_access(access);
    if (replicate->sorts)
        orr_heap_insert(&replicate->promises, &promise->link,
                        promise_is_sooner);
    else if (!first || (orr_self->runtime->nodes->pops_by_priority &&
                        promise_is_sooner(&promise->link, first)))
        replicate->promises.first = &promise->link;
}

static void nextuse_promise(struct orr_access *access)
    ORR_REQUIRES(access->handle->lock)
{
    struct orr_handle *handle = access->handle;
    struct orr_replicate *replicate = &handle->replicates[access->node];
    struct orr_request *request = replicate->request;

    insert_promise(replicate, access);
    if (request && request->level == ORR_PREFETCH) {
        struct orr_node *node =
            &handle->runtime->nodes->at[request->progress_node];

        orr_lock(&node->lock);
        orr_pending_hasten(node, request, use_by_access(access));
        orr_unlock(&node->lock);
    }
    orr_node_reorder(access->handle, ~orr_bit(access->node), access);
}

static void withdraw(struct orr_access *access)
    ORR_REQUIRES(access->handle->lock)
{
    struct orr_replicate *replicate = &access->handle->replicates[access->node];
    struct orr_heap *heap = &replicate->promises;
    struct orr_promise *promise = orr_access_promise(access);

    if (!replicate->sorts) {
        if (promise && heap->first == &promise->link)
            heap->first = NULL;
    } else if (promise &&
               (heap->first == &promise->link || promise->link.prev)) {
        orr_heap_remove(heap, &promise->link, promise_is_sooner);
    }
    orr_node_reorder(access->handle, orr_bit(access->node), access);
}

/* --- when a block is needed --- */

enum comes { COMES, DOES_NOT, OVERWRITES_ELSEWHERE };

/* Whether an access that has not ended may come to the node. */
static enum comes comes_to(const struct orr_access *access, unsigned node)
{
    unsigned where = node;

    if (access->used)
        return DOES_NOT;
    /* A contribution goes to a partial; where that will be combined with the value is
     * not known. */
    if (access->mode & STARPU_REDUX)
        return COMES;
    if (access->promised || access->pinned)
        where = access->node;
    else if (ORR_JOB_IS(access->job, message)) /* it has not chosen yet */
        return access->mode & STARPU_R ? COMES : OVERWRITES_ELSEWHERE;
    else if (ORR_JOB_IS(access->job, acquire))
        where = orr_job_own(access->job)->node;
    else if (!access->job->type->arrived)
        return access->mode & STARPU_W ? OVERWRITES_ELSEWHERE : DOES_NOT;
    if (where == node)
        return COMES;
    return access->mode & STARPU_W ? OVERWRITES_ELSEWHERE : DOES_NOT;
}

/* The first job that will use the handle on the node, by its order; NULL: none. Where the
 * first few do not, *guessed, and the last of these is taken. */
static const struct orr_job *next_job(const struct orr_handle *handle,
                                      unsigned node, bool *guessed)
    ORR_REQUIRES(handle->lock)
{
    unsigned n = 0;

    orr_turns_foreach (access, &handle->turns) {
        enum comes comes = comes_to(access, node);

        if (comes == COMES)
            return access->job;
        if (++n == LOOK_AHEAD) {
            *guessed = true;
            return access->job;
        }
        if (comes == OVERWRITES_ELSEWHERE)
            return NULL;
    }
    return NULL;
}

static bool goes_by_age(void)
{
    return orr_self->runtime->nodes->follows_memory;
}

/* The heap in which a block of this replicate alone belongs, and its place there, which may
 * be *guessed. The handle is locked. */
static inline unsigned heap_of_replicate(struct orr_replicate *replicate,
                                         const struct orr_block *block,
                                         struct orr_use *ret,
                                         bool *guessed) ORR_UNCHECKED
{
    const struct orr_handle *handle = replicate->handle;
    const struct orr_job *job;
    unsigned dirty;

    *ret = (struct orr_use){-block->age, 0};
    if (orr_replicate_is_outdated(replicate))
        return DEAD;
    dirty = orr_replicate_is_clean(replicate) ? 0 : DIRTY;
    sort_promises(replicate);
    if (soonest_promise(replicate, ret))
        return QUEUED | dirty;
    job = next_job(handle, replicate->node, guessed);
    if (!job)
        return DEAD | dirty;
    if (!goes_by_age())
        *ret = (struct orr_use){nextuse_first_key(job), job->id};
    return FAR | dirty;
}

/* The same of a block in which several live: it is needed when the first of them is.
 * Their handles are locked. */
static unsigned heap_of_several(const struct orr_block *block,
                                struct orr_use *ret)
{
    unsigned place = DEAD, dirty = 0;
    bool guessed;

    *ret = (struct orr_use){-block->age, 0};
    orr_block_foreach(replicate, block)
    {
        struct orr_use use;
        unsigned heap = heap_of_replicate(replicate, block, &use, &guessed);

        dirty |= heap & DIRTY;
        heap &= ~DIRTY;
        if (heap > place || (heap == place && orr_use_is_sooner(use, *ret)))
            *ret = use;
        place = heap > place ? heap : place;
    }
    return place | dirty;
}

static inline unsigned nextuse_heap_of(struct orr_block *block,
                                       struct orr_use *ret)
{
    struct orr_replicate *replicate =
        orr_container(block->inhabitants.next, struct orr_replicate, in_block);

    block->guessed = false;
    return orr_block_is_shared(block)
               ? heap_of_several(block, ret)
               : heap_of_replicate(replicate, block, ret, &block->guessed);
}

/* --- the heaps --- */

static struct orr_block *heap_link_block(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_block, heap);
}

/* The last one needed leaves first; of equals the one registered first. */
static bool leaves_sooner(struct orr_heap_link *a, struct orr_heap_link *b)
{
    const struct orr_block *x = heap_link_block(a), *y = heap_link_block(b);

    if (orr_use_is_sooner(x->use, y->use) || orr_use_is_sooner(y->use, x->use))
        return orr_use_is_sooner(y->use, x->use);
    return x->id < y->id;
}

static bool is_dead(const struct orr_block *block)
{
    return (block->list & ~DIRTY) == DEAD;
}

static void nextuse_insert(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    orr_heap_insert(&node->nextuse.blocks[block->list], &block->heap,
                    leaves_sooner);
}

static void nextuse_remove(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    orr_heap_remove(&node->nextuse.blocks[block->list], &block->heap,
                    leaves_sooner);
}

static void nextuse_unfile(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    if (node->nextuse.pressed)
        nextuse_remove(node, block);
}

/* The locks of the other replicates in the block are not held: the block is taken for
 * dead, which is corrected when it is looked at. */
static unsigned place_or_guess(struct orr_block *block, struct orr_use *ret)
{
    if (!orr_block_is_shared(block))
        return nextuse_heap_of(block, ret);
    *ret = (struct orr_use){-block->age, 0};
    return DEAD;
}

static void insert_in_place(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    if (!node->nextuse.pressed)
        return;
    block->list = (uint8_t)place_or_guess(block, &block->use);
    nextuse_insert(node, block);
}

static void stay(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    if (atomic_load_explicit(&block->leaving, memory_order_relaxed))
        node->nextuse.leaving -= block->size;
    atomic_store_explicit(&block->leaving, 0, memory_order_relaxed);
}

/* Once what was leaving has come to its end, what waited for that is tried again. */
static bool nextuse_file(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    bool left = atomic_load_explicit(&block->leaving, memory_order_relaxed);

    stay(node, block);
    block->age = ++node->youngest;
    insert_in_place(node, block);
    return left || !node->nextuse.pressed || is_dead(block);
}

/* A use makes the block leave later, if anything, so its place may be corrected when it
 * is looked at. */
static void nextuse_touch(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    block->age = ++node->youngest;
}

static void move(struct orr_node *node, struct orr_block *block, unsigned list,
                 struct orr_use use) ORR_REQUIRES(node->lock)
{
    nextuse_remove(node, block);
    block->list = (uint8_t)list;
    block->use = use;
    nextuse_insert(node, block);
}

/* Whether it was in a wrong place, where it is not any more. */
static bool correct(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    struct orr_use use;
    unsigned list = nextuse_heap_of(block, &use);

    if (list == block->list && use.first == block->use.first &&
        use.second == block->use.second)
        return false;
    move(node, block, list, use);
    if (is_dead(block))
        orr_node_changed(node);
    return true;
}

static void reorder_shared(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    struct orr_use use;

    if (!node->nextuse.pressed || block->list == DEAD)
        return;
    orr_node_changed(node);
    move(node, block, place_or_guess(block, &use), use);
}

/* Whether a policy has said where the job goes. */
static bool was_promised(const struct orr_job *job)
{
    const struct orr_job_memory *memory = orr_job_memory(job);

    return memory && memory->pushed;
}

/* Whether the block, in which one replicate lives, may have to leave sooner than from its
 * place, after what `access` did: not if it is there for another use, or for none. (Where
 * jobs go that were promised nothing is known when they fetch their data: the next of
 * these accesses that leaves has the block looked at.) */
static bool may_be_too_late(const struct orr_block *block,
                            const struct orr_access *access) ORR_UNCHECKED
{
    const struct orr_replicate *replicate =
        orr_container(block->inhabitants.next, struct orr_replicate, in_block);
    bool dirty = !orr_replicate_is_clean(replicate);

    if (dirty != (block->list & DIRTY) || !was_promised(access->job))
        return true;
    switch (block->list & ~DIRTY) {
    case DEAD:
        return false;
    case QUEUED: /* by its promise */
        return access->node == block->node;
    default:
        return block->guessed || goes_by_age() ||
               (access->ordered ? block->use.second >= access->job->id
                                : block->use.second == access->job->id);
    }
}

static void reorder(struct orr_node *node, struct orr_block *block,
                    const struct orr_access *access) ORR_REQUIRES(node->lock)
{
    if (orr_block_is_shared(block))
        reorder_shared(node, block);
    else if (may_be_too_late(block, access))
        (void)correct(node, block);
}

/* What several share is not needless because one of them is. */
static void nextuse_demote(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    if (orr_block_is_shared(block)) {
        reorder_shared(node, block);
        return;
    }
    nextuse_unfile(node, block);
    block->age = --node->oldest;
    insert_in_place(node, block);
}

/* All blocks that nobody uses are taken for dead, by age: those that are not are
 * corrected when they are looked at. */
static void fill_heaps(struct orr_node *node) ORR_REQUIRES(node->lock)
{
    orr_list_foreach (link, &node->all) {
        struct orr_block *block =
            orr_container(link, struct orr_block, present);

        if (block->pins > 0)
            continue;
        block->list = DEAD;
        block->use = (struct orr_use){-block->age, 0};
        nextuse_insert(node, block);
    }
}

/* Memory is short for the first time. */
static void press(struct orr_runtime *rt, struct orr_node *node)
{
    orr_lock(&node->lock);
    if (!node->nextuse.pressed) {
        fill_heaps(node);
        orr_pending_sort(node);
    }
    node->nextuse.pressed = true;
    orr_unlock(&node->lock);
    atomic_fetch_or(&rt->nodes->pressed, orr_bit(node->id));
}

/* --- victims --- */

/* Whether the only copy can be sent to its write-back target. It is sent anyway if a
 * request waits for it there, which may be made urgent, and will be out of date if it
 * is going to be overwritten there. */
static bool can_write_back(const struct orr_replicate *replicate)
{
    unsigned to = orr_replicate_write_back_target(replicate);
    const struct orr_request *request =
        replicate->handle->replicates[to].request;

    return orr_replicate_may_be_sent(replicate) &&
           (!request ||
            (request->src == replicate->node && request->level != ORR_FETCH));
}

static bool may_leave(const struct orr_block *block, struct orr_node *node)
{
    if (!orr_block_is_free(block, node))
        return false;
    orr_block_foreach(replicate,
                      block) if (!orr_replicate_is_clean(replicate) &&
                                 !can_write_back(replicate)) return false;
    return true;
}

/* The first block of a heap that may leave, with the handles of all replicates in it
 * locked; blocks before it are put where they belong. NULL: there is none. Unchecked:
 * clang cannot know which lock that is. */
static struct orr_block *first_victim(struct orr_node *node,
                                      unsigned list) ORR_UNCHECKED
{
    struct orr_heap *heap = &node->nextuse.blocks[list];
    struct orr_block *found = NULL;
    struct orr_list aside, *link;
    unsigned busy = 0;

    orr_list_init(&aside);
    while (!found && heap->first && busy < MAX_BUSY) {
        struct orr_block *block = heap_link_block(heap->first);

        if (!orr_block_trylock(block)) {
            busy++;
            atomic_fetch_add_explicit(&node->npassed, 1, memory_order_relaxed);
        } else if (correct(node, block)) {
            orr_block_unlock(block);
            continue;
        } else if (may_leave(block, node)) {
            found = block;
            break;
        } else {
            orr_block_unlock(block);
        }
        nextuse_remove(node, block);
        orr_list_append(&aside, &block->lru);
    }
    while ((link = orr_list_pop(&aside)))
        nextuse_insert(node, orr_container(link, struct orr_block, lru));
    return found;
}

/* How far away the next use of a heap's first victim is. Returns whether it has
 * one. */
static bool nextuse_peek(struct orr_node *node, unsigned list,
                         struct orr_use *ret) ORR_UNCHECKED
{
    struct orr_block *block = first_victim(node, list);

    if (block) {
        *ret = block->use;
        orr_block_unlock(block);
    }
    return block != NULL;
}

/* How far away a far use is: the distance from the jobs that have come to the job that
 * needs the block, or how many blocks were used since. */
static int64_t nextuse_distance(const struct orr_node *node, struct orr_use use)
    ORR_REQUIRES(node->lock)
{
    if (goes_by_age())
        return use.first + node->youngest;
    return (int64_t)use.second -
           (int64_t)atomic_load_explicit(&node->nextuse.reached,
                                         memory_order_relaxed);
}

/* The first entries of two heaps, of clean and of dirty blocks, and whether they have
 * one. */
struct uses {
    struct orr_use clean, dirty;
    int64_t clean_distance, dirty_distance; /* if these are far uses */
    bool has_clean, has_dirty;
};

static struct uses peek_both(struct orr_node *node, unsigned list)
{
    struct uses uses = {.has_clean = false};

    orr_lock(&node->lock);
    uses.has_clean = nextuse_peek(node, list, &uses.clean);
    uses.has_dirty = nextuse_peek(node, list | DIRTY, &uses.dirty);
    uses.clean_distance = nextuse_distance(node, uses.clean);
    uses.dirty_distance = nextuse_distance(node, uses.dirty);
    orr_unlock(&node->lock);
    return uses;
}

/* A heap's first victim, as above. */
static struct orr_block *nextuse_find_victim(struct orr_node *node,
                                             unsigned list) ORR_UNCHECKED
{
    struct orr_block *block;

    orr_lock(&node->lock);
    block = first_victim(node, list);
    orr_unlock(&node->lock);
    return block;
}

static bool evict_from(struct orr_runtime *rt, struct orr_node *node,
                       unsigned list)
{
    struct orr_block *victim = nextuse_find_victim(node, list);

    if (victim)
        orr_evict_victim(rt, victim);
    return victim != NULL;
}

/* The block is offered anew when the copies have ended. A victim of which no copy is
 * started should not exist; it would be tried without end. */
static bool nextuse_write_back_locked(struct orr_runtime *rt,
                                      struct orr_node *node,
                                      struct orr_block *victim,
                                      struct orr_deferred *deferred)
{
    unsigned n = orr_block_write_back(rt, victim, deferred);

    if (n == 0)
        return false;
    atomic_store_explicit(&victim->leaving, n, memory_order_relaxed);
    orr_lock(&node->lock);
    node->nextuse.leaving += victim->size;
    orr_unlock(&node->lock);
    return true;
}

static bool is_empty(struct orr_node *node, unsigned list)
{
    bool empty;

    orr_lock(&node->lock);
    empty = !node->nextuse.blocks[list].first;
    orr_unlock(&node->lock);
    return empty;
}

static bool write_back_from(struct orr_runtime *rt, struct orr_node *node,
                            unsigned list)
{
    struct orr_deferred deferred = {0};
    struct orr_block *victim;
    unsigned spares = ORR_SPARES;
    bool begun = false, enough = false;

    if (is_empty(node, list))
        return false;
    while (!enough && orr_deferred_prepare_n(rt, &deferred, spares) == 0 &&
           (victim = nextuse_find_victim(node, list))) {
        spares = orr_block_spares(victim);
        enough = spares <= deferred.nspare;
        if (enough)
            begun = nextuse_write_back_locked(rt, node, victim, &deferred);
        orr_block_unlock(victim);
    }
    orr_deferred_run(rt, &deferred);
    return begun;
}

static bool free_from(struct orr_runtime *rt, struct orr_node *node,
                      unsigned list)
{
    return list & DIRTY ? write_back_from(rt, node, list)
                        : evict_from(rt, node, list);
}

/* --- making room --- */

/* Whether it fits once what is being written back has left. */
static bool will_fit(struct orr_node *node, size_t size)
{
    size_t leaving;

    orr_lock(&node->lock);
    leaving = node->nextuse.leaving;
    orr_unlock(&node->lock);
    return leaving >= size || (leaving && orr_node_fits(node, size - leaving));
}

/* The far heap, clean or dirty, whose first victim is further away, per cost. */
static bool choose_far(struct orr_node *node, unsigned *ret)
{
    struct uses far = peek_both(node, FAR);
    int64_t cost = goes_by_age() ? WRITE_BACK_COST_BY_AGE : WRITE_BACK_COST;

    *ret = FAR;
    if (!far.has_clean ||
        (far.has_dirty && far.clean_distance * cost < far.dirty_distance))
        *ret |= DIRTY;
    return far.has_clean || far.has_dirty;
}

static bool choose_queued(struct orr_node *node, unsigned *ret)
{
    struct uses queued = peek_both(node, QUEUED);

    *ret = QUEUED;
    if (!queued.has_clean ||
        (queued.has_dirty && orr_use_is_sooner(queued.clean, queued.dirty)))
        *ret |= DIRTY;
    return queued.has_clean || queued.has_dirty;
}

/* What has a next use goes for a job that waits. */
static bool free_needed(struct orr_runtime *rt, struct orr_node *node)
{
    unsigned list;

    return (choose_far(node, &list) || choose_queued(node, &list)) &&
           free_from(rt, node, list);
}

/* Whether the oldest dead block may go for a prefetch that is not urgent. */
static bool is_unwanted(struct orr_node *node)
{
    struct orr_block *block = nextuse_find_victim(node, DEAD);
    bool unwanted = block && orr_block_is_unwanted(block);

    if (block)
        orr_block_unlock(block);
    return unwanted;
}

/* Two are written back at a time, so that one is done when the next request
 * comes. */
static int nextuse_make_room(struct orr_runtime *rt, struct orr_node *node,
                             size_t size, enum orr_fetch_level level)
{
    if (!is_pressed(rt, node->id))
        press(rt, node);
    while (!orr_node_fits(node, size)) {
        if (level == ORR_IDLE_PREFETCH && !is_unwanted(node))
            return -ENOMEM;
        if (evict_from(rt, node, DEAD))
            continue;
        if (level == ORR_IDLE_PREFETCH)
            return -ENOMEM;
        if (will_fit(node, size))
            return -EINPROGRESS;
        if (write_back_from(rt, node, DEAD | DIRTY)) {
            (void)write_back_from(rt, node, DEAD | DIRTY);
            continue;
        }
        if (level == ORR_FETCH && free_needed(rt, node))
            continue;
        return -ENOMEM;
    }
    return 0;
}

static bool may_spare(const struct orr_node *node, size_t size)
    ORR_REQUIRES(node->lock)
{
    return !node->nextuse.pressed || node->nextuse.blocks[DEAD].first ||
           node->nextuse.blocks[DEAD | DIRTY].first ||
           orr_node_fits(node, size);
}

static void nextuse_check(struct orr_node *node) ORR_REQUIRES(node->lock)
{
    for (unsigned i = 0; i < ORR_NEXTUSE_HEAPS; i++) {
        struct orr_heap_link *first = node->nextuse.blocks[i].first;

        ORR_CHECK(!first || node->nextuse.pressed);
        ORR_CHECK(!first || heap_link_block(first)->list == i);
        ORR_CHECK(!first || heap_link_block(first)->node == node->id);
    }
    ORR_CHECK(node->capacity == 0 || node->nextuse.leaving <= node->used);
}

const struct orr_eviction orr_eviction_nextuse = {
    .name = "nextuse",
    .sorts_prefetches = true,
    .promises = true,
    .file = nextuse_file,
    .unfile = nextuse_unfile,
    .touch = nextuse_touch,
    .stay = stay,
    .demote = nextuse_demote,
    .outdate = nextuse_demote,
    .reorder = reorder,
    .promise = nextuse_promise,
    .withdraw = withdraw,
    .may_spare = may_spare,
    .make_room = nextuse_make_room,
    .check = nextuse_check,
};
