/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/python/objects.h - what a policy in Python sees: the machine, its workers,
 * tasks and what they access. Objects hash by number, so that sets of them have the
 * same order in every run. With the interpreter's lock held.
 */
#pragma once

#include <Python.h>

#include "core/sched/script.h"

struct orr_script {
    const struct orr_script_host *host; /* lent */
    PyTypeObject *machine_type, *worker_type, *task_type,
        *access_type;          /* owned */
    PyObject *machine;         /* owned */
    PyObject *policy, *folder; /* owned */
    PyObject *push, *pop, *started,
        *ended; /* bound methods, owned; the last two may be
                                             * NULL */
    PyObject
        *given; /* owned: tasks that were given to a worker, by number; NULL: no
                      * hook wants them */
    int wake;   /* enum of script.h: after a push that names no worker */
    bool interruptible; /* orr_py_interrupts_on */
    const char *path; /* lent, until it has run */
};

struct orr_py_worker {
    PyObject ob_base;
    struct orr_script *script;
    unsigned id;
};

struct orr_py_task {
    PyObject ob_base;
    struct orr_script *script;
    struct orr_job *job; /* NULL: it is known no more */
    bool given;          /* to a worker */
    unsigned long long id;
    PyObject *name; /* owned */
    long priority;
};

/* Makes the types and the machine. -1 with an exception. */
int orr_py_objects_new(struct orr_script *script);
void orr_py_objects_done(struct orr_script *script);

/* A new reference; NULL with an exception. */
PyObject *orr_py_task_new(struct orr_script *script, struct orr_job *job);

/* Lent. */
PyObject *orr_py_worker(struct orr_script *script, unsigned id);
