/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/script.c - policies in a script (script.h): the table of operations
 * before the interpreter's module, and what scripts may ask. Its hooks are user code:
 * no context switches while one is on the stack. A script that fails ends the run.
 */
#include "core/sched/script.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/module.h"
#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/device/kind.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"

struct script_ops {
    struct orr_sched_ops ops; /* first: sched->ops is the object */
    char *path;               /* owned */
};

/* A policy that runs. */
struct scripted {
    const struct orr_script_ops *module; /* [const] */
    struct orr_script *script;           /* [const] owned */
    struct orr_script_host host;         /* [const] */
    struct orr_script_worker *workers;   /* [const] owned */
};

bool orr_script_is_one(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && strcmp(name + n - 3, ".py") == 0;
}

/* --- what scripts may ask --- */

static double host_now(struct orr_sched *sched)
{
    return orr_exec_now(sched->runtime->exec);
}

static bool host_is_idle(struct orr_sched *sched, unsigned worker)
{
    return orr_worker_is_asleep(&sched->runtime->workers->at[worker]);
}

static void host_describe(struct orr_job *job, struct orr_script_task *ret)
{
    *ret = (struct orr_script_task){.id = job->id,
                                    .name = orr_cost_symbol(job->costs),
                                    .priority = job->priority,
                                    .naccesses = job->naccesses};
}

static void host_look_at(const struct orr_job *job, unsigned i,
                         struct orr_script_access *ret)
{
    const struct orr_access *access = &job->accesses[i];
    const struct orr_handle *handle = access->handle;
    bool scratch = access->mode & STARPU_SCRATCH;

    *ret = (struct orr_script_access){
        .data = handle->id,
        .bytes = handle->size,
        .reads = access->mode & STARPU_R && !scratch,
        .writes = access->mode & STARPU_W && !scratch,
        .valid = atomic_load_explicit(&handle->valid, memory_order_relaxed),
        .coming = atomic_load_explicit(&handle->loading, memory_order_relaxed)};
}

static unsigned script_able_impls(struct orr_sched *sched, struct orr_job *job,
                                  unsigned worker)
{
    return orr_job_able(sched->runtime, job, orr_job_row(sched->runtime, job),
                        worker);
}

static bool host_can_run(struct orr_sched *sched, struct orr_job *job,
                         unsigned worker)
{
    return script_able_impls(sched, job, worker) != 0;
}

static double host_length(struct orr_sched *sched, struct orr_job *job,
                          unsigned worker)
{
    unsigned class_id = sched->runtime->workers->at[worker].class_id;
    const struct orr_cost_row *row = orr_job_costs(sched->runtime, job);
    double least = (double)NAN;

    for (unsigned i = 0; row->able[class_id] >> i; i++) {
        double us = orr_cost_length(row, class_id, i);

        if (row->able[class_id] >> i & 1 && !(us >= least) &&
            orr_cost_is_known(row, class_id, i, us))
            least = us;
    }
    return least;
}

static unsigned script_worker_node(const struct orr_sched *sched,
                                   unsigned worker)
{
    const struct orr_runtime *rt = sched->runtime;

    return rt->workers->classes[rt->workers->at[worker].class_id].node;
}

static double host_transfer(struct orr_sched *sched, const struct orr_job *job,
                            unsigned worker)
{
    return orr_sched_transfer_time(sched->runtime, job,
                                   script_worker_node(sched, worker));
}

static uint64_t host_missing(struct orr_sched *sched, const struct orr_job *job,
                             unsigned worker)
{
    return orr_job_missing(job, script_worker_node(sched, worker), UINT64_MAX)
        .value;
}

static void host_prefetch(struct orr_sched *sched, struct orr_job *job,
                          unsigned worker)
{
    if (orr_config_bool(&sched->runtime->config, ORR_CFG_PREFETCH))
        orr_job_prefetch(sched->runtime, job, script_worker_node(sched, worker),
                         ORR_PREFETCH);
}

static double script_host_copy_us(struct orr_sched *sched, unsigned from,
                                  unsigned to, uint64_t bytes)
{
    const struct orr_machine *machine = sched->runtime->machine;

    if (machine->direct[orr_machine_pair(machine, from, to)])
        return orr_transfer_predict(sched->runtime, from, to, bytes);
    return orr_transfer_predict(sched->runtime, from, 0, bytes) +
           orr_transfer_predict(sched->runtime, 0, to, bytes);
}

/* --- calls of the script --- */

static void script_hook_enter(void)
{
    orr_self->frozen++;
}

/* Ends the run if the script has failed. */
static void script_hook_leave(const struct orr_sched *sched, int rc,
                              const struct orr_error *err)
{
    orr_self->frozen--;
    if (rc >= 0)
        return;
    orr_log_error("%s", err->text);
    orr_runtime_fail(sched->runtime);
}

static int script_push(struct orr_sched *sched, struct orr_job *job)
{
    struct scripted *s = sched->data;
    struct orr_error err = {""};
    uint64_t able_classes;
    int wake = ORR_SCRIPT_WAKE_ALL, rc;
    bool differ;

    orr_sched_note_able(sched->runtime, job);
    if (!job->able_classes)
        return -ENODEV;
    able_classes = job->able_classes;
    differ = job->differ;
    script_hook_enter();
    rc = s->module->push(s->script, job, &wake, &err);
    script_hook_leave(sched, rc, &err);
    if (wake == ORR_SCRIPT_WAKE_ALL)
        orr_sched_wake_members(sched);
    else if (wake == ORR_SCRIPT_WAKE_ONE)
        orr_sched_wake_able(sched, able_classes, differ);
    else
        orr_sched_wake(&sched->runtime->workers->at[wake]);
    return 0;
}

_Noreturn static void fail_unable(const struct orr_sched *sched,
                                  const struct orr_job *job,
                                  const struct orr_worker *worker)
{
    orr_log_error(
        "policy %s: pop(%s) returned task %llu (%s), which that worker "
        "cannot run: ask task.can_run(worker) before",
        sched->ops->name, worker->desc->name, (unsigned long long)job->id,
        orr_cost_symbol(job->costs));
    orr_runtime_fail(sched->runtime);
}

static struct orr_job *script_pop(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    struct scripted *s = sched->data;
    struct orr_error err = {""};
    struct orr_job *job = NULL;
    unsigned bits;
    int rc;

    script_hook_enter();
    rc = s->module->pop(s->script, worker->id, &job, &err);
    script_hook_leave(sched, rc, &err);
    if (!job)
        return NULL;
    bits = script_able_impls(sched, job, worker->id);
    if (!bits)
        fail_unable(sched, job, worker);
    job->implementation =
        orr_recal_pick(job->costs->recal, job->costs, worker->class_id, bits);
    return job;
}

static void script_pre_exec(struct orr_sched *sched, struct orr_job *job,
                            struct orr_worker *worker)
{
    struct scripted *s = sched->data;
    struct orr_error err = {""};
    int rc;

    script_hook_enter();
    rc = s->module->started(s->script, job, worker->id, &err);
    script_hook_leave(sched, rc, &err);
}

static void script_post_exec(struct orr_sched *sched, struct orr_job *job,
                             struct orr_worker *worker)
{
    struct scripted *s = sched->data;
    struct orr_error err = {""};
    int rc;

    script_hook_enter();
    rc = s->module->ended(s->script, job, worker->id, &err);
    script_hook_leave(sched, rc, &err);
}

/* --- beginning and end --- */

static void script_deinit(struct orr_sched *sched)
{
    struct scripted *s = sched->data;

    script_hook_enter();
    if (s->script)
        s->module->close(s->script);
    orr_self->frozen--;
    free(s->workers);
    free(s);
}

static int describe_workers(struct scripted *s, const struct orr_runtime *rt)
{
    s->workers = calloc(rt->workers->n, sizeof(*s->workers));
    for (unsigned w = 0; s->workers && w < rt->workers->n; w++) {
        const struct orr_worker_class *class =
            &rt->workers->classes[rt->workers->at[w].class_id];

        snprintf(s->workers[w].name, sizeof(s->workers[w].name), "%s",
                 rt->workers->at[w].desc->name);
        s->workers[w].kind = orr_device_kind(class->type)->name;
        s->workers[w].node = class->node;
    }
    return s->workers ? 0 : -ENOMEM;
}

static int open_script(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    struct scripted *s = sched->data;
    const void *table = NULL;
    struct orr_script_range range = {sched->min_priority, sched->max_priority};
    int seed = orr_config_int(&rt->config, ORR_CFG_RAND_SEED);
    int rc = orr_module_open("python", &table, err);

    if (rc < 0)
        return rc;
    if (describe_workers(s, rt) < 0)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    s->module = table;
    s->host = (struct orr_script_host){.sched = sched,
                                       .nworkers = rt->workers->n,
                                       .nnodes = rt->nodes->n,
                                       .workers = s->workers,
                                       .seed = seed > 0 ? (unsigned)seed : 0,
                                       .now = host_now,
                                       .is_idle = host_is_idle,
                                       .describe = host_describe,
                                       .look_at = host_look_at,
                                       .can_run = host_can_run,
                                       .length = host_length,
                                       .transfer = host_transfer,
                                       .missing = host_missing,
                                       .prefetch = host_prefetch,
                                       .copy = script_host_copy_us};
    script_hook_enter();
    rc = s->module->open(((const struct script_ops *)sched->ops)->path,
                         &s->host, &range, &s->script, err);
    orr_self->frozen--;
    if (!sched->min_given)
        sched->min_priority = range.min;
    if (!sched->max_given)
        sched->max_priority = range.max;
    return rc;
}

/* On a real machine several threads would enter the interpreter at the same time, and
 * the order in which they get its lock would depend on the clock. */
static int script_init(struct orr_sched *sched, struct orr_error *err)
{
    int rc;

    if (!sched->runtime->exec->one_thread)
        return orr_fail(err, -EINVAL,
                        "policy %s: policies in Python run on simulated "
                        "machines only: name one, -m MACHINE or "
                        "ORRERY_MACHINE",
                        sched->ops->name);
    sched->data = calloc(1, sizeof(struct scripted));
    if (!sched->data)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    rc = open_script(sched, err);
    if (rc < 0)
        script_deinit(sched);
    return rc < 0 ? rc : 0;
}

int orr_script_new(const char *path, const struct orr_sched_ops **ret,
                   struct orr_error *err)
{
    struct script_ops *made = calloc(1, sizeof(*made));

    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        free(made);
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    }
    made->ops = (struct orr_sched_ops){
        .name = made->path,
        .help = "a policy in Python",
        .unbounded_priorities = true,
        .init = script_init,
        .deinit = script_deinit,
        .push = script_push,
        .pop = script_pop,
        .pre_exec = script_pre_exec,
        .post_exec = script_post_exec,
    };
    *ret = &made->ops;
    return 0;
}

void orr_script_free(const struct orr_sched_ops *ops)
{
    union {
        const struct orr_sched_ops *lent;
        struct script_ops *owned;
    } alias = {.lent = ops};

    if (!ops || ops->init != script_init)
        return;
    free(alias.owned->path);
    free(alias.owned);
}
