/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/thread.c - Python on the stacks of the runtime.
 *
 * Several stacks may take turns on one OS thread: all of a simulation's, and those
 * of the kernels that a worker has suspended. A thread state of CPython holds a
 * stack of frames, so each activation of Python has a state of its own, and gives
 * it up whenever another stack may run. Worker w keeps the states that it has
 * used, in a list that only it touches: most often one.
 */
#include <patchlevel.h>
/* Before 3.12, code that changes the state must tell PyGILState_Ensure():
 * otherwise that takes the GIL a second time when numpy calls it inside of a
 * kernel. */
#if PY_VERSION_HEX < 0x030c0000
#    define Py_BUILD_CORE_MODULE 1
#endif

#include "starpupy.h"

#if PY_VERSION_HEX < 0x030c0000
#    include <internal/pycore_runtime.h>
#endif

struct kept {
    PyThreadState *state;
    struct kept *next;
};

/* Behind the workers: a simulation's main stack. */
static struct kept *unused[STARPU_NMAXWORKERS + 1];

static _Thread_local bool held;

static void thread_set_gil_state(PyThreadState *state)
{
#if PY_VERSION_HEX < 0x030c0000
    (void)PyThread_tss_set(&_PyRuntime.gilstate.autoTSSkey, state);
#else
    (void)state;
#endif
}

static struct kept **unused_states_of_worker(int worker)
{
    return &unused[worker >= 0 ? worker : STARPU_NMAXWORKERS];
}

PyThreadState *spy_enter(void)
{
    int worker = starpu_worker_get_id();
    struct kept **list = unused_states_of_worker(worker), *kept = *list;
    PyThreadState *state;

    if (held)
        return NULL;
    if (worker < 0 && !spy.simulated) {
        PyGILState_STATE was = PyGILState_Ensure();

        (void)was; /* always unlocked: the thread does not hold it */
        return PyThreadState_Get();
    }
    if (!kept) {
        state = PyThreadState_New(PyInterpreterState_Main());
        if (!state)
            Py_FatalError("starpu: no memory for a thread state");
    } else {
        state = kept->state;
        *list = kept->next;
        PyMem_RawFree(kept);
    }
    spy_attach(state);
    return state;
}

void spy_leave(PyThreadState *state)
{
    int worker = starpu_worker_get_id();
    struct kept *kept;

    if (!state)
        return;
    if (worker < 0 && !spy.simulated) {
        PyGILState_Release(PyGILState_UNLOCKED);
        return;
    }
    kept = PyMem_RawMalloc(sizeof(*kept));
    if (!kept) {
        PyThreadState_Clear(state);
        PyThreadState_DeleteCurrent();
        return;
    }
    (void)PyEval_SaveThread();
    *kept = (struct kept){state, *unused_states_of_worker(worker)};
    *unused_states_of_worker(worker) = kept;
}

PyThreadState *spy_detach(void)
{
    return PyEval_SaveThread();
}

void spy_attach(PyThreadState *state)
{
    PyEval_RestoreThread(state);
    thread_set_gil_state(state);
}

void spy_hold(bool holds)
{
    held = holds;
}

void spy_forget_threads(void)
{
    for (unsigned i = 0; i <= STARPU_NMAXWORKERS; i++) {
        struct kept *kept = unused[i], *next;

        unused[i] = NULL;
        for (; kept; kept = next) {
            next = kept->next;
            PyThreadState_Clear(kept->state);
            PyThreadState_Delete(kept->state);
            PyMem_RawFree(kept);
        }
    }
    thread_set_gil_state(PyThreadState_Get());
}
