/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched_ctx_parallel.c - the processors of a scheduling context for
 * threads of the application, or of a parallel kernel: which ones, binding to
 * them, keeping their workers away. Any thread.
 */
#include <stdlib.h>

#include "core/api/bind.h"
#include "core/api/ctx.h"
#include "core/device/kind.h"

#define NMAX STARPU_NMAX_SCHED_CTXS

/* The workers as they are now. */
static int *copy_workers(const char *call, const struct orr_sched *sched,
                         unsigned *ret_n)
{
    unsigned all, n = 0;
    int *ids;

    all = starpu_sched_ctx_get_workers_list(sched->id, &ids);
    if (!ids && starpu_sched_ctx_get_nworkers(sched->id) > 0) {
        orr_log_error("%s: out of memory", call);
        abort();
    }
    /* Combined workers are these again. */
    for (unsigned i = 0; i < all; i++)
        if ((unsigned)ids[i] < sched->runtime->nworkers)
            ids[n++] = ids[i];
    *ret_n = n;
    return ids;
}

void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param,
                                          unsigned sched_ctx_id)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    unsigned n;
    int *ids = copy_workers(__func__, sched, &n);
    void *result;

    orr_pay();
    orr_sched_block(sched->runtime, ids, n);
    result = func(param);
    orr_sched_unblock(sched->runtime, ids, n);
    free(ids);
    return result;
}

/* A worker that is bound to none, as simulated ones are, has its own number. */
static int processor_of(const struct orr_worker *worker)
{
    int position = orr_api_worker_position(worker->id);

    return position < 0 ? worker->desc->devid : position;
}

void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids,
                                           int *ncpuids)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    struct orr_runtime *rt = sched->runtime;
    int self = starpu_worker_get_id();
    bool all = self < 0 || atomic_load(&sched->master) == self;
    unsigned n;
    int *ids = copy_workers(__func__, sched, &n);

    *ncpuids = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct orr_worker *worker = &rt->workers[ids[i]];

        if (orr_device_kind(worker->desc->type)->is_processor &&
            (all || ids[i] == self))
            ids[(*ncpuids)++] = processor_of(worker);
    }
    *cpuids = ids;
}

void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid)
{
    if (!orr_config_bool(&ORR_API_RUNTIME()->config, ORR_CFG_WORKERS_NOBIND))
        starpu_bind_thread_on_cpu((int)cpuid);
}

int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id)
{
    const struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    const struct starpu_worker_collection *workers = &sched->said->workers;

    if (sched->has_policy || !sched->said->awake)
        return -1;
    for (unsigned i = 0; i < workers->nworkers; i++)
        if (workers->workerids[i] == starpu_worker_get_id())
            return (int)i;
    return -1;
}

/* Who changes contexts may ask in a hook of the policy. */
static unsigned child_of(struct orr_worker *worker, unsigned parent)
{
    struct orr_runtime *rt = worker->runtime;
    unsigned id;

    if (orr_self->in_policy)
        return orr_sched_ctx_child(rt, worker->id, parent);
    orr_sched_ctx_lock(rt);
    id = orr_sched_ctx_child(rt, worker->id, parent);
    orr_sched_ctx_unlock(rt);
    return id;
}

unsigned starpu_sched_ctx_master_get_context(int masterid)
{
    return child_of(orr_api_worker(__func__, masterid), NMAX);
}

unsigned
starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid,
                                                unsigned sched_ctx_id)
{
    (void)orr_api_sched(__func__, sched_ctx_id);
    return child_of(orr_api_worker(__func__, workerid), sched_ctx_id);
}
