/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/svg.h - the few shapes that pictures of machines are made of, as SVG
 * 1.1. Lengths are pixels, y grows downwards. Write errors show in ferror(out).
 * One thread per file.
 */
#pragma once

#include <stdio.h>

/* Begins and ends a picture on a white ground. */
void svg_begin(FILE *out, double width, double height, const char *title);
void svg_end(FILE *out);

/* A box with round corners. Colours as CSS has them. */
void svg_box(FILE *out, double x, double y, double width, double height,
             double radius, const char *fill, const char *stroke);

void svg_line(FILE *out, double x1, double y1, double x2, double y2,
              double width, const char *stroke);

/* The style of a text. */
struct svg_style {
    double size;        /* of the letters */
    const char *anchor; /* "start", "middle" or "end" of the text is at x */
    const char *fill;
    int bold;
    int halo; /* a white rim, for texts on lines */
};

/* A line of text, at most `letters` of it (0: all), an ellipsis where it was
 * cut. y is its base line. Texts are UTF-8. */
void svg_text(FILE *out, double x, double y, const struct svg_style *style,
              unsigned letters, const char *text);
