/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hwloc's types are in the signatures. */
#undef _ORR_LEAN
/*
 * core/api/parallel_worker.c - the machine cut into parallel workers: a scheduling
 * context with a policy and all workers, and in it one without for each of them,
 * whose master executes the tasks that come to it. Any thread.
 */
#include <starpu.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/api/bind.h"
#include "core/api/ctx.h"
#include "core/device/kind.h"
#include "core/sched/ctxs.h"
#include "core/worker/workers.h"

/* So many contexts there may be besides the first and that of all. */
enum { MOST = STARPU_NMAX_SCHED_CTXS - 2 };

/* --- what is asked for --- */

/* How many per part. */
struct amount {
    int n, least, most; /* 0: not given */
    bool prefers_least, divides;
};

/* What its kernels need. */
struct way {
    void (*create)(void *);
    void *arg;
    bool awake;
};

struct one {
    unsigned ncores; /* 0: its share */
    struct way way;
};

struct part_request {
    struct amount amount;
    struct way way;
    struct one ones[MOST];
    unsigned nones;
};

struct request {
    struct part_request machine; /* for parts without a request of their own */
    struct part_request parts[MOST];
    unsigned nparts;
    const char *policy_name;
    struct starpu_sched_policy *policy;
};

static _Noreturn void parallel_worker_fail(const char *why, int code)
{
    orr_log_error("starpu_parallel_worker_init: %s (%d)", why, code);
    abort();
}

static void take_type(struct way *way, int type)
{
    switch (type) {
    case STARPU_PARALLEL_WORKER_OPENMP:
    case STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL:
        way->create = starpu_parallel_worker_openmp_prologue;
        break;
    case STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL:
        way->create = starpu_parallel_worker_gnu_openmp_mkl_prologue;
        break;
    default:
        parallel_worker_fail("this is no type of a parallel worker", type);
    }
}

static bool take_amount(struct amount *amount, int code, va_list *ap)
{
    switch (code) {
    case STARPU_PARALLEL_WORKER_NB:
        amount->n = va_arg(*ap, int);
        return true;
    case STARPU_PARALLEL_WORKER_MIN_NB:
        amount->least = va_arg(*ap, int);
        return true;
    case STARPU_PARALLEL_WORKER_MAX_NB:
        amount->most = va_arg(*ap, int);
        return true;
    case STARPU_PARALLEL_WORKER_PREFERE_MIN:
        amount->prefers_least = va_arg(*ap, int) != 0;
        return true;
    case STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS:
        amount->divides = va_arg(*ap, int) != 0;
        return true;
    default:
        return false;
    }
}

static bool take_way(struct way *way, int code, va_list *ap)
{
    switch (code) {
    case STARPU_PARALLEL_WORKER_TYPE:
        take_type(way, va_arg(*ap, int));
        return true;
    case STARPU_PARALLEL_WORKER_CREATE_FUNC:
        way->create = va_arg(*ap, void (*)(void *));
        return true;
    case STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG:
        way->arg = va_arg(*ap, void *);
        return true;
    case STARPU_PARALLEL_WORKER_AWAKE_WORKERS:
        way->awake = va_arg(*ap, unsigned) != 0;
        return true;
    default:
        return false;
    }
}

/* The part, or the parallel worker, of which the next arguments are. */
static struct part_request *begin_part(struct request *request)
{
    if (request->nparts == MOST)
        parallel_worker_fail("there are more parts than scheduling contexts",
                             MOST);
    request->parts[request->nparts] = request->machine;
    return &request->parts[request->nparts++];
}

static struct one *begin_one(struct part_request *part)
{
    if (part->nones == MOST)
        parallel_worker_fail(
            "there are more parallel workers than scheduling contexts", MOST);
    part->ones[part->nones] = (struct one){.way = part->way};
    return &part->ones[part->nones++];
}

static void parallel_worker_read_arguments(struct request *request, va_list *ap)
{
    struct part_request *part = &request->machine;
    struct one *one = NULL;
    int code;

    while ((code = va_arg(*ap, int))) {
        if (code == STARPU_PARALLEL_WORKER_PARTITION_ONE) {
            part = begin_part(request);
            one = NULL;
        } else if (code == STARPU_PARALLEL_WORKER_NEW) {
            one = begin_one(part);
        } else if (code == STARPU_PARALLEL_WORKER_NCORES && one) {
            one->ncores = va_arg(*ap, unsigned);
        } else if (code == STARPU_PARALLEL_WORKER_POLICY_NAME) {
            request->policy_name = va_arg(*ap, const char *);
        } else if (code == STARPU_PARALLEL_WORKER_POLICY_STRUCT) {
            request->policy = va_arg(*ap, struct starpu_sched_policy *);
        } else if (!take_amount(&part->amount, code, ap) &&
                   !take_way(one ? &one->way : &part->way, code, ap)) {
            parallel_worker_fail(
                "this is no argument of it, or not here: use the "
                "STARPU_PARALLEL_WORKER_* of starpu_parallel_worker.h, and 0 "
                "at the end",
                code);
        }
    }
}

/* --- the parts of the machine --- */

/* The first of the workers that are nearer to this one than `far`. */
static unsigned first_within(const struct orr_runtime *rt, unsigned worker,
                             unsigned far)
{
    const unsigned *distances =
        &rt->machine->distances[(size_t)worker * rt->workers->n];

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (w == worker ||
            (distances[w] < far &&
             orr_device_kind(rt->workers->at[w].desc->type)->is_processor))
            return w;
    return worker;
}

static unsigned worker_farthest_distance(const struct orr_runtime *rt,
                                         unsigned worker)
{
    const unsigned *distances =
        &rt->machine->distances[(size_t)worker * rt->workers->n];
    unsigned most = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (distances[w] > most &&
            orr_device_kind(rt->workers->at[w].desc->type)->is_processor)
            most = distances[w];
    return most;
}

/* A number for the part of a worker that is bound to no processor. */
static unsigned part_by_shape(const struct orr_runtime *rt, unsigned worker,
                              hwloc_obj_type_t level)
{
    switch (level) {
    case HWLOC_OBJ_PU:
    case HWLOC_OBJ_CORE:
        return worker;
    case HWLOC_OBJ_NUMANODE:
        return rt->workers->at[worker].desc->node;
    case HWLOC_OBJ_PACKAGE:
        return rt->machine->distances
                   ? first_within(rt, worker,
                                  worker_farthest_distance(rt, worker))
                   : 0;
    case HWLOC_OBJ_MACHINE:
    case HWLOC_OBJ_GROUP:
        return 0;
    default: /* a cache: workers that are next to each other */
        return rt->machine->distances ? first_within(rt, worker, 1) : 0;
    }
}

static void check_level(hwloc_obj_type_t level)
{
    if (level == HWLOC_OBJ_BRIDGE || level == HWLOC_OBJ_PCI_DEVICE ||
        level == HWLOC_OBJ_OS_DEVICE || level == HWLOC_OBJ_MISC)
        parallel_worker_fail("the level is one of devices, not of processors",
                             (int)level);
}

struct part {
    unsigned name, n;
    int ids[STARPU_NMAXWORKERS]; /* in the order of their processors */
};

/* Puts each processor into its part; returns how many parts there are. */
static unsigned find_parts(struct orr_runtime *rt, hwloc_obj_type_t level,
                           struct part *parts)
{
    unsigned nparts = 0, p;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker_desc *desc = rt->workers->at[w].desc;
        unsigned name;

        if (!orr_device_kind(desc->type)->is_processor)
            continue;
        name = desc->cpu >= 0 ? orr_api_object_of((int)level, desc->cpu)
                              : part_by_shape(rt, w, level);
        if (name == UINT_MAX)
            continue;
        for (p = 0; p < nparts && parts[p].name != name; p++) {
        }
        if (p == nparts)
            parts[nparts++] = (struct part){.name = name};
        parts[p].ids[parts[p].n++] = (int)w;
    }
    return nparts;
}

/* --- how a part is shared out --- */

/* The number nearest to `first` that divides n, else leaves the least. */
static int divisor(int n, int first, int last)
{
    int step = first <= last ? 1 : -1, best = first;

    for (int k = first; k != last + step; k += step)
        if (n % k < n % best)
            best = k;
    return best;
}

static int clamp(int value, int most)
{
    if (value < 1)
        return 1;
    return value > most ? most : value;
}

/* How many parallel workers a part of n processors has. */
static unsigned part_worker_count(const struct part_request *request,
                                  unsigned n)
{
    const struct amount *amount = &request->amount;
    int least = clamp(amount->least, (int)n), most;
    int first, last;

    if (amount->n > 0)
        return (unsigned)clamp(amount->n, (int)n);
    if (request->nones)
        return (unsigned)clamp((int)request->nones, (int)n);
    if (!amount->least && !amount->most)
        return 1;
    most = clamp(amount->most ? amount->most : least, (int)n);
    first = amount->prefers_least ? least : most;
    last = amount->prefers_least ? most : least;
    return (unsigned)(amount->divides ? divisor((int)n, first, last) : first);
}

/* --- making them --- */

struct starpu_parallel_worker_config {
    unsigned main;                 /* the context of all */
    unsigned ctxs[MOST], n;        /* those of parallel workers … */
    unsigned part_of[MOST], nparts; /* … and in which part they are */
};

/* Runs once on each parallel worker. */
static void parallel_worker_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet prepares = {
    .cpu_funcs = {parallel_worker_kernel},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "parallel worker",
};

static void submit_prologue(const struct way *way, unsigned ctx)
{
    struct starpu_task *task = starpu_task_create();

    if (!task)
        parallel_worker_fail("out of memory", 0);
    task->cl = &prepares;
    task->possibly_parallel = 1;
    task->prologue_callback_pop_func = way->create;
    task->prologue_callback_pop_arg = way->arg;
    task->sched_ctx = ctx;
    if (starpu_task_submit(task) != 0)
        parallel_worker_fail("its first task cannot be submitted", (int)ctx);
}

static void make_one(struct starpu_parallel_worker_config *config,
                     const struct way *way, int *ids, unsigned n)
{
    unsigned ctx;

    if (way->awake)
        ctx = starpu_sched_ctx_create(
            ids, (int)n, "parallel_workers", STARPU_SCHED_CTX_NESTED,
            config->main, STARPU_SCHED_CTX_AWAKE_WORKERS, 0);
    else
        ctx = starpu_sched_ctx_create(ids, (int)n, "parallel_workers",
                                      STARPU_SCHED_CTX_NESTED, config->main, 0);
    config->ctxs[config->n] = ctx;
    config->part_of[config->n++] = config->nparts;
    if (!way->awake)
        submit_prologue(way, ctx);
}

static void share_out(struct starpu_parallel_worker_config *config,
                      const struct part_request *request, struct part *part)
{
    unsigned n = part_worker_count(request, part->n), left = part->n;
    int *ids = part->ids;

    for (unsigned i = 0; i < n; i++) {
        const struct one *one = i < request->nones ? &request->ones[i] : NULL;
        unsigned most = left - (n - i - 1), share = left / (n - i);

        if (one && one->ncores)
            share = one->ncores < most ? one->ncores : most;
        make_one(config, one ? &one->way : &request->way, ids, share);
        ids += share;
        left -= share;
    }
    config->nparts++;
}

/* The policy that was named, else that of the first context. */
static unsigned make_main(struct orr_runtime *rt, const struct request *request)
{
    const struct orr_sched *first = rt->sched_ctxs->at[0];
    struct starpu_sched_policy *policy = request->policy;
    const char *name = request->policy_name;

    if (!name && !policy && first->of_user)
        policy = &first->said->policy;
    if (policy)
        return starpu_sched_ctx_create(NULL, -1, "main sched ctx",
                                       STARPU_SCHED_CTX_POLICY_STRUCT, policy,
                                       0);
    return starpu_sched_ctx_create(NULL, -1, "main sched ctx",
                                   STARPU_SCHED_CTX_POLICY_NAME,
                                   name ? name : first->ops->name, 0);
}

static unsigned count_free(const struct orr_runtime *rt)
{
    unsigned n = 0;

    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++)
        n += rt->sched_ctxs->at[c] == NULL;
    return n;
}

static const struct part_request *request_of(const struct request *request,
                                             unsigned part)
{
    return part < request->nparts ? &request->parts[part] : &request->machine;
}

/* Whether there are contexts enough for all. */
static bool have_room(const struct orr_runtime *rt,
                      const struct request *request, const struct part *parts,
                      unsigned nparts)
{
    unsigned needed = 1;

    for (unsigned p = 0; p < nparts; p++)
        needed += part_worker_count(request_of(request, p), parts[p].n);
    if (needed <= count_free(rt))
        return true;
    orr_log_error("starpu_parallel_worker_init: %u scheduling contexts are "
                  "needed, one for each parallel worker and one more, and %u "
                  "are free: take a higher level, or fewer per part",
                  needed, count_free(rt));
    return false;
}

static struct starpu_parallel_worker_config *
make_all(hwloc_obj_type_t level, struct request *request)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct part *parts = calloc(rt->workers->n, sizeof(*parts));
    struct starpu_parallel_worker_config *config = calloc(1, sizeof(*config));
    unsigned nparts;

    if (!parts || !config)
        parallel_worker_fail("out of memory", 0);
    check_level(level);
    nparts = find_parts(rt, level, parts);
    if (nparts == 0 || !have_room(rt, request, parts, nparts)) {
        free(config);
        config = NULL;
    } else {
        config->main = make_main(rt, request);
        for (unsigned p = 0; p < nparts; p++)
            share_out(config, request_of(request, p), &parts[p]);
        starpu_sched_ctx_set_context(&config->main);
    }
    free(parts);
    return config;
}

static struct starpu_parallel_worker_config *
parallel_worker_init(hwloc_obj_type_t level, va_list *ap)
{
    struct request *request = calloc(1, sizeof(*request));
    struct starpu_parallel_worker_config *config;

    if (!request)
        parallel_worker_fail("out of memory", 0);
    request->machine.way.create = starpu_parallel_worker_openmp_prologue;
    parallel_worker_read_arguments(request, ap);
    config = make_all(level, request);
    free(request);
    return config;
}

struct starpu_parallel_worker_config *
starpu_parallel_worker_init(hwloc_obj_type_t parallel_worker_level, ...)
{
    struct starpu_parallel_worker_config *config;
    va_list ap;

    va_start(ap, parallel_worker_level);
    config = parallel_worker_init(parallel_worker_level, &ap);
    va_end(ap);
    return config;
}

static int
parallel_worker_end(const char *call,
                    struct starpu_parallel_worker_config *parallel_workers)
{
    if (!parallel_workers)
        return -1;
    orr_api_expect_outside(call);
    for (unsigned i = 0; i < parallel_workers->n; i++)
        starpu_task_wait_for_all_in_ctx(parallel_workers->ctxs[i]);
    starpu_task_wait_for_all_in_ctx(parallel_workers->main);
    for (unsigned i = 0; i < parallel_workers->n; i++)
        orr_api_sched_ctx_delete(call, parallel_workers->ctxs[i]);
    orr_api_sched_ctx_delete(call, parallel_workers->main);
    starpu_sched_ctx_set_context(NULL);
    free(parallel_workers);
    return 0;
}

int starpu_parallel_worker_shutdown(
    struct starpu_parallel_worker_config *parallel_workers)
{
    return parallel_worker_end(__func__, parallel_workers);
}

int starpu_parallel_worker_print(
    struct starpu_parallel_worker_config *parallel_workers)
{
    unsigned part = UINT_MAX;

    if (!parallel_workers)
        return -1;
    printf("%u parallel worker%s in %u part%s of the machine\n",
           parallel_workers->n, parallel_workers->n == 1 ? "" : "s",
           parallel_workers->nparts, parallel_workers->nparts == 1 ? "" : "s");
    for (unsigned i = 0; i < parallel_workers->n; i++) {
        int *cpuids, n;

        if (parallel_workers->part_of[i] != part) {
            part = parallel_workers->part_of[i];
            printf("part %u\n", part);
        }
        starpu_sched_ctx_get_available_cpuids(parallel_workers->ctxs[i],
                                              &cpuids, &n);
        printf("\tparallel worker %u: processors", i);
        for (int k = 0; k < n; k++)
            printf(" %d", cpuids[k]);
        printf("\n");
        free(cpuids);
    }
    return 0;
}

/* --- older names --- */

struct starpu_cluster_machine *
starpu_cluster_machine(hwloc_obj_type_t cluster_level, ...)
{
    struct starpu_parallel_worker_config *config;
    va_list ap;

    va_start(ap, cluster_level);
    config = parallel_worker_init(cluster_level, &ap);
    va_end(ap);
    return (struct starpu_cluster_machine *)config;
}

int starpu_uncluster_machine(struct starpu_cluster_machine *clusters)
{
    return parallel_worker_end(
        __func__, (struct starpu_parallel_worker_config *)clusters);
}

int starpu_cluster_print(struct starpu_cluster_machine *clusters)
{
    return starpu_parallel_worker_print(
        (struct starpu_parallel_worker_config *)clusters);
}
