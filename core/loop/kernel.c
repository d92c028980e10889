/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/kernel.c - see kernel.h. Runs in the worker's context; `run`
 * may also be called from the machine's own context when kernels are run on
 * simulated devices.
 */
#include "core/loop/kernel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cost/ask.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/cost/noise.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/lend.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/reduction.h"
#include "core/device/clock.h"
#include "core/device/driver.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/job/nest.h"
#include "core/job/watched.h"
#include "core/layouts/convert.h"
#include "core/loop/energy.h"
#include "core/sched/gang.h"
#include "core/task/end.h"
#include "core/worker/workers.h"
#include "perfmodel/arch.h"
#include "perfmodel/model.h"

/* How often a kernel that was refused is started again. */
enum { MAX_TRIES = 2 };
/* Of a worker that has executed so many kernels, of so many µs each at most, single ones
 * need not be measured to know how long it was busy. */
enum { MANY = 1000, SHORT_US = 10 };

/* Which functions the machine executes for the worker's kernels. A codelet that asks to
 * be executed on simulated devices has its function for these called. */
static inline orr_kernel_func_t function_of(const struct orr_worker *worker,
                                            const struct starpu_codelet *cl,
                                            unsigned implementation)
{
    const struct orr_machine *machine = worker->runtime->machine;
    orr_kernel_func_t function =
        orr_codelet_function(cl, worker->desc->type, implementation);

    if (machine->runs_host_functions && !(cl->flags & ORR_EXECUTES && function))
        function = orr_codelet_host_function(cl, implementation);
    return function;
}

/* Where kernels are executed: calls the init codelet's function, which gives the
 * worker's partial its first value. */
static void begin_partial(struct orr_worker *worker, struct orr_access *access)
{
    const struct orr_handle *handle = access->handle;
    const struct starpu_codelet *cl = handle->reduction->init;
    orr_kernel_func_t function = function_of(worker, cl, 0);
    void *partial =
        orr_access_datum(access)->replicates[worker->desc->node].interface;

    if (!function) {
        orr_log_error("the init codelet `%s' of %s has no function for %s "
                      "workers, which begins a worker's part of the "
                      "reduction: give it one for all sorts of workers that "
                      "contribute%s",
                      cl->name ? cl->name : "?", orr_handle_label(handle).text,
                      worker->runtime->machine->runs_host_functions
                          ? "CPU"
                          : orr_device_kind(worker->desc->type)->name,
                      worker->runtime->machine->runs_host_functions
                          ? ", and for CPUs, whose functions are run where "
                            "devices are simulated"
                          : "");
        orr_runtime_fail(worker->runtime);
    }
    orr_self->frozen++;
    function(&partial, handle->reduction->init_arg);
    orr_self->frozen--;
}

/* What makes the form of data that the worker wants. */
static orr_kernel_func_t conversion_of(const struct starpu_codelet *cl,
                                       const struct orr_worker *worker)
{
    return function_of(worker, cl, 0);
}

/* The kernel's own time is without it; simulated, the kernel was made longer. */
static void convert(struct orr_worker *worker, struct orr_job *job)
{
    const struct orr_converter converter = {conversion_of, worker};
    struct orr_runtime *rt = worker->runtime;
    double before = orr_thread_time_us();
    double us = orr_job_convert(rt, job, &converter);

    if (rt->machine->kernels_take_their_length)
        return;
    job->kernel->away += us;
    job->kernel->thread_away += orr_thread_time_us() - before;
}

/* What is to be done before the function of a kernel is called, once. Always
 * inline, as in loop.c. */
static inline __attribute__((always_inline)) void
make_ready(struct orr_worker *worker, struct orr_job *job)
{
    for (unsigned i = 0; job->modes & STARPU_REDUX && i < job->naccesses; i++)
        if (job->accesses[i].begins)
            begin_partial(worker, &job->accesses[i]);
    if (job->converts)
        convert(worker, job);
}

static void run(struct orr_kernel *kernel);

struct orr_kernel *orr_kernel_take(struct orr_worker *worker,
                                   struct orr_job *job)
{
    struct orr_kernel *kernel = worker->kernels;

    if (kernel) {
        worker->kernels = kernel->machine_link[0];
    } else {
        kernel = calloc(1, sizeof(*kernel));
        if (!kernel) {
            orr_log_error("out of memory for the kernel of task `%s': the "
                          "program ends",
                          orr_job_name(job));
            orr_runtime_fail(worker->runtime);
        }
        kernel->worker = worker->id;
        kernel->runtime = worker->runtime;
        kernel->post.mailbox =
            &worker->runtime->nodes->at[worker->desc->node].mailbox;
    }
    kernel->error = kernel->found = 0;
    kernel->start = kernel->end = kernel->away = kernel->thread_away = 0;
    kernel->waits = NULL;
    kernel->job = job;
    job->kernel = kernel;
    return kernel;
}

void orr_kernels_free(struct orr_worker *worker)
{
    while (worker->kernels) {
        struct orr_kernel *kernel = worker->kernels;

        worker->kernels = kernel->machine_link[0];
        free(kernel);
    }
}

/* The function has returned. */
static inline void end_nest(struct orr_runtime *rt, const struct orr_job *job)
{
    struct orr_nest *nest = orr_job_inner(job);

    if (!nest)
        return;
    orr_lend_finish(rt, nest);
    orr_nest_end(nest);
}

void orr_kernel_leave_nest(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_job_rare *rare = orr_job_rare(job);

    if (!rare)
        return;
    end_nest(rt, job);
    orr_nest_unref(rare->nest);
    rare->nest = NULL;
    orr_nest_unref(rare->around);
    rare->around = NULL;
}

static inline void run_job(struct orr_kernel *kernel, struct orr_job *job,
                           bool alone)
{
    struct starpu_task *task = job->task;
    struct orr_context *self = orr_self;
    struct orr_runtime *outer_runtime = self->runtime;
    struct orr_job *outer_job = self->job;
    struct orr_worker *outer_worker = self->worker;
    struct orr_worker *worker = &kernel->runtime->workers->at[kernel->worker];
    orr_kernel_func_t function =
        function_of(worker, task->cl, job->implementation);

    if (!function) {
        orr_log_error("`%s' has no CPU function, which ORRERY_SIM_KERNELS=run "
                      "needs: add cpu_funcs to the codelet, or leave "
                      "ORRERY_SIM_KERNELS unset to skip kernels",
                      orr_job_name(job));
        abort();
    }
    self->runtime = kernel->runtime;
    self->job = job;
    if (outer_worker != worker) /* a context that wakes it late may read that */
        self->worker = worker;
    if (alone)
        make_ready(worker, job);
    self->frozen++;
    self->suspends_at =
        worker->may_suspend && !orr_job_gang(job) ? self->frozen : 0;
    if (!kernel->runtime->workers->disables_kernels)
        function(task->dyn_interfaces ? task->dyn_interfaces : task->interfaces,
                 task->cl_arg);
    end_nest(kernel->runtime, job);
    if (alone)
        orr_job_called(job);
    self->suspends_at = 0;
    self->frozen--;
    self->runtime = outer_runtime;
    self->job = outer_job;
    if (outer_worker != worker)
        self->worker = outer_worker;
}

static void run(struct orr_kernel *kernel)
{
    run_job(kernel, kernel->job, true);
}

/* --- jobs that went past the policy --- */

void orr_kernel_run_direct(struct orr_runtime *rt, struct orr_worker *worker,
                           struct orr_job *job)
{
    struct starpu_task *task = job->task;
    struct orr_context *self = orr_self;

    /* The first time; its data are there at once, but where memory was refused. */
    if (orr_job_state(job) == ORR_JOB_READY) {
        job->worker = (int)worker->id;
        task->workerid = worker->id;
        orr_job_set_state(job, ORR_JOB_FETCHING);
        if (!orr_job_fetch(rt, job, worker->desc->node))
            return;
    }
    orr_job_take_data(rt, job, worker->desc->node);
    orr_job_set_state(job, ORR_JOB_RUNNING);
    task->status = STARPU_TASK_RUNNING;
    (void)orr_kernel_take(worker, job); /* suspension looks at it */
    orr_worker_set_state(worker, ORR_WORKER_EXECUTING);
    self->job = job;
    self->suspends_at = ++self->frozen;
    orr_codelet_host_function(task->cl, 0)(task->interfaces, task->cl_arg);
    end_nest(rt, job);
    self->suspends_at = 0;
    self->frozen--;
    self->job = NULL;
    orr_kernel_give(worker, job->kernel);
    atomic_store_explicit(&worker->ntasks, worker->ntasks + 1,
                          memory_order_relaxed);
    orr_kernel_count_codelet(worker, task->cl);
    /* Its end follows, unless that waits for others. */
    if (orr_job_ends_later(job))
        orr_job_give_back(rt, job);
    orr_count_ran(rt, job->sched_ctx, task->flops);
    orr_job_end(rt, job);
}

/* --- of several workers --- */

/* The gang's kernel by one of them. */
static void run_in_gang(struct orr_kernel *kernel)
{
    const struct orr_job *job = kernel->job;

    run_job(kernel, orr_job_gang(job)->job, false);
}

void orr_kernel_begin_shared(struct orr_worker *worker, struct orr_job *job)
{
    if (job->kernel->run && worker->runtime->machine->runs_kernels)
        make_ready(worker, job);
    if (job->kernel->run)
        job->kernel->run = run_in_gang;
}

void orr_kernel_prepare_share(struct orr_runtime *rt, struct orr_worker *worker,
                              struct orr_job *alias)
{
    const struct orr_job *job = orr_job_gang(alias)->job;
    const struct orr_kernel *kernel = job->kernel;
    struct orr_kernel *share = orr_kernel_take(worker, alias);

    share->async = false;
    share->duration = kernel->duration;
    share->bytes = kernel->bytes;
    share->id = kernel->id;
    share->run = kernel->run;
    share->done = NULL;
    share->timed = share->coarse = false;
    /* The first member has executed it as it was prepared. */
    if (rt->machine->kernels_take_their_length &&
        job->task->cl->flags & ORR_EXECUTES)
        run_in_gang(share);
}

/* --- contributions to reductions --- */

void orr_kernel_begin_partials(struct orr_runtime *rt,
                               struct orr_worker *worker, struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        /* The partial is this worker's alone: what is read here stands. */
        if (!(access->mode & STARPU_REDUX) || access->duplicate ||
            orr_access_datum(access)->valid)
            continue;
        access->begins = rt->machine->runs_kernels;
        if (!rt->machine->runs_kernels &&
            access->handle->reduction->init->flags & ORR_EXECUTES)
            begin_partial(worker, access);
        orr_handle_count_partial(access->handle);
    }
}

/* A codelet that is executed although the machine is simulated: at once, in
 * no time or in the time it really took. */
static double execute_now(struct orr_job *job)
{
    double before = orr_thread_time_us();

    job->kernel->start = orr_exec_now(orr_self->exec);
    run(job->kernel);
    job->kernel->run = NULL;
    if (job->task->cl->flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT)
        return orr_thread_time_us() - before - job->kernel->thread_away;
    return 0;
}

/* Bytes of a worker's share of the job's data, read and written once each. */
static double job_bytes_moved(const struct orr_job *job)
{
    double bytes = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        double size = (double)access->handle->size;

        if (!access->duplicate && !(access->mode & STARPU_SCRATCH))
            bytes += size * (!!(access->mode & STARPU_R) +
                             !!(access->mode & (STARPU_W | STARPU_REDUX)));
    }
    return bytes / (job->ncores > 1 ? job->ncores : 1);
}

/* Whether the application says how long this very kernel takes. */
static bool takes_own_time(struct orr_runtime *rt,
                           const struct orr_worker *worker, struct orr_job *job)
{
    double us = NAN;

    if (!rt->estimates->kernel_us || job->task->cl->flags & ORR_EXECUTES)
        return false;
    orr_self->frozen++;
    us = rt->estimates->kernel_us(job->task, worker->desc->type,
                                  job->implementation);
    orr_self->frozen--;
    if (!(us >= 0))
        return false;
    job->kernel->duration = us;
    return true;
}

/* Whether nobody is told when this very kernel starts and ends, nor learns from it. What
 * is left is how long the worker was busy: of many short kernels, each of which is 0 or a
 * tick of a coarse clock, that is the same in the end, and reading the exact clock twice
 * would take as long as the rest of what an empty task needs. */
static bool may_be_coarse(struct orr_runtime *rt,
                          const struct orr_worker *worker,
                          const struct orr_job *job)
{
    unsigned long n = worker->ntasks; /* its own */

    return n >= MANY && worker->busy_us < (double)n * SHORT_US &&
           !orr_job_is_modelled(job) && !job->task->cl->energy_model &&
           !orr_job_gang(job) && !orr_tasks_are_watched(rt);
}

void orr_kernel_prepare(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job, bool async,
                        void (*done)(struct orr_kernel *))
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);
    struct orr_kernel *kernel = job->kernel;
    double length = job->ncores > 1
                        ? orr_job_length(rt, job, worker->class_id).us
                        : orr_cost_length(row, worker->class_id,
                                          job->implementation);

    kernel->async = async;
    kernel->ntries = 0;
    kernel->duration = length;
    kernel->id = job->id;
    kernel->run = run;
    kernel->done = done;
    kernel->lost = 0;
    kernel->timed = !rt->machine->kernels_take_their_length &&
                    orr_job_is_modelled(job) && job->ncores <= 1 &&
                    orr_cost_is_wanted(worker, job);
    kernel->coarse = false;
    if (!rt->machine->kernels_take_their_length) {
        kernel->coarse = may_be_coarse(rt, worker, job);
        return;
    }
    if (rt->exec->one_thread)
        orr_job_look_behind(job);
    kernel->bytes = orr_device_kind(worker->desc->type)->is_processor
                        ? job_bytes_moved(job)
                        : 0;
    /* The row has only what the first worker of each class takes. */
    if (row->per_task && job->task->cl->model->type == STARPU_PER_WORKER) {
        orr_self->frozen++;
        length = kernel->duration =
            orr_model_ask_worker(rt, job->task->cl->model, job->task,
                                 worker->id, job->implementation);
        orr_self->frozen--;
    }
    kernel->recorded = takes_own_time(rt, worker, job);
    if (job->task->cl->flags & ORR_EXECUTES)
        kernel->duration = execute_now(job);
    else if (kernel->recorded)
        ;
    else if (!orr_cost_is_known(row, worker->class_id, job->implementation,
                                length))
        orr_kernel_missing(rt, job);
    /* It takes longer or shorter than expected: ORRERY_SIM_NOISE. */
    if (rt->estimates->noise.on && !kernel->recorded &&
        !(job->task->cl->flags & ORR_EXECUTES)) {
        struct orr_noise_source *source =
            orr_cost_noise(rt, row, worker->class_id, job->implementation);

        if (source)
            kernel->duration = orr_noise_length(&rt->estimates->noise, source,
                                                job->id, kernel->duration);
    }
    if (job->converts)
        kernel->duration += orr_job_conversion_us(rt, job, worker->class_id);
    if (job->converts && !rt->machine->runs_kernels)
        convert(worker, job);
}

int orr_kernel_start(struct orr_runtime *rt, struct orr_kernel *kernel)
{
    int ended = orr_machine_kernel_start(rt->machine, kernel);

    if (ended && orr_kernel_has_failed(kernel) && orr_kernel_again(kernel))
        return 0;
    return ended;
}

bool orr_kernel_again(struct orr_kernel *kernel)
{
    const struct orr_job *job = kernel->job;
    struct orr_runtime *rt = kernel->runtime;
    const struct orr_worker_desc *worker = rt->workers->at[kernel->worker].desc;

    while (kernel->error) {
        bool may = kernel->error == -EAGAIN && kernel->ntries++ < MAX_TRIES;

        orr_log_warning("%s: the kernel of task `%s' (number %llu) on %s "
                        "failed: %s%s",
                        worker->driver->ops->name, orr_job_name(job),
                        (unsigned long long)job->id, worker->name,
                        kernel->error == -ENODEV   ? "the device is lost"
                        : kernel->error == -EAGAIN ? "it was not begun"
                                                   : strerror(-kernel->error),
                        may ? "; it is started once more" : "");
        if (!may)
            return false;
        kernel->error = 0;
        if (!orr_machine_kernel_start(rt->machine, kernel))
            return true;
    }
    return false;
}

void orr_kernel_measure(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job)
{
    const struct starpu_codelet *cl = job->task->cl;

    if (rt->machine->models_energy) {
        if (cl->energy_model)
            orr_energy_account(rt, worker, job);
    } else if (orr_job_is_modelled(job) && job->ncores > 1) {
        if (!job->task->failed)
            orr_cost_measure_wide(rt, worker, job,
                                  job->kernel->end - job->kernel->start);
    } else if (orr_cost_is_wanted(worker, job)) {
        const struct orr_kernel *kernel = job->kernel;
        double us = orr_kernel_length(kernel) - kernel->lost;

        orr_cost_ran(rt, worker, job, job->task->failed ? (double)NAN : us);
        if (!job->task->failed)
            orr_cost_measure(rt, worker, job, us, kernel->lost > 0);
    }
}
