/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/await.h - the application waits, in a call that may block (orr_may_block). Any
 * context.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct orr_handle;
struct orr_runtime;

/* Waits, for what messages name, until *there, with the release of whoever
 * sets it and then wakes this context. `data`: that it is about, or NULL. */
void orr_await(struct orr_runtime *rt, const atomic_bool *there,
               const char *what, const struct orr_handle *data);
