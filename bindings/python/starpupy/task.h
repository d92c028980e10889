/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/task.h - a call of a function as a task: submit.c makes
 * it, task.c runs and delivers it.
 */
#pragma once

#include "starpupy.h"

struct spy_task {
    PyObject *func, *args, *kwargs; /* as the function is to be called, but for
                                     * futures and handles in them; owned */
    bool special;                   /* there are such */
    struct spy_future *future;      /* owned, or NULL */
    struct spy_handle *result;      /* where the value goes, owned, or NULL */
    bool into_first;             /* it goes into the first argument as well */
    struct spy_handle **handles; /* its data, owned, in the task's order */
    enum starpu_data_access_mode *modes;
    size_t nhandles, room;
    size_t bytes; /* of the other arguments */
    enum spy_future_state
        outcome;                 /* SPY_PENDING: the function was not called */
    PyObject *value, *traceback; /* of the outcome */
    /* where it was submitted, owned; NULL: nobody asks, or it is not known */
    PyObject *file;
    struct spy_task *outer; /* of this thread, that is being submitted, too */
    bool submitted;         /* its handles have it as pending, not as a claim */
    bool delivered;
    struct spy_handle *few_handles[STARPU_NMAXBUFS];
    enum starpu_data_access_mode few_modes[STARPU_NMAXBUFS];
};

struct spy_task *spy_task_new(void);

/* It lets its claims go: it is submitted, or will not be. */
void spy_task_leave(struct spy_task *task);

/* Frees one that was not submitted, or was delivered. */
void spy_task_free(struct spy_task *task);

/* The task uses the handle; once, however often that is added. -1 and an
 * exception. */
int spy_task_add(struct spy_task *task, struct spy_handle *handle, int mode);

/* What the runtime calls. */
void spy_task_kernel(void *buffers[], void *arg);
void spy_task_epilogue(void *arg);
