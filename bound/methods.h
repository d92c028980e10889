/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/methods.h - inside the module: the functions that compute.c lists, and
 * what they share.
 *
 * A method gets a result with its name, NaNs and outcome OPTIMAL, and writes
 * the rest but `seconds`: `ms` and `proved` only after its check has passed. It
 * returns 0 or -ENOMEM, may leave texts in the result whichever it returns, and
 * prints nothing.
 */
#pragma once

#include "bound/bounds.h"

typedef int (*orr_bound_method_fn)(const struct orr_bound_instance *instance,
                                   const struct orr_bound_options *options,
                                   struct orr_bound_result *ret);

/* The methods. */
int orr_bound_transfers(const struct orr_bound_instance *instance,
                        const struct orr_bound_options *options,
                        struct orr_bound_result *ret);
int orr_bound_memory(const struct orr_bound_instance *instance,
                     const struct orr_bound_options *options,
                     struct orr_bound_result *ret);

/* Sets the outcome and its text, printf style; no value is left. 0 or
 * -ENOMEM. */
int orr_bound_give_up(struct orr_bound_result *ret,
                      enum orr_bound_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A bound that knows less holds as well: where it is the better one, its value
 * and texts are taken. For results that have a value. 0 or -ENOMEM. */
int orr_bound_at_least(const struct orr_bound_instance *instance,
                       enum orr_bound_method simpler,
                       const struct orr_bound_options *options,
                       struct orr_bound_result *ret);

/* Set `why` and `limit`, printf style. 0 or -ENOMEM. */
int orr_bound_why(struct orr_bound_result *ret, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int orr_bound_limit(struct orr_bound_result *ret, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Seconds of CLOCK_MONOTONIC. */
double orr_bound_clock(void);

/* Notes that `ms` is proved by now. */
void orr_bound_note_step(struct orr_bound_result *ret, double ms);

/* Whether a method that improves step by step is to make one more; for the text of a
 * result, false sets outcome and `why`. A gain is a ten thousandth or more of the bound,
 * which is its tolerance. Without one for `patience`, and for as long as all before took,
 * it ends: so that at least half of its time, or all but `patience`, had bought what is
 * printed, whenever the next gain would have come. Without knowing that, no rule
 * guarantees more than half. */
bool orr_bound_goes_on(const struct orr_bound_options *options,
                       struct orr_bound_result *ret, int *rc);

int orr_bound_compute(const struct orr_bound_instance *instance,
                      enum orr_bound_method method,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret);
