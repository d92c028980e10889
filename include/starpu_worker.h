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
void starpu_worker_set_waking_up_callback(void (*callback)(unsigned));

/* Waits until every worker is ready to work. */
void starpu_worker_wait_for_initialisation(void);

unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type);
/* The type of a mask with one bit, such as STARPU_CUDA. */
enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask);

/* How many there are, without combined workers. */
unsigned starpu_worker_get_count(void);
unsigned starpu_cpu_worker_get_count(void);
unsigned starpu_cuda_worker_get_count(void);
unsigned starpu_hip_worker_get_count(void);
unsigned starpu_opencl_worker_get_count(void);
unsigned starpu_mpi_ms_worker_get_count(void);
unsigned starpu_tcpip_ms_worker_get_count(void);
int starpu_worker_get_count_by_type(enum starpu_worker_archtype type);

/* The worker that calls, or -1. The second form ends the program instead. */
int starpu_worker_get_id(void);
unsigned _starpu_worker_get_id_check(const char *f, int l);
unsigned starpu_worker_get_id_check(void);
#define starpu_worker_get_id_check()                                           \
    _starpu_worker_get_id_check(__FILE__, __LINE__)

/* When the worker's present kernel is expected to end, on the clock of
 * starpu_timing_now(); 0 if there is none, or nobody knows. */
void starpu_worker_get_current_task_exp_end(unsigned workerid,
                                            struct timespec *date);

/* About one worker. */
enum starpu_worker_archtype starpu_worker_get_type(int id);
int starpu_worker_get_devid(int id);
int starpu_worker_get_devnum(int id);
int starpu_worker_get_subworkerid(int id); /* which of its device's, from 0 */
int starpu_worker_get_bindid(int workerid);
/* Writes at most `maxlen` bytes, such as "CPU 0" or "CUDA 1.0 (name)". */
void starpu_worker_get_name(int id, char *dst, size_t maxlen);

/* Write at most `maxsize` workers and return how many, or -ERANGE cast to
 * unsigned when there are more. */
unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type,
                                       int *workerids, unsigned maxsize);
/* The num-th worker of the type, the worker of device `devid`, or -1. */
int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num);
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

/* "CPU", "CUDA", ... and back; the last is the form used in variables. */
const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type);
enum starpu_worker_archtype
starpu_worker_get_type_from_string(const char *type);
const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type);

void starpu_worker_display_all(FILE *output);
void starpu_worker_display_names(FILE *output,
                                 enum starpu_worker_archtype type);
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

/* The node where a worker computes; the second is the caller's. */
unsigned starpu_worker_get_memory_node(unsigned workerid);
unsigned starpu_worker_get_local_memory_node(void);
unsigned starpu_memory_nodes_get_count(void);
unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind);
unsigned starpu_memory_nodes_get_numa_count(void);

/* The memory node of the NUMA node that the system numbers `osid`, -1 without;
 * and the system's number of a memory node, -1 if it is no main memory. */
int starpu_memory_nodes_numa_id_to_devid(int osid);
int starpu_memory_nodes_numa_devid_to_id(unsigned id);

unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind,
                                            unsigned *memory_nodes_ids,
                                            unsigned maxsize);
int starpu_memory_node_get_name(unsigned node, char *name, size_t size);
int starpu_memory_node_get_devid(unsigned node);
/* STARPU_UNUSED for a node that the machine lacks. */
enum starpu_node_kind starpu_node_get_kind(unsigned node);
enum starpu_worker_archtype
starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind);
enum starpu_node_kind
starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type);

/* -- for policies -- */

/* Between on and off the library may touch the calling worker's state. */
void starpu_worker_relax_on(void);
void starpu_worker_relax_off(void);
int starpu_worker_get_relax_state(void);
/* Whether the caller is in a hook of a policy. */
int starpu_worker_sched_op_pending(void);

/* Lock a worker's scheduling state. */
void starpu_worker_lock(int workerid);
int starpu_worker_trylock(int workerid);
void starpu_worker_unlock(int workerid);
void starpu_worker_lock_self(void);
void starpu_worker_unlock_self(void);

/* The scheduling contexts of a worker, by falling priority: malloc()ed. */
unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx);

/* Whether a parallel kernel or thread has the worker's processor. */
unsigned starpu_worker_is_blocked_in_parallel(int workerid);
unsigned starpu_worker_is_slave_somewhere(int workerid);

/* -- combined workers -- */

/* A combined worker is several CPU workers that may execute one task together, of a
 * codelet whose type is STARPU_SPMD or STARPU_FORKJOIN. Their numbers follow those of
 * the workers. pheft and peager make some when they start; a task may also name
 * one, by starpu_task.workerid or its bit in workerids, under any policy. */
unsigned starpu_combined_worker_get_count(void);
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

/* Inside a parallel task: the combined worker, its size, the caller's rank in it,
 * from 0, which is its place among the members. In another task: the worker, 1, 0;
 * outside of tasks -1. */
int starpu_combined_worker_get_id(void);
int starpu_combined_worker_get_size(void);
int starpu_combined_worker_get_rank(void);

/* For policies, of a task that was pushed: it is for this combined worker, or for so
 * many workers. Then starpu_task_dup makes its aliases, of which each member
 * gets one (starpu_push_local_task), in the same order as those of other tasks; the
 * task itself is pushed to nobody. */
void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid);
void starpu_parallel_task_barrier_init_n(struct starpu_task *task,
                                         int worker_size);

#ifdef __cplusplus
}
#endif
