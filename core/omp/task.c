/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/task.c - explicit tasks. A deferred one is a task of the runtime, which runs
 * on the processors of its team or on a device. One that is not deferred is executed in
 * place, by the thread or task that has met it, if it has no data and no model; else it
 * is a task for which that thread or task waits. Where enough tasks wait for the
 * threads of a team, more of that kind are not deferred: their number stays bounded.
 */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/slab.h"
#include "core/data/handle.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/loop/suspend.h"
#include "core/omp/closures.h"
#include "core/omp/omp.h"
#include "core/sched/direct.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

/* Once so many tasks per thread wait, a thread executes the tasks that it meets
 * itself. */
enum { ENOUGH = 64 };

/* … and it executes so many of them before it looks once more: the other threads write
 * where it looks whenever they take tasks. They have more tasks than that to do
 * meanwhile. */
enum { IN_ROW = 16 };

/* So many tasks that could have been deferred may be executed inside each other.
 * Without a limit a chain of tasks each of which creates the next one would need a
 * stack of any size. */
enum { MOST_NESTED = 64 };

struct orr_omp_task *orr_omp_task_new(struct orr_omp_task *parent,
                                      struct orr_omp_team *team)
{
    struct orr_omp_task *task = orr_slab_get(team->omp->tasks);

    if (!task)
        return NULL;
    *task = (struct orr_omp_task){
        .refs = 1, .omp = team->omp, .team = team, .parent = parent};
    if (parent) {
        task->icvs = parent->icvs;
        task->inherited = parent->inherited;
    }
    orr_omp_handles_init(&task->handles);
    return task;
}

void orr_omp_task_hold_parent(struct orr_omp_task *task)
{
    if (!task->parent)
        return;
    atomic_fetch_add_explicit(&task->parent->refs, 1, memory_order_relaxed);
    task->holds_parent = true;
}

/* Chains are long: no recursion. */
void orr_omp_task_unref(struct orr_omp_task *task)
{
    while (task && atomic_fetch_sub_explicit(&task->refs, 1,
                                             memory_order_acq_rel) == 1) {
        struct orr_omp_task *parent = task->holds_parent ? task->parent : NULL;

        orr_omp_handles_done(&task->handles);
        free(task->loop_arg);
        free(task->kept);
        orr_slab_put(task->omp->tasks, task);
        task = parent;
    }
}

/* -- execution -- */

void orr_omp_task_run(struct orr_omp_task *task, void **buffers, void *arg)
{
    if (!orr_omp_is_cancelled(task))
        task->function(buffers, arg);
    if (task->handles.all) /* no other task enters any */
        orr_omp_handles_unregister(&task->handles);
}

/* The function whose call is all that executing the task takes; NULL: it takes more, or
 * the task is not for processors. */
static orr_kernel_func_t called_function(const struct starpu_codelet *cl)
{
    return cl->nbuffers == 0 && !cl->model && orr_codelet_allows_host(cl)
               ? orr_codelet_host_function(cl, 0)
               : NULL;
}

/* The kernel of a deferred task on a processor. */
static void omp_task_body(void *buffers[], void *arg)
{
    orr_omp_task_run(orr_self->job->task->omp_task, buffers, arg);
}

/* The same for a task that could have been executed where it was met: measures whether
 * such tasks should be. Time for which the task waits counts, too. */
static void timed_body(void *buffers[], void *arg)
{
    struct starpu_task *public = orr_self->job->task;
    struct orr_omp_codelet *codelet = orr_omp_codelet_of(public->cl);
    double begun_us = orr_exec_now(orr_self->exec);

    orr_omp_task_run(public->omp_task, buffers, arg);
    orr_omp_codelet_note_length(codelet,
                                orr_exec_now(orr_self->exec) - begun_us, 1);
}

void orr_omp_task_begin_in_place(struct orr_omp_task *caller, struct orr_omp_task *task)
{
    task->in_place = true;
    task->nested = caller->nested + 1;
    task->thread = orr_omp_thread_num(caller);
    task->in_row = caller->in_row;
    (void)orr_omp_switch(task);
}

void orr_omp_task_end_in_place(struct orr_omp_task *caller, struct orr_omp_task *task)
{
    (void)orr_omp_switch(caller);
    caller->in_row = task->in_row;
    /* Tasks that it has created may still run, and need its parent. (Only then: a write
     * to the caller's counter takes that cache line from other processors.) */
    if (atomic_load_explicit(&task->refs, memory_order_acquire) != 1)
        orr_omp_task_hold_parent(task);
    orr_omp_task_unref(task);
}

/* The caller executes the task at once. */
static void omp_task_run_in_place(struct orr_omp_task *caller, struct orr_omp_task *task,
                                  const struct orr_omp_creation *creation)
{
    orr_omp_task_begin_in_place(caller, task);
    orr_omp_task_run(task, NULL, creation->arg);
    orr_omp_task_end_in_place(caller, task);
    if (creation->frees_arg)
        free(creation->arg);
}

/* -- what waits for it -- */

void orr_omp_task_count(struct orr_omp_task *task)
{
    orr_omp_count_up(&task->parent->children);
    if (task->counts_in)
        orr_omp_count_up(&task->counts_in->unfinished);
    orr_omp_meeting_expect(&task->team->meeting);
}

void orr_omp_task_ended(void *arg)
{
    struct orr_omp_task *task = arg;
    struct orr_omp_meeting *meeting = &task->team->meeting;

    orr_omp_count_down(&task->parent->children);
    if (task->counts_in)
        orr_omp_count_down(&task->counts_in->unfinished);
    orr_omp_task_unref(task);
    orr_omp_meeting_task_ended(meeting);
}

/* -- submission -- */

static void omp_task_give_data(struct starpu_task *task,
                               const struct orr_omp_creation *creation)
{
    unsigned n = creation->ndata;
    starpu_data_handle_t *handles = task->handles;
    enum starpu_data_access_mode *modes = task->modes;

    if (n > STARPU_NMAXBUFS) { /* which the task owns and frees */
        handles = task->dyn_handles = calloc(n, sizeof(*task->dyn_handles));
        modes = task->dyn_modes = calloc(n, sizeof(*task->dyn_modes));
        if (!handles || !modes)
            orr_omp_no_memory("starpu_omp_task_region");
    }
    for (unsigned i = 0; i < n; i++)
        handles[i] = creation->handles[i];
    if (!creation->modes)
        return;
    task->nbuffers = (int)n;
    for (unsigned i = 0; i < n; i++)
        modes[i] = creation->modes[i];
}

/* Names the workers that may run the task; the caller's alone if the task is not
 * deferred. */
static void omp_task_set_workers(struct starpu_task *public,
                                 struct orr_omp_task *task, bool waits)
{
    struct orr_omp_team *team = task->team;
    const struct orr_omp *omp = task->omp;
    unsigned thread = orr_omp_thread_num(orr_omp_self());

    if (waits && task->function && orr_codelet_is_for_host(public->cl)) {
        public->execute_on_a_specific_worker = 1;
        public->workerid =
            orr_self->worker
                ? orr_self->worker->id
                : omp->workers[(team->base + thread) % omp->nprocs];
    } else if (team->some) {
        public->workerids = team->workers;
        public->workerids_len = STARPU_NMAXWORKERS / 32;
    }
}

/* Whether the task's data need nothing but the order of their uses. A task that
 * bypasses the policy can use no other data. */
static bool has_plain_data(const struct orr_omp_creation *creation)
{
    if (creation->ndata > STARPU_NMAXBUFS)
        return false;
    for (unsigned i = 0; i < creation->ndata; i++) {
        const struct orr_handle *handle = orr_handle_of(creation->handles[i]);
        unsigned mode = creation->modes ? creation->modes[i] : creation->cl->modes[i];

        if (orr_handle_trouble(handle) || mode & ~(unsigned)STARPU_RW ||
            !mode || !handle->sequential || handle->reduction ||
            handle->arbiter || handle->family || handle->multiformat ||
            handle->is_duplicate)
            return false;
    }
    return true;
}

/* Whether the task may bypass the policy: its codelet is a plain one, no thread waits
 * for it alone, and each processor may run it. */
static bool is_direct(const struct orr_omp_creation *creation,
                      const struct orr_omp_team *team, bool plain, bool waits)
{
    return plain && !waits && !team->some && orr_direct_may(team->omp->rt) &&
           has_plain_data(creation);
}

/* The threads have enough to do. */
static bool waits_enough(const struct orr_omp_team *team)
{
    return orr_omp_meeting_tasks(&team->meeting) >
           (unsigned long)ENOUGH * team->nthreads;
}

static void omp_task_submit(struct orr_omp_task *task,
                            struct orr_omp_codelet *codelet,
                            const struct orr_omp_creation *creation, bool waits)
{
    struct starpu_task *public = orr_task_new(task->omp->rt);
    struct starpu_codelet *cl = &codelet->cl;
    const struct orr_omp_team *team = task->team;
    int rc;

    if (!public)
        orr_omp_no_memory("starpu_omp_task_region");
    public->cl = cl;
    public->omp_task = task;
    public->cl_arg = creation->arg;
    public->cl_arg_size = creation->arg_size;
    public->cl_arg_free = creation->frees_arg;
    public->priority = creation->priority;
    public->callback_func = orr_omp_task_ended;
    public->callback_arg = task;
    public->synchronous = waits;
    omp_task_give_data(public, creation);
    orr_omp_task_hold_parent(task);
    orr_omp_task_count(task);
    if (is_direct(creation, team, codelet->plain, waits)) {
        rc = orr_task_submit_direct(team->omp->rt, public);
    } else {
        omp_task_set_workers(public, task, waits);
        rc = starpu_task_submit(public);
    }
    if (rc == 0)
        return;
    orr_log_error("starpu_omp_task_region: task `%s' cannot run (%d): it needs "
                  "a function for a worker that there is, and registered data",
                  cl->name ? cl->name : "?", rc);
    abort();
}

/* A final task's children are not deferred; nor are tasks that the initial task meets
 * outside of all regions. */
static bool is_included(const struct orr_omp_task *parent)
{
    return parent->final || (!parent->team->outer && !orr_self->worker);
}

/* Whether a task that is deferred might go to a device. */
static bool devices_may_take(const struct orr_omp *omp,
                             const struct starpu_codelet *cl)
{
    return omp->nprocs != omp->rt->workers->n && !orr_codelet_is_for_host(cl);
}

/* Whether the codelet's tasks take less time than deferring one. The last tasks that
 * were executed in a row tell whether they still do: what the caller did between them
 * counts as theirs. */
static bool omp_task_is_short(struct orr_omp_task *parent,
                              struct orr_omp_codelet *codelet)
{
    struct orr_exec *exec = parent->omp->rt->exec;
    double now_us;

    if (exec->one_thread || !orr_omp_codelet_is_short(codelet))
        return false;
    now_us = orr_exec_now(exec);
    if (parent->in_row.begun_us > 0 && parent->in_row.call == codelet->function &&
        parent->in_row.name == codelet->given.name)
        orr_omp_codelet_note_length(codelet, now_us - parent->in_row.begun_us,
                                    IN_ROW);
    parent->in_row.begun_us = now_us;
    return true;
}

/* Whether the caller is to execute this task and the next ones of its kind itself:
 * enough tasks wait for the other threads, or deferring takes longer than the task. */
static bool begins_row(struct orr_omp_task *parent,
                       struct orr_omp_codelet *codelet, orr_kernel_func_t call)
{
    if (parent->nested >= MOST_NESTED)
        return false;
    if (!omp_task_is_short(parent, codelet)) {
        if (!waits_enough(parent->team))
            return false;
        parent->in_row.begun_us = 0;
    }
    parent->in_row.call = call;
    parent->in_row.name = codelet->given.name;
    parent->in_row.left = IN_ROW - 1;
    return true;
}

/* Whether the task belongs to such a row that is under way. */
static bool goes_on_in_row(struct orr_omp_task *parent, orr_kernel_func_t call,
                           const char *name)
{
    if (parent->in_row.left == 0 || parent->in_row.call != call ||
        parent->in_row.name != name || parent->nested >= MOST_NESTED)
        return false;
    parent->in_row.left--;
    return true;
}

/* The task was deferred although enough tasks wait: it has data, say, and cannot be
 * executed in place. If the caller can leave its processor it lets some of them run,
 * which bounds their number. (Not in virtual time, where creating tasks takes none.) */
static void let_others_go_first(const struct orr_omp_team *team)
{
    if (waits_enough(team) && !team->omp->rt->exec->one_thread &&
        orr_suspend_may_yield())
        orr_suspend_yield(ENOUGH);
}

/* The same for a task that is a call: it waits in a list, or is executed in place where
 * enough tasks wait. False: it is to be a task of the runtime. */
static bool create_call(struct orr_omp_task *parent, struct orr_omp_task *task,
                        const struct orr_omp_creation *creation)
{
    if (creation->priority != 0)
        return false;
    task->function = orr_codelet_host_function(creation->cl, 0);
    if (waits_enough(parent->team) && parent->nested < MOST_NESTED) {
        omp_task_run_in_place(parent, task, creation);
        return true;
    }
    return orr_omp_closure_defer(parent, task, creation->arg, creation->frees_arg);
}

void orr_omp_task_create(struct orr_omp_task *parent, struct orr_omp_task *task,
                         const struct orr_omp_creation *creation)
{
    const struct starpu_codelet *cl = creation->cl;
    bool waits = is_included(parent) || !creation->deferred;
    orr_kernel_func_t call =
        creation->ndata == 0 && !creation->stays ? called_function(cl) : NULL;
    bool in_row = call && !devices_may_take(task->omp, cl);
    struct orr_omp_codelet *codelet;

    if (waits && !orr_may_block("starpu_omp_task_region"))
        abort();
    task->final = creation->final || parent->final;
    task->group = task->counts_in = creation->leaves_group ? NULL : parent->group;
    if (creation->is_call && !waits && create_call(parent, task, creation))
        return;
    if ((call && waits) || (in_row && goes_on_in_row(parent, call, cl->name))) {
        task->function = call;
        omp_task_run_in_place(parent, task, creation);
        return;
    }
    codelet = orr_omp_codelet(task->omp, cl, call ? timed_body : omp_task_body);
    if (!codelet)
        orr_omp_no_memory("starpu_omp_task_region");
    task->function = codelet->function;
    if (in_row && begins_row(parent, codelet, call)) {
        omp_task_run_in_place(parent, task, creation);
        return;
    }
    task->measured = codelet;
    if (in_row && !waits && codelet->plain && create_call(parent, task, creation))
        return;
    omp_task_submit(task, codelet, creation, waits);
    if (!waits && !call)
        let_others_go_first(parent->team);
}

struct orr_omp_creation
orr_omp_creation_of(const struct starpu_omp_task_region_attr *attr)
{
    int n = attr->cl.nbuffers;

    if (n > STARPU_NMAXBUFS) {
        orr_log_error("starpu_omp_task_region: %d handles are more than "
                      "STARPU_NMAXBUFS (%d)",
                      n, STARPU_NMAXBUFS);
        abort();
    }
    return (struct orr_omp_creation){
        .cl = &attr->cl,
        .ndata = n > 0 ? (unsigned)n : 0,
        .handles = attr->handles,
        .arg = attr->cl_arg,
        .arg_size = attr->cl_arg_size,
        .frees_arg = attr->cl_arg_free,
        .deferred = attr->if_clause,
        .final = attr->final_clause,
        .leaves_group = attr->nogroup_clause && !attr->is_loop,
        .priority = attr->priority,
    };
}

void starpu_omp_task_region(const struct starpu_omp_task_region_attr *attr)
{
    struct orr_omp_task *parent = orr_omp_self_need(__func__);
    struct orr_omp_task *task = orr_omp_task_new(parent, parent->team);
    struct orr_omp_creation creation = orr_omp_creation_of(attr);

    if (!task)
        orr_omp_no_memory(__func__);
    orr_omp_task_create(parent, task, &creation);
}

void starpu_omp_taskwait(void)
{
    struct orr_omp_task *self = orr_omp_self_need(__func__);

    if (!orr_may_block(__func__))
        abort();
    orr_omp_closures_run_counted(self, &self->children);
    orr_omp_count_wait(&self->children, "tasks that it has created");
}
