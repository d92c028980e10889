/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/python/interrupt.c - see interrupt.h. */
#include "core/sched/python/interrupt.h"

#include <Python.h>

volatile sig_atomic_t orr_py_inside;

static unsigned nusers; /* scripts; with the interpreter's lock */

static void on_script_interrupt(int number)
{
    if (orr_py_inside) {
        (void)PyErr_SetInterruptEx(number);
        return;
    }
    signal(number, SIG_DFL);
    raise(number);
}

static bool ends_the_process(void)
{
    struct sigaction now;

    return sigaction(SIGINT, NULL, &now) == 0 &&
           !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
}

/* Python's handler of the signal: `name` of its module. False outside the
 * thread in which the interpreter began. */
static bool set_action(const char *name)
{
    PyObject *module = PyImport_ImportModule("_signal");
    PyObject *action = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *done = action ? PyObject_CallMethod(module, "signal", "iO",
                                                  SIGINT, action)
                            : NULL;

    Py_XDECREF(module);
    Py_XDECREF(action);
    Py_XDECREF(done);
    PyErr_Clear();
    return done != NULL;
}

bool orr_py_interrupts_on(void)
{
    const struct sigaction ours = {.sa_handler = on_script_interrupt};

    if (nusers == 0 && (!ends_the_process() ||
                        !set_action("default_int_handler") ||
                        sigaction(SIGINT, &ours, NULL) != 0))
        return false;
    nusers++;
    return true;
}

void orr_py_interrupts_off(void)
{
    if (--nusers == 0)
        (void)set_action("SIG_DFL");
}
