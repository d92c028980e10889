/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/application.h - what the application's main context does while it
 * submits nothing, for traces that show it: it waits in a call, or does something of
 * its own between two calls. Off while rt->follows is false, which is all that it then
 * costs. Simulated, its own time is what it sleeps: code of the application takes no
 * virtual time. Any context may call; what is not the main one, or is in a kernel
 * or callback, is ignored.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/observe/trace_types.h"

struct orr_runtime;

/* A wait, or a sleep, that goes on. */
struct orr_application_span {
    double since; /* NaN: nobody's that is followed */
    uint32_t ticket;
};

/* What it does from here on is told by end. */
void orr_application_begin(struct orr_runtime *rt,
                           struct orr_application_span *span);

/* `call`: in which it did that, a constant; NULL: in none. */
void orr_application_end(struct orr_runtime *rt,
                         const struct orr_application_span *span,
                         enum orr_trace_doing doing, const char *call);

/* A call begins, or returns. What lies between takes time on the real machine only:
 * see rt->listens. */
void orr_application_enter(struct orr_runtime *rt);
void orr_application_return(struct orr_runtime *rt);
