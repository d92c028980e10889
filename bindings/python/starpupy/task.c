/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/task.c - see task.h. On the real machine a task is
 * delivered where its function ends, with the GIL that it has anyway; in a
 * simulation when its time has passed, before those that depend on it.
 */
#include "task.h"

#include <stdlib.h>
#include <string.h>

/* -- what a task holds ---------------------------------------------------- */

/* The last one of this thread that is not submitted yet. */
static _Thread_local struct spy_task *building; /* [owner] */

void spy_task_leave(struct spy_task *task)
{
    for (size_t i = 0; i < task->nhandles; i++)
        spy_handle_claim(task->handles[i], false);
    building = task->outer;
}

bool spy_task_claims(const struct spy_handle *handle)
{
    for (const struct spy_task *task = building; task; task = task->outer)
        for (size_t i = 0; i < task->nhandles; i++)
            if (task->handles[i] == handle)
                return true;
    return false;
}

struct spy_task *spy_task_new(void)
{
    struct spy_task *task = calloc(1, sizeof(*task));

    if (!task)
        return (void *)PyErr_NoMemory();
    task->handles = task->few_handles;
    task->modes = task->few_modes;
    task->room = STARPU_NMAXBUFS;
    task->outer = building;
    building = task;
    return task;
}

static void task_drop_references(struct spy_task *task)
{
    for (size_t i = 0; i < task->nhandles; i++)
        Py_DECREF(task->handles[i]);
    task->nhandles = 0;
    Py_CLEAR(task->func);
    Py_CLEAR(task->args);
    Py_CLEAR(task->kwargs);
    Py_CLEAR(task->future);
    Py_CLEAR(task->result);
    Py_CLEAR(task->value);
    Py_CLEAR(task->traceback);
    Py_CLEAR(task->file);
}

/* Without the GIL, of one that was delivered. */
static void free_rest(struct spy_task *task)
{
    if (task->handles != task->few_handles) {
        free(task->handles);
        free(task->modes);
    }
    free(task);
}

void spy_task_free(struct spy_task *task)
{
    if (!task->submitted)
        spy_task_leave(task);
    task_drop_references(task);
    free_rest(task);
}

static int task_grow_handles(struct spy_task *task)
{
    size_t room = 2 * task->room;
    struct spy_handle **handles = malloc(room * sizeof(*handles));
    enum starpu_data_access_mode *modes = malloc(room * sizeof(*modes));

    if (!handles || !modes) {
        free(handles);
        free(modes);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(handles, task->handles, task->nhandles * sizeof(*handles));
    memcpy(modes, task->modes, task->nhandles * sizeof(*modes));
    if (task->handles != task->few_handles) {
        free(task->handles);
        free(task->modes);
    }
    task->handles = handles;
    task->modes = modes;
    task->room = room;
    return 0;
}

int spy_task_add(struct spy_task *task, struct spy_handle *handle, int mode)
{
    if (handle->constant && (mode & STARPU_W)) {
        spy_error("%s object can only be read: its mode must be R",
                  Py_TYPE(handle->object)->tp_name);
        return -1;
    }
    for (size_t i = 0; i < task->nhandles; i++) {
        if (task->handles[i] != handle)
            continue;
        task->modes[i] |= (enum starpu_data_access_mode)mode;
        return 0;
    }
    if (task->nhandles == task->room && task_grow_handles(task) < 0)
        return -1;
    spy_handle_claim(handle, true);
    task->handles[task->nhandles] =
        (struct spy_handle *)Py_NewRef((PyObject *)handle);
    task->modes[task->nhandles++] = (enum starpu_data_access_mode)mode;
    return 0;
}

size_t spy_task_bytes(const struct starpu_task *task)
{
    const struct spy_task *self = task->cl_arg;

    return self ? self->bytes : 0;
}

/* -- the call ------------------------------------------------------------- */

static void fail_as(struct spy_task *task, enum spy_future_state outcome,
                    PyObject *value, PyObject *traceback)
{
    task->outcome = outcome;
    task->value = Py_XNewRef(value);
    task->traceback = Py_XNewRef(traceback);
}

/* Takes the exception that is set. */
static void task_take_exception(struct spy_task *task)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        (void)PyException_SetTraceback(value, traceback);
    fail_as(task, SPY_FAILED, value, traceback);
    if (spy.simulated &&
        PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt))
        spy_interrupt(Py_NewRef(value));
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* What the function gets for an argument; NULL if that failed. */
static PyObject *task_argument_value(struct spy_task *task, PyObject *given,
                                     void *buffers[])
{
    if (PyObject_TypeCheck(given, &spy_future_type)) {
        struct spy_future *future = (void *)given;

        if (future->state == SPY_DONE)
            return Py_NewRef(future->value);
        future->seen = true;
        fail_as(task, future->state, future->value, future->traceback);
        return NULL;
    }
    if (!spy_is_handle(given))
        return Py_NewRef(given);
    for (size_t i = 0; i < task->nhandles; i++) {
        struct spy_handle *handle = task->handles[i];

        if ((PyObject *)handle != given)
            continue;
        if (handle->failure) {
            fail_as(task, SPY_FAILED, handle->failure, NULL);
            return NULL;
        }
        return spy_handle_value(handle, buffers[i]);
    }
    return Py_NewRef(given);
}

static PyObject *task_make_arguments(struct spy_task *task, void *buffers[])
{
    Py_ssize_t n = PyTuple_GET_SIZE(task->args);
    PyObject *args = PyTuple_New(n);

    for (Py_ssize_t i = 0; args && i < n; i++) {
        PyObject *value =
            task_argument_value(task, PyTuple_GET_ITEM(task->args, i), buffers);

        if (value)
            PyTuple_SET_ITEM(args, i, value);
        else
            Py_CLEAR(args);
    }
    return args;
}

static PyObject *task_make_keywords(struct spy_task *task, void *buffers[])
{
    PyObject *kwargs = PyDict_New(), *name, *given;
    Py_ssize_t at = 0;

    while (kwargs && PyDict_Next(task->kwargs, &at, &name, &given)) {
        PyObject *value = task_argument_value(task, given, buffers);

        if (!value || PyDict_SetItem(kwargs, name, value) < 0)
            Py_CLEAR(kwargs);
        Py_XDECREF(value);
    }
    return kwargs;
}

/* Writes the value into the first argument, which has elements, or makes it that. */
static int task_store_value(struct spy_task *task, PyObject *args)
{
    PyObject *first = PyTuple_GET_ITEM(task->args, 0), *all;
    struct spy_handle *handle = (void *)first;
    int ret;

    if (!spy_is_handle(first))
        return 0;
    if (!handle->home && !handle->automatic)
        return spy_register_replace(handle, task->value);
    if (task->value == PyTuple_GET_ITEM(args, 0))
        return 0;
    all = PySlice_New(NULL, NULL, NULL);
    ret = all ? PyObject_SetItem(PyTuple_GET_ITEM(args, 0), all, task->value)
              : -1;
    Py_XDECREF(all);
    return ret;
}

static void task_call_function(struct spy_task *task, PyObject *args,
                               PyObject *kwargs)
{
    if (task->future)
        task->future->state = SPY_RUNNING;
    task->value = PyObject_Call(task->func, args, kwargs);
    if (!task->value) {
        task_take_exception(task);
        return;
    }
    task->outcome = SPY_DONE;
    if (task->into_first && task_store_value(task, args) < 0) {
        Py_CLEAR(task->value);
        task_take_exception(task);
    }
}

/* The value of a handle is there for the tasks that come next. */
static void give_result(struct spy_task *task)
{
    struct spy_handle *result = task->result;

    if (!result)
        return;
    if (task->outcome == SPY_DONE)
        Py_XSETREF(result->object, Py_NewRef(task->value));
    else
        Py_XSETREF(result->failure, Py_XNewRef(task->value));
}

static void task_run_function(struct spy_task *task, void *buffers[])
{
    PyObject *args, *kwargs = NULL;

    if (task->future && task->future->state == SPY_CANCELLED) {
        task->outcome = SPY_CANCELLED;
        return;
    }
    if (!task->special) {
        task_call_function(task, task->args, task->kwargs);
    } else {
        args = task_make_arguments(task, buffers);
        if (args && task->kwargs)
            kwargs = task_make_keywords(task, buffers);
        if (args && (kwargs || !task->kwargs))
            task_call_function(task, args, kwargs);
        else if (task->outcome == SPY_PENDING)
            task_take_exception(task);
        else
            PyErr_Clear();
        Py_XDECREF(args);
        Py_XDECREF(kwargs);
    }
    give_result(task);
}

/* -- delivery ------------------------------------------------------------- */

static void task_report_unraisable(struct spy_task *task)
{
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(task->value)),
                  Py_NewRef(task->value), Py_XNewRef(task->traceback));
    PyErr_WriteUnraisable(task->func);
}

static void task_deliver(struct spy_task *task)
{
    struct spy_future *future = task->future;

    task->delivered = true;
    for (size_t i = 0; i < task->nhandles; i++)
        task->handles[i]->pending--;
    spy.unfinished--;
    if (future) {
        starpu_task_set_destroy(future->task);
        future->task = NULL;
        if (!spy_future_ended(future))
            spy_future_set(future, task->outcome, task->value, task->traceback);
    } else if (task->outcome == SPY_FAILED && !task->result) {
        task_report_unraisable(task);
    }
    task_drop_references(task);
    spy_wake_waiters();
}

/* The function was not called: a simulation that lets time pass only, or the
 * runtime could not run the task. */
static void do_without(struct spy_task *task)
{
    if (task->future && task->future->state == SPY_CANCELLED) {
        task->outcome = SPY_CANCELLED;
    } else if (spy.simulated && !spy.runs_kernels) {
        task->outcome = SPY_DONE;
        task->value = Py_NewRef(spy.placeholder);
    } else {
        spy_error("the task ended and its function was not called");
        task_take_exception(task);
    }
    give_result(task);
}

void spy_task_kernel(void *buffers[], void *arg)
{
    struct spy_task *task = arg;
    PyThreadState *state = spy_enter();

    task_run_function(task, buffers);
    if (!spy.simulated)
        task_deliver(task);
    spy_leave(state);
}

void spy_task_epilogue(void *arg)
{
    struct spy_task *task = arg;
    PyThreadState *state;

    if (!task->delivered) {
        state = spy_enter();
        spy.delivering = true;
        if (task->outcome == SPY_PENDING)
            do_without(task);
        task_deliver(task);
        spy.delivering = false;
        if (spy.simulated && PyErr_CheckSignals() < 0)
            spy_unraisable(NULL);
        spy_leave(state);
    }
    free_rest(task);
}
