/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/tag.c - see tag.h. One lock for all tags (rank ORR_RANK_SUBMIT):
 * few programs use them, and none in a critical path. Jobs are released and
 * contexts woken after it was unlocked.
 */
#include "core/task/tag.h"

#include <errno.h>
#include <stdlib.h>

#include "core/observe/graph_record.h"
#include "core/runtime.h"
#include "core/task/job.h"

/* "That tag waits for this one." */
struct tag_edge {
    struct tag_edge *next;
    struct orr_tag *tag;
    unsigned removals; /* of `tag` when this was declared */
};

struct tag_waiter {
    struct tag_waiter *next;
    struct orr_context *context;
    atomic_bool reached;
};

struct orr_tag {
    struct orr_tag *next; /* in its bucket */
    starpu_tag_t id;
    struct orr_job *job;         /* bound, a reference; NULL without */
    unsigned missing;            /* tags it waits for that are not reached */
    unsigned removals;           /* edges to it that are older do not count */
    bool reached, holds_job;     /* holds_job: job->waiting counts this */
    struct tag_edge *successors; /* kept: a tag may be reached again */
    struct tag_waiter *waiters;
};

struct orr_tags {
    struct orr_lock lock;
    size_t nbuckets, n;
    struct orr_tag **buckets; /* [lock] */
};

/* Whether the tag still waits as was declared: it was not removed since. */
static bool counts(const struct tag_edge *edge)
{
    return edge->removals == edge->tag->removals;
}

int orr_tags_new(struct orr_tags **ret)
{
    struct orr_tags *tags = calloc(1, sizeof(*tags));

    if (!tags)
        return -ENOMEM;
    tags->nbuckets = 256;
    tags->buckets = calloc(tags->nbuckets, sizeof(*tags->buckets));
    if (!tags->buckets) {
        free(tags);
        return -ENOMEM;
    }
    orr_lock_init(&tags->lock, ORR_RANK_SUBMIT);
    *ret = tags;
    return 0;
}

static void free_tag(struct orr_tag *tag)
{
    while (tag->successors) {
        struct tag_edge *next = tag->successors->next;

        free(tag->successors);
        tag->successors = next;
    }
    free(tag);
}

void orr_tags_free(struct orr_tags *tags)
{
    if (!tags)
        return;
    for (size_t i = 0; i < tags->nbuckets; i++)
        while (tags->buckets[i]) {
            struct orr_tag *next = tags->buckets[i]->next;

            free_tag(tags->buckets[i]);
            tags->buckets[i] = next;
        }
    free(tags->buckets);
    free(tags);
}

static size_t bucket_of(const struct orr_tags *tags, starpu_tag_t id)
{
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) &
           (tags->nbuckets - 1);
}

static void grow_locked(struct orr_tags *tags) ORR_REQUIRES(tags->lock)
{
    struct orr_tags bigger = {.nbuckets = tags->nbuckets * 4};

    bigger.buckets = calloc(bigger.nbuckets, sizeof(*bigger.buckets));
    if (!bigger.buckets)
        return; /* slower, not wrong */
    for (size_t i = 0; i < tags->nbuckets; i++)
        while (tags->buckets[i]) {
            struct orr_tag *tag = tags->buckets[i];
            struct orr_tag **to = &bigger.buckets[bucket_of(&bigger, tag->id)];

            tags->buckets[i] = tag->next;
            tag->next = *to;
            *to = tag;
        }
    free(tags->buckets);
    tags->buckets = bigger.buckets;
    tags->nbuckets = bigger.nbuckets;
}

static struct orr_tag *find_locked(struct orr_tags *tags, starpu_tag_t id)
    ORR_REQUIRES(tags->lock)
{
    struct orr_tag *tag = tags->buckets[bucket_of(tags, id)];

    while (tag && tag->id != id)
        tag = tag->next;
    return tag;
}

static struct orr_tag *get_locked(struct orr_tags *tags, starpu_tag_t id)
    ORR_REQUIRES(tags->lock)
{
    struct orr_tag *tag = find_locked(tags, id);
    struct orr_tag **bucket;

    if (tag)
        return tag;
    tag = calloc(1, sizeof(*tag));
    if (!tag)
        return NULL;
    if (++tags->n > tags->nbuckets * 2)
        grow_locked(tags);
    bucket = &tags->buckets[bucket_of(tags, id)];
    tag->id = id;
    tag->next = *bucket;
    *bucket = tag;
    return tag;
}

int orr_tag_bind(struct orr_runtime *rt, starpu_tag_t id, struct orr_job *job)
{
    struct orr_tag *tag;

    orr_lock(&rt->tags->lock);
    tag = get_locked(rt->tags, id);
    if (tag) {
        tag->job = job;
        tag->reached = false;
        job->tag = tag;
        tag->holds_job = tag->missing > 0;
        if (tag->holds_job)
            atomic_fetch_add(&job->waiting, 1);
    }
    orr_unlock(&rt->tags->lock);
    return tag ? 0 : -ENOMEM;
}

static int add_edge_locked(struct orr_tags *tags, struct orr_tag *tag,
                           starpu_tag_t before_id) ORR_REQUIRES(tags->lock)
{
    struct orr_tag *before = get_locked(tags, before_id);
    struct tag_edge *edge = before ? malloc(sizeof(*edge)) : NULL;

    if (!edge)
        return -ENOMEM;
    edge->tag = tag;
    edge->removals = tag->removals;
    edge->next = before->successors;
    before->successors = edge;
    if (!before->reached)
        tag->missing++;
    return 0;
}

int orr_tag_declare_deps(struct orr_runtime *rt, starpu_tag_t id, unsigned n,
                         const starpu_tag_t *deps)
{
    struct orr_tag *tag;
    int err = 0;

    orr_lock(&rt->tags->lock);
    tag = get_locked(rt->tags, id);
    for (unsigned i = 0; tag && !err && i < n; i++) {
        err = add_edge_locked(rt->tags, tag, deps[i]);
        if (orr_runtime_graph(rt))
            orr_graph_record_tags(orr_runtime_graph(rt), id, deps[i],
                                  !tag->reached &&
                                      (!tag->job || tag->holds_job));
    }
    orr_unlock(&rt->tags->lock);
    return tag ? err : -ENOMEM;
}

/* Counts down the successors and chains those whose job is released; a tag
 * without a job that has nothing left to wait for stays as it is: tags are
 * reached by tasks and by the application only. */
static struct orr_job *reach_locked(struct orr_tag *tag)
{
    struct orr_job *freed = NULL;

    tag->reached = true;
    /* One that the application has reached may still hold back its own job. */
    if (!tag->holds_job)
        tag->job = NULL;
    for (struct tag_edge *edge = tag->successors; edge; edge = edge->next) {
        struct orr_tag *next = edge->tag;

        if (!counts(edge) || next->missing == 0 || --next->missing > 0 ||
            !next->holds_job)
            continue;
        next->holds_job = false;
        next->job->queue.next = (void *)freed;
        freed = next->job;
    }
    return freed;
}

void orr_tag_notify(struct orr_runtime *rt, starpu_tag_t id)
{
    struct tag_waiter *waiters = NULL;
    struct orr_job *freed = NULL;
    struct orr_tag *tag;

    orr_lock(&rt->tags->lock);
    tag = get_locked(rt->tags, id);
    if (tag && !tag->reached) {
        freed = reach_locked(tag);
        waiters = tag->waiters;
        tag->waiters = NULL;
    } else if (tag && !tag->holds_job) {
        tag->job = NULL; /* it has ended now */
    }
    orr_unlock(&rt->tags->lock);
    while (freed) {
        struct orr_job *next = (void *)freed->queue.next;

        freed->queue.next = NULL;
        orr_job_release(rt, freed);
        freed = next;
    }
    while (waiters) {
        struct tag_waiter *next = waiters->next;
        struct orr_context *context = waiters->context;

        atomic_store_explicit(&waiters->reached, true, memory_order_release);
        rt->exec->ops->wake(rt->exec, context);
        waiters = next;
    }
}

void orr_tag_mark_vague(struct orr_runtime *rt, starpu_tag_t id)
{
    if (orr_runtime_graph(rt))
        orr_graph_record_vague_tag(orr_runtime_graph(rt), id);
}

static int wait_one(struct orr_runtime *rt, starpu_tag_t id)
{
    struct tag_waiter waiter = {.context = orr_self};
    struct orr_tag *tag;
    bool reached;

    atomic_init(&waiter.reached, false);
    orr_lock(&rt->tags->lock);
    tag = get_locked(rt->tags, id);
    reached = tag && tag->reached;
    if (tag && !reached) {
        waiter.next = tag->waiters;
        tag->waiters = &waiter;
    }
    orr_unlock(&rt->tags->lock);
    if (!tag)
        return -ENOMEM;
    if (reached)
        return 0;
    orr_self->waits_for = "a tag";
    while (!atomic_load_explicit(&waiter.reached, memory_order_acquire))
        rt->exec->ops->park(rt->exec, ORR_FOREVER);
    orr_self->waits_for = NULL;
    return 0;
}

int orr_tag_wait(struct orr_runtime *rt, unsigned n, const starpu_tag_t *ids)
{
    int err = 0;

    if (!orr_may_block("starpu_tag_wait"))
        return -EDEADLK;
    orr_pay();
    for (unsigned i = 0; i < n && !err; i++)
        err = wait_one(rt, ids[i]);
    return err;
}

void orr_tag_restart(struct orr_runtime *rt, starpu_tag_t id)
{
    struct orr_tag *tag;

    orr_tag_mark_vague(rt, id);
    orr_lock(&rt->tags->lock);
    tag = find_locked(rt->tags, id);
    if (tag && tag->reached) {
        tag->reached = false;
        for (struct tag_edge *edge = tag->successors; edge; edge = edge->next)
            edge->tag->missing += counts(edge);
    }
    orr_unlock(&rt->tags->lock);
}

/* Others may point to it: it is emptied, and freed with all the rest. */
static void empty_locked(struct orr_tag *tag)
{
    while (tag->successors) {
        struct tag_edge *next = tag->successors->next;

        if (!tag->reached && counts(tag->successors) &&
            tag->successors->tag->missing > 0)
            tag->successors->tag->missing--;
        free(tag->successors);
        tag->successors = next;
    }
    tag->reached = false;
    /* A job that it holds back goes on waiting for what it waited for. */
    if (!tag->holds_job) {
        tag->removals++;
        tag->missing = 0;
    }
}

void orr_tag_remove(struct orr_runtime *rt, starpu_tag_t id)
{
    struct orr_tag *tag;

    orr_tag_mark_vague(rt, id);
    orr_lock(&rt->tags->lock);
    tag = find_locked(rt->tags, id);
    if (tag)
        empty_locked(tag);
    orr_unlock(&rt->tags->lock);
}

void orr_tags_clear(struct orr_runtime *rt)
{
    struct orr_tags *tags = rt->tags;

    orr_lock(&tags->lock);
    for (size_t i = 0; i < tags->nbuckets; i++)
        for (struct orr_tag *tag = tags->buckets[i]; tag; tag = tag->next)
            empty_locked(tag);
    orr_unlock(&tags->lock);
}

struct starpu_task *orr_tag_task(struct orr_runtime *rt, starpu_tag_t id)
{
    struct starpu_task *task = NULL;
    struct orr_tag *tag;

    orr_lock(&rt->tags->lock);
    tag = find_locked(rt->tags, id);
    if (tag && tag->job)
        task = tag->job->task;
    orr_unlock(&rt->tags->lock);
    return task;
}

void orr_tags_each_missing(struct orr_runtime *rt,
                           void (*visit)(const struct orr_job *job,
                                         starpu_tag_t before, bool bound,
                                         void *arg),
                           void *arg)
{
    const struct orr_tags *tags = rt->tags;

    for (size_t i = 0; i < tags->nbuckets; i++)
        for (struct orr_tag *tag = tags->buckets[i]; tag; tag = tag->next)
            for (struct tag_edge *e = tag->successors; e; e = e->next)
                if (!tag->reached && counts(e) && e->tag->holds_job)
                    visit(e->tag->job, tag->id, tag->job != NULL, arg);
}
