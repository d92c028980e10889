/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task.h - codelets (task types) and tasks. A task is filled by one
 * thread and belongs to the library from its submission on.
 */
#pragma once

#include <errno.h>
#ifndef _ORR_LEAN
#    include <math.h>
#endif
#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_task_bundle.h>
#include <starpu_task_dep.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_omp_task; /* what omp_task below points to */
struct starpu_perfmodel;
struct starpu_profiling_task_info;
struct starpu_perf_counter_sample;
struct starpu_perf_counter_sample_cl_values;
struct starpu_transaction;
struct _starpu_trs_epoch;
typedef struct _starpu_trs_epoch *starpu_trs_epoch_t;

/* -- where a codelet may run: bits for starpu_codelet.where -- */

/* Those that are macros below are constants before, for what does not expand macros, such
 * as bindgen. */
enum {
    STARPU_CPU = 1 << (STARPU_CPU_WORKER + 1),
    STARPU_CUDA = 1 << (STARPU_CUDA_WORKER + 1),
    STARPU_HIP = 1 << (STARPU_HIP_WORKER + 1),
    STARPU_OPENCL = 1 << (STARPU_OPENCL_WORKER + 1),
    STARPU_MAX_FPGA = 1 << (STARPU_MAX_FPGA_WORKER + 1),
    STARPU_MPI_MS = 1 << (STARPU_MPI_MS_WORKER + 1),
    STARPU_TCPIP_MS = 1 << (STARPU_TCPIP_MS_WORKER + 1)
};
#define STARPU_NOWHERE                         ((1ULL) << 0)
#define STARPU_WORKER_TO_MASK(worker_archtype) (1ULL << ((worker_archtype) + 1))
#define STARPU_CPU                             STARPU_WORKER_TO_MASK(STARPU_CPU_WORKER)
#define STARPU_CUDA                            STARPU_WORKER_TO_MASK(STARPU_CUDA_WORKER)
#define STARPU_HIP                             STARPU_WORKER_TO_MASK(STARPU_HIP_WORKER)
#define STARPU_OPENCL                          STARPU_WORKER_TO_MASK(STARPU_OPENCL_WORKER)
#define STARPU_MAX_FPGA                        STARPU_WORKER_TO_MASK(STARPU_MAX_FPGA_WORKER)
#define STARPU_MPI_MS                          STARPU_WORKER_TO_MASK(STARPU_MPI_MS_WORKER)
#define STARPU_TCPIP_MS                        STARPU_WORKER_TO_MASK(STARPU_TCPIP_MS_WORKER)

/* -- starpu_codelet.flags -- */

/* Simulated, really call the function: without, or with, its duration added
 * to virtual time. */
#define STARPU_CODELET_SIMGRID_EXECUTE            (1 << 0)
#define STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT (1 << 1)
/* No automatic partitioning for these tasks. */
#define STARPU_CODELET_NOPLANS                    (1 << 2)

/* For cuda_flags, hip_flags and opencl_flags: the function only starts the
 * kernel; the library waits for it. */
#define STARPU_CUDA_ASYNC   (1 << 0)
#define STARPU_HIP_ASYNC    (1 << 0)
#define STARPU_OPENCL_ASYNC (1 << 0)

/* The memory node of the machine's main memory. */
#define STARPU_MAIN_RAM 0

enum starpu_codelet_type {
    STARPU_SEQ = 0,     /* one worker, one call */
    STARPU_SPMD = 1,    /* one call on each worker of a combined one */
    STARPU_FORKJOIN = 2 /* one call, which makes its own threads */
};

/* The state of a task. Also for the preprocessor. */
enum starpu_task_status {
    STARPU_TASK_INIT = 0,    /* not submitted */
    STARPU_TASK_BLOCKED = 1, /* waits for something */
    STARPU_TASK_READY = 2,   /* with the scheduler */
    STARPU_TASK_RUNNING = 3,
    STARPU_TASK_FINISHED = 4,
    STARPU_TASK_BLOCKED_ON_TAG = 5,
    STARPU_TASK_BLOCKED_ON_TASK = 6,
    STARPU_TASK_BLOCKED_ON_DATA = 7, /* data is on its way */
    STARPU_TASK_STOPPED = 8
};
#define STARPU_TASK_INIT    0
#define STARPU_TASK_INVALID STARPU_TASK_INIT

/* `buffers[i]` is the interface of handle i on the worker's memory node,
 * `cl_arg` the task's argument. */
typedef void (*starpu_cpu_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_cuda_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_hip_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_opencl_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_max_fpga_func_t)(void **buffers, void *cl_arg);
typedef int (*starpu_bubble_func_t)(struct starpu_task *task, void *arg);
typedef void (*starpu_bubble_gen_dag_func_t)(struct starpu_task *task,
                                             void *arg);

/* In cpu_func and its siblings: look at the array of functions. */
#define STARPU_MULTIPLE_CPU_IMPLEMENTATIONS    ((starpu_cpu_func_t)-1)
#define STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS   ((starpu_cuda_func_t)-1)
#define STARPU_MULTIPLE_HIP_IMPLEMENTATIONS    ((starpu_hip_func_t)-1)
#define STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS ((starpu_opencl_func_t)-1)

/* In nbuffers: each task has its own number of buffers. */
#define STARPU_VARIABLE_NBUFFERS (-1)

/* In nodes[], when specific_nodes is set: a memory node, or one of these. LOCAL and
 * FAST: that of the worker; CPU and SLOW: main memory; LOCAL_OR_CPU: main memory
 * if the value is there and not on the worker's node, else that; NONE: the buffer
 * is waited for, but brought nowhere, and only its shape is to be looked at. */
#define STARPU_SPECIFIC_NODE_LOCAL        (-1)
#define STARPU_SPECIFIC_NODE_CPU          (-2)
#define STARPU_SPECIFIC_NODE_SLOW         (-3)
#define STARPU_SPECIFIC_NODE_FAST         (-4)
#define STARPU_SPECIFIC_NODE_LOCAL_OR_CPU (-5)
#define STARPU_SPECIFIC_NODE_NONE         (-6)

/* A task type: its functions per architecture, its buffers, its model. It is
 * usually static, may be zero where nothing is set, must outlive its tasks, and
 * the library writes to it. */
struct starpu_codelet {
    /* Architectures allowed, 0 = those that have a function. */
    uint32_t where;
    /* Decides per worker and implementation; NULL = always. */
    int (*can_execute)(unsigned, struct starpu_task *, unsigned);
    enum starpu_codelet_type type;
    /* Most workers of a combined one, for STARPU_SPMD and _FORKJOIN. */
    int max_parallelism;
    /* One function; the arrays below are the newer form. */
    starpu_cpu_func_t cpu_func;
    starpu_cuda_func_t cuda_func;
    starpu_opencl_func_t opencl_func;
    /* Up to STARPU_MAXIMPLEMENTATIONS, NULL after the last. */
    starpu_cpu_func_t cpu_funcs[STARPU_MAXIMPLEMENTATIONS];
    starpu_cuda_func_t cuda_funcs[STARPU_MAXIMPLEMENTATIONS];
    char cuda_flags[STARPU_MAXIMPLEMENTATIONS];
    starpu_hip_func_t hip_funcs[STARPU_MAXIMPLEMENTATIONS];
    char hip_flags[STARPU_MAXIMPLEMENTATIONS];
    starpu_opencl_func_t opencl_funcs[STARPU_MAXIMPLEMENTATIONS];
    char opencl_flags[STARPU_MAXIMPLEMENTATIONS];
    starpu_max_fpga_func_t max_fpga_funcs[STARPU_MAXIMPLEMENTATIONS];
    /* Names of the functions, for remote workers. */
    const char *cpu_funcs_name[STARPU_MAXIMPLEMENTATIONS];
    /* Not used. */
    starpu_bubble_func_t bubble_func;
    starpu_bubble_gen_dag_func_t bubble_gen_dag_func;
    /* How many handles, or STARPU_VARIABLE_NBUFFERS. */
    int nbuffers;
    /* How each is accessed; an unset one is taken from the first task. */
    enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
    /* Instead of modes[] for more than STARPU_NMAXBUFS buffers. */
    enum starpu_data_access_mode *dyn_modes;
    /* 1 = nodes[] hold where each buffer is used, dyn_nodes instead for more
     * than STARPU_NMAXBUFS. Data used twice are written on one node only. With
     * STARPU_NOWHERE they are brought there although no kernel is run. */
    unsigned specific_nodes;
    int nodes[STARPU_NMAXBUFS];
    int *dyn_nodes;
    /* Time and energy models, NULL = unknown. */
    struct starpu_perfmodel *model;
    struct starpu_perfmodel *energy_model;
    /* Tasks run by each worker. */
    unsigned long per_worker_stats[STARPU_NMAXWORKERS];
    /* For messages and traces. */
    const char *name;
    /* 0xRRGGBB for traces, 0 = by name. */
    unsigned color;
    /* Used for tasks that have none. */
    void (*callback_func)(void *);
    /* STARPU_CODELET_SIMGRID_EXECUTE and its like. */
    int flags;
    /* The library's own. */
    struct starpu_perf_counter_sample *perf_counter_sample;
    struct starpu_perf_counter_sample_cl_values *perf_counter_values;
    /* Set by the library once the codelet was looked at. */
    int checked;
};

/* Does nothing, on a worker of any type; its model takes it for no time. */
extern struct starpu_codelet starpu_codelet_nop;

/* One element of STARPU_DATA_MODE_ARRAY. */
struct starpu_data_descr {
    starpu_data_handle_t handle;
    enum starpu_data_access_mode mode;
};

/* One task. starpu_task_create() or starpu_task_init() give the defaults. */
struct starpu_task {
    /* For messages and traces; borrowed, NULL = the codelet's. */
    const char *name;
    /* Where it was submitted, for traces; borrowed. */
    const char *file;
    int line;
    /* What to run; NULL = nothing, the task only orders others. */
    struct starpu_codelet *cl;
    /* As in the codelet, -1 = take the codelet's. */
    int32_t where;
    /* Only for codelets with STARPU_VARIABLE_NBUFFERS. */
    int nbuffers;
    /* Instead of the arrays below for many buffers. malloc()ed by the caller, or by
     * starpu_task_insert() and its like; the library frees them with the task. */
    starpu_data_handle_t *dyn_handles;
    void **dyn_interfaces;
    enum starpu_data_access_mode *dyn_modes;
    /* The data, in the codelet's order. */
    starpu_data_handle_t handles[STARPU_NMAXBUFS];
    /* Filled by the library before the kernel starts. */
    void *interfaces[STARPU_NMAXBUFS];
    /* Only for codelets with STARPU_VARIABLE_NBUFFERS. */
    enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
    /* One flag per handle, NULL = the handles' own. Read by the submission only. */
    unsigned char *handles_sequential_consistency;
    /* Handed to the kernel as it is. It stays the caller's, who keeps it until the task
     * has ended; with cl_arg_free it was malloc()ed, and the library frees it with the
     * task. The size, in bytes, is for starpu_task_dup() and the unpacking calls; the
     * library does not copy the argument of a task that is submitted. */
    void *cl_arg;
    size_t cl_arg_size;
    /* For the application; the library only frees it, with cl_ret_free. */
    void *cl_ret;
    size_t cl_ret_size;
    /* Functions of the application, NULL = none. They may not wait. Each argument stays
     * the caller's, unless the flag of the same name below has it freed with the task.
     * When the kernel is done, before tasks that wait for this one start. */
    void (*epilogue_callback_func)(void *);
    void *epilogue_callback_arg;
    /* When the task has ended, and those tasks may have started. */
    void (*callback_func)(void *);
    void *callback_arg;
    /* When the task is ready, before the policy gets it. */
    void (*prologue_callback_func)(void *);
    void *prologue_callback_arg;
    /* When a worker has taken the task. */
    void (*prologue_callback_pop_func)(void *);
    void *prologue_callback_pop_arg;
    /* Of starpu_transaction_open(), NULL = none; the codelet needs
     * STARPU_VARIABLE_NBUFFERS. */
    struct starpu_transaction *transaction;
    /* The library's own. */
    starpu_trs_epoch_t trs_epoch;
    /* The tag to reach, if use_tag. */
    starpu_tag_t tag_id;
    /* 1 = the library free()s the field of the same name when it frees the structure:
     * after the end of a task with destroy = 1, or in starpu_task_destroy(). */
    unsigned cl_arg_free : 1;
    unsigned cl_ret_free : 1;
    unsigned callback_arg_free : 1;
    unsigned epilogue_callback_arg_free : 1;
    unsigned prologue_callback_arg_free : 1;
    unsigned prologue_callback_pop_arg_free : 1;
    /* tag_id is set. */
    unsigned use_tag : 1;
    /* 0 = no implicit dependencies. */
    unsigned sequential_consistency : 1;
    /* 1 = submission waits for the end. */
    unsigned synchronous : 1;
    /* 1 = on `workerid` alone. */
    unsigned execute_on_a_specific_worker : 1;
    /* 0 = starpu_task_wait() will be called. */
    unsigned detach : 1;
    /* 1 = free the structure at the end. */
    unsigned destroy : 1;
    /* 1 = submit again at the end. */
    unsigned regenerate : 1;
    /* Not used. */
    unsigned no_submitorder : 1;
    /* The library's own. */
    unsigned char mf_skip;
    unsigned char failed;
    unsigned char scheduled;
    unsigned char prefetched;
    /* For execute_on_a_specific_worker. */
    unsigned workerid;
    /* Strict order on that worker, 0 = none. */
    unsigned workerorder;
    /* Bit mask of allowed workers, NULL = all, and how many words it has. The caller's,
     * who keeps it until the task has ended. */
    uint32_t *workerids;
    unsigned workerids_len;
    /* Larger is more urgent, see STARPU_MIN_PRIO and STARPU_MAX_PRIO. */
    int priority;
    /* Written by the library. */
    enum starpu_task_status status;
    /* 42, so that uninitialised memory is noticed. */
    int magic;
    /* STARPU_TASK_TYPE_... */
    unsigned type;
    /* 0xRRGGBB for traces, 0 = the codelet's. */
    unsigned color;
    /* Scheduling context, STARPU_NMAX_SCHED_CTXS = the current one. */
    unsigned sched_ctx;
    /* Kept for the application; the library does not look at it. */
    int hypervisor_tag;
    /* 1 = the kernel makes threads: in a scheduling context without policy the
     * starpu_parallel_worker_*_prologue functions give it the processors of all workers
     * of the context, else that of its worker alone. */
    unsigned possibly_parallel;
    /* That it is in, NULL = none; set by starpu_task_bundle_insert(). */
    starpu_task_bundle_t bundle;
    /* Times of the task, filled where profiling is on; malloc()ed by the caller or
     * made by the library, which frees it with the task. NULL = none. */
    struct starpu_profiling_task_info *profiling_info;
    /* Work of the kernel, 0 = unknown. */
    double flops;
    /* Microseconds, from the scheduler; NaN = unknown. */
    double predicted;
    double predicted_transfer;
    double predicted_start;
    /* Links of struct starpu_task_list, free for the policy that holds it. */
    struct starpu_task *prev;
    struct starpu_task *next;
    /* The library's own. */
    void *starpu_private;
    void *omp_task;
    /* Not used. */
    unsigned long bubble_parent;
    starpu_bubble_func_t bubble_func;
    void *bubble_func_arg;
    starpu_bubble_gen_dag_func_t bubble_gen_dag_func;
    void *bubble_gen_dag_func_arg;
    /* The library's own. */
    unsigned nb_termination_call_required;
    /* For the policy, which owns what it points to. */
    void *sched_data;
};

#define STARPU_TASK_TYPE_NORMAL       0
#define STARPU_TASK_TYPE_INTERNAL     (1 << 0)
#define STARPU_TASK_TYPE_DATA_ACQUIRE (1 << 1)

/* The same defaults as starpu_task_init() for a static or local task. */
#define STARPU_TASK_INITIALIZER                                                \
    {                                                                          \
        .where = -1, .sequential_consistency = 1, .detach = 1, .magic = 42,    \
        .sched_ctx = STARPU_NMAX_SCHED_CTXS, .predicted = NAN,                 \
        .predicted_transfer = NAN, .predicted_start = NAN,                     \
    }

/* -- buffers, wherever they are stored -- */

/* Of a task that has a codelet: how many, their array, number i of them. */
#define STARPU_TASK_GET_NBUFFERS(task)                                         \
    ((unsigned)((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS               \
                    ? (task)->nbuffers                                         \
                    : (task)->cl->nbuffers))
#define STARPU_TASK_GET_HANDLES(task)                                          \
    ((task)->dyn_handles ? (task)->dyn_handles : (task)->handles)
#define STARPU_TASK_GET_HANDLE(task, i) (STARPU_TASK_GET_HANDLES(task)[i])
#define STARPU_TASK_SET_HANDLE(task, handle, i)                                \
    do {                                                                       \
        STARPU_TASK_GET_HANDLES(task)[i] = (handle);                           \
    } while (0)

/* How number i of them is accessed, and on which node: of the codelet, or of the
 * task. */
#define _ORR_CODELET_MODES(codelet)                                            \
    ((codelet)->dyn_modes ? (codelet)->dyn_modes : (codelet)->modes)
#define STARPU_CODELET_GET_MODE(codelet, i) (_ORR_CODELET_MODES(codelet)[i])
#define STARPU_CODELET_SET_MODE(codelet, mode, i)                              \
    do {                                                                       \
        _ORR_CODELET_MODES(codelet)[i] = (mode);                               \
    } while (0)

/* A task has modes of its own when its codelet leaves the number open, or
 * when it brings an array. */
#define _ORR_TASK_MODES(task)                                                  \
    ((task)->dyn_modes ? (task)->dyn_modes                                     \
     : (task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS                        \
         ? (task)->modes                                                       \
         : _ORR_CODELET_MODES((task)->cl))
#define STARPU_TASK_GET_MODE(task, i) (_ORR_TASK_MODES(task)[i])
#define STARPU_TASK_SET_MODE(task, mode, i)                                    \
    do {                                                                       \
        _ORR_TASK_MODES(task)[i] = (mode);                                     \
    } while (0)

#define _ORR_CODELET_NODES(codelet)                                            \
    ((codelet)->dyn_nodes ? (codelet)->dyn_nodes : (codelet)->nodes)
#define STARPU_CODELET_GET_NODE(codelet, i) (_ORR_CODELET_NODES(codelet)[i])
#define STARPU_CODELET_SET_NODE(codelet, __node, i)                            \
    do {                                                                       \
        _ORR_CODELET_NODES(codelet)[i] = (__node);                             \
    } while (0)

/* -- life of a task -- */

/* Gives a structure of the caller the default values. */
void starpu_task_init(struct starpu_task *task);
/* Frees what the library attached to the structure; the caller keeps it. */
void starpu_task_clean(struct starpu_task *task);
/* A task on the heap that is freed after its end (destroy = 1), or NULL. */
struct starpu_task *starpu_task_create(void);
/* The same without a kernel, ordered as an access to `handle` would be. */
struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle,
                                            enum starpu_data_access_mode mode);
/* Frees a task that was not submitted or that is finished and was created
 * with destroy = 0; in its own callback, after that. */
void starpu_task_destroy(struct starpu_task *task);
/* A copy that can be submitted on its own, with the same fields, `destroy` among
 * them. An argument that the task frees is copied, too (cl_arg_size bytes); those of
 * callbacks stay the original's. Of a task that a policy is about to give to several
 * workers (starpu_parallel_task_barrier_init) it is the next alias instead, NULL
 * when there are as many as workers. NULL without memory. */
struct starpu_task *starpu_task_dup(struct starpu_task *task);

/* The task, which was submitted with destroy = 0, is to be freed at its end; at
 * once if it has ended. */
void starpu_task_set_destroy(struct starpu_task *task);

/* Hands the task over to the library: it, and what it points to, stay as they are
 * until its end. 0, -ENODEV when no worker can run it, -EINVAL for a malformed task,
 * -ENOMEM, and -EDEADLK for a synchronous one in a callback. On an error it stays
 * the caller's, to be changed, or freed with destroy = 0 and starpu_task_destroy(). */
int starpu_task_submit(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
/* The same without dependencies by its data, for what is done on behalf of a task that
 * has these data. */
int starpu_task_submit_nodeps(struct starpu_task *task)
    STARPU_WARN_UNUSED_RESULT;
/* Sets task->sched_ctx first. */
int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id);

/* The same, and notes for traces where that was. */
int starpu_task_submit_line(struct starpu_task *task, const char *file,
                            int line);
_ORR_INLINE int starpu_task_submit_line(struct starpu_task *task,
                                        const char *file, int line)
{
    task->file = file;
    task->line = line;
    return starpu_task_submit(task);
}

/* Waits until the task, which was submitted with detach = 0, has ended, and frees it
 * if its destroy is 1. 0, -EINVAL after a message for one that is NULL, detached,
 * synchronous or not submitted, -EDEADLK in a callback and in a kernel of a device. */
int starpu_task_wait(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
/* The same for each in turn; returns the first error, and leaves out those behind it. */
int starpu_task_wait_array(struct starpu_task **tasks,
                           unsigned nb_tasks) STARPU_WARN_UNUSED_RESULT;
/* Waits until all submitted tasks have ended: those of the scheduling context that
 * the thread has chosen (starpu_sched_ctx_set_context) and of contexts nested in it,
 * else all. 0, -EDEADLK. */
int starpu_task_wait_for_all(void);
/* Until no more than `n` of these are left. */
int starpu_task_wait_for_n_submitted(unsigned n);

/* Until the tasks of that scheduling context have ended. */
int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id);
/* Until no more than `n` are left. */
int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n);
/* Waits until no task is ready or running; others may still wait for something.
 * 0, -EDEADLK. */
int starpu_task_wait_for_no_ready(void);
/* Whether starpu_task_wait() would return at once, which is still to be called.
 * A detached task ends the program. */
int starpu_task_finished(struct starpu_task *task);

/* Where more than the maximum of tasks are submitted and have not ended, a thread that
 * submits one more waits until no more than the minimum are left. Both are needed, a
 * negative number is no limit. At first they are those of the variables
 * STARPU_LIMIT_MIN_SUBMITTED_TASKS and STARPU_LIMIT_MAX_SUBMITTED_TASKS. */
void starpu_set_limit_min_submitted_tasks(int limit_min);
/* Sets the maximum. */
void starpu_set_limit_max_submitted_tasks(int limit_max);

/* Informs a policy that collects tasks that no more are submitted for a while.
 * Waiting for tasks does so as well. */
void starpu_do_schedule(void);

/* How many tasks are ready or being executed. */
int starpu_task_nready(void);
/* How many tasks are submitted and have not ended. */
int starpu_task_nsubmitted(void);

/* Tasks that are submitted to the caller's scheduling context (the first one, where
 * none is chosen) have this number in traces until the next call of _pop. Loops may
 * be in each other: traces show the two outer ones. */
void starpu_iteration_push(unsigned long iteration);
/* That loop's turn ends. Without a push before it ends the program with a message. */
void starpu_iteration_pop(void);

/* Zeroes a codelet. */
void starpu_codelet_init(struct starpu_codelet *cl);
/* Prints on stderr how many of its tasks each worker has run, which are counted
 * unless STARPU_CODELET_PROFILING is 0. */
void starpu_codelet_display_stats(struct starpu_codelet *cl);

/* hook(hook_arg) is called instead of the message of STARPU_WATCHDOG_TIMEOUT, by
 * a thread of the library, in each period in which no task has ended. */
void starpu_task_watchdog_set_hook(void (*hook)(void *), void *hook_arg);

/* The task whose kernel or callback is running here, or NULL. */
struct starpu_task *starpu_task_get_current(void);
/* The memory node of its buffer i, or -1. */
int starpu_task_get_current_data_node(unsigned i);

/* The symbol of its codelet's model, borrowed; NULL without. */
const char *starpu_task_get_model_name(struct starpu_task *task);
/* Its name, else that of its codelet, else that symbol; borrowed, or NULL. */
const char *starpu_task_get_name(struct starpu_task *task);

/* The enumerator's name. */
char *starpu_task_status_get_as_string(enum starpu_task_status status);

/* For policies: which of the codelet's functions is to run, from 0. */
void starpu_task_set_implementation(struct starpu_task *task, unsigned impl);
/* Returns that number. */
unsigned starpu_task_get_implementation(struct starpu_task *task);

/* Submits an empty task that reaches `sync_tag` after `deps`, then calls back. */
void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps,
                             starpu_tag_t *deps, void (*callback)(void *),
                             void *callback_arg);

/* -- tasks that may fail -- */

/* The prologue callback of a task that may fail: the task itself ("meta") never
 * computes, but holds its data and its successors; copies of it try instead,
 * until one has not failed. `check_ft`, or its address as the prologue's argument,
 * is the callback of each try and gets the meta task: it looks whether the
 * present task has failed, and calls starpu_task_ft_success(), or makes another
 * try and submits it with starpu_task_submit_nodeps(). NULL: tries without end. */
void starpu_task_ft_prologue(void *check_ft);
/* One more try: a copy of the meta task, or of the try before. Both may own no
 * arguments, and the meta task may have no callback. */
struct starpu_task *
starpu_task_ft_create_retry(const struct starpu_task *meta_task,
                            const struct starpu_task *template_task,
                            void (*check_ft)(void *));
/* In a kernel: the task has failed. Its data are STARPU_R or STARPU_W. */
void starpu_task_ft_failed(struct starpu_task *task);
/* A try has succeeded: the meta task ends. */
void starpu_task_ft_success(struct starpu_task *meta_task);

/* -- transactions -- */

/* Opens a transaction, whose first epoch begins. A task whose field `transaction` is
 * set to it belongs to the epoch in which it is submitted, and gets one buffer more,
 * behind its own. Before the first task of an epoch, and after the last one of the
 * epoch before, do_start_func(NULL, do_start_arg) is called on a CPU worker: if it
 * returns 0, the kernels of that epoch's tasks are skipped. With NULL none are.
 * do_start_arg stays the caller's, until that call. The transaction belongs to the
 * library, from starpu_transaction_close() on. NULL without CPU worker or memory.
 * One thread at a time. */
struct starpu_transaction *
starpu_transaction_open(int (*do_start_func)(void *buffer, void *arg),
                        void *do_start_arg);
/* Tasks submitted from now on belong to the next epoch, for which do_start_func gets
 * this argument. Does not wait. */
void starpu_transaction_next_epoch(struct starpu_transaction *p_trs,
                                   void *do_start_arg);
/* No more tasks are submitted with it: the library frees it when the last epoch has
 * ended. Does not wait. */
void starpu_transaction_close(struct starpu_transaction *p_trs);

/* Submits an empty task for its callback, which may run before this returns. */
void starpu_create_callback_task(void (*callback)(void *), void *callback_arg);

#ifdef __cplusplus
}
#endif
