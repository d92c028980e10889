/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/why.c - what a task waits for, along the chain, and why a worker has nothing to
 * do: a sentence each. Of several that hold a task back the chain goes on with the one
 * that is farthest from its end.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/message.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/observe/waiting.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"
#include "core/task/tag.h"
#include "core/worker/workers.h"
#include "debug/answers.h"
#include "debug/event.h"

enum { LINKS = 60 };

/* --- what holds a task back --- */

struct search {
    const struct orr_job *job;    /* that waits */
    const struct orr_job *before; /* the best one so far, NULL */
    unsigned n;
};

/* What is in an earlier state ends later; of equals the oldest is first. */
static bool is_farther(const struct orr_job *one, const struct orr_job *other)
{
    enum orr_job_state a = orr_job_state(one), b = orr_job_state(other);

    if (orr_waiting_is_acquired(one) != orr_waiting_is_acquired(other))
        return orr_waiting_is_acquired(one);
    return a < b || (a == b && one->id < other->id);
}

static void look_at_edge(const struct orr_job *job, const struct orr_job *before, void *arg)
{
    struct search *search = arg;

    if (job != search->job)
        return;
    search->n++;
    if (!search->before || is_farther(before, search->before))
        search->before = before;
}

static void look_behind(struct orr_job *before, void *arg)
{
    orr_waiting_behind(before, look_at_edge, arg);
}

/* Whether the program has declared that the one waits for the other. */
static bool is_declared(const struct orr_job *job, const struct orr_job *before)
{
    for (const struct orr_edge *edge = before->successors; edge; edge = edge->next)
        if (edge->job == job)
            return true;
    return false;
}

/* The datum that has the one wait for the other; NULL: none. */
static const struct orr_access *shared_access(const struct orr_job *job,
                                              const struct orr_job *before,
                                              const struct orr_access **ret_before)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        for (unsigned j = 0; j < before->naccesses; j++)
            if (job->accesses[i].handle == before->accesses[j].handle) {
                *ret_before = &before->accesses[j];
                return &job->accesses[i];
            }
    return NULL;
}

static void say_because(struct debug_answer *answer, const struct search *search)
{
    const struct orr_job *job = search->job, *before = search->before;
    const struct orr_access *first = NULL;
    const struct orr_access *access = shared_access(job, before, &first);
    char others[60] = "", because[400] = "";

    if (search->n > 1)
        snprintf(others, sizeof(others), " (and for %u more)", search->n - 1);
    if (is_declared(job, before))
        snprintf(because, sizeof(because), ": the program has declared that");
    else if (access && ORR_JOB_HOLDS(before))
        snprintf(because, sizeof(because), ": it %s that", debug_mode_words(access->mode));
    else if (access)
        snprintf(because, sizeof(because), ": it %s %s, which that one %s",
                 debug_mode_words(access->mode), orr_handle_label(access->handle).text,
                 debug_mode_words(first->mode));
    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_number(answer, "before", (double)before->id);
    debug_source(answer, job);
    if (access)
        debug_name(answer, "data", orr_handle_label(access->handle).text);
    debug_name(answer, "cause", is_declared(job, before) ? "declared" : "data");
    debug_text(answer, "%s%s%s", orr_waiting_for(job, before).text, others, because);
}

/* --- those that no task holds back --- */

struct tags {
    struct debug_answer *answer;
    const struct orr_job *job;
    unsigned n;
};

static void say_tag(const struct orr_job *job, starpu_tag_t before, bool bound, void *arg)
{
    struct tags *tags = arg;

    if (job != tags->job)
        return;
    tags->n++;
    debug_item(tags->answer);
    debug_number(tags->answer, "task", (double)job->id);
    debug_name(tags->answer, "cause", "tag");
    debug_text(tags->answer, "%s waits for tag %llu, %s", orr_waiting_name(job).text,
               (unsigned long long)before,
               bound ? "whose task has not ended" : "which no task carries");
}

static void say_tags(struct debug_answer *answer, const struct orr_job *job)
{
    struct tags tags = {answer, job, 0};

    orr_tags_each_missing(answer->rt, say_tag, &tags);
    if (tags.n)
        return;
    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    if (answer->event->kind == DEBUG_SUBMIT && answer->event->job == job &&
        atomic_load(&job->waiting) == 1) {
        debug_text(answer, "%s is being submitted, and waits for nothing else",
                   orr_waiting_name(job).text);
        return;
    }
    debug_text(answer, "%s waits for what is before it (%d), and the cause is none that is "
                       "looked at here: another run of a task, or a partition",
               orr_waiting_name(job).text, atomic_load(&job->waiting));
}

struct before {
    const struct orr_job *job;
    unsigned urgent, older;
};

static void count_before(struct orr_job *job, void *arg)
{
    struct before *before = arg;

    if (job == before->job || !job->task || orr_job_state(job) != ORR_JOB_READY)
        return;
    before->urgent += job->priority > before->job->priority;
    before->older += job->priority == before->job->priority && job->id < before->job->id;
}

static bool can_run(const struct orr_job *job, const struct orr_worker *worker)
{
    return !job->costs || job->costs->able[worker->class_id];
}

/* Its worker, or those that could run it, and what they do instead. */
static void say_ready(struct debug_answer *answer, const struct orr_job *job)
{
    struct orr_runtime *rt = answer->rt;
    const struct starpu_task *task = job->task;
    const struct orr_sched *sched = rt->sched_ctxs->at[job->sched_ctx];
    struct before before = {job, 0, 0};
    unsigned n = 0, most = 4;

    orr_waiting_each(rt, count_before, &before);
    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_name(answer, "cause", "worker");
    debug_number(answer, "urgent", before.urgent);
    if (task->execute_on_a_specific_worker && task->workerid < rt->workers->n) {
        const struct orr_worker *worker = &rt->workers->at[task->workerid];

        debug_text(answer, "%s is ready, and bound to one worker "
                           "(execute_on_a_specific_worker), %s, which %s",
                   orr_waiting_name(job).text, worker->desc->name,
                   debug_worker_words(rt, worker).text);
        return;
    }
    debug_text(answer, "%s is ready, with priority %d, in the queues of the policy %s: %u ready "
                       "task%s of higher priority, %u of the same priority %s older",
               orr_waiting_name(job).text, job->priority,
               sched->ops->name ? sched->ops->name : "of the application", before.urgent,
               before.urgent == 1 ? " is" : "s are", before.older,
               before.older == 1 ? "is" : "are");
    for (unsigned w = 0; w < rt->workers->n; w++)
        n += can_run(job, &rt->workers->at[w]);
    debug_item(answer);
    debug_number(answer, "able", n);
    debug_text(answer, "%u of %u workers can run it", n, rt->workers->n);
    for (unsigned w = 0; w < rt->workers->n && most; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];

        if (!can_run(job, worker))
            continue;
        most--;
        debug_item(answer);
        debug_number(answer, "worker", w);
        debug_text(answer, "%s %s", worker->desc->name, debug_worker_words(rt, worker).text);
    }
}

static void say_missing(struct debug_answer *answer, const struct orr_job *job)
{
    struct orr_runtime *rt = answer->rt;
    unsigned node = rt->workers->at[job->worker].desc->node, n = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_handle *handle = job->accesses[i].handle;
        bool reads = job->accesses[i].mode & STARPU_R;
        uint64_t valid = atomic_load(&handle->valid), loading = atomic_load(&handle->loading);

        if (reads ? valid >> node & 1 : atomic_load(&handle->allocated) >> node & 1)
            continue;
        n++;
        debug_item(answer);
        debug_number(answer, "task", (double)job->id);
        debug_name(answer, "data", orr_handle_label(handle).text);
        debug_name(answer, "cause", loading >> node & 1 ? "transfer" : "memory");
        if (loading >> node & 1)
            debug_text(answer, "%s, on %s, waits for the value of %s, %zu bytes, which is on its "
                               "way to %s from %s",
                       orr_waiting_name(job).text, rt->workers->at[job->worker].desc->name,
                       orr_handle_label(handle).text, handle->size,
                       rt->machine->nodes[node].name, debug_nodes_words(rt, valid).text);
        else
            debug_text(answer, "%s, on %s, waits for %s of %s, %zu bytes, on %s (`info node %s' "
                               "has what is there)",
                       orr_waiting_name(job).text, rt->workers->at[job->worker].desc->name,
                       reads ? "a copy" : "memory", orr_handle_label(handle).text,
                       handle->size, rt->machine->nodes[node].name,
                       rt->machine->nodes[node].name);
    }
    if (n)
        return;
    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_text(answer, "%s has its data on %s, and its kernel is next", orr_waiting_name(job).text,
               rt->workers->at[job->worker].desc->name);
}

static void say_running(struct debug_answer *answer, const struct orr_job *job)
{
    const struct orr_worker *worker = &answer->rt->workers->at[job->worker];
    const struct orr_kernel *kernel = job->kernel;

    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_name(answer, "cause", "kernel");
    if (answer->event->kind == DEBUG_END && answer->event->job == job)
        debug_text(
            answer,
            "%s has just ended on %s, after %s: what waits for it goes on next",
            orr_waiting_name(job).text, worker->desc->name,
            debug_date_words(answer->event->length).text);
    else if (!(kernel->start > 0)) /* where its start is told of */
        debug_text(answer, "%s starts on %s, and takes %s", orr_waiting_name(job).text,
                   worker->desc->name, debug_date_words(kernel->duration).text);
    else if (kernel->start > orr_exec_now(answer->rt->exec))
        debug_text(answer, "%s is in the queue of %s, behind the kernel that runs there, until %s",
                   orr_waiting_name(job).text, worker->desc->name,
                   debug_date_words(kernel->start).text);
    else
        debug_text(answer, "%s runs on %s since %s, for %s", orr_waiting_name(job).text,
                   worker->desc->name, debug_date_words(kernel->start).text,
                   debug_date_words(kernel->duration).text);
}

/* --- messages --- */

/* The other end of a message. */
struct other_end {
    const struct orr_message *message;
    int rank; /* of its own run */
    /* the oldest place in the order of its datum, NULL */
    const struct orr_job *found;
};

static void look_for_end(struct orr_job *job, void *arg)
{
    struct other_end *end = arg;
    const struct orr_message *other;

    if (!ORR_JOB_IS(job, message))
        return;
    other = orr_message_of(job);
    if (other->is_known && (other->peer == end->rank || other->peer < 0) &&
        other->tag == end->message->tag &&
        (other->mode & STARPU_W) != (end->message->mode & STARPU_W) &&
        (!end->found || orr_job_state(job) > orr_job_state(end->found)))
        end->found = job;
}

/* What the message that the job has its datum for waits for, at the other rank: its place in
 * the orders there, which the chain goes on with; NULL: this is the end of it. */
static const struct orr_job *follow_message(struct debug_answer *answer,
                                            const struct orr_job *job)
{
    const struct orr_message *message = orr_message_of(job);
    bool receives = message->mode & STARPU_W;
    struct other_end end = {message, debug_rank_of(answer->rt), NULL};
    struct orr_runtime *other =
        message->peer >= 0 ? debug_run_of_rank(message->peer) : NULL;

    if (end.rank < 0 || !message->is_known)
        return NULL;
    if (message->peer < 0) {
        debug_item(answer);
        debug_name(answer, "cause", "message");
        debug_text(answer,
                   "a copy of %s, %zu bytes, goes to several ranks, tag %lld",
                   orr_handle_label(message->handle).text,
                   message->handle->size, (long long)message->tag);
        return NULL;
    }
    if (other)
        orr_waiting_each(other, look_for_end, &end);
    debug_item(answer);
    debug_name(answer, "cause", "message");
    debug_name(answer, "data", orr_handle_label(message->handle).text);
    debug_number(answer, "peer", message->peer);
    debug_text(answer, "%s of %s, %zu bytes, %s rank %d, tag %lld: %s",
               receives ? "the value" : "a copy",
               orr_handle_label(message->handle).text, message->handle->size,
               receives ? "comes from" : "goes to", message->peer,
               (long long)message->tag,
               !other       ? "that rank has no run"
               : !end.found ? "that rank has not asked for that yet"
               : orr_job_state(end.found) == ORR_JOB_RUNNING
                   ? "it is on its way"
                   : "there it is not its turn yet");
    if (!other)
        return NULL;
    answer->rt = other;
    if (!end.found)
        debug_say_application(answer);
    return end.found && orr_job_state(end.found) != ORR_JOB_RUNNING ? end.found
                                                                    : NULL;
}

/* The last link of a chain. */
static void say_end(struct debug_answer *answer, const struct orr_job *job)
{
    struct orr_sentence alone;

    switch (orr_job_state(job)) {
    case ORR_JOB_NEW:
        return; /* the link before has said that it was never submitted */
    case ORR_JOB_BLOCKED:
    case ORR_JOB_CLAIMING:
        say_tags(answer, job);
        return;
    case ORR_JOB_FETCHING:
        if (job->worker >= 0) {
            say_missing(answer, job);
            return;
        }
        break;
    case ORR_JOB_READY:
        if (job->task && !orr_waiting_has_run(job)) {
            say_ready(answer, job);
            return;
        }
        break;
    case ORR_JOB_RUNNING:
        if (job->task && job->worker >= 0 && job->kernel) {
            say_running(answer, job);
            return;
        }
        break;
    default:
        break;
    }
    if (ORR_JOB_HOLDS(job))
        return; /* likewise */
    alone = orr_waiting_alone(answer->rt, job);
    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_text(answer, "%s", *alone.text ? alone.text : orr_waiting_name(job).text);
}

/* Whether the chain is at its end; says so. */
static bool is_end(struct debug_answer *answer, const struct orr_job *job,
                   const struct orr_job *const *seen, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (seen[i] == job) {
            debug_item(answer);
            debug_name(answer, "cause", "circle");
            debug_text(
                answer,
                "these wait for each other in a circle, which no order of them "
                "can satisfy");
            return true;
        }
    if (n < LINKS)
        return false;
    debug_item(answer);
    debug_text(answer, "and so on");
    return true;
}

static void follow_chain(struct debug_answer *answer, const struct orr_job *job)
{
    const struct orr_job *seen[LINKS];
    unsigned n = 0;

    while (job && !is_end(answer, job, seen, n)) {
        struct search search = {job, NULL, 0};

        seen[n++] = job;
        if (orr_job_state(job) == ORR_JOB_BLOCKED || orr_job_state(job) == ORR_JOB_CLAIMING)
            orr_waiting_each(answer->rt, look_behind, &search);
        if (search.before)
            say_because(answer, &search);
        else if (ORR_JOB_IS(job, message) &&
                 orr_job_state(job) == ORR_JOB_RUNNING)
            search.before = follow_message(answer, job);
        else
            say_end(answer, job);
        job = search.before;
    }
}

void debug_why_task(struct debug_answer *answer, const struct orr_job *job)
{
    struct orr_runtime *own = answer->rt;

    answer->names_rank = true;
    follow_chain(answer, job);
    answer->rt = own;
    answer->names_rank = false;
}

/* --- idle workers --- */

struct debug_words debug_application_words(const struct orr_runtime *rt)
{
    const struct orr_context *main = rt->main;
    struct debug_words words;

    if (main->awaited)
        snprintf(words.text, sizeof(words.text),
                 "the application waits for %s%s%.60s",
                 orr_waiting_awaited(main).text, main->call ? ", in " : "",
                 main->call ? main->call : "");
    else
        snprintf(words.text, sizeof(words.text),
                 "the application does something of its own");
    return words;
}

void debug_say_application(struct debug_answer *answer)
{
    const struct debug_event *event = answer->event;
    bool begins = event->kind == DEBUG_WAIT && !event->by && event->text &&
                  event->rank == debug_rank_of(answer->rt) &&
                  !answer->rt->main->awaited;

    debug_item(answer);
    debug_name(answer, "application",
               answer->rt->main->awaited || begins ? "waits" : "runs");
    if (begins)
        debug_text(answer, "the application begins to wait, in %s",
                   event->text);
    else
        debug_text(answer, "%s", debug_application_words(answer->rt).text);
}

struct ready {
    struct debug_answer *answer;
    const struct orr_worker *worker;
    unsigned n, here, said;
    const struct orr_job *oldest; /* that waits */
};

static void look_at_ready(struct orr_job *job, void *arg)
{
    struct ready *ready = arg;
    bool bound;

    if (!job->task || !job->id)
        return;
    if ((orr_job_state(job) == ORR_JOB_BLOCKED || orr_job_state(job) == ORR_JOB_CLAIMING) &&
        (!ready->oldest || job->id < ready->oldest->id))
        ready->oldest = job;
    if (orr_job_state(job) != ORR_JOB_READY)
        return;
    bound = job->task->execute_on_a_specific_worker && job->task->workerid != ready->worker->id;
    ready->n++;
    ready->here += can_run(job, ready->worker) && !bound;
    if (!can_run(job, ready->worker) || ready->said++ >= 5)
        return;
    debug_item(ready->answer);
    debug_number(ready->answer, "task", (double)job->id);
    if (bound)
        debug_text(ready->answer, "%s is ready, and bound to %s (execute_on_a_specific_worker)",
                   debug_job_words(job).text,
                   job->task->workerid < ready->answer->rt->workers->n
                       ? ready->answer->rt->workers->at[job->task->workerid].desc->name
                       : "other workers");
    else
        debug_text(ready->answer, "%s is ready and could run there, but its policy keeps it for "
                                  "another worker",
                   debug_job_words(job).text);
}

void debug_why_idle(struct debug_answer *answer, const struct orr_worker *worker)
{
    struct orr_runtime *rt = answer->rt;
    struct ready ready = {.answer = answer, .worker = worker};

    debug_item(answer);
    debug_number(answer, "worker", worker->id);
    debug_text(answer, "%s %s", worker->desc->name, debug_worker_words(rt, worker).text);
    if (atomic_load(&worker->state) != ORR_WORKER_IDLE)
        return;
    orr_waiting_each(rt, look_at_ready, &ready);
    debug_item(answer);
    debug_number(answer, "ready", ready.n);
    debug_number(answer, "here", ready.here);
    debug_text(answer, "%u task%s ready, %u of them could run there", ready.n,
               ready.n == 1 ? " is" : "s are", ready.here);
    if (ready.here)
        return;
    debug_say_application(answer);
    if (ready.oldest)
        debug_why_task(answer, ready.oldest);
}
