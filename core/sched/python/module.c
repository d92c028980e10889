/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/python/module.c - the module orrery/python.so: CPython, which runs a
 * policy's file and its methods (docs/PYTHON_POLICIES.md). The interpreter is made
 * once, if the process has none, and stays: extensions such as NumPy cannot be started
 * twice.
 *
 * Equal runs are equal: strings hash with a fixed seed, objects of ours by number, and
 * `random`, if the file has imported it, is seeded. CPython 3.11 does not mind on which
 * stack of a thread it is called.
 */
#include "core/sched/python/objects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/module.h"
#include "core/sched/python/interrupt.h"

const struct orr_module *orr_module_entry(void);

/* --- the interpreter --- */

/* Starts it as `python3 FILE` would, but for signals, which are the
 * application's, and the seed of hashes. */
static int start_interpreter(struct orr_error *err)
{
    static const char version[] =
        Py_STRINGIFY(PY_MAJOR_VERSION) "." Py_STRINGIFY(PY_MINOR_VERSION) ".";
    PyConfig config;
    PyStatus status;

    if (strncmp(Py_GetVersion(), version, strlen(version)) != 0)
        return orr_fail(err, -EINVAL,
                        "python.so is built for Python %sx, this process has "
                        "%.8s: policies in Python need the same one",
                        version, Py_GetVersion());
    if (Py_IsInitialized())
        return 0;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    config.parse_argv = 0;
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    config.write_bytecode = 0;
    status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (!PyStatus_Exception(status))
        return 0;
    return orr_fail(err, -EINVAL, "Python cannot be started: %s",
                    status.err_msg ? status.err_msg : "no reason is given");
}

/* From here to the end of `leave` the script runs. */
static PyGILState_STATE script_enter(void)
{
    PyGILState_STATE state = PyGILState_Ensure();

    orr_py_inside++;
    return state;
}

static void script_leave(PyGILState_STATE state)
{
    orr_py_inside--;
    PyGILState_Release(state);
}

/* Flushes what was printed: it is to come before what the library prints, and
 * before the end. */
static void script_flush_output(void)
{
    static const char *const names[] = {"stdout", "stderr"};

    for (int i = 0; i < 2; i++) {
        PyObject *stream = PySys_GetObject(names[i]); /* lent */
        PyObject *done =
            stream ? PyObject_CallMethod(stream, "flush", NULL) : NULL;

        Py_XDECREF(done);
        PyErr_Clear();
    }
}

/* --- exceptions --- */

/* The line of the innermost frame of the script itself; 0: none. */
static int script_line(const struct orr_script *script, PyObject *traceback)
{
    int line = 0;

    for (PyObject *tb = traceback; tb && PyTraceBack_Check(tb);
         tb = (PyObject *)((PyTracebackObject *)tb)->tb_next) {
        const PyTracebackObject *at = (const PyTracebackObject *)tb;
        PyCodeObject *code = PyFrame_GetCode(at->tb_frame);
        const char *file = PyUnicode_AsUTF8(code->co_filename);

        if (file && !strcmp(file, script->path))
            line = at->tb_lineno;
        Py_DECREF(code);
    }
    PyErr_Clear();
    return line;
}

/* Prints the traceback, and says in one line what was raised, where. Returns
 * -EINVAL. */
static int script_fail(const struct orr_script *script, const char *what,
                       struct orr_error *err)
{
    PyObject *type, *value, *traceback, *text;
    char where[32] = "";
    const char *said;
    int line;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    line = script_line(script, traceback);
    if (line)
        snprintf(where, sizeof(where), ", line %d", line);
    if (value && traceback)
        PyException_SetTraceback(value, traceback);
    script_flush_output();
    if (value)
        PyErr_Display(type, value, traceback);
    script_flush_output();
    text = value ? PyObject_Str(value) : NULL;
    said = text ? PyUnicode_AsUTF8(text) : NULL;
    orr_fail(err, -EINVAL,
             "policy %s: %s%s%s (in %s%s; the traceback is above)",
             script->path, type ? ((PyTypeObject *)type)->tp_name : "an error",
             said && *said ? ": " : "", said ? said : "", what, where);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    PyErr_Clear();
    return -EINVAL;
}

/* --- the file --- */

/* Its text, with a 0 behind it, a bytes object; NULL with a message. */
static PyObject *read_script(const char *path, int *ret_rc,
                             struct orr_error *err)
{
    FILE *file = fopen(path, "rb");
    PyObject *bytes = NULL;
    long size = -1;

    *ret_rc = -errno;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = PyBytes_FromStringAndSize(NULL, size);
    if (bytes &&
        fread(PyBytes_AS_STRING(bytes), 1, (size_t)size, file) != (size_t)size)
        Py_CLEAR(bytes);
    if (file)
        fclose(file);
    PyErr_Clear();
    if (bytes)
        return bytes;
    if (*ret_rc >= 0)
        *ret_rc = -EINVAL;
    orr_fail(err, *ret_rc, "policy %s: %s", path,
             file ? "it cannot be read" : strerror(-*ret_rc));
    return NULL;
}

/* Modules beside the file can be imported, as `python3 FILE` lets them. */
static void add_folder(struct orr_script *script)
{
    const char *slash = strrchr(script->path, '/');
    PyObject *list = PySys_GetObject("path"); /* lent */

    script->folder = slash ? PyUnicode_DecodeFSDefaultAndSize(
                                 script->path, slash - script->path + 1)
                           : PyUnicode_FromString("");
    if (!list || !script->folder || PyList_Insert(list, 0, script->folder) < 0)
        PyErr_Clear();
}

/* The dictionary of a module __name__ = "policy" in which the file has run; NULL with
 * an exception. */
static PyObject *run_file(const struct orr_script *script, const char *text)
{
    PyObject *code = Py_CompileString(text, script->path, Py_file_input);
    PyObject *globals = code ? PyDict_New() : NULL, *done = NULL;
    PyObject *name = PyUnicode_FromString("policy");
    PyObject *file = PyUnicode_DecodeFSDefault(script->path);

    if (globals && name && file &&
        PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins()) ==
            0 &&
        PyDict_SetItemString(globals, "__name__", name) == 0 &&
        PyDict_SetItemString(globals, "__file__", file) == 0)
        done = PyEval_EvalCode(code, globals, globals);
    Py_XDECREF(name);
    Py_XDECREF(file);
    Py_XDECREF(code);
    if (!done)
        Py_CLEAR(globals);
    Py_XDECREF(done);
    return globals;
}

/* Seeds Python's `random`, if the file has imported it. */
static int seed_random(unsigned seed)
{
    PyObject *modules = PyImport_GetModuleDict();               /* lent */
    PyObject *random = PyDict_GetItemString(modules, "random"); /* lent */
    PyObject *done =
        random ? PyObject_CallMethod(random, "seed", "I", seed) : NULL;

    Py_XDECREF(done);
    return random && !done ? -1 : 0;
}

/* The method, NULL: it has none; required ones have an exception then. */
static PyObject *script_method(const struct orr_script *script,
                               const char *name, bool required)
{
    PyObject *found = PyObject_GetAttrString(script->policy, name);

    if (found && PyCallable_Check(found))
        return found;
    Py_CLEAR(found);
    PyErr_Clear();
    if (required)
        PyErr_Format(PyExc_TypeError,
                     "class Policy needs a method %s(self, %s)", name,
                     strcmp(name, "push") == 0 ? "task" : "worker");
    return NULL;
}

/* Policy.wake: "all", or "one". */
static int find_wake(struct orr_script *script)
{
    PyObject *wake = PyObject_GetAttrString(script->policy, "wake");
    const char *text =
        wake && PyUnicode_Check(wake) ? PyUnicode_AsUTF8(wake) : NULL;
    int rc = 0;

    PyErr_Clear();
    script->wake = ORR_SCRIPT_WAKE_ALL;
    if (text && !strcmp(text, "one")) {
        script->wake = ORR_SCRIPT_WAKE_ONE;
    } else if (wake && (!text || strcmp(text, "all") != 0)) {
        PyErr_Format(PyExc_ValueError,
                     "Policy.wake is \"all\" or \"one\", not %R", wake);
        rc = -1;
    }
    Py_XDECREF(wake);
    return rc;
}

/* Policy.priorities: (least, greatest). */
static int find_range(const struct orr_script *script,
                      struct orr_script_range *range)
{
    PyObject *said = PyObject_GetAttrString(script->policy, "priorities");
    struct orr_script_range found;
    int rc = 0;

    PyErr_Clear();
    if (said && (!PyTuple_Check(said) ||
                 !PyArg_ParseTuple(said, "ii", &found.min, &found.max) ||
                 found.min > found.max)) {
        PyErr_Format(PyExc_ValueError,
                     "Policy.priorities is the least and the greatest one, "
                     "such as (0, 9), not %R",
                     said);
        rc = -1;
    } else if (said) {
        *range = found;
    }
    Py_XDECREF(said);
    return rc;
}

static int find_methods(struct orr_script *script)
{
    script->push = script_method(script, "push", true);
    if (script->push)
        script->pop = script_method(script, "pop", true);
    if (!script->pop)
        return -1;
    script->started = script_method(script, "started", false);
    script->ended = script_method(script, "ended", false);
    if (script->started || script->ended) {
        script->given = PyDict_New();
        if (!script->given)
            return -1;
    }
    return find_wake(script);
}

/* The object of class Policy, with its methods. -1 with an exception. */
static int make_policy(struct orr_script *script, PyObject *globals,
                       struct orr_script_range *range)
{
    PyObject *class = PyDict_GetItemString(globals, "Policy"); /* lent */

    if (!class) {
        PyErr_SetString(PyExc_TypeError,
                        "the file has no class Policy with methods push(self, "
                        "task) and pop(self, worker)");
        return -1;
    }
    if (seed_random(script->host->seed) < 0)
        return -1;
    script->policy = PyObject_CallFunctionObjArgs(class, script->machine, NULL);
    if (!script->policy || find_methods(script) < 0)
        return -1;
    return find_range(script, range);
}

/* --- the table --- */

static void python_close(struct orr_script *script)
{
    PyGILState_STATE state = script_enter();
    PyObject *list = PySys_GetObject("path"); /* lent */
    Py_ssize_t at = -1;

    if (list && script->folder)
        at = PySequence_Index(list, script->folder);
    if (at >= 0)
        PySequence_DelItem(list, at);
    PyErr_Clear();
    Py_CLEAR(script->push);
    Py_CLEAR(script->pop);
    Py_CLEAR(script->started);
    Py_CLEAR(script->ended);
    Py_CLEAR(script->policy);
    Py_CLEAR(script->given);
    Py_CLEAR(script->folder);
    orr_py_objects_done(script);
    script_flush_output();
    if (script->interruptible)
        orr_py_interrupts_off();
    PyMem_Free(script);
    script_leave(state);
}

/* The caller has the interpreter's lock. */
static int script_open_file(struct orr_script *script,
                            struct orr_script_range *range,
                            struct orr_error *err)
{
    PyObject *text, *globals;
    int rc;

    text = read_script(script->path, &rc, err);
    if (!text)
        return rc;
    if (orr_py_objects_new(script) < 0)
        rc = script_fail(script, "its preparation", err);
    else
        rc = 0;
    add_folder(script);
    globals = rc == 0 ? run_file(script, PyBytes_AS_STRING(text)) : NULL;
    Py_DECREF(text);
    if (rc == 0 && !globals)
        rc = script_fail(script, "the file", err);
    if (rc == 0 && make_policy(script, globals, range) < 0)
        rc = script_fail(script, "class Policy", err);
    Py_XDECREF(globals);
    return rc;
}

static int python_open(const char *path, const struct orr_script_host *host,
                       struct orr_script_range *range, struct orr_script **ret,
                       struct orr_error *err)
{
    struct orr_script *script;
    PyGILState_STATE state;
    int rc = start_interpreter(err);

    if (rc < 0)
        return rc;
    state = script_enter();
    script = PyMem_Calloc(1, sizeof(*script));
    if (script) {
        script->host = host;
        script->path = path;
        script->interruptible = orr_py_interrupts_on();
        rc = script_open_file(script, range, err);
    } else {
        rc = orr_fail(err, -ENOMEM, "policy %s: out of memory", path);
    }
    script_leave(state);
    if (rc == 0)
        *ret = script;
    else if (script)
        python_close(script);
    return rc;
}

/* The worker that push has returned, if any. */
static int read_wake(const struct orr_script *script, PyObject *said,
                     int *ret_wake)
{
    *ret_wake = script->wake;
    if (said == Py_None)
        return 0;
    if (!Py_IS_TYPE(said, script->worker_type)) {
        PyErr_Format(PyExc_TypeError,
                     "push returns the worker that is to be woken, or None, "
                     "not %R",
                     said);
        return -1;
    }
    *ret_wake = (int)((struct orr_py_worker *)said)->id;
    return 0;
}

static int python_push(struct orr_script *script, struct orr_job *job,
                       int *ret_wake, struct orr_error *err)
{
    PyGILState_STATE state = script_enter();
    PyObject *task = orr_py_task_new(script, job);
    PyObject *said = task ? PyObject_CallOneArg(script->push, task) : NULL;
    int rc = 0;

    if (!said || read_wake(script, said, ret_wake) < 0)
        rc = script_fail(script, "push", err);
    Py_XDECREF(said);
    Py_XDECREF(task);
    script_leave(state);
    return rc;
}

/* The job of a task that pop has returned. NULL with an exception. */
static struct orr_job *script_job_of_result(struct orr_script *script,
                                            PyObject *said)
{
    struct orr_py_task *task = (struct orr_py_task *)said;
    struct orr_job *job;
    PyObject *key;

    if (!Py_IS_TYPE(said, script->task_type)) {
        PyErr_Format(PyExc_TypeError,
                     "pop returns a task that was pushed, or None, not %R",
                     said);
        return NULL;
    }
    if (task->given) {
        PyErr_Format(PyExc_ValueError,
                     "pop returns task %llu (%U) a second time", task->id,
                     task->name);
        return NULL;
    }
    job = task->job;
    task->given = true;
    if (!script->given) {
        task->job = NULL;
        return job;
    }
    key = PyLong_FromUnsignedLongLong(task->id);
    if (!key || PyDict_SetItem(script->given, key, said) < 0)
        job = NULL;
    Py_XDECREF(key);
    return job;
}

static int python_pop(struct orr_script *script, unsigned worker,
                      struct orr_job **ret, struct orr_error *err)
{
    PyGILState_STATE state = script_enter();
    PyObject *said =
        PyObject_CallOneArg(script->pop, orr_py_worker(script, worker));
    int rc = 0;

    *ret = NULL;
    if (said && said != Py_None)
        *ret = script_job_of_result(script, said);
    if (!said || (said != Py_None && !*ret))
        rc = script_fail(script, "pop", err);
    Py_XDECREF(said);
    script_leave(state);
    return rc;
}

/* Calls a hook, if there is one, with the task that was given, if it was. */
static int script_call_hook(struct orr_script *script, PyObject *hook,
                            const char *what, struct orr_job *job,
                            unsigned worker, bool for_good,
                            struct orr_error *err)
{
    PyGILState_STATE state;
    struct orr_script_task of;
    PyObject *key, *task, *said = NULL;
    int rc = 0;

    if (!script->given)
        return 0;
    script->host->describe(job, &of);
    state = script_enter();
    key = PyLong_FromUnsignedLongLong(of.id);
    task = key ? PyDict_GetItem(script->given, key) : NULL;
    Py_XINCREF(task);
    if (task && hook) {
        said = PyObject_CallFunctionObjArgs(
            hook, task, orr_py_worker(script, worker), NULL);
        if (!said)
            rc = script_fail(script, what, err);
    }
    if (task && for_good) {
        ((struct orr_py_task *)task)->job = NULL;
        PyDict_DelItem(script->given, key);
    }
    Py_XDECREF(said);
    Py_XDECREF(task);
    Py_XDECREF(key);
    script_leave(state);
    return rc;
}

static int python_started(struct orr_script *script, struct orr_job *job,
                          unsigned worker, struct orr_error *err)
{
    return script_call_hook(script, script->started, "started", job, worker,
                            false, err);
}

static int python_ended(struct orr_script *script, struct orr_job *job,
                        unsigned worker, struct orr_error *err)
{
    return script_call_hook(script, script->ended, "ended", job, worker, true,
                            err);
}

static const struct orr_script_ops ops = {.open = python_open,
                                          .close = python_close,
                                          .push = python_push,
                                          .pop = python_pop,
                                          .started = python_started,
                                          .ended = python_ended};

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_module module = {ORR_MODULE_ABI, "python", &ops,
                                             orr_module_stamp};

    return &module;
}
