/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * orrery.h - what is not in the StarPU interface: which machine this process
 * runs on. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_data.h>
#include <starpu_thread.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;

/* The version of this library, such as "0.2.0". The text is never freed. */
const char *orrery_version(void);

/* Returns 1 when starpu_init() chose a simulated machine, and 0 when the
 * machine is real or nothing is initialised. */
int orrery_is_simulated(void);

/* The machine that starpu_init() chose, as ORRERY_MACHINE or discovery names it; NULL when
 * nothing is initialised. Lent until starpu_shutdown(). */
const char *orrery_machine_name(void);

/* Returns 0 when kernels only take virtual time, so that data need no content:
 * a simulation without ORRERY_SIM_KERNELS=run. Else 1. */
int orrery_runs_kernels(void);

/* Returns 1 when this run shows where in the program tasks were submitted (ORRERY_SOURCE_LINES,
 * `orrery debug`). The library sees calls of compiled code alone: a binding for another language
 * then says in the fields `file` and `line` of a task where that was. Else 0, also when nothing
 * is initialised. */
int orrery_asks_for_lines(void);

/* Calls function(argument) on the stack that the calling thread of the system began with.
 * For interpreters and virtual machines that know a thread's stack by its bounds: kernels,
 * callbacks, cost functions, methods of data interfaces and policies run on stacks of
 * their own on a simulated machine, on one thread, whose stack is that of the caller of
 * starpu_init(). Whoever calls from there must not wait: functions that would return
 * -EDEADLK. Calls may be nested, and tasks be submitted. On a real machine, and where the
 * caller is on that stack already, it is a plain call; there, too, waiting is refused
 * where the worker has another kernel that waits. */
void orrery_call_on_thread_stack(void (*function)(void *argument), void *argument);

/* Whether the calling thread may submit tasks, and wait: 0 when nothing is initialised,
 * and simulated on all threads of the system but the one that starpu_init() was called
 * by. Other functions end the program there. */
int orrery_thread_takes_part(void);

/* Where this machine has times for a kernel from: 1, its performance model (of type
 * STARPU_HISTORY_BASED, with that symbol) has a file here; 2, ORRERY_ASSUME gives a
 * time for kernels of that codelet name or symbol on all workers; 0, it has none.
 * Either name may be NULL. After starpu_init(). */
int orrery_knows_kernel(const char *name, const char *symbol);

/* µs that the worker takes for the task with that implementation, as policies see it:
 * what was measured, or is assumed or derived; NaN: nobody knows, or the worker cannot
 * execute it, or is a combined one. The task need not be submitted. After starpu_init(). */
double orrery_task_length(struct starpu_task *task, unsigned workerid, unsigned nimpl);

/* Whether times of kernels that were measured on `host`, as gethostname() and records have
 * it, are those of this machine: 1 if it is simulated and has that host's models, or with
 * ORRERY_REPLAY_TIMES=record; else 0, also with ORRERY_REPLAY_TIMES=models. After
 * starpu_init(). */
int orrery_takes_times_of(const char *host);

/* What kernels took somewhere, which this simulation is to know. */
struct orrery_kernel {
    const char *symbol; /* of their model; NULL: of the default one of … */
    const char *name;   /* … codelets of that name */
    enum starpu_worker_archtype type; /* of the workers */
    unsigned implementation;
    uint32_t footprint; /* of the tasks, … */
    size_t size;        /* … their bytes, … */
    double flops;       /* … 0: not known */
    unsigned n;         /* how often it was measured: µs, mean and standard deviation */
    double mean, deviation;
    int derived;        /* not 0: it was computed from other figures, and not measured; what
                         * the user assumes goes before it */
    int worker;         /* not 0: of workers such as this one alone, its number and 1 */
};

/* Makes that known until starpu_shutdown(), unless the machine's models have a time of
 * that footprint. To be called before such a task is submitted. Returns 0; -ENODEV: the
 * machine is real, or has no such workers; -EINVAL: no name, or a model that is broken;
 * -ENOMEM. */
int orrery_teach_kernel(const struct orrery_kernel *kernel);

/* What is published of a worker, as the description of a simulated machine states it; 0:
 * unknown. */
struct orrery_rates {
    double flops32, flops64; /* flop per µs, single and double precision */
    double bytes;            /* bytes per µs that its memory moves */
};

/* Those of a worker; all 0 on a real machine. Returns 0, or -EINVAL:
 * there is no such worker. After starpu_init(). */
int orrery_worker_rates(int worker, struct orrery_rates *ret);

/* From now on a kernel on a simulated worker of the type takes the µs that the function
 * returns for its task; NaN: as long as it would have. Policies do not see these. Called
 * once for each kernel; it must not call the library. NULL: none. */
void orrery_set_kernel_times(double (*us)(struct starpu_task *task,
                                          enum starpu_worker_archtype type,
                                          unsigned implementation));

/* From now on what the runtime itself does for a task takes no virtual time (docs/COSTS.md:
 * submit, push, fetch, progress): what kernels take includes that. Nothing on a real
 * machine. */
void orrery_set_costs_in_times(void);

/* As starpu_task_submit(), and returns when the task's function has returned, so that this
 * may refer to the caller's variables. What it has put into the queue of a device may be under
 * way then; a kernel that has failed is not tried again. Where functions are not called,
 * when the task has ended. -EDEADLK in a callback or a kernel. */
int orrery_task_submit_and_call(struct starpu_task *task);

/* As starpu_task_submit(), for a task whose kernel is launched with those of others, as a
 * graph: by orrery_graph_launch(), before. In a simulation it takes no time to hand its
 * kernel to a device, and with `again`, for a graph that was launched before, nor do its
 * submission and its way into the scheduler. On a real machine it is submitted as any other. */
int orrery_task_submit_in_graph(struct starpu_task *task, int again);

/* As starpu_task_submit(), for a task that takes `ncores` processors of one memory node at
 * the same time, and `memory` bytes there beside its data. That is the node of the worker to
 * which the policy gives it, unless it has not so much memory left: then it is the first one
 * that has. Tasks that come to a node wait until those before them have their processors.
 * The function is called once and may use all of them (starpu_combined_worker_get_size()).
 * Simulated it takes the time that its model has for so many, without one that of a single
 * core; what a node has for tasks is in the machine's description, and memory of real ones is
 * not limited. On a device it is a task as any other. It names no worker and does not
 * regenerate (-EINVAL). -ENODEV: no memory node has so much, and no other worker can execute
 * it. `ncores` 0 is 1. */
int orrery_task_submit_on_host(struct starpu_task *task, unsigned ncores,
                               size_t memory);

/* In a simulation takes the calling thread as long as the machine's description has for
 * handing one kernel to a device. Nothing on a real machine. */
void orrery_graph_launch(void);

/* The queue of a worker of CUDA or HIP, which starpu_cuda_get_local_stream() is for the
 * worker that asks; lent until starpu_shutdown(). NULL: it has none, or is simulated. After
 * starpu_init(), any thread. */
void *orrery_worker_queue(int worker);

/* For functions of codelets that put work into several queues, the program's own too: what
 * is put into `later` from now on begins when what is in `earlier` now has ended. Each queue
 * is of the device of the worker beside it. Nobody waits. Returns 0; -EINVAL: the workers
 * are not of GPUs of one vendor; -ENOMEM, -EIO, -ENODEV: the vendor's library refuses, which is
 * said. Any thread. */
int orrery_queue_after(void *later, int later_worker, void *earlier,
                       int earlier_worker);

/* As starpu_sem_wait(), but gives up at a date, in µs as starpu_timing_now() has
 * them (infinity: never). Returns 0, or -ETIMEDOUT. */
int orrery_sem_wait_until(starpu_sem_t *sem, double date);

/* What goes before the environment's ORRERY_MACHINE, ORRERY_SET, STARPU_SCHED and
 * others of these names (docs/ENVIRONMENT.md); NULL leaves it, "" is none. */
struct orrery_replay_settings {
    const char *machine, *edits, *scheduler, *assume, *noise, *seed;
    const char *report, *graph, *trace; /* files to be written */
};

/* Makes the calls of a record (docs/RECORD.md) in this process, as `orrery replay`
 * does in one of its own: from starpu_init() to starpu_shutdown(), simulated, on the
 * calling thread. Messages go to stderr. Returns 0, or
 * -EBUSY: the library is initialised, or another one is played;
 * -EDEADLK: nothing could go on (a deadlock);
 * -ECANCELED: a call was refused, a kernel's time is not known;
 * -EINTR: orrery_replay_stop();
 * others: what is wrong with the record's beginning, or what starpu_init() returned.
 * Where the process would have ended otherwise, it goes on: nothing is initialised
 * then, and some memory of the run is lost. While calls are made abort() in the
 * calling thread ends the run as well. */
int orrery_replay(const char *path,
                  const struct orrery_replay_settings *settings);

/* Ends the one that is played in this process, if any, soon: what it has recorded is
 * written, orrery_replay() returns -EINTR. Any thread, signal handlers. */
void orrery_replay_stop(void);

/* As starpu_data_acquire_on_node_cb_sequential_consistency() without consistency, for a
 * callback that copies so many bytes between the data and other main memory, or starts to.
 * Simulated, it is called when the time of such a copy has passed (docs/COSTS.md), one after
 * the other. */
int orrery_data_acquire_to_copy(starpu_data_handle_t handle, int node,
                                enum starpu_data_access_mode mode, size_t bytes,
                                void (*callback)(void *argument),
                                void *argument);

/* The same where `first_used` of the bytes go to memory of the application's that nobody has
 * used before. */
int orrery_data_acquire_to_copy_new(starpu_data_handle_t handle, int node,
                                    enum starpu_data_access_mode mode,
                                    size_t bytes, size_t first_used,
                                    void (*callback)(void *argument),
                                    void *argument);

/* The same, also of 0 bytes, in callbacks of a task whose end is held back
 * (starpu_task_end_dep_add) until such acquisitions have ended: a replay of a recording makes them
 * one after the other when the task is ready, and then releases its end. */
int orrery_data_acquire_for_task(struct starpu_task *task,
                                 starpu_data_handle_t handle, int node,
                                 enum starpu_data_access_mode mode,
                                 size_t bytes, size_t first_used,
                                 void (*callback)(void *argument),
                                 void *argument);

/* Nobody has used the memory yet where the data were registered, which must not have been
 * used by tasks either: simulated, who first copies bytes into it takes longer, by what the
 * system needs to give its pages (docs/COSTS.md). */
void orrery_data_untouched(starpu_data_handle_t handle);

/* Waits until the task has ended, which was submitted and stays the caller's: `destroy` is 0, and
 * it may be detached. Any number of threads may wait. A recording has the wait behind the calls that
 * callbacks make until the end: a library that has an end of its own for what its tasks do
 * (libsocl's events) waits for that by this, or its replays take the recorded wait for the
 * application's own time. Returns 0; -EINVAL: the task was not submitted; -EDEADLK: callbacks and
 * kernels may not wait. */
int orrery_task_await(struct starpu_task *task);

/* The application is about to wait for tasks by means of its own, such as a semaphore; and, in a
 * callback of the task that ends the wait, it goes on. `what`, an address, tells waits apart: the
 * semaphore's. A recording has a wait for that task then,
 * as if starpu_task_wait() had been called, if the task is not freed at its end; else it says how
 * often the application waited so, which its replays take for the application's own time. Nothing
 * without a recording. */
void orrery_own_wait_begin(const void *what);
void orrery_own_wait_end(const void *what);

/* As starpu_usleep(), with all digits of a double. */
void orrery_usleep(double microseconds);

#ifdef __cplusplus
}
#endif
