/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_fxt.h - marks of the application in the trace of a run. The trace is
 * the one that ORRERY_TRACE names, in the Pajé format; there are no FxT files,
 * so the functions that convert these are not declared. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>
#include <starpu_perfmodel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One executed task, as a conversion would list them. */
struct starpu_fxt_codelet_event {
    char symbol[2048];
    int workerid;
    char perfmodel_archname[256];
    uint32_t hash;
    /* Bytes. */
    size_t size;
    /* Milliseconds. */
    float time;
};

/* How the clocks of several MPI processes are aligned. */
struct starpu_fxt_mpi_offset {
    uint64_t local_time_start;
    int64_t offset_start;
    uint64_t local_time_end;
    int64_t offset_end;
    int nb_barriers;
};

/* The options of a conversion of FxT files. */
struct starpu_fxt_options {
    unsigned per_task_colour;
    unsigned no_events;
    unsigned no_counter;
    unsigned no_bus;
    unsigned no_flops;
    unsigned ninputfiles;
    unsigned no_smooth;
    unsigned no_acquire;
    unsigned memory_states;
    unsigned internal;
    unsigned label_deps;
    unsigned use_task_color;
    char *filenames[STARPU_FXT_MAX_FILES];
    char *out_paje_path;
    char *distrib_time_path;
    char *activity_path;
    char *sched_tasks_path;
    char *dag_path;
    char *tasks_path;
    char *data_path;
    char *papi_path;
    char *comms_path;
    char *number_events_path;
    char *anim_path;
    char *states_path;
    char *dir;
    char worker_names[STARPU_NMAXWORKERS][256];
    int nworkers;
    struct starpu_perfmodel_arch worker_archtypes[STARPU_NMAXWORKERS];
    char *file_prefix;
    struct starpu_fxt_mpi_offset file_offset;
    int file_rank;
    struct starpu_fxt_codelet_event **dumped_codelets;
    long dumped_codelets_count;
};

/* Whether this run records a trace. */
int starpu_fxt_is_enabled(void);

/* Without effect: the trace has all of the run, whatever marks are in it. */
void starpu_fxt_autostart_profiling(int autostart);
/* Marks where the part of interest begins: an event start_profiling. What is outside
 * of the part is in the trace as well. */
void starpu_fxt_start_profiling(void);
/* Marks where it ends: an event stop_profiling. */
void starpu_fxt_stop_profiling(void);

/* An event with a number, of the calling worker, or of the program. Without a trace:
 * nothing. */
void starpu_fxt_trace_user_event(unsigned long code);
/* An event of the program with a text, which is copied. Without a trace: nothing. */
void starpu_fxt_trace_user_event_string(const char *s);
/* The same: here no events are left out that this one could be kept from. */
void starpu_fxt_trace_user_meta_string(const char *s);

#ifdef __cplusplus
}
#endif
