/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_sched_ctx.h - scheduling contexts: a policy with some of the workers.
 * Number 0 is there from the beginning, with all workers. A task belongs to one
 * context; a worker may be in several, and serves them by priority, then in turn.
 * Any thread; a number of no context ends the program.
 */
#pragma once

#include <stdio.h>

#include <starpu_config.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_sched_policy;
struct starpu_task;

/* What starpu_sched_ctx_create() takes, each followed by its value; 0 ends the
 * list. The policy: its name (char *, "" for the default one), or a struct
 * starpu_sched_policy *, which is copied. Without either a context has none: its
 * first CPU worker executes its tasks one after the other, the others are blocked
 * and their processors are for the kernels' own threads. */
#define STARPU_SCHED_CTX_POLICY_NAME     (1 << 16)
#define STARPU_SCHED_CTX_POLICY_STRUCT   (2 << 16)
/* The least and the greatest priority (int). */
#define STARPU_SCHED_CTX_POLICY_MIN_PRIO (3 << 16)
#define STARPU_SCHED_CTX_POLICY_MAX_PRIO (4 << 16)
/* How deep it is (unsigned, 0 if not given), and the context around it (unsigned):
 * a task of that one that comes to the master of this one runs in this one. */
#define STARPU_SCHED_CTX_HIERARCHY_LEVEL (5 << 16)
#define STARPU_SCHED_CTX_NESTED          (6 << 16)
/* Without policy: no worker is blocked, and each CPU worker executes each task; they
 * begin together. No value. */
#define STARPU_SCHED_CTX_AWAKE_WORKERS   (7 << 16)
/* A void (*)(unsigned) that the policy may ask for. */
#define STARPU_SCHED_CTX_POLICY_INIT     (8 << 16)
#define STARPU_SCHED_CTX_USER_DATA       (9 << 16)
/* Of its first worker's device only that many multiprocessors (int); contexts of
 * such parts (int *, int), which are remembered only. */
#define STARPU_SCHED_CTX_CUDA_NSMS       (10 << 16)
#define STARPU_SCHED_CTX_SUB_CTXS        (11 << 16)

/* Priorities; the limits are those of the thread's context. */
#define STARPU_MIN_PRIO     (starpu_sched_get_min_priority())
#define STARPU_MAX_PRIO     (starpu_sched_get_max_priority())
#define STARPU_DEFAULT_PRIO 0

/* -- making and ending them -- */

/* A context with these workers, which stay in the others that they are in; sorts
 * the array. (NULL, -1): all workers; 0: none yet. `sched_ctx_name` is borrowed.
 * Returns its number; at most STARPU_NMAX_SCHED_CTXS - 1 at a time. */
unsigned starpu_sched_ctx_create(int *workerids_ctx, int nworkers_ctx,
                                 const char *sched_ctx_name, ...);

/* The same with at least and at most so many CPU workers, and so many others: of those
 * that are in no context but 0, then, if `allow_overlap`, of the others, each time
 * the lowest numbers; as many as there
 * are up to the most. `policy_name` NULL: a context without policy.
 * STARPU_NMAX_SCHED_CTXS if there are fewer than the least. */
unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
                                                 const char *sched_ctx_name,
                                                 int min_ncpus, int max_ncpus,
                                                 int min_ngpus, int max_ngpus,
                                                 unsigned allow_overlap);

/* Gives the workers to its inheritor too, waits for its tasks and ends it. Not in
 * tasks nor callbacks; not for context 0. */
void starpu_sched_ctx_delete(unsigned sched_ctx_id);

/* Which context gets the workers when this one ends; context 0 unless one is set. */
void starpu_sched_ctx_set_inheritor(unsigned sched_ctx_id, unsigned inheritor);
/* Returns that. */
unsigned starpu_sched_ctx_get_inheritor(unsigned sched_ctx_id);

/* Nothing more is submitted to it for now: when all its tasks have ended, its
 * inheritor gets its workers too, and the callback is called. */
void starpu_sched_ctx_finished_submit(unsigned sched_ctx_id);
/* Sets that callback, close_callback(sched_ctx_id, args). `args` stays the caller's. */
void starpu_sched_ctx_register_close_callback(
    unsigned sched_ctx_id, void (*close_callback)(unsigned, void *),
    void *args);

/* Submits an empty task to the thread's context. */
void starpu_sched_ctx_stop_task_submission(void);

/* -- its workers -- */

/* While tasks run. A worker that is removed ends what was queued for it, and what
 * a policy of the application still gives it, until that has nothing more; it must
 * be in another context, else it stays. In a hook of a policy both come into
 * effect when that has returned. */
void starpu_sched_ctx_add_workers(int *workerids_ctx, unsigned nworkers_ctx,
                                  unsigned sched_ctx_id);
/* Removes them. */
void starpu_sched_ctx_remove_workers(int *workerids_ctx, unsigned nworkers_ctx,
                                     unsigned sched_ctx_id);

/* How many there are. */
unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id);
/* The same, and their numbers in an array, which the caller free()s. */
unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id,
                                           int **workerids);
/* The same in the context's own array, which changes with it. */
unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id,
                                               int **workerids);
/* How many are in both contexts. */
unsigned starpu_sched_ctx_get_nshared_workers(unsigned sched_ctx_id,
                                              unsigned sched_ctx_id2);
/* Whether the worker is in it. */
unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id);
/* Whether some worker of that type is. */
unsigned
starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
                                         unsigned sched_ctx_id);
/* The calling worker if it is a member, else (unsigned)-1. */
unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id);
/* Whether the worker is in several contexts. */
unsigned starpu_sched_ctx_overlapping_ctxs_on_worker(int workerid);
/* Prints their names. */
void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f);

/* Of its contexts a worker serves the one of the highest priority first. */
void starpu_sched_ctx_set_priority(int *workers, int nworkers,
                                   unsigned sched_ctx_id, unsigned priority);
/* Returns that priority of a worker. */
unsigned starpu_sched_ctx_get_priority(int worker, unsigned sched_ctx_id);

/* The context's own collection of workers, which lives as long as the context, to be
 * walked over as a list or as a tree from now on. */
struct starpu_worker_collection *starpu_sched_ctx_create_worker_collection(
    unsigned sched_ctx_id, enum starpu_worker_collection_type type);
/* From now on it is walked over as a list; it goes with the context only. */
void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id);
/* The context's own collection of workers. */
struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id);

/* -- its tasks -- */

/* Chooses the context of tasks that the calling thread submits and that name none.
 * NULL, or a pointer to STARPU_NMAX_SCHED_CTXS: none is chosen, tasks go to context
 * 0. */
void starpu_sched_ctx_set_context(unsigned *sched_ctx_id);
/* The one that the calling thread has chosen. */
unsigned starpu_sched_ctx_get_context(void);
/* task->sched_ctx: that of a task that was submitted. */
unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task);

/* How many of its tasks are ready and have not ended. */
int starpu_sched_ctx_get_nready_tasks(unsigned sched_ctx_id);
/* The `flops` of these together. */
double starpu_sched_ctx_get_nready_flops(unsigned sched_ctx_id);

/* For policies: a ready task that the policy holds goes to another context, to that
 * one's policy if `with_repush`, and counts there as well. */
void starpu_sched_ctx_move_task_to_ctx_locked(struct starpu_task *task,
                                              unsigned sched_ctx,
                                              unsigned with_repush);
/* For policies: the old context counts one task, of so many flops, less, which has
 * gone to another context. */
void starpu_sched_ctx_revert_task_counters_ctx_locked(unsigned sched_ctx_id,
                                                      double flops);

/* For policies: one task more is kept for the worker. A worker that is in several
 * contexts asks first those where there are some. Nothing where the worker is in one
 * context only. */
void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id,
                                                   int workerid);
/* One task less is. */
void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id,
                                                   int workerid);
/* None is kept for the worker any more. */
void starpu_sched_ctx_list_task_counters_reset(unsigned sched_ctx_id,
                                               int workerid);
/* One task more is kept for all workers of the context together; the task is not
 * looked at, here and below. */
void starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(
    struct starpu_task *task, unsigned sched_ctx_id);
/* One task less is, for all workers of the context. */
void starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(
    struct starpu_task *task, unsigned sched_ctx_id);
/* None is kept any more, for any worker of the context. */
void starpu_sched_ctx_list_task_counters_reset_all(struct starpu_task *task,
                                                   unsigned sched_ctx_id);

/* -- its policy -- */

/* NULL without. */
struct starpu_sched_policy *
starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id);
/* Whether it has one; and whether no worker is blocked, unless NULL. */
unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id,
                                               unsigned *awake_workers);

/* The policy's private pointer, NULL at first. STARPU_NMAX_SCHED_CTXS has one
 * too. */
void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data);
/* Returns it. */
void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id);
/* What STARPU_SCHED_CTX_POLICY_INIT gave, or NULL. */
void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(
    unsigned);

/* A pointer of the application's, which the library does not follow; at first that of
 * STARPU_SCHED_CTX_USER_DATA, or NULL. */
void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id);
/* Sets it. */
void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data);
/* What STARPU_SCHED_CTX_HIERARCHY_LEVEL gave, or 0. */
unsigned starpu_sched_ctx_get_hierarchy_level(unsigned sched_ctx_id);

/* The least priority that its policy tells apart. */
int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id);
/* The greatest one. */
int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id);
/* Sets the least one, unless the user has given it. 0. */
int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio);
/* Sets the greatest one, unless the user has given it. 0. */
int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio);
/* Whether the user has given the least one. */
int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id);
/* Whether the user has given the greatest one. */
int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id);

/* -- its processors, for other threads -- */

/* Blocks the CPU workers when they have ended what they have, calls func(param),
 * returns its result. In a task or callback it does not wait for them. */
void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param,
                                          unsigned sched_ctx_id);

/* Blocks these CPU workers of the context as soon as they have ended what they have,
 * but for one, which is returned: the kernel that it executes may use the processors
 * of the others until starpu_sched_ctx_unbook_workers_for_task() is called with it.
 * A worker can be booked once at a time: -EBUSY then; -EINVAL if one is no CPU worker
 * of the context. */
int starpu_sched_ctx_book_workers_for_task(unsigned sched_ctx_id,
                                           int *workerids, int nworkers);
/* Ends that. */
void starpu_sched_ctx_unbook_workers_for_task(unsigned sched_ctx_id,
                                              int master);

/* The processors of its CPU workers, malloc()ed; in a task of a context with a
 * policy the worker's own. */
void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids,
                                           int *ncpuids);
/* Binds the calling thread to one of these. */
void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid);

/* Of a context without policy whose workers are awake, the calling worker's
 * place, else -1. */
int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id);

/* The context without policy whose tasks the worker executes;
 * STARPU_NMAX_SCHED_CTXS: there is none. */
unsigned starpu_sched_ctx_master_get_context(int masterid);
/* The same of contexts that are nested in `sched_ctx_id`
 * (STARPU_SCHED_CTX_NESTED). */
unsigned
starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid,
                                                unsigned sched_ctx_id);

/* -- parts of a device -- */

/* The context's first worker, -1 without: that of the part, where the context is one
 * (STARPU_SCHED_CTX_CUDA_NSMS). */
int starpu_sched_ctx_get_stream_worker(unsigned sub_ctx);
/* How many multiprocessors the context's part has; 0: all. */
int starpu_sched_ctx_get_nsms(unsigned sched_ctx);
/* Which multiprocessors the worker's part has, from *start to before *end; -1 for
 * both of a worker without. */
void starpu_sched_ctx_get_sms_interval(int stream_workerid, int *start,
                                       int *end);
/* The context that gives the worker a part of its device; STARPU_NMAX_SCHED_CTXS:
 * none does. */
unsigned starpu_worker_get_sched_ctx_id_stream(unsigned stream_workerid);

#ifdef __cplusplus
}
#endif
