/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/trace_types.h - the content of events, as callers describe
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_runtime;

/* What a worker does while it executes no task. */
enum orr_trace_state {
    ORR_TRACE_IDLE,
    ORR_TRACE_INITIALIZING,
    ORR_TRACE_DEINITIALIZING,
    ORR_TRACE_FETCHING,
    ORR_TRACE_PUSHING,
    ORR_TRACE_CALLBACK,
    ORR_TRACE_OVERHEAD,
    ORR_TRACE_SCHEDULING,
    ORR_TRACE_SLEEPING,
    ORR_TRACE_PROGRESSING,
    ORR_TRACE_SUSPENDED, /* its kernels wait, and it has no other task */
    ORR_TRACE_NSTATES
};

enum orr_trace_copy_kind {
    ORR_TRACE_FETCH,         /* a task waits for it */
    ORR_TRACE_TASK_PREFETCH, /* for a task that a scheduler has placed */
    ORR_TRACE_PREFETCH,      /* requested by the application */
    ORR_TRACE_IDLE_FETCH,    /* when the link is idle */
    ORR_TRACE_WRITEBACK,     /* to make room, or because of wont_use */
    ORR_TRACE_NCOPY_KINDS
};

enum orr_trace_counter {
    ORR_TRACE_NSUBMITTED, /* tasks submitted and not yet ended */
    ORR_TRACE_NREADY,     /* tasks in the scheduler */
    ORR_TRACE_NCOUNTERS
};

/* What the application does while it makes no other call. */
enum orr_trace_doing {
    ORR_TRACE_WAITS, /* in a call, for tasks or data */
    ORR_TRACE_OWN,   /* something of its own, or it sleeps */
    ORR_TRACE_NDOINGS
};

/* A wait or a sleep of the application that has not ended. */
struct orr_application_span {
    struct orr_runtime *rt;
    enum orr_trace_doing doing;
    const char *call;
    double since; /* NaN: not the main context's, or no trace shows it */
    uint32_t ticket;
    bool outermost; /* of no call that the context is in */
};

/* Where the application's main context is, of which application.h tells. */
struct orr_application {
    double entered;  /* [main] µs, when it made the call it is in, or was in last */
    double returned; /* [main] µs, when it went on with code of its own */
    bool inside;     /* [main] it is in a call */
    struct orr_application_span wait; /* [main] in which it is, or was last */
};

/* One executed task. Times in µs of the machine's clock. */
struct orr_trace_task {
    uint64_t job;          /* number of the job, in order of creation */
    const char *name;      /* copied; NULL is written as "unknown" */
    unsigned colour : 24;  /* 0xrrggbb, 0: chosen by the name */
    unsigned
        origin : 8; /* enum orr_origin, of its time; unknown where it is real */
    uint32_t footprint;
    int priority;
    uint32_t iteration; /* orr_trace_iteration's number, 0: none */
    uint64_t tag;
    size_t size;  /* bytes of all its data */
    double gflop; /* 10^9 flop, 0 when unknown */
    double start, end;
};

/* One message of this rank's: core/message_told.h. */
struct orr_trace_message {
    const char *name; /* of the data, copied; may be NULL */
    uint64_t handle;  /* number of the datum, in order of registration */
    int peer;
    bool received;
    int64_t tag;
    uint64_t number; /* among the sender's */
    uint64_t size;   /* bytes */
    double called; /* as in core/message_told.h */
    double start, end;
};

/* One copy between two memory nodes. */
struct orr_trace_copy {
    uint64_t id;      /* number of the copy, in order of creation */
    uint64_t handle;  /* number of the data handle, not its address */
    const char *name; /* of the data, copied; may be NULL */
    unsigned src, dst;
    size_t size; /* bytes */
    uint64_t job; /* one that waited for it when it ended, 0: none */
    enum orr_trace_copy_kind kind;
    double start, end;
    double waited; /* from `start` until the engine took it; 0 where nobody knows */
};
