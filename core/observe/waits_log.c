/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/waits_log.c - see waits_log.h. */
#include "core/observe/waits_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/data/handle.h"

int orr_waits_log_new(struct orr_runtime *rt, bool details,
                      struct orr_waits_log **ret)
{
    struct orr_waits_log *log = calloc(1, sizeof(*log));

    if (!log)
        return -ENOMEM;
    log->runtime = rt;
    log->details = details;
    orr_lock_init(&log->lock, ORR_RANK_RUNTIME);
    if (orr_chain_init(&log->entries, sizeof(struct orr_waits_entry)) < 0) {
        free(log);
        return -ENOMEM;
    }
    *ret = log;
    return 0;
}

void orr_waits_log_free(struct orr_waits_log *log)
{
    if (!log)
        return;
    orr_chain_done(&log->entries);
    orr_texts_done(&log->texts);
    free(log);
}

/* --- what happens --- */

static void waits_log_lose(struct orr_waits_log *log)
{
    atomic_store_explicit(&log->lost, true, memory_order_relaxed);
}

/* Memory for the next entry, which `publish` then makes visible; NULL without memory. */
static struct orr_waits_entry *waits_log_add(struct orr_waits_log *log,
                                             enum orr_waits_kind kind)
    ORR_REQUIRES(log->lock)
{
    struct orr_waits_entry *entry =
        orr_chain_add(&log->entries, sizeof(*entry));

    if (entry)
        entry->kind = (uint8_t)kind;
    else
        waits_log_lose(log);
    return entry;
}

static void waits_log_publish(struct orr_waits_log *log) ORR_REQUIRES(log->lock)
{
    orr_chain_publish(&log->entries);
}

static uint32_t waits_log_job_number(struct orr_waits_log *log,
                                     struct orr_job *job)
    ORR_REQUIRES(log->lock)
{
    if (!job->noted)
        job->noted = ++log->njobs;
    return job->noted - 1;
}

void orr_waits_log_dep(struct orr_waits_log *log, struct orr_job *job,
                       struct orr_job *before)
{
    struct orr_waits_entry *entry;

    orr_lock(&log->lock);
    entry = waits_log_add(log, ORR_WAITS_DEP);
    if (entry) {
        entry->u.before = waits_log_job_number(log, before);
        entry->job = waits_log_job_number(log, job);
        waits_log_publish(log);
    }
    orr_unlock(&log->lock);
}

void orr_waits_log_accesses(struct orr_waits_log *log,
                            const struct orr_job *job)
{
    orr_lock(&log->lock);
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        struct orr_waits_entry *entry =
            access->ordered ? waits_log_add(log, ORR_WAITS_ACCESS) : NULL;

        if (!entry)
            continue;
        entry->job = waits_log_job_number(log, access->job);
        entry->u.access.datum = access->handle->id;
        entry->u.access.turn = access->handle->turns.number;
        waits_log_publish(log);
    }
    orr_unlock(&log->lock);
}

static void say_lost(struct orr_waits_log *log)
{
    if (atomic_load_explicit(&log->lost, memory_order_relaxed) &&
        !atomic_exchange(&log->said, true))
        orr_log_warning("no memory to note what tasks wait for: the trace "
                        "will lack some of it");
}

/* `symbol`: of its kernels, or NULL. */
static void waits_log_submit_locked(struct orr_waits_log *log,
                                    struct orr_job *job, const char *symbol)
    ORR_REQUIRES(log->lock)
{
    struct orr_waits_entry *entry = waits_log_add(log, ORR_WAITS_SUBMIT);

    if (!entry)
        return;
    entry->job = waits_log_job_number(log, job);
    entry->is_task = ORR_JOB_IS(job, task);
    entry->is_set = job->task->use_tag;
    entry->u.submit.id = atomic_load_explicit(&job->id, memory_order_relaxed);
    entry->u.submit.tag = entry->is_set ? job->task->tag_id : 0;
    entry->u.submit.colour = entry->is_task ? orr_job_colour(job) : 0;
    entry->u.submit.symbol =
        symbol ? orr_texts_keep(&log->texts, &log->recent, symbol) : NULL;
    if (symbol && !entry->u.submit.symbol)
        waits_log_lose(log);
    waits_log_publish(log);
}

void orr_waits_log_submit(struct orr_waits_log *log, struct orr_job *job)
{
    const char *symbol = NULL;

    /* May call functions of the user. */
    if (log->details && ORR_JOB_IS(job, task))
        symbol = orr_cost_symbol(orr_job_costs(log->runtime, job));
    orr_lock(&log->lock);
    waits_log_submit_locked(log, job, symbol);
    orr_unlock(&log->lock);
    say_lost(log);
}

void orr_waits_log_ran(struct orr_waits_log *log, const struct orr_job *job)
{
    struct orr_waits_entry *entry;

    if (!log->details)
        return;
    orr_lock(&log->lock);
    entry = job->noted ? waits_log_add(log, ORR_WAITS_RAN) : NULL;
    if (entry) {
        entry->job = job->noted - 1;
        entry->u.ran.worker = (unsigned)job->worker;
        entry->u.ran.start = job->kernel->start;
        entry->u.ran.end = job->kernel->end;
        waits_log_publish(log);
    }
    orr_unlock(&log->lock);
}

void orr_waits_log_tags(struct orr_waits_log *log, uint64_t id, uint64_t before,
                        bool holds)
{
    struct orr_waits_entry *entry;

    orr_lock(&log->lock);
    entry = waits_log_add(log, ORR_WAITS_TAGS);
    if (entry) {
        entry->is_set = holds;
        entry->u.tags.id = id;
        entry->u.tags.before = before;
        waits_log_publish(log);
    }
    orr_unlock(&log->lock);
}

void orr_waits_log_vague_tag(struct orr_waits_log *log, uint64_t id)
{
    struct orr_waits_entry *entry;

    orr_lock(&log->lock);
    entry = waits_log_add(log, ORR_WAITS_VAGUE);
    if (entry) {
        entry->u.tags.id = id;
        waits_log_publish(log);
    }
    orr_unlock(&log->lock);
}
