/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/interrupt.h - the signals that ask a command to end: SIGINT, SIGTERM and
 * SIGHUP. One that the command was started to ignore (nohup) stays ignored.
 */
#pragma once

/* From here on they remove temporary folders (scratch.h), and then end the process as if
 * they were not caught. At the begin of main. */
void interrupt_begin(void);

/* Calls `handler` with the signal's number instead; NULL: ends the process again. Returns
 * the handler before, which the caller puts back. */
typedef void interrupt_fn(int number);
interrupt_fn *interrupt_take(interrupt_fn *handler);

/* Ends the process as that signal does when nobody has taken it: of a command that has
 * waited for another program, which was ended, and has nothing else to say. */
_Noreturn void interrupt_end(int number);

/* In a child of fork: they have their usual effect. */
void interrupt_forget(void);

/* What is said when one ends the process: static; NULL: nothing. */
void interrupt_says(const char *message);
