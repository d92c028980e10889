/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/livelock.h - says so when a simulation goes on and none of its tasks
 * does: data that leave a full memory node and come back, again and again. Where
 * nothing goes on at all: deadlock.h.
 */
#pragma once

struct orr_handle;
struct orr_node;

/* The handle's block has left the node, which had no room for something else.
 * Simulated, that is told, once, when it was so 1,000 times since a task has ended
 * last. No lock held. */
void orr_livelock_evicted(struct orr_handle *handle, struct orr_node *node);
