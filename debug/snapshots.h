/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/snapshots.h - copies of the process, by fork: each stands at an event and waits to
 * go on from there, as often as it is asked to. Only where the process has one thread: a
 * copy has no others.
 *
 *   run ── fork ──> snapshot, waits on a socket of its own
 *                     └─ "resume": fork ──> run, which goes on
 *
 * Each copy is a grandchild whose parent has ended: it belongs to `orrery debug`, which
 * takes in the processes that have lost theirs, and learns how they end.
 */
#pragma once

#include "debug/channel.h"

enum debug_copy {
    DEBUG_COPY_NONE,    /* it could not be made */
    DEBUG_COPY_MADE,    /* this is the process that was copied */
    DEBUG_COPY_RESUMED, /* this is one that goes on from a snapshot */
};

/* Makes a snapshot at event `number`, and says so by the channel, with the socket of the
 * snapshot; or why there is none. In the process that goes on, when it does,
 * *channel is a new one. */
enum debug_copy debug_snapshot(struct debug_channel *channel, unsigned long long number);
