/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/combined.h - combined workers as arguments of public functions. Any
 * thread.
 */
#pragma once

#include "core/api/api.h"
#include "core/worker/combined.h"

/* The combined worker numbered `id`; ends the program when there is none. Lent. */
const struct orr_combined *orr_api_combined(const char *call, long id);

/* The worker numbered `id`, or the first member of the combined one; ends the
 * program when there is neither. Lent. */
struct orr_worker *orr_api_first_worker(const char *call, long id);

/* How many processors it has: 1 unless it is a combined one. */
unsigned orr_api_ncores(const struct orr_runtime *rt, unsigned id);
