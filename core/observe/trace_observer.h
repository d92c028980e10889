/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_observer.h - the trace as an observer: which events of tell.h become
 * which of the record (record.h).
 */
#pragma once

struct orr_runtime;

/* Makes the record that ORRERY_TRACE asks for, if it does, and registers it. Before
 * workers begin. Errors: -ENOMEM. */
int orr_trace_observe(struct orr_runtime *rt);
