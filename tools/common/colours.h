/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/colours.h - what is told apart in pictures by its colour: series, and
 * shades of a map. All differ in lightness, since pictures are printed in grey. Any
 * thread.
 */
#pragma once

#include <stddef.h>

/* The colour of the k-th series, "#rrggbb", gnuplot's pattern of its line, and how its
 * area is filled: no two of the first PLOT_SERIES are alike, also in grey, and further
 * ones differ from those of the same colour in how they are filled. */
enum { PLOT_SERIES = 10 };
const char *plot_colour(size_t k);
const char *plot_dash(size_t k);
const char *plot_fill(size_t k);

/* From little to much, light to dark, in even steps of lightness, none too dark for
 * black letters. */
enum { PLOT_SHADES = 4 };
const char *plot_shade(size_t k);

/* Of sorts of areas that may lie on each other, and let PLOT_SORT_OPACITY of their colour
 * be seen: on white none is like another one in grey. From dark to light. */
enum { PLOT_SORTS = 4 };
#define PLOT_SORT_OPACITY 0.6
const char *plot_sort(size_t k);
