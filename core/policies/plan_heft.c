/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/plan_heft.c - plan-heft: the tasks that were submitted and have not begun
 * are planned by HEFT (plan_list.h) and go where the plan says, in its order. A task
 * that becomes ready before it was planned is put into the earliest gap by itself. All
 * is planned anew when there is half as much again, when submission has stopped, or
 * when a task begins later than planned.
 *
 * A plan decides where and in which order, it stops nothing: a worker whose next task
 * is not ready takes the first one that is, before others one whose data are there; a
 * worker that has none takes over what would end later where it is planned. Tasks of
 * which no duration is known go to workers that have nothing else to do.
 */
#include "core/policies/plan_heft.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/policies/policies.h"
#include "core/sched/gang.h"
#include "core/worker/workers.h"

enum {
    LEAST_NEW = 32,   /* unplanned tasks that are worth a plan … */
    QUIET_PUSHES = 8, /* … unless nothing was submitted for so many pushes */
    LEAST_ENDED = 32, /* tasks that end between two plans for being late */
    MOST_READY = 8,   /* ready tasks among which one is chosen by its data … */
    MOST_READY_SCARCE = 64, /* … where memory has no room for all */
    MOST_LOOKED_AT = 16 /* tasks of a worker that others may take over */
};

static double planner_now(const struct orr_planner *p)
{
    return orr_exec_now(p->sched->runtime->exec);
}

/* --- what is known of tasks --- */

static struct orr_note *make_note(struct orr_planner *p, uint64_t id)
{
    if (orr_grow(&p->notes, &p->room, id + 1, sizeof(*p->notes)) < 0)
        return NULL;
    return &p->notes[id];
}

/* Whether a plan knows how long the task takes. It does not while the length is being
 * measured. */
static bool row_is_known(const struct orr_runtime *rt,
                         const struct orr_cost_row *row)
{
    bool known = false;

    if (orr_recal_any_uncalibrated(row->recal))
        return false;
    for (unsigned k = 0; !known && k < rt->workers->nclasses; k++)
        known = isfinite(orr_note_length(row, k));
    return known;
}

static void plan_submitted(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_planner *p = sched->data;
    const struct starpu_task *task = job->task;
    const struct orr_cost_row *row;
    struct orr_note *note;

    if (!task->cl || task->where == STARPU_NOWHERE)
        return;
    row = orr_job_costs(sched->runtime, job);
    orr_job_ref(job);
    orr_lock(&p->lock);
    note = make_note(p, job->id);
    if (note) {
        *note = (struct orr_note){.job = job,
                                  .row = row,
                                  .worker = ORR_PLAN_NONE,
                                  .only = task->execute_on_a_specific_worker
                                              ? task->workerid
                                              : ORR_PLAN_NONE,
                                  .stage = ORR_NOTE_WAITING};
        p->nunplanned++;
        p->nquiet = 0;
    }
    orr_unlock(&p->lock);
    if (!note)
        orr_job_unref(sched->runtime, job);
}

/* The job begins, or goes past the plan. */
static void planner_leave_locked(struct orr_planner *p, struct orr_note *note,
                                 enum orr_note_stage stage)
    ORR_REQUIRES(p->lock)
{
    if (orr_note_is_to_begin(note) && note->worker == ORR_PLAN_NONE &&
        p->nunplanned)
        p->nunplanned--;
    else if (orr_note_is_to_begin(note) && p->nplanned)
        p->nplanned--;
    note->stage = (uint8_t)stage;
}

/* The same, and the note forgets the job. Returns the job, whose reference the caller
 * gives back without the lock; NULL: there is none. */
static struct orr_job *forget_locked(struct orr_planner *p,
                                     struct orr_note *note,
                                     enum orr_note_stage stage)
    ORR_REQUIRES(p->lock)
{
    struct orr_job *job = note->job;

    planner_leave_locked(p, note, stage);
    note->job = NULL;
    return job;
}

static void planner_unref_job(struct orr_planner *p, struct orr_job *job)
{
    if (job)
        orr_job_unref(p->sched->runtime, job);
}

/* The job goes past the plan. */
static void leave_plan(struct orr_planner *p, const struct orr_job *job)
{
    struct orr_job *reference = NULL;
    struct orr_note *note;

    orr_lock(&p->lock);
    note = orr_note_of(p, job->id);
    if (note)
        reference = forget_locked(p, note, ORR_NOTE_ABSENT);
    orr_unlock(&p->lock);
    planner_unref_job(p, reference);
}

/* --- push --- */

static bool is_due_locked(const struct orr_planner *p) ORR_REQUIRES(p->lock)
{
    unsigned least = p->nplanned / 2 > LEAST_NEW ? p->nplanned / 2 : LEAST_NEW;

    return p->nunplanned >= least ||
           (p->nunplanned && p->nquiet >= QUIET_PUSHES);
}

/* To a worker that has nothing else to do. */
static int planner_push_unplanned(struct orr_planner *p, struct orr_job *job)
{
    uint64_t able_classes = job->able_classes;
    bool differ = job->differ;
    int err = orr_queue_push(&p->other, job);

    if (!err)
        orr_sched_wake_able(p->sched, able_classes, differ);
    return err;
}

/* The worker for which the job is planned; plans anew before, if that is due.
 * ORR_PLAN_NONE: nowhere. */
static uint32_t planner_choose_worker(struct orr_planner *p,
                                      struct orr_job *job)
{
    uint32_t worker = ORR_PLAN_NONE;
    struct orr_note *note;

    orr_lock(&p->lock);
    note = orr_note_of(p, job->id);
    if (orr_note_is_to_begin(note)) {
        note->stage = ORR_NOTE_PLACED;
        p->nquiet++;
        if (is_due_locked(p))
            orr_planner_plan(p);
        if (note->worker == ORR_PLAN_NONE)
            orr_planner_place(p, note);
        note->only = worker = note->worker;
    }
    orr_unlock(&p->lock);
    return worker;
}

/* Puts the job into the list of its worker. A job that only some workers of a class can
 * run stays there. */
static void planner_queue_job(struct orr_planner *p, struct orr_job *job,
                              uint32_t worker)
{
    struct orr_runtime *rt = p->sched->runtime;
    struct orr_note *note;

    if (p->prefetch)
        orr_job_prefetch(
            rt, job,
            rt->workers->classes[rt->workers->at[worker].class_id].node,
            ORR_PREFETCH);
    orr_lock(&p->lock);
    note = orr_note_of(p, job->id);
    job->predicted = job->task->predicted = note->length;
    if (!job->differ && !job->task->execute_on_a_specific_worker)
        note->only = ORR_PLAN_NONE;
    orr_planner_enter(p, note, job);
    orr_unlock(&p->lock);
    /* The others may take it over. */
    orr_sched_wake(&rt->workers->at[worker]);
    orr_sched_wake_members(p->sched);
}

static int plan_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_planner *p = sched->data;
    const struct orr_cost_row *row;
    uint32_t worker = ORR_PLAN_NONE;

    orr_sched_note_able(rt, job);
    if (!job->able_classes)
        return -ENODEV;
    row = orr_job_costs(rt, job);
    if (row_is_known(rt, row))
        worker = planner_choose_worker(p, job);
    if (worker == ORR_PLAN_NONE || !orr_job_able(rt, job, row, worker)) {
        leave_plan(p, job);
        return planner_push_unplanned(p, job);
    }
    planner_queue_job(p, job, worker);
    return 0;
}

/* A task that names its worker has not been pushed. */
static void plan_push_notify(struct orr_sched *sched, struct orr_job *job,
                             struct orr_worker *worker)
{
    (void)worker;
    leave_plan(sched->data, orr_job_gang(job) ? orr_job_gang(job)->job : job);
}

/* --- pop --- */

/* The job leaves the list that it is in: the worker has it. */
static void planner_begin_locked(struct orr_planner *p, struct orr_note *note,
                                 struct orr_job *job,
                                 const struct orr_worker *worker)
    ORR_REQUIRES(p->lock)
{
    double *until = &p->until[worker->id];

    orr_list_remove(&job->queue);
    if (orr_list_empty(&p->ready[note->worker]))
        p->waiting[note->worker / 64] &= ~(UINT64_C(1) << note->worker % 64);
    p->queued[note->worker] -= note->length;
    planner_leave_locked(p, note, ORR_NOTE_TAKEN);
    if (note->worker != worker->id)
        note->length = orr_note_length(note->row, worker->class_id);
    note->worker = worker->id;
    *until = fmax(*until, planner_now(p)) + note->length;
}

/* Whether the memory has no room for all data of the plan. */
static bool planner_memory_is_short(const struct orr_planner *p, unsigned node)
    ORR_REQUIRES(p->lock)
{
    size_t capacity = p->sched->runtime->nodes->at[node].capacity;

    return capacity && capacity < p->nbytes;
}

/* Of the first jobs in the worker's list, the first one whose data are there. If there
 * is none such: where memory is short, the job that lacks least, since its data may be
 * gone later; elsewhere the first job, whose copies are under way. NULL: the list is
 * empty. */
static struct orr_job *first_ready_locked(struct orr_planner *p,
                                          const struct orr_worker *worker)
    ORR_REQUIRES(p->lock)
{
    unsigned node = p->sched->runtime->workers->classes[worker->class_id].node;
    struct orr_list *list = &p->ready[worker->id], *link = list->next;
    struct orr_missing least = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};
    bool scarce = planner_memory_is_short(p, node);
    unsigned most = scarce ? MOST_READY_SCARCE : MOST_READY;
    struct orr_job *best = NULL;

    for (unsigned n = 0; link != list && n < most && least.value > 0;
         link = link->next, n++) {
        struct orr_job *job = orr_job_of_link(link);
        struct orr_missing lacks =
            orr_job_missing(job, node, scarce ? least.value : 0);

        if (best && lacks.value > 0 &&
            !(scarce && orr_missing_is_less(&lacks, &least)))
            continue;
        best = job;
        least = lacks;
    }
    return best;
}

static struct orr_job *planner_take_job(struct orr_planner *p,
                                        const struct orr_worker *worker)
{
    struct orr_job *job;

    orr_lock(&p->lock);
    job = first_ready_locked(p, worker);
    if (job)
        planner_begin_locked(p, orr_note_of(p, job->id), job, worker);
    orr_unlock(&p->lock);
    return job;
}

/* How much earlier than `end` the job would end on the worker, which has nothing to do; at
 * most `least` where it is not worth it. Its data are asked for last: most jobs would be
 * too late without. */
static double gain_here(struct orr_planner *p, const struct orr_worker *worker,
                        const struct orr_job *job, double now, double end,
                        double least)
{
    struct orr_runtime *rt = p->sched->runtime;
    const struct orr_note *note = orr_note_of(p, job->id);
    double here = now + orr_note_length(note->row, worker->class_id);
    bool ask;

    if (note->only != ORR_PLAN_NONE || !(end - here > least) ||
        !orr_job_maybe_able(rt, job, note->row, worker->id, &ask) || ask)
        return least;
    return end -
           (here + orr_sched_transfer_time(
                       rt, job, rt->workers->classes[worker->class_id].node));
}

/* The job that gains most by being taken over, of the last ones in the list of `from`.
 * Those before end earlier, so that they gain less than is left until then. */
static void look_at_list_locked(struct orr_planner *p, unsigned from,
                                const struct orr_worker *worker, double now,
                                double *gain, struct orr_job **best)
    ORR_REQUIRES(p->lock)
{
    double end = fmax(p->until[from], now) + p->queued[from];
    struct orr_list *list = &p->ready[from], *link = list->prev;

    for (unsigned n = 0;
         link != list && n < MOST_LOOKED_AT && end - now > *gain;
         link = link->prev, n++) {
        struct orr_job *job = orr_job_of_link(link);
        double gained = gain_here(p, worker, job, now, end, *gain);

        if (gained > *gain) {
            *gain = gained;
            *best = job;
        }
        end -= orr_note_of(p, job->id)->length;
    }
}

/* Of all workers; NULL: nothing is gained. */
static struct orr_job *take_over(struct orr_planner *p,
                                 const struct orr_worker *worker)
{
    struct orr_job *best = NULL;
    double gain = 0, now;

    orr_lock(&p->lock);
    now = planner_now(p);
    for (unsigned word = 0; word < ORR_WORKER_WORDS; word++)
        for (uint64_t left = p->waiting[word]; left; left &= left - 1)
            look_at_list_locked(p, word * 64 + (unsigned)__builtin_ctzll(left),
                                worker, now, &gain, &best);
    if (best)
        planner_begin_locked(p, orr_note_of(p, best->id), best, worker);
    orr_unlock(&p->lock);
    return best;
}

static struct orr_job *plan_pop(struct orr_sched *sched,
                                struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_planner *p = sched->data;
    struct orr_job *job = planner_take_job(p, worker);

    if (!job)
        job = take_over(p, worker);
    if (job) {
        const struct orr_cost_row *row = orr_job_costs(rt, job);
        unsigned bits = orr_job_able(rt, job, row, worker->id);

        if (bits) {
            job->implementation =
                orr_recal_pick(row->recal, row, worker->class_id, bits);
            return job;
        }
        /* It cannot any more. */
        leave_plan(p, job);
        (void)planner_push_unplanned(p, job);
    }
    if (orr_queue_empty(&p->other))
        return NULL;
    return orr_queue_take(&p->other, worker, ORR_QUEUE_OLDEST, NULL);
}

/* --- whether reality follows --- */

static void plan_pre_exec(struct orr_sched *sched, struct orr_job *job,
                          struct orr_worker *worker)
{
    struct orr_planner *p = sched->data;
    bool late = false;
    struct orr_note *note;

    orr_lock(&p->lock);
    note = orr_note_of(p, job->id);
    if (note && note->stage == ORR_NOTE_TAKEN) {
        double now = planner_now(p);

        note->worker = worker->id;
        note->stage = ORR_NOTE_RUNNING;
        late = now > note->start + p->tolerance && p->nended >= LEAST_ENDED &&
               p->nended >= p->nplanned / 8;
        note->start = now;
        if (late)
            orr_planner_plan(p);
    }
    orr_unlock(&p->lock);
    if (late)
        orr_sched_wake_members(sched);
}

static void plan_post_exec(struct orr_sched *sched, struct orr_job *job,
                           struct orr_worker *worker)
{
    struct orr_planner *p = sched->data;
    struct orr_job *reference = NULL;
    struct orr_note *note;

    (void)worker;
    orr_lock(&p->lock);
    note = orr_note_of(p, job->id);
    if (note && note->stage == ORR_NOTE_RUNNING) {
        reference = forget_locked(p, note, ORR_NOTE_ENDED);
        p->nended++;
    }
    orr_unlock(&p->lock);
    planner_unref_job(p, reference);
}

/* --- beginning and end --- */

static void plan_deinit(struct orr_sched *sched)
{
    struct orr_planner *p = sched->data;

    for (uint64_t i = 0; i < p->room; i++)
        planner_unref_job(p, p->notes[i].job);
    for (unsigned w = 0; p->lines && w < sched->runtime->workers->n; w++)
        orr_plan_line_done(&p->lines[w]);
    for (unsigned i = 0; p->links && i < 2 * STARPU_MAXNODES; i++)
        orr_plan_line_done(&p->links[i]);
    orr_queue_done(&p->other);
    free(p->notes);
    free(p->ready);
    free(p->lines);
    free(p->links);
    free(p->queued);
    free(p->until);
    free(p->class_of);
    free(p->class_size);
    free(p->node_of);
    free(p);
}

static bool planner_allocate(struct orr_planner *p,
                             const struct orr_runtime *rt)
{
    p->ready = calloc(rt->workers->n, sizeof(*p->ready));
    p->lines = calloc(rt->workers->n, sizeof(*p->lines));
    p->queued = calloc(rt->workers->n, sizeof(*p->queued));
    p->until = calloc(rt->workers->n, sizeof(*p->until));
    p->class_of = calloc(rt->workers->n, sizeof(*p->class_of));
    p->class_size = calloc(rt->workers->nclasses, sizeof(*p->class_size));
    p->node_of = calloc(rt->workers->nclasses, sizeof(*p->node_of));
    p->links = calloc(2 * STARPU_MAXNODES, sizeof(*p->links));
    return p->ready && p->lines && p->queued && p->until && p->class_of &&
           p->class_size && p->node_of && p->links;
}

static int plan_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_planner *p = calloc(1, sizeof(*p));

    if (!p)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    p->sched = sched;
    orr_lock_init(&p->lock, ORR_RANK_SCHED);
    orr_queue_init(&p->other, true);
    p->prefetch = orr_config_bool(&rt->config, ORR_CFG_PREFETCH);
    sched->data = p;
    if (!planner_allocate(p, rt) || orr_graph_look_ahead(rt) != 0) {
        plan_deinit(sched);
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    }
    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_list_init(&p->ready[w]);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        p->node_of[k] = rt->workers->classes[k].node;
    return 0;
}

const struct orr_sched_ops orr_sched_plan_heft = {
    .name = "plan-heft",
    .help = "what is submitted is planned by upward rank, with insertion",
    .unbounded_priorities = true,
    .prefetches = true,
    .init = plan_init,
    .deinit = plan_deinit,
    .push = plan_push,
    .pop = plan_pop,
    .push_notify = plan_push_notify,
    .pre_exec = plan_pre_exec,
    .post_exec = plan_post_exec,
    .submitted = plan_submitted,
};
