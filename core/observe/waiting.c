/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/waiting.c - see waiting.h. */
#include "core/observe/waiting.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/number.h"
#include "core/base/slab.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/plan.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/nest.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

/* --- texts --- */

static struct orr_sentence __attribute__((format(printf, 1, 2)))
sentence(const char *format, ...)
{
    struct orr_sentence sentence;
    va_list arguments;

    va_start(arguments, format);
    orr_vsnprintf(sentence.text, sizeof(sentence.text), format, arguments);
    va_end(arguments);
    return sentence;
}

static struct orr_label job_data_name(const struct orr_job *job)
{
    return orr_handle_words(job->accesses[0].handle);
}

struct orr_job_words orr_waiting_awaited(const struct orr_context *context)
{
    struct orr_job_words words;

    orr_awaited_write(context->awaited, words.text, sizeof(words.text));
    return words;
}

struct orr_job_words orr_waiting_name(const struct orr_job *job)
{
    struct orr_job_words words;

    if (job->task && job->id)
        snprintf(words.text, sizeof(words.text), "task `%s' (number %llu)",
                 orr_job_name(job), (unsigned long long)job->id);
    else if (job->task)
        snprintf(words.text, sizeof(words.text), "task `%s'", orr_job_name(job));
    else if (ORR_JOB_IS(job, acquire))
        snprintf(words.text, sizeof(words.text), "the acquisition of %.150s",
                 job_data_name(job).text);
    else if (ORR_JOB_IS(job, message))
        snprintf(words.text, sizeof(words.text), "a message of %.150s",
                 job_data_name(job).text);
    else if (orr_job_is_switch(job))
        snprintf(words.text, sizeof(words.text),
                 "the switch between %.110s and its planned parts",
                 job_data_name(job).text);
    else
        snprintf(words.text, sizeof(words.text), "a request of the library");
    return words;
}

/* --- what holds a job back --- */

bool orr_waiting_is_acquired(const struct orr_job *job)
{
    return ORR_JOB_IS(job, acquire) && job->state == ORR_JOB_RUNNING;
}

/* Whether a layer above has the data of a message, and has not ended it. */
static bool is_held(const struct orr_job *job)
{
    return ORR_JOB_IS(job, message) && job->state == ORR_JOB_RUNNING;
}

bool orr_waiting_itself(const struct orr_job *job)
{
    return job->state != ORR_JOB_NEW && !orr_waiting_is_acquired(job) &&
           !is_held(job);
}

static bool job_is_inside(const struct orr_job *job, const struct orr_job *outer)
{
    const struct orr_nest *nest = orr_job_around(job);

    while (nest && nest != orr_job_inner(outer))
        nest = nest->up;
    return nest != NULL;
}

struct orr_sentence orr_waiting_for(const struct orr_job *job,
                                    const struct orr_job *before)
{
    struct orr_job_words name = orr_waiting_name(job);
    struct orr_job_words first = orr_waiting_name(before);

    if (before->state == ORR_JOB_SUSPENDED && job_is_inside(job, before))
        return sentence("%s waits for the end of %s, in whose kernel it was submitted: what "
                        "it does with their common data is more than that one has declared "
                        "(STARPU_RW lends them for anything but reductions)",
                        name.text, first.text);
    if (before->state == ORR_JOB_NEW)
        return sentence("%s waits for %s, which was never submitted", name.text, first.text);
    if (orr_waiting_is_acquired(before))
        return sentence("%s waits for %s, which the application has acquired and not "
                        "released (starpu_data_release)",
                        name.text, job_data_name(before).text);
    if (is_held(before))
        return sentence("%s waits for %s, which has not ended", name.text, first.text);
    return sentence("%s waits for %s", name.text, first.text);
}

/* Whether it is ready and its worker takes others before it. */
static bool waits_for_order(const struct orr_runtime *rt, const struct orr_job *job)
{
    const struct starpu_task *task = job->task;

    return job->state == ORR_JOB_READY && task && task->workerorder &&
           task->execute_on_a_specific_worker && task->workerid < rt->workers->n &&
           rt->workers->at[task->workerid].next_order < task->workerorder;
}

static struct orr_sentence missing_order(const struct orr_runtime *rt,
                                         const struct orr_job *job)
{
    const struct orr_worker *worker = &rt->workers->at[job->task->workerid];

    return sentence("%s has workerorder %u on %s, where it is the turn of %u, which no ready "
                    "task has (submit one, or number them without gaps)",
                    orr_waiting_name(job).text, job->task->workerorder, worker->desc->name,
                    worker->next_order);
}

bool orr_waiting_has_run(const struct orr_job *job)
{
    const struct starpu_task *task = job->task;

    return task && (job->state == ORR_JOB_RUNNING ||
                    (job->state == ORR_JOB_READY &&
                     (!task->cl || task->where == STARPU_NOWHERE)));
}

struct orr_sentence orr_waiting_alone(const struct orr_runtime *rt,
                                      const struct orr_job *job)
{
    struct orr_job_words name = orr_waiting_name(job);

    if (job->state == ORR_JOB_SUSPENDED)
        return sentence("%s waits in its kernel, on %s, for %s", name.text,
                        rt->workers->at[job->worker].desc->name,
                        orr_waiting_awaited(job->kernel->waits).text);
    if (waits_for_order(rt, job))
        return missing_order(rt, job);
    if (orr_waiting_has_run(job))
        return sentence("%s has run, but what its end depends on has not ended "
                        "(starpu_task_end_dep_release)",
                        name.text);
    if (job->state == ORR_JOB_READY)
        return sentence("%s is ready, but no worker takes it%s", name.text,
                        atomic_load(&rt->workers->paused) > 0
                            ? ": starpu_pause was called and not starpu_resume"
                            : "");
    if (job->state == ORR_JOB_FETCHING)
        return sentence("%s waits for its data%s%s", name.text,
                        job->worker >= 0 ? " on " : "",
                        job->worker >= 0 ? rt->workers->at[job->worker].desc->name : "");
    return (struct orr_sentence){""};
}

/* --- who waits for it --- */

struct walk {
    const struct orr_job *before;
    void (*waits)(const struct orr_job *job, const struct orr_job *before, void *arg);
    void *arg;
};

static const struct orr_job *queue_claimant(const struct orr_list *link)
{
    return (const struct orr_job *)(const void *)((const char *)link -
                                                  offsetof(struct orr_job, queue));
}

/* The jobs that wait for the access: those whose turn comes next. */
static void walk_order(const struct walk *walk, const struct orr_access *access)
{
    const struct orr_turns *turns = &access->handle->turns;

    if (!access->ordered)
        return;
    for (const struct orr_access *later = orr_turns_behind(turns, access); later;
         later = orr_turns_mate(turns, later))
        walk->waits(later->job, walk->before, walk->arg);
}

/* Accesses that wait there wait for the first one that is granted, or for the task
 * itself. */
static void walk_scope(const struct walk *walk, const struct orr_scope *scope)
{
    const struct orr_access *first = orr_turns_first(&scope->turns);

    if (!scope->access)
        return;
    orr_turns_foreach (access, &scope->turns)
        if (!access->granted)
            walk->waits(access->job, first->granted ? first->job : scope->access->job,
                        walk->arg);
}

/* The jobs that wait in the scopes of data that a task around has lent, and of parts of
 * these. */
static void walk_scopes(const struct walk *walk, const struct orr_access *access)
{
    const struct orr_job *job = access->job;
    struct orr_scope *scope;

    if (!orr_job_inner(job) || !job->task)
        return;
    scope = &orr_job_inner(job)->scopes[access->index];
    walk_scope(walk, scope);
    orr_list_foreach (link, &scope->plans) {
        const struct orr_inner_plan *plan =
            orr_container(link, struct orr_inner_plan, link);

        for (unsigned i = 0; i < plan->n; i++)
            walk_scope(walk, &plan->parts[i].scope);
    }
}

/* The jobs that wait for what the access has claimed. */
static void walk_claim(const struct walk *walk, const struct orr_access *access)
{
    const struct orr_list *all = &access->handle->claims.queue;

    for (const struct orr_list *link = all->next; access->claimed && link != all;
         link = link->next)
        walk->waits(queue_claimant(link), walk->before, walk->arg);
}

void orr_waiting_behind(const struct orr_job *before,
                        void (*waits)(const struct orr_job *job,
                                      const struct orr_job *before, void *arg),
                        void *arg)
{
    const struct walk walk = {before, waits, arg};

    for (const struct orr_edge *edge = before->successors; edge; edge = edge->next)
        waits(edge->job, before, arg);
    if (before->state == ORR_JOB_NEW) /* its accesses are not filled in */
        return;
    for (unsigned i = 0; i < before->naccesses; i++) {
        walk_order(&walk, &before->accesses[i]);
        walk_claim(&walk, &before->accesses[i]);
        walk_scopes(&walk, &before->accesses[i]);
    }
}

/* --- all of them --- */

struct visit {
    void (*visit)(struct orr_job *job, void *arg);
    void *arg;
};

static void visit_object(void *object, void *arg)
{
    const struct visit *visit = arg;
    struct orr_job *job = object;

    if (atomic_load(&job->refs) != 0 && job->state != ORR_JOB_DONE)
        visit->visit(job, visit->arg);
}

void orr_waiting_each(const struct orr_runtime *rt,
                      void (*visit)(struct orr_job *job, void *arg), void *arg)
{
    struct visit all = {visit, arg};

    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], visit_object, &all);
}
