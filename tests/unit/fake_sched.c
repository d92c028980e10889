/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake_sched.c - see fake_sched.h.
 */
#include "fake_sched.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/device/kind.h"
#include "core/job/count.h"
#include "core/job/tasks.h"
#include "core/policies/dm.h"
#include "core/policies/policies.h"
#include "core/sched/bundle.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/gang.h"
#include "core/task/end.h"
#include "core/worker/asleep.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

#define MAX_JOBS 4096

struct fake fake;

static struct orr_counter counts;
static struct orr_worker workers[FAKE_WORKERS];
static struct orr_worker_desc descs[FAKE_WORKERS];
static struct orr_worker_class classes[FAKE_CLASSES];
static unsigned members[FAKE_CLASSES][FAKE_WORKERS];
static struct orr_machine machine;
static struct orr_context context;
static struct orr_sched sched;
static struct orr_recal_budget budget;
static uint64_t last_job;
static void *owned[4 * MAX_JOBS];
static unsigned nowned;

/* --- what the runtime gives --- */

static double fake_now(struct orr_exec *exec)
{
    (void)exec;
    return fake.now;
}

static const struct orr_exec_ops exec_ops = {.now = fake_now};
static struct orr_exec exec = {.ops = &exec_ops, .one_thread = false};

const struct orr_cost_row *orr_job_renew_costs(struct orr_runtime *rt,
                                               struct orr_job *job)
{
    (void)rt;
    return job->costs;
}

uint64_t orr_job_absent(const struct orr_job *job)
{
    (void)job;
    return UINT64_MAX;
}

double orr_job_transfer_time(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned node)
{
    (void)rt;
    (void)job;
    return fake.transfer[node];
}

void orr_job_transfer_times(struct orr_runtime *rt, const struct orr_job *job,
                            uint64_t nodes, double *us)
{
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);

        us[node] = orr_job_transfer_time(rt, job, node);
    }
}

double starpu_task_worker_expected_energy(struct starpu_task *task,
                                          unsigned worker, unsigned ctx,
                                          unsigned impl)
{
    (void)task;
    (void)ctx;
    (void)impl;
    return fake.energy[workers[worker].class_id];
}

double starpu_task_worker_expected_length(struct starpu_task *task,
                                          unsigned worker, unsigned ctx,
                                          unsigned impl)
{
    (void)task;
    (void)ctx;
    (void)impl;
    return fake.energy[workers[worker].class_id];
}

void orr_job_each_successor(struct orr_job *job,
                            void (*visit)(struct orr_job *, void *), void *arg)
{
    (void)job; /* it has none */
    (void)visit;
    (void)arg;
}

void orr_job_prefetch(struct orr_runtime *rt, struct orr_job *job,
                      unsigned node, enum orr_fetch_level level)
{
    (void)rt;
    (void)job;
    ck_assert_int_eq(level, ORR_PREFETCH);
    fake.prefetched = node;
    fake.nprefetches++;
}

void orr_job_expect(struct orr_runtime *rt, struct orr_job *job, unsigned node)
{
    (void)rt;
    (void)job;
    (void)node;
}

/* No scheduling context is ever changed. */
void orr_sched_ctx_make_postponed(struct orr_runtime *rt)
{
    (void)rt;
}

struct orr_sched_said *orr_sched_said_new(const struct starpu_sched_policy *user,
                                          bool tree)
{
    struct orr_sched_said *said = calloc(1, sizeof(*said));

    (void)tree;
    if (said && user)
        said->policy = *user;
    return said;
}

void orr_sched_said_free(struct orr_sched_said *said)
{
    free(said);
}

void orr_worker_wake(struct orr_worker *worker)
{
    (void)orr_worker_rouse(worker);
    fake.woken |= 1U << worker->id;
}

void orr_worker_push_local(struct orr_worker *worker, struct orr_job *job,
                           bool prio)
{
    (void)prio;
    orr_list_append(&worker->local, &job->queue);
    orr_worker_wake(worker);
}

void orr_runtime_break(struct orr_runtime *rt, enum orr_break where,
                       unsigned long long job)
{
    (void)rt;
    (void)where;
    (void)job;
}

/* No task is in a bundle. */
void orr_bundle_note_push(starpu_task_bundle_t bundle,
                          const struct starpu_task *task)
{
    (void)bundle;
    (void)task;
}

double orr_bundle_sum(starpu_task_bundle_t bundle, bool waiting,
                      double (*of)(struct starpu_task *task, void *arg),
                      void *arg)
{
    (void)bundle;
    (void)waiting;
    (void)of;
    (void)arg;
    return 0;
}

double orr_bundle_transfer_time(starpu_task_bundle_t bundle, unsigned node,
                                const struct starpu_task *also)
{
    (void)bundle;
    (void)node;
    (void)also;
    return 0;
}

void orr_worker_next_turn_locked(struct orr_worker *worker)
{
    (void)worker; /* no task has an order here */
}

void orr_job_ref(struct orr_job *job)
{
    (void)job;
    fake.references++;
}

void orr_job_unref(struct orr_runtime *rt, struct orr_job *job)
{
    (void)rt;
    (void)job;
    fake.references--;
}

void orr_job_let_end(struct orr_runtime *rt, struct orr_job *job)
{
    (void)rt;
    atomic_fetch_sub(&job->ending, ORR_END_ASKED);
}

const char *orr_job_name(const struct orr_job *job)
{
    (void)job;
    return "fake";
}

/* --- several workers at once --- */

void orr_combinations_find(struct orr_runtime *rt,
                           void (*made)(unsigned id, void *arg), void *arg)
{
    (void)rt, (void)made, (void)arg;
}

bool orr_combined_is_blocked(const struct orr_runtime *rt,
                             const struct orr_combined *combined)
{
    (void)rt, (void)combined;
    return false;
}

double orr_cost_quantile(const struct orr_runtime *rt,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double q)
{
    (void)rt, (void)q;
    return orr_cost_length(row, class_id, impl) + fake.margin[class_id];
}

struct orr_length orr_cost_wide(struct orr_runtime *rt, struct orr_job *job,
                                unsigned class_id, unsigned ncores,
                                unsigned impl)
{
    (void)rt, (void)job, (void)class_id, (void)impl;
    return (struct orr_length){fake.wide[ncores], NAN, ORR_ORIGIN_MEASURED};
}

bool orr_length_is_known(const struct orr_length *length)
{
    return length->us > 0;
}

int orr_gang_push(struct orr_runtime *rt, struct orr_job *job,
                  const struct orr_gang_request *request)
{
    (void)rt, (void)job, (void)request;
    return fake.gang_error;
}

void orr_gang_unmake(struct orr_gang *gang)
{
    orr_job_rare(gang->job)->gang = NULL;
}

int orr_gang_push_combined(struct orr_runtime *rt, struct orr_job *job,
                           const struct orr_combined *combined,
                           orr_gang_told_t told, void *arg)
{
    if (fake.gang_error)
        return fake.gang_error;
    fake.gang = combined->id;
    for (unsigned i = 0; i < combined->size; i++) {
        struct orr_job *alias = fake_job(job->costs, job->priority);
        struct orr_worker *worker = &rt->workers->at[combined->members[i]];

        fake.aliases[i] = alias;
        if (told)
            told(alias, worker, arg);
        orr_worker_push_local(worker, alias, true);
    }
    return 0;
}

/* --- what the test makes --- */

static void *own(void *object)
{
    ck_assert_ptr_nonnull(object);
    ck_assert_uint_lt(nowned, sizeof(owned) / sizeof(*owned));
    owned[nowned++] = object;
    return object;
}

static void start_class(unsigned k)
{
    classes[k] = (struct orr_worker_class){
        .type = k ? STARPU_CUDA_WORKER : STARPU_CPU_WORKER,
        .devid = k ? (int)k - 1 : 0,
        .ncores = 1,
        .comb = k,
        .node = k,
        .speed = 1,
        .relative_speedup = 1,
        .members = members[k],
    };
}

static void start_worker(unsigned w, unsigned k)
{
    workers[w] = (struct orr_worker){
        .id = w, .class_id = k, .desc = &descs[w], .runtime = &fake.rt};
    descs[w] = (struct orr_worker_desc){.type = classes[k].type, .node = k};
    orr_lock_init(&workers[w].lock, ORR_RANK_WORKER);
    orr_list_init(&workers[w].local);
    members[k][classes[k].nworkers++] = w;
}

void fake_start(const unsigned *worker_classes, unsigned nworkers)
{
    clearenv();
    memset(&fake, 0, sizeof(fake));
    orr_runtime_set_members(&fake.rt, &fake.members);
    machine = (struct orr_machine){.exec = &exec, .nworkers = nworkers};
    fake.rt.tasks->counts[0].counters = &counts;
    fake.rt.machine = &machine;
    fake.rt.exec = &exec;
    fake.rt.workers->at = workers;
    fake.rt.workers->classes = classes;
    fake.rt.workers->n = nworkers;
    ck_assert_int_eq(orr_config_read(&fake.rt.config, NULL), 0);
    for (unsigned k = 0; k < FAKE_CLASSES; k++)
        start_class(k);
    for (unsigned w = 0; w < nworkers; w++) {
        start_worker(w, worker_classes[w]);
        if (worker_classes[w] >= fake.rt.workers->nclasses)
            fake.rt.workers->nclasses = worker_classes[w] + 1;
    }
    fake.rt.nodes->n = fake.rt.workers->nclasses;
    context = (struct orr_context){.exec = &exec, .runtime = &fake.rt};
    orr_self = &context;
    orr_recal_budget_init(&budget, 0);
    last_job = 0;
}

void fake_policy(const struct orr_sched_ops *ops)
{
    struct orr_error err = {""};

    sched.ops = ops;
    sched.said = own(calloc(1, sizeof(*sched.said)));
    sched.runtime = &fake.rt;
    fake.rt.sched_ctxs->at[0] = &sched;
    ck_assert_msg(ops->init(&sched, &err) == 0, "%s", err.text);
}

void fake_stop(void)
{
    ck_assert_int_eq(fake.references, 0);
    ck_assert_uint_eq(context.ranks, 0);
    ck_assert_uint_eq(context.frozen, 0);
    if (fake.rt.sched_ctxs->at[0] && sched.ops->deinit)
        sched.ops->deinit(&sched);
    sched = (struct orr_sched){0};
    free(fake.rt.sched_ctxs->places[0]);
    fake.rt.sched_ctxs->places[0] = NULL;
    while (nowned)
        free(owned[--nowned]);
    orr_config_done(&fake.rt.config);
}

struct orr_cost_row *fake_row(const double *lengths)
{
    static const _Atomic uint32_t version;
    struct orr_cost_row *row = own(calloc(1, sizeof(*row)));

    row->cl = own(calloc(1, sizeof(*row->cl)));
    row->news = &version;
    row->able = own(calloc(FAKE_CLASSES, 1));
    row->length =
        own(calloc(FAKE_CLASSES * STARPU_MAXIMPLEMENTATIONS, sizeof(double)));
    for (unsigned k = 0; k < fake.rt.workers->nclasses; k++) {
        if (lengths[k] == 0)
            continue;
        row->able[k] = 1;
        row->able_classes |= UINT64_C(1) << k;
        row->length[k * STARPU_MAXIMPLEMENTATIONS] =
            lengths[k] < 0 ? 0 : lengths[k];
    }
    return row;
}

struct orr_recal *fake_recal(struct orr_cost_row *row)
{
    ck_assert_int_eq(orr_recal_new(&fake.rt, &budget, &row->recal), 0);
    own(row->recal);
    fake_refresh(row);
    return row->recal;
}

void fake_refresh(struct orr_cost_row *row)
{
    unsigned class_id, impl;

    (void)orr_recal_refresh(row->recal, row, true, &class_id, &impl);
}

struct orr_job *fake_job(struct orr_cost_row *row, int priority)
{
    struct orr_job *job =
        own(calloc(1, sizeof(*job) + 4 * sizeof(struct orr_access)));

    job->accesses = (struct orr_access *)(job + 1);
    job->task = own(calloc(1, sizeof(*job->task)));
    job->task->where = -1;
    job->task->cl = row ? row->cl : NULL;
    job->task->priority = priority;
    job->task->starpu_private = job;
    job->priority = priority;
    job->id = ++last_job;
    job->costs = row;
    job->state = ORR_JOB_READY;
    job->worker = -1;
    return job;
}

void fake_datum(struct orr_job *job, unsigned mode, size_t size, uint64_t valid,
                uint64_t loading, uint64_t allocated)
{
    struct orr_handle *handle = own(calloc(1, sizeof(*handle)));

    ck_assert_uint_lt(job->naccesses, 4);
    handle->size = size;
    orr_handle_set_valid(handle, valid);
    orr_handle_set_loading(handle, loading);
    orr_handle_set_allocated(handle, allocated);
    job->accesses[job->naccesses++] =
        (struct orr_access){.job = job, .handle = handle, .mode = mode};
}

unsigned fake_combined(int *ids, unsigned n)
{
    struct orr_combined *combined = own(calloc(1, sizeof(*combined)));
    unsigned i = fake.rt.workers->ncombined;

    *combined = (struct orr_combined){
        .id = fake.rt.workers->n + i, .size = n, .members = ids};
    combined->class_id = workers[ids[0]].class_id;
    fake.rt.workers->combined[i] = combined;
    fake.rt.workers->ncombined = i + 1;
    sched.said->workers.present[combined->id] = 1;
    return combined->id;
}

int fake_push(struct orr_job *job)
{
    return fake.rt.sched_ctxs->at[0]->ops->push(fake.rt.sched_ctxs->at[0], job);
}

struct orr_job *fake_pop(unsigned worker)
{
    return fake.rt.sched_ctxs->at[0]->ops->pop(fake.rt.sched_ctxs->at[0],
                                               &workers[worker]);
}

void fake_be(int worker)
{
    context.worker = worker < 0 ? NULL : &workers[worker];
}

bool orr_codelet_is_async(const struct starpu_codelet *cl,
                          enum starpu_worker_archtype type, unsigned implementation)
{
    (void)cl;
    (void)type;
    (void)implementation;
    return false;
}

/* Which of a task's bits of `where` allow the worker. */
uint32_t orr_device_where(enum starpu_worker_archtype type)
{
    return (uint32_t)STARPU_WORKER_TO_MASK(type);
}

/* Nobody is told. */
void orr_tell(const struct orr_observers *observers, struct orr_runtime *rt,
              const struct orr_told *told)
{
    (void)observers, (void)rt, (void)told;
}

/* No device is lost. */
_Noreturn void orr_runtime_fail(struct orr_runtime *rt)
{
    (void)rt;
    abort();
}
