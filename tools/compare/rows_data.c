/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/rows_data.c - see rows.h: rows for other programs. */
#include "tools/compare/rows.h"
#include "tools/compare/scaling.h"

#include "tools/common/json.h"
#include "tools/common/printed.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV (RFC 4180) ---- */

static void put_next(const char *text)
{
    putchar(',');
    printed_csv(stdout, text);
}

static void put_csv_value(double value)
{
    putchar(',');
    if (isfinite(value))
        printf("%.10g", value);
}

static void put_good(const struct comparison *c, const struct cell *cell)
{
    const struct report *report = &cell->launch->report;
    struct row row = row_of(c, cell);

    put_csv_value((double)cell->n);
    put_csv_value(row.ms);
    put_csv_value(row.low_ms);
    put_csv_value(row.high_ms);
    put_csv_value(row.to_best);
    put_csv_value(row.slower);
    put_csv_value(row.difference);
    put_csv_value(cell->bound_us / 1000);
    put_csv_value(cell_gflops(cell));
    put_csv_value((double)report->transferred_bytes);
    put_csv_value((double)report->message_bytes);
    put_csv_value((double)report->evictions);
    put_csv_value(row.idle);
    put_csv_value(row.speedup);
    put_csv_value(row.efficiency);
    put_csv_value(report->wall_s);
    put_csv_value(cell->energy_j);
    put_csv_value(row.price);
    put_next(report->provenance ? report->provenance : "");
    puts(",");
}

static const char csv_titles[] =
    ",scheduler,runs,ms,low_ms,high_ms,to_best,slower_share,chance,bound_ms,gflops,"
    "moved_bytes,message_bytes,evictions,idle_share,speedup,efficiency,simulation_s,"
    "energy_j,run_price,figures,error";

enum { CSV_EMPTY = 19 }; /* columns between the scheduler and the error */

int rows_print_csv(const struct comparison *c)
{
    fputs("machine", stdout);
    for (size_t a = 0; a < c->sweep.naxes; a++)
        put_next(c->sweep.axes[a].target);
    puts(csv_titles);
    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *cell = &c->cells[i];
        char *why;

        printed_csv(stdout, cell->machine);
        for (size_t a = 0; a < c->sweep.naxes; a++)
            put_next(sweep_value(&c->sweep, cell->point, a));
        put_next(cell_policy(cell));
        if (cell_is_good(cell)) {
            put_good(c, cell);
            continue;
        }
        for (int n = 0; n < CSV_EMPTY; n++)
            putchar(',');
        why = cell_why(c, cell);
        put_next(why ? why : "failed");
        putchar('\n');
        free(why);
    }
    return 0;
}

/* ---- JSON ---- */

static json_t *cell_settings_json(const struct comparison *c,
                                  const struct cell *cell)
{
    json_t *settings = json_object();

    for (size_t a = 0; a < c->sweep.naxes; a++)
        json_object_set_new(
            settings, c->sweep.axes[a].target,
            tool_json_text(sweep_value(&c->sweep, cell->point, a)));
    return settings;
}

/* In the order of their seeds. */
static json_t *cell_runs_json(const struct comparison *c, const struct cell *cell)
{
    json_t *runs = json_array();

    for (size_t k = 0; k < c->options->repeat; k++)
        if (!isnan(cell->of_repetition[k]))
            json_array_append_new(runs, json_real(cell->of_repetition[k]));
    return runs;
}

static int add_figures(json_t *json, const struct comparison *c,
                       const struct cell *cell)
{
    struct row row = row_of(c, cell);
    json_t *figures = json_pack(
        "{s:s, s:o, s:o, s:[o, o], s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "time_unit", "us", "runs_us", cell_runs_json(c, cell), "median_us",
        tool_json_number(cell->spread.median), "interval_us",
        tool_json_number(cell->spread.low), tool_json_number(cell->spread.high),
        "to_best", tool_json_number(row.to_best), "rivals_ran", (int)row.nran,
        "rivals_failed", (int)row.nfailed, "first_share",
        tool_json_number(row.first), "slower_share",
        tool_json_number(row.slower), "chance",
        tool_json_number(row.difference), "bound_us",
        tool_json_number(cell->bound_us), "bounded_by", scaling_json(cell),
        "of_bound", tool_json_number(row.of_bound), "idle",
        tool_json_number(row.idle), "gflops",
        tool_json_number(cell_gflops(cell)), "speedup",
        tool_json_number(row.speedup), "efficiency",
        tool_json_number(row.efficiency), "energy_j",
        tool_json_number(cell->energy_j), "run_price",
        tool_json_number(row.price), "pareto",
        isnan(cell->energy_j) ? json_null() : json_boolean(row.is_pareto));
    int rc = figures ? json_object_update(json, figures) : -1;

    json_decref(figures);
    return rc;
}

static json_t *json_of(const struct comparison *c, const struct cell *cell)
{
    json_t *json = json_pack(
        "{s:o, s:s, s:s, s:o}", "machine", tool_json_text(cell->machine),
        "scheduler", cell_policy(cell), "scheduler_asked", cell->scheduler,
        "settings", cell_settings_json(c, cell));
    char *why;

    if (json && cell_is_good(cell)) {
        json_object_update_missing(json, cell->launch->report.json);
        if (add_figures(json, c, cell) == 0)
            return json;
        json_decref(json);
        return NULL;
    }
    why = cell_why(c, cell);
    json_object_set_new(json, "error", tool_json_text(why ? why : "failed"));
    free(why);
    return json;
}

int rows_print_json(const struct comparison *c)
{
    json_t *array = json_array();

    for (size_t i = 0; i < c->ncells; i++)
        if (json_array_append_new(array, json_of(c, &c->cells[i])) < 0) {
            json_decref(array);
            return tool_fail(-1, "out of memory");
        }
    return tool_json_print(array) == 0 ? 0 : tool_fail(-1, "out of memory");
}
