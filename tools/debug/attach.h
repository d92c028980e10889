/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/attach.h - who waits for what in a program that runs already, real or simulated:
 * gdb, with tools/gdb/orrery.py, stops it for a moment and looks. One thread.
 */
#pragma once

#include <stdbool.h>

/* Prints it, a sentence a line, or as a line of JSON; the process goes on behind that. `pid`
 * is what was typed. Returns an exit code, with a message. */
int attach_explain(const char *pid, bool json);
