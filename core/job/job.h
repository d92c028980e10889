/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/job.h - the runtime's side of a task, from submission to its end.
 *
 * States, each arrow by the function beside it (set_state checks them):
 *
 *   NEW -submit-> BLOCKED -release-> [CLAIMING -serve->] READY -pop->
 *   FETCHING -arrive-> RUNNING [-suspend-> SUSPENDED -resume-> RUNNING]
 *   -complete-> DONE
 *
 * From FETCHING and RUNNING a job goes back to READY if the device does not do
 * what it is to do (core/loop/failed.c).
 *
 * CLAIMING is left out where the order of submission excludes others anyway
 * (core/data/claim.c).
 *
 * A job is referenced by its task (until the task is destroyed) and by the
 * runtime (until it is done).
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/heap.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/wait.h"
#include "core/device/machine.h"
#include "core/job/access.h"

struct orr_access;
struct orr_again;
struct orr_cost_row;
struct orr_gang;
struct orr_handle;
struct orr_job;
struct orr_nest;
struct orr_runtime;
struct orr_scope;
struct orr_worker;

enum orr_job_state {
    ORR_JOB_NEW,
    ORR_JOB_BLOCKED,
    ORR_JOB_CLAIMING,
    ORR_JOB_READY,
    ORR_JOB_FETCHING,
    ORR_JOB_RUNNING,
    ORR_JOB_SUSPENDED,
    ORR_JOB_DONE,
};

/* Whether the job is of a type: ORR_JOB_IS(job, task). */
#define ORR_JOB_IS(job, name) ((job)->type == &orr_job_##name)

/* What a job has to do with a tag. */
enum orr_tagged {
    ORR_TAGGED_NOT,
    ORR_TAGGED,     /* its end reaches the tag … */
    ORR_TAGGED_HELD /* … which held it back when it was submitted */
};

/* How far a job has come with its claims: core/data/claim.c. */
enum orr_claim_state {
    ORR_CLAIM_NONE,     /* it has predecessors */
    ORR_CLAIM_DECIDING, /* … has none, and looks whether it has to claim */
    ORR_CLAIM_CLAIMING,
    ORR_CLAIM_PASSED, /* it may use its data */
};

/* Why a job's worker does not start it, though it waits for no datum any more. */
enum orr_broken {
    ORR_NOT_BROKEN,
    ORR_BROKEN,      /* some datum cannot be had there */
    ORR_CROWDED_OUT, /* there is no memory for it, and it avoids where that is
                      * so: core/data/relieve.c */
    ORR_GAVE_UP, /* it has memory, but its data cannot come: it gives the memory back
                  * and goes behind others, there as well */
};

/* How a job goes on. No entry blocks. */
struct orr_job_type {
    /* Nothing holds the job back any more, or nothing but kernels of the queue that its
     * own is to be in (core/job/follow.h). Called once; no lock held. */
    void (*ready)(struct orr_runtime *rt, struct orr_job *job);
    /* All its data have come to its node; `worker` is the one that it had then. The
     * worker of a task may see that by itself, run the job and free it meanwhile. NULL:
     * the job never asks for data. */
    void (*arrived)(struct orr_runtime *rt, struct orr_job *job, int worker);
    /* The same for a job that its worker has put aside, so that the worker will not see
     * it by itself. NULL: no worker puts it aside. */
    void (*resumed)(struct orr_runtime *rt, struct orr_job *job);
    /* Whether workers of other nodes than these (bits) could run the job. May be called
     * under a handle's lock. NULL: no worker runs it. */
    bool (*may_avoid)(struct orr_runtime *rt, struct orr_job *job,
                      uint64_t nodes);
    bool is_own; /* has struct orr_job_own, and no task */
};

/* A task with a codelet: core/task/task.c. */
extern const struct orr_job_type orr_job_task;
/* A task with a codelet that bypasses the policy: core/sched/direct.c. */
extern const struct orr_job_type orr_job_direct;
/* A task without kernel, which ends when it is ready; one whose data are brought to the
 * nodes that its codelet names, and no kernel runs; a call of a function in its turn,
 * without data: core/task/complete.c. */
extern const struct orr_job_type orr_job_empty, orr_job_view, orr_job_after;
/* starpu_data_acquire and its kin, which "run" until they are released:
 * core/data/acquire.c. */
extern const struct orr_job_type orr_job_acquire;
/* A message, which "runs" while a layer above holds its datum: core/data/message.c. */
extern const struct orr_job_type orr_job_message;

/* Whether the job holds a datum for somebody outside of tasks. */
#define ORR_JOB_HOLDS(job) (ORR_JOB_IS(job, acquire) || ORR_JOB_IS(job, message))

/* "That job waits for this one." */
struct orr_edge {
    struct orr_edge *next;
    struct orr_job *job;
    bool holds; /* a reference of the job, which was not submitted yet: its task may be
                 * destroyed before */
    bool leads; /* [lock of that job] it counts in the job's `led` */
};

/* What a job has to do with the queues of devices, bits: core/job/follow.h. */
enum orr_follow {
    ORR_MAY_FOLLOW = 1, /* it waits for data and declared tasks, and one worker is to
                         * run it */
    ORR_FOLLOWS = 2, /* its worker has it, though it waits */
    ORR_FOLLOW_RELEASED = 4, /* it does not wait any more */
    ORR_FOLLOW_ENDED = 8,    /* its kernel has ended */
    ORR_LEADS =
        16, /* its kernel is in its worker's queue, or has ended there */
};

enum { ORR_LED_WORDS = (STARPU_NMAXWORKERS + 63) / 64 };

/* Of the tasks that a job was declared to depend on those whose kernels are in queues:
 * core/sched/follow.h. */
struct orr_led {
    bool declared; /* [const] after submission: there are some */
    atomic_int n;  /* those that have not ended … */
    _Atomic uint64_t workers[ORR_LED_WORDS]; /* … in whose queues they are, a bit each;
                                              * bits stay */
};

/* How far a job is with its claims: core/data/claim.c. */
struct orr_job_claims {
    atomic_uchar state; /* enum orr_claim_state */
    uint8_t refusals : 7;  /* [claimant] how often a handle was taken, PATIENCE at most */
    uint8_t is_keeper : 1; /* [claimant] what it has claimed, it keeps */
};

/* Where a claimant waits: while no policy has the job yet, in the place of what that and
 * its worker will know of it. */
struct orr_job_claim {
    struct orr_heap_link link;     /* [handle lock] see there */
    struct orr_access *all;        /* a chain by handle */
    struct orr_access *refused_by; /* in whose queue it is */
    uint64_t refused_at;           /* order of becoming a claimant */
};

/* A promise of an access, see orr_job_memory. */
struct orr_promise {
    struct orr_heap_link link; /* [handle lock] among those of its replicate */
    struct orr_use use;        /* [handle lock] its place there */
};

/* What only jobs have whose data may lack memory: orr_job_memory. */
struct orr_job_memory {
    struct orr_heap_link link; /* [node lock] FETCHING, while it waits for memory … */
    uint64_t since;            /* … order of coming there … */
    size_t lacks;              /* … and bytes, when it was looked at last */
    bool behind;               /* [node lock] others come first */
    bool gave_up;              /* it had memory, and gave it back */
    struct orr_job *job;       /* whose it is */
    uint64_t admitted; /* [owner] the limited nodes in whose memory it runs */
    uint64_t pushed;  /* [policy] number in the order in which jobs were promised their
                       * data */
    struct orr_promise promises[]; /* of the accesses that lie behind the job */
};

/* How far a job is with its data: core/data/fetch.c, admit.c, place.c. */
struct orr_job_data {
    atomic_int pending;   /* data not there yet, +1 while asking */
    atomic_uchar broken;  /* enum orr_broken, while it fetches */
    uint8_t spread : 1;   /* [const] some access is `placed` */
    uint8_t reducible : 1; /* [const] some datum has methods of reduction */
    uint8_t first : 1;    /* [const] makes the first value of its datum, if that
                           * has none when it is its turn: core/data/first_value.c */
    uint8_t limited;      /* [owner] the node with a limit in question */
    uint8_t flat; /* [owner] all is in main memory, which is all that there is: its task has
                   * the interfaces since its submission */
    uint8_t wants_memory; /* [node lock] it waits for some */
    uint8_t aside; /* [node lock] its worker takes others until it has some */
    atomic_uchar follow; /* whether it goes behind those whose data it waits for:
                          * core/job/follow.h … */
    atomic_uchar follow_at; /* … if its task names no worker, in whose queue */
};

/* What few jobs have, made when it is needed first: orr_job_rare. */
struct orr_job_rare {
    struct orr_nest *around; /* [const] after submission: of the task that has
                              * submitted it, NULL: none has */
    struct orr_nest *nest;   /* [owner] its own, NULL: it has submitted none */
    struct orr_gang *gang;   /* [owner] of an alias, and of a task that several workers
                              * execute: core/sched/gang.h, else NULL */
    struct orr_again *again; /* [lock of rt->tasks->agains] what its task keeps for further
                              * runs, or NULL */
    uint64_t avoids;  /* [owner] nodes whose workers do not get it: it has failed there,
                       * or found no memory */
    /* [const] after submission: processors of one node that the task takes, 0: one, and
     * bytes there beside its data (core/sched/recruit.h) */
    uint16_t ncores;
    size_t own_memory;
    uint8_t nretries; /* [owner] kernels that failed where no other worker could take
                       * them */
    uint8_t nmoves;   /* [last context awake] by core/data/relieve.c */
    bool may_fail; /* [const] task->failed is looked at, and another try is made */
    struct orr_led led;
    struct orr_waiters waiters;    /* [job's lock] for the job's end */
    _Atomic(struct orr_waiter *) caller; /* who waits until its function has returned */
    bool has_caller; /* [const] after submission: somebody does, or has */
    struct orr_job_memory *memory; /* [owner] owned, or NULL: of a job without one behind
                                    * it that needs one */
};

/* What jobs of the runtime's own have, which have no task: acquisitions, switches of
 * plans, calls of functions in their turn. It lies behind their accesses. */
struct orr_job_own {
    void (*callback)(void *); /* of an acquisition called with the data */
    void *arg; /* of that; of a message: the message */
    unsigned node; /* where the data are brought; of a message: once it has its turn */
    uint8_t step;  /* of a switch: core/data/plan_switch.c */
    uint8_t call;  /* of an acquisition: enum orr_acquire_call */
    void (*before)(void *arg, int *node, enum starpu_data_access_mode mode);
    struct orr_scope *scope;  /* of an acquisition: the scope of which it has a part
                               * (core/data/lend.h); of a switch: the scope in whose
                               * sequence it is (core/data/plan_inner.c); NULL: none */
    const struct orr_job *by; /* of the kernel that acquires; NULL: the caller is in
                               * none. Compared only */
    size_t copied; /* of an acquisition: bytes that its callback will copy … */
    size_t fresh;  /* … and of these, into memory that nobody has used */
};

/* Whether its kernel is launched with those of other tasks: handing it over takes no
 * time, and nor do submission and push of what was submitted so before. */
enum orr_in_graph { ORR_NO_GRAPH, ORR_IN_GRAPH, ORR_IN_GRAPH_AGAIN };

/* Three lines of the cache: what its way through the runtime needs; what the policy and
 * the fetch need as well; and what is left. */
struct orr_job {
    struct starpu_task *task;        /* [const] NULL for jobs of the runtime's own */
    const struct orr_job_type *type; /* [const] after submission */
    _Atomic uint64_t id;    /* [const] in order of submission, from 1; others
                             * may look at it before that */
    atomic_int waiting;     /* predecessors, +1 until submitted */
    atomic_int ending;      /* what its end waits for, +1 for the kernel, and
                             * ORR_END_ASKED */
    atomic_uint refs;
    struct orr_lock lock;   /* rank ORR_RANK_JOB */
    atomic_uchar state;     /* enum orr_job_state; the context that has the job in that
                             * stage sets it, DONE under the lock */
    uint8_t implementation; /* chosen by the policy */
    uint16_t naccesses;     /* [const] after submission */
    int16_t worker;         /* where it runs, -1 before */
    uint8_t tagged : 4;     /* [const] enum orr_tagged */
    uint8_t in_graph : 4;   /* [const] enum orr_in_graph */
    uint8_t plain; /* [the context that has it] its task asks for nothing on its way, and
                    * is freed at the end: orr_job_is_plain */
    struct orr_job_claims claims;
    uint8_t ended;            /* [lock] callbacks have run, waiters may go */
    uint8_t decided : 1; /* [lock of rt->tasks->agains] what becomes of its task … */
    uint8_t replaced : 1; /* [lock of rt->tasks->agains] … which has another job */
    uint8_t slots;        /* [const] accesses that fit behind the job */
    uint8_t slab;         /* [const] of which its memory is: in rt->slabs->jobs */
    uint8_t has_memory;   /* [const] a struct orr_job_memory lies behind these */
    uint8_t differ; /* [policy] while it waits there: workers of one kind may
                     * differ in whether they can run it */
    uint8_t converts;   /* [owner] some datum has a form per sort of device */
    uint8_t sched_ctx;  /* [const] after submission: number of its scheduling
                         * context */
    uint16_t ncores;    /* [owner] processors that its kernel may use, 0: one */
    uint16_t depth; /* [const] tasks around it, where some have waited: of equal
                     * priority the deepest goes first */
    uint32_t iteration; /* [const] loops of the program, in traces; 0: none */

    struct orr_list queue; /* [lock of the queue it is in] beside what else is read
                            * of a job there */
    int priority;          /* [const] after submission */
    uint16_t modes; /* [const] after submission: all modes of its task's accesses */
    uint8_t counted;         /* [const] by core/observe/perf.h */
    uint8_t has_footprint;
    struct orr_job_data data;
    uint32_t footprint;          /* valid if has_footprint */
    struct orr_cost_row *costs; /* borrowed from the runtime's table */
    struct orr_access *accesses; /* naccesses of them, mostly `inside` */
    _Atomic(struct orr_job_rare *) rare; /* owned, or NULL */

    struct orr_edge *successors; /* [lock] until done */
    uint32_t recorded;           /* [graph's lock] number there + 1, 0: none */
    uint32_t noted; /* [run's thread] the same in observe/waits_log.h */
    union {
        struct orr_job_claim claim; /* [claimant], until it has passed; then all 0 */
        struct {
            uint64_t able_classes; /* [policy] the worker classes that can run it, from
                                    * when it is queued; the context that queues it may
                                    * look at that although the job is taken meanwhile */
            uint64_t asked; /* [owner] where it has its data, or waits for them */
            uint64_t left;  /* [owner] where it asks for data when those that it has
                             * asked for are there */
            double predicted; /* µs, by the policy, 0 without */
            double predicted_transfer; /* µs not hidden, by the policy */
            struct orr_kernel *kernel; /* [owner] RUNNING; its worker's, NULL when it
                                        * has ended */
        };
    };
    struct orr_access inside[];
};

static_assert(sizeof(struct orr_job) == 192, "see above");
static_assert(STARPU_NMAXWORKERS <= INT16_MAX, "a worker's number fits");
static_assert(STARPU_NMAXWORKERS <= UINT8_MAX + 1, "in `follow_at' as well");

/* Bytes of a job with that many accesses behind it and, if so, what it needs where data
 * may lack memory. */
static inline size_t orr_job_size(unsigned slots, bool has_memory)
{
    return sizeof(struct orr_job) + slots * sizeof(struct orr_access) +
           (has_memory ? sizeof(struct orr_job_memory) +
                             slots * sizeof(struct orr_promise)
                       : 0);
}

static_assert(sizeof(struct orr_job_own) <= sizeof(struct orr_access),
              "it lies in the place of an access");

/* What the job, which has no task, has of its own. */
static inline struct orr_job_own *orr_job_own(const struct orr_job *job)
{
    assert(job->type->is_own);
    return (struct orr_job_own *)(void *)(uintptr_t)&job->inside[job->slots];
}

/* --- what few jobs have --- */

/* What the job has of memory that its data may lack; NULL: nothing, there is memory
 * enough for all, or the job has not needed it (orr_job_make_memory). */
static inline struct orr_job_memory *orr_job_memory(const struct orr_job *job)
{
    const struct orr_job_rare *rare;

    if (job->has_memory)
        return (struct orr_job_memory *)(void *)(uintptr_t)&job
            ->inside[job->slab];
    rare = atomic_load_explicit(&job->rare, memory_order_acquire);
    return rare ? rare->memory : NULL;
}

/* The same, made if needed: by the context that has the job. NULL without memory. */
struct orr_job_memory *orr_job_make_memory(struct orr_job *job);

/* The nodes with a limit in whose memory the job runs. */
static inline uint64_t orr_job_admitted(const struct orr_job *job)
{
    const struct orr_job_memory *memory = orr_job_memory(job);

    return memory ? memory->admitted : 0;
}

/* The promise of an access; NULL: its job has no place for one, or none in the order in
 * which jobs were promised their data. */
static inline struct orr_promise *
orr_access_promise(const struct orr_access *access)
{
    const struct orr_job *job = access->job;
    size_t i = (size_t)(access - job->accesses);

    if (job->accesses == job->inside)
        return job->has_memory ? &orr_job_memory(job)->promises[i] : NULL;
    if (!orr_job_memory(job))
        return NULL;
    /* orr_job_reserve made them behind the accesses */
    return (struct orr_promise *)(void *)&job->accesses[job->naccesses] + i;
}

static inline struct orr_job_rare *orr_job_rare(const struct orr_job *job)
{
    return atomic_load_explicit(&job->rare, memory_order_acquire);
}

/* As orr_job_rare, made if needed; NULL without memory. Any context that has the job. */
struct orr_job_rare *orr_job_make_rare(struct orr_job *job);

static inline struct orr_nest *orr_job_around(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->around : NULL;
}

static inline struct orr_nest *orr_job_inner(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->nest : NULL;
}

static inline struct orr_gang *orr_job_gang(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->gang : NULL;
}

static inline unsigned orr_job_ncores(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare && rare->ncores ? rare->ncores : 1;
}

static inline size_t orr_job_own_memory(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->own_memory : 0;
}

static inline struct orr_again *orr_job_again(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->again : NULL;
}

static inline uint64_t orr_job_avoided(const struct orr_job *job)
{
    const struct orr_job_rare *rare = orr_job_rare(job);

    return rare ? rare->avoids : 0;
}

/* Other contexts may only rely on NEW (their own job) and, with the lock, on
 * DONE. */
static inline enum orr_job_state orr_job_state(const struct orr_job *job)
{
    return atomic_load_explicit(&job->state, memory_order_relaxed);
}

/* Whether nothing is to be looked for, nor left, in the job's task on its way: no
 * callback, tag, bundle, times; and its kernel is the only one that looks at it, which is
 * shown what was left out (orr_job_show). The task, which was written by the context that
 * has submitted it, mostly is in no cache of the worker. */
static inline bool orr_job_is_plain(const struct orr_job *job)
{
    return job->plain && !orr_job_rare(job);
}

/* The kernel that the calling context runs looks at the task: it is not plain any more,
 * and has in its fields what others have there. */
void orr_job_show(struct orr_job *job);

/* Whether its task was submitted: what is [const] after that may be read. */
static inline bool orr_job_is_submitted(const struct orr_job *job)
{
    return atomic_load_explicit(&job->state, memory_order_acquire) !=
           ORR_JOB_NEW;
}

/* The task's present job, NULL before there is one; another thread may be making it
 * just now: orr_job_get. */
static inline struct orr_job *orr_job_of(const struct starpu_task *task)
{
    return __atomic_load_n(&task->starpu_private, __ATOMIC_ACQUIRE);
}

/* The job of a task that may not be submitted yet (dependencies are declared
 * before), made if needed. NULL when memory is out. */
struct orr_job *orr_job_get(struct orr_runtime *rt, struct starpu_task *task);

/* The same; if the task's last run has ended, the job of its next run. */
struct orr_job *orr_job_get_further(struct orr_runtime *rt,
                                    struct starpu_task *task);
static inline struct orr_job *orr_job_get_next(struct orr_runtime *rt,
                                               struct starpu_task *task)
{
    return orr_job_of(task) ? orr_job_get_further(rt, task)
                            : orr_job_get(rt, task);
}

/* A job for a run of the task; task->starpu_private is not set yet. NULL without
 * memory. */
struct orr_job *orr_job_new_of(struct orr_runtime *rt,
                               struct starpu_task *task);

/* Gives the job room for n accesses, zeroed. Errors: -ENOMEM. */
int orr_job_reserve(struct orr_job *job, unsigned n);

/* A job of the runtime's own with room for n accesses; NULL without memory.
 * One reference, waiting = 1. */
struct orr_job *orr_job_new(struct orr_runtime *rt,
                            const struct orr_job_type *type,
                            unsigned naccesses);

void orr_job_ref(struct orr_job *job);
/* The same for a job that no other context knows yet. */
static inline void orr_job_ref_new(struct orr_job *job)
{
    atomic_store_explicit(
        &job->refs, atomic_load_explicit(&job->refs, memory_order_relaxed) + 1,
        memory_order_relaxed);
}

void orr_job_unref(struct orr_runtime *rt, struct orr_job *job);

/* Gives n references back at once. */
void orr_job_unref_n(struct orr_runtime *rt, struct orr_job *job, unsigned n);

/* Frees what the job owns that does not go with the runtime's slabs; it is used no
 * more. */
void orr_job_free_parts(struct orr_runtime *rt, struct orr_job *job);

/* Whether the caller's n references are all there are: then no other context knows the
 * job any more, nor will. */
static inline bool orr_job_is_ours(const struct orr_job *job, unsigned n)
{
    return atomic_load_explicit(&job->refs, memory_order_acquire) == n;
}

/* Takes n off a counter of which the caller holds n; returns whether that was all. A
 * holder that finds no more than its own there has the counter for itself, since only
 * holders add to it, and needs no atomic operation. It sees what was written before
 * others took theirs off; so does the one that finds 0. */
static inline bool orr_count_off(atomic_int *counter, int n)
{
    if (atomic_load_explicit(counter, memory_order_acquire) == n) {
        atomic_store_explicit(counter, 0, memory_order_release);
        return true;
    }
    return atomic_fetch_sub_explicit(counter, n, memory_order_acq_rel) == n;
}

/* Gives a job that has none a number as tasks have them, before it enters an
 * order. */
void orr_job_number(struct orr_runtime *rt, struct orr_job *job);

/* The job, which is being submitted, belongs inside the task whose kernel the
 * calling context runs, if it runs one. */
void orr_job_put_inside(struct orr_runtime *rt, struct orr_job *job);
static inline void orr_job_nest(struct orr_runtime *rt, struct orr_job *job)
{
    if (orr_self->suspends_at)
        orr_job_put_inside(rt, job);
}

/* From now on the job avoids the workers of these nodes (bits); 0: of none any more. No
 * policy has it. */
void orr_job_avoid(struct orr_runtime *rt, struct orr_job *job, uint64_t nodes);

/* Moves on to the next state; asserts that the arrow exists. */
static inline void orr_job_set_state(struct orr_job *job,
                                     enum orr_job_state state)
{
    static const uint8_t from[] = {
        [ORR_JOB_BLOCKED] = 1 << ORR_JOB_NEW,
        [ORR_JOB_CLAIMING] = 1 << ORR_JOB_BLOCKED,
        [ORR_JOB_READY] = 1 << ORR_JOB_BLOCKED | 1 << ORR_JOB_CLAIMING |
                          1 << ORR_JOB_FETCHING | 1 << ORR_JOB_RUNNING,
        [ORR_JOB_FETCHING] = 1 << ORR_JOB_READY,
        [ORR_JOB_RUNNING] = 1 << ORR_JOB_FETCHING | 1 << ORR_JOB_SUSPENDED,
        [ORR_JOB_SUSPENDED] = 1 << ORR_JOB_RUNNING,
        /* An empty task ends when it is ready. */
        [ORR_JOB_DONE] = 1 << ORR_JOB_RUNNING | 1 << ORR_JOB_READY,
    };

    assert(from[state] & 1 << orr_job_state(job));
    (void)from;
    /* Pairs with orr_job_is_submitted. */
    atomic_store_explicit(&job->state, (unsigned char)state,
                          memory_order_release);
}

/* `job` waits for `before`, unless that is done. Both locks are free. Before
 * job's submission only. Errors: -ENOMEM. */
int orr_job_add_dep(struct orr_runtime *rt, struct orr_job *job,
                    struct orr_job *before);

/* The kernel of the job `before`, whose successor that is, is in a queue: that is noted in
 * the successor's `led`, if it has one. */
void orr_edge_lead_locked(struct orr_edge *edge, const struct orr_job *before)
    ORR_REQUIRES(before->lock);

/* The job, which is being submitted, waits for n more. The submitter holds one; if that
 * is the only one, no other context writes the number. */
static inline void orr_job_wait_more(struct orr_job *job, int n)
{
    if (atomic_load_explicit(&job->waiting, memory_order_acquire) == 1)
        atomic_store_explicit(&job->waiting, 1 + n, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&job->waiting, n, memory_order_relaxed);
}

/* One datum more of the job is on its node; the last one calls type->arrived. Any
 * context, no lock held. Does not block. */
void orr_job_arrive(struct orr_runtime *rt, struct orr_job *job);

/* Blocks until the job is done. */
void orr_job_wait(struct orr_runtime *rt, struct orr_job *job);

/* The calling context is to wait, with orr_job_wait_called, until the job's function has
 * returned. Before the job's submission. */
void orr_job_await_call(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_waiter *waiter);

/* Blocks until that has been, or the job has ended without: of a job to which the caller
 * has a reference. */
void orr_job_wait_called(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_waiter *waiter);

/* Whether it has been, so that the function's caller, who has gone on, may have taken what
 * it refers to with him. */
static inline bool orr_job_was_called(const struct orr_job *job)
{
    struct orr_job_rare *rare = orr_job_rare(job);

    return rare && rare->has_caller && !atomic_load(&rare->caller);
}

/* The job's function has returned, or will not be called: who waits for that goes on. Any
 * context, no lock held. */
static inline void orr_job_called(const struct orr_job *job)
{
    struct orr_job_rare *rare = orr_job_rare(job);
    struct orr_waiter *caller =
        rare ? atomic_exchange(&rare->caller, NULL) : NULL;

    if (caller)
        orr_waiter_release(caller);
}

/* What to call the job in messages: task name, codelet name, model symbol. */
const char *orr_job_name(const struct orr_job *job);

/* What a context adds to `ending` while it asks the application's code whether a worker
 * can run the job (core/sched/queue.c): apart from what the application has the end
 * wait for. */
#define ORR_END_ASKED (1 << 22)

/* Whether, beside the kernel, the program has its end wait for something. */
static inline bool orr_job_ends_later(const struct orr_job *job)
{
    return (atomic_load_explicit(&job->ending, memory_order_acquire) &
            (ORR_END_ASKED - 1)) > 1;
}

/* The job's end waits for n more. Before its end. */
static inline void orr_job_end_later(struct orr_job *job, int n)
{
    atomic_fetch_add_explicit(&job->ending, n, memory_order_relaxed);
}

/* Stops the program if the job is not as it must be. Called by the context that has the
 * job in its present stage. */
void orr_job_check(const struct orr_job *job);
