/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/combined.c - combined workers, and parallel tasks as policies of
 * applications make them. Any thread.
 */
#include "core/api/combined.h"

#include <errno.h>

#include "core/api/ctx.h"
#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/job/job.h"
#include "core/sched/gang.h"
#include "core/worker/workers.h"

/* -- which there are -- */

unsigned starpu_combined_worker_get_count(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt ? orr_combined_count(rt) : 0;
}

unsigned starpu_worker_is_combined_worker(int id)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt && id >= 0 && orr_combined_at(rt, (unsigned)id) != NULL;
}

const struct orr_combined *orr_api_combined(const char *call, long id)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    const struct orr_combined *combined =
        id < 0 ? NULL : orr_combined_at(rt, (unsigned)id);

    if (combined)
        return combined;
    orr_log_error("%s: there is no combined worker %ld: there are %u, numbered "
                  "from %u on; starpu_combined_worker_assign_workerid and the "
                  "policies pheft and peager make them",
                  call, id, orr_combined_count(rt), rt->workers->n);
    abort();
}

struct orr_worker *orr_api_first_worker(const char *call, long id)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    const struct orr_combined *combined =
        id < 0 ? NULL : orr_combined_at(rt, (unsigned)id);

    return combined ? &rt->workers->at[combined->members[0]]
                    : orr_api_worker(call, id);
}

unsigned orr_api_ncores(const struct orr_runtime *rt, unsigned id)
{
    const struct orr_combined *combined = orr_combined_at(rt, id);

    return combined ? combined->size : 1;
}

int starpu_combined_worker_assign_workerid(int nworkers, int workerid_array[])
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    if (nworkers <= 0 || !workerid_array)
        return -EINVAL;
    return orr_combined_add(rt, workerid_array, (unsigned)nworkers);
}

int starpu_combined_worker_get_description(int workerid, int *worker_size,
                                           int **combined_workerid)
{
    ORR_QUESTION();
    const struct orr_combined *combined = orr_api_combined(__func__, workerid);

    if (worker_size)
        *worker_size = (int)combined->size;
    if (combined_workerid)
        *combined_workerid = combined->members;
    return 0;
}

/* Each enters the collection of the context that the thread has chosen. */
static void collection_add_combined(unsigned id, void *arg)
{
    struct orr_sched *sched = arg;
    struct starpu_worker_collection *workers = &sched->said->workers;

    (void)workers->add(workers, (int)id);
}

void starpu_sched_find_all_worker_combinations(void)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    unsigned ctx = starpu_sched_ctx_get_context();

    orr_combinations_find(
        rt, collection_add_combined,
        orr_api_sched(__func__, ctx == STARPU_NMAX_SCHED_CTXS ? 0 : ctx));
}

/* -- which task on which -- */

/* Of a task that was not submitted only the codelet is known. */
static unsigned able_of_codelet(const struct orr_runtime *rt,
                                const struct starpu_task *task,
                                const struct orr_combined *combined)
{
    enum starpu_worker_archtype type =
        rt->workers->classes[combined->class_id].type;

    if (task->cl->type == STARPU_SEQ ||
        (int)combined->size > task->cl->max_parallelism)
        return 0;
    return orr_codelet_functions(task->cl, type);
}

int starpu_combined_worker_can_execute_task(unsigned workerid,
                                            struct starpu_task *task,
                                            unsigned nimpl)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    const struct orr_combined *combined;
    struct orr_job *job = orr_job_of(task);
    unsigned bits = 0;

    if (workerid < rt->workers->n)
        return starpu_worker_can_execute_task(workerid, task, nimpl);
    combined = orr_api_combined(__func__, workerid);
    if (job && orr_job_state(job) != ORR_JOB_NEW)
        bits = orr_job_able_combined(rt, job, orr_job_costs(rt, job), combined);
    else if (task->cl)
        bits = able_of_codelet(rt, task, combined);
    return nimpl < STARPU_MAXIMPLEMENTATIONS && (bits >> nimpl & 1);
}

/* -- inside of one -- */

/* The gang that executes the present task, NULL: one worker does. */
static const struct orr_gang *present_gang(void)
{
    const struct orr_worker *worker = orr_self ? orr_self->worker : NULL;

    return worker && worker->gang && orr_self->job == worker->gang->job
               ? worker->gang
               : NULL;
}

int starpu_combined_worker_get_id(void)
{
    const struct orr_gang *gang = present_gang();

    return gang && gang->combined >= 0 ? gang->combined
                                       : starpu_worker_get_id();
}

int starpu_combined_worker_get_size(void)
{
    const struct orr_gang *gang = present_gang();

    if (gang)
        return gang->job->ncores;
    return orr_self && orr_self->worker ? 1 : -1;
}

int starpu_combined_worker_get_rank(void)
{
    const struct orr_gang *gang = present_gang();

    if (gang)
        return (int)orr_gang_rank(gang, orr_self->worker);
    return orr_self && orr_self->worker ? 0 : -1;
}

/* -- policies of applications -- */

/* From now on starpu_task_dup makes aliases of the task. */
static void make_gang(const char *call, struct starpu_task *task, unsigned size,
                      const struct orr_combined *combined)
{
    struct orr_gang_request request = {.size = size, .combined = combined};
    struct orr_job *job = orr_job_of(task);
    struct orr_runtime *rt = orr_runtime_need(call);

    if (!job || orr_job_state(job) != ORR_JOB_READY) {
        orr_log_error("%s: the task is not ready: only a policy that was given "
                      "it may have several workers execute it",
                      call);
        abort();
    }
    if (orr_job_gang(job))
        orr_gang_unmake(orr_job_gang(job));
    if (size < 2 || orr_gang_new(rt, job, &request))
        return;
    orr_log_error("%s: out of memory", call);
    abort();
}

void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    const struct orr_combined *combined = NULL;

    if (workerid < 0 || (unsigned)workerid >= rt->workers->n)
        combined = orr_api_combined(__func__, workerid);
    make_gang(__func__, task, combined ? combined->size : 1, combined);
}

void starpu_parallel_task_barrier_init_n(struct starpu_task *task,
                                         int worker_size)
{
    make_gang(__func__, task, worker_size > 0 ? (unsigned)worker_size : 1, NULL);
}
