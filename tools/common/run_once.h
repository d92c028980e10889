/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/run_once.h - one run of a program, and what is said of it: its report,
 * whether what-if edits had an effect. One thread.
 */
#pragma once

#include "tools/common/launch.h"

/* Runs it and prints its report, as JSON or as text. Returns the exit code of
 * `command`, whose name is in messages: the program's own, also when it never
 * started the library; the launch is for launch_done. */
int run_once(struct launch *launch, const char *command, bool json);
