/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/graph_turns.c - see graph_turns.h. */
#include "core/observe/graph_turns.h"

#include <stdlib.h>

static bool add(struct orr_graph_group_record *group, uint32_t number)
{
    if (group->n == group->room) {
        uint32_t room = group->room ? 2 * group->room : 8;
        uint32_t *moved =
            room > 1U << 31 ? NULL
                            : reallocarray(group->tasks, room, sizeof(*moved));

        if (!moved)
            return false;
        group->tasks = moved;
        group->room = room;
    }
    group->tasks[group->n++] = number;
    return true;
}

bool orr_graph_turns_enter(struct orr_graph_turns *turns,
                           enum orr_access_group group, uint32_t number)
{
    if (group == ORR_GROUP_ALONE || group != turns->group) {
        struct orr_graph_group_record before = turns->before;

        turns->before = turns->last;
        turns->last = before;
        turns->last.n = 0;
    }
    turns->group = group;
    return add(&turns->last, number);
}

void orr_graph_turns_done(struct orr_graph_turns *turns)
{
    free(turns->last.tasks);
    free(turns->before.tasks);
    *turns = (struct orr_graph_turns){.group = ORR_GROUP_ALONE};
}
