/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/results.c - the results of the runs of `orrery validate`. */
#include "tools/validate/validate.h"

#include "tools/common/kernel_model.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mib = 1 << 20;

/* Sorts the values. */
static struct validate_spread spread_of(double *values, unsigned n)
{
    struct validate_spread spread = {(double)NAN, (double)NAN, (double)NAN};

    for (unsigned i = 0; i < n; i++) {
        spread.min = fmin(spread.min, values[i]);
        spread.max = fmax(spread.max, values[i]);
    }
    spread.median = drift_median(values, n);
    return spread;
}

static const struct report *report_of(const struct validation *v, unsigned size,
                                      unsigned rep, bool simulated)
{
    return &validation_run(v, size, rep, simulated)->report;
}

/* --- kernels --- */

static int add_kernel(struct validation *v, const struct report_kernel *kernel)
{
    struct validate_kernel *list =
        realloc(v->kernels, (v->nkernels + 1) * sizeof(*list));
    struct validate_kernel *added;
    size_t letters = strcspn(kernel->arch, "0123456789");

    if (!list)
        return -ENOMEM;
    v->kernels = list;
    added = &list[v->nkernels];
    *added = (struct validate_kernel){
        .kernel = *kernel,
        .times = calloc(v->nreps, sizeof(double)),
        .fast_times = calloc(v->nreps, sizeof(double)),
    };
    v->nkernels++;
    if (!added->times || !added->fast_times)
        return -ENOMEM;
    if (letters >= sizeof(added->type))
        letters = sizeof(added->type) - 1;
    memcpy(added->type, kernel->arch, letters);
    return 0;
}

/* Those that ran for real and have a model, of files or of functions. */
static int list_kernels(struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        for (unsigned rep = 0; rep < v->nreps; rep++) {
            const struct report *report = report_of(v, s, rep, false);

            for (size_t k = 0; k < report->nkernels; k++) {
                const struct report_kernel *kernel = &report->kernels[k];
                size_t i = 0;

                if (!kernel->model && isnan(kernel->predicted_us))
                    continue;
                while (i < v->nkernels &&
                       !report_same_kernel(&v->kernels[i].kernel, kernel))
                    i++;
                if (i == v->nkernels && add_kernel(v, kernel) < 0)
                    return -ENOMEM;
            }
        }
    return 0;
}

/* A value of the kernel in a repetition: several sizes of the program may run
 * it, and count by their number of runs. */
static double in_repetition(const struct validation *v,
                            const struct report_kernel *kernel, unsigned rep,
                            bool simulated,
                            double (*value)(const struct report_kernel *))
{
    double sum = 0, count = 0;

    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct report *report = report_of(v, s, rep, simulated);

        for (size_t k = 0; k < report->nkernels; k++) {
            const struct report_kernel *other = &report->kernels[k];

            if (!report_same_kernel(kernel, other) || isnan(value(other)))
                continue;
            sum += value(other) * (double)other->count;
            count += (double)other->count;
        }
    }
    return count > 0 ? sum / count : (double)NAN;
}

static double typical(const struct report_kernel *kernel)
{
    return kernel->typical_us;
}

static double quartile(const struct report_kernel *kernel)
{
    return kernel->p25_us;
}

static double predicted(const struct report_kernel *kernel)
{
    return kernel->predicted_us;
}

/* The estimate of the model: as the simulation used it, else as schedulers
 * did. */
static double prediction(const struct validation *v,
                         const struct report_kernel *kernel, double *work)
{
    double us = (double)NAN;

    for (int simulated = 1; simulated >= 0 && isnan(us); simulated--) {
        for (unsigned rep = 0; rep < v->nreps; rep++)
            work[rep] = in_repetition(v, kernel, rep, simulated, predicted);
        us = drift_median(work, v->nreps);
    }
    return us;
}

/* Where that comes from: as the simulation says, else as the real run does. */
static enum orr_origin origin_of(const struct validation *v,
                                 const struct report_kernel *kernel)
{
    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct report *report = report_of(v, s, 0, true);

        for (size_t k = 0; k < report->nkernels; k++)
            if (report_same_kernel(kernel, &report->kernels[k]))
                return orr_origin_find(report->kernels[k].origin);
    }
    return orr_origin_find(kernel->origin);
}

static void measure_kernel(const struct validation *v,
                           struct validate_kernel *kernel, double *work)
{
    for (unsigned rep = 0; rep < v->nreps; rep++)
        kernel->times[rep] =
            in_repetition(v, &kernel->kernel, rep, false, typical);
    memcpy(work, kernel->times, v->nreps * sizeof(*work));
    kernel->measured = spread_of(work, v->nreps);
    kernel->predicted = prediction(v, &kernel->kernel, work);
    kernel->origin = origin_of(v, &kernel->kernel);
    kernel->error = kernel->predicted / kernel->measured.median - 1;
}

static double mean(const struct report_kernel *kernel)
{
    return kernel->mean_us;
}

static double other_us(const struct report_kernel *kernel)
{
    return kernel->other_us;
}

static double other_share(const struct report_kernel *kernel)
{
    return kernel->other_share;
}

static double aside_share(const struct report_kernel *kernel)
{
    return kernel->aside_share;
}

static double runs(const struct report_kernel *kernel)
{
    return (double)kernel->count;
}

/* Whether it takes two times, and how far off the simulation is on average. */
static int find_levels(const struct validation *v,
                       struct validate_kernel *kernel, double *work)
{
    const struct report_kernel *id = &kernel->kernel;
    struct levels_sample *samples = calloc(v->nreps, sizeof(*samples));
    double real;

    if (!samples)
        return -ENOMEM;
    for (unsigned rep = 0; rep < v->nreps; rep++)
        samples[rep] = (struct levels_sample){
            kernel->times[rep], in_repetition(v, id, rep, false, other_us),
            in_repetition(v, id, rep, false, other_share),
            in_repetition(v, id, rep, false, aside_share),
            in_repetition(v, id, rep, false, runs)};
    kernel->two_levels = levels_find(samples, v->nreps, work, &kernel->levels);
    free(samples);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = in_repetition(v, id, rep, false, mean);
    real = drift_median(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = in_repetition(v, id, rep, true, mean);
    kernel->mean_error = drift_median(work, v->nreps) / real - 1;
    return 0;
}

/* Whether what the model has is a mix of both levels, or one of them. */
static bool knows_levels(const struct validate_kernel *kernel)
{
    const struct levels *levels = &kernel->levels;
    double margin = exp(DRIFT_END);

    return kernel->predicted * margin >= fmin(levels->usual, levels->other) &&
           kernel->predicted <= fmax(levels->usual, levels->other) * margin;
}

/* A second level makes a model wrong that has not drifted. */
static enum drift_verdict verdict_of(const struct validate_kernel *kernel,
                                     const struct drift_item *item)
{
    enum drift_verdict verdict = drift_verdict(item, -log1p(kernel->error));

    if (verdict >= DRIFT_FITS && kernel->two_levels && knows_levels(kernel) &&
        fabs(log1p(kernel->mean_error)) > DRIFT_LEAST)
        return DRIFT_LEVELS;
    return verdict;
}

/* Mean over lower quartile from which a model's samples have no single level:
 * fast runs then do not tell what the estimate should be. */
static const double no_level = 1.25;

/* The estimate from the kernel's fast runs: their lower quartile by the ratio
 * that the model's own samples have of mean and lower quartile. */
static void measure_fast(const struct validation *v,
                         struct validate_kernel *kernel,
                         const struct kernel_knowledge *known)
{
    double scale = known->estimate / known->p25;

    for (unsigned rep = 0; rep < v->nreps; rep++)
        kernel->fast_times[rep] =
            scale * in_repetition(v, &kernel->kernel, rep, false, quartile);
}

/* Reads the errors of the models, and the spread of their samples. */
static int ask_models(struct validation *v)
{
    struct kernel_models *models;
    struct orr_error err = {""};
    int rc = kernel_models_new(report_of(v, 0, 0, false)->host, &models);

    if (rc < 0)
        return rc;
    for (size_t k = 0; rc == 0 && k < v->nkernels; k++) {
        struct kernel_knowledge known;

        if (!v->kernels[k].kernel.model)
            continue;
        rc = kernel_models_find(models, &v->kernels[k].kernel, &known, &err);
        if (rc < 0)
            tool_error("%s", err.text);
        if (rc == 0 && known.confidence > 0)
            v->items[k].error = known.confidence / 1.96;
        if (rc == 0 && known.p25 > 0 &&
            known.estimate <= no_level * known.p25) {
            measure_fast(v, &v->kernels[k], &known);
            v->items[k].fast_times = v->kernels[k].fast_times;
        }
    }
    kernel_models_free(models);
    return rc == 0 ? 0 : -EINVAL;
}

static int check_kernels(struct validation *v)
{
    int rc;

    v->items = calloc(v->nkernels + 1, sizeof(*v->items));
    if (!v->items)
        return -ENOMEM;
    for (size_t k = 0; k < v->nkernels; k++)
        v->items[k] = (struct drift_item){
            .kernel = v->kernels[k].kernel.name,
            .type = v->kernels[k].type,
            .estimate = v->kernels[k].predicted,
            .times = v->kernels[k].times,
        };
    rc = ask_models(v);
    if (rc < 0)
        return rc;
    return drift_check(v->items, (unsigned)v->nkernels, v->nreps, &v->drift);
}

/* --- copies --- */

static int add_link(struct validation *v, const struct report_link *link)
{
    struct validate_link *list;

    for (size_t l = 0; l < v->nlinks; l++)
        if (!strcmp(v->links[l].from, link->from) &&
            !strcmp(v->links[l].to, link->to))
            return 0;
    list = realloc(v->links, (v->nlinks + 1) * sizeof(*list));
    if (!list)
        return -ENOMEM;
    v->links = list;
    list[v->nlinks++] =
        (struct validate_link){.from = link->from, .to = link->to};
    return 0;
}

static int list_links(struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        for (unsigned rep = 0; rep < 2 * v->nreps; rep++) {
            const struct report *report = report_of(v, s, rep / 2, rep % 2);

            for (size_t l = 0; l < report_nlinks(report); l++) {
                struct report_link link = report_link(report, l);

                if (add_link(v, &link) < 0)
                    return -ENOMEM;
            }
        }
    return 0;
}

/* µs per MiB of the link in a repetition, all sizes together. */
static double link_in_repetition(const struct validation *v,
                                 const struct validate_link *link, unsigned rep,
                                 bool simulated, json_int_t *ret_count)
{
    double us = 0, bytes = 0;

    *ret_count = 0;
    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct report *report = report_of(v, s, rep, simulated);

        for (size_t l = 0; l < report_nlinks(report); l++) {
            struct report_link other = report_link(report, l);

            if (strcmp(link->from, other.from) != 0 ||
                strcmp(link->to, other.to) != 0)
                continue;
            us += other.total_us;
            bytes += (double)other.bytes;
            *ret_count += other.count;
        }
    }
    return bytes > 0 ? us / (bytes / mib) : (double)NAN;
}

static void compare_link(const struct validation *v, struct validate_link *link,
                         double *work)
{
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] =
            link_in_repetition(v, link, rep, false, &link->measured_count);
    link->measured = spread_of(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] =
            link_in_repetition(v, link, rep, true, &link->predicted_count);
    link->predicted = spread_of(work, v->nreps);
    link->error = link->predicted.median / link->measured.median - 1;
}

/* --- from end to end --- */

/* How often the kernel ran, wherever that was. */
static json_int_t count_of(const struct report *report,
                           const struct report_kernel *kernel)
{
    json_int_t count = 0;

    for (size_t k = 0; k < report->nkernels; k++) {
        const struct report_kernel *other = &report->kernels[k];

        if (other->footprint == kernel->footprint &&
            !strcmp(other->name, kernel->name))
            count += other->count;
    }
    return count;
}

/* Whether each kernel of one ran as often in the other. */
static bool covers(const struct report *one, const struct report *other)
{
    for (size_t k = 0; k < one->nkernels; k++) {
        const struct report_kernel *kernel = &one->kernels[k];

        if (count_of(one, kernel) != count_of(other, kernel))
            return false;
    }
    return true;
}

static double duration(const struct report *report, bool modelled)
{
    return modelled ? report->modelled_us : report->makespan_us;
}

static bool has_levels(const struct validation *v,
                       const struct report_kernel *kernel)
{
    for (size_t k = 0; k < v->nkernels; k++)
        if (report_same_kernel(&v->kernels[k].kernel, kernel))
            return v->kernels[k].two_levels;
    return false;
}

/* Of the kernels that have models, but for those whose outliers are a level. */
static double disturbance(const struct validation *v,
                          const struct report *report)
{
    double mean = 0, usual = 0;

    for (size_t k = 0; k < report->nkernels; k++) {
        const struct report_kernel *kernel = &report->kernels[k];

        if (!kernel->model || isnan(kernel->mean_us) ||
            isnan(kernel->typical_us))
            continue;
        mean += kernel->mean_us * (double)kernel->count;
        usual += (has_levels(v, kernel) ? kernel->mean_us
                                        : kernel->typical_us) *
                 (double)kernel->count;
    }
    return usual > 0 ? mean / usual - 1 : (double)NAN;
}

/* Outliers make real runs longer, not shorter: as much is allowed for. */
static void judge_end(const struct validation *v, unsigned s,
                      struct validate_end *end, double *work)
{
    double shift = -log1p(end->error);

    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = duration(report_of(v, s, rep, false), end->modelled);
    end->threshold = drift_end_threshold(work, v->nreps, v->nsizes);
    if (shift > 0 && end->disturbance > 0)
        end->threshold += log1p(end->disturbance);
    end->verdict = drift_end_verdict(shift, end->threshold);
}

static void compare_end(const struct validation *v, unsigned s,
                        struct validate_end *end, double *work)
{
    const struct report *real = report_of(v, s, 0, false);
    const struct report *simulated = report_of(v, s, 0, true);

    end->size = v->options->sizes[s];
    end->modelled = real->modelled_us > 0 && simulated->modelled_us > 0 &&
                    !(covers(real, simulated) && covers(simulated, real));
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = duration(report_of(v, s, rep, false), end->modelled);
    end->measured = spread_of(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = duration(report_of(v, s, rep, true), end->modelled);
    end->predicted = spread_of(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = disturbance(v, report_of(v, s, rep, false));
    end->steady =
        v->nreps >= DRIFT_REPEATS && levels_alike(work, v->nreps);
    end->disturbance = drift_median(work, v->nreps);
    end->error = end->predicted.median / end->measured.median - 1;
    judge_end(v, s, end, work);
}

/* --- all of it --- */

static int compare_all(struct validation *v, double *work)
{
    int rc;

    if (list_kernels(v) < 0 || list_links(v) < 0)
        return -ENOMEM;
    for (size_t k = 0; k < v->nkernels; k++) {
        measure_kernel(v, &v->kernels[k], work);
        if (find_levels(v, &v->kernels[k], work) < 0)
            return -ENOMEM;
    }
    for (size_t l = 0; l < v->nlinks; l++)
        compare_link(v, &v->links[l], work);
    for (unsigned s = 0; s < v->nsizes; s++)
        compare_end(v, s, &v->ends[s], work);
    for (unsigned s = 0; s < v->nsizes; s++)
        work[s] = fabs(v->ends[s].error);
    v->median_error = drift_median(work, v->nsizes);
    for (unsigned s = 0; s < v->nsizes; s++) {
        v->noff += v->ends[s].verdict == DRIFT_DRIFTED;
        v->nunclear += v->ends[s].verdict == DRIFT_CANNOT_TELL;
    }
    rc = check_kernels(v);
    for (size_t k = 0; rc == 0 && k < v->nkernels; k++) {
        struct validate_kernel *kernel = &v->kernels[k];

        kernel->verdict = verdict_of(kernel, &v->items[k]);
        if (kernel->verdict == DRIFT_LEVELS && v->items[k].drifted) {
            v->items[k].drifted = false;
            v->drift.ndrifted--;
        }
        v->verdicts[kernel->verdict]++;
    }
    return rc;
}

int validation_compare(struct validation *v)
{
    unsigned most = v->nreps > v->nsizes ? v->nreps : v->nsizes;
    double *work = calloc(most, sizeof(*work));
    int rc = -ENOMEM;

    v->ends = calloc(v->nsizes, sizeof(*v->ends));
    if (work && v->ends)
        rc = compare_all(v, work);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    free(work);
    return rc < 0 ? -1 : 0;
}
