/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/clock.c - see clock.h: the time of a simulation for programs that ask the C
 * library, if clock.so was preloaded (application/). Code of the application is what runs
 * outside of the library's calls, and what these call: kernels, callbacks, cost functions.
 */
#include "core/api/clock.h"

#include <orrery.h>

#include "core/base/clock_hook.h"
#include "core/base/exec.h"
#include "core/exec/runtime.h"
#include "core/observe/application.h"
#include "core/observe/views.h"

static bool is_application(void)
{
    const struct orr_context *self = orr_self;
    const struct orr_runtime *rt = self ? self->runtime : NULL;

    return rt && (self->frozen > 0 ||
                  (orr_application_runs(rt) && !rt->views->application.inside));
}

static bool clock_now(double *ret_us)
{
    if (!is_application())
        return false;
    *ret_us = starpu_timing_now();
    return true;
}

static bool clock_sleep(double us)
{
    if (!is_application())
        return false;
    orrery_usleep(us);
    return true;
}

static const struct orr_clock_run clock_run = {clock_now, clock_sleep};

void orr_clock_begin(struct orr_runtime *rt)
{
    const struct orr_clock_preload *preload = orr_clock_preload();

    if (!preload || !rt->exec->virtual_time)
        return;
    /* From now on it is known whether the application is in a call. */
    rt->views->listens = true;
    orr_application_return(rt);
    preload->attach(&clock_run);
}

void orr_clock_end(struct orr_runtime *rt)
{
    const struct orr_clock_preload *preload = orr_clock_preload();

    if (preload && rt->exec->virtual_time)
        preload->attach(NULL);
}
