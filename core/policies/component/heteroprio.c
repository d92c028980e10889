/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/heteroprio.c - tasks in buckets by acceleration, the longest
 * of their expected durations over the shortest: accelerators start with the most
 * accelerated ones, processors with the least. mct decides on which worker of an
 * architecture.
 */
#include "core/base/grow.h"
#include "core/policies/component/component.h"

#include <limits.h>
#include <string.h>

#include "core/device/kind.h"

#define ALIKE 0.1 /* accelerations of one bucket */

typedef struct starpu_sched_component component_t;

struct bucket {
    double acceleration;
    struct orr_taskq tasks;
    struct orr_choice last; /* for the first of them */
};

struct heteroprio {
    struct orr_mct mct;
    bool batch;
    struct bucket *buckets; /* by decreasing acceleration */
    unsigned nbuckets;
    struct orr_taskq side; /* that some worker cannot run, or of unknown
                            * duration */
    struct orr_choice side_last;
};

/* 0 if some worker's length is not known. */
static double acceleration_of(component_t *c, struct starpu_task *task)
{
    double least = INFINITY, most = 0;

    for (int w = starpu_bitmap_first(&c->workers_in_ctx); w != -1;
         w = starpu_bitmap_next(&c->workers_in_ctx, w)) {
        unsigned impl;
        double us;

        if (!orr_component_best(c->tree, w, task, &impl, &us) || !(us > 0))
            return 0;
        least = fmin(least, us);
        most = fmax(most, us);
    }
    return most > 0 ? most / least : 0;
}

static struct bucket *bucket_for(struct heteroprio *h, double acceleration)
{
    struct bucket *added;
    unsigned at = 0;

    for (unsigned i = 0; i < h->nbuckets; i++)
        if (fabs(acceleration - h->buckets[i].acceleration) <=
            ALIKE * h->buckets[i].acceleration)
            return &h->buckets[i];
    while (at < h->nbuckets && h->buckets[at].acceleration > acceleration)
        at++;
    added = orr_array_add(h->buckets, h->nbuckets);
    STARPU_ASSERT(added);
    memmove(&h->buckets[at + 1], &h->buckets[at],
            (size_t)(added - &h->buckets[at]) * sizeof(*added));
    h->buckets[at] = (struct bucket){.acceleration = acceleration};
    return &h->buckets[at];
}

static bool child_is_of_sort(component_t *child, bool processor)
{
    int w = starpu_bitmap_first(&child->workers_in_ctx);

    return w != -1 && !starpu_worker_is_combined_worker(w) &&
           orr_device_kind(starpu_worker_get_type(w))->is_processor ==
               processor;
}

/* The task of the bucket goes where mct says, if that is of this sort. */
static bool heteroprio_place_task(component_t *c, struct bucket *bucket,
                                  bool processor)
{
    struct heteroprio *h = c->data;
    struct starpu_task *task = orr_taskq_first(&bucket->tasks, NULL);
    component_t *best;

    if (!task)
        return false;
    orr_taskq_take(&bucket->tasks, task);
    best = orr_mct_choose_once(&h->mct, &bucket->last, c, task);
    if (best && child_is_of_sort(best, processor) &&
        starpu_sched_component_push_task(c, best, task) == 0)
        return true;
    orr_taskq_put_back(&bucket->tasks, task, task->priority);
    return false;
}

static bool place_for(component_t *c, bool processor)
{
    struct heteroprio *h = c->data;
    for (unsigned i = 0; i < h->nbuckets; i++) {
        struct bucket *b =
            &h->buckets[processor ? h->nbuckets - 1 - i : i];

        if (b->tasks.ntasks > 0)
            return heteroprio_place_task(c, b, processor);
    }
    return false;
}

static bool place_side(component_t *c)
{
    struct heteroprio *h = c->data;
    struct starpu_task *task = orr_taskq_first(&h->side, NULL);
    component_t *best;

    if (!task)
        return false;
    orr_taskq_take(&h->side, task);
    best = orr_mct_choose_once(&h->mct, &h->side_last, c, task);
    if (best ? starpu_sched_component_push_task(c, best, task) == 0
             : orr_component_offer(c, task) == 0)
        return true;
    orr_taskq_put_back(&h->side, task, task->priority);
    return false;
}

/* No child has taken the first task of its turn. An idle worker gets a task that suits
 * it out of turn: the first task of a bucket may be for a sort of worker that comes to
 * the bucket last. */
static bool place_on_idle(component_t *c)
{
    struct heteroprio *h = c->data;

    for (unsigned i = 0; i < h->nbuckets; i++) {
        struct orr_choice *last = &h->buckets[i].last;
        struct orr_taskq *q = &h->buckets[i].tasks;
        struct starpu_task *task = orr_taskq_first(q, NULL);
        component_t *best;

        if (!task)
            continue;
        orr_taskq_take(q, task);
        best = orr_mct_choose_once(&h->mct, last, c, task);
        if (best ? !(best->estimated_load(best) > 0) &&
                       starpu_sched_component_push_task(c, best, task) == 0
                 : orr_component_offer(c, task) == 0)
            return true;
        orr_taskq_put_back(q, task, task->priority);
    }
    return false;
}

static bool place_one(component_t *c)
{
    return place_side(c) || place_for(c, false) || place_for(c, true) ||
           place_on_idle(c);
}

static int heteroprio_progress(component_t *c)
{
    int moved = 0;

    while (place_one(c))
        moved = 1;
    return moved;
}

static int heteroprio_component_push(component_t *c, struct starpu_task *task)
{
    struct heteroprio *h = c->data;
    double acceleration = acceleration_of(c, task);
    struct orr_taskq *q = acceleration > 0
                              ? &bucket_for(h, acceleration)->tasks
                              : &h->side;

    if (h->batch)
        task->priority = INT_MAX;
    orr_taskq_insert(q, task, task->priority);
    (void)heteroprio_progress(c);
    return 0;
}

void orr_heteroprio_give_up(component_t *c, struct starpu_task_list *strays)
{
    struct heteroprio *h = c->data;

    orr_taskq_give_up(&h->side, c, strays);
    for (unsigned i = 0; i < h->nbuckets; i++)
        orr_taskq_give_up(&h->buckets[i].tasks, c, strays);
}

static int can_push(component_t *c, component_t *to)
{
    (void)to;
    return heteroprio_progress(c) |
           starpu_sched_component_send_can_push_to_parents(c);
}

static struct starpu_task *heteroprio_component_pull(component_t *c,
                                                     component_t *to)
{
    (void)can_push(c, to);
    return NULL;
}

static void heteroprio_component_deinit(component_t *c)
{
    free(((struct heteroprio *)c->data)->buckets);
    free(c->data);
}

component_t *starpu_sched_component_heteroprio_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_heteroprio_data *params)
{
    struct heteroprio *h = orr_component_alloc(1, sizeof(*h));
    component_t *c =
        orr_component_new(tree, "heteroprio", heteroprio_component_push, h);

    orr_mct_init(&h->mct, params ? params->mct : NULL);
    h->batch = !params || params->batch;
    c->can_push = can_push;
    c->pull_task = heteroprio_component_pull;
    c->deinit_data = heteroprio_component_deinit;
    return c;
}

int starpu_sched_component_is_heteroprio(component_t *component)
{
    return component->push_task == heteroprio_component_push;
}
