/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/difference.c - see difference.h. */
#include "tools/compare/difference.h"

#include "tools/common/json.h"
#include "tools/common/report.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/common/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict { FASTER, SLOWER, ALIKE, FAILED, ONLY_BEFORE, ONLY_AFTER };

static const char *const verdicts[] = {
    [FASTER] = "faster",           [SLOWER] = "slower",
    [ALIKE] = "no difference",     [FAILED] = "fails",
    [ONLY_BEFORE] = "only before", [ONLY_AFTER] = "only after",
};

/* A combination in both. */
struct pair {
    const json_t *before, *after; /* borrowed: the rows; NULL: not there */
    struct spread old, new;       /* µs; NaN: failed */
    double chance; /* that a rank test differs as much by chance; NaN: too few
                    * runs */
    enum verdict verdict;
};

struct difference {
    const struct difference_options *options;
    json_t *before, *after; /* owned: arrays */
    struct pair *pairs;     /* owned */
    size_t n;
};

bool difference_is_file(const char *word)
{
    size_t length = strlen(word);

    return length >= 5 && strcmp(word + length - 5, ".json") == 0;
}

bool difference_is_meant(int noperands, char **operands)
{
    return noperands == 2 && difference_is_file(operands[0]) &&
           difference_is_file(operands[1]);
}

/* ---- reading ---- */

static json_t *read_comparison_rows(const char *path)
{
    json_error_t where;
    json_t *json = json_load_file(path, 0, &where), *row;
    size_t i;
    bool good = json_is_array(json);

    if (!json) {
        if (where.line < 0)
            tool_error("compare: %s", where.text);
        else
            tool_error("compare: %s:%d: %s", path, where.line, where.text);
        return NULL;
    }
    json_array_foreach(json, i, row)
    {
        good = good && json_is_string(json_object_get(row, "machine")) &&
               json_is_string(json_object_get(row, "scheduler_asked"));
    }
    if (good)
        return json;
    tool_error("compare: %s is nothing that `orrery compare --json' prints",
               path);
    json_decref(json);
    return NULL;
}

static bool same_row(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"machine", "scheduler_asked",
                                       "settings"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        json_t *x = json_object_get(a, keys[i]),
               *y = json_object_get(b, keys[i]);

        if (x && y ? !json_equal(x, y) : x != y)
            return false;
    }
    return true;
}

static const json_t *find_row_of_combination(const json_t *rows,
                                             const json_t *row)
{
    const json_t *other;
    size_t i;

    json_array_foreach(rows, i, other)
    {
        if (same_row(other, row))
            return other;
    }
    return NULL;
}

/* The makespans of a row, µs; owned, NULL without memory. */
static double *row_runs_us(const json_t *row, size_t *ret_n)
{
    const json_t *list = json_object_get(row, "runs_us"), *run;
    double *us = calloc(json_array_size(list) + 1, sizeof(*us));
    size_t i;

    *ret_n = 0;
    json_array_foreach(list, i, run)
    {
        if (us && json_is_number(run))
            us[(*ret_n)++] = json_number_value(run);
    }
    return us;
}

static int pair_judge(struct pair *pair, double worse)
{
    size_t nold, nnew;
    double *old = row_runs_us(pair->before, &nold),
           *new = row_runs_us(pair->after, &nnew);
    double change;

    if (!old || !new) {
        free(old);
        free(new);
        return tool_fail(-1, "out of memory");
    }
    pair->old = spread_of(old, nold);
    pair->new = spread_of(new, nnew);
    pair->chance = nold >= STATISTICS_LEAST && nnew >= STATISTICS_LEAST
                       ? rank_test(old, nold, new, nnew)
                       : (double)NAN;
    free(old);
    free(new);
    change = pair->new.median / pair->old.median - 1;
    pair->verdict = !pair->after            ? ONLY_BEFORE
                    : !pair->before         ? ONLY_AFTER
                    : isnan(change)         ? FAILED
                    : fabs(change) <= worse ? ALIKE
                    : change > 0            ? SLOWER
                                            : FASTER;
    return 0;
}

static int by_chance(const void *a, const void *b)
{
    double x = (*(struct pair *const *)a)->chance,
           y = (*(struct pair *const *)b)->chance;

    return (x > y) - (x < y);
}

/* Takes back what the tests do not bear out, all of them together. */
static int differences_correct(struct difference *d)
{
    struct pair **tested = calloc(d->n + 1, sizeof(*tested));
    size_t n = 0;
    bool rejected = false;

    if (!tested)
        return tool_fail(-1, "out of memory");
    for (size_t i = 0; i < d->n; i++)
        if (!isnan(d->pairs[i].chance))
            tested[n++] = &d->pairs[i];
    qsort(tested, n, sizeof(struct pair *), by_chance);
    for (size_t i = 0; i < n; i++) {
        rejected =
            rejected || tested[i]->chance > STATISTICS_LEVEL / (double)(n - i);
        if (rejected)
            tested[i]->verdict = ALIKE;
    }
    free(tested);
    return 0;
}

static int differences_add_pair(struct difference *d, const json_t *before,
                                const json_t *after)
{
    struct pair *pair = &d->pairs[d->n++];

    *pair = (struct pair){.before = before, .after = after};
    return pair_judge(pair, d->options->worse);
}

static int differences_match_rows(struct difference *d)
{
    const json_t *row;
    size_t i;
    int rc = 0;

    d->pairs =
        calloc(json_array_size(d->before) + json_array_size(d->after) + 1,
               sizeof(*d->pairs));
    if (!d->pairs)
        return tool_fail(-1, "out of memory");
    json_array_foreach(d->before, i, row)
    {
        if (rc == 0)
            rc = differences_add_pair(d, row,
                                      find_row_of_combination(d->after, row));
    }
    json_array_foreach(d->after, i, row)
    {
        if (rc == 0 && !find_row_of_combination(d->before, row))
            rc = differences_add_pair(d, NULL, row);
    }
    return rc == 0 ? differences_correct(d) : rc;
}

/* ---- printing ---- */

static const char *pair_text(const struct pair *pair, const char *key)
{
    const char *text = json_string_value(
        json_object_get(pair->after ? pair->after : pair->before, key));

    return text ? text : "-";
}

static const json_t *pair_settings(const struct pair *pair)
{
    return json_object_get(pair->after ? pair->after : pair->before,
                           "settings");
}

/* "cuda.count = 4, …"; owned. */
static char *settings_text(const struct pair *pair)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const char *key, *before = "";
    json_t *value;

    if (!file)
        return NULL;
    json_object_foreach((json_t *)(uintptr_t)pair_settings(pair), key, value)
    {
        fprintf(file, "%s%s = %s", before, key, json_string_value(value));
        before = ", ";
    }
    fclose(file);
    return text;
}

static void add_time(struct table *table, double us, struct report_unit unit)
{
    if (isnan(us))
        table_add(table, "-");
    else
        table_add(table, "%.3f", us / unit.us);
}

/* That of the longest of all. */
static struct report_unit pairs_unit(const struct difference *d)
{
    double most = 0;

    for (size_t i = 0; i < d->n; i++)
        most = fmax(most, fmax(d->pairs[i].old.median, d->pairs[i].new.median));
    return report_unit_of(most);
}

static int print_pairs_table(const struct difference *d, bool markdown)
{
    struct report_unit unit = pairs_unit(d);
    char before[32], after[32];
    const struct table_column columns[] = {
        {"machine", false}, {"settings", false}, {"scheduler", false},
        {before, true},     {after, true},       {"change", true},
        {"chance", true},   {"verdict", false}};
    struct table table = {0};

    snprintf(before, sizeof(before), "before %s", unit.name);
    snprintf(after, sizeof(after), "after %s", unit.name);

    for (size_t i = 0; i < d->n; i++) {
        const struct pair *pair = &d->pairs[i];
        double change = 100 * (pair->new.median / pair->old.median - 1);
        char *settings = settings_text(pair);

        table_add(&table, "%s", pair_text(pair, "machine"));
        table_add(&table, "%s", settings && *settings ? settings : "-");
        table_add(&table, "%s", pair_text(pair, "scheduler_asked"));
        add_time(&table, pair->old.median, unit);
        add_time(&table, pair->new.median, unit);
        table_add(&table, isnan(change) ? "-" : "%+.2f %%", change);
        table_add(&table, isnan(pair->chance) ? "-" : "%.3g", pair->chance);
        table_add(&table, "%s", verdicts[pair->verdict]);
        free(settings);
    }
    return (markdown ? table_end_markdown : table_end)(&table, columns, 8) < 0
               ? tool_fail(-1, "out of memory")
               : 0;
}

static int print_pairs_json(const struct difference *d)
{
    json_t *array = json_array();

    for (size_t i = 0; i < d->n; i++) {
        const struct pair *pair = &d->pairs[i];

        json_array_append_new(
            array,
            json_pack("{s:s, s:O?, s:s, s:o, s:o, s:o, s:o, s:s}", "machine",
                      pair_text(pair, "machine"), "settings",
                      pair_settings(pair), "scheduler",
                      pair_text(pair, "scheduler_asked"), "before_us",
                      tool_json_number(pair->old.median), "after_us",
                      tool_json_number(pair->new.median), "change",
                      tool_json_number(pair->new.median / pair->old.median - 1),
                      "chance", tool_json_number(pair->chance), "verdict",
                      verdicts[pair->verdict]));
    }
    return tool_json_print(array) < 0 ? tool_fail(-1, "out of memory") : 0;
}

static int print_all(const struct difference *d)
{
    size_t slower = 0, failed = 0, untested = 0;

    if ((d->options->json ? print_pairs_json(d)
                          : print_pairs_table(d, d->options->markdown)) < 0)
        return TOOL_FAILED;
    for (size_t i = 0; i < d->n; i++) {
        slower += d->pairs[i].verdict == SLOWER;
        failed += d->pairs[i].verdict == FAILED && d->pairs[i].after &&
                  isnan(d->pairs[i].new.median);
        untested += isnan(d->pairs[i].chance) && d->pairs[i].before &&
                    d->pairs[i].after;
    }
    if (!d->options->json)
        printf("\n%zu of %zu slower%s\n", slower, d->n,
               untested
                   ? "; rows without a chance have too few runs for a test "
                     "(--repeat 4 or more)"
                   : "");
    return slower || failed ? DIFFERENCE_SLOWER : TOOL_OK;
}

int difference_print(const struct difference_options *options)
{
    struct difference d = {.options = options};
    int code = TOOL_USAGE;

    d.before = read_comparison_rows(options->before);
    d.after = d.before ? read_comparison_rows(options->after) : NULL;
    if (d.after)
        code = differences_match_rows(&d) < 0 ? TOOL_FAILED : print_all(&d);
    free(d.pairs);
    json_decref(d.before);
    json_decref(d.after);
    return code;
}
