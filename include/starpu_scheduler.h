/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_scheduler.h - what a scheduling policy is, and the functions it may
 * call. The calls about tasks are for policies; they run in any thread.
 */
#pragma once

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_perfmodel.h>
#include <starpu_sched_ctx.h>
#include <starpu_task.h>
#include <starpu_thread.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A policy. Static, NULL where a hook is not needed; push_task is. Without pop_task
 * workers have what it hands to them (starpu_push_local_task). The library borrows it
 * until starpu_shutdown(). Hooks get the number of the context; several threads may
 * be in them at once, so that the policy locks for itself, and they may not wait. */
struct starpu_sched_policy {
    /* Allocates the policy's state for a context, before its workers come; frees it
     * when they have left. In the thread that makes, or ends, the context. */
    void (*init_sched)(unsigned);
    void (*deinit_sched)(unsigned);
    /* A task became ready, and is the policy's to keep until pop_task. In the thread
     * that has made it ready. Returns 0; the result is not looked at. */
    int (*push_task)(struct starpu_task *);
    /* When would the task end if it were pushed now? For StarPU's hypervisor: not
     * called here. */
    double (*simulate_push_task)(struct starpu_task *);
    /* (task, worker, combined worker or the same, context): a task that names this
     * worker became ready and goes past the policy. */
    void (*push_task_notify)(struct starpu_task *, int, int, unsigned);
    /* A task for the calling worker of the context, or NULL. */
    struct starpu_task *(*pop_task)(unsigned);
    /* A task was submitted, perhaps not ready yet. In the thread that submits. */
    void (*submit_hook)(struct starpu_task *);
    /* The calling worker starts, or ended, the kernel of a task. */
    void (*pre_exec_hook)(struct starpu_task *, unsigned);
    void (*post_exec_hook)(struct starpu_task *, unsigned);
    /* No more tasks will be pushed for a while. */
    void (*do_schedule)(unsigned);
    /* (context, numbers, how many): the context gained, or lost, workers; the array is
     * lent for the call. */
    void (*add_workers)(unsigned, int *, unsigned);
    void (*remove_workers)(unsigned, int *, unsigned);
    /* 1 = the policy issues its own prefetches. */
    int prefetches;
    /* What STARPU_SCHED names. */
    const char *policy_name;
    const char *policy_description;
    enum starpu_worker_collection_type worker_type;
};

/* The policies of the library, NULL-terminated; the array and they are the
 * library's. Before starpu_init() as well. */
struct starpu_sched_policy **starpu_sched_get_predefined_policies(void);
/* The policy of a context, lent; NULL: it has none. */
struct starpu_sched_policy *
starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id);
/* That of the context that the calling thread has chosen, else that of context 0. */
struct starpu_sched_policy *starpu_sched_get_sched_policy(void);

/* Defined in a shared object named by STARPU_SCHED_LIB, not in the library: its
 * policy of that name, or NULL. */
struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name);
/* The same of all that it has, NULL-terminated, for STARPU_SCHED=help; may be
 * missing. */
struct starpu_sched_policy **starpu_get_sched_lib_policies(void);

/* The lock and condition a worker waits on. */
void starpu_worker_get_sched_condition(int workerid,
                                       starpu_pthread_mutex_t **sched_mutex,
                                       starpu_pthread_cond_t **sched_cond);

/* A number that no other task has. */
unsigned long starpu_task_get_job_id(struct starpu_task *task);

/* The least priority that the policy of the thread's scheduling context tells apart. */
int starpu_sched_get_min_priority(void);
/* The greatest one. */
int starpu_sched_get_max_priority(void);
/* Sets the least one, as a policy does in init_sched, unless the user has given it.
 * 0. */
int starpu_sched_set_min_priority(int min_prio);
/* Sets the greatest one. 0. */
int starpu_sched_set_max_priority(int max_prio);

/* Whether the worker can execute the task by that implementation. */
int starpu_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
                                   unsigned nimpl);
/* Whether it can by any; *impl_mask becomes a bit for each, unless it is NULL. */
int starpu_worker_can_execute_task_impl(unsigned workerid,
                                        struct starpu_task *task,
                                        unsigned *impl_mask);
/* Whether it can by any; *nimpl becomes the first one, unless it is NULL. */
int starpu_worker_can_execute_task_first_impl(unsigned workerid,
                                              struct starpu_task *task,
                                              unsigned *nimpl);

/* Hands a task to one worker's own list, behind those of its priority whatever `back`
 * says. -ENODEV: the worker cannot run it. */
int starpu_push_local_task(int workerid, struct starpu_task *task, int back);
/* To be called when push_task is done with a task. */
int starpu_push_task_end(struct starpu_task *task);

/* Returns whether prefetching is on. */
int starpu_get_prefetch_flag(void);
/* For policies, of a task that was submitted: begins to bring what it reads to the node,
 * without waiting, when no task that is about to start waits for a copy there. Older
 * requests come first, whatever `prio`. 0; a task that was not submitted ends the
 * program. */
int starpu_prefetch_task_input_on_node_prio(struct starpu_task *task,
                                            unsigned node, int prio);
/* The same without `prio`. */
int starpu_prefetch_task_input_on_node(struct starpu_task *task, unsigned node);
/* The same, when no prefetch waits there either. */
int starpu_idle_prefetch_task_input_on_node_prio(struct starpu_task *task,
                                                 unsigned node, int prio);
/* Without `prio`. */
int starpu_idle_prefetch_task_input_on_node(struct starpu_task *task,
                                            unsigned node);
/* To the nodes where that worker needs the data. */
int starpu_prefetch_task_input_for_prio(struct starpu_task *task,
                                        unsigned worker, int prio);
/* Without `prio`. */
int starpu_prefetch_task_input_for(struct starpu_task *task, unsigned worker);
/* To these nodes, when no prefetch waits there either. */
int starpu_idle_prefetch_task_input_for_prio(struct starpu_task *task,
                                             unsigned worker, int prio);
/* Without `prio`. */
int starpu_idle_prefetch_task_input_for(struct starpu_task *task,
                                        unsigned worker);

/* The hash that names the task in its model. */
uint32_t starpu_task_footprint(struct starpu_perfmodel *model,
                               struct starpu_task *task,
                               struct starpu_perfmodel_arch *arch,
                               unsigned nimpl);
/* The hash of its data alone, whatever the model says. */
uint32_t starpu_task_data_footprint(struct starpu_task *task);

/* Microseconds the kernel should take; NaN = not calibrated, 0 = no model. */
double starpu_task_expected_length(struct starpu_task *task,
                                   struct starpu_perfmodel_arch *arch,
                                   unsigned nimpl);
/* The same on that worker; sched_ctx_id makes no difference. */
double starpu_task_worker_expected_length(struct starpu_task *task,
                                          unsigned workerid,
                                          unsigned sched_ctx_id,
                                          unsigned nimpl);
/* The harmonic mean of the best on each worker that can execute it; sched_ctx_id makes
 * no difference. */
double starpu_task_expected_length_average(struct starpu_task *task,
                                           unsigned sched_ctx_id);
/* How much faster than one CPU core. */
double
starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch);
/* Microseconds to bring what the task reads to the node. */
double starpu_task_expected_data_transfer_time(unsigned memory_node,
                                               struct starpu_task *task);
/* To where that worker needs it. */
double starpu_task_expected_data_transfer_time_for(struct starpu_task *task,
                                                   unsigned worker);
/* Microseconds to bring the data to the node for that mode. */
double starpu_data_expected_transfer_time(starpu_data_handle_t handle,
                                          unsigned memory_node,
                                          enum starpu_data_access_mode mode);
/* Joules; NaN = unknown. */
double starpu_task_expected_energy(struct starpu_task *task,
                                   struct starpu_perfmodel_arch *arch,
                                   unsigned nimpl);
/* The same on that worker; sched_ctx_id makes no difference. */
double starpu_task_worker_expected_energy(struct starpu_task *task,
                                          unsigned workerid,
                                          unsigned sched_ctx_id,
                                          unsigned nimpl);
/* The harmonic mean of the best on each worker that can execute it; sched_ctx_id makes
 * no difference. */
double starpu_task_expected_energy_average(struct starpu_task *task,
                                           unsigned sched_ctx_id);
/* 0: no data needs converting. */
double starpu_task_expected_conversion_time(struct starpu_task *task,
                                            struct starpu_perfmodel_arch *arch,
                                            unsigned nimpl);

typedef void (*starpu_notify_ready_soon_func)(void *data,
                                              struct starpu_task *task,
                                              double delay);

/* f(data, task, delay) is called when a task starts of which it is known that it
 * takes `delay` microseconds, for each task that waits for nothing else. One
 * function only; NULL takes it back. */
void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f,
                                            void *data);

/* For policies, where they decide about a task: raises SIGTRAP if its number is
 * STARPU_TASK_BREAK_ON_SCHED. */
void starpu_sched_task_break(struct starpu_task *task);

/* Wakes a sleeping worker; 1 if it slept, else 0. StarPU's forms differ in the lock
 * that the caller holds, which does not matter here: all four do the same. */
int starpu_wake_worker_relax(int workerid);
int starpu_wake_worker_no_relax(int workerid);
int starpu_wake_worker_locked(int workerid);
int starpu_wake_worker_relax_light(int workerid);

/* The policy keeps no tasks for this worker alone: removed from the context, it
 * is gone at once. */
void starpu_sched_ctx_worker_shares_tasks_lists(int workerid, int sched_ctx_id);

#ifdef __cplusplus
}
#endif
