/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/task/again.c - see again.h. Any context. */
#include "core/task/again.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/log.h"
#include "core/base/race.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/slab_set.h"

/* "That task waits for each run of this one." */
struct again_link {
    struct again_link *next;
    struct orr_again *to; /* a reference */
    unsigned round;       /* of `to`: the last one that it has let go on */
};

/* A run of a task that regenerates waits until a successor has caught up. */
struct again_back {
    struct again_back *next;
    struct orr_job *job; /* that waits */
};

struct orr_agains {
    struct orr_lock lock; /* rank ORR_RANK_SUBMIT */
    struct orr_list all;  /* [lock] */
};

/* What a task keeps from one run to the next; [lock] all of it. */
struct orr_again {
    struct orr_list link; /* in all of the runtime */
    struct orr_job *job;  /* that waits for what has not come yet, or NULL */
    const struct starpu_task *task;  /* lent while it is not gone */
    struct again_link *first, **end; /* successors as they were declared */
    struct again_back *backs;
    unsigned npreds;  /* links to it … */
    unsigned arrived; /* … that have let it go on in this round */
    unsigned round;   /* runs that are over */
    unsigned refs;    /* links to it, and one while there is the task */
    bool active;      /* a run is under way, or will be by itself */
    bool gone;        /* there is no task any more */
};

int orr_agains_new(struct orr_agains **ret)
{
    struct orr_agains *agains = malloc(sizeof(*agains));

    if (!agains)
        return -ENOMEM;
    orr_lock_init(&agains->lock, ORR_RANK_SUBMIT);
    orr_list_init(&agains->all);
    *ret = agains;
    return 0;
}

static void free_links(struct orr_again *again)
{
    while (again->first) {
        struct again_link *next = again->first->next;

        free(again->first);
        again->first = next;
    }
    again->end = &again->first;
}

static void free_backs(struct again_back *back)
{
    while (back) {
        struct again_back *next = back->next;

        free(back);
        back = next;
    }
}

void orr_agains_free(struct orr_agains *agains)
{
    struct orr_list *link;

    while (agains && (link = orr_list_pop(&agains->all))) {
        struct orr_again *again = orr_container(link, struct orr_again, link);

        free_links(again);
        free_backs(again->backs);
        free(again);
    }
    free(agains);
}

/* --- what there is --- */

static _Noreturn void out_of_memory(struct orr_runtime *rt,
                                    const struct orr_job *job)
{
    orr_log_error("out of memory for the dependencies of task `%s', which runs "
                  "more than once: the program ends",
                  orr_job_name(job));
    orr_runtime_fail(rt);
}

/* The job's record of what stays between runs, made if needed. */
static struct orr_again *again_get_locked(struct orr_runtime *rt,
                                          struct orr_job *job)
    ORR_REQUIRES(rt->tasks->agains->lock)
{
    struct orr_job_rare *rare = orr_job_make_rare(job);
    struct orr_again *again;

    if (rare && rare->again)
        return rare->again;
    again = calloc(1, sizeof(*again));
    if (!rare || !again)
        out_of_memory(rt, job);
    again->end = &again->first;
    again->refs = 1;
    again->active = true;
    again->task = job->task;
    orr_list_append(&rt->tasks->agains->all, &again->link);
    rare->again = again;
    return again;
}

static void unref_locked(struct orr_again *again)
{
    if (--again->refs > 0)
        return;
    orr_list_remove(&again->link);
    free(again);
}

/* Takes a link out, *at. */
static void unlink_locked(struct orr_again *again, struct again_link **at)
{
    struct again_link *link = *at;

    *at = link->next;
    if (again->end == &link->next)
        again->end = at;
    link->to->npreds--;
    if (link->round == link->to->round)
        link->to->arrived--;
    unref_locked(link->to);
    free(link);
}

/* Lets those jobs go that wait for a successor of theirs. No lock held. */
static void release_backs(struct orr_runtime *rt, struct again_back *back)
{
    while (back) {
        struct again_back *next = back->next;

        orr_job_release(rt, back->job);
        free(back);
        back = next;
    }
}

static struct again_back *take_backs_locked(struct orr_again *again)
{
    struct again_back *backs = again->backs;

    again->backs = NULL;
    return backs;
}

/* --- the end of a run --- */

/* `job` waits for one less, by an edge that has been taken out. */
static void again_add_edge(struct orr_runtime *rt, struct orr_edge **edges,
                           struct orr_job *job)
{
    struct orr_edge *edge = orr_slab_get(rt->slabs->edges);

    if (!edge)
        out_of_memory(rt, job);
    *edge = (struct orr_edge){.next = *edges, .job = job};
    *edges = edge;
}

/* Each successor may go on, but once for each of its runs. */
static void signal_locked(struct orr_runtime *rt, struct orr_again *again,
                          struct orr_edge **edges)
    ORR_REQUIRES(rt->tasks->agains->lock)
{
    for (struct again_link **at = &again->first; *at;) {
        struct again_link *link = *at;
        struct orr_again *to = link->to;

        if (to->gone) {
            unlink_locked(again, at);
            continue;
        }
        if (link->round != to->round) {
            link->round = to->round;
            to->arrived++;
            if (to->job)
                again_add_edge(rt, edges, to->job);
        }
        at = &link->next;
    }
}

/* Jobs that waited for the first time are remembered. The edges come with the last one
 * first. */
static void remember_locked(struct orr_runtime *rt, struct orr_again *again,
                            const struct orr_edge *edge)
    ORR_REQUIRES(rt->tasks->agains->lock)
{
    struct again_link *first = NULL, **end = NULL;

    for (; edge; edge = edge->next) {
        struct again_link *link;

        if (!edge->job->task)
            continue;
        link = malloc(sizeof(*link));
        if (!link)
            out_of_memory(rt, edge->job);
        link->to = again_get_locked(rt, edge->job);
        link->round = link->to->round;
        link->to->npreds++;
        link->to->arrived++; /* this run's has come */
        link->to->refs++;
        link->next = first;
        first = link;
        if (!end)
            end = &link->next;
    }
    if (!first)
        return;
    *again->end = first;
    again->end = end;
}

void orr_again_over(struct orr_runtime *rt, struct orr_job *job,
                    struct orr_edge **edges)
{
    const struct orr_edge *declared = *edges;
    struct again_back *backs = NULL;
    struct orr_again *again;

    orr_lock(&rt->tasks->agains->lock);
    again = orr_job_again(job);
    if (declared)
        again = again_get_locked(rt, job);
    if (again) {
        signal_locked(rt, again, edges);
        remember_locked(rt, again, declared);
        again->round++;
        again->arrived = 0;
        again->job = NULL;
        backs = take_backs_locked(again);
    }
    orr_unlock(&rt->tasks->agains->lock);
    release_backs(rt, backs);
}

enum orr_fate orr_task_fate_further(struct orr_runtime *rt,
                                    const struct starpu_task *task)
{
    if (!task->destroy && task->detach && !task->synchronous)
        return ORR_FATE_REGENERATE;
    orr_log_error("starpu_task_submit: task `%s' has regenerate = 1: that needs "
                  "destroy = 0, detach = 1 and synchronous = 0",
                  orr_job_name(orr_job_of(task)));
    orr_runtime_fail(rt);
}

enum orr_fate orr_again_decide(struct orr_runtime *rt, struct orr_job *job,
                               const struct orr_callback_times *times)
{
    struct starpu_task *task = job->task;
    struct again_back *backs = NULL;
    enum orr_fate fate = ORR_FATE_NONE;

    orr_lock(&rt->tasks->agains->lock);
    if (!job->replaced) {
        job->decided = 1;
        fate = orr_task_fate(rt, task);
        if (times->end > 0)
            ORR_TELL(rt, ORR_TOLD_TASK_OVER, .job = job, .since = times->start,
                     .until = times->end);
        if (orr_job_again(job) && fate != ORR_FATE_REGENERATE) {
            orr_job_again(job)->active = false;
            backs = take_backs_locked(orr_job_again(job));
        }
    }
    orr_unlock(&rt->tasks->agains->lock);
    release_backs(rt, backs);
    return fate;
}

bool orr_again_set_destroy(struct orr_runtime *rt, struct starpu_task *task)
{
    const struct orr_job *job;
    bool over;

    orr_lock(&rt->tasks->agains->lock);
    job = orr_job_of(task);
    over = job && job->decided;
    /* The bits beside it, which workers read, are written as they are. */
    orr_race_repeat_begin();
    task->destroy = 1;
    orr_race_repeat_end();
    orr_unlock(&rt->tasks->agains->lock);
    return over;
}

/* --- the next run --- */

/* `fresh`, which no other context knows yet, becomes the task's job. */
static void replace_locked(struct orr_runtime *rt, struct orr_job *old,
                           struct orr_job *fresh)
{
    struct orr_again *again = orr_job_again(old);
    struct orr_job_rare *rare = again ? orr_job_make_rare(fresh) : NULL;

    if (again && !rare)
        out_of_memory(rt, fresh);
    old->replaced = 1;
    __atomic_store_n(&fresh->task->starpu_private, fresh, __ATOMIC_RELEASE);
    if (!again)
        return;
    orr_job_rare(old)->again = NULL;
    rare->again = again;
    again->job = fresh;
    again->active = true;
    orr_job_wait_more(fresh, (int)(again->npreds - again->arrived));
}

struct orr_job *orr_again_job(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *fresh = orr_job_new_of(rt, task), *old;
    bool is_over;

    if (!fresh)
        return NULL;
    orr_lock(&rt->tasks->agains->lock);
    old = orr_job_of(task);
    is_over = orr_job_state(old) == ORR_JOB_DONE;
    if (is_over)
        replace_locked(rt, old, fresh);
    orr_unlock(&rt->tasks->agains->lock);
    /* Otherwise another thread was faster. */
    orr_job_unref(rt, is_over ? old : fresh);
    return is_over ? fresh : old;
}

struct orr_job *orr_job_get_further(struct orr_runtime *rt,
                                    struct starpu_task *task)
{
    const struct orr_job *job;
    bool is_over;

    /* Under the lock the task's job cannot be replaced and its memory used for another
     * one. */
    orr_lock(&rt->tasks->agains->lock);
    job = orr_job_of(task);
    is_over = job && orr_job_state(job) == ORR_JOB_DONE;
    orr_unlock(&rt->tasks->agains->lock);
    return is_over ? orr_again_job(rt, task) : orr_job_get(rt, task);
}

struct orr_job *orr_again_ref(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job;

    orr_lock(&rt->tasks->agains->lock);
    job = orr_job_of(task);
    if (job)
        orr_job_ref(job);
    orr_unlock(&rt->tasks->agains->lock);
    return job;
}

bool orr_again_has_ended(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job;
    bool ended = false;

    /* Under this lock no other job becomes the task's, which keeps this one. */
    orr_lock(&rt->tasks->agains->lock);
    job = orr_job_of(task);
    if (job) {
        orr_lock(&job->lock);
        ended = job->ended;
        orr_unlock(&job->lock);
    }
    orr_unlock(&rt->tasks->agains->lock);
    return ended;
}

/* The job waits for each successor that was let go and has not ended since. */
static void wait_for_backs_locked(struct orr_runtime *rt, struct orr_job *job)
    ORR_REQUIRES(rt->tasks->agains->lock)
{
    for (const struct again_link *link = orr_job_again(job)->first; link;
         link = link->next) {
        struct orr_again *to = link->to;
        struct again_back *back;

        if (to->gone || !to->active || to->round != link->round)
            continue;
        back = malloc(sizeof(*back));
        if (!back)
            out_of_memory(rt, job);
        *back = (struct again_back){.next = to->backs, .job = job};
        to->backs = back;
        orr_job_wait_more(job, 1);
    }
}

struct orr_job *orr_again_regenerate(struct orr_runtime *rt,
                                     struct starpu_task *task)
{
    struct orr_job *job = orr_again_job(rt, task);

    if (!job || !orr_job_again(job))
        return job;
    orr_lock(&rt->tasks->agains->lock);
    wait_for_backs_locked(rt, job);
    orr_unlock(&rt->tasks->agains->lock);
    return job;
}

/* Releases the successors of a run. No lock held. */
static void release_edges(struct orr_runtime *rt, struct orr_edge *edge)
{
    while (edge) {
        struct orr_edge *next = edge->next;

        orr_job_release(rt, edge->job);
        orr_slab_put(rt->slabs->edges, edge);
        edge = next;
    }
}

void orr_again_forget(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_edge *edges = NULL;
    struct again_back *backs;
    struct orr_again *again;

    orr_lock(&rt->tasks->agains->lock);
    again = orr_job_again(job);
    orr_job_rare(job)->again = NULL;
    again->gone = true;
    again->active = false;
    again->job = NULL;
    while (again->first) {
        struct again_link *link = again->first;

        if (link->round != link->to->round && link->to->job)
            again_add_edge(rt, &edges, link->to->job);
        unlink_locked(again, &again->first);
    }
    backs = take_backs_locked(again);
    unref_locked(again);
    orr_unlock(&rt->tasks->agains->lock);
    release_edges(rt, edges);
    release_backs(rt, backs);
}

/* --- reports --- */

void orr_agains_each_missing(struct orr_runtime *rt,
                             void (*visit)(const struct orr_job *job,
                                           const struct starpu_task *before,
                                           bool underway, bool back, void *arg),
                             void *arg)
{
    orr_list_foreach (at, &rt->tasks->agains->all) {
        const struct orr_again *again =
            orr_container(at, struct orr_again, link);

        if (again->gone)
            continue;
        for (const struct again_link *link = again->first; link;
             link = link->next)
            if (!link->to->gone && link->to->job &&
                link->round != link->to->round)
                visit(link->to->job, again->task, again->active, false, arg);
        for (const struct again_back *back = again->backs; back;
             back = back->next)
            visit(back->job, again->task, true, true, arg);
    }
}
