/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/ticker.h - a thread that calls a function again and again, in real
 * time on all machines. It is no context: what it calls may read counters, and
 * nothing else of a run.
 */
#pragma once

struct orr_ticker;

/* Calls tick(arg) after `delay` µs, then every `period` µs; the thread takes no
 * signals. Errors: -ENOMEM, -EAGAIN; then *ret is untouched. */
int orr_ticker_start(double delay, double period, void (*tick)(void *),
                     void *arg, struct orr_ticker **ret);

/* Ends it: no call goes on afterwards. Accepts NULL. */
void orr_ticker_stop(struct orr_ticker *ticker);
