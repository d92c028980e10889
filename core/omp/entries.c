/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/entries.c - see entries.h. */
#include "core/omp/entries.h"

#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/loop/suspend.h"
#include "core/omp/omp.h"
#include "core/omp/self.h"
#include "core/omp/share.h"

bool orr_openmp_is_task(void)
{
    return orr_omp_self() != NULL;
}

/* -- tasks -- */

struct orr_openmp_construct {
    struct starpu_codelet plain, with_data;
};

struct orr_openmp_construct *orr_openmp_construct(starpu_cpu_func_t body,
                                                  const char *name)
{
    struct orr_openmp_construct *construct = calloc(1, sizeof(*construct));

    if (!construct)
        return NULL;
    orr_codelet_set_host_function(&construct->plain, body);
    construct->plain.name = name;
    construct->with_data = construct->plain;
    construct->with_data.nbuffers = STARPU_VARIABLE_NBUFFERS;
    return construct;
}

/* Those of the children of the calling task. */
static struct orr_omp_handles *handles_of_children(struct orr_omp_task *self)
{
    return self->implicit ? &self->team->handles : &self->handles;
}

static void handle_new(struct orr_omp_handles *handles, const void *address)
{
    starpu_data_handle_t handle, entered;

    starpu_void_data_register(&handle);
    entered = handle;
    if (orr_omp_handles_add_first(handles, address, &entered) != 0)
        orr_omp_no_memory("a task with depend");
    if (entered != handle)
        starpu_data_unregister(handle);
}

/* Readers wait for a task that writes, and so does an inoutset; without a function, it takes
 * no worker. */
static void part(struct orr_omp *omp, starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    if (!task)
        orr_omp_no_memory("a task with depend");
    task->cl = &omp->parts;
    task->handles[0] = handle;
    if (starpu_task_submit(task) != 0)
        orr_omp_no_memory("a task with depend");
}

static enum orr_omp_sharing sharing_of(enum starpu_data_access_mode mode)
{
    return mode == ORR_OPENMP_SET ? ORR_OMP_IN_SET
           : mode == STARPU_R     ? ORR_OMP_READS
                                  : ORR_OMP_ALONE;
}

/* What a task that `self` is about to create uses. */
static starpu_data_handle_t handle_for(struct orr_omp_task *self,
                                       struct orr_omp_handles *handles,
                                       const struct orr_openmp_use *use)
{
    enum orr_omp_sharing sharing = sharing_of(use->mode);
    starpu_data_handle_t handle;
    bool parts = false;

    handle = orr_omp_handles_use(handles, use->address, sharing, self, &parts);
    if (!handle) {
        handle_new(handles, use->address);
        handle = orr_omp_handles_use(handles, use->address, sharing, self, &parts);
    }
    if (parts)
        part(self->omp, handle);
    return handle;
}

/* Lists of data that are as short as most need no memory. */
enum { FEW = 16 };

/* The data of a task that is created. */
struct data {
    starpu_data_handle_t few_handles[FEW], *handles;
    enum starpu_data_access_mode few_modes[FEW], *modes;
};

static void find_data(struct orr_omp_task *self, const struct orr_openmp_task *task,
                      struct data *ret)
{
    struct orr_omp_handles *handles = handles_of_children(self);

    ret->handles = ret->few_handles;
    ret->modes = ret->few_modes;
    if (task->nuses > FEW) {
        ret->handles = calloc(task->nuses, sizeof(*ret->handles));
        ret->modes = calloc(task->nuses, sizeof(*ret->modes));
        if (!ret->handles || !ret->modes)
            orr_omp_no_memory("a task with depend");
    }
    for (size_t i = 0; i < task->nuses; i++) {
        ret->handles[i] = handle_for(self, handles, &task->uses[i]);
        ret->modes[i] =
            task->uses[i].mode == ORR_OPENMP_SET ? STARPU_R : task->uses[i].mode;
    }
}

static void data_free(struct data *data)
{
    if (data->handles == data->few_handles)
        return;
    free(data->handles);
    free(data->modes);
}

void orr_openmp_create(const struct orr_openmp_construct *construct,
                       const struct orr_openmp_task *task)
{
    struct orr_omp_task *self = orr_omp_self_need("task");
    struct orr_omp_task *child = orr_omp_task_new(self, self->team);
    struct orr_omp_creation creation = {
        .cl = &construct->plain,
        .arg = task->arg,
        .frees_arg = task->arg != NULL,
        .deferred = task->deferred,
        .final = task->final,
        .stays = task->detached,
        .is_call = task->nuses == 0 && !task->detached,
        .priority = task->priority,
    };
    struct data data;

    if (!child)
        orr_omp_no_memory("task");
    if (task->nuses == 0) {
        orr_omp_task_create(self, child, &creation);
        return;
    }
    find_data(self, task, &data);
    creation.cl = &construct->with_data;
    creation.ndata = (unsigned)task->nuses;
    creation.handles = data.handles;
    creation.modes = data.modes;
    orr_omp_task_create(self, child, &creation);
    data_free(&data);
}

void orr_openmp_wait_for(size_t nuses, const struct orr_openmp_use *uses)
{
    const struct orr_omp *omp = orr_omp_self_need("taskwait depend")->omp;

    if (nuses > 0)
        orr_openmp_create(omp->wait,
                          &(struct orr_openmp_task){.nuses = nuses, .uses = uses});
}

void *orr_openmp_begin_in_place(bool final)
{
    struct orr_omp_task *self = orr_omp_self_need("task");
    struct orr_omp_task *task = orr_omp_task_new(self, self->team);

    if (!task)
        orr_omp_no_memory("task");
    task->final = final || self->final;
    task->group = task->counts_in = self->group;
    orr_omp_task_begin_in_place(self, task);
    return task;
}

void orr_openmp_end_in_place(void *begun)
{
    struct orr_omp_task *task = begun;

    if (task->handles.all)
        orr_omp_handles_unregister(&task->handles);
    orr_omp_task_end_in_place(task->parent, task);
}

struct starpu_task *orr_openmp_hold_end(void)
{
    struct starpu_task *task = orr_self->job->task;

    starpu_task_end_dep_add(task, 1);
    return task;
}

void orr_openmp_release_end(struct starpu_task *task)
{
    starpu_task_end_dep_release(task);
}

void orr_openmp_yield(void)
{
    if (!orr_self->exec->one_thread && orr_suspend_may_yield())
        orr_suspend_yield(1);
}

/* -- what entries keep -- */

void **orr_openmp_kept(void)
{
    return &orr_omp_self_need("an OpenMP construct")->kept;
}

void **orr_openmp_inherited(void)
{
    return &orr_omp_self_need("an OpenMP construct")->inherited;
}

/* -- constructs of threads -- */

struct orr_openmp_shared *orr_openmp_share(size_t n, void **ret_memory)
{
    struct orr_omp_task *self = orr_omp_thread_need("a worksharing construct");
    struct orr_omp_share *share = orr_omp_share_enter(self);
    void *memory = NULL;

    orr_lock(&self->team->lock);
    *ret_memory = share->memory;
    orr_unlock(&self->team->lock);
    if (!*ret_memory) {
        memory = calloc(1, n ? n : 1);
        if (!memory)
            orr_omp_no_memory("a worksharing construct");
        orr_lock(&self->team->lock);
        if (!share->memory) {
            share->memory = memory;
            memory = NULL;
        }
        *ret_memory = share->memory;
        orr_unlock(&self->team->lock);
    }
    free(memory); /* another thread was faster */
    return (struct orr_openmp_shared *)share;
}

void orr_openmp_leave(struct orr_openmp_shared *shared)
{
    orr_omp_share_leave(orr_omp_thread_need("a worksharing construct"),
                        (struct orr_omp_share *)shared);
}

void orr_openmp_wait_until(struct orr_openmp_shared *shared,
                           bool (*holds)(void *memory, const void *arg), void *memory,
                           const void *arg)
{
    static const struct orr_awaited awaited = {
        .noun = "what other threads of the loop have not done"};
    struct orr_omp_share *share = (struct orr_omp_share *)shared;
    struct orr_omp_team *team = orr_omp_self_need("ordered")->team;

    for (;;) {
        struct orr_waiter self;
        bool waits;

        orr_lock(&team->lock);
        waits = !holds(memory, arg);
        if (waits)
            orr_waiters_add(&share->waiters, &self);
        orr_unlock(&team->lock);
        if (!waits)
            return;
        orr_wait(&self, &awaited);
    }
}

void orr_openmp_change(struct orr_openmp_shared *shared,
                       void (*change)(void *memory, const void *arg), void *memory,
                       const void *arg)
{
    struct orr_omp_share *share = (struct orr_omp_share *)shared;
    struct orr_omp_team *team = orr_omp_self_need("ordered")->team;
    struct orr_waiters waiters;

    orr_lock(&team->lock);
    change(memory, arg);
    waiters = orr_waiters_take_all(&share->waiters);
    orr_unlock(&team->lock);
    orr_waiters_release(waiters);
}
