/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/replayed.h - whether a run that was recorded is the same when its
 * record is replayed: their traces, byte for byte. Simulated machines.
 */
#pragma once

#include <stdbool.h>

#include "report.h"

/* From now on runs are replayed by this program; NULL: they are not. Borrowed. */
void replay_by(const char *player);

/* Whether they are. */
bool replay_wanted(void);

/* Before starpu_init: the run leaves a record and a trace. */
void replay_record(void);

/* After starpu_shutdown, the environment as it was: replays, compares, removes
 * what was left. */
void replay_compare(struct report *report);
