/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/team.c - parallel regions. Thread 0 starts the others and executes the
 * region like them; at its end it waits for them, and for all tasks of the team.
 *
 * Main, which is no worker, is thread 0 in the place of one (core/loop/borrow.h); where
 * that has something to do, or tasks are watched, thread 0 is a task, whose kernel main
 * executes.
 *
 * A region with data is a task that has them, and is thread 0: so its threads use
 * them at once, and while thread 0 waits they are lent to tasks inside that name the
 * same handles (core/data/lend.c).
 */
#include <limits.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/job/inside.h"
#include "core/job/job.h"
#include "core/job/watched.h"
#include "core/loop/kernel.h"
#include "core/omp/entries.h"
#include "core/omp/omp.h"
#include "core/omp/self.h"
#include "core/omp/share.h"
#include "core/worker/workers.h"

/* -- teams -- */

static void add_worker(struct orr_omp_team *team, unsigned worker)
{
    team->workers[worker / 32] |= 1u << worker % 32;
}

/* A team with fewer threads than there are processors has its tasks run on its threads'
 * processors, and on devices. So no two tasks that run at the same time have the same
 * thread number. */
static void choose_workers(struct orr_omp_team *team)
{
    const struct orr_omp *omp = team->omp;

    team->some = team->nthreads < omp->nprocs;
    for (unsigned i = 0; i < team->nthreads && team->some; i++)
        add_worker(team, omp->workers[(team->base + i) % omp->nprocs]);
    for (unsigned w = 0; w < omp->rt->workers->n && team->some; w++)
        if (omp->proc_of[w] >= omp->nprocs)
            add_worker(team, w);
}

/* The caller's processor; 0 for a thread that is no processor's worker. */
static unsigned own_processor(const struct orr_omp *omp)
{
    const struct orr_worker *worker = orr_self->worker;

    return worker && omp->proc_of[worker->id] < omp->nprocs
               ? omp->proc_of[worker->id]
               : 0;
}

void orr_omp_team_init(struct orr_omp_team *team, struct orr_omp *omp,
                       struct orr_omp_task *caller, unsigned n)
{
    *team = (struct orr_omp_team){.omp = omp, .nthreads = n};
    if (caller) {
        team->outer = caller->team;
        team->parent_thread = orr_omp_thread_num(caller);
        team->level = team->outer->level + 1;
        team->active = team->outer->active + (n > 1);
    }
    team->base = own_processor(omp);
    orr_omp_meeting_init(&team->meeting, n);
    orr_lock_init(&team->lock, ORR_RANK_RUNTIME);
    orr_omp_handles_init(&team->handles);
    choose_workers(team);
    /* Spinning pays only if each thread has a processor: then the other threads are
     * about to come. */
    if (omp->env.looks && n <= omp->nprocs && n <= omp->rt->exec->nprocessors)
        team->spins = ORR_OMP_SPINS;
}

void orr_omp_team_done(struct orr_omp_team *team)
{
    orr_omp_shares_free(team);
    orr_omp_handles_done(&team->handles);
}

void orr_omp_meet(struct orr_omp_task *thread)
{
    struct orr_omp_team *team = thread->team;

    orr_omp_meeting_wait(&team->meeting, team->spins);
}

/* -- threads -- */

/* The value for a level that the list names, else that of the level outside. */
static void icvs_inherit(const struct orr_omp *omp, struct orr_omp_icvs *icvs)
{
    if (icvs->nthreads_at + 1 < omp->env.nthreads_count)
        icvs->nthreads = omp->env.nthreads[++icvs->nthreads_at];
}

static struct orr_omp_task *new_thread(struct orr_omp_team *team,
                                       struct orr_omp_task *caller, unsigned i)
{
    struct orr_omp_task *thread = orr_omp_task_new(caller, team);

    if (!thread)
        orr_omp_no_memory("starpu_omp_parallel_region");
    orr_omp_task_hold_parent(thread);
    thread->implicit = true;
    thread->thread = i;
    icvs_inherit(team->omp, &thread->icvs);
    return thread;
}

/* A task of the runtime for the thread, on its processor. */
static struct starpu_task *team_make_thread_task(struct orr_omp_task *thread,
                                                 struct starpu_codelet *cl)
{
    const struct orr_omp_team *team = thread->team;
    const struct orr_omp *omp = team->omp;
    struct starpu_task *task = starpu_task_create();

    if (!task)
        orr_omp_no_memory("starpu_omp_parallel_region");
    task->cl = cl;
    task->name = team->name;
    task->omp_task = thread;
    task->execute_on_a_specific_worker = 1;
    task->workerid = omp->workers[(team->base + thread->thread) % omp->nprocs];
    return task;
}

static void team_submit_task(struct starpu_task *task)
{
    int rc = starpu_task_submit(task);

    if (rc == 0)
        return;
    orr_log_error("starpu_omp_parallel_region: a thread cannot be started "
                  "(%d): is there a processor among the workers?",
                  rc);
    abort();
}

/* The last thing that a thread other than thread 0 does. Once it has left the meeting
 * the team may have ended. */
static void end_thread(struct orr_omp_task *thread)
{
    struct orr_omp_team *team = thread->team;

    if (team->omp->env.cancellation)
        orr_omp_meet_at_end(thread);
    orr_self->job->task->omp_task = NULL;
    orr_omp_task_unref(thread);
    orr_omp_meeting_leave(&team->meeting);
}

/* The thread of main's next region that this worker is to be, if the region begins in a
 * moment; NULL: it does not. */
static struct orr_omp_task *next_thread(struct orr_omp *omp)
{
    struct orr_omp_task *thread = orr_omp_place_look(
        &omp->places[omp->proc_of[orr_self->worker->id]]);

    if (thread) {
        orr_job_enter_nest(omp->rt, orr_self->job, thread->team->nest);
        orr_self->job->task->omp_task = thread;
    }
    return thread;
}

void orr_omp_team_run_other(void *buffers[], void *arg)
{
    struct orr_omp_task *thread = orr_self->job->task->omp_task;

    (void)buffers;
    (void)arg;
    while (thread) {
        struct orr_omp_team *team = thread->team;
        struct orr_omp *omp = team->omp;
        bool looks = team->nest != NULL;

        team->function(team->buffers, team->arg);
        if (looks)
            orr_kernel_leave_nest(omp->rt, orr_self->job);
        end_thread(thread);
        thread = looks ? next_thread(omp) : NULL;
    }
}

/* Starts the thread: in a task that looks for one on its processor, else as a task of
 * its own. */
static void team_start_thread(struct orr_omp_team *team,
                              struct orr_omp_task *thread)
{
    struct orr_omp *omp = team->omp;
    unsigned proc = (team->base + thread->thread) % omp->nprocs;

    if (!team->nest || !orr_omp_place_give(&omp->places[proc], thread))
        team_submit_task(team_make_thread_task(thread, &omp->thread));
}

/* Thread 0, in the calling context, from the first thread's start to the last
 * one's end. */
static void team_run(struct orr_omp_team *team, struct orr_omp_task *thread,
                     void **buffers)
{
    team->buffers = buffers;
    for (unsigned i = 1; i < team->nthreads; i++)
        team_start_thread(team, new_thread(team, thread->parent, i));
    team->function(buffers, team->arg);
    if (team->omp->env.cancellation)
        orr_omp_meet_at_end(thread);
    orr_omp_meet(thread);
    orr_omp_handles_unregister(&team->handles);
}

/* Main waits for the task that is its region's thread 0: until it is in the place of that
 * task's kernel, or the task has ended. */
struct first_thread {
    struct orr_waiter main; /* first */
    void **buffers;
    bool begun;
};

static void tell_main(void *arg)
{
    struct first_thread *first = arg;

    first->begun = true;
    orr_waiter_release(&first->main);
}

static void tell_main_of_end(void *arg)
{
    struct first_thread *first = arg;

    if (!first->begun)
        orr_waiter_release(&first->main);
}

static void run_first(struct orr_omp_task *thread, void **buffers)
{
    struct orr_job *job = orr_self->job;

    team_run(thread->team, thread, buffers);
    job->task->omp_task = NULL;
    orr_omp_task_unref(thread);
}

/* Main executes it in the kernel's place, if that is possible. */
void orr_omp_team_run_first(void *buffers[], void *arg)
{
    struct orr_omp_task *thread = orr_self->job->task->omp_task;
    struct orr_omp *omp = thread->omp;
    struct first_thread *first = thread->team->first;

    (void)arg;
    if (first)
        first->buffers = buffers;
    if (!first || !orr_kernel_lend(&omp->first, tell_main, first))
        run_first(thread, buffers);
}

/* -- regions -- */

static void region_give_data(struct starpu_task *task,
                             const struct starpu_omp_parallel_region_attr *attr)
{
    int n = attr->cl.nbuffers;

    if (n > STARPU_NMAXBUFS) {
        orr_log_error("starpu_omp_parallel_region: %d handles are more than "
                      "STARPU_NMAXBUFS (%d)",
                      n, STARPU_NMAXBUFS);
        abort();
    }
    task->nbuffers = n;
    for (int i = 0; i < n; i++) {
        task->handles[i] = attr->handles[i];
        task->modes[i] = STARPU_CODELET_GET_MODE(&attr->cl, i);
    }
}

/* Executes thread 0 as a task, for which the caller waits. */
static void run_as_task(struct orr_omp_team *team, struct orr_omp_task *thread,
                        const struct starpu_omp_parallel_region_attr *attr)
{
    struct starpu_task *task =
        team_make_thread_task(thread, &team->omp->region);

    region_give_data(task, attr);
    task->synchronous = 1;
    team_submit_task(task);
}

/* Whether the calling context is main, outside of tasks, and can take a worker's place. */
static bool is_main(const struct orr_omp *omp)
{
    return orr_self == omp->main && !orr_self->job && omp->first.job;
}

/* The same; main executes the task's kernel where its worker lends it. Programs rely on
 * it: thread 0 has the thread-local variables of the caller. */
static void
run_as_task_of_main(struct orr_omp_team *team, struct orr_omp_task *thread,
                    const struct starpu_omp_parallel_region_attr *attr)
{
    static const struct orr_awaited awaited = {
        .noun = "thread 0 of a parallel region"};
    struct starpu_task *task =
        team_make_thread_task(thread, &team->omp->region);
    struct first_thread first = {.begun = false};

    orr_waiter_init(&first.main);
    team->first = &first;
    region_give_data(task, attr);
    task->detach = 0;
    task->callback_func = tell_main_of_end;
    task->callback_arg = &first;
    team_submit_task(task);
    orr_wait(&first.main, &awaited);
    if (first.begun) {
        orr_kernel_borrow(&team->omp->first);
        run_first(thread, first.buffers);
        orr_kernel_give_back(&team->omp->first);
    }
    if (starpu_task_wait(task) != 0)
        abort(); /* it is not detached, and is waited for once */
}

static void team_run_in_place(struct orr_omp_team *team,
                              struct orr_omp_task *thread)
{
    struct orr_omp_task *caller = orr_omp_switch(thread);

    team_run(team, thread, NULL);
    (void)orr_omp_switch(caller);
    orr_omp_task_unref(thread);
}

/* The worker is nearly always about to be idle: it comes from the region before. False:
 * it is busy for long, or tasks are watched. */
static bool borrow_first(struct orr_omp *omp)
{
    enum { MOST_LOOKS = 20000 };
    bool waits = !omp->rt->exec->one_thread && !orr_tasks_are_watched(omp->rt);

    for (unsigned i = 0; !orr_worker_borrow(&omp->first); i++) {
        if (!waits || i == MOST_LOOKS)
            return false;
        orr_spin();
    }
    return true;
}

/* Runs it on main, which is no worker, in the place of an idle one; false: there is none. */
static bool run_borrowed(struct orr_omp_team *team, struct orr_omp_task *thread)
{
    struct orr_omp *omp = team->omp;

    if (!is_main(omp) || !borrow_first(omp))
        return false;
    omp->first.task.name = team->name;
    if (team->spins > 0)
        team->nest = orr_nest_here(omp->rt);
    team_run_in_place(team, thread);
    omp->first.task.name = NULL;
    orr_worker_give_back(&omp->first);
    return true;
}

static unsigned threads_for(const struct orr_omp_task *caller,
                            const struct starpu_omp_parallel_region_attr *attr)
{
    int n = attr->num_threads > 0 ? attr->num_threads : caller->icvs.nthreads;

    if (!attr->if_clause || (int)caller->team->active >=
                                atomic_load(&caller->omp->max_active_levels))
        return 1;
    return (unsigned)n;
}

/* How many threads a region of n gets beside the one that begins it: all of the program's
 * together are no more than OMP_THREAD_LIMIT; if they are dynamic, no more than there are
 * processors. They are busy then. */
static int take_threads(struct orr_omp *omp, const struct orr_omp_task *caller,
                        int n)
{
    int limit = omp->env.thread_limit > 0 ? omp->env.thread_limit : INT_MAX;
    int busy = atomic_load_explicit(&omp->nbusy, memory_order_relaxed), more;

    if (caller->icvs.dynamic && (int)omp->nprocs < limit)
        limit = (int)omp->nprocs;
    do {
        more = busy < limit ? limit - busy : 0;
        if (more > n - 1)
            more = n - 1;
    } while (more > 0 && !atomic_compare_exchange_weak_explicit(
                             &omp->nbusy, &busy, busy + more,
                             memory_order_relaxed, memory_order_relaxed));
    return more;
}

static void give_threads_back(struct orr_omp *omp, int n)
{
    if (n > 0)
        atomic_fetch_sub_explicit(&omp->nbusy, n, memory_order_relaxed);
}

void starpu_omp_parallel_region(
    const struct starpu_omp_parallel_region_attr *attr)
{
    struct orr_omp_task *caller = orr_omp_self_need(__func__), *thread;
    orr_kernel_func_t function = orr_codelet_host_function(&attr->cl, 0);
    struct orr_omp *omp = caller->omp;
    struct orr_omp_team team;
    int more;

    if (!function) {
        orr_log_error(
            "%s: the region has no body: set cpu_funcs of its codelet",
            __func__);
        abort();
    }
    if (!orr_may_block(__func__))
        abort();
    more = take_threads(omp, caller, (int)threads_for(caller, attr));
    orr_omp_team_init(&team, omp, caller, (unsigned)more + 1);
    team.function = function;
    team.arg = attr->cl_arg;
    team.name = attr->cl.name ? attr->cl.name : "parallel region";
    thread = new_thread(&team, caller, 0);
    if (orr_self->job && attr->cl.nbuffers == 0)
        team_run_in_place(&team, thread);
    else if (attr->cl.nbuffers == 0 && run_borrowed(&team, thread))
        ;
    else if (is_main(omp))
        run_as_task_of_main(&team, thread, attr);
    else
        run_as_task(&team, thread, attr);
    orr_omp_team_done(&team);
    give_threads_back(omp, more);
    if (attr->cl_arg_free)
        free(attr->cl_arg);
}

/* -- a region of one thread, whose body the caller executes itself -- */

void orr_openmp_begin_serial(void)
{
    struct orr_omp_task *caller = orr_omp_self_need("parallel");
    struct orr_omp_team *team = aligned_alloc(_Alignof(struct orr_omp_team), sizeof(*team));

    if (!team)
        orr_omp_no_memory("parallel");
    orr_omp_team_init(team, caller->omp, caller, 1);
    team->name = "parallel region";
    (void)orr_omp_switch(new_thread(team, caller, 0));
}

void orr_openmp_end_serial(void)
{
    struct orr_omp_task *thread = orr_omp_thread_need("the end of parallel");
    struct orr_omp_team *team = thread->team;

    orr_omp_meet(thread);
    orr_omp_handles_unregister(&team->handles);
    (void)orr_omp_switch(thread->parent);
    orr_omp_task_unref(thread);
    orr_omp_team_done(team);
    free(team);
}

/* -- the master, barriers -- */

int starpu_omp_master_inline(void)
{
    return orr_omp_thread_num(orr_omp_self_need(__func__)) == 0;
}

void starpu_omp_master(void (*f)(void *arg), void *arg)
{
    if (starpu_omp_master_inline())
        f(arg);
}

void starpu_omp_barrier(void)
{
    (void)orr_openmp_barrier();
}
