/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/python/interrupt.h - SIGINT (Ctrl-C) while a policy runs is the exception
 * KeyboardInterrupt there, whose traceback says where a loop has no end. Outside it
 * ends the process, as ever. An application that handles the signal, or ignores it,
 * goes on to do so.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Whether a method of a policy is running. */
extern volatile sig_atomic_t orr_py_inside;

/* For a policy, until _off, which follows if it was possible. With the interpreter's
 * lock. */
bool orr_py_interrupts_on(void);
void orr_py_interrupts_off(void);
