/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/plot.h - PNG and SVG files drawn by gnuplot, which is fed through a
 * pipe. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "core/base/result.h"
#include "tools/common/colours.h"

struct plot {
    FILE *pipe;               /* write gnuplot's commands here */
    FILE *picture;            /* owned: what it has drawn */
    struct orr_result result; /* takes it when it is whole */
    char *path;               /* owned: as it was given, for messages */
    bool svg;
};

/* Starts gnuplot on a picture of that size in pixels. A message and -1 when
 * there is none. */
int plot_begin(struct plot *plot, const char *path, unsigned width,
               unsigned height);

/* The same for print: an SVG when `path` ends in .svg, else a PNG with two
 * pixels where plot_begin has one, letters and lines grown alike. */
int plot_begin_paper(struct plot *plot, const char *path, unsigned width,
                     unsigned height);

/* Whether a picture can have that name: .png or .svg at its end, or a device; a
 * NULL is none. Else a message that names the option; returns TOOL_OK, TOOL_USAGE or,
 * where no file of that name can be made, TOOL_FAILED. */
int plot_check_name(const char *option, const char *path);

/* Ends gnuplot; the file appears whole or not at all, and a device or pipe gets
 * it as bytes. A message and -1 when gnuplot failed, or wrote half a picture:
 * it does not notice a full disk. */
int plot_end(struct plot *plot);

/* A text as a quoted string of gnuplot, markup disarmed. */
void plot_text(FILE *to, const char *text);

/* The same for the label of a tic, where gnuplot expects a format. */
void plot_tic(FILE *to, const char *text);

/* Makes an axis ('x' or 'y') logarithmic from below `least` to above `most`, which are above
 * 0, with tics at 1, 2 and 5 of each power of ten, of many powers at those alone. */
void plot_log_axis(FILE *pipe, char axis, double least, double most);

/* Tics of a horizontal axis of milliseconds from 0 to `span`, labelled in the unit in
 * which people read that (report_unit_of), with its name if `named`. Returns the name. */
const char *plot_time_tics(FILE *pipe, double span, bool named);
