/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/orrery/_replay.c - the extension module orrery._replay: a record
 * played in this process, without the GIL. One at a time.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <orrery.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ctrl-C, as long as the main thread plays. */
static struct {
    struct sigaction before;
    bool caught;
} interrupts; /* [GIL] but for the handler */

static bool busy;    /* [GIL] */
static FILE *errors; /* the program's stderr while a record is played */

/* Python's own handler makes it a KeyboardInterrupt. */
static void on_replay_interrupt(int number)
{
    orrery_replay_stop();
    interrupts.before.sa_handler(number);
}

/* Only where there is a handler, which is Python's, for this thread to come to. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_replay_interrupt};

    sigaction(SIGINT, NULL, &interrupts.before);
    if (interrupts.before.sa_flags & SA_SIGINFO ||
        interrupts.before.sa_handler == SIG_DFL ||
        interrupts.before.sa_handler == SIG_IGN)
        return;
    interrupts.caught = sigaction(SIGINT, &action, NULL) == 0;
}

static void release_interrupts(void)
{
    if (interrupts.caught)
        sigaction(SIGINT, &interrupts.before, NULL);
    interrupts.caught = false;
}

/* Collects as text what is written to C's stderr meanwhile; Python's sys.stderr
 * is another stream. */
static int replay_play_file(const char *path,
                            const struct orrery_replay_settings *settings,
                            char **ret_text)
{
    FILE *stream;
    size_t size;
    int rc;

    *ret_text = NULL;
    stream = open_memstream(ret_text, &size);
    if (!stream)
        return -ENOMEM;
    errors = stderr;
    stderr = stream;
    rc = orrery_replay(path, settings);
    stderr = errors;
    fclose(stream);
    return rc;
}

/* Bytes of a dictionary, borrowed; NULL where there are none. */
static int read_settings(PyObject *given, struct orrery_replay_settings *ret)
{
    const struct {
        const char *name;
        const char **value;
    } all[] = {
        {"machine", &ret->machine},     {"edits", &ret->edits},
        {"scheduler", &ret->scheduler}, {"assume", &ret->assume},
        {"noise", &ret->noise},         {"seed", &ret->seed},
        {"report", &ret->report},       {"graph", &ret->graph},
        {"trace", &ret->trace},
    };
    PyObject *key, *value;
    Py_ssize_t at = 0;
    char *text;

    while (PyDict_Next(given, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : "?";
        size_t i = 0;

        while (name && i < Py_ARRAY_LENGTH(all) &&
               strcmp(name, all[i].name) != 0)
            i++;
        if (!name)
            return -1;
        if (i == Py_ARRAY_LENGTH(all)) {
            PyErr_Format(PyExc_TypeError, "there is no setting %R", key);
            return -1;
        }
        if (PyBytes_AsStringAndSize(value, &text, NULL) < 0)
            return -1;
        *all[i].value = text;
    }
    return 0;
}

static PyObject *py_play(PyObject *module, PyObject *args)
{
    struct orrery_replay_settings settings = {0};
    PyObject *path, *given, *result;
    int rc = -EBUSY, in_main;
    char *text = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&O!p:play", PyUnicode_FSConverter, &path,
                          &PyDict_Type, &given, &in_main))
        return NULL;
    if (read_settings(given, &settings) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    if (!busy) {
        busy = true;
        if (in_main)
            catch_interrupts();
        Py_BEGIN_ALLOW_THREADS rc =
            replay_play_file(PyBytes_AS_STRING(path), &settings, &text);
        Py_END_ALLOW_THREADS release_interrupts();
        busy = false;
    }
    Py_DECREF(path);
    if (PyErr_CheckSignals() < 0) {
        free(text);
        return NULL;
    }
    result =
        Py_BuildValue("iN", rc, PyUnicode_DecodeFSDefault(text ? text : ""));
    free(text);
    return result;
}

static PyMethodDef functions[] = {
    {"play", py_play, METH_VARARGS,
     "play(path, settings, in_main): the calls of a record are made in this "
     "process. Returns 0 or a negative errno, and what was said. Ctrl-C ends "
     "it in the main thread."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "orrery._replay",
    .m_doc = "Records, played in this process.",
    .m_size = -1,
    .m_methods = functions,
};

/* The thread that plays is not in the child, where the library stays busy. */
static void replay_after_fork(void)
{
    if (busy)
        stderr = errors;
    busy = false;
}

PyMODINIT_FUNC PyInit__replay(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && (PyModule_AddIntConstant(module, "BUSY", -EBUSY) < 0 ||
                   PyModule_AddIntConstant(module, "STOPPED", -EINTR) < 0))
        Py_CLEAR(module);
    if (module)
        pthread_atfork(NULL, NULL, replay_after_fork);
    return module;
}
