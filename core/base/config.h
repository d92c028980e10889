/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/config.h - every environment variable that is read, one table, read
 * once at initialisation. No threads: an object belongs to its runtime, which
 * only reads it afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"

/* Types: INT, BOOL (an integer, 0 or not) and MIB are decimal and not
 * negative; unset and without default they are -1. Integers, too, are SIGNED (which may
 * be negative), FLIGHT (tasks in flight, capped.h), PERCENT (more is 100), STREAMS (1 to
 * 16), and DEVICE_MIB, MiB of each device of a kind: "…_<i>_MEM" is that of device i
 * alone. DOUBLE is NaN then, STRING is NULL. The default is written as the variable would be.
 *
 * X(id, name, type, default, sentence) */
#define ORR_CONFIG_WORKERS(X)                                                  \
    X(NCPU, "STARPU_NCPU", INT, "",                                            \
      "CPU workers. Unset: one per core that drives no device, at most as "    \
      "many as a control group's time is worth.")                              \
    X(NCPUS, "STARPU_NCPUS", INT, "", "Older spelling of `STARPU_NCPU`.")      \
    X(RESERVE_NCPU, "STARPU_RESERVE_NCPU", INT, "0",                           \
      "Processors left to the application.")                                   \
    X(NCUDA, "STARPU_NCUDA", INT, "",                                          \
      "CUDA devices that are used. Unset: all.")                               \
    X(NWORKER_PER_CUDA, "STARPU_NWORKER_PER_CUDA", STREAMS, "1",               \
      "Workers of each CUDA device, with a stream and a thread each. "         \
      "Real machines only.")                                                   \
    X(CUDA_CPU_PER_WORKER, "STARPU_CUDA_THREAD_PER_WORKER", BOOL, "0",         \
      "1: each worker of a CUDA device has a processor, else those of a "      \
      "device share one. Each has a thread in any case. "                      \
      "Real machines only.")                                                   \
    X(CUDA_CPU_PER_DEVICE, "STARPU_CUDA_THREAD_PER_DEV", BOOL, "1",            \
      "0: the workers of all CUDA devices share one processor. "               \
      "Real machines only.")                                                   \
    X(WORKERS_CUDAID, "STARPU_WORKERS_CUDAID", STRING, "",                     \
      "CUDA devices that the workers take, in order: numbers such as `1 0`. "  \
      "Unset: in the order of the driver. "                                    \
      "Real machines only.")                                                   \
    X(CUDA_LIBRARY, "ORRERY_CUDA_LIBRARY", STRING, "",                         \
      "File of NVIDIA's driver library. Unset: `libcuda.so.1`, where there "   \
      "is a device file of NVIDIA's. "                                         \
      "Real machines only.")                                                   \
    X(NHIP, "STARPU_NHIP", INT, "",                                            \
      "HIP devices that are used. Unset: all. "                                \
      "Real machines only.")                                                   \
    X(NWORKER_PER_HIP, "STARPU_NWORKER_PER_HIP", STREAMS, "1",                 \
      "Workers of each HIP device. "                                           \
      "Real machines only.")                                                   \
    X(HIP_CPU_PER_WORKER, "STARPU_HIP_THREAD_PER_WORKER", BOOL, "0",           \
      "As `STARPU_CUDA_THREAD_PER_WORKER`. "                                   \
      "Real machines only.")                                                   \
    X(HIP_CPU_PER_DEVICE, "STARPU_HIP_THREAD_PER_DEV", BOOL, "1",              \
      "As `STARPU_CUDA_THREAD_PER_DEV`. "                                      \
      "Real machines only.")                                                   \
    X(WORKERS_HIPID, "STARPU_WORKERS_HIPID", STRING, "",                       \
      "HIP devices that the workers take, in order. "                          \
      "Real machines only.")                                                   \
    X(HIP_LIBRARY, "ORRERY_HIP_LIBRARY", STRING, "",                           \
      "File of AMD's HIP library. Unset: `libamdhip64.so.6` and the like, "    \
      "where there is `/dev/kfd`. "                                            \
      "Real machines only.")                                                   \
    X(GPU_PEERS, "STARPU_ENABLE_CUDA_GPU_GPU_DIRECT", BOOL, "1",               \
      "0: CUDA and HIP devices copy to each other by way of main memory.")     \
    X(NOPENCL, "STARPU_NOPENCL", INT, "",                                      \
      "OpenCL workers. Unset: one per device.")                                \
    X(WORKERS_OPENCLID, "STARPU_WORKERS_OPENCLID", STRING, "",                 \
      "OpenCL devices that the workers take, in order: numbers such as "       \
      "`1 0`. Unset: in the order of the platforms. "                          \
      "Real machines only.")                                                   \
    X(OPENCL_ON_CPUS, "STARPU_OPENCL_ON_CPUS", BOOL, "0",                      \
      "1: processors are OpenCL devices, too, if a platform offers them. "     \
      "Real machines only.")                                                   \
    X(OPENCL_ONLY_ON_CPUS, "STARPU_OPENCL_ONLY_ON_CPUS", BOOL, "0",            \
      "1: only processors are OpenCL devices. "                                \
      "Real machines only.")                                                   \
    X(OPENCL_PARTS, "ORRERY_OPENCL_PARTS", STRING, "",                         \
      "Cuts OpenCL devices that can be cut: a number of compute units for "    \
      "each part, or `numa`, a part per NUMA node. "                           \
      "Real machines only.")                                                   \
    X(OPENCL_PROGRAM_DIR, "STARPU_OPENCL_PROGRAM_DIR", STRING, "",             \
      "Folder in which sources of OpenCL kernels are searched.")               \
    X(OCL_ICD_VENDORS, "OCL_ICD_VENDORS", STRING, "",                          \
      "The OpenCL loader's: folder of the files that name vendors' "           \
      "libraries. Unset: `/etc/OpenCL/vendors`. "                              \
      "Real machines only.")                                                   \
    X(OPENCL_VENDORS, "ORRERY_OPENCL_VENDORS", STRING, "",                     \
      "Such a folder, whose platforms OpenCL workers drive whatever the "      \
      "loader has; programs that `orrery run` starts have it. Unset: the "     \
      "loader's. Real machines, and `ORRERY_SIM_KERNELS=run` of OpenCL "       \
      "programs (docs/OPENCL_PROGRAMS.md).")                                   \
    X(WORKERS_CPUID, "STARPU_WORKERS_CPUID", STRING, "",                       \
      "Processors that the workers take, in order: numbers and ranges such "   \
      "as `0 2 4-7`, or `4-` for all from 4 on; by their positions in the "    \
      "machine's topology, whatever the program's affinity mask is. More "     \
      "workers take them again. Unset: in the order of the topology. "         \
      "Real machines only.")                                                   \
    X(WORKERS_COREID, "STARPU_WORKERS_COREID", STRING, "",                     \
      "The same of cores, whose first processors are taken; "                  \
      "`STARPU_WORKERS_CPUID` goes before it. "                                \
      "Real machines only.")                                                   \
    X(WORKERS_NOBIND, "STARPU_WORKERS_NOBIND", BOOL, "0",                      \
      "1: workers are not bound to processors.")                               \
    X(WORKERS_GETBIND, "STARPU_WORKERS_GETBIND", BOOL, "1",                    \
      "0: workers take processors that the affinity mask inherited by the "    \
      "program forbids, too. "                                                 \
      "Real machines only.")                                                   \
    X(NTHREADS_PER_CORE, "STARPU_NTHREADS_PER_CORE", INT, "1",                 \
      "CPU workers per core, unless their number or places are given. "        \
      "Real machines only.")                                                   \
    X(BACKOFF_MIN, "STARPU_BACKOFF_MIN", INT, "32",                            \
      "Pauses of the processor between two looks of an idle worker for "       \
      "tasks, doubled from look to look up to `STARPU_BACKOFF_MAX`. After 8 "  \
      "looks it lets other threads run, then it sleeps until it is woken. "    \
      "Real machines only.")                                                   \
    X(BACKOFF_MAX, "STARPU_BACKOFF_MAX", INT, "32",                            \
      "The most of these; 0: an idle worker sleeps at once. "                  \
      "Real machines only.")                                                   \
    X(DISPLAY_BINDINGS, "STARPU_DISPLAY_BINDINGS", INT, "0",                   \
      "1 or 2: at the beginning, where the workers are bound is printed: "     \
      "`starpu_display_bindings`.")                                            \
    X(MAIN_THREAD_BIND, "STARPU_MAIN_THREAD_BIND", BOOL, "0",                  \
      "1: a core is left to the main thread, the last one unless the next "    \
      "two choose it, and it is bound there.")                                 \
    X(MAIN_THREAD_CPUID, "STARPU_MAIN_THREAD_CPUID", INT, "",                  \
      "Processor that the main thread is bound to, as a position in the "      \
      "machine's topology. "                                                   \
      "Real machines only.")                                                   \
    X(MAIN_THREAD_COREID, "STARPU_MAIN_THREAD_COREID", INT, "",                \
      "The same of a core. "                                                   \
      "Real machines only.")                                                   \
    X(USE_NUMA, "STARPU_USE_NUMA", BOOL, "0",                                  \
      "1: one memory node per NUMA node, also of simulated machines that "     \
      "describe them.")                                                        \
    X(DRIVERS, "ORRERY_DRIVERS", STRING, "",                                   \
      "Shared objects with drivers of other devices, and settings for each: "  \
      "`FILE:SETTINGS; FILE` (docs/NEW_DRIVER.md). Real machines only. "       \
      "Real machines only.")                                                   \
    X(HWLOC_INPUT, "STARPU_HWLOC_INPUT", STRING, "",                           \
      "XML file of hwloc to read the topology from. "                          \
      "Real machines only.")                                                   \
    X(CUDA_PIPELINE, "STARPU_CUDA_PIPELINE", FLIGHT, "2",                      \
      "Asynchronous tasks in flight per CUDA worker, at most 4; 0 gives up "   \
      "overlapping.")                                                          \
    X(HIP_PIPELINE, "STARPU_HIP_PIPELINE", FLIGHT, "2",                        \
      "Asynchronous tasks in flight per HIP worker, at most 4; 0 gives up "    \
      "overlapping.")                                                          \
    X(OPENCL_PIPELINE, "STARPU_OPENCL_PIPELINE", FLIGHT, "2",                  \
      "Asynchronous tasks in flight per OpenCL worker, at most 4; 0 gives up " \
      "overlapping.")

#define ORR_CONFIG_HETEROPRIO(X)                                               \
    X(HETEROPRIO_LOCALITY, "STARPU_HETEROPRIO_USE_LA", BOOL, "0",              \
      "1: heteroprio has a queue per group and memory node; tasks go to "      \
      "the node where their data are.")                                        \
    X(HETEROPRIO_PUSH, "STARPU_LAHETEROPRIO_PUSH", STRING, "AUTO",             \
      "By which of its rules they do: WORKER, LcS, LS_SDH, LS_SDH2, "          \
      "LS_SDHB, LC_SMWB (core/policies/heteroprio.h); AUTO: LS_SDHB.") \
    X(HETEROPRIO_NEAR_CPU, "STARPU_LAHETEROPRIO_S_CPU", INT, "",               \
      "Nodes that are near: of their queues CPU workers take before "          \
      "those of the other nodes. Unset: all but their own.")                   \
    X(HETEROPRIO_NEAR_CUDA, "STARPU_LAHETEROPRIO_S_CUDA", INT, "1",            \
      "The same of CUDA workers.")                                             \
    X(HETEROPRIO_NEAR_OPENCL, "STARPU_LAHETEROPRIO_S_OPENCL", INT, "1",        \
      "The same of OpenCL workers.")                                           \
    X(HETEROPRIO_NEAR_HIP, "STARPU_LAHETEROPRIO_S_HIP", INT, "1",              \
      "The same of HIP workers.")                                              \
    X(HETEROPRIO_STEP_CPU, "STARPU_LAHETEROPRIO_PRIO_STEP_CPU", INT, "1",      \
      "Groups that CPU workers look through on their own node before the "     \
      "near ones. 0: all.")                                                    \
    X(HETEROPRIO_STEP_CUDA, "STARPU_LAHETEROPRIO_PRIO_STEP_CUDA", INT, "0",    \
      "The same of CUDA workers.")                                             \
    X(HETEROPRIO_STEP_OPENCL,                                                  \
      "STARPU_LAHETEROPRIO_PRIO_STEP_OPENCL", INT, "0",                        \
      "The same of OpenCL workers.")                                           \
    X(HETEROPRIO_STEP_HIP, "STARPU_LAHETEROPRIO_PRIO_STEP_HIP", INT, "0",      \
      "The same of HIP workers.")                                              \
    X(HETEROPRIO_DATA_DIR, "STARPU_HETEROPRIO_DATA_DIR", STRING, "",           \
      "Directory of the file in which automatic mode keeps its figures "       \
      "between runs. Unset: `heteroprio` where models are saved; "             \
      "simulated: there is no file unless this or the next is set.")           \
    X(HETEROPRIO_DATA_FILE, "STARPU_HETEROPRIO_DATA_FILE", STRING, "",         \
      "That file. Unset: the program's name and `.data`.")                     \
    X(HETEROPRIO_FREEZE, "STARPU_AUTOHETEROPRIO_FREEZE_GATHERING", BOOL, "0",  \
      "1: automatic mode uses the figures of that file and measures "          \
      "nothing.")                                                              \
    X(HETEROPRIO_PRINT_ORDER,                                                  \
      "STARPU_AUTOHETEROPRIO_PRINT_AFTER_ORDERING", BOOL, "0",                 \
      "1: each order of its groups is printed.")                               \
    X(HETEROPRIO_PRINT_DATA,                                                   \
      "STARPU_AUTOHETEROPRIO_PRINT_DATA_ON_UPDATE", BOOL, "0",                 \
      "1: so are the figures, as the file has them.")                          \
    X(HETEROPRIO_ORDERING, "STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY",   \
      STRING, "12",                                                            \
      "By which of 28 scores heteroprio orders its groups: number or name "    \
      "(core/policies/heteroprio_score.h). Next are the constants of some.") \
    X(HP_NOD_TIME_MULTIPLIER,                                                  \
      "STARPU_HETEROPRIO_NOD_TIME_COMBINATION_NOD_MULTIPLIER", DOUBLE, "0.3",  \
      "Score 0: weight of the tasks that a task releases.")                    \
    X(HP_NOD_TIME_SELECTIVITY,                                                 \
      "STARPU_HETEROPRIO_NOD_TIME_COMBINATION_EXP_SELECTIVITY", DOUBLE, "0.5", \
      "Score 0: how much they count less where architectures differ more.")    \
    X(HP_BEST_NODS_SELECTIVITY,                                                \
      "STARPU_HETEROPRIO_BEST_NODS_SCORE_EXP_SELECTIVITY", DOUBLE, "0.5",      \
      "Score 1: how much it is less where architectures differ more.")         \
    X(HP_URT_MULTIPLIER, "STARPU_HETEROPRIO_URT_URT_MULTIPLIER", DOUBLE,       \
      "0.5", "Score 4: weight of URT.")                                        \
    X(HP_URT_2_MULTIPLIER, "STARPU_HETEROPRIO_URT_2_URT_MULTIPLIER", DOUBLE,   \
      "0.5", "Score 5: weight of URT.")                                        \
    X(HP_URT_2_NEED, "STARPU_HETEROPRIO_URT_2_ARCH_NEED_MULTIPLIER", DOUBLE,   \
      "2", "Score 5: weight of the need for work.")                            \
    X(HP_DIFF_2_NEED, "STARPU_HETEROPRIO_URT_DOT_DIFF_2_ARCH_NEED_MULTIPLIER", \
      DOUBLE, "1", "Score 10: weight of the need for work.")                   \
    X(HP_DIFF_3_NEED, "STARPU_HETEROPRIO_URT_DOT_DIFF_3_ARCH_NEED_MULTIPLIER", \
      DOUBLE, "1", "Score 11: weight of the need for work.")                   \
    X(HP_DIFF_4_NEED, "STARPU_HETEROPRIO_URT_DOT_DIFF_4_ARCH_NEED_MULTIPLIER", \
      DOUBLE, "1", "Score 12: weight of the need for work.")                   \
    X(HP_DIFF_5_NOD, "STARPU_HETEROPRIO_URT_DOT_DIFF_5_NOD_OFFSET", DOUBLE,    \
      "1.3", "Score 13: what is added to URT.")                                \
    X(HP_DIFF_5_ARCH, "STARPU_HETEROPRIO_URT_DOT_DIFF_5_ARCH_DIFF_OFFSET",     \
      DOUBLE, "1", "Score 13: what is added to the difference of times.")      \
    X(HP_DIFF_9_NOD, "STARPU_HETEROPRIO_URT_DOT_DIFF_9_NOD_OFFSET", DOUBLE,    \
      "1.3", "Score 17: what is added to URT.")                                \
    X(HP_DIFF_9_ARCH, "STARPU_HETEROPRIO_URT_DOT_DIFF_9_ARCH_DIFF_OFFSET",     \
      DOUBLE, "1",                                                             \
      "Score 17: times URT, is added to the difference of times.")             \
    X(HP_DIFF_10_NOD, "STARPU_HETEROPRIO_AURT_DOT_DIFF_10_NOD_OFFSET", DOUBLE, \
      "1.3", "Score 18: what is added to URT (spelt as in StarPU).")           \
    X(HP_DIFF_10_ARCH, "STARPU_HETEROPRIO_URT_DOT_DIFF_10_ARCH_DIFF_OFFSET",   \
      DOUBLE, "1", "Score 18: times URT, is added to the score.")              \
    X(HP_DIFF_11_NOD, "STARPU_HETEROPRIO_URT_DOT_DIFF_11_NOD_OFFSET", DOUBLE,  \
      "1.3", "Score 19: what is added to URT.")                                \
    X(HP_DIFF_11_ARCH, "STARPU_HETEROPRIO_URT_DOT_DIFF_11_ARCH_DIFF_OFFSET",   \
      DOUBLE, "1",                                                             \
      "Score 19: times URT, is added to the difference of times.")             \
    X(HP_URTS_TIME_MULTIPLIER,                                                 \
      "STARPU_HETEROPRIO_URTS_TIME_COMBINATION_NOD_MULTIPLIER", DOUBLE, "0.3", \
      "Score 24: weight of URT.")                                              \
    X(HP_URTS_TIME_SELECTIVITY,                                                \
      "STARPU_HETEROPRIO_URTS_TIME_COMBINATION_EXP_SELECTIVITY", DOUBLE,       \
      "0.5",                                                                   \
      "Score 24: how much it counts less where architectures differ more.")

#define ORR_CONFIG_SCHEDULING(X)                                               \
    X(SCHED, "STARPU_SCHED", STRING, "lws",                                    \
      "Scheduling policy; `help` lists them.")                                 \
    X(FOLLOW_PLACED, "ORRERY_FOLLOW_PLACED", BOOL, "0",                        \
      "1: tasks that the policy would place are put into the queue of a "      \
      "device behind those that they wait for, as those that name it are, if " \
      "no other task is ready and no other sort of worker is known to take "   \
      "less; and kernels follow those of other devices, with the copies "      \
      "between these, of which one that fails ends the program: "              \
      "docs/CUDA.md.")                                                         \
    X(STF_PLACE, "ORRERY_STF_PLACE", STRING, "",                               \
      "`any`: in programs on `orrery/stf.hpp` the policy chooses where tasks " \
      "run that are for devices, named or not: docs/STF.md. Unset: they run "  \
      "where they say.")                                                       \
    X(STF_ALLOCATOR, "ORRERY_STF_ALLOCATOR", STRING, "",                       \
      "Where data of programs on `orrery/stf.hpp` get memory: `uncached`, "    \
      "`cached_fifo`, `pooled`, `buddy`: docs/STF.md. Unset, or `cached`: "    \
      "the library keeps what data leave for others of the same lengths.")     \
    X(SCHED_LIB, "STARPU_SCHED_LIB", STRING, "",                               \
      "Shared object whose policies `STARPU_SCHED` may name: "                 \
      "examples/policies.")                                                    \
    X(MIN_PRIO, "STARPU_MIN_PRIO", INT, "",                                    \
      "Lowest task priority. Unset: that of the policy.")                      \
    X(MAX_PRIO, "STARPU_MAX_PRIO", INT, "",                                    \
      "Highest task priority. Unset: that of the policy.")                     \
    X(PREFETCH, "STARPU_PREFETCH", BOOL, "1",                                  \
      "1: data of scheduled tasks are fetched before a worker takes them.")    \
    X(SCHED_ALPHA, "STARPU_SCHED_ALPHA", DOUBLE, "1",                          \
      "Weight of execution time in the decisions of dm policies.")             \
    X(SCHED_BETA, "STARPU_SCHED_BETA", DOUBLE, "1",                            \
      "Weight of transfer time.")                                              \
    X(SCHED_GAMMA, "STARPU_SCHED_GAMMA", DOUBLE, "1000",                       \
      "Weight of energy, in microseconds per joule. Where it is set, the "      \
      "powers that a simulated machine states stand in for energy models that " \
      "codelets lack: docs/ENERGY.md.")                                        \
    X(IDLE_POWER, "STARPU_IDLE_POWER", DOUBLE, "0",                            \
      "Watts that the idle machine takes. Unset: what the machine states "     \
      "where its powers are weighed.")                                         \
    X(HETEROPRIO_AUTO, "STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", BOOL, "1",     \
      "1: heteroprio groups tasks by codelet and orders the groups by what "   \
      "it measures; 0: a task's priority is its group.")                       \
    X(HETEROPRIO_GROUPING, "STARPU_HETEROPRIO_CODELET_GROUPING_STRATEGY", INT, \
      "0", "0: groups have the name of the model, else of the codelet; 1: of " \
      "the codelet.")                                                          \
    X(HETEROPRIO_INTERVAL, "STARPU_AUTOHETEROPRIO_ORDERING_INTERVAL", INT,     \
      "32", "Pushes after which heteroprio orders its groups again.")          \
    X(GRAPH_TEST_DESCENDANTS, "STARPU_SCHED_GRAPH_TEST_DESCENDANTS", BOOL, "0",  \
      "1: graph_test orders tasks by how many wait for them; 0: by depth.")    \
    X(ROBUST_QUANTILE, "ORRERY_ROBUST_QUANTILE", DOUBLE, "0.9",                  \
      "The policy robust decides by the time that this share of a kernel's "   \
      "runs stays below.")                                                     \
    X(NTASKS_THRESHOLD, "STARPU_NTASKS_THRESHOLD", INT, "",                    \
      "Tasks in a queue below the decision of a modular policy. Unset: 2, "    \
      "30 where lengths decide; 0: any number.")                               \
    X(EXP_LEN_THRESHOLD, "STARPU_EXP_LEN_THRESHOLD", SPAN, "1000000000",       \
      "Microseconds of tasks in it.")                                          \
    X(SCHED_SORTED_ABOVE, "STARPU_SCHED_SORTED_ABOVE", BOOL, "",               \
      "Queue above the decision of a modular policy: 1 by priority, 0 in the " \
      "order of push. Unset: that of the policy.")                             \
    X(SCHED_SORTED_BELOW, "STARPU_SCHED_SORTED_BELOW", BOOL, "",               \
      "The same for the queues below it.")                                     \
    X(SCHED_READY, "STARPU_SCHED_READY", BOOL, "",                             \
      "1: from these, workers take first what has most data in their memory; " \
      "0: the first task. Unset: as the policy does.")                         \
    X(RAND_SEED, "STARPU_RAND_SEED", INT, "",                                  \
      "Seed of random decisions. Unset: 0 in simulation, else the time.")      \
    X(MIN_WORKERSIZE, "STARPU_MIN_WORKERSIZE", INT, "",                        \
      "Fewest workers of a combined worker that pheft and peager make. "       \
      "Unset: 2.")                                                             \
    X(MAX_WORKERSIZE, "STARPU_MAX_WORKERSIZE", INT, "",                        \
      "Most workers of one. Unset: all CPU workers.")                          \
    X(SYNTHESIZE_ARITY_COMBINED_WORKER,                                        \
      "STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER", INT, "2",                     \
      "Parts of the machine that are more than this are gathered to so many "  \
      "combined workers.")                                                     \
    X(WORKER_TREE, "STARPU_WORKER_TREE", BOOL, "0",                            \
      "1: the collection of a context's workers is `starpu_worker_tree`, "      \
      "which an application's policy walks from each to the nearest one; 0: "  \
      "what the policy asks for.")                                             \
    X(SINGLE_COMBINED_WORKER, "STARPU_SINGLE_COMBINED_WORKER", BOOL, "0",      \
      "1: parallel tasks run one at a time; each combined worker has the "     \
      "first CPU worker.")                                                     \
    X(LIMIT_MAX_SUBMITTED_TASKS, "STARPU_LIMIT_MAX_SUBMITTED_TASKS", INT, "",  \
      "Submitting waits while more tasks are unfinished, if "                  \
      "`STARPU_LIMIT_MIN_SUBMITTED_TASKS` is set too.")                        \
    X(LIMIT_MIN_SUBMITTED_TASKS, "STARPU_LIMIT_MIN_SUBMITTED_TASKS", INT, "",  \
      "Submitting goes on when that many tasks are unfinished.")

#define ORR_CONFIG_DEBUGGING(X)                                                \
    X(DISABLE_KERNELS, "STARPU_DISABLE_KERNELS", BOOL, "0",                    \
      "1: the functions of codelets are not called; all else happens.")        \
    X(CATCH_SIGNALS, "STARPU_CATCH_SIGNALS", BOOL, "1",                        \
      "0: SIGINT, SIGTERM and SIGHUP end a run without its trace and its "     \
      "record, a simulation without its report as well; directories made for " \
      "disks stay.")                                                           \
    X(PROF_TOOL, "STARPU_PROF_TOOL", STRING, "",                               \
      "File of a profiler's library: starpu_profiling_tool.h.")                \
    X(WATCHDOG_TIMEOUT, "STARPU_WATCHDOG_TIMEOUT", SPAN, "0",                  \
      "Microseconds of real time after which it is said that no task has "     \
      "ended, if some are submitted or the first thread waits; 0: never.")     \
    X(WATCHDOG_DELAY, "STARPU_WATCHDOG_DELAY", SPAN, "0",                      \
      "Microseconds that come before the first such time.")                    \
    X(WATCHDOG_CRASH, "STARPU_WATCHDOG_CRASH", BOOL, "0",                      \
      "1: the program is aborted then, for a debugger; so it is where all wait " \
      "for each other in a process without other threads "                     \
      "(`ORRERY_STALL_TIMEOUT`).")                                             \
    X(TASK_BREAK_ON_PUSH, "STARPU_TASK_BREAK_ON_PUSH", INT, "",                \
      "Number of a task (`starpu_task_get_job_id`): SIGTRAP is raised when "   \
      "it is handed to the policy.")                                           \
    X(TASK_BREAK_ON_SCHED, "STARPU_TASK_BREAK_ON_SCHED", INT, "",              \
      "The same when the policy decides: `starpu_sched_task_break`.")          \
    X(TASK_BREAK_ON_POP, "STARPU_TASK_BREAK_ON_POP", INT, "",                  \
      "The same when a worker gets it.")                                       \
    X(TASK_BREAK_ON_EXEC, "STARPU_TASK_BREAK_ON_EXEC", INT, "",                \
      "The same before its kernel starts.")

#define ORR_CONFIG_MODELS(X)                                                   \
    X(CALIBRATE, "STARPU_CALIBRATE", INT, "0",                                 \
      "0: use the models, 1: feed them as well, running all worker types and " \
      "implementations that lack samples, 2: discard and measure them again.") \
    X(BUS_CALIBRATE, "STARPU_BUS_CALIBRATE", BOOL, "0",                        \
      "1: the links between the real machine's memory nodes are measured "     \
      "anew; 0: only if there are no measures of this machine yet. "           \
      "Real machines only.")                                                   \
    X(CALIBRATE_MINIMUM, "STARPU_CALIBRATE_MINIMUM", INT, "10",                \
      "Samples after which a model is believed; 0 counts as 1.")               \
    X(CALIBRATE_ON, "ORRERY_CALIBRATE_ON", STRING, "",                         \
      "A kind of workers, such as `opencl`: tasks that they can execute are "  \
      "executed by them only, so that their models get samples even where "    \
      "others are faster. `orrery calibrate kernels` sets it.")                \
    X(MODELS_FIXED, "ORRERY_MODELS_FIXED", BOOL, "0",                          \
      "1: no model is measured, not even one that lacks samples, and none is " \
      "written. `orrery validate` sets it.")                                   \
    X(HISTORY_MAX_ERROR, "STARPU_HISTORY_MAX_ERROR", INT, "50",                \
      "Per cent by which a sample may differ before it counts as an "          \
      "outlier.")                                                              \
    X(EXPECTED_TRANSFER_TIME_WRITEBACK,                                        \
      "STARPU_EXPECTED_TRANSFER_TIME_WRITEBACK", BOOL, "0",                    \
      "1: estimates include the write-back of data that a task writes.")       \
    X(PERF_MODEL_DIR, "STARPU_PERF_MODEL_DIR", STRING, "",                     \
      "First directory in which models are looked for, and to which new ones " \
      "go.")                                                                   \
    X(PERF_MODEL_PATH, "STARPU_PERF_MODEL_PATH", STRING, "",                   \
      "Further directories of models, separated by `:` or `,`.")               \
    X(HOMOGENEOUS_CPU, "STARPU_PERF_MODEL_HOMOGENEOUS_CPU", BOOL, "1",         \
      "1: all CPU workers share one model.")                                   \
    X(HOMOGENEOUS_CUDA, "STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", BOOL, "0",       \
      "1: all CUDA devices share one model.")                                  \
    X(HOMOGENEOUS_OPENCL, "STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL", BOOL, "0",   \
      "1: all OpenCL devices share one model.")                                \
    X(HOMOGENEOUS_HIP, "STARPU_PERF_MODEL_HOMOGENEOUS_HIP", BOOL, "0",         \
      "1: all HIP devices share one model.")                                   \
    X(HOSTNAME, "STARPU_HOSTNAME", STRING, "",                                 \
      "Host name under which models are kept. Unset: the machine's.")          \
    X(STARPU_HOME, "STARPU_HOME", STRING, "",                                  \
      "Directory in which `.starpu/sampling` lies; the first that is set of "  \
      "this and the five below counts.")                                       \
    X(XDG_CACHE_HOME, "XDG_CACHE_HOME", STRING, "", "As above.")               \
    X(HOME, "HOME", STRING, "", "As above.")                                   \
    X(TMPDIR, "TMPDIR", STRING, "", "As above.")                               \
    X(TEMP, "TEMP", STRING, "", "As above.")                                   \
    X(TMP, "TMP", STRING, "", "As above; without any, `/tmp`.")

#define ORR_CONFIG_MEMORY(X)                                                    \
    X(DISK_SWAP, "STARPU_DISK_SWAP", STRING, "",                                \
      "Directory that is a disk from the beginning: data go there for which "   \
      "main memory has no room.")                                               \
    X(DISK_SWAP_BACKEND, "STARPU_DISK_SWAP_BACKEND", STRING, "unistd",          \
      "How: `stdio`, `unistd`, `unistd_o_direct`, past the system's cache, or " \
      "`hdf5`.")                                                                \
    X(DISK_SWAP_SIZE, "STARPU_DISK_SWAP_SIZE", MIB, "",                         \
      "MiB that may be used there. Unset: no limit.")                           \
    X(LIMIT_CPU_MEM, "STARPU_LIMIT_CPU_MEM", MIB, "",                           \
      "MiB of main memory that data may take; of several NUMA nodes each has "  \
      "an equal part. Unset: what a control group leaves, what each NUMA node " \
      "has, or no limit.")                                                      \
    X(LIMIT_CPU_NUMA_MEM, "STARPU_LIMIT_CPU_NUMA_MEM", DEVICE_MIB, "",          \
      "The same per NUMA node, and goes before it; "                            \
      "`STARPU_LIMIT_CPU_NUMA_<i>_MEM` limits the one that the system numbers " \
      "i.")                                                                     \
    X(LIMIT_CUDA_MEM, "STARPU_LIMIT_CUDA_MEM", DEVICE_MIB, "",                  \
      "MiB that data may take on each CUDA device; "                            \
      "`STARPU_LIMIT_CUDA_<i>_MEM` limits device i alone, and goes before it "  \
      "(StarPU: after it). Unset: 90 % of its memory.")                         \
    X(LIMIT_HIP_MEM, "STARPU_LIMIT_HIP_MEM", DEVICE_MIB, "",                    \
      "The same on each HIP device, and `STARPU_LIMIT_HIP_<i>_MEM`.")           \
    X(LIMIT_OPENCL_MEM, "STARPU_LIMIT_OPENCL_MEM", DEVICE_MIB, "",              \
      "Likewise for OpenCL devices, with `STARPU_LIMIT_OPENCL_<i>_MEM`.")       \
    X(SYNC_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_COPY", BOOL, "0",               \
      "1: who starts a copy to or from a device waits until it has ended. "     \
      "The next ones: of one kind of device only.")                             \
    X(SYNC_CUDA_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY", BOOL, "0",     \
      "Likewise for CUDA devices.")                                             \
    X(SYNC_HIP_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_HIP_COPY", BOOL, "0",       \
      "Likewise for HIP devices.")                                              \
    X(SYNC_OPENCL_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY", BOOL,      \
      "0", "Likewise for OpenCL devices.")                                      \
    X(SYNC_MAX_FPGA_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_MAX_FPGA_COPY", BOOL,  \
      "0", "Likewise for FPGAs.")                                               \
    X(SYNC_MPI_MS_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_MPI_MS_COPY", BOOL,      \
      "0", "Likewise for MPI slaves.")                                          \
    X(SYNC_TCPIP_MS_COPIES, "STARPU_DISABLE_ASYNCHRONOUS_TCPIP_MS_COPY", BOOL,  \
      "0", "Likewise for TCP/IP slaves.")                                       \
    X(DISABLE_PINNING, "STARPU_DISABLE_PINNING", BOOL, "0",                     \
      "1: no main memory is pinned for devices, that of `starpu_malloc` "       \
      "neither: simulated, that takes no time.")                                \
    X(MINIMUM_AVAILABLE_MEM, "STARPU_MINIMUM_AVAILABLE_MEM", PERCENT, "0",      \
      "Per cent of a limited memory that are to be free: when there is less, "  \
      "data leave as prefetches make them, before somebody waits. 0: none.")    \
    X(TARGET_AVAILABLE_MEM, "STARPU_TARGET_AVAILABLE_MEM", PERCENT, "0",        \
      "Per cent up to which they do; at least the minimum.")                    \
    X(MINIMUM_CLEAN_BUFFERS, "STARPU_MINIMUM_CLEAN_BUFFERS", PERCENT, "0",      \
      "Per cent of the data on a node with limited memory that are to have "    \
      "their value elsewhere as well: when less do, those that have been "      \
      "there for longest are written back while links are idle. 0: none "       \
      "(StarPU: 5).")                                                           \
    X(TARGET_CLEAN_BUFFERS, "STARPU_TARGET_CLEAN_BUFFERS", PERCENT, "0",        \
      "Per cent up to which they are; at least the minimum (StarPU: 10).")      \
    X(EVICTION, "ORRERY_EVICTION", STRING, "nextuse",                           \
      "What leaves a memory node that is full. `nextuse`: what no submitted "   \
      "task needs, then what is needed latest, by the policy's queues and the " \
      "order of submission (memaware: what was not used for longest); "         \
      "prefetches wait for memory and take only what "                          \
      "nobody needs. `starpu`: what was not used for longest; prefetches wait " \
      "and may take what no queued task was promised. `lru`: the same, but "    \
      "prefetches take only what nobody will use and do not wait.")

#define ORR_CONFIG_SIMULATION(X)                                                 \
    X(MACHINE, "ORRERY_MACHINE", STRING, "",                                     \
      "Machine to simulate: a name or a file; for a program of several ranks "   \
      "a cluster, such as `16*h100-pcie-4 + ib 200Gb/s`. Unset: the real one.")  \
    X(SET, "ORRERY_SET", STRING, "",                                             \
      "What-if edits of the simulated machine, such as `cuda.count = 8`, "       \
      "separated by `;`: docs/WHAT_IF.md.")                                      \
    X(POWERS, "ORRERY_POWERS", STRING, "",                                       \
      "What parts of the simulated machine draw, in the place of what it "       \
      "states, for policies that weigh energy: `MAIN idle=350W busy=9W; "        \
      "CUDA0 idle=60W busy=350W`. The option `--costs` of commands sets "        \
      "it: docs/ENERGY.md.")                                                     \
    X(DEVICES, "ORRERY_DEVICES", STRING, "program",                              \
      "`program`: `starpu_conf` and the `where` of codelets say which "          \
      "devices of a simulated machine are used; `all`: a kernel runs "           \
      "wherever it has a time, and all devices work that the environment "       \
      "leaves (`STARPU_NCUDA` and the like).")                                   \
    X(LIMIT_BANDWIDTH, "STARPU_LIMIT_BANDWIDTH", INT, "",                        \
      "MB/s that all links of the simulated machine have, before "               \
      "`ORRERY_SET` changes them; as `bus.bandwidth = 1000MBps` there. "         \
      "Unset or 0: what the machine says.")                                      \
    X(SIM_KERNELS, "ORRERY_SIM_KERNELS", STRING, "skip",                         \
      "`skip`: simulated kernels only take their time; `run`: the CPU "          \
      "version of each kernel is run on real memory.")                           \
    X(SIM_MPI_VALUES, "ORRERY_SIM_MPI_VALUES", INT, "",                          \
      "Bytes up to which messages that simulated ranks send by calls of MPI "    \
      "itself have their values moved. Longer ones take their time and leave "   \
      "the receiver's memory as it is: for programs that do not look at "        \
      "these. Unset: all are moved.")                                            \
    X(SIM_PREFIX, "ORRERY_SIM_PREFIX", BOOL, "0",                                \
      "1: before each line that a simulated rank writes to standard output "     \
      "stands `rank 3: `, its number; the lines come whole, in the order of "    \
      "virtual time. As `orrery run --prefix`.")                                 \
    X(SIM_NETWORK, "ORRERY_SIM_NETWORK", STRING, "",                             \
      "How simulated copies share links: `fluid`, Orrery's own model, or "       \
      "`simgrid`, which gives the same dates and takes longer. Unset: "          \
      "`fluid`, unless the machine sets an option that only SimGrid has.")       \
    X(SIM_CONTEXTS, "ORRERY_SIM_CONTEXTS", STRING, "fibers",                     \
      "What workers and threads of a simulation run on: `fibers`, or `actors` "  \
      "of SimGrid, which give the same run and take longer: sim/README.md.")     \
    X(SIM_NOISE, "ORRERY_SIM_NOISE", STRING, "",                                 \
      "How the lengths of simulated kernels vary. `measured`: as much as those " \
      "that were measured; a share, such as `0.02` or `2%`: by this standard "   \
      "deviation. Unset: every run of a kernel takes what is expected.")         \
    X(SIM_SEED, "ORRERY_SIM_SEED", INT, "0",                                     \
      "Which of the possible runs that is: the same number, the same lengths.")  \
    X(SIM_DRAW, "ORRERY_SIM_DRAW", INT, "0",                                     \
      "Which of the machines that the errors of models allow is simulated: "     \
      "derived and interpolated times are off by as much as they may be, alike " \
      "for a kernel on a kind of device, and so are figures of links, memories " \
      "and costs that were not measured. 0: they are as expected. "              \
      "`orrery compare --draws` sets it.")                                       \
    X(ASSUME, "ORRERY_ASSUME", STRING, "",                                       \
      "Times of kernels without figures, such as `kernel[init] on cuda = "       \
      "50us`, separated by `;`, or `@FILE`: docs/ASSUME.md.")                    \
    X(DEFAULT_MODELS, "ORRERY_DEFAULT_MODELS", BOOL, "1",                        \
      "0: codelets without model have no times. Else those of a calibration "    \
      "(`STARPU_CALIBRATE=1`) are kept under their name, in the model "          \
      "`NAME~default`, and used where that is: docs/DEFAULT_MODELS.md.")         \
    X(SIM_FOLD, "ORRERY_SIM_FOLD", BOOL, "0",                                    \
      "1: in simulation every large allocation of `starpu_malloc` is folded, "   \
      "as with `STARPU_MALLOC_SIMULATION_FOLDED`.")                              \
    X(STALL_TIMEOUT, "ORRERY_STALL_TIMEOUT", SPAN, "10",                         \
      "Seconds of the real machine in which nothing goes on, although tasks "    \
      "are submitted or a call waits, after which it is said once what they "    \
      "wait for; at once if no other thread could change that; 0: never.")       \
    X(SIM_WATCHDOG, "ORRERY_SIM_WATCHDOG", SPAN, "20",                           \
      "Seconds after which a program that blocks outside virtual time is "       \
      "reported; 0: never.")                                                     \
    X(CLOCK, "ORRERY_CLOCK", STRING, "",                                         \
      "`virtual`: clocks of the C library tell a simulated program virtual "     \
      "time. Set by `orrery run --clock`, which preloads what reads it: "        \
      "docs/CLOCK.md. Unset: real time.")                                        \
    X(SUBMIT_COST, "STARPU_SIMGRID_TASK_SUBMIT_COST", BOOL, "1",                 \
      "1: a submission takes virtual time.")                                     \
    X(PUSH_COST, "STARPU_SIMGRID_TASK_PUSH_COST", BOOL, "1",                     \
      "1: entering the scheduler takes virtual time.")                           \
    X(FETCH_COST, "STARPU_SIMGRID_FETCHING_INPUT_COST", BOOL, "1",               \
      "1: asking for the data of a task takes virtual time.")                    \
    X(MALLOC_COST, "STARPU_SIMGRID_CUDA_MALLOC_COST", BOOL, "1",                 \
      "1: device allocations and pinned memory take virtual time.")              \
    X(QUEUE_COST, "STARPU_SIMGRID_CUDA_QUEUE_COST", BOOL, "1",                   \
      "1: handing over kernels and copies takes virtual time.")                  \
    X(TRANSFER_COST, "STARPU_SIMGRID_TRANSFER_COST", BOOL, "1",                  \
      "1: copies take virtual time.")                                            \
    X(SIMGRID, "STARPU_SIMGRID", BOOL, "0",                                      \
      "Guard of StarPU's scripts; ignored with a notice, since one library "     \
      "runs and simulates.")                                                     \
    X(PLATFORM_DIR, "ORRERY_PLATFORM_DIR", STRING, "",                           \
      "Directory of the machine catalogue. Unset: that of the build tree, or "   \
      "the installed one.")                                                      \
    X(MODULE_DIR, "ORRERY_MODULE_DIR", STRING, "",                               \
      "Directory of the modules `sim.so`, `packed.so`, `bound.so`, "             \
      "`python.so` and `replay.so`. Unset: beside the library.")

#define ORR_CONFIG_OUTPUT(X)                                                    \
    X(SILENT, "STARPU_SILENT", BOOL, "0",                                       \
      "1: nothing but errors is printed on stderr.")                            \
    X(TRACE, "ORRERY_TRACE", STRING, "",                                        \
      "File to which a trace of the run is written, in the format that its "    \
      "extension names: `.json`, `.csv`, `.dot`, `.rec`, else Pajé: "          \
      "docs/TRACES.md. Unset: none.")                                           \
    X(REPORT, "ORRERY_REPORT", STRING, "",                                      \
      "File to which a report of the run is written as JSON. Unset: none.")     \
    X(GRAPH, "ORRERY_GRAPH", STRING, "",                                        \
      "File to which the graph of tasks that were run is written, for "         \
      "lower bounds: docs/GRAPH.md. Unset: none.")                              \
    X(SOURCE_LINES, "ORRERY_SOURCE_LINES", BOOL, "0",                           \
      "1: traces, and what is said of tasks that wait, name where in the "      \
      "program each task was submitted: docs/DEBUG.md, Source lines. Set by "   \
      "`orrery explain`, `report`, `watch` and `trace`, and by "                \
      "`record --lines`.")                                                      \
    X(LINKS, "ORRERY_LINKS", STRING, "",                                        \
      "How pages and `.dot` files link to these lines: `vscode`, `vscodium`, "  \
      "`zed`, `idea`, `textmate`, `file`, or an address with `{file}` and "     \
      "`{line}`, as of `orrery report --links`. Unset: no links.")              \
    X(STF_DOT, "ORRERY_STF_DOT", STRING, "",                                    \
      "File to which a program on `orrery/stf.hpp` writes the graph of its "    \
      "tasks, for Graphviz, when a context ends: docs/STF.md. Unset: none.")    \
    X(RECORD, "ORRERY_RECORD", STRING, "",                                      \
      "File to which the calls of the application are written, for `orrery "    \
      "replay`: docs/RECORD.md. Unset: none.")                                  \
    X(REPLAY_TIMES, "ORRERY_REPLAY_TIMES", STRING, "",                          \
      "`record`: kernels of a replay take the times that its record has, "      \
      "whatever the machine; `models`: never. Unset: if the machine is that "   \
      "of the record.")                                                         \
    X(OPENMP_LOG, "ORRERY_OPENMP_LOG", STRING, "",                              \
      "Where a program that uses OpenMP, and not the library, leaves what it "  \
      "does: the beginning of the file's name, behind which come a point and "  \
      "the process. Set by `orrery record`, which preloads what reads it: "     \
      "docs/OPENMP_PROGRAMS.md. Unset: nowhere. Real machines only.")           \
    X(OPENMP_CLOCK, "ORRERY_OPENMP_CLOCK", STRING, "",                          \
      "`cpu`: the times of such a program are those of the processor. Set by "  \
      "`orrery record --cpu-time`. Unset: unless it has more threads than "     \
      "processors, time that passes. Real machines only.")                      \
    X(RECORD_TIMES, "ORRERY_RECORD_TIMES", BOOL, "1",                           \
      "0: a record of a real run is without the times of its kernels. "         \
      "Real machines only.")                                                    \
    X(BREAK_AT, "ORRERY_BREAK_AT", STRING, "",                                  \
      "Virtual time (`19.0s`, `250ms`, `30us`) at which a simulation tells "    \
      "what each worker does and what each task waits for; then a debugger "    \
      "is entered, if there is one. Unset: none.")                              \
    X(DEBUGGER, "ORRERY_DEBUGGER", INT, "",                                     \
      "The file descriptor by which `orrery debug` talks with a simulated "     \
      "run. Set by that command: docs/DEBUG.md. Unset: there is no debugger.")  \
    X(WATCH, "ORRERY_WATCH", INT, "",                                           \
      "The file descriptor of the memory by which `orrery watch` sees how far " \
      "a run is. Set by that command: docs/WATCH.md. Unset: nobody watches.")   \
    X(PROGRESS, "ORRERY_PROGRESS", SPAN, "0",                                   \
      "A line on stderr each so many seconds of real time: how far the run "    \
      "has come. On a terminal it is written over, else a last one comes at "   \
      "the end. 0: none.")                                                      \
    X(TASK_PROGRESS, "STARPU_TASK_PROGRESS", BOOL, "0",                         \
      "1: as `ORRERY_PROGRESS` each second, unless that is set.")               \
    X(CHECK_BOUNDS, "ORRERY_CHECK_BOUNDS", BOOL, "0",                           \
      "1: for tests. At the end of a simulated run lower bounds are computed "  \
      "from its own durations; a makespan below one of them ends the "          \
      "program with an error.")                                                 \
    X(PROFILING, "STARPU_PROFILING", BOOL, "0",                                 \
      "Profiling is on from the beginning: "                                    \
      "`starpu_profiling_status_set`.")                                         \
    X(CODELET_PROFILING, "STARPU_CODELET_PROFILING", BOOL, "1",                 \
      "Tasks are counted per codelet and worker, in the codelet: "              \
      "`starpu_codelet_display_stats`.")                                        \
    X(BUS_STATS, "STARPU_BUS_STATS", BOOL, "0",                                 \
      "1: at the end, what each link between memory nodes carried is "          \
      "printed.")                                                               \
    X(BUS_STATS_FILE, "STARPU_BUS_STATS_FILE", STRING, "",                      \
      "File to which `STARPU_BUS_STATS` prints. Unset: stderr.")                \
    X(WORKER_STATS, "STARPU_WORKER_STATS", BOOL, "0",                           \
      "1: at the end, how many tasks each worker executed is printed, and "     \
      "while profiling is on its times: "                                       \
      "`starpu_profiling_worker_helper_display_summary`.")                      \
    X(WORKER_STATS_FILE, "STARPU_WORKER_STATS_FILE", STRING, "",                \
      "File to which `STARPU_WORKER_STATS` prints. Unset: stderr.")             \
    X(IDLE_FILE, "STARPU_IDLE_FILE", STRING, "",                                \
      "File to which, at the end, a line is added: how many ms all workers "    \
      "together had no task, while profiling was on. Unset: none.")             \
    X(ENABLE_STATS, "STARPU_ENABLE_STATS", STRING, "",                          \
      "Set to anything: at the end, how many data tasks found on each memory "  \
      "node, how many they lacked, and the allocations there are printed.")     \
    X(STATS, "STARPU_STATS", BOOL, "1",                                         \
      "0: `STARPU_ENABLE_STATS` prints nothing.")                               \
    X(MEMORY_STATS, "STARPU_MEMORY_STATS", BOOL, "0",                           \
      "1: at the end, memory nodes and the data that are still registered "     \
      "are printed: `starpu_data_display_memory_stats`.")                       \
    X(MAX_MEMORY_USE, "STARPU_MAX_MEMORY_USE", BOOL, "0",                       \
      "1: at the end, how many data were registered at once, and how much of "  \
      "each memory node was used, at most, is printed.")

#define ORR_CONFIG_OPENMP(X)                                                    \
    X(OMP_NUM_THREADS, "OMP_NUM_THREADS", STRING, "",                           \
      "Threads of parallel regions, perhaps a number per level such as `4,2`. " \
      "Unset: the CPU workers.")                                                \
    X(OMP_SCHEDULE, "OMP_SCHEDULE", STRING, "",                                 \
      "Schedule of loops that leave it open, such as `dynamic,4`; without a "   \
      "chunk, that is 1, of `static` one block per thread. Unset: `static`.")   \
    X(OMP_MAX_ACTIVE_LEVELS, "OMP_MAX_ACTIVE_LEVELS", STRING, "",               \
      "Regions in each other that have several threads. Unset: 1.")             \
    X(OMP_NESTED, "OMP_NESTED", STRING, "",                                     \
      "`true`: so have regions in regions, if `OMP_MAX_ACTIVE_LEVELS` is "      \
      "unset or 1.")                                                            \
    X(OMP_THREAD_LIMIT, "OMP_THREAD_LIMIT", STRING, "",                         \
      "Most threads of all regions together. Unset: no limit.")                 \
    X(OMP_WAIT_POLICY, "OMP_WAIT_POLICY", STRING, "",                           \
      "`passive`: threads that wait give up their processor at once; else "     \
      "they look for some microseconds before.")                                \
    X(OMP_STACKSIZE, "OMP_STACKSIZE", STRING, "",                               \
      "Stack that tasks need, such as `4M`. Workers' stacks are as large, or "  \
      "as the system's limit (`ulimit -s`) where that is more. The main "       \
      "thread's, which is thread 0 of its regions, is the system's.")           \
    X(OMP_DISPLAY_ENV, "OMP_DISPLAY_ENV", STRING, "",                           \
      "`true` or `verbose`: these settings are printed when OpenMP starts.")    \
    X(OMP_CANCELLATION, "OMP_CANCELLATION", STRING, "",                         \
      "`true`: programs that compilers have translated can cancel regions, "    \
      "loops and taskgroups.")                                                  \
    X(OMP_DYNAMIC, "OMP_DYNAMIC", STRING, "",                                   \
      "`true`: regions have no more threads than there are CPU workers "        \
      "without one. Unset: as many as they were asked for.")                    \
    X(OMP_PROC_BIND, "OMP_PROC_BIND", STRING, "",                               \
      "What `starpu_omp_get_proc_bind` says; `STARPU_WORKERS_CPUID` binds.")    \
    X(OMP_PLACES, "OMP_PLACES", STRING, "",                                     \
      "Places such as `cores` or `{0,1},{2,3}`, which "                         \
      "`starpu_omp_get_num_places` counts; nothing is bound by them.")          \
    X(OMP_DEFAULT_DEVICE, "OMP_DEFAULT_DEVICE", STRING, "",                     \
      "What `starpu_omp_get_default_device` says at first. Unset: 0.")          \
    X(OMP_MAX_TASK_PRIORITY, "OMP_MAX_TASK_PRIORITY", STRING, "",               \
      "What `starpu_omp_get_max_task_priority` says. Unset: 0.")

#define ORR_CONFIG_MPI(X)                                                      \
    X(MPI_CACHE, "STARPU_MPI_CACHE", BOOL, "1",                                \
      "0: `starpu_mpi_task_insert` remembers not which ranks have a value, "   \
      "so that it is sent for each task that reads it: "                       \
      "`starpu_mpi_cache_set`.")                                               \
    X(MPI_CACHE_STATS, "STARPU_MPI_CACHE_STATS", BOOL, "0",                    \
      "1: a line is printed for each value that a rank receives into its "     \
      "cache, or drops.")                                                      \
    X(MPI_COOP_SENDS, "STARPU_MPI_COOP_SENDS", BOOL, "1",                      \
      "0: a value that goes to several ranks is sent to each of them by its "  \
      "owner, not along a tree of them: `starpu_mpi_coop_sends_set_use`.")     \
    X(MPI_PRIORITIES, "STARPU_MPI_PRIORITIES", BOOL, "1",                      \
      "0: all messages have priority 0.")                                      \
    X(MPI_REDUX_ARITY_THRESHOLD, "STARPU_MPI_REDUX_ARITY_THRESHOLD", SIGNED,   \
      "1024",                                                                  \
      "Reductions over ranks that nobody ends by `starpu_mpi_redux_data` go "  \
      "along a binary tree for data of at least so many bytes, else all "      \
      "contributions go to the owner at once; negative: always the latter.")   \
    X(MPI_STATS, "STARPU_MPI_STATS", BOOL, "0",                                \
      "1: at `starpu_mpi_shutdown` each rank prints how many bytes it has "    \
      "sent to each other one: `starpu_mpi_comm_stats_enable`.")               \
    X(COMM_STATS, "STARPU_COMM_STATS", BOOL, "0",                              \
      "Older spelling of `STARPU_MPI_STATS`.")                                 \
    X(MPI_THREAD_CPUID, "STARPU_MPI_THREAD_CPUID", SIGNED, "-1",               \
      "Processor, by position, of the thread that makes the calls of MPI; "    \
      "then none is left to it beside. -1: the next that no worker has, if "   \
      "there is one and the rank shares its processors with no other. Real "   \
      "machines only.")                                                        \
    X(MPI_THREAD_COREID, "STARPU_MPI_THREAD_COREID", SIGNED, "-1",             \
      "The same of a core; `STARPU_MPI_THREAD_CPUID` goes before it. Real "    \
      "machines only.")                                                        \
    X(MPI_NOBIND, "STARPU_MPI_NOBIND", BOOL, "0",                              \
      "1: that thread is not bound to a processor.")                           \
    X(MPI_THREAD_MULTIPLE_SEND, "STARPU_MPI_THREAD_MULTIPLE_SEND", BOOL, "0",  \
      "1: `starpu_mpi_init` with `initialize_mpi` asks for "                   \
      "`MPI_THREAD_MULTIPLE`, so that the application may call MPI at any "    \
      "time. Messages are sent by one thread all the same.")                   \
    X(MPI_FAKE_SIZE, "STARPU_MPI_FAKE_SIZE", INT, "",                          \
      "One process does what one rank of so many would: communicators have "   \
      "this size, and no message is sent or received. Meant for "              \
      "`STARPU_DISABLE_KERNELS`.")                                             \
    X(MPI_FAKE_RANK, "STARPU_MPI_FAKE_RANK", INT, "",                          \
      "The number of that rank. Unset: 0.")                                    \
    X(MPI_CHECK, "ORRERY_MPI_CHECK", BOOL, "0",                                \
      "1: ranks compare what they insert, and the program ends at the first "  \
      "insertion that differs, which is named. Not for programs that leave "   \
      "out insertions on purpose.")                                            \
    X(MPI_TIMEOUT, "ORRERY_MPI_TIMEOUT", INT, "60",                            \
      "Seconds without a message moved or a task ended after which a rank "    \
      "that waits says what for. It goes on waiting. 0: never.")               \
    X(MPI_WARN_CORES, "ORRERY_MPI_WARN_CORES", BOOL, "1",                      \
      "0: at the begin, nothing is said of ranks on one host that have more "  \
      "workers than processors, or theirs on the same ones.")                  \
    X(MPI_WARN_DEVICES, "ORRERY_MPI_WARN_DEVICES", BOOL, "1",                  \
      "0: likewise of ranks on one host that use the same GPU.")               \
    X(MPI_WARN_GRAIN, "ORRERY_MPI_WARN_GRAIN", BOOL, "1",                      \
      "0: at the end, nothing is said of tasks that took less time than "      \
      "their messages.")                                                       \
    X(MPI_CHECKPOINT_DIR, "ORRERY_MPI_CHECKPOINT_DIR", STRING, "",             \
      "Folder, made if need be, that all ranks see: checkpoints are written "  \
      "to it as well, for `orrery_mpi_checkpoint_restore`. Unset: they are "   \
      "in memory alone.")                                                      \
    X(MPI_LB, "STARPU_MPI_LB", STRING, "",                                     \
      "Policy of `starpu_mpi_lb_init`, whatever the program says: `heat`, "    \
      "or `help`, which prints the names and uses none.")                      \
    X(LB_HEAT_SLEEP_THRESHOLD, "LB_HEAT_SLEEP_THRESHOLD", INT, "2000",         \
      "Ranks compare their times each time when the number of an inserted "    \
      "task (`STARPU_TAG_ONLY`) has grown by so many.")                        \
    X(LB_HEAT_WAKEUP_RATIO, "LB_HEAT_WAKEUP_RATIO", DOUBLE, "0.5",             \
      "Before that, submission waits until this part of the tasks that the "   \
      "rank has since is done.")                                               \
    X(LB_HEAT_TIME_THRESHOLD, "LB_HEAT_TIME_THRESHOLD", INT, "2000",           \
      "A rank gives data away if it took so many microseconds longer than "    \
      "its fastest neighbour.")

/* Variables of StarPU that change nothing here, and why: who sets one to more than 0 is
 * told at starpu_init.
 *
 * X(name, reason) */
#define ORR_CONFIG_VAIN(X)                                                     \
    X("STARPU_NMAX_FPGA",                                                      \
      "there are no FPGAs")                                                    \
    X("STARPU_WORKERS_MAX_FPGAID",                                             \
      "there are no FPGAs")                                                    \
    X("STARPU_NMPI_MS",                                                        \
      "there are no slaves: all workers are in this process")                  \
    X("STARPU_NTCPIP_MS",                                                      \
      "there are no slaves: all workers are in this process")                  \
    X("STARPU_TCPIP_MS_SLAVES",                                                \
      "there are no slaves: all workers are in this process")                  \
    X("STARPU_SINK",                                                           \
      "there are no slaves: all workers are in this process")                  \
    X("STARPU_LOGFILENAME",                                                    \
      "messages go to stderr, there is no other log")                          \
    X("STARPU_FXT_TRACE",                                                      \
      "`ORRERY_TRACE` names the file of a trace; FxT is not used")             \
    X("STARPU_FXT_PREFIX",                                                     \
      "`ORRERY_TRACE` names the file of a trace, with its folder")             \
    X("STARPU_FXT_SUFFIX",                                                     \
      "`ORRERY_TRACE` names the file of a trace")                              \
    X("STARPU_FXT_EVENTS",                                                     \
      "traces have all events that their format knows")                        \
    X("STARPU_TRACE_BUFFER_SIZE",                                              \
      "traces are written while the program runs")                             \
    X("STARPU_GENERATE_TRACE",                                                 \
      "`ORRERY_TRACE` writes a trace that needs no conversion")                \
    X("STARPU_GENERATE_TRACE_OPTIONS",                                         \
      "`ORRERY_TRACE` writes a trace that needs no conversion")                \
    X("STARPU_PROF_PAPI_EVENTS",                                               \
      "PAPI is not used: tasks have no counts of its events")                  \
    X("STARPU_ENERGY_PROFILING",                                               \
      "joules are counted whenever profiling is on and something tells them")  \
    X("STARPU_MALLOC_SIMULATION_FOLD",                                         \
      "what is folded shares one piece of memory, whose size is fixed")        \
    X("STARPU_SIMGRID_SCHED_COST",                                             \
      "the decisions of policies take no virtual time, so that a run can be"   \
      " repeated")                                                             \
    X("STARPU_GLOBAL_ARBITER",                                                 \
      "tasks that commute or have no order claim all their data at once or "   \
      "none, with an arbiter or without")                                      \
    X("STARPU_LIMIT_MAX_FPGA_MEM", "there are no FPGAs")                       \
    X("STARPU_SUBALLOCATOR",                                                   \
      "memory of devices is allocated as it is asked for; "                    \
      "`STARPU_SIMGRID_CUDA_MALLOC_COST` says what that costs")                \
    X("STARPU_ENABLE_MAP",                                                     \
      "memory is mapped where the application asks for it, between main "      \
      "memories")                                                              \
    X("STARPU_DATA_LOCALITY_ENFORCE",                                          \
      "codelets name the node of each buffer: `specific_nodes`")               \
    X("STARPU_CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES",                            \
      "a worker allocates on its own device only")                            \
    X("STARPU_AUTOHETEROPRIO_TIME_ESTIMATION_POLICY",                          \
      "heteroprio knows lengths from what it has measured, there is no "       \
      "other way")                                                             \
    X("STARPU_MPI_NDETACHED_SEND",                                             \
      "sends are handed to MPI when their data are ready; MPI and the "        \
      "receiver say how many it takes")                                        \
    X("STARPU_MPI_NREADY_PROCESS",                                             \
      "all messages that are ready are looked at in each round")               \
    X("STARPU_MPI_MEM_THROTTLE",                                               \
      "values that come early stay with their sender when memory is short")    \
    X("STARPU_MPI_EARLYDATA_ALLOCATE",                                         \
      "values that come early go into memory that is reserved for them, if "   \
      "there is some")                                                         \
    X("STARPU_MPI_RECV_WAIT_FINALIZE",                                         \
      "it is of NewMadeleine, which is not used")                              \
    X("STARPU_MPI_DRIVER_CALL_FREQUENCY",                                      \
      "the thread of MPI runs no tasks")                                       \
    X("STARPU_MPI_DRIVER_TASK_FREQUENCY",                                      \
      "the thread of MPI runs no tasks")                                       \
    X("STARPU_MPI_GPUDIRECT",                                                  \
      "messages are sent from main memory")                                    \
    X("STARPU_MPI_COMM",                                                       \
      "there is no build that tells of each message")                          \
    X("STARPU_MPI_DEBUG_LEVEL_MAX",                                            \
      "there is no build that tells of each message")                          \
    X("STARPU_MPI_DEBUG_LEVEL_MIN",                                            \
      "there is no build that tells of each message")                          \
    X("STARPU_MPI_TRACE_SYNC_CLOCKS",                                          \
      "traces of ranks are not joined")                                        \
    X("STARPU_MPI_MASTER_NODE",                                                \
      "there are no slaves: every rank runs the program")                      \
    X("STARPU_MPI_MS_MULTIPLE_THREAD",                                         \
      "there are no slaves: every rank runs the program")                      \
    X("STARPU_WINDOW_TIME_SIZE",                                               \
      "there is no hypervisor that would watch how far ahead a context's "     \
      "tasks are planned: `simulate_push_task` is not called")

#define ORR_CONFIG_TABLE(X)                                                    \
    ORR_CONFIG_WORKERS(X)                                                      \
    ORR_CONFIG_SCHEDULING(X)                                                   \
    ORR_CONFIG_HETEROPRIO(X)                                                   \
    ORR_CONFIG_MODELS(X)                                                       \
    ORR_CONFIG_MEMORY(X)                                                       \
    ORR_CONFIG_SIMULATION(X)                                                   \
    ORR_CONFIG_OUTPUT(X)                                                       \
    ORR_CONFIG_DEBUGGING(X)                                                    \
    ORR_CONFIG_OPENMP(X)                                                       \
    ORR_CONFIG_MPI(X)

enum orr_config_id {
#define ORR_CONFIG_ID(id, name, type, initial, sentence) ORR_CFG_##id,
    ORR_CONFIG_TABLE(ORR_CONFIG_ID)
#undef ORR_CONFIG_ID
        ORR_CFG_COUNT
};

struct orr_config_value {
    bool set; /* came from the environment */
    union {
        int number;
        double real;
        char *text; /* owned if set, else a constant or NULL */
    };
    int *devices; /* of DEVICE_MIB: owned, ORR_CONFIG_DEVICES limits in MiB, -1: none;
                   * NULL: no device has one of its own */
};

/* A variable of one device, "…_<i>_MEM", is looked for up to this number. */
#define ORR_CONFIG_DEVICES 32

struct orr_config {
    struct orr_config_value values[ORR_CFG_COUNT];
};

/* Reads the environment; a variable that is set to nothing counts as unset.
 * Errors: -EINVAL with a message that names variable and value, -ENOMEM;
 * *config is then untouched. The caller ends it with orr_config_done. */
int orr_config_read(struct orr_config *config, struct orr_error *err);

/* A value that goes before the environment's; "": as if that had none. */
struct orr_setting {
    enum orr_config_id id;
    const char *text;
};

/* Reads `text` as the environment's would be; "": as if it were unset. Errors as
 * above; the value is then untouched. */
int orr_config_replace(struct orr_config *config, enum orr_config_id id,
                       const char *text, struct orr_error *err);

/* orr_config_read, with settings that go before the environment's, up to one without text;
 * NULL: there are none. */
int orr_config_read_with(struct orr_config *config, const struct orr_setting *settings,
                         struct orr_error *err);

/* Frees what the object owns; zeroed ones are allowed. */
void orr_config_done(struct orr_config *config);

/* Whether the value came from the environment. */
bool orr_config_is_set(const struct orr_config *config, enum orr_config_id id);

/* Values of variables that are integers; -1: unset and without default. */
int orr_config_int(const struct orr_config *config, enum orr_config_id id);
bool orr_config_bool(const struct orr_config *config, enum orr_config_id id);

/* NaN: unset and without default. */
double orr_config_double(const struct orr_config *config,
                         enum orr_config_id id);

/* Lent; NULL: unset and without default. */
const char *orr_config_string(const struct orr_config *config,
                              enum orr_config_id id);

/* The limit for one device in MiB: that of its own, else `id` itself, a DEVICE_MIB or
 * MIB; -1: none. */
int orr_config_device_mib(const struct orr_config *config,
                          enum orr_config_id id, int devid);

/* The variable's name, for messages. */
const char *orr_config_name(enum orr_config_id id);

/* Calls tell for each variable that is set and changes nothing. */
void orr_config_each_vain(void (*tell)(const char *name, const char *reason));

/* A variable as it is documented; constants. */
struct orr_config_row {
    const char *name, *type; /* "integer", "0 or 1", "MiB", "number", "text" */
    const char *initial;     /* as it would be written; "": unset */
    const char *sentence;    /* Markdown; of one without effect: why */
    bool vain;               /* it has no effect */
};

/* The variable at place `i`, those without effect at the end; false: there are no
 * more. */
bool orr_config_row(unsigned i, struct orr_config_row *ret);

/* Whether `name` is the limit of one device. */
bool orr_config_is_device_limit(const char *name);

/* Writes the table as Markdown: docs/ENVIRONMENT.md. */
void orr_config_print(FILE *out);
