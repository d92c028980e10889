/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/child.h - runs a piece of a test in a process of its own, for
 * what ends the process.
 */
#pragma once

#include <stddef.h>

/* Forks, calls body(arg) in the child, and writes what the child printed
 * (stdout and stderr) to `text`, cut at `size` and ended by a zero. A body
 * that returns ends the child with status 0. Returns wait()'s status. */
int child_run(void (*body)(void *), void *arg, char *text, size_t size);
