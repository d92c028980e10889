/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/run.h - runs a legal program with the library, in this process.
 */
#pragma once

#include <stdbool.h>

#include "program.h"
#include "report.h"

/* What programs may need and the library may lack. */
bool run_has_arbiters(void);
bool run_has_reductions(void);

/* Opens the machine, runs one graph after the other, closes it. A graph that
 * has not ended after `limit_s` seconds of real time ends the process with
 * SIGALRM; 0: no limit. Returns whether it came to the end; failures are in
 * the report. */
bool run_program(const struct program *program, unsigned limit_s,
                 struct report *report);
