/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls_task.c - tasks, codelets and models in the record, see
 * calls.h. All of them get numbers here, by their addresses.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/data/handle.h"
#include "core/device/kind.h"
#include "core/job/job.h"
#include "core/observe/calls_private.h"
#include "core/observe/source_line.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"
#include "record/models.h"

/* --- numbers of tasks --- */

/* The state of a task's number. */
enum {
    KNOWN = 1,     /* there is one */
    SUBMITTED = 2, /* in the record, too */
    KEPT = 4,      /* not freed by the library: it may be submitted again */
    ENDED = 8,     /* its kernel has ended since the submission */
    CHAINED =
        16, /* acquisitions were made for it: a replay makes these, and releases its
                    * end, when it is ready */
};

/* Whether the number is that of a task which is gone, its address another's. */
static bool is_stale(const struct orr_number *number,
                     const struct starpu_task *task)
{
    const struct orr_job *job = orr_job_of(task);

    return number->state & SUBMITTED && !(number->state & KEPT) &&
           (!job || orr_job_state(job) == ORR_JOB_NEW);
}

static struct orr_number *number_of(struct orr_calls *calls,
                                    const struct starpu_task *task)
{
    struct orr_number *number = orr_numbers_get(&calls->tasks, task);

    if (!number) {
        calls->failed = true;
        return NULL;
    }
    if (!(number->state & KNOWN) || is_stale(number, task)) {
        number->number = ++calls->last_task;
        number->state = KNOWN;
    }
    return number;
}

uint64_t orr_calls_ended_task(struct orr_calls *calls,
                              const struct starpu_task *task)
{
    struct orr_number *number = orr_numbers_get(&calls->tasks, task);

    if (!number || !(number->state & SUBMITTED) || number->state & ENDED)
        return 0;
    number->state |= ENDED;
    return number->number;
}

/* --- models --- */

static char *join(const char *const *names, unsigned n)
{
    size_t size = 1;
    char *text, *to;

    for (unsigned i = 0; i < n; i++)
        size += (names && names[i] ? strlen(names[i]) : 0) + 1;
    text = to = malloc(size);
    if (!text)
        return NULL;
    *to = '\0';
    for (unsigned i = 0; i < n; i++) {
        to = stpcpy(to, names && names[i] ? names[i] : "");
        if (i + 1 < n)
            *to++ = ',';
        *to = '\0';
    }
    return text;
}

/* The terms of a multiple regression. */
static void put_terms(struct orr_calls *calls,
                      const struct starpu_perfmodel *model,
                      struct orr_call *call)
    ORR_REQUIRES(calls->lock)
{
    size_t n = 0;
    uint64_t *list = orr_calls_list(calls, (size_t)model->ncombinations *
                                               model->nparameters);

    for (unsigned t = 0; list && t < model->ncombinations; t++)
        for (unsigned p = 0; p < model->nparameters; p++)
            list[n++] = model->combinations[t][p];
    call->terms = model->ncombinations;
    call->exponents = (struct orr_numbers){list, n};
}

static uint64_t put_model(struct orr_calls *calls,
                          const struct starpu_perfmodel *model)
    ORR_REQUIRES(calls->lock)
{
    struct orr_number *number;
    struct orr_call call = orr_call_none;
    char *names = NULL;

    if (!model)
        return 0;
    number = orr_numbers_get(&calls->models, model);
    if (!number) {
        calls->failed = true;
        return 0;
    }
    if (number->state & KNOWN)
        return number->number;
    number->state = KNOWN;
    number->number = ++calls->last_model;
    call.verb = ORR_CALL_MODEL;
    call.id = number->number;
    call.kind = orr_model_type_word((int)model->type);
    call.flags =
        (model->footprint || model->size_base ? ORR_MODEL_FOOTPRINTS : 0) |
        (model->size_base ? ORR_MODEL_SIZES : 0) |
        (orr_model_asks(model) ? ORR_MODEL_TIMES : 0);
    call.symbol = model->symbol;
    if (model->nparameters && model->combinations) {
        names = join(model->parameters_names, model->nparameters);
        call.name = names;
        put_terms(calls, model, &call);
    }
    orr_record_write(&calls->writer, &call);
    free(names);
    return number->number;
}

/* --- codelets --- */

/* The type of the workers that the record calls so; false: there are none. */
static bool find_type(int kind, enum starpu_worker_archtype *ret)
{
    const struct orr_device_kind *device;

    for (unsigned i = 0; (device = orr_device_kind_at(i)); i++)
        if (!strcmp(device->variable, orr_kind_variables[kind])) {
            *ret = device->type;
            return true;
        }
    return false;
}

/* FNV-1a, 64 bits, by words. */
static uint64_t mix(uint64_t h, uint64_t word)
{
    return (h ^ word) * UINT64_C(1099511628211);
}

/* What a codelet says, as a number: whether it says something else now. */
static uint64_t digest(const struct starpu_codelet *cl, unsigned n)
{
    uint64_t h = UINT64_C(1469598103934665603);

    h = mix(h, orr_codelet_all_functions(cl));
    h = mix(h, (uintptr_t)cl->name);
    h = mix(h, (uintptr_t)cl->model);
    h = mix(h, (uintptr_t)cl->energy_model);
    h = mix(h, (uint64_t)cl->nbuffers);
    h = mix(h, cl->where);
    h = mix(h, cl->type);
    h = mix(h, cl->color);
    h = mix(h, (uint64_t)cl->flags);
    h = mix(h, (uint64_t)cl->max_parallelism);
    for (int i = 0; i < cl->nbuffers; i++)
        h = mix(h, STARPU_CODELET_GET_MODE(cl, i));
    for (unsigned i = 0; cl->specific_nodes && i < n; i++)
        h = mix(h, (uint64_t)STARPU_CODELET_GET_NODE(cl, i));
    return h | 1; /* not 0: none */
}

static void fill_functions(const struct starpu_codelet *cl,
                           struct orr_call *call)
{
    enum starpu_worker_archtype type;

    /* Simulated devices need no functions; whether the codelet names some counts all
     * the same. */
    for (int kind = 0; kind < ORR_NKINDS; kind++) {
        if (!find_type(kind, &type))
            continue;
        call->implementations[kind] = orr_codelet_functions(cl, type);
        for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
            if (orr_codelet_is_async(cl, type, i))
                call->asynchronous |= UINT64_C(1)
                                      << (kind * STARPU_MAXIMPLEMENTATIONS + i);
    }
}

/* Modes, or nodes, of the codelet's buffers, in the list that there is. */
static void fill_buffers(struct orr_calls *calls,
                         const struct starpu_codelet *cl, size_t nnodes,
                         struct orr_call *call)
    ORR_REQUIRES(calls->lock)
{
    size_t n = cl->nbuffers > 0 ? (size_t)cl->nbuffers : 0;
    uint64_t *list = orr_calls_list(calls, n + nnodes + 1);

    if (!list)
        return;
    for (size_t i = 0; i < n; i++)
        list[i] = STARPU_CODELET_GET_MODE(cl, i);
    call->modes = (struct orr_numbers){list, n};
    if (!cl->specific_nodes)
        return;
    for (size_t i = 0; i < nnodes; i++)
        list[n + i] = (uint64_t)(int64_t)STARPU_CODELET_GET_NODE(cl, i);
    call->nodes = (struct orr_integers){(int64_t *)list + n, nnodes};
}

static void note_codelet(struct orr_calls *calls,
                         const struct starpu_codelet *cl)
    ORR_REQUIRES(calls->lock)
{
    if (cl->can_execute)
        orr_calls_count(calls, "codelets with can_execute, which replays do "
                               "not ask");
    if (cl->flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT)
        orr_calls_count(calls, "codelets whose kernels take as long in "
                               "simulations as they run, which is nothing in "
                               "replays");
}

uint64_t orr_calls_codelet(struct orr_calls *calls,
                           const struct starpu_codelet *cl, unsigned n,
                           const char *called)
{
    struct orr_call call = orr_call_none;
    struct orr_number *number;
    uint64_t now;

    if (!cl)
        return 0;
    number = orr_numbers_get(&calls->codelets, cl);
    if (!number) {
        calls->failed = true;
        return 0;
    }
    now = digest(cl, n);
    if (number->digest == now)
        return number->number;
    number->digest = now;
    number->number = call.id = ++calls->last_codelet;
    call.model = put_model(calls, cl->model);
    call.energy = put_model(calls, cl->energy_model);
    call.verb = ORR_CALL_CODELET;
    call.name = cl->name;
    call.called = called;
    call.where = cl->where;
    call.buffers = cl->nbuffers;
    call.type = cl->type;
    call.parallelism =
        cl->max_parallelism > 0 ? (uint64_t)cl->max_parallelism : 0;
    call.flags = (uint32_t)cl->flags;
    call.color = cl->color;
    fill_functions(cl, &call);
    fill_buffers(calls, cl, n, &call);
    note_codelet(calls, cl);
    orr_record_write(&calls->writer, &call);
    return call.id;
}

/* --- submissions --- */

/* What functions of the model say of the task, asked without the lock. */
struct said {
    bool has_footprint, has_size;
    uint32_t footprint;
    uint64_t size;
    double *parameters; /* owned, or NULL */
    bool has_times;
    double times[ORR_NKINDS];
    const char *called;
};

static const struct orr_worker_class *first_class(const struct orr_runtime *rt,
                                                  int kind)
{
    enum starpu_worker_archtype type;

    for (unsigned k = 0; find_type(kind, &type) && k < rt->workers->nclasses;
         k++)
        if (rt->workers->classes[k].type == type)
            return &rt->workers->classes[k];
    return NULL;
}

static void ask_times(const struct orr_runtime *rt, struct starpu_task *task,
                      struct said *ret)
{
    for (int kind = 0; kind < ORR_NKINDS; kind++) {
        const struct orr_worker_class *class = first_class(rt, kind);

        ret->times[kind] =
            class ? orr_model_ask(rt, task->cl->model, task, class, 0)
                  : (double)NAN;
    }
    ret->has_times = true;
}

static void ask(struct orr_runtime *rt, struct orr_job *job, struct said *ret)
{
    struct starpu_task *task = job->task;
    const struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;

    *ret = (struct said){0};
    if (job->costs && task->cl && !task->cl->name)
        ret->called = job->costs->called;
    if (!model)
        return;
    if (model->footprint || model->size_base) {
        ret->footprint = orr_job_footprint(rt, job);
        ret->has_footprint = ret->footprint != orr_data_footprint(task);
    }
    if (model->size_base) {
        ret->size = orr_model_size(rt, model, task, NULL, 0);
        ret->has_size = true;
    }
    ret->parameters = orr_model_parameters(model, task);
    if (orr_model_asks(model))
        ask_times(rt, task, ret);
}

static void fill_uses(struct orr_calls *calls, struct starpu_task *task,
                      struct orr_call *call)
    ORR_REQUIRES(calls->lock)
{
    const unsigned char *flags = task->handles_sequential_consistency;
    size_t n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
    size_t nwords = task->workerids ? task->workerids_len : 0;
    uint64_t *list = orr_calls_list(calls, 3 * n + nwords + 1);
    struct orr_call_use *uses = (struct orr_call_use *)(void *)list;

    if (!list)
        return;
    for (unsigned i = 0; i < n; i++)
        uses[i] = (struct orr_call_use){
            orr_handle_of(STARPU_TASK_GET_HANDLE(task, i))->id,
            (uint32_t)STARPU_TASK_GET_MODE(task, i)};
    call->data = (struct orr_call_uses){uses, n};
    list += 2 * n;
    for (unsigned i = 0; flags && i < n; i++)
        list[i] = flags[i];
    call->ordered = (struct orr_numbers){list, flags ? n : 0};
    list += n;
    for (size_t i = 0; i < nwords; i++)
        list[i] = task->workerids[i];
    call->workers = (struct orr_numbers){list, nwords};
}

/* Whether devices of the type count among those that can run the codelet: as
 * replays have it, of a codelet without a function for any, all do. */
static bool is_able(const struct starpu_codelet *cl,
                    enum starpu_worker_archtype type)
{
    bool known = false, none = true;
    enum starpu_worker_archtype other;

    if (cl->where && !((int32_t)cl->where & STARPU_WORKER_TO_MASK(type)))
        return false;
    for (int kind = ORR_KIND_CPU + 1; kind < ORR_NKINDS; kind++) {
        if (!find_type(kind, &other))
            continue;
        known |= other == type;
        none &= !orr_codelet_functions(cl, other);
    }
    return known && (none || orr_codelet_functions(cl, type));
}

/* Of a worker, the number of its device among those that can run the codelet; -1: it is
 * none of a device, or not one of those. */
static int64_t device_of(const struct orr_runtime *rt,
                         const struct starpu_codelet *cl, unsigned worker)
{
    const struct orr_workers *workers = rt->workers;
    int64_t n = 0;

    if (!cl || worker >= workers->n ||
        !is_able(cl, workers->at[worker].desc->type))
        return -1;
    for (unsigned w = 0; w <= worker; w++)
        n += workers->at[w].desc->stream == 0 &&
             is_able(cl, workers->at[w].desc->type);
    return n - 1;
}

static void fill_task(const struct orr_runtime *rt,
                      const struct starpu_task *task, struct orr_call *call)
{
    call->name = task->name;
    call->priority = task->priority;
    call->tagged = task->use_tag;
    call->tag = task->use_tag ? task->tag_id : 0;
    call->flops = task->flops;
    call->color = task->color;
    call->where = task->where == -1 ? 0 : (uint32_t)task->where;
    if (task->execute_on_a_specific_worker) {
        call->worker = (int64_t)task->workerid;
        call->device = device_of(rt, task->cl, task->workerid);
    }
    call->order = task->workerorder;
    call->kept = !task->destroy;
    call->awaited = !task->detach;
    call->synchronous = task->synchronous;
    call->unordered = !task->sequential_consistency;
    call->possibly = task->possibly_parallel;
}

static void fill_said(const struct starpu_perfmodel *model,
                      const struct said *said, struct orr_call *call)
{
    call->footprint = said->has_footprint ? said->footprint : 0;
    call->size = said->has_size ? said->size : 0;
    if (said->parameters)
        call->parameters =
            (struct orr_reals){said->parameters, model->nparameters};
    if (said->has_times)
        call->times = (struct orr_reals){said->times, ORR_NKINDS};
}

static void note_task(struct orr_calls *calls, const struct starpu_task *task,
                      const struct orr_job *job)
    ORR_REQUIRES(calls->lock)
{
    if (task->regenerate)
        orr_calls_count(calls, "tasks that regenerate, which replays run once");
    if (task->bundle)
        orr_calls_count(calls, "tasks in bundles, which replays do not keep "
                               "together");
    if (task->transaction)
        orr_calls_count(calls, "tasks of transactions, which replays do not "
                               "cancel");
    if (job->sched_ctx)
        orr_calls_count(calls, "tasks of scheduling contexts, which replays "
                               "submit to the first one");
}

/* The number of a place in the program's source, "FILE:LINE", of which there is one text;
 * its line comes first. 0: none (NULL). */
static uint64_t put_place(struct orr_calls *calls, const char *source)
    ORR_REQUIRES(calls->lock)
{
    struct orr_call call = orr_call_none;
    struct orr_number *number;
    unsigned long line;
    int length;
    char *file;

    if (!source || !orr_source_split(source, &length, &line))
        return 0;
    number = orr_numbers_get(&calls->places, source);
    file = number && !(number->state & KNOWN) ? strndup(source, (size_t)length)
                                              : NULL;
    if (!number || (!(number->state & KNOWN) && !file)) {
        calls->failed = true;
        return 0;
    }
    if (file) {
        number->state = KNOWN;
        number->number = ++calls->last_place;
        call.verb = ORR_CALL_PLACE;
        call.id = number->number;
        call.text = file;
        call.value = line;
        orr_record_write(&calls->writer, &call);
        free(file);
    }
    return number->number;
}

void orr_calls_submit(struct orr_calls *calls, struct orr_job *job,
                      bool implicit)
{
    struct starpu_task *task = job->task;
    struct orr_call call = orr_call_none;
    struct orr_number *number;
    struct said said;
    const char *source = orr_sources_here(calls->rt->views->sources, task);

    ask(calls->rt, job, &said);
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls) && (number = number_of(calls, task))) {
        number->state =
            KNOWN | SUBMITTED | (!task->destroy || !task->detach ? KEPT : 0);
        call.codelet = orr_calls_codelet(
            calls, task->cl, task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0,
            said.called);
        call.verb = ORR_CALL_SUBMIT;
        call.id = number->number;
        call.alone = !implicit;
        call.graph = job->in_graph;
        call.cores = orr_job_ncores(job) > 1 ? orr_job_ncores(job) : 0;
        call.memory = orr_job_own_memory(job);
        call.place = put_place(calls, source);
        fill_task(calls->rt, task, &call);
        fill_uses(calls, task, &call);
        fill_said(task->cl ? task->cl->model : NULL, &said, &call);
        note_task(calls, task, job);
        orr_calls_put(calls, &call);
    }
    orr_unlock(&calls->lock);
    free(said.parameters);
}

/* --- other calls about tasks --- */

/* Whether a replay can have the task that is meant: else the library may have
 * freed it by then. */
static bool is_lasting(struct orr_calls *calls, const struct orr_number *number)
    ORR_REQUIRES(calls->lock)
{
    if (!(number->state & SUBMITTED) || number->state & KEPT)
        return true;
    orr_calls_count(calls, "dependencies on submitted tasks that the library "
                           "frees at their end, which replays lack");
    return false;
}

void orr_calls_depend(struct orr_calls *calls, struct orr_call *call,
                      const struct orr_call_about *about)
{
    struct orr_number *number;
    uint64_t *list;
    size_t count = 0;

    orr_lock(&calls->lock);
    list = orr_calls_list(calls, about->n + 1);
    for (unsigned i = 0; list && orr_calls_listens(calls) && i < about->n;
         i++) {
        number = number_of(calls, about->before[i]);
        if (number && is_lasting(calls, number))
            list[count++] = number->number;
    }
    if (count && (number = number_of(calls, about->task))) {
        call->id = number->number;
        call->before = (struct orr_numbers){list, count};
        orr_calls_put(calls, call);
    }
    orr_unlock(&calls->lock);
}

void orr_calls_acquire_for_task(struct orr_calls *calls, struct orr_call *call,
                                const struct starpu_task *task)
{
    struct orr_number *number;

    orr_lock(&calls->lock);
    if (orr_calls_listens(calls) && (number = number_of(calls, task))) {
        number->state |= CHAINED;
        call->task = number->number;
        calls->chained = true;
        orr_calls_put(calls, call);
        calls->chained = false;
    }
    orr_unlock(&calls->lock);
}

void orr_calls_task(struct orr_calls *calls, struct orr_call *call,
                    const struct orr_call_about *about)
{
    struct orr_number *number;

    orr_lock(&calls->lock);
    if (orr_calls_listens(calls) && (number = number_of(calls, about->task))) {
        calls->chained =
            call->verb == ORR_CALL_END_RELEASE && number->state & CHAINED;
        call->id = number->number;
        if (about->gone)
            number->state = 0;
        orr_calls_put(calls, call);
        calls->chained = false;
    }
    orr_unlock(&calls->lock);
}

void orr_calls_begin_own_wait(struct orr_runtime *rt, const void *what)
{
    struct orr_calls *calls = rt->views->calls;

    if (!calls || !orr_application_runs(rt))
        return;
    orr_lock(&calls->lock);
    orr_calls_lose_wait(calls);
    calls->waits = orr_calls_listens(calls) ? what : NULL;
    calls->waits_since = rt->views->application.entered;
    orr_unlock(&calls->lock);
}

/* As a call of the application's that has begun with the wait and ends now. */
static void put_own_wait(struct orr_calls *calls, uint64_t number)
    ORR_REQUIRES(calls->lock)
{
    struct orr_call call = orr_call_none;

    call.verb = ORR_CALL_WAIT_TASK;
    call.id = number;
    call.after =
        orr_calls_rounded(calls, fmax(calls->waits_since - calls->since, 0));
    calls->since = orr_exec_now(calls->rt->exec);
    calls->waits = NULL;
    orr_record_write(&calls->writer, &call);
}

void orr_calls_end_own_wait(struct orr_runtime *rt, const void *what,
                            const struct starpu_task *task)
{
    struct orr_calls *calls = rt->views->calls;
    const struct orr_number *number;

    if (!calls)
        return;
    orr_lock(&calls->lock);
    number = what && calls->waits == what ? number_of(calls, task) : NULL;
    if (number && number->state & SUBMITTED && number->state & KEPT)
        put_own_wait(calls, number->number);
    orr_unlock(&calls->lock);
}
