/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_turns.h - the jobs of the last two turns of one datum, also those
 * that have ended. Which turn a job has its handle says (core/job/turns.h); it waits
 * for all of the turn before. The caller serialises.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All zero: it was not used yet. */
struct orr_graph_turns {
    struct orr_graph_turn_record {
        uint32_t *jobs; /* owned: numbers */
        uint32_t n, room;
    } last, before;
    uint32_t turn; /* of the last ones, 0: there are none */
};

/* The job comes in that turn: it waits for those in `before` now. False without memory:
 * jobs that come later will not wait for it. */
bool orr_graph_turns_enter(struct orr_graph_turns *turns, uint32_t turn,
                           uint32_t job);
void orr_graph_turns_done(struct orr_graph_turns *turns);
