/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/starpupy.h - what the files of the extension module
 * starpu.starpupy share. Everything here needs the GIL unless it says
 * otherwise. Fields marked [GIL] are read and written with it only.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include <orrery.h>
#include <starpu.h>

/* -- the module ----------------------------------------------------------- */

/* One per process: the runtime is one per process as well. */
struct spy_state {
    PyObject *error;         /* [const] starpupy.error */
    PyObject *cancelled;     /* [const] asyncio.CancelledError */
    PyObject *unready;       /* [const] asyncio.InvalidStateError */
    PyObject *future_type;   /* [const] starpu.Future */
    PyObject *handle_type;   /* [const] starpu.Handle */
    PyObject *placeholder;   /* [const] the value of what was not run */
    PyObject *call_back;     /* [const] (future, callbacks) -> None */
    PyObject *find;          /* [const] (name) -> callable */
    PyObject *view_like;     /* [const] (object, memory) -> object */
    PyObject *names_of;      /* [const] (callable) -> names by position */
    PyObject *has_parameter; /* [const] (callable, name) -> bool */
    unsigned users;          /* [GIL] init() without shutdown(), 0: closed */
    unsigned pauses;         /* [GIL] pause() without resume() */
    unsigned holds;       /* [GIL] handles that the application has acquired */
    bool simulated;       /* [GIL] the machine, while it is open */
    bool runs_kernels;    /* [GIL] … executes Python functions */
    bool lines;           /* [GIL] … shows where tasks are submitted */
    bool delivering;      /* a simulation has called us where it cannot wait */
    bool limited;         /* [GIL] submission may wait for tasks to end */
    bool forked;          /* this process was forked after init() */
    unsigned long thread; /* [GIL] the thread that called init() */
    size_t unfinished;    /* [GIL] tasks submitted and not delivered */
    PyObject *interruption; /* [GIL] KeyboardInterrupt that came in a kernel
                             * of the simulation, or NULL */
};

extern struct spy_state spy;

/* Sets starpupy.error; the format is that of PyErr_Format. Returns NULL. */
PyObject *spy_error(const char *format, ...);

/* Whether the library may be called here: sets the exception if not. `call` is
 * what the user called. */
bool spy_may_call(const char *call);

/* Whether the caller is a task. */
bool spy_in_task(void);

/* The mode that R, W or RW stands for, -1 and an exception otherwise. */
int spy_mode(PyObject *text);

/* -- thread.c: Python on the stacks of the runtime ------------------------ */

/* The GIL and a thread state of its own for a function of ours that the runtime
 * calls, on whatever stack; NULL when the thread has it already. Without GIL. */
PyThreadState *spy_enter(void);
void spy_leave(PyThreadState *state);

/* Around calls that may wait, or run others on this thread. */
PyThreadState *spy_detach(void);
void spy_attach(PyThreadState *state);

/* Around calls that do neither, with the GIL: what they call back has it. */
void spy_hold(bool holds);

/* Frees all states. Nothing of the runtime is left. */
void spy_forget_threads(void);

/* -- wait.c: what the application waits for ------------------------------- */

struct spy_waiter;

/* Whether the caller can wait here for tasks: sets the exception if not. */
bool spy_may_wait(void);

/* One for a wait of the calling context; NULL and an exception. Owned, unless
 * the wait is given up. */
struct spy_waiter *spy_waiter_new(void);
void spy_waiter_free(struct spy_waiter *waiter);

/* Wakes it, or returns false: the wait was given up and the waiter is freed. Any
 * thread, with the GIL or without. */
bool spy_wake(struct spy_waiter *waiter);

/* Ends a wait that failed: returns true if the waker is to free the waiter;
 * false if the waiter was woken already, and frees it. */
bool spy_give_up(struct spy_waiter *waiter);

/* Waits until it is woken, or in a simulation until a date, µs. Returns 1, 0: it
 * is late, or -1: a signal's handler raised an exception. */
int spy_wait(struct spy_waiter *waiter, double until_us);

/* Waits until all tasks have been delivered. 0, or -1 and an exception. */
int spy_wait_for_all(void);

/* Waits until some task was delivered, or until the date. As spy_wait. */
int spy_wait_for_any(double until_us);

/* A task was delivered. */
void spy_wake_waiters(void);

/* Remembers a KeyboardInterrupt and ends the waits with it. Steals `exception`. */
void spy_interrupt(PyObject *exception);

/* Whether such an exception came and is to be raised here: it is set then. */
bool spy_is_interrupted(void);

/* The exception that is set can be raised nowhere: says it, but an interrupt of a
 * simulation ends the waits. */
void spy_unraisable(PyObject *where);

/* -- future.c ------------------------------------------------------------- */

enum spy_future_state {
    SPY_PENDING, /* submitted */
    SPY_RUNNING, /* its function was called */
    SPY_DONE,    /* value: what that returned */
    SPY_FAILED,  /* value: the exception */
    SPY_CANCELLED,
};

struct spy_future {
    PyObject_HEAD struct starpu_task *task; /* until it is delivered */
    enum spy_future_state state;
    PyObject *value, *traceback;
    PyObject *callbacks;        /* list, or NULL */
    PyObject *name;             /* of the task */
    struct spy_waiter *waiters; /* next in each */
    PyObject *dict, *weakrefs;
    bool seen; /* a caller asked for the exception */
};

extern PyTypeObject spy_future_type;

static inline bool spy_future_ended(const struct spy_future *future)
{
    return future->state >= SPY_DONE;
}

/* A pending one, of spy.future_type. */
struct spy_future *spy_future_new(PyObject *name);

/* Delivers: wakes the waiters and calls the callbacks. Borrows value and
 * traceback. */
void spy_future_set(struct spy_future *future, enum spy_future_state state,
                    PyObject *value, PyObject *traceback);

/* Sets the exception that a failed or cancelled one has. */
void spy_future_raise(struct spy_future *future);

/* -- handle.c, register.c, partition.c ------------------------------------ */

struct spy_handle {
    PyObject_HEAD starpu_data_handle_t data; /* NULL: unregistered */
    PyObject *object;  /* what it stands for; NULL: nothing yet */
    PyObject *failure; /* the exception of the task that was to make it */
    Py_buffer view;    /* if `viewed`: the object's memory */
    bool viewed;
    bool listed;              /* in the register, by `object` */
    bool automatic;           /* and that owns it */
    bool constant;            /* the object's memory can only be read */
    bool ending;              /* unregistered, but tasks still use it */
    size_t pending;           /* tasks that use it … */
    size_t uses;              /* … those that ever did … */
    size_t claims;            /* … and calls that are being submitted */
    bool going;               /* a thread ends it, or waits for its tasks */
    int held;                 /* the mode in which it is acquired, 0: not */
    struct spy_handle *whole; /* of which this is a part; owned */
    size_t nparts;            /* into which it is partitioned */
    starpu_data_handle_t *parts;
    PyObject *children;       /* list of their handles, or NULL */
    uint32_t *plan;           /* for the filter: dimension, starts of parts */
    int axis[PyBUF_MAX_NDIM]; /* the object's dimension of each of the data's */
    char *home;               /* where the object's memory begins */
    struct spy_handle *next, **link; /* of all with data of their own */
    PyObject *weakrefs;
};

extern PyTypeObject spy_handle_type;
extern PyTypeObject spy_memory_type;

static inline bool spy_is_handle(PyObject *object)
{
    return PyObject_TypeCheck(object, &spy_handle_type);
}

/* A new handle of spy.handle_type for a value that a task will give. */
struct spy_handle *spy_handle_new(void);

/* Gives the handle its data: memory if the object has any, else none. -1 and an
 * exception; 1 as spy_register_add. */
int spy_handle_register(struct spy_handle *handle, PyObject *object);

/* A call that is being submitted uses it from now on: it is not ended meanwhile. */
void spy_handle_claim(struct spy_handle *handle, bool on);

/* Whether a call that this thread is submitting has claimed it; in task.c. */
bool spy_task_claims(const struct spy_handle *handle);

/* Whether the exception that this thread has is that of a call which met the claims
 * of another thread's. Then it is gone, after a moment: the call can be tried again.
 */
bool spy_met_claims(void);

/* Ends it: waits for its tasks unless `later`, then frees what it had. -1 and an
 * exception. */
int spy_handle_unregister(struct spy_handle *handle, bool later);

/* The handle that stands for an object with memory, made if there is none; NULL
 * without an exception if the object has none. Borrowed from the register. */
struct spy_handle *spy_handle_of(PyObject *object);
/* The one that there is, or NULL. */
struct spy_handle *spy_handle_find(PyObject *object);

/* The object that a function gets for the handle; its data are where the
 * interface says. */
PyObject *spy_handle_value(struct spy_handle *handle, void *interface);

/* -1 and an exception if it is not there any more. */
int spy_handle_check(const struct spy_handle *handle, const char *call);

/* The register of objects: -1 and an exception if it is there already, or its
 * memory overlaps that of another one; 1 if an automatic one is there by now, since
 * that may wait. */
int spy_register_add(struct spy_handle *handle);
void spy_register_remove(struct spy_handle *handle);
/* Another object is that of a handle without memory. -1 and an exception if it is
 * registered already. */
int spy_register_replace(struct spy_handle *handle, PyObject *object);
/* Ends automatic handles whose objects nobody but the register knows; all those
 * that are not in use if `all`. */
void spy_register_sweep(bool all);
/* Leaves the handle, or if it is `dying` what it owns (taken), to be ended by a
 * later call of the application, once no task uses it. */
void spy_garbage_add(struct spy_handle *handle, bool dying);
void spy_garbage_collect(void);

/* Ends all handles: the run is about to end. -1 and an exception. */
int spy_handles_end(void);

/* Waits for the tasks of the handle, which is in no use otherwise, and ends its
 * data. -1 and an exception. */
int spy_handle_end(struct spy_handle *handle);

/* Ends its parts. */
void spy_handle_join(struct spy_handle *handle);

PyObject *spy_handle_partition(struct spy_handle *handle, PyObject *args);
PyObject *spy_handle_unpartition(struct spy_handle *handle, PyObject *ignored);

/* -- codelet.c, task.c ---------------------------------------------------- */

/* The codelet of a function's name, a performance model's (None: none) and the
 * devices. Never freed. NULL and an exception. */
struct starpu_codelet *spy_codelet(PyObject *name, PyObject *model, int where,
                                   void (*kernel)(void **, void *));

/* The performance model of that symbol which a codelet has, or NULL. */
struct starpu_perfmodel *spy_model(PyObject *symbol);

/* The bytes of a task's arguments that are no data; for models. */
size_t spy_task_bytes(const struct starpu_task *task);

extern PyTypeObject spy_submit_type;
