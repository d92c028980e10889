/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/await.c - see await.h. */
#include "core/await.h"

#include "core/observe/application.h"
#include "core/runtime.h"

void orr_await(struct orr_runtime *rt, struct orr_waiter *waiter,
               const struct orr_awaited *awaited)
{
    ORR_APPLICATION_DOES(rt, ORR_TRACE_WAITS, orr_self->call);

    orr_wait(waiter, awaited);
}
