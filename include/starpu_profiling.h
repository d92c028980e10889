/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_profiling.h - the counters that profiling collects, and arithmetic on
 * struct timespec. Any thread.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARPU_PROFILING_DISABLE 0
#define STARPU_PROFILING_ENABLE  1
#define STARPU_NS_PER_S          1000000000

/* The life of one task. Times are the machine's, energy is in joules. */
struct starpu_profiling_task_info {
    struct timespec submit_time;
    struct timespec push_start_time;
    struct timespec push_end_time;
    struct timespec pop_start_time;
    struct timespec pop_end_time;
    struct timespec acquire_data_start_time;
    struct timespec acquire_data_end_time;
    struct timespec start_time;
    struct timespec end_time;
    struct timespec release_data_start_time;
    struct timespec release_data_end_time;
    struct timespec callback_start_time;
    struct timespec callback_end_time;
    /* The worker that ran it. */
    int workerid;
    uint64_t used_cycles;
    uint64_t stall_cycles;
    double energy_consumed;
};

/* What a worker did since its counters were last read. A time may overlap
 * others, except the all_ ones, which add up to total_time. */
struct starpu_profiling_worker_info {
    struct timespec start_time;
    struct timespec total_time;
    struct timespec executing_time;
    struct timespec callback_time;
    struct timespec waiting_time;
    struct timespec sleeping_time;
    struct timespec scheduling_time;
    struct timespec all_executing_time;
    struct timespec all_callback_time;
    struct timespec all_waiting_time;
    struct timespec all_sleeping_time;
    struct timespec all_scheduling_time;
    int executed_tasks;
    uint64_t used_cycles;
    uint64_t stall_cycles;
    double energy_consumed;
    double flops;
};

/* What a link carried since its counters were last read. Real or virtual time,
 * as the machine is. */
struct starpu_profiling_bus_info {
    struct timespec start_time;
    struct timespec total_time;
    long long transferred_bytes;
    int transfer_count;
};

/* -- switching -- */

/* From now on tasks have a profiling_info from their submission, and workers
 * count; or no more, then what was counted can still be read. Enabling resets
 * workers and links. Off at first, unless STARPU_PROFILING is set. The setting
 * stays for the runs to come; it may be made before starpu_init(). Returns the
 * former status. */
int starpu_profiling_status_set(int status);
/* STARPU_PROFILING_ENABLE or STARPU_PROFILING_DISABLE: of the run, or of the one to
 * come. */
int starpu_profiling_status_get(void);
/* Resets the workers' counters. */
void starpu_profiling_init(void);
/* Of no effect: the trace's file is what ORRERY_TRACE says. */
void starpu_profiling_set_id(int new_id);

/* What the worker did since the last call, or since profiling was enabled, and
 * resets it; NULL only resets. executing_time is that of the kernels that have
 * ended; executed_tasks counts without profiling too. 0. */
int starpu_profiling_worker_get_info(
    int workerid, struct starpu_profiling_worker_info *worker_info);
/* Prints that of all workers on stderr, and resets nothing. */
void starpu_profiling_worker_helper_display_summary(void);
/* Prints on stderr how much memory is used on each node. */
void starpu_data_display_memory_stats(void);

/* A time, or a date, in µs. */
double starpu_timing_timespec_to_us(struct timespec *ts);
/* The µs from `start` to `end`. */
double starpu_timing_timespec_delay_us(struct timespec *start,
                                       struct timespec *end);

/* -- links between memory nodes -- */

/* A bus is an ordered pair of memory nodes between which copies are direct. Their
 * number; they are numbered from 0 on. */
int starpu_bus_get_count(void);
/* The number of a pair of memory nodes, -1 for one that has no bus. */
int starpu_bus_get_id(int src, int dst);
/* The memory node that it copies from; -EINVAL for a number of no bus. */
int starpu_bus_get_src(int busid);
/* The memory node that it copies to; -EINVAL for a number of no bus. */
int starpu_bus_get_dst(int busid);
/* How the link is shared, which starpu_transfer_predict() counts with. At first all
 * CUDA and OpenCL devices count as sharing each; with `direct` it is a device's
 * alone. A number of no bus ends the program. */
void starpu_bus_set_direct(int busid, int direct);
/* What was set, 0 at first; -EINVAL for a number of no bus. */
int starpu_bus_get_direct(int busid);
/* So many devices share it, whatever starpu_bus_set_direct said; 0 removes that. A
 * negative number, or that of no bus, ends the program. */
void starpu_bus_set_ngpus(int busid, int ngpus);
/* How many devices share it now; -EINVAL for a number of no bus. */
int starpu_bus_get_ngpus(int busid);

/* What the link carried since the last call, or since starpu_init(); resets the
 * counters; `bus_info` may be NULL. 0, -EINVAL. */
int starpu_bus_get_profiling_info(int busid,
                                  struct starpu_profiling_bus_info *bus_info);

/* Prints on stderr what each link carried since starpu_init(); calls of the
 * above have no effect on it. */
void starpu_profiling_bus_helper_display_summary(void);

/* *tsp = 0 */
void starpu_timespec_clear(struct timespec *tsp);
_ORR_INLINE void starpu_timespec_clear(struct timespec *tsp)
{
    tsp->tv_sec = 0;
    tsp->tv_nsec = 0;
}

/* *result = *a + *b; any of them may be the same object. */
void starpu_timespec_add(struct timespec *a, struct timespec *b,
                         struct timespec *result);
_ORR_INLINE void starpu_timespec_add(struct timespec *a, struct timespec *b,
                                     struct timespec *result)
{
    long ns = a->tv_nsec + b->tv_nsec;

    result->tv_sec = a->tv_sec + b->tv_sec + ns / STARPU_NS_PER_S;
    result->tv_nsec = ns % STARPU_NS_PER_S;
}

/* *result += *a */
void starpu_timespec_accumulate(struct timespec *result, struct timespec *a);
_ORR_INLINE void starpu_timespec_accumulate(struct timespec *result,
                                            struct timespec *a)
{
    starpu_timespec_add(result, a, result);
}

/* *result = *a - *b */
void starpu_timespec_sub(const struct timespec *a, const struct timespec *b,
                         struct timespec *result);
_ORR_INLINE void starpu_timespec_sub(const struct timespec *a,
                                     const struct timespec *b,
                                     struct timespec *result)
{
    long ns = a->tv_nsec - b->tv_nsec;
    int borrow = ns < 0;

    result->tv_sec = a->tv_sec - b->tv_sec - borrow;
    result->tv_nsec = ns + (borrow ? STARPU_NS_PER_S : 0);
}

/* Compares two times by the operator CMP, such as <. */
#define starpu_timespec_cmp(a, b, CMP)                                         \
    (((a)->tv_sec == (b)->tv_sec) ? ((a)->tv_nsec CMP(b)->tv_nsec)             \
                                  : ((a)->tv_sec CMP(b)->tv_sec))

#ifdef __cplusplus
}
#endif
