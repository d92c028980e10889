/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/follow.c - see follow.h. A job that has been started stays in the turns of
 * its data until it has ended on the host, so that these tell who is before whom. What is
 * asked there stays true: a turn that has begun on a queue, or has passed, does not come
 * back, but after a failure, which ends the program where somebody follows.
 *
 * Who looks for a job has either its submission or a job before it, neither of which ends
 * meanwhile; so does the job not. No wake is lost: a job is noted as one that may follow
 * before its data are looked at, a kernel as started before the jobs behind it are.
 */
#include "core/sched/follow.h"

#include <math.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/data/release.h"
#include "core/data/request.h"
#include "core/device/driver.h"
#include "core/device/kind.h"
#include "core/device/methods.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/job/turns.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/worker/workers.h"

/* So many accesses of one datum are looked at, and so many jobs behind one. */
enum { MOST = 64 };

static struct orr_access *access_at(struct orr_list *link)
{
    return orr_container(link, struct orr_access, link);
}

static struct orr_worker *worker_of(const struct orr_runtime *rt, unsigned id)
{
    return &rt->workers->at[id];
}

/* What a worker's queue has to wait for. */
struct waits {
    uint64_t workers[ORR_LED_WORDS]; /* kernels in their queues, a bit each */
    unsigned copies; /* to its device, a bit per enum orr_queue_use */
};

static void waits_add(struct waits *waits, unsigned worker)
{
    waits->workers[worker / 64] |= UINT64_C(1) << worker % 64;
}

/* -- what is before a job -- */

/* Whether kernels of the worker can be put behind those of the other one: its own, or
 * another one's of its device, or where ORRERY_FOLLOW_PLACED says so of its driver: a copy
 * between devices that fails cannot be made again then. */
static bool can_be_behind(const struct orr_worker *worker,
                          const struct orr_worker *other)
{
    return worker == other ||
           (worker->desc->driver == other->desc->driver && worker->desc->driver->ops->after &&
            (worker->desc->node == other->desc->node ||
             worker->runtime->tasks->follow_placed));
}

/* Whether what kernels on the one node make is copied to the other one by a queue that can
 * wait for them. */
static bool crosses(const struct orr_handle *handle, unsigned src, unsigned dst)
{
    return src == dst ||
           (orr_handle_reaches(handle, src, dst) &&
            orr_methods_queue(handle->runtime->machine, handle->ops, src, dst));
}

/* Whether the kernel that has the datum by this access is in such a queue, and uses it in
 * the memory there. Workers in whose queues some are but the worker itself are added to
 * *waits, unless that is NULL. */
static bool leads(const struct orr_access *access,
                  const struct orr_worker *worker, struct waits *waits)
{
    const struct orr_job *job = access->job;
    const struct orr_worker *other;

    if (!(orr_job_follow(job) & ORR_LEADS))
        return false;
    other = worker_of(worker->runtime, (unsigned)job->worker);
    if (access->at != other->desc->node || !can_be_behind(worker, other) ||
        !crosses(access->handle, other->desc->node, worker->desc->node))
        return false;
    if (waits && other != worker)
        waits_add(waits, other->id);
    return true;
}

/* Whether the job, which has the same turn as one of the worker, follows those before, and
 * the worker's can as well. */
static bool mate_follows(const struct orr_handle *handle,
                         const struct orr_job *mate,
                         const struct orr_worker *worker)
{
    const struct orr_worker *other;

    if (!orr_job_follows(mate))
        return false;
    other = worker_of(worker->runtime, orr_job_follow_worker(mate));
    return can_be_behind(worker, other) &&
           crosses(handle, other->desc->node, worker->desc->node);
}

/* Whether all that have the turn before that of the access lead; likewise. */
static bool turn_leads_locked(const struct orr_handle *handle,
                              const struct orr_access *access,
                              const struct orr_worker *worker,
                              struct waits *waits) ORR_REQUIRES(handle->lock)
{
    const struct orr_list *order = &handle->turns.order;
    struct orr_list *link = access->link.prev;
    unsigned n = 0, group;

    /* Those of its own turn: where one follows, that has been looked at. */
    for (;
         link != order && orr_access_goes_with(access_at(link), access->group);
         link = link->prev) {
        if (waits)
            continue;
        if (mate_follows(handle, access_at(link)->job, worker))
            return true;
        if (++n > MOST)
            return false;
    }
    if (link == order)
        return false;
    group = access_at(link)->group;
    do {
        if (!leads(access_at(link), worker, waits) || (++n > MOST && !waits))
            return false;
        link = link->prev;
    } while (link != order && orr_access_goes_with(access_at(link), group));
    return true;
}

/* A copy to the worker's node that is in a queue, of which the job was told. */
static void note_copy_locked(const struct orr_handle *handle,
                             const struct orr_worker *worker,
                             struct waits *waits) ORR_REQUIRES(handle->lock)
{
    unsigned node = worker->desc->node;
    const struct orr_request *request = handle->replicates[node].request;

    if (request && request->ahead)
        waits->copies |= 1u << orr_copy_queue_use(worker->runtime->machine,
                                                  request->src, node);
}

static bool is_led(struct orr_access *access, const struct orr_worker *worker,
                   struct waits *waits)
{
    struct orr_handle *handle = access->handle;
    bool led;

    if (access->duplicate || access->mode & STARPU_SCRATCH)
        return true;
    orr_lock(&handle->lock);
    led = access->ordered && (access->granted || turn_leads_locked(
                                                     handle, access, worker,
                                                     waits));
    if (waits)
        note_copy_locked(handle, worker, waits);
    orr_unlock(&handle->lock);
    return led;
}

/* With `waits` all are looked at. */
static bool all_are_led(struct orr_job *job, const struct orr_worker *worker,
                        struct waits *waits)
{
    bool all = true;

    for (unsigned i = 0; i < job->naccesses && (all || waits); i++)
        all &= is_led(&job->accesses[i], worker, waits);
    return all;
}

/* How many of its data the job waits for. */
static int count_turns(const struct orr_job *job)
{
    int n = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = access->handle;

        if (access->duplicate || access->mode & STARPU_SCRATCH)
            continue;
        orr_lock(&handle->lock);
        n += !access->granted;
        orr_unlock(&handle->lock);
    }
    return n;
}

/* Whether the worker's queue can wait for those in which tasks are that the job was
 * declared to depend on. */
static bool led_within_reach(const struct orr_led *led,
                             const struct orr_worker *worker)
{
    const struct orr_runtime *rt = worker->runtime;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (atomic_load(&led->workers[w / 64]) >> w % 64 & 1 &&
            !can_be_behind(worker, worker_of(rt, w)))
            return false;
    return true;
}

/* Whether all tasks that the job was declared to depend on, and have not ended, lead; its
 * submission holds the job back as well, if so. What it waits for is read first: the rest
 * becomes less only when that has. */
static bool declared_lead(const struct orr_job *job,
                          const struct orr_worker *worker, bool is_submitted)
{
    const struct orr_job_rare *rare = orr_job_rare(job);
    int waiting = atomic_load(&job->waiting) - is_submitted;

    return !rare || !rare->led.declared ||
           (led_within_reach(&rare->led, worker) &&
            waiting <= count_turns(job) + atomic_load(&rare->led.n));
}

/* -- putting it there -- */

/* Some datum has come to require claims, or the worker to take no such job: it waits for
 * its turn, as others do. */
static void step_back(struct orr_runtime *rt, struct orr_worker *worker,
                      struct orr_job *job)
{
    unsigned before;

    atomic_store(&job->claims.state, ORR_CLAIM_NONE);
    before = orr_job_clear_follow(job, ORR_MAY_FOLLOW | ORR_FOLLOWS);
    /* Else who has released it has counted it off, and left it to this. */
    if (!(before & ORR_FOLLOW_RELEASED)) {
        atomic_fetch_sub_explicit(&worker->nfollowing, 1, memory_order_relaxed);
        return;
    }
    orr_job_claim(rt, job);
}

/* The job is the caller's if it is not somebody else's by now. */
static bool take(struct orr_worker *worker, struct orr_job *job)
{
    unsigned char may = ORR_MAY_FOLLOW;

    atomic_fetch_add_explicit(&worker->nfollowing, 1, memory_order_relaxed);
    if (atomic_compare_exchange_strong(&job->data.follow, &may,
                                       ORR_MAY_FOLLOW | ORR_FOLLOWS))
        return true;
    atomic_fetch_sub_explicit(&worker->nfollowing, 1, memory_order_relaxed);
    return false;
}

/* Gives the job, which is being submitted or not, to its worker if all before it are in
 * the queue. */
static void look(struct orr_runtime *rt, struct orr_worker *worker,
                 struct orr_job *job, bool is_submitted)
{
    unsigned bits = 0;

    if (orr_worker_is_blocked(worker) ||
        !declared_lead(job, worker, is_submitted) ||
        !all_are_led(job, worker, NULL) || !take(worker, job))
        return;
    if (orr_job_pass_behind(job))
        bits = orr_job_able(rt, job, orr_job_row(rt, job), worker->id);
    if (!bits) {
        step_back(rt, worker, job);
        return;
    }
    job->implementation =
        orr_recal_pick(job->costs->recal, job->costs, worker->class_id, bits);
    job->type->ready(rt, job);
}

/* -- which jobs may -- */

static bool worker_has_queue(const struct orr_worker *worker)
{
    return worker->desc->async && worker->desc->driver->ops->in_order &&
           worker->desc->pipeline > 1;
}

/* Whether nothing is to be done when the job is ready, or its worker has taken it. */
static bool is_simple(const struct starpu_task *task)
{
    return !task->prologue_callback_func && !task->prologue_callback_pop_func &&
           !task->bundle && !task->trs_epoch && !task->workerorder;
}

static bool is_async(const struct orr_job *job, const struct orr_worker *worker)
{
    unsigned bits = orr_codelet_functions(job->task->cl, worker->desc->type);

    for (unsigned i = 0; bits >> i; i++)
        if (bits >> i & 1 && !orr_job_is_async(job, worker, i))
            return false;
    return bits != 0;
}

/* Whether some datum may have to be converted on the host. */
static bool has_forms(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].handle->multiformat)
            return true;
    return false;
}

/* Whether the task names a worker that has a queue, and puts its kernels there; or one is
 * to be found, which executes it alone. */
static bool may_have_queue(struct orr_runtime *rt, const struct orr_job *job)
{
    const struct starpu_task *task = job->task;
    const struct orr_worker *worker;

    if (!task->execute_on_a_specific_worker)
        return !task->workerids_len && task->cl->type == STARPU_SEQ;
    if (task->workerid >= rt->workers->n)
        return false;
    worker = worker_of(rt, task->workerid);
    return worker_has_queue(worker) && is_async(job, worker);
}

static bool may_follow(struct orr_runtime *rt, const struct orr_job *job)
{
    return may_have_queue(rt, job) && is_simple(job->task) &&
           !orr_job_around(job) &&
           !(job->modes & (STARPU_REDUX | STARPU_COMMUTE)) && !has_forms(job) &&
           !job->data.spread && !job->data.first && !job->data.reducible &&
           orr_sched_of(rt, job)->has_policy;
}

/* -- tasks that name no worker -- */

/* The worker in whose queue all are that a job waits for, and whether the one that was put
 * there last is one of them. */
struct behind {
    int worker; /* -1: none is known yet */
    bool is_last;
};

static bool behind_add(struct behind *behind, const struct orr_runtime *rt,
                       const struct orr_job *before)
{
    if (!(orr_job_follow(before) & ORR_LEADS) ||
        (behind->worker >= 0 && behind->worker != before->worker))
        return false;
    behind->worker = before->worker;
    behind->is_last |=
        atomic_load(&worker_of(rt, (unsigned)before->worker)->last_led) ==
        before->id;
    return true;
}

/* Adds those that have the turn before that of the access. */
static bool add_turn(struct behind *behind, const struct orr_access *access)
{
    struct orr_handle *handle = access->handle;
    const struct orr_list *order = &handle->turns.order;
    struct orr_list *link;
    bool all = true;
    unsigned n = 0, group = access->group;

    if (access->duplicate || access->mode & STARPU_SCRATCH)
        return true;
    orr_lock(&handle->lock);
    if (access->ordered && !access->granted) {
        link = access->link.prev;
        while (link != order && orr_access_goes_with(access_at(link), group) &&
               ++n < MOST)
            link = link->prev;
        all = link != order;
        group = all ? access_at(link)->group : 0;
        for (; all; link = link->prev) {
            all = ++n < MOST && behind_add(behind, handle->runtime,
                                           access_at(link)->job);
            if (link->prev == order ||
                !orr_access_goes_with(access_at(link->prev), group))
                break;
        }
    }
    orr_unlock(&handle->lock);
    return all;
}

/* Of declared tasks which one was started last is not known. */
static bool add_declared(struct behind *behind, const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    for (unsigned w = 0; rare && w < STARPU_NMAXWORKERS; w++) {
        if (!(atomic_load(&rare->led.workers[w / 64]) >> w % 64 & 1))
            continue;
        if (behind->worker >= 0 && behind->worker != (int)w)
            return false;
        behind->worker = (int)w;
    }
    return true;
}

static double least_known(const struct orr_cost_row *row, unsigned class_id)
{
    double least = INFINITY;

    for (unsigned i = 0; row->able[class_id] >> i; i++) {
        double us = orr_cost_length(row, class_id, i);

        if (row->able[class_id] >> i & 1 &&
            orr_cost_is_known(row, class_id, i, us) && us < least)
            least = us;
    }
    return least;
}

/* Whether no other class of workers is known to take less. */
static bool is_fastest(struct orr_runtime *rt, struct orr_job *job,
                       const struct orr_worker *worker)
{
    const struct orr_cost_row *row = orr_job_row(rt, job);
    double us = least_known(row, worker->class_id);

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (least_known(row, k) < us)
            return false;
    return true;
}

/* The worker that has nothing to do but what the job waits for, and so would begin it
 * first, whatever its policy is; NULL: there is none, or the policy has others to run. */
static struct orr_worker *find_worker(struct orr_runtime *rt,
                                      struct orr_job *job)
{
    struct behind behind = {-1, false};
    struct orr_worker *worker;
    bool all = add_declared(&behind, job);

    for (unsigned i = 0; i < job->naccesses && all; i++)
        all = add_turn(&behind, &job->accesses[i]);
    if (!all || behind.worker < 0 || !behind.is_last ||
        orr_count_ready_in(rt, job->sched_ctx))
        return NULL;
    worker = worker_of(rt, (unsigned)behind.worker);
    return is_async(job, worker) && is_fastest(rt, job, worker) ? worker : NULL;
}

/* Looks for the job where it is to run. All that find a worker for it find the same one:
 * that of those before it. */
static void look_where(struct orr_runtime *rt, struct orr_job *job,
                       bool is_submitted)
{
    struct orr_worker *worker;

    if (job->task->execute_on_a_specific_worker) {
        worker = worker_of(rt, job->task->workerid);
    } else {
        worker = find_worker(rt, job);
        if (!worker)
            return;
        atomic_store(&job->data.follow_at, (unsigned char)worker->id);
    }
    look(rt, worker, job, is_submitted);
}

void orr_follow_submitted(struct orr_runtime *rt, struct orr_job *job,
                          bool declared)
{
    struct orr_job_rare *rare;

    if (!may_follow(rt, job))
        return;
    if (declared) {
        rare = orr_job_make_rare(job);
        if (!rare)
            return;
        rare->led.declared = true;
    }
    (void)orr_job_add_follow(job, ORR_MAY_FOLLOW);
    look_where(rt, job, true);
}

/* -- behind one that is there -- */

struct found {
    struct orr_job *jobs[MOST];
    unsigned n;
};

static void found_add(struct found *found, struct orr_job *job,
                      const struct orr_worker *worker)
{
    if (found->n < MOST && orr_job_follow(job) == ORR_MAY_FOLLOW &&
        (!job->task->execute_on_a_specific_worker ||
         can_be_behind(worker_of(worker->runtime, job->task->workerid),
                       worker)))
        found->jobs[found->n++] = job;
}

/* Adds the jobs that were declared to depend on this one. */
static void find_declared(struct found *found, struct orr_job *job,
                          const struct orr_worker *worker)
{
    orr_lock(&job->lock);
    for (struct orr_edge *edge = job->successors; edge; edge = edge->next) {
        orr_edge_lead_locked(edge, job);
        if (edge->leads)
            found_add(found, edge->job, worker);
    }
    orr_unlock(&job->lock);
}

/* Adds the jobs of such workers that have the next turn after that of the access. */
static void find_behind(struct found *found, struct orr_access *access,
                        const struct orr_worker *worker)
{
    struct orr_handle *handle = access->handle;
    struct orr_list *link;
    unsigned n = 0;
    bool behind = false;

    orr_lock(&handle->lock);
    for (link = access->link.next; link != &handle->turns.order && ++n < MOST;
         link = link->next) {
        struct orr_access *next = access_at(link);

        if (!behind && orr_access_goes_with(next, access->group))
            continue;
        if (behind && !orr_access_goes_with(next, access_at(link->prev)->group))
            break;
        behind = true;
        found_add(found, next->job, worker);
    }
    orr_unlock(&handle->lock);
}

/* Whether something on the host comes between its kernel and the jobs that wait for it. */
static bool ends_on_host(const struct orr_job *job)
{
    return (job->task && job->task->epilogue_callback_func) ||
           orr_job_ends_later(job);
}

void orr_follow_lead(struct orr_runtime *rt, struct orr_worker *worker,
                     struct orr_job *job)
{
    struct found found;

    if (!worker_has_queue(worker))
        return;
    atomic_store(&worker->last_led, job->id);
    if (ends_on_host(job))
        return;
    (void)orr_job_add_follow(job, ORR_LEADS);
    found.n = 0;
    find_declared(&found, job, worker);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].ordered)
            find_behind(&found, &job->accesses[i], worker);
    for (unsigned i = 0; i < found.n; i++)
        look_where(rt, found.jobs[i], false);
}

/* -- starting it -- */

static void wait_for(const struct orr_worker *worker, const struct waits *waits)
{
    struct orr_driver *driver = worker->desc->driver;
    const struct orr_driver_ops *ops = driver->ops;

    for (unsigned w = 0; w < worker->runtime->workers->n; w++)
        if (waits->workers[w / 64] >> w % 64 & 1 && w != worker->id)
            ops->after(ops->worker_queue(driver, worker->id),
                       ops->worker_queue(driver, w));
    for (unsigned use = 0; use < ORR_QUEUE_USES; use++)
        if (waits->copies >> use & 1)
            ops->after(ops->worker_queue(driver, worker->id),
                       ops->queue(driver, worker->desc->node,
                                  (enum orr_queue_use)use));
}

/* A job that was released meanwhile has no kernels to wait for, but copies. */
void orr_follow_start(struct orr_runtime *rt, struct orr_worker *worker,
                      struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);
    struct waits waits = {{0}, 0};

    if (!orr_job_follows(job))
        return;
    if (rare && rare->led.declared && orr_job_follows_still(job))
        for (unsigned i = 0; i < ORR_LED_WORDS; i++)
            waits.workers[i] = atomic_load(&rare->led.workers[i]);
    if (all_are_led(job, worker, &waits) || !orr_job_follows_still(job)) {
        wait_for(worker, &waits);
        return;
    }
    orr_log_error("task `%s' (number %llu) was to follow others in the queue "
                  "of %s, where one has failed",
                  orr_job_name(job), (unsigned long long)job->id,
                  worker->desc->name);
    orr_runtime_fail(rt);
}

/* -- failures -- */

/* Jobs that follow others in queues where some may follow those of the worker. */
static unsigned count_following(const struct orr_runtime *rt,
                                const struct orr_worker *worker)
{
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (can_be_behind(worker_of(rt, w), worker))
            n += atomic_load(&rt->workers->at[w].nfollowing);
    return n;
}

void orr_follow_failed(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job)
{
    bool follows = orr_job_follows_still(job);
    unsigned n;

    /* Another worker may get it, if it names none: it has been released. */
    (void)orr_job_clear_follow(
        job, job->task->execute_on_a_specific_worker ? ORR_LEADS : UINT8_MAX);
    n = count_following(rt, worker) - follows;
    if (n == 0)
        return;
    orr_log_error("task `%s' (number %llu) has failed on %s, and what was to "
                  "follow it in the queue (%u) may have used what it has left: "
                  "STARPU_%s_PIPELINE=1 lets no task follow another",
                  orr_job_name(job), (unsigned long long)job->id,
                  worker->desc->name, n,
                  orr_device_kind(worker->desc->type)->variable);
    orr_runtime_fail(rt);
}
