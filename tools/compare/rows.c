/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/rows.c - see rows.h: what rows say, and as text. */
#include "tools/compare/rows.h"

#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row row_of(const struct comparison *c, const struct cell *cell)
{
    const struct rivals rivals = comparison_rivals(c, cell);
    const struct cell *best = rivals.best;
    struct row row = {.ms = cell->spread.median / 1000,
                      .unit_ms = comparison_unit(c).us / 1000,
                      .low_ms = cell->spread.low / 1000,
                      .high_ms = cell->spread.high / 1000,
                      .to_best = cell->spread.median / best->spread.median,
                      .slower = (double)NAN,
                      .first = c->options->draws ? cell_first_share(c, cell)
                                                 : (double)NAN,
                      .difference = (double)NAN,
                      .of_bound = fmin(1, cell->bound_us / cell->spread.median),
                      .idle = cell_idle(cell),
                      .is_pareto = cell_is_pareto(c, cell),
                      .price = comparison_run_price(c, cell),
                      .is_best = cell == best,
                      .nran = rivals.nran,
                      .nfailed = rivals.nfailed};

    row.speedup = cell_speedup(c, cell, &row.efficiency);
    if (isnan(cell->bound_us) || !(cell->spread.median > 0))
        row.of_bound = (double)NAN;
    if (row.is_best || c->options->repeat < 2)
        return row;
    row.slower = c->options->draws
                     ? cell_behind_share(c, cell, best)
                     : share_less(best->us, best->n, cell->us, cell->n);
    /* Draws are of the errors of models: more of them tell nothing apart. */
    if (c->options->draws)
        return row;
    if (best->n >= STATISTICS_LEAST && cell->n >= STATISTICS_LEAST) {
        row.difference = rank_test(best->us, best->n, cell->us, cell->n);
        row.is_alike = row.difference > STATISTICS_LEVEL;
    }
    return row;
}

char *cell_why(const struct comparison *c, const struct cell *cell)
{
    if (!cell->failed)
        return tool_format("interrupted");
    if (c->options->repeat > 1)
        return tool_format("failed in some of %u runs: %s", c->options->repeat,
                           cell->failed->problem);
    return tool_format("%s", cell->failed->problem);
}

/* An earlier row of the machine and point that failed for the same reason, NULL:
 * there is none. */
static const struct cell *cell_same_failure(const struct comparison *c,
                                            const struct cell *cell)
{
    size_t n = c->nschedulers;
    const struct cell *first = c->cells + (size_t)(cell - c->cells) / n * n;

    for (; cell->failed && first < cell; first++)
        if (first->failed &&
            strcmp(first->failed->problem, cell->failed->problem) == 0)
            return first;
    return NULL;
}

const char *comparison_time_title(const struct comparison *c, bool axis,
                                  char text[REPORT_TIME_MAX])
{
    const char *unit = comparison_unit(c).name, *predicted = "predicted ";

    for (size_t m = 0; m < c->nmachines; m++)
        if (!strcmp(c->machines[m], COMPARE_REAL))
            predicted = "";
    snprintf(text, REPORT_TIME_MAX, axis ? "%stime (%s)" : "%s%s", predicted, unit);
    return text;
}

/* ---- columns ---- */

/* A column of the table and of Markdown: a cell's text. */
struct column {
    const char *title;
    bool right;
    void (*put)(struct table *table, const struct cell *cell,
                const struct row *row);
};

static void put_cell_number(struct table *table, const char *format,
                            double value)
{
    char text[64];

    /* Each format is one of this file's. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof(text), format, value);
#pragma GCC diagnostic pop
    table_add(table, "%s", isnan(value) ? "-" : text);
}

static void put_cell_ms(struct table *table, const struct cell *cell,
                        const struct row *row)
{
    (void)cell;
    put_cell_number(table, "%.3f", row->ms / row->unit_ms);
}

static void put_interval(struct table *table, const struct cell *cell,
                         const struct row *row)
{
    if (cell->n < 2)
        table_add(table, "-");
    else
        table_add(table, "%.3f to %.3f", row->low_ms / row->unit_ms,
                  row->high_ms / row->unit_ms);
}

static void put_to_best(struct table *table, const struct cell *cell,
                        const struct row *row)
{
    (void)cell;
    if (row->nfailed)
        table_add(table, "%.3f of %u/%u", row->to_best, row->nran,
                  row->nran + row->nfailed);
    else
        put_cell_number(table, "%.3f", row->to_best);
}

static void put_slower(struct table *table, const struct cell *cell,
                       const struct row *row)
{
    (void)cell;
    if (row->is_best)
        table_add(table, "the best");
    else if (row->is_alike)
        table_add(table, "no difference");
    else if (!isnan(row->first))
        put_cell_number(table, "%.0f %%", 100 * row->slower);
    else if (isnan(row->difference))
        table_add(table, "too few runs");
    else
        put_cell_number(table, "%.0f %%", 100 * row->slower);
}

static void put_first(struct table *table, const struct cell *cell,
                      const struct row *row)
{
    (void)cell;
    put_cell_number(table, "%.0f %%", 100 * row->first);
}

static void put_of_bound(struct table *table, const struct cell *cell,
                         const struct row *row)
{
    (void)cell;
    put_cell_number(table, "%.1f %%", 100 * row->of_bound);
}

static void put_speedup(struct table *table, const struct cell *cell,
                        const struct row *row)
{
    (void)cell;
    put_cell_number(table, "%.2f", row->speedup);
}

static void put_efficiency(struct table *table, const struct cell *cell,
                           const struct row *row)
{
    (void)cell;
    put_cell_number(table, "%.1f %%", 100 * row->efficiency);
}

static void put_gflops(struct table *table, const struct cell *cell,
                       const struct row *row)
{
    (void)row;
    put_cell_number(table, "%.1f", cell->launch->report.flops > 0 ? cell_gflops(cell)
                                                                  : (double)NAN);
}

static void put_moved(struct table *table, const struct cell *cell,
                      const struct row *row)
{
    char text[32];

    (void)row;
    table_add(table, "%s",
              report_bytes_text(cell->launch->report.transferred_bytes, text));
}

static void put_sent(struct table *table, const struct cell *cell, const struct row *row)
{
    char text[32];

    (void)row;
    table_add(table, "%s", report_bytes_text(cell->launch->report.message_bytes, text));
}

static void put_idle(struct table *table, const struct cell *cell,
                     const struct row *row)
{
    (void)cell;
    put_cell_number(table, "%.1f %%", 100 * row->idle);
}

/* A star: no rival has less of both time and energy. */
static void put_energy(struct table *table, const struct cell *cell, const struct row *row)
{
    if (isnan(cell->energy_j))
        table_add(table, "-");
    else
        table_add(table, "%.4g%s", cell->energy_j, row->is_pareto ? " *" : "  ");
}

static void put_price(struct table *table, const struct cell *cell,
                      const struct row *row)
{
    put_cell_number(table, "%.3g", row->price);
    (void)cell;
}

/* "USD a run" of the currency "USD/h". */
static const char *price_title(const struct comparison *c, char text[24])
{
    const char *currency = c->options->costs ? c->options->costs->currency : "";

    snprintf(text, 24, "%.*s a run", (int)strcspn(currency, "/"), currency);
    return text;
}

static void put_wall(struct table *table, const struct cell *cell,
                     const struct row *row)
{
    (void)row;
    put_cell_number(table, "%.2f", cell->launch->report.wall_s);
}

static void put_figures(struct table *table, const struct cell *cell,
                        const struct row *row)
{
    const struct report *report = &cell->launch->report;
    char figures[256] = "", machine[512];

    (void)row;
    report_figures(report, figures, sizeof(figures));
    report_provenance(report, machine, sizeof(machine));
    table_add(table, "%s%s%s",
              report->provenance || report->simulated ? machine : "real run",
              *figures ? "; times " : "", figures);
}

enum { MOST_COLUMNS = 16 };

/* Whether each row has so many runs that its interval is one of 95 %: not where some
 * were asked for and did not come to their end. */
static bool intervals_are_proper(const struct comparison *c)
{
    for (size_t i = 0; i < c->ncells; i++)
        if (cell_is_good(&c->cells[i]) && c->cells[i].n < STATISTICS_PROPER)
            return false;
    return true;
}

static bool any_ranks(const struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->launches[i].nranks)
            return true;
    return false;
}

/* The columns behind the scheduler, of which two have these titles; the last has any length. */
static size_t columns_of(const struct comparison *c, const char *time_title,
                         const char *price, struct column columns[MOST_COLUMNS])
{
    const bool repeated = c->options->repeat > 1, across = c->options->across;
    const struct {
        struct column column;
        bool wanted;
    } all[MOST_COLUMNS] = {
        {{time_title, true, put_cell_ms}, true},
        {{c->options->draws         ? "9 of 10 draws"
          : intervals_are_proper(c) ? "95 % between"
                                    : "between",
          true, put_interval},
         repeated},
        {{"to best", true, put_to_best}, c->nschedulers > 1 || across},
        {{"slower in", true, put_slower},
         repeated && (c->nschedulers > 1 || across)},
        {{"first in", true, put_first}, c->options->draws},
        {{"speed-up", true, put_speedup}, c->nodes},
        {{"efficiency", true, put_efficiency}, c->nodes},
        {{"of bound", true, put_of_bound}, c->options->bound},
        {{"GFlop/s", true, put_gflops}, true},
        {{"moved", true, put_moved}, true},
        {{"sent", true, put_sent}, any_ranks(c)},
        {{"idle", true, put_idle}, true},
        {{"joules", true, put_energy}, comparison_has_energy(c)},
        {{price, true, put_price}, comparison_has_prices(c)},
        {{"simulation s", true, put_wall}, true},
        {{"figures", false, put_figures}, true},
    };
    size_t n = 0;

    for (size_t i = 0; i < MOST_COLUMNS; i++)
        if (all[i].wanted)
            columns[n++] = all[i].column;
    return n;
}

static void add_cell(struct table *table, const struct comparison *c,
                     const struct cell *cell, const struct column *columns,
                     size_t n)
{
    const struct cell *same;
    struct row row;
    char *why;

    table_add(table, "%s", cell->machine);
    for (size_t a = 0; a < c->sweep.naxes; a++)
        table_add(table, "%s", sweep_value(&c->sweep, cell->point, a));
    table_add(table, "%s", cell_policy(cell));
    if (cell_is_good(cell)) {
        row = row_of(c, cell);
        for (size_t i = 0; i < n; i++)
            columns[i].put(table, cell, &row);
        return;
    }
    for (size_t i = 0; i + 1 < n; i++)
        table_add(table, "-");
    same = cell_same_failure(c, cell);
    why = same ? tool_format("failed as %s", cell_policy(same)) : cell_why(c, cell);
    table_add(table, "%s", why ? why : "failed");
    free(why);
}

static int print_as(const struct comparison *c,
                    int (*end)(struct table *, const struct table_column *,
                               size_t))
{
    struct column columns[MOST_COLUMNS];
    char title[REPORT_TIME_MAX], price[24];
    size_t n = columns_of(c, comparison_time_title(c, false, title),
                          price_title(c, price), columns);
    size_t axes = c->sweep.naxes, at = 0;
    struct table_column *titles = calloc(axes + n + 2, sizeof(*titles));
    struct table table = {0};
    int rc;

    if (!titles)
        return tool_fail(-1, "out of memory");
    titles[at++] = (struct table_column){"machine", false};
    for (size_t a = 0; a < axes; a++)
        titles[at++] = (struct table_column){c->sweep.axes[a].target, true};
    titles[at++] = (struct table_column){"scheduler", false};
    for (size_t i = 0; i < n; i++)
        titles[at++] =
            (struct table_column){columns[i].title, columns[i].right};
    for (size_t i = 0; i < c->ncells; i++)
        if (c->cells[i].n > 0 || c->cells[i].failed) /* else it was interrupted */
            add_cell(&table, c, &c->cells[i], columns, n);
    rc = end(&table, titles, at);
    free(titles);
    return rc < 0 ? tool_fail(-1, "out of memory") : 0;
}

int rows_print_table(const struct comparison *c)
{
    return print_as(c, table_end);
}

int rows_print_markdown(const struct comparison *c)
{
    return print_as(c, table_end_markdown);
}
