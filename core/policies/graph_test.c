/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/graph_test.c - graph_test: tasks are held back until
 * starpu_do_schedule, which sees the whole graph of what was submitted. Then
 * each has its depth (the longest way to a task that none waits for) as
 * priority, or the number of tasks that wait for it, and goes to the list of
 * processors or to that of devices.
 *
 * A context that is going to wait calls it before (orr_runtime_hold_back), so that only
 * a program that polls has to.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/observe/graph_ahead.h"
#include "core/policies/policies.h"
#include "core/sched/queue.h"
#include "core/worker/workers.h"

enum { PROCESSORS, DEVICES, NSIDES };

struct graph_test {
    struct orr_lock lock; /* rank ORR_RANK_SCHED */
    bool scheduled;       /* [lock] do_schedule was called */
    atomic_bool open;     /* do_schedule has queued all tasks; a worker that took some
                           * before would not take the best */
    bool descendants;     /* [const] count these instead of the depth */
    struct orr_list bag;  /* [lock] jobs pushed before that */
    /* [lock] priorities of jobs first … first + n - 1, 0: not known. */
    int *priority; /* owned */
    uint64_t first, n;
    struct orr_queue sides[NSIDES];
};

static int side_of(const struct orr_runtime *rt, unsigned class_id)
{
    return orr_device_kind(rt->workers->classes[class_id].type)->is_processor
               ? PROCESSORS
               : DEVICES;
}

/* --- priorities --- */

static void count_depths(const struct orr_graph_ahead *ahead, int *value)
{
    for (uint32_t i = ahead->nnodes; i-- > 0;) {
        const struct orr_graph_ahead_node *node = &ahead->nodes[i];

        for (uint32_t e = node->first; e < node->first + node->n; e++) {
            uint32_t before = ahead->edges[e].before;
            int depth = value[i] + (node->job != 0);

            if (depth > value[before])
                value[before] = depth;
        }
    }
}

/* Each node counts once as a descendant of every node before it, so each gets a walk of
 * its own. */
static void count_descendants(const struct orr_graph_ahead *ahead, int *value,
                              uint32_t *mark, uint32_t *stack)
{
    memset(mark, 0xff, ahead->nnodes * sizeof(*mark));
    for (uint32_t i = 0; i < ahead->nnodes; i++) {
        uint32_t n = 0;

        if (!ahead->nodes[i].job)
            continue;
        stack[n++] = i;
        while (n > 0) {
            const struct orr_graph_ahead_node *node = &ahead->nodes[stack[--n]];

            for (uint32_t e = node->first; e < node->first + node->n; e++) {
                uint32_t before = ahead->edges[e].before;

                if (mark[before] == i)
                    continue;
                mark[before] = i;
                value[before]++;
                stack[n++] = before;
            }
        }
    }
}

static bool graph_test_count(const struct graph_test *gt,
                             const struct orr_graph_ahead *ahead, int *value)
{
    uint32_t *room;

    if (!gt->descendants) {
        count_depths(ahead, value);
        return true;
    }
    room = malloc(2 * ((size_t)ahead->nnodes + 1) * sizeof(*room));
    if (!room)
        return false;
    count_descendants(ahead, value, room, room + ahead->nnodes);
    free(room);
    return true;
}

/* Keeps the values by the numbers of their jobs. */
static void graph_test_keep_locked(struct graph_test *gt,
                                   const struct orr_graph_ahead *ahead,
                                   const int *value) ORR_REQUIRES(gt->lock)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (uint32_t i = 0; i < ahead->nnodes; i++) {
        uint64_t id = ahead->nodes[i].job;

        if (id && id < least)
            least = id;
        if (id > most)
            most = id;
    }
    free(gt->priority);
    gt->n = most >= least ? most - least + 1 : 0;
    gt->first = least;
    gt->priority = calloc(gt->n + 1, sizeof(*gt->priority));
    if (!gt->priority)
        gt->n = 0;
    for (uint32_t i = 0; i < ahead->nnodes && gt->n; i++)
        if (ahead->nodes[i].job)
            gt->priority[ahead->nodes[i].job - least] = value[i];
}

/* Without memory the jobs keep the priorities that they have. */
static void prioritise_locked(struct orr_runtime *rt, struct graph_test *gt)
    ORR_REQUIRES(gt->lock)
{
    struct orr_graph_ahead ahead;
    int *value;

    if (orr_graph_ahead(rt, &ahead) != 0)
        return;
    value = calloc((size_t)ahead.nnodes + 1, sizeof(*value));
    if (value && graph_test_count(gt, &ahead, value))
        graph_test_keep_locked(gt, &ahead, value);
    free(value);
    orr_graph_ahead_done(&ahead);
}

/* The job's priority becomes the one that was computed for its number. */
static void set_priority_locked(struct graph_test *gt, struct orr_job *job)
    ORR_REQUIRES(gt->lock)
{
    uint64_t id = job->id;

    if (id >= gt->first && id - gt->first < gt->n)
        job->priority = gt->priority[id - gt->first];
}

/* --- processors or devices --- */

/* Adds up how many such tasks per µs the workers of each side would do, and whether any
 * worker there can. */
static void add_speeds(struct orr_runtime *rt, struct orr_job *job,
                       double speed[NSIDES], bool able[NSIDES])
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);

    for (unsigned w = 0; w < rt->workers->n; w++) {
        unsigned class_id = rt->workers->at[w].class_id;
        int side = side_of(rt, class_id);
        double length = orr_cost_length(row, class_id, 0);

        if (!orr_job_able(rt, job, row, w))
            continue;
        able[side] = true;
        if (length > 0)
            speed[side] += 1 / length;
    }
}

static int choose_side(struct orr_runtime *rt, struct orr_job *job)
{
    double speed[NSIDES] = {0};
    bool able[NSIDES] = {false};

    add_speeds(rt, job, speed, able);
    if (!able[PROCESSORS] && !able[DEVICES])
        return -ENODEV;
    if (!able[DEVICES])
        return PROCESSORS;
    return able[PROCESSORS] && speed[PROCESSORS] > speed[DEVICES] ? PROCESSORS
                                                                  : DEVICES;
}

/* Returns the side; notes in the job which classes of that side may take it. */
static int settle_side(struct orr_runtime *rt, struct orr_job *job)
{
    int side = choose_side(rt, job);

    if (side < 0)
        return side;
    orr_sched_note_able(rt, job);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (side_of(rt, k) != side)
            job->able_classes &= ~(UINT64_C(1) << k);
    return side;
}

static int graph_test_queue(struct orr_sched *sched, struct orr_job *job)
{
    struct graph_test *gt = sched->data;
    int side = settle_side(sched->runtime, job), err;
    uint64_t able_classes;
    bool differ;

    if (side < 0)
        return side;
    able_classes = job->able_classes;
    differ = job->differ;
    err = orr_queue_push(&gt->sides[side], job);
    if (!err)
        orr_sched_wake_able(sched, able_classes, differ);
    return err;
}

/* Tasks that were held back become visible to all workers at once. */
static void open_sides(struct orr_sched *sched, struct orr_list *bag)
{
    struct graph_test *gt = sched->data;
    struct orr_list failed, *link;

    orr_list_init(&failed);
    while ((link = orr_list_pop(bag))) {
        struct orr_job *job = orr_job_of_link(link);
        int side = settle_side(sched->runtime, job);

        if (side < 0 || orr_queue_push(&gt->sides[side], job) != 0)
            orr_list_append(&failed, link);
    }
    atomic_store(&gt->open, true);
    orr_sched_wake_members(sched);
    while ((link = orr_list_pop(&failed)))
        orr_sched_push_again(sched->runtime, orr_job_of_link(link));
}

/* --- the policy --- */

static int graph_test_push(struct orr_sched *sched, struct orr_job *job)
{
    struct graph_test *gt = sched->data;
    bool held;

    orr_lock(&gt->lock);
    held = !gt->scheduled;
    if (held)
        orr_list_append(&gt->bag, &job->queue);
    else
        set_priority_locked(gt, job);
    orr_unlock(&gt->lock);
    return held ? 0 : graph_test_queue(sched, job);
}

static void graph_test_do_schedule(struct orr_sched *sched)
{
    struct graph_test *gt = sched->data;
    struct orr_list bag, *link;
    bool first;

    orr_list_init(&bag);
    orr_lock(&gt->lock);
    first = !gt->scheduled;
    gt->scheduled = true;
    prioritise_locked(sched->runtime, gt);
    while ((link = orr_list_pop(&gt->bag))) {
        set_priority_locked(gt, orr_job_of_link(link));
        orr_list_append(&bag, link);
    }
    orr_unlock(&gt->lock);
    if (!first)
        return;
    orr_runtime_hold_back(sched->runtime, -1, orr_sched_do_schedule);
    open_sides(sched, &bag);
}

/* Whether all workers of the other side that could run the job have left the
 * context. Called with the queue's lock. */
static unsigned accept_abandoned(struct orr_job *job, unsigned bits,
                                 unsigned njobs, void *arg)
{
    struct orr_runtime *rt = arg;

    (void)njobs;
    for (unsigned w = 0; w < rt->workers->n; w++) {
        unsigned class_id = rt->workers->at[w].class_id;
        bool ask;

        if (job->able_classes >> class_id & 1 &&
            orr_job_maybe_able(rt, job, job->costs, w, &ask))
            return 0;
    }
    return bits & -bits;
}

static struct orr_job *graph_test_pop(struct orr_sched *sched,
                                      struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct graph_test *gt = sched->data;
    int side = side_of(rt, worker->class_id);
    struct orr_job *job = NULL;

    if (!atomic_load(&gt->open))
        return NULL;
    if (!orr_queue_empty(&gt->sides[side]))
        job = orr_queue_take(&gt->sides[side], worker, ORR_QUEUE_OLDEST, NULL);
    if (!job && !orr_queue_empty(&gt->sides[!side]) &&
        !orr_members_all(&rt->workers->members[sched->id]))
        job =
            orr_queue_take_if(&gt->sides[!side], worker, accept_abandoned, rt);
    return job;
}

static int graph_test_init(struct orr_sched *sched, struct orr_error *err)
{
    struct graph_test *gt = calloc(1, sizeof(*gt));

    if (!gt || orr_graph_look_ahead(sched->runtime) != 0) {
        free(gt);
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    }
    orr_lock_init(&gt->lock, ORR_RANK_SCHED);
    orr_list_init(&gt->bag);
    gt->descendants = orr_config_int(&sched->runtime->config,
                                     ORR_CFG_GRAPH_TEST_DESCENDANTS) != 0;
    for (int side = 0; side < NSIDES; side++)
        orr_queue_init(&gt->sides[side], true);
    orr_runtime_hold_back(sched->runtime, 1, orr_sched_do_schedule);
    sched->data = gt;
    return 0;
}

static void graph_test_deinit(struct orr_sched *sched)
{
    struct graph_test *gt = sched->data;

    if (!gt->scheduled)
        orr_runtime_hold_back(sched->runtime, -1, orr_sched_do_schedule);
    for (int side = 0; side < NSIDES; side++)
        orr_queue_done(&gt->sides[side]);
    free(gt->priority);
    free(gt);
}

const struct orr_sched_ops orr_sched_graph_test = {
    .name = "graph_test",
    .help = "held back until starpu_do_schedule, then by depth in the graph",
    .unbounded_priorities = true,
    .by_priority = true,
    .init = graph_test_init,
    .deinit = graph_test_deinit,
    .push = graph_test_push,
    .pop = graph_test_pop,
    .do_schedule = graph_test_do_schedule,
};
