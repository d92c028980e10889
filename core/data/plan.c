/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan.c - planned partitions, see plan.h: which switches a use of the
 * whole or of a part needs, and what a switch is.
 *
 * Whole and parts meet in the memory of the whole in its base, which is pinned as
 * long as there are plans, or, where main memory has a limit, brought there for a
 * switch that needs it (plan_float.c). A switch is a job that takes its place in the orders of
 * the whole and of all parts, brings there what has to be there, and then says
 * which of them have the value from now on; no task runs for it.
 *
 * The plans lock is held from the first look at the states until the switches and the
 * job that needs them have their places in the orders: what has been submitted is one
 * sequence for all plans, whichever threads submit. The jobs are released after that.
 * That adds no way to a deadlock: a switch waits for accesses that entered the orders
 * before it only, like any job.
 */
#include "core/data/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/block.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/pending.h"
#include "core/data/plan_private.h"
#include "core/data/reduction.h"
#include "core/data/registry.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/inside.h"
#include "core/job/job.h"

/* The accesses of a switch are numbered by 16 bits, the whole is one of them. */
enum { MOST_CHILDREN = UINT16_MAX - 1 };

static bool plan_floats(const struct orr_plan *plan)
{
    return orr_plan_floats(plan->children[0]);
}

/* --- submitting switches --- */

/* Switches that have their places in the orders and are still to be released. */
struct batch {
    struct orr_runtime *rt;
    struct orr_nest *nest; /* of the task that submits them; NULL: none does */
    struct orr_scope *in;  /* in whose sequence they are; NULL: the outermost */
    struct orr_list jobs;
};

static void begin_batch(struct orr_runtime *rt, struct batch *batch)
    ORR_ACQUIRES(rt->data->plans_lock)
{
    batch->rt = rt;
    batch->nest = orr_nest_here(rt);
    batch->in = NULL;
    orr_list_init(&batch->jobs);
    orr_lock(&rt->data->plans_lock);
}

/* Returns whether there were any. */
static bool end_batch(struct orr_runtime *rt, struct batch *batch)
    ORR_RELEASES(rt->data->plans_lock)
{
    bool any = !orr_list_empty(&batch->jobs);
    struct orr_list *link;

    orr_unlock(&rt->data->plans_lock);
    while ((link = orr_list_pop(&batch->jobs)) != NULL)
        orr_job_release(rt, orr_container(link, struct orr_job, queue));
    return any;
}

static struct orr_job *new_switch(struct orr_runtime *rt, enum orr_switch what,
                                  unsigned n)
{
    struct orr_job *job = orr_job_new(rt, &orr_switch_types[what], n);

    if (job) {
        orr_job_nest(rt, job);
        return job;
    }
    orr_log_error("out of memory while partitioned data are switched");
    abort();
}

/* Chooses the sequence in which the handle is used. */
static void batch_choose_sequence(struct batch *batch,
                                  const struct orr_handle *handle, bool writes)
{
    batch->in = orr_inner_find(batch->rt, batch->nest, handle, writes);
}

static enum orr_plan_state batch_plan_state(const struct batch *batch,
                                            const struct orr_plan *plan)
{
    return orr_inner_state(batch->in, plan);
}

/* How the switch uses the whole. Where the whole takes its value back, the bytes of no
 * part have to be brought, too. */
static unsigned mode_of_whole(const struct orr_plan *plan, enum orr_switch what)
{
    const struct orr_switch_effect *effect = &orr_switch_effects[what];

    return effect->whole | (effect->of_whole == ORR_COMES &&
                                    orr_plan_has_rests(plan->children[0])
                                ? STARPU_R
                                : 0u);
}

static void batch_submit_switch(struct batch *batch, struct orr_plan *plan,
                                enum orr_switch what,
                                const struct orr_switch_options *options)
{
    const struct orr_switch_effect *effect = &orr_switch_effects[what];
    struct orr_job *job = new_switch(batch->rt, what, plan->n + 1);
    /* The whole is brought to its base before its parts: plan_float.c. */
    bool alone = plan_floats(plan);

    orr_inner_begin(batch->rt, batch->in, plan);
    for (unsigned i = 0; i <= plan->n; i++)
        job->accesses[i] = (struct orr_access){
            .job = job,
            .handle = i ? plan->children[i - 1] : plan->whole,
            .mode = (uint16_t)(i ? effect->part : mode_of_whole(plan, what)),
            .index = (uint16_t)i,
            .wants_order = i > 0 || !options || !options->unordered,
            .optional = 1,
            .placed = i > 0 && alone,
        };
    if (effect->of_whole == ORR_COMES)
        orr_parts_hand_back_beginning(plan, job);
    job->data.spread = alone;
    orr_job_own(job)->node = orr_handle_base(plan->whole);
    orr_job_own(job)->scope = batch->in;
    orr_job_own(job)->callback = options ? options->callback : NULL;
    orr_job_own(job)->arg = options ? options->arg : NULL;
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_enter_orders(batch->rt, job, orr_job_sort_accesses(job));
    orr_list_append(&batch->jobs, &job->queue);
    orr_inner_set(batch->rt, batch->in, plan, effect->then);
}

/* --- which switches are needed --- */

static struct orr_plan *plan_at(struct orr_list *link)
{
    return orr_container(link, struct orr_plan, link);
}

static void join_all(struct batch *batch, struct orr_handle *handle);

/* The whole is used again, after the parts of parts. */
static void batch_join_plan(struct batch *batch, struct orr_plan *plan)
{
    enum orr_plan_state state = batch_plan_state(batch, plan);

    if (state == ORR_PLAN_IDLE)
        return;
    for (unsigned i = 0; i < plan->n; i++)
        join_all(batch, plan->children[i]);
    batch_submit_switch(batch, plan,
                        state == ORR_PLAN_WRITE ? ORR_SWITCH_TO_WHOLE
                                                : ORR_SWITCH_END_READERS,
                        NULL);
}

static void join_all(struct batch *batch, struct orr_handle *handle)
{
    orr_list_foreach (link, &handle->family->plans)
        batch_join_plan(batch, plan_at(link));
}

/* The handle is to be used itself: for writing, or only read. */
static void join_for(struct batch *batch, struct orr_handle *handle,
                     bool writes)
{
    orr_list_foreach (link, &handle->family->plans)
        if (writes || batch_plan_state(batch, plan_at(link)) == ORR_PLAN_WRITE)
            batch_join_plan(batch, plan_at(link));
}

/* The plan of which the handle is a part, unless a task around has the part itself;
 * NULL: none. */
static struct orr_plan *plan_above(const struct batch *batch,
                                   const struct orr_handle *handle)
{
    return batch->in && batch->in->handle == handle ? NULL
                                                    : orr_handle_plan(handle);
}

/* From the root down: switches to the plans of which the handle is a part, for writing
 * if the handle is to be written. Then no other plan of their wholes is in use; if the
 * handle is only to be read, other plans may be read, too. */
static void activate(struct batch *batch, struct orr_handle *handle,
                     bool writes)
{
    struct orr_plan *plan = plan_above(batch, handle);

    if (!plan)
        return;
    activate(batch, plan->whole, writes);
    orr_list_foreach (link, &plan->whole->family->plans)
        if (plan_at(link) != plan &&
            (writes ||
             batch_plan_state(batch, plan_at(link)) == ORR_PLAN_WRITE))
            batch_join_plan(batch, plan_at(link));
    if (writes && batch_plan_state(batch, plan) == ORR_PLAN_READ)
        batch_join_plan(batch, plan);
    if (batch_plan_state(batch, plan) == ORR_PLAN_IDLE)
        batch_submit_switch(
            batch, plan, writes ? ORR_SWITCH_TO_PARTS : ORR_SWITCH_TO_READERS,
            NULL);
}

/* The handle is the one to be used: its parts are joined, or only read if it is
 * only read. */
static void batch_use_handle(struct batch *batch, struct orr_handle *handle,
                             bool writes)
{
    batch_choose_sequence(batch, handle, writes);
    activate(batch, handle, writes);
    join_for(batch, handle, writes);
}

static bool is_usable(struct batch *batch, struct orr_handle *handle,
                      bool writes)
{
    const struct orr_plan *plan;

    batch_choose_sequence(batch, handle, writes);
    plan = plan_above(batch, handle);
    orr_list_foreach (link, &handle->family->plans)
        if (batch_plan_state(batch, plan_at(link)) >
            (writes ? ORR_PLAN_IDLE : ORR_PLAN_READ))
            return false;
    return !plan || batch_plan_state(batch, plan) >=
                        (writes ? ORR_PLAN_WRITE : ORR_PLAN_READ);
}

static bool is_write(uint32_t mode)
{
    return (mode & (STARPU_W | STARPU_REDUX)) != 0;
}

static bool concerns_plans(const struct orr_access *access)
{
    return access->handle->family && !access->lent &&
           !(access->mode & (STARPU_NOPLAN | STARPU_SCRATCH));
}

bool orr_job_concerns_plans(const struct orr_job *job)
{
    bool result = false;

    if (job->task && job->task->cl &&
        job->task->cl->flags & STARPU_CODELET_NOPLANS)
        return false;
    for (unsigned i = 0; i < job->naccesses; i++)
        result |= concerns_plans(&job->accesses[i]);
    return result;
}

/* --- submissions --- */

static void use_all(struct batch *batch, const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_handle *handle = job->accesses[i].handle;
        bool writes = is_write(job->accesses[i].mode);

        if (!concerns_plans(&job->accesses[i]))
            continue;
        batch_use_handle(batch, handle, writes);
        if (writes)
            orr_plans_note_beginning(handle);
    }
}

/* The access of the job that cannot go together with another one; NULL: none. */
static const struct orr_access *find_conflict(struct batch *batch,
                                              const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (concerns_plans(access) &&
            !is_usable(batch, access->handle, is_write(access->mode)))
            return access;
    }
    return NULL;
}

/* Parts of several plans can be read together once those that were written are joined:
 * then the first look is repeated. */
void orr_plans_order(struct orr_runtime *rt, struct orr_job *job,
                     struct orr_access *chain)
{
    const struct orr_access *conflict;
    struct batch batch;

    begin_batch(rt, &batch);
    use_all(&batch, job);
    if (find_conflict(&batch, job))
        use_all(&batch, job);
    conflict = find_conflict(&batch, job);
    orr_job_enter_orders(rt, job, chain);
    (void)end_batch(rt, &batch);
    if (!conflict)
        return;
    orr_log_error("`%s' uses data and a part of them, or parts of two "
                  "partitions, and writes one of them (buffer %u): use either, "
                  "or only read",
                  orr_job_name(job), conflict->index);
    abort();
}

bool orr_plans_prepare(struct orr_runtime *rt, struct orr_handle *handle,
                       uint32_t mode)
{
    struct batch batch;

    begin_batch(rt, &batch);
    batch_use_handle(&batch, handle, is_write(mode));
    return end_batch(rt, &batch);
}

/* --- what the application asks for --- */

void orr_plan_switch(struct orr_runtime *rt, struct orr_plan *plan,
                     enum orr_switch what,
                     const struct orr_switch_options *options)
{
    struct batch batch;

    if (what == ORR_SWITCH_TO_READERS)
        (void)orr_handle_begin(rt, plan->whole);
    begin_batch(rt, &batch);
    batch_choose_sequence(&batch, plan->whole,
                          orr_switch_effects[what].whole & STARPU_W);
    for (unsigned i = 0; i < plan->n; i++)
        join_for(&batch, plan->children[i],
                 orr_switch_effects[what].of_part == ORR_GOES);
    batch_submit_switch(&batch, plan, what, options);
    if (what == ORR_SWITCH_TO_PARTS || what == ORR_SWITCH_TO_READERS)
        orr_inner_ask(batch.in, plan);
    (void)end_batch(rt, &batch);
}

enum orr_plan_state orr_plan_state(struct orr_runtime *rt,
                                   struct orr_plan *plan,
                                   bool *ret_other_is_used)
{
    enum orr_plan_state state;
    struct batch batch;

    *ret_other_is_used = false;
    begin_batch(rt, &batch);
    batch_choose_sequence(&batch, plan->whole, false);
    state = batch_plan_state(&batch, plan);
    orr_list_foreach (link, &plan->whole->family->plans)
        *ret_other_is_used |=
            plan_at(link) != plan &&
            batch_plan_state(&batch, plan_at(link)) != ORR_PLAN_IDLE;
    (void)end_batch(rt, &batch);
    return state;
}

/* Copies the first `max` parts that are used to parts[]; returns how many there
 * are. *ret_written: the whole is not used beside them. */
static unsigned used_parts(struct orr_runtime *rt, struct orr_handle *handle,
                           struct orr_handle **parts, unsigned max,
                           bool *ret_written)
{
    struct batch batch;
    unsigned n = 0;

    *ret_written = false;
    begin_batch(rt, &batch);
    batch_choose_sequence(&batch, handle, false);
    orr_list_foreach (link, &handle->family->plans) {
        const struct orr_plan *plan = plan_at(link);
        enum orr_plan_state state = batch_plan_state(&batch, plan);

        *ret_written |= state == ORR_PLAN_WRITE;
        for (unsigned i = 0; state && i < plan->n; i++, n++)
            if (n < max)
                parts[n] = plan->children[i];
    }
    (void)end_batch(rt, &batch);
    return n;
}

bool orr_plans_advise(struct orr_runtime *rt, struct orr_handle *handle,
                      void (*advise)(struct orr_runtime *rt,
                                     struct orr_handle *part))
{
    struct orr_handle **parts;
    bool written = false;
    unsigned n, now;

    if (!orr_handle_has_plans(handle))
        return false;
    n = used_parts(rt, handle, NULL, 0, &written);
    parts = malloc((n + 1) * sizeof(struct orr_handle *));
    now = parts ? used_parts(rt, handle, parts, n, &written) : 0;
    for (unsigned i = 0; i < now && i < n; i++)
        advise(rt, parts[i]);
    free(parts);
    return written;
}

void orr_inner_plans_end(struct orr_runtime *rt, struct orr_nest *nest)
{
    struct batch batch;

    begin_batch(rt, &batch);
    orr_inner_end_asking(nest);
    for (unsigned i = 0; i < nest->nscopes; i++) {
        batch.in = &nest->scopes[i];
        if (batch.in->handle && batch.in->handle->family &&
            !(batch.in->mode & STARPU_W))
            join_all(&batch, batch.in->handle);
    }
    (void)end_batch(rt, &batch);
}

bool orr_handle_has_plans(const struct orr_handle *handle)
{
    return handle->family && !orr_list_empty(&handle->family->plans);
}

bool orr_plans_repeat(struct orr_handle *handle, unsigned node)
{
    struct orr_runtime *rt = handle->runtime;
    const struct orr_block *block = handle->replicates[node].block;
    const struct orr_plan *of;
    bool repeats;

    if (!handle->family || !(block ? orr_block_is_shared(block)
                                   : node == orr_handle_base(handle)))
        return false;
    orr_lock(&rt->data->plans_lock);
    of = orr_handle_plan(handle);
    repeats = of && of->whole->valid;
    orr_list_foreach (link, &handle->family->plans)
        for (unsigned i = 0; i < plan_at(link)->n; i++)
            repeats |= plan_at(link)->children[i]->valid != 0;
    orr_unlock(&rt->data->plans_lock);
    return repeats;
}

/* --- making plans --- */

static int join_family(struct orr_handle *handle, struct orr_plan *of)
{
    if (!handle->family) {
        handle->family = malloc(sizeof(*handle->family));
        if (!handle->family)
            return -ENOMEM;
        orr_list_init(&handle->family->plans);
        handle->family->of = NULL;
        handle->family->had_rests = false;
        handle->family->readers.n = 0;
        handle->family->readers.moving = false;
        orr_list_init(&handle->family->readers.waiting);
        handle->family->place.kind = ORR_PLACE_UNKNOWN;
        handle->family->floats = false;
        handle->family->has_rests = false;
    }
    if (of)
        handle->family->of = of;
    return 0;
}

enum plan_memory { PLAN_HAS, PLAN_LACKS, PLAN_GETS };

/* PLAN_GETS: another context gives it memory just now, or finds that there is none. A
 * request that is queued finds the memory when it is tried. */
static enum plan_memory memory_of_locked(const struct orr_handle *handle,
                                         unsigned base)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_replicate *replicate = &handle->replicates[base];
    const struct orr_request *request = replicate->request;
    struct orr_node *node;
    bool queued;

    if (replicate->allocated)
        return PLAN_HAS;
    if (!request || request->state == ORR_REQUEST_WAITING)
        return PLAN_LACKS;
    node = &handle->runtime->nodes->at[request->progress_node];
    orr_lock(&node->lock);
    queued = orr_pending_has(request);
    orr_unlock(&node->lock);
    return queued ? PLAN_LACKS : PLAN_GETS;
}

/* Pins the memory that the handle has in its base, or else the block, which it is given:
 * without its lock in between an invalidation could free it. */
static enum plan_memory plan_pin_memory(struct orr_handle *handle, unsigned base,
                                        struct orr_block **block)
{
    struct orr_deferred deferred = {0};
    enum plan_memory memory;

    orr_lock(&handle->lock);
    memory = memory_of_locked(handle, base);
    if (memory == PLAN_LACKS && *block) {
        orr_block_place_locked(handle, *block, 0, &deferred);
        *block = NULL;
        memory = PLAN_HAS;
    }
    if (memory == PLAN_HAS)
        orr_handle_pin_locked(handle, UINT64_C(1) << base);
    orr_unlock(&handle->lock);
    orr_deferred_run(handle->runtime, &deferred);
    return memory;
}

/* Pins memory in the handle's base, at once: beyond the node's limit if nothing can leave
 * it now. Returns whether there was any: a context that gets none itself may find that
 * another one has given the handle some meanwhile, or is about to. */
static bool plan_pin_base(struct orr_handle *handle, unsigned base)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_block *block = NULL;
    enum plan_memory memory;
    bool none = false;

    for (;;) {
        memory = plan_pin_memory(handle, base, &block);
        if (memory == PLAN_HAS || (memory == PLAN_LACKS && none))
            break;
        none = memory == PLAN_LACKS &&
               orr_block_new(rt, handle, base, ORR_FETCH, 0, &block) != 0 &&
               orr_block_new_anyway(rt, handle, base, &block) != 0;
        if (memory == PLAN_GETS)
            orr_spin();
    }
    orr_block_free(block);
    return memory == PLAN_HAS;
}

/* Pins the memory that the library gave the handle on other nodes than its base;
 * returns these. */
static uint64_t pin_others(struct orr_handle *handle, unsigned base)
{
    uint64_t nodes = 0;

    orr_lock(&handle->lock);
    for (unsigned node = 0; node < handle->nnodes; node++)
        if (node != base && handle->allocated >> node & 1 &&
            handle->replicates[node].block)
            nodes |= UINT64_C(1) << node;
    orr_handle_pin_locked(handle, nodes);
    orr_unlock(&handle->lock);
    return nodes;
}

/* All switches that were submitted so far have ended. */
static void unpin_base(void *arg)
{
    struct orr_handle *handle = arg;

    orr_handle_unpin(handle, UINT64_C(1) << orr_handle_base(handle));
}

/* The children's structures will point to the whole's memory in its base. Does not
 * wait. */
static int anchor(struct orr_handle *handle)
{
    if (plan_pin_base(handle, orr_handle_base(handle)))
        return 0;
    orr_log_error("starpu_data_partition_plan of %s: no memory for the data "
                  "(%zu bytes) in main memory",
                  orr_handle_label(handle).text, handle->size);
    return -ENOMEM;
}

static const char *plan_find_trouble(const struct orr_handle *handle,
                                     unsigned n)
{
    if (handle->partitioned)
        return "the data are partitioned already, by starpu_data_partition";
    if (!handle->sequential)
        return "the data have no sequential consistency, which partitions in "
               "turns need";
    if (n == 0)
        return "the filter makes 0 parts: set nchildren";
    if (n > MOST_CHILDREN)
        return "the filter makes more than 65,534 parts";
    return NULL;
}

/* The part takes its place in the memory of the whole. */
static int settle_part(struct orr_handle *part, struct orr_plan *plan)
{
    orr_lock(&part->lock);
    orr_block_join_locked(part, plan->whole, orr_handle_base(plan->whole));
    orr_unlock(&part->lock);
    if (join_family(part, plan) != 0)
        return -ENOMEM;
    return orr_handle_inherit_reduction(part, plan->whole);
}

static int make_plan(struct orr_handle *handle,
                     struct starpu_data_filter *filter, unsigned n,
                     struct orr_plan **ret)
{
    struct orr_plan *plan = calloc(1, sizeof(*plan));
    uint64_t nodes;
    int err = 0;

    *ret = plan;
    if (!plan || join_family(handle, NULL) != 0)
        return -ENOMEM;
    plan->whole = handle;
    orr_list_init(&plan->inner);
    nodes = pin_others(handle, orr_handle_base(handle));
    plan->children = orr_handle_children(handle, filter, n);
    plan->n = plan->children ? n : 0;
    if (!plan->children)
        err = -ENOMEM;
    for (unsigned i = 0; !err && i < n; i++)
        err = settle_part(plan->children[i], plan);
    if (!err)
        orr_plan_find_places(handle->runtime, plan, filter, nodes);
    orr_handle_unpin(handle, nodes);
    return err;
}

static void note_rests(struct orr_plan *plan)
{
    struct orr_handle *whole = plan->whole;

    if (!orr_plan_has_rests(plan->children[0]))
        return;
    orr_lock(&whole->lock);
    whole->family->had_rests = true;
    orr_unlock(&whole->lock);
}

int orr_plan_new(struct orr_runtime *rt, struct orr_handle *handle,
                 struct starpu_data_filter *filter,
                 starpu_data_handle_t *children)
{
    unsigned n = orr_filter_count(handle, filter);
    const char *trouble = plan_find_trouble(handle, n);
    struct orr_plan *plan;
    int err;

    if (trouble) {
        orr_log_error("starpu_data_partition_plan of %s: %s",
                      orr_handle_label(handle).text, trouble);
        return -EINVAL;
    }
    err = anchor(handle);
    if (err)
        return err;
    err = make_plan(handle, filter, n, &plan);
    if (err) {
        orr_log_error("starpu_data_partition_plan: out of memory");
        return err; /* the caller ends the program */
    }
    for (unsigned i = 0; i < n; i++)
        children[i] = orr_handle_public(plan->children[i]);
    orr_lock(&rt->data->plans_lock);
    orr_list_append(&handle->family->plans, &plan->link);
    orr_unlock(&rt->data->plans_lock);
    atomic_fetch_add(&rt->data->nplans, 1);
    note_rests(plan);
    if (plan_floats(plan))
        unpin_base(handle);
    return 0;
}

static void free_plan(struct orr_plan *plan)
{
    orr_list_remove(&plan->link);
    orr_inner_forget(plan);
    for (unsigned i = 0; i < plan->n; i++)
        if (plan->children[i])
            plan->children[i]->family->of = NULL;
    free(plan->children);
    free(plan);
}

void orr_plan_clean(struct orr_runtime *rt, struct orr_plan *plan)
{
    struct orr_handle *whole = plan->whole, **children = plan->children;
    unsigned n = plan->n;
    bool floats = plan_floats(plan);

    orr_lock(&rt->data->plans_lock);
    plan->children = NULL;
    plan->n = 0;
    for (unsigned i = 0; i < n; i++)
        children[i]->family->of = NULL;
    free_plan(plan);
    orr_unlock(&rt->data->plans_lock);
    atomic_fetch_sub(&rt->data->nplans, 1);
    for (unsigned i = 0; i < n; i++)
        orr_data_unregister_submit(rt, children[i]);
    free(children);
    if (!floats)
        orr_data_call_after(rt, whole, STARPU_R | STARPU_NOPLAN, unpin_base);
}

void orr_family_free(struct orr_handle *handle)
{
    struct orr_family *family = handle->family;

    if (!family)
        return;
    if (family->of)
        family->of->children[handle->child_index] = NULL;
    if (family->place.kind == ORR_PLACE_RELOCATED)
        free(family->place.relocation);
    while (!orr_list_empty(&family->plans))
        free_plan(plan_at(family->plans.next));
    free(family);
}
