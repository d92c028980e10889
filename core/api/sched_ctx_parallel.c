/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched_ctx_parallel.c - the processors of a scheduling context for
 * threads of the application, or of a parallel kernel: which ones, binding to
 * them, keeping their workers away. Any thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/api/bind.h"
#include "core/api/ctx.h"
#include "core/api/state.h"
#include "core/device/kind.h"
#include "core/worker/workers.h"

#define NMAX STARPU_NMAX_SCHED_CTXS

/* The workers as they are now. */
static int *sched_ctx_copy_workers(const char *call,
                                   const struct orr_sched *sched,
                                   unsigned *ret_n)
{
    unsigned all, n = 0;
    int *ids;

    all = starpu_sched_ctx_get_workers_list(sched->id, &ids);
    if (!ids && starpu_sched_ctx_get_nworkers(sched->id) > 0) {
        orr_log_error("%s: out of memory", call);
        abort();
    }
    /* Combined workers are left out: their members are in the list already. */
    for (unsigned i = 0; i < all; i++)
        if ((unsigned)ids[i] < sched->runtime->workers->n)
            ids[n++] = ids[i];
    *ret_n = n;
    return ids;
}

void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param,
                                          unsigned sched_ctx_id)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    unsigned n;
    int *ids;
    void *result;

    if (!func) {
        orr_log_error("%s: the function is NULL", __func__);
        abort();
    }
    ids = sched_ctx_copy_workers(__func__, sched, &n);
    orr_pay();
    orr_sched_block(sched->runtime, ids, n);
    result = func(param);
    orr_sched_unblock(sched->runtime, ids, n);
    free(ids);
    return result;
}

/* -- booking -- */

static struct orr_api_booking *booking_of_locked(struct orr_api_state *state,
                                                 int worker)
    ORR_REQUIRES(state->lock)
{
    struct orr_api_booking *booking = state->bookings;

    for (; booking; booking = booking->next)
        for (unsigned i = 0; i < booking->n; i++)
            if (booking->ids[i] == worker)
                return booking;
    return NULL;
}

/* Whether the worker is booked for a task of that master. */
static bool is_booked_for(int worker, int master)
{
    struct orr_api_state *state = orr_api_state(__func__);
    const struct orr_api_booking *booking;
    bool found;

    orr_lock(&state->lock);
    booking = booking_of_locked(state, worker);
    found = booking && booking->master == master;
    orr_unlock(&state->lock);
    return found;
}

static bool can_be_booked(struct orr_sched *sched, int id)
{
    if (id >= 0 && (unsigned)id < sched->runtime->workers->n &&
        sched->said->workers.present[id] &&
        orr_device_kind(sched->runtime->workers->at[id].desc->type)
            ->is_processor)
        return true;
    orr_log_error(
        "starpu_sched_ctx_book_workers_for_task: %d is no CPU worker of "
        "scheduling context %u",
        id, sched->id);
    return false;
}

/* The master is the calling worker if it is one of them, else the first of them. */
static struct orr_api_booking *make_booking(struct orr_sched *sched,
                                            const int *ids, unsigned n)
{
    struct orr_api_booking *booking =
        malloc(sizeof(*booking) + n * sizeof(*ids));
    int self = starpu_worker_get_id();

    if (!booking)
        return NULL;
    booking->sched_ctx = sched->id;
    booking->n = n;
    booking->master = ids[0];
    for (unsigned i = 0; i < n; i++) {
        booking->ids[i] = ids[i];
        if (ids[i] == self)
            booking->master = self;
    }
    return booking;
}

/* Keeps the booking, unless one of its workers is in another booking. */
static bool enter_booking(struct orr_api_booking *booking)
{
    struct orr_api_state *state = orr_api_state(__func__);
    bool taken = false;

    orr_lock(&state->lock);
    for (unsigned i = 0; i < booking->n; i++)
        taken = taken || booking_of_locked(state, booking->ids[i]);
    if (!taken) {
        booking->next = state->bookings;
        state->bookings = booking;
    }
    orr_unlock(&state->lock);
    return !taken;
}

/* Writes the booking's workers without its master; returns how many. */
static unsigned list_others(const struct orr_api_booking *booking, int *others)
{
    unsigned n = 0;

    for (unsigned i = 0; i < booking->n; i++)
        if (booking->ids[i] != booking->master)
            others[n++] = booking->ids[i];
    return n;
}

int starpu_sched_ctx_book_workers_for_task(unsigned sched_ctx_id,
                                           int *workerids, int nworkers)
{
    ORR_API(rt, __func__);
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    int others[STARPU_NMAXWORKERS];
    struct orr_api_booking *booking;
    int master;
    unsigned n;

    if (!workerids || nworkers <= 0 || nworkers > STARPU_NMAXWORKERS)
        return -EINVAL;
    for (int i = 0; i < nworkers; i++)
        if (!can_be_booked(sched, workerids[i]))
            return -EINVAL;
    booking = make_booking(sched, workerids, (unsigned)nworkers);
    if (!booking)
        return -ENOMEM;
    master = booking->master;
    n = list_others(booking, others);
    if (!enter_booking(booking)) {
        free(booking);
        return -EBUSY;
    }
    orr_pay();
    orr_sched_block(rt, others, n);
    return master;
}

/* Takes the context's booking with that master out of the list, for the caller to free;
 * NULL: there is none. */
static struct orr_api_booking *take_booking(unsigned sched_ctx, int master)
{
    struct orr_api_state *state = orr_api_state(__func__);
    struct orr_api_booking **link, *booking;

    orr_lock(&state->lock);
    link = &state->bookings;
    while (*link &&
           ((*link)->master != master || (*link)->sched_ctx != sched_ctx))
        link = &(*link)->next;
    booking = *link;
    if (booking)
        *link = booking->next;
    orr_unlock(&state->lock);
    return booking;
}

void starpu_sched_ctx_unbook_workers_for_task(unsigned sched_ctx_id, int master)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_api_booking *booking = take_booking(sched_ctx_id, master);
    int others[STARPU_NMAXWORKERS];
    unsigned n;

    if (!booking) {
        orr_log_error(
            "%s: nothing is booked for worker %d in scheduling context "
            "%u: give what starpu_sched_ctx_book_workers_for_task "
            "returned, once",
            __func__, master, sched_ctx_id);
        abort();
    }
    n = list_others(booking, others);
    orr_sched_unblock(rt, others, n);
    free(booking);
}

/* -- processors -- */

/* A worker that is bound to none, as simulated ones are, has its own number. */
static int worker_processor_number(const struct orr_worker *worker)
{
    int position = orr_api_worker_position(worker->id);

    return position < 0 ? worker->desc->devid : position;
}

void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids,
                                           int *ncpuids)
{
    ORR_QUESTION();
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    struct orr_runtime *rt = sched->runtime;
    int self = starpu_worker_get_id();
    bool all = self < 0 || atomic_load(&sched->master) == self;
    unsigned n;
    int *ids = sched_ctx_copy_workers(__func__, sched, &n);

    *ncpuids = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct orr_worker *worker = &rt->workers->at[ids[i]];

        if (orr_device_kind(worker->desc->type)->is_processor &&
            (all || ids[i] == self || is_booked_for(ids[i], self)))
            ids[(*ncpuids)++] = worker_processor_number(worker);
    }
    *cpuids = ids;
}

void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid)
{
    if (!orr_config_bool(&ORR_API_RUNTIME()->config, ORR_CFG_WORKERS_NOBIND))
        starpu_bind_thread_on_cpu((int)cpuid);
}

int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id)
{
    ORR_QUESTION();
    const struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    const struct starpu_worker_collection *workers = &sched->said->workers;

    if (sched->has_policy || !sched->said->awake)
        return -1;
    for (unsigned i = 0; i < workers->nworkers; i++)
        if (workers->workerids[i] == starpu_worker_get_id())
            return (int)i;
    return -1;
}

/* A thread that changes contexts may ask in a hook of the policy. */
static unsigned worker_child_context(struct orr_worker *worker, unsigned parent)
{
    struct orr_runtime *rt = worker->runtime;
    unsigned id;

    if (orr_self->in_policy)
        return orr_sched_ctx_child(rt, worker->id, parent);
    orr_sched_ctx_lock(rt);
    id = orr_sched_ctx_child(rt, worker->id, parent);
    orr_sched_ctx_unlock(rt);
    return id;
}

unsigned starpu_sched_ctx_master_get_context(int masterid)
{
    ORR_QUESTION();
    return worker_child_context(orr_api_worker(__func__, masterid), NMAX);
}

unsigned
starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid,
                                                unsigned sched_ctx_id)
{
    ORR_QUESTION();
    (void)orr_api_sched(__func__, sched_ctx_id);
    return worker_child_context(orr_api_worker(__func__, workerid),
                                sched_ctx_id);
}
