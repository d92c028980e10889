/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/ends.c - how long the program took from end to end. One thread. */
#include "tools/validate/results.h"

#include <math.h>
#include <string.h>

/* How often the kernel ran, wherever that was. */
static json_int_t kernel_run_count(const struct report *report,
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
static bool report_covers_kernels(const struct report *one,
                                  const struct report *other)
{
    for (size_t k = 0; k < one->nkernels; k++) {
        const struct report_kernel *kernel = &one->kernels[k];

        if (kernel_run_count(one, kernel) != kernel_run_count(other, kernel))
            return false;
    }
    return true;
}

static bool has_levels(const struct validation *v,
                       const struct report_kernel *kernel)
{
    for (size_t k = 0; k < v->nkernels; k++)
        if (report_same_kernel(&v->kernels[k].kernel, kernel))
            return v->kernels[k].two_levels || v->kernels[k].mixed;
    return false;
}

/* The disturbance of the kernels that have models, but for those whose outliers are a
 * level. */
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
        work[rep] = validate_makespan_us(validation_report(v, s, rep, false),
                                       end->modelled);
    end->threshold = drift_end_threshold(work, v->nreps, v->nsizes);
    if (shift > 0 && end->disturbance > 0)
        end->threshold += log1p(end->disturbance);
    end->verdict = drift_end_verdict(shift, end->threshold);
}

static void compare_end(const struct validation *v, unsigned s,
                        struct validate_end *end, double *work)
{
    const struct report *real = validation_report(v, s, 0, false);
    const struct report *simulated = validation_report(v, s, 0, true);

    end->size = v->options->sizes[s];
    end->modelled = real->modelled_us > 0 && simulated->modelled_us > 0 &&
                    !(report_covers_kernels(real, simulated) &&
                      report_covers_kernels(simulated, real));
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = validate_makespan_us(validation_report(v, s, rep, false),
                                       end->modelled);
    end->measured = validate_spread_of(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = v->unmodelled
                        ? (double)NAN
                        : validate_makespan_us(validation_report(v, s, rep, true),
                                               end->modelled);
    end->predicted = validate_spread_of(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] = disturbance(v, validation_report(v, s, rep, false));
    end->steady =
        v->nreps >= DRIFT_REPEATS && levels_alike(work, v->nreps);
    end->disturbance = drift_median(work, v->nreps);
    end->error = end->predicted.median / end->measured.median - 1;
    judge_end(v, s, end, work);
}

void validate_compare_ends(struct validation *v, double *work)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        compare_end(v, s, &v->ends[s], work);
    for (unsigned s = 0; s < v->nsizes; s++)
        work[s] = fabs(v->ends[s].error);
    v->median_error = drift_median(work, v->nsizes);
    for (unsigned s = 0; s < v->nsizes; s++) {
        v->noff += v->ends[s].verdict == DRIFT_DRIFTED;
        v->nunclear += v->ends[s].verdict == DRIFT_CANNOT_TELL;
    }
}
