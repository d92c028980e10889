/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/insert.c - starpu_task_insert() and its siblings: a list of (tag, values) is
 * decoded, then a task is made of that, on top of the public interface only. Any thread;
 * modes are written to the codelet, where two threads that agree may write the same mode
 * twice.
 */
#include <starpu_task_util.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_scheduler.h>

#include "core/api/buffers.h"
#include "core/api/codelet_pack.h"
#include "core/api/insertion.h"
#include "core/base/log.h"

/* A task that is being filled. */
struct filling {
    const char *call;
    struct starpu_task *task;
    struct orr_buffers buffers;
    struct starpu_codelet_pack_arg_data values;
    bool has_cl_args;
};

/* Each function below puts arguments of some tags into the task: 0, or a negative errno
 * after a message. */
typedef int (*put_fn)(struct filling *f, const struct orr_insert_arg *arg);

/* --- arguments of the kernel --- */

static int put_value(struct filling *f, const struct orr_insert_arg *arg)
{
    int err = orr_pack_add(&f->values, arg->ptr, arg->size);

    if (err)
        orr_log_error("%s: no memory for a STARPU_VALUE of %zu bytes", f->call,
                      arg->size);
    return err;
}

static int put_cl_args(struct filling *f, const struct orr_insert_arg *arg)
{
    f->task->cl_arg = arg->ptr;
    f->task->cl_arg_size = arg->size;
    f->task->cl_arg_free = arg->tag == STARPU_CL_ARGS;
    f->has_cl_args = true;
    return 0;
}

/* --- callbacks --- */

static int put_callback_func(struct filling *f,
                             const struct orr_insert_arg *arg)
{
    struct starpu_task *task = f->task;

    switch (arg->tag) {
    case STARPU_CALLBACK:
        task->callback_func = arg->func;
        break;
    case STARPU_EPILOGUE_CALLBACK:
        task->epilogue_callback_func = arg->func;
        break;
    case STARPU_PROLOGUE_CALLBACK:
        task->prologue_callback_func = arg->func;
        break;
    case STARPU_PROLOGUE_CALLBACK_POP:
        task->prologue_callback_pop_func = arg->func;
        break;
    default: /* STARPU_CALLBACK_WITH_ARG, STARPU_CALLBACK_WITH_ARG_NFREE */
        task->callback_func = arg->func;
        task->callback_arg = arg->ptr2;
        task->callback_arg_free = arg->tag == STARPU_CALLBACK_WITH_ARG;
    }
    return 0;
}

static int put_callback_arg(struct filling *f, const struct orr_insert_arg *arg)
{
    struct starpu_task *task = f->task;

    switch (arg->tag) {
    case STARPU_CALLBACK_ARG:
    case STARPU_CALLBACK_ARG_NFREE:
        task->callback_arg = arg->ptr;
        task->callback_arg_free = arg->tag == STARPU_CALLBACK_ARG;
        break;
    case STARPU_EPILOGUE_CALLBACK_ARG:
        task->epilogue_callback_arg = arg->ptr;
        task->epilogue_callback_arg_free = 1;
        break;
    case STARPU_PROLOGUE_CALLBACK_ARG:
    case STARPU_PROLOGUE_CALLBACK_ARG_NFREE:
        task->prologue_callback_arg = arg->ptr;
        task->prologue_callback_arg_free =
            arg->tag == STARPU_PROLOGUE_CALLBACK_ARG;
        break;
    default: /* STARPU_PROLOGUE_CALLBACK_POP_ARG, …_NFREE */
        task->prologue_callback_pop_arg = arg->ptr;
        task->prologue_callback_pop_arg_free =
            arg->tag == STARPU_PROLOGUE_CALLBACK_POP_ARG;
    }
    return 0;
}

/* --- dependencies and tags --- */

static int put_deps(struct filling *f, const struct orr_insert_arg *arg)
{
    struct starpu_task *task = f->task;

    switch (arg->tag) {
    case STARPU_TASK_DEPS_ARRAY:
        starpu_task_declare_deps_array(task, arg->n, arg->ptr);
        break;
    case STARPU_TASK_END_DEPS_ARRAY:
        starpu_task_declare_end_deps_array(task, arg->n, arg->ptr);
        break;
    case STARPU_TASK_END_DEP:
        starpu_task_end_dep_add(task, arg->i);
        break;
    case STARPU_TAG:
        task->tag_id = arg->ull;
        task->use_tag = 1;
        break;
    case STARPU_TAG_ONLY:
        task->tag_id = arg->ull;
        break;
    case STARPU_SEQUENTIAL_CONSISTENCY:
        task->sequential_consistency = arg->u != 0;
        break;
    case STARPU_HANDLES_SEQUENTIAL_CONSISTENCY:
        task->handles_sequential_consistency = arg->ptr;
        break;
    case STARPU_TASK_NO_SUBMITORDER:
        task->no_submitorder = arg->u != 0;
        break;
    default: /* STARPU_TASK_SYNCHRONOUS */
        task->synchronous = arg->i != 0;
    }
    return 0;
}

/* --- where to run --- */

static int put_location(struct filling *f, const struct orr_insert_arg *arg)
{
    struct starpu_task *task = f->task;

    switch (arg->tag) {
    case STARPU_PRIORITY:
        task->priority = arg->i;
        break;
    case STARPU_EXECUTE_ON_WORKER:
        task->execute_on_a_specific_worker = arg->i != -1;
        if (arg->i != -1)
            task->workerid = arg->u;
        break;
    case STARPU_WORKER_ORDER:
        task->workerorder = arg->u;
        break;
    case STARPU_TASK_WORKERIDS:
        task->workerids_len = arg->n;
        task->workerids = arg->ptr;
        break;
    case STARPU_EXECUTE_WHERE:
        task->where = (int32_t)arg->ull;
        break;
    case STARPU_SCHED_CTX:
        task->sched_ctx = arg->u;
        break;
    default: /* STARPU_POSSIBLY_PARALLEL */
        task->possibly_parallel = arg->u;
    }
    return 0;
}

/* --- names and numbers --- */

static int put_notes(struct filling *f, const struct orr_insert_arg *arg)
{
    struct starpu_task *task = f->task;

    switch (arg->tag) {
    case STARPU_NAME:
        task->name = arg->ptr;
        break;
    case STARPU_TASK_FILE:
        task->file = arg->ptr;
        break;
    case STARPU_TASK_LINE:
        task->line = arg->i;
        break;
    case STARPU_TASK_COLOR:
        task->color = arg->u;
        break;
    case STARPU_FLOPS:
        task->flops = arg->d;
        break;
    case STARPU_HYPERVISOR_TAG:
        task->hypervisor_tag = arg->i;
        break;
    case STARPU_TASK_PROFILING_INFO:
        task->profiling_info = arg->ptr;
        break;
    case STARPU_TASK_SCHED_DATA:
        task->sched_data = arg->ptr;
        break;
    default: /* STARPU_TRANSACTION */
        task->transaction = arg->ptr;
    }
    return 0;
}

static int put_bubble(struct filling *f, const struct orr_insert_arg *arg)
{
    struct starpu_task *task = f->task;

    switch (arg->tag) {
    case STARPU_BUBBLE_FUNC:
        task->bubble_func = (starpu_bubble_func_t)(void (*)(void))arg->func;
        break;
    case STARPU_BUBBLE_FUNC_ARG:
        task->bubble_func_arg = arg->ptr;
        break;
    case STARPU_BUBBLE_GEN_DAG_FUNC:
        task->bubble_gen_dag_func =
            (starpu_bubble_gen_dag_func_t)(void (*)(void))arg->func;
        break;
    case STARPU_BUBBLE_GEN_DAG_FUNC_ARG:
        task->bubble_gen_dag_func_arg = arg->ptr;
        break;
    default: /* STARPU_BUBBLE_PARENT */
        if (arg->ptr)
            task->bubble_parent = starpu_task_get_job_id(arg->ptr);
    }
    return 0;
}

/* --- the tags --- */

static const struct tag {
    uint8_t shape; /* enum orr_insert_shape */
    put_fn put;    /* NULL: it is decoded, and the task has nothing of it */
} tags[STARPU_SHIFTED_MODE_MAX >> STARPU_MODE_SHIFT] = {
#define TAG(name, shape, put) [(name) >> STARPU_MODE_SHIFT] = {shape, put}
    TAG(STARPU_VALUE, ORR_TAKES_POINTER_SIZE, put_value),
    TAG(STARPU_CL_ARGS, ORR_TAKES_POINTER_SIZE, put_cl_args),
    TAG(STARPU_CL_ARGS_NFREE, ORR_TAKES_POINTER_SIZE, put_cl_args),
    TAG(STARPU_DATA_ARRAY, ORR_TAKES_DATA_ARRAY, NULL),
    TAG(STARPU_DATA_MODE_ARRAY, ORR_TAKES_DATA_ARRAY, NULL),
    TAG(STARPU_CALLBACK, ORR_TAKES_FUNCTION, put_callback_func),
    TAG(STARPU_EPILOGUE_CALLBACK, ORR_TAKES_FUNCTION, put_callback_func),
    TAG(STARPU_PROLOGUE_CALLBACK, ORR_TAKES_FUNCTION, put_callback_func),
    TAG(STARPU_PROLOGUE_CALLBACK_POP, ORR_TAKES_FUNCTION, put_callback_func),
    TAG(STARPU_CALLBACK_WITH_ARG, ORR_TAKES_FUNCTION_POINTER, put_callback_func),
    TAG(STARPU_CALLBACK_WITH_ARG_NFREE, ORR_TAKES_FUNCTION_POINTER, put_callback_func),
    TAG(STARPU_CALLBACK_ARG, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_CALLBACK_ARG_NFREE, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_EPILOGUE_CALLBACK_ARG, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_PROLOGUE_CALLBACK_ARG, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_PROLOGUE_CALLBACK_ARG_NFREE, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_PROLOGUE_CALLBACK_POP_ARG, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, ORR_TAKES_POINTER, put_callback_arg),
    TAG(STARPU_TASK_DEPS_ARRAY, ORR_TAKES_LENGTH_POINTER, put_deps),
    TAG(STARPU_TASK_END_DEPS_ARRAY, ORR_TAKES_LENGTH_POINTER, put_deps),
    TAG(STARPU_TASK_END_DEP, ORR_TAKES_INT, put_deps),
    TAG(STARPU_TAG, ORR_TAKES_ULL, put_deps),
    TAG(STARPU_TAG_ONLY, ORR_TAKES_ULL, put_deps),
    TAG(STARPU_SEQUENTIAL_CONSISTENCY, ORR_TAKES_INT, put_deps),
    TAG(STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, ORR_TAKES_POINTER, put_deps),
    TAG(STARPU_TASK_NO_SUBMITORDER, ORR_TAKES_INT, put_deps),
    TAG(STARPU_TASK_SYNCHRONOUS, ORR_TAKES_INT, put_deps),
    TAG(STARPU_PRIORITY, ORR_TAKES_INT, put_location),
    TAG(STARPU_EXECUTE_ON_WORKER, ORR_TAKES_INT, put_location),
    TAG(STARPU_WORKER_ORDER, ORR_TAKES_INT, put_location),
    TAG(STARPU_TASK_WORKERIDS, ORR_TAKES_LENGTH_POINTER, put_location),
    TAG(STARPU_EXECUTE_WHERE, ORR_TAKES_ULL, put_location),
    TAG(STARPU_SCHED_CTX, ORR_TAKES_INT, put_location),
    TAG(STARPU_POSSIBLY_PARALLEL, ORR_TAKES_INT, put_location),
    TAG(STARPU_EXECUTE_ON_NODE, ORR_TAKES_INT,
        NULL), /* a layer above reads these three */
    TAG(STARPU_NODE_SELECTION_POLICY, ORR_TAKES_INT, NULL),
    TAG(STARPU_EXECUTE_ON_DATA, ORR_TAKES_POINTER, NULL),
    TAG(STARPU_NAME, ORR_TAKES_POINTER, put_notes),
    TAG(STARPU_TASK_FILE, ORR_TAKES_POINTER, put_notes),
    TAG(STARPU_TASK_LINE, ORR_TAKES_INT, put_notes),
    TAG(STARPU_TASK_COLOR, ORR_TAKES_INT, put_notes),
    TAG(STARPU_FLOPS, ORR_TAKES_DOUBLE, put_notes),
    TAG(STARPU_HYPERVISOR_TAG, ORR_TAKES_INT, put_notes),
    TAG(STARPU_TASK_PROFILING_INFO, ORR_TAKES_POINTER, put_notes),
    TAG(STARPU_TASK_SCHED_DATA, ORR_TAKES_POINTER, put_notes),
    TAG(STARPU_TRANSACTION, ORR_TAKES_POINTER, put_notes),
    TAG(STARPU_BUBBLE_FUNC, ORR_TAKES_FUNCTION, put_bubble),
    TAG(STARPU_BUBBLE_FUNC_ARG, ORR_TAKES_POINTER, put_bubble),
    TAG(STARPU_BUBBLE_GEN_DAG_FUNC, ORR_TAKES_FUNCTION, put_bubble),
    TAG(STARPU_BUBBLE_GEN_DAG_FUNC_ARG, ORR_TAKES_POINTER, put_bubble),
    TAG(STARPU_BUBBLE_PARENT, ORR_TAKES_POINTER, put_bubble),
#undef TAG
};

/* --- decoding --- */

typedef void (*callback_fn)(void *);

/* Makes an array longer, which is inside of the structure at first. */
static void *longer(void *array, const void *few, unsigned n, size_t size,
                    unsigned *room)
{
    void *grown = malloc(2 * *room * size);

    if (!grown)
        return NULL;
    memcpy(grown, array, n * size);
    if (array != few)
        free(array);
    *room *= 2;
    return grown;
}

static int no_room(const struct orr_insertion *in, unsigned n, const char *what)
{
    orr_log_error("%s: no memory for %u %s", in->call, n + 1, what);
    return -ENOMEM;
}

static int __attribute__((noinline)) more_data(struct orr_insertion *in)
{
    void *data = longer(in->data, in->few_data, in->ndata, sizeof(*in->data),
                        &in->data_room);

    if (!data)
        return no_room(in, in->ndata, "handles");
    in->data = data;
    return 0;
}

static int __attribute__((noinline)) more_args(struct orr_insertion *in)
{
    void *args = longer(in->args, in->few_args, in->nargs, sizeof(*in->args),
                        &in->args_room);

    if (!args)
        return no_room(in, in->nargs, "arguments");
    in->args = args;
    return 0;
}

/* STARPU_NONE is no access. */
static inline int add_datum(struct orr_insertion *in, int mode,
                            starpu_data_handle_t handle)
{
    struct starpu_data_descr *datum;

    if (mode & STARPU_NONE)
        return 0;
    if (in->ndata == in->data_room && more_data(in) != 0)
        return -ENOMEM;
    datum = &in->data[in->ndata++];
    datum->handle = handle;
    datum->mode = (enum starpu_data_access_mode)mode;
    return 0;
}

static int add_data(struct orr_insertion *in, int n,
                    const starpu_data_handle_t *handles)
{
    int err = 0;

    for (int i = 0; i < n && !err; i++) {
        int mode = orr_buffers_known_mode(in->call, in->cl, (int)in->ndata);

        err = mode < 0 ? mode : add_datum(in, mode, handles[i]);
    }
    return err;
}

static int add_descrs(struct orr_insertion *in, int n,
                      const struct starpu_data_descr *descrs)
{
    int err = 0;

    for (int i = 0; i < n && !err; i++)
        err = add_datum(in, (int)descrs[i].mode, descrs[i].handle);
    return err;
}

/* What the layer above asks for as well. */
static void note_arg(struct orr_insertion *in, const struct orr_insert_arg *arg)
{
    switch (arg->tag) {
    case STARPU_PRIORITY:
        in->priority = arg->i;
        break;
    case STARPU_EXECUTE_ON_NODE:
        if (arg->i < 0)
            break;
        in->where = ORR_INSERT_ON_NODE;
        in->node = arg->i;
        break;
    case STARPU_EXECUTE_ON_DATA:
        if (in->where != ORR_INSERT_ANYWHERE)
            break;
        in->where = ORR_INSERT_ON_DATA;
        in->on = arg->ptr;
        break;
    case STARPU_NODE_SELECTION_POLICY:
        in->policy = arg->i;
        break;
    default:
        break;
    }
}

static int refuse_tag(const struct orr_insertion *in, int tag)
{
    orr_log_error("%s: %d (0x%x) is neither an access mode nor a known tag: "
                  "end the list with 0, and give every tag its values in "
                  "their exact type",
                  in->call, tag, (unsigned)tag);
    return -EINVAL;
}

/* The list is passed by a pointer to a structure: how va_list is passed differs among
 * processors. */
struct list {
    va_list ap;
};

static int take_array(struct orr_insertion *in, int tag, struct list *list)
{
    void *array = va_arg(list->ap, void *);
    int n = va_arg(list->ap, int);

    return tag == STARPU_DATA_ARRAY ? add_data(in, n, array)
                                    : add_descrs(in, n, array);
}

/* NULL, after a message, if there is no such tag. */
static inline const struct tag *find_tag(const struct orr_insertion *in,
                                         int tag)
{
    unsigned number = (unsigned)tag >> STARPU_MODE_SHIFT;

    if (number < sizeof(tags) / sizeof(tags[0]) &&
        number << STARPU_MODE_SHIFT == (unsigned)tag &&
        tags[number].shape != ORR_TAKES_UNKNOWN)
        return &tags[number];
    (void)refuse_tag(in, tag);
    return NULL;
}

static inline int keep_argument(struct orr_insertion *in,
                                const struct tag *known,
                                const struct orr_insert_arg *arg)
{
    note_arg(in, arg);
    if (!known->put)
        return 0;
    if (in->nargs == in->args_room && more_args(in) != 0)
        return -ENOMEM;
    in->args[in->nargs++] = *arg;
    return 0;
}

static int take_argument(struct orr_insertion *in, int tag, struct list *list)
{
    const struct tag *known = find_tag(in, tag);
    struct orr_insert_arg arg = {.tag = tag};

    if (!known)
        return -EINVAL;
    switch ((enum orr_insert_shape)known->shape) {
    case ORR_TAKES_UNKNOWN: /* find_tag refuses it */
        break;
    case ORR_TAKES_DATA_ARRAY:
        return take_array(in, tag, list);
    case ORR_TAKES_INT:
        arg.i = va_arg(list->ap, int);
        break;
    case ORR_TAKES_ULL:
        arg.ull = va_arg(list->ap, unsigned long long);
        break;
    case ORR_TAKES_DOUBLE:
        arg.d = va_arg(list->ap, double);
        break;
    case ORR_TAKES_POINTER:
        arg.ptr = va_arg(list->ap, void *);
        break;
    case ORR_TAKES_FUNCTION:
        arg.func = va_arg(list->ap, callback_fn);
        break;
    case ORR_TAKES_FUNCTION_POINTER:
        arg.func = va_arg(list->ap, callback_fn);
        arg.ptr2 = va_arg(list->ap, void *);
        break;
    case ORR_TAKES_POINTER_SIZE:
        arg.ptr = va_arg(list->ap, void *);
        arg.size = va_arg(list->ap, size_t);
        break;
    case ORR_TAKES_LENGTH_POINTER:
        arg.n = va_arg(list->ap, unsigned);
        arg.ptr = va_arg(list->ap, void *);
        break;
    }
    return keep_argument(in, known, &arg);
}

void orr_insertion_begin(struct orr_insertion *in, const char *call,
                         struct starpu_codelet *cl)
{
    in->call = call;
    in->cl = cl;
    in->data = in->few_data;
    in->args = in->few_args;
    in->ndata = in->nargs = 0;
    in->data_room = ORR_INSERT_FEW_DATA;
    in->args_room = ORR_INSERT_FEW_ARGS;
    in->where = ORR_INSERT_ANYWHERE;
    in->policy = -1;
    in->priority = STARPU_DEFAULT_PRIO;
}

/* On an error `in` has what came before. */
static int decode(struct orr_insertion *in, const char *call,
                  struct starpu_codelet *cl, va_list ap)
{
    struct list list;
    int tag, err = 0;

    orr_insertion_begin(in, call, cl);
    va_copy(list.ap, ap);
    while (!err && (tag = va_arg(list.ap, int)))
        err = orr_insertion_is_access(tag)
                  ? add_datum(in, tag, va_arg(list.ap, starpu_data_handle_t))
                  : take_argument(in, tag, &list);
    va_end(list.ap);
    return err;
}

int orr_insertion_decode(struct orr_insertion *in, const char *call,
                         struct starpu_codelet *cl, va_list ap)
{
    int err = decode(in, call, cl, ap);

    if (err) {
        orr_insertion_drop(in);
        orr_insertion_end(in);
    }
    return err;
}

int orr_insertion_add_datum(struct orr_insertion *in, int mode,
                            starpu_data_handle_t handle)
{
    return add_datum(in, mode, handle);
}

int orr_insertion_add_array(struct orr_insertion *in, int tag, int n,
                            void *array)
{
    return tag == STARPU_DATA_ARRAY ? add_data(in, n, array)
                                    : add_descrs(in, n, array);
}

enum orr_insert_shape orr_insertion_shape(const struct orr_insertion *in,
                                          int tag)
{
    const struct tag *known = find_tag(in, tag);

    return known ? (enum orr_insert_shape)known->shape : ORR_TAKES_UNKNOWN;
}

int orr_insertion_add_arg(struct orr_insertion *in,
                          const struct orr_insert_arg *arg)
{
    return keep_argument(in, &tags[arg->tag >> STARPU_MODE_SHIFT], arg);
}

void orr_insertion_end_long(struct orr_insertion *in)
{
    if (in->data != in->few_data)
        free(in->data);
    if (in->args != in->few_args)
        free(in->args);
}

/* --- making --- */

/* Hands the packed values to the task. */
static int finish_args(struct filling *f)
{
    if (!f->values.nargs)
        return 0;
    if (f->has_cl_args) {
        orr_log_error("%s: STARPU_VALUE and STARPU_CL_ARGS exclude each other; "
                      "pack all values with starpu_codelet_pack_args()",
                      f->call);
        return -EINVAL;
    }
    starpu_codelet_pack_arg_fini(&f->values, &f->task->cl_arg,
                                 &f->task->cl_arg_size);
    f->task->cl_arg_free = 1;
    return 0;
}

static int insert_check_worker_order(const struct filling *f)
{
    if (!f->task->workerorder || f->task->execute_on_a_specific_worker)
        return 0;
    orr_log_error("%s: STARPU_WORKER_ORDER %u is an order on one worker: give "
                  "STARPU_EXECUTE_ON_WORKER as well",
                  f->call, f->task->workerorder);
    return -EINVAL;
}

/* A failed task takes with it what was given to be freed. */
static void discard(struct starpu_task *task)
{
    task->destroy = 0;
    starpu_task_destroy(task);
}

/* The task is to free what the list gave for that. */
static void give_task(const struct orr_insertion *in, struct starpu_task *task)
{
    struct filling f = {.call = in->call, .task = task};

    for (unsigned i = 0; i < in->nargs; i++) {
        put_fn put = tags[in->args[i].tag >> STARPU_MODE_SHIFT].put;

        if (put == put_cl_args || put == put_callback_func ||
            put == put_callback_arg)
            (void)put(&f, &in->args[i]);
    }
}

void orr_insertion_drop(const struct orr_insertion *in)
{
    struct starpu_task *task = in->nargs ? starpu_task_create() : NULL;

    if (!task)
        return;
    give_task(in, task);
    discard(task);
}

struct starpu_codelet orr_codelet_sync = {
    .where = STARPU_NOWHERE,
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "sync",
};

/* Data of a list without codelet are accessed, by a task that runs nothing. */
static struct starpu_codelet *codelet_of(const struct orr_insertion *in)
{
    return in->cl || !in->ndata ? in->cl : &orr_codelet_sync;
}

static int fill_task(const struct orr_insertion *in, struct starpu_task *task)
{
    struct filling f = {
        .call = in->call,
        .task = task,
        .buffers = {.call = in->call, .cl = codelet_of(in), .task = task}};
    int err = 0;

    task->cl = f.buffers.cl;
    for (unsigned i = 0; i < in->nargs && !err; i++)
        err = tags[in->args[i].tag >> STARPU_MODE_SHIFT].put(&f, &in->args[i]);
    for (unsigned i = 0; i < in->ndata && !err; i++)
        err = orr_buffers_add(&f.buffers, (int)in->data[i].mode,
                              in->data[i].handle);
    if (!err)
        err = orr_buffers_check(&f.buffers);
    if (!err)
        err = finish_args(&f);
    if (!err)
        err = insert_check_worker_order(&f);
    if (err)
        orr_pack_drop(&f.values);
    return err;
}

int orr_insertion_make(const struct orr_insertion *in, struct starpu_task **ret)
{
    struct starpu_task *task = starpu_task_create();
    int err;

    if (!task) {
        orr_log_error("%s: no memory for a task", in->call);
        return -ENOMEM;
    }
    err = fill_task(in, task);
    if (err)
        discard(task);
    else
        *ret = task;
    return err;
}

static int build(const char *call, struct starpu_codelet *cl, va_list ap,
                 struct starpu_task **ret)
{
    struct orr_insertion insertion;
    int err = orr_insertion_decode(&insertion, call, cl, ap);

    if (err)
        return err;
    err = orr_insertion_make(&insertion, ret);
    orr_insertion_end(&insertion);
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

/* The task is the caller's, whatever becomes of it. */
static int set_task(const char *call, struct starpu_task *task,
                    struct starpu_codelet *cl, va_list ap)
{
    struct orr_insertion insertion;
    int err = decode(&insertion, call, cl, ap);

    if (err)
        give_task(&insertion, task);
    else
        err = fill_task(&insertion, task);
    orr_insertion_end(&insertion);
    return err;
}

int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...)
{
    va_list ap;
    int err;

    va_start(ap, cl);
    err = set_task("starpu_task_set", task, cl, ap);
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
