/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/exec/tell.h - the events of a run, and the observers that are told of them. The
 * rest of core tells what happens with ORR_TELL, once, where it happens; observers
 * (trace, tally, counters, graph …) register a function per kind of event that they
 * want. A kind that no observer wants costs a test of one word.
 *
 * Any context tells. Observers are called in the order in which they registered, where
 * the event happens, on the stack of the context that tells: they do not block, and
 * take no virtual time.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_call;
struct orr_call_about;
struct orr_clocks_told;
struct orr_handle;
struct orr_job;
struct orr_message_told;
struct orr_request;
struct orr_runtime;
struct orr_worker;
struct starpu_conf;

/* In brackets: the members of struct orr_told that an event has. Unless it says so no
 * lock is held, and observers may call functions of the application. */
enum orr_told_kind {
    /* -- the run -- */
    ORR_TOLD_RUN_BEGINS, /* nothing is open yet */
    ORR_TOLD_RUN_IS_OPEN, /* starpu_init is about to return [conf] */
    ORR_TOLD_RUN_ENDS,    /* the workers have ended */
    ORR_TOLD_STANDS_STILL, /* simulated: nothing can go on any more, in a deadlock, of
                            * which is said nothing yet */

    /* -- a task, in this order [job] -- */
    ORR_TOLD_TASK_GIVEN, /* the application submits it; it has its accesses and its
                          * cost row, but no number [implicit] */
    ORR_TOLD_TASK_TIMED,     /* it has a structure for its times */
    ORR_TOLD_TASK_SUBMITTED, /* it has a number, and counts as unfinished */
    ORR_TOLD_TASK_ORDERED,   /* its accesses that are ordered are in the orders of their
                              * data, which are locked */
    ORR_TOLD_TASK_WAITS,     /* all that it waits for is known; it is not released yet */
    ORR_TOLD_TASK_READY,
    ORR_TOLD_TASK_PUSHED,    /* is about to be given to its policy */
    ORR_TOLD_TASK_POPPED,    /* its policy has given it to a worker */
    ORR_TOLD_TASK_FETCHES,   /* the worker asks for its data */
    ORR_TOLD_TASK_STARTS,    /* it has its data: its kernel is next */
    ORR_TOLD_TASK_RETURNED,  /* it could not be executed there and is pushed once more
                              * [started] */
    ORR_TOLD_TASK_SUSPENDED, /* its kernel goes on, which has waited [worker, since] */
    ORR_TOLD_TASK_EXECUTED,  /* [worker, since: µs that its kernel has taken] */
    ORR_TOLD_TASK_GAVE_BACK, /* others may have its data */
    ORR_TOLD_TASK_SKIPPED,   /* it is ready and has no kernel */
    ORR_TOLD_TASK_CALLED,    /* its callback has returned; the task may be gone [since,
                              * until] */
    ORR_TOLD_TASK_OVER,      /* the same, while it stays: a lock is held */
    ORR_TOLD_TASK_ENDED,     /* some task is about to be counted as ended [none] */

    /* -- what tasks wait for -- */
    ORR_TOLD_DEPENDENCY, /* [job, before] */
    ORR_TOLD_TAGS,       /* one tag waits for another [tags, holds]; tags are locked */
    ORR_TOLD_TAG_VAGUE,  /* it stands for more than the end of one task [tags.id]; tags
                          * may be locked */

    /* -- workers [worker] -- */
    ORR_TOLD_WORKER_UP,
    ORR_TOLD_WORKER_DOWN,
    ORR_TOLD_WORKER_STATE,  /* [before: its last state, which it leaves] */
    ORR_TOLD_WORKER_TOOK,   /* it has popped the job, and has looked for one since
                             * then [job, since] */
    ORR_TOLD_KERNEL_BEGINS, /* [job] */
    ORR_TOLD_KERNEL_ENDED,  /* or has failed [job] */
    ORR_TOLD_ENERGY,        /* used by the job [job, joules] */
    ORR_TOLD_STOLEN,        /* the worker has a job of another one's [stolen] */

    /* -- memory -- */
    ORR_TOLD_COPY_BEGINS, /* [request] */
    ORR_TOLD_COPY_ENDED,  /* or has failed for good [request] */
    ORR_TOLD_MEMORY,      /* of a node is used or free [memory]; any lock. Told before
                           * memory is freed and after it was allocated: no observer
                           * sees the node's limit exceeded */
    ORR_TOLD_ALLOCATED,   /* the machine has allocated or freed [allocated, frees,
                           * since] */
    ORR_TOLD_EVICTED, /* simulated: a block has left a node [evicted] */

    /* -- other ranks -- */
    ORR_TOLD_MESSAGE, /* a datum has gone to another rank, or has come [message] */
    ORR_TOLD_CLOCKS,  /* this rank's clock was compared with rank 0's [clocks] */

    /* -- the application -- */
    ORR_TOLD_CALL,      /* it makes a call other than a submission, of those that its
                         * record has: ORR_RECORD in calls.h [called] */
    ORR_TOLD_BLOCKS,    /* the calling context waits, in that call [text] … */
    ORR_TOLD_GOES_ON,   /* … and does not any more */
    ORR_TOLD_WAITED,    /* for tasks */
    ORR_TOLD_WONT_USE,  /* a datum [handle] */
    ORR_TOLD_LOOPS,     /* it is in other iterations of its loops than before [ctx] */
    ORR_TOLD_MARK,      /* of its own, for the trace [text, numbered] */
    ORR_NTOLD
};

struct orr_told {
    enum orr_told_kind kind;
    bool started : 1;  /* its kernel had begun */
    bool implicit : 1; /* its accesses are in the orders of their data */
    bool holds : 1;    /* unless the tag's task was released before that was declared */
    bool frees : 1;    /* else it was allocated */
    bool numbered : 1; /* the text is a number */
    struct orr_job *job;
    struct orr_worker *worker;
    double since; /* µs of the machine's clock */
    union {
        int before_state; /* enum orr_worker_state */
        unsigned ctx;     /* of scheduling */
        double until;     /* µs, as `since` */
        double joules;
        struct orr_job *before;
        struct orr_request *request;
        const struct orr_handle *handle;
        struct starpu_conf *conf;
        const char *text;
        const struct orr_message_told *message; /* core/message_told.h */
        const struct orr_clocks_told *clocks;   /* likewise */
        struct {
            struct orr_call *call;              /* record/call.h */
            const struct orr_call_about *about; /* calls.h; or NULL */
        } called;
        struct {
            uint64_t id, before;
        } tags;
        struct {
            unsigned victim, thief; /* workers */
            uint64_t job;           /* its number */
        } stolen;
        struct {
            unsigned node;
            int64_t change; /* bytes */
        } memory;
        struct {
            unsigned node;
            size_t size; /* bytes */
        } allocated;
        struct {
            struct orr_handle *handle;
            unsigned node;
        } evicted;
    };
};

/* --- observers --- */

/* What an observer keeps it finds in the runtime. */
typedef void (*orr_told_func_t)(struct orr_runtime *rt,
                                const struct orr_told *told);

/* A constant; NULL: it never wants that kind. */
struct orr_observer {
    orr_told_func_t told[ORR_NTOLD];
};

enum { ORR_OBSERVERS = 16 };

/* A set of kinds of events. */
#define ORR_TOLD_BIT(kind) (UINT64_C(1) << (kind))
#define ORR_TOLD_ALL UINT64_MAX

/* Those of a run. Zero: none. */
struct orr_observers {
    uint16_t want[ORR_NTOLD]; /* [atomic] observers that want that kind: a bit each */
    unsigned n; /* [const] since the workers began */
    const struct orr_observer *list[ORR_OBSERVERS];
};

/* Registers one, which wants nothing yet. Before workers begin. */
void orr_observers_add(struct orr_observers *observers,
                       const struct orr_observer *observer);

/* From now on the observer wants the kinds that it has functions for, or does not any
 * more: what is being told meanwhile may reach it all the same. Any time. */
void orr_observers_want(struct orr_observers *observers,
                        const struct orr_observer *observer, uint64_t kinds,
                        bool want);

/* Whether an observer wants that kind. */
#define orr_is_told(rt, kind)                                                  \
    (__atomic_load_n(&(rt)->observers.want[kind], __ATOMIC_RELAXED) != 0)

/* Tells the observers that want it. */
void orr_tell(const struct orr_observers *observers, struct orr_runtime *rt,
              const struct orr_told *told);

/* ORR_TELL(rt, ORR_TOLD_TASK_READY, .job = job): what is behind the kind is not
 * evaluated where no observer wants it. */
#define ORR_TELL(rt, KIND, ...)                                                \
    do {                                                                       \
        if (__builtin_expect(orr_is_told(rt, KIND), 0))                        \
            orr_tell(&(rt)->observers, rt,                                     \
                     &(struct orr_told){.kind = (KIND), __VA_ARGS__});         \
    } while (0)

/* The time with what the calling context owes; NaN where no observer wants that kind.
 * For events that say since when. */
#define orr_tell_since(rt, kind)                                               \
    (orr_is_told(rt, kind) ? orr_exec_now((rt)->exec) + orr_self->debt         \
                           : (double)NAN)
