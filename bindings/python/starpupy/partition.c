/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/partition.c - parts of objects as handles of their own,
 * by the runtime's planned partitions; and what functions are given where data lie
 * elsewhere than the object.
 */
#include "starpupy.h"

#include <stdlib.h>
#include <string.h>

/* -- cutting -------------------------------------------------------------- */

typedef struct starpu_ndim_interface ndim_t;

/* handle->plan: the data's dimension, then where each part begins, and the end. */
static void partition_filter(void *father_interface, void *child_interface,
                             struct starpu_data_filter *f, unsigned id,
                             unsigned nparts)
{
    const ndim_t *father = father_interface;
    ndim_t *child = child_interface;
    const uint32_t *plan = f->filter_arg_ptr;
    size_t step, bytes = father->ndim * sizeof(uint32_t);

    (void)nparts;
    *child = (ndim_t){.id = father->id,
                      .ndim = father->ndim,
                      .elemsize = father->elemsize,
                      .allocsize = father->elemsize,
                      .nn = malloc(bytes),
                      .ldn = malloc(bytes)};
    STARPU_ASSERT_MSG(child->nn && child->ldn, "no memory for a part");
    memcpy(child->nn, father->nn, bytes);
    child->nn[plan[0]] = plan[id + 2] - plan[id + 1];
    for (size_t i = 0; i < child->ndim; i++) {
        child->ldn[i] = i ? child->ldn[i - 1] * child->nn[i - 1] : 1;
        child->allocsize *= child->nn[i];
    }
    if (!father->dev_handle)
        return;
    memcpy(child->ldn, father->ldn, bytes);
    step = (size_t)plan[id + 1] * father->ldn[plan[0]] * father->elemsize;
    child->ptr = father->ptr ? father->ptr + step : 0;
    child->dev_handle = father->dev_handle;
    child->offset = father->offset + step;
}

/* The dimension of the data that is the object's `dim`. */
static uint32_t data_axis(const struct spy_handle *handle, int dim)
{
    uint32_t i = 0;

    while (handle->axis[i] != dim)
        i++;
    return i;
}

/* Makes handle->plan from the object's dimension and the lengths of the parts. */
static int handle_make_partition(struct spy_handle *handle, int dim,
                                 PyObject *lengths)
{
    Py_ssize_t n = PyTuple_GET_SIZE(lengths);
    uint32_t *plan = calloc((size_t)n + 2, sizeof(*plan));

    if (!plan) {
        PyErr_NoMemory();
        return -1;
    }
    plan[0] = data_axis(handle, dim);
    for (Py_ssize_t i = 0; i < n; i++)
        plan[i + 2] = plan[i + 1] + (uint32_t)PyLong_AsUnsignedLong(
                                        PyTuple_GET_ITEM(lengths, i));
    handle->plan = plan;
    return 0;
}

/* -- the handles of the parts --------------------------------------------- */

static struct spy_handle *make_part(struct spy_handle *whole, size_t i,
                                    PyObject *object)
{
    PyTypeObject *type = (PyTypeObject *)spy.handle_type;
    struct spy_handle *part = (void *)type->tp_alloc(type, 0);

    if (!part)
        return NULL;
    part->object = Py_NewRef(object);
    part->whole = (struct spy_handle *)Py_NewRef((PyObject *)whole);
    part->data = whole->parts[i];
    part->constant = whole->constant;
    memcpy(part->axis, whole->axis, sizeof(part->axis));
    if (PyObject_GetBuffer(object, &part->view, PyBUF_FULL_RO) < 0) {
        Py_DECREF(part);
        return NULL;
    }
    part->viewed = true;
    part->home = part->view.buf;
    return part;
}

static PyObject *handle_make_parts(struct spy_handle *whole, PyObject *objects)
{
    PyObject *list = PyList_New((Py_ssize_t)whole->nparts);

    for (size_t i = 0; list && i < whole->nparts; i++) {
        struct spy_handle *part =
            make_part(whole, i, PyTuple_GET_ITEM(objects, i));

        if (part)
            PyList_SET_ITEM(list, (Py_ssize_t)i, (PyObject *)part);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* The handles of the parts are unregistered. */
static void end_parts(struct spy_handle *handle)
{
    for (Py_ssize_t i = 0;
         handle->children && i < PyList_GET_SIZE(handle->children); i++) {
        struct spy_handle *part = (void *)PyList_GET_ITEM(handle->children, i);

        part->data = NULL;
    }
    Py_CLEAR(handle->children);
}

void spy_handle_join(struct spy_handle *handle)
{
    PyThreadState *self = spy_detach();

    starpu_data_partition_clean(handle->data, (unsigned)handle->nparts,
                                handle->parts);
    spy_attach(self);
    end_parts(handle);
    free(handle->parts);
    free(handle->plan);
    handle->parts = NULL;
    handle->plan = NULL;
    handle->nparts = 0;
}

/* _partition(dim, lengths, objects): checked by Handle.partition. */
PyObject *spy_handle_partition(struct spy_handle *handle, PyObject *args)
{
    PyObject *lengths, *objects, *list;
    PyThreadState *self;
    struct starpu_data_filter filter = {.filter_func = partition_filter};
    int dim;

    if (!PyArg_ParseTuple(args, "iO!O!:_partition", &dim, &PyTuple_Type,
                          &lengths, &PyTuple_Type, &objects))
        return NULL;
    if (handle_make_partition(handle, dim, lengths) < 0)
        return NULL;
    handle->nparts = (size_t)PyTuple_GET_SIZE(lengths);
    handle->parts = calloc(handle->nparts, sizeof(handle->parts[0]));
    if (!handle->parts) {
        free(handle->plan);
        handle->plan = NULL;
        handle->nparts = 0;
        return PyErr_NoMemory();
    }
    filter.nchildren = (unsigned)handle->nparts;
    filter.filter_arg_ptr = handle->plan;
    self = spy_detach();
    starpu_data_partition_plan(handle->data, &filter, handle->parts);
    spy_attach(self);
    list = handle_make_parts(handle, objects);
    if (!list) {
        spy_handle_join(handle);
        return NULL;
    }
    handle->children = list;
    return PyList_GetSlice(list, 0, PyList_GET_SIZE(list));
}

PyObject *spy_handle_unpartition(struct spy_handle *handle, PyObject *ignored)
{
    (void)ignored;
    for (Py_ssize_t i = 0;
         handle->children && i < PyList_GET_SIZE(handle->children); i++) {
        struct spy_handle *part = (void *)PyList_GET_ITEM(handle->children, i);

        if (part->held || part->nparts)
            return spy_error("unpartition: part %zd is %s", i,
                             part->held ? "acquired: release it first"
                                        : "partitioned: unpartition it first");
    }
    spy_handle_join(handle);
    Py_RETURN_NONE;
}

/* -- data that lie elsewhere ---------------------------------------------- */

/* Memory of the runtime, while a function has it. */
struct memory {
    PyObject_HEAD char *at;
    struct spy_handle *like;
    Py_ssize_t strides[PyBUF_MAX_NDIM];
};

static int memory_get(struct memory *self, Py_buffer *view, int flags)
{
    const Py_buffer *like = &self->like->view;

    (void)flags;
    *view = (Py_buffer){
        .buf = self->at,
        .obj = Py_NewRef((PyObject *)self),
        .len = like->len,
        .itemsize = like->itemsize,
        .readonly = 0,
        .ndim = like->ndim,
        .format = like->format,
        .shape = like->shape,
        .strides = self->strides,
    };
    return 0;
}

static void memory_dealloc(struct memory *self)
{
    Py_CLEAR(self->like);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyBufferProcs memory_buffer = {
    .bf_getbuffer = (getbufferproc)memory_get,
};

PyTypeObject spy_memory_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "starpu.starpupy.Memory",
    .tp_basicsize = sizeof(struct memory),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Data of a handle as they lie in a memory node.",
    .tp_dealloc = (destructor)memory_dealloc,
    .tp_as_buffer = &memory_buffer,
};

PyObject *spy_handle_value(struct spy_handle *handle, void *interface)
{
    const ndim_t *data = interface;
    struct memory *memory;
    PyObject *value;

    if (!handle->home || (char *)data->ptr == handle->home)
        return Py_NewRef(handle->object ? handle->object : Py_None);
    memory = PyObject_New(struct memory, &spy_memory_type);
    if (!memory)
        return NULL;
    memory->at = (char *)data->ptr;
    memory->like = (struct spy_handle *)Py_NewRef((PyObject *)handle);
    for (size_t i = 0; i < data->ndim; i++)
        memory->strides[handle->axis[i]] =
            (Py_ssize_t)(data->ldn[i] * data->elemsize);
    value = PyObject_CallFunctionObjArgs(spy.view_like, handle->object, memory,
                                         NULL);
    Py_DECREF(memory);
    return value;
}
