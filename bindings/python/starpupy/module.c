/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/module.c - the extension module starpu.starpupy: the
 * runtime's beginning and end, what is asked of it. starpu/__init__.py has
 * what users call.
 */
#include "starpupy.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct spy_state spy;

/* -- errors --------------------------------------------------------------- */

PyObject *spy_error(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    PyErr_FormatV(spy.error, format, words);
    va_end(words);
    return NULL;
}

bool spy_in_task(void)
{
    return spy.users && starpu_worker_get_id() >= 0;
}

bool spy_may_call(const char *call)
{
    if (spy.forked)
        spy_error("%s: this process is a fork of one that called "
                  "starpu.init(), whose workers it does not have: fork before "
                  "init(), or start a program of its own (multiprocessing's "
                  "method spawn)",
                  call);
    else if (!spy.users)
        spy_error("%s: the library is not open: call starpu.init() first",
                  call);
    else if (spy.simulated && PyThread_get_thread_ident() != spy.thread)
        spy_error("%s: a simulated machine runs on one thread, the one that "
                  "called starpu.init(): call from that, or run on the real "
                  "machine",
                  call);
    else
        return true;
    return false;
}

int spy_mode(PyObject *text)
{
    long mode;

    if (PyUnicode_Check(text)) {
        if (PyUnicode_CompareWithASCIIString(text, "R") == 0)
            return STARPU_R;
        if (PyUnicode_CompareWithASCIIString(text, "W") == 0)
            return STARPU_W;
        if (PyUnicode_CompareWithASCIIString(text, "RW") == 0)
            return STARPU_RW;
    } else if (PyLong_Check(text)) {
        mode = PyLong_AsLong(text);
        if (mode >= STARPU_R && mode <= STARPU_RW)
            return (int)mode;
    }
    PyErr_Clear();
    spy_error("%R is no access mode: use 'R', 'W' or 'RW'", text);
    return -1;
}

/* -- beginning and end ---------------------------------------------------- */

static void module_after_fork(void)
{
    spy.forked = spy.users > 0;
}

/* Whether a variable limits the tasks under way. */
static bool is_limited(void)
{
    return getenv("STARPU_LIMIT_MAX_SUBMITTED_TASKS") != NULL;
}

static PyObject *py_init(PyObject *module, PyObject *args)
{
    struct starpu_conf conf;
    int ncpu = -1, ret;
    PyThreadState *self;

    (void)module;
    if (!PyArg_ParseTuple(args, "|i:init", &ncpu))
        return NULL;
    if (spy.forked) {
        (void)spy_may_call("init");
        return NULL;
    }
    if (spy.users) {
        spy.users++;
        Py_RETURN_NONE;
    }
    ret = starpu_conf_init(&conf);
    if (ncpu >= 0)
        conf.ncpus = ncpu;
    /* A signal is the interpreter's. */
    conf.catch_signals = 0;
    self = spy_detach();
    if (ret == 0)
        ret = starpu_init(&conf);
    spy_attach(self);
    if (ret == -EBUSY)
        return spy_error("init: another thread simulates in this process "
                         "(orrery.simulate): call init() before or after");
    if (ret != 0)
        return spy_error("init: %s; what is wrong was said on the standard "
                         "error output",
                         ret == -ENODEV ? "there is no worker"
                                        : strerror(-ret));
    spy.users = 1;
    spy.simulated = orrery_is_simulated();
    spy.runs_kernels = orrery_runs_kernels();
    spy.lines = orrery_asks_for_lines();
    spy.limited = is_limited();
    spy.thread = PyThread_get_thread_ident();
    Py_RETURN_NONE;
}

static void close_run(void)
{
    PyThreadState *self = spy_detach();

    starpu_shutdown();
    spy_attach(self);
    spy.users = 0;
    spy.simulated = false;
    spy_forget_threads();
}

/* _finish(): what shutdown() does before the machine is closed. Returns whether
 * that is to be closed. */
static PyObject *py_finish(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("shutdown"))
        return NULL;
    if (spy_in_task())
        return spy_error("shutdown: a task cannot end the run it is in");
    if (spy.users > 1)
        Py_RETURN_FALSE;
    if (spy.pauses)
        return spy_error("shutdown: workers are paused and tasks would never "
                         "end: call resume() first");
    if (spy_wait_for_all() < 0)
        return NULL;
    spy_garbage_collect();
    if (spy_handles_end() < 0)
        return NULL;
    Py_RETURN_TRUE;
}

/* After _finish(). */
static PyObject *py_shutdown(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (spy.users > 1)
        spy.users--;
    else
        close_run();
    Py_RETURN_NONE;
}

/* _abandon(): the same for an interpreter that ends, however often init() was
 * called, and whether paused or not. */
static PyObject *py_abandon(PyObject *module, PyObject *unused)
{
    PyObject *finished;

    for (; spy.pauses; spy.pauses--)
        starpu_resume();
    spy.users = 1;
    finished = py_finish(module, unused);
    if (!finished)
        return NULL;
    Py_DECREF(finished);
    return py_shutdown(module, unused);
}

/* _need(call): raises an exception if the library cannot be called here. */
static PyObject *py_need(PyObject *module, PyObject *call)
{
    const char *text = PyUnicode_AsUTF8(call);

    (void)module;
    if (!text || !spy_may_call(text))
        return NULL;
    Py_RETURN_NONE;
}

/* -- waiting -------------------------------------------------------------- */

static PyObject *py_wait_for_all(PyObject *module, PyObject *unused)
{
    PyThreadState *self;

    (void)module;
    (void)unused;
    if (!spy_may_call("task_wait_for_all"))
        return NULL;
    /* In a task, all means those that it submitted. */
    if (spy_in_task() ? !spy_may_wait() : spy_wait_for_all() < 0)
        return NULL;
    self = spy_detach();
    starpu_task_wait_for_all();
    spy_attach(self);
    spy_register_sweep(true);
    spy_garbage_collect();
    Py_RETURN_NONE;
}

/* _wait_until(µs): in a simulation, until a task was delivered or the date. */
static PyObject *py_wait_until(PyObject *module, PyObject *args)
{
    double until = INFINITY;
    int ret;

    (void)module;
    if (!PyArg_ParseTuple(args, "|d:_wait_until", &until))
        return NULL;
    if (!spy_may_call("_wait_until"))
        return NULL;
    ret = spy_wait_for_any(until);
    return ret < 0 ? NULL : PyBool_FromLong(ret);
}

static PyObject *py_sleep(PyObject *module, PyObject *args)
{
    PyThreadState *self;
    double seconds;

    (void)module;
    if (!PyArg_ParseTuple(args, "d:sleep", &seconds))
        return NULL;
    if (!spy_may_call("sleep"))
        return NULL;
    self = spy_detach();
    orrery_usleep(seconds * 1e6);
    spy_attach(self);
    Py_RETURN_NONE;
}

static PyObject *py_pause(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("pause"))
        return NULL;
    starpu_pause();
    spy.pauses++;
    Py_RETURN_NONE;
}

static PyObject *py_resume(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("resume"))
        return NULL;
    if (!spy.pauses)
        return spy_error("resume: nothing is paused: call pause() first");
    starpu_resume();
    spy.pauses--;
    Py_RETURN_NONE;
}

/* -- questions ------------------------------------------------------------ */

static PyObject *py_nsubmitted(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("task_nsubmitted"))
        return NULL;
    return PyLong_FromLong(starpu_task_nsubmitted());
}

static PyObject *py_unfinished(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromSize_t(spy.unfinished);
}

static PyObject *py_min_priority(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("sched_get_min_priority"))
        return NULL;
    return PyLong_FromLong(starpu_sched_get_min_priority());
}

static PyObject *py_max_priority(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("sched_get_max_priority"))
        return NULL;
    return PyLong_FromLong(starpu_sched_get_max_priority());
}

/* Whether there is such a type at all. */
static bool is_worker_type(int type)
{
    return type == STARPU_ANY_WORKER || (type >= 0 && type < STARPU_NARCH);
}

static PyObject *py_count_by_type(PyObject *module, PyObject *args)
{
    int type;

    (void)module;
    if (!PyArg_ParseTuple(args, "i:worker_get_count_by_type", &type))
        return NULL;
    if (!spy_may_call("worker_get_count_by_type"))
        return NULL;
    if (!is_worker_type(type))
        return spy_error("worker_get_count_by_type: %d is no type of workers: "
                         "use starpu.STARPU_CPU_WORKER or another one",
                         type);
    return PyLong_FromLong(
        starpu_worker_get_count_by_type((enum starpu_worker_archtype)type));
}

static PyObject *py_worker(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("worker_get_id"))
        return NULL;
    return PyLong_FromLong(starpu_worker_get_id());
}

static PyObject *py_now(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!spy_may_call("timing_now"))
        return NULL;
    return PyFloat_FromDouble(starpu_timing_now());
}

static PyObject *py_is_open(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(spy.users && !spy.forked);
}

static PyObject *py_simulated(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(spy.users && spy.simulated);
}

/* Writes the model of that symbol. Returns false if no task has had it. */
static bool save_symbol_model(PyObject *symbol)
{
    struct starpu_perfmodel *model = spy_model(symbol);

    if (model)
        starpu_save_history_based_model(model);
    return model != NULL;
}

static PyObject *py_save(PyObject *module, PyObject *args)
{
    PyObject *symbol;

    (void)module;
    if (!PyArg_ParseTuple(args, "U:save_history_based_model", &symbol))
        return NULL;
    if (!spy_may_call("save_history_based_model"))
        return NULL;
    if (!save_symbol_model(symbol))
        return spy_error("save_history_based_model: no task has had the model "
                         "`%U': name one that was given as perfmodel=",
                         symbol);
    Py_RETURN_NONE;
}

/* _save_model(symbol): the same if there is one. */
static PyObject *py_save_model(PyObject *module, PyObject *symbol)
{
    (void)module;
    if (!spy_may_call("perfmodel_plot"))
        return NULL;
    return PyBool_FromLong(save_symbol_model(symbol));
}

/* -- the module ----------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"init", py_init, METH_VARARGS, NULL},
    {"_finish", py_finish, METH_NOARGS, NULL},
    {"shutdown", py_shutdown, METH_NOARGS, NULL},
    {"task_wait_for_all", py_wait_for_all, METH_NOARGS,
     "Waits for all tasks; in a task, for those that it submitted."},
    {"task_nsubmitted", py_nsubmitted, METH_NOARGS,
     "The number of tasks that were submitted and have not ended."},
    {"pause", py_pause, METH_NOARGS,
     "Workers begin no more tasks until resume()."},
    {"resume", py_resume, METH_NOARGS, "Ends pause()."},
    {"sched_get_min_priority", py_min_priority, METH_NOARGS,
     "The least priority that the scheduler tells apart."},
    {"sched_get_max_priority", py_max_priority, METH_NOARGS,
     "The greatest priority that the scheduler tells apart."},
    {"worker_get_count_by_type", py_count_by_type, METH_VARARGS,
     "The number of workers of a type, such as starpu.STARPU_CPU_WORKER."},
    {"worker_get_id", py_worker, METH_NOARGS,
     "The worker that runs the calling task, -1 outside of tasks."},
    {"timing_now", py_now, METH_NOARGS,
     "The time in µs: virtual on a simulated machine."},
    {"sleep", py_sleep, METH_VARARGS,
     "sleep(seconds): of virtual time on a simulated machine."},
    {"is_simulated", py_simulated, METH_NOARGS,
     "Whether the machine is a simulated one."},
    {"save_history_based_model", py_save, METH_VARARGS,
     "save_history_based_model(symbol): writes a performance model's file."},
    {"_save_model", py_save_model, METH_O, NULL},
    {"_abandon", py_abandon, METH_NOARGS, NULL},
    {"_need", py_need, METH_O, NULL},
    {"_wait_until", py_wait_until, METH_VARARGS, NULL},
    {"_unfinished", py_unfinished, METH_NOARGS, NULL},
    {"_is_open", py_is_open, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* _use(...): what the package gives to this module, once. */
static PyObject *module_take_objects(PyObject *module, PyObject *args,
                                     PyObject *kwargs)
{
    static char *names[] = {
        "Future",    "Handle",    "placeholder", "call_back",
        "find",      "view_like", "names_of",    "has_parameter",
        "cancelled", "unready",   NULL};
    PyObject **given[] = {
        &spy.future_type, &spy.handle_type,   &spy.placeholder,
        &spy.call_back,   &spy.find,          &spy.view_like,
        &spy.names_of,    &spy.has_parameter, &spy.cancelled,
        &spy.unready,
    };

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOOOOOO:_use", names,
                                     given[0], given[1], given[2], given[3],
                                     given[4], given[5], given[6], given[7],
                                     given[8], given[9]))
        return NULL;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(given); i++)
        Py_INCREF(*given[i]);
    Py_RETURN_NONE;
}

static PyMethodDef use_function = {"_use",
                                   (PyCFunction)(void *)module_take_objects,
                                   METH_VARARGS | METH_KEYWORDS, NULL};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "starpu.starpupy",
    .m_doc = "What the package starpu is made from.",
    .m_size = -1,
    .m_methods = functions,
};

static int add_constants(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } constants[] = {
        {"STARPU_R", STARPU_R},
        {"STARPU_W", STARPU_W},
        {"STARPU_RW", STARPU_RW},
        {"STARPU_CPU", STARPU_CPU},
        {"STARPU_CUDA", STARPU_CUDA},
        {"STARPU_OPENCL", STARPU_OPENCL},
        {"STARPU_HIP", STARPU_HIP},
        {"STARPU_CPU_WORKER", STARPU_CPU_WORKER},
        {"STARPU_CUDA_WORKER", STARPU_CUDA_WORKER},
        {"STARPU_OPENCL_WORKER", STARPU_OPENCL_WORKER},
        {"STARPU_HIP_WORKER", STARPU_HIP_WORKER},
        {"STARPU_ANY_WORKER", STARPU_ANY_WORKER},
    };

    for (size_t i = 0; i < Py_ARRAY_LENGTH(constants); i++)
        if (PyModule_AddIntConstant(module, constants[i].name,
                                    constants[i].value) < 0)
            return -1;
    return 0;
}

static int module_fill(PyObject *module)
{
    PyObject *function = PyCFunction_NewEx(&use_function, NULL, NULL);

    if (!function || PyModule_AddObject(module, "_use", function) < 0)
        return -1;
    spy.error = PyErr_NewException("starpupy.error", NULL, NULL);
    if (!spy.error || PyModule_AddObjectRef(module, "error", spy.error) < 0)
        return -1;
    if (PyModule_AddType(module, &spy_future_type) < 0 ||
        PyModule_AddType(module, &spy_handle_type) < 0 ||
        PyModule_AddType(module, &spy_submit_type) < 0 ||
        PyType_Ready(&spy_memory_type) < 0)
        return -1;
    return add_constants(module);
}

PyMODINIT_FUNC PyInit_starpupy(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && module_fill(module) < 0)
        Py_CLEAR(module);
    if (module)
        pthread_atfork(NULL, NULL, module_after_fork);
    return module;
}
