/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/release.c - jobs go on for which others have made way, see release.h. */
#include "core/data/release.h"

#include "core/data/handle.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/ahead.h"
#include "core/job/job.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

static struct orr_job *claim_link_job(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_job, claim.link);
}

static bool claims_sooner(struct orr_heap_link *a, struct orr_heap_link *b)
{
    const struct orr_job *x = claim_link_job(a), *y = claim_link_job(b);

    if (x->priority != y->priority)
        return x->priority > y->priority;
    return x->id < y->id;
}

void orr_releases_end(struct orr_runtime *rt, struct orr_releases *releases)
{
    struct orr_heap_link *first;

    while ((first = releases->claimants.first)) {
        orr_heap_remove(&releases->claimants, first, claims_sooner);
        orr_job_claim(rt, claim_link_job(first));
    }
}

bool orr_job_was_ahead(struct orr_runtime *rt, struct orr_job *job)
{
    unsigned before = orr_job_add_follow(job, ORR_FOLLOW_RELEASED);
    struct orr_worker *worker;

    if (!(before & ORR_FOLLOWS))
        return false;
    worker = &rt->workers->at[orr_job_follow_worker(job)];
    /* Its kernel may end from here on, and it with that. */
    atomic_fetch_sub_explicit(&worker->nfollowing, 1, memory_order_relaxed);
    if (before & ORR_FOLLOW_ENDED) {
        if (worker == orr_self->worker) /* nobody wakes himself */
            worker->again = true;
        orr_worker_end_job(worker, &job->queue);
    }
    return true;
}

void orr_job_release_among(struct orr_runtime *rt, struct orr_job *job,
                           struct orr_releases *releases)
{
    if (!orr_count_off(&job->waiting, 1) || orr_job_went_ahead(rt, job))
        return;
    if (atomic_load_explicit(&rt->data->requires_claims,
                             memory_order_relaxed)) {
        if (orr_job_will_claim(job)) {
            orr_heap_insert(&releases->claimants, &job->claim.link,
                            claims_sooner);
            return;
        }
        orr_releases_end(rt, releases);
    }
    orr_job_claim(rt, job);
}

/* Successors were pushed at the head: turns them, so that who was submitted
 * first becomes ready first. */
static struct orr_edge *reversed(struct orr_edge *edge)
{
    struct orr_edge *result = NULL;

    while (edge) {
        struct orr_edge *next = edge->next;

        edge->next = result;
        result = edge;
        edge = next;
    }
    return result;
}

/* A policy will ask where the data of the job are. */
__attribute__((always_inline)) static inline void
look_at_data(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        orr_ahead_handle(job->accesses[i].handle);
}

void orr_jobs_release(struct orr_runtime *rt, struct orr_edge *edge,
                      struct orr_released *released)
{
    struct orr_access *granted = released->granted;
    struct orr_releases releases = {{NULL}};
    struct orr_list *link;

    edge = reversed(edge);
    while (edge || granted) {
        struct orr_job *job;
        bool holds = false;

        if (edge && (!granted || edge->job->id <= granted->job->id)) {
            struct orr_edge *next = edge->next;

            job = edge->job;
            holds = edge->holds;
            if (edge->leads)
                atomic_fetch_sub(&orr_job_rare(job)->led.n, 1);
            orr_slab_put(rt->slabs->edges, edge);
            edge = next;
            if (edge)
                orr_ahead_job(edge->job);
        } else {
            job = granted->job;
            granted = granted->next;
            if (granted)
                look_at_data(granted->job);
        }
        orr_job_release_among(rt, job, &releases);
        if (holds)
            orr_job_unref_n(rt, job, 1);
    }
    if (releases.claimants.first)
        orr_releases_end(rt, &releases);
    while ((link = orr_list_pop(&released->claimed)) != NULL) {
        struct orr_job *job = orr_container(link, struct orr_job, queue);

        job->type->ready(rt, job);
    }
}
