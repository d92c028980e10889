/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task.h - codelets (task types) and tasks. A task is filled by one
 * thread and belongs to the library from its submission on.
 */
#pragma once

#include <errno.h>
#include <math.h>
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
    int flags;
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
    /* Where it was submitted, for traces. */
    const char *file;
    int line;
    /* What to run; NULL = nothing, the task only orders others. */
    struct starpu_codelet *cl;
    /* As in the codelet, -1 = take the codelet's. */
    int32_t where;
    /* Only for codelets with STARPU_VARIABLE_NBUFFERS. */
    int nbuffers;
    /* Instead of the arrays below for many buffers; freed with the task. */
    starpu_data_handle_t *dyn_handles;
    void **dyn_interfaces;
    enum starpu_data_access_mode *dyn_modes;
    /* The data, in the codelet's order. */
    starpu_data_handle_t handles[STARPU_NMAXBUFS];
    /* Filled by the library before the kernel starts. */
    void *interfaces[STARPU_NMAXBUFS];
    /* Only for codelets with STARPU_VARIABLE_NBUFFERS. */
    enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
    /* One flag per handle, NULL = the handles' own. */
    unsigned char *handles_sequential_consistency;
    /* Handed to the kernel. */
    void *cl_arg;
    size_t cl_arg_size;
    /* Where the kernel may leave a result. */
    void *cl_ret;
    size_t cl_ret_size;
    /* Runs when the kernel is done, before successors start. */
    void (*epilogue_callback_func)(void *);
    void *epilogue_callback_arg;
    /* Runs when the task is finished. */
    void (*callback_func)(void *);
    void *callback_arg;
    /* Runs when the task becomes ready. */
    void (*prologue_callback_func)(void *);
    void *prologue_callback_arg;
    /* Runs when a worker takes the task. */
    void (*prologue_callback_pop_func)(void *);
    void *prologue_callback_pop_arg;
    struct starpu_transaction *transaction;
    starpu_trs_epoch_t trs_epoch;
    /* The tag to reach, if use_tag. */
    starpu_tag_t tag_id;
    /* Free the field of the same name with the task. */
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
    /* 1 = not counted in the order of submission. */
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
    /* Bit mask of allowed workers, NULL = all. */
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
    unsigned color;
    /* Scheduling context, STARPU_NMAX_SCHED_CTXS = the current one. */
    unsigned sched_ctx;
    int hypervisor_tag;
    unsigned possibly_parallel;
    starpu_task_bundle_t bundle;
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
    unsigned long bubble_parent;
    starpu_bubble_func_t bubble_func;
    void *bubble_func_arg;
    starpu_bubble_gen_dag_func_t bubble_gen_dag_func;
    void *bubble_gen_dag_func_arg;
    unsigned nb_termination_call_required;
    /* For the policy. */
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
/* A copy that can be submitted on its own, with the same fields, `destroy` among them; but of a task that a policy is about to
 * give to several workers (starpu_parallel_task_barrier_init) the next alias, NULL
 * when it has as many as workers. */
struct starpu_task *starpu_task_dup(struct starpu_task *task);

/* The task, which was submitted with destroy = 0, is to be freed at its end; at
 * once if it has ended. */
void starpu_task_set_destroy(struct starpu_task *task);

/* Hands the task over. 0, -ENODEV when no worker can run it, -EINVAL for a
 * malformed task; the task stays the caller's on error. The second form takes
 * no part in implicit dependencies. */
int starpu_task_submit(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
int starpu_task_submit_nodeps(struct starpu_task *task)
    STARPU_WARN_UNUSED_RESULT;
int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id);

/* The same, and notes for traces where that was. */
static __starpu_inline int starpu_task_submit_line(struct starpu_task *task,
                                                   const char *file, int line)
{
    task->file = file;
    task->line = line;
    return starpu_task_submit(task);
}

/* Wait until the task, all tasks, or all but n, are finished. 0, -EINVAL for
 * a detached task, -EDEADLK in a callback or a kernel. */
int starpu_task_wait(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
int starpu_task_wait_array(struct starpu_task **tasks,
                           unsigned nb_tasks) STARPU_WARN_UNUSED_RESULT;
int starpu_task_wait_for_all(void);
int starpu_task_wait_for_n_submitted(unsigned n);

/* The same; the only scheduling context is 0. */
int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id);
int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n);
/* Waits until no task is ready or running; others may still wait for something.
 * 0, -EDEADLK. */
int starpu_task_wait_for_no_ready(void);
/* Whether starpu_task_wait() would return at once, which is still to be called.
 * A detached task ends the program. */
int starpu_task_finished(struct starpu_task *task);

/* When more than `limit_max` tasks are unfinished, who submits one waits until
 * no more than `limit_min` are. Negative: no limit; both are needed. The
 * variables STARPU_LIMIT_MAX_SUBMITTED_TASKS, _MIN_ set them at first. */
void starpu_set_limit_min_submitted_tasks(int limit_min);
void starpu_set_limit_max_submitted_tasks(int limit_max);

/* Informs a policy that collects tasks that no more are submitted for a while.
 * Waiting for tasks does so as well. */
void starpu_do_schedule(void);

/* Tasks that are ready, or submitted and not finished. */
int starpu_task_nready(void);
int starpu_task_nsubmitted(void);

/* Marks tasks of the caller's scheduling context (the first one, where none is set)
 * with the application's loop counter, for traces; levels nest, and the two outer
 * ones are shown. A pop without a push before ends the program with a message. */
void starpu_iteration_push(unsigned long iteration);
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

/* Borrowed texts, NULL when there is none. */
const char *starpu_task_get_model_name(struct starpu_task *task);
const char *starpu_task_get_name(struct starpu_task *task);

/* The enumerator's name. */
char *starpu_task_status_get_as_string(enum starpu_task_status status);

/* Which of the codelet's functions will run. */
void starpu_task_set_implementation(struct starpu_task *task, unsigned impl);
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

/* Tasks with this transaction (starpu_task.transaction) belong to its present
 * epoch, and get one buffer more, the last. When all tasks of the epoch before
 * have ended `do_start_func(NULL, do_start_arg)` is called on a CPU worker: if it
 * returns 0 the kernels of the epoch's tasks are skipped. NULL: they never are.
 * Returns NULL without CPU worker or memory. */
struct starpu_transaction *
starpu_transaction_open(int (*do_start_func)(void *buffer, void *arg),
                        void *do_start_arg);
/* Tasks submitted from now on belong to the next epoch. */
void starpu_transaction_next_epoch(struct starpu_transaction *p_trs,
                                   void *do_start_arg);
/* The last epoch ends; the transaction is freed by the library. */
void starpu_transaction_close(struct starpu_transaction *p_trs);

/* Submits an empty task for its callback, which may run before this returns. */
void starpu_create_callback_task(void (*callback)(void *), void *callback_arg);

#ifdef __cplusplus
}
#endif
