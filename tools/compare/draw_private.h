/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw_private.h - the pictures of draw.h. */
#pragma once

#include "tools/common/plot.h"
#include "tools/common/comparison.h"

/* Gnuplot's commands for each; `title` stands above. */
void draw_bars(struct plot *plot, const struct comparison *comparison,
               const char *title);
void draw_rows(struct plot *plot, const struct comparison *comparison,
               const char *title);
void draw_scaling(struct plot *plot, const struct comparison *comparison,
                  const char *title);
void draw_lines(struct plot *plot, const struct comparison *comparison,
                const char *title);
void draw_map(struct plot *plot, const struct comparison *comparison,
              const char *title);

/* Whether the longest bar is so many times the shortest that an axis from 0 would show the
 * short ones as alike: draw_rows has a logarithmic one. */
bool draw_is_logarithmic(const struct comparison *comparison);

/* Points that draw_rows needs. */
unsigned draw_rows_height(const struct comparison *comparison);

/* The title of the s-th scheduler: the policy that ran in the first cell that
 * is good. */
const char *draw_name(const struct comparison *comparison, size_t scheduler);

/* What the ends of bars and lines are, to stand behind the name of an axis; "" without any. */
const char *draw_whiskers(const struct comparison *comparison);

/* The machine's figures in the words of its first cell that has some; "" without. */
void draw_caption(const struct comparison *comparison, size_t machine,
                  char *text, size_t size);
