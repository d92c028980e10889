/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/flow_write.c - the record of a flow, see flow.h. Data are registered
 * when they are first used. What a task waits for because of its data is not
 * declared once more: the record is then that of a program that relied on them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/grow.h"
#include "import/flow.h"
#include "record/models.h"
#include "record/write.h"

/* The last users of a datum, as core/data/order.c has them: accesses that may
 * go together wait for those of the group before. */
struct group {
    size_t *tasks;
    size_t n;
};

struct datum_state {
    struct group last, before;
    uint32_t together; /* the mode that the last ones share; 0: one alone */
    bool registered;
};

struct kernel {
    uint64_t model, codelet; /* numbers in the record */
};

struct writer {
    struct flow *flow;
    struct orr_record_writer record;
    size_t *order;  /* tasks in order of submission */
    size_t *number; /* per task: in the record, from 1; 0: not yet */
    size_t *mark;   /* per task: the task that it is known to precede, + 1 */
    struct datum_state *data;
    struct flow_index kernels, models;
    struct kernel *all;
    size_t nkernels, nmodels;
    uint64_t *list; /* room for numbers of a line */
    size_t room;
    size_t last; /* number of the last task */
    int64_t iteration;
    int rc;
};

static void writer_put_call(struct writer *w, struct orr_call *call)
{
    orr_record_write(&w->record, call);
    if (w->record.error)
        w->rc = w->record.error;
}

static uint64_t *writer_list(struct writer *w, size_t n)
{
    if (orr_grow(&w->list, &w->room, n, sizeof(*w->list)) == 0)
        return w->list;
    w->rc = -ENOMEM;
    return NULL;
}

/* --- what data order by themselves --- */

static uint32_t mode_group(uint32_t mode)
{
    if (mode & STARPU_COMMUTE)
        return STARPU_COMMUTE;
    return mode & STARPU_W ? 0 : STARPU_R;
}

static int group_add_task(struct group *group, size_t task)
{
    size_t *added = orr_array_add(group->tasks, group->n);

    if (!added)
        return -ENOMEM;
    *added = task;
    return 0;
}

/* Marks whom the task waits for because of that datum. */
static int writer_enter_use(struct writer *w, size_t t,
                            const struct flow_use *use)
{
    struct datum_state *datum = &w->data[use->datum];
    uint32_t mode = mode_group(use->mode);

    if (use->mode & STARPU_SCRATCH)
        return 0;
    if (!mode || mode != datum->together) {
        struct group before = datum->before;

        datum->before = datum->last;
        datum->last = before;
        datum->last.n = 0;
        datum->together = mode;
    }
    for (size_t i = 0; i < datum->before.n; i++)
        w->mark[datum->before.tasks[i]] = t + 1;
    return group_add_task(&datum->last, t);
}

/* --- order --- */

/* --- kernels and data --- */

static uint64_t writer_put_model(struct writer *w, const char *symbol)
{
    size_t there = flow_find(&w->models, symbol);
    struct orr_call call = orr_call_none;

    if (there != FLOW_NONE)
        return there;
    call.verb = ORR_CALL_MODEL;
    call.id = ++w->nmodels;
    call.kind = "history";
    call.symbol = symbol;
    call.flags = ORR_MODEL_FOOTPRINTS | ORR_MODEL_HINTS;
    w->rc = flow_set(&w->models, symbol, w->nmodels);
    writer_put_call(w, &call);
    return w->nmodels;
}

/* No file says whether kernels of devices are launched and left alone; most are. */
static uint64_t asynchronous_on_devices(void)
{
    uint64_t all = 0;

    for (int kind = ORR_KIND_CUDA; kind < ORR_NKINDS; kind++)
        all |= UINT64_C(1) << kind * STARPU_MAXIMPLEMENTATIONS;
    return all;
}

/* Whether the kernel runs on such workers where no model knows it. */
static bool has_kernel(const struct flow *flow, const struct flow_task *task,
                       int kind)
{
    if (flow->per_kind)
        return task->times[kind] >= 0;
    return flow->pinned || kind == ORR_KIND_CPU;
}

/* The codelet of that name and model. Where no model knows the kernel it can run
 * on the kinds of workers that there is a time for. */
static uint64_t put_codelet(struct writer *w, const struct flow_task *task)
{
    const char *model = task->model ? task->model : task->kernel;
    size_t length = strlen(task->kernel) + strlen(model) + 16, there;
    char *key = malloc(length);
    struct orr_call call = orr_call_none;
    unsigned kinds = 0;

    for (int k = 0; k < ORR_NKINDS; k++) {
        call.implementations[k] = has_kernel(w->flow, task, k);
        kinds |= (unsigned)call.implementations[k] << k;
    }
    if (!key) {
        w->rc = -ENOMEM;
        return 0;
    }
    snprintf(key, length, "%s\n%s\n%x", task->kernel, model, kinds);
    there = flow_find(&w->kernels, key);
    if (there == FLOW_NONE) {
        call.model = writer_put_model(w, model);
        there = call.id = ++w->nkernels;
        call.verb = ORR_CALL_CODELET;
        call.name = task->kernel;
        call.buffers = -1;
        call.asynchronous = asynchronous_on_devices();
        if (!w->rc)
            w->rc = flow_set(&w->kernels, key, there);
        writer_put_call(w, &call);
    }
    free(key);
    return there;
}

static void put_coordinates(struct writer *w, size_t d)
{
    const struct flow_datum *datum = &w->flow->data[d];
    struct orr_call call = orr_call_none;

    if (datum->name) {
        call.verb = ORR_CALL_NAME;
        call.id = d + 1;
        call.name = datum->name;
        writer_put_call(w, &call);
        call.name = NULL;
    }
    if (datum->ncoordinates) {
        call.verb = ORR_CALL_COORDINATES;
        call.id = d + 1;
        call.nodes =
            (struct orr_integers){datum->coordinates, datum->ncoordinates};
        writer_put_call(w, &call);
    }
}

/* A file that a task has written is on the file system, where others find it. */
static void put_write_through(struct writer *w, size_t d)
{
    struct orr_call call = orr_call_none;

    call.verb = ORR_CALL_WRITE_THROUGH;
    call.id = d + 1;
    call.value = UINT64_C(1) << STARPU_MAIN_RAM;
    writer_put_call(w, &call);
}

static void writer_put_datum(struct writer *w, const struct flow_use *use)
{
    const struct flow_datum *datum = &w->flow->data[use->datum];
    struct orr_call call = orr_call_none;
    uint64_t bytes = datum->bytes;

    if (w->data[use->datum].registered)
        return;
    w->data[use->datum].registered = true;
    call.verb = ORR_CALL_DATA;
    call.id = use->datum + 1;
    call.kind = bytes ? "variable" : "void";
    call.home = datum->has_home ? datum->home : -1;
    /* The value that is read was written by no task of the file, such as by the
     * runtime's own initialisation of a reduction. */
    if (call.home == -1 && use->mode & STARPU_R)
        call.home = STARPU_MAIN_RAM;
    if (!bytes) /* has no value that could be missing */
        call.home = STARPU_MAIN_RAM;
    call.shape = (struct orr_numbers){&bytes, bytes ? 1 : 0};
    writer_put_call(w, &call);
    put_coordinates(w, use->datum);
    if (datum->is_file && bytes)
        put_write_through(w, use->datum);
}

/* --- calls --- */

static void writer_put_iteration(struct writer *w, const struct flow_task *task)
{
    struct orr_call call = orr_call_none;

    if (task->iteration == w->iteration)
        return;
    call.verb = ORR_CALL_ITERATION;
    if (w->iteration >= 0) {
        call.how = ORR_HOW_END;
        writer_put_call(w, &call);
    }
    call.how = ORR_HOW_PLAIN;
    call.value = (uint64_t)task->iteration;
    w->iteration = task->iteration;
    if (task->iteration >= 0)
        writer_put_call(w, &call);
}

/* What the data do not order. */
static void put_depends(struct writer *w, size_t t)
{
    const struct flow_task *task = &w->flow->tasks[t];
    struct orr_call call = orr_call_none;
    uint64_t *list = writer_list(w, task->nbefore + task->nend_before + 1);
    size_t n = 0;

    if (!list)
        return;
    for (size_t b = 0; b < task->nbefore; b++)
        if (w->mark[task->before[b]] != t + 1) {
            w->mark[task->before[b]] = t + 1; /* once */
            list[n++] = w->number[task->before[b]];
        }
    call.verb = ORR_CALL_DEPEND;
    call.id = w->number[t];
    call.before = (struct orr_numbers){list, n};
    if (n)
        writer_put_call(w, &call);
    for (size_t b = 0; b < task->nend_before; b++)
        list[b] = w->number[task->end_before[b]];
    call.verb = ORR_CALL_END_DEPEND;
    call.before = (struct orr_numbers){list, task->nend_before};
    if (task->nend_before)
        writer_put_call(w, &call);
}

/* A task that only takes a number, and its time to be submitted. */
static void put_empty(struct writer *w)
{
    struct orr_call call = orr_call_none;

    call.verb = ORR_CALL_SUBMIT;
    call.id = ++w->last;
    writer_put_call(w, &call);
}

/* A prefetch is made by an empty task, when that ends. */
static void put_prefetch(struct writer *w, size_t t)
{
    const struct flow_task *task = &w->flow->tasks[t];
    struct orr_call call = orr_call_none;

    writer_put_datum(w, &task->uses[0]);
    call.verb = ORR_CALL_FETCH;
    call.id = task->uses[0].datum + 1;
    call.how = ORR_HOW_PREFETCH;
    call.node = (int64_t)task->node;
    call.priority = task->priority;
    call.task = w->number[t];
    writer_put_call(w, &call);
    call = orr_call_none;
    call.verb = ORR_CALL_SUBMIT;
    call.id = w->number[t];
    writer_put_call(w, &call);
}

static void put_wont_use(struct writer *w, const struct flow_task *task)
{
    struct orr_call call = orr_call_none;

    if (!w->data[task->uses[0].datum].registered)
        return;
    call.verb = ORR_CALL_WONT_USE;
    call.id = task->uses[0].datum + 1;
    writer_put_call(w, &call);
}

static void put_wait_all(struct writer *w, const struct flow_task *task)
{
    struct orr_call call = orr_call_none;

    call.verb = ORR_CALL_WAIT_ALL;
    call.after = task->after_us;
    writer_put_call(w, &call);
}

/* What the task took where it was measured. */
static void put_took(struct writer *w, size_t t)
{
    struct orr_call call = orr_call_none;

    call.verb = ORR_CALL_TOOK;
    call.id = w->number[t];
    call.us = w->flow->tasks[t].us;
    writer_put_call(w, &call);
}

static void writer_fill_uses(struct writer *w, const struct flow_task *task,
                             struct orr_call *call)
{
    uint64_t *list = writer_list(w, 2 * task->nuses + 1);
    struct orr_call_use *uses = (struct orr_call_use *)(void *)list;

    for (size_t u = 0; list && u < task->nuses; u++)
        uses[u] =
            (struct orr_call_use){task->uses[u].datum + 1, task->uses[u].mode};
    if (list)
        call->data = (struct orr_call_uses){uses, task->nuses};
}

static void writer_put_task(struct writer *w, size_t t)
{
    const struct flow_task *task = &w->flow->tasks[t];
    double times[ORR_NKINDS] = {task->us, task->us, task->us, task->us};
    struct orr_call call = orr_call_none;

    writer_put_iteration(w, task);
    if (task->kind == FLOW_TASK) {
        call.codelet = put_codelet(w, task);
        for (size_t u = 0; u < task->nuses; u++)
            writer_put_datum(w, &task->uses[u]);
        writer_fill_uses(w, task, &call);
        if (w->flow->per_kind)
            call.times = (struct orr_reals){task->times, ORR_NKINDS};
        else if (!isnan(task->us))
            call.times =
                (struct orr_reals){times, w->flow->pinned ? ORR_NKINDS : 1};
        call.footprint = task->has_footprint ? task->footprint : 0;
        call.ran = w->flow->pinned ? task->ran : -1;
        call.worker = task->worker;
        call.device = task->device;
        call.order = task->worker_order;
        call.workers = (struct orr_numbers){task->workers, task->nworkers};
    }
    call.verb = ORR_CALL_SUBMIT;
    call.id = w->number[t];
    call.name = task->kernel && task->name && !strcmp(task->kernel, task->name)
                    ? NULL
                    : task->name;
    call.priority = task->priority;
    call.resumes = task->resumes ? w->number[task->resumes - 1] : 0;
    call.under = task->under ? w->number[task->under - 1] : 0;
    call.how = task->how;
    call.cores = task->ncores > 1 ? task->ncores : 0;
    call.memory = task->memory;
    call.after = task->after_us;
    call.flops = task->flops;
    call.tagged = task->tagged;
    call.tag = task->tag;
    writer_put_call(w, &call);
    if (w->flow->host && task->kind == FLOW_TASK && !isnan(task->us))
        put_took(w, t);
    w->last = w->number[t];
}

/* Numbers for tasks, in order, with gaps where the file's own order has some;
 * prefetches come behind all of them. */
static int give_numbers(struct writer *w)
{
    struct flow *flow = w->flow;
    size_t number = 0, unordered = 0;

    for (size_t i = 0; i < flow->ntasks; i++) {
        const struct flow_task *task = &flow->tasks[w->order[i]];

        if (task->kind == FLOW_PREFETCH)
            continue;
        unordered += !task->order;
        if (task->order > 64 * flow->ntasks + 1000000)
            return flow_wrong(flow, "SubmitOrder %llu, of so few tasks",
                              (unsigned long long)task->order);
        number = task->order && unordered + task->order > number
                     ? unordered + task->order
                     : number + 1;
        w->number[w->order[i]] = number;
    }
    for (size_t i = 0; i < flow->ntasks; i++)
        if (flow->tasks[w->order[i]].kind == FLOW_PREFETCH)
            w->number[w->order[i]] = ++number;
    return 0;
}

/* All that wait for each other are named before the first is submitted: it could
 * have ended, and be gone. */
static void put_all_depends(struct writer *w)
{
    struct flow *flow = w->flow;

    for (size_t i = 0; i < flow->ntasks && !w->rc; i++) {
        const struct flow_task *task = &flow->tasks[w->order[i]];

        for (size_t u = 0; task->kind == FLOW_TASK && u < task->nuses; u++)
            if (writer_enter_use(w, w->order[i], &task->uses[u]))
                w->rc = -ENOMEM;
        if (task->kind != FLOW_WONT_USE && task->kind != FLOW_WAIT_ALL)
            put_depends(w, w->order[i]);
    }
}

static void put_tasks(struct writer *w)
{
    for (size_t i = 0; i < w->flow->ntasks && !w->rc; i++) {
        size_t t = w->order[i];
        const struct flow_task *task = &w->flow->tasks[t];

        if (task->kind == FLOW_PREFETCH) {
            put_prefetch(w, t);
            continue;
        }
        while (w->last + 1 < w->number[t] && !w->rc)
            put_empty(w);
        if (task->kind == FLOW_WONT_USE || task->kind == FLOW_WAIT_ALL) {
            (task->kind == FLOW_WAIT_ALL ? put_wait_all : put_wont_use)(w, task);
            w->last = w->number[t];
        } else {
            writer_put_task(w, t);
        }
    }
}

static void put_end(struct writer *w)
{
    struct orr_call call = orr_call_none;

    if (w->iteration >= 0) {
        call.verb = ORR_CALL_ITERATION;
        call.how = ORR_HOW_END;
        writer_put_call(w, &call);
        call.how = ORR_HOW_PLAIN;
    }
    call.verb = ORR_CALL_WAIT_ALL;
    writer_put_call(w, &call);
    call.verb = ORR_CALL_UNREGISTER;
    for (size_t d = 0; d < w->flow->ndata; d++)
        if (w->data[d].registered) {
            call.id = d + 1;
            writer_put_call(w, &call);
        }
}

static void put_all(struct writer *w)
{
    struct orr_call call = orr_call_none;

    orr_record_begin(&w->record);
    call.verb = ORR_CALL_RUN;
    call.host = w->flow->host;
    call.flags = w->flow->threads |
                 (w->flow->costs_in_times ? ORR_RUN_COSTS_IN_TIMES : 0);
    writer_put_call(w, &call);
    call = orr_call_none;
    call.verb = ORR_CALL_NOTE;
    for (size_t n = 0; n < w->flow->nnotes; n++) {
        call.text = w->flow->notes[n];
        writer_put_call(w, &call);
    }
    if (w->flow->pause_us > 0) {
        call = orr_call_none;
        call.verb = ORR_CALL_SLEEP;
        call.us = w->flow->pause_us;
        writer_put_call(w, &call);
    }
    put_all_depends(w);
    put_tasks(w);
    put_end(w);
}

static void writer_done(struct writer *w)
{
    for (size_t d = 0; w->data && d < w->flow->ndata; d++) {
        free(w->data[d].last.tasks);
        free(w->data[d].before.tasks);
    }
    free(w->order);
    free(w->number);
    free(w->mark);
    free(w->data);
    free(w->list);
    flow_index_done(&w->kernels);
    flow_index_done(&w->models);
}

int flow_write(struct flow *flow, FILE *out)
{
    size_t n = flow->ntasks + 1;
    struct writer w = {.flow = flow, .record = {.file = out, .binary = flow->binary}, .iteration = -1};

    w.order = calloc(n, sizeof(*w.order));
    w.number = calloc(n, sizeof(*w.number));
    w.mark = calloc(n, sizeof(*w.mark));
    w.data = calloc(flow->ndata + 1, sizeof(*w.data));
    if (!w.order || !w.number || !w.mark || !w.data)
        w.rc = -ENOMEM;
    for (size_t t = 0; t < flow->ntasks && !w.rc; t++)
        w.order[t] = t;
    if (!w.rc)
        w.rc = flow_sort(flow, NULL);
    if (!w.rc) {
        qsort_r(w.order, flow->ntasks, sizeof(*w.order), flow_compare_order,
                flow->tasks);
        flow->line = 0;
        w.rc = give_numbers(&w);
    }
    if (!w.rc)
        put_all(&w);
    if (orr_record_end(&w.record, NULL) && !w.rc)
        w.rc = -ENOMEM;
    writer_done(&w);
    return w.rc == -ENOMEM ? flow_no_memory(flow) : w.rc;
}
