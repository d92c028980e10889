/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/waits_log.h - what tasks wait for, as graph_record.h is told of it, as a
 * list that another thread may read while the run goes on: noting it costs the run a
 * tenth of what the graph costs, which is made of the list by that thread (waits.h) or
 * at the end. For traces: it has neither sizes nor times per worker.
 *
 * Any context adds; the lock's rank is ORR_RANK_RUNTIME. One thread may read meanwhile
 * (chain.h).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/lock.h"
#include "core/job/job.h"
#include "core/observe/chain.h"
#include "core/observe/text_pool.h"

struct orr_graph;
struct orr_runtime;

/* 0xrrggbb, 0: none. The task's own goes before its codelet's. */
static inline uint32_t orr_job_colour(const struct orr_job *job)
{
    const struct starpu_task *task = job->task;

    if (!task->color && !task->cl)
        return 0;
    return (task->color ? task->color : task->cl->color) & 0xffffff;
}

enum orr_waits_kind {
    ORR_WAITS_ACCESS,
    ORR_WAITS_DEP,
    ORR_WAITS_SUBMIT,
    ORR_WAITS_RAN,
    ORR_WAITS_TAGS,
    ORR_WAITS_VAGUE,
};

/* Jobs have numbers from 0, in the order in which they are first named. */
struct orr_waits_entry {
    uint8_t kind; /* enum orr_waits_kind */
    bool is_task; /* SUBMIT: it has a codelet */
    bool is_set;  /* SUBMIT: it has a tag; TAGS: `holds` of orr_waits_log_tags */
    uint32_t job;
    union {
        struct {
            uint64_t datum; /* the handle's number */
            uint32_t turn;  /* which of its turns: core/job/turns.h */
        } access;
        uint32_t before; /* DEP: a job */
        struct {
            uint64_t id, tag;
            const char *symbol; /* or NULL */
            uint32_t colour;    /* 0xrrggbb, 0: none */
        } submit;
        struct {
            unsigned worker;
            double start, end; /* µs */
        } ran;
        struct {
            uint64_t id, before;
        } tags; /* TAGS; VAGUE: the id alone */
    } u;
};

struct orr_waits_log {
    struct orr_runtime *runtime; /* [const] */
    bool details; /* [const] names of kernels, and which worker ran what, are kept */
    atomic_bool lost;            /* something found no memory */
    atomic_bool said;            /* … which was printed */
    struct orr_lock lock;
    struct orr_chain entries;       /* [lock] */
    struct orr_texts texts;         /* [lock] */
    struct orr_texts_recent recent; /* [lock] */
    uint32_t njobs;                 /* [lock] */
};

/* An empty one, ended with orr_waits_log_free. `details`: the names of kernels
 * are wanted, and where and when tasks ran. Errors: -ENOMEM. */
int orr_waits_log_new(struct orr_runtime *rt, bool details,
                      struct orr_waits_log **ret);

/* Accepts NULL. */
void orr_waits_log_free(struct orr_waits_log *log);

/* These note in the list what the functions of graph_record.h with such names note in
 * the graph. */
void orr_waits_log_dep(struct orr_waits_log *log, struct orr_job *job,
                       struct orr_job *before);
void orr_waits_log_accesses(struct orr_waits_log *log,
                            const struct orr_job *job);
void orr_waits_log_submit(struct orr_waits_log *log, struct orr_job *job);
void orr_waits_log_ran(struct orr_waits_log *log, const struct orr_job *job);
void orr_waits_log_tags(struct orr_waits_log *log, uint64_t id, uint64_t before,
                        bool holds);
void orr_waits_log_vague_tag(struct orr_waits_log *log, uint64_t id);

/* The beginning of the list, for a reader. */
static inline struct orr_chain_place
orr_waits_first(const struct orr_waits_log *log)
{
    return (struct orr_chain_place){log->entries.first, 0};
}

/* The next entry that was published, NULL: none. */
static inline const struct orr_waits_entry *
orr_waits_next(struct orr_chain_place *place)
{
    return orr_chain_next(place, sizeof(struct orr_waits_entry));
}

/* The whole list as a graph whose types have names alone; the caller's. Errors: as
 * orr_graph_record_make. */
int orr_waits_log_graph(const struct orr_waits_log *log, struct orr_graph **ret,
                        struct orr_error *err);
