/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/report.h - the output of a run: the report (ORRERY_REPORT), the
 * trace (ORRERY_TRACE), the graph of tasks (ORRERY_GRAPH), also when it ends
 * early.
 */
#pragma once

#include <stdio.h>

#include "core/base/config.h"

struct orr_runtime;

/* Prints to the file that the variable names, opened as `how` says, else to stderr;
 * `name` is the variable that asks for it. An error is printed only, and the run ends
 * as it would have: it is a report. */
void orr_report_print_to(struct orr_runtime *rt, enum orr_config_id variable,
                         const char *name, const char *how,
                         void (*print)(struct orr_runtime *rt, FILE *out));

/* Writes report, trace and graph if they were requested. `how`: how the run
 * ended: "shutdown", "deadlock", "exit", "signal", "missing", "error". The
 * files appear whole or not at all. Does not block. */
void orr_report_write(struct orr_runtime *rt, const char *how);

/* Trace and graph alone, beside threads that still record. */
void orr_report_write_beside(struct orr_runtime *rt);
