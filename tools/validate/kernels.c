/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/kernels.c - what kernels took, and whether their models fit. One
 * thread. */
#include "core/base/grow.h"
#include "tools/validate/results.h"

#include "tools/common/kernel_model.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int validation_add_kernel(struct validation *v,
                                 const struct report_kernel *kernel)
{
    struct validate_kernel *added = orr_array_add(v->kernels, v->nkernels);
    size_t letters = strcspn(kernel->arch, "0123456789");

    if (!added)
        return -ENOMEM;
    *added = (struct validate_kernel){
        .kernel = *kernel,
        .times = calloc(v->nreps, sizeof(double)),
        .fast_times = calloc(v->nreps, sizeof(double)),
    };
    if (!added->times || !added->fast_times)
        return -ENOMEM;
    if (letters >= sizeof(added->type))
        letters = sizeof(added->type) - 1;
    memcpy(added->type, kernel->arch, letters);
    return 0;
}

/* Adds the kernels that ran for real and have a model, of files or of
 * functions. */
static int list_kernels(struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        for (unsigned rep = 0; rep < v->nreps; rep++) {
            const struct report *report = validation_report(v, s, rep, false);

            for (size_t k = 0; k < report->nkernels; k++) {
                const struct report_kernel *kernel = &report->kernels[k];
                size_t i = 0;

                if (!kernel->model && isnan(kernel->predicted_us))
                    continue;
                while (i < v->nkernels &&
                       !report_same_kernel(&v->kernels[i].kernel, kernel))
                    i++;
                if (i == v->nkernels && validation_add_kernel(v, kernel) < 0)
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
        const struct report *report = validation_report(v, s, rep, simulated);

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

static double kernel_typical(const struct report_kernel *kernel)
{
    return kernel->typical_us;
}

static double kernel_quartile(const struct report_kernel *kernel)
{
    return kernel->p25_us;
}

static double kernel_predicted(const struct report_kernel *kernel)
{
    return kernel->predicted_us;
}

/* The estimate of the model: as the simulation used it, else as schedulers
 * did. */
static double kernel_prediction(const struct validation *v,
                                const struct report_kernel *kernel,
                                double *work)
{
    double us = (double)NAN;

    for (int simulated = 1; simulated >= 0 && isnan(us); simulated--) {
        for (unsigned rep = 0; rep < v->nreps; rep++)
            work[rep] =
                in_repetition(v, kernel, rep, simulated, kernel_predicted);
        us = drift_median(work, v->nreps);
    }
    return us;
}

/* The origin of the estimate: as the simulation states, else as the real run
 * does. */
static enum orr_origin origin_of(const struct validation *v,
                                 const struct report_kernel *kernel)
{
    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct report *report = validation_report(v, s, 0, true);

        for (size_t k = 0; k < report->nkernels; k++)
            if (report_same_kernel(kernel, &report->kernels[k]))
                return orr_origin_find(report->kernels[k].origin);
    }
    return orr_origin_find(kernel->origin);
}

static void measure_times(const struct validation *v,
                          struct validate_kernel *kernel,
                          double (*value)(const struct report_kernel *),
                          double *work)
{
    for (unsigned rep = 0; rep < v->nreps; rep++)
        kernel->times[rep] =
            in_repetition(v, &kernel->kernel, rep, false, value);
    memcpy(work, kernel->times, v->nreps * sizeof(*work));
    kernel->measured = validate_spread_of(work, v->nreps);
    kernel->error = kernel->predicted / kernel->measured.median - 1;
}

static void measure_kernel(const struct validation *v,
                           struct validate_kernel *kernel, double *work)
{
    kernel->predicted = kernel_prediction(v, &kernel->kernel, work);
    kernel->origin = origin_of(v, &kernel->kernel);
    measure_times(v, kernel, kernel_typical, work);
}

static double kernel_mean(const struct report_kernel *kernel)
{
    return kernel->mean_us;
}

static double kernel_other_us(const struct report_kernel *kernel)
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

static double kernel_runs(const struct report_kernel *kernel)
{
    return (double)kernel->count;
}

/* Whether it takes two times, and how far off the simulation is on average. */
static int kernel_find_levels(const struct validation *v,
                              struct validate_kernel *kernel, double *work)
{
    const struct report_kernel *id = &kernel->kernel;
    struct levels_sample *samples = calloc(v->nreps, sizeof(*samples));
    double real;

    if (!samples)
        return -ENOMEM;
    for (unsigned rep = 0; rep < v->nreps; rep++)
        samples[rep] = (struct levels_sample){
            kernel->times[rep],
            in_repetition(v, id, rep, false, kernel_other_us),
            in_repetition(v, id, rep, false, other_share),
            in_repetition(v, id, rep, false, aside_share),
            in_repetition(v, id, rep, false, kernel_runs)};
    kernel->two_levels = levels_find(samples, v->nreps, work, &kernel->levels);
    free(samples);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = in_repetition(v, id, rep, false, kernel_mean);
    real = drift_median(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = in_repetition(v, id, rep, true, kernel_mean);
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

/* A second level makes a model wrong that has not drifted, unless it has the mean of both. */
static enum drift_verdict verdict_of(const struct validate_kernel *kernel,
                                     const struct drift_item *item)
{
    enum drift_verdict verdict = drift_verdict(item, -log1p(kernel->error));

    if (verdict >= DRIFT_FITS && kernel->two_levels && !kernel->mixed &&
        knows_levels(kernel) && fabs(log1p(kernel->mean_error)) > DRIFT_LEAST)
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
        kernel->fast_times[rep] = scale * in_repetition(v, &kernel->kernel, rep,
                                                        false, kernel_quartile);
}

/* Reads the errors of the models, and the spread of their samples. */
static int ask_models(struct validation *v)
{
    struct kernel_models *models;
    struct orr_error err = {""};
    int rc = kernel_models_new(validation_report(v, 0, 0, false)->host, &models);

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

static int check_drift(struct validation *v)
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

/* Of kernels of two populations the model has the mean, which is compared with theirs. What is
 * wrong with a model is said when it is asked for its error. */
static int find_mixed(struct validation *v, double *work)
{
    struct kernel_models *models;
    struct orr_error err = {""};
    int rc =
        kernel_models_new(validation_report(v, 0, 0, false)->host, &models);

    if (rc < 0)
        return rc;
    for (size_t k = 0; k < v->nkernels; k++) {
        struct validate_kernel *kernel = &v->kernels[k];
        struct kernel_knowledge known;

        if (!kernel->kernel.model ||
            kernel_models_find(models, &kernel->kernel, &known, &err) < 0 ||
            !known.mixed)
            continue;
        kernel->mixed = true;
        measure_times(v, kernel, kernel_mean, work);
    }
    kernel_models_free(models);
    return 0;
}

int validate_measure_kernels(struct validation *v, double *work)
{
    if (list_kernels(v) < 0)
        return -ENOMEM;
    for (size_t k = 0; k < v->nkernels; k++) {
        measure_kernel(v, &v->kernels[k], work);
        if (kernel_find_levels(v, &v->kernels[k], work) < 0)
            return -ENOMEM;
    }
    return find_mixed(v, work);
}

int validate_judge_kernels(struct validation *v)
{
    int rc = check_drift(v);

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
