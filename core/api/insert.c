/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/insert.c - starpu_task_insert() and its siblings: a walk over a
 * list of (tag, values) that fills a task, on top of the public interface only.
 * Any thread; modes are written to the codelet, where two threads that agree
 * may write the same mode twice.
 */
#include <starpu_task_util.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu_scheduler.h>

#include "core/api/buffers.h"
#include "core/api/codelet_pack.h"
#include "core/base/log.h"

/* One call: where the list is read, and what it gave so far. */
struct walk {
    va_list ap;
    const char *call;
    struct starpu_task *task;
    struct orr_buffers buffers;
    struct starpu_codelet_pack_arg_data values;
    bool has_cl_args;
};

/* Each function below handles its own tags: returns 1 if the tag was one of them, 0 if
 * not, or a negative errno after a message. Most are access modes. */
typedef int (*take_fn)(struct walk *w, int tag);

/* --- data --- */

static int take_data(struct walk *w, int tag)
{
    const int accesses = STARPU_RW | STARPU_SCRATCH | STARPU_REDUX |
                         STARPU_MPI_REDUX | STARPU_NONE;
    struct starpu_data_descr *descrs;
    starpu_data_handle_t *handles;
    int n, err;

    if (tag < STARPU_ACCESS_MODE_MAX) {
        if (tag < 0 || !(tag & accesses))
            return 0;
        err = orr_buffers_add(&w->buffers, tag,
                              va_arg(w->ap, starpu_data_handle_t));
    } else if (tag == STARPU_DATA_ARRAY) {
        handles = va_arg(w->ap, starpu_data_handle_t *);
        n = va_arg(w->ap, int);
        err = orr_buffers_add_array(&w->buffers, n, handles);
    } else if (tag == STARPU_DATA_MODE_ARRAY) {
        descrs = va_arg(w->ap, struct starpu_data_descr *);
        n = va_arg(w->ap, int);
        err = orr_buffers_add_descrs(&w->buffers, n, descrs);
    } else {
        return 0;
    }
    return err ? err : 1;
}

/* --- arguments of the kernel --- */

static int take_value(struct walk *w)
{
    const void *ptr = va_arg(w->ap, const void *);
    size_t size = va_arg(w->ap, size_t);
    int err = orr_pack_add(&w->values, ptr, size);

    if (err)
        orr_log_error("%s: no memory for a STARPU_VALUE of %zu bytes", w->call,
                      size);
    return err ? err : 1;
}

static int take_cl_args(struct walk *w, int tag)
{
    void *arg;
    size_t size;

    if (tag == STARPU_VALUE)
        return take_value(w);
    if (tag != STARPU_CL_ARGS && tag != STARPU_CL_ARGS_NFREE)
        return 0;
    arg = va_arg(w->ap, void *);
    size = va_arg(w->ap, size_t);
    w->task->cl_arg = arg;
    w->task->cl_arg_size = size;
    w->task->cl_arg_free = tag == STARPU_CL_ARGS;
    w->has_cl_args = true;
    return 1;
}

/* --- callbacks --- */

typedef void (*callback_fn)(void *);

static int take_callback_func(struct walk *w, int tag)
{
    struct starpu_task *task = w->task;

    switch (tag) {
    case STARPU_CALLBACK:
        task->callback_func = va_arg(w->ap, callback_fn);
        return 1;
    case STARPU_EPILOGUE_CALLBACK:
        task->epilogue_callback_func = va_arg(w->ap, callback_fn);
        return 1;
    case STARPU_PROLOGUE_CALLBACK:
        task->prologue_callback_func = va_arg(w->ap, callback_fn);
        return 1;
    case STARPU_PROLOGUE_CALLBACK_POP:
        task->prologue_callback_pop_func = va_arg(w->ap, callback_fn);
        return 1;
    default:
        return 0;
    }
}

static int take_callback_arg(struct walk *w, int tag)
{
    struct starpu_task *task = w->task;

    switch (tag) {
    case STARPU_CALLBACK_WITH_ARG:
    case STARPU_CALLBACK_WITH_ARG_NFREE:
        task->callback_func = va_arg(w->ap, callback_fn);
        task->callback_arg = va_arg(w->ap, void *);
        task->callback_arg_free = tag == STARPU_CALLBACK_WITH_ARG;
        return 1;
    case STARPU_CALLBACK_ARG:
    case STARPU_CALLBACK_ARG_NFREE:
        task->callback_arg = va_arg(w->ap, void *);
        task->callback_arg_free = tag == STARPU_CALLBACK_ARG;
        return 1;
    case STARPU_EPILOGUE_CALLBACK_ARG:
        task->epilogue_callback_arg = va_arg(w->ap, void *);
        task->epilogue_callback_arg_free = 1;
        return 1;
    case STARPU_PROLOGUE_CALLBACK_ARG:
    case STARPU_PROLOGUE_CALLBACK_ARG_NFREE:
        task->prologue_callback_arg = va_arg(w->ap, void *);
        task->prologue_callback_arg_free = tag == STARPU_PROLOGUE_CALLBACK_ARG;
        return 1;
    case STARPU_PROLOGUE_CALLBACK_POP_ARG:
    case STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE:
        task->prologue_callback_pop_arg = va_arg(w->ap, void *);
        task->prologue_callback_pop_arg_free =
            tag == STARPU_PROLOGUE_CALLBACK_POP_ARG;
        return 1;
    default:
        return 0;
    }
}

/* --- dependencies and tags --- */

static int take_deps(struct walk *w, int tag)
{
    struct starpu_task *task = w->task, **tasks;
    unsigned n;

    switch (tag) {
    case STARPU_TASK_DEPS_ARRAY:
        n = va_arg(w->ap, unsigned);
        tasks = va_arg(w->ap, struct starpu_task **);
        starpu_task_declare_deps_array(task, n, tasks);
        return 1;
    case STARPU_TASK_END_DEPS_ARRAY:
        n = va_arg(w->ap, unsigned);
        tasks = va_arg(w->ap, struct starpu_task **);
        starpu_task_declare_end_deps_array(task, n, tasks);
        return 1;
    case STARPU_TASK_END_DEP:
        starpu_task_end_dep_add(task, va_arg(w->ap, int));
        return 1;
    case STARPU_TAG:
        task->tag_id = va_arg(w->ap, starpu_tag_t);
        task->use_tag = 1;
        return 1;
    case STARPU_TAG_ONLY:
        task->tag_id = va_arg(w->ap, starpu_tag_t);
        return 1;
    case STARPU_SEQUENTIAL_CONSISTENCY:
        task->sequential_consistency = va_arg(w->ap, unsigned) != 0;
        return 1;
    case STARPU_HANDLES_SEQUENTIAL_CONSISTENCY:
        task->handles_sequential_consistency = va_arg(w->ap, unsigned char *);
        return 1;
    case STARPU_TASK_NO_SUBMITORDER:
        task->no_submitorder = va_arg(w->ap, unsigned) != 0;
        return 1;
    case STARPU_TASK_SYNCHRONOUS:
        task->synchronous = va_arg(w->ap, int) != 0;
        return 1;
    default:
        return 0;
    }
}

/* --- where to run --- */

static int insert_take_location(struct walk *w, int tag)
{
    struct starpu_task *task = w->task;
    int worker;

    switch (tag) {
    case STARPU_PRIORITY:
        task->priority = va_arg(w->ap, int);
        return 1;
    case STARPU_EXECUTE_ON_WORKER:
        worker = va_arg(w->ap, int);
        task->execute_on_a_specific_worker = worker != -1;
        if (worker != -1)
            task->workerid = (unsigned)worker;
        return 1;
    case STARPU_WORKER_ORDER:
        task->workerorder = va_arg(w->ap, unsigned);
        return 1;
    case STARPU_TASK_WORKERIDS:
        task->workerids_len = va_arg(w->ap, unsigned);
        task->workerids = va_arg(w->ap, uint32_t *);
        return 1;
    case STARPU_EXECUTE_WHERE:
        task->where = (int32_t)va_arg(w->ap, unsigned long long);
        return 1;
    case STARPU_SCHED_CTX:
        task->sched_ctx = va_arg(w->ap, unsigned);
        return 1;
    case STARPU_POSSIBLY_PARALLEL:
        task->possibly_parallel = va_arg(w->ap, unsigned);
        return 1;
    case STARPU_EXECUTE_ON_NODE: /* the MPI layer reads these three */
    case STARPU_NODE_SELECTION_POLICY:
        (void)va_arg(w->ap, int);
        return 1;
    case STARPU_EXECUTE_ON_DATA:
        (void)va_arg(w->ap, starpu_data_handle_t);
        return 1;
    default:
        return 0;
    }
}

/* --- names and numbers --- */

static int take_notes(struct walk *w, int tag)
{
    struct starpu_task *task = w->task;

    switch (tag) {
    case STARPU_NAME:
        task->name = va_arg(w->ap, const char *);
        return 1;
    case STARPU_TASK_FILE:
        task->file = va_arg(w->ap, const char *);
        return 1;
    case STARPU_TASK_LINE:
        task->line = va_arg(w->ap, int);
        return 1;
    case STARPU_TASK_COLOR:
        task->color = (unsigned)va_arg(w->ap, int);
        return 1;
    case STARPU_FLOPS:
        task->flops = va_arg(w->ap, double);
        return 1;
    case STARPU_HYPERVISOR_TAG:
        task->hypervisor_tag = va_arg(w->ap, int);
        return 1;
    case STARPU_TASK_PROFILING_INFO:
        task->profiling_info =
            va_arg(w->ap, struct starpu_profiling_task_info *);
        return 1;
    case STARPU_TASK_SCHED_DATA:
        task->sched_data = va_arg(w->ap, void *);
        return 1;
    case STARPU_TRANSACTION:
        task->transaction = va_arg(w->ap, struct starpu_transaction *);
        return 1;
    default:
        return 0;
    }
}

static int take_bubble(struct walk *w, int tag)
{
    struct starpu_task *task = w->task, *parent;

    switch (tag) {
    case STARPU_BUBBLE_FUNC:
        task->bubble_func = va_arg(w->ap, starpu_bubble_func_t);
        return 1;
    case STARPU_BUBBLE_FUNC_ARG:
        task->bubble_func_arg = va_arg(w->ap, void *);
        return 1;
    case STARPU_BUBBLE_GEN_DAG_FUNC:
        task->bubble_gen_dag_func = va_arg(w->ap, starpu_bubble_gen_dag_func_t);
        return 1;
    case STARPU_BUBBLE_GEN_DAG_FUNC_ARG:
        task->bubble_gen_dag_func_arg = va_arg(w->ap, void *);
        return 1;
    case STARPU_BUBBLE_PARENT:
        parent = va_arg(w->ap, struct starpu_task *);
        if (parent)
            task->bubble_parent = starpu_task_get_job_id(parent);
        return 1;
    default:
        return 0;
    }
}

/* --- the walk --- */

static int insert_take_argument(struct walk *w, int tag)
{
    static const take_fn takers[] = {
        take_cl_args, insert_take_location, take_callback_func, take_callback_arg,
        take_deps,    take_notes,           take_bubble,
    };
    int taken = take_data(w, tag);

    for (size_t i = 0; !taken && i < sizeof(takers) / sizeof(takers[0]); i++)
        taken = takers[i](w, tag);
    if (taken)
        return taken < 0 ? taken : 0;
    orr_log_error("%s: %d (0x%x) is neither an access mode nor a known tag: "
                  "end the list with 0, and give every tag its values in "
                  "their exact type",
                  w->call, tag, (unsigned)tag);
    return -EINVAL;
}

/* Hands the packed values to the task. */
static int finish_args(struct walk *w)
{
    if (!w->values.nargs)
        return 0;
    if (w->has_cl_args) {
        orr_log_error("%s: STARPU_VALUE and STARPU_CL_ARGS exclude each other; "
                      "pack all values with starpu_codelet_pack_args()",
                      w->call);
        return -EINVAL;
    }
    starpu_codelet_pack_arg_fini(&w->values, &w->task->cl_arg,
                                 &w->task->cl_arg_size);
    w->task->cl_arg_free = 1;
    return 0;
}

static int insert_check_worker_order(const struct walk *w)
{
    if (!w->task->workerorder || w->task->execute_on_a_specific_worker)
        return 0;
    orr_log_error("%s: STARPU_WORKER_ORDER %u is an order on one worker: give "
                  "STARPU_EXECUTE_ON_WORKER as well",
                  w->call, w->task->workerorder);
    return -EINVAL;
}

/* A failed task takes with it what was given to be freed. */
static void discard(struct starpu_task *task)
{
    task->destroy = 0;
    starpu_task_destroy(task);
}

/* Reads a list that the caller started, and ends. */
static int insert_fill_task(const char *call, struct starpu_task *task,
                            struct starpu_codelet *cl, va_list ap)
{
    struct walk w = {.call = call,
                     .task = task,
                     .buffers = {.call = call, .cl = cl, .task = task}};
    int tag, err = 0;

    va_copy(w.ap, ap);
    task->cl = cl;
    while (!err && (tag = va_arg(w.ap, int)))
        err = insert_take_argument(&w, tag);
    va_end(w.ap);
    if (!err)
        err = orr_buffers_check(&w.buffers);
    if (!err)
        err = finish_args(&w);
    if (!err)
        err = insert_check_worker_order(&w);
    if (err)
        orr_pack_drop(&w.values);
    return err;
}

static int build(const char *call, struct starpu_codelet *cl, va_list ap,
                 struct starpu_task **ret)
{
    struct starpu_task *task = starpu_task_create();
    int err;

    if (!task) {
        orr_log_error("%s: no memory for a task", call);
        return -ENOMEM;
    }
    err = insert_fill_task(call, task, cl, ap);
    if (err)
        discard(task);
    else
        *ret = task;
    return err;
}

static int insert_task(const char *call, struct starpu_codelet *cl, va_list ap)
{
    struct starpu_task *task;
    int err = build(call, cl, ap, &task);

    if (err)
        return err;
    err = starpu_task_submit(task);
    if (err)
        discard(task);
    return err;
}

int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...)
{
    va_list ap;
    int err;

    va_start(ap, cl);
    err = insert_fill_task("starpu_task_set", task, cl, ap);
    va_end(ap);
    return err;
}

struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...)
{
    struct starpu_task *task = NULL;
    va_list ap;

    va_start(ap, cl);
    (void)build("starpu_task_build", cl, ap, &task);
    va_end(ap);
    return task;
}

int starpu_task_insert(struct starpu_codelet *cl, ...)
{
    va_list ap;
    int err;

    va_start(ap, cl);
    err = insert_task("starpu_task_insert", cl, ap);
    va_end(ap);
    return err;
}

int starpu_insert_task(struct starpu_codelet *cl, ...)
{
    va_list ap;
    int err;

    va_start(ap, cl);
    err = insert_task("starpu_insert_task", cl, ap);
    va_end(ap);
    return err;
}
