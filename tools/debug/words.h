/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/words.h - breakpoints as a person writes them, and as the run is asked for
 * them (debug/stops.h). No state.
 *
 *   break [KIND] [KERNEL] [#TASK] [data NAME] [on WORKER|NODE]
 *         [if FIELD RELATION VALUE [and …]]
 *   break FILE:LINE [KERNEL] …
 *   break at DATE
 */
#pragma once

#include <stddef.h>

#include "core/base/error.h"

/* Words of a line; those in quotation marks are one. Owned by the caller: free, one block.
 * NULL without memory. */
char **words_split(const char *line, size_t *ret_n);

/* "3.5ms", "2s", "30us", "30": µs into *ret. Errors: -1. */
int words_date(const char *text, double *ret);

/* The request for such a breakpoint, without its number, owned. NULL with a message. */
char *words_stop(char *const *words, size_t n, struct orr_error *err);
