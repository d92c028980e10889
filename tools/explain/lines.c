/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/lines.c - which lines of the program have submitted the tasks of a critical
 * path. One thread.
 */
#include "tools/explain/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "tools/common/report.h"

enum { MAX_LINES = 6 };

/* What tasks of one line, and of one kernel on one kind of worker, take of the path. */
struct line {
    const char *source;
    char name[EXPLAIN_NAME_SIZE];
    double ms;
    size_t n;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->ms != y->ms)
        return x->ms < y->ms ? 1 : -1;
    return strcmp(x->source, y->source);
}

/* Owned; NULL without memory, or where no line is known. */
static struct line *lines_of(const struct explain_link *chain, size_t nchain, size_t *ret_n)
{
    struct line *lines = NULL, *line;
    size_t n = 0;

    for (size_t i = 0; i < nchain; i++) {
        const struct explain_link *link = &chain[i];
        const char *source =
            link->type == EXPLAIN_RUNS ? link->run->tasks[link->what].source : NULL;
        struct line one = {.source = source};
        size_t at = 0;

        if (!source)
            continue;
        explain_name_link(link, one.name, sizeof(one.name));
        while (at < n && (strcmp(lines[at].source, source) != 0 ||
                          strcmp(lines[at].name, one.name) != 0))
            at++;
        if (at == n) {
            line = orr_array_add(lines, n);
            if (!line)
                break;
            *line = one;
        }
        lines[at].ms += link->end - link->start;
        lines[at].n++;
    }
    *ret_n = n;
    return lines;
}

/* A line each, as compilers have them, so that terminals and editors find the place. */
int explain_print_lines(const struct explain_link *chain, size_t nchain, double all_ms)
{
    char time[REPORT_TIME_MAX];
    size_t n = 0;
    struct line *lines = lines_of(chain, nchain, &n);

    if (lines)
        qsort(lines, n, sizeof(*lines), compare_lines);
    if (n)
        puts("\nwhere its tasks are submitted");
    for (size_t i = 0; i < n && i < MAX_LINES; i++)
        printf("%s: %s, %s, %.1f %%, %zu time%s\n", lines[i].source, lines[i].name,
               report_time_text(1e3 * lines[i].ms, time), 100 * lines[i].ms / all_ms, lines[i].n,
               lines[i].n == 1 ? "" : "s");
    if (n > MAX_LINES)
        printf("and %zu more\n", n - MAX_LINES);
    free(lines);
    return 0;
}
