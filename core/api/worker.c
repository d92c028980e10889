/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/worker.c - the queries of starpu_worker.h about workers. What they
 * read is fixed by starpu_init; any thread.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "core/api/api.h"
#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/job/job.h"
#include "core/observe/profile.h"
#include "core/worker/workers.h"

/* -- architectures -- */

unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type)
{
    return orr_device_kind(type) != NULL;
}

enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask)
{
    const struct orr_device_kind *kind;

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        if (STARPU_WORKER_TO_MASK(kind->type) == mask)
            return kind->type;
    return STARPU_UNKNOWN_WORKER;
}

const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    if (type == STARPU_ANY_WORKER)
        return "any";
    return kind ? kind->name : "unknown";
}

const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    return kind ? kind->variable : "UNKNOWN";
}

enum starpu_worker_archtype starpu_worker_get_type_from_string(const char *type)
{
    const struct orr_device_kind *kind = orr_device_kind_named(type);

    return kind ? kind->type : STARPU_UNKNOWN_WORKER;
}

enum starpu_node_kind
starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    return kind ? kind->memory : STARPU_UNUSED;
}

enum starpu_worker_archtype
starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind)
{
    const struct orr_device_kind *kind = orr_device_kind_of_memory(node_kind);

    return kind ? kind->type : STARPU_UNKNOWN_WORKER;
}

/* -- how many -- */

static bool is_up(const struct orr_worker *worker)
{
    return worker->driven ||
           atomic_load_explicit(&worker->up, memory_order_acquire);
}

void starpu_worker_set_going_to_sleep_callback(void (*callback)(unsigned))
{
    atomic_store_explicit(&orr_runtime_need(__func__)->workers->hooks.sleeps,
                          callback, memory_order_release);
}

void starpu_worker_set_waking_up_callback(void (*callback)(unsigned))
{
    atomic_store_explicit(&orr_runtime_need(__func__)->workers->hooks.wakes,
                          callback, memory_order_release);
}

/* Polls: this is waited for once in a run. */
void starpu_worker_wait_for_initialisation(void)
{
    static const struct orr_awaited awaited = {.noun = "workers to start"};
    ORR_API(rt, __func__);
    const double interval_us = 10;

    if (!orr_may_block(__func__))
        return;
    ORR_APPLICATION_DOES(rt, ORR_TRACE_WAITS, __func__);
    for (unsigned w = 0; w < rt->workers->n; w++)
        while (!is_up(&rt->workers->at[w]))
            orr_context_poll(&awaited, interval_us);
}

static bool is_of(const struct orr_worker *worker,
                  enum starpu_worker_archtype type)
{
    return type == STARPU_ANY_WORKER || worker->desc->type == type;
}

int starpu_worker_get_count_by_type(enum starpu_worker_archtype type)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);
    int n = 0;

    for (unsigned w = 0; rt && w < rt->workers->n; w++)
        n += is_of(&rt->workers->at[w], type);
    return n;
}

unsigned starpu_worker_get_count(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt ? rt->workers->n : 0;
}

/* -- the caller -- */

int starpu_worker_get_id(void)
{
    return orr_self && orr_self->worker ? (int)orr_self->worker->id : -1;
}

unsigned _starpu_worker_get_id_check(const char *f, int l)
{
    int id = starpu_worker_get_id();

    if (id >= 0)
        return (unsigned)id;
    orr_log_error("%s:%d: starpu_worker_get_id_check may only be called by a "
                  "worker, from a kernel or a callback",
                  f, l);
    abort();
}

#undef starpu_worker_get_id_check
unsigned starpu_worker_get_id_check(void)
{
    return _starpu_worker_get_id_check("?", 0);
}

/* -- about one -- */

enum starpu_worker_archtype starpu_worker_get_type(int id)
{
    ORR_QUESTION();
    return orr_api_worker(__func__, id)->desc->type;
}

int starpu_worker_get_devid(int id)
{
    ORR_QUESTION();
    return orr_api_worker(__func__, id)->desc->devid;
}

int starpu_worker_get_devnum(int id)
{
    ORR_QUESTION();
    return orr_api_worker(__func__, id)->desc->devid;
}

/* One worker drives each device. */
int starpu_worker_get_subworkerid(int id)
{
    ORR_QUESTION();
    const struct orr_worker *worker = orr_api_worker(__func__, id);

    return (int)worker->desc->stream;
}

void starpu_worker_get_current_task_exp_end(unsigned workerid,
                                            struct timespec *date)
{
    ORR_QUESTION();
    const struct orr_worker *worker = orr_api_worker(__func__, workerid);

    *date = orr_profile_time(atomic_load(&worker->exp_end));
}

void starpu_worker_get_name(int id, char *dst, size_t maxlen)
{
    ORR_QUESTION();
    snprintf(dst, maxlen, "%s", orr_api_worker(__func__, id)->desc->name);
}

/* -- searches -- */

unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type,
                                       int *workerids, unsigned maxsize)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        if (!is_of(&rt->workers->at[w], type))
            continue;
        if (n == maxsize)
            return (unsigned)-ERANGE;
        workerids[n++] = (int)w;
    }
    return n;
}

int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (is_of(&rt->workers->at[w], type) && num-- == 0)
            return (int)w;
    return -1;
}

int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (is_of(&rt->workers->at[w], type) &&
            rt->workers->at[w].desc->devid == devid)
            return (int)w;
    return -1;
}

int starpu_worker_get_stream_workerids(unsigned devid, int *workerids,
                                       enum starpu_worker_archtype type)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    int n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (is_of(&rt->workers->at[w], type) &&
            rt->workers->at[w].desc->devid == (int)devid)
            workerids[n++] = (int)w;
    return n;
}

/* Workers of one device are neighbours, so that a device is new when it is
 * not the last one written. */
int starpu_worker_get_devids(enum starpu_worker_archtype type, int *devids,
                             int num)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    int n = 0;

    for (unsigned w = 0; w < rt->workers->n && n < num; w++) {
        int devid = rt->workers->at[w].desc->devid;

        if (is_of(&rt->workers->at[w], type) &&
            (n == 0 || devids[n - 1] != devid))
            devids[n++] = devid;
    }
    return n;
}

static bool class_can(struct orr_runtime *rt, struct orr_job *job,
                      unsigned class_id)
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);
    bool uniform = true;

    if (orr_job_able_class(rt, job, row, class_id, &uniform))
        return true;
    for (unsigned i = 0;
         !uniform && i < rt->workers->classes[class_id].nworkers; i++)
        if (orr_job_able(rt, job, row,
                         rt->workers->classes[class_id].members[i]))
            return true;
    return false;
}

static bool some_class_can(const struct orr_runtime *rt,
                           const struct orr_cost_row *row,
                           enum starpu_worker_archtype type)
{
    for (unsigned k = 0; row && k < rt->workers->nclasses; k++)
        if (rt->workers->classes[k].type == type && row->able[k])
            return true;
    return false;
}

unsigned
starpu_worker_type_can_execute_task(enum starpu_worker_archtype worker_type,
                                    const struct starpu_task *task)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_job *job = orr_job_of(task);

    /* Before submission nothing more is known than the codelet. */
    if (!job && task->cl && rt->machine->all_devices)
        return some_class_can(rt, orr_task_costs(rt, (struct starpu_task *)(uintptr_t)task),
                              worker_type);
    if (!job)
        return task->cl && (!task->cl->where ||
                            (task->cl->where & orr_device_where(worker_type)));
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (rt->workers->classes[k].type == worker_type &&
            class_can(rt, job, k))
            return 1;
    return 0;
}

/* -- lists for display -- */

void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    starpu_worker_display_count(output, type);
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (is_of(&rt->workers->at[w], type))
            fprintf(output, "\t%s\n", rt->workers->at[w].desc->name);
}

void starpu_worker_display_count(FILE *output, enum starpu_worker_archtype type)
{
    int n = starpu_worker_get_count_by_type(type);

    fprintf(output, "%d %s worker%s\n", n,
            starpu_worker_get_type_as_string(type), n == 1 ? "" : "s");
}

void starpu_worker_display_all(FILE *output)
{
    const struct orr_device_kind *kind;

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        if (starpu_worker_get_count_by_type(kind->type) > 0)
            starpu_worker_display_names(output, kind->type);
}
