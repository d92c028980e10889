/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/exec.h - contexts and virtual time of the simulated machine: fibers, a
 * queue of those that can go on, a heap of dates. Everything belongs to the
 * OS thread that made it, or, once that has ended, to the next one that calls; the fields marked [watched] are read by other
 * threads: the watchdog's, and that of core/observe/progress.h.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/exec.h"
#include "core/base/heap.h"
#include "core/device/simulated.h"
#include "core/device/switch.h"
#include "sim/stacks.h"
#include "sim/timers.h"
#include "sim/work.h"

enum orr_sim_state {
    ORR_SIM_READY,    /* in the run queue */
    ORR_SIM_RUNNING,  /* or about to */
    ORR_SIM_PARKED,   /* a wake or its timer makes it ready */
    ORR_SIM_SLEEPING, /* only its timer does */
    ORR_SIM_JOINING,  /* only the end of another context does */
    ORR_SIM_LEFT,     /* only a switch to it does */
    ORR_SIM_ENDED,
};

struct orr_sim_context {
    struct orr_context head; /* first */
    struct orr_fiber fiber;
    struct orr_stack *stack; /* if the machine's stacks are no fibers */
    struct orr_timer timer;
    struct orr_sim_work work; /* what it does now */
    enum orr_sim_state state;
    bool token;
    bool waits; /* while it is left */
    double parked; /* the date at which it was */
    struct orr_sim_context *next_ready;
    struct orr_sim_context *older, *newer; /* all contexts alive */
    struct orr_sim_context *joiner;
    void (*body)(void *);
    void *arg;
};

/* Events in virtual time other than timers: transfers. */
struct orr_sim_events {
    /* Among those of all machines, if it has a date; and if it is to run now. It keeps its
     * date then, which mostly is that of its next call as well. */
    struct orr_heap_link dated, asked;
    double date_us;            /* in `dated` */
    uint64_t age;              /* of the machine on the engine: of one date the oldest
                                * machine's come first */
    /* run() must be called before the clock passes this date, which
     * orr_sim_exec_set_events sets; -ORR_FOREVER requests a call before the clock moves
     * at all. */
    double next_us;
    /* Called on the dispatcher's stack, at that date or, if it had passed
     * already, now. Sets next_us anew. */
    void (*run)(struct orr_sim_events *events);
};

/* A machine on the engine, which several may share: each has a runtime of its own. */
struct orr_sim_user {
    struct orr_sim_exec *exec;
    struct orr_sim_user *next;   /* oldest first */
    struct orr_program *program; /* [const] of the context that it came with */
    struct orr_runtime *runtime; /* argument of these, NULL: none yet */
    orr_deadlock_fn on_deadlock;
    orr_break_fn on_break; /* called before virtual time passes … */
    double break_us;       /* … this date, once */
};

/* From the wake of a thread that sleeps until it runs, µs. A processor that has rested for
 * a moment is only just idle; one that has rested for long has switched parts of itself off, or
 * belongs to another virtual machine. The cost of a sleep in between lies between the two, in
 * proportion to its length. */
struct orr_sim_wake {
    double soon; /* after at most ORR_SIM_SOON_US; at most `late` */
    double late; /* after at least ORR_SIM_LATE_US */
};

#define ORR_SIM_SOON_US 100.
#define ORR_SIM_LATE_US 2000.

struct orr_sim_exec {
    struct orr_exec head;                /* first */
    struct orr_stacks *stacks;           /* lent; NULL: fibers */
    double now;                          /* [watched] µs */
    struct orr_sim_wake wake;            /* of contexts */
    struct orr_timers timers;            /* n is [watched] */
    struct orr_sim_context *first_ready; /* [watched] */
    struct orr_sim_context **last_ready; /* the link to fill */
    struct orr_heap dated,
        asked; /* events that have a date; that are to run now */
    struct orr_sim_events *events; /* the first of them, or no_events */
    struct orr_sim_events no_events;
    uint64_t nadded; /* events, up to now */
    struct orr_sim_user *users;
    /* [main] What machines on it have in common, and what ends it; NULL: nothing. */
    void *kept;
    void (*drop)(void *kept);
    struct orr_sim_context *main;
    pthread_key_t main_key; /* its destructor notices the end of main's thread */
    struct orr_sim_context *newest; /* of the contexts alive */
    struct orr_sim_context *corpse; /* detached and ended, to be freed by the
                                     * next that is on another stack */
    /* Runs the events of no context: the machine's timers, transfers. */
    struct orr_sim_context dispatcher;
    struct orr_sim_context *current; /* [watched] */
    atomic_ulong activity;           /* [watched] blocking calls so far */
    double break_us;                 /* the first of all users' */
};

/* Makes the calling OS thread the main context. The others run on `stacks`, which
 * this thread made and which outlive them; NULL: on fibers. Errors: -ENOMEM,
 * -EAGAIN. */
int orr_sim_exec_new(struct orr_stacks *stacks, struct orr_sim_exec **ret);

/* Called by main. Contexts that were not joined never run again and are freed
 * as well. Accepts NULL. */
void orr_sim_exec_free(struct orr_sim_exec *exec);

/* The engine that the calling context runs on, NULL: none of the simulator's. */
struct orr_sim_exec *orr_sim_exec_current(void);

/* A machine comes to the engine; it leaves again. */
void orr_sim_exec_join(struct orr_sim_exec *exec, struct orr_sim_user *user);
void orr_sim_exec_quit(struct orr_sim_user *user);

/* Calls the user's on_break when virtual time comes to the date. */
void orr_sim_exec_break_at(struct orr_sim_user *user, double us);

/* Its events are looked at from now on, without date at first; no more. */
void orr_sim_exec_add_events(struct orr_sim_exec *exec,
                             struct orr_sim_events *events);
void orr_sim_exec_remove_events(struct orr_sim_exec *exec,
                                struct orr_sim_events *events);

/* When they are run next; ORR_FOREVER: not; -ORR_FOREVER: now. */
void orr_sim_exec_move_events(struct orr_sim_exec *exec,
                              struct orr_sim_events *events, double us);
static inline void orr_sim_exec_set_events(struct orr_sim_exec *exec,
                                           struct orr_sim_events *events,
                                           double us)
{
    if (events->next_us != us)
        orr_sim_exec_move_events(exec, events, us);
}

/* What the dispatcher does now, it does for that machine: its runtime is that of the
 * running context. */
static inline void orr_sim_work_for(const struct orr_sim_user *user)
{
    user->exec->dispatcher.head.program = user->program;
    user->exec->dispatcher.head.runtime = user->runtime;
}

/* Sets a timer of the machine (its `fire` is called on the dispatcher's
 * stack, with the clock at its date); room must have been reserved in
 * exec->timers. */
void orr_sim_exec_set_timer(struct orr_sim_exec *exec, struct orr_timer *timer,
                            double date);

/* Whether the machine itself is running, not a context. */
static inline bool orr_sim_is_dispatcher(const struct orr_sim_exec *exec,
                                         const struct orr_context *context)
{
    return context == &exec->dispatcher.head;
}
