/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/graph_turns.c - see graph_turns.h. */
#include "core/observe/graph_turns.h"

#include <stdlib.h>

bool orr_graph_turns_enter(struct orr_graph_turns *turns, uint32_t turn,
                           uint32_t job)
{
    struct orr_graph_turn_record *last = &turns->last;

    if (turn != turns->turn) {
        struct orr_graph_turn_record before = turns->before;

        turns->before = *last;
        *last = before;
        last->n = 0;
        turns->turn = turn;
    }
    if (last->n == last->room) {
        uint32_t room = last->room ? 2 * last->room : 8;
        uint32_t *moved = room > 1U << 31
                              ? NULL
                              : reallocarray(last->jobs, room, sizeof(*moved));

        if (!moved)
            return false;
        last->jobs = moved;
        last->room = room;
    }
    last->jobs[last->n++] = job;
    return true;
}

void orr_graph_turns_done(struct orr_graph_turns *turns)
{
    free(turns->last.jobs);
    free(turns->before.jobs);
    *turns = (struct orr_graph_turns){.turn = 0};
}
