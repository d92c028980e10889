/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw.c - see draw.h. */
#include "tools/compare/draw.h"

#include "tools/common/tool.h"
#include "tools/compare/draw_private.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BESIDE = 40 };

/* So many bars beside each other that their numbers would meet, or their colours would
 * come again; or such different ones that a logarithmic axis is needed, on which bars of a
 * height say nothing. */
static bool need_rows(const struct comparison *c)
{
    return c->nschedulers > PLOT_SERIES ||
           c->nmachines * c->nschedulers > MOST_BESIDE ||
           draw_is_logarithmic(c);
}

static void draw_some_bars(struct plot *plot, const struct comparison *c,
                           const char *title)
{
    (need_rows(c) ? draw_rows : draw_bars)(plot, c, title);
}

struct picture_kind {
    const char *kind;
    void (*draw)(struct plot *, const struct comparison *, const char *);
};

/* By the number of values that are swept. */
static const struct picture_kind pictures[] = {
    {"bars", draw_some_bars},
    {"lines", draw_lines},
    {"map", draw_map},
};

static const struct picture_kind *picture_of(const struct comparison *c)
{
    static const struct picture_kind scaling = {"lines", draw_scaling};

    return c->nodes && c->sweep.naxes == 0 ? &scaling : &pictures[c->sweep.naxes];
}

int draw_check(const struct comparison *c)
{
    if (c->sweep.naxes < sizeof(pictures) / sizeof(*pictures))
        return 0;
    return tool_fail(-1,
                     "compare: --plot draws at most two values that are swept, "
                     "not %zu: --csv is for other programs",
                     c->sweep.naxes);
}

const char *draw_kind(const struct comparison *c)
{
    return picture_of(c)->kind;
}

const char *draw_name(const struct comparison *c, size_t scheduler)
{
    for (size_t i = scheduler; i < c->ncells; i += c->nschedulers)
        if (cell_is_good(&c->cells[i]))
            return cell_policy(&c->cells[i]);
    return c->schedulers[scheduler];
}

const char *draw_whiskers(const struct comparison *c)
{
    if (c->options->repeat < 2)
        return "";
    return c->options->draws ? "; whiskers: 9 of 10 draws" : "; whiskers: where the median lies";
}

void draw_caption(const struct comparison *c, size_t machine, char *text,
                  size_t size)
{
    size_t n = c->sweep.npoints * c->nschedulers;

    *text = '\0';
    for (size_t i = machine * n; i < (machine + 1) * n && !*text; i++)
        if (cell_is_good(&c->cells[i]))
            report_caption(&c->cells[i].launch->report, text, size);
}

/* The program as typed, without its folder. */
static void title_of(char *const *argv, char *title, size_t size)
{
    size_t used = 0;

    for (; *argv && used < size; argv++) {
        const char *word = strrchr(*argv, '/');
        int n = snprintf(title + used, size - used, "%s%s", used ? " " : "",
                         word && !used ? word + 1 : *argv);

        used += n > 0 ? (size_t)n : 0;
    }
}

/* A legend beside each machine's lines, of so many names a column. */
enum { NAMES_A_COLUMN = 20, COLUMN_WIDTH = 310 };

static unsigned legend_of(const struct comparison *c)
{
    size_t further = (c->nschedulers - 1) / NAMES_A_COLUMN;

    return c->sweep.naxes != 1
               ? 0
               : (unsigned)(c->nmachines * further * COLUMN_WIDTH);
}

static unsigned width_of(const struct comparison *c)
{
    size_t n =
        c->sweep.naxes == 0
            ? c->ncells
            : c->nmachines * (c->sweep.axes[0].n < 6 ? 6 : c->sweep.axes[0].n);

    return 260 + 90 * (unsigned)(n < 20 ? n : 20) + legend_of(c);
}

int draw_comparison(const struct comparison *c)
{
    struct plot plot;
    char title[256] = "";
    unsigned width = width_of(c), height = 480;

    if (c->sweep.naxes == 0 && !c->nodes && need_rows(c)) {
        width = 1000;
        height = draw_rows_height(c);
    }

    title_of(c->options->argv, title, sizeof(title));
    if (plot_begin(&plot, c->options->plot, width < 640 ? 640 : width, height) <
        0)
        return -1;
    picture_of(c)->draw(&plot, c, title);
    return plot_end(&plot);
}
