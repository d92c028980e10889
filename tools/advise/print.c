/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/advise/print.c - advice as a table and sentences, and as JSON. */
#include "tools/advise/advise.h"

#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/common/statistics.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less of the best loss than this is no difference that matters. */
#define MATTERS 0.001
/* Figures that are named. */
enum { MOST_FIGURES = 3 };

static const struct candidate_of *ranked(const struct advice *advice, size_t rank)
{
    return &advice->candidates[advice->order[rank]];
}

static bool has_costs(const struct advice *advice)
{
    return advice->costs.n > 0;
}

struct spread advice_spread(const struct advice *advice, const double *values)
{
    size_t n = advice->options->draws;
    double *copy = calloc(n, sizeof(*copy));
    struct spread spread = {(double)NAN, (double)NAN, (double)NAN};

    if (copy) {
        memcpy(copy, values, n * sizeof(*copy));
        spread = draws_of(copy, n);
    }
    free(copy);
    return spread;
}

/* -- the table -- */

static void put_number(struct table *table, const char *format, double value)
{
    if (isnan(value))
        table_add(table, "-");
    else if (strstr(format, "%%"))
        table_add(table, "%.0f %%", value);
    else
        table_add(table, "%.*f", value < 10 ? 2 : 0, value);
}

static void put_time(struct table *table, double us, const struct report_unit *unit)
{
    table_add(table, "%.3f", us / unit->us);
}

enum { MOST_COLUMNS = 11 };

static size_t columns_of(const struct advice *advice, char title[REPORT_TIME_MAX],
                         char price[REPORT_TIME_MAX], struct table_column *columns)
{
    bool costs = has_costs(advice), hourly = cost_is_hourly(advice->costs.currency);
    bool limited = !isnan(advice->options->time_us);
    const struct {
        struct table_column column;
        bool wanted;
    } all[MOST_COLUMNS] = {
        {{"machine", false}, true},      {{"scheduler", false}, true},
        {{title, true}, true},           {{"9 of 10 draws", true}, true},
        {{"first in", true}, true},      {{"within limit in", true}, limited},
        {{price, true}, costs},          {{"of a run", true}, costs && hourly},
        {{"most W", true}, costs},
        {{"J", true}, costs},            {{"limited by", false}, true},
    };
    size_t n = 0;

    for (size_t i = 0; i < MOST_COLUMNS; i++)
        if (all[i].wanted)
            columns[n++] = all[i].column;
    return n;
}

/* Of an hour, or a run, it has three digits. */
static void put_price(struct table *table, const struct advice *advice, double price)
{
    if (cost_is_hourly(advice->costs.currency) && !isnan(price))
        table_add(table, "%.3g", price);
    else
        put_number(table, "", price);
}

static int add_candidate(struct table *table, const struct advice *advice, size_t c,
                         const struct report_unit *unit)
{
    const struct candidate_of *candidate = &advice->candidates[c];
    struct spread time = advice_spread(advice, candidate->us);
    char *limits = advice_limits(advice, c);

    if (!limits)
        return -1;
    table_add(table, "%s", candidate->name);
    table_add(table, "%s", cell_policy(candidate->cell));
    put_time(table, time.median, unit);
    table_add(table, "%.3f .. %.3f", time.low / unit->us, time.high / unit->us);
    put_number(table, "%%", 100 * choice_first_share(&advice->choices, c));
    if (!isnan(advice->options->time_us))
        put_number(table, "%%", 100 * candidate->within);
    if (has_costs(advice)) {
        put_price(table, advice, candidate->cost.price);
        if (cost_is_hourly(advice->costs.currency))
            put_price(table, advice, advice_run_price(advice, candidate, time.median));
        put_number(table, "", candidate->cost.most_w);
        put_number(table, "", advice_spread(advice, candidate->joules).median);
    }
    table_add(table, "%s", limits);
    free(limits);
    return 0;
}

static struct report_unit unit_of(const struct advice *advice)
{
    double most = 0;

    for (size_t c = 0; c < advice->n; c++)
        if (!advice->candidates[c].out)
            most = fmax(most, advice_spread(advice, advice->candidates[c].us).median);
    return report_unit_of(most);
}

static int print_table(const struct advice *advice)
{
    struct report_unit unit = unit_of(advice);
    struct table_column columns[MOST_COLUMNS];
    char title[REPORT_TIME_MAX], price[REPORT_TIME_MAX];
    struct table table = {0};
    size_t n;

    snprintf(title, sizeof(title), "predicted %s", unit.name);
    snprintf(price, sizeof(price), "price %s",
             *advice->costs.currency ? advice->costs.currency : "");
    n = columns_of(advice, title, price, columns);
    for (size_t rank = 0; rank < advice->n; rank++)
        if (!ranked(advice, rank)->out &&
            add_candidate(&table, advice, advice->order[rank], &unit) < 0) {
            table_done(&table);
            return -1;
        }
    return table_end(&table, columns, n);
}

/* -- sentences -- */

/* "1.5 ms", "300 J", "29000 EUR". */
static const char *loss_text(const struct advice *advice, double loss, char text[REPORT_TIME_MAX])
{
    const char *currency = *advice->costs.currency ? advice->costs.currency : "price";

    switch (advice->options->by) {
    case BY_PRICE:
        if (cost_is_hourly(currency))
            snprintf(text, REPORT_TIME_MAX, "%.3g %.*s", loss, (int)strlen(currency) - 2,
                     currency);
        else
            snprintf(text, REPORT_TIME_MAX, "%.0f %s", loss, currency);
        return text;
    case BY_ENERGY:
        snprintf(text, REPORT_TIME_MAX, "%.3g J", loss);
        return text;
    case BY_VALUE:
        snprintf(text, REPORT_TIME_MAX, "%.3g %s s", loss, currency);
        return text;
    case BY_TIME:
        break;
    }
    return report_time_text(loss, text);
}

static const char *what_text(const struct advice *advice)
{
    static const char *const texts[] = {"the least time", "the lowest price", "the least energy",
                                        "the least price times time"};

    if (advice->options->by == BY_PRICE && cost_is_hourly(advice->costs.currency))
        return "the lowest price of a run";
    return texts[advice->options->by];
}

/* How to measure a figure. */
static const char *how_text(const struct figure *figure)
{
    return figure->is_kernel                    ? "orrery calibrate kernels"
           : !strncmp(figure->name, "cost ", 5) ? "orrery calibrate runtime"
                                                : "orrery calibrate bus";
}

/* What knowing a figure takes away of what the choice may cost; a regression may say a little
 * more than there is. */
static double figure_share(const struct advice *advice, const struct figure *figure)
{
    double regret = choices_regret(&advice->choices);

    return regret > 0 ? fmin(figure->value / regret, 1) : 0;
}

static void print_what_to_measure(const struct advice *advice)
{
    size_t n = 0;

    for (size_t f = 0; f < advice->nfigures && n < MOST_FIGURES; f++) {
        const struct figure *figure = &advice->figures[f];
        double share = figure_share(advice, figure);

        if (share < 0.01)
            break;
        if (n++ == 0)
            printf("To be surer, measure first what takes away most of that:\n");
        printf("  %s: %.0f %% (%s, there)\n", figure->name, 100 * share, how_text(figure));
    }
    if (n == 0)
        printf("No single figure that is not measured decides it: what is left is how kernels "
               "vary, or many figures together.\n");
}

static bool has_limits(const struct advice *advice)
{
    const struct advise_options *o = advice->options;

    return !isnan(o->budget_price) || !isnan(o->power_w) || !isnan(o->time_us);
}

/* Nothing is left to choose from. */
static void print_none(const struct advice *advice)
{
    if (has_limits(advice))
        printf("No machine is within the limits.\n");
    else
        printf(
            "No machine is left: the programs could not be simulated on any. Times of kernels "
            "that nobody has measured there can be assumed: --assume 'kernel[NAME] = TIME'.\n");
}

static void print_choice(const struct advice *advice)
{
    const struct candidate_of *best = ranked(advice, 0), *next;
    double share = choice_first_share(&advice->choices, advice->order[0]);
    double regret = choices_regret(&advice->choices);
    double mean = choice_mean(&advice->choices, advice->order[0]);
    char text[REPORT_TIME_MAX];

    if (advice->n == 1 || ranked(advice, 1)->out) {
        printf("%s is the only machine %s.\n", best->name,
               has_limits(advice) ? "within the limits" : "that is left");
        return;
    }
    next = ranked(advice, 1);
    if (mean <= 0 && regret <= 0) {
        printf("Nothing tells them apart: no task took time.\n");
        return;
    }
    if (share >= ADVISE_SURE || regret <= 0) {
        printf("Choose %s: it has %s in %.0f %% of the draws.\n", best->name, what_text(advice),
               100 * share);
        return;
    }
    if (regret < MATTERS * mean) {
        printf("%s and %s do not differ: choosing the former costs %.2g %% in the mean.\n",
               best->name, next->name, 100 * regret / mean);
        return;
    }
    printf("Cannot tell: %s has %s in the mean, but in %.0f %% of the draws only. Choosing it "
           "costs %s in the mean (%.1f %%) beside knowing which one is best.\n",
           best->name, what_text(advice), 100 * share, loss_text(advice, regret, text),
           100 * regret / mean);
    print_what_to_measure(advice);
}

static void print_out(const struct advice *advice)
{
    bool any = false;

    for (size_t rank = 0; rank < advice->n; rank++) {
        const struct candidate_of *candidate = ranked(advice, rank);

        if (!candidate->out)
            continue;
        if (!any)
            printf("Left out:\n");
        any = true;
        printf("  %s: %s\n", candidate->name, candidate->out);
    }
}

int advice_print(const struct advice *advice)
{
    bool any = choices_best(&advice->choices) < advice->n;

    if (any && print_table(advice) < 0)
        return -1;
    if (any)
        print_choice(advice);
    else
        print_none(advice);
    print_out(advice);
    if (any)
        printf("`limited by': by how many per cent the time changes where a figure that is not "
               "measured changes by one.\n");
    return 0;
}

/* -- JSON -- */

static json_t *draws_json(const struct advice *advice, const double *values)
{
    json_t *array = json_array();

    for (size_t d = 0; d < advice->options->draws; d++)
        json_array_append_new(array, tool_json_number(values[d]));
    return array;
}

static json_t *candidate_json(const struct advice *advice, size_t c)
{
    const struct candidate_of *candidate = &advice->candidates[c];
    struct spread time = advice_spread(advice, candidate->us);
    char *limits = advice_limits(advice, c);
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:[o,o], s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "machine", tool_json_text(candidate->name), "scheduler",
        tool_json_text(candidate->cell ? cell_policy(candidate->cell) : NULL), "left_out",
        tool_json_text(candidate->out),
        "median_us", tool_json_number(time.median), "interval_us", tool_json_number(time.low), tool_json_number(time.high),
        "first_share", candidate->out ? json_null()
                                      : tool_json_number(choice_first_share(&advice->choices, c)),
        "within_share", tool_json_number(candidate->within), "price", tool_json_number(candidate->cost.price),
        "run_price", tool_json_number(advice_run_price(advice, candidate, time.median)),
        "idle_w", tool_json_number(candidate->cost.idle_w), "most_w", tool_json_number(candidate->cost.most_w),
        "mean_loss", tool_json_number(choice_mean(&advice->choices, c)), "joules",
        tool_json_number(advice_spread(advice, candidate->joules).median), "limited_by", tool_json_text(limits),
        "draws_us", draws_json(advice, candidate->us), "draws_j",
        draws_json(advice, candidate->joules));

    free(limits);
    return json;
}

static json_t *figure_json(const struct advice *advice, const struct figure *figure)
{
    return json_pack("{s:o, s:s, s:o, s:o}", "figure", tool_json_text(figure->name), "measure",
                     how_text(figure), "value", tool_json_number(figure->value), "share",
                     tool_json_number(figure_share(advice, figure)));
}

int advice_print_json(const struct advice *advice)
{
    static const char *const by[] = {"time", "price", "energy", "value"};
    size_t best = choices_best(&advice->choices);
    json_t *candidates = json_array(), *figures = json_array(), *json;

    for (size_t rank = 0; rank < advice->n; rank++)
        json_array_append_new(candidates, candidate_json(advice, advice->order[rank]));
    for (size_t f = 0; f < advice->nfigures; f++)
        json_array_append_new(figures, figure_json(advice, &advice->figures[f]));
    json = json_pack(
        "{s:s, s:i, s:o, s:b, s:o, s:s, s:o, s:o}", "by", by[advice->options->by], "draws",
        (int)advice->options->draws, "best",
        tool_json_text(best < advice->n ? advice->candidates[best].name : NULL), "sure",
        best < advice->n && choice_first_share(&advice->choices, best) >= ADVISE_SURE,
        "regret", tool_json_number(choices_regret(&advice->choices)), "currency", advice->costs.currency,
        "candidates", candidates, "measure_next", figures);
    return tool_json_print(json);
}
