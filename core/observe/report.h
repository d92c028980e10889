/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/report.h - the output of a run: the report (ORRERY_REPORT), the
 * trace (ORRERY_TRACE), the graph of tasks (ORRERY_GRAPH), also when it ends
 * early.
 */
#pragma once

struct orr_runtime;

/* Writes report, trace and graph if they were requested. `how`: how the run
 * ended: "shutdown", "deadlock", "exit", "signal", "missing", "error". The
 * files appear whole or not at all. Does not block. */
void orr_report_write(struct orr_runtime *rt, const char *how);

/* The trace alone, beside threads that still record. */
void orr_report_write_trace(struct orr_runtime *rt);
