/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_turns.h - whose turn it is with one datum, in the order of
 * submission: jobs of one group go together, and wait for all of the group before. As
 * core/data/order.c has it, but of all jobs, also those that have ended. The caller
 * serialises.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/task/job.h"

/* Zero is one that nobody has used. */
struct orr_graph_turns {
    struct orr_graph_group_record {
        uint32_t *tasks; /* owned: numbers of jobs */
        uint32_t n, room;
    } last, before;
    enum orr_access_group group; /* of the last ones, if there are any */
};

/* The job's turn: it waits for those in `before` now. False without memory: who comes
 * later will not wait for it. */
bool orr_graph_turns_enter(struct orr_graph_turns *turns,
                           enum orr_access_group group, uint32_t number);
void orr_graph_turns_done(struct orr_graph_turns *turns);
