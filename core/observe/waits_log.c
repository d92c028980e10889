/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/waits_log.c - see waits_log.h. */
#include "core/observe/waits_log.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/data/handle.h"

static struct orr_waits_chunk *new_chunk(void)
{
    struct orr_waits_chunk *chunk = malloc(sizeof(*chunk));

    if (chunk) {
        atomic_init(&chunk->next, NULL);
        atomic_init(&chunk->n, 0);
    }
    return chunk;
}

int orr_waits_log_new(struct orr_runtime *rt, bool symbols,
                      struct orr_waits_log **ret)
{
    struct orr_waits_log *log = calloc(1, sizeof(*log));

    if (!log)
        return -ENOMEM;
    log->runtime = rt;
    log->symbols = symbols;
    log->first = log->last = new_chunk();
    if (!log->first) {
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
    while (log->first) {
        struct orr_waits_chunk *next = atomic_load(&log->first->next);

        free(log->first);
        log->first = next;
    }
    orr_texts_done(&log->texts);
    free(log);
}

/* --- what happens --- */

static void lose(struct orr_waits_log *log)
{
    atomic_store_explicit(&log->lost, true, memory_order_relaxed);
}

/* Where the next entry goes, which `publish` then shows; NULL without memory. */
static struct orr_waits_entry *add(struct orr_waits_log *log,
                                   enum orr_waits_kind kind)
{
    unsigned n = atomic_load_explicit(&log->last->n, memory_order_relaxed);
    struct orr_waits_entry *entry;

    if (n == ORR_WAITS_CHUNK) {
        struct orr_waits_chunk *chunk = new_chunk();

        if (!chunk) {
            lose(log);
            return NULL;
        }
        /* Pairs with orr_waits_next. */
        atomic_store_explicit(&log->last->next, chunk, memory_order_release);
        log->last = chunk;
        n = 0;
    }
    entry = &log->last->entries[n];
    entry->kind = (uint8_t)kind;
    return entry;
}

static void publish(struct orr_waits_log *log)
{
    struct orr_waits_chunk *chunk = log->last;
    unsigned n = atomic_load_explicit(&chunk->n, memory_order_relaxed);

    /* Pairs with orr_waits_next. */
    atomic_store_explicit(&chunk->n, n + 1, memory_order_release);
}

static uint32_t number_of(struct orr_waits_log *log, struct orr_job *job)
{
    if (!job->noted)
        job->noted = ++log->njobs;
    return job->noted - 1;
}

void orr_waits_log_dep(struct orr_waits_log *log, struct orr_job *job,
                       struct orr_job *before)
{
    struct orr_waits_entry *entry = add(log, ORR_WAITS_DEP);

    if (!entry)
        return;
    entry->u.before = number_of(log, before);
    entry->job = number_of(log, job);
    publish(log);
}

void orr_waits_log_access(struct orr_waits_log *log,
                          const struct orr_access *access)
{
    struct orr_waits_entry *entry = add(log, ORR_WAITS_ACCESS);

    if (!entry)
        return;
    entry->group = (uint8_t)orr_access_group(access);
    entry->job = number_of(log, access->job);
    entry->u.datum = access->handle->id;
    publish(log);
}

static void say_lost(struct orr_waits_log *log)
{
    if (log->said || !atomic_load_explicit(&log->lost, memory_order_relaxed))
        return;
    log->said = true;
    orr_log_warning("no memory to note what tasks wait for: the trace will "
                    "lack some of it");
}

/* A copy of what the kernels of the job are called. */
static const char *symbol_of(struct orr_waits_log *log, struct orr_job *job)
{
    const char *symbol = orr_cost_symbol(orr_job_costs(log->runtime, job));

    symbol = symbol ? orr_texts_add(&log->texts, symbol) : NULL;
    if (!symbol)
        lose(log);
    return symbol;
}

void orr_waits_log_submit(struct orr_waits_log *log, struct orr_job *job)
{
    struct orr_waits_entry *entry = add(log, ORR_WAITS_SUBMIT);

    if (entry) {
        entry->job = number_of(log, job);
        entry->is_task = ORR_JOB_IS(job, task);
        entry->is_set = job->task->use_tag;
        entry->u.submit.id =
            atomic_load_explicit(&job->id, memory_order_relaxed);
        entry->u.submit.tag = entry->is_set ? job->task->tag_id : 0;
        entry->u.submit.symbol =
            log->symbols && entry->is_task ? symbol_of(log, job) : NULL;
        publish(log);
    }
    say_lost(log);
}

void orr_waits_log_ran(struct orr_waits_log *log, const struct orr_job *job)
{
    struct orr_waits_entry *entry = job->noted ? add(log, ORR_WAITS_RAN) : NULL;

    if (!entry)
        return;
    entry->job = job->noted - 1;
    entry->u.ran.worker = (unsigned)job->worker;
    entry->u.ran.start = job->kernel.start;
    entry->u.ran.end = job->kernel.end;
    publish(log);
}

void orr_waits_log_tags(struct orr_waits_log *log, uint64_t id, uint64_t before,
                        bool holds)
{
    struct orr_waits_entry *entry = add(log, ORR_WAITS_TAGS);

    if (!entry)
        return;
    entry->is_set = holds;
    entry->u.tags.id = id;
    entry->u.tags.before = before;
    publish(log);
}

void orr_waits_log_vague_tag(struct orr_waits_log *log, uint64_t id)
{
    struct orr_waits_entry *entry = add(log, ORR_WAITS_VAGUE);

    if (!entry)
        return;
    entry->u.tags.id = id;
    publish(log);
}

/* --- reading --- */

const struct orr_waits_entry *orr_waits_next(struct orr_waits_place *place)
{
    unsigned n = atomic_load_explicit(&place->chunk->n, memory_order_acquire);
    struct orr_waits_chunk *next;

    if (place->at == ORR_WAITS_CHUNK) {
        next = atomic_load_explicit(&place->chunk->next, memory_order_acquire);
        if (!next)
            return NULL;
        *place = (struct orr_waits_place){next, 0};
        n = atomic_load_explicit(&next->n, memory_order_acquire);
    }
    return place->at < n ? &place->chunk->entries[place->at++] : NULL;
}
