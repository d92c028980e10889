/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/tag.c - see tag.h. One lock for all tags (rank ORR_RANK_SUBMIT):
 * few programs use them, and none in a critical path. Jobs are released and
 * contexts woken after it was unlocked.
 */
#include "core/task/tag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/release.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/tasks.h"

/* "That tag waits for this one." */
struct tag_edge {
    struct tag_edge *next;
    struct orr_tag *tag;
    unsigned removals; /* of `tag` when this was declared */
    unsigned round;    /* of `tag`: the last one for which this one came */
};

struct orr_tag {
    struct orr_tag *next; /* in its bucket */
    starpu_tag_t id;
    struct orr_job *held;     /* whose `waiting` counts this, or NULL */
    struct starpu_task *task; /* bound last, and not freed since, or NULL */
    unsigned missing;         /* tags that are to come in this round … */
    unsigned npreds;          /* … and in each */
    unsigned round;           /* ends of its tasks */
    unsigned removals;        /* edges to it that are older do not count */
    bool reached;
    bool by_task;                /* a task's end has reached it */
    bool bound;                  /* to a job that has not ended */
    struct tag_edge *successors; /* kept: a tag may be reached again */
    struct orr_waiters waiters;
};

struct orr_tags {
    struct orr_lock lock;
    size_t nbuckets, n;
    struct orr_tag **buckets; /* [lock] */
};

/* Whether the tag still waits as was declared: it was not removed since. */
static bool tag_edge_counts(const struct tag_edge *edge)
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

static size_t tag_bucket(const struct orr_tags *tags, starpu_tag_t id)
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
            struct orr_tag **to = &bigger.buckets[tag_bucket(&bigger, tag->id)];

            tags->buckets[i] = tag->next;
            tag->next = *to;
            *to = tag;
        }
    free(tags->buckets);
    tags->buckets = bigger.buckets;
    tags->nbuckets = bigger.nbuckets;
}

static struct orr_tag *tag_find_locked(struct orr_tags *tags, starpu_tag_t id)
    ORR_REQUIRES(tags->lock)
{
    struct orr_tag *tag = tags->buckets[tag_bucket(tags, id)];

    while (tag && tag->id != id)
        tag = tag->next;
    return tag;
}

static struct orr_tag *tag_get_locked(struct orr_tags *tags, starpu_tag_t id)
    ORR_REQUIRES(tags->lock)
{
    struct orr_tag *tag = tag_find_locked(tags, id);
    struct orr_tag **bucket;

    if (tag)
        return tag;
    tag = calloc(1, sizeof(*tag));
    if (!tag)
        return NULL;
    if (++tags->n > tags->nbuckets * 2)
        grow_locked(tags);
    bucket = &tags->buckets[tag_bucket(tags, id)];
    tag->id = id;
    tag->next = *bucket;
    *bucket = tag;
    return tag;
}

static int bind_locked(struct orr_tag *tag, struct orr_job *job)
{
    if (tag->held)
        return -EINVAL;
    /* Of several tasks of a tag the first one that ends reaches the tag, for good; but
     * a further run of a task starts anew. */
    if (!tag->by_task || (job->task && tag->task == job->task))
        tag->reached = tag->by_task = false;
    tag->task = job->task;
    tag->bound = true;
    job->tagged = ORR_TAGGED;
    if (tag->missing > 0) {
        job->tagged = ORR_TAGGED_HELD;
        tag->held = job;
        atomic_fetch_add(&job->waiting, 1);
    }
    return 0;
}

int orr_tag_bind(struct orr_runtime *rt, starpu_tag_t id, struct orr_job *job)
{
    struct orr_tag *tag;
    int err = -ENOMEM;

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_get_locked(rt->tasks->tags, id);
    if (tag)
        err = bind_locked(tag, job);
    orr_unlock(&rt->tasks->tags->lock);
    if (err == -EINVAL)
        orr_log_error(
            "starpu_task_submit: task `%s': another one with the same "
            "tag %#llx still waits for what the tag depends on; only "
            "a tag without dependencies may be shared by tasks",
            orr_job_name(job), (unsigned long long)id);
    return err;
}

static int add_edge_locked(struct orr_tags *tags, struct orr_tag *tag,
                           starpu_tag_t before_id) ORR_REQUIRES(tags->lock)
{
    struct orr_tag *before = tag_get_locked(tags, before_id);
    struct tag_edge *edge = before ? malloc(sizeof(*edge)) : NULL;

    if (!edge)
        return -ENOMEM;
    edge->tag = tag;
    edge->removals = tag->removals;
    edge->next = before->successors;
    before->successors = edge;
    tag->npreds++;
    edge->round = tag->round;
    if (!before->reached) {
        edge->round--; /* it has not come yet */
        tag->missing++;
    }
    return 0;
}

int orr_tag_declare_deps(struct orr_runtime *rt, starpu_tag_t id, unsigned n,
                         const starpu_tag_t *deps)
{
    struct orr_tag *tag;
    int err = 0;

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_get_locked(rt->tasks->tags, id);
    for (unsigned i = 0; tag && !err && i < n; i++) {
        err = add_edge_locked(rt->tasks->tags, tag, deps[i]);
        ORR_TELL(rt, ORR_TOLD_TAGS, .tags.id = id, .tags.before = deps[i],
                 .holds = !tag->reached && (!tag->bound || tag->held));
    }
    orr_unlock(&rt->tasks->tags->lock);
    return tag ? err : -ENOMEM;
}

/* Whether the edge's tag has been let go on in this round. */
static bool came(const struct tag_edge *edge)
{
    return edge->round == edge->tag->round;
}

/* What goes on since a tag was reached. */
struct reached {
    struct orr_job *jobs; /* linked by queue.next */
    struct orr_waiters waiters;
};

/* Counts down the successors, each once a round, and collects those whose job is
 * released. A tag without a job that waits for nothing any more stays unreached: tags
 * are reached by tasks and by the application only. A tag that the application has
 * reached may still hold back its own job. */
static void reach_locked(struct orr_tag *tag, struct reached *ret)
{
    if (tag->reached)
        return;
    tag->reached = true;
    for (struct tag_edge *edge = tag->successors; edge; edge = edge->next) {
        struct orr_tag *next = edge->tag;

        if (!tag_edge_counts(edge) || came(edge))
            continue;
        edge->round = next->round;
        if (--next->missing > 0 || !next->held)
            continue;
        next->held->queue.next = (void *)ret->jobs;
        ret->jobs = next->held;
        next->held = NULL;
    }
    ret->waiters = orr_waiters_take_all(&tag->waiters);
}

/* No lock held. */
static void tag_release_reached(struct orr_runtime *rt,
                                const struct reached *reached)
{
    struct orr_job *freed = reached->jobs;
    struct orr_releases releases = {{NULL}};

    while (freed) {
        struct orr_job *next = (void *)freed->queue.next;

        freed->queue.next = NULL;
        orr_job_release_among(rt, freed, &releases);
        freed = next;
    }
    orr_releases_end(rt, &releases);
    orr_waiters_release(reached->waiters);
}

void orr_tag_notify(struct orr_runtime *rt, starpu_tag_t id)
{
    struct reached reached = {NULL, {NULL}};
    struct orr_tag *tag;

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_get_locked(rt->tasks->tags, id);
    if (tag)
        reach_locked(tag, &reached);
    orr_unlock(&rt->tasks->tags->lock);
    tag_release_reached(rt, &reached);
}

void orr_tag_end(struct orr_runtime *rt, starpu_tag_t id)
{
    struct reached reached = {NULL, {NULL}};
    struct orr_tag *tag;

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_find_locked(rt->tasks->tags, id);
    if (tag) {
        /* Before the next run of a task of this tag all tags that it depends on have to
         * be reached once more. */
        tag->round++;
        tag->missing = tag->npreds;
        tag->by_task = true;
        tag->bound = false;
        reach_locked(tag, &reached);
    }
    orr_unlock(&rt->tasks->tags->lock);
    tag_release_reached(rt, &reached);
}

void orr_tag_forget_task(struct orr_runtime *rt, starpu_tag_t id,
                         const struct starpu_task *task)
{
    struct orr_tag *tag;

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_find_locked(rt->tasks->tags, id);
    if (tag && tag->task == task)
        tag->task = NULL;
    orr_unlock(&rt->tasks->tags->lock);
}

void orr_tag_mark_vague(struct orr_runtime *rt, starpu_tag_t id)
{
    ORR_TELL(rt, ORR_TOLD_TAG_VAGUE, .tags.id = id);
}

/* A tag that a call waits for, one of several. */
struct awaited_tag {
    struct orr_awaited awaited; /* first */
    unsigned more, n;           /* of so many so many come after it */
};

static void tag_describe_awaited(const struct orr_awaited *awaited, char *text,
                                 size_t size)
{
    const struct awaited_tag *tag = (const struct awaited_tag *)awaited;

    if (tag->more)
        snprintf(text, size, "tag %llu and %u more of %u", awaited->number,
                 tag->more, tag->n);
    else
        snprintf(text, size, "tag %llu", awaited->number);
}

/* `more` of n follow. */
static int wait_for_tag(struct orr_runtime *rt, starpu_tag_t id, unsigned more,
                        unsigned n)
{
    const struct awaited_tag what = {
        .awaited = {.noun = "tag",
                    .describe = tag_describe_awaited,
                    .number = id},
        .more = more,
        .n = n};
    struct orr_waiter waiter;
    struct orr_tag *tag;
    bool reached;

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_get_locked(rt->tasks->tags, id);
    reached = tag && tag->reached;
    if (tag && !reached)
        orr_waiters_add(&tag->waiters, &waiter);
    orr_unlock(&rt->tasks->tags->lock);
    if (!tag)
        return -ENOMEM;
    if (!reached)
        orr_await(rt, &waiter, &what.awaited);
    return 0;
}

int orr_tag_wait(struct orr_runtime *rt, unsigned n, const starpu_tag_t *ids)
{
    int err = 0;

    if (!orr_may_block("starpu_tag_wait"))
        return -EDEADLK;
    orr_pay();
    for (unsigned i = 0; i < n && !err; i++)
        err = wait_for_tag(rt, ids[i], n - i - 1, n);
    return err;
}

static void restart_locked(struct orr_tag *tag)
{
    if (!tag->reached)
        return;
    tag->reached = tag->by_task = false;
    for (struct tag_edge *edge = tag->successors; edge; edge = edge->next) {
        if (!tag_edge_counts(edge) || !came(edge))
            continue;
        edge->round--;
        edge->tag->missing++;
    }
}

void orr_tag_restart(struct orr_runtime *rt, starpu_tag_t id)
{
    struct orr_tag *tag;

    orr_tag_mark_vague(rt, id);
    orr_lock(&rt->tasks->tags->lock);
    tag = tag_find_locked(rt->tasks->tags, id);
    if (tag)
        restart_locked(tag);
    orr_unlock(&rt->tasks->tags->lock);
}

/* Both under one hold of the lock: a job that goes on may reach the tag once more,
 * which a restart that comes later would undo. */
void orr_tag_notify_restart(struct orr_runtime *rt, starpu_tag_t id)
{
    struct reached reached = {NULL, {NULL}};
    struct orr_tag *tag;

    orr_tag_mark_vague(rt, id);
    orr_lock(&rt->tasks->tags->lock);
    tag = tag_get_locked(rt->tasks->tags, id);
    if (tag) {
        restart_locked(tag);
        reach_locked(tag, &reached);
        tag->reached = tag->by_task = false;
    }
    orr_unlock(&rt->tasks->tags->lock);
    tag_release_reached(rt, &reached);
}

/* Others may point to it: it is emptied, and freed with all the rest. */
static void empty_locked(struct orr_tag *tag)
{
    while (tag->successors) {
        struct tag_edge *edge = tag->successors;

        if (tag_edge_counts(edge)) {
            edge->tag->missing -= !came(edge);
            edge->tag->npreds--;
        }
        tag->successors = edge->next;
        free(edge);
    }
    tag->reached = tag->by_task = tag->bound = false;
    tag->task = NULL;
    /* A job that it holds back goes on waiting for what it waited for. */
    if (!tag->held) {
        tag->removals++;
        tag->missing = tag->npreds = 0;
    }
}

void orr_tag_remove(struct orr_runtime *rt, starpu_tag_t id)
{
    struct orr_tag *tag;

    orr_tag_mark_vague(rt, id);
    orr_lock(&rt->tasks->tags->lock);
    tag = tag_find_locked(rt->tasks->tags, id);
    if (tag)
        empty_locked(tag);
    orr_unlock(&rt->tasks->tags->lock);
}

void orr_tags_clear(struct orr_runtime *rt)
{
    struct orr_tags *tags = rt->tasks->tags;

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

    orr_lock(&rt->tasks->tags->lock);
    tag = tag_find_locked(rt->tasks->tags, id);
    if (tag)
        task = tag->task;
    orr_unlock(&rt->tasks->tags->lock);
    return task;
}

void orr_tags_each_missing(struct orr_runtime *rt,
                           void (*visit)(const struct orr_job *job,
                                         starpu_tag_t before, bool bound,
                                         void *arg),
                           void *arg)
{
    const struct orr_tags *tags = rt->tasks->tags;

    for (size_t i = 0; i < tags->nbuckets; i++)
        for (struct orr_tag *tag = tags->buckets[i]; tag; tag = tag->next)
            for (struct tag_edge *e = tag->successors; e; e = e->next)
                if (!came(e) && tag_edge_counts(e) && e->tag->held)
                    visit(e->tag->held, tag->id, tag->bound, arg);
}
