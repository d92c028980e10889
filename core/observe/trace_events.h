/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_events.h - the memory layout of the record, for its writers
 * only. A buffer is a chain of chunks that never move: `n` and `next` are
 * published with release stores, so that a writer of files may read beside a
 * recorder.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/message_told.h"
#include "core/observe/submissions.h"
#include "core/observe/text_pool.h"
#include "core/observe/trace_types.h"

struct orr_sources;
struct orr_waits_log;

enum orr_event_type {
    ORR_EVENT_TASK,
    ORR_EVENT_STATE,
    ORR_EVENT_COPY,
    ORR_EVENT_COUNT,
    ORR_EVENT_MEMORY,
    ORR_EVENT_MARK,
    ORR_EVENT_SUSPENSION,
    ORR_EVENT_STEAL,
    ORR_EVENT_APPLICATION,
    ORR_EVENT_ALLOCATION,
    ORR_EVENT_MESSAGE,
    ORR_EVENT_CLOCKS,
};

/* What fits beside the type lies there: the most frequent kinds are steps of counts and
 * states. */
struct orr_event {
    enum orr_event_type type : 8;
    unsigned
        which : 8; /* STATE: enum orr_trace_state; COUNT: enum orr_trace_counter */
    int step : 16; /* COUNT: by how much it grows */
    unsigned
        worker; /* of a task, state or suspension; the thief; of a count: the one that
                 * recorded it */
    union {
        struct orr_trace_task task; /* its name lies in the buffer */
        struct orr_trace_copy copy; /* likewise */
        struct {
            double time;
        } state;
        struct {
            uint64_t job; /* whose step it is, 0: not known */
            double time;
        } count;
        struct {
            unsigned node;
            int64_t change; /* bytes */
            double time;
        } memory;
        struct {
            const char *text; /* lies in the buffer */
            bool numbered;    /* the text is a number */
            double time;
        } mark;
        struct {
            uint64_t job;
            double start, end;
        } suspension;
        struct {
            unsigned victim; /* a worker */
            uint64_t job;
            double time;
        } steal;
        struct {
            enum orr_trace_doing doing;
            const char *call; /* a constant, or NULL */
            double start, end;
        } application;
        struct {
            unsigned node;
            bool frees;    /* else it allocates */
            uint64_t size; /* bytes */
            double start, end;
        } allocation;
        struct orr_trace_message message; /* its name lies in the buffer */
        struct orr_clocks_told clocks;
    } u;
};

/* Events lie one behind the other, each only as large as its kind needs: most are steps
 * of counts and states, a third as large as a task or less, and the run's thread has to
 * touch all of their memory for the first time. */
enum {
    ORR_TRACE_WORDS = 3072, /* of a chunk */
    ORR_TRACE_CHUNK = 512,  /* events in one, about */
    ORR_EVENT_MOST = (sizeof(struct orr_event) + 7) / 8, /* words of an event */
};

#define ORR_EVENT_SIZE(member)                                                 \
    (offsetof(struct orr_event, u) + sizeof(((struct orr_event *)0)->u.member))

/* How many words the event takes. */
static inline unsigned orr_event_words(enum orr_event_type type)
{
    static const uint8_t sizes[] = {
        [ORR_EVENT_TASK] = ORR_EVENT_SIZE(task),
        [ORR_EVENT_STATE] = ORR_EVENT_SIZE(state),
        [ORR_EVENT_COPY] = ORR_EVENT_SIZE(copy),
        [ORR_EVENT_COUNT] = ORR_EVENT_SIZE(count),
        [ORR_EVENT_MEMORY] = ORR_EVENT_SIZE(memory),
        [ORR_EVENT_MARK] = ORR_EVENT_SIZE(mark),
        [ORR_EVENT_SUSPENSION] = ORR_EVENT_SIZE(suspension),
        [ORR_EVENT_STEAL] = ORR_EVENT_SIZE(steal),
        [ORR_EVENT_APPLICATION] = ORR_EVENT_SIZE(application),
        [ORR_EVENT_ALLOCATION] = ORR_EVENT_SIZE(allocation),
        [ORR_EVENT_MESSAGE] = ORR_EVENT_SIZE(message),
        [ORR_EVENT_CLOCKS] = ORR_EVENT_SIZE(clocks),
    };

    return (sizes[type] + 7U) / 8;
}

struct orr_trace_chunk {
    _Atomic(struct orr_trace_chunk *) next; /* [atomic] set once */
    atomic_uint n; /* [atomic] events filled in, and words, see below */
    uint64_t words[ORR_TRACE_WORDS];
};

/* Both counts of a chunk are published at once. */
static inline unsigned orr_chunk_events(unsigned n)
{
    return n & 0xffff;
}

static inline unsigned orr_chunk_words(unsigned n)
{
    return n >> 16;
}

/* `n` with one event more. */
static inline unsigned orr_chunk_add(unsigned n, enum orr_event_type type)
{
    return n + 1 + (orr_event_words(type) << 16);
}

struct orr_trace_buffer {
    struct orr_trace_chunk *first; /* [const] */
    struct orr_trace_chunk *last;  /* [owner] */
    struct orr_texts texts;        /* [owner] that its events point to */
    struct orr_texts_recent recent; /* [owner] */
    atomic_ullong dropped;         /* [atomic] */
    atomic_flag busy;              /* the outside buffer's lock */
};

/* The reader of the record while it is written: ahead.c. */
struct orr_trace_follower {
    /* See orr_trace_begin, orr_trace_end. */
    void (*began)(struct orr_trace_follower *self, uint32_t *ticket);
    void (*ended)(struct orr_trace_follower *self, uint32_t *ticket);
    void (*filled)(struct orr_trace_follower *self); /* a chunk was */
    void (*free)(struct orr_trace_follower *self);
};

struct orr_trace_worker {
    char *name; /* "CPU0", "CUDA1_0" */
    unsigned node;
    int cpu;
};

/* Iterations lie in blocks that never move, each twice as long as the one before. */
enum { ORR_TRACE_FIRST_BLOCK = 256, ORR_TRACE_NBLOCKS = 24 };

struct orr_trace {
    double start; /* [const] µs, time 0 of the files */
    int rank;        /* [main] of several … */
    unsigned nranks; /* … or 0 */
    unsigned nworkers, nnodes;
    char **nodes; /* [const] nnodes names; NULL: it came later */
    struct orr_trace_worker *workers; /* [const] nworkers */
    struct orr_trace_buffer *buffers; /* nworkers, and outside's */
    struct orr_submissions
        *submissions;     /* [const] owned; NULL: not asked for */
    bool tasks_alone;     /* [const] other events are not kept */
    struct orr_trace_follower *follower; /* owned, or NULL */
    const struct orr_waits_log *waits; /* [const] borrowed; NULL: none */
    const struct orr_sources *sources; /* [const] borrowed; NULL: places of submissions are
                                        * not shown … */
    const char *links; /* [const] borrowed: … the scheme of links to them; NULL: none */
    uint32_t niterations; /* [caller of orr_trace_iteration] */
    int64_t (*iterations[ORR_TRACE_NBLOCKS])[2]; /* an entry is written before
                                                  * its number is known */
};
