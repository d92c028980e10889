/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/loop/energy.c - see energy.h. */
#include "core/loop/energy.h"

#include "core/cost/ask.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"

void orr_energy_use(struct orr_runtime *rt, double joules)
{
    orr_lock(&rt->lock);
    rt->workers->joules += joules;
    orr_unlock(&rt->lock);
}

double orr_energy_used(struct orr_runtime *rt)
{
    double watts = orr_config_double(&rt->config, ORR_CFG_IDLE_POWER);
    double us = orr_exec_now(rt->exec) - rt->views->opened_at, joules;

    orr_lock(&rt->lock);
    joules = rt->workers->joules;
    orr_unlock(&rt->lock);
    return joules + watts * us / 1e6;
}

void orr_energy_account(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job)
{
    struct starpu_task *task = job->task;
    double joules = 0;

    if (task->cl && task->cl->energy_model)
        joules = orr_model_expect(rt, task->cl->energy_model, task,
                                  &rt->workers->classes[worker->class_id],
                                  job->implementation);

    if (!(joules > 0))
        return;
    orr_energy_use(rt, joules);
    ORR_TELL(rt, ORR_TOLD_ENERGY, .worker = worker, .job = job,
             .joules = joules);
}
