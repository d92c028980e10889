/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/gpu-clock.c - see gpu-clock.h. */
#include "gpu-clock.h"

#include "core/base/exec.h"

#include "on-gpu.h"

static double now(void)
{
    return orr_exec_now(orr_self->exec);
}

static void sleep_us(double us)
{
    orr_self->exec->ops->sleep(orr_self->exec, us);
}

static void *self(void)
{
    return orr_self;
}

static const char stream_name[] = "stream";

/* Vendors' calls may wait inside of a codelet's function; and what core wakes a
 * worker for is left to core, which a park here would not know of. */
static void park(void)
{
    enum { LOOK_AGAIN_US = 7 };
    unsigned frozen = orr_self->frozen;

    if (orr_self->name == stream_name) {
        orr_self->exec->ops->park(orr_self->exec, ORR_FOREVER);
        return;
    }
    orr_self->frozen = 0;
    sleep_us(LOOK_AGAIN_US);
    orr_self->frozen = frozen;
}

static void wake(void *context)
{
    if (((struct orr_context *)context)->name == stream_name)
        orr_self->exec->ops->wake(orr_self->exec, context);
}

static void *spawn(void (*body)(void *), void *arg)
{
    const struct orr_context init = {.name = stream_name};
    struct orr_context *context;

    if (orr_self->exec->ops->spawn(orr_self->exec, &init, -1, body, arg,
                                   &context))
        return NULL;
    return context;
}

static void join(void *context)
{
    orr_self->exec->ops->join(orr_self->exec, context);
}

void gpu_clock_set(unsigned long seed)
{
    static const struct standin_clock clock = {now,  sleep_us, self, park,
                                               wake, spawn,    join};

    ON_FUNCTION(standin_set_clock_t, set, STANDIN_SET_CLOCK);
    set(&clock, seed);
}
