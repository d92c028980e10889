/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/colours.c - see colours.h. */
#include "tools/common/colours.h"

/* Lightnesses (CIE L*) from 14 to 79, 7 apart; neighbours, and the first four, are 14. */
static const char *const palette[] = {
    "#25568a", "#f49b41", "#45854a", "#470f11", "#b08fd0",
    "#583d30", "#eeb3cb", "#656565", "#34350e", "#2097a8"};

const char *plot_colour(size_t k)
{
    return palette[k % PLOT_SERIES];
}

/* Lengths of strokes and gaps. */
static const char *const dashes[] = {
    "1",     "(10,4)",         "(2,3)", "(10,3,2,3)", "(20,4)",
    "(5,5)", "(10,3,2,3,2,3)", "(2,8)", "(20,3,5,3)", "(5,3,2,3)"};
_Static_assert(sizeof(dashes) / sizeof(*dashes) == PLOT_SERIES &&
                   sizeof(palette) / sizeof(*palette) == PLOT_SERIES,
               "a colour and a pattern for each");

const char *plot_dash(size_t k)
{
    return dashes[k % PLOT_SERIES];
}

/* Hatched where colours come again, each time otherwise. */
static const char *const fills[] = {"solid 0.9", "pattern 4", "pattern 5",
                                    "pattern 2"};

const char *plot_fill(size_t k)
{
    return fills[k / PLOT_SERIES % (sizeof(fills) / sizeof(*fills))];
}

static const char *const shades[] = {"#f6f9de", "#b2d8be", "#75b2bc",
                                     "#4d89b9"};
_Static_assert(sizeof(shades) / sizeof(*shades) == PLOT_SHADES, "all of them");

const char *plot_shade(size_t k)
{
    return shades[k < PLOT_SHADES ? k : PLOT_SHADES - 1];
}

static const char *const sorts[] = {"#7a0c0c", "#2f6ca0", "#5fae52", "#ecd95a"};
_Static_assert(sizeof(sorts) / sizeof(*sorts) == PLOT_SORTS, "all of them");

const char *plot_sort(size_t k)
{
    return sorts[k < PLOT_SORTS ? k : PLOT_SORTS - 1];
}
