/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_worker.h - the workers, their types and their memory nodes. Workers
 * are numbered from 0; everything is fixed by starpu_init(). Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <starpu_config.h>
#include <starpu_tree.h>

#ifdef STARPU_HAVE_HWLOC
#    include <hwloc.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;

/* What a memory node is made of. */
enum starpu_node_kind {
    STARPU_UNUSED = 0,
    STARPU_CPU_RAM = 1,
    STARPU_CUDA_RAM = 2,
    STARPU_OPENCL_RAM = 3,
    STARPU_MAX_FPGA_RAM = 4,
    STARPU_DISK_RAM = 5,
    STARPU_MPI_MS_RAM = 6,
    STARPU_TCPIP_MS_RAM = 7,
    STARPU_HIP_RAM = 8,
    STARPU_MAX_RAM = 8, /* largest value */
    STARPU_NRAM = 9
};

/* What a worker is. The numbers are written to performance model files. */
enum starpu_worker_archtype {
    STARPU_CPU_WORKER = 0,
    STARPU_CUDA_WORKER = 1,
    STARPU_OPENCL_WORKER = 2,
    STARPU_MAX_FPGA_WORKER = 4,
    STARPU_MPI_MS_WORKER = 5,
    STARPU_TCPIP_MS_WORKER = 6,
    STARPU_HIP_WORKER = 7,
    STARPU_NARCH = 8, /* how many there are */
    STARPU_ANY_WORKER = 255
};
#define STARPU_UNKNOWN_WORKER ((enum starpu_worker_archtype) - 1)

/* Where a walk over the workers of a context is. */
struct starpu_sched_ctx_iterator {
    int cursor;
    void *value;
    void *possible_value;
    char visited[STARPU_NMAXWORKERS];
    int possibly_parallel;
};

enum starpu_worker_collection_type {
    STARPU_WORKER_TREE = 0,
    STARPU_WORKER_LIST = 1
};

/* The workers of a scheduling context, and how to walk over them:
 * init_iterator(), then get_next() while has_next(). */
struct starpu_worker_collection {
    int *workerids;
    void *collection_private;
    unsigned nworkers;
    void *unblocked_workers;
    unsigned nunblocked_workers;
    void *masters;
    unsigned nmasters;
    char present[STARPU_NMAXWORKERS];
    char is_unblocked[STARPU_NMAXWORKERS];
    char is_master[STARPU_NMAXWORKERS];
    enum starpu_worker_collection_type type;
    unsigned (*has_next)(struct starpu_worker_collection *,
                         struct starpu_sched_ctx_iterator *);
    int (*get_next)(struct starpu_worker_collection *,
                    struct starpu_sched_ctx_iterator *);
    int (*add)(struct starpu_worker_collection *, int);
    int (*remove)(struct starpu_worker_collection *, int);
    void (*init)(struct starpu_worker_collection *);
    void (*deinit)(struct starpu_worker_collection *);
    void (*init_iterator)(struct starpu_worker_collection *,
                          struct starpu_sched_ctx_iterator *);
    void (*init_iterator_for_parallel_tasks)(struct starpu_worker_collection *,
                                             struct starpu_sched_ctx_iterator *,
                                             struct starpu_task *);
};

/* The methods of collections, to be copied: in the order in which workers were
 * added, or from neighbour to neighbour in the tree of processors. init() makes
 * the arrays, deinit() frees them; add() and remove() return the worker, or -1
 * if it was there, or was not. When has_next() says no, the walk begins anew. */
extern struct starpu_worker_collection starpu_worker_list;
extern struct starpu_worker_collection starpu_worker_tree;

/* Called with a worker's number before it gives its processor up, for want of
 * work, and when it goes on; NULL: not called any more. They begin as starpu_conf
 * says. They are called by workers, must not block, and submit nothing. */
void starpu_worker_set_going_to_sleep_callback(void (*callback)(unsigned));
/* The second of these. */
void starpu_worker_set_waking_up_callback(void (*callback)(unsigned));

/* Waits until every worker is ready to work. */
void starpu_worker_wait_for_initialisation(void);

/* Whether it is one of the types above that are workers. */
unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type);
/* The type of a mask with one bit, such as STARPU_CUDA. */
enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask);

/* How many workers there are, without combined ones; 0 before starpu_init(). */
unsigned starpu_worker_get_count(void);
/* How many of one type there are; 0 before starpu_init(). */
unsigned starpu_cpu_worker_get_count(void);
unsigned starpu_cuda_worker_get_count(void);
unsigned starpu_hip_worker_get_count(void);
unsigned starpu_opencl_worker_get_count(void);
unsigned starpu_mpi_ms_worker_get_count(void);
unsigned starpu_tcpip_ms_worker_get_count(void);
/* Of that type; STARPU_ANY_WORKER: all. */
int starpu_worker_get_count_by_type(enum starpu_worker_archtype type);

/* The number of the worker that calls, from a kernel or a callback; -1 for a thread
 * that is no worker. */
int starpu_worker_get_id(void);
/* What the macro below calls, with the place where it is. */
unsigned _starpu_worker_get_id_check(const char *f, int l);
/* As starpu_worker_get_id(), but where there is no worker the program ends, with the
 * place of the call. */
unsigned starpu_worker_get_id_check(void);
#define starpu_worker_get_id_check()                                           \
    _starpu_worker_get_id_check(__FILE__, __LINE__)

/* When the worker's present kernel is expected to end, on the clock of
 * starpu_timing_now(); 0 if there is none, or nobody knows. */
void starpu_worker_get_current_task_exp_end(unsigned workerid,
                                            struct timespec *date);

/* The type of the worker. A number that no worker has ends the program, here and
 * below. */
enum starpu_worker_archtype starpu_worker_get_type(int id);
/* The number of its device among those of its type, as its driver counts them. */
int starpu_worker_get_devid(int id);
/* The same. */
int starpu_worker_get_devnum(int id);
/* Which of its device's workers it is, from 0. */
int starpu_worker_get_subworkerid(int id);
/* The position of the processor that it is bound to, -1 without. */
int starpu_worker_get_bindid(int workerid);
/* Writes at most `maxlen` bytes, such as "CPU 0" or "CUDA 1.0 (name)". */
void starpu_worker_get_name(int id, char *dst, size_t maxlen);

/* Write at most `maxsize` workers and return how many, or -ERANGE cast to
 * unsigned when there are more. */
unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type,
                                       int *workerids, unsigned maxsize);
/* The num-th worker of the type, from 0; -1 without. */
int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num);
/* The first worker of device `devid` of the type; -1 without. */
int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid);
/* Writes the workers of one device and returns how many. */
int starpu_worker_get_stream_workerids(unsigned devid, int *workerids,
                                       enum starpu_worker_archtype type);
/* Writes at most `num` different devices and returns how many. */
int starpu_worker_get_devids(enum starpu_worker_archtype type, int *devids,
                             int num);
/* Returns whether the task has something to run on this type. */
unsigned
starpu_worker_type_can_execute_task(enum starpu_worker_archtype worker_type,
                                    const struct starpu_task *task);

/* "CPU", "CUDA", …: a constant. */
const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type);
/* The type with that name, or STARPU_UNKNOWN_WORKER. */
enum starpu_worker_archtype
starpu_worker_get_type_from_string(const char *type);
/* The name as it is in variables of the environment: a constant. */
const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type);

/* Prints how many workers of each type there are, and their names. */
void starpu_worker_display_all(FILE *output);
/* Prints that of one type. */
void starpu_worker_display_names(FILE *output,
                                 enum starpu_worker_archtype type);
/* Prints how many of it there are. */
void starpu_worker_display_count(FILE *output,
                                 enum starpu_worker_archtype type);

/* The workers bound to the processor at position `bindid`: how many, and a list
 * that stays the library's until starpu_shutdown(), NULL for none. */
int starpu_bindid_get_workerids(int bindid, int **workerids);
/* The processors as a tree, the library's: a leaf's id is a bindid. */
struct starpu_tree *starpu_workers_get_tree(void);
#ifdef STARPU_HAVE_HWLOC
/* The processor of a worker: a set for the caller, who frees it, and hwloc's
 * object, which stays hwloc's. Of a worker that is not bound, all processors
 * and the machine. NULL where the library was built without hwloc. */
hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid);
hwloc_obj_t starpu_worker_get_hwloc_obj(int workerid);
#endif

/* -- memory nodes -- */

/* The memory node in which a worker computes; of a combined one, its first member. */
unsigned starpu_worker_get_memory_node(unsigned workerid);
/* That of the worker that calls, else STARPU_MAIN_RAM. */
unsigned starpu_worker_get_local_memory_node(void);
/* How many memory nodes there are; more when disks are registered. */
unsigned starpu_memory_nodes_get_count(void);
/* How many of them are of that kind. */
unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind);
/* How many of them, the first ones, are main memory. */
unsigned starpu_memory_nodes_get_numa_count(void);

/* The memory node of the NUMA node that the system numbers `osid`, -1 without. */
int starpu_memory_nodes_numa_id_to_devid(int osid);
/* The other way: the system's number; -1 if the memory node is no main memory. */
int starpu_memory_nodes_numa_devid_to_id(unsigned id);

/* Writes at most `maxsize` memory nodes of that kind and returns how many, or
 * -ERANGE cast to unsigned when there are more. */
unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind,
                                            unsigned *memory_nodes_ids,
                                            unsigned maxsize);
/* Writes its name, such as "NUMA 0", as snprintf() does. */
int starpu_memory_node_get_name(unsigned node, char *name, size_t size);
/* The number of its device among those of its kind. */
int starpu_memory_node_get_devid(unsigned node);
/* STARPU_UNUSED for a node that the machine lacks. */
enum starpu_node_kind starpu_node_get_kind(unsigned node);
/* The type of the workers that compute in such memory; STARPU_UNKNOWN_WORKER without. */
enum starpu_worker_archtype
starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind);
/* The other way; STARPU_UNUSED without. */
enum starpu_node_kind
starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type);

/* -- for policies -- */

/* In StarPU the library may change the calling worker's state from here on. Here it
 * never has to wait for that: these do nothing. */
void starpu_worker_relax_on(void);
/* Until here. */
void starpu_worker_relax_off(void);
/* 1: it always may. */
int starpu_worker_get_relax_state(void);
/* Whether the caller is in a hook of a policy. */
int starpu_worker_sched_op_pending(void);

/* Locks the mutex of starpu_worker_get_sched_condition(), for the policy. */
void starpu_worker_lock(int workerid);
/* 0, or EBUSY when another thread has it. */
int starpu_worker_trylock(int workerid);
/* Unlocks it. */
void starpu_worker_unlock(int workerid);
/* Locks that of the worker that calls. */
void starpu_worker_lock_self(void);
/* Unlocks it. */
void starpu_worker_unlock_self(void);

/* The scheduling contexts of a worker, by falling priority: malloc()ed. */
unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx);

/* Whether a parallel kernel or thread has the worker's processor. */
unsigned starpu_worker_is_blocked_in_parallel(int workerid);
/* Always 0: workers that are blocked have no kernels of their own. */
unsigned starpu_worker_is_slave_somewhere(int workerid);

/* -- combined workers -- */

/* A combined worker is several CPU workers that may execute one task together, of a
 * codelet whose type is STARPU_SPMD or STARPU_FORKJOIN. Their numbers follow those of
 * the workers. pheft and peager make some when they start; a task may also name
 * one, by starpu_task.workerid or its bit in workerids, under any policy. */
unsigned starpu_combined_worker_get_count(void);
/* Whether the number is one of theirs. */
unsigned starpu_worker_is_combined_worker(int id);

/* Makes one of these workers; returns its number, -EINVAL for what is no CPU worker,
 * -EAGAIN when there are STARPU_NMAXWORKERS, -ENOMEM. For pheft and peager it
 * counts once it was added to the context's collection of workers. */
int starpu_combined_worker_assign_workerid(int nworkers, int workerid_array[]);

/* Its members, ascending; the array is the library's. Either pointer may be NULL.
 * Returns 0. */
int starpu_combined_worker_get_description(int workerid, int *worker_size,
                                           int **combined_workerid);

/* Whether the worker, combined or not, can execute the task by that
 * implementation: a combined one that is no larger than max_parallelism. */
int starpu_combined_worker_can_execute_task(unsigned workerid,
                                            struct starpu_task *task,
                                            unsigned nimpl);

/* Makes those that the machine suggests, once in a run: processors that share a
 * cache, a NUMA node or a package, and what gathers them. They enter the
 * collection of the calling thread's context. */
void starpu_sched_find_all_worker_combinations(void);

/* In a parallel task the combined worker that executes it, in another task the worker,
 * outside of tasks -1. */
int starpu_combined_worker_get_id(void);
/* How many workers execute the task: 1 unless it is parallel; -1 outside of tasks. */
int starpu_combined_worker_get_size(void);
/* Which of them calls: its place among the members, from 0; -1 outside of tasks. */
int starpu_combined_worker_get_rank(void);

/* For policies, of a task that was pushed: it is for this combined worker. Then
 * starpu_task_dup makes its aliases, of which each member gets one
 * (starpu_push_local_task), in the same order as those of other tasks; the task
 * itself is pushed to nobody. */
void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid);
/* The same: it is for so many workers. */
void starpu_parallel_task_barrier_init_n(struct starpu_task *task,
                                         int worker_size);

#ifdef __cplusplus
}
#endif
