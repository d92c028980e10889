/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/findings.c - see findings.h. */
#include "tools/study/findings.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const double findings_factors[FINDINGS_NFACTORS] = {1, 1.01, 1.05, 1.1, 1.25, 2};

static size_t nworkloads(const struct study_findings *f)
{
    return f->n;
}

static size_t npolicies(const struct study_findings *f)
{
    return f->session->study->npolicies;
}

/* ---- medians ---- */

static const struct study_result *result_of(const struct study_findings *f, size_t workload,
                                            size_t policy, size_t repetition)
{
    const struct study *study = f->session->study;

    return &f->session->results[study_run_number(study, f->workloads[workload], policy,
                                                 repetition)];
}

/* The makespans of all repetitions, NaN where there is none; returns how many there are. */
static size_t makespans(const struct study_findings *f, size_t workload, size_t policy,
                        double *ret)
{
    size_t n = 0;

    for (size_t r = 0; r < f->session->study->repetitions; r++) {
        const struct study_result *result = result_of(f, workload, policy, r);
        bool good = result->there && !result->problem;

        ret[r] = good ? result->makespan_us : (double)NAN;
        n += good;
    }
    return n;
}

static double median_energy(const struct study_findings *f, size_t workload, size_t policy,
                            double *scratch)
{
    size_t n = f->session->study->repetitions;

    for (size_t r = 0; r < n; r++) {
        scratch[r] = result_of(f, workload, policy, r)->energy_j;
        if (!(scratch[r] > 0))
            return (double)NAN;
    }
    return spread_of(scratch, n).median;
}

/* Those of which a policy has all repetitions: where none could run nothing is compared. */
static void find_workloads(struct study_findings *f, double *scratch)
{
    const struct study *study = f->session->study;

    for (size_t w = 0; w < study->nworkloads; w++) {
        size_t whole = 0;

        f->workloads[f->n] = w;
        for (size_t p = 0; p < study->npolicies; p++)
            whole += makespans(f, f->n, p, scratch) == study->repetitions;
        f->n += whole > 0;
    }
}

static void fill_medians(struct study_findings *f, double *scratch)
{
    size_t k = npolicies(f), n = f->session->study->repetitions;

    for (size_t w = 0; w < nworkloads(f); w++)
        for (size_t p = 0; p < k; p++) {
            size_t at = w * k + p;
            bool whole = makespans(f, w, p, scratch) == n;

            f->medians[at] = f->energies[at] = (double)NAN;
            f->spreads[at] = (struct spread){(double)NAN, (double)NAN, (double)NAN};
            if (!whole)
                continue;
            f->policies[p].nwhole++;
            f->spreads[at] = f->session->study->draws ? draws_of(scratch, n)
                                                      : spread_of(scratch, n);
            f->medians[at] = f->spreads[at].median;
            f->energies[at] = median_energy(f, w, p, scratch);
        }
}

/* ---- over workloads ---- */

static double least_of(const double *values, size_t n)
{
    double least = (double)INFINITY;

    for (size_t i = 0; i < n; i++)
        if (values[i] < least)
            least = values[i];
    return least;
}

/* The geometric mean of a policy's values over the least of each workload. */
static double mean_ratio(const struct study_findings *f, const double *values, size_t policy,
                         double *scratch, double *ret_worst)
{
    size_t k = npolicies(f);

    *ret_worst = (double)NAN;
    for (size_t w = 0; w < nworkloads(f); w++) {
        scratch[w] = values[w * k + policy] / least_of(values + w * k, k);
        *ret_worst = fmax(*ret_worst, scratch[w]);
    }
    return geometric_mean(scratch, nworkloads(f));
}

static void fill_policies(struct study_findings *f, double *scratch)
{
    size_t k = npolicies(f);

    for (size_t p = 0; p < k; p++) {
        struct policy_finding *finding = &f->policies[p];
        double unused;

        finding->energy = mean_ratio(f, f->energies, p, scratch, &unused);
        finding->to_best = mean_ratio(f, f->medians, p, scratch, &finding->worst);
        finding->rank = (double)NAN;
        for (size_t i = 0; i < FINDINGS_NFACTORS; i++)
            finding->within[i] =
                profile_share(f->medians, nworkloads(f), k, p, findings_factors[i]);
        for (size_t w = 0; w < nworkloads(f); w++)
            finding->nfirst +=
                f->medians[w * k + p] <= least_of(f->medians + w * k, k);
    }
}

/* The best first; those without a mean behind, as they were. */
static void sort_policies(struct study_findings *f)
{
    for (size_t i = 0; i < npolicies(f); i++) {
        double mean = f->policies[i].to_best;
        size_t at = i;

        while (at > 0 && !isnan(mean) && !(f->policies[f->order[at - 1]].to_best <= mean)) {
            f->order[at] = f->order[at - 1];
            at--;
        }
        f->order[at] = i;
    }
}

static size_t find_reference(const struct study_findings *f)
{
    const struct study *study = f->session->study;

    for (size_t p = 0; study->baseline && p < study->npolicies; p++)
        if (!strcmp(study->policies[p], study->baseline))
            return p;
    return f->order[0];
}

/* ---- ranks ---- */

static int fill_ranks(struct study_findings *f)
{
    size_t k = npolicies(f), n = nworkloads(f), ranked = 0;
    double *values = calloc(n * k + 1, sizeof(*values)), *ranks = calloc(k + 1, sizeof(*ranks));
    int rc = values && ranks ? 0 : -1;

    for (size_t p = 0; p < k; p++)
        f->nranked += f->policies[p].nwhole == n;
    for (size_t p = 0; p < k && rc == 0; p++) {
        if (f->policies[p].nwhole < n)
            continue;
        for (size_t w = 0; w < n; w++)
            values[w * f->nranked + ranked] = f->medians[w * k + p];
        ranked++;
    }
    if (rc == 0)
        rc = friedman_test(values, n, f->nranked, ranks, &f->friedman);
    ranked = 0;
    for (size_t p = 0; p < k && rc == 0; p++)
        if (f->policies[p].nwhole == n)
            f->policies[p].rank = ranks[ranked++];
    f->difference = nemenyi_difference(STATISTICS_LEVEL, n, f->nranked);
    free(values);
    free(ranks);
    return rc;
}

/* ---- pairs ---- */

static bool has_no_noise(const struct study_findings *f)
{
    const struct study *study = f->session->study;

    for (size_t i = 0; i < study->nnoises; i++)
        if (!strcmp(study->noises[i], "none") && !study->draws)
            return true;
    return false;
}

/* Of a workload: how many tests there are of policies that are whole. */
static size_t count_tests(const struct study_findings *f, size_t workload)
{
    size_t k = npolicies(f), whole = 0;

    for (size_t p = 0; p < k; p++)
        whole += !isnan(f->medians[workload * k + p]);
    if (!f->session->study->baseline)
        return whole ? whole * (whole - 1) / 2 : 0;
    return isnan(f->medians[workload * k + f->reference]) ? 0 : whole - 1;
}

/* How many repetitions it takes for one of so many tests to be able to say something. */
static unsigned repetitions_for(size_t ntests)
{
    unsigned n = 1;

    while (paired_least_chance(n) * (double)ntests > STATISTICS_LEVEL)
        n++;
    return n;
}

/* Chances of all pairs of policies are needed where none was declared to be the reference
 * before: which one is the best was found in the same data. */
static int correct_chances(struct study_findings *f, double *chances, size_t n)
{
    size_t at = 0, k = npolicies(f);

    if (holm_correct(chances, n) < 0)
        return -1;
    for (size_t w = 0; w < nworkloads(f); w++)
        for (size_t p = 0; p < k; p++)
            for (size_t q = 0; q < p; q++) {
                bool with = p == f->reference || q == f->reference;

                if (isnan(f->medians[w * k + p]) || isnan(f->medians[w * k + q]) ||
                    (f->session->study->baseline && !with))
                    continue;
                if (with)
                    f->pairs[w * k + (p == f->reference ? q : p)].chance = chances[at];
                at++;
            }
    return 0;
}

static int fill_pairs(struct study_findings *f)
{
    size_t k = npolicies(f), n = f->session->study->repetitions, at = 0;
    double *x = calloc(n * k + 1, sizeof(*x)), *chances = calloc(f->ntests + 1, sizeof(*chances));
    int rc = x && chances ? 0 : -1;

    for (size_t w = 0; w < nworkloads(f) && rc == 0; w++) {
        for (size_t p = 0; p < k; p++)
            makespans(f, w, p, x + p * n);
        for (size_t p = 0; p < k; p++)
            for (size_t q = 0; q < p; q++) {
                bool with = p == f->reference || q == f->reference;
                size_t other = p == f->reference ? q : p;
                struct paired pair;

                if (isnan(f->medians[w * k + p]) || isnan(f->medians[w * k + q]) ||
                    (f->session->study->baseline && !with))
                    continue;
                pair = with ? paired_test(x + other * n, x + f->reference * n, n)
                            : paired_test(x + p * n, x + q * n, n);
                chances[at++] = pair.chance;
                if (with)
                    f->pairs[w * k + other] = pair;
            }
    }
    if (rc == 0)
        rc = correct_chances(f, chances, at);
    free(x);
    free(chances);
    return rc;
}

int findings_verdict(const struct study_findings *f, const struct paired *pair)
{
    if (f->no_tests || pair->n == 0 || !(pair->chance <= STATISTICS_LEVEL))
        return 0;
    return pair->ratio > 1 ? 1 : -1;
}

static void count_verdicts(struct study_findings *f)
{
    size_t k = npolicies(f);

    for (size_t at = 0; at < nworkloads(f) * k; at++) {
        int verdict = findings_verdict(f, &f->pairs[at]);

        f->policies[at % k].nslower += verdict > 0;
        f->policies[at % k].nfaster += verdict < 0;
    }
}

/* ---- what the data do not carry ---- */

static char *why_no_tests(const struct study_findings *f)
{
    unsigned repetitions = f->session->study->repetitions, needed;

    if (f->ntests == 0)
        return tool_format("there are no two policies whose runs all went well");
    if (repetitions > 1 && has_no_noise(f))
        return tool_format("without noise a simulation gives one number, however often it is "
                           "repeated; `noise: measured' has kernels vary as measured");
    needed = repetitions_for(f->ntests);
    if (repetitions < needed)
        return tool_format("%u repetition%s cannot tell anything in %zu comparison%s at 5 %%: "
                           "`repetitions: %u' can%s",
                           repetitions, repetitions == 1 ? "" : "s", f->ntests,
                           f->ntests == 1 ? "" : "s", needed,
                           f->session->study->baseline ? ""
                                                       : ", or fewer with a `baseline'");
    return NULL;
}

static char *why_no_ranks(const struct study_findings *f)
{
    if (f->n == 0)
        return tool_format("no policy has all repetitions of any workload");
    if (f->nranked < 2)
        return tool_format("fewer than two policies went well on all workloads");
    if (nworkloads(f) < FINDINGS_LEAST_WORKLOADS)
        return tool_format("ranks over %zu workload%s carry no conclusion; %d do", nworkloads(f),
                           nworkloads(f) == 1 ? "" : "s", FINDINGS_LEAST_WORKLOADS);
    return NULL;
}

int findings_make(struct study_findings *ret, const struct study_session *session)
{
    size_t n = session->study->nworkloads, k = session->study->npolicies;
    size_t longest = n > session->study->repetitions ? n : session->study->repetitions;
    double *scratch = calloc(longest + 1, sizeof(*scratch));
    int rc = -1;

    *ret = (struct study_findings){.session = session,
                                   .workloads = calloc(n + 1, sizeof(*ret->workloads)),
                                   .spreads = calloc(n * k, sizeof(*ret->spreads)),
                                   .medians = calloc(n * k, sizeof(*ret->medians)),
                                   .energies = calloc(n * k, sizeof(*ret->energies)),
                                   .policies = calloc(k, sizeof(*ret->policies)),
                                   .order = calloc(k, sizeof(*ret->order)),
                                   .pairs = calloc(n * k, sizeof(*ret->pairs))};
    if (scratch && ret->workloads && ret->spreads && ret->medians && ret->energies &&
        ret->policies && ret->order && ret->pairs) {
        find_workloads(ret, scratch);
        fill_medians(ret, scratch);
        fill_policies(ret, scratch);
        sort_policies(ret);
        ret->reference = find_reference(ret);
        rc = fill_ranks(ret);
        for (size_t w = 0; w < ret->n; w++)
            ret->ntests += count_tests(ret, w);
        ret->no_tests = why_no_tests(ret);
        ret->no_ranks = why_no_ranks(ret);
        if (rc == 0)
            rc = fill_pairs(ret);
        count_verdicts(ret);
    }
    free(scratch);
    return rc == 0 ? TOOL_OK : tool_fail(TOOL_FAILED, "out of memory");
}

void findings_done(struct study_findings *f)
{
    free(f->workloads);
    free(f->spreads);
    free(f->medians);
    free(f->energies);
    free(f->policies);
    free(f->order);
    free(f->pairs);
    free(f->no_tests);
    free(f->no_ranks);
}
