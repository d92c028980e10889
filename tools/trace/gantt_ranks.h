/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/gantt_ranks.h - a picture of what several ranks did: how many of the workers of
 * each executed which kernel over time, and what ranks sent each other. One thread.
 */
#pragma once

#include "tools/common/rank_traces.h"

/* Draws `path`, a PNG or SVG. A row has the workers of one kind of a rank; of many ranks those
 * of a rank, or of several that follow each other. A message and -1 when it cannot. */
int gantt_ranks_draw(const struct rank_traces *traces, const char *path, const char *title);
