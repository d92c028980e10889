/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/check.h - whether the objects of a run are as they must be.
 */
#pragma once

struct orr_runtime;

/* Checks nodes, workers and the first `max` handles; those that are in use
 * right now are passed over. Stops the program with a message if one is wrong.
 * Any context, no lock held. */
void orr_runtime_check(struct orr_runtime *rt, unsigned max);

/* The same where all tasks have ended, in debug builds. */
static inline void orr_runtime_check_quiet(struct orr_runtime *rt, unsigned max)
{
#ifndef NDEBUG
    orr_runtime_check(rt, max);
#else
    (void)rt;
    (void)max;
#endif
}
