/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/handle.h - a datum, its replicates on the memory nodes, and the
 * order of the tasks that use it.
 *
 * Coherency is MSI: a replicate is invalid (its bit in `valid` is 0), shared
 * (one of several bits) or owner (the only bit). `valid` and `loading` are
 * what schedulers look at, without the lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/heap.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/wait.h"
#include "core/job/turns.h"

struct orr_access;
struct orr_async;
struct orr_block;
struct orr_family;
struct orr_handle;
struct orr_job;
struct orr_plan;
struct orr_request;
struct orr_return;
struct orr_runtime;

/* A handle's place on one memory node. */
struct orr_replicate {
    struct orr_request *request; /* [handle lock] what is on its way here */
    struct orr_block *block;  /* [handle lock] its memory, if it is ours … */
    struct orr_list in_block; /* [node lock] … and its place there: block.h */
    void *interface;          /* [const] pointer; content: [handle lock] */
    uint32_t refs;            /* [handle lock] jobs and requests that use it */
    uint32_t node;            /* [const] */
    uint32_t writers;  /* [handle lock] jobs that will write here what they have
                       * not read: no copy is to come any more */
    uint32_t promised; /* [handle lock] queued jobs that will read it here … */
    struct orr_heap promises;  /* [handle lock] … the soonest first, where the
                               * order matters */
    struct orr_handle *handle; /* [const] */
    atomic_size_t reserved; /* [handle lock] for writing: bytes of the node that
                             * are set aside for its block, admit.c */
    uint32_t held;  /* [handle lock] of refs, those of jobs that are tried or
                    * admitted and have not asked for their data yet */
    bool allocated; /* [handle lock] has memory, ours or not */
    bool offered;   /* [handle lock] its block may leave, as far as it goes */
    bool sorts;     /* [handle lock] all promises are in that heap, not only the
                 * first one that was made, or the soonest */
};

/* What became of its copies: traffic.h. All zero at first; any thread reads the
 * counts. */
struct orr_traffic {
    uint64_t gone;         /* [handle lock] nodes that had the present value and
                            * that it had to leave … */
    _Atomic uint64_t back; /* [handle lock] for writing: … to which it has come
                            * again, and no task has used it there since */
    atomic_uint narrivals, nevictions, nreturns; /* [handle lock] for writing */
    uint32_t
        ended; /* simulated: of the tasks that had ended when evictions were
                     * looked at last, core/observe/livelock.c */
    _Atomic(struct orr_return *) returns; /* [handle lock] for writing; owned */
};

#define ORR_HANDLE_ALIVE UINT32_C(0x0da7a11e)

/* How a handle may be held by jobs that use it at once. */
enum orr_claim {
    ORR_CLAIM_SHARED,    /* by readers */
    ORR_CLAIM_REDUX,     /* by contributions to a reduction */
    ORR_CLAIM_EXCLUSIVE, /* by one writer */
};

/* Which jobs have a datum for which turns alone do not exclude accesses from each
 * other: claim.c. */
struct orr_claims {
    unsigned n;            /* [handle lock] accesses that hold it … */
    enum orr_claim kind;   /* [handle lock] … all of them so */
    struct orr_list queue; /* [handle lock] jobs that wait for a claim, in the order in
                            * which they came here … */
    struct orr_heap urgent; /* [handle lock] … and by urgency */
};

struct orr_handle {
    /* The first line of the cache has what changes with every task. It goes to and fro
     * between the thread that submits and the worker that executes, and with it the
     * answer whether a value is there that no job is about to change. The other lines
     * mostly stay unchanged in the caches of all processors: code that writes there
     * looks first whether it has to. Masks of nodes, here: [lock] for writing, relaxed
     * reads by schedulers. */
    struct orr_lock lock; /* rank ORR_RANK_HANDLE */
    bool wont_use : 1; /* [lock] clean copies may make way for prefetches */
    bool unreal : 1;   /* [lock] written by a skipped kernel */
    bool doomed : 1;   /* [lock] its last user frees it */
    bool awaited : 1;  /* [lock] somebody waits until it has no user */
    /* [lock] it is being freed: has no user, and gets none any more */
    bool dying : 1;
    /* [lock] for writing: how often the masks below, and the size, have changed:
     * after that */
    atomic_uint changes;
    unsigned nusers; /* [lock] jobs between submission and end */
    /* [lock] jobs that are changing the value: only they may copy it */
    unsigned writing;
    _Atomic uint64_t valid;     /* holds the present value */
    _Atomic uint64_t loading;   /* a copy of it is on its way there */
    _Atomic uint64_t allocated; /* has memory there */
    struct orr_turns turns;     /* [lock] of its accesses */

    /* The second line has what each submission reads. */
    struct orr_runtime *runtime;           /* [const] */
    struct starpu_data_interface_ops *ops; /* [const] */
    /* [const] pointer: the home node's, else node 0's */
    void *home_interface;
    struct orr_reduction *reduction; /* owned: reduction.h; NULL: no methods */
    uint64_t id;                     /* [const] order of registration */
    size_t size;                     /* [const] bytes */
    int home_node;                   /* [const] -1 without */
    uint32_t footprint; /* [const] hash of its layout: core/cost/ask.h */
    /* ORR_HANDLE_ALIVE until it is freed: a call that uses it after that says so,
     * unless the memory has another use already */
    uint32_t alive;
    bool sequential;  /* [main] implicit dependencies wanted */
    bool partitioned; /* [main] */
    bool multiformat; /* [const] it has a form per sort of device */
    bool unimportant; /* [lock] its blocks leave first */

    struct orr_list all; /* [runtime lock] in runtime->data->handles */
    /* [const] replicates: nodes that there were when it was registered, or may be:
     * orr_runtime.expects_disks */
    unsigned nnodes;
    struct orr_family *family; /* [main] pointer, owned: plan.h; NULL: none */
    struct starpu_arbiter *arbiter;  /* [lock] borrowed, or NULL */
    struct orr_claims claims;        /* [lock] */
    /* [lock] held the value before it was last written or outdated, and has that memory
     * still: undo.c */
    uint64_t former;
    /* [lock] simulated: nodes where nobody has used its memory, so that the system has
     * to give its pages to who does first */
    uint64_t untouched;
    bool out_of_core; /* [main] it may go to a disk */
    uint8_t slab;     /* [const] of whose memory it is, from 1; 0: of none */
    uint32_t
        written_through;  /* [lock] for writing: nodes that get each value */
    atomic_uint ncopying; /* copies under way that read main memory */
    struct orr_waiters idle_waiters; /* [lock] wait for nusers == 0 */
    struct orr_handle *parent, **children; /* [main] */
    unsigned nchildren, depth, child_index;
    /* [main] while partitioned: nodes where the memory has what no child covers */
    uint64_t kept;
    _Atomic(struct orr_handle **) privates; /* owned: private.h; NULL: none */
    struct orr_traffic traffic;
    /* Copies that are only read: duplicate.c. [runtime lock] for writing */
    struct orr_handle *duplicate,
        *original;     /* the present one; what it copies */
    unsigned nshares;  /* how often it was given beside the first time */
    bool is_duplicate; /* nobody may write it */
    void *user_data, *sched_data;
    void *remote; /* [main] of the layer above: core/remote.h; NULL: nothing */
    /* [lock] acquisitions whose data are there and that are not released yet, by
     * `queue` */
    struct orr_list acquired;
    char *name;
    int coordinates[5];
    unsigned ncoordinates;
    /* [const] owned: for each node those to which its interface does not copy
     * directly; NULL: none */
    uint64_t *detours;
    /* Owned: structures for nodes that the machine lacks, since programs loop over all
     * STARPU_MAXNODES. NULL: none was asked for. */
    _Atomic(char *) spare_interfaces;
    struct orr_replicate replicates[]; /* one per memory node */
};

_Static_assert(offsetof(struct orr_handle, runtime) == 64,
               "what changes with every task is the first line of the cache");
_Static_assert(offsetof(struct orr_handle, all) == 128,
               "what each submission reads is the second one");

enum { ORR_PLACEMENT_DIMS = 8 };

/* Where a part lies in its whole: placement.h. */
struct orr_placement {
    enum {
        ORR_PLACE_UNKNOWN,
        ORR_PLACE_DENSE,
        ORR_PLACE_ROWS,
        ORR_PLACE_RELOCATED /* in the base of the whole alone */
    } kind;
    union {
        /* Dense data: it has one index, or the first of several, along each
         * dimension of the whole; its own dimension k runs along axis[k]. */
        struct {
            uint8_t axis[ORR_PLACEMENT_DIMS];
            uint32_t start[ORR_PLACEMENT_DIMS];
        };
        /* Sparse matrices by rows: bytes from the beginning of each array. */
        struct {
            size_t values, columns, rows;
        };
        struct orr_relocation *relocation; /* owned by the family */
    };
};

/* What a handle has that planned partitions cut, or that is a part of one:
 * plan.h. */
struct orr_family {
    struct orr_list plans; /* [plans lock] where it is the whole, in the order
                            * in which they were made */
    struct orr_plan *of;   /* [plans lock] where it is a part; NULL: none */
    bool had_rests; /* [handle lock] where it is the whole: in some plan, has_rests */
    struct orr_placement place; /* [const] there, in its whole */
    /* Of the first part of a plan, for all: plan_switch.c. */
    struct {
        unsigned n;              /* [handle lock] sequences in which parts are read */
        bool moving;             /* [handle lock] their value comes or goes */
        struct orr_list waiting; /* [handle lock] switches, until it has */
    } readers;
    bool floats;    /* [const] likewise: plan_float.c */
    bool has_rests; /* [const] … and parts leave something out: plan_switch.c */
};

/* A mask of nodes, or the size, was changed: whoever reads the count first, and what is
 * counted then, has what is still so while the count is the same. */
static inline void orr_handle_count_change(struct orr_handle *handle)
{
    atomic_store_explicit(
        &handle->changes,
        atomic_load_explicit(&handle->changes, memory_order_relaxed) + 1,
        memory_order_release);
}

/* They are the only ones to change these masks. */
static inline void orr_handle_set_valid(struct orr_handle *handle,
                                        uint64_t nodes)
    ORR_REQUIRES(handle->lock)
{
    handle->valid = nodes;
    orr_handle_count_change(handle);
}

/* Whether who uses its memory there next is the first one; never for real. For who is
 * the only one to bring a value there. */
static inline bool orr_handle_is_untouched(const struct orr_handle *handle,
                                           unsigned node) ORR_UNCHECKED
{
    return handle->untouched >> node & 1;
}

/* Their memory was used, or is gone. */
static inline void orr_handle_touch(struct orr_handle *handle, uint64_t nodes)
    ORR_REQUIRES(handle->lock)
{
    if (handle->untouched & nodes)
        handle->untouched &= ~nodes;
}

static inline void orr_handle_set_loading(struct orr_handle *handle,
                                          uint64_t nodes)
    ORR_REQUIRES(handle->lock)
{
    handle->loading = nodes;
    orr_handle_count_change(handle);
}

static inline void orr_handle_set_allocated(struct orr_handle *handle,
                                            uint64_t nodes)
    ORR_REQUIRES(handle->lock)
{
    handle->allocated = nodes;
    orr_handle_count_change(handle);
}

/* Whether each value of the handle is brought to the node, and stays. */
static inline bool orr_handle_keeps(const struct orr_handle *handle,
                                    unsigned node)
{
    return node < 32 && handle->written_through >> node & 1;
}

/* Why the handle cannot be used, for a message; NULL: it can, or is partitioned. */
static inline const char *orr_handle_trouble(const struct orr_handle *handle)
{
    if (!handle)
        return "NULL: register the data first";
    return handle->alive == ORR_HANDLE_ALIVE
               ? NULL
               : "none, or its data were unregistered: they have ended";
}

/* The plan of which the handle is a part; NULL: none. */
static inline struct orr_plan *orr_handle_plan(const struct orr_handle *handle)
{
    return handle->family ? handle->family->of : NULL;
}

/* starpu_data_handle_t is opaque: a pointer to struct _starpu_data_state. */
static inline struct orr_handle *orr_handle_of(starpu_data_handle_t handle)
{
    return (struct orr_handle *)(void *)handle;
}

static inline starpu_data_handle_t orr_handle_public(struct orr_handle *handle)
{
    return (starpu_data_handle_t)(void *)handle;
}

/* Copies the handle's structure on the node. Other contexts may be giving it memory, or
 * be writing its value meanwhile. No lock held. */
void orr_handle_read_layout(struct orr_handle *handle, unsigned node, void *to);

/* Makes a handle with that layout and no value; as orr_handle_new. */
int orr_handle_new_alike(struct orr_handle *like, unsigned node,
                         const struct orr_handle *whole,
                         struct orr_handle **ret);

/* Makes a handle around one interface; home_node -1: no value yet. For a piece of other
 * data, or private memory for them, `whole` is those data, on whose nodes the handle
 * is; else NULL. Errors: -ENOMEM. The caller owns *ret. */
int orr_handle_new(struct orr_runtime *rt, const struct orr_handle *whole,
                   int home_node, void *interface,
                   struct starpu_data_interface_ops *ops,
                   struct orr_handle **ret);

/* Memory for a handle of this interface in any run, freed with it, or by free() before
 * there is one; NULL without memory. */
struct orr_handle *
orr_handle_reserve(const struct starpu_data_interface_ops *ops);

/* orr_handle_new in memory that is there, which is all 0, and is freed upon errors. */
int orr_handle_fill(struct orr_runtime *rt, struct orr_handle *handle,
                    const struct orr_handle *whole, int home_node,
                    void *interface, struct starpu_data_interface_ops *ops,
                    struct orr_handle **ret);

/* Size and footprint anew (a filter changed the interface). */
void orr_handle_measure(struct orr_handle *handle);

/* What is to be done when no handle is locked any more. All zero: nothing. */
struct orr_deferred {
    uint64_t kick;             /* nodes whose progress workers have to look */
    uint64_t admit;            /* nodes where jobs may find memory now */
    struct orr_request *now;   /* that the caller performs itself */
    struct orr_request *spare; /* for new requests */
    unsigned nspare;           /* length of that list */
    int priority;              /* of new requests, within their level */
};

/* Does all of it and empties *deferred. No lock held, does not block. */
void orr_deferred_run_some(struct orr_runtime *rt,
                           struct orr_deferred *deferred);
static inline void orr_deferred_run(struct orr_runtime *rt,
                                    struct orr_deferred *deferred)
{
    if (deferred->kick | deferred->admit || deferred->now || deferred->spare)
        orr_deferred_run_some(rt, deferred);
}

/* From now on the value is the one on the nodes of `valid`; copies of an
 * older one that are under way will be ignored. */
void orr_handle_outdate_locked(struct orr_handle *handle, uint64_t valid)
    ORR_REQUIRES(handle->lock);

/* The same, and what waits for memory on the handle's nodes is tried once more: outdated
 * copies need not be written back to leave. */
void orr_handle_outdate_retry_locked(struct orr_handle *handle, uint64_t valid,
                                     struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* There is no value any more; the memory stays. No lock held. */
void orr_handle_forget_value(struct orr_handle *handle);

/* --- the end of handles (core/data/end.c) --- */

/* One user less; the last one wakes the contexts that wait for that and frees a doomed
 * handle. No lock held. */
void orr_handle_leave(struct orr_handle *handle);

/* Blocks until the handle is not used; with `dying` it will not be used any more, and
 * the caller has to free it. */
void orr_handle_wait_idle(struct orr_runtime *rt, struct orr_handle *handle,
                          bool dying);

/* Gives its own memory back: the last step of its end. */
void orr_handle_dispose(struct orr_handle *handle);

/* Frees that of all handles; there are none any more. */
void orr_handle_slabs_free(struct orr_runtime *rt);

/* Frees the handle, which is not used, and what it allocated on the nodes. Not in the
 * machine's own context: that calls the interface's methods. */
void orr_handle_free(struct orr_handle *handle);

/* Waits until the handle is not used, if jobs may use it without order: jobs that come
 * in the order of submission do not wait for those. Blocks. */
void orr_handle_wait_unordered(struct orr_runtime *rt,
                               struct orr_handle *handle);

/* Frees the handles whose last use ended in the machine's context. Workers look at
 * rt->data->ndead first. */
void orr_handles_free_dead(struct orr_runtime *rt);

/* --- order (core/data/order.c) --- */

/* Chains the job's accesses by handle, in the order in which their locks are
 * taken, for orr_job_enter_orders. Of several with the same handle only the first one
 * is in the chain, with the union of their modes. */
struct orr_access *orr_job_sort_accesses(struct orr_job *job);

/* The job becomes a user of the handles in the chain and, where `wants_order`
 * says so, waits for the accesses before its own. At submission only, with no lock
 * held. Cannot fail. Data that are cut in planned parts need switches: orr_job_order in
 * plan.h. */
void orr_job_enter_orders(struct orr_runtime *rt, struct orr_job *job,
                          struct orr_access *chain);

/* Jobs that may go on because another has ended. */
struct orr_released {
    struct orr_access *granted; /* a chain; each releases its job once */
    struct orr_list claimed;    /* jobs that have claimed their data */
};

/* The job has ended: its data are unpinned as by orr_job_drop_data, later accesses no
 * longer wait for its own, what it has claimed is free, and it uses the handles no
 * more, which may free these. *ret has the jobs that may go on, in the order of
 * submission. */
void orr_job_leave_order(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_released *ret);

/* The job's kernel has ended, the job has not, since its end waits for others
 * (orr_job_end_later): its data are unpinned, what it has claimed is free, and what it
 * was to lend is not lent any more. Jobs that come later in the order go on waiting.
 * Releases the jobs that may go on; no lock held. */
void orr_job_give_back(struct orr_runtime *rt, struct orr_job *job);

/* The access, a writer's that has the data and goes together with no other, goes on as
 * a reader's. *ret has the readers that may go on beside it. No lock held. */
void orr_access_share(struct orr_access *access, struct orr_released *ret);

/* Submits an acquisition and lets it claim its datum in one step, if no other job has a
 * turn of the datum (but acquisitions of this kind that go together with it) and none
 * has claimed it; else returns false, and nothing has happened. */
bool orr_job_try_order(struct orr_runtime *rt, struct orr_job *job);

/* Whether some job that has not ended writes the handle in its order, or its
 * contributions are to be combined. */
bool orr_handle_will_be_written_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock);

/* --- claims (core/data/claim.c) --- */

/* Whether the job, which has no predecessors left, seems to have data to claim: what it
 * claims is decided under the locks. No lock held. */
bool orr_job_will_claim(const struct orr_job *job);

/* The only access of its job, which has no predecessors, claims the handle, if it must
 * and no other access has claimed it or waits for it; returns whether the job may use
 * it. */
bool orr_access_try_claim_locked(struct orr_handle *handle,
                                 struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* The job, which is being submitted, waits for no other access and all its
 * handles, which are locked, require no claims: if it has no other predecessor either,
 * it may use its data without claiming them. */
void orr_job_pass(struct orr_job *job);

/* The job, which follows others in a queue, is to have its data before its turn: false if
 * one of them requires claims. No lock held. */
bool orr_job_pass_behind(struct orr_job *job);

/* From now on jobs that use the handle claim it. */
void orr_handle_require_claims_locked(struct orr_handle *handle)
    ORR_REQUIRES(handle->lock);

/* The access, of a job that acts for one that has the handle, uses the handle beside
 * that one and claims it without waiting: others wait for both. */
void orr_access_join_claim_locked(struct orr_handle *handle,
                                  struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* The access gives back its claim, if it has one. Returns whether a job waits for that:
 * then orr_handle_serve is to be called, without the lock. */
static inline bool orr_access_give_back_locked(struct orr_handle *handle,
                                               struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    if (!access->claimed)
        return false;
    access->claimed = 0;
    handle->claims.n--;
    return !orr_list_empty(&handle->claims.queue);
}

/* What the access has claimed for itself alone, readers may share. Returns as
 * above. */
bool orr_access_share_claim_locked(struct orr_handle *handle,
                                   struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* Lets the jobs that wait for the handle claim their data as far as they can, and
 * appends those that have all of theirs. No lock held. */
void orr_handle_serve(struct orr_handle *handle, struct orr_list *ready);

/* Whether a job with this access would have to wait for a claim. */
bool orr_handle_is_claimed_locked(const struct orr_handle *handle,
                                  const struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* --- copies that are only read (core/data/duplicate.c) --- */

/* The copy of the handle's present value that was made before, or the handle itself if
 * it is such a copy; the caller unregisters it once more. NULL: there is none. */
struct orr_handle *orr_duplicate_share(struct orr_handle *handle);

/* The copy is the original's from now on, and only read. */
void orr_duplicate_join(struct orr_handle *original, struct orr_handle *copy);

/* To be called when a write of the handle is submitted, or the handle ends: from now on
 * its copy is a handle of its own. */
void orr_duplicate_part(struct orr_handle *handle);

/* The handle is unregistered: returns whether it has other owners, for which it stays. */
bool orr_duplicate_give_back(struct orr_handle *handle);

/* --- buffers on nodes of their own (core/data/place.c) --- */

/* Where the codelet wants the buffer: a node or STARPU_SPECIFIC_NODE_. Contributions to
 * a reduction are the worker's, and on its node. */
static inline int orr_task_node_code(const struct starpu_task *task,
                                     unsigned buffer)
{
    if (!task->cl->specific_nodes ||
        STARPU_TASK_GET_MODE(task, buffer) & STARPU_REDUX)
        return STARPU_SPECIFIC_NODE_LOCAL;
    return STARPU_CODELET_GET_NODE(task->cl, buffer);
}

/* Whether the buffer may be used elsewhere than on the worker's node. */
static inline bool orr_task_is_placed(const struct starpu_task *task,
                                      unsigned buffer)
{
    int code = orr_task_node_code(task, buffer);

    return code != STARPU_SPECIFIC_NODE_LOCAL &&
           code != STARPU_SPECIFIC_NODE_FAST;
}

/* Whether the nodes that the task's codelet names exist and suit its modes: -EINVAL
 * with a message. */
int orr_task_check_places(const struct orr_runtime *rt,
                          const struct starpu_task *task);

/* On which node a worker of `node` would use the buffer of a task whose codelet names
 * nodes, as things are now; -1: on none. */
int orr_task_place(const struct orr_runtime *rt, const struct starpu_task *task,
                   unsigned buffer, unsigned node);

/* The job's codelet names nodes: marks the accesses that are not used on the
 * worker's node. At submission. */
void orr_job_mark_places(struct orr_job *job);

/* Sets access->at, and takes it into those that the job has left. */
void orr_access_place(struct orr_access *access, unsigned node);

/* On which node a worker of `node` would use the access of a job; -1: on none. Any
 * context. */
int orr_access_place_for(const struct orr_access *access, unsigned node);

/* --- transfers (core/data/fetch.c, request.c) --- */

enum orr_fetch_level {
    ORR_FETCH,         /* a task or the application waits for it */
    ORR_PREFETCH,      /* a scheduled task will */
    ORR_IDLE_PREFETCH, /* when nothing else is to be done */
};

/* Brings the job's data to `node`, or where its codelet says for a worker of `node`,
 * and pins them there. Returns true when all are there already; else orr_job_arrive
 * ends the wait when all are, or those of some nodes: while job->left has further
 * nodes, the context that has the job then calls orr_job_fetch_rest. */
bool orr_job_fetch(struct orr_runtime *rt, struct orr_job *job, unsigned node);

/* The same for a job that has given back what it had of a node with a limit
 * (orr_job_forget_data): it waits for memory there, put aside, behind all others. */
void orr_job_fetch_behind(struct orr_runtime *rt, struct orr_job *job,
                          unsigned node);

/* The access of the handle right behind, if it waits for its turn; NULL: there is none. */
static inline const struct orr_access *
orr_handle_waits_behind(const struct orr_handle *handle,
                        const struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_access *next =
        access->ordered ? orr_turns_after(&handle->turns, access) : NULL;

    return next && !next->granted ? next : NULL;
}

/* On a machine of one thread, as its kernel begins and ends: the jobs behind it in the turns
 * of its data are fetched into the caches; then what those use that its end makes ready. */
void orr_job_look_behind(const struct orr_job *job) ORR_UNCHECKED;
void orr_job_look_at_next(const struct orr_job *job) ORR_UNCHECKED;

/* Goes on with the nodes that are left; returns as orr_job_fetch. */
bool orr_job_fetch_rest(struct orr_runtime *rt, struct orr_job *job);

/* The replicate that the access, whose job fetches its data, uses on the node; NULL: an
 * earlier access of the job uses the same one, or it is used on another node. */
struct orr_replicate *orr_access_replicate(const struct orr_access *access,
                                           unsigned node);

/* The rest of that, for a job that has waited until it was admitted to the
 * node's memory (core/data/admit.c): orr_job_arrive ends the wait. No lock
 * held. */
void orr_job_ask(struct orr_runtime *rt, struct orr_job *job);

/* Applies what the job's accesses mean (writers invalidate the other
 * replicates) and fills task->interfaces. Before the kernel, which a worker of
 * `node` starts. */
void orr_job_take_data(struct orr_runtime *rt, struct orr_job *job,
                       unsigned node);

/* Undoes the pins of orr_job_fetch, after the kernel; without this call the job's end
 * does it (orr_job_leave_order). */
void orr_job_drop_data(struct orr_runtime *rt, struct orr_job *job);

/* The job's kernel has failed: its data have the values again that they had before
 * it. `begun`: it may have changed what it was to write. Returns NULL, or an access
 * whose former value is nowhere. */
const struct orr_access *orr_job_undo_data(struct orr_runtime *rt,
                                           struct orr_job *job, bool begun);

/* Drops the data of a job that fetches them, or whose kernel was undone: as if it had
 * never asked for any. */
void orr_job_forget_data(struct orr_runtime *rt, struct orr_job *job);

/* Undoes the pin of one access. */
void orr_access_drop_locked(struct orr_handle *handle,
                            struct orr_access *access,
                            struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* What the access wrote so far may be copied until it goes on; then the copies are
 * invalid. */
void orr_access_pause_write_locked(struct orr_handle *handle,
                                   struct orr_access *access)
    ORR_REQUIRES(handle->lock);
void orr_access_resume_write(struct orr_runtime *rt, struct orr_access *access);

/* What the access wrote may be copied from now on. */
void orr_access_end_write_locked(struct orr_handle *handle,
                                 struct orr_access *access)
    ORR_REQUIRES(handle->lock);

/* What the job has written is on its way to the nodes that are to have it: its data
 * are dropped. Before the job leaves the orders. */
void orr_job_write_through(struct orr_runtime *rt, struct orr_job *job);

/* Whether the value is on the node, in memory that nothing else may take, and no access
 * has a turn or a claim of the handle. */
bool orr_handle_stays_there(const struct orr_runtime *rt,
                            struct orr_handle *handle, unsigned node);

/* Asks for memory on the node, as a prefetch does, without waiting. */
void orr_handle_allocate(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node);

/* Asks for a copy of the handle's value on the node, without waiting. A value
 * that is being written is not copied. */
void orr_handle_prefetch(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node, enum orr_fetch_level level);

/* The same, unless a job that has not ended writes the handle, in its order or
 * by a claim: then it does nothing and returns false. Requests of a level begin by
 * priority, then age. */
bool orr_handle_try_prefetch(struct orr_runtime *rt, struct orr_handle *handle,
                             unsigned node, enum orr_fetch_level level,
                             int priority);

/* Prefetches all data that the job reads. Where the job is ready and the level
 * is that of a task, its replicates are promised to it until it fetches. */
void orr_job_prefetch(struct orr_runtime *rt, struct orr_job *job,
                      unsigned node, enum orr_fetch_level level);

/* The job is queued where workers of the node will look for it, but others may take it:
 * the data that it reads are promised to it there without being prefetched, if the rule
 * of eviction counts promises. */
void orr_job_expect(struct orr_runtime *rt, struct orr_job *job, unsigned node);

/* µs until the handle's value could be on the node: the sum over the hops from the
 * source with the least sum; 0 when it is there, on its way, or not read. */
double orr_handle_transfer_time(struct orr_runtime *rt,
                                const struct orr_handle *handle, unsigned node,
                                uint32_t mode);

/* Bit n: node n lacks some value that the job reads; towards the others the
 * transfer time is 0. */
uint64_t orr_job_absent(const struct orr_job *job);

/* The sum over the job's data towards each of the nodes (bits): us[node]; the others' are
 * left as they are. */
void orr_job_transfer_times(struct orr_runtime *rt, const struct orr_job *job,
                            uint64_t nodes, double *us);
double orr_job_transfer_time(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned node);

/* The node where the application finds the value: that of the memory which it
 * registered, if that is main memory, else node 0. */
unsigned orr_handle_base(const struct orr_handle *handle);

/* The structure of one of our interfaces for a node without memory, from that of another
 * one; arrays of lengths are the same ones. That of an application's is left as it is. */
void orr_interface_outline(const struct starpu_data_interface_ops *ops,
                           void *to, const void *from);

/* A structure of the handle's interface for a node below STARPU_MAXNODES that the machine
 * lacks: of our interfaces the shape, without memory; of others all 0 but for what init()
 * sets. What is written there is kept and means nothing. Any thread. Ends the program
 * without memory. */
void *orr_handle_spare_interface(struct orr_handle *handle, unsigned node);

/* The pointer that the handle's interface has on the node. */
void *orr_handle_pointer(struct orr_handle *handle, unsigned node);

/* Whether values go from one of these nodes to the other as packed bytes, although the
 * processor has both in its memory: the interface has no method that copies there. */
bool orr_handle_packs_on_host(const struct orr_handle *handle, unsigned src,
                              unsigned dst);

/* Copies the value so, to the same handle or to another one alike. Errors: -EIO. */
int orr_handle_copy_on_host(struct orr_handle *from, unsigned src,
                            struct orr_handle *to, unsigned dst);

/* Moves the bytes between two nodes of the handle, with the methods of its
 * interface; `async` and the result are those of orr_copy_by_methods. */
int orr_handle_copy(struct orr_handle *handle, unsigned src, unsigned dst,
                    struct orr_async *async);

/* Stop the program if the object is not as it must be (core/data/check.c). The
 * handle is locked. */
void orr_handle_check(struct orr_handle *handle) ORR_REQUIRES(handle->lock);
void orr_replicate_check(const struct orr_replicate *replicate);
