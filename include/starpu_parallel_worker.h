/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_parallel_worker.h - the machine cut into parallel workers: groups of
 * processors each of which executes one task at a time, whose kernel has threads of
 * its own there. Where hwloc's header is there.
 */
#pragma once

#include <starpu_config.h>

#ifdef STARPU_PARALLEL_WORKER

#    include <hwloc.h>

#    ifdef __cplusplus
extern "C" {
#    endif

/* Arguments of starpu_parallel_worker_init. What follows
 * STARPU_PARALLEL_WORKER_PARTITION_ONE is for one part of the machine, the first, then
 * the second …; what follows STARPU_PARALLEL_WORKER_NEW is for one parallel worker of
 * it. Each has a value but where it says. */
/* int: the least and the most parallel workers per part, of which the most is taken; so
 * many. */
#    define STARPU_PARALLEL_WORKER_MIN_NB           (1 << 17)
#    define STARPU_PARALLEL_WORKER_MAX_NB           (2 << 17)
#    define STARPU_PARALLEL_WORKER_NB               (3 << 17)
/* int: the least is taken; a number is taken that divides the processors. */
#    define STARPU_PARALLEL_WORKER_PREFERE_MIN      (4 << 17)
#    define STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS (5 << 17)
/* char *, struct starpu_sched_policy *: the policy that distributes tasks among
 * them, else that of the first scheduling context. */
#    define STARPU_PARALLEL_WORKER_POLICY_NAME      (6 << 17)
#    define STARPU_PARALLEL_WORKER_POLICY_STRUCT    (7 << 17)
/* void (*)(void *), void *: what prepares the threads, in a task on each; else by
 * _TYPE, an enum starpu_parallel_worker_types. */
#    define STARPU_PARALLEL_WORKER_CREATE_FUNC      (8 << 17)
#    define STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG  (9 << 17)
#    define STARPU_PARALLEL_WORKER_TYPE             (10 << 17)
/* unsigned: the workers are awake (STARPU_SCHED_CTX_AWAKE_WORKERS). */
#    define STARPU_PARALLEL_WORKER_AWAKE_WORKERS    (11 << 17)
/* No value. */
#    define STARPU_PARALLEL_WORKER_PARTITION_ONE    (12 << 17)
#    define STARPU_PARALLEL_WORKER_NEW              (13 << 17)
/* unsigned: processors of the parallel worker that STARPU_PARALLEL_WORKER_NEW began. */
#    define STARPU_PARALLEL_WORKER_NCORES           (14 << 17)

enum starpu_parallel_worker_types {
    STARPU_PARALLEL_WORKER_OPENMP,
    STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL,
    STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL
};

struct starpu_parallel_worker_config;

/* Makes parallel workers in each part of that level which has CPU workers, as the
 * arguments say, which end with 0; without any, one per part. The calling thread's
 * tasks go to them from now on, and to the devices. Where workers are bound to
 * processors the parts are hwloc's objects; simulated, where the description says that
 * CPUs are apart. NULL if no part has CPU workers, or there are too many
 * (STARPU_NMAX_SCHED_CTXS); levels of devices end the program. The caller ends
 * it with starpu_parallel_worker_shutdown. */
struct starpu_parallel_worker_config *
starpu_parallel_worker_init(hwloc_obj_type_t parallel_worker_level, ...);

/* Waits for their tasks; the calling thread's go to the first scheduling context
 * again. Returns 0, -1 for NULL. */
int starpu_parallel_worker_shutdown(
    struct starpu_parallel_worker_config *parallel_workers);

/* Writes them with their processors to stdout. Returns 0, -1 for NULL. */
int starpu_parallel_worker_print(
    struct starpu_parallel_worker_config *parallel_workers);

/* For prologue_callback_pop_func of tasks, with task->possibly_parallel: gives
 * OpenMP's threads of the kernel all processors of the parallel worker, or only one.
 * Threads that are made later may run on any of them. */
void starpu_parallel_worker_openmp_prologue(void *arg);
#    define starpu_parallel_worker_intel_openmp_mkl_prologue                   \
        starpu_parallel_worker_openmp_prologue
/* The same, and for MKL's. */
void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *arg);

/* Older names. */
#    define STARPU_CLUSTER_MIN_NB           STARPU_PARALLEL_WORKER_MIN_NB
#    define STARPU_CLUSTER_MAX_NB           STARPU_PARALLEL_WORKER_MAX_NB
#    define STARPU_CLUSTER_NB               STARPU_PARALLEL_WORKER_NB
#    define STARPU_CLUSTER_PREFERE_MIN      STARPU_PARALLEL_WORKER_PREFERE_MIN
#    define STARPU_CLUSTER_KEEP_HOMOGENEOUS STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS
#    define STARPU_CLUSTER_POLICY_NAME      STARPU_PARALLEL_WORKER_POLICY_NAME
#    define STARPU_CLUSTER_POLICY_STRUCT    STARPU_PARALLEL_WORKER_POLICY_STRUCT
#    define STARPU_CLUSTER_CREATE_FUNC      STARPU_PARALLEL_WORKER_CREATE_FUNC
#    define STARPU_CLUSTER_CREATE_FUNC_ARG  STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG
#    define STARPU_CLUSTER_TYPE             STARPU_PARALLEL_WORKER_TYPE
#    define STARPU_CLUSTER_AWAKE_WORKERS    STARPU_PARALLEL_WORKER_AWAKE_WORKERS
#    define STARPU_CLUSTER_PARTITION_ONE    STARPU_PARALLEL_WORKER_PARTITION_ONE
#    define STARPU_CLUSTER_NEW              STARPU_PARALLEL_WORKER_NEW
#    define STARPU_CLUSTER_NCORES           STARPU_PARALLEL_WORKER_NCORES

enum starpu_cluster_types {
    STARPU_CLUSTER_OPENMP,
    STARPU_CLUSTER_INTEL_OPENMP_MKL,
    STARPU_CLUSTER_GNU_OPENMP_MKL
};

struct starpu_cluster_machine;

/* As starpu_parallel_worker_init. */
struct starpu_cluster_machine *
starpu_cluster_machine(hwloc_obj_type_t cluster_level, ...);
/* As starpu_parallel_worker_shutdown. */
int starpu_uncluster_machine(struct starpu_cluster_machine *clusters);
/* As starpu_parallel_worker_print. */
int starpu_cluster_print(struct starpu_cluster_machine *clusters);

#    ifdef __cplusplus
}
#    endif
#endif
