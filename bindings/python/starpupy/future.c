/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/future.c - the future of a task: its state, its
 * value and the callers that wait for it. What concerns asyncio is in
 * starpu/_future.py, a class derived from this one.
 */
#include "starpupy.h"

#include <math.h>
#include <structmember.h>

struct spy_future *spy_future_new(PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)spy.future_type;
    struct spy_future *future = (void *)type->tp_alloc(type, 0);

    if (!future)
        return NULL;
    future->state = SPY_PENDING;
    future->name = Py_NewRef(name);
    return future;
}

/* -- delivery ------------------------------------------------------------- */

static void future_call_callbacks(struct spy_future *future)
{
    PyObject *callbacks = future->callbacks;

    future->callbacks = NULL;
    for (Py_ssize_t i = 0; callbacks && i < PyList_GET_SIZE(callbacks); i++) {
        PyObject *ret = PyObject_CallFunctionObjArgs(
            spy.call_back, future, PyList_GET_ITEM(callbacks, i), NULL);

        if (!ret)
            spy_unraisable((PyObject *)future);
        Py_XDECREF(ret);
    }
    Py_XDECREF(callbacks);
}

void spy_future_set(struct spy_future *future, enum spy_future_state state,
                    PyObject *value, PyObject *traceback)
{
    Py_INCREF(future);
    future->state = state;
    Py_XSETREF(future->value, Py_XNewRef(value));
    Py_XSETREF(future->traceback, Py_XNewRef(traceback));
    if (future->waiters) {
        (void)spy_wake(future->waiters);
        future->waiters = NULL;
    }
    future_call_callbacks(future);
    Py_DECREF(future);
}

void spy_future_raise(struct spy_future *future)
{
    future->seen = true;
    if (future->state == SPY_CANCELLED || !future->value) {
        PyErr_Format(spy.cancelled, "task %S was cancelled", future->name);
        return;
    }
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(future->value)),
                  Py_NewRef(future->value), Py_XNewRef(future->traceback));
}

/* -- methods -------------------------------------------------------------- */

static PyObject *future_done(struct spy_future *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(spy_future_ended(self));
}

static PyObject *future_cancelled(struct spy_future *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(self->state == SPY_CANCELLED);
}

static PyObject *future_running(struct spy_future *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(self->state == SPY_RUNNING);
}

/* Whether it has ended; sets the exception if not. */
static bool is_ready(const struct spy_future *self)
{
    if (spy_future_ended(self))
        return true;
    PyErr_Format(spy.unready,
                 "task %S has not ended: await the future, or call its wait(), "
                 "or starpu.task_wait_for_all(), first",
                 self->name);
    return false;
}

static PyObject *future_result(struct spy_future *self, PyObject *unused)
{
    (void)unused;
    if (!is_ready(self))
        return NULL;
    if (self->state == SPY_DONE)
        return Py_NewRef(self->value);
    spy_future_raise(self);
    return NULL;
}

static PyObject *future_exception(struct spy_future *self, PyObject *unused)
{
    (void)unused;
    if (!is_ready(self))
        return NULL;
    if (self->state == SPY_CANCELLED) {
        spy_future_raise(self);
        return NULL;
    }
    self->seen = true;
    return Py_NewRef(self->state == SPY_FAILED ? self->value : Py_None);
}

/* A future holds one waiter: of several threads that wait for it the first is
 * woken and wakes the next; the others wait for any task. */
static PyObject *future_wait(struct spy_future *self, PyObject *unused)
{
    (void)unused;
    if (!spy_future_ended(self) && !spy_may_call("Future.wait"))
        return NULL;
    while (!spy_future_ended(self)) {
        struct spy_waiter *waiter;
        int ret;

        if (self->waiters) {
            if (spy_wait_for_any(INFINITY) < 0)
                return NULL;
            continue;
        }
        waiter = spy_waiter_new();
        if (!waiter)
            return NULL;
        self->waiters = waiter;
        ret = spy_wait(waiter, INFINITY);
        if (self->waiters == waiter)
            self->waiters = NULL;
        spy_waiter_free(waiter);
        if (ret < 0 || spy_is_interrupted())
            return NULL;
    }
    return future_result(self, NULL);
}

/* The task stays in its place in the order; its function is not called. */
static PyObject *future_cancel(struct spy_future *self, PyObject *args)
{
    PyObject *message = NULL;

    if (!PyArg_ParseTuple(args, "|O:cancel", &message))
        return NULL;
    if (self->state != SPY_PENDING)
        Py_RETURN_FALSE;
    spy_future_set(self, SPY_CANCELLED, NULL, NULL);
    Py_RETURN_TRUE;
}

/* Returns False if it has ended: then the caller calls back itself. */
static PyObject *future_add_callback(struct spy_future *self, PyObject *entry)
{
    if (spy_future_ended(self))
        Py_RETURN_FALSE;
    if (!self->callbacks && !(self->callbacks = PyList_New(0)))
        return NULL;
    if (PyList_Append(self->callbacks, entry) < 0)
        return NULL;
    Py_RETURN_TRUE;
}

static PyObject *future_callbacks(struct spy_future *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->callbacks ? self->callbacks : Py_None);
}

static PyObject *future_repr(struct spy_future *self)
{
    static const char *const words[] = {"pending", "running", "finished",
                                        "finished", "cancelled"};

    if (self->state == SPY_DONE)
        return PyUnicode_FromFormat("<Future of %S finished result=%R>",
                                    self->name, self->value);
    if (self->state == SPY_FAILED)
        return PyUnicode_FromFormat("<Future of %S finished exception=%R>",
                                    self->name, self->value);
    return PyUnicode_FromFormat("<Future of %S %s>", self->name,
                                words[self->state]);
}

/* -- the type ------------------------------------------------------------- */

static int future_traverse(struct spy_future *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->value);
    Py_VISIT(self->traceback);
    Py_VISIT(self->callbacks);
    Py_VISIT(self->dict);
    return 0;
}

static int future_clear(struct spy_future *self)
{
    Py_CLEAR(self->value);
    Py_CLEAR(self->traceback);
    Py_CLEAR(self->callbacks);
    Py_CLEAR(self->dict);
    return 0;
}

/* Reports an exception that no caller asked for. */
static void future_finalize(struct spy_future *self)
{
    PyObject *type, *value, *traceback;

    if (self->state != SPY_FAILED || self->seen)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    spy_future_raise(self);
    PyErr_WriteUnraisable(self->name);
    PyErr_Restore(type, value, traceback);
}

static void future_dealloc(struct spy_future *self)
{
    if (PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0)
        return;
    PyObject_GC_UnTrack(self);
    if (self->weakrefs)
        PyObject_ClearWeakRefs((PyObject *)self);
    (void)future_clear(self);
    Py_CLEAR(self->name);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef methods[] = {
    {"done", (PyCFunction)future_done, METH_NOARGS,
     "Whether the task has ended, or was cancelled."},
    {"cancelled", (PyCFunction)future_cancelled, METH_NOARGS,
     "Whether it was cancelled."},
    {"running", (PyCFunction)future_running, METH_NOARGS,
     "Whether its function was called and has not returned."},
    {"result", (PyCFunction)future_result, METH_NOARGS,
     "What the function returned; raises what it raised.\n\n"
     "asyncio.InvalidStateError before the task has ended,\n"
     "asyncio.CancelledError if it was cancelled."},
    {"exception", (PyCFunction)future_exception, METH_NOARGS,
     "The exception that the function raised, or None."},
    {"wait", (PyCFunction)future_wait, METH_NOARGS,
     "Waits for the task without an event loop; returns result()."},
    {"cancel", (PyCFunction)future_cancel, METH_VARARGS,
     "Lets the task end without calling its function.\n\n"
     "Returns False if that was called already."},
    {"_add_callback", (PyCFunction)future_add_callback, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"name", T_OBJECT, offsetof(struct spy_future, name), READONLY,
     "The task's name."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"_callbacks", (getter)future_callbacks, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject spy_future_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "starpu.starpupy.Future",
    .tp_basicsize = sizeof(struct spy_future),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "The value that a task will have.",
    .tp_traverse = (traverseproc)future_traverse,
    .tp_clear = (inquiry)future_clear,
    .tp_dealloc = (destructor)future_dealloc,
    .tp_finalize = (destructor)future_finalize,
    .tp_repr = (reprfunc)future_repr,
    .tp_weaklistoffset = offsetof(struct spy_future, weakrefs),
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = properties,
};
