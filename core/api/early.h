/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/early.h - calls that are made while no run is open and mean the next one:
 * they are kept, and made when it begins. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What such a call is about, and n more numbers or addresses. */
typedef void (*orr_early_call_t)(uint64_t about, unsigned n, uint64_t *more);

/* Keeps the call, with a copy of `more`; ends the program without memory, or if a run
 * is open of which the caller, which `name` is for messages, is no part. */
void orr_early_keep(const char *name, orr_early_call_t call, uint64_t about,
                    unsigned n, const uint64_t *more);

/* Forgets those that are about this, or have it in `more`; returns whether there were
 * any. */
bool orr_early_forget(uint64_t about);

/* Makes all calls, in their order, and forgets them. The run is open. */
void orr_early_make(void);
