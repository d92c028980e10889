/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/findings.c - what `orrery validate` concludes, in sentences. One
 * thread. */
#include "tools/validate/print.h"
#include "tools/validate/results.h"

#include "tools/common/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether kernels of that type are off as all of them are. */
static bool any_shifted(const struct validation *v, const char *type)
{
    for (size_t k = 0; k < v->nkernels; k++)
        if (v->kernels[k].verdict == DRIFT_SHIFTED &&
            !strcmp(v->kernels[k].type, type))
            return true;
    return false;
}

/* No machine's clock changes by so much: ln 1.5. */
static const double no_clock = 0.405;

static void print_type(const struct drift_type *type)
{
    double percent = 100 * fabs(expm1(type->shift));
    const char *word = type->shift > 0 ? "slower" : "faster";

    if (fabs(type->shift) > no_clock)
        printf(
            "All kernels (%s) are %.1f %% %s than their models: these are of "
            "another machine, or\nwere measured while it was disturbed.\n",
            type->name, percent, word);
    else
        printf("The whole machine (%s) runs %.1f %% %s than when it was "
               "calibrated: no drift of\nits kernels. Is it busy, or is its "
               "clock another one?\n",
               type->name, percent, word);
}

static void print_types(const struct validation *v)
{
    for (unsigned k = 0; k < v->drift.ntypes; k++) {
        const struct drift_type *type = &v->drift.types[k];

        if (type->shifted || any_shifted(v, type->name))
            print_type(type);
    }
    if (v->verdicts[DRIFT_DISTURBED])
        puts(
            "Disturbed kernels are off in few repetitions, or in the slow runs "
            "of each only: something\nelse used the processors.");
}

/* Whether models are wrong that new measures would make right. A program that is
 * off although its kernels fit needs none. */
static bool measuring_helps(const struct validation *v)
{
    return v->drift.ndrifted || v->verdicts[DRIFT_SHIFTED] ||
           (v->noff && !v->drift.nchecked);
}

static void print_remedy(const struct validation *v)
{
    char *program = program_command(v->options->argv);

    fputs("remedy: orrery calibrate kernels --restart", stdout);
    for (unsigned s = 0; v->options->sizes[s]; s++)
        printf("%s%s", s ? "," : " --sizes ", v->options->sizes[s]);
    printf(" -- %s\n", program ? program : "PROGRAM");
    free(program);
}

/* The kernels are right, the whole is not: what else there is, and what of it was never
 * measured. */
static void tell_around(const struct validation *v)
{
    const struct report *report = validation_report(v, 0, 0, true);

    puts("The kernels fit: what is wrong is around them, such as copies, "
         "the order of tasks,\noverheads, or tasks without models.");
    if (report->json && report->not_measured)
        printf("Of the machine, not measured: %s (orrery calibrate bus, orrery "
               "calibrate runtime).\n",
               report->not_measured);
}

/* Programs whose predicted time is wrong, whatever their kernels are. */
static void print_ends_off(const struct validation *v)
{
    char predicted[REPORT_TIME_MAX], measured[REPORT_TIME_MAX];

    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct validate_end *end = &v->ends[s];

        if (end->verdict == DRIFT_DRIFTED)
            printf("OFF: predicted %s%s%s from end to end, measured %s: an error of "
                   "%+.1f %%\n",
                   end->size ? end->size : "", end->size ? ": " : "",
                   report_time_text(end->predicted.median, predicted),
                   report_time_text(end->measured.median, measured),
                   100 * end->error);
    }
    if (v->noff && !v->drift.ndrifted && !v->verdicts[DRIFT_LEVELS] && !v->verdicts[DRIFT_SHIFTED] &&
        !v->verdicts[DRIFT_DISTURBED] && v->drift.nchecked)
        tell_around(v);
}

/* Whether something is unclear for another reason than outliers that take as
 * much time in every repetition. */
static bool noise_differs(const struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        if (v->ends[s].verdict == DRIFT_CANNOT_TELL &&
            !(v->ends[s].steady && v->ends[s].disturbance > VALIDATE_DISTURBED))
            return true;
    return v->verdicts[DRIFT_CANNOT_TELL] > 0;
}

/* What noise hides, and what would show it. */
static void print_unclear(const struct validation *v)
{
    if (!validation_unclear(v))
        return;
    printf("CANNOT TELL: %s that an error of 50 %% would raise no alarm\n",
           noise_differs(v) ? "the repetitions differ so much"
                            : "outliers take so much time");
    if (v->verdicts[DRIFT_CANNOT_TELL])
        printf("of %u of %u kernels%s", v->verdicts[DRIFT_CANNOT_TELL],
               v->drift.nchecked, v->nunclear ? ", nor " : "");
    if (v->nunclear)
        printf("from end to end at %u of %u sizes", v->nunclear, v->nsizes);
    if (noise_differs(v))
        printf(".\nRepeat when the machine is quiet, or with more repetitions "
               "(-n, %u so far).\n",
               v->nreps);
    else
        puts(", in every repetition alike.");
}

static void print_drift(const struct validation *v)
{
    for (size_t k = 0; k < v->nkernels; k++) {
        const struct drift_item *item = &v->items[k];

        if (item->drifted)
            printf("DRIFT: %s on %s (footprint %08x) is %.1f %% %s than its "
                   "model, in %u of %u repetitions\n",
                   item->kernel, v->kernels[k].kernel.arch,
                   v->kernels[k].kernel.footprint,
                   100 * fabs(expm1(item->excess)),
                   item->excess > 0 ? "slower" : "faster", item->nabove,
                   item->nreps);
    }
}

/* Times that no model with one time per footprint has. */
static void print_levels(const struct validation *v)
{
    for (size_t k = 0; k < v->nkernels; k++) {
        const struct validate_kernel *kernel = &v->kernels[k];
        const struct levels *levels = &kernel->levels;

        if (kernel->mixed)
            printf(
                "two populations in the same shares in each run: %s on %s (footprint %08x); "
                "the mean of all runs is compared.\n",
                kernel->kernel.name, kernel->kernel.arch,
                kernel->kernel.footprint);
        if (kernel->verdict == DRIFT_LEVELS)
            printf("TWO LEVELS: %s on %s (footprint %08x) takes about %.4g µs, "
                   "and %.4g µs in %.0f %% of its runs,\nin every repetition "
                   "alike; its model has %.4g µs for all of them.\n",
                   kernel->kernel.name, kernel->kernel.arch,
                   kernel->kernel.footprint, levels->usual, levels->other,
                   100 * levels->share, kernel->predicted);
    }
    if (v->verdicts[DRIFT_LEVELS])
        puts("Measuring again does not help: tasks that do different work need "
             "different footprints, by\nstarpu_task.footprint, "
             "starpu_perfmodel.footprint or a codelet each; else fix what makes "
             "some\nslower, such as clocks or threads that share a core.");
}

void validation_print_findings(const struct validation *v)
{
    double least = (double)NAN, most = (double)NAN;

    for (size_t k = 0; k < v->nkernels; k++) {
        least = fmin(least, v->items[k].threshold);
        most = fmax(most, v->items[k].threshold);
    }
    print_types(v);
    print_drift(v);
    print_levels(v);
    print_ends_off(v);
    print_unclear(v);
    if (measuring_helps(v))
        print_remedy(v);
    if (v->nreps < DRIFT_REPEATS)
        printf("Drift is checked from %d repetitions on (-n).\n",
               DRIFT_REPEATS);
    else if (v->drift.nchecked == 0)
        puts("No kernel could be checked: none has a model and ran for real.");
    else if (v->drift.ndrifted == 0 && !v->verdicts[DRIFT_CANNOT_TELL] &&
             !v->verdicts[DRIFT_LEVELS])
        printf("No drift: %u of %u kernels fit their models (alarms from %.1f "
               "to %.1f %%, by their noise).\n",
               v->verdicts[DRIFT_FITS], v->drift.nchecked, 100 * expm1(least),
               100 * expm1(most));
}
