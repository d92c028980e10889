/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_float.c - planned data in a main memory that has a limit. Where all
 * places of parts are known and the whole has no memory of the application's, its
 * memory in its base is not pinned by the plan: it "floats". Whole and parts live in
 * one block there, or in blocks of their own, and leave main memory like other data,
 * each to a disk of its own, whichever of them is used. What no part has leaves with
 * the whole (plan_switch.c).
 *
 * A switch that has to move the value through the base brings the whole there, alone,
 * its value or memory for it, by one admission. Then the parts get their places, as far
 * as they can, and pins; all memory that the switch needs it has now, and it asks for
 * the parts' values without a further admission: it holds nothing while it waits for
 * memory. A part with memory of its own in the base, which it keeps if others use that
 * (a copy of an old value from there, readers, parts of its own), is copied within the
 * node, by a copy of the machine's for all such parts, which takes its time in a
 * simulation, too. If a request gives a part memory just then, the switch lets go of
 * all, waits for the request and starts anew.
 */
#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/data/block.h"
#include "core/data/eviction.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/placement.h"
#include "core/data/plan_private.h"
#include "core/data/within.h"
#include "core/device/methods.h"
#include "core/exec/runtime.h"

static struct orr_handle *floating_whole(const struct orr_job *job)
{
    return job->accesses[0].handle;
}

/* --- places --- */

struct orr_block *orr_part_place(struct orr_handle *part,
                                 const struct orr_handle *whole, unsigned node)
{
    struct orr_replicate *replicate = &part->replicates[node];
    struct orr_block *own = NULL;

    orr_lock(&part->lock);
    if (!replicate->refs && !replicate->request && !(part->valid >> node & 1) &&
        replicate->block != whole->replicates[node].block &&
        !(replicate->block ? orr_block_is_shared(replicate->block)
                           : replicate->allocated)) {
        own = orr_block_detach_locked(part, node);
        orr_placement_apply(&part->family->place, whole, part, node);
        orr_block_join_locked(part, whole, node);
    }
    orr_unlock(&part->lock);
    return own;
}

/* The part is in place, or keeps the memory that it has in the base, from now on.
 * Returns whether it has any. */
static bool hold_part(struct orr_access *access, unsigned base)
{
    struct orr_handle *part = access->handle;
    struct orr_replicate *replicate = &part->replicates[base];
    bool has;

    orr_lock(&part->lock);
    has = replicate->allocated;
    if (has) {
        orr_access_set_datum(access, part);
        access->held = 1;
        replicate->refs++;
        replicate->held++;
    }
    orr_unlock(&part->lock);
    return has;
}

/* Memory that the part shares with parts of its own, none of which has a value, is
 * of no use. */
static void leave_own(struct orr_handle *part, const struct orr_handle *whole,
                      unsigned base)
{
    struct orr_replicate *replicate = &part->replicates[base];
    bool shares;

    orr_lock(&part->lock);
    shares = !(part->valid >> base & 1) && replicate->block &&
             replicate->block != whole->replicates[base].block &&
             orr_block_is_shared(replicate->block);
    orr_unlock(&part->lock);
    if (shares)
        (void)orr_node_try_evict(part, base);
}

bool orr_parts_settle(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_handle *whole = floating_whole(job);
    unsigned base = orr_job_own(job)->node;
    bool freed = false, all = true;

    for (unsigned i = 1; all && i < job->naccesses; i++) {
        struct orr_handle *part = job->accesses[i].handle;
        struct orr_block *own;

        leave_own(part, whole, base);
        own = orr_part_place(part, whole, base);
        freed |= own != NULL;
        orr_block_free(own);
        all = hold_part(&job->accesses[i], base);
    }
    if (freed)
        orr_node_freed(rt, base);
    if (!all)
        orr_parts_let_go(rt, job);
    return all;
}

void orr_parts_let_go(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_deferred deferred = {0};
    unsigned base = orr_job_own(job)->node;

    for (unsigned i = 1; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *part = access->handle;
        struct orr_replicate *replicate = &part->replicates[base];

        if (!access->held)
            continue;
        access->held = 0;
        orr_lock(&part->lock);
        replicate->held--;
        if (--replicate->refs == 0 && replicate->block && !replicate->offered)
            orr_node_offer(part, base, &deferred);
        orr_unlock(&part->lock);
    }
    orr_deferred_run(rt, &deferred);
}

/* What the whole has is there already. */
void orr_parts_ask(struct orr_runtime *rt, struct orr_job *job)
{
    job->accesses[0].at = ORR_NO_PLACE;
    for (unsigned i = 1; i < job->naccesses; i++)
        job->accesses[i].at = (uint8_t)orr_job_own(job)->node;
    job->asked = UINT64_C(1) << orr_job_own(job)->node;
    job->left = 0;
    orr_job_ask(rt, job);
}

/* --- copies within the base --- */

static int copy_part(struct orr_runtime *rt, struct orr_handle *part,
                     struct orr_handle *whole, unsigned base, bool to_whole)
{
    void *own = part->replicates[base].interface;
    void *place = orr_placement_show(&part->family->place, whole, part, base);
    int rc = -ENOMEM;

    if (place)
        rc = orr_copy_by_methods(rt->machine, part->ops, to_whole ? own : place,
                                 base, to_whole ? place : own, base, NULL);
    if (place)
        orr_placement_shown(part, place);
    return rc;
}

/* Whether the part has memory of its own there, and the other one, `from`, a value. */
static bool part_is_apart(struct orr_handle *part, struct orr_handle *whole,
                          struct orr_handle *from, unsigned base)
{
    bool apart, any;

    orr_lock(&from->lock);
    any = from->valid >> base & 1;
    orr_unlock(&from->lock);
    orr_lock(&part->lock);
    apart = part->replicates[base].block != whole->replicates[base].block;
    orr_unlock(&part->lock);
    return any && apart;
}

/* The bytes of the parts that are copied; `performs`: copies them, else only counts. */
static size_t copy_all(struct orr_runtime *rt, struct orr_job *job,
                       bool to_whole, bool performs)
{
    struct orr_handle *whole = floating_whole(job);
    unsigned base = orr_job_own(job)->node;
    size_t bytes = 0;

    for (unsigned i = 1; i < job->naccesses; i++) {
        struct orr_handle *part = job->accesses[i].handle;
        int rc = 0;

        if (!part_is_apart(part, whole, to_whole ? part : whole, base))
            continue;
        bytes += part->size;
        if (performs)
            rc = copy_part(rt, part, whole, base, to_whole);
        if (rc == 0)
            continue;
        orr_log_error("a part of %s could not be copied within %s: %s",
                      orr_handle_label(whole).text,
                      rt->machine->nodes[base].name, strerror(-rc));
        orr_runtime_fail(rt);
    }
    return bytes;
}

static void copy_to_whole(struct orr_runtime *rt, void *job)
{
    (void)copy_all(rt, job, true, true);
}

static void copy_to_parts(struct orr_runtime *rt, void *job)
{
    (void)copy_all(rt, job, false, true);
}

void orr_parts_copy(struct orr_runtime *rt, struct orr_job *job, bool to_whole,
                    void (*then)(struct orr_runtime *, void *job))
{
    size_t bytes = copy_all(rt, job, to_whole, false);

    if (bytes == 0)
        then(rt, job);
    else
        orr_copy_within(rt, orr_job_own(job)->node, bytes, 0,
                        to_whole ? copy_to_whole : copy_to_parts, then, job);
}
