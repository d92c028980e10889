/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/comparison.c - see comparison.h. */
#include "tools/common/comparison.h"

#include "core/cost/assume.h"
#include "core/policies/names.h"
#include "tools/common/machines.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_strings(char **list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* ---- what is to be run ---- */

/* All policies by name, with commas. */
static const char every_scheduler[] =
#define NAME(name, ops) name ","
    ORR_SCHED_NAMES(NAME);
#undef NAME

/* The names of a list in which "all" stands for every policy; as tool_split. */
static char **schedulers_of(const char *list)
{
    char **words = tool_split(list), **names = NULL, *text = NULL;
    size_t size;
    FILE *file = words ? open_memstream(&text, &size) : NULL;

    for (size_t i = 0; file && words[i]; i++)
        fprintf(file, "%s,",
                !strcmp(words[i], "all") ? every_scheduler : words[i]);
    if (file && fclose(file) == 0)
        names = tool_split(text);
    free(text);
    free(words);
    return names;
}

static int read_lists(struct comparison *c)
{
    const struct compare_options *options = c->options;
    size_t nreal = 0;

    c->machines = machines_split(options->machines);
    c->schedulers = schedulers_of(options->schedulers);
    c->nmachines = count_strings(c->machines);
    c->nschedulers = count_strings(c->schedulers);
    if (!c->machines || !c->schedulers)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (!c->nmachines || !c->nschedulers)
        return tool_fail(TOOL_USAGE,
                         "%s: no machine or no scheduler is named", options->command);
    for (size_t m = 0; m < c->nmachines; m++)
        nreal += !strcmp(c->machines[m], COMPARE_REAL);
    if (nreal && options->edits)
        return tool_fail(TOOL_USAGE,
                         "%s: --set is for simulated machines, "
                         "not for \"" COMPARE_REAL "\"",
                         options->command);
    if (nreal && options->draws)
        return tool_fail(TOOL_USAGE,
                         "%s: --draws is of models, which \"" COMPARE_REAL
                         "\" does not use",
                         options->command);
    if (nreal == c->nmachines && options->noise)
        return tool_fail(TOOL_USAGE,
                         "%s: --noise is for simulated machines; a real "
                         "one has its own",
                         options->command);
    return TOOL_OK;
}

/* The noise of repetitions is that of the measures, unless the user or the
 * environment says otherwise. */
static const char *noise_of(const struct compare_options *options)
{
    const char *set = getenv("ORRERY_SIM_NOISE");

    if (options->noise)
        return options->noise;
    if (set && *set)
        return set;
    return options->repeat > 1 ? "measured" : NULL;
}

/* What the k-th runs have in their environment. */
static char *seed_of(size_t k, const char *name)
{
    return tool_format("%s=%zu", name, k);
}

enum { SEED, POLICY_SEED, DRAW, SETTINGS }; /* of a repetition */

static int make_settings(struct comparison *c)
{
    unsigned repeat = c->options->repeat;

    c->settings = calloc(SETTINGS * (size_t)repeat + 1, sizeof(*c->settings));
    if (!c->settings)
        return -1;
    if (c->noise && !(c->settings[SETTINGS * repeat] =
                          tool_format("ORRERY_SIM_NOISE=%s", c->noise)))
        return -1;
    /* A single run has the seeds of the environment. */
    for (size_t k = 0; repeat > 1 && k < repeat; k++) {
        char **of_run = &c->settings[SETTINGS * k];

        of_run[SEED] = seed_of(k, "ORRERY_SIM_SEED");
        of_run[POLICY_SEED] = seed_of(k, "STARPU_RAND_SEED");
        of_run[DRAW] =
            seed_of(c->options->draws ? k + 1 : 0, "ORRERY_SIM_DRAW");
        if (!of_run[SEED] || !of_run[POLICY_SEED] || !of_run[DRAW])
            return -1;
    }
    return 0;
}

static int make_edits(struct comparison *c)
{
    c->edits = calloc(c->sweep.npoints, sizeof(*c->edits));
    for (size_t p = 0; c->edits && p < c->sweep.npoints; p++)
        if (!(c->edits[p] = sweep_edits(&c->sweep, p)))
            return -1;
    return c->edits ? 0 : -1;
}

static void fill_cell(struct comparison *c, size_t at)
{
    struct cell *cell = &c->cells[at];
    size_t line = at / c->nschedulers;

    *cell = (struct cell){.machine = c->machines[line / c->sweep.npoints],
                          .point = line % c->sweep.npoints,
                          .scheduler = c->schedulers[at % c->nschedulers],
                          .launch = &c->launches[at],
                          .us = calloc(c->options->repeat, sizeof(*cell->us)),
                          .of_repetition = calloc(c->options->repeat,
                                                  sizeof(*cell->of_repetition)),
                          .joules = calloc(c->options->repeat, sizeof(*cell->joules)),
                          .energy_j = (double)NAN,
                          .bound_us = (double)NAN};
    for (size_t k = 0; cell->of_repetition && k < c->options->repeat; k++)
        cell->of_repetition[k] = (double)NAN;
}

static int fill_launch(struct comparison *c, size_t at)
{
    const struct cell *cell = &c->cells[at % c->ncells];
    size_t k = at / c->ncells;
    bool real = !strcmp(cell->machine, COMPARE_REAL);
    const char **more = &c->more[at * (LAUNCH_MORE + 1)];
    const char *edits = c->edits[cell->point];
    size_t where = (size_t)(cell - c->cells) / c->nschedulers;
    bool cluster;

    c->launches[at] = (struct launch){.machine = real ? NULL : cell->machine,
                                      .scheduler = cell->scheduler,
                                      .assume = c->options->assume,
                                      .edits = *edits ? edits : NULL,
                                      .powers = c->powers[where],
                                      .more = more,
                                      .argv = c->options->argv,
                                      .quiet = true};
    for (unsigned i = 0; i < SETTINGS && c->settings[SETTINGS * k]; i++)
        *more++ = c->settings[SETTINGS * k + i];
    if (c->settings[SETTINGS * c->options->repeat])
        *more++ = c->settings[SETTINGS * c->options->repeat];
    if (real) {
        *more++ = "ORRERY_MACHINE";
        *more++ = "ORRERY_SET";
        *more++ = "ORRERY_SIM_NOISE";
        return TOOL_OK;
    }
    return launch_place(&c->launches[at], c->options->command, &cluster);
}

static int comparison_make_launches(struct comparison *c)
{
    size_t n;

    if (__builtin_mul_overflow(c->nmachines * c->sweep.npoints, c->nschedulers,
                               &c->ncells) ||
        __builtin_mul_overflow(c->ncells, c->options->repeat, &n) ||
        n > 1000 * (size_t)SWEEP_MAX_POINTS)
        return tool_fail(TOOL_USAGE, "%s: these are too many runs", c->options->command);
    c->n = n;
    c->cells = calloc(c->ncells, sizeof(*c->cells));
    c->launches = calloc(n, sizeof(*c->launches));
    c->more = calloc(n * (LAUNCH_MORE + 1), sizeof(*c->more));
    if (!c->cells || !c->launches || !c->more || make_edits(c) < 0 ||
        make_settings(c) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (powers_open_all(c->machines, c->nmachines, c->edits, c->sweep.npoints,
                        c->options->costs, &c->powers) < 0)
        return TOOL_FAILED;
    for (size_t i = 0; i < c->ncells; i++) {
        fill_cell(c, i);
        if (!c->cells[i].us || !c->cells[i].of_repetition || !c->cells[i].joules)
            return tool_fail(TOOL_FAILED, "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        int code = fill_launch(c, i);

        if (code != TOOL_OK)
            return code;
    }
    return TOOL_OK;
}

/* How many nodes the clusters have, where all machines are clusters and these numbers differ. */
static int count_nodes(struct comparison *c)
{
    struct machine_size size = {0};
    bool differ = false, all = true;

    c->nodes = calloc(c->nmachines, sizeof(*c->nodes));
    if (!c->nodes)
        return tool_fail(TOOL_FAILED, "out of memory");
    for (size_t m = 0; m < c->nmachines && all; m++) {
        all = machine_size(c->machines[m], NULL, &size, NULL) == 0;
        c->nodes[m] = size.nodes;
        differ |= c->nodes[m] != c->nodes[0];
    }
    if (all && differ)
        return TOOL_OK;
    free(c->nodes);
    c->nodes = NULL;
    return TOOL_OK;
}

/* Times that are assumed on machines which are not in the table would be lost. */
static int check_assumed_machines(const struct comparison *c)
{
    struct orr_assumptions all = {0};
    struct orr_error err = {""};
    int code = TOOL_OK;

    if (orr_assumptions_read(c->options->assume, &all, &err) < 0)
        return tool_fail(TOOL_USAGE, "%s: %s", c->options->command, err.text);
    for (unsigned i = 0; i < all.n && code == TOOL_OK; i++) {
        bool found = !all.all[i].machine;

        for (size_t m = 0; m < c->nmachines && !found; m++)
            found = machine_is_called(c->machines[m], all.all[i].machine);
        if (!found)
            code = tool_fail(TOOL_USAGE,
                             "%s: --assume `%s': %s is none of the machines "
                             "that are compared",
                             c->options->command, all.all[i].text, all.all[i].machine);
    }
    orr_assumptions_done(&all);
    return code;
}

int comparison_init(struct comparison *comparison,
                    const struct compare_options *options)
{
    int code;

    *comparison =
        (struct comparison){.options = options, .noise = noise_of(options)};
    if (sweep_read(&comparison->sweep, options->command, options->edits) < 0)
        return TOOL_USAGE;
    code = read_lists(comparison);
    if (code == TOOL_OK)
        code = check_assumed_machines(comparison);
    if (code == TOOL_OK)
        code = comparison_make_launches(comparison);
    if (code == TOOL_OK)
        code = count_nodes(comparison);
    return code;
}

void comparison_done(struct comparison *c)
{
    for (size_t i = 0; c->launches && i < c->n; i++)
        launch_done(&c->launches[i]);
    for (size_t i = 0; c->cells && i < c->ncells; i++) {
        free(c->cells[i].us);
        free(c->cells[i].of_repetition);
        free(c->cells[i].joules);
    }
    for (size_t p = 0; c->edits && p < c->sweep.npoints; p++)
        free(c->edits[p]);
    for (size_t i = 0;
         c->settings && i <= SETTINGS * (size_t)c->options->repeat; i++)
        free(c->settings[i]);
    for (size_t i = 0; c->bounds && i < c->nmachines * c->sweep.npoints; i++)
        rank_bounds_done(&c->bounds[i]);
    powers_close_all(c->powers, c->nmachines * c->sweep.npoints);
    free(c->bounds);
    free(c->launches);
    free(c->more);
    free(c->cells);
    free(c->edits);
    free(c->settings);
    free(c->nodes);
    free(c->machines);
    free(c->schedulers);
    sweep_done(&c->sweep);
}

/* ---- what came of it ---- */

double cell_speedup(const struct comparison *c, const struct cell *cell, double *ret_efficiency)
{
    size_t per_machine = c->sweep.npoints * c->nschedulers, at = (size_t)(cell - c->cells);
    const struct cell *first = &c->cells[at % per_machine];
    double speedup;

    *ret_efficiency = (double)NAN;
    if (!c->nodes || !cell_is_good(first) || !cell_is_good(cell) || !(cell->spread.median > 0))
        return (double)NAN;
    speedup = first->spread.median / cell->spread.median;
    *ret_efficiency = speedup * c->nodes[0] / c->nodes[at / per_machine];
    return speedup;
}

size_t comparison_repetition(const struct comparison *c,
                             const struct launch *launch)
{
    return (size_t)(launch - c->launches) / c->ncells;
}

struct cell *comparison_cell(const struct comparison *c, size_t machine,
                             size_t point, size_t scheduler)
{
    return &c->cells[(machine * c->sweep.npoints + point) * c->nschedulers +
                     scheduler];
}

struct cell *comparison_cell_of(const struct comparison *c,
                                const struct launch *launch)
{
    return &c->cells[(size_t)(launch - c->launches) % c->ncells];
}

bool cell_is_good(const struct cell *cell)
{
    return cell->n > 0 && !cell->failed;
}

const char *cell_policy(const struct cell *cell)
{
    return launch_policy(cell->launch);
}

struct report_unit comparison_unit(const struct comparison *c)
{
    double most = 0;

    for (size_t i = 0; i < c->ncells; i++)
        if (cell_is_good(&c->cells[i]))
            most = fmax(most, c->cells[i].spread.median);
    return report_unit_of(most);
}

const struct cell *comparison_best(const struct comparison *c, size_t machine,
                                   size_t point)
{
    const struct cell *best = NULL;

    for (size_t s = 0; s < c->nschedulers; s++) {
        const struct cell *cell = comparison_cell(c, machine, point, s);

        if (cell_is_good(cell) &&
            (!best || cell->spread.median < best->spread.median))
            best = cell;
    }
    return best;
}

double cell_behind_share(const struct comparison *c, const struct cell *cell,
                         const struct cell *other)
{
    double behind = 0, n = 0;

    for (size_t k = 0; k < c->options->repeat; k++) {
        double us = cell->of_repetition[k], than = other->of_repetition[k];

        if (isnan(us) || isnan(than))
            continue;
        behind += us > than ? 1 : us < than ? 0 : 0.5;
        n++;
    }
    return n > 0 ? behind / n : (double)NAN;
}

double cell_first_share(const struct comparison *c, const struct cell *cell)
{
    size_t line = (size_t)(cell - c->cells) / c->nschedulers;
    size_t machine = line / c->sweep.npoints, point = line % c->sweep.npoints;
    double first = 0, n = 0;

    for (size_t k = 0; k < c->options->repeat; k++) {
        double us = cell->of_repetition[k];
        unsigned before = 0, with = 0;

        for (size_t m = 0; m < c->nmachines; m++)
            for (size_t s = 0; s < c->nschedulers; s++) {
                double other =
                    m == machine || c->options->across
                        ? comparison_cell(c, m, point, s)->of_repetition[k]
                        : (double)NAN;

                before += other < us;
                with += other <= us && other >= us;
            }
        if (isnan(us))
            continue;
        first += before ? 0 : 1.0 / with;
        n++;
    }
    return n > 0 ? first / n : (double)NAN;
}

static void rivals_join(struct rivals *rivals, const struct cell *cell)
{
    rivals->nfailed += cell->failed != NULL;
    if (!cell_is_good(cell))
        return;
    rivals->nran++;
    if (!rivals->best || cell->spread.median < rivals->best->spread.median)
        rivals->best = cell;
}

struct rivals comparison_rivals(const struct comparison *c,
                                const struct cell *cell)
{
    size_t line = (size_t)(cell - c->cells) / c->nschedulers;
    size_t machine = line / c->sweep.npoints, point = line % c->sweep.npoints;
    struct rivals rivals = {NULL, 0, 0};

    for (size_t m = 0; m < c->nmachines; m++)
        for (size_t s = 0; s < c->nschedulers; s++)
            if (m == machine || c->options->across)
                rivals_join(&rivals, comparison_cell(c, m, point, s));
    return rivals;
}

bool cell_is_pareto(const struct comparison *c, const struct cell *cell)
{
    size_t line = (size_t)(cell - c->cells) / c->nschedulers;
    size_t machine = line / c->sweep.npoints, point = line % c->sweep.npoints;
    double us = cell->spread.median, joules = cell->energy_j;

    if (!cell_is_good(cell) || isnan(joules))
        return false;
    for (size_t m = 0; m < c->nmachines; m++)
        for (size_t s = 0; s < c->nschedulers; s++) {
            const struct cell *other = comparison_cell(c, m, point, s);

            if ((m == machine || c->options->across) && cell_is_good(other) &&
                other->spread.median <= us && other->energy_j <= joules &&
                (other->spread.median < us || other->energy_j < joules))
                return false;
        }
    return true;
}

double comparison_run_price(const struct comparison *c, const struct cell *cell)
{
    const struct powers *powers =
        c->powers[(size_t)(cell - c->cells) / c->nschedulers];

    return powers && cell_is_good(cell)
               ? powers_hour_price(powers) * cell->spread.median / 3.6e9
               : (double)NAN;
}

bool comparison_has_prices(const struct comparison *c)
{
    for (size_t i = 0; i < c->ncells; i++)
        if (!isnan(comparison_run_price(c, &c->cells[i])))
            return true;
    return false;
}

bool comparison_has_energy(const struct comparison *c)
{
    for (size_t i = 0; i < c->ncells; i++)
        if (cell_is_good(&c->cells[i]) && !isnan(c->cells[i].energy_j))
            return true;
    return false;
}

char *comparison_where(const struct comparison *c, size_t machine, size_t point)
{
    char *name, *text;

    if (!c->sweep.naxes)
        return tool_format("%s", c->machines[machine]);
    name = sweep_name(&c->sweep, point);
    text = name ? tool_format("%s, %s", c->machines[machine], name) : NULL;
    free(name);
    return text;
}

double cell_gflops(const struct cell *cell)
{
    double us = cell->spread.median;

    return us > 0 ? cell->launch->report.flops / us / 1e3 : (double)NAN;
}

double cell_idle(const struct cell *cell)
{
    return report_idle(&cell->launch->report);
}
