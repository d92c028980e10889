/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/sources.c - see sources.h. Programs submit at few places, which are kept in
 * a table that only grows, without a lock; of each task there is a pointer into it, in
 * blocks that never move, each twice as long as the one before.
 */
#include "core/observe/sources.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/exec/tell.h"
#include "core/job/job.h"
#include "core/observe/callers.h"
#include "core/observe/source_line.h"
#include "core/observe/views.h"

enum { BUCKETS = 256, FIRST_BLOCK = 1024, NBLOCKS = 40 };

/* A place in the program. */
struct source {
    struct source *next; /* [const] in its bucket */
    uintptr_t call;      /* [const] the address behind the call; 0: the program said it, … */
    char *file;          /* [const] owned: … in that file … */
    int line;            /* [const] … and line */
    bool ours;           /* [const] who calls there, submits for others */
    _Atomic(char *) text; /* owned; NULL: nobody has asked; "": not known */
};

typedef _Atomic(struct source *) place;

struct orr_sources {
    struct orr_callers *callers; /* [const] owned */
    place buckets[BUCKETS];
    _Atomic(place *) blocks[NBLOCKS]; /* owned: of tasks, by number */
};

/* --- places --- */

static place *bucket_of(struct orr_sources *sources, uintptr_t key)
{
    return &sources->buckets[key * 2654435761u >> 7 & (BUCKETS - 1)];
}

/* Two threads may add the same place: then there are two of it, which does no harm. NULL
 * without memory. */
static struct source *add_source(place *bucket, struct source *source)
{
    struct source *first = atomic_load_explicit(bucket, memory_order_relaxed);

    do
        source->next = first;
    while (!atomic_compare_exchange_weak_explicit(bucket, &first, source, memory_order_release,
                                                  memory_order_relaxed));
    return source;
}

static struct source *source_said(struct orr_sources *sources, const char *file, int line)
{
    place *bucket = bucket_of(sources, (uintptr_t)line);
    struct source *source = atomic_load_explicit(bucket, memory_order_acquire);

    for (; source; source = source->next)
        if (!source->call && source->line == line && !strcmp(source->file, file))
            return source;
    source = calloc(1, sizeof(*source));
    if (!source || !(source->file = strdup(file))) {
        free(source);
        return NULL;
    }
    source->line = line;
    return add_source(bucket, source);
}

static struct source *source_called(struct orr_sources *sources, uintptr_t call)
{
    place *bucket = bucket_of(sources, call);
    struct source *source = atomic_load_explicit(bucket, memory_order_acquire);
    char *text = NULL;

    for (; source; source = source->next)
        if (source->call == call)
            return source;
    source = calloc(1, sizeof(*source));
    if (!source)
        return NULL;
    source->call = call;
    source->ours =
        orr_source_is_ours(call) || orr_source_is_in_headers(call, &text);
    atomic_init(&source->text, text);
    return add_source(bucket, source);
}

static bool is_call_of_ours(void *arg, uintptr_t call)
{
    const struct source *source = source_called(arg, call);

    return source && source->ours;
}

/* The first call on the stack that is not one of the library's own. */
static struct source *find_caller(struct orr_sources *sources)
{
    uintptr_t call = orr_callers_find(sources->callers);

    return call ? source_called(sources, call) : NULL;
}

/* --- tasks --- */

/* Where the source of that task is kept; NULL: there is no block yet, or, `make`, no memory
 * for one. */
static place *place_of(struct orr_sources *sources, uint64_t task, bool make)
{
    unsigned at = 63 - (unsigned)__builtin_clzll(task / FIRST_BLOCK + 1);
    uint64_t room = (uint64_t)FIRST_BLOCK << at, first = room - FIRST_BLOCK;
    place *block, *fresh = NULL;

    if (at >= NBLOCKS)
        return NULL;
    block = atomic_load_explicit(&sources->blocks[at], memory_order_acquire);
    if (!block && make && (fresh = calloc(room, sizeof(*fresh)))) {
        if (atomic_compare_exchange_strong(&sources->blocks[at], &block, fresh))
            block = fresh;
        else
            free(fresh);
    }
    return block ? &block[task - first] : NULL;
}

/* NULL: not known, or no memory. */
static struct source *present_source(struct orr_sources *sources,
                                     const struct starpu_task *task)
{
    return task && task->file ? source_said(sources, task->file, task->line)
                              : find_caller(sources);
}

static void note_submission(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_sources *sources = rt->views->sources;
    const struct starpu_task *task = told->job->task;
    place *at;

    if (!task || !(at = place_of(sources, told->job->id, true)))
        return;
    atomic_store_explicit(at, present_source(sources, task),
                          memory_order_release);
}

static const struct orr_observer sources_observer = {{
    [ORR_TOLD_TASK_SUBMITTED] = note_submission,
}};

/* --- questions --- */

static char *make_text(const struct source *source)
{
    char *text;

    if (source->call)
        return orr_source_look_up(source->call);
    return asprintf(&text, "%s:%d", source->file, source->line) < 0 ? NULL : text;
}

/* Lent as long as the source exists; NULL: not known, or there is no source (NULL). */
static const char *text_of(struct source *source)
{
    char *text, *fresh;

    if (!source)
        return NULL;
    text = atomic_load_explicit(&source->text, memory_order_acquire);
    if (!text && (fresh = make_text(source))) {
        if (atomic_compare_exchange_strong(&source->text, &text, fresh))
            text = fresh;
        else
            free(fresh);
    }
    return text && *text ? text : NULL;
}

/* NULL: it is not known, or there are no sources (NULL). */
static struct source *source_of(const struct orr_sources *sources,
                                uint64_t task)
{
    struct orr_sources *all = (struct orr_sources *)(uintptr_t)sources;
    place *at = all ? place_of(all, task, false) : NULL;

    return at ? atomic_load_explicit(at, memory_order_acquire) : NULL;
}

const char *orr_sources_text(const struct orr_sources *sources, uint64_t task)
{
    return text_of(source_of(sources, task));
}

bool orr_sources_find(const struct orr_sources *sources, uint64_t task,
                      struct orr_source_of_task *ret)
{
    const struct source *source = source_of(sources, task);

    if (source)
        *ret = (struct orr_source_of_task){source, source->file, source->line,
                                           source->call};
    return source != NULL;
}

const char *orr_sources_here(struct orr_sources *sources,
                             const struct starpu_task *task)
{
    return sources ? text_of(present_source(sources, task)) : NULL;
}

struct orr_source_words orr_source_words(const struct orr_runtime *rt, const struct orr_job *job)
{
    const struct starpu_task *task = job->task;
    const char *text = orr_sources_text(rt->views->sources, job->id);
    struct orr_source_words words = {""};

    if (text)
        snprintf(words.text, sizeof(words.text), "%.290s: ", text);
    else if (task && task->file)
        snprintf(words.text, sizeof(words.text), "%.270s:%d: ", task->file, task->line);
    return words;
}

/* --- beginning and end --- */

int orr_sources_keep(struct orr_runtime *rt)
{
    struct orr_sources *sources;

    if (rt->views->sources)
        return 0;
    sources = calloc(1, sizeof(*sources));
    if (!sources ||
        orr_callers_new(&(struct orr_callers_ops){is_call_of_ours, sources},
                        &sources->callers) != 0) {
        free(sources);
        return -ENOMEM;
    }
    rt->views->sources = sources;
    orr_observers_add(&rt->observers, &sources_observer);
    orr_observers_want(&rt->observers, &sources_observer, ORR_TOLD_ALL, true);
    return 0;
}

int orr_sources_observe(struct orr_runtime *rt)
{
    const char *scheme = orr_config_string(&rt->config, ORR_CFG_LINKS);

    if (scheme && *scheme && !orr_source_scheme_is_known(scheme))
        orr_log_warning("ORRERY_LINKS=%s: no scheme of links: there are %s, or an address with "
                        "{file} and {line}; none is made",
                        scheme, orr_source_scheme_names);
    return orr_config_bool(&rt->config, ORR_CFG_SOURCE_LINES) ? orr_sources_keep(rt) : 0;
}

void orr_sources_free(struct orr_sources *sources)
{
    struct source *next;

    if (!sources)
        return;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct source *source = sources->buckets[i]; source; source = next) {
            next = source->next;
            free(source->file);
            free(source->text);
            free(source);
        }
    for (unsigned i = 0; i < NBLOCKS; i++)
        free(sources->blocks[i]);
    orr_callers_free(sources->callers);
    free(sources);
}
