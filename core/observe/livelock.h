/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/livelock.h - says so when a simulation goes on and none of its tasks
 * does: data that leave a full memory node and come back, again and again. Where
 * nothing goes on at all: deadlock.h.
 */
#pragma once

struct orr_runtime;

/* Registers it as an observer, of a simulation: that is told, once, when a handle's blocks
 * have left nodes which had no room for something else 1,000 times since a task has ended
 * last. Before workers begin. */
void orr_livelock_observe(struct orr_runtime *rt);
