/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/dap.h - the Debug Adapter Protocol, by which editors debug: tasks under way
 * are threads, what a task waits for is its stack, data and their copies are variables.
 * One thread.
 */
#pragma once

struct launch;

/* Serves one editor on standard input and output, until it disconnects. What the launch
 * has (machine, policy, program) is what its requests leave out; what it makes ready is in
 * the folder. `ranks`: how many its machine has to have, NULL: any. Returns an exit code. */
int dap_serve(struct launch *launch, const char *folder, const char *ranks);
