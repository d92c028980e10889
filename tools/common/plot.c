/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/plot.c - see plot.h. One thread. */
#include "tools/common/plot.h"

#include "core/base/place.h"
#include "core/base/shown.h"
#include "core/base/spool.h"
#include "tools/common/report.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `doubled` is a character that stands for itself when written twice. */
static void plot_write_quoted(FILE *to, const char *text, char doubled)
{
    size_t n;
    const char *shown;

    fputc('"', to);
    while ((shown = orr_shown_next(&text, &n), n > 0)) {
        if (strchr("\"\\`$", *shown))
            fputc('\\', to);
        if (*shown == doubled)
            fputc(doubled, to);
        fwrite(shown, 1, n, to);
    }
    fputc('"', to);
}

void plot_text(FILE *to, const char *text)
{
    plot_write_quoted(to, text, '\0');
}

void plot_tic(FILE *to, const char *text)
{
    plot_write_quoted(to, text, '%');
}

static bool is_svg(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".svg") == 0;
}

int plot_check_name(const char *option, const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;

    if (!path || orr_place_is_fixed(path) ||
        (dot && (!strcmp(dot, ".png") || !strcmp(dot, ".svg"))))
        return tool_check_output(option, path);
    tool_error("%s %s: the file's name must end in .png or .svg", option, path);
    return TOOL_USAGE;
}

/* Whether the SVG or PNG has an end. */
static bool is_whole(FILE *picture, bool svg)
{
    static const char png_end[] = "IEND\xae\x42\x60\x82", svg_end[] = "</svg>";
    const char *wanted = svg ? svg_end : png_end;
    char tail[16];

    return fseek(picture, -(long)sizeof(tail), SEEK_END) == 0 &&
           fread(tail, 1, sizeof(tail), picture) == sizeof(tail) &&
           memmem(tail, sizeof(tail), wanted, strlen(wanted)) != NULL;
}

/* Where gnuplot draws. It takes a name and inherits `*ret_fd`, which the caller closes. */
static FILE *open_picture(int *ret_fd)
{
    const char *parent = getenv("TMPDIR");
    char *name = tool_format("%s/picture", parent && *parent ? parent : "/tmp");
    FILE *picture = NULL;
    int rc = name ? orr_spool_open(name, &picture) : -ENOMEM;

    free(name);
    if (!rc)
        *ret_fd = dup(fileno(picture));
    if (!rc && *ret_fd >= 0)
        return picture;
    errno = rc ? -rc : errno;
    if (picture)
        fclose(picture);
    return NULL;
}

/* It has the picture as file `*ret_fd`. It may end early; its status tells, not a signal. */
static FILE *start_gnuplot(FILE **ret_picture, int *ret_fd)
{
    FILE *pipe;

    *ret_picture = open_picture(ret_fd);
    if (!*ret_picture)
        return NULL;
    signal(SIGPIPE, SIG_IGN);
    pipe = popen("exec gnuplot", "w");
    if (!pipe)
        fclose(*ret_picture);
    close(*ret_fd);
    return pipe;
}

/* A picture of that size in points; a PNG has `scale` pixels for each. */
static int plot_open_gnuplot(struct plot *plot, const char *path,
                             unsigned width, unsigned height, unsigned scale)
{
    int rc = orr_result_open(path, &plot->result), fd;

    if (!rc && !(plot->path = tool_format("%s", path)))
        rc = orr_result_close(&plot->result, -ENOMEM);
    if (rc) {
        tool_error("%s cannot be written: %s", path, strerror(-rc));
        return -1;
    }
    plot->pipe = start_gnuplot(&plot->picture, &fd);
    if (!plot->pipe) {
        tool_error("%s cannot be drawn: %s", path, strerror(errno));
        (void)orr_result_close(&plot->result, -EIO);
        free(plot->path);
        return -1;
    }
    plot->svg = is_svg(path);
    if (plot->svg)
        fprintf(plot->pipe,
                "set terminal svg noenhanced size %u,%u dynamic font "
                "'sans-serif,12' background 'white'\n",
                width, height);
    else
        fprintf(plot->pipe,
                "set terminal pngcairo noenhanced size %u,%u font 'Sans,11' "
                "fontscale %u linewidth %u pointscale %u\n",
                width * scale, height * scale, scale, scale, scale);
    fprintf(plot->pipe, "set output '/dev/fd/%d'\n", fd);
    fputs("set border 3 lc rgb '#555555'\nset tics nomirror out\n", plot->pipe);
    return 0;
}

int plot_begin(struct plot *plot, const char *path, unsigned width,
               unsigned height)
{
    return plot_open_gnuplot(plot, path, width, height, 1);
}

int plot_begin_paper(struct plot *plot, const char *path, unsigned width,
                     unsigned height)
{
    return plot_open_gnuplot(plot, path, width, height, 2);
}

int plot_end(struct plot *plot)
{
    const char *path = plot->path;
    int rc = pclose(plot->pipe) != 0 ? -EIO : 0;

    if (rc)
        tool_error("%s was not drawn: gnuplot failed or is missing (package "
                   "gnuplot-nox)",
                   path);
    else if (!is_whole(plot->picture, plot->svg)) {
        rc = -EIO;
        tool_error("%s was not drawn: gnuplot wrote half of it; is there no "
                   "room left?",
                   path);
    }
    if (rc) {
        (void)orr_result_close(&plot->result, rc);
    } else {
        rc = orr_spool_append(plot->picture, 0, plot->result.file);
        rc = orr_result_close(&plot->result, rc);
        if (rc)
            tool_error("%s cannot be written: %s", path, strerror(-rc));
    }
    fclose(plot->picture);
    free(plot->path);
    return rc ? -1 : 0;
}

/* The largest of 1, 2, 5, 10, … of which there are five at least. */
static double plot_step(double span)
{
    double step = pow(10, floor(log10(span)));

    while (span / step < 5)
        step /= span / step < 2.5 ? 5 : 2;
    return step;
}

void plot_log_axis(FILE *pipe, char axis, double least, double most)
{
    static const int steps[] = {1, 2, 5};
    double from = least / 1.2, to = most * 1.2;
    bool few = to < 100 * from;
    const char *between = "";

    fprintf(pipe, "set logscale %c\nset %crange [%.9g:%.9g]\nset %ctics (",
            axis, axis, from, to, axis);
    for (int power = (int)floor(log10(from)); power <= (int)ceil(log10(to));
         power++)
        for (size_t i = 0; i < (few ? 3 : 1); i++) {
            double at = steps[i] * pow(10, power);

            if (at < from || at > to)
                continue;
            fprintf(pipe, "%s%.9g", between, at);
            between = ", ";
        }
    fputs(")\n", pipe);
}

const char *plot_time_tics(FILE *pipe, double span, bool named)
{
    struct report_unit unit = report_unit_of(1e3 * span);
    double scale = unit.us / 1e3, step = plot_step(span / scale);

    fputs("set xtics (", pipe);
    for (unsigned i = 0; i * step <= span / scale; i++)
        fprintf(pipe, "%s'%g%s%s' %.9g", i ? ", " : "", i * step, named ? " " : "",
                named ? unit.name : "", i * step * scale);
    fputs(")\n", pipe);
    return unit.name;
}
