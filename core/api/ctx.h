/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/ctx.h - finding a scheduling context by its number. A number of
 * none ends the program, with a message that names the call.
 */
#pragma once

#include "core/api/api.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"

static inline struct orr_sched *orr_api_sched(const char *call, unsigned id)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    if (id < STARPU_NMAX_SCHED_CTXS && rt->sched_ctxs->at[id])
        return rt->sched_ctxs->at[id];
    orr_log_error("%s: there is no scheduling context %u: use what "
                  "starpu_sched_ctx_create returned, before it is deleted",
                  call, id);
    abort();
}

/* The context of the calling thread, or the first one. */
static inline unsigned orr_api_current_ctx(void)
{
    return orr_self && orr_self->sched_ctx ? orr_self->sched_ctx - 1U : 0;
}

/* starpu_sched_ctx_create with its list in an array up to NULL, in which numbers are
 * addresses. In sched_ctx.c. */
unsigned orr_api_sched_ctx_create_array(int *ids, int n, const char *name,
                                        void *const *list);
