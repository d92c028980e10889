/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/leftovers.h - directories that were made for a run, which go with it, also
 * where the process ends before (core/ends.h). Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A directory, and those above it down to a path of that length, that go if they are
 * empty. */
struct orr_leftover {
    char *path; /* is cut to what is left */
    size_t least;
};

/* From now on it goes with the process; lent. So many at once, others are left. */
enum { ORR_MAX_LEFTOVERS = 4 };
void orr_leftover_add(struct orr_leftover *leftover);

/* Removes it now. False: the process ends, which does so, and has it. */
bool orr_leftover_remove(struct orr_leftover *leftover);

/* Whether there are any, and the end of all. Safe in signal handlers. */
bool orr_leftovers_exist(void);
void orr_leftovers_remove(void);
