/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/plot.c - see plot.h. One thread. */
#include "tools/common/plot.h"

#include "core/base/place.h"
#include "core/base/shown.h"
#include "tools/common/report.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Of a new file in the folder for temporary files; owned. */
static char *temporary_name(void)
{
    const char *parent = getenv("TMPDIR");
    char *name =
        tool_format("%s/orrery-XXXXXX", parent && *parent ? parent : "/tmp");
    int fd = name ? mkstemp(name) : -1;

    if (fd >= 0) {
        close(fd);
        return name;
    }
    free(name);
    return NULL;
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

bool plot_is_whole(const char *file, const char *path)
{
    static const char png_end[] = "IEND\xae\x42\x60\x82", svg_end[] = "</svg>";
    const char *wanted = is_svg(path) ? svg_end : png_end;
    FILE *in = fopen(file, "r");
    char tail[17] = "";
    size_t n = 0;

    if (in && fseek(in, -16, SEEK_END) == 0)
        n = fread(tail, 1, 16, in);
    if (in)
        fclose(in);
    return n == 16 && memmem(tail, n, wanted, strlen(wanted)) != NULL;
}

/* The bytes of the picture to a device. */
static int copy_file(const struct plot *plot)
{
    FILE *in = fopen(plot->temporary, "r"), *out = orr_place_open(plot->path);
    char buffer[1 << 14];
    bool failed = !in || !out;
    size_t n;

    while (!failed && (n = fread(buffer, 1, sizeof(buffer), in)) > 0)
        failed = fwrite(buffer, 1, n, out) < n;
    failed = failed || ferror(in);
    if (out && fclose(out) != 0)
        failed = true;
    if (failed)
        tool_error("%s cannot be written: %s", plot->path, strerror(errno));
    if (in)
        fclose(in);
    unlink(plot->temporary);
    return failed ? -1 : 0;
}

/* Makes the file empty: where gnuplot cannot, it draws on standard output. */
static int make_empty_file(const char *path)
{
    FILE *file = fopen(path, "w");

    return file ? fclose(file) : -1;
}

/* A picture of that size in points; a PNG has `scale` pixels for each. */
static int plot_open_gnuplot(struct plot *plot, const char *path,
                             unsigned width, unsigned height, unsigned scale)
{
    bool is_fixed = orr_place_is_fixed(path);

    *plot = (struct plot){.path = is_fixed ? strdup(path) : orr_place_of(path),
                          .copied = is_fixed};
    plot->temporary =
        plot->copied ? temporary_name()
                     : tool_format("%s.tmp", plot->path ? plot->path : path);
    if (!plot->path || !plot->temporary)
        goto fail;
    if (make_empty_file(plot->temporary)) {
        tool_error("%s cannot be written: %s", path, strerror(errno));
        goto free_names;
    }
    /* gnuplot may end early; its status tells, not a signal. */
    signal(SIGPIPE, SIG_IGN);
    plot->pipe = popen("exec gnuplot", "w");
    if (!plot->pipe) {
        unlink(plot->temporary);
        goto fail;
    }
    if (is_svg(path))
        fprintf(plot->pipe,
                "set terminal svg noenhanced size %u,%u dynamic font "
                "'sans-serif,12' background 'white'\n",
                width, height);
    else
        fprintf(plot->pipe,
                "set terminal pngcairo noenhanced size %u,%u font 'Sans,11' "
                "fontscale %u linewidth %u pointscale %u\n",
                width * scale, height * scale, scale, scale, scale);
    fputs("set output ", plot->pipe);
    plot_text(plot->pipe, plot->temporary);
    fputs("\nset border 3 lc rgb '#555555'\nset tics nomirror out\n",
          plot->pipe);
    return 0;
fail:
    tool_error("%s cannot be drawn: %s", path, strerror(errno));
free_names:
    free(plot->path);
    free(plot->temporary);
    return -1;
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
    int failed = pclose(plot->pipe) != 0;

    if (failed)
        tool_error("%s was not drawn: gnuplot failed or is missing (package "
                   "gnuplot-nox)",
                   plot->path);
    else if (!plot_is_whole(plot->temporary, plot->path)) {
        failed = 1;
        tool_error("%s was not drawn: gnuplot wrote half of it; is there no "
                   "room left?",
                   plot->path);
    } else if (plot->copied) {
        failed = copy_file(plot) < 0;
    } else if (rename(plot->temporary, plot->path) < 0) {
        failed = 1;
        tool_error("%s cannot be written: %s", plot->path, strerror(errno));
    }
    if (failed)
        unlink(plot->temporary);
    free(plot->path);
    free(plot->temporary);
    return failed ? -1 : 0;
}

/* The largest of 1, 2, 5, 10, … of which there are five at least. */
static double plot_step(double span)
{
    double step = pow(10, floor(log10(span)));

    while (span / step < 5)
        step /= span / step < 2.5 ? 5 : 2;
    return step;
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
