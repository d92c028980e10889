/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_sched_ctx.h - scheduling contexts: a policy with some of the
 * workers. There is one, number 0, with all workers. Any thread.
 */
#pragma once

#include <stdio.h>

#include <starpu_config.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_sched_policy;

/* Tags of the arguments of starpu_sched_ctx_create(). */
#define STARPU_SCHED_CTX_POLICY_NAME     (1 << 16)
#define STARPU_SCHED_CTX_POLICY_STRUCT   (2 << 16)
#define STARPU_SCHED_CTX_POLICY_MIN_PRIO (3 << 16)
#define STARPU_SCHED_CTX_POLICY_MAX_PRIO (4 << 16)
#define STARPU_SCHED_CTX_HIERARCHY_LEVEL (5 << 16)
#define STARPU_SCHED_CTX_NESTED          (6 << 16)
#define STARPU_SCHED_CTX_AWAKE_WORKERS   (7 << 16)
#define STARPU_SCHED_CTX_POLICY_INIT     (8 << 16)
#define STARPU_SCHED_CTX_USER_DATA       (9 << 16)
#define STARPU_SCHED_CTX_CUDA_NSMS       (10 << 16)
#define STARPU_SCHED_CTX_SUB_CTXS        (11 << 16)

/* Priorities; the limits are those of the current policy. */
#define STARPU_MIN_PRIO     (starpu_sched_get_min_priority())
#define STARPU_MAX_PRIO     (starpu_sched_get_max_priority())
#define STARPU_DEFAULT_PRIO 0

/* The context of tasks that name none, per thread. */
void starpu_sched_ctx_set_context(unsigned *sched_ctx_id);
unsigned starpu_sched_ctx_get_context(void);

/* The workers: a malloc()ed array, their number, membership. */
unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id,
                                           int **workerids);
unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id);
unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id);
unsigned
starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
                                         unsigned sched_ctx_id);
void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f);

/* The policy and its private pointer. */
struct starpu_sched_policy *
starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id);
void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data);
void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id);
void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id);

int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id);
int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id);
int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio);
int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio);
int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id);
int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id);

/* The workers as a walkable collection; owned by the context. */
struct starpu_worker_collection *starpu_sched_ctx_create_worker_collection(
    unsigned sched_ctx_id, enum starpu_worker_collection_type type);
void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id);
struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id);

/* Count tasks that a policy keeps for one worker of several contexts. */
void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id,
                                                   int workerid);
void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id,
                                                   int workerid);

#ifdef __cplusplus
}
#endif
