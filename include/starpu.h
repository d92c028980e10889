/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu.h - the StarPU 1.4 interface as this library implements it: starting
 * and stopping, and all other headers.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <starpu_bitmap.h>
#include <starpu_bound.h>
#include <starpu_config.h>
#include <starpu_cublas.h>
#include <starpu_cuda.h>
#include <starpu_cusparse.h>
#include <starpu_data.h>
#include <starpu_data_filters.h>
#include <starpu_data_interfaces.h>
#include <starpu_disk.h>
#include <starpu_driver.h>
#include <starpu_expert.h>
#include <starpu_fxt.h>
#include <starpu_hash.h>
#include <starpu_helper.h>
#include <starpu_hip.h>
#include <starpu_hipblas.h>
#include <starpu_max_fpga.h>
#include <starpu_opencl.h>
#include <starpu_openmp.h>
#include <starpu_parallel_worker.h>
#include <starpu_perf_monitoring.h>
#include <starpu_perf_steering.h>
#include <starpu_perfmodel.h>
#include <starpu_profiling.h>
#include <starpu_rand.h>
#include <starpu_sched_ctx.h>
#include <starpu_scheduler.h>
#include <starpu_stdlib.h>
#include <starpu_task.h>
#include <starpu_task_bundle.h>
#include <starpu_task_dep.h>
#include <starpu_task_list.h>
#include <starpu_task_util.h>
#include <starpu_thread.h>
#include <starpu_thread_util.h>
#include <starpu_tree.h>
#include <starpu_util.h>
#include <starpu_worker.h>
#if defined(STARPU_USE_DEPRECATED_API) ||                                      \
    defined(STARPU_USE_DEPRECATED_ONE_ZERO_API)
#    include <starpu_deprecated_api.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_sched_policy;

/* What the application wants of starpu_init(). starpu_conf_init() gives the
 * defaults; -1 means "not set" for counts. Variables of the environment
 * overrule these fields unless the field about precedence says otherwise. */
struct starpu_conf {
    /* 42, set by starpu_conf_init(). */
    int magic;
    int will_use_mpi;
    /* NULL = the default policy. */
    const char *sched_policy_name;
    /* The application's own policy, before the name. */
    struct starpu_sched_policy *sched_policy;
    /* Called after the policy's init_sched. */
    void (*sched_policy_callback)(unsigned);
    /* 1 = fields overrule the environment. */
    int precedence_over_environment_variables;
    /* How many workers of each type. */
    int ncpus;
    int reserve_ncpus;
    int ncuda;
    int nhip;
    int nopencl;
    int nmax_fpga;
    int nmpi_ms;
    int ntcpip_ms;
    /* 1 = the array that follows is set. */
    unsigned use_explicit_workers_bindid;
    unsigned workers_bindid[STARPU_NMAXWORKERS];
    unsigned use_explicit_workers_cuda_gpuid;
    unsigned workers_cuda_gpuid[STARPU_NMAXWORKERS];
    unsigned use_explicit_workers_hip_gpuid;
    unsigned workers_hip_gpuid[STARPU_NMAXWORKERS];
    unsigned use_explicit_workers_opencl_gpuid;
    unsigned workers_opencl_gpuid[STARPU_NMAXWORKERS];
    unsigned use_explicit_workers_max_fpga_deviceid;
    unsigned workers_max_fpga_deviceid[STARPU_NMAXWORKERS];
    void *max_fpga_load;
    unsigned use_explicit_workers_mpi_ms_deviceid;
    unsigned workers_mpi_ms_deviceid[STARPU_NMAXWORKERS];
    /* 1 = measure the links again. */
    int bus_calibrate;
    /* 1 = keep measuring kernels, 2 = drop what is known before. */
    int calibrate;
    int data_locality_enforce;
    /* 1 = all CPU workers together run one task at a time. */
    int single_combined_worker;
    /* 1 = copies block the worker, as do the next ones. */
    int disable_asynchronous_copy;
    int disable_asynchronous_cuda_copy;
    int disable_asynchronous_hip_copy;
    int disable_asynchronous_opencl_copy;
    int disable_asynchronous_mpi_ms_copy;
    int disable_asynchronous_tcpip_ms_copy;
    int disable_asynchronous_max_fpga_copy;
    int enable_map;
    unsigned *cuda_opengl_interoperability;
    unsigned n_cuda_opengl_interoperability;
    /* Devices the application drives itself. */
    struct starpu_driver *not_launched_drivers;
    unsigned n_not_launched_drivers;
    /* Bytes. */
    uint64_t trace_buffer_size;
    /* -1 = the policy's. */
    int global_sched_ctx_min_priority;
    int global_sched_ctx_max_priority;
    /* Called with the worker's number: starpu_worker.h. */
    void (*callback_worker_going_to_sleep)(unsigned);
    void (*callback_worker_waking_up)(unsigned);
    /* 1 = a simulation that SIGINT or SIGTERM ends writes its traces. */
    int catch_signals;
    unsigned start_perf_counter_collection;
    unsigned driver_spinning_backoff_min;
    unsigned driver_spinning_backoff_max;
    int cuda_only_fast_alloc_other_memnodes;
};

/* Fills *conf with defaults and the environment's values. 0 or -EINVAL. */
int starpu_conf_init(struct starpu_conf *conf);
/* Sets every count of workers to 0, to add those wanted. 0; -EINVAL for a structure
 * that starpu_conf_init() has not filled. */
int starpu_conf_noworker(struct starpu_conf *conf);

/* Starts the library: with NULL, as after starpu_conf_init(). Calls nest. 0,
 * -EINVAL for a bad conf, -ENODEV without any worker. The machine is real, or
 * the one that ORRERY_MACHINE names. */
int starpu_init(struct starpu_conf *conf) STARPU_WARN_UNUSED_RESULT;
/* The same; StarPU takes its options out of the argument list, here there are none. */
int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv);
/* Whether some starpu_init() has begun that starpu_shutdown() has not ended. */
int starpu_is_initialized(void);

/* Waits for all tasks, writes models and traces, stops. Tasks that can never begin,
 * since nobody is left who could let them, are dropped, with a warning that says what
 * they wait for; those of the application may be cleaned afterwards. */
void starpu_shutdown(void);
/* Waits until another thread that has begun starpu_init() is through with it. */
void starpu_wait_initialized(void);

/* Between pause and resume no worker takes a task. Calls nest. */
void starpu_pause(void);
/* Ends one pause; where there is none a message says so. */
void starpu_resume(void);
/* Whether there is one. */
int starpu_is_paused(void);

/* Writes the workers and what they are bound to. */
void starpu_topology_print(FILE *f);

/* Whether all copies are waited for by the worker that starts them, as starpu_conf
 * or the environment asks. */
int starpu_asynchronous_copy_disabled(void);
/* The same of copies of one kind of device. */
int starpu_asynchronous_cuda_copy_disabled(void);
int starpu_asynchronous_hip_copy_disabled(void);
int starpu_asynchronous_opencl_copy_disabled(void);
int starpu_asynchronous_max_fpga_copy_disabled(void);
int starpu_asynchronous_mpi_ms_copy_disabled(void);
int starpu_asynchronous_tcpip_ms_copy_disabled(void);
/* Those of nodes of that kind. */
int starpu_asynchronous_copy_disabled_for(enum starpu_node_kind kind);
/* 1 = devices may use main memory in place. They never do here. */
int starpu_map_enabled(void);

/* Writes statistics of the run to stderr. */
void starpu_display_stats(void);

/* The version of the interface. */
void starpu_get_version(int *major, int *minor, int *release);

/* For starpu_bind_thread_on(): the thread computes. */
#define STARPU_THREAD_ACTIVE (1 << 0)

/* A processor for a thread of the application, by position in the topology: a
 * free one of the `preferred` cores, for threads that do not compute one that
 * such threads share, else the next that no worker has; the first when there is
 * none. Ends the program before starpu_init(). */
unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred,
                                unsigned npreferred);
/* Binds the calling thread to it. 0, or -1 after a warning when another thread
 * is there (unless it has this name, or neither computes) or there is no such
 * processor. Negative numbers, and simulated threads, are left as they are. */
int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name);
/* The same, without a look at other threads. */
void starpu_bind_thread_on_cpu(int cpuid);
/* Binds the calling thread to the processors of a worker, combined ones too. */
void starpu_bind_thread_on_worker(unsigned workerid);
/* Binds it to the processor that is reserved for the main thread, if one is. */
void starpu_bind_thread_on_main(void);
/* The system's number of a processor, -1 without. */
int starpu_cpu_os_index(int cpuid);

#ifdef __cplusplus
}
#endif
