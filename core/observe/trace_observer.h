/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_observer.h - the trace as an observer: which events of tell.h become
 * which of the record (trace_record.h).
 */
#pragma once

#include <stdbool.h>

#include "core/exec/runtime.h"

/* Whether there is a trace. */
static inline bool orr_is_traced(const struct orr_runtime *rt)
{
    return orr_is_told(rt, ORR_TOLD_MARK);
}

/* Makes the record that ORRERY_TRACE asks for, if it does, and registers it. Before
 * workers begin. Errors: -ENOMEM. */
int orr_trace_observe(struct orr_runtime *rt);
