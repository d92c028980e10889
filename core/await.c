/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/await.c - see await.h. */
#include "core/await.h"

#include "core/observe/application.h"
#include "core/runtime.h"

void orr_await(struct orr_runtime *rt, const atomic_bool *there,
               const char *what, const struct orr_handle *data)
{
    struct orr_context *self = orr_self;
    const char *call = self->call;
    struct orr_application_span span;

    orr_application_begin(rt, &span);
    self->waits_for = what;
    self->waits_on = data;
    while (!atomic_load_explicit(there, memory_order_acquire))
        orr_exec_wait(rt->exec, ORR_FOREVER);
    self->waits_for = NULL;
    self->waits_on = NULL;
    orr_application_end(rt, &span, ORR_TRACE_WAITS, call);
}
