/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/bound_recording.h - the tasks of a lower bound, counted when they are
 * submitted. Any context, no lock held.
 */
#pragma once

#include <stdbool.h>

#include "bound/record.h"

struct orr_job;
struct orr_recording;
struct orr_runtime;

/* Registers it as an observer (tell.h), which wants nothing before the first start.
 * Before workers begin. */
void orr_recording_observe(struct orr_runtime *rt);

/* Forgets what was recorded and records from now on; with `deps` the graph of
 * tasks as well (graph_record.h), if `prio` with priorities. Errors: -ENOMEM,
 * then everything is as before. */
int orr_recording_start(struct orr_runtime *rt, bool deps, bool prio);

/* Records no more; the record stays until the next start. */
void orr_recording_stop(struct orr_runtime *rt);

/* Whether a recording was ever started, and what the last one was to keep. */
struct orr_recording_kind {
    bool started, deps, prio;
};
struct orr_recording_kind orr_recording_kind(struct orr_runtime *rt);

/* Makes the bound's problem of what was recorded, with durations as the models have
 * them now: implementation 0, mean less standard deviation. Owned by the caller.
 * Errors: -ENODATA when nothing was recorded, -ENOMEM. */
int orr_recording_problem(struct orr_runtime *rt,
                          struct orr_bound_problem **ret);

/* Forgets everything; NULL is allowed. */
void orr_recording_free(struct orr_recording *recording);
