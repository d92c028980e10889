/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/ompt_api.h - the part of OpenMP's tools interface (OMPT, OpenMP 5.0,
 * chapter 4) that ompt.c uses, declared here so that no compiler's header is needed.
 * The numbers are those of the standard.
 */
#pragma once

#include <stdint.h>

union ompt_data {
    uint64_t value;
    void *ptr;
};

struct ompt_dependence {
    union ompt_data variable;
    int type;
};

enum { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 };

enum {
    OMPT_CALLBACK_PARALLEL_BEGIN = 3,
    OMPT_CALLBACK_PARALLEL_END = 4,
    OMPT_CALLBACK_TASK_CREATE = 5,
    OMPT_CALLBACK_TASK_SCHEDULE = 6,
    OMPT_CALLBACK_IMPLICIT_TASK = 7,
    OMPT_CALLBACK_TARGET = 8,
    OMPT_CALLBACK_SYNC_REGION_WAIT = 16,
    OMPT_CALLBACK_MUTEX_RELEASED = 17,
    OMPT_CALLBACK_DEPENDENCES = 18,
    OMPT_CALLBACK_WORK = 20,
    OMPT_CALLBACK_SYNC_REGION = 23,
    OMPT_CALLBACK_MUTEX_ACQUIRE = 26,
    OMPT_CALLBACK_MUTEX_ACQUIRED = 27,
    OMPT_CALLBACK_CANCEL = 30,
};

enum {
    OMPT_TASK_INITIAL = 1,
    OMPT_TASK_EXPLICIT = 4,
    OMPT_TASK_TASKWAIT = 0x10,
    OMPT_TASK_UNDEFERRED = 0x08000000,
    OMPT_TASK_FINAL = 0x20000000,
};

enum { OMPT_TASK_COMPLETE = 1, OMPT_TASK_CANCEL = 3, OMPT_TASK_DETACH = 4, OMPT_TASK_TASKWAIT_COMPLETE = 8 };

enum {
    OMPT_SYNC_BARRIER = 1,
    OMPT_SYNC_BARRIER_IMPLEMENTATION = 4,
    OMPT_SYNC_TASKWAIT = 5,
    OMPT_SYNC_TASKGROUP = 6,
    OMPT_SYNC_REDUCTION = 7,
    OMPT_SYNC_BARRIER_WORKSHARE = 8,
    OMPT_SYNC_BARRIER_TEAMS = 10,
};

enum { OMPT_MUTEX_ORDERED = 7 };

enum { OMPT_WORK_LOOP = 1, OMPT_WORK_SECTIONS = 2, OMPT_WORK_LOOP_STATIC = 10, OMPT_WORK_LOOP_OTHER = 13 };

enum {
    OMPT_DEPEND_IN = 1,
    OMPT_DEPEND_OUT = 2,
    OMPT_DEPEND_INOUT = 3,
    OMPT_DEPEND_MUTEXINOUTSET = 4,
    OMPT_DEPEND_INOUTSET = 7,
    OMPT_DEPEND_OUT_ALL = 34,
    OMPT_DEPEND_INOUT_ALL = 35,
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int which, ompt_function callback);

struct ompt_start_result {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
    void (*finalize)(union ompt_data *tool);
    union ompt_data tool;
};
