/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/await.c - see await.h. */
#include "core/await.h"

#include "core/observe/application.h"
#include "core/runtime.h"

void orr_await(struct orr_runtime *rt, struct orr_waiter *waiter,
               const struct orr_awaited *awaited)
{
    const char *call = orr_self->call;
    struct orr_application_span span;

    orr_application_begin(rt, &span);
    orr_wait(waiter, awaited);
    orr_application_end(rt, &span, ORR_TRACE_WAITS, call);
}
