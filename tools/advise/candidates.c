/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/advise/candidates.c - machines as candidates: what they cost, and what came of the
 * runs. */
#include "tools/advise/advise.h"

#include "core/base/config.h"
#include "perfmodel/sampling.h"
#include "platforms/edit.h"
#include "tools/common/machines.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct comparison *first_of(const struct advice *advice)
{
    return &advice->workloads[0].comparison;
}

/* -- before the runs -- */

/* The description of a machine with edits; NULL for a cluster. An exit code. */
static int load_machine(const char *name, const char *edits, struct orr_machine_desc **ret)
{
    struct orr_sampling *sampling = NULL;
    struct orr_error err = {""};
    struct machine_size size;
    int rc;

    *ret = NULL;
    if (machine_size(name, NULL, &size, NULL) == 0)
        return TOOL_OK;
    rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);
    if (rc == 0)
        rc = orr_machine_desc_load(name, orr_sampling_dirs(sampling), ret, &err);
    if (rc == 0 && *edits)
        rc = orr_machine_desc_edit(*ret, edits, &err);
    orr_sampling_free(sampling);
    if (rc == 0)
        return TOOL_OK;
    tool_report(&err, rc);
    return TOOL_FAILED;
}

static int candidate_init(struct advice *advice, size_t c)
{
    const struct comparison *comparison = first_of(advice);
    struct candidate_of *candidate = &advice->candidates[c];
    size_t machine = c / comparison->sweep.npoints, point = c % comparison->sweep.npoints;
    size_t ndraws = advice->options->draws;
    int code;

    candidate->name = comparison_where(comparison, machine, point);
    candidate->us = calloc(ndraws, sizeof(*candidate->us));
    candidate->joules = calloc(ndraws, sizeof(*candidate->joules));
    candidate->losses = advice->losses + c * ndraws;
    if (!candidate->name || !candidate->us || !candidate->joules)
        return tool_fail(TOOL_FAILED, "out of memory");
    code = load_machine(comparison->machines[machine], comparison->edits[point],
                        &candidate->desc);
    candidate->cost =
        candidate->desc ? cost_of(&advice->costs, candidate->desc)
                        : (struct cost){(double)NAN, (double)NAN, (double)NAN, "price of a cluster",
                                        "power of a cluster"};
    return code;
}

int advice_make_candidates(struct advice *advice)
{
    const struct comparison *comparison = first_of(advice);
    int code = TOOL_OK;

    advice->n = comparison->nmachines * comparison->sweep.npoints;
    advice->candidates = calloc(advice->n, sizeof(*advice->candidates));
    advice->order = calloc(advice->n, sizeof(*advice->order));
    advice->losses = calloc(advice->n * advice->options->draws, sizeof(*advice->losses));
    if (!advice->candidates || !advice->order || !advice->losses)
        return tool_fail(TOOL_FAILED, "out of memory");
    for (size_t c = 0; c < advice->n && code == TOOL_OK; c++)
        code = candidate_init(advice, c);
    return code;
}

/* -- after them -- */

/* The first reason counts. */
static int leave_out(struct candidate_of *candidate, char *why)
{
    if (!why)
        return -1;
    if (candidate->out)
        free(why);
    else
        candidate->out = why;
    return 0;
}

/* Adds a workload's runs to the candidate's times and energies. */
static int add_workload(struct advice *advice, struct candidate_of *candidate, size_t c,
                        const struct workload *workload)
{
    const struct comparison *comparison = &workload->comparison;
    size_t npoints = comparison->sweep.npoints;
    const struct cell *cell = comparison_best(comparison, c / npoints, c % npoints);

    if (!cell) {
        const struct cell *any = comparison_cell(comparison, c / npoints, c % npoints, 0);

        return leave_out(candidate, tool_format("%s", any->failed && *any->failed->problem
                                                          ? any->failed->problem
                                                          : "it does not run"));
    }
    if (!candidate->cell)
        candidate->cell = cell;
    for (size_t d = 0; d < advice->options->draws; d++) {
        const struct launch *launch =
            &comparison->launches[d * comparison->ncells + (size_t)(cell - comparison->cells)];

        candidate->us[d] += workload->weight * cell->of_repetition[d];
        candidate->joules[d] += workload->weight * report_joules(&launch->report);
    }
    return 0;
}

double advice_run_price(const struct advice *advice, const struct candidate_of *candidate,
                        double us)
{
    return cost_is_hourly(advice->costs.currency) ? candidate->cost.price * us / 3.6e9
                                                  : candidate->cost.price;
}

static double loss_of(const struct advice *advice, const struct candidate_of *candidate,
                      size_t d)
{
    switch (advice->options->by) {
    case BY_PRICE:
        return advice_run_price(advice, candidate, candidate->us[d]);
    case BY_ENERGY:
        return candidate->joules[d];
    case BY_VALUE:
        return candidate->cost.price * candidate->us[d] * 1e-6;
    case BY_TIME:
        break;
    }
    return candidate->us[d];
}

/* A limit that the machine's figures do not let hold, or exceed. */
static int check_limit(struct candidate_of *candidate, double limit, double figure,
                       const char *what, const char *missing)
{
    if (isnan(limit) || figure <= limit)
        return 0;
    return leave_out(candidate, isnan(figure)
                                    ? tool_format("the %s is not known", missing)
                                    : tool_format("its %s is %.6g, above the limit of %.6g", what,
                                                  figure, limit));
}

static int judge_candidate(struct advice *advice, struct candidate_of *candidate)
{
    const struct advise_options *options = advice->options;
    double budgeted = options->hourly_budget
                          ? candidate->cost.price
                          : advice_run_price(advice, candidate,
                                             advice_spread(advice, candidate->us).median);
    size_t within = 0;

    for (size_t d = 0; d < options->draws; d++)
        within += candidate->us[d] <= options->time_us;
    candidate->within =
        isnan(options->time_us) ? (double)NAN : (double)within / (double)options->draws;
    if (check_limit(candidate, options->budget_price, budgeted, "price",
                    candidate->cost.missing) < 0 ||
        check_limit(candidate, options->power_w, candidate->cost.most_w, "power in W",
                    candidate->cost.missing_w) < 0)
        return -1;
    if (candidate->within < ADVISE_SURE &&
        leave_out(candidate, tool_format("it is below that time in %.0f %% of the draws only",
                                         100 * candidate->within)) < 0)
        return -1;
    if ((options->by == BY_PRICE || options->by == BY_VALUE) && isnan(candidate->cost.price) &&
        leave_out(candidate,
                  tool_format("the %s is not known", candidate->cost.missing)) < 0)
        return -1;
    if (options->by == BY_ENERGY && isnan(candidate->joules[0]) &&
        leave_out(candidate, tool_format("the %s is not known",
                                         *candidate->cost.missing_w ? candidate->cost.missing_w
                                                                    : "power of its parts")) < 0)
        return -1;
    for (size_t d = 0; d < options->draws; d++)
        candidate->losses[d] =
            candidate->out ? (double)NAN : loss_of(advice, candidate, d);
    return 0;
}

/* By mean, those without one last; by name where they are equal. */
static void sort_candidates(struct advice *advice)
{
    for (size_t c = 0; c < advice->n; c++) {
        double mean = choice_mean(&advice->choices, c);
        size_t at = c;

        for (; at > 0; at--) {
            double before = choice_mean(&advice->choices, advice->order[at - 1]);

            if (isnan(mean) || (!isnan(before) && before <= mean))
                break;
            advice->order[at] = advice->order[at - 1];
        }
        advice->order[at] = c;
    }
}

int advice_judge(struct advice *advice)
{
    for (size_t c = 0; c < advice->n; c++) {
        for (size_t w = 0; w < advice->nworkloads; w++)
            if (add_workload(advice, &advice->candidates[c], c, &advice->workloads[w]) < 0)
                return -1;
        if (judge_candidate(advice, &advice->candidates[c]) < 0)
            return -1;
    }
    advice->choices = (struct choices){advice->n, advice->options->draws, advice->losses};
    sort_candidates(advice);
    return 0;
}

void advice_done(struct advice *advice)
{
    for (size_t c = 0; advice->candidates && c < advice->n; c++) {
        struct candidate_of *candidate = &advice->candidates[c];

        free(candidate->name);
        orr_machine_desc_free(candidate->desc);
        free(candidate->us);
        free(candidate->joules);
        free(candidate->out);
    }
    for (size_t w = 0; w < advice->nworkloads; w++) {
        comparison_done(&advice->workloads[w].comparison);
        if (advice->workloads[w].is_owned) {
            free(advice->workloads[w].argv[0]);
            free(advice->workloads[w].argv);
        }
    }
    for (size_t f = 0; f < advice->nfigures; f++) {
        free(advice->figures[f].name);
        free(advice->figures[f].of);
        free(advice->figures[f].logs);
        free(advice->figures[f].nlogs);
    }
    free(advice->figures);
    free(advice->workloads);
    free(advice->candidates);
    free(advice->order);
    free(advice->losses);
    costs_done(&advice->costs);
}
