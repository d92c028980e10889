/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/handle.c - Handle: an object as data of the runtime.
 * An object with memory (the buffer protocol) is data where it lies, of as many
 * dimensions; any other one is data without memory, which order tasks. The object
 * keeps its buffer exported meanwhile, so that it cannot move.
 */
#include "starpupy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

/* -- the layout of memory ------------------------------------------------- */

static int object_refuse(PyObject *object, const char *why)
{
    spy_error(
        "%s object cannot be used by tasks where it lies: %s; hand over a "
        "contiguous copy of it",
        Py_TYPE(object)->tp_name, why);
    return -1;
}

/* The object's dimensions, the one with the closest neighbours first. */
static void sort_axes(const Py_buffer *view, int axis[])
{
    for (int i = 0; i < view->ndim; i++) {
        int at = i;

        /* The last dimension first, whose elements are adjacent in C's
         * order. */
        for (; at > 0; at--) {
            if (view->strides[axis[at - 1]] <=
                view->strides[view->ndim - 1 - i])
                break;
            axis[at] = axis[at - 1];
        }
        axis[at] = view->ndim - 1 - i;
    }
}

/* Fills nn and ldn as starpu_ndim_data_register wants them. */
static int handle_fill_layout(struct spy_handle *handle, uint32_t nn[],
                              uint32_t ldn[])
{
    const Py_buffer *view = &handle->view;
    Py_ssize_t room = view->itemsize;

    if (view->suboffsets)
        for (int i = 0; i < view->ndim; i++)
            if (view->suboffsets[i] >= 0)
                return object_refuse(view->obj, "its rows lie apart");
    sort_axes(view, handle->axis);
    for (int i = 0; i < view->ndim; i++) {
        Py_ssize_t length = view->shape[handle->axis[i]];
        Py_ssize_t stride = view->strides[handle->axis[i]];

        if (length == 1)
            stride = room;
        if (stride < room)
            return object_refuse(view->obj,
                                 "its elements overlap or are in reverse");
        if (stride % view->itemsize)
            return object_refuse(view->obj,
                                 "its elements lie at uneven distances");
        if (length > UINT32_MAX || stride / view->itemsize > UINT32_MAX)
            return object_refuse(view->obj,
                                 "it has 2^32 elements along a dimension");
        nn[i] = (uint32_t)length;
        ldn[i] = (uint32_t)(stride / view->itemsize);
        room = stride * length;
    }
    return 0;
}

/* The object's buffer with shape and strides: some types, those of ctypes among
 * them, give none of the latter, which memoryview makes up for. */
static int get_view(PyObject *object, Py_buffer *view)
{
    PyObject *whole;
    int ret;

    if (PyObject_GetBuffer(object, view, PyBUF_FULL_RO) < 0)
        return -1;
    if (view->ndim == 0 || (view->shape && view->strides))
        return 0;
    PyBuffer_Release(view);
    whole = PyMemoryView_FromObject(object);
    ret = whole ? PyObject_GetBuffer(whole, view, PyBUF_FULL_RO) : -1;
    Py_XDECREF(whole);
    return ret;
}

/* References must be counted: their bytes cannot be copied. */
static bool has_references(const Py_buffer *view)
{
    return view->format && strchr(view->format, 'O');
}

/* The dimensions that an object says to have, -1: it says nothing. */
static Py_ssize_t object_ndim(PyObject *object)
{
    PyObject *shape = PyObject_GetAttrString(object, "shape");
    Py_ssize_t n = shape && PyTuple_Check(shape) ? PyTuple_GET_SIZE(shape) : -1;

    Py_XDECREF(shape);
    PyErr_Clear();
    return n;
}

/* Whether the object has memory that tasks can use; that is then in the view. */
static bool object_has_memory(PyObject *object, Py_buffer *view)
{
    /* Scalars of numpy are values, even if they show their bytes, as dates do. */
    if (!PyObject_CheckBuffer(object) || object_ndim(object) == 0)
        return false;
    if (get_view(object, view) < 0) {
        PyErr_Clear();
        return false;
    }
    if (view->ndim > 0 && view->len > 0 && !has_references(view))
        return true;
    PyBuffer_Release(view);
    return false;
}

/* Whether tasks can change it all the same: an array whose type of elements has no
 * buffer, as numpy's dates, or references. */
static bool has_elements(PyObject *object)
{
    return object_ndim(object) > 0;
}

/* -- all of them ---------------------------------------------------------- */

static struct spy_handle *all;

static void link_in(struct spy_handle *handle)
{
    handle->next = all;
    handle->link = &all;
    if (all)
        all->link = &handle->next;
    all = handle;
}

static void link_out(struct spy_handle *handle)
{
    if (!handle->link)
        return;
    *handle->link = handle->next;
    if (handle->next)
        handle->next->link = handle->link;
    handle->link = NULL;
}

int spy_handles_end(void)
{
    int ret = 0;

    while (all && ret == 0) {
        struct spy_handle *handle = all;

        Py_INCREF(handle);
        spy_register_remove(handle);
        while (handle->nparts && handle->children)
            spy_handle_join(handle);
        ret = spy_handle_end(handle);
        Py_DECREF(handle);
    }
    return ret;
}

/* -- registration --------------------------------------------------------- */

struct spy_handle *spy_handle_new(void)
{
    PyTypeObject *type = (PyTypeObject *)spy.handle_type;
    struct spy_handle *handle = (void *)type->tp_alloc(type, 0);

    if (!handle)
        return NULL;
    starpu_void_data_register(&handle->data);
    link_in(handle);
    return handle;
}

static void register_memory(struct spy_handle *handle, uint32_t nn[],
                            uint32_t ldn[])
{
    starpu_ndim_data_register(
        &handle->data, STARPU_MAIN_RAM, (uintptr_t)handle->view.buf, ldn, nn,
        (size_t)handle->view.ndim, (size_t)handle->view.itemsize);
    handle->constant = handle->view.readonly;
    handle->home = handle->view.buf;
}

int spy_handle_register(struct spy_handle *handle, PyObject *object)
{
    uint32_t nn[PyBUF_MAX_NDIM], ldn[PyBUF_MAX_NDIM];

    int ret = -1;

    handle->object = Py_NewRef(object);
    handle->viewed = object_has_memory(object, &handle->view);
    if (handle->viewed && handle_fill_layout(handle, nn, ldn) < 0)
        goto release;
    ret = spy_register_add(handle);
    if (ret != 0)
        goto release;
    if (handle->viewed)
        register_memory(handle, nn, ldn);
    else
        starpu_void_data_register(&handle->data);
    link_in(handle);
    return 0;

release:
    if (handle->viewed)
        PyBuffer_Release(&handle->view);
    handle->viewed = false;
    Py_CLEAR(handle->object);
    return ret;
}

struct spy_handle *spy_handle_of(PyObject *object)
{
    struct spy_handle *handle;
    PyTypeObject *type = (PyTypeObject *)spy.handle_type;
    int ret;

    if (!PyObject_CheckBuffer(object))
        return NULL;
    handle = spy_handle_find(object);
    if (handle)
        return handle;
    spy_register_sweep(false);
    handle = (void *)type->tp_alloc(type, 0);
    if (!handle)
        return NULL;
    handle->automatic = true;
    if (object_has_memory(object, &handle->view)) {
        PyBuffer_Release(&handle->view);
    } else if (!has_elements(object)) {
        Py_DECREF(handle);
        return NULL;
    }
    ret = spy_handle_register(handle, object);
    if (ret != 0)
        Py_CLEAR(handle);
    if (ret > 0)
        return spy_handle_of(object);
    return handle; /* the reference is the register's */
}

int spy_handle_check(const struct spy_handle *handle, const char *call)
{
    if (!spy_may_call(call))
        return -1;
    if (handle->data && !handle->ending)
        return 0;
    spy_error("%s: the handle was unregistered; make another one: "
              "starpu.Handle(object)",
              call);
    return -1;
}

/* -- acquisition ---------------------------------------------------------- */

struct acquisition {
    starpu_data_handle_t data;
    struct spy_waiter *waiter;
};

/* Any thread, without the GIL. */
static void on_data_acquired(void *arg)
{
    struct acquisition *acquisition = arg;

    if (!spy_wake(acquisition->waiter))
        starpu_data_release(acquisition->data);
    free(acquisition);
}

static int begin_acquire(starpu_data_handle_t data, int mode,
                         struct spy_waiter *waiter)
{
    struct acquisition *acquisition = malloc(sizeof(*acquisition));
    PyThreadState *self;
    int ret;

    if (!acquisition) {
        PyErr_NoMemory();
        return -1;
    }
    *acquisition = (struct acquisition){data, waiter};
    self = spy_detach();
    ret = starpu_data_acquire_cb(data, (enum starpu_data_access_mode)mode,
                                 on_data_acquired, acquisition);
    spy_attach(self);
    if (ret == 0)
        return 0;
    free(acquisition);
    spy_error("the data cannot be acquired here: %s", strerror(-ret));
    return -1;
}

/* Waits for the data; -1 and an exception, a signal's too. */
static int handle_acquire_data(starpu_data_handle_t data, int mode)
{
    struct spy_waiter *waiter = spy_waiter_new();

    if (!waiter)
        return -1;
    if (begin_acquire(data, mode, waiter) < 0) {
        spy_waiter_free(waiter);
        return -1;
    }
    if (spy_wait(waiter, INFINITY) < 0) {
        if (!spy_give_up(waiter))
            starpu_data_release(data);
        return -1;
    }
    spy_waiter_free(waiter);
    return 0;
}

static int acquire_checked(struct spy_handle *self, int mode, const char *call)
{
    if (spy_handle_check(self, call) < 0)
        return -1;
    if (self->held) {
        spy_error("%s: the object is acquired already: release it first", call);
        return -1;
    }
    if (spy_in_task()) {
        spy_error(
            "%s: a task cannot wait for data: let the data be an argument "
            "of it",
            call);
        return -1;
    }
    if (self->constant && mode != STARPU_R) {
        spy_error("%s: the object can only be read: use mode='R'", call);
        return -1;
    }
    if (handle_acquire_data(self->data, mode) < 0)
        return -1;
    self->held = mode;
    spy.holds++;
    return 0;
}

static void handle_release_data(struct spy_handle *self)
{
    PyThreadState *state;

    self->held = 0;
    spy.holds--;
    state = spy_detach();
    starpu_data_release(self->data);
    spy_attach(state);
}

/* The object, or the exception of the task that was to make it. */
static PyObject *handle_object(const struct spy_handle *self)
{
    if (!self->failure)
        return Py_NewRef(self->object ? self->object : Py_None);
    PyErr_SetObject((PyObject *)Py_TYPE(self->failure), self->failure);
    return NULL;
}

static PyObject *handle_acquire(struct spy_handle *self, PyObject *args,
                                PyObject *kwargs)
{
    static char *names[] = {"mode", NULL};
    PyObject *text = NULL;
    int mode = STARPU_R;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:acquire", names, &text))
        return NULL;
    if (text && (mode = spy_mode(text)) < 0)
        return NULL;
    if (acquire_checked(self, mode, "acquire") < 0)
        return NULL;
    return handle_object(self);
}

static PyObject *handle_release(struct spy_handle *self, PyObject *unused)
{
    (void)unused;
    if (spy_handle_check(self, "release") < 0)
        return NULL;
    if (!self->held)
        return spy_error("release: the object is not acquired: acquire it "
                         "first");
    handle_release_data(self);
    Py_RETURN_NONE;
}

static PyObject *handle_get(struct spy_handle *self, PyObject *unused)
{
    (void)unused;
    if (self->held)
        return handle_object(self);
    if (acquire_checked(self, STARPU_R, "get") < 0)
        return NULL;
    handle_release_data(self);
    return handle_object(self);
}

/* -- its end -------------------------------------------------------------- */

static int may_end(const struct spy_handle *handle)
{
    if (handle->nparts) {
        spy_error("unregister: the object is partitioned: unpartition it "
                  "first");
        return -1;
    }
    if (handle->whole) {
        spy_error(
            "unregister: the handle is a part of another one: unpartition "
            "that");
        return -1;
    }
    return 0;
}

/* -- in turn with calls of other threads -- */

static _Thread_local size_t nclaims; /* [owner] */
static _Thread_local bool met; /* [owner] claims of others, without success */

void spy_handle_claim(struct spy_handle *handle, bool on)
{
    handle->claims += on ? 1 : -1;
    nclaims += on ? 1 : -1;
}

/* Lets another thread go on for a moment. -1 and a signal's exception. */
static int yield_gil_once(void)
{
    enum { MOMENT_US = 100 };

    Py_BEGIN_ALLOW_THREADS usleep(MOMENT_US);
    Py_END_ALLOW_THREADS return PyErr_CheckSignals();
}

bool spy_met_claims(void)
{
    bool again = met;

    met = false;
    if (!again)
        return false;
    PyErr_Clear();
    return yield_gil_once() == 0;
}

/* Until no other thread submits a call on it, or ends it. The latter waits for
 * tasks alone, the former perhaps for other data: a thread that has claims does
 * not wait for those of others, so that no circle of waits arises. */
static int await_others(const struct spy_handle *handle)
{
    while (handle->data && (handle->claims || handle->going)) {
        if (handle->claims && nclaims) {
            met = !spy_task_claims(handle);
            spy_error("memory of %s object is part of another object's of the "
                      "same call: use Handle.partition to let tasks work on "
                      "parts of an object",
                      handle->object ? Py_TYPE(handle->object)->tp_name : "an");
            return -1;
        }
        if (yield_gil_once() < 0)
            return -1;
    }
    return 0;
}

static int own_mode(const struct spy_handle *handle)
{
    return handle->constant ? STARPU_R : STARPU_RW;
}

/* Waits until its tasks have ended. It is in the register meanwhile: another
 * handle for its memory waits for them as well. */
static int handle_await_tasks(struct spy_handle *handle)
{
    int ret = await_others(handle);
    size_t uses;

    while (ret == 0 && handle->data && handle->pending && !handle->held) {
        uses = handle->uses;
        handle->going = true;
        ret = handle_acquire_data(handle->data, own_mode(handle));
        if (ret == 0) {
            PyThreadState *state = spy_detach();

            starpu_data_release(handle->data);
            spy_attach(state);
        }
        handle->going = false;
        if (ret == 0)
            ret = await_others(handle);
        if (handle->uses == uses)
            break;
    }
    return ret;
}

/* The wait is one that a signal ends. */
int spy_handle_end(struct spy_handle *handle)
{
    PyThreadState *state;

    if (handle->held)
        handle_release_data(handle);
    if (handle_acquire_data(handle->data, own_mode(handle)) < 0)
        return -1;
    state = spy_detach();
    starpu_data_release(handle->data);
    starpu_data_unregister(handle->data);
    spy_attach(state);
    handle->data = NULL;
    link_out(handle);
    if (handle->viewed)
        PyBuffer_Release(&handle->view);
    handle->viewed = false;
    return 0;
}

int spy_handle_unregister(struct spy_handle *handle, bool later)
{
    int ret = 0;

    if (may_end(handle) < 0)
        return -1;
    Py_INCREF(handle); /* the register's own goes */
    if (!(later && handle->pending) && (handle_await_tasks(handle) < 0 ||
                                        !handle->data || may_end(handle) < 0)) {
        /* Without data, another thread has ended it. */
        ret = handle->data || PyErr_Occurred() ? -1 : 0;
        Py_DECREF(handle);
        return ret;
    }
    spy_register_remove(handle);
    if (later && handle->pending) {
        spy_garbage_add(handle, false);
    } else {
        handle->going = true;
        ret = spy_handle_end(handle);
        handle->going = false;
    }
    if (ret < 0 && spy_register_add(handle) == 0 && handle->automatic)
        Py_INCREF(handle);
    Py_DECREF(handle);
    return ret;
}

static PyObject *handle_end_data(struct spy_handle *self, bool later,
                                 const char *call)
{
    if (spy_handle_check(self, call) < 0)
        return NULL;
    if (spy_in_task())
        return spy_error("%s: a task cannot end data: let the application do "
                         "it",
                         call);
    if (later && self->held)
        return spy_error("%s: the object is acquired: release it first", call);
    if (spy_handle_unregister(self, later) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *handle_unregister(struct spy_handle *self, PyObject *unused)
{
    (void)unused;
    return handle_end_data(self, false, "unregister");
}

static PyObject *handle_unregister_submit(struct spy_handle *self,
                                          PyObject *unused)
{
    (void)unused;
    return handle_end_data(self, true, "unregister_submit");
}

/* -- the type ------------------------------------------------------------- */

static int handle_init(struct spy_handle *self, PyObject *args,
                       PyObject *kwargs)
{
    static char *names[] = {"obj", NULL};
    PyObject *object;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Handle", names, &object))
        return -1;
    if (!spy_may_call("Handle"))
        return -1;
    if (self->data) {
        spy_error("Handle: the handle is registered already");
        return -1;
    }
    if (spy_is_handle(object)) {
        spy_error("Handle: the object is a handle already");
        return -1;
    }
    return spy_handle_register(self, object);
}

static int handle_traverse(struct spy_handle *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->object);
    Py_VISIT(self->failure);
    Py_VISIT(self->whole);
    Py_VISIT(self->children);
    /* Not the view's reference: an object whose memory is exported must not be
     * cleared. */
    return 0;
}

static int handle_clear(struct spy_handle *self)
{
    Py_CLEAR(self->failure);
    Py_CLEAR(self->children);
    if (!self->viewed) {
        spy_register_remove(self);
        Py_CLEAR(self->object);
    }
    return 0;
}

static void handle_dealloc(struct spy_handle *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weakrefs)
        PyObject_ClearWeakRefs((PyObject *)self);
    spy_register_remove(self);
    link_out(self);
    /* Of a part, the whole ends the data. */
    if (self->data && !self->whole && spy.users)
        spy_garbage_add(self, true);
    else if (self->viewed)
        PyBuffer_Release(&self->view);
    Py_CLEAR(self->object);
    Py_CLEAR(self->failure);
    Py_CLEAR(self->children);
    Py_CLEAR(self->whole);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *handle_repr(struct spy_handle *self)
{
    if (!self->data || self->ending)
        return PyUnicode_FromString("<Handle unregistered>");
    if (!self->object)
        return PyUnicode_FromString("<Handle of a value to come>");
    return PyUnicode_FromFormat("<Handle of %s object>",
                                Py_TYPE(self->object)->tp_name);
}

static PyObject *handle_of_object(PyObject *unused, PyObject *object)
{
    struct spy_handle *handle;

    (void)unused;
    if (spy_is_handle(object))
        return Py_NewRef(object);
    if (!spy_may_call("acquire"))
        return NULL;
    handle = spy_handle_of(object);
    if (!handle && PyErr_Occurred())
        return NULL;
    if (!handle)
        handle = spy_handle_find(object);
    if (!handle)
        return spy_error("%s object is not registered and has no memory of its "
                         "own: make a handle of it, starpu.Handle(object)",
                         Py_TYPE(object)->tp_name);
    return Py_NewRef((PyObject *)handle);
}

static PyMethodDef methods[] = {
    {"acquire", (PyCFunction)(void *)handle_acquire,
     METH_VARARGS | METH_KEYWORDS,
     "acquire(mode='R'): waits for the tasks that use the object, and returns it.\n\n"
     "Tasks submitted later wait until release()."},
    {"release", (PyCFunction)handle_release, METH_NOARGS,
     "Gives the object back to the tasks."},
    {"get", (PyCFunction)handle_get, METH_NOARGS,
     "Waits for the tasks that write the object, and returns it."},
    {"unregister", (PyCFunction)handle_unregister, METH_NOARGS,
     "Waits for all tasks that use the object, and ends the handle."},
    {"unregister_submit", (PyCFunction)handle_unregister_submit, METH_NOARGS,
     "Ends the handle; its data end with the tasks that use it."},
    {"_of", handle_of_object, METH_O | METH_STATIC, NULL},
    {"_partition", (PyCFunction)spy_handle_partition, METH_VARARGS, NULL},
    {"_unpartition", (PyCFunction)spy_handle_unpartition, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"_object", T_OBJECT, offsetof(struct spy_handle, object), READONLY, NULL},
    {"_whole", T_OBJECT, offsetof(struct spy_handle, whole), READONLY, NULL},
    {"_nparts", T_PYSSIZET, offsetof(struct spy_handle, nparts), READONLY,
     NULL},
    {"_has_memory", T_BOOL, offsetof(struct spy_handle, viewed), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject spy_handle_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "starpu.starpupy.Handle",
    .tp_basicsize = sizeof(struct spy_handle),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Handle(obj): an object as data that tasks use.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)handle_init,
    .tp_traverse = (traverseproc)handle_traverse,
    .tp_clear = (inquiry)handle_clear,
    .tp_dealloc = (destructor)handle_dealloc,
    .tp_repr = (reprfunc)handle_repr,
    .tp_weaklistoffset = offsetof(struct spy_handle, weakrefs),
    .tp_methods = methods,
    .tp_members = members,
};
