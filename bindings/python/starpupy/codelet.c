/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/codelet.c - a codelet for each function's name, model
 * and devices. They are kept as long as the process, as the static ones of a C
 * program, because the library does.
 */
#include "starpupy.h"

#include <stdlib.h>

struct codelet {
    struct starpu_codelet cl;
    struct starpu_perfmodel model;
};

/* By (name, model, where). */
static PyObject *codelets;

/* The size that regressions and assumed times take: all bytes of the arguments. */
static size_t task_size_of_arguments(struct starpu_task *task,
                                     unsigned implementation)
{
    size_t bytes = spy_task_bytes(task);

    (void)implementation;
    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++)
        bytes += starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, i));
    return bytes;
}

/* The footprint of a task: the sizes of its data and of its other arguments. */
static uint32_t footprint_of(struct starpu_task *task)
{
    uint32_t footprint = starpu_task_data_footprint(task);
    size_t bytes = spy_task_bytes(task);

    return bytes ? starpu_hash_crc32c_be_n(&bytes, sizeof(bytes), footprint)
                 : footprint;
}

static void fill_model(struct codelet *codelet, PyObject *symbol)
{
    codelet->model.type = STARPU_HISTORY_BASED;
    codelet->model.symbol = PyUnicode_AsUTF8(symbol); /* submit.c has checked */
    codelet->model.footprint = footprint_of;
    codelet->model.size_base = task_size_of_arguments;
    codelet->cl.model = &codelet->model;
}

/* The key holds the texts. */
static struct codelet *codelet_make(PyObject *name, PyObject *model, int where,
                                    void (*kernel)(void **, void *))
{
    struct codelet *codelet = calloc(1, sizeof(*codelet));

    if (!codelet)
        return (void *)PyErr_NoMemory();
    codelet->cl.name = PyUnicode_AsUTF8(name);
    if (!codelet->cl.name) {
        free(codelet);
        return NULL;
    }
    codelet->cl.cpu_funcs[0] = kernel;
    codelet->cl.cpu_funcs_name[0] = codelet->cl.name;
    codelet->cl.where = (uint32_t)where;
    codelet->cl.nbuffers = STARPU_VARIABLE_NBUFFERS;
    if (model != Py_None)
        fill_model(codelet, model);
    return codelet;
}

static struct codelet *codelet_add(PyObject *key, PyObject *name,
                                   PyObject *model, int where,
                                   void (*kernel)(void **, void *))
{
    struct codelet *codelet = codelet_make(name, model, where, kernel);
    PyObject *capsule = codelet ? PyCapsule_New(codelet, NULL, NULL) : NULL;

    if (!capsule || PyDict_SetItem(codelets, key, capsule) < 0) {
        free(codelet);
        codelet = NULL;
    }
    Py_XDECREF(capsule);
    return codelet;
}

/* A name alone is the key of most. */
static PyObject *codelet_key(PyObject *name, PyObject *model, int where)
{
    if (model == Py_None && !where)
        return Py_NewRef(name);
    return Py_BuildValue("(OOi)", name, model, where);
}

struct starpu_codelet *spy_codelet(PyObject *name, PyObject *model, int where,
                                   void (*kernel)(void **, void *))
{
    PyObject *key, *capsule;
    struct codelet *codelet;

    if (!codelets && !(codelets = PyDict_New()))
        return NULL;
    key = codelet_key(name, model, where);
    if (!key)
        return NULL;
    capsule = PyDict_GetItemWithError(codelets, key);
    if (capsule)
        codelet = PyCapsule_GetPointer(capsule, NULL);
    else
        codelet = PyErr_Occurred()
                      ? NULL
                      : codelet_add(key, name, model, where, kernel);
    Py_DECREF(key);
    return codelet ? &codelet->cl : NULL;
}

struct starpu_perfmodel *spy_model(PyObject *symbol)
{
    PyObject *key, *capsule;
    Py_ssize_t at = 0;

    while (codelets && PyDict_Next(codelets, &at, &key, &capsule)) {
        struct codelet *codelet = PyCapsule_GetPointer(capsule, NULL);

        if (codelet->cl.model && PyUnicode_CompareWithASCIIString(
                                     symbol, codelet->model.symbol) == 0)
            return &codelet->model;
    }
    return NULL;
}
