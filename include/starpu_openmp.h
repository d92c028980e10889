/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_openmp.h - what compilers translate OpenMP's constructs to. Between
 * starpu_omp_init and starpu_omp_shutdown, on real and simulated machines.
 *
 * A thread of a parallel region is a task on a CPU worker; what waits (barriers,
 * taskwait, taskgroups, critical sections, locks, ordered parts, copyprivate) gives
 * the worker to other tasks, so that a region may have more threads than there are
 * workers. Such a call is refused, and ends the program, in callbacks and in kernels
 * of devices. So does every mistake below, with a message.
 *
 * Constructs that belong to the threads of a region (barrier, loops, sections,
 * single, ordered) are met by all of them in the same order; explicit tasks may not
 * meet them. Outside of regions there is one thread, the one that called
 * starpu_omp_init.
 */
#pragma once

#include <stdint.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#    define __STARPU_OMP_NOTHROW noexcept
#else
#    define __STARPU_OMP_NOTHROW __attribute__((__nothrow__))
#endif

struct starpu_arbiter;

typedef struct {
    void *internal;
} starpu_omp_lock_t;

typedef struct {
    void *internal;
} starpu_omp_nest_lock_t;

enum starpu_omp_sched_value {
    starpu_omp_sched_undefined = 0,
    starpu_omp_sched_static = 1,
    starpu_omp_sched_dynamic = 2,
    starpu_omp_sched_guided = 3,
    starpu_omp_sched_auto = 4,
    starpu_omp_sched_runtime = 5
};

enum starpu_omp_proc_bind_value {
    starpu_omp_proc_bind_undefined = -1,
    starpu_omp_proc_bind_false = 0,
    starpu_omp_proc_bind_true = 1,
    starpu_omp_proc_bind_master = 2,
    starpu_omp_proc_bind_close = 3,
    starpu_omp_proc_bind_spread = 4
};

/* A parallel region. To be zeroed, then filled. */
struct starpu_omp_parallel_region_attr {
    /* The region's body is its function for processors, which each thread calls;
     * nbuffers and modes are those of `handles`. */
    struct starpu_codelet cl;
    /* The region's data: its threads use them together while no task outside
     * does. At most STARPU_NMAXBUFS. */
    starpu_data_handle_t *handles;
    /* The body's argument; cl_arg_free = 1: freed once, when the region ends. */
    void *cl_arg;
    size_t cl_arg_size;
    unsigned cl_arg_free;
    /* 0 = one thread. */
    int if_clause;
    /* Wanted, 0 = what starpu_omp_set_num_threads or OMP_NUM_THREADS says. */
    int num_threads;
};

/* A task, or a taskloop. To be zeroed, then filled; may be reused afterwards. */
struct starpu_omp_task_region_attr {
    /* The task's functions, the first of each kind of device. Simulated, a body
     * for processors only that has no model is executed; else the model says how
     * long it takes. */
    struct starpu_codelet cl;
    /* depend(in, out, inout) are STARPU_R, STARPU_W, STARPU_RW. At most
     * STARPU_NMAXBUFS. */
    starpu_data_handle_t *handles;
    /* Not copied; cl_arg_free = 1: freed when the task has ended. */
    void *cl_arg;
    size_t cl_arg_size;
    unsigned cl_arg_free;
    int priority;
    /* 0 = the caller goes on when the task has ended. */
    int if_clause;
    /* 1 = so it is with all tasks that are created in it. */
    int final_clause;
    /* Hints: every task stays on the worker where it began; a mergeable task is
     * executed in place where that is possible. */
    int untied_clause;
    int mergeable_clause;
    /* Of taskloops; nogroup_clause = 1 of another task: it leaves the taskgroup
     * around it. */
    int is_loop;
    int nogroup_clause;
    int collapse;
    int num_tasks;
    unsigned long long nb_iterations;
    unsigned long long grainsize;
    /* What a task of a taskloop executes: see there. */
    unsigned long long begin_i;
    unsigned long long end_i;
    unsigned long long chunk;
};

/* -- beginning and end -- */

/* starpu_init(NULL), then the variables OMP_*. Returns 0; -EINVAL: there is no CPU
 * worker; or what starpu_init returned. */
int starpu_omp_init(void) __STARPU_OMP_NOTHROW;

/* Waits for all tasks and ends; by the same thread, outside of regions. Does nothing
 * if starpu_omp_init has failed. */
void starpu_omp_shutdown(void) __STARPU_OMP_NOTHROW;

/* -- threads -- */

/* Returns when all threads have executed the region and all tasks created in it
 * have ended. */
void starpu_omp_parallel_region(
    const struct starpu_omp_parallel_region_attr *attr) __STARPU_OMP_NOTHROW;

/* Calls f(arg) in thread 0 of the region only. No barrier. */
void starpu_omp_master(void (*f)(void *arg), void *arg) __STARPU_OMP_NOTHROW;
/* Whether the caller is thread 0 of its region, or executes a task in the role of
 * that. No barrier. */
int starpu_omp_master_inline(void) __STARPU_OMP_NOTHROW;

/* Waits for all threads of the region, and for all tasks created in it. */
void starpu_omp_barrier(void) __STARPU_OMP_NOTHROW;

/* Calls f(arg) while no other task is in a section of that name, in the whole
 * program; waits for that. NULL is a name of its own. The name is copied. */
void starpu_omp_critical(void (*f)(void *arg), void *arg,
                         const char *name) __STARPU_OMP_NOTHROW;
/* The same around what comes between begin and end, which the same task calls with
 * equal names. A task that is in the section already is refused. */
void starpu_omp_critical_inline_begin(const char *name) __STARPU_OMP_NOTHROW;
void starpu_omp_critical_inline_end(const char *name) __STARPU_OMP_NOTHROW;

/* -- one thread of a region -- */

/* Calls f(arg) in the first thread that comes; the others wait for it, unless
 * nowait. */
void starpu_omp_single(void (*f)(void *arg), void *arg,
                       int nowait) __STARPU_OMP_NOTHROW;
/* Non-zero in the first thread that comes, 0 in the others. No barrier. */
int starpu_omp_single_inline(void) __STARPU_OMP_NOTHROW;

/* Calls f(arg, data, data_size) in one thread and copies its data_size bytes at
 * data to the data of all others. */
void starpu_omp_single_copyprivate(void (*f)(void *arg, void *data,
                                             unsigned long long data_size),
                                   void *arg, void *data,
                                   unsigned long long data_size)
    __STARPU_OMP_NOTHROW;

/* Returns NULL at once in the first thread, which executes the construct; the others
 * wait until that one has called `end`, and get its `data`, which they may read
 * until they call `end`. */
void *
starpu_omp_single_copyprivate_inline_begin(void *data) __STARPU_OMP_NOTHROW;
/* Called by all threads, which wait for each other; after it the data of the first
 * one may be freed. */
void starpu_omp_single_copyprivate_inline_end(void) __STARPU_OMP_NOTHROW;

/* -- loops and sections -- */

/* The threads call f for chunks of the iterations 0 to nb_iterations - 1, and wait
 * for each other unless nowait. `for` calls f(first, n, arg), `for_alt`
 * f(begin, end, arg). schedule: enum starpu_omp_sched_value; chunk 0: in one block
 * per thread (static), or 1. ordered = 1: starpu_omp_ordered may be called. */
void starpu_omp_for(void (*f)(unsigned long long _first_i,
                              unsigned long long _nb_i, void *arg),
                    void *arg, unsigned long long nb_iterations,
                    unsigned long long chunk, int schedule, int ordered,
                    int nowait) __STARPU_OMP_NOTHROW;
/* The same for functions that take a begin and an end, which is the first number
 * that is no more of the chunk. */
void starpu_omp_for_alt(void (*f)(unsigned long long _begin_i,
                                  unsigned long long _end_i, void *arg),
                        void *arg, unsigned long long nb_iterations,
                        unsigned long long chunk, int schedule, int ordered,
                        int nowait) __STARPU_OMP_NOTHROW;

/* The first chunk of the calling thread. Returns 1 with its first iteration and
 * their number, or 0, without touching these, where the thread has none: then the
 * loop is over for it. No barrier. */
int starpu_omp_for_inline_first(unsigned long long nb_iterations,
                                unsigned long long chunk, int schedule,
                                int ordered, unsigned long long *_first_i,
                                unsigned long long *_nb_i) __STARPU_OMP_NOTHROW;
/* The thread's next chunk, in the same way; the arguments are those of `first`, of
 * which the loop remembers all. Not to be called after a 0. */
int starpu_omp_for_inline_next(unsigned long long nb_iterations,
                               unsigned long long chunk, int schedule,
                               int ordered, unsigned long long *_first_i,
                               unsigned long long *_nb_i) __STARPU_OMP_NOTHROW;
/* The same two, with a chunk's begin and end (see starpu_omp_for_alt). The forms may
 * be used with each other. */
int starpu_omp_for_inline_first_alt(unsigned long long nb_iterations,
                                    unsigned long long chunk, int schedule,
                                    int ordered, unsigned long long *_begin_i,
                                    unsigned long long *_end_i)
    __STARPU_OMP_NOTHROW;
int starpu_omp_for_inline_next_alt(unsigned long long nb_iterations,
                                   unsigned long long chunk, int schedule,
                                   int ordered, unsigned long long *_begin_i,
                                   unsigned long long *_end_i)
    __STARPU_OMP_NOTHROW;

/* In a loop with `ordered`, at most once per iteration: calls f(arg) after the
 * ordered parts of all earlier iterations, for which it waits. f may wait. */
void starpu_omp_ordered(void (*f)(void *arg), void *arg) __STARPU_OMP_NOTHROW;
/* The same around what comes between begin and end, in one thread. */
void starpu_omp_ordered_inline_begin(void) __STARPU_OMP_NOTHROW;
void starpu_omp_ordered_inline_end(void) __STARPU_OMP_NOTHROW;

/* Calls section_f[i](section_arg[i]) for each i below nb_sections once, in whichever
 * thread comes next; the threads wait for each other unless nowait. The arrays are
 * the caller's and are read until it returns. */
void starpu_omp_sections(unsigned long long nb_sections,
                         void (**section_f)(void *arg), void **section_arg,
                         int nowait) __STARPU_OMP_NOTHROW;
/* The same with one function, section_f(i, section_arg). */
void starpu_omp_sections_combined(
    unsigned long long nb_sections,
    void (*section_f)(unsigned long long section_num, void *arg),
    void *section_arg, int nowait) __STARPU_OMP_NOTHROW;

/* -- tasks -- */

/* Creates a task, of the threads' workers or of a device. Outside of regions, and
 * in final tasks, it has ended when this returns. */
void starpu_omp_task_region(const struct starpu_omp_task_region_attr *attr)
    __STARPU_OMP_NOTHROW;

/* Waits for the tasks that the calling one has created. */
void starpu_omp_taskwait(void) __STARPU_OMP_NOTHROW;

/* Calls f(arg), then waits for all tasks that were created in it and, at any depth,
 * in these; not for those with nogroup_clause. */
void starpu_omp_taskgroup(void (*f)(void *arg), void *arg) __STARPU_OMP_NOTHROW;
/* The same around what comes between begin and end, in one task. Groups nest. */
void starpu_omp_taskgroup_inline_begin(void) __STARPU_OMP_NOTHROW;
void starpu_omp_taskgroup_inline_end(void) __STARPU_OMP_NOTHROW;

/* Creates num_tasks tasks, or as many as have `grainsize` iterations, or 4, in a
 * taskgroup unless nogroup_clause; `end` closes that. A task finds its range in
 * begin_i and end_i of *attr. For that, cl_arg points to *attr or to a structure of
 * cl_arg_size bytes that has it in it, of which each task gets a copy of its own;
 * else the tasks are executed one after the other. */
void starpu_omp_taskloop_inline_begin(
    struct starpu_omp_task_region_attr *attr) __STARPU_OMP_NOTHROW;
/* Closes the taskloop's taskgroup and waits for it, unless nogroup_clause; *attr is
 * that of begin. */
void starpu_omp_taskloop_inline_end(
    const struct starpu_omp_task_region_attr *attr) __STARPU_OMP_NOTHROW;

/* -- questions and settings: as omp_* of the same names -- */

/* The threads of regions that the calling task meets from now on without
 * num_threads, and of those that its later tasks meet; above 0. It may be more than
 * there are processors. */
void starpu_omp_set_num_threads(int threads) __STARPU_OMP_NOTHROW;
/* The threads of the innermost region, 1 outside. */
int starpu_omp_get_num_threads(void) __STARPU_OMP_NOTHROW;
/* The caller's number in it, from 0; a task has that of a thread of its region, no
 * two at once the same one. */
int starpu_omp_get_thread_num(void) __STARPU_OMP_NOTHROW;
/* The threads of a region that the caller would meet now; 1 where no further level
 * may be active. */
int starpu_omp_get_max_threads(void) __STARPU_OMP_NOTHROW;
/* The number of CPU workers. */
int starpu_omp_get_num_procs(void) __STARPU_OMP_NOTHROW;
/* Whether the caller is in a region of more than one thread, at any level. */
int starpu_omp_in_parallel(void) __STARPU_OMP_NOTHROW;
/* 1: regions that the calling task begins, and its tasks, have no more threads than there
 * are CPU workers that have none of another region; 0, as without: those that were asked
 * for. */
void starpu_omp_set_dynamic(int dynamic_threads) __STARPU_OMP_NOTHROW;
/* What was set last for the calling task, at first what OMP_DYNAMIC says; 0 or 1. */
int starpu_omp_get_dynamic(void) __STARPU_OMP_NOTHROW;
/* 1: any number of levels of regions may have several threads; 0: one level. For the
 * whole program, as starpu_omp_set_max_active_levels. */
void starpu_omp_set_nested(int nested) __STARPU_OMP_NOTHROW;
/* Whether more than one level may. */
int starpu_omp_get_nested(void) __STARPU_OMP_NOTHROW;
/* What OMP_CANCELLATION said, 0 or 1. None of these functions cancels anything. */
int starpu_omp_get_cancellation(void) __STARPU_OMP_NOTHROW;
/* What starpu_omp_sched_runtime means in loops of the calling task's later regions
 * and tasks: one of static to auto; modifier is the chunk in iterations, 0 or
 * more. */
void starpu_omp_set_schedule(enum starpu_omp_sched_value kind,
                             int modifier) __STARPU_OMP_NOTHROW;
/* The same, as it was set, or as OMP_SCHEDULE says. */
void starpu_omp_get_schedule(enum starpu_omp_sched_value *kind,
                             int *modifier) __STARPU_OMP_NOTHROW;
/* OMP_THREAD_LIMIT, which all threads of the program's regions together are within;
 * unset, INT_MAX. */
int starpu_omp_get_thread_limit(void) __STARPU_OMP_NOTHROW;
/* So many regions in each other may have more than one thread, in the whole program;
 * the further ones have one. A negative number changes nothing. */
void starpu_omp_set_max_active_levels(int max_levels) __STARPU_OMP_NOTHROW;
/* 1 unless OMP_MAX_ACTIVE_LEVELS, OMP_NESTED or the program says otherwise. */
int starpu_omp_get_max_active_levels(void) __STARPU_OMP_NOTHROW;
/* The number of regions around the caller, those of one thread included. */
int starpu_omp_get_level(void) __STARPU_OMP_NOTHROW;
/* The thread's number, or that of the thread that met the inner region, at that
 * level; 0 at level 0, -1 where there is no such level. */
int starpu_omp_get_ancestor_thread_num(int level) __STARPU_OMP_NOTHROW;
/* The threads of the region at that level; 1 at level 0, -1 where there is no such
 * level. */
int starpu_omp_get_team_size(int level) __STARPU_OMP_NOTHROW;
/* The number of regions around the caller that have more than one thread. */
int starpu_omp_get_active_level(void) __STARPU_OMP_NOTHROW;
/* 1 in a task with final_clause, or one that was created in such a task. */
int starpu_omp_in_final(void) __STARPU_OMP_NOTHROW;
/* What OMP_PROC_BIND says first, false without it. Nothing is bound by it. */
enum starpu_omp_proc_bind_value
starpu_omp_get_proc_bind(void) __STARPU_OMP_NOTHROW;
/* How many places OMP_PLACES writes out one by one; 0 where it has a word such as
 * `cores`. Nothing is bound by them. */
int starpu_omp_get_num_places(void) __STARPU_OMP_NOTHROW;
/* Always 0: what processors a place has is not known. */
int starpu_omp_get_place_num_procs(int place_num) __STARPU_OMP_NOTHROW;
/* Leaves ids as it is. */
void starpu_omp_get_place_proc_ids(int place_num,
                                   int *ids) __STARPU_OMP_NOTHROW;
/* Always -1: the caller is bound to no place. */
int starpu_omp_get_place_num(void) __STARPU_OMP_NOTHROW;
/* Always 0, and nothing is written to place_nums. */
int starpu_omp_get_partition_num_places(void) __STARPU_OMP_NOTHROW;
void starpu_omp_get_partition_place_nums(int *place_nums) __STARPU_OMP_NOTHROW;
/* A number that the program may read back, OMP_DEFAULT_DEVICE at first. Which worker
 * executes a task does not depend on it. */
void starpu_omp_set_default_device(int device_num) __STARPU_OMP_NOTHROW;
int starpu_omp_get_default_device(void) __STARPU_OMP_NOTHROW;
/* Always 1, the host; `get_num_teams` as well, and `get_team_num` 0. */
int starpu_omp_get_num_devices(void) __STARPU_OMP_NOTHROW;
int starpu_omp_get_num_teams(void) __STARPU_OMP_NOTHROW;
int starpu_omp_get_team_num(void) __STARPU_OMP_NOTHROW;
/* 1 in threads and tasks of OpenMP, the initial one included; 0 elsewhere. */
int starpu_omp_is_initial_device(void) __STARPU_OMP_NOTHROW;
/* Always 0. */
int starpu_omp_get_initial_device(void) __STARPU_OMP_NOTHROW;
/* What OMP_MAX_TASK_PRIORITY says, 0 without it. Higher priorities are not cut. */
int starpu_omp_get_max_task_priority(void) __STARPU_OMP_NOTHROW;

/* Seconds since starpu_omp_init, virtual where the machine is simulated. */
double starpu_omp_get_wtime(void) __STARPU_OMP_NOTHROW;
/* The unit of that, in seconds: 1e-6. */
double starpu_omp_get_wtick(void) __STARPU_OMP_NOTHROW;

/* -- locks: a task that waits for one leaves its worker to others -- */

/* Makes a free lock; what is behind it is freed by `destroy`, which ends the program
 * if the lock is taken. A lock must not outlive starpu_omp_shutdown. */
void starpu_omp_init_lock(starpu_omp_lock_t *lock) __STARPU_OMP_NOTHROW;
void starpu_omp_destroy_lock(starpu_omp_lock_t *lock) __STARPU_OMP_NOTHROW;
/* `set` waits for the lock, in the order of arrival; a task that has it already
 * waits for ever. `unset` gives it back, which any task may do, and ends the program
 * where nobody has it. */
void starpu_omp_set_lock(starpu_omp_lock_t *lock) __STARPU_OMP_NOTHROW;
void starpu_omp_unset_lock(starpu_omp_lock_t *lock) __STARPU_OMP_NOTHROW;
/* 1: the caller has it now; 0: another task has it. Does not wait. */
int starpu_omp_test_lock(starpu_omp_lock_t *lock) __STARPU_OMP_NOTHROW;

/* The same for locks that the owner, a task, may set again: it must unset them as
 * often. */
void
starpu_omp_init_nest_lock(starpu_omp_nest_lock_t *lock) __STARPU_OMP_NOTHROW;
void
starpu_omp_destroy_nest_lock(starpu_omp_nest_lock_t *lock) __STARPU_OMP_NOTHROW;
/* As starpu_omp_set_lock, but the owner gets the lock once more; only the owner may
 * unset it. */
void
starpu_omp_set_nest_lock(starpu_omp_nest_lock_t *lock) __STARPU_OMP_NOTHROW;
void
starpu_omp_unset_nest_lock(starpu_omp_nest_lock_t *lock) __STARPU_OMP_NOTHROW;
/* How often the caller has the lock now, this time included; 0: another task has it.
 * Does not wait. */
int
starpu_omp_test_nest_lock(starpu_omp_nest_lock_t *lock) __STARPU_OMP_NOTHROW;

/* One task at a time is between begin and end, in the whole program; the others
 * wait. For operations that a processor has no atomic instruction for. */
void starpu_omp_atomic_fallback_inline_begin(void) __STARPU_OMP_NOTHROW;
void starpu_omp_atomic_fallback_inline_end(void) __STARPU_OMP_NOTHROW;

/* -- data -- */

/* Enters the handle under the address of its data in main memory: for the threads
 * of the region, or for the explicit task that calls this. When the region or the
 * task ends, the handle is unregistered. */
void starpu_omp_handle_register(starpu_data_handle_t handle)
    __STARPU_OMP_NOTHROW;
/* Takes the handle out of the table of the caller, the region's or the task's, in
 * which it must be; the caller unregisters it. */
void starpu_omp_handle_unregister(starpu_data_handle_t handle)
    __STARPU_OMP_NOTHROW;
/* The handle entered last under exactly this address, by the threads of the caller's
 * region or by the explicit task that asks; NULL: none. */
starpu_data_handle_t
starpu_omp_data_lookup(const void *ptr) __STARPU_OMP_NOTHROW;

/* Says that the vector is a slice of an array, from that element on, so that kernels
 * may index from the array's start with STARPU_VECTOR_GET_SLICE_BASE. Not for other
 * data, which end the program. */
void starpu_omp_vector_annotate(starpu_data_handle_t handle,
                                uint32_t slice_base) __STARPU_OMP_NOTHROW;

/* An arbiter that starpu_omp_init makes and starpu_omp_shutdown destroys, for data
 * of the caller's. */
struct starpu_arbiter *
starpu_omp_get_default_arbiter(void) __STARPU_OMP_NOTHROW;

#ifdef __cplusplus
}
#endif
