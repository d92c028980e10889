/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/plan_heft_make.c - a plan made of the tasks that have not ended: their
 * graph, their lengths, and the data that they use, which are where they are now or
 * will be where they are written. The lock is held.
 */
#include "core/data/nodes.h"
#include "core/policies/plan_heft.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

/* A cost row has one bit per class. */
enum { MOST_CLASSES = 64 };

static double planning_now(const struct orr_planner *p)
{
    return orr_exec_now(p->sched->runtime->exec);
}

/* --- lengths and copies --- */

double orr_note_length(const struct orr_cost_row *row, unsigned class_id)
{
    double least = INFINITY;

    for (unsigned i = 0; row->able[class_id] >> i; i++) {
        double us = orr_cost_length(row, class_id, i);

        if (row->able[class_id] >> i & 1 && us < least &&
            orr_cost_is_known(row, class_id, i, us))
            least = us;
    }
    return least;
}

/* The lengths of a task on each class where it may run. */
static void fill_lengths(const struct orr_planner *p,
                         const struct orr_note *note, double *length)
{
    const struct orr_runtime *rt = p->sched->runtime;
    bool ready =
        note->stage == ORR_NOTE_QUEUED || note->stage == ORR_NOTE_PLACED;

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        length[k] = ready && !(note->job->able_classes >> k & 1)
                        ? (double)INFINITY
                        : orr_note_length(note->row, k);
}

/* Of one copy alone. */
static double direct_copy(const struct orr_runtime *rt, unsigned from,
                          unsigned to, uint64_t bytes)
{
    const struct orr_machine *machine = rt->machine;
    double us = (double)bytes /
                    machine->bandwidth[orr_machine_pair(machine, from, to)] +
                rt->nodes->at[to].routes[from].latency;

    return us > 0 && isfinite(us) ? us : 0;
}

/* Plans have the copies to a memory, and those from it, one after the other. In a run
 * copies of other memories share links with them, in both directions at once, which
 * makes them about twice as long. (StarPU's estimate is that all devices copy at
 * once.) */
static double copy_time(void *arg, unsigned from, unsigned to, uint64_t bytes)
{
    const struct orr_runtime *rt = arg;

    if (from == to || bytes == 0)
        return 0;
    if (rt->machine->direct[orr_machine_pair(rt->machine, from, to)])
        return 2 * direct_copy(rt, from, to, bytes);
    return 2 *
           (direct_copy(rt, from, 0, bytes) + direct_copy(rt, 0, to, bytes));
}

/* Notes which workers take tasks of the context now. */
static void find_workers_locked(struct orr_planner *p) ORR_REQUIRES(p->lock)
{
    const struct orr_runtime *rt = p->sched->runtime;
    const struct orr_members *members = &rt->workers->members[p->sched->id];

    memset(p->class_size, 0, rt->workers->nclasses * sizeof(*p->class_size));
    for (unsigned w = 0; w < rt->workers->n; w++) {
        bool takes = orr_members_has(members, w);

        p->class_of[w] = takes ? rt->workers->at[w].class_id : ORR_PLAN_NONE;
        if (takes)
            p->class_size[p->class_of[w]]++;
    }
}

/* --- data --- */

/* The data that the tasks of a plan use, by the handles' numbers. */
struct catalogue {
    struct orr_plan_datum *data;
    struct orr_plan_use *uses;
    double *there;   /* nnodes per datum */
    uint32_t *slots; /* index in data + 1; 0: free */
    uint64_t *ids;   /* per slot: of the handle */
    uint32_t ndata, nuses, mask;
    unsigned nnodes;
};

static int catalogue_new(struct catalogue *c, unsigned nnodes, size_t nuses)
{
    size_t nslots = 16;

    while (nslots < 2 * nuses)
        nslots *= 2;
    *c = (struct catalogue){.nnodes = nnodes, .mask = (uint32_t)nslots - 1};
    c->data = malloc((nuses + 1) * sizeof(*c->data));
    c->uses = malloc((nuses + 1) * sizeof(*c->uses));
    c->there = malloc((nuses + 1) * nnodes * sizeof(*c->there));
    c->slots = calloc(nslots, sizeof(*c->slots));
    c->ids = malloc(nslots * sizeof(*c->ids));
    return c->data && c->uses && c->there && c->slots && c->ids ? 0 : -ENOMEM;
}

static void catalogue_done(struct catalogue *c)
{
    free(c->data);
    free(c->uses);
    free(c->there);
    free(c->slots);
    free(c->ids);
}

/* A copy that is on its way counts as there. */
static void add_datum(struct catalogue *c, const struct orr_handle *handle)
{
    uint64_t there =
        atomic_load_explicit(&handle->valid, memory_order_relaxed) |
        atomic_load_explicit(&handle->loading, memory_order_relaxed);
    struct orr_plan_datum *datum = &c->data[c->ndata];

    datum->bytes = handle->size;
    datum->there = c->there + (size_t)c->ndata * c->nnodes;
    for (unsigned m = 0; m < c->nnodes; m++)
        datum->there[m] = there >> m & 1 ? 0 : (double)INFINITY;
    c->ndata++;
}

static uint32_t find_datum(struct catalogue *c, const struct orr_handle *handle)
{
    uint32_t at = (uint32_t)(handle->id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (at &= c->mask; c->slots[at]; at = (at + 1) & c->mask)
        if (c->ids[at] == handle->id)
            return c->slots[at] - 1;
    add_datum(c, handle);
    c->ids[at] = handle->id;
    c->slots[at] = c->ndata;
    return c->ndata - 1;
}

/* The uses of a job, which has not ended. */
static void catalogue_add_uses(struct catalogue *c, const struct orr_job *job,
                               struct orr_plan_task *task)
{
    task->uses = c->uses + c->nuses;
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (access->duplicate || access->mode & STARPU_SCRATCH)
            continue;
        c->uses[c->nuses++] = (struct orr_plan_use){
            find_datum(c, access->handle), (access->mode & STARPU_R) != 0,
            (access->mode & STARPU_W) != 0};
        task->nuses++;
    }
}

/* --- tasks --- */

/* The room of one plan. */
struct draft {
    struct orr_graph_ahead ahead;
    struct orr_plan_task *tasks; /* per node */
    double *length;              /* per node and class */
    struct catalogue catalogue;
};

static int draft_new(struct orr_planner *p, struct draft *ret)
    ORR_REQUIRES(p->lock)
{
    const struct orr_runtime *rt = p->sched->runtime;
    size_t n = ret->ahead.nnodes, nuses = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct orr_note *note = orr_note_of(p, ret->ahead.nodes[i].job);

        if (note && note->job)
            nuses += note->job->naccesses;
    }
    ret->tasks = calloc(n + 1, sizeof(*ret->tasks));
    ret->length =
        malloc((n + 1) * rt->workers->nclasses * sizeof(*ret->length));
    return ret->tasks && ret->length
               ? catalogue_new(&ret->catalogue, rt->nodes->n, nuses)
               : -ENOMEM;
}

static void draft_done(struct draft *draft)
{
    free(draft->tasks);
    free(draft->length);
    catalogue_done(&draft->catalogue);
    orr_graph_ahead_done(&draft->ahead);
}

/* A task that has begun: until when it keeps its worker. */
static int place_begun_locked(struct orr_planner *p,
                              const struct orr_note *note, double now,
                              double *until, struct orr_plan_task *task)
    ORR_REQUIRES(p->lock)
{
    const struct orr_runtime *rt = p->sched->runtime;
    double start = note->stage == ORR_NOTE_RUNNING
                       ? note->start
                       : fmax(now, until[note->worker]);
    double end = fmax(start + note->length, now);

    task->placed = true;
    task->node =
        rt->workers->classes[rt->workers->at[note->worker].class_id].node;
    task->worker = note->worker;
    task->start = start;
    task->end = end;
    until[note->worker] = end;
    return orr_plan_line_add(&p->lines[note->worker], start, end - start);
}

/* Running tasks come before those that wait for their data on the same worker. */
static int place_all_begun_locked(struct orr_planner *p, struct draft *draft,
                                  double now) ORR_REQUIRES(p->lock)
{
    const struct orr_runtime *rt = p->sched->runtime;
    double *until = calloc(rt->workers->n, sizeof(*until));
    int err = until ? 0 : -ENOMEM;

    for (enum orr_note_stage stage = ORR_NOTE_RUNNING; stage >= ORR_NOTE_TAKEN;
         stage--)
        for (uint32_t i = 0; !err && i < draft->ahead.nnodes; i++) {
            const struct orr_note *note =
                orr_note_of(p, draft->ahead.nodes[i].job);

            if (note && note->job && note->stage == stage)
                err = place_begun_locked(p, note, now, until, &draft->tasks[i]);
        }
    free(until);
    return err;
}

/* Nodes of the graph as tasks to be planned. */
static int fill_locked(struct orr_planner *p, struct draft *draft, double now)
    ORR_REQUIRES(p->lock)
{
    const struct orr_runtime *rt = p->sched->runtime;

    for (unsigned w = 0; w < rt->workers->n; w++)
        p->lines[w].n = 0;
    for (unsigned i = 0; i < 2 * STARPU_MAXNODES; i++)
        p->links[i].n = 0;
    for (uint32_t i = 0; i < draft->ahead.nnodes; i++) {
        const struct orr_note *note = orr_note_of(p, draft->ahead.nodes[i].job);
        struct orr_plan_task *task = &draft->tasks[i];

        task->only = task->worker = ORR_PLAN_NONE;
        if (!note || !note->job)
            continue;
        catalogue_add_uses(&draft->catalogue, note->job, task);
        if (!orr_note_is_to_begin(note))
            continue;
        task->length = draft->length + (size_t)i * rt->workers->nclasses;
        fill_lengths(p, note,
                     draft->length + (size_t)i * rt->workers->nclasses);
        task->only = note->only;
    }
    return place_all_begun_locked(p, draft, now);
}

/* --- what was planned --- */

static struct orr_note *note_of_link(struct orr_planner *p,
                                     struct orr_list *link)
{
    return orr_note_of(p, orr_job_of_link(link)->id);
}

void orr_planner_enter(struct orr_planner *p, struct orr_note *note,
                       struct orr_job *job) ORR_REQUIRES(p->lock)
{
    struct orr_list *list = &p->ready[note->worker], *at = list->prev;

    while (at != list && (note_of_link(p, at)->start > note->start ||
                          (note_of_link(p, at)->start == note->start &&
                           orr_job_of_link(at)->id > job->id)))
        at = at->prev;
    orr_list_append(at->next, &job->queue); /* before the next one */
    p->waiting[note->worker / 64] |= UINT64_C(1) << note->worker % 64;
    p->queued[note->worker] += note->length;
    note->stage = ORR_NOTE_QUEUED;
}

/* Moves each queued job whose worker or place in the plan has changed to where it
 * belongs now. */
static void requeue_locked(struct orr_planner *p) ORR_REQUIRES(p->lock)
{
    struct orr_runtime *rt = p->sched->runtime;
    struct orr_list all, *link;

    orr_list_init(&all);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        while ((link = orr_list_pop(&p->ready[w])))
            orr_list_append(&all, link);
        p->queued[w] = 0;
    }
    memset(p->waiting, 0, sizeof(p->waiting));
    while ((link = orr_list_pop(&all)))
        orr_planner_enter(p, note_of_link(p, link), orr_job_of_link(link));
}

/* Copies the draft's plan into the notes. */
static void planner_keep_plan_locked(struct orr_planner *p,
                                     const struct draft *draft)
    ORR_REQUIRES(p->lock)
{
    double sum = 0;

    p->nplanned = p->nunplanned = 0;
    for (uint32_t i = 0; i < draft->ahead.nnodes; i++) {
        const struct orr_plan_task *task = &draft->tasks[i];
        struct orr_note *note = orr_note_of(p, draft->ahead.nodes[i].job);

        if (!orr_note_is_to_begin(note) || task->worker == ORR_PLAN_NONE)
            continue;
        note->worker = task->worker;
        note->start = task->start;
        note->length = task->end - task->start;
        sum += note->length;
        p->nplanned++;
    }
    p->nended = 0;
    p->nquiet = 0;
    p->tolerance = p->nplanned ? sum / p->nplanned : 0;
    p->nbytes = 0;
    for (uint32_t d = 0; d < draft->catalogue.ndata; d++)
        p->nbytes += draft->catalogue.data[d].bytes;
    requeue_locked(p);
}

void orr_planner_plan(struct orr_planner *p) ORR_REQUIRES(p->lock)
{
    struct orr_runtime *rt = p->sched->runtime;
    struct draft draft = {.tasks = NULL};
    double now = planning_now(p);

    if (orr_graph_ahead(rt, &draft.ahead) != 0)
        return;
    find_workers_locked(p);
    if (draft_new(p, &draft) == 0 && fill_locked(p, &draft, now) == 0) {
        struct orr_plan plan = {.graph = &draft.ahead,
                                .tasks = draft.tasks,
                                .data = draft.catalogue.data,
                                .nworkers = rt->workers->n,
                                .nclasses = rt->workers->nclasses,
                                .nnodes = rt->nodes->n,
                                .class_of = p->class_of,
                                .class_size = p->class_size,
                                .node_of = p->node_of,
                                .lines = p->lines,
                                .links = p->links,
                                .from = now,
                                .copy = copy_time,
                                .arg = rt};

        if (orr_plan_make(&plan) == 0)
            planner_keep_plan_locked(p, &draft);
    }
    draft_done(&draft);
}

void orr_planner_place(struct orr_planner *p, struct orr_note *note)
    ORR_REQUIRES(p->lock)
{
    struct orr_runtime *rt = p->sched->runtime;
    double length[MOST_CLASSES], there[MOST_CLASSES], now = planning_now(p);
    struct orr_plan_task task = {.length = length, .only = note->only};
    const struct orr_plan plan = {.nworkers = rt->workers->n,
                                  .nclasses = rt->workers->nclasses,
                                  .class_of = p->class_of,
                                  .class_size = p->class_size,
                                  .lines = p->lines,
                                  .from = now};

    find_workers_locked(p);
    fill_lengths(p, note, length);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        there[k] = now + orr_sched_transfer_time(rt, note->job,
                                                 rt->workers->classes[k].node);
    if (orr_plan_place(&plan, &task, there) < 0 || task.worker == ORR_PLAN_NONE)
        return;
    note->worker = task.worker;
    note->start = task.start;
    note->length = task.end - task.start;
    if (p->nunplanned)
        p->nunplanned--;
    p->nplanned++;
}
