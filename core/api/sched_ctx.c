/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched_ctx.c - scheduling contexts: making and ending them, their
 * workers, the one that a thread has chosen, moving tasks. Any thread.
 */
#include "core/api/ctx.h"

#include <stdarg.h>
#include <string.h>

#include "core/api/policy.h"
#include "core/api/state.h"
#include "core/device/kind.h"
#include "core/job/count.h"
#include "core/sched/ctxs.h"
#include "core/worker/workers.h"

#define NMAX STARPU_NMAX_SCHED_CTXS

/* -- creating -- */

/* The arguments of a creation. */
struct request {
    struct orr_sched_options options;
    struct orr_sched_said said; /* what is given, else 0 */
    bool nested;
};

static _Noreturn void fail_argument(int code)
{
    orr_log_error("starpu_sched_ctx_create: %d is no argument of it: use the "
                  "STARPU_SCHED_CTX_* of starpu_sched_ctx.h, and 0 at the end",
                  code);
    abort();
}

static void take_sub_ctxs(struct request *request, const int *ids, int n)
{
    request->said.nsub_ctxs = n < NMAX ? n : NMAX;
    memcpy(request->said.sub_ctxs, ids,
           (size_t)request->said.nsub_ctxs * sizeof(*ids));
}

/* Where the arguments come from: a variadic list, or an array in which numbers are
 * addresses, as Fortran has it. */
struct arguments {
    va_list ap;
    void *const *array; /* NULL: ap */
};

static int take_int(struct arguments *from)
{
    return from->array ? *(const int *)*from->array++ : va_arg(from->ap, int);
}

static void *take_pointer(struct arguments *from)
{
    /* Not in one expression: two types of it would be one. */
    if (from->array)
        return *from->array++;
    return va_arg(from->ap, void *);
}

static int take_code(struct arguments *from)
{
    return from->array ? (int)(intptr_t)*from->array++ : va_arg(from->ap, int);
}

static bool take_of_policy(struct request *request, int code,
                           struct arguments *from)
{
    struct orr_sched_options *options = &request->options;

    switch (code) {
    case STARPU_SCHED_CTX_POLICY_NAME:
        options->name = take_pointer(from);
        break;
    case STARPU_SCHED_CTX_POLICY_STRUCT:
        options->user = take_pointer(from);
        break;
    case STARPU_SCHED_CTX_POLICY_MIN_PRIO:
        options->min_priority = take_int(from);
        options->min_given = true;
        return true;
    case STARPU_SCHED_CTX_POLICY_MAX_PRIO:
        options->max_priority = take_int(from);
        options->max_given = true;
        return true;
    default:
        return false;
    }
    options->without_policy = false;
    return true;
}

static bool take_of_context(struct request *request, int code,
                            struct arguments *from)
{
    struct orr_sched_said *said = &request->said;
    const int *ids;

    switch (code) {
    case STARPU_SCHED_CTX_HIERARCHY_LEVEL:
        said->level = (unsigned)take_int(from);
        return true;
    case STARPU_SCHED_CTX_NESTED:
        said->parent = (unsigned)take_int(from);
        return true;
    case STARPU_SCHED_CTX_AWAKE_WORKERS:
        said->awake = true;
        return true;
    case STARPU_SCHED_CTX_POLICY_INIT:
        said->policy_init = (void (*)(unsigned))(uintptr_t)take_pointer(from);
        return true;
    case STARPU_SCHED_CTX_USER_DATA:
        said->user_data = take_pointer(from);
        return true;
    case STARPU_SCHED_CTX_CUDA_NSMS:
        said->nsms = take_int(from);
        return true;
    case STARPU_SCHED_CTX_SUB_CTXS:
        ids = take_pointer(from);
        take_sub_ctxs(request, ids, take_int(from));
        return true;
    default:
        return false;
    }
}

static void sched_ctx_read_arguments(struct request *request,
                                     struct arguments *from)
{
    int code;

    while ((code = take_code(from)))
        if (!take_of_policy(request, code, from) &&
            !take_of_context(request, code, from))
            fail_argument(code);
}

/* The policies of starpu_sched_get_predefined_policies are names. */
static void name_policy(struct orr_sched_options *options)
{
    if (!orr_policy_is_name(options->user))
        return;
    options->name = options->user->policy_name;
    options->user = NULL;
}

/* The next multiprocessors of a running count. */
static void take_multiprocessors(struct orr_sched *sched)
{
    enum { MOST = 13 };
    struct orr_runtime *rt = sched->runtime;
    int first = 0;

    for (unsigned c = 1; c < NMAX; c++)
        if (rt->sched_ctxs->at[c] && rt->sched_ctxs->at[c] != sched &&
            rt->sched_ctxs->at[c]->said->first_sm +
                    rt->sched_ctxs->at[c]->said->nsms >
                first)
            first = rt->sched_ctxs->at[c]->said->first_sm +
                    rt->sched_ctxs->at[c]->said->nsms;
    sched->said->first_sm = first;
    if (first + sched->said->nsms <= MOST)
        return;
    orr_log_error("starpu_sched_ctx_create: %d multiprocessors are asked for, "
                  "%d are left of %d",
                  sched->said->nsms, MOST - first, MOST);
    abort();
}

static void sched_ctx_prepare_said(struct orr_sched *sched, void *arg)
{
    const struct request *request = arg;
    struct orr_sched_said *said = sched->said;

    orr_iterations_clear(&sched->runtime->views->iterations, sched->id);
    said->name = request->said.name;
    said->level = request->said.level;
    said->parent = request->said.parent;
    said->awake = request->said.awake || sched->has_policy;
    said->policy_init = request->said.policy_init;
    said->user_data = request->said.user_data;
    said->nsms = request->said.nsms;
    said->nsub_ctxs = request->said.nsub_ctxs;
    memcpy(said->sub_ctxs, request->said.sub_ctxs, sizeof(said->sub_ctxs));
    if (said->nsms)
        take_multiprocessors(sched);
}

static void check_workers(const char *call, const int *ids, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        (void)orr_api_worker(call, ids[i]);
}

static bool has_processor(const struct orr_runtime *rt, const int *ids,
                          unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (orr_device_kind(rt->workers->at[ids[i]].desc->type)->is_processor)
            return true;
    return false;
}

/* Ends the program if the request is one that no context could meet. */
static void check_request(const struct orr_runtime *rt,
                          const struct request *request, const int *ids,
                          unsigned n)
{
    const char *wrong = NULL;

    if (request->said.parent != NMAX &&
        (request->said.parent > NMAX ||
         !rt->sched_ctxs->at[request->said.parent]))
        wrong = "STARPU_SCHED_CTX_NESTED names no scheduling context";
    else if (request->options.without_policy && n &&
             !has_processor(rt, ids, n))
        wrong = "a context without policy needs a CPU worker, which executes "
                "its tasks: give it one, or name a policy";
    if (!wrong)
        return;
    orr_log_error("starpu_sched_ctx_create: %s", wrong);
    abort();
}

static unsigned create(struct orr_runtime *rt, int *workerids_ctx,
                       int nworkers_ctx, const char *name,
                       struct arguments *from)
{
    struct request request = {.options.without_policy = true,
                              .said = {.name = name, .parent = NMAX}};
    int all[STARPU_NMAXWORKERS], *ids = workerids_ctx;
    unsigned n = nworkers_ctx < 0 ? rt->workers->n : (unsigned)nworkers_ctx, id;
    struct orr_error err = {""};

    ORR_RECORD_NOTE(rt, "scheduling contexts, which replays lack");
    for (unsigned w = 0; w < rt->workers->n; w++)
        all[w] = (int)w;
    if (!ids)
        ids = all;
    check_workers("starpu_sched_ctx_create", ids, n);
    sched_ctx_read_arguments(&request, from);
    name_policy(&request.options);
    check_request(rt, &request, ids, n);
    if (orr_sched_ctx_create(rt, &request.options, sched_ctx_prepare_said,
                             &request, ids, &n, &id, &err) == 0)
        return id;
    orr_log_error("starpu_sched_ctx_create: %s", err.text);
    abort();
}

unsigned starpu_sched_ctx_create(int *workerids_ctx, int nworkers_ctx,
                                 const char *sched_ctx_name, ...)
{
    ORR_API(rt, __func__);
    struct arguments from = {.array = NULL};
    unsigned id;

    va_start(from.ap, sched_ctx_name);
    id = create(rt, workerids_ctx, nworkers_ctx, sched_ctx_name, &from);
    va_end(from.ap);
    return id;
}

unsigned orr_api_sched_ctx_create_array(int *ids, int n, const char *name,
                                        void *const *list)
{
    ORR_API(rt, "fstarpu_sched_ctx_create");
    struct arguments from = {.array = list};

    return create(rt, ids, n, name, &from);
}

/* -- creating one with some of the workers that are free -- */

struct interval {
    struct request request;
    int least[2], most[2]; /* of others, of processors */
    bool overlap;
    int ids[STARPU_NMAXWORKERS];
    unsigned n, of_kind[2];
};

/* Whether it is in no other context but 0. The caller changes contexts. */
static bool is_free(const struct orr_runtime *rt, unsigned w)
{
    for (unsigned c = 1; c < NMAX; c++)
        if (rt->sched_ctxs->at[c] &&
            rt->sched_ctxs->at[c]->said->workers.present[w])
            return false;
    return true;
}

static void sched_ctx_choose_workers(const struct orr_runtime *rt,
                                     struct interval *interval, bool free)
{
    for (unsigned w = 0; w < rt->workers->n; w++) {
        bool core =
            orr_device_kind(rt->workers->at[w].desc->type)->is_processor;

        if (is_free(rt, w) != free ||
            (int)interval->of_kind[core] >= interval->most[core])
            continue;
        interval->of_kind[core]++;
        interval->ids[interval->n++] = (int)w;
    }
}

static bool has_enough(const struct interval *interval)
{
    return (int)interval->of_kind[false] >= interval->least[false] &&
           (int)interval->of_kind[true] >= interval->least[true];
}

/* Where there are too few workers the context gets none of them, and is deleted
 * afterwards. */
static void prepare_interval(struct orr_sched *sched, void *arg)
{
    struct interval *interval = arg;

    sched_ctx_prepare_said(sched, &interval->request);
    sched_ctx_choose_workers(sched->runtime, interval, true);
    if (interval->overlap)
        sched_ctx_choose_workers(sched->runtime, interval, false);
    if (!has_enough(interval))
        interval->n = 0;
}

static void check_interval(const char *what, int least, int most)
{
    if (least <= most && most >= 0)
        return;
    orr_log_error("starpu_sched_ctx_create_inside_interval: %d to %d %s are no "
                  "interval: the first number is at most the second, which is "
                  "not negative",
                  least, most, what);
    abort();
}

unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
                                                 const char *sched_ctx_name,
                                                 int min_ncpus, int max_ncpus,
                                                 int min_ngpus, int max_ngpus,
                                                 unsigned allow_overlap)
{
    ORR_API(rt, __func__);
    struct interval interval = {
        .request = {.options = {.without_policy = !policy_name,
                                .name = policy_name},
                    .said = {.name = sched_ctx_name, .parent = NMAX}},
        .least = {min_ngpus, min_ncpus},
        .most = {max_ngpus, max_ncpus},
        .overlap = allow_overlap != 0};
    struct orr_error err = {""};
    unsigned id;

    check_interval("CPU workers", min_ncpus, max_ncpus);
    check_interval("other workers", min_ngpus, max_ngpus);
    ORR_RECORD_NOTE(rt, "scheduling contexts, which replays lack");
    if (orr_sched_ctx_create(rt, &interval.request.options, prepare_interval,
                             &interval, interval.ids, &interval.n, &id,
                             &err) != 0) {
        orr_log_error("%s: %s", __func__, err.text);
        abort();
    }
    if (has_enough(&interval))
        return id;
    orr_sched_ctx_delete(rt, id);
    return NMAX;
}

/* -- ending -- */

static _Noreturn void sched_ctx_fail(const char *call, const char *why)
{
    orr_log_error("%s: %s", call, why);
    abort();
}

void orr_api_expect_outside(const char *call)
{
    if (!orr_is_outside(call))
        sched_ctx_fail(call, "it waits for tasks: call it outside of tasks and "
                             "callbacks");
}

void orr_api_sched_ctx_delete(const char *call, unsigned sched_ctx_id)
{
    ORR_API(rt, call);

    (void)orr_api_sched(call, sched_ctx_id);
    if (sched_ctx_id == 0)
        sched_ctx_fail(call, "the first scheduling context stays until "
                             "starpu_shutdown");
    orr_api_expect_outside(call);
    orr_pay();
    if (orr_self->sched_ctx == sched_ctx_id + 1)
        orr_self->sched_ctx = 0;
    orr_sched_ctx_delete(rt, sched_ctx_id);
}

void starpu_sched_ctx_delete(unsigned sched_ctx_id)
{
    orr_api_sched_ctx_delete(__func__, sched_ctx_id);
}

void starpu_sched_ctx_finished_submit(unsigned sched_ctx_id)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    if (sched_ctx_id == 0)
        return;
    sched->said->finished = true;
    orr_sched_ctx_task_ended(sched->runtime, sched_ctx_id);
}

void starpu_sched_ctx_register_close_callback(
    unsigned sched_ctx_id, void (*close_callback)(unsigned, void *), void *args)
{
    struct orr_sched_said *said = orr_api_sched(__func__, sched_ctx_id)->said;

    said->at_close = close_callback;
    said->at_close_arg = args;
}

/* StarPU marks the place by an empty task as well. */
void starpu_sched_ctx_stop_task_submission(void)
{
    struct starpu_task *task = starpu_task_create();

    if (!task || starpu_task_submit(task) != 0)
        sched_ctx_fail(__func__, "out of memory");
}

void starpu_sched_ctx_set_inheritor(unsigned sched_ctx_id, unsigned inheritor)
{
    (void)orr_api_sched(__func__, inheritor);
    orr_api_sched(__func__, sched_ctx_id)->said->inheritor = inheritor;
}

unsigned starpu_sched_ctx_get_inheritor(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx_id)->said->inheritor;
}

/* -- its workers -- */

static void check_list(const char *call, const int *ids, unsigned n)
{
    if (!ids || !n)
        sched_ctx_fail(call, "no workers are given");
    check_workers(call, ids, n);
}

void starpu_sched_ctx_add_workers(int *workerids_ctx, unsigned nworkers_ctx,
                                  unsigned sched_ctx_id)
{
    ORR_API(rt, __func__);

    (void)orr_api_sched(__func__, sched_ctx_id);
    check_list(__func__, workerids_ctx, nworkers_ctx);
    orr_sched_ctx_add(rt, sched_ctx_id, workerids_ctx,
                      nworkers_ctx);
}

void starpu_sched_ctx_remove_workers(int *workerids_ctx, unsigned nworkers_ctx,
                                     unsigned sched_ctx_id)
{
    ORR_API(rt, __func__);

    (void)orr_api_sched(__func__, sched_ctx_id);
    check_list(__func__, workerids_ctx, nworkers_ctx);
    orr_sched_ctx_remove(rt, sched_ctx_id, workerids_ctx,
                         nworkers_ctx);
}

/* -- the one that a thread has chosen -- */

void starpu_sched_ctx_set_context(unsigned *sched_ctx_id)
{
    (void)ORR_API_RUNTIME();
    if (!sched_ctx_id || *sched_ctx_id == NMAX) {
        orr_self->sched_ctx = 0;
        return;
    }
    (void)orr_api_sched(__func__, *sched_ctx_id);
    orr_self->sched_ctx = (unsigned short)(*sched_ctx_id + 1);
}

unsigned starpu_sched_ctx_get_context(void)
{
    return orr_self && orr_self->sched_ctx ? orr_self->sched_ctx - 1U : NMAX;
}

unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task)
{
    return task->sched_ctx;
}

/* -- moving tasks -- */

void starpu_sched_ctx_move_task_to_ctx_locked(struct starpu_task *task,
                                              unsigned sched_ctx,
                                              unsigned with_repush)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx);
    struct orr_runtime *rt = sched->runtime;
    struct orr_job *job = orr_job_of(task);

    if (!job || orr_job_state(job) != ORR_JOB_READY)
        sched_ctx_fail(__func__,
                       "the task is not ready: only a policy that was given it "
                       "may move it");
    job->sched_ctx = (uint8_t)sched_ctx;
    task->sched_ctx = sched_ctx;
    orr_count_submitted(rt, sched_ctx);
    orr_count_pushed(rt, sched_ctx, task->flops);
    if (with_repush)
        orr_sched_push_again(rt, job);
}

/* Takes a task that was moved out of the context's counts. */
void starpu_sched_ctx_revert_task_counters_ctx_locked(unsigned sched_ctx_id,
                                                      double flops)
{
    struct orr_runtime *rt = orr_api_sched(__func__, sched_ctx_id)->runtime;

    orr_count_popped(rt, sched_ctx_id);
    orr_count_ran(rt, sched_ctx_id, flops);
    orr_count_ended(rt, sched_ctx_id);
}
