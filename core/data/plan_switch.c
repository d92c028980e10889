/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_switch.c - what a switch of a planned partition does. It has
 * its turn in the orders of the whole and of all parts: no other job uses the
 * data that it writes. It says which of them have the value from now on, and
 * where.
 *
 * In the base, main memory, the parts always are in place in the memory of the whole,
 * unless that has a limit: plan_float.c. On another node a part gets its place in the
 * whole's memory, if the library has allocated that, when the whole hands its value
 * over, provided that the placement of the part is known (placement.h); a part of
 * unknown placement has got its place when the plan was made, on nodes where the whole
 * had such memory then. Where whole and part are in the same block, and one has the
 * value, the other one has it after the switch: nothing is moved. Only if there is no
 * node where this holds for all parts, the value is brought to the base first.
 *
 * Why no byte is lost:
 * - The whole's memory is pinned while the switch looks, so that its block stays, with
 *   all replicates in it.
 * - While it looks, it counts in `writing` of the data that it writes: no copy of them
 *   is started. It waits for copies under way into shared memory, also of the base:
 *   else old bytes would arrive while parts, or the whole, are written there. It also
 *   waits for copies of an old value of the data that it only reads: these bytes are
 *   read as parts, or as the whole, meanwhile. Copies of the present value bring the
 *   bytes that are there anyhow.
 * - So data without a value have no copy under way to shared memory; neither whole
 *   nor parts get one before the next switch by which they are used.
 * - A whole that its parts do not cover, as far as sizes tell, keeps the bytes of no
 *   part in its base alone: such a plan always meets there. Where that memory may leave
 *   (it floats), the whole keeps its value while parts are written; only the bytes of
 *   no part are right in it. It leaves with these, and brings them back before the
 *   parts' values come. It loses this value with its memory in the base only
 *   (had_rests): a whole without value there has no memory there that parts are in.
 * - A part whose own memory on a node is used, or shared with parts of its own, keeps
 *   that memory, and is not in place there.
 *
 * Why it cannot deadlock: a switch that waits for a copy holds only its turn, and a
 * reference on that copy's target, which the copy holds, too; then it looks once more.
 * What it brings to the base it brings like any job.
 */
#include "core/base/bits.h"
#include "core/data/plan_private.h"

#include "core/base/log.h"
#include "core/data/block.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/placement.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/task/end.h"

const struct orr_switch_effect orr_switch_effects[ORR_NSWITCHES] = {
    [ORR_SWITCH_TO_PARTS] = {STARPU_RW, STARPU_W, ORR_GOES, ORR_COMES,
                             ORR_PLAN_WRITE},
    [ORR_SWITCH_TO_READERS] = {STARPU_R, STARPU_W, ORR_STAYS, ORR_COMES,
                               ORR_PLAN_READ},
    [ORR_SWITCH_TO_WHOLE] = {STARPU_W, STARPU_RW, ORR_COMES, ORR_GOES,
                             ORR_PLAN_IDLE},
    [ORR_SWITCH_END_READERS] = {STARPU_R, STARPU_W, ORR_STAYS, ORR_GOES,
                                ORR_PLAN_IDLE},
    [ORR_SWITCH_UPGRADE] = {STARPU_RW, STARPU_R, ORR_GOES, ORR_STAYS,
                            ORR_PLAN_WRITE},
    [ORR_SWITCH_DOWNGRADE] = {STARPU_W, STARPU_R, ORR_COMES, ORR_STAYS,
                              ORR_PLAN_READ},
};

/* What the data are waited for: */
enum step {
    LOOKS,  /* a copy is in the way: then it looks where they are */
    BRINGS, /* all come to the base, or of one that floats the whole … */
    BRINGS_PARTS, /* … and then its parts */
};

static void switch_ready(struct orr_runtime *rt, struct orr_job *job);
static void switch_arrived(struct orr_runtime *rt, struct orr_job *job,
                           int worker);

#define TYPE                                                                   \
    {                                                                          \
        .ready = switch_ready, .arrived = switch_arrived, .is_own = true       \
    }

/* A type for each, so that a job says which it is. */
const struct orr_job_type orr_switch_types[ORR_NSWITCHES] = {TYPE, TYPE, TYPE,
                                                             TYPE, TYPE, TYPE};

#define ORR_SWITCH_IS(job, what)                                               \
    ((job)->type == &orr_switch_types[ORR_SWITCH_##what])

bool orr_job_is_switch(const struct orr_job *job)
{
    return job->type >= orr_switch_types &&
           job->type < orr_switch_types + ORR_NSWITCHES;
}

static const struct orr_switch_effect *effect_of(const struct orr_job *job)
{
    return &orr_switch_effects[job->type - orr_switch_types];
}

static struct orr_handle *switch_whole(const struct orr_job *job)
{
    return job->accesses[0].handle;
}

static struct orr_handle *first_part(const struct orr_job *job)
{
    return job->accesses[1].handle;
}

static bool floats(const struct orr_job *job)
{
    return orr_plan_floats(first_part(job));
}

/* What becomes of the value of the whole, which keeps that for what no part has. */
static enum orr_switch_outcome outcome_of_whole(const struct orr_job *job)
{
    enum orr_switch_outcome outcome = effect_of(job)->of_whole;

    return outcome == ORR_GOES && orr_plan_has_rests(first_part(job))
               ? ORR_STAYS
               : outcome;
}

/* The handle of access i, whose next ones are asked for meanwhile: parts are many,
 * and in no cache. */
static struct orr_handle *handle_at(const struct orr_job *job, unsigned i)
{
    enum { AHEAD = 4, LINES = 6, LINE = 64 };

    if (i + AHEAD < job->naccesses)
        for (int line = 0; line < LINES; line++)
            __builtin_prefetch((const char *)job->accesses[i + AHEAD].handle +
                               line * LINE);
    return job->accesses[i].handle;
}

/* --- no other context moves the data meanwhile --- */

static bool writes(const struct orr_access *access)
{
    return access->mode & STARPU_W;
}

/* The whole's memory stays, and no copy for others begins. Returns the nodes. */
static uint64_t switch_hold_whole(struct orr_job *job)
{
    struct orr_handle *whole = switch_whole(job);
    uint64_t nodes;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_handle *handle = handle_at(job, i);

        orr_lock(&handle->lock);
        handle->writing += writes(&job->accesses[i]);
        orr_unlock(&handle->lock);
    }
    orr_lock(&whole->lock);
    nodes = whole->allocated;
    orr_handle_pin_locked(whole, nodes);
    orr_unlock(&whole->lock);
    return nodes;
}

static void switch_let_go_whole(struct orr_job *job, uint64_t nodes)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_handle *handle = handle_at(job, i);

        orr_lock(&handle->lock);
        handle->writing -= writes(&job->accesses[i]);
        orr_unlock(&handle->lock);
    }
    orr_handle_unpin(switch_whole(job), nodes);
}

static bool switch_access_overwrites(const struct orr_access *access)
{
    return (access->mode & STARPU_RW) == STARPU_W;
}

/* Whether others live in the memory there, or are going to. */
static bool switch_memory_is_shared(const struct orr_access *access,
                                    const struct orr_replicate *replicate,
                                    unsigned base)
{
    return access->index == 0 || replicate->node == base ||
           (replicate->block && orr_block_is_shared(replicate->block));
}

/* Whether the copy brings other bytes than the other party has, or is going to. */
static bool disturbs(const struct orr_access *access,
                     const struct orr_request *request)
{
    return writes(access) || request->stale;
}

/* If there is such a copy under way to such memory, the job is told when it has ended,
 * and holds the memory until then. Memory in the base that is still to be allocated
 * would not be the whole's. */
static bool switch_await_copy(struct orr_access *access, unsigned base,
                              bool floats)
{
    struct orr_handle *handle = access->handle;
    struct orr_deferred deferred = {0};
    uint64_t left;
    bool waits = false;

    orr_lock(&handle->lock);
    left = handle->allocated | (floats ? orr_bit(base) : 0);
    for (; left && !waits; left &= left - 1) {
        struct orr_replicate *replicate =
            &handle->replicates[__builtin_ctzll(left)];

        if (!replicate->request ||
            !switch_memory_is_shared(access, replicate, base) ||
            (replicate->allocated && !disturbs(access, replicate->request)))
            continue;
        waits = true;
        orr_access_set_datum(access, handle);
        access->at = access->node = (uint8_t)replicate->node;
        access->reads = 0;
        access->pinned = 1;
        replicate->refs++;
        replicate->writers += switch_access_overwrites(access);
        orr_request_await_locked(handle, replicate->request, access, &deferred);
    }
    orr_unlock(&handle->lock);
    orr_deferred_run(handle->runtime, &deferred);
    return waits;
}

/* Waits for one copy after the other; it is rare that there is any. */
static bool switch_await_copies(struct orr_job *job)
{
    unsigned base = orr_job_own(job)->node;

    /* Counts the copy, and the caller, so that the job does not go on before this
     * function is done with it. */
    atomic_store_explicit(&job->data.pending, 2, memory_order_relaxed);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (switch_await_copy(&job->accesses[i], base, floats(job)))
            return true;
    return false;
}

/* --- where the other party has its value --- */

/* The part's place there is known, or will be. */
static bool switch_part_has_place(const struct orr_job *job,
                                  const struct orr_handle *part, unsigned node)
{
    if (node == orr_job_own(job)->node)
        return part->family->place.kind != ORR_PLACE_UNKNOWN;
    return part->family->place.kind == ORR_PLACE_DENSE ||
           part->family->place.kind == ORR_PLACE_ROWS;
}

static void place_all(struct orr_runtime *rt, struct orr_job *job,
                      uint64_t nodes)
{
    struct orr_handle *whole = switch_whole(job);

    if (!floats(job))
        nodes &= ~orr_bit(orr_job_own(job)->node);
    else if (orr_plan_has_rests(first_part(job)))
        nodes &= orr_bit(orr_job_own(job)->node);
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);
        bool freed = false;

        if (!whole->replicates[node].block ||
            (rt->machine->nodes[node].handles &&
             orr_placement_lacks_offset(whole)))
            continue;
        for (unsigned i = 1; i < job->naccesses; i++) {
            struct orr_handle *part = handle_at(job, i);
            struct orr_block *own = NULL;

            if (switch_part_has_place(job, part, node))
                own = orr_part_place(part, whole, node);
            freed |= own != NULL;
            orr_block_free(own);
        }
        if (freed)
            orr_node_freed(rt, node);
    }
}

/* Only memory is to be brought for a whole without a value, if it, or its parts, will
 * be written there. */
static void ask_for_memory(struct orr_job *job)
{
    struct orr_access *access = &job->accesses[0];
    struct orr_handle *whole = switch_whole(job);

    orr_lock(&whole->lock);
    if (!whole->valid && writes(access)) {
        access->mode &= (uint16_t)~STARPU_R;
        access->optional = 0;
    }
    orr_unlock(&whole->lock);
}

/* The nodes of these where part and whole, which is pinned there, share memory. */
static uint64_t in_place_locked(const struct orr_handle *part,
                                const struct orr_handle *whole, uint64_t nodes,
                                unsigned base) ORR_REQUIRES(part->lock)
{
    uint64_t result = 0;

    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);
        const struct orr_block *block = whole->replicates[node].block;

        if (block ? part->replicates[node].block == block : node == base)
            result |= orr_bit(node);
    }
    return result;
}

/* Whether the whole's value goes to all parts as it is: there is none, or each of
 * them is in place on a node that has it. */
static bool reaches_parts(struct orr_job *job, uint64_t valid)
{
    bool all = true;

    for (unsigned i = 1; valid && i < job->naccesses; i++) {
        struct orr_handle *part = handle_at(job, i);

        orr_lock(&part->lock);
        all &= in_place_locked(part, switch_whole(job), valid,
                               orr_job_own(job)->node) != 0;
        orr_unlock(&part->lock);
    }
    return all;
}

/* The nodes where all parts that have a value have it in place in the whole;
 * *ret_any: whether some has one, *ret_unreal: … of a skipped kernel. */
static uint64_t common_nodes(struct orr_job *job, uint64_t nodes, bool *ret_any,
                             bool *ret_unreal)
{
    *ret_any = *ret_unreal = false;
    for (unsigned i = 1; i < job->naccesses; i++) {
        struct orr_handle *part = handle_at(job, i);

        orr_lock(&part->lock);
        if (part->valid) {
            nodes &=
                in_place_locked(part, switch_whole(job), nodes & part->valid,
                                orr_job_own(job)->node);
            *ret_any = true;
            *ret_unreal |= part->unreal;
        }
        orr_unlock(&part->lock);
    }
    return nodes;
}

/* --- which data have the value then --- */

static void switch_settle_handle(struct orr_handle *handle,
                                 enum orr_switch_outcome outcome,
                                 uint64_t value, bool unreal)
{
    struct orr_deferred deferred = {0};

    if (outcome == ORR_STAYS)
        return;
    orr_lock(&handle->lock);
    handle->unreal = unreal;
    orr_handle_outdate_retry_locked(handle, outcome == ORR_COMES ? value : 0,
                                    &deferred);
    orr_unlock(&handle->lock);
    orr_deferred_run(handle->runtime, &deferred);
}

static void give_to_parts(struct orr_job *job, uint64_t valid, bool unreal)
{
    const struct orr_switch_effect *effect = effect_of(job);

    for (unsigned i = 1; i < job->naccesses; i++) {
        struct orr_handle *part = handle_at(job, i);
        uint64_t there;

        orr_lock(&part->lock);
        there = in_place_locked(part, switch_whole(job), valid,
                                orr_job_own(job)->node);
        orr_unlock(&part->lock);
        switch_settle_handle(part, effect->of_part, there, unreal);
    }
}

static void complete(struct orr_runtime *rt, struct orr_job *job)
{
    void (*callback)(void *) = orr_job_own(job)->callback;
    void *arg = orr_job_own(job)->arg;

    orr_job_complete(rt, job);
    if (callback)
        orr_call_user(NULL, callback, arg);
}

/* --- readers of several sequences --- */

/* No job writes the whole as long as some task that has it reads parts, so that the
 * value of the parts is right for all. */
static bool is_of_readers(const struct orr_job *job)
{
    return ORR_SWITCH_IS(job, TO_READERS) || ORR_SWITCH_IS(job, END_READERS);
}

/* Returns whether the value is to be moved, which the job does alone. */
static bool count_locked(struct orr_family *family, const struct orr_job *job)
{
    if (ORR_SWITCH_IS(job, TO_READERS))
        family->readers.moving = family->readers.n++ == 0;
    else
        family->readers.moving = --family->readers.n == 0;
    return family->readers.moving;
}

enum turn { MOVES, WAITS, IS_DONE };

static enum turn take_turn(struct orr_job *job)
{
    struct orr_handle *first = first_part(job);
    struct orr_family *family = first->family;
    enum turn turn = WAITS;

    orr_lock(&first->lock);
    if (family->readers.moving)
        orr_list_append(&family->readers.waiting, &job->queue);
    else
        turn = count_locked(family, job) ? MOVES : IS_DONE;
    orr_unlock(&first->lock);
    return turn;
}

/* The value has been moved. Switches that wait have nothing to do, up to the next one
 * that moves it, which is returned. */
static struct orr_job *end_turn(const struct orr_job *job,
                                struct orr_list *ret_done)
{
    struct orr_handle *first = first_part(job);
    struct orr_family *family = first->family;
    struct orr_job *next = NULL;
    struct orr_list *link;

    orr_list_init(ret_done);
    orr_lock(&first->lock);
    if (ORR_SWITCH_IS(job, UPGRADE))
        family->readers.n = 0;
    else if (ORR_SWITCH_IS(job, DOWNGRADE))
        family->readers.n = 1;
    else if (is_of_readers(job))
        family->readers.moving = false;
    while (!family->readers.moving &&
           (link = orr_list_pop(&family->readers.waiting)) != NULL) {
        next = orr_container(link, struct orr_job, queue);
        if (!count_locked(family, next)) {
            orr_list_append(ret_done, link);
            next = NULL;
        }
    }
    orr_unlock(&first->lock);
    return next;
}

static void try_to_switch(struct orr_runtime *rt, struct orr_job *job);

static void switch_end(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_list done, *link;
    struct orr_job *next = end_turn(job, &done);

    complete(rt, job);
    while ((link = orr_list_pop(&done)) != NULL) {
        job = orr_container(link, struct orr_job, queue);
        orr_job_set_state(job, ORR_JOB_RUNNING);
        complete(rt, job);
    }
    if (next)
        try_to_switch(rt, next);
}

static uint64_t valid_of(struct orr_handle *handle)
{
    uint64_t valid;

    orr_lock(&handle->lock);
    valid = handle->valid;
    orr_unlock(&handle->lock);
    return valid;
}

/* Whether parts that will be written first would get memory of their own in the base
 * each, since the whole, which has its memory on `nodes`, has none there. */
static bool lacks_base(const struct orr_job *job, uint64_t nodes,
                       uint64_t valid)
{
    return floats(job) && !valid && writes(&job->accesses[0]) &&
           !(nodes & orr_bit(orr_job_own(job)->node));
}

/* Whether the value is where it has to be; then it is handed over. The whole has
 * its memory on `nodes`. */
static bool switch_hand_over(struct orr_runtime *rt, struct orr_job *job,
                             uint64_t nodes)
{
    const struct orr_switch_effect *effect = effect_of(job);
    struct orr_handle *whole = switch_whole(job);
    bool unreal = whole->unreal, any;
    uint64_t valid = valid_of(whole);

    if (effect->of_whole == ORR_COMES) {
        valid = common_nodes(job, nodes, &any, &unreal);
        if (orr_plan_has_rests(first_part(job)) && valid_of(whole))
            valid &= valid_of(whole);
        if (any && !valid)
            return false;
        valid = any ? valid : 0;
    } else if (effect->of_part == ORR_COMES) {
        place_all(rt, job, nodes);
        if (!reaches_parts(job, valid) || lacks_base(job, nodes, valid))
            return false;
    }
    switch_settle_handle(whole, outcome_of_whole(job), valid, unreal);
    give_to_parts(job, valid, unreal);
    return true;
}

/* --- a switch's turn --- */

/* The switch takes no place in the order of the whole, which keeps its value. */
static bool is_unordered(const struct orr_job *job)
{
    return !job->accesses[0].wants_order;
}

static void try_to_switch(struct orr_runtime *rt, struct orr_job *job)
{
    uint64_t nodes;
    bool done;

    orr_job_own(job)->step = LOOKS;
    if (!is_unordered(job)) {
        nodes = switch_hold_whole(job);
        if (switch_await_copies(job)) {
            switch_let_go_whole(job, nodes);
            orr_job_arrive(rt, job);
            return;
        }
        done = switch_hand_over(rt, job, nodes);
        switch_let_go_whole(job, nodes);
        if (done) {
            orr_job_set_state(job, ORR_JOB_RUNNING);
            switch_end(rt, job);
            return;
        }
    }
    orr_job_own(job)->step = BRINGS;
    if (floats(job))
        ask_for_memory(job);
    if (orr_job_fetch(rt, job, orr_job_own(job)->node))
        switch_arrived(rt, job, -1);
}

static void switch_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    orr_job_set_state(job, ORR_JOB_FETCHING);
    switch (is_of_readers(job) ? take_turn(job) : MOVES) {
    case MOVES:
        try_to_switch(rt, job);
        break;
    case IS_DONE:
        orr_job_set_state(job, ORR_JOB_RUNNING);
        complete(rt, job);
        break;
    case WAITS:
        break;
    }
}

/* Whether one of the accesses from `first` to `last` found a value; and whether
 * one is the result of a skipped kernel. */
static bool find_value(const struct orr_job *job, unsigned first, unsigned last,
                       bool *ret_unreal)
{
    bool found = false;

    *ret_unreal = false;
    for (unsigned i = first; i <= last; i++) {
        struct orr_handle *handle = handle_at(job, i);

        orr_lock(&handle->lock);
        found |= handle->valid != 0;
        *ret_unreal |= handle->valid && handle->unreal;
        orr_unlock(&handle->lock);
    }
    return found;
}

/* All that has a value has it in the base now, each where it is to be. */
static void settle_in_base(struct orr_runtime *rt, void *arg)
{
    struct orr_job *job = arg;
    const struct orr_switch_effect *effect = effect_of(job);
    bool to_whole = effect->of_whole == ORR_COMES;
    bool keeps = is_unordered(job) && effect->of_whole == ORR_GOES;
    uint64_t value = 0;
    bool unreal;

    if (to_whole ? find_value(job, 1, job->naccesses - 1u, &unreal)
                 : find_value(job, 0, 0, &unreal))
        value = orr_bit(orr_job_own(job)->node);
    orr_job_take_data(rt, job, orr_job_own(job)->node);
    orr_job_set_state(job, ORR_JOB_RUNNING);
    switch_settle_handle(switch_whole(job),
                         keeps ? ORR_COMES : outcome_of_whole(job), value,
                         unreal);
    for (unsigned i = 1; i < job->naccesses; i++)
        switch_settle_handle(job->accesses[i].handle, effect->of_part, value,
                             unreal);
    orr_parts_let_go(rt, job);
    switch_end(rt, job);
}

/* All that has a value has it in the base. */
static void switch_in_base(struct orr_runtime *rt, struct orr_job *job)
{
    if (floats(job))
        orr_parts_copy(rt, job, effect_of(job)->of_whole == ORR_COMES,
                       settle_in_base);
    else
        settle_in_base(rt, job);
}

/* The whole, which floats, is in the base, unless there was nothing to bring: now its
 * parts come. */
static void bring_parts(struct orr_runtime *rt, struct orr_job *job)
{
    if (switch_whole(job)->allocated & orr_bit(orr_job_own(job)->node) &&
        !orr_parts_settle(rt, job)) {
        orr_job_forget_data(rt, job);
        try_to_switch(rt, job);
    } else if (effect_of(job)->of_whole == ORR_COMES) {
        orr_job_own(job)->step = BRINGS_PARTS;
        orr_parts_ask(rt, job);
    } else {
        switch_in_base(rt, job);
    }
}

/* The copy that was waited for has ended. */
static void switch_unpin(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_deferred deferred = {0};

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        if (!access->pinned)
            continue;
        orr_lock(&access->handle->lock);
        orr_access_drop_locked(access->handle, access, &deferred);
        access->used = 0;
        orr_unlock(&access->handle->lock);
    }
    orr_deferred_run(rt, &deferred);
}

/* A copy that was waited for has ended, or the values are in the base. */
static void switch_arrived(struct orr_runtime *rt, struct orr_job *job,
                           int worker)
{
    (void)worker;
    switch (orr_job_own(job)->step) {
    case LOOKS:
        switch_unpin(rt, job);
        try_to_switch(rt, job);
        break;
    case BRINGS:
        if (floats(job))
            bring_parts(rt, job);
        else
            switch_in_base(rt, job);
        break;
    default:
        job->accesses[0].at = (uint8_t)orr_job_own(job)->node;
        switch_in_base(rt, job);
        break;
    }
}
