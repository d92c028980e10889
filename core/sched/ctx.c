/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/ctx.c - see ctx.h. The thread that changes a context excludes other
 * changes (orr_sched_ctx_lock), and hooks of a policy that the application wrote:
 * during a hook the workers do not change. No context blocks meanwhile.
 */
#include "core/sched/ctx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/device/kind.h"
#include "core/job/count.h"
#include "core/sched/ctxs.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

#define NMAX STARPU_NMAX_SCHED_CTXS

/* --- one after the other --- */

void orr_sched_ctx_lock(struct orr_runtime *rt)
{
    /* As long as a change, with the hooks that it calls: none of them waits. */
    ORR_SPIN_WHILE(atomic_exchange(&rt->sched_ctxs->changing, true));
}

static bool sched_ctx_try_lock(struct orr_runtime *rt)
{
    return !atomic_exchange(&rt->sched_ctxs->changing, true);
}

void orr_sched_ctx_unlock(struct orr_runtime *rt)
{
    atomic_store(&rt->sched_ctxs->changing, false);
}

static void set_member(struct orr_sched *sched, unsigned worker, bool is_one)
{
    atomic_store(&sched->of_worker[worker].member, is_one);
    atomic_fetch_add(&sched->nmemberships, 1);
}

/* No context is in the policy, and none enters it; hooks are short. */
static void begin_change(struct orr_sched *sched)
{
    atomic_store(&sched->changing, true);
    ORR_SPIN_WHILE(sched->of_user && atomic_load(&sched->inside) > 0);
    orr_self->in_policy++; /* the hooks that it calls itself may enter */
}

static void end_change(struct orr_sched *sched)
{
    orr_self->in_policy--;
    atomic_store(&sched->changing, false);
}

/* --- what the application says --- */

struct orr_sched_said *
orr_sched_said_new(const struct starpu_sched_policy *policy, bool tree)
{
    struct orr_sched_said *said = calloc(1, sizeof(*said));

    if (!said)
        return NULL;
    if (policy && policy->worker_type == STARPU_WORKER_TREE)
        tree = true;
    said->workers = tree ? starpu_worker_tree : starpu_worker_list;
    said->workers.init(&said->workers);
    said->parent = NMAX;
    if (policy)
        said->policy = *policy;
    return said;
}

void orr_sched_said_free(struct orr_sched_said *said)
{
    if (!said)
        return;
    if (said->workers.workerids)
        said->workers.deinit(&said->workers);
    free(said);
}

/* --- which workers take tasks --- */

static bool worker_is_cpu(const struct orr_worker *worker)
{
    return orr_device_kind(worker->desc->type)->is_processor;
}

static bool sched_ctx_takes_worker(const struct orr_sched *sched,
                                   const struct orr_worker *worker)
{
    const struct orr_sched_worker *place = &sched->of_worker[worker->id];

    if (!atomic_load(&place->member) || place->leaves || worker->nblocks)
        return false;
    if (!sched->has_policy && sched->said->awake)
        return worker_is_cpu(worker);
    return sched->has_policy || atomic_load(&sched->master) == (int)worker->id;
}

/* Tells the contexts that look for a worker. */
static void set_members(struct orr_sched *sched)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_members *members = &rt->workers->members[sched->id];
    uint64_t lacking = 0, without = 0, out[ORR_WORKER_WORDS] = {0};

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];
        unsigned n = 0;

        for (unsigned i = 0; i < class->nworkers; i++) {
            unsigned w = class->members[i];

            if (sched_ctx_takes_worker(sched, &rt->workers->at[w]))
                n++;
            else
                out[w / 64] |= UINT64_C(1) << w % 64;
        }
        lacking |= (uint64_t)(n < class->nworkers) << k;
        without |= (uint64_t)(n == 0) << k;
    }
    for (unsigned i = 0; i < ORR_WORKER_WORDS; i++)
        atomic_store(&members->out[i], out[i]);
    atomic_store(&members->without, without);
    atomic_store(&members->lacking, lacking);
}

/* Pushes what was parked, oldest first: some of it may be parked again. */
static void push_parked(struct orr_runtime *rt, struct orr_list *parked)
{
    struct orr_list *link;

    while ((link = orr_list_pop(parked)))
        orr_sched_push_again(rt, orr_job_of_link(link));
}

void orr_sched_stray(struct orr_sched *sched, struct orr_job *job)
{
    orr_lock(&sched->lock);
    orr_list_append(&sched->parked, &job->queue);
    orr_unlock(&sched->lock);
}

/* A context that looked for a worker before that parks no job any more, and
 * looks once more. */
static void take_parked(struct orr_sched *sched, struct orr_list *to)
{
    struct orr_list *link;

    orr_lock(&sched->lock);
    sched->changes++;
    while ((link = orr_list_pop(&sched->parked)))
        orr_list_append(to, link);
    orr_unlock(&sched->lock);
}

void orr_sched_enabled(struct orr_runtime *rt)
{
    struct orr_list parked;

    orr_list_init(&parked);
    orr_sched_ctx_lock(rt);
    for (unsigned c = 0; c < NMAX; c++) {
        struct orr_sched *sched = rt->sched_ctxs->at[c];

        if (sched)
            take_parked(sched, &parked);
    }
    orr_sched_ctx_unlock(rt);
    push_parked(rt, &parked);
}

void orr_sched_ctx_refresh(struct orr_runtime *rt)
{
    struct orr_list parked;

    orr_list_init(&parked);
    atomic_fetch_add(&rt->workers->knobs.begun, 1);
    orr_sched_ctx_lock(rt);
    for (unsigned c = 0; c < NMAX; c++) {
        struct orr_sched *sched = rt->sched_ctxs->at[c];

        if (!sched)
            continue;
        set_members(sched);
        if (sched->ops->refresh)
            sched->ops->refresh(sched);
        take_parked(sched, &parked);
    }
    orr_sched_ctx_unlock(rt);
    atomic_fetch_add(&rt->workers->knobs.over, 1);
    push_parked(rt, &parked);
    orr_sched_wake_all(rt);
    orr_sched_ctx_make_changes(rt);
}

/* The workers of the context's collection, without combined ones, as they come
 * there; returns how many. */
static unsigned list_workers(const struct orr_sched *sched, int *ids)
{
    const struct starpu_worker_collection *workers = &sched->said->workers;
    unsigned n = 0;

    for (unsigned i = 0; i < workers->nworkers; i++)
        if ((unsigned)workers->workerids[i] < sched->runtime->workers->n)
            ids[n++] = workers->workerids[i];
    return n;
}

/* --- contexts without policy --- */

/* The master is the first processor that joined the context. */
static void elect_master(struct orr_sched *sched)
{
    int ids[STARPU_NMAXWORKERS], master = -1;
    unsigned n = list_workers(sched, ids);

    for (unsigned i = 0; i < n && master < 0; i++)
        if (worker_is_cpu(&sched->runtime->workers->at[ids[i]]))
            master = ids[i];
    atomic_store(&sched->master, master);
}

/* Blocks the processors but the master, unless they are awake. */
static void set_blocks(struct orr_sched *sched)
{
    struct orr_runtime *rt = sched->runtime;
    unsigned ncores = 0;

    if (sched->has_policy)
        return;
    if (atomic_load(&sched->master) < 0 ||
        !atomic_load(&sched->of_worker[atomic_load(&sched->master)].member))
        elect_master(sched);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_sched_worker *place = &sched->of_worker[w];
        bool core =
            atomic_load(&place->member) && worker_is_cpu(&rt->workers->at[w]);
        bool blocks = core && !sched->said->awake &&
                      atomic_load(&sched->master) != (int)w;

        ncores += core;
        if (blocks == place->blocks)
            continue;
        place->blocks = blocks;
        (void)orr_sched_count_block(&rt->workers->at[w], blocks ? 1 : -1);
    }
    atomic_store(&sched->ncores, sched->said->awake ? 1 : ncores);
}

unsigned orr_sched_ctx_child(const struct orr_runtime *rt, unsigned worker,
                             unsigned parent)
{
    for (unsigned c = 1; c < NMAX; c++) {
        const struct orr_sched *sched = rt->sched_ctxs->at[c];

        if (sched && !sched->has_policy &&
            atomic_load(&sched->master) == (int)worker &&
            (parent == NMAX || sched->said->parent == parent))
            return c;
    }
    return NMAX;
}

unsigned orr_sched_ctx_nested(struct orr_runtime *rt, unsigned parent,
                              unsigned ids[NMAX])
{
    unsigned n = 0;

    orr_sched_ctx_lock(rt);
    for (unsigned c = 1; c < NMAX; c++)
        if (c != parent && rt->sched_ctxs->at[c] &&
            rt->sched_ctxs->at[c]->said->parent == parent)
            ids[n++] = c;
    orr_sched_ctx_unlock(rt);
    return n;
}

/* Context 0 always exists, so it needs no lock. */
void orr_sched_do_schedule(struct orr_runtime *rt)
{
    struct orr_sched *first = rt->sched_ctxs->at[0];

    if (first->ops->do_schedule)
        first->ops->do_schedule(first);
    orr_sched_ctx_lock(rt);
    for (unsigned c = 1; c < NMAX; c++) {
        struct orr_sched *sched = rt->sched_ctxs->at[c];

        if (sched && sched->ops->do_schedule)
            sched->ops->do_schedule(sched);
    }
    orr_sched_ctx_unlock(rt);
    orr_sched_ctx_make_changes(rt);
}

/* --- members --- */

static int worker_id_compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static unsigned level_of(const struct orr_runtime *rt, unsigned id)
{
    return rt->sched_ctxs->at[id] ? rt->sched_ctxs->at[id]->said->level : 0;
}

/* A worker that joins a context asks that one before the contexts that inherit its
 * workers. */
static void sched_ctx_set_priorities(struct orr_runtime *rt, unsigned id,
                                     unsigned worker)
{
    unsigned up = rt->sched_ctxs->at[id]->said->inheritor;

    atomic_store(&rt->sched_ctxs->at[id]->of_worker[worker].priority, 1);
    while (level_of(rt, id) > 0 && up != id && rt->sched_ctxs->at[up]) {
        atomic_store(&rt->sched_ctxs->at[up]->of_worker[worker].priority, 0);
        id = up;
        up = rt->sched_ctxs->at[id]->said->inheritor;
    }
}

/* Writes the workers that are new to `fresh`; returns how many. */
static unsigned sched_ctx_collect(struct orr_sched *sched, const int *ids,
                                  unsigned n, int *fresh)
{
    unsigned nfresh = 0;

    for (unsigned i = 0; i < n; i++)
        if (sched->said->workers.add(&sched->said->workers, ids[i]) >= 0)
            fresh[nfresh++] = ids[i];
    return nfresh;
}

/* The policy is told of the new workers before they ask it. A worker whose removal has
 * not ended yet is not new to the policy. */
static void sched_ctx_add_locked(struct orr_sched *sched, const int *ids,
                                 unsigned n)
{
    struct orr_runtime *rt = sched->runtime;
    int fresh[STARPU_NMAXWORKERS];
    unsigned nfresh, ntold = 0;
    int told[STARPU_NMAXWORKERS];

    begin_change(sched);
    nfresh = sched_ctx_collect(sched, ids, n, fresh);
    for (unsigned i = 0; i < nfresh; i++)
        if (!(atomic_load(&rt->workers->at[fresh[i]].sched_ctxs) >> sched->id &
              1))
            told[ntold++] = fresh[i];
    if (ntold && sched->ops->add_workers)
        sched->ops->add_workers(sched, told, ntold);
    for (unsigned i = 0; i < nfresh; i++) {
        set_member(sched, (unsigned)fresh[i], true);
        atomic_fetch_or(&rt->workers->at[fresh[i]].sched_ctxs, 1U << sched->id);
    }
    end_change(sched);
}

static bool is_elsewhere(const struct orr_runtime *rt, unsigned worker,
                         unsigned id)
{
    for (unsigned c = 0; c < NMAX; c++)
        if (c != id && rt->sched_ctxs->at[c] &&
            atomic_load(&rt->sched_ctxs->at[c]->of_worker[worker].member))
            return true;
    return false;
}

static void sched_ctx_leave_locked(struct orr_sched *sched,
                                   struct orr_worker *worker)
{
    int id = (int)worker->id;

    if (atomic_load(&sched->of_worker[worker->id].member) ||
        !(atomic_fetch_and(&worker->sched_ctxs, ~(1U << sched->id)) >>
              sched->id &
          1))
        return;
    if (sched->ops->remove_workers)
        sched->ops->remove_workers(sched, &id, 1);
}

bool orr_sched_ctx_leave(struct orr_sched *sched, struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_list strays;

    orr_list_init(&strays);
    if (!sched_ctx_try_lock(rt))
        return false;
    sched_ctx_leave_locked(sched, worker);
    take_parked(sched, &strays);
    orr_sched_ctx_unlock(rt);
    push_parked(rt, &strays);
    return true;
}

/* Waits until the worker asks no context, but for the caller. */
static void sched_ctx_await_pop(struct orr_worker *worker)
{
    /* Where the machine did not start, the caller is no context, and no worker asks.
     * Elsewhere the wait takes as long as a hook of a policy. */
    ORR_SPIN_WHILE(atomic_load(&worker->asks) && worker != orr_self->worker);
}

static void await_all_asking(struct orr_runtime *rt)
{
    for (unsigned w = 0; w < rt->workers->n; w++)
        sched_ctx_await_pop(&rt->workers->at[w]);
}

/* Writes the workers that leave to `gone`; returns how many. */
static unsigned sched_ctx_uncollect(struct orr_sched *sched, const int *ids,
                                    unsigned n, int *gone)
{
    unsigned ngone = 0;

    for (unsigned i = 0; i < n; i++)
        if (is_elsewhere(sched->runtime, (unsigned)ids[i], sched->id) &&
            sched->said->workers.remove(&sched->said->workers, ids[i]) >= 0)
            gone[ngone++] = ids[i];
    return ngone;
}

/* Once the workers are no members no new push gives them a job. They leave when the
 * pushes under way have ended and the policy has nothing for them. */
static void sched_ctx_remove_locked(struct orr_sched *sched, const int *ids,
                                    unsigned n)
{
    struct orr_sched_worker *places = sched->of_worker;
    int gone[STARPU_NMAXWORKERS];
    unsigned ngone;

    begin_change(sched);
    ngone = sched_ctx_uncollect(sched, ids, n, gone);
    for (unsigned i = 0; i < ngone; i++)
        places[gone[i]].leaves = true;
    set_members(sched);
    for (unsigned i = 0; i < ngone; i++) {
        places[gone[i]].leaves = false;
        set_member(sched, (unsigned)gone[i], false);
        if (atomic_load(&places[gone[i]].shares))
            sched_ctx_leave_locked(sched,
                                   &sched->runtime->workers->at[gone[i]]);
    }
    end_change(sched);
}

/* --- changes that hooks of policies ask for --- */

struct orr_sched_change {
    struct orr_sched_change *next;
    const struct orr_context *by; /* whose hook asked for it */
    unsigned id, n;
    bool adds;
    int ids[];
};

/* Whether the change has to wait until the caller's hook has returned. */
static bool sched_ctx_postpone_change(struct orr_runtime *rt, unsigned id,
                                      const int *ids, unsigned n, bool adds)
{
    struct orr_sched_change *change, **link;

    if (!orr_self->in_policy)
        return false;
    change = malloc(sizeof(*change) + n * sizeof(int));
    if (!change) {
        orr_log_error("out of memory for a change of scheduling context %u", id);
        abort();
    }
    *change = (struct orr_sched_change){
        .by = orr_self, .id = id, .n = n, .adds = adds};
    memcpy(change->ids, ids, n * sizeof(int));
    orr_lock(&rt->lock);
    for (link = &rt->sched_ctxs->postponed; *link; link = &(*link)->next) {
    }
    *link = change;
    atomic_fetch_add(&rt->sched_ctxs->npostponed, 1);
    orr_unlock(&rt->lock);
    return true;
}

/* Other contexts' hooks may not have returned yet: those of the caller alone. */
static struct orr_sched_change *take_postponed(struct orr_runtime *rt)
{
    struct orr_sched_change *change, **link = &rt->sched_ctxs->postponed;

    orr_lock(&rt->lock);
    while (*link && (*link)->by != orr_self)
        link = &(*link)->next;
    change = *link;
    if (change) {
        *link = change->next;
        atomic_fetch_sub(&rt->sched_ctxs->npostponed, 1);
    }
    orr_unlock(&rt->lock);
    return change;
}

static void change_members(struct orr_runtime *rt, unsigned id, const int *ids,
                           unsigned n, bool adds)
{
    orr_sched_ctx_lock(rt);
    if (rt->sched_ctxs->at[id] && adds) {
        sched_ctx_add_locked(rt->sched_ctxs->at[id], ids, n);
        for (unsigned i = 0; i < n; i++)
            sched_ctx_set_priorities(rt, id, (unsigned)ids[i]);
    } else if (rt->sched_ctxs->at[id]) {
        sched_ctx_remove_locked(rt->sched_ctxs->at[id], ids, n);
    }
    if (rt->sched_ctxs->at[id])
        set_blocks(rt->sched_ctxs->at[id]);
    orr_sched_ctx_unlock(rt);
    orr_sched_ctx_refresh(rt);
    orr_sched_await_rest(rt, ids, n);
}

void orr_sched_ctx_make_postponed(struct orr_runtime *rt)
{
    struct orr_sched_change *change;

    while ((change = take_postponed(rt))) {
        change_members(rt, change->id, change->ids, change->n, change->adds);
        free(change);
    }
}

void orr_sched_ctx_add(struct orr_runtime *rt, unsigned id, const int *ids,
                       unsigned n)
{
    if (!sched_ctx_postpone_change(rt, id, ids, n, true))
        change_members(rt, id, ids, n, true);
}

void orr_sched_ctx_remove(struct orr_runtime *rt, unsigned id, const int *ids,
                          unsigned n)
{
    if (!sched_ctx_postpone_change(rt, id, ids, n, false))
        change_members(rt, id, ids, n, false);
}

/* --- beginning and end of one --- */

static unsigned free_number(const struct orr_runtime *rt)
{
    unsigned id = 0;

    while (id < NMAX && rt->sched_ctxs->at[id])
        id++;
    return id;
}

static void take_all_out(struct orr_runtime *rt, unsigned id)
{
    struct orr_members *members = &rt->workers->members[id];

    for (unsigned i = 0; i < ORR_WORKER_WORDS; i++)
        atomic_store(&members->out[i], UINT64_MAX);
    atomic_store(&members->without, UINT64_MAX);
    atomic_store(&members->lacking, UINT64_MAX);
}

static int create_locked(struct orr_runtime *rt,
                         struct orr_sched_options *options,
                         void (*prepare)(struct orr_sched *, void *), void *arg,
                         int *ids, unsigned *n, struct orr_error *err)
{
    struct orr_sched *sched;
    int code;

    options->id = (uint8_t)free_number(rt);
    if (options->id == NMAX)
        return orr_fail(err, -EAGAIN,
                        "there are %d scheduling contexts, which is the most: "
                        "delete one first",
                        NMAX);
    if (orr_counters_add(rt, options->id) != 0)
        return orr_fail(err, -ENOMEM, "out of memory");
    take_all_out(rt, options->id);
    orr_self->in_policy++;
    code = orr_sched_new(rt, options, &sched, err);
    orr_self->in_policy--;
    if (code) {
        atomic_store(&rt->sched_ctxs->at[options->id], NULL);
        return code;
    }
    if (prepare)
        prepare(sched, arg);
    atomic_store(&rt->sched_ctxs->at[options->id], sched);
    qsort(ids, *n, sizeof(*ids), worker_id_compare);
    sched_ctx_add_locked(sched, ids, *n);
    set_blocks(sched);
    return 0;
}

int orr_sched_ctx_create(struct orr_runtime *rt,
                         struct orr_sched_options *options,
                         void (*prepare)(struct orr_sched *, void *), void *arg,
                         int *ids, unsigned *n, unsigned *ret_id,
                         struct orr_error *err)
{
    int code;

    orr_sched_ctx_lock(rt);
    code = create_locked(rt, options, prepare, arg, ids, n, err);
    orr_sched_ctx_unlock(rt);
    if (code)
        return code;
    *ret_id = options->id;
    orr_sched_ctx_refresh(rt);
    orr_sched_await_rest(rt, ids, *n);
    return 0;
}

int orr_sched_ctx_start(struct orr_runtime *rt,
                        const struct orr_sched_options *options,
                        struct orr_error *err)
{
    int ids[STARPU_NMAXWORKERS];
    struct orr_sched *sched;
    int code = orr_sched_new(rt, options, &sched, err);

    if (code) {
        rt->sched_ctxs->at[0] = NULL;
        return code;
    }
    rt->sched_ctxs->at[0] = sched;
    for (unsigned w = 0; w < rt->workers->n; w++)
        ids[w] = (int)w;
    rt->sched_ctxs->at[0]->said->name = "global";
    sched_ctx_add_locked(rt->sched_ctxs->at[0], ids, rt->workers->n);
    return 0;
}

/* No worker asks the context any more. Those that did are written to `ids`,
 * ascending: members, and those that have not left for good. */
static unsigned take_askers(struct orr_runtime *rt, unsigned id, int *ids)
{
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (atomic_fetch_and(&rt->workers->at[w].sched_ctxs, ~(1U << id)) >>
                id &
            1)
            ids[n++] = (int)w;
    return n;
}

/* No thread uses the scheduling context any more; the workers in `ids` were its last. */
static void free_ctx(struct orr_runtime *rt, unsigned id, int *ids, unsigned n)
{
    struct orr_sched *sched = rt->sched_ctxs->at[id];

    if (sched->ops->remove_workers && n)
        sched->ops->remove_workers(sched, ids, n);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        set_member(sched, w, false);
        sched->of_worker[w].blocks = false;
    }
    orr_sched_deinit(sched);
    atomic_store(&rt->sched_ctxs->at[id], NULL);
    await_all_asking(rt); /* they may look at all contexts */
    orr_sched_free(sched);
}

void orr_sched_ctx_stop(struct orr_runtime *rt)
{
    int ids[STARPU_NMAXWORKERS];

    for (unsigned c = 0; c < NMAX; c++)
        if (rt->sched_ctxs->at[c])
            free_ctx(rt, c, ids, take_askers(rt, c, ids));
    for (unsigned c = 0; c < NMAX; c++) {
        free(rt->sched_ctxs->places[c]);
        rt->sched_ctxs->places[c] = NULL;
    }
}

/* Contexts that inherit from it inherit from its own inheritor. */
static void retarget_locked(struct orr_runtime *rt, unsigned id)
{
    unsigned inheritor = rt->sched_ctxs->at[id]->said->inheritor;

    for (unsigned c = 0; c < NMAX; c++)
        if (rt->sched_ctxs->at[c] &&
            rt->sched_ctxs->at[c]->said->inheritor == id)
            rt->sched_ctxs->at[c]->said->inheritor =
                inheritor == c ? 0 : inheritor;
}

/* Its workers also go to its inheritor, which they serve first then. */
static void bequeath_locked(struct orr_runtime *rt, unsigned id)
{
    struct orr_sched *sched = rt->sched_ctxs->at[id];
    struct orr_sched *heir = rt->sched_ctxs->at[sched->said->inheritor];
    int ids[STARPU_NMAXWORKERS];
    unsigned n = list_workers(sched, ids);

    if (!heir || heir == sched || n == 0)
        return;
    sched_ctx_add_locked(heir, ids, n);
    set_blocks(heir);
    for (unsigned i = 0; i < n; i++)
        atomic_store(&heir->of_worker[ids[i]].priority, 1);
}

static void end_locked(struct orr_runtime *rt, unsigned id)
{
    struct orr_sched *sched = rt->sched_ctxs->at[id];
    int ids[STARPU_NMAXWORKERS];
    unsigned n = take_askers(rt, id, ids);

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (sched->of_worker[w].blocks)
            (void)orr_sched_count_block(&rt->workers->at[w], -1);
    await_all_asking(rt);
    ORR_SPIN_WHILE(atomic_load(&sched->inside)); /* hooks of its policy */
    orr_self->in_policy++;
    free_ctx(rt, id, ids, n);
    orr_self->in_policy--;
}

void orr_sched_ctx_delete(struct orr_runtime *rt, unsigned id)
{
    orr_sched_ctx_lock(rt);
    retarget_locked(rt, id);
    bequeath_locked(rt, id);
    orr_sched_ctx_unlock(rt);
    orr_sched_ctx_refresh(rt);
    (void)orr_wait_for_n_in(rt, "starpu_sched_ctx_delete", id, 0);
    orr_sched_ctx_lock(rt);
    end_locked(rt, id);
    orr_sched_ctx_unlock(rt);
    orr_sched_ctx_refresh(rt);
}

/* --- the end of what is submitted --- */

void orr_sched_ctx_task_ended(struct orr_runtime *rt, unsigned id)
{
    void (*at_close)(unsigned, void *) = NULL;
    void *arg = NULL;
    struct orr_sched *sched;
    bool closes;

    if (orr_self->in_policy)
        return;
    orr_sched_ctx_lock(rt);
    sched = rt->sched_ctxs->at[id];
    closes = sched && sched->said->finished &&
             orr_count_unfinished_in(rt, id) == 0;
    if (closes) {
        sched->said->finished = false;
        at_close = sched->said->at_close;
        arg = sched->said->at_close_arg;
        bequeath_locked(rt, id);
    }
    orr_sched_ctx_unlock(rt);
    if (!closes)
        return;
    orr_sched_ctx_refresh(rt);
    if (at_close) {
        orr_self->frozen++;
        at_close(id, arg);
        orr_self->frozen--;
    }
}
