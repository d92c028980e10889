/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/fxt.c - marks of the application in the trace. Any thread. */
#include "core/api/api.h"
#include "core/observe/trace_observer.h"

int starpu_fxt_is_enabled(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt && orr_is_traced(rt);
}

static void mark(struct orr_runtime *rt, const char *text, bool numbered)
{
    if (rt)
        ORR_TELL(rt, ORR_TOLD_MARK, .text = text, .numbered = numbered);
}

/* What is before starpu_fxt_start_profiling is in the trace as well. */
void starpu_fxt_autostart_profiling(int autostart)
{
    (void)autostart;
}

void starpu_fxt_start_profiling(void)
{
    mark(orr_runtime_current(__func__), "start_profiling", false);
}

void starpu_fxt_stop_profiling(void)
{
    mark(orr_runtime_current(__func__), "stop_profiling", false);
}

void starpu_fxt_trace_user_event(unsigned long code)
{
    char text[24];

    snprintf(text, sizeof(text), "%lu", code);
    mark(orr_runtime_current(__func__), text, true);
}

void starpu_fxt_trace_user_event_string(const char *s)
{
    mark(orr_runtime_current(__func__), s, false);
}

void starpu_fxt_trace_user_meta_string(const char *s)
{
    mark(orr_runtime_current(__func__), s, false);
}
