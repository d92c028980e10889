/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/exec/await.c - see await.h. */
#include "core/exec/await.h"

#include "core/exec/runtime.h"

void orr_await(struct orr_runtime *rt, struct orr_waiter *waiter,
               const struct orr_awaited *awaited)
{
    ORR_TELL(rt, ORR_TOLD_BLOCKS, .text = orr_self->call);
    orr_wait(waiter, awaited);
    ORR_TELL(rt, ORR_TOLD_GOES_ON);
}
