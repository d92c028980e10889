/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/omp.h - what the files of this folder share: a run's OpenMP state, its
 * teams and its tasks.
 *
 * A team executes a parallel region. Its threads are tasks of the runtime, each on
 * one processor; what waits gives that back (core/loop/suspend.h), so that a team
 * may have more threads than there are processors. Thread 0 is the caller, or a task
 * on its behalf where the caller is no task or the region has data.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/lock.h"
#include "core/device/kind.h"
#include "core/loop/borrow.h"
#include "core/omp/environment.h"
#include "core/omp/handles.h"
#include "core/omp/lock.h"
#include "core/omp/places.h"
#include "core/omp/wait.h"

struct first_thread;
struct orr_omp_closures;
struct orr_omp_codelet;
struct orr_omp_critical;
struct orr_omp_share;
struct orr_openmp_construct;
struct orr_runtime;
struct orr_slab;

/* The internal control variables of a task's data environment. */
struct orr_omp_icvs {
    int nthreads;
    unsigned nthreads_at; /* the entry of OMP_NUM_THREADS that it was */
    enum starpu_omp_sched_value schedule;
    unsigned long long chunk;
    bool dynamic; /* regions have no more threads than there are processors */
};

/* Tasks that are waited for at its end. */
struct orr_omp_group {
    struct orr_omp_count unfinished;
    struct orr_omp_group *outer;
    atomic_bool cancelled; /* those that have not begun do not execute their bodies */
};

/* The loop that a thread is in; its share tells what the team has done of it. */
struct orr_omp_loop {
    struct orr_omp_share *share; /* NULL: it is in none */
    enum starpu_omp_sched_value schedule;
    unsigned long long n, chunk;
    unsigned long long begin, end; /* iterations that the thread executes */
    unsigned long long nordered;   /* of these, whose ordered part is over */
    bool ordered;
    bool equal; /* chunks that are not static are of one length */
};

/* An implicit task, which is a thread of its team, or an explicit one. In no line of
 * the cache with another one; and what others write in none with the rest, which it
 * reads whenever it meets a task. */
struct orr_omp_task {
    _Alignas(64) atomic_uint refs;
    struct orr_omp_count children; /* that have not ended */

    _Alignas(64) struct orr_omp *omp; /* [const] */
    struct orr_omp_task *parent; /* [const] NULL: the initial task. Referenced if … */
    bool holds_parent; /* … it may outlive the call that made it; [const] then */
    struct orr_omp_team *team; /* [const] valid until the task has ended */
    struct orr_omp_icvs icvs;  /* [owner] */
    unsigned thread;           /* [const] in the team, of implicit tasks and
                                  * those that are executed in place */
    bool implicit, final;      /* [const] */
    bool in_place;             /* [const] by the task that encountered it */
    unsigned nested; /* [const] tasks around it that are executed so as well */
    struct {
        orr_kernel_func_t call; /* which is their function … */
        const char *name;       /* … and that their name */
        unsigned left;          /* … so many more of them */
        double begun_us;
    } in_row; /* [owner] tasks that it executes in place before it looks again whether
               * it should */
    struct orr_omp_group *group; /* [owner] innermost taskgroup that it is in */
    struct orr_omp_group *counts_in; /* [const] the one that counts it */
    struct orr_omp_handles handles;  /* of explicit tasks */
    orr_kernel_func_t function;      /* [const] its body, on processors */
    void *loop_arg; /* [const] owned: a copy of the argument of one task of a
                     * taskloop, or NULL */
    void *arg; /* [const] of one that is no task of the runtime: closures.h */
    bool frees_arg;
    struct orr_omp_codelet *measured; /* [const] learns how long it takes, or NULL */
    void *kept; /* [owner] owned: what the entries of a compiler keep of it (openmp/) */
    void *inherited; /* [owner] the same that tasks get from their parent; not owned */

    /* -- of implicit tasks, [owner] -- */
    uint64_t nshares; /* worksharing constructs that it has met */
    struct orr_omp_loop loop;
    struct orr_omp_share *copies; /* the single copyprivate that it is in */
    bool has_copy;                /* it is the one that executes that */
};

struct orr_omp_team {
    struct orr_omp *omp;        /* [const] */
    struct orr_omp_team *outer; /* [const] NULL: the initial one */
    unsigned parent_thread;     /* [const] the thread of `outer` that encountered it */
    unsigned nthreads;          /* [const] */
    unsigned level, active;     /* [const] regions around, and of these those
                                  * with several threads; it is one */
    unsigned spins; /* [const] how often a thread looks for the others before it
                     * waits: 0, or ORR_OMP_SPINS */
    struct orr_nest *nest; /* [const] main's, whose threads look for the next region
                            * when they have ended; NULL: they do not */
    /* Main, which is to execute the task that is thread 0; NULL: its worker does (team.c). */
    struct first_thread *first;
    unsigned base; /* [const] thread 0's processor; the others follow */
    struct orr_omp_meeting meeting;        /* barriers, and the end */
    /* Of cancellation, where the environment allows it (cancel.c). Rounds are those of
     * the meeting, plus 1: */
    atomic_bool cancelled;          /* the region is */
    atomic_ulong cancelled_in;      /* the round before which a loop, or sections, was */
    atomic_ulong barrier_in;        /* the last round that is a barrier's for a thread */
    struct orr_lock lock;                  /* rank ORR_RANK_RUNTIME */
    struct orr_omp_share *shares, *spares; /* [lock] */
    struct orr_omp_handles handles;
    bool some; /* [const] not all processors are the team's, but those of … */
    uint32_t workers[STARPU_NMAXWORKERS / 32]; /* … which are so, and devices */
    orr_kernel_func_t function; /* [const] the region's body … */
    void **buffers;             /* … its data, lent by thread 0 … */
    void *arg;                  /* … and argument */
    const char *name;           /* [const] of that, or NULL */
};

/* Codelets that are equal are one: core/omp/codelets.c. */
#define ORR_OMP_CODELETS 256

struct orr_omp {
    struct orr_runtime *rt;   /* [const] */
    struct orr_context *main; /* [const] which executes the initial task */
    unsigned nusers;          /* [main] starpu_omp_init calls not undone */
    double begun_us;          /* [const] */
    unsigned nprocs;          /* [const] processors */
    unsigned *workers;        /* [const] their workers */
    unsigned *proc_of;        /* [const] the processor of each worker */
    struct orr_omp_environment env; /* [const] */
    atomic_int max_active_levels;
    atomic_int default_device;
    /* Threads of all regions, without those that began one; the initial one counts. */
    atomic_int nbusy;
    struct orr_omp_team team;             /* the initial one */
    struct orr_omp_task *current;         /* [main] what it executes */
    struct orr_omp_handles handles;       /* of callers that are no OpenMP tasks */
    struct starpu_codelet region, thread; /* of thread 0 that is a task, of others */
    struct orr_borrowing first; /* [main] thread 0 of main's regions is main itself,
                                 * in the place of processor 0 */
    struct orr_slab *tasks;       /* [const] of struct orr_omp_task */
    struct orr_omp_place *places; /* [const] of each processor */
    struct orr_omp_closures *closures; /* [const] likewise; NULL: simulated */
    struct starpu_codelet agent;       /* of tasks that execute them */
    struct orr_openmp_construct *wait; /* [const] of tasks that do nothing: entries.h */
    struct starpu_codelet parts; /* of tasks between readers and an inoutset */
    _Atomic(struct orr_omp_codelet *) codelets[ORR_OMP_CODELETS];
    _Atomic(struct orr_omp_critical *) criticals;
    struct orr_omp_lock atomic; /* of starpu_omp_atomic_fallback_* */
    struct starpu_arbiter *arbiter;
};

/* -- state.c -- */

/* The one of this process, NULL outside of init … shutdown. */
struct orr_omp *orr_omp(void);

/* The same; without one the program ends, naming `call`. */
struct orr_omp *orr_omp_need(const char *call);

/* What the calling context executes; NULL: no OpenMP task. */
struct orr_omp_task *orr_omp_self(void);

/* The same; in none the program ends. In kernels, which is mostly asked: self.h. */
struct orr_omp_task *orr_omp_self_need(const char *call);

/* The same of an implicit task, which constructs need that bind to a region. */
struct orr_omp_task *orr_omp_thread_need(const char *call);

/* The owner that the caller is to locks: its task, else its thread. */
const void *orr_omp_lock_self(void);

/* The calling context executes `task` from now on, in place of what it returns. */
struct orr_omp_task *orr_omp_switch(struct orr_omp_task *task);

/* Which thread of its team executes the task, in the calling context. */
unsigned orr_omp_thread_num(const struct orr_omp_task *task);

/* Out of memory: ends the program. */
_Noreturn void orr_omp_no_memory(const char *call);

/* -- task.c -- */

/* A child of `parent`, the caller's task; NULL without memory. One reference. */
struct orr_omp_task *orr_omp_task_new(struct orr_omp_task *parent,
                                      struct orr_omp_team *team);
/* The parent stays as long as the task does. To be called before any other context
 * knows the task; not needed where the parent waits for it anyway. */
void orr_omp_task_hold_parent(struct orr_omp_task *task);
void orr_omp_task_unref(struct orr_omp_task *task);

/* A task construct that is met. */
struct orr_omp_creation {
    const struct starpu_codelet *cl;
    unsigned ndata;
    starpu_data_handle_t *handles;
    const enum starpu_data_access_mode *modes; /* NULL: those of cl */
    void *arg;
    size_t arg_size;
    bool frees_arg; /* when the task has ended */
    bool deferred;  /* unless other things say that it is not */
    bool final;
    bool leaves_group;
    bool stays; /* it is not executed in place, since it may end after its body */
    bool is_call; /* it needs nothing but a call of its function on a processor */
    int priority;
};

/* The same of the public structure. */
struct orr_omp_creation
orr_omp_creation_of(const struct starpu_omp_task_region_attr *attr);

/* The caller, whose task is `parent`, has met that construct: `task`, which is new,
 * becomes its task; the function takes it. */
void orr_omp_task_create(struct orr_omp_task *parent, struct orr_omp_task *task,
                         const struct orr_omp_creation *creation);

/* It is counted where it is waited for, until `ended`, the last thing that is done for it:
 * after that its team may have ended. `run` is its body. */
void orr_omp_task_count(struct orr_omp_task *task);
void orr_omp_task_run(struct orr_omp_task *task, void **buffers, void *arg);
void orr_omp_task_ended(void *task);

/* The caller executes `task`, a child of `caller`, from now on, until `end`. */
void orr_omp_task_begin_in_place(struct orr_omp_task *caller, struct orr_omp_task *task);
void orr_omp_task_end_in_place(struct orr_omp_task *caller, struct orr_omp_task *task);

/* -- team.c -- */

/* Prepares a team of n threads for a region that `caller` has met; NULL: the
 * initial team of `omp`. Its tasks have all ended when it is done with. */
void orr_omp_team_init(struct orr_omp_team *team, struct orr_omp *omp,
                       struct orr_omp_task *caller, unsigned n);
void orr_omp_team_done(struct orr_omp_team *team);

/* Waits for all threads of the caller's team, and for all its tasks. */
void orr_omp_meet(struct orr_omp_task *thread);

/* The bodies of the runtime's tasks that are threads of a team. */
void orr_omp_team_run_first(void *buffers[], void *arg);
void orr_omp_team_run_other(void *buffers[], void *arg);

/* -- codelets.c -- */

struct orr_omp_codelet {
    struct orr_omp_codelet *next;
    orr_kernel_func_t function; /* [const] for processors, or NULL */
    bool plain; /* [const] it has that, and nothing else that decides which worker runs
                 * its tasks */
    struct starpu_codelet given; /* [const] by the application */
    struct starpu_codelet cl;
    atomic_int nshort; /* by how many more of its tasks were short than were not, as
                        * orr_omp_codelet_note_length weighs them */
};

/* The one whose `cl` that is. */
static inline struct orr_omp_codelet *
orr_omp_codelet_of(struct starpu_codelet *cl)
{
    char *at = (char *)cl - offsetof(struct orr_omp_codelet, cl);

    return (struct orr_omp_codelet *)(void *)at;
}

/* From then on its tasks are taken for short ones. */
#define ORR_OMP_SHORT 32

/* So many have taken so long together. */
void orr_omp_codelet_note_length(struct orr_omp_codelet *codelet, double us,
                                 unsigned ntasks);

static inline bool
orr_omp_codelet_is_short(const struct orr_omp_codelet *codelet)
{
    return atomic_load_explicit(&codelet->nshort, memory_order_relaxed) >=
           ORR_OMP_SHORT;
}

/* A record that lives until the end, with a codelet equal to the given one but that its
 * function for processors is `body`. NULL without memory. */
struct orr_omp_codelet *orr_omp_codelet(struct orr_omp *omp,
                                        const struct starpu_codelet *cl,
                                        orr_kernel_func_t body);
void orr_omp_codelets_free(struct orr_omp *omp);

/* -- critical.c -- */
void orr_omp_criticals_free(struct orr_omp *omp);

/* -- cancel.c -- */

/* Whether the task, which has not begun, is not to execute its body. */
bool orr_omp_is_cancelled(const struct orr_omp_task *task);

/* Whether the loop, or the sections, that threads of the team are in was cancelled. */
bool orr_omp_loop_is_cancelled(struct orr_omp_team *team);

/* A barrier in a region that may be cancelled; true: it is, the caller goes to its end. */
bool orr_omp_meet_unless_cancelled(struct orr_omp_task *thread);

/* The caller has come to the end of such a region. Returns when all threads have; they are
 * to meet once more, since then the team may be gone. */
void orr_omp_meet_at_end(struct orr_omp_task *thread);

/* -- taskgroup.c -- */

/* Tasks that the caller creates are counted there until it is closed. */
void orr_omp_group_open(struct orr_omp_task *task, const char *call);
/* Waits for those of the group opened last. */
void orr_omp_group_close(struct orr_omp_task *task, const char *call);
