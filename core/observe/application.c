/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/application.c - see application.h. */
#include "core/observe/application.h"

#include <math.h>

#include "core/exec/runtime.h"
#include "core/observe/trace_record.h"
#include "core/observe/views.h"

/* µs: what is shorter is no event of its own, but counts as a part of the calls around
 * it. Programs that make tasks in a loop take less between two of them. */
#define LEAST_OWN_US 10

bool orr_application_runs(const struct orr_runtime *rt)
{
    const struct orr_context *self = orr_self;

    return self == rt->main && !self->frozen && !self->job;
}

/* A thread of the application may be a worker for a while (core/loop/driven.h). */
static bool application_is_followed(const struct orr_runtime *rt)
{
    return rt->views->follows && orr_application_runs(rt) && !orr_self->worker;
}

bool orr_application_enter(struct orr_runtime *rt)
{
    struct orr_application *app = &rt->views->application;

    if (!orr_application_runs(rt) || app->inside)
        return false;
    app->inside = true;
    app->entered = orr_exec_now(rt->exec);
    if (!rt->exec->virtual_time && application_is_followed(rt) &&
        app->entered - app->returned >= LEAST_OWN_US)
        orr_trace_record_application(rt->views->trace, ORR_TRACE_OWN, NULL,
                                     app->returned, app->entered);
    return true;
}

void orr_application_return(struct orr_runtime *rt)
{
    rt->views->application.inside = false;
    rt->views->application.returned = orr_exec_now(rt->exec);
}

struct orr_application_span orr_application_begin(struct orr_runtime *rt,
                                                  enum orr_trace_doing doing,
                                                  const char *call)
{
    struct orr_application_span span = {
        .rt = rt, .doing = doing, .call = call, .since = NAN};

    if (!rt || !application_is_followed(rt))
        return span;
    span.outermost = orr_application_enter(rt);
    span.since = orr_exec_now(rt->exec);
    orr_trace_begin(rt->views->trace, &span.ticket);
    return span;
}

void orr_application_end(struct orr_application_span *span)
{
    struct orr_runtime *rt = span->rt;
    double now;

    if (isnan(span->since))
        return;
    now = orr_exec_now(rt->exec);
    if (now > span->since)
        orr_trace_record_application(rt->views->trace, span->doing, span->call,
                                     span->since, now);
    orr_trace_end(rt->views->trace, &span->ticket);
    if (span->outermost)
        orr_application_return(rt);
}
