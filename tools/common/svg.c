/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/svg.c - see svg.h. No state. */
#include "tools/common/svg.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/shown.h"

static void print_letters(FILE *out, const char *text, size_t size)
{
    const char *end = text + size;

    while (text < end) {
        size_t n;
        const char *shown = orr_shown_next(&text, &n);

        if (strchr("<>&\"", *shown))
            fprintf(out, "&#%d;", *shown);
        else
            fwrite(shown, 1, n, out);
    }
}

/* Where letter number `letters` begins; the end when there are fewer. */
static size_t cut_at(const char *text, unsigned letters)
{
    size_t at = 0;

    for (; text[at]; at++) {
        bool first_byte = ((unsigned char)text[at] & 0xc0) != 0x80;

        if (first_byte && letters-- == 0)
            break;
    }
    return at;
}

void svg_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out,
            "<?xml version='1.0' encoding='UTF-8'?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"DejaVu Sans, Verdana, Helvetica, sans-serif\">\n"
            "<title>",
            width, height, width, height);
    print_letters(out, title, strlen(title));
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          out);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void svg_box(FILE *out, double x, double y, double width, double height,
             double radius, const char *fill, const char *stroke)
{
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "rx=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n",
            x, y, width, height, radius, fill, stroke);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2,
              double width, const char *stroke)
{
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
            "stroke=\"%s\" stroke-width=\"%.1f\" stroke-linecap=\"round\"/>\n",
            x1, y1, x2, y2, stroke, width);
}

void svg_text(FILE *out, double x, double y, const struct svg_style *style,
              unsigned letters, const char *text)
{
    size_t size = strlen(text);
    bool cut = letters && cut_at(text, letters) < size;

    fprintf(out,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" "
            "text-anchor=\"%s\" fill=\"%s\"%s%s>",
            x, y, style->size, style->anchor, style->fill,
            style->bold ? " font-weight=\"bold\"" : "",
            style->halo ? " stroke=\"white\" stroke-width=\"3\" "
                          "stroke-linejoin=\"round\" paint-order=\"stroke\""
                        : "");
    print_letters(out, text, cut ? cut_at(text, letters - 1) : size);
    fprintf(out, "%s</text>\n", cut ? "…" : "");
}
