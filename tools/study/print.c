/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/print.c - see findings.h: tables, sentences, JSON. */
#include "tools/study/findings.h"

#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void add_value(struct table *table, int digits, double value)
{
    if (isfinite(value))
        table_add(table, "%.*f", digits, value);
    else
        table_add(table, "-");
}

/* ---- policies over workloads ---- */

static bool has_energy(const struct study_findings *f)
{
    for (size_t p = 0; p < f->session->study->npolicies; p++)
        if (!isnan(f->policies[p].energy))
            return true;
    return false;
}

static void add_policy(struct table *table, const struct study_findings *f, size_t p, bool energy)
{
    const struct policy_finding *finding = &f->policies[p];
    size_t n = f->n;

    table_add(table, "%s", f->session->study->policies[p]);
    add_value(table, 3, finding->to_best);
    add_value(table, 3, finding->worst);
    table_add(table, "%zu of %zu", finding->nfirst, n);
    table_add(table, "%.0f %%", 100 * finding->within[2]);
    table_add(table, "%.0f %%", 100 * finding->within[4]);
    if (f->no_ranks)
        table_add(table, "-");
    else
        add_value(table, 2, finding->rank);
    if (energy)
        add_value(table, 3, finding->energy);
    if (finding->nwhole < n)
        table_add(table, "failed in %zu of %zu", n - finding->nwhole, n);
    else if (p == f->reference)
        table_add(table, "the reference");
    else if (f->no_tests)
        table_add(table, "-");
    else
        table_add(table, "slower in %zu, faster in %zu", finding->nslower, finding->nfaster);
}

static int print_policies(const struct study_findings *f)
{
    bool energy = has_energy(f);
    char against[96];
    struct table_column columns[9] = {{"policy", false},     {"to best", true},
                                      {"worst", true},       {"first in", true},
                                      {"within 5 %", true},  {"within 25 %", true},
                                      {"mean rank", true}};
    size_t n = 7;
    struct table table = {0};

    if (energy)
        columns[n++] = (struct table_column){"energy to best", true};
    snprintf(against, sizeof(against), "against %s",
             f->session->study->policies[f->reference]);
    columns[n++] = (struct table_column){against, false};
    for (size_t i = 0; i < f->session->study->npolicies; i++)
        add_policy(&table, f, f->order[i], energy);
    return table_end(&table, columns, n) < 0 ? tool_fail(TOOL_FAILED, "out of memory") : TOOL_OK;
}

/* ---- the tests of one workload ---- */

static struct report_unit unit_of(const struct study_findings *f, size_t workload)
{
    size_t k = f->session->study->npolicies;
    double most = 0;

    for (size_t p = 0; p < k; p++)
        if (!isnan(f->medians[workload * k + p]))
            most = fmax(most, f->medians[workload * k + p]);
    return report_unit_of(most);
}

static void add_pair(struct table *table, const struct study_findings *f, size_t at,
                     struct report_unit unit)
{
    static const char *const verdicts[] = {"faster", "not told apart", "slower"};
    size_t k = f->session->study->npolicies;
    const struct paired *pair = &f->pairs[at];
    bool reference = at % k == f->reference;

    table_add(table, "%s", f->session->study->policies[at % k]);
    add_value(table, 3, f->medians[at] / unit.us);
    if (isnan(f->medians[at]) || f->session->study->repetitions < 2)
        table_add(table, "-");
    else
        table_add(table, "%.3f to %.3f", f->spreads[at].low / unit.us,
                  f->spreads[at].high / unit.us);
    if (reference || pair->n == 0 || f->no_tests) {
        table_add(table, "-");
        table_add(table, "-");
        table_add(table, "-");
        table_add(table, "%s", isnan(f->medians[at]) ? "failed"
                               : reference           ? "the reference"
                                                     : "-");
        return;
    }
    table_add(table, "%+.2f %%", 100 * (pair->ratio - 1));
    table_add(table, "%+.2f", pair->biserial);
    table_add(table, "%.2g", pair->chance);
    table_add(table, "%s", verdicts[1 + findings_verdict(f, pair)]);
}

static int print_workload(const struct study_findings *f, size_t workload)
{
    size_t k = f->session->study->npolicies;
    struct report_unit unit = unit_of(f, workload);
    char *name = study_workload_name(f->session->study, f->workloads[workload]), title[32];
    const struct table_column columns[] = {
        {"policy", false},        {title, true},     {"between", true}, {"longer by", true},
        {"rank-biserial", true}, {"chance", true}, {"verdict", false}};
    struct table table = {0};
    int rc;

    snprintf(title, sizeof(title), "median %s", unit.name);
    for (size_t i = 0; i < k; i++)
        add_pair(&table, f, workload * k + f->order[i], unit);
    printf("%s\n", name ? name : "");
    free(name);
    rc = table_end(&table, columns, sizeof(columns) / sizeof(*columns));
    return rc < 0 ? tool_fail(TOOL_FAILED, "out of memory") : TOOL_OK;
}

/* ---- sentences ---- */

/* Those whose mean rank is as good as the best one's, as far as the data tell. */
static void print_not_told_apart(const struct study_findings *f)
{
    const struct study *study = f->session->study;
    size_t best = 0, others = 0;

    for (size_t p = 0; p < study->npolicies; p++)
        if (!(f->policies[best].rank <= f->policies[p].rank) && !isnan(f->policies[p].rank))
            best = p;
    for (size_t i = 0; i < study->npolicies; i++) {
        size_t p = f->order[i];

        if (p == best || !(f->policies[p].rank - f->policies[best].rank < f->difference))
            continue;
        if (others++ == 0)
            printf("%s has the best mean rank, and is not told apart from ", study->policies[best]);
        else
            printf(", ");
        printf("%s", study->policies[p]);
    }
    printf(others ? ".\n" : "%s has the best mean rank, apart from all others.\n",
           study->policies[best]);
}

static void print_ranks(const struct study_findings *f)
{
    size_t n = f->n;

    if (f->no_ranks) {
        printf("No conclusion of ranks: %s.\n", f->no_ranks);
        return;
    }
    if (f->friedman.chance > STATISTICS_LEVEL) {
        printf("Mean ranks over %zu workloads do not tell the policies apart (Friedman, in Iman's "
               "and\nDavenport's form: F = %.2f, chance %.2g).\n",
               n, f->friedman.f, f->friedman.chance);
        return;
    }
    printf("Mean ranks over %zu workloads differ (Friedman, in Iman's and Davenport's form: F = "
           "%.2f,\nchance %.2g); two of %zu policies are told apart where they are %.2f apart "
           "(Nemenyi, 5 %%).\n",
           n, f->friedman.f, f->friedman.chance, f->nranked, f->difference);
    print_not_told_apart(f);
    printf("Workloads count as independent samples, which those that share a program or a machine "
           "are not.\n");
}

static void print_tests(const struct study_findings *f)
{
    const struct study *study = f->session->study;

    if (f->no_tests)
        printf("No conclusion of repetitions: %s.\n", f->no_tests);
    else
        printf("Slower and faster: repetitions have the same seeds for all policies, so that they "
               "are pairs\n(Wilcoxon's signed ranks), at 5 %% for all %zu tests together (Holm)%s.\n",
               f->ntests,
               study->baseline ? ""
                               : "; these are all\npairs, since no `baseline' was declared before");
}

int findings_print(const struct study_findings *f)
{
    size_t n = f->n, out = f->session->study->nworkloads - f->n;
    int code = n > 1 ? print_policies(f) : TOOL_OK;

    for (size_t w = 0; w < n && code == TOOL_OK; w++)
        if (n == 1 || f->session->options->by_workload) {
            if (n > 1)
                putchar('\n');
            code = print_workload(f, w);
        }
    if (n)
        putchar('\n');
    if (out)
        printf("%zu workload%s left out, of which no policy has all repetitions.\n", out,
               out == 1 ? " is" : "s are");
    print_ranks(f);
    print_tests(f);
    return code;
}

/* ---- JSON ---- */

static json_t *policy_json(const struct study_findings *f, size_t p)
{
    const struct policy_finding *finding = &f->policies[p];
    json_t *profile = json_array();

    for (size_t i = 0; i < FINDINGS_NFACTORS; i++)
        json_array_append_new(profile, json_pack("{s:f, s:o}", "factor", findings_factors[i],
                                                 "share", tool_json_number(finding->within[i])));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:I}", "policy",
                     tool_json_text(f->session->study->policies[p]), "to_best",
                     tool_json_number(finding->to_best), "worst",
                     tool_json_number(finding->worst), "energy_to_best",
                     tool_json_number(finding->energy), "mean_rank",
                     tool_json_number(f->no_ranks ? (double)NAN : finding->rank), "first_in",
                     (json_int_t)finding->nfirst, "profile", profile, "slower_in",
                     (json_int_t)finding->nslower, "faster_in", (json_int_t)finding->nfaster,
                     "whole_in", (json_int_t)finding->nwhole);
}

static json_t *pair_json(const struct study_findings *f, size_t at)
{
    static const char *const verdicts[] = {"faster", "not told apart", "slower"};
    size_t k = f->session->study->npolicies;
    const struct paired *pair = &f->pairs[at];
    bool tested = at % k != f->reference && pair->n > 0 && !f->no_tests;

    return json_pack("{s:o, s:o, s:[o, o], s:o, s:o, s:o, s:o, s:o}", "policy",
                     tool_json_text(f->session->study->policies[at % k]), "median_us",
                     tool_json_number(f->medians[at]), "interval_us",
                     tool_json_number(f->spreads[at].low), tool_json_number(f->spreads[at].high),
                     "median_j", tool_json_number(f->energies[at]), "ratio",
                     tool_json_number(tested ? pair->ratio : (double)NAN), "rank_biserial",
                     tool_json_number(tested ? pair->biserial : (double)NAN), "chance",
                     tool_json_number(tested ? pair->chance : (double)NAN), "verdict",
                     tested ? json_string(verdicts[1 + findings_verdict(f, pair)]) : json_null());
}

static json_t *workload_json(const struct study_findings *f, size_t workload)
{
    char *name = study_workload_name(f->session->study, f->workloads[workload]);
    size_t k = f->session->study->npolicies;
    json_t *policies = json_array();
    json_t *json;

    for (size_t p = 0; p < k; p++)
        json_array_append_new(policies, pair_json(f, workload * k + p));
    json = json_pack("{s:o, s:o}", "workload", tool_json_text(name), "policies", policies);
    free(name);
    return json;
}

json_t *findings_json(const struct study_findings *f)
{
    json_t *policies = json_array(), *workloads = json_array();

    for (size_t i = 0; i < f->session->study->npolicies; i++)
        json_array_append_new(policies, policy_json(f, f->order[i]));
    for (size_t w = 0; w < f->n; w++)
        json_array_append_new(workloads, workload_json(f, w));
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:{s:o, s:o, s:o, s:o, s:o}}", "policies", policies,
                     "workloads", workloads, "reference",
                     tool_json_text(f->session->study->policies[f->reference]), "tests",
                     (json_int_t)f->ntests, "no_tests", tool_json_text(f->no_tests), "ranks",
                     "friedman", tool_json_number(f->friedman.square), "f",
                     tool_json_number(f->friedman.f), "chance",
                     tool_json_number(f->no_ranks ? (double)NAN : f->friedman.chance),
                     "critical_difference",
                     tool_json_number(f->no_ranks ? (double)NAN : f->difference), "no_ranks",
                     tool_json_text(f->no_ranks));
}
