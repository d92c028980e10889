/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* submit.c - codelets, models, and tasks of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orrery_fortran.h"

/* What submit is told beside the codelet and its arguments: options of the module. */
struct options {
    double flops;
    int priority, worker, synchronous, kept, nafter;
    struct kept_task *const *after;
};

/* --- objects that several variables may stand for --- */

void orrery_fortran_share(struct shared *object);
/* One variable more does. */
void orrery_fortran_share(struct shared *object)
{
    if (object)
        atomic_fetch_add(&object->n, 1);
}

/* One less does. Whether that was the last one. */
static bool was_last(struct shared *object)
{
    return atomic_fetch_sub(&object->n, 1) == 0; /* n counts the others */
}

/* --- codelets and models --- */

struct model {
    struct shared shared; /* first */
    struct starpu_perfmodel model;
    char *symbol;
};

struct kernels *orrery_fortran_codelet(const char *name, void *cpu, void *cuda, void *opencl,
                                       struct model *model, int color);
/* NULL after a complaint. */
struct kernels *orrery_fortran_codelet(const char *name, void *cpu, void *cuda, void *opencl,
                                       struct model *model, int color)
{
    struct kernels *k = calloc(1, sizeof(*k));

    if (!k || !(k->name = strdup(name))) {
        free(k);
        (void)complain(-ENOMEM, "codelet: no memory");
        return NULL;
    }
    starpu_codelet_init(&k->cl);
    k->cl.name = k->name;
    k->cl.cpu_funcs[0] = (starpu_cpu_func_t)(uintptr_t)cpu;
    k->cl.cuda_funcs[0] = (starpu_cuda_func_t)(uintptr_t)cuda;
    k->cl.opencl_funcs[0] = (starpu_opencl_func_t)(uintptr_t)opencl;
    k->cl.model = model ? &model->model : NULL;
    k->cl.color = (unsigned)color;
    return k;
}

struct model *orrery_fortran_model(const char *symbol, const char *kind);
/* NULL after a complaint. */
struct model *orrery_fortran_model(const char *symbol, const char *kind)
{
    static const struct {
        const char *name;
        enum starpu_perfmodel_type type;
    } kinds[] = {{"history", STARPU_HISTORY_BASED},
                 {"regression", STARPU_REGRESSION_BASED},
                 {"nl_regression", STARPU_NL_REGRESSION_BASED}};
    struct model *m;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].name, kind) != 0)
            continue;
        m = calloc(1, sizeof(*m));
        if (!m || !(m->symbol = strdup(symbol))) {
            free(m);
            (void)complain(-ENOMEM, "model: no memory");
            return NULL;
        }
        m->model.symbol = m->symbol;
        m->model.type = kinds[i].type;
        return m;
    }
    (void)complain(-EINVAL, "model: \"%s\" is none of history, regression, nl_regression",
                   kind);
    return NULL;
}

/* What the library may still ask about stays until it is not initialised. */
struct retired {
    struct retired *next;
    void *memory[2];
};
static _Atomic(struct retired *) all_retired;

static void retire(void *one, void *two)
{
    struct retired *item = malloc(sizeof(*item));

    /* Without memory it is lost, which does no harm. */
    if (!item)
        return;
    item->memory[0] = one;
    item->memory[1] = two;
    item->next = atomic_load(&all_retired);
    while (!atomic_compare_exchange_weak(&all_retired, &item->next, item))
        ;
    if (starpu_is_initialized())
        return;
    item = atomic_exchange(&all_retired, NULL);
    for (struct retired *next; item; item = next) {
        next = item->next;
        free(item->memory[0]);
        free(item->memory[1]);
        free(item);
    }
}

void orrery_fortran_codelet_end(struct kernels *k);
void orrery_fortran_codelet_end(struct kernels *k)
{
    if (!k || !was_last(&k->shared))
        return;
    if (starpu_is_initialized())
        starpu_task_wait_for_all();
    retire(k->name, NULL);
    retire(k->cl.dyn_modes, k);
}

void orrery_fortran_model_end(struct model *m);
void orrery_fortran_model_end(struct model *m)
{
    if (!m || !was_last(&m->shared))
        return;
    starpu_perfmodel_deinit(&m->model);
    retire(m->symbol, m);
}

/* --- arguments --- */

int orrery_fortran_use(const CFI_cdesc_t *array, int mode, struct access *ret);
/* An array itself, as data of a task. */
int orrery_fortran_use(const CFI_cdesc_t *array, int mode, struct access *ret)
{
    struct layout layout;
    starpu_data_handle_t handle;
    int err = layout_of(array, &layout);

    if (!err)
        err = data_of_array(&layout, &handle);
    if (!err)
        *ret = (struct access){.mode = mode, .at = handle};
    return err;
}

int orrery_fortran_use_data(int64_t number, const int *indices, int mode,
                            struct access *ret);
int orrery_fortran_use_data(int64_t number, const int *indices, int mode,
                            struct access *ret)
{
    starpu_data_handle_t handle = data_find(number, indices);

    ret->mode = mode;
    ret->owned = 0;
    ret->at = handle;
    return handle ? 0 : -EINVAL;
}

/* Copies the elements of dimension k and those inside of it. */
static char *gather(const struct layout *l, int k, const char *from, char *to)
{
    if (k == 0) {
        memcpy(to, from, l->element);
        return to + l->element;
    }
    for (size_t i = 0; i < l->n[k - 1]; i++)
        to = gather(l, k - 1, from + (ptrdiff_t)i * l->stride[k - 1], to);
    return to;
}

int orrery_fortran_value(const CFI_cdesc_t *array, struct access *ret);
int orrery_fortran_value(const CFI_cdesc_t *array, struct access *ret)
{
    struct layout layout;
    char *to;
    int err = layout_of(array, &layout);

    if (err)
        return err;
    ret->mode = ret->owned = 0;
    ret->at = NULL;
    ret->size = layout.element;
    for (int k = 0; k < layout.rank; k++)
        ret->size *= layout.n[k];
    to = ret->small;
    if (ret->size > SMALL_VALUE) {
        ret->at = to = malloc(ret->size);
        ret->owned = 1;
        if (!to)
            return complain(-ENOMEM, "value: no memory for %zu bytes", ret->size);
    }
    gather(&layout, layout.rank, layout.at, to);
    return 0;
}

int orrery_fortran_unpack(void *args, CFI_cdesc_t *one, CFI_cdesc_t *two, CFI_cdesc_t *three,
                          CFI_cdesc_t *four, CFI_cdesc_t *five, CFI_cdesc_t *six,
                          CFI_cdesc_t *seven, CFI_cdesc_t *eight);
/* The values of a task, in order; a variable that is not there leaves the rest. */
int orrery_fortran_unpack(void *args, CFI_cdesc_t *one, CFI_cdesc_t *two, CFI_cdesc_t *three,
                          CFI_cdesc_t *four, CFI_cdesc_t *five, CFI_cdesc_t *six,
                          CFI_cdesc_t *seven, CFI_cdesc_t *eight)
{
    CFI_cdesc_t *const to[] = {one, two, three, four, five, six, seven, eight};
    struct starpu_codelet_pack_arg_data state;

    starpu_codelet_unpack_arg_init(&state, args, SIZE_MAX);
    for (int i = 0; i < 8 && to[i]; i++) {
        size_t size, has = to[i]->elem_len;
        void *at;

        for (int k = 0; k < to[i]->rank; k++)
            has *= (size_t)to[i]->dim[k].extent;
        if (state.nargs <= 0)
            return complain(-EINVAL, "unpack: the task has %d values", i);
        starpu_codelet_pick_arg(&state, &at, &size);
        if (size != has || !CFI_is_contiguous(to[i]))
            return complain(-EINVAL, "unpack: value %d has %zu bytes, the variable for it "
                                     "%zu%s",
                            i + 1, size, has, size == has ? ", with gaps" : "");
        memcpy(to[i]->base_addr, at, size);
    }
    return 0;
}

/* --- tasks --- */

/* The first task says how many data the codelet has, and which modes. */
static int fit(struct kernels *k, const struct starpu_data_descr *data, int n)
{
    if (!k->known) {
        k->cl.nbuffers = n;
        for (int i = 0; i < n && n <= STARPU_NMAXBUFS; i++)
            k->cl.modes[i] = data[i].mode;
        k->known = true;
        return 0;
    }
    if (k->cl.nbuffers != n)
        return complain(-EINVAL, "submit: the codelet %s has %d data in its first task, and "
                                 "%d here",
                        k->name, k->cl.nbuffers, n);
    for (int i = 0; i < n && n <= STARPU_NMAXBUFS; i++)
        if (k->cl.modes[i] != data[i].mode)
            return complain(-EINVAL, "submit: argument %d of the codelet %s has another mode "
                                     "in its first task",
                            i + 1, k->name);
    return 0;
}

static int give_data(struct starpu_task *task, struct kernels *k,
                     const struct starpu_data_descr *data, int n)
{
    int err = fit(k, data, n);

    if (err)
        return err;
    if (n <= STARPU_NMAXBUFS) {
        for (int i = 0; i < n; i++)
            task->handles[i] = data[i].handle;
        return 0;
    }
    task->dyn_handles = malloc((size_t)n * sizeof(*task->dyn_handles));
    if (!k->cl.dyn_modes) {
        k->cl.dyn_modes = malloc((size_t)n * sizeof(*k->cl.dyn_modes));
        for (int i = 0; i < n && k->cl.dyn_modes; i++)
            k->cl.dyn_modes[i] = data[i].mode;
    }
    if (!task->dyn_handles || !k->cl.dyn_modes)
        return complain(-ENOMEM, "submit: no memory for %d data", n);
    for (int i = 0; i < n; i++)
        task->dyn_handles[i] = data[i].handle;
    return 0;
}

static int give_arguments(struct starpu_task *task, struct kernels *k,
                          struct access *const *list, int n)
{
    struct starpu_data_descr data[MOST_ARGUMENTS];
    struct starpu_codelet_pack_arg_data values;
    int ndata = 0;

    starpu_codelet_pack_arg_init(&values);
    for (int i = 0; i < n; i++)
        if (list[i]->mode) {
            data[ndata].handle = list[i]->at;
            data[ndata++].mode = (enum starpu_data_access_mode)list[i]->mode;
        } else {
            starpu_codelet_pack_arg(&values, list[i]->at ? list[i]->at : list[i]->small,
                                    list[i]->size);
        }
    if (values.nargs) {
        starpu_codelet_pack_arg_fini(&values, &task->cl_arg, &task->cl_arg_size);
        task->cl_arg_free = 1;
    }
    return give_data(task, k, data, ndata);
}

/* The error of the first one that is none, of which there was a complaint. */
static int check_arguments(struct access *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i]->mode < 0)
            return list[i]->owned;
    return 0;
}

static void free_values(struct access *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i]->owned > 0) {
            free(list[i]->at);
            list[i]->owned = 0;
        }
}

static int make_task(struct kernels *k, struct access *const *list, int n,
                     const struct options *options, struct starpu_task **ret)
{
    struct starpu_task *task = starpu_task_create();
    int err;

    *ret = task;
    if (!task)
        return complain(-ENOMEM, "submit: no memory for a task");
    task->cl = &k->cl;
    task->priority = options->priority;
    task->flops = options->flops;
    task->synchronous = options->synchronous != 0;
    if (options->worker >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)options->worker;
    }
    if (options->kept) {
        task->destroy = 0;
        task->detach = 0;
    }
    err = give_arguments(task, k, list, n);
    /* Those that were waited for have ended. */
    for (int i = 0; i < options->nafter && !err; i++)
        if (options->after[i] && options->after[i]->task)
            starpu_task_declare_deps_array(task, 1, &options->after[i]->task);
    return err;
}

/* Submits what was made; it is gone on an error. */
static int submit_task(struct kernels *k, struct starpu_task *task)
{
    int err = starpu_task_submit(task);

    if (err)
        (void)complain(err, err == -ENODEV
                                ? "submit: no worker of this machine can run %s"
                                : "submit: the library refuses the task of %s",
                       k->name);
    return err;
}

int orrery_fortran_submit(struct kernels *k, struct access *const *list, int n,
                          const struct options *options, struct kept_task **kept);
int orrery_fortran_submit(struct kernels *k, struct access *const *list, int n,
                          const struct options *options, struct kept_task **kept)
{
    struct starpu_task *task = NULL;
    int err;

    if (!k) {
        free_values(list, n);
        return complain(-EINVAL, "submit: the codelet was not started: call its init");
    }
    if (options->kept && !(*kept = calloc(1, sizeof(**kept)))) {
        free_values(list, n);
        return complain(-ENOMEM, "submit: no memory for a task");
    }
    err = check_arguments(list, n);
    if (!err)
        err = make_task(k, list, n, options, &task);
    free_values(list, n);
    if (!err)
        err = submit_task(k, task);
    if (!err && options->kept)
        (*kept)->task = task;
    if (err && task) {
        task->destroy = 0;
        starpu_task_destroy(task);
    }
    return err;
}

int orrery_fortran_task_wait(struct kept_task *kept);
/* Waits for its end, after which it is gone. */
int orrery_fortran_task_wait(struct kept_task *kept)
{
    int err;

    if (!kept || !kept->task)
        return complain(-EINVAL, "wait: there is no task, or it was waited for");
    /* A synchronous one has ended. */
    err = kept->task->synchronous ? 0 : starpu_task_wait(kept->task);
    if (err)
        return complain(err, "wait: a kernel or callback cannot wait for a task");
    starpu_task_destroy(kept->task);
    kept->task = NULL;
    return 0;
}

void orrery_fortran_task_end(struct kept_task *kept);
/* Nobody waits for it. */
void orrery_fortran_task_end(struct kept_task *kept)
{
    if (!kept || !was_last(&kept->shared))
        return;
    if (kept->task && starpu_is_initialized())
        starpu_task_set_destroy(kept->task);
    free(kept);
}

/* --- the library --- */

int orrery_fortran_init(int ncpu, int ncuda, const char *scheduler);
int orrery_fortran_init(int ncpu, int ncuda, const char *scheduler)
{
    struct starpu_conf conf;
    int err;

    starpu_conf_init(&conf);
    if (ncpu >= 0)
        conf.ncpus = ncpu;
    if (ncuda >= 0)
        conf.ncuda = ncuda;
    if (*scheduler)
        conf.sched_policy_name = scheduler;
    err = starpu_init(&conf);
    return err ? complain(err, err == -ENODEV ? "orrery_init: the machine has no workers"
                                              : "orrery_init: the library does not start")
               : 0;
}
