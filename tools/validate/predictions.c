/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/predictions.c - which part of an error is the simulator's, which that of
 * the models, which the machine's: each real run is simulated with the times that its
 * kernels took, and with those of another run. One thread.
 */
#include "tools/validate/own_times.h"
#include "tools/validate/results.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Nothing is executed, and nothing else is written. */
static const char *const replay_settings[] = {"STARPU_CALIBRATE=0",
                                              "ORRERY_SIM_KERNELS",
                                              "ORRERY_TRACE", "ORRERY_RECORD",
                                              NULL};

/* The calls of repetition `rep` with the times of repetition `times`, simulated; µs
 * from end to end. NaN, and the reason in v->predictions. */
static double simulate_with_times(struct validation *v, unsigned size,
                                  unsigned rep, unsigned times)
{
    char *calls = validation_path(v, size, rep, "calls.rec");
    char *trace = validation_path(v, size, times, "trace.csv");
    char *path = tool_format("%s/own.rec", v->folder);
    struct orr_error err = {"they could not be started"};
    double us = (double)NAN;
    char *assumed = NULL;

    if (calls && trace && path &&
        own_times_write(calls, trace, path, &assumed, &err) == 0) {
        char *const argv[] = {path, NULL};
        struct launch launch = {.machine = v->machine,
                                .edits = v->options->edits,
                                .scheduler = v->options->sched,
                                .assume = assumed,
                                .more = replay_settings,
                                .argv = argv,
                                .quiet = true};
        int stopped = launch_all(&launch, 1, 1, NULL, NULL);

        if (stopped > 0)
            v->stopped = stopped;
        else if (*launch.problem)
            snprintf(err.text, sizeof(err.text), "%s", launch.problem);
        else if (stopped == 0)
            us = launch.report.makespan_us;
        launch_done(&launch);
        unlink(path);
    }
    if (isnan(us) && !v->stopped)
        snprintf(v->predictions.problem, sizeof(v->predictions.problem), "%s",
                 err.text);
    free(calls);
    free(trace);
    free(path);
    free(assumed);
    return us;
}

static struct validate_error error_of(const double *values, unsigned n,
                                      double *work)
{
    struct validate_error error = {(double)NAN, (double)NAN};

    for (unsigned i = 0; i < n; i++) {
        work[i] = fabs(values[i]);
        error.worst = fmax(error.worst, work[i]);
    }
    if (n > 0)
        error.median = drift_median(work, n);
    return error;
}

/* Relative, of what both ran; NaN without models. */
static double error_of_models(const struct validation *v, unsigned size, unsigned rep)
{
    bool modelled = v->ends[size].modelled;

    if (v->unmodelled)
        return (double)NAN;
    return validate_makespan_us(validation_report(v, size, rep, true), modelled) /
               validate_makespan_us(validation_report(v, size, rep, false), modelled) -
           1;
}

int validation_predict(struct validation *v)
{
    unsigned n = v->nsizes * v->nreps;
    double *values = calloc(4 * (size_t)n + 1, sizeof(*values));
    double *own = values, *models = own + n, *other = models + n,
           *work = other + n;
    struct validate_predictions *p = &v->predictions;
    unsigned nother = 0;

    if (!values) {
        tool_error("out of memory");
        return -1;
    }
    if (v->options->nranks) /* nobody puts the traces of ranks into their records */
        n = 0;
    if (n == 0)
        snprintf(p->problem, sizeof(p->problem), "several ranks are not");
    for (unsigned s = 0; n > 0 && s < v->nsizes && !v->stopped; s++)
        for (unsigned rep = 0; rep < v->nreps && !v->stopped; rep++) {
            double real = validation_report(v, s, rep, false)->makespan_us;
            double us = simulate_with_times(v, s, rep, rep);

            if (isnan(us) || !(real > 0))
                continue;
            own[p->n] = us / real - 1;
            models[p->n++] = error_of_models(v, s, rep);
            if (v->nreps > 1)
                us = simulate_with_times(v, s, rep, (rep + 1) % v->nreps);
            if (v->nreps > 1 && !isnan(us))
                other[nother++] = us / real - 1;
        }
    p->simulator = error_of(own, p->n, work);
    p->models = error_of(models, v->unmodelled ? 0 : p->n, work);
    p->machine = error_of(other, nother, work);
    free(values);
    return 0;
}
