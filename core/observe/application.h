/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/application.h - what the application's main context does while it
 * submits nothing, for traces that show it (rt->views->follows): it waits in a call, or does
 * something of its own between two calls. Simulated, its own time is what it sleeps:
 * code of the application takes no virtual time. Any context may call these; one that
 * is not the main one, or is in a kernel or callback, is ignored.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/observe/trace_types.h"

struct orr_runtime;

/* What the application does until the block is left, by whichever way: it waits in the
 * call of that name (a constant), or, with NULL, sleeps outside of calls. `rt` may be
 * NULL. Once in a block. */
#define ORR_APPLICATION_DOES(rt, doing, call)                                  \
    struct orr_application_span application_span                               \
        __attribute__((cleanup(orr_application_end), unused)) =                \
            orr_application_begin(rt, doing, call)

struct orr_application_span orr_application_begin(struct orr_runtime *rt,
                                                  enum orr_trace_doing doing,
                                                  const char *call);
void orr_application_end(struct orr_application_span *span);

/* Whether the caller is the main context, in code of the application's own. */
bool orr_application_runs(const struct orr_runtime *rt);

/* The application calls the library. Returns true if it was in no call before: then it
 * is in this one until orr_application_return. What it did before is recorded in the
 * trace; its own computing takes time on the real machine only. */
bool orr_application_enter(struct orr_runtime *rt);
void orr_application_return(struct orr_runtime *rt);
