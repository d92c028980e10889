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
    if (parent)
        task->icvs = parent->icvs;
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
        orr_slab_put(task->omp->tasks, task);
        task = parent;
    }
}

/* -- execution -- */

static void omp_task_run(struct orr_omp_task *task, void **buffers, void *arg)
{
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
    omp_task_run(orr_self->job->task->omp_task, buffers, arg);
}

/* The same for a task that could have been executed where it was met: measures whether
 * such tasks should be. Time for which the task waits counts, too. */
static void timed_body(void *buffers[], void *arg)
{
    struct starpu_task *public = orr_self->job->task;
    struct orr_omp_codelet *codelet = orr_omp_codelet_of(public->cl);
    double begun_us = orr_exec_now(orr_self->exec);

    omp_task_run(public->omp_task, buffers, arg);
    orr_omp_codelet_note_length(codelet,
                                orr_exec_now(orr_self->exec) - begun_us, 1);
}

/* The caller executes the task at once. */
static void
omp_task_run_in_place(struct orr_omp_task *caller, struct orr_omp_task *task,
                      const struct starpu_omp_task_region_attr *attr, void *arg)
{
    task->in_place = true;
    task->nested = caller->nested + 1;
    task->thread = orr_omp_thread_num(caller);
    task->in_row = caller->in_row;
    (void)orr_omp_switch(task);
    omp_task_run(task, NULL, arg);
    (void)orr_omp_switch(caller);
    caller->in_row = task->in_row;
    /* Tasks that it has created may still run, and need its parent. (Only then: a write
     * to the caller's counter takes that cache line from other processors.) */
    if (atomic_load_explicit(&task->refs, memory_order_acquire) != 1)
        orr_omp_task_hold_parent(task);
    orr_omp_task_unref(task);
    if (attr->cl_arg_free)
        free(attr->cl_arg);
}

/* -- what waits for it -- */

static void omp_task_count(struct orr_omp_task *task)
{
    orr_omp_count_up(&task->parent->children);
    if (task->counts_in)
        orr_omp_count_up(&task->counts_in->unfinished);
    orr_omp_meeting_expect(&task->team->meeting);
}

/* The last thing that is done for the task: after that its team may have ended. */
static void omp_task_ended(void *arg)
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
                               const struct starpu_omp_task_region_attr *attr)
{
    int n = attr->cl.nbuffers;

    if (n > STARPU_NMAXBUFS) {
        orr_log_error("starpu_omp_task_region: %d handles are more than "
                      "STARPU_NMAXBUFS (%d)",
                      n, STARPU_NMAXBUFS);
        abort();
    }
    for (int i = 0; i < n; i++)
        task->handles[i] = attr->handles[i];
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
static bool has_plain_data(const struct starpu_task *task)
{
    for (int i = 0; i < task->cl->nbuffers; i++) {
        const struct orr_handle *handle = orr_handle_of(task->handles[i]);
        unsigned mode = task->cl->modes[i];

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
static bool is_direct(const struct starpu_task *public,
                      const struct orr_omp_team *team, bool plain, bool waits)
{
    return plain && !waits && !team->some && orr_direct_may(team->omp->rt) &&
           has_plain_data(public);
}

/* The threads have enough to do. */
static bool waits_enough(const struct orr_omp_team *team)
{
    return orr_omp_meeting_tasks(&team->meeting) >
           (unsigned long)ENOUGH * team->nthreads;
}

static void omp_task_submit(struct orr_omp_task *task,
                            struct orr_omp_codelet *codelet,
                            const struct starpu_omp_task_region_attr *attr,
                            void *arg, bool waits)
{
    struct starpu_task *public = orr_task_new(task->omp->rt);
    struct starpu_codelet *cl = &codelet->cl;
    const struct orr_omp_team *team = task->team;
    int rc;

    if (!public)
        orr_omp_no_memory("starpu_omp_task_region");
    public->cl = cl;
    public->omp_task = task;
    public->cl_arg = arg;
    public->cl_arg_size = attr->cl_arg_size;
    public->cl_arg_free = attr->cl_arg_free && arg == attr->cl_arg;
    public->priority = attr->priority;
    public->callback_func = omp_task_ended;
    public->callback_arg = task;
    public->synchronous = waits;
    omp_task_give_data(public, attr);
    orr_omp_task_hold_parent(task);
    omp_task_count(task);
    if (is_direct(public, team, codelet->plain, waits)) {
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
    if (parent->in_row.begun_us > 0 && parent->in_row.call == codelet->function)
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
    parent->in_row.left = IN_ROW - 1;
    return true;
}

/* Whether the task belongs to such a row that is under way. */
static bool goes_on_in_row(struct orr_omp_task *parent, orr_kernel_func_t call)
{
    if (parent->in_row.left == 0 || parent->in_row.call != call ||
        parent->nested >= MOST_NESTED)
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

void orr_omp_task_create(struct orr_omp_task *parent,
                         const struct starpu_omp_task_region_attr *attr,
                         struct orr_omp_task *task, void *arg)
{
    bool waits = is_included(parent) || !attr->if_clause;
    orr_kernel_func_t call = called_function(&attr->cl);
    bool in_row = call && !devices_may_take(task->omp, &attr->cl);
    struct orr_omp_codelet *codelet;

    if (waits && !orr_may_block("starpu_omp_task_region"))
        abort();
    task->final = attr->final_clause || parent->final;
    task->group = task->counts_in =
        attr->nogroup_clause && !attr->is_loop ? NULL : parent->group;
    if ((call && waits) || (in_row && goes_on_in_row(parent, call))) {
        task->function = call;
        omp_task_run_in_place(parent, task, attr, arg);
        return;
    }
    codelet = orr_omp_codelet(task->omp, &attr->cl,
                              call ? timed_body : omp_task_body);
    if (!codelet)
        orr_omp_no_memory("starpu_omp_task_region");
    task->function = codelet->function;
    if (in_row && begins_row(parent, codelet, call)) {
        omp_task_run_in_place(parent, task, attr, arg);
        return;
    }
    omp_task_submit(task, codelet, attr, arg, waits);
    if (!waits && !call)
        let_others_go_first(parent->team);
}

void starpu_omp_task_region(const struct starpu_omp_task_region_attr *attr)
{
    struct orr_omp_task *parent = orr_omp_self_need(__func__);
    struct orr_omp_task *task = orr_omp_task_new(parent, parent->team);

    if (!task)
        orr_omp_no_memory(__func__);
    orr_omp_task_create(parent, attr, task, attr->cl_arg);
}

void starpu_omp_taskwait(void)
{
    struct orr_omp_task *self = orr_omp_self_need(__func__);

    if (!orr_may_block(__func__))
        abort();
    orr_omp_count_wait(&self->children, "tasks that it has created");
}
