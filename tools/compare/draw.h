/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/draw.h - a comparison as a picture. One thread.
 */
#pragma once

#include "tools/common/comparison.h"

/* Whether there is a picture for the sweep: without one, bars, a group per machine;
 * of one value, a line per scheduler; of two, a map of the best. Else a message and
 * -1. */
int draw_check(const struct comparison *comparison);

/* Draws it into the file of --plot. A message and -1 when it cannot be. */
int draw_comparison(const struct comparison *comparison);

/* Draws energy over time into the file of --pareto, with the front of those that nothing beats
 * in both. The same. */
int draw_pareto(const struct comparison *comparison);

/* "bars", "lines" or "map": what was drawn. */
const char *draw_kind(const struct comparison *comparison);
