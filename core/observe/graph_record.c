/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_record.c - see graph_record.h. Of the turns of a handle the last
 * two are kept here: accesses that have ended leave them (core/job/turns.h), and a
 * better schedule must obey those as well.
 */
#include "core/observe/graph_record_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cost/row.h"
#include "core/data/handle.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/message_told.h"
#include "core/observe/chain.h"
#include "core/observe/views.h"
#include "core/observe/waits_log.h"
#include "core/worker/workers.h"

/* Room for one more; false without memory. */
static __attribute__((noinline)) bool
record_array_grow(char **elements, uint32_t *room, size_t size)
{
    uint32_t larger = *room ? 2 * *room : 64;
    void *moved = larger > 1U << 31 ? NULL : realloc(*elements, larger * size);

    if (!moved)
        return false;
    *elements = moved;
    *room = larger;
    return true;
}

/* A zeroed element more; NULL without memory. Inline: where it is called, `size` is a
 * constant, and each task has several. */
static inline void *record_array_add(void *array, uint32_t *n, uint32_t *room,
                                     size_t size)
{
    char **elements = array;

    if (*n == *room && !record_array_grow(elements, room, size))
        return NULL;
    memset(*elements + *n * size, 0, size);
    return *elements + (*n)++ * size;
}

#define ADD(record, array)                                                     \
    record_array_add(&(record)->array, &(record)->n##array,                    \
                     &(record)->room_##array, sizeof(*(record)->array))

/* --- what workers note by themselves --- */

/* A task that has run, for as long as that really took. */
struct orr_graph_run {
    uint32_t number; /* of its node */
    uint32_t worker;
    double start, end; /* as of the node */
};

/* Of a worker of a real run: the list is its own, and who has the record's lock reads it. */
struct orr_graph_runs {
    struct orr_chain list;
    struct orr_chain_place read; /* [record's lock] */
};

static void free_runs(struct orr_graph_record *record)
{
    for (unsigned w = 0; w < record->nruns; w++)
        orr_chain_done(&record->runs[w].list);
    free(record->runs);
}

/* Only where workers are threads, and time is not charged. False without memory. */
static bool make_runs(struct orr_graph_record *record)
{
    const struct orr_runtime *rt = record->runtime;
    unsigned n = rt->exec->one_thread || rt->machine->kernels_take_their_length
                     ? 0
                     : rt->machine->nworkers;

    if (!n)
        return true;
    record->runs = calloc(n, sizeof(*record->runs));
    for (; record->runs && record->nruns < n; record->nruns++) {
        struct orr_graph_runs *runs = &record->runs[record->nruns];

        if (orr_chain_init(&runs->list, sizeof(struct orr_graph_run)) != 0)
            return false;
        runs->read = (struct orr_chain_place){runs->list.first, 0};
    }
    return record->runs != NULL;
}

/* `charged`: as of the node. */
static void set_run(struct orr_graph_record *record,
                    const struct orr_graph_run *run, double charged)
    ORR_REQUIRES(record->lock)
{
    struct orr_graph_node_record *node;

    if (run->number < record->first)
        return; /* what was cleared does not count any more */
    node = &record->nodes[run->number - record->first];
    node->worker = run->worker;
    node->start = run->start;
    node->end = run->end;
    node->charged = charged;
}

void orr_graph_record_settle(struct orr_graph_record *record)
{
    const struct orr_graph_run *run;

    for (unsigned w = 0; w < record->nruns; w++)
        while ((run = orr_chain_next(&record->runs[w].read, sizeof(*run))))
            set_run(record, run, NAN);
}

/* By the worker; false without memory. */
static bool note_run(struct orr_graph_runs *runs,
                     const struct orr_graph_run *run)
{
    struct orr_graph_run *noted = orr_chain_add(&runs->list, sizeof(*noted));

    if (!noted)
        return false;
    *noted = *run;
    orr_chain_publish(&runs->list);
    return true;
}

/* --- beginning and end --- */

static void clear(struct orr_graph_record *record)
{
    for (uint32_t d = 0; d < record->ndata; d++) {
        free(record->data[d].name);
        orr_graph_turns_done(&record->data[d].turns);
    }
    record->first += record->nnodes;
    record->nnodes = record->nedges = record->naccesses = record->ndata = 0;
    record->ndatum_of = record->ntags = record->nvague = record->nmessages = 0;
    orr_graph_types_done(&record->types);
    memset(record->recent, 0, sizeof(record->recent));
}

void orr_graph_record_free(struct orr_graph_record *record)
{
    if (!record)
        return;
    clear(record);
    free(record->nodes);
    free(record->edges);
    free(record->accesses);
    free(record->data);
    free(record->datum_of);
    free(record->tags);
    free(record->vague);
    free(record->messages);
    free(record->chains);
    orr_waits_log_free(record->log);
    free_runs(record);
    free(record);
}

static const struct orr_observer graph_observer;

/* The runtime's, made at the first call; NULL without memory. */
static struct orr_graph_record *graph_record_get(struct orr_runtime *rt)
{
    struct orr_graph_record *record = atomic_load(&rt->views->graph), *fresh;
    /* When a task is pushed counts where time is charged. */
    uint64_t kinds = rt->exec->virtual_time
                         ? ORR_TOLD_ALL
                         : ~ORR_TOLD_BIT(ORR_TOLD_TASK_PUSHED);

    if (record)
        return record;
    fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return NULL;
    fresh->runtime = rt;
    fresh->tells = true;
    orr_lock_init(&fresh->lock, ORR_RANK_RUNTIME);
    if (make_runs(fresh) &&
        atomic_compare_exchange_strong(&rt->views->graph, &record, fresh)) {
        orr_observers_want(&rt->observers, &graph_observer, kinds, true);
        return fresh;
    }
    orr_graph_record_free(fresh); /* another thread was faster, or no memory */
    return record;
}

int orr_graph_record_all(struct orr_runtime *rt)
{
    struct orr_graph_record *record = graph_record_get(rt);

    if (!record)
        return -ENOMEM;
    record->all = true;
    return 0;
}

int orr_graph_record_open_window(struct orr_runtime *rt)
{
    struct orr_graph_record *record = graph_record_get(rt);

    if (!record)
        return -ENOMEM;
    orr_lock(&record->lock);
    orr_graph_record_settle(record);
    if (!record->all)
        clear(record);
    record->window++;
    record->open = true;
    orr_unlock(&record->lock);
    return 0;
}

void orr_graph_record_close_window(struct orr_runtime *rt)
{
    struct orr_graph_record *record = atomic_load(&rt->views->graph);

    if (!record)
        return;
    orr_lock(&record->lock);
    record->open = false;
    orr_unlock(&record->lock);
}

int orr_graph_record_log(struct orr_runtime *rt, bool symbols,
                         const struct orr_waits_log **ret)
{
    struct orr_graph_record *record = graph_record_get(rt);

    if (!record || orr_waits_log_new(rt, symbols, &record->log) != 0)
        return -ENOMEM;
    *ret = record->log;
    return 0;
}

/* Whether the lock is worth being taken to ask is_on. */
static bool may_be_on(const struct orr_graph_record *record)
{
    return __atomic_load_n(&record->all, __ATOMIC_RELAXED) ||
           __atomic_load_n(&record->open, __ATOMIC_RELAXED);
}

static bool is_on(const struct orr_graph_record *record)
{
    return record->all || record->open;
}

/* Unlocks, and reports once that something was left out. */
static void graph_record_unlock(struct orr_graph_record *record, bool lost)
    ORR_RELEASES(record->lock)
{
    bool say = lost && !record->lost;

    record->lost |= lost;
    orr_unlock(&record->lock);
    if (say)
        orr_log_warning("no memory to record the graph of tasks: bounds will "
                        "be lower than they could be");
}

/* --- nodes --- */

uint32_t orr_graph_record_add_node(struct orr_graph_record *record)
{
    struct orr_graph_node_record *node;

    if (record->first + record->nnodes >= ORR_NONE - 1)
        return ORR_NONE;
    node = ADD(record, nodes);
    if (!node)
        return ORR_NONE;
    node->start = node->end = node->charged = NAN;
    node->type = node->worker = node->edges = ORR_NONE;
    return record->first + record->nnodes - 1;
}

/* The job's number, which it gets if it has none; ORR_NONE without memory. */
static uint32_t graph_record_job_number(struct orr_graph_record *record,
                                        struct orr_job *job)
{
    uint32_t number;

    /* What was cleared does not count any more. */
    if (job->recorded > record->first)
        return job->recorded - 1;
    number = orr_graph_record_add_node(record);
    /* Its worker may look meanwhile, if others name it late. */
    if (number != ORR_NONE)
        __atomic_store_n(&job->recorded, number + 1, __ATOMIC_RELAXED);
    return number;
}

static struct orr_graph_node_record *
graph_record_node(struct orr_graph_record *record, uint32_t number)
{
    return &record->nodes[number - record->first];
}

bool orr_graph_record_add_edge(struct orr_graph_record *record, uint32_t number,
                               uint32_t before, uint64_t bytes)
{
    struct orr_graph_edge_record *edge;

    if (number == before || before < record->first)
        return true;
    edge = ADD(record, edges);
    if (!edge)
        return false;
    *edge = (struct orr_graph_edge_record){
        bytes, graph_record_node(record, number)->edges, before};
    graph_record_node(record, number)->edges = record->nedges - 1;
    return true;
}

static void graph_add_dep(struct orr_graph_record *record, struct orr_job *job,
                          struct orr_job *before)
{
    bool good = true;

    if (record->log)
        orr_waits_log_dep(record->log, job, before);
    if (!may_be_on(record))
        return;
    orr_lock(&record->lock);
    if (is_on(record)) {
        uint32_t earlier = graph_record_job_number(record, before);
        uint32_t later = graph_record_job_number(record, job);

        good = earlier != ORR_NONE && later != ORR_NONE &&
               orr_graph_record_add_edge(record, later, earlier, 0);
    }
    graph_record_unlock(record, !good);
}

/* --- data --- */

/* Where several nodes have the first value, or are about to, a copy from one of them
 * cannot be counted on: as if there were none. */
static void describe_datum(struct orr_graph_datum_record *datum,
                           const struct orr_handle *handle)
{
    uint64_t valid = atomic_load_explicit(&handle->valid, memory_order_relaxed);
    uint64_t copies =
        valid | atomic_load_explicit(&handle->loading, memory_order_relaxed);

    datum->bytes = (double)handle->size;
    datum->name = handle->name ? strdup(handle->name) : NULL;
    datum->valued =
        valid ? (copies & (copies - 1)) == 0 : handle->home_node >= 0;
    if (handle->home_node >= 0 &&
        (valid == 0 || valid >> handle->home_node & 1))
        datum->home = (unsigned)handle->home_node;
    else if (valid)
        datum->home = (unsigned)__builtin_ctzll(valid);
}

/* Index of the handle's datum, ORR_NONE without memory. Handles are numbered
 * from 1. */
static uint32_t graph_record_datum(struct orr_graph_record *record,
                                   const struct orr_handle *handle)
{
    struct orr_graph_datum_record *datum;

    if (handle->id >= ORR_NONE)
        return ORR_NONE;
    while (record->ndatum_of <= handle->id)
        if (!ADD(record, datum_of))
            return ORR_NONE;
    if (record->datum_of[handle->id])
        return record->datum_of[handle->id] - 1;
    datum = ADD(record, data);
    if (!datum)
        return ORR_NONE;
    describe_datum(datum, handle);
    record->datum_of[handle->id] = record->ndata;
    return record->ndata - 1;
}

bool orr_graph_record_order(struct orr_graph_record *record, uint32_t number,
                            struct orr_graph_turns *turns, uint32_t turn,
                            uint64_t bytes)
{
    bool good = orr_graph_turns_enter(turns, turn, number);

    for (uint32_t i = 0; i < turns->before.n; i++)
        good &= orr_graph_record_add_edge(record, number,
                                          turns->before.jobs[i], bytes);
    return good;
}

/* It is not known which of the accesses that commute reads whose value, nor where a
 * value is that a codelet has on a node of its choice: from the first such access on
 * the record has nothing of the datum's values, only the order. */
static bool graph_record_enter(struct orr_graph_record *record, uint32_t number,
                               struct orr_graph_datum_record *datum,
                               const struct orr_access *access)
{
    enum orr_access_group group = orr_access_group(access);

    datum->vague |= group == ORR_GROUP_COMMUTE || group == ORR_GROUP_REDUX ||
                    access->placed;
    return orr_graph_record_order(record, number, &datum->turns,
                                  access->handle->turns.number,
                                  datum->vague ? 0 : access->handle->size);
}

static bool enter_access(struct orr_graph_record *record,
                         const struct orr_access *access)
{
    uint32_t number = graph_record_job_number(record, access->job);
    uint32_t d = graph_record_datum(record, access->handle);
    bool good = number != ORR_NONE && d != ORR_NONE &&
                graph_record_enter(record, number, &record->data[d], access);

    /* The application's accesses are no tasks, but make copies. */
    if (d != ORR_NONE && access->job->type->is_own &&
        orr_job_own(access->job)->node != record->data[d].home)
        record->data[d].valued = false;
    return good;
}

static void graph_add_accesses(struct orr_graph_record *record,
                               const struct orr_job *job)
{
    bool good = true;

    if (record->log)
        orr_waits_log_accesses(record->log, job);
    if (!may_be_on(record))
        return;
    orr_lock(&record->lock);
    for (unsigned i = 0; is_on(record) && i < job->naccesses; i++)
        if (job->accesses[i].ordered)
            good &= enter_access(record, &job->accesses[i]);
    /* The handles are locked: messages are printed at the submission. */
    record->lost |= !good;
    orr_unlock(&record->lock);
}

/* --- tasks --- */

static bool graph_record_add_accesses(struct orr_graph_record *record,
                                      struct orr_graph_node_record *node,
                                      const struct orr_job *job)
{
    node->first_access = record->naccesses;
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *from = &job->accesses[i];
        struct orr_graph_access *to;
        uint32_t d;

        if (from->duplicate || from->lent || from->mode & STARPU_SCRATCH ||
            !(from->mode & STARPU_RW))
            continue;
        d = graph_record_datum(record, from->handle);
        if (d != ORR_NONE)
            record->data[d].vague |= from->placed;
        if (d != ORR_NONE && record->data[d].vague)
            continue;
        to = d == ORR_NONE ? NULL : ADD(record, accesses);
        if (!to)
            return false;
        to->datum = d;
        to->mode = (from->mode & STARPU_R ? ORR_GRAPH_READ : 0) |
                   (from->mode & STARPU_W ? ORR_GRAPH_WRITE : 0);
        node->naccesses++;
    }
    return true;
}

/* The calling thread's number; ORR_NONE without memory. The memory of a context that has
 * ended may be another one's, whose tasks come after those. */
static uint32_t graph_record_chain(struct orr_graph_record *record)
{
    const struct orr_context *main = record->runtime->main;

    if (record->nchains == 0) {
        struct orr_graph_chain_record *first = ADD(record, chains);

        if (!first)
            return ORR_NONE;
        first->of = main;
    }
    for (uint32_t i = record->nchains; i-- > 0;)
        if (record->chains[i].of == orr_self)
            return i;
    if (!ADD(record, chains))
        return ORR_NONE;
    record->chains[record->nchains - 1].of = orr_self;
    return record->nchains - 1;
}

/* What submits the task now. A thread that still owes time for what it did before has
 * not spent it yet, and that of the task may be paid with the next one's. */
static void graph_record_submitter(struct orr_graph_record *record,
                                   struct orr_graph_node_record *node,
                                   const struct orr_job *job)
{
    const struct orr_job *outer = orr_self->job;
    uint32_t chain;

    node->by = ORR_GRAPH_BY_OTHER;
    if (outer && orr_job_state(outer) >= ORR_JOB_RUNNING &&
        outer->recorded > record->first) {
        node->by = ORR_GRAPH_BY_TASK;
        node->submitter = outer->recorded - 1;
    }
    if (outer || orr_self->worker || orr_self->frozen || orr_self->debt > 0 ||
        !record->runtime->exec->virtual_time)
        return;
    chain = graph_record_chain(record);
    if (chain == ORR_NONE)
        return;
    record->chains[chain].last = job;
    node->by = ORR_GRAPH_BY_THREAD;
    node->submitter = chain;
}

/* `type`: the number of a task's. */
static bool graph_record_submit_locked(struct orr_graph_record *record,
                                       struct orr_job *job, bool counts,
                                       uint32_t type) ORR_REQUIRES(record->lock)
{
    uint32_t number = graph_record_job_number(record, job);
    struct orr_graph_node_record *node;

    if (number == ORR_NONE)
        return false;
    node = graph_record_node(record, number);
    node->id = job->id;
    node->priority = job->priority;
    node->has_tag = job->task->use_tag;
    node->tag = node->has_tag ? job->task->tag_id : 0;
    if (type == ORR_NONE)
        return !ORR_JOB_IS(job, task);
    node->type = type;
    node->colour = orr_job_colour(job);
    graph_record_submitter(record, node, job);
    node->window = counts && record->open ? record->window : 0;
    return graph_record_add_accesses(record, node, job);
}

static bool has_times(const struct orr_graph_record *record,
                      const struct orr_graph_type_record *type)
    ORR_REQUIRES(record->lock)
{
    return type->symbol ||
           orr_graph_types_find(&record->types, record->runtime->workers->n,
                                type) != UINT32_MAX;
}

/* Takes the type, which has times or is known, and returns its number; NULL: it has
 * none. */
static uint32_t number_type(struct orr_graph_record *record,
                            struct orr_graph_type_record *type)
    ORR_REQUIRES(record->lock)
{
    unsigned nworkers = record->runtime->workers->n;
    uint32_t number;

    if (!type)
        return ORR_NONE;
    if (type->symbol)
        return orr_graph_types_put(&record->types, nworkers, type);
    number = orr_graph_types_find(&record->types, nworkers, type);
    orr_graph_type_free(type);
    return number;
}

/* Where types of rows are remembered. */
static struct orr_graph_recent *recent_of(struct orr_graph_record *record,
                                          const struct orr_cost_row *row)
    ORR_REQUIRES(record->lock)
{
    return &record->recent[(uintptr_t)row / sizeof(*row) % ORR_GRAPH_RECENT];
}

/* The number of the job's type if it is that of the last job with its row; ORR_NONE: it is
 * to be looked for. `row` is NULL where more than the row makes the type. */
static uint32_t recent_type(struct orr_graph_record *record,
                            const struct orr_job *job,
                            const struct orr_cost_row *row)
    ORR_REQUIRES(record->lock)
{
    const struct orr_graph_recent *recent = recent_of(record, row);

    return row && recent->row == row &&
                   !memcmp(&recent->flops, &job->task->flops, sizeof(double)) &&
                   recent->version ==
                       __atomic_load_n(&row->version, __ATOMIC_RELAXED)
               ? recent->type
               : ORR_NONE;
}

static void remember_type(struct orr_graph_record *record,
                          const struct orr_job *job,
                          const struct orr_cost_row *row, uint32_t type)
    ORR_REQUIRES(record->lock)
{
    if (row && type != ORR_NONE)
        *recent_of(record, row) = (struct orr_graph_recent){
            row, job->task->flops, record->types.all[type]->version, type};
}

bool orr_graph_counts_bound(const struct orr_job *job)
{
    const struct starpu_perfmodel *model;

    if (!ORR_JOB_IS(job, task))
        return false;
    model = job->task->cl->model;
    return model && model->symbol &&
           (model->type == STARPU_HISTORY_BASED ||
            model->type == STARPU_NL_REGRESSION_BASED);
}

/* The number of the type of a task that is about to be released; ORR_NONE: it has none.
 * Takes the lock, and lets it go while what the user gave is asked. */
static uint32_t find_type(struct orr_graph_record *record, struct orr_job *job)
    ORR_ACQUIRES(record->lock) ORR_UNCHECKED
{
    const struct orr_cost_row *row = NULL;
    struct orr_graph_type_record *type;
    uint32_t number;

    if (ORR_JOB_IS(job, task))
        row = orr_graph_type_row(record->runtime, job);
    orr_lock(&record->lock);
    number = recent_type(record, job, row);
    if (number != ORR_NONE || !ORR_JOB_IS(job, task))
        return number;
    orr_unlock(&record->lock);
    type = orr_graph_type_new(record->runtime, job);
    orr_lock(&record->lock);
    while (type &&
           !has_times(record, type)) { /* they are asked without the lock */
        orr_unlock(&record->lock);
        if (!orr_graph_type_fill(record->runtime, job, type)) {
            orr_graph_type_free(type);
            type = NULL;
        }
        orr_lock(&record->lock);
    }
    if (!is_on(record)) {
        orr_graph_type_free(type);
        return ORR_NONE;
    }
    number = number_type(record, type);
    remember_type(record, job, row, number);
    return number;
}

/* `counts` when StarPU's bounds count it. */
static void graph_add_task(struct orr_graph_record *record, struct orr_job *job,
                           bool counts)
{
    uint32_t type;
    bool good = true;

    if (record->log)
        orr_waits_log_submit(record->log, job);
    if (!may_be_on(record))
        return;
    type = find_type(record, job);
    if (is_on(record))
        good = graph_record_submit_locked(record, job, counts, type);
    graph_record_unlock(record, !good);
}

static void graph_add_execution(struct orr_graph_record *record,
                                const struct orr_job *job, unsigned worker)
{
    uint32_t recorded = __atomic_load_n(&job->recorded, __ATOMIC_RELAXED);
    struct orr_graph_run run;

    if (record->log)
        orr_waits_log_ran(record->log, job);
    /* A window that is closed had tasks, too. */
    if (!recorded || (!may_be_on(record) &&
                      !__atomic_load_n(&record->window, __ATOMIC_RELAXED)))
        return;
    run = (struct orr_graph_run){.number = recorded - 1,
                                 .worker = (uint32_t)job->worker,
                                 .start = job->kernel->start,
                                 .end = job->kernel->end};
    if (worker < record->nruns && note_run(&record->runs[worker], &run))
        return;
    orr_lock(&record->lock);
    set_run(record, &run,
            record->runtime->machine->kernels_take_their_length
                ? job->kernel->duration
                : (double)NAN);
    orr_unlock(&record->lock);
}

/* --- messages --- */

/* The node of a turn that has a message. Its datum is as a task's. */
static bool graph_record_turn(struct orr_graph_record *record, uint32_t number,
                              const struct orr_message_told *told)
{
    struct orr_graph_node_record *node = graph_record_node(record, number);
    uint32_t d = graph_record_datum(record, told->handle);
    struct orr_graph_access *access;

    if (d == ORR_NONE)
        return false;
    if (node->is_message)
        return true;
    node->is_message = true;
    node->first_access = record->naccesses;
    if (record->data[d].vague)
        return true;
    access = ADD(record, accesses);
    if (!access)
        return false;
    *access = (struct orr_graph_access){d, told->received ? ORR_GRAPH_WRITE : ORR_GRAPH_READ};
    node->naccesses = 1;
    return true;
}

static void graph_add_message(struct orr_graph_record *record,
                              const struct orr_message_told *told)
{
    double first = atomic_load(&record->runtime->views->first_submit);
    struct orr_graph_message_record *message = NULL;
    uint32_t number;

    if (!may_be_on(record))
        return;
    orr_lock(&record->lock);
    number = is_on(record) ? graph_record_job_number(record, told->job) : ORR_NONE;
    if (number != ORR_NONE && graph_record_turn(record, number, told))
        message = ADD(record, messages);
    if (message)
        *message = (struct orr_graph_message_record){
            number, {.peer = (unsigned)told->peer, .received = told->received,
                     .early = !(first >= 0 && told->called >= first), .tag = told->tag,
                     .number = told->number, .bytes = told->bytes}};
    graph_record_unlock(record, !message && is_on(record));
}

/* --- tags --- */

bool orr_graph_record_add_tags(struct orr_graph_record *record,
                               struct orr_graph_tags_record tags)
{
    struct orr_graph_tags_record *to = ADD(record, tags);

    if (to)
        *to = tags;
    return to != NULL;
}

static void graph_add_tags(struct orr_graph_record *record, uint64_t id,
                           uint64_t before, bool holds)
{
    if (record->log)
        orr_waits_log_tags(record->log, id, before, holds);
    orr_lock(&record->lock);
    if (is_on(record))
        record->lost |= !orr_graph_record_add_tags(
            record,
            (struct orr_graph_tags_record){
                {id, before}, record->open ? record->window : 0, holds});
    orr_unlock(&record->lock);
}

void orr_graph_record_add_vague(struct orr_graph_record *record, uint64_t id)
{
    uint64_t *vague = ADD(record, vague);

    if (vague)
        *vague = id;
    else
        record->ntags = 0; /* rather no dependency than a false one */
}

static void graph_add_vague_tag(struct orr_graph_record *record, uint64_t id)
{
    if (record->log)
        orr_waits_log_vague_tag(record->log, id);
    orr_lock(&record->lock);
    if (is_on(record))
        orr_graph_record_add_vague(record, id);
    orr_unlock(&record->lock);
}

int orr_graph_record_window_tags(struct orr_runtime *rt,
                                 struct orr_bound_tag_dep **ret,
                                 unsigned *ret_n)
{
    struct orr_graph_record *record = atomic_load(&rt->views->graph);
    struct orr_bound_tag_dep *deps;
    unsigned n = 0;

    *ret = NULL;
    *ret_n = 0;
    if (!record)
        return 0;
    orr_lock(&record->lock);
    deps = calloc((size_t)record->ntags + 1, sizeof(*deps));
    for (uint32_t i = 0; deps && i < record->ntags; i++)
        if (record->tags[i].window == record->window)
            deps[n++] = record->tags[i].dep;
    orr_unlock(&record->lock);
    if (!deps)
        return -ENOMEM;
    *ret = deps;
    *ret_n = n;
    return 0;
}

/* --- the observer --- */

/* Called only once the record exists. */
static void graph_dependency(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    graph_add_dep(atomic_load(&rt->views->graph), told->job, told->before);
}

static void graph_task_ordered(struct orr_runtime *rt,
                               const struct orr_told *told)
{
    graph_add_accesses(atomic_load(&rt->views->graph), told->job);
}

static void graph_task_waits(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    graph_add_task(atomic_load(&rt->views->graph), told->job,
                   orr_graph_counts_bound(told->job));
}

static void graph_task_executed(struct orr_runtime *rt,
                                const struct orr_told *told)
{
    graph_add_execution(atomic_load(&rt->views->graph), told->job,
                        told->worker->id);
}

static void graph_message(struct orr_runtime *rt, const struct orr_told *told)
{
    graph_add_message(atomic_load(&rt->views->graph), told->message);
}

static void graph_tags(struct orr_runtime *rt, const struct orr_told *told)
{
    graph_add_tags(atomic_load(&rt->views->graph), told->tags.id,
                   told->tags.before, told->holds);
}

static void graph_tag_vague(struct orr_runtime *rt, const struct orr_told *told)
{
    graph_add_vague_tag(atomic_load(&rt->views->graph), told->tags.id);
}

/* A push that user code has brought about is paid for later. Of tasks that threads do
 * not submit, bounds know nothing of that cost anyway. */
static void graph_task_pushed(struct orr_runtime *rt,
                              const struct orr_told *told)
{
    struct orr_graph_record *record = atomic_load(&rt->views->graph);
    struct orr_graph_node_record *node;

    orr_lock(&record->lock);
    if (told->job->recorded > record->first) {
        node = graph_record_node(record, told->job->recorded - 1);
        if (node->type != ORR_NONE && node->by == ORR_GRAPH_BY_THREAD &&
            rt->exec->virtual_time) {
            record->late |= orr_self->frozen != 0;
            node->ready |= record->chains[node->submitter].last == told->job &&
                           record->chains[node->submitter].of == orr_self;
        }
    }
    orr_unlock(&record->lock);
}

static const struct orr_observer graph_observer = {{
    [ORR_TOLD_TASK_PUSHED] = graph_task_pushed,
    [ORR_TOLD_DEPENDENCY] = graph_dependency,
    [ORR_TOLD_TASK_ORDERED] = graph_task_ordered,
    [ORR_TOLD_TASK_WAITS] = graph_task_waits,
    [ORR_TOLD_TASK_EXECUTED] = graph_task_executed,
    [ORR_TOLD_MESSAGE] = graph_message,
    [ORR_TOLD_TAGS] = graph_tags,
    [ORR_TOLD_TAG_VAGUE] = graph_tag_vague,
}};

void orr_graph_observe(struct orr_runtime *rt)
{
    orr_observers_add(&rt->observers, &graph_observer);
}
