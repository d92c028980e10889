/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched_ctx_query.c - what there is to know about a scheduling context,
 * and its workers as a collection. Any thread.
 */
#include <stdlib.h>

#include "core/api/ctx.h"
#include "core/job/count.h"
#include "core/sched/ctxs.h"
#include "core/worker/workers.h"

#define NMAX STARPU_NMAX_SCHED_CTXS

/* -- its workers -- */

static struct starpu_worker_collection *workers_of(const char *call,
                                                   unsigned sched_ctx_id)
{
    return &orr_api_sched(call, sched_ctx_id)->said->workers;
}

unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return workers_of(__func__, sched_ctx_id)->nworkers;
}

unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id,
                                               int **workerids)
{
    ORR_QUESTION();
    struct starpu_worker_collection *workers =
        workers_of(__func__, sched_ctx_id);

    *workerids = workers->workerids;
    return workers->nworkers;
}

unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id,
                                           int **workerids)
{
    ORR_QUESTION();
    struct starpu_worker_collection *workers =
        workers_of(__func__, sched_ctx_id);
    struct starpu_sched_ctx_iterator it;
    unsigned n = 0;

    *workerids = NULL;
    if (!workers->nworkers)
        return 0;
    *workerids = calloc(workers->nworkers, sizeof(**workerids));
    if (!*workerids)
        return 0;
    workers->init_iterator(workers, &it);
    while (n < workers->nworkers && workers->has_next(workers, &it))
        (*workerids)[n++] = workers->get_next(workers, &it);
    return n;
}

unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id)
{
    ORR_QUESTION();

    return workerid >= 0 && workerid < STARPU_NMAXWORKERS &&
           workers_of(__func__, sched_ctx_id)->present[workerid];
}

unsigned
starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
                                         unsigned sched_ctx_id)
{
    ORR_QUESTION();
    const struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    for (unsigned w = 0; w < sched->runtime->workers->n; w++)
        if (sched->said->workers.present[w] &&
            (arch == STARPU_ANY_WORKER ||
             sched->runtime->workers->at[w].desc->type == arch))
            return 1;
    return 0;
}

unsigned starpu_sched_ctx_get_nshared_workers(unsigned sched_ctx_id,
                                              unsigned sched_ctx_id2)
{
    ORR_QUESTION();
    const struct starpu_worker_collection *a =
        workers_of(__func__, sched_ctx_id);
    const struct starpu_worker_collection *b =
        workers_of(__func__, sched_ctx_id2);
    unsigned n = 0;

    for (unsigned i = 0; i < a->nworkers; i++)
        n += b->present[a->workerids[i]] != 0;
    return n;
}

unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    int worker = starpu_worker_get_id();

    return starpu_sched_ctx_contains_worker(worker, sched_ctx_id)
               ? (unsigned)worker
               : (unsigned)-1;
}

void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f)
{
    ORR_QUESTION();
    const struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    const struct starpu_worker_collection *workers = &sched->said->workers;
    const struct orr_runtime *rt = sched->runtime;
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        n += workers->present[w] != 0;
    fprintf(f, "[sched_ctx %u]: %u worker%s\n", sched_ctx_id, n,
            n == 1 ? "" : "s");
    for (unsigned i = 0; i < workers->nworkers; i++)
        if ((unsigned)workers->workerids[i] < rt->workers->n)
            fprintf(f, "\t\t%s\n",
                    rt->workers->at[workers->workerids[i]].desc->name);
}

/* -- as a collection: the context's from its beginning to its end -- */

struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return workers_of(__func__, sched_ctx_id);
}

/* Keeps the workers and changes the way in which they are walked over. */
struct starpu_worker_collection *starpu_sched_ctx_create_worker_collection(
    unsigned sched_ctx_id, enum starpu_worker_collection_type type)
{
    struct starpu_worker_collection *workers =
        workers_of(__func__, sched_ctx_id);
    const struct starpu_worker_collection *methods =
        type == STARPU_WORKER_TREE ? &starpu_worker_tree : &starpu_worker_list;

    workers->type = methods->type;
    workers->has_next = methods->has_next;
    workers->get_next = methods->get_next;
    workers->add = methods->add;
    workers->remove = methods->remove;
    workers->init_iterator = methods->init_iterator;
    workers->init_iterator_for_parallel_tasks =
        methods->init_iterator_for_parallel_tasks;
    return workers;
}

/* The collection lives as long as the context; it becomes a list. */
void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id)
{
    (void)starpu_sched_ctx_create_worker_collection(sched_ctx_id,
                                                    STARPU_WORKER_LIST);
}

/* -- what the application has set -- */

void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx_id)->said->user_data;
}

void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data)
{
    orr_api_sched(__func__, sched_ctx_id)->said->user_data = user_data;
}

unsigned starpu_sched_ctx_get_hierarchy_level(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx_id)->said->level;
}

void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(
    unsigned)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx_id)->said->policy_init;
}

unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id,
                                               unsigned *awake_workers)
{
    const struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    if (awake_workers)
        *awake_workers = sched->has_policy || sched->said->awake;
    return sched->has_policy;
}

/* -- its tasks -- */

int starpu_sched_ctx_get_nready_tasks(unsigned sched_ctx_id)
{
    ORR_QUESTION();

    return (int)orr_count_live_in(
        orr_api_sched(__func__, sched_ctx_id)->runtime, sched_ctx_id);
}

double starpu_sched_ctx_get_nready_flops(unsigned sched_ctx_id)
{
    ORR_QUESTION();

    return orr_count_flops_in(orr_api_sched(__func__, sched_ctx_id)->runtime,
                              sched_ctx_id);
}

/* -- parts of a device -- */

static int first_worker(const struct orr_sched *sched)
{
    const struct starpu_worker_collection *workers = &sched->said->workers;

    return workers->nworkers ? workers->workerids[0] : -1;
}

int starpu_sched_ctx_get_stream_worker(unsigned sub_ctx)
{
    ORR_QUESTION();
    return first_worker(orr_api_sched(__func__, sub_ctx));
}

int starpu_sched_ctx_get_nsms(unsigned sched_ctx)
{
    ORR_QUESTION();
    return orr_api_sched(__func__, sched_ctx)->said->nsms;
}

/* The context that has a part of the worker's device, with the worker as its first;
 * NULL: there is none. */
static const struct orr_sched *part_of(const char *call, int worker)
{
    struct orr_runtime *rt = orr_api_worker(call, worker)->runtime;

    for (unsigned c = 1; c < NMAX; c++)
        if (rt->sched_ctxs->at[c] && rt->sched_ctxs->at[c]->said->nsms &&
            first_worker(rt->sched_ctxs->at[c]) == worker)
            return rt->sched_ctxs->at[c];
    return NULL;
}

void starpu_sched_ctx_get_sms_interval(int stream_workerid, int *start,
                                       int *end)
{
    ORR_QUESTION();
    const struct orr_sched *sched = part_of(__func__, stream_workerid);

    *start = sched ? sched->said->first_sm : -1;
    *end = sched ? sched->said->first_sm + sched->said->nsms : -1;
}

unsigned starpu_worker_get_sched_ctx_id_stream(unsigned stream_workerid)
{
    ORR_QUESTION();
    const struct orr_sched *sched = part_of(__func__, (int)stream_workerid);

    return sched ? sched->id : NMAX;
}
