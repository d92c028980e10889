/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/exec/await.h - the application waits, in a call that may block (orr_may_block). Any
 * context.
 */
#pragma once

#include "core/base/wait.h"

struct orr_runtime;

/* orr_wait, of which is told. */
void orr_await(struct orr_runtime *rt, struct orr_waiter *waiter,
               const struct orr_awaited *awaited);
