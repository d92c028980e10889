/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/remote.c - see remote.h. */
#include "core/remote.h"

#include <errno.h>

#include "core/base/log.h"
#include "core/base/module.h"
#include "core/data/registry.h"
#include "core/device/simulated.h"
#include "core/exec/program.h"
#include "core/worker/hooks.h"
#include "core/worker/workers.h"
#include "perfmodel/sampling.h"

int orr_remote_register(struct orr_runtime *rt,
                        const struct orr_remote_ops *ops)
{
    if (rt->remote && rt->remote != ops)
        return -EBUSY;
    rt->remote = ops;
    return 0;
}

void orr_remote_forget(struct orr_runtime *rt)
{
    rt->remote = NULL;
}

void orr_remote_number_data(struct orr_runtime *rt, uint64_t last, uint64_t next)
{
    if (last > atomic_load(&rt->data->last_handle))
        atomic_store(&rt->data->last_handle, last);
    rt->data->asked_handle = next;
}

void orr_remote_count_work(const struct orr_runtime *rt, struct orr_remote_work *ret)
{
    *ret = (struct orr_remote_work){0};
    for (unsigned w = 0; w < rt->workers->n; w++) {
        ret->tasks += rt->workers->at[w].ntasks;
        ret->busy_us += rt->workers->at[w].busy_us;
    }
}

bool orr_remote_all_execute(const struct orr_runtime *rt)
{
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (atomic_load_explicit(&rt->workers->at[w].state,
                                 memory_order_relaxed) != ORR_WORKER_EXECUTING)
            return false;
    return true;
}

int orr_remote_tell_idle(struct orr_runtime *rt, unsigned (*idle)(void *arg),
                         void *arg)
{
    return orr_hook_add(&rt->workers->hooks, ORR_HOOK_PROGRESSION, idle, arg);
}

void orr_remote_leave_idle(struct orr_runtime *rt, int number)
{
    (void)orr_hook_remove(&rt->workers->hooks, ORR_HOOK_PROGRESSION, number);
}

const struct orr_cluster_ops *orr_remote_cluster(void)
{
    const void *table;
    struct orr_error err = {""};

    if (orr_module_open("sim", &table, &err) == 0)
        return ((const struct orr_sim_ops *)table)->cluster;
    orr_log_error("%s", err.text);
    return NULL;
}

int orr_remote_read_cluster(const char *name, struct orr_cluster_ranks **ret,
                            struct orr_error *err)
{
    const struct orr_cluster_ops *ops = orr_remote_cluster();
    struct orr_sampling *sampling = NULL;
    int rc;

    if (!ops)
        return orr_fail(err, -ENOENT, "the simulator cannot be loaded");
    rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);
    if (rc)
        return orr_fail(err, rc, "out of memory");
    rc = ops->read(name, orr_getenv("ORRERY_SET"), orr_sampling_dirs(sampling), ret, err);
    orr_sampling_free(sampling);
    return rc;
}

void orr_remote_forget_cluster(struct orr_cluster_ranks *ranks)
{
    orr_remote_cluster()->forget(ranks);
}

int orr_remote_enter_program(int rank, const struct orr_setting *settings, void *place)
{
    struct orr_program *program = orr_program_new(rank, settings, place);

    if (!program)
        return -ENOMEM;
    orr_self->program = program;
    return 0;
}

void orr_remote_leave_program(void)
{
    orr_program_free(orr_self->program);
    orr_self->program = NULL;
}

void *orr_remote_kept(void *(*make)(void), void (*free_kept)(void *kept))
{
    struct orr_program *program = orr_program();
    void *kept = atomic_load(&program->kept);

    if (kept)
        return kept;
    pthread_mutex_lock(&program->lock);
    kept = atomic_load(&program->kept);
    if (!kept) {
        kept = make();
        program->free_kept = free_kept;
        atomic_store(&program->kept, kept);
    }
    pthread_mutex_unlock(&program->lock);
    return kept;
}

void *orr_remote_place(void)
{
    return orr_program()->place;
}

void orr_remote_tell_message(struct orr_runtime *rt, const struct orr_message_told *told)
{
    ORR_TELL(rt, ORR_TOLD_MESSAGE, .message = told);
}

void orr_remote_tell_clocks(struct orr_runtime *rt, const struct orr_clocks_told *told)
{
    ORR_TELL(rt, ORR_TOLD_CLOCKS, .clocks = told);
}

bool orr_remote_enter(struct orr_runtime *rt)
{
    return rt->views->listens && orr_application_enter(rt);
}

void orr_remote_leave_scope(struct orr_runtime *const *rt)
{
    orr_calls_leave_scope(rt);
}

void orr_remote_record(struct orr_runtime *rt, struct orr_call *call)
{
    ORR_TELL(rt, ORR_TOLD_CALL, .called.call = call);
}

bool orr_remote_leaves_files(const struct orr_runtime *rt)
{
    static const enum orr_config_id files[] = {ORR_CFG_TRACE, ORR_CFG_REPORT, ORR_CFG_GRAPH,
                                               ORR_CFG_RECORD};

    for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (orr_config_string(&rt->config, files[i]))
            return true;
    return false;
}
