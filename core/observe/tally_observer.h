/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/tally_observer.h - the tally (tally.h) as an observer of kernels and
 * copies.
 */
#pragma once

struct orr_runtime;

/* Makes rt->views->tally if a report is asked for, and registers it. Before workers begin.
 * Errors: -ENOMEM. */
int orr_tally_observe(struct orr_runtime *rt);
