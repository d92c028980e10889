/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/register.c - which object has which handle, and which
 * memory is whose; handles that end later. Under the GIL.
 */
#include "starpupy.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    PyObject *object; /* the key; the handle has the reference */
    struct spy_handle *handle;
};

struct range {
    const char *begin, *end;
    struct spy_handle *handle; /* whose memory it is; the handle is listed */
};

struct garbage {
    struct spy_handle *handle; /* or NULL: the rest */
    starpu_data_handle_t data, *parts;
    size_t nparts;
    uint32_t *plan;
    Py_buffer view;
    bool viewed;
    bool held; /* acquired by the application, which has no handle any more */
};

/* All three are sorted lists or stacks that double when they are full. */
static struct {
    struct entry *entries; /* by address of the object */
    size_t nentries, entries_room;
    struct range *ranges; /* of memory that can be written, by address */
    size_t nranges, ranges_room;
    struct garbage *garbage;
    size_t ngarbage, garbage_room;
    size_t nautomatic, sweep_at;
    Py_ssize_t bytes, sweep_at_bytes; /* of automatic ones */
} reg;

enum { FEW = 64 };
static const Py_ssize_t SMALL = 64 << 20;

/* Makes room for one more element. -1 and an exception. */
static int register_grow(void *list, size_t *room, size_t n, size_t size)
{
    void **at = list, *more;
    size_t want = *room ? 2 * *room : FEW;

    if (n < *room)
        return 0;
    more = realloc(*at, want * size);
    if (!more) {
        PyErr_NoMemory();
        return -1;
    }
    *at = more;
    *room = want;
    return 0;
}

/* -- objects -------------------------------------------------------------- */

/* The first entry that is not before the object's. */
static size_t register_lower_bound(const PyObject *object)
{
    size_t low = 0, high = reg.nentries;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if ((uintptr_t)reg.entries[middle].object < (uintptr_t)object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct spy_handle *spy_handle_find(PyObject *object)
{
    size_t at = register_lower_bound(object);

    return at < reg.nentries && reg.entries[at].object == object
               ? reg.entries[at].handle
               : NULL;
}

/* Objects that cannot change may have several handles. */
static bool is_immutable(PyObject *object)
{
    return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
           PyComplex_Check(object) || PyUnicode_Check(object) ||
           PyBytes_Check(object) || PyTuple_CheckExact(object) ||
           PyFrozenSet_CheckExact(object) || PyFunction_Check(object);
}

static int add_entry(struct spy_handle *handle)
{
    size_t at = register_lower_bound(handle->object);

    if (at < reg.nentries && reg.entries[at].object == handle->object) {
        if (is_immutable(handle->object))
            return 0;
        spy_error("%s object is registered already, and can change: use the "
                  "handle that it has, or unregister it first",
                  Py_TYPE(handle->object)->tp_name);
        return -1;
    }
    if (register_grow(&reg.entries, &reg.entries_room, reg.nentries,
                      sizeof(reg.entries[0])) < 0)
        return -1;
    memmove(&reg.entries[at + 1], &reg.entries[at],
            (reg.nentries - at) * sizeof(reg.entries[0]));
    reg.entries[at] = (struct entry){handle->object, handle};
    reg.nentries++;
    handle->listed = true;
    return 0;
}

/* -- memory --------------------------------------------------------------- */

static struct range range_of(struct spy_handle *handle)
{
    const Py_buffer *view = &handle->view;
    Py_ssize_t length = view->itemsize;

    for (int i = 0; i < view->ndim; i++)
        length += (view->shape[i] - 1) * view->strides[i];
    return (struct range){view->buf, (const char *)view->buf + length, handle};
}

static size_t range_place(const char *begin)
{
    size_t low = 0, high = reg.nranges;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (reg.ranges[middle].end <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_range(const struct spy_handle *handle)
{
    return handle->viewed && !handle->view.readonly;
}

/* Whether it can be ended to make way: the program has made no handle of it, and
 * its tasks, if it has any, will end whatever the program does. */
static bool can_go(const struct spy_handle *handle)
{
    return handle->automatic && !handle->held && !handle->nparts &&
           (handle->pending == 0 || (!spy.pauses && !spy.holds));
}

/* The handle whose memory overlaps that of another one, or NULL. */
static struct spy_handle *find_overlapping_handle(const struct range *range)
{
    size_t at = range_place(range->begin);

    return at < reg.nranges && reg.ranges[at].begin < range->end
               ? reg.ranges[at].handle
               : NULL;
}

/* Ends those that overlap it, after their tasks: objects that come and go, as
 * slices of an array do, are used in turn. */
static int make_way(const struct range *range)
{
    struct spy_handle *other;

    while ((other = find_overlapping_handle(range)) != NULL && can_go(other) &&
           !spy_in_task() && !spy.delivering)
        if (spy_handle_unregister(other, false) < 0)
            return -1;
    return 0;
}

static int register_add_range(struct spy_handle *handle)
{
    struct range range = range_of(handle);
    size_t at;

    if (find_overlapping_handle(&range)) {
        spy_error("memory of %s object is part of another object's that is "
                  "in use: use Handle.partition to let tasks work on parts of "
                  "an object, or unregister the other one first",
                  Py_TYPE(handle->object)->tp_name);
        return -1;
    }
    if (register_grow(&reg.ranges, &reg.ranges_room, reg.nranges,
                      sizeof(reg.ranges[0])) < 0)
        return -1;
    at = range_place(range.begin);
    memmove(&reg.ranges[at + 1], &reg.ranges[at],
            (reg.nranges - at) * sizeof(reg.ranges[0]));
    reg.ranges[at] = range;
    reg.nranges++;
    return 0;
}

static void remove_range(const struct spy_handle *handle)
{
    size_t at = range_place(handle->view.buf);

    memmove(&reg.ranges[at], &reg.ranges[at + 1],
            (reg.nranges - at - 1) * sizeof(reg.ranges[0]));
    reg.nranges--;
}

static void remove_entry(struct spy_handle *handle)
{
    size_t at = register_lower_bound(handle->object);

    memmove(&reg.entries[at], &reg.entries[at + 1],
            (reg.nentries - at - 1) * sizeof(reg.entries[0]));
    reg.nentries--;
    handle->listed = false;
}

int spy_register_add(struct spy_handle *handle)
{
    struct range range;

    if (has_range(handle)) {
        range = range_of(handle);
        if (make_way(&range) < 0)
            return -1;
    }
    /* Another thread may have been here during the wait. */
    if (handle->automatic && spy_handle_find(handle->object))
        return 1;
    if (add_entry(handle) < 0)
        return -1;
    if (handle->listed && has_range(handle) && register_add_range(handle) < 0) {
        remove_entry(handle);
        return -1;
    }
    if (handle->automatic) {
        reg.nautomatic++;
        reg.bytes += handle->view.len;
    }
    return 0;
}

void spy_register_remove(struct spy_handle *handle)
{
    if (!handle->listed)
        return;
    if (has_range(handle))
        remove_range(handle);
    remove_entry(handle);
    if (handle->automatic) {
        reg.nautomatic--;
        reg.bytes -= handle->view.len;
        Py_DECREF(handle);
    }
}

int spy_register_replace(struct spy_handle *handle, PyObject *object)
{
    PyObject *former = handle->object;
    bool listed = handle->listed;

    if (object == former)
        return 0;
    spy_register_remove(handle);
    handle->object = Py_NewRef(object);
    /* One that is not listed stands for what a task gave, or for an object that
     * cannot change and has another handle as well. */
    if (listed && add_entry(handle) < 0) {
        handle->object = former;
        (void)add_entry(handle);
        Py_DECREF(object);
        return -1;
    }
    Py_XDECREF(former);
    return 0;
}

/* -- automatic handles ---------------------------------------------------- */

/* The references that the handle has to its object: its own, and the view's. */
static Py_ssize_t handle_own_references(const struct spy_handle *handle)
{
    return handle->viewed ? 2 : 1;
}

static bool handle_is_idle(const struct spy_handle *handle, bool all)
{
    if (!handle->automatic || handle->pending || handle->held ||
        handle->nparts || Py_REFCNT(handle) > 1)
        return false;
    return all || Py_REFCNT(handle->object) <= handle_own_references(handle);
}

void spy_register_sweep(bool all)
{
    if (!all && reg.nautomatic < reg.sweep_at && reg.bytes < reg.sweep_at_bytes)
        return;
    if (spy_in_task())
        return;
    for (size_t i = reg.nentries; i-- > 0;) {
        struct spy_handle *handle;

        if (i >= reg.nentries) /* others ended while the last one did */
            continue;
        handle = reg.entries[i].handle;
        if (handle_is_idle(handle, all) &&
            spy_handle_unregister(handle, false) < 0)
            PyErr_WriteUnraisable((PyObject *)handle);
    }
    reg.sweep_at = reg.nautomatic < FEW / 2 ? FEW : 2 * reg.nautomatic;
    reg.sweep_at_bytes = 2 * reg.bytes + SMALL;
}

/* -- what ends later ------------------------------------------------------ */

void spy_garbage_add(struct spy_handle *handle, bool dying)
{
    PyObject *type, *value, *traceback;
    struct garbage garbage = {.handle = handle};

    if (dying)
        garbage = (struct garbage){
            NULL,         handle->data, handle->parts,  handle->nparts,
            handle->plan, handle->view, handle->viewed, handle->held,
        };
    PyErr_Fetch(&type, &value, &traceback);
    if (register_grow(&reg.garbage, &reg.garbage_room, reg.ngarbage,
                      sizeof(reg.garbage[0])) < 0) {
        PyErr_WriteUnraisable(NULL); /* it stays until the run ends */
    } else {
        reg.garbage[reg.ngarbage++] = garbage;
        Py_XINCREF(garbage.handle);
        handle->ending = true;
    }
    PyErr_Restore(type, value, traceback);
}

static void end_garbage(struct garbage *garbage)
{
    PyThreadState *self;

    if (garbage->handle) {
        if (spy_handle_end(garbage->handle) < 0)
            PyErr_WriteUnraisable((PyObject *)garbage->handle);
        Py_DECREF(garbage->handle);
        return;
    }
    if (garbage->held)
        spy.holds--;
    self = spy_detach();
    if (garbage->held)
        starpu_data_release(garbage->data);
    if (garbage->nparts)
        starpu_data_partition_clean(garbage->data, (unsigned)garbage->nparts,
                                    garbage->parts);
    starpu_data_unregister(garbage->data);
    spy_attach(self);
    free(garbage->parts);
    free(garbage->plan);
    if (garbage->viewed)
        PyBuffer_Release(&garbage->view);
}

void spy_garbage_collect(void)
{
    if (!reg.ngarbage || spy_in_task())
        return;
    for (size_t i = reg.ngarbage; i-- > 0;) {
        struct garbage garbage;

        if (i >= reg.ngarbage) /* others ended while the last one did */
            continue;
        garbage = reg.garbage[i];
        if (garbage.handle &&
            (garbage.handle->pending || garbage.handle->going))
            continue;
        reg.garbage[i] = reg.garbage[--reg.ngarbage];
        end_garbage(&garbage);
    }
}
