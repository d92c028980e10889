/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/scaling.c - see scaling.h. Three things bound a program that keeps its
 * distribution: what the workers of a rank have to do, which more nodes divide; what NICs and
 * links have to carry, which they divide less, as each node needs more of the others' values; and
 * the critical path, which they make no shorter. Strong scaling flattens where one of the last
 * two is longer than the first.
 */
#include "tools/compare/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

/* A size, in order of the nodes. */
struct size {
    unsigned nodes;
    const struct cell *cell; /* the best at that size, else any */
    const struct rank_bounds *of;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct size *x = a, *y = b;

    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? -1 : 1;
    return (x->of > y->of) - (x->of < y->of);
}

static size_t find_sizes(const struct comparison *c, size_t point, struct size *sizes)
{
    size_t n = 0;

    for (size_t m = 0; m < c->nmachines; m++) {
        const struct cell *cell = comparison_best(c, m, point);

        if (!cell)
            cell = comparison_cell(c, m, point, 0);
        if (cell->bounds)
            sizes[n++] = (struct size){c->nodes[m], cell, cell->bounds};
    }
    if (n)
        qsort(sizes, n, sizeof(*sizes), compare_sizes);
    return n;
}

/* --- the table --- */

static void add_ms(struct table *table, double ms, struct report_unit unit)
{
    if (isfinite(ms))
        table_add(table, "%.3f", 1e3 * ms / unit.us);
    else
        table_add(table, "-");
}

static int print_sizes(const struct size *sizes, size_t n, struct report_unit unit)
{
    static const struct table_column columns[] = {
        {"nodes", true}, {"took", true},      {"bound", true}, {"tasks of a rank", true},
        {"NICs", true},  {"links", true},     {"path", true},  {"anywhere", true},
        {"limited by", false}};
    struct table table = {0};

    for (size_t i = 0; i < n; i++) {
        const struct rank_bounds *of = sizes[i].of;

        table_add(&table, "%u", sizes[i].nodes);
        add_ms(&table, cell_is_good(sizes[i].cell) ? sizes[i].cell->spread.median / 1e3 : (double)NAN,
               unit);
        add_ms(&table, of->ms, unit);
        add_ms(&table, of->tasks_ms, unit);
        add_ms(&table, of->nics_ms, unit);
        add_ms(&table, of->links_ms, unit);
        add_ms(&table, of->path_ms, unit);
        add_ms(&table, of->anywhere_ms, unit);
        table_add(&table, "%s", of->limit ? of->limit : "");
    }
    return table_end(&table, columns, sizeof(columns) / sizeof(*columns));
}

/* --- in words --- */

static bool carried_is_longer(const struct rank_bounds *of)
{
    return rank_bounds_carried(of) > of->tasks_ms;
}

static bool path_is_longer(const struct rank_bounds *of)
{
    return of->path_ms > of->tasks_ms;
}

/* The first size from which on it is so at all; n: not at the last one. */
static size_t first_of(const struct size *sizes, size_t n,
                       bool (*is_longer)(const struct rank_bounds *of))
{
    size_t first = n;

    while (first > 0 && is_longer(sizes[first - 1].of))
        first--;
    return first;
}

static void print_from(const struct size *sizes, size_t first)
{
    if (first == 0)
        fputs("At all of these sizes ", stdout);
    else
        printf("From %u nodes on ", sizes[first].nodes);
}

/* Where more nodes take longer. */
static void print_fastest(const struct size *sizes, size_t n)
{
    const struct size *best = NULL;
    char time[REPORT_TIME_MAX];

    for (size_t i = 0; i < n; i++)
        if (cell_is_good(sizes[i].cell) &&
            (!best || sizes[i].cell->spread.median < best->cell->spread.median))
            best = &sizes[i];
    if (best && best->nodes < sizes[n - 1].nodes)
        printf("It is fastest with %u node%s (%s): with more it takes longer.\n", best->nodes,
               best->nodes == 1 ? "" : "s", report_time_text(best->cell->spread.median, time));
}

static void print_words(const struct size *sizes, size_t n)
{
    size_t carried = first_of(sizes, n, carried_is_longer);
    size_t path = first_of(sizes, n, path_is_longer);
    char a[REPORT_TIME_MAX], b[REPORT_TIME_MAX];

    if (carried < n) {
        const struct rank_bounds *of = sizes[carried].of;

        print_from(sizes, carried);
        printf("what %s have to carry takes longer than the tasks\nof any rank (%s and %s%s%s):\n"
               "there strong scaling flattens.\n",
               of->links_ms > of->nics_ms ? "links" : "NICs",
               report_time_text(1e3 * rank_bounds_carried(of), a),
               report_time_text(1e3 * of->tasks_ms, b), carried ? "" : " at the first",
               carried ? "" : " of them");
    }
    if (path < n) {
        const struct rank_bounds *of = sizes[path].of;

        print_from(sizes, path);
        printf("the critical path is longer than the tasks of any rank\n(%s and %s), which no "
               "number of nodes makes shorter.\n",
               report_time_text(1e3 * of->path_ms, a), report_time_text(1e3 * of->tasks_ms, b));
    }
    if (carried == n && path == n)
        puts("At the last of these sizes the tasks of a rank still take longer than what NICs\n"
             "have to carry, and than the critical path: more nodes may make it faster.");
    print_fastest(sizes, n);
}

int scaling_print(const struct comparison *c)
{
    struct report_unit unit = comparison_unit(c);
    struct size *sizes = calloc(c->nmachines + 1, sizeof(*sizes));
    int rc = sizes ? 0 : -1;

    for (size_t p = 0; c->nodes && c->bounds && p < c->sweep.npoints && !rc; p++) {
        size_t n = find_sizes(c, p, sizes);
        char *where = n && c->sweep.npoints > 1 ? sweep_name(&c->sweep, p) : NULL;

        if (n == 0)
            continue;
        printf("\nwhat bounds it%s%s, %s at least\n", where ? ", " : "", where ? where : "",
               unit.name);
        rc = print_sizes(sizes, n, unit);
        print_words(sizes, n);
        free(where);
    }
    free(sizes);
    return rc ? tool_fail(-1, "out of memory") : 0;
}

json_t *scaling_json(const struct cell *cell)
{
    const struct rank_bounds *of = cell->bounds;

    if (!of)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "tasks_us",
                     tool_json_number(1e3 * of->tasks_ms), "nics_us",
                     tool_json_number(1e3 * of->nics_ms), "links_us",
                     tool_json_number(1e3 * of->links_ms), "path_us",
                     tool_json_number(1e3 * of->path_ms), "anywhere_us",
                     tool_json_number(1e3 * of->anywhere_ms), "limited_by",
                     tool_json_text(of->limit));
}
