/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/python/objects.c - see objects.h. */
#include "core/sched/python/objects.h"

#include <math.h>
#include <stddef.h>
#include <structmember.h>

struct machine {
    PyObject ob_base;
    struct orr_script *script;
    PyObject *workers; /* owned tuple */
    unsigned nodes;
};

struct access {
    PyObject ob_base;
    struct orr_py_task *task; /* owned */
    unsigned i;
    unsigned long long data, bytes;
    char reads, writes;
};

#define METHOD(name, function, flags, doc)                                     \
    {                                                                          \
        name, (PyCFunction)(void (*)(void))(function), flags, doc              \
    }

/* Objects of heap types keep their type. */
static void object_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    type->tp_free(self);
    Py_DECREF(type);
}

/* --- workers --- */

static Py_hash_t worker_hash(PyObject *self)
{
    return (Py_hash_t)((struct orr_py_worker *)self)->id;
}

static const struct orr_script_worker *said_of(const PyObject *self)
{
    const struct orr_py_worker *worker = (const struct orr_py_worker *)self;

    return &worker->script->host->workers[worker->id];
}

static PyObject *py_worker_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(said_of(self)->name);
}

static PyObject *worker_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(said_of(self)->kind);
}

static PyObject *worker_node(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(said_of(self)->node);
}

static PyObject *worker_idle(PyObject *self, void *unused)
{
    const struct orr_py_worker *worker = (const struct orr_py_worker *)self;
    const struct orr_script_host *host = worker->script->host;

    (void)unused;
    return PyBool_FromLong(host->is_idle(host->sched, worker->id));
}

static PyObject *worker_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<worker %s>", said_of(self)->name);
}

static PyMemberDef worker_members[] = {{"id", T_UINT,
                                        offsetof(struct orr_py_worker, id),
                                        READONLY, "number, from 0"},
                                       {0}};
static PyGetSetDef worker_getset[] = {
    {"name", py_worker_name, NULL, "such as CPU 0", NULL},
    {"kind", worker_kind, NULL, "the name of its kind, such as CPU", NULL},
    {"node", worker_node, NULL, "number of its memory node", NULL},
    {"idle", worker_idle, NULL, "whether it sleeps for want of a task", NULL},
    {0}};
static PyType_Slot worker_slots[] = {
    {Py_tp_dealloc, object_dealloc}, {Py_tp_hash, worker_hash},
    {Py_tp_repr, worker_repr},       {Py_tp_members, worker_members},
    {Py_tp_getset, worker_getset},   {0, NULL}};
static PyType_Spec worker_spec = {
    "orrery.Worker", sizeof(struct orr_py_worker), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, worker_slots};

/* --- tasks --- */

static Py_hash_t task_hash(PyObject *self)
{
    return (Py_hash_t)((struct orr_py_task *)self)->id;
}

static void task_free(PyObject *self)
{
    Py_CLEAR(((struct orr_py_task *)self)->name);
    object_dealloc(self);
}

static PyObject *task_repr(PyObject *self)
{
    const struct orr_py_task *task = (const struct orr_py_task *)self;

    return PyUnicode_FromFormat("<task %llu %U>", task->id, task->name);
}

/* The host, if the task may be asked about; NULL with an exception. */
static const struct orr_script_host *host_of(const struct orr_py_task *task)
{
    if (task->job)
        return task->script->host;
    PyErr_Format(PyExc_RuntimeError,
                 "task %llu (%U) was given to a worker: nothing more is known "
                 "of it",
                 task->id, task->name);
    return NULL;
}

/* The same for a question about a worker, whose number *ret gets. */
static const struct orr_script_host *
worker_question(PyObject *self, PyObject *worker, unsigned *ret)
{
    const struct orr_py_task *task = (const struct orr_py_task *)self;

    if (!Py_IS_TYPE(worker, task->script->worker_type)) {
        PyErr_Format(PyExc_TypeError, "a worker is expected, not %R", worker);
        return NULL;
    }
    *ret = ((struct orr_py_worker *)worker)->id;
    return host_of(task);
}

static struct orr_job *py_task_job(PyObject *self)
{
    return ((struct orr_py_task *)self)->job;
}

static PyObject *task_can_run(PyObject *self, PyObject *worker)
{
    unsigned id;
    const struct orr_script_host *host = worker_question(self, worker, &id);

    if (!host)
        return NULL;
    return PyBool_FromLong(host->can_run(host->sched, py_task_job(self), id));
}

static PyObject *task_length(PyObject *self, PyObject *worker)
{
    unsigned id;
    const struct orr_script_host *host = worker_question(self, worker, &id);
    double us;

    if (!host)
        return NULL;
    us = host->length(host->sched, py_task_job(self), id);
    if (isnan(us))
        Py_RETURN_NONE;
    return PyFloat_FromDouble(us);
}

static PyObject *task_transfer_time(PyObject *self, PyObject *worker)
{
    unsigned id;
    const struct orr_script_host *host = worker_question(self, worker, &id);

    if (!host)
        return NULL;
    return PyFloat_FromDouble(
        host->transfer(host->sched, py_task_job(self), id));
}

static PyObject *task_missing(PyObject *self, PyObject *worker)
{
    unsigned id;
    const struct orr_script_host *host = worker_question(self, worker, &id);

    if (!host)
        return NULL;
    return PyLong_FromUnsignedLongLong(
        host->missing(host->sched, py_task_job(self), id));
}

static PyObject *task_prefetch(PyObject *self, PyObject *worker)
{
    unsigned id;
    const struct orr_script_host *host = worker_question(self, worker, &id);

    if (!host)
        return NULL;
    host->prefetch(host->sched, py_task_job(self), id);
    Py_RETURN_NONE;
}

static PyObject *access_new(struct orr_py_task *task, unsigned i)
{
    struct access *access =
        PyObject_New(struct access, task->script->access_type);
    struct orr_script_access said;

    if (!access)
        return NULL;
    task->script->host->look_at(task->job, i, &said);
    Py_INCREF(task);
    access->task = task;
    access->i = i;
    access->data = said.data;
    access->bytes = said.bytes;
    access->reads = said.reads;
    access->writes = said.writes;
    return (PyObject *)access;
}

static PyObject *task_data(PyObject *self, void *unused)
{
    struct orr_py_task *task = (struct orr_py_task *)self;
    const struct orr_script_host *host = host_of(task);
    struct orr_script_task said;
    PyObject *tuple;

    (void)unused;
    if (!host)
        return NULL;
    host->describe(task->job, &said);
    tuple = PyTuple_New((Py_ssize_t)said.naccesses);
    for (unsigned i = 0; tuple && i < said.naccesses; i++) {
        PyObject *access = access_new(task, i);

        if (!access)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, access);
    }
    return tuple;
}

static PyMemberDef task_members[] = {
    {"id", T_ULONGLONG, offsetof(struct orr_py_task, id), READONLY,
     "number in the order of submission"},
    {"name", T_OBJECT, offsetof(struct orr_py_task, name), READONLY,
     "of its kernel"},
    {"priority", T_LONG, offsetof(struct orr_py_task, priority), READONLY,
     "as the application has set it"},
    {0}};
static PyGetSetDef task_getset[] = {
    {"data", task_data, NULL, "what it accesses, a tuple", NULL}, {0}};
static PyMethodDef task_methods[] = {
    METHOD("can_run", task_can_run, METH_O, "whether the worker can run it"),
    METHOD("length", task_length, METH_O,
           "us that it takes on the worker, None: not known"),
    METHOD("transfer_time", task_transfer_time, METH_O,
           "us until its data could be in the worker's memory"),
    METHOD("missing", task_missing, METH_O,
           "bytes that it reads and the worker's memory has not"),
    METHOD("prefetch", task_prefetch, METH_O,
           "has its data brought to the worker's memory"),
    {0}};
static PyType_Slot task_slots[] = {{Py_tp_dealloc, task_free},
                                   {Py_tp_hash, task_hash},
                                   {Py_tp_repr, task_repr},
                                   {Py_tp_members, task_members},
                                   {Py_tp_getset, task_getset},
                                   {Py_tp_methods, task_methods},
                                   {0, NULL}};
static PyType_Spec task_spec = {
    "orrery.Task", sizeof(struct orr_py_task), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, task_slots};

PyObject *orr_py_task_new(struct orr_script *script, struct orr_job *job)
{
    struct orr_py_task *task =
        PyObject_New(struct orr_py_task, script->task_type);
    struct orr_script_task said;

    if (!task)
        return NULL;
    script->host->describe(job, &said);
    task->script = script;
    task->job = job;
    task->given = false;
    task->id = said.id;
    task->priority = said.priority;
    task->name = PyUnicode_InternFromString(said.name);
    if (!task->name)
        Py_CLEAR(task);
    return (PyObject *)task;
}

/* --- what a task accesses --- */

static void access_free(PyObject *self)
{
    Py_CLEAR(((struct access *)self)->task);
    object_dealloc(self);
}

/* Whether one of the masks has the worker's memory node. */
static PyObject *access_is_on_worker(PyObject *self, PyObject *worker,
                                     bool or_coming)
{
    const struct access *access = (const struct access *)self;
    struct orr_script_access said;
    unsigned id, node;
    const struct orr_script_host *host =
        worker_question((PyObject *)access->task, worker, &id);

    if (!host)
        return NULL;
    host->look_at(access->task->job, access->i, &said);
    node = host->workers[id].node;
    return PyBool_FromLong(
        (said.valid | (or_coming ? said.coming : 0)) >> node & 1);
}

static PyObject *access_is_at(PyObject *self, PyObject *worker)
{
    return access_is_on_worker(self, worker, false);
}

static PyObject *access_will_be_at(PyObject *self, PyObject *worker)
{
    return access_is_on_worker(self, worker, true);
}

static PyMemberDef access_members[] = {
    {"id", T_ULONGLONG, offsetof(struct access, data), READONLY,
     "number of the datum"},
    {"bytes", T_ULONGLONG, offsetof(struct access, bytes), READONLY,
     "its size"},
    {"reads", T_BOOL, offsetof(struct access, reads), READONLY, NULL},
    {"writes", T_BOOL, offsetof(struct access, writes), READONLY, NULL},
    {0}};
static PyMethodDef access_methods[] = {
    METHOD("is_at", access_is_at, METH_O,
           "whether the worker's memory has the value"),
    METHOD("will_be_at", access_will_be_at, METH_O,
           "… or it is on its way there"),
    {0}};
static PyType_Slot access_slots[] = {{Py_tp_dealloc, access_free},
                                     {Py_tp_members, access_members},
                                     {Py_tp_methods, access_methods},
                                     {0, NULL}};
static PyType_Spec access_spec = {
    "orrery.Access", sizeof(struct access), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, access_slots};

/* --- the machine --- */

static void machine_free(PyObject *self)
{
    Py_CLEAR(((struct machine *)self)->workers);
    object_dealloc(self);
}

static PyObject *machine_now(PyObject *self, void *unused)
{
    const struct orr_script_host *host = ((struct machine *)self)->script->host;

    (void)unused;
    return PyFloat_FromDouble(host->now(host->sched));
}

static PyObject *machine_copy_time(PyObject *self, PyObject *args)
{
    const struct orr_script_host *host = ((struct machine *)self)->script->host;
    unsigned long long bytes;
    unsigned from, to;

    if (!PyArg_ParseTuple(args, "KII:copy_time", &bytes, &from, &to))
        return NULL;
    if (from >= host->nnodes || to >= host->nnodes)
        return PyErr_Format(PyExc_IndexError,
                            "memory nodes are 0 to %u, not %u and %u",
                            host->nnodes - 1, from, to);
    return PyFloat_FromDouble(
        from == to ? 0 : host->copy(host->sched, from, to, bytes));
}

static PyMemberDef machine_members[] = {
    {"workers", T_OBJECT, offsetof(struct machine, workers), READONLY,
     "all of them, a tuple"},
    {"nodes", T_UINT, offsetof(struct machine, nodes), READONLY,
     "how many memory nodes there are"},
    {0}};
static PyGetSetDef machine_getset[] = {
    {"now", machine_now, NULL, "us since the run began", NULL}, {0}};
static PyMethodDef machine_methods[] = {
    METHOD("copy_time", machine_copy_time, METH_VARARGS,
           "copy_time(bytes, from_node, to_node): us"),
    {0}};
static PyType_Slot machine_slots[] = {{Py_tp_dealloc, machine_free},
                                      {Py_tp_members, machine_members},
                                      {Py_tp_getset, machine_getset},
                                      {Py_tp_methods, machine_methods},
                                      {0, NULL}};
static PyType_Spec machine_spec = {
    "orrery.Machine", sizeof(struct machine), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, machine_slots};

static PyObject *workers_new(struct orr_script *script)
{
    unsigned n = script->host->nworkers;
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);

    for (unsigned w = 0; tuple && w < n; w++) {
        struct orr_py_worker *worker =
            PyObject_New(struct orr_py_worker, script->worker_type);

        if (!worker) {
            Py_CLEAR(tuple);
            break;
        }
        worker->script = script;
        worker->id = w;
        PyTuple_SET_ITEM(tuple, w, (PyObject *)worker);
    }
    return tuple;
}

static int machine_new(struct orr_script *script)
{
    struct machine *machine =
        PyObject_New(struct machine, script->machine_type);

    if (!machine)
        return -1;
    machine->script = script;
    machine->nodes = script->host->nnodes;
    machine->workers = workers_new(script);
    script->machine = (PyObject *)machine;
    return machine->workers ? 0 : -1;
}

PyObject *orr_py_worker(struct orr_script *script, unsigned id)
{
    return PyTuple_GET_ITEM(((struct machine *)script->machine)->workers, id);
}

static PyTypeObject *new_heap_type(PyType_Spec *spec)
{
    return (PyTypeObject *)PyType_FromSpec(spec);
}

int orr_py_objects_new(struct orr_script *script)
{
    script->worker_type = new_heap_type(&worker_spec);
    script->task_type = new_heap_type(&task_spec);
    script->access_type = new_heap_type(&access_spec);
    script->machine_type = new_heap_type(&machine_spec);
    if (!script->worker_type || !script->task_type || !script->access_type ||
        !script->machine_type)
        return -1;
    return machine_new(script);
}

void orr_py_objects_done(struct orr_script *script)
{
    Py_CLEAR(script->machine);
    Py_CLEAR(script->worker_type);
    Py_CLEAR(script->task_type);
    Py_CLEAR(script->access_type);
    Py_CLEAR(script->machine_type);
}
