/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/tally_observer.c - see tally_observer.h. */
#include "core/observe/tally_observer.h"

#include <math.h>
#include <stdio.h>

#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/data/bus.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/data/pending.h"
#include "core/data/request.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/exec/tell.h"
#include "core/job/job.h"
#include "core/message_told.h"
#include "core/observe/tally.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"
#include "perfmodel/arch.h"
#include "perfmodel/model.h"

static void tally_submitted(struct orr_runtime *rt, const struct orr_told *told)
{
    if (told->job->task->cl && orr_job_is_modelled(told->job))
        orr_tally_submit(rt->views->tally, orr_exec_now(rt->exec));
}

static struct orr_tally_item *tally_add_kernel(struct orr_runtime *rt,
                                               unsigned worker,
                                               struct orr_job *job)
{
    unsigned class_id = rt->workers->at[worker].class_id;
    const struct orr_worker_class *class = &rt->workers->classes[class_id];
    struct orr_length length = orr_job_length(rt, job, class_id);
    const struct starpu_codelet *cl = job->task->cl;
    const struct starpu_perfmodel *model = cl->model;
    const struct orr_comb *comb =
        orr_combs_at(orr_models_combs(rt->estimates->models), class->comb);
    struct orr_tally_kernel kernel = {
        .name = orr_cost_symbol(job->costs),
        .impl = job->implementation,
        .footprint = job->costs->footprint,
        .size =
            orr_model_size(rt, model, job->task, class, job->implementation),
        .model = orr_cost_model_symbol(job->costs),
        .modelled = orr_job_is_modelled(job),
        .ncores = job->ncores,
        .origin = length.origin,
        .off_by = length.error,
    };
    const struct orr_device device = {
        .type = (int)class->type,
        .devid = comb ? comb->devices[0].devid : class->devid,
    };
    int n = orr_device_label(&device, kernel.arch, sizeof(kernel.arch));

    /* As starpu_perfmodel_display names it. */
    if (job->ncores > 1)
        snprintf(kernel.arch + n, sizeof(kernel.arch) - (size_t)n, ":%u",
                 job->ncores);
    return orr_tally_add(rt->views->tally, worker, job->costs, &kernel);
}

static void tally_executed(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_job *job = told->job;
    const struct orr_kernel *kernel = job->kernel;
    unsigned worker = told->worker->id;
    struct orr_tally_item *item;

    if (job->task->failed)
        return;
    item = orr_tally_find(rt->views->tally, worker, job->costs,
                          job->implementation, job->ncores);
    if (!item)
        item = tally_add_kernel(rt, worker, job);
    if (item)
        orr_tally_kernel(rt->views->tally, worker, item, kernel->start,
                         kernel->end, kernel->duration);
}

static void tally_copy_ended(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    const struct orr_copy *copy = &told->request->copy;
    size_t link = orr_machine_pair(rt->machine, copy->src, copy->dst);
    double predicted;

    if (copy->async.error)
        return;
    orr_lock(&rt->nodes->at[copy->dst].lock);
    predicted = orr_transfer_predict(rt, copy->src, copy->dst, copy->size);
    orr_tally_copy(
        rt->views->tally, &(struct orr_tally_link){
                  .src = copy->src,
                  .dst = copy->dst,
                  .count = 1,
                  .bytes = copy->size,
                  .total = orr_exec_now(rt->exec) - told->request->start,
                  .predicted = predicted > 0 ? predicted : (double)NAN,
                  .alone = rt->machine->latency[link] +
                           (double)copy->size / rt->machine->bandwidth[link],
              });
    orr_unlock(&rt->nodes->at[copy->dst].lock);
}

static void tally_message(struct orr_runtime *rt, const struct orr_told *told)
{
    const struct orr_message_told *message = told->message;

    if (message->peer >= 0)
        orr_tally_message(rt->views->tally, (unsigned)message->peer, message->received,
                          message->bytes);
}

static const struct orr_observer tally_observer = {{
    [ORR_TOLD_TASK_SUBMITTED] = tally_submitted,
    [ORR_TOLD_TASK_EXECUTED] = tally_executed,
    [ORR_TOLD_COPY_ENDED] = tally_copy_ended,
    [ORR_TOLD_MESSAGE] = tally_message,
}};

int orr_tally_observe(struct orr_runtime *rt)
{
    if (!orr_config_string(&rt->config, ORR_CFG_REPORT))
        return 0;
    if (orr_tally_new(rt->machine, &rt->views->tally) != 0)
        return -ENOMEM;
    orr_observers_add(&rt->observers, &tally_observer);
    orr_observers_want(&rt->observers, &tally_observer, ORR_TOLD_ALL, true);
    return 0;
}
